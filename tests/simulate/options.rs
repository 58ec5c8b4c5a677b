//! Options that choose the start, the step and the output of a simulation.

use super::{Log, log_of, said, simulate};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A slide with a servo, a keyframe and a time step of its own.
const SLIDE: &str = r#"<mujoco model="m"><option timestep="0.005" gravity="0 0 0"/>
  <worldbody><body><joint name="x" type="slide" axis="1 0 0"/><geom size=".1" mass="2"/></body></worldbody>
  <actuator><motor name="push" joint="x"/></actuator>
  <keyframe><key name="away" qpos="0.5" qvel="0.25" ctrl="3"/></keyframe></mujoco>"#;

fn slide() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("slide.xml");
    std::fs::write(&file, SLIDE).unwrap();
    (folder, file)
}

fn refused(file: &Path, options: &[&str]) -> String {
    let output = simulate(file, &["--until", "0.1"]).args(options).output();
    let output = output.unwrap();
    assert!(!output.status.success());
    said(&output)
}

#[test]
fn keyframe_gives_positions_velocities_and_controls() {
    let (_folder, file) = slide();
    let log = log_of(
        &file,
        &["--until", "0.05", "--rate", "200", "--keyframe", "away"],
    );
    let (q, v) = (log.column("m::x.q"), log.column("m::x.v"));
    assert_eq!((q[0], v[0]), (0.5, 0.25));
    // A force of 3 N accelerates 2 kg for 50 ms.
    assert!(
        (v.last().unwrap() - (0.25 + 0.05 * 1.5)).abs() < 1e-12,
        "{v:?}"
    );
    assert_eq!(log_of(&file, &["--until", "0.05"]).last("m::x.q"), 0.0);
    let error = refused(&file, &["--keyframe", "near"]);
    assert!(
        error.contains("--keyframe near: there is no keyframe named 'near'; there are: 'away'"),
        "{error}"
    );
}

#[test]
fn step_is_that_of_the_file_unless_it_is_given() {
    let (_folder, file) = slide();
    let steps = |options: &[&str]| {
        let output = simulate(&file, &["--until", "1", "--stats", "json"])
            .args(options)
            .output();
        let text = String::from_utf8(output.unwrap().stdout).unwrap();
        let stats: Value = serde_json::from_str(text.trim()).unwrap();
        stats["steps"].as_u64().unwrap()
    };
    assert_eq!(steps(&[]), 200);
    assert_eq!(steps(&["--time-step", "model"]), 200);
    assert_eq!(steps(&["--time-step", "0.01"]), 100);
    // At 0, 0.3, 0.6 and 0.9 s.
    assert_eq!(steps(&["--time-step", "0.3"]), 4);
    let error = refused(&file, &["--time-step", "fast"]);
    assert!(
        error.contains("'model' for the time step of the file"),
        "{error}"
    );
}

#[test]
fn start_beyond_a_limit_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("slide.xml");
    let limited = SLIDE.replace("type=\"slide\"", "type=\"slide\" range=\"-.1 .1\"");
    std::fs::write(&file, limited).unwrap();
    let told = |options: &[&str]| {
        let output = simulate(&file, &["--until", "0.1"]).args(options).output();
        said(&output.unwrap()).contains("the limits of 'x' are violated at the start")
    };
    assert!(told(&["--keyframe", "away"]));
    assert!(told(&["--set", "x.q=-0.2"]));
    assert!(!told(&["--keyframe", "away", "--set", "x.q=0.05"]));
}

