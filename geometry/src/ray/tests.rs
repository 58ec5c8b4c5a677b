//! Closed forms, consistency with the distance to a point, and derivatives.

use super::*;
use crate::mesh::source::{InMemoryMesh, MemoryFile};
use crate::proximity::distance_to_point;
use crate::shape::Shape;
use crate::shape::{
    BoxShape, Capsule, Convex, Cylinder, Ellipsoid, HalfSpace, Mesh, MeshcatCone, Sphere,
};
use nalgebra::Isometry3;
use nalgebra::Translation3;
use nalgebra::Vector3;
use proptest::prelude::*;
use tarragon_framework::Scalar;
use tarragon_framework::{AutoDiff, math};

const CUBE: &str = "v -1 -1 -1\nv 1 -1 -1\nv -1 1 -1\nv 1 1 -1\nv -1 -1 1\nv 1 -1 1\nv -1 1 1\nv 1 1 1\n\
                    f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n";

fn file(obj: &str) -> InMemoryMesh {
    InMemoryMesh::new(MemoryFile::new(obj, ".obj", "mesh"))
}

/// Returns one shape of every convex type.
fn shapes() -> Vec<Shape> {
    vec![
        Sphere::new(0.3).unwrap().into(),
        BoxShape::new(0.4, 0.5, 0.7).unwrap().into(),
        Capsule::new(0.2, 0.5).unwrap().into(),
        Cylinder::new(0.3, 0.4).unwrap().into(),
        Ellipsoid::new(0.2, 0.3, 0.45).unwrap().into(),
        HalfSpace.into(),
        Convex::with_scale(file(CUBE), Vector3::new(0.2, 0.3, 0.25))
            .unwrap()
            .into(),
    ]
}

fn hit(shape: impl Into<Shape>, from: [f64; 3], to: [f64; 3]) -> Option<(f64, [f64; 3])> {
    let ray = Ray::new(from.into(), to.into());
    let hit = cast_ray(&shape.into(), &Isometry3::identity(), &ray, 100.0).unwrap();
    hit.map(|h| (h.distance, h.nhat_w.into()))
}

#[test]
fn hits_match_closed_forms() {
    let (x, z, down) = ([1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, -1.0]);
    let above = [0.0, 0.0, 5.0];
    assert_eq!(hit(Sphere::new(1.0).unwrap(), above, down), Some((4.0, z)));
    assert_eq!(
        hit(BoxShape::new(2.0, 2.0, 4.0).unwrap(), above, down),
        Some((3.0, z))
    );
    assert_eq!(
        hit(Capsule::new(0.5, 2.0).unwrap(), above, down),
        Some((3.5, z))
    );
    assert_eq!(
        hit(
            Capsule::new(0.5, 2.0).unwrap(),
            [3.0, 0.0, 0.5],
            [-2.0, 0.0, 0.0]
        ),
        Some((2.5, x))
    );
    assert_eq!(
        hit(Cylinder::new(0.5, 2.0).unwrap(), above, down),
        Some((4.0, z))
    );
    assert_eq!(
        hit(
            Cylinder::new(0.5, 2.0).unwrap(),
            [3.0, 0.0, 0.5],
            [-2.0, 0.0, 0.0]
        ),
        Some((2.5, x))
    );
    assert_eq!(
        hit(
            Cylinder::new(0.5, 2.0).unwrap(),
            [3.0, 0.0, 1.5],
            [-2.0, 0.0, 0.0]
        ),
        None
    );
    assert_eq!(
        hit(Ellipsoid::new(1.0, 2.0, 4.0).unwrap(), above, down),
        Some((1.0, z))
    );
    assert_eq!(hit(HalfSpace, above, down), Some((5.0, z)));
    assert_eq!(hit(HalfSpace, above, z), None);
    assert_eq!(hit(HalfSpace, above, x), None);
    assert_eq!(hit(HalfSpace, [0.0, 0.0, -2.0], down), None);
    // A ray that starts inside hits the surface where it leaves.
    assert_eq!(hit(HalfSpace, [0.0, 0.0, -2.0], z), Some((2.0, z)));
    assert_eq!(hit(Sphere::new(1.0).unwrap(), [0.0; 3], x), Some((1.0, x)));
    assert_eq!(
        hit(Cylinder::new(0.5, 2.0).unwrap(), [0.0; 3], z),
        Some((1.0, z))
    );
    assert_eq!(
        hit(Capsule::new(0.5, 2.0).unwrap(), [0.0; 3], z),
        Some((1.5, z))
    );
    // A ray that starts on the surface, and one that points away from it.
    assert_eq!(hit(Sphere::new(1.0).unwrap(), x, x), Some((0.0, x)));
    assert_eq!(hit(Sphere::new(1.0).unwrap(), [1.5, 0.0, 0.0], x), None);
}

