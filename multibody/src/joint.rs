//! Joints and their actuators.

use crate::error::{Error, Result};
use crate::index::{BodyIndex, JointIndex, ModelInstanceIndex};
use nalgebra::{Isometry3, Unit, Vector3};

/// How the child's joint frame M moves in the parent's joint frame F.
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_multibody::JointKind;
/// let slide = JointKind::Prismatic { axis: Vector3::x_axis() };
/// assert_eq!((slide.type_name(), slide.num_positions()), ("prismatic", 1));
/// let free = JointKind::QuaternionFloating;
/// assert_eq!((free.num_positions(), free.num_velocities()), (7, 6));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum JointKind {
    /// Not at all: `X_FM` is constant.
    Weld {
        /// The constant pose of M in F.
        x_fm: Isometry3<f64>,
    },
    /// Turns about an axis fixed in F and M; q is the angle (rad).
    Revolute {
        /// The axis, expressed in F (and in M).
        axis: Unit<Vector3<f64>>,
    },
    /// Slides along an axis fixed in F and M; q is the distance (m).
    Prismatic {
        /// The axis, expressed in F (and in M).
        axis: Unit<Vector3<f64>>,
    },
    /// Six degrees of freedom; q is `[qw, qx, qy, qz, x, y, z]` of `X_FM`, v is `w_FM_F, v_FM_F`.
    QuaternionFloating,
}

impl JointKind {
    /// Drake's name of the type: `weld`, `revolute`, `prismatic`, `quaternion_floating`.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Weld { .. } => "weld",
            Self::Revolute { .. } => "revolute",
            Self::Prismatic { .. } => "prismatic",
            Self::QuaternionFloating => "quaternion_floating",
        }
    }
    /// Number of generalized positions.
    pub fn num_positions(&self) -> usize {
        match self {
            Self::Weld { .. } => 0,
            Self::Revolute { .. } | Self::Prismatic { .. } => 1,
            Self::QuaternionFloating => 7,
        }
    }
    /// Number of generalized velocities.
    pub fn num_velocities(&self) -> usize {
        match self {
            Self::Weld { .. } => 0,
            Self::Revolute { .. } | Self::Prismatic { .. } => 1,
            Self::QuaternionFloating => 6,
        }
    }
    /// Suffixes of the names of the positions.
    pub(crate) fn position_suffixes(&self) -> &'static [&'static str] {
        match self {
            Self::Weld { .. } => &[],
            Self::Revolute { .. } => &["q"],
            Self::Prismatic { .. } => &["x"],
            Self::QuaternionFloating => &["qw", "qx", "qy", "qz", "x", "y", "z"],
        }
    }
}

/// A joint between a parent and a child body (Drake's `Joint`).
///
/// Frame F is fixed on the parent P at `X_PF`, frame M on the child B at `X_BM`; the kind says how
/// M moves in F. Positions are in rad or m, velocities in rad/s or m/s.
///
/// ```
/// use nalgebra::{Isometry3, Vector3};
/// use tarragon_multibody::{BodyIndex, Joint, MultibodyPlant, SpatialInertia};
/// let mut plant = MultibodyPlant::new(0.001)?;
/// let model = plant.add_model_instance("arm")?;
/// let link = plant.add_rigid_body("link", model, SpatialInertia::zero())?;
/// let joint = Joint::revolute("shoulder", BodyIndex::WORLD, link, Vector3::z())?
///     .with_pose_on_parent(Isometry3::translation(0.0, 0.0, 1.0))
///     .with_position_limits(vec![-1.0], vec![1.0])?;
/// plant.add_joint(joint)?;
/// plant.finalize()?;
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
    pub(crate) x_pf: Isometry3<f64>,
    pub(crate) x_bm: Isometry3<f64>,
    pub(crate) position_limits: (Vec<f64>, Vec<f64>),
    pub(crate) velocity_limits: (Vec<f64>, Vec<f64>),
    pub(crate) acceleration_limits: (Vec<f64>, Vec<f64>),
    pub(crate) damping: Vec<f64>,
    pub(crate) default_positions: Vec<f64>,
    pub(crate) ephemeral: bool,
}

