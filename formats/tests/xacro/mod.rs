//! Xacro files: models made from them, mistakes in them, and `xacro` as their peer.

mod hostile;

use super::support::loaded::{Loaded, load_with};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn files() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../documents/tests/xacro/files")
}

fn load(path: &Path, arguments: &[(&str, &str)]) -> Loaded {
    load_with(|parser| {
        for (name, value) in arguments {
            parser.set_xacro_argument(*name, *value);
        }
        parser.add_models(path)
    })
}

/// Writes files into a folder.
fn folder_with(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

#[test]
fn urdf_is_made_from_xacro() {
    let loaded = load(&files().join("vehicle.xacro"), &[]);
    let model = loaded.result.as_ref().unwrap()[0];
    assert_eq!(loaded.plant.model_instance_name(model).unwrap(), "vehicle");
    assert!(loaded.plant.body_by_name("right_1").is_ok());
    assert_eq!(loaded.plant.num_joints(), 4);
    let longer = load(&files().join("vehicle.xacro"), &[("count", "3")]);
    assert_eq!(longer.plant.num_joints(), 6);
}

#[test]
fn sdformat_and_mjcf_are_made_from_xacro() {
    let boxes = load(&files().join("sdf.xacro"), &[]);
    boxes.result.as_ref().unwrap();
    assert!(boxes.plant.body_by_name("b").is_ok());
    let pendulum = load(&files().join("mujoco.xacro"), &[]);
    pendulum.result.as_ref().unwrap();
    assert!(pendulum.plant.body_by_name("arm").is_ok());
}

#[test]
fn other_files_refer_to_xacro_files() {
    let robot = "<robot name='r' xmlns:xacro='http://www.ros.org/wiki/xacro'>\
                 <xacro:arg name='n' default='1'/><link name='l$(arg n)'/></robot>";
    let model = "<sdf version='1.9' xmlns:xacro='http://www.ros.org/wiki/xacro'><model name='s'>\
                 <link name='${1 + 1}'/></model></sdf>";
    let folder = folder_with(&[
        ("r.urdf.xacro", robot),
        ("s.sdf.xacro", model),
        (
            "d.dmd.yaml",
            "directives: [{add_model: {name: m, file: r.urdf.xacro}}]",
        ),
        (
            "w.sdf",
            "<sdf version='1.9'><world name='w'><include><uri>r.urdf.xacro</uri></include>\
             <include><uri>s.sdf.xacro</uri></include></world></sdf>",
        ),
    ]);
    let directives = load(&folder.path().join("d.dmd.yaml"), &[("n", "2")]);
    directives.result.as_ref().unwrap();
    assert!(directives.plant.body_by_name("l2").is_ok());
    let world = load(&folder.path().join("w.sdf"), &[("n", "3")]);
    world.result.as_ref().unwrap();
    assert!(world.plant.body_by_name("l3").is_ok() && world.plant.body_by_name("2").is_ok());
}

#[test]
fn included_xacro_files_are_expanded_once_within_their_package() {
    let robot = "<robot name='r' xmlns:xacro='http://www.ros.org/wiki/xacro'>\
                 <xacro:include filename='$(find own)/part.xacro'/>\
                 <link name='l${xacro.warning(1)}'/></robot>";
    let model = robot.replace("<robot name='r'", "<sdf version='1.9'");
    let model = model.replace("<link name='l${xacro.warning(1)}'/></robot>", "</sdf>");
    let part = "<x xmlns:xacro='http://www.ros.org/wiki/xacro'><link name='p'/></x>";
    let model_part = "<x><model name='s'><link name='q'/></model></x>";
    let folder = folder_with(&[(
        "w.sdf",
        "<sdf version='1.9'><world name='w'><include><uri>own/r.urdf.xacro</uri></include>\
         <include><uri>own/s.sdf.xacro</uri></include></world></sdf>",
    )]);
    let own = folder.path().join("own");
    std::fs::create_dir(&own).unwrap();
    let package = "<package><name>own</name></package>";
    for (name, text) in [
        ("package.xml", package),
        ("r.urdf.xacro", robot),
        ("part.xacro", part),
        ("s.sdf.xacro", &model.replace("part", "model_part")),
        ("model_part.xacro", model_part),
    ] {
        std::fs::write(own.join(name), text).unwrap();
    }
    let mut files = vec![];
    let loaded = load_with(|parser| {
        let added = parser.add_models(folder.path().join("w.sdf"));
        files.extend(
            parser
                .xacro_files()
                .iter()
                .map(|f| f.file_name().unwrap().to_owned()),
        );
        added
    });
    loaded.result.as_ref().unwrap();
    assert!(loaded.plant.body_by_name("p").is_ok() && loaded.plant.body_by_name("q").is_ok());
    let said: Vec<_> = loaded
        .diagnostics
        .iter()
        .filter(|d| d.message == "1")
        .collect();
    assert_eq!(said.len(), 1, "{said:?}");
    let known = [
        "model_part.xacro",
        "part.xacro",
        "r.urdf.xacro",
        "s.sdf.xacro",
    ];
    assert_eq!(files, known);
}

#[test]
fn diagnostics_of_models_point_to_the_xacro_files() {
    let main = "<robot name='r' xmlns:xacro='http://www.ros.org/wiki/xacro'>\n\
                <xacro:include filename='part.xacro'/>\n<link name='a'/>\n\
                <xacro:part child='b'/>\n</robot>";
    let part = "<x xmlns:xacro='http://www.ros.org/wiki/xacro'>\n\
                <xacro:macro name='part' params='child'>\n  <link name='${child}'/>\n  \
                <joint name='j' type='telescopic'>\n    <parent link='a'/>\n    \
                <child link='${child}'/>\n  </joint>\n</xacro:macro></x>";
    let folder = folder_with(&[("main.xacro", main), ("part.xacro", part)]);
    let loaded = load(&folder.path().join("main.xacro"), &[]);
    let error = loaded.result.unwrap_err();
    let place = error.location().unwrap();
    assert!(place.file.ends_with("part.xacro"), "{error}");
    assert_eq!((place.line, place.column), (4, 19), "{error}");
}

#[test]
fn diagnostics_of_sdformat_and_mjcf_point_to_the_xacro_files() {
    let part = "<x xmlns:xacro='http://www.ros.org/wiki/xacro'>\n\
                <xacro:macro name='l'>\n <link name='l'><colour/></link>\n</xacro:macro>\n\
                <xacro:macro name='b'>\n <body><shape/></body>\n</xacro:macro></x>";
    let head = "xmlns:xacro='http://www.ros.org/wiki/xacro'><xacro:include filename='part.xacro'/>";
    let sdf = format!("<sdf version='1.9' {head}<model name='m'><xacro:l/></model></sdf>");
    let mjcf = format!("<mujoco model='m' {head}<worldbody><xacro:b/></worldbody></mujoco>");
    let folder = folder_with(&[("part.xacro", part), ("s.xacro", &sdf), ("m.xacro", &mjcf)]);
    for (name, line) in [("s.xacro", 3), ("m.xacro", 6)] {
        let loaded = load(&folder.path().join(name), &[]);
        let found = loaded.diagnostics.iter();
        let places: Vec<String> = found.map(|d| d.to_string()).collect();
        let wanted = format!("part.xacro:{line}:");
        assert!(
            places.iter().any(|p| p.contains(&wanted)),
            "{name}: {places:?}"
        );
    }
}

#[test]
fn mistakes_are_errors_with_a_place() {
    let folder = files().parent().unwrap().join("bad");
    // Each line holds a file, the place of its mistake and a part of the message.
    let messages = std::fs::read_to_string(folder.join("messages.txt")).unwrap();
    let messages: BTreeMap<&str, &str> = messages
        .lines()
        .filter_map(|line| line.split_once(": "))
        .collect();
    let here = format!("{}/", folder.display());
    let mut wrong = vec![];
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "xacro") {
            continue;
        }
        let loaded = load(&path, &[]);
        let error = loaded.result.unwrap_err();
        let place = error.location().unwrap();
        assert!(place.line > 0 && place.column > 0, "{error}");
        assert!(place.file.ends_with(".xacro"), "{error}");
        let name = path.file_stem().unwrap().to_str().unwrap();
        let (line, column) = (place.line, place.column);
        let found = error.to_string().replace(&here, "");
        let wanted = messages.get(name).and_then(|m| m.split_once(' '));
        let is_right = wanted
            .is_some_and(|(at, part)| at == format!("{line}:{column}") && found.contains(part));
        if !is_right {
            wrong.push(format!("{name}: {line}:{column} {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(messages.len() > 40);
}

#[test]
fn texts_may_be_xacro() {
    let text = "<robot name='r' xmlns:xacro='http://www.ros.org/wiki/xacro'><link name='${1}'/>\
                </robot>";
    let loaded = load_with(|parser| parser.add_models_from_string(text, "xacro"));
    loaded.result.as_ref().unwrap();
    assert!(loaded.plant.body_by_name("1").is_ok());
    let other = load_with(|parser| parser.add_models_from_string("<other/>", "xacro"));
    let error = other.result.unwrap_err().to_string();
    assert!(
        error.contains("must be <robot>, <sdf> or <mujoco>, got <other>"),
        "{error}"
    );
}
