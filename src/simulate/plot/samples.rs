//! Samples of columns in bounded memory.

/// Maximum number of intervals. It is even, and half of it is more than a chart has pixels.
const MOST_INTERVALS: usize = 2048;

/// Range of a column in an interval of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Span {
    /// Smallest and largest finite value; `low > high` without one.
    pub(super) low: f64,
    pub(super) high: f64,
    /// Whether the smallest value came before the largest one.
    pub(super) rises: bool,
    /// Whether a value was not finite.
    pub(super) has_gap: bool,
}

impl Span {
    fn of(value: f64) -> Self {
        let is_finite = value.is_finite();
        Self {
            low: if is_finite { value } else { f64::INFINITY },
            high: if is_finite { value } else { f64::NEG_INFINITY },
            rises: true,
            has_gap: !is_finite,
        }
    }
    /// Returns the span of this interval and the next one.
    fn with(self, next: Self) -> Self {
        let (low_is_first, high_is_first) = (self.low <= next.low, self.high >= next.high);
        Self {
            low: self.low.min(next.low),
            high: self.high.max(next.high),
            rises: match (low_is_first, high_is_first) {
                (true, true) => self.rises,
                (false, false) => next.rises,
                (low_is_first, _) => low_is_first,
            },
            has_gap: self.has_gap || next.has_gap,
        }
    }
    /// Returns the values to draw, in the order of time.
    pub(super) fn values(self) -> Option<(f64, f64)> {
        (self.low <= self.high).then_some(if self.rises {
            (self.low, self.high)
        } else {
            (self.high, self.low)
        })
    }
}

/// Ranges of all columns from one time to another (s).
#[derive(Clone, Debug)]
pub(super) struct Interval {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) spans: Vec<Span>,
}

impl Interval {
    fn add(&mut self, next: &Self) {
        self.to = next.to;
        for (span, next) in self.spans.iter_mut().zip(&next.spans) {
            *span = span.with(*next);
        }
    }
}

/// Rows of numbers. Once there are too many, neighbours share an interval, which keeps extremes.
pub(super) struct Samples {
    pub(super) intervals: Vec<Interval>,
    /// Rows per interval.
    stride: u64,
    /// Rows in the last interval.
    last: u64,
}

impl Samples {
    pub(super) fn new() -> Self {
        Self {
            intervals: vec![],
            stride: 1,
            last: 1,
        }
    }

    /// Adds a row.
    pub(super) fn add(&mut self, time: f64, values: impl Iterator<Item = f64>) {
        let row = Interval {
            from: time,
            to: time,
            spans: values.map(Span::of).collect(),
        };
        if self.last < self.stride
            && let Some(interval) = self.intervals.last_mut()
        {
            interval.add(&row);
            self.last += 1;
            return;
        }
        if self.intervals.len() == MOST_INTERVALS {
            let pairs = self.intervals.chunks(2).map(|pair| {
                let mut merged = pair[0].clone();
                pair[1..].iter().for_each(|next| merged.add(next));
                merged
            });
            self.intervals = pairs.collect();
            self.stride *= 2;
        }
        self.intervals.push(row);
        self.last = 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_bounded_and_extremes_stay() {
        let mut samples = Samples::new();
        let rows = 100_000;
        for i in 0..rows {
            let value = match i {
                34_567 => 9.0,
                76_543 => f64::NAN,
                _ => (i % 2) as f64,
            };
            samples.add(i as f64, [value].into_iter());
        }
        let intervals = &samples.intervals;
        assert!((MOST_INTERVALS / 2..=MOST_INTERVALS).contains(&intervals.len()));
        assert_eq!(intervals[0].from, 0.0);
        assert_eq!(intervals.last().map(|i| i.to), Some((rows - 1) as f64));
        for pair in intervals.windows(2) {
            assert_eq!(pair[0].to + 1.0, pair[1].from);
        }
        let highest: Vec<&Interval> = intervals
            .iter()
            .filter(|i| i.spans[0].high == 9.0)
            .collect();
        assert_eq!(highest.len(), 1);
        assert!((highest[0].from..=highest[0].to).contains(&34_567.0));
        assert_eq!(intervals.iter().filter(|i| i.spans[0].has_gap).count(), 1);
    }

    #[test]
    fn extremes_keep_their_order() {
        let span = |values: &[f64]| {
            let spans = values.iter().map(|v| Span::of(*v));
            spans.reduce(Span::with).unwrap().values()
        };
        assert_eq!(span(&[1.0, 3.0, 0.0]), Some((3.0, 0.0)));
        assert_eq!(span(&[1.0, 0.0, 2.0]), Some((0.0, 2.0)));
        assert_eq!(span(&[f64::NAN, 2.0, 1.0]), Some((2.0, 1.0)));
        assert_eq!(span(&[f64::NAN, f64::INFINITY]), None);
    }
}
