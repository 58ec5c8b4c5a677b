//! State that every page shows, and its changes.
//!
//! The scene holds the latest value of everything, each with the revision at which it was set. A
//! page that has seen all changes up to a revision receives the later ones in order; values that
//! were replaced in the meantime are not sent. Slow pages and fast simulations therefore need no
//! more memory than the scene itself.

use super::animation::MeshcatAnimation;
use super::asset::Asset;
use super::change::{Change, NodeId};
use super::control::Controls;
use super::frame::Framed;
use super::msgpack::Writer;
use super::object::Object;
use super::path::{is_within, tree_key};
use super::property::PropertyValue;
use super::scene_object::{MovingVertices, SceneObject, Stamped};
use super::slider::Slider;
use super::transform::Transform;
use crate::Result;
use foldhash::fast::RandomState;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

/// Maximum number of deletions kept for pages that have not seen them. A page that is further
/// behind must reconnect.
const MAX_DELETIONS: usize = 100_000;
/// Maximum number of one-time messages kept for pages that have not seen them.
const MAX_EVENTS: usize = 256;

/// An animation in the scene.
#[derive(Clone, Debug)]
pub(crate) struct SceneAnimation {
    /// The message that every page understands.
    plain: Framed,
    /// The message with the vertices of objects, if there are any.
    with_vertices: Option<Framed>,
}

impl SceneAnimation {
    /// Returns the message for a page, which may be our own.
    pub(super) fn message(&self, is_our_page: bool) -> &Framed {
        let with_vertices = self.with_vertices.as_ref().filter(|_| is_our_page);
        with_vertices.unwrap_or(&self.plain)
    }
}

/// One path of the tree.
#[derive(Debug)]
pub(crate) struct Node {
    generation: u32,
    /// Revision at which the node was created.
    pub(crate) created: u64,
    pub(crate) path: Arc<str>,
    pub(crate) object: Option<Stamped<SceneObject>>,
    pub(crate) transform: Option<Stamped<Transform>>,
    pub(crate) properties: Vec<(Box<str>, Stamped<Property>)>,
}

/// Value of a property, and the asset that it refers to.
#[derive(Clone, Debug)]
pub(crate) struct Property {
    pub(crate) value: PropertyValue,
    pub(crate) asset: Option<Arc<Asset>>,
}

/// Everything that pages show.
#[derive(Debug, Default)]
pub(crate) struct Scene {
    /// The current revision: that of the last change.
    pub(crate) revision: u64,
    nodes: Vec<Node>,
    free: Vec<u32>,
    index: HashMap<Arc<str>, u32, RandomState>,
    order: BTreeMap<Box<str>, u32>,
    /// Nodes that are not in `order` yet. The order is not needed while a scene is set up.
    late: Vec<u32>,
    /// Changes since the last batch, by revision; empty while no page is connected.
    pub(super) changes: Vec<(u64, Change)>,
    /// Last revision of the last batch.
    pub(super) batched: u64,
    pub(super) deletions: VecDeque<(u64, Arc<str>)>,
    /// Last revision whose deletions were dropped.
    pub(crate) forgotten: u64,
    pub(super) events: VecDeque<(u64, Framed)>,
    pub(crate) controls: Controls,
    pub(crate) animation: Option<Stamped<SceneAnimation>>,
    pub(crate) target: Option<Stamped<[f64; 3]>>,
    /// Whether the page shows its realtime rate chart.
    pub(crate) show_realtime_rate: bool,
    /// The number of connected pages.
    pub(crate) listeners: usize,
}

impl Scene {
    /// Increments the revision and records the change for the next batch. `last` is the revision of
    /// the value's previous change.
    pub(crate) fn mark(&mut self, change: Change, last: u64) -> u64 {
        self.revision += 1;
        // A value that changed since the last batch is already in the list.
        if self.listeners > 0 && last <= self.batched {
            self.changes.push((self.revision, change));
        }
        self.revision
    }

    pub(crate) fn node(&self, id: NodeId) -> Option<&Node> {
        let node = self.nodes.get(id.index as usize)?;
        (node.generation == id.generation).then_some(node)
    }
    /// Returns the node of a full path; creates it if necessary.
    pub(crate) fn node_at(&mut self, full_path: &str) -> NodeId {
        if let Some(&index) = self.index.get(full_path) {
            let generation = self.nodes[index as usize].generation;
            return NodeId { index, generation };
        }
        let path: Arc<str> = full_path.into();
        let index = self.free.pop().unwrap_or(self.nodes.len() as u32);
        let generation = match self.nodes.get(index as usize) {
            Some(node) => node.generation,
            None => 0,
        };
        let id = NodeId { index, generation };
        let created = self.mark(Change::Created(id), 0);
        let node = Node {
            generation,
            created,
            path: path.clone(),
            object: None,
            transform: None,
            properties: Vec::new(),
        };
        match self.nodes.get_mut(index as usize) {
            Some(slot) => *slot = node,
            None => self.nodes.push(node),
        }
        self.index.insert(path, index);
        self.late.push(index);
        id
    }
    /// Returns the number of a node in batches for our own page.
    pub(crate) fn number(id: NodeId) -> u32 {
        id.index
    }
    /// Sorts all nodes into the order of the tree.
    pub(crate) fn settle(&mut self) {
        for index in self.late.drain(..) {
            let path = &self.nodes[index as usize].path;
            self.order.insert(tree_key(path), index);
        }
    }
    /// Returns the nodes in the order of a tree walk.
    pub(crate) fn in_tree_order(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        debug_assert!(self.late.is_empty(), "`settle` was not called");
        self.order.values().map(|&index| {
            let node = &self.nodes[index as usize];
            let generation = node.generation;
            (NodeId { index, generation }, node)
        })
    }

