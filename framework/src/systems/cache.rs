//! The cache of a context: one slot per computation.
//!
//! Invariant: filling needs `&self`, invalidating needs `&mut self`, so a reference to a cached
//! value can not outlive the change that makes it stale; the borrow checker enforces it.
//!
//! When a source changes, what is downstream of it is followed only through slots that hold a value
//! or a failure. A stale slot ends the search: whatever is valid behind it was computed without
//! reading it, or it would be valid too. So a change costs no more than the computations that it
//! undoes.

use super::slots::{Slots, State};
use super::value::Stored;
use crate::{Error, Result, Scalar};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use typed_arena::Arena;

/// How a context treats what it has computed.
///
/// ```
/// use tarragon_framework::{CacheMode, prelude::*, primitives::Sine};
/// let mut b = DiagramBuilder::new();
/// let wave = b.add("wave", Sine::new(1.0, 1.0, 0.0, 1));
/// let mut ctx = b.build()?.default_context();
/// ctx.set_cache_mode(CacheMode::Off);
/// ctx.eval(wave.y)?;
/// ctx.eval(wave.y)?;
/// assert_eq!(ctx.cache_statistics().computations, 2);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CacheMode {
    /// Values are kept until something that they depend on changes.
    #[default]
    On,
    /// Every evaluation computes everything anew: the same results, slowly; a way to find out
    /// whether a dependency is missing. What was computed stays in memory until the next change of
    /// the context.
    Off,
    /// Values are kept, and every evaluation computes them anew nevertheless and compares: numbers
    /// and vectors of numbers must be equal to the bit. Values of other types are computed, not
    /// compared.
    Verify,
}

/// Counters of what a cache did, since the context was made or cloned.
///
/// ```
/// use tarragon_framework::{prelude::*, primitives::Sine};
/// let mut b = DiagramBuilder::new();
/// let wave = b.add("wave", Sine::new(1.0, 1.0, 0.0, 1));
/// let mut ctx = b.build()?.default_context();
/// ctx.eval(wave.y)?;
/// ctx.set_time(0.5);
/// ctx.eval(wave.y)?;
/// ctx.eval(wave.y)?; // nothing has changed
/// let statistics = ctx.cache_statistics();
/// assert_eq!((statistics.changes, statistics.computations), (1, 2));
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheStatistics {
    /// Changes of sources: time, state, parameters, fixed inputs. Time and all continuous state set
    /// by an integrator count as one.
    pub changes: u64,
    /// Values that these changes made out of date or found so, one by one.
    pub notifications: u64,
    /// Computations that succeeded.
    pub computations: u64,
}

/// Slots to invalidate together, in ascending order.
#[derive(Default)]
pub(crate) struct Mask {
    pub(crate) ranges: Box<[Range<u32>]>,
    len: u64,
}

impl Mask {
    pub(crate) fn new(slots: impl Iterator<Item = u32>) -> Self {
        let mut ranges: Vec<Range<u32>> = vec![];
        for slot in slots {
            match ranges.last_mut() {
                Some(last) if last.end == slot => last.end += 1,
                _ => ranges.push(slot..slot + 1),
            }
        }
        let len = ranges.iter().map(|r| r.len() as u64).sum();
        let ranges = ranges.into();
        Self { ranges, len }
    }
}

/// Lists of numbers, one after the other.
#[derive(Default)]
pub(crate) struct Lists {
    ends: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    /// `n` lists of the pairs (list, item); items stay in order.
    pub(crate) fn new(n: usize, pairs: &[(u32, u32)]) -> Self {
        let mut ends = vec![0; n + 1];
        for (list, _) in pairs {
            ends[*list as usize + 1] += 1;
        }
        for i in 0..n {
            ends[i + 1] += ends[i];
        }
        let mut at = ends.clone();
        let mut items = vec![0; pairs.len()];
        for (list, item) in pairs {
            let at = &mut at[*list as usize];
            items[*at as usize] = *item;
            *at += 1;
        }
        Self { ends, items }
    }

