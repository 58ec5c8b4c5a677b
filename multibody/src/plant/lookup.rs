//! Access to the elements of a plant, by index and by name.

use super::multibody_plant::{MultibodyPlant, out_of_range};
use crate::error::{Error, Result};
use crate::model::{
    BodyIndex, FixedOffsetFrame, FrameIndex, Joint, JointActuator, JointActuatorIndex, JointIndex,
    ModelInstanceIndex, RigidBody,
};
use crate::names;
use std::collections::BTreeSet;

impl MultibodyPlant {
    /// Returns the time step (s), 0 for continuous time.
    pub fn time_step(&self) -> f64 {
        self.time_step
    }
    /// Returns the number of model instances, including the world's and the default one.
    pub fn num_model_instances(&self) -> usize {
        self.model_instances.len()
    }
    /// Returns the number of bodies, including the world.
    pub fn num_bodies(&self) -> usize {
        self.bodies.len()
    }
    /// Returns the number of frames, including one per body.
    pub fn num_frames(&self) -> usize {
        self.frames.len()
    }
    /// Returns the number of joints, including those that `finalize` added.
    pub fn num_joints(&self) -> usize {
        self.joints.len()
    }
    /// Returns all bodies, the world first.
    pub fn bodies(&self) -> impl ExactSizeIterator<Item = (BodyIndex, &RigidBody)> {
        let with_index = |(i, b)| (BodyIndex::new(i), b);
        self.bodies.iter().enumerate().map(with_index)
    }
    /// Returns all joints, in order of addition.
    pub fn joints(&self) -> impl ExactSizeIterator<Item = (JointIndex, &Joint)> {
        let with_index = |(i, j)| (JointIndex::new(i), j);
        self.joints.iter().enumerate().map(with_index)
    }
    /// Returns all frames, body frames and added ones, in order of addition.
    pub fn frames(&self) -> impl ExactSizeIterator<Item = (FrameIndex, &FixedOffsetFrame)> {
        let with_index = |(i, f)| (FrameIndex::new(i), f);
        self.frames.iter().enumerate().map(with_index)
    }
    /// Returns all actuators, in order of addition.
    pub fn actuators(&self) -> &[JointActuator] {
        &self.actuators
    }
    /// Returns the number of actuators.
    pub fn num_actuators(&self) -> usize {
        self.actuators.len()
    }
    /// Returns the names of all model instances, by index.
    pub fn model_instance_names(&self) -> &[String] {
        &self.model_instances
    }

    /// Returns the body with an index.
    ///
    /// # Errors
    /// Returns an error if the index is out of range, as one of another plant may be.
    pub fn body(&self, index: BodyIndex) -> Result<&RigidBody> {
        let body = self.bodies.get(index.index());
        body.ok_or_else(|| out_of_range("body", index.index()))
    }
    /// Returns the body with an index of this plant; panics if it is out of range.
    pub(crate) fn body_at(&self, index: BodyIndex) -> &RigidBody {
        &self.bodies[index.index()]
    }
    /// Returns the frame with an index of this plant; panics if it is out of range.
    pub(crate) fn frame_at(&self, index: FrameIndex) -> &FixedOffsetFrame {
        &self.frames[index.index()]
    }
    /// Returns the joint with an index of this plant; panics if it is out of range.
    pub(crate) fn joint_at(&self, index: JointIndex) -> &Joint {
        &self.joints[index.index()]
    }
    /// Returns true if a joint connects the two bodies.
    pub(crate) fn are_joined(&self, a: BodyIndex, b: BodyIndex) -> bool {
        self.taken.joined.contains(&(a.min(b), a.max(b)))
    }
    /// Returns the joint with an index.
    ///
    /// # Errors
    /// Returns an error if the index is out of range, as one of another plant may be.
    pub fn joint(&self, index: JointIndex) -> Result<&Joint> {
        let joint = self.joints.get(index.index());
        joint.ok_or_else(|| out_of_range("joint", index.index()))
    }
    /// Returns the actuator with an index.
    ///
    /// # Errors
    /// Returns an error if the index is out of range, as one of another plant may be.
    pub fn joint_actuator(&self, index: JointActuatorIndex) -> Result<&JointActuator> {
        let actuator = self.actuators.get(index.index());
        actuator.ok_or_else(|| out_of_range("actuator", index.index()))
    }
    /// Returns the frame with an index.
    ///
    /// # Errors
    /// Returns an error if the index is out of range, as one of another plant may be.
    pub fn frame(&self, index: FrameIndex) -> Result<&FixedOffsetFrame> {
        let frame = self.frames.get(index.index());
        frame.ok_or_else(|| out_of_range("frame", index.index()))
    }
    /// Returns the name of the model instance with an index.
    ///
    /// # Errors
    /// Returns an error if the index is out of range, as one of another plant may be.
    pub fn model_instance_name(&self, index: ModelInstanceIndex) -> Result<&str> {
        let name = self.model_instances.get(index.index());
        name.map(String::as_str)
            .ok_or_else(|| out_of_range("model instance", index.index()))
    }
    /// Returns the scoped name `model::body` of a body of this plant.
    pub(super) fn scoped_body_name(&self, index: BodyIndex) -> String {
        let body = &self.bodies[index.index()];
        self.scoped(body.model_instance, &body.name)
    }
    /// Returns the name of an element for messages: scoped if another model instance has an element
    /// of the same kind and name.
    pub(super) fn name_to_tell(
        &self,
        instance: ModelInstanceIndex,
        name: &str,
        taken: &BTreeSet<(ModelInstanceIndex, String)>,
    ) -> String {
        let is_other = |i: &ModelInstanceIndex| *i != instance;
        let mut others = (0..self.model_instances.len())
            .map(ModelInstanceIndex::new)
            .filter(is_other);
        match others.any(|other| taken.contains(&(other, name.into()))) {
            true => self.scoped(instance, name),
            false => name.into(),
        }
    }
    /// Returns the name of a joint for messages. The joint need not be added to the plant yet.
    pub(super) fn joint_name_to_tell(&self, joint: &Joint) -> String {
        let child = |body: &RigidBody| body.model_instance;
        let child = self.bodies.get(joint.child.index()).map(child);
        let instance = joint.model_instance.or(child);
        let instance = instance.unwrap_or(ModelInstanceIndex::DEFAULT);
        self.name_to_tell(instance, &joint.name, &self.taken.joints)
    }
    /// Creates an error that names the joint and then gives the reason.
    #[cold]
    pub(super) fn joint_error(&self, joint: JointIndex, why: &str) -> Error {
        let name = self.joint_name_to_tell(&self.joints[joint.index()]);
        Error::invalid(format!("joint '{name}': {why}"))
    }
    pub(super) fn scoped(&self, instance: ModelInstanceIndex, name: &str) -> String {
        format!("{}::{name}", self.model_instances[instance.index()])
    }

