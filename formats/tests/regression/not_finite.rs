//! Numbers that are not finite are refused where they enter, with the place. Drake lets a pose of
//! NaN pass until the first step.

use nalgebra::{Isometry3, Quaternion, Translation3, UnitQuaternion};
use tarragon_framework::DiagramBuilder;
use tarragon_geometry::{ProximityProperties, SceneGraph, Sphere};
use tarragon_multibody::*;

fn nowhere() -> Isometry3<f64> {
    Translation3::new(0.0, f64::NAN, 0.0).into()
}

/// A plant with one body.
fn plant() -> (MultibodyPlantBuilder, BodyIndex) {
    let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
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
    p.build().unwrap();
}

/// MuJoCo refuses a keyframe with `nan`. Here the quaternion got through, and with it seven NaN.
#[test]
fn keyframe_poses_are_refused() {
    let (mut p, arm) = plant();
    let key = |x_wb| Keyframe {
        name: "k".into(),
        free_poses: vec![(arm, x_wb)],
        ..Keyframe::default()
    };
    let start = "keyframe 'k': pose of body 'DefaultModelInstance::arm' ";
    refused(p.add_keyframe(key(nowhere())), start);
    let nan = UnitQuaternion::new_unchecked(Quaternion::new(f64::NAN, 0.0, 0.0, 0.0));
    let turned = Isometry3::from_parts(Translation3::identity(), nan);
    let error = p.add_keyframe(key(turned)).unwrap_err().to_string();
    assert!(error.starts_with(start) && error.contains("NaN"), "{error}");
    assert!(p.keyframes().is_empty());
}

/// The error names the number that the caller gave: a conversion to positions spreads NaN.
#[test]
fn poses_and_velocities_of_free_bodies_name_the_given_number() {
    let (plant, arm) = plant();
    let mut builder = DiagramBuilder::new();
    let plant = builder.add("plant", plant.build().unwrap());
    let mut context = builder.build().unwrap().default_context();
    let body = "body 'DefaultModelInstance::arm'";
    for (position, expected) in [
        (
            [0.0, f64::INFINITY, 0.0],
            "y of the position of the pose must be finite, got inf m",
        ),
        (
            [0.0, 0.0, f64::NAN],
            "z of the position of the pose must be finite, got NaN m",
        ),
    ] {
        let pose = Translation3::from(position).into();
        let error = plant.set_free_body_pose(&mut context, arm, pose);
        assert_eq!(
            error.unwrap_err().to_string(),
            format!("{body}: {expected}")
        );
    }
    let nan = UnitQuaternion::new_unchecked(Quaternion::new(1.0, 0.0, f64::NAN, 0.0));
    let pose = Isometry3::from_parts(Translation3::identity(), nan);
    let error = plant.set_free_body_pose(&mut context, arm, pose);
    let expected = format!("{body}: y of the quaternion of the pose must be finite, got NaN");
    assert_eq!(error.unwrap_err().to_string(), expected);
    for (rotational, translational, expected) in [
        (
            [0.0; 3],
            [0.0, f64::NAN, 0.0],
            "y of the velocity must be finite, got NaN m/s",
        ),
        (
            [0.0, 0.0, f64::INFINITY],
            [0.0; 3],
            "z of the angular velocity must be finite, got inf rad/s",
        ),
    ] {
        let v_wb = SpatialVector {
            rotational: rotational.into(),
            translational: translational.into(),
        };
        let error = plant.set_free_body_spatial_velocity(&mut context, arm, v_wb);
        assert_eq!(
            error.unwrap_err().to_string(),
            format!("{body}: {expected}")
        );
    }
}

/// Poses in messages are numbers on one line.
#[test]
fn poses_of_geometry_are_shown_as_numbers() {
    let (mut p, arm) = plant();
    let mut scene = SceneGraph::new();
    p.register_as_source_for_scene_graph(&mut scene).unwrap();
    let ball = Sphere::new(0.1).unwrap();
    let properties = ProximityProperties::new();
    let added = p.register_collision_geometry(&mut scene, arm, nowhere(), ball, "ball", properties);
    let error = added.unwrap_err().to_string();
    let expected = "the pose must be finite, got quaternion [x, y, z, w] = [0.0, 0.0, 0.0, 1.0] \
                    and position [0.0, NaN, 0.0] m";
    assert!(error.ends_with(expected), "{error}");
}
