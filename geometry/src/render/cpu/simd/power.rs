//! Powers of eight positive numbers at a time.

use wide::{bytemuck, f32x8, i32x8};

/// Bits of a number's fraction.
const FRACTION: i32 = 23;
/// Adding this to a small number leaves its nearest whole number in the last bits of the sum.
const ROUNDING: f32 = 12_582_912.0; // 1.5 * 2^23

/// `x^y` for x from 1e-38 to 1e38, as far as the result is in that range too; what is outside of it
/// comes out as something positive and finite.
///
/// `x^y = 2^(y log2 x)`. The logarithm is that of x's exponent plus the series of `log m = 2
/// artanh((m - 1) / (m + 1))` for a fraction m near 1, the power of two the series of `e^(f log 2)`
/// for what the whole exponent leaves (M. Abramowitz, I. A. Stegun, "Handbook of mathematical
/// functions", 1964, 4.1.27 and 4.2.1), as long as 8-bit colours need them: the relative error is
/// below 3e-6 (1 + |y|) + 1e-7 |y log x|.
#[inline(always)]
pub(crate) fn power(x: f32x8, y: f32) -> f32x8 {
    let exponent = log2(x) * f32x8::splat(y);
    exp2(exponent)
}

#[inline(always)]
fn log2(x: f32x8) -> f32x8 {
    let splat = f32x8::splat;
    // Fractions from sqrt(1/2) to sqrt(2): exponents change there instead of at powers of two.
    let root: i32x8 = bytemuck::cast(splat(std::f32::consts::FRAC_1_SQRT_2));
    let bits: i32x8 = bytemuck::cast(x);
    let exponent: i32x8 = (bits - root) >> FRACTION;
    let m: f32x8 = bytemuck::cast(bits - (exponent << FRACTION));
    let s = (m - f32x8::ONE) / (m + f32x8::ONE);
    let s2 = s * s;
    // 2 / ((2 k + 1) log 2); what follows is below 2e-6 altogether, as |s| < 0.172.
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
    // (log 2)^k / k!; what follows is below 3e-6, as |f| <= 1/2.
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
    // Everything but the whole number is shifted out.
    let exponent: i32x8 = bytemuck::cast(rounded);
    let bits: i32x8 = bytemuck::cast(series);
    bytemuck::cast(bits + (exponent << FRACTION))
}

/// Small whole numbers.
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
    fn powers_are_those_of_f64() {
        for y in [1.0 / 2.2, 2.2, 1.1759, 0.9746, 0.0, 1.0, -0.5] {
            let mut x = 1e-12_f32;
            while x < 1e12 {
                let exact = f64::from(x).powf(f64::from(y));
                let error = (f64::from(one(x, y)) / exact - 1.0).abs();
                // As declared.
                let rounded = 1e-7 * f64::from(y * x.ln()).abs();
                let most = 3e-6 * (1.0 + f64::from(y).abs()) + rounded;
                assert!(error < most, "{x}^{y}: {error:e}, not {most:e}");
                x *= 1.0003;
            }
        }
    }

    #[test]
    fn larger_numbers_have_larger_powers() {
        // Where series meet, they differ by a few millionths.
        let (mut x, mut before) = (1e-9_f32, 0.0);
        while x < 1e3 {
            let now = one(x, 1.0 / 2.2);
            assert!(now > before, "{x}");
            (x, before) = (x * 1.000_03, now);
        }
    }

    #[test]
    fn what_is_out_of_range_stays_a_number() {
        for x in [1e-38, f32::MIN_POSITIVE, 1e38, f32::MAX] {
            for y in [3.0, -3.0, 1.0 / 2.2] {
                let power = one(x, y);
                assert!(power.is_finite() && power > 0.0, "{x}^{y} = {power}");
            }
        }
    }
}
