//! Ports of a plant that moves under forces.

use super::dynamics_result::DynamicsResult;
use super::step_work::DynamicsWork;
use crate::dynamics;
use crate::error::Result;
use crate::kinematics::{PositionKinematics, VelocityKinematics};
use crate::model::ModelInstanceIndex;
use crate::plant::contact::results::ContactResults;
use crate::plant::deformable::{DeformableEntries, DeformableStates};
use crate::plant::inputs::{ConstraintStatus, ForcePorts, StepInputs};
use crate::plant::multibody_plant::MultibodyPlant;
use crate::plant::values::model_parameters::{ModelParameters, ParameterHandles, ParameterReader};
use crate::spatial::SpatialVector;
use crate::tree::CoordinateKind;
use std::sync::Arc;
use tarragon_framework::Scalar;
use tarragon_framework::prelude::{
    AbstractState, CacheEntry, Declare, Dep, LeafContext, OutputPort, Param,
};

/// Ports and parameters of a plant that moves under forces.
#[derive(Clone, Debug)]
pub(in crate::plant) struct DynamicsPorts<T: Scalar> {
    pub(in crate::plant) inputs: Arc<ForcePorts<T>>,
    pub(in crate::plant) body_spatial_accelerations: OutputPort<Vec<SpatialVector<T>>>,
    pub(in crate::plant) generalized_acceleration: OutputPort<Vec<T>>,
    pub(in crate::plant) net_actuation: OutputPort<Vec<T>>,
    pub(in crate::plant) reaction_forces: OutputPort<Vec<SpatialVector<T>>>,
    pub(in crate::plant) contact_results: OutputPort<ContactResults<T>>,
    pub(in crate::plant) instances: Arc<[InstancePorts<T>]>,
    pub(in crate::plant) status: Param<ConstraintStatus>,
    pub(in crate::plant) parameters: ParameterHandles<T>,
}

/// Output ports of one model instance.
#[derive(Clone, Copy, Debug)]
pub(in crate::plant) struct InstancePorts<T: Scalar> {
    pub(in crate::plant) state: OutputPort<Vec<T>>,
    pub(in crate::plant) acceleration: OutputPort<Vec<T>>,
    pub(in crate::plant) contact_forces: OutputPort<Vec<T>>,
    pub(in crate::plant) net_actuation: OutputPort<Vec<T>>,
}

pub(super) type Motion<T> = (PositionKinematics<T>, VelocityKinematics<T>);
/// The result of a step or of the present, with the work space of its computation.
/// Sampled output ports share it.
pub(super) type DynamicsEntry<T> = (Arc<DynamicsResult<T>>, DynamicsWork<T>);

/// Declarations of a plant that moves under forces, before its output ports.
pub(in crate::plant) struct DynamicsEntries<T: Scalar> {
    inputs: Arc<ForcePorts<T>>,
    status: Param<ConstraintStatus>,
    pub(in crate::plant) parameters: ParameterHandles<T>,
    motion: CacheEntry<Motion<T>>,
    pub(in crate::plant) dynamics: CacheEntry<DynamicsEntry<T>>,
}

