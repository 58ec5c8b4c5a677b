//! Contact on surfaces: momentum, rest and energy.

use nalgebra::{Isometry3, Matrix3, Vector3};
use tarragon_framework::integrator::RungeKutta5;
use tarragon_framework::prelude::*;
use tarragon_geometry::{
    BoxShape, CoulombFriction, HalfSpace, ProximityProperties, SceneGraph, Shape, Sphere,
};
use tarragon_multibody::*;

const G: f64 = 9.81;
const MASS: f64 = 1.0;
const RADIUS: f64 = 0.1;
const MODULUS: f64 = 1e5;

fn compliant(friction: f64, dissipation: f64) -> ProximityProperties {
    ProximityProperties::new()
        .with_friction(CoulombFriction::new(friction, friction).unwrap())
        .with_dissipation(dissipation)
        .and_then(|p| p.with_compliant_hydroelastic(MODULUS))
        .and_then(|p| p.with_resolution_hint(0.05))
        .unwrap()
}

fn rigid(dissipation: f64) -> ProximityProperties {
    ProximityProperties::new()
        .with_friction(CoulombFriction::new(0.5, 0.5).unwrap())
        .with_dissipation(dissipation)
        .unwrap()
        .with_rigid_hydroelastic()
}

fn inertia() -> SpatialInertia {
    let i = Matrix3::from_diagonal_element(0.4 * MASS * RADIUS * RADIUS);
    SpatialInertia::from_central(MASS, Vector3::zeros(), i).unwrap()
}

/// A world of bodies, some of which touch.
struct World {
    diagram: Diagram<f64>,
    plant: Block<MultibodyPlant>,
}

impl World {
    /// Creates a world of free bodies, with a rigid floor if `has_floor` is true.
    fn new(time_step: f64, has_floor: bool, bodies: &[(Shape, ProximityProperties)]) -> Self {
        let plant = MultibodyPlantBuilder::new(time_step).unwrap();
        Self::with_settings(plant, has_floor, bodies)
    }

    /// Does the same with the settings of a plant.
    fn with_settings(
        mut plant: MultibodyPlantBuilder,
        has_floor: bool,
        bodies: &[(Shape, ProximityProperties)],
    ) -> Self {
        let mut scene = SceneGraph::new();
        plant.set_contact_model(ContactModel::Hydroelastic);
        plant.set_use_sampled_output_ports(false).unwrap();
        plant
            .register_as_source_for_scene_graph(&mut scene)
            .unwrap();
        let x = Isometry3::identity();
        if has_floor {
            plant
                .register_collision_geometry(
                    &mut scene,
                    BodyIndex::WORLD,
                    x,
                    HalfSpace,
                    "floor",
                    rigid(0.0),
                )
                .unwrap();
        }
        for (i, (shape, properties)) in bodies.iter().enumerate() {
            let model = plant.add_model_instance(&format!("body{i}")).unwrap();
            let body = plant.add_rigid_body("body", model, inertia()).unwrap();
            let (shape, properties) = (shape.clone(), properties.clone());
            plant
                .register_collision_geometry(&mut scene, body, x, shape, "shape", properties)
                .unwrap();
        }
        let mut builder = DiagramBuilder::new();
        let (plant, _) = add_multibody_plant_scene_graph(&mut builder, plant, scene).unwrap();
        let diagram = builder.build().unwrap();
        Self { diagram, plant }
    }

    /// Creates a ball above a rigid floor, without friction, which is stiff and does nothing here.
    fn ball(time_step: f64, dissipation: f64) -> Self {
        let ball = Sphere::new(RADIUS).unwrap();
        Self::new(
            time_step,
            true,
            &[(ball.into(), compliant(0.0, dissipation))],
        )
    }

    /// Returns a context with the first body at a height (m).
    fn at_height(&self, z: f64) -> Context<f64> {
        let mut context = self.diagram.default_context();
        let q = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, z];
        self.plant.set_positions(&mut context, q).unwrap();
        context
    }

    fn height(&self, context: &Context<f64>) -> f64 {
        self.plant.positions(context).unwrap()[6]
    }

    /// Returns the kinetic energy and that of gravity (J).
    fn energies(&self, context: &Context<f64>) -> [f64; 2] {
        let plant = self.plant.system();
        let q = self.plant.positions(context).unwrap();
        let v = self.plant.velocities(context).unwrap();
        let p = plant.calc_position_kinematics(&q).unwrap();
        let k = plant.calc_velocity_kinematics(&p, &v).unwrap();
        [
            plant.calc_kinetic_energy(&p, &k).unwrap(),
            plant.calc_potential_energy(&p).unwrap(),
        ]
    }

    /// Returns the force of contact on the first body, upwards (N).
    fn contact_force(&self, context: &Context<f64>) -> f64 {
        let results = self.plant.contact_results().unwrap();
        let results = context.eval(results).unwrap();
        let forces = results.hydroelastic_contacts().iter().map(|contact| {
            let of_a = contact.f_ac_w.translational.z;
            if contact.body_a == BodyIndex::WORLD {
                -of_a
            } else {
                of_a
            }
        });
        forces.sum()
    }
}

