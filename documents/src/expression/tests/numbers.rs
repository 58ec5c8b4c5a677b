//! Numbers: exactness, rounding, order.

use super::*;

#[test]
fn whole_numbers_at_the_limit_are_right_or_errors() {
    all_are(&[
        ("(-2 ** 126 * 2) % -1", "0"),
        ("(-2 ** 126 * 2) in range(2 ** 126, -2 ** 126, -1)", "False"),
        ("-2 ** 126 * 2 + 1 in range(5, -2 ** 126 * 2, -1)", "True"),
        ("round(12, -2 ** 126 * 2)", "0"),
        (
            "round(10 ** 38, -38)",
            "100000000000000000000000000000000000000",
        ),
        (
            "range(-2 ** 126 * 2, 2 ** 126)[5]",
            "-170141183460469231731687303715884105723",
        ),
    ]);
    for text in [
        "round(2 ** 126 + (2 ** 126 - 1), -38)",
        "python.abs(-2 ** 126 * 2)",
        "math.gcd(-2 ** 126 * 2)",
        "list(python.enumerate('ab', 2 ** 126 + (2 ** 126 - 1)))",
        "(-2 ** 126 * 2) // -1",
    ] {
        let error = evaluate(text, &mut Names::default()).unwrap_err();
        assert_eq!(error.kind, PyErrorKind::Limit, "{text}: {}", error.message);
    }
}

#[test]
fn whole_numbers_are_divided_and_compared_exactly() {
    all_are(&[
        ("880572185794657840 / 3", "2.9352406193155264e+17"),
        ("(2 ** 126 + 1) / -(2 ** 126)", "-1.0"),
        ("1 / (2 ** 126)", "1.1754943508222875e-38"),
        (
            "(2 ** 54 + 2) / 1, (2 ** 54 + 6) / 1",
            "(1.8014398509481984e+16, 1.801439850948199e+16)",
        ),
        ("2 ** 53 + 1 == 2.0 ** 53", "False"),
        ("2 ** 53 + 1 > 2.0 ** 53", "True"),
        ("2.0 ** 53 < 2 ** 53 + 1 and 1.5 > 1 and -1.5 < -1", "True"),
        ("2 ** 53 + 1 in [2.0 ** 53]", "False"),
        (
            "1 == 1.0 and 1 < inf and -inf < 1 and 2 ** 100 < 1e300",
            "True",
        ),
        ("1 < nan or 1 > nan or 1 == nan", "False"),
    ]);
}

#[test]
fn numbers_are_rounded_to_places_before_the_point() {
    all_are(&[
        (
            "round(1.4358293586929947e+17, -1)",
            "1.4358293586929947e+17",
        ),
        ("round(-25.0, -1), round(35.0, -1)", "(-20.0, 40.0)"),
        ("round(5.0, -1), round(5.000001, -1)", "(0.0, 10.0)"),
        ("round(-6.0, -1), round(-4.0, -1)", "(-10.0, -0.0)"),
        ("round(1e23, -23), round(1e23, -22)", "(1e+23, 1e+23)"),
        ("round(4.0, -2 ** 126), round(4.0, 2 ** 126)", "(0.0, 4.0)"),
    ]);
    let error = eval("round(1.7e308, -308)").unwrap_err();
    assert!(error.contains("too large"), "{error}");
}

#[test]
fn values_that_functions_do_not_have_are_named() {
    for (text, message) in [
        ("math.log(2, 0)", "math.log(2, 0) is not defined"),
        ("math.log(2, 1)", "math.log(2, 1) is not defined"),
        ("math.log(0)", "math.log(0) is not defined"),
        ("math.exp(1000)", "math.exp(1000) is too large for a number"),
        (
            "math.gamma(200.5)",
            "math.gamma(200.5) is too large for a number",
        ),
        ("math.gamma(-1)", "math.gamma(-1) is not defined"),
        ("math.pow(0, -1)", "math.pow(0, -1) is not defined"),
        (
            "math.pow(10, 400)",
            "math.pow(10, 400) is too large for a number",
        ),
        ("math.comb(-1, 2)", "math.comb(-1, 2) is not defined"),
        ("math.sin(1, 2)", "math.sin() must have 1 argument, got 2"),
        ("math.log()", "math.log() must have 1 or 2 arguments, got 0"),
        (
            "math.floor(1e40)",
            "a whole number must have at most 127 bits",
        ),
        (
            "math.floor(inf)",
            "math.floor() must have a finite number, got inf",
        ),
    ] {
        assert_eq!(
            eval(text).as_ref().map_err(|e| &**e),
            Err(message),
            "{text}"
        );
    }
    all_are(&[
        ("math.degrees(1e308)", "inf"),
        (
            "math.floor(1.7e38)",
            "169999999999999998061923293023115935744",
        ),
    ]);
}

#[test]
fn values_without_an_order_are_sorted_as_by_python() {
    let items = "2.0, 3.0, 2.0, 8.0, 6.0, 0.0, 1.0, 2.0, 9.0, 0.0, 4.0, nan, 4.0, 7.0, 9.0, 6.0, \
                 6.0, 6.0, 9.0, 7.0, 2.0";
    let sorted = "[0.0, 0.0, 1.0, 2.0, 2.0, 2.0, 2.0, 3.0, 4.0, 4.0, 6.0, 6.0, 6.0, 6.0, 7.0, 7.0, \
                  8.0, 9.0, nan, 9.0, 9.0]";
    all_are(&[(&format!("sorted([{items}])"), sorted)]);
    for text in [
        format!("sorted([{}])", items.replace("nan", "'a'")),
        format!("[a.sort() for a in [[{}]]]", items.replace("nan", "'a'")),
        format!("sorted([{}] * 9)", items.replace("nan", "'a'")),
    ] {
        let error = eval(&text).unwrap_err();
        assert!(
            error.contains("operator '<' must have operands that fit, got str and float"),
            "{error}"
        );
    }
    all_are(&[
        (
            "sorted(['bb', 'a', 'cc', 'd'], key=len, reverse=True)",
            "['bb', 'cc', 'a', 'd']",
        ),
        (
            "sorted([-i % 7 for i in range(100)])[::20]",
            "[0, 1, 2, 4, 5]",
        ),
    ]);
}
