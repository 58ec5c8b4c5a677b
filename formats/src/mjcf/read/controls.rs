//! `<actuator>` where a file is read as by MuJoCo: the input of an actuator is its control.

use super::actuator_force::{ActuatorForce, num_activations};
use super::actuators::check_other_gears;
use super::builder::{ActuatorInput, FileTendon, MjcfBuilder};
use super::default_inertia::DefaultInertia;
use super::defaults::ACTUATORS;
use super::tree::ElementRef;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use tarragon_documents::xml::Parsed;
use tarragon_multibody::{
    AffineControl, BodyIndex, JointActuatorIndex, JointIndex, Tendon, TendonPart,
};

/// Least square of a moment arm that reflects inertia, as in MuJoCo (m^2).
const LEAST_SQUARE: f64 = 1e-15;
const NO_DELAY: &str = "actuators have no delay";
const IGNORED: [(&str, &str); 10] = [
    ("cranklength", "actuators drive joints and tendons only"),
    ("actdim", "actuators have no states"),
    ("actearly", "actuators have no states"),
    ("delay", NO_DELAY),
    ("group", "actuators are not drawn"),
    ("interp", NO_DELAY),
    ("kd", "MuJoCo's name for the damping gain is 'kv'"),
    (
        "lengthrange",
        "muscles are not simulated, and others do not need it",
    ),
    ("nsample", NO_DELAY),
    ("user", "user data is not supported"),
];
/// Attributes of other transmissions than joints.
const TRANSMISSIONS: [&str; 5] = ["body", "cranksite", "refsite", "site", "slidersite"];

/// Returns a range within another; an end of it if they do not overlap.
fn within(range: [f64; 2], [lower, upper]: [f64; 2]) -> [f64; 2] {
    range.map(|x| x.max(lower).min(upper))
}

/// Returns a range times a factor, of which 0 makes 0 of infinite ends, too.
fn scaled(range: [f64; 2], factor: f64) -> [f64; 2] {
    let [a, b] = range.map(|x| {
        if x == 0.0 || factor == 0.0 {
            0.0
        } else {
            x * factor
        }
    });
    [a.min(b), a.max(b)]
}

impl<'d> MjcfBuilder<'d, '_, '_> {
    /// Adds all actuators in the order of the file.
    pub(super) fn add_controls(&mut self, root: ElementRef<'d>) {
        let mut inertia = None;
        let actuators = root.children_named("actuator");
        let is_known =
            |node: &ElementRef<'_>| ACTUATORS.contains(&node.tag()) || node.tag() == "plugin";
        for node in actuators.flat_map(|a| a.children()).filter(is_known) {
            let node = self.document.defaults.apply(node, None);
            // Errors were reported.
            let actuator = self.add_control(node, &mut inertia).ok().flatten();
            self.actuators.push(ActuatorInput {
                actuator,
                num_activations: num_activations(node),
                key_number: node.key_number(),
            });
        }
        self.check_effort_ranges();
    }

