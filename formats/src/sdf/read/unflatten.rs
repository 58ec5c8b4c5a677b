//! Restores nested models that a tool has flattened into one: `a::link` and `a::joint` become a
//! model `a` again. Before SDFormat 1.8, nested models in worlds were written in this way
//! (<http://sdformat.org/tutorials?tut=composition_proposal>).

use super::element::{Element, MAX_DEPTH, Report};
use std::collections::HashMap;
use tarragon_documents::xml::Parsed;

const SEPARATOR: &str = "::";
const MODEL_FRAME: &str = "__model__";

/// Returns true if an element is of a kind whose names may be scoped by models, and its name is.
fn has_scoped_name(element: &Element) -> bool {
    let kinds = ["link", "frame", "joint", "model"];
    kinds.contains(&element.tag.as_str()) && element.name().contains(SEPARATOR)
}

/// Moves all elements of a model whose names are scoped by another model into a model of their own,
/// and adapts the names in them. `depth` is the depth of the model among all elements.
pub(super) fn unflatten(model: &mut Element, depth: usize, report: &Report) -> Parsed<()> {
    if depth > MAX_DEPTH {
        let message = format!("elements are nested deeper than {MAX_DEPTH}");
        return Err(report.error(model, message));
    }
    let mut models: Vec<(String, Vec<Element>)> = vec![];
    let mut index = HashMap::new();
    let mut kept = vec![];
    for mut child in std::mem::take(&mut model.children) {
        if !has_scoped_name(&child) {
            if child.tag == "model" {
                unflatten(&mut child, depth + 1, report)?;
            }
            kept.push(child);
            continue;
        }
        let name = child.name();
        let prefix = name.split(SEPARATOR).next().unwrap_or_default().to_string();
        if prefix.is_empty() || name.ends_with(SEPARATOR) {
            let message = format!("the name '{name}' must not start or end with '::'");
            return Err(report.error(&child, message));
        }
        let at = *index.entry(prefix.clone()).or_insert_with(|| {
            models.push((prefix, vec![]));
            models.len() - 1
        });
        models[at].1.push(child);
    }
    model.children = kept;
    for (prefix, children) in models {
        let mut inner = inner_model(&prefix, children, report)?;
        unflatten(&mut inner, depth + 1, report)?;
        model.children.push(inner);
    }
    Ok(())
}

/// Creates a model from the elements whose names start with its name.
fn inner_model(prefix: &str, children: Vec<Element>, report: &Report) -> Parsed<Element> {
    let mut inner = Element::new("model", children[0].place.clone());
    inner.set_attribute("name", prefix);
    let scope = ModelPrefix { prefix, report };
    let is_model_frame = |c: &Element| scope.inside(c.name()) == Some(MODEL_FRAME);
    let has_frame = children.iter().any(is_model_frame);
    for mut child in children {
        scope.strip(&mut child, has_frame)?;
        if child.tag == "frame" && child.name() == MODEL_FRAME {
            if let Some(link) = child.filled("attached_to") {
                inner.set_attribute("canonical_link", link);
            }
            inner.children.extend(child.child("pose").cloned());
        } else {
            inner.children.push(child);
        }
    }
    Ok(inner)
}

/// The model that elements are moved into.
struct ModelPrefix<'a> {
    prefix: &'a str,
    report: &'a Report,
}

impl ModelPrefix<'_> {
    /// Returns a name as it is inside the model; `None` for names outside it.
    fn inside<'n>(&self, name: &'n str) -> Option<&'n str> {
        name.strip_prefix(self.prefix)?.strip_prefix(SEPARATOR)
    }

    /// Returns a name that an element refers to, as it is inside the model.
    fn reference(&self, element: &Element, what: &str, name: &str) -> Parsed<String> {
        self.inside(name).map(String::from).ok_or_else(|| {
            let message = format!(
                "{what} of {} '{}' must be in model '{}', got '{name}'; names of elements in a \
                 model start with the name of the model",
                element.tag,
                element.name(),
                self.prefix
            );
            self.report.error(element, message)
        })
    }

    /// Removes the name of the model from all names in an element.
    fn strip(&self, element: &mut Element, has_frame: bool) -> Parsed<()> {
        if let Some(name) = element.filled("attached_to") {
            let name = self.reference(element, "attached_to", name)?;
            element.set_attribute("attached_to", &name);
        }
        if element.tag == "joint" {
            self.strip_joint(element, has_frame)?;
        }
        self.strip_poses(element);
        if let Some(name) = self.inside(element.name()).map(String::from) {
            element.set_attribute("name", &name);
        }
        Ok(())
    }

    fn strip_joint(&self, joint: &mut Element, has_frame: bool) -> Parsed<()> {
        for i in 0..joint.children.len() {
            let child = &joint.children[i];
            match child.tag.as_str() {
                "parent" | "child" if !matches!(child.text.as_str(), "" | "world") => {
                    let what = format!("<{}>", child.tag);
                    joint.children[i].text = self.reference(joint, &what, &child.text)?;
                }
                "axis" | "axis2" => {
                    let xyz = child
                        .child("xyz")
                        .and_then(|xyz| xyz.filled("expressed_in"));
                    // A model without a frame of its own is at the same pose as the outer one.
                    let Some(name) = xyz.filter(|name| *name != MODEL_FRAME || has_frame) else {
                        continue;
                    };
                    let name = self.reference(joint, "expressed_in", name)?;
                    if let Some(xyz) = joint.children[i].child_mut("xyz") {
                        xyz.set_attribute("expressed_in", &name);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Removes the name of the model from the frames of poses. A pose relative to a frame outside
    /// the model is reported later.
    fn strip_poses(&self, element: &mut Element) {
        if element.tag == "pose" {
            let inside = element.filled("relative_to").and_then(|n| self.inside(n));
            if let Some(name) = inside.map(String::from) {
                element.set_attribute("relative_to", &name);
            }
        }
        if element.tag != "model" {
            element
                .children
                .iter_mut()
                .for_each(|c| self.strip_poses(c));
        } else if let Some(pose) = element.child_mut("pose") {
            self.strip_poses(pose);
        }
    }
}