/// Below this length (in the units of the axis) a vector has no direction.
const AXIS_TOLERANCE: f64 = 1e-10;

fn unlimited(n: usize) -> (Vec<f64>, Vec<f64>) {
    (vec![f64::NEG_INFINITY; n], vec![f64::INFINITY; n])
}

impl Joint {
    /// A joint with identity offsets, without limits or damping, at the zero position.
    pub fn new(
        name: impl Into<String>,
        parent: BodyIndex,
        child: BodyIndex,
        kind: JointKind,
    ) -> Self {
        let (nq, nv) = (kind.num_positions(), kind.num_velocities());
        let mut default_positions = vec![0.0; nq];
        if kind == JointKind::QuaternionFloating {
            default_positions[0] = 1.0;
        }
        Self {
            name: name.into(),
            model_instance: None,
            kind,
            parent,
            child,
            x_pf: Isometry3::identity(),
            x_bm: Isometry3::identity(),
            position_limits: unlimited(nq),
            velocity_limits: unlimited(nv),
            acceleration_limits: unlimited(nv),
            damping: vec![0.0; nv],
            default_positions,
            ephemeral: false,
        }
    }

    /// A joint that fixes M at `X_FM`.
    pub fn weld(
        name: impl Into<String>,
        parent: BodyIndex,
        child: BodyIndex,
        x_fm: Isometry3<f64>,
    ) -> Self {
        Self::new(name, parent, child, JointKind::Weld { x_fm })
    }

    /// A hinge about `axis`, expressed in F; its length does not matter.
    ///
    /// # Errors
    /// If the axis has no direction.
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

    /// A slide along `axis`, expressed in F; its length does not matter.
    ///
    /// # Errors
    /// If the axis has no direction.
    pub fn prismatic(
        name: impl Into<String>,
        parent: BodyIndex,
        child: BodyIndex,
        axis: Vector3<f64>,
    ) -> Result<Self> {
        let name = name.into();
        let axis = unit_axis(&name, axis)?;
        Ok(Self::new(
            name,
            parent,
            child,
            JointKind::Prismatic { axis },
        ))
    }

    /// Sets `X_PF`, the pose of F on the parent.
    #[must_use]
    pub fn with_pose_on_parent(mut self, x_pf: Isometry3<f64>) -> Self {
        self.x_pf = x_pf;
        self
    }
    /// Sets `X_BM`, the pose of M on the child.
    #[must_use]
    pub fn with_pose_on_child(mut self, x_bm: Isometry3<f64>) -> Self {
        self.x_bm = x_bm;
        self
    }
    /// Puts the joint into another model instance than the child's.
    #[must_use]
    pub fn with_model_instance(mut self, instance: ModelInstanceIndex) -> Self {
        self.model_instance = Some(instance);
        self
    }
    /// Sets the position limits; infinite means none.
    ///
    /// # Errors
    /// If their number is not that of the positions, or a lower one is above its upper one.
    pub fn with_position_limits(mut self, lower: Vec<f64>, upper: Vec<f64>) -> Result<Self> {
        let n = self.num_positions();
        self.position_limits = self.limits("position", n, lower, upper)?;
        Ok(self)
    }
    /// Sets the velocity limits; infinite means none.
    ///
    /// # Errors
    /// If their number is not that of the velocities, or a lower one is above its upper one.
    pub fn with_velocity_limits(mut self, lower: Vec<f64>, upper: Vec<f64>) -> Result<Self> {
        let n = self.num_velocities();
        self.velocity_limits = self.limits("velocity", n, lower, upper)?;
        Ok(self)
    }
    /// Sets the acceleration limits; infinite means none.
    ///
    /// # Errors
    /// If their number is not that of the velocities, or a lower one is above its upper one.
    pub fn with_acceleration_limits(mut self, lower: Vec<f64>, upper: Vec<f64>) -> Result<Self> {
        let n = self.num_velocities();
        self.acceleration_limits = self.limits("acceleration", n, lower, upper)?;
        Ok(self)
    }
    /// Sets the damping of every velocity (N m s/rad or N s/m).
    ///
    /// # Errors
    /// If it is negative or not finite.
    pub fn with_damping(mut self, damping: f64) -> Result<Self> {
        if !(damping >= 0.0 && damping.is_finite()) {
            return Err(Error::invalid(format!(
                "joint '{}': damping is {damping}, a finite value of at least 0 is expected",
                self.name
            )));
        }
        self.damping.fill(damping);
        Ok(self)
    }