/// Energy of the contact of a ball at rest with the floor, by its height: the integral of the force
/// over the penetration.
struct ElasticEnergy {
    step: f64,
    /// Energy (J) and force (N) by depth, at multiples of the step.
    table: Vec<[f64; 2]>,
}

impl ElasticEnergy {
    /// Pushes a ball down to a depth (m).
    fn of(world: &World, depth: f64) -> Self {
        let steps = 1000;
        let step = depth / f64::from(steps);
        let force_at = |depth: f64| world.contact_force(&world.at_height(RADIUS - depth));
        let mut table = vec![[0.0, force_at(0.0)]];
        for i in 1..=steps {
            let [energy, before] = table[table.len() - 1];
            let force = force_at(f64::from(i) * step);
            // Simpson's rule.
            let middle = force_at((f64::from(i) - 0.5) * step);
            table.push([energy + (before + 4.0 * middle + force) * step / 6.0, force]);
        }
        Self { step, table }
    }

    fn at(&self, height: f64) -> f64 {
        let place = (RADIUS - height).max(0.0) / self.step;
        let i = (place as usize).min(self.table.len() - 2);
        let ([energy, force], t) = (self.table[i], place - i as f64);
        // The force is linear within a step.
        let slope = self.table[i + 1][1] - force;
        energy + (force * t + slope * t * t / 2.0) * self.step
    }
}

/// Momentum and its moment about the world's origin do not change by contact: forces and torques
/// on both bodies of a surface are opposite. In continuous time these are the rates from the
/// accelerations, in discrete time the changes over a step.
#[test]
fn forces_and_torques_on_both_bodies_are_opposite() {
    let ball = Sphere::new(RADIUS).unwrap();
    let block = BoxShape::new(0.2, 0.16, 0.12).unwrap();
    let pairs: [[(Shape, ProximityProperties); 2]; 3] = [
        [
            (ball.into(), compliant(0.5, 0.5)),
            (block.into(), rigid(0.5)),
        ],
        [
            (block.into(), compliant(0.5, 0.5)),
            (ball.into(), compliant(0.5, 0.5)),
        ],
        [
            (block.into(), rigid(0.5)),
            (block.into(), compliant(0.5, 0.5)),
        ],
    ];
    for bodies in pairs {
        let mut world = [0.0, 1e-3].map(|step| World::new(step, false, &bodies));
        for world in &mut world {
            let plant = world.plant.system();
            let mut context = world.diagram.default_context();
            let (s, c) = 0.4_f64.sin_cos();
            let q = [
                [1.0, 0.0, 0.0, 0.0, 0.3, -0.2, 0.1],
                [c, 0.6 * s, 0.0, 0.8 * s, 0.36, -0.12, 0.21],
            ];
            let v: Vec<f64> = (0..12).map(|i| 0.3 * f64::from(i % 5) - 0.6).collect();
            world.plant.set_positions(&mut context, q.concat()).unwrap();
            world.plant.set_velocities(&mut context, &v).unwrap();
            let contacts = world.plant.contact_results().unwrap();
            let contacts = context.eval(contacts).unwrap();
            let [contact] = contacts.hydroelastic_contacts() else {
                panic!("one surface: {contacts:?}");
            };
            let force = contact.f_ac_w.translational.norm();
            assert!(force > 1.0, "{force}");

            let p = plant.calc_position_kinematics(&q.concat()).unwrap();
            let momentum = |v: &[f64]| {
                let k = plant.calc_velocity_kinematics(&p, v).unwrap();
                let l = plant.calc_spatial_momentum_in_world(&p, &k, &Vector3::zeros());
                l.unwrap()
            };
            let (change, unit) = if plant.time_step() == 0.0 {
                // Bodies are balls, so that velocities add nothing to the rate of momentum.
                let vdot = world.plant.generalized_acceleration().unwrap();
                let vdot = context.eval(vdot).unwrap();
                (momentum(vdot), force)
            } else {
                let step = plant.time_step();
                let mut sim = Simulator::new(&world.diagram, context).unwrap();
                sim.advance_to(step).unwrap();
                let after = world.plant.velocities(sim.context()).unwrap();
                let change: Vec<f64> = after.iter().zip(&v).map(|(a, b)| a - b).collect();
                (momentum(&change), force * step + 1.0)
            };
            let gravity = match plant.time_step() {
                0.0 => 1.0,
                step => step,
            } * Vector3::new(0.0, 0.0, -MASS * G);
            let centers = q.map(|q| Vector3::new(q[4], q[5], q[6]));
            let linear = change.translational - 2.0 * gravity;
            let moment: Vector3<f64> = centers.iter().map(|p| p.cross(&gravity)).sum();
            let angular = change.rotational - moment;
            // Arms are shorter than 1 m.
            assert!(linear.norm() < 1e-12 * unit, "{linear}");
            assert!(angular.norm() < 1e-12 * unit, "{angular}");
        }
    }
}

