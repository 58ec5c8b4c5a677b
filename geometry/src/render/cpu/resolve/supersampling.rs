//! Supersampling: several colour samples per pixel.

use crate::render::image::ImageRgba8U;
use rayon::prelude::*;

/// Sets each pixel of `image` to the average of `samples` x `samples` pixels of `fine`.
pub(crate) fn average(fine: &ImageRgba8U, samples: usize, image: &mut ImageRgba8U) {
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
