//! Making a tree of bodies and joints.

use crate::coordinates::Coordinates;
use crate::error::{Error, Result};
use crate::index::{BodyIndex, JointIndex};
use crate::joint::{Attachment, Joint, JointKind};
use crate::kinematics::{Inboard, KinematicTree};
use crate::lookup::positions_of;
use crate::plant::MultibodyPlant;
use nalgebra::{Isometry3, Matrix3, Unit, Vector3};
use std::collections::{BTreeMap, VecDeque};
use tarragon_framework::{Scalar, math};

/// What `finalize` finds out.
#[derive(Clone, Debug)]
pub(crate) struct Topology {
    /// Joints in tree order, which is the order of the state.
    pub(crate) order: Vec<JointIndex>,
    /// First position and first velocity, per joint.
    pub(crate) starts: Vec<(usize, usize)>,
    /// Joint towards the world, per body.
    pub(crate) inboard: Vec<Option<JointIndex>>,
    pub(crate) num_positions: usize,
    pub(crate) num_velocities: usize,
    pub(crate) position_names: Vec<String>,
    pub(crate) velocity_names: Vec<String>,
    pub(crate) tree: KinematicTree,
}

/// The joints at each body: the joint and the body at its other end, in order of addition.
type Neighbours = Vec<Vec<(JointIndex, BodyIndex)>>;

impl MultibodyPlant {
    /// Makes a tree of all bodies. Every body that has no joint towards the world gets a floating
    /// joint, named as the body.
    ///
    /// The state is ordered as in Drake: depth first, first the trees that joints connect to the
    /// world, then free trees of several bodies, those with the most joints at their base first,
    /// then single free bodies. Frames that Drake adds for its own use get the same names here:
    /// `{joint}_{frame}_F` and `{joint}_{frame}_M` of joints whose axis is none of x, y, z, and of
    /// welds with an offset.
    ///
    /// The collision filters need the scene: see [`Self::finalize_with`].
    ///
    /// # Errors
    /// If a joint with several degrees of freedom has its
    /// child nearer to the world than its parent, or when called twice. The plant stays as it was.
    pub fn finalize(&mut self) -> Result<()> {
        if self.is_finalized() {
            return Err(Error::invalid("the plant is finalized already"));
        }
        let (bases, mut neighbours) = self.grow()?;
        for body in bases {
            let joint = self.add_floating_joint(body);
            neighbours[BodyIndex::WORLD.index()].push((joint, body));
            neighbours[body.index()].push((joint, BodyIndex::WORLD));
        }
        let topology = self.number(&neighbours);
        self.add_internal_frames(&topology);
        self.topology = Some(topology);
        Ok(())
    }

    /// The bodies that become free, and all neighbours; changes nothing.
    fn grow(&self) -> Result<(Vec<BodyIndex>, Neighbours)> {
        let n = self.bodies.len();
        let neighbours = self.neighbours();
        let mut is_child = vec![false; n];
        let mut outboard = vec![0_usize; n];
        for joint in &self.joints {
            is_child[joint.child.index()] = true;
            outboard[joint.parent.index()] += 1;
        }
        let mut reached = vec![false; n];
        self.reach(BodyIndex::WORLD, &neighbours, &mut reached)?;
        let (mut connected, mut single) = (vec![], vec![]);
        // Without loops, every tree has a body that is nobody's child.
        for body in (1..n).map(BodyIndex::new) {
            if reached[body.index()] || is_child[body.index()] {
                continue;
            }
            let list = match neighbours[body.index()].is_empty() {
                true => &mut single,
                false => &mut connected,
            };
            list.push(body);
            self.reach(body, &neighbours, &mut reached)?;
        }
        // Drake's order: those with the most joints first.
        connected.sort_by_key(|b| std::cmp::Reverse(outboard[b.index()]));
        connected.extend(single);
        Ok((connected, neighbours))
    }

    /// Marks everything that is connected with a body.
    fn reach(&self, base: BodyIndex, neighbours: &Neighbours, reached: &mut [bool]) -> Result<()> {
        reached[base.index()] = true;
        let mut stack = vec![base];
        while let Some(body) = stack.pop() {
            for (joint, other) in &neighbours[body.index()] {
                // There are no loops, so it is where this body was reached from.
                if reached[other.index()] {
                    continue;
                }
                let found = &self.joints[joint.index()];
                if found.child == body && found.kind.num_velocities() > 1 {
                    return Err(Error::invalid(format!(
                        "joint '{}' of kind {}: its child '{}' is nearer to the world than its parent \
                         '{}', which only joints with up to one degree of freedom may have; swap parent \
                         and child",
                        self.joint_name_to_tell(found),
                        found.kind.type_name(),
                        self.scoped_body_name(body),
                        self.scoped_body_name(*other)
                    )));
                }
                reached[other.index()] = true;
                stack.push(*other);
            }
        }
        Ok(())
    }

