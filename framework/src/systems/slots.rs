//! Storage of computed values: filled through `&self`, emptied only through `&mut self`.
//!
//! This is a `OnceCell` per value that keeps the storage of its last value and whose states lie side
//! by side, so that making a thousand values out of date writes a thousand bytes.
//!
//! Invariant, which every `unsafe` below relies on: references to a value leave this module only
//! while its state is `Valid` or `Kept`; a value is written only by `fill`, which starts from another
//! state; and what leads from these two states to the others takes `&mut self`, so that no reference
//! is left. While `fill` writes, the state is `Computing`, in which nobody reads and nobody else writes.

#![allow(
    unsafe_code,
    reason = "OnceCell would move every value at every invalidation; see the invariant above"
)]

use std::cell::{Cell, UnsafeCell};

/// What is known of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(super) enum State {
    /// Out of date, or never computed.
    Stale,
    /// Being computed.
    Computing,
    /// Computed from what everything is now.
    Valid,
    /// As `Valid`, but readers have to ask for it by `kept`.
    Kept,
    /// The last computation failed; out of date as well.
    Failed,
}

/// A fixed number of values.
pub(super) struct Slots<V> {
    states: Box<[Cell<State>]>,
    values: Box<[UnsafeCell<V>]>,
    /// What computed values become: `Valid` or `Kept`.
    filled: State,
}

/// Sets the state at the end of a computation, also if that panics.
struct Ends<'a>(&'a Cell<State>, State);

impl Drop for Ends<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.0.set(self.1);
    }
}

impl<V> Slots<V> {
    /// All out of date, with storage to compute into.
    pub(super) fn new(storage: impl Iterator<Item = V>) -> Self {
        let values: Box<[_]> = storage.map(UnsafeCell::new).collect();
        let states = values.iter().map(|_| Cell::new(State::Stale)).collect();
        let filled = State::Valid;
        Self {
            states,
            values,
            filled,
        }
    }

    /// From now on values become `Kept` instead of `Valid`, or not any more.
    pub(super) fn set_keeping(&mut self, keeping: bool) {
        self.filled = if keeping { State::Kept } else { State::Valid };
    }

    #[inline(always)]
    pub(super) fn get(&self, slot: usize) -> Option<&V> {
        if self.states[slot].get() != State::Valid {
            return None;
        }
        // SAFETY: the state is `Valid`; while the reference lives nobody has `&mut self`, so the state
        // stays and the value is not written.
        Some(unsafe { &*self.values[slot].get() })
    }

    /// As `get`, also in state `Kept`.
    pub(super) fn kept(&self, slot: usize) -> Option<&V> {
        if self.states[slot].get() != State::Kept {
            return self.get(slot);
        }
        // SAFETY: as in `get`, for `Kept`.
        Some(unsafe { &*self.values[slot].get() })
    }

    #[inline]
    pub(super) fn state(&self, slot: usize) -> State {
        self.states[slot].get()
    }

    /// Computes a value in its storage; a valid one is left alone.
    ///
    /// # Errors
    /// `None` if the value is being computed already, else that of `calc`.
    #[inline(always)]
    pub(super) fn fill<E>(
        &self,
        slot: usize,
        calc: impl FnOnce(&mut V) -> Result<(), E>,
    ) -> Result<&V, Option<E>> {
        let state = &self.states[slot];
        match state.get() {
            State::Computing => return Err(None),
            State::Valid | State::Kept => {}
            State::Stale | State::Failed => {
                state.set(State::Computing);
                let mut ends = Ends(state, State::Failed);
                // SAFETY: the state was neither `Valid` nor `Kept`, so nobody has a reference, and not
                // `Computing`, so nobody writes; while it is `Computing`, which ends after the last use
                // of this reference, nobody else gets one.
                calc(unsafe { &mut *self.values[slot].get() })?;
                ends.1 = self.filled;
            }
        }
        // SAFETY: as in `get`; the state is `Valid` or `Kept` now.
        Ok(unsafe { &*self.values[slot].get() })
    }

    /// Computes something from the storage of a value, beside it. While it runs the value counts as
    /// being computed.
    ///
    /// # Errors
    /// As `fill`.
    pub(super) fn beside<R, E>(
        &self,
        slot: usize,
        calc: impl FnOnce(&V) -> Result<R, E>,
    ) -> Result<R, Option<E>> {
        let state = &self.states[slot];
        let before = state.get();
        if before == State::Computing {
            return Err(None);
        }
        state.set(State::Computing);
        let _ends = Ends(state, before);
        // SAFETY: the state was not `Computing`, so nobody writes, and while it is, nobody begins to.
        Ok(calc(unsafe { &*self.values[slot].get() })?)
    }

    /// Makes a value out of date; returns its state before.
    #[inline(always)]
    pub(super) fn invalidate(&mut self, slot: usize) -> State {
        let state = self.states[slot].get_mut();
        std::mem::replace(state, State::Stale)
    }

    /// Makes values next to each other out of date.
    #[inline(always)]
    pub(super) fn invalidate_range(&mut self, slots: std::ops::Range<usize>) {
        // Few of them most often; a loop becomes a call of `memset`, which costs more.
        match &mut self.states[slots] {
            [a] => *a.get_mut() = State::Stale,
            [a, b] => {
                *a.get_mut() = State::Stale;
                *b.get_mut() = State::Stale;
            }
            [a, b, c] => {
                *a.get_mut() = State::Stale;
                *b.get_mut() = State::Stale;
                *c.get_mut() = State::Stale;
            }
            states => {
                for state in states {
                    *state.get_mut() = State::Stale;
                }
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.states.len()
    }
}

impl<V: Clone> Clone for Slots<V> {
    /// # Panics
    /// In the middle of a computation, which has no access to its own context.
    fn clone(&self) -> Self {
        let busy = self.states.iter().any(|s| s.get() == State::Computing);
        assert!(!busy, "a context can not be cloned by its own computations");
        // SAFETY: nothing is being computed, so nothing is written; `V::clone` has no access to `self`.
        let clone = |v: &UnsafeCell<V>| UnsafeCell::new(unsafe { (*v.get()).clone() });
        Self {
            states: self.states.clone(),
            values: self.values.iter().map(clone).collect(),
            filled: self.filled,
        }
    }
}
