//! Models in other formats that an SDFormat file includes.

use super::element::{Element, Report, truth};
use super::frames::{FrameGraph, NodeId, NodeKind, ScopeId};
use super::graph_builder::FrameGraphBuilder;
use super::placement::place;
use super::pose::Pose;
use crate::Result;
use crate::mjcf;
use crate::model_source::ModelSource;
use crate::reading::format::ModelFormat;
use crate::reading::target::ModelNaming;
use crate::urdf;
use nalgebra::Isometry3;
use std::collections::{BTreeSet, HashMap};
use tarragon_documents::xml::{Parsed, PreparedXml, Reported};
use tarragon_documents::{Severity, decode};
use tarragon_multibody::{
    BodyIndex, FixedOffsetFrame, FrameIndex, JointIndex, ModelInstanceIndex, MultibodyPlantBuilder,
};

/// Numbers of elements of a plant.
struct PlantSize {
    bodies: usize,
    frames: usize,
    joints: usize,
}

/// A model in another format, which is in the plant already.
pub(super) struct InterfaceModel<'e> {
    element: &'e Element,
    /// The frame of the model, or its proxy if the model is merged into another.
    pub(super) node: NodeId,
    /// Scope in which the names of its frames are looked up.
    scope: ScopeId,
    pub(super) instance: ModelInstanceIndex,
    pub(super) merged: bool,
    pub(super) links: Vec<NodeId>,
}

pub(super) fn is_merged(include: &Element) -> bool {
    truth(include.filled("merge").unwrap_or("false")) == Some(true)
}

/// Adds the model to the plant and its links, frames and joints to the graph. `naming` is the scope
/// of its model instance and, optionally, a name that replaces the one in the file.
pub(super) fn load<'e>(
    declare: &mut FrameGraphBuilder<'_, '_>,
    include: &'e Element,
    scope: ScopeId,
    naming: (&str, Option<&str>),
) -> Parsed<InterfaceModel<'e>> {
    let report = declare.report;
    let Some(file) = include.interface.and_then(|i| declare.files.get(i)) else {
        // The include that could not be read was reported.
        return Err(Reported);
    };
    let path = file.path.display().to_string();
    let read;
    let source = match &file.source {
        Some(source) => source,
        None => {
            let mut notes = vec![];
            let content = ModelSource::read(&file.path, file.format, declare.target, &mut notes);
            report.extend(notes);
            let content = content.map_err(|why| report.error(include, why))?;
            read = content.ok_or(Reported)?;
            &read
        }
    };
    let input = source.input(&path, file.path.parent());
    let own_name = include
        .child_text("name")
        .map(String::from)
        .or_else(|| name_in_file(&path, &source.bytes));
    let (outer, name) = naming;
    let naming = ModelNaming { name, scope: outer };
    let mut diagnostics = vec![];
    let plant = &declare.target.plant;
    let start = PlantSize {
        bodies: plant.num_bodies(),
        frames: plant.num_frames(),
        joints: plant.num_joints(),
    };
    let parse = match file.format {
        ModelFormat::Mjcf => mjcf::parse,
        _ => urdf::parse,
    };
    let instances = parse(&input, &naming, declare.target, &mut diagnostics);
    let failed = diagnostics.iter().any(|d| d.severity == Severity::Error);
    report.extend(diagnostics);
    let (Some(instance), false) = (instances.first().copied(), failed) else {
        return Err(Reported);
    };
    let merged = is_merged(include);
    let own_name = own_name.unwrap_or_default();
    let place = &include.place;
    let (node, inner) = if merged {
        let proxy = format!("_merged__{own_name}__model__");
        let graph = &mut *declare.graph;
        let node = graph.add(scope, &proxy, NodeKind::Frame, place, report)?;
        (node, scope)
    } else {
        declare
            .graph
            .add_model(scope, &own_name, false, place, report)?
    };
    let mut interface = InterfaceModel {
        element: include,
        node,
        scope: inner,
        instance,
        merged,
        links: vec![],
    };
    interface.declare(declare, &start)?;
    Ok(interface)
}

/// Returns the name that a URDF or MJCF file gives its model.
fn name_in_file(path: &str, bytes: &[u8]) -> Option<String> {
    let (text, _) = decode(path, bytes);
    let prepared = PreparedXml::new(&text);
    let document = prepared.parse(path).ok()?;
    let root = document.root_element();
    let name = root.attribute("name").or_else(|| root.attribute("model"));
    name.map(|n| n.trim().to_string())
}

