//! The speed of a simulation, and stopping it from elsewhere.

use crate::{Error, Result};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Stops a simulator between two steps from another thread, such as the one in which the `ctrlc`
/// crate calls its handler (it takes a lock, so it is not for the handler of a signal itself): its
/// `advance_to` returns [`SimulatorStatus::Interrupted`](crate::SimulatorStatus).
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
    /// Asks the simulator to stop before its next step; it wakes up if it waits for real time. The
    /// request holds until the simulator has followed it once.
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

/// How fast simulated time goes.
#[derive(Clone, Default)]
pub(super) struct Pace {
    /// Seconds simulated per second, 0 for as fast as possible.
    target: f64,
    /// When counting began, and the simulated time (s) then.
    start: Option<(Instant, f64)>,
    interrupt: InterruptHandle,
}

impl Pace {
    pub(super) fn with_target(&self, rate: f64) -> Result<Self> {
        if !(rate >= 0.0 && rate.is_finite()) {
            return Err(Error::invalid(format!(
                "Simulator: the target realtime rate is {rate}, a positive number is expected, or 0 for \
                 as fast as possible"
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

    /// Counts from this simulated time (s) on.
    pub(super) fn start(&mut self, time: f64) {
        self.start = Some((Instant::now(), time));
    }

    pub(super) fn actual_rate(&self, time: f64) -> f64 {
        match self.start {
            Some((begin, t0)) => (time - t0) / begin.elapsed().as_secs_f64(),
            None => f64::NAN,
        }
    }

    /// Waits until real time has come as far as `time` (s). True if somebody asked to stop.
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
