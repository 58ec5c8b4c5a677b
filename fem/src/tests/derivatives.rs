//! Derivatives of free steps against differences and against each other.

use super::meshes::{ALL_MODELS, ball, random, soft};
use crate::{
    DeformableBodyConfig, FemModel, ForceDensityField, ForceDensityVolume, FreeStep, FreeStepStart,
    MaterialModel, parameters_of,
};
use nalgebra::Vector3;
use std::array::from_fn;
use std::sync::Arc;
use tarragon_framework::AutoDiff;

const TIME_STEP: f64 = 5e-3;
/// Rounding of the end of a step (m, m/s).
const ROUNDING: f64 = 4e-15;

/// A force density that is a nonlinear function of the position.
#[derive(Debug)]
struct Whirl;

impl ForceDensityField for Whirl {
    fn evaluate_at(&self, p: &Vector3<f64>) -> Vector3<f64> {
        Vector3::new(-30.0 * p.y, 30.0 * p.x, (20.0 * p.x).sin()) * 1e3
    }
    fn volume(&self) -> ForceDensityVolume {
        ForceDensityVolume::Current
    }
}

/// A start, a material, and a direction in which they change: positions, velocities, and the
/// parameters relative to their size.
struct Case {
    points: Vec<Vector3<f64>>,
    tets: Vec<[u32; 4]>,
    config: DeformableBodyConfig,
    start: FreeStepStart,
    direction: [Vec<f64>; 2],
}

fn with_parameters(config: &DeformableBodyConfig, p: [f64; 5]) -> DeformableBodyConfig {
    DeformableBodyConfig {
        youngs_modulus: p[0],
        poissons_ratio: p[1],
        mass_density: p[2],
        mass_damping_coefficient: p[3],
        stiffness_damping_coefficient: p[4],
        ..*config
    }
}

impl Case {
    fn new(material_model: MaterialModel, damping: f64) -> Self {
        let (points, tets) = ball(2, 0.1);
        let n = 3 * points.len();
        let noise = random(4 * n, 7);
        let q = points.iter().flat_map(|p| p.iter().copied());
        let start = FreeStepStart {
            time_step: TIME_STEP,
            gravity: Vector3::new(0.5, 0.3, -9.81),
            positions: q.zip(&noise).map(|(q, s)| q + 3e-3 * s).collect(),
            velocities: noise[n..2 * n].iter().map(|v| 0.3 * v).collect(),
            fixed: points.iter().map(|p| p.z < -0.07).collect(),
            fields: vec![Arc::new(Whirl)],
        };
        assert!(start.fixed.contains(&true));
        let config = DeformableBodyConfig {
            mass_damping_coefficient: 10.0 * damping,
            stiffness_damping_coefficient: damping,
            reparametrize_neo_hookean: damping > 0.0,
            ..soft(material_model)
        };
        let velocities = noise[3 * n..].iter().map(|v| 10.0 * v).collect();
        let direction = [noise[2 * n..3 * n].to_vec(), velocities];
        Self {
            points,
            tets,
            config,
            start,
            direction,
        }
    }

    fn model(&self, config: &DeformableBodyConfig) -> FemModel {
        FemModel::new("test", &self.points, &self.tets, config).unwrap()
    }

    /// The end of the step from a start that is moved by `h` along the direction, with a parameter
    /// moved by `h` relative to its size.
    fn end_at(&self, h: f64, which: Which) -> [Vec<f64>; 2] {
        let mut start = self.start.clone();
        let mut config = self.config;
        match which {
            Which::State => {
                let [q, v] = &self.direction;
                start
                    .positions
                    .iter_mut()
                    .zip(q)
                    .for_each(|(x, d)| *x += h * d);
                start
                    .velocities
                    .iter_mut()
                    .zip(v)
                    .for_each(|(x, d)| *x += h * d);
            }
            Which::Parameter(k) => {
                let mut p = parameters_of(&config);
                p[k] *= 1.0 + h;
                config = with_parameters(&config, p);
            }
        }
        let step = FreeStep::new(&self.model(&config), start).unwrap();
        [step.positions().to_vec(), step.velocities().to_vec()]
    }

