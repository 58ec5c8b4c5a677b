//! Constraints of a model as JSON and as text.

use super::report::{Inspected, number, numbers, pose};
use nalgebra::Vector3;
use serde_json::{Value, json};
use std::error::Error;
use tarragon::multibody::{BodyIndex, Constraint, EqualityKind, JointIndex, Tendon, TendonPart};

/// A constraint, described for people and for programs.
pub(super) struct Described {
    pub(super) text: String,
    pub(super) json: Value,
}

impl Described {
    /// Adds the stiffness (N/m) and the damping (N s/m).
    fn with_compliance(mut self, stiffness: f64, damping: f64) -> Self {
        self.json["stiffness"] = number(stiffness);
        self.json["damping"] = number(damping);
        self
    }
}

/// The limits of a length over joints or bodies.
fn length(kind: &str, over: &[String], (lower, upper): (f64, f64)) -> Described {
    let (over, within) = (over.join(", "), range(lower, upper));
    Described {
        text: format!("{kind}: length over {over} within {within}"),
        json: json!({
            "type": kind.replace(' ', "_"), "lower": number(lower), "upper": number(upper),
        }),
    }
}

/// A point in a frame, as text.
fn point(p: &Vector3<f64>) -> String {
    format!("[{:.4} {:.4} {:.4}]", p.x, p.y, p.z)
}

/// A range, with infinite bounds spelled out.
pub(super) fn range(lower: f64, upper: f64) -> String {
    format!("[{}, {}]", bound(lower, 4), bound(upper, 4))
}

/// Formats a bound. Huge numbers that files write in place of infinity become `inf`.
pub(super) fn bound(x: f64, decimals: usize) -> String {
    match is_bound(x) {
        true => format!("{x:.decimals$}"),
        false if x > 0.0 => "inf".into(),
        false if x < 0.0 => "-inf".into(),
        false => "nan".into(),
    }
}

/// Returns true if a bound limits anything: it is neither infinite nor a huge number in its place.
pub(super) fn is_bound(x: f64) -> bool {
    x.abs() < 1e300
}

impl Inspected {
    fn joint_name(&self, joint: JointIndex) -> Result<String, Box<dyn Error>> {
        let joint = self.plant.joint(joint)?;
        let model = self.model_name(joint.model_instance());
        Ok(format!("{model}::{}", joint.name()))
    }

    /// The constraints of the plant, in their order, with whether they act by default.
    pub(super) fn constraints(&self) -> Result<Vec<Described>, Box<dyn Error>> {
        let mut described = vec![];
        for (k, constraint) in self.plant.constraints().iter().enumerate() {
            let mut found = self.constraint(constraint)?;
            let is_active = self.plant.is_default_constraint_active(k)?;
            found.json["active"] = is_active.into();
            if !is_active {
                found.text += " (inactive)";
            }
            described.push(found);
        }
        Ok(described)
    }

    /// Equalities of model files that the reading of the file leaves out of the plant.
    pub(super) fn equalities(&self) -> Result<Vec<Described>, Box<dyn Error>> {
        let mut described = vec![];
        for equality in self.plant.model_equalities() {
            let mut found = match self.plant.equality_as_constraint(equality) {
                Some(constraint) => self.constraint(&constraint)?,
                None => match &equality.kind {
                    EqualityKind::Weld(weld) => self.constraint(&Constraint::Weld(*weld))?,
                    EqualityKind::Joint {
                        joint0,
                        joint1,
                        coefficients,
                    } => self.polynomial_of_joints(*joint0, *joint1, coefficients)?,
                },
            };
            found.json["name"] = equality.name.as_str().into();
            found.json["active"] = equality.active.into();
            if !equality.name.is_empty() {
                found.text += &format!(" '{}'", equality.name);
            }
            described.push(found);
        }
        Ok(described)
    }

    /// Same as [`Self::constraints`], as JSON.
    pub(super) fn constraints_as_json(&self) -> Result<Vec<Value>, Box<dyn Error>> {
        Ok(self.constraints()?.into_iter().map(|d| d.json).collect())
    }
    /// Same as [`Self::equalities`], as JSON.
    pub(super) fn equalities_as_json(&self) -> Result<Vec<Value>, Box<dyn Error>> {
        Ok(self.equalities()?.into_iter().map(|d| d.json).collect())
    }

    fn polynomial_of_joints(
        &self,
        joint0: JointIndex,
        joint1: Option<JointIndex>,
        coefficients: &[f64; 5],
    ) -> Result<Described, Box<dyn Error>> {
        let first = self.joint_name(joint0)?;
        let second = joint1.map(|joint| self.joint_name(joint)).transpose()?;
        let text = match &second {
            Some(second) => format!(
                "polynomial: {first} follows {second} by {}",
                spaced(coefficients)
            ),
            None => format!("polynomial: {first} stays {}", coefficients[0]),
        };
        let json = json!({
            "type": "polynomial",
            "joints": [Some(first), second],
            "coefficients": numbers(coefficients),
        });
        Ok(Described { text, json })
    }

