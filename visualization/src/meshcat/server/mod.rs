//! The thread that serves pages: HTTP and websockets on one runtime.

mod client;
mod http;
mod origin;
mod page;
mod pipe;

pub(crate) use client::Client;
pub(crate) use page::{Page, compose, has_built_in_viewer};
pub(crate) use pipe::Decoder;

use super::asset::AssetStore;
use super::batch::{Batch, Encoding};
use super::client_message::{ClientMessage, Gamepad};
use super::object::Uuids;
use super::params::MeshcatParams;
use super::scene::Scene;
use crate::error::{Error, Result};
use nalgebra::Isometry3;
use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, watch};

/// The least time between two batches: more often than screens show.
const BATCH_PERIOD: Duration = Duration::from_millis(4);
/// Batches kept for pages that are a little behind; others get what is current.
const KEPT_BATCHES: usize = 16;

/// What pages reported.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    pub(crate) gamepad: Gamepad,
    /// The last camera pose, and the page that sent it.
    pub(crate) camera: Option<(u64, Option<Isometry3<f64>>)>,
}

/// What the handles of a server and its thread share.
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
    clients: Mutex<BTreeMap<u64, Arc<Client>>>,
    next_client: AtomicU64,
    connections: AtomicUsize,
    /// Wakes the task that makes batches.
    wake: Notify,
    is_awake: AtomicBool,
    /// Threads that wait for pages to have everything.
    flushing: AtomicUsize,
    flushed: (Mutex<()>, Condvar),
}

/// Locks, whether or not somebody panicked while holding the lock: every holder leaves the data whole.
pub(crate) fn lock<V>(mutex: &Mutex<V>) -> MutexGuard<'_, V> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    pub(crate) fn scene(&self) -> MutexGuard<'_, Scene> {
        lock(&self.scene)
    }
    /// Changes the scene and has the changes sent.
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
        let seq = self.scene().seq;
        self.flushing.fetch_add(1, Ordering::AcqRel);
        self.wake.notify_one();
        let mut guard = lock(&self.flushed.0);
        while self.clients().iter().any(|c| c.seen() < seq) {
            // The time limit is only there for a page that leaves between the look and the wait.
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

    /// Encodes what changed for all pages that are up to date.
    fn make_batch(&self) {
        let clients = self.clients();
        self.is_awake.store(false, Ordering::Release);
        self.advance(&mut self.scene(), &clients);
    }
    /// The same, for a scene that is locked already.
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
        let batch = Arc::new(scene.next_batch(&encodings));
        if let Some(seen) = clients.iter().map(|c| c.seen()).min() {
            scene.forget(seen);
        }
        let mut batches = lock(&self.batches);
        batches.push_back(batch);
        while batches.len() > KEPT_BATCHES {
            batches.pop_front();
        }
        drop(batches);
        for client in clients {
            client.notify();
        }
    }
    /// What a page that has seen a change gets next; None if it is up to date, an error if what it
    /// needs was forgotten.
    fn next_frames(
        &self,
        seen: u64,
        encoding: Encoding,
    ) -> Option<Result<(u64, Vec<bytes::Bytes>)>> {
        let newest = {
            let batches = lock(&self.batches);
            let newest = batches.back().map_or(0, |b| b.to);
            if newest <= seen {
                return None;
            }
            let found = batches.iter().find(|b| b.from == seen);
            if let Some(frames) = found.and_then(|b| Some((b.to, b.frames(encoding)?.to_vec()))) {
                return Some(Ok(frames));
            }
            newest
        };
        tracing::trace!(seen, newest, "a page is behind");
        let clients = self.clients();
        let mut scene = self.scene();
        // The next batch starts where this page will be.
        self.advance(&mut scene, &clients);
        let Some(batch) = scene.changes_since(seen, encoding) else {
            return Some(Err(Error::invalid("the page is too far behind")));
        };
        let frames = batch.frames(encoding).unwrap_or_default().to_vec();
        Some(Ok((batch.to, frames)))
    }

    /// A page connects: everything that it has to be sent first.
    fn join(&self, encoding: Encoding) -> (Arc<Client>, Vec<bytes::Bytes>) {
        let clients = self.clients();
        let mut scene = self.scene();
        // The next batch starts where this page starts.
        self.advance(&mut scene, &clients);
        scene.listen();
        let frames = super::batch::replay(&scene, encoding, super::batch::Envelope::Websocket);
        let id = self.next_client.fetch_add(1, Ordering::Relaxed);
        let client = Arc::new(Client::new(id, encoding, scene.seq));
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
        drop(inputs);
        self.note_progress();
    }

    /// Does what a page asks for; anything else is logged and ignored.
    fn receive(&self, client: &Client, message: ClientMessage) {
        match message {
            ClientMessage::Button { name } => {
                if !self.scene().controls.click(&name) {
                    tracing::warn!("a page clicked the button '{name}', which does not exist");
                }
            }
            ClientMessage::Slider { name, value } => {
                let mut scene = self.scene();
                let moved = match scene.controls.set_slider(&name, value) {
                    Ok(Some(index)) => scene.controls.set_control_value(index),
                    Ok(None) => None,
                    Err(error) => {
                        tracing::warn!("a page moved a slider: {error}");
                        None
                    }
                };
                drop(scene);
                let Some(message) = moved else { return };
                for other in self.clients() {
                    if other.id != client.id {
                        other.send(super::frame::Framed::new(&message).frame().clone());
                    }
                }
            }
            ClientMessage::Gamepad(gamepad) => lock(&self.inputs).gamepad = gamepad,
            ClientMessage::CameraPose {
                matrix,
                is_perspective,
            } => {
                let pose = is_perspective.then(|| crate::meshcat::camera::pose_of_three(&matrix));
                lock(&self.inputs).camera = Some((client.id, pose.flatten()));
            }
        }
    }
}