impl<T: Scalar> DynamicsEntries<T> {
    pub(in crate::plant) fn declare(
        plant: &MultibodyPlant,
        d: &mut Declare<MultibodyPlant, T>,
        motion: CacheEntry<Motion<T>>,
        memory: Option<AbstractState<Arc<DynamicsResult<T>>>>,
        deformable: Option<DeformableEntries<T>>,
    ) -> Self {
        let inputs = Arc::new(ForcePorts::declare(plant, d));
        let status = d.param(ConstraintStatus {
            locked: vec![false; plant.joints.len()],
            inactive: (0..plant.constraints.len())
                .map(|constraint| plant.inactive_constraints.contains(&constraint))
                .collect(),
        });
        let parameters = ParameterHandles::declare(d);
        let resolved = d.cache_entry(
            "parameters",
            Arc::new(ModelParameters::empty()),
            (parameters.values, parameters.layout),
            move |plant, ctx, out| {
                let reader = ParameterReader {
                    plant,
                    layout: ctx.param(parameters.layout),
                    values: ctx.param(parameters.values).as_slice(),
                };
                *out = Arc::new(reader.all());
                Ok(())
            },
        );
        let mut deps = inputs.deps();
        deps.extend([Dep::from(motion), status.into(), resolved.into()]);
        // The result of the last step tells who sleeps.
        let memory = memory.filter(|_| plant.sleep_settings().is_some());
        deps.extend(memory.map(Dep::from));
        deps.extend(deformable.iter().flat_map(DeformableEntries::deps));
        let ports = inputs.clone();
        let dynamics = d.cache_entry(
            "dynamics",
            (Arc::new(DynamicsResult::empty()), DynamicsWork::new()),
            deps,
            move |plant, ctx, (result, work)| {
                let _awake = work.wake_threads();
                let (positions, velocities) = ctx.cached(motion)?;
                let deformable = deformable.as_ref();
                let deformable = deformable.map(|entries| entries.read(ctx));
                let step = StepInputs {
                    positions,
                    velocities,
                    inputs: &ports.read(plant, ctx)?,
                    status: ctx.param(status),
                    parameters: ctx.cached(resolved)?,
                    deformable: &deformable.unwrap_or_else(DeformableStates::none),
                };
                if plant.time_step == 0.0 {
                    *result = Arc::new(plant.calc_continuous(&mut work.materials, &step)?);
                    return Ok(());
                }
                let mut next = work.spare_result();
                let last = memory.map(|memory| ctx.xa(memory).as_ref());
                plant.calc_step(work, &step, last, Arc::make_mut(&mut next))?;
                work.retire(std::mem::replace(result, next));
                Ok(())
            },
        );
        Self {
            inputs,
            status,
            parameters,
            motion,
            dynamics,
        }
    }

    /// Declares the output ports. They report `memory` if there is one.
    pub(in crate::plant) fn outputs(
        self,
        plant: &MultibodyPlant,
        d: &mut Declare<MultibodyPlant, T>,
        memory: Option<AbstractState<Arc<DynamicsResult<T>>>>,
    ) -> DynamicsPorts<T> {
        let (motion, dynamics) = (self.motion, self.dynamics);
        let source = Source {
            motion,
            dynamics,
            memory,
        };
        let deps: Vec<Dep> = match memory {
            Some(memory) => vec![memory.into()],
            None => vec![dynamics.into(), motion.into()],
        };
        let (nv, num_bodies) = (plant.num_velocities(), plant.bodies.len());
        let body_spatial_accelerations = d.output(
            "body_spatial_accelerations",
            vec![SpatialVector::zero(); num_bodies],
            &deps,
            move |plant, ctx, out: &mut Vec<SpatialVector<T>>| {
                out.fill(SpatialVector::zero());
                source.with_motion(plant, ctx, |result, (positions, velocities)| {
                    *out = plant.calc_spatial_accelerations(positions, velocities, &result.vdot)?;
                    Ok(())
                })
            },
        );
        let generalized_acceleration =
            d.vector_output("generalized_acceleration", nv, &deps, move |_, ctx, out| {
                copy_or_zero(&source.result(ctx)?.vdot, out);
                Ok(())
            });
        let num_actuators = plant.actuators.len();
        let net_actuation =
            d.vector_output("net_actuation", num_actuators, &deps, move |_, ctx, out| {
                copy_or_zero(&source.result(ctx)?.net_actuation, out);
                Ok(())
            });
        let reaction_forces = d.output(
            "reaction_forces",
            vec![SpatialVector::zero(); plant.joints.len()],
            &deps,
            move |plant, ctx, out: &mut Vec<SpatialVector<T>>| {
                out.fill(SpatialVector::zero());
                source.with_motion(plant, ctx, |result, (positions, velocities)| {
                    let (vdot, spatial) = (&result.vdot, &result.spatial);
                    let inertias = &result.parameters.inertias;
                    *out = plant.reaction_forces(inertias, positions, velocities, vdot, spatial);
                    Ok(())
                })
            },
        );
        let contact_results = d.output(
            "contact_results",
            ContactResults::default(),
            &deps,
            move |_, ctx, out: &mut ContactResults<T>| {
                let result = source.result(ctx)?;
                result.contacts.update_results(out);
                out.deformable_contacts.clear();
                let deformable = result.deformable.contacts.infos();
                out.deformable_contacts.extend(deformable);
                Ok(())
            },
        );
        let instances = plant.model_instances.iter().enumerate();
        let instances = instances.map(|(i, name)| {
            InstancePorts::declare(plant, d, (ModelInstanceIndex::new(i), name), source, &deps)
        });
        DynamicsPorts {
            instances: instances.collect(),
            inputs: self.inputs,
            body_spatial_accelerations,
            generalized_acceleration,
            net_actuation,
            reaction_forces,
            contact_results,
            status: self.status,
            parameters: self.parameters,
        }
    }
}

