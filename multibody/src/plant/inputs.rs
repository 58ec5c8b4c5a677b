//! Values of the input ports of a plant.

use super::deformable::DeformableStates;
use super::multibody_plant::MultibodyPlant;
use super::values::model_parameters::ModelParameters;
use crate::error::{Error, Result};
use crate::kinematics::{PositionKinematics, VelocityKinematics};
use crate::model::{BodyIndex, ModelInstanceIndex};
use crate::spatial::SpatialVector;
use nalgebra::Vector3;
use std::sync::Arc;
use tarragon_framework::Scalar;
use tarragon_framework::prelude::{Declare, Dep, InputPort, LeafContext};
use tarragon_geometry::QueryObject;

/// A force on a body, given to the input port `applied_spatial_force` (Drake's
/// `ExternallyAppliedSpatialForce`).
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_multibody::{BodyIndex, ExternallyAppliedSpatialForce, SpatialVector};
/// let push = ExternallyAppliedSpatialForce {
///     body: BodyIndex::WORLD,
///     p_bobq_b: Vector3::zeros(),
///     f_bq_w: SpatialVector { rotational: Vector3::zeros(), translational: Vector3::x() * 5.0 },
/// };
/// assert_eq!(push.f_bq_w.translational.x, 5.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExternallyAppliedSpatialForce<T: Scalar> {
    /// Body B.
    pub body: BodyIndex,
    /// Position of the point Bq in B, `p_BoBq_B` (m).
    pub p_bobq_b: Vector3<f64>,
    /// Moment about Bq (N m) and force (N), `F_Bq_W`, expressed in W.
    pub f_bq_w: SpatialVector<T>,
}

/// Input ports of the forces on a plant.
#[derive(Clone, Debug)]
pub(super) struct ForcePorts<T: Scalar> {
    pub(super) geometry_query: Option<InputPort<QueryObject<T>>>,
    pub(super) actuation: InputPort<Vec<T>>,
    /// By model instance; `None` without actuators.
    pub(super) actuation_in: Vec<Option<InputPort<Vec<T>>>>,
    pub(super) desired_state_in: Vec<Option<InputPort<Vec<T>>>>,
    pub(super) generalized_force: InputPort<Vec<T>>,
    pub(super) spatial_force: InputPort<Vec<ExternallyAppliedSpatialForce<T>>>,
}

/// Values of the input ports of the forces on a plant.
pub(super) struct ForceInputs<'a, T: Scalar> {
    pub(super) query: Option<&'a QueryObject<T>>,
    /// By actuator.
    pub(super) actuation: Vec<T>,
    /// Desired position and velocity by actuator, where there are any.
    pub(super) desired: Vec<Option<(T, T)>>,
    pub(super) generalized_force: &'a [T],
    pub(super) spatial_force: &'a [ExternallyAppliedSpatialForce<T>],
}

/// Locks and activity of constraints, which a context may change.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ConstraintStatus {
    /// By joint.
    pub(super) locked: Vec<bool>,
    /// By constraint.
    pub(super) inactive: Vec<bool>,
}

/// State, inputs and parameters of a step, or of the accelerations at a moment.
#[derive(Clone, Copy)]
pub(super) struct StepInputs<'a, T: Scalar> {
    pub(super) positions: &'a PositionKinematics<T>,
    pub(super) velocities: &'a VelocityKinematics<T>,
    pub(super) inputs: &'a ForceInputs<'a, T>,
    pub(super) status: &'a ConstraintStatus,
    pub(super) parameters: &'a Arc<ModelParameters<T>>,
    pub(super) deformable: &'a DeformableStates<'a, T>,
}

impl<T: Scalar> ForcePorts<T> {
    pub(super) fn declare(plant: &MultibodyPlant, d: &mut Declare<MultibodyPlant, T>) -> Self {
        let registered = plant.registration.is_some();
        let names = plant.model_instances.iter().enumerate();
        let of_actuators = names.map(|(i, name)| {
            let own = plant
                .num_actuators_in(ModelInstanceIndex::new(i))
                .unwrap_or(0);
            (own > 0).then_some((name, own))
        });
        let of_actuators: Vec<_> = of_actuators.collect();
        let mut in_each = |suffix: &str, size: usize| -> Vec<_> {
            let port =
                |(name, n): (&String, usize)| d.vector_input(&format!("{name}_{suffix}"), size * n);
            let mut port = port;
            of_actuators.iter().map(|own| own.map(&mut port)).collect()
        };
        let (actuation_in, desired_state_in) =
            (in_each("actuation", 1), in_each("desired_state", 2));
        Self {
            geometry_query: registered.then(|| d.input("geometry_query")),
            actuation: d.vector_input("actuation", plant.actuators.len()),
            actuation_in,
            desired_state_in,
            generalized_force: d.vector_input("applied_generalized_force", plant.num_velocities()),
            spatial_force: d.input("applied_spatial_force"),
        }
    }

