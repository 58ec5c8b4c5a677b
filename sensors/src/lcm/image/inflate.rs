//! Decompression of zlib data (RFC 1950, RFC 1951) into memory of a known size.
//!
//! In general, a stream refers to earlier data and is decompressed sequentially. The parts that our
//! own [packer](super::deflate) joins do not refer to each other, and are decompressed in parallel.
//!
//! A noisy 640x480 image that Drake compressed takes 2.05 ms, of which zlib-rs takes 1.56 ms. The C
//! library libdeflate would take 1.29 ms, so another decoder would gain little.

use super::deflate::{HEADER, MOST_PARTS, bytes_of_parts};
use crate::{Error, ErrorKind, Result};
use flate2::{Decompress, FlushDecompress, Status};
use memchr::memmem;
use rayon::prelude::*;

/// Last bytes of a flush to a byte boundary: the lengths of an empty block.
const FLUSHED: [u8; 4] = [0, 0, 0xff, 0xff];
const CHECKSUM: usize = 4;

/// A zlib decompressor that reuses its memory.
#[derive(Debug, Default)]
pub(super) struct Inflater {
    /// Created at the first use.
    zlib: Option<Decompress>,
    /// Decompressors of the parts, created at the first use.
    parts: Vec<Decompress>,
}

impl Inflater {
    /// Decompresses into `out` and returns the number of bytes.
    ///
    /// # Errors
    /// Returns an error if the data are damaged or truncated, or hold more than `out` does.
    pub(super) fn unpack(&mut self, packed: &[u8], out: &mut [u8]) -> Result<usize> {
        if self.unpack_parts(packed, out).is_some() {
            return Ok(out.len());
        }
        let zlib = self.zlib.get_or_insert_with(|| Decompress::new(true));
        zlib.reset(true);
        let status = zlib
            .decompress(packed, out, FlushDecompress::Finish)
            .map_err(|e| {
                let why = match e.needs_dictionary() {
                    Some(_) => "they need a dictionary",
                    None => e.message().unwrap_or("they violate RFC 1950"),
                };
                damaged(format!("the zlib data are damaged: {why}"))
            })?;
        if status == Status::StreamEnd {
            return Ok(zlib.total_out() as usize);
        }
        Err(if zlib.total_in() as usize == packed.len() {
            damaged("the zlib data are damaged: they end too early")
        } else {
            damaged(format!(
                "the zlib data hold more than the {} bytes of the image",
                out.len()
            ))
        })
    }

    /// Decompresses data that our packer made from as many bytes as `out` has. Returns `None` for
    /// any other data, including damaged data; then the contents of `out` are unspecified.
    fn unpack_parts(&mut self, packed: &[u8], out: &mut [u8]) -> Option<()> {
        let part_bytes = bytes_of_parts(out.len());
        let count = out.len().div_ceil(part_bytes);
        if count < 2 || rayon::current_num_threads() < 2 {
            return None;
        }
        let (packed, checksum) = packed
            .strip_prefix(&HEADER)?
            .split_last_chunk::<CHECKSUM>()?;
        let mut parts = [&[][..]; MOST_PARTS];
        let (mut found, mut start) = (0, 0);
        for at in memmem::find_iter(packed, &FLUSHED) {
            let end = at + FLUSHED.len();
            // There are more of them in other streams or, by chance, in noise.
            *parts[..count - 1].get_mut(found)? = &packed[start..end];
            (found, start) = (found + 1, end);
        }
        if found != count - 1 {
            return None;
        }
        parts[found] = &packed[start..];
        if self.parts.len() < count {
            self.parts.resize_with(count, || Decompress::new(false));
        }
        let work = self.parts.par_iter_mut().zip(parts);
        let work = work.zip(out.par_chunks_mut(part_bytes)).enumerate();
        let done = work.with_max_len(1).map(|(i, ((zlib, part), out))| {
            zlib.reset(false);
            let status = zlib.decompress(part, out, FlushDecompress::Finish).ok()?;
            let is_last = status == Status::StreamEnd;
            let found = (zlib.total_in() as usize, zlib.total_out() as usize);
            (found == (part.len(), out.len()) && is_last == (i + 1 == count)).then_some(())
        });
        done.collect::<Option<()>>()?;
        // The checksum detects parts that end elsewhere than found here.
        (simd_adler32::adler32(&&*out).to_be_bytes() == *checksum).then_some(())
    }
}

fn damaged(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Parse, message)
}

#[cfg(test)]
mod tests {
    use super::super::deflate::{Packer, tests::mixed_data};
    use super::*;
    use flate2::{Compress, Compression, FlushCompress};

    fn with_threads<V: Send>(threads: usize, work: impl FnOnce() -> V + Send) -> V {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(work)
    }

    /// Decompresses with one thread and with several, and checks that the results are equal.
    fn unpack_by_any(inflater: &mut Inflater, packed: &[u8], out: &mut [u8]) -> Result<usize> {
        let mut sequential = vec![1; out.len()];
        let expected = with_threads(1, || Inflater::default().unpack(packed, &mut sequential));
        let found = with_threads(3, || inflater.unpack(packed, out));
        match (&expected, &found) {
            (Ok(n), Ok(m)) => assert!((n, &sequential[..*n]) == (m, &out[..*m])),
            (Err(a), Err(b)) => assert_eq!(a.to_string(), b.to_string()),
            _ => panic!("{expected:?} by one thread, {found:?} by three"),
        }
        found
    }

