//! Colours of visible pixels: Lambert's law, without ambient light, as Drake's VTK engine draws.

use super::clusters::{ClusteredMesh, ShadedTriangle};
use super::kernels::LinearBlocks;
use super::pixels::Pixels;
use super::scene::Object;
use super::visual::Form;
use crate::render::{LightFrame, LightParameter, LightType};
use crate::shapes::Shape;
use nalgebra::{Isometry3, Matrix3, Vector3};
use wide::f32x8;

type Vector3x8 = [f32x8; 3];

/// A light in some frame.
#[derive(Clone, Copy, Debug)]
struct Light {
    light_type: LightType,
    color: [f32; 3],
    attenuation: [f32; 3],
    position: Vector3<f32>,
    /// Towards the light, unit length.
    towards: Vector3<f32>,
    cos_cone: f32,
}

/// The lights of an image, in the camera frame.
#[derive(Clone, Debug)]
pub(super) struct Lights(Vec<Light>);

impl Lights {
    pub(super) fn new(declared: &[LightParameter], x_wc: &Isometry3<f64>) -> Self {
        let lamp = [LightParameter::default()];
        let declared = if declared.is_empty() { &lamp } else { declared };
        Self(declared.iter().map(|l| Self::light(l, x_wc)).collect())
    }
    fn light(l: &LightParameter, x_wc: &Isometry3<f64>) -> Light {
        let x_cl = match l.frame {
            LightFrame::Camera => Isometry3::identity(),
            LightFrame::World => x_wc.inverse(),
        };
        let color = [l.color.r(), l.color.g(), l.color.b()];
        Light {
            light_type: l.light_type,
            color: color.map(|c| (c * l.intensity) as f32),
            attenuation: std::array::from_fn(|k| l.attenuation_values[k] as f32),
            position: (x_cl * nalgebra::Point3::from(l.position)).coords.cast(),
            towards: (x_cl.rotation * -l.direction.normalize()).cast(),
            cos_cone: l.cone_angle.to_radians().cos() as f32,
        }
    }
    /// The same lights in the frame of a geometry.
    fn seen_from(&self, o: &Object<'_>) -> Vec<Light> {
        let r: Matrix3<f32> = o.r.transpose().cast();
        let p: Vector3<f32> = o.p.cast();
        let turned = |l: &Light| Light {
            position: r * (l.position - p),
            towards: r * l.towards,
            ..*l
        };
        self.0.iter().map(turned).collect()
    }
}

impl Light {
    /// Light that arrives at points `x` with unit normals `n`.
    fn add(&self, x: &Vector3x8, n: &Vector3x8, sum: &mut Vector3x8) {
        let (towards, strength) = if self.light_type == LightType::Directional {
            (splat3(&self.towards), f32x8::ONE)
        } else {
            let p = splat3(&self.position);
            let way: Vector3x8 = std::array::from_fn(|k| p[k] - x[k]);
            let distance = dot(&way, &way).sqrt();
            let towards = way.map(|v| v / distance);
            let [a, b, c] = self.attenuation.map(f32x8::splat);
            let mut strength = f32x8::ONE / (a + distance * (b + c * distance));
            if self.light_type == LightType::Spot {
                let cos = dot(&towards, &splat3(&self.towards));
                strength &= cos.simd_ge(f32x8::splat(self.cos_cone));
            }
            (towards, strength)
        };
        let lambert = dot(n, &towards).max(f32x8::ZERO) * strength;
        for (sum, color) in sum.iter_mut().zip(self.color) {
            *sum += lambert * f32x8::splat(color);
        }
    }
}

fn splat3(v: &Vector3<f32>) -> Vector3x8 {
    [v.x, v.y, v.z].map(f32x8::splat)
}
fn dot(a: &Vector3x8, b: &Vector3x8) -> f32x8 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Everything needed to colour the pixels of one object.
pub(super) struct Shader<'a> {
    /// The camera in the geometry's frame (m).
    o: Vector3<f32>,
    /// Ray directions in the geometry's frame.
    d: [LinearBlocks; 3],
    lights: Vec<Light>,
    /// Size of a pixel at unit depth.
    pixel: f32,
    form: &'a Form,
}

