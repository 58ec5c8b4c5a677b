//! Motion JPEG in AVI files: RIFF (Microsoft, 1991) with the indexes of the OpenDML extension
//! (Matrox, 1997), where a file is a sequence of RIFF chunks of at most 1 GiB each.

use crate::images::io::file::{UnfinishedFile, cannot_write};
use crate::images::io::{Chroma, codec_error, jpeg};
use crate::{Error, Result};
use std::io::{Seek, SeekFrom, Write};
use tarragon_geometry::render::ImageRef;

/// JPEG quality of the frames: about half the size of quality 95 without a visible difference.
const QUALITY: u8 = 90;
/// Maximum size of a RIFF chunk (bytes); older programs read only the first chunk.
const SEGMENT_BYTES: u64 = 1 << 30;
/// Number of index entries in the header, one per RIFF chunk.
const MAX_SEGMENTS: usize = 256;
/// Size of the header, which precedes the first frame (bytes).
const HEADER_BYTES: usize = 12
    + (8 + 4)
    + (8 + 56)
    + (8 + 4)
    + (8 + 56)
    + (8 + 40)
    + SUPER_INDEX_BYTES
    + (8 + 4 + 8 + 248)
    + 12;
const SUPER_INDEX_BYTES: usize = 8 + 24 + 16 * MAX_SEGMENTS;
/// Size of the header of every RIFF chunk after the first (bytes).
const SEGMENT_HEADER_BYTES: u64 = 24;

#[derive(Debug)]
pub(super) struct AviWriter {
    file: UnfinishedFile,
    width: u32,
    height: u32,
    /// Frames per second as numerator and denominator.
    rate: (u32, u32),
    segment_bytes: u64,
    /// Size of the file so far (bytes).
    position: u64,
    /// Offset of the current RIFF chunk in the file.
    segment: u64,
    /// Offset (from the word `movi` of the current chunk) and size of each of its frames.
    index: Vec<(u32, u32)>,
    /// Offset and size of the index of each earlier chunk, and its number of frames.
    indexes: Vec<(u64, u32, u32)>,
    frames: u32,
    largest: u32,
    /// Number of frames in the first RIFF chunk.
    first_frames: u32,
    first_bytes: u64,
    /// Buffer for a frame, reused from frame to frame.
    chunk: Vec<u8>,
}

impl AviWriter {
    pub(super) fn create(
        file: UnfinishedFile,
        (width, height): (u32, u32),
        rate: (u32, u32),
    ) -> Result<Self> {
        let mut this = Self {
            file,
            width,
            height,
            rate,
            segment_bytes: SEGMENT_BYTES,
            position: 0,
            segment: 0,
            index: vec![],
            indexes: vec![],
            frames: 0,
            largest: 0,
            first_frames: 0,
            first_bytes: 0,
            chunk: vec![],
        };
        let header = this.header();
        this.append(&header)?;
        Ok(this)
    }
    /// Sets a smaller maximum size of RIFF chunks.
    #[cfg(test)]
    pub(super) fn set_segment_bytes(&mut self, bytes: u64) {
        self.segment_bytes = bytes;
    }

