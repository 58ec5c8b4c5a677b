//! Discrete steps: closed forms of contact, invariants, constraints, islands and derivatives.

use nalgebra::{Isometry3, Matrix3, Vector3};
use rayon::prelude::*;
use tarragon_framework::AutoDiff;
use tarragon_framework::prelude::*;
use tarragon_geometry::{CoulombFriction, HalfSpace, ProximityProperties, SceneGraph, Sphere};
use tarragon_multibody::*;

pub(crate) const G: f64 = 9.81;

pub(crate) fn material(friction: f64, dissipation: f64) -> ProximityProperties {
    ProximityProperties::new()
        .with_friction(CoulombFriction::new(friction, friction).unwrap())
        .with_point_stiffness(1e5)
        .and_then(|p| p.with_dissipation(dissipation))
        .and_then(|p| p.with_relaxation_time(0.01))
        .unwrap()
}

fn ball_inertia(mass: f64) -> SpatialInertia {
    let i = Matrix3::from_diagonal_element(0.4 * mass * 0.01);
    SpatialInertia::from_central(mass, Vector3::zeros(), i).unwrap()
}

/// Settings of a world of balls on the half space z < 0.
pub(crate) struct BallWorld {
    pub(crate) time_step: f64,
    approximation: DiscreteContactApproximation,
    friction: f64,
    /// Stiffness of every geometry (N/m).
    pub(crate) stiffness: f64,
    /// Dissipation of every geometry (s/m).
    pub(crate) dissipation: f64,
    pub(crate) near_rigid_threshold: Option<f64>,
    pub(crate) max_recovery_speed: Option<f64>,
    pub(crate) sleep: Option<SleepSettings>,
}

impl BallWorld {
    pub(crate) fn new(time_step: f64, approximation: DiscreteContactApproximation) -> Self {
        Self {
            time_step,
            approximation,
            friction: 0.5,
            stiffness: 1e5,
            dissipation: 10.0,
            near_rigid_threshold: None,
            max_recovery_speed: None,
            sleep: None,
        }
    }

    /// Puts balls of radius 0.1 m and 1 kg into the world.
    pub(crate) fn build(&self, centers: &[Vector3<f64>]) -> (Diagram<f64>, Block<MultibodyPlant>) {
        let mut plant = MultibodyPlantBuilder::new(self.time_step).unwrap();
        let mut scene = SceneGraph::new();
        plant.set_discrete_contact_approximation(self.approximation);
        if let Some(threshold) = self.near_rigid_threshold {
            plant.set_near_rigid_threshold(threshold).unwrap();
        }
        if let Some(speed) = self.max_recovery_speed {
            plant.set_max_recovery_speed(speed).unwrap();
        }
        plant.set_sleep_settings(self.sleep).unwrap();
        plant.set_use_sampled_output_ports(false).unwrap();
        plant
            .register_as_source_for_scene_graph(&mut scene)
            .unwrap();
        let material = || {
            material(self.friction, self.dissipation)
                .with_point_stiffness(self.stiffness)
                .unwrap()
        };
        let (world, x) = (BodyIndex::WORLD, Isometry3::identity());
        plant
            .register_collision_geometry(&mut scene, world, x, HalfSpace, "ground", material())
            .unwrap();
        for (i, center) in centers.iter().enumerate() {
            let model = plant.add_model_instance(&format!("ball{i}")).unwrap();
            let body = plant
                .add_rigid_body("ball", model, ball_inertia(1.0))
                .unwrap();
            let shape = Sphere::new(0.1).unwrap();
            plant
                .register_collision_geometry(&mut scene, body, x, shape, "ball", material())
                .unwrap();
            let x_wb = Isometry3::translation(center.x, center.y, center.z);
            plant.set_default_free_body_pose(body, x_wb).unwrap();
        }
        let mut b = DiagramBuilder::new();
        let (plant, _) = add_multibody_plant_scene_graph(&mut b, plant, scene).unwrap();
        (b.build().unwrap(), plant)
    }
}

