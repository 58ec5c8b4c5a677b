//! State of adding one document to a plant.

use super::sections::GlobalSections;
use super::tree::ElementRef;
use crate::reading::target::ParseTarget;
use nalgebra::Isometry3;
use std::collections::{BTreeMap, BTreeSet};
use tarragon_geometry::{GeometryId, Shape};
use tarragon_multibody::{BodyIndex, JointActuatorIndex, JointIndex, ModelInstanceIndex, Tendon};

/// A block of coordinates of MuJoCo's `qpos`.
#[derive(Clone, Copy, Debug)]
pub(super) enum QposBlock {
    /// Position and quaternion of a body in the world.
    Free(BodyIndex),
    /// A quaternion.
    Ball(JointIndex),
    /// An angle or a distance.
    Single(JointIndex),
}

/// Joint of the file with its place in MuJoCo's `qpos`.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileJoint {
    pub(super) block: QposBlock,
    /// Number by which keyframes of attached models refer to it.
    pub(super) key_number: Option<usize>,
}

/// A spring and a damper of a joint by their effect.
#[derive(Clone, Copy)]
pub(super) struct SpringDamper<'d> {
    pub(super) node: ElementRef<'d>,
    pub(super) joint: JointIndex,
    /// Position without spring force (rad or m).
    pub(super) rest: f64,
    /// Time constant (s) and damping ratio.
    pub(super) wanted: [f64; 2],
}

/// A tendon of the file, or a joint in its place.
#[derive(Clone, Debug)]
pub(super) struct FileTendon {
    /// The length; no coefficient of a joint is 0.
    pub(super) tendon: Tendon,
    /// Limits of the length.
    pub(super) range: Option<[f64; 2]>,
}

/// Place of an actuator in MuJoCo's controls and activations.
#[derive(Clone, Copy, Debug)]
pub(super) struct ActuatorInput {
    /// `None` if the actuator is left out.
    pub(super) actuator: Option<JointActuatorIndex>,
    pub(super) num_activations: usize,
    /// Number by which keyframes of attached models refer to it.
    pub(super) key_number: Option<usize>,
}

/// Builder that adds the content of a document to a plant.
pub(super) struct MjcfBuilder<'d, 't, 'p> {
    pub(super) document: &'d GlobalSections,
    pub(super) target: &'t mut ParseTarget<'p>,
    pub(super) instance: ModelInstanceIndex,
    /// First body and first joint of the document.
    pub(super) first_body: BodyIndex,
    pub(super) first_joint: JointIndex,
    /// Poses in the world of the file's bodies, as given by the file.
    pub(super) poses: BTreeMap<BodyIndex, Isometry3<f64>>,
    pub(super) bodies: BTreeMap<&'d str, BodyIndex>,
    /// Names of all bodies of the file.
    pub(super) names: BTreeSet<&'d str>,
    pub(super) joints: BTreeMap<&'d str, JointIndex>,
    /// Names of free joints. They are not joints of the plant, whose free bodies need none.
    pub(super) free_joints: BTreeSet<&'d str>,
    /// Geoms that have a name, with their bodies, poses in them and shapes.
    pub(super) named_geoms: BTreeMap<&'d str, (BodyIndex, Isometry3<f64>, Shape)>,
    /// Geoms that have collision geometry, by name, with their bodies; without geometry if there is
    /// no scene.
    pub(super) collision_geoms: BTreeMap<String, (BodyIndex, Option<GeometryId>)>,
    /// Collision geometry with `contype` and `conaffinity`.
    pub(super) collision_masks: Vec<(GeometryId, [u32; 2])>,
    /// Armature of each joint, which is inertia that is added along the joint, and its element.
    pub(super) armatures: BTreeMap<JointIndex, (f64, ElementRef<'d>)>,
    /// Positions of joints without spring force (rad or m).
    pub(super) spring_positions: BTreeMap<JointIndex, f64>,
    /// Springs whose stiffness and damping follow from the inertia of all bodies.
    pub(super) spring_dampers: Vec<SpringDamper<'d>>,
    /// Least and largest effort of all actuators of a joint, where there is a limit.
    pub(super) effort_ranges: BTreeMap<JointIndex, ([f64; 2], ElementRef<'d>)>,
    /// Actuators in the order of the file.
    pub(super) actuators: Vec<ActuatorInput>,
    pub(super) tendons: BTreeMap<&'d str, FileTendon>,
    /// Names of all tendons, whether they could be read or not.
    pub(super) tendon_names: BTreeSet<&'d str>,
    /// Body of each site, and the pose of the site in it.
    pub(super) sites: BTreeMap<&'d str, (BodyIndex, Isometry3<f64>)>,
    /// Joints in the order of `qpos`.
    pub(super) coordinates: Vec<FileJoint>,
    pub(super) num_cameras: usize,
}
