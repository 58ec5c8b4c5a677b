use super::convex_hull::*;
use nalgebra::Vector3;
use proptest::prelude::*;
use std::collections::BTreeMap;
use tarragon_framework::math;

fn extent(points: &[Vector3<f64>]) -> f64 {
    let low = points.iter().fold(points[0], |a, b| a.inf(b));
    let high = points.iter().fold(points[0], |a, b| a.sup(b));
    // Rounding is relative to the coordinates, not only to their differences.
    (high - low).norm().max(low.amax()).max(high.amax())
}

/// Returns twice the area vector of a face, and a point of it.
fn plane(hull: &ConvexHull, face: &[u32]) -> (Vector3<f64>, Vector3<f64>) {
    let p = |i: usize| hull.vertices[face[i] as usize];
    let n = face.len();
    let doubled = (1..n - 1).map(|i| (p(i) - p(0)).cross(&(p(i + 1) - p(0))));
    (doubled.sum(), p(0))
}

fn volume(hull: &ConvexHull) -> f64 {
    let sixfold = hull.faces.iter().map(|f| {
        let (n, p) = plane(hull, f);
        n.dot(&(p - hull.vertices[0]))
    });
    sixfold.sum::<f64>() / 6.0
}

fn area(hull: &ConvexHull) -> f64 {
    hull.faces
        .iter()
        .map(|f| plane(hull, f).0.norm() / 2.0)
        .sum()
}

/// Checks that a solid hull is valid.
fn check(points: &[Vector3<f64>], hull: &ConvexHull) {
    let tolerance = 1e-12 * extent(points);
    let mut edges: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    for face in &hull.faces {
        assert!(face.len() >= 3);
        let (normal, p) = plane(hull, face);
        let n = face.len();
        let edge =
            |i: usize| hull.vertices[face[(i + 1) % n] as usize] - hull.vertices[face[i] as usize];
        let longest = (0..n).map(|i| edge(i).norm()).fold(0.0, f64::max);
        // The plane of a narrow face is uncertain far from it: corners are accurate to 64 times the
        // rounding of 3e-15.
        let uncertain = 2e-13 * extent(points).powi(2) * longest / normal.norm();
        let tolerance = tolerance.max(uncertain);
        let normal = normal.normalize();
        for q in points {
            let above = normal.dot(&(q - p));
            assert!(above <= tolerance, "{q:?} is {above:e} above {face:?}");
        }
        for (i, &from) in face.iter().enumerate() {
            let [to, after] = [1, 2].map(|k| face[(i + k) % face.len()]);
            *edges.entry((from, to)).or_default() += 1;
            let [a, b, c] = [from, to, after].map(|v| hull.vertices[v as usize]);
            let off = normal.dot(&(b - p)).abs();
            assert!(
                off <= tolerance,
                "planar: {b:?} is {off:e} off {face:?}, tolerance {tolerance:e}"
            );
            let turn = normal.dot(&(b - a).cross(&(c - b)));
            assert!(turn > -tolerance * extent(points), "convex outline");
        }
    }
    for (&(a, b), n) in &edges {
        assert_eq!((*n, edges.get(&(b, a))), (1, Some(&1)), "closed surface");
    }
    let (v, e, f) = (hull.vertices.len(), edges.len() / 2, hull.faces.len());
    assert_eq!(v + f, e + 2, "Euler");
    let mut seen = vec![false; v];
    hull.faces
        .iter()
        .flatten()
        .for_each(|i| seen[*i as usize] = true);
    assert!(seen.iter().all(|s| *s));
}

fn hull_of(points: &[Vector3<f64>]) -> ConvexHull {
    convex_hull(points).unwrap()
}

fn turned(points: &[Vector3<f64>], rpy: [f64; 3], offset: f64) -> Vec<Vector3<f64>> {
    let r = math::rpy(rpy[0], rpy[1], rpy[2]);
    let p = Vector3::new(offset, -2.0 * offset, 0.5 * offset);
    points.iter().map(|q| r * q + p).collect()
}

fn grid(n: usize, size: f64) -> Vec<Vector3<f64>> {
    let all = 0..n * n * n;
    let index = all.map(|i| Vector3::new(i % n, i / n % n, i / (n * n)));
    index
        .map(|v| v.map(|i| i as f64 * size / (n - 1) as f64))
        .collect()
}

