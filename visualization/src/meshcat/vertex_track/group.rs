//! Several frames of vertices as bytes.
//!
//! All coordinates of a group are rounded to multiples of one power of two, the step, which is at
//! most 2e-5 of the longest side of the bounds of each frame: the error is at most 1e-5 of that
//! side. Everything after the rounding is exact, so errors do not accumulate. The step is not
//! smaller than the spacing of single-precision numbers at the coordinates, with which pages draw.
//!
//! A frame is predicted from none, one or two earlier frames of the group, and the difference at a
//! vertex, on request, from that at its neighbours. What remains is written by axis, in the order
//! of the predictor.

use super::bits::{BitReader, BitWriter};
use super::predictor::Predictor;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Longest step, relative to the longest side of the bounds of a frame.
const STEP: f64 = 2e-5;
/// Shortest step, relative to the largest coordinate.
const SINGLE: f64 = 1.0 / (1 << 24) as f64;
/// Base-2 logarithm of the largest multiple of the step. Differences of differences fit into 32
/// bits.
const MAX_BITS: i32 = 26;
/// Steps that can be inverted.
const EXPONENTS: std::ops::RangeInclusive<i32> = -1000..=1000;

/// Coordinates of one frame: three for each vertex.
pub(super) type Frame = Vec<f64>;

/// Encoded frames.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FrameGroup {
    /// Frame numbers in ascending order.
    pub(crate) frames: Vec<u32>,
    /// Base-2 logarithm of the step (m).
    pub(crate) exponent: i32,
    /// Bits of all frames.
    pub(crate) data: Vec<u8>,
}

/// Returns a power of two, also beyond the range in which `powi` is exact.
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// Returns the exponent of the step of a group; the step is not longer than the known one.
fn exponent<'f>(frames: impl Iterator<Item = &'f Frame>, known: Option<i32>) -> i32 {
    let (mut step, mut largest) = (f64::INFINITY, 0.0_f64);
    for frame in frames {
        let points = frame.as_chunks::<3>().0;
        let side = (0..3).map(|axis| {
            let along = points.iter().map(|p| p[axis]);
            let low = along.clone().fold(f64::INFINITY, f64::min);
            along.fold(f64::NEG_INFINITY, f64::max) - low
        });
        let side = side.fold(0.0, f64::max);
        let far = frame.iter().fold(0.0_f64, |far, x| far.max(x.abs()));
        step = step.min((STEP * side).max(SINGLE * far));
        largest = largest.max(far);
    }
    let (least, most) = (*EXPONENTS.start(), *EXPONENTS.end());
    let floor = |x: f64| {
        let e = (x.log2().floor() as i32).clamp(least, most);
        // The logarithm is rounded.
        if power_of_two(e) > x { e - 1 } else { e }
    };
    let longest = known.map_or(most, |known| known.min(most));
    let shortest = floor(largest) + 1 - MAX_BITS;
    floor(step).min(longest).max(shortest).clamp(least, most)
}

/// Differences of one frame from its prediction, by vertex, and a zero for no vertex.
type Differences = Vec<[i32; 3]>;

/// Predicts the frame from `order` earlier frames, the last one first.
fn predicted(order: u32, last: &[[i32; 3]], before: &[[i32; 3]], vertex: usize) -> [i32; 3] {
    match order {
        0 => [0; 3],
        1 => last[vertex],
        _ => std::array::from_fn(|axis| {
            let twice = last[vertex][axis].wrapping_mul(2);
            twice.wrapping_sub(before[vertex][axis])
        }),
    }
}

/// Returns the prediction of a difference from those of neighbours.
fn of_neighbours(differences: &[[i32; 3]], [a, b, c]: [u32; 3]) -> [i32; 3] {
    let [a, b, c] = [a, b, c].map(|v| &differences[v as usize]);
    std::array::from_fn(|axis| a[axis].wrapping_add(b[axis]).wrapping_sub(c[axis]))
}

/// Vertices between two of those whose cost is estimated.
const STRIDE: usize = 7;

