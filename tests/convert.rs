//! `tarragon convert`, run as by a user.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn example(name: &str) -> PathBuf {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/models");
    examples.join(name)
}

fn tarragon(command: &str, arguments: &[&Path]) -> Output {
    let mut tarragon = Command::new(env!("CARGO_BIN_EXE_tarragon"));
    tarragon.arg(command).args(arguments);
    tarragon.output().unwrap()
}

fn message(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The report of `tarragon inspect`.
fn inspect(model: &Path) -> Value {
    let output = tarragon("inspect", &[Path::new("--json"), model]);
    assert!(output.status.success(), "{}", message(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Checks that two reports agree in names, numbers of elements and mass.
fn assert_same_model(ours: &Value, again: &Value) {
    for key in [
        "model_instances",
        "num_bodies",
        "num_joints",
        "num_positions",
        "num_actuators",
        "num_constraints",
        "position_names",
        "num_geometries_by_role",
        "num_collision_candidates",
    ] {
        assert_eq!(ours[key], again[key], "{key}");
    }
    let mass = |report: &Value| report["total_mass"].as_f64().unwrap();
    assert!((mass(ours) - mass(again)).abs() <= 1e-12 * mass(ours));
}

#[test]
fn models_survive_the_way_to_another_format_and_back() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["arm7/arm7.urdf", "humanoid/humanoid.xml"] {
        let model = example(name);
        let ours = inspect(&model);
        let [sdf, urdf, mjcf] = ["a.sdf", "b.urdf", "c.xml"].map(|name| folder.path().join(name));
        for (from, to) in [(&model, &mjcf), (&mjcf, &sdf), (&sdf, &urdf), (&urdf, &sdf)] {
            let output = tarragon("convert", &[from, to]);
            assert!(output.status.success(), "{}", message(&output));
        }
        // The frames of a humanoid's joints are not those of its links, which URDF requires.
        if name.starts_with("arm7") {
            for file in [&mjcf, &sdf, &urdf] {
                assert_same_model(&ours, &inspect(file));
            }
        }
    }
}

#[test]
fn losses_are_warnings_and_strict_makes_them_errors() {
    let folder = tempfile::tempdir().unwrap();
    let (model, urdf) = (
        example("humanoid/humanoid.xml"),
        folder.path().join("h.urdf"),
    );
    let output = tarragon("convert", &[Path::new("--strict"), &model, &urdf]);
    assert!(!output.status.success());
    assert!(
        message(&output).contains("with --strict"),
        "{}",
        message(&output)
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    let output = tarragon("convert", &[&model, &urdf]);
    assert!(output.status.success());
    assert!(
        message(&output).contains("warning: "),
        "{}",
        message(&output)
    );
    assert!(urdf.is_file());
}

#[test]
fn an_unknown_suffix_is_an_error_that_names_the_known_ones() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("arm7.step");
    let output = tarragon("convert", &[&example("arm7/arm7.urdf"), &output]);
    assert!(!output.status.success());
    let said = message(&output);
    assert!(said.contains("must be .urdf, .sdf"), "{said}");
    assert!(said.contains("got '.step'"), "{said}");
}

#[test]
fn a_failed_write_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing/arm7.sdf");
    let output = tarragon("convert", &[&example("arm7/arm7.urdf"), &missing]);
    assert!(!output.status.success());
    assert!(
        message(&output).contains("\nerror: "),
        "{}",
        message(&output)
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// A body with zero inertia and a Collada mesh, which MuJoCo refuses as they are.
#[test]
fn mujoco_gets_meshes_that_it_reads_and_never_over_other_files() {
    const DAE: &str = r##"<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit meter="1"/><up_axis>Z_UP</up_axis></asset><library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="a" count="12">0 0 0 1 0 0 0 1 0 0 0 1</float_array><technique_common>
<accessor source="#a" count="4" stride="3"><param name="X" type="float"/><param name="Y" type="float"/>
<param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="4"><input semantic="VERTEX" source="#v" offset="0"/>
<p>0 2 1 0 1 3 1 2 3 2 0 3</p></triangles></mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node><instance_geometry url="#g"/></node></visual_scene>
</library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>"##;
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("part.dae"), DAE).unwrap();
    let visual = "<visual><geometry><mesh filename='part.dae'/></geometry></visual>";
    let inertial = "<inertial><mass value='1'/></inertial>";
    let joint = "<joint name='j' type='continuous'><parent link='world'/><child link='a'/></joint>";
    let urdf = format!("<robot name='r'><link name='a'>{inertial}{visual}</link>{joint}</robot>");
    std::fs::write(at("r.urdf"), urdf).unwrap();
    // A file of the user, which has the name that ours would have.
    std::fs::write(at("out_part.obj"), "o mine\n").unwrap();
    for _ in 0..2 {
        let output = tarragon("convert", &[&at("r.urdf"), &at("out.xml")]);
        assert!(output.status.success(), "{}", message(&output));
        let said = message(&output);
        assert!(
            said.contains("is added to its moments of inertia"),
            "{said}"
        );
        let text = std::fs::read_to_string(at("out.xml")).unwrap();
        assert!(text.contains("file=\"out_part_1.obj\""), "{text}");
        assert_eq!(inspect(&at("out.xml"))["num_bodies"], 2);
    }
    let mine = std::fs::read_to_string(at("out_part.obj")).unwrap();
    assert_eq!(mine, "o mine\n");
    let mut names: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let expected = [
        "out.xml",
        "out_part.obj",
        "out_part_1.obj",
        "part.dae",
        "r.urdf",
    ];
    assert_eq!(names, expected);
    // After a failure, nothing is left.
    std::fs::create_dir(at("again.xml")).unwrap();
    let output = tarragon("convert", &[&at("r.urdf"), &at("again.xml")]);
    assert!(!output.status.success());
    assert!(!at("again_part.obj").exists());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 6);
    let output = tarragon(
        "convert",
        &[Path::new("--strict"), &at("r.urdf"), &at("new.xml")],
    );
    assert!(!output.status.success());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 6);
}
