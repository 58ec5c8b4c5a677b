//! Shading of visible pixels: Lambert's law without ambient light, as in Drake's VTK engine, or
//! the physically based reflection of [`super::pbr`].

use super::lights::add_lambert;
use super::mesh_samples::MeshSamples;
use super::pbr::Reflector;
use super::shape_normals::normal;
use crate::render::appearance::{
    EnvironmentLight, GAMMA, LightList, Lights, PlacedLight, ReflectionModel,
};
use crate::render::cpu::gamma::to_screen;
use crate::render::cpu::raster::LinearBlocks;
use crate::render::cpu::setup::{Scene, Shadows};
use crate::render::cpu::simd::{Vector3x8, dot, splat_all, splat3};
use crate::render::cpu::store::{ClusteredMesh, ShadedTriangle, SmoothNormals, Visual, VisualForm};
use crate::render::projection::PoseInCamera;
use nalgebra::{Matrix3, Vector3};
use wide::f32x8;

/// Environment and `R_WC`.
pub(crate) type PlacedEnvironment<'a> = Option<(&'a EnvironmentLight, Matrix3<f64>)>;

/// Shader of one visual's pixels.
pub(crate) struct Shader<'a> {
    /// Position of the camera in the geometry's frame (m).
    o: Vector3<f32>,
    /// Ray directions in the geometry's frame.
    d: [LinearBlocks; 3],
    /// Lights in the geometry's frame, and in the camera's.
    lights: LightList,
    in_camera: &'a [PlacedLight],
    scene: &'a Scene<'a>,
    shadows: Option<&'a Shadows>,
    /// Size of a pixel at unit depth (m).
    pixel: f32,
    object: &'a PoseInCamera,
    visual: &'a Visual,
    /// True if the reflection is physically based: some material is not matt, or there is an
    /// environment.
    physical: bool,
    environment: PlacedEnvironment<'a>,
}

/// Depths of a block of eight pixels in a row.
#[derive(Clone, Copy)]
struct BlockDepths {
    /// First pixel.
    px: f64,
    py: f64,
    /// Depths (m).
    z: f32x8,
    /// Bit mask of the pixels to shade.
    mask: u32,
}

/// Eight surface points.
struct ShadingPoints {
    /// Unit normals on the camera's side.
    n: Vector3x8,
    /// Face normals of any length; only valid if there are shadows.
    flat: Vector3x8,
    color: Vector3x8,
    alpha: f32x8,
    /// Metalness and roughness.
    model: [f32x8; 2],
    /// Part of the light that arrives.
    occlusion: f32x8,
    emissive: Vector3x8,
}

