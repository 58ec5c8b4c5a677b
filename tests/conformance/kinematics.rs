//! Robot models: what Drake reads out of a URDF file, and where its bodies are.

use crate::support::{Family, difference, find, number, numbers, read_json};
use nalgebra::{Isometry3, Vector3};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use tarragon_framework::math;
use tarragon_geometry::{Role, SceneGraph, Shape};
use tarragon_multibody::{JointKind, MultibodyPlant, Parser};

/// Poses in metres and as quaternion components; masses and inertias relative to the body's largest.
const TOLERANCE: f64 = 1e-9;

/// URDF files of the complete reference set, and how many of them must agree.
const COMPLETE: usize = 69;
const MINIMUM: usize = 51;

/// Mesh files whose geometry is left out so far.
const UNSUPPORTED_MESHES: [&str; 1] = ["dae"];

/// A model of the reference set, read by us.
pub(crate) struct Ours {
    pub(crate) plant: MultibodyPlant,
    pub(crate) scene: SceneGraph,
    warnings: Vec<String>,
}

pub(crate) fn load_model(root: &Path, file: &str) -> Result<Ours, String> {
    let mut plant = MultibodyPlant::new(0.001).unwrap();
    let mut scene = SceneGraph::new();
    let mut parser = Parser::with_scene_graph(&mut plant, &mut scene);
    let models = root.join("models");
    for (name, folder) in read_json(&models.join("packages.json"))
        .as_object()
        .unwrap()
    {
        let folder = models.join(folder.as_str().unwrap());
        parser.package_map_mut().add(name, folder).unwrap();
    }
    let parsed = parser.add_models(models.join(file));
    parsed.map_err(|e| e.to_string())?;
    let warnings = parser.diagnostics().iter().map(|d| d.to_string()).collect();
    plant.finalize_with(&mut scene).map_err(|e| e.to_string())?;
    Ok(Ours {
        plant,
        scene,
        warnings,
    })
}

/// Collects differences of one model: the structural ones as text, the numeric ones per kind.
#[derive(Default)]
struct Comparison {
    structure: Vec<String>,
    errors: BTreeMap<&'static str, f64>,
}

impl Comparison {
    fn equal<V: PartialEq + std::fmt::Debug>(&mut self, what: &str, ours: V, recorded: V) {
        if ours != recorded {
            let text = format!("{what}: ours {ours:?}, recorded {recorded:?}");
            self.structure.push(text);
        }
    }
    fn near(&mut self, kind: &'static str, error: f64) {
        let worst = self.errors.entry(kind).or_insert(0.0);
        if error > *worst || error.is_nan() {
            *worst = error;
        }
    }
}

/// `[qw, qx, qy, qz, x, y, z]` with the sign of qw as recorded.
fn pose7(x: &Isometry3<f64>, like: &[f64; 7]) -> [f64; 7] {
    let (q, p) = (x.rotation, x.translation.vector);
    let same = q.w * like[0] + q.i * like[1] + q.j * like[2] + q.k * like[3];
    let s = if same < 0.0 { -1.0 } else { 1.0 };
    [s * q.w, s * q.i, s * q.j, s * q.k, p.x, p.y, p.z]
}

fn pose_error(x: &Isometry3<f64>, recorded: &Value) -> f64 {
    let recorded = numbers::<7>(recorded);
    difference(&pose7(x, &recorded), &recorded)
}

fn list(v: &Value) -> Vec<f64> {
    v.as_array().unwrap().iter().map(number).collect()
}

pub(crate) fn text(v: &Value) -> &str {
    v.as_str().unwrap_or("")
}

pub(crate) fn items(v: &Value) -> &[Value] {
    v.as_array().map_or(&[], |a| a)
}

fn compare_bodies(ours: &Ours, truth: &Value, c: &mut Comparison) {
    let plant = &ours.plant;
    let instances = items(&truth["model_instances"]);
    let instances: Vec<&str> = instances.iter().map(text).collect();
    let names: Vec<&str> = plant.model_instance_names().iter().map(|n| &**n).collect();
    c.equal("model instances", names, instances);
    let recorded = items(&truth["bodies"]);
    c.equal("number of bodies", plant.num_bodies(), recorded.len());
    for ((index, body), recorded) in plant.bodies().zip(recorded) {
        c.equal("body", body.name(), text(&recorded["name"]));
        let Some(mass) = recorded["mass"].as_f64() else {
            continue;
        };
        let m = body.spatial_inertia();
        let floating = recorded["floating_base"].as_bool();
        c.equal(
            "floating base",
            Some(plant.is_floating_base(index)),
            floating,
        );
        let relative = |error: f64, size: f64| if error == 0.0 { 0.0 } else { error / size };
        c.near("mass", relative((m.mass() - mass).abs(), mass));
        let com = numbers::<3>(&recorded["com"]);
        c.near(
            "centre of mass",
            difference(m.center_of_mass().as_slice(), &com),
        );
        let [xx, yy, zz] = numbers(&recorded["I_BBo_B_moments"]);
        let [xy, xz, yz] = numbers(&recorded["I_BBo_B_products"]);
        let recorded = [xx, xy, xz, xy, yy, yz, xz, yz, zz];
        let error = difference(m.rotational_inertia().as_slice(), &recorded);
        let largest = xx.abs().max(yy.abs()).max(zz.abs());
        c.near("rotational inertia", relative(error, largest));
    }
    let total = number(&truth["total_mass"]);
    let error = (plant.calc_total_mass() - total).abs();
    c.near("mass", if error == 0.0 { 0.0 } else { error / total });
}

