//! Equalities of model files that do not act on the plant.

use crate::constraint::{Constraint, CouplerConstraint, WeldConstraint, check_finite};
use crate::error::Result;
use crate::index::{JointIndex, ModelInstanceIndex};
use crate::plant::MultibodyPlant;

/// A condition that a model file states and that is no constraint of the plant, because Drake,
/// whose plants ours agree with, has none for it: MJCF's `weld` and `joint`.
///
/// ```
/// use tarragon_multibody::*;
/// let mjcf = "<mujoco model='m'>
///   <worldbody><body name='lid' pos='0 0 1'><freejoint/><geom size='.1'/></body></worldbody>
///   <equality><weld body1='lid'/></equality></mujoco>";
/// let mut plant = MultibodyPlant::new(0.001)?;
/// Parser::new(&mut plant).add_models_from_string(mjcf, "xml")?;
/// assert_eq!(plant.constraints().len(), 0);
/// let Some(Constraint::Weld(weld)) = plant.model_equalities()[0].to_constraint(&plant) else { panic!() };
/// assert_eq!(weld.x_ap.translation.z, -1.0); // The world's origin, seen from the lid.
/// plant.add_weld_constraint(weld)?;
/// # Ok::<(), tarragon_multibody::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ModelEquality {
    /// The name; may be empty.
    pub name: String,
    /// The model instance whose file has it.
    pub model_instance: ModelInstanceIndex,
    /// Whether the file wants it to be on from the beginning.
    pub active: bool,
    /// What is equal.
    pub kind: EqualityKind,
}

/// What an equality is about.
///
/// ```
/// use tarragon_multibody::EqualityKind;
/// let parallel = |kind: &EqualityKind| match kind {
///     EqualityKind::Joint { coefficients, .. } => coefficients[1] == 1.0,
///     _ => false,
/// };
/// # let _ = parallel;
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum EqualityKind {
    /// Two frames coincide.
    Weld(WeldConstraint),
    /// `q0 - d0 = c0 + c1 x + c2 x^2 + c3 x^3 + c4 x^4` with `x = q1 - d1`, or 0 without a second
    /// joint; d0 and d1 are the default positions (rad or m).
    Joint {
        /// The joint with q0.
        joint0: JointIndex,
        /// The joint with q1.
        joint1: Option<JointIndex>,
        /// c0 to c4.
        coefficients: [f64; 5],
    },
}

impl ModelEquality {
    /// The constraint that does the same in the plant that has the equality: none for one joint
    /// alone and for polynomials of a higher degree than one.
    pub fn to_constraint(&self, plant: &MultibodyPlant) -> Option<Constraint> {
        match &self.kind {
            EqualityKind::Weld(weld) => Some(Constraint::Weld(*weld)),
            EqualityKind::Joint {
                joint0,
                joint1: Some(joint1),
                coefficients: [offset, gear_ratio, 0.0, 0.0, 0.0],
            } => {
                let default = |joint| Some(*plant.joint(joint).ok()?.default_positions().first()?);
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

impl MultibodyPlant {
    /// Keeps an equality of a model file.
    ///
    /// # Errors
    /// If a body or a joint is unknown, both bodies are the same, a joint has other than one degree
    /// of freedom, a number is not finite, or after `finalize`.
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
    /// All equalities of model files that do not act on the plant, in order of addition.
    pub fn model_equalities(&self) -> &[ModelEquality] {
        &self.equalities
    }
}
