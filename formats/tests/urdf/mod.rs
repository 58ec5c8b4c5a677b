//! Behaviour of the URDF parser, one property per test. The recorded models of the reference set
//! are in the conformance tests of the root package.

mod appearance;
mod diagnostics;
mod drake;
mod mutations;

use crate::support::loaded::{Loaded, load_with};
use nalgebra::Vector3;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use tarragon_documents::Severity;
use tarragon_formats::*;
use tarragon_geometry::render::{
    ColorRenderCamera, DepthRenderCamera, ImageDepth32F, ImageLabel16I, ImageRgba8U, RenderEngine,
    RenderEngineCpu, RenderEngineCpuParams, RenderView,
};
use tarragon_geometry::{
    GeometryId, PerceptionProperties, ProximityProperties, RenderLabel, Rgba, Role, SceneGraph,
    Shape,
};
use tarragon_multibody::*;

const ROBOT: &str = r#"<?xml version="1.0"?>
<robot name="r" xmlns:drake="http://drake.mit.edu">
  <material name="red"><color rgba="1 0 0 1"/></material>
  <link name="base">
    <inertial><origin xyz="0 0 1" rpy="0 0 0"/><mass value="2"/>
      <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>
    <visual><geometry><box size="1 2 3"/></geometry><material name="red"/></visual>
    <visual name="lid"><geometry><drake:ellipsoid a="1" b="2" c="3"/></geometry></visual>
    <collision><origin xyz="1 2 3"/><geometry><capsule radius="0.1" length="2"/></geometry>
      <drake:proximity_properties><drake:mu_static value="0.8"/><drake:mu_dynamic value="0.3"/>
        <drake:compliant_hydroelastic/><drake:hydroelastic_modulus value="1e6"/><drake:mesh_resolution_hint value="0.1"/>
        <tarragon:max_convex_pieces value="16"/>
      </drake:proximity_properties></collision>
  </link>
  <link name="tip"><collision><geometry><sphere radius="0.5"/></geometry></collision></link>
  <link name="end"><collision><geometry><sphere radius="0.5"/></geometry></collision></link>
  <joint name="slide" type="prismatic"><parent link="base"/><child link="tip"/>
    <origin xyz="0 0 1"/><axis xyz="0 0 2"/><dynamics damping="0.5" friction="0"/>
    <limit lower="-1" upper="2" velocity="3" effort="4" drake:acceleration="5"/></joint>
  <joint name="turn" type="continuous"><parent link="tip"/><child link="end"/>
    <mimic joint="slide" multiplier="2" offset="0.1"/></joint>
  <frame name="grasp" link="tip" xyz="0 0 0.5"/>
  <transmission name="t"><type>SimpleTransmission</type><joint name="slide"/>
    <actuator name="motor"><drake:gear_ratio value="7"/></actuator></transmission>
  <drake:collision_filter_group name="g"><drake:member link="base"/><drake:member link="end"/>
    <drake:ignored_collision_filter_group name="g"/></drake:collision_filter_group>
</robot>
"#;

fn load(text: &str) -> Loaded {
    load_with(|p| p.add_models_from_string(text, "urdf"))
}

fn load_file(path: &Path) -> Loaded {
    load_with(|p| p.add_models(path))
}

fn error_of(text: &str) -> String {
    let loaded = load(text);
    assert_eq!(loaded.plant.num_bodies(), 1, "the plant must be unchanged");
    assert_eq!(loaded.scene.model_inspector().num_geometries(), 0);
    loaded.result.unwrap_err().to_string()
}

/// A robot with two links and the given joint.
fn with_joint(joint: &str) -> String {
    format!("<robot name='r'>\n<link name='a'/><link name='b'/>\n{joint}</robot>")
}

fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/models")
}

