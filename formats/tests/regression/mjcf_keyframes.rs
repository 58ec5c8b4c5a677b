//! Keyframes. All values are from MuJoCo 3.3.7 (`key_qpos`, `key_qvel`, `key_ctrl`).

use super::load_mjcf;
use crate::support::loaded::{Built, load_with};
use tarragon_formats::{ModelWriter, OutputFormat};

/// An arm whose hinge `j` has its default position at 0.25 rad.
const ARM: &str = r#"<mujoco model="arm"><compiler angle="radian"/><worldbody>
  <body name="r"><joint name="j" axis="0 1 0" ref=".25"/><geom size=".07"/>
    <body name="s"><joint name="k" axis="0 1 0"/><geom size=".07" pos=".1 0 0"/></body></body>
  </worldbody>
  <actuator><motor name="mj" joint="j"/><motor name="mk" joint="k"/></actuator>
  <keyframe><key name="h" qpos=".1 .2" qvel="1 2" ctrl=".3 .4"/><key name="g" qvel="5 6"/>
    <key name="b"/><key time="3" qpos=".5 .6"/></keyframe></mujoco>"#;

/// Loads a model with `<attach>` elements of [`ARM`], and a slide `z` with an actuator.
fn with_arm(content: &str, sections: &str) -> Built {
    with_attached(&[("arm.xml", ARM)], content, sections)
}

fn with_attached(files: &[(&str, &str)], content: &str, sections: &str) -> Built {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let text = format!(
        r#"<mujoco model="m"><asset><model name="arm" file="{file}"/></asset><worldbody>{content}
        <body name="c"><joint name="z" type="slide" ref=".7"/><geom size=".1"/></body></worldbody>
        <actuator><motor name="mz" joint="z"/></actuator>{sections}</mujoco>"#,
        file = files.last().unwrap().0
    );
    let file = folder.path().join("m.xml");
    std::fs::write(&file, text).unwrap();
    load_with(|p| p.add_models(&file)).ok()
}

fn names(model: &Built) -> Vec<&str> {
    model.plant.keyframes().iter().map(|k| &*k.name).collect()
}

/// Returns positions, velocities and inputs at a keyframe of joints with one degree of freedom and
/// of actuators.
fn at_key(model: &Built, key: &str, joints: &[&str], actuators: &[&str]) -> [Vec<f64>; 3] {
    let plant = &model.plant;
    let q = plant.keyframe_positions(key).unwrap();
    let v = plant.keyframe_velocities(key).unwrap();
    let u = plant.keyframe_actuation(key).unwrap();
    let starts: Vec<(usize, usize)> = joints
        .iter()
        .map(|name| {
            let joint = plant.joint_by_name(name).unwrap();
            let position = plant.position_start(joint).unwrap();
            (position, plant.velocity_start(joint).unwrap())
        })
        .collect();
    let inputs = actuators.iter().map(|name| {
        let actuator = plant.joint_actuator_by_name(name).unwrap();
        u[actuator.index()]
    });
    [
        starts.iter().map(|(position, _)| q[*position]).collect(),
        starts.iter().map(|(_, velocity)| v[*velocity]).collect(),
        inputs.collect(),
    ]
}

/// MuJoCo normalizes quaternions shorter than 1e-15 to 1 0 0 0.
#[test]
fn zero_quaternions_are_the_identity() {
    for quaternion in ["0 0 0 0", "0 0 0 1e-200", "0 9e-16 0 0"] {
        let model = load_mjcf(&format!(
            r#"<mujoco model="m"><worldbody><body name="a"><freejoint/><geom size=".1"/>
            <body><joint name="b" type="ball"/><geom size=".1"/></body></body></worldbody>
            <keyframe><key name="k" qpos="0 0 1 {quaternion} {quaternion}" qvel="1 2 3 4 5 6 7 8 9"/>
            </keyframe></mujoco>"#
        ));
        model.says_nothing();
        let [key] = model.plant.keyframes() else {
            panic!("{:?}", model.plant.keyframes());
        };
        let (_, x_wa) = key.free_poses[0];
        assert_eq!(x_wa.translation.vector.as_slice(), [0.0, 0.0, 1.0]);
        assert_eq!(x_wa.rotation.coords.as_slice(), [0.0, 0.0, 0.0, 1.0]);
        assert_eq!(key.positions[0].1, [1.0, 0.0, 0.0, 0.0]);
        assert_eq!(key.velocities[0].1, [7.0, 8.0, 9.0]);
    }
}

