//! The Meshcat server: a scene tree that browsers show.

mod animation;
mod asset;
mod batch;
mod camera;
mod client_message;
mod control;
mod controls_api;
mod frame;
mod msgpack;
mod node;
mod object;
mod objects_api;
mod params;
mod path;
mod picture;
mod property;
mod realtime_rate;
mod recording;
mod scene;
mod server;
mod static_page;
mod transform;

pub use animation::{LoopMode, MeshcatAnimation};
pub use camera::{OrthographicCamera, PageCamera, PerspectiveCamera};
pub use client_message::Gamepad;
pub use object::{SideOfFaceToRender, SurfaceStyle};
pub use params::{MeshcatParams, PropertyTuple};
pub use property::PropertyValue;

pub(crate) use node::NodeHandle;
pub(crate) use object::Object;
pub(crate) use path::full_path;
pub(crate) use scene::Scene;
pub(crate) use server::lock;

use crate::{Error, Result};
use nalgebra::{Isometry3, Matrix4};
use realtime_rate::RealtimeRate;
use recording::Recording;
use scene::Property;
use server::{Inputs, Server, Shared};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

/// Messages about the realtime rate that one call sends at most.
const MAX_RATES: u64 = 64;

/// A handle of a Meshcat server: a thread that serves a page with a 3D scene to browsers.
///
/// Handles are cloned and used from any number of threads; the server ends with the last one. Open
/// [`web_url`](Self::web_url) in a browser to look at the scene.
///
/// The scene is a tree. Parts of a path are separated by `/`; a path that does not start with `/`
/// is below `/drake`, where `delete("")` removes everything and leaves the page's own `/Lights`,
/// `/Grid`, `/Axes`, `/Background` and `/Cameras` alone. Transforms are relative to the parent. An
/// object set at `/foo` is at `/foo/<object>`, where its own properties are set.
///
/// The server keeps the latest value of everything. Pages get changes as fast as they take them,
/// and of values that changed several times in the meantime the last; nothing here waits for a
/// page, except [`flush`](Self::flush). Drake's `Meshcat` sends every message; here, two transforms
/// of one path within a few milliseconds may arrive as one.
///
/// ```
/// use nalgebra::Isometry3;
/// use tarragon_geometry::{Rgba, Sphere};
/// use tarragon_visualization::{Meshcat, MeshcatParams};
/// let meshcat = Meshcat::new(MeshcatParams { port: Some(0), ..Default::default() })?;
/// meshcat.set_object("ball", &Sphere::new(0.1)?.into(), Rgba::new(1.0, 0.5, 0.0, 1.0)?)?;
/// meshcat.set_transform("ball", &Isometry3::translation(0.0, 0.0, 0.5));
/// assert!(meshcat.has_path("/drake/ball"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Meshcat(Arc<Handle>);

#[derive(Debug)]
struct Handle {
    shared: Arc<Shared>,
    rate: Mutex<RealtimeRate>,
    recording: Mutex<Recording>,
    /// Last, so that the thread ends after everything else here was dropped.
    _server: Server,
}

impl Meshcat {
    /// Starts a server.
    ///
    /// # Errors
    /// If a parameter is wrong, no port is free, the viewer directory has no page, or the
    /// environment variable `DRAKE_ALLOW_NETWORK` is there and does not name `meshcat`.
    pub fn new(params: MeshcatParams) -> Result<Self> {
        MeshcatParams::check_network(std::env::var(params::NETWORK_VARIABLE).ok().as_deref())?;
        let (shared, server) = Server::start(params)?;
        let meshcat = Self(Arc::new(Handle {
            rate: Mutex::new(RealtimeRate::new(shared.params.realtime_rate_period)),
            recording: Mutex::default(),
            shared,
            _server: server,
        }));
        let params = &meshcat.0.shared.params;
        meshcat.scene().show_realtime_rate = params.show_stats_plot;
        for p in &params.initial_properties {
            meshcat.set_property(&p.path, &p.property, p.value.clone());
        }
        if !server::has_built_in_viewer() && params.viewer_dir.is_none() {
            tracing::warn!(
                "Meshcat's viewer page was not built; {} says how to get it",
                meshcat.web_url()
            );
        }
        tracing::info!("Meshcat listens at {}", meshcat.web_url());
        Ok(meshcat)
    }

