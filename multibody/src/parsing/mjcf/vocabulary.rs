//! Warnings about attributes and children that MJCF does not have: MuJoCo refuses them, and a
//! misspelt name must not change a model silently.

use super::tree::{ElementRef, ElementTree};
use crate::parsing::mjcf_semantics::MjcfSemantics;
use crate::parsing::vocabulary::{ElementVocabulary, FormatVocabulary, reason};
use std::sync::OnceLock;

/// Flags of `<option>` that change the dynamics, their defaults, and what the plant does.
const FLAGS: [(&str, &str, &str); 13] = [
    ("constraint", "enable", "all constraints act"),
    ("equality", "enable", "equality constraints act"),
    ("frictionloss", "enable", "joints have no dry friction"),
    ("limit", "enable", "joint limits act"),
    ("contact", "enable", "contacts act"),
    ("passive", "enable", "damping acts"),
    ("spring", "enable", "joints have no springs"),
    ("damper", "enable", "damping acts"),
    ("gravity", "enable", "gravity acts"),
    ("clampctrl", "enable", "efforts are limited"),
    (
        "filterparent",
        "enable",
        "bodies connected by a joint are not tested against each other",
    ),
    ("actuation", "enable", "actuators act"),
    (
        "override",
        "disable",
        "contact properties are those of the two geoms",
    ),
];

/// Warns about everything in a document that is not MJCF, except in sections that are left out.
pub(super) fn check(tree: &ElementTree, root: ElementRef<'_>, semantics: MjcfSemantics) {
    static VOCABULARY: OnceLock<FormatVocabulary> = OnceLock::new();
    let table = include_str!("vocabulary.txt");
    let vocabulary = VOCABULARY.get_or_init(|| FormatVocabulary::read(table));
    if let Some(known) = vocabulary.element("", root.tag()) {
        check_element(root, known);
    }
    for parent in (0..tree.elements.len()).map(|index| root.at(index)) {
        // Drake's reading leaves tendons out as a whole.
        let is_read = |n: &ElementRef<'_>| {
            semantics != MjcfSemantics::Drake || ![parent.tag(), n.tag()].contains(&"tendon")
        };
        for node in parent.children().filter(is_read) {
            if let Some(known) = vocabulary.element(parent.tag(), node.tag()) {
                check_element(node, known);
            }
        }
    }
}

/// Warns about the attributes and children of an element that MJCF does not have, and suggests the
/// names that are probably meant.
fn check_element(node: ElementRef<'_>, known: &ElementVocabulary) {
    for attribute in node.own().iter().filter(|a| !known.has_attribute(&a.name)) {
        let meant = known.meant_by_attribute(&attribute.name);
        let why = reason("MJCF has no such attribute", meant);
        node.ignore_attributes(&[(&attribute.name, &why)]);
    }
    for child in node.children().filter(|c| !known.has_child(c.tag())) {
        match (child.tag(), known.meant_by_child(child.tag())) {
            ("plugin", _) => child.ignored("plugins are not supported"),
            (_, None) => child.ignored("the element is unknown"),
            (_, meant) => child.misspelt(&reason("the element is unknown", meant)),
        }
    }
}

/// Warns where a file is read as by Drake about flags of `<option>` that ask for other dynamics
/// than those of the plant.
pub(super) fn check_flags(node: ElementRef<'_>) {
    for (name, usual, instead) in FLAGS {
        if node.text(name).is_some_and(|value| value.trim() != usual) {
            node.lost().ignore_attributes(&[(name, instead)]);
        }
    }
}
