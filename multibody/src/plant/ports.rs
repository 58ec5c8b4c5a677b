//! Ports of a plant in a diagram.

use super::calculations::plant_parameters::PlantParameters;
use super::contact::results::ContactResults;
use super::deformable::DeformablePorts;
use super::inputs::{ExternallyAppliedSpatialForce, ForcePorts};
use super::multibody_plant::MultibodyPlant;
use super::steps::force_ports::{DynamicsPorts, InstancePorts};
use crate::error::{Error, Result};
use crate::model::ModelInstanceIndex;
use crate::spatial::SpatialVector;
use nalgebra::Isometry3;
use std::ops::Deref;
use std::sync::Arc;
use tarragon_framework::Scalar;
use tarragon_framework::prelude::{ContinuousState, DiscreteState, InputPort, OutputPort};
use tarragon_geometry::{FramePoseVector, GeometryConfigurationVector, QueryObject};

/// A [`MultibodyPlant`] in a diagram: its ports, and what is asked of it in a context. It
/// dereferences to the plant.
///
/// Ports that every plant has are fields. The others are methods: they return an error that says
/// how to get the port if the plant is configured otherwise. Inputs without value are zero, except
/// `position` and, once velocities are needed, `velocity`.
///
/// | port | name | type | exists |
/// |---|---|---|---|
/// | input | `position` | vector of `num_positions` | with [`PositionSource::InputPort`] |
/// | input | `velocity` | vector of `num_velocities` | with [`PositionSource::InputPort`] |
/// | input | `geometry_query` | [`QueryObject`] | state, once registered with a SceneGraph |
/// | input | `actuation` | vector, efforts by actuator (N m or N) | state |
/// | input | `{model}_actuation` | the same for a model instance; both add up | state |
/// | input | `{model}_desired_state` | vector `[q; v]` of a model instance's actuators | state |
/// | input | `applied_generalized_force` | vector of `num_velocities` (N m or N) | state |
/// | input | `applied_spatial_force` | `Vec<ExternallyAppliedSpatialForce<T>>` | state |
/// | output | `state` | vector `[q; v]` | state |
/// | output | `body_poses` | `Vec<Isometry3<T>>`, `X_WB` by body | always |
/// | output | `body_spatial_velocities` | `Vec<SpatialVector<T>>`, `V_WB` by body | always |
/// | output | `parameters` | [`PlantParameters`] of the context | always |
/// | output | `geometry_pose` | `FramePoseVector<T>` | once registered with a SceneGraph |
/// | output | `deformable_body_configuration` | vertices | with deformable bodies |
/// | output | `body_spatial_accelerations` | `Vec<SpatialVector<T>>`, `A_WB` by body | state |
/// | output | `generalized_acceleration` | vector of `num_velocities` | state |
/// | output | `net_actuation` | vector, efforts by actuator after limits and controllers | state |
/// | output | `reaction_forces` | `Vec<SpatialVector<T>>`, `F_CJc_Jc` by joint | state |
/// | output | `contact_results` | [`ContactResults`] | state |
/// | output | `{model}_state` | vector `[q; v]` of a model instance | state |
/// | output | `{model}_generalized_acceleration` | vector | state |
/// | output | `{model}_generalized_contact_forces` | vector | state |
/// | output | `{model}_net_actuation` | vector | state |
///
/// "State" stands for a plant with [`PositionSource::State`], the default. In discrete plants,
/// outputs other than states report the step that led to the present state, and zero before the
/// first step; see
/// [`set_use_sampled_output_ports`](crate::MultibodyPlantBuilder::set_use_sampled_output_ports).
///
/// [`PositionSource::InputPort`]: crate::PositionSource::InputPort
/// [`PositionSource::State`]: crate::PositionSource::State
#[derive(Clone, Debug)]
pub struct MultibodyPlantPorts<T: Scalar> {
    pub(super) plant: Arc<MultibodyPlant>,
    pub(super) position: Option<InputPort<Vec<T>>>,
    pub(super) velocity: Option<InputPort<Vec<T>>>,
    pub(super) state: Option<OutputPort<Vec<T>>>,
    /// `X_WB` by [`BodyIndex`](crate::BodyIndex).
    pub body_poses: OutputPort<Vec<Isometry3<T>>>,
    /// `V_WB` by [`BodyIndex`](crate::BodyIndex).
    pub body_spatial_velocities: OutputPort<Vec<SpatialVector<T>>>,
    /// Masses, springs and other parameters of the context.
    pub parameters: OutputPort<PlantParameters<T>>,
    pub(super) geometry_pose: Option<OutputPort<FramePoseVector<T>>>,
    pub(super) discrete_state: Option<DiscreteState<Vec<T>>>,
    pub(super) continuous_state: Option<ContinuousState<Vec<T>>>,
    pub(super) dynamics: Option<DynamicsPorts<T>>,
    pub(super) deformable: Option<DeformablePorts<T>>,
}

