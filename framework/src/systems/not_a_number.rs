//! Numbers of the state that become NaN, and the output upstream that gave the first of them.

use super::data::Data;
use super::elements::Vectorial;
use super::evaluate::eval_slot;
use super::plan::{Feed, Node, Plan};
use super::value::Stored;
use crate::{Context, Error, Result, Scalar};
use std::collections::BTreeSet;

/// Returns the place of the first number that has become NaN.
#[inline]
pub(crate) fn new_nan<T: Scalar>(before: &[T], after: &[T]) -> Option<usize> {
    // Most often there is none, which a loop without branches finds out fastest.
    match after.iter().fold(false, |any, x| any | x.re().is_nan()) {
        false => None,
        true => place_of_nan(before, after),
    }
}

#[cold]
fn place_of_nan<T: Scalar>(before: &[T], after: &[T]) -> Option<usize> {
    let mut pairs = before.iter().zip(after);
    pairs.position(|(before, after)| after.re().is_nan() && !before.re().is_nan())
}

impl<T: Scalar> Plan<T> {
    /// Returns the error of an update after which number `i` of all discrete state is NaN.
    #[cold]
    pub(crate) fn nan_in_xd(&self, i: usize, update: &str) -> Error {
        let system = self.system_where(|node| node.xd().contains(&i));
        let groups = &self.nodes[system].xd;
        let group = groups.iter().position(|range| range.contains(&i));
        let group = group.unwrap_or_default();
        let what = match groups.len() {
            1 => "the discrete state".into(),
            _ => format!("group {group} of the discrete state"),
        };
        let place = Vectorial::Discrete(group as u32);
        self.nan_in_state(system, update, &what, (place, i - groups[group].start))
    }

    /// Returns the error of something after which number `i` of all continuous state is NaN.
    #[cold]
    pub(crate) fn nan_in_xc(&self, i: usize, cause: &str) -> Error {
        let system = self.system_where(|node| node.xc.contains(&i));
        let what = "the continuous state";
        let place = (Vectorial::Continuous, i - self.nodes[system].xc.start);
        self.nan_in_state(system, cause, what, place)
    }

    fn system_where(&self, holds: impl Fn(&Node) -> bool) -> usize {
        self.nodes.iter().position(holds).unwrap_or_default()
    }

    fn nan_in_state(
        &self,
        system: usize,
        cause: &str,
        what: &str,
        (place, index): (Vectorial, usize),
    ) -> Error {
        let leaf = &self.leaves[system];
        let name = leaf.names_of(place).get(index);
        let name = name.map_or(String::new(), |name| format!(" ('{name}')"));
        let message = format!("{what} must stay finite, got NaN at index {index}{name}");
        let place = || format!("{cause} of '{}'", leaf.path);
        Error::numerical(message).locate(Some(system), place)
    }

    fn nan_in_slopes(&self, data: &Data<T>) -> Option<Error> {
        self.continuous.iter().find_map(|continuous| {
            let slopes = eval_slot(self, data, continuous.slot).ok()?;
            let system = self.system_of(continuous.slot);
            let place = (Vectorial::Continuous, index_of_nan(slopes)?);
            Some(self.nan_in_state(system, "integration", "the time derivative", place))
        })
    }

    /// Searches what a system reads for the first output or fixed input with a NaN, and describes
    /// it.
    fn first_nan(&self, data: &Data<T>, system: usize) -> Option<String> {
        let node = &self.nodes[system];
        let feeds = &self.feeds[node.input0..node.input0 + node.n_inputs];
        let mut seen = BTreeSet::new();
        // Pairs of a slot and the number of its prerequisites that were searched.
        let mut stack: Vec<(u32, usize)> = vec![];
        for feed in feeds {
            if let Feed::Slot(slot) = feed {
                stack.push((*slot, 0));
            }
            while let Some((slot, searched)) = stack.last_mut() {
                let (slot, next) = (*slot, *searched);
                *searched += 1;
                if next == 0 && !seen.insert(slot) {
                    stack.pop();
                } else if let Some(reads) = self.prerequisites.of(slot as usize).get(next) {
                    stack.push((*reads, 0));
                } else {
                    stack.pop();
                    let found = self.nan_of(data, slot as usize);
                    if found.is_some() {
                        return found;
                    }
                }
            }
        }
        self.nan_of_fixed_inputs(data, system)
    }

    fn nan_of(&self, data: &Data<T>, slot: usize) -> Option<String> {
        if !self.entry(slot).is_output {
            return None;
        }
        let value = eval_slot(self, data, slot).ok()?;
        let index = index_of_nan(value)?;
        let fixed = self.nan_of_fixed_inputs(data, self.system_of(slot));
        fixed.or_else(|| {
            Some(format!(
                "output '{}' at index {index}",
                self.slot_name(slot)
            ))
        })
    }

    fn nan_of_fixed_inputs(&self, data: &Data<T>, system: usize) -> Option<String> {
        let node = &self.nodes[system];
        (0..node.n_inputs).find_map(|input| {
            let Feed::Fixed(number) = self.feeds[node.input0 + input] else {
                return None;
            };
            let index = index_of_nan(data.fixed[number as usize].as_ref()?)?;
            let name = self.input_name(system, input);
            Some(format!(
                "the fixed value of input '{name}' at index {index}"
            ))
        })
    }
}

fn index_of_nan<T: Scalar>(value: &Stored<T>) -> Option<usize> {
    value.numbers()?.iter().position(|x| x.re().is_nan())
}

impl<T: Scalar> Context<T> {
    /// Adds to the error of a simulation its time, and where the first NaN came from if the system
    /// that failed has read one.
    #[cold]
    pub(crate) fn explain(&self, error: Error) -> Error {
        self.with_origin(error)
            .at(format!("at {:?} s", self.time().re()))
    }

    /// Adds to an error where the first NaN came from, unless that is known or there is none.
    #[cold]
    fn with_origin(&self, error: Error) -> Error {
        let system = error.system();
        let origin = system.and_then(|system| self.plan.first_nan(&self.data, system));
        match origin {
            Some(origin) => error.with_origin(origin),
            None => error,
        }
    }

    /// Fails if a step of continuous state, from `before` and `start` (s), has ended with a NaN.
    /// The context then goes back to where it was.
    #[inline]
    pub(crate) fn check_step(&mut self, start: T, before: &[T]) -> Result<()> {
        match new_nan(before, &self.data.xc) {
            None => Ok(()),
            Some(i) => {
                let end = self.time();
                self.set_time_and_xc(start, before);
                // After the step, all that depend on the system that failed may be NaN.
                self.check_slopes(end)?;
                Err(self.plan.nan_in_xc(i, "integration"))
            }
        }
    }

    /// Fails if a time derivative is NaN in the current state, now or at the end of a step.
    #[cold]
    pub(crate) fn check_slopes(&mut self, end: T) -> Result<()> {
        let start = self.time();
        for time in [start, end] {
            self.set_time(time);
            if let Some(error) = self.plan.nan_in_slopes(&self.data) {
                let error = self.with_origin(error);
                self.set_time(start);
                return Err(error);
            }
        }
        self.set_time(start);
        Ok(())
    }
}