#[test]
fn triangles_and_hull_of_a_cube_match_a_box() {
    let cube: Shape = BoxShape::new(2.0, 2.0, 2.0).unwrap().into();
    let meshes: [Shape; 2] = [Mesh::new(file(CUBE)).into(), Convex::new(file(CUBE)).into()];
    let x_wg = math::pose(
        math::rotation_exp(&Vector3::new(0.3, -0.2, 0.9)),
        Vector3::new(0.5, -0.3, 0.2),
    );
    let mut hits = 0;
    for i in 1..500 {
        let turn = |k: f64| 3.0 * (k * f64::from(i)).sin();
        let origin = Vector3::new(turn(1.3), turn(0.7), turn(2.1));
        let aim = Vector3::new(turn(0.4), turn(1.9), turn(1.1)) * 0.4;
        let ray = Ray::new(origin, aim - origin);
        let expected = cast_ray(&cube, &x_wg, &ray, 10.0).unwrap();
        for mesh in &meshes {
            let found = cast_ray(mesh, &x_wg, &ray, 10.0).unwrap();
            assert_eq!(found.is_some(), expected.is_some(), "{mesh:?} {ray:?}");
            if let (Some(found), Some(expected)) = (found, expected) {
                assert!((found.distance - expected.distance).abs() < 1e-12);
                assert!((found.nhat_w - expected.nhat_w).norm() < 1e-12);
                hits += 1;
            }
        }
    }
    assert!(hits > 200, "{hits}");
}

#[test]
fn a_flat_hull_is_hit_inside_its_edges_from_both_sides() {
    let square = Convex::new(file("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n"));
    let (z, down) = ([0.0, 0.0, 1.0], [0.0, 0.0, -1.0]);
    assert_eq!(hit(square.clone(), [0.2, 0.7, 2.0], down), Some((2.0, z)));
    assert_eq!(hit(square.clone(), [0.2, 0.7, -2.0], z), Some((2.0, down)));
    assert_eq!(hit(square, [0.2, 1.7, 2.0], down), None);
}

#[test]
fn errors_name_the_invalid_argument() {
    let ball: Shape = Sphere::new(1.0).unwrap().into();
    let message = |shape: &Shape, ray: Ray, limit: f64| {
        let result = cast_ray(shape, &Isometry3::identity(), &ray, limit);
        result.unwrap_err().to_string()
    };
    let ray = Ray::new(Vector3::zeros(), Vector3::x());
    assert!(message(&ball, ray, -1.0).contains("got -1.0 m"));
    let still = Ray::new(Vector3::zeros(), Vector3::zeros());
    assert!(message(&ball, still, 1.0).contains("got [0.0, 0.0, 0.0]"));
    let nowhere = Ray::new(Vector3::new(f64::NAN, 0.0, 0.0), Vector3::x());
    assert!(message(&ball, nowhere, 1.0).contains("got [NaN, 0.0, 0.0]"));
    let cone = MeshcatCone::new(1.0, 1.0, 1.0).unwrap().into();
    assert!(message(&cone, ray, 1.0).contains("for visualizers only"));
    assert!(message(&Mesh::new("none.obj").into(), ray, 1.0).contains("none.obj"));
}

fn vector(reach: f64) -> impl Strategy<Value = Vector3<f64>> {
    [(); 3].map(|()| -reach..reach).prop_map(Vector3::from)
}

fn pose() -> impl Strategy<Value = Isometry3<f64>> {
    (vector(3.0), vector(0.5)).prop_map(|(r, p)| math::pose(math::rotation_exp(&r), p))
}

/// Returns the pose of the shape and the ray, moved by x.
fn moved<T: Scalar>(x_wg: &Isometry3<f64>, ray: &Ray, x: &[T; 8]) -> (Isometry3<T>, Ray<T>) {
    let turn = math::rotation_exp(&Vector3::new(x[0], x[1], T::zero()));
    let translation = x_wg.translation.vector.map(T::from) + Vector3::new(x[2], x[3], T::zero());
    let x_wg = Isometry3::from_parts(
        Translation3::from(translation),
        turn * x_wg.rotation.cast::<T>(),
    );
    let ray = Ray::new(
        ray.origin_w.map(T::from) + Vector3::new(x[4], T::zero(), x[5]),
        ray.direction_w.map(T::from) + Vector3::new(x[6], x[7], T::zero()),
    );
    (x_wg, ray)
}

