//! Leaf systems and the recording of their declarations: ports, state, parameters, cache entries
//! and events.

mod block;
mod elements;

pub(crate) use block::{AnySystem, Declared, ErasedPorts, EveryScalar, OnlyF64};
pub use block::{Block, DiagramScalar, PrecompiledSystem};

use super::dependency::Dependencies;
use super::event::{
    DiscreteUpdate, EventStatus, ParameterUpdate, StateUpdate, TimedEvent, Trigger,
    WitnessDirection, WitnessFunction,
};
use super::files::FileNames;
use super::handles::{
    AbstractState, CacheEntry, ContinuousState, DiscreteState, InputPort, OutputPort, Param, Place,
    PlanId,
};
use super::plan::{
    ContinuousSizes, Entry, Handler, Input, Leaf, LeafContext, Model, Parameter, VelocityMap,
    Witness,
};
use super::value::{Stored, Value};
use crate::counted::counted;
use crate::random::RandomGenerator;
use crate::{Error, Result, Scalar};
use std::any::{TypeId, type_name};
use std::sync::Arc;

/// A block of a diagram.
///
/// `T` appears in the context, not in the struct, so that one instance serves every scalar that the
/// trait is implemented for. The struct holds structure and constants; everything that changes is
/// declared here and lives in a context.
///
/// ```
/// use tarragon_framework::prelude::*;
///
/// /// y = u^2, element by element.
/// struct Square {
///     size: usize,
/// }
///
/// #[derive(Clone, Copy)]
/// struct SquarePorts<T> {
///     u: InputPort<Vec<T>>,
///     y: OutputPort<Vec<T>>,
/// }
///
/// impl<T: Scalar> LeafSystem<T> for Square {
///     type Ports = SquarePorts<T>;
///     fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
///         let u = d.vector_input("u", self.size);
///         let y = d.vector_output("y", self.size, u, move |_, ctx, y| {
///             for (y, u) in y.iter_mut().zip(ctx.eval(u)?) {
///                 *y = *u * *u;
///             }
///             Ok(())
///         });
///         SquarePorts { u, y }
///     }
/// }
///
/// let mut b = DiagramBuilder::new();
/// let square = b.add("square", Square { size: 2 });
/// let mut ctx = b.build()?.default_context();
/// ctx.fix(square.u, [2.0, 3.0])?;
/// assert_eq!(ctx.eval(square.y)?, &[4.0, 9.0]);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a system of scalars `{T}`",
    note = "`DiagramBuilder::add` needs a system of every scalar (`impl<T: Scalar> LeafSystem<T>`); \
            one of `f64` alone, such as a camera, is added with `add_f64`"
)]
pub trait LeafSystem<T: Scalar>: Send + Sync + Sized + 'static {
    /// Typed handles of everything that other code may access.
    type Ports: Clone + Send + Sync + 'static;
    /// Declares the structure. Closures see `&Self` and a read-only context. The declaration may
    /// depend on `self`, not on `T`. Called once when the system is added to a diagram, and once
    /// when the diagram is converted to another scalar.
    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports;
}

/// Records the declarations of one system.
///
/// ```
/// use tarragon_framework::prelude::*;
///
/// /// y = u / |u|, with the length computed once for all elements.
/// struct Unit;
/// impl<T: Scalar> LeafSystem<T> for Unit {
///     type Ports = (InputPort<Vec<T>>, OutputPort<Vec<T>>);
///     fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
///         let u = d.vector_input("u", 2);
///         let length = d.cache_entry("length", T::zero(), u, move |_, ctx, length| {
///             *length = ctx.eval(u)?.iter().fold(T::zero(), |sum, u| sum + *u * *u).sqrt();
///             Ok(())
///         });
///         let y = d.vector_output("y", 2, (u, length), move |_, ctx, y| {
///             let (u, length) = (ctx.eval(u)?, *ctx.cached(length)?);
///             y.copy_from_slice(&[u[0] / length, u[1] / length]);
///             Ok(())
///         });
///         (u, y)
///     }
/// }
///
/// let mut b = DiagramBuilder::new();
/// let (u, y) = *b.add("unit", Unit).ports();
/// let mut ctx = b.build()?.default_context();
/// ctx.fix(u, [3.0, 4.0])?;
/// assert_eq!(ctx.eval(y)?, &[0.6, 0.8]);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
pub struct Declare<S, T: Scalar> {
    plan: PlanId,
    system: usize,
    this: Arc<S>,
    leaf: Leaf<T>,
}

