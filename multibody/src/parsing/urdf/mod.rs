//! URDF.
//!
//! The format is described at <http://wiki.ros.org/urdf/XML>; the `drake:` elements and what is
//! ignored follow the page "Parsing Models for MultibodyPlant" of Drake's documentation.

mod contact;
mod geometry;
mod joint;
mod link;
mod material;
mod transmission;

use super::diagnostic::{Diagnostic, Severity};
use super::input::{Input, Naming};
use super::model::{Failure, Model};
use super::package_map::PackageMap;
use super::target::{self, Target};
use super::xml::{Parsed, Prepared, Reader};
use crate::body::FixedOffsetFrame;
use crate::collision_filters::CollisionFilterGroup;
use crate::index::{BodyIndex, ModelInstanceIndex};
use crate::topology::find_loop;
use material::Materials;
use nalgebra::{Isometry3, Vector3};
use roxmltree::Node;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tarragon_framework::math;

/// `drake:` elements of a robot that mean something to Drake but not yet to us.
const NOT_YET: [&str; 5] = [
    "drake:linear_bushing_rpy",
    "drake:ball_constraint",
    "drake:tendon_constraint",
    "drake:linear_spring_damper",
    "loop_joint",
];

/// Adds the robot of a URDF file.
pub(crate) fn parse(
    input: &Input<'_>,
    naming: &Naming<'_>,
    target: &mut Target<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<ModelInstanceIndex> {
    let resources = Resources {
        packages: &*target.packages,
        directory: input.directory,
        geometry: target.has_scene(),
    };
    let Some(model) = read(input, naming, &resources, diagnostics) else {
        return vec![];
    };
    match model.install(naming, target) {
        Ok(instance) => vec![instance],
        Err(Failure { place, error }) => {
            let (line, column) = place;
            diagnostics.push(Diagnostic {
                line,
                column,
                ..Diagnostic::of_file(input.file, error)
            });
            vec![]
        }
    }
}

/// Where a model's files are.
struct Resources<'a> {
    packages: &'a PackageMap,
    directory: Option<&'a Path>,
    /// Whether geometry is wanted; its files need not exist otherwise.
    geometry: bool,
}

impl Resources<'_> {
    fn resolve(&self, uri: &str) -> Result<PathBuf, String> {
        target::resolve(self.packages, uri, self.directory)
    }
}

/// Reads a robot; no model if there is an error among the diagnostics.
fn read(
    input: &Input<'_>,
    naming: &Naming<'_>,
    resources: &Resources<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Model> {
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
            return None;
        }
    };
    let mut robot = Robot {
        reader: Reader::new(file, &prepared),
        resources,
        named: naming.name.is_some(),
        model: Model::new(""),
        links: BTreeMap::from([("world".into(), BodyIndex::WORLD)]),
        joints: BTreeMap::new(),
        parents: vec![None],
        materials: Materials::default(),
    };
    // What went wrong was reported.
    let _ = robot.read(document.root_element());
    let failed = robot.reader.failed();
    let Robot { reader, model, .. } = robot;
    diagnostics.extend(reader.into_diagnostics());
    (!failed).then_some(model)
}

/// A robot being read.
struct Robot<'a> {
    reader: Reader<'a>,
    resources: &'a Resources<'a>,
    /// The caller has a name for the model.
    named: bool,
    model: Model,
    /// Links by name; the world is one.
    links: BTreeMap<String, BodyIndex>,
    /// Index in the model by name; `None` for a joint that leaves its child free.
    joints: BTreeMap<String, Option<usize>>,
    /// Parent link and the joint to it, per link.
    parents: Vec<Option<(BodyIndex, String)>>,
    materials: Materials,
}

