//! Queues of received messages, and calls of their handlers.

use crate::message::encoded::Encoded;
use crate::statistics::{Count, Counters};
use crate::{Error, Result};
use regex_lite::Regex;
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// Default number of messages that a subscription's queue holds, as in liblcm.
const QUEUE_CAPACITY: usize = 30;
/// Most bytes that all queues of a bus hold together.
const MOST_BYTES: usize = 1 << 28;

/// The channels that a subscription wants.
#[derive(Debug)]
pub(crate) struct Matcher {
    names: Names,
    /// Suffix of channel names on the wire.
    suffix: String,
}

#[derive(Debug)]
enum Names {
    Exact(String),
    Pattern(Regex),
}

impl Matcher {
    pub(crate) fn exact(channel: &str, suffix: &str) -> Self {
        let (names, suffix) = (Names::Exact(channel.into()), suffix.into());
        Self { names, suffix }
    }
    pub(crate) fn pattern(regex: &str, suffix: &str) -> Result<Self> {
        let wrong = |e: regex_lite::Error| {
            Error::invalid(format!(
                "LCM: channel pattern must be a regular expression, got '{regex}'"
            ))
            .with_cause(e)
        };
        // Checks the pattern alone first, so that unbalanced brackets cannot pair up with those
        // added around it.
        Regex::new(regex).map_err(wrong)?;
        let whole = Regex::new(&format!("^(?:{regex})$")).map_err(wrong)?;
        let (names, suffix) = (Names::Pattern(whole), suffix.into());
        Ok(Self { names, suffix })
    }
    /// The channel's name for the handler, if the channel is one of these.
    fn matches<'a>(&self, channel: &'a str) -> Option<&'a str> {
        let name = channel.strip_suffix(&*self.suffix)?;
        let matches = match &self.names {
            Names::Exact(exact) => exact == name,
            Names::Pattern(regex) => regex.is_match(name),
        };
        matches.then_some(name)
    }
}

pub(crate) type Handler = Box<dyn FnMut(&Arc<Message>) + Send>;

/// A received message.
#[derive(Debug)]
pub(crate) struct Message {
    /// Channel name without the suffix of the bus.
    pub(crate) channel: String,
    pub(crate) data: Encoded,
}

/// Queue of one subscription.
struct Queue {
    id: u64,
    matcher: Matcher,
    /// Locked only by the thread that has set `busy`, so never contended.
    handler: Arc<Mutex<Handler>>,
    /// Whether messages taken from here are being handled; later ones stay until that is done.
    busy: bool,
    capacity: usize,
    /// Waiting messages with their arrival numbers.
    waiting: VecDeque<(u64, Arc<Message>)>,
}

impl Queue {
    fn is_ready(&self) -> bool {
        !self.busy && !self.waiting.is_empty()
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let waiting = self.waiting.len();
        write!(f, "{:?} ({waiting} waiting)", self.matcher)
    }
}

#[derive(Debug, Default)]
struct State {
    queues: Vec<Queue>,
    subscribed: u64,
    arrived: u64,
    bytes: usize,
}

impl State {
    fn find(&mut self, id: u64) -> Option<&mut Queue> {
        self.queues.iter_mut().find(|q| q.id == id)
    }
}

/// The subscriptions of a bus. Clones share them.
#[derive(Clone, Debug)]
pub(crate) struct Inbox {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    arrival: Condvar,
    counters: Arc<Counters>,
}

