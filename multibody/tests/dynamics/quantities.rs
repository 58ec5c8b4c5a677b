//! Everyday questions to a plant in a context.

use super::discrete::{ALL, BallWorld, G};
use nalgebra::Vector3;
use tarragon_framework::prelude::*;
use tarragon_multibody::*;

/// Two balls of 1 kg, one on the other: the floor carries both, and the lower ball the upper one.
#[test]
fn contact_forces_are_summed_by_names_of_bodies_and_geometries() {
    for approximation in ALL {
        let centers = [Vector3::new(0.0, 0.0, 0.1), Vector3::new(0.0, 0.0, 0.3)];
        let (diagram, plant) = BallWorld::new(1e-3, approximation).build(&centers);
        let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
        sim.advance_to(0.5).unwrap();
        let context = sim.context();
        let (lower, upper) = ("ball0::ball", "ball1::ball");
        let on = |name: &str| plant.contact_force(context, name).unwrap().z;
        let between = |name: &str, from: &str| {
            let force = plant.contact_force_between(context, name, from);
            force.unwrap().z
        };
        // At rest to 1e-3 m/s^2, after half a second of damped motion.
        for (force, expected) in [
            (on("world"), -2.0 * G),
            (on(lower), G),
            (on(upper), G),
            (between(lower, "ground"), 2.0 * G),
            (between(lower, upper), -G),
            (between(upper, "world"), 0.0),
        ] {
            let error = (force - expected).abs();
            assert!(error < 2e-3, "{approximation:?}: {force}, {expected}");
        }
    }
}

#[test]
fn unknown_names_are_errors_that_list_bodies() {
    let (diagram, plant) = BallWorld::new(1e-3, ALL[0]).build(&[Vector3::z()]);
    let context = diagram.default_context();
    let error = plant
        .contact_force(&context, "bal")
        .unwrap_err()
        .to_string();
    assert!(error.contains("there is no body named 'bal'"), "{error}");
}

/// Free fall from rest: m g h becomes m v^2 / 2.
#[test]
fn energies_are_closed_forms_of_a_free_ball() {
    let (diagram, plant) = BallWorld::new(1e-3, ALL[0]).build(&[Vector3::new(0.3, -0.2, 5.0)]);
    let mut context = diagram.default_context();
    let at_rest = plant.energy(&context).unwrap();
    assert!((at_rest - 5.0 * G).abs() < 1e-12, "{at_rest}");
    let mut v = plant.velocities(&context).unwrap();
    v[3] = 2.0;
    plant.set_velocities(&mut context, v).unwrap();
    let moving = plant.energy(&context).unwrap();
    assert!((moving - at_rest - 2.0).abs() < 1e-12, "{moving}");
    assert_eq!(plant.kinetic_energy(&context).unwrap(), 2.0);
    assert_eq!(plant.potential_energy(&context).unwrap(), at_rest);
    let body = BodyIndex::new(1);
    let x_wb = plant.body_pose(&context, body).unwrap();
    let center = plant.center_of_mass(&context).unwrap();
    assert!((x_wb.translation.vector - center).norm() < 1e-15);
    let v_wb = plant.body_spatial_velocity(&context, body).unwrap();
    assert_eq!(v_wb.translational, Vector3::new(2.0, 0.0, 0.0));
    assert_eq!(plant.mass_matrix(&context).unwrap()[(3, 3)], 1.0);
}

#[test]
fn elements_of_the_state_port_have_the_names_of_the_log() {
    let centers = [Vector3::z(), 2.0 * Vector3::z()];
    let (diagram, plant) = BallWorld::new(1e-3, ALL[0]).build(&centers);
    let positions = |ball: usize| {
        let of = ["qw", "qx", "qy", "qz", "x", "y", "z"];
        of.map(|k| format!("ball{ball}::ball_{k}.q"))
    };
    let velocities = |ball: usize| {
        let of = ["wx", "wy", "wz", "vx", "vy", "vz"];
        of.map(|k| format!("ball{ball}::ball_{k}.v"))
    };
    let names = diagram.element_names(&plant.state().unwrap()).unwrap();
    let (q, v) = ([positions(0), positions(1)], [velocities(0), velocities(1)]);
    assert_eq!(names, [q.as_flattened(), v.as_flattened()].concat());
    let second = plant.model_instance_by_name("ball1").unwrap();
    let of_second = plant.state_in(second).unwrap();
    let names = diagram.element_names(&of_second).unwrap();
    assert_eq!(names, [&q[1][..], &v[1][..]].concat());
}
