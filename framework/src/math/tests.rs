//! Rotations: closed forms, inverses, and derivatives at the points where nalgebra loses them.

use super::*;
use crate::AutoDiff;
use crate::autodiff::jacobian;
use nalgebra::{Unit, UnitQuaternion, Vector3};
use proptest::prelude::*;

fn vector(range: std::ops::Range<f64>) -> impl Strategy<Value = Vector3<f64>> {
    [range.clone(), range.clone(), range].prop_map(Vector3::from)
}

/// Returns the Jacobian error of `f` at `x`: the largest deviation from central differences.
fn worst_slope_error(f: impl Fn(&Vector3<AutoDiff>) -> Vector3<AutoDiff>, x: &Vector3<f64>) -> f64 {
    let eval = |x: &Vector3<f64>| f(&x.map(AutoDiff::constant)).map(|y| y.re);
    let (_, j) = jacobian(
        |x| f(&Vector3::new(x[0], x[1], x[2])).iter().copied().collect(),
        x.as_slice(),
    );
    let h = 1e-5;
    let mut worst = 0.0_f64;
    for i in 0..3 {
        let step = Vector3::ith(i, h);
        let difference = (eval(&(x + step)) - eval(&(x - step))) / (2.0 * h);
        worst = worst.max((j.column(i) - difference).amax());
    }
    worst
}

const PROBE: Vector3<f64> = Vector3::new(0.3, -0.7, 1.1);

fn exp_of(v: &Vector3<AutoDiff>) -> Vector3<AutoDiff> {
    rotation_exp(v) * PROBE.map(AutoDiff::constant)
}

#[test]
fn derivatives_survive_at_angle_zero() {
    // d/dv exp(v) p at v = 0 is -[p]x.
    let (_, j) = jacobian(
        |v| {
            exp_of(&Vector3::new(v[0], v[1], v[2]))
                .iter()
                .copied()
                .collect()
        },
        &[0.0; 3],
    );
    let expected = -PROBE.cross_matrix();
    assert!((j - expected).amax() < 1e-15);
    for (axis, rotation) in [
        rotation_x(AutoDiff::variable(0.0, 0)),
        rotation_y(AutoDiff::variable(0.0, 0)),
        rotation_z(AutoDiff::variable(0.0, 0)),
    ]
    .into_iter()
    .enumerate()
    {
        let turned = rotation * PROBE.map(AutoDiff::constant);
        let slope = turned.map(|x| x.eps[0]);
        assert!((slope - Vector3::ith(axis, 1.0).cross(&PROBE)).norm() < 1e-15);
    }
    let log = rotation_log(&rotation_x(AutoDiff::variable(0.0, 0)));
    assert_eq!(log.x.eps[0], 1.0);
}

#[test]
fn rotation_between_handles_equal_and_opposite_vectors() {
    let x = Unit::new_normalize(PROBE);
    assert!(rotation_between(&x, &x).angle() < 1e-15);
    let half_turn = rotation_between(&x, &-x);
    assert!((half_turn * x.into_inner() + x.into_inner()).norm() < 1e-15);
    // At a == b the slope along a perpendicular direction is a rotation by that angle.
    let b = Unit::new_unchecked(Vector3::new(
        AutoDiff::constant(1.0),
        AutoDiff::variable(0.0, 0),
        AutoDiff::constant(0.0),
    ));
    let r = rotation_between(&Vector3::x_axis(), &b);
    assert_eq!(rotation_log(&r).z.eps[0], 1.0);
}

#[test]
fn rpy_at_gimbal_lock_gives_the_same_rotation() {
    for pitch in [std::f64::consts::FRAC_PI_2, -std::f64::consts::FRAC_PI_2] {
        let r = rpy(0.4, pitch, -0.9);
        let angles = rpy_of(&r);
        assert!(
            rpy(angles.x, angles.y, angles.z).angle_to(&r) < 1e-7,
            "sqrt of rounding"
        );
        assert_eq!(angles.z, 0.0);
    }
}

#[test]
fn quaternions_without_direction_are_rejected() {
    assert!(quaternion_wxyz([0.0; 4]).is_none());
    assert!(quaternion_wxyz([f64::NAN, 0.0, 0.0, 1.0]).is_none());
    let q = quaternion_wxyz([0.0, 0.0, 0.0, -2.0]).unwrap();
    assert_eq!(q.k, -1.0);
}

#[test]
fn zero_vector_has_a_length_and_a_direction() {
    let zero = Vector3::repeat(AutoDiff::variable(0.0, 0));
    assert!(safe_norm(&zero).is_same_as(AutoDiff::constant(0.0)));
    let (n, length) = normalize_or(&zero, 0.0, &Vector3::z());
    assert_eq!((n.z.re, length.re), (1.0, 0.0));
}

proptest! {
    #[test]
    fn exponential_equals_axis_angle(v in vector(-2.0..2.0)) {
        prop_assume!(v.norm() > 1e-3);
        let expected = axis_angle(&Unit::new_normalize(v), v.norm());
        prop_assert!((rotation_exp(&v).coords - expected.coords).norm() < 1e-15);
    }

    #[test]
    fn logarithm_inverts_exponential(v in vector(-1.8..1.8), scale in prop_oneof![Just(1.0), Just(1e-2), Just(1e-9)]) {
        let v = v * scale;
        prop_assume!(v.norm() < 3.1);
        prop_assert!((rotation_log(&rotation_exp(&v)) - v).norm() < 1e-14 * (1.0 + v.norm()) * 10.0);
    }

    #[test]
    fn exponential_and_logarithm_differentiate(v in vector(-1.5..1.5), scale in prop_oneof![Just(1.0), Just(3e-2), Just(0.0)]) {
        let v = v * scale;
        prop_assert!(worst_slope_error(exp_of, &v) < 1e-9);
        prop_assert!(worst_slope_error(|v| rotation_log(&rotation_exp(v)), &v) < 1e-8);
    }

    #[test]
    fn rpy_inverts_and_differentiates(a in vector(-1.4..1.4)) {
        let r = rpy(a.x, a.y, a.z);
        prop_assert!((rpy_of(&r) - a).norm() < 1e-13);
        prop_assert!(worst_slope_error(|a| rpy(a.x, a.y, a.z) * PROBE.map(AutoDiff::constant), &a) < 1e-9);
        prop_assert!(worst_slope_error(|a| rpy_of(&rpy(a.x, a.y, a.z)), &a) < 1e-7);
    }

    #[test]
    fn matrices_give_their_quaternion(v in vector(-3.0..3.0)) {
        let q = rotation_exp(&v);
        let back = rotation_from_matrix(q.to_rotation_matrix().matrix());
        prop_assert!(back.coords.dot(&q.coords).abs() > 1.0 - 1e-14);
        let through_matrix = |v: &Vector3<AutoDiff>| {
            let q: UnitQuaternion<AutoDiff> = rotation_exp(v);
            let back = rotation_from_matrix(q.to_rotation_matrix().matrix());
            back * PROBE.map(AutoDiff::constant)
        };
        prop_assert!(worst_slope_error(through_matrix, &v) < 1e-8);
    }

    #[test]
    fn rotation_between_takes_a_to_b(a in vector(-1.0..1.0), b in vector(-1.0..1.0)) {
        prop_assume!(a.norm() > 0.1 && b.norm() > 0.1);
        let (a, b) = (Unit::new_normalize(a), Unit::new_normalize(b));
        prop_assume!(a.dot(&b) > -0.999);
        prop_assert!((rotation_between(&a, &b) * a.into_inner() - b.into_inner()).norm() < 1e-13);
    }
}
