//! Triangles in a bounding volume hierarchy of boxes.

use nalgebra::Vector3;

/// A triangle with its outward unit normal.
#[derive(Clone, Copy, Debug)]
pub(in crate::proximity) struct Triangle {
    pub(in crate::proximity) corners: [Vector3<f64>; 3],
    pub(in crate::proximity) normal: Vector3<f64>,
}

impl Triangle {
    /// `None` without area: thinner than rounding, so that it has no normal.
    pub(super) fn new(corners: [Vector3<f64>; 3]) -> Option<Self> {
        let [a, b, c] = corners;
        let longest = (b - a)
            .norm_squared()
            .max((c - a).norm_squared())
            .max((c - b).norm_squared());
        let normal = (b - a).cross(&(c - a)).try_normalize(1e-14 * longest)?;
        normal
            .iter()
            .all(|x| x.is_finite())
            .then_some(Self { corners, normal })
    }

    /// The point nearest to `p`: regions as in Ericson, Real-Time Collision Detection (2005),
    /// 5.1.5.
    pub(super) fn nearest(&self, p: &Vector3<f64>) -> Vector3<f64> {
        let [a, b, c] = &self.corners;
        let (ab, ac, ap) = (b - a, c - a, p - a);
        let (d1, d2) = (ab.dot(&ap), ac.dot(&ap));
        if d1 <= 0.0 && d2 <= 0.0 {
            return *a;
        }
        let bp = p - b;
        let (d3, d4) = (ab.dot(&bp), ac.dot(&bp));
        if d3 >= 0.0 && d4 <= d3 {
            return *b;
        }
        let vc = d1 * d4 - d3 * d2;
        if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
            return a + ab * (d1 / (d1 - d3));
        }
        let cp = p - c;
        let (d5, d6) = (ab.dot(&cp), ac.dot(&cp));
        if d6 >= 0.0 && d5 <= d6 {
            return *c;
        }
        let vb = d5 * d2 - d1 * d6;
        if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
            return a + ac * (d2 / (d2 - d6));
        }
        let va = d3 * d6 - d5 * d4;
        if va <= 0.0 && d4 >= d3 && d5 >= d6 {
            return b + (c - b) * ((d4 - d3) / ((d4 - d3) + (d5 - d6)));
        }
        p - self.normal * self.normal.dot(&ap)
    }

    /// How far a point, seen along the normal, is inside: its least height over an edge.
    pub(super) fn inset(&self, p: &Vector3<f64>) -> f64 {
        let height = |i: usize| {
            let (from, to) = (&self.corners[i], &self.corners[(i + 1) % 3]);
            let e = to - from;
            self.normal.cross(&e).dot(&(p - from)) / e.norm()
        };
        height(0).min(height(1)).min(height(2))
    }

    /// Offset of the plane from the origin.
    pub(super) fn base(&self) -> f64 {
        self.normal.dot(&self.corners[0])
    }

    /// Height of a point over the plane.
    pub(super) fn height(&self, p: &Vector3<f64>) -> f64 {
        self.normal.dot(&(p - self.corners[0]))
    }
}

/// A box with edges along the axes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Box3 {
    pub(super) lower: Vector3<f64>,
    pub(super) upper: Vector3<f64>,
}

impl Box3 {
    pub(super) fn around<'a>(points: impl IntoIterator<Item = &'a Vector3<f64>>) -> Self {
        let empty = Self {
            lower: Vector3::repeat(f64::INFINITY),
            upper: Vector3::repeat(f64::NEG_INFINITY),
        };
        points.into_iter().fold(empty, |b, p| Self {
            lower: b.lower.inf(p),
            upper: b.upper.sup(p),
        })
    }
    pub(super) fn center(&self) -> Vector3<f64> {
        (self.lower + self.upper) * 0.5
    }
    pub(super) fn half(&self) -> Vector3<f64> {
        (self.upper - self.lower) * 0.5
    }
    pub(super) fn grown(&self, by: f64) -> Self {
        Self {
            lower: self.lower - Vector3::repeat(by),
            upper: self.upper + Vector3::repeat(by),
        }
    }
    fn union(&self, other: &Self) -> Self {
        Self {
            lower: self.lower.inf(&other.lower),
            upper: self.upper.sup(&other.upper),
        }
    }
    pub(super) fn intersection(&self, other: &Self) -> Self {
        Self {
            lower: self.lower.sup(&other.lower),
            upper: self.upper.inf(&other.upper),
        }
    }
    /// Squared distance of a point.
    #[inline]
    pub(super) fn distance2(&self, p: &Vector3<f64>) -> f64 {
        let gap = |i: usize| (self.lower[i] - p[i]).max(p[i] - self.upper[i]).max(0.0);
        let (x, y, z) = (gap(0), gap(1), gap(2));
        x * x + y * y + z * z
    }
    /// Distance of two boxes.
    pub(super) fn distance(&self, other: &Self) -> f64 {
        let gap = (other.lower - self.upper).sup(&(self.lower - other.upper));
        gap.sup(&Vector3::zeros()).norm()
    }
    fn overlaps(&self, other: &Self) -> bool {
        (0..3).all(|i| self.lower[i] <= other.upper[i] && other.lower[i] <= self.upper[i])
    }
    /// Greatest value of `d.x` over the box.
    #[inline]
    pub(super) fn support(&self, d: &Vector3<f64>) -> f64 {
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

/// A node: its children are the next node and `link`, or its triangles are `link..link + count`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) bounds: Box3,
    link: u32,
    count: u32,
}

/// What is below a node.
pub(super) enum Below {
    Nodes([usize; 2]),
    Triangles(std::ops::Range<usize>),
}

/// Triangles in a leaf.
const LEAF: usize = 4;
/// Deeper trees do not occur: every split halves the triangles.
const DEPTH: usize = 64;

/// A tree over triangles, split at the median.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
}

impl Tree {
    /// A tree of at least one box, and the order of the boxes in it.
    pub(super) fn new(boxes: &[Box3]) -> (Self, Vec<u32>) {
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
        self.nodes.push(Node {
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

    pub(super) fn bounds(&self) -> &Box3 {
        &self.nodes[0].bounds
    }
    pub(super) fn node(&self, index: usize) -> &Box3 {
        &self.nodes[index].bounds
    }
    pub(super) fn below(&self, index: usize) -> Below {
        let node = &self.nodes[index];
        let link = node.link as usize;
        if node.count == 0 {
            Below::Nodes([index + 1, link])
        } else {
            Below::Triangles(link..link + node.count as usize)
        }
    }

    /// Visits triangles, the likely best first. `bound` says what a box holds at best (smaller is
    /// better), `visit` looks at a triangle; both are given what is known so far, and what is not
    /// below the value that `visit` returned last is left out.
    #[inline]
    pub(super) fn descend(
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

    /// The greatest height along `d` of triangles whose boxes overlap `region`: `top` is the height
    /// of a triangle.
    pub(super) fn highest_within(
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
