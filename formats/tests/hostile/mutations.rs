//! SDFormat files and directives with any damage give a working model or an error. URDF and MJCF
//! have the same tests in their own folders.

use super::*;
use crate::support::edits::{edited, edits};
use proptest::prelude::*;
use std::fs;
use std::sync::OnceLock;
use tempfile::TempDir;

const SDF: &str = r#"<sdf version="1.9" xmlns:drake="http://drake.mit.edu"><model name="r" canonical_link="base">
  <pose>1 2 3 0.1 0.2 0.3</pose><static>false</static>
  <frame name="f" attached_to="arm"><pose relative_to="base">0 0 1 0 0 0</pose></frame>
  <link name="base"><inertial><pose>0 0 1 0 0 0</pose><mass>2</mass><inertia><ixx>1</ixx><ixy>0</ixy>
    <ixz>0</ixz><iyy>1</iyy><iyz>0</iyz><izz>1</izz></inertia></inertial>
    <visual name="v"><geometry><box><size>1 2 3</size></box></geometry>
      <material><diffuse>1 0 0 1</diffuse></material></visual>
    <collision name="c"><pose>1 2 3 0 0 0</pose><geometry><capsule><radius>.1</radius><length>2</length>
      </capsule></geometry><drake:proximity_properties><drake:mu_static>.8</drake:mu_static>
      <drake:mu_dynamic>.3</drake:mu_dynamic></drake:proximity_properties></collision></link>
  <link name="arm"><pose relative_to="base">1 0 0 0 0 0</pose></link>
  <model name="inner" placement_frame="tip"><pose relative_to="f"/><link name="tip"/></model>
  <include><uri>ball.sdf</uri><name>ball</name><pose relative_to="arm">0 0 1 0 0 0</pose></include>
  <include merge="true"><uri>ball.sdf</uri></include>
  <include><uri>arm.urdf</uri><name>urdf</name></include>
  <joint name="turn" type="revolute"><parent>base</parent><child>arm</child><axis>
    <xyz expressed_in="__model__">0 0 1</xyz><limit><lower>-1</lower><upper>1</upper><effort>3</effort></limit>
    <dynamics><damping>.1</damping></dynamics></axis></joint>
  <joint name="slide" type="prismatic"><parent>arm</parent><child>inner::tip</child><axis><xyz>1 0 0</xyz>
    <mimic joint="turn"><multiplier>2</multiplier><offset>.1</offset></mimic></axis></joint>
  <joint name="wrist" type="universal"><parent>inner::tip</parent><child>ball::b</child>
    <axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2></joint>
  <drake:collision_filter_group name="g"><drake:member>base</drake:member><drake:member>ball::b</drake:member>
    <drake:ignored_collision_filter_group>g</drake:ignored_collision_filter_group></drake:collision_filter_group>
</model></sdf>
"#;

const DIRECTIVES: &str = r#"directives:
- add_model: {name: "A", file: "arm.urdf", default_joint_positions: {"j": ["0.5"]}}
- add_model:
    name: "B"
    file: "ball.sdf"
    default_free_body_pose: {"b": {base_frame: "A::fr", translation: [1, 2, 3], rotation: !Rpy {deg: [90, 0, 0]}}}
- add_model_instance: {name: "ns"}
- add_directives: {file: "sub.dmd.yaml", model_namespace: "ns"}
- add_frame: {name: "f1", X_PF: {base_frame: "world", rotation: !AngleAxis {angle_deg: 30, axis: [0, 0, 1]}}}
- add_frame: {name: "A::f2", X_PF: {base_frame: "A::tip", translation: [1, 0, 0]}}
- add_weld: {parent: "f1", child: "A::base", X_PC: {translation: [0, 0, 1]}}
- add_collision_filter_group: {name: "g", members: ["A::base", "A::tip"], ignored_collision_filter_groups: ["g"]}
"#;

/// The folder with the files that the samples refer to.
fn folder() -> &'static TempDir {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [
            (
                "arm.urdf",
                "<robot name='arm'><link name='base'/><link name='tip'/><joint name='j' type='revolute'>\
                 <parent link='base'/><child link='tip'/></joint><frame name='fr' link='tip' xyz='1 0 0'/></robot>",
            ),
            ("ball.sdf", "<sdf version='1.9'><model name='ball'><link name='b'/></model></sdf>"),
            (
                "sub.dmd.yaml",
                "directives: [{add_model: {name: s, file: ball.sdf}}, \
                 {add_frame: {name: inner, X_PF: {base_frame: 's::b', translation: [1, 2, 3]}}}]",
            ),
        ] {
            fs::write(folder.path().join(name), text).unwrap();
        }
        folder
    })
}

/// Loads a file with the given bytes; [`load_with`] checks what must hold.
fn try_bytes(bytes: &[u8], format: &str, test: &str) -> Outcome {
    let path = folder().path().join(format!("{test}.{format}"));
    fs::write(&path, bytes).unwrap();
    load_file(&path)
}

/// A format and the sample text to damage.
fn sample() -> impl Strategy<Value = (&'static str, &'static str)> {
    prop::sample::select(vec![("sdf", SDF), ("dmd.yaml", DIRECTIVES)])
}

#[test]
fn the_undamaged_samples_load() {
    let sdf = try_bytes(SDF.as_bytes(), "sdf", "good");
    assert_eq!((sdf.plant.num_bodies(), &*sdf.error), (9, ""));
    let directives = try_bytes(DIRECTIVES.as_bytes(), "dmd.yaml", "good");
    assert_eq!((directives.plant.num_bodies(), &*directives.error), (6, ""));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    #[test]
    fn mutated_models_do_not_panic(
        (format, text) in sample(),
        edits in edits(2500),
    ) {
        try_bytes(&edited(text, edits), format, "mutated");
    }

    #[test]
    fn changed_values_do_not_panic((format, text) in sample(), which in 0..120_usize, value in prop::sample::select(vec![
        "", "0", "-1", "nan", ".nan", "inf", "-inf", "1e308", "1e-308", "1 2 3", "0 0 0", "x", "base", "tip", "A",
        "world", "::", "g", "&#0;", "&lt;", "a::b", "__model__", "__root__", "fixed", "ball", "ns", "A::tip",
        "9999999999999999999", "mutated.sdf", "changed.sdf", "changed.dmd.yaml", "0 0 1e308 0 0 0", "[1, 2, 3]", "!Rpy {}",
    ])) {
        // Replaces the n-th attribute, text or string.
        let pieces: Vec<&str> = match format {
            "sdf" => text.split(['"', '>', '<']).collect(),
            _ => text.split(['"', '[', ']', ' ']).collect(),
        };
        let piece = pieces[which % pieces.len()];
        let at = piece.as_ptr() as usize - text.as_ptr() as usize;
        let text = [&text[..at], value, &text[at + piece.len()..]].concat();
        try_bytes(text.as_bytes(), format, "changed");
    }

    #[test]
    fn random_bytes_do_not_panic((format, _) in sample(), bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        try_bytes(&bytes, format, "random");
    }
}
