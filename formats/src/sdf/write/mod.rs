//! SDFormat, with Drake's elements.

mod drake;
mod joints;
mod links;

use crate::writing::document::{ModelDocument, TakenNames};
use crate::writing::frames::{DocumentFrame, JointFrames};
use crate::writing::layout::Layout;
use crate::writing::poses::exact_rpy;
use crate::writing::written_model::WrittenModel;
use crate::writing::xml::{XmlText, numbers};
use nalgebra::Isometry3;
use std::collections::BTreeMap;
use tarragon_multibody::{BodyIndex, FrameIndex, JointIndex, JointKind};

/// Version of the format.
const VERSION: &str = "1.9";

/// Name of the frame that the reader adds for a model.
const MODEL_FRAME: &str = "__model__";

/// Writer of one model.
struct SdfWriter<'a> {
    document: ModelDocument<'a>,
    /// Links by body.
    links: Vec<String>,
    /// Joints by index; `None` for a joint that is left out.
    joints: Vec<Option<String>>,
    /// Names of links, frames, joints and filter groups, which must all be different.
    taken: TakenNames,
    joint_frames: JointFrames,
    /// Names of frames to which elements may refer.
    frames: BTreeMap<FrameIndex, String>,
    layout: Layout,
    /// Pose of the model in the world.
    x_wm: Isometry3<f64>,
}

/// Writes all elements as one model.
pub(crate) fn write(mut document: ModelDocument<'_>) -> WrittenModel {
    let plant = document.plant;
    let mut taken = TakenNames::with(&["world"]);
    let links = document.body_names(&mut taken);
    let mut writer = SdfWriter {
        document,
        links,
        joints: vec![],
        taken,
        joint_frames: JointFrames::new(),
        frames: BTreeMap::new(),
        layout: Layout::new(plant),
        x_wm: Isometry3::identity(),
    };
    writer.name_joints();
    writer.write_document();
    WrittenModel {
        text: writer.document.xml.finish(),
        diagnostics: writer.document.diagnostics,
        files: writer.document.files,
    }
}

impl SdfWriter<'_> {
    fn name_joints(&mut self) {
        for (_, joint) in self.document.plant.joints() {
            let (instance, name) = (joint.model_instance(), joint.name());
            if joint.is_ephemeral() {
                self.joints.push(None);
                continue;
            }
            if let Some(why) = joints::refusal(joint) {
                self.document.leave_joint_out(joint, &self.links, &why);
                self.joints.push(None);
                continue;
            }
            let name = self.document.name(&mut self.taken, "joint", instance, name);
            // Frames of the plant share names with those that the reader makes.
            if !matches!(
                joint.kind(),
                JointKind::Planar | JointKind::Curvilinear { .. }
            ) {
                let (p, c) = (joint.parent_body(), joint.child_body());
                for (end, body, x) in [
                    ("parent", p, joint.pose_on_parent()),
                    ("child", c, joint.pose_on_child()),
                ] {
                    let made = format!("{name}_{end}");
                    self.joint_frames.insert(made, Some((body, *x)));
                }
            }
            self.joints.push(Some(name));
        }
    }

    fn write_document(&mut self) {
        let name = self.document.model_name("model");
        let plant = self.document.plant;
        let xml = &mut self.document.xml;
        xml.start("sdf").attribute("version", VERSION);
        xml.attribute("xmlns:drake", "http://drake.mit.edu");
        xml.attribute("xmlns:tarragon", "https://docs.rs/tarragon");
        xml.start("model").attribute("name", &name);
        // The frame of the model moves with its first link unless another one is named.
        let of_model = plant.declared_frames().map(|(_, f)| f);
        let of_model = of_model.filter(|f| f.name() == MODEL_FRAME && f.body().index() > 0);
        let of_model = of_model.collect::<Vec<_>>();
        if let Some(frame) = of_model.first() {
            let (body, x_bf) = (frame.body(), frame.pose_in_body());
            self.x_wm = self.layout.x_wb(body) * x_bf;
            xml.attribute("canonical_link", &self.links[body.index()]);
            write_pose(xml, &self.x_wm, None);
        }
        if plant.num_bodies() == 1 {
            // A model must have a link or be static.
            xml.text("static", "true");
        }
        self.write_links();
        self.collect_frames();
        self.write_joints();
        self.write_drake_elements(&name);
        let written = |j: JointIndex| self.joints[j.index()].is_some();
        self.document.report_default_positions(written);
        self.document.report_the_rest();
        self.document.report_gravity();
    }

    /// Writes the frames of the plant and keeps their names.
    fn collect_frames(&mut self) {
        let plant = self.document.plant;
        for (index, body) in plant.bodies().skip(1) {
            self.frames
                .insert(body.body_frame(), self.links[index.index()].clone());
        }
        // The frame of the model is made by the reader.
        let mut made = self.joint_frames.clone();
        let of_model = plant
            .declared_frames()
            .find(|(_, f)| f.name() == MODEL_FRAME && f.body().index() > 0);
        if let Some((_, frame)) = of_model {
            let place = (frame.body(), *frame.pose_in_body());
            made.insert(MODEL_FRAME.into(), Some(place));
        }
        let frames = self.document.declared_frames(&mut self.taken, &made);
        let is_on_world = |f: &DocumentFrame| f.body == BodyIndex::WORLD;
        // Within a model nothing can be attached to the world.
        let lost = frames.iter().filter(|f| is_on_world(f) && f.is_declared);
        let lost: Vec<&str> = lost.map(|f| f.name.as_str()).collect();
        self.document.leave_out("frame on the world", &lost);
        for frame in frames {
            if is_on_world(&frame) {
                continue;
            }
            if frame.is_declared {
                self.write_frame(&frame.name, frame.body, &frame.x_bf);
            }
            self.frames.insert(frame.index, frame.name);
        }
    }

    fn write_frame(&mut self, name: &str, body: BodyIndex, x_bf: &Isometry3<f64>) {
        let link = &self.links[body.index()];
        let xml = &mut self.document.xml;
        xml.start("frame").attribute("name", name);
        xml.attribute("attached_to", link);
        write_pose(xml, x_bf, None);
        xml.end();
    }
}

/// Writes `<pose>`, unless it is the identity in the default frame.
fn write_pose(xml: &mut XmlText, x: &Isometry3<f64>, relative_to: Option<&str>) {
    if *x == Isometry3::identity() && relative_to.is_none() {
        return;
    }
    xml.start("pose");
    if let Some(frame) = relative_to {
        xml.attribute("relative_to", frame);
    }
    let (p, angles) = (x.translation.vector, exact_rpy(&x.rotation));
    xml.end_with_text(&numbers(&[p.x, p.y, p.z, angles.x, angles.y, angles.z]));
}
