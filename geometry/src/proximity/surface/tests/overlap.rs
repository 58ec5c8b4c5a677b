//! Tests of overlapping pairs.

use super::*;
use crate::proximity::distance_to_point;
use crate::proximity::surface::depth::TOLERANCE;

/// Returns points of a shape without its margin, many of them on its boundary.
fn points_of(random: &mut Random, shape: &Shape) -> Vec<Vector3<f64>> {
    let o = Isometry3::<f64>::identity();
    let core = match shape {
        Shape::Sphere(_) => return vec![Vector3::zeros()],
        Shape::Capsule(c) => {
            let half = 0.5 * c.length();
            return (0..200)
                .map(|_| Vector3::z() * (half * random.number()))
                .collect();
        }
        other => other,
    };
    let mut points = vec![];
    while points.len() < 200 {
        let p = random.vector() * 0.15;
        let d = distance_to_point(core, &o, &p).unwrap();
        points.push(if d.distance <= 0.0 { p } else { d.p_gn });
    }
    points
}

fn radius(shape: &Shape) -> f64 {
    match shape {
        Shape::Sphere(s) => s.radius(),
        Shape::Capsule(c) => c.radius(),
        _ => 0.0,
    }
}

/// No point of the body and no vertex of the mesh is deeper than reported.
#[test]
fn no_point_is_deeper_than_reported() {
    let mut random = Random::new(21);
    for kind in 0..4 {
        let m = mesh(&solid(kind));
        let as_shape: Shape = m.clone().into();
        for other in 0..BODIES {
            let mut overlapping = 0;
            for _ in 0..15 {
                let b = body(&mut random, other);
                let (x_wa, x_wb) = (random.pose(0.05), random.pose(0.1));
                let d = true_distance(&m, &x_wa, &b, &x_wb);
                check(&d);
                if d.distance >= 0.0 {
                    continue;
                }
                overlapping += 1;
                let core_depth = radius(&b) + d.distance;
                let limit = d.distance - TOLERANCE * core_depth.abs() - 1e-9;
                let at =
                    |p: &Vector3<f64>| distance_to_point(&as_shape, &x_wa, p).unwrap().distance;
                for p in points_of(&mut random, &b) {
                    let p = (x_wb * nalgebra::Point3::from(p)).coords;
                    assert!(
                        at(&p) - radius(&b) >= limit,
                        "{kind} {other} {d:?} {}",
                        at(&p)
                    );
                }
                for v in surface(&m).triangles().flat_map(|t| t.corners) {
                    let v = (x_wa * nalgebra::Point3::from(v)).coords;
                    let depth = distance_to_point(&b, &x_wb, &v).unwrap().distance;
                    assert!(depth >= d.distance - 1e-12, "{kind} {other} {d:?} {depth}");
                }
            }
            assert!(overlapping >= 5, "{kind} {other}: {overlapping}");
        }
    }
}

/// No point on an edge of either mesh is deeper in the other than reported.
#[test]
fn no_edge_is_deeper_than_reported() {
    let mut random = Random::new(22);
    for (kind, other) in (0..16).map(|k| (k / 4, k % 4)) {
        let (m, n) = (mesh(&solid(kind)), mesh(&solid(other)));
        for _ in 0..6 {
            let (x_wa, x_wb) = (random.pose(0.05), random.pose(0.12));
            let d = true_distance(&m, &x_wa, &n.clone().into(), &x_wb);
            check(&d);
            for (of, x_of, solid, x) in [(&m, &x_wa, &n, &x_wb), (&n, &x_wb, &m, &x_wa)] {
                let solid: Shape = solid.clone().into();
                for t in &surface(of).triangles().collect::<Vec<_>>() {
                    for k in 0..3 {
                        let s = 0.5 + 0.5 * random.number();
                        let p = t.corners[k] * s + t.corners[(k + 1) % 3] * (1.0 - s);
                        let p = (x_of * nalgebra::Point3::from(p)).coords;
                        let depth = distance_to_point(&solid, x, &p).unwrap().distance;
                        let limit = d.distance - TOLERANCE * d.distance.abs() - 1e-9;
                        assert!(depth >= limit, "{kind} {other} {d:?} {depth}");
                    }
                }
            }
        }
    }
}