/// Returns what remains of differences, in the order of the predictor.
fn remainders<'d>(
    differences: &'d Differences,
    predictor: &'d Predictor,
    uses_neighbours: bool,
) -> impl Iterator<Item = [i32; 3]> + 'd {
    let all = predictor.order.iter().zip(&predictor.from);
    all.map(move |(vertex, from)| {
        let value = &differences[*vertex as usize];
        let near = if uses_neighbours {
            of_neighbours(differences, *from)
        } else {
            [0; 3]
        };
        std::array::from_fn(|axis| value[axis].wrapping_sub(near[axis]))
    })
}

/// Estimates the number of bits of a frame.
fn cost(differences: &Differences, predictor: &Predictor, uses_neighbours: bool) -> u64 {
    let some = remainders(differences, predictor, uses_neighbours).step_by(STRIDE);
    let bits = some.flatten().map(|x| u64::from(x.unsigned_abs()));
    bits.map(|x| u64::from((2 * x + 1).ilog2())).sum()
}

impl FrameGroup {
    /// Encodes frames. The step is not longer than that of a known exponent, with which frames that
    /// are encoded again were encoded before.
    pub(super) fn encode(
        frames: &BTreeMap<u32, Arc<Frame>>,
        predictor: &Predictor,
        known_exponent: Option<i32>,
    ) -> Self {
        let exponent = exponent(frames.values().map(|frame| &**frame), known_exponent);
        let per_step = power_of_two(-exponent);
        let count = predictor.order.len();
        let [mut last, mut before] = [(); 2].map(|()| vec![[0; 3]; count]);
        let mut w = BitWriter::default();
        for (k, frame) in frames.values().enumerate() {
            let points = frame.as_chunks::<3>().0.iter();
            let now = points.map(|p| p.map(|x| (x * per_step).round() as i32));
            let now: Vec<[i32; 3]> = now.collect();
            let mut best: Option<(u64, u32, bool, Differences)> = None;
            for order in 0..=k.min(2) as u32 {
                let differences = now.iter().enumerate().map(|(v, x)| {
                    let p = predicted(order, &last, &before, v);
                    std::array::from_fn(|axis| x[axis].wrapping_sub(p[axis]))
                });
                let differences: Differences = differences.chain([[0; 3]]).collect();
                let costs = [false, true].map(|near| (cost(&differences, predictor, near), near));
                let (cost, near) = costs[0].min(costs[1]);
                if best.as_ref().is_none_or(|(least, ..)| cost < *least) {
                    best = Some((cost, order, near, differences));
                }
            }
            if let Some((_, order, near, differences)) = best {
                w.bits(order, 2);
                w.bits(u32::from(near), 1);
                let rest: Vec<_> = remainders(&differences, predictor, near).collect();
                for axis in 0..3 {
                    let along: Vec<i32> = rest.iter().map(|values| values[axis]).collect();
                    w.values(&along);
                }
            }
            before = std::mem::replace(&mut last, now);
        }
        Self {
            frames: frames.keys().copied().collect(),
            exponent,
            data: w.finish(),
        }
    }

    /// Returns the frames with their numbers.
    pub(super) fn decode(&self, predictor: &Predictor) -> Vec<(u32, Frame)> {
        let step = power_of_two(self.exponent);
        let count = predictor.order.len();
        let [mut last, mut before] = [(); 2].map(|()| vec![[0; 3]; count]);
        let mut values = [(); 3].map(|()| vec![0; count]);
        let mut r = BitReader::new(&self.data);
        let frames = self.frames.iter().map(|number| {
            let (order, near) = (r.bits(2), r.bits(1) == 1);
            for axis in &mut values {
                r.values(axis);
            }
            let mut differences = vec![[0; 3]; count + 1];
            for (i, (vertex, from)) in predictor.order.iter().zip(&predictor.from).enumerate() {
                let prediction = if near {
                    of_neighbours(&differences, *from)
                } else {
                    [0; 3]
                };
                differences[*vertex as usize] =
                    std::array::from_fn(|axis| values[axis][i].wrapping_add(prediction[axis]));
            }
            let now = (0..count).map(|v| {
                let p = predicted(order, &last, &before, v);
                std::array::from_fn(|axis| differences[v][axis].wrapping_add(p[axis]))
            });
            let now: Vec<[i32; 3]> = now.collect();
            let coordinates = now.as_flattened().iter().map(|q| f64::from(*q) * step);
            let frame = coordinates.collect();
            before = std::mem::replace(&mut last, now);
            (*number, frame)
        });
        frames.collect()
    }
}
