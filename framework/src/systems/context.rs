//! The values of a diagram: flat arrays, changed only through `&mut Context`.
//!
//! Invariant: a value changes only together with the invalidation of everything downstream of it;
//! every `..._mut` below invalidates before it hands out the reference.

use super::cache::Cache;
use super::handles::{
    AbstractState, CacheEntry, ContinuousState, DiscreteState, InputPort, OutputPort, Param, Place,
};
use super::leaf::{Block, LeafSystem};
use super::plan::{ACCURACY, Feed, Plan, TIME};
use super::value::{Value, cast, cast_mut};
use crate::error::ErrorKind;
use crate::{Error, Result, Scalar};
use std::sync::Arc;

/// Computations nest this deep by recursion; beyond it, stale prerequisites are computed in
/// topological order from a list, so that chains of any length fit the stack.
const MAX_RECURSION: u32 = 64;

/// Default accuracy of a context, as in Drake's integrators.
const DEFAULT_ACCURACY: f64 = 1e-3;

/// All values of one diagram: time, state, parameters, fixed inputs and the cache.
///
/// `Send` but not `Sync`: one context per thread; `clone` to fork a simulation.
pub struct Context<T: Scalar> {
    pub(crate) plan: Arc<Plan<T>>,
    pub(crate) data: Data<T>,
}

pub(crate) struct Data<T: Scalar> {
    time: T,
    accuracy: f64,
    pub(crate) xc: Vec<T>,
    pub(crate) xd: Vec<T>,
    xa: Vec<Box<dyn Value>>,
    parameters: Vec<Box<dyn Value>>,
    fixed: Vec<Option<Box<dyn Value>>>,
    cache: Cache,
    frozen: bool,
}

impl<T: Scalar> Clone for Data<T> {
    fn clone(&self) -> Self {
        let boxes = |values: &[Box<dyn Value>]| values.iter().map(|b| (**b).clone_box()).collect();
        let fixed = self
            .fixed
            .iter()
            .map(|f| f.as_ref().map(|b| (**b).clone_box()));
        Self {
            time: self.time,
            accuracy: self.accuracy,
            xc: self.xc.clone(),
            xd: self.xd.clone(),
            xa: boxes(&self.xa),
            parameters: boxes(&self.parameters),
            fixed: fixed.collect(),
            cache: self.cache.clone(),
            frozen: self.frozen,
        }
    }
}

impl<T: Scalar> Clone for Context<T> {
    fn clone(&self) -> Self {
        Self {
            plan: self.plan.clone(),
            data: self.data.clone(),
        }
    }
}

#[inline]
fn eval_slot<'a, T: Scalar>(
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
    if depth > MAX_RECURSION {
        compute_in_order(plan, data, slot)
    } else {
        compute_one(plan, data, slot)
    }
}

/// Runs the calc function of one slot.
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
    filled.map_err(|error| {
        let error = error.at(|| format!("computing '{}'", plan.slot_name(slot)));
        data.cache.set_failure(slot, &error);
        error
    })
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

impl<T: Scalar> Context<T> {
    pub(crate) fn new(plan: Arc<Plan<T>>) -> Self {
        let leaves = &plan.leaves;
        let data = Data {
            time: T::zero(),
            accuracy: DEFAULT_ACCURACY,
            xc: leaves.iter().flat_map(|l| l.xc0.iter().copied()).collect(),
            xd: leaves
                .iter()
                .flat_map(|l| l.xd0.iter().flatten().copied())
                .collect(),
            xa: leaves
                .iter()
                .flat_map(|l| l.xa0.iter().map(|f| f()))
                .collect(),
            parameters: leaves
                .iter()
                .flat_map(|l| l.parameters.iter().map(|f| f()))
                .collect(),
            fixed: plan.feeds.iter().map(|_| None).collect(),
            cache: plan.new_cache(),
            frozen: false,
        };
        Self { plan, data }
    }

    /// System and index of a handle of this diagram.
    #[inline]
    fn locate(&self, what: &str, place: Place) -> Result<(usize, usize)> {
        if place.plan == self.plan.id {
            Ok((place.system as usize, place.index as usize))
        } else {
            Err(self.foreign(what, place))
        }
    }

    #[cold]
    fn foreign(&self, what: &str, place: Place) -> Error {
        ErrorKind::ForeignHandle {
            what: what.into(),
            owner: place.plan.to_string(),
            used_with: format!("a context of {}", self.plan.id),
        }
        .into()
    }

    #[inline]
    fn changed(&mut self, source: usize) {
        self.data.cache.invalidate(self.plan.mask(source));
    }

