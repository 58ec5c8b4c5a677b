//! Step size control.
//!
//! The controller is the classical one (Hairer, Nørsett, Wanner I, section II.4, equation 4.13)
//! with the safety factors and the dead band of Simbody, which Drake adopted, so that steps agree
//! with Drake's. An accepted step that was cut short by an event does not change the size of the
//! next one.

use super::jacobian::Jacobians;
use super::{ErrorControl, IntegrationScheme, Ode};
use crate::simulation::dense_output::DenseOutput;
use crate::systems::value::copy;
use crate::{Context, Diagram, Error, Result, Scalar};

/// Safety factor: fraction taken of the step that the error estimate predicts to be just accurate
/// enough.
const SAFETY: f64 = 0.9;
/// Bounds of the change of a step, as factors.
const MIN_SHRINK: f64 = 0.1;
const MAX_GROW: f64 = 5.0;
/// Dead band: a step that shrinks shrinks at least to the first factor, and a step grows only if it
/// can grow by more than the second.
const SHRINK_AT_MOST_TO: f64 = 0.9;
const GROW_FROM: f64 = 1.2;
/// Factor applied to a step that did not converge.
const SUBDIVISION: f64 = 0.5;
/// Factor by which a step may be stretched to reach an event, instead of leaving a sliver.
const MAX_STRETCH: f64 = 1.01;
/// A limit below this fraction of the wanted step makes the step unfit to judge the next one.
const CUT_SHORT: f64 = 0.95;
/// A limit that exceeds the wanted step by less than this factor is taken instead of it.
const NEARLY: f64 = 1.001;
/// Smallest step, relative to the time (but at least to 1 s); smaller steps no longer change the
/// time.
const SMALLEST_STEP: f64 = 1e-14;

/// Counters of a simulation's integrator, as reported by Drake's `IntegratorBase`.
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::{integrator::RungeKutta2, primitives::Integrator};
///
/// let mut b = DiagramBuilder::new();
/// let x = b.add("x", Integrator::new(1));
/// let diagram = b.build()?;
/// let mut ctx = diagram.default_context();
/// ctx.fix(x.u, 1.0)?;
/// let mut sim = Simulator::new(&diagram, ctx)?;
/// sim.set_integrator(RungeKutta2::new());
/// sim.set_fixed_step(0.25)?;
/// sim.advance_to(1.0)?;
/// let statistics = sim.integrator_statistics();
/// assert_eq!((statistics.steps, statistics.derivative_evaluations), (4, 8));
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct IntegratorStatistics {
    /// Steps taken.
    pub steps: u64,
    /// Evaluations of the time derivatives.
    pub derivative_evaluations: u64,
    /// Derivative evaluations made for Jacobians, included above; with dual numbers each counts as
    /// one.
    pub derivative_evaluations_for_jacobian: u64,
    /// Jacobians computed.
    pub jacobian_evaluations: u64,
    /// Steps repeated with a smaller size because of their error.
    pub shrinkages_from_error_control: u64,
    /// Steps repeated with a smaller size because the method did not converge.
    pub shrinkages_from_substep_failures: u64,
    /// First step taken (s).
    pub initial_step: Option<f64>,
    /// Smallest step that error control chose (s).
    pub smallest_adapted_step: Option<f64>,
    /// Largest step taken (s).
    pub largest_step: Option<f64>,
}

/// The user's limits on step sizes.
#[derive(Clone, Copy)]
pub(in crate::simulation) struct Limits {
    /// Largest step (s).
    pub(in crate::simulation) max_step: f64,
    /// Smallest step (s) of error control; 0 for the smallest that changes the time.
    pub(in crate::simulation) min_step: f64,
    /// True if it is an error when error control wants a step below the smallest; otherwise the
    /// smallest step is accepted with whatever error it has.
    pub(in crate::simulation) fail_below_min_step: bool,
    /// Permitted error of a step.
    pub(in crate::simulation) accuracy: f64,
    /// True to choose steps by their error, with methods that estimate it; otherwise steps are
    /// `max_step`.
    pub(in crate::simulation) error_control: bool,
    /// First step (s); `None` leaves it to the method.
    pub(in crate::simulation) first_step: Option<f64>,
}

/// Integrator with its step size control.
pub(in crate::simulation) struct Driver<T: Scalar> {
    pub(in crate::simulation) jacobians: Jacobians<T>,
    pub(in crate::simulation) dense_output: Option<DenseOutput>,
    integrator: Box<dyn IntegrationScheme<T>>,
    limits: Limits,
    /// First step (s) of the integrator that a simulator starts with.
    default_first_step: Option<f64>,
    /// Next step (s) that error control wants.
    ideal_step: Option<f64>,
    x0: Vec<T>,
    pub(in crate::simulation) statistics: IntegratorStatistics,
}

