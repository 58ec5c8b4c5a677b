//! The interface between SceneGraph, cameras and renderers.

use super::batch::{BatchTicket, CameraBatch, ImageBatch, ViewImages};
use super::camera::{ColorRenderCamera, DepthRenderCamera};
use super::camera_info::CameraInfo;
use super::image::{
    Depth32F, Image, ImageDepth32F, ImageLabel16I, ImageRgba8U, Label16I, PixelType, Rgba8U,
};
use crate::error::{Error, Result};
use crate::ids::GeometryId;
use crate::mesh::RenderMesh;
use crate::properties::PerceptionProperties;
use crate::properties::RenderLabel;
use crate::shape::Shape;
use dyn_clone::DynClone;
use nalgebra::{Isometry3, Vector3};
use std::collections::BTreeSet;
use std::fmt;

/// Poses from which an image is drawn: that of the camera, and those of the visuals in the scene.
///
/// One engine serves many scenes, whose visuals may differ. A visual without a pose is not part of
/// the scene and must not be drawn.
///
/// ```
/// use nalgebra::Isometry3;
/// use tarragon_geometry::{GeometryId, render::RenderView};
/// let ball = GeometryId::new();
/// let poses = |id| (id == ball).then(|| Isometry3::translation(0.0, 0.0, 2.0));
/// let view = RenderView::new(Isometry3::identity(), &poses);
/// assert!(view.x_wg(ball).is_some() && view.x_wg(GeometryId::new()).is_none());
/// ```
#[derive(Clone, Copy)]
pub struct RenderView<'a> {
    /// `X_WC`, the pose of the camera frame: +z into the image, +x right, +y down.
    pub x_wc: Isometry3<f64>,
    /// `X_WG` of a visual; `None` if it must not be drawn.
    pub poses: &'a (dyn Fn(GeometryId) -> Option<Isometry3<f64>> + Sync),
}

impl<'a> RenderView<'a> {
    /// Creates a view from `X_WC` and a function that returns `X_WG` of the visuals to draw.
    pub fn new(
        x_wc: Isometry3<f64>,
        poses: &'a (dyn Fn(GeometryId) -> Option<Isometry3<f64>> + Sync),
    ) -> Self {
        Self { x_wc, poses }
    }
    /// Returns `X_WG` of a visual; `None` if it must not be drawn.
    pub fn x_wg(&self, id: GeometryId) -> Option<Isometry3<f64>> {
        (self.poses)(id)
    }
}

impl fmt::Debug for RenderView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RenderView")
            .field("x_wc", &self.x_wc)
            .finish_non_exhaustive()
    }
}

/// Vertices and normals of one mesh of a deformable visual; see
/// [`RenderEngine::update_deformable_configurations`].
#[derive(Clone, Copy, Debug)]
pub struct DeformedMesh<'a> {
    /// Positions in the world (m), in the order of [`RenderMesh::positions`].
    pub positions: &'a [Vector3<f64>],
    /// Unit normals in the world, in the order of [`RenderMesh::normals`].
    pub normals: &'a [Vector3<f64>],
}

#[cold]
fn no_deformables(id: GeometryId) -> Error {
    Error::unsupported(format!(
        "geometry {id}: this render engine does not draw deformable geometry; use RenderEngineCpu, or \
         exclude this engine with the property ('renderer', 'accepting')"
    ))
}

