//! A bus: where messages are published and subscribed to.

use crate::error::{Error, Result};
use crate::inbox::{Handler, Inbox, Matcher, Message, Subscription};
use crate::message::LcmMessage;
use crate::message::encoded::{Encoded, Parts, Scratch};
use crate::statistics::{Count, Counters, LcmStatistics};
use crate::transport::datagram::check_channel;
use crate::transport::url::LcmUrl;
use crate::transport::{Play, Transport};
use std::sync::{Arc, Mutex, TryLockError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How an [`Lcm`] is set up, as Drake's `DrakeLcmParams`.
///
/// ```
/// use tarragon_lcm::{Lcm, LcmParams};
/// let params = LcmParams {
///     lcm_url: "memq://".into(),
///     channel_suffix: "_ALT".into(),
///     ..Default::default()
/// };
/// let lcm = Lcm::new(params)?;
/// assert_eq!(lcm.url(), "memq://");
/// # Ok::<(), tarragon_lcm::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LcmParams {
    /// The transport, as for [`Lcm::with_url`]. Empty for the default one: `LCM_DEFAULT_URL` of the
    /// environment, or else `udpm://239.255.76.67:7667?ttl=0`.
    pub lcm_url: String,
    /// Follows every channel on the wire: with `_ALT`, publishing on `A` sends on `A_ALT`, and
    /// subscriptions only get what ends in it, under names without it.
    pub channel_suffix: String,
    /// Kept for Drake's files: nothing is received, by no thread, before the first subscription
    /// anyway.
    pub defer_initialization: bool,
}

/// A bus of messages by channel (Drake's `DrakeLcm`). Clones are the same bus, from any thread.
///
/// | URL | transport |
/// |---|---|
/// | `udpm://239.255.76.67:7667?ttl=0` | UDP multicast; `ttl` 0 stays on this machine, 1 in its network; `recv_buf_size` in bytes; `interface=192.168.1.5` chooses the network by this machine's address in it |
/// | `memq://` | a queue in memory: what is published here is only heard here |
/// | `memq://null` | publishes to nobody |
/// | `file:///tmp/a.lcm` | plays a log; `speed=2` twice as fast, `speed=0` as fast as possible; `start_timestamp` in µs |
/// | `file:///tmp/a.lcm?mode=w` | writes a log, `mode=a` appends to one |
///
/// A thread receives, from the first subscription on, and puts messages into the queue of each
/// subscription; [`handle_subscriptions`](Self::handle_subscriptions) calls their handlers, on the
/// thread that calls it. A queue that is full loses its oldest message, so publishers and the
/// receiving thread never wait for handlers. What was dropped, here or on the way, is
/// [counted](Self::statistics); the first of a kind is logged.
///
/// The variable `DRAKE_ALLOW_NETWORK` of the environment, where it does not name `lcm`, forbids
/// `udpm://`.
///
/// ```
/// use std::{sync::mpsc, time::Duration};
/// use tarragon_lcm::{Lcm, types::LcmtPoint};
/// let lcm = Lcm::with_url("memq://")?;
/// let (sender, points) = mpsc::channel();
/// let subscription = lcm.subscribe("POINT", move |point: &LcmtPoint| sender.send(point.x).unwrap())?;
/// lcm.publish("POINT", &LcmtPoint { x: 1.0, y: 2.0, z: 3.0 })?;
/// assert_eq!(lcm.handle_subscriptions(Duration::ZERO)?, 1);
/// assert_eq!(points.try_recv(), Ok(1.0));
/// # drop(subscription);
/// # Ok::<(), tarragon_lcm::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Lcm {
    bus: Arc<Bus>,
}

#[derive(Debug)]
struct Bus {
    url: String,
    suffix: String,
    transport: Transport,
    inbox: Inbox,
    counters: Arc<Counters>,
    /// A message that is being sent; kept for its memory.
    scratch: Mutex<Scratch>,
}

