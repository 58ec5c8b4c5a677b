//! Actuators whose input is a control: derivatives, stiff gains and invalid values. The motion is
//! compared with MuJoCo in `mjcf/motion`.

use super::sleds::{DT, MASS, add_actuator, sleds};
use nalgebra::Vector3;
use tarragon_framework::AutoDiff;
use tarragon_framework::prelude::*;
use tarragon_multibody::*;

const SERVO: [f64; 3] = [0.0, -40.0, -2.0];

/// A sled on a rail with an actuator.
fn sled(control: AffineControl, friction: f64) -> (Diagram<f64>, Block<MultibodyPlant>) {
    sleds(
        |rail| rail.with_dry_friction(friction).unwrap(),
        |plant, [rail]| {
            add_actuator(plant, rail, control);
        },
    )
}

/// Velocity after a step, as a function of position, velocity and control.
fn step<T: Scalar>(diagram: &Diagram<T>, ports: &MultibodyPlantPorts<T>, [q, v, u]: [T; 3]) -> T {
    let mut context = diagram.default_context();
    ports.set_positions(&mut context, [q]).unwrap();
    ports.set_velocities(&mut context, [v]).unwrap();
    let port = ports.actuation().unwrap();
    context.fix(port, vec![u]).unwrap();
    let mut sim = Simulator::new(diagram, context).unwrap();
    sim.advance_to(DT).unwrap();
    ports.velocities(sim.context()).unwrap()[0]
}

#[test]
fn derivatives_match_differences() {
    let motor = AffineControl {
        gear: -1.5,
        ..AffineControl::motor()
    };
    let servo = AffineControl {
        gain: [40.0, 0.0, 0.0],
        bias: SERVO,
        ..motor
    };
    // The damping of a brake depends on the control.
    let brake = AffineControl {
        gain: [0.0, 0.0, -5.0],
        ..motor
    };
    let spring = AffineControl {
        gain: [1.0, -30.0, 2.0],
        bias: [0.2, 1.0, -1.0],
        ..motor
    };
    for (control, friction) in [(motor, 0.1), (servo, 0.0), (brake, 0.0), (spring, 0.3)] {
        let (diagram, plant) = sled(control, friction);
        let dual = diagram.to_scalar::<AutoDiff>().unwrap();
        let ports = dual.ports(&plant).unwrap();
        let x = [0.1, 0.5, 0.8];
        let lifted = [0, 1, 2].map(|k: usize| AutoDiff::variable(x[k], k));
        let after = step(&dual, &ports, lifted);
        let real = |x| step(&diagram, &plant, x);
        for k in 0..3 {
            let at = |h: f64| {
                let mut x = x;
                x[k] += h;
                real(x)
            };
            // The law of a step is nearly linear: differences are exact to rounding over h.
            let h = 1e-4;
            let difference = (at(h) - at(-h)) / (2.0 * h);
            let found = after.eps[k];
            assert!(
                (found - difference).abs() < 1e-8,
                "{control:?} {k}: {found} and {difference}"
            );
        }
    }
}

/// Where gains vanish at a control, the step has the derivatives of one side: without any gain,
/// that of less control, where efforts are explicit; with damping, that of more control, where the
/// step solves for the effort.
#[test]
fn derivatives_are_those_of_one_side_where_gains_vanish() {
    let vanishing = AffineControl {
        gear: -1.5,
        gain: [0.4, -30.0, -2.0],
        ..AffineControl::motor()
    };
    let stiffening = AffineControl {
        gain: [0.4, -30.0, 0.0],
        bias: [0.2, 0.0, -1.0],
        ..vanishing
    };
    for (control, side) in [(vanishing, -1.0), (stiffening, 1.0)] {
        let (diagram, plant) = sled(control, 0.0);
        let dual = diagram.to_scalar::<AutoDiff>().unwrap();
        let ports = dual.ports(&plant).unwrap();
        let x = [0.1, 0.5, 0.0];
        let lifted = [0, 1, 2].map(|k: usize| AutoDiff::variable(x[k], k));
        let after = step(&dual, &ports, lifted);
        let at = |u: f64| step(&diagram, &plant, [x[0], x[1], u]);
        let h = 1e-4 * side;
        let difference = (4.0 * at(h) - at(2.0 * h) - 3.0 * at(0.0)) / (2.0 * h);
        assert!((after.re - at(0.0)).abs() < 1e-15, "{after:?}");
        let found = after.eps[2];
        assert!(
            (found - difference).abs() < 1e-9,
            "{found} and {difference}"
        );
        // About what the forces of gain and spring at the start of the step give.
        let explicit = (-1.5 * 0.4 - 2.25 * (30.0 * x[0])) * DT / MASS;
        assert!(
            (found / explicit - 1.0).abs() < 0.5,
            "{found} and {explicit}"
        );
    }
}

