//! Advancing a context through time.

use super::integrator::{Integrator, RungeKutta3};
use crate::systems::event::{DiscreteUpdate, EventSet, EventStatus, Handler, StateUpdate};
use crate::systems::leaf_context::LeafContext;
use crate::{Context, Diagram, Error, Result, Scalar};

/// Drake's default for the largest step (s).
const DEFAULT_MAX_STEP: f64 = 0.1;

/// A step may be stretched by this factor to reach a boundary, instead of leaving a sliver.
const MAX_STRETCH: f64 = 1.01;

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
    /// Publish events dispatched.
    pub publishes: u64,
    /// Discrete updates dispatched.
    pub discrete_updates: u64,
    /// Unrestricted updates dispatched.
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
    integrator: Box<dyn Integrator<T>>,
    max_step: f64,
    initialized: bool,
    /// Periodic sets that are due now, found at the end of the previous step.
    due: Vec<usize>,
    next_xd: Vec<T>,
    monitor: Option<Monitor<T>>,
    statistics: SimulatorStatistics,
}

impl<T: Scalar> Simulator<T> {
    /// Takes the initial condition. The integrator is [`RungeKutta3`] with steps of at most 0.1 s.
    ///
    /// # Errors
    /// If the context was made by another diagram.
    pub fn new(diagram: &Diagram<T>, context: Context<T>) -> Result<Self> {
        diagram.owns(&context)?;
        Ok(Self {
            next_xd: context.data.xd.clone(),
            context,
            integrator: Box::new(RungeKutta3::new()),
            max_step: DEFAULT_MAX_STEP,
            initialized: false,
            due: vec![],
            monitor: None,
            statistics: SimulatorStatistics::default(),
        })
    }

    /// Replaces the integrator and its largest step (s).
    ///
    /// # Errors
    /// If the step is not positive.
    pub fn set_integrator(
        &mut self,
        integrator: impl Integrator<T> + 'static,
        max_step: f64,
    ) -> Result<()> {
        if !(max_step > 0.0 && max_step.is_finite()) {
            return Err(Error::invalid(format!(
                "Simulator: the largest step is {max_step} s, a positive time is expected"
            )));
        }
        self.integrator = Box::new(integrator);
        self.max_step = max_step;
        Ok(())
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
                let sets: Vec<&EventSet> = timed.chain([&events.per_step]).collect();
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
            let reached = self.integrate(next_event.min(boundary))?;
            if reached < next_event {
                self.due.clear();
            }
            self.statistics.steps += 1;

            let due = std::mem::take(&mut self.due);
            let timed = due.iter().map(|i| &events.periodic[*i].events);
            let any = |set: &EventSet| !set.publish.is_empty();
            let sets: Vec<&EventSet> = timed
                .chain([&events.per_step])
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
        for &(system, event) in sets.iter().flat_map(|set| &set.unrestricted) {
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
            self.statistics.unrestricted_updates += 1;
            let status = act(&LeafContext::new(context, system as usize), &mut update)
                .map_err(|e| e.at(|| format!("unrestricted update of '{}'", leaf.path)))?;
            outcome.add(status);
        }
        let changed = sets
            .iter()
            .flat_map(|set| set.unrestricted.iter().map(|e| e.0 as usize));
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
            statistics,
            ..
        } = self;
        next_xd.clone_from(&context.data.xd);
        for &&(system, event) in &sets
            .iter()
            .flat_map(|set| &set.discrete)
            .collect::<Vec<_>>()
        {
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
            statistics.discrete_updates += 1;
            let status = act(&ctx, &mut update)
                .map_err(|e| e.at(|| format!("discrete update of '{}'", leaf.path)))?;
            outcome.add(status);
        }
        let changed = sets
            .iter()
            .flat_map(|set| set.discrete.iter().map(|e| e.0 as usize));
        context.swap_xd(next_xd, changed);
        Ok(())
    }

    /// One step of the integrator towards `target` (s), of at most the largest step. Returns the
    /// time reached.
    fn integrate(&mut self, target: f64) -> Result<f64> {
        let now = self.context.time();
        let remaining = target - now.re();
        let whole = remaining <= self.max_step * MAX_STRETCH;
        let step = if whole { remaining } else { self.max_step };
        if self.context.data.xc.is_empty() {
            self.context.set_time(now + T::from(step));
        } else if step > 0.0 {
            let before = self.context.data.xc.clone();
            if let Err(error) = self.integrator.step(&mut self.context, T::from(step)) {
                self.context.set_time_and_xc(now, &before);
                return Err(error);
            }
        }
        if whole {
            // The target itself, not now + (target - now), which may differ in the last bit.
            let rounding = T::from(target) - T::from(self.context.time().re());
            self.context.set_time(self.context.time() + rounding);
            return Ok(target);
        }
        Ok(self.context.time().re())
    }

    fn publishes(&mut self, sets: &[&EventSet], outcome: &mut Outcome) {
        let context = &self.context;
        for &(system, event) in sets.iter().flat_map(|set| &set.publish) {
            let leaf = &context.plan.leaves[system as usize];
            let Handler::Publish(act) = &leaf.events[event as usize].1 else {
                continue;
            };
            self.statistics.publishes += 1;
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
