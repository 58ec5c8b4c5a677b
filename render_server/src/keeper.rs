//! The engine with the meshes of recent requests.
//!
//! One thread owns the engine, because a mesh is registered once however many requests bring it.
//! Requests get copies, which are cheap, and draw with them on their own threads.

use crate::form::ImageType;
use crate::refusal::Refusal;
use crate::scene::{Drawable, Part, PartKey, Scene};
use crate::stats::{Counters, add};
use bytes::Bytes;
use nalgebra::Isometry3;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use tarragon_geometry::GeometryId;
use tarragon_geometry::render::RenderEngine;
use tokio::sync::{mpsc, oneshot};

/// Document by its SHA-256, and the type of image, which decides what of its materials counts.
pub(crate) type SceneKey = ([u8; 32], ImageType);

/// Number of scenes that are known.
const MOST_SCENES: usize = 256;

/// Number of different meshes above which old ones are removed, whatever their size.
const MOST_ENTRIES: usize = 1 << 16;

/// An engine that has all meshes of a scene, and their poses.
pub(crate) struct Prepared {
    pub(crate) engine: Box<dyn RenderEngine>,
    pub(crate) x_wc: Isometry3<f64>,
    pub(crate) poses: BTreeMap<GeometryId, Isometry3<f64>>,
}

enum Message {
    /// Finds a scene that was read before.
    Find {
        key: SceneKey,
        reply: oneshot::Sender<Option<Arc<Scene>>>,
    },
    /// Registers the parts of a scene that are new.
    Prepare {
        key: SceneKey,
        scene: Arc<Scene>,
        document: Bytes,
        reply: oneshot::Sender<Result<Prepared, Refusal>>,
    },
}

/// Handle of the thread, which ends when all handles are dropped.
#[derive(Clone)]
pub(crate) struct Keeper(mpsc::UnboundedSender<Message>);

/// Copies of one part, for scenes that show it several times.
#[derive(Default)]
struct Entry {
    ids: Vec<GeometryId>,
    /// Memory of one copy (bytes, estimated).
    bytes: u64,
    last_used: u64,
}

impl Keeper {
    /// Starts the thread.
    pub(crate) fn start(
        engine: Box<dyn RenderEngine>,
        cache_bytes: usize,
        exact_primitives: bool,
        counters: Arc<Counters>,
    ) -> std::io::Result<Self> {
        let (sender, mut messages) = mpsc::unbounded_channel();
        let mut library = Library {
            engine,
            entries: HashMap::new(),
            scenes: HashMap::new(),
            clock: 0,
            bytes: 0,
            cache_bytes: cache_bytes as u64,
            exact_primitives,
            counters,
        };
        std::thread::Builder::new()
            .name("render-keeper".into())
            .spawn(move || {
                while let Some(message) = messages.blocking_recv() {
                    library.answer(message);
                }
            })?;
        Ok(Self(sender))
    }
    /// Returns the scene if it is known. Blocks; not for asynchronous code.
    pub(crate) fn find(&self, key: SceneKey) -> Option<Arc<Scene>> {
        let (reply, answer) = oneshot::channel();
        self.0.send(Message::Find { key, reply }).ok()?;
        answer.blocking_recv().ok().flatten()
    }
    /// Returns an engine with all parts of a scene. Blocks; not for asynchronous code.
    pub(crate) fn prepare(
        &self,
        key: SceneKey,
        scene: Arc<Scene>,
        document: Bytes,
    ) -> Result<Prepared, Refusal> {
        let (reply, answer) = oneshot::channel();
        let message = Message::Prepare {
            key,
            scene,
            document,
            reply,
        };
        let ended =
            || Refusal::failed("the thread that reads meshes has ended; restart the server");
        self.0.send(message).map_err(|_| ended())?;
        answer.blocking_recv().map_err(|_| ended())?
    }
}

struct Library {
    engine: Box<dyn RenderEngine>,
    entries: HashMap<PartKey, Entry>,
    /// Recent scenes, each with the time of its last use.
    scenes: HashMap<SceneKey, (u64, Arc<Scene>)>,
    /// Counts messages.
    clock: u64,
    /// Memory of all entries (bytes, estimated).
    bytes: u64,
    cache_bytes: u64,
    exact_primitives: bool,
    counters: Arc<Counters>,
}

