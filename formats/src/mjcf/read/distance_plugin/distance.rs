//! Distance functions of MuJoCo's plugins: negative inside, and approximate away from the surface.
//!
//! Shapes and defaults come from `plugin/sdf` of MuJoCo 3.3. Bolt and nut follow
//! shadertoy.com/view/XtffzX, the bowl follows iquilezles.org/articles/distfunctions.

use super::combine::{from_axis, without};
use super::gear::Gear;
use nalgebra::Vector3;
use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// Turns of the thread of bolts and nuts per metre.
const TURNS: f64 = 12.0;
/// Distance of the faces of a hexagonal head from its axis (m).
const HEAD: f64 = 0.5;

/// Names of the plugins.
pub(super) const NAMES: [&str; 5] = [
    "mujoco.sdf.bolt",
    "mujoco.sdf.bowl",
    "mujoco.sdf.gear",
    "mujoco.sdf.nut",
    "mujoco.sdf.torus",
];

/// A distance function with its attributes. Lengths are in metres.
#[derive(Clone, Debug)]
pub(super) enum DistanceFunction {
    Bolt {
        radius: f64,
    },
    Bowl {
        height: f64,
        radius: f64,
        thickness: f64,
    },
    Gear(Gear),
    Nut {
        radius: f64,
    },
    Torus {
        major: f64,
        minor: f64,
    },
}

/// Returns the function of a plugin with its default attributes.
pub(super) fn named(plugin: &str) -> Option<DistanceFunction> {
    Some(match plugin.strip_prefix("mujoco.sdf.")? {
        "bolt" => DistanceFunction::Bolt { radius: 0.26 },
        "bowl" => DistanceFunction::Bowl {
            height: 0.4,
            radius: 1.0,
            thickness: 0.02,
        },
        "gear" => DistanceFunction::Gear(Gear::default()),
        "nut" => DistanceFunction::Nut { radius: 0.26 },
        "torus" => DistanceFunction::Torus {
            major: 0.35,
            minor: 0.15,
        },
        _ => return None,
    })
}

impl DistanceFunction {
    /// Returns the attributes by name.
    fn attributes(&mut self) -> Vec<(&'static str, &mut f64)> {
        match self {
            Self::Bolt { radius } | Self::Nut { radius } => vec![("radius", radius)],
            Self::Bowl {
                height,
                radius,
                thickness,
            } => vec![
                ("height", height),
                ("radius", radius),
                ("thickness", thickness),
            ],
            Self::Gear(gear) => gear.attributes(),
            Self::Torus { major, minor } => vec![("radius1", major), ("radius2", minor)],
        }
    }

    pub(super) fn attribute(&mut self, name: &str) -> Option<&mut f64> {
        let mut attributes = self.attributes().into_iter();
        attributes.find(|(n, _)| *n == name).map(|(_, value)| value)
    }

    pub(super) fn attribute_names(&mut self) -> Vec<&'static str> {
        self.attributes()
            .into_iter()
            .map(|(name, _)| name)
            .collect()
    }

    /// Returns half the size of the box, centred at the origin, that MuJoCo samples.
    pub(super) fn half_extents(&self) -> [f64; 3] {
        match self {
            Self::Bolt { .. } | Self::Nut { .. } => [0.6, 0.6, 1.0],
            Self::Bowl {
                radius, thickness, ..
            } => [radius + thickness; 3],
            Self::Gear(gear) => gear.half_extents(),
            Self::Torus { major, minor } => [major + minor, major + minor, *minor],
        }
    }

    /// Computes the signed distance (m) of a point.
    pub(super) fn distance(&self, p: &Vector3<f64>) -> f64 {
        match self {
            Self::Bolt { radius } => bolt(p, *radius),
            Self::Bowl {
                height,
                radius,
                thickness,
            } => bowl(p, [*height, *radius, *thickness]),
            Self::Gear(gear) => gear.distance(p),
            Self::Nut { radius } => nut(p, *radius),
            Self::Torus { major, minor } => {
                let ring = from_axis(p) - major;
                (ring * ring + p.z * p.z).sqrt() - minor
            }
        }
    }
}

/// A bowl: part of a sphere around the origin below a height, with a thickness on both sides.
fn bowl(p: &Vector3<f64>, [height, radius, thickness]: [f64; 3]) -> f64 {
    let rim = (radius * radius - height * height).sqrt();
    let out = from_axis(p);
    let from_surface = if height * out < rim * p.z {
        let (x, z) = (out - rim, p.z - height);
        (x * x + z * z).sqrt()
    } else {
        ((out * out + p.z * p.z).sqrt() - radius).abs()
    };
    from_surface - thickness
}

/// A thread around the z axis, whose cross-section is a triangle wave.
fn thread(p: &Vector3<f64>, outside: f64) -> f64 {
    let phase = p.z * TURNS - p.y.atan2(p.x) / PI / 2.0;
    let wave = (phase - phase.floor() - 0.5).abs();
    (outside - wave / TURNS) * FRAC_1_SQRT_2
}

/// A hexagonal head between z = -0.5 and 0, rounded by a cone; `outside` is the distance from the
/// shaft.
fn head(p: &Vector3<f64>, outside: f64) -> f64 {
    let sides_per_turn = 6.0 / PI / 2.0;
    let angle = -(p.y.atan2(p.x) * sides_per_turn + 0.5).floor() / sides_per_turn;
    let (sin, cos) = (angle.sin(), (angle + PI * 0.5).sin());
    let side = cos * p.x - sin * p.y - HEAD;
    let plate = side.max((p.z + 0.25).abs() - 0.25);
    plate.max((p.z + outside - 0.22) * FRAC_1_SQRT_2)
}

fn bolt(p: &Vector3<f64>, radius: f64) -> f64 {
    let outside = from_axis(p) - radius;
    let shaft = without(thread(p, outside), 0.5 - (p.z + 0.5).abs());
    let cone = (p.z - outside) * FRAC_1_SQRT_2;
    let shaft = without(shaft, cone + FRAC_1_SQRT_2);
    shaft.min(head(p, outside))
}

fn nut(p: &Vector3<f64>, radius: f64) -> f64 {
    let outside = from_axis(p) - radius;
    let cone = (p.z - outside) * FRAC_1_SQRT_2;
    let hole = without(thread(p, outside), cone + 0.5 * FRAC_1_SQRT_2);
    let hole = hole.min(-cone - 0.05 * FRAC_1_SQRT_2);
    without(head(p, outside), hole)
}
