//! The active features of a pair, and its distance, normal and witnesses.
//!
//! Kernels decide on plain values *which* features of two cores (point, segment, box, half space)
//! are closest or least deep. Value, normal and witnesses are then closed forms of the pose, which
//! are evaluated here, in `T`: derivatives are exact and no search is ever differentiated.

use super::core_distance::CoreDistance;
use crate::values::{lift, rotate, value_of};
use nalgebra::{Isometry3, Matrix3, Vector3};
use tarragon_framework::{Scalar, math};

/// The active features of the cores of A and B. Points, directions and normals are constants in the
/// frame of the body that they belong to (A: `*_a`, B: `*_b`); directions have unit length.
///
/// `fixed_a` is a unit vector from A to B, in A. It is given where the features touch, so that
/// their difference has no direction.
#[derive(Clone, Copy, Debug)]
pub(super) enum FeaturePair {
    /// A plane of A, outward normal, against a point of B.
    PlanePoint {
        normal_a: Vector3<f64>,
        offset: f64,
        p_b: Vector3<f64>,
    },
    /// A point of A against a plane of B, outward normal.
    PointPlane {
        p_a: Vector3<f64>,
        normal_b: Vector3<f64>,
        offset: f64,
    },
    /// Two points.
    PointPoint {
        p_a: Vector3<f64>,
        p_b: Vector3<f64>,
        fixed_a: Option<Vector3<f64>>,
    },
    /// A line of A through `p_a` against a point of B.
    LinePoint {
        p_a: Vector3<f64>,
        dir_a: Vector3<f64>,
        p_b: Vector3<f64>,
        fixed_a: Option<Vector3<f64>>,
    },
    /// A point of A against a line of B through `p_b`.
    PointLine {
        p_a: Vector3<f64>,
        p_b: Vector3<f64>,
        dir_b: Vector3<f64>,
        fixed_a: Option<Vector3<f64>>,
    },
    /// Two edges that are not parallel, each within `half` of its middle along its direction; the
    /// normal from A to B is `sign` times `dir_a x dir_b`.
    LineLine {
        p_a: Vector3<f64>,
        dir_a: Vector3<f64>,
        half_a: f64,
        p_b: Vector3<f64>,
        dir_b: Vector3<f64>,
        half_b: f64,
        sign: f64,
    },
}

impl FeaturePair {
    /// Returns the same features with A and B exchanged; `r_ba` rotates vectors of A into B.
    pub(super) fn swapped(self, r_ba: &Matrix3<f64>) -> Self {
        // From the new A to the new B, in the new A.
        let turned = |fixed_a: Option<Vector3<f64>>| fixed_a.map(|n| -(r_ba * n));
        match self {
            Self::PlanePoint {
                normal_a,
                offset,
                p_b,
            } => Self::PointPlane {
                p_a: p_b,
                normal_b: normal_a,
                offset,
            },
            Self::PointPlane {
                p_a,
                normal_b,
                offset,
            } => Self::PlanePoint {
                normal_a: normal_b,
                offset,
                p_b: p_a,
            },
            Self::PointPoint { p_a, p_b, fixed_a } => Self::PointPoint {
                p_a: p_b,
                p_b: p_a,
                fixed_a: turned(fixed_a),
            },
            Self::LinePoint {
                p_a,
                dir_a,
                p_b,
                fixed_a,
            } => Self::PointLine {
                p_a: p_b,
                p_b: p_a,
                dir_b: dir_a,
                fixed_a: turned(fixed_a),
            },
            Self::PointLine {
                p_a,
                p_b,
                dir_b,
                fixed_a,
            } => Self::LinePoint {
                p_a: p_b,
                dir_a: dir_b,
                p_b: p_a,
                fixed_a: turned(fixed_a),
            },
            // The normal and the cross product both change sign.
            Self::LineLine {
                p_a,
                dir_a,
                half_a,
                p_b,
                dir_b,
                half_b,
                sign,
            } => Self::LineLine {
                p_a: p_b,
                dir_a: dir_b,
                half_a: half_b,
                p_b: p_a,
                dir_b: dir_a,
                half_b: half_a,
                sign,
            },
        }
    }