/// A renderer that draws colour, depth and label images of registered visuals.
///
/// An engine holds shapes and materials, never poses: those come with each [`RenderView`], so that
/// one engine serves many contexts, cameras and threads at once. Ids identify visuals: a geometry
/// whose appearance changes is registered again under another id before the old one is removed.
///
/// # Copies and threads
/// Contexts share an engine. The first change of the visuals in one context clones the engine
/// (hence `Clone`) and changes the copy, so cloning should be cheap: keep meshes, textures and
/// device memory behind `Arc`. Later changes of the original must not affect a copy, nor the other
/// way round.
///
/// Any number of threads may draw with one engine while others draw with, clone and change its
/// copies. SceneGraph holds no lock while it calls an engine. An engine should hold none while it
/// draws in parallel (a thread that waits in rayon may run any other task, including another image
/// of the same engine), reads files or calls user code.
///
/// ```
/// use tarragon_geometry::render::{RenderEngine, RenderEngineCpu, RenderEngineCpuParams};
/// use tarragon_geometry::{GeometryId, PerceptionProperties, Sphere};
/// let cpu = RenderEngineCpu::new(RenderEngineCpuParams::default())?;
/// let mut engine: Box<dyn RenderEngine> = Box::new(cpu);
/// let ball = GeometryId::new();
/// assert!(engine.register_visual(ball, &Sphere::new(0.5)?.into(), &PerceptionProperties::new())?);
/// assert!(engine.remove_visual(ball) && !engine.has_visual(ball));
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
pub trait RenderEngine: DynClone + Send + Sync {
    /// Adds a visual in its own frame G. Returns false if this engine declines it, because
    /// `("renderer", "accepting")` names only other engines or because the engine does not draw
    /// shapes of this kind.
    ///
    /// # Errors
    /// Returns an error if the id is already registered, the label is [`RenderLabel::UNSPECIFIED`]
    /// or [`RenderLabel::EMPTY`], a property has the wrong type, or a file cannot be read.
    fn register_visual(
        &mut self,
        id: GeometryId,
        shape: &Shape,
        properties: &PerceptionProperties,
    ) -> Result<bool>;

    /// Adds a visual whose triangles and materials are in memory, in its own frame G. Faces without
    /// a material have the default colour of the engine. Returns false under the conditions of
    /// [`register_visual`](Self::register_visual).
    ///
    /// # Errors
    /// Returns the errors of [`register_visual`](Self::register_visual), an error if the lists of
    /// the mesh do not [fit together](RenderMesh::check), and an error of the kind
    /// [`Unsupported`](crate::ErrorKind::Unsupported) if the engine draws files and shapes only,
    /// which is the default.
    fn register_mesh(
        &mut self,
        id: GeometryId,
        mesh: &RenderMesh,
        properties: &PerceptionProperties,
    ) -> Result<bool> {
        let _ = (mesh, properties);
        Err(Error::unsupported(format!(
            "geometry {id}: this render engine does not draw meshes that are not in a file; use \
             RenderEngineCpu"
        )))
    }

    /// Adds a visual of triangle meshes whose vertices move on their own, with the materials of the
    /// meshes; faces without one look as in [`register_mesh`](Self::register_mesh). The meshes are
    /// in the world, in a reference configuration, and the pose of the visual is the identity.
    /// Returns false under the conditions of [`register_visual`](Self::register_visual).
    ///
    /// # Errors
    /// Returns the errors of [`register_mesh`](Self::register_mesh), and an error of the kind
    /// [`Unsupported`](crate::ErrorKind::Unsupported) if the engine does not draw deformable
    /// geometry, which is the default.
    fn register_deformable_visual(
        &mut self,
        id: GeometryId,
        meshes: &[&RenderMesh],
        properties: &PerceptionProperties,
    ) -> Result<bool> {
        let _ = (meshes, properties);
        Err(no_deformables(id))
    }

