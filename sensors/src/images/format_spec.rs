//! Format specifications such as `>8.3f`, as `fmt::format` understands them.

use std::fmt::Write as _;

/// The kind of value that a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldKind {
    Text,
    Integer,
    Real,
}

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Field<'a> {
    Text(&'a str),
    Integer(i64),
    Real(f64),
}

/// A parsed specification `[[fill]align][sign][#][0][width][.precision][type]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FormatSpec {
    fill: Option<char>,
    align: Option<char>,
    sign: Option<char>,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    kind: Option<char>,
}

impl FormatSpec {
    /// Reads a specification for a field of the given kind; the error is the reason.
    pub(crate) fn parse(spec: &str, field: FieldKind) -> Result<Self, String> {
        let mut rest: Vec<char> = spec.chars().rev().collect();
        let mut this = Self::default();
        let is_align = |c: Option<&char>| c.is_some_and(|c| "<>^".contains(*c));
        let n = rest.len();
        if n > 1 && is_align(rest.get(n - 2)) {
            this.fill = rest.pop();
        }
        if is_align(rest.last()) {
            this.align = rest.pop();
        }
        if this.fill == Some('/') {
            return Err("the fill character must not be '/'".into());
        }
        this.sign = rest.pop_if(|c| "+- ".contains(*c));
        this.alternate = rest.pop_if(|c| *c == '#').is_some();
        this.zero = rest.pop_if(|c| *c == '0').is_some();
        this.width = number(&mut rest)?.unwrap_or(0);
        if rest.pop_if(|c| *c == '.').is_some() {
            this.precision = Some(number(&mut rest)?.ok_or("a number is missing after '.'")?);
        }
        this.kind = rest.pop();
        if !rest.is_empty() {
            return Err(format!("'{spec}' is not a valid format"));
        }
        this.check(field)?;
        Ok(this)
    }

    fn check(&self, field: FieldKind) -> Result<(), String> {
        let (what, kinds) = match field {
            FieldKind::Text => ("text", "s"),
            FieldKind::Integer => ("a whole number", "dxXobB"),
            FieldKind::Real => ("a real number", "fFeEgG"),
        };
        if let Some(kind) = self.kind.filter(|k| !kinds.contains(*k)) {
            let kinds: Vec<String> = kinds.chars().map(String::from).collect();
            let kinds = kinds.join(", ");
            return Err(format!(
                "the type of {what} must be one of {kinds}, got '{kind}'"
            ));
        }
        let numeric = self.sign.is_some() || self.alternate || self.zero;
        if field == FieldKind::Text && numeric {
            return Err("signs, '#' and leading zeros are only for numbers".into());
        }
        if field == FieldKind::Integer && self.precision.is_some() {
            return Err("a whole number has no precision".into());
        }
        Ok(())
    }

    /// Appends the value, which must be of the kind that the specification was read for.
    pub(crate) fn write(&self, value: Field<'_>, out: &mut String) {
        let (negative, body) = match value {
            Field::Text(text) => {
                let n = self.precision.unwrap_or(usize::MAX);
                (false, text.chars().take(n).collect())
            }
            Field::Integer(n) => (n < 0, self.integer(n.unsigned_abs())),
            Field::Real(x) => (x.is_sign_negative(), self.real(x.abs())),
        };
        let sign = match (negative, self.sign) {
            (true, _) => "-",
            (false, Some('+')) => "+",
            (false, Some(' ')) => " ",
            _ => "",
        };
        let prefix = match (self.alternate, self.kind) {
            (true, Some('x')) => "0x",
            (true, Some('X')) => "0X",
            (true, Some('b')) => "0b",
            (true, Some('B')) => "0B",
            (true, Some('o')) if body != "0" => "0",
            _ => "",
        };
        let length = sign.len() + prefix.len() + body.chars().count();
        let missing = self.width.saturating_sub(length);
        // Zeros go between sign and digits, unless there is an alignment.
        let zeros = if self.zero && self.align.is_none() {
            missing
        } else {
            0
        };
        let missing = missing - zeros;
        let before = match (self.align, value) {
            (Some('<'), _) | (None, Field::Text(_)) => 0,
            (Some('^'), _) => missing / 2,
            _ => missing,
        };
        let fill = self.fill.unwrap_or(' ');
        out.extend(std::iter::repeat_n(fill, before));
        out.push_str(sign);
        out.push_str(prefix);
        out.extend(std::iter::repeat_n('0', zeros));
        out.push_str(&body);
        out.extend(std::iter::repeat_n(fill, missing - before));
    }

