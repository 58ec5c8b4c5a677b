//! File names with fields, in the style of `fmt::format`.

use crate::images::format_spec::FormatSpec;
pub(crate) use crate::images::format_spec::{Field, FieldKind};
use crate::{Error, Result};

#[derive(Clone, Debug, PartialEq)]
enum NamePart {
    Literal(String),
    Field { name: String, spec: FormatSpec },
}

/// A parsed format such as `frames/{port_name}_{count:05}`. `{{` and `}}` are literal braces; the
/// text after a colon is a [`FormatSpec`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FileNameFormat {
    parts: Vec<NamePart>,
}

impl FileNameFormat {
    pub(crate) fn parse(format: &str, known: &[(&str, FieldKind)]) -> Result<Self> {
        let fail = |what: String| {
            let known: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
            let known = known.join("}, {");
            Error::invalid(format!(
                "file name format '{format}': {what}; the fields are {{{known}}}, with an \
                 optional format such as {{count:05}} or {{time_double:.3f}}"
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
                    let Some((_, kind)) = known.iter().find(|(known, _)| *known == name) else {
                        return Err(fail(format!("there is no field '{name}'")));
                    };
                    let spec = FormatSpec::parse(spec, *kind)
                        .map_err(|why| fail(format!("in '{{{field}}}', {why}")))?;
                    if !literal.is_empty() {
                        parts.push(NamePart::Literal(std::mem::take(&mut literal)));
                    }
                    parts.push(NamePart::Field {
                        name: name.into(),
                        spec,
                    });
                }
                '}' => return Err(fail("a '}' has no matching '{'".into())),
                c => literal.push(c),
            }
        }
        if !literal.is_empty() {
            parts.push(NamePart::Literal(literal));
        }
        Ok(Self { parts })
    }

    /// Returns the names of the fields before the last path separator.
    pub(crate) fn directory_fields(&self) -> impl Iterator<Item = &str> {
        let is_separator =
            |p: &NamePart| matches!(p, NamePart::Literal(text) if text.contains('/'));
        let last = self.parts.iter().rposition(is_separator).unwrap_or(0);
        self.parts[..last].iter().filter_map(|p| match p {
            NamePart::Field { name, .. } => Some(&**name),
            NamePart::Literal(_) => None,
        })
    }

    pub(crate) fn format<'a>(&self, value: impl Fn(&str) -> Field<'a>) -> String {
        let mut out = String::new();
        for part in &self.parts {
            match part {
                NamePart::Literal(text) => out.push_str(text),
                NamePart::Field { name, spec } => spec.write(value(name), &mut out),
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[(&str, FieldKind)] = &[
        ("port_name", FieldKind::Text),
        ("count", FieldKind::Integer),
        ("time_double", FieldKind::Real),
    ];

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
    fn fields_widths_and_braces_are_formatted() {
        assert_eq!(format("a/{port_name}_{count}"), "a/cam_42");
        assert_eq!(format("{count:05}{count:4}{count:<4}|"), "00042  4242  |");
        assert_eq!(format("{time_double:.3f}"), "0.250");
        assert_eq!(format("{{{time_double}}}"), "{0.25}");
        assert_eq!(format(""), "");
    }

    #[test]
    fn mistakes_are_explained() {
        let message = |text| FileNameFormat::parse(text, KNOWN).unwrap_err().to_string();
        assert!(message("{nmae}").contains("no field 'nmae'; the fields are {port_name}, {count}"));
        assert!(
            message("{count:q}")
                .contains("in '{count:q}', the type of a whole number must be one of d, x")
        );
        assert!(message("a}").contains("no matching '{'"));
        assert!(message("{count").contains("'{' is not closed"));
    }

    #[test]
    fn directory_fields_are_those_before_the_last_separator() {
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
