//! Numbers and booleans as the core schema of YAML 1.2 writes them.

/// Reads a whole number. Binary ones, which the schema lacks, begin with `0b`.
pub(super) fn integer(text: &str) -> Option<i128> {
    let text = text.trim();
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let radix = [("0x", 16), ("0o", 8), ("0b", 2)];
    let found = radix.iter().find_map(|(prefix, radix)| {
        let digits = digits.strip_prefix(prefix)?;
        Some((digits, *radix))
    });
    let (digits, radix) = found.unwrap_or((digits, 10));
    if !digits.starts_with(|c: char| c.is_digit(radix)) {
        return None;
    }
    i128::from_str_radix(digits, radix).ok()?.checked_mul(sign)
}

/// Reads a number. One that is too large is `None`.
pub(super) fn float(text: &str) -> Option<f64> {
    let text = text.trim();
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    match unsigned {
        ".inf" | ".Inf" | ".INF" if text.starts_with('-') => return Some(f64::NEG_INFINITY),
        ".inf" | ".Inf" | ".INF" => return Some(f64::INFINITY),
        ".nan" | ".NaN" | ".NAN" if unsigned == text => return Some(f64::NAN),
        _ => {}
    }
    let digits = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
    let value = text.chars().all(digits).then(|| text.parse().ok());
    value.flatten().filter(|x: &f64| x.is_finite())
}

/// Reads `true` or `false`.
pub(super) fn boolean(text: &str) -> Option<bool> {
    match text.trim() {
        "true" | "True" | "TRUE" => Some(true),
        "false" | "False" | "FALSE" => Some(false),
        _ => None,
    }
}