impl<'a> Shader<'a> {
    pub(crate) fn new(
        scene: &'a Scene<'a>,
        lights: &'a Lights,
        object: &'a PoseInCamera,
        visual: &'a Visual,
        environment: PlacedEnvironment<'a>,
    ) -> Self {
        let pixels = scene.pixels();
        let axis = |k: usize| LinearBlocks::new(pixels.linear(&object.r.column(k).into()));
        Self {
            o: (-(object.r.transpose() * object.p)).cast(),
            d: std::array::from_fn(axis),
            lights: lights.seen_from(object),
            in_camera: &lights.0,
            scene,
            shadows: scene.shadows(),
            pixel: (1.0 / pixels.focal[0]) as f32,
            object,
            visual,
            physical: environment.is_some() || visual.has_model(),
            environment,
        }
    }
    /// Returns the screen colours, from 0 and possibly above 1, and the opacities of the eight
    /// pixels from `(px, py)` on with inverse depths w. `parts` are indices of triangles, all of
    /// the same `material` if it is given. Pixels outside `mask` have no meaning.
    // Inlined, so that the simple case stays in the loop over pixels; the other cases are calls.
    #[inline(always)]
    pub(crate) fn block(
        &self,
        px: i32,
        py: i32,
        w: f32x8,
        parts: &[i32; 8],
        mask: u32,
        material: Option<u32>,
    ) -> (Vector3x8, f32x8) {
        let (px, py) = (f64::from(px), f64::from(py));
        // Written out: `map` over blocks is not inlined.
        let axis = |k: usize| self.d[k].block(self.d[k].row(py), px);
        let d = [axis(0), axis(1), axis(2)];
        // Pixels of other visuals may have w = 0; their results are not used.
        let z = f32x8::ONE / w;
        let at = BlockDepths { px, py, z, mask };
        let o = splat3(&self.o);
        let x: Vector3x8 = std::array::from_fn(|k| o[k] + d[k] * z);
        if let VisualForm::Shape {
            shape,
            diffuse,
            alpha,
        } = &self.visual.form
        {
            let n = normal(shape, &x);
            // Flipped towards the camera, because the inside of a surface is lit like its outside.
            let away = dot(&n, &d).simd_gt(f32x8::ZERO);
            let n = n.map(|v| away.bitselect(-v, v));
            let alpha = f32x8::splat(*alpha);
            if !self.physical && self.shadows.is_none() {
                let mut light = [f32x8::ZERO; 3];
                for l in &self.lights {
                    let (towards, strength) = l.arriving(&x);
                    add_lambert(l, &n, &towards, strength, &mut light);
                }
                return (
                    std::array::from_fn(|k| light[k] * f32x8::splat(diffuse[k])),
                    alpha,
                );
            }
            let points = ShadingPoints {
                n,
                flat: n,
                color: diffuse.map(f32x8::splat),
                alpha,
                model: [
                    ReflectionModel::PROMOTED.metallic,
                    ReflectionModel::PROMOTED.roughness,
                ]
                .map(f32x8::splat),
                occlusion: f32x8::ONE,
                emissive: [f32x8::ZERO; 3],
            };
            return (self.color(&points, &x, &d, at), alpha);
        }
        self.mesh_color(&x, &d, at, parts, material)
    }
    #[inline(never)]
    fn mesh_color(
        &self,
        x: &Vector3x8,
        d: &Vector3x8,
        at: BlockDepths,
        parts: &[i32; 8],
        material: Option<u32>,
    ) -> (Vector3x8, f32x8) {
        let VisualForm::Mesh(mesh) = &self.visual.form else {
            return ([f32x8::ZERO; 3], f32x8::ZERO);
        };
        // Lanes outside the mask repeat the first lane inside.
        let first = at.mask.trailing_zeros() as usize;
        let part = |k: usize| parts[if at.mask >> k & 1 == 1 { k } else { first }] as usize;
        // Written out: `map` over blocks is not inlined.
        let parts = [
            part(0),
            part(1),
            part(2),
            part(3),
            part(4),
            part(5),
            part(6),
            part(7),
        ];
        let triangle = |k: usize| &mesh.triangles[parts[k]];
        let triangles = [
            triangle(0),
            triangle(1),
            triangle(2),
            triangle(3),
            triangle(4),
            triangle(5),
            triangle(6),
            triangle(7),
        ];
        let plain = self.plain_mesh_block(mesh, x, d, &triangles, material);
        let points = plain.unwrap_or_else(|| {
            let smooth = SmoothNormals::at(&triangles, x, d);
            self.mesh_block(mesh, &smooth, d, at.z, &parts, at.mask)
        });
        (self.color(&points, x, d, at), points.alpha)
    }
    /// Returns screen colours by either reflection model.
    #[inline(never)]
    fn color(
        &self,
        points: &ShadingPoints,
        x: &Vector3x8,
        d: &Vector3x8,
        at: BlockDepths,
    ) -> Vector3x8 {
        if self.physical {
            return self.reflected(points, x, d, at);
        }
        let mut light = [f32x8::ZERO; 3];
        for (i, l) in self.lights.iter().enumerate() {
            let (towards, strength) = l.arriving(x);
            let strength = self.lit(i, strength, &towards, points, at);
            add_lambert(l, &points.n, &towards, strength, &mut light);
        }
        std::array::from_fn(|k| light[k] * points.color[k])
    }
    /// Returns screen colours by the model of [`super::pbr`].
    fn reflected(
        &self,
        points: &ShadingPoints,
        x: &Vector3x8,
        d: &Vector3x8,
        at: BlockDepths,
    ) -> Vector3x8 {
        let [metallic, roughness] = points.model;
        let reflector = Reflector::new(points.n, d, &points.color, metallic, roughness);
        let mut sum = [f32x8::ZERO; 3];
        for (i, l) in self.lights.iter().enumerate() {
            let (towards, strength) = l.arriving(x);
            let strength = self.lit(i, strength, &towards, points, at);
            reflector.add(&towards, strength, l.color, &mut sum);
        }
        if let Some((environment, r_wc)) = self.environment {
            let r_wg = (r_wc * self.object.r).cast();
            reflector.add_environment(environment, &r_wg, at.mask, &mut sum);
        }
        // Occlusion weakens all light, not only that of the environment: VTK, which Drake uses,
        // does the same.
        to_screen(std::array::from_fn(|k| {
            sum[k] * points.occlusion + points.emissive[k]
        }))
    }
    /// Returns the strength of a light, zero in shadow. Shadows are not traced for points that face
    /// away from the light, where the strength does not matter.
    #[inline(always)]
    fn lit(
        &self,
        i: usize,
        strength: f32x8,
        towards: &Vector3x8,
        points: &ShadingPoints,
        at: BlockDepths,
    ) -> f32x8 {
        match self.shadows {
            Some(shadows) if self.in_camera[i].casts_shadows => {
                let facing = dot(&points.n, towards).simd_gt(f32x8::ZERO);
                let light = &self.in_camera[i];
                self.in_shadow(shadows, light, strength & facing, &points.flat, at)
            }
            _ => strength,
        }
    }
    fn in_shadow(
        &self,
        shadows: &Shadows,
        light: &PlacedLight,
        strength: f32x8,
        n: &Vector3x8,
        at: BlockDepths,
    ) -> f32x8 {
        let BlockDepths { px, py, z, mask } = at;
        let (mut strength, z) = (strength.to_array(), z.to_array());
        let n = n.map(f32x8::to_array);
        let visuals = |number| (self.scene.visual(number), self.scene.object(number));
        for k in (0..8).filter(|k| mask >> k & 1 == 1) {
            if strength[k] <= 0.0 {
                continue;
            }
            let ray = self.scene.pixels().ray(px + k as f64, py);
            let p = ray * f64::from(z[k]);
            let normal = Vector3::new(n[0][k], n[1][k], n[2][k]).cast();
            let normal = (self.object.r * normal).try_normalize(0.0).unwrap_or(-ray);
            let (towards, distance) = light.seen_at(&p);
            if !shadows.is_lit(&visuals, &p, &normal, &towards, distance) {
                strength[k] = 0.0;
            }
        }
        f32x8::new(strength)
    }
    /// Returns the shading points if all of them have one material, without textures, vertex
    /// colours or shadows; `None` otherwise.
    #[inline(always)]
    fn plain_mesh_block(
        &self,
        mesh: &ClusteredMesh,
        x: &Vector3x8,
        d: &Vector3x8,
        triangles: &[&ShadedTriangle; 8],
        material: Option<u32>,
    ) -> Option<ShadingPoints> {
        let all = |first: u32| triangles.iter().all(|t| t.material == first);
        let material = material.or_else(|| Some(triangles[0].material).filter(|m| all(*m)))?;
        let surface = &mesh.materials[material as usize];
        if surface.is_textured() || !mesh.colors.is_empty() || self.shadows.is_some() {
            return None;
        }
        let model = surface.model.unwrap_or(ReflectionModel::PROMOTED);
        let (occlusion, emissive) = model.lit(surface.diffuse, 1.0, model.emissive);
        Some(ShadingPoints {
            n: SmoothNormals::at(triangles, x, d).n,
            flat: [f32x8::ZERO; 3],
            color: splat_all(&surface.diffuse),
            alpha: f32x8::splat(surface.drawn_alpha(surface.alpha)),
            model: [f32x8::splat(model.metallic), f32x8::splat(model.roughness)],
            occlusion: f32x8::splat(occlusion),
            emissive: splat_all(&emissive),
        })
    }
    fn mesh_block(
        &self,
        mesh: &ClusteredMesh,
        smooth: &SmoothNormals,
        d: &Vector3x8,
        z: f32x8,
        parts: &[usize; 8],
        mask: u32,
    ) -> ShadingPoints {
        let mut flat = [[0.0; 8]; 3];
        let mut diffuse = [[0.0; 8]; 3];
        let mut emissive = [[0.0; 8]; 3];
        let mut alphas = [1.0; 8];
        let mut model = [[0.0; 8]; 2];
        let mut occlusion = [1.0; 8];
        let mut normals = smooth.n.map(f32x8::to_array);
        let (d, z) = (d.map(f32x8::to_array), z.to_array());
        let all_weights = smooth.weights.map(f32x8::to_array);
        for k in (0..8).filter(|k| mask >> k & 1 == 1) {
            let lane = |v: &[[f32; 8]; 3]| Vector3::new(v[0][k], v[1][k], v[2][k]);
            let part = parts[k];
            let triangle = &mesh.triangles[part];
            let surface = &mesh.materials[triangle.material as usize];
            let weights = all_weights.map(|w| w[k]);
            let (mut color, mut alpha) = (surface.diffuse, surface.alpha);
            let samples = MeshSamples {
                mesh,
                part,
                weights,
                pixel: self.pixel * z[k],
            };
            if let Some(texture) = &surface.texture {
                let [r, g, b, a] = samples.of(texture);
                let mut sample = [r, g, b];
                if self.physical {
                    sample = sample.map(|c| c.powf(GAMMA));
                }
                color = std::array::from_fn(|c| color[c] * sample[c]);
                alpha *= a;
            }
            if let Some(opacity) = &surface.opacity {
                alpha *= samples.of(opacity)[0];
            }
            if let Some([a, b, c]) = mesh.colors.get(part) {
                let [v, w] = weights;
                let at = |k: usize| a[k] + (b[k] - a[k]) * v + (c[k] - a[k]) * w;
                color = std::array::from_fn(|c| color[c] * at(c));
                alpha *= at(3);
            }
            (0..3).for_each(|c| diffuse[c][k] = color[c]);
            alphas[k] = surface.drawn_alpha(alpha);
            if self.physical {
                let mut found = surface.model.unwrap_or(ReflectionModel::PROMOTED);
                let mut occluded = 1.0;
                if let Some(maps) = &surface.maps {
                    occluded = samples.apply(maps, &mut found);
                    if let Some(map) = &maps.normal {
                        let smooth = Vector3::new(normals[0][k], normals[1][k], normals[2][k]);
                        let n = samples.normal(map, maps.normal_scale, smooth, &lane(&d));
                        (0..3).for_each(|c| normals[c][k] = n[c]);
                    }
                }
                model[0][k] = found.metallic;
                model[1][k] = found.roughness;
                let (arrives, emitted) = found.lit(color, occluded, found.emissive);
                occlusion[k] = arrives;
                (0..3).for_each(|c| emissive[c][k] = emitted[c]);
            }
            if self.shadows.is_some() {
                let normal = triangle.facing(&lane(&d));
                (0..3).for_each(|c| flat[c][k] = normal[c]);
            }
        }
        ShadingPoints {
            n: normals.map(f32x8::new),
            flat: flat.map(f32x8::new),
            color: diffuse.map(f32x8::new),
            alpha: f32x8::new(alphas),
            model: model.map(f32x8::new),
            occlusion: f32x8::new(occlusion),
            emissive: emissive.map(f32x8::new),
        }
    }
}
