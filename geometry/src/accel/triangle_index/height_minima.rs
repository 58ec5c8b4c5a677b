//! Places of a height field where the distance to a point above it has a local minimum, cell by
//! cell: the foot on a facet, a point of a ridge, or a peak.
//!
//! The way from a minimum to the given point leaves the surface between the normals of the facets
//! around, so that it leads as far sideways as they are steep. On gentle terrain, this leaves one
//! to four cells.
//!
//! A foot counts if it is inside its facet. A point of an edge counts if both adjacent facets, and
//! a grid point if all its edges, lead away from the given point, so that the distance decreases
//! nowhere around it. None of this takes a root or compares facets with each other.

use super::height_surface::HeightSurface;
use crate::mesh::HeightGrid;
use nalgebra::Vector3;
use smallvec::SmallVec;
use std::ops::Range;

/// Maximum number of cells that are searched.
const MOST_CELLS: usize = 36;

/// A local minimum of the distance to a point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeightMinimum {
    /// Square of the distance (m^2).
    pub(crate) distance2: f64,
    /// Number of a triangle that contains the place.
    pub(crate) index: usize,
    pub(crate) place: Vector3<f64>,
}

/// The minima that were found, at most one within [`Search::same`] of each place.
pub(crate) type HeightMinima = SmallVec<[HeightMinimum; 2]>;

/// A search in progress.
struct Search<'a> {
    surface: &'a HeightSurface,
    p: Vector3<f64>,
    /// Square of the distance at which places are too far (m^2).
    limit: f64,
    /// Distance below which two places are one (m), above the rounding of places.
    same: f64,
    /// Sizes of a cell along x and y (m), and their inverses.
    size: [f64; 2],
    per_meter: [f64; 2],
    found: HeightMinima,
}

/// A cell: the corner with the smallest x and y, the heights of all four, and the differences
/// between the height of the point and the highest and the lowest of them.
struct GridCell {
    x: usize,
    y: usize,
    corner: [f64; 2],
    a: f64,
    b: f64,
    c: f64,
    d: f64,
    above: [f64; 2],
}

impl HeightSurface {
    /// Returns the local minima of the distance from a point above the surface that are nearer than
    /// `reach` (m), nearest first. Returns `None` if there are too many cells within reach, or if
    /// the walls or the base are.
    pub(crate) fn minima_within(
        &self,
        p: &Vector3<f64>,
        reach: f64,
        same: f64,
    ) -> Option<HeightMinima> {
        let grid = &*self.grid;
        let is_inside = |axis: usize| p[axis].abs() + reach < grid.half[axis];
        if !is_inside(0) || !is_inside(1) || p.z - reach <= grid.base {
            return None;
        }
        let [columns, rows] =
            grid.cells_within([p.x - reach, p.y - reach], [p.x + reach, p.y + reach]);
        if columns.len() * rows.len() > MOST_CELLS {
            return None;
        }
        // With the facets beyond the edges of these cells.
        let around = [&columns, &rows].map(|cells| cells.start.saturating_sub(1)..cells.end);
        let (lowest, slopes) = grid.lowest_and_steepest(&around);
        let sideways = slopes.map(|slope| reach.min((p.z - lowest).max(0.0) * slope + same));
        let [columns, rows] = grid.cells_within(
            [p.x - sideways[0], p.y - sideways[1]],
            [p.x + sideways[0], p.y + sideways[1]],
        );
        let size = grid.cell_size();
        let mut search = Search {
            surface: self,
            p: *p,
            limit: reach * reach,
            same,
            size,
            per_meter: size.map(|d| 1.0 / d),
            found: SmallVec::new(),
        };
        search.visit(grid, columns, rows);
        let found = &mut search.found;
        found.sort_unstable_by(|a, b| {
            let nearer = a.distance2.total_cmp(&b.distance2);
            nearer.then(a.index.cmp(&b.index))
        });
        Some(search.found)
    }
}

