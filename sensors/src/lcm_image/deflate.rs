//! Packing pixels as zlib (RFC 1950, RFC 1951), several times as fast as zlib itself.
//!
//! Repetitions are looked for where pixels begin only: at the same pixel of the row above, and where the
//! same pixel was last seen. That is a quarter of the work for pixels of four bytes, and loses little, because
//! pixels repeat as wholes.

use super::block::{Bits, Counts, MOST_LENGTH, Step};
use rayon::prelude::*;

/// How far back a repetition may be.
const WINDOW: usize = 1 << 15;
/// Input of one block, which has codes of its own: what is alike is near. Whole pixels of any type.
const BLOCK: usize = 3 << 16;
/// More find more, and take longer.
const SLOTS: usize = 1 << 12;

/// How many parts an image is packed in at most, at the same time where there are threads. The same for any
/// number of threads, so the bytes are.
const MOST_PARTS: usize = 8;

/// Packs; keeps its memory for the next time.
#[derive(Debug, Default)]
pub(super) struct Packer {
    parts: Vec<Part>,
}

impl Packer {
    /// Replaces `packed` by a zlib stream of `data`, rows of `row_bytes` with pixels of `pixel_bytes`.
    pub(super) fn pack(
        &mut self,
        data: &[u8],
        pixel_bytes: usize,
        row_bytes: usize,
        packed: &mut Vec<u8>,
    ) {
        let part_bytes = data.len().div_ceil(MOST_PARTS).next_multiple_of(BLOCK);
        let count = data.len().div_ceil(part_bytes.max(1)).max(1);
        self.parts.resize_with(count, Part::default);
        let pack = |(i, part): (usize, &mut Part)| {
            let range = i * part_bytes..data.len().min((i + 1) * part_bytes);
            match pixel_bytes {
                4 => part.pack::<4>(data, range, row_bytes),
                3 => part.pack::<3>(data, range, row_bytes),
                2 => part.pack::<2>(data, range, row_bytes),
                _ => part.pack::<1>(data, range, row_bytes),
            }
        };
        if count == 1 {
            self.parts.iter_mut().enumerate().for_each(pack);
        } else {
            self.parts.par_iter_mut().enumerate().for_each(pack);
        }
        packed.clear();
        // Deflate with the whole window; level 1 of four.
        packed.extend_from_slice(&[0x78, 0x01]);
        for part in &self.parts {
            packed.extend_from_slice(&part.packed);
        }
        packed.extend_from_slice(&simd_adler32::adler32(&data).to_be_bytes());
    }
}

/// A part of the data, which begins and ends with whole bytes of the stream.
#[derive(Debug, Default)]
struct Part {
    /// Where a pixel of a hash was seen last, plus one.
    seen: Vec<[u32; SLOTS]>,
    steps: Vec<Step>,
    packed: Vec<u8>,
}

impl Part {
    fn pack<const PIXEL: usize>(
        &mut self,
        data: &[u8],
        range: std::ops::Range<usize>,
        row_bytes: usize,
    ) {
        let mut packed = std::mem::take(&mut self.packed);
        packed.clear();
        self.seen.clear();
        self.seen.push([0; SLOTS]);
        let mut out = Bits::new(&mut packed);
        let mut start = range.start;
        loop {
            let end = range.end.min(start + BLOCK);
            let counts = self.find_steps::<PIXEL>(data, start..end, row_bytes);
            out.block(&data[start..end], &self.steps, &counts, end == data.len());
            start = end;
            if start == range.end {
                break;
            }
        }
        if range.end < data.len() {
            // A block of nothing, which ends with a byte.
            out.stored(&[], false);
        }
        out.finish();
        self.packed = packed;
    }

