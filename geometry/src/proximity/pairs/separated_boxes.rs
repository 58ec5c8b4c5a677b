//! Closest features of clearly separated boxes, by Newton's method.
//!
//! The squared distance of a point `c + R y` of B to A is convex and piecewise quadratic in the
//! coordinates `y` of the point, which are bounded by the half edges of B. A projected Newton
//! method (D. Bertsekas, "Projected Newton methods for optimization problems with simple
//! constraints", SIAM Journal on Control and Optimization 20, 1982) finds its minimum in a few
//! steps. The optimality conditions prove the result. Where they barely hold (edges or faces
//! parallel to each other, a witness at the end of an edge), or the method does not converge, the
//! exhaustive search decides.

use crate::proximity::features::FeaturePair;
use nalgebra::{Matrix3, Vector3};

/// Maximum number of steps; two or three are usual.
const MOST_STEPS: usize = 12;
/// Conditions barely hold if their slack is below this fraction of the quantities compared.
const STRICT: f64 = 1e-9;
/// Squared sine of the angle below which edges count as nearly parallel here.
const NEARLY_PARALLEL: f64 = 1e-10;

/// Returns the features of the boxes with half edges `ha` (A) and `hb` (B, centre `c` and axes the
/// columns of `r` in A) if they are unique and found; `None` leaves the decision to the exhaustive
/// search.
pub(super) fn unique_features(
    ha: &Vector3<f64>,
    hb: &Vector3<f64>,
    c: &Vector3<f64>,
    r: &Matrix3<f64>,
) -> Option<FeaturePair> {
    let size = ha.sum() + hb.sum();
    let rounding = 1e-14 * (size + c.amax());
    let projected = |y: Vector3<f64>| y.zip_map(hb, |y, h| y.clamp(-h, h));
    // The point of B that is nearest to the centre of A.
    let mut y = projected(-r.tr_mul(c));
    for _ in 0..MOST_STEPS {
        let p = c + r * y;
        let excess = p.zip_map(ha, |p, h| p - p.clamp(-h, h));
        let slope = r.tr_mul(&excess);
        // Coordinates of y that no bound holds.
        let is_free = |j: usize| y[j].abs() < hb[j] || slope[j] * y[j] > 0.0;
        let free = [0, 1, 2].map(is_free);
        let distance = excess.norm();
        let settled = (0..3).all(|j| !free[j] || slope[j].abs() <= rounding);
        if settled {
            return ClosestPoint {
                ha,
                hb,
                r,
                y,
                p,
                excess,
                slope,
                free,
                distance,
            }
            .features(size);
        }
        let step = newton_step(r, &excess, &slope, free);
        // The projected gradient step projects alternately onto the two boxes and always descends.
        y = projected(y - step.unwrap_or(slope));
    }
    None
}

/// Solves for the step in the free coordinates on the current piece of the squared distance.
/// Returns `None` if that piece has no unique minimum.
fn newton_step(
    r: &Matrix3<f64>,
    excess: &Vector3<f64>,
    slope: &Vector3<f64>,
    free: [bool; 3],
) -> Option<Vector3<f64>> {
    let weight = excess.map(|e| if e == 0.0 { 0.0 } else { 1.0 });
    let curvature = |i: usize, j: usize| {
        weight.x * r[(0, i)] * r[(0, j)]
            + weight.y * r[(1, i)] * r[(1, j)]
            + weight.z * r[(2, i)] * r[(2, j)]
    };
    let mut step = Vector3::zeros();
    match free {
        [true, true, true] => return None,
        [true, true, false] | [true, false, true] | [false, true, true] => {
            let (i, j) = (usize::from(!free[0]), if free[2] { 2 } else { 1 });
            let (a, b, d) = (curvature(i, i), curvature(i, j), curvature(j, j));
            let determinant = a * d - b * b;
            if determinant < NEARLY_PARALLEL {
                return None;
            }
            step[i] = (d * slope[i] - b * slope[j]) / determinant;
            step[j] = (a * slope[j] - b * slope[i]) / determinant;
        }
        _ => {
            let i = free.iter().position(|f| *f)?;
            let a = curvature(i, i);
            if a < NEARLY_PARALLEL {
                return None;
            }
            step[i] = slope[i] / a;
        }
    }
    Some(step)
}

