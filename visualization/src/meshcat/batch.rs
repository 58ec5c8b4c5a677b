//! Scene changes as bytes on the wire, encoded once for all pages that need the same ones.

use super::change::{Change, NodeId};
use super::frame::{self, Framed};
use super::msgpack::Writer;
use super::scene::Scene;
use super::transform::Transform;
use bytes::{BufMut, Bytes, BytesMut};

/// Minimum length in bytes of a frame that is sent from its own buffer; shorter frames are copied
/// into a common one.
const SHARED_FROM: usize = 4096;

/// Encoding of transforms and of vertices that move.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Encoding {
    /// One `set_transform` message each, and whole objects, which every page understands.
    Standard,
    /// Many transforms in one message, and vertices alone, for pages that request it by `?batch=1`.
    Batched,
}

/// Separation of messages.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Envelope {
    /// Each message is one websocket frame.
    Websocket,
    /// Each message is preceded by its length (u32, little-endian).
    Length,
}

/// All scene changes in the revision range from `from` (exclusive) to `to` (inclusive).
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    /// Revision that a page must have seen to receive this batch.
    pub(crate) from: u64,
    /// Revision that the page has seen after this batch.
    pub(crate) to: u64,
    encoded: Vec<(Encoding, Vec<Bytes>)>,
}

impl Batch {
    /// Encodes those changes that are still current, in the order in which they were made.
    pub(crate) fn new(
        scene: &Scene,
        from: u64,
        changes: &[(u64, Change)],
        encodings: &[Encoding],
    ) -> Self {
        let current = changes.iter();
        let mut current: Vec<(u64, Change)> = current
            .filter_map(|&(revision, change)| Some((scene.current(revision, change)?, change)))
            .collect();
        current.sort_unstable_by_key(|(revision, _)| *revision);
        let encode = |&encoding: &Encoding| {
            let mut encoder = BatchEncoder::new(scene, encoding, Envelope::Websocket);
            encoder.from = from;
            for (revision, change) in &current {
                encoder.change(*revision, *change);
            }
            (encoding, encoder.finish())
        };
        Self {
            from,
            to: scene.revision,
            encoded: encodings.iter().map(encode).collect(),
        }
    }

    /// Removes all frames: this batch cannot bring pages up to date.
    pub(crate) fn clear(&mut self) {
        self.encoded.clear();
    }
    /// Returns the number of bytes in all encodings together.
    pub(crate) fn length(&self) -> usize {
        self.encoded
            .iter()
            .flat_map(|(_, f)| f)
            .map(Bytes::len)
            .sum()
    }
    /// Returns the frames in an encoding; `None` if the batch was not encoded for it.
    pub(crate) fn frames(&self, encoding: Encoding) -> Option<&[Bytes]> {
        let found = self.encoded.iter().find(|(e, _)| *e == encoding)?;
        Some(&found.1)
    }
}

/// Encodes the whole scene in the order in which a new page receives it: the tree in the order of
/// paths, with properties, object and transform of each node; then the animation, the controls (not
/// in static pages), the camera target, and whether the realtime rate chart is shown.
pub(crate) fn replay(scene: &Scene, encoding: Encoding, envelope: Envelope) -> Vec<Bytes> {
    let mut encoder = BatchEncoder::new(scene, encoding, envelope);
    if encoding == Encoding::Batched {
        let ids: Vec<NodeId> = scene.in_tree_order().map(|(id, _)| id).collect();
        for id in ids {
            encoder.change(0, Change::Created(id));
        }
    }
    for (id, node) in scene.in_tree_order() {
        for i in 0..node.properties.len() {
            encoder.change(0, Change::Property(id, i));
        }
        encoder.change(0, Change::Object(id));
        encoder.change(0, Change::Transform(id));
    }
    encoder.flush_poses();
    encoder.flush_names();
    encoder.change(0, Change::Animation);
    // Without a server, controls would have no effect.
    if envelope == Envelope::Websocket {
        for i in scene.controls.indices() {
            encoder.change(0, Change::Control(i));
        }
    }
    encoder.change(0, Change::Target);
    encoder.message(&show_realtime_rate(scene.show_realtime_rate));
    encoder.finish()
}

fn show_realtime_rate(show: bool) -> Vec<u8> {
    let mut w = Writer::default();
    w.map(2).key_str("type", "show_realtime_rate");
    w.key_bool("show", show);
    w.into_inner()
}

/// Transforms to send in one message.
#[derive(Default)]
struct Poses {
    ids: Vec<u8>,
    poses: Vec<u8>,
}

/// Paths to number in one message, starting at `first`.
#[derive(Default)]
struct Names {
    first: u32,
    count: u32,
    paths: Writer,
}

