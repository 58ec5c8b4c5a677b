//! Dual numbers against central differences, and derivatives at kinks of the function.

use super::*;
use crate::proximity::distance_to_point;
use crate::proximity::rounding::NEGLIGIBLE;
use tarragon_framework::{AutoDiff, Scalar};

/// Returns the poses of A and B moved by x: six translations and rotations of A, and two of B.
fn moved<T: Scalar>(
    x_wa: &Isometry3<f64>,
    x_wb: &Isometry3<f64>,
    x: &[T; 8],
) -> (Isometry3<T>, Isometry3<T>) {
    let lift = |p: &Isometry3<f64>| p.cast::<T>();
    let zero = T::zero();
    let a = math::pose(
        math::rotation_exp(&Vector3::new(x[3], x[4], x[5])) * lift(x_wa).rotation,
        lift(x_wa).translation.vector + Vector3::new(x[0], x[1], x[2]),
    );
    let b = math::pose(
        math::rotation_exp(&Vector3::new(x[6], zero, zero)) * lift(x_wb).rotation,
        lift(x_wb).translation.vector + Vector3::new(zero, zero, x[7]),
    );
    (a, b)
}

/// Returns distance, normal and witnesses as one list.
fn values<T: Scalar>(d: &PairDistance<T>) -> [T; 10] {
    let (n, p, q) = (d.nhat_ba_w, d.p_wca, d.p_wcb);
    [d.distance, n.x, n.y, n.z, p.x, p.y, p.z, q.x, q.y, q.z]
}

fn variables() -> [AutoDiff; 8] {
    std::array::from_fn(|i| AutoDiff::variable(0.0, i))
}

/// Returns the result and its derivatives in all eight directions.
fn dual(
    a: &Shape,
    x_wa: &Isometry3<f64>,
    b: &Shape,
    x_wb: &Isometry3<f64>,
) -> PairDistance<AutoDiff> {
    let (x_wa, x_wb) = moved(x_wa, x_wb, &variables());
    signed_distance(a, &x_wa, b, &x_wb).unwrap()
}

/// Compares with central differences. Returns false if the function is not smooth here (a feature
/// changes within the step), which the one-sided differences show.
fn agrees(a: &Shape, x_wa: &Isometry3<f64>, b: &Shape, x_wb: &Isometry3<f64>) -> bool {
    let h = 1e-6;
    let at = |i: usize, step: f64| {
        let mut x = [0.0; 8];
        x[i] = step;
        let (x_wa, x_wb) = moved(x_wa, x_wb, &x);
        values(&signed_distance(a, &x_wa, b, &x_wb).unwrap())
    };
    let exact = dual(a, x_wa, b, x_wb);
    let centre = values(&signed_distance(a, x_wa, b, x_wb).unwrap());
    // A rapidly turning normal (vertices or edges that nearly touch) has large higher derivatives.
    for i in 0..8 {
        let (up, down) = (at(i, h), at(i, -h));
        for (k, value) in values(&exact).iter().enumerate() {
            assert!((value.re - centre[k]).abs() < 1e-15);
            let (right, left) = ((up[k] - centre[k]) / h, (centre[k] - down[k]) / h);
            if (right - left).abs() > 1e-3 {
                return false;
            }
            let central = 0.5 * (right + left);
            let error = (value.eps[i] - central).abs() / (1.0 + central.abs());
            assert!(
                error < 2e-6,
                "value {k} direction {i}: {} dual, {central} difference: {a:?} {x_wa:?} {b:?} \
                 {x_wb:?} {exact:?}",
                value.eps[i]
            );
        }
    }
    true
}

#[test]
fn dual_numbers_match_central_differences() {
    let mut random = Random::new(6);
    for (i, j) in pairs() {
        let mut smooth = 0;
        for k in 0..400 {
            let (a, b) = (random.shape(i), random.shape(j));
            let reach = [0.05, 0.15, 0.5][k % 3];
            smooth += usize::from(agrees(&a, &random.pose(reach), &b, &random.pose(reach)));
        }
        assert!(smooth > 300, "{i} {j}: {smooth} of 400 smooth");
    }
}

/// Returns central differences extrapolated to step zero (Ridders 1982), and the difference of the
/// last two extrapolations. Values are exact to rounding, so the result is accurate to about 1e-11
/// where the function is smooth within the first step.
fn extrapolated(f: impl Fn(f64) -> f64) -> (f64, f64) {
    let mut row = vec![];
    let (mut best, mut error) = (f64::NAN, f64::INFINITY);
    let mut h = 4e-3;
    for i in 0..7 {
        let mut next = vec![(f(h) - f(-h)) / (2.0 * h)];
        let mut factor = 1.0;
        for k in 0..i {
            factor *= 4.0;
            let (fine, coarse): (f64, f64) = (next[k], row[k]);
            next.push(fine + (fine - coarse) / (factor - 1.0));
            let off = (next[k + 1] - fine).abs().max((next[k + 1] - coarse).abs());
            if off < error {
                (best, error) = (next[k + 1], off);
            }
        }
        row = next;
        h *= 0.5;
    }
    (best, error)
}