impl Library {
    fn answer(&mut self, message: Message) {
        self.clock += 1;
        // A client that hung up needs no answer.
        match message {
            Message::Find { key, reply } => {
                let known = self.scenes.get_mut(&key).map(|(last_used, scene)| {
                    *last_used = self.clock;
                    scene.clone()
                });
                add(&self.counters.known_scenes, u64::from(known.is_some()));
                let _ = reply.send(known);
            }
            Message::Prepare {
                key,
                scene,
                document,
                reply,
            } => {
                let prepared = self.prepare(&scene, &document);
                if prepared.is_ok() {
                    self.remember(key, scene);
                }
                self.evict();
                self.counters.cache_bytes.store(self.bytes, Relaxed);
                let _ = reply.send(prepared);
            }
        }
    }

    fn prepare(&mut self, scene: &Scene, document: &[u8]) -> Result<Prepared, Refusal> {
        let mut copies = HashMap::new();
        let new: Vec<&Part> = scene
            .parts
            .iter()
            .filter(|part| {
                let known = self.entries.get(&part.key).map_or(0, |e| e.ids.len());
                next_copy(&mut copies, part) >= known
            })
            .collect();
        let known = scene.parts.len() - new.len();
        add(&self.counters.known_meshes, known as u64);
        if !new.is_empty() {
            self.register(document, &new)?;
        }
        let mut poses = BTreeMap::new();
        copies.clear();
        for part in &scene.parts {
            let copy = next_copy(&mut copies, part);
            if let Some(entry) = self.entries.get_mut(&part.key) {
                entry.last_used = self.clock;
                poses.extend(entry.ids.get(copy).map(|id| (*id, part.x_wg)));
            }
        }
        Ok(Prepared {
            engine: dyn_clone::clone_box(&*self.engine),
            x_wc: scene.x_wc,
            poses,
        })
    }

    /// Adds one copy of each of these parts, which a scene may list several times.
    fn register(&mut self, document: &[u8], parts: &[&Part]) -> Result<(), Refusal> {
        let mut first: Vec<&Part> = Vec::new();
        let mut number = HashMap::new();
        for part in parts {
            number.entry(part.key).or_insert_with(|| {
                first.push(part);
                first.len() - 1
            });
        }
        let drawables = Drawable::read(document, &first, self.exact_primitives)?;
        add(&self.counters.read_meshes, drawables.len() as u64);
        for part in parts {
            let drawable = &drawables[number[&part.key]];
            let id = GeometryId::new();
            drawable.register(&mut *self.engine, id)?;
            let entry = self.entries.entry(part.key).or_default();
            entry.ids.push(id);
            entry.bytes = drawable.bytes;
            entry.last_used = self.clock;
            self.bytes += drawable.bytes;
        }
        Ok(())
    }

    /// Adds a scene to those that are known, in place of the one that was not used for longest.
    fn remember(&mut self, key: SceneKey, scene: Arc<Scene>) {
        self.scenes.insert(key, (self.clock, scene));
        if self.scenes.len() > MOST_SCENES
            && let Some(oldest) = self.scenes.iter().min_by_key(|(_, (used, _))| *used)
        {
            let oldest = *oldest.0;
            self.scenes.remove(&oldest);
        }
    }

    /// Removes the meshes that were not used for longest until the cache is small enough. Requests
    /// that draw them have copies of the engine.
    fn evict(&mut self) {
        let number = self.entries.len();
        if self.bytes <= self.cache_bytes && number <= MOST_ENTRIES {
            return;
        }
        let mut oldest: Vec<(u64, PartKey)> = self
            .entries
            .iter()
            .map(|(key, entry)| (entry.last_used, *key))
            .collect();
        oldest.sort_unstable_by_key(|(used, _)| *used);
        // More than necessary, so that not every request sorts.
        let (most_bytes, most_entries) = (self.cache_bytes / 8 * 7, MOST_ENTRIES / 8 * 7);
        for (_, key) in oldest {
            if self.bytes <= most_bytes && self.entries.len() <= most_entries {
                break;
            }
            let Some(entry) = self.entries.remove(&key) else {
                continue;
            };
            for id in &entry.ids {
                self.engine.remove_visual(*id);
            }
            self.bytes -= entry.bytes * entry.ids.len() as u64;
        }
    }
}

/// Counts a part and returns the number of its copies so far.
fn next_copy(copies: &mut HashMap<PartKey, usize>, part: &Part) -> usize {
    let copy = copies.entry(part.key).or_default();
    *copy += 1;
    *copy - 1
}
