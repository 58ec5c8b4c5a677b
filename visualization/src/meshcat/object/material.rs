//! Materials of three.js.

use super::{SideOfFaceToRender, SurfaceStyle};
use crate::meshcat::msgpack::Writer;
use crate::{Error, Result};
use tarragon_geometry::Rgba;

/// Returns a colour as the number 0xRRGGBB. Channels are rounded down, as in Drake: 0.5 becomes
/// 127.
pub(super) fn hex(rgba: Rgba) -> u64 {
    let channel = |c: f64| (255.0 * c) as u64;
    channel(rgba.r()) << 16 | channel(rgba.g()) << 8 | channel(rgba.b())
}

/// Returns the number of a side in three.js.
fn side(side: SideOfFaceToRender) -> u64 {
    match side {
        SideOfFaceToRender::Front => 0,
        SideOfFaceToRender::Back => 1,
        SideOfFaceToRender::Double => 2,
    }
}

/// Writes the fields with which every material begins.
fn start(w: &mut Writer, fields: usize, uuid: &str, kind: &str, color: u64, vertex_colors: bool) {
    w.map(fields).key_str("uuid", uuid).key_str("type", kind);
    w.key_uint("color", color);
    w.key_bool("vertexColors", vertex_colors);
}

/// Writes the material of shapes: smooth and double-sided.
pub(super) fn phong(w: &mut Writer, uuid: &str, rgba: Rgba, vertex_colors: bool) {
    start(w, 11, uuid, "MeshPhongMaterial", hex(rgba), vertex_colors);
    w.key_f64("linewidth", 1.0).key_f64("opacity", rgba.a());
    w.key_f64("reflectivity", 0.5);
    w.key_uint("side", side(SideOfFaceToRender::Double));
    w.key_bool("transparent", rgba.a() < 1.0);
    w.key_bool("wireframe", false);
    w.key_f64("wireframeLineWidth", 1.0);
}

/// Writes the material of surfaces: flat faces, or edges. `color` is a number made by [`hex`], and
/// `map` the identifier of a texture that is multiplied by it.
pub(super) fn flat(
    w: &mut Writer,
    uuid: &str,
    style: &SurfaceStyle,
    color: u64,
    vertex_colors: bool,
    map: Option<&str>,
) {
    let fields = if map.is_some() { 11 } else { 10 };
    start(w, fields, uuid, "MeshPhongMaterial", color, vertex_colors);
    let alpha = style.color().a();
    w.key_f64("opacity", alpha);
    w.key_uint("side", side(style.side));
    w.key_bool("transparent", alpha < 1.0);
    w.key_bool("wireframe", style.wireframe);
    w.key_f64("wireframeLineWidth", style.wireframe_line_width);
    w.key_bool("flatShading", true);
    if let Some(map) = map {
        w.key_str("map", map);
    }
}

/// Writes the material of lines. Drake's lines are always opaque; here the alpha of the colour
/// applies.
pub(super) fn line(w: &mut Writer, uuid: &str, rgba: Rgba, width: f64) {
    let transparent = rgba.a() < 1.0;
    let fields = if transparent { 7 } else { 5 };
    start(w, fields, uuid, "LineBasicMaterial", hex(rgba), false);
    w.key_f64("linewidth", width);
    if transparent {
        w.key_f64("opacity", rgba.a()).key_bool("transparent", true);
    }
}

/// Writes the material of points of `size` (m).
pub(super) fn points(w: &mut Writer, uuid: &str, rgba: Rgba, vertex_colors: bool, size: f64) {
    start(w, 7, uuid, "PointsMaterial", hex(rgba), vertex_colors);
    w.key_f64("opacity", rgba.a()).key_f64("size", size);
    w.key_bool("transparent", rgba.a() < 1.0);
}

/// Checks a line width or a point size.
pub(super) fn check_size(function: &str, what: &str, unit: &str, value: f64) -> Result<()> {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "Meshcat: {function}: {what} must be a positive finite number of {unit}, got {value:?}"
    )))
}
