//! Logs as buses that follow simulated time.

use crate::bus::Lcm;
use crate::log::{LogEvent, LogReader};
use crate::{Error, Result};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tarragon_framework::to_microseconds;

/// A log whose messages are dispatched on request, in the order of their times (Drake's
/// `DrakeLcmLog`, for reading).
///
/// Subscriptions on [`lcm`](Self::lcm) receive them; in a simulation,
/// [`LcmLogPlaybackSystem`](crate::LcmLogPlaybackSystem) requests them. Clones share the log and
/// the position in it.
///
/// Times are the timestamps of the log. A log recorded with a wall clock counts seconds since 1970;
/// [`with_first_message_at`](Self::with_first_message_at) shifts it. A bus such as
/// `Lcm::with_url("file:///tmp/a.lcm?mode=w")` writes what a simulation publishes, with simulated
/// times. Messages of another bus are recorded as follows:
///
/// ```
/// use std::{sync::Mutex, time::Duration};
/// use tarragon_lcm::{Lcm, LcmLog, LogWriter, Subscriber, types::LcmtPoint};
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("points.lcm");
/// let lcm = Lcm::with_url("memq://")?;
/// let start = std::time::Instant::now();
/// let log = Mutex::new(LogWriter::create(&path)?);
/// let recording = lcm.subscribe_all_channels(move |channel, data| {
///     let time = start.elapsed().as_micros() as i64;
///     if let Err(error) = log.lock().unwrap().write(time, channel, data) {
///         eprintln!("{error}");
///     }
/// })?;
/// for x in [1.0, 2.0] {
///     lcm.publish("POINT", &LcmtPoint { x, y: 0.0, z: 0.0 })?;
///     lcm.handle_subscriptions(Duration::ZERO)?;
/// }
/// drop(recording); // ends the log
///
/// let log = LcmLog::open(&path)?.with_first_message_at(0.0)?;
/// let points = Subscriber::<LcmtPoint>::new(log.lcm(), "POINT")?;
/// assert_eq!(log.next_message_time()?, 0.0);
/// while log.dispatch_message_and_advance_log(f64::INFINITY)? {}
/// assert_eq!((points.count(), points.message().map(|p| p.x)), (2, Some(2.0)));
/// assert_eq!(log.next_message_time()?, f64::INFINITY);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct LcmLog {
    lcm: Lcm,
    place: Arc<Mutex<Place>>,
}

/// Position in a log.
#[derive(Debug)]
struct Place {
    log: LogReader,
    /// The next event, if it was read already.
    next: Option<LogEvent>,
    /// Timestamp of the first event in the file (µs).
    first: Option<i64>,
    /// Offset added to timestamps (µs).
    shift: i64,
}

impl Place {
    fn peek(&mut self) -> Result<Option<&LogEvent>> {
        if self.next.is_none() {
            self.next = self.log.next().transpose()?;
        }
        Ok(self.next.as_ref())
    }
    /// Time of the next event (s).
    fn next_time(&mut self) -> Result<f64> {
        let shift = self.shift;
        let seconds = |e: &LogEvent| e.timestamp.saturating_add(shift) as f64 / 1e6;
        Ok(self.peek()?.map_or(f64::INFINITY, seconds))
    }
}

impl LcmLog {
    /// Opens a log.
    ///
    /// # Errors
    /// Same as [`LogReader::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let mut place = Place {
            log: LogReader::open(path)?,
            next: None,
            first: None,
            shift: 0,
        };
        place.first = place.peek()?.map(|event| event.timestamp);
        Ok(Self {
            lcm: Lcm::with_url("memq://")?,
            place: Arc::new(Mutex::new(place)),
        })
    }
    /// Shifts all times so that the first message of the file is at `time` (s).
    ///
    /// # Errors
    /// Returns an error if the time is not finite.
    pub fn with_first_message_at(self, time: f64) -> Result<Self> {
        if !time.is_finite() {
            return Err(Error::invalid(format!(
                "LcmLog: the time of the first message must be finite, got {time:?} s"
            )));
        }
        let mut place = self.lock();
        let first = place.first.unwrap_or(0);
        place.shift = to_microseconds(time)?.saturating_sub(first);
        drop(place);
        Ok(self)
    }
    /// The bus that delivers the log's messages. What is published on it is delivered there too,
    /// but not written to the file.
    pub fn lcm(&self) -> &Lcm {
        &self.lcm
    }
    /// The time of the next message (s); infinity at the end of the log.
    ///
    /// # Errors
    /// Returns an error if the message cannot be read; the next call continues after it.
    pub fn next_message_time(&self) -> Result<f64> {
        self.lock().next_time()
    }
    /// If the next message's time is `time` (s) or earlier, calls its handlers and advances to the
    /// message after it. Returns whether it did.
    ///
    /// # Errors
    /// Returns an error if the message cannot be read; the next call continues after it.
    pub fn dispatch_message_and_advance_log(&self, time: f64) -> Result<bool> {
        let event = {
            let mut place = self.lock();
            let is_due = place.next_time()? <= time;
            place.next.take_if(|_| is_due)
        };
        // Dispatched without the lock, because handlers may use the log.
        let Some(event) = event else {
            return Ok(false);
        };
        self.lcm.deliver(&event.channel, event.data.into());
        self.lcm.handle_subscriptions(Duration::ZERO)?;
        Ok(true)
    }
    /// Moves to the first message at `time` (s) or later, forwards or backwards. Timestamps should
    /// not decrease along the log, see [`LogReader::seek_to_timestamp`].
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or the time is NaN.
    pub fn seek(&self, time: f64) -> Result<()> {
        let mut place = self.lock();
        let timestamp = to_microseconds(time)?.saturating_sub(place.shift);
        let is_start = place.first.is_none_or(|first| timestamp <= first);
        place.next = None;
        place
            .log
            .seek_to_timestamp(if is_start { i64::MIN } else { timestamp })
    }
    /// Locks even after a panic: the position is consistent wherever its user may panic.
    fn lock(&self) -> MutexGuard<'_, Place> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
