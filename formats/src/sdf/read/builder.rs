//! Adding the models of a document to the plant, in the order of Drake's parser: nested models
//! first, then links, the model's frame, joints, frames and the rest.

use super::element::{Element, Report, truth};
use super::frames::{FrameGraph, NodeId, NodeKind, ScopeId};
use super::model::Model;
use crate::reading::target::ParseTarget;
use std::collections::{HashMap, HashSet};
use tarragon_documents::xml::Parsed;
use tarragon_multibody::{
    BodyIndex, DeformableBodyIndex, FixedOffsetFrame, Joint, JointIndex, ModelInstanceIndex,
};

/// Elements of a world that are ignored with a warning.
const IGNORED_IN_WORLD: [&str; 16] = [
    "audio",
    "wind",
    "gravity",
    "magnetic_field",
    "atmosphere",
    "gui",
    "physics",
    "scene",
    "light",
    "plugin",
    "road",
    "state",
    "population",
    "model_state",
    "particle_emitter",
    "actor",
];
/// Elements of a model that are ignored with a warning.
const IGNORED_IN_MODEL: [&str; 6] = [
    "self_collide",
    "allow_auto_disable",
    "enable_wind",
    "plugin",
    "gripper",
    "model_state",
];
/// Drake's own elements of a model, without the prefix `drake:`.
const DRAKE_IN_MODEL: [&str; 6] = [
    "joint",
    "linear_bushing_rpy",
    "linear_spring_damper",
    "ball_constraint",
    "tendon_constraint",
    "collision_filter_group",
];

/// Poses that differ by less than this (m, rad) are equal up to rounding.
const SAME: f64 = 1e-6;

/// Builder that adds models to the plant.
pub(super) struct SdfBuilder<'a, 't> {
    pub(super) target: &'a mut ParseTarget<'t>,
    pub(super) graph: &'a mut FrameGraph,
    pub(super) report: &'a Report,
    /// Joints of the plant by their nodes in the graph.
    pub(super) joints: HashMap<NodeId, JointIndex>,
    /// Deformable links with their bodies; `None` for those that are left out.
    pub(super) deformables: HashMap<NodeId, Option<DeformableBodyIndex>>,
    models: Vec<ModelInstanceIndex>,
}

/// The model that is being added.
#[derive(Clone, Copy)]
pub(super) struct CurrentModel<'m> {
    pub(super) scope: ScopeId,
    pub(super) instance: ModelInstanceIndex,
    /// The name of the model instance.
    pub(super) name: &'m str,
    pub(super) is_static: bool,
}

impl<'a, 't> SdfBuilder<'a, 't> {
    pub(super) fn new(
        target: &'a mut ParseTarget<'t>,
        graph: &'a mut FrameGraph,
        report: &'a Report,
    ) -> Self {
        Self {
            target,
            graph,
            report,
            joints: HashMap::new(),
            deformables: HashMap::new(),
            models: vec![],
        }
    }

    /// Returns all model instances that were added, parents before children.
    pub(super) fn into_models(self) -> Vec<ModelInstanceIndex> {
        self.models
    }

    pub(super) fn world(&mut self, world: &Model<'_>, scope: &str) {
        let report = self.report;
        report.check_children(world.element, &IGNORED_IN_WORLD, &[]);
        self.time_step(world.element);
        self.place_interfaces(world);
        for model in &world.models {
            // Here and below: errors were reported, and the rest is still read.
            let _ = self.model(model, scope);
        }
        for (node, element) in &world.frames {
            let _ = self.frame(*node, element);
        }
        for (node, element) in &world.joints {
            if element.filled("type") == Some("fixed") {
                let _ = self.joint(*node, element, world.scope);
            } else {
                let message = format!(
                    "joint '{}' is in a world, where joints must be of type fixed",
                    element.name()
                );
                report.error(element, message);
            }
        }
    }

    /// Reads the step size of the first `<physics>` that is marked as default, or of the first one.
    fn time_step(&mut self, world: &Element) {
        let is_default = |physics: &&Element| {
            let default = physics.attribute("default").and_then(truth);
            default == Some(true)
        };
        let first = world.all("physics").next();
        let Some(physics) = world.all("physics").find(is_default).or(first) else {
            return;
        };
        match physics.number("max_step_size") {
            Some(step) if step > 0.0 && step.is_finite() => {
                self.target.options.time_step.get_or_insert(step);
            }
            Some(step) => self.report.warning(
                physics,
                format!(
                    "<max_step_size> must be positive and finite, got {step:?} s; the world has no \
                     time step"
                ),
            ),
            None => {}
        }
    }

