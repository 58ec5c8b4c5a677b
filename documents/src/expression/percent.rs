//! Formatting with the operator `%`.

use super::conversions::int;
use super::format::{check_precision, real_digits};
use super::text::{MAX_TEXT, check_length, literal, text_of};
use super::value::{Budget, PyError, PyResult, PyValue};
use std::iter::Peekable;
use std::str::Chars;

/// A format: `%[(key)][flags][width][.precision]kind`.
struct PercentFormat {
    left: bool,
    sign: &'static str,
    alternate: bool,
    zeros: bool,
    width: usize,
    precision: Option<usize>,
    kind: char,
}

/// Formats a text with `%`.
pub(super) fn percent(template: &str, value: &PyValue, host: &mut dyn Budget) -> PyResult<String> {
    let values = match value {
        PyValue::Tuple(items) => items,
        other => std::slice::from_ref(other),
    };
    let mut values = values.iter();
    let mut text = String::new();
    let mut chars = template.chars().peekable();
    while let Some(c) = chars.next() {
        check_length(text.len())?;
        if c != '%' {
            text.push(c);
            continue;
        }
        let key = key(&mut chars)?;
        let format = PercentFormat::parse(&mut chars)?;
        if format.kind == '%' {
            text.push('%');
            continue;
        }
        let entry;
        let found = match (&key, value) {
            (Some(key), PyValue::Dict(dict)) => {
                let place = PyValue::str(key).key(host)?;
                entry = dict.entries.borrow().get(&place).cloned();
                let found = entry.as_ref();
                found.ok_or_else(|| PyError::new(format!("'%({key})' has no value")))?
            }
            (Some(key), other) => {
                let found = other.a_type();
                let message = format!("'%({key})' must have a dict, got {found}");
                return Err(PyError::new(message));
            }
            (None, _) => {
                let found = values.next();
                found.ok_or_else(|| PyError::new("'%' must have a value for each format"))?
            }
        };
        let formatted = format.apply(found, host)?;
        host.spend(1 + formatted.len() / 16)?;
        text += &formatted;
    }
    // Python lets whatever has members by key or index be without a format.
    let may_remain = matches!(
        value,
        PyValue::Dict(_) | PyValue::List(_) | PyValue::Range(_)
    );
    if values.len() == 0 || may_remain {
        Ok(text)
    } else {
        Err(PyError::new("'%' must have a format for each value"))
    }
}

/// Reads a key in brackets, which may hold others.
fn key(chars: &mut Peekable<Chars<'_>>) -> PyResult<Option<String>> {
    if chars.next_if_eq(&'(').is_none() {
        return Ok(None);
    }
    let (mut key, mut depth) = (String::new(), 1);
    for c in chars {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Ok(Some(key));
        }
        key.push(c);
    }
    Err(PyError::new("'%(' must have its ')'"))
}

/// Reads a number; 0 without digits.
fn number(chars: &mut Peekable<Chars<'_>>) -> PyResult<usize> {
    let mut number = 0;
    while let Some(c) = chars.next_if(char::is_ascii_digit) {
        number = 10 * number + c.to_digit(10).unwrap_or(0) as usize;
        check_length(number)?;
    }
    match chars.peek() {
        Some('*') => Err(PyError::new("'*' in a format of '%' is unsupported")),
        _ => Ok(number),
    }
}

impl PercentFormat {
    fn parse(chars: &mut Peekable<Chars<'_>>) -> PyResult<Self> {
        let mut format = Self {
            left: false,
            sign: "",
            alternate: false,
            zeros: false,
            width: 0,
            precision: None,
            kind: '%',
        };
        while let Some(flag) = chars.next_if(|c| "-+ #0".contains(*c)) {
            match flag {
                '-' => format.left = true,
                '+' => format.sign = "+",
                ' ' if format.sign.is_empty() => format.sign = " ",
                '#' => format.alternate = true,
                '0' => format.zeros = true,
                _ => {}
            }
        }
        format.width = number(chars)?;
        if chars.next_if_eq(&'.').is_some() {
            format.precision = Some(number(chars)?);
        }
        chars.next_if(|c| "hlL".contains(*c));
        let kind = chars.next();
        format.kind = kind.ok_or_else(|| PyError::new("'%' must be followed by a format"))?;
        Ok(format)
    }

