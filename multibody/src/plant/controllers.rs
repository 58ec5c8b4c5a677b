//! Efforts of actuators: laws of controllers, which the discrete step solves for, and explicit
//! efforts.

use crate::discrete::ControllerParameters;
use crate::model::{JointActuator, clamp_to};
use tarragon_framework::Scalar;

/// Returns the law of an actuator whose effort opposes the motion of its joint at a position, given
/// its input and its desired state; `None` if its effort is explicit.
pub(super) fn controller<T: Scalar>(
    actuator: &JointActuator,
    input: T,
    desired: Option<(T, T)>,
    position: T,
) -> Option<ControllerParameters<T>> {
    if let Some(control) = &actuator.affine_control {
        let effort = control.effort(input);
        let gains = [effort.stiffness, effort.damping];
        let [p, d] = gains.map(|gain| gain.re());
        if !(p >= 0.0 && d >= 0.0 && p + d > 0.0) {
            return None;
        }
        // As a set point, so that a reduction of both gains does not move it.
        let (error, desired_velocity) = match p > 0.0 {
            true => (effort.feed_forward / effort.stiffness - position, T::zero()),
            false => (T::zero(), effort.feed_forward / effort.damping),
        };
        return Some(ControllerParameters {
            gains,
            error,
            desired_velocity,
            feed_forward: T::zero(),
            effort_range: actuator.effort_range(),
        });
    }
    let gains = actuator.controller_gains.filter(|g| g.p + g.d > 0.0)?;
    let (qd, vd) = desired?;
    Some(ControllerParameters {
        gains: [T::from(gains.p), T::from(gains.d)],
        error: qd - position,
        desired_velocity: vd,
        feed_forward: input,
        effort_range: actuator.effort_range(),
    })
}

/// Returns the effort of an actuator for its input, at position and velocity of its joint.
pub(super) fn explicit_effort<T: Scalar>(
    actuator: &JointActuator,
    input: T,
    (position, velocity): (T, T),
) -> T {
    let effort = match &actuator.affine_control {
        None => input,
        Some(control) => control.effort(input).at(position, velocity),
    };
    clamp_to(effort, actuator.effort_range())
}
