//! Intrinsics of the pinhole camera model.

use crate::error::{Error, Result};
use nalgebra::Matrix3;

/// Intrinsic parameters of a pinhole camera (Drake's `CameraInfo`).
///
/// The camera frame C has +z into the image, +x to the right and +y down. The ray through the pixel
/// in column u and row v is `((u + 0.5 - center_x) / focal_x, (v + 0.5 - center_y) / focal_y, 1)`.
///
/// ```
/// use tarragon_geometry::render::CameraInfo;
/// let info = CameraInfo::from_fov_y(640, 480, std::f64::consts::FRAC_PI_4)?;
/// assert_eq!((info.center_x(), info.center_y()), (319.5, 239.5));
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CameraInfo {
    width: usize,
    height: usize,
    focal_x: f64,
    focal_y: f64,
    center_x: f64,
    center_y: f64,
}

impl CameraInfo {
    /// Creates intrinsics from the image size, the focal lengths and the principal point, all in
    /// pixels.
    ///
    /// # Errors
    /// Returns an error if a size is zero, a focal length is not positive and finite, or the
    /// principal point is not inside the image. The message lists every invalid value.
    pub fn new(
        width: usize,
        height: usize,
        focal_x: f64,
        focal_y: f64,
        center_x: f64,
        center_y: f64,
    ) -> Result<Self> {
        let mut wrong = Vec::new();
        for (name, size) in [("width", width), ("height", height)] {
            if size == 0 {
                wrong.push(format!("{name} must be positive, got 0"));
            }
        }
        for (name, focal) in [("focal_x", focal_x), ("focal_y", focal_y)] {
            if !(focal > 0.0 && focal.is_finite()) {
                wrong.push(format!("{name} must be positive and finite, got {focal:?}"));
            }
        }
        for (name, center, size) in [
            ("center_x", center_x, width),
            ("center_y", center_y, height),
        ] {
            if !(center > 0.0 && center < size as f64) {
                wrong.push(format!(
                    "{name} must be between 0 and {size}, got {center:?}"
                ));
            }
        }
        if wrong.is_empty() {
            Ok(Self {
                width,
                height,
                focal_x,
                focal_y,
                center_x,
                center_y,
            })
        } else {
            Err(Error::invalid(format!("CameraInfo: {}", wrong.join("; "))))
        }
    }
    /// Creates intrinsics from the image size (pixels) and the vertical field of view (rad). The
    /// focal lengths are equal and the principal point is at `(width / 2 - 0.5, height / 2 - 0.5)`.
    ///
    /// # Errors
    /// Returns an error if a size is zero, or the field of view is not positive or is more than pi.
    pub fn from_fov_y(width: usize, height: usize, fov_y: f64) -> Result<Self> {
        if !(fov_y > 0.0 && fov_y <= std::f64::consts::PI) {
            return Err(Error::invalid(format!(
                "CameraInfo: fov_y must be more than 0 and at most pi rad, got {fov_y:?} rad"
            )));
        }
        let focal = height as f64 * 0.5 / (0.5 * fov_y).tan();
        let center = |size: usize| size as f64 * 0.5 - 0.5;
        Self::new(width, height, focal, focal, center(width), center(height))
    }
    /// Creates intrinsics from the image size (pixels) and the intrinsic matrix K.
    ///
    /// # Errors
    /// Returns an error if K does not have the form of
    /// [`intrinsic_matrix`](Self::intrinsic_matrix), and under the conditions of
    /// [`new`](Self::new).
    pub fn from_intrinsic_matrix(width: usize, height: usize, k: &Matrix3<f64>) -> Result<Self> {
        let fixed = [
            ((0, 1), 0.0),
            ((1, 0), 0.0),
            ((2, 0), 0.0),
            ((2, 1), 0.0),
            ((2, 2), 1.0),
        ];
        if let Some((at, value)) = fixed.into_iter().find(|&(at, value)| k[at] != value) {
            return Err(Error::invalid(format!(
                "CameraInfo: entry {at:?} of the intrinsic matrix [fx 0 cx; 0 fy cy; 0 0 1] must be \
                 {value:?}, got {:?}",
                k[at]
            )));
        }
        Self::new(width, height, k[(0, 0)], k[(1, 1)], k[(0, 2)], k[(1, 2)])
    }
    /// Returns the number of pixels per row.
    pub fn width(&self) -> usize {
        self.width
    }
    /// Returns the number of rows.
    pub fn height(&self) -> usize {
        self.height
    }
    /// Returns the focal length along x (pixels).
    pub fn focal_x(&self) -> f64 {
        self.focal_x
    }
    /// Returns the focal length along y (pixels).
    pub fn focal_y(&self) -> f64 {
        self.focal_y
    }
    /// Returns the column of the principal point (pixels).
    pub fn center_x(&self) -> f64 {
        self.center_x
    }
    /// Returns the row of the principal point (pixels).
    pub fn center_y(&self) -> f64 {
        self.center_y
    }
    /// Returns the field of view between the left and the right edge (rad), as if the principal
    /// point were in the middle.
    pub fn fov_x(&self) -> f64 {
        2.0 * (0.5 * self.width as f64 / self.focal_x).atan()
    }
    /// Returns the field of view between the upper and the lower edge (rad), as if the principal
    /// point were in the middle.
    pub fn fov_y(&self) -> f64 {
        2.0 * (0.5 * self.height as f64 / self.focal_y).atan()
    }
    /// Returns the matrix `K = [fx 0 cx; 0 fy cy; 0 0 1]` that maps a point of frame C to the
    /// image.
    pub fn intrinsic_matrix(&self) -> Matrix3<f64> {
        Matrix3::new(
            self.focal_x,
            0.0,
            self.center_x,
            0.0,
            self.focal_y,
            self.center_y,
            0.0,
            0.0,
            1.0,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_lists_every_invalid_value() {
        let text = CameraInfo::new(10, 0, -1.0, f64::NAN, 12.0, 1.0)
            .unwrap_err()
            .to_string();
        for name in ["height", "focal_x", "focal_y", "center_x", "center_y"] {
            assert!(text.contains(name), "{text}");
        }
        assert!(!text.contains("width"), "{text}");
    }

    #[test]
    fn a_field_of_view_is_named_in_the_message() {
        for fov_y in [0.0, -1.0, f64::NAN, 3.2, 45.0] {
            let text = CameraInfo::from_fov_y(4, 4, fov_y).unwrap_err().to_string();
            assert!(text.starts_with("CameraInfo: fov_y must be"), "{text}");
            assert!(text.ends_with(&format!("got {fov_y:?} rad")), "{text}");
        }
        let text = CameraInfo::from_fov_y(0, 4, 1.0).unwrap_err().to_string();
        assert!(text.contains("width must be positive"), "{text}");
    }

    #[test]
    fn intrinsic_matrix_round_trips() {
        let info = CameraInfo::new(100, 80, 90.0, 95.0, 30.25, 55.5).unwrap();
        let mut k = info.intrinsic_matrix();
        assert_eq!(
            CameraInfo::from_intrinsic_matrix(100, 80, &k).unwrap(),
            info
        );
        k[(0, 1)] = 0.1;
        assert!(CameraInfo::from_intrinsic_matrix(100, 80, &k).is_err());
    }
}