#[test]
fn all_elements_of_a_robot_are_loaded() {
    let r = load(ROBOT).ok();
    let instance = r.result.unwrap()[0];
    assert_eq!(r.diagnostics, []);
    let p = &r.plant;
    assert_eq!(p.model_instance_name(instance).unwrap(), "r");
    assert_eq!(p.position_names()[6..], ["base_z", "slide", "turn"]);

    let base = p.body_by_name("r::base").unwrap();
    let inertia = p.body(base).unwrap().spatial_inertia();
    assert_eq!(inertia.mass(), 2.0);
    assert_eq!(inertia.center_of_mass(), Vector3::z());
    assert_eq!(inertia.rotational_inertia()[(0, 0)], 2.1);

    let slide = p.joint_by_name("slide").unwrap();
    let joint = p.joint(slide).unwrap();
    assert_eq!(joint.position_lower_limits(), [-1.0]);
    assert_eq!(joint.velocity_upper_limits(), [3.0]);
    assert_eq!(joint.acceleration_upper_limits(), [5.0]);
    assert_eq!(joint.damping(), [0.5]);
    let motor = &p.actuators()[0];
    assert_eq!((motor.name(), motor.joint()), ("motor", Some(slide)));
    assert_eq!(
        (motor.effort_limit(), motor.default_gear_ratio()),
        (4.0, 7.0)
    );
    let coupler = *p.coupler_constraints().next().unwrap();
    assert_eq!(
        (coupler.joint1, coupler.gear_ratio, coupler.offset),
        (slide, 2.0, 0.1)
    );
    let grasp = p.frame_by_name("grasp").unwrap();
    assert_eq!(p.frame(grasp).unwrap().pose_in_body().translation.z, 0.5);

    let inspector = r.scene.model_inspector();
    let names = inspector
        .geometry_ids()
        .map(|id| inspector.name(id).unwrap());
    let names: Vec<&str> = names.collect();
    assert_eq!(
        names,
        ["r::Box", "r::lid", "r::Capsule", "r::Sphere", "r::Sphere"]
    );
    let [visual, lid] = p.visual_geometries(base) else {
        panic!("there must be two visuals");
    };
    let look = inspector.illustration_properties(*visual).unwrap().unwrap();
    let color: &Rgba = look.get("phong", "diffuse").unwrap();
    assert_eq!(color.rgba(), [1.0, 0.0, 0.0, 1.0]);
    assert!(matches!(
        inspector.shape(*lid).unwrap(),
        Shape::Ellipsoid(_)
    ));
    let [capsule] = p.collision_geometries(base) else {
        panic!("there must be one collision geometry");
    };
    let contact: &ProximityProperties = inspector.proximity_properties(*capsule).unwrap().unwrap();
    let friction: &CoulombFriction = contact.get("material", "coulomb_friction").unwrap();
    assert_eq!(friction.dynamic_friction(), 0.3);
    let pieces: &usize = contact.get("convex_decomposition", "max_pieces").unwrap();
    assert_eq!(*pieces, 16);
    let kind: &HydroelasticType = contact.get("hydroelastic", "compliance_type").unwrap();
    assert_eq!(*kind, HydroelasticType::Compliant);
    // base-tip and tip-end are neighbours, base-end is filtered by the group.
    assert_eq!(inspector.collision_candidates(), []);
}

#[test]
fn our_own_models_load_without_diagnostics() {
    for (model, nq) in [
        ("arm7/arm7.urdf", 14),
        ("gripper/gripper.urdf", 9),
        ("mobile_base/mobile_base.urdf", 9),
        ("table_top/table.urdf", 7),
        ("table_top/mug.urdf", 7),
        ("table_top/box.urdf", 7),
        ("table_top/bottle.urdf", 7),
        ("table_top/ball.urdf", 7),
    ] {
        let r = load_file(&models().join(model));
        if let Err(error) = r.result {
            panic!("{model}: {error}");
        }
        assert_eq!(r.diagnostics, [], "{model}");
        let r = r.ok();
        // The model itself may fix the arm to the world.
        assert!([nq, nq - 7].contains(&r.plant.num_positions()), "{model}");
        let inspector = r.scene.model_inspector();
        assert!(
            inspector.num_geometries_with_role(Role::Proximity) > 0,
            "{model}"
        );
        assert!(
            inspector.num_geometries_with_role(Role::Perception) > 0,
            "{model}"
        );
    }
}

