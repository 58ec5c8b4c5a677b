//! Benches of steps with deformable bodies, the counterpart of `c_deformable.py`.

#![allow(clippy::unwrap_used, reason = "a bench fails by panicking")]
#![allow(missing_docs, reason = "criterion_group! makes undocumented functions")]

#[path = "support/vtk_grid.rs"]
mod vtk_grid;

use criterion::{Criterion, criterion_group, criterion_main};
use nalgebra::{Isometry3, Vector3};
use std::cell::LazyCell;
use std::time::{Duration, Instant};
use tarragon::fem::{DeformableBodyConfig, MaterialModel};
use tarragon::geometry::{BoxShape, CoulombFriction, GeometryInstance, ProximityProperties};
use tarragon::multibody::{BodyIndex, DiscreteContactApproximation};
use tarragon::prelude::*;
use vtk_grid::vtk_grid;

/// Time step (s).
const DT: f64 = 5e-3;
const CONTACT: bool = true;

fn material() -> ProximityProperties {
    ProximityProperties::new()
        .with_friction(CoulombFriction::new(0.5, 0.5).unwrap())
        .with_point_stiffness(1e6)
        .and_then(|p| p.with_dissipation(0.0))
        .unwrap()
}

/// A grid mapped smoothly to a ball.
fn ball(n: usize) -> Shape {
    let part = |a: f64, b: f64, c: f64| {
        let (b, c) = (b * b, c * c);
        0.1 * a * (1.0 - b / 2.0 - c / 2.0 + b * c / 3.0).sqrt()
    };
    vtk_grid(n, |p| {
        Vector3::new(
            part(p.x, p.y, p.z),
            part(p.y, p.z, p.x),
            part(p.z, p.x, p.y),
        )
    })
}

/// Balls of `6 n^3` tetrahedra above each other, the first in the air or on the ground, after five
/// steps.
fn balls(
    n: usize,
    config: &DeformableBodyConfig,
    contact: bool,
    count: usize,
) -> (Diagram<f64>, Context<f64>) {
    let (mut plant, mut scene) = (MultibodyPlantBuilder::new(DT).unwrap(), SceneGraph::new());
    plant.set_discrete_contact_approximation(DiscreteContactApproximation::Sap);
    plant
        .register_as_source_for_scene_graph(&mut scene)
        .unwrap();
    if contact {
        let ground = material()
            .with_compliant_hydroelastic(1e7)
            .and_then(|p| p.with_resolution_hint(1.0))
            .unwrap();
        plant
            .register_collision_geometry(
                &mut scene,
                BodyIndex::WORLD,
                Isometry3::translation(0.0, 0.0, -0.1),
                BoxShape::new(4.0, 4.0, 0.2).unwrap(),
                "ground",
                ground,
            )
            .unwrap();
    }
    for i in 0..count {
        let height = if contact { 0.097 } else { 1.0 };
        let at = Isometry3::translation(0.0, 0.0, height + 0.195 * i as f64);
        let ball = GeometryInstance::new(at, ball(n), &format!("ball{i}")).unwrap();
        let ball = ball.with_proximity(material());
        plant
            .register_deformable_body(&mut scene, ball, config, 1.0)
            .unwrap();
    }
    let mut b = DiagramBuilder::new();
    add_multibody_plant_scene_graph(&mut b, plant, scene).unwrap();
    let diagram = b.build().unwrap();
    let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
    sim.advance_to(5.0 * DT).unwrap();
    let context = sim.context().clone();
    (diagram, context)
}

/// The script's soft material.
fn soft(material_model: MaterialModel) -> DeformableBodyConfig {
    DeformableBodyConfig {
        youngs_modulus: 1e5,
        poissons_ratio: 0.4,
        mass_density: 1e3,
        stiffness_damping_coefficient: 0.01,
        material_model,
        ..Default::default()
    }
}

