//! Bounds of shapes.

use crate::accel::bvh::Box32;
use crate::error::Result;
use crate::mesh::PolygonSurfaceMesh;
use crate::shape::Shape;
use nalgebra::{Isometry3, Matrix3, Quaternion, UnitQuaternion, Vector3};
use tarragon_framework::Scalar;

/// Extent of a shape in its own frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum LocalBound {
    Unbounded,
    /// All points within `radius` of the segment of `half_length` to both sides along z.
    Round {
        radius: f64,
        half_length: f64,
    },
    Box {
        center: Vector3<f64>,
        half: Vector3<f64>,
    },
}

impl LocalBound {
    /// Computes the bound of a shape, which reads the file of a mesh.
    pub(crate) fn of(shape: &Shape) -> Result<Self> {
        let centered = |half| Self::Box {
            center: Vector3::zeros(),
            half,
        };
        Ok(match shape {
            Shape::HalfSpace(_) => Self::Unbounded,
            Shape::Sphere(s) => Self::Round {
                radius: s.radius(),
                half_length: 0.0,
            },
            Shape::Capsule(c) => Self::Round {
                radius: c.radius(),
                half_length: c.length() / 2.0,
            },
            Shape::Box(b) => centered(b.half_size()),
            Shape::Cylinder(c) => centered(Vector3::new(c.radius(), c.radius(), c.length() / 2.0)),
            Shape::Ellipsoid(e) => centered(e.semi_axes()),
            Shape::MeshcatCone(c) => Self::Box {
                center: Vector3::new(0.0, 0.0, c.height() / 2.0),
                half: Vector3::new(c.a(), c.b(), c.height() / 2.0),
            },
            Shape::HeightField(f) => {
                let (center, half) = f.calc_bounding_box();
                Self::Box { center, half }
            }
            Shape::Mesh(m) => Self::of_hull(&*m.convex_hull()?),
            Shape::Convex(c) => Self::of_hull(&*c.convex_hull()?),
        })
    }

    /// Bounds a mesh by its hull, which has the same box and which queries need anyway.
    fn of_hull(hull: &PolygonSurfaceMesh) -> Self {
        let (center, size) = hull.calc_bounding_box();
        Self::Box {
            center,
            half: size / 2.0,
        }
    }

    /// Returns the centre and half width of the world-aligned box of a shape at `X_WG`, or `None`
    /// if it has none.
    #[inline]
    pub(crate) fn in_world<T: Scalar>(
        &self,
        x_wg: &Isometry3<T>,
    ) -> Option<(Vector3<f64>, Vector3<f64>)> {
        let p = x_wg.translation.vector.map(|x| x.re());
        Some(match self {
            Self::Unbounded => return None,
            Self::Round {
                radius,
                half_length,
            } => {
                let mut half = Vector3::repeat(*radius);
                if *half_length > 0.0 {
                    half += rotation(x_wg).column(2).abs() * *half_length;
                }
                (p, half)
            }
            Self::Box { center, half } => {
                let r = rotation(x_wg);
                (p + r * center, r.abs() * half)
            }
        })
    }

    /// Returns a margin (m) by which all boxes in the world contain a point of the shape's frame.
    pub(crate) fn margin_for(&self, p: &Vector3<f64>) -> f64 {
        match self {
            Self::Unbounded => 0.0,
            Self::Round {
                radius,
                half_length,
            } => {
                let from_segment = (p.z.abs() - half_length).max(0.0);
                (p.xy().norm().hypot(from_segment) - radius).max(0.0)
            }
            Self::Box { center, half } => ((p - center).abs() - half).sup(&Vector3::zeros()).norm(),
        }
    }

    #[inline]
    pub(crate) fn box_in_world<T: Scalar>(&self, x_wg: &Isometry3<T>) -> Option<Box32> {
        self.in_world(x_wg)
            .map(|(center, half)| Box32::around(&center, &half))
    }
}

#[inline]
fn rotation<T: Scalar>(x: &Isometry3<T>) -> Matrix3<f64> {
    let q = x.rotation.coords.map(|x| x.re());
    UnitQuaternion::new_unchecked(Quaternion::from(q))
        .to_rotation_matrix()
        .into_inner()
}
