//! Python's module `math`.

use super::numbers::{overflow, to_whole};
use super::text::literal;
use super::value::{PyError, PyFunction, PyResult, PyValue};
use std::cmp::Ordering;
use std::f64::consts;

/// Names of functions.
#[rustfmt::skip]
const FUNCTIONS: &[&str] = &[
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "comb", "copysign",
    "cos", "cosh", "degrees", "dist", "erf", "erfc", "exp", "exp2", "expm1", "fabs", "factorial",
    "floor", "fmod", "frexp", "fsum", "gamma", "gcd", "hypot", "isclose", "isfinite", "isinf",
    "isnan", "isqrt", "lcm", "ldexp", "lgamma", "log", "log10", "log1p", "log2", "modf",
    "nextafter", "perm", "pow", "prod", "radians", "remainder", "sin", "sinh", "sqrt", "tan",
    "tanh", "trunc", "ulp",
];

/// Returns a function or a constant of the module.
pub(crate) fn name(name: &str) -> Option<PyValue> {
    let constant = match name {
        "pi" => consts::PI,
        "e" => consts::E,
        "tau" => consts::TAU,
        "inf" => f64::INFINITY,
        "nan" => f64::NAN,
        _ => {
            let found = FUNCTIONS.iter().find(|n| **n == name)?;
            return Some(PyValue::Function(PyFunction::Math(found)));
        }
    };
    Some(PyValue::Float(constant))
}

/// Error about arguments for which a function has no value.
fn undefined(name: &str, arguments: &[&PyValue]) -> PyError {
    PyError::new(format!("math.{name}({}) is not defined", shown(arguments)))
}

/// Error about arguments for which the value of a function is too large.
fn too_large(name: &str, arguments: &[&PyValue]) -> PyError {
    PyError::new(format!(
        "math.{name}({}) is too large for a number",
        shown(arguments)
    ))
}

fn shown(arguments: &[&PyValue]) -> String {
    let texts = arguments.iter().map(|a| literal(a).unwrap_or_default());
    texts.collect::<Vec<_>>().join(", ")
}

