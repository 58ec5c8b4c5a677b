//! The page's camera.

use super::Meshcat;
use super::msgpack::Writer;
use super::object::Object;
use crate::{Error, Result};
use nalgebra::{Isometry3, Matrix3, Matrix4, Rotation3, Translation3, UnitQuaternion, Vector3};

/// The path of the page's own camera.
const DEFAULT_CAMERA: &str = "/Cameras/default/rotated";
/// What turns with the camera's target.
const CAMERA_BASE: &str = "/Cameras/default";
/// What 2d rendering hides.
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

/// A camera that a page can look through: [`PerspectiveCamera`] or [`OrthographicCamera`].
///
/// ```
/// use tarragon_visualization::{OrthographicCamera, PageCamera};
/// let camera: PageCamera = OrthographicCamera::default().into();
/// assert!(matches!(camera, PageCamera::Orthographic(_)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PageCamera {
    /// With perspective.
    Perspective(PerspectiveCamera),
    /// Without.
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
        let assets = Vec::new();
        Object {
            encoded: w.into_inner(),
            assets,
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
            "Meshcat::set_camera: {self:?} has a number that is not finite"
        )))
    }
}

impl Meshcat {
    /// Makes the page look through another camera.
    ///
    /// # Errors
    /// If a number of the camera is not finite.
    pub fn set_camera(&self, camera: impl Into<PageCamera>) -> Result<()> {
        self.set_camera_at(camera, DEFAULT_CAMERA)
    }
    /// Puts a camera at another path than the page's own camera.
    ///
    /// # Errors
    /// If a number of the camera is not finite.
    pub fn set_camera_at(&self, camera: impl Into<PageCamera>, path: &str) -> Result<()> {
        let camera = camera.into();
        camera.check()?;
        if matches!(camera, PageCamera::Perspective(_)) && path == DEFAULT_CAMERA {
            // Orbit controls turn about the origin again.
            self.set_target(&Vector3::zeros());
        }
        self.put(path, camera.object());
        Ok(())
    }
    /// Makes the page look at the point T, `p_wt` (m), in the world. Orthographic cameras do not
    /// change.
    ///
    /// # Errors
    /// If a coordinate is not finite.
    pub fn set_camera_target(&self, p_wt: &Vector3<f64>) -> Result<()> {
        finite("set_camera_target", "target", p_wt)?;
        self.set_target(p_wt);
        Ok(())
    }
    /// Puts the page's camera to the point C, `p_wc` (m), looking to the point T, `p_wt` (m), with
    /// the world's z upwards. Orthographic cameras, too.
    ///
    /// # Errors
    /// If a coordinate is not finite, or the points coincide.
    pub fn set_camera_pose(&self, p_wc: &Vector3<f64>, p_wt: &Vector3<f64>) -> Result<()> {
        finite("set_camera_pose", "camera", p_wc)?;
        finite("set_camera_pose", "target", p_wt)?;
        if p_wc == p_wt {
            return Err(Error::invalid(format!(
                "Meshcat::set_camera_pose: camera and target are both at {:?}, expected different points",
                p_wc.as_slice()
            )));
        }
        self.set_target(p_wt);
        self.set_transform(CAMERA_BASE, &Isometry3::identity());
        self.set_camera_position(three(p_wc));
        Ok(())
    }
    /// Turns the page into a view of a plane: an orthographic camera at `x_wc` that looks along its
    /// +y axis, with +z upwards and -x to the right, shows the rectangle given (m); background,
    /// grid and axes are hidden.
    ///
    /// # Errors
    /// If a number is not finite, or the rectangle is empty.
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
                "Meshcat::set_2d_render_mode: [{xmin}, {xmax}] x [{ymin}, {ymax}] is no rectangle, \
                 expected xmin < xmax and ymin < ymax"
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
    /// The view of [`set_2d_render_mode`](Self::set_2d_render_mode) that Drake's defaults give:
    /// from y = -1, the square from -1 to 1.
    pub fn set_default_2d_render_mode(&self) {
        let x_wc = Isometry3::translation(0.0, -1.0, 0.0);
        self.set_2d_render_mode(&x_wc, -1.0, 1.0, -1.0, 1.0)
            .expect("the rectangle is not empty");
    }
    /// Sets camera, target, background, grid and axes back to what they are at the start.
    pub fn reset_render_mode(&self) {
        self.set_camera(PerspectiveCamera::default())
            .expect("the default camera is finite");
        self.set_transform(CAMERA_BASE, &Isometry3::identity());
        self.set_camera_position([0.0, 1.0, 3.0]);
        self.show_scenery(true);
    }
    /// The pose X_WC of the camera of the page that moved its camera last, among those opened with
    /// `?tracked_camera=on`: C has +z forward and +y down. None if there was none, if it left, or
    /// if its camera is orthographic.
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

/// A point of the z-up world in three.js's y-up world.
fn three(p: &Vector3<f64>) -> [f64; 3] {
    [p.x, p.z, -p.y]
}

fn finite(method: &str, what: &str, p: &Vector3<f64>) -> Result<()> {
    if p.iter().all(|x| x.is_finite()) {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "Meshcat::{method}: the {what} is at {:?}, expected finite numbers (m)",
        p.as_slice()
    )))
}

/// X_WC from the matrix of a camera of three.js, whose world is y-up and whose cameras look along
/// -z. None if the matrix has no rotation.
pub(super) fn pose_of_three(columns: &[f64; 16]) -> Option<Isometry3<f64>> {
    let m = Matrix4::from_column_slice(columns);
    // R_WT turns the y-up world T into ours, R_HC three's camera H into ours.
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

    /// The pose that Drake 1.51 reports for a recorded message.
    #[test]
    fn the_tracked_pose_is_drakes() {
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
