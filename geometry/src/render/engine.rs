//! What SceneGraph and cameras expect of a renderer.

use super::camera::{ColorRenderCamera, DepthRenderCamera};
use super::camera_info::CameraInfo;
use super::image::{Image, ImageDepth32F, ImageLabel16I, ImageRgba8U, PixelType};
use crate::error::{Error, Result};
use crate::ids::GeometryId;
use crate::properties::PerceptionProperties;
use crate::properties::RenderLabel;
use crate::shape::Shape;
use dyn_clone::DynClone;
use nalgebra::Isometry3;
use std::collections::BTreeSet;
use std::fmt;

/// What an image is drawn from: the pose of the camera, and the poses of the visuals to be seen.
///
/// An engine serves many scenes that differ in some visuals. Those without a pose are not part of
/// the scene that is drawn and must be left out.
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
    /// `X_WG` of a visual; `None` if it is not to be drawn.
    pub poses: &'a (dyn Fn(GeometryId) -> Option<Isometry3<f64>> + Sync),
}

impl<'a> RenderView<'a> {
    /// From `X_WC` and a function that gives `X_WG` of the visuals to be drawn.
    pub fn new(
        x_wc: Isometry3<f64>,
        poses: &'a (dyn Fn(GeometryId) -> Option<Isometry3<f64>> + Sync),
    ) -> Self {
        Self { x_wc, poses }
    }
    /// `X_WG` of a visual; `None` if it is not to be drawn.
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

/// Draws colour, depth and label images of registered visuals.
///
/// An engine holds shapes and materials, never poses: those come with each [`RenderView`], so that
/// one engine serves many contexts, cameras and threads at once. The ids are those of visuals: a
/// geometry whose look changes is registered again under another id before the old one is removed.
///
/// # Copies and threads
/// Contexts share an engine. The first change of the visuals in one of them clones it (hence
/// `Clone`) and changes the copy, so a clone should cost little: keep meshes, textures and device
/// memory behind `Arc`. A copy must not see later changes of the original, nor the original those
/// of the copy.
///
/// Any number of threads may draw with one engine, and while they do, others draw with, clone and
/// change its copies. SceneGraph holds no lock while it calls an engine; an engine should hold none
/// while it draws in parallel (a thread that waits in rayon may run any other task, another image
/// of the same engine among them), reads files or calls code of its users.
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
    /// Adds a visual in its own frame G. `false`: this engine declines it, because
    /// `("renderer", "accepting")` names only others or the shape is none of its kind.
    ///
    /// # Errors
    /// If the id is registered already, the label is [`RenderLabel::UNSPECIFIED`] or
    /// [`RenderLabel::EMPTY`], a property has the wrong type, or a file can not be read.
    fn register_visual(
        &mut self,
        id: GeometryId,
        shape: &Shape,
        properties: &PerceptionProperties,
    ) -> Result<bool>;

    /// Removes a visual; false if it was not registered.
    fn remove_visual(&mut self, id: GeometryId) -> bool;

    /// True if the visual is registered.
    fn has_visual(&self, id: GeometryId) -> bool;

    /// Draws colours.
    ///
    /// # Errors
    /// If the image has another size than the camera.
    fn render_color(
        &self,
        view: &RenderView<'_>,
        camera: &ColorRenderCamera,
        image: &mut ImageRgba8U,
    ) -> Result<()>;

    /// Draws depth: z in the camera frame (m), 0 where closer than the depth range, infinity where
    /// farther or empty.
    ///
    /// # Errors
    /// As [`render_color`](Self::render_color).
    fn render_depth(
        &self,
        view: &RenderView<'_>,
        camera: &DepthRenderCamera,
        image: &mut ImageDepth32F,
    ) -> Result<()>;

    /// Draws labels: [`RenderLabel::EMPTY`] where nothing is seen; geometry with
    /// [`RenderLabel::DO_NOT_RENDER`] is left out.
    ///
    /// # Errors
    /// As [`render_color`](Self::render_color).
    fn render_label(
        &self,
        view: &RenderView<'_>,
        camera: &ColorRenderCamera,
        image: &mut ImageLabel16I,
    ) -> Result<()>;

    /// The label of geometry that declares none: [`RenderLabel::DONT_CARE`], or
    /// [`RenderLabel::UNSPECIFIED`] if every geometry has to declare one.
    fn default_render_label(&self) -> RenderLabel;

    /// The label of a geometry with these properties (Drake's `GetRenderLabelOrThrow`).
    ///
    /// # Errors
    /// If the label is [`RenderLabel::UNSPECIFIED`] or [`RenderLabel::EMPTY`], or the property
    /// `("label", "id")` is no [`RenderLabel`].
    fn render_label_of(&self, properties: &PerceptionProperties) -> Result<RenderLabel> {
        let declared = properties.try_get::<RenderLabel>("label", "id")?;
        let label = declared
            .copied()
            .unwrap_or_else(|| self.default_render_label());
        if label == RenderLabel::UNSPECIFIED || label == RenderLabel::EMPTY {
            return Err(Error::invalid(format!(
                "property ('label', 'id') is {label:?}{}, a label that can be drawn is expected",
                if declared.is_none() {
                    " by default of the render engine"
                } else {
                    ""
                }
            )));
        }
        Ok(label)
    }
}

/// True unless `("renderer", "accepting")`, a `BTreeSet<String>`, leaves out the renderer of the
/// given name. The empty set leaves out none.
///
/// # Errors
/// If the property has another type.
pub fn accepts_renderer(properties: &PerceptionProperties, renderer_name: &str) -> Result<bool> {
    let accepting = properties.try_get::<BTreeSet<String>>("renderer", "accepting")?;
    Ok(accepting.is_none_or(|names| names.is_empty() || names.contains(renderer_name)))
}

/// Checks that an image has the size of its camera (Drake's `RenderEngine::ThrowIfInvalid`).
///
/// # Errors
/// If it has not.
pub fn check_image_size<P: PixelType>(image: &Image<P>, intrinsics: &CameraInfo) -> Result<()> {
    let found = (image.width(), image.height());
    let expected = (intrinsics.width(), intrinsics.height());
    if found == expected {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "the {} image is {} x {}, the {} x {} of its camera is expected",
        P::NAME,
        found.0,
        found.1,
        expected.0,
        expected.1
    )))
}
