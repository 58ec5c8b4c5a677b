//! Constraints and equalities of a plant.

use crate::error::{Error, Result};
use crate::model::checks::{check_finite, check_numbers, check_spring};
use crate::model::{
    BallConstraint, BodyIndex, Constraint, CouplerConstraint, DistanceConstraint, EqualityKind,
    JointIndex, ModelEquality, TendonConstraint, WeldConstraint,
};
use crate::plant::multibody_plant::MultibodyPlant;

impl MultibodyPlant {
    /// Returns all constraints, in order of addition.
    pub fn constraints(&self) -> &[Constraint] {
        &self.constraints
    }
    /// Returns the coupler constraints, in order of addition.
    pub fn coupler_constraints(&self) -> impl Iterator<Item = &CouplerConstraint> {
        self.constraints.iter().filter_map(|c| match c {
            Constraint::Coupler(coupler) => Some(coupler),
            _ => None,
        })
    }

    /// Adds a coupler `q0 = gear_ratio * q1 + offset`.
    ///
    /// # Errors
    /// Returns an error if a joint is unknown or does not have exactly one degree of freedom, a
    /// number is not finite, or after `finalize`.
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
    /// Returns an error if a body is unknown or both are the same, a position is not finite, or
    /// after `finalize`.
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
    /// Returns an error if a body is unknown or both are the same, a pose is not finite, or after
    /// `finalize`.
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
    /// Returns an error if a body is unknown or both are the same, a position is not finite, the
    /// distance or the stiffness is not positive, the damping is negative, or after `finalize`.
    pub fn add_distance_constraint(&mut self, rod: DistanceConstraint) -> Result<()> {
        let what = "distance constraint";
        self.check_pair(what, rod.body_a, rod.body_b)?;
        check_finite(what, rod.p_ap.iter().chain(rod.p_bq.iter()))?;
        check_numbers(what, &[("distance", rod.distance)])?;
        check_spring(what, rod.stiffness, rod.damping)?;
        if rod.distance <= 0.0 {
            return Err(Error::invalid(format!(
                "{what}: the distance must be positive, got {:?} m",
                rod.distance
            )));
        }
        self.constraints.push(Constraint::Distance(rod));
        Ok(())
    }

    /// Keeps the length of a tendon within limits.
    ///
    /// # Errors
    /// Returns an error if there is no joint, a joint is unknown or does not have exactly one
    /// degree of freedom, there are more or fewer coefficients than joints, numbers are NaN, the
    /// lower limit is above the upper one, the stiffness is not positive, the damping is negative,
    /// or after `finalize`.
    pub fn add_tendon_constraint(&mut self, tendon: TendonConstraint) -> Result<()> {
        let what = "tendon constraint";
        self.check_open(|| format!("a {what}"))?;
        self.check_single(what, &tendon.joints)?;
        if tendon.joints.is_empty() || tendon.joints.len() != tendon.coefficients.len() {
            return Err(Error::invalid(format!(
                "{what}: at least one joint and one coefficient for each joint must be given, got \
                 {} joints and {} coefficients",
                tendon.joints.len(),
                tendon.coefficients.len()
            )));
        }
        check_finite(what, tendon.coefficients.iter().chain([&tendon.offset]))?;
        check_spring(what, tendon.stiffness, tendon.damping)?;
        let (lower, upper) = (tendon.lower, tendon.upper);
        if lower.is_nan() || upper.is_nan() || lower > upper {
            return Err(Error::invalid(format!(
                "{what}: the lower limit must not be above the upper one, got [{lower:?}, \
                 {upper:?}]"
            )));
        }
        self.constraints.push(Constraint::Tendon(tendon));
        Ok(())
    }

    /// Adds a constraint.
    ///
    /// # Errors
    /// Returns the errors of the function that adds constraints of its kind.
    pub(crate) fn push_constraint(&mut self, constraint: Constraint) -> Result<()> {
        match constraint {
            Constraint::Coupler(coupler) => self.add_coupler_constraint(coupler),
            Constraint::Ball(ball) => self.add_ball_constraint(ball),
            Constraint::Weld(weld) => self.add_weld_constraint(weld),
            Constraint::Distance(rod) => self.add_distance_constraint(rod),
            Constraint::Tendon(tendon) => self.add_tendon_constraint(tendon),
        }
    }

    pub(crate) fn check_single(&self, what: &str, joints: &[JointIndex]) -> Result<()> {
        for joint in joints {
            let joint = self.joint(*joint)?;
            if joint.num_positions() != 1 {
                return Err(Error::invalid(format!(
                    "{what}: joint '{}' must have one position, got {}",
                    joint.name(),
                    joint.num_positions()
                )));
            }
        }
        Ok(())
    }

    /// Checks that two bodies are different and known, and that the plant is not finalized.
    pub(crate) fn check_pair(&self, what: &str, a: BodyIndex, b: BodyIndex) -> Result<()> {
        self.check_open(|| format!("a {what}"))?;
        self.body(a)?;
        self.body(b)?;
        if a == b {
            return Err(Error::invalid(format!(
                "{what}: the two bodies must be different, got '{}' twice",
                self.scoped_body_name(a)
            )));
        }
        Ok(())
    }
}

impl MultibodyPlant {
    /// Stores an equality of a model file.
    ///
    /// # Errors
    /// Returns an error if a body or a joint is unknown, both bodies are the same, a joint does not
    /// have exactly one degree of freedom, a number is not finite, or after `finalize`.
    pub fn add_model_equality(&mut self, equality: ModelEquality) -> Result<()> {
        let what = format!("equality '{}'", equality.name);
        self.check_open(|| what.clone())?;
        self.check_instance(equality.model_instance)?;
        match &equality.kind {
            EqualityKind::Weld(weld) => self.check_pair(&what, weld.body_a, weld.body_b)?,
            EqualityKind::Joint {
                joint0,
                joint1,
                coefficients,
            } => {
                self.check_single(&what, &[*joint0])?;
                self.check_single(&what, joint1.as_slice())?;
                check_finite(&what, coefficients.iter())?;
            }
        }
        self.equalities.push(equality);
        Ok(())
    }
    /// Returns all equalities of model files that do not act on the plant, in order of addition.
    pub fn model_equalities(&self) -> &[ModelEquality] {
        &self.equalities
    }

    /// Returns the constraint equivalent to an equality of this plant; `None` for an equality on
    /// one joint alone and for a polynomial of degree above one.
    pub fn equality_as_constraint(&self, equality: &ModelEquality) -> Option<Constraint> {
        match &equality.kind {
            EqualityKind::Weld(weld) => Some(Constraint::Weld(*weld)),
            EqualityKind::Joint {
                joint0,
                joint1: Some(joint1),
                coefficients: [offset, gear_ratio, 0.0, 0.0, 0.0],
            } => {
                let default = |joint| Some(*self.joint(joint).ok()?.default_positions().first()?);
                Some(Constraint::Coupler(CouplerConstraint {
                    joint0: *joint0,
                    joint1: *joint1,
                    gear_ratio: *gear_ratio,
                    offset: default(*joint0)? + offset - gear_ratio * default(*joint1)?,
                }))
            }
            EqualityKind::Joint { .. } => None,
        }
    }
}
