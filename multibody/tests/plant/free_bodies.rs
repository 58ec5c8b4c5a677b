//! Poses and velocities of free bodies in a context.

use super::{add_body, plant};
use nalgebra::{Isometry3, Vector3};
use tarragon_framework::prelude::*;
use tarragon_framework::{AutoDiff, DiagramScalar, Scalar, math};
use tarragon_multibody::*;

/// Pose and spatial velocity that have nothing in common with any frame.
fn motion<T: Scalar>() -> (Isometry3<T>, SpatialVector<T>) {
    let x_wb = math::pose(math::rpy(0.4, -0.3, 1.2), Vector3::new(0.5, -0.7, 2.0));
    let (rotational, translational) = (Vector3::new(0.2, -3.0, 1.5), Vector3::new(1.0, 0.3, -0.6));
    let v_wb = SpatialVector {
        rotational: rotational.map(T::from),
        translational: translational.map(T::from),
    };
    (x_wb.cast(), v_wb)
}

/// Rounding of a few products of rotations, lengths and velocities below 4.
const ROUNDING: f64 = 1e-14;

type MakeJoint = fn(&'static str, BodyIndex, BodyIndex) -> Joint;

/// A body with a joint of the given kind to the world, with offsets on both sides, and one without
/// a joint.
fn two_bodies(joint: MakeJoint) -> (MultibodyPlantBuilder, [BodyIndex; 2]) {
    let mut p = plant();
    let bodies = ["held", "free"].map(|name| add_body(&mut p, name));
    let x_pf = math::pose(math::rpy(0.1, 0.9, -0.4), Vector3::new(1.0, 2.0, 3.0));
    let x_bm = math::pose(math::rpy(-0.7, 0.2, 0.3), Vector3::new(-0.2, 0.1, 0.4));
    let joint = joint("offset", BodyIndex::WORLD, bodies[0]);
    p.add_joint(joint.with_pose_on_parent(x_pf).with_pose_on_child(x_bm))
        .unwrap();
    (p, bodies)
}

fn check<T: DiagramScalar>(joint: MakeJoint, source: PositionSource) {
    let (mut p, bodies) = two_bodies(joint);
    p.set_position_source(source);
    let mut b = DiagramBuilder::new();
    let block = b.add("plant", p.build().unwrap());
    let diagram = b.build().unwrap().to_scalar::<T>().unwrap();
    let ports = diagram.ports(&block).unwrap();
    let mut ctx = diagram.default_context();
    let (x_wb, v_wb) = motion::<T>();
    for body in bodies {
        ports.set_free_body_pose(&mut ctx, body, x_wb).unwrap();
        ports
            .set_free_body_spatial_velocity(&mut ctx, body, v_wb)
            .unwrap();
    }
    let found = ctx.eval(ports.body_poses).unwrap();
    let velocities = ctx.eval(ports.body_spatial_velocities).unwrap();
    for body in bodies {
        let (x, v) = (&found[body.index()], &velocities[body.index()]);
        let turn = x.rotation.rotation_to(&x_wb.rotation).angle().re();
        let moved = (x.translation.vector - x_wb.translation.vector).map(|x| x.re().abs());
        // Angles of rotations are the square roots of rounding.
        assert!(turn < 1e-7 && moved.max() < ROUNDING, "{turn} {moved}");
        let difference = [
            v.rotational - v_wb.rotational,
            v.translational - v_wb.translational,
        ];
        assert!(
            difference
                .iter()
                .all(|d| d.map(|x| x.re().abs()).max() < ROUNDING)
        );
    }
}

#[test]
fn free_bodies_get_poses_and_velocities_whatever_the_frames_of_their_joint() {
    let joints: [MakeJoint; 2] = [Joint::quaternion_floating, Joint::rpy_floating];
    for joint in joints {
        for source in [PositionSource::State, PositionSource::InputPort] {
            check::<f64>(joint, source);
            check::<AutoDiff>(joint, source);
        }
    }
}

#[test]
fn default_poses_hold_whatever_the_frames_of_the_joint() {
    let (p, [held, _]) = two_bodies(Joint::quaternion_floating);
    let x_wb = motion::<f64>().0;
    let mut p = p.build().unwrap();
    p.set_default_free_body_pose(held, x_wb).unwrap();
    let mut poses = vec![];
    p.calc_body_poses(&p.default_positions(), &mut poses)
        .unwrap();
    let moved = poses[held.index()].translation.vector - x_wb.translation.vector;
    assert!(moved.norm() < ROUNDING, "{moved}");
}

#[test]
fn bodies_that_are_not_free_have_no_free_pose() {
    let mut p = plant();
    let [arm, hand] = ["arm", "hand"].map(|name| add_body(&mut p, name));
    let joint = Joint::revolute("elbow", arm, hand, Vector3::z()).unwrap();
    p.add_joint(joint).unwrap();
    let p = p.build().unwrap();
    let mut b = DiagramBuilder::new();
    let block = b.add("plant", p);
    let mut ctx = b.build().unwrap().default_context();
    let before = block.positions(&ctx).unwrap();
    let mut set = |body, x_wb| {
        let set = block.set_free_body_pose(&mut ctx, body, x_wb);
        set.unwrap_err().to_string()
    };
    let refused = set(hand, Isometry3::identity());
    assert_eq!(
        refused,
        "body 'DefaultModelInstance::hand' must be a free body; set the positions of its joint instead"
    );
    let refused = set(BodyIndex::WORLD, Isometry3::identity());
    assert!(refused.contains("must be a free body"), "{refused}");
    let refused = set(arm, Isometry3::translation(f64::NAN, 0.0, 0.0));
    assert!(refused.contains("must be finite, got NaN"), "{refused}");
    assert_eq!(block.positions(&ctx).unwrap(), before);
}
