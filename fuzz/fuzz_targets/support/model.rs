//! Checks of the parsers of all model formats.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tarragon_documents::PackageMap;
use tarragon_formats::{ModelWriter, OutputFormat, Parser};
use tarragon_geometry::{BoxShape, ProximityProperties, SceneGraph};
use tarragon_multibody::{
    ModelInstanceIndex, MultibodyPlant, MultibodyPlantBuilder, SpatialInertia,
};

/// Files that models may refer to, by `package://p/` or by relative names.
const FILES: [(&str, &str); 10] = [
    (
        "box.obj",
        "o box\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n",
    ),
    (
        "arm.urdf",
        "<robot name='arm'><link name='base'><collision><geometry><sphere radius='1'/></geometry>\
         </collision></link><link name='tip'/><joint name='j' type='revolute'><parent link='base'/>\
         <child link='tip'/><axis xyz='0 0 1'/></joint><frame name='fr' link='tip' xyz='1 0 0'/></robot>",
    ),
    (
        "ball.sdf",
        "<sdf version='1.9'><model name='ball'><link name='ball'><collision name='c'><geometry><sphere>\
         <radius>1</radius></sphere></geometry></collision></link><model name='in'><pose>1 0 0 0 0 0</pose>\
         <link name='b'/></model></model></sdf>",
    ),
    (
        "two.xml",
        "<mujoco model='two'><worldbody><body name='a'><geom size='.1'/><body name='b'><joint name='h'/>\
         <geom size='.1'/></body></body></worldbody></mujoco>",
    ),
    (
        "part.xml",
        "<mujocoinclude><body name='part'><joint name='k'/><geom size='.1'/></body></mujocoinclude>",
    ),
    (
        "sub.dmd.yaml",
        "directives:\n- add_model: {name: s, file: arm.urdf}\n\
         - add_frame: {name: inner, X_PF: {base_frame: s::base, translation: [1, 2, 3]}}\n",
    ),
    (
        "folder/model.sdf",
        "<sdf version='1.9'><model name='f'><link name='l'/></model></sdf>",
    ),
    (
        "part.xacro",
        "<x xmlns:xacro='http://www.ros.org/wiki/xacro'><xacro:property name='q' value='2'/>\
         <xacro:macro name='part' params='n *b'><link name='p${n}'><xacro:insert_block name='b'/></link>\
         </xacro:macro></x>",
    ),
    (
        "part.yaml",
        "a: [1, !degrees 90, {b: 0x1F}]\nc: &c {d: yes}\ne: {<<: *c, f: 1.5e+3}\n",
    ),
    ("package.xml", "<package><name>p</name></package>"),
];

/// Returns the folder with these files. The parsed model is written to the same folder, so that it
/// can refer to itself.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in FILES {
            let path: PathBuf = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        folder
    });
    folder.path()
}

/// Returns true if a text may name files outside the folder, which differ between machines.
fn reaches_out(bytes: &[u8]) -> bool {
    let mut before = b' ';
    for (i, byte) in bytes.iter().enumerate() {
        let rest = &bytes[i..];
        // Finds absolute paths, parent folders, file URLs, and character references, which may hide
        // any of these.
        if *byte == b'/' && !before.is_ascii_alphanumeric() && !matches!(before, b'<' | b':' | b'/')
        {
            let closes_element = rest.get(1) == Some(&b'>');
            if !closes_element {
                return true;
            }
        }
        if rest.starts_with(b"..")
            || rest.starts_with(b"&#")
            || rest.starts_with(b"file:")
            || *byte == b'\\'
        {
            return true;
        }
        before = *byte;
    }
    false
}

/// Describes everything that a failed parse must leave unchanged.
fn description(plant: &MultibodyPlantBuilder, scene: &SceneGraph) -> String {
    let scene = scene.model_inspector();
    let geometries: Vec<_> = scene.geometry_ids().map(|g| scene.name(g).ok()).collect();
    let frames: Vec<_> = scene
        .frame_ids()
        .map(|f| scene.frame_name(f).ok())
        .collect();
    format!(
        "{plant:?} {:?} {frames:?} {geometries:?}",
        scene.num_sources()
    )
}

const FORMATS: [OutputFormat; 3] = [OutputFormat::Urdf, OutputFormat::Sdf, OutputFormat::Mjcf];

/// Writes a model and reads it back.
fn check_writing(plant: &MultibodyPlant, scene: &SceneGraph, format: OutputFormat) {
    let mut writer = ModelWriter::with_scene_graph(plant, scene);
    writer.set_directory(folder());
    // Models with positions of 1e100 m and more cannot be written.
    let Ok(written) = writer.write(format) else {
        return;
    };
    let mut again = MultibodyPlantBuilder::new(0.001).expect("a positive time step");
    let mut scene = SceneGraph::new();
    let mut parser = Parser::with_scene_graph(&mut again, &mut scene);
    let file = folder().join(format!("written.{}", format.suffix()));
    fs::write(&file, &written.text).expect("a file");
    if let Err(error) = parser.add_models(&file) {
        panic!("{error}\n{}", written.text);
    }
}

/// Parses a model from a file of this name into a plant that is not empty.
pub fn check(bytes: &[u8], name: &str) {
    if reaches_out(bytes) {
        return;
    }
    let file = folder().join(name);
    fs::write(&file, bytes).expect("a file");
    let mut plant = MultibodyPlantBuilder::new(0.001).expect("a positive time step");
    let mut scene = SceneGraph::new();
    let model = ModelInstanceIndex::DEFAULT;
    let body = plant
        .add_rigid_body("old", model, SpatialInertia::zero())
        .expect("a body");
    plant
        .register_as_source_for_scene_graph(&mut scene)
        .expect("a source");
    let cube = BoxShape::new(1.0, 1.0, 1.0).expect("a box");
    let role = ProximityProperties::new();
    plant
        .register_collision_geometry(&mut scene, body, Default::default(), cube, "old", role)
        .expect("a geometry");
    let before = description(&plant, &scene);
    let mut parser = Parser::with_scene_graph(&mut plant, &mut scene);
    // The default packages would be downloaded.
    *parser.package_map_mut() = PackageMap::make_empty();
    parser
        .package_map_mut()
        .add("p", folder())
        .expect("a package");
    if parser.add_models(&file).is_err() {
        let said = parser.diagnostics().iter().any(|d| !d.message.is_empty());
        assert!(said, "an error without a message");
        assert_eq!(description(&plant, &scene), before);
        return;
    }
    let Ok(plant) = plant.build_with_scene(&mut scene) else {
        return;
    };
    // Large models take long without exercising more code.
    if plant.num_velocities() > 300 {
        return;
    }
    check_writing(&plant, &scene, FORMATS[bytes.len() % FORMATS.len()]);
    let q = plant.default_positions();
    assert_eq!(q.len(), plant.num_positions());
    let Ok(kinematics) = plant.calc_position_kinematics(&q) else {
        return;
    };
    let m = plant.calc_mass_matrix(&kinematics).expect("a mass matrix");
    let tau = plant
        .calc_gravity_generalized_forces(&kinematics)
        .expect("gravity");
    assert_eq!(
        (m.nrows(), tau.len()),
        (plant.num_velocities(), plant.num_velocities())
    );
}
