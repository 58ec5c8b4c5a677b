//! Constraints between bodies and joints. The plant stores them for dynamics; kinematics ignores
//! them and takes all positions from q.

use super::index::{BodyIndex, JointIndex};
use super::tendon::Tendon;
use super::tendon_path::TendonPart;
use nalgebra::{Isometry3, Vector3};

/// `q0 = gear_ratio * q1 + offset` between two joints (Drake's coupler constraint, URDF's `mimic`).
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_multibody::*;
/// let mut plant = MultibodyPlantBuilder::new(0.001)?;
/// let mut finger = |name: &str| -> Result<JointIndex> {
///     let body = plant.add_rigid_body(name, ModelInstanceIndex::DEFAULT, SpatialInertia::zero())?;
///     plant.add_joint(Joint::prismatic(name, BodyIndex::WORLD, body, Vector3::y())?)
/// };
/// let (joint0, joint1) = (finger("left")?, finger("right")?);
/// let mirror = CouplerConstraint { joint0, joint1, gear_ratio: -1.0, offset: 0.0 };
/// plant.add_coupler_constraint(mirror)?;
/// assert_eq!(plant.coupler_constraints().next().unwrap().joint0, joint0);
/// # Ok::<(), tarragon_multibody::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CouplerConstraint {
    /// The following joint, with position q0.
    pub joint0: JointIndex,
    /// The leading joint, with position q1.
    pub joint1: JointIndex,
    /// Ratio of the rate of q0 to that of q1.
    pub gear_ratio: f64,
    /// Offset (rad or m).
    pub offset: f64,
}

/// Point P of body A and point Q of body B coincide.
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_multibody::*;
/// let mut plant = MultibodyPlantBuilder::new(0.001)?;
/// let ball = plant.add_rigid_body("ball", ModelInstanceIndex::DEFAULT, SpatialInertia::zero())?;
/// let (body_a, body_b) = (BodyIndex::WORLD, ball);
/// let hook = BallConstraint { body_a, p_ap: Vector3::z(), body_b, p_bq: None };
/// plant.add_ball_constraint(hook)?;
/// assert_eq!(plant.constraints(), [Constraint::Ball(hook)]);
/// # Ok::<(), tarragon_multibody::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BallConstraint {
    /// Body A.
    pub body_a: BodyIndex,
    /// Position of P in A (m).
    pub p_ap: Vector3<f64>,
    /// Body B.
    pub body_b: BodyIndex,
    /// Position of Q in B (m); `None` puts Q where P is in the default configuration.
    pub p_bq: Option<Vector3<f64>>,
}

/// Frame P of body A and frame Q of body B coincide.
///
/// ```
/// use nalgebra::Isometry3;
/// use tarragon_multibody::*;
/// let mut plant = MultibodyPlantBuilder::new(0.001)?;
/// let lid = plant.add_rigid_body("lid", ModelInstanceIndex::DEFAULT, SpatialInertia::zero())?;
/// let x = Isometry3::identity();
/// let glue = WeldConstraint { body_a: BodyIndex::WORLD, x_ap: x, body_b: lid, x_bq: x };
/// plant.add_weld_constraint(glue)?;
/// assert_eq!(plant.constraints().len(), 1);
/// # Ok::<(), tarragon_multibody::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WeldConstraint {
    /// Body A.
    pub body_a: BodyIndex,
    /// Pose of P in A.
    pub x_ap: Isometry3<f64>,
    /// Body B.
    pub body_b: BodyIndex,
    /// Pose of Q in B.
    pub x_bq: Isometry3<f64>,
}

/// Point P of body A and point Q of body B keep a fixed distance: rigidly if the stiffness is
/// infinite, else by a spring.
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_multibody::*;
/// let mut plant = MultibodyPlantBuilder::new(0.001)?;
/// let bob = plant.add_rigid_body("bob", ModelInstanceIndex::DEFAULT, SpatialInertia::zero())?;
/// let rod = DistanceConstraint {
///     body_a: BodyIndex::WORLD,
///     p_ap: Vector3::zeros(),
///     body_b: bob,
///     p_bq: Vector3::zeros(),
///     distance: 1.0,
///     stiffness: f64::INFINITY,
///     damping: 0.0,
/// };
/// plant.add_distance_constraint(rod)?;
/// assert!(plant.add_distance_constraint(DistanceConstraint { distance: -1.0, ..rod }).is_err());
/// # Ok::<(), tarragon_multibody::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DistanceConstraint {
    /// Body A.
    pub body_a: BodyIndex,
    /// Position of P in A (m).
    pub p_ap: Vector3<f64>,
    /// Body B.
    pub body_b: BodyIndex,
    /// Position of Q in B (m).
    pub p_bq: Vector3<f64>,
    /// The distance (m).
    pub distance: f64,
    /// Stiffness (N/m), infinite for a rod.
    pub stiffness: f64,
    /// Damping (N s/m).
    pub damping: f64,
}

