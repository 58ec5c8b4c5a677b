//! Rollback of a plant after a model has failed to load.

use crate::model::{BodyIndex, JointActuatorIndex};
use crate::plant::building::plant_builder::MultibodyPlantBuilder;
use nalgebra::Vector3;
use tarragon_geometry::FrameId;

/// A state of a builder of plants to which it can go back: the lengths of its lists, and its
/// gravity. A reader of models takes back what it has added before it failed.
///
/// ```
/// use tarragon_multibody::*;
/// let mut plant = MultibodyPlantBuilder::new(0.001)?;
/// let mark = PlantMark::new(&plant);
/// plant.add_rigid_body("a", ModelInstanceIndex::DEFAULT, SpatialInertia::zero())?;
/// mark.take_back(&mut plant, |_| true);
/// assert_eq!(plant.num_bodies(), 1); // the world
/// # Ok::<(), Error>(())
/// ```
pub struct PlantMark {
    model_instances: usize,
    bodies: usize,
    frames: usize,
    joints: usize,
    actuators: usize,
    constraints: usize,
    equalities: usize,
    force_elements: usize,
    keyframes: usize,
    keyframe_losses: usize,
    cameras: usize,
    sites: usize,
    sensors: usize,
    filter_groups: usize,
    excluded: usize,
    collision_masks: usize,
    contact_pairs: usize,
    deformables: usize,
    gravity: Vector3<f64>,
    num_joined: usize,
    is_source: bool,
    num_complete: usize,
    /// For collisions and for visuals: the number of bodies with a list, and the length of the
    /// world's list.
    geometries: [(usize, usize); 2],
}

impl PlantMark {
    /// Remembers the present state of a plant.
    pub fn new(plant: &MultibodyPlantBuilder) -> Self {
        let registration = plant.registration.as_ref();
        Self {
            model_instances: plant.model_instances.len(),
            bodies: plant.bodies.len(),
            frames: plant.frames.len(),
            joints: plant.joints.len(),
            actuators: plant.actuators.len(),
            constraints: plant.constraints.len(),
            equalities: plant.equalities.len(),
            force_elements: plant.force_elements.len(),
            keyframes: plant.keyframes.len(),
            keyframe_losses: plant.keyframe_losses.len(),
            cameras: plant.cameras.len(),
            sites: plant.sites.len(),
            sensors: plant.sensors.len(),
            gravity: plant.gravity,
            filter_groups: plant.filter_groups.len(),
            excluded: plant.excluded.len(),
            collision_masks: plant.collision_masks.len(),
            contact_pairs: plant.contact_pairs.len(),
            deformables: plant.deformables.len(),
            num_joined: plant.connected.num_unions(),
            is_source: registration.is_some(),
            num_complete: registration.map_or(0, |r| r.num_complete),
            geometries: registration.map_or([(0, 0); 2], |r| {
                [&r.collisions, &r.visuals].map(|l| (l.len(), l.first().map_or(0, Vec::len)))
            }),
        }
    }

    /// Removes everything that was added to the plant since the mark; what was changed stays.
    /// `has_frame` says whether a frame is (still) in the scene.
    pub fn take_back(self, plant: &mut MultibodyPlantBuilder, has_frame: impl Fn(FrameId) -> bool) {
        let taken = &mut plant.model.taken;
        for body in plant.model.bodies.drain(self.bodies..) {
            taken.bodies.remove(body.model_instance, &body.name);
        }
        for frame in plant.model.frames.drain(self.frames..) {
            taken.frames.remove(frame.model_instance(), &frame.name);
        }
        for joint in plant.model.joints.drain(self.joints..) {
            let pair = (joint.parent.min(joint.child), joint.parent.max(joint.child));
            taken.joined.remove(&pair);
            taken.joints.remove(joint.model_instance(), &joint.name);
            plant.model.num_joints_as_child[joint.child.index()] -= 1;
        }
        plant.connected.truncate(self.bodies, self.num_joined);
        for (i, actuator) in plant.model.actuators.drain(self.actuators..).enumerate() {
            let index = JointActuatorIndex::new(self.actuators + i);
            if let Some(joint) = actuator.joint() {
                taken.driven.remove(&(joint, index));
            }
            taken
                .actuators
                .remove(actuator.model_instance, &actuator.name);
        }
        for name in plant.model.model_instances.drain(self.model_instances..) {
            taken.instances.remove(&name);
        }
        plant.model.num_joints_as_child.truncate(self.bodies);
        plant.model.default_free_poses.truncate(self.bodies);
        plant.model.constraints.truncate(self.constraints);
        let constraints = self.constraints;
        plant
            .model
            .inactive_constraints
            .retain(|i| *i < constraints);
        drop(plant.model.solver_parameters.split_off(&constraints));
        plant.model.equalities.truncate(self.equalities);
        plant.model.force_elements.truncate(self.force_elements);
        plant.model.keyframes.truncate(self.keyframes);
        plant.model.keyframe_losses.truncate(self.keyframe_losses);
        plant.model.cameras.truncate(self.cameras);
        plant.model.sites.truncate(self.sites);
        plant.model.sensors.truncate(self.sensors);
        plant.model.filter_groups.truncate(self.filter_groups);
        plant.model.excluded.truncate(self.excluded);
        let first = BodyIndex::new(self.bodies);
        drop(plant.model.mjcf_parents.split_off(&first));
        plant.model.collision_masks.truncate(self.collision_masks);
        plant.model.contact_pairs.truncate(self.contact_pairs);
        plant.model.deformables.truncate(self.deformables);
        plant.model.gravity = self.gravity;
        let instances = self.model_instances;
        plant
            .model
            .weightless
            .retain(|instance| instance.index() < instances);
        if !self.is_source {
            plant.model.registration = None;
        }
        if let Some(registration) = &mut plant.model.registration {
            registration.frames.truncate(self.bodies);
            registration.num_complete = self.num_complete;
            let start = self.num_complete.min(registration.frames.len());
            for frame in &mut registration.frames[start..] {
                // Bodies older than the mark may have got their frame while the model was loaded.
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
