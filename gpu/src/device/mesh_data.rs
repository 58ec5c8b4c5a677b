//! Meshes in the form that shaders read: triangles, materials and textures.

use crate::device::Device;
use crate::device::texture_data::Textures;
use crate::shader_source::TRIANGLE;
use nalgebra::{Point3, Vector3};
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};
use tarragon_geometry::Result;
use tarragon_geometry::mesh::{AlphaMode, RenderMesh};
use tarragon_geometry::render::appearance::{
    MeshAppearance, ReflectionModel, SurfaceMaterial, is_turned,
};

/// Number of words of a material.
const MATERIAL: usize = 20;

/// Content of a mesh. Visuals with equal contents share one.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct MeshData {
    /// Triangles, then texture coordinates, colours and tangents.
    words: Vec<u32>,
    /// Places in `words`, then materials.
    materials: Vec<u32>,
    /// Placed textures (12 words each), then their levels (4 words each).
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
            // The colour of triangles without a material comes with each instance, so that visuals
            // of different colours share a mesh.
            let color = if k == 0 { [0.0; 4] } else { color_of(material) };
            data.push_material(material, color, &mut textures);
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
        let (mut colors, mut tangents): (Vec<f32>, Vec<f32>) = Default::default();
        let mut sets = [&mesh.triangle_uvs, &mesh.triangle_second_uvs]
            .map(|indices| (Vec::<f32>::new(), indices));
        for (t, triangle) in mesh.triangles.iter().enumerate() {
            let mut p = triangle.map(|v| mesh.positions[v as usize]);
            let mut n = mesh.triangle_normals[t].map(|n| mesh.normals[n as usize]);
            for p in &p {
                self.bounds = [self.bounds[0].inf(p), self.bounds[1].sup(p)];
            }
            let turned = is_turned(&p, &n);
            let order = if turned { [0, 2, 1] } else { [0, 1, 2] };
            (p, n) = (order.map(|k| p[k]), order.map(|k| n[k]));
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
            for (set, (uvs, indices)) in sets.iter_mut().enumerate() {
                if indices.is_empty() {
                    continue;
                }
                let corners = mesh.uvs_of(t, set);
                let uv = order.map(|k| corners[k]);
                let more = |k: usize| [0, 1].map(|c| uv[k][c] - uv[0][c]);
                let all = [uv[0], more(1), more(2)];
                uvs.extend(all.iter().flatten().map(|x| *x as f32));
            }
            if !mesh.colors.is_empty() {
                let corners = order.map(|k| mesh.colors[triangle[k] as usize]);
                colors.extend(corners.iter().flatten());
            }
            if let Some(corners) = mesh.triangle_tangents.get(t) {
                tangents.extend(order.map(|k| corners[k]).iter().flatten());
            }
        }
        debug_assert_eq!(self.words.len(), TRIANGLE * mesh.triangles.len());
        let [(uvs, _), (second_uvs, _)] = sets;
        for list in [uvs, colors, second_uvs, tangents] {
            let first = if list.is_empty() {
                0
            } else {
                self.words.len() as u32
            };
            self.materials.push(first);
            self.words.extend(list.iter().map(|x| x.to_bits()));
        }
    }

    fn push_material(
        &mut self,
        material: &SurfaceMaterial,
        color: [f32; 4],
        textures: &mut Textures,
    ) {
        let model = material.model.unwrap_or(ReflectionModel::PROMOTED);
        let cutoff = match material.alpha_mode {
            AlphaMode::Mask(cutoff) => cutoff as f32,
            AlphaMode::Opaque | AlphaMode::Blend => -1.0,
        };
        let [er, eg, eb] = model.emissive;
        let maps = material.maps.as_deref();
        let normal_scale = maps.map_or(1.0, |maps| maps.normal_scale);
        let occlusion_strength = maps.map_or(0.0, |maps| maps.occlusion_strength);
        let floats = |all: [f32; 4]| all.map(f32::to_bits);
        self.materials.extend(floats(color));
        self.materials
            .extend(floats([er, eg, eb, occlusion_strength]));
        let scalars = [model.metallic, model.roughness, cutoff, normal_scale];
        self.materials.extend(floats(scalars));
        let of_maps = [
            maps.and_then(|maps| maps.normal.as_ref()),
            maps.and_then(|maps| maps.metallic_roughness.as_ref()),
            maps.and_then(|maps| maps.occlusion.as_ref()),
            maps.and_then(|maps| maps.emissive.as_ref()),
        ];
        let all = [material.texture.as_ref(), material.opacity.as_ref()];
        for map in all.into_iter().chain(of_maps) {
            self.materials
                .push(map.map_or(0, |map| textures.add(map) + 1));
        }
        self.materials.extend([u32::from(model.unlit), 0]);
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
