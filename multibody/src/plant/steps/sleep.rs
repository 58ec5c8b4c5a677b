//! Sleep: islands of bodies at rest, which steps leave as they are until something changes.

use super::dynamics_result::DynamicsResult;
use crate::error::Result;
use crate::kinematics::turned;
use crate::model::{
    BodyIndex, Constraint, ForceElement, JointActuator, JointIndex, Tendon, TendonPart,
};
use crate::plant::contact::scene_contacts::SceneContacts;
use crate::plant::inputs::StepInputs;
use crate::plant::multibody_plant::MultibodyPlant;
use crate::plant::sleep_state::{SleepInputs, Sleepers};
use crate::spatial::SpatialVector;
use smallvec::SmallVec;
use std::sync::Arc;
use tarragon_framework::Scalar;
use tarragon_geometry::{QueryObject, Role};

/// Sets of trees, each named by its lowest one.
struct TreeSets(Vec<u32>);

impl TreeSets {
    fn find(&self, mut tree: usize) -> usize {
        while self.0[tree] as usize != tree {
            tree = self.0[tree] as usize;
        }
        tree
    }
    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.0[a.max(b)] = a.min(b) as u32;
    }
}

impl MultibodyPlant {
    /// Returns who is still asleep at the start of a step after the one with the given result:
    /// those for whom nothing has changed.
    pub(in crate::plant) fn sleepers<T: Scalar>(
        &self,
        last: &DynamicsResult<T>,
        step: &StepInputs<'_, T>,
    ) -> Result<Sleepers> {
        let state = &last.sleep;
        let mut sleepers = Sleepers::new(state);
        if !sleepers.any() {
            return Ok(sleepers);
        }
        let geometry_changed = match (&state.version, step.inputs.query) {
            (Some(last), Some(query)) => {
                let inspector = query.inspector();
                !last.is_same_as(inspector.geometry_version(), Role::Proximity)?
            }
            (None, None) => false,
            _ => true,
        };
        let (old, new) = (&state.inputs, self.sleep_inputs(step));
        let parameters_changed = !Arc::ptr_eq(&last.parameters, step.parameters);
        if geometry_changed || parameters_changed || old.status != new.status {
            return Ok(Sleepers::default());
        }
        let trees = &self.trees;
        let topology = &self.topology;
        let state = step.positions.q.iter().chain(&step.velocities.v);
        let is_same = |(old, new): (&T, &T)| old.re() == new.re();
        if !last.next.iter().zip(state).all(is_same) {
            let (q, v) = last.next.split_at(step.positions.q.len());
            for node in &topology.tree.nodes {
                let (nq, nv) = (node.positions(), node.velocities());
                let is_same = q[nq.clone()].iter().zip(&step.positions.q[nq]).all(is_same)
                    && v[nv.clone()]
                        .iter()
                        .zip(&step.velocities.v[nv])
                        .all(is_same);
                let tree = trees.of_body(BodyIndex::new(node.body as usize));
                if let (Some(tree), false) = (tree, is_same) {
                    sleepers.wake(tree);
                }
            }
        }
        for (k, (old, new)) in old.generalized.iter().zip(&new.generalized).enumerate() {
            if old != new {
                sleepers.wake(trees.of_velocity(k));
            }
        }
        for (body, (old, new)) in old.spatial.iter().zip(&new.spatial).enumerate() {
            if let (true, Some(tree)) = (old != new, trees.of_body(BodyIndex::new(body))) {
                sleepers.wake(tree);
            }
        }
        for (k, actuator) in self.actuators.iter().enumerate() {
            if old.actuation[k] != new.actuation[k] || old.desired[k] != new.desired[k] {
                for tree in self.actuator_trees(actuator) {
                    sleepers.wake(tree);
                }
            }
        }
        Ok(sleepers)
    }

    fn sleep_inputs<T: Scalar>(&self, step: &StepInputs<'_, T>) -> SleepInputs {
        let inputs = step.inputs;
        let mut spatial = vec![SpatialVector::zero(); self.bodies.len()];
        for force in inputs.spatial_force {
            let body = force.body.index();
            let arm = turned(&step.positions.r_wb[body], &force.p_bobq_b);
            spatial[body] += force.f_bq_w.force_at(&-arm).real();
        }
        let mut generalized: Vec<f64> = inputs.generalized_force.iter().map(|x| x.re()).collect();
        generalized.resize(self.num_velocities(), 0.0);
        let desired = inputs.desired.iter();
        SleepInputs {
            generalized,
            spatial,
            actuation: inputs.actuation.iter().map(|x| x.re()).collect(),
            desired: desired.map(|x| x.map(|(q, v)| (q.re(), v.re()))).collect(),
            status: step.status.clone(),
        }
    }

