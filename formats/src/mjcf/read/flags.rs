//! `<option><flag>`: parts of the physics that a file switches off, and contact properties that
//! `override` replaces.
//!
//! Source: "XML Reference" of MuJoCo's documentation, `option/flag`. A part that is off becomes
//! attributes of the elements that it is about: without `limit`, all joints have
//! `limited="false"`.

use super::defaults::ACTUATORS;
use super::tree::{Attribute, DiagnosticLog, ElementRef, ElementTree, FilePosition};
use std::collections::BTreeMap;

const JOINTS_AND_TENDONS: [&str; 3] = ["fixed", "joint", "spatial"];
/// Attributes of elements where a flag is off: flag, elements, attribute, value.
const OFF: [(&str, &[&str], &str, &str); 9] = [
    ("actuation", &ACTUATORS, "gear", "0"),
    ("clampctrl", &ACTUATORS, "ctrllimited", "false"),
    ("damper", &JOINTS_AND_TENDONS, "damping", "0"),
    ("damper", &["joint"], "springdamper", "0 0"),
    ("frictionloss", &JOINTS_AND_TENDONS, "frictionloss", "0"),
    ("gravity", &["option"], "gravity", "0 0 0"),
    ("limit", &JOINTS_AND_TENDONS, "limited", "false"),
    ("spring", &JOINTS_AND_TENDONS, "stiffness", "0"),
    ("spring", &["joint"], "springdamper", "0 0"),
];
/// Flags that switch several others off.
const GROUPS: [(&str, &[&str]); 2] = [
    (
        "constraint",
        &["contact", "equality", "frictionloss", "limit"],
    ),
    // Of MuJoCo before 3.3.
    ("passive", &["damper", "spring"]),
];
/// Attributes of `<option>` with contact properties for `override`.
const OVERRIDES: [(&str, &str); 4] = [
    ("o_friction", "friction"),
    ("o_margin", "margin"),
    ("o_solimp", "solimp"),
    ("o_solref", "solref"),
];

/// Parts of the physics that no attribute of an element switches off.
#[derive(Clone, Copy, Debug)]
pub(super) struct PhysicsFlags {
    /// Whether geoms collide.
    pub(super) contact: bool,
    /// Whether bodies never collide with their parents.
    pub(super) filter_parent: bool,
}

impl Default for PhysicsFlags {
    fn default() -> Self {
        Self {
            contact: true,
            filter_parent: true,
        }
    }
}

impl PhysicsFlags {
    /// Reads the flags of a document, and changes the elements that they are about.
    pub(super) fn apply(tree: &mut ElementTree, log: &DiagnosticLog) -> Self {
        let mut off: BTreeMap<String, FilePosition> = BTreeMap::new();
        let mut is_overridden = false;
        let mut replaced: Vec<(&str, Attribute)> = vec![];
        for option in ElementRef::root(tree, log).children_named("option") {
            for flags in option.children_named("flag") {
                for attribute in flags.own() {
                    let name = &*attribute.name;
                    match (name, attribute.value.trim()) {
                        ("override", "enable") => is_overridden = true,
                        ("override", "disable") => is_overridden = false,
                        ("refsafe", "disable") => flags.ignore_attributes(&[(
                            name,
                            "time constants of contact are at least two time steps",
                        )]),
                        ("multiccd", "enable") => flags.ignore_attributes(&[(
                            name,
                            "the plant's contact model decides how many points a contact has",
                        )]),
                        (_, "enable") => {
                            for name in with_members(name) {
                                off.remove(name);
                            }
                        }
                        (_, "disable") => {
                            off.extend(with_members(name).map(|n| (n.to_owned(), attribute.place)))
                        }
                        (_, other) => flags.warning_at(
                            name,
                            format!(
                                "flag '{name}' must be 'enable' or 'disable', got '{other}'; it is \
                                 ignored"
                            ),
                        ),
                    }
                }
            }
            for attribute in option.own() {
                let known = OVERRIDES.iter().find(|(name, _)| *name == attribute.name);
                replaced.extend(known.map(|(_, name)| (*name, attribute.clone())));
            }
        }
        for (flag, tags, name, value) in OFF {
            if let Some(place) = off.get(flag) {
                set(tree, tags, name, value, *place);
            }
        }
        for (name, with) in replaced.iter().filter(|_| is_overridden) {
            set(tree, &["geom", "pair"], name, &with.value, with.place);
        }
        if off.contains_key("equality") {
            clear(tree, "equality");
        }
        if off.contains_key("contact") {
            clear(tree, "contact");
        }
        Self {
            contact: !off.contains_key("contact"),
            filter_parent: !off.contains_key("filterparent"),
        }
    }
}

/// Returns a flag and those that it switches.
fn with_members(flag: &str) -> impl Iterator<Item = &str> {
    let group = GROUPS.iter().find(|(name, _)| *name == flag);
    let members = group.map_or(&[][..], |(_, members)| members);
    std::iter::once(flag).chain(members.iter().copied())
}

/// Elements whose `<joint>` children refer to joints.
const REFERRING: [&str; 2] = ["equality", "fixed"];

/// Gives all elements with one of the tags an attribute in place of their own.
fn set(tree: &mut ElementTree, tags: &[&str], name: &str, value: &str, place: FilePosition) {
    let parents = tree.elements.iter();
    let parents = parents.filter(|element| !REFERRING.contains(&&*element.tag));
    let children: Vec<usize> = parents.flat_map(|e| &e.children).copied().collect();
    for child in children {
        let element = &mut tree.elements[child];
        if !tags.contains(&&*element.tag) {
            continue;
        }
        element.attributes.retain(|a| a.name != name);
        element.attributes.push(Attribute {
            name: name.into(),
            value: value.into(),
            place,
        });
    }
}

/// Removes the content of a section.
fn clear(tree: &mut ElementTree, section: &str) {
    let elements = tree.elements.iter_mut();
    for element in elements.filter(|element| element.tag == section) {
        element.children.clear();
    }
}
