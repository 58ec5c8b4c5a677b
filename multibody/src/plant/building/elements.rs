//! Adding model instances, bodies, frames and joints to a plant.

use crate::error::{Error, Result};
use crate::model::checks::check_pose;
use crate::model::{
    BodyIndex, FixedOffsetFrame, FrameIndex, Joint, JointAttachment, JointIndex, JointKind,
    ModelInstanceIndex, RigidBody,
};
use crate::plant::building::plant_builder::MultibodyPlantBuilder;
use crate::spatial::SpatialInertia;
use nalgebra::Isometry3;

impl MultibodyPlantBuilder {
    /// Adds an empty model instance.
    ///
    /// # Errors
    /// Returns an error if the name is empty or taken.
    pub fn add_model_instance(&mut self, name: &str) -> Result<ModelInstanceIndex> {
        if name.is_empty() {
            return Err(Error::invalid(
                "the name of a model instance must not be empty",
            ));
        }
        if self.model.taken.instances.get(name).is_some() {
            return Err(Error::exists(format!(
                "model instance '{name}' exists already; names of model instances must be unique"
            )));
        }
        let index = ModelInstanceIndex::new(self.model.model_instances.len());
        self.model.model_instances.push(name.into());
        self.model.taken.instances.insert(name, index);
        Ok(index)
    }

    /// Returns `base`, or the first free name of `base_1`, `base_2`, ... if `base` is taken.
    pub fn free_instance_name(&mut self, base: String) -> String {
        self.model.taken.instances.free_name(base)
    }

    /// Adds a body with its mass properties about its origin.
    ///
    /// # Errors
    /// Returns an error if the name is empty or taken within the instance, or the instance is
    /// unknown or the world's.
    pub fn add_rigid_body(
        &mut self,
        name: &str,
        instance: ModelInstanceIndex,
        inertia: SpatialInertia,
    ) -> Result<BodyIndex> {
        self.check_instance(instance)?;
        if instance == ModelInstanceIndex::WORLD {
            return Err(Error::invalid(format!(
                "body '{name}' cannot be added to the world's model instance; choose another one"
            )));
        }
        self.check_new("body", instance, name, &self.model.taken.bodies)?;
        self.check_new("frame", instance, name, &self.model.taken.frames)?;
        Ok(self.push_body(name, instance, inertia))
    }

    /// Makes room for bodies and joints that are about to be added.
    pub fn reserve(&mut self, bodies: usize, joints: usize) {
        self.model.bodies.reserve(bodies);
        self.model.default_free_poses.reserve(bodies);
        self.model.num_joints_as_child.reserve(bodies);
        self.model.frames.reserve(bodies + joints);
        self.model.joints.reserve(joints);
    }

    /// Multiplies the masses and inertias of bodies, by their indices, by a positive factor.
    ///
    /// # Panics
    /// Panics if there are fewer bodies.
    pub fn scale_masses(&mut self, bodies: std::ops::Range<usize>, factor: f64) {
        for body in &mut self.model.bodies[bodies] {
            body.inertia = body.inertia.scaled(factor);
        }
    }

    pub(in crate::plant) fn push_body(
        &mut self,
        name: &str,
        instance: ModelInstanceIndex,
        inertia: SpatialInertia,
    ) -> BodyIndex {
        let body = BodyIndex::new(self.model.bodies.len());
        let frame = FixedOffsetFrame::new(name, body, Isometry3::identity());
        let frame = self.insert_frame(frame.with_model_instance(instance), instance);
        self.model.bodies.push(RigidBody {
            name: name.into(),
            model_instance: instance,
            frame,
            inertia,
            gravity_compensation: 0.0,
        });
        self.model.default_free_poses.push(None);
        self.model.num_joints_as_child.push(0);
        self.connected.push();
        self.model.taken.bodies.insert(instance, name, body);
        body
    }

    /// Adds a frame that is fixed to a body.
    ///
    /// # Errors
    /// Returns an error if the body or the instance is unknown, the name is empty or taken within
    /// the instance, or the pose is not finite.
    pub fn add_frame(&mut self, mut frame: FixedOffsetFrame) -> Result<FrameIndex> {
        let body_instance = self.body(frame.body)?.model_instance;
        let instance = *frame.model_instance.get_or_insert(body_instance);
        self.check_instance(instance)?;
        self.check_new("frame", instance, &frame.name, &self.model.taken.frames)?;
        check_pose(|| format!("frame '{}': X_BF", frame.name), &frame.x_bf)?;
        Ok(self.insert_frame(frame, instance))
    }

