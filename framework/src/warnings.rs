//! Warnings: something works, but not quite as the user intended.
//!
//! Examples are a missing texture or a property without effect. The code that detects such a
//! problem calls [`warn`] without knowing its caller. Code that can inform the user, such as a
//! parser, collects the warnings of its own thread with [`collect`] and adds the place in the model
//! file. Without a collector, warnings go to the `tracing` subscriber, or to standard error if the
//! program has none.

use std::cell::RefCell;
use tracing::dispatcher;
use tracing::subscriber::NoSubscriber;

thread_local! {
    /// Collectors of this thread, the innermost one last.
    static COLLECTORS: RefCell<Vec<Vec<String>>> = const { RefCell::new(Vec::new()) };
}

/// Reports what was omitted or changed, with its place. Each warning has one receiver: the
/// innermost [`collect`] of this thread; without one, the `tracing` subscriber, whose filter
/// decides whether the warning is shown; without a subscriber, standard error.
///
/// ```
/// use tarragon_framework::warnings::{collect, warn};
/// let (answer, warnings) = collect(|| {
///     warn("lamp.obj: there is no lamp.mtl; it is drawn in grey");
///     42
/// });
/// assert_eq!((answer, warnings.len()), (42, 1));
/// ```
pub fn warn(message: impl Into<String>) {
    let message = message.into();
    let left = COLLECTORS.with_borrow_mut(|collectors| match collectors.last_mut() {
        Some(warnings) => {
            warnings.push(message);
            None
        }
        None => Some(message),
    });
    if let Some(message) = left {
        if dispatcher::get_default(|subscriber| subscriber.is::<NoSubscriber>()) {
            eprintln!("warning: {message}")
        } else {
            tracing::warn!("{message}")
        }
    }
}

/// Runs `work` and returns its result and the [warnings](warn) on this thread, in order.
///
/// Warnings of other threads are not collected. Those of other tasks that rayon runs on this thread
/// while `work` waits for its own tasks are.
pub fn collect<R>(work: impl FnOnce() -> R) -> (R, Vec<String>) {
    /// Guard that removes the collector, even if `work` panics.
    struct Collecting;
    impl Collecting {
        fn end() -> Vec<String> {
            COLLECTORS.with_borrow_mut(Vec::pop).unwrap_or_default()
        }
    }
    impl Drop for Collecting {
        fn drop(&mut self) {
            Self::end();
        }
    }
    COLLECTORS.with_borrow_mut(|collectors| collectors.push(vec![]));
    let collecting = Collecting;
    let result = work();
    std::mem::forget(collecting);
    (result, Collecting::end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_collector_gets_a_warning_and_a_panic_ends_its_collector() {
        let ((inner, outer), all) = collect(|| {
            warn("before");
            let inner = collect(|| warn("within")).1;
            let panicked = std::panic::catch_unwind(|| {
                collect(|| {
                    warn("lost");
                    panic!("on purpose");
                })
            });
            assert!(panicked.is_err());
            (inner, warn("after"))
        });
        assert_eq!(
            (inner, outer, all),
            (
                vec!["within".into()],
                (),
                vec!["before".into(), "after".into()]
            )
        );
    }
}
