//! The event table of a diagram.

use crate::Scalar;
use crate::systems::event::Trigger;
use crate::systems::event_table::{
    Decider, EventSet, EventTable, FORCED, INITIALIZATION, PER_STEP, Periodic,
};
use crate::systems::plan::{Handler, Leaf};
use std::collections::BTreeMap;

/// Sorts the events of all leaves into sets.
pub(super) fn table<T: Scalar>(leaves: &[Leaf<T>]) -> EventTable {
    let mut table = EventTable::default();
    for _ in [INITIALIZATION, PER_STEP, FORCED] {
        new_set(&mut table);
    }
    let mut timings: BTreeMap<[u64; 2], u32> = BTreeMap::new();
    for (system, leaf) in (0..).zip(leaves) {
        let [mut timed0, mut witness0] = [vec![], vec![]];
        for (to, n) in [
            (&mut timed0, leaf.timed.len()),
            (&mut witness0, leaf.witnesses.len()),
        ] {
            to.extend((0..n).map(|_| new_set(&mut table)));
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
                        let set = new_set(&mut table);
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
                Handler::Unrestricted(_) => (&mut set.unrestricted, &mut table.any.unrestricted),
            };
            list.push((system, event));
            *any = true;
        }
    }
    table.any.decider = !(table.timed.is_empty() && table.witnesses.is_empty());
    table
}

fn new_set(table: &mut EventTable) -> u32 {
    table.sets.push(EventSet::default());
    table.sets.len() as u32 - 1
}
