//! A bus: publishing messages and subscribing to them.

use crate::inbox::{Handler, Inbox, Matcher, Message, Subscription};
use crate::message::LcmMessage;
use crate::message::encoded::{Encoded, Parts, Scratch};
use crate::statistics::{Count, Counters, LcmStatistics};
use crate::transport::datagram::check_channel;
use crate::transport::url::LcmUrl;
use crate::transport::{Play, Transport};
use crate::{Error, Result};
use std::sync::{Arc, Mutex, TryLockError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tarragon_framework::to_microseconds;

/// Parameters of an [`Lcm`] bus (Drake's `DrakeLcmParams`).
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
    /// URL of the transport, see [`Lcm`]. If empty, the environment variable `LCM_DEFAULT_URL`, or
    /// else `udpm://239.255.76.67:7667?ttl=0`.
    pub lcm_url: String,
    /// Suffix of every channel on the wire. With `_ALT`, publishing on `A` sends on `A_ALT`;
    /// subscriptions receive only channels that end in the suffix, and see their names without it.
    pub channel_suffix: String,
    /// Accepted for compatibility with Drake's configuration files. It has no effect: no bus
    /// receives anything before its first subscription.
    pub defer_initialization: bool,
}

/// A message bus with named channels (Drake's `DrakeLcm`). Clones share one bus, and any thread may
/// use them.
///
/// The URL chooses the transport:
///
/// * `udpm://239.255.76.67:7667?ttl=0`: UDP multicast. `ttl` 0 stays on this machine, 1 in its
///   network; `recv_buf_size` is in bytes; `interface=192.168.1.5` chooses the network by this
///   machine's address in it.
/// * `memq://`: a queue in memory; messages are delivered to subscriptions of this bus only.
/// * `memq://null`: discards everything that is published.
/// * `file:///tmp/a.lcm`: plays a log. `speed=2` is twice as fast, `speed=0` as fast as possible;
///   `start_timestamp` is in µs.
/// * `file:///tmp/a.lcm?mode=w`: writes a log; `mode=a` appends to one. A file has one writer at a
///   time.
///
/// From the first subscription on, a receiving thread puts messages into the queue of each
/// subscription. [`handle_subscriptions`](Self::handle_subscriptions) calls the handlers on its
/// caller's thread. A full queue drops its oldest message, so neither publishers nor the receiving
/// thread wait for handlers. Messages dropped here or on the way are [counted](Self::statistics);
/// the first of each kind is logged.
///
/// If the environment variable `DRAKE_ALLOW_NETWORK` is set and does not name `lcm`, `udpm://` is
/// forbidden.
///
/// ```
/// use std::{sync::mpsc, time::Duration};
/// use tarragon_lcm::{Lcm, types::LcmtPoint};
/// let lcm = Lcm::with_url("memq://")?;
/// let (sender, points) = mpsc::channel();
/// let handler = move |point: &LcmtPoint| sender.send(point.x).unwrap();
/// let subscription = lcm.subscribe("POINT", handler)?;
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
    /// Buffer for encoding messages, kept to reuse its memory.
    scratch: Mutex<Scratch>,
}

