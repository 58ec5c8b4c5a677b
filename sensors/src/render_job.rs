//! Work on a thread of its own, whose result several contexts may wait for.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tarragon_framework::{Error, Result};

/// A computation under way. Clones of a context share it, as they share its inputs. With the last
/// of them it is cancelled, and its thread ends as soon as the computation notices.
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
    /// Starts a thread for `work`, which sees whether it has been cancelled.
    ///
    /// # Errors
    /// If there can be no more threads.
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
        // Nobody joins it: it ends by itself, with the computation.
        let started = thread.spawn(run);
        started
            .map_err(|e| Error::custom(format!("the rendering thread can not be started: {e}")))?;
        Ok(Self { shared })
    }

    /// Waits for the result.
    ///
    /// # Errors
    /// Those of the computation, and its panic.
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
            // left to draw what they wait for.
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

/// What a panic said.
fn describe(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!(
        "the rendering thread panicked: {}",
        text.unwrap_or("(no message)")
    )
}
