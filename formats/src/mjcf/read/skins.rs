//! `<skin>`: surfaces whose vertices follow bodies, where a file is read as by MuJoCo.

use super::assets::{grey, read_rgba};
use super::builder::MjcfBuilder;
use super::geoms::LAST_VISIBLE_GROUP;
use super::skin_data::SkinData;
use super::tree::ElementRef;
use crate::reading::target::BodyBone;
use std::path::Path;
use tarragon_documents::read_file;
use tarragon_documents::xml::Parsed;
use tarragon_geometry::{IllustrationProperties, Mesh, PerceptionProperties};
use tarragon_multibody::{BodyIndex, VisualProperties};

/// Sections that may have skins.
const SECTIONS: [&str; 2] = ["asset", "deformable"];

impl<'d> MjcfBuilder<'d, '_, '_> {
    /// Adds the skins of the document, if there is a scene.
    /// `directory` is that of the file.
    pub(super) fn add_skins(&mut self, root: ElementRef<'d>, directory: Option<&Path>) {
        if !(self.target.has_scene() && self.target.mesh_geometry) {
            return;
        }
        let sections = root.children().filter(|n| SECTIONS.contains(&n.tag()));
        let skins = sections.flat_map(|section| section.children_named("skin"));
        for (index, node) in skins.enumerate() {
            // Errors were reported.
            let _ = self.add_skin(node, index, directory);
        }
    }

    fn add_skin(
        &mut self,
        node: ElementRef<'d>,
        index: usize,
        directory: Option<&Path>,
    ) -> Parsed<()> {
        if node.number("group")?.unwrap_or(0.0) > LAST_VISIBLE_GROUP {
            return Ok(());
        }
        let Some(mut data) = self.read_skin(node, directory)? else {
            return Ok(());
        };
        let stem = node.own_text("file").and_then(|f| Path::new(f).file_stem());
        let stem = stem.map(|stem| stem.to_string_lossy().into_owned());
        let name = node.name().map(String::from).or(stem);
        let name = name.unwrap_or_else(|| format!("skin{index}"));
        let mut bones = vec![];
        for bone in std::mem::take(&mut data.bones) {
            bones.push(BodyBone {
                body: self.body_of_bone(node, &bone.body)?,
                x_wb: bone.x_wb,
                weights: bone.weights,
            });
        }
        let mesh = Mesh::new(data.to_obj(&name));
        let inflation = node.number("inflate")?.unwrap_or(0.0);
        let properties = self.appearance_of_skin(node, &data)?;
        let added =
            self.target
                .register_skin((self.instance, &name), mesh, bones, inflation, properties);
        let warnings = added.map_err(|e| node.error(format!("skin '{name}': {e}")))?;
        for warning in warnings {
            node.warning(format!("skin '{name}': {warning}"));
        }
        Ok(())
    }

    /// Reads the numbers of a skin; `None` if its file cannot be read, which is reported.
    fn read_skin(
        &self,
        node: ElementRef<'d>,
        directory: Option<&Path>,
    ) -> Parsed<Option<SkinData>> {
        let Some(file) = node.own_text("file") else {
            return SkinData::from_node(node).map(Some);
        };
        let compiler = &self.document.compilers[node.document()];
        let uri = compiler.file_name(&compiler.mesh_directory, file);
        let bytes = self.target.resolve(&uri, directory).and_then(|path| {
            let bytes = read_file(&path);
            bytes.map_err(|e| format!("'{}': {e}", path.display()))
        });
        match bytes {
            Ok(bytes) => match SkinData::from_skn(&bytes) {
                Ok(data) => Ok(Some(data)),
                Err(why) => Err(node.error_at("file", format!("'{file}': {why}"))),
            },
            // A model without its skin is the same plant.
            Err(why) => {
                node.warning_at("file", format!("the skin is left out: {why}"));
                Ok(None)
            }
        }
    }

    fn body_of_bone(&self, node: ElementRef<'d>, name: &str) -> Parsed<BodyIndex> {
        if name == "world" {
            return Ok(BodyIndex::WORLD);
        }
        self.bodies.get(name).copied().ok_or_else(|| {
            node.error(format!(
                "a bone of the skin follows the body '{name}', which does not exist"
            ))
        })
    }

    fn appearance_of_skin(
        &self,
        node: ElementRef<'d>,
        data: &SkinData,
    ) -> Parsed<VisualProperties> {
        let assets = &self.document.assets;
        let material = node.own_text("material");
        let found = material.and_then(|name| assets.materials.get(name));
        if let (Some(name), None) = (material, found) {
            let message = format!("there is no material '{name}'; it is ignored");
            node.warning_at("material", message);
        }
        let rgba = read_rgba(node)?.or(found.and_then(|material| material.rgba));
        let placed = found.and_then(|material| assets.placed_texture(material));
        let rgba = rgba.unwrap_or_else(grey);
        let mut illustration = IllustrationProperties::phong(rgba);
        let mut perception = PerceptionProperties::phong(rgba);
        match placed.map(|placed| placed.texture.flat_file()) {
            Some(Some(file)) if data.has_texture_coordinates() => {
                illustration = illustration.with_diffuse_map(file);
                perception = perception.with_diffuse_map(file);
            }
            Some(_) => node.warning_at(
                "material",
                "the texture of the material is ignored: skins have textures of type '2d' from \
                 files, and texture coordinates",
            ),
            None => {}
        }
        Ok(VisualProperties {
            illustration: Some(illustration),
            perception: Some(perception),
        })
    }
}
