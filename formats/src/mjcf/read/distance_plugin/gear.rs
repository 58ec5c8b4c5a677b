//! The involute gear of `mujoco.sdf.gear`, after shadertoy.com/view/3lG3WR.

use super::combine::{from_axis, smooth_intersection, smooth_union, without};
use nalgebra::Vector3;
use std::f64::consts::PI;

/// A gear around the z axis.
#[derive(Clone, Debug)]
pub(super) struct Gear {
    /// Angle of rotation (rad).
    alpha: f64,
    /// Diameter of the pitch circle (m).
    diameter: f64,
    teeth: f64,
    /// Thickness along the axis (m).
    thickness: f64,
    /// Diameter of the hole (m); one in proportion to the gear if negative.
    inner_diameter: f64,
}

impl Default for Gear {
    fn default() -> Self {
        Self {
            alpha: 0.0,
            diameter: 2.8,
            teeth: 25.0,
            thickness: 0.2,
            inner_diameter: -1.0,
        }
    }
}

impl Gear {
    /// Returns the attributes by their names in the file.
    pub(super) fn attributes(&mut self) -> Vec<(&'static str, &mut f64)> {
        vec![
            ("alpha", &mut self.alpha),
            ("diameter", &mut self.diameter),
            ("teeth", &mut self.teeth),
            ("thickness", &mut self.thickness),
            ("innerdiameter", &mut self.inner_diameter),
        ]
    }

    pub(super) fn half_extents(&self) -> [f64; 3] {
        let radius = self.diameter / 2.0 * 1.25;
        [radius, radius, self.thickness / 2.0 * 1.1]
    }

    pub(super) fn distance(&self, p: &Vector3<f64>) -> f64 {
        let profile = self.profile(p);
        let above = p.z.abs() - self.thickness / 2.0;
        let (outside, over) = (profile.max(0.0), above.max(0.0));
        profile.max(above).min(0.0) + (outside * outside + over * over).sqrt()
    }

    /// Computes the distance from the cross-section.
    fn profile(&self, p: &Vector3<f64>) -> f64 {
        let (diameter, teeth) = (self.diameter, self.teeth);
        let pitch_radius = diameter / 2.0;
        let pressure_angle = 3.096e-5 * teeth * teeth - 6.557e-3 * teeth + 0.551;
        let teeth_per_length = teeth / diameter;
        let tip_radius = (diameter + 2.0 * (1.0 / teeth_per_length)) / 2.0;
        let tooth_height = 2.2 / teeth_per_length;
        let hole_radius = if self.inner_diameter >= 0.0 {
            self.inner_diameter / 2.0
        } else {
            tip_radius - tooth_height - 0.14 * diameter
        };
        let rho = from_axis(p);
        if hole_radius - rho > 0.0 {
            return hole_radius - rho;
        }
        if tip_radius - rho < -0.2 {
            return rho - tip_radius;
        }
        let base_radius = diameter * pressure_angle.cos() / 2.0;
        // The angle between two teeth, and the angle between the flanks of one gap.
        let stride = PI / teeth_per_length / pitch_radius;
        let roll = (base_radius / pitch_radius).acos();
        let gap = stride / 2.0 - 2.0 * (roll.tan() - roll);
        let angle = p.y.atan2(p.x) + self.alpha;
        let wrapped = |x: f64| x - stride * (x / stride).floor();
        let left = wrapped(angle + gap / 2.0) - gap / 2.0;
        let right = wrapped(-angle - gap + gap / 2.0) - gap / 2.0;
        // Distances from the involutes of the two flanks, math.stackexchange.com/q/1266689.
        let mut flanks = -1.0e6;
        if base_radius < rho {
            let involute = (base_radius / rho).acos();
            let tangent = (rho * rho - base_radius * base_radius).sqrt();
            let flank = |start: f64| tangent - base_radius * (start + involute);
            flanks = flank(left).max(flank(right));
        }
        let walls = (left - (stride - gap)).max(right - (stride - gap));
        let teeth = smooth_intersection(rho - tip_radius, walls.max(flanks), 0.0035 * diameter);
        let root = rho - (tip_radius - tooth_height);
        let gear = smooth_union(root, teeth, base_radius - tip_radius + tooth_height);
        without(gear, rho - hole_radius)
    }
}
