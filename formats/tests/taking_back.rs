//! A model that fails to load leaves plant, scene and render engines unchanged.

use nalgebra::Isometry3;
use std::path::Path;
use tarragon_formats::*;
use tarragon_geometry::render::{RenderEngineCpu, RenderEngineCpuParams};
use tarragon_geometry::{ProximityProperties, Role, SceneGraph, Sphere};
use tarragon_multibody::*;

/// A robot whose last link has the given mesh, good or bad. Its other elements change the plant and
/// the scene in many places.
fn robot(mesh: &str) -> String {
    let mesh = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../examples/models")
        .join(mesh);
    format!(
        "<robot name='r' xmlns:drake='http://drake.mit.edu'>
        <link name='world'><collision name='post'><geometry><sphere radius='1'/></geometry></collision>
          <visual name='post'><geometry><sphere radius='1'/></geometry></visual></link>
        <link name='a'><visual><geometry><box size='1 1 1'/></geometry></visual>
          <collision><geometry><box size='1 1 1'/></geometry></collision></link>
        <link name='b'><collision><geometry><mesh filename='{}'/></geometry></collision></link>
        <joint name='j' type='revolute'><parent link='a'/><child link='b'/>
          <limit effort='1' velocity='1' lower='-1' upper='1'/></joint>
        <joint name='k' type='fixed'><parent link='world'/><child link='a'/></joint>
        <transmission name='t'><type>SimpleTransmission</type><joint name='j'/><actuator name='m'/></transmission>
        <frame name='f' link='b'/>
        <drake:collision_filter_group name='g'><drake:member link='a'/></drake:collision_filter_group>
        </robot>",
        mesh.display()
    )
}

const GOOD: &str = "gripper/meshes/finger.obj";
const BAD: &str = "bad/meshes/nan.obj";

fn description(plant: &MultibodyPlantBuilder, scene: &SceneGraph) -> String {
    let i = scene.model_inspector();
    let sources: Vec<_> = i.source_ids().map(|s| i.source_name(s).unwrap()).collect();
    let frames: Vec<_> = i.frame_ids().map(|f| i.frame_name(f).unwrap()).collect();
    let geometries: Vec<_> = i
        .geometry_ids()
        .map(|g| {
            (
                i.name(g).unwrap(),
                i.frame_name(i.frame_id(g).unwrap()).unwrap(),
            )
        })
        .collect();
    format!("{plant:?} {sources:?} {frames:?} {geometries:?}")
}

fn load(plant: &mut MultibodyPlantBuilder, scene: &mut SceneGraph, text: &str) -> Result<()> {
    let mut parser = Parser::with_scene_graph(plant, scene);
    parser.set_auto_renaming(true);
    parser.add_models_from_string(text, "urdf").map(drop)
}

#[test]
fn a_failed_load_leaves_an_empty_plant_empty() {
    let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
    let mut scene = SceneGraph::new();
    let before = description(&plant, &scene);
    let e = load(&mut plant, &mut scene, &robot(BAD)).unwrap_err();
    assert!(e.to_string().contains("nan.obj"), "{e}");
    assert_eq!(description(&plant, &scene), before);
    load(&mut plant, &mut scene, &robot(GOOD)).unwrap();
    assert_ne!(description(&plant, &scene), before);
}

#[test]
fn a_failed_load_keeps_existing_models() {
    let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
    let mut scene = SceneGraph::new();
    let engine = RenderEngineCpu::new(RenderEngineCpuParams::default()).unwrap();
    scene.add_renderer("cpu", engine).unwrap();
    load(&mut plant, &mut scene, &robot(GOOD)).unwrap();
    // Body 'with' has a frame in the scene; body 'without', added before it, has none yet.
    let default = ModelInstanceIndex::DEFAULT;
    for name in ["without", "with"] {
        plant
            .add_rigid_body(name, default, SpatialInertia::zero())
            .unwrap();
    }
    let with = plant.body_by_name("with").unwrap();
    let ball = Sphere::new(0.1).unwrap();
    let role = ProximityProperties::new();
    plant
        .register_collision_geometry(&mut scene, with, Isometry3::identity(), ball, "ball", role)
        .unwrap();
    let before = description(&plant, &scene);
    for _ in 0..2 {
        let bad = robot(BAD).replace("post", "other");
        load(&mut plant, &mut scene, &bad).unwrap_err();
        assert_eq!(description(&plant, &scene), before);
    }
    // The geometry name 'post' is already taken on the world frame.
    load(&mut plant, &mut scene, &robot(GOOD)).unwrap_err();
    assert_eq!(description(&plant, &scene), before);
    let seen = scene
        .model_inspector()
        .num_geometries_with_role(Role::Perception);
    let good = robot(GOOD).replace("post", "other");
    load(&mut plant, &mut scene, &good).unwrap();
    let inspector = scene.model_inspector();
    assert_eq!(
        inspector.num_geometries_with_role(Role::Perception),
        2 * seen
    );
    assert!(
        plant
            .body_frame_id(plant.body_by_name("without").unwrap())
            .is_some()
    );
    plant.build_with_scene(&mut scene).unwrap();
}

#[test]
fn invalid_hydroelastic_properties_are_errors_with_a_position() {
    let text = robot(GOOD).replace(
        "<link name='a'>",
        "<link name='a'><collision name='pad'><geometry><sphere radius='1'/></geometry>
          <drake:proximity_properties><drake:compliant_hydroelastic/>
          <drake:mesh_resolution_hint value='1'/>
          <drake:hydroelastic_modulus value='0'/></drake:proximity_properties></collision>",
    );
    let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
    let mut scene = SceneGraph::new();
    let before = description(&plant, &scene);
    let e = load(&mut plant, &mut scene, &text).unwrap_err().to_string();
    assert!(
        e.contains(":4:") && e.contains("'hydroelastic_modulus') must be positive, got 0.0"),
        "{e}"
    );
    assert_eq!(description(&plant, &scene), before);
}

#[test]
fn many_models_with_meshes_load() {
    let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
    let mut scene = SceneGraph::new();
    let text = robot(GOOD);
    let mut parser = Parser::with_scene_graph(&mut plant, &mut scene);
    for i in 0..400 {
        let text = text.replace("name='r'", &format!("name='r{i}'"));
        let text = text.replace("post", &format!("post{i}"));
        parser.add_models_from_string(&text, "urdf").unwrap();
    }
    assert_eq!(plant.num_bodies(), 801);
    assert_eq!(scene.model_inspector().num_frames(), 801);
}
