//! The events of a diagram, sorted for the simulator.

use super::cache::Mask;
use super::event::{Handler, Trigger};
use super::leaf::Leaf;
use super::plan::Plan;
use crate::Scalar;
use std::collections::BTreeMap;
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
    xd: OnceLock<Vec<Range<usize>>>,
    /// Everything downstream of that state.
    mask: OnceLock<Mask>,
}

impl EventSet {
    /// Returns the ranges of the discrete state of the systems with discrete updates.
    pub(crate) fn xd<T: Scalar>(&self, plan: &Plan<T>) -> &[Range<usize>] {
        self.xd.get_or_init(|| {
            let mut ranges: Vec<Range<usize>> = vec![];
            for &(system, _) in &self.discrete {
                let groups = &plan.nodes[system as usize].xd;
                let (Some(first), Some(last)) = (groups.first(), groups.last()) else {
                    continue;
                };
                match ranges.last_mut() {
                    Some(r) if first.start <= r.end => r.end = r.end.max(last.end),
                    _ => ranges.push(first.start..last.end),
                }
            }
            ranges
        })
    }

    /// Returns the mask of everything downstream of the updated discrete state.
    pub(crate) fn mask<T: Scalar>(&self, plan: &Plan<T>) -> &Mask {
        self.mask.get_or_init(|| {
            let nodes = self.discrete.iter().map(|e| &plan.nodes[e.0 as usize]);
            plan.downstream(nodes.flat_map(|n| (0..n.xd.len()).map(|i| n.source_xd(i))))
        })
    }
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

impl EventTable {
    pub(crate) fn new<T: Scalar>(leaves: &[Leaf<T>]) -> Self {
        let mut table = Self::default();
        for _ in [INITIALIZATION, PER_STEP, FORCED] {
            table.new_set();
        }
        let mut timings: BTreeMap<[u64; 2], u32> = BTreeMap::new();
        for (system, leaf) in (0..).zip(leaves) {
            let [mut timed0, mut witness0] = [vec![], vec![]];
            for (to, n) in [
                (&mut timed0, leaf.timed.len()),
                (&mut witness0, leaf.witnesses.len()),
            ] {
                to.extend((0..n).map(|_| table.new_set()));
            }
            let decider = |(index, set): (u32, &u32)| Decider {
                system,
                index,
                set: *set,
            };
            table.timed.extend((0..).zip(&timed0).map(decider));
            table.witnesses.extend((0..).zip(&witness0).map(decider));
            for (event, (trigger, handler)) in (0..).zip(&leaf.events) {
                let set = match *trigger {
                    Trigger::Initialization => INITIALIZATION,
                    Trigger::PerStep => PER_STEP,
                    Trigger::Forced => FORCED,
                    Trigger::Timed(timed) => timed0[timed.place.index as usize],
                    Trigger::Witness(witness) => witness0[witness.place.index as usize],
                    Trigger::Periodic { period, offset } => *timings
                        .entry([period.to_bits(), offset.to_bits()])
                        .or_insert_with(|| {
                            let set = table.new_set();
                            table.periodic.push(Periodic {
                                period,
                                offset,
                                set,
                            });
                            set
                        }),
                };
                let set = &mut table.sets[set as usize];
                let (list, any) = match handler {
                    Handler::Publish(_) => (&mut set.publish, &mut table.any.publish),
                    Handler::Discrete(_) => (&mut set.discrete, &mut table.any.discrete),
                    Handler::Unrestricted(_) => {
                        (&mut set.unrestricted, &mut table.any.unrestricted)
                    }
                };
                list.push((system, event));
                *any = true;
            }
        }
        table.any.decider = !(table.timed.is_empty() && table.witnesses.is_empty());
        table
    }

    fn new_set(&mut self) -> u32 {
        self.sets.push(EventSet::default());
        self.sets.len() as u32 - 1
    }

    pub(crate) fn set(&self, number: u32) -> &EventSet {
        &self.sets[number as usize]
    }
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