struct BatchEncoder<'a> {
    scene: &'a Scene,
    /// Revision that the pages have seen.
    from: u64,
    encoding: Encoding,
    envelope: Envelope,
    done: Vec<Bytes>,
    buffer: BytesMut,
    /// Buffer that is reused between messages.
    scratch: Vec<u8>,
    poses: Poses,
    names: Names,
}

impl<'a> BatchEncoder<'a> {
    fn new(scene: &'a Scene, encoding: Encoding, envelope: Envelope) -> Self {
        Self {
            scene,
            from: 0,
            encoding,
            envelope,
            done: Vec::new(),
            buffer: BytesMut::new(),
            scratch: Vec::new(),
            poses: Poses::default(),
            names: Names::default(),
        }
    }

    /// Encodes the current value of what changed; nothing if it was deleted.
    fn change(&mut self, revision: u64, change: Change) {
        let scene = self.scene;
        match change {
            Change::Created(id) => self.name(id),
            Change::Object(id) => {
                if let Some(object) = scene.node(id).and_then(|n| n.object.as_ref()) {
                    self.kept(&object.value.current());
                }
            }
            Change::Vertices(id) => self.vertices(id),
            Change::Transform(id) => self.transform(id),
            Change::Property(id, i) => {
                let Some(node) = scene.node(id) else { return };
                let Some((name, property)) = node.properties.get(i) else {
                    return;
                };
                self.write(|w| {
                    w.map(4).key_str("type", "set_property");
                    w.key_str("path", &node.path).key_str("property", name);
                    property.value.value.encode(w.str("value"));
                });
            }
            Change::Deletion => {
                // Transforms of the deleted paths must be sent before the deletion.
                self.flush_poses();
                self.flush_names();
                if let Some(path) = scene.deletion(revision) {
                    self.write(|w| {
                        w.map(2).key_str("type", "delete").key_str("path", path);
                    });
                }
            }
            Change::Event => {
                if let Some(event) = scene.event_at(revision) {
                    self.kept(event);
                }
            }
            Change::Control(i) => {
                if let Some(message) = scene.controls.set_control(i) {
                    self.message(&message);
                }
            }
            Change::ControlValue(i) => {
                if let Some(message) = scene.controls.set_control_value(i) {
                    self.message(&message);
                }
            }
            Change::ControlDeletion => {
                if let Some(name) = scene.controls.deletion(revision) {
                    self.write(|w| {
                        w.map(2).key_str("type", "delete_control");
                        w.key_str("name", name);
                    });
                }
            }
            Change::Animation => {
                if let Some(animation) = &scene.animation {
                    // Static pages are always our own.
                    let is_our_page =
                        self.encoding == Encoding::Batched || self.envelope == Envelope::Length;
                    self.kept(animation.value.message(is_our_page));
                }
            }
            Change::Target => {
                if let Some(target) = &scene.target {
                    self.write(|w| {
                        w.map(2).key_str("type", "set_target");
                        w.str("value").f64s(&target.value);
                    });
                }
            }
        }
    }

    /// Encodes new positions of vertices; nothing if the object itself is sent.
    fn vertices(&mut self, id: NodeId) {
        let Some(node) = self.scene.node(id) else {
            return;
        };
        let Some(object) = node.object.as_ref().filter(|o| o.revision <= self.from) else {
            return;
        };
        let vertices = object.value.vertices.as_ref();
        let Some(moved) = vertices.and_then(|vertices| vertices.moved.as_ref()) else {
            return;
        };
        if self.encoding == Encoding::Batched {
            self.kept(&moved.value);
            return;
        }
        self.kept(&object.value.current());
        // Drake's page does not apply it to the new object.
        let name = "modulated_opacity";
        let alpha = node.properties.iter().position(|(n, _)| &**n == name);
        if let Some(alpha) = alpha {
            self.change(0, Change::Property(id, alpha));
        }
    }

    fn transform(&mut self, id: NodeId) {
        let Some(node) = self.scene.node(id) else {
            return;
        };
        let Some(transform) = &node.transform else {
            return;
        };
        if let (Encoding::Batched, Transform::Pose(x)) = (self.encoding, &transform.value) {
            let (q, p) = (&x.rotation.coords, &x.translation.vector);
            let id = Scene::number(id).to_le_bytes();
            self.poses.ids.extend_from_slice(&id);
            for v in [q.x, q.y, q.z, q.w, p.x, p.y, p.z] {
                self.poses.poses.extend_from_slice(&v.to_le_bytes());
            }
            return;
        }
        // Keeps the order of two transforms of one path.
        self.flush_poses();
        self.write(|w| {
            w.map(3).key_str("type", "set_transform");
            w.key_str("path", &node.path);
            w.str("matrix").f64s(&transform.value.matrix());
        });
    }

