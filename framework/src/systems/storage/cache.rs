//! The cache of a context: one slot per computation.
//!
//! Invariant: filling needs `&self`, invalidating needs `&mut self`, so a reference to a cached
//! value cannot outlive the change that makes it stale; the borrow checker enforces it.
//!
//! When a source changes, invalidation walks downstream only through slots that hold a value or a
//! failure. A stale slot ends the walk: any valid slot behind it was computed without reading it,
//! or the stale slot would be valid too. So a change costs no more than the computations that it
//! undoes.

use super::slots::{SlotState, Slots};
use crate::systems::value::Stored;
use crate::{Error, Result, Scalar};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::OnceLock;
use typed_arena::Arena;

/// Treatment of computed values by a context.
///
/// ```
/// use tarragon_framework::{CacheMode, prelude::*, primitives::Sine};
/// let mut b = DiagramBuilder::new();
/// let wave = b.add("wave", Sine::new(1));
/// let mut ctx = b.build()?.default_context();
/// ctx.set_cache_mode(CacheMode::Off);
/// ctx.eval(wave.y)?;
/// ctx.eval(wave.y)?;
/// assert_eq!(ctx.cache_statistics().computations, 2);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CacheMode {
    /// Values are kept until something they depend on changes.
    #[default]
    On,
    /// Every evaluation computes everything anew: the same results, but slowly. Useful to find a
    /// missing dependency. Computed values stay in memory until the context changes next.
    Off,
    /// Values are kept, yet every evaluation also recomputes them and compares: numbers and vectors
    /// of numbers must be equal to the bit. Values of other types are recomputed but not compared.
    Verify,
}

/// Counters of the cache's work since the context was created or cloned.
///
/// ```
/// use tarragon_framework::{prelude::*, primitives::Sine};
/// let mut b = DiagramBuilder::new();
/// let wave = b.add("wave", Sine::new(1));
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
    /// Invalidations by these changes, one per slot, including slots that were stale already.
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

