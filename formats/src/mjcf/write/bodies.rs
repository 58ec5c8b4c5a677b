//! Bodies with their joints.

use super::inertial::write_nothing_inertial;
use super::tables::PositionBlock;
use super::{MjcfWriter, joint_of, pose_attributes, reference};
use crate::writing::document::TakenNames;
use crate::writing::limits::limits_of;
use crate::writing::poses::is_identity;
use nalgebra::{Isometry3, Vector3};
use std::collections::BTreeMap;
use std::f64::consts::PI;
use tarragon_framework::math;
use tarragon_multibody::{BodyIndex, Joint, JointIndex, JointKind, ModelCamera, SpatialInertia};

/// A joint as MJCF states it: seen from the body that it moves.
pub(super) struct MjcfJoint<'a> {
    joint: &'a Joint,
    kind: &'static str,
    /// Pose of the body in the body around it, at the reference position.
    pub(super) x_pb: Isometry3<f64>,
    /// Position and axis in the frame of the body.
    pos: Vector3<f64>,
    axis: Option<Vector3<f64>>,
    /// Pose of the body in the joint's frame if a body between them is needed.
    pub(super) behind: Option<Isometry3<f64>>,
}

/// Largest number of joints that are written into one body.
const LONGEST_CHAIN: usize = 8;

/// Step of the walk through the tree of bodies.
enum Step {
    Enter(BodyIndex),
    Leave,
}

