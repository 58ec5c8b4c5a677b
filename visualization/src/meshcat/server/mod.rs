//! Server thread: HTTP and websockets on one runtime.

mod client;
mod http;
mod listen;
mod origin;
mod page;
mod patient;
mod pipe;
pub(crate) mod static_page;
#[cfg(test)]
mod tests;

pub(crate) use client::Client;
pub(crate) use page::{Page, compose, has_built_in_viewer};
#[cfg(fuzzing)]
pub(crate) use pipe::Decoder;

use super::asset::AssetStore;
use super::batch::{Batch, Encoding};
use super::client_message::{ClientMessage, Gamepad};
use super::drag::Drag;
use super::frame::Framed;
use super::object::Uuids;
use super::params::MeshcatParams;
use super::scene::Scene;
use crate::{Error, ErrorKind, Result};
use nalgebra::Isometry3;
use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::sync::{Notify, Semaphore, watch};

/// Minimum time between two batches; screens refresh less often.
const BATCH_PERIOD: Duration = Duration::from_millis(4);
/// Number of batches kept for pages that are slightly behind; other pages get the current state.
const KEPT_BATCHES: usize = 16;
/// Maximum total size in bytes of these batches except the newest; large objects that were replaced
/// are not kept.
const KEPT_BYTES: usize = 8 << 20;
/// Maximum age of an encoded scene that is reused for a new page. Pages that connect together share
/// one, whatever changes meanwhile.
const REPLAY_AGE: Duration = Duration::from_secs(1);
/// Maximum number of static pages built or sent at once; each takes as much memory as the scene.
const DOWNLOADS: usize = 2;

/// Input reported by pages.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    pub(crate) gamepad: Gamepad,
    /// Last drag, and the page that sent it.
    pub(crate) drag: Option<(u64, Drag)>,
    /// Last camera pose, and the page that sent it.
    pub(crate) camera: Option<(u64, Option<Isometry3<f64>>)>,
}

impl Inputs {
    /// Ends the drag of a page.
    fn release(&mut self, client: u64) {
        if self.drag.as_ref().is_some_and(|(id, _)| *id == client) {
            self.drag = None;
        }
    }
}

/// The encoded scene for new pages, which lives as long as it is being sent to one of them.
#[derive(Debug)]
struct Replay {
    /// Revision of the scene.
    revision: u64,
    encoding: Encoding,
    made: Instant,
    frames: Weak<Vec<bytes::Bytes>>,
}

/// State shared by the handles of a server and its thread.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) params: MeshcatParams,
    pub(crate) address: SocketAddr,
    pub(crate) page: Page,
    pub(crate) assets: AssetStore,
    pub(crate) uuids: Uuids,
    pub(crate) inputs: Mutex<Inputs>,
    scene: Mutex<Scene>,
    batches: Mutex<VecDeque<Arc<Batch>>>,
    replays: Mutex<Vec<Replay>>,
    clients: Mutex<BTreeMap<u64, Arc<Client>>>,
    next_client: AtomicU64,
    /// Number of HTTP connections.
    connections: Arc<AtomicUsize>,
    /// Number of pages that are connected or in the handshake.
    pages: Arc<AtomicUsize>,
    downloads: Arc<Semaphore>,
    /// Whether the thread runs.
    is_serving: AtomicBool,
    /// Wakes the task that makes batches.
    wake: Notify,
    is_awake: AtomicBool,
    /// Number of threads that wait until pages have been sent everything.
    flushing: AtomicUsize,
    flushed: (Mutex<()>, Condvar),
}

