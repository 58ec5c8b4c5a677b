//! Depths, normals and points of bodies in height fields, in closed form and as found by MuJoCo.

use crate::proximity::{Body, PairDistance, contact_manifold, signed_distance};
use crate::shape::{BoxShape, Capsule, Cylinder, Ellipsoid, HeightField, Shape, Sphere};
use nalgebra::{Isometry3, Vector3};
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_2, PI, SQRT_2};
use tarragon_framework::{AutoDiff, Scalar, math};

/// Returns a square field 4 m wide with the height of a function, in `cells` cells along each side.
fn field(cells: usize, height: impl Fn(f64, f64) -> f64) -> Shape {
    let at = |i: usize| 4.0 * i as f64 / cells as f64 - 2.0;
    let points = (0..=cells).flat_map(|r| (0..=cells).map(move |c| (at(c), at(r))));
    let heights = points.map(|(x, y)| height(x, y)).collect();
    let field = HeightField::new(cells + 1, cells + 1, heights, [4.0, 4.0], 1.0);
    field.unwrap().into()
}

fn distance(field: &Shape, body: &Shape, x: &Isometry3<f64>) -> PairDistance<f64> {
    signed_distance(body, x, field, &Isometry3::identity()).unwrap()
}

fn pose(rpy: [f64; 3], p: [f64; 3]) -> Isometry3<f64> {
    math::pose(math::rpy(rpy[0], rpy[1], rpy[2]), p.into())
}

const UPRIGHT: [f64; 3] = [0.0; 3];
const ALONG_X: [f64; 3] = [0.0, FRAC_PI_2, 0.0];
const ALONG_Y: [f64; 3] = [FRAC_PI_2, 0.0, 0.0];

fn ball() -> Shape {
    Sphere::new(0.1).unwrap().into()
}
/// Half sizes 0.1, 0.12 and 0.05 m.
fn cuboid() -> Shape {
    BoxShape::new(0.2, 0.24, 0.1).unwrap().into()
}
/// Radius 0.06 m, half length 0.1 m.
fn capsule() -> Shape {
    Capsule::new(0.06, 0.2).unwrap().into()
}
/// Radius 0.08 m, half length 0.09 m.
fn cylinder() -> Shape {
    Cylinder::new(0.08, 0.18).unwrap().into()
}
/// Semi-axes 0.1, 0.12 and 0.07 m.
fn ellipsoid() -> Shape {
    Ellipsoid::new(0.1, 0.12, 0.07).unwrap().into()
}

/// Checks a distance, and the normal up to the sides of a symmetric place.
#[track_caller]
fn check(name: &str, found: &PairDistance<f64>, expected: f64, normal: [f64; 3]) {
    let off = found.distance - expected;
    assert!(off.abs() < 1e-12, "{name}: {} {expected}", found.distance);
    let sides = found.nhat_ba_w.abs() - Vector3::from(normal).abs();
    assert!(sides.amax() < 1e-9, "{name}: {}", found.nhat_ba_w);
    assert!(found.nhat_ba_w.z > 0.0, "{name}: {}", found.nhat_ba_w);
}

/// The depth in a slope is how far the support point is below its plane, whatever the cells.
#[test]
fn bodies_in_a_slope_are_as_deep_as_in_its_plane() {
    let (sx, sy) = (0.75, -0.5);
    let n = Vector3::new(-sx, -sy, 1.0).normalize();
    let turned = [0.4, -0.3, 0.7];
    for cells in [4, 7, 100] {
        let slope = field(cells, |x, y| sx * x + sy * y);
        for (name, body) in [
            ("ball", ball()),
            ("box", cuboid()),
            ("capsule", capsule()),
            ("cylinder", cylinder()),
            ("ellipsoid", ellipsoid()),
        ] {
            let mut x = pose(turned, [0.13, -0.21, 0.0]);
            let d = x.rotation.inverse() * -n;
            let lowest = match name {
                "ball" => 0.1,
                "box" => d.abs().dot(&Vector3::new(0.1, 0.12, 0.05)),
                "capsule" => 0.06 + 0.1 * d.z.abs(),
                "cylinder" => 0.08 * d.xy().norm() + 0.09 * d.z.abs(),
                _ => d.component_mul(&Vector3::new(0.1, 0.12, 0.07)).norm(),
            };
            for depth in [1e-4, 0.01, 0.08] {
                let height = sx * 0.13 - sy * 0.21;
                x.translation.z = height + (lowest - depth) / n.z;
                let found = distance(&slope, &body, &x);
                let name = format!("{name}, {cells} cells");
                check(&name, &found, -depth, [n.x, n.y, n.z]);
            }
        }
    }
}

