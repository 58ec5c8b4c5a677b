//! Recording of signals.

use super::check;
use super::vector_log::VectorLog;
use crate::prelude::*;
use crate::{IntoValue, Result};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Recorder of its input at every publish (Drake's `VectorLogSink`).
///
/// | port | name | type |
/// |---|---|---|
/// | input | `data` | vector of `size` |
///
/// The log belongs to the context. Clones of a context share the value of the `log` parameter, so
/// fork a simulation before it starts recording. [`log_vector_output`] and
/// [`log_vector_output_on`] add a sink of the right size and connect it.
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::{Sine, VectorLogSink};
///
/// let mut b = DiagramBuilder::new();
/// let wave = b.add("wave", Sine::new(1));
/// let log = b.add("log", VectorLogSink::periodic(1, 0.25));
/// b.connect(wave.y, log.u);
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
    names: Vec<String>,
    triggers: Vec<Trigger>,
}

impl VectorLogSink {
    /// Creates a sink that records vectors of `size` elements at every step and at forced
    /// publishes.
    pub fn per_step(size: usize) -> Self {
        Self::on(size, vec![Trigger::Forced, Trigger::PerStep])
    }
    /// Creates a sink that records vectors of `size` elements every `period` (s) from time zero on,
    /// and at forced publishes. [`DiagramBuilder::build`] fails if the period is not positive.
    pub fn periodic(size: usize, period: f64) -> Self {
        Self::on(size, vec![Trigger::Forced, Trigger::every(period)])
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
        Ok(Self::on(size, triggers))
    }

    fn on(size: usize, triggers: Vec<Trigger>) -> Self {
        let names = vec![];
        Self {
            size,
            names,
            triggers,
        }
    }

    /// Names the elements of the input and of the log. [`DiagramBuilder::build`] fails if there are
    /// more or fewer names than elements.
    pub fn with_element_names(
        mut self,
        names: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        self.names = names.into_iter().map(Into::into).collect();
        self
    }
}

/// Adds a sink that records an output port at every step and at forced publishes, and connects it
/// (Drake's `LogVectorOutput`).
///
/// The log has the size of the port and the names of its elements. [`DiagramBuilder::build`]
/// reports mistakes.
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::{Sine, log_vector_output};
///
/// let mut b = DiagramBuilder::new();
/// let wave = b.add("wave", Sine::new(2));
/// let log = log_vector_output(&mut b, "log", wave.y);
/// let diagram = b.build()?;
/// let mut sim = Simulator::new(&diagram, diagram.default_context())?;
/// sim.advance_to(1.0)?;
/// assert_eq!(log.find_log(sim.context())?.sample_times(), [0.0, 1.0]);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
pub fn log_vector_output(
    builder: &mut DiagramBuilder,
    name: &str,
    port: OutputPort<Vec<f64>>,
) -> Block<VectorLogSink> {
    log_vector_output_on(builder, name, port, Trigger::PerStep)
}

/// Same as [`log_vector_output`], but records whenever one of `triggers` fires and at forced
/// publishes.
///
/// Where several fire together, it records several samples with the same time, as in Drake.
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::{Sine, log_vector_output_on};
///
/// let mut b = DiagramBuilder::new();
/// let wave = b.add("wave", Sine::new(1));
/// let log = log_vector_output_on(&mut b, "log", wave.y, Trigger::every(0.25));
/// let late = Trigger::Periodic { period: 0.5, offset: 0.1 };
/// let two = log_vector_output_on(&mut b, "two", wave.y, [late, Trigger::Initialization]);
/// let diagram = b.build()?;
/// let mut sim = Simulator::new(&diagram, diagram.default_context())?;
/// sim.advance_to(1.0)?;
/// assert_eq!(log.find_log(sim.context())?.sample_times(), [0.0, 0.25, 0.5, 0.75, 1.0]);
/// assert_eq!(two.find_log(sim.context())?.sample_times(), [0.0, 0.1, 0.6]);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
pub fn log_vector_output_on(
    builder: &mut DiagramBuilder,
    name: &str,
    port: OutputPort<Vec<f64>>,
    triggers: impl IntoValue<Vec<Trigger>>,
) -> Block<VectorLogSink> {
    let (size, names) = builder.shape_of_output(port);
    let mut triggers = triggers.into_value();
    if !triggers.contains(&Trigger::Forced) {
        triggers.insert(0, Trigger::Forced);
    }
    let sink = VectorLogSink::on(size, triggers).with_element_names(names);
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
        let u = d.vector_input("data", self.size);
        let log = if self.names.is_empty() {
            VectorLog::new(self.size)
        } else {
            let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
            d.name_elements(&u, &names);
            VectorLog::with_element_names(names)
        };
        let log = d.fresh_param(move || Arc::new(Mutex::new(log.clone())));
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
