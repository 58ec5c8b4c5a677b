//! Joints between bodies.

use super::checks::check_at_least_zero;
use super::index::{BodyIndex, FrameIndex, ModelInstanceIndex};
use super::joint_kind::{JointKind, Limited};
use crate::error::{Error, Result};
use crate::spatial::SpatialVector;
use nalgebra::{Isometry3, Unit, Vector3};
use std::sync::Arc;
use tarragon_framework::Scalar;
use tarragon_framework::math::direction;
use tarragon_framework::trajectories::PiecewiseConstantCurvatureTrajectory;

/// A joint between a parent and a child body (Drake's `Joint`).
///
/// Frame F is fixed to the parent P at `X_PF`, frame M to the child B at `X_BM`; the kind says how
/// M moves in F. Positions are in rad or m, velocities in rad/s or m/s. F and M are the body frames
/// by default. They can also be existing frames of the plant ([`Self::with_frame_on_parent`]), or
/// new frames at given poses ([`Self::with_pose_on_parent`]), which the plant names
/// `{joint}_parent` and `{joint}_child`.
///
/// ```
/// use nalgebra::{Isometry3, Vector3};
/// use tarragon_multibody::{BodyIndex, Joint, MultibodyPlantBuilder, SpatialInertia};
/// let mut plant = MultibodyPlantBuilder::new(0.001)?;
/// let model = plant.add_model_instance("arm")?;
/// let link = plant.add_rigid_body("link", model, SpatialInertia::zero())?;
/// let joint = Joint::revolute("shoulder", BodyIndex::WORLD, link, Vector3::z())?
///     .with_pose_on_parent(Isometry3::translation(0.0, 0.0, 1.0))
///     .with_position_limits(vec![-1.0], vec![1.0])?;
/// plant.add_joint(joint)?;
/// let plant = plant.build()?;
/// assert_eq!(plant.position_names(), ["shoulder"]);
/// # Ok::<(), tarragon_multibody::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Joint {
    pub(crate) name: String,
    pub(crate) model_instance: Option<ModelInstanceIndex>,
    pub(crate) kind: JointKind,
    pub(crate) parent: BodyIndex,
    pub(crate) child: BodyIndex,
    pub(crate) on_parent: JointAttachment,
    pub(crate) on_child: JointAttachment,
    pub(crate) x_pf: Isometry3<f64>,
    pub(crate) x_bm: Isometry3<f64>,
    pub(crate) position_limits: (Vec<f64>, Vec<f64>),
    pub(crate) velocity_limits: (Vec<f64>, Vec<f64>),
    pub(crate) acceleration_limits: (Vec<f64>, Vec<f64>),
    pub(crate) damping: Vec<f64>,
    pub(crate) armature: f64,
    pub(crate) dry_friction: f64,
    pub(crate) default_positions: Vec<f64>,
    pub(crate) ephemeral: bool,
}

/// Origin of a joint's frame F or M.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum JointAttachment {
    /// The body's own frame.
    Body,
    /// A new frame at this pose in the body.
    Offset(Isometry3<f64>),
    /// A frame of the plant.
    Frame(FrameIndex),
}

/// Length (in the units of the axis) below which a vector has no direction.
const AXIS_TOLERANCE: f64 = 1e-10;

fn unlimited(n: usize) -> (Vec<f64>, Vec<f64>) {
    (vec![f64::NEG_INFINITY; n], vec![f64::INFINITY; n])
}

impl Joint {
    /// Creates a joint with identity offsets, without limits or damping, at the zero position.
    pub fn new(
        name: impl Into<String>,
        parent: BodyIndex,
        child: BodyIndex,
        kind: JointKind,
    ) -> Self {
        let (nq, nv) = (kind.num_positions(), kind.num_velocities());
        let default_positions = kind.zero_positions();
        Self {
            name: name.into(),
            model_instance: None,
            kind,
            parent,
            child,
            on_parent: JointAttachment::Body,
            on_child: JointAttachment::Body,
            x_pf: Isometry3::identity(),
            x_bm: Isometry3::identity(),
            position_limits: unlimited(nq),
            velocity_limits: unlimited(nv),
            acceleration_limits: unlimited(nv),
            damping: vec![0.0; nv],
            armature: 0.0,
            dry_friction: 0.0,
            default_positions,
            ephemeral: false,
        }
    }

    /// Returns the joint with another name.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }
    /// Returns the joint between other bodies, where frames are fixed by the same poses.
    #[must_use]
    pub fn with_bodies(mut self, parent: BodyIndex, child: BodyIndex) -> Self {
        (self.parent, self.child) = (parent, child);
        self
    }

