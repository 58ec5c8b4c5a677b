//! The system that subscribes.

use crate::bus::Lcm;
use crate::inbox::{Message, Subscription};
use crate::message::LcmMessage;
use crate::{Error, ErrorKind, Result};
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tarragon_framework::prelude::*;

/// Longest wait for messages before checking whether another thread has handled some.
const SLICE: Duration = Duration::from_millis(10);

/// Outputs the latest message of a channel (Drake's `LcmSubscriberSystem`).
///
/// | port | name | type |
/// |---|---|---|
/// | output | `lcm_message` | `M`; its default value before the first message |
/// | output | `message_count` | `u64`, number of messages so far, replaced ones included |
///
/// The system does not handle messages itself: [`Lcm::handle_subscriptions`] passes them to it,
/// which an [`LcmInterfaceSystem`](crate::LcmInterfaceSystem) calls during a simulation. An update
/// event copies a received message into the context at the simulator's next step, without advancing
/// simulated time. Each context holds what had been received when it was updated. A forced update
/// copies the message, too.
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_lcm::{Lcm, LcmInterfaceSystem, LcmSubscriberSystem, types::LcmtPoint};
/// let lcm = Lcm::with_url("memq://")?;
/// let mut b = DiagramBuilder::new();
/// b.add("lcm", LcmInterfaceSystem::new(lcm.clone()));
/// let point = b.add("point", LcmSubscriberSystem::<LcmtPoint>::new("POINT", &lcm)?);
/// let diagram = b.build()?;
/// let mut sim = Simulator::new(&diagram, diagram.default_context())?;
/// sim.advance_to(1.0)?;
/// assert_eq!(*sim.context().eval(point.message_count)?, 0);
///
/// lcm.publish("POINT", &LcmtPoint { x: 1.0, y: 2.0, z: 3.0 })?;
/// sim.advance_to(2.0)?;
/// assert_eq!(sim.context().eval(point.lcm_message)?.y, 2.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct LcmSubscriberSystem<M> {
    channel: String,
    lcm: Lcm,
    wait: Duration,
    last: Arc<Mutex<LatestMessage>>,
    subscription: Subscription,
    marker: PhantomData<fn() -> M>,
}

/// The latest message, as checked bytes, and the number of messages. Clones share the bytes.
#[derive(Clone, Debug, Default)]
struct LatestMessage {
    message: Option<Arc<Message>>,
    count: u64,
}

/// Locks even after a panic: the message is valid at all times.
fn lock(last: &Mutex<LatestMessage>) -> MutexGuard<'_, LatestMessage> {
    last.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<M: LcmMessage> LcmSubscriberSystem<M> {
    /// Creates a system that stays subscribed to `channel` as long as it lives.
    ///
    /// # Errors
    /// Same as [`Lcm::subscribe`].
    pub fn new(channel: &str, lcm: &Lcm) -> Result<Self> {
        let last = Arc::<Mutex<LatestMessage>>::default();
        let subscription = lcm.subscribe_shared(channel, {
            let (last, undecodable) = (last.clone(), lcm.undecodable());
            move |new| match new.data.check::<M>() {
                Ok(()) => {
                    let mut last = lock(&last);
                    last.count += 1;
                    last.message = Some(new.clone());
                }
                Err(error) => undecodable(&new.channel, &error),
            }
        })?;
        Ok(Self {
            channel: channel.into(),
            lcm: lcm.clone(),
            wait: Duration::ZERO,
            last,
            subscription,
            marker: PhantomData,
        })
    }
    /// Makes initialization wait up to `timeout` of real time ([`Duration::MAX`] for ever) for a
    /// message that the context does not have yet, and fail if none comes. The default, zero, does
    /// not wait: initialization copies the latest message received before.
    #[must_use]
    pub fn with_wait_for_message_on_initialization(mut self, timeout: Duration) -> Self {
        self.wait = timeout;
        self
    }
    /// The channel.
    pub fn channel(&self) -> &str {
        &self.channel
    }
    /// The bus.
    pub fn lcm(&self) -> &Lcm {
        &self.lcm
    }
    /// The subscription, for setting its queue capacity.
    pub fn subscription_mut(&mut self) -> &mut Subscription {
        &mut self.subscription
    }
    /// Number of messages received, some of which a context may not have yet.
    pub fn received_count(&self) -> u64 {
        lock(&self.last).count
    }
    /// The latest message received, if any.
    pub fn received_message(&self) -> Option<M> {
        let last = lock(&self.last).clone();
        let mut message = M::default();
        last.message?.data.decode_into(&mut message).ok()?;
        Some(message)
    }
    /// Handles messages of the bus until [`received_count`](Self::received_count) exceeds
    /// `old_count`, for at most `timeout` of real time ([`Duration::MAX`] for ever).
    ///
    /// Returns the count, which does not exceed `old_count` after a timeout.
    ///
    /// ```
    /// use std::time::Duration;
    /// use tarragon_lcm::{Lcm, LcmSubscriberSystem, types::LcmtPoint};
    /// let lcm = Lcm::with_url("memq://")?;
    /// let point = LcmSubscriberSystem::<LcmtPoint>::new("POINT", &lcm)?;
    /// assert_eq!(point.wait_for_message(0, Duration::from_millis(1))?, 0);
    /// lcm.publish("POINT", &LcmtPoint::default())?;
    /// assert_eq!(point.wait_for_message(0, Duration::MAX)?, 1);
    /// # Ok::<(), tarragon_lcm::Error>(())
    /// ```
    ///
    /// # Errors
    /// Same as [`Lcm::handle_subscriptions`].
    pub fn wait_for_message(&self, old_count: u64, timeout: Duration) -> Result<u64> {
        // A timeout too long for the clock means no deadline.
        let until = Instant::now().checked_add(timeout);
        loop {
            let count = self.received_count();
            if count > old_count {
                return Ok(count);
            }
            let left = until.map_or(SLICE, |u| u.saturating_duration_since(Instant::now()));
            self.lcm.handle_subscriptions(left.min(SLICE))?;
            if left.is_zero() {
                return Ok(self.received_count());
            }
        }
    }

    /// Waits for a message that the context does not have yet.
    fn wait_on_initialization(&self, known: u64) -> Result<()> {
        if self.wait.is_zero() {
            return Ok(());
        }
        tracing::info!("LCM: waiting for a message on '{}'", self.channel);
        if self.wait_for_message(known, self.wait)? > known {
            return Ok(());
        }
        let message = format!(
            "LcmSubscriberSystem: no message arrived on '{}' of '{}' within {:?}; start the sender first, or wait \
             longer",
            self.channel,
            self.lcm.url(),
            self.wait
        );
        Err(Error::new(ErrorKind::Network, message))
    }
}

