//! Contact properties of the geometry of a plant.

use super::model_parameters::{ContactMaterialOverride, ModelParameters, check_friction};
use crate::error::{Error, Result};
use crate::model::{BodyIndex, ContactMargin, MujocoCompliance, MujocoContact};
use crate::plant::multibody_plant::MultibodyPlant;
use foldhash::fast::FixedState;
use std::cell::OnceCell;
use std::collections::HashMap;
use tarragon_framework::Scalar;
use tarragon_geometry::{
    CoulombFriction, FrameId, GeometryId, GeometryVersion, HydroelasticType, Role,
    SceneGraphInspector, Shape,
};

/// Relaxation time (s) of geometry that declares none, as in Drake.
const DEFAULT_RELAXATION_TIME: f64 = 0.1;
/// Gravity (m/s^2) at which bodies rest in a plant without gravity.
const EARTH_GRAVITY: f64 = 9.81;

/// Contact properties of one geometry.
#[derive(Clone, Copy, Debug)]
pub(in crate::plant) struct ContactMaterial<T> {
    pub(in crate::plant) body: BodyIndex,
    /// Stiffness (N/m), possibly infinite.
    pub(in crate::plant) stiffness: T,
    /// Hunt and Crossley's dissipation (s/m).
    pub(in crate::plant) dissipation: T,
    pub(super) relaxation_time: T,
    pub(in crate::plant) static_friction: T,
    pub(in crate::plant) dynamic_friction: T,
    /// Hydroelastic modulus (Pa), infinite if rigid.
    pub(in crate::plant) modulus: f64,
    /// Properties that MuJoCo combines with those of another geometry, if it follows MuJoCo.
    pub(in crate::plant) as_in_mujoco: Option<MujocoContact>,
    /// Effective mass (kg) of the body of such a geometry, possibly infinite.
    effective_mass: f64,
    /// Whether stiffness, dissipation and relaxation time are those of a context.
    is_set: [bool; 3],
}

/// Contact properties of the geometry of a scene, which are read once until the geometry changes.
#[derive(Clone, Debug, Default)]
pub(in crate::plant) struct ContactMaterials {
    version: Option<GeometryVersion>,
    /// Number of versions that were read.
    generation: u64,
    /// All but those of geometry that must not touch anything.
    known: HashMap<GeometryId, ContactMaterial<f64>, FixedState>,
    /// Whether any geometry takes part in contact surfaces.
    any_hydroelastic: bool,
    /// The height fields.
    terrain: Vec<GeometryId>,
    /// The largest distance (m) at which there may be a force; `None` if no geometry has a margin
    /// or a gap.
    max_reach: Option<f64>,
}

impl ContactMaterials {
    /// Reads the properties of other geometry.
    pub(in crate::plant) fn update(
        &mut self,
        plant: &MultibodyPlant,
        inspector: &SceneGraphInspector<'_>,
    ) -> Result<()> {
        let version = inspector.geometry_version();
        let known = match &self.version {
            Some(known) => known.is_same_as(version, Role::Proximity)?,
            None => false,
        };
        if !known {
            let ids = inspector.geometry_ids_with_role(Role::Proximity);
            let estimates = MaterialEstimates::of(plant);
            let material = |id| {
                Some((
                    id,
                    plant.registered_material(inspector, id, &estimates).ok()?,
                ))
            };
            self.known.clear();
            self.known.extend(ids.filter_map(material));
            let mut ids = inspector.geometry_ids_with_role(Role::Proximity);
            self.any_hydroelastic = ids.any(|id| is_hydroelastic(inspector, id));
            let ids = inspector.geometry_ids_with_role(Role::Proximity);
            let is_terrain =
                |id: &GeometryId| matches!(inspector.shape(*id), Ok(Shape::HeightField(_)));
            self.terrain = ids.filter(is_terrain).collect();
            self.max_reach = self.largest_reach(plant);
            self.version = Some(version.clone());
            self.generation += 1;
        }
        Ok(())
    }

    /// Returns how many versions of the geometry were read.
    pub(in crate::plant) fn generation(&self) -> u64 {
        self.generation
    }

    /// Returns true if any geometry takes part in contact surfaces.
    pub(in crate::plant) fn any_hydroelastic(&self) -> bool {
        self.any_hydroelastic
    }

    /// Returns the height fields.
    pub(in crate::plant) fn terrain(&self) -> &[GeometryId] {
        &self.terrain
    }

    /// Returns the largest distance (m) at which there may be a force between points, at least 0;
    /// `None` if all forces begin where surfaces meet.
    pub(in crate::plant) fn max_reach(&self) -> Option<f64> {
        self.max_reach
    }

    fn largest_reach(&self, plant: &MultibodyPlant) -> Option<f64> {
        let none = ContactMargin::new(None, [None; 2]);
        let geometries = self.known.values();
        let alone = geometries.map(|of| ContactMargin::new(None, [of.as_in_mujoco.as_ref(); 2]));
        let pairs = plant.pair_properties();
        let pairs = pairs.map(|(ids, _)| self.margin_of(plant, ids));
        // Two geometries reach as far as the one with the larger margin does at most.
        let mut other = alone.chain(pairs).filter(|margin| *margin != none);
        let first = other.next()?.reach();
        Some(other.fold(first.max(0.0), |most, margin| most.max(margin.reach())))
    }

