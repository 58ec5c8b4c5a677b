//! Reading the text of a file as elements of SDFormat 1.12.

use super::element::{Element, MAX_DEPTH, Report, SourceFile, SourceLocation, truth};
use super::first_version::move_attributes;
use super::schema;
use super::unflatten::unflatten;
use crate::reading::format::ModelFormat;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use tarragon_documents::decode;
use tarragon_documents::xml::TextOrigins;
use tarragon_documents::xml::XmlNode;
use tarragon_documents::xml::{Parsed, PreparedXml, Reported, XmlReader};

/// Newest supported minor version of SDFormat 1.
const NEWEST: u32 = 12;

/// Minor version since which `::` separates names and must not be part of a name.
const SINGLE_NAMES: u32 = 8;

/// Reads a text whose root is `<sdf>`, brings it up to the newest version and checks it.
///
/// `origins` are the places from which the text was generated, if any.
pub(super) fn read(
    source: SourceFile,
    bytes: &[u8],
    origins: Option<&TextOrigins>,
    report: &Report,
) -> Parsed<Element> {
    let (text, warning) = decode(&source.name, bytes);
    warning.into_iter().for_each(|w| report.push(w));
    let prepared = PreparedXml::new(&text);
    let document = prepared.parse(&source.name).map_err(|error| {
        report.push(error);
        Reported
    })?;
    let source = Rc::new(source);
    let name = source.name.clone();
    let reader = XmlReader::new(&name, &prepared).with_origins(origins);
    report.extend(reader.take_diagnostics());
    let builder = ElementBuilder {
        reader: &reader,
        source: &source,
        others: RefCell::default(),
        report,
    };
    let mut root = builder.element(document.root_element(), 0)?;
    // The name of the root before version 1.3.
    if root.tag == "gazebo" {
        root.tag = "sdf".into();
    }
    let version = version(&root, report)?;
    upgrade(&mut root, version, report)?;
    let before = report.num_errors();
    if version >= SINGLE_NAMES {
        check_names(&root, report);
    }
    schema::check(&root, report);
    if report.num_errors() == before {
        Ok(root)
    } else {
        Err(Reported)
    }
}

struct ElementBuilder<'a, 'r> {
    reader: &'a XmlReader<'r>,
    source: &'a Rc<SourceFile>,
    /// Other files from which elements were generated, by their names.
    others: RefCell<BTreeMap<String, Rc<SourceFile>>>,
    report: &'a Report,
}

impl ElementBuilder<'_, '_> {
    /// Returns the file of an element. Relative paths in it are relative to the main file.
    fn source_of(&self, node: XmlNode<'_>) -> Rc<SourceFile> {
        let name = self.reader.file_of(node);
        if name == self.source.name {
            return self.source.clone();
        }
        let mut others = self.others.borrow_mut();
        let other = others.entry(name.into()).or_insert_with(|| {
            Rc::new(SourceFile {
                name: name.into(),
                directory: self.source.directory.clone(),
            })
        });
        other.clone()
    }

    fn element(&self, node: XmlNode<'_>, depth: usize) -> Parsed<Element> {
        let place = SourceLocation {
            source: self.source_of(node),
            at: self.reader.place(node),
        };
        if depth > MAX_DEPTH {
            let message = format!("elements are nested deeper than {MAX_DEPTH}");
            return Err(self.report.error_at(&place, message));
        }
        let mut element = Element::new(self.reader.tag(node), place);
        let attributes = node.attributes();
        element.attributes = attributes
            .map(|a| {
                // The attribute is foreign to SDFormat; its actual prefix does not matter.
                let name = if a.has_prefix() {
                    format!(":{}", a.name())
                } else {
                    a.name().into()
                };
                (name, a.value().to_string())
            })
            .collect();
        element.text = node.first_text().unwrap_or("").trim().into();
        let children = self.reader.elements(node);
        element.children = children
            .map(|child| self.element(child, depth + 1))
            .collect::<Parsed<_>>()?;
        Ok(element)
    }
}

/// Reads the minor version of a document.
fn version(root: &Element, report: &Report) -> Parsed<u32> {
    if root.tag != "sdf" {
        let message = format!(
            "the root element must be <sdf>, or <gazebo> in old files, got <{}>{}",
            root.tag,
            ModelFormat::cure_of_root(&root.tag)
        );
        return Err(report.error(root, message));
    }
    let version = report.required(root, "version")?;
    let minor = version.strip_prefix("1.").and_then(|m| m.parse().ok());
    match minor {
        Some(minor) if minor <= NEWEST => Ok(minor),
        _ => {
            let message =
                format!("the version of SDFormat must be 1.0 to 1.{NEWEST}, got '{version}'");
            Err(report.error(root, message))
        }
    }
}