    /// Creates a joint that fixes M at `X_FM`.
    pub fn weld(
        name: impl Into<String>,
        parent: BodyIndex,
        child: BodyIndex,
        x_fm: Isometry3<f64>,
    ) -> Self {
        Self::new(name, parent, child, JointKind::Weld { x_fm })
    }

    /// Creates a revolute joint about `axis`, expressed in F; its length does not matter.
    ///
    /// # Errors
    /// Returns an error if the axis has no direction.
    pub fn revolute(
        name: impl Into<String>,
        parent: BodyIndex,
        child: BodyIndex,
        axis: Vector3<f64>,
    ) -> Result<Self> {
        let name = name.into();
        let axis = unit_axis(&name, axis)?;
        Ok(Self::new(name, parent, child, JointKind::Revolute { axis }))
    }

    /// Creates a prismatic joint along `axis`, expressed in F; its length does not matter.
    ///
    /// # Errors
    /// Returns an error if the axis has no direction.
    pub fn prismatic(
        name: impl Into<String>,
        parent: BodyIndex,
        child: BodyIndex,
        axis: Vector3<f64>,
    ) -> Result<Self> {
        let name = name.into();
        let axis = unit_axis(&name, axis)?;
        let kind = JointKind::Prismatic { axis };
        Ok(Self::new(name, parent, child, kind))
    }

    /// Creates a screw joint about `axis`, expressed in F, whose length does not matter; `pitch` is
    /// the translation per turn (m).
    ///
    /// # Errors
    /// Returns an error if the axis has no direction or the pitch is not finite.
    pub fn screw(
        name: impl Into<String>,
        parent: BodyIndex,
        child: BodyIndex,
        axis: Vector3<f64>,
        pitch: f64,
    ) -> Result<Self> {
        let name = name.into();
        let axis = unit_axis(&name, axis)?;
        if !pitch.is_finite() {
            return Err(Error::invalid(format!(
                "joint '{name}': the screw's pitch must be finite, got {pitch:?} m per turn"
            )));
        }
        let kind = JointKind::Screw { axis, pitch };
        Ok(Self::new(name, parent, child, kind))
    }

    /// Creates a joint that follows a path of arcs and lines in a plane of F (Drake's
    /// `CurvilinearJoint`). The position is the arclength (m). The position limits are the ends of
    /// the path; a periodic path has none.
    pub fn curvilinear(
        name: impl Into<String>,
        parent: BodyIndex,
        child: BodyIndex,
        path: PiecewiseConstantCurvatureTrajectory,
    ) -> Self {
        let ends = if path.is_periodic() {
            unlimited(1)
        } else {
            (vec![0.0], vec![path.length()])
        };
        let path = Arc::new(path);
        Self {
            position_limits: ends,
            ..Self::new(name, parent, child, JointKind::Curvilinear { path })
        }
    }

    /// Creates a universal joint: a rotation about x of F, then one about y of M.
    pub fn universal(name: impl Into<String>, parent: BodyIndex, child: BodyIndex) -> Self {
        Self::new(name, parent, child, JointKind::Universal)
    }
    /// Creates a ball joint with roll, pitch and yaw as positions.
    pub fn ball_rpy(name: impl Into<String>, parent: BodyIndex, child: BodyIndex) -> Self {
        Self::new(name, parent, child, JointKind::BallRpy)
    }
    /// Creates a ball joint whose positions are a quaternion. Unlike roll, pitch and yaw, it has no
    /// singular orientation.
    pub fn ball_quaternion(name: impl Into<String>, parent: BodyIndex, child: BodyIndex) -> Self {
        Self::new(name, parent, child, JointKind::BallQuaternion)
    }
    /// Creates a planar joint, which moves in the xy-plane of F.
    pub fn planar(name: impl Into<String>, parent: BodyIndex, child: BodyIndex) -> Self {
        Self::new(name, parent, child, JointKind::Planar)
    }
    /// Creates a joint with six degrees of freedom; its positions are roll, pitch, yaw and a
    /// translation.
    pub fn rpy_floating(name: impl Into<String>, parent: BodyIndex, child: BodyIndex) -> Self {
        Self::new(name, parent, child, JointKind::RpyFloating)
    }
    /// Creates a joint with six degrees of freedom; its positions are a quaternion and a
    /// translation.
    pub fn quaternion_floating(
        name: impl Into<String>,
        parent: BodyIndex,
        child: BodyIndex,
    ) -> Self {
        Self::new(name, parent, child, JointKind::QuaternionFloating)
    }

