//! Closed forms, and points where a result is not unique.

use super::*;
use crate::proximity::{distance_to_point, is_supported, signed_distance_within};
use crate::shape::MeshcatCone;
use nalgebra::Translation3;
use std::f64::consts::FRAC_PI_2;

fn sphere(r: f64) -> Shape {
    Sphere::new(r).unwrap().into()
}
fn capsule(r: f64, l: f64) -> Shape {
    Capsule::new(r, l).unwrap().into()
}
fn block(x: f64, y: f64, z: f64) -> Shape {
    BoxShape::new(x, y, z).unwrap().into()
}
fn at(x: f64, y: f64, z: f64) -> Isometry3<f64> {
    Translation3::new(x, y, z).into()
}

#[track_caller]
fn expect(a: &Shape, x_wa: &Isometry3<f64>, b: &Shape, x_wb: &Isometry3<f64>, distance: f64) {
    let d = check(a, x_wa, b, x_wb, 1e-15);
    assert!((d.distance - distance).abs() < 1e-15, "{d:?}");
}

#[test]
fn concentric_spheres_have_a_unit_normal() {
    let d = check(
        &sphere(0.1),
        &at(1.0, 2.0, 3.0),
        &sphere(0.2),
        &at(1.0, 2.0, 3.0),
        1e-15,
    );
    assert_eq!(d.nhat_ba_w, Vector3::x());
    assert!((d.distance + 0.3).abs() < 1e-16);
}

#[test]
fn sphere_on_the_axis_of_a_capsule_has_the_normal_x() {
    let (c, s) = (capsule(0.1, 1.0), sphere(0.05));
    for z in [0.0, 0.3, 0.5, -0.5] {
        let d = check(&s, &at(0.0, 0.0, z), &c, &Isometry3::identity(), 1e-15);
        assert_eq!(d.nhat_ba_w, Vector3::x());
    }
    expect(
        &s,
        &at(0.0, 0.0, 0.7),
        &c,
        &Isometry3::identity(),
        0.2 - 0.15,
    );
}

#[test]
fn sphere_in_the_middle_of_a_cube_has_the_normal_x() {
    let d = check(
        &sphere(0.1),
        &Isometry3::identity(),
        &block(1.0, 1.0, 1.0),
        &Isometry3::identity(),
        1e-15,
    );
    assert_eq!((d.nhat_ba_w, d.distance), (Vector3::x(), -0.6));
}

#[test]
fn sphere_centre_on_the_boundary_of_a_box_has_the_mean_normal() {
    let b = block(1.0, 1.0, 1.0);
    let mean = Vector3::new(1.0, 1.0, 1.0).normalize();
    let d = check(
        &sphere(0.1),
        &at(0.5, 0.5, 0.5),
        &b,
        &at(0.0, 0.0, 0.0),
        1e-15,
    );
    assert!((d.nhat_ba_w - mean).norm() < 1e-15);
    let d = check(
        &sphere(0.1),
        &at(0.5, -0.5, 0.1),
        &b,
        &at(0.0, 0.0, 0.0),
        1e-15,
    );
    assert!((d.nhat_ba_w - Vector3::new(1.0, -1.0, 0.0).normalize()).norm() < 1e-15);
    let d = check(
        &sphere(0.1),
        &at(0.2, -0.5, 0.1),
        &b,
        &at(0.0, 0.0, 0.0),
        1e-15,
    );
    assert_eq!(d.nhat_ba_w, -Vector3::y());
}

/// Axes crossing, on one line (overlapping, touching, apart, contained), parallel, in a T and in an
/// L.
#[test]
fn capsule_pairs_match_closed_forms() {
    let (a, b) = (capsule(0.1, 1.0), capsule(0.05, 0.6));
    let o = Isometry3::identity();
    let across = math::pose(math::rotation_x(FRAC_PI_2), Vector3::zeros());
    let d = check(&a, &o, &b, &across, 1e-15);
    assert!((d.nhat_ba_w.x.abs() - 1.0).abs() < 1e-15);
    assert!((d.distance + 0.15).abs() < 1e-15);
    for z in [0.0, 0.1, 0.5, 0.7, 0.8] {
        expect(&a, &o, &b, &at(0.0, 0.0, z), -0.15);
        expect(&a, &o, &b, &at(0.0, 0.0, -z), -0.15);
    }
    expect(&a, &o, &b, &at(0.0, 0.0, 1.0), 0.2 - 0.15);
    expect(&a, &o, &b, &at(0.3, 0.0, 0.2), 0.3 - 0.15);
    expect(&a, &o, &b, &at(0.3, 0.4, 0.8), 0.5 - 0.15);
    for z in [0.2, 0.5] {
        let mut x = across;
        x.translation.vector = Vector3::new(0.0, 0.3, z);
        expect(&a, &o, &b, &x, -0.15);
        x.translation.vector.y = 0.5;
        expect(&a, &o, &b, &x, 0.2 - 0.15);
    }
}

