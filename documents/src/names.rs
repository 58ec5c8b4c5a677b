//! Scoped names, and messages about unknown names, which list similar names.

use crate::{Error, Result};
use std::fmt;
use std::path::Path;

/// Maximum number of names in a message.
const LISTED: usize = 8;

/// Bounds of the search for similar names: `COMPARED` characters of each name are compared, and
/// more than `SORTED` names are not sorted. Untrusted files may hold any number of names of any
/// length.
const COMPARED: usize = 64;
const SORTED: usize = 2000;

/// Returns `scope::name`, or the name alone if the scope is empty.
pub fn scoped(scope: &str, name: &str) -> String {
    match scope {
        "" => name.into(),
        scope => format!("{scope}::{name}"),
    }
}

/// Returns a generated name, followed by underscores if others have it.
pub fn unused(mut name: String, is_taken: impl Fn(&str) -> bool) -> String {
    while is_taken(&name) {
        name.push('_');
    }
    name
}

/// Creates the error for an unknown name. It lists similar names first, then others.
pub fn unknown<'a>(kind: &str, name: &str, known: impl Iterator<Item = &'a str>) -> Error {
    Error::not_found(match similar(name, known) {
        Some(list) => format!("there is no {kind} named '{name}'; there are: {list}"),
        None => {
            // A kind may say where: "joint of model instance 'arm'".
            let (other, _) = kind.split_once(" of ").unwrap_or((kind, ""));
            format!("there is no {kind} named '{name}', and no other {other}")
        }
    })
}

/// Lists known names, those that are similar to a name first. `None` if there are no names.
pub fn similar<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    // The number of names read is bounded too: a file may have as many mistakes as names.
    let mut known: Vec<&str> = known.take(SORTED + 1).collect();
    let total = known.len();
    if total <= SORTED {
        known.sort_by_cached_key(|k| distance(name, k));
    }
    known.truncate(LISTED);
    let more = if total > LISTED { ", ..." } else { "" };
    (!known.is_empty()).then(|| format!("'{}'{more}", known.join("', '")))
}

/// Chooses the only match among `(index, scoped name)` pairs.
pub fn only_match<I: Copy>(kind: &str, name: &str, matches: &[(I, String)]) -> Result<Option<I>> {
    match matches {
        [] => Ok(None),
        [(index, _)] => Ok(Some(*index)),
        many => {
            let scoped: Vec<_> = many.iter().map(|(_, n)| &**n).collect();
            Err(Error::invalid(format!(
                "{kind} '{name}' exists in {} model instances; use a scoped name: '{}'",
                many.len(),
                scoped.join("', '")
            )))
        }
    }
}

/// Formats the suffix of a file for a message: `'.stl'`, or `none` if there is no suffix.
pub fn shown_suffix(file: &Path) -> String {
    match file.extension() {
        Some(suffix) => format!("'.{}'", suffix.display()),
        None => "none".into(),
    }
}

/// Name of an element or attribute of a file format. Displays as `<mass>` or `'type'`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormatName<'a> {
    /// An element, such as `<mass>`.
    Element(&'a str),
    /// An attribute, such as `'type'`.
    Attribute(&'a str),
}

impl<'a> FormatName<'a> {
    /// Returns the name alone.
    pub fn text(self) -> &'a str {
        let (Self::Element(text) | Self::Attribute(text)) = self;
        text
    }
}

impl fmt::Display for FormatName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Element(name) => write!(f, "<{name}>"),
            Self::Attribute(name) => write!(f, "'{name}'"),
        }
    }
}

/// Returns the known name that is nearest to a misspelt one; the first, if several are equally
/// near. `None` if no known name is near enough.
pub fn meant<'a>(
    name: &str,
    known: impl Iterator<Item = FormatName<'a>>,
) -> Option<FormatName<'a>> {
    let near = known.filter_map(|known| mistakes(name, known.text()).map(|count| (count, known)));
    near.min_by_key(|(count, _)| *count).map(|(_, known)| known)
}

/// Returns the name that a misspelt element or attribute probably stands for: the nearest name of
/// the same kind, or else a name of the other kind that differs only in case.
pub fn meant_among<'a>(
    name: &str,
    same_kind: impl Iterator<Item = FormatName<'a>>,
    mut other_kind: impl Iterator<Item = FormatName<'a>>,
) -> Option<FormatName<'a>> {
    let same_letters = |known: &FormatName<'_>| known.text().eq_ignore_ascii_case(name);
    meant(name, same_kind).or_else(|| other_kind.find(same_letters))
}

