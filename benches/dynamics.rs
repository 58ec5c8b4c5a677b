//! Benches of forward dynamics and of discrete steps with contact, the counterpart of
//! `i_dynamics.py`.

#![allow(clippy::unwrap_used, reason = "a bench fails by panicking")]
#![allow(missing_docs, reason = "criterion_group! makes undocumented functions")]

mod support;

use criterion::{Criterion, criterion_group, criterion_main};
use nalgebra::{Isometry3, Matrix3, Vector3};
use std::cell::LazyCell;
use std::hint::black_box;
use tarragon::framework::Scalar;
use tarragon::framework::autodiff::DIRECTIONS;
use tarragon::geometry::{BoxShape, CoulombFriction, HalfSpace, ProximityProperties, Sphere};
use tarragon::multibody::{
    BodyIndex, ContactModel, DiscreteContactApproximation, MultibodyPlant, SpatialInertia,
    add_multibody_plant_scene_graph,
};
use tarragon::prelude::*;

/// Time step of the script (s).
const DT: f64 = 1e-3;

/// The script's chain of `n` revolute joints in continuous time.
fn chain(n: usize) -> MultibodyPlant {
    let mut plant = support::chain(n, 0.0);
    plant.finalize().unwrap();
    plant
}

/// A few states, so that branches are not learnt by heart.
fn states(plant: &MultibodyPlant) -> Vec<(Vec<f64>, Vec<f64>)> {
    let wave = |i: usize, k: usize| ((i * 7 + k * 13) as f64).sin();
    let state = |k: usize| {
        let mut q = plant.default_positions();
        q.iter_mut()
            .enumerate()
            .for_each(|(i, q)| *q += 0.3 * wave(i, k));
        let v = (0..plant.num_velocities()).map(|i| 0.5 * wave(i, k + 4));
        (q, v.collect())
    };
    (0..4).map(state).collect()
}

/// New positions and velocities, then their time derivatives: what `CalcTimeDerivatives` does.
fn time_derivatives<T: Scalar>(plant: &MultibodyPlant, q: &[T], v: &[T]) -> Vec<T> {
    let positions = plant.calc_position_kinematics(q).unwrap();
    let velocities = plant.calc_velocity_kinematics(&positions, v).unwrap();
    let forces = plant.calc_force_elements_contribution(&positions, &velocities);
    let vdot = plant.calc_forward_dynamics(&positions, &velocities, &forces.unwrap());
    let mut x = plant.map_velocity_to_qdot(&positions, v).unwrap();
    x.extend(vdot.unwrap());
    x
}

fn forward_dynamics(c: &mut Criterion) {
    for n in [7, 30] {
        let plant = chain(n);
        let states = states(&plant);
        let mut at = 0;
        c.bench_function(&format!("I.forward_dynamics.chain{n}.double/{n}"), |b| {
            b.iter(|| {
                at = (at + 1) % states.len();
                let (q, v) = &states[at];
                black_box(time_derivatives(&plant, q, v));
            });
        });
        // Every derivative of the script's, in passes of eight directions.
        c.bench_function(&format!("I.forward_dynamics.chain{n}.AD/{n}"), |b| {
            b.iter(|| {
                at = (at + 1) % states.len();
                let (q, v) = &states[at];
                for first in (0..2 * n).step_by(DIRECTIONS) {
                    let lift = |start: usize, x: &[f64]| -> Vec<AutoDiff> {
                        let lifted = x.iter().enumerate().map(|(i, x)| {
                            match (start + i).checked_sub(first) {
                                Some(k) if k < DIRECTIONS => AutoDiff::variable(*x, k),
                                _ => AutoDiff::constant(*x),
                            }
                        });
                        lifted.collect()
                    };
                    black_box(time_derivatives(&plant, &lift(0, q), &lift(n, v)));
                }
            });
        });
    }
}

fn material() -> ProximityProperties {
    ProximityProperties::new()
        .with_friction(CoulombFriction::new(0.5, 0.5).unwrap())
        .with_point_stiffness(1e5)
        .and_then(|p| p.with_dissipation(10.0))
        .and_then(|p| p.with_relaxation_time(0.02))
        .unwrap()
}

/// A plant on the ground, and its scene.
fn ground(approximation: DiscreteContactApproximation) -> (MultibodyPlant, SceneGraph) {
    let (mut plant, mut scene) = (MultibodyPlant::new(DT).unwrap(), SceneGraph::new());
    plant
        .set_discrete_contact_approximation(approximation)
        .unwrap();
    plant.set_contact_model(ContactModel::Point).unwrap();
    plant
        .register_as_source_for_scene_graph(&mut scene)
        .unwrap();
    let (world, x) = (BodyIndex::WORLD, Isometry3::identity());
    plant
        .register_collision_geometry(&mut scene, world, x, HalfSpace, "ground", material())
        .unwrap();
    (plant, scene)
}