    #[test]
    fn parts_are_decompressed_in_parallel() {
        let all = mixed_data();
        let (mut packer, mut packed) = (Packer::default(), vec![]);
        let mut inflater = Inflater::default();
        for (len, is_parts) in [
            (all.len(), true),
            (900_000, true),
            (131_073, true),
            (131_072, false),
            (5, false),
        ] {
            let data = &all[all.len() - len..];
            packer.pack(data, &mut packed).unwrap();
            let mut out = vec![0; len];
            with_threads(3, || {
                let done = inflater.unpack_parts(&packed, &mut out);
                assert_eq!(done.is_some(), is_parts, "{len} bytes");
            });
            out.fill(0);
            assert_eq!(
                unpack_by_any(&mut inflater, &packed, &mut out).unwrap(),
                len
            );
            assert!(out == data);
            // Output buffers that are too small and too large.
            let less = &mut vec![0; len - 1];
            assert!(unpack_by_any(&mut inflater, &packed, less).is_err());
            let more = &mut vec![0; len + 100_000];
            assert_eq!(unpack_by_any(&mut inflater, &packed, more).unwrap(), len);
        }
    }

    #[test]
    fn damaged_parts_are_detected() {
        let data = &mixed_data()[500_000..900_000];
        let (mut packed, mut out) = (vec![], vec![0; data.len()]);
        Packer::default().pack(data, &mut packed).unwrap();
        let mut inflater = Inflater::default();
        for k in 0..200 {
            // Positions throughout the data, and near both ends.
            let at = match k {
                0..100 => k * packed.len() / 100,
                100..150 => k - 100,
                _ => packed.len() - 200 + k,
            };
            let mut damaged = packed.clone();
            damaged[at] ^= 1 << (k % 8);
            if unpack_by_any(&mut inflater, &damaged, &mut out).is_ok() {
                assert!(out == data, "a bit of byte {at}");
            }
            assert!(unpack_by_any(&mut inflater, &packed[..at], &mut out).is_err());
        }
        // Ends of parts without the parts, and an extra byte.
        let empty: Vec<u8> = [HEADER.to_vec(), FLUSHED.repeat(3), vec![0; 4]].concat();
        assert!(unpack_by_any(&mut inflater, &empty, &mut out).is_err());
        packed.push(0);
        assert!(unpack_by_any(&mut inflater, &packed, &mut out).is_ok());
    }

    #[test]
    fn parts_that_refer_to_each_other_are_decompressed() {
        let data = &mixed_data()[1_000_000..];
        let mut packed = vec![];
        let mut zlib = Compress::new(Compression::new(2), true);
        for part in data.chunks(bytes_of_parts(data.len())) {
            packed.reserve(part.len() + 1000);
            zlib.compress_vec(part, &mut packed, FlushCompress::Sync)
                .unwrap();
        }
        packed.reserve(100);
        zlib.compress_vec(&[], &mut packed, FlushCompress::Finish)
            .unwrap();
        assert!(packed.starts_with(&HEADER));
        let mut out = vec![0; data.len()];
        let n = unpack_by_any(&mut Inflater::default(), &packed, &mut out);
        assert_eq!(n.unwrap(), data.len());
        assert!(out == data);
    }

    #[test]
    fn damaged_data_do_not_affect_later_data() {
        let data: Vec<u8> = (0..2000_u32).map(|i| (i * i / 900 % 40) as u8).collect();
        // Compressed with a different library.
        let good = fdeflate::compress_to_vec(&data);
        let (mut inflater, mut out) = (Inflater::default(), vec![0; data.len()]);
        let is_good = |inflater: &mut Inflater| {
            let mut out = vec![0; data.len()];
            inflater.unpack(&good, &mut out).unwrap() == data.len() && out == data
        };
        for i in 0..good.len() {
            let e = inflater.unpack(&good[..i], &mut out).unwrap_err();
            assert!(e.to_string().ends_with("end too early"), "{i} bytes: {e}");
            assert!(is_good(&mut inflater), "after {i} bytes");
        }
        for bit in 0..8 * good.len() {
            let mut damaged = good.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            // The padding bits before the checksum have no meaning.
            let done = inflater.unpack(&damaged, &mut out);
            assert!(done.is_err() || out == data, "bit {bit}");
            assert!(is_good(&mut inflater), "after bit {bit}");
        }
        for room in 0..data.len() {
            let e = inflater.unpack(&good, &mut out[..room]).unwrap_err();
            let expected = format!("hold more than the {room} bytes of the image");
            assert!(e.to_string().ends_with(&expected), "{room}: {e}");
        }
        assert!(is_good(&mut inflater));
        let with_dictionary = [0x78, 0xbb, 0, 0, 0, 1, 3, 0, 0, 0, 0, 1];
        let e = inflater.unpack(&with_dictionary, &mut out).unwrap_err();
        assert!(e.to_string().contains("need a dictionary"), "{e}");
        assert!(is_good(&mut inflater));
    }
}
