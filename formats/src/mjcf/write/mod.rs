//! MJCF.
//!
//! The text is the same to MuJoCo and to our reader, which reads it with MuJoCo's semantics.

mod actuators;
mod bodies;
mod constraints;
mod contact;
mod geoms;
mod height_fields;
mod inertial;
mod keyframes;
mod mesh_files;
mod sensors;
mod sites;
mod skins;
mod tables;
mod tendons;

use crate::writing::document::{ModelDocument, TakenNames};
use crate::writing::layout::Layout;
use crate::writing::written_model::WrittenModel;
use crate::writing::xml::XmlText;
use nalgebra::Isometry3;
use std::collections::{BTreeMap, BTreeSet};
use std::f64::consts::TAU;
use tables::{DocumentSites, MjcfNames, PlantTables, PositionBlock, TendonText, WrapText};
use tarragon_geometry::{GeometryId, HeightField};
use tarragon_multibody::{BodyIndex, Joint, JointIndex, MujocoContact, MultibodyPlant};

/// Time step (s) of files without one (MuJoCo's default).
const DEFAULT_TIME_STEP: f64 = 0.002;
/// Masks of a geom without attributes.
const USUAL_MASKS: [u32; 2] = [1, 1];

/// Writer of one model.
struct MjcfWriter<'a> {
    document: ModelDocument<'a>,
    bodies: Vec<String>,
    /// Joints by index; `None` for welds, which have no element, and for joints that are left out.
    joints: Vec<Option<String>>,
    names: MjcfNames,
    layout: Layout,
    /// Per body the joint towards the body that it is in, or `None` for a free body.
    inboard: Vec<Option<JointIndex>>,
    /// Per body the bodies in it.
    inside: Vec<Vec<BodyIndex>>,
    /// Names of meshes by file and scale.
    meshes: BTreeMap<String, String>,
    /// Names of height fields.
    height_fields: Vec<(HeightField, String)>,
    /// Meshes without volume, by file and scale.
    flat_meshes: BTreeSet<String>,
    /// Pairs of bodies that are not tested against each other.
    excluded: BTreeSet<(BodyIndex, BodyIndex)>,
    /// Bodies that are no elements: their joints are those of bodies further out.
    merged: BTreeSet<BodyIndex>,
    tables: PlantTables<'a>,
    sites: DocumentSites,
    tendons: Vec<TendonText>,
    /// Name of the first tendon of each path.
    tendons_by_path: BTreeMap<String, String>,
    wraps: Vec<WrapText>,
    positions: Vec<PositionBlock>,
    /// Numbers of the force elements that are written with joints.
    written_elements: BTreeSet<usize>,
    written_actuators: Vec<usize>,
    /// Names of the actuators that are written, by index.
    actuators: BTreeMap<usize, String>,
    masks: BTreeMap<GeometryId, [u32; 2]>,
    /// Masks of geometry that has none, and collides with all.
    other_masks: [u32; 2],
    /// Geometries in pairs.
    paired: BTreeSet<GeometryId>,
    /// Names of the geoms in pairs, with their contact.
    paired_geoms: BTreeMap<GeometryId, (String, Option<MujocoContact>)>,
    /// Geometries whose contact is not MuJoCo's.
    other_contact: Vec<String>,
}

/// Writes all elements as one model.
pub(crate) fn write(mut document: ModelDocument<'_>) -> WrittenModel {
    let plant = document.plant;
    let mut taken = TakenNames::with(&["world"]);
    let bodies = document.body_names(&mut taken);
    let masks = plant.collision_masks();
    let pairs = plant.contact_pairs().iter();
    let mut writer = MjcfWriter {
        document,
        bodies,
        joints: vec![None; plant.num_joints()],
        names: MjcfNames::default(),
        layout: Layout::new(plant),
        inboard: vec![None; plant.num_bodies()],
        inside: vec![vec![]; plant.num_bodies()],
        meshes: BTreeMap::new(),
        height_fields: vec![],
        flat_meshes: BTreeSet::new(),
        excluded: contact::excluded_bodies(plant),
        merged: BTreeSet::new(),
        tables: PlantTables::new(plant),
        sites: DocumentSites::default(),
        tendons: vec![],
        tendons_by_path: BTreeMap::new(),
        wraps: vec![],
        positions: vec![],
        written_elements: BTreeSet::new(),
        written_actuators: vec![],
        actuators: BTreeMap::new(),
        other_masks: if masks.values().all(|masks| *masks == USUAL_MASKS) {
            USUAL_MASKS
        } else {
            [u32::MAX; 2]
        },
        masks,
        paired: pairs.flat_map(|(ids, _)| *ids).collect(),
        paired_geoms: BTreeMap::new(),
        other_contact: vec![],
    };
    writer.connect();
    writer.plan_sites();
    writer.write_document(&mut taken);
    WrittenModel {
        text: writer.document.xml.finish(),
        diagnostics: writer.document.diagnostics,
        files: writer.document.files,
    }
}

impl MjcfWriter<'_> {
    fn write_document(&mut self, taken_bodies: &mut TakenNames) {
        let name = self.document.model_name("model");
        let gravity = self.document.plant.gravity();
        let xml = &mut self.document.xml;
        xml.start("mujoco").attribute("model", &name);
        xml.start("compiler").attribute("angle", "radian").end();
        let cone = contact::FrictionCone::of(&self.document);
        let step = self
            .document
            .time_step
            .filter(|step| *step != DEFAULT_TIME_STEP);
        let xml = &mut self.document.xml;
        // `implicitfast` treats damping and servos implicitly, like the plant's step; MuJoCo's
        // default integrator diverges with stiff servos.
        xml.start("option").attribute("integrator", "implicitfast");
        if let Some(step) = step {
            xml.numbers("timestep", &[step]);
        }
        if gravity != crate::writing::leftovers::STANDARD_GRAVITY {
            xml.numbers("gravity", gravity.as_slice());
        }
        cone.add_attributes(xml);
        xml.end();
        self.write_meshes();
        self.write_bodies(taken_bodies);
        if !self.exclude_neighbours() {
            let xml = &mut self.document.xml;
            xml.start("option").start("flag");
            xml.attribute("filterparent", "disable").end();
            xml.end();
        }
        self.report_contact();
        self.write_skins();
        self.write_contact();
        self.write_equalities();
        self.write_actuators();
        self.write_sensors();
        self.write_keyframes();
        self.add_springs();
        self.write_tendons();
        self.report_what_is_left();
    }
}

/// Adds the attributes of a pose; those of an identity are left out.
fn pose_attributes(xml: &mut XmlText, x: &Isometry3<f64>) {
    let p = x.translation.vector;
    if p != nalgebra::Vector3::zeros() {
        xml.numbers("pos", p.as_slice());
    }
    let q = x.rotation;
    if q != nalgebra::UnitQuaternion::identity() {
        xml.numbers("quat", &[q.w, q.i, q.j, q.k]);
    }
}

/// Returns the joint of a body with its index, if the body has one.
fn joint_of(plant: &MultibodyPlant, index: Option<JointIndex>) -> Option<(JointIndex, &Joint)> {
    index.map(|index| (index, &plant[index]))
}

/// Returns the reference position of a joint with one position; beyond a full turn, readers warn.
fn reference(default: f64) -> f64 {
    if default.abs() > TAU { 0.0 } else { default }
}
