//! Reading logs.

use super::events::{Events, Trouble};
use super::{LogEvent, format_error, open_regular};
use crate::{Error, Result};
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Seek};
use std::path::{Path, PathBuf};

/// Range (bytes) below which a search walks from event to event instead of bisecting.
const WALK: u64 = 1 << 16;

/// Iterator over the events of a log file, in file order.
///
/// Bytes that do not belong to an event are skipped and counted. An unreadable event (it claims
/// more than 256 MiB, or its channel is not UTF-8) is an error; reading continues after it.
///
/// ```
/// use tarragon_lcm::{LogReader, LogWriter};
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("robot.lcm");
/// let mut log = LogWriter::create(&path)?;
/// for k in 0..5 {
///     log.write(1000 * k, "POSE", &[k as u8])?;
/// }
/// log.flush()?;
///
/// let mut log = LogReader::open(&path)?;
/// log.seek_to_timestamp(2500)?;
/// let event = log.next().expect("two more events")?;
/// assert_eq!((event.number, event.timestamp, event.channel.as_str()), (3, 3000, "POSE"));
/// assert_eq!(log.count(), 1);
/// # Ok::<(), tarragon_lcm::Error>(())
/// ```
#[derive(Debug)]
pub struct LogReader {
    path: PathBuf,
    events: Events<BufReader<File>>,
    ended: bool,
}

impl LogReader {
    /// Opens a log. Events appended later are not read.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, is not a regular file, or is not empty but
    /// holds no event.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let file = open_regular(path, OpenOptions::new().read(true))?;
        let first = |file| {
            let mut events = Events::new(BufReader::with_capacity(1 << 16, file))?;
            let none = events.peek()?.is_none();
            Ok((events, none))
        };
        let (events, none) = first(file).map_err(|error| Error::io(path, error))?;
        if none && events.len() > 0 && events.cut != Some(0) {
            let bytes = events.len();
            let what = format!("the file must be an LCM log, got {bytes} bytes without an event");
            return Err(format_error(path, what));
        }
        Ok(Self {
            path: path.into(),
            events,
            ended: false,
        })
    }
    /// Moves to the first event at `timestamp` (µs) or later, forwards or backwards; to the end if
    /// all are earlier. This takes a few reads, however long the log is.
    ///
    /// Timestamps must not decrease along the log, which holds unless the clock was set back during
    /// recording. Messages that contain whole logs may mislead the search.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub fn seek_to_timestamp(&mut self, timestamp: i64) -> Result<()> {
        self.ended = false;
        seek(&mut self.events, timestamp).map_err(|error| {
            self.ended = true;
            Error::io(&self.path, error)
        })
    }
    /// Number of bytes skipped so far because they do not belong to an event.
    pub fn skipped_bytes(&self) -> u64 {
        self.events.skipped
    }
    /// Whether the last event is incomplete, for example because the recording program was killed.
    /// Known once the end was reached; that event is not returned.
    pub fn is_truncated(&self) -> bool {
        self.events.cut.is_some()
    }
}

impl Iterator for LogReader {
    type Item = Result<LogEvent>;

    fn next(&mut self) -> Option<Result<LogEvent>> {
        if self.ended {
            return None;
        }
        match self.events.next() {
            Ok(Some(event)) => Some(Ok(event)),
            Ok(None) => {
                self.ended = true;
                None
            }
            Err(Trouble::Event(what)) => Some(Err(format_error(&self.path, what))),
            Err(Trouble::Io(error)) => {
                self.ended = true;
                Some(Err(Error::io(&self.path, error)))
            }
        }
    }
}

impl std::iter::FusedIterator for LogReader {}

/// Moves to the first event at `timestamp` or later.
pub(super) fn seek<R: BufRead + Seek>(events: &mut Events<R>, timestamp: i64) -> io::Result<()> {
    let skipped = events.skipped;
    // Invariant: events that start before `low` are too early; the first event that starts at
    // `high` or later is not.
    let (mut low, mut high) = (0, events.len());
    while high.saturating_sub(low) > WALK {
        let middle = low + (high - low) / 2;
        match events.find(middle, high)? {
            Some(header) if header.timestamp < timestamp => {
                low = events.position() + header.event_len();
            }
            Some(_) | None => high = middle,
        }
    }
    events.advance_to(low)?;
    while let Some(header) = events.peek()? {
        if header.timestamp >= timestamp {
            break;
        }
        events.pass(&header)?;
    }
    events.skipped = skipped;
    Ok(())
}
