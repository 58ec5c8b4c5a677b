//! Default classes.

use super::tree::{Attribute, ElementRef, FilePosition, overlay};
use crate::reading::mjcf_semantics::MjcfSemantics;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Class of elements that name none.
pub(super) const MAIN: &str = "main";
/// Elements of `<actuator>`; in MuJoCo, their defaults are one.
pub(super) const ACTUATORS: [&str; 9] = [
    "general",
    "motor",
    "position",
    "velocity",
    "intvelocity",
    "damper",
    "cylinder",
    "muscle",
    "adhesion",
];

/// Elements whose defaults a class inherits in MuJoCo, apart from actuators.
const INHERITED: [&str; 9] = [
    "camera", "equality", "geom", "joint", "material", "mesh", "pair", "site", "tendon",
];

/// Attributes with the kinds of gain, bias and activation.
const KINDS: [&str; 3] = ["gaintype", "biastype", "dyntype"];

/// Replaces gain, bias and activation by those of a muscle: in MuJoCo, a class with a `muscle`
/// passes them to all actuators, of which servos keep what they do not set themselves.
fn set_muscle_parameters(attributes: &mut Vec<Attribute>, place: FilePosition) {
    let given = |name: &str, default: &str| {
        let own = attributes.iter().find(|a| a.name == name);
        own.map_or(default.to_owned(), |a| a.value.clone())
    };
    let value = format!("{} {}", given("range", "0.75 1.05"), given("force", "-1"));
    attributes.retain(|a| !matches!(&*a.name, "gainprm" | "biasprm"));
    let numbers = ["gainprm", "biasprm"].map(|name| (name, value.clone()));
    let kinds = KINDS.map(|name| (name, "muscle".into()));
    attributes.retain(|a| !KINDS.contains(&&*a.name));
    let all = numbers.into_iter().chain(kinds);
    attributes.extend(all.map(|(name, value)| Attribute {
        name: name.into(),
        value,
        place,
    }));
}

/// Attributes of which a class inherits the numbers that it does not give itself.
const COMPLETED: [&str; 7] = [
    "biasprm", "friction", "gainprm", "gear", "size", "solimp", "solref",
];

/// Appends the numbers that attributes lack, as far as an enclosing class has them.
fn complete_numbers(attributes: &mut [Attribute], enclosing: &[Attribute]) {
    let short = |a: &&mut Attribute| COMPLETED.contains(&&*a.name);
    for own in attributes.iter_mut().filter(short) {
        let given = own.value.split_whitespace().count();
        let inherited = enclosing.iter().find(|a| a.name == own.name);
        let words = inherited.map(|a| a.value.split_whitespace().skip(given));
        for word in words.into_iter().flatten() {
            own.value.push(' ');
            own.value.push_str(word);
        }
    }
}

/// Attributes by element; nested classes share those that they do not change.
type ClassAttributes = BTreeMap<String, Arc<[Attribute]>>;

/// Default attributes by class and element name.
///
/// A class extends the defaults of the enclosing class, in Drake only for the elements that it
/// lists itself.
#[derive(Debug, Default)]
pub(super) struct DefaultClasses {
    semantics: MjcfSemantics,
    classes: BTreeMap<String, ClassAttributes>,
}

