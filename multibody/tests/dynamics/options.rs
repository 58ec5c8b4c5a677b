//! Options of contact that Drake does not have, and bounds on creep.

use super::discrete::{ALL, BallWorld, G, material};
use nalgebra::{Isometry3, Matrix3, Vector3};
use tarragon_framework::math;
use tarragon_framework::prelude::*;
use tarragon_geometry::{BoxShape, HalfSpace, SceneGraph, Sphere};
use tarragon_multibody::*;

/// Largest absolute vertical speed of a ball in 2000 steps, and its height at the end.
fn rise(world: &BallWorld, z: f64) -> (f64, f64) {
    let (diagram, plant) = world.build(&[Vector3::new(0.0, 0.0, z)]);
    let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
    let mut fastest = 0.0_f64;
    for step in 1..=2000 {
        sim.advance_to(f64::from(step) * world.time_step).unwrap();
        let v = plant.velocities(sim.context()).unwrap();
        fastest = fastest.max(v[5].abs());
    }
    let q = plant.positions(sim.context()).unwrap();
    (fastest, q[6])
}

#[test]
fn deep_overlap_is_pushed_out_no_faster_than_the_recovery_speed() {
    for approximation in ALL {
        let mut world = BallWorld::new(1e-3, approximation);
        // Dissipation alone would stop forces at 10 m/s.
        world.dissipation = 0.1;
        let (fastest, _) = rise(&world, 0.05);
        assert!(
            fastest > 2.0,
            "{approximation:?}: {fastest} without a limit"
        );
        world.max_recovery_speed = Some(0.5);
        let (fastest, z) = rise(&world, 0.05);
        assert!(
            (0.3..=0.5).contains(&fastest),
            "{approximation:?}: {fastest}"
        );
        // The force at rest is the same: two stiffnesses of 1e5 N/m carry 1 kg.
        let depth = G / 5e4;
        assert!((z - (0.1 - depth)).abs() < 1e-6, "{approximation:?}: {z}");
    }
}

#[test]
fn violated_joint_limit_recovers_no_faster_than_asked() {
    for (limit, fastest_expected) in [(None, 100.0..1000.0), (Some(1.0), 0.9..1.0 + 1e-9)] {
        let mut plant = MultibodyPlantBuilder::new(1e-3).unwrap();
        if let Some(limit) = limit {
            plant.set_max_recovery_speed(limit).unwrap();
        }
        let i = Matrix3::identity();
        let inertia = SpatialInertia::from_central(1.0, Vector3::zeros(), i).unwrap();
        let door = plant
            .add_rigid_body("door", ModelInstanceIndex::DEFAULT, inertia)
            .unwrap();
        let joint = Joint::revolute("hinge", BodyIndex::WORLD, door, Vector3::z()).unwrap();
        let joint = joint
            .with_position_limits(vec![-1.0], vec![1.0])
            .and_then(|j| j.with_default_positions(vec![1.5]))
            .unwrap();
        plant.add_joint(joint).unwrap();
        let plant = plant.build().unwrap();
        let mut b = DiagramBuilder::new();
        let plant = b.add("plant", plant);
        let diagram = b.build().unwrap();
        let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
        let mut fastest = 0.0_f64;
        for step in 1..=700 {
            sim.advance_to(f64::from(step) * 1e-3).unwrap();
            let v = plant.velocities(sim.context()).unwrap();
            fastest = fastest.max(v[0].abs());
        }
        assert!(fastest_expected.contains(&fastest), "{limit:?}: {fastest}");
        if limit.is_some() {
            let q = plant.positions(sim.context()).unwrap();
            // It left the limit at 1 rad/s after half a second.
            assert!((q[0] - 0.8).abs() < 1e-2, "{q:?}");
        }
    }
}

