//! Events: when something happens, what it does and how it ended.

use super::handles::{AbstractState, DiscreteState, Place, PlanId};
use super::leaf_context::LeafContext;
use super::value::Stored;
use crate::{Result, Scalar};
use std::ops::Range;

/// When an event fires.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Trigger {
    /// Once, when the simulator is initialized.
    Initialization,
    /// At every step of the simulator.
    PerStep,
    /// At `offset + k * period` (s) for k = 0, 1, 2, ...; times are computed from the integer k, so
    /// they never drift.
    Periodic {
        /// Time between events (s), positive.
        period: f64,
        /// Time of the first event (s), not negative.
        offset: f64,
    },
    /// Only when asked for, by `force_publish` or `force_discrete_update`.
    Forced,
}

impl Trigger {
    /// Periodic from time zero on.
    pub fn every(period: f64) -> Self {
        Self::Periodic {
            period,
            offset: 0.0,
        }
    }
}

/// How an event ended, by increasing severity. A failure is the `Err` of the handler.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum EventStatus {
    /// Nothing was done.
    DidNothing,
    /// The handler did its work.
    Succeeded,
    /// The handler did its work and asks the simulator to stop after this step.
    ReachedTermination {
        /// Why, for the user.
        reason: String,
    },
}

pub(crate) type PublishFn<T> =
    Box<dyn Fn(&LeafContext<'_, T>) -> Result<EventStatus> + Send + Sync>;
pub(crate) type DiscreteFn<T> = Box<
    dyn Fn(&LeafContext<'_, T>, &mut DiscreteUpdate<'_, T>) -> Result<EventStatus> + Send + Sync,
>;

pub(crate) type UnrestrictedFn<T> =
    Box<dyn Fn(&LeafContext<'_, T>, &mut StateUpdate<'_, T>) -> Result<EventStatus> + Send + Sync>;

pub(crate) enum Handler<T: Scalar> {
    Publish(PublishFn<T>),
    Discrete(DiscreteFn<T>),
    Unrestricted(UnrestrictedFn<T>),
}

/// The discrete state that an update writes: a copy of the current one, applied when all updates
/// of the step have succeeded.
pub struct DiscreteUpdate<'a, T> {
    pub(crate) xd: &'a mut [T],
    pub(crate) groups: &'a [Range<usize>],
    /// Diagram and system that the groups belong to.
    pub(crate) owner: (PlanId, u32),
}

impl<T: Scalar> DiscreteUpdate<'_, T> {
    /// Next value of a group; holds the current value at first.
    ///
    /// # Panics
    /// If the handle belongs to another system.
    pub fn get_mut(&mut self, group: DiscreteState<Vec<T>>) -> &mut [T] {
        let index = own(self.owner, "discrete state", group.place);
        &mut self.xd[self.groups[index].clone()]
    }
}

/// All state of a system, as an unrestricted update writes it: a copy of the current one, applied
/// when all unrestricted updates of the step have succeeded.
pub struct StateUpdate<'a, T: Scalar> {
    pub(crate) xc: &'a mut [T],
    pub(crate) xd: &'a mut [T],
    pub(crate) groups: &'a [Range<usize>],
    pub(crate) xa: &'a mut [Stored<T>],
    /// Diagram and system that the state belongs to.
    pub(crate) owner: (PlanId, u32),
}

impl<T: Scalar> StateUpdate<'_, T> {
    /// Next continuous state; holds the current one at first.
    pub fn xc_mut(&mut self) -> &mut [T] {
        self.xc
    }
    /// Next value of a discrete group; holds the current one at first.
    ///
    /// # Panics
    /// If the handle belongs to another system.
    pub fn xd_mut(&mut self, group: DiscreteState<Vec<T>>) -> &mut [T] {
        let index = own(self.owner, "discrete state", group.place);
        &mut self.xd[self.groups[index].clone()]
    }
    /// Next abstract state; holds the current one at first.
    ///
    /// # Panics
    /// If the handle belongs to another system.
    pub fn xa_mut<V: 'static>(&mut self, state: AbstractState<V>) -> &mut V {
        let index = own(self.owner, "abstract state", state.place);
        self.xa[index].get_mut()
    }
}

/// Index of a handle of the system `owner`; a handle of another one is a mistake of its author.
fn own(owner: (PlanId, u32), what: &str, place: Place) -> usize {
    assert!(
        (place.plan, place.system) == owner,
        "{what} of system {} of {} was used in an update of system {} of {}",
        place.system,
        place.plan,
        owner.1,
        owner.0
    );
    place.index as usize
}

/// The events of a diagram, sorted for the simulator: `(system, index of its event)`.
#[derive(Default)]
pub(crate) struct EventTable {
    pub(crate) initialization: EventSet,
    pub(crate) per_step: EventSet,
    pub(crate) forced: EventSet,
    /// One entry per distinct (period, offset).
    pub(crate) periodic: Vec<PeriodicSet>,
}

#[derive(Default)]
pub(crate) struct EventSet {
    pub(crate) publish: Vec<(u32, u32)>,
    pub(crate) discrete: Vec<(u32, u32)>,
    pub(crate) unrestricted: Vec<(u32, u32)>,
}

impl EventSet {
    pub(crate) fn has_no_updates(&self) -> bool {
        self.discrete.is_empty() && self.unrestricted.is_empty()
    }
}

pub(crate) struct PeriodicSet {
    pub(crate) period: f64,
    pub(crate) offset: f64,
    pub(crate) events: EventSet,
}

impl EventTable {
    pub(crate) fn add<T: Scalar>(
        &mut self,
        trigger: Trigger,
        handler: &Handler<T>,
        at: (u32, u32),
    ) {
        let set = match trigger {
            Trigger::Initialization => &mut self.initialization,
            Trigger::PerStep => &mut self.per_step,
            Trigger::Forced => &mut self.forced,
            Trigger::Periodic { period, offset } => {
                let same = |p: &PeriodicSet| p.period == period && p.offset == offset;
                let i = self.periodic.iter().position(same).unwrap_or_else(|| {
                    let events = EventSet::default();
                    self.periodic.push(PeriodicSet {
                        period,
                        offset,
                        events,
                    });
                    self.periodic.len() - 1
                });
                &mut self.periodic[i].events
            }
        };
        match handler {
            Handler::Publish(_) => set.publish.push(at),
            Handler::Discrete(_) => set.discrete.push(at),
            Handler::Unrestricted(_) => set.unrestricted.push(at),
        }
    }
}

impl PeriodicSet {
    /// The first event time strictly after `time`.
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
    /// True if `time` is one of the event times, to the bit.
    pub(crate) fn is_due_at(&self, time: f64) -> bool {
        let k = ((time - self.offset) / self.period).round();
        k >= 0.0 && self.offset + k * self.period == time
    }
}
