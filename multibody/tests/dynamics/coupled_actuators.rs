//! Actuators that drive several joints or pull a tendon: closed forms with locks, derivatives and
//! sleep.

use super::sleds::{DT, MASS, add_actuator, sleds};
use tarragon_framework::AutoDiff;
use tarragon_framework::prelude::*;
use tarragon_multibody::*;

const KP: f64 = 4e4;
const KV: f64 = 20.0;
/// Effort at the second sled per effort at the first.
const RATIO: f64 = -0.5;

fn servo() -> AffineControl {
    AffineControl {
        gain: [KP, 0.0, 0.0],
        bias: [0.0, -KP, -KV],
        ..AffineControl::motor()
    }
}

fn coupled(sleep: Option<SleepSettings>) -> (Diagram<f64>, Block<MultibodyPlant>) {
    sleds(
        |rail| rail,
        |plant, [first, second]| {
            let actuator = add_actuator(plant, first, servo());
            plant.couple_actuator(actuator, &[(second, RATIO)]).unwrap();
            plant.set_sleep_settings(sleep).unwrap();
        },
    )
}

/// Velocities after a step from rest with locks, as a function of positions and control.
fn step<T: Scalar>(
    diagram: &Diagram<T>,
    ports: &MultibodyPlantPorts<T>,
    [q0, q1, u]: [T; 3],
    locked: [bool; 2],
) -> Vec<T> {
    let mut context = diagram.default_context();
    ports.set_positions(&mut context, [q0, q1]).unwrap();
    for ((joint, _), locked) in ports.joints().zip(locked) {
        ports.set_joint_locked(&mut context, joint, locked).unwrap();
    }
    let port = ports.actuation().unwrap();
    context.fix(port, vec![u]).unwrap();
    let mut sim = Simulator::new(diagram, context).unwrap();
    sim.advance_to(DT).unwrap();
    ports.velocities(sim.context()).unwrap()
}

/// A stiff servo acts at the end of the step on the joints that are not locked. Without the
/// implicit step, the velocity would be ten times as large.
#[test]
fn locked_joints_leave_the_others_to_the_servo() {
    let (diagram, plant) = coupled(None);
    let dual = diagram.to_scalar::<AutoDiff>().unwrap();
    let ports = dual.ports(&plant).unwrap();
    let x = [0.02, 0.03, 0.05];
    let lifted = [0, 1, 2].map(|k: usize| AutoDiff::variable(x[k], k));
    for locked in [[false, false], [true, false], [false, true]] {
        let moments = [1.0, RATIO];
        let free = |k: usize| if locked[k] { 0.0 } else { moments[k] };
        // The actuator has the inertia and the rate of the sleds that move.
        let squared = free(0) * free(0) + free(1) * free(1);
        let per_effort = DT / (MASS + DT * squared * (KV + DT * KP));
        let effort = KP * (x[2] - x[0] - RATIO * x[1]);
        let found = step(&diagram, &plant, x, locked);
        let with_derivatives = step(&dual, &ports, lifted, locked);
        for k in 0..2 {
            let expected = per_effort * effort * free(k);
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-11 * effort * per_effort;
            assert!(
                near(found[k], expected),
                "{locked:?}: {found:?}, {expected}"
            );
            let v = &with_derivatives[k];
            assert!(near(v.re, expected), "{locked:?}: {v:?}");
            for (i, slope) in [-KP, -KP * RATIO, KP].into_iter().enumerate() {
                let expected = per_effort * slope * free(k);
                let error = (v.eps[i] - expected).abs();
                assert!(
                    error <= 1e-9 * KP * per_effort,
                    "{locked:?} {i}: {v:?}, {expected}"
                );
            }
        }
    }
    let none = step(&diagram, &plant, x, [true; 2]);
    assert_eq!(none, [0.0; 2]);
}

