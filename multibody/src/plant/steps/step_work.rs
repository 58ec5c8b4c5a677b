//! Work space of discrete steps.

use super::dynamics_result::DynamicsResult;
use super::step_sites::StepSites;
use crate::discrete::{AwakeThreads, ControllerParameters, MANY_CONTACTS, StepStorage, are_many};
use crate::discrete::{StepSettings, StepStart};
use crate::dynamics::MultibodyForces;
use crate::plant::contact::scene_contacts::SceneContacts;
use crate::plant::deformable::DeformableWork;
use crate::plant::inputs::StepInputs;
use crate::plant::multibody_plant::MultibodyPlant;
use crate::plant::sleep_state::Sleepers;
use crate::plant::values::contact_materials::ContactMaterials;
use std::sync::Arc;
use tarragon_framework::Scalar;

/// Work space of dynamics, kept from one computation to the next.
#[derive(Clone, Debug)]
pub(in crate::plant) struct DynamicsWork<T: Scalar> {
    pub(in crate::plant) materials: ContactMaterials,
    pub(super) step: StepStorage<T>,
    pub(super) contacts: SceneContacts<T>,
    pub(super) sites: StepSites<T>,
    pub(super) forces: MultibodyForces<T>,
    pub(super) deformable: DeformableWork,
    /// Laws of the controllers that the step solves for, by actuator.
    pub(super) laws: Vec<Option<ControllerParameters<T>>>,
    /// By velocity.
    pub(super) locked: Vec<bool>,
    /// An older result, whose place is free as soon as nothing else refers to it.
    retired: Option<Arc<DynamicsResult<T>>>,
}

impl<T: Scalar> DynamicsWork<T> {
    pub(in crate::plant) fn new() -> Self {
        Self {
            materials: ContactMaterials::default(),
            step: StepStorage::new(),
            contacts: SceneContacts::empty(),
            sites: StepSites::empty(),
            forces: MultibodyForces::zero(0, 0),
            deformable: DeformableWork::default(),
            laws: vec![],
            locked: vec![],
            retired: None,
        }
    }

    /// Returns true if the last step was large enough for several threads.
    pub(super) fn is_large(&self) -> bool {
        are_many(self.contacts.sites.real.len())
    }

    /// Wakes the other threads of the pool that a step as large as the last needs; none if the
    /// present thread is not one of the pool.
    pub(super) fn wake_threads(&self) -> Option<AwakeThreads> {
        let num_contacts = self.contacts.sites.real.len();
        let own = rayon::current_thread_index().filter(|_| self.is_large())?;
        Some(AwakeThreads::new(own, num_contacts / MANY_CONTACTS))
    }

    /// Returns a result to be overwritten.
    pub(super) fn spare_result(&mut self) -> Arc<DynamicsResult<T>> {
        let retired = self.retired.take();
        let unique = retired.filter(|result| Arc::strong_count(result) == 1);
        unique.unwrap_or_else(|| Arc::new(DynamicsResult::empty()))
    }

    /// Keeps the place of a result that is no longer the present one.
    pub(super) fn retire(&mut self, result: Arc<DynamicsResult<T>>) {
        self.retired = Some(result);
    }
}

impl MultibodyPlant {
    /// Returns the settings of the discrete step.
    fn step_settings(&self) -> StepSettings {
        StepSettings {
            dt: self.time_step,
            approximation: self.contact.approximation,
            stiction_tolerance: self.contact.stiction_tolerance,
            near_rigid: self.contact.sap_near_rigid_threshold,
            near_rigid_hunt_crossley: self.contact.near_rigid_threshold,
            max_recovery_speed: self.contact.max_recovery_speed,
        }
    }

    /// Returns the start of a step with forces, which velocities are locked, and what sleeps.
    pub(super) fn step_start<'a, T: Scalar>(
        &'a self,
        step: &StepInputs<'a, T>,
        forces: &'a MultibodyForces<T>,
        locked: &'a [bool],
        sleepers: &'a Sleepers,
    ) -> StepStart<'a, T> {
        StepStart {
            tree: &self.topology.tree,
            trees: &self.trees,
            inertias: &step.parameters.inertias,
            positions: step.positions,
            velocities: step.velocities,
            forces,
            damping: &step.parameters.damping,
            locked,
            asleep: sleepers.asleep(),
            settings: self.step_settings(),
        }
    }
}
