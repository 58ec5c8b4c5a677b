//! The end of a step: velocities, and the impulses of constraints.

use super::optional_list::OptionalList;
use tarragon_contact_solvers::ConstraintEnd;
use tarragon_framework::Scalar;

/// The end of a step. Constraints are those of the contacts, then those of the sites.
#[derive(Clone, Debug)]
pub(crate) struct StepEnd<T> {
    /// Velocities at the end.
    pub(crate) v: Vec<T>,
    pub(crate) constraints: ConstraintEnds<T>,
}

/// Velocities and impulses of constraints at the end of a step.
#[derive(Clone, Debug)]
pub(crate) struct ConstraintEnds<T> {
    /// Those of all constraints without derivatives; 0 where nothing moves.
    pub(crate) real: Vec<ConstraintEnd<f64>>,
    /// Those with derivatives.
    pub(crate) derived: OptionalList<ConstraintEnd<T>>,
}

impl<T: Scalar> StepEnd<T> {
    pub(crate) fn empty() -> Self {
        Self {
            v: vec![],
            constraints: ConstraintEnds::empty(),
        }
    }
}

impl<T: Scalar> ConstraintEnds<T> {
    pub(crate) fn empty() -> Self {
        Self {
            real: vec![],
            derived: OptionalList::empty(),
        }
    }

    /// Returns an impulse of a constraint.
    pub(crate) fn impulse(&self, k: usize, row: usize) -> T {
        let derived = self.derived.get(k).map(|end| end.impulse[row]);
        derived.unwrap_or_else(|| T::from(self.real[k].impulse[row]))
    }
}
