//! Events: triggers, outcomes, and the views that updates write to.

use super::handles::{AbstractState, DiscreteState, Param, Place, PlanId};
use super::value::Stored;
use crate::Scalar;
use std::ops::Range;

/// Condition under which an event fires.
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::{ConstantVectorSource, log_vector_output_on};
///
/// let mut b = DiagramBuilder::new();
/// let source = b.add("source", ConstantVectorSource::new(7.0));
/// let late = Trigger::Periodic { period: 0.5, offset: 0.25 };
/// let log = log_vector_output_on(&mut b, "log", source.y, [late, Trigger::Initialization]);
/// let diagram = b.build()?;
/// let mut sim = Simulator::new(&diagram, diagram.default_context())?;
/// sim.advance_to(1.0)?;
/// assert_eq!(log.find_log(sim.context())?.sample_times(), [0.0, 0.25, 0.75]);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Trigger {
    /// Once, when the simulator is initialized.
    Initialization,
    /// At every step of the simulator.
    PerStep,
    /// At `offset + k * period` (s) for k = 0, 1, 2, ...; times are computed from the integer k, so
    /// they never drift.
    Periodic {
        /// Time between events (s), positive.
        period: f64,
        /// Time of the first event (s), not negative.
        offset: f64,
    },
    /// Only on request, by [`Context::force_publish`](crate::Context::force_publish) and its
    /// siblings.
    Forced,
    /// At times that the system computes, see
    /// [`Declare::timed_event`](crate::Declare::timed_event).
    Timed(TimedEvent),
    /// When a witness function changes its sign, see
    /// [`Declare::witness_function`](crate::Declare::witness_function).
    Witness(WitnessFunction),
}

/// A source of event times that a system computes.
///
/// ```
/// use tarragon_framework::{TimedEvent, prelude::*};
///
/// /// Happens at 1, 2, 4, 8, ... (s); the state is the next of these times.
/// struct Doubling;
/// impl<T: Scalar> LeafSystem<T> for Doubling {
///     type Ports = DiscreteState<Vec<T>>;
///     fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
///         let next = d.discrete_state(&[T::one()]);
///         let event: TimedEvent = d.timed_event(move |_, ctx| Ok(ctx.xd(next)[0].re()));
///         d.discrete_update_on(Trigger::Timed(event), move |_, _, x| {
///             x.get_mut(next)[0] *= T::from(2.0);
///             Ok(EventStatus::Succeeded)
///         });
///         next
///     }
/// }
/// # let mut b = DiagramBuilder::new();
/// # let next = *b.add("doubling", Doubling).ports();
/// # let diagram = b.build()?;
/// # let mut sim = Simulator::new(&diagram, diagram.default_context())?;
/// sim.advance_to(5.0)?;
/// assert_eq!(sim.context().xd(next)?, [8.0]);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimedEvent {
    pub(crate) place: Place,
}

/// A declared witness function.
///
/// ```
/// use tarragon_framework::{WitnessDirection, WitnessFunction, prelude::*};
///
/// /// Ends the simulation when the input becomes positive.
/// struct Alarm;
/// impl<T: Scalar> LeafSystem<T> for Alarm {
///     type Ports = InputPort<Vec<T>>;
///     fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
///         let u = d.vector_input("u", 1);
///         let direction = WitnessDirection::NegativeThenNonNegative;
///         let u_rises: WitnessFunction =
///             d.witness_function("u", direction, move |_, ctx| Ok(ctx.eval(u)?[0]));
///         d.publish_on(Trigger::Witness(u_rises), |_, _| {
///             Ok(EventStatus::ReachedTermination { reason: "alarm".into() })
///         });
///         u
///     }
/// }
/// # let mut b = DiagramBuilder::new();
/// # let alarm = b.add("alarm", Alarm);
/// # use tarragon_framework::primitives::{ConstantVectorSource, Integrator};
/// # let source = b.add("source", ConstantVectorSource::new(1.0));
/// # let x = b.add("x", Integrator::new(1));
/// # b.connect(source.y, x.u);
/// # b.connect(x.y, *alarm.ports());
/// # let diagram = b.build()?;
/// # let mut sim = Simulator::new(&diagram, diagram.default_context())?;
/// sim.context_mut().xc_mut(x.x)?[0] = -1.0; // the alarm watches t - 1
/// sim.context_mut().set_accuracy(Some(1e-6));
/// sim.advance_to(5.0)?;
/// assert!((sim.context().time() - 1.0).abs() < 1e-3);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WitnessFunction {
    pub(crate) place: Place,
}

