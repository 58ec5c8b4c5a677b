//! A bounding volume hierarchy in double precision, searched best-first.

use nalgebra::Vector3;
use std::ops::Range;

/// Axis-aligned box.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Box3 {
    pub(crate) lower: Vector3<f64>,
    pub(crate) upper: Vector3<f64>,
}

impl Box3 {
    pub(crate) fn around<'a>(points: impl IntoIterator<Item = &'a Vector3<f64>>) -> Self {
        let empty = Self {
            lower: Vector3::repeat(f64::INFINITY),
            upper: Vector3::repeat(f64::NEG_INFINITY),
        };
        points.into_iter().fold(empty, |b, p| Self {
            lower: b.lower.inf(p),
            upper: b.upper.sup(p),
        })
    }
    pub(crate) fn center(&self) -> Vector3<f64> {
        (self.lower + self.upper) * 0.5
    }
    pub(crate) fn half(&self) -> Vector3<f64> {
        (self.upper - self.lower) * 0.5
    }
    pub(crate) fn grown(&self, by: f64) -> Self {
        Self {
            lower: self.lower - Vector3::repeat(by),
            upper: self.upper + Vector3::repeat(by),
        }
    }
    pub(crate) fn union(&self, other: &Self) -> Self {
        Self {
            lower: self.lower.inf(&other.lower),
            upper: self.upper.sup(&other.upper),
        }
    }
    pub(crate) fn intersection(&self, other: &Self) -> Self {
        Self {
            lower: self.lower.sup(&other.lower),
            upper: self.upper.inf(&other.upper),
        }
    }
    /// Returns the squared distance to a point.
    #[inline]
    pub(crate) fn distance2(&self, p: &Vector3<f64>) -> f64 {
        let gap = |i: usize| (self.lower[i] - p[i]).max(p[i] - self.upper[i]).max(0.0);
        let (x, y, z) = (gap(0), gap(1), gap(2));
        x * x + y * y + z * z
    }
    /// Returns the distance between two boxes.
    pub(crate) fn distance(&self, other: &Self) -> f64 {
        let gap = (other.lower - self.upper).sup(&(self.lower - other.upper));
        gap.sup(&Vector3::zeros()).norm()
    }
    fn overlaps(&self, other: &Self) -> bool {
        (0..3).all(|i| self.lower[i] <= other.upper[i] && other.lower[i] <= self.upper[i])
    }
    /// Returns the greatest value of `d · x` over the points x of the box.
    #[inline]
    pub(crate) fn support(&self, d: &Vector3<f64>) -> f64 {
        let side = |i: usize| {
            d[i] * if d[i] > 0.0 {
                self.upper[i]
            } else {
                self.lower[i]
            }
        };
        side(0) + side(1) + side(2)
    }
}

/// Node. An inner node's children are the next node and `link`; a leaf's triangles are
/// `link..link + count`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoxNode {
    pub(crate) bounds: Box3,
    link: u32,
    count: u32,
}

/// Child nodes of an inner node, or triangles of a leaf.
pub(crate) enum Children {
    Nodes([usize; 2]),
    Triangles(Range<usize>),
}

/// Maximum number of triangles in a leaf.
const LEAF: usize = 4;
/// Upper bound on the depth; every split halves the number of triangles.
const DEPTH: usize = 64;

/// Tree over triangles with median splits.
#[derive(Clone, Debug)]
pub(crate) struct BoxTree {
    nodes: Vec<BoxNode>,
}

impl BoxTree {
    /// Builds a tree of at least one box. Also returns the order of the boxes in it.
    pub(crate) fn new(boxes: &[Box3]) -> (Self, Vec<u32>) {
        let mut order: Vec<u32> = (0..boxes.len() as u32).collect();
        let centers: Vec<_> = boxes.iter().map(Box3::center).collect();
        let mut tree = Self {
            nodes: Vec::with_capacity(boxes.len()),
        };
        tree.build(boxes, &centers, &mut order, 0);
        (tree, order)
    }

    fn build(&mut self, boxes: &[Box3], centers: &[Vector3<f64>], order: &mut [u32], first: usize) {
        let index = self.nodes.len();
        let all = order.iter().map(|i| &boxes[*i as usize]);
        let bounds = all.fold(Box3::around([]), |sum, b| sum.union(b));
        self.nodes.push(BoxNode {
            bounds,
            link: first as u32,
            count: order.len() as u32,
        });
        if order.len() <= LEAF {
            return;
        }
        let spread = Box3::around(order.iter().map(|i| &centers[*i as usize]));
        let axis = spread.half().imax();
        let middle = order.len() / 2;
        let key = |i: &u32| centers[*i as usize][axis];
        order.select_nth_unstable_by(middle, |i, j| key(i).total_cmp(&key(j)).then(i.cmp(j)));
        let (left, right) = order.split_at_mut(middle);
        self.build(boxes, centers, left, first);
        self.nodes[index].link = self.nodes.len() as u32;
        self.nodes[index].count = 0;
        self.build(boxes, centers, right, first + middle);
    }

