//! Images that MuJoCo makes from a few numbers.
//!
//! Source: "XML Reference" of MuJoCo's documentation, `asset/texture`: `builtin`, `mark`, `rgb1`,
//! `rgb2`, `markrgb`, `random`. How colours follow from places is that of MuJoCo 3.3, byte for byte
//! but for random dots.

use crate::mjcf::read::pixels::{MAX_PIXELS, Pixels};
use crate::mjcf::read::tree::ElementRef;
use std::f64::consts::{FRAC_PI_2, SQRT_2};
use tarragon_documents::xml::Parsed;
use tarragon_framework::random::RandomGenerator;

/// Seed of random dots: a model always looks the same.
const SEED: u64 = 1;

/// Faces of a cube map in the order of its images: right, left, up, down, front and back.
const UP: usize = 2;
const DOWN: usize = 3;
const FRONT: usize = 4;

/// A generated image, or six of a cube.
#[derive(Clone, Debug)]
pub(super) struct GeneratedTexture {
    pattern: Pattern,
    mark: Mark,
    colors: [[f64; 3]; 2],
    mark_color: [f64; 3],
    /// Part of the pixels that are random dots.
    random: f64,
    size: [usize; 2],
}

#[derive(Clone, Copy, Debug)]
enum Pattern {
    Gradient,
    Checker,
    Flat,
}

#[derive(Clone, Copy, Debug)]
enum Mark {
    None,
    Edge,
    Cross,
    Random,
}

fn bytes(color: [f64; 3]) -> [u8; 3] {
    // Truncated, not rounded, and saturating.
    color.map(|x| (255.0 * x) as u8)
}

/// Returns a colour between two, the first where `at` is 1 and the second where it is -1, along a
/// sigmoid.
fn between([a, b]: [[f64; 3]; 2], at: f64) -> [u8; 3] {
    let part = 0.5 * (1.0 + at / (1.0 + at * at).sqrt() * SQRT_2);
    let part = part.clamp(0.0, 1.0);
    bytes([0, 1, 2].map(|k| part * a[k] + (1.0 - part) * b[k]))
}

fn checker([a, b]: [[u8; 3]; 2], [width, height]: [usize; 2]) -> Pixels {
    Pixels::of(width, height, |r, c| {
        if (r < height / 2) == (c < width / 2) {
            a
        } else {
            b
        }
    })
}

impl GeneratedTexture {
    /// Reads the attributes; `None` if the texture is not generated. `limit` is the maximum number
    /// of pixels.
    pub(super) fn read(node: ElementRef<'_>, is_cube: bool, limit: f64) -> Parsed<Option<Self>> {
        let patterns = ["none", "gradient", "checker", "flat"];
        let pattern = match node.choice("builtin", &patterns)? {
            None | Some("none") => return Ok(None),
            Some("gradient") => Pattern::Gradient,
            Some("checker") => Pattern::Checker,
            Some(_) => Pattern::Flat,
        };
        let mark = match node.choice("mark", &["none", "edge", "cross", "random"])? {
            Some("edge") => Mark::Edge,
            Some("cross") => Mark::Cross,
            Some("random") => Mark::Random,
            _ => Mark::None,
        };
        let width = node.number("width")?.unwrap_or(0.0);
        // The images of a cube are square.
        let height = if is_cube {
            width
        } else {
            node.number("height")?.unwrap_or(0.0)
        };
        let faces = if is_cube { 6.0 } else { 1.0 };
        let is_count = |n: f64| n >= 1.0 && n.fract() == 0.0;
        let fits = faces * width * height <= limit;
        if !(is_count(width) && is_count(height) && fits) {
            let message = format!(
                "a builtin texture must have a width and a height of at least 1 and at most \
                 {MAX_PIXELS} pixels, got {width:?} x {height:?}"
            );
            return Err(node.error_at("width", message));
        }
        let color = |name: &str, default: f64| {
            let found = node.vector::<3>(name)?;
            Ok(found.unwrap_or([default; 3]))
        };
        Ok(Some(Self {
            pattern,
            mark,
            colors: [color("rgb1", 0.8)?, color("rgb2", 0.5)?],
            mark_color: color("markrgb", 0.0)?,
            random: node.number("random")?.unwrap_or(0.01),
            size: [width as usize, height as usize],
        }))
    }

    /// Returns the number of pixels.
    pub(super) fn num_pixels(&self, is_cube: bool) -> usize {
        let [width, height] = self.size;
        let faces = if is_cube { 6 } else { 1 };
        width.saturating_mul(height).saturating_mul(faces)
    }

    /// Returns the flat image.
    pub(super) fn flat(&self) -> Pixels {
        let [width, height] = self.size;
        let colors = self.colors.map(bytes);
        let mut image = match self.pattern {
            Pattern::Gradient => Pixels::of(width, height, |r, c| {
                let (x, y) = (across(c, width), -across(r, height));
                let [first, second] = self.colors;
                between([second, first], 2.0 * (x * x + y * y).sqrt() - 1.0)
            }),
            Pattern::Checker => checker(colors, self.size),
            Pattern::Flat => Pixels::of(width, height, |_, _| colors[0]),
        };
        self.mark(&mut image, &mut RandomGenerator::new(SEED));
        image
    }

    /// Returns the six images of a cube.
    pub(super) fn cube(&self) -> [Pixels; 6] {
        let [width, height] = self.size;
        let [first, second] = self.colors.map(bytes);
        let mut random = RandomGenerator::new(SEED);
        [0, 1, 2, 3, 4, 5].map(|face| {
            let mut image = match self.pattern {
                Pattern::Gradient => Pixels::of(width, height, |r, c| {
                    let (x, y) = (across(c, width), -across(r, height));
                    let length = (1.0 + x * x + y * y).sqrt();
                    let up = 1.0 - (1.0 / length).acos() / FRAC_PI_2;
                    let elevation = match face {
                        UP => up,
                        DOWN => -up,
                        _ => (y / length).asin() / FRAC_PI_2,
                    };
                    between(self.colors, elevation)
                }),
                Pattern::Checker if face >= FRONT => checker([second, first], self.size),
                Pattern::Checker => checker([first, second], self.size),
                Pattern::Flat => {
                    let color = if face == DOWN { second } else { first };
                    Pixels::of(width, height, |_, _| color)
                }
            };
            self.mark(&mut image, &mut random);
            image
        })
    }

    /// Adds the marks to an image.
    fn mark(&self, image: &mut Pixels, random: &mut RandomGenerator) {
        let (width, height) = (image.width, image.height);
        let color = bytes(self.mark_color);
        let mut fill_lines = |rows: &[usize], columns: &[usize]| {
            for r in rows {
                image.rgb[r * width..(r + 1) * width].fill(color);
            }
            for row in image.rgb.chunks_exact_mut(width) {
                columns.iter().for_each(|c| row[*c] = color);
            }
        };
        match self.mark {
            Mark::None => {}
            Mark::Edge => fill_lines(&[0, height - 1], &[0, width - 1]),
            Mark::Cross => fill_lines(&[height / 2], &[width / 2]),
            Mark::Random => {
                for pixel in &mut image.rgb {
                    if random.uniform(0.0, 1.0) < self.random {
                        *pixel = color;
                    }
                }
            }
        }
    }
}

/// Returns the place of a column or row, from -1 to 1.
fn across(i: usize, n: usize) -> f64 {
    2.0 * i as f64 / (n.max(2) - 1) as f64 - 1.0
}
