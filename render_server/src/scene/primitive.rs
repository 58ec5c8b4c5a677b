//! Recognition of tessellated shapes.
//!
//! Drake's client sends every shape as triangles. Its tessellations have fixed numbers of vertices,
//! so that a shape can be recognised, checked vertex by vertex, and drawn exactly.

use nalgebra::{Point3, Vector3};
use tarragon_geometry::mesh::RenderMesh;
use tarragon_geometry::{BoxShape, Capsule, Cylinder, Ellipsoid, HalfSpace, Shape, Sphere};

/// Deviation of a vertex from the shape, relative to its size, that rounding to single precision
/// explains.
const ROUNDING: f64 = 1e-6;
/// Half the side of the square that stands for a half space (m).
const HALF_SIDE: f64 = 50.0;

/// Returns the shape that the triangles stand for, if they are Drake's tessellation of one.
pub(super) fn recognize(mesh: &RenderMesh) -> Option<Shape> {
    let points = &mesh.positions;
    match (points.len(), mesh.triangles.len()) {
        (24, 12) => cuboid(points),
        (2601, 5000) => ellipsoid(points),
        (4902, 9600) => capsule(points),
        (200, 196) => cylinder(points),
        (4, 2) => half_space(points),
        _ => None,
    }
}

/// Returns the largest magnitude of each coordinate: the shortest decimal number that single
/// precision rounds to it, such as 0.1 for 0.10000000149, because sizes are written by people.
fn extents(points: &[Point3<f64>]) -> Vector3<f64> {
    let zero = Vector3::zeros();
    let most = points
        .iter()
        .fold(zero, |most, p| most.sup(&p.coords.abs()));
    most.map(|x| (x as f32).to_string().parse().unwrap_or(x))
}

fn cuboid(points: &[Point3<f64>]) -> Option<Shape> {
    let half = extents(points);
    let mut corners = [0; 8];
    for p in points {
        if (p.coords.abs() - half).amax() > ROUNDING * half.amax() {
            return None;
        }
        let bit = |k: usize| usize::from(p[k] > 0.0) << k;
        corners[bit(0) + bit(1) + bit(2)] += 1;
    }
    let size = 2.0 * half;
    let shape = BoxShape::new(size.x, size.y, size.z).ok()?;
    (corners == [3; 8]).then(|| shape.into())
}

fn ellipsoid(points: &[Point3<f64>]) -> Option<Shape> {
    let most = extents(points);
    let (a, c) = (most.x, most.z);
    let rest = |p: &Point3<f64>| 1.0 - (p.x / a).powi(2) - (p.z / c).powi(2);
    // No vertex is on the y axis.
    let widest = points
        .iter()
        .max_by(|p, q| p.y.abs().total_cmp(&q.y.abs()))?;
    let b = widest.y.abs() / rest(widest).sqrt();
    if !(a > 0.0 && b.is_finite() && c > 0.0) {
        return None;
    }
    let is_on = |p: &Point3<f64>| (rest(p) - (p.y / b).powi(2)).abs() < 4.0 * ROUNDING;
    if !points.iter().all(is_on) {
        return None;
    }
    let is_round = (a - c).abs().max((a - b).abs()) < ROUNDING * a;
    if is_round {
        return Some(Sphere::new(a).ok()?.into());
    }
    Some(Ellipsoid::new(a, b, c).ok()?.into())
}

fn capsule(points: &[Point3<f64>]) -> Option<Shape> {
    let most = extents(points);
    // Some vertex is on an axis.
    let (r, top) = (most.x.max(most.y), most.z);
    let half = top - r;
    let is_on = |p: &Point3<f64>| {
        let from_axis = Vector3::new(p.x, p.y, p.z - p.z.clamp(-half, half));
        (from_axis.norm() - r).abs() < ROUNDING * top
    };
    if !(half > 0.0 && points.iter().all(is_on)) {
        return None;
    }
    Some(Capsule::new(r, 2.0 * half).ok()?.into())
}

fn cylinder(points: &[Point3<f64>]) -> Option<Shape> {
    let most = extents(points);
    let (r, half) = (most.x.max(most.y), most.z);
    let is_on = |p: &Point3<f64>| {
        (p.x.hypot(p.y) - r).abs() < ROUNDING * r && (p.z.abs() - half).abs() < ROUNDING * half
    };
    if !(r > 0.0 && half > 0.0 && points.iter().all(is_on)) {
        return None;
    }
    Some(Cylinder::new(r, 2.0 * half).ok()?.into())
}

