//! Recording a signal.

use crate::Result;
use crate::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};

/// What a [`VectorLogSink`] recorded: times and one vector per time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VectorLog<T> {
    /// Sample times (s).
    pub times: Vec<T>,
    /// Samples, in order of time.
    pub data: Vec<Vec<T>>,
}

/// Records its input at every publish (Drake's `VectorLogSink`).
///
/// | port | name | type |
/// |---|---|---|
/// | input | `data` | vector of `size` |
///
/// The log belongs to the context: the `log` port's value is shared by the clones of a context, so
/// fork a recording simulation before it starts.
#[derive(Clone, Debug)]
pub struct VectorLogSink {
    size: usize,
    period: Option<f64>,
}

impl VectorLogSink {
    /// Records vectors of `size` elements at every step.
    pub fn per_step(size: usize) -> Self {
        Self { size, period: None }
    }
    /// Records vectors of `size` elements every `period` (s).
    pub fn periodic(size: usize, period: f64) -> Self {
        let period = Some(period);
        Self { size, period }
    }
}

/// Ports of [`VectorLogSink`].
#[derive(Clone, Copy, Debug)]
pub struct VectorLogSinkPorts<T> {
    /// What is recorded.
    pub u: InputPort<Vec<T>>,
    /// The record.
    pub log: Param<Arc<Mutex<VectorLog<T>>>>,
}

impl<T: Scalar> VectorLogSinkPorts<T> {
    /// A copy of what was recorded in `context` so far.
    ///
    /// # Errors
    /// If the context belongs to another diagram.
    pub fn find_log(&self, context: &Context<T>) -> Result<VectorLog<T>> {
        let log = context.param(self.log)?;
        Ok(log.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }
}

impl<T: Scalar> LeafSystem<T> for VectorLogSink {
    type Ports = VectorLogSinkPorts<T>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let u = d.vector_input("data", self.size);
        let log = d.fresh_param(|| {
            Arc::new(Mutex::new(VectorLog {
                times: vec![],
                data: vec![],
            }))
        });
        let trigger = self.period.map_or(Trigger::PerStep, Trigger::every);
        d.publish_on(trigger, move |_, ctx| {
            let sample = ctx.eval(u)?.clone();
            let mut log = ctx
                .param(log)
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            log.times.push(ctx.time());
            log.data.push(sample);
            Ok(EventStatus::Succeeded)
        });
        VectorLogSinkPorts { u, log }
    }
}
