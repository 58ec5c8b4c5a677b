//! `<actuator>`: motors on joints, where a file is read as by Drake.

use super::builder::MjcfBuilder;
use super::defaults::ACTUATORS;
use super::tree::ElementRef;
use std::collections::BTreeMap;
use tarragon_documents::xml::Parsed;
use tarragon_multibody::{JointIndex, PdControllerGains};

const NOT_A_JOINT: &str = "actuators drive joints only";
pub(super) const NO_STATES: &str = "actuators have no states";
pub(super) const EFFORT_IS_INPUT: &str = "the input of an actuator is its effort";
/// Attributes that MuJoCo's reading uses or ignores with its own warning.
const IGNORED: [(&str, &str); 15] = [
    ("actlimited", NO_STATES),
    ("actrange", NO_STATES),
    ("biasprm", EFFORT_IS_INPUT),
    ("biastype", EFFORT_IS_INPUT),
    ("body", NOT_A_JOINT),
    ("dynprm", NO_STATES),
    ("dyntype", NO_STATES),
    ("gainprm", EFFORT_IS_INPUT),
    ("gaintype", EFFORT_IS_INPUT),
    ("cranksite", NOT_A_JOINT),
    ("jointinparent", NOT_A_JOINT),
    ("refsite", NOT_A_JOINT),
    ("site", NOT_A_JOINT),
    ("slidersite", NOT_A_JOINT),
    ("tendon", NOT_A_JOINT),
];
/// Attributes that neither reading uses.
const IGNORED_BY_BOTH: [(&str, &str); 9] = [
    ("actdim", NO_STATES),
    ("actearly", NO_STATES),
    ("cranklength", NOT_A_JOINT),
    ("delay", "actuators have no delay"),
    ("group", "actuators are not drawn"),
    ("interp", "actuators have no delay"),
    ("lengthrange", "actuators have no lengths"),
    ("nsample", "actuators have no delay"),
    ("user", "user data is not supported"),
];
const IGNORED_IN_POSITION: [(&str, &str); 3] = [
    ("dampratio", "it depends on the configuration"),
    ("inheritrange", "set points are not limited"),
    ("timeconst", NO_STATES),
];

impl<'d> MjcfBuilder<'d, '_, '_> {
    /// Adds all motors, then all position servos.
    pub(super) fn add_actuators(&mut self, root: ElementRef<'d>) {
        let actuators = || root.children_named("actuator");
        for kind in ["motor", "position"] {
            for node in actuators().flat_map(move |a| a.children_named(kind)) {
                let node = self.document.defaults.apply(node, None);
                // Errors were reported.
                let _ = self.add_actuator(node);
            }
        }
        for node in actuators().flat_map(|a| a.children()) {
            let is_known = ACTUATORS.contains(&node.tag()) || node.tag() == "plugin";
            if is_known && !matches!(node.tag(), "motor" | "position") {
                let why = "only <motor> and <position> become actuators";
                node.lost().ignored(why);
            }
        }
        self.check_armatures();
    }

    /// Warns about armatures that do not act exactly once: the plant knows reflected inertia as a
    /// property of motors only.
    fn check_armatures(&self) {
        let mut num_motors: BTreeMap<JointIndex, usize> = BTreeMap::new();
        for motor in self.target.plant.actuators() {
            if let Some(joint) = motor.joint() {
                *num_motors.entry(joint).or_default() += 1;
            }
        }
        for (joint, (armature, node)) in &self.armatures {
            if *armature == 0.0 {
                continue;
            }
            match num_motors.get(joint).copied().unwrap_or(0) {
                0 => node.lost().warning_grouped(
                    "armature",
                    "attribute 'armature' of <joint> is ignored: reflected inertia belongs to \
                     motors, and the joint has none",
                ),
                1 => {}
                n => node.lost().warning_grouped(
                    "armature",
                    format!(
                        "attribute 'armature' of <joint> acts {n} times, because each motor of the \
                         joint reflects it"
                    ),
                ),
            }
        }
    }

    /// Returns the name of the next actuator.
    pub(super) fn actuator_name(&self, node: ElementRef<'_>) -> String {
        let number = self.target.plant.actuators().len();
        node.name()
            .map_or_else(|| format!("motor{number}"), String::from)
    }

