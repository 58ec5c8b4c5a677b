//! The Meshcat server: a scene tree that browsers show.

mod animation;
mod asset;
mod batch;
mod camera;
mod change;
mod client_message;
mod control;
mod controls_api;
mod drag;
mod frame;
mod moment;
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
mod scene_object;
mod server;
mod slider;
mod transform;
mod vertex_track;
mod vertices;

pub use animation::{LoopMode, MeshcatAnimation};
pub use camera::{OrthographicCamera, PageCamera, PerspectiveCamera};
pub use client_message::Gamepad;
pub use drag::Drag;
pub use object::{SideOfFaceToRender, SurfaceStyle};
pub use params::{MeshcatParams, PropertyTuple};
pub use property::PropertyValue;

pub(crate) use moment::FrameGate;
pub(crate) use node::NodeHandle;
pub(crate) use object::{Object, Paint};
pub(crate) use path::full_path;
pub(crate) use scene::Scene;
pub(crate) use server::lock;
pub(crate) use slider::nearest_allowed;

use crate::{Error, Result};
use nalgebra::{Isometry3, Matrix4};
use realtime_rate::RealtimeRate;
use recording::Recording;
use scene::Property;
use server::{Inputs, Server, Shared};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;
use tarragon_framework::warnings::warn;

/// Maximum number of realtime rate messages that one call sends.
const MAX_RATES: u64 = 64;

/// Handle of a Meshcat server: a thread that serves a page with a 3D scene to browsers.
///
/// Handles can be cloned and used from any number of threads. The server ends when the last handle
/// is dropped. Open [`web_url`](Self::web_url) in a browser to look at the scene.
///
/// The scene is a tree. Parts of a path are separated by `/`. A path that does not start with `/`
/// is below `/drake`; `delete("")` removes everything there, but leaves the page's own `/Lights`,
/// `/Grid`, `/Axes`, `/Background` and `/Cameras`. Transforms are relative to the parent. An object
/// set at `/foo` is at `/foo/<object>`, where its own properties are set.
///
/// The server keeps the latest value of everything. Pages receive changes as fast as they take
/// them; of a value that changed several times in the meantime, they receive only the last. No
/// function waits for a page, except [`flush`](Self::flush). Drake's `Meshcat` sends every message;
/// here, two transforms of one path within a few milliseconds may arrive as one.
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
    /// Dropped last, so that the thread ends after all other fields.
    _server: Server,
}

impl Meshcat {
    /// Starts a server.
    ///
    /// # Errors
    /// Returns an error if a parameter is invalid, no port is free, the viewer directory has no
    /// page, or the environment variable `DRAKE_ALLOW_NETWORK` is set and does not name `meshcat`.
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

    /// Returns the URL to open in a browser.
    pub fn web_url(&self) -> String {
        self.0.shared.web_url()
    }
    /// Returns the URL of the websocket, for programs that connect to it.
    pub fn ws_url(&self) -> String {
        match self.web_url().strip_prefix("http") {
            Some(rest) => format!("ws{rest}"),
            None => self.web_url(),
        }
    }
    /// Returns the port that the server listens on.
    pub fn port(&self) -> u16 {
        self.0.shared.address.port()
    }
    /// Returns the number of connected pages.
    pub fn num_active_connections(&self) -> usize {
        self.0.shared.num_clients()
    }
    /// Waits until every page has been sent everything that was set so far. A page that takes
    /// nothing for half a minute is not waited for, and is disconnected after five minutes.
    pub fn flush(&self) {
        self.0.shared.flush();
    }

    /// Sets the pose X_ParentPath of a path in its parent's frame. A pose that is not finite has no
    /// effect but a [warning](tarragon_framework::warnings), because the page could not draw it.
    pub fn set_transform(&self, path: &str, x_parent_path: &Isometry3<f64>) {
        let path = full_path(path);
        if is_drawable(&path, &x_parent_path.to_homogeneous()) {
            self.change(|scene| scene.set_transform(&path, x_parent_path.into()));
        }
    }
    /// Sets the homogeneous transform of a path in its parent's frame; it may scale and shear. A
    /// transform that is not finite has no effect but a
    /// [warning](tarragon_framework::warnings).
    pub fn set_transform_matrix(&self, path: &str, matrix: &Matrix4<f64>) {
        let path = full_path(path);
        if is_drawable(&path, matrix) {
            self.change(|scene| scene.set_transform(&path, matrix.into()));
        }
    }
    /// Sets a property of a path, such as `visible`, or of the object at a path (`foo/<object>`),
    /// such as `material.opacity`. The viewer's README lists the properties.
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
    /// Deletes a path and everything below it; `""` is `/drake`. The root cannot be deleted; the
    /// call then has no effect.
    pub fn delete(&self, path: &str) {
        let path = full_path(path);
        self.change(|scene| scene.delete(&path));
    }
    /// Returns whether anything was set at a path or below it.
    pub fn has_path(&self, path: &str) -> bool {
        self.scene().has_path(&full_path(path))
    }