/// Returns the known name that is exactly `name`.
pub fn exact<'a>(
    name: &str,
    mut known: impl Iterator<Item = FormatName<'a>>,
) -> Option<FormatName<'a>> {
    known.find(|known| known.text() == name)
}

/// Returns the message about a reference to an element that the file does not have. It suggests the
/// nearest name or, if none is near, lists the existing names.
pub fn missing<'a>(kind: &str, name: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    let near = known.clone().take(SORTED);
    let near = near.filter_map(|known| mistakes(name, known).map(|count| (count, known)));
    let meant = near.min_by_key(|(count, _)| *count);
    match (meant, similar(name, known)) {
        (Some((_, meant)), _) => format!("there is no {kind} '{name}'; did you mean '{meant}'?"),
        (None, Some(list)) => format!("there is no {kind} '{name}'; there are: {list}"),
        (None, None) => format!("there is no {kind} '{name}', and no other {kind}"),
    }
}

/// Counts the edits that turn one name into the other. `None` if there are too many for one name to
/// be a misspelling of the other.
fn mistakes(a: &str, b: &str) -> Option<usize> {
    let [a, b] = [a, b].map(str::to_lowercase);
    let [m, n] = [&a, &b].map(|name| name.chars().count());
    if m.max(n) > COMPARED {
        return None;
    }
    // Two swapped neighbouring letters count as one mistake.
    let differ = |(a, b): &(char, char)| a != b;
    let places: Vec<usize> = (0..)
        .zip(a.chars().zip(b.chars()))
        .filter_map(|(i, pair)| differ(&pair).then_some(i))
        .collect();
    let letters = |name: &str, i: usize| [name.chars().nth(i), name.chars().nth(i + 1)];
    let are_swapped = matches!(*places, [i, j] if m == n && j == i + 1 && {
        let [first, second] = letters(&a, i);
        letters(&b, i) == [second, first]
    });
    let distance = if are_swapped {
        1
    } else {
        edit_distance(&a, &b)
    };
    // Most misspelt names keep their first letter: `<wieght>` does not stand for `<light>`.
    let is_other_word = distance > 1 && a.chars().next() != b.chars().next();
    let has_more = a.ends_with(&b);
    (3 * distance <= m.max(n) && (has_more || !is_other_word)).then_some(distance)
}

/// Computes the edit distance of the lowercased names; 0 if `b` contains `a`.
fn distance(a: &str, b: &str) -> usize {
    let short = |s: &str| s.to_lowercase().chars().take(COMPARED).collect::<String>();
    let (a, b) = (short(a), short(b));
    if !a.is_empty() && b.contains(&a) {
        0
    } else {
        edit_distance(&a, &b)
    }
}

/// Computes the edit distance (Levenshtein) of two names.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_come_first() {
        let e = unknown("body", "lnik1", ["base", "link1", "tool"].into_iter()).to_string();
        assert!(
            e.starts_with("there is no body named 'lnik1'; there are: 'link1'"),
            "{e}"
        );
    }

    #[test]
    fn edit_distance() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("arm", "left_ARM_2"), 0);
        for (a, b, near) in [
            ("mas", "mass", true),
            ("Mass", "mass", true),
            ("inertail", "inertial", true),
            ("jiont", "joint", true),
            ("axes", "axis", true),
            ("foo", "box", false),
            ("gz_frame_id", "frame_id", true),
            ("weight", "light", false),
            ("wieght", "light", false),
            ("", "a", false),
        ] {
            assert_eq!(mistakes(a, b).is_some(), near, "{a} {b}");
        }
    }

    #[test]
    fn the_nearest_of_several_near_names_is_meant() {
        use FormatName::{Attribute, Element};
        let known = || [Element("links"), Attribute("lin"), Element("link")].into_iter();
        assert_eq!(meant("lnik", known()), Some(Element("link")));
        assert_eq!(meant("LINKS", known()), Some(Element("links")));
        assert_eq!(meant("mass", known()), None);
        assert_eq!(Attribute("lin").to_string(), "'lin'");
    }
}
