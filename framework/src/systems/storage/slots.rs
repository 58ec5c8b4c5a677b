//! Storage of computed values: filled through `&self`, emptied only through `&mut self`.
//!
//! Each slot is a `OnceCell` that keeps the storage of its last value. The states lie side by side,
//! so that invalidating a thousand values writes a thousand bytes.
//!
//! Invariant, which every `unsafe` below relies on: references to a value leave this module only
//! while its state is `Valid` or `Kept`; a value is written only by `fill`, which starts from
//! another state; and every transition out of these two states takes `&mut self`, so that no
//! reference is left. While `fill` writes, the state is `Computing`, in which nobody reads and
//! nobody else writes.

#![allow(
    unsafe_code,
    reason = "OnceCell would move every value at every invalidation; see the invariant above"
)]

use std::cell::{Cell, UnsafeCell};
use std::convert::Infallible;

/// Validity of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(super) enum SlotState {
    /// Outdated, or never computed.
    Stale,
    /// Being computed.
    Computing,
    /// Computed from the current sources.
    Valid,
    /// Same as `Valid`, but readable only through `kept`.
    Kept,
    /// Stale, and the last computation failed.
    Failed,
}

/// A fixed number of values.
pub(super) struct Slots<V> {
    states: Box<[Cell<SlotState>]>,
    values: Box<[UnsafeCell<V>]>,
    /// State of newly computed values: `Valid` or `Kept`.
    filled: SlotState,
}

/// Guard that sets the state at the end of a computation, also if it panics.
struct Ends<'a>(&'a Cell<SlotState>, SlotState);

impl Drop for Ends<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.0.set(self.1);
    }
}

impl<V> Slots<V> {
    /// Creates stale values with storage to compute into.
    pub(super) fn new(storage: impl Iterator<Item = V>) -> Self {
        let values: Box<[_]> = storage.map(UnsafeCell::new).collect();
        let states = values.iter().map(|_| Cell::new(SlotState::Stale)).collect();
        let filled = SlotState::Valid;
        Self {
            states,
            values,
            filled,
        }
    }

    /// Makes newly computed values `Kept` (if `keeping`) or `Valid`.
    pub(super) fn set_keeping(&mut self, keeping: bool) {
        self.filled = if keeping {
            SlotState::Kept
        } else {
            SlotState::Valid
        };
    }

    #[inline(always)]
    pub(super) fn get(&self, slot: usize) -> Option<&V> {
        if self.states[slot].get() != SlotState::Valid {
            return None;
        }
        // SAFETY: the state is `Valid`; while the reference lives nobody has `&mut self`, so the
        // state stays and the value is not written.
        Some(unsafe { &*self.values[slot].get() })
    }

    /// Same as `get`, but also returns values in state `Kept`.
    pub(super) fn kept(&self, slot: usize) -> Option<&V> {
        if self.states[slot].get() != SlotState::Kept {
            return self.get(slot);
        }
        // SAFETY: as in `get`, for `Kept`.
        Some(unsafe { &*self.values[slot].get() })
    }

    #[inline]
    pub(super) fn state(&self, slot: usize) -> SlotState {
        self.states[slot].get()
    }

    /// Computes a value in its storage, unless it is valid already.
    ///
    /// # Errors
    /// Returns `None` if the value is already being computed, otherwise the error of `calc`.
    #[inline(always)]
    pub(super) fn fill<E>(
        &self,
        slot: usize,
        calc: impl FnOnce(&mut V) -> Result<(), E>,
    ) -> Result<&V, Option<E>> {
        let state = &self.states[slot];
        match state.get() {
            SlotState::Computing => return Err(None),
            SlotState::Valid | SlotState::Kept => {}
            SlotState::Stale | SlotState::Failed => {
                state.set(SlotState::Computing);
                let mut ends = Ends(state, SlotState::Failed);
                // SAFETY: the state was neither `Valid` nor `Kept`, so nobody has a reference, and
                // not `Computing`, so nobody writes; while it is `Computing`, which ends after the
                // last use of this reference, nobody else gets one.
                calc(unsafe { &mut *self.values[slot].get() })?;
                ends.1 = self.filled;
            }
        }
        // SAFETY: as in `get`; the state is `Valid` or `Kept` now.
        Ok(unsafe { &*self.values[slot].get() })
    }

    /// Computes something from the storage of a value without writing to it. Meanwhile the value
    /// counts as being computed.
    ///
    /// # Errors
    /// Same as `fill`.
    pub(super) fn beside<R, E>(
        &self,
        slot: usize,
        calc: impl FnOnce(&V) -> Result<R, E>,
    ) -> Result<R, Option<E>> {
        let state = &self.states[slot];
        let before = state.get();
        if before == SlotState::Computing {
            return Err(None);
        }
        state.set(SlotState::Computing);
        let _ends = Ends(state, before);
        // SAFETY: the state was not `Computing`, so nobody writes, and while it is, nobody begins
        // to.
        Ok(calc(unsafe { &*self.values[slot].get() })?)
    }

