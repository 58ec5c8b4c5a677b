//! Volume, centre of mass and inertia of shapes of uniform density.

use super::any_shape::Shape;
use crate::error::{Error, Result};
use crate::mesh::{TriangleSurfaceMesh, VolumeMesh};
use nalgebra::{Matrix3, Vector3};
use std::f64::consts::PI;

/// Mass, centre of mass and rotational inertia of a body of uniform density, in the frame G of its
/// shape.
///
/// ```
/// use tarragon_geometry::{Sphere, calc_mass_properties};
/// let ball = calc_mass_properties(&Sphere::new(0.1)?.into(), 1000.0)?;
/// assert!((ball.mass() - 4.18879).abs() < 1e-5);
/// // 2/5 m r^2
/// assert!((ball.inertia_about_origin()[(0, 0)] - 0.4 * ball.mass() * 0.01).abs() < 1e-15);
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassProperties {
    volume: f64,
    density: f64,
    center: Vector3<f64>,
    /// Integral of `p p^T` over the volume, about the origin.
    second_moment: Matrix3<f64>,
}

/// Threshold relative to the cube of the size; a smaller volume is mere rounding.
const LEAST_VOLUME: f64 = 1e-14;

impl MassProperties {
    /// Returns the density (kg/m^3).
    pub fn density(&self) -> f64 {
        self.density
    }
    /// Returns the volume (m^3).
    pub fn volume(&self) -> f64 {
        self.volume
    }
    /// Mass (kg).
    pub fn mass(&self) -> f64 {
        self.volume * self.density
    }
    /// Returns the centre of mass `p_GoGcm_G` (m).
    pub fn center_of_mass(&self) -> Vector3<f64> {
        self.center
    }
    /// Returns the rotational inertia about the origin of G, `I_GGo_G` (kg m^2).
    pub fn inertia_about_origin(&self) -> Matrix3<f64> {
        inertia(&self.second_moment) * self.density
    }
    /// Returns the rotational inertia about the centre of mass, `I_GGcm_G` (kg m^2).
    pub fn inertia_about_center_of_mass(&self) -> Matrix3<f64> {
        let c = self.center;
        inertia(&(self.second_moment - c * c.transpose() * self.volume)) * self.density
    }

    /// Creates the properties of a shape of unit density that is symmetric about the planes through
    /// `center` parallel to the coordinate planes of G. `squares` are the mean squared coordinates
    /// relative to `center`.
    fn symmetric(volume: f64, center: Vector3<f64>, squares: Vector3<f64>) -> Self {
        let second = Matrix3::from_diagonal(&squares) + center * center.transpose();
        Self {
            volume,
            density: 1.0,
            center,
            second_moment: second * volume,
        }
    }

    /// Sums over tetrahedra of signed volume, each spanned by `from` and a triangle.
    fn of_tetrahedra(
        from: Vector3<f64>,
        triangles: impl Iterator<Item = [Vector3<f64>; 3]>,
    ) -> Self {
        let (mut volume, mut first, mut second) = (0.0, Vector3::zeros(), Matrix3::zeros());
        for triangle in triangles {
            let [a, b, c] = triangle.map(|p| p - from);
            let v = a.dot(&b.cross(&c)) / 6.0;
            let sum = a + b + c;
            volume += v;
            first += sum * (v / 4.0);
            let squares = a * a.transpose() + b * b.transpose() + c * c.transpose();
            second += (squares + sum * sum.transpose()) * (v / 20.0);
        }
        let shift = from * first.transpose() + first * from.transpose();
        Self {
            volume,
            density: 1.0,
            center: from + first / volume,
            second_moment: second + shift + from * from.transpose() * volume,
        }
    }

