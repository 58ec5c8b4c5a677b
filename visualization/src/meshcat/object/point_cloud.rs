//! Point clouds.

use super::buffer_geometry::{Attribute, BufferGeometry, check_count, size};
use super::material::{self, check_size};
use super::{Encoder, Object};
use crate::{Error, Result};
use nalgebra::{Matrix4, Vector3};
use tarragon_geometry::Rgba;
use tarragon_sensors::PointCloud;

/// Encodes the finite points of `cloud` as squares of `point_size` (m), in their own colours or, if
/// they have none, in `rgba`.
///
/// # Errors
/// Returns an error if the cloud has no positions, the size is not positive and finite, or there
/// are more points than fit into a message.
pub(crate) fn point_cloud(
    e: &Encoder<'_>,
    cloud: &PointCloud,
    point_size: f64,
    rgba: Rgba,
) -> Result<Object> {
    check_size("set_point_cloud", "the point size", "metres", point_size)?;
    if !cloud.has_xyzs() {
        return Err(Error::invalid(format!(
            "Meshcat: set_point_cloud: the cloud must have positions (BaseField::XYZS), got {:?}",
            cloud.fields()
        )));
    }
    let finite = |p: &Vector3<f32>| p.iter().all(|x| x.is_finite());
    let xyzs = cloud.xyzs();
    let n = xyzs.iter().filter(|p| finite(p)).count();
    check_count("set_point_cloud", "points", n)?;
    let colored = cloud.has_rgbs();
    let arrays = if colored { 2 } else { 1 };
    Ok(e.object(
        arrays * size(n),
        "Points",
        |w, uuid| {
            let mut geometry = BufferGeometry::new(w, uuid, false);
            geometry.attributes(arrays);
            if colored {
                let colors = xyzs.iter().zip(cloud.rgbs()).filter(|(p, _)| finite(p));
                let colors = colors.map(|(_, c)| c.map(|c| f32::from(c) / 255.0));
                geometry.attribute(Attribute::Color, n, colors);
            }
            let positions = xyzs.iter().filter(|p| finite(p)).map(|p| [p.x, p.y, p.z]);
            geometry.attribute(Attribute::Position, n, positions);
        },
        |w, uuid| material::points(w, uuid, rgba, colored, point_size),
        &Matrix4::identity(),
    ))
}