#[test]
fn near_rigid_threshold_softens_contact_that_the_step_cannot_resolve() {
    for approximation in &ALL[..2] {
        let mut world = BallWorld::new(5e-3, *approximation);
        world.stiffness = 1e10;
        world.near_rigid_threshold = Some(1.0);
        let (_, z) = rise(&world, 0.1);
        // The rows of the Jacobian have inverse inertias of 3.5, 3.5 and 1 per kg; the period of
        // the contact is one step.
        let w = (2.0 * 3.5_f64.powi(2) + 1.0).sqrt() / 3.0;
        let k = (std::f64::consts::TAU / world.time_step).powi(2) / w;
        let depth = G / k;
        assert!(
            (0.1 - z - depth).abs() < 1e-3 * depth,
            "{approximation:?}: {} {depth}",
            0.1 - z
        );
    }
}

/// A box of 0.3 kg between two fingers that press with 20 N each.
fn gripper(
    approximation: DiscreteContactApproximation,
    tolerance: f64,
) -> (Diagram<f64>, Block<MultibodyPlant>) {
    let (mut plant, mut scene) = (MultibodyPlantBuilder::new(1e-3).unwrap(), SceneGraph::new());
    plant.set_contact_model(ContactModel::Point);
    plant.set_discrete_contact_approximation(approximation);
    plant.set_stiction_tolerance(tolerance).unwrap();
    plant
        .register_as_source_for_scene_graph(&mut scene)
        .unwrap();
    let inertia = |mass: f64| {
        let i = Matrix3::from_diagonal_element(mass * 1e-3);
        SpatialInertia::from_central(mass, Vector3::zeros(), i).unwrap()
    };
    let x = Isometry3::identity();
    let fingers = plant.add_model_instance("fingers").unwrap();
    for side in [1.0, -1.0] {
        let name = format!("finger{side}");
        let body = plant.add_rigid_body(&name, fingers, inertia(0.1)).unwrap();
        let plate = BoxShape::new(0.1, 0.02, 0.1).unwrap();
        let own = material(1.0, 10.0);
        plant
            .register_collision_geometry(&mut scene, body, x, plate, "plate", own)
            .unwrap();
        let axis = Vector3::y() * side;
        let joint = Joint::prismatic(&name, BodyIndex::WORLD, body, axis).unwrap();
        let joint = joint.with_default_positions(vec![0.0399]).unwrap();
        let joint = plant.add_joint(joint).unwrap();
        plant.add_joint_actuator(&name, joint, 100.0).unwrap();
    }
    let object = plant.add_model_instance("object").unwrap();
    let body = plant
        .add_rigid_body("object", object, inertia(0.3))
        .unwrap();
    for i in 0..8 {
        let side = |bit: usize| if i >> bit & 1 == 0 { -0.02 } else { 0.02 };
        let x_bg = Isometry3::translation(side(0), side(1), side(2));
        let pad = Sphere::new(0.01).unwrap();
        let (name, own) = (format!("pad{i}"), material(1.0, 10.0));
        plant
            .register_collision_geometry(&mut scene, body, x_bg, pad, &name, own)
            .unwrap();
    }
    let mut b = DiagramBuilder::new();
    let (plant, _) = add_multibody_plant_scene_graph(&mut b, plant, scene).unwrap();
    (b.build().unwrap(), plant)
}

/// Friction is regularized, so a held object creeps at the speed where regularized friction carries
/// its load: `s r / sqrt(1 - r^2)` for a load of r times the limit of friction and a smoothing
/// speed s, the larger one of the stiction tolerance and 1e-3 mu w n0.
#[test]
fn gripped_object_creeps_no_faster_than_the_bound() {
    for approximation in &ALL[..2] {
        for tolerance in [1e-4, 1e-6] {
            let (diagram, plant) = gripper(*approximation, tolerance);
            let mut context = diagram.default_context();
            let actuation = plant.actuation().unwrap();
            context.fix(actuation, vec![-20.0, -20.0]).unwrap();
            let mut sim = Simulator::new(&diagram, context).unwrap();
            let height = |sim: &Simulator<f64>| {
                let object = plant.body_by_name("object").unwrap();
                sim.context().eval(plant.body_poses).unwrap()[object.index()]
                    .translation
                    .z
            };
            sim.advance_to(0.5).unwrap();
            let start = height(&sim);
            sim.advance_to(20.5).unwrap();
            let crept = start - height(&sim);
            // Eight contacts of 5 N; w is about that of a mass of 0.1 kg, the lighter one.
            let r: f64 = 0.3 * G / 40.0;
            let smoothing = tolerance.max(1e-3 * 10.0 * 5.0 * 1e-3);
            let bound = 20.0 * smoothing * r / (1.0 - r * r).sqrt();
            assert!(
                (0.0..bound * 1.2).contains(&crept),
                "{approximation:?}: {crept} of {bound}"
            );
        }
    }
}