    #[inline]
    pub(crate) fn of(&self, list: usize) -> &[u32] {
        &self.items[self.ends[list] as usize..self.ends[list + 1] as usize]
    }
}

// Reasons to leave the fast way.
const FAILED: u8 = 1;
const FROZEN: u8 = 2;
const OFF: u8 = 4;
const VERIFY: u8 = 8;
const SOME_DISABLED: u8 = 16;

pub(crate) struct Cache<T> {
    slots: Slots<Stored<T>>,
    serials: Box<[Cell<u64>]>,
    flags: Cell<u8>,
    /// Nesting of computations in progress.
    depth: Cell<u32>,
    /// Computations that failed during the outermost one in progress. No source can change while it
    /// runs, so asking again must give the same error; remembering it keeps deep chains linear.
    failed: RefCell<BTreeMap<u32, Error>>,
    /// Slots verified during the outermost computation in progress.
    verified: RefCell<BTreeSet<u32>>,
    /// A computation that was refused during the outermost one, which has no result for that.
    refused: RefCell<Option<Error>>,
    /// What computations in progress have read without declaring it, in debug builds.
    undeclared: RefCell<BTreeMap<u32, String>>,
    /// Slots that are never kept.
    disabled: BTreeSet<u32>,
    /// What was computed and is not kept; lives until the next change, because references to it may
    /// be in use.
    fresh: Arena<Stored<T>>,
    /// Work space of computations in order.
    stack: Cell<Vec<(u32, u32)>>,
    /// Work space of invalidations.
    todo: Vec<u32>,
    changes: u64,
    notifications: u64,
    /// Computations of the cache that this one was cloned from.
    computations_before: u64,
}

/// Counts one computation for as long as it lives.
pub(super) struct Running<'a, T>(&'a Cache<T>);

impl<T> Drop for Running<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        let depth = self.0.depth.get() - 1;
        self.0.depth.set(depth);
        if depth == 0 && self.0.flags.get() != 0 {
            self.0.forget();
        }
    }
}

impl<T: Scalar> Cache<T> {
    pub(crate) fn new(storage: impl Iterator<Item = Stored<T>>) -> Self {
        let slots = Slots::new(storage);
        Self {
            serials: (0..slots.len()).map(|_| Cell::new(1)).collect(),
            slots,
            flags: Cell::new(0),
            depth: Cell::new(0),
            failed: RefCell::default(),
            verified: RefCell::default(),
            undeclared: RefCell::default(),
            refused: RefCell::default(),
            disabled: BTreeSet::new(),
            fresh: Arena::with_capacity(0),
            stack: Cell::default(),
            todo: vec![],
            changes: 0,
            notifications: 0,
            computations_before: 0,
        }
    }

    fn set_flag(&self, flag: u8, on: bool) {
        let others = self.flags.get() & !flag;
        self.flags.set(if on { others | flag } else { others });
    }

    pub(crate) fn set_mode(&mut self, mode: CacheMode) {
        self.set_flag(OFF, mode == CacheMode::Off);
        self.set_flag(VERIFY, mode == CacheMode::Verify);
        self.slots.set_keeping(mode == CacheMode::Verify);
        self.invalidate_all();
    }

    pub(crate) fn set_frozen(&mut self, frozen: bool) {
        self.set_flag(FROZEN, frozen);
    }

    pub(crate) fn set_disabled(&mut self, slot: usize, disabled: bool) {
        if disabled {
            self.disabled.insert(slot as u32);
        } else {
            self.disabled.remove(&(slot as u32));
        }
        self.set_flag(SOME_DISABLED, !self.disabled.is_empty());
        self.invalidate_all();
    }

    pub(crate) fn statistics(&self) -> CacheStatistics {
        CacheStatistics {
            changes: self.changes,
            notifications: self.notifications,
            computations: self.all_computations() - self.computations_before,
        }
    }

    fn all_computations(&self) -> u64 {
        self.serials.iter().map(|s| s.get() - 1).sum()
    }

