//! Comparison of a plant with its copy that was written and read back.
//!
//! Tolerances are relative, 1e-12: rotations become roll, pitch and yaw and back, and moments of
//! inertia are moved to the centre of mass and back, a few roundings each.

use super::matching::{find, find_body, same_shape, same_text};
use super::properties::describe;
use nalgebra::{DMatrix, Isometry3};
use std::collections::{BTreeMap, BTreeSet};
use tarragon_formats::*;
use tarragon_geometry::{GeometryId, SceneGraph};
use tarragon_multibody::*;

const TOLERANCE: f64 = 1e-12;

/// A plant with its scene.
pub(super) struct Model {
    pub(super) plant: MultibodyPlant,
    pub(super) scene: SceneGraph,
}

/// A difference between the two plants.
#[derive(Debug)]
pub(super) struct Difference {
    /// Elements of which a diagnostic must name one.
    pub(super) subjects: Vec<String>,
    pub(super) text: String,
}

pub(super) struct Comparison<'a> {
    ours: &'a Model,
    again: &'a Model,
    /// Whether the copy is read with MuJoCo's semantics.
    is_mjcf: bool,
    pub(super) differences: Vec<Difference>,
}

pub(super) fn near(a: f64, b: f64, scale: f64) -> bool {
    a == b || (a - b).abs() <= TOLERANCE * scale
}
fn all_near(a: &[f64], b: &[f64]) -> bool {
    let scale = a.iter().chain(b).filter(|x| x.is_finite());
    let scale = scale.fold(0.0_f64, |s, x| s.max(x.abs()));
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| near(*a, *b, scale))
}
pub(super) fn same_pose(a: &Isometry3<f64>, b: &Isometry3<f64>, scale: f64) -> bool {
    let (p, q) = (a.translation.vector, b.translation.vector);
    let (r, s) = (a.rotation.coords, b.rotation.coords);
    (p - q).amax() <= TOLERANCE * scale && (r - s).amax().min((r + s).amax()) <= TOLERANCE
}

impl<'a> Comparison<'a> {
    pub(super) fn new(ours: &'a Model, again: &'a Model, format: OutputFormat) -> Self {
        let mut c = Self {
            ours,
            again,
            is_mjcf: format == OutputFormat::Mjcf,
            differences: vec![],
        };
        c.instances();
        c.bodies();
        let joints = c.joints();
        let before = c.differences.len();
        c.actuators();
        // Rotors of actuators are part of the mass matrix, and so is armature, which only MJCF
        // has, and which rotors become there.
        let same_rotors = c.differences.len() == before;
        let mut joints_of_ours = ours.plant.joints();
        let any_armature = joints_of_ours.any(|(_, joint)| joint.armature() != 0.0);
        c.motion(&joints, c.is_mjcf || (same_rotors && !any_armature));
        c.lists();
        c.frames();
        c.geometries();
        c.candidates();
        c
    }

    fn differ(&mut self, subject: &str, text: impl Into<String>) {
        self.differences.push(Difference {
            subjects: vec![subject.into()],
            text: format!("{subject}: {}", text.into()),
        });
    }

    fn instances(&mut self) {
        let names = self.ours.plant.model_instance_names();
        let again: BTreeSet<_> = self.again.plant.model_instance_names().iter().collect();
        for name in names.iter().skip(2) {
            if !again.contains(name) {
                self.differ(name, "no such model instance");
            }
        }
    }

    fn bodies(&mut self) {
        let mut expected = BTreeSet::new();
        for (_, body) in self.ours.plant.bodies().skip(1) {
            let Ok(found) = find_body(&self.ours.plant, body, &self.again.plant) else {
                self.differ(body.name(), "no such body");
                continue;
            };
            expected.insert(found);
            let (a, b) = (
                body.spatial_inertia(),
                self.again.plant.body(found).unwrap().spatial_inertia(),
            );
            let (i, j) = (a.rotational_inertia(), b.rotational_inertia());
            let (p, q) = (a.center_of_mass(), b.center_of_mass());
            if !near(a.mass(), b.mass(), a.mass())
                || (a.mass() > 0.0 && !all_near(p.as_slice(), q.as_slice()))
                || !all_near(i.as_slice(), j.as_slice())
            {
                self.differ(body.name(), format!("mass properties {a:?}, not {b:?}"));
            }
        }
        for (index, body) in self.again.plant.bodies().skip(1) {
            if !expected.contains(&index) {
                self.differ(body.name(), "this body is new");
            }
        }
    }

