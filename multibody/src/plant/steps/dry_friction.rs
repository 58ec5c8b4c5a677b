//! Dry friction of joints.

use super::step_sites::StepSites;
use crate::discrete::StepStart;
use crate::plant::multibody_model::MultibodyModel;
use crate::plant::multibody_plant::MultibodyPlant;
use crate::tree::Topology;
use tarragon_framework::Scalar;

impl MultibodyModel {
    /// Returns the velocities with dry friction and its largest force (N m or N).
    pub(in crate::plant) fn dry_friction_of_joints(
        &self,
        topology: &Topology,
    ) -> Vec<(usize, f64)> {
        let joints = self.joints.iter().zip(&topology.starts);
        let rough = joints.filter(|(joint, _)| joint.dry_friction > 0.0);
        let velocities = rough.flat_map(|(joint, (_, v))| {
            let own = *v..*v + joint.num_velocities();
            own.map(|velocity| (velocity, joint.dry_friction))
        });
        velocities.collect()
    }
}

impl MultibodyPlant {
    /// Adds the dry friction of joints that are neither locked nor asleep.
    pub(super) fn add_dry_friction<T: Scalar>(
        &self,
        sites: &mut StepSites<T>,
        start: &StepStart<'_, T>,
    ) {
        for (v, force) in self.dry_friction.iter().copied() {
            if !start.locked[v] && !start.is_asleep(start.trees.of_velocity(v)) {
                sites.push_friction(v, force);
            }
        }
    }
}
