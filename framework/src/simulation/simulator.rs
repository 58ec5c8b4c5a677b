//! Advancing a context through time.

use super::config::SimulatorConfig;
use super::integrator::control::{Driver, Limits};
use super::integrator::{Integrator, IntegratorStatistics, RungeKutta3, by_name};
use crate::systems::event::{DiscreteUpdate, EventSet, EventStatus, Handler, StateUpdate};
use crate::systems::leaf_context::LeafContext;
use crate::{Context, Diagram, Error, Result, Scalar};

/// First step (s) of a simulator that nobody configured, as in Drake.
const DEFAULT_FIRST_STEP: f64 = 1e-4;

/// Why [`Simulator::advance_to`] returned.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SimulatorStatus {
    /// The requested time was reached.
    ReachedBoundaryTime,
    /// An event or the monitor asked to stop.
    ReachedTermination {
        /// The reason it gave.
        reason: String,
    },
}

type Monitor<T> = Box<dyn FnMut(&Context<T>) -> Result<EventStatus> + Send>;

/// Counters of what a simulator did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SimulatorStatistics {
    /// Steps taken.
    pub steps: u64,
    /// Times at which publish events were dispatched, any number of them together.
    pub publishes: u64,
    /// Times at which discrete updates were dispatched, any number of them together.
    pub discrete_updates: u64,
    /// Times at which unrestricted updates were dispatched, any number of them together.
    pub unrestricted_updates: u64,
}

/// Owns a context and drives it: discrete updates, integration, publishes, monitor, in Drake's step
/// order.
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
    context: Context<T>,
    pub(super) driver: Driver<T>,
    initialized: bool,
    /// Periodic sets that are due now, found at the end of the previous step.
    due: Vec<usize>,
    next_xd: Vec<T>,
    /// The events that are being dispatched.
    dispatched: Vec<(u32, u32)>,
    monitor: Option<Monitor<T>>,
    statistics: SimulatorStatistics,
}

impl<T: Scalar> Simulator<T> {
    /// Takes the initial condition. The integrator is that of [`SimulatorConfig::default`] with a
    /// first step of 0.1 ms, as in Drake.
    ///
    /// # Errors
    /// If the context was made by another diagram.
    pub fn new(diagram: &Diagram<T>, context: Context<T>) -> Result<Self> {
        diagram.owns(&context)?;
        let limits = Limits {
            first_step: Some(DEFAULT_FIRST_STEP),
            ..SimulatorConfig::default().limits()?
        };
        Ok(Self {
            next_xd: context.data.xd.clone(),
            context,
            driver: Driver::new(diagram.clone(), Box::new(RungeKutta3::new()), limits),
            initialized: false,
            due: vec![],
            dispatched: vec![],
            monitor: None,
            statistics: SimulatorStatistics::default(),
        })
    }

    /// Chooses integrator and steps by name and number. Statistics of the integrator start anew.
    ///
    /// # Errors
    /// If there is no scheme of that name, or a number is out of range; nothing is changed then.
    pub fn apply_config(&mut self, config: &SimulatorConfig) -> Result<()> {
        let limits = config.limits()?;
        let integrator = by_name(&config.integration_scheme)?;
        self.driver.set_integrator(integrator, limits);
        self.set_jacobian_scheme(config.jacobian_scheme);
        Ok(())
    }

    /// Replaces the integrator, which takes fixed steps of `max_step` (s) except towards events. See
    /// [`Simulator::set_error_control`] for steps that follow the error, and
    /// [`Simulator::apply_config`] for integrators by name.
    ///
    /// # Errors
    /// If the step is not positive.
    pub fn set_integrator(
        &mut self,
        integrator: impl Integrator<T> + 'static,
        max_step: f64,
    ) -> Result<()> {
        let config = SimulatorConfig {
            max_step_size: max_step,
            use_error_control: false,
            ..SimulatorConfig::default()
        };
        self.driver
            .set_integrator(Box::new(integrator), config.limits()?);
        Ok(())
    }

    /// Chooses steps, up to the largest one, such that the error of each, as the integrator estimates
    /// it, is at most `accuracy` in every element of the continuous state.
    ///
    /// # Errors
    /// If the accuracy is not positive, or the integrator does not estimate its error.
    pub fn set_error_control(&mut self, accuracy: f64) -> Result<()> {
        let name = self.driver.integrator().name();
        if self.driver.integrator().error_control().is_none() {
            return Err(Error::invalid(format!(
                "Simulator: the integrator '{name}' takes fixed steps only, it has no error estimate"
            )));
        }
        let limits = *self.driver.limits();
        let config = SimulatorConfig {
            accuracy,
            ..SimulatorConfig::default()
        };
        let accuracy = config.limits()?.accuracy;
        self.driver.set_limits(Limits {
            accuracy,
            error_control: true,
            ..limits
        });
        Ok(())
    }

    /// What the integrator did so far.
    pub fn integrator_statistics(&self) -> IntegratorStatistics {
        self.driver.statistics
    }
    /// The integrator.
    pub fn integrator(&self) -> &dyn Integrator<T> {
        self.driver.integrator()
    }

