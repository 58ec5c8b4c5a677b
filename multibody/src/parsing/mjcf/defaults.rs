//! Default classes.

use super::tree::{Attribute, ElementRef, overlay};
use std::collections::BTreeMap;

/// Class of elements that name none.
const MAIN: &str = "main";

/// Default attributes by class and element name.
///
/// A class extends the defaults of the enclosing class for the same element. As in Drake, a class
/// without an entry for an element provides no defaults for it (MuJoCo: those of the enclosing
/// class).
#[derive(Debug, Default)]
pub(super) struct DefaultClasses {
    classes: BTreeMap<String, BTreeMap<String, Vec<Attribute>>>,
}

impl DefaultClasses {
    pub(super) fn read(root: ElementRef<'_>) -> Self {
        let mut defaults = Self::default();
        let mut waiting: Vec<(ElementRef<'_>, Option<&str>)> =
            root.children_named("default").map(|d| (d, None)).collect();
        waiting.reverse();
        while let Some((node, around)) = waiting.pop() {
            let class = match (node.own_text("class"), around) {
                (Some(class), _) => class,
                (None, None) => MAIN,
                (None, Some(_)) => {
                    node.error("<default> inside <default> has no attribute 'class'");
                    continue;
                }
            };
            for element in node.children().filter(|c| c.tag() != "default") {
                let inherited = around
                    .and_then(|around| defaults.get(around, element.tag()))
                    .unwrap_or_default();
                let attributes = overlay(element.own(), inherited).cloned().collect();
                let entry = defaults.classes.entry(class.into()).or_default();
                entry.insert(element.tag().into(), attributes);
            }
            defaults.classes.entry(class.into()).or_default();
            let inside = node.children_named("default").map(|d| (d, Some(class)));
            let inside: Vec<_> = inside.collect();
            waiting.extend(inside.into_iter().rev());
        }
        defaults
    }

    fn get(&self, class: &str, tag: &str) -> Option<&[Attribute]> {
        let attributes = self.classes.get(class)?.get(tag)?;
        Some(attributes)
    }

    /// Returns the element with the defaults of its class: the class that it names, else the
    /// `childclass` of the bodies around it.
    pub(super) fn apply<'a>(
        &'a self,
        node: ElementRef<'a>,
        childclass: Option<&str>,
    ) -> ElementRef<'a> {
        let named = node.own().iter().find(|a| a.name == "class");
        let class = named.map(|a| &*a.value).or(childclass).unwrap_or(MAIN);
        if let Some(named) = named.filter(|_| !self.classes.contains_key(class) && class != MAIN) {
            let message = format!(
                "class '{}' is not defined; it gives no defaults",
                named.value
            );
            node.warning_at("class", message);
        }
        node.with_defaults(self.get(class, node.tag()).unwrap_or_default())
    }

    /// Warns about a `childclass` that is not defined.
    pub(super) fn check_childclass(&self, node: ElementRef<'_>, class: &str) {
        if !self.classes.contains_key(class) && class != MAIN {
            let message = format!("class '{class}' is not defined; it gives no defaults");
            node.warning_at("childclass", message);
        }
    }
}
