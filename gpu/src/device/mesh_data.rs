//! Meshes in the form that shaders read: triangles, materials and textures.

use crate::device::Device;
use crate::shader_source::{CLAMP, MIRROR, REPEAT, TRIANGLE};
use nalgebra::{Point3, Vector3};
use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};
use tarragon_geometry::Result;
use tarragon_geometry::mesh::{AlphaMode, RenderMesh, Wrap};
use tarragon_geometry::render::appearance::{
    MeshAppearance, ReflectionModel, SampledTexture, SurfaceMaterial,
};

/// Number of words of a material, and of the description of the mesh before the materials.
const MATERIAL: usize = 16;

/// Content of a mesh. Visuals with equal contents share one.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct MeshData {
    /// Triangles, then texture coordinates and colours.
    words: Vec<u32>,
    /// Places in `words`, then materials.
    materials: Vec<u32>,
    /// Textures (4 words each), then their levels (4 words each).
    textures: Vec<u32>,
    /// Pixels of all levels: two words of half floats each.
    texels: Vec<u32>,
    pub(crate) triangles: u32,
    /// Corners of the bounding box (m).
    pub(crate) bounds: [Point3<f64>; 2],
    pub(crate) has_model: bool,
}

/// Opacity of a mesh with its materials.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MeshOpacity {
    /// True if the background is visible through some triangle, other than by a mask.
    pub(crate) translucent: bool,
    /// True if a mask cuts out parts of some triangle.
    pub(crate) masked: bool,
}

/// Buffers of a mesh on a device.
pub(crate) struct MeshBuffers {
    pub(crate) group: wgpu::BindGroup,
}

/// A mesh, and its buffers on the present device.
pub(crate) struct GpuMesh {
    pub(crate) data: MeshData,
    uploaded: Mutex<Option<(u64, Arc<MeshBuffers>)>>,
}

impl MeshData {
    pub(crate) fn new(appearance: &MeshAppearance) -> Self {
        let MeshAppearance { mesh, materials } = appearance;
        let infinite = Vector3::repeat(f64::INFINITY);
        let mut data = Self {
            triangles: mesh.triangles.len() as u32,
            bounds: [Point3::from(infinite), Point3::from(-infinite)],
            has_model: materials.iter().any(|m| m.model.is_some()),
            ..Self::default()
        };
        data.push_triangles(mesh, &material_of(mesh));
        let mut textures = Textures::default();
        for (k, material) in materials.iter().enumerate() {
            let index = |t: &Option<Arc<SampledTexture>>, all: &mut Textures| {
                t.as_ref().map_or(0, |t| all.add(t) + 1)
            };
            let texture = index(&material.texture, &mut textures);
            let opacity = index(&material.opacity, &mut textures);
            // The colour of triangles without a material comes with each instance, so that visuals
            // of different colours share a mesh.
            let color = if k == 0 { [0.0; 4] } else { color_of(material) };
            data.push_material(material, color, [texture, opacity]);
        }
        (data.textures, data.texels) = textures.words();
        data
    }

    /// Returns a mesh without triangles, whose buffers have the sizes that shaders need.
    pub(crate) fn empty() -> Self {
        Self {
            materials: vec![0; 4 + MATERIAL],
            ..Self::default()
        }
    }

