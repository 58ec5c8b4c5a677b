//! The plant: bodies, frames and joints, added one by one and then finalized.

use crate::annotations::{Keyframe, ModelCamera};
use crate::body::{FixedOffsetFrame, RigidBody};
use crate::collision_filters::CollisionFilterGroup;
use crate::constraint::Constraint;
use crate::equality::ModelEquality;
use crate::error::{Error, Result};
use crate::force_element::ForceElement;
use crate::geometry_registration::GeometryRegistration;
use crate::index::{BodyIndex, FrameIndex, JointIndex, ModelInstanceIndex};
use crate::inertia::SpatialInertia;
use crate::islands::Islands;
use crate::joint::{Attachment, Joint, JointActuator};
use crate::topology::Topology;
use nalgebra::{Isometry3, Vector3};
use std::collections::BTreeSet;

/// Where the system takes its positions from.
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_framework::prelude::*;
/// use tarragon_multibody::*;
/// let mut plant = MultibodyPlant::new(0.001)?;
/// let cabin = plant.add_rigid_body("cabin", ModelInstanceIndex::DEFAULT, SpatialInertia::zero())?;
/// plant.add_joint(Joint::prismatic("lift", BodyIndex::WORLD, cabin, Vector3::z())?)?;
/// plant.set_position_source(PositionSource::InputPort);
/// plant.finalize()?;
/// let mut b = DiagramBuilder::new();
/// let plant = b.add("plant", plant);
/// let mut ctx = b.build()?.default_context();
/// ctx.fix(plant.position.unwrap(), vec![4.0])?;
/// assert_eq!(ctx.eval(plant.body_poses)?[cabin.index()].translation.z, 4.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PositionSource {
    /// The state `[q; v]`: discrete with a positive time step, continuous otherwise.
    #[default]
    State,
    /// The input port `position`: somebody else says where the bodies are.
    InputPort,
}

/// Rigid bodies connected by joints (Drake's `MultibodyPlant`).
///
/// Bodies and joints are added, by hand or by a [`crate::Parser`], until [`Self::finalize`] makes a
/// tree of them: every body without a joint towards the world then gets a floating joint. After
/// that the plant computes body poses and can be added to a diagram.
///
/// | port | name | type | exists |
/// |---|---|---|---|
/// | input | `position` | vector of `num_positions` | with [`PositionSource::InputPort`] |
/// | input | `velocity` | vector of `num_velocities` | with [`PositionSource::InputPort`] |
/// | output | `state` | vector `[q; v]` | with [`PositionSource::State`] |
/// | output | `body_poses` | `Vec<Isometry3<T>>`, `X_WB` by [`BodyIndex`] | always |
/// | output | `body_spatial_velocities` | `Vec<SpatialVector<T>>`, `V_WB` by [`BodyIndex`] | always |
/// | output | `geometry_pose` | `FramePoseVector<T>` | once registered with a SceneGraph |
///
/// Masses, forces and energies are computed from [`crate::PositionKinematics`]. Limit: no forward
/// dynamics yet. A discrete state stays as it is set; a continuous state has no time derivatives,
/// which is an error when a simulator asks for them. Constraints, springs and damping are kept, not
/// solved.
///
/// Bodies, joints and frames have names that are unique within their model instance; look-ups take
/// `name` or `model::name`.
///
/// ```
/// use nalgebra::{Isometry3, Vector3};
/// use tarragon_multibody::*;
/// let mut plant = MultibodyPlant::new(0.001)?;
/// let arm = plant.add_rigid_body("arm", ModelInstanceIndex::DEFAULT, SpatialInertia::zero())?;
/// let rail = Joint::prismatic("rail", BodyIndex::WORLD, arm, Vector3::x())?
///     .with_pose_on_parent(Isometry3::translation(0.0, 0.0, 1.0));
/// plant.add_joint(rail)?;
/// plant.finalize()?;
/// let mut poses = vec![];
/// plant.calc_body_poses(&[0.25], &mut poses)?;
/// assert_eq!(poses[arm.index()].translation.vector, Vector3::new(0.25, 0.0, 1.0));
/// # Ok::<(), tarragon_multibody::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct MultibodyPlant {
    pub(crate) time_step: f64,
    pub(crate) model_instances: Vec<String>,
    pub(crate) bodies: Vec<RigidBody>,
    pub(crate) frames: Vec<FixedOffsetFrame>,
    pub(crate) joints: Vec<Joint>,
    pub(crate) actuators: Vec<JointActuator>,
    pub(crate) constraints: Vec<Constraint>,
    pub(crate) equalities: Vec<ModelEquality>,
    pub(crate) force_elements: Vec<ForceElement>,
    pub(crate) gravity: Vector3<f64>,
    pub(crate) keyframes: Vec<Keyframe>,
    pub(crate) cameras: Vec<ModelCamera>,
    pub(crate) sites: Vec<FixedOffsetFrame>,
    pub(crate) filter_groups: Vec<CollisionFilterGroup>,
    /// Pairs of bodies that are not tested against each other.
    pub(crate) excluded: Vec<(BodyIndex, BodyIndex)>,
    pub(crate) default_free_poses: Vec<Option<Isometry3<f64>>>,
    pub(crate) taken: Names,
    pub(crate) islands: Islands,
    pub(crate) position_source: PositionSource,
    pub(crate) topology: Option<Topology>,
    pub(crate) registration: Option<GeometryRegistration>,
}

