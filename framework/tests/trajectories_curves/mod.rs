//! B-splines, orientations and poses against closed forms; derivatives of every kind of trajectory.

mod paths;

use nalgebra::{Isometry3, Quaternion, UnitQuaternion, Vector3};
use proptest::prelude::*;
use std::f64::consts::{FRAC_PI_2, PI};
use tarragon_framework::prelude::*;
use tarragon_framework::primitives::TrajectorySource;
use tarragon_framework::trajectories::{
    BsplineBasis, BsplineTrajectory, KnotVectorType, PiecewisePolynomial, PiecewisePose,
    PiecewiseQuaternionSlerp, Polynomial, SplineEnds, Trajectory,
};
use tarragon_framework::{Result, math};

/// Step of central differences (s).
const H: f64 = 1e-5;

fn message<V>(result: Result<V>) -> String {
    result.err().expect("the result is an error").to_string()
}

fn derivative<T: Scalar>(p: &impl Trajectory, time: T, order: usize) -> Vec<T> {
    let rows = match order {
        0 => p.rows(),
        _ => p.derivative_rows(),
    };
    let mut out = vec![T::zero(); rows];
    p.evaluate_derivative(time, order, &mut out);
    out
}

/// Checks every derivative from order `lowest` to `highest` against differences of the one below
/// and against dual numbers. Also checks that outside of the span derivatives are zero and the
/// value is held.
fn check_derivatives(p: &impl Trajectory, times: &[f64], (lowest, highest): (usize, usize)) {
    let largest = |order: usize| {
        let all = times.iter().flat_map(|t| derivative(p, *t, order));
        all.fold(0.0_f64, |a, b| a.max(b.abs()))
    };
    for order in lowest + 1..=highest {
        // Truncation by Taylor, doubled because the third derivative is known only at `times`;
        // rounding of the value and of the time. Dual numbers differ only by rounding.
        let rounding = 1e-14 * (1.0 + largest(order - 1) + largest(order));
        let tolerance = H * H / 3.0 * largest(order + 2) + rounding / H;
        for t in times {
            let exact = derivative(p, *t, order);
            let dual = derivative(p, AutoDiff::variable(*t, 2), order - 1);
            let (high, low) = (
                derivative(p, t + H, order - 1),
                derivative(p, t - H, order - 1),
            );
            for (i, exact) in exact.iter().enumerate() {
                let difference = (high[i] - low[i]) / (2.0 * H);
                assert!(
                    (difference - exact).abs() <= tolerance,
                    "derivative {order} of row {i} at {t}: {exact}, by differences {difference}"
                );
                assert!(
                    (dual[i].eps[2] - exact).abs() <= rounding,
                    "derivative {order} of row {i} at {t}: {exact}, by duals {}",
                    dual[i].eps[2]
                );
            }
        }
    }
    let (start, end) = (p.start_time(), p.end_time());
    for (outside, edge) in [(start - 1.0, start), (end + 1.0, end)] {
        if !outside.is_finite() {
            continue;
        }
        assert_eq!(p.value(outside), p.value(edge));
        let dual = p.value(AutoDiff::variable(outside, 0));
        assert!(dual.iter().all(|x| x.eps == [0.0; 8]));
        for order in 1..=highest {
            assert!(derivative(p, outside, order).iter().all(|x| *x == 0.0));
        }
    }
}

/// Returns seven control points of two rows.
fn points() -> Vec<Vec<f64>> {
    let y = [1.0, -2.0, 0.5, 3.0, -1.0, 0.25, 2.0];
    y.iter().map(|y| vec![*y, y * y]).collect()
}

fn clamped(order: usize, span: (f64, f64)) -> BsplineTrajectory {
    let kind = KnotVectorType::ClampedUniform;
    let basis = BsplineBasis::uniform(order, points().len(), kind, span).unwrap();
    BsplineTrajectory::new(basis, &points()).unwrap()
}

