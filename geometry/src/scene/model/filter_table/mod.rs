//! Excluded pairs of geometry, in memory linear in the size of the declarations.
//!
//! A statement gets a serial number and adds a tag to each of its members: on which side of the
//! statement the member is, and whether the statement excludes or allows pairs. The newest
//! statement with one geometry of a pair on each side decides about that pair; without such a
//! statement, the pair is allowed. A look-up walks once along the shorter of two sorted lists of
//! tags, which are empty for most geometries.

use crate::ids::FilterId;
use std::collections::BTreeMap;

/// A statement with its sets as sorted numbers of geometries.
pub(crate) struct ResolvedStatement {
    exclude: bool,
    /// Numbers and sides ([`A`], [`B`] or both) of the members, sorted by number.
    members: Vec<(usize, u64)>,
}

impl ResolvedStatement {
    /// Creates a statement about the pairs of a member of `a` and a member of `b`. Both must be
    /// sorted; they are equal for pairs within one set.
    pub(crate) fn new(exclude: bool, a: &[usize], b: &[usize]) -> Self {
        let sides = a.iter().map(|g| (*g, A)).chain(b.iter().map(|g| (*g, B)));
        let mut members: Vec<(usize, u64)> = sides.collect();
        members.sort_unstable();
        members.dedup_by(|later, first| {
            let same = later.0 == first.0;
            if same {
                first.1 |= later.1;
            }
            same
        });
        Self { exclude, members }
    }
}

/// Bit of the first set of a statement.
const A: u64 = 1;
/// Bit of the second set of a statement.
const B: u64 = 2;
const EXCLUDE: u64 = 4;
/// Number of bits below the serial number.
const SERIAL: u32 = 3;

fn serial(tag: u64) -> u64 {
    tag >> SERIAL
}
/// Returns true if the two members are on opposite sides.
fn are_opposite(tag: u64, other: u64) -> bool {
    (tag & A != 0 && other & B != 0) || (tag & B != 0 && other & A != 0)
}

/// A stored statement. Members that leave the scene or lose their role are subtracted.
#[derive(Clone, Debug)]
struct StatementRecord {
    exclude: bool,
    /// Number of members on side A, on side B, and in total.
    counts: [u32; 3],
    /// Hash of the members when the statement was made.
    hash: u64,
}

impl StatementRecord {
    /// Returns true if the statement still applies to any pair.
    fn is_alive(&self) -> bool {
        self.counts[0] > 0 && self.counts[1] > 0 && self.counts[2] > 1
    }
}

#[derive(Clone, Debug)]
struct Transient {
    id: FilterId,
    /// First serial number of its statements, which continue up to those of the next declaration.
    first: u64,
    end: u64,
}

/// All statements in effect.
#[derive(Clone, Debug, Default)]
pub(crate) struct FilterTable {
    /// Tags by geometry number, in increasing order. Geometries beyond the end have none.
    tags: Vec<Vec<u64>>,
    statements: BTreeMap<u64, StatementRecord>,
    /// Newest permanent statement by hash of its members, for finding the one that a new statement
    /// replaces.
    known: BTreeMap<u64, u64>,
    transients: Vec<Transient>,
    next_serial: u64,
    /// Number of permanent statements that exclude.
    excluding: usize,
    /// Number of statements that no longer apply to any pair.
    dead: usize,
}

impl FilterTable {
    /// Returns true if the newest statement about the pair excludes it.
    pub(crate) fn is_excluded(&self, a: usize, b: usize) -> bool {
        let (Some(a), Some(b)) = (self.tags.get(a), self.tags.get(b)) else {
            return false;
        };
        let (few, many) = if a.len() < b.len() { (a, b) } else { (b, a) };
        let mut rest = &many[..];
        for tag in few.iter().rev() {
            // Most geometries are in a handful of statements; a floor may be in one per robot.
            let end = if rest.len() <= 8 {
                let newer = rest.iter().rev().take_while(|t| serial(**t) > serial(*tag));
                rest.len() - newer.count()
            } else {
                rest.partition_point(|t| serial(*t) <= serial(*tag))
            };
            rest = &rest[..end];
            let Some(other) = rest.last() else {
                return false;
            };
            if serial(*other) == serial(*tag) && are_opposite(*tag, *other) {
                return tag & EXCLUDE != 0;
            }
        }
        false
    }

