//! What model files say beside bodies and joints: named positions, cameras and sites.

use crate::body::FixedOffsetFrame;
use crate::constraint::{check_finite, check_numbers};
use crate::error::{Error, Result};
use crate::index::{BodyIndex, FrameIndex, JointIndex, ModelInstanceIndex};
use crate::lookup::positions_of;
use crate::plant::MultibodyPlant;
use nalgebra::Isometry3;

/// Positions of joints under a name (MJCF's `key`).
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_multibody::*;
/// let mut plant = MultibodyPlant::new(0.001)?;
/// let door = plant.add_rigid_body("door", ModelInstanceIndex::DEFAULT, SpatialInertia::zero())?;
/// let hinge = plant.add_joint(Joint::revolute("hinge", BodyIndex::WORLD, door, Vector3::z())?)?;
/// plant.add_keyframe(Keyframe {
///     name: "open".into(),
///     model_instance: ModelInstanceIndex::DEFAULT,
///     positions: vec![(hinge, vec![1.5])],
///     free_poses: vec![],
/// })?;
/// plant.finalize()?;
/// assert_eq!(plant.keyframe_positions("open")?, [1.5]);
/// # Ok::<(), tarragon_multibody::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Keyframe {
    /// The name.
    pub name: String,
    /// The model instance whose file has it.
    pub model_instance: ModelInstanceIndex,
    /// Positions per joint (rad or m); other joints are at their defaults.
    pub positions: Vec<(JointIndex, Vec<f64>)>,
    /// Poses `X_WB` of free bodies, which get their joint from `finalize` only.
    pub free_poses: Vec<(BodyIndex, Isometry3<f64>)>,
}

/// A camera of a model file, to be made a sensor of.
///
/// ```
/// use tarragon_multibody::*;
/// let mut plant = MultibodyPlant::new(0.001)?;
/// let mut eye = ModelCamera::new("eye", FrameIndex::WORLD);
/// eye.width = 320;
/// plant.add_model_camera(eye)?;
/// assert_eq!(plant.model_cameras()[0].width, 320);
/// # Ok::<(), tarragon_multibody::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ModelCamera {
    /// The name.
    pub name: String,
    /// The frame that the camera is fixed to.
    pub frame: FrameIndex,
    /// Pose `X_FC` of the camera in that frame: x of C to the right, y down, z forward.
    pub x_fc: Isometry3<f64>,
    /// Width of the image (pixels).
    pub width: u32,
    /// Height of the image (pixels).
    pub height: u32,
    /// Vertical field of view (rad).
    pub fov_y: f64,
    /// Distance of the near clipping plane (m).
    pub near: f64,
    /// Distance of the far clipping plane (m).
    pub far: f64,
    /// Images per second.
    pub fps: f64,
    /// Whether it sees colours.
    pub rgb: bool,
    /// Whether it sees depth.
    pub depth: bool,
}

impl ModelCamera {
    /// A colour camera at a frame, with Drake's defaults: 640x480, 45 degrees, 0.01 m to 500 m, 10
    /// images per second.
    pub fn new(name: impl Into<String>, frame: FrameIndex) -> Self {
        Self {
            name: name.into(),
            frame,
            x_fc: Isometry3::identity(),
            width: 640,
            height: 480,
            fov_y: std::f64::consts::FRAC_PI_4,
            near: 0.01,
            far: 500.0,
            fps: 10.0,
            rgb: true,
            depth: false,
        }
    }
}

