//! Numbers in the text of model files, and the text that follows them.
//!
//! Drake reads URDF, MJCF and the vectors of SDFormat with C++ streams, and the other numbers of
//! SDFormat with `strtod`. Both take a number from the start of the remaining text, whatever
//! follows it. Published files rely on that: `0.5,`, `1u`. A word that is a number as a whole is
//! always accepted here, including infinity and huge numbers.

use smallvec::SmallVec;
use std::fmt::Display;

/// Number of significant hexadecimal digits that are kept in 64 bits; the lowest bit also records
/// whether a later digit is nonzero.
const MAX_HEX_DIGITS: u32 = 15;

/// Numbers found in a text.
#[derive(Debug, Default, PartialEq)]
pub struct ParsedNumbers<'t> {
    text: &'t str,
    /// The numbers, in order.
    pub numbers: SmallVec<[f64; 6]>,
    /// Pieces of the text that are not numbers.
    pub ignored: Vec<&'t str>,
}

impl<'t> ParsedNumbers<'t> {
    /// Extracts up to `limit` numbers as a C++ stream does, one after the other; the rest is
    /// ignored.
    pub fn of_stream(text: &'t str, limit: usize) -> Self {
        let mut reading = Self::start(text);
        let mut rest = reading.text;
        let mut at_word = true;
        while reading.numbers.len() < limit {
            let whole = word(rest).filter(|_| at_word);
            let Some((x, behind)) = whole.or_else(|| extracted(rest)) else {
                break;
            };
            reading.numbers.push(x);
            rest = behind.trim_start();
            at_word = rest.len() < behind.len();
        }
        reading.ignored.extend(Some(rest).filter(|r| !r.is_empty()));
        reading
    }

    /// Parses the number that `strtod` finds at the start; the rest is ignored.
    pub fn of_one(text: &'t str) -> Self {
        let mut reading = Self::start(text);
        let mut rest = reading.text;
        if let Some((x, behind)) = prefix(rest) {
            reading.numbers.push(x);
            rest = behind.trim_start();
        }
        reading.ignored.extend(Some(rest).filter(|r| !r.is_empty()));
        reading
    }

    /// Parses the number that `strtod` finds at the start of each word; the error is the first word
    /// without a number.
    pub fn of_words(text: &'t str) -> Result<Self, &'t str> {
        let mut reading = Self::start(text);
        for word in text.split_whitespace() {
            let (x, rest) = prefix(word).ok_or(word)?;
            reading.numbers.push(x);
            reading.ignored.extend(Some(rest).filter(|r| !r.is_empty()));
        }
        Ok(reading)
    }

    fn start(text: &'t str) -> Self {
        Self {
            text: text.trim(),
            ..Self::default()
        }
    }

    /// Returns the first word that is not a number as a whole, if any.
    pub fn stray(&self) -> Option<&'t str> {
        let mut words = self.text.split_whitespace();
        words.find(|word| word.parse::<f64>().is_err())
    }

    /// Returns a warning about the ignored pieces, or `None` if there are none; `what` names the
    /// text.
    pub fn warning(&self, what: impl Display) -> Option<String> {
        if self.ignored.is_empty() {
            return None;
        }
        let mut pieces: Vec<String> = vec![];
        for piece in &self.ignored {
            let quoted = format!("'{piece}'");
            if !pieces.contains(&quoted) {
                pieces.push(quoted);
            }
        }
        let expected = match self.numbers.len() {
            1 => "a number".into(),
            n => format!("{n} numbers"),
        };
        let is = if pieces.len() == 1 { "is" } else { "are" };
        Some(format!(
            "{what} must be {expected}, got '{}'; {} {is} ignored, as in Drake",
            self.text,
            pieces.join(" and ")
        ))
    }
}

/// Parses N finite numbers with white space between them. `None` for every other text, which may be
/// a mistake or not.
pub fn plain_numbers<const N: usize>(text: &str) -> Option<[f64; N]> {
    let mut words = text.split_ascii_whitespace();
    let mut numbers = [0.0; N];
    for number in &mut numbers {
        let parsed = words.next()?.parse().ok();
        *number = parsed.filter(|x: &f64| x.is_finite())?;
    }
    words.next().is_none().then_some(numbers)
}

