//! Inertia of joints in the configuration of the file.

use super::builder::MjcfBuilder;
use crate::model::JointIndex;
use crate::plant::MultibodyPlant;
use nalgebra::{Cholesky, DMatrix, DVector, Dyn};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// The mass matrix of a plant in its default configuration.
pub(super) struct DefaultInertia {
    plant: MultibodyPlant,
    mass_matrix: DMatrix<f64>,
    /// Blocks of coupled velocities by their lowest one, computed when they are needed first.
    blocks: RefCell<BTreeMap<usize, MassBlock>>,
}

/// Velocities that depend on each other, sorted, with the factors of their mass matrix, if that is
/// positive definite.
struct MassBlock {
    velocities: Vec<usize>,
    factors: Option<Cholesky<f64, Dyn>>,
}

impl DefaultInertia {
    /// Returns the inertia along a joint with one degree of freedom while all others are at rest
    /// (kg m^2 or kg).
    pub(super) fn along(&self, joint: JointIndex) -> Option<f64> {
        let v = self.plant.velocity_start(joint).ok()?;
        self.mass_matrix.diagonal().get(v).copied()
    }

    /// Returns the inertia along a joint with one degree of freedom while all others are free to
    /// move (kg m^2 or kg); `None` if some motion of its tree has no inertia.
    pub(super) fn while_others_move(&self, joint: JointIndex) -> Option<f64> {
        let v = self.plant.velocity_start(joint).ok()?;
        let velocities = self.coupled_with(v);
        let mut blocks = self.blocks.borrow_mut();
        let block = blocks.entry(*velocities.first()?).or_insert_with(|| {
            let matrix = self.mass_matrix.select_rows(&velocities);
            let factors = matrix.select_columns(&velocities).cholesky();
            MassBlock {
                velocities,
                factors,
            }
        });
        let place = block.velocities.binary_search(&v).ok()?;
        let mut unit = DVector::zeros(block.velocities.len());
        *unit.get_mut(place)? = 1.0;
        Some(block.factors.as_ref()?.solve(&unit)[place].recip())
    }

    /// Returns the velocities that depend on one by inertia, sorted, with itself.
    fn coupled_with(&self, v: usize) -> Vec<usize> {
        let mut found = BTreeSet::from([v]);
        let mut waiting = vec![v];
        while let Some(next) = waiting.pop() {
            for (other, coupling) in self.mass_matrix.column(next).iter().enumerate() {
                if *coupling != 0.0 && found.insert(other) {
                    waiting.push(other);
                }
            }
        }
        found.into_iter().collect()
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
            blocks: RefCell::default(),
        })
    }
}