fn half_space(points: &[Point3<f64>]) -> Option<Shape> {
    let is_corner =
        |p: &Point3<f64>| p.x.abs() == HALF_SIDE && p.y.abs() == HALF_SIDE && p.z.abs() < ROUNDING;
    points.iter().all(is_corner).then(|| HalfSpace.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    fn mesh(points: Vec<[f64; 3]>, triangles: usize) -> RenderMesh {
        RenderMesh {
            positions: points
                .into_iter()
                .map(|p| Point3::from(p.map(|x| f64::from(x as f32))))
                .collect(),
            triangles: vec![[0; 3]; triangles],
            ..RenderMesh::default()
        }
    }
    /// Vertices of an ellipsoid as VTK makes them: 51 by 51, with the seam and the poles repeated.
    fn ball(a: f64, b: f64, c: f64) -> RenderMesh {
        let point = |i: i32, j: i32| {
            let (phi, theta) = (PI * f64::from(i) / 50.0, 2.0 * PI * f64::from(j) / 50.0);
            let s = phi.sin();
            [a * s * theta.cos(), b * s * theta.sin(), c * phi.cos()]
        };
        mesh(
            (0..51)
                .flat_map(|i| (0..51).map(move |j| point(i, j)))
                .collect(),
            5000,
        )
    }

    #[test]
    fn ellipsoids_have_their_axes_back() {
        assert_eq!(
            recognize(&ball(0.25, 0.25, 0.25)),
            Some(Sphere::new(0.25).unwrap().into())
        );
        let Some(Shape::Ellipsoid(found)) = recognize(&ball(0.1, 0.2, 0.3)) else {
            panic!("it must be an ellipsoid");
        };
        // Rounding to single precision.
        let off = found.semi_axes() - Vector3::new(0.1, 0.2, 0.3);
        assert!(off.amax() < 1e-7, "{off}");
        let mut dented = ball(0.1, 0.2, 0.3);
        dented.positions[700].x *= 0.999;
        assert_eq!(recognize(&dented), None);
    }

    #[test]
    fn boxes_need_all_corners() {
        let corner = |k: usize| [0, 1, 2].map(|i| if k >> i & 1 == 1 { 0.5 } else { -0.5 });
        let all: Vec<_> = (0..24).map(|k| corner(k % 8)).collect();
        let cube = BoxShape::new(1.0, 1.0, 1.0).unwrap();
        assert_eq!(recognize(&mesh(all.clone(), 12)), Some(cube.into()));
        let mut one_missing = all;
        one_missing.iter_mut().for_each(|p| p[0] = p[0].abs());
        assert_eq!(recognize(&mesh(one_missing, 12)), None);
    }

    #[test]
    fn cylinders_and_capsules_are_told_apart_by_their_vertices() {
        let circle = |k: usize, r: f64, z: f64| {
            let angle = 2.0 * PI * k as f64 / 50.0;
            [r * angle.cos(), r * angle.sin(), z]
        };
        let rim = |k: usize| circle(k, 0.1, if k < 100 { 0.15 } else { -0.15 });
        let found = recognize(&mesh((0..200).map(rim).collect(), 196));
        let Some(Shape::Cylinder(found)) = found else {
            panic!("it must be a cylinder");
        };
        assert!((found.radius() - 0.1).abs() < 1e-8 && (found.length() - 0.3).abs() < 1e-7);
        let ring = |k: usize| {
            let side = if k < 2451 { 1.0 } else { -1.0 };
            let phi = PI / 2.0 * (k % 2451) as f64 / 2450.0;
            circle(k, 0.1 * phi.cos(), side * (0.15 + 0.1 * phi.sin()))
        };
        let Some(Shape::Capsule(found)) = recognize(&mesh((0..4902).map(ring).collect(), 9600))
        else {
            panic!("it must be a capsule");
        };
        assert!((found.radius() - 0.1).abs() < 1e-8 && (found.length() - 0.3).abs() < 1e-7);
    }

    #[test]
    fn only_drakes_square_is_a_half_space() {
        let square = |side: f64, z: f64| {
            let corner = |k: usize| [[-1.0, 1.0][k % 2] * side, [-1.0, 1.0][k / 2] * side, z];
            mesh((0..4).map(corner).collect(), 2)
        };
        assert_eq!(recognize(&square(50.0, 6e-15)), Some(HalfSpace.into()));
        assert_eq!(recognize(&square(49.0, 0.0)), None);
        assert_eq!(recognize(&square(50.0, 1.0)), None);
    }
}
