//! The render engine that requests images from a server.

use super::files::KeptFiles;
use super::form::Form;
use super::kind::ImageKind;
use super::params::{ENGINE, NETWORK_VARIABLE, RenderEngineGltfClientParams, check_network};
use super::reply;
use super::scene;
use super::server::Server;
use super::visual::{Visual, Visuals};
use crate::{Error, Result};
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tarragon_framework::warnings::warn;
use tarragon_geometry::mesh::RenderMesh;
use tarragon_geometry::render::{
    CameraInfo, ColorRenderCamera, DepthRange, DepthRenderCamera, ImageDepth32F, ImageLabel16I,
    ImageRgba8U, RenderCameraCore, RenderEngine, RenderView, check_image_size, label_to_register,
};
use tarragon_geometry::{GeometryId, PerceptionProperties, RenderLabel, Shape};

/// Render engine that sends every scene to a server and receives the image, by the protocol of
/// Drake's `RenderEngineGltfClient`. Blender, for example, can draw the images behind such a
/// server.
///
/// A request is a POST of a form with the camera (intrinsics in pixels, clipping planes in metres)
/// and the scene as one glTF 2.0 file: z is up, lengths are in metres, and the poses are those of
/// the world. Every request has its own connection and carries the whole scene. The encoded meshes
/// are kept from registration on, so a frame costs little more than its transmission.
///
/// # Scenes
/// A visual is a node below `Renderer Node` for each of its materials. Primitives are sent as the
/// triangles that Drake sends, a half space as a square of 100 m x 100 m, a `Mesh` as the triangles
/// of its file with normals, a `Convex` as its hull. A `MeshcatCone` is not sent. Colours of matt
/// materials are sent as they are; materials of glTF files with their metallic-roughness model, in
/// colour images with all textures and with the extensions that this workspace reads. PNG and JPEG
/// textures are embedded. Lights are not sent: the server chooses them, and the background of
/// colour images too.
///
/// Geometry with [`RenderLabel::DO_NOT_RENDER`] is missing in label images only, as in the other
/// engines. The properties are those of
/// [`RenderEngineCpu`](tarragon_geometry::render::RenderEngineCpu), except that
/// `("phong", "diffuse_map")` applies to primitives too.
///
/// # Replies
/// | image | accepted | meaning |
/// |---|---|---|
/// | colour | 8-bit PNG: RGB, RGBA or palette | opaque unless the file has an opacity |
/// | depth | TIFF of 32-bit floats | metres, as they are |
/// | depth | PNG or TIFF of 16-bit grey | millimetres; 65535 is infinite |
/// | label | 8-bit PNG: RGB, RGBA or palette | red + 256 green; white is `DONT_CARE` |
///
/// The depth range is sent, but not applied to the reply, as in Drake. Drawing returns an error of
/// kind [`Network`](crate::ErrorKind::Network) with the URL, the HTTP code and the server's message
/// if the server cannot be reached, does not answer in time or reports an error, and one of kind
/// [`Parse`](crate::ErrorKind::Parse) if the reply is not an image of the right kind and size.
///
/// ```
/// use nalgebra::Isometry3;
/// use std::{net::TcpListener, time::Duration};
/// use tarragon_geometry::render::{RenderEngine, RenderView};
/// use tarragon_sensors::*;
/// // A server that hangs up.
/// let server = TcpListener::bind("127.0.0.1:0")?;
/// let base_url = format!("http://{}", server.local_addr()?);
/// std::thread::spawn(move || drop(server.accept()));
///
/// let params = RenderEngineGltfClientParams { base_url, ..Default::default() };
/// let engine = RenderEngineGltfClient::new(params)?.with_timeout(Duration::from_secs(5))?;
/// let camera = ColorRenderCamera::new("blender", CameraInfo::from_fov_y(64, 48, 0.8)?);
/// let view = RenderView::new(Isometry3::identity(), &|_| None);
/// let mut image = ImageRgba8U::new(64, 48);
/// let error = engine.render_color(&view, &camera, &mut image).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Network);
/// assert!(error.to_string().contains("/render | Service Message: "));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct RenderEngineGltfClient {
    params: Arc<RenderEngineGltfClientParams>,
    server: Server,
    visuals: Visuals,
    /// Name that `("renderer", "accepting")` is compared with.
    renderer_name: Option<Arc<str>>,
    files: Option<Arc<KeptFiles>>,
    /// Set when the first camera requests a window.
    warned_of_window: Arc<AtomicBool>,
}

