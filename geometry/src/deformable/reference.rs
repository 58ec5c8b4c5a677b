//! Reference meshes of deformable geometry.

use super::refine::ball;
use crate::accel::bvh::{Box32, Bvh};
use crate::error::{Error, Result};
use crate::hydro::distances_from_boundary;
use crate::mesh::{VolumeElement, VolumeMesh};
use crate::shape::{Mesh, Shape};
use nalgebra::{Isometry3, Vector3};
use std::fmt;
use std::sync::{Arc, OnceLock};

/// The mesh of a deformable geometry before it is deformed, in the world, and what follows from it.
#[derive(Debug)]
pub(crate) struct ReferenceMesh {
    pub(crate) mesh: Arc<VolumeMesh>,
    /// The same in the frame of the geometry.
    pub(crate) local: Arc<VolumeMesh>,
    /// Scale and pose of the shape, which surfaces embedded in it share.
    pub(super) scale3: Vector3<f64>,
    pub(super) x_wg: Isometry3<f64>,
    /// Triangles on the boundary, counter-clockwise as seen from outside, as vertices of the mesh.
    pub(crate) boundary: Vec<[u32; 3]>,
    /// Vertices on the boundary, increasing.
    pub(crate) boundary_vertices: Vec<u32>,
    /// Depths of the vertices below the boundary (m), for contact between deformable geometries.
    depths: OnceLock<Vec<f64>>,
    triangle_tree: OnceLock<ReferenceTree>,
    tetrahedron_tree: OnceLock<ReferenceTree>,
}

/// A tree that current boxes are fitted into.
struct ReferenceTree(Bvh);

impl fmt::Debug for ReferenceTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReferenceTree")
    }
}

impl ReferenceMesh {
    /// Makes the reference mesh of a shape at a pose in the world.
    ///
    /// # Errors
    /// Returns an error if the hint (m) is not positive or too small, if the shape is neither a
    /// sphere nor the `Mesh` of a VTK file, or if a tetrahedron of the file has no volume.
    pub(crate) fn new(shape: &Shape, x_wg: &Isometry3<f64>, hint: f64) -> Result<Self> {
        if hint.is_nan() || hint <= 0.0 {
            return Err(Error::invalid(format!(
                "the resolution hint of a deformable geometry must be positive, got {hint:?} m"
            )));
        }
        let mut mesh = match shape {
            Shape::Sphere(sphere) => ball(sphere.radius(), hint)?,
            Shape::Mesh(file) if file.extension() == ".vtk" => {
                positive(file).map_err(|e| e.at(file.source().description()))?
            }
            Shape::Mesh(file) => {
                return Err(Error::unsupported(format!(
                    "a deformable Mesh must be a VTK file with tetrahedra, got {}; make a .vtk file \
                     of its inside",
                    file.source().description()
                )));
            }
            other => {
                return Err(Error::unsupported(format!(
                    "a deformable shape must be a Sphere or a Mesh of a VTK file, got a {}",
                    other.type_name()
                )));
            }
        };
        let local = Arc::new(mesh.clone());
        mesh.transform_vertices(x_wg);
        let scale3 = match shape {
            Shape::Mesh(file) => file.scale3(),
            _ => Vector3::repeat(1.0),
        };
        let boundary = boundary(&mesh);
        if boundary.is_empty() {
            return Err(Error::invalid(
                "a deformable mesh must have a boundary, got every face in several tetrahedra; \
                 remove duplicate tetrahedra",
            ));
        }
        let mut boundary_vertices = boundary.as_flattened().to_vec();
        boundary_vertices.sort_unstable();
        boundary_vertices.dedup();
        Ok(Self {
            mesh: Arc::new(mesh),
            local,
            scale3,
            x_wg: *x_wg,
            boundary,
            boundary_vertices,
            depths: OnceLock::new(),
            triangle_tree: OnceLock::new(),
            tetrahedron_tree: OnceLock::new(),
        })
    }