/// Derivatives of distances, normals and witnesses match those of the function to 1e-8 or better.
#[test]
fn dual_numbers_match_extrapolated_differences() {
    let mut random = Random::new(12);
    for (i, j) in pairs() {
        let (mut sharp, mut all) = (0, 0);
        for k in 0..12 {
            let (a, b) = (random.shape(i), random.shape(j));
            let reach = [0.05, 0.15, 0.5][k % 3];
            let (x_wa, x_wb) = (random.pose(reach), random.pose(reach));
            let exact = dual(&a, &x_wa, &b, &x_wb);
            for (v, value) in values(&exact).iter().enumerate() {
                for d in 0..8 {
                    let (difference, error) = extrapolated(|step| {
                        let mut x = [0.0; 8];
                        x[d] = step;
                        let (x_wa, x_wb) = moved(&x_wa, &x_wb, &x);
                        values(&signed_distance(&a, &x_wa, &b, &x_wb).unwrap())[v]
                    });
                    all += 1;
                    // Near a kink, the differences do not converge.
                    if error > 1e-9 * (1.0 + difference.abs()) {
                        continue;
                    }
                    sharp += 1;
                    let off = (value.eps[d] - difference).abs() / (1.0 + difference.abs());
                    assert!(
                        off <= 1e-8,
                        "{i} {j} value {v} direction {d}: {} dual, {difference} difference, \
                         {a:?} {x_wa:?} {b:?} {x_wb:?}",
                        value.eps[d]
                    );
                }
            }
        }
        assert!(
            sharp * 2 > all,
            "{i} {j}: {sharp} of {all} differences settle"
        );
    }
}

/// The gradient with respect to the position of A is the normal and has unit length everywhere;
/// nothing is ever NaN. Includes all types of degenerate positions.
#[test]
fn gradient_is_the_normal_everywhere() {
    let mut random = Random::new(7);
    let quarter = std::f64::consts::FRAC_PI_2;
    for (i, j) in pairs() {
        for k in 0..600 {
            let (a, mut b) = (random.shape(i), random.shape(j));
            if i == j && k % 5 == 0 {
                b = a.clone();
            }
            // Coordinates on a coarse grid and quarter turns reach every degenerate position.
            let mut grid = || (random.number() * 2.5).round();
            let r = math::rpy(grid() * quarter, grid() * quarter, grid() * quarter);
            let p = Vector3::new(grid(), grid(), grid());
            let p = p.component_mul(&Vector3::repeat([0.1, 0.125, 0.0][k % 3]));
            let x_wb = math::pose(r, p);
            let x_wa = Isometry3::identity();
            let d = dual(&a, &x_wa, &b, &x_wb);
            check(&a, &x_wa, &b, &x_wb, 5.0 * NEGLIGIBLE);
            for v in values(&d) {
                assert!(
                    v.eps.iter().all(|e| e.is_finite()),
                    "{a:?} {b:?} {x_wb:?} {d:?}"
                );
            }
            for c in 0..3 {
                let error = (d.distance.eps[c] - d.nhat_ba_w[c].re).abs();
                assert!(error < 1e-14, "{a:?} {b:?} {x_wb:?} {d:?}");
            }
        }
    }
}

/// Distance to a point: the gradient with respect to Q equals `grad_w`, and the gradients with
/// respect to the pose equal differences.
#[test]
fn distance_to_point_has_exact_derivatives() {
    let mut random = Random::new(8);
    let h = 1e-6;
    for kind in 0..KINDS {
        for _ in 0..500 {
            let g = random.shape(kind);
            let (x_wg, q) = (random.pose(0.2), random.vector() * 0.3);
            fn query<T: Scalar>(
                g: &Shape,
                x_wg: &Isometry3<f64>,
                q: &Vector3<f64>,
                x: &[T; 8],
            ) -> [T; 7] {
                let (x_wg, _) = moved(x_wg, &Isometry3::identity(), x);
                let mut q = q.map(T::from);
                q.x += x[6];
                q.y += x[7];
                let d = distance_to_point(g, &x_wg, &q).unwrap();
                let (n, p) = (d.grad_w, d.p_gn);
                [d.distance, n.x, n.y, n.z, p.x, p.y, p.z]
            }
            let exact = query(&g, &x_wg, &q, &variables());
            assert!((exact[0].eps[6] - exact[1].re).abs() < 1e-14);
            assert!((exact[0].eps[7] - exact[2].re).abs() < 1e-14);
            assert!((exact[0].eps[2] + exact[3].re).abs() < 1e-14);
            'directions: for i in 0..8 {
                let at = |step: f64| {
                    let mut x = [0.0; 8];
                    x[i] = step;
                    query(&g, &x_wg, &q, &x)
                };
                let (up, down) = (at(h), at(-h));
                for (k, value) in exact.iter().enumerate() {
                    let (right, left) = ((up[k] - value.re) / h, (value.re - down[k]) / h);
                    if (right - left).abs() > 1e-3 {
                        break 'directions;
                    }
                    let central = 0.5 * (right + left);
                    let error = (value.eps[i] - central).abs() / (1.0 + central.abs());
                    assert!(
                        error < 2e-6,
                        "{g:?} {x_wg:?} {q:?} {k} {i} {exact:?} {central}"
                    );
                }
            }
        }
    }
}
