//! Resolution hints that keep the error of contact forces below a bound.

use super::clip::{cut, section_edges};
use super::mesh::{Tessellation, tessellate};
use crate::error::{Error, Result};
use crate::properties::HydroelasticTessellation;
use crate::shape::Shape;
use nalgebra::Vector3;

/// How deep the shape is pressed into a rigid plane to find the error, relative to where it is
/// deepest. The error is smaller where contact is deeper.
const REFERENCE_DEPTH: f64 = 0.05;

/// Most times that the hint is halved. Spheres have two subdivisions more at the next hint, which
/// is compared; those are all that they can have.
const MOST_HALVINGS: u32 = 6;

/// Number of directions of the plane besides those along axes and diagonals.
const SPREAD_DIRECTIONS: usize = 32;

/// Returns the largest hint (m), of the shape's radius and its halves, at which the relative error
/// of the contact force is estimated to be at most `bound` in all directions; `None` for shapes
/// that are exact or from files.
///
/// The error falls with the square of the hint, so that it is 4/3 of the difference from the force
/// at half the hint.
///
/// # Errors
/// Returns an error if the bound is out of reach.
pub(super) fn hint_for_error(
    shape: &Shape,
    scaling: HydroelasticTessellation,
    bound: f64,
) -> Result<Option<f64>> {
    let radius = match shape {
        Shape::Sphere(s) => s.radius(),
        Shape::Ellipsoid(e) => e.semi_axes().max(),
        Shape::Cylinder(c) => c.radius(),
        Shape::Capsule(c) => c.radius(),
        _ => return Ok(None),
    };
    if radius == 0.0 {
        return Ok(Some(f64::INFINITY));
    }
    let directions = directions();
    let forces = |hint: f64| -> Result<Vec<f64>> {
        let Some((mesh, depth)) = tessellate(shape, hint, scaling)? else {
            return Ok(vec![]);
        };
        let force =
            |n: &Vector3<f64>| force_on_plane(&mesh, n, extent(shape, n) - REFERENCE_DEPTH * depth);
        Ok(directions.iter().map(force).collect())
    };
    let mut hint = radius / 2.0;
    let mut coarse = forces(hint)?;
    for halvings in 1.. {
        let fine = forces(hint / 2.0)?;
        let errors = coarse.iter().zip(&fine).map(|(coarse, fine)| {
            let change = 4.0 / 3.0 * (fine - coarse);
            change.abs() / (coarse + change).abs()
        });
        // Where nothing touches the plane, the force is lost as a whole.
        let worst = errors.fold(
            0.0,
            |worst: f64, e| if e.is_nan() { 1.0 } else { worst.max(e) },
        );
        if worst <= bound {
            return Ok(Some(hint));
        }
        if halvings == MOST_HALVINGS {
            return Err(Error::invalid(format!(
                "property ('hydroelastic', 'relative_force_error') must be at least {worst:.1e} for \
                 a {}, got {bound:?}; a larger error is enough, or an equal-volume tessellation",
                shape.type_name()
            )));
        }
        hint /= 2.0;
        coarse = fine;
    }
    unreachable!("the loop ends after the most halvings")
}

/// Returns unit vectors: the axes, the diagonals of faces and of the cube, and others spread evenly
/// on a half of the sphere.
fn directions() -> Vec<Vector3<f64>> {
    let ternary = |i: i32| Vector3::new(i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1).map(f64::from);
    // One of every two opposite ones.
    let diagonals = (14..27).map(|i| ternary(i).normalize());
    let golden = std::f64::consts::PI * (3.0 - 5.0_f64.sqrt());
    let spread = (0..SPREAD_DIRECTIONS).map(|i| {
        let z = (i as f64 + 0.5) / SPREAD_DIRECTIONS as f64;
        let (sin, cos) = (golden * i as f64).sin_cos();
        let r = (1.0 - z * z).sqrt();
        Vector3::new(r * cos, r * sin, z)
    });
    diagonals.chain(spread).collect()
}

/// Returns how far a shape reaches from its centre along a unit vector (m).
fn extent(shape: &Shape, n: &Vector3<f64>) -> f64 {
    match shape {
        Shape::Sphere(s) => s.radius(),
        Shape::Ellipsoid(e) => e.semi_axes().component_mul(n).norm(),
        Shape::Cylinder(c) => c.radius() * n.xy().norm() + 0.5 * c.length() * n.z.abs(),
        Shape::Capsule(c) => c.radius() + 0.5 * c.length() * n.z.abs(),
        _ => 0.0,
    }
}

