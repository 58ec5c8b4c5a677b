//! The true surface of a mesh: distance to points, and to other bodies where a program asks for it.
//! What pairs mean where they overlap is in the docs of the module above.
//!
//! The nearest point of a surface is on a face, an edge or a vertex, each of which has a closed
//! form ([`point`]). The sign of the distance to a point is that of the side of the surface on
//! which the point is, as the winding of the triangles has it, told by the normal of the face or by
//! the angle-weighted normal of the edge or vertex ([`topology`]). On the surface that normal is
//! the gradient. This needs no closed surface (neither does Drake's): beyond the boundary of an
//! open one the faces there are continued. Where that normal says nothing (more than two faces at
//! an edge, cones that meet in a vertex) and the surface is closed, the winding number decides.
//! Vertices at equal positions are one; triangles without area are left out.
//!
//! Pairs that are apart are searched through boxes ([`core_pair`], [`mesh_pair`]), pairs that
//! overlap by branch and bound ([`depth`]). Searches run on values and end with what decides
//! ([`pair`]), which is evaluated in `T`.

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

/// Depths that are searched for are below the true ones by at most this fraction of them (or
/// [`depth::SMALLEST`]).
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