/// Sleds that an actuator connects fall asleep together, and another control wakes both.
#[test]
fn controls_wake_all_joints_of_an_actuator() {
    let settings = SleepSettings {
        time: 0.01,
        ..SleepSettings::default()
    };
    let (diagram, plant) = coupled(Some(settings));
    let (awake, awake_plant) = coupled(None);
    // The servo does not resist this drift, so that nothing but sleep stops it.
    let drift = [1e-4, -1e-4 / RATIO];
    let run = |diagram: &Diagram<f64>, plant: &Block<MultibodyPlant>| {
        let mut context = diagram.default_context();
        let port = plant.actuation().unwrap();
        context.fix(port, vec![0.0]).unwrap();
        let set = plant.set_velocities(&mut context, drift);
        set.unwrap();
        let mut sim = Simulator::new(diagram, context).unwrap();
        sim.advance_to(0.1).unwrap();
        let before = plant.velocities(sim.context()).unwrap();
        sim.context_mut().fix(port, vec![0.3]).unwrap();
        sim.advance_to(0.1 + 3.0 * DT).unwrap();
        [before, plant.velocities(sim.context()).unwrap()]
    };
    let [asleep, found] = run(&diagram, &plant);
    assert_eq!(asleep, [0.0; 2]);
    assert!(found[0] > 0.1 && found[1] < -0.05, "{found:?}");
    let [before, expected] = run(&awake, &awake_plant);
    for k in 0..2 {
        assert!((before[k] - drift[k]).abs() < 1e-12, "{before:?}");
        let error = expected[k] - drift[k] - found[k];
        assert!(error.abs() < 1e-12, "{expected:?}, {found:?}");
    }
}

/// Sleds that an actuator pulls towards each other along a tendon: the same as the difference of
/// their positions.
#[test]
fn paths_between_sleds_are_differences_of_their_positions() {
    let settings = SleepSettings {
        time: 0.01,
        ..SleepSettings::default()
    };
    let model = |by_path: bool, sleep: Option<SleepSettings>| {
        sleds(
            |rail| rail,
            |plant, [first, second]| {
                let ends = [first, second].map(|rail| {
                    let body = plant.joint(rail).unwrap().child_body();
                    TendonPart::site(body, nalgebra::Vector3::zeros())
                });
                let instance = ModelInstanceIndex::DEFAULT;
                let actuator = if by_path {
                    plant.add_tendon_actuator("puller", instance, ends.into(), 100.0)
                } else {
                    plant.add_joint_actuator("puller", second, 100.0)
                };
                let actuator = actuator.unwrap();
                plant.set_affine_control(actuator, servo()).unwrap();
                if !by_path {
                    plant.couple_actuator(actuator, &[(first, -1.0)]).unwrap();
                }
                plant.set_sleep_settings(sleep).unwrap();
            },
        )
    };
    let run = |(diagram, plant): &(Diagram<f64>, Block<MultibodyPlant>), locked: [bool; 2]| {
        let system = plant.system();
        let mut context = diagram.default_context();
        plant.set_positions(&mut context, [0.1, 0.6]).unwrap();
        for ((joint, _), locked) in system.joints().zip(locked) {
            plant.set_joint_locked(&mut context, joint, locked).unwrap();
        }
        let actuation = plant.actuation().unwrap();
        context.fix(actuation, vec![0.48]).unwrap();
        let mut sim = Simulator::new(diagram, context).unwrap();
        let mut found = vec![];
        for k in 1..20 {
            sim.advance_to(f64::from(k) * 3.0 * DT).unwrap();
            found.extend(plant.positions(sim.context()).unwrap());
            found.extend(sim.context().eval(plant.net_actuation().unwrap()).unwrap());
        }
        found
    };
    for locked in [[false, false], [true, false], [true, true]] {
        let (found, expected) = (
            run(&model(true, None), locked),
            run(&model(false, None), locked),
        );
        for (found, expected) in found.iter().zip(&expected) {
            // Roundings of the lengths, times the gain.
            assert!(
                (found - expected).abs() < 1e-9,
                "{locked:?}: {found} {expected}"
            );
        }
    }
    // Both fall asleep, and another control wakes both.
    let (diagram, plant) = model(true, Some(settings));
    let mut context = diagram.default_context();
    plant.set_positions(&mut context, [0.1, 0.6]).unwrap();
    let port = plant.actuation().unwrap();
    context.fix(port, vec![0.5]).unwrap();
    plant.set_velocities(&mut context, [1e-4; 2]).unwrap();
    let mut sim = Simulator::new(&diagram, context).unwrap();
    sim.advance_to(0.1).unwrap();
    assert_eq!(plant.velocities(sim.context()).unwrap(), [0.0; 2]);
    sim.context_mut().fix(port, vec![0.4]).unwrap();
    sim.advance_to(0.1 + 3.0 * DT).unwrap();
    let v = plant.velocities(sim.context()).unwrap();
    assert!(v[0] > 0.05 && (v[0] + v[1]).abs() < 1e-12, "{v:?}");
}