/// A scene, the number of steps that the script measures, and the number of threads.
struct Case {
    n: usize,
    steps: u32,
    config: DeformableBodyConfig,
    contact: bool,
    count: usize,
    threads: usize,
}

/// Takes a simulation to the end of a step, and returns the time which that takes.
fn advance(sim: &mut Simulator<f64>, step: u32) -> Duration {
    let begin = Instant::now();
    sim.advance_to(f64::from(step) * DT).unwrap();
    begin.elapsed()
}

/// Measures one step, as one call of `advance_to`: the script's steps, again and again, as those of
/// a ball at rest take another time than those before.
fn bench_step(c: &mut Criterion, name: &str, case: &Case) {
    let Case { n, count, .. } = *case;
    let made = LazyCell::new(|| balls(n, &case.config, case.contact, count));
    let elements = 6 * n.pow(3) * count;
    let mut group = c.benchmark_group(format!("C2.step.{name}"));
    group.sample_size(10);
    group.bench_function(elements.to_string(), |bencher| {
        let (diagram, start) = &*made;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(case.threads);
        let pool = pool.build().unwrap();
        let mut steps = case.steps;
        let mut sim = Simulator::new(diagram, start.clone()).unwrap();
        bencher.iter_custom(|iterations| {
            let mut time = Duration::ZERO;
            let mut left = iterations;
            while left > 0 {
                if steps == case.steps {
                    steps = 0;
                    sim = Simulator::new(diagram, start.clone()).unwrap();
                }
                let count = left.min(u64::from(case.steps - steps));
                left -= count;
                let end = steps + count as u32;
                // The way to a thread of the pool takes 10 us.
                time += pool.install(|| {
                    let steps = steps..end;
                    steps
                        .map(|step| advance(&mut sim, step + 6))
                        .sum::<Duration>()
                });
                steps = end;
            }
            time
        });
    });
}

fn steps(c: &mut Criterion) {
    let models = [
        ("linear_corotated", MaterialModel::LinearCorotated, 9),
        ("linear", MaterialModel::Linear, 6),
        ("corotated", MaterialModel::Corotated, 6),
        ("neo_hookean", MaterialModel::NeoHookean, 6),
    ];
    for (name, model, most) in models {
        let middle = if most == 9 { 30 } else { 20 };
        let sizes = [(3, 60), (6, middle), (9, 12)];
        for (n, steps) in sizes.into_iter().filter(|(n, _)| *n <= most) {
            for (place, contact) in [("free", !CONTACT), ("ground", CONTACT)] {
                let case = Case {
                    n,
                    steps,
                    config: soft(model),
                    contact,
                    count: 1,
                    threads: 1,
                };
                bench_step(c, &format!("{place}.{name}"), &case);
            }
        }
    }
    // Nonlinear models as far as Drake solves them.
    for (name, model, _) in &models[2..] {
        for (n, steps) in [(3, 60), (6, 20)] {
            let case = Case {
                n,
                steps,
                config: DeformableBodyConfig {
                    relative_tolerance: 1e-2,
                    ..soft(*model)
                },
                contact: CONTACT,
                count: 1,
                threads: 1,
            };
            bench_step(c, &format!("ground.{name}.to_1e-2"), &case);
        }
    }
    for (n, steps) in [(3, 60), (6, 20)] {
        let case = Case {
            n,
            steps,
            config: soft(MaterialModel::LinearCorotated),
            contact: CONTACT,
            count: 2,
            threads: 1,
        };
        bench_step(c, "two_stacked.linear_corotated", &case);
    }
}

/// Large bodies on one thread and on two.
fn threads(c: &mut Criterion) {
    for n in [9, 21] {
        for threads in [1, 2] {
            let case = Case {
                n,
                steps: 12,
                config: soft(MaterialModel::LinearCorotated),
                contact: CONTACT,
                count: 1,
                threads,
            };
            bench_step(c, &format!("threads{threads}.linear_corotated"), &case);
        }
    }
}

criterion_group!(benches, steps, threads);
criterion_main!(benches);