    /// Sets `X_PF`, the pose of F in the parent; the plant adds a frame `{joint}_parent` there.
    #[must_use]
    pub fn with_pose_on_parent(mut self, x_pf: Isometry3<f64>) -> Self {
        self.on_parent = JointAttachment::Offset(x_pf);
        self.x_pf = x_pf;
        self
    }
    /// Sets `X_BM`, the pose of M in the child; the plant adds a frame `{joint}_child` there.
    #[must_use]
    pub fn with_pose_on_child(mut self, x_bm: Isometry3<f64>) -> Self {
        self.on_child = JointAttachment::Offset(x_bm);
        self.x_bm = x_bm;
        self
    }
    /// Uses an existing frame of the plant as F; it must be fixed to the parent body.
    #[must_use]
    pub fn with_frame_on_parent(mut self, frame: FrameIndex) -> Self {
        self.on_parent = JointAttachment::Frame(frame);
        self
    }
    /// Uses an existing frame of the plant as M; it must be fixed to the child body.
    #[must_use]
    pub fn with_frame_on_child(mut self, frame: FrameIndex) -> Self {
        self.on_child = JointAttachment::Frame(frame);
        self
    }
    /// Puts the joint into a model instance other than the child's.
    #[must_use]
    pub fn with_model_instance(mut self, instance: ModelInstanceIndex) -> Self {
        self.model_instance = Some(instance);
        self
    }
    /// Sets the position limits; infinite means none.
    ///
    /// # Errors
    /// Returns an error if there are not as many limits as positions, or a lower limit is above its
    /// upper limit.
    pub fn with_position_limits(self, lower: Vec<f64>, upper: Vec<f64>) -> Result<Self> {
        self.with(|joint| joint.set_limits(Limited::Position, lower, upper))
    }
    /// Sets the velocity limits; infinite means none.
    ///
    /// # Errors
    /// Returns an error if there are not as many limits as velocities, or a lower limit is above
    /// its upper limit.
    pub fn with_velocity_limits(self, lower: Vec<f64>, upper: Vec<f64>) -> Result<Self> {
        self.with(|joint| joint.set_limits(Limited::Velocity, lower, upper))
    }
    /// Sets the acceleration limits; infinite means none.
    ///
    /// # Errors
    /// Returns an error if there are not as many limits as velocities, or a lower limit is above
    /// its upper limit.
    pub fn with_acceleration_limits(self, lower: Vec<f64>, upper: Vec<f64>) -> Result<Self> {
        self.with(|joint| joint.set_limits(Limited::Acceleration, lower, upper))
    }
    /// Sets the same damping for every velocity (N m s/rad or N s/m).
    ///
    /// # Errors
    /// Returns an error if the damping is negative or not finite.
    pub fn with_damping(self, damping: f64) -> Result<Self> {
        let n = self.num_velocities();
        self.with_dampings(vec![damping; n])
    }
    /// Sets the damping per velocity (N m s/rad or N s/m).
    ///
    /// # Errors
    /// Returns an error if there are not as many values as velocities, or one is negative or not
    /// finite.
    pub fn with_dampings(self, damping: Vec<f64>) -> Result<Self> {
        self.with(|joint| joint.set_dampings(damping))
    }
    /// Sets the armature (kg m^2 or kg; MJCF's `armature`): inertia along every velocity, on top
    /// of that of bodies and rotors.
    ///
    /// # Errors
    /// Returns an error if the armature is negative or not finite.
    pub fn with_armature(self, armature: f64) -> Result<Self> {
        self.with(|joint| {
            joint.armature = check_at_least_zero("the armature", armature)?;
            Ok(())
        })
    }
    /// Sets the dry friction (N m or N; MJCF's `frictionloss`): the largest force that friction
    /// exerts along every velocity. It acts in discrete time only.
    ///
    /// # Errors
    /// Returns an error if the friction is negative or not finite.
    pub fn with_dry_friction(self, friction: f64) -> Result<Self> {
        self.with(|joint| {
            joint.dry_friction = check_at_least_zero("the dry friction", friction)?;
            Ok(())
        })
    }
    /// Sets the default positions (rad or m). A joint with a quaternion starts with
    /// `qw, qx, qy, qz`.
    ///
    /// # Errors
    /// Returns an error if the number of positions is wrong, one is not finite, or the quaternion
    /// is zero.
    pub fn with_default_positions(self, q: Vec<f64>) -> Result<Self> {
        self.with(|joint| {
            joint.check_default_positions(&q)?;
            joint.default_positions = q;
            Ok(())
        })
    }

    /// Changes the joint; adds its name to an error.
    fn with(mut self, change: impl FnOnce(&mut Self) -> Result<(), String>) -> Result<Self> {
        match change(&mut self) {
            Ok(()) => Ok(self),
            Err(why) => Err(Error::invalid(format!("joint '{}': {why}", self.name))),
        }
    }

