//! Python's hashes of values whose hash is the same in every run, and the resulting order of sets
//! (CPython 3.11, `Objects/setobject.c`, `Python/pyhash.c` and `Objects/tupleobject.c`).

use super::value::PyKey;

/// Hashes of numbers are remainders by this prime.
const MODULUS: u64 = (1 << BITS) - 1;
const BITS: u32 = 61;

/// Returns the hash of a value; `None` if it differs from run to run.
pub(super) fn hash(key: &PyKey) -> Option<i64> {
    match key {
        PyKey::Int(i) => {
            let size = (i.unsigned_abs() % u128::from(MODULUS)) as i64;
            Some(without_minus_one(if *i < 0 { -size } else { size }))
        }
        PyKey::Float(bits) => float_hash(f64::from_bits(*bits)),
        PyKey::Tuple(items) => tuple_hash(items),
        PyKey::None | PyKey::Str(_) | PyKey::Set(_) => None,
    }
}

/// In CPython, -1 stands for an error.
fn without_minus_one(hash: i64) -> i64 {
    if hash == -1 { -2 } else { hash }
}

fn rotated(x: u64, by: u32) -> u64 {
    ((x << by) & MODULUS) | (x >> (BITS - by))
}

fn float_hash(x: f64) -> Option<i64> {
    const STEP: u32 = 28;
    if !x.is_finite() {
        let infinite = if x > 0.0 { 314_159 } else { -314_159 };
        return (!x.is_nan()).then_some(infinite);
    }
    let (mut mantissa, mut exponent) = libm::frexp(x.abs());
    let mut hash = 0;
    while mantissa != 0.0 {
        hash = rotated(hash, STEP);
        mantissa *= f64::from(1 << STEP);
        exponent -= STEP as i32;
        hash += mantissa as u64;
        mantissa -= mantissa.trunc();
        if hash >= MODULUS {
            hash -= MODULUS;
        }
    }
    let hash = rotated(hash, exponent.rem_euclid(BITS as i32) as u32) as i64;
    Some(without_minus_one(if x < 0.0 { -hash } else { hash }))
}

fn tuple_hash(items: &[PyKey]) -> Option<i64> {
    const PRIMES: [u64; 3] = [
        11_400_714_785_074_694_791,
        14_029_467_366_897_019_727,
        2_870_177_450_012_600_261,
    ];
    let mut total = PRIMES[2];
    for item in items {
        let lane = hash(item)? as u64;
        total = total.wrapping_add(lane.wrapping_mul(PRIMES[1]));
        total = total.rotate_left(31).wrapping_mul(PRIMES[0]);
    }
    total = total.wrapping_add(items.len() as u64 ^ PRIMES[2] ^ 3_527_539);
    match total {
        u64::MAX => Some(1_546_275_796),
        total => Some(total as i64),
    }
}

/// Returns the order in which a set iterates over values that were added one by one, after
/// `removed` others. If a hash differs from run to run, Python's order does too; the values then
/// keep the order of insertion.
pub(super) fn set_order(keys: &[&PyKey], removed: usize) -> Vec<usize> {
    let hashes: Option<Vec<i64>> = keys.iter().map(|key| hash(key)).collect();
    let Some(hashes) = hashes else {
        return (0..keys.len()).collect();
    };
    let mut table = vec![None; 8];
    // A removed value keeps its slot until the table grows.
    let mut fill = removed;
    for i in 0..hashes.len() {
        insert(&mut table, &hashes, i);
        let used = i + 1;
        fill += 1;
        if 5 * fill >= 3 * (table.len() - 1) {
            let least = if used > 50_000 { 2 * used } else { 4 * used };
            let mut larger = vec![None; (least + 1).next_power_of_two().max(8)];
            let moved = table.into_iter().flatten();
            moved.for_each(|i| insert(&mut larger, &hashes, i));
            table = larger;
            fill = used;
        }
    }
    table.into_iter().flatten().collect()
}

/// Puts a value into the first free slot of its sequence of probes.
fn insert(table: &mut [Option<usize>], hashes: &[i64], value: usize) {
    /// Slots in a row that are tried before a jump.
    const IN_A_ROW: usize = 9;
    let mask = table.len() - 1;
    let mut rest = hashes[value] as usize;
    let mut at = rest & mask;
    loop {
        let last = if at + IN_A_ROW <= mask {
            at + IN_A_ROW
        } else {
            at
        };
        if let Some(slot) = table[at..=last].iter_mut().find(|slot| slot.is_none()) {
            *slot = Some(value);
            return;
        }
        rest >>= 5;
        at = at.wrapping_mul(5).wrapping_add(1).wrapping_add(rest) & mask;
    }
}
