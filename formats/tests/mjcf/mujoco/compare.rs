//! Comparison of a model with MuJoCo's reading of the same file.

use nalgebra::{Isometry3, Matrix3, Point3, Quaternion, Translation3, UnitQuaternion, Vector3};
use serde_json::Value;
use std::collections::BTreeMap;
use tarragon_geometry::{GeometryId, SceneGraph, Shape};
use tarragon_multibody::*;

/// Tolerance of masses, inertias and meshes, relative to their size: MuJoCo keeps the vertices of
/// meshes in single precision, which moments of thin meshes amplify.
const SINGLE: f64 = 2e-5;
/// Tolerances of moments and of products of inertia (kg m^2) in addition: MuJoCo keeps principal
/// moments and axes, and its axes of small inertias are that rough.
const ROUGH: [f64; 2] = [2e-9, 3e-8];
/// Tolerance of poses and sizes (m), relative to the larger of 1 and the value: both sides compute
/// in double precision, from texts with up to 17 digits.
const DOUBLE: f64 = 1e-9;

pub(super) struct Comparison<'a> {
    plant: &'a MultibodyPlant,
    scene: &'a SceneGraph,
    /// Our body of each body of MuJoCo.
    bodies: Vec<BodyIndex>,
    /// Our joint of each block of MuJoCo's positions, with its start and type.
    joints: Vec<(JointIndex, usize, String)>,
    pub(super) differences: Vec<String>,
}

fn list(v: &Value) -> Vec<f64> {
    let numbers = v.as_array().unwrap().iter();
    numbers.map(|x| x.as_f64().unwrap()).collect()
}
fn vector(v: &Value) -> Vector3<f64> {
    Vector3::from_column_slice(&list(v))
}
fn matrix(v: &Value) -> Matrix3<f64> {
    Matrix3::from_row_slice(&list(v))
}
fn items(v: &Value) -> &[Value] {
    v.as_array().map_or(&[], Vec::as_slice)
}

impl<'a> Comparison<'a> {
    pub(super) fn new(plant: &'a MultibodyPlant, scene: &'a SceneGraph, truth: &Value) -> Self {
        let mut comparison = Self {
            plant,
            scene,
            bodies: vec![BodyIndex::WORLD],
            joints: vec![],
            differences: vec![],
        };
        let c = &mut comparison;
        let (mass, nv) = (plant.calc_total_mass(), plant.num_velocities());
        c.number("total mass", mass, &truth["mass"], SINGLE);
        if nv as u64 != truth["nv"] {
            c.differ(format!("degrees of freedom: {nv}, not {}", truth["nv"]));
        }
        if nv as u64 == truth["nv"] && c.match_bodies(items(&truth["bodies"])) {
            for (i, body) in items(&truth["bodies"]).iter().enumerate() {
                c.body(c.bodies[i], body);
            }
            items(&truth["samples"]).iter().for_each(|s| c.poses(s));
            c.actuators(items(&truth["actuators"]));
            c.colliding(items(&truth["colliding"]));
        }
        comparison
    }

    fn differ(&mut self, what: String) {
        self.differences.push(what);
    }

    fn number(&mut self, what: &str, ours: f64, theirs: &Value, tolerance: f64) {
        let theirs = theirs.as_f64().unwrap();
        if (ours - theirs).abs() > tolerance * theirs.abs().max(1e-12) {
            self.differ(format!("{what}: {ours:?}, not {theirs:?}"));
        }
    }

    /// Matches bodies and joints by their order: both sides add parents before children, and
    /// massless bodies connect the joints of a body.
    fn match_bodies(&mut self, theirs: &[Value]) -> bool {
        let plant = self.plant;
        let bodies: Vec<BodyIndex> = plant.bodies().map(|(b, _)| b).collect();
        let children: BTreeMap<BodyIndex, JointIndex> = plant
            .joints()
            .map(|(j, joint)| (joint.child_body(), j))
            .collect();
        let mut next = 1;
        for body in &theirs[1..] {
            let joints = items(&body["joints"]);
            let between = joints.len().saturating_sub(1);
            let Some(own) = bodies.get(next) else {
                self.differ(format!("there is no body {}", body["name"]));
                return false;
            };
            self.bodies.push(*own);
            for (k, joint) in joints.iter().enumerate() {
                let child = if k == between { next } else { next + 1 + k };
                let child = bodies.get(child).and_then(|b| children.get(b));
                let Some(found) = child else {
                    self.differ(format!("body {} has no joint {k}", body["name"]));
                    return false;
                };
                let start = joint["q"].as_u64().unwrap() as usize;
                let kind = joint["type"].as_str().unwrap().to_owned();
                self.joint(*found, joint);
                self.joints.push((*found, start, kind));
            }
            next += 1 + between;
        }
        let count = bodies.len();
        if next != count {
            self.differ(format!("there are {count} bodies, not {next}"));
        }
        next == count
    }

