//! The models of a document: their names, and where everything in them is.

use super::element::{Element, Report};
use super::frames::{Graph, Kind, NodeId, ScopeId};
use super::include::InterfaceFile;
use super::interface::{self, Interface};
use crate::parsing::input::scoped;
use crate::parsing::target::Target;
use crate::parsing::xml::Parsed;

/// A `<model>`, or the content of a `<world>`.
pub(super) struct Model<'e> {
    pub(super) element: &'e Element,
    pub(super) name: String,
    pub(super) node: NodeId,
    pub(super) scope: ScopeId,
    pub(super) links: Vec<(NodeId, &'e Element)>,
    pub(super) frames: Vec<(NodeId, &'e Element)>,
    pub(super) joints: Vec<(NodeId, &'e Element)>,
    pub(super) models: Vec<Model<'e>>,
    pub(super) interfaces: Vec<Interface<'e>>,
}

/// Gives everything that has a pose a place in the graph.
pub(super) struct Declare<'a, 't> {
    pub(super) graph: &'a mut Graph,
    pub(super) report: &'a Report,
    pub(super) target: &'a mut Target<'t>,
    pub(super) files: &'a [InterfaceFile],
}

impl Declare<'_, '_> {
    /// A world; `scope` is in front of the names of its model instances.
    pub(super) fn world<'e>(&mut self, element: &'e Element, scope: &str) -> Model<'e> {
        let mut world = Model::new(element, "", Graph::WORLD, Graph::ROOT);
        self.content(&mut world, scope, None);
        world
    }

    /// A model called `name`, whose parent model instance is `outer`.
    pub(super) fn model<'e>(
        &mut self,
        element: &'e Element,
        name: &str,
        parent: ScopeId,
        outer: &str,
    ) -> Parsed<Model<'e>> {
        let place = &element.place;
        let (node, scope) = self.graph.add_model(parent, name, place, self.report)?;
        let mut model = Model::new(element, name, node, scope);
        self.content(&mut model, &scoped(outer, name), Some(outer));
        let first = model.first_link(self.graph);
        match first {
            Some(link) => self.graph.set_canonical(scope, link),
            None => {
                let message = format!("model '{name}' has no link; at least one is expected");
                return Err(self.report.error(element, message));
            }
        }
        Ok(model)
    }

    /// `instance` is the name of the model instance, `outer` that of its parent.
    fn content<'e>(&mut self, model: &mut Model<'e>, instance: &str, outer: Option<&str>) {
        let element = model.element;
        for child in &element.children {
            let (kind, list) = match child.tag.as_str() {
                "link" if outer.is_some() => (Kind::Link, &mut model.links),
                "frame" => (Kind::Frame, &mut model.frames),
                "joint" => (Kind::Joint, &mut model.joints),
                _ => continue,
            };
            let (scope, place) = (model.scope, &child.place);
            let added = self
                .graph
                .add(scope, child.name(), kind, place, self.report);
            // A name that can not be was reported; the rest is still looked at.
            if let Ok(node) = added {
                list.push((node, child));
            }
        }
        for child in element.all("model") {
            if let Ok(inner) = self.model(child, child.name(), model.scope, instance) {
                model.models.push(inner);
            }
        }
        for child in element.all("include") {
            let merged_into = outer.filter(|_| interface::is_merged(child));
            let naming = match merged_into {
                Some(outer) => (outer, Some(model.name.as_str())),
                None => (instance, child.child_text("name")),
            };
            if let Ok(interface) = interface::load(self, child, model.scope, naming) {
                model.interfaces.push(interface);
            }
        }
    }
}

impl<'e> Model<'e> {
    fn new(element: &'e Element, name: &str, node: NodeId, scope: ScopeId) -> Self {
        Self {
            element,
            name: name.into(),
            node,
            scope,
            links: vec![],
            frames: vec![],
            joints: vec![],
            models: vec![],
            interfaces: vec![],
        }
    }

    /// The link that the model's frame moves with where the file does not say.
    fn first_link(&self, graph: &Graph) -> Option<NodeId> {
        let own = self.links.first().map(|(node, _)| *node);
        let inner = || self.models.iter().find_map(|m| graph.canonical(m.scope));
        let other = || {
            self.interfaces
                .iter()
                .find_map(|i| i.links.first().copied())
        };
        own.or_else(inner).or_else(other)
    }

