//! The methods of texts.

use super::evaluator::{CallArguments, Evaluator};
use super::format::{TemplatePart, formatted, template};
use super::operators::check_items;
use super::searches::{searches, without_tabs};
use super::text::{check_length, literal, text_of};
use super::value::{PyError, PyResult, PyValue};
use std::collections::BTreeSet;

/// Names of the methods.
pub(super) const METHODS: [&str; 39] = [
    "capitalize",
    "casefold",
    "center",
    "count",
    "endswith",
    "expandtabs",
    "find",
    "format",
    "index",
    "isalnum",
    "isalpha",
    "isdecimal",
    "isdigit",
    "islower",
    "isnumeric",
    "isspace",
    "isupper",
    "join",
    "ljust",
    "lower",
    "lstrip",
    "partition",
    "removeprefix",
    "removesuffix",
    "replace",
    "rfind",
    "rindex",
    "rjust",
    "rpartition",
    "rsplit",
    "rstrip",
    "split",
    "splitlines",
    "startswith",
    "strip",
    "swapcase",
    "title",
    "upper",
    "zfill",
];

impl Evaluator<'_> {
    pub(super) fn str_method(
        &mut self,
        text: &str,
        name: &str,
        mut arguments: CallArguments,
    ) -> PyResult {
        self.host.spend(1 + text.len() / 16)?;
        match name {
            "format" => return self.format(text, &arguments),
            "join" => {
                arguments.check(name, 1, 1)?;
                return self.join(text, &arguments.plain[0]);
            }
            "expandtabs" => arguments.place(&["tabsize"]),
            "split" | "rsplit" => {
                let named = ["sep", "maxsplit"].map(|name| arguments.take(name));
                arguments.check(name, 0, 2)?;
                let mut given = arguments.plain.into_iter();
                let [separator, most] = named.map(|named| match (given.next(), named) {
                    (Some(_), Some(_)) => {
                        Err(PyError::new(format!("{name}() must have an argument once")))
                    }
                    (plain, named) => Ok(plain.or(named)),
                });
                return split(text, name == "rsplit", separator?, most?);
            }
            _ => {}
        }
        let (least, most) = match name {
            "center" | "ljust" | "rjust" => (1, 2),
            "zfill" => (1, 1),
            name if searches(name) => (1, 3),
            "expandtabs" => (0, 1),
            "partition" | "rpartition" | "removeprefix" | "removesuffix" => (1, 1),
            "replace" => (2, 3),
            "strip" | "lstrip" | "rstrip" => (0, 1),
            _ => (0, 0),
        };
        arguments.check(name, least, most)?;
        let plain = arguments.plain;
        if searches(name) {
            return self.search(text, name, &plain);
        }
        let part = |i: usize| match &plain[i] {
            PyValue::Str(text) => Ok(&**text),
            other => Err(PyError::new(format!(
                "{name}() must have a text, got {}",
                other.a_type()
            ))),
        };
        let all = |test: fn(char) -> bool| !text.is_empty() && text.chars().all(test);
        let cased = |wanted: fn(char) -> bool, other: fn(char) -> bool| {
            text.chars().any(wanted) && !text.chars().any(other)
        };
        Ok(match name {
            "capitalize" => {
                let mut chars = text.chars();
                let first = chars.next().map(|c| c.to_uppercase().to_string());
                let rest = chars.as_str().to_lowercase();
                PyValue::str(first.unwrap_or_default() + &rest)
            }
            "casefold" | "lower" => PyValue::str(text.to_lowercase()),
            "upper" => PyValue::str(text.to_uppercase()),
            "swapcase" => PyValue::str(
                text.chars()
                    .map(|c| {
                        if c.is_uppercase() {
                            c.to_lowercase().to_string()
                        } else {
                            c.to_uppercase().to_string()
                        }
                    })
                    .collect::<String>(),
            ),
            "title" => {
                let mut inside = false;
                let titled = text.chars().map(|c| {
                    let start = !std::mem::replace(&mut inside, c.is_alphabetic());
                    if start {
                        c.to_uppercase().to_string()
                    } else {
                        c.to_lowercase().to_string()
                    }
                });
                PyValue::str(titled.collect::<String>())
            }
            "isalnum" => PyValue::Bool(all(char::is_alphanumeric)),
            "isalpha" => PyValue::Bool(all(char::is_alphabetic)),
            "isdigit" | "isdecimal" | "isnumeric" => PyValue::Bool(all(char::is_numeric)),
            "isspace" => PyValue::Bool(all(char::is_whitespace)),
            "islower" => PyValue::Bool(cased(char::is_lowercase, char::is_uppercase)),
            "isupper" => PyValue::Bool(cased(char::is_uppercase, char::is_lowercase)),
            "center" | "ljust" | "rjust" => {
                let width = plain[0].index("the width")?.clamp(0, 1 << 30) as usize;
                let fill = plain.get(1).map_or(Ok(" "), |_| part(1))?;
                padded(text, name, width, fill)?
            }
            "zfill" => {
                let width = plain[0].index("the width")?.clamp(0, 1 << 30) as usize;
                let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
                let sign = &text[..text.len() - digits.len()];
                let zeros = width.saturating_sub(text.chars().count());
                check_length(text.len() + zeros)?;
                PyValue::str(format!("{sign}{}{digits}", "0".repeat(zeros)))
            }
            "expandtabs" => {
                let size = plain
                    .first()
                    .map_or(Ok(8), |size| size.index("the size of tabs"))?;
                PyValue::str(without_tabs(text, size.clamp(0, 1 << 30) as usize)?)
            }
            "removeprefix" => PyValue::str(text.strip_prefix(part(0)?).unwrap_or(text)),
            "removesuffix" => PyValue::str(text.strip_suffix(part(0)?).unwrap_or(text)),
            "partition" | "rpartition" => {
                let separator = part(0)?;
                if separator.is_empty() {
                    return Err(PyError::new("the separator must not be empty"));
                }
                let halves = match name {
                    "partition" => text.split_once(separator),
                    _ => text.rsplit_once(separator),
                };
                let parts = match halves {
                    Some((before, after)) => [before, separator, after],
                    None if name == "partition" => [text, "", ""],
                    None => ["", "", text],
                };
                PyValue::tuple(parts.map(PyValue::str).to_vec())
            }
            "replace" => {
                let (old, new) = (part(0)?, part(1)?);
                let count = plain.get(2).map_or(Ok(-1), |n| n.index("the count"))?;
                let places = text.matches(old).count();
                check_length(text.len() + places.saturating_mul(new.len()))?;
                PyValue::str(match usize::try_from(count) {
                    Ok(count) => text.replacen(old, new, count),
                    Err(_) => text.replace(old, new),
                })
            }
            "splitlines" => {
                check_items(text.lines().count())?;
                let lines = text.lines().map(PyValue::str);
                PyValue::list(lines.collect())
            }
            _ => {
                if let Some(PyValue::Str(set)) = plain.first() {
                    self.host.spend(set.len())?;
                }
                let set = match plain.first() {
                    None | Some(PyValue::None) => None,
                    Some(_) => Some(part(0)?.chars().collect::<BTreeSet<char>>()),
                };
                let strips = |c: char| match &set {
                    None => c.is_whitespace(),
                    Some(set) => set.contains(&c),
                };
                PyValue::str(match name {
                    "lstrip" => text.trim_start_matches(strips),
                    "rstrip" => text.trim_end_matches(strips),
                    _ => text.trim_matches(strips),
                })
            }
        })
    }

    fn join(&mut self, separator: &str, items: &PyValue) -> PyResult {
        let mut text = String::new();
        for (i, item) in self.items(items)?.iter().enumerate() {
            let PyValue::Str(item) = item else {
                return Err(PyError::new(format!(
                    "join() must have texts, got {}; convert by map(str, ...)",
                    item.a_type()
                )));
            };
            check_length(text.len() + separator.len() + item.len())?;
            text.push_str(if i > 0 { separator } else { "" });
            text.push_str(item);
        }
        Ok(PyValue::str(text))
    }

    fn format(&mut self, text: &str, arguments: &CallArguments) -> PyResult {
        let mut next = 0;
        let mut shown = String::new();
        for part in template(text)? {
            match part {
                TemplatePart::Text(plain) => shown.push_str(&plain),
                TemplatePart::Field {
                    name,
                    conversion,
                    specification,
                } => {
                    let end = name.find(['.', '[']).unwrap_or(name.len());
                    let (base, path) = name.split_at(end);
                    let missing = || PyError::new(format!("format() has no argument '{base}'"));
                    let found = match base.parse::<usize>() {
                        _ if base.is_empty() => {
                            next += 1;
                            arguments.plain.get(next - 1)
                        }
                        Ok(index) => arguments.plain.get(index),
                        Err(_) => {
                            let mut named = arguments.named.iter();
                            named.find(|(n, _)| n == base).map(|(_, value)| value)
                        }
                    };
                    let mut value = found.cloned().ok_or_else(missing)?;
                    if let Some(key) = path.strip_prefix('[').and_then(|p| p.strip_suffix(']')) {
                        let key = match key.parse::<i128>() {
                            Ok(index) => PyValue::Int(index),
                            Err(_) => PyValue::str(key),
                        };
                        value = self.item(&value, &key)?;
                    } else if !path.is_empty() {
                        let message = format!("the field '{{{name}}}' is unsupported");
                        return Err(PyError::new(message));
                    }
                    let value = match conversion {
                        Some('r') => PyValue::str(literal(&value)?),
                        Some('s') => PyValue::str(text_of(&value)?),
                        None => value,
                        Some(other) => {
                            let message = format!("the conversion '!{other}' is unsupported");
                            return Err(PyError::new(message));
                        }
                    };
                    self.spend_on(&value)?;
                    let field = formatted(&value, &specification)?;
                    self.host.spend(1 + field.len() / 16)?;
                    shown.push_str(&field);
                }
            }
            check_length(shown.len())?;
        }
        Ok(PyValue::str(shown))
    }
}

