//! Rendering on a dedicated thread, whose result several contexts may wait for.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tarragon_framework::{Error, ErrorKind, Result};

/// A running computation. Clones of a context share it, as they share its inputs. Dropping it
/// cancels the computation, and its thread ends as soon as the computation notices.
pub(crate) struct RenderJob<R> {
    shared: Arc<Shared<R>>,
}

struct Shared<R> {
    result: Mutex<Option<Result<Arc<R>>>>,
    ready: Condvar,
    cancelled: AtomicBool,
}

impl<R> Shared<R> {
    fn result(&self) -> MutexGuard<'_, Option<Result<Arc<R>>>> {
        self.result.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<R: Send + Sync + 'static> RenderJob<R> {
    /// Starts `work` on a new thread. Its argument becomes true when the job is cancelled.
    ///
    /// # Errors
    /// Returns an error if no thread can be started.
    pub(crate) fn start(
        work: impl FnOnce(&AtomicBool) -> Result<R> + Send + 'static,
    ) -> Result<Self> {
        let shared = Arc::new(Shared {
            result: Mutex::new(None),
            ready: Condvar::new(),
            cancelled: AtomicBool::new(false),
        });
        let of_thread = Arc::clone(&shared);
        let run = move || {
            let result = catch_unwind(AssertUnwindSafe(|| work(&of_thread.cancelled)));
            let result = result.unwrap_or_else(|panic| Err(Error::custom(describe(&*panic))));
            *of_thread.result() = Some(result.map(Arc::new));
            of_thread.ready.notify_all();
        };
        let thread = std::thread::Builder::new().name("rgbd_sensor_async".into());
        // The thread is never joined: it ends with the computation.
        let started = thread.spawn(run);
        started.map_err(|e| {
            Error::new(
                ErrorKind::Io,
                "RgbdSensorAsync: cannot start the rendering thread",
            )
            .with_cause(e)
        })?;
        Ok(Self { shared })
    }

    /// Waits for the result.
    ///
    /// # Errors
    /// Returns the error of the computation, or an error with the message of its panic.
    pub(crate) fn wait(&self) -> Result<Arc<R>> {
        let mut result = self.shared.result();
        loop {
            if let Some(result) = &*result {
                return result.clone();
            }
            if rayon::current_thread_index().is_none() {
                let woken = self.shared.ready.wait(result);
                result = woken.unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            // Many simulations may run on rayon's threads. If all of them slept here, none would be
            // left to draw the images that they wait for.
            drop(result);
            let busy = rayon::yield_now() == Some(rayon::Yield::Executed);
            result = self.shared.result();
            if !busy && result.is_none() {
                let short = Duration::from_micros(200);
                let woken = self.shared.ready.wait_timeout(result, short);
                result = woken.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
    }
}

impl<R> Drop for RenderJob<R> {
    fn drop(&mut self) {
        self.shared.cancelled.store(true, Ordering::Relaxed);
    }
}

/// Returns the error message for the payload of a panic.
fn describe(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!(
        "the rendering thread panicked: {}",
        text.unwrap_or("(no message)")
    )
}