#[test]
fn actuators_of_paths_have_neither_rotors_nor_gains() {
    let mut plant = MultibodyPlantBuilder::new(DT).unwrap();
    let instance = ModelInstanceIndex::DEFAULT;
    let body = plant
        .add_rigid_body("a", instance, SpatialInertia::zero())
        .unwrap();
    let site = |x: f64| TendonPart::site(body, nalgebra::Vector3::x() * x);
    let mut add = |name: &str, path: Vec<TendonPart>, limit: f64| {
        plant.add_tendon_actuator(name, instance, path, limit)
    };
    let path = || vec![site(0.0), site(1.0)];
    for (wrong, why) in [
        (
            add("p", vec![site(0.0)], 1.0),
            "actuator 'p', part 0 of the path: a branch",
        ),
        (
            add("p", path(), 0.0),
            "actuator 'p': the effort limit must be positive",
        ),
        (add("", path(), 1.0), "name"),
    ] {
        let e = wrong.unwrap_err().to_string();
        assert!(e.contains(why), "{e}");
    }
    let puller = add("puller", path(), 1.0).unwrap();
    let twice = add("puller", path(), 1.0).unwrap_err().to_string();
    assert!(twice.contains("puller' exists already"), "{twice}");
    let gains = PdControllerGains { p: 1.0, d: 1.0 };
    for (wrong, why) in [
        (
            plant.set_controller_gains(puller, gains),
            "got those of a spatial tendon",
        ),
        (plant.couple_actuator(puller, &[]), "drives no joints"),
        (
            plant.set_default_rotor(puller, 0.5, 1.0),
            "the rotor inertia must be 0 on a spatial tendon, got 0.5",
        ),
    ] {
        let e = wrong.unwrap_err().to_string();
        assert!(e.contains("actuator 'puller'") && e.contains(why), "{e}");
    }
    assert_eq!(plant.actuators().len(), 1);
}

#[test]
fn errors_of_coupled_joints_name_the_actuator() {
    let mut plant = MultibodyPlantBuilder::new(DT).unwrap();
    let instance = ModelInstanceIndex::DEFAULT;
    let bodies = ["a", "b"].map(|name| {
        let body = plant.add_rigid_body(name, instance, SpatialInertia::zero());
        body.unwrap()
    });
    let axis = nalgebra::Vector3::x();
    let rail = Joint::prismatic("rail", BodyIndex::WORLD, bodies[0], axis).unwrap();
    let rail = plant.add_joint(rail).unwrap();
    let ball = Joint::ball_rpy("ball", BodyIndex::WORLD, bodies[1]);
    let ball = plant.add_joint(ball).unwrap();
    let actuator = add_actuator(&mut plant, rail, servo());
    for (others, why) in [
        ((ball, 1.0), "joint 'ball' must have one position, got 3"),
        (
            (rail, 1.0),
            "its joints must be different, got 'rail' twice",
        ),
    ] {
        let error = plant.couple_actuator(actuator, &[others]).unwrap_err();
        let error = error.to_string();
        assert!(
            error.starts_with("actuator 'puller'") && error.contains(why),
            "{error}"
        );
    }
}
