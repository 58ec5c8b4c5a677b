//! Result of the dynamics of a plant: of a step, or of a moment.

use super::deformable::DeformableEnd;
use super::ended_contacts::EndedContacts;
use super::model_parameters::ModelParameters;
use super::sleep_state::SleepState;
use crate::spatial::SpatialVector;
use std::sync::Arc;
use tarragon_framework::Scalar;

/// Accelerations and forces at some state: those of a discrete step that starts there, or those at
/// a moment of continuous time.
#[derive(Clone, Debug)]
pub(super) struct DynamicsResult<T: Scalar> {
    /// The state `[q; v]`; empty before the first step.
    pub(super) x: Vec<T>,
    /// Time derivatives of the velocities.
    pub(super) vdot: Vec<T>,
    /// The state at the end of the step; empty in continuous time.
    pub(super) next: Vec<T>,
    /// By actuator.
    pub(super) net_actuation: Vec<T>,
    /// All spatial forces on the bodies, and those of contact among them, about the origins of the
    /// bodies and expressed in W.
    pub(super) spatial: Vec<SpatialVector<T>>,
    pub(super) contact_forces: Vec<SpatialVector<T>>,
    pub(super) contacts: EndedContacts<T>,
    /// The parameters that all of this was computed with.
    pub(super) parameters: Arc<ModelParameters<T>>,
    pub(super) sleep: SleepState,
    pub(super) deformable: DeformableEnd<T>,
}

impl<T: Scalar> DynamicsResult<T> {
    pub(super) fn empty() -> Self {
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
