//! Sets of pairs of tetrahedra.
//!
//! Clearing only the used part of a set saved no time, and neither did a first size that the meshes
//! suggest.

/// Knowledge of a pair in a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// Nothing.
    New,
    /// The pair has a face, or will be looked at.
    Face,
    /// The pair has no face.
    Empty,
}

/// A set of pairs of numbers below 2^31, with open addressing.
pub(super) struct PairSet {
    /// A power of two of places, more than half of which are [`FREE`].
    places: Vec<u64>,
    len: usize,
}

/// A place without a pair.
const FREE: u64 = u64::MAX;

/// Bit of pairs that have no face.
const EMPTY: u64 = 1 << 63;

/// Number of places of a new set.
const FIRST_PLACES: usize = 256;

impl Default for PairSet {
    fn default() -> Self {
        Self {
            places: vec![FREE; FIRST_PLACES],
            len: 0,
        }
    }
}

fn key(a: u32, b: u32) -> u64 {
    u64::from(a) << 32 | u64::from(b)
}

impl PairSet {
    pub(super) fn clear(&mut self) {
        if self.len > 0 {
            self.places.fill(FREE);
            self.len = 0;
        }
    }

    /// Returns the place of a pair, or the free one where it would be.
    #[inline]
    fn place(&self, key: u64) -> usize {
        let mask = self.places.len() - 1;
        // The upper bits of a product with an odd number depend on all bits.
        let hash = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut at = (hash >> 32) as usize & mask;
        while self.places[at] != FREE && self.places[at] & !EMPTY != key {
            at = (at + 1) & mask;
        }
        at
    }

    #[inline]
    fn entry(&self, at: usize) -> Entry {
        match self.places[at] {
            FREE => Entry::New,
            pair if pair & EMPTY != 0 => Entry::Empty,
            _ => Entry::Face,
        }
    }

    /// Returns what is known of a pair.
    #[inline]
    pub(super) fn get(&self, a: u32, b: u32) -> Entry {
        self.entry(self.place(key(a, b)))
    }

    /// Returns what was known of a pair; a new one is added.
    #[inline]
    pub(super) fn insert(&mut self, a: u32, b: u32) -> Entry {
        let at = self.place(key(a, b));
        let known = self.entry(at);
        if known == Entry::New {
            self.places[at] = key(a, b);
            self.len += 1;
            if 2 * self.len >= self.places.len() {
                self.grow();
            }
        }
        known
    }

    /// Remembers that a pair has no face.
    #[inline]
    pub(super) fn set_empty(&mut self, a: u32, b: u32) {
        let at = self.place(key(a, b));
        self.places[at] = key(a, b) | EMPTY;
    }

    #[cold]
    fn grow(&mut self) {
        let places = vec![FREE; 2 * self.places.len()];
        for pair in std::mem::replace(&mut self.places, places) {
            if pair != FREE {
                let at = self.place(pair & !EMPTY);
                self.places[at] = pair;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn a_set_knows_what_was_put_in() {
        let mut set = PairSet::default();
        for round in 0..3_u32 {
            let mut expected = HashMap::new();
            for i in 0..5000_u32 {
                let pair = (i.wrapping_mul(7919 + round) % 97, i % 61);
                let known = expected.get(&pair).copied().unwrap_or(Entry::New);
                assert_eq!(set.get(pair.0, pair.1), known);
                assert_eq!(set.insert(pair.0, pair.1), known);
                expected.entry(pair).or_insert(Entry::Face);
                if i % 3 == 0 {
                    set.set_empty(pair.0, pair.1);
                    expected.insert(pair, Entry::Empty);
                }
            }
            set.clear();
            assert_eq!(set.get(0, 0), Entry::New);
        }
    }
}
