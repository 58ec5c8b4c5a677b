//! State of reading one robot, and helpers for all of its elements.

use crate::Result;
use crate::reading::target::ParseTarget;
use nalgebra::{Isometry3, Vector3};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use tarragon_documents::names;
use tarragon_documents::xml::XmlNode;
use tarragon_documents::xml::{Parsed, XmlReader};
use tarragon_framework::math;
use tarragon_geometry::Rgba;
use tarragon_multibody::{BodyIndex, FixedOffsetFrame, JointIndex, ModelInstanceIndex};

/// Colour and texture of a visual.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Material {
    pub(super) diffuse: Option<Rgba>,
    pub(super) diffuse_map: Option<PathBuf>,
}

/// Adds a robot to the plant, element by element.
pub(super) struct UrdfBuilder<'a, 't> {
    pub(super) reader: &'a XmlReader<'a>,
    pub(super) directory: Option<&'a Path>,
    pub(super) target: &'a mut ParseTarget<'t>,
    pub(super) instance: ModelInstanceIndex,
    /// Links by name, including the world.
    pub(super) links: BTreeMap<String, BodyIndex>,
    /// Joints by name; `None` for a joint that leaves its child free or has an error.
    pub(super) joints: BTreeMap<String, Option<JointIndex>>,
    pub(super) materials: BTreeMap<String, Material>,
}

impl UrdfBuilder<'_, '_> {
    pub(super) fn read(&mut self, root: XmlNode<'_>) {
        self.check_vocabulary(root);
        // An error leaves out its element only; the other elements are still read, so that one run
        // reports all errors.
        if self.target.has_scene() {
            for node in self.reader.children(root, "material") {
                self.read_global_material(node);
            }
        }
        let count = |tag| self.reader.children(root, tag).count();
        let (links, joints) = (count("link"), count("joint"));
        self.target.plant.reserve(links, joints);
        for node in self.reader.children(root, "link") {
            let _ = self.read_link(node);
        }
        let elements = self.reader.elements(root);
        let is_joint =
            |node: &XmlNode<'_>| matches!(self.reader.tag(*node), "joint" | "drake:joint");
        let joints: Vec<_> = elements.filter(is_joint).collect();
        for node in &joints {
            let _ = self.read_joint(*node);
        }
        for node in &joints {
            let _ = self.read_mimic(*node);
        }
        let mut joint_nodes = HashMap::new();
        for node in self.reader.children(root, "joint") {
            if let Some(name) = node.attribute("name") {
                joint_nodes.entry(name.trim()).or_insert(node);
            }
        }
        for node in self.reader.children(root, "transmission") {
            let _ = self.read_transmission(node, &joint_nodes);
        }
        for node in self.reader.children(root, "frame") {
            let _ = self.read_frame(node);
        }
        let _ = self.read_filter_groups(root);
        for node in self.reader.elements(root) {
            let _ = self.read_constraint(node);
        }
    }

    /// Reports an error of the plant at an element.
    pub(super) fn check<V>(&self, node: XmlNode<'_>, result: Result<V>) -> Parsed<V> {
        result.map_err(|e| self.reader.error(node, e))
    }

    /// Resolves a URI to a file; the error is a message.
    pub(super) fn resolve(&self, uri: &str) -> Result<PathBuf, String> {
        self.target.resolve(uri, self.directory)
    }

    /// Returns the link that an attribute names.
    pub(super) fn link_named(&self, node: XmlNode<'_>, attribute: &str) -> Parsed<BodyIndex> {
        let name = self.reader.required(node, attribute)?;
        self.links.get(name).copied().ok_or_else(|| {
            let known = self.links.keys().map(String::as_str);
            let error = names::unknown("link", name, known);
            self.reader.error_at(node, attribute, error)
        })
    }

    /// Reads a pose from the attributes `xyz` and `rpy` of an element.
    pub(super) fn pose(&self, node: XmlNode<'_>) -> Parsed<Isometry3<f64>> {
        let xyz = self.reader.vector::<3>(node, "xyz")?.unwrap_or_default();
        let rpy = self.reader.vector::<3>(node, "rpy")?.unwrap_or_default();
        Ok(math::pose_xyz_rpy(Vector3::from(xyz), Vector3::from(rpy)))
    }
    /// Reads the pose of an `<origin>` child; the identity if there is none.
    pub(super) fn origin(&self, node: XmlNode<'_>) -> Parsed<Isometry3<f64>> {
        match self.reader.child(node, "origin") {
            Some(origin) => self.pose(origin),
            None => Ok(Isometry3::identity()),
        }
    }

    pub(super) fn read_frame(&mut self, node: XmlNode<'_>) -> Parsed<()> {
        let name = self.reader.required(node, "name")?;
        let body = self.link_named(node, "link")?;
        let frame =
            FixedOffsetFrame::new(name, body, self.pose(node)?).with_model_instance(self.instance);
        let added = self.target.plant.add_frame(frame);
        self.check(node, added)?;
        Ok(())
    }
}
