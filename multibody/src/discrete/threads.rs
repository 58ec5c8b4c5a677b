//! Use of several threads in large steps.
//!
//! Smaller steps stay on one thread: a hundred boxes with 400 contacts took 380 µs on two threads,
//! 170 µs on one. A hundred stacks of ten boxes step 1.5 to 2 times as fast on two threads. If
//! another thread hands each step over to the pool, a step takes 10 % longer on average.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Number of contacts that are worth a second thread: each part of a step takes about 100 us, and
/// so does waking a thread on a virtual machine.
pub(crate) const MANY_CONTACTS: usize = 1000;

/// Number of contacts that make one task, so that threads end at about the same time.
pub(crate) const CONTACTS_PER_TASK: usize = 64;

/// Returns true if some contacts are worth more than one thread, and there is more than one.
pub(crate) fn are_many(num_contacts: usize) -> bool {
    num_contacts >= MANY_CONTACTS && rayon::current_num_threads() > 1
}

/// How long a thread waits for the next task before it gives up.
const PATIENCE: Duration = Duration::from_micros(500);

/// Other threads of rayon's current pool that stay awake as long as this exists, for work that has
/// several parallel parts with short serial ones between them. They would fall asleep after some
/// 20 us without tasks, and waking one takes 50 to 100 us on virtual machines.
pub(crate) struct AwakeThreads(Arc<AtomicBool>);

impl AwakeThreads {
    /// Wakes some threads other than the present one, whose index in the pool is `own`; all others
    /// if those are fewer.
    pub(crate) fn new(own: usize, count: usize) -> Self {
        let is_done = Arc::new(AtomicBool::new(false));
        for _ in 0..count.min(rayon::current_num_threads() - 1) {
            let is_done = is_done.clone();
            // While this thread waits for another, it may come across these tasks.
            rayon::spawn(move || {
                if rayon::current_thread_index() != Some(own) {
                    stay_awake(&is_done);
                }
            });
        }
        Self(is_done)
    }
}

impl Drop for AwakeThreads {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Does tasks of the pool until it is told that all is done, or tasks are missing for long: what
/// the others wait for may be further down on the stack of this thread.
fn stay_awake(is_done: &AtomicBool) {
    let mut last_task = Instant::now();
    while !is_done.load(Ordering::Relaxed) && last_task.elapsed() < PATIENCE {
        match rayon::yield_now() {
            Some(rayon::Yield::Executed) => last_task = Instant::now(),
            _ => std::hint::spin_loop(),
        }
    }
}

/// Does two things, at the same time if `parallel`.
pub(crate) fn join_if<A: Send, B: Send>(
    parallel: bool,
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B + Send,
) -> (A, B) {
    if parallel {
        rayon::join(a, b)
    } else {
        (a(), b())
    }
}
