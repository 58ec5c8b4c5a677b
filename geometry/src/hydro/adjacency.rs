//! Neighbours and skin of a mesh, by which a contact surface is followed from face to face.

use super::gap::Corners;
use super::obb_tree::ObbTree;
use super::one_curve::{ConvexSkin, NormalBounds, boundary_faces};
use super::skin_part::{LOW, SkinPart, skin_points};
use super::tetrahedron::{OUTSIDE, Tetrahedron, sorted_faces};
use crate::mesh::VolumeMeshFieldLinear;
use nalgebra::Vector3;

/// Relative rounding of gradients.
const GRADIENT_ROUNDING: f64 = 1e-9;

/// Most vertices inside of a mesh that are looked at in each pair.
const MOST_INSIDE: usize = 64;

/// Neighbours of the tetrahedra of a mesh, its skin, and its vertices inside.
///
/// The skin is where the pressure is at most 0: the boundary and, with a margin, the layer below.
pub(super) struct Adjacency {
    /// By tetrahedron, the one beyond each face, or [`OUTSIDE`].
    pub(super) neighbors: Vec<[u32; 4]>,
    /// Tree over the parts of tetrahedra that are in the skin.
    pub(super) skin: ObbTree,
    /// Tetrahedra and their parts by element of the tree.
    pub(super) skin_tetrahedra: Vec<u32>,
    pub(super) parts: Vec<SkinPart>,
    /// Vertices that are not on the boundary, if they are few and the pressure is concave and
    /// constant in no tetrahedron.
    pub(super) inside: Option<Vec<u32>>,
    /// Vertices on the boundary.
    pub(super) corners: Corners,
    /// Bounds on the normals of the skin, if the mesh is convex and the skin is its boundary.
    normals: Option<NormalBounds>,
}

impl Adjacency {
    /// Returns the adjacency of a mesh; `None` if surfaces cannot be followed in it. They can if
    /// its pressure is at most 0 at the boundary, and if each face has one tetrahedron on each
    /// side at most.
    pub(super) fn new(
        field: &VolumeMeshFieldLinear,
        tetrahedra: &[Tetrahedron],
        reach: f64,
    ) -> Option<Self> {
        let neighbors = neighbors(tetrahedra)?;
        let is_inside = inside_vertices(tetrahedra, &neighbors, field.values().len());
        let mut vertices = tetrahedra.iter().flat_map(|t| t.vertices);
        if vertices.any(|v| !is_inside[v as usize] && field.values()[v as usize] > LOW) {
            return None;
        }
        let inside = (0..).zip(&is_inside).filter(|(_, is_inside)| **is_inside);
        let inside: Vec<u32> = inside.map(|(v, _)| v).collect();
        let is_simple = inside.len() <= MOST_INSIDE && is_concave(tetrahedra, &neighbors);
        let (mut skin_tetrahedra, mut parts, mut part_points) = (vec![], vec![], vec![]);
        for (e, t) in tetrahedra.iter().enumerate() {
            if let Some(points) = skin_points(&t.corners(field), &t.pressures(field)) {
                skin_tetrahedra.push(e as u32);
                parts.push(SkinPart::new(t, field));
                part_points.push(points);
            }
        }
        let in_order = spatial_order(&is_inside, tetrahedra);
        let corners: Vec<Vector3<f64>> = in_order.map(|v| field.mesh().vertices()[v]).collect();
        let skin = ObbTree::new(&part_points, reach);
        let has_margin = field.values().iter().any(|p| *p < -LOW);
        let faces = if has_margin {
            None
        } else {
            boundary_faces(&skin_tetrahedra, &neighbors)
        };
        let normals = faces.and_then(|faces| {
            NormalBounds::new(&skin, &faces, tetrahedra, field.mesh().vertices(), reach)
        });
        Some(Self {
            neighbors,
            skin,
            skin_tetrahedra,
            parts,
            inside: is_simple.then_some(inside),
            corners: Corners::new(&corners),
            normals,
        })
    }

    /// Returns the skin if the mesh is convex and the skin is its boundary.
    pub(super) fn convex_skin(&self) -> Option<ConvexSkin<'_>> {
        let normals = self.normals.as_ref()?;
        Some(ConvexSkin {
            tree: &self.skin,
            normals,
        })
    }
}

/// Returns whether each vertex is inside of a mesh: of a tetrahedron, and not on a face of the
/// boundary.
fn inside_vertices(tetrahedra: &[Tetrahedron], neighbors: &[[u32; 4]], count: usize) -> Vec<bool> {
    let mut is_inside = vec![false; count];
    for v in tetrahedra.iter().flat_map(|t| t.vertices) {
        is_inside[v as usize] = true;
    }
    for (t, beyond) in tetrahedra.iter().zip(neighbors) {
        for f in (0..4).filter(|f| beyond[*f] == OUTSIDE) {
            for k in (0..4).filter(|k| *k != f) {
                is_inside[t.vertices[k] as usize] = false;
            }
        }
    }
    is_inside
}

/// Returns true if a pressure is concave and constant in no tetrahedron.
fn is_concave(tetrahedra: &[Tetrahedron], neighbors: &[[u32; 4]]) -> bool {
    tetrahedra.iter().zip(neighbors).all(|(t, beyond)| {
        let bends_up = |(f, other): (usize, &u32)| {
            let Some(other) = tetrahedra.get(*other as usize) else {
                return false;
            };
            let bend = (other.gradient - t.gradient).dot(&t.faces.normal(f));
            bend > GRADIENT_ROUNDING * (other.gradient.norm() + t.gradient.norm())
        };
        t.gradient != Vector3::zeros() && !beyond.iter().enumerate().any(bends_up)
    })
}

/// Returns the vertices at the boundary, of which successive ones are near to each other where
/// successive tetrahedra are.
fn spatial_order(is_inside: &[bool], tetrahedra: &[Tetrahedron]) -> impl Iterator<Item = usize> {
    let mut is_new: Vec<bool> = is_inside.iter().map(|inside| !inside).collect();
    let vertices = tetrahedra.iter().flat_map(|t| t.vertices);
    let mut ordered = vec![];
    for v in vertices {
        if std::mem::take(&mut is_new[v as usize]) {
            ordered.push(v as usize);
        }
    }
    ordered.into_iter()
}

/// Returns the tetrahedra beyond the faces of each; `None` if a face belongs to more than two, or
/// to two on the same side.
fn neighbors(tetrahedra: &[Tetrahedron]) -> Option<Vec<[u32; 4]>> {
    let mut faces: Vec<([u32; 3], u32, u8)> = vec![];
    for (e, t) in tetrahedra.iter().enumerate() {
        let own = sorted_faces(t.vertices);
        faces.extend((0..4).map(|f| (own[f as usize], e as u32, f)));
    }
    faces.sort_unstable();
    let mut neighbors = vec![[OUTSIDE; 4]; tetrahedra.len()];
    for same in faces.chunk_by(|a, b| a.0 == b.0) {
        match same {
            [_] => {}
            [(_, a, f), (_, b, g)] => {
                let normal = |e: u32, f: u8| tetrahedra[e as usize].faces.normal(usize::from(f));
                if normal(*a, *f).dot(&normal(*b, *g)) > 0.0 {
                    return None;
                }
                neighbors[*a as usize][*f as usize] = *b;
                neighbors[*b as usize][*g as usize] = *a;
            }
            _ => return None,
        }
    }
    Some(neighbors)
}
