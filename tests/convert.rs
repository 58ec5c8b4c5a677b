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

/// A cube of five tetrahedra without a vertex inside.
const CUBE: &str = "# vtk DataFile Version 3.0
cube
ASCII
DATASET UNSTRUCTURED_GRID
POINTS 8 double
0 0 0 1 0 0 0 1 0 1 1 0 0 0 1 1 0 1 0 1 1 1 1 1
CELLS 5 25
4 0 5 3 6 4 0 1 3 5 4 0 3 2 6 4 0 5 6 4 4 3 6 5 7
CELL_TYPES 5
10 10 10 10 10
";

/// The refined mesh has the numbers of `RefineVolumeMesh` of Drake 1.51.1.
#[test]
fn volume_meshes_are_refined_so_that_all_tetrahedra_have_contact() {
    let folder = tempfile::tempdir().unwrap();
    let [cube, fixed, again] =
        ["cube.vtk", "fixed.vtk", "AGAIN.VTK"].map(|f| folder.path().join(f));
    std::fs::write(&cube, CUBE).unwrap();
    let soft = |mesh: &str| {
        format!(
            "<robot name='r' xmlns:drake='http://drake.mit.edu'><link name='a'><inertial><mass \
             value='1'/></inertial><collision><geometry><mesh filename='{mesh}'/></geometry>\
             <drake:proximity_properties><drake:compliant_hydroelastic/><drake:hydroelastic_modulus \
             value='1e6'/></drake:proximity_properties></collision></link></robot>"
        )
    };
    let load = |mesh: &str| {
        let model = folder.path().join("soft.urdf");
        std::fs::write(&model, soft(mesh)).unwrap();
        tarragon("inspect", &[&model])
    };
    let refused = load("cube.vtk");
    assert!(!refused.status.success());
    let said = message(&refused);
    assert!(said.contains("cube.vtk"), "{said}");
    assert!(
        said.contains("`tarragon convert MESH.vtk FIXED.vtk --refine`"),
        "{said}"
    );

    let output = tarragon("convert", &[&cube, &fixed, Path::new("--refine")]);
    assert!(output.status.success(), "{}", message(&output));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let expected = "fixed.vtk: tetrahedra: 21 (before: 5), vertices: 12 (before: 8)\n";
    assert!(said.ends_with(expected), "{said}");
    let loaded = load("fixed.vtk");
    assert!(loaded.status.success(), "{}", message(&loaded));
    let report = String::from_utf8_lossy(&loaded.stdout).into_owned();
    assert!(!report.contains("warning"), "{report}");

    let output = tarragon("convert", &[&fixed, &again, Path::new("--refine")]);
    assert!(output.status.success(), "{}", message(&output));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        said.ends_with("AGAIN.VTK: nothing to refine; tetrahedra: 21, vertices: 12\n"),
        "{said}"
    );
    let [fixed, again] = [fixed, again].map(|file| std::fs::read_to_string(file).unwrap());
    assert_eq!(fixed, again);
}

/// The warning has the place in the model that names the mesh.
#[test]
fn a_model_with_tetrahedra_without_contact_is_a_warning() {
    const HALF: &str = "# vtk DataFile Version 3.0
two tetrahedra at a face, one of them around a vertex
ASCII
DATASET UNSTRUCTURED_GRID
POINTS 6 double
0 0 0 1 0 0 0 1 0 0 0 1 1 1 1 0.25 0.25 0.25
CELLS 5 25
4 5 1 2 3 4 0 5 2 3 4 0 1 5 3 4 0 1 2 5 4 1 2 3 4
CELL_TYPES 5
10 10 10 10 10
";
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("half.vtk"), HALF).unwrap();
    let proximity = "<drake:proximity_properties><drake:compliant_hydroelastic/>\
                     <drake:hydroelastic_modulus value='1e6'/></drake:proximity_properties>";
    let model = folder.path().join("soft.urdf");
    let text = format!(
        "<robot name='r' xmlns:drake='http://drake.mit.edu'>\n<link name='a'><inertial><mass \
         value='1'/></inertial>\n<collision><geometry><mesh filename='half.vtk'/></geometry>\
         {proximity}</collision></link></robot>"
    );
    std::fs::write(&model, text).unwrap();
    let output = tarragon("inspect", &[&model]);
    assert!(output.status.success(), "{}", message(&output));
    let report = String::from_utf8_lossy(&output.stdout).into_owned();
    let is_warning = |line: &&str| line.contains("warning: ");
    let warnings: Vec<&str> = report.lines().filter(is_warning).collect();
    let [warning] = warnings[..] else {
        panic!("{report}");
    };
    for part in [
        "soft.urdf:3",
        "half.vtk: tetrahedra must have a vertex inside the mesh",
        "got 1 of 5 with all vertices on its boundary",
        "`tarragon convert MESH.vtk FIXED.vtk --refine`",
    ] {
        assert!(warning.contains(part), "{warning}");
    }
}

