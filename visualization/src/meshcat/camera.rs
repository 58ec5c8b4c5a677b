//! Camera of the page.

use super::Meshcat;
use super::msgpack::Writer;
use super::object::Object;
use crate::{Error, Result};
use nalgebra::{Isometry3, Matrix3, Matrix4, Rotation3, Translation3, UnitQuaternion, Vector3};

/// Path of the page's own camera.
const DEFAULT_CAMERA: &str = "/Cameras/default/rotated";
/// Path of the node that moves with the camera's target.
const CAMERA_BASE: &str = "/Cameras/default";
/// Paths that are hidden in 2D rendering.
const SCENERY: [&str; 3] = ["/Background", "/Grid", "/Axes"];

/// A perspective camera of three.js; see
/// [its documentation](https://threejs.org/docs/#api/en/cameras/PerspectiveCamera).
///
/// ```
/// use tarragon_visualization::PerspectiveCamera;
/// assert_eq!(PerspectiveCamera::default().fov, 75.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PerspectiveCamera {
    /// Vertical field of view (degrees).
    pub fov: f64,
    /// Width divided by height.
    pub aspect: f64,
    /// Distance of the near plane (m).
    pub near: f64,
    /// Distance of the far plane (m).
    pub far: f64,
    /// Zoom factor.
    pub zoom: f64,
}

impl Default for PerspectiveCamera {
    fn default() -> Self {
        Self {
            fov: 75.0,
            aspect: 1.0,
            near: 0.01,
            far: 100.0,
            zoom: 1.0,
        }
    }
}

/// An orthographic camera of three.js; see
/// [its documentation](https://threejs.org/docs/#api/en/cameras/OrthographicCamera).
///
/// ```
/// use tarragon_visualization::OrthographicCamera;
/// assert_eq!(OrthographicCamera::default().left, -1.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OrthographicCamera {
    /// Left plane of the frustum (m).
    pub left: f64,
    /// Right plane (m).
    pub right: f64,
    /// Top plane (m).
    pub top: f64,
    /// Bottom plane (m).
    pub bottom: f64,
    /// Near plane (m).
    pub near: f64,
    /// Far plane (m).
    pub far: f64,
    /// Zoom factor.
    pub zoom: f64,
}

impl Default for OrthographicCamera {
    fn default() -> Self {
        Self {
            left: -1.0,
            right: 1.0,
            top: 1.0,
            bottom: -1.0,
            near: -1000.0,
            far: 1000.0,
            zoom: 1.0,
        }
    }
}

/// A camera of the page: [`PerspectiveCamera`] or [`OrthographicCamera`].
///
/// ```
/// use tarragon_visualization::{OrthographicCamera, PageCamera};
/// let camera: PageCamera = OrthographicCamera::default().into();
/// assert!(matches!(camera, PageCamera::Orthographic(_)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PageCamera {
    /// Perspective projection.
    Perspective(PerspectiveCamera),
    /// Orthographic projection.
    Orthographic(OrthographicCamera),
}

impl From<PerspectiveCamera> for PageCamera {
    fn from(camera: PerspectiveCamera) -> Self {
        Self::Perspective(camera)
    }
}
impl From<OrthographicCamera> for PageCamera {
    fn from(camera: OrthographicCamera) -> Self {
        Self::Orthographic(camera)
    }
}

impl PageCamera {
    fn object(&self) -> Object {
        let (kind, fields): (_, &[(&str, f64)]) = match self {
            Self::Perspective(c) => (
                "PerspectiveCamera",
                &[
                    ("fov", c.fov),
                    ("aspect", c.aspect),
                    ("near", c.near),
                    ("far", c.far),
                    ("zoom", c.zoom),
                ],
            ),
            Self::Orthographic(c) => (
                "OrthographicCamera",
                &[
                    ("left", c.left),
                    ("right", c.right),
                    ("top", c.top),
                    ("bottom", c.bottom),
                    ("near", c.near),
                    ("far", c.far),
                    ("zoom", c.zoom),
                ],
            ),
        };
        let mut w = Writer::default();
        w.map(1).str("object").map(1 + fields.len());
        w.key_str("type", kind);
        for (name, value) in fields {
            w.key_f64(name, *value);
        }
        Object {
            encoded: w.into_inner(),
            assets: Vec::new(),
            vertices: None,
        }
    }
    fn check(&self) -> Result<()> {
        let numbers = match self {
            Self::Perspective(c) => vec![c.fov, c.aspect, c.near, c.far, c.zoom],
            Self::Orthographic(c) => {
                vec![c.left, c.right, c.top, c.bottom, c.near, c.far, c.zoom]
            }
        };
        if numbers.iter().all(|x| x.is_finite()) {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "Meshcat::set_camera: all numbers of the camera must be finite, got {self:?}"
        )))
    }
}

