//! A tree of oriented boxes over the elements of a mesh, in single precision.
//!
//! Boxes are oriented because tetrahedra of round shapes are needles to the centre, around which
//! boxes along the axes of the mesh would hold little of them. A box is compared with a convex
//! region by the planes of the region and by the axes of the box. A node has eight boxes, which are
//! compared at once.

use super::planes::Plane;
use nalgebra::{Matrix3, Vector3};
use smallvec::SmallVec;
use wide::f32x4;

/// Number of children of a node.
pub(super) const WIDTH: usize = 8;

/// Bound on the nodes that wait while a tree is searched: at every level, all children but one.
const DEPTH: usize = 12 * WIDTH;

/// Padding of boxes and regions, relative to the largest coordinate, for the rounding of about ten
/// operations.
pub(super) const ROUNDING: f64 = 16.0 * f32::EPSILON as f64;

/// Padding of the boxes of a tree, relative to its largest coordinate. Where two meshes meet, the
/// coordinates of one in the frame of the other are at most three times as large as both largest
/// ones together, so that the boxes of both are padded for each other.
const PAD: f64 = 3.0 * ROUNDING;

/// Node with the boxes of its children.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) boxes: [FourBoxes; WIDTH / 4],
    /// Indices of the children, or [`LEAF`] and the element.
    pub(super) links: [u32; WIDTH],
}

/// Four oriented boxes, one per lane.
#[derive(Clone, Debug)]
pub(super) struct FourBoxes {
    pub(super) center: [f32x4; 3],
    /// Coordinates of the axes, as long as half of the box, the shortest last.
    pub(super) axes: [[f32x4; 3]; 3],
    /// Squares of their lengths; negative where there is no box.
    pub(super) squares: [f32x4; 3],
    /// Half of the size along the axes of the frame.
    pub(super) extents: [f32x4; 3],
}

/// Bit of links to elements.
pub(super) const LEAF: u32 = 1 << 31;

/// Tree of oriented boxes.
#[derive(Clone, Debug, Default)]
pub(super) struct ObbTree {
    pub(super) nodes: Vec<Node>,
    /// The box around all elements, if there are any.
    pub(super) root: Option<OrientedBox>,
}

/// A box along its own axes.
#[derive(Clone, Debug)]
pub(super) struct OrientedBox {
    pub(super) center: Vector3<f64>,
    /// Axes as long as half of the box, the shortest last.
    pub(super) axes: [Vector3<f64>; 3],
    /// Their unit vectors.
    pub(super) directions: [Vector3<f64>; 3],
}

/// A convex region: the hull of up to four points, inside of planes. Either may be missing.
pub(super) struct Region {
    /// Normals and offsets.
    planes: SmallVec<[[f32; 4]; 8]>,
    points: SmallVec<[[f32; 3]; 4]>,
}

#[inline(always)]
pub(super) fn dot(v: [f32; 3], w: &[f32x4; 3]) -> f32x4 {
    w[0] * v[0] + w[1] * v[1] + w[2] * v[2]
}

impl Region {
    /// Creates the region below up to eight planes, the hull of up to four points if there are any.
    /// Coordinates in it are up to `reach` (m).
    #[inline]
    pub(super) fn new(planes: &[Plane], points: &[Vector3<f64>], reach: f64) -> Self {
        let pad = ROUNDING * reach;
        let plane = |p: &Plane| {
            let n = p.normal;
            [n.x as f32, n.y as f32, n.z as f32, (p.offset + pad) as f32]
        };
        Self {
            planes: planes.iter().map(plane).collect(),
            points: points.iter().map(|p| single(*p)).collect(),
        }
    }

    /// Returns a bit for every child of a node whose box may have a point in the region.
    #[inline]
    fn meets(&self, node: &Node) -> u32 {
        let mut bits = 0;
        for (half, boxes) in node.boxes.iter().enumerate() {
            bits |= self.meets_four(boxes) << (4 * half);
        }
        bits
    }

