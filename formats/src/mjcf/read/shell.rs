//! Mass properties of the surfaces of shapes (`shellinertia`), at 1 kg/m^2.

use super::mesh_inertia::UnitSolid;
use nalgebra::{Matrix3, Vector3};
use std::f64::consts::PI;
use tarragon_geometry::Shape;

/// Returns the mass properties of the surface of a shape; `None` for shapes without a closed form.
pub(super) fn of_shape(shape: &Shape) -> Option<UnitSolid> {
    let (area, moments) = match shape {
        Shape::Sphere(s) => {
            let r2 = s.radius() * s.radius();
            let area = 4.0 * PI * r2;
            (area, [2.0 / 3.0 * area * r2; 3])
        }
        Shape::Box(s) => {
            let [a, b, c] = [s.size().x, s.size().y, s.size().z];
            let faces = [2.0 * b * c, 2.0 * c * a, 2.0 * a * b];
            let size = [a, b, c];
            // Second moment along each axis: two faces at the ends, four along the axis.
            let second = [0, 1, 2].map(|i| {
                let l2 = size[i] * size[i];
                faces[i] * l2 / 4.0 + (faces[(i + 1) % 3] + faces[(i + 2) % 3]) * l2 / 12.0
            });
            let [x, y, z] = second;
            (faces.iter().sum(), [y + z, z + x, x + y])
        }
        Shape::Cylinder(s) => {
            let (r, l) = (s.radius(), s.length());
            let (side, ends) = (2.0 * PI * r * l, 2.0 * PI * r * r);
            let axial = side * r * r + ends * r * r / 2.0;
            let along = side * l * l / 12.0 + ends * l * l / 4.0;
            (
                side + ends,
                [axial / 2.0 + along, axial / 2.0 + along, axial],
            )
        }
        Shape::Capsule(s) => {
            let (r, l) = (s.radius(), s.length());
            let (side, ends) = (2.0 * PI * r * l, 4.0 * PI * r * r);
            let axial = side * r * r + ends * r * r * 2.0 / 3.0;
            // The mean of (l/2 + z)^2 over a hemisphere, whose z is uniform in [0, r].
            let ball = l * l / 4.0 + l * r / 2.0 + r * r / 3.0;
            let along = side * l * l / 12.0 + ends * ball;
            (
                side + ends,
                [axial / 2.0 + along, axial / 2.0 + along, axial],
            )
        }
        Shape::Ellipsoid(s) => of_ellipsoid(s.semi_axes().into()),
        _ => return None,
    };
    Some(UnitSolid {
        size: area,
        center: Vector3::zeros(),
        inertia: Matrix3::from_diagonal(&moments.into()),
    })
}

/// Returns area and moments of inertia of the surface of an ellipsoid by its half axes. Both are
/// approximations that MuJoCo makes in `mjCGeom::GetVolume` and `SetInertia`: the area is
/// Thomsen's, and the moments belong to a layer of constant thickness along the axes.
fn of_ellipsoid(half: [f64; 3]) -> (f64, [f64; 3]) {
    const THICKNESS: f64 = 1e-6;
    const EXPONENT: f64 = 1.6075;
    let [a, b, c] = half;
    let powers = [a * b, b * c, c * a].map(|product| product.powf(EXPONENT));
    let mean = powers.iter().sum::<f64>() / 3.0;
    let area = 4.0 * PI * mean.powf(EXPONENT.recip());
    // Volume and moments of a solid ellipsoid, up to a common factor.
    let solid = |[a, b, c]: [f64; 3]| {
        let volume = a * b * c;
        let [x, y, z] = [a * a, b * b, c * c].map(|square| volume * square / 5.0);
        (volume, [y + z, z + x, x + y])
    };
    let (inner, inner_moments) = solid(half);
    let (outer, outer_moments) = solid(half.map(|a| a + THICKNESS));
    let density = area / (outer - inner);
    let moments = [0, 1, 2].map(|i| density * (outer_moments[i] - inner_moments[i]));
    (area, moments)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tarragon_geometry::{BoxShape, Capsule, Cylinder, Ellipsoid, Sphere};

    /// Recorded from MuJoCo 3.3.7 at 1 kg/m^2.
    #[test]
    fn surfaces_are_those_of_mujoco() {
        let shapes: [(Shape, f64, [f64; 3]); 6] = [
            (Sphere::new(0.5).unwrap().into(), PI, [PI / 6.0; 3]),
            (
                BoxShape::new(0.2, 0.4, 0.6).unwrap().into(),
                0.88,
                [0.05413333, 0.04213333, 0.02426667],
            ),
            (
                Capsule::new(0.1, 0.8).unwrap().into(),
                0.6283185307179586,
                [0.05529203, 0.05529203, 0.00586431],
            ),
            (
                Cylinder::new(0.1, 0.8).unwrap().into(),
                0.5654866776461628,
                [0.03953171, 0.03953171, 0.00534071],
            ),
            (
                Ellipsoid::new(0.1, 0.2, 0.3).unwrap().into(),
                0.4897193333371731,
                [0.01807517, 0.01406837, 0.00810268],
            ),
            (
                Ellipsoid::new(0.1, 0.1, 0.1).unwrap().into(),
                0.1256637061435918,
                [0.00083777; 3],
            ),
        ];
        for (shape, area, moments) in shapes {
            let shell = of_shape(&shape).unwrap();
            assert!((shell.size - area).abs() < 1e-12, "{shape:?}");
            let difference = shell.inertia.diagonal() - Vector3::from(moments);
            assert!(difference.amax() < 1e-8, "{shape:?}: {}", shell.inertia);
        }
    }
}
