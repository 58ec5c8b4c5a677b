//! File names with fields, in the style of `fmt::format`.

use crate::error::{Error, Result};
use std::fmt::Write as _;

/// A value for a field.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Field<'a> {
    Text(&'a str),
    Integer(i64),
    Real(f64),
}

#[derive(Clone, Debug, PartialEq)]
enum Part {
    Literal(String),
    Field {
        name: String,
        zero_padded: bool,
        width: usize,
    },
}

/// A parsed format such as `frames/{port_name}_{count:05}`. `{{` and `}}` stand for braces; a field
/// may have a width, with a leading zero to pad numbers by zeros.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FileNameFormat {
    parts: Vec<Part>,
}

impl FileNameFormat {
    pub(crate) fn parse(format: &str, known: &[&str]) -> Result<Self> {
        let fail = |what: String| {
            let known = known.join("}, {");
            Error::invalid(format!(
                "file name format '{format}': {what}; fields are {{{known}}}, with an optional width as \
                 in {{count:05}}"
            ))
        };
        let (mut parts, mut literal) = (vec![], String::new());
        let mut rest = format.chars().peekable();
        while let Some(c) = rest.next() {
            match c {
                '{' | '}' if rest.peek() == Some(&c) => {
                    rest.next();
                    literal.push(c);
                }
                '{' => {
                    let mut field = String::new();
                    loop {
                        match rest.next() {
                            Some('}') => break,
                            Some(c) => field.push(c),
                            None => return Err(fail("a '{' is not closed".into())),
                        }
                    }
                    let (name, spec) = field.split_once(':').unwrap_or((&field, ""));
                    if !known.contains(&name) {
                        return Err(fail(format!("there is no field '{name}'")));
                    }
                    let width = if spec.is_empty() { Ok(0) } else { spec.parse() };
                    // A width that is no use in a file name is a typing error.
                    let width = width.ok().filter(|w| *w <= 64);
                    let width = width.ok_or_else(|| fail(format!("'{spec}' is not a width")))?;
                    if !literal.is_empty() {
                        parts.push(Part::Literal(std::mem::take(&mut literal)));
                    }
                    parts.push(Part::Field {
                        name: name.into(),
                        zero_padded: spec.starts_with('0'),
                        width,
                    });
                }
                '}' => return Err(fail("a '}' stands alone".into())),
                c => literal.push(c),
            }
        }
        if !literal.is_empty() {
            parts.push(Part::Literal(literal));
        }
        Ok(Self { parts })
    }

    /// Names of the fields that come before the last path separator.
    pub(crate) fn directory_fields(&self) -> impl Iterator<Item = &str> {
        let is_separator = |p: &Part| matches!(p, Part::Literal(text) if text.contains('/'));
        let last = self.parts.iter().rposition(is_separator).unwrap_or(0);
        self.parts[..last].iter().filter_map(|p| match p {
            Part::Field { name, .. } => Some(&**name),
            Part::Literal(_) => None,
        })
    }

    pub(crate) fn format<'a>(&self, value: impl Fn(&str) -> Field<'a>) -> String {
        let mut out = String::new();
        for part in &self.parts {
            match part {
                Part::Literal(text) => out.push_str(text),
                Part::Field {
                    name,
                    zero_padded,
                    width,
                } => {
                    let written = match (value(name), zero_padded) {
                        (Field::Text(text), _) => write!(out, "{text:width$}"),
                        (Field::Integer(n), true) => write!(out, "{n:0width$}"),
                        (Field::Integer(n), false) => write!(out, "{n:width$}"),
                        (Field::Real(x), true) => write!(out, "{x:0width$}"),
                        (Field::Real(x), false) => write!(out, "{x:width$}"),
                    };
                    written.expect("writing to a string does not fail");
                }
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[&str] = &["port_name", "count", "time_double"];

    fn format(text: &str) -> String {
        FileNameFormat::parse(text, KNOWN)
            .unwrap()
            .format(|name| match name {
                "port_name" => Field::Text("cam"),
                "count" => Field::Integer(42),
                _ => Field::Real(0.25),
            })
    }

    #[test]
    fn fields_widths_and_braces() {
        assert_eq!(format("a/{port_name}_{count}"), "a/cam_42");
        assert_eq!(format("{count:05}{count:4}"), "00042  42");
        assert_eq!(format("{{{time_double}}}"), "{0.25}");
        assert_eq!(format(""), "");
    }

    #[test]
    fn mistakes_are_explained() {
        let message = |text| FileNameFormat::parse(text, KNOWN).unwrap_err().to_string();
        assert!(message("{nmae}").contains("no field 'nmae'; fields are {port_name}, {count}"));
        assert!(message("{count:x}").contains("'x' is not a width"));
        assert!(message("a}").contains("stands alone"));
        assert!(message("{count").contains("'{' is not closed"));
    }

    #[test]
    fn fields_of_the_directory() {
        let fields = |text| {
            let format = FileNameFormat::parse(text, KNOWN).unwrap();
            format
                .directory_fields()
                .map(String::from)
                .collect::<Vec<_>>()
        };
        assert_eq!(fields("{port_name}/{count}"), ["port_name"]);
        assert!(fields("{count}").is_empty());
    }
}
