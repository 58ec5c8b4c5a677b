//! Camera poses that aim at a point or a box.

use super::{CameraInfo, DepthRenderCamera};
use crate::Aabb;
use crate::error::{Error, Result};
use nalgebra::{Isometry3, Matrix3, Vector3};
use tarragon_framework::math;

/// Returns `X_WC` of a camera (+z into the image, +x right, +y down) at `p_wc` that looks at
/// `p_wt`, upright with respect to the world's +z. If it looks along the world's z axis, the
/// world's +x points right in the image.
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_geometry::render::look_at;
/// let x_wc = look_at(&Vector3::new(2.0, 0.0, 0.0), &Vector3::zeros());
/// assert_eq!(x_wc * Vector3::z(), -Vector3::x()); // looks towards the origin
/// assert_eq!(x_wc * Vector3::y(), -Vector3::z()); // down in the image is down in the world
/// ```
pub fn look_at(p_wc: &Vector3<f64>, p_wt: &Vector3<f64>) -> Isometry3<f64> {
    let forward = (p_wt - p_wc).try_normalize(0.0).unwrap_or(-Vector3::z());
    let right = forward
        .cross(&Vector3::z())
        .try_normalize(1e-9)
        .unwrap_or(Vector3::x());
    let r_wc = Matrix3::from_columns(&[right, forward.cross(&right), forward]);
    math::pose(math::rotation_from_matrix(&r_wc), *p_wc)
}

/// Returns `X_WC` of a camera that looks along `direction` (in the world) at the centre of a box,
/// from a distance at which the whole box is in the image with a tenth of the image as margin.
pub fn look_at_box(
    bounds: &Aabb,
    direction: &Vector3<f64>,
    intrinsics: &CameraInfo,
) -> Isometry3<f64> {
    let forward = direction.try_normalize(0.0).unwrap_or(-Vector3::z());
    let x_wc = look_at(&(bounds.center() - forward), bounds.center());
    let r_cw = x_wc.rotation.inverse();
    // Tangents of the half angles on the narrower side of the principal point.
    let narrow = |size: usize, center: f64, focal: f64| center.min(size as f64 - center) / focal;
    let tan_x = 0.9
        * narrow(
            intrinsics.width(),
            intrinsics.center_x(),
            intrinsics.focal_x(),
        );
    let tan_y = 0.9
        * narrow(
            intrinsics.height(),
            intrinsics.center_y(),
            intrinsics.focal_y(),
        );
    let mut distance = 0.0_f64;
    for corner in 0..8 {
        let sign = |axis: usize| if corner >> axis & 1 == 0 { 1.0 } else { -1.0 };
        let offset = bounds
            .half_width()
            .component_mul(&Vector3::new(sign(0), sign(1), sign(2)));
        let p = r_cw * offset;
        distance = distance
            .max(p.x.abs() / tan_x - p.z)
            .max(p.y.abs() / tan_y - p.z);
    }
    math::pose(
        x_wc.rotation,
        bounds.center() - forward * distance.max(1e-3),
    )
}

impl DepthRenderCamera {
    /// Creates a camera that sees a whole box, and its pose `X_WC`: it looks along `direction` (in
    /// the world) as [`look_at_box`] does, and measures depths from a hundredth of its distance to
    /// twice the farthest point of the box. The clipping planes are the same.
    ///
    /// ```
    /// use nalgebra::Vector3;
    /// use tarragon_geometry::{Aabb, render::{CameraInfo, DepthRenderCamera}};
    /// let bounds = Aabb::new(Vector3::zeros(), Vector3::new(0.3, 0.2, 0.5));
    /// let info = CameraInfo::from_fov_y(640, 480, 0.6)?;
    /// let (camera, x_wc) = DepthRenderCamera::fitted("cpu", info, &bounds, &Vector3::y())?;
    /// assert!(x_wc.translation.vector.y < -1.0);
    /// assert!(camera.depth_range().max_depth() > 2.0 * -x_wc.translation.vector.y);
    /// # Ok::<(), tarragon_geometry::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the box or the camera is farther than 1e15 m from the origin, which is
    /// too far for images in single precision, or if the direction is zero.
    pub fn fitted(
        renderer_name: impl Into<String>,
        intrinsics: CameraInfo,
        bounds: &Aabb,
        direction: &Vector3<f64>,
    ) -> Result<(Self, Isometry3<f64>)> {
        if direction.try_normalize(0.0).is_none() {
            return Err(Error::invalid(format!(
                "DepthRenderCamera: the direction to look in must not be zero or infinite, got \
                 {:?}",
                <[f64; 3]>::from(*direction)
            )));
        }
        let x_wc = look_at_box(bounds, direction, &intrinsics);
        let distance = (x_wc.translation.vector - bounds.center()).norm();
        let reach = (bounds.center().abs() + bounds.half_width()).max();
        if reach.max(distance) > LARGEST {
            return Err(Error::invalid(format!(
                "DepthRenderCamera: everything in the image must lie within {LARGEST:e} m of the \
                 origin, got geometry that reaches to {reach:.3e} m; correct the poses, or place \
                 the camera yourself"
            )));
        }
        let (near, far) = (
            0.01 * distance,
            2.0 * (distance + bounds.half_width().norm()),
        );
        let camera = Self::new(renderer_name, intrinsics).with_depth_range(near..far)?;
        Ok((camera.with_clipping(near..far)?, x_wc))
    }
}