/// Returns n rings of m points each on the unit sphere, and the poles.
fn globe(n: usize, m: usize) -> Vec<Vector3<f64>> {
    use std::f64::consts::{PI, TAU};
    let mut points = vec![Vector3::z(), -Vector3::z()];
    for i in 1..=n {
        let theta = PI * i as f64 / (n + 1) as f64;
        for j in 0..m {
            let phi = TAU * j as f64 / m as f64;
            let (s, c) = phi.sin_cos();
            points.push(Vector3::new(theta.sin() * c, theta.sin() * s, theta.cos()));
        }
    }
    points
}

#[test]
fn boxes_have_eight_corners_in_every_pose() {
    let cube = grid(7, 0.3);
    for i in 0..200 {
        let angle = f64::from(i);
        let offset = [0.0, 1.0, 100.0][i as usize % 3];
        let points = turned(&cube, [0.7 * angle, 1.3 * angle, 0.01 * angle], offset);
        let hull = hull_of(&points);
        check(&points, &hull);
        assert_eq!((hull.vertices.len(), hull.faces.len()), (8, 6), "pose {i}");
        assert!((volume(&hull) - 0.027).abs() < 1e-12 * (1.0 + offset));
        assert!((area(&hull) - 0.54).abs() < 1e-12 * (1.0 + offset));
    }
}

#[test]
fn rings_of_a_globe_become_trapezoids() {
    // The faces between rings are trapezoids, those at the poles triangles.
    for (n, m) in [(5, 8), (20, 30)] {
        let points = globe(n, m);
        let hull = hull_of(&points);
        check(&points, &hull);
        assert_eq!(hull.vertices.len(), points.len());
        assert_eq!(hull.faces.len(), m * (n - 1) + 2 * m);
    }
}

#[test]
fn prisms_have_whole_caps() {
    // A regular n-gon of circumradius r has the area n/2 r^2 sin(2 pi / n).
    let n = 64;
    let mut points = Vec::new();
    for i in 0..n {
        let (s, c) = (std::f64::consts::TAU * f64::from(i) / f64::from(n)).sin_cos();
        points.extend([Vector3::new(c, s, -1.0), Vector3::new(c, s, 1.0)]);
    }
    for i in 0..50 {
        let points = turned(&points, [f64::from(i), 0.3, 2.0], 0.0);
        let hull = hull_of(&points);
        check(&points, &hull);
        assert_eq!((hull.vertices.len(), hull.faces.len()), (128, 66));
        let exact = f64::from(n) * (std::f64::consts::TAU / f64::from(n)).sin();
        assert!((volume(&hull) - exact).abs() < 1e-13);
    }
}

#[test]
fn flat_points_have_two_faces() {
    let square: Vec<_> = grid(5, 1.0).into_iter().filter(|p| p.z == 0.0).collect();
    for i in 0..100 {
        let points = turned(&square, [f64::from(i), 0.1 * f64::from(i), 1.0], 2.0);
        let hull = hull_of(&points);
        assert_eq!(hull.vertices.len(), 4);
        let [front, back] = &hull.faces[..] else {
            panic!("two faces")
        };
        let normals = [front, back].map(|f| plane(&hull, f).0);
        assert!((normals[0] + normals[1]).norm() < 1e-14);
        assert!((normals[0].norm() - 2.0).abs() < 1e-13, "area");
    }
}

#[test]
fn lines_and_points_have_no_faces() {
    for scale in [1.0, 1e-200, 1e200] {
        let line: Vec<_> = [3.0, 1.0, -2.0, 1.0, 2.0]
            .map(|s| Vector3::new(0.1, 0.7, -0.3) * s * scale)
            .to_vec();
        let hull = hull_of(&line);
        assert_eq!(hull.vertices, [line[0], line[2]]);
        assert!(hull.faces.is_empty());
        let hull = hull_of(&[line[1], line[3]]);
        assert_eq!(hull.vertices, [line[1]]);
    }
    assert_eq!(hull_of(&[Vector3::zeros(); 3]).vertices.len(), 1);
}

#[test]
fn hulls_are_found_at_any_scale() {
    for scale in [1e-300, 1e-20, 1e20, 1e300] {
        let hull = hull_of(&grid(3, scale));
        assert_eq!((hull.vertices.len(), hull.faces.len()), (8, 6));
    }
    // Very thin boxes.
    for thin in [1e-6, 1e-9, 1e-12] {
        let points: Vec<_> = grid(3, 1.0)
            .iter()
            .map(|p| p.component_mul(&Vector3::new(1.0, 1.0, thin)))
            .collect();
        let hull = hull_of(&points);
        assert_eq!((hull.vertices.len(), hull.faces.len()), (8, 6), "{thin}");
    }
}