impl MjcfWriter<'_> {
    /// Finds the body around each body, and names the joints.
    pub(super) fn connect(&mut self) {
        let plant = self.document.plant;
        let mut between: BTreeMap<(BodyIndex, BodyIndex), JointIndex> = BTreeMap::new();
        for (index, joint) in plant.joints().filter(|(_, j)| !j.is_ephemeral()) {
            let (a, b) = (joint.parent_body(), joint.child_body());
            between.insert((a.min(b), a.max(b)), index);
        }
        let mut taken = TakenNames::default();
        let mut others = vec![];
        for body in self.layout.order.clone() {
            let base = self.layout.placements[body.index()].map_or(BodyIndex::WORLD, |p| p.base);
            let joint = between.get(&(base.min(body), base.max(body))).copied();
            let joint = joint.filter(|j| self.has_element(*j));
            let base = if joint.is_some() {
                base
            } else {
                BodyIndex::WORLD
            };
            self.inside[base.index()].push(body);
            self.inboard[body.index()] = joint;
            let Some(index) = joint else { continue };
            let joint = &plant[index];
            if joint.child_body() != body {
                let name = joint.name();
                self.document.warn(format!(
                    "joint '{name}': parent and child are swapped, because the parent is inside \
                     the child"
                ));
            }
            match joint.kind() {
                JointKind::Weld { .. } => {
                    // The reader makes the name of a weld from those of its bodies.
                    let [p, b] = [base, body].map(|b| &self.bodies[b.index()]);
                    let made = format!("{p}_welds_to_{b}");
                    taken.reserve(&made);
                    if made != joint.name() {
                        let name = joint.name();
                        self.document.warn(format!(
                            "joint '{name}' is renamed to '{made}': welds of MJCF have no names"
                        ));
                    }
                }
                _ => others.push(index),
            }
        }
        others.sort();
        for index in others {
            let joint = &plant[index];
            let (instance, name) = (joint.model_instance(), joint.name());
            let name = self.document.name(&mut taken, "joint", instance, name);
            self.joints[index.index()] = Some(name);
        }
        for inside in &mut self.inside {
            inside.sort();
        }
    }

    /// Returns true if MJCF has the kind of a joint; reports it otherwise.
    fn has_element(&mut self, index: JointIndex) -> bool {
        let joint = &self.document.plant[index];
        let is_simple = matches!(
            joint.kind(),
            JointKind::Weld { .. } | JointKind::Revolute { .. } | JointKind::Prismatic { .. }
        );
        let known = is_simple || joint.kind().is_ball();
        if !known {
            let kind = joint.kind().type_name();
            let why = format!("MJCF has no joints of kind {kind}");
            self.document.leave_joint_out(joint, &self.bodies, &why);
        }
        known
    }

    pub(super) fn write_bodies(&mut self, taken: &mut TakenNames) {
        let indices = (0..self.bodies.len()).map(BodyIndex::new);
        let elements = indices.filter(|body| !self.is_between_joints(*body));
        let names = elements.map(|body| self.bodies[body.index()].clone());
        self.names.of_elements = names.collect();
        self.document.xml.start("worldbody");
        self.write_content(BodyIndex::WORLD);
        let mut steps: Vec<Step> = vec![];
        let enter = |inside: &[BodyIndex], steps: &mut Vec<Step>| {
            steps.extend(inside.iter().rev().map(|b| Step::Enter(*b)));
        };
        enter(&self.inside[0], &mut steps);
        while let Some(step) = steps.pop() {
            let Step::Enter(body) = step else {
                self.document.xml.end();
                continue;
            };
            let chain = self.chain_from(body);
            let leaf = chain[chain.len() - 1];
            self.merged.extend(&chain[..chain.len() - 1]);
            self.report_massless(leaf);
            steps.push(Step::Leave);
            if self.write_body(&chain, taken) {
                steps.push(Step::Leave);
            }
            enter(&self.inside[leaf.index()], &mut steps);
        }
        self.document.xml.end();
    }

    /// Returns the bodies from this one to the one that the joints of all of them move: readers
    /// connect several joints of a body by massless bodies with names made from its own.
    fn chain_from(&self, body: BodyIndex) -> Vec<BodyIndex> {
        let plant = self.document.plant;
        let mut chain = vec![body];
        while let [next] = *self.inside[chain[chain.len() - 1].index()]
            && chain.len() < LONGEST_CHAIN
            && self.is_between_joints(chain[chain.len() - 1])
            && self.has_named_joint(next)
            && joint_of(plant, self.inboard[next.index()])
                .map(|(_, joint)| place(joint, next))
                .is_some_and(|placed| placed.behind.is_none() && is_identity(&placed.x_pb))
        {
            chain.push(next);
        }
        let (leaf, others) = (chain[chain.len() - 1], &chain[..chain.len() - 1]);
        let leaf = &self.bodies[leaf.index()];
        let is_made = |(i, body): (usize, &BodyIndex)| {
            let mut made = format!("{leaf}{i}");
            while self.names.of_elements.contains(&made) {
                made.push('_');
            }
            self.bodies[body.index()] == made
        };
        if others.iter().enumerate().all(is_made) {
            chain
        } else {
            vec![body]
        }
    }

    fn has_named_joint(&self, body: BodyIndex) -> bool {
        self.inboard[body.index()].is_some_and(|j| self.joints[j.index()].is_some())
    }

    /// Returns true for a body that has nothing but a joint.
    fn is_between_joints(&self, body: BodyIndex) -> bool {
        let plant = self.document.plant;
        let joint = joint_of(plant, self.inboard[body.index()]);
        let turned = joint.is_none_or(|(_, joint)| place(joint, body).behind.is_some());
        !turned
            && self.has_named_joint(body)
            && *plant[body].spatial_inertia() == SpatialInertia::zero()
            && plant[body].gravity_compensation() == 0.0
            && [true, false].map(|v| self.document.geometries(body, v).is_empty()) == [true; 2]
            && !self.has_site(body)
            && !self.tables.cameras.contains_key(&body)
            // MuJoCo knows no names of bodies that are no elements.
            && !self.tables.constrained.contains(&body)
    }

    /// Writes a body with the joints of a chain, but for the bodies inside it. Returns true if
    /// there is a body around it that ends with it.
    fn write_body(&mut self, chain: &[BodyIndex], taken: &mut TakenNames) -> bool {
        let plant = self.document.plant;
        let body = chain[chain.len() - 1];
        let name = self.bodies[body.index()].clone();
        let joint = joint_of(plant, self.inboard[body.index()]);
        let joints: Vec<(JointIndex, MjcfJoint<'_>)> = chain
            .iter()
            .filter_map(|b| {
                let (index, joint) = joint_of(plant, self.inboard[b.index()])?;
                Some((index, place(joint, *b)))
            })
            .collect();
        let behind = joints.last().and_then(|(_, placed)| placed.behind);
        let outer = behind.map(|_| {
            let outer = taken.take(&format!("{name}_joint_frame"));
            let joint = joint.map_or("", |(_, j)| j.name());
            self.document.warn(format!(
                "joint '{joint}': the frame in body '{name}' is turned; massless body '{outer}' \
                 and weld '{outer}_welds_to_{name}' are added between them"
            ));
            outer
        });
        let x = match joints.first() {
            Some((_, placed)) => placed.x_pb,
            None => self.layout.x_wb(body),
        };
        let xml = &mut self.document.xml;
        xml.start("body");
        xml.attribute("name", outer.as_ref().unwrap_or(&name));
        pose_attributes(xml, &x);
        if outer.is_some() {
            write_nothing_inertial(xml);
        } else {
            self.write_mass(&name, body);
        }
        if joints.is_empty() {
            self.document.xml.start("freejoint").end();
            self.positions.push(PositionBlock::Free(body));
        }
        for (index, placed) in &joints {
            self.write_joint(*index, placed);
        }
        if let Some(x_mb) = behind {
            let xml = &mut self.document.xml;
            xml.start("body").attribute("name", &name);
            pose_attributes(xml, &x_mb);
            self.write_mass(&name, body);
        }
        self.write_content(body);
        behind.is_some()
    }

    fn write_joint(&mut self, index: JointIndex, placed: &MjcfJoint<'_>) {
        let Some(name) = self.joints[index.index()].clone() else {
            return;
        };
        let joint = placed.joint;
        let [position, rates @ ..] = limits_of(joint);
        for limits in rates {
            let all = limits.lower.iter().chain(limits.upper);
            if all.into_iter().any(|x| x.is_finite()) {
                let what = limits.name;
                self.document.warn(format!(
                    "joint '{name}': its {what} limits are left out, because MJCF has none"
                ));
            }
        }
        self.document.report_damping(&name, joint);
        self.document.report_ball(&name, joint);
        let default = joint.default_positions().first().copied();
        let default = default.unwrap_or_default();
        let has_one = placed.axis.is_some();
        let lost = if has_one {
            reference(default) != default
        } else {
            let limits = position.lower.iter().chain(position.upper);
            if limits.into_iter().any(|x| x.is_finite()) {
                self.document.warn(format!(
                    "joint '{name}': its position limits are left out, because ball joints \
                     have none"
                ));
            }
            joint.default_positions() != joint.kind().zero_positions()
        };
        if lost {
            self.document
                .leave_out("default positions of joint", &[&name]);
        }
        let armature = self.armature(index);
        let spring = self.spring_of(index);
        self.positions.push(PositionBlock::Joint(index));
        let xml = &mut self.document.xml;
        xml.start("joint").attribute("name", &name);
        xml.attribute("type", placed.kind);
        if placed.pos != Vector3::zeros() {
            xml.numbers("pos", placed.pos.as_slice());
        }
        if let Some(axis) = placed.axis {
            xml.numbers("axis", axis.as_slice());
            let range = [position.lower[0], position.upper[0]];
            if range.iter().any(|x| x.is_finite()) {
                xml.numbers("range", &range);
            }
            if reference(default) != 0.0 {
                xml.numbers("ref", &[reference(default)]);
            }
        }
        let damping = joint.damping().first().copied().unwrap_or_default();
        let [stiffness, rest] = spring.unwrap_or_default();
        for (tag, value) in [
            ("damping", damping),
            ("armature", armature),
            ("frictionloss", joint.dry_friction()),
            ("stiffness", stiffness),
            ("springref", rest),
        ] {
            if value != 0.0 {
                xml.numbers(tag, &[value]);
            }
        }
        xml.end();
    }

    /// Returns stiffness and rest position of the first spring on a joint.
    fn spring_of(&mut self, index: JointIndex) -> Option<[f64; 2]> {
        let (number, spring) = *self.tables.springs.get(&index)?;
        self.written_elements.insert(number);
        Some(spring)
    }

    /// Returns the body around a body, and the joint between them, unless the body is free.
    pub(super) fn placed(&self, body: BodyIndex) -> Option<(BodyIndex, MjcfJoint<'_>)> {
        let (_, joint) = joint_of(self.document.plant, self.inboard[body.index()])?;
        let base = if joint.child_body() == body {
            joint.parent_body()
        } else {
            joint.child_body()
        };
        Some((base, place(joint, body)))
    }

    /// Writes geoms, sites and cameras.
    fn write_content(&mut self, body: BodyIndex) {
        self.write_geoms(body);
        self.write_sites(body);
        for camera in self.tables.cameras.remove(&body).unwrap_or_default() {
            self.write_camera(camera);
        }
    }

    fn write_camera(&mut self, camera: &ModelCamera) {
        let usual = ModelCamera::new("", camera.frame);
        if (camera.near, camera.far, camera.fps) != (usual.near, usual.far, usual.fps) {
            self.document.warn(format!(
                "camera '{}': clipping planes and rate are left out, because MJCF has none",
                camera.name
            ));
        }
        let frame = &self.document.plant[camera.frame];
        let (instance, taken) = (frame.model_instance(), &mut self.names.cameras);
        let name = self.document.name(taken, "camera", instance, &camera.name);
        // Cameras of MJCF look along -z, with y up.
        let turned = math::pose(math::rotation_x(PI), Vector3::zeros());
        let x_bc = frame.pose_in_body() * camera.x_fc * turned.inverse();
        let xml = &mut self.document.xml;
        xml.start("camera").attribute("name", &name);
        pose_attributes(xml, &x_bc);
        xml.numbers("fovy", &[camera.fov_y.to_degrees()]);
        let size = [camera.width, camera.height].map(f64::from);
        xml.numbers("resolution", &size);
        let outputs = [("rgb", camera.rgb), ("depth", camera.depth)];
        let outputs = outputs.into_iter().filter(|(_, on)| *on).map(|(o, _)| o);
        let outputs: Vec<&str> = outputs.collect();
        if outputs != ["rgb"] {
            xml.attribute("output", &outputs.join(" "));
        }
        xml.end();
    }
}

