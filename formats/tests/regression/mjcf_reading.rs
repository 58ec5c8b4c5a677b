//! The default reading of MJCF is MuJoCo's.

use super::load_mjcf;
use crate::support::loaded::{Built, load_with};
use tarragon_formats::*;
use tarragon_multibody::*;

/// A class without `<joint>` inside of one with `<joint>`.
const NESTED: &str = r#"<mujoco model="d">
  <default><joint damping="5"/><default class="w"><geom density="800"/></default></default>
  <worldbody><body childclass="w"><joint/><geom type="sphere" size="0.03"/></body></worldbody>
</mujoco>"#;

fn damping(plant: &MultibodyModel) -> f64 {
    let (_, joint) = plant.joints().next().unwrap();
    joint.damping()[0]
}

/// MuJoCo 3.3.7: `dof_damping` is 5 and the mass 0.09047786842338604 kg.
#[test]
fn class_inherits_defaults_of_elements_that_it_does_not_list() {
    let model = load_mjcf(NESTED);
    assert_eq!(damping(&model.plant), 5.0);
    let mass = model.plant.calc_total_mass();
    assert!((mass - 0.09047786842338604).abs() < 1e-15, "{mass:?}");
    model.says_nothing();
}

/// Drake 1.51 reads no damping.
#[test]
fn drakes_reading_says_which_defaults_it_loses_and_how_to_get_them() {
    let model = load_with(|p| {
        p.set_mjcf_semantics(MjcfSemantics::Drake);
        p.add_models_from_string(NESTED, "xml")
    });
    assert_eq!(damping(&model.plant), 0.0);
    model.says("class 'w' lists no defaults of <joint>");
    model.says("--mjcf-semantics mujoco");
}

/// In MuJoCo the body's pose (0, 0, 1) comes before its first joint; in Drake before its last.
#[test]
fn drakes_reading_says_that_several_joints_are_misplaced() {
    let text = r#"<mujoco model="d"><worldbody><body pos="0 0 1">
      <joint name="a" axis="1 0 0"/><joint name="b" axis="0 1 0"/><geom size=".1"/>
    </body></worldbody></mujoco>"#;
    load_mjcf(text).says_nothing();
    let model = load_with(|p| {
        p.set_mjcf_semantics(MjcfSemantics::Drake);
        p.add_models_from_string(text, "xml")
    });
    model.says("several joints in a <body>");
}

/// MuJoCo 3.3.7 names a model without a name so.
#[test]
fn text_without_a_model_name_has_mujocos_name() {
    let model = load_mjcf("<mujoco><worldbody><body><geom size='1'/></body></worldbody></mujoco>");
    let instance = model.result.as_ref().unwrap()[0];
    let name = model.plant.model_instance_name(instance).unwrap();
    assert_eq!(name, "MuJoCo Model");
}

fn with_flag(flag: &str) -> String {
    format!(
        r#"<mujoco model="d"><option o_friction="0.25" o_margin="0.5"><flag {flag}/></option><worldbody>
          <geom name="floor" type="plane" size="1 1 1"/>
          <body name="a"><joint name="j" type="slide" damping="2" stiffness="3" frictionloss="4"
            range="-1 1" limited="true"/><geom size=".1" friction="0.7"/>
            <body name="b" pos="0 0 .15"><joint name="k"/><geom size=".1" pos=".03 0 0"/></body>
          </body></worldbody>
          <equality><joint joint1="j" joint2="k"/></equality>
          <actuator><motor joint="j" ctrlrange="-1 1"/></actuator></mujoco>"#
    )
}

