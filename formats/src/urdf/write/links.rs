//! Links with their geometry.

use super::{UrdfWriter, write_origin};
use crate::writing::document::{ModelDocument, TakenNames};
use crate::writing::geometries::{Appearance, BodyGeometry};
use crate::writing::poses::central_inertia;
use crate::writing::xml::number;
use nalgebra::Vector3;
use std::collections::HashMap;
use tarragon_geometry::{HydroelasticType, MeshSource, Shape};
use tarragon_multibody::{BodyIndex, SpatialInertia};

/// Materials by colour and texture.
type MaterialNames = HashMap<String, String>;

impl UrdfWriter<'_> {
    pub(super) fn write_links(&mut self) {
        let mut materials = MaterialNames::new();
        for (index, body) in self.document.plant.bodies() {
            let geometries = [true, false].map(|visual| self.document.geometries(index, visual));
            let is_world = index == BodyIndex::WORLD;
            if is_world && geometries.iter().all(Vec::is_empty) {
                continue;
            }
            let link = self.links[index.index()].clone();
            self.document.xml.start("link").attribute("name", &link);
            if !is_world {
                self.document.write_inertial(&link, body.spatial_inertia());
            }
            for (visual, geometries) in [true, false].into_iter().zip(geometries) {
                let mut names = TakenNames::default();
                for geometry in geometries {
                    self.write_geometry(index, visual, &geometry, &mut names, &mut materials);
                }
            }
            self.document.xml.end();
        }
    }

    fn write_geometry(
        &mut self,
        body: BodyIndex,
        visual: bool,
        geometry: &BodyGeometry<'_>,
        names: &mut TakenNames,
        materials: &mut MaterialNames,
    ) {
        let document = &mut self.document;
        let tag = if visual { "visual" } else { "collision" };
        let link = &self.links[body.index()];
        let what = format!("{tag} '{}' of link '{link}'", geometry.name);
        let Some(shape) = document.urdf_shape(&what, geometry.shape, !visual) else {
            return;
        };
        let instance = document.plant[body].model_instance();
        let name = document.name(names, tag, instance, geometry.name);
        document.xml.start(tag).attribute("name", &name);
        write_origin(&mut document.xml, geometry.x_bg);
        document.xml.start("geometry");
        document.xml.start(shape.tag);
        for (name, value) in &shape.attributes {
            document.xml.attribute(name, value);
        }
        if shape.convex {
            document.xml.start("drake:declare_convex");
            document.xml.end();
        }
        document.xml.end();
        document.xml.end();
        if visual {
            let appearance = document.appearance(&what, body, geometry, &[]);
            document.write_material(&what, &appearance, materials);
            document.write_roles(&appearance, geometry);
        } else {
            document.write_contact(&what, geometry)
        }
        document.xml.end();
    }
}

/// A shape as an element.
struct UrdfShape {
    tag: &'static str,
    attributes: Vec<(&'static str, String)>,
    convex: bool,
}

impl ModelDocument<'_> {
    fn write_inertial(&mut self, link: &str, inertia: &SpatialInertia) {
        if *inertia == SpatialInertia::zero() {
            return;
        }
        let central = central_inertia(inertia).filter(|_| inertia.mass() > 0.0);
        let Some(i) = central else {
            let message = format!(
                "body '{link}': its mass properties are left out, because they are physically \
                 impossible"
            );
            self.warn(message);
            return;
        };
        let xml = &mut self.xml;
        xml.start("inertial");
        let p = inertia.center_of_mass();
        if p != Vector3::zeros() {
            xml.start("origin").numbers("xyz", p.as_slice()).end();
        }
        xml.start("mass").numbers("value", &[inertia.mass()]).end();
        xml.start("inertia");
        for (name, at) in [
            ("ixx", (0, 0)),
            ("ixy", (0, 1)),
            ("ixz", (0, 2)),
            ("iyy", (1, 1)),
            ("iyz", (1, 2)),
            ("izz", (2, 2)),
        ] {
            xml.numbers(name, &[i[at]]);
        }
        xml.end();
        xml.end();
    }

