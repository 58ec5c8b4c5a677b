//! Triangles of few pixels, four at a time.
//!
//! Large meshes have more triangles than an image has pixels to give to each of them. Here what a tile
//! shows nothing of goes without a branch for each, the rest is set up in lanes, and pixels are tested
//! sixteen at a time.

use super::clusters::CLUSTER;
use super::pixels::Rect;
use super::raster::{SUBPIXEL, SUBPIXEL_BITS, Target, Vertices};
use wide::{bytemuck, f32x4, i32x4};

/// Triangles of this width and height (subpixels) and above are not small: up to here, edge functions
/// are whole numbers below 2^23, and single precision is exact.
const LIMIT: f32 = 2048.0;

/// Pixels tested at a time along each axis.
const SIDE: i32 = 4;

/// Triangles that have pixels of a tile, by their place in the cluster.
pub(super) struct Found {
    /// Those behind `count` are of no meaning, but there.
    list: [u8; CLUSTER + LANES],
    count: usize,
}

const LANES: usize = 4;

/// Corners of a tile's pixels in subpixels, as [`Vertices::at`] has x and y; what else is there may be
/// anything.
#[derive(Clone, Copy)]
struct Window {
    low: f32x4,
    high: f32x4,
}

impl Window {
    fn new(rect: &Rect) -> Self {
        let at = |x: i32, y: i32, rest: f32| {
            let [x, y] = [x, y].map(|v| (v * SUBPIXEL) as f32);
            f32x4::new([x, y, rest, rest])
        };
        Self {
            low: at(rect.x0, rect.y0, f32::NEG_INFINITY),
            high: at(rect.x1 - 1, rect.y1 - 1, f32::INFINITY),
        }
    }
}

/// The first and the last pixel between subpixels.
#[inline(always)]
fn whole(low: f32x4, high: f32x4) -> [i32x4; 2] {
    let low = low.fast_trunc_int() + i32x4::splat(SUBPIXEL - 1);
    [low >> SUBPIXEL_BITS, high.fast_trunc_int() >> SUBPIXEL_BITS]
}

impl Found {
    pub(super) fn new(rect: &Rect, vertices: &Vertices, corners: &[[u8; 3]]) -> Self {
        let window = Window::new(rect);
        let mut found = Self {
            list: [0; CLUSTER + LANES],
            count: 0,
        };
        for (k, t) in (0..).zip(corners) {
            let [a, b, c] = [vertices.at(t[0]), vertices.at(t[1]), vertices.at(t[2])];
            let low = a.fast_min(b).fast_min(c).fast_max(window.low);
            let high = a.fast_max(b).fast_max(c).fast_min(window.high);
            let [first, last] = whole(low, high);
            let none = first.simd_gt(last).to_bitmask() & 3;
            found.list[found.count] = k;
            found.count += usize::from(none == 0);
        }
        found
    }
    /// Draws what was found; `large` gets the places of those that are not small.
    #[inline(always)]
    pub(super) fn draw<T: Target>(
        &self,
        tile: &mut T,
        vertices: &Vertices,
        corners: &[[u8; 3]],
        id: impl Fn(usize) -> i32,
        mut large: impl FnMut(&mut T, usize),
    ) {
        let window = Window::new(&tile.rect());
        for first in (0..self.count).step_by(LANES) {
            let place = |k: usize| usize::from(self.list[first + k]);
            let four = Four::new(
                &window,
                vertices,
                [
                    &corners[place(0)],
                    &corners[place(1)],
                    &corners[place(2)],
                    &corners[place(3)],
                ],
            );
            for k in 0..LANES.min(self.count - first) {
                if four.small >> k & 1 == 1 {
                    four.fill(k, tile, id(place(k)));
                } else {
                    large(tile, place(k));
                }
            }
        }
    }
}

/// Four triangles, ready to be drawn.
struct Four {
    /// Which of them are small.
    small: u32,
    /// First pixel, and how many in each direction; none if nothing can be seen.
    x: i32x4,
    y: i32x4,
    width: i32x4,
    height: i32x4,
    edges: [Edges; 3],
    /// Inverse depth at the first pixel, and per pixel.
    w: f32x4,
    dx: f32x4,
    dy: f32x4,
    least: f32x4,
    most: f32x4,
}

/// An edge of each triangle.
#[derive(Clone, Copy)]
struct Edges {
    /// Not negative where pixels are inside, at the first pixel.
    value: f32x4,
    dx: f32x4,
    dy: f32x4,
}

impl Edges {
    /// From a to b; `turn` has the sign of triangles whose corners go the other way round. The value is
    /// half a unit inside or outside of whole numbers, as the edge is a top or left one or not: it is
    /// never zero.
    #[inline(always)]
    fn new(a: &Lanes, b: &Lanes, turn: f32x4, x: f32x4, y: f32x4) -> Self {
        let (ex, ey) = ((b.sx - a.sx) ^ turn, (b.sy - a.sy) ^ turn);
        let zero = f32x4::ZERO;
        let top_left = ey.simd_lt(zero) | (ey.simd_eq(zero) & ex.simd_gt(zero));
        let half = f32x4::HALF ^ (!top_left & f32x4::splat(-0.0));
        let step = f32x4::splat(SUBPIXEL as f32);
        Self {
            value: ex * (y - a.sy) - ey * (x - a.sx) + half,
            dx: -ey * step,
            dy: ex * step,
        }
    }
}

/// A corner of each triangle.
struct Lanes {
    sx: f32x4,
    sy: f32x4,
    x: f32x4,
    y: f32x4,
    w: f32x4,
}

