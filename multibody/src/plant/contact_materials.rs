//! Contact properties of the geometry of a plant.

use super::multibody_plant::MultibodyPlant;
use crate::error::{Error, Result};
use crate::model::BodyIndex;
use foldhash::fast::FixedState;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use tarragon_geometry::{
    CoulombFriction, GeometryId, GeometryVersion, HydroelasticType, Role, SceneGraphInspector,
};

/// Relaxation time (s) of geometry that declares none, as in Drake.
const DEFAULT_RELAXATION_TIME: f64 = 0.1;

/// Contact properties of one geometry.
#[derive(Clone, Copy, Debug)]
pub(super) struct ContactMaterial {
    pub(super) body: BodyIndex,
    /// Stiffness (N/m), possibly infinite.
    pub(super) stiffness: f64,
    /// Hunt and Crossley's dissipation (s/m).
    pub(super) dissipation: f64,
    pub(super) relaxation_time: f64,
    pub(super) friction: CoulombFriction,
    /// Whether it takes part in contact surfaces.
    pub(super) is_hydroelastic: bool,
}

/// Contact properties of the geometry of a scene, which are read once until the geometry changes.
#[derive(Clone, Debug, Default)]
pub(super) struct ContactMaterials {
    version: Option<GeometryVersion>,
    known: HashMap<GeometryId, ContactMaterial, FixedState>,
}

impl ContactMaterials {
    /// Forgets what is known of other geometry.
    pub(super) fn update(&mut self, inspector: &SceneGraphInspector<'_>) -> Result<()> {
        let version = inspector.geometry_version();
        let known = match &self.version {
            Some(known) => known.is_same_as(version, Role::Proximity)?,
            None => false,
        };
        if !known {
            self.known.clear();
            self.version = Some(version.clone());
        }
        Ok(())
    }

    pub(super) fn get(
        &mut self,
        plant: &MultibodyPlant,
        inspector: &SceneGraphInspector<'_>,
        id: GeometryId,
    ) -> Result<ContactMaterial> {
        Ok(match self.known.entry(id) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(unknown) => *unknown.insert(plant.contact_material(inspector, id)?),
        })
    }
}

impl MultibodyPlant {
    fn contact_material(
        &self,
        inspector: &SceneGraphInspector<'_>,
        id: GeometryId,
    ) -> Result<ContactMaterial> {
        let frame = inspector.frame_id(id)?;
        let body = self.body_from_frame_id(frame).ok_or_else(|| {
            Error::unsupported(format!(
                "geometry '{}' touches something, but its frame '{}' is not a body of the plant; \
                 exclude it by a collision filter",
                inspector.name(id).unwrap_or_default(),
                inspector.frame_name(frame).unwrap_or_default()
            ))
        })?;
        let missing = |what: &str| {
            Error::state(format!(
                "geometry '{}' has no property ('material', '{what}') for contact; set it, or a \
                 default in the SceneGraphConfig",
                inspector.name(id).unwrap_or_default()
            ))
        };
        let properties = inspector.proximity_properties(id)?;
        let properties = properties.ok_or_else(|| missing("coulomb_friction"))?;
        let number = |name: &str| properties.try_get::<f64>("material", name);
        let friction = properties.try_get::<CoulombFriction>("material", "coulomb_friction")?;
        let compliance =
            properties.try_get::<HydroelasticType>("hydroelastic", "compliance_type")?;
        let estimated = self.estimated_compliance();
        Ok(ContactMaterial {
            body,
            stiffness: number("point_contact_stiffness")?
                .copied()
                .unwrap_or(estimated.0),
            dissipation: number("hunt_crossley_dissipation")?
                .copied()
                .unwrap_or(estimated.1),
            relaxation_time: number("relaxation_time")?
                .copied()
                .unwrap_or(DEFAULT_RELAXATION_TIME),
            friction: *friction.ok_or_else(|| missing("coulomb_friction"))?,
            is_hydroelastic: compliance.is_some_and(|c| *c != HydroelasticType::Undefined),
        })
    }

    /// Estimates stiffness (N/m) and dissipation (s/m) of geometry that declares none, as Drake
    /// does: the heaviest body sinks in by the penetration allowance, critically damped.
    fn estimated_compliance(&self) -> (f64, f64) {
        let masses = self.bodies.iter().map(|b| b.spatial_inertia().mass());
        let mass = masses.fold(0.0, f64::max);
        let allowance = self.contact.penetration_allowance;
        // Stiffnesses combine to half of equal ones.
        let stiffness = 2.0 * mass * self.gravity.norm() / allowance;
        let period = (allowance / self.gravity.norm()).sqrt();
        match stiffness > 0.0 {
            true => (stiffness, period / allowance),
            false => (1e6, 50.0),
        }
    }
}
