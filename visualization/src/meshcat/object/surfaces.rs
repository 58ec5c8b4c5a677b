//! Surfaces of triangles.

use super::buffer_geometry::{Attribute, BufferGeometry, check_count, is_finite, single, size};
use super::files::read_image;
use super::lines::polyline;
use super::material::{self, check_size};
use super::{Object, ObjectEncoder, Paint, SurfaceStyle, VertexArray};
use crate::{Error, Result};
use bytes::Bytes;
use nalgebra::{DMatrix, Matrix4, Vector3};
use std::ops::Range;
use std::sync::Arc;
use tarragon_framework::counted;
use tarragon_framework::warnings::warn;
use tarragon_geometry::Rgba;
use tarragon_geometry::mesh::{RenderMesh, TriangleSurfaceMesh};

/// Colour that the vertex colours are multiplied with, as in Drake: three channels of 0.9.
const UNDER_VERTEX_COLORS: u64 = 0x00E5_E5E5;

/// Encodes triangles between `vertices` (m), which `faces` index. Triangles with a vertex that is
/// not finite are left out.
///
/// # Errors
/// Returns an error if a face has a vertex that does not exist, the line width is not positive and
/// finite, or the object does not fit into a message.
pub(crate) fn triangle_mesh(
    e: &ObjectEncoder<'_>,
    vertices: &[Vector3<f64>],
    faces: &[[u32; 3]],
    style: &SurfaceStyle,
) -> Result<Object> {
    let function = "set_triangle_mesh";
    check_faces(function, vertices, faces)?;
    surface(
        e,
        function,
        vertices,
        (faces.len(), faces.iter().copied()),
        None,
        style,
    )
}

/// Encodes a [`triangle_mesh`] with a colour for every vertex: red, green and blue from 0 to 1.
/// Only the alpha of the style's colour is used.
///
/// # Errors
/// Returns an error in the cases of [`triangle_mesh`]; also if there are not as many colours as
/// vertices, or a channel is outside of `[0, 1]`.
pub(crate) fn triangle_color_mesh(
    e: &ObjectEncoder<'_>,
    vertices: &[Vector3<f64>],
    faces: &[[u32; 3]],
    colors: &[[f64; 3]],
    style: &SurfaceStyle,
) -> Result<Object> {
    let function = "set_triangle_color_mesh";
    check_faces(function, vertices, faces)?;
    if colors.len() != vertices.len() {
        return Err(Error::invalid(format!(
            "Meshcat: {function}: there must be one color per vertex, got {colors} for {vertices}",
            colors = counted(colors.len(), "color"),
            vertices = counted(vertices.len(), "vertex")
        )));
    }
    let outside = |c: &[f64; 3]| !c.iter().all(|x| (0.0..=1.0).contains(x));
    if let Some(i) = colors.iter().position(outside) {
        return Err(Error::invalid(format!(
            "Meshcat: {function}: colors[{i}] must have values from 0 to 1, got {:?}",
            colors[i]
        )));
    }
    surface(
        e,
        function,
        vertices,
        (faces.len(), faces.iter().copied()),
        Some(colors),
        style,
    )
}

/// Encodes a triangle mesh (m).
///
/// # Errors
/// Returns an error if the line width is not positive and finite, or the object does not fit into a
/// message.
pub(crate) fn surface_mesh(
    e: &ObjectEncoder<'_>,
    mesh: &TriangleSurfaceMesh,
    style: &SurfaceStyle,
) -> Result<Object> {
    let triangles = mesh.triangles();
    let faces = (triangles.len(), triangles.iter().map(|t| t.vertices()));
    surface(e, "set_surface_mesh", mesh.vertices(), faces, None, style)
}

