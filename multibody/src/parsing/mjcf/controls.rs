//! `<actuator>` where a file is read as by MuJoCo: the input of an actuator is its control.

use super::actuators::check_other_gears;
use super::builder::{ActuatorInput, FixedTendon, MjcfBuilder};
use super::default_inertia::DefaultInertia;
use super::tree::ElementRef;
use crate::document::xml::Parsed;
use crate::model::{AffineControl, JointActuator, JointActuatorIndex, JointIndex};
use std::f64::consts::FRAC_PI_4;

const NO_DELAY: &str = "actuators have no delay";
const IGNORED: [(&str, &str); 10] = [
    ("cranklength", "actuators drive joints only"),
    ("actdim", "actuators have no states"),
    ("actearly", "actuators have no states"),
    ("delay", NO_DELAY),
    ("group", "actuators are not drawn"),
    ("interp", NO_DELAY),
    ("kd", "MuJoCo's name for the damping gain is 'kv'"),
    ("lengthrange", "only muscles need it"),
    ("nsample", NO_DELAY),
    ("user", "user data is not supported"),
];
/// Attributes of other transmissions than joints.
const TRANSMISSIONS: [&str; 5] = ["body", "cranksite", "refsite", "site", "slidersite"];

/// Force and activation of an actuator, as its element describes them.
struct ActuatorForce {
    gain: [f64; 3],
    bias: [f64; 3],
    /// Kind of the activation, if there is one.
    dynamics: Option<&'static str>,
    /// Damping ratio of a position servo, in place of its damping.
    damping_ratio: Option<f64>,
}

/// Reads up to three numbers; the class gives those that the element lacks.
fn read_three(node: ElementRef<'_>, name: &str, default: [f64; 3]) -> Parsed<[f64; 3]> {
    let numbers = node.numbers_over_defaults(name)?;
    Ok([0, 1, 2].map(|k: usize| numbers.get(k).copied().unwrap_or(default[k])))
}

/// Gain of an actuator that gives none.
const UNIT_GAIN: [f64; 3] = [1.0, 0.0, 0.0];

/// Returns the number of activations of an actuator, whether it is left out or not.
fn num_activations(node: ElementRef<'_>) -> usize {
    // Errors in these attributes are reported where the actuator is read.
    let number = |name: &str| node.number(name).ok().flatten();
    match node.tag() {
        "muscle" | "cylinder" | "intvelocity" => 1,
        "general"
            if node
                .text("dyntype")
                .is_some_and(|kind| kind.trim() != "none") =>
        {
            number("actdim").map_or(1, |n| n.clamp(1.0, f64::from(u16::MAX)) as usize)
        }
        "position" | "general" => usize::from(number("timeconst").is_some_and(|time| time > 0.0)),
        _ => 0,
    }
}

/// Returns a range within another; an end of it if they do not overlap.
fn within([a, b]: [f64; 2], [lower, upper]: [f64; 2]) -> [f64; 2] {
    [a.clamp(lower, upper), b.clamp(lower, upper)]
}

impl ActuatorForce {
    fn new(gain: [f64; 3], bias: [f64; 3]) -> Self {
        Self {
            gain,
            bias,
            dynamics: None,
            damping_ratio: None,
        }
    }

    /// Reads the force of an element; `None` if it is not affine.
    fn read(node: ElementRef<'_>) -> Parsed<Option<Self>> {
        let number = |name: &str, default: f64| Ok(node.number(name)?.unwrap_or(default));
        // A class of general actuators may give the gain.
        let inherited = read_three(node, "gainprm", UNIT_GAIN)?[0];
        let has_gain = node.text("gainprm").is_some();
        Ok(Some(match node.tag() {
            "motor" => Self::new(UNIT_GAIN, [0.0; 3]),
            "velocity" => {
                let kv = number("kv", inherited)?;
                Self::new([kv, 0.0, 0.0], [0.0, 0.0, -kv])
            }
            "damper" => Self::new([0.0, 0.0, -number("kv", 1.0)?], [0.0; 3]),
            "cylinder" => {
                let diameter = node.number("diameter")?;
                let area =
                    diameter.map_or_else(|| number("area", 1.0), |d| Ok(FRAC_PI_4 * d * d))?;
                let bias = read_three(node, "bias", [0.0; 3])?;
                // As in MuJoCo 3.3, which leaves out the other two numbers.
                let mut force = Self::new([area, 0.0, 0.0], [bias[0], 0.0, 0.0]);
                force.dynamics = Some("filter");
                force
            }
            "position" | "intvelocity" => return Self::read_servo(node, inherited).map(Some),
            // A class of position servos may describe it.
            "general" if !has_gain && node.text("kp").is_some() => {
                return Self::read_servo(node, inherited).map(Some);
            }
            "general" => return Self::read_general(node),
            _ => return Ok(None),
        }))
    }

