//! URDF, with Drake's elements.

mod constraints;
mod filters;
mod joints;
mod links;

use super::document::{ModelDocument, TakenNames};
use super::model_writer::WrittenModel;
use super::xml::numbers;
use crate::model::{BodyIndex, FrameIndex, JointIndex, ModelInstanceIndex};
use nalgebra::Isometry3;
use std::collections::{BTreeMap, BTreeSet};

/// Writer of one robot.
struct UrdfWriter<'a> {
    document: ModelDocument<'a>,
    /// Links by body.
    links: Vec<String>,
    taken_links: TakenNames,
    /// Joints by index; `None` for a joint that is left out.
    joints: Vec<Option<String>>,
    taken_joints: TakenNames,
    /// Frames that the reader adds for joints, by name: the body and the pose, or `None` on a link
    /// that is no body of the plant.
    joint_frames: BTreeMap<String, Option<(BodyIndex, Isometry3<f64>)>>,
    /// Names of frames other than those of bodies that elements may refer to.
    frames: BTreeMap<FrameIndex, String>,
    /// Pairs of bodies whose collisions are filtered in addition.
    excluded: Vec<(BodyIndex, BodyIndex)>,
}

/// Writes all elements as one robot.
pub(super) fn write(mut document: ModelDocument<'_>) -> WrittenModel {
    let mut taken_links = TakenNames::with(&["world"]);
    let links = document.body_names(&mut taken_links, &[]);
    let mut taken_joints = TakenNames::default();
    let plant = document.plant;
    let mut joints = vec![];
    for (_, joint) in plant.joints() {
        let written = !joint.kind().is_floating();
        let (instance, name) = (joint.model_instance(), joint.name());
        let name = || document.name(&mut taken_joints, "joint", instance, name, &[]);
        joints.push(written.then(name));
    }
    let mut writer = UrdfWriter {
        document,
        links,
        taken_links,
        joints,
        taken_joints,
        joint_frames: BTreeMap::new(),
        frames: BTreeMap::new(),
        excluded: vec![],
    };
    writer.write_robot();
    WrittenModel {
        text: writer.document.xml.finish(),
        diagnostics: writer.document.diagnostics,
    }
}

