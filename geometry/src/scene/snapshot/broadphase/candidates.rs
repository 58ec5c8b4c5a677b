//! Candidate pairs of a query.

use crate::accel::bvh::Box32;
use crate::scene::bounds::StaticTree;
use crate::scene::model::GeometryState;
use std::sync::Arc;

/// Packs a pair of geometry numbers a < b such that the order of the packed numbers is that of the
/// pairs.
pub(super) fn pack(a: u32, b: u32) -> u64 {
    u64::from(a.min(b)) << 32 | u64::from(a.max(b))
}

/// Returns the pair (a, b) with a < b.
pub(crate) fn unpack(pair: u64) -> (usize, usize) {
    ((pair >> 32) as usize, pair as u32 as usize)
}

/// Appends a pair unless a filter excludes it.
pub(super) fn push(state: &GeometryState, a: u32, b: u32, pairs: &mut Vec<u64>) {
    let pair = pack(a, b);
    let (a, b) = unpack(pair);
    if state.is_candidate(a, b) {
        pairs.push(pair);
    }
}

/// Stored pairs, of which those that pass the box test are the candidates of a query.
pub(crate) struct Candidates<'a> {
    pairs: CandidateStorage,
    /// The boxes that must be near each other, anchored geometries, and the maximum distance (m).
    near: Option<(&'a [Box32], &'a StaticTree, f32)>,
}

enum CandidateStorage {
    Kept(Arc<Vec<u64>>),
    Found(Vec<u64>),
}

impl<'a> Candidates<'a> {
    /// Creates candidates from those of `pairs` whose boxes are within `margin` (m) of each other.
    pub(super) fn near(
        pairs: Arc<Vec<u64>>,
        boxes: &'a [Box32],
        statics: &'a StaticTree,
        margin: f32,
    ) -> Self {
        Self {
            pairs: CandidateStorage::Kept(pairs),
            near: Some((boxes, statics, margin)),
        }
    }

    /// Creates candidates from all of `pairs`.
    pub(super) fn all(pairs: Vec<u64>) -> Self {
        Self {
            pairs: CandidateStorage::Found(pairs),
            near: None,
        }
    }

    /// Returns sorted pairs, some of which [are candidates](Candidates::select).
    pub(crate) fn pairs(&self) -> &[u64] {
        match &self.pairs {
            CandidateStorage::Kept(pairs) => pairs,
            CandidateStorage::Found(pairs) => pairs,
        }
    }

    /// Returns the candidates among `pairs`, and possibly terrain that is far below a geometry, as
    /// there is no time to look twice. There must be no more `pairs` than `selected` has room for.
    pub(crate) fn select<'s>(&self, pairs: &'s [u64], selected: &'s mut [u64]) -> &'s [u64] {
        let Some((boxes, _, margin)) = self.near else {
            return pairs;
        };
        let mut count = 0;
        for pair in pairs {
            let (a, b) = unpack(*pair);
            // The outcome is hard to predict, so there is no branch.
            selected[count] = *pair;
            count += usize::from(boxes[a].is_near(&boxes[b], margin));
        }
        &selected[..count]
    }

    /// Returns all candidates, sorted.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, usize)> {
        // Pairs with terrain must not depend on how enlarged boxes were, either.
        let is_near = |(a, b): &(usize, usize)| {
            self.near.is_none_or(|(boxes, statics, margin)| {
                let below = |terrain: usize, other: usize| {
                    statics.is_terrain_below(terrain as u32, &boxes[other], margin)
                };
                boxes[*a].is_near(&boxes[*b], margin) && !below(*a, *b) && !below(*b, *a)
            })
        };
        self.pairs()
            .iter()
            .map(|pair| unpack(*pair))
            .filter(is_near)
    }

    /// Returns the storage for reuse.
    pub(super) fn into_storage(self) -> Option<Vec<u64>> {
        match self.pairs {
            CandidateStorage::Kept(_) => None,
            CandidateStorage::Found(pairs) => Some(pairs),
        }
    }
}
