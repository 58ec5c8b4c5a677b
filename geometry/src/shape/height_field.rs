//! Height fields.

use crate::accel::IndexedSurface;
use crate::error::{Error, Result};
use crate::mesh::{HeightGrid, RenderMesh, TriangleSurfaceMesh, render_mesh_of_heights};
use nalgebra::Vector3;
use std::fmt;
use std::sync::{Arc, OnceLock};
use tarragon_framework::counted;

/// Largest number of heights of a field; its vertices and triangles are numbered with 32 bits.
const MAX_HEIGHTS: usize = 1 << 26;

/// Terrain: the solid between heights on a regular grid and a flat base, with vertical walls.
///
/// The grid is centred at the origin of the frame G of the shape. Rows are along x and follow each
/// other along y. A cell is two triangles, which meet along its diagonal from the corner with the
/// smaller x and y, as in MuJoCo. Drake has no such shape. Copies share the heights.
///
/// Proximity queries use the true surface of the solid, as for a mesh with that property (see
/// [`proximity`](crate::proximity)), and search only the cells near the other body.
///
/// ```
/// use nalgebra::{Isometry3, Vector3};
/// use tarragon_geometry::{HeightField, Sphere, proximity};
/// // A pit, 1 m deep in the middle of 2 m x 2 m.
/// let pit = vec![1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0];
/// let field = HeightField::new(3, 3, pit, [2.0, 2.0], 0.1)?;
/// assert_eq!(field.height_at(0.0, 0.5), Some(0.5));
/// let ball = Sphere::new(0.05)?.into();
/// let x_wb = Isometry3::translation(0.0, 0.0, 0.05 * 3.0_f64.sqrt());
/// let d = proximity::signed_distance(&field.into(), &Isometry3::identity(), &ball, &x_wb)?;
/// assert!(d.distance.abs() < 1e-15);
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone)]
pub struct HeightField(Arc<Heights>);

/// The grid and what is computed from it on first use.
struct Heights {
    grid: Arc<HeightGrid>,
    /// Lowest and highest height (m).
    range: (f64, f64),
    surface: OnceLock<IndexedSurface>,
}

impl HeightField {
    /// Creates a field from the `heights` (m) of `rows` times `columns` points, row by row from the
    /// smallest y; x grows along a row. `size` is the whole extent along x and y (m). The base is
    /// `base_depth` (m) below z = 0 or the lowest height, whichever is lower.
    ///
    /// # Errors
    /// Returns an error if there are fewer than two rows or columns or more than 2^26 heights, if
    /// the number of heights is not their product, or if a number is not finite or a size not
    /// positive.
    pub fn new(
        rows: usize,
        columns: usize,
        heights: Vec<f64>,
        size: [f64; 2],
        base_depth: f64,
    ) -> Result<Self> {
        let wrong = |what: String| Err(Error::invalid(format!("HeightField: {what}")));
        let count = rows.checked_mul(columns).filter(|n| *n <= MAX_HEIGHTS);
        let Some(count) = count.filter(|_| rows.min(columns) >= 2) else {
            return wrong(format!(
                "there must be at least 2 rows and 2 columns and at most {heights}, \
                 got {num_rows} and {num_columns}",
                heights = counted(MAX_HEIGHTS, "height"),
                num_rows = counted(rows, "row"),
                num_columns = counted(columns, "column")
            ));
        };
        if heights.len() != count {
            return wrong(format!(
                "{num_rows} and {num_columns} must have {heights}, got {}",
                heights.len(),
                num_rows = counted(rows, "row"),
                num_columns = counted(columns, "column"),
                heights = counted(count, "height")
            ));
        }
        if let Some(i) = heights.iter().position(|h| !(-1e9..=1e9).contains(h)) {
            return wrong(format!(
                "the height at row {} and column {} must be a number of magnitude up to 1e9 m, got \
                 {:?} m",
                i / columns,
                i % columns,
                heights[i]
            ));
        }
        let [x, y] = size;
        let depth = base_depth;
        for (what, value) in [
            ("size along x", x),
            ("size along y", y),
            ("base depth", depth),
        ] {
            if !(1e-9..=1e9).contains(&value) {
                return wrong(format!(
                    "the {what} must be between 1e-9 and 1e9 m, got {value:?} m"
                ));
            }
        }
        let mut grid = HeightGrid {
            rows,
            columns,
            heights,
            half: size.map(|s| 0.5 * s),
            base: 0.0,
        };
        let range = grid.range();
        grid.base = range.0.min(0.0) - depth;
        Ok(Self(Arc::new(Heights {
            grid: Arc::new(grid),
            range,
            surface: OnceLock::new(),
        })))
    }

