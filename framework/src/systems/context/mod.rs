//! The values of a diagram: flat arrays, changed only through `&mut Context`.
//!
//! Invariant: a value changes only together with the invalidation of everything downstream of it;
//! every `..._mut` below invalidates before it returns the reference.

mod convert;
mod random;
mod text;
mod velocities;

use super::data::{Data, StateCopy};
use super::declare::{Block, LeafSystem};
use super::evaluate::eval_slot;
use super::handles::{
    AbstractState, CacheEntry, ContinuousState, DiscreteState, InputPort, OutputPort, Param, Place,
};
use super::into_value::IntoValue;
use super::plan::{ACCURACY, Feed, LeafContext, Plan, TIME};
use super::port_names;
use super::storage::{CacheMode, CacheStatistics};
use super::value::{Stored, Value, copy, is_same};
use crate::counted::counted;
use crate::error::WiringError;
use crate::{Error, Result, Scalar};
use std::any::type_name;
use std::sync::Arc;

/// All values of one diagram: time, state, parameters, fixed inputs and the cache.
///
/// `Send` but not `Sync`: one context per thread; `clone` to fork a simulation.
///
/// ```
/// use tarragon_framework::{prelude::*, primitives::Gain};
/// let mut b = DiagramBuilder::new();
/// let gain = b.add("gain", Gain::new(1, 2.0));
/// let mut ctx = b.build()?.default_context();
/// ctx.fix(gain.u, 3.0)?;
/// let mut fork = ctx.clone();
/// *fork.param_mut(gain.k)? = 10.0;
/// assert_eq!((ctx.eval(gain.y)?[0], fork.eval(gain.y)?[0]), (6.0, 30.0));
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
pub struct Context<T: Scalar> {
    pub(crate) plan: Arc<Plan<T>>,
    pub(crate) data: Data<T>,
}

impl<T: Scalar> Clone for Context<T> {
    fn clone(&self) -> Self {
        Self {
            plan: self.plan.clone(),
            data: self.data.clone(),
        }
    }
}

impl<T: Scalar> Context<T> {
    pub(crate) fn new(plan: Arc<Plan<T>>) -> Self {
        let StateCopy { xc, xd, xa } = plan.default_state();
        let parameters = plan.leaves.iter().flat_map(|leaf| &leaf.parameters);
        let data = Data {
            time: T::zero(),
            accuracy: None,
            xc,
            xd,
            xa,
            parameters: parameters.map(|p| (p.model)()).collect(),
            fixed: plan.feeds.iter().map(|_| None).collect(),
            cache: plan.new_cache(),
        };
        Self { plan, data }
    }