#[test]
fn derivatives_of_every_kind_agree() {
    let breaks = [0.0, 0.7, 1.5, 2.5, 3.0];
    let samples = &points()[..5];
    // Away from the breaks, where differences would reach across kinks.
    let times = [0.1, 0.55, 0.8, 1.3, 2.1, 2.7, 2.9];
    let make = PiecewisePolynomial::cubic_with_continuous_second_derivatives;
    let spline = make(&breaks, samples, &SplineEnds::NotAKnot).unwrap();
    check_derivatives(&spline, &times, (0, 5));
    let lagrange = PiecewisePolynomial::lagrange_interpolant(&breaks, samples).unwrap();
    check_derivatives(&lagrange, &times, (0, 6));
    let line = PiecewisePolynomial::first_order_hold(&breaks, samples).unwrap();
    check_derivatives(&line, &times, (0, 2));
    let steps = PiecewisePolynomial::zero_order_hold(&breaks, samples).unwrap();
    check_derivatives(&steps, &times, (0, 1));
    check_derivatives(&spline.integral(&[1.0, 2.0]).unwrap(), &times, (0, 5));
    let polynomial = Polynomial::new(&points()).unwrap();
    check_derivatives(&polynomial, &times, (0, 3));
    for order in 1..=5 {
        let curve = clamped(order, (0.0, 3.0));
        check_derivatives(&curve, &times, (0, order + 1));
        for k in 0..=order + 1 {
            // The derivative as a curve equals the derivative at a time.
            let lower = curve.make_derivative(k);
            for t in times {
                let (a, b) = (lower.value(t), derivative(&curve, t, k));
                // Each difference of control points over knots multiplies rounding by some 10.
                let tolerance = 1e-14 * 10.0_f64.powi(k as i32 + 1);
                assert!(
                    a.iter().zip(&b).all(|(a, b)| (a - b).abs() < tolerance),
                    "{a:?} {b:?}"
                );
            }
        }
    }
    // The derivatives do not integrate to the value, so start from order 1.
    let poses = poses();
    let pose = PiecewisePose::make_cubic_linear_with_end_linear_velocity(
        &breaks,
        &poses,
        &Vector3::x(),
        &Vector3::zeros(),
    )
    .unwrap();
    check_derivatives(&pose, &times, (1, 4));
    check_derivatives(pose.orientation_trajectory(), &times, (1, 3));
}

#[test]
fn a_spline_of_one_segment_is_a_bezier_curve() {
    let control = &points()[..5];
    let kind = KnotVectorType::ClampedUniform;
    let basis = BsplineBasis::uniform(5, 5, kind, (2.0, 4.0)).unwrap();
    let curve = BsplineTrajectory::new(basis, control).unwrap();
    for k in 0..=16 {
        let s = f64::from(k) / 16.0;
        let bernstein = [1.0, 4.0, 6.0, 4.0, 1.0].into_iter().enumerate();
        let weights = bernstein.map(|(i, c)| c * s.powi(i as i32) * (1.0 - s).powi(4 - i as i32));
        let expected: f64 = weights.zip(control).map(|(w, p)| w * p[0]).sum();
        assert!((curve.value(2.0 + 2.0 * s)[0] - expected).abs() < 1e-14);
    }
}

#[test]
fn clamped_splines_touch_their_end_points_and_slopes() {
    for order in 2..=6 {
        let curve = clamped(order, (-1.0, 1.5));
        let control = curve.control_points();
        assert_eq!(curve.value(-1.0), control[0]);
        assert_eq!(curve.value(1.5), control[6]);
        // p / (length of a knot interval) times the first difference.
        let length = 2.5 / (8 - order) as f64;
        let slope = (order - 1) as f64 / length * (control[1][0] - control[0][0]);
        assert!((derivative(&curve, -1.0, 1)[0] - slope).abs() < 1e-12 * slope.abs());
    }
    // Uniform cubics weight three points by 1/6, 4/6, 1/6 at knots.
    let basis = BsplineBasis::uniform(4, 7, KnotVectorType::Uniform, (0.0, 4.0)).unwrap();
    let curve = BsplineTrajectory::new(basis, &points()).unwrap();
    let p = points();
    let expected = (p[1][0] + 4.0 * p[2][0] + p[3][0]) / 6.0;
    assert!((curve.value(1.0)[0] - expected).abs() < 1e-15);
    assert_eq!(
        curve.copy_block(1, 1).unwrap().value(1.0),
        curve.value(1.0)[1..]
    );
    assert!(message(curve.copy_block(1, 2)).contains("2 rows from row 1 on"));
    assert!(message(curve.copy_block(1, usize::MAX)).contains("within 2 rows"));
}

