//! `<asset>`: meshes, height fields, materials and textures.

use super::compiler::CompilerOptions;
use super::defaults::DefaultClasses;
use super::mesh_asset::MeshAsset;
use super::tree::ElementRef;
use crate::document::xml::Parsed;
use std::collections::BTreeMap;
use std::path::PathBuf;
use tarragon_geometry::{Mesh, Rgba};

/// Attributes of `<material>` without a meaning for the plant, with the reasons.
const OWN_SHADING: &str = "the colour and the texture are the material";
const IGNORED_IN_MATERIAL: [(&str, &str); 6] = [
    ("emission", OWN_SHADING),
    ("metallic", OWN_SHADING),
    ("reflectance", OWN_SHADING),
    ("roughness", OWN_SHADING),
    ("shininess", OWN_SHADING),
    ("specular", OWN_SHADING),
];

/// Appearance of a geom.
#[derive(Clone, Debug, Default)]
pub(super) struct MaterialAsset {
    pub(super) rgba: Option<Rgba>,
    /// Image file of a flat texture.
    pub(super) texture: Option<PathBuf>,
}

/// Assets by name.
#[derive(Debug, Default)]
pub(super) struct Assets {
    pub(super) meshes: BTreeMap<String, MeshAsset>,
    pub(super) materials: BTreeMap<String, MaterialAsset>,
    /// Image files of flat textures.
    textures: BTreeMap<String, PathBuf>,
    /// Height fields as meshes in their frame.
    pub(super) height_fields: BTreeMap<String, Mesh>,
}

/// The sections that assets are read with.
pub(super) struct AssetContext<'a> {
    /// Compilers of the documents, by number.
    pub(super) compilers: &'a [CompilerOptions],
    pub(super) defaults: &'a DefaultClasses,
    /// Finds the file of a path or a URL.
    pub(super) resolve: &'a dyn Fn(&str) -> Result<PathBuf, String>,
}

impl Assets {
    /// Reads all `<asset>` elements.
    pub(super) fn read(root: ElementRef<'_>, context: &AssetContext<'_>) -> Self {
        let mut assets = Self::default();
        let nodes = || root.children_named("asset").flat_map(|a| a.children());
        // Materials may refer to textures that follow them.
        for node in nodes().filter(|n| n.tag() == "texture") {
            let _ = assets.read_texture(node, context);
        }
        for node in nodes().filter(|n| n.tag() != "texture") {
            // Errors were reported.
            let _ = assets.read_asset(node, context);
        }
        assets
    }

    fn read_asset(&mut self, node: ElementRef<'_>, context: &AssetContext<'_>) -> Parsed<()> {
        let compiler = context.compiler(node);
        let as_drake = compiler.as_drake();
        let (defaults, resolve) = (context.defaults, context.resolve);
        match node.tag() {
            "mesh" => return self.read_mesh(defaults.apply(node, None), compiler, resolve),
            "material" if as_drake => return self.read_material(node),
            "material" => return self.read_material(defaults.apply(node, None)),
            "hfield" if !as_drake => return self.read_height_field(node, compiler, resolve),
            "hfield" => node.ignored("height fields are not supported"),
            "skin" => node.ignored("deformable bodies are not supported"),
            "model" if as_drake => {
                node.ignored("attaching models to models is not supported; use model directives");
            }
            "model" => {}
            _ => node.ignored("the element is unknown"),
        }
        Ok(())
    }

    /// Reads a texture: the image file of a flat one.
    fn read_texture(&mut self, node: ElementRef<'_>, context: &AssetContext<'_>) -> Parsed<()> {
        let compiler = context.compiler(node);
        if compiler.as_drake() {
            node.ignored("textures are not read");
            return Ok(());
        }
        let node = context.defaults.apply(node, None);
        let (Some(file), Some("2d")) = (node.own_text("file"), node.text("type").map(str::trim))
        else {
            node.ignored("only image files of type '2d' are drawn");
            return Ok(());
        };
        let uri = compiler.file_name(&compiler.texture_directory, file);
        match (context.resolve)(&uri) {
            Ok(path) => {
                let stem = path.file_stem().map(|s| s.to_string_lossy().into_owned());
                let name = node.name().map(String::from).or(stem);
                self.textures.insert(name.unwrap_or_default(), path);
            }
            // A model without its picture is the same plant.
            Err(why) => node.warning_at("file", format!("the texture is left out: {why}")),
        }
        Ok(())
    }

    /// Reads a material; as in Drake, classes provide no defaults for materials there.
    fn read_material(&mut self, node: ElementRef<'_>) -> Parsed<()> {
        let Some(name) = node.name() else {
            return Err(node.error("<material> has no attribute 'name'"));
        };
        let texture = node.text("texture").map(str::trim);
        let material = MaterialAsset {
            rgba: read_rgba(node)?,
            texture: texture.and_then(|t| self.textures.get(t)).cloned(),
        };
        if material.texture.is_some() {
            node.ignore_attributes(&IGNORED_IN_MATERIAL);
            let repeat = node.vector::<2>("texrepeat")?;
            if repeat.is_some_and(|r| r != [1.0; 2]) {
                let message = "attribute 'texrepeat' of <material> is ignored: a texture covers \
                               its mesh once";
                node.warning_grouped("texrepeat", message);
            }
        }
        self.materials.insert(name.into(), material);
        Ok(())
    }
}

impl AssetContext<'_> {
    fn compiler(&self, node: ElementRef<'_>) -> &CompilerOptions {
        &self.compilers[node.document()]
    }
}

/// Reads the colour of an element.
pub(super) fn read_rgba(node: ElementRef<'_>) -> Parsed<Option<Rgba>> {
    let Some([r, g, b, a]) = node.vector::<4>("rgba")? else {
        return Ok(None);
    };
    let rgba = Rgba::new(r, g, b, a);
    rgba.map(Some).map_err(|e| node.error_at("rgba", e))
}