    fn read_servo(node: ElementRef<'_>, inherited: f64) -> Parsed<Self> {
        let kp = node.number("kp")?.unwrap_or(inherited);
        let inherited = read_three(node, "biasprm", [0.0; 3])?;
        let damping = node.number("kv")?.map_or(inherited[2], |kv| -kv);
        // A positive number is a damping ratio, and no damping even where that is unknown.
        let bias = [inherited[0], -kp, damping.min(0.0)];
        let mut force = Self::new([kp, 0.0, 0.0], bias);
        let ratio = node.number("dampratio")?.or(Some(damping));
        force.damping_ratio = ratio.filter(|ratio| *ratio > 0.0);
        let filtered = node.number("timeconst")?.is_some_and(|time| time > 0.0);
        force.dynamics = match node.tag() {
            "intvelocity" => Some("integrator"),
            _ => filtered.then_some("filterexact"),
        };
        Ok(force)
    }

    fn read_general(node: ElementRef<'_>) -> Parsed<Option<Self>> {
        let kinds = ["fixed", "affine", "muscle", "user"];
        let kind = node.choice("gaintype", &kinds)?;
        let gain = read_three(node, "gainprm", UNIT_GAIN)?;
        let gain = match kind {
            None | Some("fixed") => [gain[0], 0.0, 0.0],
            Some("affine") => gain,
            _ => return Ok(None),
        };
        let kinds = ["none", "affine", "muscle", "user"];
        let kind = node.choice("biastype", &kinds)?;
        let mut bias = read_three(node, "biasprm", [0.0; 3])?;
        match kind {
            None | Some("none") => bias = [0.0; 3],
            Some("affine") => {}
            _ => return Ok(None),
        }
        let mut force = Self::new(gain, bias);
        if gain[0] == -bias[1] && bias[2] > 0.0 {
            // MuJoCo reads it as a damping ratio.
            force.damping_ratio = Some(bias[2]);
            force.bias[2] = 0.0;
        }
        let kinds = [
            "none",
            "integrator",
            "filter",
            "filterexact",
            "muscle",
            "user",
        ];
        force.dynamics = match node.choice("dyntype", &kinds)? {
            Some("muscle" | "user") => return Ok(None),
            kind => kind.filter(|kind| *kind != "none"),
        };
        Ok(Some(force))
    }
}

impl<'d> MjcfBuilder<'d, '_, '_> {
    /// Adds all actuators in the order of the file.
    pub(super) fn add_controls(&mut self, root: ElementRef<'d>) {
        let mut inertia = None;
        let actuators = root.children_named("actuator");
        for node in actuators.flat_map(|a| a.children()) {
            let node = self.document.defaults.apply(node, None);
            // Errors were reported.
            let actuator = self.add_control(node, &mut inertia).ok().flatten();
            self.actuators.push(ActuatorInput {
                actuator,
                num_activations: num_activations(node),
            });
        }
        self.check_effort_ranges();
    }

