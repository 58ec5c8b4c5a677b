//! Ratio of simulated to real time.

use std::time::{Duration, Instant};

/// Measures the rate over periods of real time.
#[derive(Debug)]
pub(crate) struct RealtimeRate {
    period: f64,
    last: Option<(f64, Instant)>,
    previous: f64,
    rate: f64,
}

impl RealtimeRate {
    pub(crate) fn new(period: f64) -> Self {
        Self {
            period,
            last: None,
            previous: 0.0,
            rate: 0.0,
        }
    }
    /// Returns the rate that was measured or set last.
    pub(crate) fn rate(&self) -> f64 {
        self.rate
    }
    pub(crate) fn set_rate(&mut self, rate: f64) {
        self.rate = rate;
    }
    /// Records that the simulation is at `time` (s) now. Returns the rate and the number of
    /// complete periods that it covers, 0 if no period is complete.
    pub(crate) fn update(&mut self, time: f64, now: Instant) -> (f64, u64) {
        let Some((start, since)) = self.last.filter(|_| time >= self.previous) else {
            (self.last, self.previous, self.rate) = (Some((time, now)), time, 0.0);
            return (0.0, 0);
        };
        if time == self.previous {
            return (self.rate, 0);
        }
        self.previous = time;
        let elapsed = now.duration_since(since).as_secs_f64();
        let periods = (elapsed / self.period).floor();
        if periods < 1.0 {
            return (self.rate, 0);
        }
        self.rate = (time - start) / elapsed;
        // Columns of the chart stay on the grid of periods, so the next one starts where this one
        // ended. If periods are too short to be counted, the next one starts now.
        let whole = since + Duration::from_secs_f64((periods * self.period).min(elapsed));
        let excess = now.duration_since(whole).as_secs_f64();
        self.last = Some((time - self.rate * excess, whole));
        (self.rate, periods as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_rate_is_reported_for_each_period() {
        let mut rate = RealtimeRate::new(0.25);
        let start = Instant::now();
        let at = |s: f64| start + Duration::from_secs_f64(s);
        assert_eq!(rate.update(3.0, at(0.0)).1, 0);
        assert_eq!(rate.update(3.1, at(0.1)).1, 0);
        let (r, n) = rate.update(3.5, at(0.25));
        assert!((r - 2.0).abs() < 1e-6, "{r}");
        assert_eq!(n, 1);
        // The same time again changes nothing, however long it takes.
        assert_eq!(rate.update(3.5, at(5.0)).1, 0);
        let (r, n) = rate.update(4.5, at(1.25 + 0.1));
        assert_eq!(n, 4);
        assert!((r - 1.0 / 1.1).abs() < 1e-6, "{r}");
        // Going back in time restarts the measurement.
        assert_eq!(rate.update(0.0, at(6.0)), (0.0, 0));
        assert_eq!(rate.rate(), 0.0);
    }

    #[test]
    fn a_period_too_short_to_be_counted_is_no_error() {
        let mut rate = RealtimeRate::new(f64::MIN_POSITIVE);
        let start = Instant::now();
        rate.update(0.0, start);
        let (r, n) = rate.update(2.0, start + Duration::from_secs(1));
        assert_eq!((r, n), (2.0, u64::MAX));
    }
}