/// Flags of `<option>` switch off what MuJoCo's reference says.
#[test]
fn flags_switch_physics_off() {
    let joint = |model: &Built| {
        let joint = model.plant.joint_by_name("j").unwrap();
        model.plant.joint(joint).unwrap().clone()
    };
    let pairs = |model: &Built| model.scene.model_inspector().collision_candidates().len();
    let usual = load_mjcf(&with_flag(r#"energy="enable""#));
    assert_eq!(joint(&usual).damping(), [2.0]);
    assert_eq!(joint(&usual).dry_friction(), 4.0);
    assert_eq!(joint(&usual).position_upper_limits(), [1.0]);
    assert_eq!(usual.plant.constraints().len(), 1);
    // Each sphere with the floor, as parent and child are filtered.
    assert_eq!(pairs(&usual), 2);

    let gravity = load_mjcf(&with_flag(r#"gravity="disable""#));
    assert_eq!(gravity.plant.gravity().norm(), 0.0);
    let contact = load_mjcf(&with_flag(r#"contact="disable""#));
    assert_eq!(pairs(&contact), 0);
    let parents = load_mjcf(&with_flag(r#"filterparent="disable""#));
    assert_eq!(pairs(&parents), 3);
    let damper = load_mjcf(&with_flag(r#"damper="disable""#));
    assert_eq!(joint(&damper).damping(), [0.0]);
    let spring = load_mjcf(&with_flag(r#"spring="disable""#));
    // Gravity alone is left.
    let forces = |m: &Built| m.plant.force_elements().len();
    assert_eq!(forces(&spring) + 1, forces(&usual));
    let dry = load_mjcf(&with_flag(r#"frictionloss="disable""#));
    assert_eq!(joint(&dry).dry_friction(), 0.0);
    let limit = load_mjcf(&with_flag(r#"limit="disable""#));
    assert_eq!(joint(&limit).position_upper_limits(), [f64::INFINITY]);
    let equality = load_mjcf(&with_flag(r#"equality="disable""#));
    assert_eq!(equality.plant.constraints().len(), 0);
    let all = load_mjcf(&with_flag(r#"constraint="disable""#));
    assert_eq!((pairs(&all), all.plant.constraints().len()), (0, 0));
    assert_eq!(joint(&all).dry_friction(), 0.0);
    for model in [
        usual, gravity, contact, parents, damper, spring, dry, limit, equality, all,
    ] {
        model.says_nothing();
    }
}

#[test]
fn unknown_value_of_a_flag_is_a_warning() {
    load_mjcf(&with_flag(r#"gravity="off""#)).says("must be 'enable' or 'disable', got 'off'");
}

/// MuJoCo 3.3.7 refuses every other word: "invalid keyword: '0'".
#[test]
fn unknown_word_for_true_or_false_is_a_warning() {
    for (word, expected) in [("0", Some(())), ("maybe", Some(())), ("false", None)] {
        let text = format!(
            "<mujoco model='p'><worldbody><body name='b'><freejoint/><geom size='.1'/></body>\
             </worldbody><equality><connect body1='b' anchor='0 0 0' active='{word}'/></equality>\
             </mujoco>"
        );
        let model = load_mjcf(&text);
        match expected {
            Some(()) => model.says(&format!("'active' must be 'true' or 'false', got '{word}'")),
            None => model.says_nothing(),
        }
    }
}

/// MuJoCo 3.3.7 makes bodies of 1/6 kg of the five vertices that the tetrahedra use, at the places
/// of the file.
#[test]
fn flexcomp_of_a_gmsh_file_has_a_body_for_every_used_vertex() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n6\n1 0 0 0\n2 1 0 0\n3 0 1 0\n\
                4 0 0 1\n5 1 1 1\n6 5 5 5\n$EndNodes\n$Elements\n2\n1 4 2 0 1 1 2 3 4\n\
                2 4 2 0 1 2 3 4 5\n$EndElements\n";
    std::fs::write(folder.path().join("two.msh"), mesh).unwrap();
    let file = folder.path().join("soft.xml");
    let text = "<mujoco model='m'><worldbody><body name='p' pos='0 0 1'>\
                <flexcomp name='f' type='gmsh' dim='3' file='two.msh' mass='1'/>\
                </body></worldbody></mujoco>";
    std::fs::write(&file, text).unwrap();
    let model = load_with(|p| p.add_models(&file));
    let plant = &model.plant;
    assert!(plant.body_by_name("f_5").is_err());
    assert!((plant.calc_total_mass() - 5.0 / 6.0).abs() < 1e-15);
    assert!(plant.body_by_name("f_4").is_ok());
}

/// MuJoCo 3.3.7 takes an empty range for none unless `limited` is true; here the joint was locked.
#[test]
fn empty_range_does_not_limit_a_joint() {
    let model = load_mjcf(
        "<mujoco model='m'><worldbody><body><joint name='j' range='0 0'/><geom size='.1'/></body>
         </worldbody></mujoco>",
    );
    let joint = model.plant.joint_by_name("j").unwrap();
    let joint = model.plant.joint(joint).unwrap();
    assert_eq!(joint.position_lower_limits(), [f64::NEG_INFINITY]);
    assert_eq!(joint.position_upper_limits(), [f64::INFINITY]);
}

/// All of these change the motion in MuJoCo; the reader used to ignore them silently.
#[test]
fn ignored_flags_of_the_physics_are_named() {
    for (option, joint, named) in [
        ("<flag refsafe='disable'/>", "", "refsafe"),
        ("<flag multiccd='enable'/>", "", "multiccd"),
        ("", "align='true'", "align"),
    ] {
        let model = load_mjcf(&format!(
            "<mujoco model='m'><option>{option}</option><worldbody><body><freejoint {joint}/>
             <geom size='.1'/></body></worldbody></mujoco>"
        ));
        let mut messages = model.diagnostics.iter().map(|d| &d.message);
        let is_named = messages.any(|m| m.contains(named) && m.contains("is ignored"));
        assert!(is_named, "{named}: {:?}", model.diagnostics);
    }
}
