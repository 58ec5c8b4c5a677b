//! The best separating axis of a box and a box or segment, and its witnesses.
//!
//! Both cores are sums of segments (zonotopes), so their Minkowski difference is one too. Its faces
//! are spanned by two generators: two edges of one body (a face normal of that body) or one edge of
//! each. The largest separating margin over these normals is the exact signed distance when the
//! cores overlap (Gottschalk, Lin, Manocha 1996, for the axes). It is also exact when they are
//! separated, provided that the supporting features at that normal face each other.

use crate::proximity::features::FeaturePair;
use crate::proximity::rounding::{NEGLIGIBLE, PARALLEL};
use nalgebra::{Matrix3, Vector2, Vector3};
use std::ops::Range;

/// A box (A) and a box or segment (B) as sums of segments, in the frame of A.
#[derive(Clone, Debug)]
pub(super) struct ZonotopePair {
    /// Half edges of A.
    ha: Vector3<f64>,
    /// Half edges of B.
    hb: Vector3<f64>,
    /// Indices of the axes of B along which it has an extent.
    axes_b: Range<usize>,
    /// Centre of B.
    c: Vector3<f64>,
    /// Columns: axes of B.
    r: Matrix3<f64>,
}

/// The edges that span a face of the Minkowski difference.
#[derive(Clone, Copy, Debug, PartialEq)]
enum AxisKind {
    /// The face of A with this axis as normal.
    FaceA(usize),
    /// The face of B with this axis as normal.
    FaceB(usize),
    /// An edge of A and an edge of B.
    Edges(usize, usize),
}

/// A unit normal from A to B and its separating margin.
#[derive(Clone, Copy, Debug)]
pub(super) struct SeparatingAxis {
    kind: AxisKind,
    /// The sign that makes the axis point from A to B.
    side: f64,
    pub(super) n: Vector3<f64>,
    /// `min n.b - max n.a` (m).
    pub(super) margin: f64,
}

/// A point of A and a point of B, each in its own frame, both extreme along an axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct SupportPair {
    p_a: Vector3<f64>,
    p_b: Vector3<f64>,
    /// True if the two points differ only along the axis.
    pub(super) facing: bool,
    /// Distance of the points from the extreme along the axis (m), with `least_tilt`.
    tilt: f64,
}

fn sign(x: f64) -> f64 {
    if x < 0.0 { -1.0 } else { 1.0 }
}

impl ZonotopePair {
    pub(super) fn boxes(
        ha: &Vector3<f64>,
        c: &Vector3<f64>,
        r: &Matrix3<f64>,
        hb: &Vector3<f64>,
    ) -> Self {
        Self {
            ha: *ha,
            hb: *hb,
            axes_b: 0..3,
            c: *c,
            r: *r,
        }
    }

    /// Creates the pair of a box and a segment along B's z axis that extends by `half` to both
    /// sides.
    pub(super) fn box_and_segment(
        ha: &Vector3<f64>,
        c: &Vector3<f64>,
        r: &Matrix3<f64>,
        half: f64,
    ) -> Self {
        Self {
            ha: *ha,
            hb: Vector3::new(0.0, 0.0, half),
            axes_b: 2..3,
            c: *c,
            r: *r,
        }
    }

    /// Returns the centre of B.
    pub(super) fn center(&self) -> &Vector3<f64> {
        &self.c
    }
    /// Returns the axes of B as columns.
    pub(super) fn axes(&self) -> &Matrix3<f64> {
        &self.r
    }

    /// Returns a length to which rounding errors are compared.
    fn scale(&self) -> f64 {
        self.ha.sum() + self.hb.sum()
    }

    /// Returns the largest margin of the faces of two boxes, or `None` as soon as one is above
    /// `reach`.
    pub(super) fn margin_of_faces(&self, reach: f64) -> Option<f64> {
        let abs = self.r.abs();
        let mut most = f64::NEG_INFINITY;
        let of_a = self.c.abs() - self.ha - abs * self.hb;
        let of_b = self.r.tr_mul(&self.c).abs() - self.hb - abs.tr_mul(&self.ha);
        for margin in of_a.iter().chain(&of_b) {
            most = most.max(*margin);
        }
        (most <= reach).then_some(most)
    }

