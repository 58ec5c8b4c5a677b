//! Benches of forward dynamics and of discrete steps with contact, the counterpart of
//! `i_dynamics.py`.

#![allow(clippy::unwrap_used, reason = "a bench fails by panicking")]
#![allow(missing_docs, reason = "criterion_group! makes undocumented functions")]

#[path = "support/contact_scenes.rs"]
mod contact_scenes;
mod support;

use contact_scenes::{ARM_Q, DT, arm, boxes, clutter};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use std::cell::LazyCell;
use std::hint::black_box;
use std::time::{Duration, Instant};
use tarragon::framework::autodiff::DIRECTIONS;
use tarragon::framework::{DiagramScalar, Scalar};
use tarragon::multibody::{
    ContactModel, DiscreteContactApproximation, PositionKinematics, SleepSettings,
    VelocityKinematics,
};
use tarragon::prelude::*;

/// The script's chain of `n` revolute joints in continuous time.
fn chain(n: usize) -> MultibodyPlant {
    support::chain(n, 0.0).build().unwrap()
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

/// Kinematics whose storage is kept, as in a context.
type Kinematics<T> = (PositionKinematics<T>, VelocityKinematics<T>);

fn kinematics<T: Scalar>(plant: &MultibodyPlant, q: &[T], v: &[T]) -> Kinematics<T> {
    let positions = plant.calc_position_kinematics(q).unwrap();
    let velocities = plant.calc_velocity_kinematics(&positions, v).unwrap();
    (positions, velocities)
}

/// New positions and velocities, then their time derivatives: what `CalcTimeDerivatives` does.
fn time_derivatives<T: Scalar>(
    plant: &MultibodyPlant,
    (positions, velocities): &mut Kinematics<T>,
    q: &[T],
    v: &[T],
) -> Vec<T> {
    plant.update_position_kinematics(positions, q).unwrap();
    plant
        .update_velocity_kinematics(velocities, positions, v)
        .unwrap();
    let forces = plant.calc_force_elements_contribution(positions, velocities);
    let vdot = plant.calc_forward_dynamics(positions, velocities, &forces.unwrap());
    let mut x = plant.map_velocity_to_qdot(positions, v).unwrap();
    x.extend(vdot.unwrap());
    x
}

/// Returns values that are the variables `start..` of a pass whose first variable is given.
fn lift(first: usize, start: usize, x: &[f64]) -> Vec<AutoDiff> {
    let lifted = x
        .iter()
        .enumerate()
        .map(|(i, x)| match (start + i).checked_sub(first) {
            Some(k) if k < DIRECTIONS => AutoDiff::variable(*x, k),
            _ => AutoDiff::constant(*x),
        });
    lifted.collect()
}

/// Every derivative of the script's, in passes of eight directions.
fn dual_derivatives(plant: &MultibodyPlant, kept: &mut Kinematics<AutoDiff>, q: &[f64], v: &[f64]) {
    for first in (0..q.len() + v.len()).step_by(DIRECTIONS) {
        let (q, v) = (lift(first, 0, q), lift(first, q.len(), v));
        black_box(time_derivatives(plant, kept, &q, &v));
    }
}

/// Every derivative of the script's, by the analytic ones.
fn analytic_derivatives(
    plant: &MultibodyPlant,
    (positions, velocities): &mut Kinematics<f64>,
    q: &[f64],
    v: &[f64],
) {
    plant.update_position_kinematics(positions, q).unwrap();
    plant
        .update_velocity_kinematics(velocities, positions, v)
        .unwrap();
    let forces = plant.zero_forces();
    let found = plant.calc_forward_dynamics_derivatives(positions, velocities, &forces);
    black_box(found.unwrap());
}

fn forward_dynamics(c: &mut Criterion) {
    let humanoid = support::reference("models/mujoco/test/engine/testdata/collision_driver");
    let humanoid = humanoid.map(|directory| {
        let mut plant = MultibodyPlantBuilder::new(0.0).unwrap();
        let mut parser = Parser::new(&mut plant);
        parser.add_models(directory.join("midphase.xml")).unwrap();
        let plant = plant.build().unwrap();
        ("humanoid27", plant)
    });
    let chains = [("chain7", chain(7)), ("chain30", chain(30))];
    for (name, plant) in chains.into_iter().chain(humanoid) {
        let states = states(&plant);
        let n = plant.num_velocities();
        let mut bench = |kind: &str, f: &mut dyn FnMut(&[f64], &[f64])| {
            let mut at = 0;
            c.bench_function(&format!("I.forward_dynamics.{name}.{kind}/{n}"), |b| {
                b.iter(|| {
                    at = (at + 1) % states.len();
                    f(&states[at].0, &states[at].1);
                });
            });
        };
        let (q0, v0) = &states[0];
        let mut kept = kinematics(&plant, q0, v0);
        bench("double", &mut |q, v| {
            black_box(time_derivatives(&plant, &mut kept, q, v));
        });
        bench("AD", &mut |q, v| {
            analytic_derivatives(&plant, &mut kept, q, v)
        });
        let constant = |x: &[f64]| lift(usize::MAX, 0, x);
        let mut kept = kinematics(&plant, &constant(q0), &constant(v0));
        bench("dual", &mut |q, v| {
            dual_derivatives(&plant, &mut kept, q, v)
        });
    }
}

/// A scene that is made and settled when a bench needs it.
type Settled = (Block<MultibodyPlant>, Diagram<f64>, Context<f64>);

fn settled((plant, scene): (MultibodyPlantBuilder, SceneGraph), settle: f64) -> Settled {
    let mut b = DiagramBuilder::new();
    let (plant, _) = add_multibody_plant_scene_graph(&mut b, plant, scene).unwrap();
    let diagram = b.build().unwrap();
    let mut context = diagram.default_context();
    fix_inputs(&plant, &diagram, &mut context);
    let mut sim = Simulator::new(&diagram, context).unwrap();
    sim.advance_to(settle).unwrap();
    let context = sim.context().clone();
    drop(sim);
    (plant, diagram, context)
}

/// Gives actuators the efforts and desired states of the script, if there are any.
fn fix_inputs<T: DiagramScalar>(
    plant: &Block<MultibodyPlant>,
    diagram: &Diagram<T>,
    context: &mut Context<T>,
) {
    let Ok(arm) = plant.model_instance_by_name("arm") else {
        return;
    };
    let ports = diagram.ports(plant).unwrap();
    let lift = |x: &[f64]| -> Vec<T> { x.iter().map(|x| T::from(*x)).collect() };
    let efforts = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -20.0, -20.0];
    let actuation = ports.actuation().unwrap();
    context.fix(actuation, lift(&efforts)).unwrap();
    let desired = [ARM_Q.as_slice(), &[0.0; 11]].concat();
    let port = ports.desired_state_in(arm).unwrap();
    context.fix(port, lift(&desired)).unwrap();
}

