//! Geometries with their properties, as all formats see them.

use super::document::ModelDocument;
use super::format::OutputFormat;
use nalgebra::Isometry3;
use std::collections::BTreeSet;
use tarragon_geometry::{
    CoulombFriction, GeometryId, GeometryProperties, HydroelasticType, RenderLabel, Rgba, Shape,
    Skin,
};
use tarragon_multibody::{BodyIndex, ModelInstanceIndex, MujocoContact};

/// A geometry of a body.
pub(crate) struct BodyGeometry<'a> {
    pub(crate) id: GeometryId,
    /// Name without the model instance.
    pub(crate) name: &'a str,
    pub(crate) x_bg: &'a Isometry3<f64>,
    pub(crate) shape: &'a Shape,
    pub(crate) proximity: Option<&'a GeometryProperties>,
    pub(crate) illustration: Option<&'a GeometryProperties>,
    pub(crate) perception: Option<&'a GeometryProperties>,
}

/// Appearance of a visual geometry.
#[derive(Default)]
pub(crate) struct Appearance {
    pub(crate) diffuse: Option<Rgba>,
    pub(crate) diffuse_map: Option<String>,
    /// Render engines that show it; `None` for all.
    pub(crate) accepting: Option<BTreeSet<String>>,
}

/// Contact properties of a collision geometry.
#[derive(Default)]
pub(crate) struct ContactProperties {
    /// Elements with one number, without their prefix.
    pub(crate) numbers: Vec<(&'static str, f64)>,
    pub(crate) hydroelastic: HydroelasticType,
    pub(crate) friction: Option<CoulombFriction>,
    pub(crate) max_pieces: Option<usize>,
    /// Contact as in MuJoCo, which only MJCF has.
    pub(crate) as_in_mujoco: Option<MujocoContact>,
}

/// Group and name of the properties that are single numbers, and the name of their element.
const NUMBERS: [(&str, &str, &str); 7] = [
    (
        "hydroelastic",
        "resolution_hint",
        "drake:mesh_resolution_hint",
    ),
    (
        "hydroelastic",
        "hydroelastic_modulus",
        "drake:hydroelastic_modulus",
    ),
    ("hydroelastic", "margin", "drake:hydroelastic_margin"),
    ("hydroelastic", "slab_thickness", "drake:slab_thickness"),
    (
        "material",
        "hunt_crossley_dissipation",
        "drake:hunt_crossley_dissipation",
    ),
    ("material", "relaxation_time", "drake:relaxation_time"),
    (
        "material",
        "point_contact_stiffness",
        "drake:point_contact_stiffness",
    ),
];

/// Names of all elements with one number.
pub(crate) const CONTACT_ELEMENTS: [&str; 7] = {
    let mut names = [""; 7];
    let mut i = 0;
    while i < names.len() {
        names[i] = NUMBERS[i].2;
        i += 1;
    }
    names
};

impl<'a> ModelDocument<'a> {
    /// Returns the visual or the collision geometries of a body, in order of registration.
    pub(crate) fn geometries(&self, body: BodyIndex, visual: bool) -> Vec<BodyGeometry<'a>> {
        let (plant, Some(scene)) = (self.plant, self.scene) else {
            return vec![];
        };
        let inspector = scene.model_inspector();
        let ids = if visual {
            plant.visual_geometries(body)
        } else {
            plant.collision_geometries(body)
        };
        let instance = plant[body].model_instance();
        let model = plant.model_instance_name(instance).unwrap_or_default();
        let model = (instance > ModelInstanceIndex::DEFAULT).then_some(model);
        let find = |id| {
            let scoped = inspector.name(id).ok()?;
            let own = model.and_then(|model| scoped.strip_prefix(model)?.strip_prefix("::"));
            Some(BodyGeometry {
                id,
                name: own.unwrap_or(scoped),
                x_bg: inspector.pose_in_frame(id).ok()?,
                shape: inspector.shape(id).ok()?,
                proximity: inspector.proximity_properties(id).ok()?.map(|p| &**p),
                illustration: inspector.illustration_properties(id).ok()?.map(|p| &**p),
                perception: inspector.perception_properties(id).ok()?.map(|p| &**p),
            })
        };
        // Geometries that were removed from the scene have no name any more.
        ids.iter().copied().filter_map(find).collect()
    }

    /// Returns the skins of the plant, in order of registration.
    pub(crate) fn skins(&self) -> Vec<(GeometryId, &'a Skin)> {
        let (Some(scene), Some(source)) = (self.scene, self.plant.source_id()) else {
            return vec![];
        };
        let inspector = scene.model_inspector();
        let all = inspector.all_driven_geometry_ids();
        let own = all.filter(|id| {
            inspector
                .geometry_belongs_to_source(*id, source)
                .unwrap_or(false)
        });
        own.filter_map(|id| Some((id, inspector.skin(id).ok()??)))
            .collect()
    }

    /// Returns the name of a geometry to tell users.
    pub(crate) fn geometry_name(&self, id: GeometryId) -> String {
        let inspector = self.scene.map(|scene| scene.model_inspector());
        let name = inspector.and_then(|inspector| Some(inspector.name(id).ok()?.to_string()));
        name.unwrap_or_else(|| id.to_string())
    }

