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
        _ => return None,
    };
    Some(UnitSolid {
        size: area,
        center: Vector3::zeros(),
        inertia: Matrix3::from_diagonal(&moments.into()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tarragon_geometry::{BoxShape, Capsule, Cylinder, Sphere};

    /// Recorded from MuJoCo 3.3.7 at 1 kg/m^2.
    #[test]
    fn surfaces_are_those_of_mujoco() {
        let shapes: [(Shape, f64, [f64; 3]); 4] = [
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
        ];
        for (shape, area, moments) in shapes {
            let shell = of_shape(&shape).unwrap();
            assert!((shell.size - area).abs() < 1e-12, "{shape:?}");
            let difference = shell.inertia.diagonal() - Vector3::from(moments);
            assert!(difference.amax() < 1e-8, "{shape:?}: {}", shell.inertia);
        }
    }
}
