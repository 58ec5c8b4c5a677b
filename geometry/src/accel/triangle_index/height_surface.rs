//! The surface of a height field: triangles and normals computed from the grid on demand.

use super::box_tree::{Box3, BoxTree};
use super::topology::{Pseudonormal, Topology};
use super::triangle::Triangle;
use crate::mesh::HeightGrid;
use nalgebra::Vector3;
use std::sync::Arc;

/// Cells along each side of a leaf of the tree.
const BLOCK: usize = 2;
/// Triangles of a full block.
const BLOCK_TRIANGLES: usize = 2 * BLOCK * BLOCK;

/// Maximum number of cells that are visited one by one, without the tree.
const FEW_CELLS: usize = 36;

/// Surface of a height field. Triangles of the heights are numbered block by block; the walls and
/// the base follow.
#[derive(Clone, Debug)]
pub(crate) struct HeightSurface {
    pub(super) grid: Arc<HeightGrid>,
    /// Numbers of blocks along x and y.
    blocks: [usize; 2],
    /// Walls and base, then the triangles of the heights that have a vertex with them in common.
    skirt: Vec<Triangle>,
    skirt_count: usize,
    topology: Topology,
}

impl HeightSurface {
    /// Returns the surface of a grid and the tree over its triangles.
    pub(super) fn new(grid: Arc<HeightGrid>) -> (Self, BoxTree) {
        let cells = grid.cells();
        let blocks = cells.map(|n| n.div_ceil(BLOCK));
        let [bx, by] = blocks;
        let tree = BoxTree::of_grid(blocks, &|[x, y]| {
            let from = [x * BLOCK, y * BLOCK];
            let to = [0, 1].map(|k| (from[k] + BLOCK).min(cells[k]));
            let rows = from[1]..=to[1];
            let points = rows.flat_map(|r| (from[0]..=to[0]).map(move |c| (r, c)));
            let bounds = points.fold(Box3::around([]), |b, (r, c)| {
                let p = grid.vertex(r, c);
                Box3 {
                    lower: b.lower.inf(&p),
                    upper: b.upper.sup(&p),
                }
            });
            let first = (y * bx + x) * BLOCK_TRIANGLES;
            let count = 2 * (to[0] - from[0]) * (to[1] - from[1]);
            (bounds, first..first + count)
        });
        let triangles = grid.skirt().into_iter().map(placed);
        let skirt: Vec<Triangle> = triangles.collect();
        let boxes: Vec<_> = skirt.iter().map(|t| Box3::around(&t.corners)).collect();
        let (skirt_tree, order) = BoxTree::new(&boxes);
        let mut skirt: Vec<Triangle> = order.iter().map(|i| skirt[*i as usize]).collect();
        let skirt_count = skirt.len();
        let [nx, ny] = cells;
        let at_border = |x: usize, y: usize| x == 0 || y == 0 || x + 1 == nx || y + 1 == ny;
        let cells = (0..ny).flat_map(|y| (0..nx).map(move |x| [x, y]));
        for cell in cells.filter(|[x, y]| at_border(*x, *y)) {
            skirt.extend([false, true].map(|second| placed(grid.triangle(cell, second))));
        }
        let topology = Topology::new(&skirt, &[]);
        let this = Self {
            grid,
            blocks,
            skirt,
            skirt_count,
            topology,
        };
        let tree = BoxTree::joined(tree, skirt_tree, bx * by * BLOCK_TRIANGLES);
        (this, tree)
    }

    /// Returns the number of the first triangle of the walls.
    fn first_of_skirt(&self) -> usize {
        self.blocks[0] * self.blocks[1] * BLOCK_TRIANGLES
    }

    /// Returns the cell of a triangle of the heights, and whether it is the second of that cell.
    #[inline]
    fn cell(&self, index: usize) -> ([usize; 2], bool) {
        let (block, local) = (index / BLOCK_TRIANGLES, index % BLOCK_TRIANGLES);
        let corner = [
            block % self.blocks[0] * BLOCK,
            block / self.blocks[0] * BLOCK,
        ];
        let width = (self.grid.cells()[0] - corner[0]).min(BLOCK);
        let (cell, second) = (local / 2, local % 2 == 1);
        ([corner[0] + cell % width, corner[1] + cell / width], second)
    }

    #[inline]
    pub(super) fn triangle(&self, index: usize) -> Triangle {
        match index.checked_sub(self.first_of_skirt()) {
            Some(i) => self.skirt[i],
            None => {
                let (cell, second) = self.cell(index);
                placed(self.grid.triangle(cell, second))
            }
        }
    }

