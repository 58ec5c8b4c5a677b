//! Drawing of an image on all threads, strip of tiles by strip.

use super::pass::Pass;
use crate::render::cpu::raster::{TILE_HEIGHT, TILE_WIDTH};
use crate::render::cpu::setup::{MAX_STRIPS, Scene, TileStrips, Worker};
use crate::render::image::{Image, PixelType};
use rayon::prelude::*;
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Pixel rows of one strip, until a thread takes them.
type StripLock<'a, P> = Mutex<Option<StripRows<'a, P>>>;
type StripRows<'a, P> = SmallVec<[&'a mut [<P as PixelType>::Channel]; TILE_HEIGHT]>;

/// Prepares the scene and draws all tiles, strips in parallel. Tiles share no state, so the number
/// of threads cannot affect the image.
pub(crate) fn draw<P: Pass>(scene: &Scene<'_>, pass: &P, image: &mut Image<P::Pixel>) {
    scene.prepare();
    let stride = image.width() * P::Pixel::CHANNELS;
    let bands = image.height().div_ceil(TILE_HEIGHT);
    let places = TileStrips::new(scene.columns(), bands);
    let mut strips: SmallVec<[StripLock<'_, P::Pixel>; MAX_STRIPS]> = SmallVec::new();
    for band in image.data_mut().chunks_mut(stride * TILE_HEIGHT) {
        let first = strips.len();
        let width = places.tiles() * TILE_WIDTH * P::Pixel::CHANNELS;
        for row in band.chunks_exact_mut(stride) {
            for (k, part) in row.chunks_mut(width).enumerate() {
                if first + k == strips.len() {
                    strips.push(Mutex::new(Some(SmallVec::new())));
                }
                let strip = strips[first + k].get_mut();
                let strip = strip.unwrap_or_else(PoisonError::into_inner);
                strip.get_or_insert_default().push(part);
            }
        }
    }
    let taken = AtomicUsize::new(0);
    let take = || {
        let strip = *scene.strips().get(taken.fetch_add(1, Ordering::Relaxed))? as usize;
        let rows = strips[strip]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        Some((strip, rows?))
    };
    // Idle threads take the next strip, the most expensive ones first, so that little work is left
    // at the end, when some threads have run out of strips.
    let threads = rayon::current_num_threads().min(strips.len());
    (0..threads).into_par_iter().with_max_len(1).for_each(|_| {
        let Some(first) = take() else {
            return;
        };
        let mut worker = scene.workers.borrow();
        let mut scratch = pass.thread_state();
        worker.tile.set_far(scene.far());
        let mut next = Some(first);
        while let Some((strip, mut rows)) = next {
            let (band, tiles) = places.place(strip);
            draw_strip(
                scene,
                pass,
                &mut worker,
                &mut scratch,
                band,
                tiles,
                &mut rows,
            );
            next = take();
        }
    });
}

/// Draws the tiles of a strip one after the other.
fn draw_strip<P: Pass>(
    scene: &Scene<'_>,
    pass: &P,
    Worker { tile, vertices }: &mut Worker,
    scratch: &mut P::ThreadState,
    band: usize,
    tiles: Range<usize>,
    rows: &mut StripRows<'_, P::Pixel>,
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
