//! The start of a discrete step, and the ways in which a step may fail.

use super::regularization::StepSettings;
use super::trees::Trees;
use crate::dynamics::{Inertias, MultibodyForces};
use crate::kinematics::{PositionKinematics, VelocityKinematics};
use crate::tree::KinematicTree;
use tarragon_framework::Scalar;

/// The start of a step.
pub(crate) struct StepStart<'a, T: Scalar> {
    pub(crate) tree: &'a KinematicTree,
    pub(crate) trees: &'a Trees,
    pub(crate) inertias: &'a Inertias<T>,
    pub(crate) positions: &'a PositionKinematics<T>,
    pub(crate) velocities: &'a VelocityKinematics<T>,
    /// All forces at the start of the step but joint damping and constraints.
    pub(crate) forces: &'a MultibodyForces<T>,
    /// Joint damping, by velocity.
    pub(crate) damping: &'a [T],
    /// Velocities that are held at 0.
    pub(crate) locked: &'a [bool],
    /// By tree: whether it sleeps, which leaves it as it is; empty if none does.
    pub(crate) asleep: &'a [bool],
    pub(crate) settings: StepSettings,
}

impl<T: Scalar> StepStart<'_, T> {
    /// Returns true if a tree sleeps.
    pub(crate) fn is_asleep(&self, tree: usize) -> bool {
        self.asleep.get(tree).copied().unwrap_or(false)
    }
}

/// Why a step failed.
#[derive(Clone, Debug)]
pub(crate) struct StepFailure {
    pub(crate) why: StepFailureKind,
    /// Indices of the trees concerned.
    pub(crate) trees: Vec<usize>,
}

/// Kind of a failure of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum StepFailureKind {
    /// The inertia of a tree is not positive definite.
    SingularInertia,
    /// A number of the problem is not finite, or the problem is too badly scaled.
    NotFinite,
    /// Newton's method did not converge.
    NotConverged,
}
