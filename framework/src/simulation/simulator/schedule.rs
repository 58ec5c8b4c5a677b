//! Times of timed events.

use super::Simulator;
use crate::{Context, Error, Result, Scalar};

impl<T: Scalar> Simulator<T> {
    /// Finds the event sets that are due at the start time.
    pub(super) fn find_due_now(&mut self) -> Result<()> {
        let now = self.context.time();
        let events = &self.context.plan.events;
        let due = events.periodic.iter().filter(|p| p.is_due_at(now.re()));
        self.due.extend(due.map(|p| p.set));
        if events.timed.is_empty() {
            return Ok(());
        }
        // As if time arrived from just before.
        let plan = self.context.plan.clone();
        self.context.set_time(T::from(now.re().next_down()));
        for decider in &plan.events.timed {
            let next = next_time(&self.context, now.re(), decider.system, decider.index);
            match next {
                Ok(next) if next == now.re() => self.due.push(decider.set),
                Ok(_) => {}
                Err(error) => {
                    self.context.set_time(now);
                    return Err(error);
                }
            }
        }
        self.context.set_time(now);
        Ok(())
    }

    /// Returns the time of the next timed events (s); their sets become due.
    pub(super) fn next_event(&mut self) -> Result<f64> {
        let now = self.context.time().re();
        let events = &self.context.plan.events;
        let mut next_event = f64::INFINITY;
        for (p, (asked, answer)) in events.periodic.iter().zip(&mut self.next_times) {
            // The answer is the same for all times up to it.
            if !(*asked <= now && now < *answer) {
                let next = p.next_after(now);
                if next <= now {
                    return Err(Error::invalid(format!(
                        "Simulator: an event with a period of {:?} s has no next time after {now:?} s, because \
                         the period is lost in rounding; use a longer period",
                        p.period
                    )));
                }
                (*asked, *answer) = (now, next);
            }
            earlier(&mut self.due, &mut next_event, *answer, p.set);
        }
        for decider in &events.timed {
            let time = next_time(&self.context, now, decider.system, decider.index)?;
            earlier(&mut self.due, &mut next_event, time, decider.set);
        }
        Ok(next_event)
    }
}

/// Notes a set that happens at `time` (s), and drops sets that happen later.
#[inline]
fn earlier(due: &mut Vec<u32>, next_event: &mut f64, time: f64, set: u32) {
    if time < *next_event {
        *next_event = time;
        due.clear();
    }
    if time == *next_event && time < f64::INFINITY {
        due.push(set);
    }
}

/// Returns the next time of a timed event (s), given the current time `now` (s). The context may be
/// at a time just before it.
fn next_time<T: Scalar>(context: &Context<T>, now: f64, system: u32, index: u32) -> Result<f64> {
    let leaf = &context.plan.leaves[system as usize];
    let place = || format!("next event time of '{}'", leaf.path);
    let next = &leaf.timed[index as usize];
    let time = next(&context.leaf_context(system as usize))
        .map_err(|e| e.locate(Some(system as usize), place))?;
    if time >= context.time().re() {
        return Ok(time);
    }
    Err(Error::invalid(format!(
        "{}: the time must be at least the current time, {now:?} s, or infinity for none, got {time:?} s",
        place()
    )))
}
