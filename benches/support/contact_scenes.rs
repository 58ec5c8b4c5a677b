//! Scenes of `i_scenes.py`: the same bodies, masses, geometries and gains.

#![allow(clippy::unwrap_used, reason = "a bench fails by panicking")]

use nalgebra::{Isometry3, Matrix3, Vector3};
use tarragon::geometry::{
    BoxShape, Capsule, CollisionFilterDeclaration, CoulombFriction, Cylinder, Ellipsoid, HalfSpace,
    ProximityProperties, Sphere,
};
use tarragon::multibody::{
    BodyIndex, ContactModel, DiscreteContactApproximation, Joint, PdControllerGains, SpatialInertia,
};
use tarragon::prelude::*;

/// Time step (s).
pub(crate) const DT: f64 = 1e-3;
/// Angles at which the arm holds the box (rad).
pub(crate) const ARM_Q: [f64; 7] = [0.0, 0.5, 0.0, -1.2, 0.0, 0.7, 0.0];

fn material(friction: f64) -> ProximityProperties {
    ProximityProperties::new()
        .with_friction(CoulombFriction::new(friction, friction).unwrap())
        .with_point_stiffness(1e5)
        .and_then(|p| p.with_dissipation(10.0))
        .and_then(|p| p.with_relaxation_time(0.02))
        .unwrap()
}

/// A plant on the ground, and its scene.
fn ground(approximation: DiscreteContactApproximation) -> (MultibodyPlantBuilder, SceneGraph) {
    let (mut plant, mut scene) = (MultibodyPlantBuilder::new(DT).unwrap(), SceneGraph::new());
    plant.set_discrete_contact_approximation(approximation);
    plant.set_contact_model(ContactModel::Point);
    plant
        .register_as_source_for_scene_graph(&mut scene)
        .unwrap();
    let (world, x) = (BodyIndex::WORLD, Isometry3::identity());
    plant
        .register_collision_geometry(
            &mut scene,
            world,
            x,
            HalfSpace,
            "ground",
            material(0.5).with_rigid_hydroelastic(),
        )
        .unwrap();
    (plant, scene)
}

/// Boxes that rest on four spheres each, in stacks of some height.
pub(crate) fn boxes(
    approximation: DiscreteContactApproximation,
    n: usize,
    height: usize,
) -> (MultibodyPlantBuilder, SceneGraph) {
    let (mut plant, mut scene) = ground(approximation);
    let size = Vector3::new(0.2, 0.2, 0.06);
    let (pad, columns) = (0.01, ((n / height) as f64).sqrt().ceil() as usize);
    let i = Vector3::new(
        size.y * size.y + size.z * size.z,
        size.x * size.x + size.z * size.z,
        size.x * size.x + size.y * size.y,
    ) / 12.0;
    let m =
        SpatialInertia::from_central(1.0, Vector3::zeros(), Matrix3::from_diagonal(&i)).unwrap();
    for k in 0..n {
        let name = format!("box{k}");
        let model = plant.add_model_instance(&name).unwrap();
        let body = plant.add_rigid_body(&name, model, m).unwrap();
        for (j, (x, y)) in [(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)]
            .iter()
            .enumerate()
        {
            let x_bg = Isometry3::translation(
                x * (size.x / 2.0 - 2.0 * pad),
                y * (size.y / 2.0 - 2.0 * pad),
                -size.z / 2.0 + pad / 2.0,
            );
            let (shape, name) = (Sphere::new(pad).unwrap(), format!("pad{j}"));
            plant
                .register_collision_geometry(&mut scene, body, x_bg, shape, &name, material(0.5))
                .unwrap();
        }
        if height > 1 {
            let (shape, x) = (
                BoxShape::new(size.x, size.y, size.z).unwrap(),
                Isometry3::identity(),
            );
            plant
                .register_collision_geometry(&mut scene, body, x, shape, "box", material(0.5))
                .unwrap();
        }
        let bottom = 0.005 + size.z / 2.0;
        let (stack, level) = (k / height, k % height);
        let x_wb = Isometry3::translation(
            0.3 * (stack % columns) as f64,
            0.3 * (stack / columns) as f64,
            bottom + level as f64 * (size.z + 0.005),
        );
        plant.set_default_free_body_pose(body, x_wb).unwrap();
    }
    (plant, scene)
}

