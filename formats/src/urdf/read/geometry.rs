//! Visual and collision geometry.

use super::builder::UrdfBuilder;
use crate::reading::mesh_files;
use nalgebra::{Isometry3, Vector3};
use std::collections::{BTreeMap, BTreeSet};
use tarragon_documents::xml::Parsed;
use tarragon_documents::xml::XmlNode;
use tarragon_geometry::{
    BoxShape, Capsule, Convex, Cylinder, Ellipsoid, IllustrationProperties, Mesh,
    PerceptionProperties, Shape, Sphere,
};
use tarragon_multibody::{BodyIndex, VisualProperties};

/// Shapes of a `<geometry>`.
const SHAPES: [&str; 8] = [
    "box",
    "sphere",
    "cylinder",
    "capsule",
    "drake:capsule",
    "ellipsoid",
    "drake:ellipsoid",
    "mesh",
];

/// Allocator of names that are unique on a link within a role.
#[derive(Default)]
pub(super) struct GeometryNames {
    taken: BTreeSet<String>,
    next: BTreeMap<String, usize>,
}

impl GeometryNames {
    /// Returns `base`, or the first free name of `base_1`, `base_2`, ... if it is taken.
    fn unique(&mut self, base: &str) -> String {
        let mut name = base.to_string();
        while !self.taken.insert(name.clone()) {
            let next = self.next.entry(base.into()).or_insert(0);
            *next += 1;
            name = format!("{base}_{next}");
        }
        name
    }
}

impl UrdfBuilder<'_, '_> {
    pub(super) fn read_visual(
        &mut self,
        node: XmlNode<'_>,
        body: BodyIndex,
        names: &mut GeometryNames,
    ) -> Parsed<()> {
        let material = match self.reader.child(node, "material") {
            Some(material) => self.read_material(material)?,
            None => Default::default(),
        };
        let mut illustration = IllustrationProperties::new();
        let mut perception = PerceptionProperties::new();
        if let Some(diffuse) = material.diffuse {
            illustration = illustration.with_diffuse(diffuse);
            perception = perception.with_diffuse(diffuse);
        }
        if let Some(map) = material.diffuse_map {
            illustration = illustration.with_diffuse_map(&map);
            perception = perception.with_diffuse_map(map);
        }
        let renderers = self.reader.children(node, "drake:accepting_renderer");
        let accepting = renderers.map(|r| self.reader.required(r, "name").map(String::from));
        let accepting: BTreeSet<String> = accepting.collect::<Parsed<_>>()?;
        if !accepting.is_empty() {
            perception = perception.with_accepting_renderers(accepting);
        }
        let enabled = |tag: &str| -> Parsed<bool> {
            let Some(child) = self.reader.child(node, tag) else {
                return Ok(true);
            };
            match child.attribute("enabled") {
                None | Some("true" | "1") => Ok(true),
                Some("false" | "0") => Ok(false),
                Some(other) => Err(self.reader.error_at(
                    child,
                    "enabled",
                    format!("attribute 'enabled' must be true or false, got '{other}'"),
                )),
            }
        };
        let properties = VisualProperties {
            illustration: enabled("drake:illustration_properties")?.then_some(illustration),
            perception: enabled("drake:perception_properties")?.then_some(perception),
        };
        let Some((name, x_bg, shape)) = self.read_geometry(node, names)? else {
            return Ok(());
        };
        let added = self
            .target
            .register_visual(body, x_bg, shape, &name, properties);
        for warning in self.check(node, added)? {
            self.reader.warning(node, warning);
        }
        Ok(())
    }

    pub(super) fn read_collision(
        &mut self,
        node: XmlNode<'_>,
        body: BodyIndex,
        names: &mut GeometryNames,
    ) -> Parsed<()> {
        let Some((name, x_bg, shape)) = self.read_geometry(node, names)? else {
            return Ok(());
        };
        let properties = self.read_proximity_properties(node)?;
        let added = self
            .target
            .register_collision(body, x_bg, shape, &name, properties);
        for warning in self.check(node, added)?.1 {
            self.reader.warning(node, warning);
        }
        Ok(())
    }