impl DefaultClasses {
    pub(super) fn read(root: ElementRef<'_>, semantics: MjcfSemantics) -> Self {
        let mut defaults = Self {
            semantics,
            classes: BTreeMap::new(),
        };
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
            if !defaults.inherits() {
                defaults.warn_of_lost_defaults(node, class, around);
            }
            defaults.add_class(node, class, around);
            // That of an attached model applies to its own elements only.
            let is_own = node.document() == root.document();
            if around.is_none() && class != MAIN && is_own && defaults.inherits() {
                // The outermost class is that of elements without a class, whatever its name.
                let attributes = defaults.classes.get(class).cloned();
                let main = defaults.classes.entry(MAIN.into()).or_default();
                main.extend(attributes.unwrap_or_default());
            }
            let inside = node.children_named("default").map(|d| (d, Some(class)));
            let inside: Vec<_> = inside.collect();
            waiting.extend(inside.into_iter().rev());
        }
        defaults
    }

    /// Warns about elements of which Drake gives a class no defaults, although an enclosing class
    /// has some.
    fn warn_of_lost_defaults(&self, node: ElementRef<'_>, class: &str, around: Option<&str>) {
        let enclosing = around.and_then(|around| self.classes.get(around));
        let own: BTreeSet<&str> = node.children().map(|child| child.tag()).collect();
        let has_own = |tag: &str| own.contains(tag) || self.has(class, tag);
        let tags = enclosing.into_iter().flat_map(|of| of.keys());
        let lost: Vec<String> = tags
            .filter(|tag| !has_own(tag))
            .map(|tag| format!("<{tag}>"))
            .collect();
        if !lost.is_empty() {
            node.lost().warning(format!(
                "class '{class}' lists no defaults of {}, and so has none, as in Drake, although \
                 the class around it does",
                lost.join(", ")
            ));
        }
    }

    fn has(&self, class: &str, tag: &str) -> bool {
        self.get(class, tag).is_some()
    }

    fn inherits(&self) -> bool {
        self.semantics == MjcfSemantics::MuJoCo
    }

    fn add_class(&mut self, node: ElementRef<'_>, class: &str, around: Option<&str>) {
        let inherits = self.inherits();
        if inherits && !self.classes.contains_key(class) {
            let inherited = around.and_then(|around| self.classes.get(around)).cloned();
            self.classes
                .insert(class.into(), inherited.unwrap_or_default());
        }
        let is_used = |tag: &str| !inherits || tag == ACTUATORS[0] || INHERITED.contains(&tag);
        let elements = node.children().filter(|c| c.tag() != "default");
        let elements: Vec<_> = elements.filter(|e| is_used(self.key(e.tag()))).collect();
        for element in elements {
            let base = if inherits { Some(class) } else { around };
            let base = base.and_then(|base| self.get(base, element.tag()));
            let base = base.unwrap_or_default();
            let attributes = overlay(element.own(), base);
            let mut attributes: Vec<Attribute> = attributes.cloned().collect();
            if inherits {
                complete_numbers(&mut attributes, base);
            }
            match element.tag() {
                "muscle" if inherits => set_muscle_parameters(&mut attributes, element.place()),
                "general" | "position" => {}
                // They have kinds of their own.
                tag if inherits && ACTUATORS.contains(&tag) => {
                    attributes.retain(|a| !KINDS.contains(&&*a.name));
                }
                _ => {}
            }
            let attributes = attributes.into();
            let key = self.key(element.tag()).to_owned();
            let entry = self.classes.entry(class.into()).or_default();
            entry.insert(key, attributes);
        }
        self.classes.entry(class.into()).or_default();
    }

    /// Returns the name under which the defaults of an element are kept.
    fn key<'t>(&self, tag: &'t str) -> &'t str {
        match tag {
            _ if !self.inherits() => tag,
            tag if ACTUATORS.contains(&tag) => ACTUATORS[0],
            "spatial" | "fixed" => "tendon",
            tag => tag,
        }
    }

    fn get(&self, class: &str, tag: &str) -> Option<&[Attribute]> {
        let attributes = self.classes.get(class)?.get(self.key(tag))?;
        Some(attributes)
    }

    /// Returns the element with the defaults of its class: the class that it names, else that of
    /// the frame around it, else the `childclass` of the bodies around it.
    pub(super) fn apply<'a>(
        &'a self,
        node: ElementRef<'a>,
        childclass: Option<&str>,
    ) -> ElementRef<'a> {
        self.apply_as(node, node.tag(), childclass)
    }

    /// Same as [`Self::apply`], with the defaults of elements named `tag`.
    pub(super) fn apply_as<'a>(
        &'a self,
        node: ElementRef<'a>,
        tag: &str,
        childclass: Option<&str>,
    ) -> ElementRef<'a> {
        let named = node.own().iter().find(|a| a.name == "class");
        let framed = node.frame().and_then(|f| f.class.as_deref());
        let class = named.map(|a| &*a.value).or(framed).or(childclass);
        let class = class.unwrap_or(MAIN);
        if let Some(named) = named.filter(|_| !self.classes.contains_key(class) && class != MAIN) {
            let message = format!(
                "class '{}' is not defined; it gives no defaults",
                named.value
            );
            node.warning_at("class", message);
        }
        node.with_defaults(self.get(class, tag).unwrap_or_default())
    }

    /// Warns about a `childclass` that is not defined.
    pub(super) fn check_childclass(&self, node: ElementRef<'_>, class: &str) {
        if !self.classes.contains_key(class) && class != MAIN {
            let message = format!("class '{class}' is not defined; it gives no defaults");
            node.warning_at("childclass", message);
        }
    }
}