    /// The state and the parameters as one direction of dual numbers.
    fn lifted(&self, which: Which) -> ([Vec<AutoDiff>; 2], [AutoDiff; 5]) {
        let along = |x: f64, d: f64| AutoDiff::constant(x) + AutoDiff::variable(0.0, 3) * d;
        let state = [&self.start.positions, &self.start.velocities];
        let by = if which == Which::State { 1.0 } else { 0.0 };
        let state = from_fn(|k| {
            let all = state[k].iter().zip(&self.direction[k]);
            all.map(|(x, d)| along(*x, by * d)).collect()
        });
        let p = parameters_of(&self.config);
        let by = |k| {
            if which == Which::Parameter(k) {
                p[k]
            } else {
                0.0
            }
        };
        (state, from_fn(|k| along(p[k], by(k))))
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Which {
    State,
    Parameter(usize),
}

impl Which {
    /// Size of the differences: of a state in m and m/s, of a parameter relative to it.
    fn step(self) -> f64 {
        if self == Self::State { 1e-5 } else { 1e-4 }
    }
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn cases() -> impl Iterator<Item = Case> {
    let all = ALL_MODELS.into_iter();
    all.flat_map(|m| [0.0, 0.01].map(|damping| Case::new(m, damping)))
}

/// Central differences of the end of the step by the state, with the held vertices among it, and by
/// every parameter. The error of the differences is about the square of their size, and rounding
/// divided by it.
#[test]
fn derivatives_of_a_step_match_differences() {
    for case in cases() {
        let model = case.model(&case.config);
        let mut step = FreeStep::new(&model, case.start.clone()).unwrap();
        for which in [Which::State]
            .into_iter()
            .chain((0..5).map(Which::Parameter))
        {
            let ([q0, v0], p) = case.lifted(which);
            let ends = step.push_forward(&model, [&q0, &v0], p).unwrap();
            let h = which.step();
            let (above, below) = (case.end_at(h, which), case.end_at(-h, which));
            for (k, end) in ends.iter().enumerate() {
                let differences = above[k].iter().zip(&below[k]);
                let differences: Vec<f64> = differences.map(|(a, b)| (a - b) / (2.0 * h)).collect();
                let error = differences.iter().zip(end).map(|(d, x)| d - x.eps[3]);
                let error = norm(&error.collect::<Vec<_>>());
                let size = norm(&differences);
                let name = case.config.material_model;
                assert!(
                    error <= 1e-6 * size + ROUNDING / h,
                    "{name:?} {which:?} {k}: {error} of {size}"
                );
            }
        }
    }
}

/// A gradient pulled back gives along a direction what the direction pushed forward gives along the
/// gradient.
#[test]
fn gradients_of_a_step_are_transposed_derivatives() {
    for case in cases() {
        let model = case.model(&case.config);
        let mut step = FreeStep::new(&model, case.start.clone()).unwrap();
        let n = case.start.positions.len();
        let by_end = random(2 * n, 3);
        let by_end = [&by_end[..n], &by_end[n..]];
        let gradient = step.pull_back(&model, by_end).unwrap();
        for which in [Which::State]
            .into_iter()
            .chain((0..5).map(Which::Parameter))
        {
            let (state, p) = case.lifted(which);
            let ends = step
                .push_forward(&model, [&state[0], &state[1]], p)
                .unwrap();
            let along = |x: &[AutoDiff], y: &[f64]| -> f64 {
                x.iter().zip(y).map(|(x, y)| x.eps[3] * y).sum()
            };
            let forward = along(&ends[0], by_end[0]) + along(&ends[1], by_end[1]);
            let backward = along(&state[0], &gradient.positions)
                + along(&state[1], &gradient.velocities)
                + along(&p, &gradient.parameters);
            let error = (forward - backward).abs();
            // Of sums with a few hundred terms that cancel.
            let size = norm(by_end[0]).max(forward.abs());
            assert!(error <= 1e-9 * size, "{which:?}: {forward} and {backward}");
        }
    }
}
