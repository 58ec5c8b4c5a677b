//! The graph of frames of a document: the poses of frames, and the bodies that they are on
//! (<http://sdformat.org/tutorials?tut=pose_frame_semantics_proposal>).

use super::element::{Report, SourceLocation};
use super::pose::Pose;
use std::collections::BTreeMap;
use tarragon_documents::names;
use tarragon_documents::xml::{Parsed, Reported};
use tarragon_multibody::{BodyIndex, FrameIndex, ModelInstanceIndex};

/// Maximum number of placement frames that depend on each other.
const MAX_PLACEMENTS: usize = 100;

/// Maximum length of a chain of frames that is composed from the node upwards; poses below longer
/// chains are composed from the top, in linear time.
const MAX_EXACT: usize = 64;

/// Index of anything that has a pose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct NodeId(usize);

/// Index of a world or a model, within which names are unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ScopeId(usize);

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum NodeKind {
    World,
    Model(ScopeId),
    Link,
    Frame,
    Joint,
}

#[derive(Debug)]
struct FrameNode {
    name: String,
    scope: ScopeId,
    kind: NodeKind,
    place: SourceLocation,
    /// Pose in `base`.
    pose: Pose,
    base: NodeId,
    /// The node that a frame or a joint moves with.
    on: Option<NodeId>,
    /// The frame that `pose` places, if it is not this node.
    placement: Option<NodeId>,
    body: Option<BodyIndex>,
    frame: Option<FrameIndex>,
}

#[derive(Debug)]
struct NameScope {
    /// The frame of the model, or the world.
    origin: NodeId,
    /// Name of the scope in messages.
    title: String,
    names: BTreeMap<String, NodeId>,
    /// The node that the frame of a model moves with; `None` for the world and for a model without
    /// links.
    on: Option<NodeId>,
    is_static: bool,
    /// The link of an SDFormat file on which the plant has the frame of a model.
    canonical: Option<NodeId>,
    instance: Option<ModelInstanceIndex>,
}

#[derive(Debug)]
pub(super) struct FrameGraph {
    nodes: Vec<FrameNode>,
    scopes: Vec<NameScope>,
    /// Poses in the world or in the model at the top, once they are known.
    poses: Vec<Option<Pose>>,
    /// Poses in the base, once they are known.
    locals: Vec<Option<Pose>>,
    /// Number of steps from the world or the model at the top.
    depths: Vec<usize>,
    /// The model at the top of a file without a world. Poses are relative to it, as in the format's
    /// own library, so that they are the same wherever the model is.
    top: Option<NodeId>,
    /// Pose of the model at the top in the world.
    top_pose: Pose,
}

impl FrameGraph {
    pub(super) const WORLD: NodeId = NodeId(0);
    pub(super) const ROOT: ScopeId = ScopeId(0);

    /// Creates a graph with the world only.
    pub(super) fn new(title: &str, place: SourceLocation) -> Self {
        let world = FrameNode {
            name: "world".into(),
            scope: Self::ROOT,
            kind: NodeKind::World,
            place,
            pose: Pose::IDENTITY,
            base: Self::WORLD,
            on: None,
            placement: None,
            body: Some(BodyIndex::WORLD),
            frame: Some(FrameIndex::WORLD),
        };
        let scope = NameScope {
            origin: Self::WORLD,
            title: title.into(),
            names: BTreeMap::new(),
            on: None,
            is_static: true,
            canonical: None,
            instance: Some(ModelInstanceIndex::WORLD),
        };
        Self {
            nodes: vec![world],
            scopes: vec![scope],
            poses: vec![],
            locals: vec![],
            depths: vec![],
            top: None,
            top_pose: Pose::IDENTITY,
        }
    }

    /// Adds a link, frame, joint or model, at first at the origin of its scope.
    pub(super) fn add(
        &mut self,
        scope: ScopeId,
        name: &str,
        kind: NodeKind,
        place: &SourceLocation,
        report: &Report,
    ) -> Parsed<NodeId> {
        let reserved =
            name == "world" || (name.len() > 3 && name.starts_with("__") && name.ends_with("__"));
        let message = if reserved {
            format!("the name '{name}' is reserved")
        } else if let Some(other) = self.scopes[scope.0].names.get(name) {
            let (line, _) = self.node(*other).place.at;
            format!(
                "the name '{name}' is taken in {} (line {line}); names of links, frames, joints \
                 and models must be unique",
                self.scopes[scope.0].title
            )
        } else {
            return Ok(self.push(scope, name, kind, place));
        };
        Err(report.error_at(place, message))
    }