    /// The window of one system on this context, as its calc functions see it.
    ///
    /// # Errors
    /// If the block belongs to another diagram.
    pub fn leaf<S: LeafSystem<f64>>(&self, block: &Block<S>) -> Result<LeafContext<'_, T>> {
        if block.plan == self.plan.id {
            return Ok(LeafContext::new(self, block.index));
        }
        Err(ErrorKind::ForeignHandle {
            what: "system".into(),
            owner: block.plan.to_string(),
            used_with: format!("a context of {}", self.plan.id),
        }
        .into())
    }

    /// Current value of an output port. While the reference lives nothing can change, so the value
    /// is never stale.
    ///
    /// # Errors
    /// If the computation fails, or if the handle belongs to another diagram.
    #[inline]
    pub fn eval<V: 'static>(&self, output: OutputPort<V>) -> Result<&V> {
        let (system, index) = self.locate("output port", output.place)?;
        let slot = self.plan.nodes[system].slot0 + index;
        eval_slot(&self.plan, &self.data, slot).map(cast)
    }

    /// Serial number of an output's value: 1 before the first computation, one more after each.
    ///
    /// # Errors
    /// If the handle belongs to another diagram.
    pub fn serial<V>(&self, output: OutputPort<V>) -> Result<u64> {
        let (system, index) = self.locate("output port", output.place)?;
        Ok(self
            .data
            .cache
            .serial(self.plan.nodes[system].slot0 + index))
    }

    /// Simulated time (s).
    pub fn time(&self) -> T {
        self.data.time
    }
    /// Sets the time (s); does nothing when it is unchanged.
    pub fn set_time(&mut self, time: T) {
        if time != self.data.time {
            self.data.time = time;
            self.changed(TIME);
        }
    }
    /// Accuracy asked of approximate computations.
    pub fn accuracy(&self) -> f64 {
        self.data.accuracy
    }
    /// Sets the accuracy asked of approximate computations.
    pub fn set_accuracy(&mut self, accuracy: f64) {
        self.data.accuracy = accuracy;
        self.changed(ACCURACY);
    }

    /// Gives an unconnected input port a value.
    ///
    /// # Errors
    /// If the port is connected, if a vector has the wrong length, or if the handle belongs to
    /// another diagram.
    pub fn fix<V: Value + Clone>(&mut self, input: InputPort<V>, value: V) -> Result<()> {
        let (system, index) = self.locate("input port", input.place)?;
        let node = &self.plan.nodes[system];
        let (global, source) = (node.input0 + index, node.source_input(index));
        let declared = &self.plan.leaves[system].inputs[index];
        let why = match (self.plan.feeds[global], declared.size, declared.size_of) {
            (Feed::Slot(slot), ..) => {
                let from = self.plan.slot_name(slot as usize);
                Some(format!("it is connected to '{from}' and can not be fixed"))
            }
            (_, Some(size), Some(size_of)) if size_of(&value) != size => {
                let found = size_of(&value);
                Some(format!("{size} elements are expected, found {found}"))
            }
            _ => None,
        };
        if let Some(why) = why {
            let port = self.plan.input_name(system, index);
            return Err(ErrorKind::FixedInput { port, why }.into());
        }
        self.data.fixed[global] = Some(Box::new(value));
        self.changed(source);
        Ok(())
    }

    /// The elements of a fixed vector input, to change in place.
    ///
    /// # Errors
    /// If the port has no fixed value, or if the handle belongs to another diagram.
    pub fn fixed_mut(&mut self, input: InputPort<Vec<T>>) -> Result<&mut [T]> {
        let (system, index) = self.locate("input port", input.place)?;
        let node = &self.plan.nodes[system];
        let (global, source) = (node.input0 + index, node.source_input(index));
        if self.data.fixed[global].is_none() {
            let port = self.plan.input_name(system, index);
            let why = "it has no fixed value; call `Context::fix` first".into();
            return Err(ErrorKind::FixedInput { port, why }.into());
        }
        self.changed(source);
        let value = self.data.fixed[global].as_mut().expect("checked above");
        Ok(cast_mut::<Vec<T>>(&mut **value))
    }

    /// A parameter.
    ///
    /// # Errors
    /// If the handle belongs to another diagram.
    pub fn param<V: 'static>(&self, parameter: Param<V>) -> Result<&V> {
        let (system, index) = self.locate("parameter", parameter.place)?;
        Ok(cast(
            &*self.data.parameters[self.plan.nodes[system].parameter0 + index],
        ))
    }

    /// A parameter, to change; everything that depends on it is invalidated.
    ///
    /// # Errors
    /// If the handle belongs to another diagram.
    pub fn param_mut<V: 'static>(&mut self, parameter: Param<V>) -> Result<&mut V> {
        let (system, index) = self.locate("parameter", parameter.place)?;
        let node = &self.plan.nodes[system];
        let (global, source) = (node.parameter0 + index, node.source_parameter(index));
        self.changed(source);
        Ok(cast_mut(&mut *self.data.parameters[global]))
    }

    /// Continuous state of one system.
    ///
    /// # Errors
    /// If the handle belongs to another diagram.
    pub fn xc(&self, state: ContinuousState<Vec<T>>) -> Result<&[T]> {
        let (system, _) = self.locate("continuous state", state.place)?;
        Ok(&self.data.xc[self.plan.nodes[system].xc.clone()])
    }

    /// Continuous state of one system, to change.
    ///
    /// # Errors
    /// If the handle belongs to another diagram.
    pub fn xc_mut(&mut self, state: ContinuousState<Vec<T>>) -> Result<&mut [T]> {
        let (system, _) = self.locate("continuous state", state.place)?;
        let node = &self.plan.nodes[system];
        let (range, sources) = (node.xc.clone(), node.source_xc());
        sources.for_each(|source| self.changed(source));
        Ok(&mut self.data.xc[range])
    }

    /// A group of discrete state.
    ///
    /// # Errors
    /// If the handle belongs to another diagram.
    pub fn xd(&self, group: DiscreteState<Vec<T>>) -> Result<&[T]> {
        let (system, index) = self.locate("discrete state", group.place)?;
        Ok(&self.data.xd[self.plan.nodes[system].xd[index].clone()])
    }

    /// A group of discrete state, to change.
    ///
    /// # Errors
    /// If the handle belongs to another diagram.
    pub fn xd_mut(&mut self, group: DiscreteState<Vec<T>>) -> Result<&mut [T]> {
        let (system, index) = self.locate("discrete state", group.place)?;
        let node = &self.plan.nodes[system];
        let (range, source) = (node.xd[index].clone(), node.source_xd(index));
        self.changed(source);
        Ok(&mut self.data.xd[range])
    }

    /// Abstract state.
    ///
    /// # Errors
    /// If the handle belongs to another diagram.
    pub fn xa<V: 'static>(&self, state: AbstractState<V>) -> Result<&V> {
        let (system, index) = self.locate("abstract state", state.place)?;
        Ok(cast(&*self.data.xa[self.plan.nodes[system].xa0 + index]))
    }

    /// Abstract state, to change.
    ///
    /// # Errors
    /// If the handle belongs to another diagram.
    pub fn xa_mut<V: 'static>(&mut self, state: AbstractState<V>) -> Result<&mut V> {
        let (system, index) = self.locate("abstract state", state.place)?;
        let node = &self.plan.nodes[system];
        let (global, source) = (node.xa0 + index, node.source_xa(index));
        self.changed(source);
        Ok(cast_mut(&mut *self.data.xa[global]))
    }

    /// While frozen, reading an out-of-date value is an error instead of a computation.
    pub fn freeze_cache(&mut self, frozen: bool) {
        self.data.frozen = frozen;
    }
    /// Makes every cached value out of date.
    pub fn invalidate_all(&mut self) {
        self.data.cache.invalidate_all();
    }

    // Whole-diagram access for the simulator.

    /// Sets time and all continuous state in one change.
    pub(crate) fn set_time_and_xc(&mut self, time: T, xc: &[T]) {
        self.data.time = time;
        self.data.xc.copy_from_slice(xc);
        self.data.cache.invalidate(self.plan.mask_time_xc());
    }

    /// Swaps in new discrete state; `groups` are the (system, group) pairs that may differ.
    pub(crate) fn swap_xd(&mut self, xd: &mut Vec<T>, systems: impl Iterator<Item = usize>) {
        std::mem::swap(&mut self.data.xd, xd);
        for system in systems {
            let node = &self.plan.nodes[system];
            for group in 0..node.xd.len() {
                self.data
                    .cache
                    .invalidate(self.plan.mask(node.source_xd(group)));
            }
        }
    }

    /// Time derivatives of all continuous state.
    pub(crate) fn time_derivatives(&self, out: &mut [T]) -> Result<()> {
        for (leaf, node) in self.plan.leaves.iter().zip(&self.plan.nodes) {
            if let Some(entry) = leaf.derivatives {
                let slot = node.slot0 + entry as usize;
                let value: &Vec<T> = cast(eval_slot(&self.plan, &self.data, slot)?);
                out[node.xc.clone()].copy_from_slice(value);
            }
        }
        Ok(())
    }
}
