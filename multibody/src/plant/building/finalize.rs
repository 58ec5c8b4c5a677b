//! Finalization of a plant: builds the tree, after which numbers and names of coordinates are
//! known.

use crate::discrete::Trees;
use crate::error::{Error, Result};
use crate::model::{BodyIndex, FrameIndex, Joint, JointAttachment, JointIndex, JointKind};
use crate::plant::multibody_plant::MultibodyPlant;
use crate::tree::{JointGraph, ReversedJoint, Topology};
use nalgebra::{Isometry3, Matrix3, Unit, Vector3};
use tarragon_framework::math;

impl MultibodyPlant {
    /// Connects all bodies to one tree. Every body without a joint towards the world gets a
    /// floating joint, named after the body.
    ///
    /// The state is ordered as in Drake, depth first. The trees that joints connect to the world
    /// come first, then free trees of several bodies (those with the most joints at their base
    /// first), then single free bodies. Frames that Drake adds for its own use are added with the
    /// same names, `{joint}_{frame}_F` and `{joint}_{frame}_M`: for revolute and prismatic joints
    /// whose axis is none of x, y, z, and for welds with an offset.
    ///
    /// The collision filters need the scene: see [`Self::finalize_with`].
    ///
    /// # Errors
    /// Returns an error if a joint with several degrees of freedom has its child nearer to the
    /// world than its parent, or if the plant is finalized already. The plant stays as it was.
    pub fn finalize(&mut self) -> Result<()> {
        if self.is_finalized() {
            return Err(Error::state("the plant is finalized already"));
        }
        let mut graph = JointGraph::new(self.bodies.len(), &self.joints);
        let bases = graph.free_bases(&self.joints);
        for body in bases.map_err(|at| self.reversed_error(&at))? {
            let joint = self.add_floating_joint(body);
            graph.connect(joint, BodyIndex::WORLD, body);
        }
        let reflected = self.reflected_inertias();
        let topology = Topology::new(&graph, &self.bodies, &self.joints, &reflected);
        self.num_declared_frames = Some(self.frames.len());
        self.add_internal_frames(&topology);
        self.trees = Trees::new(&topology.tree);
        self.index_pair_properties();
        self.dry_friction = self.dry_friction_of_joints(&topology);
        self.topology = Some(topology);
        Ok(())
    }

    #[cold]
    fn reversed_error(&self, at: &ReversedJoint) -> Error {
        let joint = &self.joints[at.joint.index()];
        Error::invalid(format!(
            "joint '{}' of kind {}: the parent must be nearer to the world than the child unless \
             the joint has at most one degree of freedom, got child '{}' nearer than parent '{}'; \
             swap parent and child",
            self.joint_name_to_tell(joint),
            joint.kind.type_name(),
            self.scoped_body_name(at.inboard),
            self.scoped_body_name(at.outboard)
        ))
    }

    /// Creates the error for a joint whose bodies are connected already.
    #[cold]
    pub(super) fn loop_error(&self, joint: &Joint) -> Error {
        let graph = JointGraph::new(self.bodies.len(), &self.joints);
        let mut bodies = graph.path(joint.parent, joint.child);
        bodies.push(joint.parent);
        let names: Vec<String> = bodies
            .into_iter()
            .map(|b| self.scoped_body_name(b))
            .collect();
        Error::unsupported(format!(
            "joint '{}' closes a loop: '{}'; loops of joints are not supported, model one of them by a \
             constraint",
            self.joint_name_to_tell(joint),
            names.join("' -> '")
        ))
    }

    fn add_floating_joint(&mut self, body: BodyIndex) -> JointIndex {
        let found = &self.bodies[body.index()];
        let (mut name, instance) = (found.name.clone(), found.model_instance);
        while self.taken.joints.contains(instance, &name) {
            name.insert(0, '_');
        }
        let mut joint =
            Joint::quaternion_floating(name, BodyIndex::WORLD, body).with_model_instance(instance);
        joint.on_parent = JointAttachment::Frame(self.bodies[0].frame);
        joint.on_child = JointAttachment::Frame(found.frame);
        joint.ephemeral = true;
        if let Some(x_wb) = &self.default_free_poses[body.index()] {
            joint.default_positions = joint.floating_positions(x_wb);
        }
        self.push_joint(joint)
    }