    #[inline(always)]
    pub(super) fn get(&self, slot: usize) -> Option<&Stored<T>> {
        self.slots.get(slot)
    }

    /// Marks the begin of a computation; the second value is its nesting depth, 1 for the
    /// outermost.
    #[inline(always)]
    pub(super) fn begin(&self) -> (Running<'_, T>, u32) {
        let depth = self.depth.get() + 1;
        self.depth.set(depth);
        (Running(self), depth)
    }

    /// Nothing special is asked of a computation.
    #[inline(always)]
    pub(super) fn is_plain(&self) -> bool {
        self.flags.get() == 0
    }
    pub(super) fn is_frozen(&self) -> bool {
        self.flags.get() & FROZEN != 0
    }
    pub(super) fn verifies(&self) -> bool {
        self.flags.get() & VERIFY != 0
    }
    /// The value of this slot is never kept.
    pub(super) fn is_off(&self, slot: usize) -> bool {
        self.flags.get() & OFF != 0 || self.is_disabled(slot)
    }
    fn is_disabled(&self, slot: usize) -> bool {
        self.flags.get() & SOME_DISABLED != 0 && self.disabled.contains(&(slot as u32))
    }

    pub(super) fn failure(&self, slot: usize) -> Option<Error> {
        if self.flags.get() & FAILED == 0 {
            return None;
        }
        self.failed.borrow().get(&(slot as u32)).cloned()
    }

    #[cold]
    pub(super) fn note_undeclared(&self, slot: u32, what: String) {
        self.undeclared.borrow_mut().entry(slot).or_insert(what);
    }

    /// Fails if the computation of this slot, which has ended, read what it did not declare.
    pub(super) fn check_declared(&self, slot: u32) -> Result<()> {
        match self.undeclared.borrow_mut().remove(&slot) {
            None => Ok(()),
            Some(what) => Err(Error::custom(format!(
                "it reads {what} and does not declare it as a dependency; add it to the list, or the value \
                 will go stale"
            ))),
        }
    }

    pub(super) fn set_failure(&self, slot: usize, error: &Error) {
        self.set_flag(FAILED, true);
        self.failed.borrow_mut().insert(slot as u32, error.clone());
    }

    /// A computation is possible in other modes, so no reader may take its error for a result.
    #[cold]
    pub(super) fn refuse(&self, error: Error) -> Error {
        self.refused.borrow_mut().get_or_insert(error).clone()
    }

    /// Fails if something was refused below the computation that ends here.
    pub(super) fn check_refusals(&self) -> Result<()> {
        if self.flags.get() & (OFF | VERIFY | SOME_DISABLED) == 0 {
            return Ok(());
        }
        self.refused.borrow().clone().map_or(Ok(()), Err)
    }

    /// Nothing is left to do before what reads this slot can be computed.
    pub(super) fn is_settled(&self, slot: usize) -> bool {
        self.slots.state(slot) == State::Valid
            || self.failure(slot).is_some()
            || self.is_disabled(slot)
    }

    /// True the first time that it is asked for a slot during the outermost computation.
    pub(super) fn begin_verification(&self, slot: usize) -> bool {
        self.verified.borrow_mut().insert(slot as u32)
    }

    /// Computes a slot in its storage.
    #[inline(always)]
    pub(super) fn fill(
        &self,
        slot: usize,
        calc: impl FnOnce(&mut Stored<T>) -> Result<()>,
    ) -> Result<&Stored<T>> {
        let value = self.slots.fill(slot, calc).map_err(own_result)?;
        let serial = &self.serials[slot];
        serial.set(serial.get() + 1);
        Ok(value)
    }

    /// Computes a slot elsewhere; what is kept of it stays as it is.
    pub(super) fn compute_afresh(
        &self,
        slot: usize,
        calc: impl FnOnce(&mut Stored<T>) -> Result<()>,
    ) -> Result<&Stored<T>> {
        let beside = |storage: &Stored<T>| {
            let mut value = storage.clone();
            calc(&mut value).map(|()| value)
        };
        let value = self.slots.beside(slot, beside).map_err(own_result)?;
        let serial = &self.serials[slot];
        serial.set(serial.get() + 1);
        Ok(self.fresh.alloc(value))
    }

