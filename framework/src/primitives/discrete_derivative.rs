//! Numerical derivatives.

use super::check;
use crate::prelude::*;
use crate::{Dependencies, Error, Result};

/// Numerical derivative `dudt = (u[n] - u[n-1]) / h` of the last two samples, taken every h seconds
/// (Drake's `DiscreteDerivative`).
///
/// | port | name | type |
/// |---|---|---|
/// | input | `u` | vector of `size` |
/// | output | `dudt` | vector of `size`, no feedthrough |
///
/// The output is zero until there are two samples. With
/// [`DiscreteDerivative::with_initial_transient`] the samples before the first count as zero
/// instead.
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::{DiscreteDerivative, Sine};
///
/// let mut b = DiagramBuilder::new();
/// let wave = b.add("wave", Sine::new(1));
/// let rate = b.add("rate", DiscreteDerivative::new(1, 0.01)?);
/// b.connect(wave.y, rate.u);
/// let diagram = b.build()?;
/// let mut sim = Simulator::new(&diagram, diagram.default_context())?;
/// sim.advance_to(1.005)?;
/// assert!((sim.context().eval(rate.dudt)?[0] - 0.995_f64.cos()).abs() < 1e-4);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct DiscreteDerivative {
    pub(super) size: usize,
    period: f64,
    suppress_initial_transient: bool,
}

impl DiscreteDerivative {
    /// Creates a system for vectors of `size` elements, sampled every `period` (s).
    ///
    /// # Errors
    /// Returns an error if the period is not positive.
    pub fn new(size: usize, period: f64) -> Result<Self> {
        check::positive_time("DiscreteDerivative", "period", period)?;
        Ok(Self {
            size,
            period,
            suppress_initial_transient: true,
        })
    }

    /// Lets the samples before the first one count as zero.
    pub fn with_initial_transient(mut self) -> Self {
        self.suppress_initial_transient = false;
        self
    }

    /// Returns the time between samples (s).
    pub fn period(&self) -> f64 {
        self.period
    }

    /// Declares the state and its updates from samples of `u`.
    pub(super) fn declare_history<S: LeafSystem<T>, T: Scalar>(
        &self,
        d: &mut Declare<S, T>,
        u: InputPort<Vec<T>>,
    ) -> InputHistory<T> {
        let zero = vec![T::zero(); self.size];
        let (latest, previous) = (d.discrete_state(&zero), d.discrete_state(&zero));
        let suppress = self.suppress_initial_transient;
        let count = suppress.then(|| d.discrete_state(&[T::zero()]));
        d.discrete_update_on(Trigger::every(self.period), move |_, ctx, next| {
            next.get_mut(latest).copy_from_slice(ctx.eval(u)?);
            next.get_mut(previous).copy_from_slice(ctx.xd(latest));
            if let Some(count) = count {
                next.get_mut(count)[0] += T::one();
            }
            Ok(EventStatus::Succeeded)
        });
        InputHistory {
            latest,
            previous,
            count,
            period: self.period,
        }
    }
}

/// The last two samples of an input, with the number of samples taken.
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::DiscreteDerivative;
///
/// let mut b = DiagramBuilder::new();
/// let rate = b.add("rate", DiscreteDerivative::new(1, 0.5)?);
/// let mut ctx = b.build()?.default_context();
/// rate.history.set(&mut ctx, &[3.0], &[1.0])?;
/// assert_eq!(ctx.xd(rate.history.latest)?, [3.0]);
/// assert_eq!(ctx.eval(rate.dudt)?, &[4.0]);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct InputHistory<T> {
    /// The last sample, u\[n\].
    pub latest: DiscreteState<Vec<T>>,
    /// The previous sample, u\[n-1\].
    pub previous: DiscreteState<Vec<T>>,
    /// Number of samples taken, if the initial transient is suppressed.
    pub count: Option<DiscreteState<Vec<T>>>,
    period: f64,
}

impl<T: Scalar> InputHistory<T> {
    /// Overwrites the last two samples.
    ///
    /// # Errors
    /// Returns an error if the lengths differ from that of the input, or if the context belongs to
    /// another diagram.
    pub fn set(&self, context: &mut Context<T>, latest: &[T], previous: &[T]) -> Result<()> {
        let size = context.xd(self.latest)?.len();
        for (what, found) in [("latest", latest.len()), ("previous", previous.len())] {
            check::length("DiscreteDerivative", what, found, size)?;
        }
        context.xd_mut(self.latest)?.copy_from_slice(latest);
        context.xd_mut(self.previous)?.copy_from_slice(previous);
        if let Some(count) = self.count {
            context.xd_mut(count)?[0] = T::from(2.0);
        }
        Ok(())
    }

    /// Returns the dependencies of a computation of the derivative.
    pub(super) fn deps(&self) -> impl Dependencies + use<T> {
        (self.latest, self.previous, self.count)
    }

    /// Writes the difference quotient.
    pub(super) fn derivative(&self, ctx: &LeafContext<'_, T>, out: &mut [T]) -> Result<(), Error> {
        if self.count.is_some_and(|count| ctx.xd(count)[0].re() < 2.0) {
            out.fill(T::zero());
            return Ok(());
        }
        let samples = ctx.xd(self.latest).iter().zip(ctx.xd(self.previous));
        for (out, (latest, previous)) in out.iter_mut().zip(samples) {
            *out = (*latest - *previous) / T::from(self.period);
        }
        Ok(())
    }
}

/// Ports of [`DiscreteDerivative`].
#[derive(Clone, Copy, Debug)]
pub struct DiscreteDerivativePorts<T> {
    /// Input.
    pub u: InputPort<Vec<T>>,
    /// Derivative of the input.
    pub dudt: OutputPort<Vec<T>>,
    /// The samples.
    pub history: InputHistory<T>,
}

impl<T: Scalar> LeafSystem<T> for DiscreteDerivative {
    type Ports = DiscreteDerivativePorts<T>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let u = d.vector_input("u", self.size);
        let history = self.declare_history(d, u);
        let dudt = d.vector_output("dudt", self.size, history.deps(), move |_, ctx, y| {
            history.derivative(ctx, y)
        });
        DiscreteDerivativePorts { u, dudt, history }
    }
}
