//! Mass properties of meshes as MuJoCo defines them (attribute `inertia` of `<mesh>`).

use super::tree::ElementRef;
use nalgebra::{Isometry3, Matrix3, Vector3};
use tarragon_documents::xml::Parsed;
use tarragon_geometry::mesh::TriangleSurfaceMesh;
use tarragon_geometry::{Convex, MassProperties, Mesh, Shape, calc_mass_properties};
use tarragon_multibody::check_rotational;

/// Distribution of the mass of a mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MeshInertia {
    /// The solid bounded by the faces, as Drake integrates it.
    Solid,
    /// Tetrahedra between the faces and a centre, which are the solid if the mesh is closed.
    Exact,
    /// The convex hull.
    Convex,
    /// Tetrahedra between the faces and a centre, all counted as positive.
    Legacy,
    /// The faces.
    Shell,
}

/// Mass properties at density 1, in the frame of a body or a mesh.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnitSolid {
    /// Volume (m^3); area (m^2) of a shell.
    pub(super) size: f64,
    pub(super) center: Vector3<f64>,
    /// Inertia about the centre.
    pub(super) inertia: Matrix3<f64>,
}

impl From<MassProperties> for UnitSolid {
    fn from(solid: MassProperties) -> Self {
        Self {
            size: solid.volume(),
            center: solid.center_of_mass(),
            inertia: solid.inertia_about_center_of_mass(),
        }
    }
}

impl UnitSolid {
    /// Returns the same solid after a rigid motion.
    pub(super) fn moved(&self, x: &Isometry3<f64>) -> Self {
        let r = x.rotation.to_rotation_matrix();
        let inertia = r * self.inertia * r.inverse();
        Self {
            size: self.size,
            center: x.transform_point(&self.center.into()).coords,
            // Rounding leaves the product slightly asymmetric.
            inertia: (inertia + inertia.transpose()) * 0.5,
        }
    }
}

/// Mass properties in the frame of a body.
#[derive(Clone, Copy, Debug)]
pub(super) struct RigidInertia {
    pub(super) mass: f64,
    /// Centre of mass.
    pub(super) center: Vector3<f64>,
    /// About the centre of mass.
    pub(super) inertia: Matrix3<f64>,
}

impl RigidInertia {
    /// Mass properties of nothing.
    pub(super) fn zero() -> Self {
        Self {
            mass: 0.0,
            center: Vector3::zeros(),
            inertia: Matrix3::zeros(),
        }
    }
}

/// Simplices that share a corner: triangles with their areas or volumes.
struct Simplices<'m> {
    mesh: &'m TriangleSurfaceMesh,
    kind: MeshInertia,
}

impl Simplices<'_> {
    /// Sums `f(weight, corners)` over all faces with corners relative to `apex`; the weight is the
    /// area of a face, or the volume of its tetrahedron.
    fn sum<V: std::ops::AddAssign>(
        &self,
        apex: Vector3<f64>,
        zero: V,
        f: impl Fn(f64, [Vector3<f64>; 3]) -> V,
    ) -> V {
        let mut sum = zero;
        let vertices = self.mesh.vertices();
        for triangle in self.mesh.triangles() {
            let [a, b, c] = triangle.vertices().map(|i| vertices[i as usize] - apex);
            let weight = match self.kind {
                MeshInertia::Shell => (b - a).cross(&(c - a)).norm() / 2.0,
                MeshInertia::Legacy => a.dot(&b.cross(&c)).abs() / 6.0,
                _ => a.dot(&b.cross(&c)) / 6.0,
            };
            sum += f(weight, [a, b, c]);
        }
        sum
    }

    fn properties(&self) -> UnitSolid {
        let shell = Simplices {
            mesh: self.mesh,
            kind: MeshInertia::Shell,
        };
        let is_shell = self.kind == MeshInertia::Shell;
        let middle = shell.center(Vector3::zeros());
        let center = if is_shell {
            middle
        } else {
            self.center(middle)
        };
        // The second moments of a simplex with one corner at the origin.
        let divisor = if is_shell { 12.0 } else { 20.0 };
        let moments = self.sum(center, Matrix3::zeros(), |weight, corners| {
            let sum: Vector3<f64> = corners.iter().sum();
            let squares: Matrix3<f64> = corners.iter().map(|p| p * p.transpose()).sum();
            (squares + sum * sum.transpose()) * (weight / divisor)
        });
        UnitSolid {
            size: self.sum(center, 0.0, |weight, _| weight),
            center,
            inertia: Matrix3::from_diagonal_element(moments.trace()) - moments,
        }
    }

    /// Returns the weighted mean of the centroids of the simplices with an apex.
    fn center(&self, apex: Vector3<f64>) -> Vector3<f64> {
        let corners = if self.kind == MeshInertia::Shell {
            3.0
        } else {
            4.0
        };
        let weight = self.sum(apex, 0.0, |weight, _| weight);
        let sum = self.sum(apex, Vector3::zeros(), |weight, [a, b, c]| {
            (a + b + c) * (weight / corners)
        });
        if weight == 0.0 {
            apex
        } else {
            apex + sum / weight
        }
    }
}

/// Computes the mass properties of a mesh. If they are impossible, those of its convex hull are
/// used with a warning.
pub(super) fn of_mesh(node: ElementRef<'_>, mesh: &Mesh, kind: MeshInertia) -> Parsed<UnitSolid> {
    if kind == MeshInertia::Convex {
        return of_hull(node, mesh);
    }
    let solid = match kind {
        MeshInertia::Solid => {
            let solid = calc_mass_properties(&mesh.clone().into(), 1.0);
            solid.map(UnitSolid::from).map_err(|e| e.to_string())
        }
        kind => {
            let surface = mesh.surface().map_err(|e| node.error(e))?;
            let solid = Simplices {
                mesh: &surface,
                kind,
            };
            let solid = solid.properties();
            if solid.size > 0.0 {
                Ok(solid)
            } else {
                Err("the mesh encloses no volume".into())
            }
        }
    };
    let why = match solid.map(|m| (m, check_rotational(&m.inertia))) {
        Ok((solid, Ok(()))) => return Ok(solid),
        Ok((_, Err(why))) => why.to_string(),
        Err(why) => why,
    };
    let hull = of_hull(node, mesh)?;
    node.warning(format!(
        "{why}; the inertia of the mesh's convex hull is used instead"
    ));
    Ok(hull)
}

fn of_hull(node: ElementRef<'_>, mesh: &Mesh) -> Parsed<UnitSolid> {
    let hull = Convex::with_scale(mesh.source().clone(), mesh.scale3());
    let hull = hull.and_then(|hull| calc_mass_properties(&Shape::from(hull), 1.0));
    let hull = hull.map_err(|e| node.error(e))?;
    Ok(hull.into())
}
