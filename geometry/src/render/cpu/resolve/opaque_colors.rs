//! Colours of opaque surfaces.

use super::frame_storage::{FrameStorage, recycled};
use super::pass::put;
use crate::render::appearance::Lights;
use crate::render::cpu::raster::Tile;
use crate::render::cpu::setup::Scene;
use crate::render::cpu::shade::{PlacedEnvironment, Shader};
use crate::render::cpu::simd::Vector3x8;
use crate::render::cpu::store::{NO_ID, ShadedTriangle, VisualForm};
use crate::rgba::Rgba;
use std::ops::Range;
use std::sync::OnceLock;
use wide::{bytemuck, f32x8, i32x8};

/// Eight pixels in a row, with what they show.
pub(crate) struct ShownPixels {
    /// First pixel.
    pub(crate) px: i32,
    pub(crate) py: i32,
    /// Inverse depths (1/m).
    pub(crate) w: f32x8,
    pub(crate) ids: i32x8,
}

/// Colours of opaque surfaces. Ids are those of parts.
pub(crate) struct OpaqueColors<'a> {
    scene: &'a Scene<'a>,
    lights: &'a Lights,
    environment: PlacedEnvironment<'a>,
    /// Upper limit of colours before blending.
    most: f32,
    /// Shaders by number of the visual, each created by the first thread that needs it.
    shaders: Vec<OnceLock<Shader<'a>>>,
    clear: u32,
}

