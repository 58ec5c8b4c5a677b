//! Inputs of the measurements, and what is computed from them.

use super::frame::BodyMotion;
use super::measurement::{Energy, Measurement};
use crate::{Error, Result};
use nalgebra::Isometry3;
use tarragon_framework::prelude::*;
use tarragon_multibody::{MultibodyPlant, PositionKinematics, SpatialVector, VelocityKinematics};

/// Inputs of the measurements, which follow those of the plant.
#[derive(Clone, Copy)]
pub(super) struct Inputs<T: Scalar> {
    pub(super) body_poses: InputPort<Vec<Isometry3<T>>>,
    pub(super) body_spatial_velocities: InputPort<Vec<SpatialVector<T>>>,
    pub(super) state: InputPort<Vec<T>>,
    /// Energies, if they are measured.
    pub(super) energies: Option<CacheEntry<Energies<T>>>,
}

impl<T: Scalar> Inputs<T> {
    /// Returns the prerequisites of a measurement.
    pub(super) fn deps(&self, measurement: &Measurement) -> Vec<Dep> {
        let of_bodies = |has_velocity: bool| {
            let mut deps = vec![self.body_poses.into()];
            deps.extend(has_velocity.then_some(Dep::from(self.body_spatial_velocities)));
            deps
        };
        match measurement {
            Measurement::Time => vec![Dep::Time],
            Measurement::State(_) => vec![self.state.into()],
            Measurement::Frame(frame) => of_bodies(frame.quantity.is_velocity()),
            Measurement::Subtree(subtree) => of_bodies(subtree.quantity.has_velocity()),
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
        let motion = |has_velocity: bool| self.motion(num_bodies, has_velocity, ctx);
        match measurement {
            Measurement::Time => y.fill(ctx.time()),
            Measurement::State(elements) => {
                let state = ctx.eval(self.state)?;
                let terms = elements.iter().map(|(i, weight)| state[*i] * *weight);
                y.fill(terms.fold(T::zero(), |sum, term| sum + term));
            }
            Measurement::Frame(frame) => frame.measure(motion(frame.quantity.is_velocity())?, y),
            Measurement::Subtree(subtree) => {
                subtree.measure(motion(subtree.quantity.has_velocity())?, y);
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
        has_velocity: bool,
        ctx: &LeafContext<'a, T>,
    ) -> Result<BodyMotion<'a, T>> {
        let poses = ctx.eval(self.body_poses)?;
        let velocities: &[SpatialVector<T>] = match has_velocity {
            true => ctx.eval(self.body_spatial_velocities)?,
            false => &[],
        };
        per_body("body_poses", num_bodies, poses.len())?;
        if has_velocity {
            per_body("body_spatial_velocities", num_bodies, velocities.len())?;
        }
        Ok(BodyMotion { poses, velocities })
    }
}

fn per_body(port: &str, num_bodies: usize, found: usize) -> Result<()> {
    match found == num_bodies {
        true => Ok(()),
        false => Err(Error::invalid(format!(
            "ModelSensors: input port '{port}' must have one value per body, {num_bodies} in all, \
             got {found}; connect the plant that the sensors belong to"
        ))),
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

    /// Computes the energies in the state `[q; v]`.
    pub(super) fn update(&mut self, plant: &MultibodyPlant, state: &[T]) -> Result<()> {
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
        self.kinetic = plant.calc_kinetic_energy(positions, velocities)?;
        self.potential = plant.calc_potential_energy(positions)?;
        Ok(())
    }
}
