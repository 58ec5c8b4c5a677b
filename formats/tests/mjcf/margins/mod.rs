//! Margins and gaps of contact, side by side with MuJoCo.
//!
//! With `TARRAGON_MUJOCO`, a Python program that can import mujoco 3.3, random contacts are
//! compared and the recorded numbers are checked.

mod paths;
mod steps;

use super::read;
use crate::support::mujoco;
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tarragon_framework::prelude::*;
use tarragon_multibody::*;

const G: f64 = 9.81;

/// Returns the stiffness per mass (1/s^2) of the impedance of these models, `solimp=".9 .9"`.
fn stiffness_per_mass() -> f64 {
    let solimp = [0.9, 0.9, 0.001, 0.5, 2.0];
    MujocoContact::from_solver_parameters([0.02, 1.0], solimp).stiffness_per_mass(0.0)
}

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mjcf/margins/peer.py")
}

fn numbers(v: &Value) -> Vec<f64> {
    let list = v.as_array().unwrap().iter();
    list.map(|x| x.as_f64().unwrap()).collect()
}

/// A diagram of a plant with contact at points, of a model that is read without complaints.
fn diagram(text: &str, time_step: f64) -> (Diagram<f64>, Block<MultibodyPlant>) {
    diagram_with(text, time_step, ContactModel::Point)
}

fn diagram_with(
    text: &str,
    time_step: f64,
    contact: ContactModel,
) -> (Diagram<f64>, Block<MultibodyPlant>) {
    let mut loaded = read(text, time_step);
    loaded.result.as_ref().unwrap();
    loaded.says_nothing();
    loaded.plant.set_contact_model(contact);
    let mut b = DiagramBuilder::new();
    let (plant, _) = add_multibody_plant_scene_graph(&mut b, loaded.plant, loaded.scene).unwrap();
    (b.build().unwrap(), plant)
}

/// All contacts at points in the default state in continuous time.
fn contacts(text: &str) -> Vec<PointPairContactInfo<f64>> {
    let (diagram, plant) = diagram(text, 0.0);
    let context = diagram.default_context();
    let port = plant.contact_results().unwrap();
    context.eval(port).unwrap().point_pairs().to_vec()
}

/// A model of two balls of 2 kg and radius 0.1 m whose surfaces are 1 cm apart.
fn two_balls(a: &str, b: &str, others: &str) -> String {
    let ball = |name: &str, z: &str, own: &str| {
        format!(
            "<body name='{name}' pos='0 0 {z}'><freejoint/>
               <geom name='{name}' size='.1' mass='2' {own}/></body>"
        )
    };
    let world = ball("a", "0", a) + &ball("b", ".21", b);
    let defaults = "<default><geom solimp='.9 .9'/><pair solimp='.9 .9'/></default>";
    format!("<mujoco model='m'>{defaults}<worldbody>{world}</worldbody>{others}</mujoco>")
}

/// Distance (m) of two balls at which their force would be 0, found by the force; `None` without
/// contact.
fn offset(a: &str, b: &str, others: &str) -> Option<f64> {
    let found = contacts(&two_balls(a, b, others));
    let contact = found.first()?;
    // Two equal stiffnesses in series.
    let stiffness = 2.0 * stiffness_per_mass() / 2.0;
    let distance = -contact.point_pair.depth;
    assert!((distance - 0.01).abs() < 1e-15, "{distance}");
    Some(contact.contact_force.norm() / stiffness + distance)
}

#[test]
fn margin_and_gap_are_the_larger_ones_or_those_of_the_pair() {
    let check = |a: &str, b: &str, others: &str, expected: Option<f64>| {
        let found = offset(a, b, others);
        let error = found.unwrap_or(0.0) - expected.unwrap_or(0.0);
        let same = found.is_some() == expected.is_some() && error.abs() < 1e-12;
        assert!(same, "{a}, {b}, {others}: {found:?}, not {expected:?}");
    };
    check("", "", "", None);
    check("margin='.02'", "", "", Some(0.02));
    check("margin='.02'", "margin='.05'", "", Some(0.05));
    check("margin='.02'", "margin='-.05'", "", Some(0.02));
    check("margin='.02' priority='1'", "margin='.05'", "", Some(0.05));
    check("margin='.05' gap='.02'", "gap='.03'", "", Some(0.02));
    check("margin='.05' gap='.02'", "gap='.045'", "", None);
    check("gap='-.1'", "gap='-.1'", "", None);
    check(
        "margin='.05' gap='-.02'",
        "margin='.01' gap='-.01'",
        "",
        Some(0.06),
    );
    // The margin bounds the distance of contacts, whatever the gap is.
    check("margin='.005' gap='-.1'", "gap='-.1'", "", None);
    let pair = |own: &str| format!("<contact><pair geom1='b' geom2='a' {own}/></contact>");
    let geoms = "margin='.05' gap='.01'";
    check(geoms, geoms, &pair(""), None);
    check(geoms, geoms, &pair("margin='.03'"), Some(0.03));
    check(geoms, geoms, &pair("margin='.03' gap='.005'"), Some(0.025));
    let classes = |own: &str| format!("<default>{own}</default>");
    check("", "", &classes("<geom margin='.03'/>"), Some(0.03));
    let of_pairs = classes("<pair margin='.04' gap='.01'/>") + &pair("");
    check(geoms, geoms, &of_pairs, Some(0.03));
}

