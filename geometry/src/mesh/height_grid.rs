//! Heights on a regular grid, as a solid with vertical walls and a flat base.

use super::TriangleSurfaceMesh;
use crate::error::Result;
use nalgebra::Vector3;
use std::ops::Range;

/// Maximum number of cells below a body whose heights are compared with it before a search.
const MOST_CELLS: usize = 4096;

/// Grid of heights in the frame G: the solid between the surface through the heights and a flat
/// base. The grid is centred at the origin of G.
///
/// A cell is two triangles. Their common edge goes from (row, column) to (row + 1, column + 1), as
/// in MuJoCo.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HeightGrid {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// Heights (m) row by row, from the smallest y; x grows along a row.
    pub(crate) heights: Vec<f64>,
    /// Half sizes along x and y (m).
    pub(crate) half: [f64; 2],
    /// Height of the base (m).
    pub(crate) base: f64,
}

impl HeightGrid {
    /// Returns the numbers of cells along x and y.
    pub(crate) fn cells(&self) -> [usize; 2] {
        [self.columns - 1, self.rows - 1]
    }

    /// Returns the sizes of a cell along x and y (m).
    pub(crate) fn cell_size(&self) -> [f64; 2] {
        let cells = self.cells();
        [0, 1].map(|axis| 2.0 * self.half[axis] / cells[axis] as f64)
    }

    /// Returns the coordinate of column or row `index` along an axis.
    #[inline]
    pub(crate) fn coordinate(&self, axis: usize, index: usize) -> f64 {
        let count = self.cells()[axis];
        // Exact at both borders and in the middle.
        self.half[axis] * ((2 * index) as f64 - count as f64) / count as f64
    }

    /// Returns the point of the surface at a row and a column.
    #[inline]
    pub(crate) fn vertex(&self, row: usize, column: usize) -> Vector3<f64> {
        let height = self.heights[row * self.columns + column];
        Vector3::new(self.coordinate(0, column), self.coordinate(1, row), height)
    }

    /// Returns the corners of the first or the second triangle of a cell, counterclockwise as seen
    /// from above. The first has the larger x and the smaller y.
    #[inline]
    pub(crate) fn triangle(&self, [x, y]: [usize; 2], second: bool) -> [Vector3<f64>; 3] {
        let (a, d) = (self.vertex(y, x), self.vertex(y + 1, x + 1));
        if !second {
            [a, self.vertex(y, x + 1), d]
        } else {
            [a, d, self.vertex(y + 1, x)]
        }
    }

    /// Returns the lowest and the highest height (m).
    pub(crate) fn range(&self) -> (f64, f64) {
        let start = (f64::INFINITY, f64::NEG_INFINITY);
        let heights = self.heights.iter();
        heights.fold(start, |(low, high), h| (low.min(*h), high.max(*h)))
    }

    /// Returns the cells along x and y that a rectangle meets, or else those at the nearest border.
    /// A larger rectangle has all cells of a smaller one.
    pub(crate) fn cells_within(&self, low: [f64; 2], high: [f64; 2]) -> [Range<usize>; 2] {
        [0, 1].map(|axis| {
            let count = self.cells()[axis];
            let per_meter = 0.5 * count as f64 / self.half[axis];
            let place = |p: f64| (p + self.half[axis]) * per_meter;
            // Room for rounding.
            let slack = 1e-12 * count as f64;
            let within = |p: f64| p.clamp(0.0, count as f64) as usize;
            let first = within(place(low[axis]) - slack).min(count - 1);
            let end = within(place(high[axis]) + slack) + 1;
            first..end.min(count)
        })
    }

