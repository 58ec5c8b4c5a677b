//! Dry friction of joints: closed forms of sliding and sticking.

use super::sleds::{MASS, sleds};
use nalgebra::Vector3;
use tarragon_framework::prelude::*;
use tarragon_multibody::*;

const FRICTION: f64 = 3.0;

/// A sled on a rail with dry friction, pushed by a force, that starts at a speed.
fn push_sled(push: f64, speed: f64, end: f64) -> (f64, f64) {
    let rough = |rail: Joint| rail.with_dry_friction(FRICTION).unwrap();
    let (diagram, plant) = sleds(rough, |_, [_]| {});
    let mut context = diagram.default_context();
    plant.set_velocities(&mut context, [speed]).unwrap();
    let port = plant.applied_generalized_force().unwrap();
    context.fix(port, vec![push]).unwrap();
    let mut sim = Simulator::new(&diagram, context).unwrap();
    sim.advance_to(end).unwrap();
    let q = plant.positions(sim.context()).unwrap()[0];
    let v = plant.velocities(sim.context()).unwrap()[0];
    (q, v)
}

/// While the sled slides, its acceleration is constant, which the steps reproduce but for rounding.
#[test]
fn sliding_friction_decelerates_evenly() {
    let (_, v) = push_sled(1.0, 0.5, 0.2);
    assert!(
        (v - (0.5 - (FRICTION - 1.0) / MASS * 0.2)).abs() < 1e-12,
        "{v}"
    );
    let (_, v) = push_sled(-1.0, -0.5, 0.1);
    assert!(
        (v + 0.5 - (FRICTION - 1.0) / MASS * 0.1).abs() < 1e-12,
        "{v}"
    );
}

#[test]
fn friction_stops_motion_and_holds() {
    // It stops at 0.333 s after 0.083 m.
    let (q, v) = push_sled(0.0, 0.5, 1.0);
    let way = 0.5 * 0.5 * MASS / (2.0 * FRICTION);
    // A semi-implicit step of length h adds h v / 2 at most.
    assert!((q - way).abs() < 0.5e-3 * 0.5 + 1e-6, "{q}");
    assert!(v.abs() < 1e-12, "{v}");
}

/// Below its limit, friction creeps at the speed that its regularization allows: a thousandth of
/// what the load adds to the speed in a step, here 1e-3 x 1e-3 s x 2.9 N / 2 kg.
#[test]
fn friction_holds_loads_below_its_limit() {
    let (q, v) = push_sled(2.9, 0.0, 1.0);
    let creep = 1e-3 * 1e-3 * 2.9 / MASS;
    assert!(v > 0.0 && v < 1.01 * creep && q < 1.01 * creep, "{q} {v}");
    let (_, v) = push_sled(3.1, 0.0, 1.0);
    assert!((v - 0.1 / MASS).abs() < 1e-5, "{v}");
}

#[test]
fn friction_and_armature_must_be_at_least_zero() {
    let joint = || Joint::revolute("j", BodyIndex::WORLD, BodyIndex::WORLD, Vector3::x()).unwrap();
    let errors = [
        (
            joint().with_dry_friction(-1.0),
            "the dry friction must be finite and at least 0",
        ),
        (
            joint().with_armature(f64::NAN),
            "the armature must be finite and at least 0",
        ),
    ];
    for (made, why) in errors {
        let error = made.unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}
