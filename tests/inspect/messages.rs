//! Errors and warnings.

use super::{json_of, model, run, said, text_of, write};
use serde_json::json;

#[test]
fn parse_errors_are_explained() {
    let bad = model("bad/zero_axis.urdf");
    let output = run(&[&bad, "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let report = json_of(&output);
    assert_eq!(
        (&report["ok"], &report["stage"]),
        (&json!(false), &json!("parse"))
    );
    let error = &report["error"];
    assert_eq!(
        (error["line"].as_u64(), error["file"].as_str()),
        (Some(5), Some(&*bad))
    );
    assert!(error["text"].as_str().unwrap().contains("axis"), "{error}");
    assert_eq!(report["warnings"], json!([]));
    let output = run(&[&bad]);
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with(&format!("{bad}:5:")), "{said}");
}

#[test]
fn warnings_are_errors_with_strict() {
    let file = model("bad/bad_inertia.urdf");
    let lax = json_of(&run(&[&file, "--json"]));
    assert_eq!(
        (&lax["ok"], &lax["num_warnings"]),
        (&json!(true), &json!(1))
    );
    let strict = run(&[&file, "--json", "--strict"]);
    assert_eq!(strict.status.code(), Some(1));
    assert_eq!(json_of(&strict)["ok"], false);
}

#[test]
fn many_warnings_alike_are_one_line_unless_verbose() {
    let folder = tempfile::tempdir().unwrap();
    let shape = "<collision name='c'><geometry><sphere radius='1'/></geometry></collision>";
    let urdf = |n: usize| {
        let shapes = shape.repeat(n);
        format!("<robot name='r'><link name='a'>{shapes}</link></robot>")
    };
    // The first one keeps its name.
    let file = write(folder.path(), "many.urdf", &urdf(98));
    let tree = text_of(&run(&[&file]));
    let lines: Vec<&str> = tree.lines().filter(|l| l.contains("renamed")).collect();
    assert_eq!(lines.len(), 1, "{tree}");
    for words in [
        "97 warnings:",
        "(97 alike, also 'c_2' in line 1",
        "and 'c_3' in line 1;",
        "--verbose lists all",
    ] {
        assert!(tree.contains(words), "'{words}' is not in: {tree}");
    }
    let verbose = text_of(&run(&[&file, "--verbose"]));
    assert_eq!(verbose.matches("is renamed to").count(), 97, "{verbose}");
    let report = json_of(&run(&[&file, "--json"]));
    assert_eq!(report["warnings"].as_array().unwrap().len(), 97);

    let file = write(folder.path(), "two.urdf", &urdf(2));
    let tree = text_of(&run(&[&file]));
    assert!(tree.contains("\n1 warning:\n"), "{tree}");
    assert!(tree.contains("\n2 bodies, 1 joint, "), "{tree}");
}

/// Exporters write the largest number for what has no limit.
#[test]
fn limits_that_do_not_limit_are_infinite() {
    let folder = tempfile::tempdir().unwrap();
    let mass = "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' \
                iyz='0'/></inertial>";
    let urdf = format!(
        "<robot name='r'><link name='a'>{mass}</link><link name='b'>{mass}</link>
           <joint name='j' type='revolute'><parent link='a'/><child link='b'/><axis xyz='0 0 1'/>
             <limit lower='-1' upper='1.7976931348623157e308' effort='1.7976931348623157e308'
               velocity='1'/></joint>
           <transmission><type>transmission_interface/SimpleTransmission</type><joint name='j'/>
             <actuator name='m'/></transmission></robot>"
    );
    let file = write(folder.path(), "r.urdf", &urdf);
    let tree = text_of(&run(&[&file]));
    for words in ["[-1.0000, inf]", "driven by 'm' without an effort limit"] {
        assert!(tree.contains(words), "'{words}' is not in: {tree}");
    }
    assert!(tree.lines().all(|line| line.len() < 200), "{tree}");
    let report = json_of(&run(&[&file, "--json"]));
    assert_eq!(report["actuators"][0]["effort_limit"], json!(f64::MAX));
}

#[test]
fn a_urdf_that_is_xacro_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let text = "<robot name='r' xmlns:xacro='http://www.ros.org/wiki/xacro'>\n\
                <xacro:property name='m' value='1'/>\n<link name='a'/></robot>";
    let file = write(folder.path(), "r.urdf", text);
    let output = run(&[&file]);
    assert_eq!(output.status.code(), Some(1));
    let start = format!("{file}:2:1: error: <xacro:property> is a xacro element");
    assert!(said(&output).starts_with(&start), "{}", said(&output));
    assert_eq!(said(&output).lines().count(), 1, "{}", said(&output));
    let file = write(folder.path(), "r.urdf.xacro", text);
    assert!(run(&[&file]).status.success());
}

#[test]
fn an_unknown_suffix_names_those_of_models_and_of_meshes() {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "x.msh", "");
    let output = run(&[&file]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    for words in [
        ".dmd.yaml, .obj)",
        "(.stl, .gltf, .glb, .dae, .vtk)",
        "got '.msh'",
    ] {
        assert!(said.contains(words), "{said}");
    }
}
