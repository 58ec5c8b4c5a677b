//! Scalars of YAML 1.1 as PyYAML reads them: which plain texts are numbers, and their values.

use crate::expression::{PyError, PyResult, PyValue, parse_float, parse_int};

/// Returns the value of a plain scalar.
pub(super) fn plain(text: &str) -> PyResult {
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => PyValue::None,
        text if is_real(text) => real(text)?,
        text if is_whole(text) => whole(text)?,
        text => truth(text).map_or_else(|| PyValue::str(text), PyValue::Bool),
    })
}

/// Reads a truth value.
pub(super) fn truth(text: &str) -> Option<bool> {
    match text {
        "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Some(true),
        "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => Some(false),
        _ => None,
    }
}

fn without_sign(text: &str) -> &str {
    text.strip_prefix(['-', '+']).unwrap_or(text)
}

/// Returns whether a text is a digit, followed by digits and underscores.
fn is_digits(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit()) && are(text, |b| b.is_ascii_digit())
}

/// Returns whether all bytes of a text are underscores or fulfil a condition.
fn are(text: &str, condition: fn(u8) -> bool) -> bool {
    text.bytes().all(|b| b == b'_' || condition(b))
}

/// Returns whether parts with `:` between them are numbers below 60, except for the first, which
/// is any number.
fn is_base_60(text: &str) -> bool {
    let is_below_60 =
        |part: &str| matches!(part.as_bytes(), [b'0'..=b'9'] | [b'0'..=b'5', b'0'..=b'9']);
    text.split_once(':')
        .is_some_and(|(first, rest)| is_digits(first) && rest.split(':').all(is_below_60))
}

/// Returns whether a plain scalar is a real number: it has a point, and a sign in its exponent.
fn is_real(text: &str) -> bool {
    let unsigned = without_sign(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return true;
    }
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let exponent_is_good = exponent.is_none_or(|exponent| {
        let digits = exponent.strip_prefix(['-', '+']).unwrap_or("");
        !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
    });
    let Some((whole, fraction)) = mantissa.split_once('.') else {
        return false;
    };
    let fraction_is_good = are(fraction, |b| b.is_ascii_digit());
    if whole.is_empty() {
        return text == unsigned && is_digits(fraction) && exponent_is_good;
    }
    if whole.contains(':') {
        is_base_60(whole) && fraction_is_good && exponent.is_none()
    } else {
        is_digits(whole) && fraction_is_good && exponent_is_good
    }
}

/// Returns whether a plain scalar is a whole number.
fn is_whole(text: &str) -> bool {
    let unsigned = without_sign(text);
    if let Some(digits) = unsigned.strip_prefix("0b") {
        return !digits.is_empty() && are(digits, |b| matches!(b, b'0' | b'1'));
    }
    if let Some(digits) = unsigned.strip_prefix("0x") {
        return !digits.is_empty() && are(digits, |b| b.is_ascii_hexdigit());
    }
    match unsigned.strip_prefix('0') {
        Some(digits) => are(digits, |b| matches!(b, b'0'..=b'7')),
        None => is_digits(unsigned) || is_base_60(unsigned),
    }
}

/// Reads a whole number.
pub(super) fn whole(text: &str) -> PyResult {
    let digits = text.replace('_', "");
    let unsigned = without_sign(&digits);
    let bad = || PyError::new(format!("a whole number must be here, got '{text}'"));
    let too_big = || {
        PyError::limit(format!(
            "a whole number must have at most 127 bits, got '{text}'"
        ))
    };
    let (radix, rest) = match unsigned.as_bytes() {
        [b'0', b'b', ..] => (2, &unsigned[2..]),
        [b'0', b'x', ..] => (16, &unsigned[2..]),
        [b'0', _, ..] => (8, unsigned),
        _ => (10, unsigned),
    };
    let mut size = 0_i128;
    if radix == 10 && rest.contains(':') {
        for part in rest.split(':') {
            let part = parse_int(part).ok_or_else(bad)??;
            let shifted = size.checked_mul(60).and_then(|s| s.checked_add(part));
            size = shifted.ok_or_else(too_big)?;
        }
    } else {
        if rest.is_empty() || !rest.chars().all(|c| c.is_digit(radix)) {
            return Err(bad());
        }
        size = i128::from_str_radix(rest, radix).map_err(|_| too_big())?;
    }
    let value = if digits.starts_with('-') {
        size.checked_neg()
    } else {
        Some(size)
    };
    value.map(PyValue::Int).ok_or_else(too_big)
}

/// Reads a real number.
pub(super) fn real(text: &str) -> PyResult {
    let digits = text.replace('_', "").to_lowercase();
    let unsigned = without_sign(&digits);
    let bad = || PyError::new(format!("a number must be here, got '{text}'"));
    let size = match unsigned {
        ".inf" => f64::INFINITY,
        ".nan" => f64::NAN,
        digits if digits.contains(':') => {
            let (mut total, mut unit) = (0.0, 1.0);
            for part in digits.rsplit(':') {
                total += parse_float(part).ok_or_else(bad)? * unit;
                unit *= 60.0;
            }
            total
        }
        digits => parse_float(digits).ok_or_else(bad)?,
    };
    let is_negative = digits.starts_with('-') && !size.is_nan();
    Ok(PyValue::Float(if is_negative { -size } else { size }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expression::text_of;

    #[track_caller]
    fn reads(cases: &[(&str, &str, &str)]) {
        for (text, kind, value) in cases {
            let read = plain(text).unwrap();
            assert_eq!(
                (read.type_name(), text_of(&read).as_deref()),
                (*kind, Ok(*value)),
                "{text}"
            );
        }
    }

    #[test]
    fn numbers_are_those_of_pyyaml() {
        reads(&[
            ("12", "int", "12"),
            ("-1_000", "int", "-1000"),
            ("017", "int", "15"),
            ("0", "int", "0"),
            ("0_", "int", "0"),
            ("-0x1F", "int", "-31"),
            ("0b1_01", "int", "5"),
            ("1:30", "int", "90"),
            ("-1:30:0", "int", "-5400"),
            ("1.5", "float", "1.5"),
            ("1.", "float", "1.0"),
            (".5", "float", "0.5"),
            ("-1_0.5e+1", "float", "-105.0"),
            ("01:30.5", "float", "90.5"),
            ("-.inf", "float", "-inf"),
            (".NaN", "float", "nan"),
            ("on", "bool", "True"),
            ("~", "NoneType", "None"),
        ]);
    }

    #[test]
    fn other_texts_are_no_numbers() {
        for text in [
            "00:11:22",
            "10:99:30",
            "01:30",
            "-.5",
            "+.5",
            "1:nan",
            "0x-5",
            "1:-5",
            "1e5",
            "1.e5",
            "1:60",
            "08",
            "0x",
            "1-2",
            "-",
            "+",
            ".",
            "._5",
            "_1",
            "-.nan",
            "oN",
            "1:30.5e+1",
            "0b2",
            "1::2",
            ":",
            "1:",
            "2001-01-01",
            "nan",
            "inf",
            "--1",
        ] {
            reads(&[(text, "str", text)]);
        }
    }

    #[test]
    fn numbers_of_more_than_127_bits_are_errors() {
        let big = [
            "0x".to_string() + &"f".repeat(40),
            "9".repeat(50),
            format!("1{}", ":59".repeat(40)),
        ];
        for text in big {
            assert!(
                plain(&text)
                    .unwrap_err()
                    .message
                    .contains("at most 127 bits"),
                "{text}"
            );
        }
        assert!(plain("0x_").is_err());
    }
}
