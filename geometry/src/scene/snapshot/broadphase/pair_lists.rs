//! Candidate pairs that are kept between snapshots.

use super::candidates::{push, unpack};
use super::moving_boxes::MovingBoxes;
use crate::scene::model::GeometryState;
use std::sync::Arc;

/// All candidates whose enlarged boxes were within `margin` (m) of each other, sorted.
#[derive(Clone, Default)]
struct PairList {
    margin: f32,
    /// The update for which the list is valid; 0 if for none.
    update: u64,
    /// True if a query has used the list since [`PairLists::refresh_asked`].
    asked: bool,
    /// The pairs. Queries may still read them during an update, which then copies them.
    pairs: Arc<Vec<u64>>,
}

/// Lists for the two most recently used margins.
#[derive(Clone, Default)]
pub(super) struct PairLists {
    lists: [PairList; 2],
    last: usize,
    sorter: PairSorter,
    /// Storage for candidates.
    pub(super) spare: Vec<u64>,
}

/// Scratch storage for sorting.
#[derive(Default)]
struct PairSorter {
    /// Index of the next pair, by the first number of the pair.
    next: Vec<usize>,
    pairs: Vec<u64>,
}

impl Clone for PairSorter {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl PairSorter {
    /// Sorts pairs of which the first `sorted` are already sorted.
    fn merge(&mut self, pairs: &mut [u64], sorted: usize) {
        pairs[sorted..].sort_unstable();
        self.pairs.clear();
        self.pairs.extend_from_slice(&pairs[sorted..]);
        let (mut from, mut to) = (sorted, pairs.len());
        while let Some(last) = self.pairs.last() {
            to -= 1;
            if from > 0 && pairs[from - 1] > *last {
                from -= 1;
                pairs[to] = pairs[from];
            } else {
                pairs[to] = *last;
                self.pairs.pop();
            }
        }
    }

    /// Sorts the pairs of numbers below `n`.
    fn sort(&mut self, pairs: &mut Vec<u64>, n: usize) {
        // Bucketed by first number, so that only short runs remain to be sorted.
        self.next.clear();
        self.next.resize(n + 1, 0);
        for pair in pairs.iter() {
            self.next[unpack(*pair).0 + 1] += 1;
        }
        let mut first = 0;
        for next in &mut self.next {
            first += *next;
            *next = first;
        }
        self.pairs.clear();
        self.pairs.resize(pairs.len(), 0);
        for pair in pairs.iter() {
            let next = &mut self.next[unpack(*pair).0];
            self.pairs[*next] = *pair;
            *next += 1;
        }
        std::mem::swap(pairs, &mut self.pairs);
        // Now `next` holds the end of the pairs of each number.
        let mut first = 0;
        for end in &self.next[..n] {
            pairs[first..*end].sort_unstable();
            first = *end;
        }
    }
}

impl PairLists {
    /// Marks all lists as invalid.
    pub(super) fn forget(&mut self) {
        for list in &mut self.lists {
            list.update = 0;
        }
    }

    /// Returns the pairs for a margin (m): all pairs whose boxes are now within the margin, and
    /// possibly more.
    pub(super) fn refreshed(
        &mut self,
        tree: &MovingBoxes,
        state: &GeometryState,
        margin: f32,
    ) -> Arc<Vec<u64>> {
        let known = |list: &PairList| list.update != 0 && list.margin == margin;
        self.last = self.lists.iter().position(known).unwrap_or(1 - self.last);
        let list = &mut self.lists[self.last];
        if list.margin != margin {
            (list.margin, list.update) = (margin, 0);
        }
        list.refresh(tree, state, &mut self.sorter);
        list.asked = true;
        list.pairs.clone()
    }

    /// Refreshes the lists that queries have used since the last time.
    pub(super) fn refresh_asked(&mut self, tree: &MovingBoxes, state: &GeometryState) {
        for list in &mut self.lists {
            if std::mem::take(&mut list.asked) && list.update != 0 {
                list.refresh(tree, state, &mut self.sorter);
            }
        }
    }
}

impl PairList {
    fn refresh(&mut self, tree: &MovingBoxes, state: &GeometryState, sorter: &mut PairSorter) {
        if self.update == tree.update {
            return;
        }
        let since = std::mem::replace(&mut self.update, tree.update);
        let has_moved = |geometry: u32| tree.moved[geometry as usize] > since;
        // All geometries that moved since the last refresh: those that left their box in this
        // update, if the list was refreshed in the previous one.
        let moved = if since + 1 == tree.update {
            tree.escaped.len()
        } else {
            let moved = tree.members.iter().filter(|m| has_moved(m.geometry));
            moved.count()
        };
        if moved == 0 && since != 0 {
            return;
        }
        let statics = state.static_tree();
        let (member, anchored) = (
            |k: u32| tree.members[k as usize].geometry,
            |k: u32| statics.geometries[k as usize],
        );
        let pairs = Arc::make_mut(&mut self.pairs);
        // Looking up one geometry costs about as much as its share of comparing the tree with
        // itself.
        if since == 0 || 4 * moved > tree.members.len() {
            pairs.clear();
            tree.bvh.for_each_pair(self.margin, |a, b| {
                push(state, member(a), member(b), pairs);
            });
            let bvh = &tree.bvh;
            bvh.for_each_pair_with(&statics.bvh, self.margin, |a, b| {
                let (near, b) = (&tree.fat[a as usize], anchored(b));
                if !statics.is_terrain_below(b, near, self.margin) {
                    push(state, member(a), b, pairs);
                }
            });
            sorter.sort(pairs, state.geometries.len());
        } else {
            pairs.retain(|pair| {
                let (a, b) = unpack(*pair);
                !has_moved(a as u32) && !has_moved(b as u32)
            });
            let sorted = pairs.len();
            let moved = |k: &usize| has_moved(tree.members[*k].geometry);
            for k in (0..tree.members.len()).filter(moved) {
                let (a, near) = (tree.members[k].geometry, &tree.fat[k]);
                tree.bvh.for_each_near(near, self.margin, |other| {
                    let b = member(other);
                    // Two geometries that both moved find each other twice.
                    if a != b && (a < b || !has_moved(b)) {
                        push(state, a, b, pairs);
                    }
                });
                statics.bvh.for_each_near(near, self.margin, |b| {
                    let b = anchored(b);
                    if !statics.is_terrain_below(b, near, self.margin) {
                        push(state, a, b, pairs);
                    }
                });
            }
            sorter.merge(pairs, sorted);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::snapshot::broadphase::candidates::pack;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sort_matches_the_standard_library(
            pairs in proptest::collection::vec((0..20_u32, 0..20_u32), 0..200),
            at in 0.0..1.0_f64,
        ) {
            let mut pairs: Vec<u64> = pairs.into_iter().map(|(a, b)| pack(a, b)).collect();
            let mut expected = pairs.clone();
            expected.sort_unstable();
            let mut sorter = PairSorter::default();
            let mut counted = pairs.clone();
            sorter.sort(&mut counted, 20);
            prop_assert_eq!(&counted, &expected);
            let sorted = (at * pairs.len() as f64) as usize;
            pairs[..sorted].sort_unstable();
            sorter.merge(&mut pairs, sorted);
            prop_assert_eq!(pairs, expected);
        }
    }
}
