//! Dispatch of events to their handlers.

use super::context::Context;
use super::data::{Data, StateCopy};
use super::event::{DiscreteUpdate, EventStatus, StateUpdate};
use super::event_table::{EventSet, FORCED};
use super::not_a_number::{new_infinity_or_nan, new_nan};
use super::plan::{Handler, LeafContext, Plan};
use crate::{Error, Result, Scalar};

/// Outcome of the events of one step: the first error, else the first request to stop.
#[derive(Default)]
pub(crate) struct Outcome {
    error: Option<Error>,
    termination: Option<String>,
}

impl Outcome {
    pub(crate) fn add(&mut self, status: EventStatus) {
        if let EventStatus::ReachedTermination { reason } = status {
            self.termination.get_or_insert(reason);
        }
    }
    pub(crate) fn fail(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }
    /// Returns the reason to stop after updates, if there is one.
    pub(crate) fn stop(&self) -> Option<String> {
        self.termination.clone()
    }
    /// Returns the reason to stop, if there is one.
    pub(crate) fn finish(self) -> Result<Option<String>> {
        self.error.map_or(Ok(self.termination), Err)
    }
}

/// Work space for event handlers. `sets` are indices of event sets; each function does nothing and
/// returns false if the sets have no events of its kind.
pub(crate) struct Dispatcher<T: Scalar> {
    /// State after unrestricted updates; once they are applied, the state before them.
    next: StateCopy<T>,
    next_xd: Vec<T>,
    events: Vec<(u32, u32)>,
}

type List = fn(&EventSet) -> &Vec<(u32, u32)>;

impl<T: Scalar> Dispatcher<T> {
    pub(crate) fn new() -> Self {
        Self {
            next: StateCopy::default(),
            next_xd: vec![],
            events: vec![],
        }
    }

    /// Computes all unrestricted updates from the state before them, then applies them together.
    pub(crate) fn unrestricted(
        &mut self,
        context: &mut Context<T>,
        sets: &[u32],
        outcome: &mut Outcome,
    ) -> Result<bool> {
        let (plan, data) = (&*context.plan, &mut context.data);
        let Self { next, events, .. } = self;
        if !plan.events.any.unrestricted {
            return Ok(false);
        }
        let events = in_order(events, plan, sets, |set| &set.unrestricted);
        if events.is_empty() {
            return Ok(false);
        }
        next.fit(data);
        for &(system, _) in events {
            let node = &plan.nodes[system as usize];
            next.xc[node.xc.clone()].copy_from_slice(&data.xc[node.xc.clone()]);
            let xd = node.xd();
            next.xd[xd.clone()].copy_from_slice(&data.xd[xd]);
            next.xa[node.xa()].clone_from_slice(&data.xa[node.xa()]);
        }
        for &(system, event) in events {
            let leaf = &plan.leaves[system as usize];
            let node = &plan.nodes[system as usize];
            let Handler::Unrestricted(act) = &leaf.events[event as usize].1 else {
                continue;
            };
            let mut update = StateUpdate {
                xc: &mut next.xc[node.xc.clone()],
                xd: &mut next.xd,
                groups: &node.xd,
                xa: &mut next.xa[node.xa()],
                owner: (plan.id, system),
            };
            let status =
                act(&LeafContext::of(plan, data, system as usize), &mut update).map_err(|e| {
                    e.locate(Some(system as usize), || {
                        format!("unrestricted update of '{}'", leaf.path)
                    })
                })?;
            outcome.add(status);
        }
        for &(system, _) in events {
            let node = &plan.nodes[system as usize];
            let (xc, xd) = (node.xc.clone(), node.xd());
            if let Some(i) = new_infinity_or_nan(&data.xc[xc.clone()], &next.xc[xc.clone()]) {
                let (i, update) = (xc.start + i, "unrestricted update");
                return Err(plan.not_finite_in_xc(i, update, next.xc[i]));
            }
            if let Some(i) = new_nan(&data.xd[xd.clone()], &next.xd[xd.clone()]) {
                return Err(plan.nan_in_xd(xd.start + i, "unrestricted update"));
            }
        }
        swap(plan, data, next, events);
        Ok(true)
    }

