//! Gaps between the convex hulls of two meshes.

use super::obb_tree::{ROUNDING, dot, single};
use nalgebra::{Matrix3, Vector3};
use wide::f32x4;

/// Number of directions in which a gap is sought.
const MOST_DIRECTIONS: usize = 4;

/// Fours of vertices in a cluster.
const CLUSTER: usize = 8;

/// Vertices of a mesh, of which the highest in a direction is sought.
pub(super) struct Corners {
    /// Coordinates, four vertices at a time.
    fours: Vec<[f32x4; 3]>,
    /// Centres and radii of balls around clusters of vertices, four at a time.
    balls: Vec<([f32x4; 3], f32x4)>,
}

impl Corners {
    /// Prepares vertices (m), of which successive ones are near to each other.
    pub(super) fn new(vertices: &[Vector3<f64>]) -> Self {
        let four = |points: &[Vector3<f64>]| {
            let lane = |i: usize, k: usize| points[k.min(points.len() - 1)][i] as f32;
            [0, 1, 2].map(|i| f32x4::new([0, 1, 2, 3].map(|k| lane(i, k))))
        };
        let ball = |points: &[Vector3<f64>]| {
            let center = points.iter().sum::<Vector3<f64>>() / points.len() as f64;
            let radius = points.iter().map(|p| (p - center).norm());
            (center, radius.fold(0.0, f64::max))
        };
        let balls: Vec<_> = vertices.chunks(4 * CLUSTER).map(ball).collect();
        let four_balls = |balls: &[(Vector3<f64>, f64)]| {
            let own = |k: usize| balls[k.min(balls.len() - 1)];
            let radii = [0, 1, 2, 3].map(|k| own(k).1 as f32);
            let centers: Vec<Vector3<f64>> = (0..4).map(|k| own(k).0).collect();
            (four(&centers), f32x4::new(radii))
        };
        Self {
            fours: vertices.chunks(4).map(four).collect(),
            balls: balls.chunks(4).map(four_balls).collect(),
        }
    }

    /// Returns how far (m) the vertices extend along a unit vector, and the farthest one.
    pub(super) fn support(&self, u: [f32; 3]) -> (f32, [f32; 3]) {
        let mut best = (f32::MIN, [0.0; 3]);
        if self.fours.len() <= 2 * CLUSTER {
            self.scan(0, self.fours.len(), u, &mut best);
            return best;
        }
        let bounds = || self.balls.iter().map(|(center, r)| dot(u, center) + *r);
        let mut highest = (f32::MIN, 0);
        for (i, bound) in bounds().enumerate() {
            for (k, bound) in bound.as_array().iter().enumerate() {
                if *bound > highest.0 {
                    highest = (*bound, 4 * i + k);
                }
            }
        }
        let clusters = self.fours.len().div_ceil(CLUSTER);
        let highest = highest.1.min(clusters - 1);
        let mut scan = |c: usize| {
            let end = self.fours.len().min((c + 1) * CLUSTER);
            self.scan(c * CLUSTER, end, u, &mut best);
            best.0
        };
        let mut top = scan(highest);
        for (i, bound) in bounds().enumerate() {
            let mut bits = bound.simd_gt(f32x4::splat(top)).to_bitmask();
            while bits != 0 {
                let c = 4 * i + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                if c < clusters && c != highest {
                    top = scan(c);
                }
            }
        }
        best
    }

    /// Finds the highest of some vertices.
    #[inline(always)]
    fn scan(&self, begin: usize, end: usize, u: [f32; 3], best: &mut (f32, [f32; 3])) {
        let mut highest = f32x4::splat(f32::MIN);
        let mut index = f32x4::splat(0.0);
        for (i, four) in self.fours[begin..end].iter().enumerate() {
            let heights = dot(u, four);
            let is_higher = heights.simd_gt(highest);
            index = is_higher.select(f32x4::splat(i as f32), index);
            highest = highest.fast_max(heights);
        }
        for (k, height) in highest.as_array().iter().enumerate() {
            if *height > best.0 {
                let four = &self.fours[begin + index.as_array()[k] as usize];
                *best = (*height, four.each_ref().map(|lanes| lanes.as_array()[k]));
            }
        }
    }
}

