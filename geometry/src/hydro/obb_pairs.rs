//! Pairs of boxes of two trees.

use super::obb_tree::{FourBoxes, LEAF, ObbTree, OrientedBox, WIDTH, dot, single};
use nalgebra::{Matrix3, Vector3};
use wide::f32x4;

/// A single box that is compared with those of nodes.
#[derive(Clone, Copy)]
pub(super) struct SingleBox {
    center: [f32; 3],
    /// Axes as long as half of the box, the shortest last, and the squares of their lengths.
    axes: [[f32; 3]; 3],
    squares: [f32; 3],
    /// Half of the size along the axes of the frame.
    extents: [f32; 3],
}

impl SingleBox {
    pub(super) fn of_root(root: &OrientedBox) -> Self {
        let axes = root.axes.map(single);
        Self {
            center: single(root.center),
            squares: root.axes.map(|axis| axis.norm_squared() as f32),
            extents: [0, 1, 2].map(|i| axes.iter().map(|axis| axis[i].abs()).sum()),
            axes,
        }
    }

    /// Returns a bit for every box of four that may meet this one. Boxes are compared along the
    /// axes of the frame first, and then along their shortest ones: those of skins are flat.
    #[inline]
    pub(super) fn meets_four(&self, boxes: &FourBoxes) -> u32 {
        let zero = f32x4::splat(0.0);
        let [x, y, z] = self.center;
        let apart = [
            f32x4::splat(x) - boxes.center[0],
            f32x4::splat(y) - boxes.center[1],
            f32x4::splat(z) - boxes.center[2],
        ];
        let mut outside = -boxes.squares[0];
        for ((apart, extent), own) in apart.iter().zip(&boxes.extents).zip(self.extents) {
            outside = outside.fast_max(apart.abs() - (*extent + f32x4::splat(own)));
        }
        let is_apart = |outside: f32x4| outside.simd_gt(zero).to_bitmask();
        if is_apart(outside) == 15 {
            return 0;
        }
        // The longer axes rarely separate boxes that the others do not.
        let (axis, own) = (&boxes.axes[2], self.axes[2]);
        let distance = apart[0] * axis[0] + apart[1] * axis[1] + apart[2] * axis[2];
        let extents = self.axes.iter().map(|own| dot(*own, axis).abs());
        let reach = extents.fold(boxes.squares[2], |sum, extent| sum + extent);
        outside = outside.fast_max(distance.abs() - reach);
        let extents = boxes.axes.iter().map(|axis| dot(own, axis).abs());
        let square = f32x4::splat(self.squares[2]);
        let reach = extents.fold(square, |sum, extent| sum + extent);
        outside = outside.fast_max(dot(own, &apart).abs() - reach);
        is_apart(outside) ^ 15
    }

    fn meets(&self, boxes: &[FourBoxes; WIDTH / 4]) -> u32 {
        let [low, high] = boxes;
        self.meets_four(low) | self.meets_four(high) << 4
    }

    /// Returns the square of the largest half length.
    fn size(&self) -> f32 {
        self.squares[0]
    }
}

/// Pose of a frame in another one.
struct Pose {
    columns: [f32x4; 3],
    position: f32x4,
}

impl Pose {
    fn new(r: &Matrix3<f64>, p: &Vector3<f64>) -> Self {
        let lanes = |v: Vector3<f64>| {
            let [x, y, z] = single(v);
            f32x4::new([x, y, z, 0.0])
        };
        Self {
            columns: [0, 1, 2].map(|k| lanes(r.column(k).into_owned())),
            position: lanes(*p),
        }
    }

