//! Text of values: Python's `str` and `repr`, and its numbers in text.

use super::set_values::members;
use super::value::{PyError, PyFunction, PyResult, PyValue};

/// Maximum length of a text (bytes).
pub(crate) const MAX_TEXT: usize = 1 << 20;
/// Maximum depth of nested values in a text.
const MAX_DEPTH: usize = 100;

/// Returns Python's `str` of a value.
pub(crate) fn text_of(value: &PyValue) -> PyResult<String> {
    match value {
        PyValue::Str(text) => Ok(text.to_string()),
        other => literal(other),
    }
}

/// Returns Python's `repr` of a value.
pub(crate) fn literal(value: &PyValue) -> PyResult<String> {
    let mut text = String::new();
    write(value, &mut text, 0)?;
    Ok(text)
}

/// Checks the length of a text that is about to be made.
pub(crate) fn check_length(bytes: usize) -> PyResult<()> {
    if bytes <= MAX_TEXT {
        Ok(())
    } else {
        Err(PyError::limit(format!(
            "a text must have at most {MAX_TEXT} bytes, got {bytes}"
        )))
    }
}

fn write(value: &PyValue, text: &mut String, depth: usize) -> PyResult<()> {
    if depth > MAX_DEPTH {
        let message = format!("values are nested deeper than {MAX_DEPTH}");
        return Err(PyError::limit(message));
    }
    check_length(text.len())?;
    match value {
        PyValue::None => text.push_str("None"),
        PyValue::Bool(true) => text.push_str("True"),
        PyValue::Bool(false) => text.push_str("False"),
        PyValue::Int(i) => text.push_str(&i.to_string()),
        PyValue::Float(x) => text.push_str(&float(*x)),
        PyValue::Str(string) => quote(string, text),
        PyValue::Tuple(items) => {
            text.push('(');
            write_all(items, text, depth)?;
            text.push_str(if items.len() == 1 { ",)" } else { ")" });
        }
        PyValue::List(list) => {
            text.push('[');
            write_all(&list.items.borrow(), text, depth)?;
            text.push(']');
        }
        PyValue::Dict(dict) => {
            text.push('{');
            for (i, (key, value)) in dict.entries.borrow().iter().enumerate() {
                text.push_str(if i > 0 { ", " } else { "" });
                write(key, text, depth + 1)?;
                text.push_str(": ");
                write(value, text, depth + 1)?;
            }
            text.push('}');
        }
        PyValue::Set(set) => {
            let members = members(set);
            let (open, close) = match (set.frozen, members.is_empty()) {
                (false, true) => ("set(", ")"),
                (false, false) => ("{", "}"),
                (true, true) => ("frozenset(", ")"),
                (true, false) => ("frozenset({", "})"),
            };
            text.push_str(open);
            write_all(&members, text, depth)?;
            text.push_str(close);
        }
        PyValue::Slice(parts) => {
            text.push_str("slice(");
            write_all(&**parts, text, depth)?;
            text.push(')');
        }
        PyValue::Range(range) => {
            text.push_str(&format!("range({}, {}", range.start, range.stop));
            if range.step != 1 {
                text.push_str(&format!(", {}", range.step));
            }
            text.push(')');
        }
        PyValue::View(name, items) => {
            text.push_str(name);
            text.push_str("([");
            write_all(items, text, depth)?;
            text.push_str("])");
        }
        PyValue::Function(PyFunction::Builtin(name)) if is_type(name) => {
            text.push_str(&format!("<class '{name}'>"));
        }
        other => {
            let message = format!("{} has no text; use list(...)", other.a_type());
            return Err(PyError::new(message));
        }
    }
    Ok(())
}

fn write_all(items: &[PyValue], text: &mut String, depth: usize) -> PyResult<()> {
    for (i, item) in items.iter().enumerate() {
        text.push_str(if i > 0 { ", " } else { "" });
        write(item, text, depth + 1)?;
    }
    Ok(())
}

/// Returns whether a function of Python is a type.
pub(super) fn is_type(name: &str) -> bool {
    matches!(
        name,
        "NoneType"
            | "bool"
            | "dict"
            | "dict_items"
            | "dict_keys"
            | "dict_values"
            | "float"
            | "frozenset"
            | "int"
            | "list"
            | "range"
            | "set"
            | "slice"
            | "str"
            | "tuple"
    )
}

fn quote(string: &str, text: &mut String) {
    let quote = if string.contains('\'') && !string.contains('"') {
        '"'
    } else {
        '\''
    };
    text.push(quote);
    for c in string.chars() {
        match c {
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            c if c == quote => text.extend(['\\', c]),
            c if (c as u32) < 0x20 || c == '\u{7f}' => {
                text.push_str(&format!("\\x{:02x}", c as u32));
            }
            c => text.push(c),
        }
    }
    text.push(quote);
}

