//! Triangles of meshes as they are shaded.

use crate::render::cpu::simd::{Vector3x8, dot, unit};
use nalgebra::{Point3, Vector3};
use wide::{bytemuck, f32x8, i32x8};

/// What shading needs of a triangle, in the geometry's frame: one line of the processor's cache,
/// because waiting for memory is what shading a large mesh takes longest for.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct ShadedTriangle {
    /// First corner.
    pub(crate) p: Vector3<f32>,
    /// Weights of the other corners per metre from the first: `v = (x - p) . to_weights[0]`.
    pub(crate) to_weights: [Vector3<f32>; 2],
    normals: PackedNormals,
    /// Index into [`ClusteredMesh::materials`].
    pub(crate) material: u32,
}

/// PackedNormals of a triangle, all times some number.
#[derive(Clone, Debug)]
struct PackedNormals {
    /// At the first corner.
    first: [f32; 3],
    /// What the others add for their weights, as whole numbers of 16 bits: by axis, that of the
    /// second corner plus [`PackedNormals::ZERO`], and above it that of the third.
    more: [u32; 3],
}

impl PackedNormals {
    /// Stands for 0.
    const ZERO: u32 = 1 << 15;

    /// Scaled so that what is rounded is as large as it can be.
    fn new(n: [Vector3<f64>; 3]) -> Self {
        let more = [n[1] - n[0], n[2] - n[0]];
        let most = more[0].amax().max(more[1].amax());
        let largest = n.iter().fold(0.0, |m: f64, v| m.max(v.amax()));
        // Differences that are far below what is seen count as none.
        let unit = most.max(1e-6 * largest);
        let scale = if unit > 0.0 { 32767.0 / unit } else { 0.0 };
        let bits = |x: f64| ((x * scale).round() as i32 + Self::ZERO as i32) as u32;
        Self {
            first: std::array::from_fn(|c| (n[0][c] * scale) as f32),
            more: std::array::from_fn(|c| bits(more[0][c]) | bits(more[1][c]) << 16),
        }
    }
}

/// SampledTexture coordinates at the first corner, and what the others add for their weights.
pub(crate) type Uvs = [[f32; 2]; 3];

/// From those of the corners.
pub(crate) fn uvs(uv: [[f64; 2]; 3]) -> Uvs {
    let more = |k: usize, c: usize| uv[k][c] - uv[0][c];
    [uv[0], [more(1, 0), more(1, 1)], [more(2, 0), more(2, 1)]].map(|uv| uv.map(|x| x as f32))
}

impl ShadedTriangle {
    /// True with it if its last two corners have changed places.
    pub(crate) fn new(
        mut p: [Point3<f64>; 3],
        mut n: [Vector3<f64>; 3],
        material: u32,
    ) -> (Self, bool) {
        // Files whose winding contradicts their normals are lit as their normals say.
        let winding = (p[1] - p[0]).cross(&(p[2] - p[0]));
        let turned = winding.dot(&(n[0] + n[1] + n[2])) < 0.0;
        if turned {
            p.swap(1, 2);
            n.swap(1, 2);
        }
        let (e1, e2) = (p[1] - p[0], p[2] - p[0]);
        let face = e1.cross(&e2);
        let scale = 1.0 / face.norm_squared();
        let weight = |g: Vector3<f64>| {
            let g: Vector3<f32> = (g * scale).cast();
            // Without area any weight will do.
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

/// Eight points of triangles.
pub(crate) struct SmoothNormals {
    /// Unit normals towards where rays come from.
    pub(crate) n: Vector3x8,
    /// Weights of the second and the third corner.
    pub(crate) weights: [f32x8; 2],
}

impl SmoothNormals {
    /// At points x, seen along d.
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
        // Bits 0x4b000000 are 2^23, to which the last bits add themselves.
        let (two23, low) = (i32x8::splat(0x4b00_0000), i32x8::splat(0xffff));
        let zero_at = f32x8::splat(8_388_608.0 + PackedNormals::ZERO as f32);
        let float = |bits: i32x8| bytemuck::cast::<_, f32x8>(bits | two23) - zero_at;
        let n: Vector3x8 = axes!(|c| {
            let bits = i32x8::new(each!(|t| t.normals.more[c] as i32));
            let first = f32x8::new(each!(|t| t.normals.first[c]));
            first + float(bits & low) * v + float((bits >> 16) & low) * w
        });
        // Seen from behind, a surface is lit like its front.
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
    /// Normal of the plane towards where d comes from, of any length.
    pub(crate) fn facing(&self, d: &Vector3<f32>) -> Vector3<f32> {
        let [gv, gw] = &self.to_weights;
        let n = gv.cross(gw);
        let n = n.try_normalize(0.0).unwrap_or(-d);
        if n.dot(d) > 0.0 { -n } else { n }
    }
    /// SampledTexture coordinates per metre, on average over directions.
    pub(crate) fn uv_per_metre(&self, [_, a, b]: &Uvs) -> f32 {
        let [gv, gw] = &self.to_weights;
        // The gradients span the reciprocal of the triangle's area.
        ((a[0] * b[1] - a[1] * b[0]).abs() * gv.cross(gw).norm()).sqrt()
    }
}

/// SampledTexture coordinates for the weights of the second and third corner.
pub(crate) fn uv_at([a, b, c]: &Uvs, [v, w]: [f32; 2]) -> [f32; 2] {
    std::array::from_fn(|k| a[k] + b[k] * v + c[k] * w)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normals_are_kept_in_little_space() {
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
                // Half a unit in the last of 15 bits, and the first corner's rounding.
                let most = 0.5 / 32767.0 * size + 1e-6;
                assert!((low / times - b[k]).abs() < most && (high / times - c[k]).abs() < most);
                assert!((f64::from(normals.first[k]) / times - a[k]).abs() < 1e-6);
            }
        }
        let none = PackedNormals::new([Vector3::zeros(); 3]);
        assert_eq!((none.first, none.more), ([0.0; 3], [0x8000_8000; 3]));
    }
}
