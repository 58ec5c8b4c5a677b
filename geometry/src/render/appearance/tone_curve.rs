//! Filmic tone mapping (T. Lottes, "Advanced techniques and optimization of HDR color pipelines",
//! GDC 2016) with Drake's preset.

/// Linear light that the curve maps to itself (middle grey).
const MIDDLE: f64 = 0.18;
/// Linear light that the curve maps to white.
const WHITE: f64 = 6.3704;

/// Tone curve `x^a / (b x^(a d) + c)`, where x is linear light times the exposure, a is
/// [`CONTRAST`](Self::CONTRAST) and d is [`SHOULDER`](Self::SHOULDER).
#[derive(Clone, Copy, Debug)]
pub struct ToneCurve {
    /// Factor of the light.
    pub exposure: f32,
    /// Coefficient b.
    pub b: f32,
    /// Coefficient c.
    pub c: f32,
}

impl ToneCurve {
    /// Exponent a.
    pub const CONTRAST: f64 = 1.1759;
    /// Exponent d.
    pub const SHOULDER: f64 = 0.9746;

    /// Creates the curve from the exposure, which must be positive.
    pub fn new(exposure: f64) -> Self {
        // Two linear equations: the curve goes through (middle, middle) and (white, 1).
        let power = Self::CONTRAST * Self::SHOULDER;
        let (m, w) = (MIDDLE.powf(power), WHITE.powf(power));
        let (ma, wa) = (
            MIDDLE.powf(Self::CONTRAST) / MIDDLE,
            WHITE.powf(Self::CONTRAST),
        );
        let b = (wa - ma) / (w - m);
        Self {
            exposure: exposure as f32,
            b: b as f32,
            c: (wa - b * w) as f32,
        }
    }
}
