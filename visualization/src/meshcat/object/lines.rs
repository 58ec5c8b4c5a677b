//! Lines.

use super::buffer_geometry::{BufferGeometry, check_count, single, size};
use super::material::{self, check_size};
use super::{Encoder, Object};
use crate::error::{Error, Result};
use nalgebra::{Matrix4, Vector3};
use tarragon_geometry::Rgba;

/// One line through all `vertices` (m), `line_width` in pixels. Vertices that are not finite leave gaps;
/// without vertices nothing is seen.
///
/// # Errors
/// If the width is not positive and finite, or there are more vertices than fit into a message.
pub(crate) fn line(
    e: &Encoder<'_>,
    vertices: &[Vector3<f64>],
    line_width: f64,
    rgba: Rgba,
) -> Result<Object> {
    check_size("set_line", "the line width", "pixels", line_width)?;
    check_count("set_line", "vertices", vertices.len())?;
    let vertices = (vertices.len(), vertices.iter().map(single));
    Ok(lines(e, "Line", vertices, line_width, rgba))
}

/// Lines from every `start` to the `end` of the same number (m), `line_width` in pixels. Those that are not
/// finite are not seen.
///
/// # Errors
/// If there are not as many starts as ends, the width is not positive and finite, or there are more points
/// than fit into a message.
pub(crate) fn line_segments(
    e: &Encoder<'_>,
    start: &[Vector3<f64>],
    end: &[Vector3<f64>],
    line_width: f64,
    rgba: Rgba,
) -> Result<Object> {
    if start.len() != end.len() {
        return Err(Error::invalid(format!(
            "Meshcat: set_line_segments: there are {} starts and {} ends, as many of both are expected",
            start.len(),
            end.len()
        )));
    }
    check_size("set_line_segments", "the line width", "pixels", line_width)?;
    let n = start.len().saturating_mul(2);
    check_count("set_line_segments", "starts and ends", n)?;
    let points = start.iter().zip(end).flat_map(|(s, e)| [s, e]).map(single);
    Ok(lines(e, "LineSegments", (n, points), line_width, rgba))
}

/// Lines through so many points; `kind` says how.
pub(super) fn lines(
    e: &Encoder<'_>,
    kind: &str,
    (n, points): (usize, impl Iterator<Item = [f32; 3]>),
    line_width: f64,
    rgba: Rgba,
) -> Object {
    e.object(
        size(n),
        kind,
        |w, uuid| BufferGeometry::new(w, uuid, false).positions(n, points),
        |w, uuid| material::line(w, uuid, rgba, line_width),
        &Matrix4::identity(),
    )
}
