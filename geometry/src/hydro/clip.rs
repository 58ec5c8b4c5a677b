//! Convex polygons, clipped by planes.

use super::planes::FourPlanes;
use nalgebra::Vector3;
use std::ops::{Add, Mul};
use wide::{f64x2, f64x4};

/// Maximum number of corners: a section of four, clipped by the four faces of a tetrahedron.
const MOST_CORNERS: usize = 8;

/// A point of a polygon: its coordinates (m), and there the value of a linear function.
pub(super) type ValuedPoint = f64x4;

/// Returns a point with the value of a function there.
#[inline(always)]
pub(super) fn valued(p: &Vector3<f64>, value: f64) -> ValuedPoint {
    f64x4::new([p.x, p.y, p.z, value])
}

/// Returns the position (m) of a point.
#[inline(always)]
pub(super) fn position(p: &ValuedPoint) -> Vector3<f64> {
    let [x, y, z, _] = p.to_array();
    Vector3::new(x, y, z)
}

/// Returns a point whose value is a pressure per modulus with its pressure.
#[inline(always)]
pub(super) fn with_modulus(p: ValuedPoint, modulus: f64) -> ValuedPoint {
    p * f64x4::new([1.0, 1.0, 1.0, modulus])
}

/// Returns the square of the distance between two points (m^2).
#[inline(always)]
fn square_between(p: ValuedPoint, q: ValuedPoint) -> f64 {
    let [x, y, z, _] = (q - p).to_array();
    x * x + y * y + z * z
}

/// Maximum number of points: the corners of the section, and those that every plane cuts.
const MOST_POINTS: usize = 16;

/// Distance (m) below which two corners are one, as in Drake.
const SAME_CORNER: f64 = 1e-14;

/// Sides of polygons are numbered by the planes that they come from: the faces of the tetrahedron
/// that is cut first, then, from this number on, the planes that clip.
pub(super) const CLIPPING: u8 = 4;

/// A convex polygon that is being clipped. Side `i` runs from corner `i` to the next.
///
/// Which planes cut, and between which corners, cannot be predicted, so that clipping has few
/// branches: points stay where they are, and only the order of their indices changes.
pub(super) struct Clipped {
    points: [ValuedPoint; MOST_POINTS],
    /// Heights (m) of the points above the four planes that clip.
    heights: [f64x4; MOST_POINTS],
    num_points: usize,
    /// The corners in order, in the lowest `len` bytes: the point, and in the upper four bits the
    /// side that begins there.
    order: u64,
    /// Likewise, flag `k` tells whether the corner is above plane `k`, flag `4 + k` whether it is
    /// below, not counting rounding.
    flags: u64,
    len: usize,
    /// Corners of the finished polygon in order, and the square of its shortest side (m^2).
    corners: [ValuedPoint; MOST_CORNERS],
    shortest: f64,
}

/// Result of clipping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// A polygon is left.
    Left,
    /// Nothing is left, but rounding may have decided that.
    Close,
    /// Nothing is left.
    Apart,
}

/// Returns the lowest bytes of a number.
#[inline(always)]
fn low_bytes(bytes: u64, count: usize) -> u64 {
    bytes & !u64::MAX.unbounded_shl(8 * count as u32)
}

/// Returns the lowest bytes of a number, turned such that byte `first` comes first. Bytes above
/// them are arbitrary.
#[inline(always)]
fn turned(bytes: u64, first: usize, count: usize) -> u64 {
    // Eight bytes that begin with the first stay: a shift by 64 is one by 0.
    bytes >> (8 * first) | bytes.wrapping_shl(8 * (count - first) as u32)
}

#[inline(always)]
fn byte(bytes: u64, i: usize) -> usize {
    (bytes >> (8 * i)) as usize & (MOST_POINTS - 1)
}

