//! Meshes by shape and properties.

use super::adaptive_hint::hint_for_error;
use super::mesh::{
    Tessellation, check_closed_and_oriented, hull, inflate, offset_hull, oriented,
    pressure_of_volume, tessellate, warn_of_tetrahedra_on_boundary, without_inverted,
};
use crate::error::Result;
use crate::mesh::{
    PolygonSurfaceMesh, TriangleSurfaceMesh, VolumeMeshFieldLinear, convert_volume_to_surface_mesh,
};
use crate::properties::checks::check_not_negative_finite;
use crate::properties::{GeometryProperties, HydroelasticTessellation, HydroelasticType};
use crate::shape::{BoxShape, Capsule, Cylinder, Ellipsoid, Mesh, Shape, Sphere};
use std::sync::Arc;
use tarragon_framework::warnings::warn;

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
/// `("hydroelastic", "compliance_type")`, `("hydroelastic", "resolution_hint")` or
/// `("hydroelastic", "relative_force_error")`, `("hydroelastic", "margin")` and `("hydroelastic",
/// "tessellation")`. Returns `None` for geometry without a compliance type, for shapes without a
/// mesh, such as half spaces, and for compliant shapes that are too small for a gradient of
/// pressure.
///
/// Spheres, ellipsoids, cylinders and capsules are inscribed polyhedra whose edges are about as
/// long as the hint; a hint that is missing counts as infinite. With
/// [`HydroelasticTessellation::EqualVolume`] they are scaled to the volume of the shape. Boxes have
/// four triangles per face. Meshes are their files if they are rigid or volumes, and otherwise
/// their convex hulls. A rigid mesh file that is open or inside out is a
/// [warning](tarragon_framework::warnings), as is an inverted tetrahedron of a compliant one.
///
/// A tetrahedron of a compliant mesh file whose vertices are all on the boundary has no pressure
/// gradient. It belongs to the result and is shown, but contact surfaces leave it out, with a
/// warning. [`refine_volume_mesh`](crate::mesh::refine_volume_mesh) divides such tetrahedra.
///
/// With a margin, compliant shapes are larger, and their pressure is negative outside their true
/// surface:
/// * Spheres, ellipsoids, cylinders, capsules and boxes are larger by the margin on each side. The
///   pressure is 0 at their true surface.
/// * The faces of a [`Convex`](crate::Convex) move outwards by the margin. As in Drake, the
///   pressure rises from `-margin / depth` to 1, where `depth` is the distance of the new centroid
///   from the new surface; it is 0 slightly outside the true surface.
/// * A vertex on the surface of a [`Mesh`], or of its convex hull, moves by the shortest
///   displacement that leads out of all its faces by the margin. The pressure there is
///   `-margin / depth`, where `depth` is the largest distance of a vertex from the true surface.
///   Tetrahedra that the displacements turn inside out are left out.
///
/// ```
/// use tarragon_geometry::{
///     HydroelasticMesh, ProximityProperties, Sphere, make_hydroelastic_mesh,
/// };
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
/// Returns an error if a property has another type, if the margin is negative or not finite, if the
/// hint would give more than a million elements, if the relative force error is out of reach, if a
/// mesh file cannot be read, if a compliant
/// volume mesh has no tetrahedron with a vertex inside or with a positive volume, or if the hull of
/// another compliant file has no volume.
pub fn make_hydroelastic_mesh(
    shape: &Shape,
    properties: &GeometryProperties,
) -> Result<Option<HydroelasticMesh>> {
    let request = MeshRequest::new(shape, properties)?;
    request.make(shape)
}

/// The properties that a hydroelastic mesh depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct MeshRequest {
    kind: HydroelasticType,
    hint: f64,
    /// Relative force error, which takes the place of the hint.
    error: Option<f64>,
    margin: f64,
    scaling: HydroelasticTessellation,
}