/// Creates the engine that requests images from a render server (Drake's
/// `MakeRenderEngineGltfClient`).
///
/// ```
/// use tarragon_geometry::SceneGraph;
/// use tarragon_sensors::{RenderEngineGltfClientParams, make_render_engine_gltf_client};
/// let params = RenderEngineGltfClientParams {
///     base_url: "http://127.0.0.1:9001".into(),
///     ..Default::default()
/// };
/// let mut scene = SceneGraph::new();
/// scene.add_renderer("blender", make_render_engine_gltf_client(params)?)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Same as [`RenderEngineGltfClient::new`].
pub fn make_render_engine_gltf_client(
    params: RenderEngineGltfClientParams,
) -> Result<RenderEngineGltfClient> {
    RenderEngineGltfClient::new(params)
}

impl RenderEngineGltfClient {
    /// Creates an engine without visuals. The server is not contacted before the first image.
    ///
    /// # Errors
    /// Returns an error if `base_url` is not an `http://` address (https is not supported), the
    /// environment variable `DRAKE_ALLOW_NETWORK` is set and does not name `render_gltf_client`, or
    /// files are to be kept and their directory cannot be created.
    pub fn new(params: RenderEngineGltfClientParams) -> Result<Self> {
        let allowed = std::env::var_os(NETWORK_VARIABLE);
        let allowed = allowed.as_ref().map(|list| list.to_string_lossy());
        check_network(allowed.as_deref())?;
        let server = Server::new(params.url()?, params.verbose);
        let files = (!params.cleanup).then(KeptFiles::create).transpose()?;
        if let Some(files) = files.as_ref().filter(|_| params.verbose) {
            tracing::debug!(
                "{ENGINE}: files are kept in {}",
                files.directory().display()
            );
        }
        Ok(Self {
            params: Arc::new(params),
            server,
            visuals: Visuals::default(),
            renderer_name: None,
            files: files.map(Arc::new),
            warned_of_window: Arc::default(),
        })
    }
    /// Sets the name of the renderer. Geometry whose property `("renderer", "accepting")` names
    /// only others is declined; without a name, none is.
    #[must_use]
    pub fn with_renderer_name(mut self, name: impl Into<String>) -> Self {
        self.renderer_name = Some(name.into().into());
        self
    }
    /// Sets the maximum time from the connection to the last byte of the reply, 60 s by default.
    ///
    /// # Errors
    /// Returns an error if the time is zero.
    pub fn with_timeout(mut self, timeout: Duration) -> Result<Self> {
        if timeout.is_zero() {
            return Err(Error::invalid(format!(
                "{ENGINE}: the timeout must be positive, got 0 s"
            )));
        }
        self.server.timeout = timeout;
        Ok(self)
    }
    /// Sets how often a request is repeated after the connection failed, the time was over or the
    /// server reported a failure of its own (HTTP codes from 500 on); never by default. There is a
    /// tenth of a second between two attempts.
    #[must_use]
    pub fn with_retries(mut self, retries: u32) -> Self {
        self.server.retries = retries;
        self
    }
    /// Returns the parameters.
    pub fn params(&self) -> &RenderEngineGltfClientParams {
        &self.params
    }
    /// Returns the URL to which requests are posted.
    pub fn url(&self) -> &str {
        &self.server.url.text
    }
    /// Returns the directory of the files that the engine and its copies keep, `None` if
    /// [`cleanup`](RenderEngineGltfClientParams::cleanup) is set. Nobody removes it.
    ///
    /// The scene of request number N of this process is `N-color.gltf`, `N-depth.gltf` or
    /// `N-label.gltf`, with 19 digits. The image has the same name with the extension `png` or
    /// `tiff`; a reply that is neither is `N.curl`.
    pub fn files_directory(&self) -> Option<&Path> {
        self.files.as_deref().map(KeptFiles::directory)
    }

