//! The simulator, which advances a context through time.

mod schedule;
mod settings;
mod witness;

use crate::simulation::config::SimulatorConfig;
use crate::simulation::integrator::control::Driver;
use crate::simulation::integrator::{IntegratorStatistics, RungeKutta3};
use crate::simulation::pace::{InterruptHandle, Pace};
use crate::systems::dispatch::{Dispatcher, Outcome};
use crate::systems::event::EventStatus;
use crate::systems::event_table::{FORCED, INITIALIZATION, PER_STEP};
use crate::{Context, Diagram, Error, Result, Scalar};

/// First step (s) of a simulator without configuration, as in Drake.
const DEFAULT_FIRST_STEP: f64 = 1e-4;

/// Reason why [`Simulator::advance_to`] returned.
///
/// ```
/// use tarragon_framework::prelude::*;
/// let diagram = DiagramBuilder::new().build()?;
/// let mut sim = Simulator::new(&diagram, diagram.default_context())?;
/// assert_eq!(sim.advance_to(1.0)?, SimulatorStatus::ReachedBoundaryTime);
/// sim.set_monitor(|_| {
///     let reason = "seen enough".into();
///     Ok(EventStatus::ReachedTermination { reason })
/// });
/// let reason = "seen enough".into();
/// assert_eq!(sim.advance_to(2.0)?, SimulatorStatus::ReachedTermination { reason });
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SimulatorStatus {
    /// The requested time was reached.
    ReachedBoundaryTime,
    /// An event or the monitor asked to stop.
    ReachedTermination {
        /// Reason given by the event or the monitor.
        reason: String,
    },
    /// An [`InterruptHandle`] requested a stop between two steps; the next `advance_to` continues
    /// from there.
    Interrupted,
}

type Monitor<T> = Box<dyn FnMut(&Context<T>) -> Result<EventStatus> + Send>;

/// Counters of a simulator's work.
///
/// ```
/// use tarragon_framework::{prelude::*, primitives::ZeroOrderHold};
/// let mut b = DiagramBuilder::new();
/// let hold = b.add("hold", ZeroOrderHold::new(1, 0.25, 0.0));
/// let diagram = b.build()?;
/// let mut ctx = diagram.default_context();
/// ctx.fix(hold.u, 0.0)?;
/// let mut sim = Simulator::new(&diagram, ctx)?;
/// sim.advance_to(1.0)?; // updates at 0, 0.25, 0.5 and 0.75 s
/// assert_eq!(sim.statistics().discrete_updates, 4);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SimulatorStatistics {
    /// Steps taken.
    pub steps: u64,
    /// Times at which publish events were dispatched, regardless of how many fired together.
    pub publishes: u64,
    /// Times at which discrete updates were dispatched, regardless of how many fired together.
    pub discrete_updates: u64,
    /// Times at which unrestricted updates were dispatched, regardless of how many fired together.
    pub unrestricted_updates: u64,
    /// Steps that were ended by witness functions.
    pub witness_triggers: u64,
}

/// Options of [`Simulator::initialize_with`] (Drake's `InitializeParams`).
///
/// ```
/// use tarragon_framework::{InitializeOptions, prelude::*};
///
/// /// Counts its initializations.
/// struct Count;
/// impl<T: Scalar> LeafSystem<T> for Count {
///     type Ports = DiscreteState<Vec<T>>;
///     fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
///         let n = d.discrete_state(&[T::zero()]);
///         d.discrete_update_on(Trigger::Initialization, move |_, _, next| {
///             next.get_mut(n)[0] += T::one();
///             Ok(EventStatus::Succeeded)
///         });
///         n
///     }
/// }
/// # let mut b = DiagramBuilder::new();
/// # let n = *b.add("count", Count).ports();
/// # let diagram = b.build()?;
/// # let mut sim = Simulator::new(&diagram, diagram.default_context())?;
/// sim.initialize()?;
/// sim.initialize_with(InitializeOptions::suppress_initialization_events())?;
/// assert_eq!(sim.context().xd(n)?, [1.0]);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct InitializeOptions {
    /// Skips initialization events, to continue with a context that has already had them.
    pub suppress_initialization_events: bool,
}

