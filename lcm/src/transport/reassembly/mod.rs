//! Reassembly of messages from datagrams, in bounded memory whatever arrives.
//!
//! A sender (address and port) numbers its messages, short and fragmented ones together. Fragments
//! may arrive in any order, between fragments of other messages: as in LCM's C library, an
//! incomplete message (a train) is found by its sender and its sequence number. A train ends when
//! it is complete, when no new fragment arrives for [`Limits::patience`], when its fragments
//! contradict each other, when the sender restarts, or when it must make room. Every message that
//! did not arrive complete counts in [`Count::Lost`] once, whether none or some of it arrived; a
//! message that arrives complete but late is subtracted again.

use super::datagram::{self, Datagram, Fragment};
use super::numbering::{Arrival, Numbering};
use crate::statistics::{Count, Counters};
use smallvec::SmallVec;
use std::borrow::Cow;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use train::{Progress, Train};

#[cfg(fuzzing)]
mod fuzz;
mod train;

#[cfg(fuzzing)]
pub(crate) use fuzz::fuzz;

/// Limits on the memory for incomplete messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Longest message (bytes).
    pub(crate) message: usize,
    /// All incomplete messages together (bytes).
    pub(crate) total: usize,
    /// Number of remembered senders.
    pub(crate) senders: usize,
    /// Number of trains per sender.
    pub(crate) trains: usize,
    /// How long a train may go without a new fragment.
    pub(crate) patience: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message: super::MAX_MESSAGE,
            total: super::MAX_MESSAGE,
            senders: 1024,
            trains: 128,
            patience: Duration::from_secs(2),
        }
    }
}

/// Share of [`Limits::total`] beyond which a sender with several trains makes room first.
const SHARE: usize = 8;

/// A complete message.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Received<'a> {
    pub(crate) channel: Cow<'a, str>,
    pub(crate) data: Vec<u8>,
}

#[derive(Debug)]
struct Sender {
    from: SocketAddr,
    heard: Instant,
    numbering: Numbering,
    /// Incomplete messages, in the order of their first fragments.
    trains: SmallVec<[Train; 1]>,
}

impl Sender {
    fn train(&self, sequence: u32) -> Option<usize> {
        self.trains.iter().position(|t| t.sequence == sequence)
    }
    /// The train whose last new fragment arrived first.
    fn stalest(&self) -> Option<usize> {
        (0..self.trains.len()).min_by_key(|at| self.trains[*at].last)
    }
    /// Memory of the trains (bytes).
    fn memory(&self) -> usize {
        self.trains.iter().map(Train::memory).sum()
    }
}

/// Messages being reassembled.
#[derive(Debug)]
pub(crate) struct Reassembly {
    limits: Limits,
    counters: Arc<Counters>,
    senders: Vec<Sender>,
    index: HashMap<SocketAddr, usize>,
    /// Slot of the last datagram's sender, which nearly always sends the next one, too.
    current: usize,
    /// Memory of all trains (bytes).
    total: usize,
    /// Time of the next search for stale trains.
    next_sweep: Option<Instant>,
}