/// Gains next to nothing act next to nothing; their reciprocals are infinite.
#[test]
fn the_smallest_gains_are_harmless() {
    let spring = AffineControl {
        gain: [1.0, -1.0, -1.0],
        bias: [3.0, 0.0, 0.0],
        ..AffineControl::motor()
    };
    let (diagram, plant) = sled(spring, 0.0);
    for u in [5e-324, 1e-300, 1e-150, 1e-99, 1e-50, 1e-20] {
        let v = step(&diagram, &plant, [0.1, 0.0, u]);
        assert!((v - 3.0 * DT / MASS).abs() < 1e-15, "{u:?}: {v}");
    }
}

/// Rotors and gears of a context add their inertia to the armature of the joint.
#[test]
fn rotors_of_a_context_leave_the_armature() {
    let mut motor = None;
    let (diagram, plant) = sleds(
        |rail| rail.with_armature(3.0).unwrap(),
        |plant, [rail]| motor = Some(add_actuator(plant, rail, AffineControl::motor())),
    );
    let motor = motor.unwrap();
    let inertia = |rotor: Option<[f64; 2]>| {
        let mut context = diagram.default_context();
        if let Some([rotor, gear]) = rotor {
            plant.set_rotor_inertia(&mut context, motor, rotor).unwrap();
            plant.set_gear_ratio(&mut context, motor, gear).unwrap();
        }
        let port = plant.actuation().unwrap();
        context.fix(port, vec![7.0]).unwrap();
        let mut sim = Simulator::new(&diagram, context).unwrap();
        sim.advance_to(DT).unwrap();
        7.0 * DT / plant.velocities(sim.context()).unwrap()[0]
    };
    for (rotor, expected) in [
        (None, MASS + 3.0),
        (Some([0.0, 1.0]), MASS + 3.0),
        (Some([0.5, 4.0]), MASS + 3.0 + 8.0),
    ] {
        let found = inertia(rotor);
        assert!((found - expected).abs() < 1e-12, "{rotor:?}: {found}");
    }
}

/// Gains that the time step cannot resolve are reduced, which must not move the set point.
#[test]
fn stiff_servos_hold_their_set_point() {
    let servo = AffineControl {
        gain: [1e9, 0.0, 0.0],
        bias: [0.0, -1e9, -1e4],
        ..AffineControl::motor()
    };
    let (diagram, plant) = sled(servo, 0.0);
    let mut context = diagram.default_context();
    let port = plant.actuation().unwrap();
    context.fix(port, vec![0.25]).unwrap();
    let mut sim = Simulator::new(&diagram, context).unwrap();
    sim.advance_to(2.0).unwrap();
    let q = plant.positions(sim.context()).unwrap()[0];
    assert!((q - 0.25).abs() < 1e-6, "{q}");
}

#[test]
fn efforts_stay_in_an_uneven_range() {
    let control = AffineControl {
        effort_range: [-1.0, 4.0],
        ..AffineControl::motor()
    };
    let (diagram, plant) = sled(control, 0.0);
    assert_eq!(plant.effort_lower_limits(), [-1.0]);
    assert_eq!(plant.effort_upper_limits(), [4.0]);
    for (u, effort) in [(-9.0, -1.0), (0.5, 0.5), (9.0, 4.0)] {
        let v = step(&diagram, &plant, [0.0, 0.0, u]);
        assert!((v - effort / MASS * DT).abs() < 1e-15, "{v}");
    }
}

#[test]
fn invalid_controls_are_errors() {
    let mut plant = MultibodyPlantBuilder::new(1e-3).unwrap();
    let body = plant
        .add_rigid_body("b", ModelInstanceIndex::DEFAULT, SpatialInertia::zero())
        .unwrap();
    let joint = Joint::prismatic("j", BodyIndex::WORLD, body, Vector3::x()).unwrap();
    let joint = plant.add_joint(joint).unwrap();
    let actuator = plant.add_joint_actuator("a", joint, 1.0).unwrap();
    let motor = AffineControl::motor();
    let invalid = [
        (
            AffineControl {
                gear: f64::NAN,
                ..motor
            },
            "must be finite, got NaN",
        ),
        (
            AffineControl {
                control_range: [1.0, 0.0],
                ..motor
            },
            "the control range must not be empty, got [1.0, 0.0]",
        ),
        (
            AffineControl {
                effort_range: [0.0, f64::NAN],
                ..motor
            },
            "the effort range must not be empty",
        ),
    ];
    for (control, why) in invalid {
        let error = plant.set_affine_control(actuator, control).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
    }
    plant.set_affine_control(actuator, motor).unwrap();
    let gains = PdControllerGains { p: 1.0, d: 1.0 };
    plant.set_controller_gains(actuator, gains).unwrap();
    assert_eq!(plant.actuators()[0].affine_control(), None);
    plant.set_affine_control(actuator, motor).unwrap();
    assert_eq!(plant.actuators()[0].controller_gains(), None);
}