/// Returns the integral of the pressure per modulus over the section by a plane (m^2).
fn force_on_plane(mesh: &Tessellation, n: &Vector3<f64>, offset: f64) -> f64 {
    let vertices = mesh.volume.vertices();
    let heights: Vec<f64> = vertices.iter().map(|p| n.dot(p) - offset).collect();
    let of_element = |e: usize| {
        let corners = mesh.volume.element(e).vertices().map(|v| v as usize);
        let heights = corners.map(|v| heights[v]);
        let section = section_edges(&heights).iter().map(|[a, b]| {
            let (i, j) = (corners[*a], corners[*b]);
            let (h, k) = (heights[*a], heights[*b]);
            let pressure = (mesh.pressures[i] * k - mesh.pressures[j] * h) / (k - h);
            (cut(vertices[i], h, vertices[j], k), pressure)
        });
        let mut section = section;
        let (Some((a, p)), Some(mut previous)) = (section.next(), section.next()) else {
            return 0.0;
        };
        // Triangles from the first corner, whose pressure is linear.
        let mut force = 0.0;
        for (c, r) in section {
            let (b, q) = previous;
            let area = 0.5 * (b - a).cross(&(c - a)).norm();
            force += area * (p + q + r) / 3.0;
            previous = (c, r);
        }
        force
    };
    (0..mesh.volume.num_elements()).map(of_element).sum()
}

#[cfg(test)]
mod tests {
    use super::super::mesh::Tessellation;
    use super::*;
    use crate::shape::{Capsule, Cylinder, Ellipsoid, Sphere};
    use HydroelasticTessellation::{EqualVolume, Inscribed};
    use tarragon_framework::random::RandomGenerator;

    /// Unit vectors in random directions.
    fn random_directions() -> Vec<Vector3<f64>> {
        let mut random = RandomGenerator::new(24);
        let mut next = || Vector3::from_fn(|_, _| random.uniform(-1.0, 1.0));
        std::iter::repeat_with(&mut next)
            .filter(|v| (0.1..1.0).contains(&v.norm()))
            .map(|v| v.normalize())
            .take(100)
            .collect()
    }

    /// The force on a plane at some depth, as a fraction of the radius, on a unit sphere.
    fn exact_force(depth: f64) -> f64 {
        let h: f64 = 1.0 - depth;
        std::f64::consts::PI * (1.0 - h * h - 2.0 / 3.0 * (1.0 - h.powi(3)))
    }

    /// Mean and greatest magnitude of relative errors.
    fn mean_and_worst(errors: &[f64]) -> [f64; 2] {
        let mean = errors.iter().sum::<f64>() / errors.len() as f64;
        [mean, errors.iter().fold(0.0, |worst, e| worst.max(e.abs()))]
    }

    fn sphere_errors(scaling: HydroelasticTessellation, hint: f64) -> Vec<f64> {
        let sphere = Sphere::new(1.0).unwrap().into();
        let (mesh, _): (Tessellation, f64) = tessellate(&sphere, hint, scaling).unwrap().unwrap();
        let error = |n: &Vector3<f64>| {
            force_on_plane(&mesh, n, 1.0 - REFERENCE_DEPTH) / exact_force(REFERENCE_DEPTH) - 1.0
        };
        random_directions().iter().map(error).collect()
    }

    #[test]
    fn errors_of_spheres_fall_with_the_square_of_the_hint() {
        for scaling in [Inscribed, EqualVolume] {
            let table =
                [5.0, 10.0, 20.0, 40.0].map(|n| mean_and_worst(&sphere_errors(scaling, 1.0 / n)));
            for pair in table.windows(2) {
                let rate = pair[0][1] / pair[1][1];
                assert!((3.0..6.0).contains(&rate), "{scaling:?}: {table:?}");
            }
        }
    }

    #[test]
    fn chosen_hints_keep_the_error() {
        let shapes: [Shape; 4] = [
            Sphere::new(0.3).unwrap().into(),
            Ellipsoid::new(0.2, 0.3, 0.5).unwrap().into(),
            Cylinder::new(0.2, 0.7).unwrap().into(),
            Capsule::new(0.2, 0.5).unwrap().into(),
        ];
        for shape in &shapes {
            for (scaling, bound) in [
                (Inscribed, 0.2),
                (Inscribed, 0.05),
                (EqualVolume, 0.05),
                (EqualVolume, 0.01),
            ] {
                let hint = hint_for_error(shape, scaling, bound).unwrap().unwrap();
                let (mesh, depth) = tessellate(shape, hint, scaling).unwrap().unwrap();
                let (fine, _) = tessellate(shape, hint / 3.0, EqualVolume).unwrap().unwrap();
                let errors = random_directions().into_iter().map(|n| {
                    let offset = extent(shape, &n) - REFERENCE_DEPTH * depth;
                    force_on_plane(&mesh, &n, offset) / force_on_plane(&fine, &n, offset) - 1.0
                });
                let [_, worst] = mean_and_worst(&errors.collect::<Vec<_>>());
                // Random directions may be a little worse than those that were tried.
                assert!(
                    worst <= 1.2 * bound,
                    "{shape:?}, {scaling:?}, {bound}: {worst}"
                );
            }
        }
    }
}