impl MultibodyPlant {
    /// Adds named positions.
    ///
    /// # Errors
    /// If a joint or a body is unknown, a number of positions is wrong, one is not finite, or after
    /// `finalize`.
    pub fn add_keyframe(&mut self, keyframe: Keyframe) -> Result<()> {
        self.check_open(|| format!("keyframe '{}'", keyframe.name))?;
        self.check_instance(keyframe.model_instance)?;
        for (joint, q) in &keyframe.positions {
            let checked = self.joint(*joint)?.check_default_positions(q);
            checked.map_err(|why| self.joint_error(*joint, &why))?;
        }
        for (body, x_wb) in &keyframe.free_poses {
            self.body(*body)?;
            let numbers = x_wb.translation.vector.iter();
            check_finite(&format!("keyframe '{}'", keyframe.name), numbers)?;
        }
        self.keyframes.push(keyframe);
        Ok(())
    }
    /// All named positions, in order of addition.
    pub fn keyframes(&self) -> &[Keyframe] {
        &self.keyframes
    }
    /// Default positions q with those of a keyframe in their place; the name is plain or scoped
    /// (`model::name`).
    ///
    /// # Errors
    /// If there is no keyframe of the name or several, or before `finalize`.
    pub fn keyframe_positions(&self, name: &str) -> Result<Vec<f64>> {
        let topology = self.finalized("keyframe_positions")?;
        let all = self.keyframes.iter().enumerate();
        let all = all.map(|(i, k)| (i, k.model_instance, &*k.name));
        let keyframe = &self.keyframes[self.by_name("keyframe", name, all)?];
        let mut q = self.default_positions();
        for (joint, positions) in &keyframe.positions {
            let start = topology.starts[joint.index()].0;
            q[start..start + positions.len()].copy_from_slice(positions);
        }
        for (body, x_wb) in &keyframe.free_poses {
            // A body that got another joint in the meantime stays where that puts it.
            let joint = self.inboard_joint(*body);
            if let Some(joint) = joint.filter(|_| self.is_floating_base(*body)) {
                let start = topology.starts[joint.index()].0;
                let positions = positions_of(&self.joints[joint.index()].kind, x_wb);
                q[start..start + positions.len()].copy_from_slice(&positions);
            }
        }
        Ok(q)
    }

    /// Adds a camera.
    ///
    /// # Errors
    /// If its frame is unknown, a number is not finite or not positive, or after `finalize`.
    pub fn add_model_camera(&mut self, camera: ModelCamera) -> Result<()> {
        let what = format!("camera '{}'", camera.name);
        self.check_open(|| what.clone())?;
        self.frame(camera.frame)?;
        let numbers = [
            ("width", f64::from(camera.width)),
            ("height", f64::from(camera.height)),
            ("field of view", camera.fov_y),
            ("near plane", camera.near),
            ("far plane", camera.far),
            ("rate", camera.fps),
        ];
        check_numbers(&what, &numbers)?;
        if let Some((name, bad)) = numbers.iter().find(|(_, x)| *x <= 0.0) {
            return Err(Error::invalid(format!(
                "{what}: the {name} is {bad}, a positive number is expected"
            )));
        }
        if camera.near >= camera.far || camera.fov_y >= std::f64::consts::PI {
            return Err(Error::invalid(format!(
                "{what}: near plane {}, far plane {} and field of view {}: a near plane before the far \
                 one and an angle below pi are expected",
                camera.near, camera.far, camera.fov_y
            )));
        }
        self.cameras.push(camera);
        Ok(())
    }
    /// All cameras of model files, in order of addition.
    pub fn model_cameras(&self) -> &[ModelCamera] {
        &self.cameras
    }

    /// Adds a named place on a body that is no frame of the plant (MJCF's `site`).
    ///
    /// # Errors
    /// If the body or the instance is unknown, or after `finalize`.
    pub fn add_site(&mut self, mut site: FixedOffsetFrame) -> Result<()> {
        self.check_open(|| format!("site '{}'", site.name))?;
        let of_body = self.body(site.body)?.model_instance;
        let instance = *site.model_instance.get_or_insert(of_body);
        self.check_instance(instance)?;
        self.sites.push(site);
        Ok(())
    }
    /// All sites, in order of addition.
    pub fn sites(&self) -> &[FixedOffsetFrame] {
        &self.sites
    }
    /// The site of a name, plain or scoped (`model::site`).
    ///
    /// # Errors
    /// If there is none, or several in different model instances.
    pub fn site_by_name(&self, name: &str) -> Result<&FixedOffsetFrame> {
        let all = self.sites.iter().enumerate();
        let all = all.map(|(i, s)| (i, s.model_instance(), &*s.name));
        Ok(&self.sites[self.by_name("site", name, all)?])
    }
}