    /// Returns the mass properties of the volume that a closed surface encloses.
    ///
    /// ```
    /// use nalgebra::Vector3;
    /// use tarragon_geometry::{MassProperties, mesh::TriangleSurfaceMesh};
    /// let corners = vec![Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::z()];
    /// let faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
    /// let mesh = TriangleSurfaceMesh::new(faces, corners)?;
    /// let mut open = mesh.clone();
    /// let solid = MassProperties::of_surface(&mesh, 6.0)?;
    /// assert!((solid.mass() - 1.0).abs() < 1e-15);
    /// assert!((solid.center_of_mass() - Vector3::repeat(0.25)).norm() < 1e-15);
    /// open.reverse_face_winding();
    /// assert!(MassProperties::of_surface(&open, 6.0).is_err()); // inside out
    /// # Ok::<(), tarragon_geometry::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the density (kg/m^3) is not positive and finite, or if the enclosed
    /// volume is not positive because the surface is flat or its faces point inwards. Whether the
    /// surface is closed is not checked.
    pub fn of_surface(mesh: &TriangleSurfaceMesh, density: f64) -> Result<Self> {
        let (_, size) = mesh.calc_bounding_box();
        let corners = |t: &[u32; 3]| t.map(|v| *mesh.vertex(v as usize));
        let triangles = mesh.triangles().iter().map(|t| corners(&t.vertices()));
        Self::of_tetrahedra(mesh.reference_point(), triangles).solid(&size, density)
    }

    /// Returns the mass properties of a tetrahedral mesh.
    ///
    /// # Errors
    /// Returns an error if the density (kg/m^3) is not positive and finite, or if the sum of the
    /// volumes is not positive.
    pub fn of_volume(mesh: &VolumeMesh, density: f64) -> Result<Self> {
        let (center, size) = mesh.calc_bounding_box();
        let faces = mesh.tetrahedra().iter().flat_map(|t| {
            let [a, b, c, d] = t.vertices();
            [[b, c, d], [a, d, c], [a, b, d], [a, c, b]]
        });
        let triangles = faces.map(|f| f.map(|v| *mesh.vertex(v as usize)));
        Self::of_tetrahedra(center, triangles).solid(&size, density)
    }

    /// Checks the volume of a mesh whose bounding box has the edge lengths `size`, and sets the
    /// density.
    fn solid(self, size: &Vector3<f64>, density: f64) -> Result<Self> {
        let least = LEAST_VOLUME * size.norm().powi(3);
        if self.volume > least && self.volume.is_finite() {
            return self.of_density(density);
        }
        Err(Error::invalid(format!(
            "the volume must be above {least:e} m^3, got {:e} m^3; close the mesh and list the \
             corners of its faces in counter-clockwise order as seen from outside",
            self.volume
        )))
    }

    fn of_density(self, density: f64) -> Result<Self> {
        if density > 0.0 && density.is_finite() {
            return Ok(Self { density, ..self });
        }
        Err(Error::invalid(format!(
            "the density must be positive and finite, got {density:?} kg/m^3"
        )))
    }
}

/// Converts second moments to rotational inertia.
fn inertia(second_moment: &Matrix3<f64>) -> Matrix3<f64> {
    Matrix3::from_diagonal_element(second_moment.trace()) - second_moment
}

