//! The server and its thread.

use crate::http;
use crate::keeper::Keeper;
use crate::listen::listen;
use crate::shared::{BODY_UNIT, Shared};
use crate::stats::{Counters, RenderServerStats};
use crate::{Error, ErrorKind, RenderServerParams, Result};
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use tarragon_geometry::render::RenderEngine;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, Semaphore};

/// Number of largest requests that are in memory at once; others wait.
const LARGEST_BODIES: u64 = 4;
/// Time limit for drawing what is in progress when the server stops.
const STOP_TIME: Duration = Duration::from_secs(10);
/// Time for which a server that stops still answers new requests, with an error.
const FAREWELL_TIME: Duration = Duration::from_millis(100);

/// A server of Drake's glTF render protocol, which runs on threads of its own until it is dropped.
///
/// Drake's clients find it with `RenderEngineGltfClientParams(base_url=server.url())`.
///
/// ```
/// use tarragon_geometry::render::{RenderEngineCpu, RenderEngineCpuParams};
/// use tarragon_render_server::{RenderServer, RenderServerParams};
/// let engine = RenderEngineCpu::new(RenderEngineCpuParams::default())?;
/// let params = RenderServerParams { port: 0, ..RenderServerParams::default() };
/// let server = RenderServer::start(params, Box::new(engine))?;
/// assert!(server.url().starts_with("http://127.0.0.1:"));
/// assert_eq!(server.stats().images(), 0);
/// # Ok::<(), tarragon_render_server::Error>(())
/// ```
pub struct RenderServer {
    shared: Arc<Shared>,
    address: SocketAddr,
    thread: Option<JoinHandle<()>>,
}

impl RenderServer {
    /// Starts a server that draws with an engine, which must have no visuals.
    ///
    /// # Errors
    /// Returns an error if a parameter is outside its domain, the port is taken or a thread cannot
    /// be started.
    pub fn start(params: RenderServerParams, engine: Box<dyn RenderEngine>) -> Result<Self> {
        params.check()?;
        let failed = |e| Error::new(ErrorKind::Io, "render server: cannot start").with_cause(e);
        let listener = listen(&params)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let counters = Arc::<Counters>::default();
        let (cache, exact) = (params.cache_bytes, params.exact_primitives);
        let keeper = Keeper::start(engine, cache, exact, counters.clone()).map_err(failed)?;
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let bodies = (params.max_request_bytes as u64).div_ceil(BODY_UNIT) * LARGEST_BODIES;
        let bodies = usize::try_from(bodies).unwrap_or(usize::MAX);
        let shared = Arc::new(Shared {
            workers: Arc::new(Semaphore::new(params.workers.unwrap_or(processors))),
            bodies: Arc::new(Semaphore::new(bodies.min(Semaphore::MAX_PERMITS))),
            params,
            keeper,
            counters,
            is_stopping: AtomicBool::new(false),
            stop: Notify::new(),
            connections: AtomicUsize::new(0),
        });
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(failed)?;
        let listener = {
            let _context = runtime.enter();
            TcpListener::from_std(listener).map_err(failed)?
        };
        let serving = shared.clone();
        let thread = std::thread::Builder::new()
            .name("render-server".into())
            .spawn(move || runtime.block_on(serve(serving, listener)))
            .map_err(failed)?;
        Ok(Self {
            shared,
            address,
            thread: Some(thread),
        })
    }
    /// Returns the address that the server listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
    /// Returns the `base_url` for clients on this machine.
    pub fn url(&self) -> String {
        let mut address = self.address;
        if address.ip().is_unspecified() {
            address.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
        }
        format!("http://{address}")
    }
    /// Returns counts and times since the server started.
    pub fn stats(&self) -> RenderServerStats {
        self.shared.counters.stats()
    }
    /// Stops the server: requests in progress are answered with their image, new ones with an
    /// error. Returns the final counts.
    pub fn stop(mut self) -> RenderServerStats {
        self.end();
        self.stats()
    }
    fn end(&mut self) {
        self.shared.is_stopping.store(true, Ordering::Release);
        self.shared.stop.notify_one();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the thread of the render server panicked");
        }
    }
}

impl Drop for RenderServer {
    fn drop(&mut self) {
        self.end();
    }
}

impl std::fmt::Debug for RenderServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RenderServer")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

/// Accepts connections until the server is stopped, and for a moment longer.
async fn serve(shared: Arc<Shared>, listener: TcpListener) {
    let accepting = accept(shared.clone(), listener);
    tokio::pin!(accepting);
    tokio::select! {
        () = &mut accepting => return,
        () = shared.stop.notified() => {}
    }
    let drained = async {
        tokio::time::sleep(FAREWELL_TIME).await;
        while shared.connections.load(Ordering::Acquire) > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        () = &mut accepting => {}
        _ = tokio::time::timeout(STOP_TIME, drained) => {}
    }
}

async fn accept(shared: Arc<Shared>, listener: TcpListener) {
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Out of file descriptors, or a connection that ended before it was accepted.
                tracing::debug!("the render server could not accept a connection: {error}");
                tokio::time::sleep(Duration::from_millis(20)).await;
                continue;
            }
        };
        let limit = shared.params.max_connections;
        if shared.connections.load(Ordering::Acquire) >= limit {
            tracing::warn!("refused a connection: the limit of {limit} is reached");
            continue;
        }
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!("no TCP_NODELAY: {error}");
        }
        tokio::spawn(connection(shared.clone(), stream));
    }
}

/// Counts a connection for as long as it lives.
struct Counted(Arc<Shared>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::AcqRel);
    }
}

async fn connection(shared: Arc<Shared>, stream: TcpStream) {
    shared.connections.fetch_add(1, Ordering::AcqRel);
    let counted = Counted(shared.clone());
    let service = service_fn(|request| http::answer(shared.clone(), request));
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(shared.params.request_time)
        .max_buf_size(256 << 10)
        .serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    // A connection that is kept alive must not keep the server alive, but what is asked for now is
    // answered.
    let stopping = async {
        while !shared.is_stopping.load(Ordering::Acquire) {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        tokio::time::sleep(FAREWELL_TIME).await;
    };
    let ended = tokio::select! {
        ended = &mut connection => Some(ended),
        () = stopping => None,
    };
    let ended = match ended {
        Some(ended) => ended,
        None => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!("a connection of the render server ended: {error}");
    }
    drop(counted);
}
