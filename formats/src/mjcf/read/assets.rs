//! `<asset>`: meshes, height fields, materials and textures.

use super::asset_context::AssetContext;
use super::compiler::boolean;
use super::height_field_asset::HeightFieldAsset;
use super::mesh_asset::MeshAsset;
use super::textures::{MAX_BUILTIN_PIXELS, PlacedTexture, Skybox, TextureAsset};
use super::tree::ElementRef;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use tarragon_documents::xml::Parsed;
use tarragon_geometry::Rgba;

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
    /// Name of the texture.
    texture: Option<String>,
    /// Images over a shape along x and y, or per 2 m if the texture is uniform.
    repeat: [f64; 2],
    is_uniform: bool,
}

/// Assets by name.
#[derive(Debug, Default)]
pub(super) struct Assets {
    pub(super) meshes: BTreeMap<String, MeshAsset>,
    pub(super) materials: BTreeMap<String, MaterialAsset>,
    textures: BTreeMap<String, TextureAsset>,
    /// The first one.
    pub(super) skybox: Option<Skybox>,
    pub(super) height_fields: BTreeMap<String, HeightFieldAsset>,
    /// Element and name of each asset that had an error.
    faulty: BTreeSet<(String, String)>,
}

impl Assets {
    /// Reads all `<asset>` elements.
    pub(super) fn read(root: ElementRef<'_>, context: &AssetContext<'_>) -> Self {
        let mut assets = Self::default();
        let nodes = || root.children_named("asset").flat_map(|a| a.children());
        // Materials may refer to textures that follow them.
        let mut budget = MAX_BUILTIN_PIXELS;
        for node in nodes().filter(|n| n.tag() == "texture") {
            let _ = assets.read_texture(node, context, &mut budget);
        }
        for node in nodes().filter(|n| n.tag() != "texture") {
            // Errors were reported.
            if assets.read_asset(node, context).is_err() {
                let name = node.name().map(String::from);
                let stem = || {
                    Some(
                        Path::new(node.own_text("file")?)
                            .file_stem()?
                            .to_string_lossy(),
                    )
                };
                let name = name.or_else(|| Some(stem()?.into_owned()));
                assets
                    .faulty
                    .extend(name.map(|name| (node.tag().into(), name)));
            }
        }
        assets
    }

    /// Returns true if an error was reported about an asset, so that references to it need no
    /// message.
    pub(super) fn is_explained(&self, tag: &str, name: &str) -> bool {
        self.faulty.contains(&(tag.into(), name.into()))
    }

    fn read_asset(&mut self, node: ElementRef<'_>, context: &AssetContext<'_>) -> Parsed<()> {
        let compiler = context.compiler(node);
        let as_drake = compiler.as_drake();
        let (defaults, resolve) = (context.defaults, context.resolve);
        match node.tag() {
            "mesh" => return self.read_mesh(defaults.apply(node, None), context),
            "material" if as_drake => return self.read_material(node, as_drake),
            "material" => return self.read_material(defaults.apply(node, None), as_drake),
            "hfield" if !as_drake => return self.read_height_field(node, compiler, resolve),
            "hfield" => node.lost().ignored("height fields are not supported"),
            "skin" if as_drake => node.lost().ignored("deformable bodies are not supported"),
            "skin" => {}
            "model" if as_drake => {
                let why = "attaching models to models is not supported; use model directives";
                node.lost().ignored(why);
            }
            "model" => {}
            // The vocabulary check reports all others.
            _ => {}
        }
        Ok(())
    }

    fn read_texture(
        &mut self,
        node: ElementRef<'_>,
        context: &AssetContext<'_>,
        budget: &mut usize,
    ) -> Parsed<()> {
        let as_drake = context.compiler(node).as_drake();
        if as_drake && node.text("type") != Some("skybox") {
            node.lost().ignored("textures are not read");
            return Ok(());
        }
        let node = context.defaults.apply(node, None);
        let mut read = || TextureAsset::read(node, context, budget);
        let made = if as_drake {
            node.with_warnings(read).ok().flatten()
        } else {
            read()?
        };
        if let Some((name, texture)) = made {
            self.skybox = self.skybox.take().or_else(|| Skybox::of(&name, &texture));
            if !as_drake {
                self.textures.insert(name, texture);
            }
        }
        Ok(())
    }

    /// Returns the texture of a material in its place.
    pub(super) fn placed_texture(&self, material: &MaterialAsset) -> Option<PlacedTexture<'_>> {
        let texture = self.textures.get(material.texture.as_ref()?)?;
        Some(PlacedTexture {
            texture,
            repeat: material.repeat,
            is_uniform: material.is_uniform,
        })
    }

    /// Reads a material; as in Drake, classes provide no defaults for materials there.
    fn read_material(&mut self, node: ElementRef<'_>, as_drake: bool) -> Parsed<()> {
        let Some(name) = node.name() else {
            return Err(node.error("<material> has no attribute 'name'"));
        };
        let texture = node.text("texture").map(str::trim);
        let layer = || {
            let is_color = |layer: &ElementRef<'_>| layer.text("role") == Some("rgb");
            node.children_named("layer").find(is_color)?.text("texture")
        };
        let texture = texture.or_else(layer);
        let white = (!as_drake).then_some(Rgba::WHITE);
        let material = MaterialAsset {
            rgba: read_rgba(node)?.or(white),
            texture: texture
                .filter(|t| self.textures.contains_key(*t))
                .map(String::from),
            repeat: node.vector("texrepeat")?.unwrap_or([1.0; 2]),
            is_uniform: boolean(node, "texuniform")?.unwrap_or(false),
        };
        if material.texture.is_some() {
            node.ignore_attributes(&IGNORED_IN_MATERIAL);
        }
        self.materials.insert(name.into(), material);
        Ok(())
    }
}

/// Returns the colour of a geom or a skin that has none.
pub(super) fn grey() -> Rgba {
    Rgba::new(0.5, 0.5, 0.5, 1.0).expect("the numbers are within [0, 1]")
}

/// Reads the colour of an element.
pub(super) fn read_rgba(node: ElementRef<'_>) -> Parsed<Option<Rgba>> {
    let Some([r, g, b, a]) = node.vector::<4>("rgba")? else {
        return Ok(None);
    };
    let rgba = Rgba::new(r, g, b, a);
    rgba.map(Some).map_err(|e| node.error_at("rgba", e))
}