    fn apply(&self, value: &PyValue, host: &mut dyn Budget) -> PyResult<String> {
        match self.kind {
            's' | 'r' => {
                let text = match self.kind {
                    's' => text_of(value)?,
                    _ => literal(value)?,
                };
                host.spend(text.len() / 16)?;
                let most = self.precision.unwrap_or(MAX_TEXT);
                self.pad("", text.chars().take(most).collect(), ' ')
            }
            'c' => self.pad("", character(value)?, ' '),
            'd' | 'i' | 'u' | 'x' | 'X' | 'o' => self.whole(value),
            'e' | 'E' | 'f' | 'F' | 'g' | 'G' => {
                let x = value
                    .as_float()
                    .ok_or_else(|| self.wrong("a number", value))?;
                let precision = self.precision.unwrap_or(6);
                check_precision(precision)?;
                let digits = real_digits(x.abs(), self.kind, precision, self.alternate);
                let negative = x.is_sign_negative() && !x.is_nan();
                self.pad_number(if negative { "-" } else { self.sign }, "", digits)
            }
            other => Err(PyError::new(format!(
                "the format '%{other}' is unsupported"
            ))),
        }
    }

    fn wrong(&self, wanted: &str, value: &PyValue) -> PyError {
        let (kind, found) = (self.kind, value.a_type());
        PyError::new(format!(
            "a value for '%{kind}' must be {wanted}, got {found}"
        ))
    }

    fn whole(&self, value: &PyValue) -> PyResult<String> {
        let whole = match value {
            PyValue::Float(_) if "diu".contains(self.kind) => int(value, None)?,
            other => other.clone(),
        };
        let whole = whole.as_int();
        let whole = whole.ok_or_else(|| self.wrong("a whole number", value))?;
        let size = whole.unsigned_abs();
        let (prefix, digits) = match self.kind {
            'x' => ("0x", format!("{size:x}")),
            'X' => ("0X", format!("{size:X}")),
            'o' => ("0o", format!("{size:o}")),
            _ => ("", size.to_string()),
        };
        let least = self.precision.unwrap_or(0);
        check_precision(least)?;
        let sign = if whole < 0 { "-" } else { self.sign };
        let prefix = if self.alternate { prefix } else { "" };
        self.pad_number(sign, prefix, format!("{digits:0>least$}"))
    }

    fn pad_number(&self, sign: &str, prefix: &str, digits: String) -> PyResult<String> {
        let fill = if self.zeros { '0' } else { ' ' };
        self.pad(&format!("{sign}{prefix}"), digits, fill)
    }

    /// Pads a text; zeros go between the sign and the digits.
    fn pad(&self, sign: &str, text: String, fill: char) -> PyResult<String> {
        let missing = self.width.saturating_sub(sign.len() + text.chars().count());
        check_length(text.len() + missing)?;
        let padding = fill.to_string().repeat(missing);
        Ok(match (self.left, fill) {
            (true, _) => format!("{sign}{text}{}", " ".repeat(missing)),
            (false, '0') => format!("{sign}{padding}{text}"),
            (false, _) => format!("{padding}{sign}{text}"),
        })
    }
}

/// Returns the character for `%c`, given as a text or as its number.
fn character(value: &PyValue) -> PyResult<String> {
    let found = match value {
        PyValue::Str(text) if text.chars().count() == 1 => text.chars().next(),
        value => value
            .as_int()
            .and_then(|code| char::from_u32(u32::try_from(code).ok()?)),
    };
    found.map(String::from).ok_or_else(|| {
        let found = value.a_type();
        PyError::new(format!(
            "a value for '%c' must be one character or its number, got {found}"
        ))
    })
}