    fn push(
        &mut self,
        scope: ScopeId,
        name: &str,
        kind: NodeKind,
        place: &SourceLocation,
    ) -> NodeId {
        let id = NodeId(self.nodes.len());
        self.nodes.push(FrameNode {
            name: name.into(),
            scope,
            kind,
            place: place.clone(),
            pose: Pose::IDENTITY,
            base: self.scopes[scope.0].origin,
            on: None,
            placement: None,
            body: None,
            frame: None,
        });
        self.scopes[scope.0].names.insert(name.into(), id);
        id
    }

    /// Adds a model: a frame in its scope and a scope of its own.
    pub(super) fn add_model(
        &mut self,
        scope: ScopeId,
        name: &str,
        is_static: bool,
        place: &SourceLocation,
        report: &Report,
    ) -> Parsed<(NodeId, ScopeId)> {
        let inner = ScopeId(self.scopes.len());
        let origin = self.add(scope, name, NodeKind::Model(inner), place, report)?;
        self.scopes.push(NameScope {
            origin,
            title: format!("model '{name}'"),
            names: BTreeMap::new(),
            on: None,
            is_static,
            canonical: None,
            instance: None,
        });
        Ok((origin, inner))
    }

    fn node(&self, id: NodeId) -> &FrameNode {
        &self.nodes[id.0]
    }
    fn node_mut(&mut self, id: NodeId) -> &mut FrameNode {
        &mut self.nodes[id.0]
    }
    pub(super) fn name(&self, id: NodeId) -> &str {
        &self.node(id).name
    }
    pub(super) fn kind(&self, id: NodeId) -> NodeKind {
        self.node(id).kind
    }
    pub(super) fn place(&self, id: NodeId) -> &SourceLocation {
        &self.node(id).place
    }
    pub(super) fn origin(&self, scope: ScopeId) -> NodeId {
        self.scopes[scope.0].origin
    }
    /// Sets the model at the top of the file.
    pub(super) fn set_top(&mut self, model: NodeId) {
        self.top = Some(model);
    }
    pub(super) fn canonical(&self, scope: ScopeId) -> Option<NodeId> {
        self.scopes[scope.0].canonical
    }
    /// Fixes the frame of a model on a node. In the plant, the frame is on `link`, or on the world
    /// if that is `None`.
    pub(super) fn attach(&mut self, scope: ScopeId, on: NodeId, link: Option<NodeId>) {
        let scope = &mut self.scopes[scope.0];
        (scope.on, scope.canonical) = (Some(on), link);
    }
    pub(super) fn set_pose(&mut self, id: NodeId, pose: Pose, base: NodeId) {
        let node = self.node_mut(id);
        (node.pose, node.base) = (pose, base);
    }
    pub(super) fn set_on(&mut self, id: NodeId, on: NodeId) {
        self.node_mut(id).on = Some(on);
    }
    /// Returns the node that a frame or a joint moves with.
    pub(super) fn on(&self, id: NodeId) -> Option<NodeId> {
        self.node(id).on
    }
    pub(super) fn set_placement(&mut self, id: NodeId, frame: NodeId) {
        self.node_mut(id).placement = Some(frame);
    }
    pub(super) fn set_body(&mut self, id: NodeId, body: BodyIndex) {
        self.node_mut(id).body = Some(body);
    }
    pub(super) fn body(&self, id: NodeId) -> Option<BodyIndex> {
        self.node(id).body
    }
    pub(super) fn set_frame(&mut self, id: NodeId, frame: FrameIndex) {
        self.node_mut(id).frame = Some(frame);
    }
    pub(super) fn set_instance(&mut self, scope: ScopeId, instance: ModelInstanceIndex) {
        self.scopes[scope.0].instance = Some(instance);
    }
    /// Returns the model instance of the model in which a node is declared.
    pub(super) fn instance_around(&self, id: NodeId) -> Option<ModelInstanceIndex> {
        self.scopes[self.node(id).scope.0].instance
    }
    pub(super) fn frame(&self, id: NodeId) -> Option<FrameIndex> {
        self.node(id).frame
    }

