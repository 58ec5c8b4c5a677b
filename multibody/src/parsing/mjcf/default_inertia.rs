//! Inertia of joints in the configuration of the file.

use super::builder::MjcfBuilder;
use crate::model::JointIndex;
use crate::plant::MultibodyPlant;
use nalgebra::{Cholesky, DMatrix, DVector, Dyn};
use std::cell::OnceCell;

/// The mass matrix of a plant in its default configuration.
pub(super) struct DefaultInertia {
    plant: MultibodyPlant,
    mass_matrix: DMatrix<f64>,
    /// Computed when it is needed first; `None` unless the mass matrix is positive definite.
    factor: OnceCell<Option<Cholesky<f64, Dyn>>>,
}

impl DefaultInertia {
    /// Returns the inertia along a joint with one degree of freedom while all others are at rest
    /// (kg m^2 or kg).
    pub(super) fn along(&self, joint: JointIndex) -> Option<f64> {
        let v = self.plant.velocity_start(joint).ok()?;
        self.mass_matrix.diagonal().get(v).copied()
    }

    /// Returns the inertia along a joint with one degree of freedom while all others are free to
    /// move (kg m^2 or kg); `None` if some motion of the plant has no inertia.
    pub(super) fn while_others_move(&self, joint: JointIndex) -> Option<f64> {
        let v = self.plant.velocity_start(joint).ok()?;
        let factor = self
            .factor
            .get_or_init(|| self.mass_matrix.clone().cholesky());
        let mut unit = DVector::zeros(self.mass_matrix.nrows());
        *unit.get_mut(v)? = 1.0;
        Some(factor.as_ref()?.solve(&unit)[v].recip())
    }
}

impl MjcfBuilder<'_, '_, '_> {
    /// Computes the inertia of the joints that have been added; fails where bodies have none.
    pub(super) fn default_inertia(&self) -> crate::Result<DefaultInertia> {
        let mut plant = self.target.plant.clone();
        plant.finalize()?;
        let positions = plant.calc_position_kinematics(&plant.default_positions())?;
        let mass_matrix = plant.calc_mass_matrix(&positions)?;
        Ok(DefaultInertia {
            plant,
            mass_matrix,
            factor: OnceCell::new(),
        })
    }
}
