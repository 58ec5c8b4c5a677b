//! Formatting of values: format specifications and templates of `str.format`.

use super::text::{MAX_TEXT, check_length, exponent_text, float, text_of};
use super::value::{PyError, PyResult, PyValue};

/// Maximum number of digits after the point; the digits of every number end before it.
const MAX_PRECISION: usize = 1100;

/// A format specification: `[[fill]align][sign][#][0][width][,][.precision][type]`.
struct Specification {
    fill: char,
    align: Option<char>,
    sign: Option<char>,
    alternate: bool,
    width: usize,
    grouping: Option<char>,
    precision: Option<usize>,
    kind: Option<char>,
}

impl Specification {
    fn parse(text: &str, is_number: bool) -> PyResult<Self> {
        let chars: Vec<char> = text.chars().collect();
        let mut at = 0;
        let is_align = |c: Option<&char>| c.is_some_and(|c| matches!(c, '<' | '>' | '^' | '='));
        let mut spec = Self {
            fill: ' ',
            align: None,
            sign: None,
            alternate: false,
            width: 0,
            grouping: None,
            precision: None,
            kind: None,
        };
        let has_fill = is_align(chars.get(1));
        if has_fill {
            (spec.fill, spec.align, at) = (chars[0], Some(chars[1]), 2);
        } else if is_align(chars.first()) {
            (spec.align, at) = (Some(chars[0]), 1);
        }
        if let Some(sign @ ('+' | '-' | ' ')) = chars.get(at) {
            spec.sign = Some(*sign);
            at += 1;
        }
        if chars.get(at) == Some(&'#') {
            spec.alternate = true;
            at += 1;
        }
        if chars.get(at) == Some(&'0') {
            if !has_fill {
                spec.fill = '0';
                // Numbers are filled behind their sign, texts at their end.
                spec.align = spec.align.or(is_number.then_some('='));
            }
            at += usize::from(!has_fill);
        }
        spec.width = number(&chars, &mut at)?.unwrap_or(0);
        if let Some(separator @ (',' | '_')) = chars.get(at) {
            spec.grouping = Some(*separator);
            at += 1;
        }
        if chars.get(at) == Some(&'.') {
            at += 1;
            let precision = number(&chars, &mut at)?;
            spec.precision = Some(precision.ok_or_else(|| bad(text))?);
        }
        spec.kind = chars.get(at).copied();
        if chars.len() <= at + 1 {
            Ok(spec)
        } else {
            Err(bad(text))
        }
    }

    /// Pads a text.
    fn pad(&self, text: &str) -> PyResult<String> {
        if self.align == Some('=')
            || self.sign.is_some()
            || self.alternate
            || self.grouping.is_some()
        {
            let message = "the format of a text must have no sign, '#', ',', '_' or '='";
            return Err(PyError::new(message));
        }
        self.fill_around("", text, '<')
    }

    /// Groups and pads a number: its digits, which may go on behind the whole part.
    fn pad_number(&self, negative: bool, prefix: &str, digits: &str) -> PyResult<String> {
        let sign = match (negative, self.sign) {
            (true, _) => "-",
            (false, Some('+')) => "+",
            (false, Some(' ')) => " ",
            _ => "",
        };
        let sign = format!("{sign}{prefix}");
        let Some(separator) = self.grouping else {
            return self.fill_around(&sign, digits, '>');
        };
        let size = match self.kind {
            Some('b' | 'o' | 'x' | 'X') => 4,
            _ => 3,
        };
        let is_digit = |c: char| c.is_ascii_digit() || (size == 4 && c.is_ascii_hexdigit());
        let end = digits.find(|c| !is_digit(c)).unwrap_or(digits.len());
        let (whole, rest) = digits.split_at(end);
        // Zeros that fill the width are grouped too, but not those of infinity and NaN.
        let least = match (self.fill, self.align) {
            ('0', Some('=')) if !whole.is_empty() => {
                self.width.saturating_sub(sign.len() + rest.len())
            }
            _ => 0,
        };
        self.fill_around(&sign, &(grouped(whole, separator, size, least) + rest), '>')
    }