/// Encodes the surface through the points whose coordinates (m) are the elements of `x`, `y` and
/// `z`. Points that are neighbours in a row or a column are neighbours on the surface. A wireframe
/// consists of the lines along rows and columns. Points that are not finite leave holes.
///
/// # Errors
/// Returns an error if the matrices differ in size or have no elements, a filled surface has fewer
/// than 2 rows or columns, the line width is not positive and finite, or the object does not fit
/// into a message.
pub(crate) fn plot_surface(
    e: &ObjectEncoder<'_>,
    x: &DMatrix<f64>,
    y: &DMatrix<f64>,
    z: &DMatrix<f64>,
    style: &SurfaceStyle,
) -> Result<Object> {
    let function = "plot_surface";
    let (rows, columns) = x.shape();
    if y.shape() != x.shape() || z.shape() != x.shape() {
        let [x, y, z] = [x, y, z].map(|m| format!("{} x {}", m.nrows(), m.ncols()));
        return Err(Error::invalid(format!(
            "Meshcat: {function}: X, Y and Z must have the same numbers of rows and columns, got {x}, {y} \
             and {z}"
        )));
    }
    let least = if style.wireframe { 1 } else { 2 };
    if rows < least || columns < least {
        return Err(Error::invalid(format!(
            "Meshcat: {function}: X, Y and Z must have at least {num_rows} and {num_columns}, \
             got {found} and {found_columns}",
            num_rows = counted(least, "row"),
            num_columns = counted(least, "column"),
            found = counted(rows, "row"),
            found_columns = counted(columns, "column")
        )));
    }
    check_style(function, style)?;
    let style = &SurfaceStyle {
        rgba: Some(style.or_colored(0.9)),
        ..*style
    };
    // All three have the same size, so one index finds the same element in each.
    let point = |i: usize| [x[i] as f32, y[i] as f32, z[i] as f32];
    if style.wireframe {
        let n = x.len().saturating_mul(2);
        let points = grid_lines(rows, columns).map(|(r, c)| point(r + c * rows));
        return polyline(
            e,
            function,
            (n, points),
            style.wireframe_line_width,
            style.color(),
        );
    }
    let n = 2 * (rows - 1) * (columns - 1);
    check_count(function, "triangles", n)?;
    let faces = (0..rows - 1).flat_map(|r| (0..columns - 1).map(move |c| r + c * rows));
    let faces = faces.flat_map(|i| [[i, i + 1, i + rows], [i + 1, i + rows + 1, i + rows]]);
    let faces = faces.map(|t| t.map(|i| i as u32));
    let points = (x.len(), point);
    Ok(indexed(e, points, (n, faces), OnVertices::Nothing, style).0)
}

/// Returns the rows and columns of a grid as one continuous line: row after row, in alternating
/// directions, then column after column from where the rows end.
fn grid_lines(rows: usize, columns: usize) -> impl Iterator<Item = (usize, usize)> + Clone {
    let back = |turn: bool, i: usize, n: usize| if turn { n - 1 - i } else { i };
    let along_rows =
        (0..rows).flat_map(move |r| (0..columns).map(move |c| (r, back(r % 2 == 1, c, columns))));
    let along_columns = (0..columns).flat_map(move |k| {
        let c = back(rows % 2 == 1, k, columns);
        (0..rows).map(move |r| (back(k % 2 == 0, r, rows), c))
    });
    along_rows.chain(along_columns)
}

fn check_style(function: &str, style: &SurfaceStyle) -> Result<()> {
    let what = "wireframe_line_width";
    check_size(function, what, "pixels", style.wireframe_line_width)
}

fn check_faces(function: &str, vertices: &[Vector3<f64>], faces: &[[u32; 3]]) -> Result<()> {
    let out_of_range = |face: &[u32; 3]| face.iter().any(|v| *v as usize >= vertices.len());
    match faces.iter().position(out_of_range) {
        None => Ok(()),
        Some(i) => Err(Error::invalid(format!(
            "Meshcat: {function}: the vertices of faces[{i}] must exist, got {:?} for {vertices}, \
             counted from 0",
            faces[i],
            vertices = counted(vertices.len(), "vertex")
        ))),
    }
}

/// Encodes a surface whose faces were checked to have existing vertices.
fn surface(
    e: &ObjectEncoder<'_>,
    function: &str,
    vertices: &[Vector3<f64>],
    faces: (usize, impl Iterator<Item = [u32; 3]> + Clone),
    colors: Option<&[[f64; 3]]>,
    style: &SurfaceStyle,
) -> Result<Object> {
    check_style(function, style)?;
    check_count(function, "vertices", vertices.len())?;
    check_count(function, "faces", faces.0)?;
    let vertices = (vertices.len(), |i: usize| single(&vertices[i]));
    let on_vertices = colors.map_or(OnVertices::Nothing, OnVertices::Colors);
    Ok(indexed(e, vertices, faces, on_vertices, style).0)
}

/// Encodes the triangles of a mesh between `vertices` (m) as flat faces, which
/// [`Scene::set_vertices`](crate::meshcat::Scene::set_vertices) can move. Where every vertex has
/// one pair of texture coordinates, they have the image of `paint`; an image that cannot be read is
/// logged and left out.
///
/// # Errors
/// Returns an error if the object does not fit into a message.
pub(crate) fn driven_mesh(
    e: &ObjectEncoder<'_>,
    mesh: &Arc<RenderMesh>,
    vertices: &[Vector3<f64>],
    paint: Paint<'_>,
) -> Result<Object> {
    check_count("deformable geometry", "vertices", vertices.len())?;
    check_count("deformable geometry", "triangles", mesh.triangles.len())?;
    let vertices = (vertices.len(), |i: usize| single(&vertices[i]));
    let faces = (mesh.triangles.len(), mesh.triangles.iter().copied());
    let coordinates = paint.diffuse_map.and_then(|_| vertex_uvs(mesh));
    let image = coordinates.and_then(|coordinates| {
        let (file, tint) = paint.diffuse_map?;
        let content = match read_image(file) {
            Ok(content) => content,
            Err(e) => {
                warn(format!("Meshcat: the mesh is shown without its image: {e}"));
                return None;
            }
        };
        Some((
            tint,
            VertexImage {
                coordinates,
                content,
            },
        ))
    });
    let style = SurfaceStyle {
        rgba: Some(image.as_ref().map_or(paint.rgba, |(tint, _)| *tint)),
        ..SurfaceStyle::default()
    };
    let on_vertices = match &image {
        Some((_, image)) => OnVertices::Image(image),
        None => OnVertices::Nothing,
    };
    let (mut object, range) = indexed(e, vertices, faces, on_vertices, &style);
    let mesh = mesh.clone();
    object.vertices = range.map(|range| VertexArray { mesh, range });
    Ok(object)
}