impl Meshcat {
    /// Replaces the page's camera.
    ///
    /// # Errors
    /// Returns an error if a number of the camera is not finite.
    pub fn set_camera(&self, camera: impl Into<PageCamera>) -> Result<()> {
        self.set_camera_at(camera, DEFAULT_CAMERA)
    }
    /// Sets a camera at a path other than that of the page's own camera.
    ///
    /// # Errors
    /// Returns an error if a number of the camera is not finite.
    pub fn set_camera_at(&self, camera: impl Into<PageCamera>, path: &str) -> Result<()> {
        let camera = camera.into();
        camera.check()?;
        if matches!(camera, PageCamera::Perspective(_)) && path == DEFAULT_CAMERA {
            // Makes the orbit controls turn about the origin again.
            self.set_target(&Vector3::zeros());
        }
        self.put(path, camera.object());
        Ok(())
    }
    /// Makes the page look at the point T, at `p_wt` (m) in the world. Has no effect on
    /// orthographic cameras.
    ///
    /// # Errors
    /// Returns an error if a coordinate is not finite.
    pub fn set_camera_target(&self, p_wt: &Vector3<f64>) -> Result<()> {
        finite("set_camera_target", "target", p_wt)?;
        self.set_target(p_wt);
        Ok(())
    }
    /// Moves the page's camera to the point C at `p_wc` (m), looking at the point T at `p_wt` (m),
    /// with the world's z axis upwards. Also moves orthographic cameras.
    ///
    /// # Errors
    /// Returns an error if a coordinate is not finite, or the points coincide.
    pub fn set_camera_pose(&self, p_wc: &Vector3<f64>, p_wt: &Vector3<f64>) -> Result<()> {
        finite("set_camera_pose", "camera", p_wc)?;
        finite("set_camera_pose", "target", p_wt)?;
        if p_wc == p_wt {
            return Err(Error::invalid(format!(
                "Meshcat::set_camera_pose: camera and target must be at different points, got {:?} (m) for both",
                p_wc.as_slice()
            )));
        }
        self.set_target(p_wt);
        self.set_transform(CAMERA_BASE, &Isometry3::identity());
        self.set_camera_position(three(p_wc));
        Ok(())
    }
    /// Turns the page into a view of a plane. An orthographic camera at `x_wc`, which looks along
    /// its +y axis with +z upwards and -x to the right, shows the given rectangle (m). Background,
    /// grid and axes are hidden.
    ///
    /// # Errors
    /// Returns an error if a number is not finite, or the rectangle is empty.
    pub fn set_2d_render_mode(
        &self,
        x_wc: &Isometry3<f64>,
        xmin: f64,
        xmax: f64,
        ymin: f64,
        ymax: f64,
    ) -> Result<()> {
        if !(xmin < xmax && ymin < ymax) {
            return Err(Error::invalid(format!(
                "Meshcat::set_2d_render_mode: the rectangle must have xmin < xmax and ymin < ymax, \
                 got [{xmin:?}, {xmax:?}] x [{ymin:?}, {ymax:?}] (m)"
            )));
        }
        let camera = OrthographicCamera {
            left: xmin,
            right: xmax,
            top: ymax,
            bottom: ymin,
            ..Default::default()
        };
        self.set_camera(camera)?;
        self.set_transform(CAMERA_BASE, x_wc);
        self.set_camera_position([0.0; 3]);
        self.show_scenery(false);
        Ok(())
    }
    /// Sets the view of [`set_2d_render_mode`](Self::set_2d_render_mode) with Drake's default
    /// arguments: from y = -1 m, the square from -1 m to 1 m.
    pub fn set_default_2d_render_mode(&self) {
        let x_wc = Isometry3::translation(0.0, -1.0, 0.0);
        self.set_2d_render_mode(&x_wc, -1.0, 1.0, -1.0, 1.0)
            .expect("the rectangle is not empty");
    }
    /// Resets camera, target, background, grid and axes to their initial state.
    pub fn reset_render_mode(&self) {
        self.set_camera(PerspectiveCamera::default())
            .expect("the default camera is finite");
        self.set_transform(CAMERA_BASE, &Isometry3::identity());
        self.set_camera_position([0.0, 1.0, 3.0]);
        self.show_scenery(true);
    }
    /// Returns the camera pose X_WC of the page whose camera moved last, among the pages opened
    /// with `?tracked_camera=on`. C has +z forward and +y down. Returns `None` if there is no such
    /// page, if it has disconnected, or if its camera is orthographic.
    pub fn tracked_camera_pose(&self) -> Option<Isometry3<f64>> {
        let inputs = self.inputs();
        inputs.camera.as_ref().and_then(|(_, pose)| *pose)
    }