impl UrdfWriter<'_> {
    fn write_robot(&mut self) {
        let name = self.robot_name();
        let xml = &mut self.document.xml;
        xml.start("robot").attribute("name", &name);
        xml.attribute("xmlns:drake", "http://drake.mit.edu");
        xml.attribute("xmlns:tarragon", "https://docs.rs/tarragon");
        self.write_links();
        self.write_joints();
        self.write_frames();
        self.write_filter_groups(&name);
        self.write_constraints();
        self.report_the_rest();
    }

    /// Returns the name of the robot. Reports the model instances that become one.
    fn robot_name(&mut self) -> String {
        let plant = self.document.plant;
        let bodies = plant.bodies().skip(1).map(|(_, b)| b.model_instance());
        let joints = plant.joints().filter(|(_, j)| !j.is_ephemeral());
        let joints = joints.map(|(_, j)| j.model_instance());
        let of_bodies: BTreeSet<FrameIndex> = plant.bodies().map(|(_, b)| b.body_frame()).collect();
        let frames = plant
            .declared_frames()
            .filter(|(index, _)| !of_bodies.contains(index));
        let frames = frames.map(|(_, f)| f.model_instance());
        let used: BTreeSet<ModelInstanceIndex> = bodies.chain(joints).chain(frames).collect();
        let names = plant.model_instance_names();
        let named = |i: &ModelInstanceIndex| names[i.index()].as_str();
        let own = used.iter().find(|i| **i > ModelInstanceIndex::DEFAULT);
        let own = own.copied().or_else(|| {
            let declared = names.len() > 2;
            (declared && used.is_empty()).then(|| ModelInstanceIndex::new(2))
        });
        let name = own.as_ref().map_or("robot", named).to_string();
        let clean = self.document.name(
            &mut TakenNames::default(),
            "model instance",
            ModelInstanceIndex::DEFAULT,
            &name,
            &[],
        );
        let others: Vec<&str> = used
            .iter()
            .filter(|i| Some(**i) != own)
            .map(named)
            .collect();
        if !others.is_empty() {
            self.document.warn(format!(
                "model instance '{}': its elements become part of robot '{clean}', because a URDF \
                 file has one model",
                others.join("', '")
            ));
        }
        let empty = (2..names.len()).map(ModelInstanceIndex::new);
        let empty = empty.filter(|i| !used.contains(i) && Some(*i) != own);
        let empty: Vec<&str> = empty.map(|i| names[i.index()].as_str()).collect();
        if !empty.is_empty() {
            let list = empty.join("', '");
            self.document.warn(format!(
                "model instance '{list}': left out, because it has no elements"
            ));
        }
        clean
    }

    fn write_frames(&mut self) {
        let plant = self.document.plant;
        let names: Vec<&str> = self.links.iter().map(String::as_str).collect();
        let mut taken = TakenNames::with(&names);
        for name in self.joint_frames.keys() {
            taken.take(name);
        }
        let mut of_joints = BTreeSet::new();
        for (_, joint) in plant.joints() {
            of_joints.extend(joint.frame_on_parent());
            of_joints.extend(joint.frame_on_child());
        }
        let used = self.frames_of_force_elements();
        for (index, frame) in plant.declared_frames() {
            let body = plant.body_at(frame.body());
            if body.body_frame() == index {
                self.frames
                    .insert(index, self.links[frame.body().index()].clone());
                continue;
            }
            let made = self.joint_frames.get(frame.name());
            let same = matches!(made, Some(Some((b, x))) if {
                *b == frame.body() && super::poses::same_pose(x, frame.pose_in_body())
            });
            if same {
                self.frames.insert(index, frame.name().into());
                continue;
            }
            // The frames of a joint without a name of their own are part of the joint.
            let is_made = frame.name().ends_with("_parent") || frame.name().ends_with("_child");
            if of_joints.contains(&index) && is_made && !used.contains(&index) {
                continue;
            }
            let instance = frame.model_instance();
            let name = self
                .document
                .name(&mut taken, "frame", instance, frame.name(), &[]);
            let link = &self.links[frame.body().index()];
            let xml = &mut self.document.xml;
            xml.start("frame").attribute("name", &name);
            xml.attribute("link", link);
            pose_attributes(xml, frame.pose_in_body());
            xml.end();
            self.frames.insert(index, name);
        }
    }

    /// Reports the elements of which URDF has no kind.
    fn report_the_rest(&mut self) {
        let plant = self.document.plant;
        let document = &mut self.document;
        let default = |j: &JointIndex| {
            let joint = plant.joint_at(*j);
            joint.default_positions().iter().any(|q| *q != 0.0)
        };
        let joints = (0..plant.num_joints()).map(JointIndex::new);
        let moved: Vec<&str> = joints
            .filter(|j| self.joints[j.index()].is_some() && default(j))
            .map(|j| plant.joint_at(j).name())
            .collect();
        document.leave_out("default positions of joint", &moved);
        let is_free = |b: &BodyIndex| {
            !plant.is_child(*b)
                || plant
                    .joints()
                    .any(|(_, j)| j.is_ephemeral() && j.child_body() == *b)
        };
        let bodies = (1..plant.num_bodies()).map(BodyIndex::new);
        let placed: Vec<&str> = bodies
            .filter(|b| plant.default_free_body_pose(*b) != Isometry3::identity() && is_free(b))
            .map(|b| plant.body_at(b).name())
            .collect();
        document.leave_out("default pose of body", &placed);
        let names: Vec<&str> = plant.deformable_bodies().iter().map(|b| b.name()).collect();
        document.leave_out("deformable body", &names);
        let names: Vec<&str> = plant.sites().iter().map(|s| s.name()).collect();
        document.leave_out("site", &names);
        let names: Vec<&str> = plant.model_cameras().iter().map(|c| &*c.name).collect();
        document.leave_out("camera", &names);
        let names: Vec<&str> = plant.keyframes().iter().map(|k| &*k.name).collect();
        document.leave_out("keyframe", &names);
        let names: Vec<&str> = plant.model_equalities().iter().map(|e| &*e.name).collect();
        document.leave_out("equality", &names);
        document.report_gravity();
    }
}

/// Adds the attributes of a pose; those of an identity are left out.
fn pose_attributes(xml: &mut super::xml::XmlText, x: &Isometry3<f64>) {
    let p = x.translation.vector;
    if p != nalgebra::Vector3::zeros() {
        xml.attribute("xyz", &numbers(p.as_slice()));
    }
    let angles = super::poses::exact_rpy(&x.rotation);
    if angles != nalgebra::Vector3::zeros() {
        xml.attribute("rpy", &numbers(angles.as_slice()));
    }
}

/// Writes `<origin>`, unless it is the identity.
fn write_origin(xml: &mut super::xml::XmlText, x: &Isometry3<f64>) {
    if *x != Isometry3::identity() {
        xml.start("origin");
        pose_attributes(xml, x);
        xml.end();
    }
}