/// Two meshes S and R, with the pose of R in S.
pub(super) struct PosedCorners<'a> {
    pub(super) s: &'a Corners,
    pub(super) r: &'a Corners,
    pub(super) r_sr: &'a Matrix3<f64>,
    pub(super) p_sr: &'a Vector3<f64>,
    /// Largest coordinate (m).
    pub(super) reach: f64,
}

impl PosedCorners<'_> {
    /// Returns the height (m) of the highest point of S along a unit vector in S and of the lowest
    /// point of R, and both points.
    pub(super) fn range(&self, u: &Vector3<f64>) -> [(f64, Vector3<f64>); 2] {
        let point = |p: [f32; 3]| Vector3::from(p.map(f64::from));
        let (top, highest) = self.s.support(single(*u));
        let (height, lowest) = self.r.support(single(-self.r_sr.tr_mul(u)));
        let bottom = u.dot(self.p_sr) - f64::from(height);
        [
            (f64::from(top), point(highest)),
            (bottom, self.r_sr * point(lowest) + self.p_sr),
        ]
    }

    /// Returns true if a gap between the hulls was found: their difference, in which `between` is a
    /// point (m), does not contain the origin. The directions are those of the Frank-Wolfe
    /// algorithm, which seeks the point of the difference that is nearest to the origin.
    pub(super) fn are_apart(&self, mut between: Vector3<f64>) -> bool {
        let rounding = 2.0 * ROUNDING * self.reach;
        for _ in 0..MOST_DIRECTIONS {
            let Some(u) = between.try_normalize(rounding) else {
                return false;
            };
            let [(top, highest), (bottom, lowest)] = self.range(&u);
            if top + rounding <= bottom {
                return true;
            }
            let step = (lowest - highest) - between;
            let length = step.norm_squared();
            if length <= rounding * rounding {
                return false;
            }
            between += step * (-between.dot(&step) / length).clamp(0.0, 1.0);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tarragon_framework::math;

    proptest! {
        /// The highest vertex is found, and a gap only where a plane separates the vertices.
        #[test]
        fn gaps_are_real(
            points in prop::collection::vec(prop::array::uniform3(-1.0..1.0_f64), 1..300),
            count in 1..40_usize,
            x in prop::array::uniform6(-1.5..1.5_f64),
        ) {
            let s: Vec<Vector3<f64>> = points.into_iter().map(Vector3::from).collect();
            let r = &s[..count.min(s.len())];
            let turn = math::rotation_exp(&Vector3::new(x[0], x[1], x[2]));
            let (r_sr, p_sr) = (turn.to_rotation_matrix().into_inner(), Vector3::new(x[3], x[4], x[5]) * 2.0);
            let (in_s, in_r) = (Corners::new(&s), Corners::new(r));
            let reach = 5.0;
            let posed = PosedCorners { s: &in_s, r: &in_r, r_sr: &r_sr, p_sr: &p_sr, reach };
            let u = Vector3::new(x[5], x[0], x[3]).normalize();
            let [(top, highest), (bottom, lowest)] = posed.range(&u);
            let heights_s = s.iter().map(|p| u.dot(p)).fold(f64::MIN, f64::max);
            let heights_r = r.iter().map(|p| u.dot(&(r_sr * p + p_sr))).fold(f64::MAX, f64::min);
            prop_assert!((top - heights_s).abs() < 1e-5 && (bottom - heights_r).abs() < 1e-5);
            prop_assert!((u.dot(&highest) - top).abs() < 1e-5);
            prop_assert!((u.dot(&lowest) - bottom).abs() < 1e-5);
            // Hulls that have a point in common are not apart.
            let p = s.iter().sum::<Vector3<f64>>() / s.len() as f64;
            let q = r.iter().sum::<Vector3<f64>>() / r.len() as f64;
            let touching = PosedCorners { p_sr: &(p - r_sr * q), ..posed };
            prop_assert!(!touching.are_apart(r_sr * r[0] + touching.p_sr - s[0]));
        }
    }
}