fn compare_joints(ours: &Ours, truth: &Value, c: &mut Comparison) {
    let plant = &ours.plant;
    let scoped = |body| {
        let body = plant.body(body).unwrap();
        let model = plant.model_instance_name(body.model_instance()).unwrap();
        format!("{model}::{}", body.name())
    };
    let recorded = items(&truth["joints"]);
    c.equal("number of joints", plant.num_joints(), recorded.len());
    for ((index, joint), recorded) in plant.joints().zip(recorded) {
        let name = joint.name().to_string();
        c.equal("joint", &*name, text(&recorded["name"]));
        let kind = joint.kind();
        c.equal(&name, kind.type_name(), text(&recorded["type"]));
        c.equal(
            &name,
            &*scoped(joint.parent_body()),
            text(&recorded["parent"]),
        );
        c.equal(
            &name,
            &*scoped(joint.child_body()),
            text(&recorded["child"]),
        );
        let starts = (plant.position_start(index), plant.velocity_start(index));
        let starts = (starts.0.unwrap() as u64, starts.1.unwrap() as u64);
        let recorded_starts = (&recorded["q_start"], &recorded["v_start"]);
        let recorded_starts = (recorded_starts.0.as_u64(), recorded_starts.1.as_u64());
        c.equal(&name, (Some(starts.0), Some(starts.1)), recorded_starts);
        c.equal(
            &name,
            Some(joint.is_ephemeral()),
            recorded["ephemeral"].as_bool(),
        );
        for (what, ours) in [
            ("lower", joint.position_lower_limits()),
            ("upper", joint.position_upper_limits()),
            ("v_lower", joint.velocity_lower_limits()),
            ("v_upper", joint.velocity_upper_limits()),
            ("a_lower", joint.acceleration_lower_limits()),
            ("a_upper", joint.acceleration_upper_limits()),
            ("damping", joint.damping()),
            ("default_q", joint.default_positions()),
        ] {
            c.equal(&format!("{name} {what}"), ours, &list(&recorded[what]));
        }
        c.near(
            "X_PF",
            pose_error(joint.pose_on_parent(), &recorded["X_PF"]),
        );
        c.near("X_BM", pose_error(joint.pose_on_child(), &recorded["X_BM"]));
        if let JointKind::Revolute { axis } | JointKind::Prismatic { axis } = kind {
            let recorded = numbers::<3>(&recorded["axis"]);
            c.near("axis", difference(axis.as_slice(), &recorded));
        }
    }
    let names: Vec<&str> = plant.position_names().iter().map(|n| &**n).collect();
    let recorded = items(&truth["position_names"]).iter().map(text);
    c.equal("position names", names, recorded.collect());
    let (q, recorded) = (plant.default_positions(), list(&truth["default_positions"]));
    c.equal("default positions", q, recorded);
    let size = |key: &str| truth[key].as_u64().unwrap() as usize;
    c.equal("nq", plant.num_positions(), size("num_positions"));
    c.equal("nv", plant.num_velocities(), size("num_velocities"));
    let actuators = plant.actuators().iter();
    let actuators = actuators.map(|a| (a.name(), a.effort_limit()));
    let recorded = items(&truth["actuators"]).iter();
    let recorded = recorded.map(|a| (text(&a["name"]), number(&a["effort_limit"])));
    c.equal(
        "actuators",
        actuators.collect::<Vec<_>>(),
        recorded.collect(),
    );
    let couplers = plant.coupler_constraints().count();
    c.equal("constraints", couplers, size("num_constraints"));
}

fn compare_poses(ours: &Ours, truth: &Value, c: &mut Comparison) {
    let mut poses = vec![];
    for sample in items(&truth["samples"]) {
        let q = list(&sample["q"]);
        if let Err(error) = ours.plant.calc_body_poses(&q, &mut poses) {
            c.structure.push(error.to_string());
            return;
        }
        for (x_wb, recorded) in poses.iter().zip(items(&sample["X_WB"])) {
            c.near("X_WB", pose_error(x_wb, recorded));
        }
    }
}

