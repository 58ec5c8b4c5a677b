//! Meshes and random numbers of the tests.

use crate::{DeformableBodyConfig, FemModel, MaterialModel};
use nalgebra::Vector3;
use tarragon_framework::random::RandomGenerator;

/// A mesh: vertices and tetrahedra.
pub(super) type Tets = (Vec<Vector3<f64>>, Vec<[u32; 4]>);

pub(super) const ALL_MODELS: [MaterialModel; 4] = [
    MaterialModel::Linear,
    MaterialModel::LinearCorotated,
    MaterialModel::Corotated,
    MaterialModel::NeoHookean,
];

/// Paths from one corner of a cube to the opposite one, and whether they are right-handed.
const PATHS: [([usize; 3], bool); 6] = [
    ([0, 1, 2], true),
    ([0, 2, 1], false),
    ([1, 0, 2], false),
    ([1, 2, 0], true),
    ([2, 0, 1], true),
    ([2, 1, 0], false),
];

/// A grid of cubes, each divided into six tetrahedra, with its corners moved by `map` from the cube
/// from -1 to 1.
pub(super) fn kuhn_grid(n: [usize; 3], map: impl Fn([f64; 3]) -> Vector3<f64>) -> Tets {
    let index = |c: [usize; 3]| (c[0] * (n[1] + 1) + c[1]) * (n[2] + 1) + c[2];
    let (mut points, mut tets) = (vec![], vec![]);
    let corners = |last: usize| {
        let m = n.map(|n| n + last);
        (0..m[0] * m[1] * m[2]).map(move |k| [k / (m[1] * m[2]), k / m[2] % m[1], k % m[2]])
    };
    for c in corners(1) {
        let unit = std::array::from_fn(|i| 2.0 * c[i] as f64 / n[i] as f64 - 1.0);
        points.push(map(unit));
    }
    for corner in corners(0) {
        for (path, even) in PATHS {
            let mut c = corner;
            let mut tet = [index(c) as u32; 4];
            for (k, axis) in path.into_iter().enumerate() {
                c[axis] += 1;
                tet[k + 1] = index(c) as u32;
            }
            if !even {
                tet.swap(1, 2);
            }
            tets.push(tet);
        }
    }
    (points, tets)
}

/// A box with half sizes.
pub(super) fn block(n: [usize; 3], half: [f64; 3]) -> Tets {
    kuhn_grid(n, |c| Vector3::from_fn(|i, _| half[i] * c[i]))
}

/// A ball of `6 n^3` tetrahedra.
pub(super) fn ball(n: usize, radius: f64) -> Tets {
    kuhn_grid([n; 3], |[x, y, z]| {
        let part = |a: f64, b: f64, c: f64| {
            let (b, c) = (b * b, c * c);
            a * (1.0 - b / 2.0 - c / 2.0 + b * c / 3.0).sqrt()
        };
        Vector3::new(part(x, y, z), part(y, z, x), part(z, x, y)) * radius
    })
}

/// A soft material.
pub(super) fn soft(material_model: MaterialModel) -> DeformableBodyConfig {
    DeformableBodyConfig {
        youngs_modulus: 1e5,
        poissons_ratio: 0.4,
        mass_density: 1e3,
        material_model,
        ..Default::default()
    }
}

pub(super) fn model((points, tets): &Tets, config: &DeformableBodyConfig) -> FemModel {
    FemModel::new("body", points, tets, config).unwrap()
}

/// Flat coordinates.
pub(super) fn flat(points: &[Vector3<f64>]) -> Vec<f64> {
    points.iter().flat_map(|p| [p.x, p.y, p.z]).collect()
}

/// Numbers in -1..1.
pub(super) fn random(count: usize, seed: u64) -> Vec<f64> {
    let mut generator = RandomGenerator::new(seed);
    (0..count).map(|_| generator.uniform(-1.0, 1.0)).collect()
}

/// Gravity along -z at all vertices.
pub(super) fn gravity(model: &FemModel) -> Vec<f64> {
    let masses = model.vertex_masses().iter();
    masses.flat_map(|m| [0.0, 0.0, -9.81 * m]).collect()
}