impl Lanes {
    #[inline(always)]
    fn new(vertices: &Vertices, i: [u8; 4]) -> Self {
        let at = |k: usize| vertices.at(i[k]);
        let w = |k: usize| vertices.w(i[k]);
        let [sx, sy, x, y] = f32x4::transpose([at(0), at(1), at(2), at(3)]);
        let w = f32x4::new([w(0), w(1), w(2), w(3)]);
        Self { sx, sy, x, y, w }
    }
}

impl Four {
    #[inline(always)]
    fn new(window: &Window, vertices: &Vertices, t: [&[u8; 3]; 4]) -> Self {
        let corner = |c: usize| Lanes::new(vertices, [t[0][c], t[1][c], t[2][c], t[3][c]]);
        let (a, b, c) = (corner(0), corner(1), corner(2));
        let extent = |a: f32x4, b: f32x4, c: f32x4| {
            (a.fast_min(b).fast_min(c), a.fast_max(b).fast_max(c))
        };
        let ((x0, x1), (y0, y1)) = (extent(a.sx, b.sx, c.sx), extent(a.sy, b.sy, c.sy));
        let limit = f32x4::splat(LIMIT);
        let small = (x1 - x0).simd_lt(limit) & (y1 - y0).simd_lt(limit);
        let side = |v: f32x4, axis: usize| f32x4::splat(v.as_array()[axis]);
        let pixels = |low: f32x4, high: f32x4, axis: usize| {
            let low = low.fast_max(side(window.low, axis));
            let [first, last] = whole(low, high.fast_min(side(window.high, axis)));
            (first, last - first + i32x4::ONE)
        };
        let ((x, width), (y, height)) = (pixels(x0, x1, 0), pixels(y0, y1, 1));
        let float = |v: i32x4| v.round_float();
        let (px, py) = (float(x), float(y));
        let step = f32x4::splat(SUBPIXEL as f32);
        let (sx, sy) = (px * step, py * step);

        let cross = (b.sx - a.sx) * (c.sy - a.sy) - (c.sx - a.sx) * (b.sy - a.sy);
        // Both sides are drawn.
        let turn = cross & f32x4::splat(-0.0);
        let seen: i32x4 = bytemuck::cast(!cross.simd_eq(f32x4::ZERO));

        let (bx, by, bw) = (b.x - a.x, b.y - a.y, b.w - a.w);
        let (cx, cy, cw) = (c.x - a.x, c.y - a.y, c.w - a.w);
        let area = bx * cy - cx * by;
        let inverse = !area.simd_eq(f32x4::ZERO) & (f32x4::ONE / area);
        let (dx, dy) = ((bw * cy - cw * by) * inverse, (cw * bx - bw * cx) * inverse);
        let (least, most) = extent(a.w, b.w, c.w);
        Self {
            small: small.to_bitmask(),
            x,
            y,
            width: width & seen,
            height,
            edges: [
                Edges::new(&a, &b, turn, sx, sy),
                Edges::new(&b, &c, turn, sx, sy),
                Edges::new(&c, &a, turn, sx, sy),
            ],
            w: a.w + ((px - a.x) * dx + (py - a.y) * dy),
            dx,
            dy,
            least,
            most,
        }
    }
    /// Draws a triangle.
    #[inline(always)]
    fn fill<T: Target>(&self, k: usize, tile: &mut T, id: i32) {
        let int = |v: &i32x4| v.as_array()[k];
        let float = |v: &f32x4| v.as_array()[k];
        let (width, height) = (int(&self.width), int(&self.height));
        let first = tile.index(int(&self.x), int(&self.y));
        let (w, dx, dy) = (float(&self.w), float(&self.dx), float(&self.dy));
        let (least, most) = (float(&self.least), float(&self.most));
        for y in (0..height).step_by(SIDE as usize) {
            for x in (0..width).step_by(SIDE as usize) {
                let columns = 0x1111 * ((1 << (width - x).min(SIDE)) - 1);
                let rows = (1 << (SIDE * (height - y).min(SIDE))) - 1;
                let mut inside = self.inside(k, x as f32, y as f32) & columns & rows;
                while inside != 0 {
                    let bit = inside.trailing_zeros() as i32;
                    inside &= inside - 1;
                    let (x, y) = (x + bit % SIDE, y + bit / SIDE);
                    // A pixel can be a little outside of corners that are not snapped; it still gets a
                    // depth of the triangle.
                    let w = (w + (x as f32 * dx + y as f32 * dy)).clamp(least, most);
                    tile.set(first + T::below(y) + x as usize, w, id);
                }
            }
        }
    }
    /// Which of sixteen pixels are inside a triangle.
    #[inline(always)]
    fn inside(&self, k: usize, x: f32, y: f32) -> u32 {
        let lanes = f32x4::new([0.0, 1.0, 2.0, 3.0]);
        let edge = |e: &Edges| {
            let [value, dx, dy] = [&e.value, &e.dx, &e.dy].map(|v| v.as_array()[k]);
            let value = value + x * dx + y * dy;
            (f32x4::splat(value) + lanes * f32x4::splat(dx), f32x4::splat(dy))
        };
        let [a, b, c] = &self.edges;
        let ((mut a, da), (mut b, db), (mut c, dc)) = (edge(a), edge(b), edge(c));
        let mut outside = 0;
        for row in 0..SIDE {
            outside |= (a | b | c).to_bitmask() << (SIDE * row);
            (a, b, c) = (a + da, b + db, c + dc);
        }
        !outside
    }
}
