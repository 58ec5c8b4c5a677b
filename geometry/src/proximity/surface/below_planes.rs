//! The point of a convex body that is deepest below several planes.
//!
//! The depth of a point is the smallest of its depths below the planes, so finding the deepest
//! point is a matrix game: the body chooses a mean of its points, the other player a mean of the
//! planes. Both sides keep only the points and planes that have mattered so far (the "double
//! oracle" of H. B. McMahan, G. J. Gordon and A. Blum, "Planning in the presence of cost functions
//! controlled by an adversary", ICML 2003). The best answer of the body to a mean of planes is a
//! support point.

use nalgebra::Vector3;
use smallvec::SmallVec;

/// Maximum number of planes and of points that are kept.
const MOST: usize = 8;
/// Maximum number of support points that are added for the same planes.
const STEPS: usize = 24;

/// A plane with its unit normal, and its offset from the origin along that normal (m).
#[derive(Clone, Copy, Debug)]
pub(super) struct LimitingPlane {
    pub(super) n: Vector3<f64>,
    pub(super) base: f64,
}

/// The deepest point of a body below the planes that were added.
pub(super) struct BelowPlanes {
    planes: SmallVec<[LimitingPlane; MOST]>,
    points: SmallVec<[Vector3<f64>; MOST]>,
    /// The deepest point so far, and its depth (m).
    pub(super) p: Vector3<f64>,
    pub(super) depth: f64,
    /// Mean normal of the planes that limit the depth: the body is lowest along it there.
    pub(super) mean: Vector3<f64>,
}

impl BelowPlanes {
    /// Starts from a point of the body.
    pub(super) fn new(p: Vector3<f64>) -> Self {
        Self {
            planes: SmallVec::new(),
            points: SmallVec::from_iter([p]),
            p,
            depth: f64::INFINITY,
            mean: Vector3::zeros(),
        }
    }

    /// Adds a plane and moves the point, to within `tolerance` (m) of the deepest. `lowest` returns
    /// the point of the body that is lowest along a vector.
    pub(super) fn add(
        &mut self,
        plane: LimitingPlane,
        tolerance: f64,
        lowest: impl Fn(&Vector3<f64>) -> Vector3<f64>,
    ) {
        self.planes.push(plane);
        for _ in 0..STEPS {
            let game = Game::new(&self.planes, &self.points);
            let solved = game.solve();
            let mean = |weights: &[f64], of: &[Vector3<f64>]| {
                let terms = weights.iter().zip(of);
                terms.fold(Vector3::zeros(), |sum: Vector3<f64>, (w, v)| sum + v * *w)
            };
            self.p = mean(&solved.points, &self.points);
            self.depth = solved.value;
            let normals: SmallVec<[_; MOST]> = self.planes.iter().map(|p| p.n).collect();
            self.mean = mean(&solved.planes, &normals);
            let answer = lowest(&self.mean);
            let bases = self.planes.iter().zip(&solved.planes);
            let bound = bases.map(|(p, w)| p.base * w).sum::<f64>() - self.mean.dot(&answer);
            // Planes and points without weight do not matter now.
            if self.planes.len() == MOST {
                retain(&mut self.planes, &solved.planes);
            }
            if bound - solved.value <= tolerance {
                return;
            }
            if self.points.len() == MOST {
                retain(&mut self.points, &solved.points);
            }
            self.points.push(answer);
        }
    }
}

/// Keeps the items that have a weight, at most all but one.
fn retain<T>(items: &mut SmallVec<[T; MOST]>, weights: &[f64]) {
    let mut index = 0;
    items.retain(|_| {
        index += 1;
        weights[index - 1] > 0.0
    });
    items.truncate(MOST - 1);
}

/// Matrix of the game: depths below planes (rows) of points (columns). The row player minimizes and
/// the column player maximizes.
struct Game {
    heights: [[f64; MOST]; MOST],
    rows: usize,
    columns: usize,
}

struct Solved {
    planes: [f64; MOST],
    points: [f64; MOST],
    value: f64,
}

impl Game {
    fn new(planes: &[LimitingPlane], points: &[Vector3<f64>]) -> Self {
        let mut heights = [[0.0; MOST]; MOST];
        for (row, plane) in heights.iter_mut().zip(planes) {
            for (height, p) in row.iter_mut().zip(points) {
                *height = plane.base - plane.n.dot(p);
            }
        }
        Self {
            heights,
            rows: planes.len(),
            columns: points.len(),
        }
    }

