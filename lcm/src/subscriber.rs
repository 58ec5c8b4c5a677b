//! The latest message of a channel.

use crate::Result;
use crate::bus::Lcm;
use crate::inbox::Subscription;
use crate::message::LcmMessage;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Keeps the latest message of a channel, and counts messages (Drake's `Subscriber`).
///
/// Both are updated by [`Lcm::handle_subscriptions`].
///
/// ```
/// use std::time::Duration;
/// use tarragon_lcm::{Lcm, Subscriber, types::LcmtPoint};
/// let lcm = Lcm::with_url("memq://")?;
/// let points = Subscriber::<LcmtPoint>::new(&lcm, "POINT")?;
/// assert_eq!(points.message(), None);
/// for x in [1.0, 2.0] {
///     lcm.publish("POINT", &LcmtPoint { x, y: 0.0, z: 0.0 })?;
/// }
/// lcm.handle_subscriptions(Duration::ZERO)?;
/// assert_eq!((points.count(), points.message().map(|p| p.x)), (2, Some(2.0)));
/// # Ok::<(), tarragon_lcm::Error>(())
/// ```
#[derive(Debug)]
pub struct Subscriber<M> {
    last: Arc<Mutex<Last<M>>>,
    subscription: Subscription,
}

#[derive(Debug)]
struct Last<M> {
    /// Reference-counted, so that it is read without holding the lock.
    message: Option<Arc<M>>,
    count: u64,
}

/// Locks even after a panic: the message is valid at all times.
fn lock<M>(last: &Mutex<Last<M>>) -> MutexGuard<'_, Last<M>> {
    last.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<M: LcmMessage> Subscriber<M> {
    /// Subscribes to a channel.
    ///
    /// # Errors
    /// Same as [`Lcm::subscribe`].
    pub fn new(lcm: &Lcm, channel: &str) -> Result<Self> {
        let last = Arc::new(Mutex::new(Last::<M> {
            message: None,
            count: 0,
        }));
        let subscription = lcm.subscribe_mut(channel, {
            let last = last.clone();
            move |new: &mut M| {
                let mut last = lock(&last);
                last.count += 1;
                let message = last.message.get_or_insert_default();
                // Reuses the old message's memory for the next one, unless a reader still holds it.
                match Arc::get_mut(message) {
                    Some(message) => std::mem::swap(message, new),
                    None => *message = Arc::new(std::mem::take(new)),
                }
            }
        })?;
        Ok(Self { last, subscription })
    }
    /// A copy of the latest message, if any came since [`clear`](Self::clear).
    pub fn message(&self) -> Option<M> {
        self.with_message(|message| message.cloned())
    }
    /// Calls `read` with the latest message, without copying it. Further messages may come in
    /// meanwhile.
    pub fn with_message<V>(&self, read: impl FnOnce(Option<&M>) -> V) -> V {
        let message = lock(&self.last).message.clone();
        read(message.as_deref())
    }
    /// The number of messages since [`clear`](Self::clear).
    pub fn count(&self) -> u64 {
        lock(&self.last).count
    }
    /// Forgets the message and resets the count.
    pub fn clear(&self) {
        let mut last = lock(&self.last);
        (last.message, last.count) = (None, 0);
    }
    /// The subscription, for setting its queue capacity.
    pub fn subscription_mut(&mut self) -> &mut Subscription {
        &mut self.subscription
    }
}