impl Robot<'_> {
    fn read(&mut self, root: Node<'_, '_>) -> Parsed<()> {
        let tag = self.reader.tag(root);
        if tag != "robot" {
            let message = format!("the root element is <{tag}>, <robot> is expected");
            return Err(self.reader.error(root, message));
        }
        // An error leaves out the element that has it; the rest is still looked at, so that one run
        // tells all.
        if self.named {
            // The file's own name does not matter.
        } else if let Ok(name) = self.reader.required(root, "name") {
            self.model.name = name.into();
        }
        if self.resources.geometry {
            for node in self.reader.children(root, "material") {
                let _ = self.read_global_material(node);
            }
        }
        for node in self.reader.children(root, "link") {
            let _ = self.read_link(node);
        }
        for node in self.reader.elements(root) {
            if matches!(self.reader.tag(node), "joint" | "drake:joint") {
                let _ = self.read_joint(node);
            }
        }
        self.check_loops(root)?;
        for node in self.reader.children(root, "joint") {
            let _ = self.read_mimic(node);
        }
        for node in self.reader.children(root, "transmission") {
            let _ = self.read_transmission(node);
        }
        for node in self.reader.children(root, "frame") {
            let _ = self.read_frame(node);
        }
        self.read_filter_groups(root)?;
        for node in self.reader.elements(root) {
            let tag = self.reader.tag(node);
            if NOT_YET.contains(&tag) {
                let message = format!("<{tag}> is not supported yet and is ignored");
                self.reader.warning(node, message);
            }
        }
        Ok(())
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

    fn check_loops(&self, root: Node<'_, '_>) -> Parsed<()> {
        let parents: Vec<Option<usize>> = self
            .parents
            .iter()
            .map(|p| p.as_ref().map(|(parent, _)| parent.index()))
            .collect();
        let Some(found) = find_loop(&parents) else {
            return Ok(());
        };
        let names: Vec<&str> = found
            .iter()
            .map(|link| &*self.model.bodies[*link].name)
            .collect();
        let message = format!(
            "joints form a loop of links: '{}'; every chain of parents must end",
            names.join("' -> '")
        );
        Err(self.reader.error(root, message))
    }

    fn read_frame(&mut self, node: Node<'_, '_>) -> Parsed<()> {
        let name = self.reader.required(node, "name")?;
        let body = self.link_named(node, "link")?;
        let taken =
            |n: &str| self.links.contains_key(n) || self.model.frames.iter().any(|f| f.name() == n);
        if taken(name) {
            let message = format!("the name of frame '{name}' is taken by a link or a frame");
            return Err(self.reader.error_at(node, "name", message));
        }
        let x_bf = self.pose(node)?;
        self.model
            .frames
            .push(FixedOffsetFrame::new(name, body, x_bf));
        Ok(())
    }

    fn read_filter_groups(&mut self, root: Node<'_, '_>) -> Parsed<()> {
        const GROUP: &str = "drake:collision_filter_group";
        let nodes = self.reader.children(root, GROUP);
        let mut names = BTreeMap::new();
        for node in &nodes {
            let name = self.reader.required(*node, "name")?;
            if names.insert(name.to_string(), *node).is_some() {
                let message = format!("collision filter group '{name}' is there twice");
                return Err(self.reader.error_at(*node, "name", message));
            }
        }
        let group_named = |node: Node<'_, '_>| -> Parsed<String> {
            let name = self.reader.required(node, "name")?;
            if names.contains_key(name) {
                return Ok(name.into());
            }
            let known = names.keys().map(String::as_str);
            let error = crate::names::unknown("collision filter group", name, known);
            Err(self.reader.error_at(node, "name", error))
        };
        let mut groups: Vec<CollisionFilterGroup> = vec![];
        let mut included: Vec<Vec<String>> = vec![];
        for node in nodes {
            let mut group = CollisionFilterGroup {
                name: self.reader.required(node, "name")?.into(),
                ..CollisionFilterGroup::default()
            };
            let mut others = vec![];
            for child in self.reader.elements(node) {
                match self.reader.tag(child) {
                    "drake:member" => group.members.push(self.link_named(child, "link")?),
                    "drake:ignored_collision_filter_group" => {
                        group.ignored.push(group_named(child)?);
                    }
                    "drake:member_group" => others.push(group_named(child)?),
                    _ => {}
                }
            }
            groups.push(group);
            included.push(others);
        }
        // Groups of groups, to any depth: repeat until nothing is new.
        let place = |name: &String| groups.iter().position(|g| g.name == *name);
        let included: Vec<Vec<usize>> = included
            .iter()
            .map(|names| names.iter().filter_map(place).collect())
            .collect();
        loop {
            let before: usize = groups.iter().map(|g| g.members.len()).sum();
            for (i, others) in included.iter().enumerate() {
                for other in others {
                    let more = groups[*other].members.clone();
                    groups[i].members.extend(more);
                }
                groups[i].members.sort();
                groups[i].members.dedup();
            }
            if groups.iter().map(|g| g.members.len()).sum::<usize>() <= before {
                break;
            }
        }
        self.model.filter_groups = groups;
        Ok(())
    }
}