    /// Wakes the sleepers that something awake touches; returns whether there were any.
    pub(super) fn wake_touched<T: Scalar>(
        &self,
        sleepers: &mut Sleepers,
        contacts: &SceneContacts<T>,
    ) -> bool {
        let mut woken = false;
        if !sleepers.any() {
            return woken;
        }
        for site in &contacts.sites.real {
            if let [Some(a), Some(b)] = site.bodies.map(|body| self.trees.of_body(body)) {
                match (sleepers.is_asleep(a), sleepers.is_asleep(b)) {
                    (true, false) => woken |= sleepers.wake(a),
                    (false, true) => woken |= sleepers.wake(b),
                    _ => {}
                }
            }
        }
        woken
    }

    /// Completes the result of a step: what sleeps stays as it was, and what has been at rest for
    /// long enough falls asleep.
    pub(super) fn finish_sleep<T: Scalar>(
        &self,
        last: &DynamicsResult<T>,
        step: &StepInputs<'_, T>,
        sleepers: &Sleepers,
        out: &mut DynamicsResult<T>,
    ) {
        if sleepers.any() {
            self.keep_sleeping(last, sleepers, out);
        }
        let Some(settings) = self.contact.sleep else {
            return;
        };
        let trees = &self.trees;
        let (q, v) = (step.positions.q.len(), trees.len());
        let state = &mut out.sleep;
        state.rest_steps.clone_from(&last.sleep.rest_steps);
        state.rest_steps.resize(v, 0);
        state.asleep_with.clone_from(sleepers.islands());
        state.asleep_with.resize(v, None);
        state.inputs = self.sleep_inputs(step);
        let version = |query: &QueryObject<T>| query.inspector().geometry_version().clone();
        state.version = step.inputs.query.map(version);
        for (tree, range) in trees.ranges().iter().enumerate() {
            let next = &out.next[q + range.start..q + range.end];
            let at_rest = next.iter().all(|v| v.re().abs() <= settings.speed);
            let steps = &mut state.rest_steps[tree];
            // Woken trees rest anew: a small force needs time to move them.
            let slept = last.sleep.asleep_with.get(tree).copied().flatten();
            let woken = slept.is_some() && !sleepers.is_asleep(tree);
            *steps = if at_rest && !woken {
                steps.saturating_add(1)
            } else {
                0
            };
        }
        for body in out.contacts.bodies_with_surfaces() {
            if let Some(tree) = trees.of_body(body) {
                state.rest_steps[tree] = 0;
            }
        }
        let needed = (settings.time / self.time_step).ceil();
        let rested = |steps: u32| f64::from(steps) >= needed;
        if !state.rest_steps.iter().any(|steps| rested(*steps)) {
            return;
        }
        let mut sets = TreeSets((0..trees.len() as u32).collect());
        for bodies in out.contacts.bodies() {
            if let [Some(a), Some(b)] = bodies.map(|body| trees.of_body(body)) {
                sets.join(a, b);
            }
        }
        self.for_connected_trees(|a, b| sets.join(a, b));
        let mut shortest = vec![u32::MAX; trees.len()];
        for (tree, steps) in state.rest_steps.iter().enumerate() {
            let least = &mut shortest[sets.find(tree)];
            *least = (*least).min(*steps);
        }
        for (tree, range) in trees.ranges().iter().enumerate() {
            let set = sets.find(tree);
            if state.asleep_with[tree].is_none() && rested(shortest[set]) {
                state.asleep_with[tree] = Some(set as u32);
                out.next[q + range.start..q + range.end].fill(T::zero());
            }
        }
    }

    /// Copies what a step does not compute for those who sleep.
    fn keep_sleeping<T: Scalar>(
        &self,
        last: &DynamicsResult<T>,
        sleepers: &Sleepers,
        out: &mut DynamicsResult<T>,
    ) {
        let is_asleep = |body: BodyIndex| {
            let tree = self.trees.of_body(body);
            tree.is_some_and(|tree| sleepers.is_asleep(tree))
        };
        for body in (1..self.bodies.len()).filter(|body| is_asleep(BodyIndex::new(*body))) {
            out.spatial[body] = last.spatial[body];
            out.contact_forces[body] = last.contact_forces[body];
        }
        for (k, actuator) in self.actuators.iter().enumerate() {
            let trees = self.actuator_trees(actuator);
            if trees.first().is_some_and(|tree| sleepers.is_asleep(*tree)) {
                out.net_actuation[k] = last.net_actuation[k];
            }
        }
        out.contacts.known.extend(last.contacts.among(is_asleep));
    }