impl Clipped {
    pub(super) fn new() -> Self {
        let zero = f64x4::splat(0.0);
        Self {
            points: [zero; MOST_POINTS],
            heights: [zero; MOST_POINTS],
            num_points: 0,
            order: 0,
            flags: 0,
            len: 0,
            corners: [zero; MOST_CORNERS],
            shortest: 0.0,
        }
    }
    #[inline(always)]
    pub(super) fn num_corners(&self) -> usize {
        self.len
    }
    /// Returns a corner of the finished polygon.
    #[inline]
    pub(super) fn corner(&self, i: usize) -> ValuedPoint {
        self.corners[i]
    }
    /// Returns the places of corners, of which the finished polygon uses the first.
    #[inline(always)]
    pub(super) fn places(&self) -> &[ValuedPoint; MOST_CORNERS] {
        &self.corners
    }
    /// Returns the side that begins at a corner.
    #[inline(always)]
    pub(super) fn side(&self, i: usize) -> u8 {
        byte(self.order >> 4, i) as u8
    }
    /// Returns the sides that meet at a corner: the one that ends there and the one that begins.
    #[inline]
    pub(super) fn sides_at(&self, i: usize) -> [u8; 2] {
        let before = if i == 0 { self.len } else { i } - 1;
        [self.side(before), self.side(i)]
    }
    /// Returns the square of the length of a side (m^2).
    pub(super) fn square(&self, i: usize) -> f64 {
        let end = if i + 1 == self.len { 0 } else { i + 1 };
        square_between(self.corner(i), self.corner(end))
    }
    /// Returns the square of the length of the shortest side of the finished polygon (m^2), not
    /// counting those between joined corners.
    #[inline(always)]
    pub(super) fn shortest(&self) -> f64 {
        self.shortest
    }

    /// Begins with the section of a tetrahedron by a plane, given the heights of its corners above
    /// the plane; false if there is none. Its sides are the faces of the tetrahedron.
    #[inline(always)]
    pub(super) fn begin(&mut self, corners: &[ValuedPoint; 4], heights: &[f64; 4]) -> bool {
        let section = &SECTIONS[above_bits(heights)];
        if section.len == 0 {
            return false;
        }
        for (p, [a, b]) in self.points.iter_mut().zip(section.edges) {
            let [a, b] = [usize::from(a & 3), usize::from(b & 3)];
            *p = cut(corners[a], heights[a], corners[b], heights[b]);
        }
        self.order = section.order;
        self.len = section.len;
        self.num_points = 4;
        true
    }

    /// Begins with a whole triangle, whose sides have the numbers of three planes that clip.
    pub(super) fn begin_with(&mut self, corners: [ValuedPoint; 3]) {
        self.points[..3].copy_from_slice(&corners);
        let corner = |i: u64| i | (u64::from(CLIPPING) + i) << 4;
        self.order = corner(0) | corner(1) << 8 | corner(2) << 16;
        self.len = 3;
        self.num_points = 3;
    }

    /// Keeps what is below planes, whose sides get numbers from [`CLIPPING`] on. Where all of it is
    /// in a plane but for `rounding` (m), it is left if `owns` says so. What is above a plane by
    /// less than `close` (m), if that is given, is close.
    #[inline(always)]
    pub(super) fn clip(
        &mut self,
        planes: &FourPlanes,
        owns: impl Fn(usize) -> bool,
        rounding: f64,
        close: Option<f64>,
    ) -> Cut {
        // The fourth point of a triangle is its third.
        let (mut flags, mut any) = (0, 0);
        for i in 0..4 {
            let [x, y, z, _] = self.points[i].to_array();
            let own = self.set_heights(i, planes.heights_at(x, y, z), rounding);
            flags |= own << (8 * i);
            any |= own as u32;
        }
        self.flags = low_bytes(flags, self.len);
        let (is_below, is_above) = (any >> 4, any & 15);
        let outside = !is_below & 15;
        if outside != 0 {
            let owned = |k: usize| is_above & 1 << k == 0 && owns(k);
            if (0..4).any(|k| outside & 1 << k != 0 && !owned(k)) {
                let is_apart = close.is_none_or(|close| {
                    let is_far = |h: &f64x4, k: usize| h.as_array()[k] > close;
                    (0..4).any(|k| self.heights[..4].iter().all(|h| is_far(h, k)))
                });
                return if is_apart { Cut::Apart } else { Cut::Close };
            }
        }
        // Corners in the plane but for rounding stay as they are, which adds no needless ones.
        let mut cutting = is_below & is_above;
        while cutting != 0 {
            let k = cutting.trailing_zeros() as usize;
            cutting &= cutting - 1;
            if !self.cut_by(k, rounding, cutting == 0) {
                let mut corners = (0..self.len).map(|i| byte(self.order, i));
                let is_far = |close| corners.all(|i| self.heights[i].as_array()[k] > close);
                let is_apart = close.is_none_or(is_far);
                return if is_apart { Cut::Apart } else { Cut::Close };
            }
        }
        Cut::Left
    }

