//! Numbers that are not finite are refused where they enter, with the place. Drake lets a pose of
//! NaN pass until the first step.

use nalgebra::{Isometry3, Translation3};
use tarragon_multibody::*;

fn nowhere() -> Isometry3<f64> {
    Translation3::new(0.0, f64::NAN, 0.0).into()
}

/// A plant with one body.
fn plant() -> (MultibodyPlant, BodyIndex) {
    let mut plant = MultibodyPlant::new(0.001).unwrap();
    let inertia = SpatialInertia::plausible(1.0, nalgebra::Vector3::zeros()).unwrap();
    let body = plant.add_rigid_body("arm", ModelInstanceIndex::DEFAULT, inertia);
    (plant, body.unwrap())
}

#[track_caller]
fn refused<V: std::fmt::Debug>(result: Result<V>, start: &str) {
    let e = result.unwrap_err().to_string();
    assert!(e.starts_with(start), "{e}");
    let rest = "must be finite, got quaternion [x, y, z, w] = [0.0, 0.0, 0.0, 1.0] and position \
                [0.0, NaN, 0.0] m";
    assert!(e.ends_with(rest), "{e}");
}

#[test]
fn poses_of_frames_joints_and_bodies_are_refused() {
    let (mut p, arm) = plant();
    let frame = FixedOffsetFrame::new("tool", arm, nowhere());
    refused(p.add_frame(frame), "frame 'tool': X_BF ");
    let (world, on_arm) = (FrameIndex::WORLD, p.body(arm).unwrap().body_frame());
    let weld = p.weld_frames(world, on_arm, nowhere());
    refused(weld, "joint 'world_welds_to_arm': X_FM ");
    refused(
        p.weld_unattached_bodies(nowhere()),
        "joint 'world_welds_to_arm': X_FM ",
    );
    let hinge = || Joint::revolute("hinge", BodyIndex::WORLD, arm, nalgebra::Vector3::z()).unwrap();
    let joint = hinge().with_pose_on_parent(nowhere());
    refused(
        p.add_joint(joint),
        "joint 'hinge': the pose of its frame on the parent ",
    );
    let joint = hinge().with_pose_on_child(nowhere());
    refused(
        p.add_joint(joint),
        "joint 'hinge': the pose of its frame on the child ",
    );
    let pose = p.set_default_free_body_pose(arm, nowhere());
    refused(pose, "body 'DefaultModelInstance::arm': the default pose ");
    // Nothing was added half.
    assert_eq!((p.num_frames(), p.num_joints()), (2, 0));
    p.add_joint(hinge()).unwrap();
    p.finalize().unwrap();
}
