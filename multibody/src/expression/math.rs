//! Python's module `math`.

use super::value::{PyError, PyFunction, PyResult, PyValue};
use std::f64::consts;

/// Names of functions.
const FUNCTIONS: [&str; 50] = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "ceil",
    "comb",
    "copysign",
    "cos",
    "cosh",
    "degrees",
    "dist",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "fabs",
    "factorial",
    "floor",
    "fmod",
    "fsum",
    "gamma",
    "gcd",
    "hypot",
    "isclose",
    "isfinite",
    "isinf",
    "isnan",
    "isqrt",
    "lcm",
    "ldexp",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "modf",
    "perm",
    "pow",
    "prod",
    "radians",
    "remainder",
    "sin",
    "sinh",
    "sqrt",
    "tan",
];
const MORE_FUNCTIONS: [&str; 5] = ["tanh", "trunc", "frexp", "nextafter", "ulp"];

/// Returns a function or a constant of the module.
pub(crate) fn name(name: &str) -> Option<PyValue> {
    let constant = match name {
        "pi" => consts::PI,
        "e" => consts::E,
        "tau" => consts::TAU,
        "inf" => f64::INFINITY,
        "nan" => f64::NAN,
        _ => {
            let mut names = FUNCTIONS.iter().chain(&MORE_FUNCTIONS);
            let found = names.find(|n| **n == name)?;
            return Some(PyValue::Function(PyFunction::Math(found)));
        }
    };
    Some(PyValue::Float(constant))
}

fn domain(name: &str) -> PyError {
    PyError::new(format!("math.{name}() is not defined there"))
}

fn real(name: &str, value: &PyValue) -> PyResult<f64> {
    value.as_float().ok_or_else(|| {
        let cure = match value {
            PyValue::Str(_) => "; convert with float(...)",
            _ => "",
        };
        PyError::new(format!(
            "math.{name}() must have a number, got a {}{cure}",
            value.type_name()
        ))
    })
}

/// Calls a function of plain numbers; `None` if the function has other arguments.
pub(super) fn call(name: &str, arguments: &[PyValue]) -> Option<PyResult> {
    match arguments {
        [value] => one(name, value),
        [a, b] => two(name, a, b),
        _ => None,
    }
}

fn one(name: &str, value: &PyValue) -> Option<PyResult> {
    if let (Some(i), "floor" | "ceil" | "trunc") = (value.as_int(), name) {
        return Some(Ok(PyValue::Int(i)));
    }
    let whole = |rounded: f64| match rounded.is_finite() && rounded.abs() < 1.7e38 {
        true => Ok(PyValue::Int(rounded as i128)),
        false => Err(PyError::new(format!(
            "math.{name}() must have a finite number"
        ))),
    };
    let function: fn(f64) -> f64 = match name {
        "acos" => f64::acos,
        "acosh" => f64::acosh,
        "asin" => f64::asin,
        "asinh" => f64::asinh,
        "atan" => f64::atan,
        "atanh" => f64::atanh,
        "cbrt" => f64::cbrt,
        "cos" => f64::cos,
        "cosh" => f64::cosh,
        "degrees" => |x| x * (180.0 / consts::PI),
        "exp" => f64::exp,
        "exp2" => f64::exp2,
        "expm1" => f64::exp_m1,
        "fabs" => f64::abs,
        "log" => f64::ln,
        "log10" => f64::log10,
        "log1p" => f64::ln_1p,
        "log2" => f64::log2,
        "radians" => |x| x * (consts::PI / 180.0),
        "sin" => f64::sin,
        "sinh" => f64::sinh,
        "sqrt" => f64::sqrt,
        "tan" => f64::tan,
        "tanh" => f64::tanh,
        "floor" => return Some(real(name, value).and_then(|x| whole(x.floor()))),
        "ceil" => return Some(real(name, value).and_then(|x| whole(x.ceil()))),
        "trunc" => return Some(real(name, value).and_then(|x| whole(x.trunc()))),
        "isfinite" | "isinf" | "isnan" => {
            return Some(real(name, value).map(|x| {
                PyValue::Bool(match name {
                    "isfinite" => x.is_finite(),
                    "isinf" => x.is_infinite(),
                    _ => x.is_nan(),
                })
            }));
        }
        "modf" => {
            return Some(real(name, value).map(|x| {
                let fraction = if x.is_infinite() { 0.0 } else { x.fract() };
                let parts = [fraction.copysign(x), x.trunc()];
                PyValue::tuple(parts.map(PyValue::Float).to_vec())
            }));
        }
        "factorial" => return Some(whole_number(name, value).and_then(factorial)),
        "isqrt" => {
            return Some(whole_number(name, value).and_then(|n| match n >= 0 {
                true => Ok(PyValue::Int(n.isqrt())),
                false => Err(domain(name)),
            }));
        }
        _ => return None,
    };
    Some(real(name, value).and_then(|x| {
        let y = function(x);
        let undefined = y.is_nan() && !x.is_nan();
        // Python has no infinite result of a finite number, except of a bound that was crossed.
        let infinite = y.is_infinite() && x.is_finite();
        match undefined || infinite {
            true => Err(domain(name)),
            false => Ok(PyValue::Float(y)),
        }
    }))
}