    /// Moves the vertices of a deformable visual (Drake's `UpdateDeformableConfigurations`): for
    /// each of its meshes, the positions in the world (m) and the unit normals, as many as the mesh
    /// has. Returns false if there is no such visual.
    ///
    /// ```
    /// use nalgebra::{Isometry3, Vector3};
    /// use tarragon_geometry::mesh::{MaterialGroup, RenderMesh};
    /// use tarragon_geometry::render::*;
    /// use tarragon_geometry::{GeometryId, PerceptionProperties};
    /// let at = |z: f64| [[-9.0, -9.0, z], [9.0, -9.0, z], [0.0, 9.0, z]];
    /// let cloth = RenderMesh {
    ///     positions: at(1.0).map(Into::into).to_vec(),
    ///     normals: vec![-Vector3::z()],
    ///     triangles: vec![[0, 2, 1]],
    ///     triangle_normals: vec![[0; 3]],
    ///     groups: vec![MaterialGroup { material: None, triangles: 0..1 }],
    ///     ..RenderMesh::default()
    /// };
    /// let mut engine = RenderEngineCpu::new(RenderEngineCpuParams::default())?;
    /// let id = GeometryId::new();
    /// engine.register_deformable_visual(id, &[&cloth], &PerceptionProperties::new())?;
    /// let (positions, normals) = (at(2.0).map(Vector3::from), [-Vector3::z()]);
    /// let moved = DeformedMesh { positions: &positions, normals: &normals };
    /// assert!(engine.update_deformable_configurations(id, &[moved])?);
    /// let camera = DepthRenderCamera::new("cpu", CameraInfo::from_fov_y(64, 48, 1.0)?);
    /// let mut image = ImageDepth32F::new(64, 48);
    /// let poses = |_| Some(Isometry3::identity());
    /// engine.render_depth(&RenderView::new(Isometry3::identity(), &poses), &camera, &mut image)?;
    /// assert!((image.at(31, 23)[0] - 2.0).abs() < 1e-6);
    /// # Ok::<(), tarragon_geometry::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the visual is not deformable, if the numbers of meshes, positions or
    /// normals differ from those registered, and an error of the kind
    /// [`Unsupported`](crate::ErrorKind::Unsupported) if the engine does not draw deformable
    /// geometry, which is the default.
    fn update_deformable_configurations(
        &mut self,
        id: GeometryId,
        meshes: &[DeformedMesh<'_>],
    ) -> Result<bool> {
        let _ = meshes;
        Err(no_deformables(id))
    }

    /// Removes a visual. Returns false if it was not registered.
    fn remove_visual(&mut self, id: GeometryId) -> bool;

    /// Returns true if the visual is registered.
    fn has_visual(&self, id: GeometryId) -> bool;

    /// Draws a colour image.
    ///
    /// # Errors
    /// Returns an error if the size of the image differs from that of the camera.
    fn render_color(
        &self,
        view: &RenderView<'_>,
        camera: &ColorRenderCamera,
        image: &mut ImageRgba8U,
    ) -> Result<()>;

    /// Draws a depth image: z in the camera frame (m), 0 where closer than the depth range,
    /// infinity where farther or empty.
    ///
    /// # Errors
    /// Returns an error under the conditions of [`render_color`](Self::render_color).
    fn render_depth(
        &self,
        view: &RenderView<'_>,
        camera: &DepthRenderCamera,
        image: &mut ImageDepth32F,
    ) -> Result<()>;

    /// Draws a label image: [`RenderLabel::EMPTY`] where nothing is visible. Geometry with
    /// [`RenderLabel::DO_NOT_RENDER`] is not drawn.
    ///
    /// # Errors
    /// Returns an error under the conditions of [`render_color`](Self::render_color).
    fn render_label(
        &self,
        view: &RenderView<'_>,
        camera: &ColorRenderCamera,
        image: &mut ImageLabel16I,
    ) -> Result<()>;

    /// Draws images of many views, such as those of many simulated worlds that share meshes, into
    /// contiguous arrays; `out` is resized as needed. Each image equals the one that
    /// [`render_color`](Self::render_color), [`render_depth`](Self::render_depth) or
    /// [`render_label`](Self::render_label) draws of that view.
    ///
    /// ```
    /// use nalgebra::Isometry3;
    /// use tarragon_geometry::render::*;
    /// use tarragon_geometry::{GeometryId, PerceptionProperties, Sphere};
    /// let mut engine = RenderEngineCpu::new(RenderEngineCpuParams::default())?;
    /// let ball = GeometryId::new();
    /// engine.register_visual(ball, &Sphere::new(0.5)?.into(), &PerceptionProperties::new())?;
    /// // Two worlds: the ball is 2 m and 3 m away.
    /// let near = |_| Some(Isometry3::translation(0.0, 0.0, 2.0));
    /// let far = |_| Some(Isometry3::translation(0.0, 0.0, 3.0));
    /// let view = |poses| RenderView::new(Isometry3::identity(), poses);
    /// let info = CameraInfo::from_fov_y(64, 48, 1.0)?;
    /// let cameras = CameraBatch::new().with_depth(DepthRenderCamera::new("cpu", info));
    /// let mut images = ImageBatch::default();
    /// engine.render_batch(&[view(&near), view(&far)], &cameras, &mut images)?;
    /// assert_eq!(images.depth.shape(), [2, 48, 64, 1]);
    /// assert!((images.depth.image(1)[23 * 64 + 31] - 2.5).abs() < 1e-6);
    /// # Ok::<(), tarragon_geometry::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the error of the first view that cannot be drawn. The content of `out` is then
    /// unspecified.
    fn render_batch(
        &self,
        views: &[RenderView<'_>],
        cameras: &CameraBatch,
        out: &mut ImageBatch,
    ) -> Result<()> {
        out.fit(views.len(), cameras);
        let mut scratch = ViewScratch::default();
        for ((index, view), images) in views.iter().enumerate().zip(out.views(views.len())) {
            let drawn = draw_view(self, view, cameras, images, &mut scratch);
            drawn.map_err(|e| at_view(e, index, views.len()))?;
        }
        Ok(())
    }

    /// Starts to draw the images of [`render_batch`](Self::render_batch) and returns a ticket to
    /// wait for them. An engine without a device of its own draws them before it returns.
    ///
    /// # Errors
    /// Returns an error under the conditions of [`render_batch`](Self::render_batch); engines that
    /// draw later may return it from [`BatchTicket::wait`].
    fn submit_batch(&self, views: &[RenderView<'_>], cameras: &CameraBatch) -> Result<BatchTicket> {
        let mut images = ImageBatch::default();
        self.render_batch(views, cameras, &mut images)?;
        Ok(BatchTicket::ready(images))
    }

    /// Returns true if the images of one view cost less together than one by one, as on devices
    /// that draw them in one pass.
    fn draws_images_together(&self) -> bool {
        false
    }

    /// Returns the label of geometry that declares none: [`RenderLabel::DONT_CARE`], or
    /// [`RenderLabel::UNSPECIFIED`] if every geometry must declare one.
    fn default_render_label(&self) -> RenderLabel;

    /// Returns true if the engine renders in place of a class of engines, `RenderEngineVtk` for
    /// example, so that cameras that ask for that class may use it.
    ///
    /// ```
    /// use tarragon_geometry::render::{RenderEngine, RenderEngineCpu, RenderEngineCpuParams};
    /// let cpu = RenderEngineCpu::new(RenderEngineCpuParams::default())?;
    /// assert!(cpu.renders_for("RenderEngineVtk") && !cpu.renders_for("RenderEngineGltfClient"));
    /// # Ok::<(), tarragon_geometry::Error>(())
    /// ```
    fn renders_for(&self, class_name: &str) -> bool {
        let _ = class_name;
        false
    }

    /// Returns the label of a geometry with these properties (Drake's `GetRenderLabelOrThrow`).
    ///
    /// # Errors
    /// Returns an error if the label is [`RenderLabel::UNSPECIFIED`] or [`RenderLabel::EMPTY`], or
    /// if the property `("label", "id")` is not a [`RenderLabel`].
    fn render_label_of(&self, properties: &PerceptionProperties) -> Result<RenderLabel> {
        let declared = properties.try_get::<RenderLabel>("label", "id")?;
        let label = declared
            .copied()
            .unwrap_or_else(|| self.default_render_label());
        if label == RenderLabel::UNSPECIFIED || label == RenderLabel::EMPTY {
            return Err(Error::invalid(format!(
                "property ('label', 'id') must be a label that can be drawn, got {label:?}{}",
                if declared.is_none() {
                    ", the default of the render engine"
                } else {
                    ""
                }
            )));
        }
        Ok(label)
    }
}

/// Returns the label of a visual that is about to be registered with an engine of this name; `None`
/// if the engine declines it, because `("renderer", "accepting")` names only others.
///
/// # Errors
/// Returns an error if the id is already registered, or for the reasons of
/// [`render_label_of`](RenderEngine::render_label_of).
pub fn label_to_register<E: RenderEngine + ?Sized>(
    engine: &E,
    id: GeometryId,
    renderer_name: Option<&str>,
    properties: &PerceptionProperties,
) -> Result<Option<RenderLabel>> {
    if engine.has_visual(id) {
        return Err(Error::exists(format!(
            "geometry {id} is already registered with this render engine"
        )));
    }
    if let Some(name) = renderer_name
        && !accepts_renderer(properties, name)?
    {
        return Ok(None);
    }
    engine.render_label_of(properties).map(Some)
}

/// Returns true unless the property `("renderer", "accepting")`, a `BTreeSet<String>`, excludes the
/// renderer of the given name. An empty set excludes none.
///
/// # Errors
/// Returns an error if the property has another type.
pub fn accepts_renderer(properties: &PerceptionProperties, renderer_name: &str) -> Result<bool> {
    let accepting = properties.try_get::<BTreeSet<String>>("renderer", "accepting")?;
    Ok(accepting.is_none_or(|names| names.is_empty() || names.contains(renderer_name)))
}

/// Checks that an image has the size of its camera (Drake's `RenderEngine::ThrowIfInvalid`).
///
/// # Errors
/// Returns an error if the sizes differ.
pub fn check_image_size<P: PixelType>(image: &Image<P>, intrinsics: &CameraInfo) -> Result<()> {
    let found = (image.width(), image.height());
    let expected = (intrinsics.width(), intrinsics.height());
    if found == expected {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "the {} image must have the size {} x {} of its camera, got {} x {}",
        P::NAME,
        expected.0,
        expected.1,
        found.0,
        found.1
    )))
}

/// Images that are reused from view to view.
#[derive(Default)]
pub(crate) struct ViewScratch {
    color: Image<Rgba8U>,
    depth: Image<Depth32F>,
    label: Image<Label16I>,
}

/// Adds the view to an error, unless it is the only one of the batch.
pub(crate) fn at_view(error: Error, index: usize, count: usize) -> Error {
    match count {
        1 => error,
        _ => error.at(format!("view {index} of the batch")),
    }
}

/// Draws the images of one view.
///
/// # Errors
/// Returns the first error of the engine.
pub(crate) fn draw_view<E: RenderEngine + ?Sized>(
    engine: &E,
    view: &RenderView<'_>,
    cameras: &CameraBatch,
    out: ViewImages<'_>,
    scratch: &mut ViewScratch,
) -> Result<()> {
    if let (Some(camera), Some(out)) = (cameras.color(), out.color) {
        let draw = |image: &mut _| engine.render_color(view, camera, image);
        draw_into(out, &mut scratch.color, camera.core().intrinsics(), draw)?;
    }
    if let (Some(camera), Some(out)) = (cameras.depth(), out.depth) {
        let draw = |image: &mut _| engine.render_depth(view, camera, image);
        draw_into(out, &mut scratch.depth, camera.core().intrinsics(), draw)?;
    }
    if let (Some(camera), Some(out)) = (cameras.label(), out.label) {
        let draw = |image: &mut _| engine.render_label(view, camera, image);
        draw_into(out, &mut scratch.label, camera.core().intrinsics(), draw)?;
    }
    Ok(())
}

/// Draws into one image of an array, through an image of the same size.
fn draw_into<P: PixelType>(
    out: &mut [P::Channel],
    scratch: &mut Image<P>,
    info: &CameraInfo,
    draw: impl FnOnce(&mut Image<P>) -> Result<()>,
) -> Result<()> {
    let (width, height) = (info.width(), info.height());
    if (scratch.width(), scratch.height()) != (width, height) {
        scratch.resize(width, height);
    }
    draw(scratch)?;
    out.copy_from_slice(scratch.data());
    Ok(())
}
