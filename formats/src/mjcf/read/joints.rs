//! `<joint>` and `<freejoint>`: joints between a body and its parent.

use super::builder::{FileJoint, MjcfBuilder, QposBlock};
use super::compiler::boolean;
use super::springs::with_dry_friction;
use super::tree::ElementRef;
use nalgebra::{Isometry3, Vector3};
use std::f64::consts::TAU;
use tarragon_documents::names::unused;
use tarragon_documents::xml::{Parsed, Reported};
use tarragon_framework::math;
use tarragon_framework::math::direction;
use tarragon_multibody::{BodyIndex, Joint, JointIndex, SpatialInertia};

const OWN_LIMITS: &str = "joint limits of the plant are as stiff as its time step allows";
const NO_SPRINGS: &str = "joints have no springs";
/// Attributes that Drake's reading ignores.
const IGNORED_BY_DRAKE: [(&str, &str); 6] = [
    ("actuatorfrclimited", "efforts are limited by actuators"),
    ("actuatorfrcrange", "efforts are limited by actuators"),
    ("frictionloss", "joints have no dry friction"),
    ("springdamper", NO_SPRINGS),
    ("springref", NO_SPRINGS),
    ("stiffness", NO_SPRINGS),
];
/// Attributes that neither reading uses.
const IGNORED: [(&str, &str); 8] = [
    (
        "actuatorgravcomp",
        "gravity compensation is no effort of an actuator",
    ),
    ("group", "joints are not drawn"),
    ("margin", "joint limits act where they are violated"),
    ("solimpfriction", OWN_FRICTION),
    ("solimplimit", OWN_LIMITS),
    ("solreffriction", OWN_FRICTION),
    ("solreflimit", OWN_LIMITS),
    ("user", "user data is not supported"),
];
/// Further attributes of free joints that are ignored where a file is read as by MuJoCo.
const IGNORED_IN_FREE: [(&str, &str); 4] = [
    ("frictionloss", NO_JOINT),
    ("springdamper", NO_JOINT),
    ("springref", NO_JOINT),
    ("stiffness", NO_JOINT),
];
const NO_JOINT: &str = "free bodies have no joint until the plant is built";
const OWN_FRICTION: &str = "dry friction of the plant is as stiff as its time step allows";

/// Returns true for a free joint, which has six degrees of freedom.
pub(super) fn is_free(node: ElementRef<'_>) -> bool {
    node.tag() == "freejoint" || node.text("type").is_some_and(|t| t.trim() == "free")
}

impl<'d> MjcfBuilder<'d, '_, '_> {
    /// Adds the joints between a parent and a body.
    ///
    /// Several joints are connected by massless bodies. The pose of the body enters with the first
    /// joint; as read by Drake, with the last one.
    pub(super) fn add_joints(
        &mut self,
        body_node: ElementRef<'d>,
        body: BodyIndex,
        parent: BodyIndex,
        x_pb: &Isometry3<f64>,
        x_wb: &Isometry3<f64>,
        childclass: Option<&str>,
    ) {
        let nodes = body_node
            .children()
            .filter(|c| matches!(c.tag(), "joint" | "freejoint"));
        let nodes = nodes.map(|n| self.document.defaults.apply(n, childclass));
        let (free, nodes): (Vec<_>, Vec<_>) = nodes.partition(|n| is_free(*n));
        if let Some(first) = free.first() {
            self.check_free(*first);
            if let Some(other) = free[1..].iter().chain(&nodes).next() {
                first.warning(format!(
                    "a body with a free joint must not have another <{}>; free joints are left out \
                     if there are joints of other types",
                    other.tag()
                ));
            }
        }
        let added = match nodes.split_last() {
            None if free.is_empty() => {
                let (p, b) = (self.body_frame(parent), self.body_frame(body));
                let welded = self.target.plant.weld_frames(p, b, *x_pb);
                welded.map(|_| ()).map_err(|e| body_node.error(e))
            }
            None => {
                self.free_joints
                    .extend(free.iter().filter_map(|joint| joint.name()));
                self.coordinates.push(FileJoint {
                    block: QposBlock::Free(body),
                    key_number: free.iter().find_map(|joint| joint.key_number()),
                });
                let placed = self.target.plant.set_default_free_body_pose(body, *x_wb);
                placed.map_err(|e| body_node.error(e))
            }
            Some((last, others)) => self.add_chain(body, parent, x_pb, others, *last),
        };
        // Errors were reported.
        let _ = added;
    }

    /// Warns about attributes that Drake's reading ignores.
    fn ignore_as_drake(node: ElementRef<'_>) {
        node.lost().ignore_attributes(&IGNORED_BY_DRAKE);
        node.ignore_attributes(&IGNORED);
    }