impl<T: Scalar> InstancePorts<T> {
    fn declare(
        plant: &MultibodyPlant,
        d: &mut Declare<MultibodyPlant, T>,
        (instance, name): (ModelInstanceIndex, &str),
        source: Source<T>,
        deps: &[Dep],
    ) -> Self {
        let nv = plant.num_velocities_in(instance).unwrap_or(0);
        let nq = plant.num_positions_in(instance).unwrap_or(0);
        let na = plant.num_actuators_in(instance).unwrap_or(0);
        let taken = move |plant: &MultibodyPlant, all: &[T], out: &mut [T]| {
            if !all.is_empty() {
                let own = plant.take(instance, CoordinateKind::Velocities, all)?;
                copy_or_zero(&own, out);
            }
            Ok(())
        };
        let state = d.vector_output(
            &format!("{name}_state"),
            nq + nv,
            source.motion,
            move |plant, ctx, out| {
                let (positions, velocities) = ctx.cached(source.motion)?;
                let q = plant.positions_from_array(instance, &positions.q)?;
                let v = plant.velocities_from_array(instance, &velocities.v)?;
                copy_or_zero(&[q, v].concat(), out);
                Ok(())
            },
        );
        let names = plant.state_names_in(instance).unwrap_or_default();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        d.name_elements(&state, &names);
        let acceleration = d.vector_output(
            &format!("{name}_generalized_acceleration"),
            nv,
            deps,
            move |plant, ctx, out| {
                out.fill(T::zero());
                taken(plant, &source.result(ctx)?.vdot, out)
            },
        );
        let contact_forces = d.vector_output(
            &format!("{name}_generalized_contact_forces"),
            nv,
            deps,
            move |plant, ctx, out| {
                out.fill(T::zero());
                source.with_motion(plant, ctx, |result, (positions, _)| {
                    let tree = plant.tree_of(positions)?;
                    let all = dynamics::project(tree, positions, &result.contact_forces);
                    taken(plant, &all, out)
                })
            },
        );
        let net_actuation = d.vector_output(
            &format!("{name}_net_actuation"),
            na,
            deps,
            move |plant, ctx, out| {
                out.fill(T::zero());
                let all = &source.result(ctx)?.net_actuation;
                let own = plant.joint_actuator_indices_in(instance)?;
                for (out, k) in out.iter_mut().zip(own) {
                    *out = all.get(k.index()).copied().unwrap_or_else(T::zero);
                }
                Ok(())
            },
        );
        Self {
            state,
            acceleration,
            contact_forces,
            net_actuation,
        }
    }
}

fn copy_or_zero<T: Scalar>(values: &[T], out: &mut [T]) {
    if values.len() == out.len() {
        out.copy_from_slice(values)
    } else {
        out.fill(T::zero())
    }
}

/// Where output ports find what they report.
#[derive(Clone, Copy)]
struct Source<T: Scalar> {
    motion: CacheEntry<Motion<T>>,
    dynamics: CacheEntry<DynamicsEntry<T>>,
    memory: Option<AbstractState<Arc<DynamicsResult<T>>>>,
}

impl<T: Scalar> Source<T> {
    fn result<'a>(&self, ctx: &LeafContext<'a, T>) -> Result<&'a DynamicsResult<T>> {
        Ok(match self.memory {
            Some(memory) => ctx.xa(memory).as_ref(),
            None => &ctx.cached(self.dynamics)?.0,
        })
    }

    /// Calls `f` with the result and the kinematics where it was computed; does nothing before the
    /// first step.
    fn with_motion(
        &self,
        plant: &MultibodyPlant,
        ctx: &LeafContext<'_, T>,
        f: impl FnOnce(&DynamicsResult<T>, &Motion<T>) -> Result<()>,
    ) -> Result<()> {
        let result = self.result(ctx)?;
        if result.x.is_empty() {
            return Ok(());
        }
        match self.memory {
            None => f(result, ctx.cached(self.motion)?),
            Some(_) => {
                let (q, v) = result.x.split_at(plant.num_positions());
                let positions = plant.calc_position_kinematics(q)?;
                let velocities = plant.calc_velocity_kinematics(&positions, v)?;
                f(result, &(positions, velocities))
            }
        }
    }
}