/// Components far below 1 are a direction as long as the norm is at least 1e-15.
#[test]
fn short_quaternions_are_normalized() {
    let model = load_mjcf(
        r#"<mujoco model="m"><worldbody><body><joint type="ball"/><geom size=".1"/></body>
        </worldbody><keyframe><key name="k" qpos="0 3e-15 0 0"/></keyframe></mujoco>"#,
    );
    assert_eq!(
        model.plant.keyframes()[0].positions[0].1,
        [0.0, 1.0, 0.0, 0.0]
    );
}

#[test]
fn keys_without_numbers_have_default_positions() {
    let model = load_mjcf(
        r#"<mujoco model="m"><worldbody><body><joint name="j" type="slide" ref=".7"/>
        <geom size=".1"/></body></worldbody><actuator><motor name="a" joint="j"/></actuator>
        <keyframe><key name="k"/><key name="t" time="3"/><key qpos=""/></keyframe></mujoco>"#,
    );
    model.says_nothing();
    assert_eq!(names(&model), ["k", "t", "key2"]);
    for key in ["k", "t", "key2"] {
        let found = at_key(&model, key, &["j"], &["a"]);
        assert_eq!(found, [vec![0.7], vec![0.0], vec![0.0]]);
    }
}

/// MuJoCo refuses the file.
#[test]
fn second_key_of_a_name_is_left_out() {
    let model = load_mjcf(
        r#"<mujoco model="m"><worldbody><body><joint name="j"/><geom size=".1"/></body></worldbody>
        <keyframe><key name="k" qpos="1"/><key name="k" qpos="2"/></keyframe></mujoco>"#,
    );
    model.says("keyframe 'k' is left out: another keyframe has this name");
    assert_eq!(model.plant.keyframe_positions("k").unwrap(), [1.0]);
}

#[test]
fn attached_keys_set_their_own_joints() {
    let joints = ["L_j", "L_k", "M_j", "M_k", "z"];
    let actuators = ["L_mj", "L_mk", "M_mj", "M_mk", "mz"];
    let model = with_arm(
        r#"<attach model="arm" prefix="L_"/>
        <frame pos="0 2 0"><attach model="arm" prefix="M_"/></frame>"#,
        r#"<keyframe><key name="own" qpos="1 2 3 4 5" ctrl="6 7 8 9 10"/></keyframe>"#,
    );
    model.says_nothing();
    let expected = ["own", "L_h", "L_g", "L_b", "L_", "M_h", "M_g", "M_b", "M_"];
    assert_eq!(names(&model), expected);
    let at = |key: &str| at_key(&model, key, &joints, &actuators);
    let default = [0.25, 0.0, 0.25, 0.0, 0.7];
    let own = [
        vec![1.0, 2.0, 3.0, 4.0, 5.0],
        vec![0.0; 5],
        vec![7.0, 8.0, 9.0, 10.0, 6.0],
    ];
    assert_eq!(at("own"), own);
    let of_left = [
        vec![0.1, 0.2, 0.25, 0.0, 0.7],
        vec![1.0, 2.0, 0.0, 0.0, 0.0],
        vec![0.3, 0.4, 0.0, 0.0, 0.0],
    ];
    assert_eq!(at("L_h"), of_left);
    let of_right = [
        vec![0.25, 0.0, 0.1, 0.2, 0.7],
        vec![0.0, 0.0, 1.0, 2.0, 0.0],
        vec![0.0, 0.0, 0.3, 0.4, 0.0],
    ];
    assert_eq!(at("M_h"), of_right);
    let moving = [
        default.to_vec(),
        vec![5.0, 6.0, 0.0, 0.0, 0.0],
        vec![0.0; 5],
    ];
    assert_eq!(at("L_g"), moving);
    assert_eq!(at("M_b"), [default.to_vec(), vec![0.0; 5], vec![0.0; 5]]);
    assert_eq!(at("M_")[0], [0.25, 0.0, 0.5, 0.6, 0.7]);
}