    /// Returns the appearance of a visual. Reports properties that have no element; the format has
    /// elements for the colours in `more`.
    pub(crate) fn appearance(
        &mut self,
        what: &str,
        body: BodyIndex,
        geometry: &BodyGeometry<'_>,
        more: &[&str],
    ) -> Appearance {
        let of = |properties: Option<&GeometryProperties>| {
            let Some(p) = properties else {
                return (Appearance::default(), vec![]);
            };
            let found = Appearance {
                diffuse: p.try_get("phong", "diffuse").ok().flatten().copied(),
                diffuse_map: p.try_get("phong", "diffuse_map").ok().flatten().cloned(),
                accepting: p.try_get("renderer", "accepting").ok().flatten().cloned(),
            };
            let label = RenderLabel::new(i16::try_from(body.index()).unwrap_or(i16::MAX)).ok();
            let written = |group: &str, name: &str| match (group, name) {
                ("phong", "diffuse") => found.diffuse.is_some(),
                ("phong", "diffuse_map") => found.diffuse_map.is_some(),
                ("phong", color) if more.contains(&color) => {
                    p.try_get::<Rgba>(group, name).is_ok_and(|c| c.is_some())
                }
                ("renderer", "accepting") => found.accepting.is_some(),
                ("label", "id") => p.try_get(group, name).is_ok_and(|l| l.copied() == label),
                _ => false,
            };
            let left = unwritten(p, written);
            (found, left)
        };
        let (illustration, mut left) = of(geometry.illustration);
        let (perception, more) = of(geometry.perception);
        left.extend(more);
        left.sort();
        left.dedup();
        for property in left {
            self.warn(format!("{what}: {property} left out"));
        }
        if illustration.accepting.is_some() {
            self.warn(format!(
                "{what}: the renderers of the illustration role are left out"
            ));
        }
        let differ = illustration.diffuse != perception.diffuse
            || illustration.diffuse_map != perception.diffuse_map;
        match (
            geometry.illustration.is_some(),
            geometry.perception.is_some(),
        ) {
            (true, true) if differ => {
                self.warn(format!(
                    "{what}: the illustration's appearance is also used for perception"
                ));
                Appearance {
                    accepting: perception.accepting,
                    ..illustration
                }
            }
            (true, true) => Appearance {
                accepting: perception.accepting,
                ..illustration
            },
            (true, false) => Appearance {
                accepting: None,
                ..illustration
            },
            _ => perception,
        }
    }

    /// Returns the contact properties of a collision geometry. Reports those that have no element;
    /// `without` names elements that the format lacks.
    pub(crate) fn contact_properties(
        &mut self,
        what: &str,
        properties: Option<&GeometryProperties>,
        without: &[&str],
    ) -> ContactProperties {
        let mut found = ContactProperties::default();
        let Some(p) = properties else {
            return found;
        };
        for (group, name, tag) in NUMBERS {
            if let Ok(Some(x)) = p.try_get::<f64>(group, name)
                && x.is_finite()
                && *x >= 0.0
                && !without.contains(&tag)
            {
                found.numbers.push((tag, *x));
            }
        }
        let kind = p.try_get("hydroelastic", "compliance_type").ok().flatten();
        found.hydroelastic = kind.copied().unwrap_or_default();
        found.friction = p
            .try_get("material", "coulomb_friction")
            .ok()
            .flatten()
            .copied();
        let pieces = p.try_get("convex_decomposition", "max_pieces");
        found.max_pieces = pieces.ok().flatten().copied();
        if self.format == OutputFormat::Mjcf {
            let contact = p.try_get("material", "mujoco_contact");
            found.as_in_mujoco = contact.ok().flatten().copied();
        }
        let has = |tag: &str| found.numbers.iter().any(|(t, _)| *t == tag);
        let written = |group: &str, name: &str| match (group, name) {
            ("hydroelastic", "compliance_type") => kind.is_some(),
            ("material", "coulomb_friction") => found.friction.is_some(),
            ("material", "mujoco_contact") => found.as_in_mujoco.is_some(),
            ("convex_decomposition", "max_pieces") => found.max_pieces.is_some(),
            _ => NUMBERS
                .iter()
                .any(|(g, n, tag)| (*g, *n) == (group, name) && has(tag)),
        };
        for property in unwritten(p, written) {
            self.warn(format!("{what}: {property} left out"));
        }
        found
    }
}

/// Describes a property in the words of model files, followed by "is" or "are".
fn described(group: &str, name: &str) -> String {
    let words = match (group, name) {
        ("material", "mujoco_contact") => {
            "the contact parameters of MuJoCo (solref, solimp, condim, margin, gap, priority) are"
        }
        ("phong", "projected_texture") => "the image that is projected onto it is",
        ("phong", "diffuse_map") => "the image on it is",
        _ => return format!("property ('{group}', '{name}') is"),
    };
    words.into()
}

/// Returns the properties that `written` rejects, as text.
fn unwritten(properties: &GeometryProperties, written: impl Fn(&str, &str) -> bool) -> Vec<String> {
    let mut left = vec![];
    for group in properties.group_names() {
        for (name, _) in properties.properties_in_group(group).into_iter().flatten() {
            if !written(group, name) {
                left.push(described(group, name));
            }
        }
    }
    left
}