/// Filters hold for geoms that are apart as for those that overlap.
#[test]
fn filters_hold_within_margins() {
    let count = |a: &str, b: &str, others: &str| contacts(&two_balls(a, b, others)).len();
    let wide = "margin='.05'";
    assert_eq!(count(wide, wide, ""), 1);
    let exclude = "<exclude body1='a' body2='b'/>";
    let pair = "<pair geom1='a' geom2='b' margin='.02'/>";
    let contact = |elements: &str| format!("<contact>{elements}</contact>");
    assert_eq!(count(wide, wide, &contact(exclude)), 0);
    assert_eq!(count(wide, wide, &contact(&format!("{exclude}{pair}"))), 1);
    let masked = "margin='.05' contype='2' conaffinity='2'";
    assert_eq!(count(wide, masked, ""), 0);
    assert_eq!(count(wide, masked, &contact(pair)), 1);
}

#[test]
fn invalid_margins_are_refused() {
    let refuses = |text: String, words: &str| read(&text, 1e-3).refuses(words);
    refuses(
        two_balls("margin='inf'", "", ""),
        "'margin' must be finite, got [inf]",
    );
    refuses(
        two_balls("", "gap='nan'", ""),
        "'gap' must hold numbers, got 'nan'",
    );
    let pair = "<contact><pair geom1='a' geom2='b' gap='-inf'/></contact>";
    refuses(two_balls("", "", pair), "'gap' must be finite, got [-inf]");
}

/// The contacts of random models have distance, point, normal and offset of MuJoCo's, and the same
/// ones act.
#[test]
fn contacts_of_random_models_are_those_of_mujoco() {
    let Some(python) = mujoco::python() else {
        return;
    };
    let output = Command::new(python).arg(script()).arg("400").output();
    let output = output.unwrap();
    assert!(output.status.success());
    let models: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let stiffness = 2.0 * stiffness_per_mass();
    let (mut acting, mut apart, mut worst) = (0, 0, [0.0; 4]);
    for model in &models {
        let text = model["text"].as_str().unwrap();
        let (diagram, plant) = diagram(text, 0.0);
        let context = diagram.default_context();
        let port = plant.contact_results().unwrap();
        let found = context.eval(port).unwrap();
        let theirs = model["contacts"].as_array().unwrap().iter();
        let theirs: Vec<&Value> = theirs.filter(|c| c["acts"] == true).collect();
        assert_eq!(found.point_pairs().len(), theirs.len(), "{text}");
        for contact in found.point_pairs() {
            let name = |body: BodyIndex| match plant.body(body).unwrap().name() {
                "world" => "fixed",
                name => name,
            };
            let names = [contact.body_a, contact.body_b].map(name);
            let same = |c: &&&Value| {
                let geoms = c["geoms"].as_array().unwrap();
                names.iter().all(|name| geoms.iter().any(|g| g == name))
            };
            let peer = theirs.iter().find(same).unwrap();
            let distance = peer["dist"].as_f64().unwrap();
            let include = peer["includemargin"].as_f64().unwrap();
            let pair = &contact.point_pair;
            // Below the axes of the shapes, the direction out of them is not unique.
            if distance < -0.08 {
                continue;
            }
            acting += 1;
            apart += usize::from(distance > 0.0);
            let k = if names.contains(&"fixed") {
                stiffness
            } else {
                stiffness / 2.0
            };
            let ours = contact.contact_force.norm() / k - pair.depth;
            let point = if include > 0.0 {
                contact.contact_point
            } else {
                (pair.p_wca + pair.p_wcb) / 2.0
            };
            let far = |ours: &[f64], theirs: &Value| {
                let pairs = ours.iter().zip(numbers(theirs));
                pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
            };
            let along = contact.point_pair.nhat_ba_w;
            let normal = far((-along).as_slice(), &peer["normal"]);
            let errors = [
                (pair.depth + distance).abs(),
                (ours - include).abs(),
                far(point.as_slice(), &peer["point"]),
                normal.min(far(along.as_slice(), &peer["normal"])),
            ];
            worst = [0, 1, 2, 3].map(|i| f64::max(worst[i], errors[i]));
            assert!(
                errors.iter().all(|e| *e < 1e-6),
                "{errors:?}: {names:?} in {text}"
            );
        }
    }
    println!("{acting} contacts, {apart} of them apart, worst errors {worst:?}");
    assert!(acting > 300 && apart > 100, "{acting} {apart}");
}

