//! Curvilinear joints: bodies that move on curved paths.

use super::{check_quantities, close, inertia, numbers, pose, spatial};
use nalgebra::Vector3;
use proptest::prelude::*;
use serde_json::Value;
use std::f64::consts::PI;
use tarragon_formats::*;
use tarragon_framework::math;
use tarragon_framework::trajectories::PiecewiseConstantCurvatureTrajectory as Path;
use tarragon_multibody::*;

fn load() -> MultibodyPlant {
    let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
    let mut parser = Parser::new(&mut plant);
    let text = include_str!("curvilinear.sdf");
    parser.add_models_from_string(text, "sdf").unwrap();
    assert_eq!(parser.diagnostics(), []);
    plant.build().unwrap()
}

#[test]
fn bodies_on_paths_move_as_in_drake() {
    let recorded: Value = serde_json::from_str(include_str!("curvilinear.json")).unwrap();
    let plant = load();
    let names = |key: &str| -> Vec<String> {
        let names = recorded[key].as_array().unwrap().iter();
        names.map(|n| n.as_str().unwrap().to_string()).collect()
    };
    let scoped = |name: &String| format!("m_{name}");
    let position_names: Vec<String> = plant.position_names().iter().map(scoped).collect();
    assert_eq!(position_names, names("position_names"));
    let suffixed = [
        "turn_w", "ride_v", "circle_v", "swing_wx", "swing_wy", "swing_wz",
    ];
    assert_eq!(names("velocity_names"), suffixed);
    let ride = plant.joint(plant.joint_by_name("ride").unwrap()).unwrap();
    assert_eq!(ride.kind().type_name(), "curvilinear");
    assert_eq!(
        (ride.position_lower_limits(), ride.damping()),
        (&[0.0][..], &[0.1][..])
    );
    let length = recorded["length_of_ride"].as_f64().unwrap();
    assert_eq!(ride.position_upper_limits(), [length]);
    let circle = plant.joint(plant.joint_by_name("circle").unwrap()).unwrap();
    assert_eq!(circle.position_upper_limits(), [f64::INFINITY]);
    assert_eq!(circle.position_lower_limits(), [f64::NEG_INFINITY]);

    let arm = plant.body_by_name("arm").unwrap();
    let frame = |name: &str| plant.frame_by_name(name).unwrap();
    for sample in recorded["samples"].as_array().unwrap() {
        let list = |key: &str| -> Vec<f64> {
            let numbers = sample[key].as_array().unwrap().iter();
            numbers.map(|x| x.as_f64().unwrap()).collect()
        };
        let (q, v, vdot) = (list("q"), list("v"), list("vdot"));
        let p = plant.calc_position_kinematics(&q).unwrap();
        let k = plant.calc_velocity_kinematics(&p, &v).unwrap();
        let x = p.x_wb(arm);
        close("p", x.translation.vector.as_slice(), &list("p_arm"));
        let r = x.rotation.to_rotation_matrix().into_inner().transpose();
        close("r", r.as_slice(), &list("r_arm"));
        close("v", &spatial(k.v_wb(arm)), &list("v_arm"));
        let a = plant.calc_spatial_accelerations(&p, &k, &vdot).unwrap();
        close("a", &spatial(&a[arm.index()]), &list("a_arm"));
        let m = plant.calc_mass_matrix(&p).unwrap();
        close("mass matrix", m.as_slice(), &list("mass_matrix"));
        close(
            "bias",
            &plant.calc_bias_term(&p, &k).unwrap(),
            &list("bias"),
        );
        let gravity = plant.calc_gravity_generalized_forces(&p).unwrap();
        close("gravity", &gravity, &list("gravity"));
        let tau = plant.calc_inverse_dynamics(&p, &k, &vdot).unwrap();
        close("inverse dynamics", &tau, &list("inverse_dynamics"));
        let jacobian = plant.calc_jacobian_spatial_velocity(
            &p,
            JacobianWrt::V,
            frame("arm"),
            &Vector3::new(0.1, 0.2, 0.3),
            frame("first_F"),
            frame("second_M"),
        );
        let jacobian = jacobian.unwrap().transpose();
        close("jacobian", jacobian.as_slice(), &list("jacobian"));
    }
}