    /// Returns the lowest height (m) of the corners of cells along x and y, and the steepest slopes
    /// of their edges along x and y.
    pub(crate) fn lowest_and_steepest(&self, cells: &[Range<usize>; 2]) -> (f64, [f64; 2]) {
        // One instruction each, unlike `f64::max`, which looks for NaN.
        let larger = |a: f64, b: f64| if a > b { a } else { b };
        let (mut lowest, mut rises) = (f64::INFINITY, [0.0; 2]);
        let [x, y] = cells;
        for row in y.start..=y.end {
            let start = row * self.columns;
            let here = &self.heights[start + x.start..=start + x.end];
            // The last row is compared with itself.
            let next = start + if row < y.end { self.columns } else { 0 };
            let next = &self.heights[next + x.start..=next + x.end];
            let mut before = here[0];
            for (h, next) in here.iter().zip(next) {
                lowest = -larger(-lowest, -h);
                rises[0] = larger((h - before).abs(), rises[0]);
                rises[1] = larger((next - h).abs(), rises[1]);
                before = *h;
            }
        }
        let [dx, dy] = self.cell_size();
        (lowest, [rises[0] / dx, rises[1] / dy])
    }

    /// Returns true if all heights near a box are more than `reach` (m) below it, so that the solid
    /// is farther than that from the box.
    pub(crate) fn is_below(&self, lower: &Vector3<f64>, upper: &Vector3<f64>, reach: f64) -> bool {
        let limit = lower.z - reach;
        let low = [lower.x - reach, lower.y - reach];
        let [x, y] = self.cells_within(low, [upper.x + reach, upper.y + reach]);
        if x.len() * y.len() > MOST_CELLS {
            return false;
        }
        (y.start..=y.end).all(|row| {
            let row = &self.heights[row * self.columns..];
            // Without a branch per height, so that several are compared at once.
            let heights = row[x.start..=x.end].iter();
            !heights.fold(false, |above, height| above | (*height >= limit))
        })
    }

    /// Returns the part of the segment from `p` to `q`, as two numbers from 0 to 1, that may be
    /// within `reach` (m) of the surface, or `None` if no point is. The segment must be above the
    /// base by more than that.
    pub(crate) fn near_part(
        &self,
        p: &Vector3<f64>,
        q: &Vector3<f64>,
        reach: f64,
    ) -> Option<[f64; 2]> {
        let way = q - p;
        let axis = usize::from(way.y.abs() > way.x.abs());
        let (lower, upper) = (p.inf(q), p.sup(q));
        let cells = self.cells_within(
            [lower.x - reach, lower.y - reach],
            [upper.x + reach, upper.y + reach],
        );
        let [x, y] = &cells;
        if x.len() * y.len() > MOST_CELLS {
            return Some([0.0, 1.0]);
        }
        let strides = [1, self.columns];
        let (stride, across) = (strides[axis], strides[1 - axis]);
        let (along, beside) = (&cells[axis], &cells[1 - axis]);
        // A point of the surface is at most as high as a point of the grid that is one cell away.
        let around = reach + self.cell_size()[axis];
        let mut near: Option<[f64; 2]> = None;
        for i in along.start..=along.end {
            let u = self.coordinate(axis, i) - p[axis];
            let [mut from, mut to] = [u - around, u + around].map(|u| u / way[axis]);
            if way[axis] == 0.0 {
                [from, to] = [0.0, 1.0];
            }
            let (from, to) = (from.min(to).max(0.0), from.max(to).min(1.0));
            let lowest = p.z + (way.z * from).min(way.z * to) - reach;
            let heights = self.heights[i * stride + beside.start * across..].iter();
            let heights = heights.step_by(across).take(beside.len() + 1);
            if from <= to && heights.fold(false, |above, height| above | (*height >= lowest)) {
                let [start, end] = near.unwrap_or([from, to]);
                near = Some([start.min(from), end.max(to)]);
            }
        }
        near
    }

    /// Returns the height of the surface at a point; `None` beside the grid.
    pub(crate) fn surface_at(&self, x: f64, y: f64) -> Option<f64> {
        let [nx, ny] = self.cells();
        let place = |p: f64, axis: usize, count: usize| {
            let at = (p / self.half[axis] + 1.0) * 0.5 * count as f64;
            let cell = (at.max(0.0) as usize).min(count - 1);
            (p.abs() <= self.half[axis]).then_some((cell, at - cell as f64))
        };
        let ((cx, u), (cy, v)) = (place(x, 0, nx)?, place(y, 1, ny)?);
        let h = |row: usize, column: usize| self.heights[row * self.columns + column];
        let (a, d) = (h(cy, cx), h(cy + 1, cx + 1));
        let slopes = if u >= v {
            let b = h(cy, cx + 1);
            u * (b - a) + v * (d - b)
        } else {
            let c = h(cy + 1, cx);
            v * (c - a) + u * (d - c)
        };
        Some(a + slopes)
    }

