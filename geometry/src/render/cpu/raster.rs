//! Triangles to pixels.
//!
//! Corners are snapped to 1/256 pixel, so that edge functions are exact integers: a pixel on a
//! common edge belongs to exactly one of two triangles (top-left rule), without cracks. Inverse
//! depth is linear over the image and taken from the corners before they are snapped.

use super::clusters::{Cluster, ClusteredMesh, VERTEX_BLOCKS};
use super::kernels::BLOCK;
use super::pixels::{Pixels, Rect};
use super::small::Found;
use nalgebra::{Matrix3, Vector3};
use wide::{bytemuck, f32x4, f32x8};

/// What triangles are drawn into.
pub(super) trait Target {
    /// The pixels that it has.
    fn rect(&self) -> Rect;
    /// The place of a pixel.
    fn index(&self, px: i32, py: i32) -> usize;
    /// The place of a pixel behind that of one so many rows above it.
    fn below(rows: i32) -> usize;
    /// Draws one pixel.
    fn set(&mut self, i: usize, w: f32, id: i32);
    /// To be called after [`set`](Self::set).
    fn changed(&mut self) {}
}

pub(super) const SUBPIXEL_BITS: u32 = 8;
pub(super) const SUBPIXEL: i32 = 1 << SUBPIXEL_BITS;

/// Corners farther than this from the image's origin (pixels) are clipped away, so that subpixels
/// fit into `i32`.
pub(super) const GUARD: f64 = 16384.0;

/// A corner of a triangle on the image.
#[derive(Clone, Copy, Debug, Default)]
struct Corner {
    /// Pixels, whole at pixel centres.
    x: f32,
    y: f32,
    w: f32,
    /// Snapped.
    sx: i32,
    sy: i32,
}

/// A mesh's pose and what it is seen through, in single precision.
#[derive(Clone, Copy, Debug)]
pub(super) struct MeshView {
    /// `R_CG` and the position of G in C (m).
    r: Matrix3<f32>,
    p: Vector3<f32>,
    pixels: Pixels,
    near: f64,
}

/// As many as a byte tells apart.
const VERTICES: usize = 256;

/// Vertices of a cluster on the image and in the camera frame; kept to be reused.
pub(super) struct Vertices {
    /// x and y snapped, in subpixels, whole numbers; then in pixels, not snapped.
    at: [f32x4; VERTICES],
    w: [f32; VERTICES],
    positions: [[f32x8; 3]; VERTEX_BLOCKS],
}

impl Vertices {
    pub(super) fn new() -> Self {
        Self {
            at: [f32x4::ZERO; VERTICES],
            w: [0.0; VERTICES],
            positions: [[f32x8::ZERO; 3]; VERTEX_BLOCKS],
        }
    }
    /// Snapped x and y (subpixels), then x and y (pixels).
    pub(super) fn at(&self, i: u8) -> f32x4 {
        self.at[usize::from(i)]
    }
    /// Inverse depth.
    pub(super) fn w(&self, i: u8) -> f32 {
        self.w[usize::from(i)]
    }
    fn corner(&self, i: u8) -> Corner {
        let [sx, sy, x, y] = self.at(i).to_array();
        Corner {
            x,
            y,
            w: self.w(i),
            sx: sx as i32,
            sy: sy as i32,
        }
    }
    fn position(&self, i: u8) -> Vector3<f64> {
        let (block, lane) = (usize::from(i) / BLOCK, usize::from(i) % BLOCK);
        let [x, y, z] = self.positions[block].map(|v| f64::from(v.as_array()[lane]));
        Vector3::new(x, y, z)
    }
}

