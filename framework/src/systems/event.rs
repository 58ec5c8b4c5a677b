//! Events: when something happens, what it does and how it ended.

use super::handles::{AbstractState, DiscreteState, Param, Place, PlanId};
use super::leaf_context::LeafContext;
use super::value::Stored;
use crate::random::RandomGenerator;
use crate::{Result, Scalar};
use std::ops::Range;

/// When an event fires.
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
    /// Only when asked for, by [`Context::force_publish`](crate::Context::force_publish) and its like.
    Forced,
    /// At times that the system computes, see [`Declare::timed_event`](crate::Declare::timed_event).
    Timed(TimedEvent),
    /// When a function of the context changes its sign, see
    /// [`Declare::witness_function`](crate::Declare::witness_function).
    Witness(WitnessFunction),
}

/// A source of event times that a system computes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimedEvent {
    pub(crate) place: Place,
}

/// A declared witness function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WitnessFunction {
    pub(crate) place: Place,
}

/// The change of sign that triggers a witness function (Drake's `WitnessFunctionDirection`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WitnessDirection {
    /// Never.
    None,
    /// From positive to zero or negative.
    PositiveThenNonPositive,
    /// From negative to zero or positive.
    NegativeThenNonNegative,
    /// Both.
    CrossesZero,
}

impl WitnessDirection {
    /// Whether a function that was `before` and is `after` has triggered.
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
    /// Periodic from time zero on.
    pub fn every(period: f64) -> Self {
        Self::Periodic {
            period,
            offset: 0.0,
        }
    }
}

/// How an event ended, by increasing severity. A failure is the `Err` of the handler.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum EventStatus {
    /// Nothing was done.
    DidNothing,
    /// The handler did its work.
    Succeeded,
    /// The handler did its work and asks the simulator to stop after this step.
    ReachedTermination {
        /// Why, for the user.
        reason: String,
    },
}

pub(crate) type PublishFn<T> =
    Box<dyn Fn(&LeafContext<'_, T>) -> Result<EventStatus> + Send + Sync>;
pub(crate) type DiscreteFn<T> = Box<
    dyn Fn(&LeafContext<'_, T>, &mut DiscreteUpdate<'_, T>) -> Result<EventStatus> + Send + Sync,
>;

pub(crate) type UnrestrictedFn<T> =
    Box<dyn Fn(&LeafContext<'_, T>, &mut StateUpdate<'_, T>) -> Result<EventStatus> + Send + Sync>;

pub(crate) type TimeFn<T> = Box<dyn Fn(&LeafContext<'_, T>) -> Result<f64> + Send + Sync>;
pub(crate) type WitnessFn<T> = Box<dyn Fn(&LeafContext<'_, T>) -> Result<T> + Send + Sync>;

pub(crate) type RandomStateFn<T> = Box<
    dyn Fn(&LeafContext<'_, T>, &mut RandomGenerator, &mut StateUpdate<'_, T>) -> Result<()>
        + Send
        + Sync,
>;
pub(crate) type RandomParametersFn<T> =
    Box<dyn Fn(&mut RandomGenerator, &mut ParameterUpdate<'_, T>) -> Result<()> + Send + Sync>;

/// A declared witness function.
pub(crate) struct Witness<T: Scalar> {
    pub(crate) name: String,
    pub(crate) direction: WitnessDirection,
    pub(crate) value: WitnessFn<T>,
}

pub(crate) enum Handler<T: Scalar> {
    Publish(PublishFn<T>),
    Discrete(DiscreteFn<T>),
    Unrestricted(UnrestrictedFn<T>),
}

/// The discrete state that an update writes: a copy of the current one, applied when all updates
/// of the step have succeeded.
pub struct DiscreteUpdate<'a, T> {
    pub(crate) xd: &'a mut [T],
    pub(crate) groups: &'a [Range<usize>],
    /// Diagram and system that the groups belong to.
    pub(crate) owner: (PlanId, u32),
}

impl<T: Scalar> DiscreteUpdate<'_, T> {
    /// Next value of a group; holds the current value at first.
    ///
    /// # Panics
    /// If the handle belongs to another system.
    pub fn get_mut(&mut self, group: DiscreteState<Vec<T>>) -> &mut [T] {
        let index = own(self.owner, "discrete state", group.place);
        &mut self.xd[self.groups[index].clone()]
    }
}

/// All state of a system, as an unrestricted update writes it: a copy of the current one, applied
/// when all unrestricted updates of the step have succeeded.
pub struct StateUpdate<'a, T: Scalar> {
    pub(crate) xc: &'a mut [T],
    pub(crate) xd: &'a mut [T],
    pub(crate) groups: &'a [Range<usize>],
    pub(crate) xa: &'a mut [Stored<T>],
    /// Diagram and system that the state belongs to.
    pub(crate) owner: (PlanId, u32),
}

impl<T: Scalar> StateUpdate<'_, T> {
    /// Next continuous state; holds the current one at first.
    pub fn xc_mut(&mut self) -> &mut [T] {
        self.xc
    }
    /// Next value of a discrete group; holds the current one at first.
    ///
    /// # Panics
    /// If the handle belongs to another system.
    pub fn xd_mut(&mut self, group: DiscreteState<Vec<T>>) -> &mut [T] {
        let index = own(self.owner, "discrete state", group.place);
        &mut self.xd[self.groups[index].clone()]
    }
    /// Next abstract state; holds the current one at first.
    ///
    /// # Panics
    /// If the handle belongs to another system.
    pub fn xa_mut<V: 'static>(&mut self, state: AbstractState<V>) -> &mut V {
        let index = own(self.owner, "abstract state", state.place);
        self.xa[index].get_mut()
    }
}

/// All parameters of a system, to give them random values.
pub struct ParameterUpdate<'a, T: Scalar> {
    pub(crate) parameters: &'a mut [Stored<T>],
    /// Diagram and system that the parameters belong to.
    pub(crate) owner: (PlanId, u32),
}

impl<T: Scalar> ParameterUpdate<'_, T> {
    /// The value of a parameter; its default at first.
    ///
    /// # Panics
    /// If the handle belongs to another system.
    pub fn get_mut<V: 'static>(&mut self, parameter: Param<V>) -> &mut V {
        let index = own(self.owner, "parameter", parameter.place);
        self.parameters[index].get_mut()
    }
}

/// Index of a handle of the system `owner`; a handle of another one is a mistake of its author.
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
