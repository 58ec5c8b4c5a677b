//! Evaluation of slots, and what a calc function reads through its [`LeafContext`].

use super::data::Data;
use super::handles::{
    AbstractState, CacheEntry, DiscreteState, InputPort, OutputPort, Param, Place, PlanId,
};
use super::plan::{ACCURACY, CalcFn, Computation, Feed, LeafContext, Plan, TIME};
use super::value::Stored;
use crate::error::WiringError;
use crate::{Error, Result, Scalar};

/// Maximum depth of recursive evaluation. Beyond it, stale prerequisites are computed in
/// topological order from a list, so that chains of any length fit the stack. Deeper recursion is
/// also slower (a chain of gains takes 44 instead of 36 ns per gain at a depth of 64), because
/// processors predict only few nested returns.
const MAX_RECURSION: u32 = 8;

/// Limit of the recursion while caching is off; fits a thread's stack (2 MiB) in debug builds.
const MAX_UNCACHED_RECURSION: u32 = 500;

#[inline(always)]
pub(crate) fn eval_slot<'a, T: Scalar>(
    plan: &'a Plan<T>,
    data: &'a Data<T>,
    slot: usize,
) -> Result<&'a Stored<T>> {
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
) -> Result<&'a Stored<T>> {
    let (_running, depth) = data.cache.begin();
    if !data.cache.is_plain() {
        compute_specially(plan, data, slot, depth)
    } else if depth > MAX_RECURSION {
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
) -> Result<&'a Stored<T>> {
    let (calc, ctx) = computation(plan, data, slot);
    let filled = data.cache.fill(slot, |out| checked(calc, &ctx, out));
    filled.map_err(|error| failed(plan, data, slot, error))
}

/// Same as `compute_one`, in modes that refuse computations.
fn compute_unless_refused<'a, T: Scalar>(
    plan: &'a Plan<T>,
    data: &'a Data<T>,
    slot: usize,
) -> Result<&'a Stored<T>> {
    let (calc, ctx) = computation(plan, data, slot);
    let filled = data.cache.fill(slot, |out| {
        checked(calc, &ctx, out).and_then(|()| data.cache.check_refusals())
    });
    filled.map_err(|error| failed(plan, data, slot, error))
}

/// Runs a calc function. If reads are checked, fails if it read something that it did not declare.
#[inline(always)]
fn checked<T: Scalar>(
    calc: &CalcFn<T>,
    ctx: &LeafContext<'_, T>,
    out: &mut Stored<T>,
) -> Result<()> {
    let result = calc(ctx, out);
    match ctx.checked_slot {
        Some(slot) => ctx.data.cache.check_declared(slot).and(result),
        None => result,
    }
}

/// Returns the calc function of a slot and the context that it sees.
#[inline(always)]
fn computation<'a, T: Scalar>(
    plan: &'a Plan<T>,
    data: &'a Data<T>,
    slot: usize,
) -> (&'a CalcFn<T>, LeafContext<'a, T>) {
    let Computation { system, calc } = &plan.computations[slot];
    let ctx = LeafContext {
        plan,
        data,
        node: &plan.nodes[*system as usize],
        plan_id: plan.id,
        system: *system,
        checked_slot: data.cache.checks_reads().then_some(slot as u32),
    };
    (calc, ctx)
}

/// Adds the slot's name to an error and remembers the failure.
#[cold]
fn failed<T: Scalar>(plan: &Plan<T>, data: &Data<T>, slot: usize, error: Error) -> Error {
    let error = error.locate(Some(plan.system_of(slot)), || {
        format!("computing '{}'", plan.slot_name(slot))
    });
    data.cache.set_failure(slot, &error);
    error
}

/// Computes a slot after a failure, or while the cache is frozen, off or verifying.
#[cold]
fn compute_specially<'a, T: Scalar>(
    plan: &'a Plan<T>,
    data: &'a Data<T>,
    slot: usize,
    depth: u32,
) -> Result<&'a Stored<T>> {
    let cache = &data.cache;
    if depth > 1
        && let Some(error) = cache.failure(slot)
    {
        return Err(error);
    }
    let kept = cache.kept(slot);
    if cache.is_frozen() && kept.is_none() {
        let entry = plan.slot_name(slot);
        return Err(WiringError::Frozen { entry }.into());
    }
    let is_off = cache.is_off(slot);
    if depth > MAX_UNCACHED_RECURSION && (is_off || cache.verifies()) {
        return Err(cache.refuse(Error::unsupported(format!(
            "'{}' ends a chain of more than {MAX_UNCACHED_RECURSION} computations, which is too deep \
             without caching or with verification; use `CacheMode::On`",
            plan.slot_name(slot)
        )).located()));
    }
    let afresh = || {
        let (calc, ctx) = computation(plan, data, slot);
        let value = cache.compute_afresh(slot, |out| {
            checked(calc, &ctx, out).and_then(|()| cache.check_refusals())
        });
        value.map_err(|error| failed(plan, data, slot, error))
    };
    match kept {
        _ if is_off => afresh(),
        Some(kept) => {
            if cache.begin_verification(slot) {
                check_same(plan, slot, kept, afresh()?)
                    .map_err(|error| failed(plan, data, slot, error))?;
            }
            Ok(kept)
        }
        None if depth > MAX_RECURSION && !cache.verifies() => compute_in_order(plan, data, slot),
        None => compute_unless_refused(plan, data, slot),
    }
}