    /// Makes a value stale and returns its previous state.
    #[inline(always)]
    pub(super) fn invalidate(&mut self, slot: usize) -> SlotState {
        let state = self.states[slot].get_mut();
        std::mem::replace(state, SlotState::Stale)
    }

    /// Makes adjacent values stale.
    #[inline(always)]
    pub(super) fn invalidate_range(&mut self, slots: std::ops::Range<usize>) {
        // Ranges are usually short; a loop would compile to a call of `memset`, which costs more.
        match &mut self.states[slots] {
            [a] => *a.get_mut() = SlotState::Stale,
            [a, b] => {
                *a.get_mut() = SlotState::Stale;
                *b.get_mut() = SlotState::Stale;
            }
            [a, b, c] => {
                *a.get_mut() = SlotState::Stale;
                *b.get_mut() = SlotState::Stale;
                *c.get_mut() = SlotState::Stale;
            }
            states => {
                for state in states {
                    *state.get_mut() = SlotState::Stale;
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
    /// Panics in the middle of a computation, which has no access to its own context.
    fn clone(&self) -> Self {
        // One by one and `Computing` meanwhile: `V::clone` is foreign code and may access `self`.
        let one = |slot: usize| {
            let state = self.state(slot);
            let value = self.beside(slot, |value| Ok::<_, Infallible>(value.clone()));
            let value = value.expect("a context cannot be cloned by its own computations");
            (Cell::new(state), UnsafeCell::new(value))
        };
        let (states, values): (Vec<_>, Vec<_>) = (0..self.len()).map(one).unzip();
        Self {
            states: states.into(),
            values: values.into(),
            filled: self.filled,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::rc::Rc;

    type Never = Result<(), Infallible>;

    /// Strings, because reads of freed memory are then detected.
    fn slots(n: usize) -> Slots<String> {
        Slots::new((0..n).map(|i| format!("storage {i}")))
    }

    /// Returns a calculation that appends to the string in the storage.
    fn push(text: &str) -> impl FnOnce(&mut String) -> Never {
        move |value| {
            value.push_str(text);
            Ok(())
        }
    }

    fn panics(f: impl FnOnce()) -> bool {
        catch_unwind(AssertUnwindSafe(f)).is_err()
    }

    #[test]
    fn values_are_unreadable_before_they_are_computed() {
        let s = slots(2);
        assert_eq!(
            (s.get(0), s.kept(1), s.state(0)),
            (None, None, SlotState::Stale)
        );
        assert_eq!(s.fill(0, push("!")).unwrap(), "storage 0!");
        assert_eq!(s.get(0).unwrap(), "storage 0!");
        assert_eq!((s.get(1), s.state(0)), (None, SlotState::Valid));
    }

    #[test]
    fn a_valid_value_is_left_alone() {
        let s = slots(1);
        s.fill(0, push("!")).unwrap();
        let value = s.fill(0, |_| -> Never { unreachable!("it is valid") });
        assert_eq!(value.unwrap(), "storage 0!");
    }

    #[test]
    fn a_failed_value_is_computed_again_in_its_storage() {
        let s = slots(1);
        let fail = |value: &mut String| {
            value.clear();
            Err("no")
        };
        assert_eq!(s.fill(0, fail).unwrap_err(), Some("no"));
        assert_eq!(
            (s.get(0), s.kept(0), s.state(0)),
            (None, None, SlotState::Failed)
        );
        assert_eq!(s.fill(0, push("yes")).unwrap(), "yes");
    }

    #[test]
    fn a_panic_counts_as_a_failure() {
        let s = slots(1);
        assert!(panics(|| {
            let _ = s.fill(0, |_| -> Never { panic!("boom") });
        }));
        assert_eq!((s.get(0), s.state(0)), (None, SlotState::Failed));
        assert_eq!(s.fill(0, push("")).unwrap(), "storage 0");
    }

    #[test]
    fn a_value_being_computed_is_inaccessible() {
        let s = slots(2);
        s.fill(0, |_| -> Never {
            assert_eq!(
                (s.get(0), s.kept(0), s.state(0)),
                (None, None, SlotState::Computing)
            );
            assert_eq!(
                s.fill(0, |_| -> Never { unreachable!() }).unwrap_err(),
                None
            );
            let beside = s.beside(0, |_| -> Never { unreachable!() });
            assert_eq!(beside.unwrap_err(), None);
            assert_eq!(
                s.fill(1, push("!")).unwrap(),
                "storage 1!",
                "others are free"
            );
            Ok(())
        })
        .unwrap();
        assert_eq!(s.state(0), SlotState::Valid);
    }

    #[test]
    fn references_stay_valid_while_other_values_are_computed() {
        let s = slots(100);
        let first = s.fill(0, push("!")).unwrap();
        for i in 1..100 {
            s.fill(i, push("!")).unwrap();
        }
        let fail = s.beside(0, |_| Err::<(), _>("no"));
        assert_eq!(fail.unwrap_err(), Some("no"));
        assert_eq!(first, "storage 0!");
        assert!(std::ptr::eq(first, s.get(0).unwrap()));
    }

    #[test]
    fn invalidation_returns_the_state_and_keeps_the_storage() {
        let mut s = slots(4);
        s.fill(0, push("!")).unwrap();
        s.fill(1, push("!")).unwrap();
        let _ = s.fill(2, |_| Err(()));
        assert_eq!(s.invalidate(0), SlotState::Valid);
        assert_eq!(s.invalidate(2), SlotState::Failed);
        assert_eq!(s.invalidate(3), SlotState::Stale);
        s.invalidate_range(0..2);
        assert!((0..4).all(|i| s.state(i) == SlotState::Stale && s.get(i).is_none()));
        assert_eq!(s.fill(1, push("?")).unwrap(), "storage 1!?");
    }

    #[test]
    fn kept_values_are_readable_only_through_kept() {
        let mut s = slots(2);
        s.fill(0, push("!")).unwrap();
        s.set_keeping(true);
        s.fill(1, push("!")).unwrap();
        assert_eq!(
            (s.state(0), s.state(1)),
            (SlotState::Valid, SlotState::Kept)
        );
        assert_eq!(s.get(1), None);
        assert_eq!(s.kept(0).unwrap(), "storage 0!");
        assert_eq!(s.kept(1).unwrap(), "storage 1!");
        let again = s.fill(1, |_| -> Never { unreachable!("it is kept") });
        assert_eq!(again.unwrap(), "storage 1!");
        assert_eq!(s.invalidate(1), SlotState::Kept);
    }

    #[test]
    fn computing_beside_a_value_leaves_it_unchanged() {
        let mut s = slots(4);
        s.fill(1, push("")).unwrap();
        let _ = s.fill(2, |_| Err(()));
        s.set_keeping(true);
        s.fill(3, push("")).unwrap();
        let states = [
            SlotState::Stale,
            SlotState::Valid,
            SlotState::Failed,
            SlotState::Kept,
        ];
        for (i, state) in states.into_iter().enumerate() {
            let length = s.beside(i, |value| {
                assert_eq!((s.state(i), s.get(i)), (SlotState::Computing, None));
                Ok::<_, ()>(value.len())
            });
            assert_eq!((length, s.state(i)), (Ok(9), state));
            assert_eq!(s.beside(i, |_| Err::<(), _>("no")), Err(Some("no")));
            assert!(panics(|| {
                let _ = s.beside(i, |_| -> Never { panic!("boom") });
            }));
            assert_eq!(s.state(i), state);
        }
    }

    #[test]
    fn a_clone_has_its_own_states_and_values() {
        let mut s = slots(3);
        s.fill(0, push("!")).unwrap();
        let _ = s.fill(1, |_| Err(()));
        let copy = s.clone();
        s.invalidate_range(0..3);
        s.fill(0, push("?")).unwrap();
        let states = [0, 1, 2].map(|i| copy.state(i));
        assert_eq!(
            states,
            [SlotState::Valid, SlotState::Failed, SlotState::Stale]
        );
        assert_eq!(copy.get(0).unwrap(), "storage 0!");
        assert_eq!(s.get(0).unwrap(), "storage 0!?");
        assert_eq!(copy.len(), 3);
    }

    #[test]
    fn cloning_slots_in_their_own_computation_panics() {
        let s = slots(2);
        s.fill(1, |_| -> Never {
            assert!(panics(|| drop(s.clone())));
            Ok(())
        })
        .unwrap();
        assert_eq!(s.clone().get(1).unwrap(), "storage 1");
    }

    thread_local! {
        static OWNER: RefCell<Option<Rc<Slots<Curious>>>> = const { RefCell::new(None) };
    }

    /// Computes while it is being cloned.
    struct Curious(String);
    impl Clone for Curious {
        fn clone(&self) -> Self {
            let owner = OWNER.with_borrow(Clone::clone);
            if let Some(s) = owner {
                let fill = |slot| {
                    s.fill(slot, |value| -> Never {
                        value.0 = "computed".repeat(100);
                        Ok(())
                    })
                    .map(|value| value.0.len())
                };
                let done = [fill(0), fill(1)];
                assert!(done.contains(&Err(None)), "one is being cloned");
            }
            Self(self.0.clone())
        }
    }

    #[test]
    fn cloning_a_value_may_compute_other_values_but_not_that_one() {
        let values = ["first", "second"].map(|x| Curious(x.into()));
        let s = Rc::new(Slots::new(values.into_iter()));
        OWNER.set(Some(s.clone()));
        let copy = Slots::clone(&s);
        OWNER.set(None);
        // Cloning the first value computes the second, which is then cloned with its new value.
        assert_eq!(copy.state(0), SlotState::Stale);
        assert_eq!(copy.get(1).unwrap().0.len(), 800);
        assert_eq!(
            s.state(0),
            SlotState::Valid,
            "computed while the second was cloned"
        );
    }
}