    /// The bodies of a joint are connected already.
    pub(crate) fn loop_error(&self, joint: &Joint) -> Error {
        // Breadth first from the parent, so that the loop is a short one.
        let mut from: BTreeMap<BodyIndex, BodyIndex> = BTreeMap::new();
        let neighbours = self.neighbours();
        let mut open = VecDeque::from([joint.parent]);
        while let Some(body) = open.pop_front() {
            for (_, other) in &neighbours[body.index()] {
                if *other != joint.parent && !from.contains_key(other) {
                    from.insert(*other, body);
                    open.push_back(*other);
                }
            }
        }
        let back = |body: &BodyIndex| from.get(body).copied();
        let mut bodies: Vec<BodyIndex> = std::iter::successors(Some(joint.child), back).collect();
        bodies.reverse();
        bodies.push(joint.parent);
        let names: Vec<String> = bodies
            .into_iter()
            .map(|b| self.scoped_body_name(b))
            .collect();
        Error::invalid(format!(
            "joint '{}' closes a loop: '{}'; loops of joints are not supported, model one of them by a \
             constraint",
            self.joint_name_to_tell(joint),
            names.join("' -> '")
        ))
    }

    /// The joints at each body.
    fn neighbours(&self) -> Neighbours {
        let mut neighbours: Neighbours = vec![vec![]; self.bodies.len()];
        for (index, joint) in self.joints() {
            neighbours[joint.parent.index()].push((index, joint.child));
            neighbours[joint.child.index()].push((index, joint.parent));
        }
        neighbours
    }

    fn add_floating_joint(&mut self, body: BodyIndex) -> JointIndex {
        let found = &self.bodies[body.index()];
        let (mut name, instance) = (found.name.clone(), found.model_instance);
        while self.taken.joints.contains(&(instance, name.clone())) {
            name.insert(0, '_');
        }
        let mut joint =
            Joint::quaternion_floating(name, BodyIndex::WORLD, body).with_model_instance(instance);
        joint.on_parent = Attachment::Frame(self.bodies[0].frame);
        joint.on_child = Attachment::Frame(found.frame);
        joint.ephemeral = true;
        if let Some(x_wb) = &self.default_free_poses[body.index()] {
            joint.default_positions = positions_of(&joint.kind, x_wb);
        }
        self.push_joint(joint)
    }

    /// Numbers positions and velocities, depth first.
    fn number(&self, neighbours: &Neighbours) -> Topology {
        let mut topology = Topology {
            order: vec![],
            starts: vec![(0, 0); self.joints.len()],
            inboard: vec![None; self.bodies.len()],
            num_positions: 0,
            num_velocities: 0,
            position_names: vec![],
            velocity_names: vec![],
            tree: KinematicTree::new(&self.bodies),
        };
        let mut stack = vec![(None, BodyIndex::WORLD)];
        while let Some((inboard, body)) = stack.pop() {
            if let Some(index) = inboard {
                let joint: &Joint = &self.joints[JointIndex::index(index)];
                topology.push(index, body, joint, self.reflected_inertia(index));
            }
            let outboard = neighbours[body.index()].iter().rev();
            let outboard = outboard.filter(|(joint, _)| Some(*joint) != inboard);
            stack.extend(outboard.map(|(joint, body)| (Some(*joint), *body)));
        }
        topology
    }

    /// Inertia of the motors of a joint, as it feels them.
    pub(crate) fn reflected_inertia(&self, joint: JointIndex) -> f64 {
        let motors = self.actuators.iter().filter(|a| a.joint == joint);
        motors.map(|a| a.calc_reflected_inertia()).sum()
    }

    /// The frames that Drake makes when it turns joints into mobilizers.
    fn add_internal_frames(&mut self, topology: &Topology) {
        for index in &topology.order {
            let joint = &self.joints[index.index()];
            let inboard =
                Inboard::new(joint, topology.inboard[joint.child.index()] == Some(*index));
            let instance = joint.model_instance();
            let (on_parent, on_child) = (joint.frame_on_parent(), joint.frame_on_child());
            let (f, m) = match inboard.reversed {
                false => (on_parent, on_child),
                true => (on_child, on_parent),
            };
            let frame_name = |frame: Option<crate::index::FrameIndex>, suffix: &str| {
                let frame = frame.map_or("", |f| &self.frames[f.index()].name);
                let mut name = format!("{}_{frame}_{suffix}", joint.name);
                while self.taken.frames.contains(&(instance, name.clone())) {
                    name.insert(0, '_');
                }
                name
            };
            let (on_f, on_m) = (
                (frame_name(f, "F"), inboard.parent),
                (frame_name(m, "M"), inboard.child),
            );
            match &inboard.kind {
                JointKind::Weld { x_fm } if *x_fm != Isometry3::identity() => {
                    let x = inboard.x_pf * x_fm;
                    self.push_frame(on_f.0, on_f.1, x, instance);
                }
                JointKind::Revolute { axis } | JointKind::Prismatic { axis }
                    if ![Vector3::x(), Vector3::y(), Vector3::z()].contains(axis) =>
                {
                    let r = math::pose(with_z_along(axis), Vector3::zeros());
                    let (x_pf, x_bm) = (inboard.x_pf * r, inboard.x_bm * r);
                    self.push_frame(on_f.0, on_f.1, x_pf, instance);
                    self.push_frame(on_m.0, on_m.1, x_bm, instance);
                }
                _ => {}
            }
        }
    }

