//! URDF.
//!
//! The format is described at <http://wiki.ros.org/urdf/XML>; the `drake:` elements and what is
//! ignored follow the page "Parsing Models for MultibodyPlant" of Drake's documentation.

mod constraint;
mod contact;
mod filter;
mod geometry;
mod joint;
mod link;
mod material;
mod transmission;

use super::diagnostic::{Diagnostic, Severity};
use super::input::{Input, Naming};
use super::target::Target;
use super::xml::{Parsed, Prepared, Reader};
use crate::body::FixedOffsetFrame;
use crate::error::Result;
use crate::index::{BodyIndex, JointIndex, ModelInstanceIndex};
use material::Materials;
use nalgebra::{Isometry3, Vector3};
use roxmltree::Node;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tarragon_framework::math;

/// Adds the robot of a URDF file.
pub(crate) fn parse(
    input: &Input<'_>,
    naming: &Naming<'_>,
    target: &mut Target<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<ModelInstanceIndex> {
    let file = input.file;
    let text = String::from_utf8_lossy(input.bytes);
    if let Err(error) = std::str::from_utf8(input.bytes) {
        diagnostics.push(Diagnostic {
            severity: Severity::Warning,
            ..Diagnostic::of_file(
                file,
                format!("byte {} is not UTF-8; it is replaced", error.valid_up_to()),
            )
        });
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let prepared = Prepared::new(text);
    let document = match prepared.parse(file) {
        Ok(document) => document,
        Err(error) => {
            diagnostics.push(error);
            return vec![];
        }
    };
    let reader = Reader::new(file, &prepared);
    let added = start(&reader, document.root_element(), naming, target);
    let mut models = vec![];
    if let Ok(instance) = added {
        models.push(instance);
        let mut robot = Robot {
            reader: &reader,
            directory: input.directory,
            target,
            instance,
            links: BTreeMap::from([("world".into(), BodyIndex::WORLD)]),
            joints: BTreeMap::new(),
            materials: Materials::default(),
        };
        robot.read(document.root_element());
    }
    diagnostics.extend(reader.take_diagnostics());
    models
}

/// Checks the root element and adds the model instance.
fn start(
    reader: &Reader<'_>,
    root: Node<'_, '_>,
    naming: &Naming<'_>,
    target: &mut Target<'_>,
) -> Parsed<ModelInstanceIndex> {
    let tag = reader.tag(root);
    if tag != "robot" {
        let message = format!("the root element is <{tag}>, <robot> is expected");
        return Err(reader.error(root, message));
    }
    let name = match naming.name {
        Some(name) => name,
        // Whatever the name: what was added is taken back after an error.
        None => reader.required(root, "name").unwrap_or("<unnamed>"),
    };
    let instance = target.add_model_instance(naming.scope, name);
    instance.map_err(|e| reader.error(root, e))
}

/// A robot being read.
struct Robot<'a, 't> {
    reader: &'a Reader<'a>,
    directory: Option<&'a Path>,
    target: &'a mut Target<'t>,
    instance: ModelInstanceIndex,
    /// Links by name; the world is one.
    links: BTreeMap<String, BodyIndex>,
    /// Joints by name; none for a joint that leaves its child free, or that has an error.
    joints: BTreeMap<String, Option<JointIndex>>,
    materials: Materials,
}

impl Robot<'_, '_> {
    fn read(&mut self, root: Node<'_, '_>) {
        // An error leaves out the element that has it; the rest is still looked at, so that one run
        // tells all.
        if self.target.has_scene() {
            for node in self.reader.children(root, "material") {
                let _ = self.read_global_material(node);
            }
        }
        for node in self.reader.children(root, "link") {
            let _ = self.read_link(node);
        }
        let elements = self.reader.elements(root);
        let is_joint =
            |node: &Node<'_, '_>| matches!(self.reader.tag(*node), "joint" | "drake:joint");
        let joints: Vec<_> = elements.filter(is_joint).collect();
        for node in &joints {
            let _ = self.read_joint(*node);
        }
        for node in joints {
            let _ = self.read_mimic(node);
        }
        for node in self.reader.children(root, "transmission") {
            let _ = self.read_transmission(node);
        }
        for node in self.reader.children(root, "frame") {
            let _ = self.read_frame(node);
        }
        let _ = self.read_filter_groups(root);
        for node in self.reader.elements(root) {
            let _ = self.read_constraint(node);
        }
    }

    /// A plant's refusal, reported at an element.
    fn check<V>(&self, node: Node<'_, '_>, result: Result<V>) -> Parsed<V> {
        result.map_err(|e| self.reader.error(node, e))
    }

    /// The file that an attribute names; `Err` is why there is none.
    fn resolve(&self, uri: &str) -> Result<PathBuf, String> {
        self.target.resolve(uri, self.directory)
    }

    /// The link that an attribute names.
    fn link_named(&self, node: Node<'_, '_>, attribute: &str) -> Parsed<BodyIndex> {
        let name = self.reader.required(node, attribute)?;
        self.links.get(name).copied().ok_or_else(|| {
            let known = self.links.keys().map(String::as_str);
            let error = crate::names::unknown("link", name, known);
            self.reader.error_at(node, attribute, error)
        })
    }

    /// The pose of an `<origin>` child, or of the attributes of an element itself.
    fn pose(&self, node: Node<'_, '_>) -> Parsed<Isometry3<f64>> {
        let xyz = self.reader.vector::<3>(node, "xyz")?.unwrap_or_default();
        let rpy = self.reader.vector::<3>(node, "rpy")?.unwrap_or_default();
        Ok(math::pose_xyz_rpy(Vector3::from(xyz), Vector3::from(rpy)))
    }
    fn origin(&self, node: Node<'_, '_>) -> Parsed<Isometry3<f64>> {
        match self.reader.child(node, "origin") {
            Some(origin) => self.pose(origin),
            None => Ok(Isometry3::identity()),
        }
    }

    fn read_frame(&mut self, node: Node<'_, '_>) -> Parsed<()> {
        let name = self.reader.required(node, "name")?;
        let body = self.link_named(node, "link")?;
        let frame =
            FixedOffsetFrame::new(name, body, self.pose(node)?).with_model_instance(self.instance);
        let added = self.target.plant.add_frame(frame);
        self.check(node, added)?;
        Ok(())
    }
}