    fn check_free(&self, node: ElementRef<'_>) {
        if boolean(node, "align").is_ok_and(|align| align == Some(true)) {
            node.ignore_attributes(&[(
                "align",
                "the body frame is not aligned with the principal axes of inertia",
            )]);
        }
        if node.tag() == "joint" {
            if self.document.main_compiler().as_drake() {
                Self::ignore_as_drake(node)
            } else {
                node.ignore_attributes(&IGNORED);
                node.ignore_attributes(&IGNORED_IN_FREE);
            }
            for (name, why) in [
                ("damping", NO_JOINT),
                ("armature", NO_JOINT),
                ("range", "free joints have no limits"),
            ] {
                if node.text(name).is_some() {
                    node.ignore_attributes(&[(name, why)]);
                }
            }
        }
    }

    fn add_chain(
        &mut self,
        body: BodyIndex,
        parent: BodyIndex,
        x_pb: &Isometry3<f64>,
        others: &[ElementRef<'d>],
        last: ElementRef<'d>,
    ) -> Parsed<()> {
        let name = self.body_name(body);
        let identity = Isometry3::identity();
        let (first, last_pose) = match self.document.main_compiler().as_drake() {
            true => (&identity, x_pb),
            false if others.is_empty() => (&identity, x_pb),
            false => (x_pb, &identity),
        };
        if self.document.main_compiler().as_drake()
            && !others.is_empty()
            && *x_pb != Isometry3::identity()
        {
            let message = "several joints in a <body>: only the last one is at the pose of the \
                           body, as in Drake";
            last.lost().warning_grouped("type", message);
        }
        let mut parent = parent;
        for (i, node) in others.iter().enumerate() {
            let names = Some(&self.names).filter(|_| !self.document.main_compiler().as_drake());
            let between = unused(format!("{name}{i}"), |name| {
                names.is_some_and(|names| names.contains(name))
            });
            let zero = SpatialInertia::zero();
            let added = self
                .target
                .plant
                .add_rigid_body(&between, self.instance, zero);
            let between = added.map_err(|e| node.error(e))?;
            let pose = if i == 0 { first } else { &identity };
            self.add_joint(*node, parent, between, pose)?;
            parent = between;
        }
        self.add_joint(last, parent, body, last_pose)
    }

    fn body_name(&self, body: BodyIndex) -> String {
        let body = self.target.plant.body(body);
        body.map_or(String::new(), |b| b.name().into())
    }

    fn add_joint(
        &mut self,
        node: ElementRef<'d>,
        parent: BodyIndex,
        child: BodyIndex,
        x_pb: &Isometry3<f64>,
    ) -> Parsed<()> {
        let as_drake = self.document.main_compiler().as_drake();
        if as_drake {
            Self::ignore_as_drake(node)
        } else {
            node.ignore_attributes(&IGNORED)
        }
        let name = node.name().map_or_else(
            || format!("{}-{}", self.body_name(parent), self.body_name(child)),
            String::from,
        );
        let kind = node.text("type").map_or("hinge", str::trim);
        let position = Vector3::from(node.vector::<3>("pos")?.unwrap_or_default());
        let axis = Vector3::from(node.vector::<3>("axis")?.unwrap_or([0.0, 0.0, 1.0]));
        let (position, axis) = match node.frame() {
            None => (position, axis),
            Some(frame) => (
                frame.pose.transform_point(&position.into()).coords,
                frame.pose.rotation * axis,
            ),
        };
        let damping = node.number("damping")?.unwrap_or(0.0);
        let compiler = self.document.compiler(node);
        let scale = move |x: f64| match kind {
            "slide" => x,
            _ => compiler.angle(x),
        };
        let reference = scale(node.number("ref")?.unwrap_or(0.0));
        let x_bj = Isometry3::from(position);
        let unit = direction(axis, 1e-10).unwrap_or(Vector3::z_axis());
        // At q = ref the body is where the file puts it.
        let (joint, x_jm) = match kind {
            "hinge" => (
                Joint::revolute(&name, parent, child, axis),
                math::pose(math::axis_angle(&unit, reference), Vector3::zeros()),
            ),
            "slide" => (
                Joint::prismatic(&name, parent, child, axis),
                Isometry3::from(unit.into_inner() * reference),
            ),
            "ball" => (
                Ok(if as_drake {
                    Joint::ball_rpy(&name, parent, child)
                } else {
                    Joint::ball_quaternion(&name, parent, child)
                }),
                Isometry3::identity(),
            ),
            other => {
                let message = format!(
                    "joint '{name}': type must be hinge, slide, ball or free, got '{other}'"
                );
                return Err(node.error_at("type", message));
            }
        };
        let at_axis = |e: crate::Error| node.error_at("axis", e);
        let mut joint = joint
            .map_err(at_axis)?
            .with_pose_on_parent(x_pb * x_bj)
            .with_pose_on_child(x_bj * x_jm)
            .with_model_instance(self.instance)
            .with_damping(damping)
            .map_err(|e| node.error_at("damping", e))?;
        if kind == "ball" {
            node.ignore_attributes(&[
                ("range", "ball joints have no limits"),
                ("ref", "ball joints have no reference"),
            ]);
        } else {
            let limits = if as_drake {
                self.limits(node, "limited", "range")?
            } else {
                self.nonempty_limits(node, "limited", "range")?
            };
            if let Some([lower, upper]) = limits {
                let (lower, upper) = (scale(lower), scale(upper));
                let limited = joint.with_position_limits(vec![lower], vec![upper]);
                joint = limited.map_err(|e| node.error_at("range", e))?;
            }
            if reference != 0.0 {
                let moved = joint.with_default_positions(vec![reference]);
                joint = moved.map_err(|e| node.error_at("ref", e))?;
            }
        }
        let armature = node.number("armature")?.unwrap_or(0.0);
        let with_armature = joint.clone().with_armature(armature);
        let with_armature = with_armature.map_err(|e| node.error_at("armature", e))?;
        if !as_drake {
            joint = with_dry_friction(node, with_armature)?;
        }
        let index = self.target.plant.add_joint(joint);
        let index = index.map_err(|e| node.error(e))?;
        if let Some(name) = node.name() {
            self.joints.insert(name, index);
        }
        if as_drake {
            self.armatures.insert(index, (armature, node));
        } else {
            self.add_spring(node, index, scale)?
        }
        self.coordinates.push(FileJoint {
            block: match kind {
                "ball" => QposBlock::Ball(index),
                _ => QposBlock::Single(index),
            },
            key_number: node.key_number(),
        });
        if kind == "hinge" && reference.abs() > TAU {
            node.warning_at(
                "ref",
                format!("joint '{name}': ref is {reference:?} rad, more than a full turn"),
            );
        }
        Ok(())
    }

    /// Returns the joint of the model that an attribute names.
    pub(super) fn joint(&self, node: ElementRef<'_>, at: &str, name: &str) -> Parsed<JointIndex> {
        if let Some(joint) = self.joints.get(name) {
            return Ok(*joint);
        }
        if self.free_joints.contains(name) {
            let message =
                format!("joint '{name}' must be a hinge, a slide or a ball, got a free joint");
            return Err(node.error_at(at, message));
        }
        // The plant also knows joints with generated names, and creates the error message.
        let joint = self.target.plant.joint_by_name_in(name, self.instance);
        joint.map_err(|e| node.error_at(at, e))
    }

    /// Reads a range if it applies: the switch is `true`, or it is `auto` and the range is given.
    pub(super) fn limits(
        &self,
        node: ElementRef<'_>,
        switch: &str,
        range: &str,
    ) -> Result<Option<[f64; 2]>, Reported> {
        let given = node.range(range)?;
        match node.choice(switch, &["true", "false", "auto"])? {
            Some("true") => Ok(Some(given.unwrap_or_default())),
            Some("false") => Ok(None),
            _ if given.is_some() && !self.document.compiler(node).autolimits => {
                let message = format!(
                    "'{range}' is given without '{switch}', and the compiler's 'autolimits' is off; set \
                     '{switch}'"
                );
                Err(node.error_at(range, message))
            }
            _ => Ok(given),
        }
    }

    /// Same as [`Self::limits`] for ranges that MuJoCo ignores if they are empty, unless the switch
    /// is `true`.
    pub(super) fn nonempty_limits(
        &self,
        node: ElementRef<'_>,
        switch: &str,
        range: &str,
    ) -> Parsed<Option<[f64; 2]>> {
        let given = self.limits(node, switch, range)?;
        let Some(empty) = given.filter(|[lower, upper]| lower >= upper) else {
            return Ok(given);
        };
        if node.text(switch).is_none_or(|on| on.trim() != "true") {
            return Ok(None);
        }
        let got = match node.text(range) {
            Some(_) => format!("{empty:?}"),
            None => "none".into(),
        };
        let tag = node.tag();
        let message =
            format!("'{range}' of <{tag}> must not be empty if '{switch}' is true, got {got}");
        Err(node.error_at(range, message))
    }
}
