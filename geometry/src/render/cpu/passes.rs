//! From tiles to images.

use super::layout::{MAX_PIECES, Pieces};
use super::raster::Vertices;
use super::scene::Scene;
use super::shade::{Lights, Shader, Surroundings, Vector3x8};
use super::storage::{Storage, Worker, recycled};
use super::tile::{NO_ID, TILE_HEIGHT, TILE_WIDTH, Tile};
use super::triangle::ShadedTriangle;
use super::visual::Form;
use crate::properties::RenderLabel;
use crate::render::DepthRange;
use crate::render::image::{Depth32F, Image, ImageRgba8U, Label16I, PixelType};
use crate::rgba::Rgba;
use rayon::prelude::*;
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use wide::{bytemuck, f32x8, i32x8};

/// One kind of image.
pub(super) trait Pass: Sync {
    type Pixel: PixelType;
    /// Whether it matters what is seen.
    const IDS: bool;
    /// What a thread keeps from tile to tile.
    type Scratch;
    fn scratch(&self) -> Self::Scratch;
    /// Called when a tile is drawn, before its rows are written.
    fn prepare(&self, _: &Tile, _: &mut Vertices, _: &mut Self::Scratch) {}
    /// Writes the pixels of a row of the tile.
    fn finish(
        &self,
        tile: &Tile,
        row: usize,
        out: &mut [<Self::Pixel as PixelType>::Channel],
        scratch: &mut Self::Scratch,
    );
}

/// Parts of rows of an image that are drawn together, until somebody has taken them.
type Piece<'a, P> = Mutex<Option<Rows<'a, P>>>;
type Rows<'a, P> = SmallVec<[&'a mut [<P as PixelType>::Channel]; TILE_HEIGHT]>;

/// Prepares the scene and draws all tiles, pieces of rows in parallel. Tiles share nothing, so that
/// the number of threads can not matter.
pub(super) fn draw<P: Pass>(scene: &Scene<'_>, pass: &P, image: &mut Image<P::Pixel>) {
    let stride = image.width() * P::Pixel::CHANNELS;
    let bands = image.height().div_ceil(TILE_HEIGHT);
    let places = Pieces::new(scene.columns(), bands);
    let mut pieces: SmallVec<[Piece<'_, P::Pixel>; MAX_PIECES]> = SmallVec::new();
    for band in image.data_mut().chunks_mut(stride * TILE_HEIGHT) {
        let first = pieces.len();
        let width = places.tiles() * TILE_WIDTH * P::Pixel::CHANNELS;
        for row in band.chunks_exact_mut(stride) {
            for (k, part) in row.chunks_mut(width).enumerate() {
                if first + k == pieces.len() {
                    pieces.push(Mutex::new(Some(SmallVec::new())));
                }
                let piece = pieces[first + k].get_mut();
                let piece = piece.unwrap_or_else(PoisonError::into_inner);
                piece.get_or_insert_default().push(part);
            }
        }
    }
    let taken = AtomicUsize::new(0);
    let take = || {
        let piece = *scene.pieces().get(taken.fetch_add(1, Ordering::Relaxed))? as usize;
        let rows = pieces[piece]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        Some((piece, rows?))
    };
    // Whoever is awake takes the next piece, those with most to draw first: what is left at the
    // end, when some have nothing to do, is small.
    let threads = rayon::current_num_threads().min(pieces.len());
    (0..threads).into_par_iter().with_max_len(1).for_each(|_| {
        if !scene.prepare() {
            return;
        }
        let Some(first) = take() else {
            return;
        };
        let mut worker = scene.workers.borrow();
        let mut scratch = pass.scratch();
        worker.tile.set_far(scene.far());
        let mut next = Some(first);
        while let Some((piece, mut rows)) = next {
            let place = places.place(piece);
            draw_piece(scene, pass, &mut worker, &mut scratch, place, &mut rows);
            next = take();
        }
    });
}

/// Draws the tiles of a piece, one after the other.
fn draw_piece<P: Pass>(
    scene: &Scene<'_>,
    pass: &P,
    Worker { tile, vertices }: &mut Worker,
    scratch: &mut P::Scratch,
    (band, tiles): (usize, Range<usize>),
    rows: &mut Rows<'_, P::Pixel>,
) {
    let channels = P::Pixel::CHANNELS;
    for column in tiles.clone() {
        if P::IDS {
            scene.draw::<true>(tile, vertices, column, band);
        } else {
            scene.draw::<false>(tile, vertices, column, band);
        }
        pass.prepare(tile, vertices, scratch);
        let first = (column - tiles.start) * TILE_WIDTH * channels;
        let width = (tile.rect().x1 - tile.rect().x0) as usize * channels;
        for (row, out) in rows.iter_mut().enumerate() {
            pass.finish(tile, row, &mut out[first..first + width], scratch);
        }
    }
}

/// Writes a block, which is cut off at the edge of the image.
#[inline(always)]
pub(super) fn put<T: Copy, const N: usize>(out: &mut [T], values: &[T; N]) {
    match out.first_chunk_mut() {
        Some(all) => *all = *values,
        None => put_first(out, values),
    }
}

/// Not inlined, so that the usual length stays one that is known when this is compiled.
#[cold]
#[inline(never)]
fn put_first<T: Copy>(out: &mut [T], values: &[T]) {
    out.copy_from_slice(&values[..out.len()]);
}

/// Depth images.
pub(super) struct DepthPass {
    pub(super) range: DepthRange,
}

impl Pass for DepthPass {
    type Pixel = Depth32F;
    const IDS: bool = false;
    type Scratch = ();
    fn scratch(&self) {}
    fn finish(&self, tile: &Tile, row: usize, out: &mut [f32], (): &mut ()) {
        let clear = f32x8::splat(tile.clear());
        let min = f32x8::splat(self.range.min_depth() as f32);
        let max = f32x8::splat(self.range.max_depth() as f32);
        let far = f32x8::splat(Depth32F::TOO_FAR);
        for (w, out) in tile.w_row(row).iter().zip(out.chunks_mut(8)) {
            let z = f32x8::ONE / *w;
            let near_enough = !(z.simd_gt(max) | w.simd_eq(clear));
            let z = near_enough.bitselect(z, far);
            let z = z
                .simd_lt(min)
                .bitselect(f32x8::splat(Depth32F::TOO_CLOSE), z);
            put(out, z.as_array());
        }
    }
}

/// Label images; ids are numbers of visuals.
pub(super) struct LabelPass<'a> {
    pub(super) labels: &'a [i16],
}