    /// Returns the body with a name, plain or scoped (`model::body`).
    ///
    /// # Errors
    /// Returns an error if there is none, or several in different model instances.
    pub fn body_by_name(&self, name: &str) -> Result<BodyIndex> {
        let all = self.bodies().map(|(i, b)| (i, b.model_instance, &*b.name));
        self.by_name("body", name, all)
    }
    /// Returns the joint with a name, plain or scoped (`model::joint`).
    ///
    /// # Errors
    /// Returns an error if there is none, or several in different model instances.
    pub fn joint_by_name(&self, name: &str) -> Result<JointIndex> {
        let all = self
            .joints()
            .map(|(i, j)| (i, j.model_instance(), &*j.name));
        self.by_name("joint", name, all)
    }
    /// Returns the frame with a name, plain or scoped (`model::frame`); every body has a frame with
    /// its name.
    ///
    /// # Errors
    /// Returns an error if there is none, or several in different model instances.
    pub fn frame_by_name(&self, name: &str) -> Result<FrameIndex> {
        let all = self
            .frames()
            .map(|(i, f)| (i, f.model_instance(), &*f.name));
        self.by_name("frame", name, all)
    }
    /// Returns the body with a name within a model instance.
    ///
    /// # Errors
    /// Returns an error if there is none.
    pub fn body_by_name_in(&self, name: &str, instance: ModelInstanceIndex) -> Result<BodyIndex> {
        let all = self.bodies().map(|(i, b)| (i, b.model_instance, &*b.name));
        self.by_name_in("body", name, instance, all)
    }
    /// Returns the joint with a name within a model instance.
    ///
    /// # Errors
    /// Returns an error if there is none.
    pub fn joint_by_name_in(&self, name: &str, instance: ModelInstanceIndex) -> Result<JointIndex> {
        let all = self
            .joints()
            .map(|(i, j)| (i, j.model_instance(), &*j.name));
        self.by_name_in("joint", name, instance, all)
    }
    /// Returns the frame with a name within a model instance.
    ///
    /// # Errors
    /// Returns an error if there is none.
    pub fn frame_by_name_in(&self, name: &str, instance: ModelInstanceIndex) -> Result<FrameIndex> {
        let all = self
            .frames()
            .map(|(i, f)| (i, f.model_instance(), &*f.name));
        self.by_name_in("frame", name, instance, all)
    }

    fn by_name_in<'a, I>(
        &self,
        kind: &str,
        name: &str,
        instance: ModelInstanceIndex,
        all: impl Iterator<Item = (I, ModelInstanceIndex, &'a str)>,
    ) -> Result<I> {
        let model = self.model_instance_name(instance)?;
        let mut known = vec![];
        for (index, _, n) in all.filter(|(_, m, _)| *m == instance) {
            if n == name {
                return Ok(index);
            }
            known.push(n);
        }
        let kind = format!("{kind} of model instance '{model}'");
        Err(names::unknown(&kind, name, known.into_iter()))
    }

    /// Returns the model instance with a name.
    ///
    /// # Errors
    /// Returns an error if there is none.
    pub fn model_instance_by_name(&self, name: &str) -> Result<ModelInstanceIndex> {
        let found = self.model_instances.iter().position(|m| m == name);
        found.map(ModelInstanceIndex::new).ok_or_else(|| {
            let known = self.model_instances.iter().map(String::as_str);
            names::unknown("model instance", name, known)
        })
    }

    pub(super) fn by_name<'a, I: Copy>(
        &'a self,
        kind: &str,
        name: &str,
        all: impl Iterator<Item = (I, ModelInstanceIndex, &'a str)>,
    ) -> Result<I> {
        let all: Vec<_> = all.collect();
        // Names may contain `::` themselves, so a scoped name cannot simply be split.
        let is_scoped = |model: &ModelInstanceIndex, plain: &str| {
            let rest = name.strip_prefix(self.model_instances[model.index()].as_str());
            rest.and_then(|r| r.strip_prefix("::")) == Some(plain)
        };
        let matches: Vec<(I, String)> = all
            .iter()
            .filter(|(_, m, n)| *n == name || is_scoped(m, n))
            .map(|(i, m, n)| (*i, self.scoped(*m, n)))
            .collect();
        let found = names::only_match(kind, name, &matches)?;
        found.ok_or_else(|| {
            let known: Vec<String> = match name.contains("::") {
                true => all.iter().map(|(_, m, n)| self.scoped(*m, n)).collect(),
                false => all.iter().map(|(_, _, n)| n.to_string()).collect(),
            };
            names::unknown(kind, name, known.iter().map(String::as_str))
        })
    }
}
