//! Sorting of small sets of items along a space-filling curve.
//!
//! Neighbours on the Z-order curve are close to each other in space, and the first bit in which two
//! codes differ marks the split of an octree cell. One sort therefore gives all levels of a tree.
//! C. Lauterbach et al., "Fast BVH construction on GPUs", Computer Graphics Forum 28(2), 2009.

use super::Box32;
use wide::f32x4;

/// Bits per axis.
const BITS: u32 = 8;
const CELLS: usize = 1 << BITS;
/// Number of levels at which cells are halved.
pub(super) const LEVELS: u32 = 3 * BITS;
/// Number of keys below which a comparison sort beats a radix sort with three histograms.
const FEW: usize = 128;

/// Sort key: Morton code in the upper half, index of the entry in the lower half.
pub(super) type MortonKey = u64;

#[inline]
pub(super) fn entry(key: MortonKey) -> usize {
    key as u32 as usize
}

/// Numbers below [`CELLS`] with their bits spread to every third position.
const SPREAD: [u32; CELLS] = {
    let mut table = [0; CELLS];
    let mut i = 0;
    while i < CELLS {
        let mut bit = 0;
        while bit < BITS {
            table[i] |= (i as u32 >> bit & 1) << (3 * bit);
            bit += 1;
        }
        i += 1;
    }
    table
};

/// Computes the Morton codes of the keys' entries relative to their common bounds, and sorts the
/// keys. `spare` must be as long as the longest range that is ever sorted.
pub(super) fn sort(entries: &[Box32], keys: &mut [MortonKey], spare: &mut [MortonKey]) {
    let (mut low, mut high) = (f32x4::splat(f32::INFINITY), f32x4::splat(f32::NEG_INFINITY));
    for key in keys.iter() {
        let x = entries[entry(*key)].twice_center();
        (low, high) = (low.fast_min(x), high.fast_max(x));
    }
    let [x, y, z, _] = (high - low).to_array();
    // Cells are cubes, so that a flat scene is not cut into slices. If all centres coincide, all
    // entries are in cell 0: the conversion to integers saturates and maps NaN to 0.
    let scale = f32x4::splat(CELLS as f32 / x.max(y).max(z));
    let cell = |x: f32| SPREAD[(x as usize).min(CELLS - 1)];
    for key in keys.iter_mut() {
        let item = entry(*key);
        let [x, y, z, _] = ((entries[item].twice_center() - low) * scale).to_array();
        let code = cell(x) << 2 | cell(y) << 1 | cell(z);
        *key = MortonKey::from(code) << 32 | item as MortonKey;
    }
    if keys.len() < FEW {
        keys.sort_unstable();
    } else {
        radix_sort(keys, &mut spare[..keys.len()]);
    }
}

/// Sorts by code, stably.
fn radix_sort(keys: &mut [MortonKey], spare: &mut [MortonKey]) {
    let digit = |key: MortonKey, pass: usize| (key >> (32 + BITS as usize * pass)) as usize % CELLS;
    let mut counts = [[0_u32; CELLS]; 3];
    for key in keys.iter() {
        for (pass, counts) in counts.iter_mut().enumerate() {
            counts[digit(*key, pass)] += 1;
        }
    }
    let (mut from, mut to) = (keys, spare);
    for (pass, counts) in counts.iter_mut().enumerate() {
        let mut first = 0;
        for count in counts.iter_mut() {
            first += std::mem::replace(count, first);
        }
        for key in from.iter() {
            let place = &mut counts[digit(*key, pass)];
            to[*place as usize] = *key;
            *place += 1;
        }
        std::mem::swap(&mut from, &mut to);
    }
    // After three passes the result is in the spare storage.
    to.copy_from_slice(from);
}

/// Returns the index at which to split the sorted keys: between the two halves of the smallest cell
/// that contains all of them. `None` if all codes are equal.
pub(super) fn middle(keys: &[MortonKey]) -> Option<usize> {
    let code = |key: &MortonKey| (key >> 32) as u32;
    let (first, last) = (code(keys.first()?), code(keys.last()?));
    let bit = (first ^ last).checked_ilog2()?;
    let start = last >> bit << bit;
    Some(keys.partition_point(|key| code(key) < start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Vector3;
    use proptest::prelude::*;

    proptest! {
        /// Every split separates items on a grid along one axis.
        #[test]
        fn halves_are_separated_along_an_axis(cells in proptest::collection::vec([(); 3].map(|()| 0..32_u8), 2..300)) {
            let at = |c: &[u8; 3]| Vector3::from(c.map(f64::from));
            let boxes: Vec<Box32> = cells
                .iter()
                .map(|c| Box32::around(&at(c), &Vector3::repeat(0.1)))
                .collect();
            let mut keys: Vec<MortonKey> = (0..boxes.len() as MortonKey).collect();
            let mut spare = keys.clone();
            sort(&boxes, &mut keys, &mut spare);
            prop_assert!(keys.is_sorted());
            let mut items: Vec<usize> = keys.iter().map(|k| entry(*k)).collect();
            match middle(&keys) {
                Some(half) => {
                    prop_assert!(0 < half && half < keys.len());
                    let (left, right) = items.split_at(half);
                    let apart = |axis: usize| {
                        let most = left.iter().map(|i| cells[*i][axis]).max();
                        most < right.iter().map(|i| cells[*i][axis]).min()
                    };
                    prop_assert!((0..3).any(apart));
                }
                None => prop_assert!(cells.iter().all(|c| *c == cells[0])),
            }
            items.sort_unstable();
            prop_assert!(items.into_iter().eq(0..boxes.len()));
        }
    }
}
