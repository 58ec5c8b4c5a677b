//! Meshes by shape and properties.

use super::mesh::{Tessellation, capsule, cuboid, cylinder, ellipsoid, hull, pressure_of_volume};
use crate::error::{Error, Result};
use crate::mesh::{
    PolygonSurfaceMesh, TriangleSurfaceMesh, VolumeMeshFieldLinear, convert_volume_to_surface_mesh,
};
use crate::properties::{GeometryProperties, HydroelasticType};
use crate::shape::Shape;
use nalgebra::Vector3;
use std::sync::Arc;

/// Volume (m^3) that the parallelepiped of the edges of every tetrahedron must exceed, as in Drake.
const LEAST_PARALLELEPIPED: f64 = f64::EPSILON;

/// Representation of a shape in hydroelastic contact, in the frame of the geometry.
#[derive(Clone, Debug)]
pub enum HydroelasticMesh {
    /// A rigid shape.
    Surface(Arc<TriangleSurfaceMesh>),
    /// A compliant shape, with its pressure per modulus: a field that is 0 at the surface and 1
    /// where the shape is deepest.
    Volume(Arc<VolumeMeshFieldLinear>),
}

impl HydroelasticMesh {
    /// Returns the surface of the representation, such as to show it.
    ///
    /// # Errors
    /// Returns an error if a volume mesh from a file has no boundary.
    pub fn surface(&self) -> Result<Arc<TriangleSurfaceMesh>> {
        match self {
            Self::Surface(surface) => Ok(surface.clone()),
            Self::Volume(field) => Ok(Arc::new(convert_volume_to_surface_mesh(field.mesh())?)),
        }
    }
}

/// Returns the hydroelastic representation of a shape with some proximity properties, which are
/// `("hydroelastic", "compliance_type")` and `("hydroelastic", "resolution_hint")`. Returns `None`
/// for geometry without a compliance type, for shapes without a mesh, such as half spaces, and for
/// compliant shapes that are too small for a gradient of pressure.
///
/// Spheres, ellipsoids, cylinders and capsules are inscribed polyhedra whose edges are about as
/// long as the hint; a hint that is missing counts as infinite. Boxes have four triangles per face.
/// Meshes are their files if they are rigid or volumes, and otherwise their convex hulls. With a
/// margin, `("hydroelastic", "margin")`, compliant shapes are larger by that much, and their
/// pressure is 0 at their true surface and negative outside.
///
/// ```
/// use tarragon_geometry::hydro::{HydroelasticMesh, make_hydroelastic_mesh};
/// use tarragon_geometry::{ProximityProperties, Sphere};
/// let soft = ProximityProperties::new().with_compliant_hydroelastic(1e6)?;
/// let soft = soft.with_resolution_hint(0.05)?;
/// let ball = make_hydroelastic_mesh(&Sphere::new(0.1)?.into(), &soft)?;
/// let Some(HydroelasticMesh::Volume(pressure)) = ball else {
///     panic!("{ball:?}");
/// };
/// assert_eq!(pressure.mesh().num_elements(), 128);
/// assert_eq!(pressure.values().iter().sum::<f64>(), 1.0);
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
///
/// # Errors
/// Returns an error if a property has another type, if the hint would give more than a million
/// elements, if a mesh file cannot be read, if a compliant volume mesh has no vertex inside, or if
/// a compliant [`Mesh`](crate::Mesh) or [`Convex`](crate::Convex) has a margin, which is not
/// supported.
pub fn make_hydroelastic_mesh(
    shape: &Shape,
    properties: &GeometryProperties,
) -> Result<Option<HydroelasticMesh>> {
    let group = "hydroelastic";
    let kind = properties.get_or(group, "compliance_type", HydroelasticType::Undefined)?;
    let hint = properties.get_or(group, "resolution_hint", f64::INFINITY)?;
    let margin = properties.get_or(group, "margin", 0.0)?;
    let mesh = match kind {
        HydroelasticType::Undefined => None,
        HydroelasticType::Rigid => rigid(shape, hint)?.map(HydroelasticMesh::Surface),
        HydroelasticType::Compliant => {
            compliant(shape, hint, margin)?.map(HydroelasticMesh::Volume)
        }
    };
    Ok(mesh)
}

