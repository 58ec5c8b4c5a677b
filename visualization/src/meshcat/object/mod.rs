//! Objects for `set_object`: three.js objects, encoded once.
//!
//! The format is three.js's "JSON Object/Scene format 4" in msgpack, with meshcat's types
//! `_meshfile_geometry` and `_meshfile_object` for files that the page parses itself. Names and
//! order of the fields equal those that Drake sends.

mod buffer_geometry;
mod files;
mod gltf;
mod lines;
mod material;
mod mesh_file;
mod obj;
mod point_cloud;
mod render_mesh;
mod shape;
mod surfaces;

pub(crate) use files::MAX_BYTES;
pub(crate) use lines::{line, line_segments};
pub(crate) use point_cloud::point_cloud;
pub(crate) use shape::shape;
pub(crate) use surfaces::{
    driven_mesh, plot_surface, surface_mesh, triangle_color_mesh, triangle_mesh,
};

use super::asset::{Asset, AssetStore};
use super::msgpack::Writer;
use nalgebra::Matrix4;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tarragon_geometry::Rgba;
use tarragon_geometry::mesh::RenderMesh;

/// Visible side of the faces of a surface (Drake's `Meshcat::SideOfFaceToRender`). The front is the
/// side from which the vertices of a face appear counter-clockwise.
///
/// ```
/// use tarragon_visualization::SideOfFaceToRender;
/// assert_eq!(SideOfFaceToRender::default(), SideOfFaceToRender::Double);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SideOfFaceToRender {
    /// Only the front.
    Front,
    /// Only the back.
    Back,
    /// Both sides.
    #[default]
    Double,
}

/// Appearance of a surface. The default is filled, opaque and visible from both sides.
///
/// ```
/// use tarragon_visualization::SurfaceStyle;
/// let style = SurfaceStyle { wireframe: true, ..SurfaceStyle::default() };
/// assert_eq!(style.rgba, None);
/// assert_eq!(style.wireframe_line_width, 1.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceStyle {
    /// Colour of the faces, or of the edges in a wireframe. `None` means Drake's default: dark grey
    /// (0.1, 0.1, 0.1) for meshes, blue (0.1, 0.1, 0.9) for [plotted
    /// surfaces](crate::Meshcat::plot_surface). If the vertices have colours, only the alpha is
    /// used.
    pub rgba: Option<Rgba>,
    /// Whether edges are drawn instead of faces.
    pub wireframe: bool,
    /// Width of the edges (pixels). Most browsers draw 1 pixel whatever the width is.
    pub wireframe_line_width: f64,
    /// Which sides are visible.
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
    /// Returns the colour of a mesh.
    fn color(&self) -> Rgba {
        self.or_colored(0.1)
    }
    /// Returns the colour of the style, or else a dark colour with the given blue channel.
    fn or_colored(&self, blue: f64) -> Rgba {
        let default = || Rgba::opaque(0.1, 0.1, blue).expect("channels lie in [0, 1]");
        self.rgba.unwrap_or_else(default)
    }
}

/// Colour of a shape, and an image for meshes without materials with the colour by which it is
/// multiplied.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint<'a> {
    pub(crate) rgba: Rgba,
    pub(crate) diffuse_map: Option<(&'a Path, Rgba)>,
}

impl<'a> Paint<'a> {
    /// Returns a colour with an image file, if there is one, and the colour of the image.
    pub(crate) fn new(rgba: Rgba, map: Option<&'a (PathBuf, Rgba)>) -> Self {
        Self {
            rgba,
            diffuse_map: map.map(|(file, tint)| (&**file, *tint)),
        }
    }
}

impl From<Rgba> for Paint<'_> {
    fn from(rgba: Rgba) -> Self {
        Self {
            rgba,
            diffuse_map: None,
        }
    }
}

/// An encoded object, ready to be sent.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    /// Encoded value of the message's `object` field.
    pub(crate) encoded: Vec<u8>,
    /// Files that the object refers to, kept for as long as the object is in the scene.
    pub(crate) assets: Vec<Arc<Asset>>,
    /// Vertices that can be replaced, if there are any.
    pub(crate) vertices: Option<VertexArray>,
}

