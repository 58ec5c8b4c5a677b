//! Constraints between bodies and joints. They are kept for dynamics; kinematics takes every
//! position from q.

use crate::error::{Error, Result};
use crate::index::{BodyIndex, JointIndex};
use crate::plant::MultibodyPlant;
use nalgebra::{Isometry3, Vector3};

/// `q0 = gear_ratio * q1 + offset` between two joints (Drake's coupler constraint, URDF's `mimic`).
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
/// assert_eq!(plant.coupler_constraints().next().unwrap().joint0, joint0);
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

/// Point P of body A and point Q of body B coincide.
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_multibody::*;
/// let mut plant = MultibodyPlant::new(0.001)?;
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
    /// Position of Q in B (m); where P is in the default configuration if not given.
    pub p_bq: Option<Vector3<f64>>,
}

/// Frame P of body A and frame Q of body B coincide.
///
/// ```
/// use nalgebra::Isometry3;
/// use tarragon_multibody::*;
/// let mut plant = MultibodyPlant::new(0.001)?;
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

/// Point P of body A and point Q of body B keep a distance, with a spring if the stiffness is
/// finite.
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_multibody::*;
/// let mut plant = MultibodyPlant::new(0.001)?;
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
/// let mut plant = MultibodyPlant::new(0.001)?;
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
    /// The joints it runs over.
    pub joints: Vec<JointIndex>,
    /// Length per position (m/rad or 1), one per joint.
    pub coefficients: Vec<f64>,
    /// Length at zero (m).
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

/// A constraint of any kind.
///
/// ```
/// use tarragon_multibody::{Constraint, MultibodyPlant};
/// let plant = MultibodyPlant::new(0.001)?;
/// assert_eq!(plant.constraints(), [] as [Constraint; 0]);
/// # Ok::<(), tarragon_multibody::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
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
}

impl MultibodyPlant {
    /// All constraints, in order of addition.
    pub fn constraints(&self) -> &[Constraint] {
        &self.constraints
    }
    /// The coupler constraints, in order of addition.
    pub fn coupler_constraints(&self) -> impl Iterator<Item = &CouplerConstraint> {
        self.constraints.iter().filter_map(|c| match c {
            Constraint::Coupler(coupler) => Some(coupler),
            _ => None,
        })
    }

    /// Adds a coupler `q0 = gear_ratio * q1 + offset`.
    ///
    /// # Errors
    /// If a joint is unknown or has other than one degree of freedom, a number is not finite, or
    /// after `finalize`.
    pub fn add_coupler_constraint(&mut self, coupler: CouplerConstraint) -> Result<()> {
        self.check_open(|| "a coupler constraint".into())?;
        self.check_single("coupler constraint", &[coupler.joint0, coupler.joint1])?;
        check_numbers(
            "coupler constraint",
            &[
                ("gear ratio", coupler.gear_ratio),
                ("offset", coupler.offset),
            ],
        )?;
        self.constraints.push(Constraint::Coupler(coupler));
        Ok(())
    }

    /// Makes a point of one body coincide with a point of another.
    ///
    /// # Errors
    /// If a body is unknown or both are the same, a position is not finite, or after `finalize`.
    pub fn add_ball_constraint(&mut self, ball: BallConstraint) -> Result<()> {
        self.check_pair("ball constraint", ball.body_a, ball.body_b)?;
        let points = ball
            .p_ap
            .iter()
            .chain(ball.p_bq.iter().flat_map(|p| p.iter()));
        check_finite("ball constraint", points)?;
        self.constraints.push(Constraint::Ball(ball));
        Ok(())
    }

    /// Makes a frame of one body coincide with a frame of another.
    ///
    /// # Errors
    /// If a body is unknown or both are the same, a pose is not finite, or after `finalize`.
    pub fn add_weld_constraint(&mut self, weld: WeldConstraint) -> Result<()> {
        self.check_pair("weld constraint", weld.body_a, weld.body_b)?;
        for x in [&weld.x_ap, &weld.x_bq] {
            let numbers = x.translation.vector.iter().chain(x.rotation.coords.iter());
            check_finite("weld constraint", numbers)?;
        }
        self.constraints.push(Constraint::Weld(weld));
        Ok(())
    }