/// Lists of indices, stored one after the other.
#[derive(Default)]
pub(crate) struct Lists {
    ends: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    /// Builds `n` lists from pairs (list, item); items keep their order.
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

// Reasons to leave the fast path.
const FAILED: u8 = 1;
const FROZEN: u8 = 2;
const OFF: u8 = 4;
const VERIFY: u8 = 8;
const SOME_DISABLED: u8 = 16;

pub(crate) struct Cache<T> {
    slots: Slots<Stored<T>>,
    serials: Box<[Cell<u64>]>,
    flags: Cell<u8>,
    /// Nesting depth of the computations in progress.
    depth: Cell<u32>,
    /// Computations that failed during the outermost computation in progress. No source can change
    /// while it runs, so computing again must give the same error; remembering it keeps deep chains
    /// linear.
    failed: RefCell<BTreeMap<u32, Error>>,
    /// Slots verified during the outermost computation in progress.
    verified: RefCell<BTreeSet<u32>>,
    /// The first computation that was refused during the outermost one, which therefore has no
    /// result.
    refused: RefCell<Option<Error>>,
    /// Whether computations fail that read what they did not declare.
    checks_reads: bool,
    /// Undeclared reads by the computations in progress, recorded only if these are checked.
    undeclared: RefCell<BTreeMap<u32, String>>,
    /// Slots whose values are never kept.
    disabled: BTreeSet<u32>,
    /// Computed values that are not kept. They live until the next change, because references to
    /// them may be in use.
    fresh: Arena<Stored<T>>,
    /// Work space for computing in topological order.
    stack: Cell<Vec<(u32, u32)>>,
    /// Work space for invalidation.
    todo: Vec<u32>,
    changes: u64,
    notifications: u64,
    /// Number of computations in the cache that this one was cloned from.
    computations_before: u64,
}

/// Name of the variable that has dependencies checked in release builds.
const CHECK_DEPENDENCIES: &str = "TARRAGON_CHECK_DEPENDENCIES";

/// Returns true in debug builds, and if the environment asks for checks.
fn checks_reads_by_default() -> bool {
    static IS_ASKED: OnceLock<bool> = OnceLock::new();
    let asked = || std::env::var_os(CHECK_DEPENDENCIES).is_some_and(|v| !v.is_empty() && v != "0");
    cfg!(debug_assertions) || *IS_ASKED.get_or_init(asked)
}

/// Guard that counts one running computation until it is dropped.
pub(crate) struct Running<'a, T>(&'a Cache<T>);

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
            checks_reads: checks_reads_by_default(),
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
    pub(crate) fn get(&self, slot: usize) -> Option<&Stored<T>> {
        self.slots.get(slot)
    }

    /// Marks the beginning of a computation. The second value is its nesting depth, 1 for the
    /// outermost.
    #[inline(always)]
    pub(crate) fn begin(&self) -> (Running<'_, T>, u32) {
        let depth = self.depth.get() + 1;
        self.depth.set(depth);
        (Running(self), depth)
    }

    /// Returns true if no special mode or failure affects computations.
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        self.flags.get() == 0
    }
    pub(crate) fn is_frozen(&self) -> bool {
        self.flags.get() & FROZEN != 0
    }
    pub(crate) fn verifies(&self) -> bool {
        self.flags.get() & VERIFY != 0
    }
    /// Returns true if the value of this slot is never kept.
    pub(crate) fn is_off(&self, slot: usize) -> bool {
        self.flags.get() & OFF != 0 || self.is_disabled(slot)
    }
    fn is_disabled(&self, slot: usize) -> bool {
        self.flags.get() & SOME_DISABLED != 0 && self.disabled.contains(&(slot as u32))
    }

    pub(crate) fn failure(&self, slot: usize) -> Option<Error> {
        if self.flags.get() & FAILED == 0 {
            return None;
        }
        self.failed.borrow().get(&(slot as u32)).cloned()
    }

    #[inline(always)]
    pub(crate) fn checks_reads(&self) -> bool {
        self.checks_reads
    }
    pub(crate) fn set_checks_reads(&mut self, on: bool) {
        self.checks_reads = on;
    }

    #[cold]
    pub(crate) fn note_undeclared(&self, slot: u32, what: String) {
        self.undeclared.borrow_mut().entry(slot).or_insert(what);
    }

    /// Fails if the computation of this slot, which has ended, read something that it did not
    /// declare.
    pub(crate) fn check_declared(&self, slot: u32) -> Result<()> {
        match self.undeclared.borrow_mut().remove(&slot) {
            None => Ok(()),
            Some(what) => Err(Error::state(format!(
                "it reads {what} without declaring it as a dependency; add it to the list, or the value \
                 will go stale"
            ))),
        }
    }

    pub(crate) fn set_failure(&self, slot: usize, error: &Error) {
        self.set_flag(FAILED, true);
        self.failed.borrow_mut().insert(slot as u32, error.clone());
    }

    /// Records a refused computation. It would succeed in other modes, so no reader may turn the
    /// error into a result.
    #[cold]
    pub(crate) fn refuse(&self, error: Error) -> Error {
        self.refused.borrow_mut().get_or_insert(error).clone()
    }

    /// Fails if a computation below the one that ends here was refused.
    pub(crate) fn check_refusals(&self) -> Result<()> {
        if self.flags.get() & (OFF | VERIFY | SOME_DISABLED) == 0 {
            return Ok(());
        }
        self.refused.borrow().clone().map_or(Ok(()), Err)
    }

    /// Returns true if nothing is left to do before readers of this slot can be computed.
    pub(crate) fn is_settled(&self, slot: usize) -> bool {
        self.slots.state(slot) == SlotState::Valid
            || self.failure(slot).is_some()
            || self.is_disabled(slot)
    }

    /// Returns true on the first call for a slot during the outermost computation.
    pub(crate) fn begin_verification(&self, slot: usize) -> bool {
        self.verified.borrow_mut().insert(slot as u32)
    }

    /// Computes a slot into its own storage.
    #[inline(always)]
    pub(crate) fn fill(
        &self,
        slot: usize,
        calc: impl FnOnce(&mut Stored<T>) -> Result<()>,
    ) -> Result<&Stored<T>> {
        let value = self.slots.fill(slot, calc).map_err(own_result)?;
        let serial = &self.serials[slot];
        serial.set(serial.get() + 1);
        Ok(value)
    }

    /// Computes a slot into separate storage; its kept value stays unchanged.
    pub(crate) fn compute_afresh(
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

    /// Returns a value that readers must verify before they use it.
    pub(crate) fn kept(&self, slot: usize) -> Option<&Stored<T>> {
        self.slots.kept(slot)
    }

    pub(crate) fn take_stack(&self) -> Vec<(u32, u32)> {
        self.stack.take()
    }
    pub(crate) fn return_stack(&self, stack: Vec<(u32, u32)>) {
        self.stack.set(stack);
    }

    /// Invalidates everything downstream: the slots in `first`, then transitively their readers in
    /// `next`.
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
            if self.slots.invalidate(slot as usize) != SlotState::Stale {
                self.todo.push(slot);
            }
        }
    }

    /// Invalidates downstream, looking through slots that are never kept: they look stale although
    /// others have read them.
    #[cold]
    fn changed_through_disabled(&mut self, first: &[u32], next: &Lists) {
        let mut seen = BTreeSet::new();
        let mut lists = vec![first];
        while let Some(slots) = lists.pop() {
            self.notifications += slots.len() as u64;
            for slot in slots {
                if self.slots.invalidate(*slot as usize) != SlotState::Stale
                    || (self.disabled.contains(slot) && seen.insert(*slot))
                {
                    lists.push(next.of(*slot as usize));
                }
            }
        }
    }

    /// Invalidates all slots of a mask.
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
    /// Discards what was remembered for the outermost computation, which has ended.
    #[cold]
    fn forget(&self) {
        self.flags.set(self.flags.get() & !FAILED);
        self.failed.borrow_mut().clear();
        self.verified.borrow_mut().clear();
        self.refused.take();
    }
}

/// Error of a computation that reads its own result. Only an undeclared dependency can cause it,
/// because declared loops do not build.
#[cold]
fn own_result(error: Option<Error>) -> Error {
    error.unwrap_or_else(|| {
        Error::state("the computation reads its own result; declare what it reads")
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
            checks_reads: self.checks_reads,
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
