//! Registered visuals.

use crate::device::mesh_data::{GpuMesh, MeshData, MeshOpacity, color_of};
use crate::shader_source::{CAPSULE, CUBOID, CYLINDER, ELLIPSOID, HALF_SPACE};
use nalgebra::Vector3;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tarragon_geometry::render::appearance::Appearance;
use tarragon_geometry::{GeometryId, RenderLabel, Shape};

/// Drawn form of a visual.
pub(crate) enum VisualForm {
    /// A shape, drawn exactly.
    Shape {
        shape: Shape,
        kind: u32,
        size: Vector3<f64>,
        color: [f32; 4],
    },
    /// A mesh; the colour is that of triangles without a material.
    Mesh {
        mesh: Arc<GpuMesh>,
        color: [f32; 4],
        opacity: MeshOpacity,
    },
}

/// One registered geometry.
pub(crate) struct Visual {
    pub(crate) id: GeometryId,
    pub(crate) label: i16,
    pub(crate) form: VisualForm,
}

impl Visual {
    /// Returns true if label images do not show it.
    pub(crate) fn is_hidden(&self) -> bool {
        self.label == RenderLabel::DO_NOT_RENDER.value()
    }
    /// Returns true if the background is visible through some part of it in colour images.
    pub(crate) fn is_translucent(&self) -> bool {
        match &self.form {
            VisualForm::Shape { color, .. } => color[3] < 1.0,
            VisualForm::Mesh { opacity, .. } => opacity.translucent,
        }
    }
    /// Returns true if a mask cuts out parts of it in colour images.
    pub(crate) fn is_masked(&self) -> bool {
        match &self.form {
            VisualForm::Shape { .. } => false,
            VisualForm::Mesh { opacity, .. } => opacity.masked,
        }
    }
}

/// Visuals in the order of their ids. Copies are cheap and independent.
#[derive(Clone, Default)]
pub(crate) struct Visuals(Arc<Vec<Arc<Visual>>>);

impl Visuals {
    fn place(&self, id: GeometryId) -> Result<usize, usize> {
        self.0.binary_search_by_key(&id, |v| v.id)
    }
    pub(crate) fn contains(&self, id: GeometryId) -> bool {
        self.place(id).is_ok()
    }
    pub(crate) fn insert(&mut self, visual: Visual) {
        let (Ok(k) | Err(k)) = self.place(visual.id);
        Arc::make_mut(&mut self.0).insert(k, Arc::new(visual));
    }
    pub(crate) fn remove(&mut self, id: GeometryId) -> bool {
        let place = self.place(id);
        if let Ok(k) = place {
            Arc::make_mut(&mut self.0).remove(k);
        }
        place.is_ok()
    }
    pub(crate) fn as_slice(&self) -> &[Arc<Visual>] {
        &self.0
    }
}

/// Meshes by the hash of their content, so that equal ones share memory.
#[derive(Default)]
pub(crate) struct MeshCache(Mutex<BTreeMap<u64, Weak<GpuMesh>>>);

impl MeshCache {
    fn share(&self, data: MeshData) -> Arc<GpuMesh> {
        let hash = data.hash();
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, mesh| mesh.strong_count() > 0);
        if let Some(mesh) = known.get(&hash).and_then(Weak::upgrade)
            && mesh.data == data
        {
            return mesh;
        }
        let mesh = Arc::new(GpuMesh::new(data));
        known.insert(hash, Arc::downgrade(&mesh));
        mesh
    }
    /// Converts an appearance to the form that is drawn.
    pub(crate) fn form(&self, appearance: Appearance) -> VisualForm {
        let (shape, [r, g, b], a) = match appearance {
            Appearance::Mesh(mesh) => {
                return VisualForm::Mesh {
                    mesh: self.share(MeshData::new(&mesh)),
                    color: mesh.materials.first().map_or([1.0; 4], color_of),
                    opacity: MeshOpacity::of(&mesh),
                };
            }
            Appearance::Shape {
                shape,
                diffuse,
                alpha,
            } => (shape, diffuse, alpha),
        };
        let round = |radius: f64, length: f64| Vector3::new(radius, radius, 0.5 * length);
        let (kind, size) = match &shape {
            Shape::Sphere(s) => (ELLIPSOID, Vector3::repeat(s.radius())),
            Shape::Ellipsoid(s) => (ELLIPSOID, s.semi_axes()),
            Shape::Box(s) => (CUBOID, s.half_size()),
            Shape::Cylinder(s) => (CYLINDER, round(s.radius(), s.length())),
            Shape::Capsule(s) => (CAPSULE, round(s.radius(), s.length())),
            // All other shapes are drawn as meshes.
            _ => (HALF_SPACE, Vector3::repeat(1.0)),
        };
        VisualForm::Shape {
            shape,
            kind,
            size,
            color: [r, g, b, a],
        }
    }
    /// Returns the number of meshes in use.
    pub(crate) fn len(&self) -> usize {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.values().filter(|m| m.strong_count() > 0).count()
    }
}
