//! Taking back what a model that could not be loaded has left in a plant.

use crate::index::ModelInstanceIndex;
use crate::plant::MultibodyPlant;
use std::collections::BTreeSet;
use tarragon_geometry::FrameId;

/// How far the lists of a plant went.
pub(super) struct PlantMark {
    model_instances: usize,
    bodies: usize,
    frames: usize,
    joints: usize,
    actuators: usize,
    couplers: usize,
    filter_groups: usize,
    is_source: bool,
    /// Of collisions and visuals: bodies that had a list, and the length of the world's.
    geometries: [(usize, usize); 2],
}

impl PlantMark {
    pub(super) fn new(plant: &MultibodyPlant) -> Self {
        let registration = plant.registration.as_ref();
        Self {
            model_instances: plant.model_instances.len(),
            bodies: plant.bodies.len(),
            frames: plant.frames.len(),
            joints: plant.joints.len(),
            actuators: plant.actuators.len(),
            couplers: plant.couplers.len(),
            filter_groups: plant.filter_groups.len(),
            is_source: registration.is_some(),
            geometries: registration.map_or([(0, 0); 2], |r| {
                [&r.collisions, &r.visuals].map(|l| (l.len(), l.first().map_or(0, Vec::len)))
            }),
        }
    }

    /// Removes what was added since; it must be of new model instances, except for geometry on the
    /// world. `has_frame` tells if a frame is (still) in the scene.
    pub(super) fn take_back(self, plant: &mut MultibodyPlant, has_frame: impl Fn(FrameId) -> bool) {
        plant.model_instances.truncate(self.model_instances);
        plant.bodies.truncate(self.bodies);
        plant.inboard.truncate(self.bodies);
        plant.default_free_poses.truncate(self.bodies);
        plant.frames.truncate(self.frames);
        plant.joints.truncate(self.joints);
        plant.actuators.truncate(self.actuators);
        plant.couplers.truncate(self.couplers);
        plant.filter_groups.truncate(self.filter_groups);
        let taken = &mut plant.taken;
        let first = (ModelInstanceIndex::new(self.model_instances), String::new());
        let forget = |names: &mut BTreeSet<_>| drop(names.split_off(&first));
        forget(&mut taken.bodies);
        forget(&mut taken.frames);
        forget(&mut taken.joints);
        forget(&mut taken.actuators);
        if !self.is_source {
            plant.registration = None;
        }
        if let Some(registration) = &mut plant.registration {
            registration.frames.truncate(self.bodies);
            for frame in &mut registration.frames {
                // Older bodies may have got their frame with the model.
                *frame = frame.filter(|f| has_frame(*f));
            }
            let lists = [&mut registration.collisions, &mut registration.visuals];
            for (list, (bodies, on_world)) in lists.into_iter().zip(self.geometries) {
                list.truncate(bodies);
                if let Some(world) = list.first_mut() {
                    world.truncate(on_world);
                }
            }
        }
    }
}
