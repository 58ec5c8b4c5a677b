//! Accelerations of a plant in continuous time.

use super::dynamics_result::DynamicsResult;
use super::forward_dynamics::add_damping;
use crate::dynamics::MultibodyForces;
use crate::error::Result;
use crate::plant::contact::ended_contacts::EndedContacts;
use crate::plant::contact::hydroelastic;
use crate::plant::contact::scene_contacts::SceneContacts;
use crate::plant::deformable::DeformableEnd;
use crate::plant::inputs::StepInputs;
use crate::plant::multibody_plant::MultibodyPlant;
use crate::plant::sleep_state::{SleepState, Sleepers};
use crate::plant::values::contact_materials::ContactMaterials;
use crate::spatial::SpatialVector;
use nalgebra::Vector3;
use tarragon_framework::Scalar;

impl MultibodyPlant {
    /// Computes the accelerations at a state, with all forces.
    pub(super) fn calc_continuous<T: Scalar>(
        &self,
        materials: &mut ContactMaterials,
        step: &StepInputs<'_, T>,
    ) -> Result<DynamicsResult<T>> {
        let StepInputs {
            positions,
            velocities,
            inputs,
            parameters,
            ..
        } = *step;
        let (mut forces, mut net_actuation) = (MultibodyForces::zero(0, 0), vec![]);
        self.explicit_forces(step, |_| false, &mut forces, &mut net_actuation);
        let mut contact_forces = MultibodyForces::zero(self.bodies.len(), 0);
        let mut ended = EndedContacts::empty();
        if let Some(query) = inputs.query {
            let (mut contacts, awake) = (SceneContacts::empty(), Sleepers::default());
            self.update_scene_contacts(&mut contacts, materials, query, parameters, &awake)?;
            let tolerance = self.contact.stiction_tolerance;
            for k in 0..contacts.contacts.len() {
                let x_wb = positions.body_poses();
                let contact = contacts.continuous(k, x_wb, velocities, tolerance);
                let on_b = SpatialVector {
                    rotational: Vector3::zeros(),
                    translational: contact.contact_force,
                };
                for (body, force) in [(contact.body_a, -on_b), (contact.body_b, on_b)] {
                    let arm = contact.contact_point - positions.x_wb(body).translation.vector;
                    contact_forces.add_at(body, &arm, force);
                }
                ended.known.push(contact);
            }
            for of in &contacts.surfaces {
                let x_wb = positions.body_poses();
                let contact = hydroelastic::continuous(of, x_wb, velocities, tolerance);
                let centroid = contact.contact_surface.centroid();
                let on_a = contact.f_ac_w;
                for (body, force) in [(contact.body_a, on_a), (contact.body_b, -on_a)] {
                    let arm = centroid - positions.x_wb(body).translation.vector;
                    contact_forces.add_at(body, &arm, force);
                }
                ended.known_surfaces.push(contact);
            }
        }
        for (sum, f) in forces.spatial.iter_mut().zip(&contact_forces.spatial) {
            *sum += *f;
        }
        add_damping(&parameters.damping, velocities, &mut forces);
        let vdot = self.forward_dynamics(&parameters.inertias, positions, velocities, &forces)?;
        Ok(DynamicsResult {
            x: [&*positions.q, &velocities.v].concat(),
            vdot,
            next: vec![],
            net_actuation,
            spatial: forces.spatial,
            contact_forces: contact_forces.spatial,
            contacts: ended,
            parameters: parameters.clone(),
            sleep: SleepState::default(),
            deformable: DeformableEnd::empty(),
        })
    }
}