#[test]
fn bad_points_are_refused() {
    let text = |points: &[Vector3<f64>]| convex_hull(points).unwrap_err().to_string();
    assert!(text(&[]).contains("number of points must be from 1 to 2147483648, got 0"));
    let bad = text(&[Vector3::zeros(), Vector3::new(0.0, f64::NAN, 0.0)]);
    assert!(
        bad.contains("coordinates of point 1 must be finite, got [0.0, NaN, 0.0]"),
        "{bad}"
    );
}

#[test]
fn hulls_of_many_points_are_valid() {
    // Pseudo-random points of a cube.
    let mut state = 1u64;
    let mut next = || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let points: Vec<_> = (0..100_000)
        .map(|_| Vector3::new(next(), next(), next()))
        .collect();
    let hull = hull_of(&points);
    check(&points, &hull);
    // Every point on a sphere is a vertex of the hull.
    let sphere: Vec<_> = points[..20_000]
        .iter()
        .map(|p| (p - Vector3::repeat(0.5)).normalize())
        .collect();
    assert_eq!(hull_of(&sphere).vertices.len(), 20_000);
    // Fans of many triangles take quadratic time if points are added in the wrong order.
    let ring = |i: i32| {
        let (s, c) = (std::f64::consts::TAU * f64::from(i / 2) / 15_000.0).sin_cos();
        Vector3::new(c, s, f64::from(i % 2))
    };
    let cylinder: Vec<_> = (0..30_000).map(ring).collect();
    let hull = hull_of(&cylinder);
    assert_eq!((hull.vertices.len(), hull.faces.len()), (30_000, 15_002));
}

fn coordinates() -> impl Strategy<Value = Vec<Vector3<f64>>> {
    let any = || -1.0..1.0f64;
    // Integer coordinates make many points coplanar, collinear or equal.
    let whole = || (-3..=3i32).prop_map(f64::from);
    let random = proptest::collection::vec([any(), any(), any()], 1..60);
    let degenerate = proptest::collection::vec([whole(), whole(), whole()], 1..60);
    prop_oneof![random, degenerate].prop_map(|all| all.into_iter().map(Vector3::from).collect())
}

proptest! {
    #[test]
    fn hulls_are_valid(points in coordinates(), rpy: [f64; 3], offset in 0.0..10.0f64) {
        let rpy = rpy.map(|x| if x.is_finite() { x % 7.0 } else { 0.0 });
        let plain = hull_of(&points);
        for points in [points.clone(), turned(&points, rpy, offset)] {
            let hull = hull_of(&points);
            if hull.faces.len() > 2 {
                check(&points, &hull);
            }
            // The counts do not depend on the pose.
            prop_assert_eq!(hull.vertices.len(), plain.vertices.len());
            prop_assert_eq!(hull.faces.len(), plain.faces.len());
        }
        // They do not depend on the order or on duplicates either.
        let mut shuffled: Vec<_> = points.iter().rev().copied().collect();
        shuffled.extend(&points);
        let hull = hull_of(&shuffled);
        prop_assert_eq!(hull.vertices.len(), plain.vertices.len());
        prop_assert_eq!(hull.faces.len(), plain.faces.len());
        prop_assert!((volume(&hull) - volume(&plain)).abs() < 1e-12 * 200.0);
    }

    /// Points close to the planes of a box, from within rounding to clearly apart.
    #[test]
    fn hulls_of_nearly_coplanar_points_are_valid(n in 2..7usize, exponent in -18..-6i32, rpy in proptest::array::uniform3(-3.0..3.0f64), noise in proptest::collection::vec(-1.0..1.0f64, 648)) {
        let mut points = turned(&grid(n, 1.0), rpy, 0.1);
        let size = 10f64.powi(exponent);
        for (p, n) in points.iter_mut().zip(noise.chunks(3)) {
            *p += Vector3::from_column_slice(n) * size;
        }
        let hull = hull_of(&points);
        check(&points, &hull);
        prop_assert!(hull.faces.len() >= 6);
        prop_assert!((volume(&hull) - 1.0).abs() < 20.0 * size + 1e-12);
    }

    /// The hull is idempotent: no vertex is in the hull of the others.
    #[test]
    fn the_hull_of_corners_has_the_same_corners(points in coordinates()) {
        let once = hull_of(&points);
        prop_assert_eq!(hull_of(&once.vertices), once);
    }
}