/// The depth of a body that has sunk into a face is exactly that in the hull.
#[test]
fn depth_in_a_face_of_a_convex_mesh_matches_the_hull() {
    let mut random = Random::new(23);
    let m = mesh(&block(Vector3::new(0.4, 0.3, 0.2)));
    for other in 0..BODIES + 1 {
        for k in 0..30 {
            let b = match other {
                0..BODIES => body(&mut random, other),
                _ => mesh(&block(Vector3::new(0.05, 0.04, 0.06))).into(),
            };
            let x_wa = random.pose(1.0);
            let mut x_ab = random.pose(0.02);
            if k % 4 == 0 {
                // Face to face.
                x_ab.rotation = nalgebra::UnitQuaternion::identity();
            }
            // The top face is at 0.1.
            x_ab.translation.z = 0.3;
            let above = true_distance(&m, &x_wa, &b, &(x_wa * x_ab)).distance;
            x_ab.translation.z -= above + [1e-6, 1e-4, 1e-3][k % 3];
            let x_wb = x_wa * x_ab;
            let expected = signed_distance(&m.clone().into(), &x_wa, &b, &x_wb).unwrap();
            let d = true_distance(&m, &x_wa, &b, &x_wb);
            check(&d);
            let what = format!("{other} {d:?} {expected:?}");
            assert!((d.distance - expected.distance).abs() < 1e-9, "{what}");
            assert!((d.nhat_ba_w - expected.nhat_ba_w).norm() < 1e-9, "{what}");
        }
    }
}

/// For a sphere of any size and at any depth, the distance is that of its centre to the surface.
#[test]
fn sphere_distances_are_exact_at_any_depth() {
    let mut random = Random::new(24);
    for kind in 0..4 {
        let m = mesh(&solid(kind));
        for _ in 0..100 {
            let b: Shape = Sphere::new(0.2 + 0.1 * random.number()).unwrap().into();
            let (x_wa, x_wb) = (random.pose(0.1), random.pose(0.1));
            let d = true_distance(&m, &x_wa, &b, &x_wb);
            check(&d);
            let center = x_wb.translation.vector;
            let c = distance_to_point(&m.clone().into(), &x_wa, &center).unwrap();
            assert!((d.distance - (c.distance - radius(&b))).abs() < 1e-15);
            assert!((d.nhat_ba_w + c.grad_w).norm() < 1e-12);
        }
    }
}

/// For a body that moves through a mesh, the distance changes by at most the distance moved, also
/// where the bodies touch, up to the tolerance of deep searches.
#[test]
fn distance_is_continuous_through_a_mesh() {
    let mut random = Random::new(25);
    for kind in 0..4 {
        let m = mesh(&solid(kind));
        for other in 0..BODIES + 4 {
            let b = match other {
                0..BODIES => body(&mut random, other),
                _ => mesh(&solid(other - BODIES)).into(),
            };
            let (x_wa, start) = (random.pose(0.05), random.pose(0.0));
            let direction = random.vector().normalize();
            let steps = 24;
            let step = 0.5 / f64::from(steps);
            let mut last: Option<f64> = None;
            for k in 0..steps {
                let p = direction * (-0.25 + step * f64::from(k)) + Vector3::new(0.01, 0.02, 0.0);
                let x_wb = Isometry3::translation(p.x, p.y, p.z) * start;
                let d = true_distance(&m, &x_wa, &b, &x_wb).distance;
                if let Some(last) = last {
                    let allowed = step + 2.0 * TOLERANCE * 0.1 + 1e-9;
                    assert!(
                        (d - last).abs() <= allowed,
                        "{kind} {other} {k}: {last} {d}"
                    );
                }
                last = Some(d);
            }
        }
    }
}