#[test]
fn attached_body_takes_its_part_of_the_keys() {
    let model = with_arm(r#"<attach model="arm" body="s" prefix="L_"/>"#, "");
    model.says_nothing();
    assert_eq!(names(&model), ["L_h", "L_g", "L_b", "L_"]);
    let found = at_key(&model, "L_h", &["L_k", "z"], &["L_mk", "mz"]);
    assert_eq!(found, [vec![0.2, 0.7], vec![2.0, 0.0], vec![0.4, 0.0]]);
}

/// A body without joints has none of the values.
#[test]
fn attached_body_without_joints_keeps_the_names_of_keys() {
    let child = r#"<mujoco model="arm"><worldbody><body name="r"><geom size=".1"/></body>
      <body name="s"><joint/><geom size=".1"/></body></worldbody>
      <keyframe><key name="h" qpos=".2"/></keyframe></mujoco>"#;
    let attach = r#"<attach model="arm" body="r" prefix="L_"/>"#;
    let model = with_attached(&[("arm.xml", child)], attach, "");
    model.says_nothing();
    assert_eq!(model.plant.keyframe_positions("L_h").unwrap(), [0.7]);
}

/// In MuJoCo the keys set the joints of the first copy, and no controls.
#[test]
fn keys_of_a_replicated_model_set_the_first_copy() {
    let model = with_arm(
        r#"<replicate count="2" offset="0 1 0"><attach model="arm" prefix="L_"/></replicate>"#,
        "",
    );
    model.says_nothing();
    let found = at_key(
        &model,
        "L_h",
        &["L_j0", "L_k0", "L_j1", "L_k1", "z"],
        &["L_mj0", "L_mk0", "L_mj1", "L_mk1", "mz"],
    );
    let q = vec![0.1, 0.2, 0.25, 0.0, 0.7];
    assert_eq!(found, [q, vec![1.0, 2.0, 0.0, 0.0, 0.0], vec![0.0; 5]]);
}

/// Keys of the inner model have its own prefix only.
#[test]
fn keys_of_nested_models_keep_the_inner_prefix() {
    let outer = r#"<mujoco model="outer"><asset><model name="q" file="arm.xml"/></asset>
      <worldbody><body name="mm"><joint name="n"/><geom size=".1"/></body>
      <attach model="q" prefix="I_"/></worldbody>
      <keyframe><key name="mid" qpos=".1 .3 .4"/></keyframe></mujoco>"#;
    let files = [("arm.xml", ARM), ("outer.xml", outer)];
    let model = with_attached(&files, r#"<attach model="arm" prefix="L_"/>"#, "");
    model.says_nothing();
    assert_eq!(names(&model), ["L_mid", "I_h", "I_g", "I_b", "I_"]);
    let joints = ["L_n", "L_I_j", "L_I_k", "z"];
    let at = |key: &str| at_key(&model, key, &joints, &["L_I_mj", "mz"]);
    assert_eq!(at("L_mid")[0], [0.1, 0.3, 0.4, 0.7]);
    let expected = [
        vec![0.0, 0.1, 0.2, 0.7],
        vec![0.0, 1.0, 2.0, 0.0],
        vec![0.3, 0.0],
    ];
    assert_eq!(at("I_h"), expected);
}

/// The type of a joint, and so the size of `qpos`, may come from a class; free bodies have 7.
#[test]
fn attached_keys_follow_the_classes_of_the_attached_model() {
    let child = r#"<mujoco model="arm"><default class="x"><joint type="ball"/>
        <default class="y"><joint type="slide"/></default></default><worldbody>
      <body name="f" pos="1 2 3"><freejoint/><geom size=".1"/>
        <body childclass="y"><joint name="s"/><geom size=".1"/></body>
        <body><joint name="b"/><geom size=".1"/></body></body></worldbody>
      <actuator><general name="i" joint="s" dyntype="integrator"/></actuator>
      <keyframe><key name="h" qpos="4 5 6 0 0 0 2 .5 0 1 0 0" act=".25"/></keyframe></mujoco>"#;
    let attach = r#"<attach model="arm" prefix="L_"/>"#;
    let model = with_attached(&[("arm.xml", child)], attach, "");
    let key = &model.plant.keyframes()[0];
    let (_, x_wf) = key.free_poses[0];
    assert_eq!(x_wf.translation.vector.as_slice(), [4.0, 5.0, 6.0]);
    assert_eq!(x_wf.rotation.coords.as_slice(), [0.0, 0.0, 1.0, 0.0]);
    let found = at_key(&model, "L_h", &["L_s", "z"], &["L_i", "mz"]);
    assert_eq!(found, [vec![0.5, 0.7], vec![0.0; 2], vec![0.25, 0.0]]);
    let ball = model.plant.joint_by_name("L_b").unwrap();
    let turn = key.positions.iter().find(|(of, _)| *of == ball).unwrap();
    assert_eq!(turn.1, [0.0, 1.0, 0.0, 0.0]);
}

/// MuJoCo refuses the file.
#[test]
fn attached_keys_that_do_not_fit_are_named() {
    let child = r#"<mujoco model="arm"><worldbody><body><joint/><geom size=".1"/></body></worldbody>
      <keyframe><key name="bad" qpos="1 2"/><key name="good" qpos="1"/></keyframe></mujoco>"#;
    let attach = r#"<attach model="arm" prefix="L_"/>"#;
    let model = with_attached(&[("arm.xml", child)], attach, "");
    model.says("keyframe 'L_bad' is left out: 'qpos' must have 1 number");
    assert_eq!(names(&model), ["L_good"]);
}

/// MuJoCo refuses the file, as both keys are named by the prefix.
#[test]
fn second_attached_key_without_a_name_is_left_out() {
    let child = r#"<mujoco model="arm"><worldbody><body><joint/><geom size=".1"/></body></worldbody>
      <keyframe><key qpos="1"/><key qpos="2"/></keyframe></mujoco>"#;
    let attach = r#"<attach model="arm" prefix="L_"/>"#;
    let model = with_attached(&[("arm.xml", child)], attach, "");
    model.says("keyframe 'L_' is left out");
    assert_eq!(names(&model), ["L_"]);
}

/// MuJoCo 3.3.7 reads the same numbers back from the written `qvel`, in the order of the joints.
#[test]
fn written_keyframes_keep_their_velocities() {
    let text = "<mujoco model='m'><worldbody>
         <body name='a'><freejoint/><geom size='.1'/>
           <body name='b' pos='0 0 1'><joint name='b' type='ball'/><geom size='.1'/>
             <body name='c' pos='0 0 1'><joint name='c'/><geom size='.1'/></body></body></body>
       </worldbody><keyframe>
         <key name='k' qpos='1 2 3 .5 .5 .5 .5  .6 .8 0 0  .3' qvel='1 2 3 4 5 6  .1 .2 .3  7'/>
         <key name='still' qpos='1 2 3 1 0 0 0  1 0 0 0  0'/>
       </keyframe></mujoco>";
    let model = load_mjcf(text);
    let writer = ModelWriter::with_scene_graph(&model.plant, &model.scene);
    let written = writer.write(OutputFormat::Mjcf).unwrap();
    let said: Vec<_> = written.diagnostics.iter().map(|d| &*d.message).collect();
    assert!(!said.iter().any(|d| d.contains("keyframe")), "{said:?}");
    assert_eq!(written.text.matches("qvel").count(), 1, "{}", written.text);
    let again = load_mjcf(&written.text);
    for key in ["k", "still"] {
        let [before, after] = [&model, &again].map(|m| m.plant.keyframe_velocities(key).unwrap());
        assert_eq!(before.len(), 10);
        for (before, after) in before.iter().zip(&after) {
            assert!((before - after).abs() < 1e-12, "{key}: {before} {after}");
        }
    }
}
