//! What `set_object` sends: three.js objects, encoded once.
//!
//! The form is three.js' "JSON Object/Scene format 4" in msgpack, with meshcat's types
//! `_meshfile_geometry` and `_meshfile_object` for what the page reads from the text of a file.
//! Names and order of the fields are those that Drake sends.

mod buffer_geometry;
mod gltf;
mod lines;
mod material;
mod mesh_file;
mod obj;
mod point_cloud;
mod render_mesh;
mod shape;
mod surfaces;

pub(crate) use lines::{line, line_segments};
pub(crate) use mesh_file::MAX_BYTES;
pub(crate) use point_cloud::point_cloud;
pub(crate) use shape::shape;
pub(crate) use surfaces::{plot_surface, surface_mesh, triangle_color_mesh, triangle_mesh};

use super::asset::{Asset, AssetStore};
use super::msgpack::Writer;
use nalgebra::Matrix4;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tarragon_geometry::Rgba;

/// Which side of its faces a surface shows (Drake's `Meshcat::SideOfFaceToRender`). The front is
/// where the vertices of a face turn counter-clockwise.
///
/// ```
/// use tarragon_visualization::SideOfFaceToRender;
/// assert_eq!(SideOfFaceToRender::default(), SideOfFaceToRender::Double);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SideOfFaceToRender {
    /// The front alone.
    Front,
    /// The back alone.
    Back,
    /// Both.
    #[default]
    Double,
}

/// Look of a surface. The default is filled, opaque and seen from both sides.
///
/// ```
/// use tarragon_visualization::SurfaceStyle;
/// let style = SurfaceStyle { wireframe: true, ..SurfaceStyle::default() };
/// assert_eq!(style.rgba, None);
/// assert_eq!(style.wireframe_line_width, 1.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceStyle {
    /// Colour of faces, or of edges; `None` for Drake's default: dark grey (0.1, 0.1, 0.1) for
    /// meshes, blue (0.1, 0.1, 0.9) for [plotted surfaces](crate::Meshcat::plot_surface). Where
    /// vertices have colours, its alpha alone counts.
    pub rgba: Option<Rgba>,
    /// Whether edges are drawn instead of faces.
    pub wireframe: bool,
    /// Width of the edges (pixels). Most browsers draw 1 whatever it is.
    pub wireframe_line_width: f64,
    /// Which sides are seen.
    pub side: SideOfFaceToRender,
}

impl Default for SurfaceStyle {
    fn default() -> Self {
        Self {
            rgba: None,
            wireframe: false,
            wireframe_line_width: 1.0,
            side: SideOfFaceToRender::default(),
        }
    }
}

impl SurfaceStyle {
    /// The colour of a mesh.
    fn color(&self) -> Rgba {
        self.or_colored(0.1)
    }
    /// The colour, dark with some blue if none is chosen.
    fn or_colored(&self, blue: f64) -> Rgba {
        let default = || Rgba::opaque(0.1, 0.1, blue).expect("the channels are from 0 to 1");
        self.rgba.unwrap_or_else(default)
    }
}

/// An object ready to be sent.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    /// The value of the message's `object` field.
    pub(crate) encoded: Vec<u8>,
    /// The files that it refers to, kept for as long as the object is in the scene.
    pub(crate) assets: Vec<Arc<Asset>>,
}

/// Identifiers of three.js objects: unique within one server, the same in every run.
#[derive(Debug, Default)]
pub(crate) struct Uuids(AtomicU64);

impl Uuids {
    /// The next identifier, in the form of a UUID of version 8 (RFC 9562, section 5.8).
    fn next(&self) -> Uuid {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut n = self.0.fetch_add(1, Ordering::Relaxed);
        let mut text = *b"74617272-6167-8f6e-8000-000000000000";
        for digit in text[24..].iter_mut().rev() {
            *digit = DIGITS[(n % 16) as usize];
            n /= 16;
        }
        Uuid(text)
    }
}

/// An identifier as text.
struct Uuid([u8; 36]);

impl Uuid {
    fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("hexadecimal digits are ASCII")
    }
}

/// What is needed to encode objects of one server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Encoder<'a> {
    /// Where identifiers come from.
    pub(crate) uuids: &'a Uuids,
    /// Where files go that objects refer to.
    pub(crate) assets: &'a AssetStore,
}

/// Bytes of an object apart from long arrays and texts.
const SMALL: usize = 1024;

impl Encoder<'_> {
    /// An object of one geometry and one material. `size` is about how many bytes their arrays
    /// have, `kind` the type of the object: `Mesh`, `Points`, ... The functions write geometry and
    /// material, whose identifiers they are given.
    fn object(
        &self,
        size: usize,
        kind: &str,
        geometry: impl FnOnce(&mut Writer, &str),
        material: impl FnOnce(&mut Writer, &str),
        matrix: &Matrix4<f64>,
    ) -> Object {
        let [geometry_id, material_id, id] = [(); 3].map(|()| self.uuids.next());
        let mut w = Writer::new(Vec::with_capacity(SMALL + size));
        w.map(4);
        metadata(&mut w);
        w.str("geometries").array(1);
        geometry(&mut w, geometry_id.as_str());
        w.str("materials").array(1);
        material(&mut w, material_id.as_str());
        w.str("object").map(5);
        w.key_str("uuid", id.as_str()).key_str("type", kind);
        w.key_str("geometry", geometry_id.as_str());
        w.key_str("material", material_id.as_str());
        w.str("matrix").f64s(matrix.as_slice());
        Object {
            encoded: w.into_inner(),
            assets: Vec::new(),
        }
    }

    /// An object that the page reads from the text of a file. `resources` writes a map of what the
    /// file refers to.
    fn file_object(
        &self,
        size: usize,
        format: &str,
        data: &str,
        mtl_library: &str,
        resources: impl FnOnce(&mut Writer),
        matrix: &Matrix4<f64>,
    ) -> Object {
        let id = self.uuids.next();
        let size = size + data.len() + mtl_library.len();
        let mut w = Writer::new(Vec::with_capacity(SMALL + size));
        w.map(2);
        metadata(&mut w);
        w.str("object").map(7);
        w.key_str("uuid", id.as_str());
        w.key_str("type", "_meshfile_object");
        w.key_str("format", format).key_str("data", data);
        w.key_str("mtl_library", mtl_library).str("resources");
        resources(&mut w);
        w.str("matrix").f64s(matrix.as_slice());
        Object {
            encoded: w.into_inner(),
            assets: Vec::new(),
        }
    }
}

/// The field that says which format of three.js follows.
fn metadata(w: &mut Writer) {
    w.str("metadata").map(2);
    w.key_str("type", "Object").key_f64("version", 4.5);
}

#[cfg(test)]
mod tests;