/// Most steps that the script measures of one scene: 60 runs of about 2 ms, of 20 steps at most.
const MOST_STEPS: u32 = 1200;

/// Measures one step after a scene has settled, as one call of `advance_to`: the mean over the next
/// `window` steps, which the script measures, too, again and again. Later steps need fewer
/// iterations, because velocities still decay.
fn bench_step(
    c: &mut Criterion,
    name: &str,
    scene: impl Fn() -> (MultibodyPlantBuilder, SceneGraph),
    (settle, window): (f64, u32),
) {
    let made = LazyCell::new(|| settled(scene(), settle));
    let mut sim = None;
    let mut done = 0;
    c.bench_function(name, |bencher| {
        let (plant, diagram, start) = &*made;
        bencher.iter_custom(|iterations| {
            let mut time = Duration::ZERO;
            let mut left = iterations;
            while left > 0 {
                if done == window {
                    (sim, done) = (None, 0);
                }
                let sim =
                    sim.get_or_insert_with(|| Simulator::new(diagram, start.clone()).unwrap());
                let count = left.min(u64::from(window - done));
                let start = Instant::now();
                for _ in 0..count {
                    done += 1;
                    sim.advance_to(settle + f64::from(done) * DT).unwrap();
                }
                time += start.elapsed();
                left -= count;
            }
            time
        });
        if let Some(sim) = &sim {
            let v = plant.velocities(sim.context()).unwrap();
            assert!(v.iter().all(|v| v.abs() < 100.0), "{name}: {v:?}");
        }
    });
}

/// Measures the accelerations of one step at rest, with derivatives in q and v: all of them in
/// passes of eight directions, as Drake has them, and one such pass (`pass`).
fn bench_step_with_derivatives(
    c: &mut Criterion,
    name: &str,
    n: usize,
    scene: impl Fn() -> (MultibodyPlantBuilder, SceneGraph),
) {
    let made = LazyCell::new(|| {
        let (mut plant, scene) = scene();
        plant.set_use_sampled_output_ports(false).unwrap();
        let (plant, diagram, start) = settled((plant, scene), 0.5);
        let q = plant.positions(&start).unwrap();
        let v = plant.velocities(&start).unwrap();
        let dual = diagram.to_scalar::<AutoDiff>().unwrap();
        let mut context = dual.default_context();
        fix_inputs(&plant, &dual, &mut context);
        (plant, dual, context, q, v)
    });
    for kind in ["AD", "pass"] {
        c.bench_function(&format!("I.step.{name}.{kind}/{n}"), |bencher| {
            let (plant, dual, context, q, v) = &*made;
            let mut context = context.clone();
            let ports = dual.ports(plant).unwrap();
            let acceleration = ports.generalized_acceleration().unwrap();
            let directions = if kind == "AD" { q.len() + v.len() } else { 1 };
            bencher.iter(|| {
                for first in (0..directions).step_by(DIRECTIONS) {
                    let (q, v) = (lift(first, 0, q), lift(first, q.len(), v));
                    ports.set_positions(&mut context, &q).unwrap();
                    ports.set_velocities(&mut context, &v).unwrap();
                    black_box(context.eval(acceleration).unwrap());
                }
            });
        });
    }
}

