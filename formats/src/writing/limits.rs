//! Limits, damping and positions of joints as all formats see them.

use super::document::ModelDocument;
use super::format::OutputFormat;
use tarragon_multibody::{Joint, JointKind};

/// Limits of one quantity.
pub(crate) struct QuantityLimits<'a> {
    pub(crate) name: &'static str,
    pub(crate) lower: &'a [f64],
    pub(crate) upper: &'a [f64],
}

/// Returns the limits of position, velocity and acceleration.
pub(crate) fn limits_of(joint: &Joint) -> [QuantityLimits<'_>; 3] {
    [
        QuantityLimits {
            name: "position",
            lower: joint.position_lower_limits(),
            upper: joint.position_upper_limits(),
        },
        QuantityLimits {
            name: "velocity",
            lower: joint.velocity_lower_limits(),
            upper: joint.velocity_upper_limits(),
        },
        QuantityLimits {
            name: "acceleration",
            lower: joint.acceleration_lower_limits(),
            upper: joint.acceleration_upper_limits(),
        },
    ]
}

/// Returns true for the kinds of joints whose limits URDF and SDFormat have.
pub(crate) fn has_limits(kind: &JointKind) -> bool {
    matches!(
        kind,
        JointKind::Revolute { .. } | JointKind::Prismatic { .. }
    )
}

impl ModelDocument<'_> {
    /// Reports limits that URDF and SDFormat cannot say: those of velocity and acceleration must be
    /// symmetric, and only revolute and prismatic joints have any.
    pub(crate) fn report_limits(&mut self, name: &str, joint: &Joint) {
        let format = self.format.name();
        for limits in limits_of(joint) {
            let (what, lower, upper) = (limits.name, limits.lower, limits.upper);
            let pairs = || lower.iter().zip(upper);
            if has_limits(joint.kind()) {
                if what != "position" && pairs().any(|(l, u)| *l != -u) {
                    self.warn(format!(
                        "joint '{name}': its {what} limits become symmetric, got {lower:?} and \
                         {upper:?}"
                    ));
                }
                continue;
            }
            let usual = match joint.kind() {
                // The ends of the path are limits by themselves.
                JointKind::Curvilinear { path } if what == "position" && !path.is_periodic() => {
                    (0.0, path.length())
                }
                _ => (f64::NEG_INFINITY, f64::INFINITY),
            };
            let near =
                |a: f64, b: f64| a == b || (a.is_finite() && (a - b).abs() <= 1e-14 * a.abs());
            if !pairs().all(|(l, u)| near(*l, usual.0) && near(*u, usual.1)) {
                let kind = joint.kind().type_name();
                self.warn(format!(
                    "joint '{name}': its {what} limits are left out, because joints of kind {kind} \
                     have none in {format}"
                ));
            }
        }
    }

    /// Reports damping that differs between the velocities of a joint with one number for all.
    pub(crate) fn report_damping(&mut self, name: &str, joint: &Joint) {
        let damping = joint.damping();
        if damping.iter().any(|d| *d != damping[0]) && *joint.kind() != JointKind::Planar {
            self.warn(format!(
                "joint '{name}': the first of its damping values is used for all, got {damping:?}"
            ));
        }
    }

    /// Warns about a ball joint whose positions have another form when the file is read again.
    pub(crate) fn report_ball(&mut self, name: &str, joint: &Joint) {
        let format = self.format.name();
        match (self.format, joint.kind()) {
            (OutputFormat::Mjcf, JointKind::BallRpy) => self.warn(format!(
                "joint '{name}': roll, pitch and yaw become a quaternion, as in all ball joints of \
                 {format}"
            )),
            (OutputFormat::Urdf | OutputFormat::Sdf, JointKind::BallQuaternion) => {
                self.warn(format!(
                    "joint '{name}': its quaternion becomes roll, pitch and yaw, as in all ball \
                     joints of {format}"
                ));
            }
            _ => {}
        }
    }
}
