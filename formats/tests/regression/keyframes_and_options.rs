//! Keyframes and the time step of a file reach the program. A new user's program got zeros in place
//! of controls that had been dropped, and was told that a keyframe of the wrong size did not exist.
//! The expected values come from MuJoCo 3.3.7 (`key_qpos`, `key_qvel`, `key_ctrl`, `opt.timestep`),
//! which refuses keyframes of the wrong size.

use crate::support::loaded::load_with;
use tarragon_formats::*;
use tarragon_multibody::*;

/// A free ball, followed by a slide joint with a servo.
fn model(keys: &str, semantics: MjcfSemantics) -> MultibodyPlantBuilder {
    let text = format!(
        "<mujoco model='m'><option timestep='.004'/><worldbody>
         <body name='ball' pos='0 0 3'><freejoint/><geom size='.1'/></body>
         <body name='cart'><joint name='x' type='slide' axis='1 0 0'/><geom size='.1'/></body>
         </worldbody><actuator><position name='servo' joint='x' kp='10'/></actuator>
         <keyframe>{keys}</keyframe></mujoco>"
    );
    let loaded = load_with(|parser| {
        parser.set_mjcf_semantics(semantics);
        parser.add_models_from_string(&text, "xml")
    });
    assert!(loaded.result.is_ok(), "{:?}", loaded.result);
    loaded.plant
}

const AWAY: &str = "<key name='away' qpos='1 2 3 1 0 0 0 .5' qvel='0 0 0 0 0 0 .25' ctrl='3'/>";

#[test]
fn dropped_controls_are_an_error() {
    let keys = "<key name='two' qpos='1 2 3 1 0 0 0 .5' ctrl='3 4'/><key name='none'/>";
    let plant = model(keys, MjcfSemantics::MuJoCo).build().unwrap();
    let error = plant.keyframe_actuation("two").unwrap_err().to_string();
    let expected =
        "keyframe 'two': 'ctrl' must have 1 number, one per actuator, got 2; it is ignored";
    assert_eq!(error, expected);
    // MuJoCo's controls are 0 where the key has none.
    assert_eq!(plant.keyframe_actuation("none").unwrap(), [0.0]);
}

/// In Drake's reading, inputs of actuators are efforts, so `ctrl` is not read.
#[test]
fn controls_that_drakes_reading_drops_are_an_error() {
    let plant = model(AWAY, MjcfSemantics::Drake).build().unwrap();
    let error = plant.keyframe_actuation("away").unwrap_err().to_string();
    assert!(
        error.starts_with("keyframe 'away': 'ctrl' is ignored"),
        "{error}"
    );
    let error = plant.keyframe_velocities("away").unwrap_err().to_string();
    assert!(error.contains("keyframes hold positions only"), "{error}");
    assert!(plant.keyframe_positions("away").is_ok());
}

#[test]
fn dropped_velocities_are_an_error() {
    let keys = "<key name='v' qpos='1 2 3 1 0 0 0 .5' qvel='1 2'/>";
    let plant = model(keys, MjcfSemantics::MuJoCo).build().unwrap();
    let error = plant.keyframe_velocities("v").unwrap_err().to_string();
    assert!(error.contains("'qvel' must have"), "{error}");
    let slide = plant
        .position_start(plant.joint_by_name("x").unwrap())
        .unwrap();
    assert_eq!(plant.keyframe_positions("v").unwrap()[slide], 0.5);
}

#[test]
fn keyframe_of_a_wrong_size_says_why_it_is_missing() {
    let keys = format!("<key name='short' qpos='1 2 3'/>{AWAY}");
    let plant = model(&keys, MjcfSemantics::MuJoCo).build().unwrap();
    let names: Vec<&str> = plant.keyframes().iter().map(|k| &*k.name).collect();
    assert_eq!(names, ["away"]);
    let expected = "keyframe 'short' was left out: 'qpos' must have 8 numbers, one per position of \
                    the joints, got 3";
    assert_eq!(
        plant.keyframe_positions("short").unwrap_err().to_string(),
        expected
    );
    assert_eq!(
        plant.keyframe_actuation("short").unwrap_err().to_string(),
        expected
    );
    let scoped = plant
        .keyframe_velocities("m::short")
        .unwrap_err()
        .to_string();
    assert!(scoped.contains("'m::short' was left out"), "{scoped}");
}

#[test]
fn unknown_keyframes_are_named_with_those_there_are() {
    let plant = model(AWAY, MjcfSemantics::MuJoCo).build().unwrap();
    let error = plant.keyframe_actuation("awya").unwrap_err().to_string();
    assert_eq!(
        error,
        "there is no keyframe named 'awya'; there are: 'away'"
    );
}

#[test]
fn builder_takes_default_positions_of_a_keyframe() {
    let mut builder = model(AWAY, MjcfSemantics::MuJoCo);
    builder.set_default_positions_to_keyframe("away").unwrap();
    let plant = builder.build().unwrap();
    let [q, v, u] = [
        plant.keyframe_positions("away").unwrap(),
        plant.keyframe_velocities("away").unwrap(),
        plant.keyframe_actuation("away").unwrap(),
    ];
    assert_eq!((v.iter().sum::<f64>(), u), (0.25, vec![3.0]));
    assert_eq!(plant.default_positions(), q);
    let slide = plant.joint_by_name("x").unwrap();
    assert_eq!(q[plant.position_start(slide).unwrap()], 0.5);
    let mut sorted = q.clone();
    sorted.sort_by(f64::total_cmp);
    assert_eq!(sorted, [0.0, 0.0, 0.0, 0.5, 1.0, 1.0, 2.0, 3.0]);
}

/// A failed load leaves no record of its lost keyframes.
#[test]
fn lost_keyframes_of_a_failed_load_are_forgotten() {
    let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
    let mut parser = Parser::new(&mut plant);
    parser.on_warning(OnWarning::Fail);
    let text = "<mujoco model='m'><worldbody><body><joint/><geom size='.1'/></body></worldbody>
        <keyframe><key name='k' qpos='1 2'/></keyframe></mujoco>";
    assert!(parser.add_models_from_string(text, "xml").is_err());
    let plant = plant.build().unwrap();
    let error = plant.keyframe_actuation("k").unwrap_err().to_string();
    assert_eq!(
        error,
        "there is no keyframe named 'k', and no other keyframe"
    );
}

/// `opt.timestep` in MJCF, `<max_step_size>` in SDFormat. URDF has none.
#[test]
fn time_step_of_a_file_is_available() {
    let folder = tempfile::tempdir().unwrap();
    let world = "<sdf version='1.9'><world name='w'><physics name='p' type='ode'>
        <max_step_size>0.003</max_step_size></physics><model name='m'><link name='a'/></model>
        </world></sdf>";
    let usual = "<mujoco model='m'/>";
    for (name, text, expected) in [
        (
            "m.xml",
            "<mujoco model='m'><option timestep='.004'/></mujoco>",
            0.004,
        ),
        ("u.xml", usual, 0.002),
        ("w.sdf", world, 0.003),
        ("r.urdf", "<robot name='r'><link name='a'/></robot>", 0.001),
    ] {
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        let config = MultibodyPlantConfig::from_model(&file).unwrap();
        assert_eq!(config.time_step, expected, "{name}");
        let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
        let mut parser = Parser::new(&mut plant);
        parser.use_model_time_step();
        parser.add_models(&file).unwrap();
        assert_eq!(plant.time_step(), expected, "{name}");
    }
    let missing = MultibodyPlantConfig::from_model(folder.path().join("no.xml"));
    assert!(missing.unwrap_err().to_string().contains("no.xml"));
}