    /// Keeps a distance between a point of one body and a point of another.
    ///
    /// # Errors
    /// If a body is unknown or both are the same, a position is not finite, the distance or the
    /// stiffness is not positive, the damping is negative, or after `finalize`.
    pub fn add_distance_constraint(&mut self, rod: DistanceConstraint) -> Result<()> {
        let what = "distance constraint";
        self.check_pair(what, rod.body_a, rod.body_b)?;
        check_finite(what, rod.p_ap.iter().chain(rod.p_bq.iter()))?;
        check_numbers(what, &[("distance", rod.distance)])?;
        check_spring(what, rod.stiffness, rod.damping)?;
        if rod.distance <= 0.0 {
            return Err(Error::invalid(format!(
                "{what}: the distance is {} m, a positive value is expected",
                rod.distance
            )));
        }
        self.constraints.push(Constraint::Distance(rod));
        Ok(())
    }

    /// Keeps the length of a tendon within limits.
    ///
    /// # Errors
    /// If there is no joint, a joint is unknown or has other than one degree of freedom, there are
    /// more or fewer coefficients than joints, numbers are NaN, the lower limit is above the upper
    /// one, the stiffness is not positive, the damping is negative, or after `finalize`.
    pub fn add_tendon_constraint(&mut self, tendon: TendonConstraint) -> Result<()> {
        let what = "tendon constraint";
        self.check_open(|| format!("a {what}"))?;
        self.check_single(what, &tendon.joints)?;
        if tendon.joints.is_empty() || tendon.joints.len() != tendon.coefficients.len() {
            return Err(Error::invalid(format!(
                "{what}: {} joints and {} coefficients, at least one joint and one coefficient for each \
                 are expected",
                tendon.joints.len(),
                tendon.coefficients.len()
            )));
        }
        check_finite(what, tendon.coefficients.iter().chain([&tendon.offset]))?;
        check_spring(what, tendon.stiffness, tendon.damping)?;
        let (lower, upper) = (tendon.lower, tendon.upper);
        if lower.is_nan() || upper.is_nan() || lower > upper {
            return Err(Error::invalid(format!(
                "{what}: the limits are [{lower}, {upper}], a lower one not above the upper one is expected"
            )));
        }
        self.constraints.push(Constraint::Tendon(tendon));
        Ok(())
    }

    pub(crate) fn check_single(&self, what: &str, joints: &[JointIndex]) -> Result<()> {
        for joint in joints {
            let joint = self.joint(*joint)?;
            if joint.num_positions() != 1 {
                return Err(Error::invalid(format!(
                    "{what}: joint '{}' has {} positions, one is expected",
                    joint.name(),
                    joint.num_positions()
                )));
            }
        }
        Ok(())
    }

    /// Two different bodies of an open plant.
    pub(crate) fn check_pair(&self, what: &str, a: BodyIndex, b: BodyIndex) -> Result<()> {
        self.check_open(|| format!("a {what}"))?;
        self.body(a)?;
        self.body(b)?;
        if a == b {
            return Err(Error::invalid(format!(
                "{what}: both bodies are '{}', two different bodies are expected",
                self.scoped_body_name(a)
            )));
        }
        Ok(())
    }
}

pub(crate) fn check_finite<'a>(
    what: &str,
    mut numbers: impl Iterator<Item = &'a f64>,
) -> Result<()> {
    match numbers.find(|x| !x.is_finite()) {
        None => Ok(()),
        Some(bad) => Err(Error::invalid(format!(
            "{what}: {bad} is among its numbers, finite numbers are expected"
        ))),
    }
}

pub(crate) fn check_numbers(what: &str, numbers: &[(&str, f64)]) -> Result<()> {
    match numbers.iter().find(|(_, x)| !x.is_finite()) {
        None => Ok(()),
        Some((name, bad)) => Err(Error::invalid(format!(
            "{what}: the {name} is {bad}, a finite number is expected"
        ))),
    }
}

/// A stiffness may be infinite.
pub(crate) fn check_spring(what: &str, stiffness: f64, damping: f64) -> Result<()> {
    if stiffness.is_nan() || stiffness <= 0.0 || !(damping >= 0.0 && damping.is_finite()) {
        return Err(Error::invalid(format!(
            "{what}: stiffness {stiffness} and damping {damping}, a positive stiffness and a finite \
             damping of at least 0 are expected"
        )));
    }
    Ok(())
}
