//! Blocks of deflate: what they consist of, and their bits (RFC 1951).

use super::huffman::{MOST_META_BITS, code_lengths, codes};

/// Longest repetition of deflate.
pub(super) const MOST_LENGTH: usize = 258;
/// Longest code used: one less than allowed, so that 64 bits hold four and a started byte.
const MOST_BITS_HERE: usize = 14;
const END_OF_BLOCK: usize = 256;
const LITERALS: usize = 286;
const DISTANCES: usize = 30;
/// Most bytes of a block that is not packed.
pub(super) const MOST_STORED: usize = 65535;

/// Bytes as they are, and then a repetition; the last one of a block has length zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Step {
    pub(super) literals: u32,
    pub(super) length: u16,
    pub(super) distance: u16,
}

/// How often symbols are used.
#[derive(Debug)]
pub(super) struct Counts {
    /// Of literals; four, so that counts of neighbours do not wait for each other.
    bytes: [[u32; 256]; 4],
    lengths: [u32; LITERALS],
    distances: [u32; DISTANCES],
    extra_bits: u64,
}

impl Counts {
    pub(super) fn new() -> Self {
        let mut lengths = [0; LITERALS];
        lengths[END_OF_BLOCK] = 1;
        Self {
            bytes: [[0; 256]; 4],
            lengths,
            distances: [0; DISTANCES],
            extra_bits: 0,
        }
    }
    pub(super) fn literals(&mut self, bytes: &[u8]) {
        for (counts, byte) in self.bytes.iter_mut().zip(bytes) {
            counts[usize::from(*byte)] += 1;
        }
    }
    pub(super) fn repetition(&mut self, length: usize, distance: usize) {
        let (length, distance) = (LENGTHS[length], distance_symbol(distance));
        self.lengths[usize::from(length.symbol)] += 1;
        self.distances[usize::from(distance.symbol)] += 1;
        self.extra_bits += u64::from(length.extra_bits + distance.extra_bits);
    }
    fn all_literals(&self) -> [u32; LITERALS] {
        let mut all = self.lengths;
        for counts in &self.bytes {
            for (all, count) in all.iter_mut().zip(counts) {
                *all += count;
            }
        }
        all
    }
}

/// A symbol and the bits after its code (RFC 1951, section 3.2.5).
#[derive(Clone, Copy, Debug, PartialEq)]
struct Symbol {
    symbol: u16,
    extra_bits: u16,
    extra: u32,
}

/// Two to the power of `steps` symbols per doubling, beginning with single values.
const fn symbol_of(value: usize, steps: u32) -> Symbol {
    if value < 1 << (steps + 1) {
        return Symbol {
            symbol: value as u16,
            extra_bits: 0,
            extra: 0,
        };
    }
    let extra_bits = value.ilog2() - steps;
    Symbol {
        symbol: ((value >> extra_bits) as u32 + (extra_bits << steps)) as u16,
        extra_bits: extra_bits as u16,
        extra: value as u32 & ((1 << extra_bits) - 1),
    }
}

fn distance_symbol(distance: usize) -> Symbol {
    symbol_of(distance - 1, 1)
}

/// The symbols of all lengths.
const LENGTHS: [Symbol; MOST_LENGTH + 1] = {
    let mut all = [symbol_of(0, 2); MOST_LENGTH + 1];
    let mut length = 3;
    while length < MOST_LENGTH {
        let found = symbol_of(length - 3, 2);
        all[length] = Symbol {
            symbol: 257 + found.symbol,
            ..found
        };
        length += 1;
    }
    all[MOST_LENGTH].symbol = 285;
    all
};

/// Bits, the first one lowest, after what `bytes` hold.
pub(super) struct Bits<'a> {
    bytes: &'a mut Vec<u8>,
    /// Where the next byte goes; room behind it is made by [`reserve`](Self::reserve).
    at: usize,
    bits: u64,
    count: u32,
}

