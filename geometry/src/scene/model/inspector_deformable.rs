//! Read-only view of deformable geometry and skins.

use super::inspector::SceneGraphInspector;
use super::state::RegisteredGeometry;
use crate::deformable::DeformableForm;
use crate::error::{Error, Result};
use crate::ids::GeometryId;
use crate::mesh::{RenderMesh, VolumeMesh};
use crate::properties::Role;
use crate::skin::Skin;
use std::sync::Arc;

impl<'a> SceneGraphInspector<'a> {
    fn deformable(&self, id: GeometryId) -> Result<&'a DeformableForm> {
        let geometry = self.geometry(id)?;
        geometry.deformable.as_deref().ok_or_else(|| {
            Error::invalid(format!(
                "geometry '{}' must be deformable, got rigid geometry; register it with \
                 `register_deformable_geometry`, or look at its `shape`",
                geometry.name
            ))
        })
    }

    /// Returns true if a geometry is deformable (Drake's `IsDeformableGeometry`).
    ///
    /// # Errors
    /// Returns an error if there is no such geometry.
    pub fn is_deformable(&self, id: GeometryId) -> Result<bool> {
        Ok(self.geometry(id)?.deformable.is_some())
    }
    /// Returns all deformable geometries, in order of registration.
    pub fn all_deformable_geometry_ids(&self) -> impl Iterator<Item = GeometryId> + 'a {
        let all = self.state.geometries.iter();
        all.filter(|g| g.deformable.is_some()).map(|g| g.id)
    }
    /// Returns the number of deformable geometries with a role.
    pub fn num_deformable_geometries_with_role(&self, role: Role) -> usize {
        let is_counted = |g: &&RegisteredGeometry| g.deformable.is_some() && g.has_role(role);
        self.state.geometries.iter().filter(is_counted).count()
    }
    /// Returns the mesh of a deformable geometry before it is deformed, in the frame of the
    /// geometry, which [`Self::pose_in_frame`] places in the world. Contexts share it.
    ///
    /// # Errors
    /// Returns an error if there is no such geometry or it is not deformable.
    pub fn reference_mesh(&self, id: GeometryId) -> Result<&'a Arc<VolumeMesh>> {
        Ok(self.deformable(id)?.local_mesh())
    }
    /// Returns true if the vertices of a geometry move on their own, so that it has no pose: it is
    /// deformable, or a skin.
    ///
    /// # Errors
    /// Returns an error if there is no such geometry.
    pub fn is_driven(&self, id: GeometryId) -> Result<bool> {
        Ok(self.geometry(id)?.is_driven())
    }
    /// Returns all geometries whose vertices move on their own, in order of registration:
    /// deformable ones and skins.
    pub fn all_driven_geometry_ids(&self) -> impl Iterator<Item = GeometryId> + 'a {
        let all = self.state.geometries.iter();
        all.filter(|g| g.is_driven()).map(|g| g.id)
    }
    /// Returns the bones of a geometry; `None` if it is not a skin.
    ///
    /// # Errors
    /// Returns an error if there is no such geometry.
    pub fn skin(&self, id: GeometryId) -> Result<Option<&'a Skin>> {
        let form = self.geometry(id)?.skin.as_deref();
        Ok(form.map(|form| &form.skin))
    }
    /// Returns the surfaces of a deformable geometry that follow its mesh in a role, in the
    /// reference configuration, in the world (Drake's `GetDrivenRenderMeshes`); for a skin, its
    /// mesh. For their current vertices, see `QueryObject::driven_mesh_configurations_in_world`.
    ///
    /// # Errors
    /// Returns an error if there is no such geometry, if it drives no meshes, or if it does not
    /// have the role.
    pub fn driven_render_meshes(&self, id: GeometryId, role: Role) -> Result<Vec<Arc<RenderMesh>>> {
        let geometry = self.geometry(id)?;
        if let Some(skin) = &geometry.skin {
            geometry.check_drives(role)?;
            return Ok(vec![skin.mesh.clone()]);
        }
        let form = self.deformable(id)?;
        geometry.check_drives(role)?;
        let meshes = form.driven(role).iter();
        Ok(meshes.map(|driven| driven.mesh.clone()).collect())
    }
}

impl RegisteredGeometry {
    /// Checks that a geometry with driven meshes has a role, for which it drives meshes.
    pub(in crate::scene) fn check_drives(&self, role: Role) -> Result<()> {
        if role != Role::Unassigned && self.has_role(role) {
            return Ok(());
        }
        Err(Error::state(format!(
            "geometry '{}' must have the role {role:?} to drive meshes for it, but does not; give it \
             the role with `SceneGraph::assign_role`",
            self.name
        )))
    }
}