/// Parallel boxes with faces, edges and vertices opposite, touching, overlapping, and one inside
/// the other. The witnesses are in the middle of the common region.
#[test]
fn parallel_boxes_match_closed_forms() {
    let (a, b) = (block(1.0, 1.0, 1.0), block(0.4, 0.4, 0.4));
    let o = Isometry3::identity();
    for z in [0.6, 0.7, 0.8, 1.7] {
        expect(&a, &o, &b, &at(0.2, 0.1, z), z - 0.7);
        let d = check(&a, &o, &b, &at(0.2, 0.1, z), 1e-15);
        assert!(
            (d.p_wca - Vector3::new(0.2, 0.1, 0.5)).norm() < 1e-15,
            "{d:?}"
        );
        let d = check(&a, &o, &b, &at(0.5, 0.1, z), 1e-15);
        assert!(
            (d.p_wca - Vector3::new(0.4, 0.1, 0.5)).norm() < 1e-15,
            "{d:?}"
        );
    }
    expect(&a, &o, &b, &o, -0.7);
    expect(&a, &o, &a, &o, -1.0);
    expect(&a, &o, &b, &at(0.7, 0.7, 0.0), 0.0);
    expect(&a, &o, &b, &at(0.7, 0.7, 0.7), 0.0);
    expect(&a, &o, &b, &at(1.0, 1.1, 0.1), 0.5);
    expect(&a, &o, &b, &at(0.9, 0.8, 0.9), 0.3);
    let turned = math::pose(
        math::rotation_z(0.5 * FRAC_PI_2),
        Vector3::new(0.1, 0.0, 0.65),
    );
    expect(&a, &o, &b, &turned, -0.05);
}

/// For stacks tilted by about the rounding error, neither value nor witnesses may jump.
#[test]
fn nearly_parallel_faces_cause_no_jumps() {
    let (a, b) = (block(1.0, 2.0, 0.4), block(0.3, 3.0, 0.4));
    let rod = capsule(0.01, 3.0);
    let mut random = Random::new(5);
    for exponent in 3..18 {
        for _ in 0..200 {
            let tilt = random.vector() * 10.0_f64.powi(-exponent);
            let yaw = math::rotation_z(random.number() * 3.0);
            let offset = Vector3::new(
                random.number(),
                random.number(),
                0.4 + 0.1 * random.number(),
            );
            let x = math::pose(yaw * math::rotation_exp(&tilt), offset);
            check(&a, &Isometry3::identity(), &b, &x, 2e-14);
            check(&b, &x, &a, &Isometry3::identity(), 2e-14);
            let x = math::pose(x.rotation * math::rotation_x(FRAC_PI_2), offset * 0.5);
            check(&a, &Isometry3::identity(), &rod, &x, 2e-14);
            check(&rod, &Isometry3::identity(), &rod, &x, 2e-14);
        }
    }
}

#[test]
fn capsules_and_boxes_match_closed_forms() {
    let (b, c) = (block(1.0, 1.0, 1.0), capsule(0.1, 0.6));
    let o = Isometry3::identity();
    expect(&b, &o, &c, &o, -0.6);
    expect(&b, &o, &c, &at(0.0, 0.3, 0.0), -0.3);
    expect(&b, &o, &c, &at(0.0, 0.5, 0.0), -0.1);
    expect(&b, &o, &c, &at(0.0, 0.5, 0.8), -0.1);
    expect(&b, &o, &c, &at(0.5, 0.5, 0.0), -0.1);
    expect(&b, &o, &c, &at(0.5, 0.5, 0.8), -0.1);
    expect(&b, &o, &c, &at(0.8, 0.9, 0.1), 0.5 - 0.1);
    expect(&b, &o, &c, &at(0.0, 0.9, 0.1), 0.3);
    expect(&b, &o, &c, &at(0.0, 0.0, 1.0), 0.1);
    let d = check(&b, &o, &c, &at(0.0, 0.9, 0.1), 1e-15);
    assert!((d.p_wcb - Vector3::new(0.0, 0.8, 0.1)).norm() < 1e-15);
}

#[test]
fn half_space_pairs_match_closed_forms() {
    let h: Shape = HalfSpace.into();
    let o = Isometry3::identity();
    expect(&h, &o, &sphere(0.1), &at(0.1, 0.2, 0.05), -0.05);
    expect(&block(0.1, 0.2, 0.3), &at(4.0, 5.0, 0.2), &h, &o, 0.05);
    expect(&capsule(0.1, 0.4), &at(4.0, 5.0, 0.2), &h, &o, -0.1);
    let lying = math::pose(math::rotation_y(FRAC_PI_2), Vector3::new(1.0, 2.0, 0.3));
    expect(&h, &o, &capsule(0.1, 0.4), &lying, 0.2);
    let d = check(&h, &o, &capsule(0.1, 0.4), &lying, 1e-15);
    assert!((d.p_wca - Vector3::new(1.0, 2.0, 0.0)).norm() < 1e-15);
    let d = check(&h, &o, &block(0.1, 0.2, 0.3), &at(4.0, 5.0, 0.1), 1e-15);
    assert!((d.p_wca - Vector3::new(4.0, 5.0, 0.0)).norm() < 1e-15);
    assert_eq!(d.nhat_ba_w, -Vector3::z());
}