    pub(crate) fn has_transient_history(&self) -> bool {
        !self.transients.is_empty()
    }
    pub(crate) fn is_active(&self, id: FilterId) -> bool {
        self.transients.iter().any(|t| t.id == id)
    }

    /// Returns true if nothing is declared, including the transient history.
    pub(crate) fn is_empty(&self) -> bool {
        self.statements.is_empty() && self.transients.is_empty()
    }

    /// Adds a permanent statement. There must be no transient ones.
    pub(crate) fn apply(&mut self, statement: &ResolvedStatement) {
        debug_assert!(self.transients.is_empty(), "the caller must refuse");
        if !statement.exclude && self.excluding == 0 {
            return; // everything is allowed already
        }
        if let Some(serial) = self.push(statement) {
            self.make_permanent(serial, &statement.members);
            self.forget_allowances();
        }
    }

    pub(crate) fn apply_transient(&mut self, id: FilterId, statements: Vec<ResolvedStatement>) {
        let first = self.next_serial;
        for statement in &statements {
            self.push(statement);
        }
        let end = self.next_serial;
        self.transients.push(Transient { id, first, end });
    }

    /// Removes a transient declaration. Returns false if there is none.
    pub(crate) fn remove(&mut self, id: FilterId) -> bool {
        let Some(at) = self.transients.iter().position(|t| t.id == id) else {
            return false;
        };
        let Transient { first, end, .. } = self.transients.remove(at);
        for tags in &mut self.tags {
            // The newest tags of a geometry are the transient ones.
            let start = tags.partition_point(|t| serial(*t) < first);
            if start < tags.len() {
                let len = tags[start..].partition_point(|t| serial(*t) < end);
                tags.drain(start..start + len);
            }
        }
        let serials: Vec<u64> = self.statements.range(first..end).map(|(s, _)| *s).collect();
        for serial in serials {
            self.drop_statement(serial);
        }
        true
    }

    /// Makes all transient statements permanent.
    pub(crate) fn flatten(&mut self) {
        let Some(first) = self.transients.first().map(|t| t.first) else {
            return;
        };
        self.transients.clear();
        let mut members: BTreeMap<u64, Vec<(usize, u64)>> = BTreeMap::new();
        for (geometry, tags) in self.tags.iter().enumerate() {
            let start = tags.partition_point(|t| serial(*t) < first);
            for tag in &tags[start..] {
                let member = (geometry, tag & (A | B));
                members.entry(serial(*tag)).or_default().push(member);
            }
        }
        for (serial, members) in members {
            self.make_permanent(serial, &members);
        }
        self.forget_allowances();
    }

    /// Removes geometries that leave the scene; later geometries get smaller numbers. The numbers
    /// in `removed` must increase.
    pub(crate) fn remove_geometries(&mut self, removed: &[usize]) {
        for number in removed {
            self.clear(*number);
        }
        let mut next = removed.iter().copied().peekable();
        let mut number = 0;
        self.tags.retain(|_| {
            let is_removed = next.next_if_eq(&number).is_some();
            number += 1;
            !is_removed
        });
    }

    /// Removes a geometry from all statements.
    pub(crate) fn clear(&mut self, number: usize) {
        let Some(tags) = self.tags.get_mut(number) else {
            return;
        };
        for tag in std::mem::take(tags) {
            let Some(statement) = self.statements.get_mut(&serial(tag)) else {
                continue;
            };
            let was_alive = statement.is_alive();
            for (count, counted) in statement.counts.iter_mut().zip(counted(tag)) {
                *count -= u32::from(counted);
            }
            self.dead += usize::from(was_alive && !statement.is_alive());
        }
        // Dead statements are swept in batches, because a remaining geometry may share a statement
        // with each removed one.
        if self.dead > 64 + self.statements.len() / 2 {
            self.sweep();
        }
    }

