//! Powers of eight positive numbers at a time.

use wide::{bytemuck, f32x8, i32x8};

/// Number of fraction bits of an `f32`.
const FRACTION: i32 = 23;
/// Constant that, added to a small number, leaves the nearest whole number in the low bits of the
/// sum.
const ROUNDING: f32 = 12_582_912.0; // 1.5 * 2^23

/// Computes `x^y` for x and results from 1e-38 to 1e38. Outside this range, the result is some
/// positive finite number.
///
/// `x^y = 2^(y log2 x)`. The logarithm is the exponent of x plus the series of
/// `log m = 2 artanh((m - 1) / (m + 1))` for a fraction m near 1. The power of two is a shift by
/// the whole part of the exponent, times the series of `e^(f log 2)` for the remaining fraction f
/// (M. Abramowitz, I. A. Stegun, "Handbook of mathematical functions", 1964, 4.1.27 and 4.2.1).
/// The series are as long as 8-bit colours need: the relative error is below
/// 3e-6 (1 + |y|) + 1e-7 |y log x|.
#[inline(always)]
pub(crate) fn power(x: f32x8, y: f32) -> f32x8 {
    let exponent = log2(x) * f32x8::splat(y);
    exp2(exponent)
}

#[inline(always)]
fn log2(x: f32x8) -> f32x8 {
    let splat = f32x8::splat;
    // Fractions are from sqrt(1/2) to sqrt(2), so exponents change there instead of at powers of
    // two.
    let root: i32x8 = bytemuck::cast(splat(std::f32::consts::FRAC_1_SQRT_2));
    let bits: i32x8 = bytemuck::cast(x);
    let exponent: i32x8 = (bits - root) >> FRACTION;
    let m: f32x8 = bytemuck::cast(bits - (exponent << FRACTION));
    let s = (m - f32x8::ONE) / (m + f32x8::ONE);
    let s2 = s * s;
    // 2 / ((2 k + 1) log 2). All further terms together are below 2e-6, because |s| < 0.172.
    let c = [2.885_39, 0.961_796_7, 0.577_078];
    let series = (splat(c[2]) * s2 + splat(c[1])) * s2 + splat(c[0]);
    whole(exponent) + s * series
}

#[inline(always)]
fn exp2(t: f32x8) -> f32x8 {
    let splat = f32x8::splat;
    let t = t.fast_max(splat(-126.0)).fast_min(splat(127.0));
    let rounded = t + splat(ROUNDING);
    let f = t - (rounded - splat(ROUNDING));
    // (log 2)^k / k!. All further terms together are below 3e-6, because |f| <= 1/2.
    let c = [
        1.0,
        std::f32::consts::LN_2,
        0.240_226_5,
        0.055_504_11,
        0.009_618_129,
        0.001_333_355_8,
    ];
    // Written out: `map` over blocks is not inlined.
    let high = (splat(c[5]) * f + splat(c[4])) * f + splat(c[3]);
    let series = ((high * f + splat(c[2])) * f + splat(c[1])) * f + splat(c[0]);
    // The shift leaves only the whole number.
    let exponent: i32x8 = bytemuck::cast(rounded);
    let bits: i32x8 = bytemuck::cast(series);
    bytemuck::cast(bits + (exponent << FRACTION))
}

/// Converts small whole numbers to floats.
#[inline(always)]
fn whole(n: i32x8) -> f32x8 {
    let rounding: i32x8 = bytemuck::cast(f32x8::splat(ROUNDING));
    let shifted: f32x8 = bytemuck::cast(n + rounding);
    shifted - f32x8::splat(ROUNDING)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(x: f32, y: f32) -> f32 {
        let all = power(f32x8::splat(x), y).to_array();
        assert!(all.iter().all(|v| v.to_bits() == all[0].to_bits()));
        all[0]
    }

    #[test]
    fn powers_match_f64() {
        for y in [1.0 / 2.2, 2.2, 1.1759, 0.9746, 0.0, 1.0, -0.5] {
            let mut x = 1e-12_f32;
            while x < 1e12 {
                let exact = f64::from(x).powf(f64::from(y));
                let error = (f64::from(one(x, y)) / exact - 1.0).abs();
                // The error bound stated in the documentation.
                let rounded = 1e-7 * f64::from(y * x.ln()).abs();
                let most = 3e-6 * (1.0 + f64::from(y).abs()) + rounded;
                assert!(error < most, "{x}^{y}: {error:e}, not {most:e}");
                x *= 1.0003;
            }
        }
    }

    #[test]
    fn powers_are_monotonic() {
        // At their boundaries, adjacent series differ by a few millionths.
        let (mut x, mut before) = (1e-9_f32, 0.0);
        while x < 1e3 {
            let now = one(x, 1.0 / 2.2);
            assert!(now > before, "{x}");
            (x, before) = (x * 1.000_03, now);
        }
    }

    #[test]
    fn results_out_of_range_are_positive_and_finite() {
        for x in [1e-38, f32::MIN_POSITIVE, 1e38, f32::MAX] {
            for y in [3.0, -3.0, 1.0 / 2.2] {
                let power = one(x, y);
                assert!(power.is_finite() && power > 0.0, "{x}^{y} = {power}");
            }
        }
    }
}
