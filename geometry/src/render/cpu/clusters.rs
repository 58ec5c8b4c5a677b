//! Meshes cut into small clusters of neighbouring triangles.
//!
//! A cluster is culled, sorted and sent to tiles as a whole. Every tile transforms the vertices of
//! its clusters itself, so that tiles share no intermediate results and need no order among threads.

use super::kernels::BLOCK;
use super::texture::Texture;
use crate::mesh::RenderMesh;
use nalgebra::{Point3, Vector3};
use std::collections::BTreeMap;
use std::sync::Arc;
use wide::f32x8;

/// Most triangles of a cluster; corners are indexed by a byte.
pub(super) const CLUSTER: usize = 64;
/// Blocks of eight that hold the vertices of any cluster.
pub(super) const VERTEX_BLOCKS: usize = 3 * CLUSTER / BLOCK;

/// Consecutive triangles and their vertices.
#[derive(Clone, Debug)]
pub(super) struct Cluster {
    /// First of its blocks of vertices, and how many.
    pub(super) first_block: u32,
    pub(super) blocks: u32,
    /// First of its triangles, and how many.
    pub(super) first: u32,
    pub(super) count: u32,
    /// Bounding sphere in the geometry's frame (m).
    pub(super) center: Vector3<f64>,
    pub(super) radius: f64,
}

/// What shading needs of a triangle, in the geometry's frame.
#[derive(Clone, Debug)]
pub(super) struct ShadedTriangle {
    pub(super) p: [Vector3<f32>; 3],
    pub(super) n: [Vector3<f32>; 3],
    pub(super) uv: [[f32; 2]; 3],
    /// Index into [`ClusteredMesh::materials`].
    pub(super) material: u32,
}

/// The colour of a surface.
#[derive(Clone, Debug)]
pub(super) struct Surface {
    pub(super) diffuse: [f32; 3],
    pub(super) texture: Option<Arc<Texture>>,
}

/// A mesh as it is drawn.
#[derive(Debug)]
pub(super) struct ClusteredMesh {
    /// Coordinates of vertices, in blocks.
    pub(super) xyz: Vec<[f32x8; 3]>,
    /// Corners of triangles as indices into their cluster's vertices.
    pub(super) corners: Vec<[u8; 3]>,
    pub(super) clusters: Vec<Cluster>,
    pub(super) triangles: Vec<ShadedTriangle>,
    /// The first is for triangles whose file says nothing.
    pub(super) materials: Vec<Surface>,
    /// Corners of the bounding box (m).
    pub(super) bounds: [Point3<f64>; 2],
}

impl ClusteredMesh {
    /// Cuts up a mesh; `materials` are one for triangles without any, then those of the mesh.
    pub(super) fn new(mesh: &RenderMesh, materials: Vec<Surface>) -> Self {
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
            materials,
            bounds: [low, high],
        };
        let mut material_of = vec![0u32; mesh.triangles.len()];
        for group in &mesh.groups {
            let material = group.material.map_or(0, |m| m as u32 + 1);
            material_of[group.triangles.clone()].fill(material);
        }
        let order = spatial_order(mesh, &low, &high);
        for chunk in order.chunks(CLUSTER) {
            all.push_cluster(mesh, chunk, &material_of);
        }
        all
    }

    fn push_cluster(&mut self, mesh: &RenderMesh, chunk: &[u32], material_of: &[u32]) {
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
            let uv = match mesh.triangle_uvs.get(t) {
                Some(t) => t.map(|i| mesh.uvs.get(i as usize).copied().unwrap_or_default()),
                None => Default::default(),
            };
            self.triangles.push(ShadedTriangle {
                p: mesh.triangles[t].map(|v| mesh.positions[v as usize].coords.cast()),
                n: mesh.triangle_normals[t].map(|n| mesh.normals[n as usize].cast()),
                uv: uv.map(|uv| uv.map(|x| x as f32)),
                material: material_of[t],
            });
        }
        let low = points.iter().fold(points[0], |m, p| m.inf(p));
        let high = points.iter().fold(points[0], |m, p| m.sup(p));
        let center = nalgebra::center(&low, &high);
        let radius = points
            .iter()
            .fold(0.0, |m: f64, p| m.max((p - center).norm()));
        let first_block = self.xyz.len() as u32;
        for block in points.chunks(BLOCK) {
            // The rest of the last block repeats a vertex, so that nothing in it is special.
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
        });
    }
}

/// Triangles along a Morton curve through their centroids, so that neighbours in the list are
/// neighbours in space (Morton, 1966).
fn spatial_order(mesh: &RenderMesh, low: &Point3<f64>, high: &Point3<f64>) -> Vec<u32> {
    let size = (high - low).max().max(f64::MIN_POSITIVE);
    let code = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| mesh.positions[v as usize]);
        let middle = (a.coords + b.coords + c.coords) / 3.0 - low.coords;
        let cell = middle.map(|x| (x / size * 1023.0).clamp(0.0, 1023.0) as u32);
        spread(cell.x) | spread(cell.y) << 1 | spread(cell.z) << 2
    };
    let codes: Vec<u32> = mesh.triangles.iter().map(code).collect();
    let mut order: Vec<u32> = (0..mesh.triangles.len() as u32).collect();
    order.sort_by_key(|t| (codes[*t as usize], *t));
    order
}

/// Ten bits with two gaps after each.
fn spread(x: u32) -> u32 {
    (0..10).fold(0, |sum, bit| sum | (x >> bit & 1) << (3 * bit))
}
