//! Animated PNG (PNG, third edition, 2025). The number of frames is in the header, which is updated
//! at the end.

use crate::images::io::file::{UnfinishedFile, cannot_write};
use crate::images::io::{codec_error, ordered_samples, set_png_speed};
use crate::{Error, Result};
use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use tarragon_geometry::render::ImageRef;

/// Offset of the animation control chunk, behind the signature and the header chunk.
const ANIMATION_CONTROL: u64 = 8 + 25;
/// Maximum number of frames of the format.
const MAX_FRAMES: u32 = i32::MAX as u32;

pub(super) struct ApngWriter {
    writer: png::Writer<BufWriter<File>>,
    file: UnfinishedFile,
    frames: u32,
    samples: Vec<u8>,
}

impl ApngWriter {
    pub(super) fn create(
        file: UnfinishedFile,
        (width, height): (u32, u32),
        channels: usize,
        delay: (u16, u16),
    ) -> Result<Self> {
        let handle = file
            .file
            .try_clone()
            .map_err(|e| cannot_write(file.path(), e))?;
        let mut encoder = png::Encoder::new(BufWriter::new(handle), width, height);
        encoder.set_color(match channels {
            1 => png::ColorType::Grayscale,
            3 => png::ColorType::Rgb,
            _ => png::ColorType::Rgba,
        });
        set_png_speed(&mut encoder);
        let codec = |e| codec(&file, e);
        encoder.set_animated(MAX_FRAMES, 0).map_err(codec)?; // 0: repeat forever
        encoder.set_frame_delay(delay.0, delay.1).map_err(codec)?;
        encoder.set_blend_op(png::BlendOp::Source).map_err(codec)?;
        let writer = encoder.write_header().map_err(codec)?;
        Ok(Self {
            writer,
            file,
            frames: 0,
            samples: vec![],
        })
    }

    pub(super) fn write_frame(&mut self, image: ImageRef<'_>) -> Result<()> {
        let samples = ordered_samples(image, &mut self.samples, u16::to_be_bytes);
        self.writer
            .write_image_data(samples)
            .map_err(|e| codec(&self.file, e))?;
        self.frames += 1;
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<()> {
        self.writer.finish().map_err(|e| codec(&self.file, e))?;
        let mut chunk = [0; 20];
        chunk[..4].copy_from_slice(&8_u32.to_be_bytes());
        chunk[4..8].copy_from_slice(b"acTL");
        chunk[8..12].copy_from_slice(&self.frames.to_be_bytes());
        let crc = crc(&chunk[4..16]);
        chunk[16..].copy_from_slice(&crc.to_be_bytes());
        let file = &mut self.file.file;
        file.seek(SeekFrom::Start(ANIMATION_CONTROL))
            .and_then(|_| file.write_all(&chunk))
            .map_err(|e| cannot_write(self.file.path(), e))?;
        self.file.finish()
    }
}

fn codec(file: &UnfinishedFile, e: png::EncodingError) -> Error {
    match e {
        png::EncodingError::IoError(e) => cannot_write(file.path(), e),
        e => codec_error(file.path(), "", e),
    }
}

/// Returns the checksum of a chunk. It is computed bit by bit, because it is needed only once per
/// file.
fn crc(bytes: &[u8]) -> u32 {
    let mut crc = !0_u32;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 };
        }
    }
    !crc
}
