//! Triangles of meshes, prepared for shading.

use crate::render::appearance::is_turned;
use crate::render::cpu::simd::{Vector3x8, dot, unit};
use nalgebra::{Point3, Vector3};
use wide::{bytemuck, f32x8, i32x8};

/// Shading data of a triangle, in the geometry's frame. It fills one cache line, because memory
/// latency dominates the shading of large meshes.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct ShadedTriangle {
    /// First corner (m).
    pub(crate) p: Vector3<f32>,
    /// Gradients (1/m) of the barycentric weights of the other corners:
    /// `v = (x - p) . to_weights[0]`.
    pub(crate) to_weights: [Vector3<f32>; 2],
    normals: PackedNormals,
    /// Index into `ClusteredMesh::materials`.
    pub(crate) material: u32,
}

/// Corner normals of a triangle in packed form, all scaled by the same factor.
#[derive(Clone, Debug)]
struct PackedNormals {
    /// Normal at the first corner.
    first: [f32; 3],
    /// Differences of the other corners' normals from the first, by axis, as 16-bit integers plus
    /// [`PackedNormals::ZERO`]: that of the second corner in the low half, that of the third in the
    /// high half.
    more: [u32; 3],
}

impl PackedNormals {
    /// Representation of a zero difference.
    const ZERO: u32 = 1 << 15;

    /// Packs the normals, scaled so that the largest difference uses the full range of 16 bits.
    fn new(n: [Vector3<f64>; 3]) -> Self {
        let more = [n[1] - n[0], n[2] - n[0]];
        let most = more[0].amax().max(more[1].amax());
        let largest = n.iter().fold(0.0, |m: f64, v| m.max(v.amax()));
        // Differences far below the visible threshold are rounded away.
        let unit = most.max(1e-6 * largest);
        let scale = if unit > 0.0 { 32767.0 / unit } else { 0.0 };
        let bits = |x: f64| ((x * scale).round() as i32 + Self::ZERO as i32) as u32;
        Self {
            first: std::array::from_fn(|c| (n[0][c] * scale) as f32),
            more: std::array::from_fn(|c| bits(more[0][c]) | bits(more[1][c]) << 16),
        }
    }
}

/// Texture coordinates of the first corner, and the differences of the other corners from them.
pub(crate) type Uvs = [[f32; 2]; 3];

/// Converts the texture coordinates of the corners to this form.
pub(crate) fn uvs(uv: [[f64; 2]; 3]) -> Uvs {
    let more = |k: usize, c: usize| uv[k][c] - uv[0][c];
    [uv[0], [more(1, 0), more(1, 1)], [more(2, 0), more(2, 1)]].map(|uv| uv.map(|x| x as f32))
}

impl ShadedTriangle {
    /// Creates a triangle. The flag is true if its last two corners were swapped.
    pub(crate) fn new(
        mut p: [Point3<f64>; 3],
        mut n: [Vector3<f64>; 3],
        material: u32,
    ) -> (Self, bool) {
        let turned = is_turned(&p, &n);
        if turned {
            p.swap(1, 2);
            n.swap(1, 2);
        }
        let (e1, e2) = (p[1] - p[0], p[2] - p[0]);
        let face = e1.cross(&e2);
        let scale = 1.0 / face.norm_squared();
        let weight = |g: Vector3<f64>| {
            let g: Vector3<f32> = (g * scale).cast();
            // A triangle without area may have any weights.
            if g.iter().all(|x| x.is_finite()) {
                g
            } else {
                Vector3::zeros()
            }
        };
        let triangle = Self {
            p: p[0].coords.cast(),
            to_weights: [weight(e2.cross(&face)), weight(face.cross(&e1))],
            normals: PackedNormals::new(n),
            material,
        };
        (triangle, turned)
    }
}

/// Interpolated normals and weights at eight points of triangles.
pub(crate) struct SmoothNormals {
    /// Unit normals on the side that the rays come from.
    pub(crate) n: Vector3x8,
    /// Barycentric weights of the second and the third corner.
    pub(crate) weights: [f32x8; 2],
}

