//! Tests of separated pairs, and of properties that hold at any distance.

use super::*;
use crate::proximity::convex::{ConvexCore, RelativePose, convex_features};
use crate::proximity::distance_to_point;
use crate::proximity::shape_core::{core, margin};
use crate::shape::HalfSpace;

/// Returns the least distance of all triangles.
fn brute_force(m: &Mesh, b: &Shape, x_mb: &Isometry3<f64>) -> f64 {
    let of = |t: &crate::accel::triangle_index::Triangle, b: &ConvexCore<'_>| {
        let active = convex_features(&ConvexCore::Triangle(t), b, x_mb, f64::INFINITY);
        active.unwrap().evaluate(&RelativePose::new(x_mb)).distance
    };
    let triangles = || surface(m).triangles();
    let all: Vec<f64> = match b {
        Shape::Mesh(n) => {
            let others = || surface(n).triangles();
            triangles()
                .flat_map(|t| others().map(move |s| of(&t, &ConvexCore::Triangle(&s))))
                .collect()
        }
        _ => triangles()
            .map(|t| of(&t, &core(b).unwrap()) - margin(b))
            .collect(),
    };
    all.into_iter().fold(f64::INFINITY, f64::min)
}

#[test]
fn distance_is_the_least_of_all_triangles() {
    let mut random = Random::new(11);
    for kind in 0..4 {
        let m = mesh(&solid(kind));
        for other in 0..BODIES + 4 {
            let count = if other < BODIES { 40 } else { 6 };
            for k in 0..count {
                let b = match other {
                    0..BODIES => body(&mut random, other),
                    _ => mesh(&solid(other - BODIES)).into(),
                };
                let x_wa = random.pose(0.1);
                let away = random.vector().normalize() * [0.25, 0.4, 10.0][k % 3];
                let x_wb = Isometry3::translation(away.x, away.y, away.z) * random.pose(0.1);
                let d = true_distance(&m, &x_wa, &b, &x_wb);
                check(&d);
                let expected = brute_force(&m, &b, &(x_wa.inverse() * x_wb));
                let center = x_wb.translation.vector;
                let outside = distance_to_point(&m.clone().into(), &x_wa, &center).unwrap();
                if expected > 0.0 && outside.distance > 0.0 {
                    assert!(
                        (d.distance - expected).abs() < 1e-14,
                        "{kind} {other} {d:?} {expected}"
                    );
                }
            }
        }
    }
}

#[test]
fn convex_mesh_matches_its_hull() {
    let mut random = Random::new(12);
    for faces in [block(Vector3::new(0.2, 0.15, 0.1)), ball(0.1, 0.0, 8, 12)] {
        let m = mesh(&faces);
        for other in 0..BODIES {
            let mut apart = 0;
            for _ in 0..60 {
                let b = body(&mut random, other);
                let (x_wa, x_wb) = (random.pose(0.15), random.pose(0.25));
                let expected = signed_distance(&hull(&m), &x_wa, &b, &x_wb).unwrap();
                if expected.distance > 1e-9 {
                    let d = true_distance(&m, &x_wa, &b, &x_wb);
                    assert!((d.distance - expected.distance).abs() < 1e-12);
                    assert!((d.nhat_ba_w - expected.nhat_ba_w).norm() < 1e-9);
                    apart += 1;
                }
            }
            assert!(apart > 20, "{apart}");
        }
    }
}