fn real(name: &str, value: &PyValue) -> PyResult<f64> {
    value.as_float().ok_or_else(|| {
        let cure = match value {
            PyValue::Str(_) => "; convert with float(...)",
            _ => "",
        };
        PyError::new(format!(
            "math.{name}() must have a number, got {}{cure}",
            value.a_type()
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
    let whole = |rounded: f64| to_whole(&format!("math.{name}"), rounded);
    let function: fn(f64) -> f64 = match name {
        "acos" => f64::acos,
        "acosh" => acosh,
        "asin" => f64::asin,
        "asinh" => asinh,
        "atan" => f64::atan,
        "atanh" => atanh,
        "cbrt" => f64::cbrt,
        "cos" => f64::cos,
        "cosh" => f64::cosh,
        "degrees" => |x| x * (180.0 / consts::PI),
        "erf" => libm::erf,
        "erfc" => libm::erfc,
        "exp" => f64::exp,
        "exp2" => f64::exp2,
        "expm1" => f64::exp_m1,
        "fabs" => f64::abs,
        "gamma" => libm::tgamma,
        "lgamma" => libm::lgamma,
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
        "ulp" => ulp,
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
        "frexp" => {
            return Some(real(name, value).map(|x| {
                let (fraction, exponent) = libm::frexp(x);
                PyValue::tuple(vec![
                    PyValue::Float(fraction),
                    PyValue::Int(exponent.into()),
                ])
            }));
        }
        "perm" => return Some(whole_number(name, value).and_then(factorial)),
        "factorial" => return Some(whole_number(name, value).and_then(factorial)),
        "isqrt" => {
            return Some(whole_number(name, value).and_then(|n| {
                if n >= 0 {
                    Ok(PyValue::Int(n.isqrt()))
                } else {
                    Err(undefined(name, &[value]))
                }
            }));
        }
        _ => return None,
    };
    Some(real(name, value).and_then(|x| {
        let y = function(x);
        // Except of `degrees`, Python has no infinite result of a finite number.
        let infinite = y.is_infinite() && x.is_finite() && name != "degrees";
        let pole = match name {
            "gamma" | "lgamma" => x <= 0.0,
            name => matches!(name, "atanh" | "log" | "log10" | "log1p" | "log2"),
        };
        match y.is_nan() && !x.is_nan() || infinite && pole {
            true => Err(undefined(name, &[value])),
            false if infinite => Err(too_large(name, &[value])),
            false => Ok(PyValue::Float(y)),
        }
    }))
}

fn two(name: &str, a: &PyValue, b: &PyValue) -> Option<PyResult> {
    if let "comb" | "perm" = name {
        let whole = |value| whole_number(name, value);
        return Some(whole(a).and_then(|n| match (n, whole(b)?) {
            (0.., k @ 0..) => choose(name, n, k),
            _ => Err(undefined(name, &[a, b])),
        }));
    }
    if name == "ldexp" {
        return Some(real(name, a).and_then(|x| {
            let power = b.index("the exponent of math.ldexp()")?.clamp(-5000, 5000) as i32;
            match libm::ldexp(x, power) {
                y if y.is_infinite() && x.is_finite() => Err(too_large(name, &[a, b])),
                y => Ok(PyValue::Float(y)),
            }
        }));
    }
    let function: fn(f64, f64) -> f64 = match name {
        "atan2" => f64::atan2,
        "copysign" => f64::copysign,
        "fmod" => |x, y| x % y,
        "log" => |x, base| match base {
            // Python takes both logarithms, of which that of zero is an error.
            0.0 => f64::NAN,
            base => x.ln() / base.ln(),
        },
        "pow" => f64::powf,
        "nextafter" => next_after,
        "remainder" => libm::remainder,
        _ => return None,
    };
    Some(real(name, a).and_then(|x| {
        let y = real(name, b)?;
        let z = function(x, y);
        let infinite = z.is_infinite() && x.is_finite() && y.is_finite();
        let pole = name == "log" || x == 0.0;
        match z.is_nan() && !x.is_nan() && !y.is_nan() || infinite && pole {
            true => Err(undefined(name, &[a, b])),
            false if infinite => Err(too_large(name, &[a, b])),
            false => Ok(PyValue::Float(z)),
        }
    }))
}

fn whole_number(name: &str, value: &PyValue) -> PyResult<i128> {
    value.index(&format!("the argument of math.{name}()"))
}

fn factorial(n: i128) -> PyResult {
    if n < 0 {
        return Err(undefined("factorial", &[&PyValue::Int(n)]));
    }
    if n > 33 {
        return Err(overflow());
    }
    let product = (1..=n).try_fold(1_i128, i128::checked_mul);
    product.map(PyValue::Int).ok_or_else(overflow)
}

/// Computes `comb` or `perm` of numbers that are not negative.
fn choose(name: &str, n: i128, k: i128) -> PyResult {
    if k > n {
        return Ok(PyValue::Int(0));
    }
    let k = if name == "comb" { k.min(n - k) } else { k };
    let mut value = 1_i128;
    for i in 0..k {
        let (mut factor, mut divisor) = (n - i, if name == "comb" { i + 1 } else { 1 });
        // Without common factors, no intermediate value is larger than the next result.
        let common = gcd(factor, divisor)?;
        (factor, divisor) = (factor / common, divisor / common);
        value = (value / divisor).checked_mul(factor).ok_or_else(overflow)?;
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
                let common = gcd(total, next)?;
                total = match name {
                    "gcd" => common,
                    _ if next == 0 || total == 0 => 0,
                    _ => (total / common).checked_mul(next).ok_or_else(overflow)?,
                };
            }
            total.checked_abs().map(PyValue::Int).ok_or_else(overflow)
        }
        "hypot" => {
            let reals = values.iter().map(|v| real(name, v));
            Ok(PyValue::Float(length(
                &reals.collect::<PyResult<Vec<_>>>()?,
            )))
        }
        "fsum" => {
            let reals = values.iter().map(|v| real(name, v));
            exact_sum(&reals.collect::<PyResult<Vec<_>>>()?).map(PyValue::Float)
        }
        _ => {
            let wanted = match name {
                "atan2" | "comb" | "copysign" | "dist" | "fmod" | "ldexp" | "nextafter" | "pow"
                | "remainder" => "2 arguments",
                "log" | "perm" => "1 or 2 arguments",
                _ => "1 argument",
            };
            let found = values.len();
            let message = format!("math.{name}() must have {wanted}, got {found}");
            Err(PyError::new(message))
        }
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

fn gcd(a: i128, b: i128) -> PyResult<i128> {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i128::try_from(a).map_err(|_| overflow())
}

/// Sum of numbers, rounded once (Shewchuk's algorithm, as in Python).
fn exact_sum(values: &[f64]) -> PyResult<f64> {
    if values.iter().any(|x| !x.is_finite()) {
        let sum: f64 = values.iter().filter(|x| !x.is_finite()).sum();
        let is_nan = values.iter().any(|x| x.is_nan());
        return if sum.is_nan() && !is_nan {
            Err(PyError::new("math.fsum() must not add inf and -inf"))
        } else {
            Ok(sum)
        };
    }
    // Numbers whose sum is exact, smallest first, and whose digits do not overlap.
    let mut partials: Vec<f64> = vec![];
    for value in values {
        let mut x = *value;
        let mut kept = 0;
        for i in 0..partials.len() {
            let y = partials[i];
            let (large, small) = if x.abs() < y.abs() { (y, x) } else { (x, y) };
            let sum = large + small;
            let lost = small - (sum - large);
            if lost != 0.0 {
                partials[kept] = lost;
                kept += 1;
            }
            x = sum;
        }
        partials.truncate(kept);
        partials.push(x);
    }
    let mut sum = partials.pop().unwrap_or(0.0);
    while let Some(y) = partials.pop() {
        let next = sum + y;
        let lost = y - (next - sum);
        sum = next;
        if lost != 0.0 {
            // A tie is rounded in the direction of what is left.
            let rest = partials.last().copied().unwrap_or(0.0);
            let doubled = lost * 2.0;
            if lost * rest.signum() > 0.0 && rest != 0.0 && (sum + doubled) - sum == doubled {
                sum += doubled;
            }
            break;
        }
    }
    if sum.is_finite() {
        Ok(sum)
    } else {
        Err(PyError::new("the sum of math.fsum() is too large"))
    }
}

/// Inverse hyperbolic functions with the formulas of the C library; those of Rust differ in the
/// last bits.
fn asinh(x: f64) -> f64 {
    let size = x.abs();
    let value = match size {
        _ if size < 3.8e-9 || !x.is_finite() => return x,
        _ if size > 2.0_f64.powi(28) => size.ln() + consts::LN_2,
        _ if size > 2.0 => (2.0 * size + 1.0 / ((x * x + 1.0).sqrt() + size)).ln(),
        _ => {
            let square = x * x;
            (size + square / (1.0 + (1.0 + square).sqrt())).ln_1p()
        }
    };
    value.copysign(x)
}
fn acosh(x: f64) -> f64 {
    match x {
        _ if x < 1.0 => f64::NAN,
        _ if x >= 2.0_f64.powi(28) => x.ln() + consts::LN_2,
        _ if x > 2.0 => (2.0 * x - 1.0 / (x + (x * x - 1.0).sqrt())).ln(),
        _ => {
            let t = x - 1.0;
            (t + (2.0 * t + t * t).sqrt()).ln_1p()
        }
    }
}
fn atanh(x: f64) -> f64 {
    let size = x.abs();
    let value = match size {
        _ if size < 2.0_f64.powi(-28) => return x,
        _ if size < 0.5 => {
            let t = size + size;
            0.5 * (t + t * size / (1.0 - size)).ln_1p()
        }
        _ => 0.5 * ((size + size) / (1.0 - size)).ln_1p(),
    };
    value.copysign(x)
}

/// Distance to the next larger number.
fn ulp(x: f64) -> f64 {
    let x = x.abs();
    match x.next_up() {
        _ if x.is_infinite() => x,
        next if next.is_infinite() => x - x.next_down(),
        next => next - x,
    }
}

fn next_after(x: f64, y: f64) -> f64 {
    match x.partial_cmp(&y) {
        None => f64::NAN,
        Some(Ordering::Equal) => y,
        Some(Ordering::Less) => x.next_up(),
        Some(Ordering::Greater) => x.next_down(),
    }
}
