//! Messages name a joint once, with its model instance where the name alone is ambiguous.

use super::*;

fn weld(name: &str, parent: BodyIndex, child: BodyIndex) -> Joint {
    Joint::weld(name, parent, child, Isometry3::identity())
}

fn refused(p: &mut MultibodyPlantBuilder, joint: Joint) -> String {
    p.add_joint(joint).unwrap_err().to_string()
}

#[test]
fn a_second_joint_between_two_bodies_is_named_once() {
    let mut p = plant();
    let [a, b] = ["a", "b"].map(|name| add_body(&mut p, name));
    p.add_joint(weld("x", a, b)).unwrap();
    assert_eq!(
        refused(&mut p, weld("y", b, a)),
        "joint 'y' cannot connect bodies 'DefaultModelInstance::b' and 'DefaultModelInstance::a': \
         joint 'x' connects them already; remove one of the two joints"
    );
    let e = refused(&mut p, weld("x", b, a));
    assert!(
        e.starts_with("joint 'DefaultModelInstance::x' exists already"),
        "{e}"
    );
    // Two instances may have joints with the same name.
    let other = p.add_model_instance("other").unwrap();
    assert_eq!(
        refused(&mut p, weld("x", b, a).with_model_instance(other)),
        "joint 'other::x' cannot connect bodies 'DefaultModelInstance::b' and \
         'DefaultModelInstance::a': joint 'DefaultModelInstance::x' connects them already; remove \
         one of the two joints"
    );
}

#[test]
fn the_error_of_a_joint_of_a_body_with_itself_names_the_cure() {
    let mut p = plant();
    let a = add_body(&mut p, "a");
    assert_eq!(
        refused(&mut p, weld("x", a, a)),
        "joint 'x' connects body 'DefaultModelInstance::a' to itself; choose another parent or \
         child"
    );
}

#[test]
fn joints_with_the_same_name_are_distinguished_in_every_message() {
    let mut p = plant();
    let arms = ["left", "right"].map(|name| p.add_model_instance(name).unwrap());
    let joints = arms.map(|arm| {
        let link = p
            .add_rigid_body("link", arm, SpatialInertia::zero())
            .unwrap();
        let joint = Joint::revolute("elbow", BodyIndex::WORLD, link, Vector3::z()).unwrap();
        p.add_joint(joint).unwrap()
    });
    let motor = p.add_joint_actuator("motor", joints[0], 1.0).unwrap();
    p.add_joint_actuator("motor", joints[1], 1.0).unwrap();
    let mut built = p.clone().build().unwrap();
    for e in [
        built.set_default_joint_positions(joints[0], &[]),
        built.set_default_positions(&[f64::NAN, 0.0]),
        p.set_joint_position_limits(joints[0], &[1.0], &[0.0]),
        p.set_joint_velocity_limits(joints[0], &[1.0], &[0.0]),
        p.set_joint_acceleration_limits(joints[0], &[1.0], &[0.0]),
        p.set_joint_damping(joints[0], &[-1.0]),
        p.set_effort_limit(motor, -1.0),
        p.set_default_rotor(motor, -1.0, 1.0),
    ] {
        let e = e.unwrap_err().to_string();
        let once = e.matches("'left::elbow': ").count() + e.matches("'left::motor': ").count();
        assert_eq!(once, 1, "{e}");
        assert!(!e.contains("'elbow'") && !e.contains("'motor'"), "{e}");
    }
}

#[test]
fn the_error_of_linearizing_sampled_outputs_names_the_cure() {
    use nalgebra::Matrix3;
    use tarragon_framework::DiagramBuilder;
    use tarragon_framework::analysis::{is_equilibrium, linearize};
    let diagram = |sampled: bool| {
        let mut p = MultibodyPlantBuilder::new(0.001).unwrap();
        let instance = p.add_model_instance("m").unwrap();
        let round = SpatialInertia::from_central(1.0, Vector3::zeros(), Matrix3::identity());
        let a = p.add_rigid_body("a", instance, round.unwrap()).unwrap();
        let joint = Joint::revolute("j", BodyIndex::WORLD, a, Vector3::z()).unwrap();
        p.add_joint(joint).unwrap();
        p.set_use_sampled_output_ports(sampled).unwrap();
        let p = p.build().unwrap();
        let mut b = DiagramBuilder::new();
        b.add("plant", p);
        b.build().unwrap()
    };
    let sampled = diagram(true);
    let context = sampled.default_context();
    let linear = linearize(&sampled, &context, None, None, 1e-6).map(|_| ());
    let still = is_equilibrium(&sampled, &context, 1e-6).map(|_| ());
    for e in [linear, still] {
        let e = e.unwrap_err().to_string();
        assert!(
            e.contains("'plant' has") && e.contains("call `set_use_sampled_output_ports(false)`"),
            "{e}"
        );
    }
    let live = diagram(false);
    let context = live.default_context();
    let result = linearize(&live, &context, None, None, 1e-6);
    // The joint is about the vertical, so that the body may rest anywhere.
    assert!(result.is_ok(), "{:?}", result.map(|_| ()));
}
