//! Rasterization of small triangles, four at a time.
//!
//! Triangles of large meshes often cover only a few pixels, or none. Triangles whose bounding box
//! contains no pixel centre of the tile are discarded without a branch for each, the others are set
//! up in SIMD lanes, and coverage is tested for sixteen pixels at a time.

use super::target::{RasterTarget, SUBPIXEL, SUBPIXEL_BITS};
use super::vertices::ClusterVertices;
use crate::render::cpu::store::CLUSTER;
use crate::render::projection::PixelRect;
use wide::{bytemuck, f32x4, i32x4};

/// Exclusive limit of a small triangle's width and height (subpixels). Below it, edge
/// functions are whole numbers below 2^23, which single precision represents exactly.
const LIMIT: f32 = 2048.0;

/// Side of the block of pixels that is tested at once.
const SIDE: i32 = 4;

/// Triangles of a cluster that may cover pixels of a tile.
pub(crate) struct SmallTriangles {
    /// Indices in the cluster. Entries from `count` on repeat the last one.
    list: [u8; CLUSTER + LANES],
    count: usize,
}

const LANES: usize = 4;

/// First and last pixel of a tile (subpixels), with x and y in the lanes of
/// [`ClusterVertices::at`]. The other lanes have no meaning.
#[derive(Clone, Copy)]
struct TileWindow {
    low: f32x4,
    high: f32x4,
}