/// Direction of the sign change that triggers a witness function (Drake's
/// `WitnessFunctionDirection`).
///
/// ```
/// use tarragon_framework::WitnessDirection;
/// let triggers = |direction: WitnessDirection| direction.triggers(-1.0, 1.0);
/// assert!(triggers(WitnessDirection::NegativeThenNonNegative));
/// assert!(triggers(WitnessDirection::CrossesZero));
/// assert!(!triggers(WitnessDirection::PositiveThenNonPositive));
/// assert!(!triggers(WitnessDirection::None));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WitnessDirection {
    /// Never.
    None,
    /// From positive to zero or negative.
    PositiveThenNonPositive,
    /// From negative to zero or positive.
    NegativeThenNonNegative,
    /// Either of the two.
    CrossesZero,
}

impl WitnessDirection {
    /// Returns true if a witness function whose value went from `before` to `after` has triggered.
    ///
    /// ```
    /// use tarragon_framework::WitnessDirection::{CrossesZero, PositiveThenNonPositive};
    /// assert!(PositiveThenNonPositive.triggers(0.1, 0.0));
    /// assert!(!PositiveThenNonPositive.triggers(0.0, -0.1), "it was not positive before");
    /// assert!(CrossesZero.triggers(-1.0, 2.0));
    /// ```
    pub fn triggers(self, before: f64, after: f64) -> bool {
        let falls = before > 0.0 && after <= 0.0;
        let rises = before < 0.0 && after >= 0.0;
        match self {
            Self::None => false,
            Self::PositiveThenNonPositive => falls,
            Self::NegativeThenNonNegative => rises,
            Self::CrossesZero => falls || rises,
        }
    }
}

impl Trigger {
    /// Creates a periodic trigger that starts at time zero.
    pub fn every(period: f64) -> Self {
        Self::Periodic {
            period,
            offset: 0.0,
        }
    }
}

/// Outcome of an event, by increasing severity. A failure is the `Err` of the handler.
///
/// ```
/// use tarragon_framework::prelude::*;
/// let end = EventStatus::ReachedTermination { reason: "the ball is in".into() };
/// assert!(EventStatus::DidNothing < EventStatus::Succeeded && EventStatus::Succeeded < end);
///
/// let diagram = DiagramBuilder::new().build()?;
/// let mut sim = Simulator::new(&diagram, diagram.default_context())?;
/// sim.set_monitor(move |_| Ok(end.clone()));
/// sim.advance_to(1.0)?;
/// assert_eq!(sim.context().time(), 0.0);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum EventStatus {
    /// Nothing was done.
    DidNothing,
    /// The handler did its work.
    Succeeded,
    /// The handler did its work and asks the simulator to stop. Time does not go on, and nothing is
    /// published after an update that asks for it.
    ReachedTermination {
        /// Reason, shown to the user.
        reason: String,
    },
}

/// Discrete state that an update writes: a copy of the current state, applied once all updates of
/// the step have succeeded.
///
/// ```
/// use tarragon_framework::{DiscreteUpdate, prelude::*};
///
/// /// x[n+1] = 2 x[n] + 1.
/// struct Map(f64);
/// impl<T: Scalar> LeafSystem<T> for Map {
///     type Ports = DiscreteState<Vec<T>>;
///     fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
///         let x = d.discrete_state(&[T::from(self.0)]);
///         d.discrete_update_on(Trigger::Forced, move |_, ctx, next: &mut DiscreteUpdate<'_, T>| {
///             next.get_mut(x)[0] = ctx.xd(x)[0] * T::from(2.0) + T::one();
///             Ok(EventStatus::Succeeded)
///         });
///         x
///     }
/// }
///
/// let mut b = DiagramBuilder::new();
/// let map = b.add("map", Map(3.0));
/// let mut ctx = b.build()?.default_context();
/// ctx.force_discrete_update()?;
/// assert_eq!(ctx.xd(*map.ports())?, [7.0]);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
pub struct DiscreteUpdate<'a, T> {
    pub(crate) xd: &'a mut [T],
    pub(crate) groups: &'a [Range<usize>],
    /// Diagram and system that the groups belong to.
    pub(crate) owner: (PlanId, u32),
}

impl<T: Scalar> DiscreteUpdate<'_, T> {
    /// Returns the next value of a group, initially the current value.
    ///
    /// # Panics
    /// Panics if the handle belongs to another system.
    pub fn get_mut(&mut self, group: DiscreteState<Vec<T>>) -> &mut [T] {
        let index = own(self.owner, "discrete state", group.place);
        &mut self.xd[self.groups[index].clone()]
    }
}

