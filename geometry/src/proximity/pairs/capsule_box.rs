//! Segment against box: box with capsule, and the edges of one box against another box.

use super::capsule_capsule::has_common_normal;
use super::separating_axis::ZonotopePair;
use crate::proximity::features::FeaturePair;
use crate::proximity::rounding::{NEGLIGIBLE, PARALLEL, is_beyond};
use nalgebra::{Isometry3, Matrix3, Vector3};

/// Returns the features of the box with half edges `ha` (A) and the segment `|z| <= hb` of B, or
/// `None` beyond `reach`.
///
/// The shortest way out of the box for a segment that meets it is along a face normal or along a
/// common perpendicular of the segment and an edge, whichever is shorter.
pub(in crate::proximity) fn capsule_box_features(
    ha: &Vector3<f64>,
    hb: f64,
    x_ab: &Isometry3<f64>,
    reach: f64,
) -> Option<FeaturePair> {
    let c = &x_ab.translation.vector;
    let u = x_ab.rotation * Vector3::z();
    let near = closest(ha, c, &u, hb);
    let d2 = near.excess.norm_squared();
    if is_beyond(d2, reach) {
        return None;
    }
    let tolerance = NEGLIGIBLE * (ha.amax() + hb);
    if d2 > tolerance * tolerance {
        let (middle_b, dir_b) = (Vector3::zeros(), Vector3::z());
        return Some(near.features(ha, c, &u, &middle_b, &dir_b, hb));
    }
    let r_ab: Matrix3<f64> = x_ab.rotation.to_rotation_matrix().into_inner();
    let pair = ZonotopePair::box_and_segment(ha, c, &r_ab, hb);
    let axis = pair.best_axis(f64::INFINITY)?;
    Some(
        pair.touching_features(&axis)
            .unwrap_or_else(|| FeaturePair::PointPoint {
                p_a: near.on_box(c, &u),
                p_b: Vector3::new(0.0, 0.0, near.t),
                fixed_a: Some(axis.n),
            }),
    )
}

/// The point of a segment closest to a box.
#[derive(Clone, Copy, Debug)]
pub(super) struct SegmentPoint {
    /// Position on the segment, metres from its middle.
    pub(super) t: f64,
    /// True at an end of the segment.
    at_end: bool,
    /// Vector from the closest point of the box to that of the segment, in the frame of the box.
    pub(super) excess: Vector3<f64>,
}

/// One coordinate of a segment against the slab `|p| <= h`: its excess over the slab is a piecewise
/// linear function of the position `t`.
#[derive(Clone, Copy)]
struct SlabCrossing {
    /// Rate of change of the coordinate.
    u: f64,
    /// Positions at which it enters and leaves the slab.
    enter: f64,
    leave: f64,
    /// Excess of a coordinate that does not change.
    constant: f64,
}

impl SlabCrossing {
    fn new(h: f64, c: f64, u: f64) -> Self {
        let constant = c - c.clamp(-h, h);
        // So slow that the coordinate changes by less than rounding over any segment.
        if u.abs() < 1e-30 {
            let (enter, leave) = (f64::NEG_INFINITY, f64::INFINITY);
            return Self {
                u: 0.0,
                enter,
                leave,
                constant,
            };
        }
        let side = h.copysign(u);
        Self {
            u,
            enter: (-side - c) / u,
            leave: (side - c) / u,
            constant: 0.0,
        }
    }

    /// Returns the excess at `t`, which is exactly zero at the kinks, so that the slope is
    /// monotonic.
    fn excess(&self, t: f64) -> f64 {
        if t < self.enter {
            self.u * (t - self.enter)
        } else if t > self.leave {
            self.u * (t - self.leave)
        } else {
            self.constant
        }
    }
}