impl Lcm {
    /// A bus.
    ///
    /// # Errors
    /// Returns an error if the URL is wrong, or its socket or file cannot be opened.
    pub fn new(params: LcmParams) -> Result<Self> {
        let url = match &*params.lcm_url {
            "" => LcmUrl::default_url(),
            url => url.into(),
        };
        if !params.channel_suffix.is_empty() {
            check_channel(&params.channel_suffix).map_err(|what| {
                let suffix = &params.channel_suffix;
                Error::invalid(format!("LCM: channel suffix '{suffix}': {what}"))
            })?;
        }
        let counters = Arc::<Counters>::default();
        let bus = Bus {
            transport: Transport::open(&url, &counters)?,
            url,
            suffix: params.channel_suffix,
            inbox: Inbox::new(counters.clone()),
            counters,
            scratch: Mutex::default(),
        };
        Ok(Self { bus: Arc::new(bus) })
    }
    /// A bus with the transport of a URL; the default one if it is empty.
    ///
    /// # Errors
    /// Same as [`new`](Self::new).
    pub fn with_url(url: &str) -> Result<Self> {
        Self::new(LcmParams {
            lcm_url: url.into(),
            ..LcmParams::default()
        })
    }
    /// The transport.
    pub fn url(&self) -> &str {
        &self.bus.url
    }
    /// What was sent, received and dropped so far.
    pub fn statistics(&self) -> LcmStatistics {
        self.bus.counters.read()
    }
    /// Whether two handles are the same bus.
    pub fn is_same_as(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.bus, &other.bus)
    }

    /// Publishes a message. A transport that cannot take it, because a buffer is full or there is
    /// no network, drops it: that is counted and logged once, not an error.
    ///
    /// # Errors
    /// Returns an error if the message cannot be encoded, the name of the channel is empty or
    /// longer than 63 bytes, or the message is too long for the transport.
    pub fn publish<M: LcmMessage>(&self, channel: &str, message: &M) -> Result<()> {
        self.publish_encoded(channel, message, None)
    }
    /// [`publish`](Self::publish) at a simulated time (s), which logs are written with.
    ///
    /// # Errors
    /// As that.
    pub fn publish_at<M: LcmMessage>(&self, channel: &str, message: &M, time: f64) -> Result<()> {
        self.publish_encoded(channel, message, Some(time))
    }
    fn publish_encoded<M: LcmMessage>(
        &self,
        channel: &str,
        message: &M,
        time: Option<f64>,
    ) -> Result<()> {
        if self.bus.transport.is_memory() {
            let bytes = Encoded::new(message)?;
            return self.with_channel(channel, |channel| {
                self.bus.counters.add(Count::Published, 1);
                self.deliver(channel, bytes);
                Ok(())
            });
        }
        let mut own = Scratch::default();
        let mut shared = match self.bus.scratch.try_lock() {
            Ok(shared) => Some(shared),
            Err(TryLockError::Poisoned(shared)) => Some(shared.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        };
        let scratch = shared.as_deref_mut().unwrap_or(&mut own);
        scratch.encode(message, |parts| self.publish_parts(channel, parts, time))
    }
    /// Publishes the bytes of a message that is encoded already, at a simulated time (s) if there
    /// is one.
    ///
    /// # Errors
    /// Same as [`publish`](Self::publish).
    pub fn publish_bytes(&self, channel: &str, data: &[u8], time: Option<f64>) -> Result<()> {
        self.publish_parts(channel, data.into(), time)
    }
    fn publish_parts(&self, channel: &str, data: Parts<'_>, time: Option<f64>) -> Result<()> {
        self.with_channel(channel, |channel| {
            let Bus {
                transport,
                counters,
                url,
                ..
            } = &*self.bus;
            if transport.is_memory() {
                counters.add(Count::Published, 1);
                self.deliver(channel, data.to_vec().into());
                return Ok(());
            }
            transport.check(url, channel, data)?;
            let time = time.map_or_else(now_in_microseconds, |time| (time * 1e6).round() as i64);
            match transport.publish(channel, data, time) {
                Ok(()) => counters.add(Count::Published, 1),
                Err(error) => counters.trouble(Count::Unsent, 1, || {
                    let bytes = data.len();
                    format!(
                        "'{url}' did not take a message of {bytes} bytes on '{channel}': {error}"
                    )
                }),
            }
            Ok(())
        })
    }
    /// Takes a message as if it had come in.
    pub(crate) fn deliver(&self, channel: &str, data: Encoded) {
        self.bus.counters.add(Count::Received, 1);
        self.bus.inbox.deliver(channel, data);
    }
    /// Calls `with` the name of a channel on the wire.
    fn with_channel<V>(&self, channel: &str, with: impl FnOnce(&str) -> Result<V>) -> Result<V> {
        let wrong = |what| Error::invalid(format!("LCM: {what}"));
        let suffix = &self.bus.suffix;
        if suffix.is_empty() || channel.is_empty() {
            check_channel(channel).map_err(wrong)?;
            return with(channel);
        }
        let full = format!("{channel}{suffix}");
        check_channel(&full).map_err(wrong)?;
        with(&full)
    }

    /// Calls `handler` with every message on `channel`, from
    /// [`handle_subscriptions`](Self::handle_subscriptions). What is no message of this type is
    /// dropped: that is counted and logged once.
    ///
    /// The subscription ends when what is returned is dropped; see [`Subscription::detach`].
    ///
    /// # Errors
    /// Returns an error if the name of the channel is wrong, or the socket cannot be set up to
    /// receive.
    pub fn subscribe<M: LcmMessage>(
        &self,
        channel: &str,
        mut handler: impl FnMut(&M) + Send + 'static,
    ) -> Result<Subscription> {
        self.subscribe_mut(channel, move |message: &mut M| handler(message))
    }
    /// [`subscribe`](Self::subscribe) with a handler that may keep the message and leave another
    /// for its memory.
    pub(crate) fn subscribe_mut<M: LcmMessage>(
        &self,
        channel: &str,
        mut handler: impl FnMut(&mut M) + Send + 'static,
    ) -> Result<Subscription> {
        let (undecodable, mut message) = (self.undecodable(), M::default());
        self.subscribe_shared(channel, move |new| {
            match new.data.decode_into(&mut message) {
                Ok(()) => handler(&mut message),
                Err(error) => undecodable(&new.channel, &error),
            }
        })
    }
    /// Calls `handler` with the bytes of every message on `channel`.
    ///
    /// # Errors
    /// Same as [`subscribe`](Self::subscribe).
    pub fn subscribe_bytes(
        &self,
        channel: &str,
        mut handler: impl FnMut(&[u8]) + Send + 'static,
    ) -> Result<Subscription> {
        self.subscribe_shared(channel, move |message| handler(message.data.as_slice()))
    }
    /// [`subscribe_bytes`](Self::subscribe_bytes) with a handler that may keep the message.
    pub(crate) fn subscribe_shared(
        &self,
        channel: &str,
        handler: impl FnMut(&Arc<Message>) + Send + 'static,
    ) -> Result<Subscription> {
        self.with_channel(channel, |_| Ok(()))?;
        let matcher = Matcher::exact(channel, &self.bus.suffix);
        self.subscribe_matching(matcher, Box::new(handler))
    }
    /// Counts a message that is not of the type that somebody expects.
    pub(crate) fn undecodable(&self) -> impl Fn(&str, &Error) + Send + 'static {
        let counters = self.bus.counters.clone();
        move |channel, error| {
            counters.trouble(Count::Undecodable, 1, || {
                format!("a message on '{channel}' is dropped: {error}")
            });
        }
    }
    /// Calls `handler` with channel and bytes of every message on a channel whose whole name
    /// matches a regular expression.
    ///
    /// # Errors
    /// Returns an error if the expression is wrong; as [`subscribe`](Self::subscribe).
    pub fn subscribe_multichannel(
        &self,
        regex: &str,
        mut handler: impl FnMut(&str, &[u8]) + Send + 'static,
    ) -> Result<Subscription> {
        let matcher = Matcher::pattern(regex, &self.bus.suffix)?;
        let handler = move |m: &Arc<Message>| handler(&m.channel, m.data.as_slice());
        self.subscribe_matching(matcher, Box::new(handler))
    }
    /// Calls `handler` with channel and bytes of every message.
    ///
    /// # Errors
    /// Same as [`subscribe`](Self::subscribe).
    pub fn subscribe_all_channels(
        &self,
        handler: impl FnMut(&str, &[u8]) + Send + 'static,
    ) -> Result<Subscription> {
        self.subscribe_multichannel(".*", handler)
    }
    fn subscribe_matching(&self, matcher: Matcher, handler: Handler) -> Result<Subscription> {
        let Bus {
            transport, inbox, ..
        } = &*self.bus;
        let subscription = inbox.subscribe(matcher, handler);
        transport.start_receiving(inbox)?;
        Ok(subscription)
    }

    /// Calls the handlers of all messages that have come, in the order in which they came. Where
    /// there is none, waits up to `timeout` for one.
    ///
    /// Returns the number of messages that handlers were called with, 0 after the timeout. Handlers
    /// may publish and subscribe; a handler that is being called, by another thread or because it
    /// handles messages itself, is not called a second time: its messages stay in the queue.
    ///
    /// A log is played while this is called: all messages that are due are handled, or, as fast as
    /// possible, the next one. At its end this returns 0 at once.
    ///
    /// # Errors
    /// Returns an error if an event of a log cannot be read; the next call goes on after it.
    pub fn handle_subscriptions(&self, timeout: Duration) -> Result<usize> {
        let Bus {
            transport,
            inbox,
            counters,
            ..
        } = &*self.bus;
        // Without a date where the timeout is endless.
        let until = Instant::now().checked_add(timeout);
        let mut handled = 0;
        loop {
            let play = transport.play(inbox, counters)?;
            handled += inbox.handle();
            let due = match play {
                Play::Delivered => continue,
                Play::DeliveredAtOnce if handled == 0 => continue,
                Play::DeliveredAtOnce | Play::Ended => return Ok(handled),
                Play::Later(due) => Some(due),
                Play::Live => None,
            };
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if handled > 0 || left == Some(Duration::ZERO) {
                return Ok(handled);
            }
            let wait = match (left, due) {
                (Some(left), Some(due)) => Some(left.min(due)),
                (left, due) => left.or(due),
            };
            inbox.wait(wait);
        }
    }
    /// Writes to the disk what a bus that writes a log has collected; it is written when the last
    /// clone of the bus is dropped, too.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    pub fn flush(&self) -> Result<()> {
        self.bus.transport.flush()
    }
}

fn now_in_microseconds() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_micros() as i64)
}