    fn set_target(&self, p_wt: &Vector3<f64>) {
        self.change(|scene| scene.set_target(three(p_wt)));
    }
    fn set_camera_position(&self, position: [f64; 3]) {
        let path = format!("{DEFAULT_CAMERA}/<object>");
        self.set_property(&path, "position", position);
    }
    fn show_scenery(&self, visible: bool) {
        for path in SCENERY {
            self.set_property(path, "visible", visible);
        }
    }
}

/// Converts a point from the z-up world to three.js's y-up world.
fn three(p: &Vector3<f64>) -> [f64; 3] {
    [p.x, p.z, -p.y]
}

fn finite(method: &str, what: &str, p: &Vector3<f64>) -> Result<()> {
    if p.iter().all(|x| x.is_finite()) {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "Meshcat::{method}: the {what} must have finite coordinates, got {:?} (m)",
        p.as_slice()
    )))
}

/// Computes X_WC from the matrix of a three.js camera, whose world is y-up and which looks along
/// -z. Returns `None` if the matrix contains no rotation.
pub(super) fn pose_of_three(columns: &[f64; 16]) -> Option<Isometry3<f64>> {
    let m = Matrix4::from_column_slice(columns);
    // R_WT turns the y-up world T into ours; R_HC turns three.js's camera frame H into ours.
    let r_wt = Matrix3::new(1.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0, 1.0, 0.0);
    let r_hc = Matrix3::from_diagonal(&Vector3::new(1.0, -1.0, -1.0));
    let r = r_wt * m.fixed_view::<3, 3>(0, 0) * r_hc;
    let p = r_wt * m.fixed_view::<3, 1>(0, 3);
    let is_rotation = (r.transpose() * r - Matrix3::identity()).abs().max() < 1e-6;
    if !is_rotation || r.determinant() < 0.0 || !p.iter().all(|x| x.is_finite()) {
        return None;
    }
    let rotation = UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(r));
    Some(Isometry3::from_parts(Translation3::from(p), rotation))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pose that Drake 1.51 reports for a recorded message.
    #[test]
    fn tracked_pose_equals_drakes() {
        let columns = [
            0.9949510169813002,
            -3.469446951953614e-18,
            0.1003617148512149,
            0.0,
            0.03173716088101859,
            0.9486832980505138,
            -0.31463113739617754,
            0.0,
            -0.09521148264305579,
            0.316227766016838,
            0.9438934121885326,
            0.0,
            -0.30108514455364466,
            1.0,
            2.9848530509439004,
            1.0,
        ];
        let x = pose_of_three(&columns).unwrap().to_homogeneous();
        let expected = [
            [-0.100361715, -0.314631137, 0.943893412, -2.98485305],
            [0.0, -0.948683298, -0.316227766, 1.0],
        ];
        for (row, expected) in [1, 2].into_iter().zip(expected) {
            for (column, e) in expected.into_iter().enumerate() {
                // Drake's numbers were printed with nine digits.
                assert!((x[(row, column)] - e).abs() < 1e-8, "{row} {column}");
            }
        }
        assert_eq!(pose_of_three(&[0.0; 16]), None);
    }
}