fn numbers<T: Scalar>(hit: &SurfaceHit<T>) -> [T; 7] {
    let (n, p) = (&hit.nhat_w, &hit.p_wc);
    [hit.distance, n.x, n.y, n.z, p.x, p.y, p.z]
}

proptest! {
    /// The hit is on the surface, and the ray does not cross the surface before it.
    #[test]
    fn hits_are_the_first_points_of_the_surface(
        x_wg in pose(), origin in vector(1.5), towards in vector(0.6), kind in 0..7_usize,
    ) {
        let shape = &shapes()[kind];
        let direction = x_wg.translation.vector + towards - origin;
        prop_assume!(direction.norm() > 1e-3);
        let ray = Ray::new(origin, direction);
        let limit = 4.0;
        let distance = |p: &Vector3<f64>| distance_to_point(shape, &x_wg, p).unwrap();
        let hit = cast_ray(shape, &x_wg, &ray, limit).unwrap();
        let end = hit.map_or(limit, |h| h.distance);
        let side = distance(&origin).distance.signum();
        for k in 1..60 {
            let p = origin + direction.normalize() * (end * f64::from(k) / 60.0);
            prop_assert!(distance(&p).distance * side > -1e-12, "{shape:?} {ray:?} {hit:?}");
        }
        if let Some(hit) = hit {
            let there = distance(&hit.p_wc);
            prop_assert!(there.distance.abs() < 1e-12, "{shape:?} {ray:?} {there:?}");
            prop_assert!((hit.nhat_w.norm() - 1.0).abs() < 1e-14);
            prop_assert!(hit.nhat_w.dot(&direction) * side <= 1e-9);
            if let Shape::Sphere(_) | Shape::Ellipsoid(_) | Shape::Capsule(_) | Shape::HalfSpace(_) = shape {
                prop_assert!((hit.nhat_w - there.grad_w).norm() < 1e-9);
            }
        }
    }

    #[test]
    fn derivatives_match_differences(
        x_wg in pose(), origin in vector(1.5), towards in vector(0.3), kind in 0..7_usize,
    ) {
        let shape = &shapes()[kind];
        let ray = Ray::new(origin, x_wg.translation.vector + towards - origin);
        prop_assume!(ray.direction_w.norm() > 0.1);
        let at = |x: [f64; 8]| {
            let (x_wg, ray) = moved(&x_wg, &ray, &x);
            cast_ray(shape, &x_wg, &ray, 4.0).unwrap().map(|h| numbers(&h))
        };
        let Some(center) = at([0.0; 8]) else { return Ok(()) };
        let variables: [AutoDiff; 8] = std::array::from_fn(|i| AutoDiff::variable(0.0, i));
        let (x_wg, dual_ray) = moved(&x_wg, &ray, &variables);
        let dual = cast_ray(shape, &x_wg, &dual_ray, 4.0).unwrap().unwrap();
        let h = 1e-6;
        for i in 0..8 {
            let step = |h: f64| at(std::array::from_fn(|k| if k == i { h } else { 0.0 }));
            let (Some(up), Some(down)) = (step(h), step(-h)) else { return Ok(()) };
            for (k, value) in numbers(&dual).iter().enumerate() {
                prop_assert!((value.re - center[k]).abs() < 1e-13);
                let (right, left) = ((up[k] - center[k]) / h, (center[k] - down[k]) / h);
                // Another face within the step, or a grazing ray.
                if (right - left).abs() > 1e-3 {
                    return Ok(());
                }
                let central = 0.5 * (right + left);
                let error = (value.eps[i] - central).abs() / (1.0 + central.abs());
                prop_assert!(error < 1e-5, "value {k} of direction {i}: {value:?} {central} {shape:?}");
            }
        }
    }
}

/// A point has no surface that a ray could hit.
#[test]
fn sphere_of_radius_zero_is_never_hit() {
    let point = || Sphere::new(0.0).unwrap();
    assert_eq!(hit(point(), [-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]), None);
    assert_eq!(hit(point(), [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]), None);
}

/// A triangle of zero area next to one of nonzero area: the latter gives the normal.
#[test]
fn triangles_of_zero_area_are_skipped() {
    let obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0.5 0 0\nf 1 4 2\nf 1 2 3\n";
    let found = hit(Mesh::new(file(obj)), [0.2, 0.0, 1.0], [0.0, 0.0, -1.0]);
    assert_eq!(found, Some((1.0, [0.0, 0.0, 1.0])));
}