    #[inline(always)]
    fn meets_four(&self, boxes: &FourBoxes) -> u32 {
        let zero = f32x4::splat(0.0);
        // Largest distance of the boxes from a plane above it.
        let mut above = -boxes.squares[0];
        for [x, y, z, offset] in &self.planes {
            let normal = [*x, *y, *z];
            let center = dot(normal, &boxes.center) - *offset;
            let [a, b, c] = [0, 1, 2].map(|i| dot(normal, &boxes.axes[i]).abs());
            above = above.fast_max(center - (a + b + c));
        }
        let mut apart = above.simd_gt(zero).to_bitmask();
        if apart == 15 {
            return 0;
        }
        if self.points.is_empty() {
            return apart ^ 15;
        }
        for (axis, square) in boxes.axes.iter().zip(&boxes.squares) {
            let mut low = f32x4::splat(f32::MAX);
            let mut high = f32x4::splat(f32::MIN);
            let center =
                boxes.center[0] * axis[0] + boxes.center[1] * axis[1] + boxes.center[2] * axis[2];
            for p in &self.points {
                let along = dot(*p, axis);
                low = low.fast_min(along);
                high = high.fast_max(along);
            }
            let outside = (low - center).fast_max(center - high) - *square;
            apart |= outside.simd_gt(zero).to_bitmask();
            if apart == 15 {
                return 0;
            }
        }
        apart ^ 15
    }
}

pub(super) fn single(v: Vector3<f64>) -> [f32; 3] {
    <[f64; 3]>::from(v).map(|x| x as f32)
}

impl Node {
    fn empty() -> Self {
        let zero = f32x4::splat(0.0);
        let none = || FourBoxes {
            center: [zero; 3],
            axes: [[zero; 3]; 3],
            squares: [f32x4::splat(-1.0); 3],
            extents: [zero; 3],
        };
        Self {
            boxes: [none(), none()],
            links: [0; WIDTH],
        }
    }
    fn set(&mut self, k: usize, own: &OrientedBox, link: u32) {
        let boxes = &mut self.boxes[k / 4];
        let set = |lanes: &mut f32x4, x: f64| lanes.as_mut_array()[k % 4] = x as f32;
        for i in 0..3 {
            set(&mut boxes.center[i], own.center[i]);
            for j in 0..3 {
                set(&mut boxes.axes[i][j], own.axes[i][j]);
            }
            // A little more, because lengths of axes are rounded, too.
            let square = own.axes[i].norm_squared() * (1.0 + ROUNDING);
            set(&mut boxes.squares[i], square);
            let extent = own.axes.iter().map(|axis| axis[i].abs()).sum();
            set(&mut boxes.extents[i], extent);
        }
        self.links[k] = link;
    }
    pub(super) fn has_child(&self, k: usize) -> bool {
        self.boxes[k / 4].squares[0].as_array()[k % 4] >= 0.0
    }
}

impl ObbTree {
    /// Builds the tree of elements, given the points that each is the hull of.
    pub(super) fn new<const N: usize>(elements: &[[Vector3<f64>; N]], reach: f64) -> Self {
        if elements.is_empty() {
            return Self::default();
        }
        let builder = Builder {
            elements,
            centers: elements
                .iter()
                .map(|points| points.iter().sum::<Vector3<f64>>() / N as f64)
                .collect(),
            pad: PAD * reach,
        };
        let mut items: Vec<u32> = (0..elements.len() as u32).collect();
        let root = builder.box_of(&items);
        let mut nodes = Vec::with_capacity(elements.len() / 4 + 1);
        builder.add_node(&mut nodes, &mut items, &root);
        Self {
            nodes,
            root: Some(root),
        }
    }

    /// Calls `f` with every element that may have a point in a region.
    #[inline]
    pub(super) fn for_each_in(&self, region: &Region, mut f: impl FnMut(u32)) {
        if self.nodes.is_empty() {
            return;
        }
        let mut stack = [0_u32; DEPTH];
        let mut top = 1;
        while top > 0 {
            top -= 1;
            let node = &self.nodes[stack[top] as usize];
            let mut bits = region.meets(node);
            while bits != 0 {
                let link = node.links[bits.trailing_zeros() as usize];
                bits &= bits - 1;
                if link & LEAF != 0 {
                    f(link & !LEAF);
                } else {
                    stack[top] = link;
                    top += 1;
                }
            }
        }
    }