impl Lcm {
    /// Opens a bus.
    ///
    /// # Errors
    /// Returns an error if the URL is invalid, or its socket or file cannot be opened.
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
    /// Opens a bus with the transport of a URL, or with the default transport if `url` is empty.
    ///
    /// # Errors
    /// Same as [`new`](Self::new).
    pub fn with_url(url: &str) -> Result<Self> {
        Self::new(LcmParams {
            lcm_url: url.into(),
            ..LcmParams::default()
        })
    }
    /// The URL of the transport.
    pub fn url(&self) -> &str {
        &self.bus.url
    }
    /// Counts of messages sent, received and dropped so far.
    pub fn statistics(&self) -> LcmStatistics {
        self.bus.counters.read()
    }
    /// Whether both handles refer to the same bus.
    pub fn is_same_as(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.bus, &other.bus)
    }

    /// Publishes a message. If the transport cannot accept it, because a buffer is full or there is
    /// no network, the message is dropped, which is counted and logged once and is not an error.
    ///
    /// # Errors
    /// Returns an error if the message cannot be encoded, if the channel name is empty or longer
    /// than 63 bytes, or if the message is too long for the transport.
    pub fn publish<M: LcmMessage>(&self, channel: &str, message: &M) -> Result<()> {
        self.publish_encoded(channel, message, None)
    }
    /// Publishes a message at a simulated time (s). Rounded to microseconds, it is the timestamp in
    /// a log.
    ///
    /// # Errors
    /// Same as [`publish`](Self::publish), and an error if the time is NaN.
    pub fn publish_at<M: LcmMessage>(&self, channel: &str, message: &M, time: f64) -> Result<()> {
        self.publish_encoded(channel, message, Some(to_microseconds(time)?))
    }
    fn publish_encoded<M: LcmMessage>(
        &self,
        channel: &str,
        message: &M,
        time: Option<i64>,
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
    /// Publishes an already encoded message, optionally at a simulated time (s).
    ///
    /// # Errors
    /// Same as [`publish_at`](Self::publish_at).
    pub fn publish_bytes(&self, channel: &str, data: &[u8], time: Option<f64>) -> Result<()> {
        let time = time.map(to_microseconds).transpose()?;
        self.publish_parts(channel, data.into(), time)
    }
    fn publish_parts(&self, channel: &str, data: Parts<'_>, time: Option<i64>) -> Result<()> {
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
            let time = time.unwrap_or_else(now_in_microseconds);
            match transport.publish(channel, data, time) {
                Ok(()) => counters.add(Count::Published, 1),
                Err(error) => counters.trouble(Count::Unsent, 1, || {
                    let bytes = data.len();
                    format!(
                        "'{url}' did not accept a message of {bytes} bytes on '{channel}': {error}"
                    )
                }),
            }
            Ok(())
        })
    }
    /// Delivers a message as if it had been received.
    pub(crate) fn deliver(&self, channel: &str, data: Encoded) {
        self.bus.counters.add(Count::Received, 1);
        self.bus.inbox.deliver(channel, data);
    }
    /// Calls `with` with the channel's name on the wire.
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

    /// Subscribes `handler` to `channel`; [`handle_subscriptions`](Self::handle_subscriptions)
    /// calls it with every message. A message of another type is dropped, which is counted and
    /// logged once.
    ///
    /// The subscription ends when the returned value is dropped; see [`Subscription::detach`].
    ///
    /// # Errors
    /// Returns an error if the channel name is invalid, or the socket cannot be set up to receive.
    pub fn subscribe<M: LcmMessage>(
        &self,
        channel: &str,
        mut handler: impl FnMut(&M) + Send + 'static,
    ) -> Result<Subscription> {
        self.subscribe_mut(channel, move |message: &mut M| handler(message))
    }
    /// [`subscribe`](Self::subscribe) with a handler that may take the message and leave another in
    /// its place, so that its memory is reused.
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
    /// Subscribes `handler` to the encoded messages on `channel`.
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
    /// Returns a function that counts messages which cannot be decoded as the subscribed type.
    pub(crate) fn undecodable(&self) -> impl Fn(&str, &Error) + Send + 'static {
        let counters = self.bus.counters.clone();
        move |channel, error| {
            counters.trouble(Count::Undecodable, 1, || {
                format!("dropped a message on '{channel}': {error}")
            });
        }
    }
    /// Subscribes `handler` to all channels whose whole name matches a regular expression; it
    /// receives the channel and the encoded message.
    ///
    /// # Errors
    /// Returns an error if the expression is invalid, and for the reasons of
    /// [`subscribe`](Self::subscribe).
    pub fn subscribe_multichannel(
        &self,
        regex: &str,
        mut handler: impl FnMut(&str, &[u8]) + Send + 'static,
    ) -> Result<Subscription> {
        let matcher = Matcher::pattern(regex, &self.bus.suffix)?;
        let handler = move |m: &Arc<Message>| handler(&m.channel, m.data.as_slice());
        self.subscribe_matching(matcher, Box::new(handler))
    }
    /// Subscribes `handler` to all channels; it receives the channel and the encoded message.
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

    /// Calls the handlers of all received messages, in order of arrival. If there are none, waits
    /// up to `timeout` for one.
    ///
    /// Returns the number of messages handled, 0 after a timeout. Handlers may publish and
    /// subscribe. A handler is never re-entered: while it runs, on another thread or because it
    /// calls this function itself, its further messages stay in the queue.
    ///
    /// A log is played during this call: all messages that are due are handled or, if the log is
    /// played as fast as possible, the next one. At the end of the log this returns 0 at once.
    ///
    /// # Errors
    /// Returns an error if an event of a log cannot be read; the next call continues after it.
    pub fn handle_subscriptions(&self, timeout: Duration) -> Result<usize> {
        let Bus {
            transport,
            inbox,
            counters,
            ..
        } = &*self.bus;
        // A timeout too long for the clock means no deadline.
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
    /// Writes events that a log-writing bus has buffered to the file. Dropping the last clone of
    /// the bus does the same.
    ///
    /// # Errors
    /// Returns an error if they cannot be written.
    pub fn flush(&self) -> Result<()> {
        self.bus.transport.flush()
    }
}

fn now_in_microseconds() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_micros() as i64)
}