/// Derivatives of shallow contacts and of separated pairs: dual numbers match central differences.
#[test]
fn dual_numbers_match_central_differences() {
    let mut random = Random::new(26);
    let (mut compared, mut negative, mut between, mut held) = (0, 0, 0, 0);
    for kind in 0..4 {
        let m = mesh(&solid(kind));
        for other in 0..BODIES + 2 {
            for k in 0..2 {
                let b = match other {
                    0..BODIES => body(&mut random, other),
                    _ => mesh(&solid(other - BODIES)).into(),
                };
                let (x_wa, mut x_wb) = (random.pose(0.05), random.pose(0.05));
                let away = random.vector().normalize();
                x_wb.translation.vector += away * 0.5;
                let d = true_distance(&m, &x_wa, &b, &x_wb);
                // Moves B along the normal until the bodies are 1 cm apart or overlap by 0.1 mm.
                let to = [0.01, -1e-4][k];
                x_wb.translation.vector += d.nhat_ba_w * (d.distance - to);
                fn at<T: Scalar>(
                    m: &Mesh,
                    x_wa: &Isometry3<f64>,
                    b: &Shape,
                    x_wb: &Isometry3<f64>,
                    v: [T; 8],
                ) -> [T; 4] {
                    let r = math::rotation_exp(&Vector3::new(v[3], v[4], v[5]));
                    let x = x_wb.cast::<T>();
                    let p = x.translation.vector + Vector3::new(v[0], v[1], v[2]);
                    let mut x_wa = x_wa.cast::<T>();
                    x_wa.translation.vector += Vector3::new(v[6], v[7], T::zero());
                    let d = true_distance(m, &x_wa, b, &math::pose(r * x.rotation, p));
                    [d.distance, d.nhat_ba_w.x, d.nhat_ba_w.y, d.nhat_ba_w.z]
                }
                let variables = std::array::from_fn(|i| AutoDiff::variable(0.0, i));
                let exact = at(&m, &x_wa, &b, &x_wb, variables);
                let now = at(&m, &x_wa, &b, &x_wb, [0.0; 8]);
                let h = 1e-6;
                let step = |i: usize, s: f64| {
                    let mut v = [0.0; 8];
                    v[i] = s;
                    at(&m, &x_wa, &b, &x_wb, v)
                };
                let rate = |i: usize| (step(i, h)[0] - step(i, -h)[0]) / (2.0 * h);
                let gradient = Vector3::new(rate(0), rate(1), rate(2));
                let normal = Vector3::new(now[1], now[2], now[3]);
                if (gradient.norm() - 1.0).abs() < 1e-8 {
                    assert!(
                        (gradient + normal).norm() < 1e-4,
                        "{kind} {other} {exact:?}"
                    );
                } else {
                    // Several faces are equally near to the deepest point. Between two of them the
                    // derivative is exact; otherwise it is that of a point held fixed.
                    assert!(now[0] < 0.0, "{kind} {other} {exact:?}");
                    let dual = Vector3::from_fn(|k, _| exact[0].eps[k]);
                    if (dual - gradient).norm() > 1e-5 {
                        held += 1;
                        continue;
                    }
                    between += 1;
                }
                for i in 0..8 {
                    let (up, down) = (step(i, h), step(i, -h));
                    let sides = |k: usize| ((up[k] - now[k]) / h, (now[k] - down[k]) / h);
                    if (0..4).any(|k| (sides(k).0 - sides(k).1).abs() > 1e-3) {
                        continue;
                    }
                    compared += 1;
                    negative += usize::from(now[0] < 0.0);
                    for (k, value) in exact.iter().enumerate() {
                        let central = 0.5 * (sides(k).0 + sides(k).1);
                        let error = (value.eps[i] - central).abs() / (1.0 + central.abs());
                        assert!(error < 1e-5, "{kind} {other} {i} {k} {value:?} {central}");
                    }
                }
            }
        }
    }
    let counts = format!("{compared} {negative} {between} {held}");
    assert!(
        compared > 300 && negative > 120 && held < between,
        "{counts}"
    );
}

/// For a sheet that cuts a body: the shortest way out of one of its triangles.
#[test]
fn sheets_have_no_inside() {
    let m = mesh(&sheet(1.0));
    let o = Isometry3::<f64>::identity();
    let ball: Shape = Sphere::new(0.1).unwrap().into();
    let block: Shape = BoxShape::new(0.1, 0.1, 0.1).unwrap().into();
    for (z, sign) in [(0.03, -1.0), (-0.03, 1.0)] {
        let x = Isometry3::translation(0.1, 0.2, z);
        let d = true_distance(&m, &o, &ball, &x);
        assert!((d.distance + 0.07).abs() < 1e-15, "{d:?}");
        let d = true_distance(&m, &o, &block, &x);
        assert!((d.distance + 0.02).abs() < 1e-15, "{d:?}");
        assert!((d.nhat_ba_w - Vector3::z() * sign).norm() < 1e-15, "{d:?}");
    }
    // A sheet inside a solid, and one that cuts it.
    let solid = mesh(&super::block(Vector3::repeat(0.4)));
    let inside: Shape = mesh(&sheet(0.1)).into();
    let d = true_distance(&solid, &o, &inside, &Isometry3::translation(0.0, 0.0, 0.1));
    assert!((d.distance + 0.1).abs() < 1e-4, "{d:?}");
    let cutting: Shape = m.into();
    let d = true_distance(
        &solid,
        &o,
        &cutting,
        &Isometry3::translation(0.0, 0.0, 0.15),
    );
    assert!((d.distance + 0.05).abs() < 1e-12, "{d:?}");
    // Two sheets that cross.
    let upright = math::pose(math::rotation_x(1.5), Vector3::new(0.0, 0.0, 0.45));
    let d = true_distance(&mesh(&sheet(1.0)), &o, &cutting, &upright);
    check(&d);
    assert!(d.distance < 0.0 && d.distance > -0.5, "{d:?}");
}
