//! Detection of NaN and infinity in the state, and the search for the upstream output with the
//! first NaN. Discrete state may be infinite: a time that never comes is one.

use super::data::Data;
use super::elements::Vectorial;
use super::evaluate::eval_slot;
use super::plan::{Feed, Node, Plan};
use super::value::Stored;
use crate::{Context, Error, Result, Scalar};
use std::collections::BTreeSet;

/// Returns the index of the first number that is NaN in `after` but not in `before`.
#[inline]
pub(crate) fn new_nan<T: Scalar>(before: &[T], after: &[T]) -> Option<usize> {
    // Usually there is none; a loop without branches checks that fastest.
    if !after.iter().fold(false, |any, x| any | x.re().is_nan()) {
        None
    } else {
        place_of_nan(before, after)
    }
}

#[cold]
fn place_of_nan<T: Scalar>(before: &[T], after: &[T]) -> Option<usize> {
    let mut pairs = before.iter().zip(after);
    pairs.position(|(before, after)| after.re().is_nan() && !before.re().is_nan())
}

/// Returns the index of the first number that is finite in `before` but not in `after`.
#[inline]
pub(crate) fn new_infinity_or_nan<T: Scalar>(before: &[T], after: &[T]) -> Option<usize> {
    if after.iter().fold(true, |all, x| all & x.re().is_finite()) {
        None
    } else {
        place_of_infinity_or_nan(before, after)
    }
}

#[cold]
fn place_of_infinity_or_nan<T: Scalar>(before: &[T], after: &[T]) -> Option<usize> {
    let mut pairs = before.iter().zip(after);
    pairs.position(|(before, after)| !after.re().is_finite() && before.re().is_finite())
}

impl<T: Scalar> Plan<T> {
    /// Creates the error for an update that made element `i` of the diagram's discrete state NaN.
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
        let index = i - groups[group].start;
        self.not_finite(system, update, &what, place, index, f64::NAN)
    }

    /// Creates the error for an update or an integration, named by `cause`, that made element `i`
    /// of the diagram's continuous state `x`, which is infinite or NaN.
    #[cold]
    pub(crate) fn not_finite_in_xc(&self, i: usize, cause: &str, x: T) -> Error {
        let system = self.system_where(|node| node.xc.contains(&i));
        let what = "the continuous state";
        let index = i - self.nodes[system].xc.start;
        self.not_finite(system, cause, what, Vectorial::Continuous, index, x.re())
    }

    fn system_where(&self, holds: impl Fn(&Node) -> bool) -> usize {
        self.nodes.iter().position(holds).unwrap_or_default()
    }

    fn not_finite(
        &self,
        system: usize,
        cause: &str,
        what: &str,
        place: Vectorial,
        index: usize,
        found: f64,
    ) -> Error {
        let leaf = &self.leaves[system];
        let name = leaf.names_of(place).get(index);
        let name = name.map_or(String::new(), |name| format!(" ('{name}')"));
        let message = format!("{what} must stay finite, got {found} at index {index}{name}");
        let place = || format!("{cause} of '{}'", leaf.path);
        Error::numerical(message).locate(Some(system), place)
    }

    fn not_finite_in_slopes(&self, data: &Data<T>) -> Option<Error> {
        self.continuous.iter().find_map(|continuous| {
            let slopes = eval_slot(self, data, continuous.slot).ok()?;
            let system = self.system_of(continuous.slot);
            let slopes = slopes.numbers()?;
            let i = slopes.iter().position(|x| !x.re().is_finite())?;
            let (what, place) = ("the time derivative", Vectorial::Continuous);
            Some(self.not_finite(system, "integration", what, place, i, slopes[i].re()))
        })
    }

    /// Describes the first output or fixed input with a NaN among all that a system reads, directly
    /// or through other systems. Upstream outputs come first.
    fn first_nan(&self, data: &Data<T>, system: usize) -> Option<String> {
        let node = &self.nodes[system];
        let feeds = &self.feeds[node.input0..node.input0 + node.n_inputs];
        let mut seen = BTreeSet::new();
        // Slots from the input to the current one, each with the number of prerequisites searched.
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
    /// Adds the time to an error of a simulation and, if the failed system has read a NaN, the
    /// origin of the first NaN.
    #[cold]
    pub(crate) fn explain(&self, error: Error) -> Error {
        self.with_origin(error)
            .at(format!("at {:?} s", self.time().re()))
    }

    /// Adds the origin of the first NaN to an error, if there is a NaN and its origin is not yet
    /// known.
    #[cold]
    pub(crate) fn with_origin(&self, error: Error) -> Error {
        let system = error.system();
        let origin = system.and_then(|system| self.plan.first_nan(&self.data, system));
        match origin {
            Some(origin) => error.with_origin(origin),
            None => error,
        }
    }

    /// Fails if a step from the continuous state `before` at time `start` (s) ended with infinity
    /// or NaN. The context then returns to that state and time.
    #[inline]
    pub(crate) fn check_step(&mut self, start: T, before: &[T]) -> Result<()> {
        match new_infinity_or_nan(before, &self.data.xc) {
            None => Ok(()),
            Some(i) => {
                let (end, found) = (self.time(), self.data.xc[i]);
                self.set_time_and_xc(start, before);
                // By now, every system downstream of the failed one may be NaN as well. The state
                // before the step shows where it began.
                self.check_slopes(end)?;
                Err(self.plan.not_finite_in_xc(i, "integration", found))
            }
        }
    }

    /// Fails if a time derivative of the current state is infinite or NaN, now or at the time `end`
    /// (s).
    #[cold]
    pub(crate) fn check_slopes(&mut self, end: T) -> Result<()> {
        let start = self.time();
        for time in [start, end] {
            self.set_time(time);
            if let Some(error) = self.plan.not_finite_in_slopes(&self.data) {
                let error = self.with_origin(error);
                self.set_time(start);
                return Err(error);
            }
        }
        self.set_time(start);
        Ok(())
    }
}