    /// Returns the depths of the vertices below the boundary (m).
    ///
    /// # Errors
    /// Returns an error if no triangle of the boundary has an area.
    pub(super) fn depths(&self) -> Result<&[f64]> {
        if let Some(depths) = self.depths.get() {
            return Ok(depths);
        }
        let depths = distances_from_boundary(&self.mesh)?;
        Ok(self.depths.get_or_init(|| depths))
    }

    /// Returns the tree of the triangles on the boundary.
    pub(super) fn triangle_tree(&self) -> &Bvh {
        let triangles = &self.boundary;
        tree(&self.triangle_tree, self.mesh.vertices(), triangles)
    }

    /// Returns the tree of the tetrahedra.
    pub(super) fn tetrahedron_tree(&self) -> &Bvh {
        let tetrahedra = self.mesh.tetrahedra().iter().map(VolumeElement::vertices);
        let tetrahedra: Vec<[u32; 4]> = match self.tetrahedron_tree.get() {
            Some(_) => vec![],
            None => tetrahedra.collect(),
        };
        tree(&self.tetrahedron_tree, self.mesh.vertices(), &tetrahedra)
    }
}

fn tree<'a, const N: usize>(
    place: &'a OnceLock<ReferenceTree>,
    vertices: &[Vector3<f64>],
    elements: &[[u32; N]],
) -> &'a Bvh {
    let tree = || ReferenceTree(Bvh::new(&boxes(vertices, elements.iter().copied())));
    &place.get_or_init(tree).0
}

/// Returns the boxes of elements, given by their vertices.
pub(super) fn boxes<const N: usize>(
    vertices: &[Vector3<f64>],
    elements: impl Iterator<Item = [u32; N]>,
) -> Vec<Box32> {
    let of_element = |element: [u32; N]| box_of(element.map(|v| vertices[v as usize]).iter());
    elements.map(of_element).collect()
}

/// Returns a box around points, empty if there are none.
pub(super) fn box_of<'a>(points: impl Iterator<Item = &'a Vector3<f64>>) -> Box32 {
    let none = (
        Vector3::repeat(f64::INFINITY),
        Vector3::repeat(f64::NEG_INFINITY),
    );
    let (low, high) = points.fold(none, |(low, high), p| (low.inf(p), high.sup(p)));
    if low.x > high.x {
        return Box32::EMPTY;
    }
    Box32::around(&((low + high) / 2.0), &((high - low) / 2.0))
}

/// Returns the tetrahedra of a file in positive order. Where all are in the wrong order, the file
/// has another convention.
fn positive(file: &Mesh) -> Result<VolumeMesh> {
    let mesh = file.volume_mesh()?;
    let count = mesh.num_elements();
    let volume = |e: usize| mesh.calc_tetrahedron_volume(e);
    if (0..count).all(|e| volume(e) < 0.0) {
        let turned = mesh.tetrahedra().iter().map(|t| {
            let [a, b, c, d] = t.vertices();
            [b, a, c, d]
        });
        return VolumeMesh::new(turned, mesh.vertices().to_vec());
    }
    let wrong = (0..count).find(|e| volume(*e).is_nan() || volume(*e) <= 0.0);
    if let Some(e) = wrong {
        return Err(Error::invalid(format!(
            "tetrahedron {e} of a deformable mesh must have a positive volume, got {:?} m^3; exchange \
             two of its vertices, or remove it if it is flat",
            volume(e)
        )));
    }
    Ok((*mesh).clone())
}

/// Returns the faces that belong to one tetrahedron only, counter-clockwise as seen from outside,
/// in Drake's order: by their vertices, sorted.
fn boundary(mesh: &VolumeMesh) -> Vec<[u32; 3]> {
    let faces = mesh.tetrahedra().iter().flat_map(|t| {
        let [a, b, c, d] = t.vertices();
        [[b, c, d], [d, c, a], [c, b, a], [b, d, a]]
    });
    let sorted = |mut face: [u32; 3]| {
        face.sort_unstable();
        face
    };
    let mut all: Vec<_> = faces.map(|face| (sorted(face), face)).collect();
    all.sort_unstable();
    let equal = all.chunk_by(|(a, _), (b, _)| a == b);
    let single = equal.filter(|faces| faces.len() == 1);
    single.map(|faces| faces[0].1).collect()
}
