//! Computation of the convex hull of points.

use super::quickhull::InitialSimplex;
use super::{merge, planar, quickhull};
use crate::error::{Error, Result};
use nalgebra::Vector3;

/// Convex hull of points.
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_geometry::mesh::{ConvexHull, convex_hull};
/// let grid = (0..27).map(|i| Vector3::new(i % 3, i / 3 % 3, i / 9).map(f64::from));
/// let cube: ConvexHull = convex_hull(&grid.collect::<Vec<_>>())?;
/// assert_eq!((cube.vertices.len(), cube.faces.len()), (8, 6)); // only corners and squares
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConvexHull {
    /// Extreme points (m) without duplicates, in the order of the input.
    pub vertices: Vec<Vector3<f64>>,
    /// Convex faces as indices into `vertices`, counter-clockwise as seen from outside. Points in a
    /// plane have two opposite faces; points on a line and single points have none.
    pub faces: Vec<Vec<u32>>,
}

/// Computes the convex hull of the points.
///
/// Points and faces are distinguished up to the rounding of the coordinates, which is about 1e-15
/// of the largest one. Closer ones count as coincident, collinear or coplanar.
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_geometry::mesh::convex_hull;
/// let square = [[0., 0.], [1., 0.], [1., 1.], [0., 1.], [0.5, 0.5]];
/// let square = square.map(|[x, y]| Vector3::new(x, y, 2.0));
/// let hull = convex_hull(&square)?;
/// assert_eq!(hull.faces, [[0, 1, 2, 3], [0, 3, 2, 1]]); // a flat hull has two sides
/// assert_eq!(convex_hull(&square[..2])?.faces.len(), 0);
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
///
/// # Errors
/// Returns an error if there are no points or more than 2^31, or if a coordinate is not finite.
pub fn convex_hull(points: &[Vector3<f64>]) -> Result<ConvexHull> {
    if points.is_empty() || points.len() > 1 << 31 {
        return Err(Error::invalid(format!(
            "convex hull: number of points must be from 1 to 2147483648, got {}",
            points.len()
        )));
    }
    if let Some(i) = points.iter().position(|p| !p.iter().all(|x| x.is_finite())) {
        return Err(Error::invalid(format!(
            "convex hull: coordinates of point {i} must be finite, got {:?}",
            points[i].as_slice()
        )));
    }
    let scaled = rescaled(points);
    let rounding = rounding(&scaled);
    let faces = match quickhull::initial_simplex(&scaled, rounding) {
        InitialSimplex::Point(a) => return Ok(collect(points, &[a], vec![])),
        InitialSimplex::Segment(a, b) => return Ok(collect(points, &[a, b], vec![])),
        InitialSimplex::Triangle(corners) => {
            let front = planar::hull(&scaled, corners, rounding);
            let back = front.iter().rev().copied().collect();
            vec![front, back]
        }
        InitialSimplex::Tetrahedron(corners) => merge::faces(
            &scaled,
            &quickhull::triangles(&scaled, corners, rounding),
            rounding,
        ),
    };
    let used: Vec<u32> = faces.iter().flatten().copied().collect();
    Ok(collect(points, &used, faces))
}

/// Multiplies the points by a power of two, so that no product of coordinates overflows or
/// underflows. The loss is below 1e-30 of the largest coordinate.
fn rescaled(points: &[Vector3<f64>]) -> Vec<Vector3<f64>> {
    let largest = points.iter().map(|p| p.amax()).fold(0.0, f64::max);
    if largest == 0.0 {
        return points.to_vec();
    }
    let exponent = largest.log2().floor() as i32;
    // In two steps, because the factor itself may exceed the range of doubles.
    let factors = [exponent / 2, exponent - exponent / 2].map(|e| (-f64::from(e)).exp2());
    let least = (-100f64).exp2();
    let rescale = |x: f64| {
        let y = x * factors[0] * factors[1];
        if y.abs() < least { 0.0 } else { y }
    };
    points.iter().map(|p| p.map(rescale)).collect()
}

/// Returns the distance from a plane through other points that a point may appear to have by
/// rounding alone (the estimate of qhull, which Drake uses).
fn rounding(points: &[Vector3<f64>]) -> f64 {
    let largest = points.iter().map(|p| p.amax()).fold(0.0, f64::max);
    f64::EPSILON * largest * (3.0 * 1.01 * 3f64.sqrt() + 1.0)
}

/// Keeps the points in `used` and renumbers the faces, in an order that depends only on the order
/// of the points.
fn collect(points: &[Vector3<f64>], used: &[u32], mut faces: Vec<Vec<u32>>) -> ConvexHull {
    let mut used = used.to_vec();
    used.sort_unstable();
    used.dedup();
    for face in &mut faces {
        for v in face.iter_mut() {
            *v = used.partition_point(|u| u < v) as u32;
        }
        let least = (0..face.len()).min_by_key(|&i| face[i]).unwrap_or(0);
        face.rotate_left(least);
    }
    faces.sort_unstable();
    ConvexHull {
        vertices: used.iter().map(|&u| points[u as usize]).collect(),
        faces,
    }
}
