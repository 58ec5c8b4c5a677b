//! Materials: colours and textures by name.

use super::builder::{Material, UrdfBuilder};
use std::path::PathBuf;
use tarragon_documents::xml::XmlNode;
use tarragon_documents::xml::{Parsed, finite_numbers, parse_numbers};
use tarragon_geometry::Rgba;

/// Most mistakes in materials are warnings, because only the appearance is affected.
impl UrdfBuilder<'_, '_> {
    pub(super) fn read_global_material(&mut self, node: XmlNode<'_>) {
        if name_of(node).is_none() {
            let message = "a <material> of the robot must have a name, got none; it is ignored";
            self.reader.warning(node, message);
            return;
        }
        // An error was reported.
        let _ = self.read_material(node);
    }

    /// Reads a material. A name defines a new material or refers to a known one.
    pub(super) fn read_material(&mut self, node: XmlNode<'_>) -> Parsed<Material> {
        let material = Material {
            diffuse: self.color(node)?,
            diffuse_map: self.texture(node),
        };
        let Some(name) = name_of(node) else {
            return Ok(material);
        };
        let is_given = |tag| self.reader.child(node, tag).is_some();
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
                if material != Material::default() {
                    self.materials.insert(name.into(), material.clone());
                } else if !is_given("color") && !is_given("texture") {
                    // A wrong colour or texture has its own warning.
                    let message = format!(
                        "material '{name}' must have a colour or a texture, or be defined before, \
                         got neither; the default colour is used"
                    );
                    self.reader.warning_grouped(node, message);
                }
                Ok(material)
            }
        }
    }

    fn color(&self, material: XmlNode<'_>) -> Parsed<Option<Rgba>> {
        let Some(color) = self.reader.child(material, "color") else {
            return Ok(None);
        };
        let text = color.attribute("rgba").unwrap_or_default();
        let read = parse_numbers("rgba", text).and_then(|reading| {
            let rgba = finite_numbers::<4>("rgba", &reading)?;
            Ok((rgba, reading.warning("attribute 'rgba'")))
        });
        let ([r, g, b, a], warning) = match read {
            Ok(read) => read,
            Err(why) => {
                let message = format!("{why}; the colour is left out");
                self.reader.warning_at(color, "rgba", message);
                return Ok(None);
            }
        };
        if let Some(warning) = warning {
            self.reader.warning_at(color, "rgba", warning);
        }
        let rgba = Rgba::new(r, g, b, a);
        let rgba = rgba.map_err(|e| self.reader.error_at(color, "rgba", e))?;
        Ok(Some(rgba))
    }

    fn texture(&self, material: XmlNode<'_>) -> Option<PathBuf> {
        let texture = self.reader.child(material, "texture")?;
        let uri = texture.attribute("filename").unwrap_or_default().trim();
        if uri.is_empty() {
            let message = "<texture> must have a filename, got none; the texture is left out";
            self.reader.warning_grouped(texture, message);
            return None;
        }
        let left_out = |why| format!("texture {why}; the texture is left out");
        self.resolve(uri)
            .map_err(|why| self.reader.warning(texture, left_out(why)))
            .ok()
    }
}

/// Returns the name of a material that is not empty.
fn name_of(node: XmlNode<'_>) -> Option<&str> {
    node.attribute("name")
        .filter(|name| !name.trim().is_empty())
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
