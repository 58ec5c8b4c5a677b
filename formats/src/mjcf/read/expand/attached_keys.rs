//! Keyframes of attached models.
//!
//! MuJoCo keeps them under the prefix of the attached model. The rest of the model has its default
//! positions, and no velocities and controls.

use super::expander::{Expander, attribute};
use crate::mjcf::read::actuator_force::num_activations;
use crate::mjcf::read::attached_key::AttachedKey;
use crate::mjcf::read::defaults::DefaultClasses;
use crate::mjcf::read::joints::is_free;
use crate::mjcf::read::key_values::{BALL, FREE, KeyLayout, SINGLE};
use crate::mjcf::read::tree::{DiagnosticLog, ElementRef, ElementTree};
use crate::reading::mjcf_semantics::MjcfSemantics;
use tarragon_documents::xml::Parsed;

/// Joints and actuators of a model, by the indices of their elements in the order of MuJoCo.
#[derive(Default)]
struct KeyedElements {
    layout: KeyLayout,
    joints: Vec<usize>,
    actuators: Vec<usize>,
}

impl Expander<'_> {
    /// Reads the keyframes of a model that is attached, and numbers the joints and actuators that
    /// they refer to.
    pub(super) fn read_keys(&mut self, source: &mut ElementTree, prefix: &str) {
        let root = ElementRef::root(source, &self.log);
        let sections = root.children_named("keyframe");
        let keys = sections.flat_map(|section| section.children_named("key"));
        let own: Vec<usize> = keys.map(|key| key.index()).collect();
        let own: Vec<usize> = own
            .into_iter()
            .filter(|key| !source.attached_keys.contains_key(key))
            .collect();
        if own.is_empty() {
            return;
        }
        // Adding the elements reports mistakes in classes.
        let mut log = DiagnosticLog::default();
        log.files.clone_from(&self.log.files);
        let keyed = KeyedElements::of(ElementRef::root(source, &log));
        let mut number = |index: &usize| {
            let element = &mut source.elements[*index];
            let number = *element.key_number.get_or_insert(self.key_numbers);
            self.key_numbers = self.key_numbers.max(number + 1);
            number
        };
        let joints: Vec<usize> = keyed.joints.iter().map(&mut number).collect();
        let actuators: Vec<usize> = keyed.actuators.iter().map(&mut number).collect();
        for key in own {
            let node = ElementRef::root(source, &self.log).at(key);
            let name = format!("{prefix}{}", node.name().unwrap_or_default());
            // Left out with a diagnostic.
            let Ok(values) = keyed.layout.read(node, &name) else {
                let section = source.elements[0].children.clone().into_iter();
                for section in section {
                    source.elements[section]
                        .children
                        .retain(|child| *child != key);
                }
                continue;
            };
            let attached = AttachedKey {
                joints: joints.clone(),
                actuators: actuators.clone(),
                values,
            };
            let element = &mut source.elements[key];
            element.attributes.retain(|a| a.name != "name");
            if !name.is_empty() {
                let name = attribute("name", name, element.place);
                element.attributes.push(name);
            }
            source.attached_keys.insert(key, attached);
        }
    }

    /// Adds the keyframes that [`Self::read_keys`] has read.
    pub(super) fn attach_keys(&mut self, source: &ElementTree, section: usize) -> Parsed<()> {
        let copy = self.copy_from(&source.elements, section, &|_| {})?;
        let copies = self.tree.elements[copy].children.clone();
        for (original, copy) in source.elements[section].children.iter().zip(copies) {
            if let Some(key) = source.attached_keys.get(original) {
                self.tree.attached_keys.insert(copy, key.clone());
            }
        }
        self.tree.elements[0].children.push(copy);
        Ok(())
    }
}

impl KeyedElements {
    /// Lists the joints and actuators of an expanded model.
    fn of(root: ElementRef<'_>) -> Self {
        let defaults = DefaultClasses::read(root, MjcfSemantics::MuJoCo);
        let mut found = Self::default();
        let mut waiting: Vec<(ElementRef<'_>, Option<&str>)> = root
            .children_named("worldbody")
            .map(|world| (world, None))
            .collect();
        waiting.reverse();
        while let Some((body, around)) = waiting.pop() {
            let framed = body.frame().and_then(|frame| frame.class.as_deref());
            let class = body.own_text("childclass").or(framed).or(around);
            found.add_joints(body, class, &defaults);
            let bodies = body.children_named("body").map(|child| (child, class));
            let bodies: Vec<_> = bodies.collect();
            waiting.extend(bodies.into_iter().rev());
        }
        for section in root.children_named("actuator") {
            for node in section.children() {
                found.actuators.push(node.index());
                let activations = num_activations(defaults.apply(node, None));
                found.layout.activations.push(activations);
            }
        }
        found
    }

    fn add_joints(&mut self, body: ElementRef<'_>, class: Option<&str>, defaults: &DefaultClasses) {
        let joints = body
            .children()
            .filter(|c| matches!(c.tag(), "joint" | "freejoint"));
        for node in joints.map(|node| defaults.apply(node, class)) {
            let kind = node.text("type").map(str::trim);
            self.layout.joints.push(match kind {
                _ if is_free(node) => FREE,
                Some("ball") => BALL,
                _ => SINGLE,
            });
            self.joints.push(node.index());
        }
    }
}
