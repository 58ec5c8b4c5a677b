//! Rasterization of single triangles.
//!
//! Corners are snapped to 1/256 pixel, so that edge functions are exact integers: a pixel on a
//! common edge belongs to exactly one of two triangles (top-left rule), without cracks. Inverse
//! depth is linear over the image and is interpolated between the unsnapped corners.

use super::target::{RasterTarget, SUBPIXEL, SUBPIXEL_BITS};
use super::vertices::{ClusterVertices, ScreenCorner};
use crate::render::projection::PixelRect;

/// Returns the pixels of the tile whose centres are within the triangle's bounding box.
#[inline(always)]
fn covered<T: RasterTarget>(tile: &T, [a, b, c]: [&ScreenCorner; 3]) -> PixelRect {
    let pixels = |a: i32, b: i32, c: i32| {
        let (low, high) = (a.min(b).min(c), a.max(b).max(c));
        (
            (low + SUBPIXEL - 1) >> SUBPIXEL_BITS,
            (high >> SUBPIXEL_BITS) + 1,
        )
    };
    let (x0, x1) = pixels(a.sx, b.sx, c.sx);
    let (y0, y1) = pixels(a.sy, b.sy, c.sy);
    tile.rect().intersection(&PixelRect { x0, y0, x1, y1 })
}

/// Edge function: linear over the pixels, in subpixels squared.
#[derive(Clone, Copy)]
struct EdgeFunction {
    /// Value at the first pixel of the row.
    value: i64,
    dx: i64,
    dy: i64,
}

impl EdgeFunction {
    /// Creates the edge function of the edge from `a` to `b`, with its value at pixel `(px, py)`.
    /// It is not negative on the inner side of the edge, nor on the edge itself if that is a top or
    /// left edge.
    fn new(a: &ScreenCorner, b: &ScreenCorner, px: i32, py: i32) -> Self {
        let (ex, ey) = (i64::from(b.sx - a.sx), i64::from(b.sy - a.sy));
        let top_left = ey < 0 || ey == 0 && ex > 0;
        let x = i64::from(px) * i64::from(SUBPIXEL) - i64::from(a.sx);
        let y = i64::from(py) * i64::from(SUBPIXEL) - i64::from(a.sy);
        Self {
            value: ex * y - ey * x - i64::from(!top_left),
            dx: -ey * i64::from(SUBPIXEL),
            dy: ex * i64::from(SUBPIXEL),
        }
    }
}

/// Draws a triangle that is not small. Not inlined, because it is the cold path: most take the
/// small-triangle route.
#[inline(never)]
pub(super) fn draw_corners<T: RasterTarget>(
    tile: &mut T,
    vertices: &ClusterVertices,
    t: [u8; 3],
    id: i32,
) {
    let [a, b, c] = t.map(|i| vertices.corner(i));
    draw_triangle(tile, [&a, &b, &c], id);
}

#[inline(always)]
pub(super) fn draw_triangle<T: RasterTarget>(tile: &mut T, corners: [&ScreenCorner; 3], id: i32) {
    let rect = covered(tile, corners);
    if rect.is_empty() {
        return;
    }
    let [a, mut b, mut c] = corners;
    let cross = i64::from(b.sx - a.sx) * i64::from(c.sy - a.sy)
        - i64::from(c.sx - a.sx) * i64::from(b.sy - a.sy);
    if cross == 0 {
        return;
    }
    // Triangles are visible from both sides, so both windings are drawn.
    if cross < 0 {
        std::mem::swap(&mut b, &mut c);
    }
    let edges = [
        EdgeFunction::new(a, b, rect.x0, rect.y0),
        EdgeFunction::new(b, c, rect.x0, rect.y0),
        EdgeFunction::new(c, a, rect.x0, rect.y0),
    ];
    if rect.x1 - rect.x0 <= SMALL {
        fill_small(tile, &rect, edges, [a, b, c], id);
    } else {
        fill_rows(tile, &rect, edges, [a, b, c], id);
    }
}

/// Maximum width (pixels) at which every pixel is tested. For wider triangles, the ends of each row
/// are computed.
const SMALL: i32 = 4;

#[inline(always)]
fn fill_small<T: RasterTarget>(
    tile: &mut T,
    rect: &PixelRect,
    mut edges: [EdgeFunction; 3],
    [a, b, c]: [&ScreenCorner; 3],
    id: i32,
) {
    let mut depth = None;
    for py in rect.y0..rect.y1 {
        let mut value = edges.map(|e| e.value);
        for px in rect.x0..rect.x1 {
            if value[0] | value[1] | value[2] >= 0 {
                // Most small triangles cover no pixel centre and need no depth plane.
                let depth = depth.get_or_insert_with(|| DepthPlane::new(a, b, c));
                let w = depth.at(depth.row(f64::from(px), f64::from(py)), 0.0);
                tile.set(tile.index(px, py), w, id);
            }
            for (value, e) in value.iter_mut().zip(&edges) {
                *value += e.dx;
            }
        }
        for e in &mut edges {
            e.value += e.dy;
        }
    }
}

