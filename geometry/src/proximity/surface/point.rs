//! The feature of a surface nearest to a point, and the signed distance to it.

use crate::accel::IndexedSurface;
use crate::accel::triangle_index::{Box3, HeightMinima, Pseudonormal, Triangle};
use crate::proximity::core_distance::CoreDistance;
use crate::proximity::features::FeaturePair;
use crate::proximity::rounding::NEGLIGIBLE;
use crate::values::lift;
use nalgebra::{Isometry3, Vector3};
use std::cmp::Ordering;
use tarragon_framework::Scalar;

/// The nearest feature to a point and the side that the point is on.
#[derive(Clone, Copy, Debug)]
pub(in crate::proximity) struct NearestFeature {
    features: FeaturePair,
    /// True if the distance to the feature is negative.
    inside: bool,
}

impl NearestFeature {
    /// Returns the signed distance from the surface (A) to the point `p` (B), both in the frame of
    /// the mesh.
    pub(in crate::proximity) fn evaluate<T: Scalar>(&self, p: &Vector3<T>) -> CoreDistance<T> {
        let mut x = Isometry3::identity();
        x.translation.vector = *p;
        let mut found = self.features.evaluate(&x);
        if self.inside {
            found.distance = -found.distance;
            found.n_ab = -found.n_ab;
        }
        found
    }

    pub(super) fn face(t: &Triangle) -> Self {
        let features = FeaturePair::PlanePoint {
            normal_a: t.normal,
            offset: t.base(),
            p_b: Vector3::zeros(),
        };
        Self {
            features,
            inside: false,
        }
    }

    /// Returns the same feature with `p` on its outer side, whichever side that is: for sheets.
    pub(super) fn outward(mut self, p: &Vector3<f64>) -> Self {
        if self.evaluate(p).distance < 0.0 {
            self.inside = !self.inside;
        }
        self
    }
}

/// The properties of a point that a search for deep points needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct DepthProbe {
    /// Depth below the surface (m), negative outside.
    pub(super) depth: f64,
    /// Gradient of the signed distance; for points at the surface, the outward normal.
    pub(super) n: Vector3<f64>,
    /// The triangle that contains the nearest point, and whether that point is inside the triangle.
    pub(super) triangle: usize,
    pub(super) on_face: bool,
    pub(super) feature: NearestFeature,
}

impl IndexedSurface {
    /// Returns the triangle nearest to `p`, and the nearest point.
    pub(super) fn nearest(&self, p: &Vector3<f64>) -> (usize, Vector3<f64>) {
        let found = self.nearest_within(p, f64::INFINITY);
        found.unwrap_or_else(|| (0, self.triangle(0).corners[0]))
    }

    /// Returns the triangle nearest to `p`, and the nearest point, unless it is more than `reach`
    /// (m) away.
    fn nearest_within(&self, p: &Vector3<f64>, reach: f64) -> Option<(usize, Vector3<f64>)> {
        // Slightly larger, because `descend` skips nodes at exactly this distance.
        let mut least = reach * reach * (1.0 + 4.0 * f64::EPSILON);
        let mut best = None;
        let near = Box3::around(&[*p]).grown(reach);
        let is_field = self.heights().is_some();
        self.descend_within(
            &near,
            least,
            |b| b.distance2(p),
            |i, triangle| {
                // The plane is at most as far as the triangle, but imprecise for a sliver.
                let height = triangle.height(p);
                if is_field && height * height >= least {
                    return least;
                }
                let q = triangle.nearest(p);
                let d2 = (p - q).norm_squared();
                if d2 < least {
                    best = Some((i, q));
                    least = d2;
                }
                least
            },
        );
        best
    }

    /// Returns whether `p` is inside a solid or on its surface.
    pub(super) fn is_inside(&self, p: &Vector3<f64>) -> bool {
        self.contains(p)
            .unwrap_or_else(|| self.probe(p).depth >= 0.0)
    }

    /// Does the same as [`Self::nearest_feature`] for a point outside, unless that is more than
    /// `reach` (m) away.
    pub(super) fn nearest_feature_within(
        &self,
        p: &Vector3<f64>,
        reach: f64,
    ) -> Option<NearestFeature> {
        let (triangle, q) = match self.minima_above(p, reach) {
            Some(minima) => minima.first().map(|m| (m.index, m.place))?,
            None if self.is_below(&Box3::around(&[*p]), reach) => return None,
            None => self.nearest_within(p, reach)?,
        };
        Some(self.feature_at(p, triangle, &q).0)
    }

    /// Returns the local minima of the distance to `p`, which is outside, that are nearer than
    /// `reach` (m), nearest first. Returns `None` unless the surface is of a height field and
    /// `p` is above few of its cells.
    pub(super) fn minima_above(&self, p: &Vector3<f64>, reach: f64) -> Option<HeightMinima> {
        let same = 4.0 * NEGLIGIBLE * (self.extent() + p.amax());
        self.minima_within(p, reach, same)
    }

