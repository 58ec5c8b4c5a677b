//! Measures the worst error of the signed distance of every pair of convex shapes, and writes the
//! tables of `docs/proximity_accuracy.md`: `cargo run --release --example proximity_accuracy
//! [COUNT] [FILE]`.
//!
//! Bodies are placed so that a point of each faces the other along a direction, with a known gap.
//! If the bodies are apart, this gap is the distance, because the direction separates them by as
//! much as the points are apart. In overlap, the gap is the depth unless another direction is
//! shallower; the configuration is left out if the margin of another direction proves that. Margins
//! are computed with 31 digits.

#![allow(clippy::print_stdout, reason = "examples show what they do")]

mod dd;
mod placement;
mod report;
#[path = "../support/truth.rs"]
#[allow(dead_code, reason = "shared with proximity_soak")]
mod truth;

use nalgebra::Vector3;
use placement::{Body, Placed, TYPES};
use std::process::ExitCode;
use tarragon::framework::random::RandomGenerator;
use tarragon::geometry::proximity::signed_distance;
use tarragon::prelude::*;
use truth::{Random, Real};

type AnyError = Box<dyn std::error::Error>;

/// A kind of configuration.
pub(crate) struct Setting {
    pub(crate) name: &'static str,
    /// Extent of the bodies (m).
    size: f64,
    /// Whether some extents are smaller by 1e-4.
    thin: bool,
    /// Signed distance as a function of a random number in (0, 1) and the smaller extent.
    gap: fn(f64, f64) -> f64,
    /// Unit of the errors.
    unit: Unit,
    /// Whether derivatives are measured, which needs a normal of the placement that is correct to
    /// 1e-10 after rounding the poses.
    pub(crate) derivatives: bool,
}

/// Unit by which errors are divided.
#[derive(Clone, Copy)]
enum Unit {
    Metre,
    LargerExtent,
    Distance,
}

const fn setting(name: &'static str, size: f64, gap: fn(f64, f64) -> f64) -> Setting {
    Setting {
        name,
        size,
        thin: false,
        gap,
        unit: Unit::Metre,
        derivatives: true,
    }
}

/// Settings of the tables; the first two are Drake's.
pub(crate) const SETTINGS: [Setting; 10] = [
    setting("2 mm deep", 0.2, |_, _| -2e-3),
    setting("2 mm apart", 0.2, |_, _| 2e-3),
    Setting {
        derivatives: false,
        ..setting("1e-9 m apart", 0.2, |_, _| 1e-9)
    },
    setting("1e-9 m deep", 0.2, |_, _| -1e-9),
    setting("deep", 0.2, |u, small| -small * (0.05 + 0.4 * u)),
    Setting {
        unit: Unit::Distance,
        ..setting("1 km apart", 0.2, |_, _| 1e3)
    },
    Setting {
        unit: Unit::LargerExtent,
        ..setting("1 mm large", 1e-3, |u, _| 2e-5 * (2.0 * u - 1.0))
    },
    Setting {
        unit: Unit::LargerExtent,
        ..setting("100 m large", 100.0, |u, _| 2.0 * (2.0 * u - 1.0))
    },
    Setting {
        unit: Unit::LargerExtent,
        thin: true,
        derivatives: false,
        ..setting("1:10^4, apart", 0.2, |u, _| 2e-3 * u)
    },
    Setting {
        unit: Unit::LargerExtent,
        thin: true,
        derivatives: false,
        ..setting("1:10^4, deep", 0.2, |u, _| -2e-6 * u)
    },
];

/// Worst errors of one pair of types in one setting.
#[derive(Clone, Copy, Default)]
pub(crate) struct Worst {
    /// Error of the distance in `f64` (m).
    pub(crate) value: f64,
    /// Error of the value in `AutoDiff` (m).
    pub(crate) dual: f64,
    /// Error of the derivatives by the position of A.
    pub(crate) derivative: f64,
    /// Largest difference between the normal's margin, the distance and the separation of the
    /// witnesses (m).
    pub(crate) certificate: f64,
    /// Number of configurations.
    pub(crate) count: usize,
}

impl Worst {
    fn described(&self, setting: &Setting, kinds: [&str; 2]) -> String {
        format!(
            "{} and {}, {}: value off by {:e} m, in AutoDiff by {:e} m, certificate {:e} m, derivative {:e}",
            kinds[0],
            kinds[1],
            setting.name,
            self.value,
            self.dual,
            self.certificate,
            self.derivative
        )
    }
}

/// Number of printed configurations that violate the promise, as lines for `tarragon query`.
const SHOWN: usize = 20;

