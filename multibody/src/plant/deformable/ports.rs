//! State, parameter and output port of the deformable bodies of a plant.

use crate::model::DeformableBodyIndex;
use crate::plant::multibody_plant::MultibodyPlant;
use nalgebra::DVector;
use std::sync::Arc;
use tarragon_framework::Scalar;
use tarragon_framework::prelude::{Declare, Dep, DiscreteState, LeafContext, OutputPort, Param};
use tarragon_geometry::GeometryConfigurationVector;

/// Output port of a plant with deformable bodies, and handles of their state.
#[derive(Clone, Debug)]
pub(in crate::plant) struct DeformablePorts<T: Scalar> {
    pub(in crate::plant) configuration: OutputPort<GeometryConfigurationVector<T>>,
    pub(in crate::plant) entries: DeformableEntries<T>,
}

/// State and parameter of the deformable bodies.
#[derive(Clone, Debug)]
pub(in crate::plant) struct DeformableEntries<T: Scalar> {
    /// By body: positions, velocities, and positions at the start of the last step.
    pub(in crate::plant) states: Arc<[DiscreteState<Vec<T>>]>,
    /// By body.
    pub(in crate::plant) disabled: Param<Vec<bool>>,
}

/// Values of the state and the parameter in a context.
#[derive(Clone, Debug)]
pub(in crate::plant) struct DeformableStates<'a, T> {
    /// By body, as in [`DeformableEntries`].
    pub(in crate::plant) states: Vec<&'a [T]>,
    pub(in crate::plant) disabled: &'a [bool],
}

impl<'a, T: Scalar> DeformableStates<'a, T> {
    /// Returns the states of a plant without deformable bodies.
    pub(in crate::plant) fn none() -> Self {
        Self {
            states: vec![],
            disabled: &[],
        }
    }
    /// Returns true if a body is disabled.
    pub(in crate::plant) fn is_disabled(&self, body: DeformableBodyIndex) -> bool {
        self.disabled.get(body.index()).copied().unwrap_or(false)
    }
}

impl<T: Scalar> DeformableEntries<T> {
    /// Declares state and parameter; `None` without deformable bodies.
    pub(in crate::plant) fn declare(
        plant: &MultibodyPlant,
        d: &mut Declare<MultibodyPlant, T>,
    ) -> Option<Self> {
        if plant.deformables.is_empty() {
            return None;
        }
        let states = plant.deformables.iter().map(|body| {
            let x0: Vec<T> = body.default_state().into_iter().map(T::from).collect();
            d.discrete_state(&x0)
        });
        let states = states.collect();
        let disabled = d.param(vec![false; plant.deformables.len()]);
        Some(Self { states, disabled })
    }

    /// Returns what a step depends on.
    pub(in crate::plant) fn deps(&self) -> impl Iterator<Item = Dep> {
        let states = self.states.iter().map(|state| Dep::from(*state));
        states.chain([Dep::from(self.disabled)])
    }

    /// Reads all values.
    pub(in crate::plant) fn read<'a>(&self, ctx: &LeafContext<'a, T>) -> DeformableStates<'a, T> {
        DeformableStates {
            states: self.states.iter().map(|state| ctx.xd(*state)).collect(),
            disabled: ctx.param(self.disabled).as_slice(),
        }
    }

    /// Declares the output port.
    pub(in crate::plant) fn ports(
        self,
        plant: &MultibodyPlant,
        d: &mut Declare<MultibodyPlant, T>,
    ) -> DeformablePorts<T> {
        let states = self.states.clone();
        let ids: Vec<_> = plant.deformables.iter().map(|body| body.geometry).collect();
        let start = plant.deformables.iter().map(|body| {
            let zero = DVector::from_element(body.num_dofs(), T::zero());
            (body.geometry, zero)
        });
        let deps: Vec<Dep> = states.iter().map(|state| Dep::from(*state)).collect();
        let configuration = d.output(
            "deformable_body_configuration",
            start.collect::<GeometryConfigurationVector<T>>(),
            &deps,
            move |_, ctx, out: &mut GeometryConfigurationVector<T>| {
                for (id, state) in ids.iter().zip(&*states) {
                    if let Some(out) = out.value_mut(*id) {
                        let n = out.len();
                        out.as_mut_slice().copy_from_slice(&ctx.xd(*state)[..n]);
                    }
                }
                Ok(())
            },
        );
        DeformablePorts {
            configuration,
            entries: self,
        }
    }
}