impl<S: LeafSystem<T>, T: Scalar> Declare<S, T> {
    pub(crate) fn run(
        this: &Arc<S>,
        plan: PlanId,
        system: usize,
        path: &str,
    ) -> (Leaf<T>, S::Ports) {
        let leaf = Leaf {
            path: path.into(),
            inputs: vec![],
            entries: vec![],
            calcs: vec![],
            continuous: ContinuousSizes::default(),
            xc0: vec![],
            derivatives: None,
            velocity_map: None,
            xd0: vec![],
            xa0: vec![],
            parameters: vec![],
            events: vec![],
            element_names: vec![],
            timed: vec![],
            witnesses: vec![],
            random_state: None,
            random_parameters: None,
            files: vec![],
            mistake: None,
        };
        let mut d = Self {
            plan,
            system,
            this: this.clone(),
            leaf,
        };
        let ports = this.declare(&mut d);
        d.check_names();
        (d.leaf, ports)
    }
}

impl<S: Send + Sync + 'static, T: Scalar> Declare<S, T> {
    /// Returns the system that is being declared, for ports that answer questions about it.
    pub fn system(&self) -> &Arc<S> {
        &self.this
    }

    /// Checks that names are unique among inputs, among outputs and among cache entries.
    fn check_names(&mut self) {
        let entries = self.leaf.entries.iter();
        let entries = entries.map(|e| (if e.is_output { "output port" } else { "" }, &*e.name));
        let inputs = self.leaf.inputs.iter().map(|i| ("input port", &*i.name));
        let mut names: Vec<(&str, &str)> = inputs.chain(entries).collect();
        names.sort_unstable();
        let twice = names.windows(2).find(|pair| pair[0] == pair[1]);
        if let Some([(kind, name), _]) = twice {
            let message = format!("{kind} '{name}' is declared twice");
            self.mistake(Error::exists(message.trim_start()));
        }
    }

    /// Declares an input port of any type.
    pub fn input<V: Value>(&mut self, name: &str) -> InputPort<V> {
        self.push_input(name, None)
    }

    /// Declares a vector input port of `size` elements.
    pub fn vector_input(&mut self, name: &str, size: usize) -> InputPort<Vec<T>> {
        self.push_input(name, Some(size))
    }

    fn push_input<V: 'static>(&mut self, name: &str, size: Option<usize>) -> InputPort<V> {
        self.leaf.inputs.push(Input {
            name: name.into(),
            type_id: TypeId::of::<V>(),
            type_name: type_name::<V>(),
            size,
        });
        InputPort::new(self.plan, self.system, self.leaf.inputs.len() - 1)
    }

    fn push_entry<V: Value + Clone>(
        &mut self,
        name: &str,
        is_output: bool,
        size: Option<usize>,
        model: V,
        deps: impl Dependencies,
        calc: impl Fn(&S, &LeafContext<'_, T>, &mut V) -> Result<()> + Send + Sync + 'static,
    ) -> usize {
        let mut list = vec![];
        deps.append_to(&mut list);
        let mut places = list.iter().filter_map(|d| d.place());
        if let Some(place) = places.find(|place| !self.is_own(*place)) {
            self.mistake(Error::foreign(format!(
                "'{name}' depends on a handle of system {} of {}; a system reads other systems through its inputs",
                place.system, place.plan
            )));
        }
        let this = self.this.clone();
        self.leaf.entries.push(Entry {
            name: name.into(),
            is_output,
            type_id: TypeId::of::<V>(),
            type_name: type_name::<V>(),
            size,
            deps: list,
            model: Box::new(move || Stored::new(model.clone())),
        });
        let calc = move |ctx: &LeafContext<'_, T>, out: &mut Stored<T>| {
            calc(&this, ctx, out.get_mut::<V>())
        };
        self.leaf.calcs.push(Box::new(calc));
        self.leaf.entries.len() - 1
    }

    /// Declares an output port of any type. `calc` computes the value in place, starting from the
    /// previous value (`model` at first). The value is cached until one of `deps` changes: handles
    /// such as `u` or `(u, k)`, parts of the context such as [`Dep::Time`](crate::Dep::Time), or
    /// [`Dep::AllSources`](crate::Dep::AllSources), which Drake assumes where nothing is said.
    pub fn output<V: Value + Clone>(
        &mut self,
        name: &str,
        model: V,
        deps: impl Dependencies,
        calc: impl Fn(&S, &LeafContext<'_, T>, &mut V) -> Result<()> + Send + Sync + 'static,
    ) -> OutputPort<V> {
        let entry = self.push_entry(name, true, None, model, deps, calc);
        OutputPort::new(self.plan, self.system, entry)
    }

    /// Declares a vector output port of `size` elements; see [`Declare::output`].
    pub fn vector_output(
        &mut self,
        name: &str,
        size: usize,
        deps: impl Dependencies,
        calc: impl Fn(&S, &LeafContext<'_, T>, &mut [T]) -> Result<()> + Send + Sync + 'static,
    ) -> OutputPort<Vec<T>> {
        let model = vec![T::zero(); size];
        let calc = move |s: &S, ctx: &LeafContext<'_, T>, y: &mut Vec<T>| calc(s, ctx, y);
        let entry = self.push_entry(name, true, Some(size), model, deps, calc);
        OutputPort::new(self.plan, self.system, entry)
    }

    /// Declares a private cached computation; see [`Declare::output`].
    pub fn cache_entry<V: Value + Clone>(
        &mut self,
        name: &str,
        model: V,
        deps: impl Dependencies,
        calc: impl Fn(&S, &LeafContext<'_, T>, &mut V) -> Result<()> + Send + Sync + 'static,
    ) -> CacheEntry<V> {
        let entry = self.push_entry(name, false, None, model, deps, calc);
        CacheEntry::new(self.plan, self.system, entry)
    }

    /// Declares continuous state of `q` positions, `v` velocities and `z` further elements, with
    /// initial values `x0` in this order, and its time derivatives in the same order.
    pub fn continuous_state(
        &mut self,
        (q, v, z): (usize, usize, usize),
        x0: &[T],
        deps: impl Dependencies,
        derivatives: impl Fn(&S, &LeafContext<'_, T>, &mut [T]) -> Result<()> + Send + Sync + 'static,
    ) -> ContinuousState<Vec<T>> {
        if self.leaf.derivatives.is_some() {
            self.mistake(Error::exists("continuous state is declared twice"));
        }
        if q + v + z != x0.len() {
            let n = x0.len();
            self.mistake(Error::invalid(format!(
                "continuous state has {q} + {v} + {elements} but {initial_values}",
                elements = counted(z, "element"),
                initial_values = counted(n, "initial value")
            )));
        }
        self.leaf.continuous = ContinuousSizes { q, v, z };
        self.leaf.xc0 = x0.to_vec();
        let calc = move |s: &S, ctx: &LeafContext<'_, T>, y: &mut Vec<T>| derivatives(s, ctx, y);
        let model = vec![T::zero(); x0.len()];
        let entry = self.push_entry("time_derivatives", false, Some(x0.len()), model, deps, calc);
        self.leaf.derivatives = Some(entry as u32);
        ContinuousState::new(self.plan, self.system, 0)
    }

    /// Declares the maps between velocities and position rates, `qdot = N(q) v` and
    /// `v = N+(q) qdot` (Drake's `MapVelocityToQDot` and `MapQDotToVelocity`). Needed where
    /// `qdot = v` does not hold. Both maps may read the configuration but not the velocities.
    pub fn velocity_map(
        &mut self,
        v_to_qdot: impl Fn(&S, &LeafContext<'_, T>, &[T], &mut [T]) -> Result<()>
        + Send
        + Sync
        + 'static,
        qdot_to_v: impl Fn(&S, &LeafContext<'_, T>, &[T], &mut [T]) -> Result<()>
        + Send
        + Sync
        + 'static,
    ) {
        if self.leaf.velocity_map.is_some() {
            self.mistake(Error::exists("the velocity map is declared twice"));
        }
        let (a, b) = (self.this.clone(), self.this.clone());
        self.leaf.velocity_map = Some(VelocityMap {
            v_to_qdot: Box::new(move |ctx, v, qdot| v_to_qdot(&a, ctx, v, qdot)),
            qdot_to_v: Box::new(move |ctx, qdot, v| qdot_to_v(&b, ctx, qdot, v)),
        });
    }

    /// Declares a group of discrete state with its default values.
    pub fn discrete_state(&mut self, x0: &[T]) -> DiscreteState<Vec<T>> {
        self.leaf.xd0.push(x0.to_vec());
        DiscreteState::new(self.plan, self.system, self.leaf.xd0.len() - 1)
    }

    /// Declares an abstract state with its default value.
    pub fn abstract_state<V: Value + Clone>(&mut self, x0: V) -> AbstractState<V> {
        self.leaf
            .xa0
            .push(Box::new(move || Stored::new(x0.clone())));
        AbstractState::new(self.plan, self.system, self.leaf.xa0.len() - 1)
    }

    /// Declares a parameter, numeric or of any other type, with its default value.
    pub fn param<V: Value + Clone>(&mut self, default: V) -> Param<V> {
        self.push_parameter(false, move || default.clone())
    }

    /// Same as [`Declare::param`], for values whose clones share something (an `Arc`), such as a
    /// log: every new context gets a value made by `default`, and converting a context leaves the
    /// value alone.
    pub fn fresh_param<V: Value + Clone>(
        &mut self,
        default: impl Fn() -> V + Send + Sync + 'static,
    ) -> Param<V> {
        self.push_parameter(true, default)
    }

    fn push_parameter<V: Value + Clone>(
        &mut self,
        per_context: bool,
        default: impl Fn() -> V + Send + Sync + 'static,
    ) -> Param<V> {
        let model: Model<T> = Box::new(move || Stored::new(default()));
        self.leaf.parameters.push(Parameter { model, per_context });
        Param::new(self.plan, self.system, self.leaf.parameters.len() - 1)
    }

    /// Runs `act` on `trigger` as a publish event (side effects outside of the context).
    pub fn publish_on(
        &mut self,
        trigger: Trigger,
        act: impl Fn(&S, &LeafContext<'_, T>) -> Result<EventStatus> + Send + Sync + 'static,
    ) {
        let this = self.this.clone();
        self.push_event(
            trigger,
            Handler::Publish(Box::new(move |ctx| act(&this, ctx))),
        );
    }

    /// Updates discrete state on `trigger`. All updates of a step see the state before the step.
    pub fn discrete_update_on(
        &mut self,
        trigger: Trigger,
        act: impl Fn(&S, &LeafContext<'_, T>, &mut DiscreteUpdate<'_, T>) -> Result<EventStatus>
        + Send
        + Sync
        + 'static,
    ) {
        let this = self.this.clone();
        self.push_event(
            trigger,
            Handler::Discrete(Box::new(move |ctx, x| act(&this, ctx, x))),
        );
    }

    /// Updates any state of the system on `trigger`: continuous, discrete and abstract. Runs before
    /// the discrete updates of the step; all unrestricted updates see the state from before any of
    /// them.
    pub fn unrestricted_update_on(
        &mut self,
        trigger: Trigger,
        act: impl Fn(&S, &LeafContext<'_, T>, &mut StateUpdate<'_, T>) -> Result<EventStatus>
        + Send
        + Sync
        + 'static,
    ) {
        let this = self.this.clone();
        let handler = Handler::Unrestricted(Box::new(move |ctx, x| act(&this, ctx, x)));
        self.push_event(trigger, handler);
    }

    /// Declares event times that the system computes from its context (Drake's
    /// `DoCalcNextUpdateTime`). `next_time` returns the next one (s), not before the current time,
    /// or infinity for none, and is called before each step. An event at the current time happens
    /// at once, so an update must advance the next event time.
    pub fn timed_event(
        &mut self,
        next_time: impl Fn(&S, &LeafContext<'_, T>) -> Result<f64> + Send + Sync + 'static,
    ) -> TimedEvent {
        let this = self.this.clone();
        let next_time = move |ctx: &LeafContext<'_, T>| next_time(&this, ctx);
        self.leaf.timed.push(Box::new(next_time));
        let place = self.place(self.leaf.timed.len() - 1);
        TimedEvent { place }
    }

    /// Declares a witness function: a function of the context whose change of sign during a step
    /// triggers events (Drake's `MakeWitnessFunction`). The simulator isolates the time of the
    /// change to the accuracy of the context, or of error control, and ends the step right after
    /// it. The function is evaluated only at the ends of steps, so two changes within one step go
    /// unseen. Without continuous state, steps reach from event to event.
    pub fn witness_function(
        &mut self,
        name: &str,
        direction: WitnessDirection,
        value: impl Fn(&S, &LeafContext<'_, T>) -> Result<T> + Send + Sync + 'static,
    ) -> WitnessFunction {
        let this = self.this.clone();
        self.leaf.witnesses.push(Witness {
            name: name.into(),
            direction,
            value: Box::new(move |ctx| value(&this, ctx)),
        });
        let place = self.place(self.leaf.witnesses.len() - 1);
        WitnessFunction { place }
    }

    /// Declares how [`Context::set_random_state`](crate::Context::set_random_state) draws the state
    /// of this system (Drake's `SetRandomState`). State that the closure does not set has its
    /// default.
    pub fn random_state(
        &mut self,
        draw: impl Fn(
            &S,
            &LeafContext<'_, T>,
            &mut RandomGenerator,
            &mut StateUpdate<'_, T>,
        ) -> Result<()>
        + Send
        + Sync
        + 'static,
    ) {
        let this = self.this.clone();
        if self.leaf.random_state.is_some() {
            self.mistake(Error::exists("random state is declared twice"));
        }
        let draw =
            move |ctx: &LeafContext<'_, T>,
                  generator: &mut RandomGenerator,
                  x: &mut StateUpdate<'_, T>| draw(&this, ctx, generator, x);
        self.leaf.random_state = Some(Box::new(draw));
    }

    /// Declares how [`Context::set_random_parameters`](crate::Context::set_random_parameters) draws
    /// the parameters of this system (Drake's `SetRandomParameters`). Parameters that the closure
    /// does not set have their defaults.
    pub fn random_parameters(
        &mut self,
        draw: impl Fn(&S, &mut RandomGenerator, &mut ParameterUpdate<'_, T>) -> Result<()>
        + Send
        + Sync
        + 'static,
    ) {
        let this = self.this.clone();
        if self.leaf.random_parameters.is_some() {
            self.mistake(Error::exists("random parameters are declared twice"));
        }
        let draw = move |generator: &mut RandomGenerator, p: &mut ParameterUpdate<'_, T>| {
            draw(&this, generator, p)
        };
        self.leaf.random_parameters = Some(Box::new(draw));
    }

    /// Declares files that the events of this system write. A diagram with two writers of one file
    /// is refused.
    pub fn writes_files(&mut self, names: FileNames) {
        self.leaf.files.push(names);
    }

    fn place(&self, index: usize) -> Place {
        Place {
            plan: self.plan,
            system: self.system as u32,
            index: index as u32,
        }
    }

    fn push_event(&mut self, trigger: Trigger, handler: Handler<T>) {
        if let Trigger::Periodic { period, offset } = trigger {
            let valid = period > 0.0 && period.is_finite() && offset >= 0.0 && offset.is_finite();
            if !valid {
                self.mistake(Error::invalid(format!(
                    "periodic event: the period must be positive and the offset at least 0, both finite, \
                     got period {period:?} s and offset {offset:?} s"
                )));
                return;
            }
        }
        if let Trigger::Timed(TimedEvent { place }) | Trigger::Witness(WitnessFunction { place }) =
            trigger
            && !self.is_own(place)
        {
            self.mistake(Error::foreign(format!(
                "the trigger of an event was declared by system {} of {}; declare it with this system",
                place.system, place.plan
            )));
            return;
        }
        self.leaf.events.push((trigger, handler));
    }

    pub(super) fn is_own(&self, place: Place) -> bool {
        (place.plan, place.system) == (self.plan, self.system as u32)
    }

    pub(super) fn leaf_mut(&mut self) -> &mut Leaf<T> {
        &mut self.leaf
    }

    pub(super) fn mistake(&mut self, error: Error) {
        self.leaf.mistake.get_or_insert(error);
    }
}