    /// Returns the axis with the largest margin, or `None` as soon as one margin is above `reach`.
    ///
    /// In ties, faces are preferred to edge pairs, and A to B: for parallel boxes the edge pairs
    /// repeat the faces with worse-conditioned normals.
    pub(super) fn best_axis(&self, reach: f64) -> Option<SeparatingAxis> {
        let (ha, hb, c) = (&self.ha, &self.hb, &self.c);
        let abs = self.r.abs();
        let tie = 1e-15 * self.scale();
        let mut best = (AxisKind::FaceA(0), f64::NEG_INFINITY);
        for i in 0..3 {
            let margin = c[i].abs() - ha[i] - abs.row(i).transpose().dot(hb);
            if margin > reach {
                return None;
            }
            if margin > best.1 {
                best = (AxisKind::FaceA(i), margin);
            }
        }
        if self.axes_b.len() == 3 {
            for j in 0..3 {
                let margin = self.r.column(j).dot(c).abs() - hb[j] - abs.column(j).dot(ha);
                if margin > reach {
                    return None;
                }
                if margin > best.1 + tie {
                    best = (AxisKind::FaceB(j), margin);
                }
            }
        }
        // Edge pairs must win clearly against the faces, but not against one another.
        best.1 += tie;
        for j in self.axes_b.clone() {
            let (j1, j2) = ((j + 1) % 3, (j + 2) % 3);
            for i in 0..3 {
                let (i1, i2) = ((i + 1) % 3, (i + 2) % 3);
                // m = e_i x r_j, not of unit length.
                let (m1, m2) = (-self.r[(i2, j)], self.r[(i1, j)]);
                let length2 = m1 * m1 + m2 * m2;
                // For edge pairs this parallel, the adjacent faces are as good up to rounding.
                if length2 < NEGLIGIBLE * NEGLIGIBLE {
                    continue;
                }
                // |m.r_l| equals |r_il'|, but that has an error that does not shrink with m.
                let along = |l: usize| (m1 * self.r[(i1, l)] + m2 * self.r[(i2, l)]).abs();
                let margin = (m1 * c[i1] + m2 * c[i2]).abs()
                    - (ha[i1] * m1.abs() + ha[i2] * m2.abs())
                    - (hb[j1] * along(j1) + hb[j2] * along(j2));
                // Squares are compared first, so that only improvements cost a square root.
                if margin * margin.abs() > best.1 * best.1.abs() * length2 {
                    let margin = margin / length2.sqrt();
                    if margin > reach {
                        return None;
                    }
                    best = (AxisKind::Edges(i, j), margin);
                }
            }
        }
        let axis = match best.0 {
            AxisKind::FaceA(i) => Vector3::ith(i, 1.0),
            AxisKind::FaceB(j) => self.r.column(j).into_owned(),
            AxisKind::Edges(i, j) => Vector3::ith(i, 1.0).cross(&self.r.column(j)).normalize(),
        };
        let side = sign(axis.dot(c));
        let margin = match best.0 {
            AxisKind::Edges(..) => best.1,
            _ => best.1 - tie,
        };
        Some(SeparatingAxis {
            kind: best.0,
            side,
            n: axis * side,
            margin,
        })
    }

