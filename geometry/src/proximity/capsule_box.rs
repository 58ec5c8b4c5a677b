//! Segment against box: box with capsule, and the edges of one box against another box.

use super::capsule_capsule::has_common_normal;
use super::features::Features;
use super::separating_axis::{self, Generators};
use super::{NEGLIGIBLE, PARALLEL, is_beyond};
use nalgebra::{Isometry3, Matrix3, Vector3};

/// Features of the box with half edges `ha` (A) and the segment `|z| <= hb` of B, or `None` beyond
/// `reach`.
///
/// A segment that meets the box leaves it along a face normal or along a common perpendicular of
/// the segment and an edge, whichever is shorter.
pub(super) fn features(
    ha: &Vector3<f64>,
    hb: f64,
    x_ab: &Isometry3<f64>,
    reach: f64,
) -> Option<Features> {
    let c = &x_ab.translation.vector;
    let u = x_ab.rotation * Vector3::z();
    let near = closest(ha, c, &u, hb);
    let d2 = near.excess.norm_squared();
    if is_beyond(d2, reach) {
        return None;
    }
    let tolerance = NEGLIGIBLE * (ha.amax() + hb);
    if d2 > tolerance * tolerance {
        return Some(near.features(ha, c, &u, &Vector3::zeros(), &Vector3::z()));
    }
    let r_ab: Matrix3<f64> = x_ab.rotation.to_rotation_matrix().into_inner();
    let pair = Generators::box_and_segment(ha, c, &r_ab, hb);
    Some(separating_axis::touching_features(
        &pair,
        &pair.best_axis(f64::INFINITY)?,
    ))
}

/// The point of a segment closest to a box.
#[derive(Clone, Copy, Debug)]
pub(super) struct Closest {
    /// Position on the segment, metres from its middle.
    t: f64,
    /// True at an end of the segment.
    at_end: bool,
    /// From the closest point of the box to that of the segment, in the frame of the box.
    pub(super) excess: Vector3<f64>,
}

/// The point of the segment `c + t u`, `|t| <= half`, closest to the box with half edges `h`.
///
/// Half of the squared distance is convex in `t` and its slope `u . excess(t)` is piecewise linear
/// with kinks where the segment's line crosses the planes of the faces, so its zero is found
/// exactly between two of at most eight points. Where the slope vanishes on an interval (segment
/// parallel to a face or an edge) the middle of the interval is taken.
pub(super) fn closest(h: &Vector3<f64>, c: &Vector3<f64>, u: &Vector3<f64>, half: f64) -> Closest {
    let excess_at = |t: f64| (c + u * t).zip_map(h, |p, h| p - p.clamp(-h, h));
    // The slope at t; zero where it is rounding only.
    let slope_at = |t: f64| {
        let e = excess_at(t);
        let slope = u.dot(&e);
        if slope.abs() <= PARALLEL * e.amax() {
            0.0
        } else {
            slope
        }
    };
    let at_end = |t: f64| Closest {
        t,
        at_end: true,
        excess: excess_at(t),
    };
    let (first, last) = (slope_at(-half), slope_at(half));
    if first > 0.0 {
        return at_end(-half);
    }
    if last < 0.0 {
        return at_end(half);
    }
    let mut kinks = [half; 7];
    let mut count = 0;
    for i in 0..3 {
        for side in [-h[i], h[i]] {
            let t = (side - c[i]) / u[i];
            // Not a number for a segment in the plane, which has no kink there.
            if t.abs() < half {
                let mut k = count;
                while k > 0 && kinks[k - 1] > t {
                    kinks[k] = kinks[k - 1];
                    k -= 1;
                }
                kinks[k] = t;
                count += 1;
            }
        }
    }
    kinks[count] = half;
    // The zeros of the slope: an interval [low, high], mostly a single point.
    let (mut low, mut high) = (None, half);
    let (mut t0, mut f0) = (-half, first);
    if first == 0.0 {
        low = Some(-half);
    }
    for &t1 in &kinks[..=count] {
        let f1 = slope_at(t1);
        if low.is_none() && f1 >= 0.0 {
            low = Some(zero_between(t0, f0, t1, f1));
        }
        if f1 > 0.0 {
            high = if f0 < 0.0 {
                zero_between(t0, f0, t1, f1)
            } else {
                t0
            };
            break;
        }
        (t0, f0) = (t1, f1);
    }
    let t = 0.5 * (low.unwrap_or(high) + high);
    Closest {
        t,
        at_end: t.abs() >= half,
        excess: excess_at(t),
    }
}

/// Where the line through (t0, f0 < 0) and (t1, f1 >= 0) is zero.
fn zero_between(t0: f64, f0: f64, t1: f64, f1: f64) -> f64 {
    (t0 + (t1 - t0) * (f0 / (f0 - f1))).clamp(t0, t1)
}

impl Closest {
    /// The features of the box (A) and the segment (B), which are separated. The segment runs
    /// through `middle_b` along the unit vector `dir_b`, both in B; `c` and `u` are the same in A.
    pub(super) fn features(
        &self,
        h: &Vector3<f64>,
        c: &Vector3<f64>,
        u: &Vector3<f64>,
        middle_b: &Vector3<f64>,
        dir_b: &Vector3<f64>,
    ) -> Features {
        let p_b = middle_b + dir_b * self.t;
        let p_a = c + u * self.t - self.excess;
        let mut outside = self.excess.map(|e| e != 0.0);
        let scale = h.amax() + self.t.abs();
        let d2 = self.excess.norm_squared();
        if !self.at_end && u.dot(&self.excess).powi(2) > PARALLEL * PARALLEL * d2 {
            // Inside the segment the slope is zero. If it is not, then it becomes so across a kink
            // at this very point, and the face of the kink belongs to the features.
            let gap = (h - p_a.abs()).zip_map(&outside, |gap, o| if o { f64::MAX } else { gap });
            let axis = gap.imin();
            outside[axis] |= gap[axis] <= 10.0 * NEGLIGIBLE * scale;
        }
        let unit = |on: bool| if on { 1.0 } else { 0.0 };
        match outside.iter().filter(|o| **o).count() {
            0 | 1 => {
                let axis = self.excess.iamax();
                Features::PlanePoint {
                    normal_a: Vector3::ith(axis, 1.0_f64.copysign(self.excess[axis])),
                    offset: h[axis],
                    p_b,
                }
            }
            2 => {
                let dir_a = outside.map(|o| unit(!o));
                let cross = dir_a.cross(u);
                if self.at_end || !has_common_normal(cross.norm_squared(), d2, scale) {
                    Features::LinePoint {
                        p_a,
                        dir_a,
                        p_b,
                        fixed_a: None,
                    }
                } else {
                    Features::LineLine {
                        p_a,
                        dir_a,
                        p_b,
                        dir_b: *dir_b,
                        sign: 1.0_f64.copysign(cross.dot(&self.excess)),
                    }
                }
            }
            _ if self.at_end => Features::PointPoint {
                p_a,
                p_b,
                fixed_a: None,
            },
            _ => Features::PointLine {
                p_a,
                p_b,
                dir_b: *dir_b,
                fixed_a: None,
            },
        }
    }
}
