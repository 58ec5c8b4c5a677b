//! Reusable work space.

use std::fmt;
use std::sync::{Mutex, PoisonError};

/// Work space that is lent to one user at a time and kept for the next one, such as the buffers of
/// an encoder.
///
/// No lock is held while a space is in use. Simultaneous users get separate spaces, be they other
/// threads or a task that rayon runs on a waiting thread. The pool keeps as many spaces as were in
/// use at once. A space is dropped if its user panics.
///
/// ```
/// use tarragon_framework::Scratch;
/// let buffers = Scratch::<Vec<u8>>::default();
/// let capacity = buffers.lend(|buffer| {
///     buffer.resize(1000, 0);
///     buffers.lend(|other| assert!(other.is_empty()));
///     buffer.capacity()
/// });
/// assert!(capacity >= 1000);
/// ```
pub struct Scratch<V>(Mutex<Vec<V>>);

impl<V> Default for Scratch<V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<V> fmt::Debug for Scratch<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scratch").finish_non_exhaustive()
    }
}

impl<V: Default> Scratch<V> {
    /// Calls `f` with a space that nobody else uses. If all are in use, `f` gets a new default
    /// value.
    pub fn lend<R>(&self, f: impl FnOnce(&mut V) -> R) -> R {
        let spaces = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // The lock is released at the end of each statement.
        let space = spaces().pop();
        let mut space = space.unwrap_or_default();
        let result = f(&mut space);
        spaces().push(space);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simultaneous_users_have_separate_spaces_and_the_next_user_gets_the_last() {
        let scratch = Scratch::<Vec<u8>>::default();
        let (first, second) = scratch.lend(|a| {
            a.reserve(10);
            let second = scratch.lend(|b| {
                b.reserve(10);
                b.as_ptr()
            });
            (a.as_ptr(), second)
        });
        assert_ne!(first, second);
        assert_eq!(scratch.lend(|a| a.as_ptr()), first, "the one returned last");
    }
}