impl InitializeOptions {
    /// Creates options without initialization events.
    pub fn suppress_initialization_events() -> Self {
        Self {
            suppress_initialization_events: true,
        }
    }
}

/// Owner of a context that advances it through time: discrete updates, integration, publishes and
/// monitor, in Drake's step order.
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::{ConstantVectorSource, Integrator};
///
/// let mut b = DiagramBuilder::new();
/// let speed = b.add("speed", ConstantVectorSource::new(vec![2.0]));
/// let position = b.add("position", Integrator::new(1));
/// b.connect(speed.y, position.u);
/// let diagram = b.build()?;
/// let mut sim = Simulator::new(&diagram, diagram.default_context())?;
/// sim.advance_to(3.0)?;
/// assert!((sim.context().eval(position.y)?[0] - 6.0).abs() < 1e-12);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
pub struct Simulator<T: Scalar> {
    pub(super) context: Context<T>,
    pub(super) driver: Driver<T>,
    initialized: bool,
    /// True if the updates before the next step were already made, by a call that failed later.
    updated: bool,
    /// Event sets due now, found at the end of the previous step.
    pub(super) due: Vec<u32>,
    /// Per period, the last time (s) for which the next event was computed, and the result.
    pub(super) next_times: Vec<(f64, f64)>,
    /// Work space for witness functions.
    watch: witness::Watch<T>,
    dispatcher: Dispatcher<T>,
    /// Event sets being dispatched.
    sets: Vec<u32>,
    monitor: Option<Monitor<T>>,
    pace: Pace,
    publish_every_time_step: bool,
    pub(super) statistics: SimulatorStatistics,
}

impl<T: Scalar> Simulator<T> {
    /// Creates a simulator that starts from `context`. The integrator is that of
    /// [`SimulatorConfig::default`] with a first step of 0.1 ms, as in Drake.
    ///
    /// # Errors
    /// Returns an error if the context was made by another diagram.
    pub fn new(diagram: &Diagram<T>, context: Context<T>) -> Result<Self> {
        diagram.owns(&context)?;
        let limits = SimulatorConfig::default().limits()?;
        let integrator = Box::new(RungeKutta3::new());
        Ok(Self {
            next_times: vec![(f64::NAN, f64::NAN); context.plan.events.periodic.len()],
            context,
            driver: Driver::new(diagram.clone(), integrator, DEFAULT_FIRST_STEP, limits),
            initialized: false,
            updated: false,
            due: vec![],
            watch: witness::Watch::default(),
            dispatcher: Dispatcher::new(),
            sets: vec![],
            monitor: None,
            pace: Pace::default(),
            publish_every_time_step: false,
            statistics: SimulatorStatistics::default(),
        })
    }

    /// Slows the simulation down to `rate` seconds simulated per second; 0 for as fast as possible.
    ///
    /// # Errors
    /// Returns an error if the rate is negative or not finite.
    pub fn set_target_realtime_rate(&mut self, rate: f64) -> Result<()> {
        self.pace = self.pace.with_target(rate)?;
        Ok(())
    }
    /// Returns the seconds simulated per second since initialization or
    /// [`Simulator::reset_statistics`]; NaN before initialization.
    pub fn actual_realtime_rate(&self) -> f64 {
        self.pace.actual_rate(self.context.time().re())
    }
    /// Returns a handle that stops this simulator from another thread.
    pub fn interrupt_handle(&self) -> InterruptHandle {
        self.pace.interrupt_handle()
    }
    /// Makes every step end with forced publish events, or not.
    pub fn set_publish_every_time_step(&mut self, publish: bool) {
        self.publish_every_time_step = publish;
    }

    /// Sets a monitor, which is called at the end of initialization and of each step.
    pub fn set_monitor(
        &mut self,
        monitor: impl FnMut(&Context<T>) -> Result<EventStatus> + Send + 'static,
    ) {
        self.monitor = Some(Box::new(monitor));
    }