    /// Returns margin and gap of two geometries.
    pub(in crate::plant) fn margin_of(
        &self,
        plant: &MultibodyPlant,
        ids: [GeometryId; 2],
    ) -> ContactMargin {
        let own = ids.map(|id| self.known.get(&id).and_then(|of| of.as_in_mujoco.as_ref()));
        ContactMargin::new(plant.properties_of_pair(ids), own)
    }

    /// Returns the body of a geometry that may touch others.
    pub(in crate::plant) fn body_of(&self, id: GeometryId) -> Option<BodyIndex> {
        Some(self.known.get(&id)?.body)
    }

    /// Returns the properties of a geometry that touches another.
    #[inline]
    pub(in crate::plant) fn get(
        &self,
        plant: &MultibodyPlant,
        inspector: &SceneGraphInspector<'_>,
        id: GeometryId,
    ) -> Result<ContactMaterial<f64>> {
        match self.known.get(&id) {
            Some(known) => Ok(*known),
            None => plant.registered_material(inspector, id, &MaterialEstimates::of(plant)),
        }
    }
}

/// Data of the plant that the materials of all geometry need.
struct MaterialEstimates {
    /// Bodies by the numbers of their frames in the scene.
    bodies: HashMap<FrameId, BodyIndex, FixedState>,
    /// Effective masses of the bodies (kg), where geometry follows MuJoCo.
    effective_masses: OnceCell<Vec<f64>>,
    /// Stiffness (N/m) and dissipation (s/m) of geometry that declares none.
    compliance: (f64, f64),
}

impl MaterialEstimates {
    #[cold]
    fn of(plant: &MultibodyPlant) -> Self {
        let mut bodies = HashMap::default();
        let frames = plant
            .registration
            .iter()
            .flat_map(|r| r.frames.iter().enumerate());
        for (index, frame) in frames {
            if let Some(frame) = frame {
                bodies.entry(*frame).or_insert(BodyIndex::new(index));
            }
        }
        Self {
            bodies,
            effective_masses: OnceCell::new(),
            compliance: plant.estimated_compliance(),
        }
    }
}

/// Returns true if a geometry takes part in contact surfaces.
fn is_hydroelastic(inspector: &SceneGraphInspector<'_>, id: GeometryId) -> bool {
    let properties = inspector.proximity_properties(id).ok().flatten();
    let kind = properties.and_then(|p| p.try_get("hydroelastic", "compliance_type").ok().flatten());
    kind.is_some_and(|kind: &HydroelasticType| *kind != HydroelasticType::Undefined)
}

impl ContactMaterial<f64> {
    /// Returns the same without derivatives, in another scalar.
    pub(in crate::plant) fn lift<T: Scalar>(&self) -> ContactMaterial<T> {
        ContactMaterial {
            body: self.body,
            stiffness: T::from(self.stiffness),
            dissipation: T::from(self.dissipation),
            relaxation_time: T::from(self.relaxation_time),
            static_friction: T::from(self.static_friction),
            dynamic_friction: T::from(self.dynamic_friction),
            modulus: self.modulus,
            as_in_mujoco: self.as_in_mujoco,
            effective_mass: self.effective_mass,
            is_set: self.is_set,
        }
    }

    /// Returns the properties of a geometry with those of a context in their place.
    pub(in crate::plant) fn with<T: Scalar>(
        &self,
        parameters: &ModelParameters<T>,
        id: GeometryId,
    ) -> Result<ContactMaterial<T>> {
        let own = if parameters.materials.is_empty() {
            None
        } else {
            parameters.materials.get(&id)
        };
        let own = own.copied().unwrap_or_else(ContactMaterialOverride::none);
        let model = self.lift::<T>();
        let all = ContactMaterial {
            stiffness: own.stiffness.unwrap_or(model.stiffness),
            dissipation: own.dissipation.unwrap_or(model.dissipation),
            relaxation_time: own.relaxation_time.unwrap_or(model.relaxation_time),
            static_friction: own.static_friction.unwrap_or(model.static_friction),
            dynamic_friction: own.dynamic_friction.unwrap_or(model.dynamic_friction),
            body: self.body,
            modulus: self.modulus,
            as_in_mujoco: self.as_in_mujoco,
            effective_mass: self.effective_mass,
            is_set: [own.stiffness, own.dissipation, own.relaxation_time].map(|x| x.is_some()),
        };
        if own.static_friction.is_some() != own.dynamic_friction.is_some() {
            let place = || format!("contact material of geometry {id}");
            check_friction(place, all.static_friction, all.dynamic_friction)?;
        }
        Ok(all)
    }
}