    pub(super) fn top_model(&mut self, model: &Model<'_>, scope: &str) {
        let _ = self.model(model, scope);
    }

    fn model(&mut self, model: &Model<'_>, outer: &str) -> Parsed<()> {
        let report = self.report;
        let element = model.element;
        report.check_children(element, &IGNORED_IN_MODEL, &DRAKE_IN_MODEL);
        let merged = model.interfaces.iter().find(|i| i.merged);
        let instance = match merged {
            // A model in another format has created the model instance.
            Some(interface) => Ok(interface.instance),
            None => self.target.add_model_instance(outer, &model.name),
        };
        let instance = instance.map_err(|e| report.error(element, e))?;
        self.models.push(instance);
        self.graph.set_instance(model.scope, instance);
        let name = self.target.plant.model_instance_name(instance);
        let name = name.map_err(|e| report.error(element, e))?.to_string();
        self.place_interfaces(model);
        for inner in &model.models {
            let _ = self.model(inner, &name);
        }
        let current = CurrentModel {
            scope: model.scope,
            instance,
            name: &name,
            is_static: element.flag("static", false),
        };
        for (node, link) in &model.links {
            let _ = self.link(*node, link, current);
        }
        let _ = self.model_frame(model, current);
        for (node, joint) in &model.joints {
            let fixed = joint.filled("type") == Some("fixed");
            if current.is_static && !fixed {
                let message = format!(
                    "joint '{}' is in a static model, where joints must be of type fixed",
                    joint.name()
                );
                report.error(joint, message);
                continue;
            }
            let _ = self.joint(*node, joint, model.scope);
        }
        for (node, joint) in &model.joints {
            if let Some(mimic) = joint.child("drake:mimic") {
                let _ = self.mimic(*node, mimic, current);
            }
        }
        for (node, frame) in &model.frames {
            let _ = self.frame(*node, frame);
        }
        self.drake_elements(element, current);
        if current.is_static {
            self.fix_to_world(model, instance);
        }
        Ok(())
    }

    fn place_interfaces(&mut self, model: &Model<'_>) {
        for interface in &model.interfaces {
            let placed = interface.place_bodies(self.graph, self.target.plant);
            if let Err(error) = placed {
                self.report.error(model.element, error);
            }
        }
    }

    /// Adds the frame `__model__` on the canonical link.
    fn model_frame(&mut self, model: &Model<'_>, current: CurrentModel<'_>) -> Parsed<()> {
        // A frame that is attached to itself in a cycle is an error even if nothing else refers to
        // it.
        self.graph.body_of(model.node, self.report)?;
        let link = self.graph.canonical(model.scope);
        let on = link.and_then(|l| Some((l, self.graph.body(l)?)));
        let (link, body) = on.unwrap_or((FrameGraph::WORLD, BodyIndex::WORLD));
        let x_bf = self
            .graph
            .relative(link, model.node, self.graph.scope(model.node));
        let frame = FixedOffsetFrame::new("__model__", body, x_bf.isometry());
        let frame = frame.with_model_instance(current.instance);
        let added = self.target.plant.add_frame(frame);
        let added = added.map_err(|e| self.report.error(model.element, e))?;
        self.graph.set_frame(model.node, added);
        Ok(())
    }

    /// Adds a frame that is fixed on a body.
    fn frame(&mut self, node: NodeId, element: &Element) -> Parsed<()> {
        let (link, body) = if self.is_on_deformable_model(node)? {
            (FrameGraph::WORLD, BodyIndex::WORLD)
        } else {
            self.body_under(node, element)?
        };
        let plant = &mut *self.target.plant;
        let on = self.graph.on(node).unwrap_or(link);
        let scope = self.graph.scope(node);
        let x_on = self.graph.relative(on, node, scope).isometry();
        // Drake places a frame relative to the plant's frame that it is attached to, which it looks
        // up in the model instance of the model that declares the name. Joints, and frames that
        // come later in the file, have no such frame; Drake then uses the frame that they move
        // with, wherever it is.
        let sink = self.graph.sink_of(node, self.report)?;
        let found = self.graph.frame(on).map(|f| &plant[f]);
        let found = found.filter(|f| {
            let around = self.graph.instance_around(on);
            self.graph.kind(on) != NodeKind::Frame || around == Some(f.model_instance())
        });
        let stand_in = self.graph.frame(sink).map(|f| &plant[f]);
        let (instance, body, x_bf) = match found.or(stand_in) {
            Some(frame) => {
                let x_bf = frame.pose_in_body() * x_on;
                (frame.model_instance(), frame.body(), x_bf)
            }
            None => (plant[body].model_instance(), body, x_on),
        };
        // The frame of a model may be fixed to the world although the model moves with a link.
        let base = if body == BodyIndex::WORLD {
            FrameGraph::WORLD
        } else {
            link
        };
        let meant = self.graph.relative(base, node, scope).isometry();
        let apart = (x_bf.translation.vector - meant.translation.vector).norm();
        if apart > SAME || x_bf.rotation.angle_to(&meant.rotation) > SAME {
            let message = format!(
                "frame '{}' is attached to '{}', for which the plant has no frame at this point; \
                 as in Drake, it is placed as if that were at the origin of link '{}'; attach it \
                 to the link instead",
                element.name(),
                self.graph.name(on),
                self.graph.name(link)
            );
            self.report.warning(element, message);
        }
        let frame = FixedOffsetFrame::new(self.graph.name(node), body, x_bf);
        let added = plant.add_frame(frame.with_model_instance(instance));
        let added = added.map_err(|e| self.report.error(element, e))?;
        self.graph.set_frame(node, added);
        self.report.check_children(element, &[], &[]);
        Ok(())
    }

