//! Materials: colours and textures by name.

use super::builder::{Material, UrdfBuilder};
use crate::document::xml::Parsed;
use crate::document::xml_tree::XmlNode;
use tarragon_geometry::Rgba;

impl UrdfBuilder<'_, '_> {
    pub(super) fn read_global_material(&mut self, node: XmlNode<'_>) -> Parsed<()> {
        self.reader.required(node, "name")?;
        self.read_material(node).map(|_| ())
    }

    /// Reads a material. A name defines a new material or refers to a known one.
    pub(super) fn read_material(&mut self, node: XmlNode<'_>) -> Parsed<Material> {
        let mut material = Material::default();
        if let Some(color) = self.reader.child(node, "color") {
            self.reader.required(color, "rgba")?;
            if let Some([r, g, b, a]) = self.reader.vector::<4>(color, "rgba")? {
                let rgba = Rgba::new(r, g, b, a);
                let rgba = rgba.map_err(|e| self.reader.error_at(color, "rgba", e))?;
                material.diffuse = Some(rgba);
            }
        }
        if let Some(texture) = self.reader.child(node, "texture") {
            let uri = self.reader.required(texture, "filename")?;
            match self.resolve(uri) {
                Ok(path) => material.diffuse_map = Some(path),
                // Not an error, because only the appearance is affected.
                Err(why) => self
                    .reader
                    .warning(texture, format!("texture {why}; the texture is left out")),
            }
        }
        let Some(name) = node.attribute("name").filter(|n| !n.is_empty()) else {
            return Ok(material);
        };
        match self.materials.get(name) {
            Some(known) if material == Material::default() => Ok(known.clone()),
            Some(known) if *known != material => {
                let message = format!(
                    "material '{name}' is defined as {}, but was defined as {} before; give them \
                     different names",
                    describe(&material),
                    describe(known)
                );
                let global = node.parent().is_some_and(|p| p.parent().is_none());
                if global {
                    return Err(self.reader.error(node, message));
                }
                // Published robots (Talos) redefine a material inside a link; ROS uses it there.
                self.reader.warning(node, message);
                Ok(material)
            }
            Some(_) => Ok(material),
            None => {
                if material == Material::default() {
                    let message = format!(
                        "material '{name}' must have a colour or a texture, or be defined before; \
                         define it or give it a colour"
                    );
                    return Err(self.reader.error(node, message));
                }
                self.materials.insert(name.into(), material.clone());
                Ok(material)
            }
        }
    }
}

fn describe(material: &Material) -> String {
    let color = material
        .diffuse
        .map_or("no colour".into(), |c| format!("colour {:?}", c.rgba()));
    match &material.diffuse_map {
        Some(path) => format!("{color} and texture '{}'", path.display()),
        None => color,
    }
}