/// Boxes of 1 kg, one on the other, the lowest one on the ground.
fn tower(model: ContactModel, count: usize, tilt: f64) -> (Diagram<f64>, Block<MultibodyPlant>) {
    let (mut plant, mut scene) = (MultibodyPlantBuilder::new(1e-3).unwrap(), SceneGraph::new());
    plant.set_contact_model(model);
    plant
        .register_as_source_for_scene_graph(&mut scene)
        .unwrap();
    let (world, x) = (BodyIndex::WORLD, Isometry3::identity());
    let own = material(0.5, 10.0);
    plant
        .register_collision_geometry(&mut scene, world, x, HalfSpace, "ground", own)
        .unwrap();
    for i in 0..count {
        let instance = plant.add_model_instance(&format!("box{i}")).unwrap();
        let moments = Matrix3::from_diagonal_element(0.01 / 6.0);
        let inertia = SpatialInertia::from_central(1.0, Vector3::zeros(), moments).unwrap();
        let body = plant.add_rigid_body("box", instance, inertia).unwrap();
        let (cube, own) = (BoxShape::new(0.1, 0.1, 0.1).unwrap(), material(0.5, 10.0));
        plant
            .register_collision_geometry(&mut scene, body, x, cube, "cube", own)
            .unwrap();
        let turn = math::rpy(tilt, 0.0, 0.4 * i as f64);
        let z = 0.05 + 0.1 * i as f64;
        let x_wb = math::pose(turn, Vector3::new(0.0, 0.0, z));
        plant.set_default_free_body_pose(body, x_wb).unwrap();
    }
    let mut b = DiagramBuilder::new();
    let (plant, _) = add_multibody_plant_scene_graph(&mut b, plant, scene).unwrap();
    (b.build().unwrap(), plant)
}

#[test]
fn boxes_with_manifolds_rest_without_rocking() {
    let largest = |model, count, tilt| {
        let (diagram, plant) = tower(model, count, tilt);
        let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
        sim.advance_to(2.0).unwrap();
        let v = plant.velocities(sim.context()).unwrap();
        let contacts = sim.context().eval(plant.contact_results().unwrap());
        let contacts = contacts.unwrap().point_pairs().len();
        (v.iter().fold(0.0_f64, |m, v| m.max(v.abs())), contacts)
    };
    // One point under a cube moves from corner to corner.
    let (rocking, contacts) = largest(ContactModel::Point, 1, 0.01);
    assert!(contacts <= 1 && rocking > 1e-3, "{rocking}");
    for (count, tilt, expected) in [(1, 0.01, 4), (3, 0.0, 4 + 8 + 8)] {
        let (still, contacts) = largest(ContactModel::PointManifold, count, tilt);
        assert!(
            contacts == expected && still < 1e-7,
            "{count}: {still} {contacts}"
        );
    }
}

#[test]
fn tilted_box_with_a_manifold_falls_on_its_face() {
    let (diagram, plant) = tower(ContactModel::PointManifold, 1, 0.3);
    let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
    sim.advance_to(2.0).unwrap();
    let body = plant.body_by_name("box").unwrap();
    let x_wb = &sim.context().eval(plant.body_poses).unwrap()[body.index()];
    let up = x_wb.rotation * Vector3::z();
    assert!((up.z - 1.0).abs() < 1e-9, "{up}");
    // Four springs of 5e4 N/m carry it.
    let depth = 0.05 - x_wb.translation.z;
    assert!((depth - G / 2e5).abs() < 1e-7, "{depth}");
}