    /// Returns the extreme points along the axis that face each other, if such points exist.
    ///
    /// Edges within `parallel` (sine of the angle) of perpendicular to the axis count as lying in
    /// the supporting face. With two of them the points are unique. With more (faces or edges
    /// parallel to a face) the supporting faces overlap in a polygon, whose corners are the basic
    /// solutions: two edges free, the others at an end. The result is the mean of these corners or,
    /// for `least_tilt`, the corner that departs least from the extreme points.
    pub(super) fn supports(
        &self,
        axis: &SeparatingAxis,
        parallel: f64,
        least_tilt: bool,
    ) -> SupportPair {
        let n = &axis.n;
        let forced = |k: usize| match axis.kind {
            AxisKind::FaceA(i) => k < 3 && k != i,
            AxisKind::FaceB(j) => k >= 3 && k - 3 != j,
            AxisKind::Edges(i, j) => k == i || k == j + 3,
        };
        let excluded = |k: usize| match axis.kind {
            AxisKind::FaceA(i) => k == i,
            AxisKind::FaceB(j) => k == j + 3,
            AxisKind::Edges(..) => false,
        };
        // An orthonormal basis of the plane perpendicular to n.
        let e1 = n.cross(&Vector3::ith(n.iamin(), 1.0)).normalize();
        let e2 = n.cross(&e1);
        let flat = |v: &Vector3<f64>| Vector2::new(e1.dot(v), e2.dot(v));

        // q = c + sum of position[k] * generator[k], from a point of A to a point of B.
        let mut position = [0.0; 6];
        let mut rest = flat(&self.c);
        let mut free = [(0, Vector2::zeros(), 0.0); 6];
        let mut count = 0;
        for k in (0..3).chain(self.axes_b.start + 3..self.axes_b.end + 3) {
            let (direction, length) = if k < 3 {
                (-Vector3::ith(k, 1.0), self.ha[k])
            } else {
                (self.r.column(k - 3).into_owned(), self.hb[k - 3])
            };
            let along = n.dot(&direction);
            position[k] = -sign(along);
            let g = flat(&direction) * length;
            if forced(k) || (along.abs() <= parallel && !excluded(k)) {
                free[count] = (k, g, along * length);
                count += 1;
            } else {
                rest += g * position[k];
            }
        }
        let free = &free[..count];

        let mut sum = [0.0; 6];
        let mut corners = 0.0;
        let mut least = (f64::INFINITY, [0.0; 6], 0.0);
        for (p, a) in free.iter().enumerate() {
            for (q, b) in free.iter().enumerate().skip(p + 1) {
                let determinant = a.1.perp(&b.1);
                if determinant.abs() <= 1e-15 * a.1.norm() * b.1.norm() {
                    continue;
                }
                let others = |i: usize| i != p && i != q;
                for ends in 0..1_u32 << count {
                    // Only the bits of the other generators count.
                    if ends & (1 << p | 1 << q) != 0 {
                        continue;
                    }
                    let mut x = [0.0; 6];
                    let mut target = -rest;
                    let mut tilt = 0.0;
                    for (i, g) in free.iter().enumerate().filter(|(i, _)| others(*i)) {
                        x[i] = if ends >> i & 1 == 0 { -1.0 } else { 1.0 };
                        target -= g.1 * x[i];
                        tilt += (x[i] - position[g.0]) * g.2;
                    }
                    x[p] = target.perp(&b.1) / determinant;
                    x[q] = a.1.perp(&target) / determinant;
                    let violation = x[p].abs().max(x[q].abs()) - 1.0;
                    x[p] = x[p].clamp(-1.0, 1.0);
                    x[q] = x[q].clamp(-1.0, 1.0);
                    let inside = violation <= 1e-14;
                    if inside {
                        corners += 1.0;
                        for (sum, x) in sum.iter_mut().zip(&x) {
                            *sum += x;
                        }
                    }
                    tilt += (x[p] - position[a.0]) * a.2 + (x[q] - position[b.0]) * b.2;
                    // Points that do not face each other rank behind all points that do.
                    let badness = if inside {
                        tilt.abs() - self.scale()
                    } else {
                        violation * self.scale()
                    };
                    if badness < least.0 {
                        least = (badness, x, tilt.abs());
                    }
                }
            }
        }
        let facing = corners > 0.0;
        for (i, g) in free.iter().enumerate() {
            position[g.0] = if facing && !least_tilt {
                sum[i] / corners
            } else {
                least.1[i]
            };
        }
        let [a1, a2, a3, b1, b2, b3] = position;
        SupportPair {
            p_a: self.ha.component_mul(&Vector3::new(a1, a2, a3)),
            p_b: self.hb.component_mul(&Vector3::new(b1, b2, b3)),
            facing,
            tilt: least.2,
        }
    }

    /// Returns the features of an axis with its supports.
    pub(super) fn features(&self, axis: &SeparatingAxis, supports: &SupportPair) -> FeaturePair {
        let SupportPair { p_a, p_b, .. } = *supports;
        match axis.kind {
            AxisKind::FaceA(i) => FeaturePair::PlanePoint {
                normal_a: axis.n,
                offset: self.ha[i],
                p_b,
            },
            // B's outward normal points against the normal from A to B.
            AxisKind::FaceB(j) => FeaturePair::PointPlane {
                p_a,
                normal_b: Vector3::ith(j, -axis.side),
                offset: self.hb[j],
            },
            // For nearly parallel edges, the faces on both sides have the same normal up to
            // rounding, and the exact direction of the cross product is meaningless.
            AxisKind::Edges(i, j) if self.r.column(j).remove_row(i).norm_squared() <= 1e-16 => {
                FeaturePair::PlanePoint {
                    normal_a: axis.n,
                    offset: axis.n.dot(&p_a),
                    p_b,
                }
            }
            AxisKind::Edges(i, j) => FeaturePair::LineLine {
                p_a,
                dir_a: Vector3::ith(i, 1.0),
                half_a: self.ha[i],
                p_b,
                dir_b: Vector3::ith(j, 1.0),
                half_b: self.hb[j],
                sign: axis.side,
            },
        }
    }

    /// Returns the features of overlapping or touching cores at their best axis.
    ///
    /// In exact arithmetic, the supports of the best axis always face each other when the cores
    /// overlap. Where faces are parallel up to rounding, a neighbour may win by rounding. Edges are
    /// then allowed to move away from the extreme, as little as possible, which changes the depth
    /// only by rounding. Returns `None` if no supports face each other: the cores touch at a vertex
    /// or an edge and are separated by rounding.
    pub(super) fn touching_features(&self, axis: &SeparatingAxis) -> Option<FeaturePair> {
        let exact = self.supports(axis, PARALLEL, false);
        if exact.facing {
            return Some(self.features(axis, &exact));
        }
        let tolerance = NEGLIGIBLE * self.scale();
        [1e-9, 1.0].iter().find_map(|parallel| {
            let supports = self.supports(axis, *parallel, true);
            let near = supports.tilt <= tolerance || axis.margin < -tolerance;
            (supports.facing && near).then(|| self.features(axis, &supports))
        })
    }
}