/// Balls of radius 0.1 m and 1 kg on the half space z < 0.
fn balls(
    time_step: f64,
    approximation: DiscreteContactApproximation,
    friction: f64,
    centers: &[Vector3<f64>],
) -> (Diagram<f64>, Block<MultibodyPlant>) {
    let world = BallWorld {
        friction,
        ..BallWorld::new(time_step, approximation)
    };
    world.build(centers)
}

pub(crate) const ALL: [DiscreteContactApproximation; 3] = [
    DiscreteContactApproximation::Lagged,
    DiscreteContactApproximation::Similar,
    DiscreteContactApproximation::Sap,
];

#[test]
fn ball_comes_to_rest_at_the_depth_that_carries_its_weight() {
    for approximation in ALL {
        let start = Vector3::new(0.0, 0.0, 0.11);
        let (diagram, plant) = balls(1e-3, approximation, 0.5, &[start]);
        let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
        sim.advance_to(2.0).unwrap();
        let contacts = plant.contact_results().unwrap();
        let contacts = sim.context().eval(contacts).unwrap();
        let [contact] = contacts.point_pairs() else {
            panic!("{approximation:?}: {contacts:?}");
        };
        // Two stiffnesses of 1e5 N/m in series.
        let depth = G / 5e4;
        let found = contact.point_pair.depth;
        assert!(
            (found - depth).abs() < 1e-9,
            "{approximation:?}: {found} and {depth}"
        );
        let weight = contact.contact_force.z.abs();
        assert!((weight - G).abs() < 1e-6, "{approximation:?}: {weight}");
        assert!(contact.separation_speed.abs() < 1e-8 && contact.slip_speed < 1e-8);
    }
}

/// A ball that slides slows down by friction until it rolls, at 5/7 of its speed.
#[test]
fn sliding_ball_ends_up_rolling() {
    for approximation in ALL {
        let start = Vector3::new(0.0, 0.0, 0.1 - G / 5e4);
        let (diagram, plant) = balls(1e-3, approximation, 0.3, &[start]);
        let mut context = diagram.default_context();
        let v = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0];
        plant.set_velocities(&mut context, v).unwrap();
        let mut sim = Simulator::new(&diagram, context).unwrap();
        sim.advance_to(1.0).unwrap();
        let v = plant.velocities(sim.context()).unwrap();
        // The depth lowers the contact point's lever arm by 0.2 %; friction is regularized.
        assert!((v[3] - 5.0 / 7.0).abs() < 2e-3, "{approximation:?}: {v:?}");
        assert!((v[1] * 0.1 - v[3]).abs() < 3e-3, "{approximation:?}: {v:?}");
    }
}

/// Without outside forces, momentum stays, whatever bodies do to each other.
#[test]
fn collision_conserves_momentum() {
    for approximation in ALL {
        let centers = [
            Vector3::new(0.0, 0.0, 5.0),
            Vector3::new(0.15, 0.05, 5.1),
            Vector3::new(0.1, 0.15, 4.9),
        ];
        let (diagram, plant) = balls(1e-3, approximation, 0.5, &centers);
        let mut context = diagram.default_context();
        let system = plant.system();
        let v: Vec<f64> = (0..18).map(|i| f64::from(i % 5) - 2.0).collect();
        plant.set_velocities(&mut context, &v).unwrap();
        let momentum = |context: &Context<f64>| {
            let q = plant.positions(context).unwrap();
            let v = plant.velocities(context).unwrap();
            let p = system.calc_position_kinematics(&q).unwrap();
            let k = system.calc_velocity_kinematics(&p, &v).unwrap();
            let l = system.calc_spatial_momentum_in_world(&p, &k, &Vector3::zeros());
            l.unwrap().translational
        };
        let start = momentum(&context);
        let mut sim = Simulator::new(&diagram, context).unwrap();
        sim.advance_to(0.05).unwrap();
        let change = momentum(sim.context()) - start - Vector3::new(0.0, 0.0, -3.0 * G * 0.05);
        // Rounding, and the tolerance of the solver.
        assert!(change.amax() < 1e-9, "{approximation:?}: {change:?}");
    }
}