    /// Compares the joints and returns the pairs, with the floating joints of free bodies.
    fn joints(&mut self) -> Vec<(JointIndex, JointIndex)> {
        let (ours, again) = (&self.ours.plant, &self.again.plant);
        let mut pairs = vec![];
        let mut expected = BTreeSet::new();
        for (index, joint) in ours.joints() {
            let child = ours.body(joint.child_body()).unwrap();
            if joint.is_ephemeral() {
                let found = find_body(ours, child, again).ok();
                match found.and_then(|b| again.inboard_joint(b)) {
                    Some(other) if again.joint(other).unwrap().kind().is_floating() => {
                        pairs.push((index, other));
                        let q = [joint, again.joint(other).unwrap()].map(Joint::default_positions);
                        let flipped: Vec<f64> = q[1]
                            .iter()
                            .enumerate()
                            .map(|(i, x)| if i < 4 { -x } else { *x })
                            .collect();
                        if !all_near(q[0], q[1]) && !all_near(q[0], &flipped) {
                            self.differ(child.name(), format!("default pose {q:?}"));
                        }
                    }
                    _ => self.differ(child.name(), "is not free any more"),
                }
                continue;
            }
            let look_up = |name: &str| again.joint_by_name(name);
            let other = find(ours, joint.model_instance(), joint.name(), look_up).ok();
            // The joint of a free body has the name of the body.
            let other = other.filter(|j| !again.joint(*j).unwrap().is_ephemeral());
            let Some(other_index) = other else {
                self.differ(joint.name(), "no such joint");
                continue;
            };
            let other = again.joint(other_index).unwrap();
            expected.insert(other_index);
            let bodies = [joint.parent_body(), joint.child_body()];
            let bodies = bodies.map(|b| find_body(ours, ours.body(b).unwrap(), again).ok());
            let others = [other.parent_body(), other.child_body()].map(Some);
            if bodies != others {
                self.differ(joint.name(), format!("connects {bodies:?}, not {others:?}"));
            }
            let (a, b) = (joint.kind().type_name(), other.kind().type_name());
            if a != b {
                self.differ(joint.name(), format!("kind {a}, not {b}"));
                continue;
            }
            pairs.push((index, other_index));
            for (what, a, b) in [
                (
                    "lower",
                    joint.position_lower_limits(),
                    other.position_lower_limits(),
                ),
                (
                    "upper",
                    joint.position_upper_limits(),
                    other.position_upper_limits(),
                ),
                (
                    "v lower",
                    joint.velocity_lower_limits(),
                    other.velocity_lower_limits(),
                ),
                (
                    "v upper",
                    joint.velocity_upper_limits(),
                    other.velocity_upper_limits(),
                ),
                (
                    "a lower",
                    joint.acceleration_lower_limits(),
                    other.acceleration_lower_limits(),
                ),
                (
                    "a upper",
                    joint.acceleration_upper_limits(),
                    other.acceleration_upper_limits(),
                ),
                ("damping", joint.damping(), other.damping()),
                (
                    "dry friction",
                    &[joint.dry_friction()],
                    &[other.dry_friction()],
                ),
                (
                    "default",
                    joint.default_positions(),
                    other.default_positions(),
                ),
            ] {
                if !all_near(a, b) {
                    self.differ(joint.name(), format!("{what} {a:?}, not {b:?}"));
                }
            }
        }
        for (index, joint) in again.joints().filter(|(_, j)| !j.is_ephemeral()) {
            if !expected.contains(&index) {
                self.differ(joint.name(), "this joint is new");
            }
        }
        pairs
    }