    /// Returns a box of a node, in the other frame.
    #[inline]
    fn child(&self, boxes: &[FourBoxes; WIDTH / 4], k: usize) -> SingleBox {
        let four = &boxes[k / 4];
        let lane = |lanes: &f32x4| lanes.as_array()[k % 4];
        let turned = |v: &[f32x4; 3]| {
            let [a, b, c] = &self.columns;
            *a * lane(&v[0]) + *b * lane(&v[1]) + *c * lane(&v[2])
        };
        let first = |lanes: f32x4| {
            let [x, y, z, _] = lanes.to_array();
            [x, y, z]
        };
        let [a, b, c] = four.axes.each_ref().map(turned);
        SingleBox {
            center: first(turned(&four.center) + self.position),
            axes: [first(a), first(b), first(c)],
            squares: four.squares.each_ref().map(lane),
            extents: first(a.abs() + b.abs() + c.abs()),
        }
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

/// A link to a node or an element with its bound, and with its box in the frame of the other tree.
struct Place<B> {
    link: u32,
    own: SingleBox,
    bound: B,
}

/// Two trees A and B.
struct Pairs<'a, B: PairFilter, F: FnMut(u32, u32) -> bool> {
    filter: B,
    a: &'a ObbTree,
    b: &'a ObbTree,
    /// Poses of A in B and of B in A.
    poses: &'a [Pose; 2],
    found: F,
}

impl<B: PairFilter, F: FnMut(u32, u32) -> bool> Pairs<'_, B, F> {
    /// Finds the pairs of elements below two places; false if no more are wanted.
    fn find(&mut self, of_a: &Place<B::Bound>, of_b: &Place<B::Bound>) -> bool {
        let (is_a_leaf, is_b_leaf) = (of_a.link & LEAF != 0, of_b.link & LEAF != 0);
        // The larger one is divided first, and of similar ones that of B.
        let is_b = is_a_leaf || (!is_b_leaf && 2.0 * of_b.own.size() > of_a.own.size());
        let [x_ba, x_ab] = self.poses;
        let (tree, place, other, in_other) = if is_b {
            (self.b, of_b, of_a, x_ab)
        } else {
            (self.a, of_a, of_b, x_ba)
        };
        let bounds = self.filter.of_node(is_b, place.link);
        let kept = B::kept(&bounds, other.bound);
        if kept == 0 {
            return true;
        }
        let node = &tree.nodes[place.link as usize];
        for k in bits(other.own.meets(&node.boxes) & kept) {
            let link = node.links[k];
            let is_wanted = if link & other.link & LEAF != 0 {
                let (link, other) = (link & !LEAF, other.link & !LEAF);
                if is_b {
                    (self.found)(other, link)
                } else {
                    (self.found)(link, other)
                }
            } else {
                let child = Place {
                    link,
                    own: in_other.child(&node.boxes, k),
                    bound: B::of_child(&bounds, k),
                };
                if is_b {
                    self.find(of_a, &child)
                } else {
                    self.find(&child, of_b)
                }
            };
            if !is_wanted {
                return false;
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

/// Calls `found` with every pair of elements of A and B whose boxes may meet and that
/// `filter` keeps, until it returns false. `r_ab` and `p_ab` are the pose of B in A.
pub(super) fn for_each_pair<B: PairFilter>(
    [a, b]: [&ObbTree; 2],
    r_ab: &Matrix3<f64>,
    p_ab: &Vector3<f64>,
    filter: B,
    found: impl FnMut(u32, u32) -> bool,
) {
    let (Some(root_a), Some(root_b)) = (&a.root, &b.root) else {
        return;
    };
    let r_ba = r_ab.transpose();
    let p_ba = -(r_ba * p_ab);
    let root = |own: &OrientedBox, r: &Matrix3<f64>, p: &Vector3<f64>| Place {
        link: 0,
        own: SingleBox::of_root(&own.posed(r, p)),
        bound: B::ROOT,
    };
    let of_a = root(root_a, &r_ba, &p_ba);
    let of_b = root(root_b, r_ab, p_ab);
    let mut pairs = Pairs {
        filter,
        a,
        b,
        poses: &[Pose::new(&r_ba, &p_ba), Pose::new(r_ab, p_ab)],
        found,
    };
    pairs.find(&of_a, &of_b);
}