    /// True after [`Self::finalize`].
    pub fn is_finalized(&self) -> bool {
        self.topology.is_some()
    }

    pub(crate) fn finalized(&self, asked: &str) -> Result<&Topology> {
        self.topology.as_ref().ok_or_else(|| {
            Error::invalid(format!(
                "`{asked}` needs a finalized plant; call `MultibodyPlant::finalize` first"
            ))
        })
    }

    /// Number of generalized positions q; 0 before `finalize`.
    pub fn num_positions(&self) -> usize {
        self.topology.as_ref().map_or(0, |t| t.num_positions)
    }
    /// Number of generalized velocities v; 0 before `finalize`.
    pub fn num_velocities(&self) -> usize {
        self.topology.as_ref().map_or(0, |t| t.num_velocities)
    }
    /// Names of the positions: the joint's, with a suffix where the joint has several
    /// (`base_qw`, ..., `base_z`). Empty before `finalize`.
    pub fn position_names(&self) -> &[String] {
        self.topology.as_ref().map_or(&[], |t| &t.position_names)
    }
    /// Names of the velocities: the joint's, with a suffix where the joint has several
    /// (`base_wx`, ..., `base_vz`). Empty before `finalize`.
    pub fn velocity_names(&self) -> &[String] {
        self.topology.as_ref().map_or(&[], |t| &t.velocity_names)
    }
    /// Index of the first position of a joint.
    ///
    /// # Errors
    /// Before `finalize`, or if the joint is unknown.
    pub fn position_start(&self, joint: JointIndex) -> Result<usize> {
        self.joint(joint)?;
        Ok(self.finalized("position_start")?.starts[joint.index()].0)
    }
    /// Index of the first velocity of a joint.
    ///
    /// # Errors
    /// Before `finalize`, or if the joint is unknown.
    pub fn velocity_start(&self, joint: JointIndex) -> Result<usize> {
        self.joint(joint)?;
        Ok(self.finalized("velocity_start")?.starts[joint.index()].1)
    }

    /// Poses `X_WB` of all bodies, by [`BodyIndex`]; quaternions in q are normalised. Allocates
    /// only when `out` has no room yet.
    ///
    /// # Errors
    /// Before `finalize`, if q has the wrong length, a value that is not finite, or a quaternion of
    /// length 0.
    pub fn calc_body_poses<T: Scalar>(&self, q: &[T], out: &mut Vec<Isometry3<T>>) -> Result<()> {
        let topology = self.finalized("calc_body_poses")?;
        topology.check(Coordinates::Positions, q)?;
        let name = |body| self.scoped_body_name(BodyIndex::new(body));
        topology.tree.calc_body_poses(q, out, name)
    }
}

impl Topology {
    /// Sets the inertia of the motors of a joint, as it feels them.
    pub(crate) fn set_reflected(&mut self, joint: JointIndex, child: BodyIndex, reflected: f64) {
        // The outer end of a joint is its child, or its parent if the joint is turned round.
        let outer = self.inboard.iter().position(|j| *j == Some(joint));
        let outer = outer.map_or(child, BodyIndex::new);
        self.tree.set_reflected(outer, reflected);
    }

    /// Adds the next joint in tree order, with the body at its outer end.
    fn push(&mut self, index: JointIndex, body: BodyIndex, joint: &Joint, reflected: f64) {
        self.order.push(index);
        self.inboard[body.index()] = Some(index);
        self.starts[index.index()] = (self.num_positions, self.num_velocities);
        self.num_positions += joint.num_positions();
        self.num_velocities += joint.num_velocities();
        let named = |suffixes: &[&str]| -> Vec<String> {
            let name = |suffix: &&str| match suffixes.len() {
                1 => joint.name.clone(),
                _ => format!("{}_{suffix}", joint.name),
            };
            suffixes.iter().map(name).collect()
        };
        self.position_names
            .extend(named(joint.kind.position_suffixes()));
        self.velocity_names
            .extend(named(joint.kind.velocity_suffixes()));
        self.tree
            .push(&Inboard::new(joint, joint.child == body), reflected);
    }
}

/// A rotation that turns z to a direction, chosen as Drake chooses it: x is normal to the direction
/// and to the coordinate axis that is most normal to it.
fn with_z_along(direction: &Unit<Vector3<f64>>) -> nalgebra::UnitQuaternion<f64> {
    let u = direction.into_inner();
    let mut least = 0;
    for k in 1..3 {
        if u[k].abs() < u[least].abs() {
            least = k;
        }
    }
    let x = Vector3::ith(least, 1.0).cross(&u).normalize();
    math::rotation_from_matrix(&Matrix3::from_columns(&[x, u.cross(&x), u]))
}
