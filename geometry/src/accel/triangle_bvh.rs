//! Rays and triangle meshes.
//!
//! The test of a triangle leaves no gaps along shared edges: S. Woop, C. Benthin, I. Wald,
//! "Watertight ray/triangle intersection", Journal of Computer Graphics Techniques 2(1), 2013.

use super::bvh::{Box32, Bvh, RayBox};
use crate::mesh::TriangleSurfaceMesh;
use nalgebra::Vector3;

/// The triangles of a mesh in a tree.
pub(crate) struct TriangleBvh {
    bvh: Bvh,
    triangles: Vec<[Vector3<f64>; 3]>,
}

impl TriangleBvh {
    pub(crate) fn new(mesh: &TriangleSurfaceMesh) -> Self {
        let corners = |t: usize| mesh.element(t).vertices().map(|v| *mesh.vertex(v as usize));
        Self::of_triangles((0..mesh.num_triangles()).map(corners))
    }

    /// From the corners of triangles.
    pub(crate) fn of_triangles(triangles: impl Iterator<Item = [Vector3<f64>; 3]>) -> Self {
        // Without area there is no normal, and the neighbours close the surface.
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

    /// The first crossing up to `limit`; from the origin `o` along the unit vector `d`.
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
                // Of triangles at the same distance the first one, in whatever order they come.
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

/// Where a ray meets a triangle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TriangleHit {
    /// From the origin of the ray (m).
    pub(crate) distance: f64,
    /// Unit normal of the triangle as it is wound.
    pub(crate) normal: Vector3<f64>,
}

/// A frame in which a ray starts at the origin and goes along z.
struct Shear {
    origin: Vector3<f64>,
    /// The axes in their new order: z is the one along which the ray goes most.
    axes: [usize; 3],
    shear: Vector3<f64>,
}

impl Shear {
    fn new(o: &Vector3<f64>, d: &Vector3<f64>) -> Self {
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

    /// Distance to a triangle, hit from either side.
    fn meet(&self, corners: &[Vector3<f64>; 3]) -> Option<f64> {
        let [x, y, z] = self.axes;
        let [a, b, c] = corners.map(|p| {
            let p = p - self.origin;
            Vector3::new(
                p[x] - self.shear.x * p[z],
                p[y] - self.shear.y * p[z],
                self.shear.z * p[z],
            )
        });
        // Twice the areas that the ray cuts off, opposite to a, b, c.
        let u = c.x * b.y - c.y * b.x;
        let v = a.x * c.y - a.y * c.x;
        let w = b.x * a.y - b.y * a.x;
        if (u < 0.0 || v < 0.0 || w < 0.0) && (u > 0.0 || v > 0.0 || w > 0.0) {
            return None;
        }
        let area = u + v + w;
        // Seen from the side: the ray runs along the triangle and meets others at its edges.
        if area == 0.0 {
            return None;
        }
        let t = (u * a.z + v * b.z + w * c.z) / area;
        (t >= 0.0).then_some(t)
    }
}
