//! The data that a deformable geometry adds to a registered one.

use super::driven::DrivenMesh;
use super::reference::ReferenceMesh;
use crate::error::Result;
use crate::mesh::VolumeMesh;
use crate::properties::{PerceptionProperties, Role};
use crate::shape::Shape;
use nalgebra::Isometry3;
use std::sync::Arc;

/// The reference mesh of a deformable geometry, and the meshes that it drives.
#[derive(Clone, Debug)]
pub(crate) struct DeformableForm {
    pub(crate) reference: Arc<ReferenceMesh>,
    /// The boundary, for roles other than perception.
    boundary: Arc<[DrivenMesh]>,
    /// Those of the perception role, while the geometry has it.
    perception: Arc<[DrivenMesh]>,
}

impl DeformableForm {
    /// Makes the form of a shape at a pose in the world.
    ///
    /// # Errors
    /// Returns an error if the shape or the hint (m) is not suitable; see [`ReferenceMesh::new`].
    pub(crate) fn new(shape: &Shape, x_wg: &Isometry3<f64>, hint: f64) -> Result<Self> {
        let reference = Arc::new(ReferenceMesh::new(shape, x_wg, hint)?);
        let boundary: Arc<[DrivenMesh]> = [DrivenMesh::boundary(&reference)].into();
        Ok(Self {
            perception: boundary.clone(),
            reference,
            boundary,
        })
    }

    /// Returns the form with the meshes that a perception role asks for.
    ///
    /// # Errors
    /// Returns an error if the file of an embedded mesh cannot be used.
    pub(crate) fn with_perception(&self, properties: &PerceptionProperties) -> Result<Self> {
        let embedded = DrivenMesh::embedded(&self.reference, properties)?;
        Ok(Self {
            perception: embedded.map_or_else(|| self.boundary.clone(), |mesh| [mesh].into()),
            ..self.clone()
        })
    }

    /// Returns the mesh in the reference configuration, in the frame of the geometry.
    pub(crate) fn local_mesh(&self) -> &Arc<VolumeMesh> {
        &self.reference.local
    }

    /// Returns the meshes that are driven for a role.
    pub(crate) fn driven(&self, role: Role) -> &[DrivenMesh] {
        match role {
            Role::Perception => &self.perception,
            Role::Proximity | Role::Illustration | Role::Unassigned => &self.boundary,
        }
    }
}
