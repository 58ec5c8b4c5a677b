//! Linear light, and what the screen makes of it.

use super::simd::{Vector3x8, power};
use wide::f32x8;

/// Linear light is the screen's value to this power.
pub(super) const GAMMA: f32 = 2.2;

/// Linear light as the screen shows it, without an upper end.
pub(super) fn to_screen(mut light: Vector3x8) -> Vector3x8 {
    let least = f32x8::splat(1e-8);
    for c in &mut light {
        *c = c.simd_ge(least) & power(c.fast_max(least), 1.0 / GAMMA);
    }
    light
}