/// Compares a kept value with a recomputed one, numbers to the bit.
fn check_same<T: Scalar>(
    plan: &Plan<T>,
    slot: usize,
    kept: &Stored<T>,
    now: &Stored<T>,
) -> Result<()> {
    // As text, because equality of dual numbers ignores derivatives and NaN equals nothing.
    let text = |x: &Stored<T>| x.numbers().map(|x| format!("{x:?}"));
    let (kept, now) = (text(kept), text(now));
    if kept == now {
        return Ok(());
    }
    Err(Error::state(format!(
        "'{}' is cached as {} but now computes to {}: it reads something that it does not declare, or \
         that is not in the context",
        plan.slot_name(slot),
        kept.unwrap_or_default(),
        now.unwrap_or_default()
    ))
    .located())
}

/// Computes a slot after its stale prerequisites, without recursion.
fn compute_in_order<'a, T: Scalar>(
    plan: &'a Plan<T>,
    data: &'a Data<T>,
    slot: usize,
) -> Result<&'a Stored<T>> {
    // Pairs of a slot and the number of its prerequisites that are settled.
    let mut stack = data.cache.take_stack();
    stack.clear();
    stack.push((slot as u32, 0));
    let mut result = None;
    while let Some((top, done)) = stack.last_mut() {
        let top = *top as usize;
        let reads = plan.prerequisites.of(top);
        while (*done as usize) < reads.len()
            && data.cache.is_settled(reads[*done as usize] as usize)
        {
            *done += 1;
        }
        if let Some(next) = reads.get(*done as usize) {
            stack.push((*next, 0));
        } else {
            // A failure is remembered; the calc functions that need the value will see it.
            result = Some(compute_unless_refused(plan, data, top));
            stack.pop();
        }
    }
    data.cache.return_stack(stack);
    result.expect("the slot itself was computed last")
}

impl<'a, T: Scalar> LeafContext<'a, T> {
    /// Records undeclared reads, if these are checked. They fail the computation, because its value
    /// would go stale.
    #[inline]
    fn reads(&self, source: Option<usize>, other: Option<usize>) {
        if let Some(slot) = self.checked_slot
            && !self.plan.is_declared(slot as usize, source, other)
        {
            let what = match (source, other) {
                (Some(source), _) => self.plan.describe_source(self.system as usize, source),
                (None, other) => other.map_or_else(String::new, |slot| self.plan.slot_name(slot)),
            };
            self.data.cache.note_undeclared(slot, what);
        }
    }

    #[cold]
    #[inline(never)]
    fn foreign(&self, what: &str, plan: PlanId, system: u32) -> Error {
        WiringError::ForeignHandle {
            what: what.into(),
            owner: format!("system {system} of {plan}"),
            used_with: format!(
                "system {} ('{}') of {}",
                self.system,
                self.path(),
                self.plan_id
            ),
        }
        .into()
    }

    /// Returns the index of a handle of this system.
    ///
    /// # Panics
    /// Panics if the handle belongs to another system: a leaf can hold foreign handles only by a
    /// programming error, so this is a broken internal invariant rather than a user error.
    #[inline]
    #[track_caller]
    fn own(&self, what: &str, place: Place) -> usize {
        if place.plan != self.plan_id || place.system != self.system {
            panic!("{}", self.foreign(what, place.plan, place.system));
        }
        place.index as usize
    }