/// Islands are separate problems: the bits do not depend on threads, nor on other islands.
#[test]
fn islands_do_not_depend_on_threads_or_on_each_other() {
    let centers: Vec<Vector3<f64>> = (0..40)
        .map(|i| Vector3::new(f64::from(i), 0.0, 0.1 - 1e-4 * f64::from(i % 7)))
        .collect();
    let run = |threads: usize, centers: &[Vector3<f64>]| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap().install(|| {
            let (diagram, plant) = balls(1e-3, ALL[0], 0.5, centers);
            let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
            sim.advance_to(0.02).unwrap();
            plant.positions(sim.context()).unwrap()
        })
    };
    let one = run(1, &centers);
    assert_eq!(one, run(2, &centers));
    assert_eq!(one, run(4, &centers));
    assert_eq!(one[..7], run(1, &centers[..1]));
}

/// Steps with thousands of contacts give the same bits on any number of threads, in a pool or not,
/// and many of them may share a pool: none waits for a thread that waits for it.
#[test]
fn large_steps_share_threads() {
    let centers: Vec<Vector3<f64>> = (0..2200)
        .map(|i| Vector3::new(f64::from(i), 0.0, 0.1 - 1e-4 * f64::from(i % 7)))
        .collect();
    let (diagram, plant) = balls(1e-3, ALL[0], 0.5, &centers);
    let run = || {
        let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
        sim.advance_to(0.005).unwrap();
        plant.positions(sim.context()).unwrap()
    };
    let pool = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap()
    };
    let one = pool(1).install(run);
    assert!(one == run());
    for threads in [2, 3] {
        let runs: Vec<_> = pool(threads).install(|| {
            let runs = (0..6).into_par_iter().with_max_len(1);
            runs.map(|_| run()).collect()
        });
        assert!(runs.iter().all(|q| *q == one), "{threads} threads");
    }
}

/// A block of balls is one island with 2304 velocities, which are enough for the multifrontal
/// factorization. Its bits do not depend on the number of threads.
#[test]
fn large_island_does_not_depend_on_threads() {
    let centers: Vec<Vector3<f64>> = (0..8 * 8 * 6)
        .map(|i| {
            let place = Vector3::new(i % 8, i / 8 % 8, i / 64).map(f64::from);
            // Balls of radius 0.1 that touch each other, the lowest of them the ground.
            place * 0.1999 + Vector3::new(0.0, 0.0, 0.0999)
        })
        .collect();
    let (diagram, plant) = balls(1e-3, ALL[0], 0.5, &centers);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap().install(|| {
            let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
            sim.advance_to(0.003).unwrap();
            plant.positions(sim.context()).unwrap()
        })
    };
    let one = run(1);
    assert!(one.iter().all(|q| q.is_finite()));
    assert!(one == run(2));
    assert!(one == run(3));
}

/// Derivatives through contact agree with central differences.
#[test]
fn derivatives_through_contact_match_differences() {
    for approximation in ALL {
        let start = Vector3::new(0.0, 0.0, 0.0995);
        let (diagram, plant) = balls(1e-3, approximation, 0.5, &[start]);
        let dual = diagram.to_scalar::<AutoDiff>().unwrap();
        let v = [0.1, 0.2, 0.3, 0.5, -0.2, -0.1];
        let next = |v: &[f64]| {
            let mut context = diagram.default_context();
            plant.set_velocities(&mut context, v).unwrap();
            let mut sim = Simulator::new(&diagram, context).unwrap();
            sim.advance_to(1e-3).unwrap();
            plant.velocities(sim.context()).unwrap()
        };
        let ports = dual.ports(&plant).unwrap();
        let mut context = dual.default_context();
        let lifted: Vec<AutoDiff> = v
            .iter()
            .enumerate()
            .map(|(i, v)| AutoDiff::variable(*v, i))
            .collect();
        ports.set_velocities(&mut context, &lifted).unwrap();
        let mut sim = Simulator::new(&dual, context).unwrap();
        sim.advance_to(1e-3).unwrap();
        let after = ports.velocities(sim.context()).unwrap();
        for j in 0..6 {
            let at = |h: f64| {
                let mut v = v;
                v[j] += h;
                next(&v)
            };
            let h = 1e-6;
            for (i, (above, below)) in at(h).iter().zip(at(-h)).enumerate() {
                let difference = (above - below) / (2.0 * h);
                let found = after[i].eps[j];
                let error = (found - difference).abs();
                assert!(
                    error < 1e-6,
                    "{approximation:?} {i} {j}: {found} and {difference}"
                );
            }
        }
    }
}

