//! Errors of discrete steps.

use crate::discrete::{StepFailure, StepFailureKind};
use crate::error::{Error, ErrorKind};
use crate::model::BodyIndex;
use crate::plant::multibody_plant::MultibodyPlant;

impl MultibodyPlant {
    #[cold]
    pub(super) fn step_error(&self, failure: &StepFailure) -> Error {
        let base = |tree: &usize| {
            let moves = |i: &usize| self.trees.of_body(BodyIndex::new(*i)) == Some(*tree);
            let body = (1..self.bodies.len()).find(moves).unwrap_or(0);
            format!("'{}'", self.scoped_body_name(BodyIndex::new(body)))
        };
        let mut names: Vec<String> = failure.trees.iter().take(5).map(base).collect();
        if failure.trees.len() > names.len() {
            names.push(format!("{} more", failure.trees.len() - names.len()));
        }
        let (names, dt) = (names.join(", "), self.time_step);
        match failure.why {
            StepFailureKind::SingularInertia => Error::invalid(format!(
                "MultibodyPlant: the mass matrix of the tree with body {names} must be positive \
                 definite; give the bodies that its joints move mass and rotational inertia, or weld \
                 its base to the world (`weld_frames`; `--weld` of the command)"
            )),
            StepFailureKind::NotFinite => Error::new(
                ErrorKind::NumericalFailure,
                format!(
                    "MultibodyPlant: the step of {dt:?} s has no finite solution for the trees with \
                     bodies {names}; their velocities or forces are too large, reduce them or the \
                     time step"
                ),
            ),
            StepFailureKind::NotConverged => Error::new(
                ErrorKind::NumericalFailure,
                format!(
                    "MultibodyPlant: the solver of the step of {dt:?} s did not converge for the \
                     trees with bodies {names}; reduce the time step, or stiffness and dissipation \
                     of their contacts"
                ),
            ),
        }
    }
}