    /// Requests an image and decodes it.
    fn draw<I>(
        &self,
        view: &RenderView<'_>,
        core: &RenderCameraCore,
        depth_range: Option<&DepthRange>,
        kind: ImageKind,
        decode: fn(&[u8], &CameraInfo) -> Result<I>,
    ) -> Result<I> {
        let scene = scene::write(&self.visuals, view, core, kind)?;
        let form = Form::new(scene, core, depth_range, kind);
        if let Some(files) = &self.files {
            files.write_scene(form.name, &form.scene)?;
        }
        let info = core.intrinsics();
        let reply = self.server.post(&form, reply::most_bytes(info))?;
        if let Some(files) = &self.files {
            files.write_reply(form.name, &reply.body)?;
        }
        decode(&reply.body, info).map_err(|e| {
            e.at(format!(
                "{ENGINE}: reply of {} with HTTP code {}",
                self.url(),
                reply.code
            ))
        })
    }
    /// Adds the visual that `create` makes for the label of a geometry with these properties;
    /// returns false if there is none or the geometry is meant for other engines.
    fn register(
        &mut self,
        id: GeometryId,
        properties: &PerceptionProperties,
        create: impl FnOnce(RenderLabel) -> Result<Option<Visual>>,
    ) -> Result<bool> {
        let name = self.renderer_name.as_deref();
        let Some(label) = label_to_register(self, id, name, properties)? else {
            return Ok(false);
        };
        let visual = create(label)?;
        let accepted = visual.is_some();
        if let Some(visual) = visual {
            self.visuals.insert(id, visual);
        }
        Ok(accepted)
    }
    /// Warns once if the camera requests a window.
    fn warn_of_window(&self, camera: &ColorRenderCamera) {
        if camera.show_window() && !self.warned_of_window.swap(true, Ordering::Relaxed) {
            warn(format!(
                "{ENGINE}: show_window has no effect; images are drawn by the server"
            ));
        }
    }
}

impl fmt::Debug for RenderEngineGltfClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RenderEngineGltfClient")
            .field("params", &self.params)
            .field("visuals", &self.visuals.len())
            .finish_non_exhaustive()
    }
}

impl RenderEngine for RenderEngineGltfClient {
    fn register_visual(
        &mut self,
        id: GeometryId,
        shape: &Shape,
        properties: &PerceptionProperties,
    ) -> Result<bool> {
        self.register(id, properties, |label| {
            Visual::new(shape, properties, label)
        })
    }
    fn register_mesh(
        &mut self,
        id: GeometryId,
        mesh: &RenderMesh,
        properties: &PerceptionProperties,
    ) -> Result<bool> {
        self.register(id, properties, |label| {
            Visual::of_mesh(mesh, properties, label).map(Some)
        })
    }
    fn remove_visual(&mut self, id: GeometryId) -> bool {
        self.visuals.remove(id)
    }
    fn has_visual(&self, id: GeometryId) -> bool {
        self.visuals.contains(id)
    }
    fn render_color(
        &self,
        view: &RenderView<'_>,
        camera: &ColorRenderCamera,
        image: &mut ImageRgba8U,
    ) -> Result<()> {
        check_image_size(image, camera.core().intrinsics())?;
        self.warn_of_window(camera);
        *image = self.draw(view, camera.core(), None, ImageKind::Color, reply::color)?;
        Ok(())
    }
    fn render_depth(
        &self,
        view: &RenderView<'_>,
        camera: &DepthRenderCamera,
        image: &mut ImageDepth32F,
    ) -> Result<()> {
        check_image_size(image, camera.core().intrinsics())?;
        let range = Some(camera.depth_range());
        *image = self.draw(view, camera.core(), range, ImageKind::Depth, reply::depth)?;
        Ok(())
    }
    fn render_label(
        &self,
        view: &RenderView<'_>,
        camera: &ColorRenderCamera,
        image: &mut ImageLabel16I,
    ) -> Result<()> {
        check_image_size(image, camera.core().intrinsics())?;
        self.warn_of_window(camera);
        *image = self.draw(view, camera.core(), None, ImageKind::Label, reply::label)?;
        Ok(())
    }
    fn default_render_label(&self) -> RenderLabel {
        RenderLabel::DONT_CARE
    }
    fn renders_for(&self, class_name: &str) -> bool {
        class_name == ENGINE
    }
}
