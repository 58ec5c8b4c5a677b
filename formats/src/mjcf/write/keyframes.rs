//! Keyframes and reports of what MJCF does not have.

use super::MjcfWriter;
use super::tables::PositionBlock;
use crate::writing::document::TakenNames;
use nalgebra::Vector3;
use std::collections::{BTreeMap, BTreeSet};
use tarragon_framework::math;
use tarragon_multibody::{FrameIndex, JointActuatorIndex, JointIndex, Keyframe};

impl MjcfWriter<'_> {
    pub(super) fn write_keyframes(&mut self) {
        let plant = self.document.plant;
        if plant.keyframes().is_empty() {
            return;
        }
        let mut taken = TakenNames::default();
        self.document.xml.start("keyframe");
        for key in plant.keyframes() {
            if self.positions.is_empty() && self.written_actuators.is_empty() {
                self.document.leave_out("keyframe", &[&key.name]);
                continue;
            }
            let (instance, name) = (key.model_instance, &key.name);
            let name = self.document.name(&mut taken, "keyframe", instance, name);
            let only_controls =
                !key.controls.is_empty() && key.positions.is_empty() && key.free_poses.is_empty();
            let qpos = if only_controls {
                vec![]
            } else {
                self.positions_of(key)
            };
            let ctrl = if key.controls.is_empty() {
                vec![]
            } else {
                self.controls_of(key, &name)
            };
            let qvel = if key.velocities.is_empty() && key.free_velocities.is_empty() {
                vec![]
            } else {
                self.velocities_of(key)
            };
            let xml = &mut self.document.xml;
            xml.start("key").attribute("name", &name);
            if !qpos.is_empty() {
                xml.numbers("qpos", &qpos);
            }
            if !qvel.is_empty() {
                xml.numbers("qvel", &qvel);
            }
            if !ctrl.is_empty() {
                xml.numbers("ctrl", &ctrl);
            }
            xml.end();
        }
        self.document.xml.end();
    }

    /// Returns the controls of a keyframe in the order of the file. Servos that come from
    /// controller gains hold their joints in place.
    fn controls_of(&mut self, key: &Keyframe, name: &str) -> Vec<f64> {
        let plant = self.document.plant;
        let given: BTreeMap<_, _> = key.controls.iter().copied().collect();
        let positions: BTreeMap<_, _> = key.positions.iter().map(|(j, q)| (*j, q)).collect();
        let position = |joint: JointIndex| {
            let default = || plant[joint].default_positions();
            let q = positions.get(&joint).map_or_else(default, |q| &q[..]);
            q.first().copied().unwrap_or(0.0)
        };
        let mut servos = vec![];
        let mut controls = vec![];
        for index in &self.written_actuators {
            let actuator = &plant.actuators()[*index];
            let is_servo = actuator
                .controller_gains()
                .is_some_and(|gains| gains.p > 0.0);
            controls.push(if is_servo {
                servos.push(actuator.name());
                let joints = actuator.joints();
                joints.map(|(joint, ratio)| ratio * position(joint)).sum()
            } else {
                let input = given.get(&JointActuatorIndex::new(*index)).copied();
                input.unwrap_or(0.0)
            });
        }
        for servo in servos {
            self.document.warn(format!(
                "keyframe '{name}': the input of actuator '{servo}' becomes the position of its \
                 joint, because its servo has no feed-forward effort"
            ));
        }
        controls
    }

    /// Returns the positions of a keyframe in the order of the file.
    fn positions_of(&self, key: &Keyframe) -> Vec<f64> {
        let plant = self.document.plant;
        let placed: BTreeMap<_, _> = key.free_poses.iter().copied().collect();
        let positions: BTreeMap<_, _> = key.positions.iter().map(|(j, q)| (*j, q)).collect();
        let mut qpos = vec![];
        for block in &self.positions {
            match block {
                PositionBlock::Free(body) => {
                    let found = placed.get(body).copied();
                    let x = found.unwrap_or_else(|| self.layout.x_wb(*body));
                    let (p, r) = (x.translation.vector, x.rotation);
                    qpos.extend([p.x, p.y, p.z, r.w, r.i, r.j, r.k]);
                }
                PositionBlock::Joint(index) => {
                    let joint = &plant[*index];
                    let found = positions.get(index);
                    let q = found.map_or(joint.default_positions(), |q| &q[..]);
                    match *q {
                        [roll, pitch, yaw] => {
                            let r = math::rpy(roll, pitch, yaw);
                            qpos.extend([r.w, r.i, r.j, r.k]);
                        }
                        _ => qpos.extend(q),
                    }
                }
            }
        }
        qpos
    }

    /// Returns the velocities of a keyframe in the order of the file. MuJoCo expresses angular
    /// velocities of free bodies and ball joints in the frame of the child.
    fn velocities_of(&self, key: &Keyframe) -> Vec<f64> {
        let plant = self.document.plant;
        let placed: BTreeMap<_, _> = key.free_poses.iter().copied().collect();
        let positions: BTreeMap<_, _> = key.positions.iter().map(|(j, q)| (*j, q)).collect();
        let moving: BTreeMap<_, _> = key.free_velocities.iter().copied().collect();
        let velocities: BTreeMap<_, _> = key.velocities.iter().map(|(j, v)| (*j, v)).collect();
        let mut qvel = vec![];
        for block in &self.positions {
            match block {
                PositionBlock::Free(body) => {
                    let x_wb = placed.get(body).copied();
                    let x_wb = x_wb.unwrap_or_else(|| self.layout.x_wb(*body));
                    let (v, w) = moving.get(body).map_or_else(Default::default, |v| {
                        let w = x_wb.rotation.inverse() * v.rotational;
                        (v.translational, w)
                    });
                    qvel.extend([v.x, v.y, v.z, w.x, w.y, w.z]);
                }
                PositionBlock::Joint(index) => {
                    let joint = &plant[*index];
                    let q = positions
                        .get(index)
                        .map_or(joint.default_positions(), |q| &q[..]);
                    match (velocities.get(index).map(|v| &v[..]), q) {
                        (Some(&[x, y, z]), q) if joint.kind().is_ball() => {
                            let r = match *q {
                                [w, x, y, z] => math::quaternion_wxyz([w, x, y, z]),
                                [roll, pitch, yaw] => Some(math::rpy(roll, pitch, yaw)),
                                _ => None,
                            };
                            let w = Vector3::new(x, y, z);
                            let w = r.map_or(w, |r| r.inverse() * w);
                            qvel.extend([w.x, w.y, w.z]);
                        }
                        (Some(v), _) => qvel.extend(v),
                        (None, _) => qvel.extend(vec![0.0; joint.num_velocities()]),
                    }
                }
            }
        }
        qvel
    }

    /// Reports frames, deformable bodies and model instances without gravity.
    pub(super) fn report_what_is_left(&mut self) {
        let plant = self.document.plant;
        let mut of_joints: BTreeSet<FrameIndex> = BTreeSet::new();
        for (_, joint) in plant.joints() {
            of_joints.extend(joint.frame_on_parent());
            of_joints.extend(joint.frame_on_child());
        }
        let lost = plant.declared_frames().filter(|(index, frame)| {
            let usual = frame.name().ends_with("_parent") || frame.name().ends_with("_child");
            let is_body = plant[frame.body()].body_frame() == *index;
            let is_of_joint = usual && of_joints.contains(index);
            !(is_body || is_of_joint)
        });
        let names: Vec<&str> = lost.map(|(_, f)| f.name()).collect();
        self.document.leave_each_out("frame", &names);
        let names: Vec<&str> = plant.deformable_bodies().iter().map(|b| b.name()).collect();
        self.document.leave_each_out("deformable body", &names);
        self.document.report_weightless();
    }
}
