//! Triangles with one material, encoded for glTF.

use super::buffer::Buffer;
use super::material::VertexNeeds;
use super::tessellation::Tessellation;
use crate::{Error, Result};
use std::collections::HashMap;
use std::ops::Range;
use tarragon_geometry::mesh::RenderMesh;

/// Triangles with one material (a glTF primitive), in the frame of the geometry.
#[derive(Debug)]
pub(super) struct Primitive {
    /// Number of vertices.
    pub(super) vertices: usize,
    /// Number of indices, three per triangle.
    pub(super) indices: usize,
    /// Least and greatest coordinates of the vertices (m).
    pub(super) bounds: [[f32; 3]; 2],
    pub(super) position: Buffer,
    pub(super) normal: Option<Buffer>,
    pub(super) uv: Option<Buffer>,
    /// Texture coordinates of the second set.
    pub(super) second_uv: Option<Buffer>,
    pub(super) tangent: Option<Buffer>,
    pub(super) color: Option<Buffer>,
    pub(super) index: Buffer,
}

/// Vertex of a mesh; equal ones are merged.
#[derive(Clone, Copy)]
struct Vertex {
    position: [f32; 3],
    normal: [f32; 3],
    uv: [f32; 2],
    second_uv: [f32; 2],
    tangent: [f32; 4],
    color: [f32; 4],
}

/// Bits of all numbers of a vertex.
type VertexKey = [u32; 18];

impl Vertex {
    /// Returns the bits that equal vertices share.
    fn key(&self) -> VertexKey {
        let mut key = [0; 18];
        let numbers = self.position.iter().chain(&self.normal);
        let numbers = numbers.chain(&self.uv).chain(&self.color);
        let numbers = numbers.chain(&self.second_uv).chain(&self.tangent);
        for (bits, x) in key.iter_mut().zip(numbers) {
            // Adding zero turns -0 into 0, which is equal to it.
            *bits = (x + 0.0).to_bits();
        }
        key
    }
}

impl Primitive {
    /// Encodes a primitive shape, without normals as Drake's client does. Drake turns textures
    /// upside down instead of the coordinates; `textured` turns the coordinates, so that the image
    /// can stay as it is.
    pub(super) fn of_tessellation(made: &Tessellation, textured: bool) -> Result<Self> {
        let turned = |[u, v]: &[f32; 2]| [*u, 1.0 - v];
        Ok(Self {
            vertices: made.positions.len(),
            indices: made.indices.len(),
            bounds: bounds(&made.positions)?,
            position: Buffer::of_floats(&made.positions),
            normal: None,
            uv: Some(if textured {
                Buffer::of_floats(&made.uvs.iter().map(turned).collect::<Vec<_>>())
            } else {
                Buffer::of_floats(&made.uvs)
            }),
            second_uv: None,
            tangent: None,
            color: None,
            index: Buffer::of_indices(&made.indices),
        })
    }

    /// Encodes a range of triangles of a mesh, with what their material needs. Corners with equal
    /// numbers share a vertex. Tangents are left out if one is missing: the server computes them.
    /// Returns `None` if the range is empty.
    ///
    /// # Errors
    /// Returns an error if a coordinate is not a finite `f32`.
    pub(super) fn of_mesh(
        mesh: &RenderMesh,
        triangles: Range<usize>,
        needs: VertexNeeds,
    ) -> Result<Option<Self>> {
        if triangles.is_empty() {
            return Ok(None);
        }
        let tangents = mesh.triangle_tangents.get(triangles.clone());
        let all_known = |t: &[[[f32; 4]; 3]]| !t.as_flattened().contains(&RenderMesh::NO_TANGENT);
        let needs = VertexNeeds {
            second_uvs: needs.second_uvs && !mesh.triangle_second_uvs.is_empty(),
            tangents: needs.tangents && tangents.is_some_and(all_known),
        };
        let mut known: HashMap<VertexKey, u32> = HashMap::new();
        let (mut vertices, mut indices) = (Vec::<Vertex>::new(), Vec::new());
        for t in triangles {
            for k in 0..3 {
                let vertex = corner(mesh, t, k, needs);
                let index = *known.entry(vertex.key()).or_insert_with(|| {
                    vertices.push(vertex);
                    vertices.len() as u32 - 1
                });
                indices.push(index);
            }
        }
        let positions: Vec<[f32; 3]> = vertices.iter().map(|v| v.position).collect();
        Ok(Some(Self {
            vertices: vertices.len(),
            indices: indices.len(),
            bounds: bounds(&positions)?,
            position: Buffer::of_floats(&positions),
            normal: encoded(&vertices, true, |v| v.normal),
            uv: encoded(&vertices, !mesh.triangle_uvs.is_empty(), |v| v.uv),
            second_uv: encoded(&vertices, needs.second_uvs, |v| v.second_uv),
            tangent: encoded(&vertices, needs.tangents, |v| v.tangent),
            color: encoded(&vertices, !mesh.colors.is_empty(), |v| v.color),
            index: Buffer::of_indices(&indices),
        }))
    }
}

