//! The events of a diagram, sorted for the simulator.

use super::storage::Mask;
use std::ops::Range;
use std::sync::OnceLock;

// Indices of the sets that every diagram has.
pub(crate) const INITIALIZATION: u32 = 0;

pub(crate) const PER_STEP: u32 = 1;

pub(crate) const FORCED: u32 = 2;

/// Events that happen together: pairs `(system, index of its event)`, ordered by system.
#[derive(Default)]
pub(crate) struct EventSet {
    pub(crate) publish: Vec<(u32, u32)>,
    pub(crate) discrete: Vec<(u32, u32)>,
    pub(crate) unrestricted: Vec<(u32, u32)>,
    /// Ranges of the discrete state of the systems with discrete updates.
    pub(super) xd: OnceLock<Vec<Range<usize>>>,
    /// Everything downstream of that state.
    pub(super) mask: OnceLock<Mask>,
}

/// Periodic trigger and the set of events that share it.
pub(crate) struct Periodic {
    pub(crate) period: f64,
    pub(crate) offset: f64,
    pub(crate) set: u32,
}

/// Function of one system that decides when a set of events happens.
pub(crate) struct Decider {
    pub(crate) system: u32,
    /// Index among the timed events or witness functions of the system.
    pub(crate) index: u32,
    pub(crate) set: u32,
}

#[derive(Default)]
pub(crate) struct EventTable {
    pub(crate) sets: Vec<EventSet>,
    /// One entry per distinct (period, offset).
    pub(crate) periodic: Vec<Periodic>,
    pub(crate) timed: Vec<Decider>,
    pub(crate) witnesses: Vec<Decider>,
    /// Kinds of events that the diagram has.
    pub(crate) any: Kinds,
}

/// Flags for kinds of events.
#[derive(Default)]
pub(crate) struct Kinds {
    pub(crate) publish: bool,
    pub(crate) discrete: bool,
    pub(crate) unrestricted: bool,
    /// True if any system computes event times or has witness functions.
    pub(crate) decider: bool,
}

impl Periodic {
    /// Returns the first event time strictly after `time`.
    pub(crate) fn next_after(&self, time: f64) -> f64 {
        if time < self.offset {
            return self.offset;
        }
        let k = ((time - self.offset) / self.period).ceil();
        let next = self.offset + k * self.period;
        if next > time {
            next
        } else {
            self.offset + (k + 1.0) * self.period
        }
    }
    /// Returns true if `time` equals one of the event times to the bit.
    pub(crate) fn is_due_at(&self, time: f64) -> bool {
        let k = ((time - self.offset) / self.period).round();
        k >= 0.0 && self.offset + k * self.period == time
    }
}

impl EventTable {
    pub(crate) fn set(&self, number: u32) -> &EventSet {
        &self.sets[number as usize]
    }
}