#[test]
fn bad_models_are_rejected_with_their_position() {
    for (model, place, message) in [
        ("bad_number.urdf", ":3:", "must hold numbers"),
        (
            "duplicate_joint.urdf",
            ":7:",
            "names of joints must be unique, got 'ab' twice",
        ),
        (
            "duplicate_link.urdf",
            ":5:",
            "names of links must be unique, got 'b' twice",
        ),
        ("empty.urdf", ":1:", "got an empty file"),
        ("loop.urdf", ":8:", "joint 'ac' closes a loop: 'loop::"),
        ("malformed_xml.urdf", ":6:", "malformed XML"),
        (
            "missing_child.urdf",
            ":5:",
            "there is no link named 'nowhere'",
        ),
        ("missing_mesh.urdf", ":3:", "does not exist"),
        (
            "missing_parent.urdf",
            ":5:",
            "there is no link named 'nowhere'",
        ),
        ("unknown_joint_type.urdf", ":5:", "got 'telescopic'"),
        (
            "zero_axis.urdf",
            ":5:",
            "the axis must be finite and not zero, got [0.0, 0.0, 0.0]",
        ),
        ("bad_index_mesh.urdf", ":3:", "bad_index"),
        ("nan_mesh.urdf", ":3:", "nan"),
    ] {
        let file = models().join("bad").join(model);
        let r = load_file(&file);
        let Err(error) = &r.result else {
            panic!("{model} must be rejected");
        };
        let error = error.to_string();
        let place = format!("{}{place}", file.display());
        assert!(error.starts_with(&place), "{model}: {error}");
        assert!(error.contains(message), "{model}: {error}");
        assert_eq!(
            r.plant.num_bodies(),
            1,
            "{model}: the plant must be unchanged"
        );
        assert_eq!(r.plant.num_model_instances(), 2, "{model}");
        assert_eq!(r.scene.model_inspector().num_sources(), 1, "{model}");
    }
    let e = load_file(&models().join("bad/not_a_robot.xml"))
        .result
        .unwrap_err();
    assert!(e.to_string().contains("must be <mujoco>"), "{e}");
    assert!(error_of("<recipe name='x'/>").contains("must be <robot>"));
}

/// Drake 1.51.1 also replaces it with 1 kg.
#[test]
fn a_negative_mass_is_replaced_with_a_warning() {
    let r = load_file(&models().join("bad/negative_mass.urdf"));
    r.result.unwrap();
    assert!(
        r.diagnostics[0]
            .message
            .contains("the mass must be positive if there is an inertia, got -1.0 kg")
    );
    assert_eq!(r.diagnostics[0].line, 3);
    let mass = r.plant.bodies().nth(1).unwrap().1.spatial_inertia().mass();
    assert!((mass - 1.0).abs() < 1e-15);
}

#[test]
fn an_impossible_inertia_is_replaced_with_a_warning() {
    let r = load_file(&models().join("bad/bad_inertia.urdf"));
    r.result.unwrap();
    let [warning] = &r.diagnostics[..] else {
        panic!("there must be one warning, got {:?}", r.diagnostics);
    };
    assert_eq!((warning.severity, warning.line), (Severity::Warning, 3));
    assert!(warning.message.contains("link 'a'"), "{warning}");
    assert!(warning.message.contains("izz=0.05"), "{warning}");
    let a = r.plant.body_by_name("a").unwrap();
    let inertia = r.plant.body(a).unwrap().spatial_inertia();
    assert_eq!(inertia.mass(), 1.0);
    let radius = (3.0 / (4.0 * std::f64::consts::PI * 1000.0)).cbrt();
    let moment = inertia.rotational_inertia()[(0, 0)];
    assert!((moment - 0.4 * radius * radius).abs() < 1e-15);
}

/// Render engine that only records its visuals, in a set shared with its copies.
#[derive(Clone)]
struct Ledger(Arc<Mutex<BTreeSet<GeometryId>>>);