impl TileWindow {
    fn new(rect: &PixelRect) -> Self {
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

/// Returns the first and the last pixel centre between two positions (subpixels).
#[inline(always)]
fn whole(low: f32x4, high: f32x4) -> [i32x4; 2] {
    let low = low.fast_trunc_int() + i32x4::splat(SUBPIXEL - 1);
    [low >> SUBPIXEL_BITS, high.fast_trunc_int() >> SUBPIXEL_BITS]
}

impl SmallTriangles {
    pub(crate) fn new(rect: &PixelRect, vertices: &ClusterVertices, corners: &[[u8; 3]]) -> Self {
        let window = TileWindow::new(rect);
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
        let last = found.list[found.count.saturating_sub(1)];
        found.list[found.count..][..LANES].fill(last);
        found
    }
    /// Draws the triangles found. Calls `large` with the index of each one that is not small.
    #[inline(always)]
    pub(crate) fn draw<T: RasterTarget>(
        &self,
        tile: &mut T,
        vertices: &ClusterVertices,
        corners: &[[u8; 3]],
        id: impl Fn(usize) -> i32,
        mut large: impl FnMut(&mut T, usize),
    ) {
        let window = TileWindow::new(&tile.rect());
        for first in (0..self.count).step_by(LANES) {
            let place = |k: usize| usize::from(self.list[first + k]);
            let four = FourTriangles::new(
                &window,
                vertices,
                [
                    &corners[place(0)],
                    &corners[place(1)],
                    &corners[place(2)],
                    &corners[place(3)],
                ],
            );
            let count = LANES.min(self.count - first);
            let ids = std::array::from_fn(|k| id(place(k)));
            four.fill(count, tile, &ids);
            let mut rest = four.larger & ((1 << count) - 1);
            while rest != 0 {
                let k = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                if four.small >> k & 1 == 1 {
                    four.fill_rest(k, tile, ids[k]);
                } else {
                    large(tile, place(k));
                }
            }
        }
    }
}

/// Four triangles, set up for drawing.
struct FourTriangles {
    /// Bit masks of the triangles that are small, and of those with more than one block of pixels.
    small: u32,
    larger: u32,
    /// First pixel, and number of pixels in each direction; zero if nothing is visible.
    x: i32x4,
    y: i32x4,
    width: i32x4,
    height: i32x4,
    edges: [FourEdges; 3],
    /// Inverse depth at the first pixel, its steps per pixel, and its range over the corners.
    w: f32x4,
    dx: f32x4,
    dy: f32x4,
    least: f32x4,
    most: f32x4,
}

/// Edge functions of one edge of each triangle.
#[derive(Clone, Copy)]
struct FourEdges {
    /// Value at the first pixel; not negative for pixels inside.
    value: f32x4,
    dx: f32x4,
    dy: f32x4,
}

impl FourEdges {
    /// Creates the edge functions of the edges from a to b. `turn` has the sign bit set for
    /// triangles of the opposite winding. Values are whole numbers plus one half for top and left
    /// edges, minus one half for others, so that they are never zero.
    #[inline(always)]
    fn new(a: &FourCorners, b: &FourCorners, turn: f32x4, x: f32x4, y: f32x4) -> Self {
        let (ex, ey) = ((b.sx - a.sx) ^ turn, (b.sy - a.sy) ^ turn);
        // Negative if ey < 0, or if ey = 0 and ex > 0.
        let top_left = ey * f32x4::splat(2.0 * LIMIT) - ex;
        let half = (top_left & f32x4::splat(-0.0)) ^ f32x4::splat(-0.5);
        let step = f32x4::splat(SUBPIXEL as f32);
        Self {
            value: ex * (y - a.sy) - ey * (x - a.sx) + half,
            dx: -ey * step,
            dy: ex * step,
        }
    }
}

/// One corner of each triangle.
struct FourCorners {
    sx: f32x4,
    sy: f32x4,
    x: f32x4,
    y: f32x4,
    w: f32x4,
}

impl FourCorners {
    #[inline(always)]
    fn new(vertices: &ClusterVertices, i: [u8; 4]) -> Self {
        let at = |k: usize| vertices.at(i[k]);
        let w = |k: usize| vertices.w(i[k]);
        let [sx, sy, x, y] = f32x4::transpose([at(0), at(1), at(2), at(3)]);
        let w = f32x4::new([w(0), w(1), w(2), w(3)]);
        Self { sx, sy, x, y, w }
    }
}

impl FourTriangles {
    #[inline(always)]
    fn new(window: &TileWindow, vertices: &ClusterVertices, t: [&[u8; 3]; 4]) -> Self {
        let corner = |c: usize| FourCorners::new(vertices, [t[0][c], t[1][c], t[2][c], t[3][c]]);
        let (a, b, c) = (corner(0), corner(1), corner(2));
        let extent =
            |a: f32x4, b: f32x4, c: f32x4| (a.fast_min(b).fast_min(c), a.fast_max(b).fast_max(c));
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
        // The sign makes both sides of a triangle visible.
        let turn = cross & f32x4::splat(-0.0);
        let seen: i32x4 = bytemuck::cast(!cross.simd_eq(f32x4::ZERO) & small);
        let width = width & seen;
        let side = i32x4::splat(SIDE);
        let larger: f32x4 = bytemuck::cast(width.simd_gt(side) | height.simd_gt(side));

        let (bx, by, bw) = (b.x - a.x, b.y - a.y, b.w - a.w);
        let (cx, cy, cw) = (c.x - a.x, c.y - a.y, c.w - a.w);
        let area = bx * cy - cx * by;
        let inverse = !area.simd_eq(f32x4::ZERO) & (f32x4::ONE / area);
        let (dx, dy) = ((bw * cy - cw * by) * inverse, (cw * bx - bw * cx) * inverse);
        let (least, most) = extent(a.w, b.w, c.w);
        Self {
            small: small.to_bitmask(),
            larger: (larger | !small).to_bitmask(),
            x,
            y,
            width,
            height,
            edges: [
                FourEdges::new(&a, &b, turn, sx, sy),
                FourEdges::new(&b, &c, turn, sx, sy),
                FourEdges::new(&c, &a, turn, sx, sy),
            ],
            w: a.w + ((px - a.x) * dx + (py - a.y) * dy),
            dx,
            dy,
            least,
            most,
        }
    }
    /// Draws the first block of each small one of the first `count` triangles.
    #[inline(always)]
    fn fill<T: RasterTarget>(&self, count: usize, tile: &mut T, ids: &[i32; LANES]) {
        let inside = self.inside(f32x4::ZERO, f32x4::ZERO).to_array();
        // One loop over the hits of all triangles, because mispredicting the end of a loop costs
        // most.
        let mut hits = 0;
        for (k, inside) in inside.into_iter().enumerate().take(count) {
            hits |= u64::from(inside as u32 & self.within(k, 0, 0)) << (16 * k);
        }
        while hits != 0 {
            let bit = hits.trailing_zeros() as usize;
            hits &= hits - 1;
            self.set(bit / 16, 0, 0, bit as i32 % 16, tile, ids[bit / 16]);
        }
    }
    /// Draws all but the first block of a small triangle.
    #[inline(never)]
    fn fill_rest<T: RasterTarget>(&self, k: usize, tile: &mut T, id: i32) {
        for y in (0..self.height.as_array()[k]).step_by(SIDE as usize) {
            let first = if y == 0 { SIDE } else { 0 };
            for x in (first..self.width.as_array()[k]).step_by(SIDE as usize) {
                let inside = self.inside(f32x4::splat(x as f32), f32x4::splat(y as f32));
                let mut hits = inside.as_array()[k] as u32 & self.within(k, x, y);
                while hits != 0 {
                    let bit = hits.trailing_zeros();
                    hits &= hits - 1;
                    self.set(k, x, y, bit as i32, tile, id);
                }
            }
        }
    }
    /// Draws a pixel of the block that starts at (x, y), relative to the first pixel.
    #[inline(always)]
    fn set<T: RasterTarget>(&self, k: usize, x: i32, y: i32, bit: i32, tile: &mut T, id: i32) {
        let int = |v: &i32x4| v.as_array()[k];
        let float = |v: &f32x4| v.as_array()[k];
        let (x, y) = (x + bit % SIDE, y + bit / SIDE);
        let w = float(&self.w) + (x as f32 * float(&self.dx) + y as f32 * float(&self.dy));
        // Snapping can put a pixel slightly outside the unsnapped triangle, so its depth is limited
        // to that of the corners. (`clamp` would also check that the limits are in order.)
        let (least, most) = (float(&self.least), float(&self.most));
        let w = if w > least { w } else { least };
        let w = if w < most { w } else { most };
        tile.set(tile.index(int(&self.x) + x, int(&self.y) + y), w, id);
    }
    /// Returns the bit mask of those of the sixteen pixels from (x, y) on that are in the
    /// triangle's bounding box within the tile.
    #[inline(always)]
    fn within(&self, k: usize, x: i32, y: i32) -> u32 {
        const COLUMNS: [u16; 5] = [0, 0x1111, 0x3333, 0x7777, 0xffff];
        const ROWS: [u16; 5] = [0, 0xf, 0xff, 0xfff, 0xffff];
        let left = |v: &i32x4, from: i32| (v.as_array()[k] - from).min(SIDE) as usize;
        u32::from(COLUMNS[left(&self.width, x)] & ROWS[left(&self.height, y)])
    }
    /// Returns the bit masks of those of the sixteen pixels from (x, y) on that are inside the
    /// triangles.
    #[inline(always)]
    fn inside(&self, x: f32x4, y: f32x4) -> i32x4 {
        let at = |e: &FourEdges| e.value + (x * e.dx + y * e.dy);
        let [a, b, c] = &self.edges;
        let mut row = (at(a), at(b), at(c));
        let mut outside = i32x4::ZERO;
        let sign = i32x4::splat(i32::MIN);
        for _ in 0..SIDE {
            let mut value = row;
            for _ in 0..SIDE {
                let some: i32x4 = bytemuck::cast(value.0 | value.1 | value.2);
                // The first pixel ends up in the lowest bit.
                outside = ((outside >> 1_i32) & i32x4::splat(i32::MAX)) | (some & sign);
                value = (value.0 + a.dx, value.1 + b.dx, value.2 + c.dx);
            }
            row = (row.0 + a.dy, row.1 + b.dy, row.2 + c.dy);
        }
        (outside >> 16_i32) ^ i32x4::splat(-1)
    }
}
