//! Recording of signals.

use super::check;
use super::vector_log::VectorLog;
use crate::Result;
use crate::prelude::*;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Recorder of its input at every publish (Drake's `VectorLogSink`).
///
/// | port | name | type |
/// |---|---|---|
/// | input | `data` | vector of `size` |
///
/// The log belongs to the context. Clones of a context share the value of the `log` parameter, so
/// fork a simulation before it starts recording.
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::{Sine, VectorLogSink, log_vector_output};
///
/// let mut b = DiagramBuilder::new();
/// let wave = b.add("wave", Sine::new(1));
/// let log = log_vector_output(&mut b, "log", wave.y, VectorLogSink::periodic(1, 0.25));
/// let diagram = b.build()?;
/// let mut sim = Simulator::new(&diagram, diagram.default_context())?;
/// sim.advance_to(1.0)?;
/// let recorded = log.find_log(sim.context())?;
/// assert_eq!(recorded.sample_times(), [0.0, 0.25, 0.5, 0.75, 1.0]);
/// log.clear_log(sim.context_mut())?;
/// assert_eq!(sim.context().param(log.log)?.lock().unwrap().num_samples(), 0);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct VectorLogSink {
    size: usize,
    triggers: Vec<Trigger>,
}

impl VectorLogSink {
    /// Creates a sink that records vectors of `size` elements at every step and at forced
    /// publishes.
    pub fn per_step(size: usize) -> Self {
        let triggers = vec![Trigger::Forced, Trigger::PerStep];
        Self { size, triggers }
    }
    /// Creates a sink that records vectors of `size` elements every `period` (s) from time zero on,
    /// and at forced publishes. [`DiagramBuilder::build`] fails if the period is not positive.
    pub fn periodic(size: usize, period: f64) -> Self {
        let triggers = vec![Trigger::Forced, Trigger::every(period)];
        Self { size, triggers }
    }
    /// Creates a sink that records vectors of `size` elements whenever one of `triggers` fires.
    /// Where several fire together, it records several samples with the same time, as in Drake.
    ///
    /// ```
    /// use tarragon_framework::prelude::*;
    /// use tarragon_framework::primitives::VectorLogSink;
    /// let late = Trigger::Periodic { period: 0.5, offset: 0.1 };
    /// let sink = VectorLogSink::with_triggers(3, [late, Trigger::Forced])?;
    /// # Ok::<(), tarragon_framework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if there is no trigger: nothing would be recorded. A period or an offset
    /// out of range is an error of [`DiagramBuilder::build`].
    pub fn with_triggers(size: usize, triggers: impl IntoIterator<Item = Trigger>) -> Result<Self> {
        let triggers: Vec<Trigger> = triggers.into_iter().collect();
        if triggers.is_empty() {
            return check::fail(
                "VectorLogSink",
                "there must be at least one trigger, got none",
            );
        }
        Ok(Self { size, triggers })
    }
}

/// Adds a sink that records an output port, and connects it (Drake's `LogVectorOutput`).
/// [`DiagramBuilder::build`] reports mistakes. See [`VectorLogSink`] for an example.
pub fn log_vector_output(
    builder: &mut DiagramBuilder,
    name: &str,
    port: OutputPort<Vec<f64>>,
    sink: VectorLogSink,
) -> Block<VectorLogSink> {
    let sink = builder.add(name, sink);
    builder.connect(port, sink.u);
    sink
}

/// Ports of [`VectorLogSink`].
#[derive(Clone, Copy, Debug)]
pub struct VectorLogSinkPorts<T> {
    /// Recorded signal.
    pub u: InputPort<Vec<T>>,
    /// The log.
    pub log: Param<Arc<Mutex<VectorLog<T>>>>,
}

impl<T: Scalar> VectorLogSinkPorts<T> {
    /// Returns a copy of the log in `context`.
    ///
    /// # Errors
    /// Returns an error if the context belongs to another diagram.
    pub fn find_log(&self, context: &Context<T>) -> Result<VectorLog<T>> {
        Ok(lock(context.param(self.log)?).clone())
    }

    /// Clears the log in `context`, which its clones share.
    ///
    /// # Errors
    /// Returns an error if the context belongs to another diagram.
    pub fn clear_log(&self, context: &mut Context<T>) -> Result<()> {
        lock(context.param_mut(self.log)?).clear();
        Ok(())
    }
}

/// Locks a log. Poison is ignored: a log stays intact even if its user panics.
fn lock<T>(log: &Mutex<VectorLog<T>>) -> MutexGuard<'_, VectorLog<T>> {
    log.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T: Scalar> LeafSystem<T> for VectorLogSink {
    type Ports = VectorLogSinkPorts<T>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let (size, u) = (self.size, d.vector_input("data", self.size));
        let log = d.fresh_param(move || Arc::new(Mutex::new(VectorLog::new(size))));
        for trigger in &self.triggers {
            d.publish_on(*trigger, move |_, ctx| {
                let sample = ctx.eval(u)?;
                lock(ctx.param::<Arc<_>>(log)).add_data(ctx.time(), sample)?;
                Ok(EventStatus::Succeeded)
            });
        }
        VectorLogSinkPorts { u, log }
    }
}
