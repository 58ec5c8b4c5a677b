//! Measurements, for `cargo test --release -- --ignored --nocapture`.

use super::meshes::{ALL_MODELS, ball, flat, gravity, model, soft};
use crate::deformable::assembly::Wanted;
use crate::deformable::free_motion::is_parallel;
use crate::deformable::passes::{LinearPass, StepConstants};
use crate::deformable::step::FemStep;
use crate::deformable::{DeformableBodyConfig, FemModel, FemStepStart, MaterialModel};
use std::time::Instant;

#[test]
#[ignore = "a measurement"]
fn time_of_a_free_step() {
    for (n, repeats) in [(3, 400), (6, 60), (9, 20), (20, 3)] {
        let mesh = ball(n, 0.1);
        for material in ALL_MODELS {
            let config = DeformableBodyConfig {
                stiffness_damping_coefficient: 0.01,
                ..soft(material)
            };
            let begin = Instant::now();
            let model = model(&mesh, &config);
            let setup = begin.elapsed();
            let mut q = flat(&mesh.0);
            let mut v = vec![0.0; q.len()];
            let forces = gravity(&model);
            let mut step = FemStep::default();
            let mut times = vec![];
            let mut iterations = 0;
            for _ in 0..repeats {
                let begin = Instant::now();
                let start = FemStepStart {
                    time_step: 5e-3,
                    positions: &q,
                    velocities: &v,
                    forces: &forces,
                    fixed: &[],
                    participants: &[],
                };
                step.advance(&model, &start).unwrap();
                times.push(begin.elapsed().as_secs_f64());
                q.copy_from_slice(step.positions());
                v.copy_from_slice(step.velocities());
                iterations = iterations.max(step.iterations());
            }
            let least = times.iter().copied().fold(f64::INFINITY, f64::min);
            println!(
                "{material:?} {} tets: {:.4} ms, {iterations} systems, model {:.1} ms",
                mesh.1.len(),
                1e3 * least,
                1e3 * setup.as_secs_f64(),
            );
            if material == MaterialModel::LinearCorotated {
                print_parts(&mut step, &model, repeats);
            }
        }
    }
}

fn least_ms(repeats: usize, mut f: impl FnMut()) -> f64 {
    let times = (0..repeats).map(|_| {
        let begin = Instant::now();
        f();
        1e3 * begin.elapsed().as_secs_f64()
    });
    times.fold(f64::INFINITY, f64::min)
}

/// Prints the time of the parts of a linear step.
fn print_parts(step: &mut FemStep, model: &FemModel, repeats: usize) {
    let motion = &mut step.motion;
    let pass = LinearPass {
        constants: StepConstants::new(model, 5e-3),
        positions: &motion.positions,
        velocities: &motion.start_velocities,
    };
    let (groups, pattern) = (&model.groups, &model.pattern);
    let parallel = is_parallel(model);
    let mut wanted = Wanted {
        matrix: true,
        forces: true,
    };
    let assembly = least_ms(repeats, || {
        motion
            .assembly
            .run(groups, pattern, &pass, wanted, parallel);
    });
    wanted.matrix = false;
    wanted.forces = false;
    let elements = least_ms(repeats, || {
        motion
            .assembly
            .run(groups, pattern, &pass, wanted, parallel);
    });
    let factor = least_ms(repeats, || {
        assert!(motion.cholesky.factor(&motion.assembly.blocks, parallel));
    });
    let solve = least_ms(repeats, || motion.cholesky.solve(&mut motion.direction));
    let fronts = &motion.cholesky.fronts;
    let flops = fronts.products() as f64 * 2.0 * 1728.0;
    println!(
        "    assembly {assembly:.4} ms (without sums {elements:.4}), factor {factor:.4} ms \
         ({:.1} Gflop/s), solve {solve:.4} ms; {} fronts, {} numbers",
        flops / factor * 1e-6,
        fronts.fronts.len(),
        fronts.factor_len(),
    );
}
