//! Ray casts against triangle meshes.
//!
//! The ray/triangle test leaves no gaps along shared edges: S. Woop, C. Benthin, I. Wald,
//! "Watertight ray/triangle intersection", Journal of Computer Graphics Techniques 2(1), 2013.

use super::bvh::{Box32, Bvh, RayBox};
use crate::mesh::TriangleSurfaceMesh;
use nalgebra::Vector3;

/// Triangles of a mesh in a bounding volume hierarchy.
pub(crate) struct TriangleBvh {
    bvh: Bvh,
    triangles: Vec<[Vector3<f64>; 3]>,
}

impl TriangleBvh {
    pub(crate) fn new(mesh: &TriangleSurfaceMesh) -> Self {
        let corners = |t: usize| mesh.element(t).vertices().map(|v| *mesh.vertex(v as usize));
        Self::of_triangles((0..mesh.num_triangles()).map(corners))
    }

    /// Creates the hierarchy from the corners of triangles.
    pub(crate) fn of_triangles(triangles: impl Iterator<Item = [Vector3<f64>; 3]>) -> Self {
        // A triangle without area has no normal, and its neighbours close the surface.
        let has_normal = |[a, b, c]: &[Vector3<f64>; 3]| {
            let n = (b - a).cross(&(c - a));
            n.try_normalize(0.0)
                .is_some_and(|n| n.iter().all(|x| x.is_finite()))
        };
        let triangles: Vec<_> = triangles.filter(has_normal).collect();
        let bounds = |[a, b, c]: &[Vector3<f64>; 3]| {
            let (low, high) = (a.inf(b).inf(c), a.sup(b).sup(c));
            Box32::around(&((low + high) / 2.0), &((high - low) / 2.0))
        };
        let boxes: Vec<Box32> = triangles.iter().map(bounds).collect();
        Self {
            bvh: Bvh::new(&boxes),
            triangles,
        }
    }

    /// Returns the first intersection within distance `limit` of the ray from `o` along the unit
    /// vector `d`.
    pub(crate) fn first_hit(
        &self,
        o: &Vector3<f64>,
        d: &Vector3<f64>,
        limit: f64,
    ) -> Option<TriangleHit> {
        let shear = Shear::new(o, d);
        let mut best: Option<(f64, u32)> = None;
        self.bvh
            .for_each_along(&RayBox::new(o, d), limit, |triangle, limit| {
                let Some(t) = shear.meet(&self.triangles[triangle as usize]) else {
                    return limit;
                };
                // On equal distance the triangle with the smaller index wins, whatever the order of
                // the visits.
                let better = best.is_none_or(|best| (t, triangle) < best);
                if t <= limit && better {
                    best = Some((t, triangle));
                    return t;
                }
                limit
            });
        best.map(|(t, triangle)| {
            let [a, b, c] = &self.triangles[triangle as usize];
            let n = (b - a).cross(&(c - a));
            TriangleHit {
                distance: t,
                normal: n.normalize(),
            }
        })
    }
}

/// Intersection of a ray with a triangle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TriangleHit {
    /// Distance from the origin of the ray (m).
    pub(crate) distance: f64,
    /// Unit normal of the triangle according to its winding.
    pub(crate) normal: Vector3<f64>,
}

/// Transformation to a frame in which the ray starts at the origin and points along z.
pub(super) struct Shear {
    origin: Vector3<f64>,
    /// Axes in their new order: z is the dominant axis of the ray's direction.
    axes: [usize; 3],
    shear: Vector3<f64>,
}

impl Shear {
    pub(super) fn new(o: &Vector3<f64>, d: &Vector3<f64>) -> Self {
        let z = d.iamax();
        let (mut x, mut y) = ((z + 1) % 3, (z + 2) % 3);
        if d[z] < 0.0 {
            (x, y) = (y, x);
        }
        Self {
            origin: *o,
            axes: [x, y, z],
            shear: Vector3::new(d[x] / d[z], d[y] / d[z], 1.0 / d[z]),
        }
    }

    /// Returns the distance to a triangle, which may be hit from either side.
    pub(super) fn meet(&self, corners: &[Vector3<f64>; 3]) -> Option<f64> {
        let [x, y, z] = self.axes;
        let [a, b, c] = corners.map(|p| {
            let p = p - self.origin;
            Vector3::new(
                p[x] - self.shear.x * p[z],
                p[y] - self.shear.y * p[z],
                self.shear.z * p[z],
            )
        });
        // Twice the areas of the sub-triangles opposite to a, b and c.
        let u = c.x * b.y - c.y * b.x;
        let v = a.x * c.y - a.y * c.x;
        let w = b.x * a.y - b.y * a.x;
        if (u < 0.0 || v < 0.0 || w < 0.0) && (u > 0.0 || v > 0.0 || w > 0.0) {
            return None;
        }
        let area = u + v + w;
        // The ray is parallel to the triangle; it hits neighbouring triangles instead.
        if area == 0.0 {
            return None;
        }
        let t = (u * a.z + v * b.z + w * c.z) / area;
        (t >= 0.0).then_some(t)
    }
}
