//! Unpacking zlib (RFC 1950, RFC 1951) into memory of a known size.

use crate::error::{Error, Result};
use flate2::{Decompress, FlushDecompress, Status};

/// Unpacks; keeps its memory for the next time.
#[derive(Debug, Default)]
pub(super) struct Inflater {
    /// Once there was something to unpack.
    zlib: Option<Decompress>,
}

impl Inflater {
    /// Unpacks into `out`; the number of bytes there were.
    ///
    /// # Errors
    /// If the data are damaged, end too early, or hold more than `out` does.
    pub(super) fn unpack(&mut self, packed: &[u8], out: &mut [u8]) -> Result<usize> {
        let zlib = self.zlib.get_or_insert_with(|| Decompress::new(true));
        zlib.reset(true);
        let status = zlib
            .decompress(packed, out, FlushDecompress::Finish)
            .map_err(|e| {
                let why = match e.needs_dictionary() {
                    Some(_) => "they need a dictionary",
                    None => e.message().unwrap_or("they are not as in RFC 1950"),
                };
                Error::invalid(format!("the zlib data are damaged: {why}"))
            })?;
        if status == Status::StreamEnd {
            return Ok(zlib.total_out() as usize);
        }
        Err(if zlib.total_in() as usize == packed.len() {
            Error::invalid("the zlib data are damaged: they end too early")
        } else {
            Error::invalid(format!(
                "the zlib data hold more than the {} bytes of the image",
                out.len()
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_damaged_data_come_good_ones() {
        let data: Vec<u8> = (0..2000_u32).map(|i| (i * i / 900 % 40) as u8).collect();
        // By another library than the one that unpacks.
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
            // Bits before the checksum that fill a byte mean nothing.
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
