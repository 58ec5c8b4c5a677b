//! Convex polygons, clipped by planes.

use super::elements::{Plane, Tetrahedron};
use nalgebra::Vector3;

/// Maximum number of corners: a polygon of four, clipped by the four faces of a tetrahedron.
const MOST_CORNERS: usize = 8;

/// Distance (m) below which two corners are one, as in Drake.
const SAME_CORNER: f64 = 1e-14;

/// Sides of polygons are numbered by the planes that they come from: the faces of the tetrahedron
/// or the edges of the triangle that was there first, then, from this number on, the faces of the
/// tetrahedron that clipped.
pub(super) const CLIPPING: u8 = 4;

/// A convex polygon. Side `i` runs from corner `i` to the next.
#[derive(Clone, Debug)]
pub(super) struct Polygon {
    corners: [Vector3<f64>; MOST_CORNERS],
    sides: [u8; MOST_CORNERS],
    len: usize,
}

impl Polygon {
    /// Creates a polygon of three or four corners; each has the number of the side that begins
    /// there.
    pub(super) fn new(corners: &[(Vector3<f64>, u8)]) -> Self {
        let mut this = Self::empty();
        for (p, side) in corners {
            this.push(*p, *side);
        }
        this
    }
    #[inline]
    pub(super) fn empty() -> Self {
        Self {
            corners: [Vector3::zeros(); MOST_CORNERS],
            sides: [0; MOST_CORNERS],
            len: 0,
        }
    }
    #[inline]
    pub(super) fn push(&mut self, p: Vector3<f64>, side: u8) {
        // Rounding may bend a polygon such that a plane cuts more than two of its sides.
        if self.len < MOST_CORNERS {
            self.corners[self.len] = p;
            self.sides[self.len] = side;
            self.len += 1;
        }
    }
    #[inline]
    pub(super) fn corners(&self) -> &[Vector3<f64>] {
        &self.corners[..self.len]
    }
    /// Returns the sides that meet at a corner: the one that ends there and the one that begins.
    #[inline]
    pub(super) fn sides_at(&self, corner: usize) -> [u8; 2] {
        let before = if corner == 0 { self.len } else { corner } - 1;
        [self.sides[before], self.sides[corner]]
    }

    /// Keeps what is below a plane; false if nothing is left. Where all of it is in the plane but
    /// for `rounding` (m), it is left if `owns` is true.
    #[inline]
    fn clip(&mut self, plane: &Plane, side: u8, owns: bool, rounding: f64) -> bool {
        let mut heights = [0.0; MOST_CORNERS];
        let (mut lowest, mut highest) = (f64::INFINITY, f64::NEG_INFINITY);
        for (h, p) in heights.iter_mut().zip(self.corners()) {
            *h = plane.height(p);
            lowest = lowest.min(*h);
            highest = highest.max(*h);
        }
        if lowest >= -rounding {
            return owns && highest <= rounding;
        }
        // Corners in the plane but for rounding stay as they are, which adds no needless corners.
        if highest <= rounding {
            return true;
        }
        let whole = std::mem::replace(self, Self::empty());
        for i in 0..whole.len {
            let j = if i + 1 == whole.len { 0 } else { i + 1 };
            let (a, b) = (heights[i], heights[j]);
            let (p, q) = (&whole.corners[i], &whole.corners[j]);
            match (a <= rounding, b <= rounding) {
                (true, true) => self.push(*p, whole.sides[i]),
                (true, false) => {
                    self.push(*p, whole.sides[i]);
                    if a < 0.0 {
                        self.push(cut(p, a, q, b), side);
                    } else {
                        self.sides[self.len - 1] = side;
                    }
                }
                (false, true) => {
                    if b < 0.0 {
                        self.push(cut(p, a, q, b), whole.sides[i]);
                    }
                }
                (false, false) => {}
            }
        }
        true
    }

    /// Keeps what is in a tetrahedron; false if that has no area. What is within face `f` stays if
    /// `owns(f)` is true. Rounding is that of coordinates (m).
    #[inline]
    pub(super) fn clip_by(
        &mut self,
        tetrahedron: &Tetrahedron,
        owns: impl Fn(usize) -> bool,
        rounding: f64,
    ) -> bool {
        for (f, face) in tetrahedron.faces.iter().enumerate() {
            let side = CLIPPING + f as u8;
            if !self.clip(face, side, owns(f), rounding) {
                return false;
            }
        }
        self.remove_duplicates();
        self.len >= 3
    }

    /// Joins corners that are the same but for rounding.
    #[inline]
    pub(super) fn remove_duplicates(&mut self) {
        let mut len = 0;
        for i in 0..self.len {
            let is_same = |other: &Vector3<f64>| {
                (self.corners[i] - other).norm_squared() < SAME_CORNER * SAME_CORNER
            };
            if len > 0 && is_same(&self.corners[len - 1]) {
                self.sides[len - 1] = self.sides[i];
                continue;
            }
            if i + 1 == self.len && len > 0 && is_same(&self.corners[0]) {
                // The side that ended at this corner now ends at the first.
                continue;
            }
            self.corners[len] = self.corners[i];
            self.sides[len] = self.sides[i];
            len += 1;
        }
        self.len = len;
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

/// Returns the section of a tetrahedron by a plane, given the heights of its corners above the
/// plane. It is empty or has three or four corners.
#[inline]
pub(super) fn section(corners: &[Vector3<f64>; 4], heights: &[f64; 4]) -> Polygon {
    let edges = section_edges(heights);
    let mut polygon = Polygon::empty();
    for (k, edge) in edges.iter().enumerate() {
        let next = edges[if k + 1 == edges.len() { 0 } else { k + 1 }];
        let [a, b] = *edge;
        let p = cut(&corners[a], heights[a], &corners[b], heights[b]);
        polygon.push(p, face_of(*edge, next));
    }
    polygon
}