    /// What a block consists of.
    fn find_steps<const PIXEL: usize>(
        &mut self,
        data: &[u8],
        block: std::ops::Range<usize>,
        row_bytes: usize,
    ) -> Counts {
        let mut counts = Counts::new();
        let Self { seen, steps, .. } = self;
        let Some(seen) = seen.first_mut() else {
            return counts;
        };
        steps.clear();
        // A pixel, with bytes of the next one if it has less than three: nothing shorter can repeat.
        let mask = if PIXEL == 3 { 0xff_ffff } else { u32::MAX };
        let data = &data[..block.end];
        let (mut at, mut literals_from) = (block.start, block.start);
        // Where rows are too long, what no place has.
        let above = if (1..=WINDOW).contains(&row_bytes) {
            row_bytes
        } else {
            usize::MAX
        };
        while let Some(pixel) = word(data, at) {
            let pixel = pixel & mask;
            let slot = pixel.wrapping_mul(0x9e37_79b1) as usize >> (32 - SLOTS.ilog2());
            let last_seen = seen[slot] as usize;
            seen[slot] = at as u32 + 1;
            let is_same = |before: usize| word(data, before).is_some_and(|w| w & mask == pixel);
            let is_above_same = at >= above && is_same(at - above);
            // Where nothing was seen, this wraps to what is no place.
            let before = last_seen.wrapping_sub(1);
            let is_seen_same = at.wrapping_sub(before) <= WINDOW && is_same(before);
            let (mut length, mut distance);
            // One branch that can not be foreseen, not two.
            if is_above_same | is_seen_same {
                distance = if is_above_same { above } else { at - before };
                length = common(data, at, at - distance);
                if is_above_same & is_seen_same && length < MOST_LENGTH {
                    let other = common(data, at, before);
                    // Near ones have shorter codes.
                    if other > length || (other == length && at - before < distance) {
                        (length, distance) = (other, at - before);
                    }
                }
                if PIXEL == 3 && length == 3 && distance > 4096 {
                    // As long as the bytes themselves.
                    counts.literals(&data[at..at + PIXEL]);
                    at += PIXEL;
                    continue;
                }
                if length > PIXEL {
                    // The next search starts where a pixel does.
                    length -= length % PIXEL;
                }
            } else {
                let left = at.checked_sub(PIXEL).and_then(|left| word(data, left));
                if PIXEL != 4 || left.is_none_or(|left| (left ^ pixel) >> 8 != 0) {
                    counts.literals(&data[at..at + PIXEL]);
                    at += PIXEL;
                    continue;
                }
                // All but the first byte is that of the pixel before.
                counts.literals(&data[at..at + 1]);
                at += 1;
                distance = PIXEL;
                length = common(data, at, at - PIXEL);
                length -= (length + 1) % PIXEL;
            }
            counts.repetition(length, distance);
            steps.push(Step {
                literals: (at - literals_from) as u32,
                length: length as u16,
                distance: (distance - 1) as u16,
            });
            at += length;
            literals_from = at;
        }
        counts.literals(&data[at..]);
        steps.push(Step {
            literals: (block.end - literals_from) as u32,
            length: 0,
            distance: 0,
        });
        counts
    }
}

fn word(data: &[u8], at: usize) -> Option<u32> {
    data.get(at..)
        .and_then(|rest| rest.first_chunk())
        .map(|bytes| u32::from_le_bytes(*bytes))
}

/// How many bytes are the same at two places, the second one earlier.
fn common(data: &[u8], at: usize, before: usize) -> usize {
    let now = &data[at..data.len().min(at + MOST_LENGTH)];
    let then = &data[before..before + now.len()];
    let (a, a_rest) = now.as_chunks();
    let (b, b_rest) = then.as_chunks();
    for (i, (a, b)) in a.iter().zip(b).enumerate() {
        let other = u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b);
        if other != 0 {
            return 8 * i + other.trailing_zeros() as usize / 8;
        }
    }
    let same = a_rest.iter().zip(b_rest).take_while(|(a, b)| a == b);
    8 * a.len() + same.count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lcm_image::block::MOST_STORED;
    use proptest::prelude::*;

    /// Bytes like those of images, and unlike.
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

    fn unpacked(packed: &[u8]) -> Vec<u8> {
        // Another decoder than the one in this crate.
        let mut out = vec![];
        let mut decoder = flate2::read::ZlibDecoder::new(packed);
        std::io::Read::read_to_end(&mut decoder, &mut out).unwrap();
        out
    }

    proptest! {
        #[test]
        fn what_is_packed_comes_back(data in any_data(), pixel in 1_usize..5, width in 0_usize..300) {
            let (mut packer, mut packed) = (Packer::default(), vec![1, 2, 3]);
            // Twice, with memory of the first time.
            for _ in 0..2 {
                packer.pack(&data, pixel, pixel * width, &mut packed);
                prop_assert!(unpacked(&packed) == data);
                prop_assert_eq!(fdeflate::decompress_to_vec(&packed).ok(), Some(data.clone()));
                prop_assert!(packed.len() <= data.len() + 5 * data.len().div_ceil(MOST_STORED).max(1) + 8);
            }
        }
    }

    #[test]
    fn many_blocks_of_all_kinds() {
        let mut state = 1_u64;
        let mut noise = || {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 56) as u8
        };
        let mut data: Vec<u8> = (0..300_000).map(|_| noise()).collect();
        data.extend(std::iter::repeat_n(7, 400_000));
        data.extend((0..300_000).map(|i| (i / 997) as u8 & noise()));
        let mut packed = vec![];
        for (pixel, row) in [
            (1, 997),
            (2, 2 * 997),
            (3, 3 * 997),
            (4, 4 * 997),
            (4, 1 << 20),
        ] {
            Packer::default().pack(&data, pixel, row, &mut packed);
            assert!(unpacked(&packed) == data, "{pixel} {row}");
            assert!(packed.len() < 650_000, "{pixel} {row}: {}", packed.len());
        }
    }
}