/// Finds the placement of a joint that moves `body`, its child or, reversed, its parent.
fn place(joint: &Joint, body: BodyIndex) -> MjcfJoint<'_> {
    let is_child = joint.child_body() == body;
    let (x_pf, x_bm, sign) = if is_child {
        (joint.pose_on_parent(), joint.pose_on_child(), 1.0)
    } else {
        (joint.pose_on_child(), joint.pose_on_parent(), -1.0)
    };
    let axis = joint.kind().axis().map(|a| a.into_inner() * sign);
    let default = joint.default_positions().first().copied();
    let q = reference(default.unwrap_or_default());
    let mut placed = MjcfJoint {
        joint,
        kind: "ball",
        x_pb: Isometry3::identity(),
        pos: x_bm.translation.vector,
        axis: axis.map(|a| x_bm.rotation * a),
        behind: None,
    };
    let moved = match (joint.kind(), axis) {
        (JointKind::Weld { x_fm }, _) => {
            if is_child {
                *x_fm
            } else {
                x_fm.inverse()
            }
        }
        (JointKind::Prismatic { .. }, Some(a)) => {
            placed.kind = "slide";
            Isometry3::from(a * q)
        }
        (JointKind::Revolute { .. }, Some(a)) => {
            placed.kind = "hinge";
            let turn = nalgebra::Unit::new_unchecked(a);
            math::pose(math::axis_angle(&turn, q), Vector3::zeros())
        }
        _ => Isometry3::identity(),
    };
    let turn = math::pose(x_bm.rotation, Vector3::zeros());
    if joint.kind().is_ball() && !is_identity(&turn) {
        // The positions of a ball joint are those in its own frame.
        placed.x_pb = *x_pf;
        placed.pos = Vector3::zeros();
        placed.behind = Some(x_bm.inverse());
        return placed;
    }
    placed.x_pb = x_pf * moved * x_bm.inverse();
    placed
}