#[test]
fn refinement_names_files_that_are_no_volume_meshes() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("cube.vtk"), CUBE).unwrap();
    let surface = CUBE.replace("CELLS 5 25", "CELLS 1 4");
    let surface = surface.replace(
        "4 0 5 3 6 4 0 1 3 5 4 0 3 2 6 4 0 5 6 4 4 3 6 5 7",
        "3 0 1 2",
    );
    let surface = surface.replace("CELL_TYPES 5\n10 10 10 10 10", "CELL_TYPES 1\n5");
    std::fs::write(at("surface.vtk"), surface).unwrap();
    std::fs::write(at("cube.obj"), "v 0 0 0\n").unwrap();
    let refine = Path::new("--refine");
    for (arguments, parts) in [
        (
            vec!["cube.obj", "a.vtk"],
            [
                "cube.obj: the suffix must be .vtk with --refine",
                "got '.obj'",
            ],
        ),
        (
            vec!["cube.vtk", "a.urdf"],
            [
                "a.urdf: the suffix must be .vtk with --refine",
                "got '.urdf'",
            ],
        ),
        (
            vec!["surface.vtk", "a.vtk"],
            ["surface.vtk: cell 0 must be a tetrahedron", "got type 5"],
        ),
        (vec!["missing.vtk", "a.vtk"], ["missing.vtk", "error: "]),
    ] {
        let files: Vec<PathBuf> = arguments.iter().map(|name| at(name)).collect();
        let output = tarragon("convert", &[&files[0], &files[1], refine]);
        assert!(!output.status.success());
        let said = message(&output);
        assert!(parts.iter().all(|part| said.contains(part)), "{said}");
    }
    let output = tarragon("convert", &[&at("cube.vtk"), &at("a.vtk")]);
    assert!(!output.status.success());
    let said = message(&output);
    assert!(
        said.contains("cube.vtk: a file to convert must be a model"),
        "{said}"
    );
    assert!(said.contains("add --refine"), "{said}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
}

/// The warnings of a lost property of many joints are one line, and one each with `--verbose`.
#[test]
fn lost_properties_of_many_joints_are_grouped() {
    let folder = tempfile::tempdir().unwrap();
    let joints: Vec<String> = (0..5)
        .map(|i| {
            format!(
                "<body pos='{i} 0 0'><joint name='j{i}' armature='.1'/><geom size='.1'/></body>"
            )
        })
        .collect();
    let text = format!(
        "<mujoco model='m'><worldbody>{}</worldbody></mujoco>",
        joints.concat()
    );
    let (mjcf, sdf) = (folder.path().join("m.mjcf"), folder.path().join("m.sdf"));
    std::fs::write(&mjcf, text).unwrap();
    let lines = |options: &[&Path]| {
        let output = tarragon("convert", &[options, &[&mjcf, &sdf]].concat());
        assert!(output.status.success(), "{}", message(&output));
        let said = message(&output);
        let armature = said.lines().filter(|line| line.contains("armature"));
        armature.map(String::from).collect::<Vec<_>>()
    };
    let short = lines(&[]);
    let end = "armature of joint 'j0': left out, because SDFormat has no element for it \
               (5 alike, also 'j1' and 'j2'; --verbose lists all)";
    assert!(short.len() == 1 && short[0].ends_with(end), "{short:?}");
    assert_eq!(lines(&[Path::new("--verbose")]).len(), 5);
}

#[test]
fn files_with_the_suffix_mjcf_are_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let mjcf = folder.path().join("ball.mjcf");
    let output = tarragon("convert", &[&example("table_top/ball.urdf"), &mjcf]);
    assert!(output.status.success(), "{}", message(&output));
    assert_eq!(inspect(&mjcf)["num_bodies"], 2);
}
