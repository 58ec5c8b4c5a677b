//! Vertices of skins, and driven meshes in general.

use super::QueryObject;
use crate::error::Result;
use crate::ids::GeometryId;
use crate::properties::Role;
use crate::skin::SkinForm;
use crate::values::values_of_pose;
use nalgebra::{DVector, Isometry3, Vector3};
use tarragon_framework::Scalar;

impl<T: Scalar> QueryObject<T> {
    /// Returns the coordinates (m) in the world of the vertices of each mesh that a deformable
    /// geometry or a skin drives in a role (Drake's `GetDrivenMeshConfigurationsInWorld`). The
    /// meshes are those of `SceneGraphInspector::driven_render_meshes`: the boundary, with its
    /// vertices in the order of the reference mesh, or, in the perception role, an embedded
    /// surface; for a skin, its own mesh.
    ///
    /// # Errors
    /// Returns an error if there is no such geometry, if it drives no meshes, or if it does not
    /// have the role.
    pub fn driven_mesh_configurations_in_world(
        &self,
        geometry: GeometryId,
        role: Role,
    ) -> Result<Vec<DVector<T>>> {
        (self.kernels.driven_meshes)(self, geometry, role)
    }

    pub(super) fn find_driven_meshes(
        &self,
        geometry: GeometryId,
        role: Role,
    ) -> Result<Vec<DVector<T>>> {
        let number = self.state.geometry_number(geometry)?;
        let registered = &self.state.geometries[number];
        let flat = |positions: Vec<Vector3<T>>| {
            let coordinates = positions.iter().flatten().copied();
            DVector::from_iterator(3 * positions.len(), coordinates)
        };
        if let Some(skin) = &registered.skin {
            registered.check_drives(role)?;
            return Ok(vec![flat(skin.positions(|f| *self.kinematics.x_wf(f)))]);
        }
        let found = self.deformable(geometry)?;
        registered.check_drives(role)?;
        let driven = found.form.driven(role).iter();
        let driven = driven.map(|driven| flat(driven.positions(found.configuration.as_slice())));
        Ok(driven.collect())
    }

    /// Returns the current vertices of a geometry, given by its number, without derivatives (m);
    /// `None` if it is not a skin.
    pub(super) fn find_skin_vertices(&self, number: usize) -> Option<Vec<Vector3<f64>>> {
        let skin = self.state.geometries[number].skin.as_deref()?;
        Some(self.vertices_of_skin(skin))
    }

    pub(super) fn vertices_of_skin(&self, skin: &SkinForm) -> Vec<Vector3<f64>> {
        let pose = |f: usize| -> Isometry3<f64> { values_of_pose(self.kinematics.x_wf(f)) };
        skin.positions(pose)
    }
}