    /// Adds the frames that Drake adds when it turns joints into mobilizers.
    fn add_internal_frames(&mut self, topology: &Topology) {
        for index in &topology.order {
            let joint = &self.joints[index.index()];
            let inboard = topology.inboard_joint(*index, joint);
            let instance = joint.model_instance();
            let (on_parent, on_child) = (joint.frame_on_parent(), joint.frame_on_child());
            let (f, m) = if !inboard.reversed {
                (on_parent, on_child)
            } else {
                (on_child, on_parent)
            };
            let frame_name = |frame: Option<FrameIndex>, suffix: &str| {
                let frame = frame.map_or("", |f| &self.frames[f.index()].name);
                let mut name = format!("{}_{frame}_{suffix}", joint.name);
                while self.taken.frames.contains(instance, &name) {
                    name.insert(0, '_');
                }
                name
            };
            match &inboard.kind {
                JointKind::Weld { x_fm } if *x_fm != Isometry3::identity() => {
                    let x = inboard.x_pf * x_fm;
                    self.push_frame(frame_name(f, "F"), inboard.parent, x, instance);
                }
                JointKind::Revolute { axis } | JointKind::Prismatic { axis }
                    if ![Vector3::x(), Vector3::y(), Vector3::z()].contains(axis) =>
                {
                    let r = math::pose(with_z_along(axis), Vector3::zeros());
                    let (x_pf, x_bm) = (inboard.x_pf * r, inboard.x_bm * r);
                    let (on_f, on_m) = (frame_name(f, "F"), frame_name(m, "M"));
                    self.push_frame(on_f, inboard.parent, x_pf, instance);
                    self.push_frame(on_m, inboard.child, x_bm, instance);
                }
                _ => {}
            }
        }
    }

    /// Returns true after [`Self::finalize`].
    pub fn is_finalized(&self) -> bool {
        self.topology.is_some()
    }

    pub(crate) fn finalized(&self, asked: &str) -> Result<&Topology> {
        self.topology.as_ref().ok_or_else(|| {
            Error::state(format!(
                "`{asked}`: the plant must be finalized; call `MultibodyPlant::finalize` first"
            ))
        })
    }

    /// Returns the number of generalized positions q; 0 before `finalize`.
    pub fn num_positions(&self) -> usize {
        self.topology.as_ref().map_or(0, |t| t.num_positions)
    }
    /// Returns the number of generalized velocities v; 0 before `finalize`.
    pub fn num_velocities(&self) -> usize {
        self.topology.as_ref().map_or(0, |t| t.num_velocities)
    }
    /// Returns the names of the positions: the joint's name, with a suffix if the joint has several
    /// positions (`base_qw`, ..., `base_z`). Empty before `finalize`.
    pub fn position_names(&self) -> &[String] {
        self.topology.as_ref().map_or(&[], |t| &t.position_names)
    }
    /// Returns the names of the velocities: the joint's name, with a suffix if the joint has
    /// several velocities (`base_wx`, ..., `base_vz`). Empty before `finalize`.
    pub fn velocity_names(&self) -> &[String] {
        self.topology.as_ref().map_or(&[], |t| &t.velocity_names)
    }
    /// Returns the index of the first position of a joint.
    ///
    /// # Errors
    /// Returns an error before `finalize`, or if the joint is unknown.
    pub fn position_start(&self, joint: JointIndex) -> Result<usize> {
        self.joint(joint)?;
        Ok(self.finalized("position_start")?.starts[joint.index()].0)
    }
    /// Returns the index of the first velocity of a joint.
    ///
    /// # Errors
    /// Returns an error before `finalize`, or if the joint is unknown.
    pub fn velocity_start(&self, joint: JointIndex) -> Result<usize> {
        self.joint(joint)?;
        Ok(self.finalized("velocity_start")?.starts[joint.index()].1)
    }
}

/// Returns a rotation that maps z to a direction, chosen as in Drake: x is normal to the direction
/// and to the coordinate axis most nearly normal to it.
fn with_z_along(direction: &Unit<Vector3<f64>>) -> nalgebra::UnitQuaternion<f64> {
    let u = direction.into_inner();
    let mut least = 0;
    for k in 1..3 {
        if u[k].abs() < u[least].abs() {
            least = k;
        }
    }
    let x = Vector3::ith(least, 1.0).cross(&u).normalize();
    math::rotation_from_matrix(&Matrix3::from_columns(&[x, u.cross(&x), u]))
}
