//! A bounding volume hierarchy of boxes: built well, refitted in place, walked without allocation.
//!
//! A binary tree with one item per leaf, stored in pre-order: the left child of a node is the next
//! node, and its right child is linked. Children have larger numbers than their parents, so that
//! refitting everything is one pass from the back. A node takes 32 bytes.
//!
//! It is built from the top by binned surface area heuristic: I. Wald, "On fast construction of
//! SAH-based bounding volume hierarchies", IEEE Symposium on Interactive Ray Tracing, 2007. Below a
//! thousand items a space-filling curve divides them.

mod box32;
mod build;
mod morton;
mod ray;

pub(crate) use box32::{Box32, ROUNDING, up};
use build::Scratch;
pub(crate) use ray::RayBox;

/// Every tree is less deep than this: see [`build`].
const MAX_DEPTH: usize = 96;

/// Nodes of two trees that are near each other and still to be gone through. Every step puts at
/// most one pair there, and goes down by one level in one of the trees.
type PairStack = [(u32, u32); 2 * MAX_DEPTH];
const PAIRS: PairStack = [(0, 0); 2 * MAX_DEPTH];

/// A tree over items `0..n`.
#[derive(Clone, Default)]
pub(crate) struct Bvh {
    /// The fourth lane of `lower` holds the number of the right child, 0 for a leaf; that of
    /// `upper` the item of a leaf.
    nodes: Vec<Box32>,
    parents: Vec<u32>,
    /// Item to node.
    leaves: Vec<u32>,
    scratch: Scratch,
}

impl Box32 {
    #[inline]
    fn right(&self) -> u32 {
        self.lower[3].to_bits()
    }
    #[inline]
    fn item(&self) -> u32 {
        self.upper[3].to_bits()
    }
    #[inline]
    fn with_links(mut self, right: u32, item: u32) -> Self {
        self.lower[3] = f32::from_bits(right);
        self.upper[3] = f32::from_bits(item);
        self
    }
}

impl Bvh {
    /// A tree that is not to be built again.
    pub(crate) fn new(boxes: &[Box32]) -> Self {
        let mut this = Self::default();
        this.build(boxes);
        this.scratch = Scratch::default();
        this
    }

    /// The box of everything; `None` if there is nothing.
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

    /// Gives the items `changed` the boxes `boxes[item]`.
    pub(crate) fn refit(&mut self, boxes: &[Box32], changed: &[u32]) {
        for &item in changed {
            self.set_box(self.leaves[item as usize] as usize, &boxes[item as usize]);
        }
        // Paths to the root share nodes: many of them cost more than everything once.
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

    /// Calls `f` once for every pair of different items whose boxes are within `margin` of each
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

    /// Calls `f` for every pair of an item here and one of `other` whose boxes are within `margin`.
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

    /// Handles two nodes.
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
                // Left subtrees tell which node holds more.
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

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Vector3;
    use proptest::prelude::*;

    fn boxes(n: usize) -> impl Strategy<Value = Vec<Box32>> {
        let one = (
            [(); 3].map(|()| -5.0..5.0_f64),
            [(); 3].map(|()| 0.0..1.0_f64),
            0..8_u8,
        )
            .prop_map(|(c, h, big)| {
                let scale = if big == 0 { 5.0 } else { 0.5 };
                Box32::around(&Vector3::from(c), &(Vector3::from(h) * scale))
            });
        proptest::collection::vec(one, 0..n)
    }

    fn pairs(tree: &Bvh, margin: f32) -> Vec<(u32, u32)> {
        let mut found = vec![];
        tree.for_each_pair(margin, |a, b| found.push((a.min(b), a.max(b))));
        found.sort_unstable();
        found
    }

    fn brute_force(a: &[Box32], b: &[Box32], margin: f32) -> Vec<(u32, u32)> {
        let mut found = vec![];
        for (i, x) in a.iter().enumerate() {
            for (j, y) in b.iter().enumerate() {
                if x.is_near(y, margin) {
                    found.push((i as u32, j as u32));
                }
            }
        }
        found
    }

    proptest! {
        #[test]
        fn finds_what_testing_all_finds(
            mut a in boxes(60),
            b in boxes(60),
            moved in proptest::collection::vec(([(); 3].map(|()| -5.0..5.0_f64), 0..60_usize), 0..40),
            margin in prop_oneof![Just(0.0), 0.0..2.0_f32],
        ) {
            let mut tree = Bvh::new(&a);
            let mut changed = vec![];
            for (p, i) in &moved {
                if *i < a.len() {
                    a[*i] = Box32::around(&Vector3::from(*p), &Vector3::repeat(0.3));
                    changed.push(*i as u32);
                }
            }
            tree.refit(&a, &changed);
            let mut all = brute_force(&a, &a, margin);
            all.retain(|(i, j)| i < j);
            prop_assert_eq!(pairs(&tree, margin), all);
            let mut found = vec![];
            tree.for_each_pair_with(&Bvh::new(&b), margin, |i, j| found.push((i, j)));
            found.sort_unstable();
            prop_assert_eq!(found, brute_force(&a, &b, margin));
            for b in &b {
                let mut found = vec![];
                tree.for_each_near(b, margin, |i| found.push(i));
                found.sort_unstable();
                let all: Vec<u32> = (0..a.len() as u32).filter(|i| a[*i as usize].is_near(b, margin)).collect();
                prop_assert_eq!(found, all);
            }
        }
    }

    /// Boxes at one place, and boxes whose sizes grow by a factor, make the deepest trees.
    #[test]
    fn trees_are_not_too_deep() {
        let same = vec![Box32::around(&Vector3::zeros(), &Vector3::repeat(1.0)); 1000];
        let towers = (0..1000).map(|i| {
            let size = 1.2_f64.powi(i % 400);
            Box32::around(&Vector3::repeat(size), &Vector3::repeat(0.1 * size))
        });
        for boxes in [same, towers.collect()] {
            let tree = Bvh::new(&boxes);
            let depth = |mut node: u32| {
                let mut depth = 0;
                while node != 0 {
                    (node, depth) = (tree.parents[node as usize], depth + 1);
                }
                depth
            };
            let deepest = tree.leaves.iter().map(|l| depth(*l)).max();
            assert!(deepest < Some(MAX_DEPTH - 1), "{deepest:?}");
            let all = brute_force(&boxes, &boxes, 0.0);
            let all: Vec<(u32, u32)> = all.into_iter().filter(|(i, j)| i < j).collect();
            assert_eq!(pairs(&tree, 0.0), all);
        }
    }
}
