//! Inputs of the measurements, and what is computed from them.

use super::frame::{BodyMotion, FrameMeasurement};
use super::measurement::{Energy, Measurement};
use super::subtree::SubtreeMeasurement;
use crate::{Error, Result};
use nalgebra::Isometry3;
use tarragon_framework::prelude::*;
use tarragon_multibody::{
    MultibodyPlant, PlantParameters, PositionKinematics, SpatialVector, VelocityKinematics,
};

/// Inputs of the measurements, which follow those of the plant.
#[derive(Clone, Copy)]
pub(super) struct Inputs<T: Scalar> {
    pub(super) body_poses: InputPort<Vec<Isometry3<T>>>,
    pub(super) body_spatial_velocities: InputPort<Vec<SpatialVector<T>>>,
    pub(super) state: InputPort<Vec<T>>,
    /// Masses of a context; without a value, the model's hold.
    pub(super) parameters: InputPort<PlantParameters<T>>,
    /// Energies, if they are measured.
    pub(super) energies: Option<CacheEntry<Energies<T>>>,
}

/// Inputs that a measurement of bodies reads in addition to their poses.
#[derive(Clone, Copy)]
struct Reads {
    velocities: bool,
    masses: bool,
}

impl Reads {
    fn of_frame(frame: &FrameMeasurement) -> Self {
        Self {
            velocities: frame.quantity.is_velocity(),
            masses: frame.has_mass(),
        }
    }
    fn of_subtree(subtree: &SubtreeMeasurement) -> Self {
        Self {
            velocities: subtree.quantity.has_velocity(),
            masses: true,
        }
    }
}

impl<T: Scalar> Inputs<T> {
    /// Returns the prerequisites of a measurement.
    pub(super) fn deps(&self, measurement: &Measurement) -> Vec<Dep> {
        let of_bodies = |reads: Reads| {
            let mut deps = vec![self.body_poses.into()];
            let velocities = Dep::from(self.body_spatial_velocities);
            deps.extend(reads.velocities.then_some(velocities));
            deps.extend(reads.masses.then_some(Dep::from(self.parameters)));
            deps
        };
        match measurement {
            Measurement::Time => vec![Dep::Time],
            Measurement::State(_) => vec![self.state.into()],
            Measurement::Frame(frame) => of_bodies(Reads::of_frame(frame)),
            Measurement::Subtree(subtree) => of_bodies(Reads::of_subtree(subtree)),
            Measurement::Energy(_) => self.energies.map(Dep::from).into_iter().collect(),
        }
    }

    /// Computes a measurement of a plant with a number of bodies.
    pub(super) fn measure(
        self,
        measurement: &Measurement,
        num_bodies: usize,
        ctx: &LeafContext<'_, T>,
        y: &mut [T],
    ) -> Result<()> {
        let motion = |reads: Reads| self.motion(num_bodies, reads, ctx);
        match measurement {
            Measurement::Time => y.fill(ctx.time()),
            Measurement::State(elements) => {
                let state = ctx.eval(self.state)?;
                let terms = elements.iter().map(|(i, weight)| state[*i] * *weight);
                y.fill(terms.fold(T::zero(), |sum, term| sum + term));
            }
            Measurement::Frame(frame) => frame.measure(motion(Reads::of_frame(frame))?, y),
            Measurement::Subtree(subtree) => {
                subtree.measure(motion(Reads::of_subtree(subtree))?, y);
            }
            Measurement::Energy(energy) => {
                if let Some(entry) = self.energies {
                    y.fill(ctx.cached(entry)?.get(*energy));
                }
            }
        }
        Ok(())
    }

    /// Reads the motion of all bodies.
    fn motion<'a>(
        self,
        num_bodies: usize,
        reads: Reads,
        ctx: &LeafContext<'a, T>,
    ) -> Result<BodyMotion<'a, T>> {
        let poses = ctx.eval(self.body_poses)?;
        let velocities: &[SpatialVector<T>] = if reads.velocities {
            ctx.eval(self.body_spatial_velocities)?
        } else {
            &[]
        };
        per_body("body_poses", num_bodies, poses.len())?;
        if reads.velocities {
            per_body("body_spatial_velocities", num_bodies, velocities.len())?;
        }
        let parameters = if reads.masses {
            ctx.eval_optional(self.parameters)?
        } else {
            None
        };
        Ok(BodyMotion {
            poses,
            velocities,
            parameters,
        })
    }
}

fn per_body(port: &str, num_bodies: usize, found: usize) -> Result<()> {
    if found == num_bodies {
        Ok(())
    } else {
        Err(Error::invalid(format!(
            "ModelSensors: input port '{port}' must have one value per body, {num_bodies} in all, \
         got {found}; connect the plant that the sensors belong to"
        )))
    }
}

/// Energies of a plant (J), with the work space of their computation.
#[derive(Clone)]
pub(super) struct Energies<T: Scalar> {
    kinetic: T,
    potential: T,
    kinematics: Option<(PositionKinematics<T>, VelocityKinematics<T>)>,
}

impl<T: Scalar> Energies<T> {
    pub(super) fn zero() -> Self {
        Self {
            kinetic: T::zero(),
            potential: T::zero(),
            kinematics: None,
        }
    }

    fn get(&self, energy: Energy) -> T {
        match energy {
            Energy::Kinetic => self.kinetic,
            Energy::Potential => self.potential,
        }
    }

    /// Computes the energies in the state `[q; v]`. Without parameters, the model's hold.
    pub(super) fn update(
        &mut self,
        plant: &MultibodyPlant,
        state: &[T],
        parameters: Option<&PlantParameters<T>>,
    ) -> Result<()> {
        let (q, v) = state.split_at(plant.num_positions().min(state.len()));
        let (positions, velocities) = match &mut self.kinematics {
            Some((positions, velocities)) => {
                plant.update_position_kinematics(positions, q)?;
                plant.update_velocity_kinematics(velocities, positions, v)?;
                (&*positions, &*velocities)
            }
            empty => {
                let positions = plant.calc_position_kinematics(q)?;
                let velocities = plant.calc_velocity_kinematics(&positions, v)?;
                let (positions, velocities) = empty.insert((positions, velocities));
                (&*positions, &*velocities)
            }
        };
        (self.kinetic, self.potential) = match parameters {
            Some(parameters) => (
                parameters.calc_kinetic_energy(plant, positions, velocities)?,
                parameters.calc_potential_energy(plant, positions)?,
            ),
            None => (
                plant.calc_kinetic_energy(positions, velocities)?,
                plant.calc_potential_energy(positions)?,
            ),
        };
        Ok(())
    }
}