    /// Finds the node of a name in a scope; the name may be plain or scoped by models. In old
    /// files, `::` may be part of a name.
    pub(super) fn find(&self, scope: ScopeId, name: &str) -> Option<NodeId> {
        match name {
            "__model__" if scope != Self::ROOT => return Some(self.origin(scope)),
            "world" | "__root__" if scope == Self::ROOT => return Some(Self::WORLD),
            _ => {}
        }
        let names = &self.scopes[scope.0].names;
        let inside = |(at, _): (usize, &str)| {
            let model = names.get(&name[..at])?;
            match self.kind(*model) {
                NodeKind::Model(inner) => self.find(inner, &name[at + 2..]),
                _ => None,
            }
        };
        let found = names.get(name).copied();
        found.or_else(|| name.match_indices("::").find_map(inside))
    }

    /// Same as [`Self::find`], but reports a missing node; `what` names the reference in the
    /// message.
    pub(super) fn find_or_report(
        &self,
        scope: ScopeId,
        name: &str,
        what: &str,
        place: &SourceLocation,
        report: &Report,
    ) -> Parsed<NodeId> {
        self.find(scope, name).ok_or_else(|| {
            let scope = &self.scopes[scope.0];
            let known = scope.names.keys().map(String::as_str);
            let error = names::unknown("link, frame, joint or model", name, known);
            report.error_at(place, format!("{what} in {}: {error}", scope.title))
        })
    }

    /// Returns the link or the world that a node moves with.
    pub(super) fn body_of(&self, id: NodeId, report: &Report) -> Parsed<NodeId> {
        self.end_of(id, false, report)
    }
    /// Same as [`Self::body_of`], but stops at static models, as the format's library does.
    pub(super) fn sink_of(&self, id: NodeId, report: &Report) -> Parsed<NodeId> {
        self.end_of(id, true, report)
    }

    fn end_of(&self, id: NodeId, static_ends: bool, report: &Report) -> Parsed<NodeId> {
        let mut at = id;
        // A chain with more steps than there are nodes has a cycle.
        for _ in 0..=self.nodes.len() {
            let next = match self.kind(at) {
                NodeKind::World | NodeKind::Link => return Ok(at),
                NodeKind::Model(scope) => {
                    let scope = &self.scopes[scope.0];
                    if static_ends && scope.is_static {
                        return Ok(at);
                    }
                    // Models without links are static.
                    Some(scope.on.unwrap_or(Self::WORLD))
                }
                NodeKind::Frame | NodeKind::Joint => self.node(at).on,
            };
            at = next.ok_or_else(|| {
                let message = format!("'{}' is not attached to any link", self.name(id));
                report.error_at(self.place(id), message)
            })?;
        }
        let message = format!("frame '{}' is attached to itself in a cycle", self.name(id));
        Err(report.error_at(self.place(id), message))
    }

    /// Computes all poses, which also finds cycles.
    pub(super) fn solve(&mut self, report: &Report) -> Parsed<()> {
        self.poses = vec![None; self.nodes.len()];
        self.locals = vec![None; self.nodes.len()];
        self.depths = vec![0; self.nodes.len()];
        self.poses[0] = Some(Pose::IDENTITY);
        let mut result = Ok(());
        if let Some(top) = self.top {
            self.poses[top.0] = Some(Pose::IDENTITY);
            match self.local(top, report, 0) {
                Ok(pose) => self.top_pose = pose,
                Err(reported) => result = Err(reported),
            }
        }
        for id in 0..self.nodes.len() {
            if self.solve_one(NodeId(id), report).is_err() {
                result = Err(Reported);
                // Nodes that depend on this one cause no further errors.
                self.poses[id] = Some(Pose::IDENTITY);
            }
        }
        result
    }

    /// Computes the poses in the world of a node and of all nodes on the way to it.
    fn solve_one(&mut self, id: NodeId, report: &Report) -> Parsed<Pose> {
        let mut chain = vec![];
        let mut at = id;
        let known = loop {
            if let Some(pose) = self.poses[at.0] {
                break pose;
            }
            if chain.len() > self.nodes.len() {
                let message = format!(
                    "the pose of '{}' is relative to itself in a cycle",
                    self.name(id)
                );
                return Err(report.error_at(self.place(id), message));
            }
            chain.push(at);
            at = self.node(at).base;
        };
        let mut pose = known;
        for node in chain.into_iter().rev() {
            let local = self.local(node, report, 0)?;
            let base = self.node(node).base;
            self.depths[node.0] = self.depths[base.0].saturating_add(1);
            pose = if self.depths[node.0] <= MAX_EXACT {
                self.climb(node)
            } else {
                pose.then(&local)
            };
            self.poses[node.0] = Some(pose);
        }
        Ok(pose)
    }

