//! Rendered images of a scene.

use super::QueryObject;
use crate::error::Result;
use crate::ids::FrameId;
use crate::render::{
    CameraBatch, ColorRenderCamera, DepthRenderCamera, ImageBatch, ImageDepth32F, ImageLabel16I,
    ImageRgba8U, RenderCameraCore, RenderEngine, RenderView,
};
use nalgebra::{Isometry3, Quaternion, UnitQuaternion};
use std::sync::Arc;
use tarragon_framework::{Scalar, math};

impl<T: Scalar> QueryObject<T> {
    /// Returns a render engine of the snapshot (Drake's `GetRenderEngineByName`).
    ///
    /// # Errors
    /// Returns an error if there is no renderer of that name; the message lists the existing ones.
    pub fn render_engine_by_name(&self, name: &str) -> Result<&Arc<dyn RenderEngine>> {
        self.state.render_engine_by_name(name)
    }

    /// Renders a colour image from a camera at `X_PC` in the frame P; derivatives are ignored.
    ///
    /// # Errors
    /// Returns an error if the frame or the camera's renderer is unknown, or if the image has the
    /// wrong size.
    pub fn render_color_image(
        &self,
        camera: &ColorRenderCamera,
        parent_frame: FrameId,
        x_pc: &Isometry3<f64>,
        image: &mut ImageRgba8U,
    ) -> Result<()> {
        self.render(camera.core(), parent_frame, x_pc, |engine, view| {
            engine.render_color(view, camera, image)
        })
    }

    /// Renders a depth image; see [`QueryObject::render_color_image`].
    ///
    /// # Errors
    /// Returns an error in the cases of [`QueryObject::render_color_image`].
    pub fn render_depth_image(
        &self,
        camera: &DepthRenderCamera,
        parent_frame: FrameId,
        x_pc: &Isometry3<f64>,
        image: &mut ImageDepth32F,
    ) -> Result<()> {
        self.render(camera.core(), parent_frame, x_pc, |engine, view| {
            engine.render_depth(view, camera, image)
        })
    }

    /// Renders a label image; see [`QueryObject::render_color_image`].
    ///
    /// # Errors
    /// Returns an error in the cases of [`QueryObject::render_color_image`].
    pub fn render_label_image(
        &self,
        camera: &ColorRenderCamera,
        parent_frame: FrameId,
        x_pc: &Isometry3<f64>,
        image: &mut ImageLabel16I,
    ) -> Result<()> {
        self.render(camera.core(), parent_frame, x_pc, |engine, view| {
            engine.render_label(view, camera, image)
        })
    }

    /// Renders all images of one view at once, which engines for batches do in one pass: the arrays
    /// of `images` have one image for each camera of `cameras`, all at `X_PC` in the frame P.
    ///
    /// # Errors
    /// Returns an error in the cases of [`QueryObject::render_color_image`], if there is no camera,
    /// or if the cameras have different renderers or poses `X_BS`.
    pub fn render_images(
        &self,
        cameras: &CameraBatch,
        parent_frame: FrameId,
        x_pc: &Isometry3<f64>,
        images: &mut ImageBatch,
    ) -> Result<()> {
        let core = cameras.common_core()?;
        self.render(core, parent_frame, x_pc, |engine, view| {
            let ticket = engine.submit_batch(std::slice::from_ref(view), cameras)?;
            ticket.wait(images)
        })
    }

    fn render(
        &self,
        camera: &RenderCameraCore,
        parent_frame: FrameId,
        x_pc: &Isometry3<f64>,
        draw: impl FnOnce(&dyn RenderEngine, &RenderView<'_>) -> Result<()>,
    ) -> Result<()> {
        let engine = self.render_engine_by_name(camera.renderer_name())?;
        let x_ps = x_pc * camera.x_bs();
        let x_ws = values(self.pose_in_world(parent_frame)?) * x_ps;
        let poses = |id| {
            let number = self.state.visual_owner(id)?;
            Some(values(self.kinematics.x_wg(number)))
        };
        draw(&**engine, &RenderView::new(x_ws, &poses))
    }
}

/// Returns a pose without its derivatives.
fn values<T: Scalar>(x: &Isometry3<T>) -> Isometry3<f64> {
    let q = &x.rotation.coords;
    let q = Quaternion::new(q.w.re(), q.x.re(), q.y.re(), q.z.re());
    let p = x.translation.vector.map(|x| x.re());
    math::pose(UnitQuaternion::new_unchecked(q), p)
}
