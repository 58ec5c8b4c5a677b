//! Sites, cameras and keyframes, which are kept in addition to bodies and joints.

use super::actuators::{EFFORT_IS_INPUT, NO_STATES};
use super::builder::{MjcfBuilder, QposBlock};
use super::compiler::z_to;
use super::tree::ElementRef;
use crate::document::xml::Parsed;
use crate::model::checks::direction;
use crate::model::{BodyIndex, FixedOffsetFrame, JointActuatorIndex, Keyframe, ModelCamera};
use crate::spatial::SpatialVector;
use nalgebra::Vector3;
use std::f64::consts::PI;
use tarragon_framework::counted;
use tarragon_framework::math;

const FIELD_OF_VIEW: &str = "the image is defined by 'fovy' and 'resolution'";
const IGNORED_IN_CAMERA: [(&str, &str); 8] = [
    ("focal", FIELD_OF_VIEW),
    ("focalpixel", FIELD_OF_VIEW),
    ("ipd", "stereo cameras are not supported"),
    ("principal", FIELD_OF_VIEW),
    ("principalpixel", FIELD_OF_VIEW),
    ("sensorsize", FIELD_OF_VIEW),
    ("target", "cameras are fixed to their bodies"),
    ("user", "user data is not supported"),
];
const NOT_HELD: &str = "keyframes hold no poses of mocap bodies";
const IGNORED_IN_KEY: [(&str, &str); 2] = [("mpos", NOT_HELD), ("mquat", NOT_HELD)];
/// Further attributes of keyframes that are ignored where a file is read as by Drake.
const IGNORED_IN_KEY_AS_IN_DRAKE: [(&str, &str); 3] = [
    ("ctrl", EFFORT_IS_INPUT),
    ("act", NO_STATES),
    ("qvel", "keyframes hold positions only"),
];

impl<'d> MjcfBuilder<'d, '_, '_> {
    /// Adds a site, which is not a frame of the plant, as in Drake. A site without a name is
    /// skipped, because nothing can refer to it.
    pub(super) fn add_site(&mut self, node: ElementRef<'d>, body: BodyIndex) -> Parsed<()> {
        let Some(name) = node.name() else {
            return Ok(());
        };
        let pose = match node.vector::<6>("fromto")? {
            None => self.document.compiler(node).pose(node)?,
            Some([a, b, c, d, e, f]) => {
                let (from, to) = (Vector3::new(a, b, c), Vector3::new(d, e, f));
                let z = direction(to - from, 1e-10).map(|z| z_to(&z));
                let pose = math::pose(z.unwrap_or_default(), (from + to) / 2.0);
                node.frame().map_or(pose, |frame| frame.pose * pose)
            }
        };
        let site = FixedOffsetFrame::new(name, body, pose).with_model_instance(self.instance);
        let added = self.target.plant.add_site(site);
        added.map_err(|e| node.error(e))?;
        self.sites.insert(name, (body, pose));
        Ok(())
    }

