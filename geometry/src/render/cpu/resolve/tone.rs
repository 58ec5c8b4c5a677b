//! Filmic tone mapping of eight pixels at a time.

use crate::render::appearance::{GAMMA, ToneCurve};
use crate::render::cpu::gamma::to_screen;
use crate::render::cpu::simd::{Vector3x8, power};
use wide::f32x8;

impl ToneCurve {
    /// Maps screen colours of any brightness to `[0, 1]`.
    pub(crate) fn apply(&self, color: Vector3x8) -> Vector3x8 {
        let splat = f32x8::splat;
        to_screen(color.map(|x| {
            let light = power(x.max(splat(1e-6)), GAMMA) * splat(self.exposure);
            let top = power(light, Self::CONTRAST as f32);
            let bottom = power(top, Self::SHOULDER as f32) * splat(self.b) + splat(self.c);
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
            let map = ToneCurve::new(exposure);
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