fn two(name: &str, a: &PyValue, b: &PyValue) -> Option<PyResult> {
    if let "comb" | "perm" = name {
        let whole = |value| whole_number(name, value);
        return Some(whole(a).and_then(|n| choose(name, n, whole(b)?)));
    }
    if name == "ldexp" {
        return Some(real(name, a).and_then(|x| {
            let power = b.index("the exponent of math.ldexp()")?.clamp(-5000, 5000) as i32;
            // In two steps, because one factor may be too large or too small on its own.
            let half = power / 2;
            Ok(PyValue::Float(
                x * 2.0_f64.powi(half) * 2.0_f64.powi(power - half),
            ))
        }));
    }
    let function: fn(f64, f64) -> f64 = match name {
        "atan2" => f64::atan2,
        "copysign" => f64::copysign,
        "fmod" => |x, y| x % y,
        "log" => |x, base| x.ln() / base.ln(),
        "pow" => f64::powf,
        "remainder" => |x, y| x - y * (x / y).round_ties_even(),
        _ => return None,
    };
    Some(real(name, a).and_then(|x| {
        let y = real(name, b)?;
        let z = function(x, y);
        let undefined = z.is_nan() && !x.is_nan() && !y.is_nan();
        let infinite = z.is_infinite() && x.is_finite() && y.is_finite();
        match undefined || infinite {
            true => Err(domain(name)),
            false => Ok(PyValue::Float(z)),
        }
    }))
}

fn whole_number(name: &str, value: &PyValue) -> PyResult<i128> {
    value.index(&format!("the argument of math.{name}()"))
}

fn factorial(n: i128) -> PyResult {
    if n < 0 {
        return Err(domain("factorial"));
    }
    let too_big = || PyError::limit("a whole number must have at most 127 bits");
    if n > 33 {
        return Err(too_big());
    }
    let product = (1..=n).try_fold(1_i128, i128::checked_mul);
    product.map(PyValue::Int).ok_or_else(too_big)
}

fn choose(name: &str, n: i128, k: i128) -> PyResult {
    if n < 0 || k < 0 {
        return Err(domain(name));
    }
    if k > n {
        return Ok(PyValue::Int(0));
    }
    let k = if name == "comb" { k.min(n - k) } else { k };
    let mut value = 1_i128;
    for i in 0..k {
        value = value
            .checked_mul(n - i)
            .ok_or_else(|| PyError::limit("a whole number must have at most 127 bits"))?;
        if name == "comb" {
            value /= i + 1;
        }
    }
    Ok(PyValue::Int(value))
}

/// Calls a function of any number of whole or real numbers.
pub(super) fn call_many(name: &str, values: &[PyValue]) -> PyResult {
    match name {
        "gcd" | "lcm" => {
            let mut total = i128::from(name == "lcm");
            for value in values {
                let next = whole_number(name, value)?;
                let common = gcd(total, next);
                total = match name {
                    "gcd" => common,
                    _ if next == 0 || total == 0 => 0,
                    _ => (total / common).checked_mul(next).ok_or_else(|| {
                        PyError::limit("a whole number must have at most 127 bits")
                    })?,
                };
            }
            Ok(PyValue::Int(total.saturating_abs()))
        }
        "hypot" => {
            let reals = values.iter().map(|v| real(name, v));
            Ok(PyValue::Float(length(
                &reals.collect::<PyResult<Vec<_>>>()?,
            )))
        }
        "fsum" => {
            let mut sum = 0.0;
            let mut lost = 0.0;
            for value in values {
                let x = real(name, value)?;
                let next: f64 = sum + x;
                lost += if f64::abs(sum) >= x.abs() {
                    (sum - next) + x
                } else {
                    (x - next) + sum
                };
                sum = next;
            }
            Ok(PyValue::Float(sum + lost))
        }
        _ => Err(PyError::unsupported(format!(
            "math.{name}() with {} arguments is unsupported",
            values.len()
        ))),
    }
}

/// Length of a vector, rounded correctly except in rare cases, as in Python 3.10 and newer.
pub(super) fn length(parts: &[f64]) -> f64 {
    let largest = parts.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    if parts.iter().any(|x| x.is_infinite()) {
        return f64::INFINITY;
    }
    if parts.iter().any(|x| x.is_nan()) {
        return f64::NAN;
    }
    // Scaled by a power of two, squares neither overflow nor vanish.
    let scale = match largest {
        x if x > 1e100 => 2.0_f64.powi(-600),
        x if x < 1e-100 => 2.0_f64.powi(600),
        _ => 1.0,
    };
    // The sum of the squares and its rounding errors.
    let (mut sum, mut lost) = (0.0_f64, 0.0_f64);
    for x in parts.iter().map(|x| x * scale) {
        let square = x * x;
        let total = sum + square;
        let small = total - sum;
        lost += (sum - (total - small)) + (square - small) + x.mul_add(x, -square);
        sum = total;
    }
    let root = (sum + lost).sqrt();
    if root == 0.0 {
        return 0.0;
    }
    let square = root * root;
    let rest = (sum - square) - root.mul_add(root, -square) + lost;
    (root + rest / (2.0 * root)) / scale
}

fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.saturating_abs(), b.saturating_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