#[test]
fn bad_splines_are_explained() {
    let make = |order, knots: &[f64]| message(BsplineBasis::new(order, knots));
    assert!(make(0, &[0.0, 1.0]).contains("the order must be positive, got 0"));
    assert!(make(2, &[0.0, 1.0, 2.0]).contains("at least twice the order 2, got 3"));
    assert!(make(usize::MAX, &[0.0, 1.0]).contains("got 2"));
    assert!(make(1, &[0.0, f64::NAN]).contains("the knots must be finite, got NaN"));
    assert!(make(1, &[1.0, 0.0]).contains("knot 1 at 0.0 is below knot 0 at 1.0"));
    assert!(make(1, &[1.0, 1.0]).contains("got 1.0 to 1.0; use different knots"));
    let kind = KnotVectorType::Uniform;
    let uniform = |order, n, span| message(BsplineBasis::uniform(order, n, kind, span));
    assert!(uniform(3, 2, (0.0, 1.0)).contains("got order 3 and 2 basis functions"));
    assert!(uniform(2, 2, (1.0, 0.0)).contains("below"));
    let mut curve = clamped(3, (0.0, 1.0));
    let basis = curve.basis().clone();
    assert!(message(basis.evaluate_basis_function(7, 0.5)).contains("must be below 7"));
    let few = BsplineTrajectory::new(basis, &points()[..3]);
    assert!(message(few).contains("there must be 7 control_points, got 3"));
    let before = curve.clone();
    for outside in [1.1, f64::NAN] {
        assert!(message(curve.insert_knots(&[0.5, outside])).contains("from 0.0 s to 1.0 s"));
    }
    assert_eq!(curve, before, "failures change nothing");
}

proptest! {
    /// Basis functions over any knots are positive, sum to one, and vanish where they are not
    /// active.
    #[test]
    fn basis_functions_are_a_partition_of_unity(
        order in 1_usize..6,
        mut knots in prop::collection::vec((0_u8..20).prop_map(|k| f64::from(k) * 0.5), 12..18),
        place in 0.0..=1.0,
    ) {
        knots.sort_by(f64::total_cmp);
        let basis = BsplineBasis::new(order, knots);
        prop_assume!(basis.is_ok());
        let basis = basis.unwrap();
        let (start, end) = (basis.initial_parameter_value(), basis.final_parameter_value());
        let t = start + place * (end - start);
        let active = basis.active_basis_functions(t);
        let mut sum = 0.0;
        for i in 0..basis.num_basis_functions() {
            let value = basis.evaluate_basis_function(i, t).unwrap();
            prop_assert!(value >= -1e-15 && (active.contains(&i) || value == 0.0));
            sum += value;
        }
        prop_assert!((sum - 1.0).abs() < 1e-14);
    }

    /// New knots, even repeated ones, leave the curve unchanged.
    #[test]
    fn knots_are_inserted_without_change(
        order in 1_usize..6,
        knots in prop::collection::vec(0.0..=1.0, 0..6),
        clamp in any::<bool>(),
    ) {
        let kind = if clamp { KnotVectorType::ClampedUniform } else { KnotVectorType::Uniform };
        let basis = BsplineBasis::uniform(order, 7, kind, (0.0, 1.0)).unwrap();
        let before = BsplineTrajectory::new(basis, &points()).unwrap();
        let mut after = before.clone();
        after.insert_knots(&knots).unwrap();
        let again: Vec<f64> = knots.iter().copied().chain([0.0, 1.0]).collect();
        after.insert_knots(&again).unwrap();
        prop_assert_eq!(after.num_control_points(), 9 + 2 * knots.len());
        for k in 0..=40 {
            let t = f64::from(k) / 40.0;
            for (a, b) in before.value(t).iter().zip(after.value(t)) {
                prop_assert!((a - b).abs() < 1e-13, "{a} {b} at {t}");
            }
        }
    }

    /// Slerp is sin((1 - s) a) / sin(a) q0 + sin(s a) / sin(a) q1, a the angle between the
    /// quaternions.
    #[test]
    fn slerp_has_its_closed_form(
        turns in prop::array::uniform2(prop::array::uniform3(-3.0..3.0)),
        s in 0.0..=1.0_f64,
        flip in any::<bool>(),
    ) {
        let [q0, q1] = turns.map(|v| math::rotation_exp(&Vector3::from(v)));
        let flipped = UnitQuaternion::new_unchecked(-q1.into_inner());
        let path = PiecewiseQuaternionSlerp::new(&[1.0, 3.0], &[q0, if flip { flipped } else { q1 }]);
        let path = path.unwrap();
        let sign = if q0.coords.dot(&q1.coords) < 0.0 { -1.0 } else { 1.0 };
        let angle = (sign * q0.coords.dot(&q1.coords)).min(1.0).acos();
        prop_assume!(angle > 1e-3 && angle < FRAC_PI_2 - 1e-6);
        let expected = (q0.coords * ((1.0 - s) * angle).sin()
            + q1.coords * (sign * (s * angle).sin())) / angle.sin();
        let found = path.orientation(1.0 + 2.0 * s);
        // acos loses digits as 1e-16 / angle.
        prop_assert!((found.coords - expected).norm() < 1e-12);
        prop_assert!((found.norm() - 1.0).abs() < 1e-15);
        prop_assert!((path.angular_velocity(2.0_f64).norm() - angle).abs() < 1e-12);
    }
}