    /// Compares poses and mass matrices at positions in irregular places.
    fn motion(&mut self, pairs: &[(JointIndex, JointIndex)], same_rotors: bool) {
        let (ours, again) = (&self.ours.plant, &self.again.plant);
        let counts = [ours.num_positions(), ours.num_velocities()];
        if counts != [again.num_positions(), again.num_velocities()] {
            if self.differences.is_empty() {
                self.differ("positions", "their numbers differ");
            }
            return;
        }
        // For each coordinate of the copy, ours.
        let (mut of_q, mut of_v) = (vec![usize::MAX; counts[0]], vec![0; counts[1]]);
        for (a, b) in pairs {
            let (nq, nv) = (
                ours.joint(*a).unwrap().num_positions(),
                ours.joint(*a).unwrap().num_velocities(),
            );
            let starts = [(ours, *a), (again, *b)].map(|(plant, j)| {
                (
                    plant.position_start(j).unwrap(),
                    plant.velocity_start(j).unwrap(),
                )
            });
            (0..nq).for_each(|k| of_q[starts[1].0 + k] = starts[0].0 + k);
            (0..nv).for_each(|k| of_v[starts[1].1 + k] = starts[0].1 + k);
        }
        // A joint without a partner is a difference already.
        if of_q.contains(&usize::MAX) {
            return;
        }
        let partners = ours.bodies().skip(1).filter_map(|(index, body)| {
            let other = find_body(ours, body, again).ok()?;
            Some((index, other, body.name()))
        });
        let partners: Vec<(BodyIndex, BodyIndex, &str)> = partners.collect();
        for sample in 0..3 {
            let mut q = ours.default_positions();
            for (i, x) in q.iter_mut().enumerate() {
                let fraction = (i as f64 * 0.618_034 + f64::from(sample) * 0.271) % 1.0;
                *x += f64::from(sample) * (fraction - 0.4);
            }
            let q_again: Vec<f64> = of_q.iter().map(|i| q[*i]).collect();
            let (mut poses, mut poses_again) = (vec![], vec![]);
            let computed = ours.calc_body_poses(&q, &mut poses);
            if computed.is_err() {
                continue;
            }
            again.calc_body_poses(&q_again, &mut poses_again).unwrap();
            let size = |poses: &[Isometry3<f64>]| {
                let all = poses.iter().map(|x| x.translation.vector.amax());
                all.fold(1.0, f64::max)
            };
            let scale = size(&poses);
            let mut wrong = vec![];
            for (index, other, name) in &partners {
                let (a, b) = (&poses[index.index()], &poses_again[other.index()]);
                if !same_pose(a, b, scale) {
                    wrong.push(format!("{name} is at {a:?}, not {b:?}"));
                }
            }
            let ok = wrong.is_empty();
            // No diagnostic excuses a different motion.
            wrong
                .into_iter()
                .for_each(|text| self.differ("<motion>", text));
            let matrix = |plant: &MultibodyPlant, q: &[f64]| -> DMatrix<f64> {
                let positions = plant.calc_position_kinematics(q).unwrap();
                plant.calc_mass_matrix(&positions).unwrap()
            };
            let (m, n) = (matrix(ours, &q), matrix(again, &q_again));
            let scale = m.amax();
            let entries = (0..counts[1]).flat_map(|i| (0..counts[1]).map(move |j| (i, j)));
            let far = |(i, j): &(usize, usize)| !near(m[(of_v[*i], of_v[*j])], n[(*i, *j)], scale);
            let mut entries = entries;
            if let Some((i, j)) = entries.find(far).filter(|_| ok && same_rotors) {
                let (a, b) = (m[(of_v[i], of_v[j])], n[(i, j)]);
                self.differ("<mass matrix>", format!("{a:?}, not {b:?} at {i}, {j}"));
            }
        }
    }

    fn actuators(&mut self) {
        let describe = |plant: &MultibodyPlant| -> BTreeMap<String, String> {
            let all = plant.actuators().iter();
            let text = |a: &JointActuator| super::properties::actuator(plant, a);
            all.map(|a| (a.name().to_string(), text(a))).collect()
        };
        self.by_name(
            "actuator",
            describe(&self.ours.plant),
            describe(&self.again.plant),
        );
    }

    /// Compares descriptions by name.
    fn by_name(
        &mut self,
        kind: &str,
        ours: BTreeMap<String, String>,
        mut again: BTreeMap<String, String>,
    ) {
        for (name, text) in ours {
            match again.remove(&name) {
                None => self.differ(&name, format!("no such {kind}")),
                Some(other) if !same_text(&text, &other) => {
                    self.differ(&name, format!("{kind} {text}, not {other}"));
                }
                Some(_) => {}
            }
        }
        for name in again.into_keys() {
            self.differ(&name, format!("this {kind} is new"));
        }
    }

    /// Compares constraints, force elements and annotations. The subjects are the names in the
    /// description.
    fn lists(&mut self) {
        let sets = [self.ours, self.again].map(|m| {
            let poses = default_poses(&m.plant);
            super::properties::elements(&m.plant, poses.as_deref().filter(|_| self.is_mjcf))
        });
        let [ours, mut again] = sets;
        let mut left = vec![];
        for text in ours {
            match again.iter().position(|other| same_text(&text, other)) {
                Some(i) => drop(again.remove(i)),
                None => left.push(("not in the copy", text)),
            }
        }
        left.extend(again.into_iter().map(|text| ("only in the copy", text)));
        for (what, text) in left {
            let subjects = text.split('\'').skip(1).step_by(2).map(String::from);
            self.differences.push(Difference {
                subjects: subjects.collect(),
                text: format!("{what}: {text}"),
            });
        }
    }

