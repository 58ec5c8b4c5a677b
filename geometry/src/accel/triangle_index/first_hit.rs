//! Ray casts against an indexed surface.

use super::box_tree::Box3;
use super::indexed_surface::IndexedSurface;
use crate::accel::triangle_bvh::{Shear, TriangleHit};
use nalgebra::Vector3;

impl IndexedSurface {
    /// Returns the first intersection within distance `limit` (m) of the ray from `o` along the
    /// unit vector `d`.
    pub(crate) fn first_hit(
        &self,
        o: &Vector3<f64>,
        d: &Vector3<f64>,
        limit: f64,
    ) -> Option<TriangleHit> {
        let shear = Shear::new(o, d);
        // Room for rounding, so that no hit on the border of a box is missed.
        let slack = 1e-14 * (o.amax() + self.extent());
        let inverse = d.map(|d| 1.0 / d);
        let enters = |b: &Box3| {
            let (mut enter, mut leave) = (0.0_f64, limit);
            for axis in 0..3 {
                let low = (b.lower[axis] - slack - o[axis]) * inverse[axis];
                let high = (b.upper[axis] + slack - o[axis]) * inverse[axis];
                enter = enter.max(low.min(high));
                leave = leave.min(low.max(high));
            }
            if enter <= leave + slack {
                enter
            } else {
                f64::INFINITY
            }
        };
        let mut best: Option<(f64, usize)> = None;
        // Slightly larger, because `descend` skips boxes at exactly the best distance.
        let beyond = |t: f64| t * (1.0 + 4.0 * f64::EPSILON) + slack;
        self.tree.descend(beyond(limit), enters, |i| {
            if let Some(t) = shear.meet(&self.triangle(i).corners)
                && t <= limit
                && best.is_none_or(|best| (t, i) < best)
            {
                best = Some((t, i));
            }
            beyond(best.map_or(limit, |best| best.0))
        });
        best.map(|(distance, i)| TriangleHit {
            distance,
            normal: self.triangle(i).normal,
        })
    }
}