    /// Calls `monitor` at the end of initialization and of each step.
    pub fn set_monitor(
        &mut self,
        monitor: impl FnMut(&Context<T>) -> Result<EventStatus> + Send + 'static,
    ) {
        self.monitor = Some(Box::new(monitor));
    }

    /// Current values.
    pub fn context(&self) -> &Context<T> {
        &self.context
    }
    /// Current values, to change between calls.
    pub fn context_mut(&mut self) -> &mut Context<T> {
        &mut self.context
    }
    /// Ends the simulation and returns its context.
    pub fn into_context(self) -> Context<T> {
        self.context
    }
    /// What was done so far.
    pub fn statistics(&self) -> SimulatorStatistics {
        self.statistics
    }

    /// Initialization events, then the per-step and periodic publishes due at the start time.
    /// [`Simulator::advance_to`] calls it when it has not been called.
    ///
    /// # Errors
    /// The first error of an event or of the monitor.
    pub fn initialize(&mut self) -> Result<SimulatorStatus> {
        let plan = self.context.plan.clone();
        let events = &plan.events;
        let mut outcome = Outcome::default();
        self.updates(&[&events.initialization], &mut outcome)?;
        let now = self.context.time().re();
        self.due.clear();
        let due = events
            .periodic
            .iter()
            .enumerate()
            .filter(|(_, p)| p.is_due_at(now));
        self.due.extend(due.map(|(i, _)| i));
        self.initialized = true;
        let timed = self.due.iter().map(|i| &events.periodic[*i].events);
        let sets: Vec<&EventSet> = [&events.initialization, &events.per_step]
            .into_iter()
            .chain(timed)
            .collect();
        self.publish_and_monitor(&sets, outcome)
    }

    /// Steps until `boundary` (s). Updates due exactly at the boundary wait for the next call, its
    /// publishes do not.
    ///
    /// # Errors
    /// The first error of an event, a computation or the monitor; if the boundary is in the past.
    /// A failed update or integration leaves the state as it was before it.
    pub fn advance_to(&mut self, boundary: f64) -> Result<SimulatorStatus> {
        if !self.initialized {
            let status = self.initialize()?;
            if status != SimulatorStatus::ReachedBoundaryTime {
                return Ok(status);
            }
        }
        let now = self.context.time().re();
        if boundary.is_nan() || boundary < now {
            return Err(Error::invalid(format!(
                "Simulator: can not advance to {boundary} s, the time is {now} s already"
            )));
        }
        let plan = self.context.plan.clone();
        let events = &plan.events;
        loop {
            let mut outcome = Outcome::default();
            let due = std::mem::take(&mut self.due);
            if events.per_step.has_no_updates() && due.len() == 1 {
                self.updates(&[&events.periodic[due[0]].events], &mut outcome)?;
            } else {
                let timed = due.iter().map(|i| &events.periodic[*i].events);
                let sets: Vec<&EventSet> = [&events.per_step].into_iter().chain(timed).collect();
                self.updates(&sets, &mut outcome)?;
            }
            self.due = due;
            self.due.clear();

            let now = self.context.time().re();
            let mut next_event = f64::INFINITY;
            for (i, set) in events.periodic.iter().enumerate() {
                let t = set.next_after(now);
                if t < next_event {
                    next_event = t;
                    self.due.clear();
                }
                if t == next_event {
                    self.due.push(i);
                }
            }
            let reached = self
                .driver
                .advance(&mut self.context, next_event, boundary)?;
            if reached < next_event {
                self.due.clear();
            }
            self.statistics.steps += 1;

            let due = std::mem::take(&mut self.due);
            let timed = due.iter().map(|i| &events.periodic[*i].events);
            let any = |set: &EventSet| !set.publish.is_empty();
            let sets: Vec<&EventSet> = [&events.per_step]
                .into_iter()
                .chain(timed)
                .filter(|set| any(set))
                .collect();
            let status = self.publish_and_monitor(&sets, outcome);
            self.due = due;
            let status = status?;
            if status != SimulatorStatus::ReachedBoundaryTime || reached >= boundary {
                return Ok(status);
            }
        }
    }

    /// The updates and publishes that are due at the current time: those that an
    /// [`Simulator::advance_to`] which ended here left for the next call, and those per step.
    ///
    /// # Errors
    /// As [`Simulator::advance_to`].
    pub fn advance_pending_events(&mut self) -> Result<SimulatorStatus> {
        self.advance_to(self.context.time().re())
    }

    /// Runs all publish events with trigger `Forced` at the current time (Drake's `ForcedPublish`).
    ///
    /// # Errors
    /// The first error; every event is dispatched all the same.
    pub fn force_publish(&mut self) -> Result<SimulatorStatus> {
        let plan = self.context.plan.clone();
        let mut outcome = Outcome::default();
        self.publishes(&[&plan.events.forced], &mut outcome);
        outcome.finish()
    }

    /// Unrestricted, then discrete updates.
    fn updates(&mut self, sets: &[&EventSet], outcome: &mut Outcome) -> Result<()> {
        self.unrestricted_updates(sets, outcome)?;
        self.discrete_updates(sets, outcome)
    }