impl RenderEngine for Ledger {
    fn register_visual(
        &mut self,
        id: GeometryId,
        _: &Shape,
        _: &PerceptionProperties,
    ) -> Result<bool> {
        Ok(self.0.lock().unwrap().insert(id))
    }
    fn remove_visual(&mut self, id: GeometryId) -> bool {
        self.0.lock().unwrap().remove(&id)
    }
    fn has_visual(&self, id: GeometryId) -> bool {
        self.0.lock().unwrap().contains(&id)
    }
    fn render_color(
        &self,
        _: &RenderView<'_>,
        _: &ColorRenderCamera,
        _: &mut ImageRgba8U,
    ) -> Result<()> {
        Ok(())
    }
    fn render_depth(
        &self,
        _: &RenderView<'_>,
        _: &DepthRenderCamera,
        _: &mut ImageDepth32F,
    ) -> Result<()> {
        Ok(())
    }
    fn render_label(
        &self,
        _: &RenderView<'_>,
        _: &ColorRenderCamera,
        _: &mut ImageLabel16I,
    ) -> Result<()> {
        Ok(())
    }
    fn default_render_label(&self) -> RenderLabel {
        RenderLabel::DONT_CARE
    }
}

#[test]
fn render_engines_keep_no_visual_of_a_failed_model() {
    let ball = "<visual><geometry><sphere radius='1'/></geometry></visual>";
    let mesh = models().join("bad/meshes/nan.obj");
    let mesh = format!(
        "<collision><geometry><mesh filename='{}'/></geometry></collision>",
        mesh.display()
    );
    let robot = |content: &str| format!("<robot name='r'><link name='a'>{content}</link></robot>");
    let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
    let (mut scene, seen) = (SceneGraph::new(), Arc::default());
    scene
        .add_renderer("ledger", Ledger(Arc::clone(&seen)))
        .unwrap();
    let mut parser = Parser::with_scene_graph(&mut plant, &mut scene);
    let bad = robot(&format!("{ball}{mesh}"));
    parser.add_models_from_string(&bad, "urdf").unwrap_err();
    assert_eq!(seen.lock().unwrap().len(), 0);
    parser.add_models_from_string(&robot(ball), "urdf").unwrap();
    assert_eq!(seen.lock().unwrap().len(), 1);
}

/// The texture is the property that render engines read: of another type, it would be an error.
#[test]
fn render_engines_accept_textures_of_models() {
    let folder = tempfile::tempdir().unwrap();
    let texture = folder.path().join("wood.png");
    std::fs::write(&texture, "not read for a ball").unwrap();
    let urdf = format!(
        "<robot name='r'><link name='a'><visual><geometry><sphere radius='1'/></geometry>
         <material name='m'><texture filename='{}'/></material></visual></link></robot>",
        texture.display()
    );
    let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
    let mut scene = SceneGraph::new();
    let engine = RenderEngineCpu::new(RenderEngineCpuParams::default()).unwrap();
    scene.add_renderer("cpu", engine).unwrap();
    let mut parser = Parser::with_scene_graph(&mut plant, &mut scene);
    parser.add_models_from_string(&urdf, "urdf").unwrap();
    let ball = scene.model_inspector().geometry_ids().next().unwrap();
    let properties = scene.model_inspector().perception_properties(ball).unwrap();
    let map = properties.unwrap().get::<String>("phong", "diffuse_map");
    assert_eq!(Path::new(map.unwrap()), texture);
}

#[test]
fn without_a_scene_meshes_are_not_looked_up() {
    let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
    let mut parser = Parser::new(&mut plant);
    let file = models().join("bad/missing_mesh.urdf");
    parser.add_models(file).unwrap();
    assert_eq!(parser.diagnostics(), []);
    assert_eq!(plant.num_bodies(), 2);
}