    /// Compares frames other than those that joints make for themselves.
    fn frames(&mut self) {
        let (ours, again) = (&self.ours.plant, &self.again.plant);
        for (_, frame) in ours.frames() {
            let name = frame.name();
            let made = ["_parent", "_child", "_F", "_M"];
            if made.iter().any(|end| name.ends_with(end)) {
                continue;
            }
            let look_up = |name: &str| again.frame_by_name(name);
            let Ok(found) = find(ours, frame.model_instance(), name, look_up) else {
                self.differ(name, "no such frame");
                continue;
            };
            let found = again.frame(found).unwrap();
            let body = find_body(ours, ours.body(frame.body()).unwrap(), again).ok();
            let (a, b) = (frame.pose_in_body(), found.pose_in_body());
            let scale = 1.0 + a.translation.vector.amax();
            if body != Some(found.body()) || !same_pose(a, b, scale) {
                self.differ(name, format!("frame at {a:?}, not {b:?}"));
            }
        }
    }

    fn geometries(&mut self) {
        for visual in [true, false] {
            let ours = self.ours.geometries(visual, &self.again.plant);
            let mut again = self.again.geometries(visual, &self.again.plant);
            for ((body, name), id) in ours {
                let Some(other) = again.remove(&(body, name.clone())) else {
                    self.differ(&name, format!("no such geometry on body {body:?}"));
                    continue;
                };
                let inspectors = [self.ours, self.again].map(|m| m.scene.model_inspector());
                let shapes = [
                    inspectors[0].shape(id).unwrap(),
                    inspectors[1].shape(other).unwrap(),
                ];
                if !same_shape(shapes[0], shapes[1]) {
                    self.differ(&name, format!("shape {:?}, not {:?}", shapes[0], shapes[1]));
                }
                let (a, b) = (
                    inspectors[0].pose_in_frame(id).unwrap(),
                    inspectors[1].pose_in_frame(other).unwrap(),
                );
                if !same_pose(a, b, 1.0 + a.translation.vector.amax()) {
                    self.differ(&name, format!("geometry at {a:?}, not {b:?}"));
                }
                let (a, b) = (
                    describe(&inspectors[0], id),
                    describe(&inspectors[1], other),
                );
                if !same_text(&a, &b) {
                    self.differ(&name, format!("properties {a}, not {b}"));
                }
            }
            for (body, name) in again.into_keys() {
                self.differ(&name, format!("new geometry on body {body:?}"));
            }
        }
    }

    /// Compares the pairs of collision geometries that may collide.
    fn candidates(&mut self) {
        let sets = [self.ours, self.again].map(|m| {
            let names: BTreeMap<GeometryId, (Option<BodyIndex>, String)> = m
                .geometries(false, &self.again.plant)
                .into_iter()
                .map(|(k, v)| (v, k))
                .collect();
            let pairs = m.scene.model_inspector().collision_candidates();
            let named = pairs.into_iter().filter_map(|(a, b)| {
                let (a, b) = (names.get(&a)?.clone(), names.get(&b)?.clone());
                Some(if a <= b { (a, b) } else { (b, a) })
            });
            named.collect::<BTreeSet<_>>()
        });
        if sets[0] != sets[1] && self.differences.is_empty() {
            let missing = sets[0].symmetric_difference(&sets[1]).next();
            self.differ("collision filters", format!("{missing:?}"));
        }
    }
}

/// The poses of all bodies at the default positions.
fn default_poses(plant: &MultibodyPlant) -> Option<Vec<Isometry3<f64>>> {
    let mut poses = vec![];
    let computed = plant.calc_body_poses(&plant.default_positions(), &mut poses);
    computed.ok().map(|()| poses)
}

impl Model {
    /// Visual or collision geometries by body of the copy and name without the model.
    fn geometries(
        &self,
        visual: bool,
        copy: &MultibodyPlant,
    ) -> BTreeMap<(Option<BodyIndex>, String), GeometryId> {
        let inspector = self.scene.model_inspector();
        let mut found = BTreeMap::new();
        for (index, body) in self.plant.bodies() {
            let ids = if visual {
                self.plant.visual_geometries(index)
            } else {
                self.plant.collision_geometries(index)
            };
            let model = self
                .plant
                .model_instance_name(body.model_instance())
                .unwrap();
            for id in ids {
                let name = inspector.name(*id).unwrap();
                let own = name.strip_prefix(model).and_then(|n| n.strip_prefix("::"));
                let own = own.unwrap_or(name).to_string();
                found.insert((find_body(&self.plant, body, copy).ok(), own), *id);
            }
        }
        found
    }
}
