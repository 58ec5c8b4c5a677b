//! Whole numbers as bits: adaptive Golomb-Rice codes, least significant bit first.
//!
//! Source: R. F. Rice, "Some practical universal noiseless coding techniques", JPL 79-22, 1979.

/// Values that share one parameter.
pub(super) const BLOCK: usize = 128;
/// Bits of a parameter.
const PARAMETER: u32 = 5;
/// Parameter of a block of zeros.
const ZEROS: u32 = 31;
/// Ones before a value that is written with all of its bits.
const ESCAPE: u32 = 24;

/// Bits written so far.
#[derive(Default)]
pub(super) struct BitWriter {
    bytes: Vec<u8>,
    /// Bits that do not fill a byte yet.
    pending: u64,
    count: u32,
}

impl BitWriter {
    /// Writes the lowest `count` bits of `value`, at most 32; higher ones must be 0.
    pub(super) fn bits(&mut self, value: u32, count: u32) {
        self.pending |= u64::from(value) << self.count;
        self.count += count;
        while self.count >= 8 {
            self.bytes.push(self.pending as u8);
            self.pending >>= 8;
            self.count -= 8;
        }
    }

    /// Writes signed values.
    pub(super) fn values(&mut self, values: &[i32]) {
        for block in values.chunks(BLOCK) {
            let parameter = best_parameter(block);
            self.bits(parameter, PARAMETER);
            if parameter == ZEROS {
                continue;
            }
            for value in block {
                let folded = fold(*value);
                let high = folded >> parameter;
                if high < ESCAPE {
                    self.bits((1 << high) - 1, high + 1);
                    self.bits(folded & ((1 << parameter) - 1), parameter);
                } else {
                    self.bits((1 << ESCAPE) - 1, ESCAPE);
                    self.bits(folded, 32);
                }
            }
        }
    }

    /// Returns the bytes; the last one ends with zeros.
    pub(super) fn finish(mut self) -> Vec<u8> {
        if self.count > 0 {
            self.bytes.push(self.pending as u8);
        }
        self.bytes
    }
}

/// Maps 0, -1, 1, -2, ... to 0, 1, 2, 3, ...
fn fold(value: i32) -> u32 {
    (value.wrapping_shl(1) ^ (value >> 31)) as u32
}

fn unfold(folded: u32) -> i32 {
    (folded >> 1) as i32 ^ -((folded & 1) as i32)
}

/// Returns the parameter with the shortest code.
fn best_parameter(block: &[i32]) -> u32 {
    let sum: u64 = block.iter().map(|value| u64::from(fold(*value))).sum();
    let Some(mean) = sum.checked_div(block.len() as u64) else {
        return ZEROS;
    };
    if sum == 0 {
        return ZEROS;
    }
    let near = mean.max(1).ilog2().min(ZEROS - 2);
    let length = |parameter: u32| {
        let code = |value: &i32| match fold(*value) >> parameter {
            high if high < ESCAPE => u64::from(high + 1 + parameter),
            _ => u64::from(ESCAPE + 32),
        };
        block.iter().map(code).sum::<u64>()
    };
    let candidates = near.saturating_sub(1)..=near + 1;
    candidates.min_by_key(|p| length(*p)).unwrap_or(near)
}

/// Reader of what a [`BitWriter`] wrote. Bits after the end are zeros.
pub(super) struct BitReader<'b> {
    bytes: &'b [u8],
    /// Number of bits that were read.
    at: usize,
}

impl<'b> BitReader<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    fn bit(&mut self) -> u32 {
        let byte = self.bytes.get(self.at / 8).copied().unwrap_or(0);
        let bit = byte >> (self.at % 8) & 1;
        self.at += 1;
        u32::from(bit)
    }

    pub(super) fn bits(&mut self, count: u32) -> u32 {
        (0..count).fold(0, |value, i| value | self.bit() << i)
    }

    /// Reads as many values as `values` has room for.
    pub(super) fn values(&mut self, values: &mut [i32]) {
        for block in values.chunks_mut(BLOCK) {
            let parameter = self.bits(PARAMETER);
            if parameter == ZEROS {
                block.fill(0);
                continue;
            }
            for value in block {
                let mut high = 0;
                while high < ESCAPE && self.bit() == 1 {
                    high += 1;
                }
                *value = unfold(match high {
                    ESCAPE => self.bits(32),
                    _ => high << parameter | self.bits(parameter),
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn codes_are_those_of_the_readme() {
        let mut w = BitWriter::default();
        w.bits(0b101, 3);
        w.values(&[0, -1, 1, 5]);
        let written = w.finish();
        let bit = |i: usize| char::from(b'0' + (written[i / 8] >> (i % 8) & 1));
        let bits: String = (0..22).map(bit).collect();
        // The parameter is 1. The values become 0, 1, 2 and 10: a half in ones, and the lowest bit.
        assert_eq!(
            bits,
            ["101", "10000", "00", "01", "100", "1111100"].concat()
        );
    }

    proptest! {
        #[test]
        fn values_survive(values in prop::collection::vec(
            prop_oneof![
                4 => -3..3_i32,
                2 => -300..300_i32,
                1 => prop_oneof![any::<i32>(), Just(i32::MIN), Just(i32::MAX)],
            ],
            0..400,
        )) {
            let mut w = BitWriter::default();
            w.bits(5, 3);
            w.values(&values);
            w.bits(1, 1);
            let bytes = w.finish();
            let mut r = BitReader::new(&bytes);
            prop_assert_eq!(r.bits(3), 5);
            let mut found = vec![7; values.len()];
            r.values(&mut found);
            prop_assert_eq!(found, values);
            prop_assert_eq!(r.bits(1), 1);
        }
    }
}
