//! Compares one model as printed with its recording.

use crate::kinematics::{items, text};
use crate::support::number;
use serde_json::Value;
use std::collections::BTreeMap;

/// Tolerance of numbers, relative to the larger of 1 and the recorded number: both sides compute in
/// double precision.
const TOLERANCE: f64 = 1e-9;
/// Tolerance of pose components, likewise.
const POSE_TOLERANCE: f64 = 1e-10;

/// Compared aspects, the columns of the table.
pub(super) const ASPECTS: [&str; 6] = [
    "structure",
    "masses",
    "poses",
    "dynamics",
    "geometry",
    "filters",
];
const STRUCTURE: &str = ASPECTS[0];
const MASSES: &str = ASPECTS[1];
const POSES: &str = ASPECTS[2];
const DYNAMICS: &str = ASPECTS[3];
const GEOMETRY: &str = ASPECTS[4];
const FILTERS: &str = ASPECTS[5];

/// Differences, by aspect.
#[derive(Default)]
pub(super) struct Comparison {
    pub(super) differences: Vec<(&'static str, String)>,
}

/// Shortens a value for printing.
fn short(v: &Value) -> String {
    v.to_string().chars().take(200).collect()
}

fn near(a: &Value, b: &Value, tolerance: f64) -> bool {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| near(a, b, tolerance))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && b.iter()
                    .all(|(k, b)| a.get(k).is_some_and(|a| near(a, b, tolerance)))
        }
        (Value::Null | Value::Bool(_), _) | (_, Value::Null | Value::Bool(_)) => a == b,
        _ if a == b => true,
        (Value::String(_), Value::String(_)) => false,
        _ => {
            let (a, b) = (number(a), number(b));
            (a - b).abs() <= tolerance * b.abs().max(1.0)
        }
    }
}

/// Whether poses are equal up to the sign of the quaternion.
fn same_pose(a: &Value, b: &Value) -> bool {
    let list = |v: &Value| -> Vec<f64> { items(v).iter().map(number).collect() };
    let (a, b) = (list(a), list(b));
    let dot: f64 = a.iter().zip(&b).take(4).map(|(a, b)| a * b).sum();
    let sign = |i: usize| if i < 4 && dot < 0.0 { -1.0 } else { 1.0 };
    let close = |(i, (a, b)): (usize, (&f64, &f64))| {
        (sign(i) * a - b).abs() <= POSE_TOLERANCE * b.abs().max(1.0)
    };
    a.len() == b.len() && a.iter().zip(&b).enumerate().all(close)
}

impl Comparison {
    pub(super) fn new(ours: &Value, truth: &Value) -> Self {
        let mut c = Self::default();
        c.structure(ours, truth);
        c.bodies(ours, truth);
        c.joints(ours, truth);
        c.frames(ours, truth);
        c.geometries(ours, truth);
        c.filters(ours, truth);
        c.samples(ours, truth);
        c
    }