/// Vertices of an encoded object that can be replaced by others.
#[derive(Clone, Debug)]
pub(crate) struct VertexArray {
    /// Mesh whose triangles the object has.
    pub(crate) mesh: Arc<RenderMesh>,
    /// Range of the positions in the encoded object: three little-endian f32 each.
    pub(crate) range: Range<usize>,
}

/// Source of identifiers for three.js objects: unique within one server, the same in every run.
#[derive(Debug, Default)]
pub(crate) struct Uuids(AtomicU64);

impl Uuids {
    /// Returns the next identifier, in the form of a UUID of version 8 (RFC 9562, section 5.8).
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

/// Everything needed to encode objects of one server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ObjectEncoder<'a> {
    /// Source of identifiers.
    pub(crate) uuids: &'a Uuids,
    /// Destination of the files that objects refer to.
    pub(crate) assets: &'a AssetStore,
}

/// Number of three.js for textures that repeat.
const REPEAT_WRAPPING: u64 = 1000;

/// Size in bytes of an object without its long arrays and texts.
const SMALL: usize = 1024;

impl ObjectEncoder<'_> {
    /// Encodes an object of one geometry and one material. `size` is the approximate number of
    /// bytes of their arrays and `kind` the type of the object: `Mesh`, `Points`, ... The functions
    /// write the geometry and the material with the identifiers that they receive.
    fn object(
        &self,
        size: usize,
        kind: &str,
        geometry: impl FnOnce(&mut Writer, &str),
        material: impl FnOnce(&mut Writer, &str),
        matrix: &Matrix4<f64>,
    ) -> Object {
        let material = |w: &mut Writer, uuid: &str, _: Option<&str>| material(w, uuid);
        self.textured_object(size, kind, None, geometry, material, matrix)
    }

    /// Encodes the same with an image, whose texture the function of the material refers to.
    fn textured_object(
        &self,
        size: usize,
        kind: &str,
        image: Option<&[u8]>,
        geometry: impl FnOnce(&mut Writer, &str),
        material: impl FnOnce(&mut Writer, &str, Option<&str>),
        matrix: &Matrix4<f64>,
    ) -> Object {
        let [geometry_id, material_id, id] = [(); 3].map(|()| self.uuids.next());
        let texture_ids = image.map(|_| [(); 2].map(|()| self.uuids.next()));
        let base64 = image.map_or(0, |image| image.len() / 3 * 4);
        let mut w = Writer::new(Vec::with_capacity(SMALL + size + base64));
        w.map(if image.is_some() { 6 } else { 4 });
        metadata(&mut w);
        w.str("geometries").array(1);
        geometry(&mut w, geometry_id.as_str());
        if let (Some(image), Some([image_id, texture_id])) = (image, &texture_ids) {
            w.str("images").array(1).map(2);
            w.key_str("uuid", image_id.as_str()).str("url");
            w.data_uri(files::media_type(image), image);
            w.str("textures").array(1).map(4);
            w.key_str("uuid", texture_id.as_str());
            w.key_str("image", image_id.as_str());
            w.key_str("colorSpace", "srgb").str("wrap").array(2);
            w.uint(REPEAT_WRAPPING).uint(REPEAT_WRAPPING);
        }
        w.str("materials").array(1);
        let texture_id = texture_ids.as_ref().map(|[_, texture]| texture.as_str());
        material(&mut w, material_id.as_str(), texture_id);
        w.str("object").map(5);
        w.key_str("uuid", id.as_str()).key_str("type", kind);
        w.key_str("geometry", geometry_id.as_str());
        w.key_str("material", material_id.as_str());
        w.str("matrix").f64s(matrix.as_slice());
        Object {
            encoded: w.into_inner(),
            assets: Vec::new(),
            vertices: None,
        }
    }

    /// Encodes an object that the page reads from the text of a file. `resources` writes a map of
    /// the files that the text refers to.
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
            vertices: None,
        }
    }
}

/// Writes the field that names the format version of three.js.
fn metadata(w: &mut Writer) {
    w.str("metadata").map(2);
    w.key_str("type", "Object").key_f64("version", 4.5);
}

#[cfg(test)]
mod tests;