/// In a valley z = |x|, the sides that rise to the bodies decide.
#[test]
fn bodies_in_a_valley_have_the_depth_of_its_sides() {
    let h = 0.1;
    let of = |a: f64, c: f64| 0.5_f64.sqrt() * (h - a - c);
    let cases = [
        ("ball", ball(), UPRIGHT, of(0.0, 0.0) - 0.1),
        ("box", cuboid(), UPRIGHT, of(0.1, 0.05)),
        ("capsule along it", capsule(), ALONG_Y, of(0.0, 0.0) - 0.06),
        ("capsule across", capsule(), ALONG_X, of(0.1, 0.0) - 0.06),
        ("cylinder", cylinder(), UPRIGHT, of(0.08, 0.09)),
        (
            "cylinder along it",
            cylinder(),
            ALONG_Y,
            of(0.0, 0.0) - 0.08,
        ),
        ("cylinder across", cylinder(), ALONG_X, of(0.09, 0.08)),
        (
            "ellipsoid",
            ellipsoid(),
            UPRIGHT,
            FRAC_1_SQRT_2 * (h - 0.1_f64.hypot(0.07)),
        ),
    ];
    for cells in [4, 80] {
        let valley = field(cells, |x, _| x.abs());
        for (name, body, turned, expected) in &cases {
            let found = distance(&valley, body, &pose(*turned, [0.0, 0.03, h]));
            let name = format!("{name}, {cells} cells");
            check(
                &name,
                &found,
                *expected,
                [FRAC_1_SQRT_2, 0.0, FRAC_1_SQRT_2],
            );
        }
    }
}

/// Over a ridge z = -|x|, the points of the ridge in a body decide.
#[test]
fn bodies_on_a_ridge_have_the_depth_of_its_points() {
    let ridge = field(80, |x, _| -x.abs());
    let depth = 0.01;
    for (name, body, turned, half) in [
        ("ball", ball(), UPRIGHT, 0.1),
        ("box", cuboid(), UPRIGHT, 0.05),
        ("capsule along it", capsule(), ALONG_Y, 0.06),
        ("capsule across", capsule(), ALONG_X, 0.06),
        ("cylinder", cylinder(), UPRIGHT, 0.09),
        ("cylinder along it", cylinder(), ALONG_Y, 0.08),
        ("cylinder across", cylinder(), ALONG_X, 0.08),
        ("ellipsoid", ellipsoid(), UPRIGHT, 0.07),
    ] {
        let found = distance(&ridge, &body, &pose(turned, [0.0, 0.0, half - depth]));
        check(name, &found, -depth, [0.0, 0.0, 1.0]);
    }
}

/// In the pit, the planes z = x - y and z = y - x are nearest to its axis.
#[test]
fn bodies_in_a_pit_have_the_depth_of_its_steepest_sides() {
    let pit = vec![1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0];
    let pit: Shape = HeightField::new(3, 3, pit, [2.0, 2.0], 0.1).unwrap().into();
    let h = 0.11;
    let third = 1.0 / 3.0_f64.sqrt();
    for (name, body, expected) in [
        ("ball", ball(), h * third - 0.1),
        ("box", cuboid(), (h - 0.05 - 0.1 - 0.12) * third),
        ("capsule", capsule(), (h - 0.1) * third - 0.06),
        ("cylinder", cylinder(), (h - 0.09 - SQRT_2 * 0.08) * third),
        (
            "ellipsoid",
            ellipsoid(),
            (h - Vector3::new(0.1, 0.12, 0.07).norm()) * third,
        ),
    ] {
        let found = distance(&pit, &body, &pose(UPRIGHT, [0.0, 0.0, h]));
        check(name, &found, expected, [third; 3]);
    }
}

/// Terrain of 9 x 9 points on 2 m x 2 m, up to 0.3 m high.
fn terrain() -> Shape {
    let height = |k: usize| (k * 38 + (k / 9) * (k / 9) * 7) % 65;
    let heights = (0..81).map(|k| 0.3 * height(k) as f64 / 64.0).collect();
    HeightField::new(9, 9, heights, [2.0, 2.0], 0.2)
        .unwrap()
        .into()
}

/// Whether the body is a ball (otherwise it is the capsule), its position, its quaternion, the
/// signed distance (m) and the normal.
type RecordedDepth = (bool, [f64; 3], [f64; 4], f64, [f64; 3]);

