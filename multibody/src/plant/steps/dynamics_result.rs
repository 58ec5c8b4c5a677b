//! Result of the dynamics of a plant: of a step, or of a moment.

use crate::plant::contact::ended_contacts::EndedContacts;
use crate::plant::deformable::DeformableEnd;
use crate::plant::sleep_state::SleepState;
use crate::plant::values::model_parameters::ModelParameters;
use crate::spatial::SpatialVector;
use std::sync::Arc;
use tarragon_framework::Scalar;

/// Accelerations and forces at some state: those of a discrete step that starts there, or those at
/// a moment of continuous time.
#[derive(Clone, Debug)]
pub(in crate::plant) struct DynamicsResult<T: Scalar> {
    /// The state `[q; v]`; empty before the first step.
    pub(in crate::plant) x: Vec<T>,
    /// Time derivatives of the velocities.
    pub(in crate::plant) vdot: Vec<T>,
    /// The state at the end of the step; empty in continuous time.
    pub(in crate::plant) next: Vec<T>,
    /// By actuator.
    pub(super) net_actuation: Vec<T>,
    /// All spatial forces on the bodies, and those of contact among them, about the origins of the
    /// bodies and expressed in W.
    pub(in crate::plant) spatial: Vec<SpatialVector<T>>,
    pub(in crate::plant) contact_forces: Vec<SpatialVector<T>>,
    pub(in crate::plant) contacts: EndedContacts<T>,
    /// The parameters that all of this was computed with.
    pub(in crate::plant) parameters: Arc<ModelParameters<T>>,
    pub(in crate::plant) sleep: SleepState,
    pub(in crate::plant) deformable: DeformableEnd<T>,
}

impl<T: Scalar> DynamicsResult<T> {
    pub(in crate::plant) fn empty() -> Self {
        Self {
            x: vec![],
            vdot: vec![],
            next: vec![],
            net_actuation: vec![],
            spatial: vec![],
            contact_forces: vec![],
            contacts: EndedContacts::empty(),
            parameters: Arc::new(ModelParameters::empty()),
            sleep: SleepState::default(),
            deformable: DeformableEnd::empty(),
        }
    }
}
