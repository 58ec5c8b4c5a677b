//! Changes from SDFormat 1.0, which keeps most values in attributes
//! (<https://github.com/gazebosim/sdformat/blob/sdf15/sdf/1.2/1_0.convert>).

use super::element::Element;
use super::schema::{ElementRule, root_rule};

/// Attributes that hold the value of their element.
const VALUES: [&str; 5] = ["angle", "enabled", "link", "rgba", "xyz"];

/// Moves values from attributes into elements and texts.
pub(super) fn move_attributes(root: &mut Element) {
    if let Some(rule) = root_rule(root) {
        move_in(root, rule);
    }
}

fn move_in(element: &mut Element, rule: &ElementRule) {
    if element.tag == "mesh"
        && let Some((name, _)) = element.attributes.iter_mut().find(|(n, _)| n == "filename")
    {
        *name = "uri".into();
    }
    let (kept, moved) = std::mem::take(&mut element.attributes)
        .into_iter()
        .partition(|(name, _)| rule.has_attribute(name) || rule.child(name).is_none());
    element.attributes = kept;
    let moved: Vec<(String, String)> = moved;
    for (name, value) in moved {
        let child = Element::new(&name, element.place.clone()).with_text(value.trim());
        element.children.push(child);
    }
    if rule.has_text() && element.text.is_empty() {
        let is_value = |(name, _): &(String, String)| {
            VALUES.contains(&name.as_str()) && !rule.has_attribute(name)
        };
        if let Some(at) = element.attributes.iter().position(is_value) {
            let (_, value) = element.attributes.remove(at);
            element.text = value.trim().into();
        }
    }
    for child in &mut element.children {
        if child.tag == "origin"
            && rule.child("pose").is_some()
            && let Some(at) = child.attributes.iter().position(|(n, _)| n == "pose")
        {
            child.tag = "pose".into();
            child.text = child.attributes.remove(at).1.trim().into();
        }
        if let Some(rule) = rule.child(&child.tag) {
            move_in(child, rule);
        }
    }
}
