//! Segment against segment: capsule with capsule.

use crate::proximity::features::FeaturePair;
use crate::proximity::rounding::{NEGLIGIBLE, PARALLEL, is_beyond};
use nalgebra::{Isometry3, Vector3};

/// Returns whether the normal of two lines is their cross product (`sin2`: its squared length)
/// rather than the difference of their closest points (`d2`: its squared length, for features of
/// size `scale`). It is, unless the lines are nearly parallel and the difference is not the shorter
/// of the two.
pub(super) fn has_common_normal(sin2: f64, d2: f64, scale: f64) -> bool {
    sin2 > 1e-16 || (sin2 > PARALLEL * PARALLEL && d2 <= sin2 * scale * scale)
}

/// Returns the features of the segments `|z| <= ha` of A and `|z| <= hb` of B, or `None` beyond
/// `reach`.
///
/// The closest points are found by minimizing over one parameter at a time (Ericson, Real-Time
/// Collision Detection, 2005, 5.1.9). In A's frame the determinant is `u_x^2 + u_y^2`, so nothing
/// cancels for nearly parallel segments. For parallel segments the witness is the middle of their
/// common part. Two segments have no inside: where they cross, the normal is their common
/// perpendicular; where they lie on one line, it is A's x axis.
pub(in crate::proximity) fn capsule_capsule_features(
    ha: f64,
    hb: f64,
    x_ab: &Isometry3<f64>,
    reach: f64,
) -> Option<FeaturePair> {
    let c = &x_ab.translation.vector;
    let u = x_ab.rotation * Vector3::z();
    let sin2 = u.x * u.x + u.y * u.y;
    let (s, t) = if sin2 > PARALLEL * PARALLEL {
        let t = (-(u.x * c.x + u.y * c.y) / sin2).clamp(-hb, hb);
        let s = c.z + u.z * t;
        if s.abs() <= ha {
            (s, t)
        } else {
            let s = s.clamp(-ha, ha);
            let t = u.z * s - u.dot(c);
            (s, t.clamp(-hb, hb))
        }
    } else {
        let (low, high) = ((c.z - hb).max(-ha), (c.z + hb).min(ha));
        let s = if low <= high {
            0.5 * (low + high)
        } else {
            ha.copysign(c.z)
        };
        (s, (u.z * (s - c.z)).clamp(-hb, hb))
    };
    let q = c + u * t - Vector3::new(0.0, 0.0, s);
    let d2 = q.norm_squared();
    if is_beyond(d2, reach) {
        return None;
    }
    let p_a = Vector3::new(0.0, 0.0, s);
    let p_b = Vector3::new(0.0, 0.0, t);
    let cross = Vector3::new(-u.y, u.x, 0.0); // z x u
    let scale = ha + hb + c.amax();
    let (mut inside_a, mut inside_b) = (s.abs() < ha, t.abs() < hb);
    // An end that is also the foot of the other point, up to rounding, counts as inside; otherwise
    // the normal of a short difference would not be perpendicular. This does not apply where two
    // lines would then have a common normal in another direction than the difference.
    let rounding = PARALLEL * scale;
    let foot_a = inside_a || q.z.abs() <= rounding;
    let foot_b = inside_b || q.dot(&u).abs() <= rounding;
    let line_line = has_common_normal(sin2, d2, scale);
    let aligned = || (q - cross * (cross.dot(&q) / sin2)).norm() <= rounding;
    if !(foot_a && foot_b && line_line) || aligned() {
        (inside_a, inside_b) = (foot_a, foot_b);
    }
    if inside_a && inside_b && line_line {
        return Some(FeaturePair::LineLine {
            p_a,
            dir_a: Vector3::z(),
            half_a: ha,
            p_b,
            dir_b: Vector3::z(),
            half_b: hb,
            sign: if cross.dot(&q) < 0.0 { -1.0 } else { 1.0 },
        });
    }
    let tolerance = NEGLIGIBLE * scale;
    let fixed_a = (d2 <= tolerance * tolerance).then(|| {
        if sin2 > PARALLEL * PARALLEL {
            cross / sin2.sqrt()
        } else {
            Vector3::x()
        }
    });
    Some(match (inside_a, inside_b) {
        (true, false) => FeaturePair::LinePoint {
            p_a,
            dir_a: Vector3::z(),
            p_b,
            fixed_a,
        },
        (_, true) => FeaturePair::PointLine {
            p_a,
            p_b,
            dir_b: Vector3::z(),
            fixed_a,
        },
        (false, false) => FeaturePair::PointPoint { p_a, p_b, fixed_a },
    })
}
