//! Documents from a grammar: elements where the format permits them, with attributes that mostly
//! have the right kind of value. Most inputs are thus read far beyond the syntax of XML.

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use std::fmt::Write;
use std::sync::Once;

/// Element of a format.
pub struct Element {
    pub tag: &'static str,
    /// Attributes with the kinds of their values, separated by spaces: `name` for a name of an
    /// element, `number`, `count`, `flag`, `file`, a number of numbers, or words between `|`. Those
    /// that begin with `+` are mostly there.
    pub attributes: &'static str,
    /// Tags of the elements in it, separated by spaces. Those that begin with `+` are mostly there,
    /// in this order.
    pub children: &'static str,
    /// Kind of the text in it; empty for none.
    pub text: &'static str,
}

impl Element {
    /// Creates an element that holds other elements, or nothing.
    pub const fn new(tag: &'static str, attributes: &'static str, children: &'static str) -> Self {
        Self {
            tag,
            attributes,
            children,
            text: "",
        }
    }

    /// Creates an element that holds text.
    #[allow(dead_code, reason = "only some formats have such elements")]
    pub const fn with_text(
        tag: &'static str,
        attributes: &'static str,
        text: &'static str,
    ) -> Self {
        Self {
            tag,
            attributes,
            children: "",
            text,
        }
    }
}

/// Most elements of a document, and deepest nesting.
const MOST_ELEMENTS: usize = 120;
const DEEPEST: usize = 24;

const NAMES: [&str; 8] = ["a", "b", "c", "d", "a", "b", "world", ""];
const NUMBERS: [&str; 20] = [
    "0", "1", "-1", "0.5", "2", "0.1", "-0.3", "1.5", "3", "10", "1e-9", "1e9", "1e-308", "1e308",
    "-0", "nan", "inf", "-inf", "1e", "x",
];
const COUNTS: [&str; 12] = [
    "0",
    "1",
    "2",
    "3",
    "7",
    "100",
    "4096",
    "1000000",
    "2147483647",
    "4294967296",
    "-1",
    "1e99",
];
const FILES: [&str; 9] = [
    "box.obj",
    "two.xml",
    "part.xml",
    "arm.urdf",
    "ball.sdf",
    "model.xml",
    "model.sdf",
    "model.urdf",
    "missing.obj",
];

fn value(u: &mut Unstructured<'_>, kind: &str, out: &mut String) -> Result<()> {
    let numbers = |u: &mut Unstructured<'_>, count: usize, out: &mut String| -> Result<()> {
        for i in 0..count {
            // The first numbers are the ordinary ones.
            let usual = u.ratio(7, 8)?;
            let pool = if usual { &NUMBERS[..10] } else { &NUMBERS[..] };
            let space = if i > 0 { " " } else { "" };
            let _ = write!(out, "{space}{}", u.choose(pool)?);
        }
        Ok(())
    };
    match kind {
        "name" => out.push_str(u.choose(&NAMES)?),
        "count" => out.push_str(u.choose(&COUNTS)?),
        "number" => numbers(u, 1, out)?,
        "flag" => out.push_str(u.choose(&["true", "false", "auto", "1", "0"])?),
        "file" => out.push_str(u.choose(&FILES)?),
        _ => match kind.parse::<usize>() {
            Ok(count) => {
                let exact = u.ratio(15, 16)?;
                let count = if exact {
                    count
                } else {
                    u.int_in_range(0..=12)?
                };
                numbers(u, count, out)?;
            }
            Err(_) => {
                let words: Vec<&str> = kind.split('|').collect();
                out.push_str(u.choose(&words)?);
            }
        },
    }
    Ok(())
}

/// Writes an element with what is in it, and returns the number of elements that may follow.
fn write_element(
    u: &mut Unstructured<'_>,
    elements: &[Element],
    tag: &str,
    depth: usize,
    mut left: usize,
    out: &mut String,
) -> Result<usize> {
    let Some(element) = elements.iter().find(|e| e.tag == tag) else {
        let _ = write!(out, "<{tag}/>");
        return Ok(left);
    };
    let _ = write!(out, "<{}", element.tag);
    for attribute in element.attributes.split_whitespace() {
        let usual = attribute.strip_prefix('+');
        let attribute = usual.unwrap_or(attribute);
        let (name, kind) = attribute.split_once('=').unwrap_or((attribute, "name"));
        // Names are mostly there, everything else mostly is not.
        let is_there = match kind {
            _ if usual.is_some() => u.ratio(15, 16)?,
            "name" => u.ratio(3, 4)?,
            _ => u.ratio(1, 4)?,
        };
        if is_there {
            let _ = write!(out, " {name}=\"");
            value(u, kind, out)?;
            out.push('"');
        }
    }
    out.push('>');
    if !element.text.is_empty() {
        value(u, element.text, out)?;
    }
    let children = element.children.split_whitespace();
    let (usual, children): (Vec<&str>, Vec<&str>) = children.partition(|tag| tag.starts_with('+'));
    for tag in usual {
        if left > 0 && depth < DEEPEST && u.ratio(15, 16)? {
            let child = tag.trim_start_matches('+');
            left = write_element(u, elements, child, depth + 1, left - 1, out)?;
        }
    }
    if !children.is_empty() && depth < DEEPEST {
        let count = u.int_in_range(0..=6)?;
        for _ in 0..count {
            if left == 0 {
                break;
            }
            let child = u.choose(&children)?;
            left = write_element(u, elements, child, depth + 1, left - 1, out)?;
        }
    }
    let _ = write!(out, "</{}>", element.tag);
    Ok(left)
}

/// Checks that a grammar defines all elements that it names, each once.
fn check(elements: &[Element]) {
    for (i, element) in elements.iter().enumerate() {
        let tag = element.tag;
        let is_first = elements[..i].iter().all(|e| e.tag != tag);
        assert!(is_first, "<{tag}> is defined twice");
        for child in element.children.split_whitespace() {
            let child = child.trim_start_matches('+');
            let is_defined = elements.iter().any(|e| e.tag == child);
            assert!(is_defined, "<{child}> in <{tag}> is not defined");
        }
    }
}

/// Returns the document that arbitrary bytes stand for; the first element is its root.
pub fn document(bytes: &[u8], elements: &[Element]) -> String {
    static CHECKED: Once = Once::new();
    CHECKED.call_once(|| check(elements));
    let mut text = String::new();
    // Bytes that run out are zeros to the choices, so that the document still ends.
    let _ = write_element(
        &mut Unstructured::new(bytes),
        elements,
        elements[0].tag,
        0,
        MOST_ELEMENTS,
        &mut text,
    );
    text
}
