//! Compression of pixels with zlib (RFC 1950, RFC 1951) on several threads.
//!
//! The method is that of pigz (<https://zlib.net/pigz/>): parts of the data are compressed
//! separately, each as a raw deflate stream whose end is flushed to a whole byte, and are joined
//! behind one header. A part cannot refer to the previous one. This costs little, because parts are
//! much longer than the window of deflate (32 KiB).

use crate::{Error, Result};
use flate2::{Compress, Compression, FlushCompress, Status};
use rayon::prelude::*;

/// Level 1 is faster, but its codes do not suit the data and make images 1.2 to 1.8 times as large.
const LEVEL: Compression = Compression::new(2);
/// Header of a zlib stream: deflate with the largest window, and the fast algorithm (RFC 1950,
/// section 2.2).
pub(super) const HEADER: [u8; 2] = [0x78, 0x5e];

/// Maximum number of parts. It does not depend on the number of threads, so that the bytes do not
/// either.
pub(super) const MOST_PARTS: usize = 8;
/// Minimum size of a part (bytes); a shorter one is not worth a thread.
const LEAST_PART: usize = 1 << 17;

/// Returns the size of each part (bytes); the last part may be shorter.
pub(super) fn bytes_of_parts(data: usize) -> usize {
    data.div_ceil(MOST_PARTS).max(LEAST_PART)
}

/// A zlib compressor that reuses its memory.
#[derive(Debug, Default)]
pub(super) struct Packer {
    parts: Vec<DeflatePart>,
}

impl Packer {
    /// Replaces `packed` by a zlib stream of `data`.
    ///
    /// # Errors
    /// Returns an error, and leaves `packed` unchanged, if zlib fails; no such case is known.
    pub(super) fn pack(&mut self, data: &[u8], packed: &mut Vec<u8>) -> Result<()> {
        let part_bytes = bytes_of_parts(data.len());
        let count = data.len().div_ceil(part_bytes).max(1);
        if self.parts.len() < count {
            self.parts.resize_with(count, DeflatePart::default);
        }
        let parts = &mut self.parts[..count];
        let pack = |(i, part): (usize, &mut DeflatePart)| {
            let end = data.len().min((i + 1) * part_bytes);
            part.pack(&data[i * part_bytes..end], i + 1 == count)
        };
        if count == 1 {
            parts.iter_mut().enumerate().try_for_each(pack)?;
        } else {
            let parts = parts.par_iter_mut().enumerate();
            // One part per task balances the load: three threads get three, three and two of eight
            // parts, not four, two and two.
            parts.with_max_len(1).try_for_each(pack)?;
        }
        packed.clear();
        packed.extend_from_slice(&HEADER);
        for part in parts {
            packed.extend_from_slice(&part.packed);
        }
        packed.extend_from_slice(&simd_adler32::adler32(&data).to_be_bytes());
        Ok(())
    }
}

/// A compressed part of the data, which begins and ends at byte boundaries of the stream.
#[derive(Debug)]
struct DeflatePart {
    zlib: Compress,
    packed: Vec<u8>,
}

impl Default for DeflatePart {
    fn default() -> Self {
        Self {
            zlib: Compress::new(LEVEL, false),
            packed: vec![],
        }
    }
}

impl DeflatePart {
    fn pack(&mut self, data: &[u8], is_last: bool) -> Result<()> {
        let Self { zlib, packed } = self;
        zlib.reset();
        packed.clear();
        let flush = if is_last {
            FlushCompress::Finish
        } else {
            FlushCompress::Sync
        };
        loop {
            let consumed = zlib.total_in() as usize;
            // A compression ratio of eight is usual.
            packed.reserve((data.len() - consumed) / 8 + 64);
            let before = (consumed, packed.len());
            let status = zlib
                .compress_vec(&data[consumed..], packed, flush)
                .map_err(|e| Error::invalid("zlib").with_cause(e))?;
            let after = (zlib.total_in() as usize, packed.len());
            // A flush is complete if there is room left.
            let is_flushed = after.0 == data.len() && packed.len() < packed.capacity();
            if status == Status::StreamEnd || (!is_last && is_flushed) {
                return Ok(());
            }
            if after == before {
                return Err(Error::invalid(format!(
                    "zlib stopped after {} of {} bytes",
                    after.0,
                    data.len()
                )));
            }
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Generates bytes similar to those of images, and random ones.
    fn any_data() -> impl Strategy<Value = Vec<u8>> {
        let runs = prop::collection::vec((any::<u8>(), 0_usize..700), 0..60);
        let runs = runs.prop_map(|runs| {
            let run = |(byte, n): (u8, usize)| std::iter::repeat_n(byte, n);
            runs.into_iter().flat_map(run).collect()
        });
        let pixels = prop::collection::vec(
            prop::sample::select(&[[1, 2, 3, 4], [1, 2, 3, 9], [7, 2, 3, 4]][..]),
            0..9000,
        );
        let pixels = pixels.prop_map(|pixels: Vec<[u8; 4]>| pixels.concat());
        prop_oneof![
            prop::collection::vec(any::<u8>(), 0..3000),
            prop::collection::vec(0_u8..4, 0..3000),
            runs,
            pixels,
        ]
    }

    fn unpacked(packed: &[u8]) -> Option<Vec<u8>> {
        // Decompresses with a different library.
        fdeflate::decompress_to_vec(packed).ok()
    }

    proptest! {
        #[test]
        fn compression_round_trips(first in any_data(), second in any_data()) {
            let (mut packer, mut packed) = (Packer::default(), vec![1, 2, 3]);
            // The packer reuses the memory of earlier data.
            for data in [&first, &second, &first] {
                packer.pack(data, &mut packed).unwrap();
                let mut fresh = vec![];
                Packer::default().pack(data, &mut fresh).unwrap();
                prop_assert!(packed == fresh);
                prop_assert!(unpacked(&packed).as_ref() == Some(data));
                prop_assert!(packed.len() <= data.len() + data.len() / 1000 + 64);
            }
        }
    }

    /// Returns noise, then a constant, then sparse noise.
    pub(in super::super) fn mixed_data() -> Vec<u8> {
        let mut state = 1_u64;
        let mut noise = || {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 56) as u8
        };
        let mut data: Vec<u8> = (0..600_000).map(|_| noise()).collect();
        data.extend(std::iter::repeat_n(7, 800_000));
        data.extend((0..600_000).map(|i| (i / 997) as u8 & noise()));
        data
    }

    #[test]
    fn bytes_do_not_depend_on_the_number_of_threads() {
        let data = mixed_data();
        let packed_by = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let mut packed = vec![];
            let done = pool.build().unwrap();
            done.install(|| Packer::default().pack(&data, &mut packed).unwrap());
            packed
        };
        let one = packed_by(1);
        for threads in [2, 3, 16] {
            assert!(packed_by(threads) == one, "{threads} threads");
        }
        assert!(unpacked(&one).is_some_and(|found| found == data));
        // Noise cannot be compressed.
        assert!((600_000..1_300_000).contains(&one.len()), "{}", one.len());
    }

    #[test]
    fn parts_of_all_sizes_are_joined() {
        let data = mixed_data();
        let mut packer = Packer::default();
        let mut packed = vec![];
        for parts in [1, 2, 7, 8, 9] {
            for more in [-1, 0, 1] {
                let data = &data[..(parts * LEAST_PART).strict_add_signed(more)];
                packer.pack(data, &mut packed).unwrap();
                assert!(unpacked(&packed).is_some_and(|found| found == data));
            }
        }
    }
}