    fn add_actuator(&mut self, node: ElementRef<'_>) -> Parsed<()> {
        let name = self.actuator_name(node);
        let Some(joint) = node.own_text("joint") else {
            node.lost().warning(format!(
                "actuator '{name}' is left out: it has no attribute 'joint'; {NOT_A_JOINT}"
            ));
            return Ok(());
        };
        node.lost().ignore_attributes(&IGNORED);
        node.ignore_attributes(&IGNORED_BY_BOTH);
        let control = self.effort(node, &name, "ctrllimited", "ctrlrange")?;
        let force = self.effort(node, &name, "forcelimited", "forcerange")?;
        let gear = match node.numbers("gear")?.as_deref() {
            None => 1.0,
            Some(all @ ([gear] | [gear, _, _, _, _, _])) => {
                check_gear(node, all);
                *gear
            }
            Some(other) => {
                let message = format!(
                    "actuator '{name}': 'gear' must have 1 or 6 numbers, got {}; the first one is \
                     used",
                    other.len()
                );
                node.warning_at("gear", message);
                other.first().copied().unwrap_or(1.0)
            }
        };
        let joint = self.joint(node, "joint", joint)?;
        let plant = &mut self.target.plant;
        // Limits are those of the effort at the joint in any case.
        let actuator = plant.add_joint_actuator(&name, joint, control.min(force));
        let actuator = actuator.map_err(|e| node.error(e))?;
        let armature = self
            .armatures
            .get(&joint)
            .map_or(0.0, |(armature, _)| *armature);
        let rotor = match gear * gear {
            square if square > 0.0 => armature / square,
            _ => 0.0,
        };
        let set = plant.set_default_rotor(actuator, rotor, gear);
        set.map_err(|e| node.error_at("gear", e))?;
        if node.tag() == "position" {
            node.lost().ignore_attributes(&IGNORED_IN_POSITION);
            let why = "Drake's name for the damping gain is 'kd'";
            node.lost().ignore_attributes(&[("kv", why)]);
            if control.is_finite() {
                node.lost().warning_grouped(
                    "ctrlrange",
                    "'ctrlrange' of <position> limits the effort and not the set point, as in \
                     Drake; give the limit of the effort as 'forcerange'",
                );
            }
            let p = node.number("kp")?.unwrap_or(1.0);
            let d = node.number("kd")?.unwrap_or(0.0);
            if (p, d) != (0.0, 0.0) {
                let set = plant.set_controller_gains(actuator, PdControllerGains { p, d });
                set.map_err(|e| node.error_at("kp", e))?;
            }
        }
        Ok(())
    }

    /// Reads the effort limit from a range; infinite if there is none.
    fn effort(&self, node: ElementRef<'_>, name: &str, switch: &str, range: &str) -> Parsed<f64> {
        let Some([lower, upper]) = self.limits(node, switch, range)? else {
            return Ok(f64::INFINITY);
        };
        if lower > upper {
            let message = format!(
                "actuator '{name}': '{range}' must not be empty, got [{lower:?}, \
                         {upper:?}]; it is ignored"
            );
            node.warning_at(range, message);
            return Ok(f64::INFINITY);
        }
        let effort = lower.abs().max(upper.abs());
        if lower != -upper {
            let message = format!(
                "actuator '{name}': '{range}' must be the same in both directions, got [{lower:?}, \
                 {upper:?}]; the larger effort limit, {effort:?}, is used"
            );
            node.lost().warning_at(range, message);
        }
        Ok(effort)
    }
}

/// Warns about numbers of a gear that act on joints with several degrees of freedom only.
pub(super) fn check_other_gears(node: ElementRef<'_>, gear: &[f64]) {
    if gear.iter().skip(1).any(|x| *x != 0.0) {
        node.warning_grouped(
            "gear",
            "numbers 2 to 6 of 'gear' are ignored: actuators drive joints with one degree of \
             freedom",
        );
    }
}

/// Warns about what a gear asks for: it only relates the armature to the inertia of a rotor.
fn check_gear(node: ElementRef<'_>, gear: &[f64]) {
    check_other_gears(node, gear);
    if gear.first() == Some(&1.0) {
        return;
    }
    let what = match node.tag() {
        "position" => "the gains act on the position of the joint",
        _ => "the input and its limits are efforts at the joint",
    };
    let message = format!("'gear' of <{}> does not scale efforts: {what}", node.tag());
    node.lost().warning_grouped("gear", message);
}
