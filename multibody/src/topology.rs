//! Making a tree of bodies and joints.

use crate::error::{Error, Result};
use crate::index::{BodyIndex, JointIndex};
use crate::joint::{Joint, JointKind};
use crate::kinematics::KinematicTree;
use crate::lookup::positions_of;
use crate::plant::MultibodyPlant;
use nalgebra::Isometry3;
use tarragon_framework::Scalar;

/// What `finalize` finds out.
#[derive(Clone, Debug)]
pub(crate) struct Topology {
    /// Joints in tree order, which is the order of the state.
    pub(crate) order: Vec<JointIndex>,
    /// First position and first velocity, per joint.
    pub(crate) starts: Vec<(usize, usize)>,
    pub(crate) num_positions: usize,
    pub(crate) num_velocities: usize,
    pub(crate) position_names: Vec<String>,
    pub(crate) tree: KinematicTree,
}

impl MultibodyPlant {
    /// Makes a tree of all bodies. Every body that has no joint towards the world gets a floating
    /// joint, named as the body.
    ///
    /// The state is ordered as in Drake: depth first, first the trees that joints connect to the
    /// world, then free trees of several bodies, then single free bodies.
    ///
    /// The collision filters need the scene: see [`Self::finalize_with`].
    ///
    /// # Errors
    /// If joints form a loop (the bodies are named), or when called twice.
    pub fn finalize(&mut self) -> Result<()> {
        if self.is_finalized() {
            return Err(Error::invalid("the plant is finalized already"));
        }
        self.check_no_loops()?;
        let n = self.bodies.len();
        let mut outboard: Vec<Vec<JointIndex>> = vec![vec![]; n];
        for (index, joint) in self.joints() {
            outboard[joint.parent.index()].push(index);
        }
        let (mut connected, mut single) = (vec![], vec![]);
        for body in (1..n).filter(|b| self.inboard[*b].is_none()) {
            let list = match outboard[body].is_empty() {
                true => &mut single,
                false => &mut connected,
            };
            list.push(BodyIndex::new(body));
        }
        for body in connected.into_iter().chain(single) {
            let joint = self.add_floating_joint(body);
            outboard[BodyIndex::WORLD.index()].push(joint);
        }
        self.topology = Some(self.number(&outboard));
        Ok(())
    }

    fn check_no_loops(&self) -> Result<()> {
        let parent =
            |joint: &Option<JointIndex>| joint.map(|j| self.joints[j.index()].parent.index());
        let parents: Vec<Option<usize>> = self.inboard.iter().map(parent).collect();
        let Some(found) = find_loop(&parents) else {
            return Ok(());
        };
        let names: Vec<String> = found
            .into_iter()
            .map(|body| self.scoped_body_name(BodyIndex::new(body)))
            .collect();
        Err(Error::invalid(format!(
            "joints form a loop: '{}'; every chain of parents must end at the world or at a free body",
            names.join("' -> '")
        )))
    }

    fn add_floating_joint(&mut self, body: BodyIndex) -> JointIndex {
        let found = &self.bodies[body.index()];
        let (mut name, instance) = (found.name.clone(), found.model_instance);
        while self.taken.joints.contains(&(instance, name.clone())) {
            name.insert(0, '_');
        }
        let kind = JointKind::QuaternionFloating;
        let mut joint =
            Joint::new(name, BodyIndex::WORLD, body, kind).with_model_instance(instance);
        joint.ephemeral = true;
        if let Some(x_wb) = &self.default_free_poses[body.index()] {
            joint.default_positions = positions_of(x_wb);
        }
        self.push_joint(joint)
    }

    /// Numbers positions and velocities, depth first.
    fn number(&self, outboard: &[Vec<JointIndex>]) -> Topology {
        let mut topology = Topology {
            order: vec![],
            starts: vec![(0, 0); self.joints.len()],
            num_positions: 0,
            num_velocities: 0,
            position_names: vec![],
            tree: KinematicTree::default(),
        };
        let mut stack: Vec<JointIndex> = outboard[0].iter().rev().copied().collect();
        while let Some(index) = stack.pop() {
            let joint = &self.joints[index.index()];
            topology.order.push(index);
            topology.starts[index.index()] = (topology.num_positions, topology.num_velocities);
            topology.num_positions += joint.num_positions();
            topology.num_velocities += joint.num_velocities();
            let suffixes = joint.kind.position_suffixes();
            let names = suffixes.iter().map(|suffix| match suffixes.len() {
                1 => joint.name.clone(),
                _ => format!("{}_{suffix}", joint.name),
            });
            topology.position_names.extend(names);
            topology.tree.push(joint);
            stack.extend(outboard[joint.child.index()].iter().rev());
        }
        topology
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

    /// Poses `X_WB` of all bodies, by [`BodyIndex`]; quaternions in q are normalised. Allocates only
    /// when `out` has no room yet.
    ///
    /// # Errors
    /// Before `finalize`, if q has the wrong length, or if it holds a quaternion of length 0.
    pub fn calc_body_poses<T: Scalar>(&self, q: &[T], out: &mut Vec<Isometry3<T>>) -> Result<()> {
        let topology = self.finalized("calc_body_poses")?;
        let name = |body| self.scoped_body_name(BodyIndex::new(body));
        topology.tree.calc_body_poses(q, out, name)
    }
}

/// A loop among `parents`, from a member to itself by way of children; each body has at most one
/// parent, so a loop is a walk towards the world that comes back to where it was.
pub(crate) fn find_loop(parents: &[Option<usize>]) -> Option<Vec<usize>> {
    // Walk that visited a body first, from 1; bodies of earlier walks end well.
    let mut visited = vec![0; parents.len()];
    for start in 0..parents.len() {
        let mut body = Some(start);
        while let Some(b) = body.filter(|b| visited[*b] == 0) {
            visited[b] = start + 1;
            body = parents[b];
        }
        if let Some(b) = body.filter(|b| visited[*b] == start + 1) {
            let mut members = vec![b];
            let upwards = std::iter::successors(parents[b], |p| parents[*p]);
            members.extend(upwards.take_while(|p| *p != b));
            members.push(b);
            members.reverse();
            return Some(members);
        }
    }
    None
}
