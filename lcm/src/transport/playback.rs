//! Playback of logs in real time.

use super::url::FileUrl;
use crate::Result;
use crate::log::{LogEvent, LogReader};
use std::time::{Duration, Instant};

/// Events of a log, paced by their timestamps.
#[derive(Debug)]
pub(crate) struct Playback {
    log: LogReader,
    speed: f64,
    next: Option<LogEvent>,
    /// Real time of the first request, and the timestamp (µs) of the first event.
    start: Option<(Instant, i64)>,
}

impl Playback {
    /// Opens a log and moves to its start timestamp.
    ///
    /// # Errors
    /// Same as [`LogReader::open`].
    pub(crate) fn open(url: &FileUrl) -> Result<Self> {
        let mut log = LogReader::open(&url.path)?;
        if let Some(timestamp) = url.start_timestamp {
            log.seek_to_timestamp(timestamp)?;
        }
        Ok(Self {
            log,
            speed: url.speed,
            next: None,
            start: None,
        })
    }
    /// Whether events are paced, that is, not played as fast as possible.
    pub(crate) fn is_paced(&self) -> bool {
        self.speed != 0.0
    }
    /// Time until the next event is due, zero if it is; None at the end of the log. Playback starts
    /// with the first call.
    ///
    /// # Errors
    /// Returns an error if the event cannot be read; the next call continues after it.
    pub(crate) fn next_due(&mut self) -> Result<Option<Duration>> {
        self.next_due_at(Instant::now())
    }
    fn next_due_at(&mut self, now: Instant) -> Result<Option<Duration>> {
        if self.next.is_none() {
            self.next = self.log.next().transpose()?;
        }
        let Some(event) = &self.next else {
            return Ok(None);
        };
        let (start, first) = *self.start.get_or_insert((now, event.timestamp));
        if self.speed == 0.0 {
            return Ok(Some(Duration::ZERO));
        }
        // Events recorded after the clock was set back are due at once.
        let micros = i128::from(event.timestamp) - i128::from(first);
        let after = micros.max(0) as f64 * 1e-6 / self.speed;
        let after = Duration::try_from_secs_f64(after).unwrap_or(Duration::MAX);
        Ok(Some(
            after.saturating_sub(now.saturating_duration_since(start)),
        ))
    }
    /// Takes the next event, whether it is due or not. None at the end of the log.
    ///
    /// # Errors
    /// Returns an error if the event cannot be read; the next call continues after it.
    pub(crate) fn take(&mut self) -> Result<Option<LogEvent>> {
        match self.next.take() {
            Some(event) => Ok(Some(event)),
            None => self.log.next().transpose(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::LogWriter;
    use crate::transport::url::FileMode;

    fn playback(timestamps: &[i64], speed: f64, start_timestamp: Option<i64>) -> Playback {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log.lcm");
        let mut log = LogWriter::create(&path).unwrap();
        for (k, timestamp) in timestamps.iter().enumerate() {
            log.write(*timestamp, "X", &[k as u8]).unwrap();
        }
        log.flush().unwrap();
        let url = FileUrl {
            path,
            mode: FileMode::Read,
            speed,
            start_timestamp,
        };
        Playback::open(&url).unwrap()
    }
    /// Waiting times before each event, if every event is taken at once.
    fn waits(mut playback: Playback) -> Vec<f64> {
        let now = Instant::now();
        let mut waits = Vec::new();
        while let Some(wait) = playback.next_due_at(now).unwrap() {
            assert_eq!(playback.next_due_at(now).unwrap(), Some(wait));
            waits.push(wait.as_secs_f64());
            assert_eq!(playback.take().unwrap().unwrap().channel, "X");
        }
        assert_eq!(playback.take().unwrap(), None);
        waits
    }

    #[test]
    fn events_are_due_at_their_times() {
        let times = [5_000_000, 5_500_000, 5_200_000, 9_000_000];
        assert_eq!(waits(playback(&times, 1.0, None)), [0.0, 0.5, 0.2, 4.0]);
        assert_eq!(waits(playback(&times, 4.0, None)), [0.0, 0.125, 0.05, 1.0]);
        assert_eq!(waits(playback(&times, 0.0, None)), [0.0; 4]);
        assert_eq!(waits(playback(&[], 1.0, None)), [0.0; 0]);
    }

    #[test]
    fn playback_starts_at_the_start_timestamp() {
        let times = [1_000_000, 2_000_000, 4_000_000];
        assert_eq!(waits(playback(&times, 1.0, Some(1_000_001))), [0.0, 2.0]);
        assert_eq!(waits(playback(&times, 1.0, Some(9_000_000))), [0.0; 0]);
    }

    #[test]
    fn late_events_are_due_at_once() {
        let mut playback = playback(&[0, 1_000_000, 3_000_000], 2.0, None);
        let now = Instant::now();
        assert_eq!(playback.next_due_at(now).unwrap(), Some(Duration::ZERO));
        playback.take().unwrap();
        let later = now + Duration::from_millis(800);
        assert_eq!(playback.next_due_at(later).unwrap(), Some(Duration::ZERO));
        playback.take().unwrap();
        let wait = playback.next_due_at(later).unwrap();
        assert_eq!(wait, Some(Duration::from_millis(700)));
    }

    #[test]
    fn extreme_timestamps_do_not_overflow() {
        let waits = waits(playback(&[i64::MIN, i64::MAX], 1e-9, None));
        assert_eq!((waits.len(), waits[0]), (2, 0.0));
        assert!(waits[1] > 1e18);
    }
}