    /// Whether there is a link that is not from a file of another format.
    pub(super) fn has_links(&self) -> bool {
        !self.links.is_empty() || self.models.iter().any(Model::has_links)
    }

    /// Works out what poses are relative to and what frames are attached to.
    pub(super) fn resolve(&self, graph: &mut Graph, parent: Option<ScopeId>, report: &Report) {
        // Everything that can not be found was reported; the rest is still looked at.
        if let Some(parent) = parent {
            let _ = self.resolve_own(graph, parent, report);
        }
        for (node, element) in &self.links {
            let origin = graph.origin(self.scope);
            let _ = place(graph, *node, element, self.scope, origin, report);
        }
        for (node, element) in &self.frames {
            let _ = self.resolve_frame(graph, *node, element, report);
        }
        for (node, element) in &self.joints {
            let _ = self.resolve_joint(graph, *node, element, report);
        }
        for interface in &self.interfaces {
            let _ = interface.resolve(graph, self.scope, report);
        }
        for model in &self.models {
            model.resolve(graph, Some(self.scope), report);
        }
    }

    fn resolve_own(&self, graph: &mut Graph, parent: ScopeId, report: &Report) -> Parsed<()> {
        let element = self.element;
        if let Some(name) = element.filled("canonical_link") {
            let what = "the canonical link";
            let at = &element.place;
            let link = graph.find_or_report(self.scope, name, what, at, report)?;
            if graph.kind(link) != Kind::Link {
                let message = format!("the canonical link '{name}' is not a link");
                return Err(report.error(element, message));
            }
            graph.set_canonical(self.scope, link);
        }
        placement(graph, self.node, element, self.scope, report)?;
        let origin = graph.origin(parent);
        place(graph, self.node, element, parent, origin, report)
    }

    fn resolve_frame(
        &self,
        graph: &mut Graph,
        node: NodeId,
        element: &Element,
        report: &Report,
    ) -> Parsed<()> {
        let on = match element.filled("attached_to") {
            Some(name) => {
                let what = format!("attached_to of frame '{}'", graph.name(node));
                graph.find_or_report(self.scope, name, &what, &element.place, report)?
            }
            None => graph.origin(self.scope),
        };
        graph.set_on(node, on);
        // Only the stand-in for the frame of a merged model has one.
        placement(graph, node, element, self.scope, report)?;
        place(graph, node, element, self.scope, on, report)
    }

    fn resolve_joint(
        &self,
        graph: &mut Graph,
        node: NodeId,
        element: &Element,
        report: &Report,
    ) -> Parsed<()> {
        let name = report.required_text(element, "child")?;
        let what = format!("<child> of joint '{}'", graph.name(node));
        if name == "world" {
            let message = format!("{what} is the world; swap parent and child");
            return Err(report.error(element, message));
        }
        let child = graph.find_or_report(self.scope, name, &what, &element.place, report)?;
        graph.set_on(node, child);
        place(graph, node, element, self.scope, child, report)
    }
}

/// Sets the pose of an element as it stands, in what it is relative to.
pub(super) fn place(
    graph: &mut Graph,
    node: NodeId,
    element: &Element,
    scope: ScopeId,
    default: NodeId,
    report: &Report,
) -> Parsed<()> {
    let base = match element.relative_to() {
        Some(name) => {
            let what = format!("relative_to of the pose of '{}'", graph.name(node));
            graph.find_or_report(scope, name, &what, &element.place, report)?
        }
        None => default,
    };
    graph.set_pose(node, element.pose(), base);
    Ok(())
}

/// Notes which frame inside the pose of an element is about, if not its own.
pub(super) fn placement(
    graph: &mut Graph,
    node: NodeId,
    element: &Element,
    inner: ScopeId,
    report: &Report,
) -> Parsed<()> {
    if let Some(name) = element.filled("placement_frame") {
        let what = format!("the placement frame of '{}'", graph.name(node));
        let frame = graph.find_or_report(inner, name, &what, &element.place, report)?;
        graph.set_placement(node, frame);
    }
    Ok(())
}