    pub(crate) fn set_object(&mut self, full_path: &str, object: Object) {
        let mut w = Writer::new(Vec::with_capacity(full_path.len() + 40));
        w.map(3).key_str("type", "set_object");
        w.key_str("path", full_path).str("object");
        let header = w.into_inner();
        let vertices = object.vertices;
        let value = SceneObject {
            message: Framed::concat(&[&header, &object.encoded]),
            assets: object.assets,
            vertices: vertices.map(|array| MovingVertices::new(array, header.len())),
        };
        let id = self.node_at(full_path);
        let last = self.node(id).and_then(|n| n.object.as_ref());
        let last = last.map_or(0, |o| o.revision);
        let revision = self.mark(Change::Object(id), last);
        self.nodes[id.index as usize].object = Some(Stamped { revision, value });
    }

    pub(super) fn vertices_mut(&mut self, id: NodeId) -> Option<&mut MovingVertices> {
        let node = self.nodes.get_mut(id.index as usize)?;
        let object = node.object.as_mut()?;
        object.value.vertices.as_mut()
    }

    /// Sets the transform of an existing node. Returns false if the node was deleted.
    pub(crate) fn set_node_transform(&mut self, id: NodeId, value: Transform) -> bool {
        let Some(node) = self.node(id) else {
            return false;
        };
        let last = node.transform.as_ref().map_or(0, |t| t.revision);
        let revision = self.mark(Change::Transform(id), last);
        self.nodes[id.index as usize].transform = Some(Stamped { revision, value });
        true
    }

    pub(crate) fn set_transform(&mut self, full_path: &str, value: Transform) {
        let id = self.node_at(full_path);
        self.set_node_transform(id, value);
    }

    pub(crate) fn set_property(&mut self, full_path: &str, name: &str, value: Property) {
        let id = self.node_at(full_path);
        let properties = &self.nodes[id.index as usize].properties;
        let found = properties.iter().position(|(n, _)| &**n == name);
        let at = found.unwrap_or(properties.len());
        let last = found.map_or(0, |i| properties[i].1.revision);
        let revision = self.mark(Change::Property(id, at), last);
        let properties = &mut self.nodes[id.index as usize].properties;
        let value = Stamped { revision, value };
        match found {
            Some(i) => properties[i].1 = value,
            None => properties.push((name.into(), value)),
        }
    }

    /// Deletes a path and everything below it; the root stays.
    pub(crate) fn delete(&mut self, full_path: &str) {
        if full_path != "/" {
            self.settle();
            let root = tree_key(full_path);
            let range = self.order.range(root.clone()..);
            let found: Vec<(Box<str>, u32)> = range
                .take_while(|(key, _)| is_within(key, &root))
                .map(|(key, index)| (key.clone(), *index))
                .collect();
            for (key, index) in found {
                self.order.remove(&key);
                let node = &mut self.nodes[index as usize];
                self.index.remove(&*node.path);
                node.generation = node.generation.wrapping_add(1);
                (node.object, node.transform) = (None, None);
                node.properties = Vec::new();
                node.path = "".into();
                self.free.push(index);
            }
        }
        let revision = self.mark(Change::Deletion, 0);
        if self.listeners > 0 {
            self.deletions.push_back((revision, full_path.into()));
            if self.deletions.len() > MAX_DELETIONS
                && let Some((revision, _)) = self.deletions.pop_front()
            {
                self.forgotten = revision;
            }
        }
    }

    /// Returns whether a full path or anything below it exists.
    pub(crate) fn has_path(&mut self, full_path: &str) -> bool {
        if full_path == "/" {
            return true;
        }
        self.settle();
        let root = tree_key(full_path);
        let next = self.order.range(root.clone()..).next();
        next.is_some_and(|(key, _)| is_within(key, &root))
    }

    /// Sends a message to the connected pages once; pages that connect later do not receive it.
    pub(crate) fn event(&mut self, message: &[u8]) {
        let revision = self.mark(Change::Event, 0);
        if self.listeners == 0 {
            return;
        }
        self.events.push_back((revision, Framed::new(message)));
        if self.events.len() > MAX_EVENTS {
            self.events.pop_front();
        }
    }