/// Largest distance from the origin of a fitted camera and its box (m).
const LARGEST: f64 = 1e15;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fitted_cameras_see_the_box_and_refuse_what_is_too_far() {
        let bounds = Aabb::new(Vector3::new(1.0, 2.0, 0.5), Vector3::new(0.3, 0.2, 0.9));
        let info = CameraInfo::from_fov_y(640, 480, 0.8).unwrap();
        let fit =
            |bounds: &Aabb, direction| DepthRenderCamera::fitted("cpu", info, bounds, &direction);
        let (camera, x_wc) = fit(&bounds, Vector3::x()).unwrap();
        assert_eq!(x_wc, look_at_box(&bounds, &Vector3::x(), &info));
        let (range, distance) = (camera.depth_range(), 1.0 - x_wc.translation.x);
        let size = bounds.half_width().norm();
        assert!(range.min_depth() < distance - size && range.max_depth() > distance + size);
        let clipping = camera.core().clipping();
        assert_eq!(
            (clipping.near(), clipping.far()),
            (range.min_depth(), range.max_depth())
        );
        let far = Aabb::new(Vector3::new(1e16, 0.0, 0.0), Vector3::new(1.0, 1.0, 1.0));
        let error = fit(&far, Vector3::x()).unwrap_err().to_string();
        assert!(error.contains("reaches to 1.000e16 m"), "{error}");
        let error = fit(&bounds, Vector3::zeros()).unwrap_err().to_string();
        assert!(error.contains("got [0.0, 0.0, 0.0]"), "{error}");
    }

    #[test]
    fn look_at_box_fits_the_box_to_the_margin() {
        let bounds = Aabb::new(Vector3::new(1.0, 2.0, 0.5), Vector3::new(0.3, 0.2, 0.9));
        let info = CameraInfo::from_fov_y(640, 480, 0.8).unwrap();
        for direction in [Vector3::new(-1.0, 0.7, -0.5), -Vector3::z(), Vector3::y()] {
            let x_wc = look_at_box(&bounds, &direction, &info);
            let mut outermost = 0.0_f64;
            for corner in 0..8 {
                let sign = |axis: usize| if corner >> axis & 1 == 0 { 1.0 } else { -1.0 };
                let half =
                    bounds
                        .half_width()
                        .component_mul(&Vector3::new(sign(0), sign(1), sign(2)));
                let p = x_wc.inverse_transform_point(&(bounds.center() + half).into());
                assert!(p.z > 0.0);
                outermost = outermost.max((p.x / p.z * info.focal_x()).abs() / 320.0);
                outermost = outermost.max((p.y / p.z * info.focal_y()).abs() / 240.0);
            }
            assert!(outermost > 0.89 && outermost <= 0.9 + 1e-9, "{outermost}");
        }
    }

    #[test]
    fn looking_straight_down_is_defined() {
        let x_wc = look_at(&Vector3::new(0.0, 0.0, 2.0), &Vector3::zeros());
        assert!((x_wc * Vector3::x() - Vector3::x()).norm() < 1e-15);
    }
}
