//! Colour images with all options: translucent layers, the sky, tone mapping.

use super::opaque_colors::{OpaqueColors, ShownPixels, pack};
use super::pass::{Pass, put};
use crate::render::appearance::{Sky, ToneCurve};
use crate::render::cpu::gamma::to_screen;
use crate::render::cpu::raster::{ClusterVertices, Fragment, Tile, TransparencyLayers};
use crate::render::cpu::setup::Scene;
use crate::render::cpu::simd::Vector3x8;
use crate::render::cpu::store::NO_ID;
use crate::render::image::Rgba8U;
use crate::rgba::Rgba;
use nalgebra::Matrix3;
use wide::{bytemuck, f32x8, i32x8};

/// Pass for colour images: opaque surfaces, translucent layers, the sky and tone mapping.
pub(crate) struct ColorPass<'a> {
    pub(crate) plain: OpaqueColors<'a>,
    pub(crate) scene: &'a Scene<'a>,
    /// The sky and `R_WC`; `None` if the sky is not visible.
    pub(crate) sky: Option<(Sky<'a>, Matrix3<f64>)>,
    pub(crate) tone: Option<ToneCurve>,
    pub(crate) clear: Rgba,
}

/// State that a thread keeps from tile to tile.
#[derive(Default)]
pub(crate) struct ColorThreadState {
    /// Translucent layers of the current tile.
    layers: TransparencyLayers,
    /// Number of the visual that was shaded last.
    last: usize,
    /// The material of all visible triangles of the tile, if they are known to share one.
    material: Option<u32>,
}

impl ColorPass<'_> {
    /// Returns true if the image needs more than opaque surfaces on a plain background.
    fn is_rich(&self) -> bool {
        self.sky.is_some() || self.tone.is_some() || self.scene.has_translucent()
    }
    /// Returns the background colours of eight pixels: the sky, or the clear colour.
    fn background(&self, px: i32, py: i32) -> Vector3x8 {
        let Some((sky, r_wc)) = &self.sky else {
            return [self.clear.r(), self.clear.g(), self.clear.b()]
                .map(|c| f32x8::splat(c as f32));
        };
        let lanes: [[f32; 3]; 8] = std::array::from_fn(|k| {
            let ray = self
                .scene
                .pixels()
                .ray(f64::from(px) + k as f64, f64::from(py));
            match sky {
                Sky::Equirectangular(picture) => picture.radiance(&(r_wc * ray).cast()),
                Sky::Cube(cube) => cube.color(&(r_wc * ray)),
            }
        });
        let color = [0, 1, 2].map(|c| f32x8::new(lanes.map(|lane| lane[c])));
        match sky {
            Sky::Equirectangular(_) => to_screen(color),
            Sky::Cube(_) => color,
        }
    }
    /// Blends the translucent layers of eight pixels over their colours, from back to front.
    fn blend(
        &self,
        px: i32,
        py: i32,
        fragments: &[Fragment],
        last: &mut usize,
        color: &mut Vector3x8,
    ) {
        let lane_of = |f: &Fragment| f.pixel as usize % 8;
        let mut next: [usize; 8] =
            std::array::from_fn(|lane| fragments.partition_point(|f| lane_of(f) < lane));
        let mut left = fragments.len();
        while left > 0 {
            let (mut w, mut ids) = ([0.0; 8], [NO_ID; 8]);
            for lane in 0..8 {
                let fragment = fragments.get(next[lane]).filter(|f| lane_of(f) == lane);
                if let Some(fragment) = fragment {
                    (w[lane], ids[lane]) = (fragment.w, fragment.id);
                    next[lane] += 1;
                    left -= 1;
                }
            }
            let pixels = ShownPixels {
                px,
                py,
                w: f32x8::new(w),
                ids: i32x8::new(ids),
            };
            self.plain.shade(&pixels, last, color);
        }
    }
}

impl Pass for ColorPass<'_> {
    type Pixel = Rgba8U;
    const IDS: bool = true;
    type ThreadState = ColorThreadState;
    fn thread_state(&self) -> ColorThreadState {
        ColorThreadState::default()
    }
    fn prepare(&self, tile: &Tile, vertices: &mut ClusterVertices, scratch: &mut ColorThreadState) {
        scratch.material = self.plain.material(tile);
        if self.is_rich() {
            self.scene.collect(tile, vertices, &mut scratch.layers);
        }
    }
    fn finish(&self, tile: &Tile, row: usize, out: &mut [u8], scratch: &mut ColorThreadState) {
        let ColorThreadState {
            layers,
            last,
            material,
        } = scratch;
        if !self.is_rich() {
            return self.plain.finish(tile, row, out, *material, last);
        }
        let rect = tile.rect();
        let py = rect.y0 + row as i32;
        let blocks = tile.w_row(row).iter().zip(tile.id_row(row));
        for (k, ((w, ids), out)) in blocks.zip(out.chunks_mut(32)).enumerate() {
            let px = rect.x0 + 8 * k as i32;
            let none = ids.simd_eq(i32x8::splat(NO_ID));
            let mut color = if none.any() {
                self.background(px, py)
            } else {
                [f32x8::ZERO; 3]
            };
            let pixels = ShownPixels {
                px,
                py,
                w: *w,
                ids: *ids,
            };
            self.plain.shade(&pixels, last, &mut color);
            let fragments = layers.block(row, 8 * k);
            self.blend(px, py, fragments, last, &mut color);
            if let Some(tone) = &self.tone {
                color = tone.apply(color);
            }
            // Pixels that show a surface are opaque; the background has the opacity of the clear
            // colour.
            let alpha = (self.clear.a() * 255.0).round() as u32;
            let mut packed = pack(color);
            if self.sky.is_none() && alpha < 255 {
                let behind =
                    (packed & i32x8::splat(0x00ff_ffff)) | i32x8::splat((alpha << 24) as i32);
                let mut empty = none.to_array();
                fragments
                    .iter()
                    .for_each(|f| empty[f.pixel as usize % 8] = 0);
                packed = i32x8::new(empty).bitselect(behind, packed);
            }
            let bytes: [u8; 32] = bytemuck::cast(packed.to_array().map(i32::to_le_bytes));
            put(out, &bytes);
        }
    }
}
