//! Piecewise polynomials against closed forms and their documented properties.

use proptest::prelude::*;
use tarragon_framework::Result;
use tarragon_framework::trajectories::{PiecewisePolynomial, Polynomial, SplineEnds, Trajectory};

fn column(values: &[f64]) -> Vec<Vec<f64>> {
    values.iter().map(|x| vec![*x]).collect()
}

fn message<V>(result: Result<V>) -> String {
    result.err().expect("the result is an error").to_string()
}

/// Returns the derivative with this order, of a trajectory of one row.
fn derivative(p: &impl Trajectory, time: f64, order: usize) -> f64 {
    let mut out = [0.0];
    p.evaluate_derivative(time, order, &mut out);
    out[0]
}

fn spline(breaks: &[f64], samples: &[f64], ends: &SplineEnds) -> PiecewisePolynomial {
    let samples = column(samples);
    PiecewisePolynomial::cubic_with_continuous_second_derivatives(breaks, &samples, ends).unwrap()
}

/// Increasing breaks with steps of 0.1 s to 2 s.
fn breaks(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<f64>> {
    (-3.0..3.0, prop::collection::vec(0.1..2.0, count)).prop_map(|(start, steps)| {
        let mut times = vec![start];
        for step in steps {
            times.push(times[times.len() - 1] + step);
        }
        times
    })
}

#[test]
fn shape_is_preserved() {
    let breaks = [0.0, 0.3, 1.0, 1.1, 2.5, 3.0];
    let samples = [0.0, 0.1, 4.0, 4.0, 3.0, -2.0];
    for zero_ends in [false, true] {
        let p = PiecewisePolynomial::cubic_shape_preserving(&breaks, &column(&samples), zero_ends);
        let p = p.unwrap();
        for (t, y) in breaks.windows(2).zip(samples.windows(2)) {
            let (low, high) = (y[0].min(y[1]) - 1e-12, y[0].max(y[1]) + 1e-12);
            for k in 0..=20 {
                let value = p.value(t[0] + (t[1] - t[0]) * f64::from(k) / 20.0)[0];
                assert!(low <= value && value <= high, "{value} in {t:?}");
            }
        }
    }
}

#[test]
fn slopes_are_weighted_harmonic_means() {
    // Slopes 1 and 3 over lengths 1 and 2: 3 * 3 / (5 / 1 + 4 / 3); the ends follow the parabola.
    let p = PiecewisePolynomial::cubic_shape_preserving(
        &[0.0, 1.0, 3.0],
        &column(&[0.0, 1.0, 7.0]),
        false,
    )
    .unwrap();
    assert!((derivative(&p, 1.0, 1) - 27.0 / 19.0).abs() < 1e-14);
    assert!((derivative(&p, 0.0, 1) - 1.0 / 3.0).abs() < 1e-14);
    assert!((derivative(&p, 3.0, 1) - 13.0 / 3.0).abs() < 1e-14);
}

#[test]
fn two_samples_have_no_parabola() {
    let make =
        |zero| PiecewisePolynomial::cubic_shape_preserving(&[0.0, 1.0], &column(&[0.0, 1.0]), zero);
    assert_eq!(make(true).unwrap().value(0.5), [0.5]);
    let error = message(make(false));
    assert!(error.contains("there must be at least 3 breaks"), "{error}");
}

#[test]
fn a_natural_start_and_the_closed_form_of_one_segment() {
    // One segment with end slopes is the Hermite cubic 2 t^3 - 3 t^2 + t, from 0 to 0 with slopes 1
    // and 1.
    let ends = SplineEnds::Slopes {
        start: vec![1.0],
        end: vec![1.0],
    };
    let p = spline(&[0.0, 1.0], &[0.0, 0.0], &ends);
    for t in [0.25_f64, 0.5, 0.9] {
        let expected = 2.0 * t.powi(3) - 3.0 * t * t + t;
        assert!((p.value(t)[0] - expected).abs() < 1e-15);
    }
    // A not-a-knot spline through three samples of a parabola is that parabola.
    let p = spline(&[0.0, 1.0, 3.0], &[1.0, 0.0, 4.0], &SplineEnds::NotAKnot);
    for t in [0.5_f64, 2.0, 2.9] {
        assert!((p.value(t)[0] - (t - 1.0) * (t - 1.0)).abs() < 1e-14);
    }
}

#[test]
fn a_break_belongs_to_the_segment_that_it_begins() {
    let steps = PiecewisePolynomial::zero_order_hold(&[0.0, 1.0, 2.0], &column(&[3.0, 4.0, 9.0]));
    let steps = steps.unwrap();
    let values = [-1.0, 0.0, 0.99, 1.0, 2.0, 5.0].map(|t| steps.value(t)[0]);
    assert_eq!(values, [3.0, 3.0, 3.0, 4.0, 4.0, 4.0]);
    let line = PiecewisePolynomial::first_order_hold(&[0.0, 1.0], &column(&[3.0, 4.0])).unwrap();
    assert!(
        steps.value(f64::NAN)[0].is_nan() && derivative(&line, f64::NAN, 1).is_nan(),
        "a NaN time gives NaN without a panic"
    );
}

#[test]
fn polynomials_of_any_degree() {
    let p = Polynomial::new(&[vec![1.0, 0.0, 0.0, 0.0, 0.0, 2.0], vec![]]).unwrap();
    assert_eq!((p.rows(), p.degree()), (2, 5));
    assert_eq!(p.value(-1.0), [-1.0, 0.0]);
    assert_eq!(p.make_derivative(5).value(7.0), [240.0, 0.0]);
    assert_eq!(p.make_derivative(6).value(7.0), [0.0, 0.0]);
    assert_eq!(p.make_derivative(usize::MAX).value(7.0), [0.0, 0.0]);
    let mut high = [1.0; 2];
    p.evaluate_derivative(1.0, usize::MAX, &mut high);
    assert_eq!(high, [0.0, 0.0]);
    let rows: Vec<Vec<f64>> = p.coefficients().map(<[f64]>::to_vec).collect();
    assert_eq!(rows[0], [1.0, 0.0, 0.0, 0.0, 0.0, 2.0]);
    assert_eq!(Polynomial::new(&[]).unwrap().value(1.0), [0.0; 0]);
}

#[test]
fn bad_arguments_are_explained() {
    let make = PiecewisePolynomial::first_order_hold;
    let mut p = make(&[0.0, 1.0], &column(&[0.0, 1.0])).unwrap();
    let before = p.clone();
    let wide = make(&[1.0, 2.0], &[vec![0.0; 2], vec![0.0; 2]]).unwrap();
    let error = message(p.concatenate_in_time(&wide));
    assert!(
        error.contains("there must be 1 row in the other trajectory, got 2"),
        "{error}"
    );
    let error = message(p.concatenate_in_time(&before));
    assert!(
        error.contains("the end of this one, 1.0 s, got 0.0 s"),
        "{error}"
    );
    let error = message(p.append_first_order_segment(1.0, &[0.0]));
    assert!(error.contains("after the last break at 1.0 s"), "{error}");
    let error = message(p.append_cubic_hermite_segment(2.0, &[0.0], &[]));
    assert!(
        error.contains("sample_dot must have 1 element, got 0"),
        "{error}"
    );
    assert!(message(p.shift_right(1e300)).contains("finite and increasing"));
    assert!(message(p.shift_right(f64::NAN)).contains("finite and increasing"));
    assert!(message(p.scale_time(-1.0)).contains("must be positive and finite"));
    assert!(message(p.scale_time(1e-320)).contains("PiecewisePolynomial"));
    assert!(message(p.integral(&[])).contains("value_at_start_time must have 1 element"));
    assert_eq!(p, before, "failures change nothing");

    let cubic = PiecewisePolynomial::cubic_with_continuous_second_derivatives;
    let two = column(&[0.0, 1.0]);
    for ends in [SplineEnds::NotAKnot, SplineEnds::Periodic] {
        assert!(message(cubic(&[0.0, 1.0], &two, &ends)).contains("at least 3"));
    }
    let ends = SplineEnds::Slopes {
        start: vec![0.0],
        end: vec![],
    };
    assert!(
        message(cubic(&[0.0, 1.0], &two, &ends))
            .contains("the end slope must have 1 element, got 0")
    );
    assert!(message(cubic(&[0.0, 1.0], &[], &ends)).contains("there must be 2 samples, got 0"));
    let hermite = PiecewisePolynomial::cubic_hermite(&[0.0, 1.0], &two, &[vec![], vec![]]);
    assert!(message(hermite).contains("samples_dot[0] must have 1 element, got 0"));
    assert!(message(make(&[0.0, 1e-320], &two)).contains("the coefficients must be finite"));
    assert!(
        message(Polynomial::new(&[vec![], vec![f64::NAN]]))
            .contains("row 1 must be finite, got [NaN]")
    );
    let segments = vec![
        Polynomial::new(&[]).unwrap(),
        Polynomial::new(&[vec![]]).unwrap(),
    ];
    let error = message(PiecewisePolynomial::from_segments(
        &[0.0, 1.0, 2.0],
        segments,
    ));
    assert!(
        error.contains("segment 1 must have 0 rows, got 1"),
        "{error}"
    );
    let none = PiecewisePolynomial::from_segments(&[0.0, 1.0], vec![]);
    assert!(message(none).contains("there must be 1 segment, got 0"));
    let lagrange = PiecewisePolynomial::lagrange_interpolant(&[0.0], &column(&[1.0]));
    assert!(message(lagrange).contains("breaks, got 1"));
}

proptest! {
    /// The not-a-knot spline through samples of a cubic is that cubic. Rounding of the samples,
    /// 1e-16 relative, is magnified up to 1e4 by steps from 0.1 to 2, and by 10 per derivative.
    #[test]
    fn not_a_knot_reproduces_cubics(
        times in breaks(3..8),
        c in prop::array::uniform4(-2.0..2.0),
    ) {
        let cubic = Polynomial::new(&[c.to_vec()]).unwrap();
        let samples: Vec<f64> = times.iter().map(|t| cubic.value(*t)[0]).collect();
        let p = spline(&times, &samples, &SplineEnds::NotAKnot);
        let size = samples.iter().fold(1.0_f64, |a, b| a.max(b.abs()));
        for t in times.windows(2) {
            let time = t[0] + 0.3 * (t[1] - t[0]);
            for (order, tolerance) in [1e-11, 1e-10, 1e-9, 1e-8].into_iter().enumerate() {
                let error = derivative(&p, time, order) - derivative(&cubic, time, order);
                prop_assert!(error.abs() < tolerance * size, "{error} of order {order}");
            }
        }
    }

    /// Splines with any end conditions pass through the samples, are smooth up to the second
    /// derivative, and satisfy their end conditions.
    #[test]
    fn splines_are_smooth_and_satisfy_their_end_conditions(
        times in breaks(2..8),
        values in prop::collection::vec(-1.0..1.0, 9),
        slopes in prop::array::uniform2(-1.0..1.0),
    ) {
        let n = times.len();
        let [start, end] = slopes.map(|s| vec![s]);
        let (first, last) = (times[0], times[n - 1]);
        for ends in [SplineEnds::Slopes { start, end }, SplineEnds::NotAKnot, SplineEnds::Periodic] {
            let p = spline(&times, &values[..n], &ends);
            for (t, y) in times.iter().zip(&values) {
                prop_assert!((p.value(*t)[0] - y).abs() < 1e-12);
            }
            // Values swing up to about 1e2 between samples at distances from 0.1 to 2, and each
            // derivative is up to 10 times as large; rounding is a few times 1e-16 of that.
            for (a, b) in p.segments().iter().zip(&p.segments()[1..]).zip(times.windows(2)).map(
                |((a, b), t)| ((a, t[1] - t[0]), b)
            ) {
                for (order, tolerance) in [1e-12, 1e-11, 1e-10].into_iter().enumerate() {
                    let jump = derivative(a.0, a.1, order) - derivative(b, 0.0, order);
                    prop_assert!(jump.abs() < tolerance, "{jump} of order {order}");
                }
            }
            match ends {
                SplineEnds::Slopes { .. } => {
                    prop_assert!((derivative(&p, first, 1) - slopes[0]).abs() < 1e-12);
                    prop_assert!((derivative(&p, last, 1) - slopes[1]).abs() < 1e-12);
                }
                SplineEnds::NotAKnot => {
                    let third = |i: usize| derivative(&p.segments()[i], 0.0, 3);
                    prop_assert!((third(0) - third(1)).abs() < 1e-8);
                    prop_assert!((third(n - 2) - third(n - 3)).abs() < 1e-8);
                }
                SplineEnds::Periodic => for order in [1, 2] {
                    let gap = derivative(&p, first, order) - derivative(&p, last, order);
                    prop_assert!(gap.abs() < 1e-10, "{gap} of order {order}");
                }
            }
        }
    }

    /// The interpolant of n samples of a polynomial of degree n - 1 is that polynomial.
    #[test]
    fn lagrange_interpolants_reproduce_polynomials(
        times in breaks(1..5),
        c in prop::array::uniform5(-1.0..1.0),
    ) {
        let exact = Polynomial::new(&[c[..times.len().min(5)].to_vec()]).unwrap();
        let samples: Vec<f64> = times.iter().map(|t| exact.value(*t)[0]).collect();
        let p = PiecewisePolynomial::lagrange_interpolant(&times, &column(&samples)).unwrap();
        // Divided differences over steps of 0.1 magnify rounding by at most 1e4.
        let size = samples.iter().fold(1.0_f64, |a, b| a.max(b.abs()));
        for k in 0..=10 {
            let t = times[0] + (times[times.len() - 1] - times[0]) * f64::from(k) / 10.0;
            let error = p.value(t)[0] - exact.value(t)[0];
            prop_assert!(error.abs() < 1e-10 * size, "{error} at {t}");
        }
    }

    /// The derivative of the integral is the integrand, and Simpson's rule, exact for cubics, gives
    /// the same differences of the integral.
    #[test]
    fn integrals_are_continuous_and_have_the_integrand_as_derivative(
        times in breaks(2..8),
        values in prop::collection::vec(-1.0..1.0, 9),
        constant in -2.0..2.0,
    ) {
        let p = spline(&times, &values[..times.len()], &SplineEnds::NotAKnot);
        let integral = p.integral(&[constant]).unwrap();
        let mut sum = constant;
        for t in times.windows(2) {
            prop_assert!((integral.value(t[0])[0] - sum).abs() < 1e-12);
            let (h, middle) = (t[1] - t[0], 0.5 * (t[0] + t[1]));
            sum += h / 6.0 * (p.value(t[0])[0] + 4.0 * p.value(middle)[0] + p.value(t[1])[0]);
            let slope = derivative(&integral, middle, 1);
            prop_assert!((slope - p.value(middle)[0]).abs() < 1e-12);
        }
        prop_assert!((integral.value(times[times.len() - 1])[0] - sum).abs() < 1e-12);
        let back = integral.make_derivative(1);
        let middle = 0.5 * (times[0] + times[1]);
        prop_assert!((back.value(middle)[0] - p.value(middle)[0]).abs() < 1e-12);
    }

    /// Shifted, scaled and reversed times give the original values. Rounding of the time is at most
    /// about 1e-15 s, at slopes of about 1e2 per second.
    #[test]
    fn shifting_scaling_and_reversing_map_times(
        times in breaks(2..6),
        values in prop::collection::vec(-1.0..1.0, 9),
        shift in -5.0..5.0,
        scale in 0.2..5.0,
    ) {
        let p = spline(&times, &values[..times.len()], &SplineEnds::NotAKnot);
        let (mut late, mut slow, mut back) = (p.clone(), p.clone(), p.clone());
        late.shift_right(shift).unwrap();
        slow.scale_time(scale).unwrap();
        back.reverse_time();
        prop_assert!((back.start_time() + p.end_time()).abs() < 1e-15);
        for k in -1..=21 {
            let t = times[0] + (times[times.len() - 1] - times[0]) * f64::from(k) / 20.0;
            let expected = p.value(t)[0];
            prop_assert!((late.value(t + shift)[0] - expected).abs() < 1e-11);
            prop_assert!((slow.value(t * scale)[0] - expected).abs() < 1e-11);
            prop_assert!((back.value(-t)[0] - expected).abs() < 1e-11);
        }
    }

    /// Appended segments start where the trajectory ended and leave the existing ones unchanged.
    #[test]
    fn appended_segments_join(
        times in breaks(3..6),
        values in prop::collection::vec(-1.0..1.0, 9),
        slope in -1.0..1.0,
    ) {
        let n = times.len();
        let whole = spline(&times, &values[..n], &SplineEnds::NotAKnot);
        let mut p = spline(&times[..n - 1], &values[..n - 1], &SplineEnds::NotAKnot);
        let (before, end) = (p.clone(), times[n - 2]);
        p.append_cubic_hermite_segment(times[n - 1], &[values[n - 1]], &[slope]).unwrap();
        prop_assert!((derivative(&p, end, 0) - derivative(&before, end, 0)).abs() < 1e-12);
        prop_assert!((derivative(&p, end, 1) - derivative(&before, end, 1)).abs() < 1e-12);
        prop_assert!((derivative(&p, times[n - 1], 0) - values[n - 1]).abs() < 1e-12);
        prop_assert!((derivative(&p, times[n - 1], 1) - slope).abs() < 1e-11);
        let mut q = before.clone();
        q.append_first_order_segment(times[n - 1], &[values[n - 1]]).unwrap();
        let middle = 0.5 * (end + times[n - 1]);
        let mean = 0.5 * (values[n - 2] + values[n - 1]);
        prop_assert!((q.value(middle)[0] - mean).abs() < 1e-12);
        // A trajectory cut in two and joined again is unchanged.
        let cut = |range: std::ops::Range<usize>| PiecewisePolynomial::from_segments(
            &times[range.start..=range.end],
            whole.segments()[range].to_vec(),
        );
        let mut joined = cut(0..1).unwrap();
        joined.concatenate_in_time(&cut(1..n - 1).unwrap()).unwrap();
        prop_assert_eq!(joined, whole);
    }
}