    fn integer(&self, n: u64) -> String {
        match self.kind {
            Some('x') => format!("{n:x}"),
            Some('X') => format!("{n:X}"),
            Some('o') => format!("{n:o}"),
            Some('b' | 'B') => format!("{n:b}"),
            _ => n.to_string(),
        }
    }

    fn real(&self, x: f64) -> String {
        if !x.is_finite() {
            return x.to_string().to_lowercase();
        }
        let mut text = match (self.kind, self.precision) {
            (Some('f' | 'F'), p) => format!("{x:.*}", p.unwrap_or(6)),
            (Some('e' | 'E'), p) => two_digit_exponent(&format!("{x:.*e}", p.unwrap_or(6))),
            (None, None) => {
                let shortest = format!("{x:e}");
                if (-4..16).contains(&exponent(&shortest)) {
                    x.to_string()
                } else {
                    two_digit_exponent(&shortest)
                }
            }
            (_, p) => self.general(x, p.unwrap_or(6).max(1)),
        };
        if self.alternate && !text.contains('.') {
            let end = text.find('e').unwrap_or(text.len());
            text.insert(end, '.');
        }
        if matches!(self.kind, Some('E' | 'G')) {
            text.make_ascii_uppercase();
        }
        text
    }

    /// Formats `x` with `digits` significant digits by C's rule for `%g`.
    fn general(&self, x: f64, digits: usize) -> String {
        let scientific = format!("{x:.*e}", digits - 1);
        let exponent = exponent(&scientific);
        let keep_zeros = self.alternate && self.kind.is_some();
        let trimmed = |text: &str| {
            if keep_zeros || !text.contains('.') {
                text.to_owned()
            } else {
                text.trim_end_matches('0').trim_end_matches('.').to_owned()
            }
        };
        if (-4..digits as i32).contains(&exponent) {
            let decimals = (digits as i32 - 1 - exponent) as usize;
            return trimmed(&format!("{x:.decimals$}"));
        }
        let (mantissa, power) = scientific.split_once('e').unwrap_or((&scientific, "0"));
        two_digit_exponent(&format!("{}e{power}", trimmed(mantissa)))
    }
}

/// Takes the leading digits, which are the last ones of the reversed text.
fn number(rest: &mut Vec<char>) -> Result<Option<usize>, String> {
    let mut digits = String::new();
    while let Some(digit) = rest.pop_if(|c| c.is_ascii_digit()) {
        digits.push(digit);
    }
    if digits.is_empty() {
        return Ok(None);
    }
    // A width that no file name needs is a typing error.
    let n = digits.parse().ok().filter(|n| *n <= 64);
    n.map(Some)
        .ok_or_else(|| format!("width and precision must be at most 64, got {digits}"))
}

fn exponent(scientific: &str) -> i32 {
    let power = scientific.split_once('e').map_or("0", |(_, power)| power);
    power.parse().unwrap_or(0)
}

