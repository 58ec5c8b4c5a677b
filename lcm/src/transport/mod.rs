//! Transport of messages between processes: URLs, datagrams, sockets, playback of logs.

pub(crate) mod datagram;
mod numbering;
pub(crate) mod playback;
pub(crate) mod reassembly;
pub(crate) mod udpm;
pub(crate) mod url;

use crate::inbox::Inbox;
use crate::log::LogWriter;
use crate::message::MAX_MESSAGE;
use crate::message::encoded::Parts;
use crate::statistics::{Count, Counters};
use crate::{Error, Result};
use datagram::Datagrams;
use playback::Playback;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use udpm::Udpm;
use url::{FileMode, FileUrl, LcmUrl};

/// Transport of a bus.
#[derive(Debug)]
pub(crate) enum Transport {
    Memory,
    Nobody,
    Udpm(Udpm),
    Player(Mutex<Playback>),
    Recorder(Mutex<LogWriter>),
}

/// Locks even after a panic: a log is consistent wherever its user may panic.
fn lock<V>(mutex: &Mutex<V>) -> MutexGuard<'_, V> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Transport {
    pub(crate) fn open(url: &str, counters: &Arc<Counters>) -> Result<Self> {
        Ok(match LcmUrl::parse(url)? {
            LcmUrl::Memq => Self::Memory,
            LcmUrl::MemqNull => Self::Nobody,
            LcmUrl::Udpm(udpm) => Self::Udpm(Udpm::open(&udpm, url, counters.clone())?),
            LcmUrl::File(file) => Self::file(&file)?,
        })
    }
    fn file(url: &FileUrl) -> Result<Self> {
        Ok(match url.mode {
            FileMode::Read => Self::Player(Mutex::new(Playback::open(url)?)),
            FileMode::Write => Self::Recorder(Mutex::new(LogWriter::create(&url.path)?)),
            FileMode::Append => Self::Recorder(Mutex::new(LogWriter::append(&url.path)?)),
        })
    }
    /// Whether the caller delivers published messages itself.
    pub(crate) fn is_memory(&self) -> bool {
        matches!(self, Self::Memory)
    }
    /// Checks that the transport can carry a message on a valid channel.
    pub(crate) fn check(&self, url: &str, channel: &str, data: Parts<'_>) -> Result<()> {
        let wrong = |what: String| Err(Error::invalid(format!("LCM URL '{url}': {what}")));
        match self {
            Self::Udpm(_) => Datagrams::new(0, channel, data).map(drop).or_else(wrong),
            Self::Recorder(_) if data.len() > MAX_MESSAGE => wrong(format!(
                "a message on '{channel}' must have at most {MAX_MESSAGE} bytes, got {}",
                data.len()
            )),
            Self::Player(_) => Err(Error::unsupported(format!(
                "LCM URL '{url}': cannot publish on '{channel}', because the log is being played; add '?mode=w' \
                 to write it, or publish on another bus"
            ))),
            Self::Memory | Self::Nobody | Self::Recorder(_) => Ok(()),
        }
    }
    /// Sends a message with its time (µs).
    pub(crate) fn publish(
        &self,
        channel: &str,
        data: Parts<'_>,
        time: i64,
    ) -> Result<(), Box<dyn std::error::Error>> {
        match self {
            Self::Udpm(udpm) => Ok(udpm.publish(channel, data)?),
            Self::Recorder(log) => Ok(lock(log).write_parts(time, channel, data)?),
            Self::Memory | Self::Nobody | Self::Player(_) => Ok(()),
        }
    }
    /// Starts receiving messages.
    pub(crate) fn start_receiving(&self, inbox: &Inbox) -> Result<()> {
        let Self::Udpm(udpm) = self else {
            return Ok(());
        };
        let inbox = inbox.clone();
        udpm.start_receiving(move |channel, data| inbox.deliver(channel, data.into()))
    }
    /// Delivers the next event of a log, if it is due.
    pub(crate) fn play(&self, inbox: &Inbox, counters: &Counters) -> Result<Play> {
        let Self::Player(player) = self else {
            return Ok(Play::Live);
        };
        let mut player = lock(player);
        match player.next_due()? {
            None => return Ok(Play::Ended),
            Some(Duration::ZERO) => {}
            Some(later) => return Ok(Play::Later(later)),
        }
        if let Some(event) = player.take()? {
            counters.add(Count::Received, 1);
            inbox.deliver(&event.channel, event.data.into());
        }
        Ok(if player.is_paced() {
            Play::Delivered
        } else {
            Play::DeliveredAtOnce
        })
    }
    /// Writes buffered events.
    pub(crate) fn flush(&self) -> Result<()> {
        match self {
            Self::Recorder(log) => lock(log).flush(),
            _ => Ok(()),
        }
    }
}

/// Outcome of playing a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Play {
    /// Not a log.
    Live,
    /// The next event was due and was delivered.
    Delivered,
    /// An event was delivered, and all others are due immediately.
    DeliveredAtOnce,
    /// Time until the next event is due.
    Later(Duration),
    Ended,
}

#[cfg(test)]
mod capture;

#[cfg(test)]
mod allocations;