    /// Sets the heights of a point, and returns its flags.
    #[inline(always)]
    fn set_heights(&mut self, i: usize, heights: f64x4, rounding: f64) -> u64 {
        self.heights[i] = heights;
        // Masks of two lanes need a single instruction of SSE2.
        let [a, b, c, d] = heights.to_array();
        let [low, high] = [f64x2::new([a, b]), f64x2::new([c, d])];
        let mask = |of: fn(f64x2, f64x2) -> f64x2, limit: f64| {
            let limit = f64x2::splat(limit);
            of(low, limit).to_bitmask() | of(high, limit).to_bitmask() << 2
        };
        let below = mask(|x, y| x.simd_lt(y), -rounding);
        let above = mask(|x, y| x.simd_gt(y), rounding);
        u64::from(above | below << 4)
    }

    /// Returns a bit per corner, which tells whether it has a flag.
    #[inline(always)]
    fn corners_with(&self, flag: usize) -> u32 {
        // The product gathers the lowest bits of all bytes in the highest byte.
        let bits = self.flags >> flag & 0x0101_0101_0101_0101;
        (bits.wrapping_mul(0x0102_0408_1020_4080) >> 56) as u32
    }

    /// Keeps what is below a plane; false if nothing is left.
    #[inline(always)]
    fn cut_by(&mut self, k: usize, rounding: f64, is_last: bool) -> bool {
        let (is_above, is_below) = (self.corners_with(k), self.corners_with(4 + k));
        if is_above == 0 || is_below == 0 {
            return is_below != 0;
        }
        let n = self.len;
        let all = (1 << n) - 1;
        let kept = &KEPT[(is_above | 1 << n) as usize & (KEPT.len() - 1)];
        let is_plain =
            kept.count > 0 && is_above | is_below == all && self.num_points + 2 <= MOST_POINTS;
        if !is_plain {
            return self.cut_near(k, rounding);
        }
        let (first, count) = (usize::from(kept.first & 7), usize::from(kept.count & 7));
        let order = turned(self.order, first, n);
        let height = |i: usize| self.heights[i].as_array()[k & 3];
        let (a, b) = (byte(order, n - 1), byte(order, 0));
        let (c, d) = (byte(order, count - 1), byte(order, count));
        let new = self.num_points;
        let [at_a, at_b, at_c, at_d] = [a, b, c, d].map(height);
        self.points[new] = cut(self.points[a], at_a, self.points[b], at_b);
        self.points[new + 1] = cut(self.points[c], at_c, self.points[d], at_d);
        let rest = !(u64::MAX << (8 * count));
        let joined = |kept: u64, first: u64, last: u64| {
            (kept & rest) << 8 | first | last << (8 * (count + 1))
        };
        let side_before = order >> (8 * (n - 1)) & 0xf0;
        let clipping = (u64::from(CLIPPING) + k as u64) << 4;
        self.order = joined(order, new as u64 | side_before, (new as u64 + 1) | clipping);
        if !is_last {
            let of_first = cut(self.heights[a], at_a, self.heights[b], at_b);
            let of_last = cut(self.heights[c], at_c, self.heights[d], at_d);
            let of_first = self.set_heights(new, of_first, rounding);
            let of_last = self.set_heights(new + 1, of_last, rounding);
            self.flags = joined(turned(self.flags, first, n), of_first, of_last);
        }
        self.num_points += 2;
        self.len = count + 2;
        true
    }

