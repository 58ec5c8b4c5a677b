//! Pairs of geometries that a query has to look at.

use crate::accel::bvh::Box32;
use crate::scene::model::GeometryState;
use std::sync::Arc;

/// A pair a < b of geometry numbers, so that the order of the numbers is that of the pairs.
pub(super) fn pack(a: u32, b: u32) -> u64 {
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

/// CandidateStorage of which those that a query asks for are candidates.
pub(crate) struct Candidates<'a> {
    pairs: CandidateStorage,
    /// The boxes that have to be near each other, and how near.
    near: Option<(&'a [Box32], f32)>,
}

enum CandidateStorage {
    Kept(Arc<Vec<u64>>),
    Found(Vec<u64>),
}

impl<'a> Candidates<'a> {
    /// Those of `pairs` whose boxes are within `margin` of each other.
    pub(super) fn near(pairs: Arc<Vec<u64>>, boxes: &'a [Box32], margin: f32) -> Self {
        Self {
            pairs: CandidateStorage::Kept(pairs),
            near: Some((boxes, margin)),
        }
    }

    /// All of `pairs`.
    pub(super) fn all(pairs: Vec<u64>) -> Self {
        Self {
            pairs: CandidateStorage::Found(pairs),
            near: None,
        }
    }

    /// Sorted pairs, of which some [are candidates](Candidates::select).
    pub(crate) fn pairs(&self) -> &[u64] {
        match &self.pairs {
            CandidateStorage::Kept(pairs) => pairs,
            CandidateStorage::Found(pairs) => pairs,
        }
    }

    /// The candidates among as many pairs as `selected` has room for.
    pub(crate) fn select<'s>(&self, pairs: &'s [u64], selected: &'s mut [u64]) -> &'s [u64] {
        let Some((boxes, margin)) = self.near else {
            return pairs;
        };
        let mut count = 0;
        for pair in pairs {
            let (a, b) = unpack(*pair);
            // Hard to predict, so there is no branch.
            selected[count] = *pair;
            count += usize::from(boxes[a].is_near(&boxes[b], margin));
        }
        &selected[..count]
    }

    /// All candidates, sorted.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, usize)> {
        let is_near = |(a, b): &(usize, usize)| {
            self.near
                .is_none_or(|(boxes, margin)| boxes[*a].is_near(&boxes[*b], margin))
        };
        self.pairs()
            .iter()
            .map(|pair| unpack(*pair))
            .filter(is_near)
    }

    /// The storage, to be used again.
    pub(super) fn into_storage(self) -> Option<Vec<u64>> {
        match self.pairs {
            CandidateStorage::Kept(_) => None,
            CandidateStorage::Found(pairs) => Some(pairs),
        }
    }
}
