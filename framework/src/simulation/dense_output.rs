//! Dense output: the trajectory of the continuous state between steps.

use crate::trajectories::PiecewisePolynomial;
use crate::{Context, Error, Result, Scalar, Simulator};

impl Simulator<f64> {
    /// Starts recording all continuous state, also between steps, until
    /// [`Simulator::stop_dense_output`] (Drake's `StartDenseIntegration`).
    ///
    /// Each step additionally evaluates the time derivatives at its end, which most integrators
    /// then need not evaluate again at the beginning of the next step. These evaluations do not
    /// count in the statistics of the integrator.
    ///
    /// ```
    /// use tarragon_framework::prelude::*;
    /// use tarragon_framework::primitives::{Integrator, Sine};
    /// let mut b = DiagramBuilder::new();
    /// let wave = b.add("wave", Sine::new(1));
    /// let sum = b.add("sum", Integrator::new(1));
    /// b.connect(wave.y, sum.u);
    /// let diagram = b.build()?;
    /// let mut sim = Simulator::new(&diagram, diagram.default_context())?;
    /// sim.start_dense_output()?;
    /// sim.advance_to(2.0)?;
    /// let trajectory = sim.stop_dense_output()?.expect("it was started, and time has passed");
    /// let error = trajectory.value(1.234)[0] - (1.0 - 1.234_f64.cos());
    /// assert!(error.abs() < 1e-4);
    /// # Ok::<(), tarragon_framework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if there is no continuous state, or dense output has been started already.
    pub fn start_dense_output(&mut self) -> Result<()> {
        if self.context().data.xc.is_empty() {
            return Err(Error::state(
                "Simulator: there is no continuous state to record; add a system that has some",
            ));
        }
        if self.driver.dense_output.is_some() {
            return Err(Error::state(
                "Simulator: dense output has been started already; stop it first",
            ));
        }
        self.driver.dense_output = Some(DenseOutput::default());
        Ok(())
    }

    /// Ends the recording and returns it (Drake's `StopDenseIntegration`). Each step becomes a
    /// cubic Hermite polynomial through the state and its derivative at both ends, so the error
    /// shrinks with the fourth power of the step. Returns `None` if no step was taken since
    /// [`Simulator::start_dense_output`], or if that was not called.
    ///
    /// Where an event or [`Simulator::context_mut`] changed the state or its derivative between two
    /// steps, the value at that time is the one after the change. The value before it is at the end
    /// of a segment that ends a rounding error (2e-16 steps, or the next smaller number) earlier;
    /// the jump lies between these two times.
    ///
    /// # Errors
    /// Returns an error if the state or its derivative was not finite.
    pub fn stop_dense_output(&mut self) -> Result<Option<PiecewisePolynomial>> {
        let Some(recorded) = self.driver.dense_output.take() else {
            return Ok(None);
        };
        if recorded.breaks.is_empty() {
            return Ok(None);
        }
        let DenseOutput {
            breaks, x, slopes, ..
        } = recorded;
        let trajectory = PiecewisePolynomial::cubic_hermite(&breaks, &x, &slopes);
        trajectory
            .map(Some)
            .map_err(|e| e.locate(None, || "dense output".into()))
    }
}

/// Times (s), states and state derivatives at the ends of steps.
#[derive(Default)]
pub(super) struct DenseOutput {
    breaks: Vec<f64>,
    x: Vec<Vec<f64>>,
    slopes: Vec<Vec<f64>>,
    /// Sample at the beginning of the step in progress.
    start: Option<Sample>,
}

/// Saved position in a [`DenseOutput`].
pub(super) struct Checkpoint {
    len: usize,
    /// Last sample, saved because a jump may move or remove it.
    last: Option<Sample>,
}

#[derive(Clone)]
struct Sample {
    time: f64,
    x: Vec<f64>,
    slope: Vec<f64>,
}

impl Sample {
    fn of<T: Scalar>(context: &Context<T>) -> Result<Self> {
        let numbers = |x: &[T]| x.iter().map(|x| x.re()).collect::<Vec<f64>>();
        let mut slope = context.data.xc.clone();
        context.time_derivatives(&mut slope)?;
        Ok(Self {
            time: context.time().re(),
            x: numbers(&context.data.xc),
            slope: numbers(&slope),
        })
    }
}

impl DenseOutput {
    /// Records the beginning of a step; must be called before each one.
    ///
    /// # Errors
    /// Returns an error if the derivatives cannot be computed, or if the time was changed since the
    /// last step.
    pub(super) fn begin_step<T: Scalar>(&mut self, context: &Context<T>) -> Result<()> {
        let start = Sample::of(context)?;
        if let Some(end) = self.breaks.last()
            && *end != start.time
        {
            return Err(Error::state(format!(
                "Simulator: the time was changed from {end} s to {} s; stop dense output before that",
                start.time
            )));
        }
        self.start = Some(start);
        Ok(())
    }

    /// Records the end of a step; must be called after each one that succeeded.
    ///
    /// # Errors
    /// Returns an error if the derivatives cannot be computed; in that case nothing is recorded.
    pub(super) fn end_step<T: Scalar>(&mut self, context: &Context<T>) -> Result<()> {
        let end = Sample::of(context)?;
        let Some(start) = self.start.take() else {
            return Ok(());
        };
        let before = self.x.last().zip(self.slopes.last());
        if before.is_some_and(|(x, slope)| *x != start.x || *slope != start.slope) {
            self.jump(end.time - start.time);
        }
        if self.breaks.last() != Some(&start.time) {
            self.push(start);
        }
        self.push(end);
        Ok(())
    }

    /// Returns the current position, for a later roll-back.
    pub(super) fn checkpoint(&self) -> Checkpoint {
        let last = self.breaks.len().checked_sub(1);
        Checkpoint {
            len: self.breaks.len(),
            last: last.map(|i| Sample {
                time: self.breaks[i],
                x: self.x[i].clone(),
                slope: self.slopes[i].clone(),
            }),
        }
    }

    /// Discards the steps since the checkpoint.
    pub(super) fn roll_back(&mut self, to: &Checkpoint) {
        let unchanged = to.len.saturating_sub(1);
        self.breaks.truncate(unchanged);
        self.x.truncate(unchanged);
        self.slopes.truncate(unchanged);
        if let Some(last) = &to.last {
            self.push(last.clone());
        }
    }

    fn push(&mut self, sample: Sample) {
        self.breaks.push(sample.time);
        self.x.push(sample.x);
        self.slopes.push(sample.slope);
    }

    /// Makes room for another value at the last break. The existing sample moves to just before it,
    /// or is removed if there is no number between it and the previous break. `step` is the next
    /// step (s).
    fn jump(&mut self, step: f64) {
        let [.., before, last] = &mut self.breaks[..] else {
            return;
        };
        let earlier = (*last - f64::EPSILON * step).min(last.next_down());
        if earlier > *before {
            *last = earlier;
        } else {
            self.breaks.pop();
            self.x.pop();
            self.slopes.pop();
        }
    }
}