/// Ports of [`LcmSubscriberSystem`].
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_lcm::{Lcm, LcmSubscriberSystem, LcmSubscriberSystemPorts, types::LcmtPoint};
/// let mut b = DiagramBuilder::new();
/// let system = LcmSubscriberSystem::<LcmtPoint>::new("POINT", &Lcm::with_url("memq://")?)?;
/// let ports: LcmSubscriberSystemPorts<LcmtPoint> = *b.add("point", system).ports();
/// let ctx = b.build()?.default_context();
/// assert_eq!(ctx.eval(ports.lcm_message)?, &LcmtPoint::default());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct LcmSubscriberSystemPorts<M> {
    /// The latest message.
    pub lcm_message: OutputPort<M>,
    /// The number of messages.
    pub message_count: OutputPort<u64>,
}

// Written by hand, because handles are copied even if messages cannot be.
impl<M> Clone for LcmSubscriberSystemPorts<M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M> Copy for LcmSubscriberSystemPorts<M> {}

impl<M: LcmMessage, T: Scalar> LeafSystem<T> for LcmSubscriberSystem<M> {
    type Ports = LcmSubscriberSystemPorts<M>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let state = d.abstract_state(LatestMessage::default());
        let lcm_message = d.output("lcm_message", M::default(), state, move |_, ctx, out| {
            // Decodes into the previous message, which may have the same names and sizes.
            match &ctx.xa::<LatestMessage>(state).message {
                Some(message) => message.data.decode_into(out)?,
                None => *out = M::default(),
            }
            Ok(())
        });
        let message_count = d.output("message_count", 0, state, move |_, ctx, out| {
            *out = ctx.xa::<LatestMessage>(state).count;
            Ok(())
        });
        let new_message = d.timed_event(move |this, ctx| {
            // Any other count is new, not only a larger one: the state may have been set by hand.
            let is_new = lock(&this.last).count != ctx.xa::<LatestMessage>(state).count;
            Ok(if is_new {
                ctx.time().re()
            } else {
                f64::INFINITY
            })
        });
        for trigger in [
            Trigger::Initialization,
            Trigger::Timed(new_message),
            Trigger::Forced,
        ] {
            d.unrestricted_update_on(trigger, move |this, ctx, next| {
                if trigger == Trigger::Initialization {
                    let known = ctx.xa::<LatestMessage>(state).count;
                    this.wait_on_initialization(known)?;
                }
                *next.xa_mut(state) = lock(&this.last).clone();
                Ok(EventStatus::Succeeded)
            });
        }
        LcmSubscriberSystemPorts {
            lcm_message,
            message_count,
        }
    }
}