impl MeshView {
    pub(super) fn new(pixels: &Pixels, r: &Matrix3<f64>, p: &Vector3<f64>, near: f64) -> Self {
        Self {
            r: r.cast(),
            p: p.cast(),
            pixels: *pixels,
            near,
        }
    }
    /// Draws the triangles of a cluster; `clip` if some may be cut by the near plane or reach very
    /// far out of the image. Ids count up from `first_id` by `id_step`.
    pub(super) fn draw<T: Target>(
        &self,
        tile: &mut T,
        vertices: &mut Vertices,
        mesh: &ClusteredMesh,
        cluster: &Cluster,
        clip: bool,
        ids: (i32, i32),
    ) {
        self.transform(mesh, cluster, vertices);
        let first = cluster.first as usize;
        let corners = &mesh.corners[first..first + cluster.count as usize];
        let (first_id, step) = ids;
        let id = |k: usize| first_id + k as i32 * step;
        if clip {
            for (k, t) in corners.iter().enumerate() {
                self.draw_clipped(tile, vertices, t, id(k));
            }
        } else {
            let large = |tile: &mut T, k: usize| draw_corners(tile, vertices, corners[k], id(k));
            Found::new(&tile.rect(), vertices, corners).draw(tile, vertices, corners, id, large);
        }
        tile.changed();
    }
    fn transform(&self, mesh: &ClusteredMesh, cluster: &Cluster, out: &mut Vertices) {
        let r: [f32x8; 9] = std::array::from_fn(|k| f32x8::splat(self.r[(k / 3, k % 3)]));
        let p: [f32x8; 3] = std::array::from_fn(|k| f32x8::splat(self.p[k]));
        let focal = self.pixels.focal.map(|f| f32x8::splat(f as f32));
        let center = self.pixels.center.map(|c| f32x8::splat(c as f32));
        let subpixel = f32x8::splat(SUBPIXEL as f32);
        let first = cluster.first_block as usize;
        let blocks = &mesh.xyz[first..first + cluster.blocks as usize];
        let at = out.at.as_chunks_mut::<BLOCK>().0;
        let ws = out.w.as_chunks_mut::<BLOCK>().0;
        let to = out.positions.iter_mut().zip(at).zip(ws);
        for ([x, y, z], ((position, at), out_w)) in blocks.iter().zip(to) {
            let c: [f32x8; 3] = std::array::from_fn(|i| {
                r[3 * i] * *x + r[3 * i + 1] * *y + r[3 * i + 2] * *z + p[i]
            });
            let w = f32x8::ONE / c[2];
            let x = c[0] * w * focal[0] + center[0];
            let y = c[1] * w * focal[1] + center[1];
            let sx = (x * subpixel).fast_round_int();
            let sy = (y * subpixel).fast_round_int();
            *position = c;
            *out_w = w.to_array();
            let halves = |v: f32x8| bytemuck::cast::<_, [f32x4; 2]>(v);
            let (sx, sy) = (halves(sx.round_float()), halves(sy.round_float()));
            let (x, y) = (halves(x), halves(y));
            for (k, at) in at.as_chunks_mut::<4>().0.iter_mut().enumerate() {
                *at = f32x4::transpose([sx[k], sy[k], x[k], y[k]]);
            }
        }
    }
    /// Cuts off what is nearer than the near plane or beyond the guard band (Sutherland & Hodgman,
    /// "Reentrant polygon clipping", 1974). Corners that stay keep the very values that
    /// neighbouring triangles use.
    fn draw_clipped<T: Target>(&self, tile: &mut T, vertices: &Vertices, t: &[u8; 3], id: i32) {
        let [fx, fy] = self.pixels.focal;
        let [cx, cy] = self.pixels.center;
        let sides = [
            (Vector3::z(), self.near),
            (Vector3::new(fx, 0.0, cx + GUARD), 0.0),
            (Vector3::new(-fx, 0.0, GUARD - cx), 0.0),
            (Vector3::new(0.0, fy, cy + GUARD), 0.0),
            (Vector3::new(0.0, -fy, GUARD - cy), 0.0),
        ];
        let mut polygon: Vec<(Vector3<f64>, Option<Corner>)> = t
            .iter()
            .map(|&i| (vertices.position(i), Some(vertices.corner(i))))
            .collect();
        for (n, least) in sides {
            let inside = |p: &Vector3<f64>| n.dot(p) - least;
            if polygon.iter().all(|(p, _)| inside(p) >= 0.0) {
                continue;
            }
            let mut cut = Vec::with_capacity(polygon.len() + 1);
            for (i, a) in polygon.iter().enumerate() {
                let b = &polygon[(i + 1) % polygon.len()];
                let (da, db) = (inside(&a.0), inside(&b.0));
                if da >= 0.0 {
                    cut.push(*a);
                }
                if (da >= 0.0) != (db >= 0.0) {
                    // From the inside outwards, so that both triangles of an edge agree.
                    let (p, q, dp, dq) = if da >= 0.0 {
                        (a.0, b.0, da, db)
                    } else {
                        (b.0, a.0, db, da)
                    };
                    cut.push((p + (q - p) * (dp / (dp - dq)), None));
                }
            }
            polygon = cut;
        }
        let corner = |(p, corner): &(Vector3<f64>, Option<Corner>)| {
            corner.unwrap_or_else(|| self.project(p))
        };
        for i in 2..polygon.len() {
            let [a, b, c] = [&polygon[0], &polygon[i - 1], &polygon[i]].map(corner);
            draw_triangle(tile, [&a, &b, &c], id);
        }
    }
    fn project(&self, p: &Vector3<f64>) -> Corner {
        let [x, y] = self.pixels.project(p);
        let snap = |x: f64| (x * f64::from(SUBPIXEL)).round() as i32;
        Corner {
            x: x as f32,
            y: y as f32,
            w: (1.0 / p.z) as f32,
            sx: snap(x),
            sy: snap(y),
        }
    }
}

/// The pixels whose centres can be within a triangle and the tile.
#[inline(always)]
fn covered<T: Target>(tile: &T, [a, b, c]: [&Corner; 3]) -> Rect {
    let pixels = |a: i32, b: i32, c: i32| {
        let (low, high) = (a.min(b).min(c), a.max(b).max(c));
        (
            (low + SUBPIXEL - 1) >> SUBPIXEL_BITS,
            (high >> SUBPIXEL_BITS) + 1,
        )
    };
    let (x0, x1) = pixels(a.sx, b.sx, c.sx);
    let (y0, y1) = pixels(a.sy, b.sy, c.sy);
    tile.rect().intersection(&Rect { x0, y0, x1, y1 })
}