/// A pendulum hung by a constraint to the world instead of a joint keeps its length.
#[test]
fn constraints_to_the_world_hold_and_can_be_switched_off() {
    let mut plant = MultibodyPlantBuilder::new(1e-3).unwrap();
    let model = ModelInstanceIndex::DEFAULT;
    let bob = plant
        .add_rigid_body("bob", model, ball_inertia(1.0))
        .unwrap();
    let x_wb = Isometry3::translation(1.0, 0.0, 0.0);
    plant.set_default_free_body_pose(bob, x_wb).unwrap();
    plant
        .add_ball_constraint(BallConstraint {
            body_a: BodyIndex::WORLD,
            p_ap: Vector3::zeros(),
            body_b: bob,
            p_bq: Some(Vector3::new(-1.0, 0.0, 0.0)),
        })
        .unwrap();
    let plant = plant.build().unwrap();
    let mut b = DiagramBuilder::new();
    let plant = b.add("plant", plant);
    let diagram = b.build().unwrap();
    let end = |active: bool| {
        let mut context = diagram.default_context();
        plant
            .set_constraint_active(&mut context, 0, active)
            .unwrap();
        assert_eq!(plant.is_constraint_active(&context, 0).unwrap(), active);
        let mut sim = Simulator::new(&diagram, context).unwrap();
        sim.advance_to(0.5).unwrap();
        sim.context().eval(plant.body_poses).unwrap()[bob.index()]
    };
    let held = end(true);
    let hook = held * nalgebra::Point3::new(-1.0, 0.0, 0.0);
    // Near-rigid constraints are corrected within a few steps.
    assert!(hook.coords.norm() < 1e-3, "{hook}");
    let fallen = end(false).translation.vector;
    assert!(
        (fallen.x - 1.0).abs() < 1e-12 && fallen.z < -1.2,
        "{fallen:?}"
    );
}

/// A rope over a pulley: a tendon whose length is the sum of two heights (Atwood's machine).
#[test]
fn tendon_pulls_two_masses_alike() {
    let mut plant = MultibodyPlantBuilder::new(1e-3).unwrap();
    let model = ModelInstanceIndex::DEFAULT;
    let masses = [1.0, 2.0];
    let joints = masses.map(|mass| {
        let name = format!("mass{mass}");
        let body = plant
            .add_rigid_body(&name, model, ball_inertia(mass))
            .unwrap();
        let joint = Joint::prismatic(name, BodyIndex::WORLD, body, Vector3::z()).unwrap();
        plant.add_joint(joint).unwrap()
    });
    let stiffness = 1e5;
    plant
        .add_tendon_constraint(TendonConstraint {
            joints: joints.to_vec(),
            coefficients: vec![1.0, 1.0],
            offset: 0.0,
            lower: 0.0,
            upper: f64::INFINITY,
            stiffness,
            damping: 500.0,
        })
        .unwrap();
    let plant = plant.build().unwrap();
    let mut b = DiagramBuilder::new();
    let plant = b.add("plant", plant);
    let diagram = b.build().unwrap();
    let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
    sim.advance_to(0.3).unwrap();
    let q = plant.positions(sim.context()).unwrap();
    let v = plant.velocities(sim.context()).unwrap();
    let tension = 2.0 * G * masses[0] * masses[1] / (masses[0] + masses[1]);
    let stretch = -(q[0] + q[1]);
    assert!((stretch - tension / stiffness).abs() < 1e-9, "{stretch}");
    let accelerations = sim
        .context()
        .eval(plant.generalized_acceleration().unwrap());
    let accelerations = accelerations.unwrap();
    let expected = G * (masses[1] - masses[0]) / (masses[0] + masses[1]);
    assert!(
        (accelerations[0] - expected).abs() < 1e-6,
        "{accelerations:?}"
    );
    assert!(
        (accelerations[1] + expected).abs() < 1e-6,
        "{accelerations:?}"
    );
    // It was slack for an instant only.
    assert!((v[0] - expected * 0.3).abs() < 2e-2, "{v:?}");
}

