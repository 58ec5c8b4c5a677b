//! Every function against central differences, at random arguments and at its special points.

use super::dual::AutoDiff;
use super::{Dual, gradient, jacobian};
use nalgebra::{ComplexField, Matrix3, RealField, Vector3};
use num_traits::{One, Zero};
use proptest::prelude::*;
use std::cmp::Ordering;

/// Central difference with an error of about h^2 f''' / 6 + 1e-16 / h, near 1e-10 for the functions
/// here.
fn slope(f: impl Fn(f64) -> f64, x: f64) -> f64 {
    let h = 1e-5 * x.abs().max(1.0);
    (f(x + h) - f(x - h)) / (2.0 * h)
}

type Pair = (&'static str, fn(f64) -> f64, fn(AutoDiff) -> AutoDiff);

macro_rules! pairs {
    ($($name:ident),*) => {
        [$((stringify!($name), |x: f64| x.$name(), |x: AutoDiff| x.$name())),*]
    };
}

#[test]
fn functions_equal_central_differences() {
    let functions: [Pair; 24] = pairs!(
        recip, sqrt, cbrt, exp, exp2, exp_m1, ln, ln_1p, log2, log10, sin, cos, tan, asin, acos,
        atan, sinh, cosh, tanh, asinh, atanh, abs, fract, floor
    );
    for (name, plain, dual) in functions {
        for x in [0.1, 0.25, 0.37, 0.5, 0.83] {
            let y = dual(AutoDiff::variable(x, 3));
            assert_eq!(y.re, plain(x), "{name}({x})");
            let expected = slope(plain, x);
            let error = (y.eps[3] - expected).abs();
            assert!(
                error < 1e-7 * (1.0 + expected.abs()),
                "{name}'({x}): {} vs {expected}",
                y.eps[3]
            );
            assert_eq!(y.eps[0], 0.0, "{name}: other directions stay zero");
        }
    }
    let y = AutoDiff::variable(1.7, 0).acosh();
    assert!((y.eps[0] - slope(f64::acosh, 1.7)).abs() < 1e-8);
}

#[test]
fn derivatives_at_special_points_are_finite() {
    let at = |x: f64| AutoDiff::variable(x, 0);
    for (name, y) in [
        ("sqrt(0)", at(0.0).sqrt()),
        ("cbrt(0)", at(0.0).cbrt()),
        ("asin(1)", at(1.0).asin()),
        ("acos(-1)", at(-1.0).acos()),
        ("acosh(1)", at(1.0).acosh()),
        ("abs(0)", at(0.0).abs()),
        ("hypot(0, 0)", at(0.0).hypot(at(0.0))),
        ("atan2(0, 0)", Dual::atan2(at(0.0), at(0.0))),
        ("powf(0, 0.5)", at(0.0).powf(0.5)),
        ("powd(0, 2)", at(0.0).powd(at(2.0))),
        ("|0|", Vector3::new(at(0.0), at(0.0), at(0.0)).norm()),
    ] {
        assert!(
            y.re.is_finite() && y.eps.iter().all(|e| *e == 0.0),
            "{name} = {y:?}"
        );
    }
    assert_eq!(at(0.0).powi(0).eps[0], 0.0);
    assert_eq!(at(0.0).powi(1).eps[0], 1.0);
    assert!(at(2.5).floor().is_same_as(AutoDiff::constant(2.0)));
}

#[test]
fn equality_and_order_compare_values_alone() {
    let (a, b) = (AutoDiff::variable(1.0, 0), AutoDiff::constant(1.0));
    assert_eq!(a, b);
    assert_eq!(a, 1.0);
    assert!(a.is_same_as(a) && !a.is_same_as(b) && !a.is_same_as(a + 1.0));
    assert!(a.max(b).is_same_as(a), "the first argument wins a tie");
    assert!(AutoDiff::constant(0.5) < 0.7);
}

#[test]
fn serializes_value_and_derivatives() {
    let x = Dual::<2> {
        re: 1.5,
        eps: [0.0, -2.0],
    };
    let text = serde_json::to_string(&x).unwrap();
    assert_eq!(text, "[1.5,[0.0,-2.0]]");
    assert!(
        serde_json::from_str::<Dual<2>>(&text)
            .unwrap()
            .is_same_as(x)
    );
    let wrong = serde_json::from_str::<Dual<3>>(&text)
        .unwrap_err()
        .to_string();
    assert!(
        wrong.contains("3 derivatives") && wrong.contains("got 2"),
        "{wrong}"
    );
}

#[test]
fn gradients_run_in_chunks() {
    let x: Vec<f64> = (0..19).map(f64::from).collect();
    let mut calls = 0;
    let (y, dy) = gradient(
        |x| {
            calls += 1;
            x.iter().map(|x| *x * *x).sum()
        },
        &x,
    );
    assert_eq!(calls, 3, "19 arguments in chunks of 8");
    assert_eq!(y, x.iter().map(|x| x * x).sum::<f64>());
    assert!(dy.iter().zip(&x).all(|(d, x)| *d == 2.0 * x));
    let (y, dy) = jacobian(|_| vec![AutoDiff::constant(3.0)], &[]);
    assert_eq!((y[0], dy.shape()), (3.0, (1, 0)));
}

#[test]
fn matrix_inverse_differentiates() {
    let matrix =
        |x: &[f64]| Matrix3::new(2.0, x[0], 0.3, x[1], 1.5, -0.4, 0.1, 0.2, 3.0 + x[0] * x[1]);
    let dual = |x: &[AutoDiff]| {
        let c = |v: f64| AutoDiff::constant(v);
        let m = Matrix3::new(
            c(2.0),
            x[0],
            c(0.3),
            x[1],
            c(1.5),
            c(-0.4),
            c(0.1),
            c(0.2),
            c(3.0) + x[0] * x[1],
        );
        m.try_inverse().unwrap().iter().copied().collect()
    };
    let x = [0.7, -0.2];
    let (value, jacobian) = jacobian(dual, &x);
    assert!(
        (Matrix3::from_iterator(value.iter().copied()) * matrix(&x) - Matrix3::identity()).norm()
            < 1e-14
    );
    for i in 0..2 {
        let h = 1e-5;
        let shifted = |s: f64| {
            let mut y = x;
            y[i] += s;
            matrix(&y).try_inverse().unwrap()
        };
        let difference = (shifted(h) - shifted(-h)) / (2.0 * h);
        for (row, expected) in difference.iter().enumerate() {
            assert!((jacobian[(row, i)] - expected).abs() < 1e-9);
        }
    }
}

/// Values at which comparisons are easily wrong; drawn in pairs, so that many are equal.
const SPECIAL: [f64; 8] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    5e-324,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

proptest! {
    #[test]
    fn binary_functions_equal_central_differences(a in 0.4..3.0_f64, b in 0.4..3.0_f64) {
        type Binary = (&'static str, fn(f64, f64) -> f64, fn(AutoDiff, AutoDiff) -> AutoDiff);
        let functions: [Binary; 9] = [
            ("add", |a, b| a + b, |a, b| a + b),
            ("sub", |a, b| a - b, |a, b| a - b),
            ("mul", |a, b| a * b, |a, b| a * b),
            ("div", |a, b| a / b, |a, b| a / b),
            ("atan2", f64::atan2, Dual::atan2),
            ("hypot", f64::hypot, Dual::hypot),
            ("powd", f64::powf, Dual::powd),
            ("mul_add", |a, b| a.mul_add(b, a), |a, b| Dual::mul_add(a, b, a)),
            ("copysign", |a, b| a.copysign(-b), |a, b| RealField::copysign(a, -b)),
        ];
        for (name, plain, dual) in functions {
            let y = dual(AutoDiff::variable(a, 0), AutoDiff::variable(b, 1));
            prop_assert!((y.re - plain(a, b)).abs() <= 1e-15 * plain(a, b).abs(), "{}", name);
            // Third derivatives reach 1e3 here, so the difference is accurate to about 2e-8.
            prop_assert!((y.eps[0] - slope(|a| plain(a, b), a)).abs() < 1e-6, "{} d/da", name);
            prop_assert!((y.eps[1] - slope(|b| plain(a, b), b)).abs() < 1e-6, "{} d/db", name);
        }
    }

    /// The contracts of `PartialEq`, `PartialOrd`, `Zero` and `One`, with derivatives that differ.
    #[test]
    fn equality_order_and_the_constants_agree(
        x in prop::sample::select(&SPECIAL[..]),
        y in prop::sample::select(&SPECIAL[..]),
        dx in -1.0..1.0_f64,
    ) {
        let (a, b) = (Dual::<1> { re: x, eps: [dx] }, Dual::<1>::variable(y, 0));
        prop_assert_eq!(a.partial_cmp(&b), x.partial_cmp(&y));
        prop_assert_eq!(a == b, a.partial_cmp(&b) == Some(Ordering::Equal));
        prop_assert_eq!((a == y, a.partial_cmp(&y)), (x == y, x.partial_cmp(&y)));
        prop_assert_eq!([a < b, a <= b, a > b, a >= b], [x < y, x <= y, x > y, x >= y]);
        prop_assert_eq!((a == b, a.partial_cmp(&b)), (b == a, b.partial_cmp(&a).map(Ordering::reverse)));
        prop_assert_eq!((a.is_zero(), a.is_one()), (a == Dual::zero(), a == Dual::one()));
        prop_assert!(!a.is_same_as(b) || a == b);
        prop_assert_eq!(a.is_same_as(a), !x.is_nan());
    }

    #[test]
    fn value_equals_plain_arithmetic(a in -1e3..1e3_f64, b in -1e3..1e3_f64) {
        let (x, y) = (AutoDiff::variable(a, 0), AutoDiff::variable(b, 1));
        prop_assert_eq!((x / y).re, a / b);
        prop_assert_eq!((x % y).re, a % b);
        prop_assert_eq!(ComplexField::abs(x - y).re, (a - b).abs());
    }
}

/// Outside of this module only the prelude is needed.
mod with_the_prelude_alone {
    use crate::prelude::*;

    #[test]
    fn zero_and_one_need_no_trait() {
        let (zero, one) = (AutoDiff::zero(), AutoDiff::one());
        assert!(zero.is_same_as(AutoDiff::constant(0.0)));
        assert!(one.is_same_as(AutoDiff::constant(1.0)));
    }
}
