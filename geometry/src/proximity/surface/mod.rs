//! The true surface of a mesh: distance to points, and to other bodies where a program asks for it.
//!
//! # Points
//! [`distance_to_point`](super::distance_to_point) of a `Mesh` is the signed distance to its surface;
//! of a `.vtk` file that is the boundary of the tetrahedra. The nearest point is on a face, an edge or
//! a vertex, each of which has a closed form. The sign is that of the side of the surface on which
//! the point is, as the winding of the triangles has it, told by the normal of the face or by the
//! angle-weighted normal of the edge or vertex. On the surface that normal is the gradient. This
//! needs no closed surface (neither does Drake's): beyond the boundary of an open one the faces
//! there are continued. Where that normal says nothing (more than two faces at an edge, cones that
//! meet in a vertex) the winding number decides. Vertices at equal positions are one; triangles without
//! area are left out.
//!
//! # Pairs
//! [`signed_distance_true_surface`] answers for meshes with their true surface instead of their hull.
//!
//! A surface that is closed (every edge has as many triangles on one side as on the other) and
//! encloses a positive volume is the boundary of a *solid*; every other one is a *sheet*, without
//! inside.
//!
//! * **Separated**: the least distance of all triangles to the other body or to its triangles. Exact:
//!   boxes prune, the convex kernels decide.
//! * **Half space**: the lowest vertex. Exact.
//! * **Margins**: a sphere is its centre and a capsule its axis, the radius is subtracted at the end.
//!   So for a sphere the answer is the distance of its centre to the surface less the radius: exact,
//!   in any depth.
//! * **A convex body that overlaps a solid**: minus the larger of two depths: that of its deepest point
//!   below the surface of the mesh, and that of the deepest vertex of the mesh below the surface of
//!   the body. The second is exact. The first is found by branch and bound to within [`TOLERANCE`];
//!   it is exact, as far as rounding goes, where the deepest point is what supports the body along the
//!   normal of the face that is nearest to it. That is so wherever a body sinks into a face by
//!   less than the thickness of the mesh.
//! * **Two meshes that overlap**: minus the larger of the depths of the deepest points of the edges of
//!   each below the surface of the other, if that is a solid; likewise to within [`TOLERANCE`], and
//!   exact where it is a vertex below a face.
//! * **Sheets** that cut the other body: minus the largest penetration of one of their triangles into
//!   the body or into a triangle of it (the shortest translation that separates the two).
//!
//! All of these are 0 where the bodies touch, and continuous. Depths are those of points, not the
//! length of the translation that separates the bodies, which for non-convex bodies may be anything;
//! where a body sinks into a flat side both are the same.
//!
//! The normal is that of the surface at the nearest point to the deepest one. Derivatives are exact where
//! one feature of each body decides. In deep overlap, where several features of the surface are
//! equally near to the deepest point, they are those of the depth of that point, held fixed in its
//! body, below one of them.

mod core_pair;
mod depth;
mod mesh_pair;
mod pair;
mod point;
mod property;
mod topology;
mod tree;

pub use pair::signed_distance_true_surface;
pub use property::add_true_surface;
pub(crate) use property::has_true_surface;
pub(super) use tree::Triangle;

use crate::error::{Error, Result};
use crate::mesh::TriangleSurfaceMesh;
use nalgebra::Vector3;
use topology::Topology;
use tree::{Box3, Tree};

/// Depths that are searched for are below the true ones by at most this fraction of them.
pub(super) const TOLERANCE: f64 = 1e-3;

/// A surface of triangles, ready for queries, in the frame of the mesh.
#[derive(Clone, Debug)]
pub(crate) struct Surface {
    /// In the order of the tree.
    triangles: Vec<Triangle>,
    tree: Tree,
    topology: Topology,
    is_solid: bool,
    /// Length of the diagonal of the bounding box (m).
    extent: f64,
}

impl Surface {
    /// # Errors
    /// If no triangle has an area.
    pub(crate) fn new(mesh: &TriangleSurfaceMesh) -> Result<Self> {
        let mut triangles = Vec::with_capacity(mesh.num_triangles());
        let mut flat = Vec::new();
        for t in mesh.triangles() {
            let corners = t.vertices().map(|v| *mesh.vertex(v as usize));
            match Triangle::new(corners) {
                Some(t) => triangles.push(t),
                None => flat.push(corners),
            }
        }
        if triangles.is_empty() {
            return Err(Error::invalid(format!(
                "the surface has {} triangles and none of them has an area; there is no distance to \
                 it",
                mesh.num_triangles()
            )));
        }
        let boxes: Vec<_> = triangles.iter().map(|t| Box3::around(&t.corners)).collect();
        let (tree, order) = Tree::new(&boxes);
        let triangles: Vec<_> = order.iter().map(|i| triangles[*i as usize]).collect();
        let topology = Topology::new(&triangles, &flat);
        let extent = (tree.bounds().half() * 2.0).norm();
        let origin = tree.bounds().center();
        let sixfold = triangles.iter().map(|t| {
            let [a, b, c] = t.corners.map(|p| p - origin);
            a.dot(&b.cross(&c))
        });
        // Sheets that are folded back onto themselves enclose nothing but rounding.
        let encloses = sixfold.sum::<f64>() > 1e-12 * extent.powi(3);
        Ok(Self {
            triangles,
            is_solid: topology.is_closed && encloses,
            tree,
            topology,
            extent,
        })
    }

    pub(super) fn extent(&self) -> f64 {
        self.extent
    }

    /// Numbers that tell surfaces apart, to put two of them into an order.
    fn key(&self) -> [f64; 5] {
        let v: Vector3<f64> = self.triangles[0].corners[0];
        [self.triangles.len() as f64, self.extent, v.x, v.y, v.z]
    }
}

#[cfg(test)]
mod tests;