impl<'a> Bits<'a> {
    pub(super) fn new(bytes: &'a mut Vec<u8>) -> Self {
        let at = bytes.len();
        Self {
            bytes,
            at,
            bits: 0,
            count: 0,
        }
    }
    /// Room for some more bits.
    fn reserve(&mut self, bits: u64) {
        self.bytes.resize(self.at + bits as usize / 8 + 16, 0);
    }
    /// Adds bits; at most 56 may be added before [`flush`](Self::flush).
    fn add(&mut self, bits: u32, count: u32) {
        self.bits |= u64::from(bits) << self.count;
        self.count += count;
    }
    fn code(&mut self, code: u32) {
        self.add(code & 0xffff, code >> 16);
    }
    fn flush(&mut self) {
        if let Some(to) = self.bytes.get_mut(self.at..self.at + 8) {
            to.copy_from_slice(&self.bits.to_le_bytes());
        }
        let whole = self.count & !7;
        self.at += whole as usize / 8;
        self.bits >>= whole;
        self.count -= whole;
    }
    /// Zeros up to the next byte.
    fn align(&mut self) {
        self.count = self.count.next_multiple_of(8);
        self.flush();
    }
    pub(super) fn finish(mut self) {
        self.reserve(64);
        self.align();
        self.bytes.truncate(self.at);
    }

    pub(super) fn block(&mut self, data: &[u8], steps: &[Step], counts: &Counts, is_last: bool) {
        let literals = counts.all_literals();
        let literal_lengths = code_lengths(&literals, MOST_BITS_HERE);
        let distance_lengths = code_lengths(&counts.distances, MOST_BITS_HERE);
        let meta = Meta::new(&literal_lengths, &distance_lengths);
        let total = |counts: &[u32], lengths: &[u8]| -> u64 {
            let each = counts.iter().zip(lengths);
            each.map(|(count, bits)| u64::from(*count) * u64::from(*bits))
                .sum()
        };
        let packed_bits = meta.bits
            + total(&literals, &literal_lengths)
            + total(&counts.distances, &distance_lengths)
            + counts.extra_bits;
        let stored_bits = 8 * (data.len() + 5 * data.len().div_ceil(MOST_STORED).max(1)) as u64;
        if packed_bits >= stored_bits {
            self.stored(data, is_last);
            return;
        }
        self.reserve(packed_bits);
        self.add(u32::from(is_last) | 2 << 1, 3);
        meta.write(self);
        let (literals, distances) = (codes(&literal_lengths), codes(&distance_lengths));
        let mut rest = data;
        for step in steps {
            let (bytes, after) = rest.split_at(step.literals as usize);
            let (fours, few) = bytes.as_chunks::<4>();
            for four in fours {
                for byte in four {
                    self.code(literals[usize::from(*byte)]);
                }
                self.flush();
            }
            for byte in few {
                self.code(literals[usize::from(*byte)]);
            }
            self.flush();
            let length = usize::from(step.length);
            rest = &after[length..];
            if length > 0 {
                for (codes, symbol) in [
                    (&literals[..], LENGTHS[length]),
                    (
                        &distances[..],
                        distance_symbol(usize::from(step.distance) + 1),
                    ),
                ] {
                    self.code(codes[usize::from(symbol.symbol)]);
                    self.add(symbol.extra, symbol.extra_bits.into());
                }
                self.flush();
            }
        }
        self.code(literals[END_OF_BLOCK]);
        self.flush();
    }

    /// Data that no code makes smaller.
    pub(super) fn stored(&mut self, data: &[u8], is_last: bool) {
        let mut rest = data;
        loop {
            let (part, after) = rest.split_at(rest.len().min(MOST_STORED));
            self.reserve(64);
            self.add(u32::from(is_last && after.is_empty()), 3);
            self.align();
            self.bytes.truncate(self.at);
            let length = part.len() as u16;
            self.bytes.extend_from_slice(&length.to_le_bytes());
            self.bytes.extend_from_slice(&(!length).to_le_bytes());
            self.bytes.extend_from_slice(part);
            self.at = self.bytes.len();
            rest = after;
            if rest.is_empty() {
                return;
            }
        }
    }
}

/// The lengths of codes, packed by codes themselves (RFC 1951, section 3.2.7).
struct Meta {
    literals: usize,
    distances: usize,
    /// Symbol, extra bits and their number.
    symbols: [(u8, u8, u8); LITERALS + DISTANCES],
    count: usize,
    lengths: [u8; 19],
    bits: u64,
}