    /// Returns the current values.
    pub fn context(&self) -> &Context<T> {
        &self.context
    }
    /// Returns the current values, to change between calls. Call [`Simulator::initialize`] after
    /// changing the time.
    pub fn context_mut(&mut self) -> &mut Context<T> {
        &mut self.context
    }
    /// Removes the monitor.
    pub fn clear_monitor(&mut self) {
        self.monitor = None;
    }
    /// Ends the simulation and returns its context.
    pub fn into_context(self) -> Context<T> {
        self.context
    }
    /// Returns the counters of the simulator.
    pub fn statistics(&self) -> SimulatorStatistics {
        self.statistics
    }
    /// Resets the counters, including those of the realtime rate.
    pub fn reset_statistics(&mut self) {
        self.statistics = SimulatorStatistics::default();
        self.driver.statistics = IntegratorStatistics::default();
        self.pace.start(self.context.time().re());
    }

    /// Initializes with default options, see [`Simulator::initialize_with`].
    /// [`Simulator::advance_to`] calls it if nobody has.
    ///
    /// # Errors
    /// Returns the first error of an event or of the monitor.
    pub fn initialize(&mut self) -> Result<SimulatorStatus> {
        self.initialize_with(InitializeOptions::default())
    }

    /// Runs initialization events, then the per-step and timed publishes due at the start time. May
    /// be called again after the context was changed by hand: events start anew from its time.
    ///
    /// # Errors
    /// Returns the first error of an event or of the monitor, with the time. Also returns an error
    /// if the time of the context is not finite.
    pub fn initialize_with(&mut self, options: InitializeOptions) -> Result<SimulatorStatus> {
        let _span = tracing::debug_span!("Simulator::initialize").entered();
        self.driver.jacobians.diagram().owns(&self.context)?;
        self.check_time(None)?;
        let status = self.start(options);
        status.map_err(|error| self.context.explain(error))
    }