/// Spheres in a bin. Seeds differ in the offsets of the spheres at the start.
pub(crate) fn clutter(
    approximation: DiscreteContactApproximation,
    n: usize,
    seed: u32,
) -> (MultibodyPlantBuilder, SceneGraph) {
    heap(approximation, n, &[Sphere::new(0.05).unwrap().into()], seed)
}

/// The objects of `bin_20_objects` in `c_hydro.py`, soft, in the bin of [`clutter`].
pub(crate) fn soft_heap(model: ContactModel) -> (MultibodyPlantBuilder, SceneGraph) {
    let shapes: [Shape; 5] = [
        Sphere::new(0.05).unwrap().into(),
        BoxShape::new(0.09, 0.09, 0.09).unwrap().into(),
        Capsule::new(0.035, 0.06).unwrap().into(),
        Cylinder::new(0.045, 0.08).unwrap().into(),
        Ellipsoid::new(0.05, 0.04, 0.06).unwrap().into(),
    ];
    let (mut plant, scene) = heap(DiscreteContactApproximation::Lagged, 20, &shapes, 1);
    plant.set_contact_model(model);
    (plant, scene)
}

/// Objects that take turns in their shapes, in a bin. Those of spheres are the script's.
fn heap(
    approximation: DiscreteContactApproximation,
    n: usize,
    shapes: &[Shape],
    mut seed: u32,
) -> (MultibodyPlantBuilder, SceneGraph) {
    let (mut plant, mut scene) = ground(approximation);
    let k = if n <= 20 { 3 } else { 4 };
    let w = 0.11 * k as f64 / 2.0 + 0.05;
    for (i, (x, y)) in [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)]
        .iter()
        .enumerate()
    {
        let long = 2.0 * w + 0.4;
        let size = if *x == 0.0 {
            Vector3::new(long, 0.1, 1.0)
        } else {
            Vector3::new(0.1, long, 1.0)
        };
        let x_wg = Isometry3::translation(x * (w + 0.05), y * (w + 0.05), 0.5);
        let (shape, name) = (
            BoxShape::new(size.x, size.y, size.z).unwrap(),
            format!("wall{i}"),
        );
        plant
            .register_collision_geometry(
                &mut scene,
                BodyIndex::WORLD,
                x_wg,
                shape,
                &name,
                material(0.5).with_rigid_hydroelastic(),
            )
            .unwrap();
    }
    // The script's offsets are Python's random numbers; these have the same range.
    let mut offset = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        0.02 * (f64::from(seed >> 8) / f64::from(1 << 24)) - 0.01
    };
    let (mass, radius) = (0.2, 0.05);
    let i = Matrix3::from_diagonal_element(0.4 * mass * radius * radius);
    let m = SpatialInertia::from_central(mass, Vector3::zeros(), i).unwrap();
    for i in 0..n {
        let name = format!("ball{i}");
        let model = plant.add_model_instance(&name).unwrap();
        let body = plant.add_rigid_body(&name, model, m).unwrap();
        let (shape, x) = (shapes[i % shapes.len()].clone(), Isometry3::identity());
        let soft = material(0.5)
            .with_compliant_hydroelastic(1e6)
            .and_then(|p| p.with_resolution_hint(0.05))
            .unwrap();
        plant
            .register_collision_geometry(&mut scene, body, x, shape, "c", soft)
            .unwrap();
        let at = |i: usize| 0.11 * (i as f64 - (k as f64 - 1.0) / 2.0);
        let x_wb = Isometry3::translation(
            at(i % k) + offset(),
            at((i / k) % k) + offset(),
            0.055 + 0.11 * (i / (k * k)) as f64,
        );
        plant.set_default_free_body_pose(body, x_wb).unwrap();
    }
    (plant, scene)
}

fn box_inertia(mass: f64, size: &Vector3<f64>) -> SpatialInertia {
    let square = size.component_mul(size);
    let moments = Vector3::repeat(square.sum()) - square;
    let moments = Matrix3::from_diagonal(&(moments * mass / 12.0));
    SpatialInertia::from_central(mass, Vector3::zeros(), moments).unwrap()
}