#[test]
fn balls_in_a_notch_or_a_hole_do_not_collide() {
    let ball: Shape = Sphere::new(0.03).unwrap().into();
    let o = Isometry3::<f64>::identity();
    // The walls of the notch are at -0.02 in both directions.
    let notch = Isometry3::translation(0.02, 0.03, 0.0);
    let d = true_distance(&mesh(&l_shape()), &o, &ball, &notch);
    assert!((d.distance - 0.01).abs() < 1e-15, "{d:?}");
    assert_eq!(d.nhat_ba_w, -Vector3::x());
    let ring = mesh(&torus(0.1, 0.04, 64, 32));
    let d = true_distance(&ring, &o, &ball, &o);
    // Between the circle and the planes of the facets.
    let nearest = 0.1 - 0.04;
    let facets = nearest * (std::f64::consts::PI / 64.0).cos();
    assert!((d.distance - (facets - 0.03)).abs() < 1e-12, "{d:?}");
    for (m, x) in [(mesh(&l_shape()), notch), (ring, o)] {
        assert!(signed_distance(&m.into(), &o, &ball, &x).unwrap().distance < -0.01);
    }
}

#[test]
fn meshes_use_their_hull_by_default() {
    let m: Shape = mesh(&l_shape()).into();
    let ball = Sphere::new(0.03).unwrap().into();
    let (o, x) = (
        Isometry3::identity(),
        Isometry3::translation(0.02, 0.03, 0.0),
    );
    let inf = f64::INFINITY;
    let d = signed_distance_true_surface(&m, false, &o, &ball, true, &x, inf).unwrap();
    let expected = signed_distance(&m, &o, &ball, &x).unwrap();
    assert_eq!(format!("{:?}", d.unwrap()), format!("{expected:?}"));
}

#[test]
fn lowest_vertex_decides_against_a_half_space() {
    let mut random = Random::new(13);
    for kind in 0..4 {
        let m = mesh(&solid(kind));
        for _ in 0..50 {
            let (x_wa, x_wb) = (random.pose(0.3), random.pose(0.3));
            let d = true_distance(&m, &x_wa, &HalfSpace.into(), &x_wb);
            let in_b = x_wb.inverse() * x_wa;
            let corners = surface(&m).triangles().flat_map(|t| t.corners);
            let heights = corners.map(|p| (in_b * nalgebra::Point3::from(p)).z);
            let lowest = heights.fold(f64::INFINITY, f64::min);
            assert!((d.distance - lowest).abs() < 1e-15);
        }
    }
}

#[test]
fn exchange_and_rigid_motion_preserve_the_results() {
    let mut random = Random::new(14);
    for kind in 0..4 {
        let m = mesh(&solid(kind));
        for other in 0..BODIES + 4 {
            for k in 0..12 {
                let b = match other {
                    0..BODIES => body(&mut random, other),
                    _ => mesh(&solid(other - BODIES)).into(),
                };
                let reach = [0.05, 0.3, 1.0][k % 3];
                let (x_wa, x_wb) = (random.pose(reach), random.pose(reach));
                let d = true_distance(&m, &x_wa, &b, &x_wb);
                check(&d);
                let a = m.clone().into();
                let inf = f64::INFINITY;
                let swapped = signed_distance_true_surface(&b, true, &x_wb, &a, true, &x_wa, inf);
                let swapped = swapped.unwrap().unwrap().swapped();
                assert_eq!(format!("{d:?}"), format!("{swapped:?}"));
                let x_vw = random.pose(1.0);
                let moved = true_distance(&m, &(x_vw * x_wa), &b, &(x_vw * x_wb));
                // Searches that stop at their tolerance may stop elsewhere.
                let tolerance = if d.distance > 0.0 {
                    1e-14
                } else {
                    1.1e-3 * -d.distance + 1e-9
                };
                assert!(
                    (moved.distance - d.distance).abs() <= tolerance,
                    "{d:?} {moved:?}"
                );
                // Pairs beyond the limit are not reported; pairs exactly at it are.
                let within = |limit: f64| {
                    signed_distance_true_surface(&a, true, &x_wa, &b, true, &x_wb, limit).unwrap()
                };
                if d.distance > 0.0 {
                    assert!(within(0.9 * d.distance).is_none());
                    assert_eq!(within(d.distance).unwrap().distance, d.distance);
                } else {
                    assert_eq!(format!("{:?}", within(0.0).unwrap()), format!("{d:?}"));
                }
            }
        }
    }
}
