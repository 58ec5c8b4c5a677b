use super::*;
use crate::mesh::source::{InMemoryMesh, MemoryFile};
use crate::shape::{Convex, Ellipsoid, Mesh};
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

/// Returns the corners of a box.
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

/// Returns the volume of a box, or the area or length of a degenerate one, up to a constant factor.
fn content(obb: &Obb, dimensions: usize) -> f64 {
    sorted(obb.half_width())[3 - dimensions..].iter().product()
}

proptest! {
    /// The box around the corners of a box is that box.
    #[test]
    fn the_corners_of_a_box_give_that_box(half in proptest::array::uniform3(0.01..1.0f64), rpy in proptest::array::uniform3(-3.0..3.0f64)) {
        let mut local = corners(half);
        // An interior point does not change the box.
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

    /// Every point is inside, and the box is no larger than the axis-aligned one.
    #[test]
    fn all_points_are_inside_a_box_no_larger_than_the_aligned_one(all in proptest::collection::vec(proptest::array::uniform3(-1.0..1.0f64), 1..40), flat in 0..4usize) {
        let points: Vec<_> = all.iter().map(|p| {
            let mut p = Vector3::from(*p);
            // Points in a plane, on a line, or all equal.
            (0..flat).for_each(|k| p[k] = 0.25);
            p
        }).collect();
        let obb = Obb::from_points(&points).unwrap();
        prop_assert!(points.iter().all(|p| obb.contains(p)));
        let aligned = Obb::along(&points, &Matrix3::identity());
        let dimensions = 3_usize.saturating_sub(flat.min(3));
        prop_assert!(content(&obb, dimensions) <= content(&aligned, dimensions) * (1.0 + 1e-12));
        let thickness = sorted(obb.half_width())[..3 - dimensions].iter().sum::<f64>();
        prop_assert!(thickness < 1e-14);
    }
}

#[test]
fn a_triangular_prism_is_boxed_tightly() {
    // An equilateral triangle with edge 1, extruded by 3: the smallest rectangle around the
    // triangle is flush with an edge and has the area sqrt(3) / 2.
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
fn shapes_including_flat_meshes_have_boxes() {
    let egg = calc_obb(&Ellipsoid::new(1.0, 2.0, 3.0).unwrap().into())
        .unwrap()
        .unwrap();
    assert_eq!(
        (*egg.half_width(), *egg.center()),
        (Vector3::new(1.0, 2.0, 3.0), Vector3::zeros())
    );
    let obj = |text: &str| InMemoryMesh::new(MemoryFile::new(text, ".obj", "t"));
    // A right-angled isosceles triangle turned by 45 degrees: half of a square.
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
    // Boxes are enlarged by the rounding error, so that they contain their points.
    assert!((obb.half_width().max() - 1.5 * 2f64.sqrt()).abs() < 1e-13);
    assert!(sorted(obb.half_width())[1] < 1e-13);
    let e = calc_obb(&Convex::new(line).into()).unwrap_err().to_string();
    assert!(
        e.starts_with("t: vertices must span a plane, got points on a line"),
        "{e}"
    );
    assert!(
        Obb::from_points(&[])
            .unwrap_err()
            .to_string()
            .starts_with("Obb::from_points: ")
    );
}

/// A triangle that is a line up to rounding has the normal 0 / 0.
#[test]
fn boxes_of_needles_are_finite() {
    let points = [
        [-0.0886222238596467, -0.4600568593509107, 0.0],
        [0.1623784539169717, -0.83240240061805, 0.0],
        [-0.7238597724533723, 0.47960908565998206, 0.0],
    ];
    let obb = Obb::from_points(&placed(&pose([0.0, -2.3439351596885243, 0.0]), &points)).unwrap();
    assert!(obb.half_width().iter().all(|h| h.is_finite()), "{obb:?}");
}

proptest! {
    /// A flat box has a side along an edge of the hull, so no direction through two points gives a
    /// smaller one.
    #[test]
    fn flat_boxes_have_the_smallest_area(
        all in proptest::collection::vec(proptest::array::uniform2(-1.0..1.0f64), 3..8),
        rpy in proptest::array::uniform3(-3.0..3.0f64),
    ) {
        let local: Vec<_> = all.iter().map(|[x, y]| [*x, *y, 0.0]).collect();
        let obb = Obb::from_points(&placed(&pose(rpy), &local)).unwrap();
        let width = |x: f64, y: f64| {
            let along = all.iter().map(|p| p[0] * x + p[1] * y);
            let (low, high) = along.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), s| (l.min(s), h.max(s)));
            high - low
        };
        let mut least = f64::INFINITY;
        for (a, b) in all.iter().flat_map(|a| all.iter().map(move |b| (a, b))) {
            let (x, y) = (b[0] - a[0], b[1] - a[1]);
            if a != b {
                least = least.min(width(x, y) * width(-y, x) / (x * x + y * y));
            }
        }
        let [thickness, short, long] = sorted(obb.half_width());
        prop_assert!(4.0 * short * long <= least + 1e-12, "{} {least}", 4.0 * short * long);
        // The plane of points near a line is known up to rounding divided by their distance from
        // the line.
        prop_assert!(thickness * short < 1e-13 * long * long, "{thickness:e} {short:e}");
    }
}