    /// Adds an actuator; returns `None` if it is left out. `inertia` is computed when an actuator
    /// needs it first.
    fn add_control(
        &mut self,
        node: ElementRef<'_>,
        inertia: &mut Option<DefaultInertia>,
    ) -> Parsed<Option<JointActuatorIndex>> {
        let name = self.actuator_name(node);
        let tag = node.tag();
        let left_out = |why: &str| {
            node.warning(format!("actuator '{name}' is left out: {why}"));
            Ok(None)
        };
        node.ignore_attributes(&IGNORED);
        let Some(force) = ActuatorForce::read(node)? else {
            return left_out(&format!("the force of this <{tag}> is not affine"));
        };
        let Some(driven) = self.read_transmission(node)? else {
            let other = TRANSMISSIONS.iter().find(|at| node.own_text(at).is_some());
            let other = other.map_or(String::new(), |at| format!(", got '{at}'"));
            return left_out(&format!(
                "it must have the attribute 'joint' or a fixed 'tendon', because actuators drive \
                 joints only{other}"
            ));
        };
        let joints: Vec<JointIndex> = driven.joints.iter().map(|(joint, _)| *joint).collect();
        let single = self.target.plant.check_single("actuator", &joints);
        let Some((joint, coefficient)) = driven.joints.first().filter(|_| single.is_ok()) else {
            return left_out("actuators drive joints with one degree of freedom");
        };
        let gears = node.numbers_over_defaults("gear")?;
        check_other_gears(node, &gears);
        let scale = gears.first().copied().unwrap_or(1.0);
        let gear = scale * coefficient;
        let mut bias = force.bias;
        if let Some(ratio) = force.damping_ratio {
            match self.critical_damping(inertia, &driven, scale, force.gain[0]) {
                Ok(critical) => bias[2] = -ratio * critical,
                Err(error) => node.warning(format!(
                    "actuator '{name}': the damping ratio is ignored: {error}"
                )),
            }
        }
        let control = AffineControl {
            gear,
            gain: force.gain,
            bias,
            control_range: self.control_range(node, &name, driven.range, &force)?,
            effort_range: [f64::NEG_INFINITY, f64::INFINITY],
        };
        let control = AffineControl {
            effort_range: self.effort_range(node, &driven, &control)?,
            ..control
        };
        let [lower, upper] = control.effort_range;
        // An actuator without effort has no limit.
        let limit = Some(upper.max(-lower)).filter(|limit| *limit > 0.0);
        let plant = &mut self.target.plant;
        let added = plant.add_joint_actuator(&name, *joint, limit.unwrap_or(f64::INFINITY));
        let added = added.map_err(|e| node.error(e))?;
        let others = driven.joints[1..].iter();
        let others: Vec<_> = others.map(|(joint, c)| (*joint, c / coefficient)).collect();
        let set = plant.set_default_rotor(added, 0.0, gear);
        let set = set.and_then(|()| plant.set_affine_control(added, control));
        let set = set.and_then(|()| plant.couple_actuator(added, &others));
        set.map_err(|e| node.error(e))?;
        Ok(Some(added))
    }

    /// Returns what an actuator drives; `None` if it is neither a joint nor a fixed tendon.
    fn read_transmission(&self, node: ElementRef<'_>) -> Parsed<Option<FixedTendon>> {
        if let Some(name) = node.own_text("tendon") {
            return Ok(self.tendons.get(name).cloned());
        }
        let names = ["joint", "jointinparent"].into_iter();
        let mut names = names.filter_map(|at| Some((at, node.own_text(at)?)));
        let Some((at, name)) = names.next() else {
            return Ok(None);
        };
        let index = self.joint(node, at, name)?;
        let joint = self.target.plant.joint(index).map_err(|e| node.error(e))?;
        let limits = (
            joint.position_lower_limits().first(),
            joint.position_upper_limits().first(),
        );
        let range = match limits {
            (Some(lower), Some(upper)) if lower.is_finite() && upper.is_finite() => {
                Some([*lower, *upper])
            }
            _ => None,
        };
        Ok(Some(FixedTendon {
            joints: vec![(index, 1.0)],
            range,
        }))
    }

    /// Returns the damping of a critically damped servo with the gain `kp`.
    fn critical_damping(
        &self,
        inertia: &mut Option<DefaultInertia>,
        driven: &FixedTendon,
        gear: f64,
        kp: f64,
    ) -> crate::Result<f64> {
        let known = match inertia.take() {
            Some(known) => known,
            None => self.default_inertia()?,
        };
        // Reflected to the actuator.
        let of = |(joint, coefficient): &(JointIndex, f64)| {
            let moment = gear * coefficient;
            match moment == 0.0 {
                true => 0.0,
                false => known.along(*joint).unwrap_or(0.0) / (moment * moment),
            }
        };
        let mass: f64 = driven.joints.iter().map(of).sum();
        *inertia = Some(known);
        Ok(2.0 * (kp * mass).max(0.0).sqrt())
    }

