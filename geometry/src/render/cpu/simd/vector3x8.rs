//! Eight vectors in SIMD lanes.

use nalgebra::Vector3;
use wide::f32x8;

/// Number of pixels that are computed at once.
pub(crate) const BLOCK: usize = 8;

/// Eight vectors: their x, y and z.
pub(crate) type Vector3x8 = [f32x8; 3];

pub(crate) fn splat3(v: &Vector3<f32>) -> Vector3x8 {
    splat_all(&[v.x, v.y, v.z])
}
/// Broadcasts a vector to all lanes. Written out, because `map` over blocks is not inlined.
#[inline(always)]
pub(crate) fn splat_all(v: &[f32; 3]) -> Vector3x8 {
    [f32x8::splat(v[0]), f32x8::splat(v[1]), f32x8::splat(v[2])]
}
pub(crate) fn dot(a: &Vector3x8, b: &Vector3x8) -> f32x8 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Normalizes vectors; the zero vector stays zero.
#[inline(always)]
pub(crate) fn unit(v: &Vector3x8) -> Vector3x8 {
    let scale = f32x8::ONE / dot(v, v).fast_max(f32x8::splat(f32::MIN_POSITIVE)).sqrt();
    [v[0] * scale, v[1] * scale, v[2] * scale]
}