impl SmoothNormals {
    /// Interpolates at the points `x`, seen along the rays `d`.
    #[inline(always)]
    pub(crate) fn at(triangles: &[&ShadedTriangle; 8], x: &Vector3x8, d: &Vector3x8) -> Self {
        // Written out: `map` over blocks is not inlined.
        macro_rules! each {
            (|$t:ident| $value:expr) => {{
                let each = |k: usize| {
                    let $t: &ShadedTriangle = triangles[k];
                    $value
                };
                [
                    each(0),
                    each(1),
                    each(2),
                    each(3),
                    each(4),
                    each(5),
                    each(6),
                    each(7),
                ]
            }};
        }
        macro_rules! axes {
            (|$c:ident| $value:expr) => {{
                let axis = |$c: usize| $value;
                [axis(0), axis(1), axis(2)]
            }};
        }
        let gv: Vector3x8 = axes!(|c| f32x8::new(each!(|t| t.to_weights[0][c])));
        let gw: Vector3x8 = axes!(|c| f32x8::new(each!(|t| t.to_weights[1][c])));
        let q: Vector3x8 = axes!(|c| x[c] - f32x8::new(each!(|t| t.p[c])));
        let (zero, one) = (f32x8::ZERO, f32x8::ONE);
        let v = dot(&q, &gv).fast_max(zero).fast_min(one);
        let w = dot(&q, &gw).fast_max(zero).fast_min(one - v);
        // 0x4b000000 is the bit pattern of 2^23; an integer in its low bits is added to it.
        let (two23, low) = (i32x8::splat(0x4b00_0000), i32x8::splat(0xffff));
        let zero_at = f32x8::splat(8_388_608.0 + PackedNormals::ZERO as f32);
        let float = |bits: i32x8| bytemuck::cast::<_, f32x8>(bits | two23) - zero_at;
        let n: Vector3x8 = axes!(|c| {
            let bits = i32x8::new(each!(|t| t.normals.more[c] as i32));
            let first = f32x8::new(each!(|t| t.normals.first[c]));
            first + float(bits & low) * v + float((bits >> 16) & low) * w
        });
        // The back of a surface is lit like its front.
        let face = [
            gv[1] * gw[2] - gv[2] * gw[1],
            gv[2] * gw[0] - gv[0] * gw[2],
            gv[0] * gw[1] - gv[1] * gw[0],
        ];
        let away = dot(&face, d).simd_gt(zero) & f32x8::splat(-0.0);
        let n = unit(&n);
        Self {
            n: [n[0] ^ away, n[1] ^ away, n[2] ^ away],
            weights: [v, w],
        }
    }
}

impl ShadedTriangle {
    /// Returns the normal of the triangle's plane on the side that the ray `d` comes from, of any
    /// length.
    pub(crate) fn facing(&self, d: &Vector3<f32>) -> Vector3<f32> {
        let [gv, gw] = &self.to_weights;
        let n = gv.cross(gw);
        let n = n.try_normalize(0.0).unwrap_or(-d);
        if n.dot(d) > 0.0 { -n } else { n }
    }
    /// Returns the change of texture coordinates per metre, averaged over directions.
    pub(crate) fn uv_per_metre(&self, [_, a, b]: &Uvs) -> f32 {
        let [gv, gw] = &self.to_weights;
        // The gradients span a parallelogram of the reciprocal area of that of the edges.
        ((a[0] * b[1] - a[1] * b[0]).abs() * gv.cross(gw).norm()).sqrt()
    }
}

/// Interpolates texture coordinates with the weights of the second and third corner.
pub(crate) fn uv_at([a, b, c]: &Uvs, [v, w]: [f32; 2]) -> [f32; 2] {
    std::array::from_fn(|k| a[k] + b[k] * v + c[k] * w)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_normals_are_accurate_to_half_a_unit() {
        assert_eq!(size_of::<ShadedTriangle>(), 64);
        let a = Vector3::new(0.6, -0.64, 0.48);
        for (size, scale) in [(1.0, 1.0), (0.01, 1e-20), (1e-4, 1e20)] {
            let b = Vector3::new(-0.9, 0.3, 1e-3) * size;
            let c = Vector3::new(1e-6, 0.9, -0.25) * size;
            let normals = PackedNormals::new([a * scale, (a + b) * scale, (a + c) * scale]);
            let times = f64::from(normals.first[0]) / a.x;
            for k in 0..3 {
                let zero = f64::from(PackedNormals::ZERO);
                let low = f64::from(normals.more[k] & 0xffff) - zero;
                let high = f64::from(normals.more[k] >> 16) - zero;
                // Half a unit in the last of 15 bits, plus the rounding of the first corner's
                // normal.
                let most = 0.5 / 32767.0 * size + 1e-6;
                assert!((low / times - b[k]).abs() < most && (high / times - c[k]).abs() < most);
                assert!((f64::from(normals.first[k]) / times - a[k]).abs() < 1e-6);
            }
        }
        let none = PackedNormals::new([Vector3::zeros(); 3]);
        assert_eq!((none.first, none.more), ([0.0; 3], [0x8000_8000; 3]));
    }
}
