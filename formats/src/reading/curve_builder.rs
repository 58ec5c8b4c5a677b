//! Paths of curvilinear joints, from the lines and arcs that model files list.

use nalgebra::Vector3;
use tarragon_framework::trajectories::PiecewiseConstantCurvatureTrajectory;
use tarragon_multibody::{BodyIndex, Joint};

/// Builder of a path; the defaults are those of Drake.
pub(crate) struct CurveBuilder {
    /// Tangent at the start, in F.
    pub(crate) initial_tangent: [f64; 3],
    /// Normal of the plane, in F.
    pub(crate) plane_normal: [f64; 3],
    pub(crate) is_periodic: bool,
    /// Arclengths (m), from 0.
    breaks: Vec<f64>,
    turning_rates: Vec<f64>,
}

impl CurveBuilder {
    pub(crate) fn new() -> Self {
        Self {
            initial_tangent: [1.0, 0.0, 0.0],
            plane_normal: [0.0, 0.0, 1.0],
            is_periodic: false,
            breaks: vec![0.0],
            turning_rates: vec![],
        }
    }

    /// Adds a straight line with a length (m); the error is a message.
    pub(crate) fn push_line(&mut self, length: f64) -> Result<(), String> {
        self.push("the length of a line", length, 0.0)
    }

    /// Adds an arc with a radius (m) and an angle (rad), positive to the left; the error is a
    /// message.
    pub(crate) fn push_arc(&mut self, radius: f64, angle: f64) -> Result<(), String> {
        if radius <= 0.0 {
            return Err(format!(
                "the radius of an arc must be positive, got {radius:?} m"
            ));
        }
        let rate = angle.signum() / radius;
        self.push("the length of an arc", angle.abs() * radius, rate)
    }

    fn push(&mut self, what: &str, length: f64, turning_rate: f64) -> Result<(), String> {
        let start = self.breaks[self.breaks.len() - 1];
        let end = start + length;
        // A segment must be longer than the spacing of floating-point numbers at its start.
        if !(length > 0.0 && end > start) {
            return Err(format!(
                "{what} must be positive, got {length:?} m after {start:?} m"
            ));
        }
        self.breaks.push(end);
        self.turning_rates.push(turning_rate);
        Ok(())
    }

    /// Creates the joint along the path.
    pub(crate) fn joint(
        &self,
        name: &str,
        parent: BodyIndex,
        child: BodyIndex,
    ) -> Result<Joint, String> {
        if self.turning_rates.is_empty() {
            return Err(format!(
                "joint '{name}': <drake:curves> must have at least one <drake:line_segment> or \
                 <drake:circular_arc>"
            ));
        }
        let path = PiecewiseConstantCurvatureTrajectory::new(
            &self.breaks,
            &self.turning_rates,
            &Vector3::from(self.initial_tangent),
            &Vector3::from(self.plane_normal),
            &Vector3::zeros(),
            self.is_periodic,
        );
        let path = path.map_err(|e| format!("joint '{name}': {e}"))?;
        Ok(Joint::curvilinear(name, parent, child, path))
    }
}
