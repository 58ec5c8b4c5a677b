//! Timestamps: times in whole microseconds or milliseconds, as messages and file names hold them.

use crate::{Error, Result};

/// Rounds a time (s) to the nearest microsecond.
///
/// All timestamps that tarragon writes are rounded, so that the ones of a step agree. Drake cuts
/// most of its own: at 2.05 s it writes 2 049 999 us, because 2.05 times 1e6 is slightly less in
/// floating point. Times beyond the range of an `i64` (292 000 years) become its ends.
///
/// ```
/// use tarragon_framework::to_microseconds;
/// assert_eq!(to_microseconds(2.05)?, 2_050_000);
/// assert_eq!(to_microseconds(-1e300)?, i64::MIN);
/// assert!(to_microseconds(f64::NAN).is_err());
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
///
/// # Errors
/// Returns an error if the time is NaN.
pub fn to_microseconds(time: f64) -> Result<i64> {
    to_units(time, 1e6)
}

/// Rounds a time (s) to the nearest millisecond, by the rules of [`to_microseconds`].
///
/// # Errors
/// Returns an error if the time is NaN.
pub fn to_milliseconds(time: f64) -> Result<i64> {
    to_units(time, 1e3)
}

fn to_units(time: f64, units_per_second: f64) -> Result<i64> {
    if time.is_nan() {
        return Err(Error::invalid(
            "timestamp: the time must be a number of seconds, got NaN; set the time of the context or of \
             the call",
        ));
    }
    // The conversion saturates.
    Ok((time * units_per_second).round() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rounded_to_the_nearest_unit() {
        for k in -100_000..100_000_i64 {
            let time = k as f64 * 0.01;
            assert_eq!(to_microseconds(time).unwrap(), 10_000 * k);
            assert_eq!(to_milliseconds(time).unwrap(), 10 * k);
        }
        for (time, micros, millis) in [
            (1.2345678, 1_234_568, 1235),
            (-2.7e-6, -3, 0),
            (0.0, 0, 0),
            (-0.0, 0, 0),
            (5e-324, 0, 0),
            (1.79e9 + 0.25, 1_790_000_000_250_000, 1_790_000_000_250),
            (f64::MAX, i64::MAX, i64::MAX),
            (f64::INFINITY, i64::MAX, i64::MAX),
            (f64::NEG_INFINITY, i64::MIN, i64::MIN),
            (1e13, i64::MAX, 10_000_000_000_000_000),
        ] {
            let found = (to_microseconds(time), to_milliseconds(time));
            assert_eq!((found.0.unwrap(), found.1.unwrap()), (micros, millis));
        }
        let error = to_milliseconds(f64::NAN).unwrap_err().to_string();
        assert!(
            error.contains("must be a number of seconds, got NaN"),
            "{error}"
        );
    }
}