    pub(super) fn add_camera(&mut self, node: ElementRef<'_>, body: BodyIndex) -> Parsed<()> {
        node.ignore_attributes(&IGNORED_IN_CAMERA);
        let number = self.num_cameras;
        self.num_cameras += 1;
        let name = node
            .name()
            .map_or_else(|| format!("camera{number}"), String::from);
        if let Some(mode) = node.text("mode").filter(|m| m.trim() != "fixed") {
            let message = format!(
                "camera '{name}': mode '{mode}' is ignored: the camera is fixed to its body"
            );
            node.warning_at("mode", message);
        }
        let parallel = ["orthographic", "projection"].into_iter().find(|at| {
            let value = node.text(at).map(str::trim);
            matches!(value, Some("true" | "orthographic"))
        });
        if let Some(at) = parallel {
            let message = format!(
                "camera '{name}': orthographic projection is ignored: the projection is perspective"
            );
            node.warning_at(at, message);
        }
        let mut camera = ModelCamera::new(name, self.body_frame(body));
        // MuJoCo's cameras look along -z, with y up.
        let turned = math::pose(math::rotation_x(PI), Vector3::zeros());
        camera.x_fc = self.document.compiler(node).pose(node)? * turned;
        if let Some(fovy) = node.number("fovy")? {
            camera.fov_y = fovy.to_radians();
        }
        if let Some(size) = node.vector::<2>("resolution")? {
            let pixels = |x: f64| x.clamp(0.0, f64::from(u32::MAX)) as u32;
            [camera.width, camera.height] = size.map(pixels);
        }
        if let Some(output) = node.text("output") {
            camera.rgb = output.split_whitespace().any(|o| o == "rgb");
            camera.depth = output.split_whitespace().any(|o| o == "depth");
        }
        let added = self.target.plant.add_model_camera(camera);
        added.map_err(|e| node.error(e))
    }

    /// Adds the keyframes, which are named positions.
    pub(super) fn add_keyframes(&mut self, root: ElementRef<'d>) {
        let keys = root.children_named("keyframe").flat_map(|k| k.children());
        for (number, node) in keys.enumerate() {
            // Errors were reported.
            let _ = self.add_keyframe(node, number);
        }
    }

    fn add_keyframe(&mut self, node: ElementRef<'_>, number: usize) -> Parsed<()> {
        if node.tag() != "key" {
            node.ignored("<keyframe> must hold <key> elements");
            return Ok(());
        }
        node.ignore_attributes(&IGNORED_IN_KEY);
        let as_drake = self.document.main_compiler().as_drake();
        let controls = match as_drake {
            true => {
                node.lost().ignore_attributes(&IGNORED_IN_KEY_AS_IN_DRAKE);
                vec![]
            }
            false => self.read_controls(node)?,
        };
        let qpos = node.numbers("qpos")?;
        let qvel = node.numbers("qvel")?.filter(|_| !as_drake);
        if qpos.is_none() && qvel.is_none() && controls.is_empty() {
            return Ok(());
        }
        let size = |c: &QposBlock| match c {
            QposBlock::Free(_) => 7,
            QposBlock::Ball(_) => 4,
            QposBlock::Single(_) => 1,
        };
        let expected: usize = self.coordinates.iter().map(size).sum();
        let name = node
            .name()
            .map_or_else(|| format!("key{number}"), String::from);
        if let Some(qpos) = qpos.as_ref().filter(|qpos| qpos.len() != expected) {
            let message = format!(
                "keyframe '{name}' is left out: 'qpos' has {numbers}, but the joints that were \
                 read have {positions}",
                numbers = counted(qpos.len(), "number"),
                positions = counted(expected, "position")
            );
            node.warning_at("qpos", message);
            return Ok(());
        }
        let mut keyframe = Keyframe {
            name,
            model_instance: self.instance,
            controls,
            ..Keyframe::default()
        };
        let quaternion = |q: &[f64]| {
            let q = math::quaternion_wxyz([q[0], q[1], q[2], q[3]]);
            q.ok_or_else(|| node.error_at("qpos", "a quaternion must not be zero"))
        };
        let mut rest = qpos.as_deref().unwrap_or_default();
        let coordinates = self.coordinates.iter().filter(|_| qpos.is_some());
        for coordinate in coordinates {
            let (own, others) = rest.split_at(size(coordinate));
            rest = others;
            match coordinate {
                QposBlock::Free(body) => {
                    let position = Vector3::new(own[0], own[1], own[2]);
                    let pose = math::pose(quaternion(&own[3..])?, position);
                    keyframe.free_poses.push((*body, pose));
                }
                QposBlock::Ball(joint) => {
                    let angles = math::rpy_of(&quaternion(own)?);
                    keyframe.positions.push((*joint, angles.as_slice().into()));
                }
                QposBlock::Single(joint) => keyframe.positions.push((*joint, own.into())),
            }
        }
        if let Some(qvel) = qvel {
            self.add_velocities(node, &mut keyframe, &qvel);
        }
        let added = self.target.plant.add_keyframe(keyframe);
        added.map_err(|e| node.error(e))
    }