/// Names in use, per kind and model instance.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    pub(crate) bodies: BTreeSet<(ModelInstanceIndex, String)>,
    pub(crate) frames: BTreeSet<(ModelInstanceIndex, String)>,
    pub(crate) joints: BTreeSet<(ModelInstanceIndex, String)>,
    pub(crate) actuators: BTreeSet<(ModelInstanceIndex, String)>,
    /// Pairs of bodies with a joint between them, the lower index first.
    pub(crate) joined: BTreeSet<(BodyIndex, BodyIndex)>,
}

impl MultibodyPlant {
    /// A plant with the world body only. A `time_step` (s) of 0 means continuous time.
    ///
    /// # Errors
    /// If the time step is negative or not finite.
    pub fn new(time_step: f64) -> Result<Self> {
        if !(time_step >= 0.0 && time_step.is_finite()) {
            return Err(Error::invalid(format!(
                "the plant's time step is {time_step} s, a finite value of at least 0 is expected"
            )));
        }
        let mut plant = Self {
            time_step,
            model_instances: vec!["WorldModelInstance".into(), "DefaultModelInstance".into()],
            bodies: vec![],
            frames: vec![],
            joints: vec![],
            actuators: vec![],
            constraints: vec![],
            equalities: vec![],
            force_elements: vec![],
            gravity: Vector3::new(0.0, 0.0, -9.81),
            keyframes: vec![],
            cameras: vec![],
            sites: vec![],
            filter_groups: vec![],
            excluded: vec![],
            default_free_poses: vec![],
            taken: Names::default(),
            islands: Islands::default(),
            position_source: PositionSource::State,
            topology: None,
            registration: None,
        };
        plant.push_body("world", ModelInstanceIndex::WORLD, SpatialInertia::zero());
        Ok(plant)
    }

    /// Chooses where the system takes its positions from.
    pub fn set_position_source(&mut self, source: PositionSource) {
        self.position_source = source;
    }

    /// Adds an empty model instance.
    ///
    /// # Errors
    /// If the name is empty or taken, or after `finalize`.
    pub fn add_model_instance(&mut self, name: &str) -> Result<ModelInstanceIndex> {
        self.check_open(|| format!("model instance '{name}'"))?;
        if name.is_empty() {
            return Err(Error::invalid(
                "a model instance has an empty name, a name is expected",
            ));
        }
        if self.model_instances.iter().any(|m| m == name) {
            return Err(Error::invalid(format!(
                "model instance '{name}' exists already; names of model instances are unique"
            )));
        }
        self.model_instances.push(name.into());
        Ok(ModelInstanceIndex::new(self.model_instances.len() - 1))
    }