    /// Returns whether a point is inside the solid.
    pub(crate) fn contains(&self, p: &Vector3<f64>) -> bool {
        p.z > self.base && self.surface_at(p.x, p.y).is_some_and(|top| p.z < top)
    }

    /// Returns the border of the grid as rows and columns, counterclockwise as seen from above.
    fn border(&self) -> Vec<[usize; 2]> {
        let [nx, ny] = self.cells();
        let lower = (0..nx).map(|column| [0, column]);
        let right = (0..ny).map(|row| [row, nx]);
        let upper = (1..=nx).rev().map(|column| [ny, column]);
        let left = (1..=ny).rev().map(|row| [row, 0]);
        lower.chain(right).chain(upper).chain(left).collect()
    }

    /// Returns the triangles of the walls and of the base, which are all of the surface below the
    /// heights, with outward windings.
    pub(crate) fn skirt(&self) -> Vec<[Vector3<f64>; 3]> {
        let (vertices, triangles) = self.skirt_mesh();
        let corners = |t: &[u32; 3]| t.map(|v| vertices[v as usize]);
        triangles.iter().map(corners).collect()
    }

    /// Returns the vertices and triangles of the walls and the base. The first half of the vertices
    /// but one is the border of the surface; the last is the middle of the base.
    fn skirt_mesh(&self) -> (Vec<Vector3<f64>>, Vec<[u32; 3]>) {
        let border = self.border();
        let count = border.len() as u32;
        let top = border
            .iter()
            .map(|[row, column]| self.vertex(*row, *column));
        let mut vertices: Vec<Vector3<f64>> = top.collect();
        for i in 0..border.len() {
            let p = vertices[i];
            vertices.push(Vector3::new(p.x, p.y, self.base));
        }
        vertices.push(Vector3::new(0.0, 0.0, self.base));
        let mut triangles = Vec::with_capacity(3 * border.len());
        for i in 0..count {
            let next = (i + 1) % count;
            triangles.extend([
                [i, count + i, count + next],
                [i, count + next, next],
                [2 * count, count + next, count + i],
            ]);
        }
        (vertices, triangles)
    }

    /// Returns the whole surface as a mesh.
    ///
    /// # Errors
    /// Returns an error if there are too many vertices to number.
    pub(crate) fn surface(&self) -> Result<TriangleSurfaceMesh> {
        let (vertices, triangles) = self.vertices_and_triangles();
        TriangleSurfaceMesh::new(triangles, vertices)
    }