    fn joint(&mut self, index: JointIndex, theirs: &Value) {
        let joint = self.plant.joint(index).unwrap();
        let name = joint.name();
        let kind = theirs["type"].as_str().unwrap();
        let same = match joint.kind().type_name() {
            "revolute" => kind == "hinge",
            "prismatic" => kind == "slide",
            "ball_quaternion" => kind == "ball",
            "quaternion_floating" => kind == "free",
            _ => false,
        };
        if !same {
            let ours = joint.kind().type_name();
            return self.differ(format!("joint {name}: {ours}, not {kind}"));
        }
        if kind == "hinge" || kind == "slide" {
            let ours = [
                joint.position_lower_limits()[0],
                joint.position_upper_limits()[0],
            ];
            let theirs_limits = match &theirs["limits"] {
                Value::Null => vec![f64::NEG_INFINITY, f64::INFINITY],
                limits => list(limits),
            };
            for (ours, theirs) in ours.into_iter().zip(theirs_limits) {
                let same = ours == theirs || (ours - theirs).abs() <= DOUBLE * theirs.abs();
                if !same {
                    self.differ(format!("limit of joint {name}: {ours:?}, not {theirs:?}"));
                }
            }
            self.passive(index, joint, theirs);
        }
    }

    /// Compares springs, damping, armature and dry friction of a joint.
    fn passive(&mut self, index: JointIndex, joint: &Joint, theirs: &Value) {
        let name = joint.name();
        for (what, ours) in [
            ("damping", joint.damping()[0]),
            ("armature", joint.armature()),
            ("friction", joint.dry_friction()),
        ] {
            // Damping may follow from the inertia of meshes.
            self.number(
                &format!("{what} of joint {name}"),
                ours,
                &theirs[what],
                SINGLE,
            );
        }
        let mut elements = self.plant.force_elements().iter();
        let spring = elements.find_map(|element| match *element {
            ForceElement::RevoluteSpring {
                joint,
                nominal_angle: rest,
                stiffness,
            }
            | ForceElement::PrismaticSpring {
                joint,
                nominal_position: rest,
                stiffness,
            } => (joint == index).then_some([stiffness, rest]),
            _ => None,
        });
        match (spring, &theirs["spring"]) {
            (None, Value::Null) => {}
            (Some(ours), Value::Array(theirs)) => {
                for (ours, theirs) in ours.into_iter().zip(theirs) {
                    self.number(&format!("spring of joint {name}"), ours, theirs, SINGLE);
                }
            }
            (ours, theirs) => {
                self.differ(format!("spring of joint {name}: {ours:?}, not {theirs}"))
            }
        }
    }

    fn body(&mut self, index: BodyIndex, theirs: &Value) {
        let body = self.plant.body(index).unwrap();
        let name = body.name();
        if let Some(theirs) = theirs["name"].as_str().filter(|n| !n.is_empty())
            && theirs != name
        {
            return self.differ(format!("body {name} is named {theirs}"));
        }
        if index != BodyIndex::WORLD {
            let m = body.spatial_inertia();
            self.number(
                &format!("mass of {name}"),
                m.mass(),
                &theirs["mass"],
                SINGLE,
            );
            let center = vector(&theirs["com"]);
            let p = m.center_of_mass();
            let shift = Matrix3::from_diagonal_element(p.norm_squared()) - p * p.transpose();
            let inertia = m.rotational_inertia() - shift * m.mass();
            let expected = matrix(&theirs["inertia"]);
            let size = (expected.trace() / m.mass()).sqrt();
            // Without a mass, the centre has no meaning.
            if m.mass() > 0.0 && (p - center).amax() > SINGLE * (size + center.amax()) {
                self.differ(format!("centre of {name}: {p}, not {center}"));
            }
            // The parallel axes cancel digits if the centre is far away.
            let cancelled = 1e-14 * shift.amax() * m.mass();
            let error = inertia - expected;
            let limit = 3.0 * SINGLE * expected.amax() + cancelled;
            let moments = error.diagonal().amax();
            if moments > limit + ROUGH[0] || error.amax() > limit + ROUGH[1] {
                self.differ(format!("inertia of {name}: {inertia}, not {expected}"));
            }
        }
        let plant = self.plant;
        let roles = [
            ("collision", plant.collision_geometries(index).to_vec()),
            ("visual", plant.visual_geometries(index).to_vec()),
        ];
        for (role, ours) in roles {
            let theirs = items(&theirs[role]);
            if ours.len() != theirs.len() {
                let (ours, theirs) = (ours.len(), theirs.len());
                self.differ(format!("{role} geometries of {name}: {ours}, not {theirs}"));
                continue;
            }
            for (ours, theirs) in ours.iter().zip(theirs) {
                self.geometry(&format!("{role} geometry of {name}"), *ours, theirs);
            }
        }
    }