/// Type and dimensions of a shape, in one order for both sides.
fn describe(shape: &Shape) -> (String, Vec<f64>) {
    let numbers = match shape {
        Shape::Box(s) => s.size().as_slice().to_vec(),
        Shape::Capsule(s) => vec![s.radius(), s.length()],
        Shape::Cylinder(s) => vec![s.radius(), s.length()],
        Shape::Ellipsoid(s) => s.semi_axes().as_slice().to_vec(),
        Shape::Sphere(s) => vec![s.radius()],
        Shape::Mesh(s) => s.scale3().as_slice().to_vec(),
        Shape::Convex(s) => s.scale3().as_slice().to_vec(),
        _ => vec![],
    };
    (shape.type_name().to_string(), numbers)
}

fn describe_recorded(shape: &Value) -> (String, Vec<f64>) {
    let kind = text(&shape["type"]).to_string();
    let numbers = match &*kind {
        "Box" => list(&shape["size"]),
        "Capsule" | "Cylinder" => vec![number(&shape["radius"]), number(&shape["length"])],
        "Ellipsoid" => list(&shape["abc"]),
        "Sphere" => vec![number(&shape["radius"])],
        _ => list(&shape["scale3"]),
    };
    (kind, numbers)
}

pub(crate) fn is_supported(geometry: &Value) -> bool {
    let file = text(&geometry["shape"]["basename"]).to_lowercase();
    let suffix = file.rsplit_once('.').map_or("", |(_, s)| s);
    !UNSUPPORTED_MESHES.contains(&suffix)
}

fn compare_geometry(ours: &Ours, truth: &Value, c: &mut Comparison) {
    let inspector = ours.scene.model_inspector();
    let ids: Vec<_> = inspector.geometry_ids().collect();
    let recorded = items(&truth["geometries"]);
    // Place among ours of each recorded one.
    let mut place = vec![None; recorded.len()];
    let kept = recorded.iter().enumerate().filter(|(_, g)| is_supported(g));
    let kept: Vec<(usize, &Value)> = kept.collect();
    c.equal("number of geometries", ids.len(), kept.len());
    for (n, (id, (i, recorded))) in ids.iter().zip(&kept).enumerate() {
        place[*i] = Some(n);
        let name = inspector.name(*id).unwrap();
        // A dropped mesh takes no number, so only the names of shapes without meshes must agree.
        if kept.len() == place.len() {
            c.equal("geometry", name, text(&recorded["name"]));
        }
        let frame = inspector.frame_id(*id).unwrap();
        let body = ours.plant.body_from_frame_id(frame).unwrap();
        let body = ours.plant.body(body).unwrap();
        let on = text(&recorded["body"]);
        c.equal(
            name,
            body.name(),
            on.rsplit_once("::").map_or(on, |(_, b)| b),
        );
        let shape = inspector.shape(*id).unwrap();
        c.equal(name, describe(shape), describe_recorded(&recorded["shape"]));
        let x_fg = inspector.pose_in_frame(*id).unwrap();
        c.near("X_FG", pose_error(x_fg, &recorded["X_FG"]));
        let roles = items(&recorded["roles"]);
        let has = |role: &str| roles.iter().any(|r| text(r) == role);
        let proximity = inspector.proximity_properties(*id).unwrap().is_some();
        let illustration = inspector.illustration_properties(*id).unwrap().is_some();
        let perception = inspector.perception_properties(*id).unwrap();
        let roles = (proximity, illustration, perception.is_some());
        let recorded_roles = (has("proximity"), has("illustration"), has("perception"));
        c.equal(name, roles, recorded_roles);
        if let Some(perception) = perception {
            let label = perception.get("label", "id").unwrap();
            let label: &tarragon_geometry::RenderLabel = label;
            let recorded = &recorded["perception"]["label"]["id"];
            c.equal(name, &*format!("{label:?}"), text(recorded));
        }
    }
    for role in [Role::Proximity, Role::Illustration, Role::Perception] {
        let key = format!("{role:?}").to_lowercase();
        let has_role = |g: &&(usize, &Value)| items(&g.1["roles"]).iter().any(|r| text(r) == key);
        let recorded = kept.iter().filter(has_role).count();
        c.equal(&key, inspector.num_geometries_with_role(role), recorded);
    }
    let Some(recorded) = truth["collision_candidates"].as_array() else {
        return;
    };
    let ours_at = |v: &Value| place[v.as_u64().unwrap() as usize];
    let recorded = recorded.iter().filter_map(|pair| {
        let (a, b) = (ours_at(&pair[0])?, ours_at(&pair[1])?);
        Some((a.min(b), a.max(b)))
    });
    let at = |id| ids.iter().position(|other| *other == id).unwrap();
    let pairs = inspector.collision_candidates().into_iter();
    let mut pairs: Vec<(usize, usize)> = pairs.map(|(a, b)| (at(a), at(b))).collect();
    let mut recorded: Vec<(usize, usize)> = recorded.collect();
    pairs.sort_unstable();
    recorded.sort_unstable();
    c.equal("collision candidates", pairs, recorded);
}

