//! Comparisons with a search that does not use features.

use super::*;

/// For every pair, the result satisfies its own certificate.
#[test]
fn results_satisfy_their_certificate() {
    let mut random = Random::new(1);
    for (i, j) in pairs() {
        for k in 0..4000 {
            let (a, b) = (random.shape(i), random.shape(j));
            let reach = if k % 2 == 0 { 0.15 } else { 0.5 };
            check(
                &a,
                &random.pose(reach),
                &b,
                &random.pose(reach),
                tolerance(i, j),
            );
        }
    }
}

/// Returns the largest separating margin that a local search over directions finds from many
/// starts.
pub(super) fn searched(a: &Shape, x_wa: &Isometry3<f64>, b: &Shape, x_wb: &Isometry3<f64>) -> f64 {
    let g = |n: &Vector3<f64>| separating_margin(a, x_wa, b, x_wb, n);
    let mut starts: Vec<(f64, Vector3<f64>)> = (0..400)
        .map(|k| {
            // Fibonacci sphere.
            let z = 1.0 - (2 * k + 1) as f64 / 400.0;
            let (s, c) = (2.399_963_229_728_653 * k as f64).sin_cos();
            let r = (1.0 - z * z).sqrt();
            let n = Vector3::new(r * c, r * s, z);
            (g(&n), n)
        })
        .collect();
    starts.sort_by(|x, y| y.0.total_cmp(&x.0));
    let mut best = f64::NEG_INFINITY;
    for (mut value, mut n) in starts.into_iter().take(12) {
        let mut step = 0.1;
        while step > 1e-9 {
            let mut improved = false;
            for k in 0..16 {
                let (s, c) = (std::f64::consts::TAU * f64::from(k) / 16.0).sin_cos();
                let e = n.cross(&Vector3::ith(n.iamin(), 1.0)).normalize();
                let m = (n + (e * c + n.cross(&e) * s) * step).normalize();
                // Rounding alone could continue forever.
                if g(&m) > value + 1e-15 {
                    (value, n, improved) = (g(&m), m, true);
                }
            }
            if !improved {
                step *= 0.5;
            }
        }
        best = best.max(value);
    }
    best
}

/// No direction has a larger margin, whether the overlap is shallow or deep.
#[test]
fn overlap_is_the_global_minimum() {
    let mut random = Random::new(2);
    for (i, j) in pairs().filter(|(i, j)| i <= j && *i != 3 && *j != 3) {
        let mut overlaps = 0;
        while overlaps < 15 {
            let (a, b) = (random.shape(i), random.shape(j));
            let (x_wa, x_wb) = (random.pose(0.05), random.pose(0.05));
            let d = check(&a, &x_wa, &b, &x_wb, tolerance(i, j)).distance;
            if d > 0.0 {
                continue;
            }
            overlaps += 1;
            let found = searched(&a, &x_wa, &b, &x_wb);
            assert!(
                found <= d + 1e-13,
                "{found} > {d}: {a:?} {x_wa:?} {b:?} {x_wb:?}"
            );
            assert!(found > d - 1e-3, "{found} < {d}");
        }
    }
}

/// The certificate holds relative to the larger extent for sizes from 1 mm to 100 m, aspect ratios
/// to 1e4 and separations from 1e-9 m to 1e3 m.
#[test]
fn certificate_holds_at_extreme_sizes() {
    let mut random = Random::new(3);
    let length = |r: &mut Random| 10.0_f64.powf(-0.5 + 2.5 * r.number());
    for (i, j) in pairs().filter(|(i, j)| *i != 3 && *j != 3) {
        for _ in 0..1500 {
            let mut shape = |kind| {
                let (x, y, z) = (
                    length(&mut random),
                    length(&mut random),
                    length(&mut random),
                );
                // Limits the aspect ratio to 1e4.
                let largest = x.max(y).max(z);
                let [x, y, z] = [x, y, z].map(|l| l.max(largest * 1e-4));
                let shape: Shape = match kind {
                    0 => BoxShape::new(x, y, z).unwrap().into(),
                    1 => Capsule::new(x, y).unwrap().into(),
                    4 => Cylinder::new(0.5 * x, y).unwrap().into(),
                    5 => Ellipsoid::new(0.5 * x, 0.5 * y, 0.5 * z).unwrap().into(),
                    6 => hull(&[x, y, z, x + y].map(|l| {
                        random.vector().component_mul(&Vector3::new(x, y, z)) * (l / (l + x))
                    })),
                    _ => Sphere::new(x).unwrap().into(),
                };
                (shape, largest)
            };
            let ((a, size_a), (b, size_b)) = (shape(i), shape(j));
            let extent = size_a.max(size_b);
            let (x_wa, mut x_wb) = (random.pose(extent), random.pose(extent));
            let tolerance = 20.0 * tolerance(i, j);
            let d = check(&a, &x_wa, &b, &x_wb, tolerance * extent);
            // Moves B along the normal to a chosen separation.
            let mut separation = 10.0_f64.powf(-3.0 + 6.0 * random.number());
            if tolerance > 1e-12 {
                // The general solver loses the features of thin cores that are closer than this.
                separation = separation.max(1e-6 * extent);
            }
            x_wb.translation.vector -= d.nhat_ba_w * (separation - d.distance);
            let scale = extent + separation;
            // The rounding of the direction of a short difference is the ratio of its ends to its
            // length, and the margin is rounded likewise; the distance is exact nevertheless.
            let rounded = if separation < 1e-7 * extent && tolerance > 1e-12 {
                1e-15 * extent / separation
            } else {
                tolerance
            };
            let far = check(&a, &x_wa, &b, &x_wb, rounded.max(tolerance) * scale);
            let error = (far.distance - separation).abs();
            assert!(
                error <= tolerance * scale,
                "{error:e} {a:?} {x_wa:?} {b:?} {x_wb:?}"
            );
        }
    }
}
