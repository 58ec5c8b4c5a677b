//! Surface normals of shapes.

use crate::render::cpu::simd::{Vector3x8, dot};
use crate::shape::Shape;
use wide::f32x8;

/// Returns the outward unit normals at points of a shape's surface, in its frame.
#[inline(always)]
pub(crate) fn normal(shape: &Shape, x: &Vector3x8) -> Vector3x8 {
    let zero = f32x8::ZERO;
    let splat = |v: f64| f32x8::splat(v as f32);
    let sign = |v: f32x8| v.simd_ge(zero).bitselect(f32x8::ONE, -f32x8::ONE);
    match shape {
        Shape::Sphere(s) => x.map(|v| v * splat(1.0 / s.radius())),
        Shape::Ellipsoid(s) => {
            let a = s.semi_axes();
            let g: Vector3x8 = std::array::from_fn(|k| x[k] * splat(1.0 / (a[k] * a[k])));
            let scale = f32x8::ONE / dot(&g, &g).sqrt();
            g.map(|v| v * scale)
        }
        Shape::Capsule(s) => {
            let half = splat(0.5 * s.length());
            let z = x[2] - x[2].fast_max(-half).fast_min(half);
            [x[0], x[1], z].map(|v| v * splat(1.0 / s.radius()))
        }
        Shape::Cylinder(s) => {
            // The nearer of side and cap decides.
            let rho = (x[0] * x[0] + x[1] * x[1]).sqrt();
            let to_side = (rho - splat(s.radius())).abs();
            let to_cap = (x[2].abs() - splat(0.5 * s.length())).abs();
            let side = to_side.simd_le(to_cap);
            let scale = f32x8::ONE / rho;
            [
                side & (x[0] * scale),
                side & (x[1] * scale),
                side.bitselect(zero, sign(x[2])),
            ]
        }
        Shape::Box(s) => {
            let h = s.half_size();
            let to: Vector3x8 = std::array::from_fn(|k| (x[k].abs() - splat(h[k])).abs());
            let first = to[0].simd_le(to[1]) & to[0].simd_le(to[2]);
            let second = to[1].simd_le(to[2]) & !first;
            let third = !(first | second);
            [first & sign(x[0]), second & sign(x[1]), third & sign(x[2])]
        }
        // A half space. All other shapes are drawn as meshes.
        _ => [zero, zero, f32x8::ONE],
    }
}