/// Applies the changes of SDFormat since a version that matter here
/// (<https://github.com/gazebosim/sdformat/blob/main/Migration.md>).
fn upgrade(root: &mut Element, version: u32, report: &Report) -> Parsed<()> {
    if version < 2 {
        move_attributes(root);
    }
    if version < 5 {
        for model in root.children.iter_mut() {
            match model.tag.as_str() {
                "model" => axes_are_in_the_model_frame(model),
                "world" => {
                    let models = model.children.iter_mut().filter(|c| c.tag == "model");
                    models.for_each(axes_are_in_the_model_frame);
                }
                _ => {}
            }
        }
    }
    if version < 7 {
        upgrade_frames(root);
    }
    if version < SINGLE_NAMES {
        drop_empty_frames(root);
        let worlds = root.children.iter_mut().filter(|c| c.tag == "world");
        for model in worlds.flat_map(|w| w.children.iter_mut()) {
            if model.tag == "model" {
                // The model is below <sdf> and <world>.
                unflatten(model, 2, report)?;
            }
        }
    }
    Ok(())
}

/// Reports names of models, links, frames and joints that contain `::`.
fn check_names(element: &Element, report: &Report) {
    for child in &element.children {
        let named = ["link", "frame", "joint", "model"].contains(&child.tag.as_str());
        if named && child.name().contains("::") {
            let message = format!("a name must not contain '::', got '{}'", child.name());
            report.error(child, message);
        }
        if matches!(child.tag.as_str(), "world" | "model") {
            check_names(child, report);
        }
    }
}

fn axes(joint: &mut Element) -> impl Iterator<Item = &mut Element> {
    let axes = joint.children.iter_mut();
    axes.filter(|c| matches!(c.tag.as_str(), "axis" | "axis2"))
}

/// Makes the default before 1.5 explicit: axes are expressed in the model frame.
fn axes_are_in_the_model_frame(model: &mut Element) {
    for joint in model.children.iter_mut().filter(|c| c.tag == "joint") {
        for axis in axes(joint) {
            if axis.child("use_parent_model_frame").is_none() {
                let place = axis.place.clone();
                let flag = Element::new("use_parent_model_frame", place).with_text("true");
                axis.children.push(flag);
            }
        }
    }
}

/// Applies the changes of 1.7: `frame` of poses became `relative_to`, and `use_parent_model_frame`
/// of axes became `expressed_in`.
fn upgrade_frames(element: &mut Element) {
    if element.tag == "pose" {
        let frame = element.attributes.iter_mut().find(|(n, _)| n == "frame");
        if let Some((name, _)) = frame {
            *name = "relative_to".into();
        }
    }
    if element.tag == "joint" {
        for axis in axes(element) {
            let in_model = axis.child("use_parent_model_frame");
            let in_model = in_model.and_then(|c| truth(&c.text)) == Some(true);
            axis.children.retain(|c| c.tag != "use_parent_model_frame");
            if let (true, Some(xyz)) = (in_model, axis.child_mut("xyz")) {
                xyz.set_attribute("expressed_in", "__model__");
            }
        }
    }
    element.children.iter_mut().for_each(upgrade_frames);
}