/// Boxes that rest on four spheres each, apart or as one stack.
fn boxes(
    approximation: DiscreteContactApproximation,
    n: usize,
    stack: bool,
) -> (MultibodyPlant, SceneGraph) {
    let (mut plant, mut scene) = ground(approximation);
    let size = Vector3::new(0.2, 0.2, 0.06);
    let (pad, columns) = (0.01, (n as f64).sqrt().ceil() as usize);
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
                .register_collision_geometry(&mut scene, body, x_bg, shape, &name, material())
                .unwrap();
        }
        if stack {
            let (shape, x) = (
                BoxShape::new(size.x, size.y, size.z).unwrap(),
                Isometry3::identity(),
            );
            plant
                .register_collision_geometry(&mut scene, body, x, shape, "box", material())
                .unwrap();
        }
        let bottom = 0.005 + size.z / 2.0;
        let x_wb = match stack {
            true => Isometry3::translation(0.0, 0.0, bottom + k as f64 * (size.z + 0.005)),
            false => {
                let (x, y) = (k % columns, k / columns);
                Isometry3::translation(0.3 * x as f64, 0.3 * y as f64, bottom)
            }
        };
        plant.set_default_free_body_pose(body, x_wb).unwrap();
    }
    (plant, scene)
}

/// Spheres in a bin.
fn clutter(approximation: DiscreteContactApproximation, n: usize) -> (MultibodyPlant, SceneGraph) {
    let (mut plant, mut scene) = ground(approximation);
    let k = if n <= 20 { 3 } else { 4 };
    let w = 0.11 * k as f64 / 2.0 + 0.05;
    for (i, (x, y)) in [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)]
        .iter()
        .enumerate()
    {
        let long = 2.0 * w + 0.4;
        let size = match *x == 0.0 {
            true => Vector3::new(long, 0.1, 1.0),
            false => Vector3::new(0.1, long, 1.0),
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
                material(),
            )
            .unwrap();
    }
    // The script's offsets are Python's random numbers; these have the same range.
    let mut seed = 1_u32;
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
        let (shape, x) = (Sphere::new(radius).unwrap(), Isometry3::identity());
        plant
            .register_collision_geometry(&mut scene, body, x, shape, "c", material())
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

/// Measures one step at rest, as one call of `advance_to`.
fn bench_step(
    c: &mut Criterion,
    name: &str,
    scene: impl Fn() -> (MultibodyPlant, SceneGraph),
    settle: f64,
) {
    // Made and settled only if the bench is not filtered out.
    let made = LazyCell::new(|| {
        let (plant, scene) = scene();
        let mut b = DiagramBuilder::new();
        let (plant, _) = add_multibody_plant_scene_graph(&mut b, plant, scene).unwrap();
        let diagram = b.build().unwrap();
        let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
        sim.advance_to(settle).unwrap();
        (plant, diagram, sim.context().clone())
    });
    c.bench_function(name, |bencher| {
        let (plant, diagram, settled) = &*made;
        let mut sim = Simulator::new(diagram, settled.clone()).unwrap();
        let mut steps = (settle / DT).round();
        bencher.iter(|| {
            steps += 1.0;
            sim.advance_to(steps * DT).unwrap();
        });
        let v = plant.system().velocities(plant, sim.context()).unwrap();
        assert!(v.iter().all(|v| v.abs() < 10.0), "{name}: {v:?}");
    });
}

fn steps(c: &mut Criterion) {
    for (name, approximation) in [
        ("lagged", DiscreteContactApproximation::Lagged),
        ("similar", DiscreteContactApproximation::Similar),
        ("sap", DiscreteContactApproximation::Sap),
    ] {
        for n in [1, 10, 100] {
            let id = format!("I.step.boxes.{name}.double/{n}");
            bench_step(c, &id, || boxes(approximation, n, false), 0.5);
        }
        let id = format!("I.step.stack.{name}.double/10");
        bench_step(c, &id, || boxes(approximation, 10, true), 1.0);
        for n in [20, 50] {
            let id = format!("I.step.clutter.{name}.double/{n}");
            bench_step(c, &id, || clutter(approximation, n), 2.0);
        }
    }
}

criterion_group!(benches, forward_dynamics, steps);
criterion_main!(benches);
