//! Convex polygons, clipped by planes.

use super::planes::{FourPlanes, Plane};
use nalgebra::Vector3;
use wide::f64x4;

/// Maximum number of corners: a section of four, clipped by the four faces of a tetrahedron.
const MOST_CORNERS: usize = 8;

/// Distance (m) below which two corners are one, as in Drake.
const SAME_CORNER: f64 = 1e-14;

/// Sides of polygons are numbered by the planes that they come from: the faces of the tetrahedron
/// that is cut first, then, from this number on, the planes that clip.
pub(super) const CLIPPING: u8 = 4;

/// A convex polygon. Side `i` runs from corner `i` to the next.
#[derive(Clone, Debug)]
struct Polygon {
    corners: [Vector3<f64>; MOST_CORNERS],
    sides: [u8; MOST_CORNERS],
    len: usize,
}

impl Polygon {
    fn empty() -> Self {
        Self {
            corners: [Vector3::zeros(); MOST_CORNERS],
            sides: [0; MOST_CORNERS],
            len: 0,
        }
    }
    #[inline]
    fn push(&mut self, p: Vector3<f64>, side: u8) {
        // Rounding may bend a polygon such that a plane cuts more than two of its sides.
        if self.len < MOST_CORNERS {
            self.corners[self.len] = p;
            self.sides[self.len] = side;
            self.len += 1;
        }
    }
}

/// A polygon that is being clipped, and the place for the next one.
pub(super) struct Clipped {
    polygons: [Polygon; 2],
    now: usize,
}

impl Clipped {
    pub(super) fn new() -> Self {
        Self {
            polygons: [Polygon::empty(), Polygon::empty()],
            now: 0,
        }
    }
    #[inline]
    pub(super) fn corners(&self) -> &[Vector3<f64>] {
        let polygon = &self.polygons[self.now];
        &polygon.corners[..polygon.len]
    }
    /// Returns the sides that meet at a corner: the one that ends there and the one that begins.
    #[inline]
    pub(super) fn sides_at(&self, corner: usize) -> [u8; 2] {
        let polygon = &self.polygons[self.now];
        let before = if corner == 0 { polygon.len } else { corner } - 1;
        [polygon.sides[before], polygon.sides[corner]]
    }

    /// Returns the sides with the squares of their lengths (m^2).
    #[inline]
    pub(super) fn sides(&self) -> impl Iterator<Item = (u8, f64)> {
        let polygon = &self.polygons[self.now];
        (0..polygon.len).map(|i| {
            let end = &polygon.corners[if i + 1 == polygon.len { 0 } else { i + 1 }];
            (polygon.sides[i], (end - polygon.corners[i]).norm_squared())
        })
    }

    /// Begins with the section of a tetrahedron by a plane, given the heights of its corners above
    /// the plane; false if there is none. Its sides are the faces of the tetrahedron.
    #[inline]
    pub(super) fn begin(&mut self, corners: &[Vector3<f64>; 4], heights: &[f64; 4]) -> bool {
        let edges = section_edges(heights);
        let polygon = &mut self.polygons[self.now];
        polygon.len = 0;
        for (k, edge) in edges.iter().enumerate() {
            let next = edges[if k + 1 == edges.len() { 0 } else { k + 1 }];
            let [a, b] = *edge;
            let p = cut(&corners[a], heights[a], &corners[b], heights[b]);
            polygon.push(p, face_of(*edge, next));
        }
        !edges.is_empty()
    }

    /// Keeps what is below planes, whose sides get numbers from [`CLIPPING`] on; false if nothing
    /// is left. Where all of it is in a plane but for `rounding` (m), it is left if `owns` says so.
    #[inline]
    pub(super) fn clip(
        &mut self,
        planes: &FourPlanes,
        owns: impl Fn(usize) -> bool,
        rounding: f64,
    ) -> bool {
        // Most polygons are outside of a plane, and most planes leave the others as they are.
        let (mut lowest, mut highest) = (f64x4::splat(f64::MAX), f64x4::splat(f64::MIN));
        for p in self.corners() {
            let heights = planes.heights(p);
            lowest = lowest.fast_min(heights);
            highest = highest.fast_max(heights);
        }
        let (below, above) = (f64x4::splat(-rounding), f64x4::splat(rounding));
        let (is_below, is_above) = (lowest.simd_lt(below), highest.simd_gt(above));
        let outside = !is_below.to_bitmask() & 15;
        let owned = |k: usize| is_above.to_bitmask() & 1 << k == 0 && owns(k);
        if outside != 0 && (0..4).any(|k| outside & 1 << k != 0 && !owned(k)) {
            return false;
        }
        // Corners in the plane but for rounding stay as they are, which adds no needless ones.
        let cuts = (is_below & is_above).to_bitmask();
        let mut cutting = (0..4_u8).filter(|k| cuts & 1 << k != 0);
        cutting.all(|k| self.cut_by(&planes.plane(k as usize), CLIPPING + k, rounding))
    }

