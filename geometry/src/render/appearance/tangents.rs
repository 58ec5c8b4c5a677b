//! Tangents of meshes whose file has none, by Mikkelsen's method, which glTF prescribes (M.
//! Mikkelsen, "Simulation of wrinkled surfaces revisited", 2008).

use super::surface_material::SurfaceMaterial;
use super::texture::PlacedTexture;
use crate::mesh::RenderMesh;
use bevy_mikktspace::{Geometry, TangentSpace, generate_tangents};
use nalgebra::{Point3, Vector3};

/// Returns true if the winding of a triangle contradicts its normals. Engines reverse it, because
/// the normals decide.
pub fn is_turned(p: &[Point3<f64>; 3], n: &[Vector3<f64>; 3]) -> bool {
    let winding = (p[1] - p[0]).cross(&(p[2] - p[0]));
    winding.dot(&(n[0] + n[1] + n[2])) < 0.0
}

/// Computes the tangents that are missing for the normal maps of a mesh. `materials` are one for
/// triangles without a material, then those of the mesh.
pub(super) fn complete_tangents(mesh: &mut RenderMesh, materials: &[SurfaceMaterial]) {
    let mut open = Vec::new();
    for group in &mesh.groups {
        let material = group.material.and_then(|m| materials.get(m + 1));
        let maps = material.and_then(|m| m.maps.as_ref());
        let Some(normal) = maps.and_then(|maps| maps.normal.as_ref()) else {
            continue;
        };
        // Without texture coordinates there is no direction of u.
        let lacks = |t: &usize| {
            let tangents = mesh.triangle_tangents.get(*t);
            tangents.is_none_or(|t| t.contains(&RenderMesh::NO_TANGENT))
                && !mesh
                    .uv_indices(*t, normal.uv_set)
                    .contains(&RenderMesh::NO_UV)
        };
        let triangle = |t: usize| {
            let p = mesh.triangles[t].map(|v| mesh.positions[v as usize]);
            let n = mesh.triangle_normals[t].map(|n| mesh.normals[n as usize]);
            OpenTriangle {
                triangle: t,
                turned: is_turned(&p, &n),
                normal,
            }
        };
        open.extend(group.triangles.clone().filter(lacks).map(triangle));
    }
    if open.is_empty() {
        return;
    }
    let mut missing = MissingTangents {
        found: vec![[RenderMesh::NO_TANGENT; 3]; open.len()],
        open: &open,
        mesh,
    };
    // Its type of errors has no values. Corners that get no tangent keep the normal of the surface.
    let _ = generate_tangents(&mut missing);
    let found = missing.found;
    let none = [RenderMesh::NO_TANGENT; 3];
    mesh.triangle_tangents.resize(mesh.triangles.len(), none);
    for (open, found) in open.iter().zip(found) {
        mesh.triangle_tangents[open.triangle] = found;
    }
}

/// A triangle without tangents.
struct OpenTriangle<'a> {
    /// Index in the mesh.
    triangle: usize,
    turned: bool,
    normal: &'a PlacedTexture,
}

/// Triangles whose tangents are computed.
struct MissingTangents<'a> {
    mesh: &'a RenderMesh,
    open: &'a [OpenTriangle<'a>],
    found: Vec<[[f32; 4]; 3]>,
}

impl MissingTangents<'_> {
    /// Returns the index of a corner in the file. Triangles are passed on with the winding that
    /// engines draw, on which the sign of the bitangent depends.
    fn corner(&self, face: usize, vert: usize) -> usize {
        if self.open[face].turned {
            [0, 2, 1][vert]
        } else {
            vert
        }
    }
}

impl Geometry for MissingTangents<'_> {
    fn num_faces(&self) -> usize {
        self.open.len()
    }
    fn num_vertices_of_face(&self, _face: usize) -> usize {
        3
    }
    fn position(&self, face: usize, vert: usize) -> [f32; 3] {
        let v = self.mesh.triangles[self.open[face].triangle][self.corner(face, vert)];
        self.mesh.positions[v as usize].coords.cast().into()
    }
    fn normal(&self, face: usize, vert: usize) -> [f32; 3] {
        let n = self.mesh.triangle_normals[self.open[face].triangle][self.corner(face, vert)];
        self.mesh.normals[n as usize].cast().into()
    }
    fn tex_coord(&self, face: usize, vert: usize) -> [f32; 2] {
        let open = &self.open[face];
        let uvs = self.mesh.uvs_of(open.triangle, open.normal.uv_set)[self.corner(face, vert)];
        open.normal.at(uvs.map(|x| x as f32))
    }
    fn set_tangent(&mut self, tangent: Option<TangentSpace>, face: usize, vert: usize) {
        let corner = self.corner(face, vert);
        if let Some(tangent) = tangent {
            self.found[face][corner] = tangent.tangent_encoded();
        }
    }
}
