//! The force of MuJoCo's soft contact as a function of its depth.
//!
//! Source: "Computation" of MuJoCo's documentation, section "Constraint model", and "Modeling",
//! sections "Impedance" and "Reference".

use tarragon_framework::Scalar;

/// Range of impedances (`mjMINIMP` and `mjMAXIMP`).
const IMPEDANCE: [f64; 2] = [1e-4, 0.9999];
/// Width (m) below which the impedance is constant (`mjMINVAL`).
const NO_WIDTH: f64 = 1e-15;
/// Impedance of a contact as a function of its depth: MuJoCo's `solimp`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Impedance {
    /// Impedance at depth 0 and from `width` on.
    ends: [f64; 2],
    /// Depth (m) of the last change; 0 if the impedance is constant.
    width: f64,
    midpoint: f64,
    power: f64,
}

impl Impedance {
    /// Creates the impedance of a `solimp`, with MuJoCo's limits.
    pub(crate) fn new([first, most, width, midpoint, power]: [f64; 5]) -> Self {
        let ends = [first, most].map(Self::limited);
        if ends[0] == ends[1] || width <= NO_WIDTH {
            return Self {
                ends: [0.5 * (ends[0] + ends[1]); 2],
                width: 0.0,
                midpoint: 0.5,
                power: 1.0,
            };
        }
        Self {
            ends,
            width,
            midpoint: Self::limited(midpoint),
            power: power.max(1.0),
        }
    }

    /// Returns an impedance within MuJoCo's limits.
    pub(crate) fn limited(impedance: f64) -> f64 {
        let [low, high] = IMPEDANCE;
        impedance.clamp(low, high)
    }

    /// Returns the impedance at a depth (m).
    pub(crate) fn value(&self, depth: f64) -> f64 {
        self.at(depth)
    }

    /// Returns force over depth per mass (1/s^2) at a depth (m), given MuJoCo's stiffness k
    /// (1/s^2).
    pub(crate) fn stiffness(&self, k: f64, depth: f64) -> f64 {
        let d = self.value(depth);
        k * d * d / (1.0 - d)
    }

    /// Returns the impedance at a depth (m), in any scalar.
    pub(crate) fn at<T: Scalar>(&self, depth: T) -> T {
        let [first, most] = self.ends;
        let x = if self.width > 0.0 {
            depth / self.width
        } else {
            return T::from(most);
        };
        if x.re() <= 0.0 {
            return T::from(first);
        }
        if x.re() >= 1.0 {
            return T::from(most);
        }
        let (p, m) = (self.power, self.midpoint);
        // Both halves are powers, from their end to the midpoint.
        let (part, y, sign) = if x.re() <= m {
            (m, x, 1.0)
        } else {
            (1.0 - m, -x + 1.0, -1.0)
        };
        let below = match p {
            1.0 => T::one(),
            2.0 => y / part,
            _ => ((y / part).ln() * (p - 1.0)).exp(),
        };
        let curve = below * y;
        let share = if sign > 0.0 { curve } else { -curve + 1.0 };
        let rise = most - first;
        share * rise + first
    }

    /// Returns the depth (m) at which the force per mass has a value (m/s^2).
    pub(crate) fn depth_of(&self, k: f64, force: f64) -> f64 {
        let [a, b] = self.ends.map(|d| k * d * d / (1.0 - d));
        let [mut low, mut high] = [force / a.max(b), force / a.min(b)];
        // The secant is between those of the ends, so both depths enclose the one that is sought.
        for _ in 0..64 {
            let middle = 0.5 * (low + high);
            if self.stiffness(k, middle) * middle < force {
                low = middle;
            } else {
                high = middle;
            }
            if high - low <= 1e-12 * high {
                break;
            }
        }
        0.5 * (low + high)
    }
}