    /// Keeps what is below a plane; false if nothing is left.
    fn cut_by(&mut self, plane: &Plane, side: u8, rounding: f64) -> bool {
        let [first, second] = &mut self.polygons;
        let (whole, kept) = match self.now {
            0 => (first, second),
            _ => (second, first),
        };
        let mut heights = [0.0; MOST_CORNERS];
        let (mut is_below, mut is_above) = (false, false);
        for (h, p) in heights.iter_mut().zip(&whole.corners[..whole.len]) {
            *h = plane.height(p);
            is_below |= *h < -rounding;
            is_above |= *h > rounding;
        }
        if !is_below || !is_above {
            return is_below;
        }
        kept.len = 0;
        for i in 0..whole.len {
            let j = if i + 1 == whole.len { 0 } else { i + 1 };
            let (a, b) = (heights[i], heights[j]);
            let (p, q) = (&whole.corners[i], &whole.corners[j]);
            match (a <= rounding, b <= rounding) {
                (true, true) => kept.push(*p, whole.sides[i]),
                (true, false) if a < 0.0 => {
                    kept.push(*p, whole.sides[i]);
                    kept.push(cut(p, a, q, b), side);
                }
                (true, false) => kept.push(*p, side),
                (false, true) if b < 0.0 => kept.push(cut(p, a, q, b), whole.sides[i]),
                _ => {}
            }
        }
        self.now = 1 - self.now;
        true
    }

    /// Joins corners that are the same but for rounding; false if nothing with an area is left.
    #[inline]
    pub(super) fn finish(&mut self) -> bool {
        let polygon = &mut self.polygons[self.now];
        let mut len = 0;
        for i in 0..polygon.len {
            let is_same = |other: &Vector3<f64>| {
                (polygon.corners[i] - other).norm_squared() < SAME_CORNER * SAME_CORNER
            };
            if len > 0 && is_same(&polygon.corners[len - 1]) {
                polygon.sides[len - 1] = polygon.sides[i];
                continue;
            }
            if i + 1 == polygon.len && len > 0 && is_same(&polygon.corners[0]) {
                // The side that ended at this corner now ends at the first.
                continue;
            }
            polygon.corners[len] = polygon.corners[i];
            polygon.sides[len] = polygon.sides[i];
            len += 1;
        }
        polygon.len = len;
        len >= 3
    }
}

/// Edges of a tetrahedron that bound its section by a plane, in order around the section, by the
/// corners above the plane (bit `i` for corner `i`). An edge is the two corners that it joins.
///
/// The order is counter-clockwise as seen from above.
const SECTIONS: [&[[usize; 2]]; 16] = [
    &[],
    &[[0, 1], [0, 3], [0, 2]],
    &[[0, 1], [1, 2], [1, 3]],
    &[[0, 2], [1, 2], [1, 3], [0, 3]],
    &[[0, 2], [2, 3], [1, 2]],
    &[[0, 1], [0, 3], [2, 3], [1, 2]],
    &[[0, 1], [0, 2], [2, 3], [1, 3]],
    &[[0, 3], [2, 3], [1, 3]],
    &[[0, 3], [1, 3], [2, 3]],
    &[[0, 1], [1, 3], [2, 3], [0, 2]],
    &[[0, 1], [1, 2], [2, 3], [0, 3]],
    &[[0, 2], [1, 2], [2, 3]],
    &[[0, 2], [0, 3], [1, 3], [1, 2]],
    &[[0, 1], [1, 3], [1, 2]],
    &[[0, 1], [0, 2], [0, 3]],
    &[],
];

/// Returns the edges that the plane cuts, given the heights of the corners above it.
#[inline]
pub(super) fn section_edges(heights: &[f64; 4]) -> &'static [[usize; 2]] {
    let above = heights.iter().enumerate();
    let above = above.fold(0, |bits, (i, h)| bits | usize::from(*h > 0.0) << i);
    SECTIONS[above]
}

/// Returns the face of a tetrahedron that has two of its edges.
#[inline]
fn face_of([a, b]: [usize; 2], [c, d]: [usize; 2]) -> u8 {
    // The face is opposite to the corner that neither edge has.
    let present = 1 << a | 1 << b | 1 << c | 1 << d;
    (!present & 15_u8).trailing_zeros() as u8
}

/// Returns where a plane cuts an edge, whose ends are at heights of different sign.
#[inline]
pub(super) fn cut(p: &Vector3<f64>, a: f64, q: &Vector3<f64>, b: f64) -> Vector3<f64> {
    (p * b - q * a) / (b - a)
}