    /// Adds a body with its mass properties about its origin.
    ///
    /// # Errors
    /// If the name is empty or taken within the instance, the instance is unknown or the world's,
    /// or after `finalize`.
    pub fn add_rigid_body(
        &mut self,
        name: &str,
        instance: ModelInstanceIndex,
        inertia: SpatialInertia,
    ) -> Result<BodyIndex> {
        self.check_open(|| format!("body '{name}'"))?;
        self.check_instance(instance)?;
        if instance == ModelInstanceIndex::WORLD {
            return Err(Error::invalid(format!(
                "body '{name}' can not join the world's model instance"
            )));
        }
        self.check_new("body", instance, name, &self.taken.bodies)?;
        self.check_new("frame", instance, name, &self.taken.frames)?;
        Ok(self.push_body(name, instance, inertia))
    }

    fn push_body(
        &mut self,
        name: &str,
        instance: ModelInstanceIndex,
        inertia: SpatialInertia,
    ) -> BodyIndex {
        let body = BodyIndex::new(self.bodies.len());
        self.bodies.push(RigidBody {
            name: name.into(),
            model_instance: instance,
            frame: FrameIndex::new(self.frames.len()),
            inertia,
        });
        self.default_free_poses.push(None);
        self.islands.push();
        self.taken.bodies.insert((instance, name.into()));
        self.taken.frames.insert((instance, name.into()));
        self.frames.push(
            FixedOffsetFrame::new(name, body, Isometry3::identity()).with_model_instance(instance),
        );
        body
    }

    /// Adds a frame that is fixed on a body.
    ///
    /// # Errors
    /// If the body or the instance is unknown, the name is empty or taken within the instance, or
    /// after `finalize`.
    pub fn add_frame(&mut self, mut frame: FixedOffsetFrame) -> Result<FrameIndex> {
        self.check_open(|| format!("frame '{}'", frame.name))?;
        let body_instance = self.body(frame.body)?.model_instance;
        let instance = *frame.model_instance.get_or_insert(body_instance);
        self.check_instance(instance)?;
        self.check_new("frame", instance, &frame.name, &self.taken.frames)?;
        self.taken.frames.insert((instance, frame.name.clone()));
        self.frames.push(frame);
        Ok(FrameIndex::new(self.frames.len() - 1))
    }

    /// Adds a joint. The bodies may be connected with others already, as long as that makes no
    /// loop; a joint whose child turns out to be nearer to the world than its parent is turned
    /// round by [`Self::finalize`], without a change of what its positions mean.
    ///
    /// # Errors
    /// If a body or a frame is unknown or a frame is not on its body, parent and child are the
    /// same, or have a joint between them already, the joint closes a loop, the name is empty or
    /// taken within the instance (also those of the frames that the joint adds), or after
    /// `finalize`.
    pub fn add_joint(&mut self, mut joint: Joint) -> Result<JointIndex> {
        self.check_open(|| format!("joint '{}'", joint.name))?;
        self.body(joint.parent)?;
        let child_instance = self.body(joint.child)?.model_instance;
        if joint.child == joint.parent {
            return Err(Error::invalid(format!(
                "joint '{}' connects body '{}' with itself; choose another parent or child",
                self.joint_name_to_tell(&joint),
                self.scoped_body_name(joint.child)
            )));
        }
        let instance = *joint.model_instance.get_or_insert(child_instance);
        self.check_instance(instance)?;
        self.check_new("joint", instance, &joint.name, &self.taken.joints)?;
        let pair = (joint.parent.min(joint.child), joint.parent.max(joint.child));
        if self.taken.joined.contains(&pair) {
            let joins = |j: &&Joint| (j.parent.min(j.child), j.parent.max(j.child)) == pair;
            let name = self.joint_name_to_tell(&joint);
            let other = self.joints.iter().find(joins).map_or(String::new(), |j| {
                match j.name == joint.name {
                    true => self.scoped(j.model_instance(), &j.name),
                    false => self.joint_name_to_tell(j),
                }
            });
            return Err(Error::invalid(format!(
                "joint '{name}' cannot connect bodies '{}' and '{}': joint '{other}' connects them \
                 already; remove one of the two joints",
                self.scoped_body_name(joint.parent),
                self.scoped_body_name(joint.child)
            )));
        }
        for (at, body, suffix) in [
            (joint.on_parent, joint.parent, "parent"),
            (joint.on_child, joint.child, "child"),
        ] {
            match at {
                Attachment::Body => {}
                Attachment::Offset(_) => {
                    let name = format!("{}_{suffix}", joint.name);
                    self.check_new("frame", instance, &name, &self.taken.frames)?;
                }
                Attachment::Frame(frame) => {
                    let on = self.frame(frame)?.body;
                    if on != body {
                        return Err(Error::invalid(format!(
                            "joint '{}': frame '{}' is on body '{}'; choose a frame on the {suffix} '{}'",
                            self.joint_name_to_tell(&joint),
                            self.frames[frame.index()].name,
                            self.scoped_body_name(on),
                            self.scoped_body_name(body)
                        )));
                    }
                }
            }
        }
        if !self.islands.join(joint.parent, joint.child) {
            return Err(self.loop_error(&joint));
        }
        (joint.on_parent, joint.x_pf) =
            self.attach(joint.on_parent, joint.parent, instance, || {
                format!("{}_parent", joint.name)
            });
        (joint.on_child, joint.x_bm) = self.attach(joint.on_child, joint.child, instance, || {
            format!("{}_child", joint.name)
        });
        Ok(self.push_joint(joint))
    }

