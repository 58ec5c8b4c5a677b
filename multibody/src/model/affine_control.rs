//! Control of an actuator by a force that is affine in its length and rate.

use tarragon_framework::Scalar;

/// Control of an actuator as in MuJoCo: its input is a control `u`, and its force is affine in its
/// length `l = gear q` and rate `gear v`, for the position q and the velocity v of the joint, or
/// the length and the rate of the spatial tendon:
///
/// `force = (gain[0] + gain[1] l + gain[2] gear v) u + bias[0] + bias[1] l + bias[2] gear v`.
///
/// The effort at the joint or along the tendon is `gear` times the force. A motor has the gain
/// `[1, 0, 0]` and no bias; a position servo with the gains kp and kv has the gain `[kp, 0, 0]` and
/// the bias `[0, -kp, -kv]`, so that its control is a length. In discrete time, the effort is that
/// at the end of the step; with a negative stiffness or damping, or gains below 1e-100, that at its
/// start.
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_multibody::*;
/// let mut plant = MultibodyPlantBuilder::new(0.001)?;
/// let door = plant.add_rigid_body("door", ModelInstanceIndex::DEFAULT, SpatialInertia::zero())?;
/// let hinge = plant.add_joint(Joint::revolute("hinge", BodyIndex::WORLD, door, Vector3::z())?)?;
/// let opener = plant.add_joint_actuator("opener", hinge, f64::INFINITY)?;
/// let servo = AffineControl {
///     gain: [20.0, 0.0, 0.0],
///     bias: [0.0, -20.0, -1.0],
///     control_range: [0.0, 1.5],
///     ..AffineControl::motor()
/// };
/// plant.set_affine_control(opener, servo)?;
/// assert_eq!(plant.actuators()[0].affine_control(), Some(&servo));
/// # Ok::<(), tarragon_multibody::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AffineControl {
    /// Length per position of the joint, and effort at the joint per force. It does not scale the
    /// inertia of a rotor, which has a gear ratio of its own.
    pub gear: f64,
    /// Force per control, at length and rate 0, per length, and per rate.
    pub gain: [f64; 3],
    /// Force without control, at length and rate 0, per length, and per rate.
    pub bias: [f64; 3],
    /// Least and largest control; a control outside is clamped.
    pub control_range: [f64; 2],
    /// Least and largest effort at the joint (N m or N).
    pub effort_range: [f64; 2],
}

/// Effort at a joint: `feed_forward - stiffness q - damping v`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AffineEffort<T> {
    pub(crate) feed_forward: T,
    pub(crate) stiffness: T,
    pub(crate) damping: T,
}

/// Returns a value within a range.
pub(crate) fn clamp_to<T: Scalar>(x: T, [lower, upper]: [f64; 2]) -> T {
    match x.re() {
        re if re > upper => T::from(upper),
        re if re < lower => T::from(lower),
        _ => x,
    }
}

impl AffineControl {
    /// Creates the control of a motor: its input is the effort at the joint.
    pub fn motor() -> Self {
        let unlimited = [f64::NEG_INFINITY, f64::INFINITY];
        Self {
            gear: 1.0,
            gain: [1.0, 0.0, 0.0],
            bias: [0.0; 3],
            control_range: unlimited,
            effort_range: unlimited,
        }
    }

    /// Returns the control that holds a joint at a position; `None` unless the control is that of a
    /// position servo.
    pub fn control_at(&self, position: f64) -> Option<f64> {
        let [gain, 0.0, 0.0] = self.gain else {
            return None;
        };
        let is_servo = gain > 0.0 && self.bias[0] == 0.0 && self.bias[1] == -gain;
        is_servo.then_some(self.gear * position)
    }

    /// Returns true if the effort depends on the control alone.
    pub(crate) fn is_motor(&self) -> bool {
        let [_, gain @ ..] = self.gain;
        let [_, bias @ ..] = self.bias;
        [gain, bias] == [[0.0; 2]; 2]
    }

    /// Returns the effort at the joint for a control.
    pub(crate) fn effort<T: Scalar>(&self, control: T) -> AffineEffort<T> {
        let u = clamp_to(control, self.control_range);
        let [constant, length, rate] = [0, 1, 2].map(|k| u * self.gain[k] + self.bias[k]);
        let squared = self.gear * self.gear;
        AffineEffort {
            feed_forward: constant * self.gear,
            stiffness: -length * squared,
            damping: -rate * squared,
        }
    }

    /// Returns why the control is invalid, if it is.
    pub(crate) fn check(&self) -> Result<(), String> {
        let numbers = self.gain.iter().chain(&self.bias).chain([&self.gear]);
        if let Some(bad) = numbers.clone().find(|x| !x.is_finite()) {
            return Err(format!("gear, gain and bias must be finite, got {bad:?}"));
        }
        for (what, [lower, upper]) in [
            ("control", self.control_range),
            ("effort", self.effort_range),
        ] {
            if lower.is_nan() || upper.is_nan() || lower > upper {
                return Err(format!(
                    "the {what} range must not be empty, got [{lower:?}, {upper:?}]"
                ));
            }
        }
        Ok(())
    }
}

impl<T: Scalar> AffineEffort<T> {
    /// Returns the effort at a position and a velocity.
    pub(crate) fn at(&self, q: T, v: T) -> T {
        self.feed_forward - self.stiffness * q - self.damping * v
    }
}
