//! Actuators.

use super::MjcfWriter;
use super::tables::PathOwner;
use crate::writing::document::TakenNames;
use tarragon_multibody::{AffineControl, JointActuator, JointIndex};

/// Element of MJCF that states the force of an actuator.
enum ActuatorElement {
    /// The control is the force.
    Motor,
    /// A position servo with its gains.
    Position {
        kp: f64,
        kv: f64,
    },
    General,
}

impl ActuatorElement {
    fn of(control: &AffineControl) -> Self {
        match (control.gain, control.bias) {
            ([1.0, 0.0, 0.0], [0.0, 0.0, 0.0]) => Self::Motor,
            ([kp, 0.0, 0.0], [0.0, stiffness, damping])
                if kp > 0.0 && stiffness == -kp && damping <= 0.0 =>
            {
                Self::Position { kp, kv: -damping }
            }
            _ => Self::General,
        }
    }
}

impl MjcfWriter<'_> {
    /// Returns the inertia of a joint's own and of its actuators.
    pub(super) fn armature(&self, index: JointIndex) -> f64 {
        let reflected = self.tables.reflected.get(&index).copied();
        self.document.plant[index].armature() + reflected.unwrap_or(0.0)
    }

    pub(super) fn write_actuators(&mut self) {
        let plant = self.document.plant;
        if plant.actuators().is_empty() {
            return;
        }
        let mut taken = TakenNames::default();
        self.document.xml.start("actuator");
        for (index, actuator) in plant.actuators().iter().enumerate() {
            if let Some(name) = self.write_actuator(index, actuator, &mut taken) {
                self.written_actuators.push(index);
                self.actuators.insert(index, name);
            }
        }
        self.document.xml.end();
    }

    /// Writes an actuator and returns its name; returns `None` if it is left out.
    fn write_actuator(
        &mut self,
        index: usize,
        actuator: &JointActuator,
        taken: &mut TakenNames,
    ) -> Option<String> {
        let name = actuator.name();
        let joint = actuator.joint();
        let joint = joint.and_then(|joint| self.joints[joint.index()].clone());
        let driven = match (joint.clone(), actuator.coupled_joints()) {
            (None, _) => self
                .path_tendon(PathOwner::Actuator(index))
                .map(|name| ("tendon", name)),
            (Some(joint), []) => Some(("joint", joint)),
            (Some(_), _) => {
                let driven: Vec<_> = actuator.joints().collect();
                self.add_fixed_tendon(&driven).map(|name| ("tendon", name))
            }
        };
        let Some((transmission, driven)) = driven else {
            self.document.leave_out("actuator", &[name]);
            return None;
        };
        let control = self.control_of(actuator, joint.as_deref());
        let name = self
            .document
            .name(taken, "actuator", actuator.model_instance(), name);
        let kind = ActuatorElement::of(&control);
        let xml = &mut self.document.xml;
        xml.start(match kind {
            ActuatorElement::Motor => "motor",
            ActuatorElement::Position { .. } => "position",
            ActuatorElement::General => "general",
        });
        xml.attribute("name", &name);
        xml.attribute(transmission, &driven);
        if control.gear != 1.0 {
            xml.numbers("gear", &[control.gear]);
        }
        match kind {
            ActuatorElement::Motor => {}
            ActuatorElement::Position { kp, kv } => {
                xml.numbers("kp", &[kp]).numbers("kv", &[kv]);
            }
            ActuatorElement::General => {
                xml.attribute("gaintype", "affine");
                xml.numbers("gainprm", &control.gain);
                xml.attribute("biastype", "affine");
                xml.numbers("biasprm", &control.bias);
            }
        }
        if control.control_range.iter().any(|x| x.is_finite()) {
            xml.numbers("ctrlrange", &control.control_range);
        }
        if let Some(range) = force_range(&control) {
            xml.numbers("forcerange", &range);
        }
        xml.end();
        self.report_control(&name, &control);
        Some(name)
    }

    /// Returns the control of an actuator. The input of an actuator without one is its effort, or
    /// the desired state of its servo.
    fn control_of(&mut self, actuator: &JointActuator, joint: Option<&str>) -> AffineControl {
        let name = actuator.name();
        let own = actuator.affine_control();
        let (rotor, gear) = (
            actuator.default_rotor_inertia(),
            actuator.default_gear_ratio(),
        );
        if let Some(joint) = joint
            && (rotor != 0.0 || gear != own.map_or(1.0, |own| own.gear))
        {
            self.document.warn(format!(
                "actuator '{name}': rotor inertia and gear ratio become the armature of joint \
                 '{joint}'"
            ));
        }
        let mut control = AffineControl {
            effort_range: actuator.effort_range(),
            ..own.copied().unwrap_or(AffineControl::motor())
        };
        if let Some(gains) = actuator.controller_gains() {
            if gains.p == 0.0 {
                self.document.warn(format!(
                    "actuator '{name}': its controller gains become a damping of the actuator, \
                     whose control is a force"
                ));
            } else {
                self.document.warn(format!(
                    "actuator '{name}': its controller gains become those of a position servo, \
                     which has no desired velocity and no feed-forward effort"
                ));
                control.gain = [gains.p, 0.0, 0.0];
            }
            control.bias = [0.0, -gains.p, -gains.d];
        }
        control
    }

    /// Reports controls that MuJoCo reads in another way.
    fn report_control(&mut self, name: &str, control: &AffineControl) {
        let [lower, upper] = control.effort_range;
        if lower >= upper && !(lower == 0.0 && upper == 0.0 && control.gear == 0.0) {
            self.document.warn(format!(
                "actuator '{name}': its effort range is left out, because that of MJCF must not be \
                 empty, got {lower:?} and {upper:?}"
            ));
        }
        let [lower, upper] = control.control_range;
        if lower >= upper {
            self.document.warn(format!(
                "actuator '{name}': MuJoCo ignores its control range, because it is empty, got \
                 {lower:?} and {upper:?}"
            ));
        }
        // MuJoCo takes a positive damping of a servo for a damping ratio.
        if control.gain[0] == -control.bias[1] && control.bias[2] > 0.0 {
            self.document.warn(format!(
                "actuator '{name}': MuJoCo reads its negative damping {:?} as a damping ratio",
                -control.bias[2]
            ));
        }
    }
}

/// Returns the range of the force, unless that of the control determines it.
fn force_range(control: &AffineControl) -> Option<[f64; 2]> {
    let scaled = |[a, b]: [f64; 2], factor: f64| {
        if factor < 0.0 {
            [b * factor, a * factor]
        } else {
            [a * factor, b * factor]
        }
    };
    let gear = control.gear;
    let [lower, upper] = control.effort_range;
    if gear == 0.0 || lower >= upper || !(lower.is_finite() || upper.is_finite()) {
        return None;
    }
    let is_motor = control.bias == [0.0; 3] && control.gain[1..] == [0.0; 2];
    let follows = scaled(control.control_range, gear * control.gain[0]) == control.effort_range;
    (!(is_motor && follows)).then(|| {
        if gear < 0.0 {
            [upper / gear, lower / gear]
        } else {
            [lower / gear, upper / gear]
        }
    })
}
