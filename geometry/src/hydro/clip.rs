//! Convex polygons, clipped by planes.

use super::planes::FourPlanes;
use nalgebra::Vector3;
use wide::{f64x2, f64x4};

/// Maximum number of corners: a section of four, clipped by the four faces of a tetrahedron.
const MOST_CORNERS: usize = 8;

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
    points: [Vector3<f64>; MOST_POINTS],
    /// Heights (m) of the points above the four planes that clip.
    heights: [[f64; 4]; MOST_POINTS],
    num_points: usize,
    /// The corners in order, in the lowest `len` bytes: the point, and in the upper four bits the
    /// side that begins there.
    order: u64,
    /// Likewise, flag `k` tells whether the corner is above plane `k`, flag `4 + k` whether it is
    /// below, not counting rounding.
    flags: u64,
    len: usize,
    finished: Finished,
}

/// The corners of a clipped polygon, with its sides and the squares of their lengths (m^2).
struct Finished {
    corners: [Vector3<f64>; MOST_CORNERS],
    sides: [u8; MOST_CORNERS],
    squares: [f64; MOST_CORNERS],
    len: usize,
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

/// Returns the lowest bytes of a number, turned such that byte `first` comes first.
#[inline(always)]
fn turned(bytes: u64, first: usize, count: usize) -> u64 {
    let turned = bytes >> (8 * first) | bytes.unbounded_shl(8 * (count - first) as u32);
    low_bytes(turned, count)
}

#[inline(always)]
fn byte(bytes: u64, i: usize) -> usize {
    (bytes >> (8 * i)) as usize & (MOST_POINTS - 1)
}

impl Clipped {
    pub(super) fn new() -> Self {
        Self {
            points: [Vector3::zeros(); MOST_POINTS],
            heights: [[0.0; 4]; MOST_POINTS],
            num_points: 0,
            order: 0,
            flags: 0,
            len: 0,
            finished: Finished {
                corners: [Vector3::zeros(); MOST_CORNERS],
                sides: [0; MOST_CORNERS],
                squares: [0.0; MOST_CORNERS],
                len: 0,
            },
        }
    }
    /// Returns the corners of the finished polygon.
    #[inline]
    pub(super) fn corners(&self) -> &[Vector3<f64>] {
        &self.finished.corners[..self.finished.len]
    }
    /// Returns the sides that meet at a corner: the one that ends there and the one that begins.
    #[inline]
    pub(super) fn sides_at(&self, corner: usize) -> [u8; 2] {
        let polygon = &self.finished;
        let before = if corner == 0 { polygon.len } else { corner } - 1;
        [polygon.sides[before], polygon.sides[corner]]
    }

    /// Returns the sides with the squares of their lengths (m^2).
    #[inline]
    pub(super) fn sides(&self) -> impl Iterator<Item = (u8, f64)> {
        let polygon = &self.finished;
        let sides = polygon.sides.iter().zip(&polygon.squares);
        sides
            .take(polygon.len)
            .map(|(side, square)| (*side, *square))
    }

    /// Begins with the section of a tetrahedron by a plane, given the heights of its corners above
    /// the plane; false if there is none. Its sides are the faces of the tetrahedron.
    #[inline(always)]
    pub(super) fn begin(&mut self, corners: &[Vector3<f64>; 4], heights: &[f64; 4]) -> bool {
        let section = &SECTIONS[above_bits(heights)];
        if section.len == 0 {
            return false;
        }
        for (p, [a, b]) in self.points.iter_mut().zip(section.edges) {
            let [a, b] = [usize::from(a & 3), usize::from(b & 3)];
            *p = cut(&corners[a], heights[a], &corners[b], heights[b]);
        }
        self.order = section.order;
        self.len = section.len;
        self.num_points = 4;
        true
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
            let own = self.add_heights(i, planes, rounding);
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
                    let is_far = |h: &[f64; 4], k: usize| h[k] > close;
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
            if !self.cut_by(k, planes, rounding, cutting == 0) {
                return Cut::Close;
            }
        }
        Cut::Left
    }

