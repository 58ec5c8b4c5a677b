//! Rendered images of a scene.

use super::QueryObject;
use crate::deformable::normals;
use crate::error::Result;
use crate::ids::FrameId;
use crate::mesh::RenderMesh;
use crate::properties::Role;
use crate::render::{
    CameraBatch, ColorRenderCamera, DeformedMesh, DepthRenderCamera, ImageBatch, ImageDepth32F,
    ImageLabel16I, ImageRgba8U, RenderCameraCore, RenderEngine, RenderView,
};
use nalgebra::{Isometry3, Quaternion, UnitQuaternion, Vector3};
use std::collections::BTreeMap;
use std::sync::Arc;
use tarragon_framework::{Scalar, math};

impl<T: Scalar> QueryObject<T> {
    /// Returns a render engine of the snapshot (Drake's `GetRenderEngineByName`), which shows
    /// deformable geometry and skins in their current configurations.
    ///
    /// # Errors
    /// Returns an error if there is no renderer of that name, in which case the message lists the
    /// existing ones, or if an engine cannot show deformable geometry.
    pub fn render_engine_by_name(&self, name: &str) -> Result<&Arc<dyn RenderEngine>> {
        let engine = self.state.render_engine_by_name(name)?;
        let deformables = self.kinematics.deformables();
        if deformables.geometries().is_empty() && !deformables.has_skins() {
            return Ok(engine);
        }
        let engines = &deformables.engines;
        let deformed = match engines.get() {
            Some(deformed) => deformed,
            None => {
                let deformed = (self.kernels.deformed_engines)(self)?;
                engines.get_or_init(|| deformed)
            }
        };
        Ok(deformed.get(name).unwrap_or(engine))
    }

    /// Returns copies of the engines that show deformable geometry and skins, in their current
    /// configurations.
    pub(super) fn deform_engines(&self) -> Result<BTreeMap<String, Arc<dyn RenderEngine>>> {
        let mut engines: BTreeMap<String, Arc<dyn RenderEngine>> = BTreeMap::new();
        for (number, geometry) in self.state.geometries.iter().enumerate() {
            let Some(visual) = geometry.visual().filter(|_| geometry.is_driven()) else {
                continue;
            };
            let with_normals = |mesh: &RenderMesh, positions: Vec<Vector3<f64>>| {
                let normals = normals(mesh, &positions);
                (positions, normals)
            };
            let mut moved = vec![];
            if let Some(deformable) = self.kinematics.deformables().get(number) {
                let configuration = deformable.configuration.map(|x| x.re());
                for driven in deformable.form.driven(Role::Perception) {
                    let positions = driven.positions(configuration.as_slice());
                    moved.push(with_normals(&driven.mesh, positions));
                }
            }
            if let Some(skin) = &geometry.skin {
                moved.push(with_normals(&skin.mesh, self.vertices_of_skin(skin)));
            }
            let meshes = moved
                .iter()
                .map(|(positions, normals)| DeformedMesh { positions, normals });
            let meshes: Vec<DeformedMesh<'_>> = meshes.collect();
            for name in self.state.inspector().renderer_names() {
                let engine = self.state.render_engine_by_name(name)?;
                if engine.has_visual(visual) {
                    let copy = engines.entry(name.into()).or_insert_with(|| engine.clone());
                    let copy = dyn_clone::arc_make_mut(copy);
                    let updated = copy.update_deformable_configurations(visual, &meshes);
                    updated.map_err(|e| e.at(format!("geometry '{}'", geometry.name)))?;
                }
            }
        }
        Ok(engines)
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
