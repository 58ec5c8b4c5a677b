//! Evaluation, and the window on a context that calc functions and event handlers get.

use super::context::{Context, Data};
use super::handles::{
    AbstractState, CacheEntry, DiscreteState, InputPort, OutputPort, Param, Place,
};
use super::plan::{ACCURACY, Feed, Plan, TIME};
use super::value::{Value, cast};
use crate::error::ErrorKind;
use crate::{Error, Result, Scalar};

/// Computations nest this deep by recursion; beyond it, stale prerequisites are computed in
/// topological order from a list, so that chains of any length fit the stack. Deeper recursion is
/// slower too (44 instead of 36 ns per gain of a chain at 64): processors predict few nested returns.
const MAX_RECURSION: u32 = 8;

/// Limit of the recursion while caching is off; fits the stack of a thread (2 MiB) in debug builds.
const MAX_UNCACHED_RECURSION: u32 = 500;

#[inline]
pub(super) fn eval_slot<'a, T: Scalar>(
    plan: &'a Plan<T>,
    data: &'a Data<T>,
    slot: usize,
) -> Result<&'a dyn Value> {
    match data.cache.get(slot) {
        Some(value) => Ok(value),
        None => compute(plan, data, slot),
    }
}

#[inline(never)]
fn compute<'a, T: Scalar>(
    plan: &'a Plan<T>,
    data: &'a Data<T>,
    slot: usize,
) -> Result<&'a dyn Value> {
    if data.frozen {
        let entry = plan.slot_name(slot);
        return Err(ErrorKind::Frozen { entry }.into());
    }
    let (_running, depth) = data.cache.begin();
    if depth > 1
        && let Some(error) = data.cache.failure(slot)
    {
        return Err(error);
    }
    if !data.cache.is_enabled() {
        return compute_uncached(plan, data, slot, depth);
    }
    if depth > MAX_RECURSION {
        compute_in_order(plan, data, slot)
    } else {
        compute_one(plan, data, slot)
    }
}

/// Runs the calc function of one slot.
#[inline]
fn compute_one<'a, T: Scalar>(
    plan: &'a Plan<T>,
    data: &'a Data<T>,
    slot: usize,
) -> Result<&'a dyn Value> {
    let ctx = LeafContext {
        plan,
        data,
        system: plan.slots[slot].0 as usize,
        slot: Some(slot),
    };
    let filled = data
        .cache
        .fill(slot, |out| (plan.entry(slot).calc)(&ctx, out));
    filled.map_err(|error| failed(plan, data, slot, error))
}

/// Locates and remembers a failure.
#[cold]
fn failed<T: Scalar>(plan: &Plan<T>, data: &Data<T>, slot: usize, error: Error) -> Error {
    let error = error.at(|| format!("computing '{}'", plan.slot_name(slot)));
    data.cache.set_failure(slot, &error);
    error
}

/// Computes a slot while caching is off, where every reader recomputes, by recursion.
#[cold]
fn compute_uncached<'a, T: Scalar>(
    plan: &'a Plan<T>,
    data: &'a Data<T>,
    slot: usize,
    depth: u32,
) -> Result<&'a dyn Value> {
    if depth > MAX_UNCACHED_RECURSION {
        return Err(Error::invalid(format!(
            "'{}' is the end of a chain of more than {MAX_UNCACHED_RECURSION} computations; with \
             caching off that is too deep, turn it on",
            plan.slot_name(slot)
        )));
    }
    compute_one(plan, data, slot)
}