/// An arm of seven joints whose two fingers hold a box by eight spheres.
pub(crate) fn arm(
    approximation: DiscreteContactApproximation,
) -> (MultibodyPlantBuilder, SceneGraph) {
    let (mut plant, mut scene) = ground(approximation);
    let model = plant.add_model_instance("arm").unwrap();
    let arm_link = {
        let moments = Matrix3::from_diagonal(&Vector3::new(0.02, 0.02, 0.01));
        SpatialInertia::from_central(2.0, Vector3::new(0.0, 0.0, 0.15), moments).unwrap()
    };
    let (mut previous, mut x_w) = (BodyIndex::WORLD, Isometry3::identity());
    let up = |z: f64| Isometry3::translation(0.0, 0.0, z);
    for (i, angle) in ARM_Q.into_iter().enumerate() {
        let body = plant
            .add_rigid_body(&format!("l{i}"), model, arm_link)
            .unwrap();
        let axis = [Vector3::z(), Vector3::y()][i % 2];
        let offset = if i == 0 { 0.0 } else { 0.3 };
        x_w *= up(offset) * math::rotation_exp(&(axis * angle));
        let joint = Joint::revolute(format!("j{i}"), previous, body, axis).unwrap();
        let joint = joint
            .with_pose_on_parent(up(offset))
            .with_position_limits(vec![-3.0], vec![3.0])
            .and_then(|j| j.with_default_positions(vec![angle]))
            .unwrap();
        let joint = plant.add_joint(joint).unwrap();
        let actuator = plant
            .add_joint_actuator(&format!("a{i}"), joint, 300.0)
            .unwrap();
        let gains = PdControllerGains {
            p: 1000.0,
            d: 100.0,
        };
        plant.set_controller_gains(actuator, gains).unwrap();
        previous = body;
    }
    let (object_size, pad) = (Vector3::new(0.06, 0.05, 0.06), 0.008);
    let grasp = 0.3 + 0.12;
    let mut plates = vec![];
    for side in [1.0, -1.0] {
        let finger = box_inertia(0.1, &Vector3::new(0.1, 0.02, 0.1));
        let body = plant
            .add_rigid_body(&format!("finger{side}"), model, finger)
            .unwrap();
        let axis = Vector3::y() * side;
        let joint = Joint::prismatic(format!("jf{side}"), previous, body, axis).unwrap();
        let gap = object_size.y / 2.0 + 0.004 + 0.01;
        let joint = joint
            .with_pose_on_parent(up(grasp))
            .with_position_limits(vec![0.0], vec![0.1])
            .and_then(|j| j.with_default_positions(vec![gap]))
            .unwrap();
        let joint = plant.add_joint(joint).unwrap();
        plant
            .add_joint_actuator(&format!("af{side}"), joint, 100.0)
            .unwrap();
        let (shape, x) = (
            BoxShape::new(0.1, 0.02, 0.1).unwrap(),
            Isometry3::identity(),
        );
        let plate =
            plant.register_collision_geometry(&mut scene, body, x, shape, "plate", material(1.0));
        plates.push(plate.unwrap());
    }
    let model = plant.add_model_instance("object").unwrap();
    let object = plant
        .add_rigid_body("object", model, box_inertia(0.3, &object_size))
        .unwrap();
    for i in 0..8 {
        let side = |bit: usize| if i >> bit & 1 == 0 { -0.5 } else { 0.5 };
        let inset = Vector3::new(2.0 * pad, pad / 2.0, 2.0 * pad);
        let p = object_size - inset * 2.0;
        let x = Isometry3::translation(side(0) * p.x, side(1) * p.y, side(2) * p.z);
        let shape = Sphere::new(pad).unwrap();
        let name = format!("pad{i}");
        plant
            .register_collision_geometry(&mut scene, object, x, shape, &name, material(1.0))
            .unwrap();
    }
    plant
        .set_default_free_body_pose(object, x_w * up(grasp))
        .unwrap();
    // The plates may touch each other in the script, too.
    let apart = CollisionFilterDeclaration::new().exclude_within(plates);
    scene.apply_collision_filter(&apart).unwrap();
    (plant, scene)
}