    /// Returns the distance, normal and witnesses at the pose `x_ab` of B in A. Always inlined into
    /// the kernels' dispatch, which takes 6 % off a step of resting boxes.
    #[inline(always)]
    pub(super) fn evaluate<T: Scalar>(&self, x_ab: &Isometry3<T>) -> CoreDistance<T> {
        let point_of_b = |p: &Vector3<f64>| x_ab.translation.vector + rotate(x_ab, p);
        match self {
            Self::PlanePoint {
                normal_a,
                offset,
                p_b,
            } => {
                let (n, b) = (lift(normal_a), point_of_b(p_b));
                let distance = n.dot(&b) - T::from(*offset);
                CoreDistance {
                    distance,
                    n_ab: n,
                    p_a: b - n * distance,
                    p_b: b,
                }
            }
            Self::PointPlane {
                p_a,
                normal_b,
                offset,
            } => {
                let (n, a) = (rotate(x_ab, normal_b), lift(p_a));
                let distance = n.dot(&(a - x_ab.translation.vector)) - T::from(*offset);
                CoreDistance {
                    distance,
                    n_ab: -n,
                    p_a: a,
                    p_b: a - n * distance,
                }
            }
            Self::PointPoint { p_a, p_b, fixed_a } => {
                let (a, b) = (lift(p_a), point_of_b(p_b));
                let (distance, n_ab) = along(&(b - a), fixed_a);
                CoreDistance {
                    distance,
                    n_ab,
                    p_a: a,
                    p_b: b,
                }
            }
            Self::LinePoint {
                p_a,
                dir_a,
                p_b,
                fixed_a,
            } => {
                let (a, b, dir) = (lift(p_a), point_of_b(p_b), lift(dir_a));
                let (slide, distance, n_ab) = across(&(b - a), &dir, fixed_a);
                CoreDistance {
                    distance,
                    n_ab,
                    p_a: a + slide,
                    p_b: b,
                }
            }
            Self::PointLine {
                p_a,
                p_b,
                dir_b,
                fixed_a,
            } => {
                let (a, b, dir) = (lift(p_a), point_of_b(p_b), rotate(x_ab, dir_b));
                let (slide, distance, n_ab) = across(&(b - a), &dir, fixed_a);
                CoreDistance {
                    distance,
                    n_ab,
                    p_a: a,
                    p_b: b - slide,
                }
            }
            Self::LineLine {
                p_a,
                dir_a,
                half_a,
                p_b,
                dir_b,
                half_b,
                sign,
            } => {
                let along_a = within(*half_a, dir_a.dot(p_a));
                let along_b = within(*half_b, dir_b.dot(p_b));
                let (a, b) = (lift::<T>(p_a), point_of_b(p_b));
                let (dir_a, dir_b) = (lift(dir_a), rotate(x_ab, dir_b));
                let cross = dir_a.cross(&dir_b);
                let length = math::safe_norm(&cross);
                let m = cross / length;
                let n_ab = m * T::from(*sign);
                let q = b - a;
                let distance = n_ab.dot(&q);
                // q + t dir_b - s dir_a = distance n, by Cramer's rule for s. The base points are
                // already the witnesses up to rounding, but rounding moves them far along nearly
                // parallel lines. Both points are kept on their edges, and each is the foot of the
                // other.
                let s = along_a((q - n_ab * distance).cross(&dir_b).dot(&m) / length);
                let t = along_b(dir_b.dot(&(dir_a * s - q)));
                let s = along_a(dir_a.dot(&(q + dir_b * t)));
                let held = q + dir_b * T::from(t.re()) - dir_a * T::from(s.re());
                CoreDistance {
                    distance: held_along(&n_ab, &held),
                    n_ab,
                    p_a: a + dir_a * s,
                    p_b: b + dir_b * t,
                }
            }
        }
    }
}

/// Limits a step from the position `at` to within `half` of 0.
#[inline]
fn within<T: Scalar>(half: f64, at: f64) -> impl Fn(T) -> T {
    let (low, high) = ((-half - at).min(0.0), (half - at).max(0.0));
    move |step| {
        if step.re() < low {
            T::from(low)
        } else if step.re() > high {
            T::from(high)
        } else {
            step
        }
    }
}

/// Returns the length and direction of `q`. If `fixed` is given, the direction is that constant,
/// and the length is the component along it, whose gradient is one element of the generalised
/// gradient at zero distance.
#[inline]
fn along<T: Scalar>(q: &Vector3<T>, fixed: &Option<Vector3<f64>>) -> (T, Vector3<T>) {
    match fixed {
        Some(n) => {
            let n = lift(n);
            (n.dot(q), n)
        }
        None => {
            let (n, distance) = math::normalize_or(q, 0.0, &Vector3::x());
            (distance, n)
        }
    }
}

/// Splits `q` into its component along the unit vector `dir` and the length and direction of the
/// rest.
#[inline]
fn across<T: Scalar>(
    q: &Vector3<T>,
    dir: &Vector3<T>,
    fixed: &Option<Vector3<f64>>,
) -> (Vector3<T>, T, Vector3<T>) {
    let slide = dir.dot(q);
    let (_, mut n) = along(&(q - dir * slide), fixed);
    if fixed.is_none() {
        // Orthogonalized again: scaling has magnified the rounding of a short difference.
        n -= dir * dir.dot(&n);
        n /= n.norm_squared().sqrt();
    }
    let held = q - dir * T::from(slide.re());
    (dir * slide, held_along(&n, &held), n)
}

/// Returns the component of `q` along `n` with `n` held constant: a distance whose points are fixed
/// on their bodies. By the envelope theorem, its derivative is that of the distance, and it stays
/// accurate where the normal turns rapidly.
#[inline]
fn held_along<T: Scalar>(n: &Vector3<T>, q: &Vector3<T>) -> T {
    lift(&value_of(n)).dot(q)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Also where they touch, and only `fixed_a` tells the normal.
    #[test]
    fn exchanged_features_have_the_opposite_normal() {
        let x_ab = math::pose(math::rpy(0.3, -0.7, 1.1), Vector3::new(0.4, 0.1, -0.2));
        let p_b = Vector3::new(0.2, -0.3, 0.5);
        let p_a = x_ab.rotation * p_b + x_ab.translation.vector;
        let n = Vector3::new(0.6, 0.0, 0.8);
        let fixed_a = Some(n);
        let (dir_a, dir_b) = (Vector3::y(), x_ab.rotation.inverse() * Vector3::y());
        for features in [
            FeaturePair::PointPoint { p_a, p_b, fixed_a },
            FeaturePair::LinePoint {
                p_a,
                dir_a,
                p_b,
                fixed_a,
            },
            FeaturePair::PointLine {
                p_a,
                p_b,
                dir_b,
                fixed_a,
            },
        ] {
            let r_ba = x_ab.rotation.inverse().to_rotation_matrix().into_inner();
            let there = features.evaluate(&x_ab);
            let back = features.swapped(&r_ba).evaluate(&x_ab.inverse());
            assert!((there.n_ab - n).norm() < 1e-15, "{features:?}");
            assert!((back.n_ab + r_ba * n).norm() < 1e-15, "{features:?}");
            assert!(
                (back.distance - there.distance).abs() < 1e-15,
                "{features:?}"
            );
        }
    }
}
