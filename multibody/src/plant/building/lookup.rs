//! Access to the elements of a plant, by index and by name.

use crate::error::{Error, Result};
use crate::model::{
    BodyIndex, FixedOffsetFrame, FrameIndex, Joint, JointActuator, JointActuatorIndex, JointIndex,
    ModelInstanceIndex, RigidBody,
};
use crate::plant::element_names::NameIndex;
use crate::plant::multibody_model::MultibodyModel;
use crate::plant::multibody_model::out_of_range;
use std::ops::Index;
use tarragon_documents::names;

/// Elements by their indices, as in lists: an index of another plant, which may be out of range,
/// panics. [`MultibodyModel::body`] and its siblings return errors instead.
macro_rules! indexed {
    ($($index:ty => $element:ty, $list:ident;)*) => {$(
        impl Index<$index> for MultibodyModel {
            type Output = $element;
            fn index(&self, index: $index) -> &$element {
                &self.$list[index.index()]
            }
        }
    )*};
}
indexed! {
    BodyIndex => RigidBody, bodies;
    FrameIndex => FixedOffsetFrame, frames;
    JointIndex => Joint, joints;
}

impl MultibodyModel {
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
    /// Returns the number of joints, including those that building the plant added.
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
    /// Returns true if the body is the child of a joint.
    pub fn is_child(&self, body: BodyIndex) -> bool {
        let count = self.num_joints_as_child.get(body.index());
        count.is_some_and(|count| *count > 0)
    }
    /// Returns true if a joint connects the two bodies.
    pub fn are_joined(&self, a: BodyIndex, b: BodyIndex) -> bool {
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
    pub fn scoped_body_name(&self, index: BodyIndex) -> String {
        let body = &self.bodies[index.index()];
        self.scoped(body.model_instance, &body.name)
    }
    /// Returns the name of an element for messages: scoped if another model instance has an element
    /// of the same kind and name.
    pub(super) fn name_to_tell(
        &self,
        instance: ModelInstanceIndex,
        name: &str,
        taken: &NameIndex<impl Copy>,
    ) -> String {
        if taken.of_name(name).any(|(other, _)| other != instance) {
            self.scoped(instance, name)
        } else {
            name.into()
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
    pub(in crate::plant) fn joint_error(&self, joint: JointIndex, why: &str) -> Error {
        let name = self.joint_name_to_tell(&self.joints[joint.index()]);
        Error::invalid(format!("joint '{name}': {why}"))
    }
    pub(in crate::plant) fn scoped(&self, instance: ModelInstanceIndex, name: &str) -> String {
        format!("{}::{name}", self.model_instances[instance.index()])
    }

    /// Returns the body with a name, plain or scoped (`model::body`).
    ///
    /// # Errors
    /// Returns an error if there is none, or several in different model instances.
    pub fn body_by_name(&self, name: &str) -> Result<BodyIndex> {
        let all = self.bodies().map(|(_, b)| (b.model_instance, &*b.name));
        self.indexed_by_name("body", name, &self.taken.bodies, all)
    }
    /// Returns the joint with a name, plain or scoped (`model::joint`).
    ///
    /// # Errors
    /// Returns an error if there is none, or several in different model instances.
    pub fn joint_by_name(&self, name: &str) -> Result<JointIndex> {
        let all = self.joints().map(|(_, j)| (j.model_instance(), &*j.name));
        self.indexed_by_name("joint", name, &self.taken.joints, all)
    }
    /// Returns the frame with a name, plain or scoped (`model::frame`); every body has a frame with
    /// its name.
    ///
    /// # Errors
    /// Returns an error if there is none, or several in different model instances.
    pub fn frame_by_name(&self, name: &str) -> Result<FrameIndex> {
        let all = self.frames().map(|(_, f)| (f.model_instance(), &*f.name));
        self.indexed_by_name("frame", name, &self.taken.frames, all)
    }
    /// Returns the actuator with a name, plain or scoped (`model::actuator`).
    ///
    /// # Errors
    /// Returns an error if there is none, or several in different model instances.
    pub fn joint_actuator_by_name(&self, name: &str) -> Result<JointActuatorIndex> {
        let all = self.actuators.iter().map(|a| (a.model_instance, &*a.name));
        self.indexed_by_name("actuator", name, &self.taken.actuators, all)
    }
    /// Returns the body with a name within a model instance.
    ///
    /// # Errors
    /// Returns an error if there is none.
    pub fn body_by_name_in(&self, name: &str, instance: ModelInstanceIndex) -> Result<BodyIndex> {
        let model = self.model_instance_name(instance)?;
        self.taken.bodies.get(instance, name).ok_or_else(|| {
            let own = self.bodies().filter(|(_, b)| b.model_instance == instance);
            let kind = format!("body of model instance '{model}'");
            names::unknown(&kind, name, own.map(|(_, b)| &*b.name))
        })
    }
    /// Returns the joint with a name within a model instance.
    ///
    /// # Errors
    /// Returns an error if there is none.
    pub fn joint_by_name_in(&self, name: &str, instance: ModelInstanceIndex) -> Result<JointIndex> {
        let model = self.model_instance_name(instance)?;
        self.taken.joints.get(instance, name).ok_or_else(|| {
            let own = self
                .joints()
                .filter(|(_, j)| j.model_instance() == instance);
            let kind = format!("joint of model instance '{model}'");
            names::unknown(&kind, name, own.map(|(_, j)| &*j.name))
        })
    }
    /// Returns the frame with a name within a model instance.
    ///
    /// # Errors
    /// Returns an error if there is none.
    pub fn frame_by_name_in(&self, name: &str, instance: ModelInstanceIndex) -> Result<FrameIndex> {
        let model = self.model_instance_name(instance)?;
        self.taken.frames.get(instance, name).ok_or_else(|| {
            let own = self
                .frames()
                .filter(|(_, f)| f.model_instance() == instance);
            let kind = format!("frame of model instance '{model}'");
            names::unknown(&kind, name, own.map(|(_, f)| &*f.name))
        })
    }

    /// The element of a name, plain or scoped; `all` are the names of such elements.
    fn indexed_by_name<'a, I: Copy + Ord>(
        &'a self,
        kind: &str,
        name: &str,
        index: &NameIndex<I>,
        all: impl Iterator<Item = (ModelInstanceIndex, &'a str)>,
    ) -> Result<I> {
        let plain = index.of_name(name).map(|(m, i)| (i, self.scoped(m, name)));
        let mut matches: Vec<(I, String)> = plain.collect();
        // Names may have `::` in them themselves.
        let pairs = name.as_bytes().windows(2).enumerate();
        for (at, _) in pairs.filter(|(_, pair)| *pair == b"::") {
            let (model, rest) = (&name[..at], &name[at + 2..]);
            let instance = self.taken.instances.get(model);
            let found = instance.and_then(|instance| index.get(instance, rest));
            matches.extend(found.map(|i| (i, name.to_string())));
        }
        matches.sort_by_key(|(i, _)| *i);
        names::only_match(kind, name, &matches)?
            .ok_or_else(|| self.unknown_element(kind, name, all))
    }

    #[cold]
    fn unknown_element<'a>(
        &'a self,
        kind: &str,
        name: &str,
        all: impl Iterator<Item = (ModelInstanceIndex, &'a str)>,
    ) -> Error {
        let known: Vec<String> = if name.contains("::") {
            all.map(|(m, n)| self.scoped(m, n)).collect()
        } else {
            all.map(|(_, n)| n.to_string()).collect()
        };
        names::unknown(kind, name, known.iter().map(String::as_str))
    }

    /// Returns the model instance with a name.
    ///
    /// # Errors
    /// Returns an error if there is none.
    pub fn model_instance_by_name(&self, name: &str) -> Result<ModelInstanceIndex> {
        self.taken.instances.get(name).ok_or_else(|| {
            let known = self.model_instances.iter().map(String::as_str);
            names::unknown("model instance", name, known)
        })
    }

    /// The element of a name, plain or scoped, among elements whose names need not be unique.
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
            let all = all.iter().map(|(_, m, n)| (*m, *n));
            self.unknown_element(kind, name, all)
        })
    }
}
