//! Sets of characters, as Python writes them between the brackets of a regular expression.

use crate::expression::{PyError, PyResult};

/// A set of characters.
#[derive(Debug)]
pub(super) struct CharacterSet {
    negated: bool,
    /// Ranges in ascending order, which do not overlap.
    ranges: Vec<(char, char)>,
}

impl CharacterSet {
    /// Parses the text between the brackets.
    pub(super) fn parse(text: &str) -> PyResult<Self> {
        let (negated, members) = match text.strip_prefix('^') {
            Some(members) => (true, members),
            None => (false, text),
        };
        if members.is_empty() {
            return Err(PyError::new("separators must not be empty"));
        }
        let mut ranges = vec![];
        let mut chars = members.chars().peekable();
        let mut is_first = true;
        while let Some(c) = chars.next() {
            let first = match c {
                '\\' => {
                    let escaped = chars.next();
                    if escaped == Some('s') {
                        ranges.extend([('\t', '\r'), ('\x1c', ' ')]);
                        continue;
                    }
                    literal(escaped)?
                }
                ']' if !is_first => {
                    let message = "separators must not have a ']' in them, except in front or as \
                                   '\\]'";
                    return Err(PyError::new(message));
                }
                c => c,
            };
            is_first = false;
            let mut ahead = chars.clone();
            let last = match (ahead.next(), ahead.next()) {
                (Some('-'), Some(last)) => {
                    chars = ahead;
                    match last {
                        '\\' => literal(chars.next())?,
                        last => last,
                    }
                }
                _ => first,
            };
            if last < first {
                let message = format!("separators must not have the range '{first}-{last}'");
                return Err(PyError::new(message));
            }
            ranges.push((first, last));
        }
        ranges.sort_unstable();
        let mut merged: Vec<(char, char)> = vec![];
        for (first, last) in ranges {
            match merged.last_mut() {
                Some((_, end)) if first <= *end => *end = last.max(*end),
                _ => merged.push((first, last)),
            }
        }
        Ok(Self {
            negated,
            ranges: merged,
        })
    }

    pub(super) fn contains(&self, c: char) -> bool {
        let after = self.ranges.partition_point(|(first, _)| *first <= c);
        let range = after.checked_sub(1).and_then(|i| self.ranges.get(i));
        range.is_some_and(|(_, last)| c <= *last) != self.negated
    }
}

/// Returns the character that an escape stands for.
fn literal(escaped: Option<char>) -> PyResult<char> {
    match escaped {
        Some('n') => Ok('\n'),
        Some('t') => Ok('\t'),
        Some('r') => Ok('\r'),
        Some(c) if !c.is_alphanumeric() => Ok(c),
        other => Err(PyError::new(format!(
            "the separator '\\{}' is unsupported",
            other.map(String::from).unwrap_or_default()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_those_of_python() {
        for (set, members, others) in [
            (",; ", ",; ", "-a"),
            ("a-c", "abc", "-d"),
            ("^a", "b^", "a"),
            ("]a", "]a", "b"),
            ("a-", "a-", "b"),
            (r"\]\\\-", r"]\-", "a"),
            (r"\s", " \t\n", "s\\"),
            ("x[", "x[", "]"),
        ] {
            let parsed = CharacterSet::parse(set).unwrap();
            assert!(members.chars().all(|c| parsed.contains(c)), "{set}");
            assert!(!others.chars().any(|c| parsed.contains(c)), "{set}");
        }
        for bad in ["", "^", "a]", "c-a", r"\w", "\\"] {
            assert!(CharacterSet::parse(bad).is_err(), "{bad}");
        }
    }
}