/// Guard that counts something for as long as it lives.
#[derive(Debug)]
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Locks a mutex even if a thread panicked while holding it: every holder leaves the data
/// consistent.
pub(crate) fn lock<V>(mutex: &Mutex<V>) -> MutexGuard<'_, V> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    pub(crate) fn scene(&self) -> MutexGuard<'_, Scene> {
        lock(&self.scene)
    }
    /// Changes the scene and schedules the changes for sending.
    pub(crate) fn change<V>(&self, change: impl FnOnce(&mut Scene) -> V) -> V {
        let mut scene = self.scene();
        let value = change(&mut scene);
        let listened = scene.listeners > 0;
        drop(scene);
        if listened && !self.is_awake.swap(true, Ordering::AcqRel) {
            self.wake.notify_one();
        }
        value
    }
    pub(crate) fn clients(&self) -> Vec<Arc<Client>> {
        lock(&self.clients).values().cloned().collect()
    }
    pub(crate) fn num_clients(&self) -> usize {
        lock(&self.clients).len()
    }

    /// Waits until every page has been sent everything up to now.
    pub(crate) fn flush(&self) {
        let revision = self.scene().revision;
        self.flushing.fetch_add(1, Ordering::AcqRel);
        self.wake.notify_one();
        let mut guard = lock(&self.flushed.0);
        let is_serving = || self.is_serving.load(Ordering::Acquire);
        while is_serving() && self.clients().iter().any(|c| c.delays(revision)) {
            // The timeout covers a page that disconnects between the check and the wait, and one
            // that gets stuck.
            let wait = self
                .flushed
                .1
                .wait_timeout(guard, Duration::from_millis(20));
            guard = wait.unwrap_or_else(PoisonError::into_inner).0;
        }
        self.flushing.fetch_sub(1, Ordering::AcqRel);
    }
    fn note_progress(&self) {
        if self.flushing.load(Ordering::Acquire) > 0 {
            let _guard = lock(&self.flushed.0);
            self.flushed.1.notify_all();
        }
    }

    /// Encodes the changes since the last batch for all pages that are up to date.
    fn make_batch(&self) {
        let clients = self.clients();
        self.is_awake.store(false, Ordering::Release);
        self.advance(&mut self.scene(), &clients);
    }
    /// Does the same for a scene that is already locked.
    fn advance(&self, scene: &mut Scene, clients: &[Arc<Client>]) {
        if !scene.has_changed() || scene.listeners == 0 {
            return;
        }
        let mut encodings = Vec::new();
        for client in clients {
            if !encodings.contains(&client.encoding) {
                encodings.push(client.encoding);
            }
        }
        let mut batch = scene.next_batch(&encodings);
        if batch.from < scene.forgotten {
            // More was deleted at once than is kept, so no page can be sent all deletions.
            batch.clear();
        }
        let seen = clients
            .iter()
            .map(|c| c.seen())
            .min()
            .unwrap_or(scene.revision);
        scene.forget(seen);
        let mut batches = lock(&self.batches);
        let mut length: usize = batches.iter().map(|b| b.length()).sum();
        while let Some(oldest) = batches.front()
            && (batches.len() >= KEPT_BATCHES || length > KEPT_BYTES || oldest.to <= seen)
        {
            length -= oldest.length();
            batches.pop_front();
        }
        batches.push_back(Arc::new(batch));
        drop(batches);
        for client in clients {
            client.notify();
        }
    }
    /// Returns the next frames for a page. Returns `None` if it is up to date, an error if the
    /// changes it needs were dropped.
    fn next_frames(&self, client: &Client) -> Option<Result<(u64, Vec<bytes::Bytes>)>> {
        let (seen, encoding) = (client.seen(), client.encoding);
        let moved = client.take_moved();
        if moved.is_empty() {
            let batches = lock(&self.batches);
            if batches.back().is_none_or(|newest| newest.to <= seen) {
                return None;
            }
            let found = batches.iter().find(|b| b.from == seen);
            if let Some(frames) = found.and_then(|b| Some((b.to, b.frames(encoding)?.to_vec()))) {
                return Some(Ok(frames));
            }
            tracing::trace!(seen, "a page is behind");
        }
        let clients = self.clients();
        let mut scene = self.scene();
        // Makes the next batch start at the revision that this page will have.
        self.advance(&mut scene, &clients);
        let Some(batch) = scene.changes_since(seen, encoding) else {
            return Some(Err(Error::invalid("the page is too far behind")));
        };
        let mut frames = batch.frames(encoding).unwrap_or_default().to_vec();
        // Sent last, because earlier batches may have older values of these sliders.
        for message in moved
            .iter()
            .filter_map(|i| scene.controls.set_control_value(*i))
        {
            frames.push(Framed::new(&message).frame().clone());
        }
        Some(Ok((batch.to, frames)))
    }

    /// Registers a new page, and returns the frames it must be sent first.
    fn join(&self, encoding: Encoding) -> (Arc<Client>, Arc<Vec<bytes::Bytes>>) {
        let clients = self.clients();
        let mut scene = self.scene();
        // Makes the next batch start at the revision of this page.
        self.advance(&mut scene, &clients);
        scene.listen();
        let mut replays = lock(&self.replays);
        replays.retain(|r| r.frames.strong_count() > 0);
        // While a page is sent a scene, it has not seen later changes, so these are still kept.
        let is_good = |r: &&Replay| {
            let is_new = r.revision == scene.revision || r.made.elapsed() < REPLAY_AGE;
            r.encoding == encoding && is_new && r.revision >= scene.forgotten
        };
        let found = replays.iter().find(is_good);
        let found = found.and_then(|r| Some((r.revision, r.frames.upgrade()?)));
        let is_shared = found.is_some();
        let (revision, frames) = found.unwrap_or_else(|| {
            scene.settle();
            let envelope = super::batch::Envelope::Websocket;
            let frames = Arc::new(super::batch::replay(&scene, encoding, envelope));
            replays.push(Replay {
                revision: scene.revision,
                encoding,
                made: Instant::now(),
                frames: Arc::downgrade(&frames),
            });
            (scene.revision, frames)
        });
        drop(replays);
        let id = self.next_client.fetch_add(1, Ordering::Relaxed);
        let client = Arc::new(Client::new(id, encoding, revision));
        if is_shared {
            // Pages may have moved sliders since then, which does not change the revision.
            let sliders = scene.controls.indices();
            sliders.for_each(|index| client.send_slider(index));
        }
        lock(&self.clients).insert(id, client.clone());
        (client, frames)
    }
    fn leave(&self, client: &Client) {
        lock(&self.clients).remove(&client.id);
        self.scene().leave();
        if self.num_clients() == 0 {
            lock(&self.batches).clear();
        }
        let mut inputs = lock(&self.inputs);
        if inputs
            .camera
            .as_ref()
            .is_some_and(|(id, _)| *id == client.id)
        {
            inputs.camera = None;
        }
        inputs.release(client.id);
        drop(inputs);
        self.note_progress();
    }

    /// Handles a message from a page.
    ///
    /// # Errors
    /// Returns a text for the log if the message cannot be handled.
    fn receive(&self, client: &Client, message: ClientMessage) -> std::result::Result<(), String> {
        match message {
            ClientMessage::Button { name } => {
                if !self.scene().controls.click(&name) {
                    return Err(format!(
                        "a click on the button '{name}', which does not exist"
                    ));
                }
            }
            ClientMessage::Slider { name, value } => {
                let mut scene = self.scene();
                let controls = &mut scene.controls;
                let moved = controls.set_slider(&name, value);
                let Some(index) = moved.map_err(|e| e.to_string())? else {
                    return Ok(());
                };
                let set = controls.changed(index).max(controls.valued(index));
                drop(scene);
                for other in self.clients() {
                    // A page that is about to be sent an older value needs this one after it.
                    if other.id != client.id || set > Some(client.seen()) {
                        other.send_slider(index);
                    }
                }
            }
            ClientMessage::Gamepad(gamepad) => lock(&self.inputs).gamepad = gamepad,
            ClientMessage::Drag(drag) => lock(&self.inputs).drag = Some((client.id, drag)),
            ClientMessage::Drop => lock(&self.inputs).release(client.id),
            ClientMessage::CameraPose {
                matrix,
                is_perspective,
            } => {
                let pose = is_perspective.then(|| crate::meshcat::camera::pose_of_three(&matrix));
                lock(&self.inputs).camera = Some((client.id, pose.flatten()));
            }
        }
        Ok(())
    }
}

