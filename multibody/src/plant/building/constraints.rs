//! Constraints and equalities of a plant.

use crate::error::{Error, Result};
use crate::model::checks::{check_finite, check_numbers, check_spring};
use crate::model::{
    BallConstraint, BodyIndex, Constraint, CouplerConstraint, DistanceConstraint, EqualityKind,
    JointIndex, ModelEquality, PolynomialConstraint, SpatialTendonConstraint, Tendon,
    TendonConstraint, WeldConstraint,
};
use crate::plant::building::plant_builder::MultibodyPlantBuilder;
use crate::plant::multibody_model::MultibodyModel;
use tarragon_framework::counted;

impl MultibodyPlantBuilder {
    /// Adds a coupler `q0 = gear_ratio * q1 + offset`.
    ///
    /// # Errors
    /// Returns an error if a joint is unknown or does not have exactly one degree of freedom, or a
    /// number is not finite.
    pub fn add_coupler_constraint(&mut self, coupler: CouplerConstraint) -> Result<()> {
        self.check_single("coupler constraint", &[coupler.joint0, coupler.joint1])?;
        check_numbers(
            "coupler constraint",
            &[
                ("gear ratio", coupler.gear_ratio),
                ("offset", coupler.offset),
            ],
        )?;
        self.model.constraints.push(Constraint::Coupler(coupler));
        Ok(())
    }

    /// Makes a point of one body coincide with a point of another.
    ///
    /// # Errors
    /// Returns an error if a body is unknown or both are the same, or a position is not finite.
    pub fn add_ball_constraint(&mut self, ball: BallConstraint) -> Result<()> {
        self.check_pair("ball constraint", ball.body_a, ball.body_b)?;
        let points = ball
            .p_ap
            .iter()
            .chain(ball.p_bq.iter().flat_map(|p| p.iter()));
        check_finite("ball constraint", points)?;
        self.model.constraints.push(Constraint::Ball(ball));
        Ok(())
    }

    /// Makes a frame of one body coincide with a frame of another.
    ///
    /// # Errors
    /// Returns an error if a body is unknown or both are the same, or a pose is not finite.
    pub fn add_weld_constraint(&mut self, weld: WeldConstraint) -> Result<()> {
        self.check_pair("weld constraint", weld.body_a, weld.body_b)?;
        for x in [&weld.x_ap, &weld.x_bq] {
            let numbers = x.translation.vector.iter().chain(x.rotation.coords.iter());
            check_finite("weld constraint", numbers)?;
        }
        self.model.constraints.push(Constraint::Weld(weld));
        Ok(())
    }

    /// Keeps a distance between a point of one body and a point of another.
    ///
    /// # Errors
    /// Returns an error if a body is unknown or both are the same, a position is not finite, the
    /// distance or the stiffness is not positive, or the damping is negative.
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
        self.model.constraints.push(Constraint::Distance(rod));
        Ok(())
    }

    /// Keeps the length of a tendon within limits.
    ///
    /// # Errors
    /// Returns an error if there is no joint, a joint is unknown or does not have exactly one
    /// degree of freedom, there are more or fewer coefficients than joints, numbers are NaN, the
    /// lower limit is above the upper one, the stiffness is not positive, or the damping is
    /// negative.
    pub fn add_tendon_constraint(&mut self, tendon: TendonConstraint) -> Result<()> {
        let what = "tendon constraint";
        self.check_single(what, &tendon.joints)?;
        if tendon.joints.is_empty() || tendon.joints.len() != tendon.coefficients.len() {
            return Err(Error::invalid(format!(
                "{what}: at least one joint and one coefficient for each joint must be given, got \
                 {joints} and {coefficients}",
                joints = counted(tendon.joints.len(), "joint"),
                coefficients = counted(tendon.coefficients.len(), "coefficient")
            )));
        }
        check_finite(what, tendon.coefficients.iter().chain([&tendon.offset]))?;
        check_spring(what, tendon.stiffness, tendon.damping)?;
        check_limits(what, tendon.lower, tendon.upper)?;
        self.model.constraints.push(Constraint::Tendon(tendon));
        Ok(())
    }

    /// Keeps the length of a path within limits.
    ///
    /// # Errors
    /// Returns an error if a body is unknown, the parts of the path are not in the order that
    /// [`TendonPart`](crate::TendonPart) describes, numbers are NaN, the lower limit is above the
    /// upper one, the stiffness is not positive, or the damping is negative.
    pub fn add_spatial_tendon_constraint(&mut self, tendon: SpatialTendonConstraint) -> Result<()> {
        let what = "spatial tendon constraint";
        self.check_path(what, &tendon.path)?;
        check_spring(what, tendon.stiffness, tendon.damping)?;
        check_limits(what, tendon.lower, tendon.upper)?;
        self.model
            .constraints
            .push(Constraint::SpatialTendon(tendon));
        Ok(())
    }

    /// Makes the length of a tendon a polynomial of the length of another.
    ///
    /// # Errors
    /// Returns an error if a tendon has no joint, a joint is unknown or does not have exactly one
    /// degree of freedom, a body is unknown, the parts of a path are not in the order that
    /// [`TendonPart`](crate::TendonPart) describes, or a number is not finite.
    pub fn add_polynomial_constraint(&mut self, polynomial: PolynomialConstraint) -> Result<()> {
        let what = "polynomial constraint";
        for tendon in &polynomial.tendons {
            self.check_tendon(what, tendon)?;
        }
        let numbers = polynomial.references.iter();
        check_finite(what, numbers.chain(&polynomial.coefficients))?;
        self.model
            .constraints
            .push(Constraint::Polynomial(polynomial));
        Ok(())
    }

    /// Adds a constraint.
    ///
    /// # Errors
    /// Returns the errors of the function that adds constraints of its kind.
    pub fn add_constraint(&mut self, constraint: Constraint) -> Result<()> {
        match constraint {
            Constraint::Coupler(coupler) => self.add_coupler_constraint(coupler),
            Constraint::Ball(ball) => self.add_ball_constraint(ball),
            Constraint::Weld(weld) => self.add_weld_constraint(weld),
            Constraint::Distance(rod) => self.add_distance_constraint(rod),
            Constraint::Tendon(tendon) => self.add_tendon_constraint(tendon),
            Constraint::SpatialTendon(tendon) => self.add_spatial_tendon_constraint(tendon),
            Constraint::Polynomial(polynomial) => self.add_polynomial_constraint(polynomial),
        }
    }
}

