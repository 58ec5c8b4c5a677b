//! Half spaces, whose boundary is a plane: rigid ones with compliant volumes, compliant ones with
//! rigid surfaces.

use super::clip::{cut, position, section_edges, valued, with_modulus};
use super::elements::{CompliantMesh, RigidMesh};
use super::obb_tree::Region;
use super::planes::{Plane, is_along};
use super::raw_surface::{RawFace, RawSurface};
use nalgebra::{Isometry3, Matrix3, Vector3};
use smallvec::SmallVec;
use std::collections::HashMap;

/// Vertices of a surface that several faces share, by the edges or vertices of a mesh on which they
/// lie.
#[derive(Default)]
pub(super) struct SharedVertices {
    by_edge: HashMap<[u32; 2], u32>,
}

impl SharedVertices {
    fn get(&mut self, [a, b]: [u32; 2], make: impl FnOnce() -> u32) -> u32 {
        let edge = [a.min(b), a.max(b)];
        *self.by_edge.entry(edge).or_insert_with(make)
    }
}

/// Returns the matrix P of a point on an edge along `along`, which moves with one geometry, in a
/// plane that moves with the other: as much of the other's motion as the plane takes along.
fn motion_along_edge(along: &Vector3<f64>, normal: &Vector3<f64>) -> Matrix3<f64> {
    along * normal.transpose() / normal.dot(along)
}

/// Adds the faces between a rigid half space at `X_SR` and a compliant mesh with some modulus (Pa).
pub(super) fn intersect_rigid_plane(
    surface: &mut RawSurface,
    shared: &mut SharedVertices,
    s: &CompliantMesh,
    modulus: f64,
    x_sr: &Isometry3<f64>,
) {
    let normal = x_sr.rotation * Vector3::z();
    let offset = normal.dot(&x_sr.translation.vector);
    let plane = Plane { normal, offset };
    let reach = s.reach + x_sr.translation.vector.amax();
    let region = Region::new(&[plane, plane.opposite()], &[], reach);
    shared.by_edge.clear();
    s.tree.for_each_in(&region, |e| {
        let tetrahedron = &s.tetrahedra[e as usize];
        let corners = s.corners(tetrahedron);
        let heights = corners.map(|p| plane.height(&position(&p)));
        let edges = section_edges(&heights);
        if edges.is_empty() {
            return;
        }
        let vertices = edges.iter().map(|[a, b]| {
            let (a, b) = (*a, *b);
            let ends = [tetrahedron.vertices[a], tetrahedron.vertices[b]];
            shared.get(ends, || {
                let p = cut(corners[a], heights[a], corners[b], heights[b]);
                let along = position(&(corners[b] - corners[a]));
                surface.add_vertex(with_modulus(p, modulus), || {
                    motion_along_edge(&along, &normal)
                })
            })
        });
        let vertices: SmallVec<[u32; 4]> = vertices.collect();
        let face = RawFace {
            num_vertices: vertices.len() as u32,
            normal,
            gradient_s: tetrahedron.gradient * modulus,
            gradient_r: Vector3::zeros(),
        };
        surface.add_face_of(&vertices, face);
    });
}

/// Adds the faces between a rigid mesh at `X_SR` and a compliant half space, whose pressure rises
/// by `pressure_per_depth` (Pa/m) from its boundary down and which begins `margin` (m) above it.
pub(super) fn intersect_compliant_plane(
    surface: &mut RawSurface,
    shared: &mut SharedVertices,
    pressure_per_depth: f64,
    margin: f64,
    r: &RigidMesh,
    x_sr: &Isometry3<f64>,
) {
    let r_sr = x_sr.rotation.to_rotation_matrix().into_inner();
    let p_sr = x_sr.translation.vector;
    let up = Vector3::z();
    let gradient = -up * pressure_per_depth;
    // In R, below the plane.
    let below = Plane {
        normal: r_sr.tr_mul(&up),
        offset: margin - p_sr.z,
    };
    let region = Region::new(&[below], &[], r.reach + p_sr.amax());
    shared.by_edge.clear();
    r.tree.for_each_in(&region, |t| {
        let normal = r.surface.face_normal(t as usize);
        if normal == Vector3::zeros() {
            return;
        }
        let normal = r_sr * normal;
        if !is_along(&normal, &gradient) {
            return;
        }
        let indices = r.surface.element(t as usize).vertices();
        let corners = r.corners(t as usize).map(|p| r_sr * p + p_sr);
        let heights = corners.map(|p| p.z - margin);
        let mut vertices: SmallVec<[u32; 4]> = SmallVec::new();
        let pressure = |p: &Vector3<f64>| -pressure_per_depth * p.z;
        for (a, b) in [(0, 1), (1, 2), (2, 0)] {
            let (p, q) = (corners[a], corners[b]);
            if heights[a] <= 0.0 {
                let motion = Matrix3::identity;
                let add = || surface.add_vertex(valued(&p, pressure(&p)), motion);
                vertices.push(shared.get([indices[a]; 2], add));
            }
            if (heights[a] <= 0.0) != (heights[b] <= 0.0) {
                vertices.push(shared.get([indices[a], indices[b]], || {
                    let p = cut(p, heights[a], q, heights[b]);
                    let motion =
                        || Matrix3::identity() - motion_along_edge(&(corners[b] - corners[a]), &up);
                    surface.add_vertex(valued(&p, pressure(&p)), motion)
                }));
            }
        }
        if vertices.len() >= 3 {
            let face = RawFace {
                num_vertices: vertices.len() as u32,
                normal,
                gradient_s: gradient,
                gradient_r: Vector3::zeros(),
            };
            surface.add_face_of(&vertices, face);
        }
    });
}