impl Search<'_> {
    /// Visits the cells whose bounding boxes are within reach.
    fn visit(&mut self, grid: &HeightGrid, columns: Range<usize>, rows: Range<usize>) {
        let size = self.size;
        let (west, south) = (
            grid.coordinate(0, columns.start),
            grid.coordinate(1, rows.start),
        );
        for y in rows.clone() {
            let south = south + (y - rows.start) as f64 * size[1];
            let below = &grid.heights[y * grid.columns..];
            let above = &below[grid.columns..];
            for x in columns.clone() {
                let [a, b, c, d] = [below[x], below[x + 1], above[x], above[x + 1]];
                let above = [
                    self.p.z - a.max(b).max(c.max(d)),
                    self.p.z - a.min(b).min(c.min(d)),
                ];
                let over = above[0].max(0.0);
                let corner = [west + (x - columns.start) as f64 * size[0], south];
                let beside = |axis: usize| {
                    let over = self.p[axis] - corner[axis];
                    (over - over.clamp(0.0, size[axis])).powi(2)
                };
                if beside(0) + beside(1) + over * over < self.limit {
                    let cell = GridCell {
                        x,
                        y,
                        corner,
                        a,
                        b,
                        c,
                        d,
                        above,
                    };
                    self.facets(&cell);
                    self.edges(grid, &cell);
                    self.peak(grid, &cell);
                }
            }
        }
    }

    /// Adds a place, unless it is too far or has been found at another facet.
    #[inline]
    fn add(&mut self, distance2: f64, cell: &GridCell, second: bool, place: Vector3<f64>) {
        if distance2 >= self.limit {
            return;
        }
        let same = self.same * self.same;
        if self
            .found
            .iter()
            .any(|m| (m.place - place).norm_squared() <= same)
        {
            return;
        }
        let index = self.surface.first_of_cell([cell.x, cell.y]) + usize::from(second);
        self.found.push(HeightMinimum {
            distance2,
            index,
            place,
        });
    }

    /// Adds the feet inside both facets of a cell; those at an edge belong to the edge.
    #[inline]
    fn facets(&mut self, cell: &GridCell) {
        let ([dx, dy], [ix, iy]) = (self.size, self.per_meter);
        let GridCell {
            corner, a, b, c, d, ..
        } = *cell;
        let slopes = [[(b - a) * ix, (d - b) * iy], [(d - c) * ix, (c - a) * iy]];
        let [u, v] = [self.p.x - corner[0], self.p.y - corner[1]];
        let edge = 0.25 * self.same;
        for (second, [sx, sy]) in [false, true].into_iter().zip(slopes) {
            let above = self.p.z - (a + sx * u + sy * v);
            let drop = above / (1.0 + sx * sx + sy * sy);
            let (u, v) = (u + sx * drop, v + sy * drop);
            // Positive on the first facet's side of the diagonal (m^2).
            let side = u * dy - v * dx;
            let is_inside = if !second {
                u < dx - edge && v > edge && side > edge * dy
            } else {
                u > edge && v < dy - edge && side < -edge * dx
            };
            // Below the plane, the way to the foot would lead through the solid.
            if above >= -edge && is_inside {
                let place = Vector3::new(corner[0] + u, corner[1] + v, self.p.z - drop);
                self.add(above * drop, cell, second, place);
            }
        }
    }

    /// Adds the nearest points of the southern edge, the western edge and the diagonal of a cell.
    #[inline]
    fn edges(&mut self, grid: &HeightGrid, cell: &GridCell) {
        let [dx, dy] = self.size;
        let GridCell {
            x, y, a, b, c, d, ..
        } = *cell;
        let at = y * grid.columns + x;
        let [u, v] = [self.p.x - cell.corner[0], self.p.y - cell.corner[1]];
        let east = Vector3::new(dx, 0.0, b - a);
        let north = Vector3::new(0.0, dy, c - a);
        // The parts of both sides that are across the diagonal.
        let ratio = dx * self.per_meter[1];
        let along = ratio * ratio / (1.0 + ratio * ratio);
        let rises = [b - a - along * (d - a), c - a - (1.0 - along) * (d - a)];
        let across = (1.0 - along) * ratio * (u * dy - v * dx);
        if self.may_be_nearest(cell, across, rises) {
            self.edge(cell, false, &Vector3::new(dx, dy, d - a), [&east, &north]);
        }
        // The next edges of the facets on both sides.
        if y > 0 {
            let rises = [d - b, grid.heights[at - grid.columns] - a];
            if self.may_be_nearest(cell, v * dy, rises) {
                let next = Vector3::new(0.0, dy, rises[0]);
                let back = Vector3::new(0.0, -dy, rises[1]);
                self.edge(cell, false, &east, [&next, &back]);
            }
        }
        if x > 0 {
            let rises = [d - c, grid.heights[at - 1] - a];
            if self.may_be_nearest(cell, u * dx, rises) {
                let next = Vector3::new(dx, 0.0, rises[0]);
                let back = Vector3::new(-dx, 0.0, rises[1]);
                self.edge(cell, true, &north, [&next, &back]);
            }
        }
    }

    /// Returns false if the distance certainly decreases from all points of an edge along one of
    /// two vectors across it. Their horizontal parts are opposite, and the one of the first has the
    /// product `across` (m^2) with the point's offset; `rises` (m) are their vertical parts.
    #[inline]
    fn may_be_nearest(&self, cell: &GridCell, across: f64, rises: [f64; 2]) -> bool {
        let is_away = |across: f64, rise: f64| {
            let [least, most] = cell.above.map(|above| above * rise);
            let slack = self.same * (self.size[0] + self.size[1] + rise.abs());
            across + least.min(most) <= slack
        };
        is_away(across, rises[0]) && is_away(-across, rises[1])
    }

    /// Adds the point nearest to the given one of the edge from the corner of a cell along `edge`,
    /// if the distance does not decrease along the facets on both sides, which the vectors `beside`
    /// lead into. Its ends belong to the grid points.
    #[inline]
    fn edge(
        &mut self,
        cell: &GridCell,
        second: bool,
        edge: &Vector3<f64>,
        beside: [&Vector3<f64>; 2],
    ) {
        let start = Vector3::new(cell.corner[0], cell.corner[1], cell.a);
        let from_start = self.p - start;
        let along = from_start.dot(edge);
        let length2 = edge.norm_squared();
        let end = 0.5 * self.slack(edge);
        if along <= end || along >= length2 - end {
            return;
        }
        let on_edge = edge * (along / length2);
        let offset = from_start - on_edge;
        if self.is_minimum(&offset, &beside) {
            self.add(offset.norm_squared(), cell, second, start + on_edge);
        }
    }

    /// Adds the grid point at the corner of a cell if the distance does not decrease along its
    /// edges.
    #[inline]
    fn peak(&mut self, grid: &HeightGrid, cell: &GridCell) {
        let [dx, dy] = self.size;
        let (x, y) = (cell.x, cell.y);
        let place = Vector3::new(cell.corner[0], cell.corner[1], cell.a);
        let offset = self.p - place;
        let distance2 = offset.norm_squared();
        if x == 0 || y == 0 || distance2 >= self.limit {
            return;
        }
        let to = |u: f64, v: f64, column: usize, row: usize| {
            Vector3::new(u, v, grid.heights[row * grid.columns + column] - cell.a)
        };
        let first = [to(dx, 0.0, x + 1, y), to(-dx, 0.0, x - 1, y)];
        if !self.is_minimum(&offset, &[&first[0], &first[1]]) {
            return;
        }
        let more = [
            to(0.0, dy, x, y + 1),
            to(0.0, -dy, x, y - 1),
            to(dx, dy, x + 1, y + 1),
            to(-dx, -dy, x - 1, y - 1),
        ];
        if self.is_minimum(&offset, &more.each_ref()) {
            self.add(distance2, cell, false, place);
        }
    }

    /// Returns true if the distance, at `offset` from a place, does not decrease along `ways` over
    /// the surface.
    #[inline]
    fn is_minimum(&self, offset: &Vector3<f64>, ways: &[&Vector3<f64>]) -> bool {
        // Seen from below the place, the way to it would lead through the solid.
        let is_away = |way: &&Vector3<f64>| {
            let toward = offset.dot(way);
            toward <= 0.0 || toward <= self.slack(way)
        };
        offset.z >= -self.same && ways.iter().all(is_away)
    }

    /// Returns the rounding (m^2) of the product of a place's offset and a vector.
    #[inline]
    fn slack(&self, way: &Vector3<f64>) -> f64 {
        0.5 * self.same * (way.x.abs() + way.y.abs() + way.z.abs())
    }
}