/// Parses the word at the start if it is a number; returns it with the remaining text.
fn word(text: &str) -> Option<(f64, &str)> {
    let plain = text.bytes().position(|byte| !byte.is_ascii_graphic());
    let end = match plain.map(|end| text.as_bytes()[end]) {
        None | Some(b' ' | b'\n') => plain,
        Some(_) => text.find(char::is_whitespace),
    };
    let end = end.unwrap_or(text.len());
    let x = text[..end].parse().ok()?;
    Some((x, &text[end..]))
}

/// Extracts a number from the start of a text as a C++ stream does; returns it with the remaining
/// text. A stream consumes every character that may be part of a number, so that `1e` is not a
/// number.
fn extracted(text: &str) -> Option<(f64, &str)> {
    let bytes = text.as_bytes();
    let sign = |at: usize| usize::from(matches!(bytes.get(at), Some(b'+' | b'-')));
    let mut end = sign(0);
    let (mut digits, mut point, mut exponent) = (false, false, false);
    loop {
        match bytes.get(end) {
            Some(b'0'..=b'9') => digits = true,
            Some(b'.') if !point && !exponent => point = true,
            Some(b'e' | b'E') if digits && !exponent => {
                exponent = true;
                end += sign(end + 1);
            }
            _ => break,
        }
        end += 1;
    }
    let x = text[..end].parse().ok()?;
    Some((x, &text[end..]))
}