/// Encodes an attribute of vertices, if it is wanted.
fn encoded<const N: usize>(
    vertices: &[Vertex],
    wanted: bool,
    of: impl Fn(&Vertex) -> [f32; N],
) -> Option<Buffer> {
    wanted.then(|| Buffer::of_floats(&vertices.iter().map(of).collect::<Vec<_>>()))
}

/// Returns a corner of a triangle, with v of the texture coordinates downwards as in glTF.
fn corner(mesh: &RenderMesh, t: usize, k: usize, needs: VertexNeeds) -> Vertex {
    let v = mesh.triangles[t][k] as usize;
    let normal = mesh.triangle_normals[t][k] as usize;
    let uv_of = |set: usize| {
        let [u, up] = mesh.uvs_of(t, set)[k];
        [u as f32, (1.0 - up) as f32]
    };
    Vertex {
        position: mesh.positions[v].coords.map(|x| x as f32).into(),
        normal: mesh.normals[normal].map(|x| x as f32).into(),
        uv: uv_of(0),
        second_uv: if needs.second_uvs { uv_of(1) } else { [0.0; 2] },
        tangent: match mesh.triangle_tangents.get(t) {
            Some(tangents) if needs.tangents => tangents[k],
            _ => RenderMesh::NO_TANGENT,
        },
        color: mesh.colors.get(v).copied().unwrap_or([1.0; 4]),
    }
}

/// Returns the least and the greatest coordinates.
fn bounds(positions: &[[f32; 3]]) -> Result<[[f32; 3]; 2]> {
    let (mut least, mut most) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
    for p in positions {
        if !p.iter().all(|x| x.is_finite()) {
            return Err(Error::invalid(format!(
                "vertices must fit into 32-bit floats to be sent, got {p:?} (m)"
            )));
        }
        for k in 0..3 {
            least[k] = least[k].min(p[k]);
            most[k] = most[k].max(p[k]);
        }
    }
    Ok([least, most])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use tarragon_geometry::mesh::parse_obj;

    fn quad(text: &str) -> RenderMesh {
        parse_obj(Path::new("quad.obj"), text.as_bytes()).unwrap()
    }

    #[test]
    fn equal_corners_share_a_vertex() {
        let flat = quad("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\nf 1 3 4\n");
        let made = Primitive::of_mesh(&flat, 0..2, VertexNeeds::default())
            .unwrap()
            .unwrap();
        assert_eq!((made.vertices, made.indices), (4, 6));
        assert_eq!(made.bounds, [[0.0; 3], [1.0, 1.0, 0.0]]);
        assert!(made.uv.is_none() && made.color.is_none());
        assert_eq!(made.normal.as_ref().unwrap().bytes, 48);
        // The same with repeated positions, one of them with a negative zero.
        let again = quad(
            "v 0 0 0\nv 1 0 0\nv 1 1 0\nv -0.0 0 0\nv 1 1 0\nv 0 1 0\nvn 0 0 1\n\
             f 1//1 2//1 3//1\nf 4//1 5//1 6//1\n",
        );
        let again = Primitive::of_mesh(&again, 0..2, VertexNeeds::default())
            .unwrap()
            .unwrap();
        assert_eq!(again.vertices, 4);
        assert_eq!(again.index.base64, made.index.base64);
        assert!(
            Primitive::of_mesh(&flat, 1..1, VertexNeeds::default())
                .unwrap()
                .is_none()
        );
    }

    #[test]
    fn corners_that_differ_stay_apart_and_v_points_down() {
        let seam = quad(
            "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 -1 0\nvt 0 0\nvt 1 0.25\nvt 0.5 0.5\nvn 0 0 1\n\
             f 1/1/1 2/2/1 3/3/1\nf 2/1/1 1/2/1 4/3/1\n",
        );
        let made = Primitive::of_mesh(&seam, 0..2, VertexNeeds::default())
            .unwrap()
            .unwrap();
        assert_eq!(made.vertices, 6);
        let expected = [
            [0.0, 1.0],
            [1.0, 0.75],
            [0.5, 0.5],
            [0.0, 1.0],
            [1.0, 0.75],
            [0.5, 0.5],
        ];
        assert_eq!(
            made.uv.unwrap().base64,
            Buffer::of_floats::<2>(&expected).base64
        );
    }

    #[test]
    fn coordinates_beyond_f32_are_refused() {
        let huge = quad("v 0 0 0\nv 1e39 0 0\nv 0 1 0\nf 1 2 3\n");
        let error = Primitive::of_mesh(&huge, 0..1, VertexNeeds::default())
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("32-bit floats to be sent, got [inf"),
            "{error}"
        );
    }
}
