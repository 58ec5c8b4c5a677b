//! Arithmetic with exact whole numbers and rounded real ones.

use super::text::float;
use super::value::{PyError, PyResult, PyValue};
use std::cmp::Ordering;

pub(super) fn overflow() -> PyError {
    PyError::limit("a whole number must have at most 127 bits")
}

/// Divides whole numbers and rounds once, as Python does. The divisor must not be zero.
pub(super) fn quotient(dividend: i128, divisor: i128) -> f64 {
    // The loop ends when the quotient has more bits than a number, or is exact.
    const ENOUGH: u128 = 1 << 55;
    let (whole, by) = (dividend.unsigned_abs(), divisor.unsigned_abs());
    let (mut quotient, mut rest, mut exponent) = (whole / by, whole % by, 0);
    while quotient < ENOUGH && rest != 0 {
        rest *= 2;
        quotient = 2 * quotient + u128::from(rest >= by);
        rest %= by;
        exponent -= 1;
    }
    // The last bit stands for all that follow, which only matters for the direction of rounding.
    let rounded = (quotient | u128::from(rest != 0)) as f64;
    let size = libm::ldexp(rounded, exponent);
    if (dividend < 0) == (divisor < 0) {
        size
    } else {
        -size
    }
}

/// Compares numbers exactly; `None` if one of the values is no number. NaN has no order.
pub(super) fn number_order(a: &PyValue, b: &PyValue) -> Option<Option<Ordering>> {
    match (a.as_int(), b.as_int()) {
        (Some(i), Some(j)) => Some(Some(i.cmp(&j))),
        (Some(i), None) => b.as_float().map(|y| whole_order(i, y)),
        (None, Some(j)) => {
            let order = a.as_float().map(|x| whole_order(j, x));
            order.map(|order| order.map(Ordering::reverse))
        }
        (None, None) => Some(a.as_float()?.partial_cmp(&b.as_float()?)),
    }
}

fn whole_order(i: i128, x: f64) -> Option<Ordering> {
    let fraction = 0.0.partial_cmp(&x.fract());
    match whole_part(x) {
        Some(whole) => Some(i.cmp(&whole).then(fraction?)),
        None => 0.0.partial_cmp(&x),
    }
}

/// Whole part of a number; `None` if it has more than 127 bits, or is none.
fn whole_part(x: f64) -> Option<i128> {
    let bound = libm::ldexp(1.0, 127);
    (-bound..bound).contains(&x).then_some(x as i128)
}

/// Converts a number without a fraction to a whole one.
pub(super) fn to_whole(function: &str, x: f64) -> PyResult {
    match whole_part(x) {
        Some(whole) => Ok(PyValue::Int(whole)),
        None if x.is_finite() => Err(overflow()),
        None => Err(PyError::new(format!(
            "{function}() must have a finite number, got {}",
            float(x)
        ))),
    }
}

/// Rounds to digits after the point, of which there may be a negative number. In the middle, it
/// rounds to an even digit.
pub(super) fn rounded(x: f64, digits: i128) -> PyResult<f64> {
    /// Number of digits that all numbers have at most from 1 on.
    const ALL: usize = 800;
    if !x.is_finite() || digits > 330 {
        return Ok(x);
    }
    // The text of a number is exact.
    let read = |text: String| text.parse().unwrap_or(x);
    let value: f64 = if digits >= 0 {
        read(format!("{x:.*}", digits as usize))
    } else {
        let exact = format!("{x:.ALL$e}");
        let (mantissa, exponent) = exact.split_once('e').unwrap_or((&exact, "0"));
        let exponent: i128 = exponent.parse().unwrap_or(0);
        match digits.saturating_add(exponent) {
            kept @ 0.. => read(format!("{x:.*e}", kept as usize)),
            // The first digit is the one behind the last that is kept.
            -1 if mantissa.trim_start_matches('-') > &*format!("5.{}", "0".repeat(ALL)) => {
                let sign = if x < 0.0 { "-" } else { "" };
                read(format!("{sign}1e{}", exponent + 1))
            }
            _ => 0.0_f64.copysign(x),
        }
    };
    if value.is_finite() {
        Ok(value)
    } else {
        Err(PyError::new("the rounded number is too large for a number"))
    }
}