    /// Undoes the last `unrestricted` call for the same sets, which must have returned true.
    pub(crate) fn undo_unrestricted(&mut self, context: &mut Context<T>, sets: &[u32]) {
        let (plan, data) = (&*context.plan, &mut context.data);
        let Self { next, events, .. } = self;
        let events = in_order(events, plan, sets, |set| &set.unrestricted);
        swap(plan, data, next, events);
    }

    /// Computes all discrete updates from the state before them, then applies them together.
    pub(crate) fn discrete(
        &mut self,
        context: &mut Context<T>,
        sets: &[u32],
        outcome: &mut Outcome,
    ) -> Result<bool> {
        let (plan, data) = (&*context.plan, &mut context.data);
        let Self {
            next_xd, events, ..
        } = self;
        if !plan.events.any.discrete {
            return Ok(false);
        }
        let events = in_order(events, plan, sets, |set| &set.discrete);
        if events.is_empty() {
            return Ok(false);
        }
        next_discrete_state(plan, data, sets, events, next_xd, outcome)?;
        for set in sets {
            for range in plan.xd_of(plan.events.set(*set)) {
                if let Some(i) = new_nan(&data.xd[range.clone()], &next_xd[range.clone()]) {
                    return Err(plan.nan_in_xd(range.start + i, "discrete update"));
                }
            }
        }
        for set in sets {
            let set = plan.events.set(*set);
            for range in plan.xd_of(set) {
                data.xd[range.clone()].copy_from_slice(&next_xd[range.clone()]);
            }
            data.cache.invalidate(plan.mask_of(set));
        }
        Ok(true)
    }

    /// Runs every publish, even after one fails.
    pub(crate) fn publish(
        &mut self,
        context: &Context<T>,
        sets: &[u32],
        outcome: &mut Outcome,
    ) -> bool {
        let (plan, data) = (&*context.plan, &context.data);
        if !plan.events.any.publish {
            return false;
        }
        let events = in_order(&mut self.events, plan, sets, |set| &set.publish);
        for &(system, event) in events {
            let leaf = &plan.leaves[system as usize];
            let Handler::Publish(act) = &leaf.events[event as usize].1 else {
                continue;
            };
            match act(&LeafContext::of(plan, data, system as usize)) {
                Ok(status) => outcome.add(status),
                Err(e) => outcome.fail(e.locate(Some(system as usize), || {
                    format!("publish of '{}'", leaf.path)
                })),
            }
        }
        !events.is_empty()
    }
}

/// Exchanges the state of the systems that have these events, in the context and in the copy.
fn swap<T: Scalar>(
    plan: &Plan<T>,
    data: &mut Data<T>,
    other: &mut StateCopy<T>,
    events: &[(u32, u32)],
) {
    for (i, &(system, _)) in events.iter().enumerate() {
        if i > 0 && events[i - 1].0 == system {
            continue;
        }
        let node = &plan.nodes[system as usize];
        data.xc[node.xc.clone()].swap_with_slice(&mut other.xc[node.xc.clone()]);
        data.xd[node.xd()].swap_with_slice(&mut other.xd[node.xd()]);
        data.xa[node.xa()].swap_with_slice(&mut other.xa[node.xa()]);
        for source in node.source_state() {
            data.cache
                .changed(plan.readers(source), &plan.slot_to_slots);
        }
    }
}

/// Writes the discrete state after the updates `events` of `sets` to its place in `next`; the rest
/// of `next` stays unchanged.
fn next_discrete_state<T: Scalar>(
    plan: &Plan<T>,
    data: &Data<T>,
    sets: &[u32],
    events: &[(u32, u32)],
    next: &mut Vec<T>,
    outcome: &mut Outcome,
) -> Result<()> {
    next.resize(data.xd.len(), T::zero());
    for set in sets {
        for range in plan.xd_of(plan.events.set(*set)) {
            next[range.clone()].copy_from_slice(&data.xd[range.clone()]);
        }
    }
    for &(system, event) in events {
        let leaf = &plan.leaves[system as usize];
        let Handler::Discrete(act) = &leaf.events[event as usize].1 else {
            continue;
        };
        let mut update = DiscreteUpdate {
            xd: next,
            groups: &plan.nodes[system as usize].xd,
            owner: (plan.id, system),
        };
        let status =
            act(&LeafContext::of(plan, data, system as usize), &mut update).map_err(|e| {
                e.locate(Some(system as usize), || {
                    format!("discrete update of '{}'", leaf.path)
                })
            })?;
        outcome.add(status);
    }
    Ok(())
}