impl<T: Scalar> Driver<T> {
    /// Wraps the default integrator, with its first step (s), under these limits, which have been
    /// checked.
    pub(in crate::simulation) fn new(
        diagram: Diagram<T>,
        integrator: Box<dyn IntegrationScheme<T>>,
        first_step: f64,
        limits: Limits,
    ) -> Self {
        Self {
            jacobians: Jacobians::new(diagram),
            dense_output: None,
            integrator,
            limits,
            default_first_step: Some(first_step),
            ideal_step: None,
            x0: vec![],
            statistics: IntegratorStatistics::default(),
        }
    }

    /// Replaces the integrator and resets the statistics; the next step is chosen anew.
    pub(in crate::simulation) fn set_integrator(
        &mut self,
        integrator: Box<dyn IntegrationScheme<T>>,
    ) {
        self.integrator = integrator;
        self.statistics = IntegratorStatistics::default();
        (self.default_first_step, self.ideal_step) = (None, None);
    }

    pub(in crate::simulation) fn integrator(&self) -> &dyn IntegrationScheme<T> {
        &*self.integrator
    }

    pub(in crate::simulation) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Replaces the limits; the next step is chosen anew.
    pub(in crate::simulation) fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
        self.ideal_step = None;
    }

    /// Takes one step towards the nearer of the next event and the boundary (s). Returns the time
    /// reached, which equals the target to the bit if it was reached. On an error, time and state
    /// are those before the step.
    pub(in crate::simulation) fn advance(
        &mut self,
        context: &mut Context<T>,
        event: f64,
        boundary: f64,
    ) -> Result<f64> {
        let (t0, max_step) = (context.time(), self.limits.max_step);
        let now = t0.re();
        let mut target = event.min(boundary);
        if context.data.xc.is_empty() || target <= now {
            context.set_time(exactly(context.time(), target));
            return Ok(target);
        }
        // A step may be stretched up to an event, but never beyond a boundary.
        let stretch = if boundary < event { 1.0 } else { MAX_STRETCH };
        if now + max_step * stretch < target {
            target = now + max_step;
        }
        self.x0.resize(context.data.xc.len(), T::zero());
        copy(&mut self.x0, &context.data.xc);
        self.jacobians.begin_step();
        let reached = self.step_to(context, t0, target).map_err(|error| {
            // Find the origin before restoring the state: the NaN may exist only at this stage.
            let error = context.with_origin(error);
            context.set_time_and_xc(t0, &self.x0);
            error
        })?;
        self.count_step(reached - now);
        Ok(reached)
    }

    /// Takes a step to the target, or as far as the method gets; returns the time reached.
    fn step_to(&mut self, context: &mut Context<T>, t0: T, target: f64) -> Result<f64> {
        if let Some(dense) = &mut self.dense_output {
            dense.begin_step(context)?;
        }
        let whole = self.step(context, t0, target - t0.re())?;
        context.check_step(t0, &self.x0)?;
        let mut reached = context.time().re();
        if whole || reached >= target {
            context.set_time(exactly(context.time(), target));
            reached = target;
        }
        if let Some(dense) = &mut self.dense_output {
            dense.end_step(context)?;
        }
        Ok(reached)
    }

    fn count_step(&mut self, step: f64) {
        let s = &mut self.statistics;
        s.steps += 1;
        s.initial_step.get_or_insert(step);
        s.largest_step = Some(s.largest_step.map_or(step, |largest| largest.max(step)));
    }

    /// Takes a step of at most `max` (s); returns true if it was that large.
    fn step(&mut self, context: &mut Context<T>, t0: T, max: f64) -> Result<bool> {
        match self.integrator.error_control() {
            Some(control) if self.limits.error_control => {
                let accuracy = self.limits.accuracy.min(control.loosest_accuracy);
                self.controlled(context, t0, max, accuracy, control)
            }
            _ => Ok(self.converging(context, t0, max, self.limits.accuracy)? == max),
        }
    }

    /// Tries smaller and smaller steps until the method converges; returns the one taken.
    fn converging(
        &mut self,
        context: &mut Context<T>,
        t0: T,
        wanted: f64,
        accuracy: f64,
    ) -> Result<f64> {
        let mut step = wanted;
        loop {
            let mut ode = Ode {
                context,
                start: &self.x0,
                statistics: &mut self.statistics,
                jacobians: &mut self.jacobians,
                accuracy,
                wants_error_estimate: self.limits.error_control,
            };
            if self.integrator.step(&mut ode, T::from(step))? {
                return Ok(step);
            }
            context.set_time_and_xc(t0, &self.x0);
            step *= SUBDIVISION;
            self.statistics.shrinkages_from_substep_failures += 1;
            if step < f64::EPSILON {
                context.check_slopes(t0 + T::from(wanted))?;
                return Err(Error::numerical(format!(
                    "integrator '{}' does not converge, even with a step of {step:e} s",
                    self.integrator.name()
                )));
            }
        }
    }

    /// Takes a step of at most `max` (s) that is accurate enough; returns true if it was that
    /// large.
    fn controlled(
        &mut self,
        context: &mut Context<T>,
        t0: T,
        max: f64,
        accuracy: f64,
        control: ErrorControl,
    ) -> Result<bool> {
        let first = self.limits.first_step.or(self.default_first_step);
        let mut step = self
            .ideal_step
            .unwrap_or_else(|| first.unwrap_or(control.first_step * self.limits.max_step));
        let mut at_smallest = false;
        loop {
            let cut_short = max < CUT_SHORT * step;
            if cut_short || max < NEARLY * step {
                step = max;
            }
            step = step.min(self.limits.max_step);
            step = self.converging(context, t0, step, accuracy)?;
            let error = largest(self.integrator.error_estimate());
            let smallest = self.limits.smallest(t0.re());
            let next = Judge {
                accuracy,
                order: control.order,
                smallest,
                largest: self.limits.max_step,
            };
            match next.of(error, step, &mut at_smallest) {
                Verdict::Accept(next) => {
                    if !cut_short {
                        self.ideal_step = Some(next);
                    }
                    let chosen = &mut self.statistics.smallest_adapted_step;
                    if chosen.is_none_or(|chosen| step < chosen && step < max) {
                        *chosen = Some(step);
                    }
                    return Ok(step == max);
                }
                Verdict::Repeat(smaller) => {
                    let failing = self.limits.fail_below_min_step || !error.is_finite();
                    if smaller < smallest && failing {
                        context.check_step(t0, &self.x0)?;
                        let name = self.integrator.name();
                        return Err(Error::numerical(format!(
                            "integrator '{name}': an error of {error:e} with a step of {step:e} s \
                             misses the accuracy {accuracy:e}, and the smallest step allowed is \
                             {smallest:e} s"
                        )));
                    }
                    self.statistics.shrinkages_from_error_control += 1;
                    step = smaller.max(smallest);
                    context.set_time_and_xc(t0, &self.x0);
                }
            }
        }
    }
}

