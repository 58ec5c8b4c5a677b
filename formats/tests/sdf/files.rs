//! Models that consist of several files.

use std::fs;
use std::path::Path;
use tarragon_formats::Parser;
use tarragon_multibody::{MultibodyPlant, MultibodyPlantBuilder};

const ONE: &str =
    "<sdf version='1.9'><model name='one' placement_frame='pf'><pose>0 0 7 0 0 0</pose>
    <link name='x'/><frame name='pf'><pose>1 0 0 0 0 0</pose></frame></model></sdf>";
const MERGED: &str = "<sdf version='1.9'><model name='mg'><pose>0 0 1 0 0 0</pose><link name='x'/>
    <frame name='f'/><joint name='jx' type='revolute'><parent>x</parent><child>y</child>
    <axis><xyz expressed_in='__model__'>1 0 0</xyz></axis></joint><link name='y'><pose relative_to='f'/></link>
    </model></sdf>";
const ROBOT: &str =
    "<robot name='rob'><link name='u1'/><link name='u2'/><joint name='uj' type='fixed'>
    <parent link='u1'/><child link='u2'/><origin xyz='0 0 1'/></joint></robot>";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("one.sdf", ONE);
    write("merged.sdf", MERGED);
    write("robot.urdf", ROBOT);
    write(
        "dir/model.config",
        "<model><sdf version='1.5'>no.sdf</sdf><sdf version='1.9'>new.sdf</sdf></model>",
    );
    write(
        "dir/new.sdf",
        "<sdf version='1.9'><model name='new'><link name='x'/></model></sdf>",
    );
    let cycle = "<sdf version='1.9'><model name='c'><link name='x'/><include><uri>cycle.sdf</uri></include></model></sdf>";
    write("cycle.sdf", cycle);
    folder
}

/// Loads a world with the given content from a file in the folder.
fn load(folder: &Path, content: &str) -> Result<MultibodyPlant, String> {
    let path = folder.join("top.sdf");
    let text = format!("<sdf version='1.9'><world name='w'>{content}</world></sdf>");
    fs::write(&path, text).unwrap();
    let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
    let mut parser = Parser::new(&mut plant);
    parser.package_map_mut().add("pkg", folder).unwrap();
    parser.add_models(&path).map_err(|e| e.to_string())?;
    let plant = plant.build().unwrap();
    Ok(plant)
}

fn include(uri: &str, rest: &str) -> String {
    format!("<include><uri>{uri}</uri>{rest}</include>")
}

#[test]
fn models_are_included_by_all_kinds_of_uri() {
    let folder = folder();
    let file = format!("file://{}/one.sdf", folder.path().display());
    for uri in [
        "package://pkg/one.sdf",
        "model://pkg/one.sdf",
        "one.sdf",
        &file,
    ] {
        let plant = load(folder.path(), &include(uri, "")).unwrap();
        // The placement frame is 1 m ahead of the link.
        assert_eq!(plant.default_positions()[4..], [-1.0, 0.0, 7.0], "{uri}");
    }
    let plant = load(
        folder.path(),
        &include("dir", "<name>renamed</name><static>1</static>"),
    )
    .unwrap();
    assert_eq!(plant.model_instance_names()[2..], ["renamed"]);
    assert_eq!(plant.num_positions(), 0);
    let moved = include(
        "one.sdf",
        "<placement_frame>x</placement_frame><pose>3 0 0 0 0 0</pose>",
    );
    let plant = load(folder.path(), &moved).unwrap();
    assert_eq!(plant.default_positions()[4..], [3.0, 0.0, 0.0]);
}

#[test]
fn merged_models_share_the_scope_of_their_parent() {
    let folder = folder();
    let merge = include("merged.sdf", "<pose>5 0 0 0 0 0</pose>")
        .replace("<include>", "<include merge='true'>");
    let plant = load(
        folder.path(),
        &format!("<model name='m'><link name='a'/>{merge}</model>"),
    )
    .unwrap();
    assert_eq!(plant.model_instance_names()[2..], ["m"]);
    let bodies: Vec<&str> = plant.bodies().map(|(_, b)| b.name()).collect();
    assert_eq!(bodies, ["world", "a", "x", "y"]);
    let frames: Vec<&str> = plant.frames().skip(4).map(|(_, f)| f.name()).collect();
    assert_eq!(
        frames,
        ["__model__", "jx_child", "_merged__mg__model__", "f"]
    );
    let mut poses = vec![];
    let q = plant.default_positions();
    plant.calc_body_poses(&q, &mut poses).unwrap();
    assert_eq!(poses[3].translation.vector.as_slice(), [5.0, 0.0, 0.0]);
}

#[test]
fn urdf_is_included_before_the_models_around_it() {
    let folder = folder();
    let robot = include(
        "robot.urdf",
        "<name>r</name><pose relative_to='b'>0 5 0 0 0 0</pose>",
    );
    let content = format!(
        "<model name='m'><link name='a'/><link name='b'><pose>1 0 0 0 0 0</pose></link>{robot}
        <frame name='ff' attached_to='r::u2'/></model>"
    );
    let plant = load(folder.path(), &content).unwrap();
    assert_eq!(plant.model_instance_names()[2..], ["m::r", "m"]);
    let ff = plant
        .frame(plant.frame_by_name("m::r::ff").unwrap())
        .unwrap();
    assert_eq!(plant.body(ff.body()).unwrap().name(), "u2");
    let mut poses = vec![];
    plant
        .calc_body_poses(&plant.default_positions(), &mut poses)
        .unwrap();
    let u2 = poses[plant.body_by_name("u2").unwrap().index()];
    assert_eq!(u2.translation.vector.as_slice(), [1.0, 5.0, 1.0]);
}

#[test]
fn invalid_includes_are_refused() {
    let folder = folder();
    for (content, expected) in [
        (include("cycle.sdf", ""), "includes itself"),
        (include("nowhere.sdf", ""), "does not exist"),
        (
            include("one.sdf", "<placement_frame>x</placement_frame>"),
            "needs a <pose>",
        ),
        (include("robot.urdf", "<static>1</static>"), "made static"),
        (
            include("one.sdf", "").replace("<include>", "<include merge='true'>"),
            "into a <model>",
        ),
        (include("one.sdf", "") + &include("one.sdf", ""), "taken"),
    ] {
        let said = load(folder.path(), &content).err().unwrap();
        assert!(said.contains(expected), "{content}: {said}");
    }
}

#[test]
fn a_merged_model_frame_moves_with_its_canonical_link_or_the_outer_model() {
    let folder = folder();
    let inner = "<model name='n' canonical_link='c'><link name='b'/><link name='c'/></model>";
    let write = |name: &str, content: &str| {
        let text = format!("<sdf version='1.9'><model name='{name}'>{content}</model></sdf>");
        fs::write(folder.path().join(format!("{name}.sdf")), text).unwrap();
    };
    write("deep", inner);
    write("still", "<static>1</static><frame name='f'/>");
    for (name, body) in [("deep", "c"), ("still", "a")] {
        let merge =
            include(&format!("{name}.sdf"), "").replace("<include>", "<include merge='true'>");
        let text = format!("<model name='m'><link name='a'/>{merge}</model>");
        let plant = load(folder.path(), &text).unwrap();
        let frame = plant.frame_by_name(&format!("_merged__{name}__model__"));
        let frame = plant.frame(frame.unwrap()).unwrap();
        assert_eq!(plant.body(frame.body()).unwrap().name(), body);
    }
}
