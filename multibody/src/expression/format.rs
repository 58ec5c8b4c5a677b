//! Formatting of values: format specifications, `%` and `str.format`.

use super::conversions::int;
use super::text::{MAX_TEXT, check_length, float, literal, text_of};
use super::value::{Budget, PyError, PyResult, PyValue};

/// Maximum number of digits after the point; the digits of every number end before it.
const MAX_PRECISION: usize = 1100;

/// A format specification: `[[fill]align][sign][#][0][width][,][.precision][type]`.
struct Specification {
    fill: char,
    align: Option<char>,
    sign: char,
    alternate: bool,
    width: usize,
    grouping: Option<char>,
    precision: Option<usize>,
    kind: Option<char>,
}

impl Specification {
    fn parse(text: &str) -> PyResult<Self> {
        let chars: Vec<char> = text.chars().collect();
        let mut at = 0;
        let is_align = |c: Option<&char>| c.is_some_and(|c| matches!(c, '<' | '>' | '^' | '='));
        let mut spec = Self {
            fill: ' ',
            align: None,
            sign: '-',
            alternate: false,
            width: 0,
            grouping: None,
            precision: None,
            kind: None,
        };
        if is_align(chars.get(1)) {
            (spec.fill, spec.align, at) = (chars[0], Some(chars[1]), 2);
        } else if is_align(chars.first()) {
            (spec.align, at) = (Some(chars[0]), 1);
        }
        if let Some(sign @ ('+' | '-' | ' ')) = chars.get(at) {
            spec.sign = *sign;
            at += 1;
        }
        if chars.get(at) == Some(&'#') {
            spec.alternate = true;
            at += 1;
        }
        if chars.get(at) == Some(&'0') {
            if spec.align.is_none() {
                (spec.fill, spec.align) = ('0', Some('='));
            }
            at += 1;
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
        match chars.len() <= at + 1 {
            true => Ok(spec),
            false => Err(bad(text)),
        }
    }

    /// Pads a number that has a sign, or a text.
    fn pad(&self, negative: bool, digits: &str, numeric: bool) -> PyResult<String> {
        let sign = match (numeric, negative, self.sign) {
            (false, ..) => "",
            (_, true, _) => "-",
            (_, false, '+') => "+",
            (_, false, ' ') => " ",
            _ => "",
        };
        let length = sign.len() + digits.chars().count();
        let missing = self.width.saturating_sub(length);
        check_length(missing * self.fill.len_utf8() + digits.len())?;
        let fill = |count: usize| self.fill.to_string().repeat(count);
        let default = if numeric { '>' } else { '<' };
        Ok(match self.align.unwrap_or(default) {
            '<' => format!("{sign}{digits}{}", fill(missing)),
            '^' => {
                let left = missing / 2;
                format!("{}{sign}{digits}{}", fill(left), fill(missing - left))
            }
            '=' => format!("{sign}{}{digits}", fill(missing)),
            _ => format!("{}{sign}{digits}", fill(missing)),
        })
    }

    fn grouped(&self, digits: String) -> String {
        let Some(separator) = self.grouping else {
            return digits;
        };
        let end = digits.find(['.', 'e']).unwrap_or(digits.len());
        let (whole, rest) = digits.split_at(end);
        let mut text = String::new();
        for (i, c) in whole.chars().enumerate() {
            if i > 0 && (whole.len() - i).is_multiple_of(3) {
                text.push(separator);
            }
            text.push(c);
        }
        text + rest
    }
}

fn bad(spec: &str) -> PyError {
    PyError::new(format!("the format '{spec}' is none of Python's"))
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
    let spec = Specification::parse(text)?;
    match value {
        PyValue::Str(string) if matches!(spec.kind, None | Some('s')) => {
            let shown: String = match spec.precision {
                Some(n) => string.chars().take(n).collect(),
                None => string.to_string(),
            };
            spec.pad(false, &shown, false)
        }
        PyValue::Float(x) => float_as(*x, &spec, text),
        PyValue::Bool(_) | PyValue::Int(_) => match spec.kind {
            Some('e' | 'E' | 'f' | 'F' | 'g' | 'G' | '%') => {
                float_as(value.as_float().unwrap_or(0.0), &spec, text)
            }
            _ => whole(value.as_int().unwrap_or(0), &spec, text),
        },
        _ => Err(PyError::new(format!(
            "a {} must be formatted without '{text}'",
            value.type_name()
        ))),
    }
}

fn whole(i: i128, spec: &Specification, text: &str) -> PyResult<String> {
    if spec.precision.is_some() {
        let message = format!("the format of a whole number must have no precision, got '{text}'");
        return Err(PyError::new(message));
    }
    let size = i.unsigned_abs();
    let (prefix, digits) = match spec.kind {
        None | Some('d' | 'n') => ("", size.to_string()),
        Some('x') => ("0x", format!("{size:x}")),
        Some('X') => ("0X", format!("{size:X}")),
        Some('o') => ("0o", format!("{size:o}")),
        Some('b') => ("0b", format!("{size:b}")),
        Some('c') => {
            let c = u32::try_from(i)
                .ok()
                .and_then(char::from_u32)
                .ok_or_else(|| bad(text))?;
            return spec.pad(false, &c.to_string(), false);
        }
        _ => return Err(bad(text)),
    };
    let prefix = if spec.alternate { prefix } else { "" };
    spec.pad(i < 0, &(prefix.to_string() + &spec.grouped(digits)), true)
}

fn float_as(x: f64, spec: &Specification, text: &str) -> PyResult<String> {
    let size = x.abs();
    let precision = spec.precision.unwrap_or(6);
    if precision > MAX_PRECISION {
        return Err(PyError::limit(format!(
            "the precision of a number must be at most {MAX_PRECISION}, got {precision}"
        )));
    }
    let digits = match spec.kind {
        _ if !x.is_finite() => float(size),
        Some('f' | 'F') => format!("{size:.precision$}"),
        Some('%') => format!("{:.precision$}%", size * 100.0),
        Some('e' | 'E') => scientific(size, precision),
        Some('g' | 'G' | 'n') => general(size, precision, spec.alternate),
        None => match spec.precision {
            Some(precision) => {
                let digits = general(size, precision, false);
                let plain = !digits.contains(['.', 'e']);
                if plain { digits + ".0" } else { digits }
            }
            None => float(size),
        },
        _ => return Err(bad(text)),
    };
    let digits = match spec.kind {
        Some('E' | 'G' | 'F') => digits.to_uppercase(),
        _ => digits,
    };
    spec.pad(
        x.is_sign_negative() && !x.is_nan(),
        &spec.grouped(digits),
        true,
    )
}

fn scientific(x: f64, precision: usize) -> String {
    let text = format!("{x:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

/// Format `g`: significant digits, without zeros at the end.
fn general(x: f64, precision: usize, keep_zeros: bool) -> String {
    let precision = precision.max(1);
    let text = format!("{x:.*e}", precision - 1);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i64 = exponent.parse().unwrap_or(0);
    let strip = |digits: String| match digits.contains('.') && !keep_zeros {
        true => digits
            .trim_end_matches('0')
            .trim_end_matches('.')
            .to_string(),
        false => digits,
    };
    if exponent < -4 || exponent >= precision as i64 {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", strip(mantissa.into()), exponent.abs());
    }
    let decimals = (precision as i64 - 1 - exponent).max(0) as usize;
    strip(format!("{x:.decimals$}"))
}

/// Formats a text with `%`.
pub(super) fn percent(template: &str, value: &PyValue, host: &mut dyn Budget) -> PyResult<String> {
    let values: Vec<PyValue> = match value {
        PyValue::Tuple(items) => items.to_vec(),
        other => vec![other.clone()],
    };
    let mut next = 0;
    let mut text = String::new();
    let mut chars = template.chars().peekable();
    while let Some(c) = chars.next() {
        check_length(text.len())?;
        if c != '%' {
            text.push(c);
            continue;
        }
        let mut key = None;
        if chars.peek() == Some(&'(') {
            chars.next();
            key = Some(chars.by_ref().take_while(|c| *c != ')').collect::<String>());
        }
        let (mut spec, mut minus) = (String::new(), false);
        while let Some(flag) = chars.peek().copied().filter(|c| "-+ #0".contains(*c)) {
            match flag {
                '-' => minus = true,
                flag => spec.push(flag),
            }
            chars.next();
        }
        while let Some(c) = chars
            .peek()
            .copied()
            .filter(|c| c.is_ascii_digit() || *c == '.')
        {
            spec.push(c);
            chars.next();
        }
        let kind = chars
            .next()
            .ok_or_else(|| PyError::new("'%' must be followed by a format"))?;
        if kind == '%' {
            text.push('%');
            continue;
        }
        let value = match (&key, value) {
            (Some(key), PyValue::Dict(dict)) => {
                let key_of_entry = PyValue::str(key).key(host)?;
                let found = dict.entries.borrow().get(&key_of_entry).cloned();
                found.ok_or_else(|| PyError::new(format!("'%({key})' has no value")))?
            }
            _ => {
                next += 1;
                let found = values.get(next - 1).cloned();
                found.ok_or_else(|| PyError::new("'%' must have a value for each format"))?
            }
        };
        let align = if minus { "<" } else { "" };
        let spec = spec
            .replace("#0", "#")
            .replace(' ', if minus { "" } else { " " });
        text += &one_percent(kind, &value, align, &spec)?;
    }
    match next == values.len() || matches!(value, PyValue::Dict(_) | PyValue::List(_)) {
        true => Ok(text),
        false => Err(PyError::new("'%' must have a format for each value")),
    }
}

fn one_percent(kind: char, value: &PyValue, align: &str, spec: &str) -> PyResult<String> {
    let right = if align.is_empty() { ">" } else { align };
    match kind {
        's' => formatted(&PyValue::str(text_of(value)?), &format!("{right}{spec}s")),
        'r' => formatted(&PyValue::str(literal(value)?), &format!("{right}{spec}s")),
        'd' | 'i' | 'u' => {
            let whole = match value {
                PyValue::Float(_) => int(value, None)?,
                other => PyValue::Int(other.index("a value for '%d'")?),
            };
            formatted(&whole, &format!("{align}{spec}d"))
        }
        'e' | 'E' | 'f' | 'F' | 'g' | 'G' => {
            let x = value
                .as_float()
                .ok_or_else(|| PyError::new(format!("a value for '%{kind}' must be a number")))?;
            formatted(&PyValue::Float(x), &format!("{align}{spec}{kind}"))
        }
        'x' | 'X' | 'o' => formatted(value, &format!("{align}{spec}{kind}")),
        other => Err(PyError::new(format!(
            "the format '%{other}' is unsupported"
        ))),
    }
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
