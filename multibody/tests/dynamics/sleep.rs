//! Sleep of bodies at rest.

use super::discrete::{ALL, BallWorld, G};
use nalgebra::{Matrix3, Vector3};
use tarragon_framework::AutoDiff;
use tarragon_framework::prelude::*;
use tarragon_multibody::*;

/// Height at which a ball of the world rests: two stiffnesses of 1e5 N/m carry 1 kg.
const REST: f64 = 0.1 - G / 5e4;

fn sleepy(approximation: DiscreteContactApproximation) -> BallWorld {
    let mut world = BallWorld::new(1e-3, approximation);
    world.sleep = Some(SleepSettings::default());
    world
}

/// Velocities of a ball.
fn velocity(plant: &Block<MultibodyPlant>, context: &Context<f64>, ball: usize) -> Vec<f64> {
    let v = plant.velocities(context).unwrap();
    v[6 * ball..6 * ball + 6].to_vec()
}

#[test]
fn balls_at_rest_fall_asleep_and_keep_their_forces() {
    for approximation in ALL {
        let centers = [Vector3::new(0.0, 0.0, REST), Vector3::new(1.0, 0.0, 0.12)];
        let (diagram, plant) = sleepy(approximation).build(&centers);
        let mut context = diagram.default_context();
        // Nothing but sleep stops a ball that turns on a point.
        let mut v = plant.velocities(&context).unwrap();
        v[2] = 5e-4;
        plant.set_velocities(&mut context, &v).unwrap();
        let mut sim = Simulator::new(&diagram, context).unwrap();
        sim.advance_to(0.49).unwrap();
        let spin = velocity(&plant, sim.context(), 0)[2];
        assert!((spin - 5e-4).abs() < 1e-12, "{approximation:?}: {spin}");
        sim.advance_to(0.51).unwrap();
        assert_eq!(velocity(&plant, sim.context(), 0), [0.0; 6]);
        // The other one falls a little before it comes to rest.
        assert_ne!(velocity(&plant, sim.context(), 1), [0.0; 6]);
        sim.advance_to(2.0).unwrap();
        assert_eq!(velocity(&plant, sim.context(), 1), [0.0; 6]);
        let before = plant.positions(sim.context()).unwrap();
        let contacts = plant.contact_results().unwrap();
        let contacts = sim.context().eval(contacts).unwrap();
        let forces: Vec<f64> = contacts
            .point_pairs()
            .iter()
            .map(|pair| pair.contact_force.z.abs())
            .collect();
        // The second ball has not stopped completely when it falls asleep.
        assert_eq!(forces.len(), 2, "{approximation:?}");
        assert!(
            (forces[0] - G).abs() < 1e-9,
            "{approximation:?}: {forces:?}"
        );
        assert!(
            (forces[1] - G).abs() < 1e-3,
            "{approximation:?}: {forces:?}"
        );
        let vdot = plant.generalized_acceleration().unwrap();
        let vdot = sim.context().eval(vdot).unwrap();
        assert_eq!(*vdot, [0.0; 12]);
        sim.advance_to(3.0).unwrap();
        let after = plant.positions(sim.context()).unwrap();
        assert_eq!(before, after);
    }
}

#[test]
fn a_falling_ball_wakes_the_one_it_hits_and_no_other() {
    let centers = [
        Vector3::new(0.0, 0.0, REST),
        Vector3::new(1.0, 0.0, REST),
        // Reaches the first after 0.76 s.
        Vector3::new(0.05, 0.0, 3.1),
    ];
    for approximation in ALL {
        let (diagram, plant) = sleepy(approximation).build(&centers);
        let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
        sim.advance_to(0.74).unwrap();
        for ball in [0, 1] {
            assert_eq!(velocity(&plant, sim.context(), ball), [0.0; 6]);
        }
        let mut awake = sleepy(approximation);
        awake.sleep = None;
        let (same, same_plant) = awake.build(&centers);
        let mut reference = Simulator::new(&same, same.default_context()).unwrap();
        for simulator in [&mut sim, &mut reference] {
            simulator.advance_to(0.8).unwrap();
        }
        assert_eq!(velocity(&plant, sim.context(), 1), [0.0; 6]);
        for ball in [0, 2] {
            let own = velocity(&plant, sim.context(), ball);
            let expected = velocity(&same_plant, reference.context(), ball);
            assert!(own.iter().any(|v| v.abs() > 0.1), "{ball}: {own:?}");
            for (a, b) in own.iter().zip(&expected) {
                // The ball slept at rest up to rounding, which the collision magnifies.
                assert!((a - b).abs() < 1e-9, "{approximation:?} {ball}: {a} {b}");
            }
        }
    }
}