impl MeshRequest {
    /// Reads the properties.
    ///
    /// # Errors
    /// Returns an error if a property has another type, or if the margin is negative or not finite.
    pub(super) fn new(shape: &Shape, properties: &GeometryProperties) -> Result<Self> {
        let group = "hydroelastic";
        let kind = properties.get_or(group, "compliance_type", HydroelasticType::Undefined)?;
        let margin = properties.get_or(group, "margin", 0.0)?;
        if kind == HydroelasticType::Compliant {
            check_not_negative_finite("property ('hydroelastic', 'margin')", margin)?;
        }
        let scaling =
            properties.get_or(group, "tessellation", HydroelasticTessellation::Inscribed)?;
        let error = properties.try_get::<f64>(group, "relative_force_error")?;
        let hint = match shape {
            Shape::Sphere(_) | Shape::Ellipsoid(_) | Shape::Cylinder(_) | Shape::Capsule(_) => {
                properties.get_or(group, "resolution_hint", f64::INFINITY)?
            }
            _ => f64::INFINITY,
        };
        Ok(Self {
            kind,
            hint,
            error: error.copied(),
            margin,
            scaling,
        })
    }

    /// Makes the mesh of a shape; see [`make_hydroelastic_mesh`].
    ///
    /// # Errors
    /// Returns an error in the cases of that function.
    pub(super) fn make(self, shape: &Shape) -> Result<Option<HydroelasticMesh>> {
        let scaling = self.scaling;
        let chosen = match (self.kind, self.error) {
            (HydroelasticType::Undefined, _) | (_, None) => None,
            (_, Some(error)) => hint_for_error(shape, scaling, error)?,
        };
        let hint = chosen.unwrap_or(self.hint);
        Ok(match self.kind {
            HydroelasticType::Undefined => None,
            HydroelasticType::Rigid => rigid(shape, hint, scaling)?.map(HydroelasticMesh::Surface),
            HydroelasticType::Compliant => {
                compliant(shape, hint, self.margin, scaling)?.map(HydroelasticMesh::Volume)
            }
        })
    }

    /// Returns a key that is equal for equal meshes, or `None` for shapes from files, which may
    /// change.
    pub(super) fn key(&self, shape: &Shape) -> Option<MeshKey> {
        let (name, lengths) = match shape {
            Shape::Sphere(s) => ("sphere", [s.radius(), 0.0, 0.0]),
            Shape::Ellipsoid(e) => ("ellipsoid", e.semi_axes().into()),
            Shape::Cylinder(c) => ("cylinder", [c.radius(), c.length(), 0.0]),
            Shape::Capsule(c) => ("capsule", [c.radius(), c.length(), 0.0]),
            Shape::Box(b) => ("box", b.half_size().into()),
            _ => return None,
        };
        let [a, b, c] = lengths;
        Some(MeshKey {
            shape: name,
            is_rigid: self.kind == HydroelasticType::Rigid,
            has_equal_volume: self.scaling == HydroelasticTessellation::EqualVolume,
            numbers: [a, b, c, self.hint, self.margin, self.error.unwrap_or(0.0)].map(f64::to_bits),
        })
    }
}

/// Identity of a mesh that is not from a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MeshKey {
    shape: &'static str,
    is_rigid: bool,
    has_equal_volume: bool,
    /// Bits of lengths and properties.
    numbers: [u64; 6],
}

/// Returns a shape that is not from a file, larger by a margin (m) on each side.
fn grown(shape: &Shape, margin: f64) -> Result<Shape> {
    let both = 2.0 * margin;
    Ok(match shape {
        _ if margin == 0.0 => shape.clone(),
        Shape::Sphere(s) => Sphere::new(s.radius() + margin)?.into(),
        Shape::Ellipsoid(e) => {
            let axes = e.semi_axes().add_scalar(margin);
            Ellipsoid::new(axes.x, axes.y, axes.z)?.into()
        }
        Shape::Box(b) => {
            let size = b.size().add_scalar(both);
            BoxShape::new(size.x, size.y, size.z)?.into()
        }
        Shape::Cylinder(c) => Cylinder::new(c.radius() + margin, c.length() + both)?.into(),
        Shape::Capsule(c) => Capsule::new(c.radius() + margin, c.length())?.into(),
        _ => shape.clone(),
    })
}

