//! Warnings about elements and attributes that URDF does not have, and about those that ask for
//! dynamics that the plant does not have.

use super::builder::UrdfBuilder;
use crate::reading::vocabulary::{FormatVocabulary, reason};
use std::sync::OnceLock;
use tarragon_documents::names::FormatName;
use tarragon_documents::xml::XmlNode;

/// Elements of other programs with a meaning for dynamics: parents, names, and what the plant does
/// instead.
const FOREIGN_ELEMENTS: [(&str, &str, &str); 2] = [
    (
        "link",
        "contact",
        "the contact properties of PyBullet are not read; use <drake:proximity_properties> in \
         <collision>",
    ),
    ("robot", "sensor", "sensors are not part of models"),
];
/// Attributes of other programs with a meaning for dynamics: elements, names, and what the plant
/// does instead.
const FOREIGN_ATTRIBUTES: [(&str, &str, &str); 3] = [
    (
        "dynamics",
        "spring_stiffness",
        "joints of URDF have no springs",
    ),
    (
        "dynamics",
        "spring_reference",
        "joints of URDF have no springs",
    ),
    (
        "dynamics",
        "rotor_inertia",
        "use <drake:rotor_inertia> in the actuator of a <transmission>",
    ),
];
/// Children of `<gazebo>` without a meaning for dynamics.
const APPEARANCE: [&str; 7] = [
    "material",
    "visual",
    "sensor",
    "disableFixedJointLumping",
    "preserveFixedJoint",
    "provideFeedback",
    "laserRetro",
];

impl UrdfBuilder<'_, '_> {
    /// Warns about everything in a robot that is not URDF, once per name.
    pub(super) fn check_vocabulary(&self, root: XmlNode<'_>) {
        static VOCABULARY: OnceLock<FormatVocabulary> = OnceLock::new();
        let table = include_str!("vocabulary.txt");
        let vocabulary = VOCABULARY.get_or_init(|| FormatVocabulary::read(table));
        let reader = self.reader;
        let known = vocabulary.element("", reader.tag(root));
        let mut waiting: Vec<_> = known.into_iter().map(|known| (known, root)).collect();
        while let Some((known, node)) = waiting.pop() {
            let tag = reader.tag(node);
            // Prefixed attributes are foreign to URDF.
            let own = node.attributes().filter(|a| !a.has_prefix());
            for name in own
                .map(|a| a.name())
                .filter(|name| !known.has_attribute(name))
            {
                let found = FOREIGN_ATTRIBUTES
                    .iter()
                    .find(|(t, n, _)| (*t, *n) == (tag, name));
                let ignored = format!("attribute '{name}' of <{tag}> is ignored");
                if let Some((.., why)) = found {
                    reader.warning_grouped(node, format!("{ignored}: {why}"));
                    continue;
                }
                let meant = known.meant_by_attribute(name);
                self.unknown(node, FormatName::Attribute(name), meant, &ignored);
            }
            let first = waiting.len();
            for child in reader.elements(node) {
                let name = reader.tag(child);
                if let Some(described) = vocabulary.child(known, name) {
                    waiting.push((described, child));
                    continue;
                }
                if known.has_child(name) {
                    continue;
                }
                let found = FOREIGN_ELEMENTS
                    .iter()
                    .find(|(t, n, _)| (*t, *n) == (tag, name));
                let ignored = format!("<{name}> in <{tag}> is ignored");
                if let Some((.., why)) = found {
                    reader.warning_grouped(child, format!("{ignored}: {why}"));
                    continue;
                }
                let meant = known.meant_by_child(name);
                self.unknown(child, FormatName::Element(name), meant, &ignored);
            }
            waiting[first..].reverse();
        }
        for gazebo in reader.children(root, "gazebo") {
            let children = reader
                .elements(gazebo)
                .map(|child| (child, reader.tag(child)));
            for (child, name) in children.filter(|(_, name)| !APPEARANCE.contains(name)) {
                let why = "extensions of Gazebo are not read";
                reader.warning_grouped(child, format!("<{name}> in <gazebo> is ignored: {why}"));
            }
        }
    }

    /// Warns about a name that URDF does not have; `ignored` says where it stands.
    fn unknown(
        &self,
        node: XmlNode<'_>,
        written: FormatName<'_>,
        meant: Option<FormatName<'_>>,
        ignored: &str,
    ) {
        let why = match written {
            FormatName::Element(_) => "URDF has no such element",
            FormatName::Attribute(_) => "URDF has no such attribute",
        };
        let message = format!("{ignored}: {}", reason(why, meant));
        match meant {
            Some(meant) => self
                .reader
                .warning_of_misspelling(node, written, meant, message),
            None => self.reader.warning_grouped(node, message),
        }
    }

    /// Warns about parts of a transmission that do not act.
    pub(super) fn check_transmission(&self, transmission: XmlNode<'_>) {
        let reader = self.reader;
        for tag in ["joint", "actuator"] {
            if let Some(second) = reader.children(transmission, tag).nth(1) {
                let message = format!(
                    "<{tag}> in <transmission> is ignored: only the first one becomes an actuator"
                );
                reader.warning_grouped(second, message);
            }
        }
        let inside = reader.elements(transmission);
        let inside = inside.filter(|n| matches!(reader.tag(*n), "joint" | "actuator"));
        for around in std::iter::once(transmission).chain(inside) {
            for node in reader.elements(around) {
                let tag = reader.tag(node);
                let text = node.text().unwrap_or_default().trim();
                let one = text.parse().is_ok_and(|x: f64| x == 1.0);
                let why = match tag {
                    "mechanicalReduction" if !one => {
                        "the input of an actuator is the effort at the joint; <drake:gear_ratio> \
                         sets the ratio of the rotor"
                    }
                    "motorTorqueConstant" if !one => {
                        "the input of an actuator is the effort at the joint"
                    }
                    _ => continue,
                };
                reader.warning_grouped(node, format!("<{tag}> is ignored: {why}"));
            }
        }
    }
}
