//! For any bytes, the parser returns a working model or an error.

use super::*;
use crate::support::edits::{edited, edits};
use proptest::prelude::*;

const ROBOT: &str = r#"<mujoco model="r">
  <compiler angle="radian" eulerseq="zyx"/><option gravity="0 0 -9"/>
  <default><geom density="10" rgba="1 0 0 1"/><default class="c"><joint damping="1" range="-1 1"/></default></default>
  <asset><material name="red" rgba="1 0 0 1"/></asset>
  <worldbody><geom type="plane" size="1 1 1"/><camera name="eye" pos="0 0 2"/>
    <body name="base" pos="0 0 1" euler="0 0 1" childclass="c"><freejoint/>
      <inertial mass="2" pos="0 0 0" diaginertia="1 1 1"/><site name="s" pos="1 0 0"/>
      <geom name="trunk" type="capsule" size=".1" fromto="0 0 0 1 0 0" material="red"/>
      <body name="arm" zaxis="0 1 1"><joint name="turn" axis="0 0 1" armature=".1"/>
        <joint name="slide" type="slide" axis="1 0 0" ref=".1"/>
        <geom name="box" type="box" size=".1 .2 .3" mass="1" friction=".5"/>
        <body name="hand"><joint name="ball" type="ball"/><geom size=".1"/></body></body></body>
  </worldbody>
  <actuator><motor joint="turn" gear="2" ctrlrange="-1 1"/><position joint="slide" kp="3"/></actuator>
  <contact><exclude body1="base" body2="hand"/><pair geom1="trunk" geom2="box"/></contact>
  <equality><connect body1="hand" anchor="0 0 1"/><weld body1="hand" body2="base"/></equality>
  <keyframe><key name="up" qpos="0 0 1 1 0 0 0 0 0 1 0 0 0"/></keyframe>
</mujoco>
"#;

fn survives(bytes: &[u8]) -> bool {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("fuzz.xml");
    std::fs::write(&file, bytes).unwrap();
    let m = load_file(&file);
    match m.result {
        Ok(_) => {
            let plant = m.ok().plant;
            let q = plant.default_positions();
            let mut poses = vec![];
            plant.calc_body_poses(&q, &mut poses).unwrap();
            poses.len() == plant.num_bodies()
        }
        Err(_) => m.plant.num_bodies() == 1 && m.scene.model_inspector().num_geometries() == 0,
    }
}

#[test]
fn the_undamaged_robot_loads() {
    let m = load(ROBOT).ok();
    assert_eq!(
        (m.plant.num_positions(), m.plant.actuators().len()),
        (12, 2)
    );
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    let depth = 20_000;
    let bodies = "<body>".repeat(depth) + &"</body>".repeat(depth);
    let m = world(&bodies);
    assert_eq!(m.plant.num_bodies(), depth + 1);
    let classes: String = (0..depth)
        .map(|i| format!("<default class='c{i}'>"))
        .collect();
    let m = world_and(
        "",
        &format!("<default>{classes}{}</default>", "</default>".repeat(depth)),
    );
    m.result.unwrap();
    let m = load(&("<mujoco model='m'>".to_string() + &"<x>".repeat(depth)));
    assert!(m.result.is_err());
}

#[test]
fn elements_with_too_many_attributes_are_errors() {
    let many: String = (0..1000).map(|i| format!(" a{i}='1'")).collect();
    let m = world(&format!("<geom{many}/>"));
    assert!(
        m.error().contains("more than 200 attributes"),
        "{}",
        m.error()
    );
}

#[test]
fn entities_and_other_encodings_are_errors_or_warnings() {
    let bomb = "<!DOCTYPE m [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;'>]><mujoco model='&b;'/>";
    assert!(load(bomb).error().contains("malformed XML"));
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("m.xml");
    std::fs::write(&file, b"\xef\xbb\xbf<mujoco model='m\xff'/>").unwrap();
    load_file(&file).warns(&["byte 19 is not UTF-8"]);
    for text in [
        "",
        " ",
        "<",
        "\0",
        "<mujoco model='m'",
        "<mujoco model='m'/><mujoco model='n'/>",
    ] {
        assert!(load(text).error().contains("<literal>.xml:"), "{text:?}");
    }
}

#[test]
fn a_second_load_of_the_same_model_needs_another_name() {
    let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
    let mut parser = Parser::new(&mut plant);
    parser.add_models_from_string(ROBOT, "xml").unwrap();
    let e = parser
        .add_models_from_string(ROBOT, "xml")
        .unwrap_err()
        .to_string();
    assert!(e.contains("model instance 'r' exists already"), "{e}");
    parser.set_auto_renaming(true);
    parser.add_models_from_string(ROBOT, "xml").unwrap();
    assert_eq!(plant.model_instance_names().last().unwrap(), "r_1");
    assert!(plant.body_by_name("r_1::hand").is_ok());
}

#[test]
fn strict_parsing_turns_warnings_into_errors() {
    let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
    let mut parser = Parser::new(&mut plant);
    parser.set_strict_parsing(true);
    let light = "<mujoco model='m'><worldbody><light/></worldbody></mujoco>";
    let e = parser
        .add_models_from_string(light, "xml")
        .unwrap_err()
        .to_string();
    assert!(e.contains("<light> is ignored"), "{e}");
    parser
        .add_models_from_string("<mujoco model='m'/>", "xml")
        .unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    #[test]
    fn mutated_robots_do_not_panic(
        edits in edits(ROBOT.len()),
    ) {
        prop_assert!(survives(&edited(ROBOT, edits)));
    }

    #[test]
    fn changed_values_do_not_panic(which in 0..90_usize, value in prop::sample::select(vec![
        "", "0", "-1", "nan", "inf", "-inf", "1e308", "1e-308", "1e-160", "1 2 3", "0 0 0", "x", "base",
        "hand", "world", "::", "&#0;", "&lt;", "a::b", "ball", "free", "mesh", "9999999999999999999",
        "1 1 1 1", "1 2 3 4 5 6", "true", "auto", "1e308 1e308 1e308", "1e-200 0 0", "c", "main",
    ])) {
        // Replaces the n-th attribute value.
        let mut pieces: Vec<&str> = ROBOT.split('"').collect();
        let place = (2 * which + 1) % pieces.len();
        pieces[place] = value;
        prop_assert!(survives(pieces.join("\"").as_bytes()));
    }

    #[test]
    fn random_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(survives(&bytes));
    }
}