/// Returns the tessellation of a shape that is not from a file, larger by a margin (m), and its
/// greatest distance from the surface (m).
fn tessellate(shape: &Shape, hint: f64, margin: f64) -> Result<Option<(Tessellation, f64)>> {
    let (mesh, depth) = match shape {
        Shape::Sphere(s) => {
            let radius = s.radius() + margin;
            (ellipsoid(&Vector3::repeat(radius), hint), radius)
        }
        Shape::Ellipsoid(e) => {
            let semi_axes = e.semi_axes().add_scalar(margin);
            (ellipsoid(&semi_axes, hint), semi_axes.min())
        }
        Shape::Box(b) => {
            let half = b.half_size().add_scalar(margin);
            (cuboid(&half), half.min())
        }
        Shape::Cylinder(c) => {
            let (radius, length) = (c.radius() + margin, c.length() + 2.0 * margin);
            let depth = radius.min(0.5 * length);
            (cylinder(radius, length, hint)?, depth)
        }
        Shape::Capsule(c) => {
            let radius = c.radius() + margin;
            (capsule(radius, c.length(), hint), radius)
        }
        _ => return Ok(None),
    };
    Ok(Some((mesh.finish()?, depth)))
}

fn rigid(shape: &Shape, hint: f64) -> Result<Option<Arc<TriangleSurfaceMesh>>> {
    Ok(match shape {
        Shape::Convex(c) => Some(Arc::new(c.convex_hull()?.to_triangles())),
        Shape::Mesh(m) => Some(m.surface()?),
        _ => match tessellate(shape, hint, 0.0)? {
            Some((mesh, _)) => Some(Arc::new(convert_volume_to_surface_mesh(&mesh.volume)?)),
            None => None,
        },
    })
}

fn compliant(shape: &Shape, hint: f64, margin: f64) -> Result<Option<Arc<VolumeMeshFieldLinear>>> {
    let field = match shape {
        Shape::Convex(_) | Shape::Mesh(_) if margin > 0.0 => {
            return Err(Error::unsupported(format!(
                "the margin of a compliant {} must be 0, got {margin:?} m; margins of meshes are not \
                 supported yet",
                shape.type_name()
            )));
        }
        Shape::Convex(c) => of_hull(&*c.convex_hull()?)?,
        Shape::Mesh(m) if m.extension() == ".vtk" => {
            let volume = m.volume_mesh()?;
            let pressures = pressure_of_volume(&volume);
            let pressures = pressures.map_err(|e| e.at(m.source().description()))?;
            VolumeMeshFieldLinear::new(pressures, volume)?
        }
        Shape::Mesh(m) => of_hull(&*m.convex_hull()?)?,
        _ => {
            let Some((mesh, depth)) = tessellate(shape, hint, margin)? else {
                return Ok(None);
            };
            let Tessellation { volume, pressures } = mesh;
            let pressure = |p: f64| (p * depth - margin) / (depth - margin);
            let pressures = pressures.into_iter().map(pressure).collect();
            let field = VolumeMeshFieldLinear::new(pressures, Arc::new(volume))?;
            let mut volumes =
                (0..field.mesh().num_elements()).map(|e| field.mesh().calc_tetrahedron_volume(e));
            if volumes.any(|volume| 6.0 * volume <= LEAST_PARALLELEPIPED) {
                return Ok(None);
            }
            field
        }
    };
    Ok(Some(Arc::new(field)))
}

fn of_hull(polygons: &PolygonSurfaceMesh) -> Result<VolumeMeshFieldLinear> {
    let Tessellation { volume, pressures } = hull(polygons).finish()?;
    VolumeMeshFieldLinear::new(pressures, Arc::new(volume))
}
