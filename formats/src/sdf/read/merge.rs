//! `<include merge="true">`: merging the content of a model into that of another
//! (<http://sdformat.org/tutorials?tut=composition_proposal>).

use super::element::{Element, Report};

const MODEL_FRAME: &str = "__model__";

/// Returns the elements of a model that is merged into `parent`: its links, frames, joints and
/// models, and a proxy for its own frame.
pub(super) fn merged(model: Element, parent: &Element, report: &Report) -> Vec<Element> {
    let proxy = format!("_merged__{}__model__", model.name());
    let frame = proxy_frame(&model, &proxy);
    let mut elements = vec![frame];
    for mut child in model.children {
        match child.tag.as_str() {
            "link" => move_poses(&mut child, &proxy),
            "model" => {}
            "frame" => {
                if matches!(child.filled("attached_to"), None | Some(MODEL_FRAME)) {
                    child.set_attribute("attached_to", &proxy);
                }
                move_poses(&mut child, &proxy);
            }
            "joint" => move_joint(&mut child, &proxy),
            "pose" | "static" => continue,
            _ => {
                let message = format!(
                    "<{}> of model '{}' is not merged into model '{}' and is ignored",
                    child.tag,
                    model_name(&proxy),
                    parent.name()
                );
                report.warning(&child, message);
                continue;
            }
        }
        // Links and models without another frame are placed in the model's frame.
        if matches!(child.tag.as_str(), "link" | "model") {
            place_in(&mut child, &proxy);
        }
        elements.push(child);
    }
    elements
}

fn model_name(proxy: &str) -> &str {
    let name = proxy.strip_prefix("_merged__");
    name.and_then(|n| n.strip_suffix("__model__"))
        .unwrap_or(proxy)
}

/// Creates the proxy for the model frame of a merged model.
fn proxy_frame(model: &Element, name: &str) -> Element {
    let place = model.place.clone();
    let mut frame = Element::new("frame", place.clone());
    frame.set_attribute("name", name);
    // Without a link, the proxy moves with the frame of the other model.
    if let Some(link) = canonical_link(model) {
        frame.set_attribute("attached_to", &link);
    }
    if let Some(placement) = model.filled("placement_frame") {
        frame.set_attribute("placement_frame", placement);
    }
    let mut pose = match model.child("pose") {
        Some(pose) => pose.clone(),
        None => Element::new("pose", place),
    };
    if pose.filled("relative_to").is_none() {
        pose.set_attribute("relative_to", MODEL_FRAME);
    }
    frame.children.push(pose);
    frame
}

/// Returns the link that the frame of a model moves with: the one that the model names, else its
/// first link, else that of its first nested model.
fn canonical_link(model: &Element) -> Option<String> {
    let own = model.filled("canonical_link");
    if let Some(link) = own.or_else(|| model.child("link").map(Element::name)) {
        return Some(link.into());
    }
    let inner = model.child("model")?;
    canonical_link(inner).map(|link| format!("{}::{link}", inner.name()))
}

/// Makes all poses in an element that are relative to the model frame relative to the proxy.
fn move_poses(element: &mut Element, proxy: &str) {
    if element.tag == "pose" && element.filled("relative_to") == Some(MODEL_FRAME) {
        element.set_attribute("relative_to", proxy);
    }
    for child in &mut element.children {
        move_poses(child, proxy);
    }
}

/// Places an element relative to the proxy, unless its pose is in another frame.
fn place_in(element: &mut Element, proxy: &str) {
    let place = element.place.clone();
    if element.child("pose").is_none() {
        element.children.push(Element::new("pose", place));
    }
    let pose = element.child_mut("pose");
    let in_model = |pose: &&mut Element| {
        let base = pose.filled("relative_to");
        matches!(base, None | Some(MODEL_FRAME))
    };
    if let Some(pose) = pose.filter(in_model) {
        pose.set_attribute("relative_to", proxy);
    }
}

fn move_joint(joint: &mut Element, proxy: &str) {
    move_poses(joint, proxy);
    for child in &mut joint.children {
        match child.tag.as_str() {
            "parent" | "child" if child.text == MODEL_FRAME => child.text = proxy.into(),
            "axis" | "axis2" => {
                let in_model = |xyz: &&mut Element| xyz.filled("expressed_in") == Some(MODEL_FRAME);
                if let Some(xyz) = child.child_mut("xyz").filter(in_model) {
                    xyz.set_attribute("expressed_in", proxy);
                }
            }
            _ => {}
        }
    }
}
