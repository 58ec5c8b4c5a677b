//! The cache of a context: one slot per computation.
//!
//! Invariant: filling needs `&self`, invalidating needs `&mut self`, so a reference to a cached
//! value can not outlive the change that makes it stale; the borrow checker enforces it.

use super::value::Value;
use crate::{Error, Result};
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use typed_arena::Arena;

/// Slots to invalidate when one source changes.
#[derive(Default)]
pub(crate) struct Mask(pub(crate) Box<[u32]>);

pub(crate) struct Cache {
    slots: Vec<Slot>,
    /// Nesting of computations in progress.
    depth: Cell<u32>,
    /// Computations that failed during the outermost one in progress. No source can change while it
    /// runs, so asking again must give the same error; remembering it keeps deep chains linear.
    failed: RefCell<BTreeMap<u32, Error>>,
    /// Whether `failed` holds anything; keeps the map out of the way of what succeeds.
    any_failed: Cell<bool>,
    /// While off, no slot is ever filled; values are computed afresh into `fresh`.
    enabled: bool,
    /// What was computed while caching is off; kept until the next change, because references to it
    /// may be in use.
    fresh: Arena<Box<dyn Value>>,
}

struct Slot {
    value: OnceCell<Box<dyn Value>>,
    /// Storage of the last value, reused by the next computation.
    spare: Cell<Option<Box<dyn Value>>>,
    serial: Cell<u64>,
}

/// Counts one computation for as long as it lives.
pub(crate) struct Running<'a>(&'a Cache);

impl Drop for Running<'_> {
    #[inline]
    fn drop(&mut self) {
        let depth = self.0.depth.get() - 1;
        self.0.depth.set(depth);
        if depth == 0 && self.0.any_failed.replace(false) {
            self.0.failed.borrow_mut().clear();
        }
    }
}

impl Cache {
    pub(crate) fn new(models: impl Iterator<Item = Box<dyn Value>>) -> Self {
        let slots = models
            .map(|model| Slot {
                value: OnceCell::new(),
                spare: Cell::new(Some(model)),
                serial: Cell::new(1),
            })
            .collect();
        Self {
            slots,
            depth: Cell::new(0),
            failed: RefCell::default(),
            any_failed: Cell::new(false),
            enabled: true,
            fresh: Arena::new(),
        }
    }

    pub(crate) fn is_enabled(&self) -> bool {
        self.enabled
    }

    pub(crate) fn set_enabled(&mut self, enabled: bool) {
        self.enabled = enabled;
        self.invalidate_all();
    }

    #[inline]
    pub(crate) fn get(&self, slot: usize) -> Option<&dyn Value> {
        self.slots[slot].value.get().map(|b| &**b)
    }

    /// Marks the begin of a computation; the second value is its nesting depth, 1 for the outermost.
    #[inline]
    pub(crate) fn begin(&self) -> (Running<'_>, u32) {
        let depth = self.depth.get() + 1;
        self.depth.set(depth);
        (Running(self), depth)
    }

    #[inline]
    pub(crate) fn failure(&self, slot: usize) -> Option<Error> {
        if !self.any_failed.get() {
            return None;
        }
        self.failed.borrow().get(&(slot as u32)).cloned()
    }

    pub(crate) fn set_failure(&self, slot: usize, error: &Error) {
        self.any_failed.set(true);
        self.failed.borrow_mut().insert(slot as u32, error.clone());
    }

    /// Computes a slot in its spare storage.
    #[inline]
    pub(crate) fn fill(
        &self,
        slot: usize,
        calc: impl FnOnce(&mut dyn Value) -> Result<()>,
    ) -> Result<&dyn Value> {
        /// Puts the storage back when `calc` fails or panics.
        struct Restore<'a>(&'a Slot, Option<Box<dyn Value>>);
        impl Drop for Restore<'_> {
            #[inline]
            fn drop(&mut self) {
                if let Some(value) = self.1.take() {
                    self.0.spare.set(Some(value));
                }
            }
        }
        let slot = &self.slots[slot];
        let mut guard = Restore(slot, slot.spare.take());
        let value = guard.1.as_mut().ok_or_else(|| {
            // Only an undeclared dependency can get here: declared loops do not build.
            Error::custom("the computation asks for its own result; declare what it reads")
        })?;
        if !self.enabled {
            let mut value = (**value).clone_box();
            drop(guard);
            calc(&mut *value)?;
            slot.serial.set(slot.serial.get() + 1);
            return Ok(&**self.fresh.alloc(value));
        }
        calc(&mut **value)?;
        slot.serial.set(slot.serial.get() + 1);
        let value = guard.1.take().expect("taken only here");
        Ok(&**slot.value.get_or_init(|| value))
    }

    #[inline]
    pub(crate) fn invalidate(&mut self, mask: &Mask) {
        if !self.enabled {
            self.fresh = Arena::new();
        }
        for &slot in &mask.0 {
            self.slots[slot as usize].invalidate();
        }
    }

    pub(crate) fn invalidate_all(&mut self) {
        self.fresh = Arena::new();
        self.slots.iter_mut().for_each(Slot::invalidate);
    }

    pub(crate) fn serial(&self, slot: usize) -> u64 {
        self.slots[slot].serial.get()
    }
}

impl Slot {
    #[inline]
    fn invalidate(&mut self) {
        if let Some(value) = self.value.take() {
            *self.spare.get_mut() = Some(value);
        }
    }
}

impl Clone for Cache {
    fn clone(&self) -> Self {
        let slots = self.slots.iter().map(|s| {
            let value = s.value.get().map(|v| (**v).clone_box());
            let spare = if value.is_none() {
                let spare = s.spare.take();
                let copy = spare.as_ref().map(|v| (**v).clone_box());
                s.spare.set(spare);
                copy
            } else {
                None
            };
            Slot {
                value: value.map_or_else(OnceCell::new, OnceCell::from),
                spare: Cell::new(spare),
                serial: s.serial.clone(),
            }
        });
        Self {
            slots: slots.collect(),
            depth: Cell::new(0),
            failed: RefCell::default(),
            any_failed: Cell::new(false),
            enabled: self.enabled,
            fresh: Arena::new(),
        }
    }
}