    /// Returns the view that system number `system` has of this context.
    pub(crate) fn leaf_context(&self, system: usize) -> LeafContext<'_, T> {
        LeafContext::of(&self.plan, &self.data, system)
    }

    /// Returns the system and index of a handle of this diagram.
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
        WiringError::ForeignHandle {
            what: port_names::describe(what, place),
            owner: place.plan.to_string(),
            used_with: format!("a context of {}", self.plan.id),
        }
        .into()
    }

    /// Error for a handle of this diagram over another scalar.
    #[cold]
    fn of_another_scalar<V>(&self, what: &str, place: Place) -> Error {
        Error::foreign(format!(
            "{what} {} of system '{}' was used as {} with a context over {}; a diagram over another \
             scalar has its own handles, see `Diagram::ports`",
            place.index,
            self.plan.leaves[place.system as usize].path,
            type_name::<V>(),
            type_name::<T>()
        ))
    }

    #[inline]
    fn changed(&mut self, source: usize) {
        let Self { plan, data } = self;
        data.cache
            .changed(plan.readers(source), &plan.slot_to_slots);
    }

    /// Returns the view of this context that the calc functions of one system get.
    ///
    /// # Errors
    /// Returns an error if the block belongs to another diagram.
    pub fn leaf<S: LeafSystem<f64>>(&self, block: &Block<S>) -> Result<LeafContext<'_, T>> {
        if block.plan == self.plan.id {
            return Ok(self.leaf_context(block.index));
        }
        Err(WiringError::ForeignHandle {
            what: "system".into(),
            owner: block.plan.to_string(),
            used_with: format!("a context of {}", self.plan.id),
        }
        .into())
    }

    /// Returns the current value of an output port. Nothing can change while the reference lives,
    /// so the value is never stale.
    ///
    /// # Errors
    /// Returns an error if the computation fails, or if the handle belongs to another diagram.
    #[inline]
    pub fn eval<V: 'static>(&self, output: OutputPort<V>) -> Result<&V> {
        let (system, index) = self.locate("output port", output.place)?;
        let slot = self.plan.nodes[system].slot0 + index;
        let value = eval_slot(&self.plan, &self.data, slot)?;
        value
            .try_get()
            .ok_or_else(|| self.of_another_scalar::<V>("output port", output.place))
    }

    /// Returns the current value of an input port, connected or fixed (Drake's `InputPort::Eval`),
    /// or `None` if it is neither.
    ///
    /// ```
    /// use tarragon_framework::{prelude::*, primitives::Gain};
    /// let mut b = DiagramBuilder::new();
    /// let first = b.add("first", Gain::new(1, 2.0));
    /// let second = b.add("second", Gain::new(1, 2.0));
    /// b.connect(first.y, second.u);
    /// let mut ctx = b.build()?.default_context();
    /// assert_eq!(ctx.eval_optional_input(first.u)?, None);
    /// ctx.fix(first.u, 3.0)?;
    /// assert_eq!(ctx.eval_optional_input(second.u)?, Some(&vec![6.0]));
    /// # Ok::<(), tarragon_framework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the computation upstream fails, or if the handle belongs to another
    /// diagram.
    pub fn eval_optional_input<V: 'static>(&self, input: InputPort<V>) -> Result<Option<&V>> {
        let (system, index) = self.locate("input port", input.place)?;
        let value = match self.plan.feeds[self.plan.nodes[system].input0 + index] {
            Feed::Slot(slot) => Some(eval_slot(&self.plan, &self.data, slot as usize)?),
            Feed::Fixed(at) => self.data.fixed[at as usize].as_ref(),
        };
        let Some(value) = value else { return Ok(None) };
        match value.try_get() {
            Some(value) => Ok(Some(value)),
            None => Err(self.of_another_scalar::<V>("input port", input.place)),
        }
    }

    /// Returns the serial number of an output's value: 1 before the first computation, one more
    /// after each.
    ///
    /// # Errors
    /// Returns an error if the handle belongs to another diagram.
    pub fn serial<V>(&self, output: OutputPort<V>) -> Result<u64> {
        let (system, index) = self.locate("output port", output.place)?;
        Ok(self
            .data
            .cache
            .serial(self.plan.nodes[system].slot0 + index))
    }

    /// Returns the simulated time (s).
    pub fn time(&self) -> T {
        self.data.time
    }
    /// Sets the time (s); does nothing if it is unchanged, with its derivatives. A simulation
    /// refuses a time that is not finite.
    pub fn set_time(&mut self, time: T) {
        if !is_same(time, self.data.time) {
            self.data.time = time;
            self.changed(TIME);
        }
    }
    /// Returns the accuracy requested of approximate computations, such as the isolation of witness
    /// functions; with `None` they choose their own.
    pub fn accuracy(&self) -> Option<f64> {
        self.data.accuracy
    }
    /// Sets the accuracy requested of approximate computations.
    pub fn set_accuracy(&mut self, accuracy: Option<f64>) {
        self.data.accuracy = accuracy;
        self.changed(ACCURACY);
    }

    /// Fixes the value of an unconnected input port (Drake's `FixValue`).
    ///
    /// A vector port takes a vector, an array, a slice, or a number as its only element; see
    /// [`IntoValue`].
    ///
    /// Any value of the right type and length is accepted: NaN and infinities are ordinary signals
    /// and pass through systems that compute with them. A system that cannot use a value reports it
    /// when it computes.
    ///
    /// # Errors
    /// Returns an error if the port is connected, if a vector has the wrong length, or if the
    /// handle belongs to another diagram.
    pub fn fix<V: Value + Clone>(
        &mut self,
        input: InputPort<V>,
        value: impl IntoValue<V>,
    ) -> Result<()> {
        self.fix_value(input, value.into_value())
    }

    fn fix_value<V: Value + Clone>(&mut self, input: InputPort<V>, value: V) -> Result<()> {
        let (system, index) = self.locate("input port", input.place)?;
        let value = Stored::new(value);
        let expected = self.plan.input_size(system, index);
        let fail = |why| {
            let port = self.plan.input_name(system, index);
            Err(WiringError::FixedInput { port, why }.into())
        };
        let declared = &self.plan.leaves[system].inputs[index];
        if value.type_id() != declared.type_id {
            let found = type_name::<V>();
            return fail(format!(
                "the value must be of type {}, got {found}; a diagram over another scalar has its own \
                 ports, see `Diagram::ports`",
                declared.type_name
            ));
        }
        match (expected, value.len()) {
            (Some(size), Some(found)) if found != size => {
                return fail(format!(
                    "the value must have {elements}, got {found}",
                    elements = counted(size, "element")
                ));
            }
            _ => {}
        }
        match self.fixed_place(system, index) {
            Ok((at, source)) => {
                self.data.fixed[at] = Some(value);
                self.changed(source);
                Ok(())
            }
            Err(slot) => {
                let from = self.plan.slot_name(slot);
                fail(format!("it is connected to '{from}' and cannot be fixed"))
            }
        }
    }

    /// Returns the index of an input port's fixed value and its source or, as the error, the slot
    /// that the port is connected to.
    #[inline]
    fn fixed_place(&self, system: usize, index: usize) -> Result<(usize, usize), usize> {
        let node = &self.plan.nodes[system];
        let own = node.input0 + index;
        match self.plan.feeds[own] {
            Feed::Slot(slot) => Err(slot as usize),
            Feed::Fixed(at) if at as usize == own => Ok((own, node.source_input(index))),
            Feed::Fixed(at) => {
                let source = self.plan.source_of_input(at as usize);
                Ok((at as usize, source as usize))
            }
        }
    }

    /// Returns the elements of a fixed vector input, to change in place.
    ///
    /// # Errors
    /// Returns an error if the port has no fixed value, or if the handle belongs to another
    /// diagram.
    pub fn fixed_mut(&mut self, input: InputPort<Vec<T>>) -> Result<&mut [T]> {
        let (system, index) = self.locate("input port", input.place)?;
        match self.fixed_place(system, index) {
            Ok((at, source)) if self.data.fixed[at].is_some() => {
                self.changed(source);
                let value = self.data.fixed[at].as_mut().expect("checked above");
                Ok(value.get_mut::<Vec<T>>())
            }
            _ => {
                let port = self.plan.input_name(system, index);
                let why = "it has no fixed value; call `Context::fix` first".into();
                Err(WiringError::FixedInput { port, why }.into())
            }
        }
    }

    /// Returns the value of a parameter.
    ///
    /// # Errors
    /// Returns an error if the handle belongs to another diagram.
    pub fn param<V: 'static>(&self, parameter: Param<V>) -> Result<&V> {
        let (system, index) = self.locate("parameter", parameter.place)?;
        let value = &self.data.parameters[self.plan.nodes[system].parameter0 + index];
        value
            .try_get()
            .ok_or_else(|| self.of_another_scalar::<V>("parameter", parameter.place))
    }

    /// Returns a parameter's value, to change; invalidates everything that depends on it.
    ///
    /// # Errors
    /// Returns an error if the handle belongs to another diagram.
    pub fn param_mut<V: 'static>(&mut self, parameter: Param<V>) -> Result<&mut V> {
        let (system, index) = self.locate("parameter", parameter.place)?;
        let node = &self.plan.nodes[system];
        let (global, source) = (node.parameter0 + index, node.source_parameter(index));
        self.param(parameter)?;
        self.changed(source);
        Ok(self.data.parameters[global].get_mut())
    }

    /// Returns the continuous state of one system.
    ///
    /// # Errors
    /// Returns an error if the handle belongs to another diagram.
    pub fn xc(&self, state: ContinuousState<Vec<T>>) -> Result<&[T]> {
        let (system, _) = self.locate("continuous state", state.place)?;
        Ok(&self.data.xc[self.plan.nodes[system].xc.clone()])
    }

    /// Returns the continuous state of one system, to change.
    ///
    /// # Errors
    /// Returns an error if the handle belongs to another diagram.
    pub fn xc_mut(&mut self, state: ContinuousState<Vec<T>>) -> Result<&mut [T]> {
        let (system, _) = self.locate("continuous state", state.place)?;
        let node = &self.plan.nodes[system];
        let (range, sources) = (node.xc.clone(), node.source_xc());
        sources.for_each(|source| self.changed(source));
        Ok(&mut self.data.xc[range])
    }

    /// Returns a group of discrete state.
    ///
    /// # Errors
    /// Returns an error if the handle belongs to another diagram.
    pub fn xd(&self, group: DiscreteState<Vec<T>>) -> Result<&[T]> {
        let (system, index) = self.locate("discrete state", group.place)?;
        Ok(&self.data.xd[self.plan.nodes[system].xd[index].clone()])
    }

    /// Returns a group of discrete state, to change.
    ///
    /// # Errors
    /// Returns an error if the handle belongs to another diagram.
    pub fn xd_mut(&mut self, group: DiscreteState<Vec<T>>) -> Result<&mut [T]> {
        let (system, index) = self.locate("discrete state", group.place)?;
        let node = &self.plan.nodes[system];
        let (range, source) = (node.xd[index].clone(), node.source_xd(index));
        self.changed(source);
        Ok(&mut self.data.xd[range])
    }

    /// Returns an abstract state value.
    ///
    /// # Errors
    /// Returns an error if the handle belongs to another diagram.
    pub fn xa<V: 'static>(&self, state: AbstractState<V>) -> Result<&V> {
        let (system, index) = self.locate("abstract state", state.place)?;
        let value = &self.data.xa[self.plan.nodes[system].xa0 + index];
        value
            .try_get()
            .ok_or_else(|| self.of_another_scalar::<V>("abstract state", state.place))
    }

    /// Returns an abstract state value, to change.
    ///
    /// # Errors
    /// Returns an error if the handle belongs to another diagram.
    pub fn xa_mut<V: 'static>(&mut self, state: AbstractState<V>) -> Result<&mut V> {
        let (system, index) = self.locate("abstract state", state.place)?;
        let node = &self.plan.nodes[system];
        let (global, source) = (node.xa0 + index, node.source_xa(index));
        self.xa(state)?;
        self.changed(source);
        Ok(self.data.xa[global].get_mut())
    }

    /// Freezes or unfreezes the cache. While it is frozen, reading a stale value is an error
    /// instead of a computation.
    pub fn freeze_cache(&mut self, frozen: bool) {
        self.data.cache.set_frozen(frozen);
    }
    /// Turns caching on or off, or on with verification of every value used.
    pub fn set_cache_mode(&mut self, mode: CacheMode) {
        self.data.cache.set_mode(mode);
    }
    /// Turns the check of dependencies on or off: a computation fails if it reads something that it
    /// did not declare, because its value would go stale. The check is on in debug builds, and in
    /// all contexts of a program that starts with `TARRAGON_CHECK_DEPENDENCIES=1` in its
    /// environment. All values count as changed, so that every computation is checked.
    ///
    /// ```
    /// use tarragon_framework::prelude::*;
    /// let mut b = DiagramBuilder::new();
    /// let clock = b.add_f64("clock", Clock);
    /// let mut ctx = b.build()?.default_context();
    /// ctx.check_dependencies(true);
    /// let error = ctx.eval(*clock).unwrap_err().to_string();
    /// assert!(error.contains("it reads the time without declaring it"));
    ///
    /// struct Clock;
    /// impl LeafSystem<f64> for Clock {
    ///     type Ports = OutputPort<Vec<f64>>;
    ///     fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
    ///         // It should be `Dep::Time`.
    ///         d.vector_output("y", 1, Dep::Nothing, |_, ctx, y| {
    ///             y[0] = ctx.time();
    ///             Ok(())
    ///         })
    ///     }
    /// }
    /// # Ok::<(), tarragon_framework::Error>(())
    /// ```
    pub fn check_dependencies(&mut self, on: bool) {
        self.data.cache.set_checks_reads(on);
        self.invalidate_all();
    }
    /// Turns caching off for this output port (Drake's `DisableCaching`); see [`CacheMode::Off`].
    ///
    /// ```
    /// use tarragon_framework::{prelude::*, primitives::Gain};
    /// let mut b = DiagramBuilder::new();
    /// let gain = b.add("gain", Gain::new(1, 2.0));
    /// let mut ctx = b.build()?.default_context();
    /// ctx.fix(gain.u, 3.0)?;
    /// ctx.disable_caching(gain.y)?;
    /// for _ in 0..2 {
    ///     ctx.eval(gain.y)?;
    /// }
    /// assert_eq!(ctx.cache_statistics().computations, 2);
    /// # Ok::<(), tarragon_framework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the handle belongs to another diagram.
    pub fn disable_caching<V>(&mut self, output: OutputPort<V>) -> Result<()> {
        self.set_caching("output port", output.place, true)
    }
    /// Turns caching on again for this output port (Drake's `EnableCaching`).
    ///
    /// # Errors
    /// Returns an error if the handle belongs to another diagram.
    pub fn enable_caching<V>(&mut self, output: OutputPort<V>) -> Result<()> {
        self.set_caching("output port", output.place, false)
    }
    /// Same as [`Context::disable_caching`], for a cache entry.
    ///
    /// # Errors
    /// Returns an error if the handle belongs to another diagram.
    pub fn disable_caching_of<V>(&mut self, entry: CacheEntry<V>) -> Result<()> {
        self.set_caching("cache entry", entry.place, true)
    }
    /// Same as [`Context::enable_caching`], for a cache entry.
    ///
    /// # Errors
    /// Returns an error if the handle belongs to another diagram.
    pub fn enable_caching_of<V>(&mut self, entry: CacheEntry<V>) -> Result<()> {
        self.set_caching("cache entry", entry.place, false)
    }
    fn set_caching(&mut self, what: &str, place: Place, disabled: bool) -> Result<()> {
        let (system, index) = self.locate(what, place)?;
        let slot = self.plan.nodes[system].slot0 + index;
        self.data.cache.set_disabled(slot, disabled);
        Ok(())
    }
    /// Returns the counters of the cache.
    pub fn cache_statistics(&self) -> CacheStatistics {
        self.data.cache.statistics()
    }
    /// Makes every cached value stale.
    pub fn invalidate_all(&mut self) {
        self.data.cache.invalidate_all();
    }

    // Whole-diagram access for the simulator.

    /// Sets time and all continuous state in one change.
    pub(crate) fn set_time_and_xc(&mut self, time: T, xc: &[T]) {
        copy(self.set_time_and_change_xc(time), xc);
    }

    /// Sets the time and returns all continuous state, to change in place.
    #[inline(always)]
    pub(crate) fn set_time_and_change_xc(&mut self, time: T) -> &mut [T] {
        self.data.cache.invalidate(self.plan.mask_time_xc());
        self.data.time = time;
        &mut self.data.xc
    }

    /// Sets all discrete state.
    pub(crate) fn set_xd(&mut self, xd: &[T]) {
        self.data.xd.copy_from_slice(xd);
        self.invalidate_all();
    }

    /// Computes the time derivatives of all continuous state.
    pub(crate) fn time_derivatives(&self, out: &mut [T]) -> Result<()> {
        for part in &self.plan.continuous {
            let value: &Vec<T> = eval_slot(&self.plan, &self.data, part.slot)?.get();
            copy(&mut out[part.xc.clone()], value);
        }
        Ok(())
    }
}