#[test]
fn locked_joints_stay_and_errors_name_the_place() {
    let mut plant = MultibodyPlantBuilder::new(1e-3).unwrap();
    let model = ModelInstanceIndex::DEFAULT;
    let mut parent = BodyIndex::WORLD;
    for name in ["upper", "lower"] {
        let body = plant
            .add_rigid_body(name, model, super::inertia(1))
            .unwrap();
        let joint = Joint::revolute(name, parent, body, Vector3::y()).unwrap();
        let joint = plant.add_joint(joint).unwrap();
        plant.add_joint_actuator(name, joint, 10.0).unwrap();
        parent = body;
    }
    let plant = plant.build().unwrap();
    let mut b = DiagramBuilder::new();
    let plant = b.add("plant", plant);
    let diagram = b.build().unwrap();
    let mut context = diagram.default_context();
    let system = plant.system();
    let lower = system.joint_by_name("lower").unwrap();
    plant.set_velocities(&mut context, [0.0, 1.0]).unwrap();
    plant.set_joint_locked(&mut context, lower, true).unwrap();
    assert!(plant.is_joint_locked(&context, lower).unwrap());
    let mut sim = Simulator::new(&diagram, context).unwrap();
    sim.advance_to(0.1).unwrap();
    let q = plant.positions(sim.context()).unwrap();
    assert!(q[0].abs() > 1e-3 && q[1] == 0.0, "{q:?}");
    sim.context_mut()
        .fix(plant.actuation().unwrap(), vec![f64::NAN, 0.0])
        .unwrap();
    let e = sim.advance_to(0.2).unwrap_err().to_string();
    assert!(e.contains("'actuation' must be finite"), "{e}");
}

#[test]
fn unsupported_contact_is_an_error_with_names() {
    assert!(
        "tamsi"
            .parse::<DiscreteContactApproximation>()
            .unwrap_err()
            .to_string()
            .contains("deprecated")
    );
    let (mut plant, mut scene) = (MultibodyPlantBuilder::new(1e-3).unwrap(), SceneGraph::new());
    plant
        .register_as_source_for_scene_graph(&mut scene)
        .unwrap();
    let x = Isometry3::identity();
    let own = || {
        let rigid = material(0.5, 1.0).with_rigid_hydroelastic();
        rigid.with_resolution_hint(0.05).unwrap()
    };
    plant.set_contact_model(ContactModel::Hydroelastic);
    let world = BodyIndex::WORLD;
    plant
        .register_collision_geometry(&mut scene, world, x, HalfSpace, "ground", own())
        .unwrap();
    let model = ModelInstanceIndex::DEFAULT;
    let ball = plant
        .add_rigid_body("ball", model, ball_inertia(1.0))
        .unwrap();
    let shape = Sphere::new(0.1).unwrap();
    plant
        .register_collision_geometry(&mut scene, ball, x, shape, "sphere", own())
        .unwrap();
    let mut b = DiagramBuilder::new();
    add_multibody_plant_scene_graph(&mut b, plant, scene).unwrap();
    let diagram = b.build().unwrap();
    let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
    let e = sim.advance_to(0.1).unwrap_err().to_string();
    assert!(e.contains("'ground'") && e.contains("'sphere'"), "{e}");
    assert!(e.contains("at least one must be compliant"), "{e}");
}