/// Removes empty `relative_to` from poses of inertias, which were allowed before 1.8.
fn drop_empty_frames(element: &mut Element) {
    if element.tag == "inertial" {
        for pose in element.children.iter_mut().filter(|c| c.tag == "pose") {
            let empty = |(n, v): &(String, String)| n == "relative_to" && v.trim().is_empty();
            pose.attributes.retain(|a| !empty(a));
        }
    }
    element.children.iter_mut().for_each(drop_empty_frames);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> (Parsed<Element>, Vec<String>) {
        let report = Report::default();
        let source = SourceFile {
            name: "t".into(),
            directory: None,
        };
        let root = read(source, text.as_bytes(), None, &report);
        let messages = report.into_diagnostics();
        (root, messages.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn old_versions_are_brought_up_to_date() {
        let joint = "<joint name='j' type='revolute'><parent>a</parent><child>a</child>\
                     <axis><xyz>0 0 1</xyz></axis></joint>";
        let expressed_in = |version: &str, extra: &str| {
            let axis = joint.replace("<axis>", &format!("<axis>{extra}"));
            let text = format!(
                "<sdf version='{version}'><model name='m'><link name='a'/>{axis}</model></sdf>"
            );
            let root = read_text(&text).0.unwrap();
            let xyz = root.descendant(&["model", "joint", "axis", "xyz"]).unwrap();
            xyz.filled("expressed_in").map(String::from)
        };
        let flag = |value| format!("<use_parent_model_frame>{value}</use_parent_model_frame>");
        let model = Some("__model__".to_string());
        assert_eq!(expressed_in("1.4", ""), model);
        assert_eq!(expressed_in("1.5", ""), None);
        assert_eq!(expressed_in("1.5", &flag("1")), model);
        assert_eq!(expressed_in("1.6", &flag("0")), None);
        let pose = "<sdf version='1.6'><model name='m'><link name='a'><pose frame='b'/></link>\
                    </model></sdf>";
        let root = read_text(pose).0.unwrap();
        let link = root.descendant(&["model", "link"]).unwrap();
        assert_eq!(link.relative_to(), Some("b"));
        assert!(read_text(&pose.replace("1.6", "1.7")).0.is_err());
    }

    #[test]
    fn elements_outside_sdformat_are_ignored_unless_they_are_misspelt() {
        let messages = |body: &str| {
            let text = format!("<sdf version='1.9'>\n<model name='m'>{body}</model></sdf>");
            read_text(&text).1
        };
        let unknown = messages("<link name='a'><foo/></link>");
        assert_eq!(
            unknown,
            ["t:2:32: warning: <foo> in <link> is not in SDFormat and is ignored"]
        );
        let misspelt = messages("<link name='a'><inertail/></link>");
        let meant = "<inertail> in <link> is not in SDFormat; did you mean <inertial>?";
        assert_eq!(misspelt, [format!("t:2:32: error: {meant}")]);
        for wrong in [
            "<origin/>",
            "<inertial mass='1'/>",
            "<pose relativ_to='b'/>",
            "<pose frame='b'>0 0 0 0 0 0</pose>",
            "<inertial><mass value='2'/></inertial>",
        ] {
            let text = messages(&format!("<link name='a'>{wrong}</link>"));
            assert!(
                text[0].contains("error: ") && text[0].contains("did you mean"),
                "{text:?}"
            );
        }
        assert!(messages("<link name='a'><x:foo/></link>").is_empty());
        assert!(messages("<plugin name='a' filename='f' any='x'><foo/></plugin>").is_empty());
        assert!(messages("<link name='a' foo='b'/>")[0].contains("warning: attribute 'foo'"));
        for harmless in [
            "<sensor name='s' type='imu'><gz_frame_id>a</gz_frame_id><update_rate>x</update_rate>",
            "<sensor type='imu'><imu><noise/><pose>1</pose></imu>",
            "<visual name='v'><material><gz_map/></material></visual><sensor>",
            "<battery name='b'><volt/></battery><a.b.c><d/></a.b.c><sensor name='' type=''>",
        ] {
            let text = messages(&format!("<link name='a'>{harmless}</sensor></link>"));
            assert!(
                !text.is_empty() && text.iter().all(|m| m.contains("warning: ")),
                "{text:?}"
            );
        }
        assert!(messages("<link name='a'><gz::x gz::y='1'/></link>").is_empty());
        assert!(messages("<link/>")[0].contains("no attribute 'name'"));
        assert!(messages("<static>maybe</static>")[0].contains("must be true or false"));
        let deep = "<model name='m'>".repeat(200) + &"</model>".repeat(200);
        assert!(messages(&deep)[0].contains("deeper than 100"));
    }

    #[test]
    fn versions_are_checked() {
        let result = |attribute: &str| read_text(&format!("<sdf {attribute}/>"));
        for good in ["version='1.0'", "version='1.12'"] {
            assert!(result(good).0.is_ok(), "{good}");
        }
        for bad in ["", "version='1.13'", "version='2.0'", "version='x'"] {
            assert_eq!(result(bad).1.len(), 1, "{bad}");
        }
        assert!(read_text("<robot/>").1[0].contains("must be <sdf>"));
        let gazebo = read_text("<gazebo version='1.2'><model name='m'/></gazebo>");
        assert!(gazebo.0.is_ok() && gazebo.1.is_empty(), "{:?}", gazebo.1);
        assert!(read_text("<gazebo><model name='m'/></gazebo>").0.is_err());
    }

    #[test]
    fn values_of_the_first_version_are_in_attributes() {
        let old = "<gazebo version='1.0'><model name='m' static='1'><origin pose='0 0 1 0 0 0'/>\
                   <link name='a'><origin pose='1 0 0 0 0 0'/><inertial mass='2'>\
                   <inertia ixx='1'/></inertial><collision name='c'><geometry>\
                   <mesh filename='f' scale='1 2 3'/></geometry></collision></link>\
                   <joint name='j' type='revolute'><parent link='a'/><child link='b'/>\
                   <axis xyz='0 1 0'><limit lower='-1'/></axis></joint></model></gazebo>";
        let root = read_text(old).0.unwrap();
        let text = |path: &[&str]| {
            let path = [&["model"], path].concat();
            root.descendant(&path)
                .map(|e| e.text.clone())
                .unwrap_or_default()
        };
        for (path, expected) in [
            (&["static"][..], "1"),
            (&["pose"], "0 0 1 0 0 0"),
            (&["link", "pose"], "1 0 0 0 0 0"),
            (&["link", "inertial", "mass"], "2"),
            (&["link", "inertial", "inertia", "ixx"], "1"),
            (&["link", "collision", "geometry", "mesh", "uri"], "f"),
            (&["link", "collision", "geometry", "mesh", "scale"], "1 2 3"),
            (&["joint", "parent"], "a"),
            (&["joint", "child"], "b"),
            (&["joint", "axis", "xyz"], "0 1 0"),
            (&["joint", "axis", "limit", "lower"], "-1"),
        ] {
            assert_eq!(text(path), expected, "{path:?}");
        }
    }
}