impl<T: Scalar> Deref for MultibodyPlantPorts<T> {
    type Target = MultibodyPlant;
    fn deref(&self) -> &MultibodyPlant {
        &self.plant
    }
}

/// Ports of positions and poses, and the state.
impl<T: Scalar> MultibodyPlantPorts<T> {
    /// Returns the input port of the positions.
    ///
    /// # Errors
    /// Returns an error unless the plant has
    /// [`PositionSource::InputPort`](crate::PositionSource::InputPort).
    pub fn position(&self) -> Result<InputPort<Vec<T>>> {
        self.position.ok_or_else(|| missing("positions", FROM_PORT))
    }
    /// Returns the input port of the velocities. It needs a value only if velocities are evaluated.
    ///
    /// # Errors
    /// Returns an error unless the plant has
    /// [`PositionSource::InputPort`](crate::PositionSource::InputPort).
    pub fn velocity(&self) -> Result<InputPort<Vec<T>>> {
        self.velocity
            .ok_or_else(|| missing("velocities", FROM_PORT))
    }
    /// Returns the output port of the state `[q; v]`.
    ///
    /// # Errors
    /// Returns an error unless the plant has
    /// [`PositionSource::State`](crate::PositionSource::State).
    pub fn state(&self) -> Result<OutputPort<Vec<T>>> {
        self.state.ok_or_else(|| missing("the state", FROM_STATE))
    }
    /// Returns the output port of the poses of the plant's frames in a SceneGraph.
    ///
    /// # Errors
    /// Returns an error if the plant is not registered with a SceneGraph.
    pub fn geometry_pose(&self) -> Result<OutputPort<FramePoseVector<T>>> {
        self.geometry_pose
            .ok_or_else(|| missing("geometry poses", REGISTER))
    }
    /// Returns the output port of the positions of the vertices of all deformable bodies.
    ///
    /// # Errors
    /// Returns an error if the plant has none.
    pub fn deformable_body_configuration(
        &self,
    ) -> Result<OutputPort<GeometryConfigurationVector<T>>> {
        Ok(self.deformable()?.configuration)
    }
    /// Returns the state `[q; v]` of a plant with a positive time step.
    ///
    /// # Errors
    /// Returns an error if the time step is 0, or unless the plant has
    /// [`PositionSource::State`](crate::PositionSource::State).
    pub fn discrete_state(&self) -> Result<DiscreteState<Vec<T>>> {
        let remedy = "the plant must have a positive time step and `PositionSource::State`";
        self.discrete_state
            .ok_or_else(|| missing("discrete state", remedy))
    }
    /// Returns the state `[q; v]` of a plant with time step 0.
    ///
    /// # Errors
    /// Returns an error if the time step is positive, or unless the plant has
    /// [`PositionSource::State`](crate::PositionSource::State).
    pub fn continuous_state(&self) -> Result<ContinuousState<Vec<T>>> {
        let remedy = "the plant must have time step 0 and `PositionSource::State`";
        self.continuous_state
            .ok_or_else(|| missing("continuous state", remedy))
    }
}

