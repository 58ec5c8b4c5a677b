//! A triangle surface with a search structure.

use super::box_tree::{Box3, BoxTree};
use super::height_minima::HeightMinima;
use super::height_surface::HeightSurface;
use super::topology::{Pseudonormal, Topology};
use super::triangle::Triangle;
use crate::error::{Error, Result};
use crate::mesh::{HeightGrid, TriangleSurfaceMesh};
use nalgebra::Vector3;
use std::sync::Arc;

/// Triangle surface prepared for queries, in the frame of the mesh.
#[derive(Clone, Debug)]
pub(crate) struct IndexedSurface {
    store: TriangleStore,
    pub(crate) tree: BoxTree,
    /// Whether the surface encloses a positive volume.
    pub(crate) is_solid: bool,
    /// Length of the diagonal of the bounding box (m).
    extent: f64,
}

/// Triangles with the normals of their edges and vertices.
#[derive(Clone, Debug)]
enum TriangleStore {
    /// In the order of the tree.
    Listed(Vec<Triangle>, Topology),
    Heights(HeightSurface),
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
            is_solid: topology.is_closed && encloses,
            store: TriangleStore::Listed(triangles, topology),
            tree,
            extent,
        })
    }

    /// Creates the search structure of a height field.
    pub(crate) fn of_heights(grid: Arc<HeightGrid>) -> Self {
        let (surface, tree) = HeightSurface::new(grid);
        Self {
            store: TriangleStore::Heights(surface),
            extent: (tree.bounds().half() * 2.0).norm(),
            tree,
            is_solid: true,
        }
    }

    /// Returns a triangle by its number in the tree.
    #[inline]
    pub(crate) fn triangle(&self, index: usize) -> Triangle {
        match &self.store {
            TriangleStore::Listed(triangles, _) => triangles[index],
            TriangleStore::Heights(heights) => heights.triangle(index),
        }
    }

    /// Returns all triangles.
    pub(crate) fn triangles(&self) -> impl Iterator<Item = Triangle> + '_ {
        let (listed, heights) = match &self.store {
            TriangleStore::Listed(triangles, _) => (triangles.as_slice(), None),
            TriangleStore::Heights(heights) => (&[][..], Some(heights)),
        };
        let computed = heights
            .into_iter()
            .flat_map(|h| h.indices().map(|i| h.triangle(i)));
        listed.iter().copied().chain(computed)
    }

    /// Returns the facets of a height field that are above or below points of a box, cell by cell,
    /// if they are at most `most`; `None` for other surfaces.
    pub(crate) fn facets_within(
        &self,
        region: &Box3,
        most: usize,
    ) -> Option<impl Iterator<Item = [Triangle; 2]> + '_> {
        match &self.store {
            TriangleStore::Listed(..) => None,
            TriangleStore::Heights(heights) => heights.facets_within(region, most),
        }
    }

    /// Returns the heights of a height field; `None` for other surfaces.
    pub(crate) fn heights(&self) -> Option<&HeightGrid> {
        match &self.store {
            TriangleStore::Listed(..) => None,
            TriangleStore::Heights(heights) => Some(&heights.grid),
        }
    }

    /// Returns the grid points of a height field below and around a box. Returns `None` for other
    /// surfaces, for more than `most` points, and for a box that reaches down to the base: the
    /// corners of the base are not grid points.
    pub(crate) fn heights_within(
        &self,
        region: &Box3,
        most: usize,
    ) -> Option<impl Iterator<Item = Vector3<f64>> + '_> {
        let grid = self.heights()?;
        let low = [region.lower.x, region.lower.y];
        let [x, y] = grid.cells_within(low, [region.upper.x, region.upper.y]);
        let is_all = region.lower.z > grid.base;
        if !is_all || x.is_empty() || y.is_empty() || (x.len() + 1) * (y.len() + 1) > most {
            return None;
        }
        let points = (y.start..=y.end).flat_map(move |r| (x.start..=x.end).map(move |c| (r, c)));
        Some(points.map(|(row, column)| grid.vertex(row, column)))
    }

    /// Returns true if the surface belongs to a height field and is certainly more than `reach` (m)
    /// below a box. Takes no search, so it suits bodies that are near a field but rarely touch it.
    pub(crate) fn is_below(&self, region: &Box3, reach: f64) -> bool {
        match &self.store {
            TriangleStore::Listed(..) => false,
            TriangleStore::Heights(heights) => {
                heights.grid.is_below(&region.lower, &region.upper, reach)
            }
        }
    }

    /// Returns the local minima of the distance to `p` that are nearer than `reach` (m), nearest
    /// first; `same` is the distance below which two are one. Returns `None` unless the surface is
    /// of a height field and `p` is above few of its cells.
    pub(crate) fn minima_within(
        &self,
        p: &Vector3<f64>,
        reach: f64,
        same: f64,
    ) -> Option<HeightMinima> {
        match &self.store {
            TriangleStore::Listed(..) => None,
            TriangleStore::Heights(heights) => heights.minima_within(p, reach, same),
        }
    }

    /// Returns the bounding box of the part of a segment that may be within `reach` (m) of the
    /// surface, or `None` if no part is. The leg of a robot is near the ground only at its foot.
    pub(crate) fn near_part(&self, p: &Vector3<f64>, q: &Vector3<f64>, reach: f64) -> Option<Box3> {
        let whole = Box3::around(&[*p, *q]);
        match self.heights() {
            Some(grid) if whole.lower.z - reach > grid.base => {
                let ends = grid.near_part(p, q, reach)?;
                Some(Box3::around(&ends.map(|s| p + (q - p) * s)))
            }
            _ => Some(whole),
        }
    }

    /// Visits triangles as [`BoxTree::descend`] does, and each with its number. All triangles that
    /// matter meet `region`; where few triangles of a height field do, the tree is not used.
    #[inline]
    pub(crate) fn descend_within(
        &self,
        region: &Box3,
        start: f64,
        mut bound: impl FnMut(&Box3) -> f64,
        mut visit: impl FnMut(usize, &Triangle) -> f64,
    ) {
        let is_done = match &self.store {
            TriangleStore::Listed(..) => false,
            TriangleStore::Heights(heights) => {
                heights.visit_within(region, start, &mut bound, &mut visit)
            }
        };
        if !is_done {
            self.tree
                .descend(start, bound, |i| visit(i, &self.triangle(i)));
        }
    }

    /// Returns the normal of a corner of a triangle.
    pub(crate) fn vertex_normal(&self, triangle: usize, corner: usize) -> Pseudonormal {
        match &self.store {
            TriangleStore::Listed(_, topology) => topology.vertex_normal(triangle, corner),
            TriangleStore::Heights(heights) => heights.vertex_normal(triangle, corner),
        }
    }

    /// Returns the normal of the edge of a triangle that starts at a corner.
    pub(crate) fn edge_normal(&self, triangle: usize, corner: usize) -> Pseudonormal {
        match &self.store {
            TriangleStore::Listed(_, topology) => topology.edge_normal(triangle, corner),
            TriangleStore::Heights(heights) => heights.edge_normal(triangle, corner),
        }
    }

    /// Returns whether every edge is traversed equally often in both directions.
    pub(crate) fn is_closed(&self) -> bool {
        match &self.store {
            TriangleStore::Listed(_, topology) => topology.is_closed,
            TriangleStore::Heights(_) => true,
        }
    }

    /// Returns whether a point is inside, if that is known without a search.
    pub(crate) fn contains(&self, p: &Vector3<f64>) -> Option<bool> {
        match &self.store {
            TriangleStore::Listed(..) => None,
            TriangleStore::Heights(heights) => Some(heights.grid.contains(p)),
        }
    }

    pub(crate) fn extent(&self) -> f64 {
        self.extent
    }

    /// Returns numbers that distinguish surfaces, for ordering a pair of them.
    pub(crate) fn key(&self) -> [f64; 5] {
        let v: Vector3<f64> = self.triangle(0).corners[0];
        let count = match &self.store {
            TriangleStore::Listed(triangles, _) => triangles.len(),
            TriangleStore::Heights(heights) => heights.grid.heights.len(),
        };
        [count as f64, self.extent, v.x, v.y, v.z]
    }
}