    pub(super) fn write_frame(&mut self, image: ImageRef<'_>) -> Result<()> {
        let mut chunk = std::mem::take(&mut self.chunk);
        chunk.clear();
        chunk.extend_from_slice(b"00dc\0\0\0\0");
        jpeg(image, QUALITY, Chroma::Halved, &mut chunk)
            .map_err(|e| codec_error(self.file.path(), "", e))?;
        // A JPEG frame is far smaller than 4 GiB.
        let size = (chunk.len() - 8) as u32;
        chunk[4..8].copy_from_slice(&size.to_le_bytes());
        if chunk.len() % 2 == 1 {
            chunk.push(0);
        }
        // Room for the two indexes at the end of the chunk.
        let indexes = 24 * (self.index.len() as u64 + 1) + 64;
        let used = self.position - self.segment + indexes;
        if !self.index.is_empty() && used + chunk.len() as u64 > self.segment_bytes {
            self.begin_segment()?;
        }
        let place = (self.position - self.movi()) as u32;
        self.append(&chunk)?;
        self.index.push((place, size));
        self.frames += 1;
        self.largest = self.largest.max(size);
        self.chunk = chunk;
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<()> {
        self.end_segment()?;
        // The last 8 bytes hold the size of the first list, which is already final.
        let header = self.header();
        self.patch(0, &header[..HEADER_BYTES - 8])?;
        self.file.finish()
    }

    /// Returns the offset of the word `movi` of the current RIFF chunk.
    fn movi(&self) -> u64 {
        let header = if self.segment == 0 {
            HEADER_BYTES as u64
        } else {
            SEGMENT_HEADER_BYTES
        };
        self.segment + header - 4
    }

    fn begin_segment(&mut self) -> Result<()> {
        self.end_segment()?;
        if self.indexes.len() == MAX_SEGMENTS {
            return Err(Error::invalid(format!(
                "{}: a video must be at most {MAX_SEGMENTS} GiB long; begin a new file",
                self.file.path().display()
            )));
        }
        self.segment = self.position;
        self.append(b"RIFF\0\0\0\0AVIXLIST\0\0\0\0movi")
    }

    /// Writes the indexes of the current RIFF chunk, and its sizes.
    fn end_segment(&mut self) -> Result<()> {
        let (movi, n) = (self.movi(), self.index.len() as u32);
        let mut chunk = Vec::with_capacity(32 + 8 * self.index.len());
        chunk.extend(b"ix00");
        words(&mut chunk, &[24 + 8 * n, 2 | (1 << 24), n]); // two words per entry, index of chunks
        chunk.extend(b"00dc");
        chunk.extend(movi.to_le_bytes());
        words(&mut chunk, &[0]);
        for (place, size) in &self.index {
            words(&mut chunk, &[place + 8, *size]);
        }
        self.indexes.push((self.position, chunk.len() as u32, n));
        self.append(&chunk)?;
        let list_bytes = (self.position - movi) as u32;
        if self.segment == 0 {
            chunk.clear();
            chunk.extend(b"idx1");
            words(&mut chunk, &[16 * n]);
            for (place, size) in &self.index {
                chunk.extend(b"00dc");
                words(&mut chunk, &[0x10, *place, *size]); // every frame is a key frame
            }
            self.append(&chunk)?;
            self.first_frames = n;
            self.first_bytes = self.position;
        } else {
            let riff_bytes = (self.position - self.segment - 8) as u32;
            self.patch(self.segment + 4, &riff_bytes.to_le_bytes())?;
        }
        self.patch(movi - 4, &list_bytes.to_le_bytes())?;
        self.index.clear();
        Ok(())
    }

    /// Returns the header, which is everything up to the first frame.
    fn header(&self) -> Vec<u8> {
        let (rate, scale) = self.rate;
        let micros = (1e6 * f64::from(scale) / f64::from(rate)).round() as u32;
        let mut h = Vec::with_capacity(HEADER_BYTES);
        let riff_bytes = (self.first_bytes.saturating_sub(8)) as u32;
        tagged(&mut h, b"RIFF", riff_bytes, b"AVI ");
        let list = HEADER_BYTES - 12 - 12 - 8;
        tagged(&mut h, b"LIST", list as u32, b"hdrl");
        h.extend(b"avih");
        let per_second = self.largest.saturating_mul(rate.div_ceil(scale));
        // 0x10: the file has an index.
        words(
            &mut h,
            &[
                56,
                micros,
                per_second,
                0,
                0x10,
                self.first_frames,
                0,
                1,
                self.largest,
            ],
        );
        words(&mut h, &[self.width, self.height, 0, 0, 0, 0]);
        let list = 4 + (8 + 56) + (8 + 40) + SUPER_INDEX_BYTES;
        tagged(&mut h, b"LIST", list as u32, b"strl");
        h.extend(b"strh");
        words(&mut h, &[56]);
        h.extend(b"vidsMJPG");
        words(
            &mut h,
            &[
                0,
                0,
                0,
                scale,
                rate,
                0,
                self.frames,
                self.largest,
                u32::MAX,
                0,
            ],
        );
        words(&mut h, &[0, self.width | (self.height << 16)]); // the rectangle of the picture
        h.extend(b"strf");
        words(&mut h, &[40, 40, self.width, self.height, 1 | (24 << 16)]); // planes, bits
        h.extend(b"MJPG");
        words(&mut h, &[self.width * self.height * 3, 0, 0, 0, 0]);
        h.extend(b"indx");
        // Four words per entry, index of indexes.
        words(
            &mut h,
            &[(SUPER_INDEX_BYTES - 8) as u32, 4, self.indexes.len() as u32],
        );
        h.extend(b"00dc");
        words(&mut h, &[0, 0, 0]);
        for (place, size, frames) in &self.indexes {
            h.extend(place.to_le_bytes());
            words(&mut h, &[*size, *frames]);
        }
        h.resize(h.len() + 16 * (MAX_SEGMENTS - self.indexes.len()), 0);
        tagged(&mut h, b"LIST", 4 + 8 + 248, b"odml");
        h.extend(b"dmlh");
        words(&mut h, &[248, self.frames]);
        h.resize(h.len() + 244, 0);
        tagged(&mut h, b"LIST", 4, b"movi"); // `end_segment` sets the size
        debug_assert_eq!(h.len(), HEADER_BYTES);
        h
    }

    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.file
            .file
            .write_all(bytes)
            .map_err(|e| cannot_write(self.file.path(), e))?;
        self.position += bytes.len() as u64;
        Ok(())
    }
    fn patch(&mut self, at: u64, bytes: &[u8]) -> Result<()> {
        let end = self.position;
        let file = &mut self.file.file;
        file.seek(SeekFrom::Start(at))
            .and_then(|_| file.write_all(bytes))
            .and_then(|()| file.seek(SeekFrom::Start(end)))
            .map(|_| ())
            .map_err(|e| cannot_write(self.file.path(), e))
    }
}

fn words(to: &mut Vec<u8>, words: &[u32]) {
    to.extend(words.iter().flat_map(|w| w.to_le_bytes()));
}

/// Appends the header of a list chunk, whose size counts from `kind` on.
fn tagged(to: &mut Vec<u8>, tag: &[u8; 4], size: u32, kind: &[u8; 4]) {
    to.extend(tag);
    words(to, &[size]);
    to.extend(kind);
}