fn main() -> Result<ExitCode, AnyError> {
    let mut args = std::env::args().skip(1);
    let count: usize = args.next().map_or(Ok(1000), |text| text.parse())?;
    let path = args.next();
    let path = path.unwrap_or("docs/proximity_accuracy.md".into());
    let (mut rows, mut broken) = (vec![], 0);
    for (i, a) in TYPES.into_iter().enumerate() {
        for (j, b) in TYPES.into_iter().enumerate().take(i + 1) {
            if (a, b) == ("HalfSpace", "HalfSpace") {
                continue;
            }
            let mut worst = [Worst::default(); SETTINGS.len()];
            for (k, setting) in SETTINGS.iter().enumerate() {
                let seed = ((i * TYPES.len() + j) * SETTINGS.len() + k) as u64;
                let mut r = Random(RandomGenerator::stream(1, seed));
                worst[k] = measure(&mut r, [b, a], setting, count, &mut broken)?;
            }
            rows.push(([b, a], worst));
        }
    }
    let (text, kept) = report::tables(&rows, count);
    std::fs::write(&path, text)?;
    println!(
        "{path}: the contract is {}",
        if kept { "kept" } else { "broken" }
    );
    Ok(if kept {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Tries per required configuration, some of which are left out.
const TRIES: usize = 20;

fn measure(
    r: &mut Random,
    kinds: [&str; 2],
    setting: &Setting,
    count: usize,
    broken: &mut usize,
) -> Result<Worst, AnyError> {
    let mut worst = Worst::default();
    for _ in 0..TRIES * count {
        if worst.count == count {
            break;
        }
        let mut body = |kind| Body::random(r, kind, setting.size, setting.thin);
        let (a, b) = (body(kinds[0])?, body(kinds[1])?);
        let smaller = |x: f64, y: f64| if x > 0.0 { x.min(y) } else { y };
        let small = smaller(a.extent, if b.extent > 0.0 { b.extent } else { a.extent });
        let larger = a.extent.max(b.extent);
        let gap = (setting.gap)(r.range(0.0, 1.0), small);
        let scale = match setting.unit {
            Unit::Metre => 1.0,
            Unit::LargerExtent => larger,
            Unit::Distance => gap,
        };
        let placed = Placed::random(r, a, b, gap);
        if let Some(errors) = errors(r, &placed)? {
            worst.count += 1;
            let above = errors.value.max(errors.dual).max(errors.certificate) / scale;
            if above > report::VALUE
                || setting.derivatives && errors.derivative > report::DERIVATIVE
            {
                *broken += 1;
                if *broken <= SHOWN {
                    println!(
                        "{}\n{}",
                        errors.described(setting, kinds),
                        placed.line(*broken)?
                    );
                }
            }
            let keep = |worst: &mut f64, error: f64| *worst = worst.max(error / scale);
            keep(&mut worst.value, errors.value);
            keep(&mut worst.dual, errors.dual);
            keep(&mut worst.certificate, errors.certificate);
            if setting.derivatives {
                worst.derivative = worst.derivative.max(errors.derivative);
            }
        }
    }
    Ok(worst)
}

/// The errors of one configuration; None if its distance is not the gap with which it was placed.
fn errors(r: &mut Random, placed: &Placed) -> Result<Option<Worst>, AnyError> {
    let Placed {
        a, b, x_wa, x_wb, ..
    } = placed;
    let found = signed_distance(&a.solid.shape, x_wa, &b.solid.shape, x_wb)?;
    let own = placed.margin_of(&found.nhat_ba_w);
    let mut truth = placed.gap;
    let extent = a.extent.max(b.extent);
    let is_plane = |body: &Body| matches!(body.solid.shape, Shape::HalfSpace(_));
    if truth.value() < 0.0 && !is_plane(a) && !is_plane(b) {
        if (own - truth).value() > 1e-13 * extent {
            return Ok(None);
        }
        // The query may have missed a shallower direction; a climb ends about 1e-9 below the
        // maximum.
        let other = placed.searched(r);
        if other > truth.value() + 1e-9 * extent {
            truth = Real::of(other);
        }
    }
    let mut x_dual = x_wa.cast::<AutoDiff>();
    for i in 0..3 {
        x_dual.translation.vector[i] = AutoDiff::variable(x_wa.translation.vector[i], i);
    }
    let dual = signed_distance(&a.solid.shape, &x_dual, &b.solid.shape, &x_wb.cast())?;
    let error = |value: f64| (truth - Real::of(value)).value().abs();
    // If two directions are equally deep, either is right.
    let placed_n = -Vector3::from(placed.n.map(Real::value));
    let is_other = (found.nhat_ba_w - placed_n).norm() > 1e-6;
    let as_good = (truth - own).value() < 1e-15 * extent;
    let normal = if is_other && as_good {
        found.nhat_ba_w
    } else {
        placed_n
    };
    let apart = (found.p_wca - found.p_wcb).norm();
    let uncertain = (own - Real::of(found.distance)).value().abs();
    Ok(Some(Worst {
        value: error(found.distance),
        dual: error(dual.distance.re),
        derivative: (0..3)
            .map(|i| (dual.distance.eps[i] - normal[i]).abs())
            .fold(0.0, f64::max),
        certificate: uncertain.max((apart - found.distance.abs()).abs()),
        count: 1,
    }))
}
