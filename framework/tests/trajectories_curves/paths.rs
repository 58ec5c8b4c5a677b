//! Paths of constant curvature.

use super::{derivative, message};
use nalgebra::{Quaternion, Vector3};
use proptest::prelude::*;
use std::f64::consts::{FRAC_PI_2, PI};
use tarragon_framework::math;
use tarragon_framework::prelude::*;
use tarragon_framework::trajectories::PiecewiseConstantCurvatureTrajectory;

/// Path with a line of 1 m, an arc of radius 2 m to the left, and one of radius 1 m to the right.
fn path(is_periodic: bool) -> PiecewiseConstantCurvatureTrajectory {
    PiecewiseConstantCurvatureTrajectory::new(
        &[0.0, 1.0, 1.0 + PI, 1.7 + PI],
        &[0.0, 0.5, -1.0],
        &Vector3::x(),
        &Vector3::z(),
        &Vector3::zeros(),
        is_periodic,
    )
    .unwrap()
}

/// The numbers come from pydrake 1.51.1, for a joint along the same path at 2 m/s and 0.5 m/s^2.
#[test]
fn paths_of_constant_curvature_match_drake() {
    let (once, again) = (path(false), path(true));
    for (path, s, [x, y, yaw], [vx, vy, wz], [ax, ay, alpha]) in [
        (
            &once,
            -1.0,
            [-1.0, 0.0, 0.0],
            [2.0, 0.0, 0.0],
            [0.5, 0.0, 0.0],
        ),
        (
            &once,
            0.5,
            [0.5, 0.0, 0.0],
            [2.0, 0.0, 0.0],
            [0.5, 0.0, 0.0],
        ),
        (
            &once,
            1.0,
            [1.0, 0.0, 0.0],
            [2.0, 0.0, 1.0],
            [0.5, 2.0, 0.25],
        ),
        (
            &once,
            3.0,
            [2.68294197, 0.91939539, 1.0],
            [1.08060461, 1.68294197, 1.0],
            [-1.41279082, 1.5013401, 0.25],
        ),
        (
            &once,
            10.0,
            [3.08886974, 1.58788152, 1.995574 - 2.0 * PI],
            [-0.82423697, 1.82226052, -2.0],
            [3.43846181, 2.10403907, -0.5],
        ),
        (
            &again,
            -0.5,
            [3.01993342, 2.19866933, 1.370796],
            [0.39733866, 1.96013316, -2.0],
            [4.01960098, -0.30464403, -0.5],
        ),
        (
            &again,
            10.0,
            [0.31681469, 0.0, 0.0],
            [2.0, 0.0, 0.0],
            [0.5, 0.0, 0.0],
        ),
    ] {
        let pose = path.pose(s);
        // Accurate to the printed digits.
        let near =
            |a: f64, b: f64, tolerance: f64| assert!((a - b).abs() < tolerance, "{s}: {a} {b}");
        near(pose.translation.x, x, 1e-8);
        near(pose.translation.y, y, 1e-8);
        near(pose.rotation.angle_to(&math::rotation_z(yaw)), 0.0, 1e-6);
        let (v, a) = (path.velocity(s, 2.0), path.acceleration(s, 2.0, 0.5));
        for (found, expected) in [
            (v, [0.0, 0.0, wz, vx, vy, 0.0]),
            (a, [0.0, 0.0, alpha, ax, ay, 0.0]),
        ] {
            (0..6).for_each(|i| near(found[i], expected[i], 1e-8));
        }
    }
    assert_eq!(once.length(), 1.7 + PI);
    assert_eq!(
        (once.turning_rate(1.0), again.turning_rate(-0.1)),
        (0.5, -1.0)
    );
}