    fn constraint(&self, constraint: &Constraint) -> Result<Described, Box<dyn Error>> {
        let name = |body: BodyIndex| self.body_name(body);
        Ok(match constraint {
            Constraint::Coupler(c) => {
                let (a, b) = (self.joint_name(c.joint0)?, self.joint_name(c.joint1)?);
                let offset = match c.offset {
                    0.0 => String::new(),
                    x if x < 0.0 => format!(" - {}", -x),
                    x => format!(" + {x}"),
                };
                Described {
                    text: format!("coupler: {a} = {} {b}{offset}", c.gear_ratio),
                    json: json!({
                        "type": "coupler", "joint0": a, "joint1": b,
                        "gear_ratio": number(c.gear_ratio), "offset": number(c.offset),
                    }),
                }
            }
            Constraint::Ball(c) => {
                let (a, b) = (name(c.body_a)?, name(c.body_b)?);
                let text = format!("ball: {} of {a} stays at ", point(&c.p_ap));
                Described {
                    text: match &c.p_bq {
                        Some(q) => format!("{text}{} of {b}", point(q)),
                        None => format!("{text}its initial place in {b}"),
                    },
                    json: json!({
                        "type": "ball", "body_a": a, "p_AP": numbers(&c.p_ap), "body_b": b,
                        "p_BQ": c.p_bq.as_ref().map(numbers),
                    }),
                }
            }
            Constraint::Weld(c) => {
                let (a, b) = (name(c.body_a)?, name(c.body_b)?);
                Described {
                    text: format!("weld: {a} and {b}"),
                    json: json!({
                        "type": "weld", "body_a": a, "X_AP": pose(&c.x_ap), "body_b": b,
                        "X_BQ": pose(&c.x_bq),
                    }),
                }
            }
            Constraint::Distance(c) => {
                let (a, b) = (name(c.body_a)?, name(c.body_b)?);
                let (p, q) = (point(&c.p_ap), point(&c.p_bq));
                Described {
                    text: format!("distance: {p} of {a} to {q} of {b} is {} m", c.distance),
                    json: json!({
                        "type": "distance", "body_a": a, "p_AP": numbers(&c.p_ap), "body_b": b,
                        "p_BQ": numbers(&c.p_bq), "distance": number(c.distance),
                    }),
                }
                .with_compliance(c.stiffness, c.damping)
            }
            Constraint::Tendon(c) => {
                let joints = c.joints.iter().map(|joint| self.joint_name(*joint));
                let joints = joints.collect::<Result<Vec<_>, _>>()?;
                let mut found = length("tendon", &joints, (c.lower, c.upper));
                found.json["joints"] = joints.into();
                found.json["coefficients"] = numbers(&c.coefficients);
                found.json["offset"] = number(c.offset);
                found.with_compliance(c.stiffness, c.damping)
            }
            Constraint::SpatialTendon(c) => {
                let bodies = self.bodies_of_path(&c.path)?;
                let mut found = length("spatial tendon", &bodies, (c.lower, c.upper));
                found.json["bodies"] = bodies.into();
                found.with_compliance(c.stiffness, c.damping)
            }
            Constraint::Polynomial(c) => {
                let [first, second] = &c.tendons;
                let (first, second) = (self.tendon(first)?, self.tendon(second)?);
                let coefficients = spaced(&c.coefficients);
                Described {
                    text: match &*second {
                        "" => format!("polynomial: {first} stays {}", c.coefficients[0]),
                        _ => format!("polynomial: {first} follows {second} by {coefficients}"),
                    },
                    json: json!({
                        "type": "polynomial", "tendons": [first, second],
                        "references": numbers(&c.references),
                        "coefficients": numbers(&c.coefficients),
                    }),
                }
            }
        })
    }

    /// Names of the bodies that a path touches, each once in a row.
    fn bodies_of_path(&self, path: &[TendonPart]) -> Result<Vec<String>, Box<dyn Error>> {
        let mut names: Vec<String> = vec![];
        for part in path {
            let body = match part {
                TendonPart::Site { body, .. } => *body,
                TendonPart::Wrap(wrap) => wrap.body,
                _ => continue,
            };
            names.push(self.body_name(body)?);
        }
        names.dedup();
        Ok(names)
    }

    /// A tendon as text: a sum of joints, or the bodies of its path.
    fn tendon(&self, tendon: &Tendon) -> Result<String, Box<dyn Error>> {
        Ok(match tendon {
            Tendon::Fixed(joints) => {
                let term = |(joint, factor): &(JointIndex, f64)| -> Result<_, Box<dyn Error>> {
                    let name = self.joint_name(*joint)?;
                    Ok(match *factor {
                        1.0 => name,
                        factor => format!("{factor} {name}"),
                    })
                };
                let terms = joints.iter().map(term).collect::<Result<Vec<_>, _>>()?;
                terms.join(" + ")
            }
            Tendon::Spatial(path) => {
                format!("the path over {}", self.bodies_of_path(path)?.join(", "))
            }
        })
    }
}

/// Coefficients, lowest degree first, without zeros at the end.
fn spaced(coefficients: &[f64]) -> String {
    let used = coefficients
        .iter()
        .rposition(|c| *c != 0.0)
        .map_or(1, |last| last + 1);
    let shown: Vec<String> = coefficients[..used].iter().map(f64::to_string).collect();
    format!("[{}]", shown.join(", "))
}