    /// Returns the path of the system, for messages.
    pub fn path(&self) -> &'a str {
        &self.plan.leaves[self.system as usize].path
    }
    /// Returns the simulated time (s).
    #[inline]
    pub fn time(&self) -> T {
        self.reads(Some(TIME), None);
        self.data.time
    }
    /// Returns the accuracy requested of approximate computations.
    #[inline]
    pub fn accuracy(&self) -> Option<f64> {
        self.reads(Some(ACCURACY), None);
        self.data.accuracy
    }

    /// Returns the value of an input port, computed upstream if it is stale.
    ///
    /// # Errors
    /// Returns an error if the port is neither connected nor fixed, if the computation upstream
    /// fails, or if the handle belongs to another system.
    #[inline(always)]
    pub fn eval<V: 'static>(&self, input: InputPort<V>) -> Result<&'a V> {
        match self.input(input.place)? {
            Some(value) => Ok(value.get()),
            None => Err(self.unconnected(input.place.index)),
        }
    }

    /// Returns the value of an optional input port, or `None` if it is neither connected nor fixed.
    ///
    /// # Errors
    /// Returns an error if the computation upstream fails, or if the handle belongs to another
    /// system.
    #[inline]
    pub fn eval_optional<V: 'static>(&self, input: InputPort<V>) -> Result<Option<&'a V>> {
        Ok(self.input(input.place)?.map(Stored::get))
    }

    #[inline(always)]
    fn input(&self, place: Place) -> Result<Option<&'a Stored<T>>> {
        if place.plan != self.plan_id || place.system != self.system {
            return Err(self.foreign("input port", place.plan, place.system));
        }
        let (node, index) = (self.node, place.index as usize);
        self.reads(Some(node.source_input(index)), None);
        match self.plan.feeds[node.input0 + index] {
            Feed::Slot(slot) => eval_slot(self.plan, self.data, slot as usize).map(Some),
            Feed::Fixed(input) => Ok(self.data.fixed[input as usize].as_ref()),
        }
    }

    #[cold]
    #[inline(never)]
    fn unconnected(&self, input: u32) -> Error {
        let port = self.plan.input_name(self.system as usize, input as usize);
        WiringError::Unconnected { port }.into()
    }

    /// Returns the value of a cache entry of this system.
    ///
    /// # Errors
    /// Returns an error if its computation fails.
    ///
    /// # Panics
    /// Panics if the handle belongs to another system.
    #[inline]
    pub fn cached<V: 'static>(&self, entry: CacheEntry<V>) -> Result<&'a V> {
        let slot = self.node.slot0 + self.own("cache entry", entry.place);
        self.reads(None, Some(slot));
        eval_slot(self.plan, self.data, slot).map(Stored::get)
    }

    /// Returns the value of an output port of this system.
    ///
    /// # Errors
    /// Returns an error if its computation fails.
    ///
    /// # Panics
    /// Panics if the handle belongs to another system.
    #[inline]
    pub fn output<V: 'static>(&self, output: OutputPort<V>) -> Result<&'a V> {
        let slot = self.node.slot0 + self.own("output port", output.place);
        self.reads(None, Some(slot));
        eval_slot(self.plan, self.data, slot).map(Stored::get)
    }

    /// Returns the continuous state: positions q, then velocities v, then miscellaneous state z.
    #[inline]
    pub fn xc(&self) -> &'a [T] {
        let node = self.node;
        let sizes = self.node.continuous;
        for (source, size) in node.source_xc().zip([sizes.q, sizes.v, sizes.z]) {
            if size > 0 {
                self.reads(Some(source), None);
            }
        }
        &self.data.xc[node.xc.clone()]
    }

    /// Returns the generalized positions q of the continuous state.
    #[inline]
    pub fn q(&self) -> &'a [T] {
        let q = self.node.continuous.q;
        &self.part(0)[..q]
    }
    /// Returns the generalized velocities v of the continuous state.
    #[inline]
    pub fn v(&self) -> &'a [T] {
        let sizes = self.node.continuous;
        &self.part(1)[sizes.q..sizes.q + sizes.v]
    }
    /// Returns the miscellaneous continuous state z.
    #[inline]
    pub fn z(&self) -> &'a [T] {
        let sizes = self.node.continuous;
        &self.part(2)[sizes.q + sizes.v..]
    }
    /// Returns all continuous state, recording the read of one part only: 0 for q, 1 for v, 2 for
    /// z.
    #[inline]
    fn part(&self, number: usize) -> &'a [T] {
        let node = self.node;
        self.reads(Some(node.source_xc().start + number), None);
        &self.data.xc[node.xc.clone()]
    }

    /// Returns a group of discrete state.
    ///
    /// # Panics
    /// Panics if the handle belongs to another system.
    #[inline]
    pub fn xd(&self, group: DiscreteState<Vec<T>>) -> &'a [T] {
        let i = self.own("discrete state", group.place);
        let node = self.node;
        self.reads(Some(node.source_xd(i)), None);
        &self.data.xd[node.xd[i].clone()]
    }

    /// Returns an abstract state value.
    ///
    /// # Panics
    /// Panics if the handle belongs to another system.
    #[inline]
    pub fn xa<V: 'static>(&self, state: AbstractState<V>) -> &'a V {
        let i = self.own("abstract state", state.place);
        let node = self.node;
        self.reads(Some(node.source_xa(i)), None);
        self.data.xa[node.xa0 + i].get()
    }

    /// Returns the value of a parameter.
    ///
    /// # Panics
    /// Panics if the handle belongs to another system.
    #[inline]
    pub fn param<V: 'static>(&self, parameter: Param<V>) -> &'a V {
        let i = self.own("parameter", parameter.place);
        let node = self.node;
        self.reads(Some(node.source_parameter(i)), None);
        self.data.parameters[node.parameter0 + i].get()
    }
}