/// Locks even after a panic: the guarded data is consistent wherever its user may panic.
fn lock<V>(mutex: &Mutex<V>) -> MutexGuard<'_, V> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Inbox {
    pub(crate) fn new(counters: Arc<Counters>) -> Self {
        let (state, arrival) = Default::default();
        let shared = Shared {
            state,
            arrival,
            counters,
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    pub(crate) fn subscribe(&self, matcher: Matcher, handler: Handler) -> Subscription {
        let mut state = lock(&self.shared.state);
        state.subscribed += 1;
        let id = state.subscribed;
        state.queues.push(Queue {
            id,
            matcher,
            handler: Arc::new(Mutex::new(handler)),
            busy: false,
            capacity: QUEUE_CAPACITY,
            waiting: VecDeque::new(),
        });
        let inbox = Arc::downgrade(&self.shared);
        Subscription { inbox, id }
    }

    /// Puts a message into the queues of matching subscriptions. Never waits for a handler.
    pub(crate) fn deliver(&self, channel: &str, data: Encoded) {
        let Shared {
            state,
            arrival,
            counters,
        } = &*self.shared;
        let mut overflows = vec![];
        let mut state = lock(state);
        let State {
            queues,
            arrived,
            bytes,
            ..
        } = &mut *state;
        *arrived += 1;
        let mut data = Some(data);
        let mut message: Option<Arc<Message>> = None;
        for queue in queues {
            let Some(name) = queue.matcher.matches(channel) else {
                continue;
            };
            let message = message.get_or_insert_with(|| {
                Arc::new(Message {
                    channel: name.into(),
                    data: data.take().unwrap_or_default(),
                })
            });
            let size = message.data.len();
            queue.waiting.push_back((*arrived, message.clone()));
            *bytes += size;
            let mut dropped = 0;
            while queue.waiting.len() > queue.capacity
                || (*bytes > MOST_BYTES && queue.waiting.len() > 1)
            {
                let Some((_, oldest)) = queue.waiting.pop_front() else {
                    break;
                };
                *bytes -= oldest.data.len();
                dropped += 1;
            }
            if dropped > 0 {
                let capacity = queue.capacity;
                overflows.push((dropped, capacity));
            }
        }
        if message.is_some() {
            arrival.notify_all();
        }
        drop(state);
        // Reports without holding the lock, because the log subscriber may use this bus.
        for (dropped, capacity) in overflows {
            counters.trouble(Count::Overflowed, dropped, || {
                format!(
                    "the queue of a subscription to '{channel}' is full and dropped its oldest message; \
                     handle messages at least every {capacity} messages, or set a larger queue capacity"
                )
            });
        }
    }

    /// Waits for a message, at most for `most`. May return early.
    pub(crate) fn wait(&self, most: Option<Duration>) {
        let Shared { state, arrival, .. } = &*self.shared;
        let guard = lock(state);
        let none = |state: &mut State| !state.queues.iter().any(Queue::is_ready);
        match most {
            Some(most) => drop(arrival.wait_timeout_while(guard, most, none)),
            None => drop(arrival.wait_while(guard, none)),
        }
    }

    /// Calls the handlers of all waiting messages, and returns the number of calls.
    pub(crate) fn handle(&self) -> usize {
        // Messages that arrive meanwhile wait for the next call, so that this one ends.
        let (mut queues, mut ready): (Vec<u64>, Vec<Call>) = (vec![], vec![]);
        {
            let mut state = lock(&self.shared.state);
            let state = &mut *state;
            for queue in state.queues.iter_mut().filter(|q| q.is_ready()) {
                queue.busy = true;
                queues.push(queue.id);
                for (arrived, message) in queue.waiting.drain(..) {
                    state.bytes -= message.data.len();
                    ready.push(Call {
                        arrived,
                        id: queue.id,
                        handler: queue.handler.clone(),
                        message,
                    });
                }
            }
        }
        ready.sort_unstable_by_key(|call| (call.arrived, call.id));
        let mut taken = Taken {
            shared: &self.shared,
            queues,
            calls: ready.into(),
        };
        let mut handled = 0;
        while let Some(call) = taken.calls.pop_front() {
            // An earlier handler may have ended this subscription.
            if lock(&self.shared.state).find(call.id).is_some() {
                lock(&call.handler)(&call.message);
                handled += 1;
            }
        }
        handled
    }
}

/// A pending call: a handler and its message.
struct Call {
    arrived: u64,
    id: u64,
    handler: Arc<Mutex<Handler>>,
    message: Arc<Message>,
}

/// Queues whose messages are being handled. If a handler panics, the remaining messages go back to
/// their queues.
struct Taken<'a> {
    shared: &'a Shared,
    queues: Vec<u64>,
    calls: VecDeque<Call>,
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        if self.queues.is_empty() {
            return;
        }
        let mut state = lock(&self.shared.state);
        while let Some(call) = self.calls.pop_back() {
            let size = call.message.data.len();
            if let Some(queue) = state.find(call.id) {
                queue.waiting.push_front((call.arrived, call.message));
                state.bytes += size;
            }
        }
        for id in &self.queues {
            if let Some(queue) = state.find(*id) {
                queue.busy = false;
            }
        }
        self.shared.arrival.notify_all();
    }
}

/// A subscription to one or more channels, which ends when this is dropped.
///
/// ```
/// use tarragon_lcm::Lcm;
/// let lcm = Lcm::with_url("memq://")?;
/// let mut subscription = lcm.subscribe_bytes("A", |_| ())?;
/// subscription.set_queue_capacity(1);
/// lcm.publish_bytes("A", b"old", None)?;
/// lcm.publish_bytes("A", b"new", None)?;
/// assert_eq!(lcm.handle_subscriptions(std::time::Duration::ZERO)?, 1);
/// assert_eq!(lcm.statistics().overflowed, 1);
/// # Ok::<(), tarragon_lcm::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "the subscription ends when this is dropped; `detach` it to let it last as long as the bus"]
pub struct Subscription {
    inbox: Weak<Shared>,
    id: u64,
}

impl Subscription {
    /// Sets the number of messages, at least one, that the queue holds until they are handled. The
    /// default is 30. All queues of a bus together hold at most 256 MiB, but at least one message
    /// each.
    pub fn set_queue_capacity(&mut self, capacity: usize) {
        if let Some(shared) = self.inbox.upgrade() {
            let mut state = lock(&shared.state);
            if let Some(queue) = state.find(self.id) {
                queue.capacity = capacity.max(1);
            }
        }
    }
    /// Keeps the subscription for as long as the bus lives.
    pub fn detach(mut self) {
        self.inbox = Weak::new();
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let Some(shared) = self.inbox.upgrade() else {
            return;
        };
        let mut state = lock(&shared.state);
        let ended = state.queues.iter().position(|q| q.id == self.id);
        let ended = ended.map(|index| state.queues.remove(index));
        if let Some(queue) = &ended {
            let size: usize = queue.waiting.iter().map(|(_, m)| m.data.len()).sum();
            state.bytes -= size;
        }
        drop(state);
        // Dropped after unlocking, because the handler may own another subscription.
        drop(ended);
    }
}