/// Ports of forces, accelerations and contacts.
impl<T: Scalar> MultibodyPlantPorts<T> {
    /// Returns the input port of the scene's query object.
    ///
    /// # Errors
    /// Returns an error if the plant is not registered with a SceneGraph, or unless it has
    /// [`PositionSource::State`](crate::PositionSource::State).
    pub fn geometry_query(&self) -> Result<InputPort<QueryObject<T>>> {
        let query = self.dynamics()?.inputs.geometry_query;
        query.ok_or_else(|| missing("the scene's query object", REGISTER))
    }
    /// Returns the input port of the efforts of all actuators (N m or N), by index.
    ///
    /// # Errors
    /// Returns an error unless the plant has
    /// [`PositionSource::State`](crate::PositionSource::State).
    pub fn actuation(&self) -> Result<InputPort<Vec<T>>> {
        Ok(self.dynamics()?.inputs.actuation)
    }
    /// Returns the input port of the efforts of a model instance's actuators (N m or N). They are
    /// added to the values of [`Self::actuation`].
    ///
    /// # Errors
    /// Returns an error unless the plant has
    /// [`PositionSource::State`](crate::PositionSource::State), or if the instance is unknown or
    /// has no actuators.
    pub fn actuation_in(&self, instance: ModelInstanceIndex) -> Result<InputPort<Vec<T>>> {
        self.of_actuators(instance, |inputs| &inputs.actuation_in)
    }
    /// Returns the input port of the desired state `[q; v]` of a model instance's actuators. It
    /// drives those with controller gains.
    ///
    /// # Errors
    /// Returns an error unless the plant has
    /// [`PositionSource::State`](crate::PositionSource::State), or if the instance is unknown or
    /// has no actuators.
    pub fn desired_state_in(&self, instance: ModelInstanceIndex) -> Result<InputPort<Vec<T>>> {
        self.of_actuators(instance, |inputs| &inputs.desired_state_in)
    }
    /// Returns the input port of generalized forces (N m or N), in the order of v.
    ///
    /// # Errors
    /// Returns an error unless the plant has
    /// [`PositionSource::State`](crate::PositionSource::State).
    pub fn applied_generalized_force(&self) -> Result<InputPort<Vec<T>>> {
        Ok(self.dynamics()?.inputs.generalized_force)
    }
    /// Returns the input port of forces on bodies.
    ///
    /// # Errors
    /// Returns an error unless the plant has
    /// [`PositionSource::State`](crate::PositionSource::State).
    pub fn applied_spatial_force(
        &self,
    ) -> Result<InputPort<Vec<ExternallyAppliedSpatialForce<T>>>> {
        Ok(self.dynamics()?.inputs.spatial_force)
    }
    /// Returns the output port of the spatial accelerations `A_WB` by body (rad/s^2, m/s^2).
    ///
    /// # Errors
    /// Returns an error unless the plant has
    /// [`PositionSource::State`](crate::PositionSource::State).
    pub fn body_spatial_accelerations(&self) -> Result<OutputPort<Vec<SpatialVector<T>>>> {
        Ok(self.dynamics()?.body_spatial_accelerations)
    }
    /// Returns the output port of the time derivatives of the velocities.
    ///
    /// # Errors
    /// Returns an error unless the plant has
    /// [`PositionSource::State`](crate::PositionSource::State).
    pub fn generalized_acceleration(&self) -> Result<OutputPort<Vec<T>>> {
        Ok(self.dynamics()?.generalized_acceleration)
    }
    /// Returns the output port of the efforts of all actuators (N m or N), after limits and
    /// controllers.
    ///
    /// # Errors
    /// Returns an error unless the plant has
    /// [`PositionSource::State`](crate::PositionSource::State).
    pub fn net_actuation(&self) -> Result<OutputPort<Vec<T>>> {
        Ok(self.dynamics()?.net_actuation)
    }
    /// Returns the output port of the moments and forces of joints on their children, `F_CJc_Jc` by
    /// joint (N m, N): at the child's joint frame, expressed there.
    ///
    /// # Errors
    /// Returns an error unless the plant has
    /// [`PositionSource::State`](crate::PositionSource::State).
    pub fn reaction_forces(&self) -> Result<OutputPort<Vec<SpatialVector<T>>>> {
        Ok(self.dynamics()?.reaction_forces)
    }
    /// Returns the output port of all contacts.
    ///
    /// # Errors
    /// Returns an error unless the plant has
    /// [`PositionSource::State`](crate::PositionSource::State).
    pub fn contact_results(&self) -> Result<OutputPort<ContactResults<T>>> {
        Ok(self.dynamics()?.contact_results)
    }
    /// Returns the output port of the state `[q; v]` of a model instance.
    ///
    /// # Errors
    /// Returns an error unless the plant has
    /// [`PositionSource::State`](crate::PositionSource::State), or if the instance is unknown.
    pub fn state_in(&self, instance: ModelInstanceIndex) -> Result<OutputPort<Vec<T>>> {
        Ok(self.instance(instance)?.state)
    }
    /// Returns the output port of the time derivatives of a model instance's velocities.
    ///
    /// # Errors
    /// Returns an error unless the plant has
    /// [`PositionSource::State`](crate::PositionSource::State), or if the instance is unknown.
    pub fn generalized_acceleration_in(
        &self,
        instance: ModelInstanceIndex,
    ) -> Result<OutputPort<Vec<T>>> {
        Ok(self.instance(instance)?.acceleration)
    }
    /// Returns the output port of the generalized forces of contact on a model instance.
    ///
    /// # Errors
    /// Returns an error unless the plant has
    /// [`PositionSource::State`](crate::PositionSource::State), or if the instance is unknown.
    pub fn generalized_contact_forces_in(
        &self,
        instance: ModelInstanceIndex,
    ) -> Result<OutputPort<Vec<T>>> {
        Ok(self.instance(instance)?.contact_forces)
    }
    /// Returns the output port of the efforts of a model instance's actuators, after limits and
    /// controllers.
    ///
    /// # Errors
    /// Returns an error unless the plant has
    /// [`PositionSource::State`](crate::PositionSource::State), or if the instance is unknown.
    pub fn net_actuation_in(&self, instance: ModelInstanceIndex) -> Result<OutputPort<Vec<T>>> {
        Ok(self.instance(instance)?.net_actuation)
    }