fn path(is_periodic: bool) -> Path {
    let (x, z) = (Vector3::new(0.0, 0.0, 2.0), Vector3::new(0.6, 0.8, 0.0));
    let start = Vector3::new(0.1, -0.2, 0.3);
    Path::new(
        &[0.0, 0.5, 1.2, 2.0],
        &[0.7, 0.0, -1.5],
        &x,
        &z,
        &start,
        is_periodic,
    )
    .unwrap()
}

/// A chain of a hinge and two carriages. The path between the carriages is fixed to the outer one.
fn chain() -> MultibodyPlant {
    let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
    let model = ModelInstanceIndex::DEFAULT;
    let body = |plant: &mut MultibodyPlantBuilder, k: usize| {
        plant
            .add_rigid_body(&format!("b{k}"), model, inertia(k))
            .unwrap()
    };
    let [a, b, c] = [0, 1, 2].map(|k| body(&mut plant, k));
    let hinge = Joint::revolute("hinge", BodyIndex::WORLD, a, Vector3::new(0.6, 0.0, 0.8));
    let offset = |joint: Joint, k| {
        joint
            .with_pose_on_parent(pose(k))
            .with_pose_on_child(pose(k + 1))
    };
    plant.add_joint(offset(hinge.unwrap(), 0)).unwrap();
    plant
        .add_joint(offset(Joint::curvilinear("forth", a, b, path(false)), 2))
        .unwrap();
    plant
        .add_joint(offset(Joint::curvilinear("back", c, b, path(true)), 4))
        .unwrap();
    plant.build().unwrap()
}

proptest! {
    /// The same checks as for other joints, also with the path on the outboard body, for which
    /// Drake has no kinematics.
    #[test]
    fn kinematics_and_dynamics_agree_on_paths(q in numbers(3, 3.0), v in numbers(3, 2.0), vdot in numbers(3, 2.0)) {
        check_quantities(&chain(), "b2", &q, &v, &vdot)?;
    }
}

#[test]
fn the_child_moves_along_the_path_whichever_body_is_inboard() {
    let plant = chain();
    let (q, path) = ([0.3, 0.8, 3.1], path(true));
    let p = plant.calc_position_kinematics(&q).unwrap();
    let back = plant.joint(plant.joint_by_name("back").unwrap()).unwrap();
    let frame = |f: Option<FrameIndex>| plant.calc_frame_pose(&p, f.unwrap()).unwrap();
    let x_fm = frame(back.frame_on_parent()).inverse() * frame(back.frame_on_child());
    let expected = path.pose(q[2]);
    assert!((x_fm.translation.vector - expected.translation.vector).norm() < 1e-14);
    assert!(x_fm.rotation.angle_to(&expected.rotation) < 1e-7);
    // The joint velocity is the speed along the path, so the angular speed is the turning rate
    // times that speed.
    let k: VelocityKinematics<f64> = plant
        .calc_velocity_kinematics(&p, &[0.0, 0.0, -1.5])
        .unwrap();
    let b2 = plant.body_by_name("b2").unwrap();
    let arc = path.turning_rate(q[2]).abs() * 1.5;
    assert!((k.v_wb(b2).rotational.norm() - arc).abs() < 1e-14);
}

#[test]
fn position_limits_default_to_the_ends_of_the_path() {
    let joint = |is_periodic| {
        Joint::curvilinear("j", BodyIndex::WORLD, BodyIndex::WORLD, path(is_periodic))
    };
    assert_eq!(joint(false).position_upper_limits(), [2.0]);
    assert_eq!(joint(true).position_lower_limits(), [f64::NEG_INFINITY]);
    let narrow = joint(true)
        .with_position_limits(vec![-1.0], vec![PI])
        .unwrap();
    assert_eq!(narrow.position_upper_limits(), [PI]);
    let JointKind::Curvilinear { path } = joint(false).kind().clone() else {
        panic!("the joint must be curvilinear");
    };
    assert!((path.pose(0.0).rotation * Vector3::z() - Vector3::new(0.6, 0.8, 0.0)).norm() < 1e-15);
    assert!(path.pose(0.0).rotation.angle_to(&math::rotation_z(0.0)) > 1.0);
}
