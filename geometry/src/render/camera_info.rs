//! The pinhole model.

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
    /// From the image size, the focal lengths and the principal point, all in pixels.
    ///
    /// # Errors
    /// If a size is zero, a focal length is not positive and finite, or the principal point is not
    /// inside the image. The message lists everything that is wrong.
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
                wrong.push(format!("{name} is 0, a positive number is expected"));
            }
        }
        for (name, focal) in [("focal_x", focal_x), ("focal_y", focal_y)] {
            if !(focal > 0.0 && focal.is_finite()) {
                wrong.push(format!(
                    "{name} is {focal}, a positive finite number is expected"
                ));
            }
        }
        for (name, center, size) in [
            ("center_x", center_x, width),
            ("center_y", center_y, height),
        ] {
            if !(center > 0.0 && center < size as f64) {
                wrong.push(format!(
                    "{name} is {center}, a number between 0 and {size} is expected"
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
    /// From the image size (pixels) and the vertical field of view (rad): equal focal lengths, the
    /// principal point at `(width / 2 - 0.5, height / 2 - 0.5)`.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn from_fov_y(width: usize, height: usize, fov_y: f64) -> Result<Self> {
        let focal = height as f64 * 0.5 / (0.5 * fov_y).tan();
        let center = |size: usize| size as f64 * 0.5 - 0.5;
        Self::new(width, height, focal, focal, center(width), center(height))
    }
    /// From the image size (pixels) and the intrinsic matrix K.
    ///
    /// # Errors
    /// If K is not of the form of [`intrinsic_matrix`](Self::intrinsic_matrix), or as
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
                "CameraInfo: entry {at:?} of the intrinsic matrix is {}, {value} is expected in \
                 [fx 0 cx; 0 fy cy; 0 0 1]",
                k[at]
            )));
        }
        Self::new(width, height, k[(0, 0)], k[(1, 1)], k[(0, 2)], k[(1, 2)])
    }
    /// Pixels per row.
    pub fn width(&self) -> usize {
        self.width
    }
    /// Number of rows.
    pub fn height(&self) -> usize {
        self.height
    }
    /// Focal length along x (pixels).
    pub fn focal_x(&self) -> f64 {
        self.focal_x
    }
    /// Focal length along y (pixels).
    pub fn focal_y(&self) -> f64 {
        self.focal_y
    }
    /// Column of the principal point (pixels).
    pub fn center_x(&self) -> f64 {
        self.center_x
    }
    /// Row of the principal point (pixels).
    pub fn center_y(&self) -> f64 {
        self.center_y
    }
    /// Field of view between the left and the right edge (rad), as if the principal point were
    /// in the middle.
    pub fn fov_x(&self) -> f64 {
        2.0 * (0.5 * self.width as f64 / self.focal_x).atan()
    }
    /// Field of view between the upper and the lower edge (rad), as if the principal point were
    /// in the middle.
    pub fn fov_y(&self) -> f64 {
        2.0 * (0.5 * self.height as f64 / self.focal_y).atan()
    }
    /// The matrix `K = [fx 0 cx; 0 fy cy; 0 0 1]` that maps a point of frame C to the image.
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
    fn every_wrong_value_is_listed() {
        let text = CameraInfo::new(10, 0, -1.0, f64::NAN, 12.0, 1.0)
            .unwrap_err()
            .to_string();
        for name in ["height", "focal_x", "focal_y", "center_x", "center_y"] {
            assert!(text.contains(name), "{text}");
        }
        assert!(!text.contains("width"), "{text}");
    }

    #[test]
    fn intrinsic_matrix_round_trip() {
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