    /// Returns the tree of a joint; `None` without velocities.
    fn joint_tree(&self, joint: JointIndex) -> Option<usize> {
        let start = self.topology.starts.get(joint.index())?.1;
        let moves = self.joints[joint.index()].num_velocities() > 0;
        moves.then(|| self.trees.of_velocity(start))
    }

    /// Returns the trees that a constraint acts on.
    pub(super) fn constraint_trees(&self, constraint: &Constraint) -> SmallVec<[usize; 2]> {
        let of = |bodies: [BodyIndex; 2]| {
            let trees = bodies.map(|body| self.trees.of_body(body));
            trees.into_iter().flatten().collect()
        };
        match constraint {
            Constraint::Coupler(c) => {
                let joints = [c.joint0, c.joint1].into_iter();
                joints.filter_map(|joint| self.joint_tree(joint)).collect()
            }
            Constraint::Tendon(c) => {
                let joints = c.joints.iter();
                joints.filter_map(|joint| self.joint_tree(*joint)).collect()
            }
            Constraint::SpatialTendon(c) => self.path_trees(&c.path),
            Constraint::Polynomial(c) => {
                let tendons = c.tendons.iter();
                tendons.flat_map(|t| self.tendon_trees(t)).collect()
            }
            Constraint::Ball(c) => of([c.body_a, c.body_b]),
            Constraint::Weld(c) => of([c.body_a, c.body_b]),
            Constraint::Distance(c) => of([c.body_a, c.body_b]),
        }
    }

    fn tendon_trees(&self, tendon: &Tendon) -> SmallVec<[usize; 2]> {
        match tendon {
            Tendon::Fixed(joints) => self.trees_of_joints(joints),
            Tendon::Spatial(path) => self.path_trees(path),
        }
    }

    /// Returns the trees that an actuator acts on.
    pub(super) fn actuator_trees(&self, actuator: &JointActuator) -> SmallVec<[usize; 2]> {
        match actuator.path() {
            None => {
                let joints = actuator.joints();
                joints.filter_map(|(j, _)| self.joint_tree(j)).collect()
            }
            Some(path) => self.path_trees(path),
        }
    }

    /// Returns true if a joint between the world and a body of a path is not locked.
    pub(super) fn any_joint_moves(
        &self,
        path: &[TendonPart],
        is_locked: impl Fn(JointIndex) -> bool,
    ) -> bool {
        let inboard = |body: BodyIndex| self.topology.inboard[body.index()];
        path.iter().flat_map(TendonPart::bodies).any(|body| {
            let mut next = inboard(body).map(|joint| (body, joint));
            while let Some((body, joint)) = next {
                let found = &self.joints[joint.index()];
                if found.num_velocities() > 0 && !is_locked(joint) {
                    return true;
                }
                let base = if found.child == body {
                    found.parent
                } else {
                    found.child
                };
                next = inboard(base).map(|joint| (base, joint));
            }
            false
        })
    }

    fn trees_of_joints(&self, joints: &[(JointIndex, f64)]) -> SmallVec<[usize; 2]> {
        let joints = joints.iter();
        joints.filter_map(|(j, _)| self.joint_tree(*j)).collect()
    }

    fn path_trees(&self, path: &[TendonPart]) -> SmallVec<[usize; 2]> {
        let bodies = path.iter().flat_map(TendonPart::bodies);
        bodies.filter_map(|body| self.trees.of_body(body)).collect()
    }

    /// Calls a function with pairs of trees that a constraint or a force element connects.
    fn for_connected_trees(&self, mut f: impl FnMut(usize, usize)) {
        for constraint in &self.constraints {
            for pair in self.constraint_trees(constraint).windows(2) {
                f(pair[0], pair[1]);
            }
        }
        for actuator in &self.actuators {
            for pair in self.actuator_trees(actuator).windows(2) {
                f(pair[0], pair[1]);
            }
        }
        for element in &self.force_elements {
            let bodies = match element {
                ForceElement::TendonSpring { joints, .. } => {
                    for pair in self.trees_of_joints(joints).windows(2) {
                        f(pair[0], pair[1]);
                    }
                    continue;
                }
                ForceElement::SpatialTendon { path, .. } => {
                    for pair in self.path_trees(path).windows(2) {
                        f(pair[0], pair[1]);
                    }
                    continue;
                }
                ForceElement::LinearSpringDamper { body_a, body_b, .. } => [*body_a, *body_b],
                ForceElement::LinearBushingRollPitchYaw {
                    frame_a, frame_c, ..
                } => [frame_a, frame_c].map(|frame| self.frames[frame.index()].body()),
                _ => continue,
            };
            if let [Some(a), Some(b)] = bodies.map(|body| self.trees.of_body(body)) {
                f(a, b);
            }
        }
    }
}
