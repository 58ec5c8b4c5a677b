//! Peaks of a height field below a flat face of a body: a box on several hills, or on a ridge, has
//! a point on each of them.

use super::contact_points::SurfaceContact;
use super::near_triangles::bounds;
use super::pair::relative;
use crate::accel::IndexedSurface;
use crate::mesh::HeightGrid;
use crate::proximity::PairDistance;
use crate::proximity::rounding::NEGLIGIBLE;
use crate::proximity::shape_core::core;
use crate::shape::Shape;
use crate::values::{lift, values_of_pose};
use nalgebra::{Isometry3, Vector3};
use tarragon_framework::Scalar;

/// Maximum number of cells below a body that are searched for peaks.
const MOST_CELLS: usize = 1 << 16;
/// Number of the contact at the first point of the grid; corners of bodies have smaller numbers.
const FIRST_ID: u32 = 1024;

/// A flat face of a body B, perpendicular to an axis of its frame.
struct FlatFace {
    axis: usize,
    /// Side of the axis, 1 or -1.
    sign: f64,
    /// Distance of the face from the origin of B (m).
    offset: f64,
}

impl FlatFace {
    /// Returns the face of a box, or the cap of a cylinder, that looks most along `down`.
    fn lowest(body: &Shape, down: &Vector3<f64>) -> Option<Self> {
        let (axis, offset) = match body {
            Shape::Box(b) => {
                let axis = down.iamax();
                (axis, b.half_size()[axis])
            }
            // Otherwise a cylinder lies on its side.
            Shape::Cylinder(c) if down.z.abs() > down.xy().norm() => (2, 0.5 * c.length()),
            _ => return None,
        };
        Some(Self {
            axis,
            sign: down[axis].signum(),
            offset,
        })
    }

    /// Returns the height of a point above the face, out of the body.
    fn height(&self, p: &Vector3<f64>) -> f64 {
        self.sign * p[self.axis] - self.offset
    }

    /// Returns the distance of a point from the nearest other face, negative outside of these.
    fn inset(&self, body: &Shape, p: &Vector3<f64>) -> f64 {
        match body {
            Shape::Box(b) => {
                let mut inside = b.half_size() - p.abs();
                inside[self.axis] = self.offset + self.sign * p[self.axis];
                inside.min()
            }
            Shape::Cylinder(c) => {
                (c.radius() - p.xy().norm()).min(self.offset + self.sign * p[self.axis])
            }
            _ => f64::NEG_INFINITY,
        }
    }
}

/// Returns the points of the grid that are less than `reach` (m) from the lowest flat face of a
/// body, nearer to it than to its other faces, and higher along its normal than their neighbours.
pub(in crate::proximity) fn contacts_of_peaks<T: Scalar>(
    surface: &IndexedSurface,
    x_ws: &Isometry3<T>,
    body: &Shape,
    x_wb: &Isometry3<T>,
    reach: f64,
) -> Vec<SurfaceContact<T>> {
    let x_sb = relative(x_ws, x_wb);
    let x = values_of_pose(&x_sb);
    let down = x.rotation.inverse_transform_vector(&-Vector3::z());
    let parts = (surface.heights(), FlatFace::lowest(body, &down), core(body));
    let (Some(grid), Some(face), Ok(core)) = parts else {
        return vec![];
    };
    let region = bounds(&core, &x).grown(reach.max(0.0));
    let cells = grid.cells_within(
        [region.lower.x, region.lower.y],
        [region.upper.x, region.upper.y],
    );
    let [columns, rows] = cells;
    if columns.is_empty() || rows.is_empty() || columns.len() * rows.len() > MOST_CELLS {
        return vec![];
    }
    // Direction of the face's inner normal in the field; heights along it are compared.
    let outward = Vector3::ith(face.axis, face.sign);
    let up = -(x.rotation * outward);
    let base = up.dot(&x.translation.vector) - face.offset;
    let same = NEGLIGIBLE * surface.extent();
    let mut contacts = vec![];
    for (row, column) in (rows.start..=rows.end)
        .flat_map(|row| (columns.start..=columns.end).map(move |column| (row, column)))
    {
        let v = grid.vertex(row, column);
        if up.dot(&v) <= base - reach {
            continue;
        }
        let p_b = (x.inverse_transform_point(&v.into())).coords;
        let height = face.height(&p_b);
        let is_below_face = face.inset(body, &p_b) >= (-height).max(0.0);
        if !is_below_face || height >= reach || !is_peak(grid, row, column, &up, same) {
            continue;
        }
        let q_s = lift::<T>(&v);
        let q_w = x_ws.rotation * q_s + x_ws.translation.vector;
        let q_b = x_wb.rotation.inverse() * (q_w - x_wb.translation.vector);
        let distance = q_b[face.axis] * T::from(face.sign) - T::from(face.offset);
        let nhat_ba_w = x_wb.rotation * lift::<T>(&outward);
        contacts.push(SurfaceContact {
            distance: PairDistance {
                distance,
                nhat_ba_w,
                p_wca: q_w,
                p_wcb: q_w - nhat_ba_w * distance,
            },
            id: FIRST_ID + (row * grid.columns + column) as u32,
        });
    }
    contacts
}

/// Returns true if no neighbour of a point is higher along `up`, and one is lower. A face parallel
/// to the slope below it has no peaks, only corners.
fn is_peak(grid: &HeightGrid, row: usize, column: usize, up: &Vector3<f64>, same: f64) -> bool {
    let here = up.dot(&grid.vertex(row, column));
    // The points at the other ends of the edges of the triangles; see `HeightGrid`.
    let around = [(0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (-1, -1)];
    let at = |i: usize, step: isize, count: usize| {
        i.checked_add_signed(step).filter(|next| *next < count)
    };
    let mut has_lower = false;
    for (dr, dc) in around {
        let next = (at(row, dr, grid.rows), at(column, dc, grid.columns));
        let height = match next {
            (Some(r), Some(c)) => up.dot(&grid.vertex(r, c)),
            // The wall below the border.
            _ => f64::NEG_INFINITY,
        };
        if height > here + same {
            return false;
        }
        has_lower |= height < here - same;
    }
    has_lower
}
