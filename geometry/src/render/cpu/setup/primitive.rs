//! Primitives: the kernel of a shape, or the view of a mesh.

use super::frustum::Frustum;
use crate::render::cpu::raster::{
    CapsuleKernel, CuboidKernel, CylinderKernel, EllipsoidKernel, ExactShape, MeshView, PlaneKernel,
};
use crate::render::cpu::store::VisualForm;
use crate::render::projection::{Pixels, PoseInCamera};
use crate::shape::Shape;
use nalgebra::{Matrix3, Vector3};

/// Drawing routine of a visual, with its precomputed coefficients.
pub(crate) enum Primitive {
    Plane(PlaneKernel),
    Cuboid(CuboidKernel),
    Ellipsoid(EllipsoidKernel),
    Cylinder(CylinderKernel),
    Capsule(CapsuleKernel),
    Exact(ExactShape),
    Mesh(MeshView),
}

impl Primitive {
    /// Creates the primitive of a visual; `clip` is that of the draw item.
    pub(crate) fn new(
        frustum: &Frustum,
        o: &PoseInCamera,
        form: &VisualForm,
        clip: bool,
    ) -> Option<Self> {
        let (pixels, near) = (&frustum.pixels, frustum.near);
        match form {
            VisualForm::Mesh(_) => Some(Self::Mesh(MeshView::new(pixels, &o.r, &o.p, near))),
            // Translucent bodies show both their front and their back.
            VisualForm::Shape { shape, alpha, .. } if frustum.by_triangle && *alpha < 1.0 => {
                ExactShape::new(pixels, &o.r, &o.p, shape, near).map(Self::Exact)
            }
            VisualForm::Shape { shape, .. } => of_shape(pixels, o, shape, near, !clip),
        }
    }
}

/// Returns the fast kernel of a shape, or the exact one where the fast kernel is not valid.
fn of_shape(
    pixels: &Pixels,
    o: &PoseInCamera,
    shape: &Shape,
    near: f64,
    in_front: bool,
) -> Option<Primitive> {
    let ellipsoid = |axes: Vector3<f64>| {
        let b = Matrix3::from_diagonal(&axes.map(|a| 1.0 / a)) * o.r.transpose();
        let (roots, within) = EllipsoidKernel::new(pixels, &b, &-(b * o.p))?;
        (!within).then_some(Primitive::Ellipsoid(roots))
    };
    let fast =
        match shape {
            Shape::HalfSpace(_) => {
                let n: Vector3<f64> = o.r.column(2).into();
                return Some(Primitive::Plane(PlaneKernel::new(
                    pixels,
                    &n,
                    n.dot(&o.p),
                    near,
                )));
            }
            Shape::Box(s) => {
                let half = s.half_size();
                return Some(Primitive::Cuboid(CuboidKernel::new(
                    pixels, &o.r, &o.p, &half, near,
                )));
            }
            _ if !in_front => None,
            Shape::Sphere(s) => ellipsoid(Vector3::repeat(s.radius())),
            Shape::Ellipsoid(s) => ellipsoid(s.semi_axes()),
            Shape::Cylinder(s) => CylinderKernel::new(pixels, &o.r, &o.p, s.radius(), s.length())
                .map(Primitive::Cylinder),
            Shape::Capsule(s) => CapsuleKernel::new(pixels, &o.r, &o.p, s.radius(), s.length())
                .map(Primitive::Capsule),
            _ => None,
        };
    fast.or_else(|| ExactShape::new(pixels, &o.r, &o.p, shape, near).map(Primitive::Exact))
}