impl Reassembly {
    pub(crate) fn new(limits: Limits, counters: Arc<Counters>) -> Self {
        Self {
            limits,
            counters,
            senders: Vec::new(),
            index: HashMap::new(),
            current: 0,
            total: 0,
            next_sweep: None,
        }
    }
    /// Memory of incomplete messages (bytes).
    #[cfg(any(test, fuzzing))]
    pub(crate) fn memory(&self) -> usize {
        self.total
    }
    /// Processes a datagram; returns the message that it completes, which is counted.
    pub(crate) fn accept<'a>(
        &mut self,
        from: SocketAddr,
        datagram: &'a [u8],
        now: Instant,
    ) -> Option<Received<'a>> {
        let received = self.understand(from, datagram, now)?;
        self.counters.add(Count::Received, 1);
        Some(received)
    }
    fn understand<'a>(
        &mut self,
        from: SocketAddr,
        datagram: &'a [u8],
        now: Instant,
    ) -> Option<Received<'a>> {
        if self.next_sweep.is_none_or(|next| next <= now) {
            self.give_up_stale(now);
        }
        match datagram::parse(datagram) {
            Ok(Datagram::Short {
                sequence,
                channel,
                data,
            }) => {
                self.short(from, sequence, now);
                Some(Received {
                    channel: Cow::Borrowed(channel),
                    data: data.to_vec(),
                })
            }
            Ok(Datagram::Fragment(fragment)) => self.fragment(from, &fragment, now),
            Err(why) => {
                self.counters.trouble(Count::Malformed, 1, || {
                    format!(
                        "a datagram of {} bytes from {from} is not LCM: {why}",
                        datagram.len()
                    )
                });
                None
            }
        }
    }
    /// Abandons trains that no longer receive fragments.
    pub(crate) fn give_up_stale(&mut self, now: Instant) {
        for slot in 0..self.senders.len() {
            for at in (0..self.senders[slot].trains.len()).rev() {
                if self.is_stale(&self.senders[slot].trains[at], now) {
                    self.give_up(slot, at, "no more fragments arrived");
                }
            }
        }
        self.next_sweep = now.checked_add(self.limits.patience / 8);
    }
    fn is_stale(&self, train: &Train, now: Instant) -> bool {
        now.saturating_duration_since(train.last) > self.limits.patience
    }

    /// Records the sequence number of a message of one datagram.
    fn short(&mut self, from: SocketAddr, sequence: u32, now: Instant) {
        let (slot, after_silence) = self.hear(from, sequence, now);
        // A number that was fragmented before means a restart.
        let is_reused = self.senders[slot].train(sequence).is_some();
        match self.senders[slot].numbering.note(sequence, after_silence) {
            Arrival::Newer { skipped } => self.lose(slot, skipped),
            Arrival::Restart => self.restart(slot, sequence),
            Arrival::Newest | Arrival::Again if is_reused => self.restart(slot, sequence),
            Arrival::Again if sequence == 0 => self.restart(slot, sequence),
            Arrival::Late => self.counters.take_back(Count::Lost, 1),
            Arrival::Newest | Arrival::Earlier | Arrival::Again => {}
        }
    }
    fn fragment(
        &mut self,
        from: SocketAddr,
        fragment: &Fragment<'_>,
        now: Instant,
    ) -> Option<Received<'static>> {
        let sequence = fragment.sequence;
        let (slot, after_silence) = self.hear(from, sequence, now);
        if let Some(at) = self.senders[slot].train(sequence) {
            let train = &self.senders[slot].trains[at];
            if self.is_stale(train, now) {
                self.give_up(slot, at, "no more fragments arrived");
            } else if fragment.number == 0 && !train.fits(fragment) {
                // The first fragment of another message, which takes the place of this one as in
                // LCM's C library.
                self.give_up(slot, at, "another message has the same number");
                return self.begin(slot, fragment, false, now);
            } else {
                return self.advance(slot, at, fragment, now);
            }
        }
        // After silence, a restarted sender may reach the same numbers again. Later fragments of an
        // abandoned train do not begin a new one.
        let is_new = after_silence && fragment.number == 0;
        let mut is_repeat = false;
        match self.senders[slot].numbering.note(sequence, is_new) {
            Arrival::Newer { skipped } => self.lose(slot, skipped),
            Arrival::Restart => self.restart(slot, sequence),
            Arrival::Late => self.counters.take_back(Count::Lost, 1),
            Arrival::Earlier => {}
            Arrival::Newest if is_new => {}
            // Either a duplicate, or the first message of a restarted sender: the other fragments
            // will show.
            Arrival::Again if sequence == 0 && fragment.number == 0 => is_repeat = true,
            // The train was abandoned or completed.
            Arrival::Newest | Arrival::Again => return None,
        }
        self.begin(slot, fragment, is_repeat, now)
    }
    /// Starts the numbering of a sender again, with a message that arrived complete or whose first
    /// fragment arrived. Every sender starts at zero, so that a zero that arrives complete for the
    /// second time means a restart, too.
    fn restart(&mut self, slot: usize, sequence: u32) {
        self.senders[slot].numbering = Numbering::start(sequence);
        self.give_up_all(slot, "the sender restarted");
    }
    /// Finds or adds the sender of a datagram. Returns also whether it was silent before.
    fn hear(&mut self, from: SocketAddr, sequence: u32, now: Instant) -> (usize, bool) {
        let known = match self.senders.get(self.current) {
            Some(sender) if sender.from == from => Some(self.current),
            _ => self.index.get(&from).copied(),
        };
        let Some(slot) = known else {
            self.current = self.add_sender(from, sequence, now);
            return (self.current, false);
        };
        self.current = slot;
        let sender = &mut self.senders[slot];
        let silence = now.saturating_duration_since(sender.heard);
        sender.heard = now;
        (slot, silence > self.limits.patience)
    }
    fn add_sender(&mut self, from: SocketAddr, sequence: u32, now: Instant) -> usize {
        let sender = Sender {
            from,
            heard: now,
            numbering: Numbering::before(sequence),
            trains: SmallVec::new(),
        };
        let slot = if self.senders.len() < self.limits.senders.max(1) {
            self.senders.push(sender);
            self.senders.len() - 1
        } else {
            let oldest = (0..self.senders.len()).min_by_key(|slot| self.senders[*slot].heard);
            let slot = oldest.unwrap_or(0);
            self.give_up_all(slot, "there are too many senders");
            let forgotten = std::mem::replace(&mut self.senders[slot], sender);
            self.index.remove(&forgotten.from);
            slot
        };
        self.index.insert(from, slot);
        slot
    }
    /// Begins the train of a fragment. `is_repeat`: its number was complete before.
    fn begin(
        &mut self,
        slot: usize,
        fragment: &Fragment<'_>,
        is_repeat: bool,
        now: Instant,
    ) -> Option<Received<'static>> {
        if fragment.size as usize > self.limits.message {
            let (size, limit) = (fragment.size, self.limits.message);
            if !is_repeat {
                self.count_incomplete(slot, || {
                    format!("it must have at most {limit} bytes, got {size}")
                });
            }
            return None;
        }
        if self.senders[slot].trains.len() >= self.limits.trains.max(1)
            && let Some(at) = self.senders[slot].stalest()
        {
            self.give_up(slot, at, "its sender has too many incomplete messages");
        }
        let train = Train::new(fragment, is_repeat, now);
        self.total += train.memory();
        let trains = &mut self.senders[slot].trains;
        trains.push(train);
        let at = trains.len() - 1;
        self.advance(slot, at, fragment, now)
    }
    /// Adds a fragment to its train.
    fn advance(
        &mut self,
        slot: usize,
        at: usize,
        fragment: &Fragment<'_>,
        now: Instant,
    ) -> Option<Received<'static>> {
        let train = self.senders[slot].trains.get_mut(at)?;
        let before = train.memory();
        let progress = train.add(fragment, now);
        self.total = self.total - before + train.memory();
        match progress {
            Progress::Waiting => {
                self.keep_to_total(slot, fragment.sequence);
                None
            }
            Progress::NoMemory => {
                self.give_up(slot, at, "there is no memory for it");
                None
            }
            Progress::Contradiction(why) => {
                let from = self.senders[slot].from;
                self.counters.trouble(Count::Malformed, 1, || {
                    format!("a fragment from {from} contradicts those before it: {why}")
                });
                self.give_up(slot, at, "its fragments contradict each other");
                None
            }
            Progress::Complete => {
                let train = self.senders[slot].trains.remove(at);
                self.total -= train.memory();
                if train.is_repeat {
                    self.restart(slot, train.sequence);
                }
                let (channel, data) = train.into_message()?;
                Some(Received {
                    channel: Cow::Owned(channel),
                    data,
                })
            }
        }
    }
    /// Abandons trains until the memory limit holds: the stalest first, and the given one last.
    ///
    /// Senders with several trains come before all others if they hold much memory, so that a
    /// sender cannot displace the trains of the others by opening many.
    fn keep_to_total(&mut self, slot: usize, sequence: u32) {
        while self.total > self.limits.total {
            let trains = self.senders.iter().enumerate().flat_map(|(s, sender)| {
                let is_greedy =
                    sender.trains.len() > 1 && sender.memory() > self.limits.total / SHARE;
                let trains = sender.trains.iter().enumerate();
                trains.map(move |(at, train)| {
                    let is_given = s == slot && train.sequence == sequence;
                    (is_given, !is_greedy, train.last, s, at)
                })
            });
            let Some((.., s, at)) = trains.min() else {
                return;
            };
            self.give_up(s, at, "incomplete messages take too much memory");
        }
    }
    /// Abandons a train.
    fn give_up(&mut self, slot: usize, at: usize, why: &str) {
        let train = self.senders[slot].trains.remove(at);
        self.total -= train.memory();
        // Its number already counted when it was complete for the first time.
        if !train.is_repeat {
            self.count_incomplete(slot, || format!("{} arrived, and {why}", train.describe()));
        }
    }
    /// Abandons all trains of a sender.
    fn give_up_all(&mut self, slot: usize, why: &str) {
        while let Some(at) = self.senders[slot].trains.len().checked_sub(1) {
            self.give_up(slot, at, why);
        }
    }
    fn count_incomplete(&self, slot: usize, why: impl FnOnce() -> String) {
        let from = self.senders[slot].from;
        self.counters.trouble(Count::Incomplete, 1, || {
            format!("an incomplete message from {from} is dropped: {}", why())
        });
        self.counters.add(Count::Lost, 1);
    }
    fn lose(&self, slot: usize, messages: u32) {
        if messages > 0 {
            let from = self.senders[slot].from;
            self.counters
                .trouble(Count::Lost, u64::from(messages), || {
                    format!(
                        "{messages} messages from {from} did not arrive, as its sequence numbers show; if it sends faster than \
                     this machine can receive, a larger 'recv_buf_size' in the URL helps"
                    )
                });
        }
    }
}

#[cfg(test)]
mod tests;
