//! Lengths of spatial tendons.

use crate::dynamics;
use crate::error::Result;
use crate::kinematics::PositionKinematics;
use crate::model::TendonPart;
use crate::plant::multibody_plant::MultibodyPlant;
use tarragon_framework::Scalar;

impl MultibodyPlant {
    /// Computes the length of a path (m), whether a
    /// [`ForceElement::SpatialTendon`](crate::ForceElement::SpatialTendon) of the plant has it or
    /// not. Lengths of branches are divided by the divisors of their pulleys.
    ///
    /// # Errors
    /// Returns an error if the positions belong to another plant, a body is unknown, a number is
    /// not finite, or the parts of the path are not in the order that [`TendonPart`] describes.
    pub fn calc_tendon_length<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
        path: &[TendonPart],
    ) -> Result<T> {
        self.tree_of(positions)?;
        self.check_path("calc_tendon_length", path)?;
        Ok(dynamics::walk_tendon(
            path,
            |body| *positions.x_wb(body),
            |_| {},
        ))
    }
}