    /// Does the same where corners are in the plane but for rounding, or the polygon is bent by
    /// rounding such that the plane cuts more than two of its sides.
    #[cold]
    fn cut_near(&mut self, k: usize, rounding: f64) -> bool {
        let (order, flags, n) = (self.order, self.flags, self.len);
        (self.order, self.flags, self.len) = (0, 0, 0);
        let clipping = usize::from(CLIPPING) + k;
        for i in 0..n {
            let j = if i + 1 == n { 0 } else { i + 1 };
            let (p, q, side) = (byte(order, i), byte(order, j), byte(order >> 4, i));
            let own = flags >> (8 * i) & 255;
            let [a, b] = [p, q].map(|i| self.heights[i].as_array()[k]);
            match (a <= rounding, b <= rounding) {
                (true, true) => self.push(p, side, own),
                (true, false) if a < 0.0 => {
                    self.push(p, side, own);
                    self.push_cut([p, q], k, clipping, rounding);
                }
                (true, false) => self.push(p, clipping, own),
                (false, true) if b < 0.0 => self.push_cut([p, q], k, side, rounding),
                _ => {}
            }
        }
        true
    }

    fn push(&mut self, point: usize, side: usize, flags: u64) {
        if self.len < MOST_CORNERS {
            self.flags |= flags << (8 * self.len);
            self.order |= ((side << 4 | point) as u64) << (8 * self.len);
            self.len += 1;
        }
    }

    fn push_cut(&mut self, [p, q]: [usize; 2], k: usize, side: usize, rounding: f64) {
        let new = self.num_points;
        if new < MOST_POINTS {
            let [a, b] = [p, q].map(|i| self.heights[i].as_array()[k]);
            self.points[new] = cut(self.points[p], a, self.points[q], b);
            let heights = cut(self.heights[p], a, self.heights[q], b);
            let flags = self.set_heights(new, heights, rounding);
            self.num_points += 1;
            self.push(new, side, flags);
        }
    }

    /// Joins corners that are the same but for rounding; false if nothing with an area is left.
    #[inline(always)]
    pub(super) fn finish(&mut self) -> bool {
        let point = |i: usize| self.points[byte(self.order, i)];
        let mut p = point(self.len - 1);
        let mut shortest = f64::MAX;
        for (i, corner) in self.corners.iter_mut().enumerate().take(self.len) {
            let next = point(i);
            shortest = shortest.min(square_between(p, next));
            *corner = next;
            p = next;
        }
        self.shortest = shortest;
        if shortest < SAME_CORNER * SAME_CORNER {
            self.join();
        }
        self.len >= 3
    }

    /// Joins corners that are the same but for rounding.
    #[cold]
    fn join(&mut self) {
        let (order, n) = (self.order, self.len);
        (self.order, self.flags, self.len) = (0, 0, 0);
        for i in 0..n {
            let [point, side] = [order, order >> 4].map(|bytes| byte(bytes, i));
            let own = self.points[point];
            let is_same =
                |other: ValuedPoint| square_between(own, other) < SAME_CORNER * SAME_CORNER;
            if self.len > 0 && is_same(self.corners[self.len - 1]) {
                let last = 8 * (self.len - 1);
                self.order = self.order & !(0xf0 << last) | (side as u64) << (last + 4);
            } else if i + 1 < n || self.len == 0 || !is_same(self.corners[0]) {
                // Otherwise the side that ended at this corner now ends at the first.
                self.corners[self.len] = own;
                self.push(point, side, 0);
            }
        }
        let squares = (0..self.len).map(|i| self.square(i));
        self.shortest = squares.fold(f64::MAX, f64::min);
    }
}