/// Thread of a server; dropping it ends the server.
#[derive(Debug)]
pub(crate) struct Server {
    stop: watch::Sender<bool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Server {
    /// Starts the server.
    ///
    /// # Errors
    /// Returns an error if a parameter is invalid, no port is free, or the viewer page cannot be
    /// read.
    pub(crate) fn start(params: MeshcatParams) -> Result<(Arc<Shared>, Self)> {
        let broken = |what: &str, e: std::io::Error| {
            Error::new(ErrorKind::Io, format!("Meshcat: {what}")).with_cause(e)
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()
            .map_err(|e| broken("the event loop cannot be created", e))?;
        let listener = {
            let _context = runtime.enter();
            listen::listen(&params)?
        };
        let address = listener
            .local_addr()
            .map_err(|e| broken("the address of the socket is unknown", e))?;
        let page = Page::new(params.viewer_dir.clone())?;
        let shared = Arc::new(Shared {
            params,
            address,
            page,
            assets: AssetStore::default(),
            uuids: Uuids::default(),
            inputs: Mutex::default(),
            scene: Mutex::default(),
            batches: Mutex::default(),
            replays: Mutex::default(),
            clients: Mutex::default(),
            next_client: AtomicU64::new(0),
            connections: Arc::default(),
            pages: Arc::default(),
            downloads: Arc::new(Semaphore::new(DOWNLOADS)),
            is_serving: AtomicBool::new(true),
            wake: Notify::new(),
            is_awake: AtomicBool::new(false),
            flushing: AtomicUsize::new(0),
            flushed: Default::default(),
        });
        let (stop, stopped) = watch::channel(false);
        let serving = shared.clone();
        let thread = std::thread::Builder::new()
            .name(format!("meshcat-{}", address.port()))
            .spawn(move || {
                let _end = End(serving.clone());
                runtime.block_on(serve(serving, listener, stopped));
                // Does not wait for a static page that is being built.
                runtime.shutdown_background();
            })
            .map_err(|e| broken("the thread cannot be started", e))?;
        let thread = Some(thread);
        Ok((shared, Self { stop, thread }))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.send_replace(true);
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the thread of a Meshcat server panicked");
        }
    }
}

/// Guard that wakes threads waiting for pages when the server ends, for whatever reason.
struct End(Arc<Shared>);

impl Drop for End {
    fn drop(&mut self) {
        self.0.is_serving.store(false, Ordering::Release);
        self.0.note_progress();
    }
}

async fn serve(shared: Arc<Shared>, listener: TcpListener, mut stopped: watch::Receiver<bool>) {
    let batches = make_batches(&shared);
    let accepting = http::accept(&shared, listener, stopped.clone());
    tokio::select! {
        _ = batches => {}
        _ = accepting => {}
        _ = stopped.changed() => {}
    }
    // Notifies pages that the server ends, and gives them a moment to receive it.
    for client in shared.clients() {
        client.notify();
    }
    let deadline = Instant::now() + Duration::from_millis(500);
    while shared.num_clients() > 0 && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Makes batches, at most one per `BATCH_PERIOD` unless a flush waits.
async fn make_batches(shared: &Shared) {
    let mut last: Option<tokio::time::Instant> = None;
    loop {
        shared.wake.notified().await;
        if let Some(last) = last
            && shared.flushing.load(Ordering::Acquire) == 0
        {
            tokio::select! {
                () = tokio::time::sleep_until(last + BATCH_PERIOD) => {}
                // A flush waits for everything to be sent.
                () = shared.wake.notified() => {}
            }
        }
        shared.make_batch();
        last = Some(tokio::time::Instant::now());
    }
}
