//! Messages that misled a new user. A good message names the place once, says what was found, and
//! gives a cure in terms of the command.

use std::path::Path;
use std::process::Command;

/// Runs the command in a folder, and returns what it writes to standard error.
fn said(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tarragon"));
    let output = command.args(arguments).current_dir(folder).output();
    String::from_utf8(output.unwrap().stderr).unwrap()
}

/// Writes a file, inspects it and checks that the message has all words.
fn inspect(name: &str, content: &[u8], words: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(name), content).unwrap();
    let said = said(folder.path(), &["inspect", name]);
    for word in words {
        assert!(said.contains(word), "{name}: '{word}' is not in: {said}");
    }
    assert_eq!(said.matches(name).count(), 1, "{said}");
}

#[test]
fn binary_data_is_no_text() {
    let noise: Vec<u8> = (0..2000_u32).map(|i| (i * 37 % 256) as u8).collect();
    let cure = "has the suffix of another format";
    inspect("a.obj", &noise, &["must be text, got binary data", cure]);
    inspect("a.gltf", &noise, &["must be JSON, got binary data", cure]);
    inspect("a.glb", &noise, &["must begin with 'glTF'", cure]);
}

#[test]
fn content_of_another_format_names_its_suffix() {
    let robot = b"<robot name='a'><link name='b'/></robot>";
    inspect("a.xml", robot, &["<robot>", "name this file .urdf"]);
    inspect("a.sdf", robot, &["<robot>", "name this file .urdf"]);
    inspect("a.urdf", b"<mujoco/>", &["<mujoco>", "name this file .xml"]);
    let xacro =
        b"<robot name='a'><link name='b'><inertial><mass value='${m}'/></inertial></link></robot>";
    inspect("b.urdf", xacro, &["got '${m}'", "name the file .xacro"]);
    inspect("robot", robot, &["the suffix must be", "got none"]);
}

/// Three tetrahedra, of which one is inverted and one is flat.
const FAULTY: &str = "# vtk DataFile Version 3.0
two
ASCII
DATASET UNSTRUCTURED_GRID
POINTS 6 double
0 0 0  1 0 0  0 1 0  0 0 1  1 1 0  0 0 -1
CELLS 3 15
4 0 1 2 3
4 0 1 2 5
4 0 1 2 4
CELL_TYPES 3
10
10
10
";

#[test]
fn faulty_tetrahedra_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("m.vtk"), FAULTY).unwrap();
    for arguments in [
        &["inspect", "m.vtk"][..],
        &["convert", "--refine", "m.vtk", "n.vtk"],
    ] {
        let said = said(folder.path(), arguments);
        let words = "got 2 of 3 that are inverted or flat (those with index 1, 2)";
        assert!(said.contains(words), "{arguments:?}: {said}");
    }
}

#[test]
fn options_that_contradict_each_other_are_explained() {
    let arm = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/examples/models/arm7/arm7.urdf"
    );
    let here = Path::new(".");
    let common = ["simulate", arm, "--no-browser", "--until", "0.01"];
    let with = |options: &[&str]| said(here, &[&common[..], options].concat());
    let limits = with(&["--time-step", "0"]);
    assert!(
        limits.contains("--time-step 0: the limits of 7 joints will not act"),
        "{limits}"
    );
    let folder = tempfile::tempdir().unwrap();
    let scenario = format!(
        "directives: [add_model: {{name: arm, file: {arm}}}]\nplant_config: {{time_step: 0.0}}\n"
    );
    std::fs::write(folder.path().join("s.yaml"), scenario).unwrap();
    let mut arguments = common;
    arguments[1] = "s.yaml";
    let limits = said(folder.path(), &arguments);
    assert!(
        limits.contains("s.yaml: plant_config: time_step 0: the limits of 7 joints will not act"),
        "{limits}"
    );
    let position = "joint1.q=0.1";
    let twice = with(&["--set", position, "--set", position]);
    assert!(twice.contains("the value must be set only once"), "{twice}");
}
