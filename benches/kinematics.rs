//! Benches of kinematics and dynamics of chains of links, the counterpart of `d_autodiff.py`.

#![allow(clippy::unwrap_used, reason = "a bench fails by panicking")]
#![allow(missing_docs, reason = "criterion_group! makes undocumented functions")]

mod support;

use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use tarragon::framework::Scalar;
use tarragon::framework::autodiff::{DIRECTIONS, Dual};
use tarragon::multibody::{MultibodyPlant, PositionSource};
use tarragon::prelude::*;

const Q: [f64; 7] = [0.3, -0.4, 0.5, 0.2, -0.1, 0.6, -0.7];

/// The script's chain of `n` revolute joints, whose positions come from a port.
fn chain(n: usize) -> MultibodyPlant {
    let mut plant = support::chain(n, 0.001);
    plant.set_position_source(PositionSource::InputPort);
    plant.build().unwrap()
}

fn forward_kinematics(c: &mut Criterion) {
    let mut b = DiagramBuilder::new();
    let plant = b.add("plant", chain(7));
    let diagram = b.build().unwrap();
    let position = plant.position().unwrap();
    let mut ctx = diagram.default_context();
    ctx.fix(position, Q.to_vec()).unwrap();
    c.bench_function("D.plant.FK_EvalBodyPose.chain7.double/7", |bencher| {
        bencher.iter(|| {
            ctx.fixed_mut(position).unwrap()[0] = black_box(0.3);
            black_box(ctx.eval(plant.body_poses).unwrap());
        });
    });

    // The script carries 14 derivatives; ours carry eight, so one iteration takes two passes.
    let diagram = diagram.to_scalar::<AutoDiff>().unwrap();
    let ports = diagram.ports(&plant).unwrap();
    let position = ports.position().unwrap();
    let mut ctx = diagram.default_context();
    ctx.fix(position, Q.map(AutoDiff::from).to_vec()).unwrap();
    c.bench_function("D.plant.FK_EvalBodyPose.chain7.AD/7", |bencher| {
        bencher.iter(|| {
            for first in [0, DIRECTIONS] {
                let q = ctx.fixed_mut(position).unwrap();
                for (i, (q, value)) in q.iter_mut().zip(Q).enumerate() {
                    *q = match i.checked_sub(first) {
                        Some(direction) => AutoDiff::variable(black_box(value), direction),
                        None => AutoDiff::from(black_box(value)),
                    };
                }
                black_box(ctx.eval(ports.body_poses).unwrap());
            }
        });
    });
}

/// A dual number with as many derivatives as the script's: those of q and v.
type Wide = Dual<14>;

/// Computes all quantities from new positions, as in the script.
fn dynamics<T: Scalar>(c: &mut Criterion, n: usize, scalar: &str, lift: impl Fn(usize, f64) -> T) {
    let plant = chain(n);
    let value = |i: usize| 0.3 - 0.1 * (i % 7) as f64;
    let q: Vec<T> = (0..n).map(|i| lift(i, value(i))).collect();
    let v: Vec<T> = (0..n).map(|i| lift(n + i, -value(i))).collect();
    let mut positions = plant.calc_position_kinematics(&q).unwrap();
    let mut velocities = plant.calc_velocity_kinematics(&positions, &v).unwrap();
    let id = |what: &str| format!("D.plant.{what}.chain{n}.{scalar}/{n}");
    c.bench_function(&id("VelKin_EvalSpatialVelocity"), |bencher| {
        bencher.iter(|| {
            plant
                .update_position_kinematics(&mut positions, black_box(&q))
                .unwrap();
            plant
                .update_velocity_kinematics(&mut velocities, &positions, black_box(&v))
                .unwrap();
        });
    });
    c.bench_function(&id("CalcMassMatrix"), |bencher| {
        bencher.iter(|| {
            plant
                .update_position_kinematics(&mut positions, black_box(&q))
                .unwrap();
            black_box(plant.calc_mass_matrix(&positions).unwrap())
        });
    });
    c.bench_function(&id("CalcBiasTerm"), |bencher| {
        bencher.iter(|| {
            plant
                .update_position_kinematics(&mut positions, black_box(&q))
                .unwrap();
            plant
                .update_velocity_kinematics(&mut velocities, &positions, black_box(&v))
                .unwrap();
            black_box(plant.calc_bias_term(&positions, &velocities).unwrap())
        });
    });
}

fn plant_dynamics(c: &mut Criterion) {
    dynamics(c, 7, "double", |_, x| x);
    dynamics(c, 7, "AD", |i, x| Wide::variable(x, i));
    dynamics(c, 30, "double", |_, x| x);
}

criterion_group!(benches, forward_kinematics, plant_dynamics);
criterion_main!(benches);
