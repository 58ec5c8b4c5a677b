//! Batches: passes over many views, drawn chunk by chunk through the ring of read-backs.

use crate::device::read_back::{Layout, ReadBack};
use crate::device::{Device, RING};
use crate::frame::frame_data::{AtlasData, INSTANCE, PassScene, prepare};
use crate::frame::{ATLAS, Atlas, Globals};
use crate::pipelines::Outputs;
use rayon::prelude::*;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use tarragon_geometry::render::{DepthRange, ImageArray, ImageBatch, PixelType, RenderView};
use tarragon_geometry::{Error, Result};

/// Images of all views that one pass draws.
pub(crate) struct PassOptions {
    pub(crate) outputs: Outputs,
    pub(crate) globals: Globals,
    /// Colour samples along each side of a pixel.
    pub(crate) samples: usize,
    pub(crate) range: Option<DepthRange>,
}

/// A batch on its way.
pub(crate) struct Run {
    pub(crate) device: Arc<Device>,
    pub(crate) images: ImageBatch,
    pending: VecDeque<Chunk>,
}

/// Some views of a pass, submitted.
struct Chunk {
    read: ReadBack,
    layout: Layout,
    first: usize,
    count: usize,
    columns: usize,
    samples: usize,
    range: Option<DepthRange>,
}

impl Run {
    /// Creates a batch without passes; the sizes of `images` must be set.
    pub(crate) fn new(device: Arc<Device>, images: ImageBatch) -> Self {
        Self {
            device,
            images,
            pending: VecDeque::with_capacity(RING),
        }
    }