    /// Compares the numbers of pairs of geometries that collide, by pairs of bodies.
    fn colliding(&mut self, theirs: &[Value]) {
        let inspector = self.scene.model_inspector();
        let mut number_of: BTreeMap<GeometryId, usize> = BTreeMap::new();
        for (number, body) in self.bodies.iter().enumerate() {
            let ids = self.plant.collision_geometries(*body);
            number_of.extend(ids.iter().map(|id| (*id, number)));
        }
        // Planes and height fields have no kernel of their own pairs in MuJoCo.
        let is_ground = |id: GeometryId| {
            let shape = inspector.shape(id).unwrap().type_name();
            matches!(shape, "HalfSpace" | "HeightField")
        };
        let mut ours: BTreeMap<(usize, usize), u64> = BTreeMap::new();
        for (a, b) in inspector.collision_candidates() {
            if !(is_ground(a) && is_ground(b)) {
                let (a, b) = (number_of[&a], number_of[&b]);
                *ours.entry((a.min(b), a.max(b))).or_default() += 1;
            }
        }
        let number = |pair: &Value, i: usize| pair[i].as_u64().unwrap();
        let theirs = theirs.iter().map(|pair| {
            let bodies = (number(pair, 0) as usize, number(pair, 1) as usize);
            (bodies, number(pair, 2))
        });
        let theirs: BTreeMap<(usize, usize), u64> = theirs.collect();
        if ours != theirs {
            let differing = ours.iter().filter(|(k, n)| theirs.get(k) != Some(n));
            let missing = theirs.keys().filter(|k| !ours.contains_key(k)).count();
            let pairs: Vec<_> = differing.take(3).collect();
            self.differ(format!(
                "colliding pairs of bodies: {pairs:?}, {missing} missing"
            ));
        }
    }

    fn geometry(&mut self, what: &str, ours: GeometryId, theirs: &Value) {
        let inspector = self.scene.model_inspector();
        if let Some(p) = inspector.proximity_properties(ours).unwrap() {
            let contact: Option<&MujocoContact> = p.try_get("material", "mujoco_contact").unwrap();
            let own = contact.map(|contact| [contact.margin, contact.gap]);
            let known = ["margin", "gap"].map(|name| theirs[name].as_f64().unwrap());
            if own != Some(known) {
                self.differ(format!("{what}: margin and gap {own:?}, not {known:?}"));
            }
        }
        let shape = inspector.shape(ours).unwrap();
        let x = inspector.pose_in_frame(ours).unwrap();
        let (kind, half) = match shape {
            Shape::HalfSpace(_) => ("plane", None),
            Shape::Sphere(s) => ("sphere", Some(Vector3::repeat(s.radius()))),
            Shape::Capsule(s) => ("capsule", Some(round(s.radius(), s.length()))),
            Shape::Cylinder(s) => ("cylinder", Some(round(s.radius(), s.length()))),
            Shape::Ellipsoid(s) => ("ellipsoid", Some(s.semi_axes())),
            Shape::Box(s) => ("box", Some(s.size() / 2.0)),
            Shape::HeightField(_) => ("hfield", None),
            _ => ("mesh", None),
        };
        if theirs["type"] != kind {
            return self.differ(format!("{what}: {kind}, not {}", theirs["type"]));
        }
        if let Shape::Mesh(mesh) = shape
            && kind == "mesh"
        {
            let surface = mesh.surface().unwrap();
            let used = surface.triangles().iter().flat_map(|t| t.vertices());
            let points = used.map(|i| (x * Point3::from(surface.vertices()[i as usize])).coords);
            let points: Vec<Vector3<f64>> = points.collect();
            let low = points.iter().fold(points[0], |l, p| l.inf(p));
            let high = points.iter().fold(points[0], |h, p| h.sup(p));
            let size = (high - low).amax() + low.amax();
            for (name, ours) in [("low", low), ("high", high)] {
                let theirs = vector(&theirs[name]);
                if (ours - theirs).amax() > SINGLE * size {
                    self.differ(format!("{what}: {name} at {ours}, not {theirs}"));
                }
            }
            return;
        }
        let r = x.rotation.to_rotation_matrix();
        let position = vector(&theirs["pos"]);
        let along = r * Vector3::z();
        if kind == "plane" {
            let normal = vector(&theirs["z"]);
            let offset = (x.translation.vector - position).dot(&normal);
            if (along - normal).amax() > DOUBLE || offset.abs() > DOUBLE {
                self.differ(format!("{what}: the plane at {x} differs"));
            }
            return;
        }
        // Sizes fitted to meshes are as exact as the meshes.
        let scale = position.amax() + half.map_or(0.0, |h| h.amax());
        if (x.translation.vector - position).amax() > SINGLE * scale {
            let ours = x.translation.vector;
            self.differ(format!("{what}: position {ours}, not {position}"));
        }
        let Some(half) = half else {
            return;
        };
        let squares = half.component_mul(&half);
        let spread = r * Matrix3::from_diagonal(&squares) * r.inverse();
        let expected = matrix(&theirs["spread"]);
        if (spread - expected).amax() > SINGLE * expected.amax() {
            self.differ(format!(
                "{what}: {kind} {half} at {x} differs from {expected}"
            ));
        }
    }