    /// Returns the element of a shape; reports a shape that has none.
    fn urdf_shape(&mut self, what: &str, shape: &Shape, for_contact: bool) -> Option<UrdfShape> {
        let mut mesh = |source: &MeshSource, scale: Vector3<f64>, convex: bool| {
            let uri = self.mesh_uri(source, what, for_contact)?;
            let mut attributes = vec![("filename", uri)];
            if scale != Vector3::repeat(1.0) {
                attributes.push(("scale", crate::writing::xml::numbers(scale.as_slice())));
            }
            Some(UrdfShape {
                tag: "mesh",
                attributes,
                convex,
            })
        };
        let (tag, attributes) = match shape {
            Shape::Box(s) => {
                let size = crate::writing::xml::numbers(s.size().as_slice());
                ("box", vec![("size", size)])
            }
            Shape::Sphere(s) => ("sphere", vec![("radius", number(s.radius()))]),
            Shape::Cylinder(s) => {
                let (r, l) = (number(s.radius()), number(s.length()));
                ("cylinder", vec![("radius", r), ("length", l)])
            }
            Shape::Capsule(s) => {
                let (r, l) = (number(s.radius()), number(s.length()));
                ("drake:capsule", vec![("radius", r), ("length", l)])
            }
            Shape::Ellipsoid(s) => {
                let [a, b, c] = s.semi_axes().map(number).into();
                ("drake:ellipsoid", vec![("a", a), ("b", b), ("c", c)])
            }
            Shape::Mesh(s) => return mesh(s.source(), s.scale3(), false),
            Shape::Convex(s) => return mesh(s.source(), s.scale3(), true),
            other => {
                let kind = other.type_name();
                self.warn(format!(
                    "{what}: left out, because URDF has no shape {kind}"
                ));
                return None;
            }
        };
        Some(UrdfShape {
            tag,
            attributes,
            convex: false,
        })
    }

    fn write_material(
        &mut self,
        what: &str,
        appearance: &Appearance,
        materials: &mut MaterialNames,
    ) {
        let texture = appearance.diffuse_map.as_ref();
        let texture =
            texture.and_then(|path| self.uri(path.as_ref(), &format!("texture of {what}")));
        if appearance.diffuse.is_none() && texture.is_none() {
            return;
        }
        let color = appearance.diffuse.map(|c| c.rgba());
        let next = format!("material_{}", materials.len() + 1);
        let key = format!("{color:?} {texture:?}");
        let name = materials.entry(key).or_insert(next);
        let xml = &mut self.xml;
        xml.start("material").attribute("name", name);
        if let Some(color) = color {
            xml.start("color").numbers("rgba", &color).end();
        }
        if let Some(texture) = texture {
            xml.start("texture").attribute("filename", &texture).end();
        }
        xml.end();
    }

    /// Writes the roles of a visual: which render engines show it, and whether visualizers and
    /// cameras do.
    fn write_roles(&mut self, appearance: &Appearance, geometry: &BodyGeometry<'_>) {
        let xml = &mut self.xml;
        for name in appearance.accepting.iter().flatten() {
            xml.start("drake:accepting_renderer")
                .attribute("name", name)
                .end();
        }
        for (tag, role) in [
            ("drake:illustration_properties", geometry.illustration),
            ("drake:perception_properties", geometry.perception),
        ] {
            if role.is_none() {
                xml.start(tag).attribute("enabled", "false").end();
            }
        }
    }

    fn write_contact(&mut self, what: &str, geometry: &BodyGeometry<'_>) {
        let contact = self.contact_properties(what, geometry.proximity, &[]);
        let xml = &mut self.xml;
        xml.start("drake:proximity_properties");
        match contact.hydroelastic {
            HydroelasticType::Rigid => xml.start("drake:rigid_hydroelastic").end(),
            HydroelasticType::Compliant => xml.start("drake:compliant_hydroelastic").end(),
            HydroelasticType::Undefined => {}
        }
        for (tag, value) in contact.numbers {
            xml.start(tag).numbers("value", &[value]).end();
        }
        if let Some(mu) = contact.friction {
            xml.start("drake:mu_static")
                .numbers("value", &[mu.static_friction()])
                .end();
            xml.start("drake:mu_dynamic")
                .numbers("value", &[mu.dynamic_friction()])
                .end();
        }
        if let Some(count) = contact.max_pieces {
            xml.start("tarragon:max_convex_pieces");
            xml.attribute("value", &count.to_string()).end();
        }
        xml.end();
    }
}
