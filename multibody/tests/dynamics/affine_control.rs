//! Actuators whose input is a control: derivatives, stiff gains and invalid values. The motion is
//! compared with MuJoCo in `mjcf/motion`.

use nalgebra::{Matrix3, Vector3};
use tarragon_framework::AutoDiff;
use tarragon_framework::prelude::*;
use tarragon_multibody::*;

const SERVO: [f64; 3] = [0.0, -40.0, -2.0];

/// A sled on a rail with an actuator.
fn sled(control: AffineControl, friction: f64) -> (Diagram<f64>, Block<MultibodyPlant>) {
    let mut plant = MultibodyPlant::new(1e-3).unwrap();
    let inertia = SpatialInertia::from_central(2.0, Vector3::zeros(), Matrix3::identity());
    let body = plant
        .add_rigid_body("sled", ModelInstanceIndex::DEFAULT, inertia.unwrap())
        .unwrap();
    let rail = Joint::prismatic("rail", BodyIndex::WORLD, body, Vector3::x()).unwrap();
    let rail = rail.with_dry_friction(friction).unwrap();
    let rail = plant.add_joint(rail).unwrap();
    let actuator = plant
        .add_joint_actuator("puller", rail, f64::INFINITY)
        .unwrap();
    plant.set_affine_control(actuator, control).unwrap();
    plant.finalize().unwrap();
    let mut b = DiagramBuilder::new();
    let plant = b.add("plant", plant);
    (b.build().unwrap(), plant)
}

/// Velocity after a step, as a function of position, velocity and control.
fn step<T: Scalar>(
    diagram: &Diagram<T>,
    (plant, ports): (&MultibodyPlant, &MultibodyPlantPorts<T>),
    [q, v, u]: [T; 3],
) -> T {
    let mut context = diagram.default_context();
    plant.set_positions(ports, &mut context, &[q]).unwrap();
    plant.set_velocities(ports, &mut context, &[v]).unwrap();
    let port = ports.dynamics().unwrap().actuation();
    context.fix(port, vec![u]).unwrap();
    let mut sim = Simulator::new(diagram, context).unwrap();
    sim.advance_to(1e-3).unwrap();
    plant.velocities(ports, sim.context()).unwrap()[0]
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
        let after = step(&dual, (plant.system(), &ports), lifted);
        let real = |x| step(&diagram, (plant.system(), &plant), x);
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
    let port = plant.dynamics().unwrap().actuation();
    context.fix(port, vec![0.25]).unwrap();
    let mut sim = Simulator::new(&diagram, context).unwrap();
    sim.advance_to(2.0).unwrap();
    let q = plant.system().positions(&plant, sim.context()).unwrap()[0];
    assert!((q - 0.25).abs() < 1e-6, "{q}");
}

#[test]
fn efforts_stay_in_an_uneven_range() {
    let control = AffineControl {
        effort_range: [-1.0, 4.0],
        ..AffineControl::motor()
    };
    let (diagram, plant) = sled(control, 0.0);
    assert_eq!(plant.system().effort_lower_limits(), [-1.0]);
    assert_eq!(plant.system().effort_upper_limits(), [4.0]);
    for (u, effort) in [(-9.0, -1.0), (0.5, 0.5), (9.0, 4.0)] {
        let v = step(&diagram, (plant.system(), &plant), [0.0, 0.0, u]);
        assert!((v - effort / 2.0 * 1e-3).abs() < 1e-15, "{v}");
    }
}

#[test]
fn invalid_controls_are_errors() {
    let mut plant = MultibodyPlant::new(1e-3).unwrap();
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