    pub(super) fn dynamics(&self) -> Result<&DynamicsPorts<T>> {
        let dynamics = self.dynamics.as_ref();
        dynamics.ok_or_else(|| missing("forces and accelerations", FROM_STATE))
    }

    pub(super) fn deformable(&self) -> Result<&DeformablePorts<T>> {
        let remedy = "call `register_deformable_body` before the plant is built";
        let deformable = self.deformable.as_ref();
        deformable.ok_or_else(|| missing("deformable bodies", remedy))
    }

    fn of_actuators(
        &self,
        instance: ModelInstanceIndex,
        ports: impl Fn(&ForcePorts<T>) -> &[Option<InputPort<Vec<T>>>],
    ) -> Result<InputPort<Vec<T>>> {
        let name = self.model_instance_name(instance)?;
        let port = ports(&self.dynamics()?.inputs)[instance.index()];
        port.ok_or_else(|| {
            Error::not_found(format!(
                "model instance '{name}' must have actuators, got none"
            ))
        })
    }

    fn instance(&self, instance: ModelInstanceIndex) -> Result<&InstancePorts<T>> {
        self.model_instance_name(instance)?;
        Ok(&self.dynamics()?.instances[instance.index()])
    }
}

const FROM_PORT: &str =
    "call `set_position_source(PositionSource::InputPort)` before the plant is built";
const FROM_STATE: &str =
    "call `set_position_source(PositionSource::State)` before the plant is built";
const REGISTER: &str = "call `register_as_source_for_scene_graph` before the plant is built";

#[cold]
fn missing(what: &str, remedy: &str) -> Error {
    Error::state(format!(
        "MultibodyPlant: there is no port or handle for {what}; {remedy}"
    ))
}