    /// Returns the feature nearest to `p`.
    pub(in crate::proximity) fn nearest_feature(&self, p: &Vector3<f64>) -> NearestFeature {
        let (triangle, q) = self.nearest(p);
        self.feature_at(p, triangle, &q).0
    }

    pub(super) fn probe(&self, p: &Vector3<f64>) -> DepthProbe {
        let (triangle, q) = self.nearest(p);
        let (feature, on_face) = self.feature_at(p, triangle, &q);
        let found = feature.evaluate(p);
        DepthProbe {
            depth: -found.distance,
            n: found.n_ab,
            triangle,
            on_face,
            feature,
        }
    }

    /// Returns the feature of a triangle that contains its point `q` nearest to `p`.
    pub(super) fn feature_of(
        &self,
        p: &Vector3<f64>,
        triangle: usize,
        q: &Vector3<f64>,
    ) -> NearestFeature {
        self.feature_at(p, triangle, q).0
    }

    /// Returns the feature of a triangle that contains its point `q` nearest to `p`, and whether
    /// that feature is the face.
    fn feature_at(
        &self,
        p: &Vector3<f64>,
        triangle: usize,
        q: &Vector3<f64>,
    ) -> (NearestFeature, bool) {
        let t = &self.triangle(triangle);
        let tolerance = NEGLIGIBLE * (self.extent() + (p - q).amax());
        let touches = (p - q).norm_squared() <= tolerance * tolerance;
        // The corner and the edge that contain the nearest point, if any.
        let corner = (0..3).find(|k| (q - t.corners[*k]).norm_squared() <= tolerance * tolerance);
        let side = |k: &usize| {
            let e = t.corners[(k + 1) % 3] - t.corners[*k];
            t.normal.cross(&e).dot(&(q - t.corners[*k])).abs() <= tolerance * e.norm()
        };
        // The same bits, whichever of the two triangles at the edge was found.
        let on_edge = |k: usize| {
            let mut ends = [t.corners[k], t.corners[(k + 1) % 3]];
            ends.sort_by(|a, b| a.iter().partial_cmp(b.iter()).unwrap_or(Ordering::Equal));
            let e = ends[1] - ends[0];
            let part = (p - ends[0]).dot(&e) / e.norm_squared();
            (ends[0] + e * part.clamp(0.0, 1.0), e.normalize())
        };
        let foot_inside = t.inset(p) >= -tolerance;
        let on_face = NearestFeature::face(t);
        // On the surface, edges and vertices have normals of their own. Away from it, the plane of
        // the face is as near as its edge.
        if foot_inside && !touches {
            return (on_face, true);
        }
        let edge = || (0..3).find(side);
        let (p_a, dir, normal) = if let Some(k) = corner {
            (t.corners[k], None, self.vertex_normal(triangle, k))
        } else if let Some(k) = edge() {
            let (place, dir) = on_edge(k);
            (place, Some(dir), self.edge_normal(triangle, k))
        } else {
            return (on_face, true);
        };
        let fixed_a = touches.then_some(normal.normal);
        let p_b = Vector3::zeros();
        let features = match dir {
            Some(dir_a) => FeaturePair::LinePoint {
                p_a,
                dir_a,
                p_b,
                fixed_a: fixed_a
                    .map(|n| (n - dir_a * dir_a.dot(&n)).try_normalize(0.0).unwrap_or(n)),
            },
            None => FeaturePair::PointPoint { p_a, p_b, fixed_a },
        };
        let inside = !touches && self.is_behind(p, &(p - q), &normal);
        (NearestFeature { features, inside }, false)
    }

    /// Returns whether `p`, at `offset` from an edge or vertex with this normal, is inside.
    fn is_behind(&self, p: &Vector3<f64>, offset: &Vector3<f64>, normal: &Pseudonormal) -> bool {
        if normal.certain || !self.is_closed() {
            return normal.normal.dot(offset) < 0.0;
        }
        self.winding_number(p) > 0.5
    }

    /// Returns how often the surface winds around `p`, by summing solid angles (A. van Oosterom and
    /// J. Strackee, IEEE Trans. Biomed. Eng. 30(2), 1983).
    fn winding_number(&self, p: &Vector3<f64>) -> f64 {
        let angle = |t: &Triangle| {
            let [a, b, c] = t.corners.map(|v| v - p);
            let (la, lb, lc) = (a.norm(), b.norm(), c.norm());
            let volume = a.dot(&b.cross(&c));
            let cosine = la * lb * lc + a.dot(&b) * lc + b.dot(&c) * la + c.dot(&a) * lb;
            2.0 * volume.atan2(cosine)
        };
        self.triangles().map(|t| angle(&t)).sum::<f64>() / (4.0 * std::f64::consts::PI)
    }
}

/// Returns a constant point moved by a pose.
pub(super) fn at_pose<T: Scalar>(x: &Isometry3<T>, p: &Vector3<f64>) -> Vector3<T> {
    x.rotation * lift::<T>(p) + x.translation.vector
}