    /// The URL to open in a browser.
    pub fn web_url(&self) -> String {
        self.0.shared.web_url()
    }
    /// The URL of the websocket, for programs that connect to it.
    pub fn ws_url(&self) -> String {
        match self.web_url().strip_prefix("http") {
            Some(rest) => format!("ws{rest}"),
            None => self.web_url(),
        }
    }
    /// The port that the server listens on.
    pub fn port(&self) -> u16 {
        self.0.shared.address.port()
    }
    /// The number of pages that are connected.
    pub fn num_active_connections(&self) -> usize {
        self.0.shared.num_clients()
    }
    /// Waits until every page has been sent everything that was set so far. A page that takes
    /// nothing for half a minute is not waited for any longer, and disconnected after five minutes.
    pub fn flush(&self) {
        self.0.shared.flush();
    }

    /// Sets the pose X_ParentPath of a path in its parent's frame.
    pub fn set_transform(&self, path: &str, x_parent_path: &Isometry3<f64>) {
        let path = full_path(path);
        self.change(|scene| scene.set_transform(&path, x_parent_path.into()));
    }
    /// Sets the homogeneous transform of a path in its parent's frame, which may scale and shear.
    pub fn set_transform_matrix(&self, path: &str, matrix: &Matrix4<f64>) {
        let path = full_path(path);
        self.change(|scene| scene.set_transform(&path, matrix.into()));
    }
    /// Sets a property of a path, such as `visible`, or of the object at a path (`foo/<object>`),
    /// such as `material.opacity`. What properties there are, the viewer's README says.
    pub fn set_property(&self, path: &str, property: &str, value: impl Into<PropertyValue>) {
        let value = value.into();
        self.put_property(path, property, Property { value, asset: None });
    }
    fn put_property(&self, path: &str, property: &str, value: Property) {
        let mut path = full_path(path);
        if path == "/Background" && property != "visible" {
            path.push_str("/<object>");
        }
        self.change(|scene| scene.set_property(&path, property, value));
    }
    /// Deletes a path and everything below it; `""` is `/drake`. The root can not be deleted:
    /// nothing happens.
    pub fn delete(&self, path: &str) {
        let path = full_path(path);
        self.change(|scene| scene.delete(&path));
    }
    /// Whether something was set at a path or below it.
    pub fn has_path(&self, path: &str) -> bool {
        self.scene().has_path(&full_path(path))
    }

    /// Sets what surrounds the scene and shows in reflections: an equirectangular image, of a
    /// format that browsers show (PNG, JPEG, ...). An empty path removes it.
    ///
    /// # Errors
    /// If the file can not be read, or is larger than 1 GiB.
    pub fn set_environment_map(&self, image_path: impl AsRef<Path>) -> Result<()> {
        let path = image_path.as_ref();
        let asset = if path.as_os_str().is_empty() {
            None
        } else {
            if !path.is_file() {
                return Err(Error::invalid(format!(
                    "Meshcat::set_environment_map: '{}' is no file, expected an image or an empty path",
                    path.display()
                )));
            }
            let size = path.metadata().map_err(|e| Error::io(path, e))?.len();
            if size > object::MAX_BYTES {
                return Err(Error::invalid(format!(
                    "Meshcat::set_environment_map: '{}' has {size} bytes, expected an image of at most {}",
                    path.display(),
                    object::MAX_BYTES
                )));
            }
            let content = std::fs::read(path).map_err(|e| Error::io(path, e))?;
            Some(self.0.shared.assets.add(content))
        };
        let value = asset.as_ref().map_or_else(String::new, |a| a.url()).into();
        let property = Property { value, asset };
        self.put_property("/Background/<object>", "environment_map", property);
        Ok(())
    }