    fn push_triangles(&mut self, mesh: &RenderMesh, material_of: &[usize]) {
        let (mut uvs, mut colors): (Vec<f32>, Vec<f32>) = Default::default();
        for (t, triangle) in mesh.triangles.iter().enumerate() {
            let mut p = triangle.map(|v| mesh.positions[v as usize]);
            let mut n = mesh.triangle_normals[t].map(|n| mesh.normals[n as usize]);
            for p in &p {
                self.bounds = [self.bounds[0].inf(p), self.bounds[1].sup(p)];
            }
            // If the winding contradicts the normals, the normals decide.
            let winding = (p[1] - p[0]).cross(&(p[2] - p[0]));
            let turned = winding.dot(&(n[0] + n[1] + n[2])) < 0.0;
            if turned {
                p.swap(1, 2);
                n.swap(1, 2);
            }
            let (e1, e2) = (p[1] - p[0], p[2] - p[0]);
            let face = e1.cross(&e2);
            let scale = 1.0 / face.norm_squared();
            let finite = |v: Vector3<f64>| {
                let v: Vector3<f32> = v.cast();
                // A triangle without area may have any weights.
                if v.iter().all(|x| x.is_finite()) {
                    v
                } else {
                    Vector3::zeros()
                }
            };
            let mut push = |v: Vector3<f32>| self.words.extend(v.iter().map(|x| x.to_bits()));
            p.iter().for_each(|p| push(p.coords.cast()));
            push(finite(e2.cross(&face) * scale));
            push(finite(face.cross(&e1) * scale));
            for v in [n[0], n[1] - n[0], n[2] - n[0]] {
                push(v.cast());
            }
            push(finite(face * scale.sqrt()));
            self.words.push((material_of[t] as f32).to_bits());
            if let Some(t) = mesh.triangle_uvs.get(t) {
                let mut uv = t.map(|i| mesh.uvs.get(i as usize).copied().unwrap_or_default());
                if turned {
                    uv.swap(1, 2);
                }
                let more = |k: usize| [0, 1].map(|c| uv[k][c] - uv[0][c]);
                let all = [uv[0], more(1), more(2)];
                uvs.extend(all.iter().flatten().map(|x| *x as f32));
            }
            if !mesh.colors.is_empty() {
                let mut all = triangle.map(|v| mesh.colors[v as usize]);
                if turned {
                    all.swap(1, 2);
                }
                colors.extend(all.iter().flatten());
            }
        }
        debug_assert_eq!(self.words.len(), TRIANGLE * mesh.triangles.len());
        for list in [uvs, colors] {
            let first = if list.is_empty() {
                0
            } else {
                self.words.len() as u32
            };
            self.materials.push(first);
            self.words.extend(list.iter().map(|x| x.to_bits()));
        }
        self.materials.extend([0, 0]);
    }

    fn push_material(
        &mut self,
        material: &SurfaceMaterial,
        [r, g, b, a]: [f32; 4],
        textures: [u32; 2],
    ) {
        let model = material.model.unwrap_or(ReflectionModel::PROMOTED);
        let cutoff = match material.alpha_mode {
            AlphaMode::Mask(cutoff) => cutoff as f32,
            AlphaMode::Opaque | AlphaMode::Blend => -1.0,
        };
        let [er, eg, eb] = model.emissive;
        let floats = [
            r,
            g,
            b,
            a,
            er,
            eg,
            eb,
            0.0,
            model.metallic,
            model.roughness,
            cutoff,
        ];
        self.materials.extend(floats.map(f32::to_bits));
        self.materials.extend(textures);
        self.materials.extend([0; MATERIAL - 13]);
    }

    /// Returns the largest buffer of the mesh: what it holds, and its size (bytes).
    fn largest(&self) -> (&'static str, usize) {
        let (triangles, texels) = (self.words.len(), self.texels.len());
        if triangles >= texels {
            ("the triangles of a mesh", 4 * triangles)
        } else {
            ("the textures of a mesh", 4 * texels)
        }
    }
    /// Checks that the mesh fits on a device.
    pub(crate) fn check(&self, device: &Device) -> Result<()> {
        let (what, bytes) = self.largest();
        device.check_storage(what, bytes)
    }
    /// Returns a hash of the content.
    pub(crate) fn hash(&self) -> u64 {
        let mut hasher = foldhash::fast::FixedState::default().build_hasher();
        for part in [&self.words, &self.materials, &self.textures, &self.texels] {
            part.hash(&mut hasher);
        }
        hasher.finish()
    }
}

/// Returns the material of every triangle.
fn material_of(mesh: &RenderMesh) -> Vec<usize> {
    let mut material_of = vec![0; mesh.triangles.len()];
    for group in &mesh.groups {
        material_of[group.triangles.clone()].fill(group.material.map_or(0, |m| m + 1));
    }
    material_of
}

/// Returns colour and opacity of a material.
pub(crate) fn color_of(material: &SurfaceMaterial) -> [f32; 4] {
    let [r, g, b] = material.diffuse;
    [r, g, b, material.alpha]
}

impl MeshOpacity {
    pub(crate) fn of(appearance: &MeshAppearance) -> Self {
        let MeshAppearance { mesh, materials } = appearance;
        let mut found = Self::default();
        for (triangle, material) in mesh.triangles.iter().zip(material_of(mesh)) {
            let colors = triangle.map(|v| mesh.colors.get(v as usize));
            let vertex_alpha = colors.into_iter().flatten().any(|c| c[3] < 1.0);
            let material = &materials[material];
            if material.is_translucent(vertex_alpha) {
                match material.alpha_mode {
                    AlphaMode::Mask(_) => found.masked = true,
                    AlphaMode::Opaque | AlphaMode::Blend => found.translucent = true,
                }
            }
        }
        found
    }
}