fn padded(text: &str, name: &str, width: usize, fill: &str) -> PyResult {
    let missing = width.saturating_sub(text.chars().count());
    check_length(text.len() + missing * fill.len())?;
    if fill.chars().count() != 1 {
        return Err(PyError::new("the character to fill with must be one"));
    }
    let left = match name {
        "ljust" => 0,
        "rjust" => missing,
        // As in Python, the odd character goes to the left of a text of odd width.
        _ => missing / 2 + (missing & width & 1),
    };
    let right = missing - left;
    Ok(PyValue::str(format!(
        "{}{text}{}",
        fill.repeat(left),
        fill.repeat(right)
    )))
}

fn split(
    text: &str,
    from_right: bool,
    separator: Option<PyValue>,
    most: Option<PyValue>,
) -> PyResult {
    let most = most.map_or(Ok(-1), |count| count.index("maxsplit"))?;
    let most = usize::try_from(most)
        .unwrap_or(usize::MAX)
        .saturating_add(1);
    let mut parts: Vec<&str> = match &separator {
        None | Some(PyValue::None) => return words(text, from_right, most),
        Some(PyValue::Str(separator)) if separator.is_empty() => {
            return Err(PyError::new("the separator must not be empty"));
        }
        Some(PyValue::Str(separator)) => {
            if from_right {
                text.rsplitn(most, &**separator).collect()
            } else {
                text.splitn(most, &**separator).collect()
            }
        }
        Some(other) => {
            return Err(PyError::new(format!(
                "the separator must be a text, got {}",
                other.a_type()
            )));
        }
    };
    if from_right {
        parts.reverse();
    }
    check_items(parts.len())?;
    Ok(PyValue::list(parts.into_iter().map(PyValue::str).collect()))
}

/// Splits at white space into `most` words at most, of which the last keeps its white space at
/// the far end.
fn words(text: &str, from_right: bool, most: usize) -> PyResult {
    fn without_spaces(text: &str, from_right: bool) -> &str {
        if !from_right {
            text.trim_start()
        } else {
            text.trim_end()
        }
    }
    let mut words = vec![];
    let mut rest = without_spaces(text, from_right);
    while !rest.is_empty() && words.len() + 1 < most {
        let (word, other) = if !from_right {
            rest.split_once(char::is_whitespace).unwrap_or((rest, ""))
        } else {
            rest.rsplit_once(char::is_whitespace)
                .map_or((rest, ""), |(other, word)| (word, other))
        };
        words.push(PyValue::str(word));
        check_items(words.len())?;
        rest = without_spaces(other, from_right);
    }
    if !rest.is_empty() {
        words.push(PyValue::str(rest));
    }
    if from_right {
        words.reverse();
    }
    Ok(PyValue::list(words))
}