/// Values of a function that is linear over the pixels.
#[derive(Clone, Copy)]
struct Edge {
    /// At the first pixel of the row.
    value: i64,
    dx: i64,
    dy: i64,
}

impl Edge {
    /// Not negative to the inner side of the edge from `a` to `b` and on it if the edge is a top or
    /// a left one, at pixel `(px, py)`.
    fn new(a: &Corner, b: &Corner, px: i32, py: i32) -> Self {
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

/// Not inlined, because small triangles are most of all.
#[inline(never)]
fn draw_corners<T: Target>(tile: &mut T, vertices: &Vertices, t: [u8; 3], id: i32) {
    let [a, b, c] = t.map(|i| vertices.corner(i));
    draw_triangle(tile, [&a, &b, &c], id);
}

#[inline(always)]
fn draw_triangle<T: Target>(tile: &mut T, corners: [&Corner; 3], id: i32) {
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
    // Both sides are drawn.
    if cross < 0 {
        std::mem::swap(&mut b, &mut c);
    }
    let edges = [
        Edge::new(a, b, rect.x0, rect.y0),
        Edge::new(b, c, rect.x0, rect.y0),
        Edge::new(c, a, rect.x0, rect.y0),
    ];
    if rect.x1 - rect.x0 <= SMALL {
        fill_small(tile, &rect, edges, [a, b, c], id);
    } else {
        fill_rows(tile, &rect, edges, [a, b, c], id);
    }
}

/// Up to this width every pixel is tested, beyond it the ends of each row are computed.
const SMALL: i32 = 4;

#[inline(always)]
fn fill_small<T: Target>(
    tile: &mut T,
    rect: &Rect,
    mut edges: [Edge; 3],
    [a, b, c]: [&Corner; 3],
    id: i32,
) {
    let mut depth = None;
    for py in rect.y0..rect.y1 {
        let mut value = edges.map(|e| e.value);
        for px in rect.x0..rect.x1 {
            if value[0] | value[1] | value[2] >= 0 {
                // Most small triangles cover no pixel's centre and need no depth.
                let depth = depth.get_or_insert_with(|| Depth::new(a, b, c));
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

fn fill_rows<T: Target>(
    tile: &mut T,
    rect: &Rect,
    mut edges: [Edge; 3],
    [a, b, c]: [&Corner; 3],
    id: i32,
) {
    let depth = Depth::new(a, b, c);
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
fn narrow(e: &Edge, first: &mut i64, end: &mut i64) {
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

/// Inverse depth over a triangle.
struct Depth {
    x: f64,
    y: f64,
    w: f64,
    dx: f64,
    dy: f64,
    least: f32,
    most: f32,
}

impl Depth {
    #[inline(always)]
    fn new(a: &Corner, b: &Corner, c: &Corner) -> Self {
        let wide = |v: &Corner| [v.x, v.y, v.w].map(f64::from);
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
    /// Snapping can put a pixel a little outside the triangle; it still gets a depth of the
    /// triangle.
    #[inline(always)]
    fn at(&self, row: f64, step: f64) -> f32 {
        ((row + step * self.dx) as f32).clamp(self.least, self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::cpu::tile::Tile;
    use proptest::prelude::*;

    /// The tile of pixels 64 to 127 and 32 to 63.
    fn tile() -> Tile {
        let mut tile = Tile::new();
        tile.set_far(100.0);
        let (x0, y0) = (64, 32);
        tile.start(Rect {
            x0,
            y0,
            x1: x0 + 64,
            y1: y0 + 32,
        });
        tile
    }

    proptest! {
        /// Four at a time or one by one, triangles have the same pixels, to the last one.
        #[test]
        fn small_triangles_are_those_drawn_one_by_one(
            triangles in prop::collection::vec(
                (60.0..130.0_f32, 28.0..66.0_f32, prop::array::uniform4(-9.0..9.0_f32), 0..4),
                1..64,
            ),
        ) {
            let mut vertices = Vertices::new();
            let mut corners = Vec::new();
            for (k, (x, y, d, grid)) in (0..).zip(triangles) {
                // Some have corners or sides that meet centres of pixels.
                let to = |v: f32| if grid == 0 { v.round() } else { v };
                let all = [(x, y), (x + d[0], y + d[1]), (x + d[2], y + d[3])];
                for (c, (x, y)) in (0..).zip(all) {
                    let i = usize::from(3 * k + c);
                    let (x, y) = (to(x), to(y));
                    let snap = |v: f32| (v * SUBPIXEL as f32).round_ties_even();
                    vertices.at[i] = f32x4::new([snap(x), snap(y), x, y]);
                    // Equal at all corners, so that it is the same however it is interpolated.
                    vertices.w[i] = 0.5 + 0.01 * f32::from(k % 11);
                }
                corners.push([3 * k, 3 * k + 1, 3 * k + 2]);
            }
            let (mut four, mut one) = (tile(), tile());
            let found = Found::new(&four.rect(), &vertices, &corners);
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
