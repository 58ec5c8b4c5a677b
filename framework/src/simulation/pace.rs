//! Pace of a simulation: real-time rate, and interruption from other threads.

use crate::{Error, Result};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Handle that stops a simulator between two steps from another thread, such as the one in which
/// the `ctrlc` crate calls its handler. (It takes a lock, so it must not be used in a signal
/// handler itself.) The simulator's `advance_to` returns
/// [`SimulatorStatus::Interrupted`](crate::SimulatorStatus).
///
/// ```
/// use tarragon_framework::prelude::*;
/// let diagram = DiagramBuilder::new().build()?;
/// let mut sim = Simulator::new(&diagram, diagram.default_context())?;
/// let stop = sim.interrupt_handle();
/// std::thread::spawn(move || stop.interrupt()).join().expect("it does not panic");
/// assert_eq!(sim.advance_to(1.0)?, SimulatorStatus::Interrupted);
/// assert_eq!(sim.advance_to(1.0)?, SimulatorStatus::ReachedBoundaryTime);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct InterruptHandle(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    requested: AtomicBool,
    lock: Mutex<()>,
    wake: Condvar,
}

impl InterruptHandle {
    /// Asks the simulator to stop before its next step; a simulator that waits for real time wakes
    /// up. The request stays pending until the simulator has obeyed it once.
    pub fn interrupt(&self) {
        let _guard = self.0.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.0.requested.store(true, Ordering::Relaxed);
        self.0.wake.notify_all();
    }

    fn take(&self) -> bool {
        self.0.requested.load(Ordering::Relaxed) && self.0.requested.swap(false, Ordering::Relaxed)
    }

    fn sleep_until(&self, wake_up: Instant) {
        let mut guard = self.0.lock.lock().unwrap_or_else(PoisonError::into_inner);
        while !self.0.requested.load(Ordering::Relaxed) {
            let left = wake_up.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let waited = self.0.wake.wait_timeout(guard, left);
            guard = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// Rate of simulated time.
#[derive(Clone, Default)]
pub(super) struct Pace {
    /// Target in seconds simulated per second; 0 for as fast as possible.
    target: f64,
    /// Start of measurement: real time, and simulated time (s).
    start: Option<(Instant, f64)>,
    interrupt: InterruptHandle,
}

impl Pace {
    pub(super) fn with_target(&self, rate: f64) -> Result<Self> {
        if !(rate >= 0.0 && rate.is_finite()) {
            return Err(Error::invalid(format!(
                "Simulator: the target realtime rate must be positive, or 0 for as fast as possible, \
                 got {rate:?}"
            )));
        }
        Ok(Self {
            target: rate,
            ..self.clone()
        })
    }

    pub(super) fn interrupt_handle(&self) -> InterruptHandle {
        self.interrupt.clone()
    }

    /// Starts measuring at this simulated time (s).
    pub(super) fn start(&mut self, time: f64) {
        self.start = Some((Instant::now(), time));
    }

    pub(super) fn actual_rate(&self, time: f64) -> f64 {
        match self.start {
            Some((begin, t0)) => (time - t0) / begin.elapsed().as_secs_f64(),
            None => f64::NAN,
        }
    }

    /// Waits until real time has caught up with `time` (s). Returns true if a stop was requested.
    #[inline]
    pub(super) fn wait(&self, time: f64) -> bool {
        if self.target > 0.0 {
            self.sleep(time);
        }
        self.interrupt.take()
    }

    #[cold]
    fn sleep(&self, time: f64) {
        let Some((begin, t0)) = self.start else {
            return;
        };
        let ahead = Duration::try_from_secs_f64((time - t0) / self.target);
        if let Some(wake_up) = ahead.ok().and_then(|ahead| begin.checked_add(ahead)) {
            self.interrupt.sleep_until(wake_up);
        }
    }
}