/// All state of a system, as written by an unrestricted update: a copy of the current state,
/// applied once all unrestricted updates of the step have succeeded.
///
/// ```
/// use tarragon_framework::prelude::*;
///
/// /// Remembers the words it receives.
/// struct Memory;
/// impl<T: Scalar> LeafSystem<T> for Memory {
///     type Ports = (InputPort<String>, AbstractState<Vec<String>>);
///     fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
///         let (word, words) = (d.input("word"), d.abstract_state(Vec::<String>::new()));
///         d.unrestricted_update_on(Trigger::Forced, move |_, ctx, next| {
///             next.xa_mut(words).push(ctx.eval::<String>(word)?.clone());
///             Ok(EventStatus::Succeeded)
///         });
///         (word, words)
///     }
/// }
///
/// let mut b = DiagramBuilder::new();
/// let (word, words) = *b.add("memory", Memory).ports();
/// let mut ctx = b.build()?.default_context();
/// ctx.fix(word, String::from("salt"))?;
/// ctx.force_unrestricted_update()?;
/// assert_eq!(ctx.xa(words)?, &["salt"]);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
pub struct StateUpdate<'a, T: Scalar> {
    pub(crate) xc: &'a mut [T],
    pub(crate) xd: &'a mut [T],
    pub(crate) groups: &'a [Range<usize>],
    pub(crate) xa: &'a mut [Stored<T>],
    /// Diagram and system that the state belongs to.
    pub(crate) owner: (PlanId, u32),
}

impl<T: Scalar> StateUpdate<'_, T> {
    /// Returns the next continuous state, initially the current one.
    pub fn xc_mut(&mut self) -> &mut [T] {
        self.xc
    }
    /// Returns the next value of a discrete group, initially the current one.
    ///
    /// # Panics
    /// Panics if the handle belongs to another system.
    pub fn xd_mut(&mut self, group: DiscreteState<Vec<T>>) -> &mut [T] {
        let index = own(self.owner, "discrete state", group.place);
        &mut self.xd[self.groups[index].clone()]
    }
    /// Returns the next value of an abstract state, initially the current one.
    ///
    /// # Panics
    /// Panics if the handle belongs to another system.
    pub fn xa_mut<V: 'static>(&mut self, state: AbstractState<V>) -> &mut V {
        let index = own(self.owner, "abstract state", state.place);
        self.xa[index].get_mut()
    }
}

/// All parameters of a system, to be given random values.
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::random::{RandomDistribution, RandomGenerator};
///
/// /// A mass (kg) that is known to 10 %.
/// struct Load;
/// impl<T: Scalar> LeafSystem<T> for Load {
///     type Ports = Param<T>;
///     fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
///         let mass = d.param(T::from(5.0));
///         d.random_parameters(move |_, generator, update| {
///             let part = 0.9 + 0.2 * generator.sample(RandomDistribution::Uniform);
///             *update.get_mut(mass) *= T::from(part);
///             Ok(())
///         });
///         mass
///     }
/// }
///
/// let mut b = DiagramBuilder::new();
/// let mass = *b.add("load", Load).ports();
/// let mut ctx = b.build()?.default_context();
/// ctx.set_random_parameters(&mut RandomGenerator::new(1))?;
/// assert!((4.5..5.5).contains(ctx.param(mass)?));
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
pub struct ParameterUpdate<'a, T: Scalar> {
    pub(crate) parameters: &'a mut [Stored<T>],
    /// Diagram and system that the parameters belong to.
    pub(crate) owner: (PlanId, u32),
}

impl<T: Scalar> ParameterUpdate<'_, T> {
    /// Returns the value of a parameter, initially its default.
    ///
    /// # Panics
    /// Panics if the handle belongs to another system.
    pub fn get_mut<V: 'static>(&mut self, parameter: Param<V>) -> &mut V {
        let index = own(self.owner, "parameter", parameter.place);
        self.parameters[index].get_mut()
    }
}

/// Returns the index of a handle of the system `owner`. Panics for a handle of another system,
/// which is a programming error.
fn own(owner: (PlanId, u32), what: &str, place: Place) -> usize {
    assert!(
        (place.plan, place.system) == owner,
        "{what} of system {} of {} was used in an update of system {} of {}",
        place.system,
        place.plan,
        owner.1,
        owner.0
    );
    place.index as usize
}