    /// Sets the environment map, which surrounds the scene and appears in reflections. It is an
    /// equirectangular image in a format that browsers can show (PNG, JPEG, ...). An empty path
    /// removes it.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or is larger than 1 GiB.
    pub fn set_environment_map(&self, image_path: impl AsRef<Path>) -> Result<()> {
        let path = image_path.as_ref();
        let asset = if path.as_os_str().is_empty() {
            None
        } else {
            if !path.is_file() {
                return Err(Error::invalid(format!(
                    "Meshcat::set_environment_map: the path must be empty or that of an image file, got '{}'",
                    path.display()
                )));
            }
            let size = path.metadata().map_err(|e| Error::io(path, e))?.len();
            if size > object::MAX_BYTES {
                return Err(Error::invalid(format!(
                    "Meshcat::set_environment_map: the image '{}' must have at most {} bytes, got {size}",
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

    /// Shows a realtime rate: simulated time per real time.
    pub fn set_realtime_rate(&self, rate: f64) {
        lock(&self.0.rate).set_rate(rate);
        self.show_rate(rate, 1);
    }
    /// Returns the realtime rate that was shown last.
    pub fn realtime_rate(&self) -> f64 {
        lock(&self.0.rate).rate()
    }
    /// Reports the current simulated `time` (s). The first call starts the measurement of the
    /// realtime rate; later calls show the rate once for each complete
    /// [`MeshcatParams::realtime_rate_period`]. A time before the last one restarts the
    /// measurement.
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

    /// Returns a page with the current scene that needs neither a server nor a network, for sharing
    /// and archiving. Sliders and buttons are left out. The server offers the same page at
    /// `/download`.
    ///
    /// # Errors
    /// Returns an error if there is no viewer: it was not built, and no viewer directory is given.
    pub fn static_html(&self) -> Result<String> {
        server::static_page::html(&self.0.shared)
    }
    /// Returns the same page as a zip archive that a web server can serve: `meshcat.html` and, next
    /// to it, the textures and other files.
    ///
    /// # Errors
    /// Same as [`static_html`](Self::static_html).
    pub fn static_zip(&self) -> Result<Vec<u8>> {
        server::static_page::zip(&self.0.shared)
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
    /// Changes the scene under one lock, so that pages see all changes together.
    pub(crate) fn change<V>(&self, change: impl FnOnce(&mut Scene) -> V) -> V {
        self.0.shared.change(change)
    }
    /// Sets an encoded object at a path.
    pub(crate) fn put(&self, path: &str, object: Object) {
        let path = full_path(path);
        self.change(|scene| scene.set_object(&path, object));
    }
}

/// Starts a server with default parameters, on the first free port from 7000 to 7999 (Drake's
/// `StartMeshcat`).
///
/// ```
/// let meshcat = tarragon_visualization::start_meshcat()?;
/// println!("look at {}", meshcat.web_url());
/// # Ok::<(), tarragon_visualization::Error>(())
/// ```
///
/// # Errors
/// Same as [`Meshcat::new`].
pub fn start_meshcat() -> Result<Meshcat> {
    Meshcat::new(MeshcatParams::default())
}

impl Shared {
    pub(crate) fn web_url(&self) -> String {
        let url = self.params.web_url(self.address.port());
        url.expect("the pattern was checked at the start")
    }
}

#[cfg(fuzzing)]
/// Decodes bytes in the way the server decodes what a page sends.
pub(crate) fn receive(bytes: &[u8]) {
    let mut decoder = server::Decoder::new();
    // The first byte determines where the rest is cut.
    let Some((cut, rest)) = bytes.split_first() else {
        return;
    };
    for part in rest.chunks(usize::from(*cut) + 1) {
        decoder.feed(part);
        loop {
            match decoder.next() {
                Ok(Some(tungstenite::Message::Binary(message))) => {
                    // The server would log errors.
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

/// Returns true if a transform is finite; otherwise warns.
fn is_drawable(path: &str, transform: &Matrix4<f64>) -> bool {
    let found = transform.iter().find(|x| !x.is_finite());
    if let Some(found) = found {
        warn(format!(
            "Meshcat: the pose of '{path}' must be finite, got {found}; it stays where it is"
        ));
    }
    found.is_none()
}