#[test]
fn joint_errors_have_line_and_column() {
    for (joint, message) in [
        (
            "<joint name='j' type='curvilinear'/>",
            "3:17: error: joint 'j': 'curvilinear' is a joint type of Drake and must be in a <drake:joint>",
        ),
        (
            "<joint name='j' type='ball'/>",
            "3:17: error: joint 'j': 'ball' is a joint type of Drake and must be in a <drake:joint>",
        ),
        (
            "<joint name='j'/>",
            "3:1: error: <joint> has no attribute 'type'",
        ),
        (
            "<joint name='j' type='fixed'><child link='b'/></joint>",
            "3:1: error: joint 'j' has no <parent>",
        ),
        (
            "<joint name='j' type='fixed'><parent link='a'/><child link='a'/></joint>",
            "3:1: error: joint 'j' connects body 'r::a' to itself",
        ),
        (
            "<joint name='j' type='revolute'><parent link='a'/><child link='b'/><limit lower='2' upper='1'/></joint>",
            "3:68: error: joint 'j': the lower position limit must not be above the upper one, got [2.0, 1.0]",
        ),
        (
            "<joint name='j' type='revolute'><parent link='a'/><child link='b'/><axis xyz='1 nan 0'/></joint>",
            "3:74: error: attribute 'xyz' must hold numbers, got 'nan'",
        ),
        (
            "<joint name='j' type='revolute'><parent link='a'/><child link='b'/><origin rpy='1 2'/></joint>",
            "3:76: error: attribute 'rpy' must have 3 numbers, got 2",
        ),
        (
            "<drake:joint name='j' type='fixed'><parent link='a'/><child link='b'/></drake:joint>",
            "3:23: error: joint 'j': 'fixed' is a standard joint type",
        ),
    ] {
        let e = error_of(&with_joint(joint));
        assert!(e.starts_with(&format!("<literal>.urdf:{message}")), "{e}");
    }
    let two = "<joint name='i' type='fixed'><parent link='a'/><child link='b'/></joint>
        <joint name='j' type='fixed'><parent link='b'/><child link='a'/></joint>";
    let e = error_of(&with_joint(two));
    assert!(
        e.contains(
            "joint 'j' cannot connect bodies 'r::b' and 'r::a': joint 'i' connects them already"
        ),
        "{e}"
    );
}

#[test]
fn all_errors_of_a_file_are_reported() {
    let text = "<robot>\n<link/>\n<link name='a'><visual/></link></robot>";
    let r = load(text);
    let e = r.result.unwrap_err().to_string();
    assert!(e.contains("(and 2 more errors"), "{e}");
    let lines: Vec<u32> = r.diagnostics.iter().map(|d| d.line).collect();
    assert_eq!(lines, [1, 2, 3]);
}

#[test]
fn a_floating_joint_leaves_its_child_free() {
    let joint = "<joint name='f' type='floating'><parent link='a'/><child link='b'/></joint>";
    let r = load(&with_joint(joint)).ok();
    assert_eq!(r.diagnostics[0].severity, Severity::Warning);
    assert_eq!(r.plant.num_positions(), 14);
}

#[test]
fn a_link_named_world_is_the_world_body() {
    let text =
        "<robot name='r'><link name='world'><collision><geometry><box size='1 1 1'/></geometry>
        </collision></link><link name='a'/>
        <joint name='j' type='fixed'><parent link='world'/><child link='a'/></joint></robot>";
    let r = load(text).ok();
    assert_eq!((r.plant.num_bodies(), r.plant.num_positions()), (2, 0));
    assert_eq!(r.plant.collision_geometries(BodyIndex::WORLD).len(), 1);
}

#[test]
fn undeclared_namespace_prefixes_are_accepted() {
    let text = ROBOT.replace(" xmlns:drake=\"http://drake.mit.edu\"", "");
    let r = load(&text).ok();
    assert_eq!(r.scene.model_inspector().collision_candidates(), []);
}

