//! Meshes, partitioned into small clusters of neighbouring triangles.
//!
//! A cluster is culled, sorted and assigned to tiles as a whole. Every tile transforms the vertices
//! of its clusters itself, so that tiles share no intermediate results and threads need no
//! synchronization.

use super::shaded_triangle::{ShadedTriangle, Uvs, uvs};
use crate::accel::TriangleBvh;
use crate::mesh::{MaterialGroup, RenderMesh};
use crate::render::appearance::SurfaceMaterial;
use crate::render::cpu::simd::BLOCK;
use nalgebra::{Point3, Vector3};
use std::collections::BTreeMap;
use wide::f32x8;

/// Maximum number of triangles in a cluster, so that a byte can index its vertices.
pub(crate) const CLUSTER: usize = 64;
/// Number of blocks of eight that hold the vertices of any cluster.
pub(crate) const VERTEX_BLOCKS: usize = 3 * CLUSTER / BLOCK;

/// Range of a mesh's triangles, and the blocks of their vertices.
#[derive(Clone, Debug)]
pub(crate) struct Cluster {
    /// First block of vertices, and number of blocks.
    pub(crate) first_block: u32,
    pub(crate) blocks: u32,
    /// First triangle, and number of triangles.
    pub(crate) first: u32,
    pub(crate) count: u32,
    /// Bounding sphere in the geometry's frame (m).
    pub(crate) center: Vector3<f64>,
    pub(crate) radius: f64,
    /// True if its triangles are translucent in colour images.
    pub(crate) translucent: bool,
}

/// Data of the corners by triangle for maps; each list may be empty.
#[derive(Debug, Default)]
pub(crate) struct MapCoordinates {
    /// Texture coordinates of the second set.
    pub(crate) second_uvs: Vec<Uvs>,
    /// Tangents, for normal maps.
    pub(crate) tangents: Vec<[[f32; 4]; 3]>,
}

/// A mesh, prepared for drawing.
#[derive(Debug)]
pub(crate) struct ClusteredMesh {
    /// Coordinates of vertices in the geometry's frame (m), in blocks of eight.
    pub(crate) xyz: Vec<[f32x8; 3]>,
    /// Corners of triangles as indices into their cluster's vertices.
    pub(crate) corners: Vec<[u8; 3]>,
    pub(crate) clusters: Vec<Cluster>,
    pub(crate) triangles: Vec<ShadedTriangle>,
    /// Texture coordinates by triangle, stored separately because most images do not need them; may
    /// be empty.
    pub(crate) uvs: Vec<Uvs>,
    /// Lists that only textures other than that of the colour need.
    pub(crate) for_maps: Box<MapCoordinates>,
    /// Colours of the corners by triangle; may be empty.
    pub(crate) colors: Vec<[[f32; 4]; 3]>,
    /// Materials. The first one is for triangles without a material in the file.
    pub(crate) materials: Vec<SurfaceMaterial>,
    /// True if some material is not matt.
    pub(crate) has_model: bool,
    /// Corners of the bounding box (m).
    pub(crate) bounds: [Point3<f64>; 2],
}