fn is_unsupported(truth: &Value) -> Option<String> {
    let known = ["weld", "revolute", "prismatic", "quaternion_floating"];
    let mut types = items(&truth["joints"]).iter().map(|j| text(&j["type"]));
    let other = types.find(|t| !known.contains(t))?;
    Some(format!("joint type {other} is not supported yet"))
}

#[test]
fn urdf_models() {
    let Some(manifest) = find("manifest.json") else {
        return;
    };
    let root = manifest.parent().unwrap();
    let mut family = Family::new("urdf");
    let (mut passed, mut total) = (0, 0);
    for entry in items(&read_json(&manifest)) {
        if text(&entry["fmt"]) != "urdf" {
            continue;
        }
        total += 1;
        let (id, file) = (text(&entry["id"]), text(&entry["file"]));
        let ours = load_model(root, file);
        let truth = root.join("truth_models").join(format!("{id}.json.gz"));
        let truth = read_json(&truth);
        if truth["ok"] != true {
            match ours {
                Ok(_) => println!("ACCEPTED {id}: Drake: {}", text(&truth["error"]["text"])),
                Err(error) => println!("rejected {id}: {error}"),
            }
            continue;
        }
        if let Some(reason) = is_unsupported(&truth) {
            println!("SKIPPED {id}: {reason}");
            continue;
        }
        let mut c = Comparison::default();
        match ours {
            Err(error) => c.structure.push(error),
            Ok(ours) => {
                if let Some(first) = ours.warnings.first() {
                    println!("{id}: {} warnings, first: {first}", ours.warnings.len());
                }
                compare_bodies(&ours, &truth, &mut c);
                compare_joints(&ours, &truth, &mut c);
                compare_poses(&ours, &truth, &mut c);
                compare_geometry(&ours, &truth, &mut c);
            }
        }
        for difference in &c.structure {
            println!("DIFFERENT {id}: {difference}");
        }
        let mut errors = vec![("structure", c.structure.len() as f64, 0.0)];
        errors.extend(c.errors.iter().map(|(kind, e)| (*kind, *e, TOLERANCE)));
        let fine = errors.iter().all(|(_, error, limit)| error <= limit);
        passed += usize::from(fine);
        family.case(|| id.to_string(), &errors);
    }
    println!("{passed} robot models agree");
    family.finish();
    assert!(
        total < COMPLETE || passed >= MINIMUM,
        "{passed} models, {MINIMUM} are expected"
    );
}

/// The derivatives of body poses with respect to the positions, by dual numbers and by central
/// differences, on a real robot.
#[test]
fn pose_derivatives_of_a_real_robot() {
    const ROBOT: &str = "models/drake_models/jaco_description/urdf/j2n6s300.urdf";
    let Some(file) = find(ROBOT) else {
        return;
    };
    let root = file.ancestors().nth(5).unwrap();
    let ours = load_model(root, ROBOT.strip_prefix("models/").unwrap()).unwrap();
    let plant = &ours.plant;
    let n = plant.num_positions();
    let mut q: Vec<f64> = (0..n).map(|i| 0.3 + 0.1 * i as f64).collect();
    let r = math::rpy(0.3, -0.4, 0.5);
    q[..4].copy_from_slice(&[r.w, r.i, r.j, r.k]);
    let point = |q: &[f64]| -> Vector3<f64> {
        let mut poses = vec![];
        plant.calc_body_poses(q, &mut poses).unwrap();
        poses.last().unwrap() * nalgebra::Point3::new(0.1, 0.2, 0.3) - nalgebra::Point3::origin()
    };
    for i in 0..n {
        let lifted = q.iter().enumerate().map(|(j, q)| match i == j {
            true => tarragon_framework::AutoDiff::variable(*q, 0),
            false => tarragon_framework::AutoDiff::from(*q),
        });
        let lifted: Vec<_> = lifted.collect();
        let mut poses = vec![];
        plant.calc_body_poses(&lifted, &mut poses).unwrap();
        let p = nalgebra::Point3::new(0.1, 0.2, 0.3).map(tarragon_framework::AutoDiff::from);
        let dual = (poses.last().unwrap() * p).coords.map(|x| x.eps[0]);
        let h = 1e-6;
        let (mut above, mut below) = (q.clone(), q.clone());
        above[i] += h;
        below[i] -= h;
        let central = (point(&above) - point(&below)) / (2.0 * h);
        let error = (dual - central).amax();
        assert!(error < 1e-8, "position {i}: {error:e}");
    }
}
