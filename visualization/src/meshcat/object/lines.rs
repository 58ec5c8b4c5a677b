//! Lines.

use super::buffer_geometry::{BufferGeometry, check_count, is_finite, single, size};
use super::material::{self, check_size};
use super::{Encoder, Object};
use crate::{Error, Result};
use nalgebra::{Matrix4, Vector3};
use tarragon_geometry::Rgba;

/// Encodes one line through all `vertices` (m), `line_width` pixels wide. Vertices that are not
/// finite leave gaps; without vertices, nothing is drawn.
///
/// # Errors
/// Returns an error if the width is not positive and finite, or there are more vertices than fit
/// into a message.
pub(crate) fn line(
    e: &Encoder<'_>,
    vertices: &[Vector3<f64>],
    line_width: f64,
    rgba: Rgba,
) -> Result<Object> {
    check_size("set_line", "the line width", "pixels", line_width)?;
    let vertices = (vertices.len(), vertices.iter().map(single));
    polyline(e, "set_line", vertices, line_width, rgba)
}

/// Encodes lines from each `start` to the `end` of the same index (m), `line_width` pixels wide.
/// Lines with an end that is not finite are not drawn.
///
/// # Errors
/// Returns an error if there are not as many starts as ends, the width is not positive and finite,
/// or there are more points than fit into a message.
pub(crate) fn line_segments(
    e: &Encoder<'_>,
    start: &[Vector3<f64>],
    end: &[Vector3<f64>],
    line_width: f64,
    rgba: Rgba,
) -> Result<Object> {
    if start.len() != end.len() {
        return Err(Error::invalid(format!(
            "Meshcat: set_line_segments: there must be as many starts as ends, got {} starts and {} ends",
            start.len(),
            end.len()
        )));
    }
    check_size("set_line_segments", "the line width", "pixels", line_width)?;
    let pairs = start.iter().zip(end).map(|(s, e)| [single(s), single(e)]);
    segments(e, "set_line_segments", pairs, line_width, rgba)
}

/// Encodes one line through `n` points; points that are not finite leave gaps.
pub(super) fn polyline(
    e: &Encoder<'_>,
    function: &str,
    (n, points): (usize, impl Iterator<Item = [f32; 3]> + Clone),
    line_width: f64,
    rgba: Rgba,
) -> Result<Object> {
    check_count(function, "points", n)?;
    if points.clone().all(|p| is_finite(&p)) {
        return Ok(lines(e, "Line", (n, points), line_width, rgba));
    }
    let pairs = points.clone().zip(points.skip(1)).map(|(a, b)| [a, b]);
    segments(e, function, pairs, line_width, rgba)
}

/// Encodes a line between the points of each pair, if both points are finite.
fn segments(
    e: &Encoder<'_>,
    function: &str,
    pairs: impl Iterator<Item = [[f32; 3]; 2]> + Clone,
    line_width: f64,
    rgba: Rgba,
) -> Result<Object> {
    let pairs = pairs.filter(|pair| pair.iter().all(is_finite));
    let n = pairs.clone().count().saturating_mul(2);
    check_count(function, "starts and ends", n)?;
    Ok(lines(
        e,
        "LineSegments",
        (n, pairs.flatten()),
        line_width,
        rgba,
    ))
}

/// Encodes lines through `n` points; `kind` is the three.js type, which says how they are
/// connected.
fn lines(
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
