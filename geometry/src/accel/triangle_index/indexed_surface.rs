//! A triangle surface with a search structure.

use super::box_tree::{Box3, BoxTree};
use super::topology::Topology;
use super::triangle::Triangle;
use crate::error::{Error, Result};
use crate::mesh::TriangleSurfaceMesh;
use nalgebra::Vector3;

/// Triangle surface prepared for queries, in the frame of the mesh.
#[derive(Clone, Debug)]
pub(crate) struct IndexedSurface {
    /// Triangles in the order of the tree.
    pub(crate) triangles: Vec<Triangle>,
    pub(crate) tree: BoxTree,
    pub(crate) topology: Topology,
    /// Whether the surface encloses a positive volume.
    pub(crate) is_solid: bool,
    /// Length of the diagonal of the bounding box (m).
    extent: f64,
}

impl IndexedSurface {
    /// Creates the search structure of a mesh.
    ///
    /// # Errors
    /// Returns an error if no triangle has an area.
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
                "the surface must have a triangle with a positive area to measure distances to, got {} \
                 triangles without area",
                mesh.num_triangles()
            )));
        }
        let boxes: Vec<_> = triangles.iter().map(|t| Box3::around(&t.corners)).collect();
        let (tree, order) = BoxTree::new(&boxes);
        let triangles: Vec<_> = order.iter().map(|i| triangles[*i as usize]).collect();
        let topology = Topology::new(&triangles, &flat);
        let extent = (tree.bounds().half() * 2.0).norm();
        let origin = tree.bounds().center();
        let sixfold = triangles.iter().map(|t| {
            let [a, b, c] = t.corners.map(|p| p - origin);
            a.dot(&b.cross(&c))
        });
        // A sheet folded back onto itself encloses only rounding.
        let encloses = sixfold.sum::<f64>() > 1e-12 * extent.powi(3);
        Ok(Self {
            triangles,
            is_solid: topology.is_closed && encloses,
            tree,
            topology,
            extent,
        })
    }

    pub(crate) fn extent(&self) -> f64 {
        self.extent
    }

    /// Returns numbers that distinguish surfaces, for ordering a pair of them.
    pub(crate) fn key(&self) -> [f64; 5] {
        let v: Vector3<f64> = self.triangles[0].corners[0];
        [self.triangles.len() as f64, self.extent, v.x, v.y, v.z]
    }
}