    fn limits(
        &self,
        what: &str,
        n: usize,
        lower: Vec<f64>,
        upper: Vec<f64>,
    ) -> Result<(Vec<f64>, Vec<f64>)> {
        if lower.len() != n || upper.len() != n {
            return Err(Error::invalid(format!(
                "joint '{}': {} lower and {} upper {what} limits, {n} of each are expected",
                self.name,
                lower.len(),
                upper.len()
            )));
        }
        for (l, u) in lower.iter().zip(&upper) {
            if l.is_nan() || u.is_nan() || l > u {
                return Err(Error::invalid(format!(
                    "joint '{}': the {what} limits are [{l}, {u}], a lower one not above the upper \
                     one is expected",
                    self.name
                )));
            }
        }
        Ok((lower, upper))
    }

    /// Name, unique within the model instance.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// The model instance it belongs to.
    pub fn model_instance(&self) -> ModelInstanceIndex {
        self.model_instance.unwrap_or(ModelInstanceIndex::DEFAULT)
    }
    /// How M moves in F.
    pub fn kind(&self) -> &JointKind {
        &self.kind
    }
    /// Parent body P.
    pub fn parent_body(&self) -> BodyIndex {
        self.parent
    }
    /// Child body B.
    pub fn child_body(&self) -> BodyIndex {
        self.child
    }
    /// `X_PF`: pose of the joint frame F on the parent.
    pub fn pose_on_parent(&self) -> &Isometry3<f64> {
        &self.x_pf
    }
    /// `X_BM`: pose of the joint frame M on the child.
    pub fn pose_on_child(&self) -> &Isometry3<f64> {
        &self.x_bm
    }
    /// Number of generalized positions.
    pub fn num_positions(&self) -> usize {
        self.kind.num_positions()
    }
    /// Number of generalized velocities.
    pub fn num_velocities(&self) -> usize {
        self.kind.num_velocities()
    }
    /// Lower position limits (rad or m).
    pub fn position_lower_limits(&self) -> &[f64] {
        &self.position_limits.0
    }
    /// Upper position limits (rad or m).
    pub fn position_upper_limits(&self) -> &[f64] {
        &self.position_limits.1
    }
    /// Lower velocity limits (rad/s or m/s).
    pub fn velocity_lower_limits(&self) -> &[f64] {
        &self.velocity_limits.0
    }
    /// Upper velocity limits (rad/s or m/s).
    pub fn velocity_upper_limits(&self) -> &[f64] {
        &self.velocity_limits.1
    }
    /// Lower acceleration limits (rad/s^2 or m/s^2).
    pub fn acceleration_lower_limits(&self) -> &[f64] {
        &self.acceleration_limits.0
    }
    /// Upper acceleration limits (rad/s^2 or m/s^2).
    pub fn acceleration_upper_limits(&self) -> &[f64] {
        &self.acceleration_limits.1
    }
    /// Damping per velocity (N m s/rad or N s/m).
    pub fn damping(&self) -> &[f64] {
        &self.damping
    }
    /// Default positions (rad or m; `[qw, qx, qy, qz, x, y, z]` for a floating joint).
    pub fn default_positions(&self) -> &[f64] {
        &self.default_positions
    }
    /// True if `finalize` added the joint to connect a free body to the world.
    pub fn is_ephemeral(&self) -> bool {
        self.ephemeral
    }

