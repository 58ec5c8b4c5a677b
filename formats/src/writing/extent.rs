//! Check of positions, of which writers compute sums.

use crate::{Error, Result};
use nalgebra::Isometry3;
use tarragon_geometry::SceneGraph;
use tarragon_multibody::{BodyIndex, Constraint, JointKind, MultibodyPlant};

/// Largest coordinate (m).
const FARTHEST: f64 = 1e100;

/// Checks that all positions of a model are near enough for sums of them to be finite.
///
/// # Errors
/// Returns an error that names the first element that is too far away.
pub(crate) fn check(plant: &MultibodyPlant, scene: Option<&SceneGraph>) -> Result<()> {
    let near = |kind: &str, name: &str, x: &Isometry3<f64>| {
        let far = x.translation.vector.amax();
        if far <= FARTHEST {
            Ok(())
        } else {
            Err(Error::unsupported(format!(
                "{kind} '{name}': it cannot be written, because positions must be at most \
             {FARTHEST:?} m, got {far:?}"
            )))
        }
    };
    for (_, frame) in plant.frames() {
        near("frame", frame.name(), frame.pose_in_body())?;
    }
    for (_, joint) in plant.joints() {
        near("joint", joint.name(), joint.pose_on_parent())?;
        near("joint", joint.name(), joint.pose_on_child())?;
        if let JointKind::Weld { x_fm } = joint.kind() {
            near("joint", joint.name(), x_fm)?;
        }
    }
    for site in plant.sites() {
        near("site", site.name(), site.pose_in_body())?;
    }
    for camera in plant.model_cameras() {
        near("camera", &camera.name, &camera.x_fc)?;
    }
    for constraint in plant.constraints() {
        if let Constraint::Weld(weld) = constraint {
            let name = plant[weld.body_a].name();
            near("weld constraint of body", name, &weld.x_ap)?;
            near("weld constraint of body", name, &weld.x_bq)?;
        }
    }
    let inspector = scene.map(SceneGraph::model_inspector);
    for body in (0..plant.num_bodies()).map(BodyIndex::new) {
        let name = plant[body].name();
        near("body", name, &plant.default_free_body_pose(body))?;
        let Some(inspector) = &inspector else {
            continue;
        };
        let (visuals, collisions) = (
            plant.visual_geometries(body),
            plant.collision_geometries(body),
        );
        for id in visuals.iter().chain(collisions) {
            // Geometries may have been removed from the scene.
            if let (Ok(name), Ok(x)) = (inspector.name(*id), inspector.pose_in_frame(*id)) {
                near("geometry", name, x)?;
            }
        }
    }
    Ok(())
}
