//! The models of a document: their names, and the poses of everything in them.

use super::element::{Element, Report};
use super::frames::{FrameGraph, NodeId, NodeKind, ScopeId};
use super::graph_builder::FrameGraphBuilder;
use super::interface::{self, InterfaceModel};
use super::placement::{place, placement};
use tarragon_documents::names::scoped;
use tarragon_documents::xml::Parsed;

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
    pub(super) interfaces: Vec<InterfaceModel<'e>>,
}

impl FrameGraphBuilder<'_, '_> {
    /// Declares a world; `scope` is the prefix of the names of its model instances.
    pub(super) fn world<'e>(&mut self, element: &'e Element, scope: &str) -> Model<'e> {
        let mut world = Model::new(element, "", FrameGraph::WORLD, FrameGraph::ROOT);
        self.content(&mut world, scope, None);
        world
    }

    /// Declares a model called `name`, whose parent model instance is `outer`.
    pub(super) fn model<'e>(
        &mut self,
        element: &'e Element,
        name: &str,
        parent: ScopeId,
        outer: &str,
    ) -> Parsed<Model<'e>> {
        let place = &element.place;
        let is_static = element.flag("static", false);
        let (node, scope) = self
            .graph
            .add_model(parent, name, is_static, place, self.report)?;
        let mut model = Model::new(element, name, node, scope);
        self.content(&mut model, &scoped(outer, name), Some(outer));
        if model.has_content() || is_static {
            Ok(model)
        } else {
            let message =
                format!("model '{name}' has no link; a model that is not static needs one");
            Err(self.report.error(element, message))
        }
    }

    /// Declares the content of a model or a world. `instance` is the name of the model instance,
    /// `outer` that of its parent (`None` for a world).
    fn content<'e>(&mut self, model: &mut Model<'e>, instance: &str, outer: Option<&str>) {
        let element = model.element;
        for child in &element.children {
            let (kind, list) = match child.tag.as_str() {
                "link" if outer.is_some() => (NodeKind::Link, &mut model.links),
                "frame" => (NodeKind::Frame, &mut model.frames),
                "joint" => (NodeKind::Joint, &mut model.joints),
                _ => continue,
            };
            let (scope, place) = (model.scope, &child.place);
            let added = self
                .graph
                .add(scope, child.name(), kind, place, self.report);
            // An invalid name was reported; the rest is still read.
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

    /// Returns true if there is anything that the model's frame could move with.
    fn has_content(&self) -> bool {
        let lists = [self.links.len(), self.models.len(), self.interfaces.len()];
        lists.iter().any(|n| *n > 0)
    }

    /// Attaches the frames of this model and of its nested models to the links that they move with.
    pub(super) fn attach(&self, graph: &mut FrameGraph, report: &Report) {
        for model in &self.models {
            model.attach(graph, report);
        }
        match self.element.filled("canonical_link") {
            // A missing link was reported; the rest is still read.
            Some(name) => {
                let _ = self.attach_to(graph, name, report);
            }
            None => self.attach_to_first(graph),
        }
    }

    fn attach_to(&self, graph: &mut FrameGraph, name: &str, report: &Report) -> Parsed<()> {
        let element = self.element;
        // Links of files in other formats, which are in the plant already, do not count as links in
        // Drake.
        let is_link = |on: &NodeId| graph.kind(*on) == NodeKind::Link && graph.body(*on).is_none();
        let found = graph.find(self.scope, name);
        let Some(link) = found.filter(is_link) else {
            if !element.flag("static", false) {
                let what = "the canonical link";
                let on = graph.find_or_report(self.scope, name, what, &element.place, report)?;
                graph.attach(self.scope, on, None);
            }
            let message = format!(
                "canonical_link of model '{}' must be a link of an SDFormat file, got '{name}'; as \
                 in Drake, the frame of the model is fixed to the world",
                self.name
            );
            report.warning(element, message);
            return Ok(());
        };
        graph.attach(self.scope, link, Some(link));
        Ok(())
    }

    /// Attaches the frame of a model without `canonical_link` to its first link, or else to that of
    /// its first nested model.
    fn attach_to_first(&self, graph: &mut FrameGraph) {
        let merged = self.interfaces.iter().filter(|i| i.merged);
        let merged = merged.flat_map(|i| &i.links).next();
        if let Some((link, _)) = self.links.first() {
            graph.attach(self.scope, *link, Some(*link));
        } else if let Some(link) = merged {
            graph.attach(self.scope, *link, None);
        } else if let Some(first) = self.models.first() {
            let link = graph.canonical(first.scope);
            graph.attach(self.scope, first.node, link);
        } else if let Some(first) = self.interfaces.first() {
            graph.attach(self.scope, first.node, None);
        }
    }

    /// Resolves the names of the frames that poses are relative to and that frames are attached to.
    pub(super) fn resolve(&self, graph: &mut FrameGraph, parent: Option<ScopeId>, report: &Report) {
        // Missing frames were reported; the rest is still resolved.
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

    fn resolve_own(&self, graph: &mut FrameGraph, parent: ScopeId, report: &Report) -> Parsed<()> {
        let element = self.element;
        placement(graph, self.node, element, self.scope, report)?;
        let origin = graph.origin(parent);
        place(graph, self.node, element, parent, origin, report)
    }

    fn resolve_frame(
        &self,
        graph: &mut FrameGraph,
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
        // Only the proxy for the frame of a merged model has a placement frame.
        placement(graph, node, element, self.scope, report)?;
        place(graph, node, element, self.scope, on, report)
    }

    fn resolve_joint(
        &self,
        graph: &mut FrameGraph,
        node: NodeId,
        element: &Element,
        report: &Report,
    ) -> Parsed<()> {
        let name = report.required_text(element, "child")?;
        let what = format!("<child> of joint '{}'", graph.name(node));
        if name == "world" {
            let message = format!("{what} must not be the world; swap parent and child");
            return Err(report.error(element, message));
        }
        let child = graph.find_or_report(self.scope, name, &what, &element.place, report)?;
        graph.set_on(node, child);
        place(graph, node, element, self.scope, child, report)
    }
}
