//! Linear axes with round ticks.

/// A range of values, of finite and positive width.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Axis {
    low: f64,
    high: f64,
}

/// A labelled value of an axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub(super) value: f64,
    pub(super) label: String,
}

/// Smallest relative width of a range; a narrower one is drawn as a constant.
const NARROWEST: f64 = 1e-12;

impl Axis {
    /// Creates an axis for values from `low` to `high`; without values, from 0 to 1.
    pub(super) fn new(low: f64, high: f64) -> Self {
        if !(low.is_finite() && high.is_finite() && low <= high) {
            return Self {
                low: 0.0,
                high: 1.0,
            };
        }
        let size = low.abs().max(high.abs());
        let is_constant = high / 2.0 - low / 2.0 <= (size * NARROWEST).max(f64::MIN_POSITIVE * 1e9);
        if !is_constant {
            return Self { low, high };
        }
        let pad = if size * NARROWEST > f64::MIN_POSITIVE {
            size / 4.0
        } else {
            1.0
        };
        Self {
            low: (low - pad).max(f64::MIN),
            high: (high + pad).min(f64::MAX),
        }
    }

    /// Widens the range by a fraction of its width on both sides.
    pub(super) fn widened(self, fraction: f64) -> Self {
        let pad = self.high * fraction - self.low * fraction;
        Self {
            low: (self.low - pad).max(f64::MIN),
            high: (self.high + pad).min(f64::MAX),
        }
    }

    /// Returns the place of a value: 0 at the low end, 1 at the high end.
    pub(super) fn place(self, value: f64) -> f64 {
        // Halves, because the width itself may overflow.
        (value / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0)
    }

    /// Returns at most `most + 1` ticks at multiples of 1, 2 or 5 times a power of ten.
    pub(super) fn ticks(self, most: usize) -> Vec<Tick> {
        let most = most as f64;
        let raw = self.high / most - self.low / most;
        let mut exponent = raw.log10().floor();
        let scale = 10f64.powf(exponent);
        let factors = [1.0, 2.0, 5.0];
        let step = factors.into_iter().find(|f| f * scale >= raw);
        let step = step.map_or_else(
            || {
                exponent += 1.0;
                10f64.powf(exponent)
            },
            |f| f * scale,
        );
        let size = self.low.abs().max(self.high.abs());
        let is_plain = (1e-4..1e6).contains(&size);
        let (first, last) = ((self.low / step).ceil(), (self.high / step).floor());
        let count = (last - first).clamp(-1.0, most) as i64;
        let tick = |i: i64| {
            // Zero has no sign.
            let value = (first + i as f64) * step + 0.0;
            let label = match is_plain || value == 0.0 {
                true if value == 0.0 => "0".to_owned(),
                true => format!("{value:.*}", (-exponent).max(0.0) as usize),
                false => {
                    let digits = (value.abs().log10() + 1e-9).floor() - exponent;
                    format!("{value:.*e}", digits.clamp(0.0, 16.0) as usize)
                }
            };
            Tick { value, label }
        };
        (0..=count).map(tick).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64) -> Vec<String> {
        let ticks = Axis::new(low, high).ticks(5);
        ticks.into_iter().map(|t| t.label).collect()
    }

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!(labels(0.0, 1.0), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(-0.31, 0.22), ["-0.2", "0", "0.2"]);
        assert_eq!(labels(3.0, 47.0), ["10", "20", "30", "40"]);
        assert_eq!(labels(-2e-7, 2e-7), ["-2e-7", "-1e-7", "0", "1e-7", "2e-7"]);
        assert_eq!(labels(1e6, 2e6).first().map(String::as_str), Some("1.0e6"));
    }

    #[test]
    fn any_finite_range_has_ticks_inside() {
        let ends = [
            0.0,
            1e-320,
            1e-300,
            1e-9,
            1.0,
            1.0 + 1e-15,
            1e9,
            1e300,
            f64::MAX,
        ];
        let all = ends.into_iter().flat_map(|x| [x, -x]);
        for low in all.clone() {
            for high in all.clone().filter(|high| *high >= low) {
                for axis in [Axis::new(low, high), Axis::new(low, high).widened(0.05)] {
                    let ticks = axis.ticks(6);
                    assert!((1..=7).contains(&ticks.len()), "{low} {high}: {ticks:?}");
                    for tick in ticks {
                        let place = axis.place(tick.value);
                        assert!(
                            (-1e-9..=1.0 + 1e-9).contains(&place),
                            "{low} {high} {tick:?}"
                        );
                        assert!(tick.label.len() < 24, "{tick:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn axis_without_values_goes_from_zero_to_one() {
        let unit = Axis {
            low: 0.0,
            high: 1.0,
        };
        assert_eq!(Axis::new(f64::INFINITY, f64::NEG_INFINITY), unit);
        assert_eq!(Axis::new(f64::NAN, 1.0), unit);
        assert!(Axis::new(2.0, 2.0).place(2.0) == 0.5);
    }
}
