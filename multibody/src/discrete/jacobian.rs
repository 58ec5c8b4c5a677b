//! Jacobians of constraints.

use super::site::{ContactSite, Site};
use super::step_start::StepStart;
use super::trees::Trees;
use crate::kinematics::PositionKinematics;
use crate::model::BodyIndex;
use crate::spatial::SpatialVector;
use crate::tree::{KinematicTree, MobilizedBody};
use nalgebra::{Matrix3, Vector3};
use smallvec::SmallVec;
use tarragon_contact_solvers::{BlockColumns, JacobianBlock, JacobianBlocks};
use tarragon_framework::Scalar;

/// Kinematics from which Jacobians are computed.
pub(crate) struct JacobianFrame<'a, T: Scalar> {
    tree: &'a KinematicTree,
    pub(super) trees: &'a Trees,
    pub(super) positions: &'a PositionKinematics<T>,
    /// Velocities that are held at 0.
    locked: &'a [bool],
}

impl<'a, T: Scalar> JacobianFrame<'a, T> {
    /// Creates the frame of a step with its positions, whose scalar may be another.
    pub(super) fn new<S: Scalar>(
        start: &StepStart<'a, S>,
        positions: &'a PositionKinematics<T>,
    ) -> Self {
        Self {
            tree: start.tree,
            trees: start.trees,
            positions,
            locked: start.locked,
        }
    }

    /// Appends the values of a site's Jacobian; columns of locked velocities are 0.
    pub(super) fn jacobian(&self, site: &Site<T>, values: &mut Vec<T>) -> JacobianBlocks {
        let mut blocks: JacobianBlocks = SmallVec::new();
        let rows = site.num_rows();
        let mut block = |tree: usize, values: &mut Vec<T>| {
            let mut end = values.len();
            let len = rows * self.trees.range(tree).len();
            let start = block_of(&mut blocks, tree, len, &mut end);
            values.resize(end, T::zero());
            start
        };
        match site {
            Site::Velocities(terms) => {
                for (k, coefficient) in terms {
                    let tree = self.trees.of_velocity(*k);
                    let start = block(tree, values);
                    if !self.locked[*k] {
                        values[start + k - self.trees.range(tree).start] += T::from(*coefficient);
                    }
                }
            }
            Site::Bodies(site) => {
                let ends = site.bodies.iter().zip(&site.points);
                for ((body, p_w), sign) in ends.zip([-1.0, 1.0]) {
                    let Some(tree) = self.trees.of_body(*body) else {
                        continue;
                    };
                    let (start, range) = (block(tree, values), self.trees.range(tree));
                    self.for_columns(*body, p_w, |k, v| {
                        for (i, row) in site.rows.iter().enumerate() {
                            let rate = row.dot(&v) * sign;
                            values[start + i * range.len() + k - range.start] += rate;
                        }
                    });
                }
            }
            Site::Length(site) => {
                for (k, coefficient) in &site.velocities {
                    let tree = self.trees.of_velocity(*k);
                    let start = block(tree, values);
                    if !self.locked[*k] {
                        values[start + k - self.trees.range(tree).start] += *coefficient;
                    }
                }
                for point in &site.points {
                    let Some(tree) = self.trees.of_body(point.body) else {
                        continue;
                    };
                    let (start, range) = (block(tree, values), self.trees.range(tree));
                    self.for_columns(point.body, &point.p_w, |k, v| {
                        values[start + k - range.start] += point.gradient.dot(&v.translational);
                    });
                }
            }
        }
        blocks.sort_by_key(|b| b.tree);
        blocks
    }

    /// Calls a function with every velocity that moves a body, and the spatial velocity at a point
    /// of the body per unit of it.
    #[inline]
    fn for_columns(
        &self,
        body: BodyIndex,
        p_w: &Vector3<T>,
        mut f: impl FnMut(usize, SpatialVector<T>),
    ) {
        for node in self.inboard_nodes(body) {
            let arm = p_w - self.positions.p_wb(node.body);
            for (k, column) in self.unlocked_columns(node) {
                f(k, column.velocity_at(&arm));
            }
        }
    }