#[test]
fn whatever_changes_wakes() {
    type Change = (&'static str, fn(&Block<MultibodyPlant>, &mut Context<f64>));
    let changes: [Change; 5] = [
        ("generalized force", |plant, context| {
            let port = plant.applied_generalized_force().unwrap();
            let push = [0.0, 0.0, 0.0, 20.0, 0.0, 0.0];
            context.fix(port, [push, [0.0; 6]].concat()).unwrap();
        }),
        ("spatial force", |plant, context| {
            let port = plant.applied_spatial_force().unwrap();
            let force = ExternallyAppliedSpatialForce {
                body: plant
                    .body_by_name_in("ball", plant.model_instance_by_name("ball0").unwrap())
                    .unwrap(),
                p_bobq_b: Vector3::zeros(),
                f_bq_w: SpatialVector {
                    rotational: Vector3::zeros(),
                    translational: Vector3::x() * 20.0,
                },
            };
            context.fix(port, vec![force]).unwrap();
        }),
        ("positions", |plant, context| {
            let mut q = plant.positions(context).unwrap();
            q[6] += 0.01;
            plant.set_positions(context, &q).unwrap();
        }),
        ("velocities", |plant, context| {
            let mut v = plant.velocities(context).unwrap();
            v[3] = 0.5;
            plant.set_velocities(context, &v).unwrap();
        }),
        ("a mass", |plant, context| {
            let system = plant.system();
            let instance = system.model_instance_by_name("ball0").unwrap();
            let ball = system.body_by_name_in("ball", instance).unwrap();
            plant.set_mass(context, ball, 2.0).unwrap();
        }),
    ];
    let centers = [Vector3::new(0.0, 0.0, REST), Vector3::new(1.0, 0.0, REST)];
    for (name, change) in changes {
        let (diagram, plant) = sleepy(ALL[0]).build(&centers);
        let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
        sim.advance_to(1.0).unwrap();
        assert_eq!(velocity(&plant, sim.context(), 0), [0.0; 6]);
        change(&plant, sim.context_mut());
        sim.advance_to(1.01).unwrap();
        let v = velocity(&plant, sim.context(), 0);
        assert!(v.iter().any(|v| v.abs() > 1e-3), "{name}: {v:?}");
        // A parameter wakes all; what acts on one ball leaves the other asleep.
        let other = velocity(&plant, sim.context(), 1);
        if name != "a mass" {
            assert_eq!(other, [0.0; 6], "{name}");
        }
    }
}

/// A step's memory of the scene is lost with the cache; sleep is a part of the state.
#[test]
fn sleep_survives_the_loss_of_the_cache() {
    let (diagram, plant) = sleepy(ALL[0]).build(&[Vector3::new(0.0, 0.0, REST)]);
    let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
    sim.advance_to(1.0).unwrap();
    let mut fresh = diagram.default_context();
    fresh
        .set_time_state_and_parameters_from(sim.context())
        .unwrap();
    let mut sim = Simulator::new(&diagram, fresh).unwrap();
    sim.advance_to(1.1).unwrap();
    assert_eq!(velocity(&plant, sim.context(), 0), [0.0; 6]);
    let contacts = plant.contact_results().unwrap();
    let contacts = sim.context().eval(contacts).unwrap();
    assert_eq!(contacts.point_pairs().len(), 1);
}

/// After a step, the ball is still slower than what counts as rest.
#[test]
fn a_small_force_wakes_a_ball_for_good() {
    let (diagram, plant) = sleepy(ALL[0]).build(&[Vector3::new(0.0, 0.0, REST)]);
    let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
    sim.advance_to(1.0).unwrap();
    let port = plant.applied_generalized_force().unwrap();
    let push = vec![0.0, 0.0, 0.0, 0.1, 0.0, 0.0];
    sim.context_mut().fix(port, push).unwrap();
    sim.advance_to(2.0).unwrap();
    // A solid ball rolls with 5/7 of the acceleration of one that slides.
    let v = velocity(&plant, sim.context(), 0)[3];
    assert!((v - 0.1 * 5.0 / 7.0).abs() < 1e-3, "{v}");
}

/// Two sliders that a spring connects: the heavy one moves too little to count as awake.
#[test]
fn springs_keep_what_they_connect_awake() {
    for (connected, by_tendon) in [(false, false), (true, false), (true, true)] {
        let mut plant = MultibodyPlantBuilder::new(1e-3).unwrap();
        plant
            .set_sleep_settings(Some(SleepSettings::default()))
            .unwrap();
        let slider = |plant: &mut MultibodyPlantBuilder, name: &str, mass: f64| {
            let m = SpatialInertia::from_central(mass, Vector3::zeros(), Matrix3::identity());
            let model = ModelInstanceIndex::DEFAULT;
            let body = plant.add_rigid_body(name, model, m.unwrap()).unwrap();
            let joint = Joint::prismatic(name, BodyIndex::WORLD, body, Vector3::x());
            plant.add_joint(joint.unwrap()).unwrap();
            body
        };
        let (heavy, light) = (
            slider(&mut plant, "heavy", 1e4),
            slider(&mut plant, "light", 1.0),
        );
        let anchor = if connected { heavy } else { BodyIndex::WORLD };
        let (p_bq, free_length, stiffness, damping) = (Vector3::x() * 2.0, 1.0, 10.0, 0.0);
        let spring = if by_tendon {
            ForceElement::SpatialTendon {
                path: vec![
                    TendonPart::site(anchor, Vector3::zeros()),
                    TendonPart::site(light, p_bq),
                ],
                free_lengths: [free_length; 2],
                stiffness,
                damping,
            }
        } else {
            ForceElement::LinearSpringDamper {
                body_a: anchor,
                p_ap: Vector3::zeros(),
                body_b: light,
                p_bq,
                free_length,
                stiffness,
                damping,
            }
        };
        plant.add_force_element(spring).unwrap();
        let plant = plant.build().unwrap();
        let mut b = DiagramBuilder::new();
        let plant = b.add("plant", plant);
        let diagram = b.build().unwrap();
        let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
        for step in 1..=200 {
            sim.advance_to(0.01 * f64::from(step)).unwrap();
            let v = plant.velocities(sim.context()).unwrap();
            assert!(v[1].abs() > 0.0, "{connected} {step}");
            let slept = step > 60 && !connected;
            assert_eq!(
                v[0] == 0.0,
                slept || !connected,
                "{connected} {step}: {v:?}"
            );
        }
    }
}

/// A sleeping ball stays where it is, whatever the derivatives.
#[test]
fn a_sleeping_ball_has_derivatives() {
    let (diagram, plant) = sleepy(ALL[0]).build(&[Vector3::new(0.0, 0.0, REST)]);
    let dual = diagram.to_scalar::<AutoDiff>().unwrap();
    let ports = dual.ports(&plant).unwrap();
    let mut context = dual.default_context();
    let mut q: Vec<AutoDiff> = ports.positions(&context).unwrap();
    q[6] = AutoDiff::variable(q[6].re, 0);
    ports.set_positions(&mut context, &q).unwrap();
    let mut sim = Simulator::new(&dual, context).unwrap();
    sim.advance_to(1.0).unwrap();
    let before = ports.positions(sim.context()).unwrap();
    assert_eq!(
        ports.velocities(sim.context()).unwrap(),
        [AutoDiff::from(0.0); 6]
    );
    sim.advance_to(1.2).unwrap();
    let after = ports.positions(sim.context()).unwrap();
    // Numbers compare by value alone.
    let derivatives = |q: &[AutoDiff]| q.iter().map(|q| (q.re, q.eps)).collect::<Vec<_>>();
    assert_eq!(derivatives(&before), derivatives(&after));
    assert!((after[6].re - REST).abs() < 1e-9);
}

#[test]
fn sleep_settings_are_checked() {
    let settings = SleepSettings::default();
    let mut continuous = MultibodyPlantBuilder::new(0.0).unwrap();
    let e = continuous.set_sleep_settings(Some(settings)).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Unsupported);
    let mut plant = MultibodyPlantBuilder::new(1e-3).unwrap();
    for bad in [
        SleepSettings {
            speed: 0.0,
            ..settings
        },
        SleepSettings {
            time: f64::NAN,
            ..settings
        },
    ] {
        let e = plant.set_sleep_settings(Some(bad)).unwrap_err().to_string();
        assert!(e.contains("must be positive and finite"), "{e}");
        assert_eq!(plant.sleep_settings(), None);
    }
}