/// The thread of a server; dropping it ends the server.
#[derive(Debug)]
pub(crate) struct Server {
    stop: watch::Sender<bool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Server {
    /// Starts to listen.
    ///
    /// # Errors
    /// If a parameter is wrong, no port is free, or the viewer page can not be read.
    pub(crate) fn start(params: MeshcatParams) -> Result<(Arc<Shared>, Self)> {
        let listener = listen(&params)?;
        let broken =
            |what: &str, e: std::io::Error| Error::invalid(format!("Meshcat: {what}: {e}"));
        let address = listener
            .local_addr()
            .map_err(|e| broken("its address", e))?;
        listener
            .set_nonblocking(true)
            .map_err(|e| broken("its socket", e))?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()
            .map_err(|e| broken("its event loop", e))?;
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
            clients: Mutex::default(),
            next_client: AtomicU64::new(0),
            connections: AtomicUsize::new(0),
            wake: Notify::new(),
            is_awake: AtomicBool::new(false),
            flushing: AtomicUsize::new(0),
            flushed: Default::default(),
        });
        let (stop, stopped) = watch::channel(false);
        let serving = shared.clone();
        let thread = std::thread::Builder::new()
            .name(format!("meshcat-{}", address.port()))
            .spawn(move || runtime.block_on(serve(serving, listener, stopped)))
            .map_err(|e| broken("its thread", e))?;
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

/// Binds the first port that is free.
fn listen(params: &MeshcatParams) -> Result<TcpListener> {
    let ports = params.check()?;
    let hosts: Vec<IpAddr> = match params.host.trim_matches(['[', ']']) {
        "" | "localhost" => vec![IpAddr::V4(Ipv4Addr::LOCALHOST)],
        "*" => vec![IpAddr::V4(Ipv4Addr::UNSPECIFIED)],
        host => {
            let found = (host, 0).to_socket_addrs();
            let found = found.map_err(|e| {
                Error::invalid(format!(
                    "MeshcatParams: host '{host}' has no address ({e}); expected 'localhost', '*' or a \
                     name or address of this machine"
                ))
            })?;
            found.map(|a| a.ip()).collect()
        }
    };
    let mut last = None;
    for host in &hosts {
        for port in &ports {
            match TcpListener::bind((*host, *port)) {
                Ok(listener) => return Ok(listener),
                Err(e) => last = Some(e),
            }
        }
    }
    let reason = last.map_or_else(|| "the host has no address".into(), |e| e.to_string());
    Err(Error::invalid(match params.port {
        None => format!(
            "Meshcat can not listen on {} at any port from 7000 to 7999 ({reason}); close a server that \
             is no longer needed, or set MeshcatParams::port to 0 for any free port",
            params.host
        ),
        Some(port) => format!(
            "Meshcat can not listen on {} at port {port} ({reason}); set MeshcatParams::port to another \
             port, to 0 for any free port, or to None for the first from 7000 on",
            params.host
        ),
    }))
}

async fn serve(shared: Arc<Shared>, listener: TcpListener, mut stopped: watch::Receiver<bool>) {
    let listener = match tokio::net::TcpListener::from_std(listener) {
        Ok(listener) => listener,
        Err(error) => {
            tracing::error!("Meshcat can not serve: {error}");
            return;
        }
    };
    let batches = make_batches(&shared);
    let accepting = http::accept(&shared, listener, stopped.clone());
    tokio::select! {
        _ = batches => {}
        _ = accepting => {}
        _ = stopped.changed() => {}
    }
    // Pages are told that the server goes, and given a moment to hear it.
    for client in shared.clients() {
        client.notify();
    }
    let deadline = Instant::now() + Duration::from_millis(500);
    while shared.num_clients() > 0 && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Makes batches, not more often than is useful.
async fn make_batches(shared: &Shared) {
    let mut last: Option<tokio::time::Instant> = None;
    loop {
        shared.wake.notified().await;
        if let Some(last) = last
            && shared.flushing.load(Ordering::Acquire) == 0
        {
            tokio::select! {
                () = tokio::time::sleep_until(last + BATCH_PERIOD) => {}
                // Somebody waits for everything to be sent.
                () = shared.wake.notified() => {}
            }
        }
        shared.make_batch();
        last = Some(tokio::time::Instant::now());
    }
}