    /// Returns the number of rows, which follow each other along y.
    pub fn rows(&self) -> usize {
        self.0.grid.rows
    }
    /// Returns the number of columns, which follow each other along x.
    pub fn columns(&self) -> usize {
        self.0.grid.columns
    }
    /// Returns the heights (m), row by row from the smallest y.
    pub fn heights(&self) -> &[f64] {
        &self.0.grid.heights
    }
    /// Returns the extent along x and y (m).
    pub fn size(&self) -> [f64; 2] {
        self.0.grid.half.map(|h| 2.0 * h)
    }
    /// Returns the lowest and the highest height (m).
    pub fn height_range(&self) -> (f64, f64) {
        self.0.range
    }
    /// Returns the z coordinate of the base (m), which is below all heights.
    pub fn base(&self) -> f64 {
        self.0.grid.base
    }
    /// Returns the height of the surface at a point (m); `None` beside the field.
    pub fn height_at(&self, x: f64, y: f64) -> Option<f64> {
        self.0.grid.surface_at(x, y)
    }

    /// Returns the centre and the half size of the bounding box in G (m).
    pub fn calc_bounding_box(&self) -> (Vector3<f64>, Vector3<f64>) {
        let (low, high) = (self.base(), self.0.range.1);
        let [x, y] = self.0.grid.half;
        let center = Vector3::new(0.0, 0.0, 0.5 * (low + high));
        (center, Vector3::new(x, y, 0.5 * (high - low)))
    }

    /// Computes the triangles of the whole surface (m): heights, walls and base.
    ///
    /// # Errors
    /// None is known for a valid field.
    pub fn surface(&self) -> Result<TriangleSurfaceMesh> {
        self.0.grid.surface()
    }

    /// Computes the triangles of the whole surface (m) as engines draw them. The texture
    /// coordinates of the heights are those of an image that covers the field.
    pub fn render_mesh(&self) -> RenderMesh {
        render_mesh_of_heights(&self.0.grid)
    }

    pub(crate) fn grid(&self) -> &HeightGrid {
        &self.0.grid
    }

    /// Returns the surface for queries.
    pub(crate) fn indexed_surface(&self) -> &IndexedSurface {
        let make = || IndexedSurface::of_heights(self.0.grid.clone());
        self.0.surface.get_or_init(make)
    }
}

impl PartialEq for HeightField {
    /// Compares all numbers.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.grid == other.0.grid
    }
}

impl fmt::Debug for HeightField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeightField")
            .field("rows", &self.rows())
            .field("columns", &self.columns())
            .field("size", &self.size())
            .field("height_range", &self.0.range)
            .field("base", &self.base())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_numbers_are_named() {
        let field = |rows, columns, heights: Vec<f64>, size, depth| {
            HeightField::new(rows, columns, heights, size, depth)
                .unwrap_err()
                .to_string()
        };
        let flat = vec![0.0; 4];
        let found = field(1, 4, flat.clone(), [1.0; 2], 1.0);
        assert!(found.contains("at least 2 rows and 2 columns"), "{found}");
        let found = field(2, 3, flat.clone(), [1.0; 2], 1.0);
        assert!(found.contains("must have 6 heights, got 4"), "{found}");
        let found = field(2, 2, vec![0.0, 0.0, 0.0, f64::NAN], [1.0; 2], 1.0);
        assert!(found.contains("row 1 and column 1"), "{found}");
        let found = field(2, 2, flat.clone(), [1.0, 0.0], 1.0);
        assert!(found.contains("size along y must be between"), "{found}");
        let found = field(2, 2, flat, [1.0, 1.0], -1.0);
        assert!(found.contains("got -1.0 m"), "{found}");
        let found = field(usize::MAX, 2, vec![], [1.0; 2], 1.0);
        assert!(found.contains("at most"), "{found}");
    }

    #[test]
    fn base_is_below_all_heights() {
        let field = |heights| HeightField::new(2, 2, heights, [1.0; 2], 0.5).unwrap();
        assert_eq!(field(vec![1.0, 2.0, 3.0, 4.0]).base(), -0.5);
        assert_eq!(field(vec![1.0, 2.0, -3.0, 4.0]).base(), -3.5);
    }
}