    pub(crate) fn set_animation(&mut self, animation: &MeshcatAnimation) {
        let last = self.animation.as_ref().map_or(0, |a| a.revision);
        let revision = self.mark(Change::Animation, last);
        let with_vertices = animation.has_vertices();
        let value = SceneAnimation {
            plain: Framed::new(&animation.encode(false)),
            with_vertices: with_vertices.then(|| Framed::new(&animation.encode(true))),
        };
        self.animation = Some(Stamped { revision, value });
    }

    pub(crate) fn set_target(&mut self, value: [f64; 3]) {
        let last = self.target.as_ref().map_or(0, |t| t.revision);
        let revision = self.mark(Change::Target, last);
        self.target = Some(Stamped { revision, value });
    }

    pub(crate) fn add_button(&mut self, name: &str, keycode: &str) -> Result<()> {
        if let Some(index) = self.controls.add_button(name, keycode)? {
            self.mark_control(index);
        }
        Ok(())
    }
    pub(crate) fn add_slider(&mut self, name: &str, slider: Slider) -> Result<()> {
        let index = self.controls.add_slider(name, slider)?;
        self.mark_control(index);
        Ok(())
    }
    fn mark_control(&mut self, index: usize) {
        let last = self.controls.changed(index).unwrap_or(0);
        let revision = self.mark(Change::Control(index), last);
        self.controls.stamp(index, revision);
    }
    /// Sets a slider and notifies all pages.
    pub(crate) fn set_slider_value(&mut self, name: &str, value: f64) -> Result<()> {
        if let Some(index) = self.controls.set_slider(name, value)? {
            let last = self.controls.valued(index).unwrap_or(0);
            let revision = self.mark(Change::ControlValue(index), last);
            self.controls.stamp_value(index, revision);
        }
        Ok(())
    }
    pub(crate) fn delete_control(&mut self, kind: &str, name: &str) -> Result<()> {
        self.controls.remove(kind, name)?;
        self.mark_control_deletion(name.into());
        Ok(())
    }
    pub(crate) fn delete_controls(&mut self) {
        for name in self.controls.clear() {
            self.mark_control_deletion(name);
        }
    }
    fn mark_control_deletion(&mut self, name: String) {
        let revision = self.mark(Change::ControlDeletion, 0);
        if self.listeners > 0 {
            let forgotten = self.controls.keep_deletion(revision, name, MAX_DELETIONS);
            self.forgotten = self.forgotten.max(forgotten);
        }
    }

    /// Registers a new page; changes are listed from now on.
    pub(crate) fn listen(&mut self) {
        if self.listeners == 0 {
            self.batched = self.revision;
        }
        self.listeners += 1;
    }
    /// Unregisters a page.
    pub(crate) fn leave(&mut self) {
        self.listeners -= 1;
        if self.listeners == 0 {
            self.changes = Vec::new();
            self.deletions = VecDeque::new();
            self.events = VecDeque::new();
            self.controls.forget_deletions(self.revision);
            (self.batched, self.forgotten) = (self.revision, self.revision);
        }
    }
    /// Drops deletions and events that every page has seen.
    pub(crate) fn forget(&mut self, seen: u64) {
        while self
            .deletions
            .front()
            .is_some_and(|(revision, _)| *revision <= seen)
        {
            self.deletions.pop_front();
        }
        while self
            .events
            .front()
            .is_some_and(|(revision, _)| *revision <= seen)
        {
            self.events.pop_front();
        }
        self.controls.forget_deletions(seen);
    }
    /// Returns whether anything changed since the last batch.
    pub(crate) fn has_changed(&self) -> bool {
        self.revision > self.batched
    }

    /// Returns the revision at which the item of `change` was last set; `None` if it was deleted.
    pub(crate) fn current(&self, revision: u64, change: Change) -> Option<u64> {
        match change {
            Change::Created(id) => Some(self.node(id)?.created),
            Change::Object(id) => Some(self.node(id)?.object.as_ref()?.revision),
            Change::Vertices(id) => {
                let object = &self.node(id)?.object.as_ref()?.value;
                Some(object.vertices.as_ref()?.moved.as_ref()?.revision)
            }
            Change::Transform(id) => Some(self.node(id)?.transform.as_ref()?.revision),
            Change::Property(id, i) => Some(self.node(id)?.properties.get(i)?.1.revision),
            Change::Deletion | Change::Event | Change::ControlDeletion => Some(revision),
            Change::Control(i) => self.controls.changed(i),
            Change::ControlValue(i) => self.controls.valued(i),
            Change::Animation => Some(self.animation.as_ref()?.revision),
            Change::Target => Some(self.target.as_ref()?.revision),
        }
    }
    pub(crate) fn deletion(&self, revision: u64) -> Option<&str> {
        find(&self.deletions, revision).map(|path| &**path)
    }
    pub(crate) fn event_at(&self, revision: u64) -> Option<&Framed> {
        find(&self.events, revision)
    }
}

/// Returns the entry of a revision in a list sorted by revisions.
fn find<V>(list: &VecDeque<(u64, V)>, revision: u64) -> Option<&V> {
    let at = list.binary_search_by_key(&revision, |(s, _)| *s).ok()?;
    Some(&list[at].1)
}
