//! Centre of mass, momentum and energy of the whole plant.

use super::composite::Composite;
use crate::error::{Error, Result};
use crate::kinematics::{PositionKinematics, VelocityKinematics};
use crate::plant::MultibodyPlant;
use crate::spatial::SpatialVector;
use nalgebra::{Matrix3xX, Vector3};
use tarragon_framework::Scalar;

impl MultibodyPlant {
    /// Position of the centre of mass of all bodies in the world, `p_WoScm_W` (m).
    ///
    /// # Errors
    /// Before `finalize`, if the positions are of another plant, or if nothing has mass.
    pub fn calc_center_of_mass_position_in_world<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
    ) -> Result<Vector3<T>> {
        let total = self.moving_mass()?;
        let whole = self.whole("calc_center_of_mass_position_in_world", positions)?;
        Ok(whole.moment * T::from(1.0 / total))
    }

    /// Velocity of the centre of mass in the world, `v_WScm_W` (m/s).
    ///
    /// # Errors
    /// As [`Self::calc_center_of_mass_position_in_world`], or if the velocities are of another
    /// plant.
    pub fn calc_center_of_mass_translational_velocity_in_world<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
        velocities: &VelocityKinematics<T>,
    ) -> Result<Vector3<T>> {
        let total = self.moving_mass()?;
        let origin = Vector3::zeros();
        let momentum = self.calc_spatial_momentum_in_world(positions, velocities, &origin)?;
        Ok(momentum.translational * T::from(1.0 / total))
    }

    /// The Jacobian of the velocity of the centre of mass, 3 by `num_velocities`: `v_WScm_W = J v`.
    ///
    /// # Errors
    /// As [`Self::calc_center_of_mass_position_in_world`].
    pub fn calc_jacobian_center_of_mass_translational_velocity<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
    ) -> Result<Matrix3xX<T>> {
        let total = self.moving_mass()?;
        let asked = "calc_jacobian_center_of_mass_translational_velocity";
        let tree = self.tree_of(asked, positions)?;
        let mut jacobian = Matrix3xX::zeros(tree.num_velocities);
        let composites = tree.composites(positions);
        for (node, composite) in tree.nodes.iter().zip(&composites) {
            for k in node.velocities() {
                let momentum = composite.momentum(&positions.columns[k]).translational;
                jacobian.set_column(k, &(momentum * T::from(1.0 / total)));
            }
        }
        Ok(jacobian)
    }

    /// Spatial momentum of all bodies in the world about a point P, `L_WSP_W` (N m s, N s);
    /// `p_wop_w` is its position.
    ///
    /// # Errors
    /// Before `finalize`, or if positions or velocities are of another plant.
    pub fn calc_spatial_momentum_in_world<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
        velocities: &VelocityKinematics<T>,
        p_wop_w: &Vector3<T>,
    ) -> Result<SpatialVector<T>> {
        let tree = self.tree_of("calc_spatial_momentum_in_world", positions)?;
        tree.check_velocities(velocities)?;
        let mut sum = SpatialVector::zero();
        for node in &tree.nodes {
            let body = node.body as usize;
            let m = Composite::of(&node.inertia, &positions.r_wb[body]);
            let momentum = m.momentum(&velocities.v_wb[body]);
            sum += momentum.force_at(&(p_wop_w - positions.p_wb(node.body)));
        }
        Ok(sum)
    }

    /// Kinetic energy of all bodies and rotors (J).
    ///
    /// # Errors
    /// Before `finalize`, or if positions or velocities are of another plant.
    pub fn calc_kinetic_energy<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
        velocities: &VelocityKinematics<T>,
    ) -> Result<T> {
        let tree = self.tree_of("calc_kinetic_energy", positions)?;
        tree.check_velocities(velocities)?;
        let mut twice = T::zero();
        for node in &tree.nodes {
            let body = node.body as usize;
            let m = Composite::of(&node.inertia, &positions.r_wb[body]);
            let v = &velocities.v_wb[body];
            twice += v.dot(&m.momentum(v));
            for k in node.velocities() {
                twice += velocities.v[k] * velocities.v[k] * T::from(node.reflected);
            }
        }
        Ok(twice * T::from(0.5))
    }

    /// Potential energy of gravity (J), 0 where the centre of mass is at the world's origin.
    ///
    /// # Errors
    /// Before `finalize`, or if the positions are of another plant.
    pub fn calc_potential_energy<T: Scalar>(&self, positions: &PositionKinematics<T>) -> Result<T> {
        let whole = self.whole("calc_potential_energy", positions)?;
        let g = self.gravity();
        let moment = &whole.moment;
        Ok(-(moment.x * g.x + moment.y * g.y + moment.z * g.z))
    }

    /// Mass properties of all bodies about Wo.
    fn whole<T: Scalar>(
        &self,
        asked: &str,
        positions: &PositionKinematics<T>,
    ) -> Result<Composite<T>> {
        let tree = self.tree_of(asked, positions)?;
        let mut whole = Composite::zero();
        for node in &tree.nodes {
            let m = Composite::of(&node.inertia, &positions.r_wb[node.body as usize]);
            whole.add(&m, positions.p_wb(node.body));
        }
        Ok(whole)
    }

    /// The mass of all bodies, which has a centre only if it is positive.
    fn moving_mass(&self) -> Result<f64> {
        match self.calc_total_mass() {
            total if total > 0.0 => Ok(total),
            total => Err(Error::invalid(format!(
                "the mass of all bodies is {total} kg; a positive mass is expected for a centre of mass"
            ))),
        }
    }
}