fn poses() -> Vec<Isometry3<f64>> {
    (0..5)
        .map(|k| {
            let k = f64::from(k);
            let turn = Vector3::new(1.1 * k.sin(), 0.9 * k, -0.5 * k * k);
            math::pose(math::rotation_exp(&turn), Vector3::new(k, -k * k, k.cos()))
        })
        .collect()
}

#[test]
fn angular_velocities_turn_orientations() {
    let breaks = [0.0, 0.7, 1.5, 2.5, 3.0];
    let linear = PiecewisePose::make_linear(&breaks, &poses()).unwrap();
    let cubic = PiecewisePose::make_cubic_linear_with_end_linear_velocity(
        &breaks,
        &poses(),
        &Vector3::new(1.0, 2.0, 3.0),
        &Vector3::new(-1.0, 0.0, 0.5),
    )
    .unwrap();
    for path in [linear, cubic.clone()] {
        for (time, pose) in breaks.iter().zip(poses()) {
            let found = path.pose(*time);
            // A few roundings of the angle, below pi, and of positions up to 16.
            assert!(found.rotation.angle_to(&pose.rotation) < 1e-7);
            assert!((found.rotation.coords.dot(&pose.rotation.coords).abs() - 1.0).abs() < 1e-14);
            assert!((found.translation.vector - pose.translation.vector).norm() < 1e-13);
        }
        for time in [0.2, 0.6, 1.1, 2.3, 2.8] {
            let (before, after) = (path.pose(time - H), path.pose(time + H));
            let velocity = path.velocity(time);
            let turn =
                math::rotation_log(&(after.rotation * before.rotation.inverse())) / (2.0 * H);
            // Rounding of 1e-15 divided by the step; truncation H^2 / 6 times third derivatives of
            // about 1e2.
            assert!((turn - velocity.fixed_rows::<3>(0)).norm() < 2e-9);
            let moved = (after.translation.vector - before.translation.vector) / (2.0 * H);
            assert!((moved - velocity.fixed_rows::<3>(3)).norm() < 5e-9);
            let faster = (path.velocity(time + H) - path.velocity(time - H)) / (2.0 * H);
            assert!((faster - path.acceleration(time)).norm() < 5e-9);
            // The quaternion's rate by dual numbers is half the product with the angular velocity.
            let dual = path.pose(AutoDiff::variable(time, 0)).rotation;
            let w = Quaternion::from_imag(velocity.fixed_rows::<3>(0).into_owned());
            let rate = (w * path.pose(time).rotation.into_inner()).coords * 0.5;
            assert!((dual.coords.map(|x| x.eps[0]) - rate).norm() < 1e-13);
        }
        for outside in [-1.0, 4.0] {
            assert_eq!(path.velocity(outside).norm(), 0.0);
            assert_eq!(path.acceleration(outside).norm(), 0.0);
        }
    }
    let translational = |t| cubic.velocity(t).fixed_rows::<3>(3).into_owned();
    assert!((translational(0.0) - Vector3::new(1.0, 2.0, 3.0)).norm() < 1e-13);
    assert!((translational(3.0) - Vector3::new(-1.0, 0.0, 0.5)).norm() < 1e-13);
    let velocity = cubic.orientation_trajectory().make_angular_velocity();
    assert_eq!(velocity.value(1.0), derivative(&cubic, 1.0, 1)[..3]);
}

