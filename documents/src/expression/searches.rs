//! Methods of texts that search for others, in the whole text or a part of it.

use super::evaluator::Evaluator;
use super::value::{PyError, PyResult, PyValue};

/// Names of the methods.
const METHODS: [&str; 7] = [
    "count",
    "endswith",
    "find",
    "index",
    "rfind",
    "rindex",
    "startswith",
];

/// Returns whether a method of texts searches.
pub(super) fn searches(name: &str) -> bool {
    METHODS.contains(&name)
}

impl Evaluator<'_> {
    /// Searches a text from a start to an end, which are optional.
    pub(super) fn search(&mut self, text: &str, name: &str, arguments: &[PyValue]) -> PyResult {
        let [wanted, bounds @ ..] = arguments else {
            return Err(PyError::new(format!("{name}() must have a text")));
        };
        let part = part(text, name, bounds)?;
        if let "startswith" | "endswith" = name {
            return self.starts_or_ends(part.map(|(_, part)| part), name, wanted);
        }
        let PyValue::Str(wanted) = wanted else {
            let found = wanted.a_type();
            return Err(PyError::new(format!(
                "{name}() must have a text, got {found}"
            )));
        };
        self.host.spend(wanted.len() / 16)?;
        if name == "count" {
            let count = part.map_or(0, |(_, part)| {
                if wanted.is_empty() {
                    part.chars().count() + 1
                } else {
                    part.matches(&**wanted).count()
                }
            });
            return Ok(PyValue::Int(count as i128));
        }
        let found = part.and_then(|(start, part)| {
            let byte = if name.starts_with('r') {
                part.rfind(&**wanted)
            } else {
                part.find(&**wanted)
            };
            Some(start + part[..byte?].chars().count())
        });
        match found {
            Some(place) => Ok(PyValue::Int(place as i128)),
            None if name.ends_with("find") => Ok(PyValue::Int(-1)),
            None => Err(PyError::new(format!("'{wanted}' is not in the text"))),
        }
    }

    fn starts_or_ends(&mut self, part: Option<&str>, name: &str, wanted: &PyValue) -> PyResult {
        let wanted = match wanted {
            PyValue::Tuple(parts) => parts,
            other => std::slice::from_ref(other),
        };
        let mut found = false;
        for wanted in wanted {
            let PyValue::Str(wanted) = wanted else {
                let message = format!(
                    "{name}() must have a text or a tuple of them, got {}",
                    wanted.a_type()
                );
                return Err(PyError::new(message));
            };
            self.host.spend(1 + wanted.len() / 16)?;
            found |= part.is_some_and(|part| match name {
                "startswith" => part.starts_with(&**wanted),
                _ => part.ends_with(&**wanted),
            });
        }
        Ok(PyValue::Bool(found))
    }
}

/// Returns the part of a text from a start to an end, and the index of its first character; `None`
/// if it starts behind its end.
fn part<'t>(text: &'t str, name: &str, bounds: &[PyValue]) -> PyResult<Option<(usize, &'t str)>> {
    if bounds.is_empty() {
        return Ok(Some((0, text)));
    }
    let count = text.chars().count();
    let Some((start, end)) = bounded(count, name, bounds)? else {
        return Ok(None);
    };
    let mut places = text.char_indices().map(|(byte, _)| byte);
    let first = places.nth(start).unwrap_or(text.len());
    let last = match end - start {
        0 => first,
        length => places.nth(length - 1).unwrap_or(text.len()),
    };
    Ok(Some((start, &text[first..last])))
}

/// Returns the members from a start to an end of a search; `None` if it starts behind its end.
pub(super) fn bounded(
    count: usize,
    name: &str,
    bounds: &[PyValue],
) -> PyResult<Option<(usize, usize)>> {
    let count = count as i128;
    let bound = |i: usize, default: i128| match bounds.get(i) {
        None | Some(PyValue::None) => Ok(default),
        Some(bound) => {
            let bound = bound.index(&format!("a bound of {name}()"))?;
            Ok(if bound < 0 {
                bound.saturating_add(count).max(0)
            } else {
                bound
            })
        }
    };
    let (start, end) = (bound(0, 0)?, bound(1, count)?.min(count));
    Ok((start <= end).then_some((start as usize, end as usize)))
}

/// Replaces tabs by spaces up to the next multiple of a size, counted from the start of each line.
pub(super) fn without_tabs(text: &str, size: usize) -> PyResult<String> {
    let (mut expanded, mut column) = (String::new(), 0);
    for c in text.chars() {
        match c {
            '\t' => {
                let missing = size.saturating_sub(column % size.max(1));
                super::text::check_length(expanded.len() + missing)?;
                expanded.extend(std::iter::repeat_n(' ', missing));
                column += missing;
            }
            c => {
                column = if matches!(c, '\n' | '\r') {
                    0
                } else {
                    column + 1
                };
                expanded.push(c);
            }
        }
    }
    Ok(expanded)
}