    /// Returns true if a point (m) may be in the box around all elements, for some rounding.
    #[inline]
    pub(super) fn may_contain(&self, p: &Vector3<f64>, rounding: f64) -> bool {
        self.root.as_ref().is_some_and(|root| {
            let from_center = p - root.center;
            let sides = root.axes.iter().zip(&root.directions);
            sides
                .map(|(axis, direction)| (from_center.dot(direction).abs() - rounding, axis.norm()))
                .all(|(distance, half)| distance <= half)
        })
    }

    /// Returns the region of the whole mesh at `X_AB`, where the mesh is in B: the planes of its
    /// box.
    pub(super) fn region_in(
        &self,
        r_ab: &Matrix3<f64>,
        p_ab: &Vector3<f64>,
        reach: f64,
    ) -> Option<Region> {
        let root = self.root.as_ref()?;
        let center = r_ab * root.center + p_ab;
        let planes = [0, 1, 2, 3, 4, 5].map(|k| {
            let half = root.axes[k / 2].norm();
            let direction = r_ab * root.directions[k / 2];
            let normal = if k % 2 == 0 { direction } else { -direction };
            Plane {
                normal,
                offset: normal.dot(&center) + half,
            }
        });
        Some(Region::new(&planes, &[], reach))
    }
}

impl OrientedBox {
    /// Returns the box in A, at `X_AB` in B.
    pub(super) fn posed(&self, r_ab: &Matrix3<f64>, p_ab: &Vector3<f64>) -> Self {
        Self {
            center: r_ab * self.center + p_ab,
            axes: self.axes.map(|axis| r_ab * axis),
            directions: self.directions.map(|axis| r_ab * axis),
        }
    }
}

struct Builder<'a, const N: usize> {
    elements: &'a [[Vector3<f64>; N]],
    centers: Vec<Vector3<f64>>,
    pad: f64,
}

impl<const N: usize> Builder<'_, N> {
    fn box_of(&self, items: &[u32]) -> OrientedBox {
        let points = || items.iter().flat_map(|i| &self.elements[*i as usize]);
        oriented_box(points, self.pad)
    }

    /// Adds the node of some elements, which have a box, and all below it.
    fn add_node(&self, nodes: &mut Vec<Node>, items: &mut [u32], own: &OrientedBox) -> u32 {
        let index = nodes.len();
        nodes.push(Node::empty());
        // The most elements of a child if all nodes below are full.
        let mut capacity = 1;
        while capacity * WIDTH < items.len() {
            capacity *= WIDTH;
        }
        let mut k = 0;
        self.divide(items, own, capacity, &mut |items, own| {
            let link = match items {
                [item] => LEAF | *item,
                items => self.add_node(nodes, items, own),
            };
            nodes[index].set(k, own, link);
            k += 1;
        });
        index as u32
    }

    /// Halves elements along the axis that spreads them most until no part has more than some
    /// number, and calls `f` with every part and its box.
    fn divide(
        &self,
        items: &mut [u32],
        own: &OrientedBox,
        capacity: usize,
        f: &mut impl FnMut(&mut [u32], &OrientedBox),
    ) {
        if items.len() <= capacity {
            return f(items, own);
        }
        let spread = |axis: &Vector3<f64>| {
            let along = items.iter().map(|i| self.centers[*i as usize].dot(axis));
            let range = along.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], x| {
                [low.min(x), high.max(x)]
            });
            range[1] - range[0]
        };
        let widest = Vector3::from(own.directions.map(|axis| spread(&axis))).imax();
        let key = |i: &u32| self.centers[*i as usize].dot(&own.directions[widest]);
        let middle = items.len().div_ceil(capacity) / 2 * capacity;
        items.select_nth_unstable_by(middle, |i, j| key(i).total_cmp(&key(j)).then(i.cmp(j)));
        let (left, right) = items.split_at_mut(middle);
        for part in [left, right] {
            let own = self.box_of(part);
            self.divide(part, &own, capacity, f);
        }
    }
}

