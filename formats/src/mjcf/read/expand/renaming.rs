//! Attributes that hold names, and their changes in copies.

use crate::mjcf::read::tree::{Attribute, MjcfElement};
use std::collections::BTreeSet;

/// Sections whose elements refer to bodies, joints, geoms and sites.
pub(super) const REFERRING: [&str; 5] = ["actuator", "contact", "equality", "sensor", "tendon"];
/// Attributes that name a body, joint, geom, site, tendon, actuator or camera.
const REFERENCES: [&str; 26] = [
    "actuator",
    "actuator1",
    "body",
    "body1",
    "body2",
    "cranksite",
    "flex",
    "geom",
    "geom1",
    "geom2",
    "joint",
    "joint1",
    "joint2",
    "jointinparent",
    "objname",
    "refname",
    "refsite",
    "sidesite",
    "site",
    "site1",
    "site2",
    "slidersite",
    "target",
    "tendon",
    "tendon1",
    "tendon2",
];
/// Attributes that name assets, classes and instances of plugins.
const SHARED: [&str; 8] = [
    "class",
    "childclass",
    "hfield",
    "instance",
    "material",
    "mesh",
    "skin",
    "texture",
];

/// Returns true if an attribute names a body, joint, geom, site, tendon, actuator or camera.
pub(super) fn is_reference(attribute: &Attribute) -> bool {
    REFERENCES.contains(&&*attribute.name)
}

/// Adds a prefix to an attribute that holds a name.
pub(super) fn prefix(attribute: &mut Attribute, prefix: &str) {
    let is_name = attribute.name == "name" || SHARED.contains(&&*attribute.name);
    if (is_name || is_reference(attribute)) && !attribute.value.trim().is_empty() {
        attribute.value = format!("{prefix}{}", attribute.value.trim());
    }
}

/// Names of the content of a `<replicate>`, and what its copies append to them.
pub(super) struct Renaming {
    names: BTreeSet<String>,
    pub(super) suffixes: Vec<String>,
}

impl Renaming {
    pub(super) fn of_copies(names: BTreeSet<String>) -> Self {
        Self {
            names,
            suffixes: vec![],
        }
    }

    /// Appends a suffix to an attribute that holds one of the names.
    pub(super) fn renamed_in_place(&self, attribute: &mut Attribute, suffix: &str) {
        let is_name = attribute.name == "name" || is_reference(attribute);
        if is_name && self.names.contains(attribute.value.trim()) {
            attribute.value = format!("{}{suffix}", attribute.value.trim());
        }
    }

    /// Returns true if any of the elements refers to one of the names.
    pub(super) fn concerns(&self, elements: &[MjcfElement], below: &[usize]) -> bool {
        below.iter().any(|element| {
            let attributes = elements[*element].attributes.iter();
            attributes
                .filter(|a| is_reference(a))
                .any(|a| self.names.contains(a.value.trim()))
        })
    }
}
