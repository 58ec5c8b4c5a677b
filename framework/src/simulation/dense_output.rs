//! The whole trajectory of the continuous state, not only its steps.

use crate::trajectories::PiecewisePolynomial;
use crate::{Context, Error, Result, Scalar, Simulator};

impl Simulator<f64> {
    /// Records all continuous state between steps too, from now on, until
    /// [`Simulator::stop_dense_output`] (Drake's `StartDenseIntegration`).
    ///
    /// Each step costs the time derivatives at its end, which most integrators then need not
    /// compute again at the begin of the next one. They do not count in the statistics of the
    /// integrator.
    ///
    /// ```
    /// use tarragon_framework::prelude::*;
    /// use tarragon_framework::primitives::{Integrator, Sine};
    /// let mut b = DiagramBuilder::new();
    /// let wave = b.add("wave", Sine::new(1.0, 1.0, 0.0, 1));
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
    /// If there is no continuous state, or dense output has been started already.
    pub fn start_dense_output(&mut self) -> Result<()> {
        if self.context().data.xc.is_empty() {
            return Err(Error::invalid(
                "Simulator: there is no continuous state to record; add a system that has some",
            ));
        }
        if self.driver.dense_output.is_some() {
            return Err(Error::invalid(
                "Simulator: dense output has been started already; stop it first",
            ));
        }
        self.driver.dense_output = Some(DenseOutput::default());
        Ok(())
    }

    /// Ends the recording and returns it (Drake's `StopDenseIntegration`): a cubic Hermite
    /// polynomial per step, with the state and its derivative at both ends, so with an error that
    /// shrinks with the fourth power of the step. None if no step was taken since
    /// [`Simulator::start_dense_output`], or it was not called.
    ///
    /// Where an event, or [`Simulator::context_mut`], changed the state or its derivative between
    /// two steps, the value at that time is the one after the change. The one before it is at the
    /// end of a segment that ends a rounding error (2e-16 steps, or the next smaller number)
    /// earlier; the jump is between these two.
    ///
    /// # Errors
    /// If the state or its derivative was not finite.
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
            .map_err(|e| e.locate(|| "dense output".into()))
    }
}

/// Times (s), states and derivatives of the state at the ends of steps.
#[derive(Default)]
pub(super) struct DenseOutput {
    breaks: Vec<f64>,
    x: Vec<Vec<f64>>,
    slopes: Vec<Vec<f64>>,
    /// At the begin of the step that is being taken.
    start: Option<Sample>,
}

/// A state of [`DenseOutput`].
pub(super) struct Checkpoint {
    len: usize,
    /// A jump may move or remove it.
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
    /// To be called before a step.
    ///
    /// # Errors
    /// If the derivatives can not be computed, or somebody changed the time since the last step.
    pub(super) fn begin_step<T: Scalar>(&mut self, context: &Context<T>) -> Result<()> {
        let start = Sample::of(context)?;
        if let Some(end) = self.breaks.last()
            && *end != start.time
        {
            return Err(Error::invalid(format!(
                "Simulator: the time was changed from {end} s to {} s; stop dense output before that",
                start.time
            )));
        }
        self.start = Some(start);
        Ok(())
    }

    /// To be called after a step that succeeded.
    ///
    /// # Errors
    /// If the derivatives can not be computed; nothing is recorded then.
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

    /// What there is now, to come back to.
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

    /// Forgets the steps since the checkpoint.
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

    /// Makes room for another value at the last break: what was there moves to just before it, or
    /// goes if there is no number between it and the break before it. `step`: the next one (s).
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