    /// A value that readers verify before they use it.
    pub(super) fn kept(&self, slot: usize) -> Option<&Stored<T>> {
        self.slots.kept(slot)
    }

    pub(super) fn take_stack(&self) -> Vec<(u32, u32)> {
        self.stack.take()
    }
    pub(super) fn return_stack(&self, stack: Vec<(u32, u32)>) {
        self.stack.set(stack);
    }

    /// Invalidates what is downstream: `first` directly, `next` each of its slots further.
    #[inline]
    pub(crate) fn changed(&mut self, first: &[u32], next: &Lists) {
        self.changes += 1;
        if self.flags.get() != 0 {
            self.drop_fresh();
            if !self.disabled.is_empty() {
                return self.changed_through_disabled(first, next);
            }
        }
        self.invalidate_each(first);
        while let Some(slot) = self.todo.pop() {
            self.invalidate_each(next.of(slot as usize));
        }
    }

    #[inline(always)]
    fn invalidate_each(&mut self, slots: &[u32]) {
        self.notifications += slots.len() as u64;
        for &slot in slots {
            if self.slots.invalidate(slot as usize) != State::Stale {
                self.todo.push(slot);
            }
        }
    }

    /// Slots that are never kept look stale although others have read them.
    #[cold]
    fn changed_through_disabled(&mut self, first: &[u32], next: &Lists) {
        let mut seen = BTreeSet::new();
        let mut lists = vec![first];
        while let Some(slots) = lists.pop() {
            self.notifications += slots.len() as u64;
            for slot in slots {
                if self.slots.invalidate(*slot as usize) != State::Stale
                    || (self.disabled.contains(slot) && seen.insert(*slot))
                {
                    lists.push(next.of(*slot as usize));
                }
            }
        }
    }

    /// Invalidates all of a mask.
    #[inline(always)]
    pub(crate) fn invalidate(&mut self, mask: &Mask) {
        self.changes += 1;
        self.notifications += mask.len;
        if self.flags.get() != 0 {
            self.drop_fresh();
        }
        for range in &mask.ranges {
            self.slots
                .invalidate_range(range.start as usize..range.end as usize);
        }
    }

    pub(crate) fn invalidate_all(&mut self) {
        self.drop_fresh();
        self.slots.invalidate_range(0..self.slots.len());
    }

    #[cold]
    fn drop_fresh(&mut self) {
        self.fresh = Arena::with_capacity(0);
    }

    pub(crate) fn serial(&self, slot: usize) -> u64 {
        self.serials[slot].get()
    }
}

impl<T> Cache<T> {
    /// What was remembered for the outermost computation, which has ended.
    #[cold]
    fn forget(&self) {
        self.flags.set(self.flags.get() & !FAILED);
        self.failed.borrow_mut().clear();
        self.verified.borrow_mut().clear();
        self.refused.take();
    }
}

/// Only an undeclared dependency can get here: declared loops do not build.
#[cold]
fn own_result(error: Option<Error>) -> Error {
    error.unwrap_or_else(|| {
        Error::custom("the computation asks for its own result; declare what it reads")
    })
}

impl<T: Scalar> Clone for Cache<T> {
    fn clone(&self) -> Self {
        Self {
            slots: self.slots.clone(),
            serials: self.serials.clone(),
            flags: Cell::new(self.flags.get() & !FAILED),
            depth: Cell::new(0),
            failed: RefCell::default(),
            verified: RefCell::default(),
            undeclared: RefCell::default(),
            refused: RefCell::default(),
            disabled: self.disabled.clone(),
            fresh: Arena::with_capacity(0),
            stack: Cell::default(),
            todo: vec![],
            changes: 0,
            notifications: 0,
            computations_before: self.all_computations(),
        }
    }
}