/// The length `sum(coefficients * q) + offset` of a tendon over joints with one degree of freedom
/// stays within limits.
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_multibody::*;
/// let mut plant = MultibodyPlantBuilder::new(0.001)?;
/// let door = plant.add_rigid_body("door", ModelInstanceIndex::DEFAULT, SpatialInertia::zero())?;
/// let hinge = plant.add_joint(Joint::revolute("hinge", BodyIndex::WORLD, door, Vector3::z())?)?;
/// plant.add_tendon_constraint(TendonConstraint {
///     joints: vec![hinge],
///     coefficients: vec![0.1],
///     offset: 0.0,
///     lower: -0.05,
///     upper: 0.05,
///     stiffness: f64::INFINITY,
///     damping: 0.0,
/// })?;
/// assert_eq!(plant.constraints().len(), 1);
/// # Ok::<(), tarragon_multibody::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TendonConstraint {
    /// The joints that the tendon spans.
    pub joints: Vec<JointIndex>,
    /// Tendon length per joint position (m/rad, or 1 for a position in m), one per joint.
    pub coefficients: Vec<f64>,
    /// Length at zero positions (m).
    pub offset: f64,
    /// Lower limit (m).
    pub lower: f64,
    /// Upper limit (m).
    pub upper: f64,
    /// Stiffness (N/m), infinite for a hard limit.
    pub stiffness: f64,
    /// Damping (N s/m).
    pub damping: f64,
}

/// The length of a path over sites, around geoms and by pulleys stays within limits.
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_multibody::*;
/// let mut plant = MultibodyPlantBuilder::new(0.001)?;
/// let bob = plant.add_rigid_body("bob", ModelInstanceIndex::DEFAULT, SpatialInertia::zero())?;
/// let string = SpatialTendonConstraint {
///     path: vec![
///         TendonPart::site(BodyIndex::WORLD, Vector3::zeros()),
///         TendonPart::site(bob, Vector3::zeros()),
///     ],
///     lower: f64::NEG_INFINITY,
///     upper: 1.0,
///     stiffness: f64::INFINITY,
///     damping: 0.0,
/// };
/// plant.add_spatial_tendon_constraint(string.clone())?;
/// let bent = SpatialTendonConstraint { lower: 2.0, ..string };
/// assert!(plant.add_spatial_tendon_constraint(bent).is_err());
/// # Ok::<(), tarragon_multibody::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SpatialTendonConstraint {
    /// The parts of the path.
    pub path: Vec<TendonPart>,
    /// Lower limit (m).
    pub lower: f64,
    /// Upper limit (m).
    pub upper: f64,
    /// Stiffness (N/m), infinite for a hard limit.
    pub stiffness: f64,
    /// Damping (N s/m).
    pub damping: f64,
}

/// The length of one tendon is a polynomial of the length of another, as in MuJoCo:
/// `l0 - r0 = c0 + c1 x + c2 x^2 + c3 x^3 + c4 x^4` with `x = l1 - r1`. A tendon over one joint
/// with the coefficient 1 stands for the position of the joint.
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_multibody::*;
/// let mut plant = MultibodyPlantBuilder::new(0.001)?;
/// let mut slide = |name: &str| -> Result<JointIndex> {
///     let body = plant.add_rigid_body(name, ModelInstanceIndex::DEFAULT, SpatialInertia::zero())?;
///     plant.add_joint(Joint::prismatic(name, BodyIndex::WORLD, body, Vector3::y())?)
/// };
/// let joints = [slide("follower")?, slide("leader")?];
/// let parabola = PolynomialConstraint {
///     tendons: joints.map(|joint| Tendon::Fixed(vec![(joint, 1.0)])),
///     references: [0.0, 0.0],
///     coefficients: [0.0, 0.0, 2.0, 0.0, 0.0],
/// };
/// plant.add_polynomial_constraint(parabola)?;
/// assert_eq!(plant.constraints().len(), 1);
/// # Ok::<(), tarragon_multibody::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PolynomialConstraint {
    /// The tendons of the lengths l0, which follows, and l1, which leads.
    pub tendons: [Tendon; 2],
    /// The lengths r0 and r1 from which the polynomial counts, in the units of l0 and l1.
    pub references: [f64; 2],
    /// The coefficients c0 to c4; ck has the unit of l0 over that of l1 to the power k.
    pub coefficients: [f64; 5],
}

/// A constraint of any kind.
///
/// ```
/// use tarragon_multibody::{Constraint, MultibodyPlantBuilder};
/// let plant = MultibodyPlantBuilder::new(0.001)?;
/// assert_eq!(plant.constraints(), [] as [Constraint; 0]);
/// # Ok::<(), tarragon_multibody::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Constraint {
    /// Two joints move together.
    Coupler(CouplerConstraint),
    /// Two points coincide.
    Ball(BallConstraint),
    /// Two frames coincide.
    Weld(WeldConstraint),
    /// Two points keep a distance.
    Distance(DistanceConstraint),
    /// A tendon's length stays within limits.
    Tendon(TendonConstraint),
    /// The length of a path stays within limits.
    SpatialTendon(SpatialTendonConstraint),
    /// The length of a tendon is a polynomial of that of another.
    Polynomial(PolynomialConstraint),
}