    /// Returns the range of the input, which is the activation of an actuator that has one.
    fn control_range(
        &self,
        node: ElementRef<'_>,
        name: &str,
        driven: Option<[f64; 2]>,
        force: &ActuatorForce,
    ) -> Parsed<[f64; 2]> {
        let unlimited = [f64::NEG_INFINITY, f64::INFINITY];
        if let Some(kind) = force.dynamics {
            node.warning(format!(
                "actuator '{name}': the plant has no activations; the input is the activation that \
                 MuJoCo computes from the control ({kind})"
            ));
        }
        let inherited = node.number("inheritrange")?.unwrap_or(0.0);
        let is_servo = force.gain[0] != 0.0 && force.gain[0] == -force.bias[1];
        if inherited > 0.0 && is_servo {
            let Some([lower, upper]) = driven else {
                let message = format!("actuator '{name}': what it drives has no range");
                return Err(node.error_at("inheritrange", message));
            };
            let (mean, radius) = ((lower + upper) / 2.0, (upper - lower) / 2.0 * inherited);
            return Ok([mean - radius, mean + radius]);
        }
        let limits = |switch: &str, range: &str| {
            let given = self.limits(node, switch, range)?;
            Ok(given
                .filter(|[lower, upper]| lower < upper)
                .unwrap_or(unlimited))
        };
        match force.dynamics {
            None => limits("ctrllimited", "ctrlrange"),
            Some("integrator") => limits("actlimited", "actrange"),
            // A filter of a limited control stays within its limits.
            Some(_) => {
                let control = limits("ctrllimited", "ctrlrange")?;
                Ok(within(control, limits("actlimited", "actrange")?))
            }
        }
    }

    /// Returns the range of the effort at the first joint, within which the efforts at all joints
    /// are in their ranges.
    fn effort_range(
        &self,
        node: ElementRef<'_>,
        driven: &FixedTendon,
        control: &AffineControl,
    ) -> Parsed<[f64; 2]> {
        let scaled = |[a, b]: [f64; 2], factor: f64| match factor == 0.0 {
            true => [0.0; 2],
            false => [(a * factor).min(b * factor), (a * factor).max(b * factor)],
        };
        let given = self.limits(node, "forcelimited", "forcerange")?;
        let given = given.filter(|[lower, upper]| lower < upper);
        let mut range = [f64::NEG_INFINITY, f64::INFINITY];
        if let Some(given) = given {
            range = within(range, scaled(given, control.gear));
        }
        if let [gain, 0.0, 0.0] = control.gain
            && control.bias == [0.0; 3]
        {
            range = within(range, scaled(control.control_range, control.gear * gain));
        }
        let first = driven
            .joints
            .first()
            .map_or(1.0, |(_, coefficient)| *coefficient);
        for (joint, coefficient) in &driven.joints {
            if let Some((of_joint, _)) = self.effort_ranges.get(joint)
                && of_joint[0] < of_joint[1]
            {
                range = within(range, scaled(*of_joint, first / coefficient));
            }
        }
        Ok(range)
    }

    /// Warns about limits of the effort at a joint that has several actuators, or whose actuator
    /// has several joints.
    fn check_effort_ranges(&self) {
        let motors = self.target.plant.actuators();
        for (joint, (_, node)) in &self.effort_ranges {
            let drives = |motor: &JointActuator| {
                let mut others = motor.coupled_joints().iter();
                motor.joint() == *joint || others.any(|(other, _)| other == joint)
            };
            let is_shared = |motor: &&JointActuator| !motor.coupled_joints().is_empty();
            if motors
                .iter()
                .filter(|motor| drives(motor))
                .any(|motor| is_shared(&motor))
            {
                node.warning_at(
                    "actuatorfrcrange",
                    "'actuatorfrcrange' of <joint> limits the effort of a tendon's actuator at all \
                     joints of the tendon, and not at this joint alone",
                );
            }
            if motors.iter().filter(|motor| drives(motor)).count() > 1 {
                node.warning_at(
                    "actuatorfrcrange",
                    "'actuatorfrcrange' of <joint> limits the effort of each of its actuators, and \
                     not their sum",
                );
            }
        }
    }
}