    fn fill_around(&self, sign: &str, text: &str, default: char) -> PyResult<String> {
        let length = sign.len() + text.chars().count();
        let missing = self.width.saturating_sub(length);
        check_length(missing * self.fill.len_utf8() + text.len())?;
        let fill = |count: usize| self.fill.to_string().repeat(count);
        Ok(match self.align.unwrap_or(default) {
            '<' => format!("{sign}{text}{}", fill(missing)),
            '^' => {
                let left = missing / 2;
                format!("{}{sign}{text}{}", fill(left), fill(missing - left))
            }
            '=' => format!("{sign}{}{text}", fill(missing)),
            _ => format!("{}{sign}{text}", fill(missing)),
        })
    }
}

/// Puts a separator between groups of digits, with zeros in front up to a length at least.
fn grouped(digits: &str, separator: char, size: usize, least: usize) -> String {
    let mut backwards = String::new();
    let mut digits = digits.chars().rev();
    let mut count = 0;
    loop {
        let digit = match digits.next() {
            Some(digit) => digit,
            None if backwards.len() < least => '0',
            None => return backwards.chars().rev().collect(),
        };
        if count > 0 && count % size == 0 {
            backwards.push(separator);
        }
        backwards.push(digit);
        count += 1;
    }
}

fn bad(spec: &str) -> PyError {
    PyError::new(format!("invalid format specification '{spec}'"))
}

fn number(chars: &[char], at: &mut usize) -> PyResult<Option<usize>> {
    let start = *at;
    while chars.get(*at).is_some_and(char::is_ascii_digit) {
        *at += 1;
    }
    let digits: String = chars[start..*at].iter().collect();
    if digits.is_empty() {
        return Ok(None);
    }
    match digits.parse() {
        Ok(n) if n <= MAX_TEXT => Ok(Some(n)),
        _ => Err(PyError::limit(format!(
            "a width must be at most {MAX_TEXT}, got {digits}"
        ))),
    }
}

/// Formats a value as Python's `format`.
pub(super) fn formatted(value: &PyValue, text: &str) -> PyResult<String> {
    if text.is_empty() {
        return text_of(value);
    }
    let spec = Specification::parse(text, !matches!(value, PyValue::Str(_)))?;
    match value {
        PyValue::Str(string) if matches!(spec.kind, None | Some('s')) => {
            let shown: String = match spec.precision {
                Some(n) => string.chars().take(n).collect(),
                None => string.to_string(),
            };
            spec.pad(&shown)
        }
        PyValue::Float(x) => float_as(*x, &spec, text),
        PyValue::Bool(_) | PyValue::Int(_) => match spec.kind {
            Some('e' | 'E' | 'f' | 'F' | 'g' | 'G' | '%') => {
                float_as(value.as_float().unwrap_or(0.0), &spec, text)
            }
            _ => whole(value.as_int().unwrap_or(0), &spec, text),
        },
        _ => Err(PyError::new(format!(
            "{} must be formatted without '{text}'",
            value.a_type()
        ))),
    }
}

fn whole(i: i128, spec: &Specification, text: &str) -> PyResult<String> {
    if spec.precision.is_some() {
        let message = format!("the format of a whole number must have no precision, got '{text}'");
        return Err(PyError::new(message));
    }
    let size = i.unsigned_abs();
    let has_groups = spec.grouping.is_some();
    let (prefix, digits) = match spec.kind {
        None | Some('d' | 'n') => ("", size.to_string()),
        Some('x') => ("0x", format!("{size:x}")),
        Some('X') => ("0X", format!("{size:X}")),
        Some('o') => ("0o", format!("{size:o}")),
        Some('b') => ("0b", format!("{size:b}")),
        Some('c') if spec.sign.is_none() && !spec.alternate && !has_groups => {
            let c = u32::try_from(i)
                .ok()
                .and_then(char::from_u32)
                .ok_or_else(|| bad(text))?;
            return spec.fill_around("", &c.to_string(), '<');
        }
        _ => return Err(bad(text)),
    };
    if spec.grouping == Some(',') && !prefix.is_empty() || spec.kind == Some('n') && has_groups {
        return Err(bad(text));
    }
    let prefix = if spec.alternate { prefix } else { "" };
    spec.pad_number(i < 0, prefix, &digits)
}

