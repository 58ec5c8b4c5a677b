//! Frames: those that are written, and those that readers make for joints.

use super::document::{ModelDocument, TakenNames};
use super::poses::same_pose;
use nalgebra::Isometry3;
use std::collections::{BTreeMap, BTreeSet};
use tarragon_multibody::{BodyIndex, ForceElement, FrameIndex};

/// Frames that the reader adds for joints, by name: the body and the pose, or `None` on a link that
/// is no body of the plant.
pub(crate) type JointFrames = BTreeMap<String, Option<(BodyIndex, Isometry3<f64>)>>;

/// A frame of the document.
pub(crate) struct DocumentFrame {
    pub(crate) index: FrameIndex,
    pub(crate) name: String,
    pub(crate) body: BodyIndex,
    pub(crate) x_bf: Isometry3<f64>,
    /// False for a frame that the reader makes for a joint.
    pub(crate) is_declared: bool,
}

impl ModelDocument<'_> {
    /// Returns the frames of the document other than those of bodies. `taken` holds the names of
    /// everything that shares names with frames.
    pub(crate) fn declared_frames(
        &mut self,
        taken: &mut TakenNames,
        joint_frames: &JointFrames,
    ) -> Vec<DocumentFrame> {
        let plant = self.plant;
        for name in joint_frames.keys() {
            taken.reserve(name);
        }
        let mut of_joints = BTreeSet::new();
        for (_, joint) in plant.joints() {
            of_joints.extend(joint.frame_on_parent());
            of_joints.extend(joint.frame_on_child());
        }
        let used = self.frames_of_bushings();
        let mut frames = vec![];
        for (index, frame) in plant.declared_frames() {
            let (body, name) = (frame.body(), frame.name());
            if plant[body].body_frame() == index {
                continue;
            }
            let x_bf = *frame.pose_in_body();
            let made = joint_frames.get(name);
            let is_made = matches!(made, Some(Some((b, x))) if *b == body && same_pose(x, &x_bf));
            // The frames of a joint without a name of their own are part of the joint.
            let usual = name.ends_with("_parent") || name.ends_with("_child");
            if !is_made && usual && of_joints.contains(&index) && !used.contains(&index) {
                continue;
            }
            let name = if is_made {
                name.to_string()
            } else {
                self.name(taken, "frame", frame.model_instance(), name)
            };
            frames.push(DocumentFrame {
                index,
                name,
                body,
                x_bf,
                is_declared: !is_made,
            });
        }
        frames
    }

    pub(crate) fn frames_of_bushings(&self) -> BTreeSet<FrameIndex> {
        let elements = self.plant.force_elements().iter();
        let frames = elements.filter_map(|element| match element {
            ForceElement::LinearBushingRollPitchYaw {
                frame_a, frame_c, ..
            } => Some([*frame_a, *frame_c]),
            _ => None,
        });
        frames.flatten().collect()
    }
}