    /// Adds an actuator; returns `None` if it is left out. `inertia` is computed when an actuator
    /// needs it first.
    fn add_control(
        &mut self,
        node: ElementRef<'_>,
        inertia: &mut Option<crate::Result<DefaultInertia>>,
    ) -> Parsed<Option<JointActuatorIndex>> {
        let name = self.actuator_name(node);
        let left_out = |why: &str| {
            node.warning(format!("actuator '{name}' is left out: {why}"));
            Ok(None)
        };
        node.ignore_attributes(&IGNORED);
        let force = match ActuatorForce::read(node)? {
            Ok(force) => force,
            Err(why) => return left_out(&why),
        };
        let joint = node
            .own_text("joint")
            .or_else(|| node.own_text("jointinparent"));
        if let Some(joint) = joint.filter(|joint| self.free_joints.contains(joint)) {
            return left_out(&format!(
                "its joint '{joint}' is free, and actuators drive joints with one degree of freedom"
            ));
        }
        let Some(driven) = self.read_transmission(node)? else {
            if let Some(tendon) = node.own_text("tendon") {
                return left_out(&format!("its tendon '{tendon}' is left out"));
            }
            let other = TRANSMISSIONS.iter().find(|at| node.own_text(at).is_some());
            let other = other.map_or(String::new(), |at| format!(", got '{at}'"));
            return left_out(&format!(
                "it must have the attribute 'joint' or 'tendon', because actuators drive joints and \
                 tendons only{other}"
            ));
        };
        let (terms, path) = match &driven.tendon {
            Tendon::Fixed(terms) => (&**terms, None),
            Tendon::Spatial(path) => (&[][..], Some(path)),
        };
        let joints: Vec<JointIndex> = terms.iter().map(|(joint, _)| *joint).collect();
        if let Err(error) = self.target.plant.check_single("transmission", &joints) {
            return left_out(&format!(
                "actuators drive joints with one degree of freedom; {error}"
            ));
        }
        let coefficient = match terms.first() {
            Some((_, coefficient)) => *coefficient,
            None if path.is_some() => 1.0,
            None => return left_out("all coefficients of its tendon are 0"),
        };
        let gears = node.numbers_over_defaults("gear")?;
        check_other_gears(node, &gears);
        let scale = gears.first().copied().unwrap_or(1.0);
        let gear = scale * coefficient;
        let mut bias = force.bias;
        if let Some(ratio) = force.damping_ratio {
            match self.critical_damping(inertia, &driven.tendon, scale, force.gain[0]) {
                Ok(critical) => bias[2] = -ratio * critical,
                Err(error) => node.warning(format!(
                    "actuator '{name}': the damping ratio is ignored: {error}"
                )),
            }
        }
        for (at, numbers) in [
            ("gear", &[gear][..]),
            ("gainprm", &force.gain),
            ("biasprm", &bias),
        ] {
            if let Some(bad) = numbers.iter().find(|x| !x.is_finite()) {
                let message =
                    format!("actuator '{name}': gear, gain and bias must be finite, got {bad:?}");
                return Err(node.error_at(at, message));
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
            effort_range: self.effort_range(node, terms, &control)?,
            ..control
        };
        let [lower, upper] = control.effort_range;
        // An actuator without effort has no limit.
        let limit = Some(upper.max(-lower)).filter(|limit| *limit > 0.0);
        let plant = &mut self.target.plant;
        let limit = limit.unwrap_or(f64::INFINITY);
        let added = match (path, terms) {
            (None, [(joint, _), others @ ..]) => {
                let others = others.iter();
                let others: Vec<_> = others.map(|(j, c)| (*j, c / coefficient)).collect();
                let added = plant.add_joint_actuator(&name, *joint, limit);
                added.and_then(|added| {
                    plant.couple_actuator(added, &others)?;
                    plant.set_default_rotor(added, 0.0, gear)?;
                    Ok(added)
                })
            }
            _ => {
                let path = path.cloned().unwrap_or_default();
                plant.add_tendon_actuator(&name, self.instance, path, limit)
            }
        };
        let added = added.map_err(|e| node.error(e))?;
        let set = plant.set_affine_control(added, control);
        set.map_err(|e| node.error(e))?;
        Ok(Some(added))
    }

    /// Returns what an actuator drives; `None` if it is neither a joint nor a tendon.
    fn read_transmission(&self, node: ElementRef<'_>) -> Parsed<Option<FileTendon>> {
        if let Some(name) = node.own_text("tendon") {
            return Ok(self.named_tendon(node, "tendon", name)?.cloned());
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
        Ok(Some(FileTendon {
            tendon: Tendon::Fixed(vec![(index, 1.0)]),
            range,
        }))
    }

    /// Returns the damping of a critically damped servo with the gain `kp`.
    fn critical_damping(
        &self,
        inertia: &mut Option<crate::Result<DefaultInertia>>,
        driven: &Tendon,
        gear: f64,
        kp: f64,
    ) -> Result<f64, String> {
        let known = inertia.get_or_insert_with(|| self.default_inertia());
        let known = known.as_ref().map_err(|e| e.to_string())?;
        let moments = match driven {
            Tendon::Fixed(joints) => Cow::Borrowed(joints),
            Tendon::Spatial(path) => {
                let of_bodies = |body| self.own_body(body);
                Cow::Owned(known.moments(path, of_bodies).map_err(|e| e.to_string())?)
            }
        };
        // Reflected to the actuator.
        let of = |(joint, coefficient): &(JointIndex, f64)| {
            let moment = gear * coefficient;
            if moment * moment <= LEAST_SQUARE {
                0.0
            } else {
                known.along(*joint).unwrap_or(0.0) / (moment * moment)
            }
        };
        let mass: f64 = moments.iter().map(of).sum();
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
            let own = match node.tag() {
                "intvelocity" => "actrange",
                _ => "ctrlrange",
            };
            if let Some(range) = node.range(own)?.filter(|range| *range != [0.0; 2]) {
                let message = format!(
                    "actuator '{name}': it must have one of '{own}' and 'inheritrange', got both: \
                     {range:?} and {inherited:?}"
                );
                return Err(node.error_at("inheritrange", message));
            }
            let Some([lower, upper]) = driven else {
                let message = format!("actuator '{name}': what it drives has no range");
                return Err(node.error_at("inheritrange", message));
            };
            let (mean, radius) = ((lower + upper) / 2.0, (upper - lower) / 2.0 * inherited);
            return Ok([mean - radius, mean + radius]);
        }
        if node.tag() == "damper" {
            let range = node.range("ctrlrange")?;
            if let Some(range) = range.filter(|[lower, upper]| 0.0 <= *lower && lower < upper) {
                return Ok(range);
            }
            let got = range.map_or("none".into(), |range| format!("{range:?}"));
            let message = format!(
                "actuator '{name}': <damper> must have a 'ctrlrange' that is not empty and starts \
                 at 0 or above, got {got}"
            );
            return Err(node.error_at("ctrlrange", message));
        }
        let limits = |switch: &str, range: &str| {
            Ok(self
                .nonempty_limits(node, switch, range)?
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
        driven: &[(JointIndex, f64)],
        control: &AffineControl,
    ) -> Parsed<[f64; 2]> {
        let given = self.nonempty_limits(node, "forcelimited", "forcerange")?;
        let mut range = [f64::NEG_INFINITY, f64::INFINITY];
        if let Some(given) = given {
            range = within(range, scaled(given, control.gear));
        }
        if let [gain, 0.0, 0.0] = control.gain
            && control.bias == [0.0; 3]
        {
            range = within(range, scaled(control.control_range, control.gear * gain));
        }
        let first = driven.first().map_or(1.0, |(_, coefficient)| *coefficient);
        for (joint, coefficient) in driven {
            if let Some((of_joint, _)) = self.effort_ranges.get(joint) {
                range = within(range, scaled(*of_joint, first / coefficient));
            }
        }
        Ok(range)
    }

    /// Returns the joints of the document between the world and the bodies of a path.
    fn joints_to(&self, path: &[TendonPart]) -> BTreeSet<JointIndex> {
        let all = self.target.plant.joints().skip(self.first_joint.index());
        let inboard: BTreeMap<BodyIndex, (JointIndex, BodyIndex)> = all
            .map(|(index, joint)| (joint.child_body(), (index, joint.parent_body())))
            .collect();
        let mut found = BTreeSet::new();
        for body in path.iter().flat_map(TendonPart::bodies) {
            let mut next = inboard.get(&body);
            while let Some((_, parent)) = next.filter(|(joint, _)| found.insert(*joint)) {
                next = inboard.get(parent);
            }
        }
        found
    }

    /// Warns about limits of the effort at a joint that has several actuators, or whose actuator
    /// has several joints or pulls a spatial tendon.
    fn check_effort_ranges(&self) {
        if self.effort_ranges.is_empty() {
            return;
        }
        let mut num_actuators: BTreeMap<JointIndex, usize> = BTreeMap::new();
        let (mut shared, mut pulled) = (BTreeSet::new(), BTreeSet::new());
        for motor in self.target.plant.actuators() {
            let moved = motor.path().map(|path| self.joints_to(path));
            let moved = moved.into_iter().flatten();
            for joint in moved.filter(|joint| self.effort_ranges.contains_key(joint)) {
                pulled.insert(joint);
            }
            let joints = motor.joints().map(|(joint, _)| joint);
            for joint in joints.filter(|joint| self.effort_ranges.contains_key(joint)) {
                *num_actuators.entry(joint).or_default() += 1;
                if !motor.coupled_joints().is_empty() {
                    shared.insert(joint);
                }
            }
        }
        for (joint, (_, node)) in &self.effort_ranges {
            if pulled.contains(joint) {
                node.warning_at(
                    "actuatorfrcrange",
                    "'actuatorfrcrange' of <joint> does not limit the actuators of spatial tendons; \
                     give them a 'forcerange'",
                );
            }
            if shared.contains(joint) {
                node.warning_at(
                    "actuatorfrcrange",
                    "'actuatorfrcrange' of <joint> limits the effort of a tendon's actuator at all \
                     joints of the tendon, and not at this joint alone",
                );
            }
            if num_actuators.get(joint).is_some_and(|n| *n > 1) {
                node.warning_at(
                    "actuatorfrcrange",
                    "'actuatorfrcrange' of <joint> limits the effort of each of its actuators, and \
                     not their sum",
                );
            }
        }
    }
}