/// Returns the point of the segment `c + t u`, `|t| <= half`, closest to the box with half edges
/// `h`.
///
/// Half the squared distance is convex in `t`. Its slope `u . excess(t)` is piecewise linear with
/// kinks where the segment's line crosses the planes of the faces, so its zero is found exactly
/// between two of at most eight points. Where the slope vanishes on an interval (segment parallel
/// to a face or an edge), the middle of the interval is taken.
pub(super) fn closest(
    h: &Vector3<f64>,
    c: &Vector3<f64>,
    u: &Vector3<f64>,
    half: f64,
) -> SegmentPoint {
    let slabs: [SlabCrossing; 3] = std::array::from_fn(|i| SlabCrossing::new(h[i], c[i], u[i]));
    let excess_at = |t: f64| Vector3::from(slabs.map(|s| s.excess(t)));
    // The slope at t, set to zero where it is only rounding.
    let slope_at = |t: f64| {
        let e = excess_at(t);
        let slope = u.dot(&e);
        if slope.abs() <= PARALLEL * e.amax() {
            0.0
        } else {
            slope
        }
    };
    let at_end = |t: f64| SegmentPoint {
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
    for t in slabs.iter().flat_map(|s| [s.enter, s.leave]) {
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
    kinks[count] = half;
    // The zeros of the slope: an interval [low, high], usually a single point.
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
    SegmentPoint {
        t,
        at_end: t.abs() >= half,
        excess: excess_at(t),
    }
}

/// Returns the zero of the line through (t0, f0 < 0) and (t1, f1 >= 0).
fn zero_between(t0: f64, f0: f64, t1: f64, f1: f64) -> f64 {
    if f1 == 0.0 {
        return t1;
    }
    (t0 + (t1 - t0) * (f0 / (f0 - f1))).clamp(t0, t1)
}

impl SegmentPoint {
    /// Returns the closest point of the box, in its frame, for the segment `c + t u`.
    pub(super) fn on_box(&self, c: &Vector3<f64>, u: &Vector3<f64>) -> Vector3<f64> {
        c + u * self.t - self.excess
    }

    /// Returns the features of the box with half edges `h` (A) and the segment (B), which are
    /// separated. The segment extends by `half` to both sides of `middle_b` along the unit vector
    /// `dir_b`, both in B; `c` and `u` are the same point and direction in A.
    pub(super) fn features(
        &self,
        h: &Vector3<f64>,
        c: &Vector3<f64>,
        u: &Vector3<f64>,
        middle_b: &Vector3<f64>,
        dir_b: &Vector3<f64>,
        half: f64,
    ) -> FeaturePair {
        let p = c + u * self.t;
        let p_b = middle_b + dir_b * self.t;
        let p_a = self.on_box(c, u);
        let d2 = self.excess.norm_squared();
        let scale = h.amax() + half;
        let (mut outside, mut count) = (self.excess.map(|e| e != 0.0), 0);
        for o in &outside {
            count += usize::from(*o);
        }
        if !self.at_end && count < 3 && self.is_tilted(u, d2) {
            let k = self.kink(h, &p, &outside);
            let mut extended = outside;
            extended[k] = true;
            // The normal perpendicular to the segment and to the remaining feature of the box.
            let n = if count == 1 {
                let edge = extended.map(|o| if o { 0.0 } else { 1.0 });
                let n = edge.cross(u);
                n * 1.0_f64.copysign(n.dot(&self.excess))
            } else {
                self.excess - u * u.dot(&self.excess)
            };
            let near = (h[k] - p[k].abs()).abs() <= 10.0 * NEGLIGIBLE * scale;
            let outward = (0..3).all(|i| !extended[i] || n[i] * p[i] >= 0.0);
            // The kink may correct the direction of the difference only by less than its rounding.
            let aside = self.excess - n * (n.dot(&self.excess) / n.norm_squared());
            let aligned = aside.norm() <= PARALLEL * scale;
            if near && outward && aligned {
                (outside, count) = (extended, count + 1);
            }
        }
        match count {
            0 | 1 => {
                let axis = self.excess.iamax();
                FeaturePair::PlanePoint {
                    normal_a: Vector3::ith(axis, 1.0_f64.copysign(self.excess[axis])),
                    offset: h[axis],
                    p_b,
                }
            }
            2 => {
                let dir_a = outside.map(|o| if o { 0.0 } else { 1.0 });
                let cross = dir_a.cross(u);
                let sin2 = cross.norm_squared();
                // Where a kink was not resolved, the difference is not along the common normal.
                let aligned = || {
                    let aside = self.excess - cross * (cross.dot(&self.excess) / sin2);
                    aside.norm() <= NEGLIGIBLE * scale
                };
                if self.at_end || !has_common_normal(sin2, d2, scale) || !aligned() {
                    FeaturePair::LinePoint {
                        p_a,
                        dir_a,
                        p_b,
                        fixed_a: None,
                    }
                } else {
                    FeaturePair::LineLine {
                        p_a,
                        dir_a,
                        half_a: dir_a.dot(h),
                        p_b,
                        dir_b: *dir_b,
                        half_b: half,
                        sign: 1.0_f64.copysign(cross.dot(&self.excess)),
                    }
                }
            }
            _ if self.at_end => FeaturePair::PointPoint {
                p_a,
                p_b,
                fixed_a: None,
            },
            _ => FeaturePair::PointLine {
                p_a,
                p_b,
                dir_b: *dir_b,
                fixed_a: None,
            },
        }
    }

    /// Returns true if the slope inside the segment is not zero. It then becomes zero across a kink
    /// at this very point, and the face of the kink belongs to the features.
    fn is_tilted(&self, u: &Vector3<f64>, d2: f64) -> bool {
        u.dot(&self.excess).powi(2) > PARALLEL * PARALLEL * d2
    }

    /// Returns the axis of the face plane nearest to `p`, among the planes that `p` is not outside
    /// of.
    fn kink(&self, h: &Vector3<f64>, p: &Vector3<f64>, outside: &Vector3<bool>) -> usize {
        let gap = (h - p.abs()).zip_map(outside, |gap, o| if o { f64::MAX } else { gap });
        gap.imin()
    }
}