impl Meta {
    const ORDER: [usize; 19] = [
        16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15,
    ];

    fn new(literals: &[u8; LITERALS], distances: &[u8; DISTANCES]) -> Self {
        let used = |lengths: &[u8], least: usize| {
            let last = lengths.iter().rposition(|n| *n > 0);
            last.map_or(least, |last| least.max(last + 1))
        };
        let (n_literals, n_distances) = (used(literals, 257), used(distances, 1));
        let mut all = [0; LITERALS + DISTANCES];
        all[..n_literals].copy_from_slice(&literals[..n_literals]);
        all[n_literals..n_literals + n_distances].copy_from_slice(&distances[..n_distances]);
        let mut symbols = [(0, 0, 0); LITERALS + DISTANCES];
        let mut count = 0;
        let mut push = |symbol, extra, bits| {
            symbols[count] = (symbol, extra, bits);
            count += 1;
        };
        let mut rest = &all[..n_literals + n_distances];
        while let Some(first) = rest.first().copied() {
            let mut run = rest.iter().take_while(|n| **n == first).count();
            rest = &rest[run..];
            if first > 0 {
                push(first, 0, 0);
                run -= 1;
            }
            while run > 0 {
                let (symbol, least, bits, most) = match (first, run) {
                    (0, 11..) => (18, 11, 7, 138),
                    (0, 3..) => (17, 3, 3, 10),
                    (1.., 3..) => (16, 3, 2, 6),
                    _ => (first, 1, 0, 1),
                };
                let taken = run.min(most);
                push(symbol, (taken - least) as u8, bits);
                run -= taken;
            }
        }
        let mut counts = [0; 19];
        let used = &symbols[..count];
        for (symbol, ..) in used {
            counts[usize::from(*symbol)] += 1;
        }
        let lengths = code_lengths(&counts, MOST_META_BITS);
        let bits = used
            .iter()
            .map(|(symbol, _, extra)| u64::from(lengths[usize::from(*symbol)] + extra));
        let bits = 3 + 14 + 3 * 19 + bits.sum::<u64>();
        Self {
            literals: n_literals,
            distances: n_distances,
            symbols,
            count,
            lengths,
            bits,
        }
    }

    fn write(&self, out: &mut Bits<'_>) {
        let sent = Self::ORDER.iter().rposition(|s| self.lengths[*s] > 0);
        let sent = sent.map_or(4, |last| (last + 1).max(4));
        out.add(self.literals as u32 - 257, 5);
        out.add(self.distances as u32 - 1, 5);
        out.add(sent as u32 - 4, 4);
        out.flush();
        for symbol in &Self::ORDER[..sent] {
            out.add(self.lengths[*symbol].into(), 3);
            out.flush();
        }
        let codes = codes(&self.lengths);
        for (symbol, extra, bits) in &self.symbols[..self.count] {
            out.code(codes[usize::from(*symbol)]);
            out.add((*extra).into(), (*bits).into());
            out.flush();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_are_those_of_the_specification() {
        // RFC 1951, section 3.2.5.
        for (length, symbol, extra_bits, extra) in [
            (3, 257, 0, 0),
            (10, 264, 0, 0),
            (11, 265, 1, 0),
            (12, 265, 1, 1),
            (115, 280, 4, 0),
            (131, 281, 5, 0),
            (257, 284, 5, 30),
            (258, 285, 0, 0),
        ] {
            assert_eq!(
                LENGTHS[length],
                Symbol {
                    symbol,
                    extra_bits,
                    extra
                }
            );
        }
        for (distance, symbol, extra_bits, extra) in [
            (1, 0, 0, 0),
            (4, 3, 0, 0),
            (5, 4, 1, 0),
            (6, 4, 1, 1),
            (193, 15, 6, 0),
            (32768, 29, 13, 8191),
        ] {
            assert_eq!(
                distance_symbol(distance),
                Symbol {
                    symbol,
                    extra_bits,
                    extra
                }
            );
        }
    }
}