fn rigid(
    shape: &Shape,
    hint: f64,
    scaling: HydroelasticTessellation,
) -> Result<Option<Arc<TriangleSurfaceMesh>>> {
    Ok(match shape {
        Shape::Convex(c) => Some(Arc::new(c.convex_hull()?.to_triangles())),
        Shape::HeightField(f) => Some(Arc::new(f.surface()?)),
        Shape::Mesh(m) => {
            let surface = m.surface()?;
            if let Err(error) = check_closed_and_oriented(&surface) {
                let place = m.source().description();
                warn(format!(
                    "{place}: {error}, or contact will miss parts of the mesh"
                ));
            }
            Some(surface)
        }
        _ => match tessellate(shape, hint, scaling)? {
            Some((mesh, _)) => Some(Arc::new(convert_volume_to_surface_mesh(&mesh.volume)?)),
            None => None,
        },
    })
}

fn compliant(
    shape: &Shape,
    hint: f64,
    margin: f64,
    scaling: HydroelasticTessellation,
) -> Result<Option<Arc<VolumeMeshFieldLinear>>> {
    let mesh = match shape {
        Shape::Convex(c) => {
            let mesh = compliant_convex(&*c.convex_hull()?, margin);
            mesh.map_err(|e| e.at(c.source().description()))?
        }
        Shape::Mesh(m) => compliant_mesh(m, margin).map_err(|e| e.at(m.source().description()))?,
        _ => {
            let grown = grown(shape, margin)?;
            let Some((mesh, depth)) = tessellate(&grown, hint, scaling)? else {
                return Ok(None);
            };
            let volume = &mesh.volume;
            let volumes = (0..volume.num_elements()).map(|e| volume.calc_tetrahedron_volume(e));
            if volumes.map(|v| 6.0 * v).any(|v| v <= LEAST_PARALLELEPIPED) {
                return Ok(None);
            }
            match shape {
                Shape::Ellipsoid(e) if margin > 0.0 => ellipsoid_with_margin(mesh, e, margin),
                _ => with_margin(mesh, depth, margin),
            }
        }
    };
    let field = VolumeMeshFieldLinear::new(mesh.pressures, mesh.volume)?;
    Ok(Some(Arc::new(field)))
}

fn compliant_convex(polygons: &PolygonSurfaceMesh, margin: f64) -> Result<Tessellation> {
    let (mesh, _) = hull(polygons)?;
    if margin == 0.0 {
        return Ok(mesh);
    }
    let (mesh, depth) = hull(&offset_hull(polygons, margin)?)?;
    // Drake adds the margin to the depth of the shape that already has it.
    Ok(with_margin(mesh, depth + margin, margin))
}

fn compliant_mesh(shape: &Mesh, margin: f64) -> Result<Tessellation> {
    let mesh = if shape.extension() == ".vtk" {
        let place = shape.source().description();
        let volume = oriented(shape.volume_mesh()?, &place)?;
        let pressures = pressure_of_volume(&volume, margin)?;
        warn_of_tetrahedra_on_boundary(&volume, &pressures, &place)?;
        let volume = if margin == 0.0 {
            without_inverted(volume)?
        } else {
            volume
        };
        Tessellation { volume, pressures }
    } else {
        let (mesh, depth) = hull(&*shape.convex_hull()?)?;
        with_margin(mesh, depth + margin, margin)
    };
    if margin == 0.0 {
        return Ok(mesh);
    }
    inflate(mesh, margin)
}

/// Lowers the pressure of a mesh whose vertices are on its surface or at a depth (m), so that it is
/// 0 at a distance of the margin (m) from the surface.
fn with_margin(mut mesh: Tessellation, depth: f64, margin: f64) -> Tessellation {
    for pressure in &mut mesh.pressures {
        *pressure = (*pressure * depth - margin) / (depth - margin);
    }
    mesh
}

/// Does the same for an ellipsoid. As in Drake, its pressure falls along each direction from the
/// centre as if to 0 at the true surface, so that it varies over the larger one.
fn ellipsoid_with_margin(mut mesh: Tessellation, shape: &Ellipsoid, margin: f64) -> Tessellation {
    let axes = shape.semi_axes();
    let grown = axes.add_scalar(margin);
    for (pressure, p) in mesh.pressures.iter_mut().zip(mesh.volume.vertices()) {
        if *pressure == 0.0 {
            *pressure = 1.0 - p.component_div(&axes).norm() / p.component_div(&grown).norm();
        }
    }
    mesh
}