    /// Returns the name, unique within the model instance.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// Returns the model instance.
    pub fn model_instance(&self) -> ModelInstanceIndex {
        self.model_instance.unwrap_or(ModelInstanceIndex::DEFAULT)
    }
    /// Returns the kind, which defines how M moves in F.
    pub fn kind(&self) -> &JointKind {
        &self.kind
    }
    /// Returns the parent body P.
    pub fn parent_body(&self) -> BodyIndex {
        self.parent
    }
    /// Returns the child body B.
    pub fn child_body(&self) -> BodyIndex {
        self.child
    }
    /// Returns the plant's frame F on the parent; `None` before the joint is added to a plant.
    pub fn frame_on_parent(&self) -> Option<FrameIndex> {
        self.on_parent.frame()
    }
    /// Returns the plant's frame M on the child; `None` before the joint is added to a plant.
    pub fn frame_on_child(&self) -> Option<FrameIndex> {
        self.on_child.frame()
    }
    /// Returns `X_PF`, the pose of the joint frame F in the parent.
    pub fn pose_on_parent(&self) -> &Isometry3<f64> {
        &self.x_pf
    }
    /// Returns `X_BM`, the pose of the joint frame M in the child.
    pub fn pose_on_child(&self) -> &Isometry3<f64> {
        &self.x_bm
    }
    /// Returns the positions at which a floating joint between the world and a body gives the body
    /// the pose `x_wb`.
    pub(crate) fn floating_positions<T: Scalar>(&self, x_wb: &Isometry3<T>) -> Vec<T> {
        let x_fm = self.x_pf.inverse().cast::<T>() * x_wb * self.x_bm.cast::<T>();
        self.kind.floating_positions(&x_fm)
    }
    /// Returns the velocities of a floating joint between the world and a body at some pose and
    /// spatial velocity in the world.
    pub(crate) fn floating_velocities<T: Scalar>(
        &self,
        x_wb: &Isometry3<T>,
        v_wb: &SpatialVector<T>,
    ) -> Vec<T> {
        let r_fw = self.x_pf.rotation.inverse().cast::<T>();
        let p_bm_w = x_wb.rotation * self.x_bm.translation.vector.map(T::from);
        let angular = v_wb.rotational;
        let linear = v_wb.translational + angular.cross(&p_bm_w);
        let (angular, linear) = (r_fw * angular, r_fw * linear);
        [angular.as_slice(), linear.as_slice()].concat()
    }
    /// Returns the number of generalized positions.
    pub fn num_positions(&self) -> usize {
        self.kind.num_positions()
    }
    /// Returns the number of generalized velocities.
    pub fn num_velocities(&self) -> usize {
        self.kind.num_velocities()
    }
    /// Returns the lower position limits (rad or m).
    pub fn position_lower_limits(&self) -> &[f64] {
        &self.position_limits.0
    }
    /// Returns the upper position limits (rad or m).
    pub fn position_upper_limits(&self) -> &[f64] {
        &self.position_limits.1
    }
    /// Returns the lower velocity limits (rad/s or m/s).
    pub fn velocity_lower_limits(&self) -> &[f64] {
        &self.velocity_limits.0
    }
    /// Returns the upper velocity limits (rad/s or m/s).
    pub fn velocity_upper_limits(&self) -> &[f64] {
        &self.velocity_limits.1
    }
    /// Returns the lower acceleration limits (rad/s^2 or m/s^2).
    pub fn acceleration_lower_limits(&self) -> &[f64] {
        &self.acceleration_limits.0
    }
    /// Returns the upper acceleration limits (rad/s^2 or m/s^2).
    pub fn acceleration_upper_limits(&self) -> &[f64] {
        &self.acceleration_limits.1
    }
    /// Returns the damping per velocity (N m s/rad or N s/m).
    pub fn damping(&self) -> &[f64] {
        &self.damping
    }
    /// Returns the inertia along every velocity in addition to that of bodies and rotors (kg m^2 or
    /// kg).
    pub fn armature(&self) -> f64 {
        self.armature
    }
    /// Returns the largest force of dry friction along every velocity (N m or N).
    pub fn dry_friction(&self) -> f64 {
        self.dry_friction
    }
    /// Returns the default positions (rad or m). A joint with a quaternion starts with
    /// `qw, qx, qy, qz`.
    pub fn default_positions(&self) -> &[f64] {
        &self.default_positions
    }
    /// Returns true if building the plant added the joint, to connect a free body to the world.
    pub fn is_ephemeral(&self) -> bool {
        self.ephemeral
    }
}

impl JointAttachment {
    fn frame(&self) -> Option<FrameIndex> {
        match self {
            Self::Frame(frame) => Some(*frame),
            _ => None,
        }
    }
}

fn unit_axis(joint: &str, axis: Vector3<f64>) -> Result<Unit<Vector3<f64>>> {
    direction(axis, AXIS_TOLERANCE).ok_or_else(|| {
        Error::invalid(format!(
            "joint '{joint}': the axis must be finite and not zero, got {:?}",
            axis.as_slice()
        ))
    })
}