/// Returns the texture coordinates of the vertices; `None` if one has several pairs, or none.
fn vertex_uvs(mesh: &RenderMesh) -> Option<Vec<[f32; 2]>> {
    const UNKNOWN: u32 = RenderMesh::NO_UV;
    let mut index_of = vec![UNKNOWN; mesh.positions.len()];
    for (triangle, indices) in mesh.triangles.iter().zip(&mesh.triangle_uvs) {
        for (v, index) in triangle.iter().zip(indices) {
            let known = &mut index_of[*v as usize];
            if *index == UNKNOWN || *known != UNKNOWN && known != index {
                return None;
            }
            *known = *index;
        }
    }
    // Without triangles, there is nothing to paint; other vertices are in none.
    let uv = |index: u32| mesh.uvs.get(index as usize).copied().unwrap_or_default();
    let found = !mesh.triangle_uvs.is_empty();
    found.then(|| {
        let uvs = index_of.into_iter().map(uv);
        uvs.map(|uv| uv.map(|x| x as f32)).collect()
    })
}

/// An image on a surface, with the texture coordinates of the vertices.
struct VertexImage {
    coordinates: Vec<[f32; 2]>,
    content: Bytes,
}

/// Appearance that is given by the vertices.
#[derive(Clone, Copy)]
enum OnVertices<'a> {
    Nothing,
    /// Red, green and blue.
    Colors(&'a [[f64; 3]]),
    Image(&'a VertexImage),
}

/// Encodes flat faces in the colour of the style or of the vertices. The index is written even if
/// there are no faces; without an index, three.js would treat the vertices as triangles. Faces with
/// vertices that are not finite are left out. Returns the range of the positions in the object as
/// well, unless there are such vertices.
fn indexed(
    e: &ObjectEncoder<'_>,
    (n, vertex): (usize, impl Fn(usize) -> [f32; 3]),
    (mut num_faces, faces): (usize, impl Iterator<Item = [u32; 3]> + Clone),
    on_vertices: OnVertices<'_>,
    style: &SurfaceStyle,
) -> (Object, Option<Range<usize>>) {
    let is_complete = (0..n).all(|i| is_finite(&vertex(i)));
    let drawn = |t: &[u32; 3]| is_complete || t.iter().all(|v| is_finite(&vertex(*v as usize)));
    let mut substitute = [0.0; 3];
    if !is_complete {
        num_faces = faces.clone().filter(drawn).count();
        let finite = (0..n).map(&vertex).find(is_finite);
        substitute = finite.unwrap_or_default();
    }
    let (colors, image) = match on_vertices {
        OnVertices::Nothing => (None, None),
        OnVertices::Colors(colors) => (Some(colors), None),
        OnVertices::Image(image) => (None, Some(image)),
    };
    let has_two = colors.is_some() || image.is_some();
    let arrays = if has_two { 2 } else { 1 };
    let color = colors.map_or_else(|| material::hex(style.color()), |_| UNDER_VERTEX_COLORS);
    let mut range = 0..0;
    let object = e.textured_object(
        arrays * size(n) + size(num_faces),
        "Mesh",
        image.map(|image| &*image.content),
        |w, uuid| {
            let mut geometry = BufferGeometry::new(w, uuid, true);
            geometry.index(num_faces, faces.filter(drawn));
            geometry.attributes(arrays);
            if let Some(colors) = colors {
                let colors = colors.iter().map(|c| c.map(|c| c as f32));
                geometry.attribute(Attribute::Color, n, colors);
            }
            let positions = (0..n).map(&vertex);
            let positions = positions.map(|p| if is_finite(&p) { p } else { substitute });
            range = geometry.attribute(Attribute::Position, n, positions);
            if let Some(VertexImage { coordinates, .. }) = image {
                let coordinates = coordinates.iter().copied();
                geometry.attribute(Attribute::TextureCoordinates, n, coordinates);
            }
        },
        |w, uuid, map| material::flat(w, uuid, style, color, colors.is_some(), map),
        &Matrix4::identity(),
    );
    (object, is_complete.then_some(range))
}

/// Encodes a hull: flat faces, visible from both sides.
pub(super) fn hull(
    e: &ObjectEncoder<'_>,
    mesh: &TriangleSurfaceMesh,
    rgba: Rgba,
) -> Result<Object> {
    let style = SurfaceStyle {
        rgba: Some(rgba),
        ..SurfaceStyle::default()
    };
    surface_mesh(e, mesh, &style)
}