    /// Checks default positions before they are set.
    pub(crate) fn check_default_positions(&self, q: &[f64]) -> Result<()> {
        let n = self.num_positions();
        let bad = |why: String| Err(Error::invalid(format!("joint '{}': {why}", self.name)));
        if q.len() != n {
            return bad(format!("{} default positions, {n} are expected", q.len()));
        }
        if q.iter().any(|x| !x.is_finite()) {
            return bad(format!(
                "the default positions are {q:?}, finite numbers are expected"
            ));
        }
        if self.kind == JointKind::QuaternionFloating && q[..4].iter().all(|x| *x == 0.0) {
            return bad("the default quaternion is zero, a rotation is expected".into());
        }
        Ok(())
    }
}

fn unit_axis(joint: &str, axis: Vector3<f64>) -> Result<Unit<Vector3<f64>>> {
    let finite = axis.iter().all(|x| x.is_finite());
    let unit = Unit::try_new(axis, AXIS_TOLERANCE).filter(|_| finite);
    unit.ok_or_else(|| {
        Error::invalid(format!(
            "joint '{joint}': the axis is {:?}, a finite vector that is not zero is expected",
            axis.as_slice()
        ))
    })
}

/// A motor on a joint (Drake's `JointActuator`). Kept for dynamics and for those who ask.
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_multibody::*;
/// let mut plant = MultibodyPlant::new(0.001)?;
/// let door = plant.add_rigid_body("door", ModelInstanceIndex::DEFAULT, SpatialInertia::zero())?;
/// let hinge = plant.add_joint(Joint::revolute("hinge", BodyIndex::WORLD, door, Vector3::z())?)?;
/// plant.add_joint_actuator("motor", hinge, 50.0)?;
/// let motor: &JointActuator = &plant.actuators()[0];
/// assert_eq!((motor.joint(), motor.effort_limit()), (hinge, 50.0));
/// # Ok::<(), tarragon_multibody::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct JointActuator {
    pub(crate) name: String,
    pub(crate) joint: JointIndex,
    pub(crate) effort_limit: f64,
    pub(crate) rotor_inertia: f64,
    pub(crate) gear_ratio: f64,
}

impl JointActuator {
    /// Name, unique within the model instance of its joint.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// The joint it drives.
    pub fn joint(&self) -> JointIndex {
        self.joint
    }
    /// Largest effort (N m or N), infinite without a limit.
    pub fn effort_limit(&self) -> f64 {
        self.effort_limit
    }
    /// Rotor inertia (kg m^2, or kg for a slide).
    pub fn default_rotor_inertia(&self) -> f64 {
        self.rotor_inertia
    }
    /// Rotor speed over joint speed.
    pub fn default_gear_ratio(&self) -> f64 {
        self.gear_ratio
    }
}

/// `q0 = gear_ratio * q1 + offset` between two joints (Drake's coupler constraint, URDF's `mimic`).
/// Kept for dynamics; kinematics takes every position from q.
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_multibody::*;
/// let mut plant = MultibodyPlant::new(0.001)?;
/// let mut finger = |name: &str| -> Result<JointIndex> {
///     let body = plant.add_rigid_body(name, ModelInstanceIndex::DEFAULT, SpatialInertia::zero())?;
///     plant.add_joint(Joint::prismatic(name, BodyIndex::WORLD, body, Vector3::y())?)
/// };
/// let (joint0, joint1) = (finger("left")?, finger("right")?);
/// plant.add_coupler_constraint(CouplerConstraint { joint0, joint1, gear_ratio: -1.0, offset: 0.0 })?;
/// assert_eq!(plant.coupler_constraints()[0].joint0, joint0);
/// # Ok::<(), tarragon_multibody::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CouplerConstraint {
    /// The joint that follows.
    pub joint0: JointIndex,
    /// The joint that is followed.
    pub joint1: JointIndex,
    /// Ratio.
    pub gear_ratio: f64,
    /// Offset (rad or m).
    pub offset: f64,
}
