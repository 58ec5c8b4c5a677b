//! Reassembly of messages from datagrams, in bounded memory whatever arrives.
//!
//! A sender (address and port) numbers its messages, short and fragmented ones together, and sends
//! the fragments of a message in a row. There is thus at most one incomplete message (a train) per
//! sender: a newer number ends it. Every message that did not arrive complete counts in
//! [`Count::Lost`] once, whether none or some of it arrived; a message that arrives complete but
//! late is subtracted again.

use super::datagram::{self, Datagram, Fragment};
use super::numbering::{Arrival, Numbering};
use crate::statistics::{Count, Counters};
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
    /// How long a train may go without a new fragment.
    pub(crate) patience: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message: super::MAX_MESSAGE,
            total: super::MAX_MESSAGE,
            senders: 1024,
            patience: Duration::from_secs(2),
        }
    }
}

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
    train: Option<Train>,
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
        let patience = self.limits.patience;
        for slot in 0..self.senders.len() {
            let train = &self.senders[slot].train;
            let last = train.as_ref().map(|train| train.last);
            if last.is_some_and(|last| now.saturating_duration_since(last) > patience) {
                self.give_up(slot, "no more fragments arrived");
            }
        }
        self.next_sweep = now.checked_add(patience / 8);
    }

    /// Records the sequence number of a complete message.
    fn short(&mut self, from: SocketAddr, sequence: u32, now: Instant) {
        let (slot, arrival, _) = self.note(from, sequence, now);
        match arrival {
            Arrival::Newer { skipped } => {
                self.give_up(slot, "a newer message arrived");
                self.lose(slot, skipped);
            }
            Arrival::Newest | Arrival::Restart => self.give_up(slot, "the sender restarted"),
            Arrival::Late => self.counters.take_back(Count::Lost, 1),
            Arrival::Again => {}
        }
    }
    fn fragment(
        &mut self,
        from: SocketAddr,
        fragment: &Fragment<'_>,
        now: Instant,
    ) -> Option<Received<'static>> {
        let (slot, arrival, after_silence) = self.note(from, fragment.sequence, now);
        match arrival {
            Arrival::Newer { skipped } => {
                self.give_up(slot, "a newer message arrived");
                self.lose(slot, skipped);
            }
            Arrival::Restart => self.give_up(slot, "the sender restarted"),
            Arrival::Newest if self.train_of(slot).is_some() => {
                return self.advance(slot, fragment, now);
            }
            // A restarted sender may reach the same number again. Later fragments of an abandoned
            // train do not begin a new one.
            Arrival::Newest if after_silence && fragment.number == 0 => {}
            // The train was abandoned or completed.
            Arrival::Newest | Arrival::Late | Arrival::Again => return None,
        }
        self.begin(slot, fragment, now)
    }
    /// Finds or adds a sender, and records one of its sequence numbers.
    fn note(&mut self, from: SocketAddr, sequence: u32, now: Instant) -> (usize, Arrival, bool) {
        let known = match self.senders.get(self.current) {
            Some(sender) if sender.from == from => Some(self.current),
            _ => self.index.get(&from).copied(),
        };
        let Some(slot) = known else {
            self.current = self.add_sender(from, sequence, now);
            return (self.current, Arrival::Newer { skipped: 0 }, false);
        };
        self.current = slot;
        let sender = &mut self.senders[slot];
        let silence = now.saturating_duration_since(sender.heard);
        let after_silence = silence > self.limits.patience;
        sender.heard = now;
        let arrival = sender.numbering.note(sequence, after_silence);
        (slot, arrival, after_silence)
    }
    fn add_sender(&mut self, from: SocketAddr, sequence: u32, now: Instant) -> usize {
        let sender = Sender {
            from,
            heard: now,
            numbering: Numbering::start(sequence),
            train: None,
        };
        let slot = if self.senders.len() < self.limits.senders.max(1) {
            self.senders.push(sender);
            self.senders.len() - 1
        } else {
            let oldest = (0..self.senders.len()).min_by_key(|slot| self.senders[*slot].heard);
            let slot = oldest.unwrap_or(0);
            self.give_up(slot, "there are too many senders");
            let forgotten = std::mem::replace(&mut self.senders[slot], sender);
            self.index.remove(&forgotten.from);
            slot
        };
        self.index.insert(from, slot);
        slot
    }
    fn train_of(&self, slot: usize) -> Option<&Train> {
        self.senders[slot].train.as_ref()
    }
    /// Begins a train for a sender that has none.
    fn begin(
        &mut self,
        slot: usize,
        fragment: &Fragment<'_>,
        now: Instant,
    ) -> Option<Received<'static>> {
        if fragment.size as usize > self.limits.message {
            let (size, limit) = (fragment.size, self.limits.message);
            self.count_incomplete(slot, || {
                format!("it must have at most {limit} bytes, got {size}")
            });
            return None;
        }
        let train = Train::new(fragment, now);
        self.total += train.memory();
        self.senders[slot].train = Some(train);
        self.advance(slot, fragment, now)
    }
    /// Adds a fragment to the train of a sender that has one.
    fn advance(
        &mut self,
        slot: usize,
        fragment: &Fragment<'_>,
        now: Instant,
    ) -> Option<Received<'static>> {
        let train = self.senders[slot].train.as_mut()?;
        let before = train.memory();
        let progress = train.add(fragment, now);
        self.total = self.total - before + train.memory();
        match progress {
            Progress::Waiting => {
                self.keep_to_total(slot);
                None
            }
            Progress::NoMemory => {
                self.give_up(slot, "there is no memory for it");
                None
            }
            Progress::Contradiction(why) => {
                let from = self.senders[slot].from;
                self.counters.trouble(Count::Malformed, 1, || {
                    format!("a fragment from {from} contradicts those before it: {why}")
                });
                self.give_up(slot, "its fragments contradict each other");
                None
            }
            Progress::Complete => {
                let train = self.senders[slot].train.take()?;
                self.total -= train.memory();
                let (channel, data) = train.into_message()?;
                Some(Received {
                    channel: Cow::Owned(channel),
                    data,
                })
            }
        }
    }
    /// Abandons the oldest trains until the memory limit holds; that of `slot` last.
    fn keep_to_total(&mut self, slot: usize) {
        while self.total > self.limits.total {
            let others = (0..self.senders.len()).filter(|other| *other != slot);
            let oldest = others
                .filter_map(|other| Some((self.train_of(other)?.last, other)))
                .min();
            let victim = oldest.map_or(slot, |(_, other)| other);
            if self.train_of(victim).is_none() {
                return;
            }
            self.give_up(victim, "incomplete messages take too much memory");
        }
    }
    /// Abandons the train of a sender, if it has one.
    fn give_up(&mut self, slot: usize, why: &str) {
        if let Some(train) = self.senders[slot].train.take() {
            self.total -= train.memory();
            self.count_incomplete(slot, || format!("{} arrived, and {why}", train.describe()));
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