impl Pass for LabelPass<'_> {
    type Pixel = Label16I;
    const IDS: bool = true;
    type Scratch = ();
    fn scratch(&self) {}
    fn finish(&self, tile: &Tile, row: usize, out: &mut [i16], (): &mut ()) {
        for (ids, out) in tile.id_row(row).iter().zip(out.chunks_mut(8)) {
            let ids = ids.as_array();
            if ids[0] == NO_ID && *ids == [NO_ID; 8] {
                out.fill(RenderLabel::EMPTY.value());
                continue;
            }
            for (id, out) in ids.iter().zip(out) {
                let label = self.labels.get(*id as usize);
                *out = label.copied().unwrap_or(RenderLabel::EMPTY.value());
            }
        }
    }
}

/// Colours of what is opaque; ids are those of parts.
pub(super) struct ColorPass<'a> {
    scene: &'a Scene<'a>,
    lights: &'a Lights,
    environment: Surroundings<'a>,
    /// Colours before they are blended are at most this.
    most: f32,
    /// By the number of the visual, made when it is first seen, by whichever thread sees it.
    shaders: Vec<OnceLock<Shader<'a>>>,
    clear: u32,
}

impl<'a> ColorPass<'a> {
    /// The storage is given back by [`ColorPass::store`].
    pub(super) fn new(
        storage: &mut Storage,
        scene: &'a Scene<'a>,
        lights: &'a Lights,
        environment: Surroundings<'a>,
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
    /// Gives the storage back.
    pub(super) fn store(self, storage: &mut Storage) {
        storage.shaders = recycled(self.shaders);
    }
    /// Colours and opacities of those of eight pixels that show the same object as the first of
    /// `open`, and which they are.
    #[inline(always)]
    fn shade_one(
        &self,
        (px, py): (i32, i32),
        w: f32x8,
        ids: i32x8,
        open: u32,
        last: &mut usize,
        material: Option<u32>,
    ) -> ((Vector3x8, f32x8), i32x8) {
        let parts = ids.to_array();
        let id = parts[open.trailing_zeros() as usize];
        let plan = self.scene.plan;
        // Most often that of the pixels before.
        if !plan.parts(*last).contains(&id) {
            *last = plan.owner(id);
        }
        let (number, Range { start, end }) = (*last, plan.parts(*last));
        let mine = ids.simd_gt(i32x8::splat(start - 1)) & ids.simd_lt(i32x8::splat(end));
        let shader = self.shaders[number].get_or_init(|| {
            let object = self.scene.object(number);
            let object = object.expect("what is seen has a pose");
            let of = (object, self.scene.visual(number));
            Shader::new(self.scene, self.lights, of, self.environment)
        });
        let mask = mine.to_bitmask() & 0xff;
        let parts = (ids - i32x8::splat(start)).to_array();
        (shader.block(px, py, w, &parts, mask, material), mine)
    }
    /// The material of all that a tile shows, if it is of one mesh and one material. This is asked
    /// for because shading would wait for triangles one block after the other, which here come all
    /// at once.
    pub(super) fn material(&self, tile: &Tile) -> Option<u32> {
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
                if let Form::Mesh(mesh) = &self.scene.visual(owner).form {
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
    /// Puts the surfaces of eight pixels on top of their colours.
    pub(super) fn shade(
        &self,
        px: i32,
        py: i32,
        w: f32x8,
        ids: i32x8,
        last: &mut usize,
        color: &mut Vector3x8,
    ) {
        let mut open = occupied(ids);
        while open != 0 {
            let ((rgb, alpha), mine) = self.shade_one((px, py), w, ids, open, last, None);
            open &= !(mine.to_bitmask() & 0xff);
            let mine: f32x8 = bytemuck::cast(mine);
            for (color, new) in color.iter_mut().zip(rgb) {
                let new = new.fast_max(f32x8::ZERO).fast_min(f32x8::splat(self.most));
                let mixed = new * alpha + *color * (f32x8::ONE - alpha);
                *color = mine.bitselect(mixed, *color);
            }
        }
    }
    /// Writes the pixels of a row of a tile where there is nothing else.
    pub(super) fn finish(
        &self,
        tile: &Tile,
        row: usize,
        out: &mut [u8],
        (material, last): (&Option<u32>, &mut usize),
    ) {
        let rect = tile.rect();
        let py = rect.y0 + row as i32;
        let blocks = tile.w_row(row).iter().zip(tile.id_row(row));
        for (k, ((w, ids), out)) in blocks.zip(out.chunks_mut(32)).enumerate() {
            let px = rect.x0 + 8 * k as i32;
            let mut color = i32x8::splat(self.clear as i32);
            let mut open = occupied(*ids);
            while open != 0 {
                let ((rgb, _), mine) = self.shade_one((px, py), *w, *ids, open, last, *material);
                color = mine.bitselect(pack(rgb), color);
                open &= !(mine.to_bitmask() & 0xff);
            }
            let bytes: [u8; 32] = bytemuck::cast(color.to_array().map(i32::to_le_bytes));
            put(out, &bytes);
        }
    }
}

/// Which of eight pixels show something.
fn occupied(ids: i32x8) -> u32 {
    !ids.simd_eq(i32x8::splat(NO_ID)).to_bitmask() & 0xff
}

/// Opaque 8-bit colours.
pub(super) fn pack(rgb: [f32x8; 3]) -> i32x8 {
    let byte = |c: f32x8| {
        let c = c.fast_max(f32x8::ZERO).fast_min(f32x8::ONE);
        (c * f32x8::splat(255.0)).fast_round_int()
    };
    let [r, g, b] = rgb.map(byte);
    r | g << 8 | b << 16 | i32x8::splat(0xff << 24)
}

/// The average of `samples` by `samples` pixels for each pixel of `image`.
pub(super) fn average(fine: &ImageRgba8U, samples: usize, image: &mut ImageRgba8U) {
    let width = image.width();
    let n = (samples * samples) as u32;
    let rows = image.data_mut().par_chunks_mut((width * 4).max(1));
    rows.enumerate().for_each(|(y, row)| {
        for (x, pixel) in row.chunks_exact_mut(4).enumerate() {
            for (c, out) in pixel.iter_mut().enumerate() {
                let mut sum = 0;
                for k in 0..samples * samples {
                    let (dx, dy) = (k % samples, k / samples);
                    sum += u32::from(fine.at(x * samples + dx, y * samples + dy)[c]);
                }
                *out = ((sum + n / 2) / n) as u8;
            }
        }
    });
}