/// Rewrites `1.5e0` as C does: `1.5e+00`.
fn two_digit_exponent(scientific: &str) -> String {
    let (mantissa, _) = scientific.split_once('e').unwrap_or((scientific, ""));
    let power = exponent(scientific);
    let mut out = String::from(mantissa);
    let sign = if power < 0 { '-' } else { '+' };
    write!(out, "e{sign}{:02}", power.abs()).expect("writing to a string does not fail");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(spec: &str, value: Field<'_>) -> String {
        let kind = match value {
            Field::Text(_) => FieldKind::Text,
            Field::Integer(_) => FieldKind::Integer,
            Field::Real(_) => FieldKind::Real,
        };
        let mut out = String::new();
        FormatSpec::parse(spec, kind)
            .unwrap()
            .write(value, &mut out);
        out
    }

    /// The expected texts are those of Drake's `ImageWriter` in file names.
    #[test]
    fn numbers_and_text_are_formatted_like_drake() {
        let reals = [
            (1.25, "", "1.25"),
            (1.25, ".3f", "1.250"),
            (1.25, "8.2f", "    1.25"),
            (1.25, "08.2f", "00001.25"),
            (1.25, "e", "1.250000e+00"),
            (1.25, ".2e", "1.25e+00"),
            (1.25, "g", "1.25"),
            (1.25, ".3", "1.25"),
            (1.25, "+.1f", "+1.2"),
            (1.25, "#", "1.25"),
            (1.25, "#g", "1.25000"),
            (1.25, "<9", "1.25     "),
            (1.25, "*^9.1f", "***1.2***"),
            (5.0, "", "5"),
            (5.0, "#", "5."),
            (5.0, ".3", "5"),
            (5.0, "G", "5"),
            (0.0123456789, "", "0.0123456789"),
            (0.0123456789, ".3", "0.0123"),
            (0.0123456789, "e", "1.234568e-02"),
            (0.0123456789, "G", "0.0123457"),
            (12345678.9, "", "12345678.9"),
            (12345678.9, "g", "1.23457e+07"),
            (12345678.9, "G", "1.23457E+07"),
            (12345678.9, ".3", "1.23e+07"),
            (12345678.9, "#g", "1.23457e+07"),
            (0.3, "*^9.1f", "***0.3***"),
            (0.00001, "", "1e-05"),
        ];
        for (x, spec, expected) in reals {
            assert_eq!(format(spec, Field::Real(x)), expected, "{x} as '{spec}'");
        }
        let integers = [
            (0, "05", "00000"),
            (0, ">5", "    0"),
            (0, "<5", "0    "),
            (0, "^5", "  0  "),
            (0, "*^5", "**0**"),
            (0, "04d", "0000"),
            (0, "#x", "0x0"),
            (0, "#06x", "0x0000"),
            (0, "#b", "0b0"),
            (0, "+", "+0"),
            (0, " ", " 0"),
            (0, "+05", "+0000"),
            (0, "0<5", "00000"),
            (0, "<05", "0    "),
            (255, "X", "FF"),
            (8, "#o", "010"),
            (1250, ">+7", "  +1250"),
            (-3, "05", "-0003"),
        ];
        for (n, spec, expected) in integers {
            assert_eq!(format(spec, Field::Integer(n)), expected, "{n} as '{spec}'");
        }
        for (spec, expected) in [
            (">8", "     cam"),
            (".2", "ca"),
            ("*<8", "cam*****"),
            ("s", "cam"),
            ("", "cam"),
        ] {
            assert_eq!(format(spec, Field::Text("cam")), expected, "'{spec}'");
        }
    }

    #[test]
    fn mistakes_are_explained() {
        let message = |spec, kind| FormatSpec::parse(spec, kind).unwrap_err();
        use FieldKind::*;
        assert!(
            message("d", Real)
                .contains("the type of a real number must be one of f, F, e, E, g, G, got 'd'")
        );
        assert!(message("f", Integer).contains("must be one of d, x, X, o, b, B, got 'f'"));
        assert!(message(".2", Integer).contains("no precision"));
        assert!(message("05", Text).contains("for numbers"));
        assert!(message("5dd", Integer).contains("'5dd' is not a valid format"));
        assert!(message("99999999999999999999", Integer).contains("at most 64"));
        assert!(message("5.", Real).contains("missing after '.'"));
        assert!(message("/>9", Integer).contains("'/'"));
    }
}