/// Poses (position and quaternion w, x, y, z), the least `dist` of MuJoCo 3.3.7's contacts, and
/// their normal. The height field has `size="1 1 .3 .2"` and the heights of [`terrain`] as its
/// elevation, the ball `size=".08"`, the capsule `size=".05 .12"`.
const MUJOCO: [RecordedDepth; 16] = [
    (
        true,
        [-0.568, -0.094, 0.292],
        [0.61, -0.76, 0.12, -0.17],
        -0.0341738,
        [-0.58021, -0.01527, 0.81433],
    ),
    (
        true,
        [-0.557, 0.49, 0.258],
        [-0.38, -0.92, 0.02, -0.05],
        -0.0009441,
        [-0.31426, 0.28025, 0.90703],
    ),
    (
        true,
        [-0.359, -0.494, 0.212],
        [0.36, -0.52, -0.69, 0.36],
        -0.0219675,
        [-0.53647, 0.38117, 0.75293],
    ),
    (
        true,
        [-0.626, 0.124, 0.17],
        [0.09, -0.95, -0.29, 0.07],
        -0.0216853,
        [-0.46121, 0.60685, 0.64731],
    ),
    (
        true,
        [0.285, -0.268, 0.249],
        [-0.9, 0.37, -0.21, 0.06],
        -0.0311079,
        [0.44135, 0.2125, 0.87181],
    ),
    (
        true,
        [0.087, 0.233, 0.23],
        [0.21, -0.01, 0.9, -0.37],
        -0.0246927,
        [-0.56563, -0.22327, 0.79386],
    ),
    (
        true,
        [0.552, -0.138, 0.208],
        [-0.01, 0.81, -0.05, -0.59],
        -0.0073927,
        [-0.58021, -0.01527, 0.81433],
    ),
    (
        true,
        [0.3, -0.143, 0.237],
        [0.44, -0.38, -0.3, -0.75],
        -0.0317785,
        [0.45161, -0.01673, 0.89206],
    ),
    (
        false,
        [0.215, 0.457, 0.285],
        [0.74, -0.21, -0.63, -0.12],
        -0.0204244,
        [-0.5085, 0.48174, 0.71369],
    ),
    (
        false,
        [-0.126, 0.234, 0.221],
        [0.76, -0.17, -0.44, -0.45],
        -0.0109452,
        [0.43809, -0.24338, 0.86536],
    ),
    (
        false,
        [0.033, -0.596, 0.248],
        [-0.57, 0.33, -0.52, 0.54],
        -0.0208779,
        [-0.23576, 0.03546, 0.97116],
    ),
    (
        false,
        [-0.321, -0.492, 0.345],
        [-0.06, 0.32, -0.94, -0.03],
        -0.0038891,
        [-0.56917, 0.19472, 0.79883],
    ),
    (
        false,
        [-0.354, -0.291, 0.269],
        [0.2, 0.79, 0.04, -0.57],
        -0.0106186,
        [0.34078, -0.65631, 0.67314],
    ),
    (
        false,
        [0.698, -0.509, 0.236],
        [0.21, -0.5, -0.84, 0.04],
        -0.0130958,
        [0.34078, -0.65631, 0.67314],
    ),
    (
        false,
        [-0.553, -0.021, 0.395],
        [0.1, 0.73, -0.51, 0.45],
        -0.0064178,
        [0.3037, -0.01786, 0.9526],
    ),
    (
        false,
        [0.096, -0.449, 0.235],
        [-0.28, 0.58, 0.77, -0.06],
        -0.0192525,
        [-0.56917, 0.19472, 0.79883],
    ),
];

/// Where the centre of a ball and the axis of a capsule are above the surface, the depth below a
/// prism of MuJoCo is that below the surface. Its search ends at a tolerance of 1e-6.
#[test]
fn balls_and_capsules_are_as_deep_as_in_mujoco() {
    let terrain = terrain();
    let ball: Shape = Sphere::new(0.08).unwrap().into();
    let capsule: Shape = Capsule::new(0.05, 0.24).unwrap().into();
    for (is_ball, p, q, expected, normal) in MUJOCO {
        let body = if is_ball { &ball } else { &capsule };
        let q = nalgebra::Quaternion::new(q[0], q[1], q[2], q[3]);
        let x = math::pose(nalgebra::UnitQuaternion::new_normalize(q), p.into());
        let found = distance(&terrain, body, &x);
        assert!((found.distance - expected).abs() < 2e-6, "{p:?} {found:?}");
        let off = found.nhat_ba_w - Vector3::from(normal);
        assert!(off.norm() < 1e-3, "{p:?} {found:?}");
    }
}