    /// Submits a pass over all views. Waits for earlier chunks where the ring is full.
    ///
    /// # Errors
    /// Returns an error if the images are too large for the device, or if it was lost.
    pub(crate) fn pass(
        &mut self,
        scene: &PassScene<'_>,
        options: &PassOptions,
        views: &[RenderView<'_>],
        sky: &wgpu::Buffer,
    ) -> Result<()> {
        let (width, height) = (scene.pixels.width, scene.pixels.height);
        let most = self.device.side as usize;
        if width > most || height > most {
            return Err(Error::unsupported(format!(
                "RenderEngineGpu: images, times samples_per_side, must have at most {most} x {most} \
                 pixels, got {width} x {height}"
            )));
        }
        let columns = (ATLAS / width).max(1).min(views.len().max(1));
        let rows = (ATLAS / height).max(1);
        // The instances of a chunk fit into one buffer.
        let bytes = self.device.limits.max_storage_buffer_binding_size as usize;
        let per_tile = (4 * INSTANCE * scene.visuals.len()).max(1);
        let chunk = (columns * rows).min((bytes / per_tile).max(1));
        let rows = views.len().min(chunk).div_ceil(columns);
        for (k, views) in views.chunks(chunk).enumerate() {
            // Calls the functions that return poses; no lock is held.
            let tiles = prepare(scene, views);
            let data = AtlasData::new(scene, tiles, columns);
            let atlas = Atlas {
                data: &data,
                globals: options.globals,
                outputs: options.outputs,
                tile: (width, height),
                columns,
                sky,
                size: (columns * width, rows * height),
            };
            if self.pending.len() >= RING {
                self.finish_one()?;
            }
            let (layout, read) = atlas.submit(&self.device)?;
            self.pending.push_back(Chunk {
                read,
                layout,
                first: k * chunk,
                count: views.len(),
                columns,
                samples: options.samples,
                range: options.range,
            });
        }
        Ok(())
    }

    /// Waits for all chunks.
    ///
    /// # Errors
    /// Returns an error if the device was lost.
    pub(crate) fn finish(mut self) -> Result<ImageBatch> {
        while !self.pending.is_empty() {
            self.finish_one()?;
        }
        Ok(self.images)
    }

    fn finish_one(&mut self) -> Result<()> {
        let Some(chunk) = self.pending.pop_front() else {
            return Ok(());
        };
        let images = &mut self.images;
        let Chunk {
            read,
            layout,
            first,
            count,
            columns,
            samples,
            range,
        } = chunk;
        read.finish(&self.device, |bytes| {
            let place = |k: usize, stride: usize, width: usize, height: usize, pixel: usize| {
                k / columns * height * stride + k % columns * width * pixel
            };
            if let Some(plane) = layout.color {
                let [_, height, width, _] = images.color.shape();
                let (w, h) = (width * samples, height * samples);
                for_each_image(&mut images.color, first..first + count, |k, out| {
                    let at = plane.offset + place(k, plane.stride, w, h, 4);
                    if samples == 1 {
                        copy_rows(&bytes[at..], plane.stride, out, 4 * width);
                    } else {
                        average(&bytes[at..], plane.stride, samples, out, width);
                    }
                });
            }
            if let (Some(plane), Some(range)) = (layout.depth, range) {
                let [_, height, width, _] = images.depth.shape();
                for_each_image(&mut images.depth, first..first + count, |k, out| {
                    let at = plane.offset + place(k, plane.stride, width, height, 4);
                    let out: &mut [u8] = bytemuck::cast_slice_mut(out);
                    copy_rows(&bytes[at..], plane.stride, out, 4 * width);
                    limit(bytemuck::cast_slice_mut(out), &range);
                });
            }
            if let Some(plane) = layout.label {
                let [_, height, width, _] = images.label.shape();
                for_each_image(&mut images.label, first..first + count, |k, out| {
                    let at = plane.offset + place(k, plane.stride, width, height, 2);
                    let out: &mut [u8] = bytemuck::cast_slice_mut(out);
                    copy_rows(&bytes[at..], plane.stride, out, 2 * width);
                });
            }
        })
    }
}

/// Calls a function with some images of an array, in parallel if there are many.
fn for_each_image<P: PixelType>(
    images: &mut ImageArray<P>,
    range: Range<usize>,
    fill: impl Fn(usize, &mut [P::Channel]) + Sync,
) {
    let stride = images.stride().max(1);
    let some = &mut images.data_mut()[range.start * stride..range.end * stride];
    if range.len() < 16 {
        let images = some.chunks_exact_mut(stride).enumerate();
        images.for_each(|(k, image)| fill(k, image));
    } else {
        let images = some.par_chunks_exact_mut(stride).enumerate();
        images.for_each(|(k, image)| fill(k, image));
    }
}

fn copy_rows(bytes: &[u8], stride: usize, out: &mut [u8], row: usize) {
    let rows = out.chunks_exact_mut(row.max(1)).enumerate();
    rows.for_each(|(y, out)| out.copy_from_slice(&bytes[y * stride..][..row]));
}

/// Sets each pixel to the average of `samples` x `samples` samples.
fn average(bytes: &[u8], stride: usize, samples: usize, out: &mut [u8], width: usize) {
    let n = (samples * samples) as u32;
    for (y, row) in out.chunks_exact_mut((4 * width).max(1)).enumerate() {
        for (x, pixel) in row.chunks_exact_mut(4).enumerate() {
            let mut sum = [n / 2; 4];
            for dy in 0..samples {
                let first = (y * samples + dy) * stride + 4 * x * samples;
                for sample in bytes[first..first + 4 * samples].chunks_exact(4) {
                    for (sum, c) in sum.iter_mut().zip(sample) {
                        *sum += u32::from(*c);
                    }
                }
            }
            pixel
                .iter_mut()
                .zip(sum)
                .for_each(|(c, sum)| *c = (sum / n) as u8);
        }
    }
}

/// Replaces depths outside of the range by the values for too close and too far.
fn limit(depths: &mut [f32], range: &DepthRange) {
    let (min, max) = (range.min_depth() as f32, range.max_depth() as f32);
    for z in depths {
        // 0 is an empty pixel.
        if *z == 0.0 || *z > max {
            *z = f32::INFINITY;
        } else if *z < min {
            *z = 0.0;
        }
    }
}
