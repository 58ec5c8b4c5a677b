//! Tetrahedra divided into eight: meshes of balls.
//!
//! A tetrahedron is divided by the middles of its edges: one part at each corner, and an octahedron
//! inside that its shortest diagonal divides into four (J. Bey, "Tetrahedral grid refinement",
//! Computing 55, 1995; S. Zhang, "Successive subdivisions of tetrahedra and multigrid methods on
//! tetrahedral meshes", Houston Journal of Mathematics 21, 1995). Vertices and tetrahedra have the
//! order of Drake 1.51, because configurations are lists in that order.

use crate::error::{Error, Result};
use crate::mesh::VolumeMesh;
use nalgebra::Vector3;
use std::collections::HashMap;
use std::f64::consts::FRAC_PI_2;

/// Maximum number of divisions: a quarter of a million tetrahedra.
const MOST_DIVISIONS: u32 = 5;

/// Edges of a tetrahedron, by the numbers of their ends, in the order in which their middles become
/// vertices.
const EDGES: [[usize; 2]; 6] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];

/// Parts at the corners, as indices of the four corners and then of the middles.
const CORNER_PARTS: [[usize; 4]; 4] = [[0, 4, 5, 6], [1, 7, 4, 8], [5, 7, 2, 9], [9, 6, 8, 3]];

/// Parts of the octahedron for each diagonal, which joins the middles of two opposite edges.
const DIAGONALS: [([usize; 2], [[usize; 4]; 4]); 3] = [
    (
        [5, 8],
        [[5, 8, 4, 7], [5, 8, 7, 9], [5, 8, 9, 6], [5, 4, 8, 6]],
    ),
    (
        [6, 7],
        [[6, 7, 8, 4], [6, 5, 7, 4], [6, 8, 7, 9], [6, 7, 5, 9]],
    ),
    (
        [4, 9],
        [[4, 7, 9, 8], [4, 8, 9, 6], [4, 6, 9, 5], [4, 5, 9, 7]],
    ),
];

/// Relative difference of squared lengths that is rounding.
const SAME_LENGTH: f64 = 1e-9;

/// Returns a ball of a radius (m) around the origin: an octahedron whose tetrahedra are divided
/// into eight, as often as its surface needs for edges no longer than the hint (m).
///
/// # Errors
/// Returns an error if the hint would give too many tetrahedra.
pub(super) fn ball(radius: f64, hint: f64) -> Result<VolumeMesh> {
    let half_chord = hint / (2.0 * radius);
    // The edges of a chain from corner to corner of the octahedron span equal angles.
    let parts = if half_chord < 1.0 {
        FRAC_PI_2 / (2.0 * half_chord.asin())
    } else {
        1.0
    };
    let divisions = parts.log2().ceil().max(0.0);
    if divisions > f64::from(MOST_DIVISIONS) {
        let tetrahedra = 8_u32.pow(MOST_DIVISIONS + 1);
        return Err(Error::invalid(format!(
            "the resolution hint of a sphere of radius {radius:?} m must give at most {tetrahedra} \
             tetrahedra, got {hint:?} m; choose a larger hint"
        )));
    }
    let mut ball = UnitBall::octahedron();
    for division in 0..divisions as u32 {
        ball = ball.divided(division == 0);
    }
    let vertices = ball.vertices.into_iter().map(|p| p * radius).collect();
    VolumeMesh::new(ball.tetrahedra, vertices)
}

/// A ball of radius 1 under construction.
struct UnitBall {
    vertices: Vec<Vector3<f64>>,
    /// Whether a vertex is on the sphere.
    is_outside: Vec<bool>,
    tetrahedra: Vec<[u32; 4]>,
}

impl UnitBall {
    fn octahedron() -> Self {
        let (x, y, z) = (Vector3::x(), Vector3::y(), Vector3::z());
        let upper = [1, 2, 3, 4].map(|v: u32| [v, 5, v % 4 + 1, 0]);
        let lower = [1, 2, 3, 4].map(|v: u32| [v % 4 + 1, 6, v, 0]);
        Self {
            vertices: vec![Vector3::zeros(), x, y, -x, -y, z, -z],
            is_outside: (0..7).map(|v| v > 0).collect(),
            tetrahedra: [upper, lower].concat(),
        }
    }

