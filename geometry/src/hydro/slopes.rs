//! Pairs of tetrahedra in which the difference of two pressures may not rise along a direction.

use super::obb_pairs::PairFilter;
use super::obb_tree::{LEAF, ObbTree, ROUNDING, WIDTH, dot, single};
use super::tetrahedron::Tetrahedron;
use super::vector_balls::{FourBalls, balls_of};
use crate::mesh::VolumeMeshFieldLinear;
use nalgebra::Vector3;
use wide::f32x4;

/// Four ranges, one per lane.
#[derive(Clone, Copy)]
struct FourRanges {
    low: f32x4,
    high: f32x4,
}

/// Bounds on the pressures of a mesh per modulus and on their gradients, for the nodes of its tree.
pub(super) struct SlopeBounds {
    gradients: Vec<[FourBalls; WIDTH / 4]>,
    pressures: Vec<[FourRanges; WIDTH / 4]>,
}

impl SlopeBounds {
    pub(super) fn new(
        tree: &ObbTree,
        tetrahedra: &[Tetrahedron],
        field: &VolumeMeshFieldLinear,
    ) -> Self {
        let range = |t: &Tetrahedron| {
            let pressures = t.pressures(field);
            let low = pressures.iter().copied().fold(f64::INFINITY, f64::min);
            [
                low,
                pressures.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            ]
        };
        let ranges: Vec<[f64; 2]> = tetrahedra.iter().map(range).collect();
        let gradients: Vec<_> = tetrahedra.iter().map(|t| t.gradient).collect();
        let none = FourRanges {
            low: f32x4::splat(f32::INFINITY),
            high: f32x4::splat(f32::NEG_INFINITY),
        };
        let mut pressures = vec![[none; WIDTH / 4]; tree.nodes.len()];
        if !pressures.is_empty() {
            add_ranges(&mut pressures, tree, &ranges, 0);
        }
        Self {
            gradients: balls_of(tree, &gradients),
            pressures,
        }
    }
}

/// Sets the ranges of a node and of all below it, and returns the range around them.
fn add_ranges(
    pressures: &mut [[FourRanges; WIDTH / 4]],
    tree: &ObbTree,
    ranges: &[[f64; 2]],
    node: usize,
) -> [f64; 2] {
    let mut around = [f64::INFINITY, f64::NEG_INFINITY];
    let node_of_tree = &tree.nodes[node];
    for (k, link) in node_of_tree.links.iter().enumerate() {
        if !node_of_tree.has_child(k) {
            continue;
        }
        let [low, high] = match link & LEAF {
            0 => add_ranges(pressures, tree, ranges, *link as usize),
            _ => ranges[(link & !LEAF) as usize],
        };
        let rounding = ROUNDING * low.abs().max(high.abs());
        let four = &mut pressures[node][k / 4];
        four.low.as_mut_array()[k % 4] = (low - rounding) as f32;
        four.high.as_mut_array()[k % 4] = (high + rounding) as f32;
        around = [around[0].min(low), around[1].max(high)];
    }
    around
}

/// Keeps pairs in which pressures may be equal while their difference, that of S less that of R,
/// may not rise along a direction.
pub(super) struct NotRising<'a> {
    sides: [Side<'a>; 2],
}

struct Side<'a> {
    bounds: &'a SlopeBounds,
    /// Direction in the frame of the mesh along which the difference should rise.
    along: [f32; 3],
    modulus: f32,
}

impl<'a> NotRising<'a> {
    /// Creates the filter for two meshes, each with its modulus (Pa) and the unit vector along
    /// which its own pressure should rise, in its frame.
    pub(super) fn new(sides: [(&'a SlopeBounds, f64, Vector3<f64>); 2]) -> Self {
        // The unit of pressure is the larger modulus, lest single precision overflows.
        let unit = sides[0].1.max(sides[1].1);
        Self {
            sides: sides.map(|(bounds, modulus, along)| Side {
                bounds,
                along: single(along),
                modulus: (modulus / unit) as f32,
            }),
        }
    }
}

/// Bounds of a box: the least that it adds to the slope of the difference, and its pressures.
#[derive(Clone, Copy)]
pub(super) struct SlopeBound {
    slope: f32,
    low: f32,
    high: f32,
}

/// Those of four boxes.
pub(super) struct FourSlopes {
    slope: f32x4,
    pressures: FourRanges,
}

impl PairFilter for NotRising<'_> {
    type Bound = SlopeBound;
    type Bounds = [FourSlopes; WIDTH / 4];
    const ROOT: SlopeBound = SlopeBound {
        slope: f32::NEG_INFINITY,
        low: f32::NEG_INFINITY,
        high: f32::INFINITY,
    };

    #[inline]
    fn of_node(&self, is_b: bool, node: u32) -> Self::Bounds {
        let side = &self.sides[usize::from(is_b)];
        let balls = &side.bounds.gradients[node as usize];
        let ranges = &side.bounds.pressures[node as usize];
        [0, 1].map(|half| FourSlopes {
            slope: (dot(side.along, &balls[half].center) - balls[half].radius) * side.modulus,
            pressures: FourRanges {
                low: ranges[half].low * side.modulus,
                high: ranges[half].high * side.modulus,
            },
        })
    }

    #[inline]
    fn kept(children: &Self::Bounds, other: SlopeBound) -> u32 {
        let [a, b] = [0, 1].map(|half| {
            let four = &children[half];
            let rises = four.slope.simd_gt(f32x4::splat(-other.slope));
            let above = four.pressures.low.simd_gt(f32x4::splat(other.high));
            let below = four.pressures.high.simd_lt(f32x4::splat(other.low));
            (rises | above | below).to_bitmask() ^ 15
        });
        a | b << 4
    }

    #[inline]
    fn of_child(children: &Self::Bounds, k: usize) -> SlopeBound {
        let four = &children[k / 4];
        let lane = |lanes: &f32x4| lanes.as_array()[k % 4];
        SlopeBound {
            slope: lane(&four.slope),
            low: lane(&four.pressures.low),
            high: lane(&four.pressures.high),
        }
    }
}
