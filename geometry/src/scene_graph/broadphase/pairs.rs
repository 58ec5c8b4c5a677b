//! Pairs that are kept from one moment to the next.

use super::super::state::GeometryState;
use super::DynamicTree;

/// A pair a < b of geometry numbers, so that the order of the numbers is that of the pairs.
fn pack(a: u32, b: u32) -> u64 {
    u64::from(a.min(b)) << 32 | u64::from(a.max(b))
}

/// The pair (a, b), a < b.
pub(crate) fn unpack(pair: u64) -> (usize, usize) {
    ((pair >> 32) as usize, pair as u32 as usize)
}

/// Appends a pair that no filter excludes.
pub(super) fn push(state: &GeometryState, a: u32, b: u32, pairs: &mut Vec<u64>) {
    let pair = pack(a, b);
    let (a, b) = unpack(pair);
    if state.is_candidate(a, b) {
        pairs.push(pair);
    }
}

/// All candidates whose larger boxes were within `margin` of each other, sorted.
#[derive(Clone, Default)]
struct PairList {
    margin: f32,
    /// The update that it is true for; 0 if for none.
    update: u64,
    pairs: Vec<u64>,
}

/// Lists for the margins that were asked for last.
#[derive(Clone, Default)]
pub(super) struct PairLists {
    lists: [PairList; 2],
    last: usize,
    /// Storage for candidates.
    pub(super) spare: Vec<u64>,
}

impl PairLists {
    /// Nothing kept is true any more.
    pub(super) fn forget(&mut self) {
        for list in &mut self.lists {
            list.update = 0;
        }
    }

    /// The pairs for a margin. They may be more than those whose boxes are within the margin now,
    /// but not fewer.
    pub(super) fn refreshed(
        &mut self,
        tree: &DynamicTree,
        state: &GeometryState,
        margin: f32,
    ) -> &[u64] {
        let known = |list: &PairList| list.update != 0 && list.margin == margin;
        self.last = self.lists.iter().position(known).unwrap_or(1 - self.last);
        let list = &mut self.lists[self.last];
        if list.margin != margin {
            (list.margin, list.update) = (margin, 0);
        }
        list.refresh(tree, state);
        &list.pairs
    }
}

impl PairList {
    fn refresh(&mut self, tree: &DynamicTree, state: &GeometryState) {
        if self.update == tree.update {
            return;
        }
        let since = std::mem::replace(&mut self.update, tree.update);
        let has_moved = |geometry: u32| tree.moved[geometry as usize] > since;
        // All that moved since the last refresh: what left its box at this update, if the list was
        // refreshed at the one before.
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
        // Looking up one geometry costs about as much as its share in comparing the tree with itself.
        if since == 0 || 4 * moved > tree.members.len() {
            self.pairs.clear();
            tree.bvh.for_each_pair(self.margin, |a, b| {
                push(state, member(a), member(b), &mut self.pairs);
            });
            let bvh = &tree.bvh;
            bvh.for_each_pair_with(&statics.bvh, self.margin, |a, b| {
                push(state, member(a), anchored(b), &mut self.pairs);
            });
        } else {
            self.pairs.retain(|pair| {
                let (a, b) = unpack(*pair);
                !has_moved(a as u32) && !has_moved(b as u32)
            });
            let moved = |k: &usize| has_moved(tree.members[*k].geometry);
            for k in (0..tree.members.len()).filter(moved) {
                let (a, near) = (tree.members[k].geometry, &tree.fat[k]);
                tree.bvh.for_each_near(near, self.margin, |other| {
                    let b = member(other);
                    // Two that moved find each other twice.
                    if a != b && (a < b || !has_moved(b)) {
                        push(state, a, b, &mut self.pairs);
                    }
                });
                statics.bvh.for_each_near(near, self.margin, |b| {
                    push(state, a, anchored(b), &mut self.pairs);
                });
            }
        }
        self.pairs.sort_unstable();
    }
}