/// The normal stays exact for distances just above zero.
#[test]
fn normal_is_exact_at_separations_of_a_nanometre() {
    let o = Isometry3::identity();
    let b = block(0.2, 0.2, 0.2);
    for d in [1e-9, 1e-12, 1e-15] {
        for other in [block(0.2, 0.1, 0.2), capsule(0.1, 0.2), sphere(0.1)] {
            let top = match &other {
                Shape::Box(b) => b.half_size().z,
                Shape::Capsule(c) => c.radius() + 0.5 * c.length(),
                _ => 0.1,
            };
            let found = check(&b, &o, &other, &at(0.01, 0.02, 0.1 + top + d), 1e-15);
            assert!((found.distance - d).abs() < 1e-16);
            assert!((found.nhat_ba_w + Vector3::z()).norm() < 1e-15);
        }
    }
}

#[test]
fn distance_to_point_breaks_ties_as_drake_does() {
    let o = Isometry3::identity();
    let query = |s: &Shape, x, y, z| distance_to_point(s, &o, &Vector3::new(x, y, z)).unwrap();
    let d = query(&sphere(0.1), 0.0, 0.0, 0.0);
    assert_eq!((d.distance, d.grad_w), (-0.1, Vector3::x()));
    assert_eq!(d.p_gn, Vector3::x() * 0.1);
    let d = query(&capsule(0.1, 1.0), 0.0, 0.0, 0.2);
    assert_eq!((d.distance, d.grad_w), (-0.1, Vector3::x()));
    assert_eq!(d.p_gn, Vector3::new(0.1, 0.0, 0.2));
    let cube = block(2.0, 2.0, 2.0);
    let d = query(&cube, 0.0, 0.0, 0.0);
    assert_eq!((d.distance, d.grad_w), (-1.0, Vector3::x()));
    let d = query(&cube, 0.0, -0.5, 0.5);
    assert_eq!((d.distance, d.grad_w), (-0.5, -Vector3::y()));
    let d = query(&cube, 1.0, -1.0, 0.5);
    assert_eq!(d.distance, 0.0);
    assert!((d.grad_w - Vector3::new(1.0, -1.0, 0.0).normalize()).norm() < 1e-15);
    let d = query(&cube, 0.3, 1.0, 0.5);
    assert_eq!((d.distance, d.grad_w), (0.0, Vector3::y()));
    let d = query(&HalfSpace.into(), 1.0, 2.0, -3.0);
    assert_eq!((d.distance, d.grad_w), (-3.0, Vector3::z()));
    assert_eq!(d.p_gn, Vector3::new(1.0, 2.0, 0.0));
}

#[test]
fn two_half_spaces_are_a_clear_error() {
    let h: Shape = HalfSpace.into();
    let o = Isometry3::<f64>::identity();
    let e = signed_distance(&h, &o, &h, &o).unwrap_err().to_string();
    assert!(e.contains("two half spaces"), "{e}");
    assert!(!is_supported(&h, &h) && is_supported(&h, &sphere(1.0)));
}

#[test]
fn errors_name_unsupported_shapes() {
    let c: Shape = MeshcatCone::new(0.1, 0.2, 0.2).unwrap().into();
    let o = Isometry3::<f64>::identity();
    let e = signed_distance(&sphere(1.0), &o, &c, &o).unwrap_err();
    assert!(e.to_string().contains("MeshcatCone"), "{e}");
    let e = distance_to_point(&c, &o, &Vector3::zeros()).unwrap_err();
    assert!(e.to_string().contains("MeshcatCone"), "{e}");
    assert!(!is_supported(&c, &sphere(1.0)));
}

#[test]
fn errors_name_missing_files() {
    let c: Shape = Convex::new("no/such/hull.obj").into();
    let o = Isometry3::<f64>::identity();
    for other in [sphere(1.0), HalfSpace.into(), c.clone()] {
        let e = signed_distance(&c, &o, &other, &o).unwrap_err().to_string();
        assert!(e.contains("no/such/hull.obj"), "{e}");
    }
}

/// The limited query returns a result exactly when the distance is within the limit, with the same
/// bits.
#[test]
fn limited_query_matches_the_unlimited_query() {
    let mut random = Random::new(4);
    for (i, j) in pairs() {
        for _ in 0..2000 {
            let (a, b) = (random.shape(i), random.shape(j));
            let (x_wa, x_wb) = (random.pose(0.3), random.pose(0.3));
            let d = signed_distance(&a, &x_wa, &b, &x_wb).unwrap();
            for limit in [0.0, 0.05, d.distance.max(0.0)] {
                let found = signed_distance_within(&a, &x_wa, &b, &x_wb, limit).unwrap();
                assert_eq!(found.is_some(), d.distance <= limit, "{a:?} {b:?} {d:?}");
                if let Some(found) = found {
                    assert_eq!(format!("{found:?}"), format!("{d:?}"));
                }
            }
        }
    }
}