/// The corners that a plane keeps, if they are in a row and leave room for the two new ones.
#[derive(Clone, Copy)]
struct Kept {
    first: u8,
    /// 0 if they do not.
    count: u8,
}

/// Corners that planes keep, by those above them (bit `i` for corner `i`), with a highest bit for
/// the number of corners.
static KEPT: [Kept; 1 << (MOST_CORNERS + 1)] = {
    let mut all = [Kept { first: 0, count: 0 }; 1 << (MOST_CORNERS + 1)];
    let mut n = 3;
    while n <= MOST_CORNERS {
        let mut above = 1;
        while above + 1 < 1_u32 << n {
            let kept = !above & ((1 << n) - 1);
            let begins = kept & (above << 1 | above >> (n - 1));
            let count = kept.count_ones();
            if begins.count_ones() == 1 && count as usize + 2 <= MOST_CORNERS {
                all[above as usize | 1 << n] = Kept {
                    first: begins.trailing_zeros() as u8,
                    count: count as u8,
                };
            }
            above += 1;
        }
        n += 1;
    }
    all
};

/// Section of a tetrahedron by a plane.
struct Section {
    /// The edges that the plane cuts, each by the two corners that it joins. The last of three is
    /// there twice.
    edges: [[u8; 2]; 4],
    /// Bytes of the points on the edges and, in the upper four bits, of the faces of the
    /// tetrahedron between each edge and the next.
    order: u64,
    len: usize,
}

impl Section {
    const fn new(edges: &[[usize; 2]]) -> Self {
        let mut section = Self {
            edges: [[0, 1]; 4],
            order: 0,
            len: edges.len(),
        };
        let mut i = 0;
        while i < 4 && !edges.is_empty() {
            let [a, b] = edges[if i < edges.len() { i } else { edges.len() - 1 }];
            section.edges[i] = [a as u8, b as u8];
            if i < edges.len() {
                let [c, d] = edges[(i + 1) % edges.len()];
                // The face is opposite to the corner that neither edge has.
                let present = 1 << a | 1 << b | 1 << c | 1 << d;
                let face = (!present & 15_u8).trailing_zeros() as u64;
                section.order |= (face << 4 | i as u64) << (8 * i);
            }
            i += 1;
        }
        section
    }
}

/// Sections by the corners above the plane.
static SECTIONS: [Section; 16] = {
    let mut sections = [const { Section::new(&[]) }; 16];
    let mut i = 0;
    while i < 16 {
        sections[i] = Section::new(SECTION_EDGES[i]);
        i += 1;
    }
    sections
};

/// Edges of a tetrahedron that bound its section by a plane, in order around the section, by the
/// corners above the plane (bit `i` for corner `i`). An edge is the two corners that it joins.
///
/// The order is counter-clockwise as seen from above.
const SECTION_EDGES: [&[[usize; 2]]; 16] = [
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

/// Returns a bit for every corner above a plane.
#[inline(always)]
fn above_bits(heights: &[f64; 4]) -> usize {
    let heights = f64x4::new(*heights);
    heights.simd_gt(f64x4::splat(0.0)).to_bitmask() as usize & 15
}

/// Returns the edges that the plane cuts, given the heights of the corners above it.
#[inline]
pub(super) fn section_edges(heights: &[f64; 4]) -> &'static [[usize; 2]] {
    SECTION_EDGES[above_bits(heights)]
}

/// Returns the weights of the ends of an edge where a plane cuts it, given their heights of
/// different sign. Those of the edge's other direction are the same in reverse.
#[inline(always)]
fn weights(a: f64, b: f64) -> [f64; 2] {
    // One division of two lanes; the inverse of a difference could overflow.
    (f64x2::new([b, -a]) / f64x2::splat(b - a)).to_array()
}

/// Returns where a plane cuts an edge, whose ends are at heights of different sign.
#[inline(always)]
pub(super) fn cut<P: Mul<f64, Output = P> + Add<Output = P>>(p: P, a: f64, q: P, b: f64) -> P {
    let [of_p, of_q] = weights(a, b);
    p * of_p + q * of_q
}