    /// Adds the velocities of a keyframe, `qvel`, to its positions.
    fn add_velocities(&self, node: ElementRef<'_>, keyframe: &mut Keyframe, qvel: &[f64]) {
        let size = |c: &QposBlock| match c {
            QposBlock::Free(_) => 6,
            QposBlock::Ball(_) => 3,
            QposBlock::Single(_) => 1,
        };
        let expected: usize = self.coordinates.iter().map(size).sum();
        if qvel.len() != expected {
            let message = format!(
                "keyframe '{}': 'qvel' is ignored: it has {numbers}, but the joints that were \
                 read have {velocities}",
                keyframe.name,
                numbers = counted(qvel.len(), "number"),
                velocities = counted(expected, "velocity")
            );
            return node.warning_at("qvel", message);
        }
        let mut rest = qvel;
        for coordinate in &self.coordinates {
            let (own, others) = rest.split_at(size(coordinate));
            rest = others;
            match coordinate {
                // MuJoCo expresses angular velocities of free and ball joints in the child's frame.
                QposBlock::Free(body) => {
                    let pose = keyframe.free_poses.iter().find(|(of, _)| of == body);
                    let pose = pose
                        .map(|(_, x_wb)| *x_wb)
                        .or(self.poses.get(body).copied());
                    let angular = Vector3::new(own[3], own[4], own[5]);
                    let velocity = SpatialVector {
                        rotational: pose.unwrap_or_default().rotation * angular,
                        translational: Vector3::new(own[0], own[1], own[2]),
                    };
                    keyframe.free_velocities.push((*body, velocity));
                }
                QposBlock::Ball(joint) => {
                    let angles = keyframe.positions.iter().find(|(of, _)| of == joint);
                    let angles = angles.map_or(&[0.0; 3][..], |(_, angles)| angles);
                    let rotation = math::rpy(angles[0], angles[1], angles[2]);
                    let velocity = rotation * Vector3::new(own[0], own[1], own[2]);
                    keyframe
                        .velocities
                        .push((*joint, velocity.as_slice().into()));
                }
                QposBlock::Single(joint) => keyframe.velocities.push((*joint, own.into())),
            }
        }
    }

    /// Reads the inputs of actuators in a keyframe: activations of those that have some in MuJoCo,
    /// and controls of the others.
    fn read_controls(&self, node: ElementRef<'_>) -> Parsed<Vec<(JointActuatorIndex, f64)>> {
        let num_activations = self.actuators.iter().map(|a| a.num_activations).sum();
        let given = |name: &str, expected: usize, what: &str| {
            let numbers = node.numbers(name)?.unwrap_or_default();
            if numbers.is_empty() || numbers.len() == expected {
                return Ok(numbers);
            }
            let message = format!(
                "'{name}' of a keyframe is ignored: it has {numbers}, but there {be} {what}",
                numbers = counted(numbers.len(), "number"),
                be = if expected == 1 { "is" } else { "are" },
                what = counted(expected, what)
            );
            node.warning_at(name, message);
            Ok(vec![])
        };
        let controls = given("ctrl", self.actuators.len(), "actuator")?;
        let activations = given("act", num_activations, "activation")?;
        let mut inputs = vec![];
        let mut place = 0;
        for (k, input) in self.actuators.iter().enumerate() {
            let number = match input.num_activations {
                0 => controls.get(k),
                _ => activations.get(place),
            };
            place += input.num_activations;
            if let (Some(actuator), Some(number)) = (input.actuator, number) {
                inputs.push((actuator, *number));
            }
        }
        Ok(inputs)
    }
}