/// Returns the shortest text that reads as the same number, with an exponent below 1e-4 and from
/// 1e16.
pub(crate) fn float(x: f64) -> String {
    if x.is_nan() {
        return "nan".into();
    }
    if x.is_infinite() {
        return if x > 0.0 { "inf" } else { "-inf" }.into();
    }
    let scientific = shortest(x);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if x != 0.0 && !(-4..16).contains(&exponent) {
        return mantissa.to_string() + &exponent_text(exponent);
    }
    let sign = if mantissa.starts_with('-') { "-" } else { "" };
    let mut digits = mantissa.replace(['-', '.'], "");
    if exponent < 0 {
        let zeros = "0".repeat(exponent.unsigned_abs() as usize - 1);
        return format!("{sign}0.{zeros}{digits}");
    }
    let point = exponent as usize + 1;
    while digits.len() <= point {
        digits.push('0');
    }
    digits.insert(point, '.');
    sign.to_string() + &digits
}

/// Returns the text of an exponent, with its sign and two digits at least.
pub(super) fn exponent_text(exponent: i32) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("e{sign}{:02}", exponent.unsigned_abs())
}

/// Returns the shortest digits of a number with an exponent. Of two that are equally close, Python
/// takes the even one.
fn shortest(x: f64) -> String {
    let digits = format!("{x:e}");
    let mantissa = digits.split('e').next().unwrap_or("");
    let count = mantissa.chars().filter(char::is_ascii_digit).count();
    let even = format!("{x:.*e}", count - 1);
    if even.parse() == Ok(x) { even } else { digits }
}

/// Reads a whole number as Python's `int` does; `None` if the text is no whole number.
pub(crate) fn parse_int(text: &str) -> Option<PyResult<i128>> {
    let digits = without_underscores(text.trim())?;
    let unsigned = digits.strip_prefix(['+', '-']).unwrap_or(&digits);
    if unsigned.is_empty() || !unsigned.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    Some(digits.parse().map_err(|_| {
        PyError::limit(format!(
            "a whole number must have at most 127 bits, got one of {} digits",
            digits.len()
        ))
    }))
}

/// Reads a number as Python's `float` does; `None` if the text is no number.
pub(crate) fn parse_float(text: &str) -> Option<f64> {
    let digits = without_underscores(text.trim())?;
    let unsigned = digits.strip_prefix(['+', '-']).unwrap_or(&digits);
    // Rust reads the same words for infinity and NaN as Python.
    let word = ["inf", "infinity", "nan"].contains(&&*unsigned.to_lowercase());
    let number = unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    (word || number).then(|| digits.parse().ok()).flatten()
}

/// Removes single underscores between digits; `None` if there are others.
fn without_underscores(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let between = |i: usize| {
        let digit = |b: Option<&u8>| b.is_some_and(u8::is_ascii_digit);
        i > 0 && digit(bytes.get(i - 1)) && digit(bytes.get(i + 1))
    };
    let bad = bytes
        .iter()
        .enumerate()
        .any(|(i, b)| *b == b'_' && !between(i));
    (!bad).then(|| text.replace('_', ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_have_the_text_of_python() {
        for (x, text) in [
            (1.0, "1.0"),
            (0.1 + 0.2, "0.30000000000000004"),
            (1e-5, "1e-05"),
            (1.5e-7, "1.5e-07"),
            (0.0001, "0.0001"),
            (1e16, "1e+16"),
            (123456789012345680.0, "1.2345678901234568e+17"),
            (1e15, "1000000000000000.0"),
            (1e15 + 0.25, "1000000000000000.2"),
            (1e15 + 0.75, "1000000000000000.8"),
            (0.0, "0.0"),
            (120.0, "120.0"),
            (-0.0, "-0.0"),
            (5e-324, "5e-324"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(float(x), text);
        }
    }

    #[test]
    fn numbers_are_read_as_by_python() {
        assert_eq!(parse_int(" -12 "), Some(Ok(-12)));
        assert_eq!(parse_int("1_000"), Some(Ok(1000)));
        for bad in ["", "1.0", "0x10", "1__0", "_1", "--1", "1 2"] {
            assert_eq!(parse_int(bad), None, "{bad}");
        }
        assert_eq!(parse_float("+1e3"), Some(1000.0));
        assert_eq!(parse_float(".5"), Some(0.5));
        assert_eq!(parse_float("-Infinity"), Some(f64::NEG_INFINITY));
        for bad in ["", ".", "e5", "1,0", "0x1p3", "++1"] {
            assert_eq!(parse_float(bad), None, "{bad}");
        }
    }
}