    /// Returns all ports, as dependencies.
    pub(super) fn deps(&self) -> Vec<Dep> {
        let vectors = [self.actuation, self.generalized_force].into_iter();
        let by_instance = self.actuation_in.iter().chain(&self.desired_state_in);
        let vectors = vectors.chain(by_instance.copied().flatten());
        let mut deps: Vec<Dep> = vectors.map(Dep::from).collect();
        deps.push(self.spatial_force.into());
        deps.extend(self.geometry_query.map(Dep::from));
        deps
    }

    /// Reads all ports; those without value are 0.
    ///
    /// # Errors
    /// Returns an error if an input cannot be evaluated, or if a value is not finite.
    pub(super) fn read<'a>(
        &self,
        plant: &MultibodyPlant,
        ctx: &LeafContext<'a, T>,
    ) -> Result<ForceInputs<'a, T>> {
        let vector = |port: InputPort<Vec<T>>, name: &dyn Fn() -> String| -> Result<&'a [T]> {
            let values = ctx.eval_optional(port)?.map_or(&[][..], |v| v);
            check_finite_input(values.iter().map(|x| x.re()), name)?;
            Ok(values)
        };
        let mut actuation = vec![T::zero(); plant.actuators.len()];
        let all = vector(self.actuation, &|| "actuation".into())?;
        for (sum, u) in actuation.iter_mut().zip(all) {
            *sum += *u;
        }
        let mut desired = vec![None; plant.actuators.len()];
        for (i, name) in plant.model_instances.iter().enumerate() {
            let own = || {
                let all = plant.actuators.iter().enumerate();
                all.filter(move |(_, a)| a.model_instance.index() == i)
                    .map(|(k, _)| k)
            };
            if let Some(port) = self.actuation_in[i] {
                let values = vector(port, &|| format!("{name}_actuation"))?;
                for (k, u) in own().zip(values) {
                    actuation[k] += *u;
                }
            }
            if let Some(port) = self.desired_state_in[i] {
                let values = vector(port, &|| format!("{name}_desired_state"))?;
                let (q, v) = values.split_at(values.len() / 2);
                for (k, x) in own().zip(q.iter().copied().zip(v.iter().copied())) {
                    desired[k] = Some(x);
                }
            }
        }
        let spatial_force = ctx
            .eval_optional(self.spatial_force)?
            .map_or(&[][..], |f| f);
        for force in spatial_force {
            if force.body.index() >= plant.bodies.len() {
                return Err(Error::not_found(format!(
                    "input port 'applied_spatial_force': the body index must be below {}, got {}",
                    plant.bodies.len(),
                    force.body.index()
                )));
            }
            let f = &force.f_bq_w;
            let numbers = f.rotational.iter().chain(&f.translational).map(|x| x.re());
            let numbers = numbers.chain(force.p_bobq_b.iter().copied());
            check_finite_input(numbers, &|| "applied_spatial_force".into())?;
        }
        let query = match self.geometry_query {
            Some(port) => ctx.eval_optional(port)?,
            None => None,
        };
        // Contact is computed from the query only, so bodies would fall through each other.
        if query.is_none() && plant.has_collision_geometries() {
            return Err(Error::state(
                "MultibodyPlant: the input port 'geometry_query' must have a value, because the plant \
                 has collision geometries, got none; connect it to the output 'query' of the \
                 SceneGraph, as `add_multibody_plant_scene_graph` does, or load the model without a \
                 SceneGraph (`Parser::new`), which leaves contact out",
            ));
        }
        Ok(ForceInputs {
            query,
            actuation,
            desired,
            generalized_force: vector(self.generalized_force, &|| {
                "applied_generalized_force".into()
            })?,
            spatial_force,
        })
    }
}

fn check_finite_input(values: impl Iterator<Item = f64>, name: &dyn Fn() -> String) -> Result<()> {
    match values.enumerate().find(|(_, x)| !x.is_finite()) {
        None => Ok(()),
        Some((k, x)) => Err(Error::invalid(format!(
            "MultibodyPlant: all numbers at the input port '{}' must be finite, got {x:?} at index \
             {k}",
            name()
        ))),
    }
}
