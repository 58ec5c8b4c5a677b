//! Inertia of joints in the configuration of the file.

use super::builder::MjcfBuilder;
use crate::model::JointIndex;
use crate::plant::MultibodyPlant;
use nalgebra::DMatrix;

/// The mass matrix of a plant in its default configuration.
pub(super) struct DefaultInertia {
    plant: MultibodyPlant,
    mass_matrix: DMatrix<f64>,
}

impl DefaultInertia {
    /// Returns the inertia along a joint with one degree of freedom while all others are at rest
    /// (kg m^2 or kg).
    pub(super) fn along(&self, joint: JointIndex) -> Option<f64> {
        let v = self.plant.velocity_start(joint).ok()?;
        self.mass_matrix.diagonal().get(v).copied()
    }

    /// Returns the inertia along a joint with one degree of freedom while all others are free to
    /// move (kg m^2 or kg).
    pub(super) fn while_others_move(&self, joint: JointIndex) -> Option<f64> {
        let v = self.plant.velocity_start(joint).ok()?;
        let unit = DMatrix::from_fn(self.mass_matrix.nrows(), 1, |row, _| {
            f64::from(u8::from(row == v))
        });
        let inverse = self.mass_matrix.clone().cholesky()?.solve(&unit)[v];
        Some(inverse.recip())
    }
}

impl MjcfBuilder<'_, '_, '_> {
    /// Computes the inertia of the joints that have been added; fails where bodies have none.
    pub(super) fn default_inertia(&self) -> crate::Result<DefaultInertia> {
        let mut plant = self.target.plant.clone();
        plant.finalize()?;
        let positions = plant.calc_position_kinematics(&plant.default_positions())?;
        let mass_matrix = plant.calc_mass_matrix(&positions)?;
        Ok(DefaultInertia { plant, mass_matrix })
    }
}
