//! Discrete steps of scenes that no sensible user builds: they end in finite states or in errors
//! that say what is wrong, never in panics or NaN.

use super::discrete::{ALL, material};
use nalgebra::{Isometry3, Matrix3, Vector3};
use tarragon_framework::math;
use tarragon_framework::prelude::*;
use tarragon_framework::random::RandomGenerator;
use tarragon_geometry::{BoxShape, Capsule, Cylinder, HalfSpace, SceneGraph, Shape, Sphere};
use tarragon_multibody::*;

/// Number of scenes in a test run; `TARRAGON_HOSTILE_SCENES` asks for more.
const SCENES: usize = 150;

pub(super) fn pick<'a, V>(random: &mut RandomGenerator, all: &'a [V]) -> &'a V {
    let at = random.uniform(0.0, all.len() as f64) as usize;
    &all[at.min(all.len() - 1)]
}

/// A power of ten between two exponents.
pub(super) fn power(random: &mut RandomGenerator, low: f64, high: f64) -> f64 {
    10.0_f64.powf(random.uniform(low, high))
}

fn shape(random: &mut RandomGenerator) -> Shape {
    let size = [0.0; 3].map(|_| power(random, -2.0, 0.0));
    match random.uniform(0.0, 4.0) as usize {
        0 => Sphere::new(size[0]).unwrap().into(),
        1 => BoxShape::new(size[0], size[1], size[2]).unwrap().into(),
        2 => Capsule::new(size[0], size[1]).unwrap().into(),
        _ => Cylinder::new(size[0], size[1]).unwrap().into(),
    }
}

/// Simulates a few steps of a random scene; returns the error, if any.
fn simulate(seed: u64) -> Result<()> {
    let random = &mut RandomGenerator::new(seed);
    let dt = power(random, -4.0, -1.0);
    let (mut plant, mut scene) = (MultibodyPlantBuilder::new(dt)?, SceneGraph::new());
    plant.set_contact_model(ContactModel::Point);
    plant.set_discrete_contact_approximation(*pick(random, &ALL));
    plant.register_as_source_for_scene_graph(&mut scene)?;
    let friction = *pick(random, &[0.0, 0.3, 2.0]);
    let world = BodyIndex::WORLD;
    let own = material(friction, power(random, -1.0, 3.0));
    let x = Isometry3::identity();
    plant.register_collision_geometry(&mut scene, world, x, HalfSpace, "ground", own)?;
    let count = random.uniform(1.0, 8.0) as usize;
    let mut parent = world;
    for i in 0..count {
        let model = plant.add_model_instance(&format!("m{i}"))?;
        let mass = power(random, -3.0, 3.0);
        let moment = Matrix3::from_diagonal_element(mass * power(random, -6.0, 0.0));
        let inertia = SpatialInertia::from_central(mass, Vector3::zeros(), moment)?;
        let body = plant.add_rigid_body("body", model, inertia)?;
        let own = material(friction, power(random, -1.0, 3.0));
        plant.register_collision_geometry(&mut scene, body, x, shape(random), "shape", own)?;
        // Some bodies hang on others, some are at the same place, some are deep in the ground.
        if random.uniform(0.0, 1.0) < 0.3 {
            let axis = Vector3::new(random.uniform(-1.0, 1.0), 0.3, random.uniform(-1.0, 1.0));
            let joint = Joint::revolute(format!("j{i}"), parent, body, axis)?;
            let at = Isometry3::translation(0.0, 0.0, random.uniform(0.0, 0.5));
            plant.add_joint(joint.with_pose_on_parent(at))?;
        } else {
            let place = [0.0; 3].map(|_| *pick(random, &[0.0, 0.0, 0.05, -0.3]));
            let turn = math::rpy(random.uniform(0.0, 6.0), random.uniform(-1.5, 1.5), 0.0);
            plant.set_default_free_body_pose(body, math::pose(turn, place.into()))?;
        }
        parent = body;
    }
    let mut b = DiagramBuilder::new();
    let (plant, _) = add_multibody_plant_scene_graph(&mut b, plant, scene)?;
    let diagram = b.build()?;
    let mut context = diagram.default_context();
    let system = plant.system();
    let speed = power(random, -3.0, 3.0);
    let v: Vec<f64> = (0..system.num_velocities())
        .map(|_| random.uniform(-speed, speed))
        .collect();
    plant.set_velocities(&mut context, &v)?;
    let mut sim = Simulator::new(&diagram, context)?;
    for step in 1..=5 {
        sim.advance_to(f64::from(step) * dt)?;
        let q = plant.positions(sim.context())?;
        let v = plant.velocities(sim.context())?;
        let finite = q.iter().chain(&v).all(|x| x.is_finite());
        assert!(finite, "seed {seed}, step {step}: {q:?} {v:?}");
    }
    Ok(())
}

#[test]
fn strange_scenes_end_in_finite_states_or_errors() {
    let asked = std::env::var("TARRAGON_HOSTILE_SCENES").ok();
    let count = asked.map_or(SCENES, |text| text.parse().unwrap());
    let mut errors = vec![];
    for seed in 0..count as u64 {
        if let Err(error) = simulate(seed) {
            let error = error.to_string();
            assert!(error.contains("plant"), "seed {seed}: {error}");
            errors.push(format!("seed {seed}: {error}"));
        }
    }
    // 14 of 5000 are too hard.
    assert!(errors.len() * 50 <= count, "{}", errors.join("\n"));
}