#[test]
fn models_can_be_loaded_several_times() {
    let r = load_with(|p| {
        p.add_models_from_string(ROBOT, "urdf")?;
        let e = p.add_models_from_string(ROBOT, "urdf").unwrap_err();
        assert!(
            e.to_string().contains("model instance 'r' exists already"),
            "{e}"
        );
        assert!(!p.auto_renaming());
        p.set_auto_renaming(true);
        assert!(p.auto_renaming());
        p.add_models_from_string(ROBOT, "urdf")?;
        p.set_model_name_prefix("left");
        p.add_models_from_string(ROBOT, "urdf")
    });
    r.result.unwrap();
    assert_eq!(r.plant.model_instance_names()[2..], ["r", "r_1", "left::r"]);
    assert!(r.plant.body_by_name("left::r::base").is_ok());
    assert_eq!(r.scene.model_inspector().num_sources(), 2);
}

#[test]
fn strict_parsing_turns_warnings_into_errors() {
    let joint = "<joint name='f' type='floating'><parent link='a'/><child link='b'/></joint>";
    let r = load_with(|p| {
        p.set_strict_parsing(true);
        p.add_models_from_string(&with_joint(joint), "urdf")
    });
    assert!(
        r.result
            .unwrap_err()
            .to_string()
            .contains("error: joint 'f'")
    );
}

#[test]
fn meshes_are_found_next_to_the_file_and_in_its_own_package() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    };
    write("package.xml", "<package><name>own</name></package>");
    write(
        "meshes/t.obj",
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n",
    );
    write("meshes/t.3ds", "");
    let visual = |uri: &str| {
        format!("<visual><geometry><mesh filename='{uri}' scale='2'/></geometry></visual>")
    };
    let uris = [
        "../meshes/t.obj",
        "package://own/meshes/t.obj",
        "model://own/meshes/t.3ds",
    ];
    let visuals: String = uris.map(visual).concat();
    let text = format!("<robot name='r'><link name='a'>{visuals}</link></robot>");
    let r = load_file(&write("urdf/r.urdf", &text));
    r.result.unwrap();
    let [warning] = &r.diagnostics[..] else {
        panic!("there must be one warning, got {:?}", r.diagnostics);
    };
    assert!(
        warning
            .message
            .contains(".gltf, .glb, .dae and .vtk meshes"),
        "{warning}"
    );
    let a = r.plant.body_by_name("a").unwrap();
    let inspector = r.scene.model_inspector();
    let [first, second] = r.plant.visual_geometries(a) else {
        panic!("there must be two meshes");
    };
    assert_eq!(inspector.name(*second).unwrap(), "r::Mesh_1");
    let Shape::Mesh(mesh) = inspector.shape(*first).unwrap() else {
        panic!("the shape must be a mesh");
    };
    assert_eq!(mesh.scale3(), Vector3::repeat(2.0));

    let nowhere = format!(
        "<robot name='r'><link name='a'>{}</link></robot>",
        visual("x.obj")
    );
    let e = error_of(&nowhere);
    assert!(e.contains("the path must be absolute"), "{e}");
    let e = error_of(&nowhere.replace("x.obj", "package://other/x.obj"));
    assert!(e.contains("there is no package 'other'"), "{e}");
}

#[test]
fn other_formats_and_missing_files_are_errors() {
    let e = load_file(Path::new("nowhere.urdf")).result.unwrap_err();
    assert!(e.to_string().starts_with("nowhere.urdf in "), "{e}");
    let e = load_file(Path::new("model.docx")).result.unwrap_err();
    assert!(e.to_string().contains("the suffix must be"), "{e}");
    let e = load_with(|p| p.add_models_from_string("", "docx")).result;
    assert!(e.unwrap_err().to_string().contains("the suffix must be"));
}

#[test]
fn conflicting_materials_are_an_error() {
    let text = "<robot name='r'>
        <material name='m'><color rgba='1 0 0 1'/></material>
        <material name='m'><color rgba='0 1 0 1'/></material></robot>";
    let e = error_of(text);
    assert!(e.contains(":3:9: error: material 'm' is defined as"), "{e}");
    assert!(error_of(&text.replace("0 1 0 1", "0 2 0 1")).contains("from 0 to 1"));
}
