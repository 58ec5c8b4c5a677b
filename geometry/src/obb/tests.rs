use super::*;
use crate::shapes::{Convex, Ellipsoid, InMemoryMesh, MemoryFile, Mesh};
use nalgebra::Point3;
use proptest::prelude::*;

fn placed(x: &Isometry3<f64>, points: &[[f64; 3]]) -> Vec<Vector3<f64>> {
    points
        .iter()
        .map(|p| (x * Point3::from(*p)).coords)
        .collect()
}

fn pose(rpy: [f64; 3]) -> Isometry3<f64> {
    math::pose(
        math::rpy(rpy[0], rpy[1], rpy[2]),
        Vector3::new(1.0, -2.0, 0.5),
    )
}

/// The corners of a box.
fn corners(half: [f64; 3]) -> Vec<[f64; 3]> {
    let sign = |i: usize, k: usize| if i >> k & 1 == 0 { -1.0 } else { 1.0 };
    (0..8)
        .map(|i| std::array::from_fn(|k| sign(i, k) * half[k]))
        .collect()
}

fn sorted(v: &Vector3<f64>) -> [f64; 3] {
    let mut v = [v.x, v.y, v.z];
    v.sort_by(f64::total_cmp);
    v
}

proptest! {
    /// The box of a box is the box.
    #[test]
    fn boxes_are_found(half in proptest::array::uniform3(0.01..1.0f64), rpy in proptest::array::uniform3(-3.0..3.0f64)) {
        let mut local = corners(half);
        // A point inside changes nothing.
        local.push([0.3 * half[0], 0.1 * half[1], -0.9 * half[2]]);
        let points = placed(&pose(rpy), &local);
        let obb = Obb::from_points(&points).unwrap();
        prop_assert!(points.iter().all(|p| obb.contains(p)));
        let (found, expected) = (sorted(obb.half_width()), sorted(&Vector3::from(half)));
        for k in 0..3 {
            prop_assert!((found[k] - expected[k]).abs() < 1e-13);
        }
        prop_assert!((obb.center() - pose(rpy).translation.vector).norm() < 1e-13);
    }

    /// Every point is inside, and the box is no larger than that along the axes.
    #[test]
    fn points_are_inside(all in proptest::collection::vec(proptest::array::uniform3(-1.0..1.0f64), 1..40), flat in 0..4usize) {
        let points: Vec<_> = all.iter().map(|p| {
            let mut p = Vector3::from(*p);
            // Flat, straight, single.
            (0..flat).for_each(|k| p[k] = 0.25);
            p
        }).collect();
        let obb = Obb::from_points(&points).unwrap();
        prop_assert!(points.iter().all(|p| obb.contains(p)));
        let aligned = Obb::along(&points, &Matrix3::identity());
        prop_assert!(obb.volume() <= aligned.volume() * (1.0 + 1e-6) + 1e-12);
    }
}

#[test]
fn a_triangular_prism_is_boxed_tightly() {
    // Equilateral with edge 1, of height 3: the smallest rectangle around the triangle is flush with
    // an edge and has the area sqrt(3) / 2.
    let h = 3f64.sqrt() / 2.0;
    let local: Vec<_> = [[0.0, 0.0], [1.0, 0.0], [0.5, h]]
        .iter()
        .flat_map(|[x, y]| [[*x, *y, 0.0], [*x, *y, 3.0]])
        .collect();
    for i in 0..20 {
        let points = placed(&pose([f64::from(i), 0.3, 1.7]), &local);
        let obb = Obb::from_points(&points).unwrap();
        assert!((obb.volume() - 3.0 * h).abs() < 1e-12);
    }
}

#[test]
fn shapes_have_boxes() {
    let egg = calc_obb(&Ellipsoid::new(1.0, 2.0, 3.0).unwrap().into())
        .unwrap()
        .unwrap();
    assert_eq!(
        (*egg.half_width(), *egg.center()),
        (Vector3::new(1.0, 2.0, 3.0), Vector3::zeros())
    );
    let obj = |text: &str| InMemoryMesh::new(MemoryFile::new(text, ".obj", "t"));
    // A right angle in the plane, turned by 45 degrees: half of a square.
    let triangle = obj("v 1 0 0\nv 0 1 0\nv -1 0 0\nf 1 2 3\n");
    for shape in [
        Shape::from(Mesh::new(triangle.clone())),
        Convex::new(triangle).into(),
    ] {
        let obb = calc_obb(&shape).unwrap().unwrap();
        let [thin, a, b] = sorted(obb.half_width());
        assert!(thin < 1e-14 && (a * b * 4.0 - 2.0).abs() < 1e-13);
    }
    let line = obj("v 1 1 0\nv 0 0 0\nv 3 3 0\nf 1 2 3\n");
    let obb = calc_obb(&Mesh::new(line.clone()).into()).unwrap().unwrap();
    // Boxes are larger by some rounding, so that they hold their points.
    assert!((obb.half_width().max() - 1.5 * 2f64.sqrt()).abs() < 1e-13);
    assert!(sorted(obb.half_width())[1] < 1e-13);
    let e = calc_obb(&Convex::new(line).into()).unwrap_err().to_string();
    assert!(e.starts_with("t: all vertices are on a line"), "{e}");
    assert!(
        Obb::from_points(&[])
            .unwrap_err()
            .to_string()
            .starts_with("Obb::from_points: ")
    );
}