    /// Adds a joint. The bodies may be connected to others already, as long as the new joint closes
    /// no loop. If the child turns out to be nearer to the world than the parent,
    /// [`Self::build`] reverses the joint internally; the meaning of its positions stays the
    /// same.
    ///
    /// # Errors
    /// Returns an error if a body or a frame is unknown, a frame is not fixed to its body, parent
    /// and child are the same or have a joint between them already, a pose is not finite, the joint
    /// closes a loop, or the name of the joint or of a frame that it adds is empty or taken within
    /// the instance.
    pub fn add_joint(&mut self, mut joint: Joint) -> Result<JointIndex> {
        self.body(joint.parent)?;
        let child_instance = self.body(joint.child)?.model_instance;
        if joint.child == joint.parent {
            return Err(Error::invalid(format!(
                "joint '{}' connects body '{}' to itself; choose another parent or child",
                self.joint_name_to_tell(&joint),
                self.scoped_body_name(joint.child)
            )));
        }
        let instance = *joint.model_instance.get_or_insert(child_instance);
        self.check_instance(instance)?;
        self.check_new("joint", instance, &joint.name, &self.model.taken.joints)?;
        let pair = (joint.parent.min(joint.child), joint.parent.max(joint.child));
        if self.model.taken.joined.contains(&pair) {
            let joins = |j: &&Joint| (j.parent.min(j.child), j.parent.max(j.child)) == pair;
            let name = self.joint_name_to_tell(&joint);
            let other = self
                .model
                .joints
                .iter()
                .find(joins)
                .map_or(String::new(), |j| {
                    if j.name == joint.name {
                        self.scoped(j.model_instance(), &j.name)
                    } else {
                        self.joint_name_to_tell(j)
                    }
                });
            return Err(Error::exists(format!(
                "joint '{name}' cannot connect bodies '{}' and '{}': joint '{other}' connects them \
                 already; remove one of the two joints",
                self.scoped_body_name(joint.parent),
                self.scoped_body_name(joint.child)
            )));
        }
        let mut new_frames = [String::new(), String::new()];
        let sides = [
            (joint.on_parent, joint.parent, "parent"),
            (joint.on_child, joint.child, "child"),
        ];
        for ((at, body, suffix), new_frame) in sides.into_iter().zip(&mut new_frames) {
            match at {
                JointAttachment::Body => {}
                JointAttachment::Offset(x) => {
                    let name = self.joint_name_to_tell(&joint);
                    let what = || format!("joint '{name}': the pose of its frame on the {suffix}");
                    check_pose(what, &x)?;
                    *new_frame = format!("{}_{suffix}", joint.name);
                    self.check_new("frame", instance, new_frame, &self.model.taken.frames)?;
                }
                JointAttachment::Frame(frame) => {
                    let on = self.frame(frame)?.body;
                    if on != body {
                        return Err(Error::invalid(format!(
                            "joint '{}': frame '{}' is on body '{}'; choose a frame on the {suffix} '{}'",
                            self.joint_name_to_tell(&joint),
                            self.model.frames[frame.index()].name,
                            self.scoped_body_name(on),
                            self.scoped_body_name(body)
                        )));
                    }
                }
            }
        }
        if let JointKind::Weld { x_fm } = &joint.kind {
            let what = || format!("joint '{}': X_FM", self.joint_name_to_tell(&joint));
            check_pose(what, x_fm)?;
        }
        let (parent, child) = (joint.parent.index(), joint.child.index());
        if !self.connected.unite(parent, child) {
            return Err(self.loop_error(&joint));
        }
        let [on_parent, on_child] = new_frames;
        (joint.on_parent, joint.x_pf) =
            self.attach(joint.on_parent, joint.parent, instance, on_parent);
        (joint.on_child, joint.x_bm) = self.attach(joint.on_child, joint.child, instance, on_child);
        Ok(self.push_joint(joint))
    }

    /// Returns the plant's frame for one side of a joint, added with the given name if need be, and
    /// its pose in the body.
    fn attach(
        &mut self,
        at: JointAttachment,
        body: BodyIndex,
        instance: ModelInstanceIndex,
        name: String,
    ) -> (JointAttachment, Isometry3<f64>) {
        let (frame, x) = match at {
            JointAttachment::Body => (self.model.bodies[body.index()].frame, Isometry3::identity()),
            JointAttachment::Frame(frame) => (frame, self.model.frames[frame.index()].x_bf),
            JointAttachment::Offset(x) => (self.push_frame(name, body, x, instance), x),
        };
        (JointAttachment::Frame(frame), x)
    }