    /// Returns the number of tags, which determines the memory use.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.tags.iter().map(Vec::len).sum()
    }

    /// Adds the tags of a statement. Returns `None` if it does not apply to any pair.
    fn push(&mut self, statement: &ResolvedStatement) -> Option<u64> {
        let (mut counts, mut hash) = ([0; 3], 0_u64);
        for &(geometry, sides) in &statement.members {
            for (count, counted) in counts.iter_mut().zip(counted(sides)) {
                *count += u32::from(counted);
            }
            hash = hash.wrapping_add(scramble(geometry as u64 * 4 + sides));
        }
        let entry = StatementRecord {
            exclude: statement.exclude,
            counts,
            hash,
        };
        if !entry.is_alive() {
            return None;
        }
        let new = self.next_serial;
        self.next_serial += 1;
        let exclude = if statement.exclude { EXCLUDE } else { 0 };
        if let Some((last, _)) = statement.members.last() {
            self.tags.resize(self.tags.len().max(last + 1), vec![]);
        }
        for &(geometry, sides) in &statement.members {
            self.tags[geometry].push(new << SERIAL | exclude | sides);
        }
        self.statements.insert(new, entry);
        Some(new)
    }

    /// Makes a statement permanent. It replaces an older permanent one about the same sets, so that
    /// switching a pair repeatedly needs no memory.
    fn make_permanent(&mut self, new: u64, members: &[(usize, u64)]) {
        let Some(statement) = self.statements.get(&new) else {
            return;
        };
        self.excluding += usize::from(statement.exclude);
        let Some(old) = self.known.insert(statement.hash, new) else {
            return;
        };
        let counts = statement.counts;
        let has_old = |&(geometry, sides): &(usize, u64)| {
            let tags = &self.tags[geometry];
            let at = tags.partition_point(|t| serial(*t) < old);
            tags.get(at)
                .is_some_and(|t| serial(*t) == old && t & (A | B) == sides)
        };
        let same = self.statements.get(&old).map(|s| s.counts) == Some(counts);
        if same && members.iter().all(has_old) {
            for &(geometry, _) in members {
                self.tags[geometry].retain(|t| serial(*t) != old);
            }
            self.drop_permanent(old);
        }
    }

    fn drop_permanent(&mut self, serial: u64) {
        if let Some(statement) = self.drop_statement(serial) {
            self.excluding -= usize::from(statement.exclude);
            if self.known.get(&statement.hash) == Some(&serial) {
                self.known.remove(&statement.hash);
            }
        }
    }

    fn drop_statement(&mut self, serial: u64) -> Option<StatementRecord> {
        let statement = self.statements.remove(&serial)?;
        self.dead -= usize::from(!statement.is_alive());
        Some(statement)
    }

    /// Drops all statements if none excludes: allowed pairs need no memory.
    fn forget_allowances(&mut self) {
        if self.excluding == 0 && self.transients.is_empty() && !self.statements.is_empty() {
            *self = Self {
                next_serial: self.next_serial,
                ..Self::default()
            };
        }
    }

    /// Drops the statements that no longer apply to any pair.
    fn sweep(&mut self) {
        let transient = self.transients.first().map_or(u64::MAX, |t| t.first);
        let dead = self.statements.iter().filter(|(_, s)| !s.is_alive());
        let dead: Vec<u64> = dead.map(|(serial, _)| *serial).collect();
        for tags in &mut self.tags {
            tags.retain(|t| dead.binary_search(&serial(*t)).is_err());
        }
        for serial in dead {
            if serial < transient {
                self.drop_permanent(serial);
            } else {
                self.drop_statement(serial);
            }
        }
        self.forget_allowances();
    }
}

/// Returns whether a member counts for side A, for side B, and in total.
fn counted(sides: u64) -> [bool; 3] {
    [sides & A != 0, sides & B != 0, true]
}

/// Spreads small numbers over all bits (the finalizer of SplitMix64; Steele, Lea, Flood, 2014).
fn scramble(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests;