/// Fixed geom, moving geom, properties of both, step in which the first contact acts, and distance
/// (m) at rest, in MuJoCo 3.3.7 in steps of 1 ms; the geom falls from a distance of 5 cm. Boxes
/// that overlap are left out: MuJoCo takes half their depth.
const FALLS: [(&str, &str, &str, u64, f64); 13] = [
    (PLANE, BALL, "margin='.02'", 78, 0.0196076),
    (PLANE, BALL, "margin='.02' gap='.015'", 96, 0.0046076),
    (PLANE, BALL, "margin='.02' gap='.03'", 111, -0.0103924),
    (PLANE, BALL, "margin='-.02'", 119, -0.0203924),
    (BLOCK, BALL, "margin='.02'", 78, 0.0196076),
    (ROD, BALL, "margin='.02'", 78, 0.0196076),
    (LOW_BALL, BRICK, "margin='.02'", 78, 0.0196076),
    (PLANE, EGG, "margin='.02'", 78, 0.0196076),
    (CUBE, BALL, "margin='.02'", 78, 0.0196076),
    (LOW_BALL, DIE, "margin='.02'", 78, 0.0196076),
    // Four corners carry these.
    (PLANE, BRICK, "margin='.02'", 78, 0.0199019),
    (PLANE, BRICK, "margin='.02' gap='.03'", 111, -0.0100981),
    (BLOCK, BRICK, "margin='.02'", 78, 0.0199019),
];
const PLANE: &str = "type='plane' size='5 5 1'";
const BLOCK: &str = "type='box' size='.3 .3 .1' pos='0 0 -.1'";
const ROD: &str = "type='capsule' size='.1 .2' euler='0 90 0' pos='0 0 -.1'";
const LOW_BALL: &str = "type='sphere' size='.1' pos='0 0 -.1'";
const CUBE: &str = "type='mesh' mesh='cube' pos='0 0 -.1'";
const BALL: &str = "size='.1'";
const BRICK: &str = "type='box' size='.1 .2 .1'";
const EGG: &str = "type='ellipsoid' size='.2 .3 .1'";
const DIE: &str = "type='mesh' mesh='cube'";

fn falling(fixed: &str, moving: &str, own: &str) -> String {
    let signs = ["-.1", ".1"];
    let corners = signs.map(|x| signs.map(|y| signs.map(|z| format!("{x} {y} {z} ")).concat()));
    format!(
        "<mujoco model='m'><default><geom solimp='.9 .9' {own}/></default>
         <asset><mesh name='cube' vertex='{}'/></asset><worldbody><geom {fixed}/>
           <body pos='0 0 .15'><joint type='slide'/><geom mass='2' {moving}/></body>
         </worldbody></mujoco>",
        corners.map(|c| c.concat()).concat()
    )
}

/// Contact begins in the same step as in MuJoCo, and bodies rest at the same distance.
#[test]
fn bodies_meet_and_rest_where_they_do_in_mujoco() {
    for (fixed, moving, own, start, distance) in FALLS {
        let text = falling(fixed, moving, own);
        let (diagram, plant) = diagram_with(&text, 1e-3, ContactModel::PointManifold);
        let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
        for step in 0..=start {
            sim.advance_to(1e-3 * (step + 1) as f64).unwrap();
            let v = plant.velocities(sim.context()).unwrap()[0];
            let free = -G * 1e-3 * (step + 1) as f64;
            assert_eq!(
                v > free + 1e-9,
                step == start,
                "{fixed}, {moving}, {own}: {step}"
            );
        }
        sim.advance_to(4.0).unwrap();
        let q = plant.positions(sim.context()).unwrap()[0] + 0.05;
        assert!((q - distance).abs() < 1e-8, "{fixed}, {moving}, {own}: {q}");
    }
}

/// The records are those of the MuJoCo that is installed.
#[test]
fn recorded_falls_are_those_of_mujoco() {
    let Some(python) = mujoco::python() else {
        return;
    };
    let texts = FALLS.map(|(fixed, moving, own, ..)| falling(fixed, moving, own));
    let mut command = Command::new(python);
    let command = command.arg(script()).stdin(Stdio::piped());
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin
        .write_all(&serde_json::to_vec(&texts[..]).unwrap())
        .unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let falls: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    for ((fixed, moving, own, start, distance), fall) in FALLS.into_iter().zip(&falls) {
        assert_eq!(
            fall["start"].as_u64(),
            Some(start),
            "{fixed}, {moving}, {own}"
        );
        let found = fall["height"].as_f64().unwrap() + 0.05;
        // Its meshes are in single precision.
        assert!(
            (found - distance).abs() < 1e-8,
            "{fixed}, {moving}, {own}: {found}"
        );
    }
}
