//! Comparison with parry3d-f64, an independent implementation, on random shapes.
//!
//! parry's general algorithm (GJK) stops at its own tolerance, and its hulls leave out points that
//! are nearly on a face, so the tolerances below are parry's accuracy, not ours.

use super::Random;
use crate::mesh::convex_hull;
use crate::proximity::signed_distance;
use crate::ray::{Ray, cast_ray};
use crate::shape::{BoxShape, Capsule, Cylinder, Shape, Sphere};
use nalgebra::{Isometry3, Vector3};
use parry3d_f64::math::{Pose, Rotation, Vector};
use parry3d_f64::query;
use parry3d_f64::shape as parry;

fn vector(v: &Vector3<f64>) -> Vector {
    Vector::new(v.x, v.y, v.z)
}

fn pose(x: &Isometry3<f64>) -> Pose {
    let q = x.rotation.coords;
    Pose::from_parts(
        vector(&x.translation.vector),
        Rotation::from_xyzw(q.x, q.y, q.z, q.w),
    )
}

/// Returns a random shape in both libraries, and the pose of parry's in ours. Cylinders are along y
/// in parry.
fn shape(random: &mut Random, kind: usize) -> (Shape, Box<dyn parry::Shape>, Isometry3<f64>) {
    let (x, y, z) = (random.length(), random.length(), random.length());
    let same = Isometry3::identity();
    match kind {
        0 => (
            BoxShape::new(x, y, z).unwrap().into(),
            Box::new(parry::Cuboid::new(Vector::new(x, y, z) * 0.5)),
            same,
        ),
        1 => (
            Sphere::new(x).unwrap().into(),
            Box::new(parry::Ball::new(x)),
            same,
        ),
        2 => (
            Capsule::new(x, y).unwrap().into(),
            Box::new(parry::Capsule::new_z(0.5 * y, x)),
            same,
        ),
        3 => (
            Cylinder::new(x, y).unwrap().into(),
            Box::new(parry::Cylinder::new(0.5 * y, x)),
            Isometry3::rotation(Vector3::x() * std::f64::consts::FRAC_PI_2),
        ),
        _ => {
            let points: Vec<_> = (0..20).map(|_| random.vector() * x).collect();
            let theirs: Vec<Vector> = points.iter().map(vector).collect();
            let hull = parry::ConvexPolyhedron::from_convex_hull(&theirs).unwrap();
            (super::hull(&points), Box::new(hull), same)
        }
    }
}

#[test]
fn distances_of_separated_shapes_equal_those_of_parry() {
    let mut random = Random::new(19);
    let (mut compared, mut worst) = (0, 0.0_f64);
    for i in 0..2000 {
        let (a, a_parry, x_ap) = shape(&mut random, i % 5);
        let (b, b_parry, x_bp) = shape(&mut random, i / 5 % 5);
        let (x_wa, x_wb) = (random.pose(0.5), random.pose(0.5));
        let ours = signed_distance(&a, &x_wa, &b, &x_wb).unwrap().distance;
        let (pa, pb) = (pose(&(x_wa * x_ap)), pose(&(x_wb * x_bp)));
        let theirs = query::distance(&pa, &*a_parry, &pb, &*b_parry)
            .unwrap()
            .distance;
        assert_eq!(ours > 1e-6, theirs > 1e-6, "{a:?} {b:?}: {ours} {theirs}");
        if ours > 1e-6 {
            // An upper bound from any two points: an error of GJK only makes the distance larger.
            assert!(theirs >= ours - 1e-12, "{a:?} {b:?}: {ours} {theirs}");
            worst = worst.max((ours - theirs).abs());
            compared += 1;
        }
    }
    assert!(compared > 1000, "{compared}");
    assert!(worst < 1e-5, "{worst:e}");
}

#[test]
fn hulls_have_the_volume_of_those_of_parry_and_contain_all_points() {
    let mut random = Random::new(20);
    for i in 0..200 {
        let points: Vec<_> = (0..8 + i).map(|_| random.vector()).collect();
        let hull = convex_hull(&points).unwrap();
        let mut volume = 0.0;
        for face in &hull.faces {
            let corner = |k: usize| hull.vertices[face[k] as usize];
            let normal = (corner(1) - corner(0)).cross(&(corner(2) - corner(0)));
            for p in &points {
                assert!(normal.normalize().dot(&(p - corner(0))) < 1e-14);
            }
            for k in 2..face.len() {
                volume += corner(0).dot(&corner(k - 1).cross(&corner(k))) / 6.0;
            }
        }
        let theirs: Vec<Vector> = points.iter().map(vector).collect();
        let theirs = parry::ConvexPolyhedron::from_convex_hull(&theirs).unwrap();
        let theirs = parry::Shape::mass_properties(&theirs, 1.0).mass();
        // Points that parry leaves out make its hull smaller.
        assert!(theirs < volume * (1.0 + 1e-12), "{volume} {theirs}");
        assert!(theirs > volume * (1.0 - 1e-5), "{volume} {theirs}");
    }
}

#[test]
fn rays_hit_where_those_of_parry_do() {
    let mut random = Random::new(21);
    let (mut hits, mut differences) = (0, 0);
    for i in 0..3000 {
        let (a, a_parry, x_ap) = shape(&mut random, i % 5);
        let x = random.pose(0.2);
        let (origin, toward) = (
            random.vector(),
            x.translation.vector + random.vector() * 0.2,
        );
        let direction = (toward - origin).normalize();
        let ours = cast_ray(&a, &x, &Ray::new(origin, direction), 10.0).unwrap();
        let ray = query::Ray::new(vector(&origin), vector(&direction));
        // Not solid: a ray from inside hits where it leaves, as ours.
        let theirs = a_parry.cast_ray(&pose(&(x * x_ap)), &ray, 10.0, false);
        match (ours, theirs) {
            (Some(ours), Some(theirs)) => {
                hits += 1;
                let error = (ours.distance - theirs).abs();
                // parry's ray against a hull or a cylinder is an iteration.
                assert!(error < 1e-5, "{a:?}: {} {theirs}", ours.distance);
            }
            (None, None) => {}
            // Rays that graze the surface may be lost by the iteration.
            _ => differences += 1,
        }
    }
    assert!(hits > 1000 && differences < 5, "{hits} {differences}");
}
