//! Projection and clipping of a mesh's clusters.

use super::small_triangles::SmallTriangles;
use super::target::{GUARD, RasterTarget, SUBPIXEL};
use super::triangle::{draw_corners, draw_triangle};
use super::vertices::{ClusterVertices, ScreenCorner};
use crate::render::cpu::simd::BLOCK;
use crate::render::cpu::store::{Cluster, ClusteredMesh};
use crate::render::projection::Pixels;
use nalgebra::{Matrix3, Vector3};
use wide::{bytemuck, f32x4, f32x8};

/// Pose of a mesh in single precision, with the camera's projection and near plane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MeshView {
    /// `R_CG` and the position of G in C (m).
    r: Matrix3<f32>,
    p: Vector3<f32>,
    pixels: Pixels,
    near: f64,
}

impl MeshView {
    pub(crate) fn new(pixels: &Pixels, r: &Matrix3<f64>, p: &Vector3<f64>, near: f64) -> Self {
        Self {
            r: r.cast(),
            p: p.cast(),
            pixels: *pixels,
            near,
        }
    }
    /// Draws the triangles of a cluster. `clip` must be true if the near plane may cut some of them
    /// or if they may reach beyond the guard band. `ids` are the id of the first triangle and the
    /// step from one triangle to the next.
    pub(crate) fn draw<T: RasterTarget>(
        &self,
        tile: &mut T,
        vertices: &mut ClusterVertices,
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
            SmallTriangles::new(&tile.rect(), vertices, corners)
                .draw(tile, vertices, corners, id, large);
        }
        tile.changed();
    }
    fn transform(&self, mesh: &ClusteredMesh, cluster: &Cluster, out: &mut ClusterVertices) {
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
    /// Draws a triangle, clipped to the near plane and the guard band (Sutherland & Hodgman,
    /// "Reentrant polygon clipping", 1974). Corners that are not clipped keep the exact values that
    /// neighbouring triangles use.
    fn draw_clipped<T: RasterTarget>(
        &self,
        tile: &mut T,
        vertices: &ClusterVertices,
        t: &[u8; 3],
        id: i32,
    ) {
        let [fx, fy] = self.pixels.focal;
        let [cx, cy] = self.pixels.center;
        let sides = [
            (Vector3::z(), self.near),
            (Vector3::new(fx, 0.0, cx + GUARD), 0.0),
            (Vector3::new(-fx, 0.0, GUARD - cx), 0.0),
            (Vector3::new(0.0, fy, cy + GUARD), 0.0),
            (Vector3::new(0.0, -fy, GUARD - cy), 0.0),
        ];
        let mut polygon: Vec<(Vector3<f64>, Option<ScreenCorner>)> = t
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
                    // From the inside outwards, so that both triangles of an edge get the same
                    // point.
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
        let corner = |(p, corner): &(Vector3<f64>, Option<ScreenCorner>)| {
            corner.unwrap_or_else(|| self.project(p))
        };
        for i in 2..polygon.len() {
            let [a, b, c] = [&polygon[0], &polygon[i - 1], &polygon[i]].map(corner);
            draw_triangle(tile, [&a, &b, &c], id);
        }
    }
    fn project(&self, p: &Vector3<f64>) -> ScreenCorner {
        let [x, y] = self.pixels.project(p);
        let snap = |x: f64| (x * f64::from(SUBPIXEL)).round() as i32;
        ScreenCorner {
            x: x as f32,
            y: y as f32,
            w: (1.0 / p.z) as f32,
            sx: snap(x),
            sy: snap(y),
        }
    }
}