const APPROXIMATIONS: [(&str, DiscreteContactApproximation); 3] = [
    ("lagged", DiscreteContactApproximation::Lagged),
    ("similar", DiscreteContactApproximation::Similar),
    ("sap", DiscreteContactApproximation::Sap),
];

fn steps(c: &mut Criterion) {
    for (name, approximation) in APPROXIMATIONS {
        for (n, window) in [(1, MOST_STEPS), (10, 780), (100, 60)] {
            let scene = || boxes(approximation, n, 1);
            bench_step(
                c,
                &format!("I.step.boxes.{name}.double/{n}"),
                scene,
                (0.5, window),
            );
            if n <= 10 {
                bench_step_with_derivatives(c, &format!("boxes.{name}"), n, scene);
            }
        }
        let id = format!("I.step.stack.{name}.double/10");
        bench_step(c, &id, || boxes(approximation, 10, 10), (1.0, 600));
        let scene = || arm(approximation);
        let id = format!("I.step.arm_holds.{name}.double/1");
        bench_step(c, &id, scene, (0.5, MOST_STEPS));
        bench_step_with_derivatives(c, &format!("arm_holds.{name}"), 1, scene);
        for (n, window) in [(20, 360), (50, 60)] {
            let id = format!("I.step.clutter.{name}.double/{n}");
            bench_step(c, &id, || clutter(approximation, n, 1), (2.0, window));
        }
    }
}

/// Heaps of 50 spheres, the counterpart of `engines/drake/i_heaps.py`: the mean step from 2 s to
/// 2.25 s of simulated time over several heaps, because each rolls in its own way.
fn heaps(c: &mut Criterion) {
    const HEAPS: u32 = 16;
    const STEPS: u32 = 250;
    for (name, approximation) in APPROXIMATIONS {
        let mut group = c.benchmark_group(format!("I.step.heaps.{name}.double"));
        group.sample_size(10);
        group.throughput(Throughput::Elements(u64::from(HEAPS * STEPS)));
        let heap = |seed| settled(clutter(approximation, 50, seed), 2.0);
        let made = LazyCell::new(|| (1..=HEAPS).map(heap).collect::<Vec<Settled>>());
        group.bench_function("50", |bencher| {
            let start = || {
                let heaps = made.iter();
                let heaps = heaps.map(|(_, d, start)| Simulator::new(d, start.clone()).unwrap());
                heaps.collect::<Vec<_>>()
            };
            let step = |mut heaps: Vec<Simulator<f64>>| {
                for sim in &mut heaps {
                    for k in 1..=STEPS {
                        sim.advance_to(2.0 + f64::from(k) * DT).unwrap();
                    }
                }
                heaps
            };
            bencher.iter_batched(start, step, BatchSize::PerIteration);
        });
    }
}

/// A heap with and without contact surfaces.
fn soft_heap(c: &mut Criterion) {
    for (name, model) in [
        ("point", ContactModel::Point),
        ("hydroelastic", ContactModel::HydroelasticWithFallback),
    ] {
        let id = format!("I.step.soft_heap.{name}.double/20");
        bench_step(
            c,
            &id,
            || contact_scenes::soft_heap(model),
            (1.0, MOST_STEPS),
        );
    }
}

/// Boxes that sleep.
fn asleep(c: &mut Criterion) {
    let scene = || {
        let (mut plant, scene) = boxes(DiscreteContactApproximation::Lagged, 100, 1);
        let settings = Some(SleepSettings::default());
        plant.set_sleep_settings(settings).unwrap();
        (plant, scene)
    };
    bench_step(c, "I.step.asleep.double/100", scene, (1.0, MOST_STEPS));
}

/// A hundred stacks of ten boxes on one thread and on all of rayon's pool.
fn islands(c: &mut Criterion) {
    let made = LazyCell::new(|| {
        let scene = boxes(DiscreteContactApproximation::Lagged, 1000, 10);
        settled(scene, 0.1)
    });
    for (name, threads) in [("one_thread", 1), ("parallel", 0)] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let pool = pool.build().unwrap();
        c.bench_function(&format!("I.step.islands.{name}/1000"), |bencher| {
            let (_, diagram, start) = &*made;
            let mut sim = Simulator::new(diagram, start.clone()).unwrap();
            let mut steps = (0.1 / DT).round();
            // All steps in one call: a step that another thread hands over to the pool leaves it to
            // the operating system on which cores three threads run, often two on one.
            pool.install(|| {
                bencher.iter(|| {
                    steps += 1.0;
                    sim.advance_to(steps * DT).unwrap();
                });
            });
        });
    }
}

criterion_group!(
    benches,
    forward_dynamics,
    steps,
    heaps,
    soft_heap,
    asleep,
    islands
);
criterion_main!(benches);