/// A point of B at which the squared distance to A is stationary.
struct ClosestPoint<'a> {
    ha: &'a Vector3<f64>,
    hb: &'a Vector3<f64>,
    r: &'a Matrix3<f64>,
    /// The point, in B and in A.
    y: Vector3<f64>,
    p: Vector3<f64>,
    /// Vector from the closest point of A to the point, in A.
    excess: Vector3<f64>,
    /// The same vector in B: the gradient of half the squared distance.
    slope: Vector3<f64>,
    free: [bool; 3],
    distance: f64,
}

impl ClosestPoint<'_> {
    /// Returns the features, unless an optimality condition barely holds.
    fn features(&self, size: f64) -> Option<FeaturePair> {
        let Self {
            ha,
            hb,
            r,
            y,
            p,
            excess,
            slope,
            free,
            distance,
        } = self;
        let (length, angle) = (STRICT * size, STRICT * distance);
        // Too near to tell directions from rounding.
        if *distance <= 1e3 * length {
            return None;
        }
        let beyond = [0, 1, 2].map(|i| excess[i] != 0.0);
        let is_strict = (0..3).all(|i| {
            let of_a = if beyond[i] {
                excess[i].abs() > angle
            } else {
                p[i].abs() < ha[i] - length
            };
            let of_b = if free[i] {
                y[i].abs() < hb[i] - length
            } else {
                slope[i].abs() > angle
            };
            of_a && of_b
        });
        if !is_strict {
            return None;
        }
        let (p_a, p_b) = (p - excess, *y);
        let count = |of: &[bool; 3]| of.iter().filter(|x| **x).count();
        let axis = |of: &[bool; 3], value: bool| of.iter().position(|x| *x == value).unwrap_or(0);
        let fixed_a = None;
        Some(match (count(&beyond), count(free)) {
            (1, 0) => {
                let i = axis(&beyond, true);
                let normal_a = Vector3::ith(i, excess[i].signum());
                let offset = ha[i];
                FeaturePair::PlanePoint {
                    normal_a,
                    offset,
                    p_b,
                }
            }
            (2, 0) => {
                let dir_a = Vector3::ith(axis(&beyond, false), 1.0);
                FeaturePair::LinePoint {
                    p_a,
                    dir_a,
                    p_b,
                    fixed_a,
                }
            }
            (2, 1) => {
                let (i, j) = (axis(&beyond, false), axis(free, true));
                let (dir_a, dir_b) = (Vector3::ith(i, 1.0), Vector3::ith(j, 1.0));
                let cross = dir_a.cross(&r.column(j));
                if cross.norm_squared() < NEARLY_PARALLEL {
                    return None;
                }
                FeaturePair::LineLine {
                    p_a,
                    dir_a,
                    half_a: ha[i],
                    p_b,
                    dir_b,
                    half_b: hb[j],
                    sign: cross.dot(excess).signum(),
                }
            }
            (3, 0) => FeaturePair::PointPoint { p_a, p_b, fixed_a },
            (3, 1) => {
                let dir_b = Vector3::ith(axis(free, true), 1.0);
                FeaturePair::PointLine {
                    p_a,
                    p_b,
                    dir_b,
                    fixed_a,
                }
            }
            (3, 2) => {
                let j = axis(free, false);
                let normal_b = Vector3::ith(j, y[j].signum());
                let offset = hb[j];
                FeaturePair::PointPlane {
                    p_a,
                    normal_b,
                    offset,
                }
            }
            // The two edges are parallel to each other.
            _ => return None,
        })
    }
}