impl GpuMesh {
    pub(crate) fn new(data: MeshData) -> Self {
        Self {
            data,
            uploaded: Mutex::default(),
        }
    }
    /// Returns the buffers on a device, and creates them if needed.
    pub(crate) fn on(&self, device: &Device) -> Arc<MeshBuffers> {
        let mut uploaded = self.uploaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((generation, buffers)) = &*uploaded
            && *generation == device.generation
        {
            return buffers.clone();
        }
        let buffers = Arc::new(MeshBuffers::new(device, &self.data));
        *uploaded = Some((device.generation, buffers.clone()));
        buffers
    }
}

impl MeshBuffers {
    pub(crate) fn new(device: &Device, data: &MeshData) -> Self {
        let storage = wgpu::BufferUsages::STORAGE;
        let buffers = [
            device.buffer(&data.words, storage),
            device.buffer(&data.materials, storage),
            device.buffer(&data.textures, storage),
            device.buffer(&data.texels, storage),
        ];
        let entries: Vec<_> = (0..)
            .zip(&buffers)
            .map(|(binding, buffer)| wgpu::BindGroupEntry {
                binding,
                resource: buffer.as_entire_binding(),
            })
            .collect();
        let group = device.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("mesh"),
            layout: &device.pipelines.mesh,
            entries: &entries,
        });
        Self { group }
    }
}

/// Textures of a mesh, each stored once.
#[derive(Default)]
struct Textures {
    all: Vec<Arc<SampledTexture>>,
    known: BTreeMap<usize, u32>,
}

impl Textures {
    fn add(&mut self, texture: &Arc<SampledTexture>) -> u32 {
        let next = self.all.len() as u32;
        let address = Arc::as_ptr(texture).addr();
        *self.known.entry(address).or_insert_with(|| {
            self.all.push(texture.clone());
            next
        })
    }
    /// Returns the descriptions of textures and levels, and the texels.
    fn words(&self) -> (Vec<u32>, Vec<u32>) {
        let (mut infos, mut levels, mut texels) = (Vec::new(), Vec::new(), Vec::new());
        let wrap = |w: Wrap| match w {
            Wrap::Repeat => REPEAT,
            Wrap::MirroredRepeat => MIRROR,
            Wrap::ClampToEdge => CLAMP,
        };
        for texture in &self.all {
            let first = (self.all.len() + levels.len() / 4) as u32;
            let [u, v] = texture.wrap().map(wrap);
            infos.extend([first, texture.levels().len() as u32, u, v]);
            for level in texture.levels() {
                let first = (texels.len() / 2) as u32;
                levels.extend([level.width as u32, level.height as u32, first, 0]);
                for [r, g, b, a] in &level.pixels {
                    texels.extend([pack(*r, *g), pack(*b, *a)]);
                }
            }
        }
        infos.extend(levels);
        (infos, texels)
    }
}

/// Packs two numbers as half floats, the first one in the low bits.
fn pack(a: f32, b: f32) -> u32 {
    u32::from(half(a)) | u32::from(half(b)) << 16
}

/// Rounds a number that is not negative to the nearest half float; at most the largest one.
fn half(x: f32) -> u16 {
    // The largest finite half float.
    const MOST: f32 = 65504.0;
    let x = if x > 0.0 { x.min(MOST) } else { 0.0 };
    // Below 2^-14, half floats are multiples of 2^-24.
    if x < 6.103_515_6e-5 {
        return (x * 16_777_216.0).round() as u16;
    }
    let bits = x.to_bits();
    // Shifts the exponent from bias 127 to 15, and rounds the 13 bits that are lost.
    let rounded = bits - (112 << 23) + 0xfff + (bits >> 13 & 1);
    (rounded >> 13) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn float(h: u16) -> f32 {
        let (e, m) = (i32::from(h >> 10), f32::from(h & 0x3ff));
        match e {
            0 => m * 2.0_f32.powi(-24),
            _ => (1.0 + m / 1024.0) * 2.0_f32.powi(e - 15),
        }
    }

    #[test]
    fn half_floats_round_to_the_nearest() {
        for h in 0..0x7c00 {
            assert_eq!(half(float(h)), h);
        }
        for (x, rounded) in [
            (-1.0, 0.0),
            (1.0 + 0.0004, 1.0),
            (1.0 + 0.0006, 1.0 + 1.0 / 1024.0),
            (1e9, 65504.0),
            (f32::NAN, 0.0),
        ] {
            assert_eq!(float(half(x)), rounded, "{x}");
        }
    }
}
