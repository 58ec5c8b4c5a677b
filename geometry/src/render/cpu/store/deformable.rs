//! Visuals whose vertices move.

use super::deformable_source::DeformableSource;
use super::visual::Visual;
use crate::error::{Error, Result};
use crate::mesh::RenderMesh;
use crate::properties::{PerceptionProperties, RenderLabel};
use crate::render::appearance::{Appearance, MeshAppearance};
use crate::render::cpu::params::RenderEngineCpuParams;
use crate::render::engine::DeformedMesh;
use std::sync::Arc;

impl Visual {
    /// Creates a visual from meshes in the reference configuration.
    ///
    /// # Errors
    /// Returns an error if the lists of a mesh do not fit together or a property has the wrong
    /// type.
    pub(crate) fn of_deformable(
        meshes: &[&RenderMesh],
        properties: &PerceptionProperties,
        label: RenderLabel,
        params: &RenderEngineCpuParams,
    ) -> Result<Self> {
        meshes.iter().try_for_each(|mesh| mesh.check())?;
        let all = RenderMesh::joined(meshes);
        match Appearance::of_mesh(&all, properties, params.default_diffuse)? {
            Appearance::Mesh(appearance) => {
                let counts = meshes.iter();
                let counts = counts.map(|mesh| [mesh.positions.len(), mesh.normals.len()]);
                let source = DeformableSource {
                    counts: counts.collect(),
                    appearance: *appearance,
                };
                Ok(Self::of_source(Arc::new(source), None, label, params))
            }
            shape => Ok(Self::of_appearance(shape, label, params)),
        }
    }

    fn of_source(
        source: Arc<DeformableSource>,
        moved: Option<RenderMesh>,
        label: RenderLabel,
        params: &RenderEngineCpuParams,
    ) -> Self {
        let MeshAppearance { mesh, materials } = &source.appearance;
        let appearance = Appearance::Mesh(Box::new(MeshAppearance {
            mesh: moved.unwrap_or_else(|| mesh.clone()),
            materials: materials.clone(),
        }));
        let mut visual = Self::of_appearance(appearance, label, params);
        visual.deformable = Some(source);
        visual
    }

    /// Returns the visual in another configuration.
    ///
    /// # Errors
    /// Returns an error if the visual is not deformable or the numbers of meshes, positions or
    /// normals differ from those it was created with.
    pub(crate) fn deformed(
        &self,
        meshes: &[DeformedMesh<'_>],
        params: &RenderEngineCpuParams,
    ) -> Result<Self> {
        let Some(source) = &self.deformable else {
            return Err(Error::state(
                "a visual must be registered with `register_deformable_visual` to be deformed, got \
                 a rigid one",
            ));
        };
        let counts = meshes.iter();
        let counts = counts.map(|mesh| [mesh.positions.len(), mesh.normals.len()]);
        let counts: Vec<[usize; 2]> = counts.collect();
        if counts != source.counts {
            return Err(Error::invalid(format!(
                "the meshes of a deformable visual must have the numbers of positions and normals \
                 {:?}, got {counts:?}",
                source.counts
            )));
        }
        let mut moved = source.appearance.mesh.clone();
        let positions = meshes.iter().flat_map(|mesh| mesh.positions);
        for (place, p) in moved.positions.iter_mut().zip(positions) {
            *place = (*p).into();
        }
        let normals = meshes.iter().flat_map(|mesh| mesh.normals);
        for (place, n) in moved.normals.iter_mut().zip(normals) {
            *place = *n;
        }
        Ok(Self::of_source(
            source.clone(),
            Some(moved),
            self.label,
            params,
        ))
    }
}
