//! Attribute values that MuJoCo refuses: too many or too few numbers, fractions in place of
//! integers, unknown keywords.

use super::tree::{Attribute, DiagnosticLog, ElementRef, ElementTree};
use foldhash::fast::FixedState;
use std::collections::HashMap;
use std::sync::OnceLock;
use tarragon_documents::ParsedNumbers;
use tarragon_documents::xml::{Parsed, Reported};

/// Valid values of `condim`, the dimension of a contact.
const CONDIM: [&str; 4] = ["1", "3", "4", "6"];
/// Elements whose children use the same attribute names for other kinds of values.
const WITH_OTHER_CHILDREN: [&str; 2] = ["composite", "flexcomp"];

/// Kind of the value of an attribute.
#[derive(Clone, Copy)]
enum ValueKind {
    /// Numbers: whether they must be integers, their minimum count and their maximum count.
    Numbers(bool, usize, usize),
    /// One of the words in a list separated by `|`.
    Word(&'static str),
}

/// Kinds of values by element name (`*` for any) and attribute name.
struct ValueKinds(HashMap<(&'static str, &'static str), ValueKind, FixedState>);

impl ValueKinds {
    fn read(table: &'static str) -> Self {
        let mut kinds = HashMap::default();
        for line in table.lines().filter(|l| !l.starts_with('#')) {
            let mut words = line.split_whitespace();
            let (Some(elements), Some(kind), Some(range)) =
                (words.next(), words.next(), words.next())
            else {
                continue;
            };
            let (least, most) = range.split_once("..").unwrap_or_default();
            let kind = match kind {
                "word" => ValueKind::Word(range),
                _ => ValueKind::Numbers(
                    kind == "integer",
                    least.parse().unwrap_or(0),
                    most.parse().unwrap_or(usize::MAX),
                ),
            };
            for attribute in words {
                let all = elements.split('|').map(|element| (element, attribute));
                kinds.extend(all.map(|key| (key, kind)));
            }
        }
        Self(kinds)
    }

    fn of<'a>(&'a self, element: &'a str, attribute: &'a str) -> Option<ValueKind> {
        let kind = self.0.get(&(element, attribute));
        kind.or_else(|| self.0.get(&("*", attribute))).copied()
    }
}

/// Reports the values of a document that MuJoCo refuses.
///
/// # Errors
/// Returns [`Reported`] if any value is refused.
pub(super) fn check(tree: &ElementTree, log: &DiagnosticLog) -> Parsed<()> {
    static KINDS: OnceLock<ValueKinds> = OnceLock::new();
    let kinds = KINDS.get_or_init(|| ValueKinds::read(include_str!("values.txt")));
    if tree.elements.is_empty() {
        return Ok(());
    }
    let root = ElementRef::root(tree, log);
    let mut result = Ok(());
    for parent in (0..tree.elements.len()).map(|index| root.at(index)) {
        if WITH_OTHER_CHILDREN.contains(&parent.tag()) {
            continue;
        }
        for node in parent.children() {
            let tag = node.tag();
            for attribute in node.own() {
                let kind = kinds.of(tag, &attribute.name);
                let checked = kind.map_or(Ok(()), |kind| check_value(attribute, kind));
                if let Err(what) = checked.and_then(|()| check_condim(tag, attribute)) {
                    let name = &attribute.name;
                    let message = format!("attribute '{name}' must {what}");
                    result = Err(node.error_at(name, message));
                }
            }
            warn_of_mixed_signs(node);
        }
    }
    result.map_err(|Reported| Reported)
}

/// Returns a value for a message, shortened if it is long.
fn shown(value: &str) -> String {
    const MOST: usize = 80;
    match value.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", &value[..end]),
        None => value.into(),
    }
}

/// Checks a value. The error completes the sentence "attribute 'NAME' must ...".
fn check_value(attribute: &Attribute, kind: ValueKind) -> Result<(), String> {
    let text = &attribute.value;
    match kind {
        ValueKind::Word(words) => {
            let known = words.split('|').any(|word| word == text);
            let list = || {
                let words = words.replace('|', "', '");
                format!("be one of '{words}', got '{}'", shown(text))
            };
            known.then_some(()).ok_or_else(list)
        }
        ValueKind::Numbers(integer, least, most) => {
            let count = if integer {
                let words = text.split_whitespace().map(str::parse::<i32>);
                let numbers: Result<Vec<i32>, _> = words.collect();
                let what = if most == 1 {
                    "be an integer"
                } else {
                    "hold integers"
                };
                let numbers = numbers.map_err(|_| format!("{what}, got '{}'", shown(text)));
                numbers?.len()
            } else {
                match ParsedNumbers::of_words(text) {
                    Ok(numbers) if numbers.ignored.is_empty() => numbers.numbers.len(),
                    // The reader of the attribute reports anything else.
                    _ => return Ok(()),
                }
            };
            // MuJoCo uses the default if there are no numbers.
            let is_default = count == 0 && !integer;
            if is_default || (least..=most).contains(&count) {
                return Ok(());
            }
            let range = match least == most {
                true => format!("{least}"),
                false if most == usize::MAX => format!("at least {least}"),
                false if count < least => format!("at least {least}"),
                false => format!("at most {most}"),
            };
            let numbers = if most == 1 { "number" } else { "numbers" };
            Err(format!("have {range} {numbers}, got {count}"))
        }
    }
}

/// Checks the dimension of a contact.
fn check_condim(tag: &str, attribute: &Attribute) -> Result<(), String> {
    let is_it = attribute.name == "condim" && matches!(tag, "geom" | "pair");
    if is_it && !CONDIM.contains(&attribute.value.trim().trim_start_matches('+')) {
        Err(format!(
            "be one of {}, got '{}'",
            CONDIM.join(", "),
            shown(&attribute.value)
        ))
    } else {
        Ok(())
    }
}

/// Warns about a `solref` that mixes positive numbers (time constant, damping ratio) and negative
/// ones (stiffness, damping). MuJoCo's solver replaces it with the default.
fn warn_of_mixed_signs(node: ElementRef<'_>) {
    for attribute in node.own().iter().filter(|a| is_solref(&a.name)) {
        let Ok(numbers) = ParsedNumbers::of_words(&attribute.value) else {
            continue;
        };
        if let [first, second] = *numbers.numbers
            && (first > 0.0) != (second > 0.0)
        {
            let (name, value) = (&attribute.name, &attribute.value);
            let message = format!(
                "attribute '{name}' must have two positive numbers (time constant and damping \
                 ratio) or two negative ones (-stiffness and -damping), got '{value}'; MuJoCo uses \
                 '0.02 1' instead"
            );
            node.warning_at(name, message);
        }
    }
}

fn is_solref(name: &str) -> bool {
    matches!(
        name,
        "solref" | "solreflimit" | "solreffriction" | "o_solref"
    )
}