    /// Builds a tree over a grid of leaves. `leaf` returns the box and the triangles of the leaf at
    /// a column and a row.
    pub(crate) fn of_grid(
        counts: [usize; 2],
        leaf: &impl Fn([usize; 2]) -> (Box3, Range<usize>),
    ) -> Self {
        let mut tree = Self {
            nodes: Vec::with_capacity(2 * counts[0] * counts[1]),
        };
        tree.build_grid([0, 0], counts, leaf);
        tree
    }

    fn build_grid(
        &mut self,
        from: [usize; 2],
        to: [usize; 2],
        leaf: &impl Fn([usize; 2]) -> (Box3, Range<usize>),
    ) -> Box3 {
        let index = self.nodes.len();
        let size = [to[0] - from[0], to[1] - from[1]];
        if size == [1, 1] {
            let (bounds, triangles) = leaf(from);
            self.nodes.push(BoxNode {
                bounds,
                link: triangles.start as u32,
                count: triangles.len() as u32,
            });
            return bounds;
        }
        self.nodes.push(BoxNode {
            bounds: Box3::around([]),
            link: 0,
            count: 0,
        });
        let axis = usize::from(size[1] > size[0]);
        let middle = from[axis] + size[axis] / 2;
        let (mut end, mut start) = (to, from);
        (end[axis], start[axis]) = (middle, middle);
        let left = self.build_grid(from, end, leaf);
        self.nodes[index].link = self.nodes.len() as u32;
        let bounds = left.union(&self.build_grid(start, to, leaf));
        self.nodes[index].bounds = bounds;
        bounds
    }

    /// Joins two trees. The triangles of the second are numbered from `offset` on.
    pub(crate) fn joined(first: Self, second: Self, offset: usize) -> Self {
        let mut nodes = Vec::with_capacity(1 + first.nodes.len() + second.nodes.len());
        nodes.push(BoxNode {
            bounds: first.bounds().union(second.bounds()),
            link: 1 + first.nodes.len() as u32,
            count: 0,
        });
        for (tree, offset) in [(first, 0), (second, offset as u32)] {
            let start = nodes.len() as u32;
            nodes.extend(tree.nodes.into_iter().map(|node| BoxNode {
                link: node.link + if node.count == 0 { start } else { offset },
                ..node
            }));
        }
        Self { nodes }
    }

    pub(crate) fn bounds(&self) -> &Box3 {
        &self.nodes[0].bounds
    }
    pub(crate) fn node(&self, index: usize) -> &Box3 {
        &self.nodes[index].bounds
    }
    pub(crate) fn children(&self, index: usize) -> Children {
        let node = &self.nodes[index];
        let link = node.link as usize;
        if node.count == 0 {
            Children::Nodes([index + 1, link])
        } else {
            Children::Triangles(link..link + node.count as usize)
        }
    }

    /// Visits triangles, the most promising first, to minimise a value that begins at `start`.
    /// `bound` returns a lower bound for the triangles in a box, and `visit` returns the value of a
    /// triangle. Boxes whose bound is not below the smallest value so far are skipped.
    #[inline]
    pub(crate) fn descend(
        &self,
        start: f64,
        mut bound: impl FnMut(&Box3) -> f64,
        mut visit: impl FnMut(usize) -> f64,
    ) {
        let mut best = start;
        let mut stack = [(0_usize, 0.0); DEPTH];
        stack[0] = (0, bound(self.bounds()));
        let mut top = 1;
        while top > 0 {
            top -= 1;
            let (mut index, value) = stack[top];
            if value >= best {
                continue;
            }
            loop {
                let node = &self.nodes[index];
                let link = node.link as usize;
                if node.count > 0 {
                    for i in link..link + node.count as usize {
                        best = visit(i).min(best);
                    }
                    break;
                }
                let (left, right) = (index + 1, link);
                let l = bound(&self.nodes[left].bounds);
                let r = bound(&self.nodes[right].bounds);
                let ((near, n), (far, f)) = if r < l {
                    ((right, r), (left, l))
                } else {
                    ((left, l), (right, r))
                };
                if f < best {
                    stack[top] = (far, f);
                    top += 1;
                }
                if n >= best {
                    break;
                }
                index = near;
            }
        }
    }

    /// Returns the greatest height along `d` of triangles whose boxes overlap `region`, limited to
    /// that of the region; `top` returns the height of a triangle.
    pub(crate) fn highest_within(
        &self,
        region: &Box3,
        d: &Vector3<f64>,
        top: impl Fn(usize) -> f64,
    ) -> f64 {
        let mut highest = f64::NEG_INFINITY;
        let bound = |b: &Box3| {
            if b.overlaps(region) {
                -b.support(d).min(region.support(d))
            } else {
                f64::INFINITY
            }
        };
        self.descend(f64::INFINITY, bound, |i| {
            highest = top(i).min(region.support(d)).max(highest);
            -highest
        });
        highest
    }
}
