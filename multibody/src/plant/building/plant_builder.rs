//! The builder of plants.

use crate::discrete::Trees;
use crate::error::{Error, Result};
use crate::model::{
    BodyIndex, FrameIndex, Joint, JointAttachment, JointIndex, JointKind, ModelInstanceIndex,
};
use crate::plant::contact_model::ContactSettings;
use crate::plant::element_names::ElementNames;
use crate::plant::multibody_model::{MultibodyModel, PositionSource, check_time_step};
use crate::plant::multibody_plant::MultibodyPlant;
use crate::spatial::SpatialInertia;
use crate::tree::{JointGraph, ReversedJoint, Topology};
use nalgebra::{Isometry3, Matrix3, Unit, Vector3};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;
use std::sync::OnceLock;
use tarragon_framework::{DisjointSets, counted, math};
use tarragon_geometry::SceneGraph;

/// Builder of a [`MultibodyPlant`]: bodies, joints and everything else is added to it, by hand or
/// by a parser. [`Self::build`] connects the bodies to a tree.
///
/// An addition that fails changes nothing. Everything that has been added can be asked for, because
/// the builder dereferences to its [`MultibodyModel`]. Numbers and names of coordinates are those
/// of the tree: the plant has them.
///
/// ```
/// use nalgebra::{Isometry3, Vector3};
/// use tarragon_multibody::*;
/// let mut plant = MultibodyPlantBuilder::new(0.001)?;
/// let arm = plant.add_rigid_body("arm", ModelInstanceIndex::DEFAULT, SpatialInertia::zero())?;
/// let rail = Joint::prismatic("rail", BodyIndex::WORLD, arm, Vector3::x())?
///     .with_pose_on_parent(Isometry3::translation(0.0, 0.0, 1.0));
/// plant.add_joint(rail)?;
/// let plant = plant.build()?;
/// let mut poses = vec![];
/// plant.calc_body_poses(&[0.25], &mut poses)?;
/// assert_eq!(poses[arm.index()].translation.vector, Vector3::new(0.25, 0.0, 1.0));
/// # Ok::<(), tarragon_multibody::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct MultibodyPlantBuilder {
    pub(in crate::plant) model: MultibodyModel,
    /// Bodies that joints connect, to detect a loop when a joint closes it.
    pub(super) connected: DisjointSets,
}

impl Deref for MultibodyPlantBuilder {
    type Target = MultibodyModel;
    fn deref(&self) -> &MultibodyModel {
        &self.model
    }
}

impl MultibodyPlantBuilder {
    /// Starts a plant that contains only the world body. A `time_step` (s) of 0 means continuous
    /// time.
    ///
    /// # Errors
    /// Returns an error if the time step is negative or not finite.
    pub fn new(time_step: f64) -> Result<Self> {
        check_time_step(time_step)?;
        let model = MultibodyModel {
            time_step,
            model_instances: vec![],
            bodies: vec![],
            frames: vec![],
            joints: vec![],
            actuators: vec![],
            constraints: vec![],
            inactive_constraints: BTreeSet::new(),
            solver_parameters: BTreeMap::new(),
            equalities: vec![],
            force_elements: vec![],
            deformables: vec![],
            gravity: Vector3::new(0.0, 0.0, -9.81),
            weightless: BTreeSet::new(),
            contact: ContactSettings::default(),
            adjacent_bodies_collision_filters: true,
            exact_rotations: true,
            keyframes: vec![],
            keyframe_losses: vec![],
            cameras: vec![],
            sites: vec![],
            sensors: vec![],
            filter_groups: vec![],
            excluded: vec![],
            mjcf_parents: BTreeMap::new(),
            collision_masks: vec![],
            contact_pairs: vec![],
            default_free_poses: vec![],
            num_joints_as_child: vec![],
            taken: ElementNames::default(),
            position_source: PositionSource::State,
            registration: None,
            num_internal_frames: 0,
        };
        let mut builder = Self {
            model,
            connected: DisjointSets::default(),
        };
        // In the order of `ModelInstanceIndex::WORLD` and `DEFAULT`.
        for name in ["WorldModelInstance", "DefaultModelInstance"] {
            builder.add_model_instance(name)?;
        }
        builder.push_body("world", ModelInstanceIndex::WORLD, SpatialInertia::zero());
        Ok(builder)
    }

    /// Chooses the source of the positions of the plant as a system.
    pub fn set_position_source(&mut self, source: PositionSource) {
        self.model.position_source = source;
    }

    /// Connects all bodies to one tree, and returns the plant (Drake's `Finalize`). Every body
    /// without a joint towards the world gets a floating joint, named after the body.
    ///
    /// The state is ordered as in Drake, depth first. The trees that joints connect to the world
    /// come first, then free trees of several bodies (those with the most joints at their base
    /// first), then single free bodies. Frames that Drake adds for its own use are added with the
    /// same names, `{joint}_{frame}_F` and `{joint}_{frame}_M`: for revolute and prismatic joints
    /// whose axis is none of x, y, z, and for welds with an offset.
    ///
    /// The collision filters need the scene: see [`Self::build_with_scene`].
    ///
    /// # Errors
    /// Returns an error if a joint with several degrees of freedom has its child nearer to the
    /// world than its parent, or if the plant has constraints and time step 0, unless its positions
    /// come from an input port.
    pub fn build(mut self) -> Result<MultibodyPlant> {
        self.check_time_step_of_constraints()?;
        let mut graph = JointGraph::new(self.bodies.len(), &self.joints);
        let bases = graph.free_bases(&self.joints);
        for body in bases.map_err(|at| self.reversed_error(&at))? {
            let joint = self.add_floating_joint(body);
            graph.connect(joint, BodyIndex::WORLD, body);
        }
        let reflected = self.reflected_inertias();
        let topology = Topology::new(&graph, &self.bodies, &self.joints, &reflected);
        let num_declared = self.frames.len();
        self.add_internal_frames(&topology);
        self.model.num_internal_frames = self.frames.len() - num_declared;
        Ok(MultibodyPlant {
            trees: Trees::new(&topology.tree),
            pair_properties: self.model.own_pair_properties(),
            dry_friction: self.model.dry_friction_of_joints(&topology),
            constrained_masses: OnceLock::new(),
            topology,
            model: self.model,
        })
    }

    /// Builds the plant of a scene: as [`Self::build`] does, with a frame in the scene for every
    /// body and with [`MultibodyPlant::apply_collision_filters`].
    ///
    /// # Errors
    /// Returns the errors of [`Self::build`], and an error if the plant is registered with another
    /// scene.
    pub fn build_with_scene(mut self, scene_graph: &mut SceneGraph) -> Result<MultibodyPlant> {
        self.register_as_source_for_scene_graph(scene_graph)?;
        let mut plant = self.build()?;
        plant.join_scene(scene_graph)?;
        Ok(plant)
    }

    /// Checks that a plant whose constraints act moves in steps.
    fn check_time_step_of_constraints(&self) -> Result<()> {
        let moves = self.position_source == PositionSource::State;
        let active = self.constraints.len() - self.inactive_constraints.len();
        if active == 0 || !moves || self.time_step > 0.0 {
            return Ok(());
        }
        Err(Error::unsupported(format!(
            "MultibodyPlant: the time step must be positive for constraints to act, got 0 and \
             {constraints}; use a positive time step, or `PositionSource::InputPort` for a plant \
             that forces do not move",
            constraints = counted(active, "constraint")
        )))
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