impl Limits {
    /// Checks the steps and the accuracy. A first step above the largest one is cut to it.
    pub(in crate::simulation) fn check(&self) -> Result<()> {
        let wrong = |what: &str, found: f64, expected: &str| {
            Err(Error::invalid(format!(
                "Simulator: the {what} must be {expected}, got {found:?}"
            )))
        };
        let positive = |x: f64| x > 0.0 && x.is_finite();
        let (largest, smallest) = (self.max_step, self.min_step);
        if !positive(largest) {
            return wrong("largest step", largest, "positive and finite (s)");
        }
        if !(0.0..=largest).contains(&smallest) {
            let expected = format!("from 0 to the largest step, {largest:?} s");
            return wrong("smallest step", smallest, &expected);
        }
        if !positive(self.accuracy) {
            return wrong("accuracy", self.accuracy, "positive and finite");
        }
        Ok(())
    }

    /// Returns the smallest step at this time (s).
    pub(in crate::simulation) fn smallest(&self, time: f64) -> f64 {
        (SMALLEST_STEP * time.abs().max(1.0)).max(self.min_step)
    }
}

enum Verdict {
    /// Keep the step; holds the size of the next one (s).
    Accept(f64),
    /// Try again with this size (s).
    Repeat(f64),
}

/// Criteria for accepting a step.
struct Judge {
    accuracy: f64,
    order: u32,
    smallest: f64,
    largest: f64,
}

impl Judge {
    /// Judges a `step` (s) with this error. `at_smallest` is kept between the attempts at one step
    /// and is true if the last attempt was as small as allowed.
    fn of(&self, error: f64, step: f64, at_smallest: &mut bool) -> Verdict {
        if !error.is_finite() {
            return Verdict::Repeat(MIN_SHRINK * step);
        }
        let mut next = if error == 0.0 {
            MAX_GROW * step
        } else {
            SAFETY * step * (self.accuracy / error).powf(1.0 / f64::from(self.order))
        };
        if next > step {
            *at_smallest = false;
            if next < GROW_FROM * step {
                next = step;
            }
        } else if next < step {
            if *at_smallest {
                return Verdict::Accept(step);
            }
            next = if error <= self.accuracy {
                step
            } else {
                next.min(SHRINK_AT_MOST_TO * step)
            };
        }
        next = next
            .min(MAX_GROW * step)
            .max(MIN_SHRINK * step)
            .min(self.largest);
        if next <= self.smallest {
            *at_smallest = true;
        }
        if next >= step {
            Verdict::Accept(next.max(self.smallest))
        } else {
            Verdict::Repeat(next)
        }
    }
}

/// Returns the largest magnitude; NaN if any element is NaN.
pub(super) fn largest<T: Scalar>(error: &[T]) -> f64 {
    error.iter().fold(0.0, |worst: f64, e| {
        let e = e.re().abs();
        if e.is_nan() || e > worst { e } else { worst }
    })
}

/// Moves `time` to the target, to the bit, keeping its derivatives.
fn exactly<T: Scalar>(time: T, target: f64) -> T {
    if target.is_infinite() {
        return T::from(target); // Nothing to integrate and no further event.
    }
    let near = time + T::from(target - time.re());
    near + T::from(target - near.re())
}
