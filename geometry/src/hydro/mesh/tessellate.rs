//! The tessellation of a shape.

use super::capsule::capsule;
use super::cuboid::cuboid;
use super::cylinder::cylinder;
use super::ellipsoid::ellipsoid;
use super::tessellation::Tessellation;
use crate::error::Result;
use crate::properties::HydroelasticTessellation;
use crate::shape::{Shape, calc_volume};
use nalgebra::Vector3;

/// Returns the tessellation of a shape that is not from a file and its greatest distance from the
/// surface (m).
pub(in crate::hydro) fn tessellate(
    shape: &Shape,
    hint: f64,
    scaling: HydroelasticTessellation,
) -> Result<Option<(Tessellation, f64)>> {
    // With half of the length of the part that grows radially.
    let (mut mesh, depth, half_length) = match shape {
        Shape::Sphere(s) => {
            let mesh = ellipsoid(&Vector3::repeat(s.radius()), hint);
            (mesh, s.radius(), 0.0)
        }
        Shape::Ellipsoid(e) => (ellipsoid(&e.semi_axes(), hint), e.semi_axes().min(), 0.0),
        Shape::Box(b) => {
            let half = b.half_size();
            return Ok(Some((cuboid(&half).finish()?, half.min())));
        }
        Shape::Cylinder(c) => {
            let (radius, half) = (c.radius(), 0.5 * c.length());
            (cylinder(radius, c.length(), hint)?, radius.min(half), half)
        }
        Shape::Capsule(c) => {
            let mesh = capsule(c.radius(), c.length(), hint);
            (mesh, c.radius(), 0.5 * c.length())
        }
        _ => return Ok(None),
    };
    if scaling == HydroelasticTessellation::EqualVolume {
        mesh.scale_to_volume(half_length, calc_volume(shape)?);
    }
    Ok(Some((mesh.finish()?, depth)))
}