    /// Divides every tetrahedron; `is_first` is true for the octahedron.
    fn divided(self, is_first: bool) -> Self {
        let mut fine = Self {
            vertices: self.vertices,
            is_outside: self.is_outside,
            tetrahedra: Vec::with_capacity(8 * self.tetrahedra.len()),
        };
        let mut middles: HashMap<[u32; 2], u32> = HashMap::new();
        for corners in self.tetrahedra {
            let [a, b, c, d] = corners;
            let [ab, ac, ad, bc, bd, cd] = EDGES.map(|[i, j]| {
                let (i, j) = (corners[i], corners[j]);
                let ends = [i.min(j), i.max(j)];
                *middles.entry(ends).or_insert_with(|| fine.add_middle(ends))
            });
            let points = [a, b, c, d, ab, ac, ad, bc, bd, cd];
            let diagonal = fine.diagonal(&points, is_first);
            let parts = CORNER_PARTS.iter().chain(&DIAGONALS[diagonal].1);
            let parts = parts.map(|part| part.map(|k| points[k]));
            fine.tetrahedra.extend(parts);
        }
        fine
    }

    /// Returns the diagonal that divides the octahedron of a tetrahedron, given its corners and the
    /// middles of its edges. Of the shortest ones it is that from the middle of the longest edge;
    /// where several are left, one that makes most balls equal to Drake's.
    fn diagonal(&self, points: &[u32; 10], is_first: bool) -> usize {
        let square = |i: usize, j: usize| {
            let [p, q] = [points[i], points[j]].map(|v| self.vertices[v as usize]);
            (p - q).norm_squared()
        };
        let lengths = DIAGONALS.map(|([i, j], _)| square(i, j));
        let shortest = lengths.iter().copied().fold(f64::INFINITY, f64::min);
        let edge = |middle: usize| {
            let [i, j] = EDGES[middle - 4];
            square(i, j)
        };
        let edges = DIAGONALS.map(|([i, j], _)| edge(i).max(edge(j)));
        let is_short = |k: &usize| lengths[*k] < shortest * (1.0 + SAME_LENGTH);
        let short = (0..3).filter(is_short);
        let longest = short.clone().map(|k| edges[k]).fold(0.0, f64::max);
        let mut left = short.filter(|k| edges[*k] > longest * (1.0 - SAME_LENGTH));
        match (left.next(), left.next()) {
            (Some(only), None) => only,
            _ if is_first => 0,
            (Some(1), _) | (_, Some(1)) => 1,
            _ => 2,
        }
    }

    /// Adds the middle of an edge, which is on the sphere if both ends are.
    fn add_middle(&mut self, ends: [u32; 2]) -> u32 {
        let [p, q] = ends.map(|v| self.vertices[v as usize]);
        let is_outside = ends.iter().all(|v| self.is_outside[*v as usize]);
        let middle = (p + q) / 2.0;
        self.vertices.push(if is_outside {
            middle.normalize()
        } else {
            middle
        });
        self.is_outside.push(is_outside);
        self.vertices.len() as u32 - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_division_gives_eight_times_as_many_tetrahedra() {
        for (hint, vertices, elements) in [(1.0, 7, 8), (0.1, 25, 64), (0.06, 129, 512)] {
            let mesh = ball(0.1, hint).unwrap();
            assert_eq!(
                (mesh.num_vertices(), mesh.num_elements()),
                (vertices, elements)
            );
        }
        assert_eq!(ball(0.1, f64::INFINITY).unwrap().num_elements(), 8);
        let error = ball(0.1, 1e-4).unwrap_err().to_string();
        assert!(error.contains("choose a larger hint"), "{error}");
    }

    proptest! {
        #[test]
        fn balls_are_full_and_their_tetrahedra_positive(radius in 1e-3..1e3_f64, fine in 0.1..3.0_f64) {
            let mesh = ball(radius, radius * fine).unwrap();
            let volumes = (0..mesh.num_elements()).map(|e| mesh.calc_tetrahedron_volume(e));
            prop_assert!(volumes.clone().all(|v| v > 0.0));
            let sphere = 4.0 / 3.0 * std::f64::consts::PI * radius.powi(3);
            let volume: f64 = volumes.sum();
            prop_assert!(volume < sphere && volume > 0.3 * sphere);
            prop_assert!(mesh.vertices().iter().all(|p| p.norm() <= radius * (1.0 + 1e-12)));
        }
    }
}