impl ClusteredMesh {
    /// Partitions a mesh into clusters. `materials` are one for triangles without a material, then
    /// those of the mesh.
    pub(crate) fn new(mesh: &RenderMesh, materials: Vec<SurfaceMaterial>) -> Self {
        let mut low = Point3::from(Vector3::repeat(f64::INFINITY));
        let mut high = Point3::from(Vector3::repeat(f64::NEG_INFINITY));
        for t in &mesh.triangles {
            for v in t {
                let p = mesh.positions[*v as usize];
                low = low.inf(&p);
                high = high.sup(&p);
            }
        }
        let mut all = Self {
            xyz: Vec::new(),
            corners: Vec::new(),
            clusters: Vec::new(),
            triangles: Vec::new(),
            uvs: Vec::new(),
            for_maps: Box::default(),
            colors: Vec::new(),
            has_model: materials.iter().any(|m| m.model.is_some()),
            materials,
            bounds: [low, high],
        };
        let mut material_of = vec![0u32; mesh.triangles.len()];
        for group in &mesh.groups {
            let material = group.material.map_or(0, |m| m as u32 + 1);
            material_of[group.triangles.clone()].fill(material);
        }
        let centroid = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|v| mesh.positions[v as usize].coords);
            Point3::from(((a + b + c) / 3.0).cast::<f32>())
        };
        let centroids: Vec<_> = mesh.triangles.iter().map(centroid).collect();
        let translucent = |t: &u32| {
            let colors = mesh.triangles[*t as usize].map(|v| mesh.colors.get(v as usize));
            let vertex_alpha = colors.into_iter().flatten().any(|c| c[3] < 1.0);
            all.materials[material_of[*t as usize] as usize].is_translucent(vertex_alpha)
        };
        let every = 0..mesh.triangles.len() as u32;
        let (mut veils, mut solid): (Vec<u32>, Vec<u32>) = every.partition(translucent);
        for (order, translucent) in [(&mut solid, false), (&mut veils, true)] {
            split(&centroids, order);
            for chunk in order.chunks(CLUSTER) {
                all.push_cluster(mesh, chunk, &material_of, translucent);
            }
        }
        all
    }

    /// Returns the opaque triangles of the mesh that this was created from, as shadow casters.
    pub(crate) fn occluder(&self, mesh: &RenderMesh) -> TriangleBvh {
        let translucent = |group: &MaterialGroup| {
            let material = &self.materials[group.material.map_or(0, |m| m + 1)];
            material.is_translucent(false)
        };
        let groups = mesh.groups.iter().filter(|g| !translucent(g));
        let triangles = groups.flat_map(|g| &mesh.triangles[g.triangles.clone()]);
        let corners = |t: &[u32; 3]| t.map(|v| mesh.positions[v as usize].coords);
        TriangleBvh::of_triangles(triangles.map(corners))
    }

    fn push_cluster(
        &mut self,
        mesh: &RenderMesh,
        chunk: &[u32],
        material_of: &[u32],
        translucent: bool,
    ) {
        let mut local: BTreeMap<u32, u8> = BTreeMap::new();
        let mut points: Vec<Point3<f64>> = Vec::new();
        let first = self.triangles.len() as u32;
        for &t in chunk {
            let t = t as usize;
            let corner = |v: u32| {
                *local.entry(v).or_insert_with(|| {
                    points.push(mesh.positions[v as usize]);
                    points.len() as u8 - 1
                })
            };
            self.corners.push(mesh.triangles[t].map(corner));
            let (triangle, turned) = ShadedTriangle::new(
                mesh.triangles[t].map(|v| mesh.positions[v as usize]),
                mesh.triangle_normals[t].map(|n| mesh.normals[n as usize]),
                material_of[t],
            );
            let order = if turned { [0, 2, 1] } else { [0, 1, 2] };
            let uvs_of = |set: usize| {
                let corners = mesh.uvs_of(t, set);
                uvs(order.map(|k| corners[k]))
            };
            if !mesh.triangle_uvs.is_empty() {
                self.uvs.push(uvs_of(0));
            }
            if !mesh.triangle_second_uvs.is_empty() {
                self.for_maps.second_uvs.push(uvs_of(1));
            }
            if let Some(tangents) = mesh.triangle_tangents.get(t) {
                self.for_maps.tangents.push(order.map(|k| tangents[k]));
            }
            if !mesh.colors.is_empty() {
                let corners = mesh.triangles[t];
                self.colors
                    .push(order.map(|k| mesh.colors[corners[k] as usize]));
            }
            self.triangles.push(triangle);
        }
        let low = points.iter().fold(points[0], |m, p| m.inf(p));
        let high = points.iter().fold(points[0], |m, p| m.sup(p));
        let center = nalgebra::center(&low, &high);
        let radius = points
            .iter()
            .fold(0.0, |m: f64, p| m.max((p - center).norm()));
        let first_block = self.xyz.len() as u32;
        for block in points.chunks(BLOCK) {
            // The rest of the last block repeats a vertex, so that unused lanes need no special
            // case.
            let at = |k: usize| block[k.min(block.len() - 1)];
            let coordinate = |axis: usize| {
                f32x8::new(std::array::from_fn::<f32, BLOCK, _>(|k| at(k)[axis] as f32))
            };
            self.xyz.push([coordinate(0), coordinate(1), coordinate(2)]);
        }
        self.clusters.push(Cluster {
            first_block,
            blocks: self.xyz.len() as u32 - first_block,
            first,
            count: chunk.len() as u32,
            center: center.coords,
            radius: radius * (1.0 + 1e-6),
            translucent,
        });
    }
}

/// Splits triangles recursively, near the median along the longest side of their centroids'
/// bounding box, down to single clusters. Left halves are multiples of the cluster size, so that
/// only the last cluster may be partly filled.
fn split(centroids: &[Point3<f32>], triangles: &mut [u32]) {
    if triangles.len() <= CLUSTER {
        // In file order, so that the first triangle of the file wins at equal depth.
        triangles.sort_unstable();
        return;
    }
    let first = centroids[triangles[0] as usize];
    let (mut low, mut high) = (first, first);
    for t in triangles.iter() {
        low = low.inf(&centroids[*t as usize]);
        high = high.sup(&centroids[*t as usize]);
    }
    let axis = (high - low).imax();
    let half = (triangles.len() / 2).next_multiple_of(CLUSTER);
    triangles.select_nth_unstable_by(half, |a, b| {
        let at = |t: &u32| centroids[*t as usize][axis];
        at(a).total_cmp(&at(b)).then(a.cmp(b))
    });
    let (left, right) = triangles.split_at_mut(half);
    split(centroids, left);
    split(centroids, right);
}
