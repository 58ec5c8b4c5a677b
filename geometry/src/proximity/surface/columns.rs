//! Bounds of the depth of a convex body below a height field, from the columns below its facets.

use super::below_planes::LimitingPlane;
use crate::accel::IndexedSurface;
use crate::accel::triangle_index::Box3;
use nalgebra::Vector3;

/// Maximum number of facets above a cell that are examined one by one.
const MOST_FACETS: usize = 32;

impl IndexedSurface {
    /// Returns an upper bound of the depth of a convex body within a cell of a height field: the
    /// vertical distance of its points below the facets above them. All points of the body are
    /// above `planes`. Returns infinity for other solids and for cells below many facets.
    pub(super) fn column_bound(
        &self,
        cell: &Box3,
        planes: &[LimitingPlane],
        lowest: impl Fn(&Vector3<f64>) -> f64,
    ) -> f64 {
        let Some(facets) = self.facets_within(cell, MOST_FACETS) else {
            return f64::INFINITY;
        };
        let depths = facets.flatten().map(|t| {
            let part = column(&t.corners, cell);
            // A point p of the body is above a plane with the normal m, so that n.p is not less
            // than it is on that plane and in the cell.
            let above = planes
                .iter()
                .map(|m| m.base - part.support(&(m.n - t.normal)));
            let low = above.fold(lowest(&t.normal), f64::max);
            (t.base() - low) / t.normal.z
        });
        depths.fold(f64::NEG_INFINITY, f64::max)
    }
}

/// Returns the part of a box below or above points.
pub(super) fn column(points: &[Vector3<f64>], region: &Box3) -> Box3 {
    let mut part = Box3::around(points).intersection(region);
    (part.lower.z, part.upper.z) = (region.lower.z, region.upper.z);
    part
}
