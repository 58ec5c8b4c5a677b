//! Meshes sent as triangles.

use super::buffer_geometry::{Attribute, BufferGeometry, check_count, single, size};
use super::{Object, ObjectEncoder, Paint, material};
use crate::Result;
use nalgebra::Matrix4;
use tarragon_framework::warnings::warn;
use tarragon_geometry::mesh::RenderMesh;
use tarragon_geometry::{MeshSource, Rgba};

/// Encodes the triangles of `mesh`, which was read from `source`, with their normals. A file
/// without colours is drawn in that of `paint`, a file with a single colour in that colour. If a
/// file has several colours, every vertex has its own.
///
/// # Errors
/// Returns an error if there are more vertices or triangles than fit into a message.
pub(super) fn object(
    e: &ObjectEncoder<'_>,
    source: &MeshSource,
    mesh: &RenderMesh,
    paint: Paint<'_>,
    matrix: &Matrix4<f64>,
) -> Result<Object> {
    let name = source.description();
    let textured = mesh.materials.iter().filter(|m| m.diffuse_map.is_some());
    if textured.count() > 0 || paint.diffuse_map.is_some() {
        warn(format!(
            "{name}: only colours of such files are shown, not textures; OBJ and glTF files \
             can have textures"
        ));
    }
    let colors = Colors::of(mesh, paint.rgba);
    let vertices = Vertices::of(mesh, &colors);
    let n = vertices.list.len();
    check_count(&name, "vertices", n)?;
    check_count(&name, "triangles", vertices.triangles.len())?;
    let (color, per_vertex) = match &colors {
        Colors::One(color) => (*color, false),
        Colors::PerGroup(_) => (Rgba::WHITE, true),
    };
    let arrays = if per_vertex { 3 } else { 2 };
    Ok(e.object(
        arrays * size(n) + size(vertices.triangles.len()),
        "Mesh",
        |w, uuid| {
            let mut geometry = BufferGeometry::new(w, uuid, true);
            let triangles = vertices.triangles.iter().copied();
            geometry.index(vertices.triangles.len(), triangles);
            geometry.attributes(arrays);
            let list = || vertices.list.iter();
            if per_vertex {
                geometry.attribute(Attribute::Color, n, list().map(|v| v.color));
            }
            geometry.attribute(Attribute::Normal, n, list().map(|v| v.normal));
            let positions = list().map(|v| single(&mesh.positions[v.position as usize].coords));
            geometry.attribute(Attribute::Position, n, positions);
        },
        |w, uuid| material::phong(w, uuid, color, per_vertex),
        matrix,
    ))
}

/// Colours of a mesh.
enum Colors {
    /// One sRGB colour for the whole mesh.
    One(Rgba),
    /// One colour per group of triangles, in linear light as three.js requires for vertex colours.
    PerGroup(Vec<[f32; 3]>),
}

impl Colors {
    fn of(mesh: &RenderMesh, rgba: Rgba) -> Self {
        let diffuse =
            |material: Option<usize>| material.and_then(|m| mesh.materials.get(m)?.diffuse);
        let groups = mesh
            .groups
            .iter()
            .map(|g| diffuse(g.material).unwrap_or(rgba));
        let groups: Vec<Rgba> = groups.collect();
        let first = groups.first().copied().unwrap_or(rgba);
        if mesh.colors.is_empty() && groups.iter().all(|g| *g == first) {
            return Self::One(first);
        }
        let linear = |g: &Rgba| [g.r(), g.g(), g.b()].map(|c| linear(c) as f32);
        Self::PerGroup(groups.iter().map(linear).collect())
    }
}

/// Converts an sRGB channel to linear light (IEC 61966-2-1).
fn linear(c: f64) -> f64 {
    if c <= 0.04045 {
        c / 12.92
    } else {
        ((c + 0.055) / 1.055).powf(2.4)
    }
}

/// A corner of a triangle, which triangles may share.
struct Vertex {
    position: u32,
    normal: [f32; 3],
    color: [f32; 3],
    /// Next vertex at the same position.
    next: u32,
}

/// Vertices as graphics cards need them, with one index for all attributes.
struct Vertices {
    list: Vec<Vertex>,
    triangles: Vec<[u32; 3]>,
}

/// Index that means "no vertex".
const NONE: u32 = u32::MAX;
/// Maximum number of vertices at one position that are searched for an equal one. More are rare,
/// and the search must not take quadratic time for a fan of a million flat triangles.
const MAX_SEARCH: usize = 32;

impl Vertices {
    fn of(mesh: &RenderMesh, colors: &Colors) -> Self {
        let mut at_position = vec![NONE; mesh.positions.len()];
        let mut list: Vec<Vertex> = Vec::with_capacity(mesh.positions.len());
        let mut triangles = Vec::with_capacity(mesh.triangles.len());
        for (g, group) in mesh.groups.iter().enumerate() {
            let group_color = match colors {
                Colors::One(_) => [1.0; 3],
                Colors::PerGroup(colors) => colors[g],
            };
            for t in group.triangles.clone() {
                let corners = [0, 1, 2].map(|k| {
                    let position = mesh.triangles[t][k];
                    let normal = mesh.normals[mesh.triangle_normals[t][k] as usize];
                    let normal = single(&normal);
                    let mut color = group_color;
                    if let Some(own) = mesh.colors.get(position as usize) {
                        color.iter_mut().zip(own).for_each(|(c, own)| *c *= own);
                    }
                    let first = &mut at_position[position as usize];
                    let mut i = *first;
                    for _ in 0..MAX_SEARCH {
                        let Some(v) = list.get(i as usize) else { break };
                        if v.normal == normal && v.color == color {
                            return i;
                        }
                        i = v.next;
                    }
                    let next = std::mem::replace(first, list.len() as u32);
                    list.push(Vertex {
                        position,
                        normal,
                        color,
                        next,
                    });
                    list.len() as u32 - 1
                });
                triangles.push(corners);
            }
        }
        Self { list, triangles }
    }
}
