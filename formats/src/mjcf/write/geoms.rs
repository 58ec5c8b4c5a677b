//! Geoms and the meshes that they use.

use super::contact::{condim_attribute, margin_attributes, solver_attributes};
use super::height_fields::lowered;
use super::mesh_files::{key, mesh_of};
use super::{MjcfWriter, pose_attributes};
use crate::writing::geometries::{BodyGeometry, CONTACT_ELEMENTS};
use crate::writing::poses::same_pose;
use crate::writing::xml::{XmlText, numbers};
use std::collections::BTreeMap;
use tarragon_geometry::{Rgba, Shape};
use tarragon_multibody::{BodyIndex, MujocoContact, WrapShape};

/// A geom: a visual and a collision geometry of the same shape at the same place, or one of them.
pub(super) struct MergedGeom<'a> {
    pub(super) visual: Option<BodyGeometry<'a>>,
    pub(super) collision: Option<BodyGeometry<'a>>,
}

/// Radius (m) of a sphere that is a point.
const LEAST_RADIUS: f64 = 1e-12;

/// Group of geoms that are not drawn.
const HIDDEN: &str = "3";

impl<'a> MjcfWriter<'a> {
    pub(super) fn geoms(&self, body: BodyIndex) -> Vec<MergedGeom<'a>> {
        let [visuals, collisions] =
            [true, false].map(|visual| self.document.geometries(body, visual));
        let mut by_name: BTreeMap<&str, usize> = BTreeMap::new();
        let mut geoms: Vec<MergedGeom<'a>> = vec![];
        for visual in visuals {
            by_name.entry(visual.name).or_insert(geoms.len());
            geoms.push(MergedGeom {
                visual: Some(visual),
                collision: None,
            });
        }
        for collision in collisions {
            let same = by_name.get(collision.name).copied().filter(|i| {
                let geom = &geoms[*i];
                geom.collision.is_none()
                    && geom.visual.as_ref().is_some_and(|v| {
                        v.shape == collision.shape && same_pose(v.x_bg, collision.x_bg)
                    })
            });
            match same {
                Some(i) => geoms[i].collision = Some(collision),
                None => geoms.push(MergedGeom {
                    visual: None,
                    collision: Some(collision),
                }),
            }
        }
        geoms
    }

    pub(super) fn write_geoms(&mut self, body: BodyIndex) {
        let mut count = 0;
        for geom in self.geoms(body) {
            count += usize::from(self.write_geom(body, &geom, count));
        }
        let xml = &mut self.document.xml;
        for wrap in self.wraps.iter().filter(|wrap| wrap.geom.body == body) {
            let radius = wrap.geom.radius;
            xml.start("geom").attribute("name", &wrap.name);
            match wrap.geom.shape {
                WrapShape::Sphere => xml.attribute("type", "sphere").numbers("size", &[radius]),
                // Tendons do not slip off its ends.
                WrapShape::Cylinder => xml
                    .attribute("type", "cylinder")
                    .numbers("size", &[radius; 2]),
            };
            pose_attributes(xml, &wrap.geom.pose);
            xml.attribute("group", HIDDEN);
            without_contact(xml);
            xml.end();
        }
    }

    /// Writes a geom; returns false if it is left out.
    fn write_geom(&mut self, body: BodyIndex, geom: &MergedGeom<'a>, count: usize) -> bool {
        let Some(first) = geom.visual.as_ref().or(geom.collision.as_ref()) else {
            return false;
        };
        let link = self.bodies[body.index()].clone();
        let what = format!("geometry '{}' of body '{link}'", first.name);
        if matches!(first.shape, Shape::HalfSpace(_)) && !self.is_anchored(body) {
            self.document.warn(format!(
                "{what}: left out, because MuJoCo refuses planes on bodies that move"
            ));
            return false;
        }
        let Some((kind, attribute, value)) = self.shape(&what, first.shape) else {
            return false;
        };
        let rgba = geom.visual.as_ref().map(|v| self.color(&what, body, v));
        let collision = geom
            .collision
            .as_ref()
            .filter(|c| !self.is_flat(&what, c.shape));
        let contact = collision.map(|c| self.contact_of(&what, c));
        let instance = self.document.plant[body].model_instance();
        let paired = geom
            .collision
            .as_ref()
            .filter(|c| self.paired.contains(&c.id));
        // Readers number the geoms without a name.
        let has_name = paired.is_some() || first.name != format!("geom{count}");
        let name = has_name.then(|| {
            let taken = &mut self.names.geoms;
            self.document.name(taken, "geometry", instance, first.name)
        });
        if let (Some(collision), Some(name)) = (paired, &name) {
            let own = contact.as_ref().and_then(|contact| contact.solver);
            self.paired_geoms.insert(collision.id, (name.clone(), own));
        }
        if let Some(collision) = &geom.collision
            && contact
                .as_ref()
                .is_some_and(|contact| contact.solver.is_none())
        {
            self.other_contact.push(collision.name.into());
        }
        let xml = &mut self.document.xml;
        xml.start("geom");
        if let Some(name) = name {
            xml.attribute("name", &name);
        }
        xml.attribute("type", kind).attribute(attribute, &value);
        match first.shape {
            Shape::HeightField(field) => pose_attributes(xml, &(first.x_bg * lowered(field))),
            _ => pose_attributes(xml, first.x_bg),
        }
        match rgba {
            Some(rgba) => {
                xml.numbers("rgba", &rgba.rgba());
            }
            None => {
                xml.attribute("group", HIDDEN);
            }
        }
        match contact {
            Some(contact) => contact.add_attributes(xml),
            None => without_contact(xml),
        }
        xml.end();
        true
    }

    /// Returns the type of a shape, and the name and the value of the attribute with its size.
    fn shape(&mut self, what: &str, shape: &Shape) -> Option<(&'static str, &'static str, String)> {
        let size = |kind, sizes: &[f64]| Some((kind, "size", numbers(sizes)));
        if let Shape::Sphere(s) = shape
            && s.radius() == 0.0
        {
            self.document.warn(format!(
                "{what}: its radius becomes {LEAST_RADIUS:?} m, because MuJoCo refuses zero"
            ));
            return size("sphere", &[LEAST_RADIUS]);
        }
        match shape {
            Shape::Box(s) => size("box", (s.size() * 0.5).as_slice()),
            Shape::Sphere(s) => size("sphere", &[s.radius()]),
            Shape::Cylinder(s) => size("cylinder", &[s.radius(), s.length() / 2.0]),
            Shape::Capsule(s) => size("capsule", &[s.radius(), s.length() / 2.0]),
            Shape::Ellipsoid(s) => size("ellipsoid", s.semi_axes().as_slice()),
            Shape::HalfSpace(_) => size("plane", &[0.0, 0.0, 1.0]),
            Shape::Mesh(_) | Shape::Convex(_) => {
                let (source, scale) = mesh_of(shape)?;
                if let Shape::Convex(_) = shape {
                    self.document
                        .warn(format!("{what}: a convex mesh becomes a mesh"));
                }
                let name = self.meshes.get(&key(source, &scale)).cloned();
                if name.is_none() {
                    // Reports a mesh in memory; other reasons were reported.
                    self.document.mesh_uri(source, what, false);
                }
                name.map(|name| ("mesh", "mesh", name))
            }
            Shape::HeightField(field) => {
                let mut known = self.height_fields.iter();
                let (_, name) = known.find(|(other, _)| other == field)?;
                Some(("hfield", "hfield", name.clone()))
            }
            other => {
                let kind = other.type_name();
                self.document.warn(format!(
                    "{what}: left out, because MJCF has no shape {kind}"
                ));
                None
            }
        }
    }

    /// Returns the colour of a visual. Reports everything else about its appearance.
    fn color(&mut self, what: &str, body: BodyIndex, visual: &BodyGeometry<'_>) -> Rgba {
        let appearance = self.document.appearance(what, body, visual, &[]);
        if visual.illustration.is_none() || visual.perception.is_none() {
            self.document.warn(format!(
                "{what}: gets both roles, illustration and perception"
            ));
        }
        if appearance.diffuse_map.is_some() {
            self.document.warn(format!(
                "{what}: the texture is left out, because MJCF is written without textures"
            ));
        }
        if appearance.accepting.is_some() {
            self.document.warn(format!(
                "{what}: the list of renderers that accept it is left out, because MJCF has none"
            ));
        }
        if appearance.diffuse.is_none() {
            self.document
                .warn(format!("{what}: becomes grey, because it has no colour"));
        }
        appearance
            .diffuse
            .or_else(|| Rgba::new(0.5, 0.5, 0.5, 1.0).ok())
            .unwrap_or(Rgba::WHITE)
    }

    /// Returns the contact of a collision geometry. Reports what MJCF does not have.
    fn contact_of(&mut self, what: &str, collision: &BodyGeometry<'_>) -> ContactText {
        let properties = collision.proximity;
        let contact = self
            .document
            .contact_properties(what, properties, &CONTACT_ELEMENTS);
        if contact.hydroelastic != tarragon_geometry::HydroelasticType::Undefined
            || contact.max_pieces.is_some()
        {
            self.document.warn(format!(
                "{what}: its hydroelastic type and its convex pieces are left out"
            ));
        }
        let mu = contact.friction.map_or(1.0, |mu| {
            self.report_static_friction(what, &mu);
            mu.dynamic_friction()
        });
        let masks = *self.masks.get(&collision.id).unwrap_or(&self.other_masks);
        if masks == [0; 2] && !self.paired.contains(&collision.id) {
            self.document.warn(format!(
                "{what}: left out as collision geometry, because it collides with nothing"
            ));
        }
        ContactText {
            masks,
            friction: mu,
            solver: contact.as_in_mujoco,
        }
    }

    /// Reports the geometries whose contact is not MuJoCo's.
    pub(super) fn report_contact(&mut self) {
        for name in std::mem::take(&mut self.other_contact) {
            self.document.warn(format!(
                "contact of geometry '{name}': its stiffness follows from MuJoCo's default \
                 'solref' and 'solimp', and the larger friction of two geometries acts"
            ));
        }
    }
}

/// Contact of a geom.
struct ContactText {
    masks: [u32; 2],
    friction: f64,
    solver: Option<MujocoContact>,
}

impl ContactText {
    fn add_attributes(&self, xml: &mut XmlText) {
        let [contype, conaffinity] = self.masks;
        for (name, mask) in [("contype", contype), ("conaffinity", conaffinity)] {
            if mask != 1 {
                // MuJoCo reads signed numbers.
                xml.attribute(name, &mask.cast_signed().to_string());
            }
        }
        if self.friction != 1.0 {
            xml.numbers("friction", &[self.friction]);
        }
        let contact = self.solver.unwrap_or_default();
        condim_attribute(xml, &contact);
        if contact.priority != 0 {
            xml.attribute("priority", &contact.priority.to_string());
        }
        if contact.solmix != 1.0 {
            xml.numbers("solmix", &[contact.solmix]);
        }
        solver_attributes(xml, &contact);
        margin_attributes(xml, [contact.margin, contact.gap]);
    }
}

fn without_contact(xml: &mut XmlText) {
    xml.attribute("contype", "0").attribute("conaffinity", "0");
}