/// Parses the number that C's `strtod` finds at the start of a text; returns it with the remaining
/// text.
fn prefix(text: &str) -> Option<(f64, &str)> {
    if let Some(found) = word(text) {
        return Some(found);
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let negative = text.starts_with('-');
    let signed = |x: f64| if negative { -x } else { x };
    if let Some((x, rest)) = hexadecimal(unsigned) {
        return Some((signed(x), rest));
    }
    for (name, x) in [
        ("infinity", f64::INFINITY),
        ("inf", f64::INFINITY),
        ("nan", f64::NAN),
    ] {
        let start = unsigned.get(..name.len());
        if start.is_some_and(|s| s.eq_ignore_ascii_case(name)) {
            return Some((signed(x), &unsigned[name.len()..]));
        }
    }
    let digits = |at: usize| {
        let rest = unsigned.as_bytes()[at..].iter();
        at + rest.take_while(|b| b.is_ascii_digit()).count()
    };
    let mut end = digits(0);
    if unsigned[end..].starts_with('.') {
        end = digits(end + 1);
    }
    let exponent = unsigned[end..].strip_prefix(['e', 'E']);
    if let Some(exponent) = exponent {
        let sign = usize::from(exponent.starts_with(['+', '-']));
        let start = end + 1 + sign;
        let behind = digits(start);
        if behind > start {
            end = behind;
        }
    }
    let x = unsigned[..end].parse().ok()?;
    Some((signed(x), &unsigned[end..]))
}

/// Parses an unsigned hexadecimal number such as `0x1.8p3`; returns it with the remaining text.
fn hexadecimal(text: &str) -> Option<(f64, &str)> {
    let body = text
        .strip_prefix("0x")
        .or_else(|| text.strip_prefix("0X"))?;
    let (mut mantissa, mut kept, mut digits, mut scale) = (0_u64, 0, 0, 0_i64);
    let mut point = false;
    let mut end = 0;
    for (at, c) in body.char_indices() {
        match c.to_digit(16) {
            Some(digit) if kept < MAX_HEX_DIGITS => {
                mantissa = mantissa * 16 + u64::from(digit);
                kept += u32::from(mantissa > 0);
                scale -= if point { 4 } else { 0 };
                digits += 1;
            }
            Some(digit) => {
                // For rounding, only whether the digit is zero matters.
                mantissa |= u64::from(digit > 0);
                scale += if point { 0 } else { 4 };
                digits += 1;
            }
            None if c == '.' && !point => point = true,
            None => break,
        }
        end = at + c.len_utf8();
    }
    if digits == 0 {
        return None;
    }
    let exponent = body[end..].strip_prefix(['p', 'P']).and_then(|rest| {
        let unsigned = rest.strip_prefix(['+', '-']).unwrap_or(rest);
        let length = unsigned.bytes().take_while(u8::is_ascii_digit).count();
        let all = rest.len() - unsigned.len() + length;
        // More digits than nine would overflow or underflow anyway.
        let value: i64 = unsigned[..length].get(..length.min(9))?.parse().ok()?;
        let value = if rest.starts_with('-') { -value } else { value };
        Some((value, end + 1 + all))
    });
    if let Some((value, behind)) = exponent {
        scale = scale.saturating_add(value);
        end = behind;
    }
    // Scales in steps whose powers of two are normal numbers.
    let mut x = mantissa as f64;
    let mut left = scale.clamp(-4000, 4000) as i32;
    while left != 0 && x != 0.0 {
        let step = left.clamp(-1000, 1000);
        x *= 2.0_f64.powi(step);
        left -= step;
    }
    Some((x, &body[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_consume_every_character_that_may_be_in_a_number() {
        for (text, x, rest) in [
            ("1", 1.0, ""),
            ("1. 2", 1.0, " 2"),
            ("+.5,", 0.5, ","),
            ("1.2.3", 1.2, ".3"),
            ("1-2", 1.0, "-2"),
            ("1e5.5", 1e5, ".5"),
            ("1e5e", 1e5, "e"),
            ("0x10", 0.0, "x10"),
            ("1e+05x", 1e5, "x"),
            ("-1\u{b5}", -1.0, "\u{b5}"),
            ("1e400", f64::INFINITY, ""),
        ] {
            assert_eq!(extracted(text), Some((x, rest)), "{text}");
        }
        for text in [
            "", "1e", "1e+", "1ex", ".", "-", "+-1", "x", "\u{b5}", "infx",
        ] {
            assert_eq!(extracted(text), None, "{text}");
        }
    }

    #[test]
    fn strtod_takes_the_longest_number() {
        for (text, x, rest) in [
            ("1e", 1.0, "e"),
            ("1e+", 1.0, "e+"),
            ("1.e2,", 100.0, ","),
            (".5x", 0.5, "x"),
            ("-1-2", -1.0, "-2"),
            ("infx", f64::INFINITY, "x"),
            ("-Infinityx", f64::NEG_INFINITY, "x"),
            ("0x", 0.0, "x"),
            ("0xg", 0.0, "xg"),
            ("0x1p", 1.0, "p"),
            ("0x1p-2,", 0.25, ","),
            ("-0x.8", -0.5, ""),
            ("0x1.fffffffffffff8p0", 2.0, ""),
            ("0x10000000000000000000", 2.0_f64.powi(76), ""),
            ("0x1p999999999999", f64::INFINITY, ""),
            ("0x1p-1074", 5e-324, ""),
        ] {
            assert_eq!(prefix(text), Some((x, rest)), "{text}");
        }
        assert!(prefix("nanx").is_some_and(|(x, rest)| x.is_nan() && rest == "x"));
        for text in ["", "e5", ".", "-", ",", "+-1", "\u{221e}", "0_", "i"] {
            assert_eq!(
                prefix(text).map(|(x, _)| x),
                text.starts_with('0').then_some(0.0)
            );
        }
    }

    #[test]
    fn plain_numbers_are_those_of_a_stream() {
        for text in [" 1 -2.5\n3e1 ", "1\t2 3"] {
            let numbers = plain_numbers::<3>(text).unwrap();
            let reading = ParsedNumbers::of_stream(text, usize::MAX);
            assert_eq!(*reading.numbers, numbers, "{text}");
            assert!(reading.ignored.is_empty(), "{text}");
        }
        for other in [
            "", "1 2", "1 2 3 4", "1 2 x", "1 2 nan", "1 2 inf", "1,2,3", "1 2 3,",
        ] {
            assert_eq!(plain_numbers::<3>(other), None, "{other}");
        }
    }

    #[test]
    fn warnings_name_the_ignored_pieces() {
        let reading = ParsedNumbers::of_words("1, 2, 3u").unwrap();
        let warning = reading.warning("<size>").unwrap();
        assert_eq!(
            warning,
            "<size> must be 3 numbers, got '1, 2, 3u'; ',' and 'u' are ignored, as in Drake"
        );
        assert_eq!(ParsedNumbers::of_one(" 1 ").warning("x"), None);
    }
}
