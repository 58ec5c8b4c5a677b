//! Textures that are drawn into, and their way back to the host.

use crate::device::Device;
use crate::pipelines::{COLOR, DEPTH, LABEL, Outputs, Z};
use std::sync::mpsc::{Receiver, channel};
use tarragon_geometry::{Error, ErrorKind, Result};

/// Textures of an atlas.
pub(crate) struct Target {
    pub(crate) size: [u32; 2],
    pub(crate) color: wgpu::Texture,
    pub(crate) z: wgpu::Texture,
    pub(crate) label: wgpu::Texture,
    pub(crate) depth: wgpu::Texture,
}

impl Target {
    pub(crate) fn new(device: &wgpu::Device, width: u32, height: u32) -> Self {
        let texture = |format, read: bool| {
            let attached = wgpu::TextureUsages::RENDER_ATTACHMENT;
            device.create_texture(&wgpu::TextureDescriptor {
                label: None,
                size: wgpu::Extent3d {
                    width,
                    height,
                    depth_or_array_layers: 1,
                },
                mip_level_count: 1,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage: if read {
                    attached | wgpu::TextureUsages::COPY_SRC
                } else {
                    attached
                },
                view_formats: &[],
            })
        };
        Self {
            size: [width, height],
            color: texture(COLOR, true),
            z: texture(Z, true),
            label: texture(LABEL, true),
            depth: texture(DEPTH, false),
        }
    }
}

/// One place of the ring: a buffer that textures are copied to. Reused from batch to batch.
#[derive(Default)]
pub(crate) struct Slot {
    buffer: Option<wgpu::Buffer>,
}

/// Place of one texture in a read-back buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plane {
    pub(crate) offset: usize,
    /// Bytes per row.
    pub(crate) stride: usize,
}

/// Planes of the textures that a pass draws, in the order colour, depth, label.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) color: Option<Plane>,
    pub(crate) depth: Option<Plane>,
    pub(crate) label: Option<Plane>,
    bytes: usize,
}

impl Layout {
    pub(crate) fn new(outputs: Outputs, width: usize, height: usize) -> Self {
        let mut bytes = 0;
        let mut plane = |drawn: bool, pixel: usize| {
            drawn.then(|| {
                let stride =
                    (width * pixel).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT as usize);
                let offset = bytes;
                bytes += stride * height;
                Plane { offset, stride }
            })
        };
        let (color, depth) = (plane(outputs.color, 4), plane(outputs.depth, 4));
        let label = plane(outputs.label, 2);
        Self {
            color,
            depth,
            label,
            bytes,
        }
    }
}

/// Submitted copies that are on their way.
pub(crate) struct ReadBack {
    slot: Slot,
    mapped: Receiver<Result<(), wgpu::BufferAsyncError>>,
    submission: wgpu::SubmissionIndex,
}

impl Slot {
    /// Records the copy of a pass's textures to the buffer, which grows as needed.
    pub(crate) fn copy(
        &mut self,
        device: &Device,
        encoder: &mut wgpu::CommandEncoder,
        target: &Target,
        layout: &Layout,
        (width, height): (usize, usize),
    ) {
        let size = layout.bytes as u64;
        let enough = self.buffer.take().filter(|b| b.size() >= size);
        let buffer = enough.unwrap_or_else(|| {
            device.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("read back"),
                size,
                usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
                mapped_at_creation: false,
            })
        });
        let planes = [
            (layout.color, &target.color),
            (layout.depth, &target.z),
            (layout.label, &target.label),
        ];
        for (plane, texture) in planes {
            let Some(plane) = plane else { continue };
            encoder.copy_texture_to_buffer(
                texture.as_image_copy(),
                wgpu::TexelCopyBufferInfo {
                    buffer: &buffer,
                    layout: wgpu::TexelCopyBufferLayout {
                        offset: plane.offset as u64,
                        bytes_per_row: Some(plane.stride as u32),
                        rows_per_image: None,
                    },
                },
                wgpu::Extent3d {
                    width: width as u32,
                    height: height as u32,
                    depth_or_array_layers: 1,
                },
            );
        }
        self.buffer = Some(buffer);
    }
    /// Submits the commands, and asks for the content of the buffer.
    pub(crate) fn submit(self, device: &Device, commands: wgpu::CommandBuffer) -> ReadBack {
        let submission = device.queue.submit([commands]);
        let (send, mapped) = channel();
        if let Some(buffer) = &self.buffer {
            // The receiver is gone if the batch was dropped.
            buffer.map_async(wgpu::MapMode::Read, .., move |r| drop(send.send(r)));
        }
        ReadBack {
            slot: self,
            mapped,
            submission,
        }
    }
}

impl ReadBack {
    /// Waits for the copies and calls `use_bytes` with the content of the buffer.
    ///
    /// # Errors
    /// Returns an error if the device was lost.
    pub(crate) fn finish(self, device: &Device, use_bytes: impl FnOnce(&[u8])) -> Result<()> {
        let failed = |what: String| {
            // The device's own error is the cause, if there is one.
            device.check().err().unwrap_or_else(|| {
                Error::new(
                    ErrorKind::Other,
                    format!("RenderEngineGpu: images cannot be read back: {what}"),
                )
            })
        };
        let wait = wgpu::PollType::Wait {
            submission_index: Some(self.submission),
            timeout: None,
        };
        device
            .device
            .poll(wait)
            .map_err(|e| failed(e.to_string()))?;
        let mapped = self.mapped.recv().map_err(|e| failed(e.to_string()))?;
        mapped.map_err(|e| failed(e.to_string()))?;
        device.check()?;
        let mut slot = self.slot;
        if let Some(buffer) = slot.buffer.take() {
            let view = buffer
                .get_mapped_range(..)
                .map_err(|e| failed(e.to_string()))?;
            use_bytes(&view);
            drop(view);
            buffer.unmap();
            slot.buffer = Some(buffer);
        }
        device.keep(slot);
        Ok(())
    }
}
