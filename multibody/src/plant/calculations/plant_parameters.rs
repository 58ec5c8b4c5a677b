//! Parameters of a plant in a context, as other systems read them through a port.

use crate::dynamics::BodyInertia;
use crate::error::{Error, Result};
use crate::kinematics::{PositionKinematics, VelocityKinematics};
use crate::model::BodyIndex;
use crate::plant::multibody_plant::MultibodyPlant;
use crate::plant::values::model_parameters::ModelParameters;
use std::sync::Arc;
use tarragon_framework::Scalar;

/// Masses, springs and other parameters of a plant in a context: the value of its output port
/// `parameters`. Systems that read it see the changes made by
/// [`set_mass`](crate::MultibodyPlantPorts::set_mass) and its siblings. Clones share the values.
#[derive(Clone, Debug)]
pub struct PlantParameters<T: Scalar>(Arc<ModelParameters<T>>);

impl<T: Scalar> PlantParameters<T> {
    pub(in crate::plant) fn new(parameters: ModelParameters<T>) -> Self {
        Self(Arc::new(parameters))
    }

    /// Returns the mass properties of a body; `None` if the context keeps the model's.
    pub fn body_inertia(&self, body: BodyIndex) -> Option<&BodyInertia<T>> {
        self.0.inertias.bodies.get(body.index())?.as_ref()
    }

    /// Computes [`MultibodyPlant::calc_kinetic_energy`] with these parameters.
    ///
    /// # Errors
    /// Returns an error if the numbers of velocities, bodies and force elements differ from the
    /// plant's, or if the kinematics belong to another plant.
    pub fn calc_kinetic_energy(
        &self,
        plant: &MultibodyPlant,
        positions: &PositionKinematics<T>,
        velocities: &VelocityKinematics<T>,
    ) -> Result<T> {
        self.check(plant)?;
        let here = plant.calculation(positions, &self.0)?;
        Ok(here.at(velocities)?.kinetic_energy(velocities))
    }

    /// Computes [`MultibodyPlant::calc_potential_energy`] with these parameters.
    ///
    /// # Errors
    /// Returns an error if the numbers of velocities, bodies and force elements differ from the
    /// plant's, or if the kinematics belong to another plant.
    pub fn calc_potential_energy(
        &self,
        plant: &MultibodyPlant,
        positions: &PositionKinematics<T>,
    ) -> Result<T> {
        self.check(plant)?;
        let here = plant.calculation(positions, &self.0)?;
        Ok(here.potential_energy())
    }

    /// Checks that the numbers of velocities, bodies and force elements are the plant's. An empty
    /// list of bodies or elements is valid.
    fn check(&self, plant: &MultibodyPlant) -> Result<()> {
        let all = &*self.0;
        let found = [
            all.damping.len(),
            all.inertias.bodies.len(),
            all.elements.len(),
        ];
        let required = [
            plant.num_velocities(),
            plant.bodies.len(),
            plant.force_elements.len(),
        ];
        let mut pairs = found.into_iter().zip(required).enumerate();
        if pairs.all(|(i, (found, required))| found == required || i > 0 && found == 0) {
            Ok(())
        } else {
            Err(Error::invalid(format!(
                "PlantParameters: velocities, bodies and force elements must be {required:?}, got \
             parameters of {found:?}; connect the port of this plant"
            )))
        }
    }
}
