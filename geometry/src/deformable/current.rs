//! A deformable geometry in one configuration: its boxes, trees and surfaces.

use super::form::DeformableForm;
use super::reference::{ReferenceMesh, box_of, boxes};
use crate::accel::bvh::{Box32, Bvh};
use crate::accel::{IndexedSurface, TriangleBvh};
use crate::error::Result;
use crate::mesh::{TriangleSurfaceMesh, VolumeElement};
use crate::properties::Role;
use nalgebra::Vector3;
use std::sync::OnceLock;

/// The current shape of a deformable geometry in the world. Trees are made when a query needs them.
pub(crate) struct CurrentShape {
    form: DeformableForm,
    vertices: Vec<Vector3<f64>>,
    bounds: Box32,
    triangles: OnceLock<Bvh>,
    tetrahedra: OnceLock<Bvh>,
    surface: OnceLock<IndexedSurface>,
    /// Triangles for rays: those of the boundary, and those of the perception role.
    for_rays: [OnceLock<TriangleBvh>; 2],
}

impl CurrentShape {
    /// Creates the shape from the positions of all vertices (m).
    pub(crate) fn new(form: DeformableForm, vertices: Vec<Vector3<f64>>) -> Self {
        Self {
            bounds: box_of(vertices.iter()),
            form,
            vertices,
            triangles: OnceLock::new(),
            tetrahedra: OnceLock::new(),
            surface: OnceLock::new(),
            for_rays: Default::default(),
        }
    }

    /// Returns the positions of the vertices (m).
    pub(crate) fn vertices(&self) -> &[Vector3<f64>] {
        &self.vertices
    }
    /// Returns the box around all vertices.
    pub(crate) fn bounds(&self) -> &Box32 {
        &self.bounds
    }
    pub(super) fn reference(&self) -> &ReferenceMesh {
        &self.form.reference
    }
    pub(super) fn corners<const N: usize>(&self, element: [u32; N]) -> [Vector3<f64>; N] {
        element.map(|v| self.vertices[v as usize])
    }

    /// Returns the tree of the triangles on the boundary.
    pub(super) fn triangles(&self) -> &Bvh {
        self.triangles.get_or_init(|| {
            let reference = self.reference();
            let boxes = boxes(&self.vertices, reference.boundary.iter().copied());
            reference.triangle_tree().refitted(&boxes)
        })
    }

    /// Returns the tree of the tetrahedra.
    pub(super) fn tetrahedra(&self) -> &Bvh {
        self.tetrahedra.get_or_init(|| {
            let reference = self.reference();
            let tetrahedra = reference.mesh.tetrahedra().iter();
            let boxes = boxes(&self.vertices, tetrahedra.map(VolumeElement::vertices));
            reference.tetrahedron_tree().refitted(&boxes)
        })
    }

    /// Returns the boundary for distances to points.
    ///
    /// # Errors
    /// Returns an error if no triangle has an area.
    pub(crate) fn surface(&self) -> Result<&IndexedSurface> {
        if let Some(surface) = self.surface.get() {
            return Ok(surface);
        }
        let triangles = self.reference().boundary.iter().copied();
        let mesh = TriangleSurfaceMesh::new(triangles, self.vertices.clone())?;
        let surface = IndexedSurface::new(&mesh)?;
        Ok(self.surface.get_or_init(|| surface))
    }

    /// Returns the triangles that rays can hit in a role: those of the meshes driven for it.
    pub(crate) fn for_rays(&self, role: Role) -> &TriangleBvh {
        let place = &self.for_rays[usize::from(role == Role::Perception)];
        place.get_or_init(|| {
            let configuration: Vec<f64> = self.vertices.iter().flatten().copied().collect();
            let driven = self.form.driven(role).iter().flat_map(|driven| {
                let positions = driven.positions(&configuration);
                let triangles = driven.mesh.triangles.iter();
                let corners = triangles.map(|t| t.map(|v| positions[v as usize]));
                corners.collect::<Vec<_>>()
            });
            TriangleBvh::of_triangles(driven)
        })
    }
}
