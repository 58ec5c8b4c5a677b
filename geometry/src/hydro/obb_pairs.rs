//! Pairs of boxes of two trees.

use super::obb_tree::{FourBoxes, LEAF, Node, ObbTree, OrientedBox, WIDTH, single};
use nalgebra::{Matrix3, Vector3};
use wide::f32x4;

/// One box of a node.
#[derive(Clone, Copy)]
pub(super) struct SingleBox {
    center: [f32; 3],
    axes: [[f32; 3]; 3],
    squares: [f32; 3],
}

impl SingleBox {
    pub(super) fn of_root(root: &OrientedBox) -> Self {
        Self {
            center: single(root.center),
            axes: root.axes.map(single),
            squares: root.axes.map(|axis| axis.norm_squared() as f32),
        }
    }

    #[inline]
    fn of_node(boxes: &[FourBoxes; WIDTH / 4], k: usize) -> Self {
        let four = &boxes[k / 4];
        let lane = |lanes: &f32x4| lanes.as_array()[k % 4];
        let lanes = |of: &[f32x4; 3]| [lane(&of[0]), lane(&of[1]), lane(&of[2])];
        let [a, b, c] = &four.axes;
        Self {
            center: lanes(&four.center),
            axes: [lanes(a), lanes(b), lanes(c)],
            squares: lanes(&four.squares),
        }
    }

    /// Returns a bit for every box of four that may meet this one, for rounding up to `pad` (m).
    #[inline]
    pub(super) fn meets_four(&self, boxes: &FourBoxes, pad: f32) -> u32 {
        let zero = f32x4::splat(0.0);
        let [x, y, z] = self.center;
        let apart = [
            f32x4::splat(x) - boxes.center[0],
            f32x4::splat(y) - boxes.center[1],
            f32x4::splat(z) - boxes.center[2],
        ];
        let mut outside = -boxes.squares[0];
        let mut along_own = [zero; 3];
        for (axis, square) in boxes.axes.iter().zip(&boxes.squares) {
            let distance = apart[0] * axis[0] + apart[1] * axis[1] + apart[2] * axis[2];
            let mut reach = *square + (axis[0].abs() + axis[1].abs() + axis[2].abs()) * pad;
            for (own, sum) in self.axes.iter().zip(&mut along_own) {
                let shared = (axis[0] * own[0] + axis[1] * own[1] + axis[2] * own[2]).abs();
                reach += shared;
                *sum += shared;
            }
            outside = outside.fast_max(distance.abs() - reach);
        }
        for ((own, square), sum) in self.axes.iter().zip(&self.squares).zip(along_own) {
            let distance = apart[0] * own[0] + apart[1] * own[1] + apart[2] * own[2];
            let length: f32 = own.iter().map(|x| x.abs()).sum();
            let reach = sum + f32x4::splat(square + length * pad);
            outside = outside.fast_max(distance.abs() - reach);
        }
        outside.simd_gt(zero).to_bitmask() ^ 15
    }

    fn meets(&self, boxes: &[FourBoxes; WIDTH / 4], pad: f32) -> u32 {
        let halves = boxes.iter().enumerate();
        halves.fold(0, |bits, (half, boxes)| {
            bits | self.meets_four(boxes, pad) << (4 * half)
        })
    }

    /// Returns the square of the largest half length.
    fn size(&self) -> f32 {
        let [a, b, c] = self.squares;
        a.max(b).max(c)
    }
}

/// Bounds by which pairs are left out although their boxes meet.
pub(super) trait PairFilter {
    /// Bound of one box, and those of all children of a node.
    type Bound: Copy;
    type Bounds;
    /// Bound that leaves nothing out.
    const ROOT: Self::Bound;
    /// Returns the bounds of the children of a node of A or B.
    fn of_node(&self, is_b: bool, node: u32) -> Self::Bounds;
    /// Returns a bit for every child that is kept with a box of the other tree.
    fn kept(children: &Self::Bounds, other: Self::Bound) -> u32;
    fn of_child(children: &Self::Bounds, k: usize) -> Self::Bound;
}

/// Keeps all pairs.
impl PairFilter for () {
    type Bound = ();
    type Bounds = ();
    const ROOT: Self = ();
    fn of_node(&self, _: bool, _: u32) {}
    fn kept((): &Self, (): Self) -> u32 {
        u32::MAX
    }
    fn of_child((): &Self, _: usize) {}
}

/// A link to a node or an element, with its box in A and its bound.
type Place<'a, B> = (u32, &'a SingleBox, B);