#[test]
fn orientations_go_the_shortest_way() {
    let around = [0.0, 0.75, 1.5, 2.25, 3.0].map(|k| math::rotation_z(k * PI));
    let breaks = [0.0, 1.0, 2.0, 3.0, 4.0];
    let mut path = PiecewiseQuaternionSlerp::new(&breaks, &around).unwrap();
    for t in [0.5, 1.5, 3.5] {
        assert!((path.angular_velocity(t) - Vector3::z() * 0.75 * PI).norm() < 1e-14);
        assert_eq!(path.angular_acceleration(t), Vector3::zeros());
    }
    path.append(5.0, &math::rotation_z(4.5 * PI)).unwrap();
    assert!((path.angular_velocity(4.5) + Vector3::z() * 0.5 * PI).norm() < 1e-14);
    // The four elements of the quaternion do not jump.
    for k in 0..1000 {
        let t = f64::from(k) * 0.005;
        let step: f64 = path
            .value(t)
            .iter()
            .zip(path.value(t + 0.005))
            .map(|(a, b)| (a - b).abs())
            .sum();
        assert!(step < 0.02, "{step} at {t}");
    }
    let before = path.clone();
    assert!(message(path.append(5.0, &around[0])).contains("after the last break at 5.0 s"));
    let zero = UnitQuaternion::new_unchecked(Quaternion::new(0.0, 0.0, 0.0, 0.0));
    assert!(message(path.append(6.0, &zero)).contains("orientation 6"));
    assert_eq!(path, before, "failures change nothing");
    let make = PiecewiseQuaternionSlerp::new;
    assert!(
        message(make(&[0.0, 1.0], &around[..1])).contains("there must be 2 orientations, got 1")
    );
    assert!(message(make(&[0.0], &around[..1])).contains("breaks, got 1"));
    assert!(message(make(&[0.0, 0.0], &around[..2])).contains("finite and increasing"));
    let plane = PiecewisePolynomial::zero_order_hold(&[0.0, 1.0], &[vec![0.0; 2], vec![0.0; 2]]);
    let error = message(PiecewisePose::new(plane.unwrap(), path));
    assert!(
        error.contains("the position must have 3 rows, got 2"),
        "{error}"
    );
}

/// A user-defined trajectory: `exp(-t)` from 0 on.
struct Decay;

impl Trajectory for Decay {
    fn rows(&self) -> usize {
        1
    }
    fn start_time(&self) -> f64 {
        0.0
    }
    fn end_time(&self) -> f64 {
        f64::INFINITY
    }
    fn evaluate_derivative<T: Scalar>(&self, time: T, order: usize, out: &mut [T]) {
        let sign = if order.is_multiple_of(2) { 1.0 } else { -1.0 };
        out[0] = (-time).exp() * T::from(sign);
    }
}

#[test]
fn sources_play_every_kind_over_every_scalar() {
    let breaks = [0.0, 1.0, 2.0, 3.0, 4.0];
    let pose = PiecewisePose::make_linear(&breaks, &poses()).unwrap();
    let mut b = DiagramBuilder::new();
    let decay = b.add("decay", TrajectorySource::new(Decay, 3));
    let curve = b.add("curve", TrajectorySource::new(clamped(4, (0.0, 4.0)), 1));
    let pose = b.add("pose", TrajectorySource::new(pose, 2));
    let none = Polynomial::new(&[]).unwrap();
    let none = b.add("none", TrajectorySource::new(none, 2));
    let diagram = b.build().unwrap();
    let mut ctx = diagram.default_context();
    ctx.set_time(0.5);
    let e = (-0.5_f64).exp();
    assert_eq!(ctx.eval(decay.y).unwrap(), &[e, -e, e, -e]);
    assert_eq!(ctx.eval(pose.y).unwrap().len(), 7 + 6 + 6);
    assert!(ctx.eval(none.y).unwrap().is_empty());
    let dual = diagram.to_scalar::<AutoDiff>().unwrap();
    let mut ctx = dual.default_context();
    ctx.set_time(AutoDiff::variable(0.5, 0));
    let y = ctx.eval(dual.ports(&decay).unwrap().y).unwrap();
    assert_eq!([y[0].eps[0], y[3].eps[0]], [-e, e]);
    let y = ctx.eval(dual.ports(&curve).unwrap().y).unwrap();
    for row in 0..2 {
        // The derivative by dual numbers is the output derivative; they differ by rounding.
        assert!((y[row].eps[0] - y[row + 2].re).abs() < 1e-13);
    }
}
