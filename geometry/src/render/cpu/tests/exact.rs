//! Comparison of depths with closed forms and ray casts.

use super::*;

/// Returns a measure of how far outside a shape a point is: zero on its surface and smooth across
/// it, but not a distance.
fn outside(shape: &Shape, x: &Vector3<f64>) -> f64 {
    let rho = x.x.hypot(x.y);
    match shape {
        Shape::Sphere(s) => x.norm() - s.radius(),
        Shape::Box(s) => (x.abs() - s.half_size()).max(),
        Shape::Cylinder(s) => (rho - s.radius()).max(x.z.abs() - s.length() / 2.0),
        Shape::Capsule(s) => {
            let h = s.length() / 2.0;
            (x - Vector3::z() * x.z.clamp(-h, h)).norm() - s.radius()
        }
        Shape::Ellipsoid(s) => (x.component_div(&s.semi_axes()).norm() - 1.0) * s.semi_axes().min(),
        _ => x.z,
    }
}

/// Returns the zero of `f` near `z` by bisection; `None` if there is none within a thousandth of
/// `z`.
fn crossing(f: impl Fn(f64) -> f64, z: f64) -> Option<f64> {
    let (mut low, mut high) = (z * 0.999, z * 1.001);
    let rising = f(high) > 0.0;
    if (f(low) > 0.0) == rising {
        return None;
    }
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if (f(middle) > 0.0) == rising {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(low)
}

/// Checks every pixel of a depth image of one shape and returns the number of pixels that show it.
fn check_depths(s: &Fixture, shape: &Shape, x_wg: &Isometry3<f64>) -> usize {
    let image = s.depth();
    let x_gc = x_wg.inverse() * s.x_wc;
    let (near, far) = (s.core.clipping().near(), s.core.clipping().far());
    let mut seen = 0;
    for (u, v) in s.pixels() {
        let d = s.ray(u, v);
        let f = |z: f64| outside(shape, &(x_gc * Point3::from(d * z)).coords);
        let start_inside = f(near) < 0.0;
        let z = f64::from(image.at(u, v)[0]);
        let last = if z.is_finite() { z * 0.999 } else { far };
        // The depth is that of the first surface: the sign does not change before it. This check
        // can only miss chords shorter than a step, at silhouettes.
        for k in 1..200 {
            let at = near + (last - near) * f64::from(k) / 200.0;
            let changed = (f(at) < 0.0) != start_inside && f(at).abs() > 1e-6;
            assert!(
                !changed,
                "{shape:?} at ({u}, {v}): depth {z} is behind {at}"
            );
        }
        if z.is_finite() {
            seen += 1;
            if let Some(exact) = crossing(f, z) {
                let error = (z / exact - 1.0).abs();
                assert!(error < 1e-6, "{shape:?} at ({u}, {v}): {z}, not {exact}");
            } else {
                // A silhouette, where the ray only touches the shape.
                let most = f(z).abs();
                assert!(most < 2e-3, "{shape:?} at ({u}, {v}): {z} is off by {most}");
            }
        }
    }
    seen
}

#[test]
fn depths_of_shapes_are_exact() {
    let mut random = Random(1);
    for kind in 0..6 {
        let mut seen = 0;
        for _ in 0..25 {
            let mut s = Fixture::new(97, 61, 0.1, 20.0);
            let shape = random.shape(kind);
            let p = Vector3::new(
                random.next(-0.5, 0.5),
                random.next(-0.3, 0.3),
                random.next(0.8, 4.0),
            );
            let x_wg = random.pose(p);
            s.x_wc = random.pose(Vector3::zeros());
            let x_wg = s.x_wc * x_wg;
            s.add(shape.clone(), x_wg, 1);
            seen += check_depths(&s, &shape, &x_wg);
        }
        assert!(seen > 3000, "kind {kind}: only {seen} pixels were compared");
    }
}

#[test]
fn shapes_around_or_across_the_camera_show_their_inside() {
    let mut random = Random(2);
    for kind in 0..5 {
        let mut seen = 0;
        for _ in 0..30 {
            let mut s = Fixture::new(33, 23, 0.05, 20.0);
            let shape = random.shape(kind);
            let p = random.vector(0.25) + Vector3::z() * 0.1;
            let x_wg = random.pose(p);
            s.add(shape.clone(), x_wg, 1);
            seen += check_depths(&s, &shape, &x_wg);
        }
        assert!(seen > 2000, "kind {kind}: only {seen} pixels were compared");
    }
}

/// Returns the nearest hit of a ray by brute force over all triangles (Möller & Trumbore, 1997):
/// its depth, and its distance from the nearest edge in barycentric coordinates.
fn cast(
    m: &mesh::RenderMesh,
    x_cg: &Isometry3<f64>,
    d: &Vector3<f64>,
    near: f64,
) -> Option<(f64, f64)> {
    let mut best: Option<(f64, f64)> = None;
    for t in &m.triangles {
        let [a, b, c] = t.map(|v| (x_cg * m.positions[v as usize]).coords);
        let (e1, e2) = (b - a, c - a);
        let n = d.cross(&e2);
        let det = e1.dot(&n);
        if det == 0.0 {
            continue;
        }
        let u = -a.dot(&n) / det;
        let q = (-a).cross(&e1);
        let v = d.dot(&q) / det;
        let z = e2.dot(&q) / det;
        let inner = u.min(v).min(1.0 - u - v);
        if inner >= 0.0 && z >= near && best.is_none_or(|b| z < b.0) {
            best = Some((z, inner));
        }
    }
    best
}

#[test]
fn meshes_match_ray_casts() {
    let path = obj("lumpy", &lumpy(40));
    let m = mesh::read(&path).unwrap();
    let mut random = Random(3);
    for distance in [2.0, 1.2, 0.55, 0.3, 0.0] {
        let mut s = Fixture::new(90, 70, 0.1, 20.0);
        let x_wg = random.pose(Vector3::new(0.02, 0.03, distance));
        s.add(Mesh::new(&path), x_wg, 1);
        let image = s.depth();
        let (mut same, mut different, mut worst) = (0, 0, 0.0_f64);
        for (u, v) in s.pixels() {
            let z = f64::from(image.at(u, v)[0]);
            match cast(&m, &x_wg, &s.ray(u, v), 0.1) {
                Some((exact, _)) if z.is_finite() && (z / exact - 1.0).abs() < 1e-2 => {
                    same += 1;
                    worst = worst.max((z / exact - 1.0).abs());
                }
                None if z.is_infinite() => same += 1,
                _ => different += 1,
            }
        }
        // Snapping moves corners by up to 1/512 pixel. That can matter only at silhouettes, and on
        // steep faces, where it shifts the clamped depth.
        assert!(
            different <= 3,
            "at {distance} m {different} of {same} pixels differ"
        );
        assert!(
            worst < 1e-4,
            "at {distance} m the worst depth is off by {worst}"
        );
    }
    std::fs::remove_file(path).unwrap();
}

#[test]
fn neighbouring_triangles_leave_no_gap_and_do_not_overlap() {
    // A jittered grid over the whole image; every triangle is a separate geometry.
    let mut random = Random(4);
    let n = 8;
    let jitter = |i: usize| if i.is_multiple_of(n) { 0.0 } else { 0.3 };
    let points: Vec<Vector3<f64>> = (0..=n)
        .flat_map(|j| (0..=n).map(move |i| (i, j)))
        .map(|(i, j)| {
            let x = i as f64 + jitter(i) * random.next(-1.0, 1.0);
            let y = j as f64 + jitter(j) * random.next(-1.0, 1.0);
            Vector3::new((x / n as f64 - 0.5) * 3.0, (y / n as f64 - 0.5) * 3.0, 2.0)
        })
        .collect();
    let mut s = Fixture::new(64, 48, 0.1, 20.0);
    let mut covered = vec![0; 64 * 48];
    for j in 0..n {
        for i in 0..n {
            let k = j * (n + 1) + i;
            for t in [[k, k + 1, k + n + 1], [k + n + 1, k + 1, k + n + 2]] {
                let text: String = t
                    .map(|k| format!("v {} {} {}\n", points[k].x, points[k].y, points[k].z))
                    .concat();
                let path = obj("cell", &(text + "f 1 2 3\n"));
                let id = s.add(Mesh::new(&path), Isometry3::identity(), 1);
                for (count, label) in covered.iter_mut().zip(s.label().data()) {
                    *count += usize::from(*label == 1);
                }
                s.engine.remove_visual(id);
                std::fs::remove_file(path).unwrap();
            }
        }
    }
    assert!(covered.iter().all(|n| *n == 1), "{covered:?}");
}

#[test]
fn hulls_match_ray_casts_of_proximity_queries() {
    let path = obj("hull", &lumpy(10));
    let hull: Shape = crate::shape::Convex::new(&path).into();
    let mut random = Random(21);
    for _ in 0..4 {
        let mut s = Fixture::new(80, 60, 0.1, 20.0);
        let p = Vector3::new(
            random.next(-0.2, 0.2),
            random.next(-0.2, 0.2),
            random.next(1.0, 3.0),
        );
        let x_wg = random.pose(p);
        s.add(hull.clone(), x_wg, 1);
        let image = s.depth();
        let (mut seen, mut different) = (0, 0);
        for (u, v) in s.pixels() {
            let ray = crate::Ray::new(Vector3::zeros(), s.ray(u, v));
            let hit = crate::cast_ray(&hull, &x_wg, &ray, 20.0).unwrap();
            let z = f64::from(image.at(u, v)[0]);
            match hit {
                Some(hit) if z.is_finite() => {
                    seen += 1;
                    let error = (z / hit.p_wc.z - 1.0).abs();
                    // Vertices have single precision, which matters on faces seen at grazing
                    // angles.
                    assert!(
                        error < 1e-5 / s.ray(u, v).normalize().dot(&hit.nhat_w).abs(),
                        "{error}"
                    );
                }
                None if z.is_infinite() => {}
                _ => different += 1,
            }
        }
        // Snapping moves corners by up to 1/512 pixel, which matters at silhouettes.
        assert!(seen > 300 && different <= 2, "{seen} {different}");
    }
    std::fs::remove_file(path).unwrap();
}
