//! Efforts of actuators: laws of controllers, which the discrete step solves for, and explicit
//! efforts.

use crate::discrete::ControllerParameters;
use crate::model::{JointActuator, clamp_to};
use tarragon_framework::Scalar;

/// Least sum of gains of a controller that the step solves for: the reciprocal of less could be
/// infinite.
const LEAST_GAIN: f64 = 1e-100;

/// Returns the law of an actuator whose effort opposes the motion of its joint at a position, given
/// its input and its desired state; `None` if its effort is explicit, which is that at the start of
/// the step: with a negative stiffness or damping, or gains below [`LEAST_GAIN`].
///
/// At a control where the gains vanish, the derivative of the effort is that of explicit efforts.
pub(in crate::plant) fn controller<T: Scalar>(
    actuator: &JointActuator,
    input: T,
    desired: Option<(T, T)>,
    position: impl FnOnce() -> T,
) -> Option<ControllerParameters<T>> {
    if let Some(control) = &actuator.affine_control {
        let effort = control.effort(input);
        let gains = [effort.stiffness, effort.damping];
        let [p, d] = gains.map(|gain| gain.re());
        if !(p >= 0.0 && d >= 0.0 && p + d >= LEAST_GAIN) {
            return None;
        }
        return Some(ControllerParameters {
            gains,
            effort_at_rest: effort.at(position(), T::zero()),
            feed_forward: T::zero(),
            effort_range: actuator.effort_range(),
        });
    }
    let gains = actuator.controller_gains.filter(|g| g.p + g.d > 0.0)?;
    let (qd, vd) = desired?;
    let [p, d] = [gains.p, gains.d].map(T::from);
    Some(ControllerParameters {
        gains: [p, d],
        effort_at_rest: (qd - position()) * p + vd * d,
        feed_forward: input,
        effort_range: actuator.effort_range(),
    })
}

/// Returns the effort of an actuator for its input, at position and velocity of its joint, which
/// are asked for only if they have an effect.
pub(super) fn explicit_effort<T: Scalar>(
    actuator: &JointActuator,
    input: T,
    motion: impl FnOnce() -> (T, T),
) -> T {
    let effort = match &actuator.affine_control {
        None => input,
        Some(control) => {
            let effort = control.effort(input);
            if control.is_motor() {
                effort.feed_forward
            } else {
                let (position, velocity) = motion();
                effort.at(position, velocity)
            }
        }
    };
    clamp_to(effort, actuator.effort_range())
}