    /// Returns the facets of the heights above or below points of a box, cell by cell, if they are
    /// at most `most`.
    pub(super) fn facets_within(
        &self,
        region: &Box3,
        most: usize,
    ) -> Option<impl Iterator<Item = [Triangle; 2]> + '_> {
        let low = [region.lower.x, region.lower.y];
        let [x, y] = self
            .grid
            .cells_within(low, [region.upper.x, region.upper.y]);
        let count = 2 * x.len() * y.len();
        let cells = y.flat_map(move |y| x.clone().map(move |x| [x, y]));
        let facets = |cell| [false, true].map(|second| placed(self.grid.triangle(cell, second)));
        (count <= most).then(|| cells.map(facets))
    }

    /// Visits the triangles of the cells that meet a box, with their numbers, as
    /// [`BoxTree::descend`] does: first those below the middle of the box, then those whose
    /// bounding boxes are still of interest. Returns false, and visits none, if there are many
    /// cells, or if the box meets the walls or the base.
    #[inline]
    pub(super) fn visit_within(
        &self,
        region: &Box3,
        start: f64,
        mut bound: impl FnMut(&Box3) -> f64,
        mut visit: impl FnMut(usize, &Triangle) -> f64,
    ) -> bool {
        let grid = &self.grid;
        let inside = |axis: usize| {
            region.lower[axis] > -grid.half[axis] && region.upper[axis] < grid.half[axis]
        };
        if !inside(0) || !inside(1) || region.lower.z <= grid.base {
            return false;
        }
        let low = [region.lower.x, region.lower.y];
        let [columns, rows] = grid.cells_within(low, [region.upper.x, region.upper.y]);
        if columns.len() * rows.len() > FEW_CELLS {
            return false;
        }
        let mut best = start;
        let mut take = |x: usize, y: usize| {
            let at = y * grid.columns + x;
            let [below, above] =
                [at, at + grid.columns].map(|at| [grid.heights[at], grid.heights[at + 1]]);
            let (low, high) = (
                below[0].min(below[1]).min(above[0].min(above[1])),
                below[0].max(below[1]).max(above[0].max(above[1])),
            );
            let (west, east) = (grid.coordinate(0, x), grid.coordinate(0, x + 1));
            let (south, north) = (grid.coordinate(1, y), grid.coordinate(1, y + 1));
            let bounds = Box3 {
                lower: Vector3::new(west, south, low),
                upper: Vector3::new(east, north, high),
            };
            if bound(&bounds) >= best {
                return;
            }
            let first = self.first_of_cell([x, y]);
            let a = Vector3::new(west, south, below[0]);
            let d = Vector3::new(east, north, above[1]);
            let b = Vector3::new(east, south, below[1]);
            best = visit(first, &placed([a, b, d])).min(best);
            let c = Vector3::new(west, north, above[0]);
            best = visit(first + 1, &placed([a, d, c])).min(best);
        };
        let middle = [&columns, &rows].map(|cells| (cells.start + cells.end) / 2);
        take(middle[0], middle[1]);
        for y in rows {
            for x in columns.clone() {
                if [x, y] != middle {
                    take(x, y);
                }
            }
        }
        true
    }

    /// Returns the number of the first triangle of a cell.
    #[inline]
    pub(super) fn first_of_cell(&self, [x, y]: [usize; 2]) -> usize {
        let (bx, by) = (x / BLOCK, y / BLOCK);
        let width = (self.grid.cells()[0] - bx * BLOCK).min(BLOCK);
        let local = y % BLOCK * width + x % BLOCK;
        (by * self.blocks[0] + bx) * BLOCK_TRIANGLES + 2 * local
    }

    /// Returns the numbers of all triangles.
    pub(super) fn indices(&self) -> impl Iterator<Item = usize> + '_ {
        let [nx, ny] = self.grid.cells();
        let first = self.first_of_skirt();
        let sizes = move |block: usize| {
            let (x, y) = (block % self.blocks[0], block / self.blocks[0]);
            2 * (nx - x * BLOCK).min(BLOCK) * (ny - y * BLOCK).min(BLOCK)
        };
        (0..first / BLOCK_TRIANGLES)
            .flat_map(move |b| (0..sizes(b)).map(move |i| b * BLOCK_TRIANGLES + i))
            .chain(first..first + self.skirt_count)
    }

    pub(super) fn vertex_normal(&self, index: usize, corner: usize) -> Pseudonormal {
        if let Some(i) = index.checked_sub(self.first_of_skirt()) {
            return self.topology.vertex_normal(i, corner);
        }
        let ([x, y], second) = self.cell(index);
        let [row, column] = corners_of([x, y], second)[corner];
        self.normal_at(row, column)
    }

    /// Returns the angle-weighted normal of a point of the grid.
    fn normal_at(&self, row: usize, column: usize) -> Pseudonormal {
        let grid = &self.grid;
        let [nx, ny] = grid.cells();
        let v = grid.vertex(row, column);
        let mut sum = Vector3::zeros();
        let mut add = |normal: Vector3<f64>, e: Vector3<f64>, f: Vector3<f64>| {
            sum += normal * e.cross(&f).norm().atan2(e.dot(&f));
        };
        for y in row.saturating_sub(1)..=row.min(ny - 1) {
            for x in column.saturating_sub(1)..=column.min(nx - 1) {
                for second in [false, true] {
                    let corners = corners_of([x, y], second);
                    let Some(k) = corners.iter().position(|c| *c == [row, column]) else {
                        continue;
                    };
                    let t = placed(grid.triangle([x, y], second));
                    let to = |i: usize| t.corners[(k + i) % 3] - v;
                    add(t.normal, to(1), to(2));
                }
            }
        }
        // The walls below the border, each an angle on either side of the vertical.
        let down = -Vector3::z();
        for (axis, side) in self.walls_at(row, column) {
            let normal = Vector3::ith(axis, side);
            let (at, count) = match axis {
                0 => (row, ny),
                _ => (column, nx),
            };
            for next in [at.checked_sub(1), (at < count).then_some(at + 1)] {
                let Some(next) = next else { continue };
                let neighbour = match axis {
                    0 => grid.vertex(next, column),
                    _ => grid.vertex(row, next),
                };
                add(normal, neighbour - v, down);
            }
        }
        unit(sum)
    }

    /// Returns the axis and the side of the walls below a point of the grid.
    fn walls_at(&self, row: usize, column: usize) -> impl Iterator<Item = (usize, f64)> {
        let [nx, ny] = self.grid.cells();
        [
            (column == 0, 0, -1.0),
            (column == nx, 0, 1.0),
            (row == 0, 1, -1.0),
            (row == ny, 1, 1.0),
        ]
        .into_iter()
        .filter_map(|(is, axis, side)| is.then_some((axis, side)))
    }

    pub(super) fn edge_normal(&self, index: usize, edge: usize) -> Pseudonormal {
        if let Some(i) = index.checked_sub(self.first_of_skirt()) {
            return self.topology.edge_normal(i, edge);
        }
        let (cell, second) = self.cell(index);
        let own = placed(self.grid.triangle(cell, second)).normal;
        unit(own + self.across(cell, second, edge))
    }

    /// Returns the normal of the face on the other side of an edge of a triangle of the heights.
    fn across(&self, [x, y]: [usize; 2], second: bool, edge: usize) -> Vector3<f64> {
        let [nx, ny] = self.grid.cells();
        let of = |cell: [usize; 2], second| placed(self.grid.triangle(cell, second)).normal;
        match (second, edge) {
            // The diagonal.
            (false, 2) | (true, 0) => of([x, y], !second),
            (false, 0) if y > 0 => of([x, y - 1], true),
            (false, 0) => -Vector3::y(),
            (false, _) if x + 1 < nx => of([x + 1, y], true),
            (false, _) => Vector3::x(),
            (true, 1) if y + 1 < ny => of([x, y + 1], false),
            (true, 1) => Vector3::y(),
            (true, _) if x > 0 => of([x - 1, y], false),
            (true, _) => -Vector3::x(),
        }
    }
}

/// Returns the rows and columns of the corners of a triangle of a cell.
fn corners_of([x, y]: [usize; 2], second: bool) -> [[usize; 2]; 3] {
    if !second {
        [[y, x], [y, x + 1], [y + 1, x + 1]]
    } else {
        [[y, x], [y + 1, x + 1], [y + 1, x]]
    }
}

/// Returns a triangle, which has an area because cells have one.
#[inline]
fn placed(corners: [Vector3<f64>; 3]) -> Triangle {
    let [a, b, c] = corners;
    Triangle {
        corners,
        normal: (b - a).cross(&(c - a)).normalize(),
    }
}

/// Returns a normal that is never ambiguous: the faces of a height field meet only at edges, and no
/// two of them lie back to back.
fn unit(sum: Vector3<f64>) -> Pseudonormal {
    Pseudonormal {
        normal: sum.normalize(),
        certain: true,
    }
}
