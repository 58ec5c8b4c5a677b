//! Registered visuals.

use super::clusters::ClusteredMesh;
use super::deformable_source::DeformableSource;
use crate::accel::TriangleBvh;
use crate::error::Result;
use crate::mesh::RenderMesh;
use crate::properties::PerceptionProperties;
use crate::properties::RenderLabel;
use crate::render::appearance::{Appearance, MeshAppearance};
use crate::render::cpu::params::RenderEngineCpuParams;
use crate::shape::Shape;
use std::sync::Arc;

/// Drawn form of a visual.
#[derive(Debug)]
pub(crate) enum VisualForm {
    /// A shape, drawn exactly from its equation.
    Shape {
        shape: Shape,
        diffuse: [f32; 3],
        alpha: f32,
    },
    /// A mesh, drawn as triangles.
    Mesh(ClusteredMesh),
}

/// One registered geometry.
pub(crate) struct Visual {
    pub(crate) label: RenderLabel,
    pub(crate) form: VisualForm,
    /// Triangles that cast shadows; `None` if shadows are disabled or the form is a shape.
    pub(crate) occluder: Option<Box<TriangleBvh>>,
    /// Source of the form in other configurations, if the visual is deformable.
    pub(super) deformable: Option<Arc<DeformableSource>>,
}

impl Visual {
    /// Creates a visual from a shape and its properties, and reads their files. `None` for shapes
    /// that this engine cannot draw.
    pub(crate) fn new(
        shape: &Shape,
        properties: &PerceptionProperties,
        label: RenderLabel,
        params: &RenderEngineCpuParams,
    ) -> Result<Option<Self>> {
        let appearance = Appearance::of(
            shape,
            properties,
            params.default_diffuse,
            &params.quiet_gltf_extensions,
        )?;
        Ok(appearance.map(|appearance| Self::of_appearance(appearance, label, params)))
    }
    /// Creates a visual from triangles in memory, and reads the textures of their materials.
    pub(crate) fn of_mesh(
        mesh: &RenderMesh,
        properties: &PerceptionProperties,
        label: RenderLabel,
        params: &RenderEngineCpuParams,
    ) -> Result<Self> {
        let appearance = Appearance::of_mesh(mesh, properties, params.default_diffuse)?;
        Ok(Self::of_appearance(appearance, label, params))
    }
    pub(super) fn of_appearance(
        appearance: Appearance,
        label: RenderLabel,
        params: &RenderEngineCpuParams,
    ) -> Self {
        match appearance {
            Appearance::Shape {
                shape,
                diffuse,
                alpha,
            } => Self {
                label,
                form: VisualForm::Shape {
                    shape,
                    diffuse,
                    alpha,
                },
                occluder: None,
                deformable: None,
            },
            Appearance::Mesh(appearance) => {
                let MeshAppearance { mesh, materials } = *appearance;
                let drawn = ClusteredMesh::new(&mesh, materials);
                let casts = params.cast_shadows;
                Self {
                    label,
                    occluder: casts.then(|| Box::new(drawn.occluder(&mesh))),
                    form: VisualForm::Mesh(drawn),
                    deformable: None,
                }
            }
        }
    }
    /// Returns true if some material does not follow Lambert's law.
    pub(crate) fn has_model(&self) -> bool {
        match &self.form {
            VisualForm::Shape { .. } => false,
            VisualForm::Mesh(mesh) => mesh.has_model,
        }
    }
    /// Returns the number of ids that its parts need.
    pub(crate) fn parts(&self) -> usize {
        match &self.form {
            VisualForm::Shape { .. } => 1,
            VisualForm::Mesh(mesh) => mesh.triangles.len(),
        }
    }
}
