//! Shapes.

use super::{Encoder, Object, material, mesh_file};
use crate::meshcat::msgpack::Writer;
use crate::{Error, Result};
use nalgebra::{Matrix4, Vector3};
use std::f64::consts::FRAC_PI_2;
use tarragon_geometry::{Rgba, Shape};

/// Edges (m) of the square that stands for the boundary of a half space.
const HALF_SPACE_SIZE: f64 = 100.0;
/// How deep (m) it is.
const HALF_SPACE_DEPTH: f64 = 1.0;

/// Any shape in the colour `rgba`, meshes with materials in their own colours. A half space is a
/// slab of 100 m x 100 m below its origin.
///
/// # Errors
/// If the file of a mesh can not be read or is of a format that can not be shown.
pub(crate) fn shape(e: &Encoder<'_>, shape: &Shape, rgba: Rgba) -> Result<Object> {
    let identity = Matrix4::identity();
    let (matrix, geometry) = match shape {
        Shape::Sphere(s) => (identity, Geometry::Sphere(s.radius())),
        Shape::Ellipsoid(s) => (scaling(&s.semi_axes()), Geometry::Sphere(1.0)),
        Shape::Box(s) => (identity, Geometry::Box(s.size())),
        Shape::HalfSpace(_) => {
            let size = Vector3::new(HALF_SPACE_SIZE, HALF_SPACE_SIZE, HALF_SPACE_DEPTH);
            let mut matrix = identity;
            matrix[(2, 3)] = -HALF_SPACE_DEPTH / 2.0;
            (matrix, Geometry::Box(size))
        }
        Shape::Cylinder(s) => {
            let [bottom, top] = [s.radius(); 2];
            let height = s.length();
            (
                upright(),
                Geometry::Cylinder {
                    bottom,
                    top,
                    height,
                },
            )
        }
        Shape::Capsule(s) => {
            let (radius, height) = (s.radius(), s.length());
            (upright(), Geometry::Capsule { radius, height })
        }
        Shape::MeshcatCone(s) => {
            let height = s.height();
            let mut matrix = scaling(&Vector3::new(s.a(), s.b(), 1.0)) * upright();
            matrix[(2, 3)] = height / 2.0;
            let [bottom, top] = [0.0, 1.0];
            (
                matrix,
                Geometry::Cylinder {
                    bottom,
                    top,
                    height,
                },
            )
        }
        Shape::Mesh(s) => return mesh_file::mesh(e, s, rgba),
        Shape::Convex(s) => return mesh_file::convex(e, s, rgba),
        other => {
            return Err(Error::invalid(format!(
                "Meshcat: shapes of type {} can not be shown",
                other.type_name()
            )));
        }
    };
    Ok(e.object(
        0,
        "Mesh",
        |w, uuid| geometry.write(w, uuid),
        |w, uuid| material::phong(w, uuid, rgba, false),
        &matrix,
    ))
}

fn scaling(factors: &Vector3<f64>) -> Matrix4<f64> {
    Matrix4::new_nonuniform_scaling(factors)
}

/// From the axis along y, which three.js gives cylinders, to the axis along z: a rotation by 90
/// degrees about x. The cosine is that of the angle as a double, not zero, because Drake sends it
/// so.
fn upright() -> Matrix4<f64> {
    let (sin, cos) = FRAC_PI_2.sin_cos();
    let mut matrix = Matrix4::identity();
    matrix[(1, 1)] = cos;
    matrix[(1, 2)] = -sin;
    matrix[(2, 1)] = sin;
    matrix[(2, 2)] = cos;
    matrix
}

/// Geometries that three.js generates, all lengths in metres.
enum Geometry {
    Sphere(f64),
    Box(Vector3<f64>),
    Cylinder { bottom: f64, top: f64, height: f64 },
    Capsule { radius: f64, height: f64 },
}

impl Geometry {
    fn write(&self, w: &mut Writer, uuid: &str) {
        let mut fields = |kind: &str, fields: &[(&str, f64)]| {
            w.map(2 + fields.len()).key_str("type", kind);
            w.key_str("uuid", uuid);
            for (name, value) in fields {
                w.key_f64(name, *value);
            }
        };
        match *self {
            Self::Sphere(radius) => fields(
                "SphereGeometry",
                &[
                    ("radius", radius),
                    ("widthSegments", 20.0),
                    ("heightSegments", 20.0),
                ],
            ),
            Self::Box(size) => fields(
                "BoxGeometry",
                &[("width", size.x), ("height", size.y), ("depth", size.z)],
            ),
            Self::Cylinder {
                bottom,
                top,
                height,
            } => fields(
                "CylinderGeometry",
                &[
                    ("radiusBottom", bottom),
                    ("radiusTop", top),
                    ("height", height),
                    ("radialSegments", 50.0),
                ],
            ),
            Self::Capsule { radius, height } => fields(
                "CapsuleGeometry",
                &[
                    ("radius", radius),
                    ("height", height),
                    ("radialSegments", 20.0),
                    ("capSegments", 10.0),
                ],
            ),
        }
    }
}