impl MultibodyModel {
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

    /// Checks a tendon of an element.
    fn check_tendon(&self, what: &str, tendon: &Tendon) -> Result<()> {
        match tendon {
            Tendon::Fixed(joints) if joints.is_empty() => Err(Error::invalid(format!(
                "{what}: a fixed tendon must have at least one joint, got none"
            ))),
            Tendon::Fixed(terms) => {
                let joints: Vec<JointIndex> = terms.iter().map(|(joint, _)| *joint).collect();
                self.check_single(what, &joints)?;
                check_finite(what, terms.iter().map(|(_, coefficient)| coefficient))
            }
            Tendon::Spatial(path) => self.check_path(what, path),
        }
    }

    /// Checks that joints have one position each; `what` begins the message.
    ///
    /// # Errors
    /// Returns an error if a joint is unknown or has another number of positions.
    pub fn check_single(&self, what: &str, joints: &[JointIndex]) -> Result<()> {
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

    /// Checks that two bodies are different and known.
    pub(crate) fn check_pair(&self, what: &str, a: BodyIndex, b: BodyIndex) -> Result<()> {
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

impl MultibodyPlantBuilder {
    /// Stores an equality of a model file.
    ///
    /// # Errors
    /// Returns an error if a body or a joint is unknown, both bodies are the same, a joint does not
    /// have exactly one degree of freedom, or a number is not finite.
    pub fn add_model_equality(&mut self, equality: ModelEquality) -> Result<()> {
        let what = format!("equality '{}'", equality.name);
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
        self.model.equalities.push(equality);
        Ok(())
    }
}

impl MultibodyModel {
    /// Returns all equalities of model files that do not act on the plant, in order of addition.
    pub fn model_equalities(&self) -> &[ModelEquality] {
        &self.equalities
    }

    /// Returns the constraint equivalent to an equality of this plant; `None` for an equality on
    /// one joint alone.
    pub fn equality_as_constraint(&self, equality: &ModelEquality) -> Option<Constraint> {
        let (joint0, joint1, coefficients) = match &equality.kind {
            EqualityKind::Weld(weld) => return Some(Constraint::Weld(*weld)),
            EqualityKind::Joint {
                joint0,
                joint1,
                coefficients,
            } => (*joint0, (*joint1)?, *coefficients),
        };
        let default = |joint| Some(*self.joint(joint).ok()?.default_positions().first()?);
        let references = [default(joint0)?, default(joint1)?];
        if let [offset, gear_ratio, 0.0, 0.0, 0.0] = coefficients {
            return Some(Constraint::Coupler(CouplerConstraint {
                joint0,
                joint1,
                gear_ratio,
                offset: references[0] + offset - gear_ratio * references[1],
            }));
        }
        Some(Constraint::Polynomial(PolynomialConstraint {
            tendons: [joint0, joint1].map(|joint| Tendon::Fixed(vec![(joint, 1.0)])),
            references,
            coefficients,
        }))
    }
}

fn check_limits(what: &str, lower: f64, upper: f64) -> Result<()> {
    if lower.is_nan() || upper.is_nan() || lower > upper {
        return Err(Error::invalid(format!(
            "{what}: the lower limit must not be above the upper one, got [{lower:?}, {upper:?}]"
        )));
    }
    Ok(())
}