    fn poses(&mut self, sample: &Value) {
        let plant = self.plant;
        let theirs = list(&sample["q"]);
        let mut q = vec![0.0; plant.num_positions()];
        for (joint, from, kind) in &self.joints {
            let to = plant.position_start(*joint).unwrap();
            match &**kind {
                "free" => {
                    q[to..to + 4].copy_from_slice(&theirs[from + 3..from + 7]);
                    q[to + 4..to + 7].copy_from_slice(&theirs[*from..from + 3]);
                }
                "ball" => q[to..to + 4].copy_from_slice(&theirs[*from..from + 4]),
                _ => q[to] = theirs[*from],
            }
        }
        let kinematics = plant.calc_position_kinematics(&q).unwrap();
        for (i, pose) in items(&sample["poses"]).iter().enumerate() {
            let pose = list(pose);
            let position = Vector3::new(pose[0], pose[1], pose[2]);
            let expected =
                Isometry3::from_parts(Translation3::from(position), quaternion(&pose[3..]));
            let ours = kinematics.x_wb(self.bodies[i]);
            let error = expected.inv_mul(ours);
            let size = position.amax().max(1.0);
            let distance = error.translation.vector.amax();
            if distance > DOUBLE * size || error.rotation.angle() > 10.0 * DOUBLE {
                let name = plant.body(self.bodies[i]).unwrap().name().to_owned();
                return self.differ(format!("pose of {name}: {ours}, not {expected}"));
            }
        }
    }

    fn actuators(&mut self, theirs: &[Value]) {
        let plant = self.plant;
        for ours in plant.actuators() {
            let named = theirs.iter().find(|t| t["name"] == ours.name());
            let Some(theirs) = named else {
                continue;
            };
            let what = format!("actuator {}", ours.name());
            self.number(&what, ours.default_gear_ratio(), &theirs["gear"], DOUBLE);
            let limit = theirs["limit"].as_f64().unwrap_or(f64::INFINITY);
            let effort = ours.effort_limit();
            if effort != limit && (effort - limit).abs() > DOUBLE * limit {
                self.differ(format!("limit of {what}: {effort:?}, not {limit:?}"));
            }
            let control = ours.affine_control();
            let (Some(control), Value::Object(theirs)) = (control, &theirs["control"]) else {
                self.differ(format!("{what} has no affine control"));
                continue;
            };
            let range = match &theirs["range"] {
                Value::Null => vec![f64::NEG_INFINITY, f64::INFINITY],
                range => list(range),
            };
            if control.control_range != *range {
                let ours = control.control_range;
                self.differ(format!("range of {what}: {ours:?}, not {range:?}"));
            }
            let ours = control.gain.iter().chain(&control.bias);
            for (ours, theirs) in
                ours.zip(items(&theirs["gain"]).iter().chain(items(&theirs["bias"])))
            {
                self.number(&what, *ours, theirs, SINGLE);
            }
        }
    }
}

/// Half sizes of a shape around the z axis.
fn round(radius: f64, length: f64) -> Vector3<f64> {
    Vector3::new(radius, radius, length / 2.0)
}

fn quaternion(q: &[f64]) -> UnitQuaternion<f64> {
    UnitQuaternion::from_quaternion(Quaternion::new(q[0], q[1], q[2], q[3]))
}