#[test]
fn values_are_set_by_the_names_of_columns() {
    let (_folder, file) = slide();
    let options = [
        "--set",
        "m::x.q=0.1",
        "--set",
        "x.v=0.5",
        "--set",
        "push.u=4",
    ];
    let log = log_of(
        &file,
        &[&["--until", "0.1", "--rate", "200"], &options[..]].concat(),
    );
    assert_eq!(
        (log.column("m::x.q")[0], log.column("m::x.v")[0]),
        (0.1, 0.5)
    );
    assert!((log.last("m::x.v") - 0.7).abs() < 1e-12);
    for (setting, why) in [
        ("y.v=1", "got an unknown one; there are m::x.v"),
        ("x.v", "must be NAME=VALUE"),
        ("x.v=fast", "must be a finite number, got 'fast'"),
    ] {
        let error = refused(&file, &["--set", setting]);
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn statistics_are_one_line_of_json() {
    let (folder, file) = slide();
    let path = folder.path().join("log.csv");
    let output = simulate(
        &file,
        &[
            "--until",
            "1",
            "--stats",
            "json",
            "--keyframe",
            "away",
            "--log",
        ],
    )
    .arg(&path)
    .output()
    .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let stats: Value = serde_json::from_str(text.trim()).unwrap();
    let log = Log::read(&path);
    // The last columns, after those of the state.
    assert_eq!(log.header[log.header.len() - 2..], ["energy", "contacts"]);
    let number = |name: &str| {
        stats[name]
            .as_f64()
            .unwrap_or_else(|| panic!("{name}: {stats}"))
    };
    assert!(
        (number("energy_start") - 0.5 * 2.0 * 0.25 * 0.25).abs() < 1e-15,
        "{stats}"
    );
    assert!(
        (number("energy_end") - log.last("energy")).abs() < 1e-12,
        "{stats}"
    );
    assert_eq!(number("contacts_at_end"), log.last("contacts"));
    assert!(number("us_per_step") > 0.0 && number("load_s") > 0.0 && number("wall_s") > 0.0);
    assert_eq!(stats["finite"], true);
}

#[test]
fn model_without_geometry_touches_nothing() {
    let model = super::model("table_top/block.urdf");
    let log = log_of(&model, &["--until", "0.5", "--no-geometry"]);
    assert!(log.last("block::block_z.q") < -1.0);
    assert_eq!(log.last("contacts"), 0.0);
}

/// A compliant ball on a rigid block rests by a contact surface, and by a point if that is asked
/// for.
#[test]
fn declared_hydroelastic_properties_choose_the_contact_model() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ball.urdf");
    let text = r#"<robot name="m" xmlns:drake="http://drake.mit.edu">
      <link name="block"><collision><origin xyz="0 0 -.1"/><geometry><box size="1 1 .2"/></geometry>
        <drake:proximity_properties><drake:rigid_hydroelastic/></drake:proximity_properties></collision></link>
      <joint name="fixed" type="fixed"><parent link="world"/><child link="block"/></joint>
      <link name="ball"><inertial><mass value="1"/>
        <inertia ixx=".004" iyy=".004" izz=".004" ixy="0" ixz="0" iyz="0"/></inertial>
        <collision><geometry><sphere radius=".1"/></geometry><drake:proximity_properties>
          <drake:compliant_hydroelastic/><drake:hydroelastic_modulus value="1e5"/>
          <drake:mesh_resolution_hint value=".05"/></drake:proximity_properties></collision></link>
      <joint name="slide" type="prismatic"><parent link="world"/><child link="ball"/>
        <origin xyz="0 0 .1"/><axis xyz="0 0 1"/><limit effort="0" velocity="10" lower="-1" upper="1"/></joint>
    </robot>"#;
    std::fs::write(&file, text).unwrap();
    let height = |options: &[&str]| {
        let log = log_of(&file, &[&["--until", "2", "--no-ground"], options].concat());
        log.last("m::slide.q")
    };
    let surface = height(&["--contact-model", "hydroelastic_with_fallback"]);
    assert_eq!(height(&[]), surface);
    let point = height(&["--contact-model", "point"]);
    assert!((surface - point).abs() > 1e-4, "{surface} {point}");
}

/// A compliant cube on the rigid ground sinks in by the depth d at which its pressure carries it:
/// E d / (a/2) a^2 = m g. At points of contact, it would sink in by a twentieth of that.
#[test]
fn hydroelastic_models_touch_the_added_ground_by_surfaces() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cube.sdf");
    let text = r#"<sdf version="1.9" xmlns:drake="http://drake.mit.edu"><model name="m"><link name="l">
      <inertial><mass>4</mass><inertia><ixx>.0267</ixx><iyy>.0267</iyy><izz>.0267</izz></inertia></inertial>
      <collision name="c"><geometry><box><size>.2 .2 .2</size></box></geometry>
        <drake:proximity_properties><drake:compliant_hydroelastic/>
          <drake:hydroelastic_modulus>1e5</drake:hydroelastic_modulus>
          <drake:hunt_crossley_dissipation>5</drake:hunt_crossley_dissipation>
        </drake:proximity_properties></collision></link></model></sdf>"#;
    std::fs::write(&file, text).unwrap();
    let depth = 4.0 * 9.81 / (2.0 * 1e5 * 0.2);
    for options in [&[][..], &["--contact-model", "hydroelastic"]] {
        let common = ["--until", "1", "--height", "0.001"];
        let log = log_of(&file, &[&common, options].concat());
        let found = 0.1 - log.last("m::l_z.q");
        assert!((found / depth - 1.0).abs() < 0.1, "{found} {depth}");
    }
}
