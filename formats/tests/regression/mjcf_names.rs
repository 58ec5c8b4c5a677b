//! Names of MJCF files that collide with generated ones, or are those of other files.

use super::load_mjcf;
use crate::support::loaded::load_with;

/// MuJoCo 3.3.7 loads both: bodies, geoms and joints without names have none.
#[test]
fn generated_names_give_way_to_given_ones() {
    let model = load_mjcf(
        r#"<mujoco model="m"><worldbody>
          <body name="body2"><freejoint/><geom name="geom1" size=".1"/><geom size=".2"/></body>
          <body pos="1 0 0"><freejoint/><geom size=".1"/></body>
          <body name="body20" pos="2 0 0"><freejoint/><geom size=".1"/></body>
          <replicate count="20" offset="0 0 1"><body><freejoint/><geom size=".1"/></body></replicate>
        </worldbody></mujoco>"#,
    );
    model.says_nothing();
    assert_eq!(model.plant.num_bodies(), 24);
}

/// MuJoCo 3.3.7: an asset `<model>` without a name has that of the `model` attribute of its file.
#[test]
fn model_asset_has_the_name_of_its_file_s_model() {
    let folder = tempfile::tempdir().unwrap();
    let child = "<mujoco model='hand'><worldbody><body name='palm'><geom size='.1'/></body>
      </worldbody></mujoco>";
    std::fs::write(folder.path().join("gripper_file.xml"), child).unwrap();
    let arm = folder.path().join("arm.xml");
    let text = "<mujoco model='arm'><asset><model file='gripper_file.xml'/></asset><worldbody>
      <body name='wrist'><joint/><geom size='.1'/><attach model='hand' body='palm' prefix='h_'/></body>
      </worldbody></mujoco>";
    std::fs::write(&arm, text).unwrap();
    let model = load_with(|p| p.add_models(&arm));
    model.result.as_ref().unwrap();
    assert!(model.plant.body_by_name("h_palm").is_ok());
}

/// MuJoCo 3.3.7 adds up a component of the quaternion, which is no length; here the tendon and its
/// actuator are left out with warnings.
#[test]
fn fixed_tendon_over_a_ball_joint_is_left_out() {
    let model = load_mjcf(
        r#"<mujoco model="m"><worldbody><body><joint name="b" type="ball"/><geom size=".1"/></body>
        </worldbody><tendon><fixed name="t"><joint joint="b" coef="1"/></fixed></tendon>
        <actuator><motor name="pull" tendon="t"/></actuator></mujoco>"#,
    );
    let said: Vec<&str> = model.diagnostics.iter().map(|d| &*d.message).collect();
    let [tendon, actuator] = said[..] else {
        panic!("{said:?}");
    };
    assert!(tendon.contains("tendon 't' is left out"), "{tendon}");
    assert!(
        actuator.contains("its tendon 't' is left out"),
        "{actuator}"
    );
}

/// MuJoCo 3.3.7: velocities of free bodies are linear in the world, then angular in the body.
#[test]
fn keyframe_has_velocities() {
    let model = load_mjcf(
        r#"<mujoco model="m"><worldbody>
          <body name="a"><freejoint/><geom size=".1"/></body>
          <body name="b"><joint name="j" type="slide"/><geom size=".1"/></body></worldbody>
        <keyframe><key name="k" qpos="0 0 0 0.70710678118654752 0 0 0.70710678118654752 0"
          qvel="1 2 3 4 5 6 7"/></keyframe></mujoco>"#,
    );
    model.says_nothing();
    let v = model.plant.keyframe_velocities("k").unwrap();
    // The body is turned by 90 degrees about z. Joints of bodies come before those of free bodies.
    let expected = [-5.0, 4.0, 6.0, 1.0, 2.0, 3.0];
    let free = model.plant.body_by_name("a").unwrap();
    let joint = model.plant.inboard_joint(free).unwrap();
    let start = model.plant.velocity_start(joint).unwrap();
    for (found, expected) in v[start..start + 6].iter().zip(expected) {
        assert!((found - expected).abs() < 1e-14, "{v:?}");
    }
    let slide = model.plant.joint_by_name("j").unwrap();
    assert_eq!(v[model.plant.velocity_start(slide).unwrap()], 7.0);
}

/// MuJoCo drives the body; the plant has no joint there. Actuator and tendon used to be errors,
/// which claimed that the file has no such joint.
#[test]
fn actuators_and_tendons_of_a_free_joint_are_left_out() {
    let text = "<mujoco model='m'><worldbody><body><freejoint name='f'/><geom size='.1'/></body>
         </worldbody><tendon><fixed name='t'><joint joint='f' coef='1'/></fixed></tendon>
         <actuator><motor name='a' joint='f' gear='0 0 1 0 0 0'/></actuator></mujoco>";
    let model = load_mjcf(text);
    let told = |what: &str| {
        let mut messages = model.diagnostics.iter().map(|d| &d.message);
        messages.any(|m| m.contains(what) && m.contains("is left out") && m.contains("is free"))
    };
    assert!(
        told("actuator 'a'") && told("tendon 't'"),
        "{:?}",
        model.diagnostics
    );
}

/// MuJoCo 3.3.7 has the same values.
#[test]
fn attached_models_keep_their_own_classes() {
    const ARM: &str = "<mujoco model='arm'><default><joint damping='3'/>
        <default class='x'><joint damping='4'/></default></default><worldbody>
      <body name='r'><joint name='j'/><geom size='.1'/></body>
      <frame childclass='x'><body name='s'><joint name='k'/><geom size='.1'/></body></frame>
      </worldbody></mujoco>";
    const OUTER: &str = "<mujoco model='outer'><default><joint damping='5'/></default>
      <asset><model name='q' file='arm.xml'/></asset><worldbody>
      <body name='mm'><joint name='n'/><geom size='.1'/></body><attach model='q' prefix='I_'/>
      </worldbody></mujoco>";
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("arm.xml"), ARM).unwrap();
    std::fs::write(folder.path().join("outer.xml"), OUTER).unwrap();
    let of_arm = [("L_j", 3.0), ("L_k", 4.0), ("z", 7.0)];
    let of_outer = [("L_n", 5.0), ("L_I_j", 3.0), ("L_I_k", 4.0), ("z", 7.0)];
    for (file, dampings) in [("arm", &of_arm[..]), ("outer", &of_outer)] {
        let text = format!(
            "<mujoco model='m'><default><joint damping='7'/></default>
             <asset><model name='a' file='{file}.xml'/></asset><worldbody>
             <attach model='a' prefix='L_'/><body><joint name='z'/><geom size='.1'/></body>
             </worldbody></mujoco>"
        );
        let path = folder.path().join("m.xml");
        std::fs::write(&path, text).unwrap();
        let model = load_with(|p| p.add_models(&path));
        model.result.as_ref().unwrap();
        model.says_nothing();
        for (name, damping) in dampings {
            let joint = model.plant.joint_by_name(name).unwrap();
            let joint = model.plant.joint(joint).unwrap();
            assert_eq!(joint.damping(), [*damping], "{name}");
        }
    }
}
