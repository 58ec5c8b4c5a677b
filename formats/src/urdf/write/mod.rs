//! URDF, with Drake's elements.

mod constraints;
mod joints;
mod links;

use crate::writing::document::{ModelDocument, TakenNames};
use crate::writing::frames::JointFrames;
use crate::writing::written_model::WrittenModel;
use crate::writing::xml::numbers;
use nalgebra::Isometry3;
use std::collections::BTreeMap;
use tarragon_multibody::{BodyIndex, FrameIndex, JointIndex};

/// Writer of one robot.
struct UrdfWriter<'a> {
    document: ModelDocument<'a>,
    /// Links by body.
    links: Vec<String>,
    taken_links: TakenNames,
    /// Joints by index; `None` for a joint that is left out.
    joints: Vec<Option<String>>,
    taken_joints: TakenNames,
    joint_frames: JointFrames,
    /// Names of frames other than those of bodies that elements may refer to.
    frames: BTreeMap<FrameIndex, String>,
    /// Pairs of bodies whose collisions are filtered in addition.
    excluded: Vec<(BodyIndex, BodyIndex)>,
}

/// Writes all elements as one robot.
pub(crate) fn write(mut document: ModelDocument<'_>) -> WrittenModel {
    let mut taken_links = TakenNames::with(&["world"]);
    let links = document.body_names(&mut taken_links);
    let mut taken_joints = TakenNames::default();
    let plant = document.plant;
    let mut joints = vec![];
    for (_, joint) in plant.joints() {
        let written = !joint.kind().is_floating();
        let (instance, name) = (joint.model_instance(), joint.name());
        let name = || document.name(&mut taken_joints, "joint", instance, name);
        joints.push(written.then(name));
    }
    let mut writer = UrdfWriter {
        document,
        links,
        taken_links,
        joints,
        taken_joints,
        joint_frames: JointFrames::new(),
        frames: BTreeMap::new(),
        excluded: vec![],
    };
    writer.write_robot();
    WrittenModel {
        text: writer.document.xml.finish(),
        diagnostics: writer.document.diagnostics,
        files: writer.document.files,
    }
}

impl UrdfWriter<'_> {
    fn write_robot(&mut self) {
        let name = self.document.model_name("robot");
        let xml = &mut self.document.xml;
        xml.start("robot").attribute("name", &name);
        xml.attribute("xmlns:drake", "http://drake.mit.edu");
        xml.attribute("xmlns:tarragon", "https://docs.rs/tarragon");
        self.write_links();
        self.write_joints();
        self.write_frames();
        self.write_filter_groups(&name);
        self.write_constraints();
        let written = |j: JointIndex| self.joints[j.index()].is_some();
        self.document.report_default_positions(written);
        self.document.report_default_poses();
        self.document.report_cameras();
        self.document.report_the_rest();
        self.document.report_gravity();
    }

    fn write_filter_groups(&mut self, robot: &str) {
        let (taken, more) = (&mut TakenNames::default(), &self.excluded);
        let groups = self.document.filter_groups(robot, &self.links, taken, more);
        let xml = &mut self.document.xml;
        for group in groups {
            xml.start("drake:collision_filter_group")
                .attribute("name", &group.name);
            for body in group.members {
                let link = &self.links[body.index()];
                xml.start("drake:member").attribute("link", link).end();
            }
            for name in group.ignored {
                xml.start("drake:ignored_collision_filter_group");
                xml.attribute("name", &name).end();
            }
            xml.end();
        }
    }

    fn write_frames(&mut self) {
        let names: Vec<&str> = self.links.iter().map(String::as_str).collect();
        let mut taken = TakenNames::with(&names);
        let frames = self
            .document
            .declared_frames(&mut taken, &self.joint_frames);
        let plant = self.document.plant;
        for (index, body) in plant.bodies().skip(1) {
            let link = self.links[index.index()].clone();
            self.frames.insert(body.body_frame(), link);
        }
        if self
            .document
            .frames_of_bushings()
            .contains(&FrameIndex::WORLD)
        {
            // The world's own frame is not in the model.
            let name = taken.take("world_frame");
            self.document.warn(format!(
                "frame '{name}': added, because a bushing acts on the world"
            ));
            let xml = &mut self.document.xml;
            xml.start("frame").attribute("name", &name);
            xml.attribute("link", "world").end();
            self.frames.insert(FrameIndex::WORLD, name);
        }
        for frame in frames {
            if frame.is_declared {
                let link = &self.links[frame.body.index()];
                let xml = &mut self.document.xml;
                xml.start("frame").attribute("name", &frame.name);
                xml.attribute("link", link);
                pose_attributes(xml, &frame.x_bf);
                xml.end();
            }
            self.frames.insert(frame.index, frame.name);
        }
    }
}

/// Adds the attributes of a pose; those of an identity are left out.
fn pose_attributes(xml: &mut crate::writing::xml::XmlText, x: &Isometry3<f64>) {
    let p = x.translation.vector;
    if p != nalgebra::Vector3::zeros() {
        xml.attribute("xyz", &numbers(p.as_slice()));
    }
    let angles = crate::writing::poses::exact_rpy(&x.rotation);
    if angles != nalgebra::Vector3::zeros() {
        xml.attribute("rpy", &numbers(angles.as_slice()));
    }
}

/// Writes `<origin>`, unless it is the identity.
fn write_origin(xml: &mut crate::writing::xml::XmlText, x: &Isometry3<f64>) {
    if *x != Isometry3::identity() {
        xml.start("origin");
        pose_attributes(xml, x);
        xml.end();
    }
}