    /// Checks the time of the context, which its owner may have set to anything. A simulation that
    /// has reached an infinite boundary may stay there.
    fn check_time(&self, boundary: Option<f64>) -> Result<()> {
        let now = self.context.time().re();
        if now.is_finite() || boundary == Some(now) {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "Simulator: the time of the context must be finite, got {now:?} s; set it with \
             `Context::set_time`"
        )))
    }

    fn start(&mut self, options: InitializeOptions) -> Result<SimulatorStatus> {
        let mut outcome = Outcome::default();
        (self.initialized, self.updated) = (false, false);
        self.due.clear();
        self.sets.clear();
        if !options.suppress_initialization_events {
            self.sets.push(INITIALIZATION);
        }
        self.updates(&mut outcome)?;
        self.find_due_now()?;
        self.initialized = true;
        self.pace.start(self.context.time().re());
        self.sets.push(PER_STEP);
        self.sets.extend_from_slice(&self.due);
        self.publish_and_monitor(outcome)
    }

    /// Advances the simulation to `boundary` (s). Updates due exactly at the boundary wait for the
    /// next call; its publishes do not.
    ///
    /// # Errors
    /// Returns the first error of an event, a computation or the monitor, with the time and the
    /// system. Also returns an error if a number of the state becomes NaN or, in continuous state,
    /// infinite, if a witness function is NaN, if the boundary is in the past, or if the time of
    /// the context is not finite. If the failed system has read a NaN, the message names the output
    /// or fixed input where the first NaN appeared. Failed updates leave the state as it was before
    /// all updates of the step; a failed integration leaves it as it was before the integration.
    /// The next call retries what failed.
    pub fn advance_to(&mut self, boundary: f64) -> Result<SimulatorStatus> {
        let _span = tracing::debug_span!("Simulator::advance_to", boundary).entered();
        if !self.initialized {
            let status = self.initialize()?;
            if status != SimulatorStatus::ReachedBoundaryTime {
                return Ok(status);
            }
        }
        self.driver.jacobians.diagram().owns(&self.context)?;
        self.check_time(Some(boundary))?;
        let now = self.context.time().re();
        if boundary.is_nan() || boundary < now {
            return Err(Error::invalid(format!(
                "Simulator: the boundary must be at least the current time, {now:?} s, got {boundary:?} s"
            )));
        }
        let status = self.run(boundary);
        status.map_err(|error| self.context.explain(error))
    }

    /// Takes steps until the boundary (s), or until something stops the simulation.
    fn run(&mut self, boundary: f64) -> Result<SimulatorStatus> {
        loop {
            if self.pace.wait(self.context.time().re()) {
                return Ok(SimulatorStatus::Interrupted);
            }
            if self.is_quiet() {
                let (context, never) = (&mut self.context, f64::INFINITY);
                let reached = self.driver.advance(context, never, boundary)?;
                self.statistics.steps += 1;
                if reached >= boundary {
                    return Ok(SimulatorStatus::ReachedBoundaryTime);
                }
                continue;
            }
            let mut outcome = Outcome::default();
            if !self.updated {
                self.sets.clear();
                self.sets.push(PER_STEP);
                self.sets.extend_from_slice(&self.due);
                self.updates(&mut outcome)?;
                self.due.clear();
                self.updated = true;
                if let Some(reason) = outcome.stop() {
                    return Ok(SimulatorStatus::ReachedTermination { reason });
                }
            }
            // Events found to be due later are not due now if the step fails.
            let reached = self
                .next_event()
                .and_then(|next_event| self.integrate(next_event, boundary))
                .inspect_err(|_| self.due.clear())?;
            self.updated = false;
            self.statistics.steps += 1;

            self.sets.clear();
            self.sets.push(PER_STEP);
            self.sets.extend_from_slice(&self.due);
            if self.publish_every_time_step {
                self.sets.push(FORCED);
            }
            let status = self.publish_and_monitor(outcome)?;
            if status != SimulatorStatus::ReachedBoundaryTime || reached >= boundary {
                return Ok(status);
            }
        }
    }

    /// Runs the updates and publishes that are due at the current time: those that an
    /// [`Simulator::advance_to`] which ended here left for the next call, and the per-step ones.
    ///
    /// # Errors
    /// Same as [`Simulator::advance_to`].
    pub fn advance_pending_events(&mut self) -> Result<SimulatorStatus> {
        self.advance_to(self.context.time().re())
    }

    /// Returns true if nothing happens between steps.
    fn is_quiet(&self) -> bool {
        let any = &self.context.plan.events.any;
        let some = any.publish || any.discrete || any.unrestricted || any.decider;
        !some && self.monitor.is_none()
    }

    /// Runs the unrestricted, then the discrete updates of `self.sets`.
    fn updates(&mut self, outcome: &mut Outcome) -> Result<()> {
        let (context, sets) = (&mut self.context, &self.sets[..]);
        let unrestricted = self.dispatcher.unrestricted(context, sets, outcome)?;
        let discrete = self.dispatcher.discrete(context, sets, outcome);
        if discrete.is_err() && unrestricted {
            self.dispatcher.undo_unrestricted(context, sets);
        }
        self.statistics.discrete_updates += u64::from(discrete?);
        self.statistics.unrestricted_updates += u64::from(unrestricted);
        Ok(())
    }

    /// Runs the publishes of `self.sets`, then the monitor.
    fn publish_and_monitor(&mut self, mut outcome: Outcome) -> Result<SimulatorStatus> {
        let some = self
            .dispatcher
            .publish(&self.context, &self.sets, &mut outcome);
        self.statistics.publishes += u64::from(some);
        if let Some(monitor) = &mut self.monitor {
            match monitor(&self.context) {
                Ok(status) => outcome.add(status),
                Err(error) => outcome.fail(error.locate(None, || "simulator monitor".into())),
            }
        }
        Ok(match outcome.finish()? {
            Some(reason) => SimulatorStatus::ReachedTermination { reason },
            None => SimulatorStatus::ReachedBoundaryTime,
        })
    }
}