    /// Computes all unrestricted updates from the state before them, then applies them together.
    fn unrestricted_updates(&mut self, sets: &[&EventSet], outcome: &mut Outcome) -> Result<()> {
        if sets.iter().all(|set| set.unrestricted.is_empty()) {
            return Ok(());
        }
        let context = &mut self.context;
        let plan = context.plan.clone();
        let mut next = context.copy_state();
        self.statistics.unrestricted_updates += 1;
        in_order(&mut self.dispatched, sets, |set| &set.unrestricted);
        for &(system, event) in &self.dispatched {
            let leaf = &plan.leaves[system as usize];
            let node = &plan.nodes[system as usize];
            let Handler::Unrestricted(act) = &leaf.events[event as usize].1 else {
                continue;
            };
            let mut update = StateUpdate {
                xc: &mut next.xc[node.xc.clone()],
                xd: &mut next.xd,
                groups: &node.xd,
                xa: &mut next.xa[node.xa()],
                owner: (plan.id, system),
            };
            let status = act(&LeafContext::new(context, system as usize), &mut update)
                .map_err(|e| e.at(|| format!("unrestricted update of '{}'", leaf.path)))?;
            outcome.add(status);
        }
        let changed = self.dispatched.iter().map(|e| e.0 as usize);
        context.set_state(next, changed);
        Ok(())
    }

    /// Computes all discrete updates from the state before them, then applies them together.
    fn discrete_updates(&mut self, sets: &[&EventSet], outcome: &mut Outcome) -> Result<()> {
        if sets.iter().all(|set| set.discrete.is_empty()) {
            return Ok(());
        }
        let Self {
            context,
            next_xd,
            dispatched,
            statistics,
            ..
        } = self;
        statistics.discrete_updates += 1;
        in_order(dispatched, sets, |set| &set.discrete);
        next_xd.clone_from(&context.data.xd);
        for &(system, event) in &*dispatched {
            let leaf = &context.plan.leaves[system as usize];
            let Handler::Discrete(act) = &leaf.events[event as usize].1 else {
                continue;
            };
            let ctx = LeafContext::new(context, system as usize);
            let groups = &context.plan.nodes[system as usize].xd;
            let mut update = DiscreteUpdate {
                xd: next_xd,
                groups,
                owner: (context.plan.id, system),
            };
            let status = act(&ctx, &mut update)
                .map_err(|e| e.at(|| format!("discrete update of '{}'", leaf.path)))?;
            outcome.add(status);
        }
        let changed = dispatched.iter().map(|e| e.0 as usize);
        context.swap_xd(next_xd, changed);
        Ok(())
    }

    fn publishes(&mut self, sets: &[&EventSet], outcome: &mut Outcome) {
        if sets.iter().all(|set| set.publish.is_empty()) {
            return;
        }
        self.statistics.publishes += 1;
        let context = &self.context;
        in_order(&mut self.dispatched, sets, |set| &set.publish);
        for &(system, event) in &self.dispatched {
            let leaf = &context.plan.leaves[system as usize];
            let Handler::Publish(act) = &leaf.events[event as usize].1 else {
                continue;
            };
            match act(&LeafContext::new(context, system as usize)) {
                Ok(status) => outcome.add(status),
                Err(e) => outcome.fail(e.at(|| format!("publish of '{}'", leaf.path))),
            }
        }
    }

    fn publish_and_monitor(
        &mut self,
        sets: &[&EventSet],
        mut outcome: Outcome,
    ) -> Result<SimulatorStatus> {
        self.publishes(sets, &mut outcome);
        if let Some(monitor) = &mut self.monitor {
            match monitor(&self.context) {
                Ok(status) => outcome.add(status),
                Err(error) => outcome.fail(error.at(|| "simulator monitor".into())),
            }
        }
        outcome.finish()
    }
}

/// The events of these sets: system by system, and in each in the order of the sets.
fn in_order(
    events: &mut Vec<(u32, u32)>,
    sets: &[&EventSet],
    of: impl Fn(&EventSet) -> &Vec<(u32, u32)>,
) {
    events.clear();
    for set in sets {
        events.extend_from_slice(of(set));
    }
    if sets.len() > 1 {
        events.sort_by_key(|event| event.0);
    }
}

/// What the events of one step came to: the first error, else the first request to stop.
#[derive(Default)]
struct Outcome {
    error: Option<Error>,
    termination: Option<String>,
}

impl Outcome {
    fn add(&mut self, status: EventStatus) {
        if let EventStatus::ReachedTermination { reason } = status {
            self.termination.get_or_insert(reason);
        }
    }
    fn fail(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }
    fn finish(self) -> Result<SimulatorStatus> {
        match (self.error, self.termination) {
            (Some(error), _) => Err(error),
            (None, Some(reason)) => Ok(SimulatorStatus::ReachedTermination { reason }),
            (None, None) => Ok(SimulatorStatus::ReachedBoundaryTime),
        }
    }
}