proptest! {
    /// Dual numbers, derivatives by order and velocities agree; position and tangent do not jump.
    #[test]
    fn paths_of_constant_curvature_have_consistent_derivatives(
        lengths in prop::collection::vec(0.1..2.0_f64, 1..5),
        rates in prop::collection::vec(prop_oneof![Just(0.0), -3.0..3.0_f64, -1e-9..1e-9_f64], 4),
        angles in prop::array::uniform3(-3.0..3.0_f64),
        s in -1.0..9.0_f64,
    ) {
        let r = math::rpy(angles[0], angles[1], angles[2]);
        let ends = lengths.iter().scan(0.0, |sum, l| { *sum += l; Some(*sum) });
        let breaks: Vec<f64> = std::iter::once(0.0).chain(ends).collect();
        let path = PiecewiseConstantCurvatureTrajectory::new(
            &breaks, &rates[..lengths.len()], &(r * Vector3::x() * 3.0), &(r * Vector3::z()), &Vector3::new(1.0, 2.0, 3.0), false,
        ).unwrap();
        let dual = path.pose(AutoDiff::variable(s, 0));
        let velocity = path.velocity(s, 1.0);
        for order in 1..4 {
            let (below, this) = (derivative(&path, AutoDiff::variable(s, 0), order - 1), derivative(&path, s, order));
            for i in 0..3 {
                // Rounding of derivatives up to 3^3.
                prop_assert!((below[i].eps[0] - this[i]).abs() < 1e-12);
                if order == 1 {
                    prop_assert!((velocity[i + 3] - this[i]).abs() < 1e-14);
                }
            }
        }
        // The rate of turning is that of the quaternion.
        let [w, x, y, z] = [dual.rotation.w, dual.rotation.i, dual.rotation.j, dual.rotation.k];
        let q = Quaternion::new(w.re, x.re, y.re, z.re);
        let dq = Quaternion::new(w.eps[0], x.eps[0], y.eps[0], z.eps[0]);
        let turning = (dq * q.conjugate()).imag() * 2.0;
        prop_assert!((turning - velocity.fixed_rows::<3>(0)).norm() < 1e-13);
        for at in &breaks {
            let (before, after) = (path.pose(at - 1e-9), path.pose(at + 1e-9));
            prop_assert!((before.translation.vector - after.translation.vector).norm() < 3e-9);
            prop_assert!(before.rotation.angle_to(&after.rotation) < 1e-7);
        }
    }
}

#[test]
fn invalid_paths_of_constant_curvature_are_errors() {
    let new = |breaks: &[f64], rates: &[f64], x: [f64; 3], z: [f64; 3]| {
        message(PiecewiseConstantCurvatureTrajectory::new(
            breaks,
            rates,
            &x.into(),
            &z.into(),
            &Vector3::zeros(),
            false,
        ))
    };
    let (x, z) = ([1.0, 0.0, 0.0], [0.0, 0.0, 1.0]);
    for (error, expected) in [
        (new(&[0.0], &[], x, z), "breaks, got 1"),
        (
            new(&[1.0, 2.0], &[0.0], x, z),
            "first break must be at 0 m, got 1 m",
        ),
        (new(&[0.0, 1.0, 1.0], &[0.0; 2], x, z), "break 2 at 1.0 s"),
        (new(&[0.0, 1.0], &[0.0; 2], x, z), "1 turning rate, got 2"),
        (
            new(&[0.0, 1.0], &[f64::NAN], x, z),
            "turning rates must be finite, got [NaN]",
        ),
        (
            new(&[0.0, 1.0], &[0.0], [0.0; 3], z),
            "initial tangent must be finite and not zero",
        ),
        (
            new(&[0.0, 1.0], &[0.0], x, [f64::INFINITY, 0.0, 0.0]),
            "normal of the plane must be",
        ),
        (
            new(&[0.0, 1.0], &[0.0], [1.0, 0.0, 1e-12], z),
            "must be perpendicular",
        ),
    ] {
        assert!(error.contains(expected), "{error}");
    }
    let tiny = [1e-200, 0.0, 0.0];
    let ring = PiecewiseConstantCurvatureTrajectory::new(
        &[0.0, 2.0 * PI],
        &[1.0],
        &tiny.into(),
        &Vector3::z(),
        &Vector3::zeros(),
        true,
    );
    let ring = ring.unwrap();
    assert!(ring.endpoints_are_nearly_equal(1e-14) && !path(false).endpoints_are_nearly_equal(1.0));
    assert!(
        (ring.pose(-FRAC_PI_2).translation.vector - Vector3::new(-1.0, 1.0, 0.0)).norm() < 1e-14
    );
}
