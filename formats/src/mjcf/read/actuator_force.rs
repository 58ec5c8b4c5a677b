//! Force and activation of an actuator, where a file is read as by MuJoCo.

use super::tree::ElementRef;
use std::f64::consts::FRAC_PI_4;
use tarragon_documents::xml::Parsed;

/// Gain of an actuator that gives none.
const UNIT_GAIN: [f64; 3] = [1.0, 0.0, 0.0];
/// Kinds of activations.
const DYNAMICS: [&str; 6] = [
    "none",
    "integrator",
    "filter",
    "filterexact",
    "muscle",
    "user",
];

/// Force and activation of an actuator, as its element describes them.
pub(super) struct ActuatorForce {
    pub(super) gain: [f64; 3],
    pub(super) bias: [f64; 3],
    /// Kind of the activation, if there is one.
    pub(super) dynamics: Option<&'static str>,
    /// Damping ratio of a position servo, in place of its damping.
    pub(super) damping_ratio: Option<f64>,
}

/// Force of an element, or why the plant has no such force.
type KnownForce = Result<ActuatorForce, String>;

/// Reads up to three numbers; the class gives those that the element lacks.
fn read_three(node: ElementRef<'_>, name: &str, default: [f64; 3]) -> Parsed<[f64; 3]> {
    let numbers = node.numbers_over_defaults(name)?;
    Ok([0, 1, 2].map(|k: usize| numbers.get(k).copied().unwrap_or(default[k])))
}

/// Reads a number that must not be negative; `None` if the attribute is absent.
fn read_not_negative(node: ElementRef<'_>, name: &str) -> Parsed<Option<f64>> {
    let number = node.number(name)?;
    match number.filter(|x| *x < 0.0) {
        None => Ok(number),
        Some(bad) => {
            let tag = node.tag();
            let message = format!("'{name}' of <{tag}> must be at least 0, got {bad:?}");
            Err(node.error_at(name, message))
        }
    }
}

/// Returns the number of activations of an actuator, whether it is left out or not.
pub(super) fn num_activations(node: ElementRef<'_>) -> usize {
    // Errors in these attributes are reported where the actuator is read.
    let number = |name: &str| node.number(name).ok().flatten();
    match node.tag() {
        "muscle" | "cylinder" | "intvelocity" => 1,
        "position" | "general" if number("timeconst").is_some_and(|time| time > 0.0) => 1,
        "position" | "general"
            if node
                .text("dyntype")
                .is_some_and(|kind| kind.trim() != "none") =>
        {
            number("actdim").map_or(1, |n| n.clamp(1.0, f64::from(u16::MAX)) as usize)
        }
        _ => 0,
    }
}

/// Returns why an element is left out whose force is another function.
fn not_affine(node: ElementRef<'_>) -> KnownForce {
    Err(format!("the force of this <{}> is not affine", node.tag()))
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

    /// Reads the force of an element.
    pub(super) fn read(node: ElementRef<'_>) -> Parsed<KnownForce> {
        let number = |name: &str, default: f64| Ok(node.number(name)?.unwrap_or(default));
        // A class of general actuators may give the gain.
        let inherited = read_three(node, "gainprm", UNIT_GAIN)?[0];
        let has_gain = node.text("gainprm").is_some();
        Ok(Ok(match node.tag() {
            "motor" => Self::new(UNIT_GAIN, [0.0; 3]),
            "velocity" => {
                let kv = number("kv", inherited)?;
                Self::new([kv, 0.0, 0.0], [0.0, 0.0, -kv])
            }
            "damper" => {
                // In MuJoCo, a class does not give it.
                let own = node.own_text("kv").is_some();
                let kv = read_not_negative(node, "kv")?.filter(|_| own);
                Self::new([0.0, 0.0, -kv.unwrap_or(0.0)], [0.0; 3])
            }
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
            "position" | "intvelocity" => return Self::read_servo(node, inherited),
            // A class of position servos may describe it.
            "general" if !has_gain && node.text("kp").is_some() => {
                return Self::read_servo(node, inherited);
            }
            "general" => return Self::read_general(node),
            _ => return Ok(not_affine(node)),
        }))
    }

    fn read_servo(node: ElementRef<'_>, inherited: f64) -> Parsed<KnownForce> {
        let kp = node.number("kp")?.unwrap_or(inherited);
        let mut bias = read_three(node, "biasprm", [0.0; 3])?;
        let (kv, ratio) = (
            read_not_negative(node, "kv")?,
            read_not_negative(node, "dampratio")?,
        );
        if ["kv", "dampratio"].map(|at| node.own_text(at).is_some()) == [true; 2] {
            let tag = node.tag();
            let message = format!("<{tag}> must have one of 'kv' and 'dampratio', got both");
            return Err(node.error_at("dampratio", message));
        }
        // Own attributes come first, then those of the innermost class.
        let mut names = node.attributes().map(|a| &*a.name);
        match names.find(|name| matches!(*name, "kv" | "dampratio")) {
            Some("kv") => bias[2] = -kv.unwrap_or_default(),
            Some(_) => bias[2] = ratio.unwrap_or_default(),
            None => {}
        }
        // A positive number is a damping ratio, and no damping even where that is unknown.
        let mut force = Self::new([kp, 0.0, 0.0], [bias[0], -kp, bias[2].min(0.0)]);
        force.damping_ratio = Some(bias[2]).filter(|ratio| *ratio > 0.0);
        let filtered = read_not_negative(node, "timeconst")?.is_some_and(|time| time > 0.0);
        force.dynamics = match node.tag() {
            "intvelocity" => Some("integrator"),
            _ if filtered => Some("filterexact"),
            _ => match node.choice("dyntype", &DYNAMICS)? {
                Some(kind @ ("muscle" | "user")) => {
                    return Ok(Err(format!(
                        "its class gives it the activation '{kind}', which the plant does not have"
                    )));
                }
                kind => kind.filter(|kind| *kind != "none"),
            },
        };
        Ok(Ok(force))
    }

    fn read_general(node: ElementRef<'_>) -> Parsed<KnownForce> {
        let kinds = ["fixed", "affine", "muscle", "user"];
        let kind = node.choice("gaintype", &kinds)?;
        let gain = read_three(node, "gainprm", UNIT_GAIN)?;
        let gain = match kind {
            None | Some("fixed") => [gain[0], 0.0, 0.0],
            Some("affine") => gain,
            _ => return Ok(not_affine(node)),
        };
        let kinds = ["none", "affine", "muscle", "user"];
        let kind = node.choice("biastype", &kinds)?;
        let mut bias = read_three(node, "biasprm", [0.0; 3])?;
        match kind {
            None | Some("none") => bias = [0.0; 3],
            Some("affine") => {}
            _ => return Ok(not_affine(node)),
        }
        let mut force = Self::new(gain, bias);
        if gain[0] == -bias[1] && bias[2] > 0.0 {
            // MuJoCo reads it as a damping ratio.
            force.damping_ratio = Some(bias[2]);
            force.bias[2] = 0.0;
        }
        force.dynamics = match node.choice("dyntype", &DYNAMICS)? {
            Some("muscle" | "user") => return Ok(not_affine(node)),
            kind => kind.filter(|kind| *kind != "none"),
        };
        Ok(Ok(force))
    }
}