fn fill_rows<T: RasterTarget>(
    tile: &mut T,
    rect: &PixelRect,
    mut edges: [EdgeFunction; 3],
    [a, b, c]: [&ScreenCorner; 3],
    id: i32,
) {
    let depth = DepthPlane::new(a, b, c);
    for py in rect.y0..rect.y1 {
        let (mut first, mut end) = (0, i64::from(rect.x1 - rect.x0));
        for e in &edges {
            narrow(e, &mut first, &mut end);
        }
        if first < end {
            let i = tile.index(rect.x0, py);
            let row = depth.row(f64::from(rect.x0), f64::from(py));
            for k in first..end {
                tile.set(i + k as usize, depth.at(row, k as f64), id);
            }
        }
        for e in &mut edges {
            e.value += e.dy;
        }
    }
}

/// Reduces the steps `first..end` to those where the edge function is not negative.
#[inline(always)]
fn narrow(e: &EdgeFunction, first: &mut i64, end: &mut i64) {
    if e.dx > 0 {
        if e.value < 0 {
            *first = (*first).max((-e.value + e.dx - 1) / e.dx);
        }
    } else if e.value < 0 {
        *end = 0;
    } else if e.dx < 0 {
        *end = (*end).min(e.value / -e.dx + 1);
    }
}

/// Inverse depth as a linear function over a triangle, limited to the range of the corners.
struct DepthPlane {
    x: f64,
    y: f64,
    w: f64,
    dx: f64,
    dy: f64,
    least: f32,
    most: f32,
}

impl DepthPlane {
    #[inline(always)]
    fn new(a: &ScreenCorner, b: &ScreenCorner, c: &ScreenCorner) -> Self {
        let wide = |v: &ScreenCorner| [v.x, v.y, v.w].map(f64::from);
        let ([x, y, w], b3, c3) = (wide(a), wide(b), wide(c));
        let (bx, by, bw) = (b3[0] - x, b3[1] - y, b3[2] - w);
        let (cx, cy, cw) = (c3[0] - x, c3[1] - y, c3[2] - w);
        let area = bx * cy - cx * by;
        let inverse = if area == 0.0 { 0.0 } else { 1.0 / area };
        Self {
            x,
            y,
            w,
            dx: (bw * cy - cw * by) * inverse,
            dy: (cw * bx - bw * cx) * inverse,
            least: a.w.min(b.w).min(c.w),
            most: a.w.max(b.w).max(c.w),
        }
    }
    #[inline(always)]
    fn row(&self, px: f64, py: f64) -> f64 {
        self.w + (px - self.x) * self.dx + (py - self.y) * self.dy
    }
    /// Returns w at a step in a row. Snapping can put a pixel slightly outside the unsnapped
    /// triangle, so w is clamped to the range of the corners.
    #[inline(always)]
    fn at(&self, row: f64, step: f64) -> f32 {
        ((row + step * self.dx) as f32).clamp(self.least, self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::super::small_triangles::SmallTriangles;
    use super::super::tile::Tile;
    use super::*;
    use proptest::prelude::*;
    use wide::f32x4;

    /// Returns a tile of columns 64 to 127 and rows 32 to 63.
    fn tile() -> Tile {
        let mut tile = Tile::new();
        tile.set_far(100.0);
        let (x0, y0) = (64, 32);
        tile.start(PixelRect {
            x0,
            y0,
            x1: x0 + 64,
            y1: y0 + 32,
        });
        tile
    }

    proptest! {
        /// Triangles drawn four at a time cover exactly the same pixels as triangles drawn one by
        /// one.
        #[test]
        fn small_triangles_match_triangles_drawn_one_by_one(
            triangles in prop::collection::vec(
                (60.0..130.0_f32, 28.0..66.0_f32, prop::array::uniform4(-9.0..9.0_f32), 0..4),
                1..64,
            ),
        ) {
            let mut vertices = ClusterVertices::new();
            let mut corners = Vec::new();
            for (k, (x, y, d, grid)) in (0..).zip(triangles) {
                // Some triangles have corners or edges on pixel centres.
                let to = |v: f32| if grid == 0 { v.round() } else { v };
                let all = [(x, y), (x + d[0], y + d[1]), (x + d[2], y + d[3])];
                for (c, (x, y)) in (0..).zip(all) {
                    let i = usize::from(3 * k + c);
                    let (x, y) = (to(x), to(y));
                    let snap = |v: f32| (v * SUBPIXEL as f32).round_ties_even();
                    vertices.at[i] = f32x4::new([snap(x), snap(y), x, y]);
                    // Equal at all corners, so that the interpolation does not matter.
                    vertices.w[i] = 0.5 + 0.01 * f32::from(k % 11);
                }
                corners.push([3 * k, 3 * k + 1, 3 * k + 2]);
            }
            let (mut four, mut one) = (tile(), tile());
            let found = SmallTriangles::new(&four.rect(), &vertices, &corners);
            let large = |tile: &mut Tile, k: usize| draw_corners(tile, &vertices, corners[k], k as i32);
            found.draw(&mut four, &vertices, &corners, |k| k as i32, large);
            for (k, t) in corners.iter().enumerate() {
                draw_corners(&mut one, &vertices, *t, k as i32);
            }
            for row in 0..32 {
                prop_assert_eq!(four.w_row(row), one.w_row(row));
                prop_assert_eq!(four.id_row(row), one.id_row(row));
            }
        }
    }
}