/// Computes a slot after its stale prerequisites, without recursion.
fn compute_in_order<'a, T: Scalar>(
    plan: &'a Plan<T>,
    data: &'a Data<T>,
    slot: usize,
) -> Result<&'a dyn Value> {
    let settled = |s: usize| data.cache.get(s).is_some() || data.cache.failure(s).is_some();
    // (slot, how many of its prerequisites are settled)
    let mut stack = vec![(slot, 0)];
    while let Some((top, done)) = stack.last_mut() {
        let reads = &plan.prerequisites[*top];
        while *done < reads.len() && settled(reads[*done] as usize) {
            *done += 1;
        }
        if *done < reads.len() {
            let next = reads[*done] as usize;
            stack.push((next, 0));
        } else {
            // A failure is remembered; the calc functions that need the value will see it.
            let top = *top;
            let _ = compute_one(plan, data, top);
            stack.pop();
        }
    }
    match data.cache.get(slot) {
        Some(value) => Ok(value),
        None => Err(data
            .cache
            .failure(slot)
            .expect("the slot is settled by now")),
    }
}

/// A leaf's read-only window on a context; what calc functions and event handlers get.
#[derive(Clone, Copy)]
pub struct LeafContext<'a, T: Scalar> {
    plan: &'a Plan<T>,
    data: &'a Data<T>,
    system: usize,
    /// The computation in progress, so that debug builds can check what it declared.
    slot: Option<usize>,
}

impl<'a, T: Scalar> LeafContext<'a, T> {
    pub(crate) fn new(ctx: &'a Context<T>, system: usize) -> Self {
        Self {
            plan: &ctx.plan,
            data: &ctx.data,
            system,
            slot: None,
        }
    }

    /// Debug builds fail a computation that reads what it did not declare: it would go stale.
    #[inline]
    fn reads(&self, source: Option<usize>, other: Option<usize>) {
        if cfg!(debug_assertions)
            && let Some(slot) = self.slot
        {
            assert!(
                self.plan.is_declared(slot, source, other),
                "'{}' reads a value that it did not declare as a dependency",
                self.plan.slot_name(slot)
            );
        }
    }

    #[cold]
    fn foreign(&self, what: &str, place: Place) -> Error {
        ErrorKind::ForeignHandle {
            what: what.into(),
            owner: format!("system {} of {}", place.system, place.plan),
            used_with: format!(
                "system {} ('{}') of {}",
                self.system,
                self.path(),
                self.plan.id
            ),
        }
        .into()
    }

    /// Index of a handle of this very system.
    ///
    /// # Panics
    /// If it is a handle of another system: a leaf can only hold foreign handles by mistake of its
    /// author, so this is a broken internal promise rather than a user's error.
    #[inline]
    #[track_caller]
    fn own(&self, what: &str, place: Place) -> usize {
        if place.plan != self.plan.id || place.system as usize != self.system {
            panic!("{}", self.foreign(what, place));
        }
        place.index as usize
    }