    /// Returns true if a frame is attached to the frame of a model whose canonical link is
    /// deformable, which is on the world.
    fn is_on_deformable_model(&self, node: NodeId) -> Parsed<bool> {
        // Finds cycles.
        self.graph.body_of(node, self.report)?;
        let mut at = node;
        loop {
            match (self.graph.kind(at), self.graph.on(at)) {
                (NodeKind::Model(scope), _) => {
                    let link = self.graph.canonical(scope);
                    return Ok(link.is_some_and(|link| self.deformables.contains_key(&link)));
                }
                (NodeKind::Frame, Some(on)) => at = on,
                _ => return Ok(false),
            }
        }
    }

    /// Returns the link that something moves with, as a node of the graph and as a body.
    pub(super) fn body_under(
        &self,
        node: NodeId,
        element: &Element,
    ) -> Parsed<(NodeId, BodyIndex)> {
        let link = self.graph.body_of(node, self.report)?;
        match self.graph.body(link) {
            Some(body) => Ok((link, body)),
            None => {
                let message = format!(
                    "link '{}', which '{}' needs, is not a rigid body or could not be read",
                    self.graph.name(link),
                    element.name()
                );
                Err(self.report.error(element, message))
            }
        }
    }

    /// Returns the node that a name denotes in a scope; `what` names the reference in the error
    /// message.
    pub(super) fn find(
        &self,
        scope: ScopeId,
        name: &str,
        what: &str,
        element: &Element,
    ) -> Parsed<NodeId> {
        self.graph
            .find_or_report(scope, name, what, &element.place, self.report)
    }

    /// Returns the body of the link that a name denotes.
    pub(super) fn link_named(
        &self,
        scope: ScopeId,
        name: &str,
        element: &Element,
    ) -> Parsed<BodyIndex> {
        let what = format!("<{}>", element.tag);
        let node = self.find(scope, name, &what, element)?;
        if self.graph.kind(node) != NodeKind::Link {
            let message = format!("{what} must name a link, got '{name}'");
            return Err(self.report.error(element, message));
        }
        self.body_under(node, element).map(|(_, body)| body)
    }

    /// Welds those links of a static model to the world that are not welded to it yet, directly or
    /// indirectly.
    fn fix_to_world(&mut self, model: &Model<'_>, instance: ModelInstanceIndex) {
        let plant = &mut *self.target.plant;
        let mut welds: HashMap<BodyIndex, Vec<BodyIndex>> = HashMap::new();
        for (_, joint) in plant.joints().filter(|(_, j)| j.num_velocities() == 0) {
            let (parent, child) = (joint.parent_body(), joint.child_body());
            welds.entry(parent).or_default().push(child);
            welds.entry(child).or_default().push(parent);
        }
        let mut fixed = HashSet::new();
        let mut fix = |body: BodyIndex| {
            let mut open = vec![body];
            let mut new = false;
            while let Some(body) = open.pop() {
                if fixed.insert(body) {
                    new = true;
                    open.extend(welds.get(&body).into_iter().flatten());
                }
            }
            new
        };
        fix(BodyIndex::WORLD);
        for (node, link) in &model.links {
            let Some(body) = self.graph.body(*node).filter(|body| fix(*body)) else {
                continue;
            };
            let name = format!("sdformat_model_static_world_welds_to_{}", link.name());
            let x_wb = self.graph.in_world(*node).isometry();
            let weld = Joint::weld(name, BodyIndex::WORLD, body, x_wb);
            if let Err(error) = plant.add_joint(weld.with_model_instance(instance)) {
                self.report.error(link, error);
            }
        }
    }
}
