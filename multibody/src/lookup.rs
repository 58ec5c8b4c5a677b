//! Reading a plant: by index, by name, and its defaults and limits.

use crate::body::{FixedOffsetFrame, RigidBody};
use crate::error::{Error, Result};
use crate::index::{BodyIndex, FrameIndex, JointActuatorIndex, JointIndex, ModelInstanceIndex};
use crate::joint::{Joint, JointActuator, JointKind};
use crate::names;
use crate::plant::{MultibodyPlant, out_of_range};
use nalgebra::Isometry3;
use std::collections::BTreeSet;
use tarragon_framework::math;

impl MultibodyPlant {
    /// Time step (s), 0 for continuous time.
    pub fn time_step(&self) -> f64 {
        self.time_step
    }
    /// Number of model instances, with the world's and the default one.
    pub fn num_model_instances(&self) -> usize {
        self.model_instances.len()
    }
    /// Number of bodies, with the world.
    pub fn num_bodies(&self) -> usize {
        self.bodies.len()
    }
    /// Number of frames, with one per body.
    pub fn num_frames(&self) -> usize {
        self.frames.len()
    }
    /// Number of joints, with those that `finalize` added.
    pub fn num_joints(&self) -> usize {
        self.joints.len()
    }
    /// All bodies, the world first.
    pub fn bodies(&self) -> impl ExactSizeIterator<Item = (BodyIndex, &RigidBody)> {
        let with_index = |(i, b)| (BodyIndex::new(i), b);
        self.bodies.iter().enumerate().map(with_index)
    }
    /// All joints, in order of addition.
    pub fn joints(&self) -> impl ExactSizeIterator<Item = (JointIndex, &Joint)> {
        let with_index = |(i, j)| (JointIndex::new(i), j);
        self.joints.iter().enumerate().map(with_index)
    }
    /// All frames: one per body and those that were added.
    pub fn frames(&self) -> impl ExactSizeIterator<Item = (FrameIndex, &FixedOffsetFrame)> {
        let with_index = |(i, f)| (FrameIndex::new(i), f);
        self.frames.iter().enumerate().map(with_index)
    }
    /// All actuators, in order of addition.
    pub fn actuators(&self) -> &[JointActuator] {
        &self.actuators
    }
    /// Number of actuators.
    pub fn num_actuators(&self) -> usize {
        self.actuators.len()
    }
    /// Names of all model instances, by index.
    pub fn model_instance_names(&self) -> &[String] {
        &self.model_instances
    }