    /// Shows a realtime rate: simulated per real seconds.
    pub fn set_realtime_rate(&self, rate: f64) {
        lock(&self.0.rate).set_rate(rate);
        self.show_rate(rate, 1);
    }
    /// The realtime rate that was shown last.
    pub fn realtime_rate(&self) -> f64 {
        lock(&self.0.rate).rate()
    }
    /// Says how far the simulation is, `time` (s). The first call starts the measurement of the
    /// realtime rate; later ones show it once for each complete
    /// [`MeshcatParams::realtime_rate_period`]. A time before the last one starts again.
    pub fn set_simulation_time(&self, time: f64) {
        let (rate, periods) = lock(&self.0.rate).update(time, Instant::now());
        self.show_rate(rate, periods.min(MAX_RATES));
    }
    fn show_rate(&self, rate: f64, times: u64) {
        let mut w = msgpack::Writer::default();
        w.map(2).key_str("type", "realtime_rate");
        w.key_f64("rate", rate);
        let message = w.into_inner();
        if times > 0 {
            self.change(|scene| (0..times).for_each(|_| scene.event(&message)));
        }
    }

    /// A page with the scene as it is now, which shows it without a server and without a network:
    /// for sharing, and for the record. Sliders and buttons are left out. Pages offer it at
    /// `/download`.
    ///
    /// # Errors
    /// If there is no viewer: it was not built, and none is named.
    pub fn static_html(&self) -> Result<String> {
        static_page::html(&self.0.shared)
    }
    /// The same as an archive: `meshcat.html` and, beside it, textures and other files, which a web
    /// server can serve.
    ///
    /// # Errors
    /// As [`static_html`](Self::static_html).
    pub fn static_zip(&self) -> Result<Vec<u8>> {
        static_page::zip(&self.0.shared)
    }

    fn scene(&self) -> MutexGuard<'_, Scene> {
        self.0.shared.scene()
    }
    fn inputs(&self) -> MutexGuard<'_, Inputs> {
        lock(&self.0.shared.inputs)
    }
    fn recording(&self) -> MutexGuard<'_, Recording> {
        lock(&self.0.recording)
    }
    /// Changes the scene: several things at once, seen by pages together.
    pub(crate) fn change<V>(&self, change: impl FnOnce(&mut Scene) -> V) -> V {
        self.0.shared.change(change)
    }
    /// Sets an encoded object.
    pub(crate) fn put(&self, path: &str, object: Object) {
        let path = full_path(path);
        self.change(|scene| scene.set_object(&path, object));
    }
}

/// Starts a server with default parameters, on the first free port from 7000 on (Drake's
/// `StartMeshcat`).
///
/// ```
/// let meshcat = tarragon_visualization::start_meshcat()?;
/// println!("look at {}", meshcat.web_url());
/// # Ok::<(), tarragon_visualization::Error>(())
/// ```
///
/// # Errors
/// As [`Meshcat::new`].
pub fn start_meshcat() -> Result<Meshcat> {
    Meshcat::new(MeshcatParams::default())
}

impl Shared {
    pub(crate) fn web_url(&self) -> String {
        let url = self.params.web_url(self.address.port());
        url.expect("the pattern was checked at the start")
    }
}

/// Reads bytes as a server reads what a page sends.
pub(crate) fn receive(bytes: &[u8]) {
    let mut decoder = server::Decoder::new();
    // The first byte says where to cut the rest.
    let Some((cut, rest)) = bytes.split_first() else {
        return;
    };
    for part in rest.chunks(usize::from(*cut) + 1) {
        decoder.feed(part);
        loop {
            match decoder.next() {
                Ok(Some(tungstenite::Message::Binary(message))) => {
                    // Errors are logged by the server.
                    let _ = client_message::ClientMessage::decode(&message);
                }
                Ok(Some(tungstenite::Message::Text(text))) => {
                    let _ = picture::png_of(text.as_bytes());
                }
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(_) => return,
            }
        }
        decoder.take_output();
    }
}