    /// Computes the heights of a point, and returns its flags.
    #[inline(always)]
    fn add_heights(&mut self, i: usize, planes: &FourPlanes, rounding: f64) -> u64 {
        let heights = planes.heights(&self.points[i]);
        self.heights[i] = heights.to_array();
        // Masks of two lanes need a single instruction of SSE2.
        let [a, b, c, d] = self.heights[i];
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
    fn cut_by(&mut self, k: usize, planes: &FourPlanes, rounding: f64, is_last: bool) -> bool {
        let (is_above, is_below) = (self.corners_with(k), self.corners_with(4 + k));
        if is_above == 0 || is_below == 0 {
            return is_below != 0;
        }
        let n = self.len;
        let kept = !is_above & ((1 << n) - 1);
        let before_kept = (is_above >> (n - 1) | is_above << 1) & kept;
        let first = before_kept.trailing_zeros() as usize;
        let count = kept.count_ones() as usize;
        let order = turned(self.order, first, n);
        let flags = turned(self.flags, first, n);
        let height = |i: usize| self.heights[i][k];
        let (a, b) = (byte(order, n - 1), byte(order, 0));
        let (c, d) = (byte(order, count - 1), byte(order, count));
        let is_plain = before_kept & (before_kept - 1) == 0
            && height(b) < 0.0
            && height(c) < 0.0
            && count + 2 <= MOST_CORNERS
            && self.num_points + 2 <= MOST_POINTS;
        if !is_plain {
            return self.cut_near(k, planes, rounding);
        }
        let new = self.num_points;
        self.points[new] = cut(&self.points[a], height(a), &self.points[b], height(b));
        self.points[new + 1] = cut(&self.points[c], height(c), &self.points[d], height(d));
        let (mut of_first, mut of_last) = (0, 0);
        if !is_last {
            of_first = self.add_heights(new, planes, rounding);
            of_last = self.add_heights(new + 1, planes, rounding);
        }
        self.num_points += 2;
        let joined = |kept: u64, first: u64, last: u64| {
            low_bytes(kept, count) << 8 | first | last << (8 * (count + 1))
        };
        let side_before = order >> (8 * (n - 1)) & 0xf0;
        let clipping = (u64::from(CLIPPING) + k as u64) << 4;
        self.order = joined(order, new as u64 | side_before, (new as u64 + 1) | clipping);
        self.flags = joined(flags, of_first, of_last);
        self.len = count + 2;
        true
    }

    /// Does the same where corners are in the plane but for rounding, or the polygon is bent by
    /// rounding such that the plane cuts more than two of its sides.
    #[cold]
    fn cut_near(&mut self, k: usize, planes: &FourPlanes, rounding: f64) -> bool {
        let (order, flags, n) = (self.order, self.flags, self.len);
        (self.order, self.flags, self.len) = (0, 0, 0);
        let clipping = usize::from(CLIPPING) + k;
        for i in 0..n {
            let j = if i + 1 == n { 0 } else { i + 1 };
            let (p, q, side) = (byte(order, i), byte(order, j), byte(order >> 4, i));
            let own = flags >> (8 * i) & 255;
            let (a, b) = (self.heights[p][k], self.heights[q][k]);
            match (a <= rounding, b <= rounding) {
                (true, true) => self.push(p, side, own),
                (true, false) if a < 0.0 => {
                    self.push(p, side, own);
                    self.push_cut([p, q], k, clipping, planes, rounding);
                }
                (true, false) => self.push(p, clipping, own),
                (false, true) if b < 0.0 => self.push_cut([p, q], k, side, planes, rounding),
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

    fn push_cut(
        &mut self,
        [p, q]: [usize; 2],
        k: usize,
        side: usize,
        planes: &FourPlanes,
        rounding: f64,
    ) {
        let new = self.num_points;
        if new < MOST_POINTS {
            let (a, b) = (self.heights[p][k], self.heights[q][k]);
            self.points[new] = cut(&self.points[p], a, &self.points[q], b);
            let flags = self.add_heights(new, planes, rounding);
            self.num_points += 1;
            self.push(new, side, flags);
        }
    }

    /// Joins corners that are the same but for rounding; false if nothing with an area is left.
    #[inline(always)]
    pub(super) fn finish(&mut self) -> bool {
        let finished = &mut self.finished;
        let n = self.len;
        finished.len = n;
        finished.sides = (self.order >> 4 & 0x0f0f_0f0f_0f0f_0f0f).to_le_bytes();
        let mut shortest = f64::MAX;
        let first = self.points[byte(self.order, 0)];
        let mut p = first;
        for i in 0..n {
            let next = match i + 1 == n {
                true => first,
                false => self.points[byte(self.order, i + 1)],
            };
            let square = (next - p).norm_squared();
            finished.corners[i] = p;
            finished.squares[i] = square;
            shortest = shortest.min(square);
            p = next;
        }
        if shortest < SAME_CORNER * SAME_CORNER {
            finished.join();
        }
        finished.len >= 3
    }
}

impl Finished {
    /// Joins corners that are the same but for rounding.
    #[cold]
    fn join(&mut self) {
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
        for i in 0..len {
            let end = &self.corners[if i + 1 == len { 0 } else { i + 1 }];
            self.squares[i] = (end - self.corners[i]).norm_squared();
        }
    }
}

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

/// Returns where a plane cuts an edge, whose ends are at heights of different sign.
#[inline]
pub(super) fn cut(p: &Vector3<f64>, a: f64, q: &Vector3<f64>, b: f64) -> Vector3<f64> {
    (p * b - q * a) / (b - a)
}