impl<'a> Shader<'a> {
    pub(super) fn new(pixels: &Pixels, lights: &Lights, o: &Object<'a>) -> Self {
        let axis = |k: usize| LinearBlocks::new(pixels.linear(&o.r.column(k).into()));
        Self {
            o: (-(o.r.transpose() * o.p)).cast(),
            d: std::array::from_fn(axis),
            lights: lights.seen_from(o),
            pixel: (1.0 / pixels.focal[0]) as f32,
            form: &o.visual.form,
        }
    }
    /// Colours, in `[0, 1]` and above, of the eight pixels from `(px, py)` with inverse depths w.
    /// `parts` are indices of triangles.
    pub(super) fn block(
        &self,
        px: i32,
        py: i32,
        w: f32x8,
        parts: &[i32; 8],
        mask: u32,
    ) -> Vector3x8 {
        let (px, py) = (f64::from(px), f64::from(py));
        let d = self.d.map(|d| d.block(d.row(py), px));
        // Pixels of other objects may have w = 0; what comes out there is not used.
        let z = f32x8::ONE / w;
        let o = splat3(&self.o);
        let x: Vector3x8 = std::array::from_fn(|k| o[k] + d[k] * z);
        let (n, diffuse) = match self.form {
            Form::Shape { shape, diffuse } => {
                let n = normal(shape, &x);
                // Towards the camera: the inside of a surface is lit like its outside.
                let away = dot(&n, &d).simd_gt(f32x8::ZERO);
                (n.map(|v| away.bitselect(-v, v)), diffuse.map(f32x8::splat))
            }
            Form::Mesh(mesh) => self.mesh_block(mesh, &x, &d, z, parts, mask),
        };
        let mut light = [f32x8::ZERO; 3];
        for l in &self.lights {
            l.add(&x, &n, &mut light);
        }
        std::array::from_fn(|k| light[k] * diffuse[k])
    }
    fn mesh_block(
        &self,
        mesh: &ClusteredMesh,
        x: &Vector3x8,
        d: &Vector3x8,
        z: f32x8,
        parts: &[i32; 8],
        mask: u32,
    ) -> (Vector3x8, Vector3x8) {
        let mut n = [[0.0; 8]; 3];
        let mut diffuse = [[0.0; 8]; 3];
        let (x, d, z) = (x.map(f32x8::to_array), d.map(f32x8::to_array), z.to_array());
        for k in (0..8).filter(|k| mask >> k & 1 == 1) {
            let lane = |v: &[[f32; 8]; 3]| Vector3::new(v[0][k], v[1][k], v[2][k]);
            let triangle = &mesh.triangles[parts[k] as usize];
            let surface = &mesh.materials[triangle.material as usize];
            let (normal, weights) = triangle.at(&lane(&x), &lane(&d));
            let mut color = surface.diffuse;
            if let Some(texture) = &surface.texture {
                let footprint = self.pixel * z[k] * triangle.uv_per_metre();
                let sample = texture.sample(triangle.uv_at(weights), footprint);
                color = std::array::from_fn(|c| color[c] * sample[c]);
            }
            for c in 0..3 {
                n[c][k] = normal[c];
                diffuse[c][k] = color[c];
            }
        }
        let n = n.map(f32x8::new);
        let scale = f32x8::ONE / dot(&n, &n).fast_max(f32x8::splat(f32::MIN_POSITIVE)).sqrt();
        (n.map(|v| v * scale), diffuse.map(f32x8::new))
    }
}

impl ShadedTriangle {
    /// Normal, of any length, and weights of the second and third corner at x, seen along d.
    fn at(&self, x: &Vector3<f32>, d: &Vector3<f32>) -> (Vector3<f32>, [f32; 2]) {
        let q = x - self.p;
        let [gv, gw] = &self.to_weights;
        let v = q.dot(gv).clamp(0.0, 1.0);
        let w = q.dot(gw).clamp(0.0, 1.0 - v);
        let n = self.n[0] + self.n[1] * v + self.n[2] * w;
        // Seen from behind, a surface is lit like its front.
        let away = gv.cross(gw).dot(d) > 0.0;
        (if away { -n } else { n }, [v, w])
    }
    fn uv_at(&self, [v, w]: [f32; 2]) -> [f32; 2] {
        let [a, b, c] = &self.uv;
        std::array::from_fn(|k| a[k] + b[k] * v + c[k] * w)
    }
    /// Texture coordinates per metre, on average over directions.
    fn uv_per_metre(&self) -> f32 {
        let [_, a, b] = &self.uv;
        let [gv, gw] = &self.to_weights;
        // The gradients span the reciprocal of the triangle's area.
        ((a[0] * b[1] - a[1] * b[0]).abs() * gv.cross(gw).norm()).sqrt()
    }
}

/// Outward unit normals at points of a shape's surface, in its frame.
fn normal(shape: &Shape, x: &Vector3x8) -> Vector3x8 {
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
            // On the side or on a cap: where the point is nearer to.
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
        // The half space; other shapes are meshes.
        _ => [zero, zero, f32x8::ONE],
    }
}