/// Returns the mass properties of a shape of uniform `density` (kg/m^3) (Drake's
/// `CalcSpatialInertia`).
///
/// A mesh is solid: it fills what its surface encloses, or the tetrahedra of a VTK file. Every
/// supported mesh format works, whereas Drake accepts OBJ and VTK only.
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_geometry::{BoxShape, HalfSpace, calc_mass_properties};
/// let brick = calc_mass_properties(&BoxShape::new(1.0, 2.0, 3.0)?.into(), 2.0)?;
/// assert_eq!(brick.mass(), 12.0);
/// assert_eq!(brick.inertia_about_origin().diagonal(), Vector3::new(13.0, 10.0, 5.0));
/// assert!(calc_mass_properties(&HalfSpace.into(), 2.0).is_err());
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
///
/// # Errors
/// Returns an error if the density is not positive and finite, the shape is a half space, or a mesh
/// cannot be read or has no positive volume; the message names the mesh.
pub fn calc_mass_properties(shape: &Shape, density: f64) -> Result<MassProperties> {
    let place = || match shape {
        Shape::Mesh(s) => s.source().description(),
        Shape::Convex(s) => s.source().description(),
        other => other.type_name().into(),
    };
    let named = |e: Error| e.at(place());
    let solid = match shape {
        Shape::Mesh(s) if s.extension() == ".vtk" => {
            return MassProperties::of_volume(&*s.volume_mesh()?, density).map_err(named);
        }
        Shape::Mesh(s) => {
            return MassProperties::of_surface(&*s.surface()?, density).map_err(named);
        }
        Shape::HeightField(s) => {
            return MassProperties::of_surface(&s.surface()?, density).map_err(named);
        }
        Shape::Convex(s) => {
            let hull = s.convex_hull()?.to_triangles();
            return MassProperties::of_surface(&hull, density).map_err(named);
        }
        Shape::HalfSpace(_) => {
            return Err(Error::invalid(
                "HalfSpace: the shape must be bounded to have a mass; use any other shape",
            ));
        }
        Shape::Box(s) => {
            let squares = s.size().map(|x| x * x / 12.0);
            MassProperties::symmetric(s.size().product(), Vector3::zeros(), squares)
        }
        Shape::Sphere(s) => ellipsoid(Vector3::repeat(s.radius())),
        Shape::Ellipsoid(s) => ellipsoid(s.semi_axes()),
        Shape::Cylinder(s) => cylinder(s.radius(), s.length()),
        Shape::Capsule(s) => {
            let (r, l) = (s.radius(), s.length());
            let (middle, caps) = (cylinder(r, l), ellipsoid(Vector3::repeat(r)));
            // The caps are hemispheres, whose centroids are 3/8 r from their bases.
            let apart = caps.volume * (l * l / 4.0 + l * 3.0 / 8.0 * r);
            let along = Matrix3::from_diagonal(&Vector3::new(0.0, 0.0, apart));
            MassProperties {
                volume: middle.volume + caps.volume,
                second_moment: middle.second_moment + caps.second_moment + along,
                ..middle
            }
        }
        Shape::MeshcatCone(s) => {
            let (a, b, h) = (s.a(), s.b(), s.height());
            // About the centroid at 3/4 of the height: 3/5 h^2 - (3/4 h)^2.
            let squares = Vector3::new(3.0 / 20.0 * a * a, 3.0 / 20.0 * b * b, 3.0 / 80.0 * h * h);
            let center = Vector3::new(0.0, 0.0, 0.75 * h);
            MassProperties::symmetric(PI * a * b * h / 3.0, center, squares)
        }
    };
    solid.of_density(density).map_err(named)
}

fn ellipsoid(semi_axes: Vector3<f64>) -> MassProperties {
    let volume = 4.0 / 3.0 * PI * semi_axes.product();
    MassProperties::symmetric(volume, Vector3::zeros(), semi_axes.map(|x| x * x / 5.0))
}

fn cylinder(radius: f64, length: f64) -> MassProperties {
    let (r2, l2) = (radius * radius, length * length);
    let squares = Vector3::new(r2 / 4.0, r2 / 4.0, l2 / 12.0);
    MassProperties::symmetric(PI * r2 * length, Vector3::zeros(), squares)
}

/// Returns the volume of a shape (m^3); infinite for a half space (Drake's `CalcVolume`).
///
/// The volume of a mesh is what its surface encloses. It is meaningful for closed surfaces only,
/// and negative if the faces point inwards. Every supported mesh format works.
///
/// ```
/// use tarragon_geometry::{BoxShape, HalfSpace, calc_volume};
/// assert_eq!(calc_volume(&BoxShape::new(1.0, 2.0, 3.0)?.into())?, 6.0);
/// assert_eq!(calc_volume(&HalfSpace.into())?, f64::INFINITY);
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
///
/// # Errors
/// Returns an error if a mesh cannot be read.
pub fn calc_volume(shape: &Shape) -> Result<f64> {
    match shape {
        Shape::HalfSpace(_) => Ok(f64::INFINITY),
        Shape::Mesh(s) if s.extension() == ".vtk" => Ok(s.volume_mesh()?.calc_volume()),
        Shape::Mesh(s) => Ok(s.surface()?.calc_enclosed_volume()),
        Shape::Convex(s) => Ok(s.convex_hull()?.to_triangles().calc_enclosed_volume()),
        bounded => Ok(calc_mass_properties(bounded, 1.0)?.volume()),
    }
}

#[cfg(test)]
mod tests;
