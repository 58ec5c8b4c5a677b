//! Floors that a model brings.

use std::error::Error;
use tarragon::framework::DiagramBuilder;
use tarragon::geometry::{Aabb, Shape};
use tarragon::multibody::{MultibodyPlant, add_multibody_plant_scene_graph};
use tarragon::nalgebra::Vector3;
use tarragon::prelude::*;

/// Motion of a body relative to the world.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Motion {
    /// Welded to the world.
    Fixed,
    /// Part of a tree with a floating base.
    Free,
    /// Part of a tree on a joint to the world.
    Attached,
}

/// Returns whether a plant starts over a floor of its own.
///
/// A floor is collision geometry fixed to the world: a half space that faces upwards, or any other
/// shape whose bounding box begins below what falls. In plan view, the boxes of floors must contain
/// the centre of every collision geometry of free and deformable bodies.
pub(super) fn starts_over_floor(
    plant: &MultibodyPlant,
    scene: &SceneGraph,
) -> Result<bool, Box<dyn Error>> {
    let mut builder = DiagramBuilder::new();
    let (_, scene) = add_multibody_plant_scene_graph(&mut builder, plant.clone(), scene.clone())?;
    let context = builder.build()?.default_context();
    let query = context.eval(scene.query)?;
    let inspector = query.inspector();
    let (mut floors, mut falling): (Vec<Aabb>, Vec<Vector3<f64>>) = (vec![], vec![]);
    for id in inspector.geometry_ids_with_role(Role::Proximity) {
        let motion = if inspector.is_driven(id)? {
            Motion::Free
        } else {
            let body = plant.body_from_frame_id(inspector.frame_id(id)?);
            motion_of(plant, body.unwrap_or(BodyIndex::WORLD))?
        };
        if motion == Motion::Fixed && matches!(inspector.shape(id)?, Shape::HalfSpace(_)) {
            let normal = query.geometry_pose_in_world(id)?.rotation * Vector3::z();
            // A steeper one is a wall.
            if normal.z > 0.5 {
                return Ok(true);
            }
        }
        let Some(bounds) = query.compute_aabb_in_world(id)? else {
            continue;
        };
        match motion {
            Motion::Fixed => floors.push(bounds),
            Motion::Free => falling.push(*bounds.center()),
            Motion::Attached => {}
        }
    }
    let is_over = |center: &Vector3<f64>, floor: &Aabb| {
        let (lower, upper) = (floor.lower(), floor.upper());
        let is_inside = |axis: usize| (lower[axis]..=upper[axis]).contains(&center[axis]);
        is_inside(0) && is_inside(1) && lower.z <= center.z
    };
    let has_floor = |center: &Vector3<f64>| floors.iter().any(|floor| is_over(center, floor));
    Ok(!falling.is_empty() && falling.iter().all(has_floor))
}

fn motion_of(plant: &MultibodyPlant, mut body: BodyIndex) -> Result<Motion> {
    let mut motion = Motion::Fixed;
    while let Some(index) = plant.inboard_joint(body) {
        if plant.is_floating_base(body) {
            return Ok(Motion::Free);
        }
        let joint = plant.joint(index)?;
        if joint.num_velocities() > 0 {
            motion = Motion::Attached;
        }
        body = joint.parent_body();
    }
    Ok(motion)
}
