//! Trajectories against closed forms and by their promises.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use tarragon_framework::trajectories::PiecewisePolynomial;

fn column(values: &[f64]) -> Vec<Vec<f64>> {
    values.iter().map(|x| vec![*x]).collect()
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
    // Slopes 1 and 3 of lengths 1 and 2: 3 * 3 / (5 / 1 + 4 / 3); ends by the parabola.
    let p = PiecewisePolynomial::cubic_shape_preserving(
        &[0.0, 1.0, 3.0],
        &column(&[0.0, 1.0, 7.0]),
        false,
    )
    .unwrap();
    let slope = |t: f64| {
        let mut slope = [0.0];
        p.evaluate_derivative(t, 1, &mut slope);
        slope[0]
    };
    assert!((slope(1.0) - 27.0 / 19.0).abs() < 1e-14);
    assert!((slope(0.0) - 1.0 / 3.0).abs() < 1e-14);
    assert!((slope(3.0) - 13.0 / 3.0).abs() < 1e-14);
}

#[test]
fn two_samples_have_no_parabola() {
    let make =
        |zero| PiecewisePolynomial::cubic_shape_preserving(&[0.0, 1.0], &column(&[0.0, 1.0]), zero);
    assert_eq!(make(true).unwrap().value(0.5), [0.5]);
    let error = make(false).unwrap_err().to_string();
    assert!(
        error.contains("2 breaks, at least 3 are expected"),
        "{error}"
    );
}