    /// Adds a frame whose name is known to be free.
    pub(super) fn push_frame(
        &mut self,
        name: String,
        body: BodyIndex,
        x_bf: Isometry3<f64>,
        instance: ModelInstanceIndex,
    ) -> FrameIndex {
        let frame = FixedOffsetFrame::new(name, body, x_bf).with_model_instance(instance);
        self.insert_frame(frame, instance)
    }

    /// Adds a frame of a model instance whose name is known to be free.
    fn insert_frame(
        &mut self,
        frame: FixedOffsetFrame,
        instance: ModelInstanceIndex,
    ) -> FrameIndex {
        let index = FrameIndex::new(self.model.frames.len());
        self.model.taken.frames.insert(instance, &frame.name, index);
        self.model.frames.push(frame);
        index
    }

    pub(super) fn push_joint(&mut self, joint: Joint) -> JointIndex {
        let index = JointIndex::new(self.model.joints.len());
        let instance = joint.model_instance();
        self.model.taken.joints.insert(instance, &joint.name, index);
        self.model.num_joints_as_child[joint.child.index()] += 1;
        let pair = (joint.parent.min(joint.child), joint.parent.max(joint.child));
        self.model.taken.joined.insert(pair);
        self.model.joints.push(joint);
        index
    }

    /// Welds frame C of a child body to frame P of a parent body with the pose `X_PC` between them.
    /// The joint is named `{P}_welds_to_{C}`.
    ///
    /// # Errors
    /// Returns an error if a frame is unknown, and the errors of [`Self::add_joint`].
    pub fn weld_frames(
        &mut self,
        frame_on_parent: FrameIndex,
        frame_on_child: FrameIndex,
        x_pc: Isometry3<f64>,
    ) -> Result<JointIndex> {
        let (p, c) = (self.frame(frame_on_parent)?, self.frame(frame_on_child)?);
        let name = format!("{}_welds_to_{}", p.name, c.name);
        let joint = Joint::weld(name, p.body, c.body, x_pc)
            .with_frame_on_parent(frame_on_parent)
            .with_frame_on_child(frame_on_child)
            .with_model_instance(c.model_instance());
        self.add_joint(joint)
    }

    /// Welds the bodies that no joint attaches to another body to the world, at `X_WB`, and returns
    /// them. Without this, such bodies are free. Loading one model at a time, it
    /// places each model.
    ///
    /// ```
    /// use nalgebra::Isometry3;
    /// use tarragon_multibody::*;
    /// let mut plant = MultibodyPlantBuilder::new(0.001)?;
    /// let inertia = SpatialInertia::zero();
    /// let base = plant.add_rigid_body("base", ModelInstanceIndex::DEFAULT, inertia)?;
    /// let lift = Isometry3::translation(0.0, 0.0, 1.0);
    /// assert_eq!(plant.weld_unattached_bodies(lift)?, [base]);
    /// assert_eq!(plant.weld_unattached_bodies(lift)?, []); // it is attached now
    /// assert!(plant.joint_by_name("world_welds_to_base").is_ok());
    /// # Ok::<(), tarragon_multibody::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the name of a new joint is taken.
    pub fn weld_unattached_bodies(&mut self, x_wb: Isometry3<f64>) -> Result<Vec<BodyIndex>> {
        let bodies =
            (1..self.model.bodies.len()).filter(|b| self.model.num_joints_as_child[*b] == 0);
        let unattached: Vec<BodyIndex> = bodies.map(BodyIndex::new).collect();
        let weld = |body: &BodyIndex| {
            let RigidBody {
                name,
                model_instance,
                ..
            } = &self.model.bodies[body.index()];
            let name = format!("world_welds_to_{name}");
            let weld = Joint::weld(name, BodyIndex::WORLD, *body, x_wb);
            weld.with_model_instance(*model_instance)
        };
        // All joints are made first, so that a taken name changes nothing.
        let joints: Vec<Joint> = unattached.iter().map(weld).collect();
        for joint in &joints {
            self.check_new(
                "joint",
                joint.model_instance(),
                joint.name(),
                &self.model.taken.joints,
            )?;
        }
        for joint in joints {
            self.add_joint(joint)?;
        }
        Ok(unattached)
    }
}
