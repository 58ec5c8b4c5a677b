//! A ground for models that fall.

use super::floor::starts_over_floor;
use std::error::Error;
use tarragon::multibody::{ContactModel, DeformableBody, compute_default_scene_aabb};
use tarragon::prelude::*;

/// Height of the ground, and of free bodies above their default poses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ground {
    /// Height of the ground (m).
    pub(super) z: f64,
    /// Distance by which free bodies are lifted (m); `None` if parts are fixed to the world.
    lift: Option<f64>,
    /// Whether deformable bodies, which touch no half space, fall onto it.
    has_deformable: bool,
}

/// Size of the ground that deformable bodies touch (m).
const SLAB: [f64; 3] = [200.0, 200.0, 1.0];
/// Its hydroelastic modulus (Pa), large enough for bodies to sink in by little.
const MODULUS: f64 = 1e8;

impl Ground {
    /// Chooses a ground for a plant; `None` if nothing would fall onto
    /// it: no body is free or can collide, or the model brings [a floor](starts_over_floor).
    ///
    /// A model that is free altogether starts at `height` (m) above a ground at z = 0. If something
    /// is fixed to the world, nothing is lifted, and the ground is at the lowest point.
    pub(super) fn below(
        plant: &MultibodyPlantBuilder,
        scene: &SceneGraph,
        height: f64,
    ) -> Result<Option<Self>, Box<dyn Error>> {
        let inspector = scene.model_inspector();
        let built = plant.clone().build()?;
        let has_deformable = !plant.deformable_bodies().is_empty();
        if !(has_deformable || has_free_body(&built)) || starts_over_floor(&built, scene)? {
            return Ok(None);
        }
        let Some(bounds) = compute_default_scene_aabb(&built, scene, Role::Proximity)? else {
            return Ok(None);
        };
        let lowest = bounds.lower().z;
        let world = inspector.world_frame_id();
        let on_world = inspector.geometries_on(world, Role::Proximity)?;
        let mut is_fixed = has_attached_body(&built)?;
        for id in on_world {
            is_fixed |= !inspector.is_driven(id)?;
        }
        let mut bodies = plant.deformable_bodies().iter();
        is_fixed |= bodies.any(DeformableBody::has_fixed_vertices);
        Ok(Some(if is_fixed {
            Self {
                z: lowest,
                lift: None,
                has_deformable,
            }
        } else {
            Self {
                z: 0.0,
                lift: Some(height - lowest),
                has_deformable,
            }
        }))
    }

    /// Adds the ground as a half space, with the default contact properties of the scene, or as a
    /// large box if deformable bodies fall onto it. It is rigid in hydroelastic contact.
    pub(super) fn add(
        self,
        plant: &mut MultibodyPlantBuilder,
        scene: &mut SceneGraph,
    ) -> Result<()> {
        let mut properties = ProximityProperties::new();
        let world = BodyIndex::WORLD;
        let model = plant.contact_model();
        if matches!(
            model,
            ContactModel::Hydroelastic | ContactModel::HydroelasticWithFallback
        ) {
            properties = properties.with_rigid_hydroelastic();
        }
        if self.has_deformable {
            let [x, y, z] = SLAB;
            let pose = Isometry3::translation(0.0, 0.0, self.z - z / 2.0);
            properties.set_untyped("hydroelastic", "hydroelastic_modulus", MODULUS);
            properties.set_untyped("hydroelastic", "resolution_hint", x);
            let slab = BoxShape::new(x, y, z)?;
            plant.register_collision_geometry(scene, world, pose, slab, "ground", properties)?;
            return Ok(());
        }
        let pose = Isometry3::translation(0.0, 0.0, self.z);
        plant.register_collision_geometry(scene, world, pose, HalfSpace, "ground", properties)?;
        Ok(())
    }

    /// Returns whether the height of free bodies above the ground is chosen.
    pub(super) fn lifts(self) -> bool {
        self.lift.is_some()
    }

    /// Lifts the free bodies of a plant.
    pub(super) fn lift(self, plant: &mut MultibodyPlant) -> Result<()> {
        let Some(lift) = self.lift.filter(|lift| *lift != 0.0) else {
            return Ok(());
        };
        let positions = plant.calc_position_kinematics(&plant.default_positions())?;
        let mut lifted = vec![];
        for (index, body) in plant.bodies().filter(|(i, _)| plant.is_floating_base(*i)) {
            let mut x_wb = plant.calc_frame_pose(&positions, body.body_frame())?;
            x_wb.translation.z += lift;
            lifted.push((index, x_wb));
        }
        for (body, x_wb) in lifted {
            plant.set_default_free_body_pose(body, x_wb)?;
        }
        let bodies = plant.deformable_bodies().iter();
        let poses = bodies.map(|body| (body.index(), *body.default_pose()));
        for (body, mut x_wd) in poses.collect::<Vec<_>>() {
            x_wd.translation.z += lift;
            plant.set_default_deformable_body_pose(body, x_wd)?;
        }
        Ok(())
    }
}

/// Returns whether a body of a plant is free.
pub(super) fn has_free_body(plant: &MultibodyPlant) -> bool {
    plant.bodies().any(|(body, _)| plant.is_floating_base(body))
}

/// Returns whether a joint other than a floating one connects a body to the world.
fn has_attached_body(plant: &MultibodyPlant) -> Result<bool> {
    for (body, _) in plant.bodies() {
        if let Some(joint) = plant.inboard_joint(body)
            && plant.joint(joint)?.parent_body() == BodyIndex::WORLD
            && !plant.is_floating_base(body)
        {
            return Ok(true);
        }
    }
    Ok(false)
}
