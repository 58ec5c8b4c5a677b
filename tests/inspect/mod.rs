//! `tarragon inspect`, run as by a user. The conformance tests compare its output for real robots.

mod meshes;
mod messages;
mod packages;

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/models")
}

fn run(args: &[&str]) -> Output {
    run_with(args, &[])
}

/// Runs the command with environment variables.
fn run_with(args: &[&str], variables: &[(&str, &Path)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tarragon"));
    for path in ["ROS_PACKAGE_PATH", "GZ_SIM_RESOURCE_PATH"] {
        command.env_remove(path);
    }
    command.envs(variables.iter().copied());
    command.arg("inspect").args(args).output().unwrap()
}

/// Writes a file into a folder, and returns its path.
fn write(folder: &Path, name: &str, text: &str) -> String {
    let file = folder.join(name);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, text).unwrap();
    file.to_str().unwrap().to_owned()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[track_caller]
fn text_of(output: &Output) -> String {
    assert!(output.status.success(), "{}", said(output));
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn json_of(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

fn model(name: &str) -> String {
    models().join(name).display().to_string()
}

/// A box of 1 x 2 x 3 m with a corner at the origin, whose last face may be missing.
fn box_obj(num_faces: usize) -> String {
    let mut text = String::new();
    for i in 0..8 {
        let corner = [i & 1, (i >> 1) & 1, i >> 2];
        text += &format!("v {} {} {}\n", corner[0], 2 * corner[1], 3 * corner[2]);
    }
    let faces = [
        "1 3 4 2", "5 6 8 7", "1 2 6 5", "3 7 8 4", "1 5 7 3", "2 4 8 6",
    ];
    faces[..num_faces]
        .iter()
        .for_each(|f| text += &format!("f {f}\n"));
    text
}

#[test]
fn a_robot_is_printed_as_a_tree() {
    let output = run(&[&model("arm7/arm7.urdf")]);
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "models: arm7");
    assert!(lines[1].starts_with("13 bodies, 12 joints, "), "{text}");
    assert_eq!(
        lines.iter().filter(|l| l.contains("<- revolute")).count(),
        7,
        "{text}"
    );
    // Every joint is indented further than the previous one.
    let depth = |l: &&str| l.find('`').or(l.find('|')).unwrap_or(0);
    let depths: Vec<usize> = lines[3..11].iter().map(depth).collect();
    assert!(depths.is_sorted(), "{text}");
}

#[test]
fn json_contains_everything_with_samples() {
    let folder = tempfile::tempdir().unwrap();
    let q = folder.path().join("q.json");
    std::fs::write(
        &q,
        json!([{}, { "arm7::joint1": [0.5], "joint2": [0.25] }]).to_string(),
    )
    .unwrap();
    let output = run(&[
        &model("arm7/arm7.urdf"),
        "--json",
        "--q",
        q.to_str().unwrap(),
    ]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let report = json_of(&output);
    assert_eq!(
        (&report["ok"], &report["stage"]),
        (&json!(true), &json!("done"))
    );
    for (list, count) in [
        ("bodies", "num_bodies"),
        ("joints", "num_joints"),
        ("frames", "num_frames"),
    ] {
        assert_eq!(
            report[list].as_array().unwrap().len(),
            report[count].as_u64().unwrap() as usize
        );
    }
    assert_eq!(
        report["actuators"][0]["effort_limit"]
            .as_f64()
            .map(|x| x > 0.0),
        Some(true)
    );
    let samples = report["samples"].as_array().unwrap();
    assert_eq!(samples.len(), 2);
    // The base is free, so its seven positions come first.
    assert_eq!(samples[1]["q"][7], 0.5);
    assert_eq!(samples[1]["q"][8], 0.25);
    let bodies = samples[0]["X_WB"].as_object().unwrap();
    assert_eq!(
        bodies["WorldModelInstance::world"],
        json!([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    );
    let diagonal = samples[0]["mass_matrix_diag"].as_array().unwrap();
    let trace: f64 = diagonal.iter().map(|x| x.as_f64().unwrap()).sum();
    assert!((trace - samples[0]["mass_matrix_trace"].as_f64().unwrap()).abs() < 1e-12);
    assert_ne!(samples[0]["com_W"], samples[1]["com_W"]);
    // Distances refer to geometries by index, and are at most 5 cm.
    for pair in samples[0]["signed_distance"].as_array().unwrap() {
        assert!(pair[0].as_u64() < pair[1].as_u64() && pair[2].as_f64().unwrap() <= 0.05);
    }
}

#[test]
fn samples_must_fit_the_model() {
    let folder = tempfile::tempdir().unwrap();
    let q = folder.path().join("q.json");
    for (text, words) in [
        (
            "[{\"arm7::joint9\": [0]}]",
            "positions of --q, object 1: there is no joint named",
        ),
        ("[{\"joint1\": [0, 1]}]", "must have 1 position, got 2"),
        ("{}", "the file must hold a JSON array of objects"),
    ] {
        std::fs::write(&q, text).unwrap();
        let output = run(&[&model("arm7/arm7.urdf"), "--q", q.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(1));
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(words), "{said}");
    }
}

/// Writes a URDF whose link is an L of two walls, as convex pieces. Returns the folder and the
/// file.
fn walls(pieces: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let obj = "v 0 0 0\nv 3 0 0\nv 3 1 0\nv 1 1 0\nv 1 3 0\nv 0 3 0\n\
               v 0 0 1\nv 3 0 1\nv 3 1 1\nv 1 1 1\nv 1 3 1\nv 0 3 1\n\
               f 1 6 5 4\nf 1 4 3 2\nf 7 8 9 10\nf 7 10 11 12\nf 1 2 8 7\nf 2 3 9 8\nf 3 4 10 9\n\
               f 4 5 11 10\nf 5 6 12 11\nf 6 1 7 12\n";
    std::fs::write(folder.path().join("walls.obj"), obj).unwrap();
    let urdf = format!(
        "<robot name='corner'><link name='walls'><collision><geometry><mesh filename='walls.obj'/>\
         </geometry><drake:proximity_properties>\
         <tarragon:max_convex_pieces value='{pieces}'/></drake:proximity_properties></collision>\
         </link></robot>"
    );
    let path = folder.path().join("corner.urdf");
    std::fs::write(&path, urdf).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (folder, path)
}

#[cfg(feature = "convex-decomposition")]
#[test]
fn convex_pieces_are_counted() {
    let (_folder, path) = walls("8");
    let report = json_of(&run(&[&path, "--json"]));
    let walls = &report["geometries"][0];
    // An L is the union of two boxes; the planes of V-HACD lie between voxels, not in its corner.
    let count = walls["num_convex_pieces"].as_u64().unwrap();
    assert!((2..=8).contains(&count), "{count}");
    let properties = &walls["proximity"]["convex_decomposition"];
    assert_eq!(properties, &json!({ "max_pieces": 8 }));
}

#[test]
fn wrong_numbers_of_convex_pieces_are_explained() {
    let (_folder, path) = walls("0");
    let output = run(&[&path]);
    let text = String::from_utf8_lossy(&output.stderr);
    let message = "<tarragon:max_convex_pieces> must be an integer from 1 to 256, got 0.0";
    assert!(!output.status.success() && text.contains(message), "{text}");
}

#[test]
fn deformable_bodies_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ball.sdf");
    let text = "<sdf version='1.9' xmlns:drake='http://drake.mit.edu'><model name='m'>\
        <link name='ball'><collision name='c'><geometry><sphere><radius>0.1</radius></sphere>\
        </geometry></collision><drake:deformable_properties>\
        <drake:material_model>corotated</drake:material_model></drake:deformable_properties>\
        </link></model></sdf>";
    std::fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    let tree = String::from_utf8(run(&[file]).stdout).unwrap();
    // An octahedron of density 1500 kg/m^3.
    let line = "deformable m::ball  2.000000 kg, 7 vertices, 8 tetrahedra, Corotated";
    assert!(tree.contains(line), "{tree}");
    let found = json_of(&run(&[file, "--json"]));
    assert_eq!(found["deformable_bodies"][0]["num_elements"], 8);
    assert_eq!(found["geometries"][0]["deformable"], true);
}

/// Everything that acts in a model that is read as by MuJoCo is in the report.
#[test]
fn tendons_armature_and_inactive_constraints_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hand.xml");
    let text = "<mujoco model='m'><worldbody>
          <body><joint name='j' armature='0.5' frictionloss='0.25'/><geom size='.1'/></body>
          <body name='b' pos='1 0 0'><joint name='k'/><geom size='.1'/><site name='s' pos='0 1 0'/>
          </body><site name='r'/></worldbody>
        <tendon><fixed name='t'><joint joint='j' coef='2'/><joint joint='k' coef='-4'/></fixed>
        <spatial name='u'><site site='s'/><site site='r'/></spatial></tendon>
        <actuator><motor name='pull' tendon='t' ctrlrange='-3 3'/>
        <motor name='flex' tendon='u'/></actuator>
        <equality><joint joint1='j' joint2='k' active='false'/><joint joint1='k'/></equality>
        </mujoco>";
    std::fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    let found = json_of(&run(&[file, "--json", "--mjcf-semantics", "mujoco"]));
    let joint = &found["joints"][0];
    assert_eq!(
        (&joint["armature"], &joint["dry_friction"]),
        (&json!(0.5), &json!(0.25))
    );
    assert_eq!(found["joints"][1]["armature"], 0.0);
    let actuator = &found["actuators"][0];
    assert_eq!(
        actuator["coupled_joints"],
        json!([{ "joint": "k", "ratio": -2.0 }])
    );
    assert_eq!(actuator["control"]["gear"], 2.0);
    let flexor = &found["actuators"][1];
    assert_eq!(flexor["joint"], json!(null));
    assert_eq!(
        flexor["sites"],
        json!([
            { "body": "b", "position": [0.0, 1.0, 0.0] },
            { "body": "world", "position": [0.0, 0.0, 0.0] },
        ])
    );
    assert_eq!(found["inactive_constraints"], json!([0]));
    let output = run(&[file, "--mjcf-semantics", "mujoco"]);
    let tree = String::from_utf8(output.stdout).unwrap();
    for words in [
        "armature 0.5 dry friction 0.25 driven by 'pull' with others up to 6",
        "driven by 'pull' with others up to 12",
        "1 of 2 constraints inactive",
    ] {
        assert!(tree.contains(words), "'{words}' is not in: {tree}");
    }
}

#[test]
fn constraints_and_couplers_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    let mjcf = "<mujoco model='m'><worldbody>
          <body name='a'><joint name='j'/><geom size='.1'/></body>
          <body name='b' pos='1 0 0'><joint name='k'/><geom size='.1'/></body></worldbody>
        <equality><joint name='e' joint1='j' joint2='k' polycoef='0 2 0 0 0'/>
          <connect body1='a' body2='b' anchor='0 0 .5'/><weld body1='a' body2='b' active='false'/>
        </equality></mujoco>";
    let file = write(folder.path(), "m.xml", mjcf);
    let tree = text_of(&run(&[&file]));
    let lines: Vec<&str> = tree
        .lines()
        .filter(|l| l.starts_with("constraint "))
        .collect();
    assert_eq!(lines.len(), 3, "{tree}");
    for words in [
        "m::j",
        "m::k",
        "ball: ",
        "weld: m::a and m::b (inactive)",
        "1 of 3 constraints",
    ] {
        assert!(tree.contains(words), "'{words}' is not in: {tree}");
    }
    let report = json_of(&run(&[&file, "--json"]));
    let constraints = report["constraints"].as_array().unwrap();
    assert_eq!(constraints.len(), 3, "{constraints:?}");
    let of_type = |kind: &str| constraints.iter().find(|c| c["type"] == kind).unwrap();
    assert_eq!(of_type("weld")["active"], false);
    assert_eq!(of_type("ball")["body_a"], "m::a");
    // Drake's reading adds no constraint for welds and joints, and the report says what is lost.
    let drake = [&*file, "--mjcf-semantics", "drake"];
    let tree = text_of(&run(&drake));
    assert!(
        tree.contains("equality that does not act: weld: m::a and m::b"),
        "{tree}"
    );

    let urdf = "<robot name='r'><link name='a'/><link name='b'/><link name='c'/>
        <joint name='j' type='continuous'><parent link='a'/><child link='b'/></joint>
        <joint name='k' type='continuous'><parent link='a'/><child link='c'/>
          <mimic joint='j' multiplier='-0.5' offset='0.25'/></joint></robot>";
    let file = write(folder.path(), "r.urdf", urdf);
    let tree = text_of(&run(&[&file]));
    assert!(
        tree.contains("constraint coupler: r::k = -0.5 r::j + 0.25"),
        "{tree}"
    );
    let report = json_of(&run(&[&file, "--json"]));
    assert_eq!(report["constraints"][0]["gear_ratio"], -0.5);
}

/// A height field is listed with its grid, and distances are measured to its surface: the ball in
/// the pit touches nothing, although it is inside the convex hull of the field.
#[test]
fn height_fields_are_listed_and_measured_by_their_surface() {
    let folder = tempfile::tempdir().unwrap();
    let text = "<mujoco model='m'><asset><hfield name='pit' nrow='3' ncol='3' size='1 1 1 0.1' \
                elevation='1 1 1  1 0 1  1 1 1'/></asset><worldbody>\
                <geom name='pit' type='hfield' hfield='pit'/>\
                <body name='ball' pos='0.05 -0.05 HEIGHT'><freejoint/><geom name='ball' size='0.05'/>\
                </body></worldbody></mujoco>";
    let distances = ["0.5", "0.2"].map(|height| {
        let name = format!("at_{height}.xml");
        let file = write(folder.path(), &name, &text.replace("HEIGHT", height));
        let q = write(folder.path(), "q.json", "[{}]");
        let output = run(&[&file, "--json", "--q", &q]);
        assert!(output.status.success(), "{}", said(&output));
        let report = json_of(&output);
        let geometries = report["geometries"].as_array().unwrap();
        for role in ["illustration", "perception", "proximity"] {
            let field = geometries.iter().find(|g| {
                g["name"] == "pit" && g["roles"].as_array().unwrap().contains(&json!(role))
            });
            assert_eq!(
                field.unwrap()["shape"],
                json!({"type": "HeightField", "rows": 3, "columns": 3, "size": [2.0, 2.0],
                       "height_range": [0.0, 1.0], "base": -0.1})
            );
        }
        report["samples"][0]["signed_distance"].clone()
    });
    assert_eq!(distances[0], json!([]));
    // The side of the pit is the plane z = x - y; distances up to 5 cm are listed.
    let near = distances[1].as_array().unwrap();
    let expected = 0.1 / 3.0_f64.sqrt() - 0.05;
    assert!(
        (near[0][2].as_f64().unwrap() - expected).abs() < 1e-12,
        "{near:?}"
    );
}