    /// The plant's frame of a joint, made if need be, and its pose on the body.
    fn attach(
        &mut self,
        at: Attachment,
        body: BodyIndex,
        instance: ModelInstanceIndex,
        name: impl Fn() -> String,
    ) -> (Attachment, Isometry3<f64>) {
        let (frame, x) = match at {
            Attachment::Body => (self.bodies[body.index()].frame, Isometry3::identity()),
            Attachment::Frame(frame) => (frame, self.frames[frame.index()].x_bf),
            Attachment::Offset(x) => (self.push_frame(name(), body, x, instance), x),
        };
        (Attachment::Frame(frame), x)
    }

    /// Adds a frame whose name is known to be free.
    pub(crate) fn push_frame(
        &mut self,
        name: String,
        body: BodyIndex,
        x_bf: Isometry3<f64>,
        instance: ModelInstanceIndex,
    ) -> FrameIndex {
        self.taken.frames.insert((instance, name.clone()));
        self.frames
            .push(FixedOffsetFrame::new(name, body, x_bf).with_model_instance(instance));
        FrameIndex::new(self.frames.len() - 1)
    }

    pub(crate) fn push_joint(&mut self, joint: Joint) -> JointIndex {
        let index = JointIndex::new(self.joints.len());
        let name = (joint.model_instance(), joint.name.clone());
        self.taken.joints.insert(name);
        let pair = (joint.parent.min(joint.child), joint.parent.max(joint.child));
        self.taken.joined.insert(pair);
        self.joints.push(joint);
        index
    }

    /// Welds frame C of a child body to frame P of a parent body with the pose `X_PC` between them.
    /// The joint is named `{P}_welds_to_{C}`.
    ///
    /// # Errors
    /// If a frame is unknown, and as [`Self::add_joint`].
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

    pub(crate) fn check_open(&self, what: impl Fn() -> String) -> Result<()> {
        match self.topology {
            None => Ok(()),
            Some(_) => Err(Error::invalid(format!(
                "{} can not be added: the plant is finalized",
                what()
            ))),
        }
    }

    pub(crate) fn check_instance(&self, instance: ModelInstanceIndex) -> Result<()> {
        match self.model_instances.get(instance.index()) {
            Some(_) => Ok(()),
            None => Err(out_of_range("model instance", instance.index())),
        }
    }

    pub(crate) fn check_new(
        &self,
        kind: &str,
        instance: ModelInstanceIndex,
        name: &str,
        taken: &BTreeSet<(ModelInstanceIndex, String)>,
    ) -> Result<()> {
        let model = &self.model_instances[instance.index()];
        if name.is_empty() {
            return Err(Error::invalid(format!(
                "a {kind} of model instance '{model}' has an empty name, a name is expected"
            )));
        }
        if taken.contains(&(instance, name.to_string())) {
            return Err(Error::invalid(format!(
                "{kind} '{model}::{name}' exists already; names are unique within a model instance"
            )));
        }
        Ok(())
    }
}

#[cold]
pub(crate) fn out_of_range(kind: &str, index: usize) -> Error {
    Error::invalid(format!(
        "{kind} index {index} does not belong to this plant"
    ))
}
