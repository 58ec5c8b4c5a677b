//! Warnings about attributes and children that MJCF does not have: MuJoCo refuses them, and a
//! misspelt name must not change a model silently.

use super::tree::{DiagnosticLog, ElementRef, ElementTree};
use crate::reading::mjcf_semantics::MjcfSemantics;
use crate::reading::vocabulary::{ElementVocabulary, FormatVocabulary, reason};
use std::cell::OnceCell;
use std::sync::OnceLock;
use tarragon_documents::xml::MAX_AROUND;

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

fn vocabulary() -> &'static FormatVocabulary {
    static VOCABULARY: OnceLock<FormatVocabulary> = OnceLock::new();
    let table = include_str!("vocabulary.txt");
    VOCABULARY.get_or_init(|| FormatVocabulary::read(table))
}

/// Returns true if MJCF has an element below a parent.
pub(super) fn has_element(parent: &str, name: &str) -> bool {
    vocabulary().element(parent, name).is_some()
}

/// Warns about everything in a document that is not MJCF. The document has not been expanded yet.
pub(super) fn check(tree: &ElementTree, log: &DiagnosticLog, semantics: MjcfSemantics) {
    let has_root = tree.elements.first().is_some_and(|e| e.tag == "mujoco");
    if !has_root {
        return;
    }
    let check = VocabularyCheck {
        root: ElementRef::root(tree, log),
        tree,
        parents: OnceCell::new(),
    };
    if let Some(known) = vocabulary().element("", "mujoco") {
        check.element(check.root, known);
    }
    for parent in (0..tree.elements.len()).map(|index| check.root.at(index)) {
        // Drake's reading leaves tendons out as a whole.
        let is_read = |n: &ElementRef<'_>| {
            semantics != MjcfSemantics::Drake || ![parent.tag(), n.tag()].contains(&"tendon")
        };
        for node in parent.children().filter(is_read) {
            if let Some(known) = vocabulary().element(parent.tag(), node.tag()) {
                check.element(node, known);
            }
        }
    }
}

/// Check of one document.
struct VocabularyCheck<'a> {
    root: ElementRef<'a>,
    tree: &'a ElementTree,
    /// Index of the parent of each element; made for the first misspelling.
    parents: OnceCell<Vec<Option<usize>>>,
}

impl VocabularyCheck<'_> {
    /// Returns the places of an element and of those around it.
    fn around(&self, node: ElementRef<'_>) -> Vec<(u32, u32)> {
        let elements = &self.tree.elements;
        let parents = self.parents.get_or_init(|| {
            let mut parents = vec![None; elements.len()];
            for (parent, element) in elements.iter().enumerate() {
                element
                    .children
                    .iter()
                    .for_each(|child| parents[*child] = Some(parent));
            }
            parents
        });
        let path = std::iter::successors(Some(node.index()), |index| parents[*index]);
        let places = path.take(MAX_AROUND).map(|index| elements[index].place);
        places.map(|place| (place.line, place.column)).collect()
    }

    /// Warns about the attributes and children of an element that MJCF does not have, and suggests
    /// the names that are probably meant.
    fn element(&self, node: ElementRef<'_>, known: &ElementVocabulary) {
        for attribute in node.own().iter().filter(|a| !known.has_attribute(&a.name)) {
            let name = &attribute.name;
            let why = "MJCF has no such attribute";
            let Some(meant) = known.meant_by_attribute(name) else {
                node.ignore_attributes(&[(name, why)]);
                continue;
            };
            let why = reason(why, Some(meant));
            let message = format!("attribute '{name}' of <{}> is ignored: {why}", node.tag());
            node.misspelt_attribute(attribute, meant, self.around(node), message);
        }
        for child in node.children().filter(|c| !known.has_child(c.tag())) {
            let why = "the element is unknown";
            match (child.tag(), known.meant_by_child(child.tag())) {
                ("plugin", _) => child.ignored("plugins are not supported"),
                (_, None) => child.ignored(why),
                (tag, Some(meant)) => {
                    let message = format!("<{tag}> is ignored: {}", reason(why, Some(meant)));
                    node.misspelt_child(child, meant, self.around(node), message);
                }
            }
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