impl<T: Scalar> ContactMaterial<T> {
    /// Returns the same without derivatives.
    pub(in crate::plant) fn real(&self) -> ContactMaterial<f64> {
        ContactMaterial {
            body: self.body,
            stiffness: self.stiffness.re(),
            dissipation: self.dissipation.re(),
            relaxation_time: self.relaxation_time.re(),
            static_friction: self.static_friction.re(),
            dynamic_friction: self.dynamic_friction.re(),
            modulus: self.modulus,
            as_in_mujoco: self.as_in_mujoco,
            effective_mass: self.effective_mass,
            is_set: self.is_set,
        }
    }
}

impl MultibodyPlant {
    /// Reads the properties of a geometry; the error tells why it must not touch anything.
    #[cold]
    fn registered_material(
        &self,
        inspector: &SceneGraphInspector<'_>,
        id: GeometryId,
        estimates: &MaterialEstimates,
    ) -> Result<ContactMaterial<f64>> {
        let frame = inspector.frame_id(id)?;
        let body = *estimates.bodies.get(&frame).ok_or_else(|| {
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
        let modulus = properties.try_get::<f64>("hydroelastic", "hydroelastic_modulus")?;
        let friction = *friction.ok_or_else(|| missing("coulomb_friction"))?;
        let as_in_mujoco = properties.try_get::<MujocoContact>("material", "mujoco_contact")?;
        if let Some(Err(why)) = as_in_mujoco.map(MujocoContact::check) {
            let name = inspector.name(id).unwrap_or_default();
            return Err(Error::invalid(format!("geometry '{name}': {why}")));
        }
        let mut effective_mass = f64::INFINITY;
        let (stiffness, dissipation, relaxation_time) = match as_in_mujoco {
            Some(contact) => {
                let masses = estimates
                    .effective_masses
                    .get_or_init(|| self.effective_masses());
                effective_mass = masses[body.index()];
                let compliance = contact.compliance(self.time_step, self.rest_acceleration());
                compliance_as_in_mujoco(effective_mass, &compliance)
            }
            None => {
                let (stiffness, dissipation) = estimates.compliance;
                let or = |name: &str, default| Ok::<_, Error>(*number(name)?.unwrap_or(&default));
                (
                    or("point_contact_stiffness", stiffness)?,
                    or("hunt_crossley_dissipation", dissipation)?,
                    or("relaxation_time", DEFAULT_RELAXATION_TIME)?,
                )
            }
        };
        Ok(ContactMaterial {
            body,
            stiffness,
            dissipation,
            relaxation_time,
            static_friction: friction.static_friction(),
            dynamic_friction: friction.dynamic_friction(),
            modulus: match (compliance, modulus) {
                (Some(HydroelasticType::Compliant), Some(modulus)) => *modulus,
                _ => f64::INFINITY,
            },
            as_in_mujoco: as_in_mujoco.copied(),
            effective_mass,
            is_set: [false; 3],
        })
    }

    /// Returns the compliance (per mass) of a contact with MuJoCo's properties and a coefficient of
    /// friction.
    pub(super) fn mujoco_compliance(&self, contact: &MujocoContact, mu: f64) -> MujocoCompliance {
        let softness = contact.softness(mu);
        let acceleration = self.rest_acceleration() * softness[1];
        let compliance = contact.compliance(self.time_step, acceleration);
        MujocoCompliance {
            softness,
            ..compliance
        }
    }

    /// Returns the acceleration (m/s^2) whose force contact bears where bodies rest.
    fn rest_acceleration(&self) -> f64 {
        let gravity = Some(self.gravity.norm()).filter(|g| *g > 0.0);
        gravity.unwrap_or(EARTH_GRAVITY)
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
        if stiffness > 0.0 {
            (stiffness, period / allowance)
        } else {
            (1e6, 50.0)
        }
    }
}

impl<T: Scalar> ContactMaterial<T> {
    /// Returns the properties with the compliance of a contact that follows MuJoCo, where no
    /// context sets its own. Other geometry keeps its own.
    pub(super) fn with_compliance(self, compliance: &MujocoCompliance) -> Self {
        if self.as_in_mujoco.is_none() {
            return self;
        }
        let (stiffness, dissipation, relaxation_time) =
            compliance_as_in_mujoco(self.effective_mass, compliance);
        let or = |is_set: bool, set: T, other: f64| if is_set { set } else { T::from(other) };
        let [k, d, tau] = self.is_set;
        Self {
            stiffness: or(k, self.stiffness, stiffness),
            dissipation: or(d, self.dissipation, dissipation),
            relaxation_time: or(tau, self.relaxation_time, relaxation_time),
            ..self
        }
    }

    /// Returns true if MuJoCo's properties alone determine the compliance.
    pub(super) fn is_as_in_mujoco(&self) -> bool {
        self.as_in_mujoco.is_some() && self.is_set == [false; 3]
    }
}

/// Returns stiffness (N/m), dissipation (s/m) and relaxation time (s) of a geometry that follows
/// MuJoCo, where the bodies rest.
fn compliance_as_in_mujoco(effective_mass: f64, compliance: &MujocoCompliance) -> (f64, f64, f64) {
    let per_mass = compliance.stiffness_per_mass / compliance.softness[1];
    let time = compliance.relaxation_time;
    (
        effective_mass * per_mass,
        time / compliance.rest_depth,
        time / 2.0,
    )
}