    /// A body.
    ///
    /// # Errors
    /// If the index is of another plant.
    pub fn body(&self, index: BodyIndex) -> Result<&RigidBody> {
        let body = self.bodies.get(index.index());
        body.ok_or_else(|| out_of_range("body", index.index()))
    }
    /// A joint.
    ///
    /// # Errors
    /// If the index is of another plant.
    pub fn joint(&self, index: JointIndex) -> Result<&Joint> {
        let joint = self.joints.get(index.index());
        joint.ok_or_else(|| out_of_range("joint", index.index()))
    }
    /// An actuator.
    ///
    /// # Errors
    /// If the index is of another plant.
    pub fn joint_actuator(&self, index: JointActuatorIndex) -> Result<&JointActuator> {
        let actuator = self.actuators.get(index.index());
        actuator.ok_or_else(|| out_of_range("actuator", index.index()))
    }
    /// A frame.
    ///
    /// # Errors
    /// If the index is of another plant.
    pub fn frame(&self, index: FrameIndex) -> Result<&FixedOffsetFrame> {
        let frame = self.frames.get(index.index());
        frame.ok_or_else(|| out_of_range("frame", index.index()))
    }
    /// Name of a model instance.
    ///
    /// # Errors
    /// If the index is of another plant.
    pub fn model_instance_name(&self, index: ModelInstanceIndex) -> Result<&str> {
        let name = self.model_instances.get(index.index());
        name.map(String::as_str)
            .ok_or_else(|| out_of_range("model instance", index.index()))
    }
    /// `model::body` of a body of this plant.
    pub(crate) fn scoped_body_name(&self, index: BodyIndex) -> String {
        let body = &self.bodies[index.index()];
        self.scoped(body.model_instance, &body.name)
    }
    /// The name of one of the plant's elements for messages: scoped if another model instance has
    /// one of the same name.
    pub(crate) fn name_to_tell(
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
    /// The name of a joint, which may be about to be added, for messages.
    pub(crate) fn joint_name_to_tell(&self, joint: &Joint) -> String {
        let child = |body: &RigidBody| body.model_instance;
        let child = self.bodies.get(joint.child.index()).map(child);
        let instance = joint.model_instance.or(child);
        let instance = instance.unwrap_or(ModelInstanceIndex::DEFAULT);
        self.name_to_tell(instance, &joint.name, &self.taken.joints)
    }
    /// Names a joint before a refusal.
    #[cold]
    pub(crate) fn joint_error(&self, joint: JointIndex, why: &str) -> Error {
        let name = self.joint_name_to_tell(&self.joints[joint.index()]);
        Error::invalid(format!("joint '{name}': {why}"))
    }
    pub(crate) fn scoped(&self, instance: ModelInstanceIndex, name: &str) -> String {
        format!("{}::{name}", self.model_instances[instance.index()])
    }

    /// The body of a name, plain or scoped (`model::body`).
    ///
    /// # Errors
    /// If there is none, or several in different model instances.
    pub fn body_by_name(&self, name: &str) -> Result<BodyIndex> {
        let all = self.bodies().map(|(i, b)| (i, b.model_instance, &*b.name));
        self.by_name("body", name, all)
    }
    /// The joint of a name, plain or scoped (`model::joint`).
    ///
    /// # Errors
    /// If there is none, or several in different model instances.
    pub fn joint_by_name(&self, name: &str) -> Result<JointIndex> {
        let all = self
            .joints()
            .map(|(i, j)| (i, j.model_instance(), &*j.name));
        self.by_name("joint", name, all)
    }
    /// The frame of a name, plain or scoped (`model::frame`); every body has a frame of its name.
    ///
    /// # Errors
    /// If there is none, or several in different model instances.
    pub fn frame_by_name(&self, name: &str) -> Result<FrameIndex> {
        let all = self
            .frames()
            .map(|(i, f)| (i, f.model_instance(), &*f.name));
        self.by_name("frame", name, all)
    }
    /// The body of a name within a model instance.
    ///
    /// # Errors
    /// If there is none.
    pub fn body_by_name_in(&self, name: &str, instance: ModelInstanceIndex) -> Result<BodyIndex> {
        let all = self.bodies().map(|(i, b)| (i, b.model_instance, &*b.name));
        self.by_name_in("body", name, instance, all)
    }
    /// The joint of a name within a model instance.
    ///
    /// # Errors
    /// If there is none.
    pub fn joint_by_name_in(&self, name: &str, instance: ModelInstanceIndex) -> Result<JointIndex> {
        let all = self
            .joints()
            .map(|(i, j)| (i, j.model_instance(), &*j.name));
        self.by_name_in("joint", name, instance, all)
    }
    /// The frame of a name within a model instance.
    ///
    /// # Errors
    /// If there is none.
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

    /// The model instance of a name.
    ///
    /// # Errors
    /// If there is none.
    pub fn model_instance_by_name(&self, name: &str) -> Result<ModelInstanceIndex> {
        let found = self.model_instances.iter().position(|m| m == name);
        found.map(ModelInstanceIndex::new).ok_or_else(|| {
            let known = self.model_instances.iter().map(String::as_str);
            names::unknown("model instance", name, known)
        })
    }

    pub(crate) fn by_name<'a, I: Copy>(
        &'a self,
        kind: &str,
        name: &str,
        all: impl Iterator<Item = (I, ModelInstanceIndex, &'a str)>,
    ) -> Result<I> {
        let all: Vec<_> = all.collect();
        // Names may have `::` in them themselves.
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

    /// Default positions q of all joints, in the order of the state.
    ///
    /// Empty before `finalize`, as the order is not known then.
    pub fn default_positions(&self) -> Vec<f64> {
        self.gather(|j| &j.default_positions)
    }
    /// Lower position limits, in the order of q.
    pub fn position_lower_limits(&self) -> Vec<f64> {
        self.gather(|j| &j.position_limits.0)
    }
    /// Upper position limits, in the order of q.
    pub fn position_upper_limits(&self) -> Vec<f64> {
        self.gather(|j| &j.position_limits.1)
    }
    /// Lower velocity limits, in the order of v.
    pub fn velocity_lower_limits(&self) -> Vec<f64> {
        self.gather(|j| &j.velocity_limits.0)
    }
    /// Upper velocity limits, in the order of v.
    pub fn velocity_upper_limits(&self) -> Vec<f64> {
        self.gather(|j| &j.velocity_limits.1)
    }

    /// Lower acceleration limits, in the order of v (Drake's `GetAccelerationLowerLimits`).
    pub fn acceleration_lower_limits(&self) -> Vec<f64> {
        self.gather(|j| &j.acceleration_limits.0)
    }
    /// Upper acceleration limits, in the order of v (Drake's `GetAccelerationUpperLimits`).
    pub fn acceleration_upper_limits(&self) -> Vec<f64> {
        self.gather(|j| &j.acceleration_limits.1)
    }
    /// Lower effort limits of the actuators (N m or N), by index (Drake's `GetEffortLowerLimits`).
    pub fn effort_lower_limits(&self) -> Vec<f64> {
        self.actuators.iter().map(|a| -a.effort_limit).collect()
    }
    /// Upper effort limits of the actuators (N m or N), by index (Drake's `GetEffortUpperLimits`).
    pub fn effort_upper_limits(&self) -> Vec<f64> {
        self.actuators.iter().map(|a| a.effort_limit).collect()
    }

    /// A per-joint list, concatenated in tree order.
    fn gather<'a>(&'a self, list: impl Fn(&'a Joint) -> &'a [f64]) -> Vec<f64> {
        let order = self.topology.iter().flat_map(|t| &t.order);
        order
            .flat_map(|j| list(&self.joints[j.index()]))
            .copied()
            .collect()
    }

    /// Sets the default positions of all joints.
    ///
    /// # Errors
    /// Before `finalize`; if the number is wrong, a value is not finite, or a quaternion is zero.
    pub fn set_default_positions(&mut self, q: &[f64]) -> Result<()> {
        let topology = self.finalized("set_default_positions")?;
        if q.len() != topology.num_positions {
            return Err(Error::invalid(format!(
                "the number of default positions must be {}, got {}",
                topology.num_positions,
                q.len()
            )));
        }
        let starts = topology.starts.clone();
        let of_joint = |joint: &Joint, start: usize| start..start + joint.num_positions();
        for ((index, joint), (start, _)) in self.joints().zip(&starts) {
            let checked = joint.check_default_positions(&q[of_joint(joint, *start)]);
            checked.map_err(|why| self.joint_error(index, &why))?;
        }
        for (joint, (start, _)) in self.joints.iter_mut().zip(&starts) {
            joint.default_positions = q[of_joint(joint, *start)].to_vec();
        }
        Ok(())
    }

    /// Sets the default positions of one joint (rad or m; `[qw, qx, qy, qz, x, y, z]` for a
    /// floating joint).
    ///
    /// # Errors
    /// If the joint is unknown, the number is wrong, a value is not finite, or a quaternion is
    /// zero.
    pub fn set_default_joint_positions(&mut self, joint: JointIndex, q: &[f64]) -> Result<()> {
        let checked = self.joint(joint)?.check_default_positions(q);
        checked.map_err(|why| self.joint_error(joint, &why))?;
        self.joints[joint.index()].default_positions = q.to_vec();
        Ok(())
    }

    /// Sets the default pose `X_WB` of a body that is or will be free.
    ///
    /// # Errors
    /// If the body is unknown, a number of the pose is not finite, or the plant is finalized and
    /// the body connected by another joint than a floating one.
    pub fn set_default_free_body_pose(
        &mut self,
        body: BodyIndex,
        x_wb: Isometry3<f64>,
    ) -> Result<()> {
        self.body(body)?;
        let (r, p) = (x_wb.rotation.coords, x_wb.translation.vector);
        if !r.iter().chain(&p).all(|x| x.is_finite()) {
            return Err(Error::invalid(format!(
                "body '{}': the default pose must be finite, got quaternion [x, y, z, w] = {:?} and \
                 position {:?} m",
                self.scoped_body_name(body),
                r.as_slice(),
                p.as_slice()
            )));
        }
        if self.is_finalized() {
            if !self.is_floating_base(body) {
                return Err(Error::invalid(format!(
                    "body '{}' is not a free body; set the default positions of its joint",
                    self.scoped_body_name(body)
                )));
            }
            if let Some(joint) = self.inboard_joint(body) {
                let joint = &mut self.joints[joint.index()];
                joint.default_positions = positions_of(&joint.kind, &x_wb);
            }
        }
        self.default_free_poses[body.index()] = Some(x_wb);
        Ok(())
    }

    /// True if a joint with six degrees of freedom connects the body to the world; false before
    /// `finalize`.
    pub fn is_floating_base(&self, body: BodyIndex) -> bool {
        let joint = self.inboard_joint(body).map(|j| &self.joints[j.index()]);
        joint.is_some_and(|j| j.kind.is_floating() && j.parent == BodyIndex::WORLD)
    }

    /// The joint that connects a body towards the world; none for the world and before `finalize`.
    pub fn inboard_joint(&self, body: BodyIndex) -> Option<JointIndex> {
        let topology = self.topology.as_ref()?;
        topology.inboard.get(body.index()).copied().flatten()
    }

    /// Sum of the masses of all bodies (kg).
    pub fn calc_total_mass(&self) -> f64 {
        self.bodies.iter().map(|b| b.inertia.mass()).sum()
    }
}

/// Positions of a floating joint at a pose.
pub(crate) fn positions_of(kind: &JointKind, x: &Isometry3<f64>) -> Vec<f64> {
    let (r, p) = (x.rotation, x.translation.vector);
    let angles = match kind {
        JointKind::RpyFloating => math::rpy_of(&r).as_slice().to_vec(),
        // Of the two quaternions, the one with a positive real part.
        _ => {
            let sign = if r.w < 0.0 { -1.0 } else { 1.0 };
            [r.w, r.i, r.j, r.k].map(|x| sign * x).to_vec()
        }
    };
    [&angles, p.as_slice()].concat()
}