    /// Path of the system, for messages.
    pub fn path(&self) -> &'a str {
        &self.plan.leaves[self.system].path
    }
    /// Simulated time (s).
    #[inline]
    pub fn time(&self) -> T {
        self.reads(Some(TIME), None);
        self.data.time
    }
    /// Accuracy asked of approximate computations.
    #[inline]
    pub fn accuracy(&self) -> f64 {
        self.reads(Some(ACCURACY), None);
        self.data.accuracy
    }

    /// Value of an input port, computed upstream when out of date.
    ///
    /// # Errors
    /// If the port is not connected and not fixed, if the computation upstream fails, or if the
    /// handle belongs to another system.
    #[inline]
    pub fn eval<V: 'static>(&self, input: InputPort<V>) -> Result<&'a V> {
        self.eval_optional(input)?.ok_or_else(|| {
            let port = self
                .plan
                .input_name(self.system, input.place.index as usize);
            ErrorKind::Unconnected { port }.into()
        })
    }

    /// Value of an input port that may be left alone: `None` when not connected and not fixed.
    ///
    /// # Errors
    /// If the computation upstream fails, or if the handle belongs to another system.
    #[inline]
    pub fn eval_optional<V: 'static>(&self, input: InputPort<V>) -> Result<Option<&'a V>> {
        let place = input.place;
        if place.plan != self.plan.id || place.system as usize != self.system {
            return Err(self.foreign("input port", place));
        }
        let (node, index) = (&self.plan.nodes[self.system], place.index as usize);
        self.reads(Some(node.source_input(index)), None);
        match self.plan.feeds[node.input0 + index] {
            Feed::Slot(slot) => {
                eval_slot(self.plan, self.data, slot as usize).map(|v| Some(cast(v)))
            }
            Feed::Free => Ok(self.data.fixed[node.input0 + index]
                .as_ref()
                .map(|v| cast(&**v))),
        }
    }

    /// Value of a cache entry of this system.
    ///
    /// # Errors
    /// If its computation fails.
    ///
    /// # Panics
    /// If the handle belongs to another system.
    #[inline]
    pub fn cached<V: 'static>(&self, entry: CacheEntry<V>) -> Result<&'a V> {
        let slot = self.plan.nodes[self.system].slot0 + self.own("cache entry", entry.place);
        self.reads(None, Some(slot));
        eval_slot(self.plan, self.data, slot).map(cast)
    }

    /// Value of an output port of this system.
    ///
    /// # Errors
    /// If its computation fails.
    ///
    /// # Panics
    /// If the handle belongs to another system.
    #[inline]
    pub fn output<V: 'static>(&self, output: OutputPort<V>) -> Result<&'a V> {
        let slot = self.plan.nodes[self.system].slot0 + self.own("output port", output.place);
        self.reads(None, Some(slot));
        eval_slot(self.plan, self.data, slot).map(cast)
    }

    /// Continuous state: positions, then velocities, then the rest.
    #[inline]
    pub fn xc(&self) -> &'a [T] {
        let node = &self.plan.nodes[self.system];
        let sizes = self.plan.leaves[self.system].continuous;
        for (source, size) in node.source_xc().zip([sizes.q, sizes.v, sizes.z]) {
            if size > 0 {
                self.reads(Some(source), None);
            }
        }
        &self.data.xc[node.xc.clone()]
    }

    /// Generalized positions q of the continuous state.
    #[inline]
    pub fn q(&self) -> &'a [T] {
        let q = self.plan.leaves[self.system].continuous.q;
        &self.part(0)[..q]
    }
    /// Generalized velocities v of the continuous state.
    #[inline]
    pub fn v(&self) -> &'a [T] {
        let sizes = self.plan.leaves[self.system].continuous;
        &self.part(1)[sizes.q..sizes.q + sizes.v]
    }
    /// Miscellaneous continuous state z.
    #[inline]
    pub fn z(&self) -> &'a [T] {
        let sizes = self.plan.leaves[self.system].continuous;
        &self.part(2)[sizes.q + sizes.v..]
    }
    /// All continuous state, read for one of its parts: q, v, z by number.
    #[inline]
    fn part(&self, number: usize) -> &'a [T] {
        let node = &self.plan.nodes[self.system];
        self.reads(Some(node.source_xc().start + number), None);
        &self.data.xc[node.xc.clone()]
    }

    /// A group of discrete state.
    ///
    /// # Panics
    /// If the handle belongs to another system.
    #[inline]
    pub fn xd(&self, group: DiscreteState<Vec<T>>) -> &'a [T] {
        let i = self.own("discrete state", group.place);
        let node = &self.plan.nodes[self.system];
        self.reads(Some(node.source_xd(i)), None);
        &self.data.xd[node.xd[i].clone()]
    }

    /// Abstract state.
    ///
    /// # Panics
    /// If the handle belongs to another system.
    #[inline]
    pub fn xa<V: 'static>(&self, state: AbstractState<V>) -> &'a V {
        let i = self.own("abstract state", state.place);
        let node = &self.plan.nodes[self.system];
        self.reads(Some(node.source_xa(i)), None);
        cast(&*self.data.xa[node.xa0 + i])
    }

    /// A parameter.
    ///
    /// # Panics
    /// If the handle belongs to another system.
    #[inline]
    pub fn param<V: 'static>(&self, parameter: Param<V>) -> &'a V {
        let i = self.own("parameter", parameter.place);
        let node = &self.plan.nodes[self.system];
        self.reads(Some(node.source_parameter(i)), None);
        cast(&*self.data.parameters[node.parameter0 + i])
    }
}
