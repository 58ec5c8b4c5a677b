//! Filmic tone mapping (T. Lottes, "Advanced techniques and optimization of HDR color pipelines",
//! GDC 2016) with Drake's preset.

use crate::render::cpu::gamma::{GAMMA, to_screen};
use crate::render::cpu::simd::{Vector3x8, power};
use wide::f32x8;

const CONTRAST: f64 = 1.1759;
const SHOULDER: f64 = 0.9746;
/// Linear light that the curve maps to itself (middle grey).
const MIDDLE: f64 = 0.18;
/// Linear light that the curve maps to white.
const WHITE: f64 = 6.3704;

/// Tone curve `x^a / (b x^(a d) + c)`, where x is linear light times the exposure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ToneMap {
    exposure: f32,
    b: f32,
    c: f32,
}

impl ToneMap {
    pub(crate) fn new(exposure: f64) -> Self {
        // Two linear equations: the curve goes through (middle, middle) and (white, 1).
        let power = CONTRAST * SHOULDER;
        let (m, w) = (MIDDLE.powf(power), WHITE.powf(power));
        let (ma, wa) = (MIDDLE.powf(CONTRAST) / MIDDLE, WHITE.powf(CONTRAST));
        let b = (wa - ma) / (w - m);
        Self {
            exposure: exposure as f32,
            b: b as f32,
            c: (wa - b * w) as f32,
        }
    }
    /// Maps screen colours of any brightness to `[0, 1]`.
    pub(crate) fn apply(&self, color: Vector3x8) -> Vector3x8 {
        let splat = f32x8::splat;
        to_screen(color.map(|x| {
            let light = power(x.max(splat(1e-6)), GAMMA) * splat(self.exposure);
            let top = power(light, CONTRAST as f32);
            let bottom = power(top, SHOULDER as f32) * splat(self.b) + splat(self.c);
            (top / bottom).fast_min(f32x8::ONE)
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tone_curve_matches_drake() {
        // Greys of a background drawn by RenderEngineVtk 1.51.1 with these exposures.
        let greys = [0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0];
        for (exposure, drawn) in [
            (0.5, [0, 7, 15, 33, 53, 73, 93, 112, 129, 145, 160, 172]),
            (1.0, [0, 9, 21, 48, 75, 102, 127, 149, 167, 183, 196, 207]),
            (2.0, [0, 14, 31, 68, 105, 138, 165, 186, 203, 215, 225, 232]),
        ] {
            let map = ToneMap::new(exposure);
            for (grey, expected) in greys.iter().zip(drawn) {
                // Backgrounds are rounded to bytes before tone mapping.
                let byte = f32x8::splat((grey * 255.0_f32).round() / 255.0);
                let [r, g, _] = map.apply([byte; 3]);
                assert_eq!(r.to_array(), g.to_array());
                let error = (255.0 * r.to_array()[0] - expected as f32).abs();
                assert!(error <= 1.0, "{exposure} {grey}: off by {error}");
            }
        }
    }
}