/// Two trees A and B, with the pose of B in A.
struct Pairs<'a, B: PairFilter, F: FnMut(u32, u32) -> bool> {
    filter: B,
    a: &'a ObbTree,
    b: &'a ObbTree,
    r_ab: [[f32; 3]; 3],
    p_ab: [f32; 3],
    pad: f32,
    found: F,
}

impl<B: PairFilter, F: FnMut(u32, u32) -> bool> Pairs<'_, B, F> {
    /// Returns the boxes of a node of B in A.
    #[inline]
    fn posed(&self, node: &Node) -> [FourBoxes; WIDTH / 4] {
        let [x, y, z] = &self.r_ab;
        let along = |v: &[f32x4; 3], row: &[f32; 3]| v[0] * row[0] + v[1] * row[1] + v[2] * row[2];
        let turned = |v: &[f32x4; 3]| [along(v, x), along(v, y), along(v, z)];
        let posed = |boxes: &FourBoxes| {
            let [a, b, c] = turned(&boxes.center);
            let [p, q, r] = self.p_ab;
            FourBoxes {
                center: [a + p, b + q, c + r],
                axes: [
                    turned(&boxes.axes[0]),
                    turned(&boxes.axes[1]),
                    turned(&boxes.axes[2]),
                ],
                squares: boxes.squares,
            }
        };
        [posed(&node.boxes[0]), posed(&node.boxes[1])]
    }

    /// Finds the pairs of elements below two links; false if no more are wanted.
    fn find(&mut self, of_a: Place<'_, B::Bound>, of_b: Place<'_, B::Bound>) -> bool {
        let ((a, box_a, bound_a), (b, box_b, bound_b)) = (of_a, of_b);
        let (is_a_leaf, is_b_leaf) = (a & LEAF != 0, b & LEAF != 0);
        if is_a_leaf && is_b_leaf {
            return (self.found)(a & !LEAF, b & !LEAF);
        }
        // The larger one is divided first, and of similar ones that of B, whose boxes are posed.
        if is_a_leaf || (!is_b_leaf && 2.0 * box_b.size() > box_a.size()) {
            let bounds = self.filter.of_node(true, b);
            let kept = B::kept(&bounds, bound_a);
            if kept == 0 {
                return true;
            }
            let tree = self.b;
            let node = &tree.nodes[b as usize];
            let boxes = self.posed(node);
            for k in bits(box_a.meets(&boxes, self.pad) & kept) {
                let child = SingleBox::of_node(&boxes, k);
                if !self.find(of_a, (node.links[k], &child, B::of_child(&bounds, k))) {
                    return false;
                }
            }
        } else {
            let bounds = self.filter.of_node(false, a);
            let kept = B::kept(&bounds, bound_b);
            if kept == 0 {
                return true;
            }
            let tree = self.a;
            let node = &tree.nodes[a as usize];
            for k in bits(box_b.meets(&node.boxes, self.pad) & kept) {
                let child = SingleBox::of_node(&node.boxes, k);
                if !self.find((node.links[k], &child, B::of_child(&bounds, k)), of_b) {
                    return false;
                }
            }
        }
        true
    }
}

/// Returns the positions of the bits that are set.
fn bits(mut bits: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let next = (bits != 0).then(|| bits.trailing_zeros() as usize);
        bits &= bits.wrapping_sub(1);
        next
    })
}

/// Calls `found` with every pair of elements of A and B, at `X_AB`, whose boxes may meet and that
/// `filter` keeps, until it returns false. Coordinates in A are up to `reach` (m).
pub(super) fn for_each_pair<B: PairFilter>(
    [a, b]: [&ObbTree; 2],
    (r_ab, p_ab): (&Matrix3<f64>, &Vector3<f64>),
    reach: f64,
    filter: B,
    found: impl FnMut(u32, u32) -> bool,
) {
    let (Some(root_a), Some(root_b)) = (&a.root, &b.root) else {
        return;
    };
    let posed = root_b.posed(r_ab, p_ab);
    let mut pairs = Pairs {
        filter,
        a,
        b,
        r_ab: [0, 1, 2].map(|i| single(r_ab.row(i).transpose())),
        p_ab: single(*p_ab),
        pad: (super::obb_tree::ROUNDING * reach) as f32,
        found,
    };
    let boxes = [SingleBox::of_root(root_a), SingleBox::of_root(&posed)];
    pairs.find((0, &boxes[0], B::ROOT), (0, &boxes[1], B::ROOT));
}