/// Returns a box around points along the principal axes of their distribution, or along those of
/// the frame if it is smaller: the principal axes of a cube can be any.
fn oriented_box<'a, I: Iterator<Item = &'a Vector3<f64>>>(
    points: impl Fn() -> I,
    pad: f64,
) -> OrientedBox {
    let count = points().count() as f64;
    let mean = points().sum::<Vector3<f64>>() / count;
    let covariance = points().fold(Matrix3::zeros(), |sum, p| {
        let from_mean = p - mean;
        sum + from_mean * from_mean.transpose()
    });
    let scale = covariance.amax();
    let along_frame = box_along(Matrix3::identity(), &mean, &points, pad);
    if !(scale > 0.0 && scale.is_finite()) {
        return along_frame;
    }
    let axes = (covariance / scale).symmetric_eigen().eigenvectors;
    let principal = box_along(axes, &mean, &points, pad);
    let area = |own: &OrientedBox| {
        let [a, b, c] = own.axes.map(|axis| axis.norm());
        a * b + b * c + c * a
    };
    if area(&along_frame) <= area(&principal) {
        along_frame
    } else {
        principal
    }
}

/// Returns the box around points along the columns of a matrix.
fn box_along<'a, I: Iterator<Item = &'a Vector3<f64>>>(
    axes: Matrix3<f64>,
    mean: &Vector3<f64>,
    points: &impl Fn() -> I,
    pad: f64,
) -> OrientedBox {
    let mut center = *mean;
    let mut sides = [0, 1, 2].map(|k| {
        let axis = axes.column(k).into_owned();
        let along = points().map(|p| axis.dot(&(p - mean)));
        let [low, high] = along.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], x| {
            [low.min(x), high.max(x)]
        });
        center += axis * ((low + high) / 2.0);
        ((high - low) / 2.0 + pad, axis)
    });
    sides.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    OrientedBox {
        center,
        axes: sides.map(|(half, axis)| axis * half),
        directions: sides.map(|(_, axis)| axis),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// No tetrahedron that has a point in a region is left out.
        #[test]
        fn regions_find_all_elements_with_a_point_in_them(
            points in prop::collection::vec(prop::array::uniform3(-1.0..1.0_f64), 8..200),
            triangle in prop::array::uniform3(prop::array::uniform3(-1.0..1.0_f64)),
            scale in prop_oneof![Just(1.0), Just(1e-6), Just(1e6)],
        ) {
            let points: Vec<Vector3<f64>> = points.iter().map(|p| Vector3::from(*p) * scale).collect();
            let elements: Vec<[Vector3<f64>; 4]> = points.as_chunks::<4>().0.to_vec();
            let [a, b, c] = triangle.map(|p| Vector3::from(p) * scale);
            let normal = (b - a).cross(&(c - a));
            prop_assume!(normal.norm() > 1e-3 * scale * scale);
            let normal = normal.normalize();
            let plane = |normal: Vector3<f64>| Plane { normal, offset: normal.dot(&a) };
            let region = Region::new(&[plane(normal), plane(-normal)], &[a, b, c], 4.0 * scale);
            let tree = ObbTree::new(&elements, scale);
            let mut found = vec![];
            tree.for_each_in(&region, |e| found.push(e as usize));
            // Elements whose edges pierce the triangle.
            for (e, corners) in elements.iter().enumerate() {
                let pierces = (0..4).flat_map(|i| (0..i).map(move |j| (i, j))).any(|(i, j)| {
                    let (p, q) = (corners[i], corners[j]);
                    let (h, k) = (plane(normal).height(&p), plane(normal).height(&q));
                    if (h > 0.0) == (k > 0.0) {
                        return false;
                    }
                    let x = (p * k - q * h) / (k - h);
                    let inside = |s: &Vector3<f64>, t: &Vector3<f64>| (t - s).cross(&(x - s)).dot(&normal);
                    inside(&a, &b) > 0.0 && inside(&b, &c) > 0.0 && inside(&c, &a) > 0.0
                });
                prop_assert!(!pierces || found.contains(&e));
            }
        }
    }
}
