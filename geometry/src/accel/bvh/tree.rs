//! The tree: construction, refitting and traversal.

use super::box32::Box32;
use super::build::{BuildScratch, MAX_DEPTH};

/// Stack of nearby pairs of nodes that are still to be visited. Every step pushes at most one pair
/// and descends one level in one of the trees.
type PairStack = [(u32, u32); 2 * MAX_DEPTH];
const PAIRS: PairStack = [(0, 0); 2 * MAX_DEPTH];

/// Bounding volume hierarchy over the items `0..n`.
#[derive(Clone, Default)]
pub(crate) struct Bvh {
    /// Nodes in pre-order. The fourth lane of `lower` holds the index of the right child, 0 for a
    /// leaf; that of `upper` holds the item of a leaf.
    pub(super) nodes: Vec<Box32>,
    pub(super) parents: Vec<u32>,
    /// Leaf node of each item.
    pub(super) leaves: Vec<u32>,
    scratch: BuildScratch,
}

impl Bvh {
    /// Builds a tree that will not be rebuilt, and frees the scratch storage.
    pub(crate) fn new(boxes: &[Box32]) -> Self {
        let mut this = Self::default();
        this.build(boxes);
        this.scratch = BuildScratch::default();
        this
    }

    /// Builds the tree of `boxes`, reusing the storage.
    pub(crate) fn build(&mut self, boxes: &[Box32]) {
        let (nodes, parents) = (&mut self.nodes, &mut self.parents);
        self.scratch.build(boxes, nodes, parents, &mut self.leaves);
        self.refit_all();
    }

    /// Returns the box around all items, or `None` if there are none.
    pub(crate) fn root(&self) -> Option<&Box32> {
        self.nodes.first()
    }

    fn set_box(&mut self, node: usize, b: &Box32) {
        let old = &self.nodes[node];
        self.nodes[node] = b.with_links(old.right(), old.item());
    }

    fn refit_node(&mut self, node: usize) {
        let right = self.nodes[node].right() as usize;
        let union = self.nodes[node + 1].union(&self.nodes[right]);
        self.set_box(node, &union);
    }

    fn refit_all(&mut self) {
        for node in (0..self.nodes.len()).rev() {
            if self.nodes[node].right() != 0 {
                self.refit_node(node);
            }
        }
    }

    /// Updates the boxes of the items `changed` to `boxes[item]`.
    pub(crate) fn refit(&mut self, boxes: &[Box32], changed: &[u32]) {
        for &item in changed {
            self.set_box(self.leaves[item as usize] as usize, &boxes[item as usize]);
        }
        // Paths to the root share nodes, so many paths cost more than one full refit.
        let depth = usize::BITS - self.leaves.len().leading_zeros();
        if changed.len() * depth as usize > self.nodes.len() {
            self.refit_all();
        } else {
            for &item in changed {
                let mut node = self.leaves[item as usize] as usize;
                while node != 0 {
                    node = self.parents[node] as usize;
                    self.refit_node(node);
                }
            }
        }
    }

    /// Returns a tree of the same shape whose items have other boxes.
    pub(crate) fn refitted(&self, boxes: &[Box32]) -> Self {
        let mut this = Self {
            nodes: self.nodes.clone(),
            parents: vec![],
            leaves: vec![],
            scratch: BuildScratch::default(),
        };
        for (leaf, b) in self.leaves.iter().zip(boxes) {
            this.set_box(*leaf as usize, b);
        }
        this.refit_all();
        this
    }

    /// Calls `f` with every item whose box is within `margin` of `b`.
    #[inline]
    pub(crate) fn for_each_near(&self, b: &Box32, margin: f32, mut f: impl FnMut(u32)) {
        let mut stack = [0_u32; MAX_DEPTH];
        let mut top = usize::from(!self.nodes.is_empty());
        while top > 0 {
            top -= 1;
            let mut node = stack[top] as usize;
            while self.nodes[node].is_near(b, margin) {
                let right = self.nodes[node].right();
                if right == 0 {
                    f(self.nodes[node].item());
                    break;
                }
                stack[top] = right;
                top += 1;
                node += 1;
            }
        }
    }

    /// Calls `f` once for every pair of distinct items whose boxes are within `margin` of each
    /// other.
    pub(crate) fn for_each_pair(&self, margin: f32, mut f: impl FnMut(u32, u32)) {
        let mut stack = PAIRS;
        for (node, b) in self.nodes.iter().enumerate() {
            if b.right() != 0 {
                let children = (node as u32 + 1, b.right());
                self.cross(self, children, &mut stack, margin, &mut f);
            }
        }
    }

    /// Calls `f` for every pair of an item of this tree and one of `other` whose boxes are within
    /// `margin` of each other.
    pub(crate) fn for_each_pair_with(
        &self,
        other: &Self,
        margin: f32,
        mut f: impl FnMut(u32, u32),
    ) {
        if !self.nodes.is_empty() && !other.nodes.is_empty() {
            self.cross(other, (0, 0), &mut { PAIRS }, margin, &mut f);
        }
    }

    /// Calls `f` for every nearby pair of items below a pair of nodes.
    fn cross(
        &self,
        other: &Self,
        pair: (u32, u32),
        stack: &mut PairStack,
        margin: f32,
        f: &mut impl FnMut(u32, u32),
    ) {
        let is_near =
            |(a, b): (u32, u32)| self.nodes[a as usize].is_near(&other.nodes[b as usize], margin);
        if !is_near(pair) {
            return;
        }
        let (mut top, mut next) = (0, Some(pair));
        while let Some((a, b)) = next {
            let (na, nb) = (&self.nodes[a as usize], &other.nodes[b as usize]);
            let (ra, rb) = (na.right(), nb.right());
            next = None;
            if ra == 0 && rb == 0 {
                f(na.item(), nb.item());
            } else {
                // The size of the left subtree tells which node is larger; split that one.
                let (first, second) = if rb == 0 || (ra != 0 && ra - a >= rb - b) {
                    ((a + 1, b), (ra, b))
                } else {
                    ((a, b + 1), (a, rb))
                };
                next = is_near(first).then_some(first);
                if is_near(second) {
                    match next {
                        None => next = Some(second),
                        Some(_) => {
                            stack[top] = second;
                            top += 1;
                        }
                    }
                }
            }
            if next.is_none() && top > 0 {
                top -= 1;
                next = Some(stack[top]);
            }
        }
    }
}