fn float_as(x: f64, spec: &Specification, text: &str) -> PyResult<String> {
    let size = x.abs();
    let precision = spec.precision.unwrap_or(6);
    check_precision(precision)?;
    let digits = match (spec.kind, spec.precision) {
        (Some('n'), _) if spec.grouping.is_some() => return Err(bad(text)),
        (Some('n'), _) => real_digits(size, 'g', precision, spec.alternate),
        (Some('%'), _) => real_digits(size * 100.0, 'f', precision, spec.alternate) + "%",
        (Some(kind @ ('e' | 'E' | 'f' | 'F' | 'g' | 'G')), _) => {
            real_digits(size, kind, precision, spec.alternate)
        }
        (None, Some(precision)) if size.is_finite() => {
            // A point is always there, for which the exponent starts earlier.
            let digits = general(size, precision, spec.alternate, 1);
            if digits.contains(['.', 'e']) {
                digits
            } else {
                digits + ".0"
            }
        }
        (None, _) => float(size),
        _ => return Err(bad(text)),
    };
    spec.pad_number(x.is_sign_negative() && !x.is_nan(), "", &digits)
}

/// Checks a number of digits.
pub(super) fn check_precision(precision: usize) -> PyResult<()> {
    if precision <= MAX_PRECISION {
        Ok(())
    } else {
        Err(PyError::limit(format!(
            "the precision of a number must be at most {MAX_PRECISION}, got {precision}"
        )))
    }
}

/// Digits of a number that is not negative in the format `e`, `f` or `g`, or their upper case.
pub(super) fn real_digits(x: f64, kind: char, precision: usize, alternate: bool) -> String {
    let digits = match kind.to_ascii_lowercase() {
        _ if !x.is_finite() => float(x),
        'f' => pointed(format!("{x:.precision$}"), alternate),
        'e' => {
            let (mantissa, exponent) = split_exponent(x, precision);
            pointed(mantissa, alternate) + &exponent_text(exponent)
        }
        _ => general(x, precision, alternate, 0),
    };
    if kind.is_ascii_uppercase() {
        digits.to_uppercase()
    } else {
        digits
    }
}

/// Adds a point if the alternate form asks for it.
fn pointed(digits: String, alternate: bool) -> String {
    if alternate && !digits.contains('.') {
        digits + "."
    } else {
        digits
    }
}

/// Splits a number with digits after the point into its mantissa and its exponent.
fn split_exponent(x: f64, precision: usize) -> (String, i32) {
    let text = format!("{x:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (mantissa.into(), exponent.parse().unwrap_or(0))
}

/// Format `g`: significant digits, without zeros at the end unless it is the alternate form.
/// Numbers with as many digits before the point as the precision less `reserved` have an exponent.
fn general(x: f64, precision: usize, alternate: bool, reserved: i32) -> String {
    let precision = precision.max(1);
    let (mantissa, exponent) = split_exponent(x, precision - 1);
    let strip = |digits: String| {
        if digits.contains('.') && !alternate {
            digits
                .trim_end_matches('0')
                .trim_end_matches('.')
                .to_string()
        } else {
            pointed(digits, alternate)
        }
    };
    let most = precision as i32 - reserved;
    if exponent < -4 || exponent >= most {
        return strip(mantissa) + &exponent_text(exponent);
    }
    let decimals = (precision as i32 - 1 - exponent).max(0) as usize;
    strip(format!("{x:.decimals$}"))
}

/// A part of a template: a text, or a field with its conversion and specification.
pub(super) enum TemplatePart {
    Text(String),
    Field {
        name: String,
        conversion: Option<char>,
        specification: String,
    },
}

/// Splits a template of `str.format`.
pub(super) fn template(text: &str) -> PyResult<Vec<TemplatePart>> {
    let mut parts = vec![];
    let mut plain = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if matches!(c, '{' | '}') && chars.peek() == Some(&c) {
            chars.next();
            plain.push(c);
        } else if c == '{' {
            parts.push(TemplatePart::Text(std::mem::take(&mut plain)));
            let mut field = String::new();
            let mut closed = false;
            for c in chars.by_ref() {
                match c {
                    '{' => {
                        let message = "fields within the format of a field are unsupported";
                        return Err(PyError::new(message));
                    }
                    '}' => {
                        closed = true;
                        break;
                    }
                    c => field.push(c),
                }
            }
            if !closed {
                return Err(PyError::new("'{' must have its '}' in a template"));
            }
            let (head, specification) = field.split_once(':').unwrap_or((&field, ""));
            let (name, conversion) = head.split_once('!').unwrap_or((head, ""));
            parts.push(TemplatePart::Field {
                name: name.into(),
                conversion: conversion.chars().next(),
                specification: specification.into(),
            });
        } else if c == '}' {
            return Err(PyError::new("'}' must have its '{' in a template"));
        } else {
            plain.push(c);
        }
    }
    parts.push(TemplatePart::Text(plain));
    Ok(parts)
}