/// Returns the points of a body on a field.
fn points<T: Scalar>(
    field: &Shape,
    body: &Shape,
    x: &Isometry3<T>,
) -> Vec<(T, Vector3<T>, Vector3<T>)> {
    let o = Isometry3::identity();
    let found = signed_distance(body, x, field, &o).unwrap();
    let all = contact_manifold(Body::of(body), x, Body::of(field), &o, &found, 0.0);
    let parts = all.iter().map(|p| (p.depth, p.p_wcb, p.nhat_ba_w));
    parts.collect()
}

/// Pyramids at three points of a flat field.
fn hills(heights: [f64; 3]) -> Shape {
    let places = [(-0.3, -0.2), (0.3, -0.2), (0.0, 0.4)];
    field(40, move |x, y| {
        let is_at = |p: &(f64, f64)| (p.0 - x).abs().max((p.1 - y).abs()) < 1e-9;
        places.iter().position(is_at).map_or(0.0, |i| heights[i])
    })
}

#[test]
fn flat_face_has_a_point_on_each_of_several_hills() {
    let heights = [0.01, 0.012, 0.02];
    let places = [(-0.3, -0.2), (0.3, -0.2), (0.0, 0.4)];
    for (turned, body, half) in [
        (UPRIGHT, BoxShape::new(1.0, 1.2, 0.1).unwrap().into(), 0.05),
        // Another face is lowest.
        (
            [PI, 0.0, 0.3],
            BoxShape::new(1.2, 1.4, 0.1).unwrap().into(),
            0.05,
        ),
        (ALONG_Y, BoxShape::new(1.2, 0.1, 1.4).unwrap().into(), 0.05),
        (UPRIGHT, Shape::from(Cylinder::new(0.6, 0.2).unwrap()), 0.1),
    ] {
        let x = pose(turned, [0.0, 0.02, half + 0.002]);
        let found = points(&hills(heights), &body, &x);
        assert_eq!(found.len(), 3, "{body:?} {found:?}");
        for (p, height) in places.iter().zip(heights) {
            let p = Vector3::new(p.0, p.1, height);
            let here = found.iter().find(|q| (q.1 - p).norm() < 1e-9);
            let (depth, _, normal) = here.expect("a point on every hill");
            assert!((depth - (height - 0.002)).abs() < 1e-12, "{found:?}");
            assert!((normal - Vector3::z()).norm() < 1e-12, "{found:?}");
        }
    }
}

#[test]
fn face_on_a_ridge_has_points_at_both_of_its_ends() {
    let ridge = field(80, |x, _| -x.abs());
    for length in [0.24, 1.24] {
        let body = BoxShape::new(0.2, length, 0.1).unwrap().into();
        let found = points(&ridge, &body, &pose(UPRIGHT, [0.0, 0.0, 0.04]));
        assert!(found.len() <= 8, "{found:?}");
        let ends = found
            .iter()
            .fold((0.0_f64, 0.0_f64), |(low, high), (depth, p, _)| {
                assert!(
                    (depth - 0.01).abs() < 1e-12 && p.x.abs() < 1e-12,
                    "{found:?}"
                );
                (low.min(p.y), high.max(p.y))
            });
        let end = 0.5 * length - 0.02;
        assert!(
            (ends.0 + end).abs() < 1e-9 && (ends.1 - end).abs() < 1e-9,
            "{ends:?}"
        );
    }
}

#[test]
fn points_on_hills_have_derivatives() {
    let (field, body) = (
        hills([0.04, 0.042, 0.05]),
        BoxShape::new(1.0, 1.2, 0.1).unwrap().into(),
    );
    let at = |turn: f64| pose([turn, 0.01, 0.0], [0.0, 0.02, 0.065]);
    let turn = AutoDiff::variable(0.01, 0);
    let x = math::pose(
        math::rpy(turn, AutoDiff::from(0.01), AutoDiff::from(0.0)),
        Vector3::new(0.0, 0.02, 0.065).map(AutoDiff::from),
    );
    let (h, with) = (1e-6, points(&field, &body, &x));
    let (ahead, behind) = (
        points(&field, &body, &at(0.01 + h)),
        points(&field, &body, &at(0.01 - h)),
    );
    assert_eq!((with.len(), ahead.len(), behind.len()), (3, 3, 3));
    for ((with, ahead), behind) in with.iter().zip(&ahead).zip(&behind) {
        let expected = (ahead.0 - behind.0) / (2.0 * h);
        assert!(
            (with.0.eps[0] - expected).abs() < 1e-8,
            "{} {expected}",
            with.0.eps[0]
        );
        let normal = (ahead.2 - behind.2) / (2.0 * h);
        assert!(
            (with.2.map(|x| x.eps[0]) - normal).norm() < 1e-8,
            "{normal}"
        );
    }
}