/// Without dissipation, a ball bounces back as high as it was: the sum of kinetic energy, that of
/// gravity and that of the contact stays.
#[test]
fn a_ball_without_dissipation_keeps_its_energy() {
    let world = World::ball(0.0, 0.0);
    let elastic = ElasticEnergy::of(&world, 0.03);
    let start = 0.13;
    let mut sim = Simulator::new(&world.diagram, world.at_height(start)).unwrap();
    sim.set_error_control(1e-9).unwrap();
    sim.set_integrator(RungeKutta5::new());
    let total = |context: &Context<f64>| {
        let [kinetic, gravity] = world.energies(context);
        kinetic + gravity + elastic.at(world.height(context))
    };
    let first = total(sim.context());
    let (mut worst, mut lowest) = (0.0_f64, start);
    for i in 1..=150 {
        sim.advance_to(f64::from(i) * 2e-3).unwrap();
        lowest = lowest.min(world.height(sim.context()));
        worst = worst.max((total(sim.context()) - first).abs());
    }
    // One bounce, within the table.
    assert!(lowest < 0.095 && lowest > 0.07, "{lowest}");
    // The integrator's tolerance, amplified by the stiffness of the contact.
    assert!(worst < 1e-6 * MASS * G * (start - RADIUS), "{worst}");
}

/// Energy (J) of a ball that falls from 0.13 m to the ground.
const FALLEN: f64 = MASS * G * 0.03;

/// Lets a ball fall from 0.13 m for a time in steps (s). Returns the largest growth of its energy
/// in a step, its kinetic energy at the end (J), and how much the contact force then exceeds the
/// weight, relative to that.
fn settle(
    world: &World,
    elastic: &ElasticEnergy,
    sim: &mut Simulator<f64>,
    [step, time]: [f64; 2],
) -> [f64; 3] {
    let mut last = f64::INFINITY;
    let mut growth = 0.0_f64;
    for i in 1..=(time / step).round() as i32 {
        sim.advance_to(f64::from(i) * step).unwrap();
        let [kinetic, gravity] = world.energies(sim.context());
        let total = kinetic + gravity + elastic.at(world.height(sim.context()));
        growth = growth.max(total - last);
        last = total;
    }
    let [kinetic, _] = world.energies(sim.context());
    let weight = world.contact_force(sim.context()) / (MASS * G) - 1.0;
    [growth, kinetic, weight]
}

/// A ball with dissipation comes to rest where the pressure carries its weight, and its energy
/// falls all the time, up to rounding and the tolerance of the integrator.
#[test]
fn a_ball_with_dissipation_comes_to_rest_in_continuous_time() {
    let world = World::ball(0.0, 5.0);
    let elastic = ElasticEnergy::of(&world, 0.03);
    let mut sim = Simulator::new(&world.diagram, world.at_height(0.13)).unwrap();
    sim.set_error_control(1e-6).unwrap();
    sim.set_integrator(RungeKutta5::new());
    let [growth, kinetic, weight] = settle(&world, &elastic, &mut sim, [4e-3, 1.0]);
    assert!(growth < 1e-8 * FALLEN, "{growth}");
    assert!(kinetic < 1e-9 * FALLEN, "{kinetic}");
    assert!(weight.abs() < 1e-4, "{weight}");
}

/// The same holds step by step, whatever the approximation of contact.
#[test]
fn a_ball_with_dissipation_comes_to_rest_in_discrete_time() {
    let still = World::ball(0.0, 0.0);
    let elastic = ElasticEnergy::of(&still, 0.03);
    let step = 1e-3;
    let world = World::ball(step, 5.0);
    let mut sim = Simulator::new(&world.diagram, world.at_height(0.13)).unwrap();
    let [growth, kinetic, weight] = settle(&world, &elastic, &mut sim, [step, 2.0]);
    // Interpolation in the table of the energy.
    assert!(growth < 1e-7 * FALLEN, "{growth}");
    assert!(kinetic < 1e-12 * FALLEN, "{kinetic}");
    assert!(weight.abs() < 1e-6, "{weight}");
}

/// Without friction, nothing but sleep would stop a ball that turns slowly about the vertical.
#[test]
fn bodies_with_contact_surfaces_stay_awake() {
    let mut plant = MultibodyPlantBuilder::new(1e-3).unwrap();
    let settings = SleepSettings::default();
    plant.set_sleep_settings(Some(settings)).unwrap();
    let ball = (Sphere::new(RADIUS).unwrap().into(), compliant(0.0, 5.0));
    let world = World::with_settings(plant, true, &[ball]);
    let mut context = world.at_height(RADIUS);
    let spin = 0.5 * settings.speed;
    let v = [0.0, 0.0, spin, 0.0, 0.0, 0.0];
    world.plant.set_velocities(&mut context, v).unwrap();
    let mut sim = Simulator::new(&world.diagram, context).unwrap();
    sim.advance_to(2.0).unwrap();
    let v = world.plant.velocities(sim.context()).unwrap();
    assert!(v.iter().all(|v| v.abs() < settings.speed), "at rest: {v:?}");
    assert!((v[2] - spin).abs() < 1e-9, "{v:?}");
}