    /// Assigns a number to a path, for pages that receive many transforms in one message.
    fn name(&mut self, id: NodeId) {
        let Some(node) = self.scene.node(id) else {
            return;
        };
        if self.encoding == Encoding::Standard {
            return;
        }
        let number = Scene::number(id);
        if self.names.first + self.names.count != number {
            self.flush_names();
            self.names.first = number;
        }
        self.names.count += 1;
        self.names.paths.str(&node.path);
    }
    fn flush_names(&mut self) {
        let Names {
            first,
            count,
            paths,
        } = std::mem::take(&mut self.names);
        if count > 0 {
            let mut w = Writer::default();
            w.map(3).key_str("type", "set_paths");
            w.key_uint("first", u64::from(first)).str("paths");
            w.array(count as usize).encoded(&paths.into_inner());
            self.message(&w.into_inner());
        }
    }
    fn flush_poses(&mut self) {
        if self.poses.ids.is_empty() {
            return;
        }
        self.flush_names();
        let Poses { ids, poses } = std::mem::take(&mut self.poses);
        self.write(|w| {
            w.map(3).key_str("type", "set_transforms");
            w.str("ids").bin(&ids).str("poses").bin(&poses);
        });
    }

    fn write(&mut self, write: impl FnOnce(&mut Writer)) {
        let mut w = Writer::new(std::mem::take(&mut self.scratch));
        write(&mut w);
        let message = w.into_inner();
        self.message(&message);
        self.scratch = message;
        self.scratch.clear();
    }
    fn message(&mut self, payload: &[u8]) {
        match self.envelope {
            Envelope::Websocket => frame::append(&mut self.buffer, payload),
            Envelope::Length => {
                self.buffer.put_u32_le(payload.len() as u32);
                self.buffer.extend_from_slice(payload);
            }
        }
    }
    /// Appends a message that is stored in the scene.
    fn kept(&mut self, message: &Framed) {
        let frame = message.frame();
        if frame.len() < SHARED_FROM {
            self.message(message.payload());
            return;
        }
        let shared = match self.envelope {
            Envelope::Websocket => frame.clone(),
            Envelope::Length => {
                let payload = message.shared_payload();
                self.buffer.put_u32_le(payload.len() as u32);
                payload
            }
        };
        self.cut();
        self.done.push(shared);
    }
    fn cut(&mut self) {
        if !self.buffer.is_empty() {
            self.done.push(self.buffer.split().freeze());
        }
    }
    fn finish(mut self) -> Vec<Bytes> {
        self.flush_poses();
        self.flush_names();
        self.cut();
        self.done
    }
}

impl Scene {
    /// Returns the changes since the last batch, for pages that have seen that batch.
    pub(crate) fn next_batch(&mut self, encodings: &[Encoding]) -> Batch {
        let from = self.batched;
        let changes = std::mem::take(&mut self.changes);
        let batch = Batch::new(self, from, &changes, encodings);
        self.changes = changes;
        self.changes.clear();
        self.batched = self.revision;
        batch
    }

    /// Returns the changes after revision `seen`, for a page that is behind. `None` if some of them
    /// were dropped.
    pub(crate) fn changes_since(&mut self, seen: u64, encoding: Encoding) -> Option<Batch> {
        if seen < self.forgotten {
            return None;
        }
        self.settle();
        let mut changes = Vec::new();
        let mut add = |revision: u64, change| {
            if revision > seen {
                changes.push((revision, change));
            }
        };
        for (id, node) in self.in_tree_order() {
            add(node.created, Change::Created(id));
            if let Some(object) = &node.object {
                add(object.revision, Change::Object(id));
                let vertices = object.value.vertices.as_ref();
                if let Some(moved) = vertices.and_then(|v| v.moved.as_ref()) {
                    add(moved.revision, Change::Vertices(id));
                }
            }
            if let Some(transform) = &node.transform {
                add(transform.revision, Change::Transform(id));
            }
            for (i, (_, property)) in node.properties.iter().enumerate() {
                add(property.revision, Change::Property(id, i));
            }
        }
        for (revision, _) in &self.deletions {
            add(*revision, Change::Deletion);
        }
        for (revision, _) in &self.events {
            add(*revision, Change::Event);
        }
        self.controls.for_each_change(&mut add);
        if let Some(animation) = &self.animation {
            add(animation.revision, Change::Animation);
        }
        if let Some(target) = &self.target {
            add(target.revision, Change::Target);
        }
        Some(Batch::new(self, seen, &changes, &[encoding]))
    }
}
