//! Files that Drake reads in full.

use super::tree::{ElementRef, ElementTree};
use crate::parsing::mjcf_semantics::MjcfSemantics;

/// Elements that determine bodies, which Drake leaves out.
const ELEMENTS: [&str; 7] = [
    "attach",
    "composite",
    "flex",
    "flexcomp",
    "frame",
    "hfield",
    "replicate",
];

/// Attributes that determine masses or shapes, which Drake leaves out, by their elements, with the
/// values that ask for nothing.
const ATTRIBUTES: [(&str, &str, &[&str]); 12] = [
    ("compiler", "balanceinertia", &["false"]),
    ("compiler", "boundinertia", &["0"]),
    ("compiler", "boundmass", &["0"]),
    ("compiler", "fitaabb", &["false"]),
    ("compiler", "inertiagrouprange", &["0 5"]),
    ("compiler", "settotalmass", &["-1"]),
    ("geom", "shellinertia", &["false"]),
    ("mesh", "builtin", &["none"]),
    ("mesh", "inertia", &["legacy"]),
    ("mesh", "refpos", &["0 0 0"]),
    ("mesh", "refquat", &["1 0 0 0"]),
    ("mesh", "vertex", &[]),
];

impl MjcfSemantics {
    /// Returns the reading of a file, which is not `Auto`.
    pub(super) fn of_file(self, tree: &ElementTree, root: ElementRef<'_>, is_named: bool) -> Self {
        match self {
            Self::Auto if !is_named && root.own_text("model").is_none() => Self::MuJoCo,
            Self::Auto if is_read_by_drake(tree) => Self::Drake,
            Self::Auto => Self::MuJoCo,
            _ => self,
        }
    }
}

/// Returns true if Drake reads everything that determines bodies.
fn is_read_by_drake(tree: &ElementTree) -> bool {
    tree.elements.iter().all(|element| {
        let mut attributes = element.attributes.iter();
        // Drake refuses bodies without a mass.
        let is_massless = element.tag == "inertial"
            && attributes.clone().any(|attribute| {
                attribute.name == "mass" && attribute.value.trim().parse() == Ok(0.0)
            });
        !is_massless
            && !ELEMENTS.contains(&&*element.tag)
            && attributes.all(|attribute| {
                let known = ATTRIBUTES
                    .iter()
                    .find(|(tag, name, _)| *tag == element.tag && *name == attribute.name);
                known.is_none_or(|(_, _, nothing)| nothing.contains(&attribute.value.trim()))
            })
    })
}
