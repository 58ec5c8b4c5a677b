//! Values of a slider.

use crate::{Error, Result};

/// Part of a step within which rounding makes two values equal.
const ROUNDING: f64 = 1e-9;

/// Value, range and keys of a slider.
#[derive(Clone, Debug)]
pub(crate) struct Slider {
    pub(crate) value: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
    pub(crate) step: f64,
    pub(crate) decrement_keycode: String,
    pub(crate) increment_keycode: String,
}

impl Slider {
    /// Checks range, step and value.
    pub(crate) fn check(&self, name: &str) -> Result<()> {
        let Self {
            value,
            min,
            max,
            step,
            ..
        } = *self;
        let wrong = |what: String| Err(Error::invalid(format!("Meshcat slider '{name}': {what}")));
        if !(min.is_finite() && max.is_finite() && min <= max) {
            return wrong(format!(
                "the range must be two finite numbers in ascending order, got [{min:?}, {max:?}]"
            ));
        }
        if !(step > 0.0 && step.is_finite()) {
            return wrong(format!(
                "the step must be positive and finite, got {step:?}"
            ));
        }
        if value.is_nan() {
            return wrong("the value must be a number, got NaN".into());
        }
        Ok(())
    }
    /// Returns the allowed value nearest to `value`.
    pub(crate) fn quantize(&self, value: f64) -> f64 {
        nearest_allowed([self.min, self.max], self.step, value)
    }
}

/// Returns the allowed value of a slider that is nearest to `value`; at a tie, the one that is
/// farther from zero.
///
/// The multiples of the step within the range are allowed, and both ends. Multiples equal Drake's,
/// bit for bit; an end that differs from a multiple only by rounding stays as it is. The page has
/// the same rule (`slider.ts`).
pub(crate) fn nearest_allowed([min, max]: [f64; 2], step: f64, value: f64) -> f64 {
    let value = value.clamp(min, max);
    let slack = |x: f64| ROUNDING + x.abs() * f64::EPSILON;
    let (low, high) = (min / step, max / step);
    // The multiples strictly between the ends, in steps.
    let first = (low + slack(low)).floor() + 1.0;
    let last = (high - slack(high)).ceil() - 1.0;
    let mut best = min;
    let mut offer = |other: f64| {
        let closer = (best - value).abs() - (other - value).abs();
        let is_tie = closer.abs() <= ROUNDING * step;
        if (is_tie && other.abs() > best.abs()) || (!is_tie && closer > 0.0) {
            best = other;
        }
    };
    offer(max);
    // Also false for a step so small that the number of a multiple is infinite.
    if first <= last && (last - first).is_finite() {
        // Both neighbours: the quotient of a tie in decimals, such as 0.15 / 0.1, is rounded.
        let steps = value / step;
        offer(steps.floor().clamp(first, last) * step);
        offer(steps.ceil().clamp(first, last) * step);
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slider(min: f64, max: f64, step: f64) -> Slider {
        Slider {
            value: min,
            min,
            max,
            step,
            decrement_keycode: String::new(),
            increment_keycode: String::new(),
        }
    }

    #[test]
    fn values_snap_to_multiples_of_the_step() {
        // Recorded from Drake: multiples of the step, bit for bit.
        let s = slider(-1.0, 1.0, 0.1);
        assert_eq!(s.quantize(0.33), 0.30000000000000004);
        assert_eq!(s.quantize(0.4), 0.4);
        assert_eq!(slider(0.0, 10.0, 0.5).quantize(3.6), 3.5);
        // Recorded from Drake: steps count from 0, not from the minimum.
        let pi = slider(-std::f64::consts::PI, std::f64::consts::PI, 0.01);
        assert_eq!(
            [0.0, 0.5, -3.126].map(|x| pi.quantize(x)),
            [0.0, 0.5, -3.13]
        );
        let s = slider(0.3, 1.0, 0.25);
        assert_eq!([0.5, 0.45, 0.9].map(|x| s.quantize(x)), [0.5, 0.5, 1.0]);
        // Drake has 0.25 here, which is outside the range.
        assert_eq!(s.quantize(0.35), 0.3);
        // Drake has 0 here: a range shorter than one step.
        assert_eq!(slider(0.0, 1.0, 5.0).quantize(0.2), 0.0);
        assert_eq!(slider(0.0, 1.0, 5.0).quantize(3.0), 1.0);
        assert_eq!(slider(0.0, 1.0, 1e-320).quantize(0.3), 0.0);
        // Ties in decimals, at which Drake takes 0.1 and -0.7.
        assert_eq!(
            [0.15, -0.15, 0.25].map(|x| slider(-1.0, 1.0, 0.1).quantize(x)),
            [0.2, -0.2, 0.30000000000000004]
        );
        assert_eq!(slider(-7.0, 7.0, 0.7).quantize(-1.05), -1.4);
    }
}