    fn differ(&mut self, aspect: &'static str, what: &str, ours: &Value, truth: &Value) {
        let (ours, truth) = (short(ours), short(truth));
        self.differences
            .push((aspect, format!("{what}: ours {ours}, recorded {truth}")));
    }
    fn field(&mut self, aspect: &'static str, what: &str, ours: &Value, truth: &Value) {
        if !near(ours, truth, TOLERANCE) {
            self.differ(aspect, what, ours, truth);
        }
    }
    /// Pairs of items at the same index, if the numbers of items agree.
    fn pairs<'a>(
        &mut self,
        aspect: &'static str,
        what: &str,
        ours: &'a Value,
        truth: &'a Value,
    ) -> Vec<(&'a Value, &'a Value)> {
        let (a, b) = (items(ours), items(truth));
        if a.len() != b.len() {
            self.differ(aspect, what, &a.len().into(), &b.len().into());
            return vec![];
        }
        a.iter().zip(b).collect()
    }

    fn structure(&mut self, ours: &Value, truth: &Value) {
        for key in [
            "model_instances",
            "model_instances_returned",
            "num_positions",
            "num_velocities",
            "num_actuated_dofs",
            "num_constraints",
            "num_force_elements",
            "gravity",
            "position_names",
            "default_positions",
        ] {
            self.field(STRUCTURE, key, &ours[key], &truth[key]);
        }
        for (a, b) in self.pairs(
            STRUCTURE,
            "actuators",
            &ours["actuators"],
            &truth["actuators"],
        ) {
            self.field(STRUCTURE, "actuator", a, b);
        }
    }

    fn bodies(&mut self, ours: &Value, truth: &Value) {
        for (a, b) in self.pairs(STRUCTURE, "bodies", &ours["bodies"], &truth["bodies"]) {
            let name = text(&b["name"]);
            for key in ["name", "model", "floating_base"] {
                self.field(STRUCTURE, &format!("body {name} {key}"), &a[key], &b[key]);
            }
            let mass = b["mass"].as_f64().unwrap_or(0.0).abs();
            // Moments and products of inertia are relative to the largest moment.
            let moments = items(&b["I_BBo_B_moments"]).iter().map(number);
            let scale = moments.fold(0.0_f64, |m, x| m.max(x.abs()));
            for (key, scale) in [
                ("mass", mass),
                ("com", 1.0),
                ("I_BBo_B_moments", scale),
                ("I_BBo_B_products", scale),
            ] {
                let list = |v: &Value| -> Vec<f64> {
                    match v {
                        Value::Array(list) => list.iter().map(number).collect(),
                        Value::Null => vec![],
                        number_of => vec![number(number_of)],
                    }
                };
                let (u, v) = (list(&a[key]), list(&b[key]));
                let fine = |(u, v): (&f64, &f64)| (u - v).abs() <= TOLERANCE * scale;
                if u.len() != v.len() || !u.iter().zip(&v).all(fine) {
                    self.differ(MASSES, &format!("body {name} {key}"), &a[key], &b[key]);
                }
            }
        }
        self.field(
            MASSES,
            "total mass",
            &ours["total_mass"],
            &truth["total_mass"],
        );
    }

    fn joints(&mut self, ours: &Value, truth: &Value) {
        for (a, b) in self.pairs(STRUCTURE, "joints", &ours["joints"], &truth["joints"]) {
            let name = text(&b["name"]);
            let fields = b.as_object().into_iter().flatten();
            for (key, recorded) in fields {
                let what = format!("joint {name} {key}");
                match &**key {
                    "X_PF" | "X_BM" => {
                        if !same_pose(&a[key], recorded) {
                            self.differ(POSES, &what, &a[key], recorded);
                        }
                    }
                    _ => self.field(STRUCTURE, &what, &a[key], recorded),
                }
            }
        }
    }

    fn frames(&mut self, ours: &Value, truth: &Value) {
        for (a, b) in self.pairs(STRUCTURE, "frames", &ours["frames"], &truth["frames"]) {
            let (a, b) = (items(a), items(b));
            if a[..3] != b[..3] {
                self.differ(STRUCTURE, "frame", &a[..3].into(), &b[..3].into());
            } else if !same_pose(&a[3], &b[3]) {
                self.differ(POSES, &format!("frame {}", text(&b[1])), &a[3], &b[3]);
            }
        }
    }

    fn geometries(&mut self, ours: &Value, truth: &Value) {
        for (a, b) in self.pairs(
            GEOMETRY,
            "geometries",
            &ours["geometries"],
            &truth["geometries"],
        ) {
            let name = text(&b["name"]);
            for key in ["name", "body"] {
                self.field(GEOMETRY, &format!("{name} {key}"), &a[key], &b[key]);
            }
            let roles = |v: &Value| {
                let mut roles: Vec<String> = items(v).iter().map(|r| text(r).into()).collect();
                roles.sort();
                roles
            };
            if roles(&a["roles"]) != roles(&b["roles"]) {
                self.differ(GEOMETRY, &format!("{name} roles"), &a["roles"], &b["roles"]);
            }
            let mut shapes = [a["shape"].clone(), b["shape"].clone()];
            for shape in &mut shapes {
                // The file's location is not recorded.
                shape.as_object_mut().map(|s| s.remove("file"));
            }
            self.field(GEOMETRY, &format!("{name} shape"), &shapes[0], &shapes[1]);
            if !same_pose(&a["X_FG"], &b["X_FG"]) {
                self.differ(GEOMETRY, &format!("{name} X_FG"), &a["X_FG"], &b["X_FG"]);
            }
            for role in ["proximity", "illustration", "perception"] {
                self.properties(&format!("{name} {role}"), &a[role], &b[role]);
            }
        }
        let roles = "num_geometries_by_role";
        self.field(GEOMETRY, roles, &ours[roles], &truth[roles]);
    }

    /// Compares properties by group and name; some values could not be recorded, files only by
    /// name.
    fn properties(&mut self, what: &str, ours: &Value, truth: &Value) {
        let flat = |v: &Value| -> BTreeMap<String, Value> {
            let groups = v.as_object().into_iter().flatten();
            let flat = groups.flat_map(|(group, found)| match found {
                Value::Object(found) => {
                    let named =
                        |(name, v): (&String, &Value)| (format!("{group}.{name}"), v.clone());
                    found.iter().map(named).collect()
                }
                other => vec![(group.clone(), other.clone())],
            });
            flat.collect()
        };
        let (mut ours, truth) = (flat(ours), flat(truth));
        for (key, recorded) in truth {
            let found = ours.remove(&key).unwrap_or(Value::Null);
            // For a material with a texture and no colour, Drake's colour is black and transparent.
            let texture_only = key == "phong.diffuse"
                && recorded["rgba"] == serde_json::json!([0.0, 0.0, 0.0, 0.0]);
            let file = |v: &Value| text(v).rsplit('/').next().map(str::to_string);
            let same = recorded["opaque"] == true && !found.is_null()
                || texture_only && found.is_null()
                || key == "phong.diffuse_map" && file(&found) == file(&recorded)
                || near(&found, &recorded, TOLERANCE);
            if !same {
                self.differ(GEOMETRY, &format!("{what} {key}"), &found, &recorded);
            }
        }
        for (key, found) in ours {
            self.differ(GEOMETRY, &format!("{what} {key}"), &found, &Value::Null);
        }
    }

    fn filters(&mut self, ours: &Value, truth: &Value) {
        for key in [
            "num_collision_candidates",
            "collision_candidates",
            "collision_filter_groups",
            "collision_filter_exclusions",
        ] {
            if !truth[key].is_null() {
                self.field(FILTERS, key, &ours[key], &truth[key]);
            }
        }
    }

    fn samples(&mut self, ours: &Value, truth: &Value) {
        let bodies = items(&truth["bodies"]);
        for (a, b) in self.pairs(POSES, "samples", &ours["samples"], &truth["samples"]) {
            for (body, recorded) in bodies.iter().zip(items(&b["X_WB"])) {
                let name = format!("{}::{}", text(&body["model"]), text(&body["name"]));
                if !same_pose(&a["X_WB"][&name], recorded) {
                    self.differ(
                        POSES,
                        &format!("X_WB of {name}"),
                        &a["X_WB"][&name],
                        recorded,
                    );
                }
            }
            for key in [
                "com_W",
                "mass_matrix_trace",
                "mass_matrix_diag",
                "mass_matrix_fro",
                "gravity_forces",
                "gravity_norm",
            ] {
                if !b[key].is_null() {
                    self.field(DYNAMICS, key, &a[key], &b[key]);
                }
            }
        }
    }
}
