//! Prefix codes as deflate has them (RFC 1951, section 3.2.2).

/// Longest code of bytes, lengths and distances.
pub(super) const MOST_BITS: usize = 15;
/// Longest code of the lengths of codes.
pub(super) const MOST_META_BITS: usize = 7;

/// Numbers of bits, so that frequent symbols get few: nearly the best ones that are at most `most` bits.
///
/// Two symbols at least get a code, as old readers expect.
pub(super) fn code_lengths<const N: usize>(counts: &[u32; N], most: usize) -> [u8; N] {
    // Those that are not used come first; two of them are taken where there are too few others.
    let mut used: [(u32, u16); N] = std::array::from_fn(|i| (counts[i], i as u16));
    used.sort_unstable();
    let unused = used.partition_point(|(count, _)| *count == 0).min(N - 2);
    let used = &used[unused..];
    let mut weights = [0; N];
    let weights = &mut weights[..used.len()];
    for (weight, (count, _)) in weights.iter_mut().zip(used) {
        *weight = (*count).max(1);
    }
    depths(weights);

    // How many codes there are of each length; then those that are too long are shortened and others made
    // longer, until all fit (Kraft's sum is one).
    let mut of_length = [0_u32; 64];
    for depth in &*weights {
        of_length[(*depth as usize).min(most)] += 1;
    }
    let mut sum: u32 = (1..=most).map(|n| of_length[n] << (most - n)).sum();
    while sum > 1 << most {
        let Some(n) = (1..most).rev().find(|n| of_length[*n] > 0) else {
            break;
        };
        of_length[most] -= 1;
        of_length[n] -= 1;
        of_length[n + 1] += 2;
        sum -= 1;
    }
    let mut lengths = [0; N];
    let mut rarest_first = used.iter();
    for n in (1..=most).rev() {
        for (_, symbol) in rarest_first.by_ref().take(of_length[n] as usize) {
            lengths[usize::from(*symbol)] = n as u8;
        }
    }
    lengths
}

/// Turns weights, at least two in ascending order, into the depths of Huffman's tree, in place (A. Moffat,
/// J. Katajainen, "In-place calculation of minimum-redundancy codes", 1995).
fn depths(a: &mut [u32]) {
    let n = a.len();
    // Weights of inner nodes become the numbers of their parents.
    a[0] += a[1];
    let (mut root, mut leaf) = (0, 2);
    for next in 1..n - 1 {
        let mut take = |a: &mut [u32], next: usize| {
            if leaf >= n || (root < next && a[root] < a[leaf]) {
                let weight = a[root];
                a[root] = next as u32;
                root += 1;
                weight
            } else {
                leaf += 1;
                a[leaf - 1]
            }
        };
        let (first, second) = (take(a, next), take(a, next));
        a[next] = first + second;
    }
    // Parents become depths of inner nodes.
    a[n - 2] = 0;
    for i in (0..n - 2).rev() {
        a[i] = a[a[i] as usize] + 1;
    }
    // Depths of leaves: the places that inner nodes of a depth leave free.
    let (mut free, mut inner, mut depth) = (1, n - 1, 0);
    let mut next = n;
    while free > 0 {
        let mut used = 0;
        while inner > 0 && a[inner - 1] == depth {
            used += 1;
            inner -= 1;
        }
        while free > used && next > 0 {
            next -= 1;
            a[next] = depth;
            free -= 1;
        }
        (free, depth) = (2 * used, depth + 1);
    }
}

/// The bits of every code, the first one lowest, with their number above: `bits | length << 16`.
pub(super) fn codes<const N: usize>(lengths: &[u8; N]) -> [u32; N] {
    let mut counts = [0; MOST_BITS + 1];
    for length in lengths.iter().filter(|n| **n > 0) {
        counts[usize::from(*length)] += 1;
    }
    // The next code of each length.
    let mut next = [0_u32; MOST_BITS + 1];
    for n in 1..=MOST_BITS {
        next[n] = (next[n - 1] + counts[n - 1]) << 1;
    }
    let mut all = [0; N];
    for (code, length) in all.iter_mut().zip(lengths) {
        let n = usize::from(*length);
        if n > 0 {
            *code = (next[n].reverse_bits() >> (32 - n)) | (n as u32) << 16;
            next[n] += 1;
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kraft(lengths: &[u8], most: usize) -> usize {
        let used = lengths.iter().filter(|n| **n > 0);
        used.map(|n| 1 << (most - usize::from(*n))).sum()
    }

    #[test]
    fn lengths_are_those_of_huffman() {
        // Weights 1 1 2 4 8: depths 4 4 3 2 1.
        assert_eq!(code_lengths(&[8, 1, 0, 4, 1, 2], 15), [1, 4, 0, 2, 4, 3]);
        assert_eq!(code_lengths(&[5, 5, 5, 5], 15), [2; 4]);
        assert_eq!(code_lengths(&[0, 0, 7], 15), [0, 1, 1]);
        assert_eq!(code_lengths(&[0; 3], 15), [0, 1, 1]);
    }

    #[test]
    fn codes_are_those_of_the_specification() {
        // RFC 1951, section 3.2.2: lengths 3 3 3 3 3 2 4 4.
        let found = codes(&[3, 3, 3, 3, 3, 2, 4, 4]);
        let expected = ["010", "011", "100", "101", "110", "00", "1110", "1111"];
        for (code, expected) in found.iter().zip(expected) {
            let n = (code >> 16) as usize;
            let bits: String = (0..n)
                .map(|i| if code >> i & 1 == 1 { '1' } else { '0' })
                .collect();
            assert_eq!(bits, expected);
        }
    }

    proptest! {
        #[test]
        fn codes_are_complete_and_short(counts: [u32; 40], shift in 0_u32..31, most in 6_usize..16) {
            let counts = counts.map(|n| (n >> shift) >> 6);
            let lengths = code_lengths(&counts, most);
            prop_assert_eq!(kraft(&lengths, most), 1 << most);
            let used = counts.iter().filter(|n| **n > 0).count();
            prop_assert_eq!(lengths.iter().filter(|n| **n > 0).count(), used.max(2));
            for (count, length) in counts.iter().zip(&lengths) {
                prop_assert!(*count == 0 || *length > 0);
            }
        }

        /// Weights of Fibonacci's numbers make the deepest tree.
        #[test]
        fn deep_trees_are_cut(most in 5_usize..16) {
            let mut counts = [1_u32; 30];
            for i in 2..30 {
                counts[i] = counts[i - 1] + counts[i - 2];
            }
            let lengths = code_lengths(&counts, most);
            prop_assert_eq!(kraft(&lengths, most), 1 << most);
        }
    }
}
