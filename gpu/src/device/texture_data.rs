//! Textures in the form that shaders read.

use crate::shader_source::{CLAMP, MIRROR, REPEAT};
use std::collections::BTreeMap;
use std::sync::Arc;
use tarragon_geometry::mesh::Wrap;
use tarragon_geometry::render::appearance::PlacedTexture;

/// Number of words of a texture, and of a level.
const PLACED: usize = 12;
const LEVEL: usize = 4;

/// Textures of a mesh. Images are stored once.
#[derive(Default)]
pub(crate) struct Textures(Vec<PlacedTexture>);

impl Textures {
    /// Adds a texture of a material. Returns its index.
    pub(crate) fn add(&mut self, texture: &PlacedTexture) -> u32 {
        self.0.push(texture.clone());
        self.0.len() as u32 - 1
    }
    /// Returns the descriptions of textures and levels, and the texels.
    pub(crate) fn words(&self) -> (Vec<u32>, Vec<u32>) {
        let (mut infos, mut levels, mut texels) = (Vec::new(), Vec::new(), Vec::new());
        let wrap = |w: Wrap| match w {
            Wrap::Repeat => REPEAT,
            Wrap::MirroredRepeat => MIRROR,
            Wrap::ClampToEdge => CLAMP,
        };
        // First levels by address.
        let mut known = BTreeMap::new();
        for PlacedTexture {
            image,
            uv_set,
            uv_transform,
        } in &self.0
        {
            let first = *known.entry(Arc::as_ptr(image).addr()).or_insert_with(|| {
                let first = (PLACED * self.0.len() + levels.len()) / LEVEL;
                for level in image.levels() {
                    let first = (texels.len() / 2) as u32;
                    levels.extend([level.width as u32, level.height as u32, first, 0]);
                    for [r, g, b, a] in &level.pixels {
                        texels.extend([pack(*r, *g), pack(*b, *a)]);
                    }
                }
                first as u32
            });
            let [u, v] = image.wrap().map(wrap);
            infos.extend([first, image.levels().len() as u32, u, v]);
            let [[a, b, c], [d, e, f]] = uv_transform.map(|row| row.map(f32::to_bits));
            infos.extend([a, b, c, *uv_set as u32, d, e, f, 0]);
        }
        infos.extend(levels);
        (infos, texels)
    }
}

/// Packs two numbers as half floats, the first one in the low bits.
fn pack(a: f32, b: f32) -> u32 {
    u32::from(half(a)) | u32::from(half(b)) << 16
}

/// Rounds a number that is not negative to the nearest half float; at most the largest one.
fn half(x: f32) -> u16 {
    // The largest finite half float.
    const MOST: f32 = 65504.0;
    let x = if x > 0.0 { x.min(MOST) } else { 0.0 };
    // Below 2^-14, half floats are multiples of 2^-24.
    if x < 6.103_515_6e-5 {
        return (x * 16_777_216.0).round() as u16;
    }
    let bits = x.to_bits();
    // Shifts the exponent from bias 127 to 15, and rounds the 13 bits that are lost.
    let rounded = bits - (112 << 23) + 0xfff + (bits >> 13 & 1);
    (rounded >> 13) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn float(h: u16) -> f32 {
        let (e, m) = (i32::from(h >> 10), f32::from(h & 0x3ff));
        match e {
            0 => m * 2.0_f32.powi(-24),
            _ => (1.0 + m / 1024.0) * 2.0_f32.powi(e - 15),
        }
    }

    #[test]
    fn half_floats_round_to_the_nearest() {
        for h in 0..0x7c00 {
            assert_eq!(half(float(h)), h);
        }
        for (x, rounded) in [
            (-1.0, 0.0),
            (1.0 + 0.0004, 1.0),
            (1.0 + 0.0006, 1.0 + 1.0 / 1024.0),
            (1e9, 65504.0),
            (f32::NAN, 0.0),
        ] {
            assert_eq!(float(half(x)), rounded, "{x}");
        }
    }
}