impl<'a> OpaqueColors<'a> {
    /// Takes storage that [`OpaqueColors::store`] returns.
    pub(crate) fn new(
        storage: &mut FrameStorage,
        scene: &'a Scene<'a>,
        lights: &'a Lights,
        environment: PlacedEnvironment<'a>,
        clear: Rgba,
        most: f32,
    ) -> Self {
        let mut shaders = recycled(std::mem::take(&mut storage.shaders));
        shaders.resize_with(scene.len(), OnceLock::new);
        let [r, g, b, a] = clear.rgba().map(|c| (c * 255.0).round() as u8);
        Self {
            scene,
            lights,
            environment,
            most,
            shaders,
            clear: u32::from_le_bytes([r, g, b, a]),
        }
    }
    /// Returns the storage for the next image.
    pub(crate) fn store(self, storage: &mut FrameStorage) {
        storage.shaders = recycled(self.shaders);
    }
    /// Shades those of eight pixels that show the same visual as the first pixel of `open`. Returns
    /// their colours and opacities, and the mask of these pixels.
    #[inline(always)]
    fn shade_one(
        &self,
        pixels: &ShownPixels,
        open: u32,
        last: &mut usize,
        material: Option<u32>,
    ) -> ((Vector3x8, f32x8), i32x8) {
        let parts = pixels.ids.to_array();
        let id = parts[open.trailing_zeros() as usize];
        let plan = self.scene.plan;
        // Usually the visual of the previous pixels.
        if !plan.parts(*last).contains(&id) {
            *last = plan.owner(id);
        }
        let (number, Range { start, end }) = (*last, plan.parts(*last));
        let ids = pixels.ids;
        let mine = ids.simd_gt(i32x8::splat(start - 1)) & ids.simd_lt(i32x8::splat(end));
        let shader = self.shaders[number].get_or_init(|| {
            let object = self.scene.object(number);
            let object = object.expect("a visible visual has a pose");
            let visual = self.scene.visual(number);
            Shader::new(self.scene, self.lights, object, visual, self.environment)
        });
        let mask = mine.to_bitmask() & 0xff;
        let parts = (ids - i32x8::splat(start)).to_array();
        let ShownPixels { px, py, w, .. } = *pixels;
        (shader.block(px, py, w, &parts, mask, material), mine)
    }
    /// Returns the material of everything that the tile shows, if that is one mesh with one
    /// material. Shading would otherwise wait for the memory of triangles block by block; here the
    /// loads of a whole tile overlap.
    pub(crate) fn material(&self, tile: &Tile) -> Option<u32> {
        if !tile.has_triangles() {
            return None;
        }
        let (mut start, mut triangles): (i32, &[ShadedTriangle]) = (0, &[]);
        let (mut first, mut others, mut number) = (None, 0, None);
        for ids in tile.ids() {
            let open = occupied(*ids);
            if open == 0 {
                continue;
            }
            let ids = ids.as_array();
            let of = |id: i32| (id.wrapping_sub(start)) as u32 as usize;
            let id = ids[open.trailing_zeros() as usize];
            if of(id) >= triangles.len() {
                let owner = self.scene.plan.owner(id);
                others |= u32::from(number.is_some_and(|n| n != owner));
                if let VisualForm::Mesh(mesh) = &self.scene.visual(owner).form {
                    number = Some(owner);
                    start = self.scene.plan.parts(owner).start;
                    triangles = &mesh.triangles;
                }
            }
            let of = |id: i32| triangles.get((id.wrapping_sub(start)) as u32 as usize);
            let first = *first.get_or_insert_with(|| of(id).map_or(0, |t| t.material));
            for id in ids {
                others |= match of(*id) {
                    Some(t) => t.material ^ first,
                    None => u32::from(*id != NO_ID),
                };
            }
        }
        first.filter(|_| others == 0)
    }
    /// Blends the surfaces of eight pixels over their colours.
    pub(crate) fn shade(&self, pixels: &ShownPixels, last: &mut usize, color: &mut Vector3x8) {
        let mut open = occupied(pixels.ids);
        while open != 0 {
            let ((rgb, alpha), mine) = self.shade_one(pixels, open, last, None);
            open &= !(mine.to_bitmask() & 0xff);
            let mine: f32x8 = bytemuck::cast(mine);
            for (color, new) in color.iter_mut().zip(rgb) {
                let new = new.fast_max(f32x8::ZERO).fast_min(f32x8::splat(self.most));
                let mixed = new * alpha + *color * (f32x8::ONE - alpha);
                *color = mine.bitselect(mixed, *color);
            }
        }
    }
    /// Writes the pixels of a tile's row in an image without optional parts.
    pub(crate) fn finish(
        &self,
        tile: &Tile,
        row: usize,
        out: &mut [u8],
        material: Option<u32>,
        last: &mut usize,
    ) {
        let rect = tile.rect();
        let py = rect.y0 + row as i32;
        let blocks = tile.w_row(row).iter().zip(tile.id_row(row));
        for (k, ((w, ids), out)) in blocks.zip(out.chunks_mut(32)).enumerate() {
            let px = rect.x0 + 8 * k as i32;
            let mut color = i32x8::splat(self.clear as i32);
            let mut open = occupied(*ids);
            let pixels = ShownPixels {
                px,
                py,
                w: *w,
                ids: *ids,
            };
            while open != 0 {
                let ((rgb, _), mine) = self.shade_one(&pixels, open, last, material);
                color = mine.bitselect(pack(rgb), color);
                open &= !(mine.to_bitmask() & 0xff);
            }
            let bytes: [u8; 32] = bytemuck::cast(color.to_array().map(i32::to_le_bytes));
            put(out, &bytes);
        }
    }
}

/// Returns the bit mask of those of eight pixels that show a surface.
fn occupied(ids: i32x8) -> u32 {
    !ids.simd_eq(i32x8::splat(NO_ID)).to_bitmask() & 0xff
}

/// Converts colours to opaque 8-bit RGBA, one pixel per lane.
pub(crate) fn pack(rgb: [f32x8; 3]) -> i32x8 {
    let byte = |c: f32x8| {
        let c = c.fast_max(f32x8::ZERO).fast_min(f32x8::ONE);
        (c * f32x8::splat(255.0)).fast_round_int()
    };
    let [r, g, b] = rgb.map(byte);
    r | g << 8 | b << 16 | i32x8::splat(0xff << 24)
}
