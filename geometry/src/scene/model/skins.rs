//! Registration of skins.

use super::state::{GeometryState, WORLD};
use crate::error::{Error, Result};
use crate::ids::{GeometryId, SourceId};
use crate::scene::instance::GeometryInstance;
use crate::skin::{Bone, Skin, SkinForm};
use std::sync::Arc;

impl GeometryState {
    /// Adds a surface whose vertices follow several frames of the source or the world, for viewers
    /// and renderers. The shape is a `Mesh` with the vertices that the bones of the skin refer to,
    /// in the order of [`RenderMesh::positions`](crate::mesh::RenderMesh::positions). The pose of
    /// the instance places it in the world as it is when all frames are where they were bound.
    ///
    /// A skin takes no part in proximity queries and rays. Its vertices are
    /// `QueryObject::driven_mesh_configurations_in_world`. Engines that do not draw deformable
    /// geometry leave it out, with a warning.
    ///
    /// ```
    /// use nalgebra::{Isometry3, Vector3};
    /// use tarragon_framework::prelude::*;
    /// use tarragon_geometry::*;
    /// let mut scene = SceneGraph::new();
    /// let source = scene.register_source("toys")?;
    /// let hand = scene.register_frame(source, GeometryFrame::new("hand"))?;
    /// let triangle = MemoryFile::new("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", ".obj", "flag");
    /// let flag = Mesh::new(InMemoryMesh::new(triangle));
    /// let flag = GeometryInstance::new(Isometry3::identity(), flag, "flag")?
    ///     .with_illustration(IllustrationProperties::new());
    /// let bone = |frame, weights| Bone { frame, x_wf: Isometry3::identity(), weights };
    /// let pole = bone(scene.world_frame_id(), vec![(0, 1.0), (1, 1.0)]);
    /// let skin = Skin::new(vec![pole, bone(hand, vec![(1, 1.0), (2, 1.0)])]);
    /// let flag = scene.register_skin(source, flag, skin)?;
    /// let mut b = DiagramBuilder::new();
    /// let scene = b.add("scene_graph", scene);
    /// let mut ctx = b.build()?.default_context();
    /// let poses = FramePoseVector::from_iter([(hand, Isometry3::translation(0.0, 0.0, 2.0))]);
    /// ctx.fix(scene.source_pose_port(source)?, poses)?;
    /// let query = ctx.eval(scene.query)?;
    /// let meshes = query.driven_mesh_configurations_in_world(flag, Role::Illustration)?;
    /// assert_eq!(meshes[0].as_slice(), [0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 2.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error in the cases of [`GeometryState::register_geometry`], if the shape is not a
    /// `Mesh`, or if the instance has the proximity role. Also returns an error if a bone has an
    /// unknown frame or that of another source, a pose that is not finite, a vertex that the mesh
    /// lacks, or a weight that is not a number from 0; and if a vertex has no weight. In that case
    /// nothing is registered.
    pub fn register_skin(
        &mut self,
        source: SourceId,
        instance: GeometryInstance,
        skin: Skin,
    ) -> Result<GeometryId> {
        self.source_number(source)?;
        let mut numbers = vec![];
        for bone in skin.bones() {
            numbers.push(self.bone_frame(source, &instance, bone)?);
        }
        let x_wg = instance.x_pg;
        self.add_geometry(source, WORLD, instance, |geometry| {
            let form = SkinForm::new(&geometry.shape, &x_wg, skin, numbers)?;
            geometry.skin = Some(Arc::new(form));
            Ok(())
        })
    }

    /// Returns the number of the frame of a bone.
    fn bone_frame(
        &self,
        source: SourceId,
        instance: &GeometryInstance,
        bone: &Bone,
    ) -> Result<usize> {
        let place = || format!("geometry '{}'", instance.name);
        let number = self.frame_number(bone.frame).map_err(|e| e.at(place()))?;
        let frame = &self.frames[number];
        if number != WORLD && frame.source != source {
            return Err(Error::invalid(format!(
                "{}: the frame '{}' of a bone belongs to another source",
                place(),
                frame.name
            )));
        }
        Ok(number)
    }
}