/// Returns the events of these sets ordered by system, and within a system in the order of the
/// sets.
#[inline]
fn in_order<'a, T: Scalar>(
    space: &'a mut Vec<(u32, u32)>,
    plan: &'a Plan<T>,
    sets: &[u32],
    of: List,
) -> &'a [(u32, u32)] {
    let mut lists = sets.iter().map(|set| of(plan.events.set(*set)));
    let mut some = lists.by_ref().filter(|list| !list.is_empty());
    let Some(first) = some.next() else {
        return &[];
    };
    let Some(second) = some.next() else {
        return first;
    };
    space.clear();
    space.extend_from_slice(first);
    merge(space, second);
    let two = space.len();
    for more in some {
        space.extend_from_slice(more);
    }
    if space.len() > two {
        // Merging one by one would cost the square of the number of lists.
        space.sort_by_key(|event| event.0);
    }
    space
}

/// Merges a list sorted by system into another one; for the same system, existing entries come
/// first.
fn merge(into: &mut Vec<(u32, u32)>, more: &[(u32, u32)]) {
    let (mut i, mut j) = (into.len(), more.len());
    into.extend_from_slice(more);
    while j > 0 {
        let from_into = i > 0 && into[i - 1].0 > more[j - 1].0;
        into[i + j - 1] = if from_into { into[i - 1] } else { more[j - 1] };
        if from_into {
            i -= 1;
        } else {
            j -= 1;
        }
    }
}

impl<T: Scalar> Context<T> {
    /// Runs all publish events with trigger [`Forced`](crate::Trigger::Forced) at the current time
    /// (Drake's `ForcedPublish`).
    ///
    /// # Errors
    /// Returns the first error; every event is dispatched nevertheless.
    pub fn force_publish(&self) -> Result<EventStatus> {
        let mut outcome = Outcome::default();
        let some = Dispatcher::new().publish(self, &[FORCED], &mut outcome);
        status(some, outcome)
    }

    /// Runs all discrete updates with trigger [`Forced`](crate::Trigger::Forced) and applies them
    /// (Drake's `CalcForcedDiscreteVariableUpdate`).
    ///
    /// # Errors
    /// Returns the first error; in that case nothing changes.
    pub fn force_discrete_update(&mut self) -> Result<EventStatus> {
        let mut outcome = Outcome::default();
        let some = Dispatcher::new().discrete(self, &[FORCED], &mut outcome)?;
        status(some, outcome)
    }

    /// Runs all unrestricted updates with trigger [`Forced`](crate::Trigger::Forced) and applies
    /// them (Drake's `CalcForcedUnrestrictedUpdate`).
    ///
    /// # Errors
    /// Returns the first error; in that case nothing changes.
    pub fn force_unrestricted_update(&mut self) -> Result<EventStatus> {
        let mut outcome = Outcome::default();
        let some = Dispatcher::new().unrestricted(self, &[FORCED], &mut outcome)?;
        status(some, outcome)
    }

    /// Returns the discrete state after the discrete updates of one event set.
    pub(crate) fn next_discrete_state(&self, set: u32) -> Result<Vec<T>> {
        let mut next = self.data.xd.clone();
        let mut outcome = Outcome::default();
        let events = &self.plan.events.set(set).discrete;
        next_discrete_state(
            &self.plan,
            &self.data,
            &[set],
            events,
            &mut next,
            &mut outcome,
        )?;
        Ok(next)
    }
}

fn status(some: bool, outcome: Outcome) -> Result<EventStatus> {
    Ok(match outcome.finish()? {
        Some(reason) => EventStatus::ReachedTermination { reason },
        None if some => EventStatus::Succeeded,
        None => EventStatus::DidNothing,
    })
}