    /// Solves the linear program of the game with the simplex method. All heights are shifted to be
    /// positive; the weights y of the rows then maximise their sum, such that no column pays more
    /// than one.
    fn solve(&self) -> Solved {
        let (rows, columns) = (self.rows, self.columns);
        let all = || self.heights[..rows].iter().flat_map(|r| &r[..columns]);
        let (least, most) = all().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), h| {
            (a.min(*h), b.max(*h))
        });
        let scale = (most - least).max(f64::MIN_POSITIVE);
        // Constraints are columns of the game. `basis[j]` is the variable of constraint j: a row
        // of the game below `rows`, or else a slack.
        const WIDTH: usize = 2 * MOST + 1;
        let mut table = [[0.0; WIDTH]; MOST + 1];
        let mut basis = [0; MOST];
        for j in 0..columns {
            for (cell, row) in table[j].iter_mut().zip(&self.heights[..rows]) {
                *cell = 1.0 + (row[j] - least) / scale;
            }
            table[j][rows + j] = 1.0;
            table[j][WIDTH - 1] = 1.0;
            basis[j] = rows + j;
        }
        table[MOST][..rows].fill(-1.0);
        for _ in 0..8 * MOST {
            // Bland's rule: the first variable that improves, so that no cycle occurs.
            let Some(enters) = (0..rows + columns).find(|v| table[MOST][*v] < -1e-12) else {
                break;
            };
            let ratio = |j: &usize| table[*j][WIDTH - 1] / table[*j][enters];
            let leaving = (0..columns).filter(|j| table[*j][enters] > 1e-12);
            let leaving = leaving
                .min_by(|i, j| (ratio(i).total_cmp(&ratio(j))).then(basis[*i].cmp(&basis[*j])));
            let Some(leaves) = leaving else { break };
            let pivot = table[leaves][enters];
            table[leaves].iter_mut().for_each(|x| *x /= pivot);
            let row = table[leaves];
            for (j, other) in table.iter_mut().enumerate() {
                if j != leaves && other[enters] != 0.0 {
                    let factor = other[enters];
                    other
                        .iter_mut()
                        .zip(&row)
                        .for_each(|(x, r)| *x -= factor * r);
                }
            }
            basis[leaves] = enters;
        }
        let total = table[MOST][WIDTH - 1];
        let mut solved = Solved {
            planes: [0.0; MOST],
            points: [0.0; MOST],
            value: least + scale * (1.0 / total - 1.0),
        };
        for j in 0..columns {
            if basis[j] < rows {
                solved.planes[basis[j]] = table[j][WIDTH - 1].max(0.0) / total;
            }
            solved.points[j] = table[MOST][rows + j].max(0.0) / total;
        }
        solved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lowest_of_box(half: Vector3<f64>) -> impl Fn(&Vector3<f64>) -> Vector3<f64> {
        move |n| half.zip_map(n, |h, n| if n > 0.0 { -h } else { h })
    }

    #[test]
    fn deepest_point_of_a_face_is_below_the_apex_of_a_pyramid() {
        // Four planes through the apex (0.1, 0.2, -0.9) with the slope 3 : 4. The face z = -1 of
        // the box is 0.1 m below the apex, so its depth is 0.1 m times 4/5.
        let apex = Vector3::new(0.1, 0.2, -0.9);
        let mut search = BelowPlanes::new(Vector3::new(0.3, 0.4, -0.5));
        for [x, y] in [[0.6, 0.0], [-0.6, 0.0], [0.0, 0.6], [0.0, -0.6]] {
            let n = Vector3::new(x, y, 0.8);
            let plane = LimitingPlane {
                n,
                base: n.dot(&apex),
            };
            search.add(plane, 1e-12, lowest_of_box(Vector3::repeat(1.0)));
        }
        assert!((search.depth - 0.08).abs() < 1e-12, "{}", search.depth);
        let p = Vector3::new(0.1, 0.2, -1.0);
        assert!((search.p - p).norm() < 1e-12, "{}", search.p);
    }

    #[test]
    fn one_plane_has_a_support_point() {
        let mut search = BelowPlanes::new(Vector3::zeros());
        let n = Vector3::new(0.6, 0.0, 0.8);
        search.add(
            LimitingPlane { n, base: 0.0 },
            1e-12,
            lowest_of_box(Vector3::repeat(1.0)),
        );
        assert!((search.depth - 1.4).abs() < 1e-15);
    }
}