    /// Reads the name, pose and shape of a visual or collision; `None` if the geometry is left out.
    fn read_geometry(
        &self,
        node: XmlNode<'_>,
        names: &mut GeometryNames,
    ) -> Parsed<Option<(String, Isometry3<f64>, Shape)>> {
        let x_bg = self.origin(node)?;
        let tag = self.reader.tag(node);
        let Some(geometry) = self.reader.child(node, "geometry") else {
            let message = format!("<{tag}> has no <geometry>");
            return Err(self.reader.error(node, message));
        };
        let Some(shape) = self.read_shape(geometry)? else {
            return Ok(None);
        };
        let name = match node.attribute("name").map(str::trim) {
            Some(name) if !name.is_empty() => {
                let unique = names.unique(name);
                if unique != name {
                    let message = format!(
                        "another <{tag}> of this link is named '{name}'; this one is renamed to \
                         '{unique}'"
                    );
                    self.reader.warning(node, message);
                }
                unique
            }
            _ => names.unique(shape.type_name()),
        };
        Ok(Some((name, x_bg, shape)))
    }

    fn read_shape(&self, geometry: XmlNode<'_>) -> Parsed<Option<Shape>> {
        let number = |node, attribute| self.reader.required_number(node, attribute);
        let shapes = self.reader.elements(geometry);
        let mut shapes = shapes.filter(|node| SHAPES.contains(&self.reader.tag(*node)));
        if let Some(second) = shapes.nth(1) {
            let message = "only the first shape of <geometry> is used; this one is ignored";
            self.reader.warning_grouped(second, message);
        }
        for node in self.reader.elements(geometry) {
            let shape: tarragon_geometry::Result<Shape> = match self.reader.tag(node) {
                "box" => {
                    self.reader.required(node, "size")?;
                    let [x, y, z] = self.reader.vector::<3>(node, "size")?.unwrap_or_default();
                    BoxShape::new(x, y, z).map(Shape::from)
                }
                "sphere" => Sphere::new(number(node, "radius")?).map(Shape::from),
                "cylinder" => {
                    Cylinder::new(number(node, "radius")?, number(node, "length")?).map(Shape::from)
                }
                "capsule" | "drake:capsule" => {
                    Capsule::new(number(node, "radius")?, number(node, "length")?).map(Shape::from)
                }
                "ellipsoid" | "drake:ellipsoid" => {
                    let [a, b, c] = ["a", "b", "c"].map(|axis| number(node, axis));
                    Ellipsoid::new(a?, b?, c?).map(Shape::from)
                }
                "mesh" => return self.read_mesh(node),
                _ => continue,
            };
            return match shape {
                Ok(shape) => Ok(Some(shape)),
                Err(error) => Err(self.reader.error(node, error)),
            };
        }
        Err(self.reader.error(
            geometry,
            "<geometry> must have a <box>, <sphere>, <cylinder>, <capsule>, <drake:ellipsoid> or \
             <mesh>",
        ))
    }

    /// Returns whether a shape belongs to a `<visual>`.
    fn is_in_visual(&self, shape: XmlNode<'_>) -> bool {
        let owner = shape.parent().and_then(|geometry| geometry.parent());
        owner.is_some_and(|owner| self.reader.tag(owner) == "visual")
    }

    fn read_mesh(&self, node: XmlNode<'_>) -> Parsed<Option<Shape>> {
        if !self.target.mesh_geometry {
            return Ok(None);
        }
        let is_blank = |name: &str| name.trim().is_empty();
        if self.is_in_visual(node) && node.attribute("filename").is_some_and(is_blank) {
            // Drake loads the model, too, and draws nothing.
            let message = "<mesh> must name a file, got an empty filename; the visual is left out";
            self.reader.warning_grouped(node, message);
            return Ok(None);
        }
        let uri = self.reader.required(node, "filename")?;
        let scale = self.reader.vector3_or_uniform(node, "scale")?;
        let scale = Vector3::from(scale.unwrap_or([1.0; 3]));
        let path = self.resolve(uri);
        let path = path.map_err(|why| self.reader.error_at(node, "filename", why))?;
        if let Some(why) = mesh_files::refusal(&path) {
            self.reader.warning(node, format!("'{uri}': {why}"));
            return Ok(None);
        }
        let source = self.target.mesh_source(path);
        let shape = match self.reader.child(node, "drake:declare_convex") {
            Some(_) => Convex::with_scale(source, scale).map(Shape::from),
            None => Mesh::with_scale(source, scale).map(Shape::from),
        };
        let shape = shape.map_err(|e| self.reader.error_at(node, "scale", e))?;
        Ok(Some(shape))
    }
}
