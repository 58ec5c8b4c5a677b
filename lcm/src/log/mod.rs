//! Log files: recorded messages with their times of arrival.
//!
//! A log is a sequence of events, all numbers big-endian: `u32 0xEDA1DA01, i64 number, i64
//! timestamp (µs), i32 length of the channel, i32 length of the data, channel, data`. Source: "LCM
//! log file format",
//! <https://lcm-proj.github.io/lcm/content/log-file-format.html>.

mod events;
#[cfg(any(test, fuzzing))]
mod fuzz;
mod open_files;
mod reader;
mod writer;

#[cfg(test)]
mod tests;

#[cfg(any(test, fuzzing))]
pub(crate) use fuzz::fuzz;
pub use reader::LogReader;
pub use writer::LogWriter;

use crate::message::MAX_MESSAGE;
use crate::{Error, Result};
use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use tarragon_framework::FileLocation;

/// The sync word at the start of every event.
const SYNC: u32 = 0xEDA1_DA01;
/// Length of an event's header, which precedes its channel (bytes).
const HEADER: usize = 28;
/// Longest channel name that is read, as in liblcm (bytes).
const MAX_CHANNEL: usize = 999;

/// A message in a log.
///
/// ```
/// use tarragon_lcm::LogEvent;
/// let (channel, data) = ("POSE".into(), vec![1, 2]);
/// let event = LogEvent { number: 0, timestamp: 1_500_000, channel, data };
/// assert_eq!(event.timestamp as f64 * 1e-6, 1.5);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEvent {
    /// Number of the event, from 0.
    pub number: i64,
    /// Time of arrival (µs), since 1970 if it was recorded with a wall clock.
    pub timestamp: i64,
    /// The message's channel.
    pub channel: String,
    /// The encoded message.
    pub data: Vec<u8>,
}

/// An event's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Header {
    number: i64,
    timestamp: i64,
    /// Length of the channel name (bytes), at most `MAX_CHANNEL`.
    channel: usize,
    /// Length of the data (bytes), at most `i32::MAX`.
    data: usize,
}

impl Header {
    /// Length of the whole event (bytes).
    fn event_len(&self) -> u64 {
        (HEADER + self.channel + self.data) as u64
    }
    fn to_bytes(self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[..4].copy_from_slice(&SYNC.to_be_bytes());
        bytes[4..12].copy_from_slice(&self.number.to_be_bytes());
        bytes[12..20].copy_from_slice(&self.timestamp.to_be_bytes());
        // Both are at most `i32::MAX`.
        bytes[20..24].copy_from_slice(&(self.channel as i32).to_be_bytes());
        bytes[24..].copy_from_slice(&(self.data as i32).to_be_bytes());
        bytes
    }
    /// Reads a header; None if the bytes are not one.
    fn from_bytes(bytes: &[u8; HEADER]) -> Option<Self> {
        let (sync, rest) = bytes.split_first_chunk()?;
        let (number, rest) = rest.split_first_chunk()?;
        let (timestamp, rest) = rest.split_first_chunk()?;
        let (channel, rest) = rest.split_first_chunk()?;
        let data = rest.first_chunk()?;
        let channel = usize::try_from(i32::from_be_bytes(*channel)).ok()?;
        let good = u32::from_be_bytes(*sync) == SYNC && (1..=MAX_CHANNEL).contains(&channel);
        good.then_some(Self {
            number: i64::from_be_bytes(*number),
            timestamp: i64::from_be_bytes(*timestamp),
            channel,
            data: usize::try_from(i32::from_be_bytes(*data)).ok()?,
        })
    }
}

/// Error for a file whose bytes are not those of a log.
fn format_error(path: &Path, what: impl Into<String>) -> Error {
    let file = path.display().to_string();
    let (line, column) = (0, 0);
    Error::parse(FileLocation { file, line, column }, what)
}

/// Opens a regular file. Other files are refused: pipes and devices would block, or never end.
fn open_regular(path: &Path, options: &OpenOptions) -> Result<File> {
    let irregular = || {
        let what = "a log must be a regular file, got a directory, pipe or device";
        Error::io(path, io::Error::new(io::ErrorKind::InvalidInput, what))
    };
    // Checked before opening, because opening a pipe waits for its other end.
    match path.metadata() {
        Ok(metadata) if !metadata.is_file() => return Err(irregular()),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(Error::io(path, error)),
    }
    let file = options.open(path).map_err(|error| Error::io(path, error))?;
    let metadata = file.metadata().map_err(|error| Error::io(path, error))?;
    if metadata.is_file() {
        Ok(file)
    } else {
        Err(irregular())
    }
}