    /// Composes the pose of a node whose ancestors are known from the node upwards, as the format's
    /// library does, so that poses that cancel there also cancel here.
    fn climb(&self, id: NodeId) -> Pose {
        let mut pose = Pose::IDENTITY;
        let mut at = id;
        while self.depths[at.0] > 0 {
            pose = self.locals[at.0].unwrap_or(Pose::IDENTITY).then(&pose);
            at = self.node(at).base;
        }
        pose
    }

    /// Computes the pose of a node in its base.
    fn local(&mut self, id: NodeId, report: &Report, depth: usize) -> Parsed<Pose> {
        if let Some(known) = self.locals[id.0] {
            return Ok(known);
        }
        let mut local = self.node(id).pose;
        if let Some(placement) = self.node(id).placement {
            // The pose of the placement frame depends on this node, directly or indirectly.
            let mut steps = vec![];
            let mut at = placement;
            while at != id {
                if at == Self::WORLD || steps.len() > self.nodes.len() || depth > MAX_PLACEMENTS {
                    let message = format!(
                        "the placement frame '{}' of '{}' must be fixed in its model",
                        self.name(placement),
                        self.name(id)
                    );
                    return Err(report.error_at(self.place(id), message));
                }
                steps.push(at);
                at = self.node(at).base;
            }
            let mut x = Pose::IDENTITY;
            for step in steps.into_iter().rev() {
                x = x.then(&self.local(step, report, depth + 1)?);
            }
            local = local.then(&x.inverse());
        }
        self.locals[id.0] = Some(local);
        Ok(local)
    }

    /// Returns the pose in the world, or in the model at the top.
    fn pose(&self, id: NodeId) -> Pose {
        let known = self.poses.get(id.0).copied().flatten();
        known.unwrap_or(Pose::IDENTITY)
    }
    /// Returns the pose in the world.
    pub(super) fn in_world(&self, id: NodeId) -> Pose {
        if id == Self::WORLD {
            Pose::IDENTITY
        } else {
            self.top_pose.then(&self.pose(id))
        }
    }
    /// Returns the pose in the world or the model of a scope, composed from the node upwards as the
    /// format's library does, so that poses that cancel there also cancel here, wherever that model
    /// is.
    fn in_scope(&self, id: NodeId, scope: ScopeId) -> Pose {
        let origin = self.origin(scope);
        let (mut at, mut pose) = (id, Pose::IDENTITY);
        for _ in 0..MAX_EXACT {
            if at == origin {
                return pose;
            }
            if self.depths.get(at.0).is_none_or(|depth| *depth == 0) {
                break;
            }
            pose = self.locals[at.0].unwrap_or(Pose::IDENTITY).then(&pose);
            at = self.node(at).base;
        }
        if origin == Self::WORLD {
            self.pose(id)
        } else {
            self.pose(origin).inverse().then(&self.pose(id))
        }
    }
    /// Returns the pose of `b` in `a`, by way of the node in which the pose of `b` is given: exact
    /// if that is `a`.
    pub(super) fn placed(&self, a: NodeId, b: NodeId) -> Pose {
        let FrameNode { base, scope, .. } = *self.node(b);
        match self.locals.get(b.0).copied().flatten() {
            Some(local) if base == a => local,
            Some(local) if a != Self::WORLD => self.relative(a, base, scope).then(&local),
            _ => self.relative(a, b, scope),
        }
    }
    /// Returns the pose of `b` in `a`, both declared in a scope.
    pub(super) fn relative(&self, a: NodeId, b: NodeId, scope: ScopeId) -> Pose {
        if a == Self::WORLD {
            self.in_world(b)
        } else {
            let x_sa = self.in_scope(a, scope);
            x_sa.inverse().then(&self.in_scope(b, scope))
        }
    }
    /// Returns the scope in which a node is declared.
    pub(super) fn scope(&self, id: NodeId) -> ScopeId {
        self.node(id).scope
    }
}