    /// Returns the nodes of a body and of all bodies inboard of it, outermost first.
    #[inline]
    pub(super) fn inboard_nodes(&self, body: BodyIndex) -> impl Iterator<Item = &'a MobilizedBody> {
        let tree = self.tree;
        let node = |body: u32| {
            let moves = body != 0;
            moves.then(|| &tree.nodes[tree.node_of[body as usize] as usize])
        };
        std::iter::successors(node(body.index() as u32), move |last| node(last.parent))
    }

    /// Returns the velocities of a node that are not locked, with their columns.
    #[inline]
    pub(super) fn unlocked_columns(
        &self,
        node: &MobilizedBody,
    ) -> impl Iterator<Item = (usize, &'a SpatialVector<T>)> {
        let (range, locked) = (node.velocities(), self.locked);
        let columns = range.clone().zip(&self.positions.columns[range]);
        columns.filter(move |(k, _)| !locked[*k])
    }

    /// Adds the Jacobian of the velocity of a point of a body along three directions, given as
    /// columns, to that of its tree; in place of it, if the tree is a free body.
    #[inline]
    pub(super) fn add_point_velocity(
        &self,
        body: BodyIndex,
        tree: usize,
        p_w: &Vector3<T>,
        directions: &Matrix3<T>,
        values: &mut [T],
    ) {
        let range = self.trees.range(tree);
        if self.trees.is_free_body(tree) {
            if self.locked[range.start] {
                values.fill(T::zero());
                return;
            }
            let arm = p_w - self.positions.p_wb(body.index() as u32);
            for (row, direction) in values.chunks_exact_mut(6).zip(directions.column_iter()) {
                let moment = arm.cross(&direction);
                row[..3].copy_from_slice(moment.as_slice());
                row[3..].copy_from_slice(direction.as_slice());
            }
            return;
        }
        let (x, rest) = values.split_at_mut(range.len());
        let (y, z) = rest.split_at_mut(range.len());
        self.for_columns(body, p_w, |k, v| {
            let (rates, k) = (directions.tr_mul(&v.translational), k - range.start);
            x[k] += rates.x;
            y[k] += rates.y;
            z[k] += rates.z;
        });
    }
}

impl JacobianFrame<'_, f64> {
    /// Returns how many values the Jacobian of a contact between two bodies has.
    #[inline]
    pub(super) fn contact_len(&self, bodies: [BodyIndex; 2]) -> usize {
        let [a, b] = bodies.map(|body| self.trees.of_body(body));
        let len = |tree: Option<usize>| tree.map_or(0, |tree| 3 * self.trees.range(tree).len());
        if a == b { len(a) } else { len(a) + len(b) }
    }

    /// Computes the values of a contact's Jacobian, of which there are
    /// [`Self::contact_len`]; columns of locked velocities are 0. The blocks start where they do in
    /// `values`.
    pub(super) fn contact_jacobian(
        &self,
        site: &ContactSite<f64>,
        values: &mut [f64],
    ) -> JacobianBlocks {
        let mut blocks: JacobianBlocks = SmallVec::new();
        let mut len = 0;
        for (body, sign) in site.bodies.iter().zip([-1.0, 1.0]) {
            let Some(tree) = self.trees.of_body(*body) else {
                continue;
            };
            let (n, before) = (self.trees.range(tree).len(), len);
            let start = block_of(&mut blocks, tree, 3 * n, &mut len);
            let values = &mut values[start..start + 3 * n];
            // All values of a free body are set below.
            if len > before && !self.trees.is_free_body(tree) {
                values.fill(0.0);
            }
            let directions = if sign < 0.0 { -site.r_wc } else { site.r_wc };
            self.add_point_velocity(*body, tree, &site.p_wc, &directions, values);
        }
        blocks.sort_by_key(|b| b.tree);
        blocks
    }
}

/// Returns where the values of a tree's block start; a missing block of some length is added at
/// the end of all values, which it moves.
fn block_of(blocks: &mut JacobianBlocks, tree: usize, len: usize, end: &mut usize) -> usize {
    if let Some(known) = blocks.iter().find(|b| b.tree as usize == tree) {
        return known.start as usize;
    }
    let start = *end;
    *end += len;
    blocks.push(JacobianBlock {
        tree: tree as u32,
        start: start as u32,
        columns: BlockColumns::All,
    });
    start
}
