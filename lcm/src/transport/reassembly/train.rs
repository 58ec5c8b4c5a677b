//! One message whose fragments have not all arrived.

use super::super::datagram::Fragment;
use std::collections::BTreeMap;
use std::time::Instant;

/// Memory charged for a train or an early fragment besides its data (bytes), rounded up generously.
const TRAIN: usize = 512;
const ENTRY: usize = 128;
/// Largest ratio of reserved to received data, so that appending does not copy each time.
const GROWTH: usize = 4;

/// Effect of a fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    Waiting,
    Complete,
    Contradiction(&'static str),
    NoMemory,
}

/// The data up to the first missing fragment, joined, and the fragments after it. Memory grows with
/// what has been received, not with what was announced.
#[derive(Debug)]
pub(super) struct Train {
    /// Sequence number of the message.
    pub(super) sequence: u32,
    /// Whether a message with this number was complete before.
    pub(super) is_repeat: bool,
    size: u32,
    count: u16,
    channel: Option<String>,
    data: Vec<u8>,
    /// Number of the first missing fragment.
    next: u16,
    /// Later fragments by number, each with its offset and data.
    early: BTreeMap<u16, (u32, Vec<u8>)>,
    early_bytes: usize,
    /// Time of arrival of the last fragment.
    pub(super) last: Instant,
}

impl Train {
    /// Starts the train of a fragment, without adding the fragment.
    pub(super) fn new(fragment: &Fragment<'_>, is_repeat: bool, now: Instant) -> Self {
        Self {
            sequence: fragment.sequence,
            is_repeat,
            size: fragment.size,
            count: fragment.count,
            channel: None,
            data: Vec::new(),
            next: 0,
            early: BTreeMap::new(),
            early_bytes: 0,
            last: now,
        }
    }
    /// Memory of the train (bytes).
    pub(super) fn memory(&self) -> usize {
        TRAIN + self.data.capacity() + self.early_bytes + ENTRY * self.early.len()
    }
    pub(super) fn describe(&self) -> String {
        format!(
            "{} of {} fragments",
            usize::from(self.next) + self.early.len(),
            self.count
        )
    }
    /// Returns true if a fragment is of a message of the same size.
    pub(super) fn fits(&self, fragment: &Fragment<'_>) -> bool {
        (fragment.size, fragment.count) == (self.size, self.count)
    }
    /// Adds a fragment. A duplicate is ignored.
    pub(super) fn add(&mut self, fragment: &Fragment<'_>, now: Instant) -> Progress {
        if !self.fits(fragment) {
            return Progress::Contradiction("another size or another number of fragments");
        }
        if fragment.number < self.next || self.early.contains_key(&fragment.number) {
            return Progress::Waiting;
        }
        self.last = now;
        if fragment.number > self.next {
            let room = self.size as usize - self.data.len() - self.early_bytes;
            if fragment.data.len() > room {
                return Progress::Contradiction("more data than the message has");
            }
            self.early_bytes += fragment.data.len();
            let kept = (fragment.offset, fragment.data.to_vec());
            self.early.insert(fragment.number, kept);
            return Progress::Waiting;
        }
        if let Some(channel) = fragment.channel {
            self.channel = Some(channel.into());
        }
        let mut progress = self.append(fragment.offset, fragment.data);
        while progress == Progress::Waiting
            && let Some(entry) = self.early.first_entry()
            && *entry.key() == self.next
        {
            let (offset, data) = entry.remove();
            self.early_bytes -= data.len();
            progress = self.append(offset, &data);
        }
        progress
    }
    fn append(&mut self, offset: u32, data: &[u8]) -> Progress {
        let len = self.data.len();
        if offset as usize != len {
            return Progress::Contradiction("a gap or an overlap between two fragments");
        }
        let (size, needed) = (self.size as usize, len + data.len());
        if needed + self.early_bytes > size {
            return Progress::Contradiction("more data than the message has");
        }
        if needed > self.data.capacity() {
            let capacity = size.min(needed.saturating_mul(GROWTH));
            if self.data.try_reserve_exact(capacity - len).is_err() {
                return Progress::NoMemory;
            }
        }
        self.data.extend_from_slice(data);
        self.next += 1;
        match self.next == self.count {
            false => Progress::Waiting,
            true if needed == size => Progress::Complete,
            true => Progress::Contradiction("less data than the message has"),
        }
    }
    /// Channel and data of a complete train.
    pub(super) fn into_message(self) -> Option<(String, Vec<u8>)> {
        Some((self.channel?, self.data))
    }
}