    /// Returns the vertices and triangles of the whole surface; the heights come first.
    pub(crate) fn vertices_and_triangles(&self) -> (Vec<Vector3<f64>>, Vec<[u32; 3]>) {
        let [nx, ny] = self.cells();
        let mut vertices = Vec::with_capacity(self.heights.len() + 2 * (nx + ny) + 1);
        for row in 0..self.rows {
            vertices.extend((0..self.columns).map(|column| self.vertex(row, column)));
        }
        let index = |row: usize, column: usize| (row * self.columns + column) as u32;
        let mut triangles = Vec::with_capacity(2 * nx * ny + 6 * (nx + ny));
        for y in 0..ny {
            for x in 0..nx {
                let (a, d) = (index(y, x), index(y + 1, x + 1));
                triangles.extend([[a, index(y, x + 1), d], [a, d, index(y + 1, x)]]);
            }
        }
        let border = self.border();
        let (below, skirt) = self.skirt_mesh();
        let offset = vertices.len();
        vertices.extend_from_slice(&below[border.len()..]);
        let number = |v: u32| match border.get(v as usize) {
            Some([row, column]) => index(*row, *column),
            None => (offset + v as usize - border.len()) as u32,
        };
        triangles.extend(skirt.iter().map(|t| t.map(number)));
        (vertices, triangles)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hills() -> HeightGrid {
        let heights = (0..12).map(|i| f64::from(i * i % 7) * 0.1).collect();
        HeightGrid {
            rows: 3,
            columns: 4,
            heights,
            half: [1.5, 1.0],
            base: -0.5,
        }
    }

    /// The volume is that of the prisms below the triangles.
    #[test]
    fn surface_encloses_the_prisms() {
        let grid = hills();
        let prism =
            |t: [Vector3<f64>; 3]| 0.5 * (t.iter().map(|v| v.z).sum::<f64>() / 3.0 - grid.base);
        let cells = (0..2).flat_map(|y| (0..3).map(move |x| [x, y]));
        let both = cells.flat_map(|c| [grid.triangle(c, false), grid.triangle(c, true)]);
        let volume: f64 = both.map(prism).sum();
        let found = grid.surface().unwrap().calc_enclosed_volume();
        assert!((found - volume).abs() < 1e-12, "{found} {volume}");
    }

    #[test]
    fn height_between_the_points_is_that_of_the_triangle() {
        let grid = hills();
        for second in [false, true] {
            for cell in [[0, 0], [2, 1], [1, 0]] {
                let [a, b, c] = grid.triangle(cell, second);
                let p = a * 0.5 + b * 0.3 + c * 0.2;
                let z = grid.surface_at(p.x, p.y).unwrap();
                assert!((z - p.z).abs() < 1e-12);
                assert!(grid.contains(&(p - Vector3::z() * 1e-9)));
                assert!(!grid.contains(&(p + Vector3::z() * 1e-9)));
            }
        }
        assert!(grid.surface_at(1.6, 0.0).is_none());
    }
    /// Points of segments that are near points of the surface are in the part that is told.
    #[test]
    fn near_part_of_a_segment_contains_all_its_points_near_the_surface() {
        let height = |i: u32| 0.1 * (f64::from(i / 31) * 0.5).sin() + 0.2 * f64::from(i % 31 / 16);
        let grid = HeightGrid {
            rows: 21,
            columns: 31,
            heights: (0..21 * 31).map(height).collect(),
            ..hills()
        };
        let place = |i: u32, n: u32| f64::from(i) / f64::from(n) * 2.0 - 1.0;
        let tops: Vec<_> = (0..=60)
            .flat_map(|i| (0..=40).map(move |k| (1.5 * place(i, 60), place(k, 40))))
            .map(|(x, y)| Vector3::new(x, y, grid.surface_at(x, y).unwrap()))
            .collect();
        let (mut all, mut some, mut none) = (0, 0, 0);
        for i in 0..300_u32 {
            let angle = f64::from(i) * 2.4;
            let (low, rise) = (0.15 * f64::from(i % 7), 0.3 * f64::from(i % 3));
            let side = match i % 5 {
                0 => Vector3::zeros(),
                _ => Vector3::new(angle.cos(), angle.sin(), 0.0) * 0.5,
            };
            let p = Vector3::new(0.9 * (f64::from(i) * 1.7).sin(), 0.4 * angle.sin(), low);
            let q = p + side + Vector3::z() * rise;
            let reach = 0.05 * f64::from(1 + i % 4);
            let part = grid.near_part(&p, &q, reach);
            match part {
                Some([from, to]) if to - from > 0.99 => all += 1,
                Some(_) => some += 1,
                None => none += 1,
            }
            for s in (0..=20).map(|k| f64::from(k) / 20.0) {
                let at = p + (q - p) * s;
                if !part.is_some_and(|[from, to]| from <= s && s <= to) {
                    let is_far = tops.iter().all(|top| (top - at).norm() >= reach);
                    assert!(is_far, "{i}: {s} of {p:?} to {q:?}, {part:?}");
                }
            }
        }
        assert!(all > 10 && some > 10 && none > 10, "{all} {some} {none}");
    }
}