impl InterfaceModel<'_> {
    /// Adds what was added to the plant since `start` to the graph.
    fn declare(
        &mut self,
        declare: &mut FrameGraphBuilder<'_, '_>,
        start: &PlantSize,
    ) -> Parsed<()> {
        let (graph, report) = (&mut *declare.graph, declare.report);
        graph.set_instance(self.scope, self.instance);
        let plant = &mut *declare.target.plant;
        let place = &self.element.place;
        let own = |body: &BodyIndex| plant[*body].model_instance() == self.instance;
        let bodies = (start.bodies..plant.num_bodies()).map(BodyIndex::new);
        let bodies: Vec<BodyIndex> = bodies.filter(own).collect();
        let mut links = HashMap::new();
        for body in &bodies {
            let name = plant[*body].name().to_string();
            let node = graph.add(self.scope, &name, NodeKind::Link, place, report)?;
            // As in Drake, all links of such models are at the origin of the model, whatever their
            // joints.
            graph.set_pose(node, Pose::IDENTITY, self.node);
            graph.set_body(node, *body);
            graph.set_frame(node, plant[*body].body_frame());
            links.insert(*body, node);
            self.links.push(node);
        }
        let joints = (start.joints..plant.num_joints()).map(JointIndex::new);
        let of_joints: BTreeSet<_> = joints
            .clone()
            .map(|j| &plant[j])
            .flat_map(|j| [j.frame_on_parent(), j.frame_on_child()])
            .flatten()
            .collect();
        for index in (start.frames..plant.num_frames()).map(FrameIndex::new) {
            let frame = &plant[index];
            let Some(link) = links.get(&frame.body()) else {
                continue;
            };
            let own = plant[frame.body()].body_frame() == index;
            if own || of_joints.contains(&index) || frame.model_instance() != self.instance {
                continue;
            }
            let node = graph.add(self.scope, frame.name(), NodeKind::Frame, place, report)?;
            graph.set_pose(node, Pose::from_isometry(frame.pose_in_body()), *link);
            graph.set_on(node, *link);
            graph.set_frame(node, index);
        }
        for joint in joints.map(|j| &plant[j]) {
            let of_model = joint.model_instance() == self.instance;
            let link = links.get(&joint.child_body()).filter(|_| of_model);
            let Some(link) = link else { continue };
            let node = graph.add(self.scope, joint.name(), NodeKind::Joint, place, report)?;
            graph.set_pose(node, Pose::from_isometry(joint.pose_on_child()), *link);
            graph.set_on(node, *link);
        }
        let body = bodies.first().copied().unwrap_or(BodyIndex::WORLD);
        let name = if self.merged {
            graph.name(self.node)
        } else {
            "__model__"
        };
        let frame = FixedOffsetFrame::new(name, body, Isometry3::identity());
        let frame = plant.add_frame(frame.with_model_instance(self.instance));
        let frame = frame.map_err(|e| report.error(self.element, e))?;
        graph.set_frame(self.node, frame);
        if let Some(first) = self.links.first() {
            if self.merged {
                graph.set_on(self.node, *first)
            } else {
                graph.attach(self.scope, *first, None)
            }
        }
        Ok(())
    }

    /// Resolves the pose of the model in the scope of its include.
    pub(super) fn resolve(
        &self,
        graph: &mut FrameGraph,
        outer: ScopeId,
        report: &Report,
    ) -> Parsed<()> {
        if let Some(name) = self.element.child_text("placement_frame") {
            let what = "the placement frame of an included model";
            let place = &self.element.place;
            let frame = graph.find_or_report(self.scope, name, what, place, report)?;
            graph.set_placement(self.node, frame);
        }
        let origin = graph.origin(outer);
        place(graph, self.node, self.element, outer, origin, report)
    }

    /// Places the bodies that are not the child of a joint at the pose of the model.
    pub(super) fn place_bodies(
        &self,
        graph: &FrameGraph,
        plant: &mut MultibodyPlantBuilder,
    ) -> Result<()> {
        for link in &self.links {
            let body = graph.body(*link).filter(|body| !plant.is_child(*body));
            if let Some(body) = body {
                let x_wb = graph.in_world(*link).isometry();
                plant.set_default_free_body_pose(body, x_wb)?;
            }
        }
        Ok(())
    }
}
