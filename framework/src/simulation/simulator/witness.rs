//! Witness functions: steps end where one changes its sign.
//!
//! As in Drake, a function is compared between the beginning and the end of a step. If it has
//! triggered, the step is repeated towards the middle of the interval that contains the change,
//! until that interval is short enough. The step ends at the right end of the interval, just after
//! the change.

use super::Simulator;
use crate::simulation::dense_output::{Checkpoint, DenseOutput};
use crate::{Context, Error, Result, Scalar};

/// Length of the final interval as a fraction of accuracy times largest step, as in Drake.
const PART_OF_ACCURACY: f64 = 0.01;

/// Work space for witness functions.
pub(super) struct Watch<T> {
    xc0: Vec<T>,
    /// Dense output's position at the beginning of the step.
    checkpoint: Option<Checkpoint>,
    /// Values of all witness functions at the beginning of the step.
    before: Vec<f64>,
    /// Indices of the witness functions that have triggered.
    triggered: Vec<u32>,
    /// Indices of those that have triggered at the time being tried.
    trial: Vec<u32>,
}

impl<T> Default for Watch<T> {
    fn default() -> Self {
        Self {
            xc0: vec![],
            checkpoint: None,
            before: vec![],
            triggered: vec![],
            trial: vec![],
        }
    }
}

impl<T: Scalar> Simulator<T> {
    /// Takes one step towards the nearer of the next event, whose sets are then due, and the
    /// boundary (s). Returns the time reached. Afterwards sets are due if their time was reached or
    /// if a witness function triggered.
    pub(super) fn integrate(&mut self, next_event: f64, boundary: f64) -> Result<f64> {
        let watching = !self.context.plan.events.witnesses.is_empty();
        let t0 = self.context.time();
        if watching {
            let dense = self.driver.dense_output.as_ref();
            self.watch.checkpoint = dense.map(DenseOutput::checkpoint);
            let Watch { xc0, before, .. } = &mut self.watch;
            xc0.clone_from(&self.context.data.xc);
            before.clear();
            for number in 0..self.context.plan.events.witnesses.len() {
                before.push(witness_value(&self.context, number)?);
            }
        }
        let mut reached = self
            .driver
            .advance(&mut self.context, next_event, boundary)?;
        if watching {
            let isolated = self.isolate(t0, reached);
            reached = isolated.inspect_err(|_| self.go_back(t0))?;
        }
        if reached < next_event {
            self.due.clear();
        }
        if watching && !self.watch.triggered.is_empty() {
            self.statistics.witness_triggers += 1;
            let witnesses = &self.context.plan.events.witnesses;
            let sets = self.watch.triggered.iter();
            self.due.extend(sets.map(|w| witnesses[*w as usize].set));
        }
        Ok(reached)
    }

    /// Goes back to where the first witness functions triggered since `t0`. Returns that time (s),
    /// or `t1` if none has triggered.
    fn isolate(&mut self, t0: T, t1: f64) -> Result<f64> {
        let Watch {
            before, triggered, ..
        } = &mut self.watch;
        find_triggered(&self.context, before, None, triggered)?;
        let limits = self.driver.limits();
        let accuracy = match (self.context.accuracy(), limits.error_control) {
            (Some(asked), false) => asked,
            (Some(asked), true) => asked.min(limits.accuracy),
            (None, true) => limits.accuracy,
            (None, false) => return Ok(t1), // Fixed steps: there is no accuracy to isolate to.
        };
        if triggered.is_empty() {
            return Ok(t1);
        }
        let window = (PART_OF_ACCURACY * accuracy * limits.max_step).max(limits.smallest(t1));
        let (mut a, mut b) = (t0.re(), t1);
        while b - a > window {
            let middle = a + (b - a) / 2.0;
            if middle <= a || middle >= b {
                break;
            }
            self.repeat(t0, middle)?;
            let Watch {
                before,
                triggered,
                trial,
                ..
            } = &mut self.watch;
            find_triggered(&self.context, before, Some(&*triggered), trial)?;
            if trial.is_empty() {
                a = middle;
            } else {
                b = middle;
                std::mem::swap(triggered, trial);
            }
        }
        if self.context.time().re() != b {
            self.repeat(t0, b)?;
        }
        Ok(b)
    }

    /// Integrates from the beginning of the step to another time (s).
    fn repeat(&mut self, t0: T, until: f64) -> Result<()> {
        self.go_back(t0);
        while self.context.time().re() < until {
            self.driver
                .advance(&mut self.context, f64::INFINITY, until)?;
        }
        Ok(())
    }

    /// Undoes the step.
    fn go_back(&mut self, t0: T) {
        self.context.set_time_and_xc(t0, &self.watch.xc0);
        if let (Some(dense), Some(to)) = (&mut self.driver.dense_output, &self.watch.checkpoint) {
            dense.roll_back(to);
        }
    }
}

/// Finds the witness functions that have triggered, among all or only some.
fn find_triggered<T: Scalar>(
    context: &Context<T>,
    before: &[f64],
    among: Option<&[u32]>,
    triggered: &mut Vec<u32>,
) -> Result<()> {
    triggered.clear();
    let mut check = |number: usize| {
        let decider = &context.plan.events.witnesses[number];
        let leaf = &context.plan.leaves[decider.system as usize];
        let direction = leaf.witnesses[decider.index as usize].direction;
        if direction.triggers(before[number], witness_value(context, number)?) {
            triggered.push(number as u32);
        }
        Ok(())
    };
    match among {
        None => (0..before.len()).try_for_each(check),
        Some(some) => some.iter().try_for_each(|number| check(*number as usize)),
    }
}

fn witness_value<T: Scalar>(context: &Context<T>, number: usize) -> Result<f64> {
    let decider = &context.plan.events.witnesses[number];
    let leaf = &context.plan.leaves[decider.system as usize];
    let witness = &leaf.witnesses[decider.index as usize];
    let value = (witness.value)(&context.leaf_context(decider.system as usize));
    let place = || format!("witness function '{}' of '{}'", witness.name, leaf.path);
    let system = Some(decider.system as usize);
    let value = value.and_then(|value| match value.re() {
        value if value.is_nan() => Err(Error::numerical("the value must not be NaN")),
        value => Ok(value),
    });
    value.map_err(|e| e.locate(system, place))
}
