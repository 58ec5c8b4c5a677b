//! Surfaces that a deformable mesh drives: its boundary, or surfaces embedded in it.

use super::embedding::{EmbeddedPoints, vertex};
use super::reference::ReferenceMesh;
use crate::error::Result;
use crate::mesh::{self, MaterialGroup, MeshSource, RenderMesh};
use crate::properties::PerceptionProperties;
use nalgebra::{Point3, Vector3};
use std::sync::Arc;
use tarragon_framework::Scalar;

/// A triangle mesh whose vertices follow the vertices of a deformable mesh.
#[derive(Clone, Debug)]
pub(crate) struct DrivenMesh {
    /// In the reference configuration, in the world.
    pub(crate) mesh: Arc<RenderMesh>,
    drive: Drive,
}

/// How the vertices follow.
#[derive(Clone, Debug)]
enum Drive {
    /// They are vertices of the deformable mesh.
    Vertices(Arc<[u32]>),
    /// They are points in its tetrahedra.
    Points(Arc<EmbeddedPoints>),
}

impl DrivenMesh {
    /// Returns the boundary of a mesh.
    pub(super) fn boundary(reference: &ReferenceMesh) -> Self {
        let vertices = &reference.boundary_vertices;
        let number = |v: u32| vertices.partition_point(|other| *other < v) as u32;
        let triangles = reference.boundary.iter();
        let triangles: Vec<[u32; 3]> = triangles.map(|t| t.map(number)).collect();
        let positions = vertices.iter();
        let positions = positions.map(|v| Point3::from(*reference.mesh.vertex(*v as usize)));
        let mut surface = RenderMesh {
            positions: positions.collect(),
            normals: vec![Vector3::z(); vertices.len()],
            triangle_normals: triangles.clone(),
            groups: vec![MaterialGroup {
                material: None,
                triangles: 0..triangles.len(),
            }],
            triangles,
            ..RenderMesh::default()
        };
        let positions: Vec<Vector3<f64>> = surface.positions.iter().map(|p| p.coords).collect();
        surface.normals = normals(&surface, &positions);
        Self {
            mesh: Arc::new(surface),
            drive: Drive::Vertices(vertices.as_slice().into()),
        }
    }

    /// Returns the surface of the file that the property `("deformable", "embedded_mesh")` names;
    /// `None` without that property.
    ///
    /// # Errors
    /// Returns an error if the property is not a `String`, if the file cannot be read, or if a
    /// vertex is outside of the mesh.
    pub(super) fn embedded(
        reference: &ReferenceMesh,
        properties: &PerceptionProperties,
    ) -> Result<Option<Self>> {
        let file = properties.try_get::<String>("deformable", "embedded_mesh")?;
        let Some(file) = file else {
            return Ok(None);
        };
        let surface = mesh::read_source(&MeshSource::from(file.as_str()))?;
        let surface = surface.scaled(&reference.scale3).posed(&reference.x_wg);
        let points: Vec<Vector3<f64>> = surface.positions.iter().map(|p| p.coords).collect();
        let tree = reference.tetrahedron_tree();
        let embedded = EmbeddedPoints::in_tree(&reference.mesh, tree, &points);
        let embedded = embedded.map_err(|e| e.at(file))?;
        Ok(Some(Self {
            mesh: Arc::new(surface),
            drive: Drive::Points(Arc::new(embedded)),
        }))
    }

    /// Returns the positions of the vertices in a configuration: the coordinates of all vertices of
    /// the deformable mesh (m).
    pub(crate) fn positions<T: Scalar>(&self, configuration: &[T]) -> Vec<Vector3<T>> {
        match &self.drive {
            Drive::Vertices(vertices) => {
                let vertices = vertices.iter();
                vertices.map(|v| vertex(configuration, *v)).collect()
            }
            Drive::Points(points) => points.moved(configuration),
        }
    }
}

/// Returns the normals of a mesh whose vertices have moved, one for each normal of the mesh: the
/// mean of the triangles that share it, weighted by area. Edges stay sharp or smooth.
pub(crate) fn normals(mesh: &RenderMesh, positions: &[Vector3<f64>]) -> Vec<Vector3<f64>> {
    let mut sums = vec![Vector3::zeros(); mesh.normals.len()];
    for (corners, of_corners) in mesh.triangles.iter().zip(&mesh.triangle_normals) {
        let [a, b, c] = corners.map(|v| positions[v as usize]);
        let area = (b - a).cross(&(c - a));
        for n in of_corners {
            sums[*n as usize] += area;
        }
    }
    let found = sums.into_iter().zip(&mesh.normals);
    let unit = |(sum, before): (Vector3<f64>, &Vector3<f64>)| {
        let unit = sum.try_normalize(0.0);
        // Without an area, no pixel shows it.
        unit.filter(|n| n.iter().all(|x| x.is_finite()))
            .unwrap_or(*before)
    };
    found.map(unit).collect()
}
