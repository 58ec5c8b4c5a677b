//! Bodies at rest under loads.

use super::meshes::{block, flat, gravity, model};
use super::steps::largest;
use crate::step::FemStep;
use crate::{DeformableBodyConfig, FemStepStart, MaterialModel};

/// Half of length, width and height (m) of a beam.
const HALF: [f64; 3] = [0.2, 0.05, 0.05];

/// Time step (s) in which inertia is negligible. If the time of damping is half of it, the
/// trapezoidal rule ends at rest after two steps.
const LONG_STEP: f64 = 10.0;

/// Returns by how much (m) the free end of a beam with `n` cells across is lowered by its weight.
/// The other end is fixed.
fn deflection(n: usize, config: &DeformableBodyConfig) -> f64 {
    let mesh = block([4 * n, n, n], HALF);
    let model = model(&mesh, config);
    let forces = gravity(&model);
    let fixed: Vec<bool> = mesh.0.iter().map(|p| p.x < -0.999 * HALF[0]).collect();
    let (mut positions, mut velocities) = (flat(&mesh.0), vec![0.0; forces.len()]);
    let mut step = FemStep::default();
    for _ in 0..5 {
        let start = FemStepStart {
            time_step: LONG_STEP,
            positions: &positions,
            velocities: &velocities,
            forces: &forces,
            fixed: &fixed,
            participants: &[],
        };
        step.advance(&model, &start).unwrap();
        (positions, velocities) = (step.positions().to_vec(), step.velocities().to_vec());
    }
    // The next step would lower the end by less than a millionth of its deflection.
    assert!(largest(velocities) * LONG_STEP < 1e-8);
    let ends: Vec<usize> = (0..mesh.0.len())
        .filter(|v| mesh.0[*v].x > 0.999 * HALF[0])
        .collect();
    let lowered = ends.iter().map(|v| mesh.0[*v].z - positions[3 * v + 2]);
    lowered.sum::<f64>() / ends.len() as f64
}

/// Linear tetrahedra are too stiff, but the deflection of a cantilever converges to that of
/// Timoshenko's theory.
#[test]
fn a_cantilever_converges_to_beam_theory() {
    let config = DeformableBodyConfig {
        youngs_modulus: 1e6,
        poissons_ratio: 0.0,
        mass_density: 1e3,
        stiffness_damping_coefficient: 0.5 * LONG_STEP,
        material_model: MaterialModel::Linear,
        ..Default::default()
    };
    let [length, width, height] = HALF.map(|half| 2.0 * half);
    let area = width * height;
    let weight = 9.81 * config.mass_density * area;
    let inertia = width * height.powi(3) / 12.0;
    // The shear coefficient of a rectangle without transverse contraction is 5/6 (Cowper 1966).
    let shear = 5.0 / 6.0 * 0.5 * config.youngs_modulus * area;
    let bending = weight * length.powi(4) / (8.0 * config.youngs_modulus * inertia);
    let theory = bending + weight * length.powi(2) / (2.0 * shear);
    let found = [2, 4, 8].map(|n| deflection(n, &config));
    let missing = found.map(|found| 1.0 - found / theory);
    // The missing part falls with the square of cells if they are small; here by 2.5 and 3.4.
    assert!(missing[1] < missing[0] / 2.0 && missing[2] < missing[1] / 3.0);
    // So a limit that is taken from the square lacks 1 %.
    let limit = found[2] + (found[2] - found[1]) / 3.0;
    assert!((limit / theory - 1.0).abs() < 0.02, "{missing:?}");
}
