//! Model directives. The expected results are those of Drake 1.51.1 for the same text.

use nalgebra::{Isometry3, Vector3};
use std::fs;
use std::path::Path;
use tarragon_documents::PackageMap;
use tarragon_formats::directives::*;
use tarragon_formats::*;
use tarragon_geometry::SceneGraph;
use tarragon_multibody::*;
use tempfile::TempDir;

const ARM: &str = "<robot name='arm'><link name='base'><collision><geometry><sphere radius='1'/></geometry>
  </collision></link><link name='tip'><collision><geometry><sphere radius='1'/></geometry></collision></link>
  <joint name='j' type='revolute'><parent link='base'/><child link='tip'/><axis xyz='0 0 1'/></joint>
  <frame name='fr' link='tip' xyz='1 0 0'/></robot>";
const BALL: &str = "<robot name='ball'><link name='ball'/></robot>";
const SUB: &str = "directives:
- add_model: {name: s, file: package://p/ball.urdf}
- add_frame: {name: inner, X_PF: {base_frame: s::ball, translation: [1, 2, 3]}}
- add_collision_filter_group: {name: g, members: [s::ball], ignored_collision_filter_groups: [g]}
";

/// The folder of a package `p` with models and directives.
fn package() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("arm.urdf", ARM),
        ("ball.urdf", BALL),
        (
            "two.urdf",
            "<robot name='two'><link name='a'/><link name='b'/></robot>",
        ),
        ("sub.dmd.yaml", SUB),
        (
            "self.dmd.yaml",
            "directives: [{add_directives: {file: package://p/self.dmd.yaml}}]",
        ),
    ] {
        fs::write(dir.path().join(name), text).unwrap();
    }
    dir
}

fn packages(dir: &TempDir) -> PackageMap {
    let mut packages = PackageMap::make_empty();
    packages.add("p", dir.path()).unwrap();
    packages
}

fn load_with(text: &str, prefix: &str) -> Result<(MultibodyPlant, Vec<ModelInstanceInfo>)> {
    let dir = package();
    let mut plant = MultibodyPlantBuilder::new(0.001)?;
    let mut parser = Parser::new(&mut plant);
    parser.set_model_name_prefix(prefix);
    *parser.package_map_mut() = packages(&dir);
    let directives = ModelDirectives::from_yaml(text)?;
    let added = process_model_directives(&directives, &mut parser)?;
    let plant = plant.build()?;
    Ok((plant, added))
}

fn load(text: &str) -> Result<(MultibodyPlant, Vec<ModelInstanceInfo>)> {
    load_with(text, "")
}

const A: &str = "directives:\n- add_model: {name: A, file: package://p/arm.urdf}\n";

fn error_of(text: &str) -> String {
    load(text).unwrap_err().to_string()
}

#[test]
fn directives_add_models_frames_and_welds() {
    let (plant, added) = load(&format!(
        "{A}- add_frame: {{name: f1, X_PF: {{base_frame: A::tip, translation: [1, 0, 0]}}}}
- add_frame: {{name: 'A::f2', X_PF: {{base_frame: world}}}}
- add_frame: {{name: f3, X_PF: {{base_frame: world}}}}
- add_weld: {{parent: f3, child: 'A::base', X_PC: {{translation: [0, 0, 1]}}}}
"
    ))
    .unwrap();
    let frames: Vec<(&str, &str)> = plant
        .frames()
        .map(|(_, f)| {
            (
                plant.model_instance_name(f.model_instance()).unwrap(),
                f.name(),
            )
        })
        .collect();
    assert_eq!(
        frames,
        [
            ("WorldModelInstance", "world"),
            ("A", "base"),
            ("A", "tip"),
            ("A", "j_parent"),
            ("A", "fr"),
            ("A", "f1"),
            ("A", "f2"),
            ("WorldModelInstance", "f3"),
            ("A", "f3_welds_to_base_f3_F"),
        ]
    );
    assert_eq!(added.len(), 1);
    let info = &added[0];
    assert_eq!(
        (&*info.parent_frame_name, &*info.child_frame_name),
        ("f3", "base")
    );
    assert_eq!(info.x_pc, Isometry3::translation(0.0, 0.0, 1.0));
    assert!(info.model_path.ends_with("arm.urdf"));
}

#[test]
fn add_model_sets_default_positions_and_poses() {
    let (plant, _) = load(
        "directives:
- add_model:
    name: A
    file: package://p/arm.urdf
    default_joint_positions: {j: [0.5]}
    default_free_body_pose:
      base: {translation: [1, 2, 3], rotation: !Rpy {deg: [90, 0, 0]}}
",
    )
    .unwrap();
    let half = 0.5_f64.sqrt();
    let expected = [half, half, 0.0, 0.0, 1.0, 2.0, 3.0, 0.5];
    let q = plant.default_positions();
    assert!(
        q.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15),
        "{q:?}"
    );
    // A body posed in a frame of another model gets a joint to that frame.
    let (plant, _) = load(&format!(
        "{A}- add_model: {{name: B, file: package://p/ball.urdf, \
         default_free_body_pose: {{ball: {{base_frame: 'A::fr', translation: [1, 2, 3]}}}}}}\n"
    ))
    .unwrap();
    let joints: Vec<&str> = plant.joints().map(|(_, j)| j.name()).collect();
    assert_eq!(joints, ["j", "ball", "base"]);
    let ball = plant.joint(plant.joint_by_name("ball").unwrap()).unwrap();
    assert_eq!(
        ball.default_positions(),
        [1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0]
    );
    assert!(!ball.is_ephemeral());
    let on = plant.frame(ball.frame_on_parent().unwrap()).unwrap();
    assert_eq!(on.name(), "fr");
}

#[test]
fn included_directives_are_put_in_a_namespace() {
    let (plant, added) = load(
        "directives:
- add_model_instance: {name: ns}
- add_directives: {file: package://p/sub.dmd.yaml, model_namespace: ns}
",
    )
    .unwrap();
    assert_eq!(plant.model_instance_names()[2..], ["ns", "ns::s"]);
    let names: Vec<&str> = added.iter().map(|m| &*m.model_name).collect();
    assert_eq!(names, ["ns::s"]);
    let inner = plant
        .frame(plant.frame_by_name("ns::s::inner").unwrap())
        .unwrap();
    assert_eq!(
        inner.pose_in_body().translation.vector,
        Vector3::new(1.0, 2.0, 3.0)
    );
    let groups: Vec<&str> = plant.collision_filter_groups().map(|(n, _)| n).collect();
    assert_eq!(groups, ["ns::g"]);
    let e = error_of(
        "directives: [{add_directives: {file: package://p/sub.dmd.yaml, model_namespace: ns}}]",
    );
    assert!(e.contains("there is no model instance named 'ns'"), "{e}");
    let e = error_of("directives: [{add_directives: {file: package://p/self.dmd.yaml}}]");
    assert!(e.contains("includes itself"), "{e}");
}

#[test]
fn the_model_name_prefix_is_a_scope() {
    let text = format!("{A}- add_weld: {{parent: world, child: 'A::base'}}\n");
    let (plant, _) = load_with(&text, "left").unwrap();
    assert_eq!(plant.model_instance_names()[2], "left::A");
    assert_eq!(plant.num_positions(), 1);
}

#[test]
fn mistakes_are_reported_and_leave_nothing_behind() {
    for (directive, message) in [
        (
            "add_frame: {name: f, X_PF: {translation: [1, 0, 0]}}",
            "X_PF must name its base_frame",
        ),
        (
            "add_frame: {name: 'zz::f', X_PF: {base_frame: 'A::tip'}}",
            "no model instance named 'zz'",
        ),
        (
            "add_weld: {parent: world, child: 'A::bse'}",
            "no frame named 'A::bse'; there are: 'A::base'",
        ),
        (
            "add_weld: {parent: world, child: 'A::base', X_PC: {base_frame: world}}",
            "remove base_frame",
        ),
        (
            "add_collision_filter_group: {name: g, members: ['A::bas']}",
            "no body named 'A::bas'",
        ),
        (
            "add_collision_filter_group: {name: g, ignored_collision_filter_groups: [h]}",
            "no collision filter group named 'h'",
        ),
        (
            "add_model: {name: A, file: package://p/arm.urdf}",
            "'A' exists already",
        ),
        (
            "add_model: {name: B, file: package://p/no.urdf}",
            "does not exist",
        ),
        (
            "add_model: {name: B, file: arm.urdf}",
            "the path must be absolute",
        ),
        (
            "add_model: {name: B, file: package://p/sub.dmd.yaml}",
            "use add_directives",
        ),
        (
            "add_directives: {file: package://p/arm.urdf}",
            "use add_model",
        ),
        (
            "add_model: {name: B, file: package://p/arm.urdf, default_joint_positions: {k: [1]}}",
            "no joint of model instance 'B' named 'k'",
        ),
        (
            "add_model: {name: B, file: package://p/arm.urdf, default_joint_positions: {j: [1, 2]}}",
            "the number of default positions must be 1, got 2",
        ),
        (
            "add_model: {name: B, file: package://p/two.urdf, default_free_body_pose: {'': {}}}",
            "model 'B' has 2 free bodies",
        ),
        (
            "add_model: {name: B, file: package://p/arm.urdf, default_free_body_pose: {x: {}}}",
            "no frame of model instance 'B' named 'x'",
        ),
    ] {
        let dir = package();
        let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
        let mut scene = SceneGraph::new();
        let before = format!("{plant:?}");
        let mut parser = Parser::with_scene_graph(&mut plant, &mut scene);
        *parser.package_map_mut() = packages(&dir);
        let text = format!("{A}- {directive}\n");
        let e = parser
            .add_models_from_string(&text, "dmd.yaml")
            .unwrap_err()
            .to_string();
        // Groups are looked up after all of them are read, so the error has no line and column.
        let place = if message.contains("filter group") {
            "<literal>.dmd.yaml: error: collision filter group 'g'"
        } else {
            "<literal>.dmd.yaml:3:3: error: add_"
        };
        // A duplicate name is reported at its place in the model file.
        let in_model = message.contains("exists already") && e.contains("arm.urdf:1:1: error: ");
        assert!(in_model || e.starts_with(place), "{e}");
        assert!(e.contains(message), "{e}");
        assert_eq!(format!("{plant:?}"), before, "{directive}");
        assert_eq!(scene.model_inspector().num_sources(), 1);
    }
    for (text, message) in [
        (
            "directives: [{add_modle: {name: A}}]",
            "model directives:1:15: ",
        ),
        ("directives: [{add_model: {name: A}}]", "file"),
        (
            "directives: [{add_model: {name: A, file: x, nmae: B}}]",
            "nmae",
        ),
        ("directives: [{}]", "model directives:1:"),
        ("foo: 1", "foo"),
        (
            "directives: [{add_weld: {parent: a, child: b, X_PC: {rotation: !Uniform {}}}}]",
            "random",
        ),
    ] {
        let e = ModelDirectives::from_yaml(text).unwrap_err().to_string();
        assert!(
            e.starts_with("model directives:") && e.contains(message),
            "{text}: {e}"
        );
    }
}

#[test]
fn flattening_preserves_the_meaning() {
    let dir = package();
    let text = "directives:
- add_model_instance: {name: ns}
- add_directives: {file: package://p/sub.dmd.yaml, model_namespace: ns}
- add_weld: {parent: world, child: 'ns::s::ball'}
";
    let nested = ModelDirectives::from_yaml(text).unwrap();
    let flat = flatten_model_directives(&nested, &packages(&dir)).unwrap();
    assert_eq!(flat.directives.len(), 5);
    let again = flatten_model_directives(&flat, &packages(&dir)).unwrap();
    assert_eq!(flat, again);
    let read = ModelDirectives::from_yaml(&flat.to_yaml().unwrap()).unwrap();
    assert_eq!(read, flat);
    let (a, _) = load(text).unwrap();
    let (b, _) = load(&flat.to_yaml().unwrap()).unwrap();
    // Package paths differ from load to load, but the plant contains none of them.
    assert_eq!(format!("{a:?}"), format!("{b:?}"));
    let endless = ModelDirectives::load(dir.path().join("self.dmd.yaml")).unwrap();
    let e = flatten_model_directives(&endless, &packages(&dir)).unwrap_err();
    assert!(e.to_string().contains("includes itself"), "{e}");
}

#[test]
fn file_names_are_relative_to_the_directives_file() {
    let dir = package();
    let file = dir.path().join("scene.dmd.yaml");
    fs::write(
        &file,
        "directives: [{add_model: {name: B, file: ball.urdf}}]",
    )
    .unwrap();
    let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
    let models = Parser::new(&mut plant).add_models(&file).unwrap();
    assert_eq!(plant.model_instance_name(models[0]).unwrap(), "B");
    let e = ModelDirectives::load(Path::new("nowhere.dmd.yaml")).unwrap_err();
    assert!(e.to_string().starts_with("nowhere.dmd.yaml in "), "{e}");
}

/// OBJ text that starts with `head`: a unit cube with a corner at the origin, its faces wound for
/// outward normals.
fn cube(head: &str) -> String {
    let mut text = head.to_string();
    for corner in 0..8 {
        text += &format!("v {} {} {}\n", corner >> 2, corner >> 1 & 1, corner & 1);
    }
    text + "f 2 4 3 1\nf 7 8 6 5\nf 5 6 2 1\nf 4 8 7 3\nf 3 7 5 1\nf 6 8 4 2\n"
}

#[test]
fn an_obj_file_becomes_a_body_with_the_density_of_water() {
    let dir = tempfile::tempdir().unwrap();
    for (file, head, name) in [
        ("cube.obj", "o box1\n", "box1"),
        ("odd name.v2.obj", "", "odd name.v2"),
    ] {
        let path = dir.path().join(file);
        fs::write(&path, cube(head)).unwrap();
        let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
        let mut scene = SceneGraph::new();
        let mut parser = Parser::with_scene_graph(&mut plant, &mut scene);
        let models = parser.add_models(&path).unwrap();
        assert_eq!(plant.model_instance_name(models[0]).unwrap(), name);
        let body = plant.body(plant.body_by_name(name).unwrap()).unwrap();
        let m = body.spatial_inertia();
        assert!((m.mass() - 1000.0).abs() < 1e-10);
        assert!((m.center_of_mass() - Vector3::repeat(0.5)).amax() < 1e-14);
        let i = m.rotational_inertia();
        assert!((i[(0, 0)] - 2000.0 / 3.0).abs() < 1e-10 && (i[(0, 1)] + 250.0).abs() < 1e-10);
        let inspector = scene.model_inspector();
        let names: Vec<&str> = inspector
            .geometry_ids()
            .map(|g| inspector.name(g).unwrap())
            .collect();
        assert_eq!(
            names,
            [format!("{name}::collision"), format!("{name}::visual")]
        );
    }
    let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
    let mut parser = Parser::new(&mut plant);
    parser
        .add_models_from_string(&cube("o text\n"), "obj")
        .unwrap();
    let two = cube("o a\n") + "o b\n";
    parser.add_models_from_string(&two, "obj").unwrap();
    assert!(parser.diagnostics()[0].message.contains("2 objects"));
    let open = "o open\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    let e = parser
        .add_models_from_string(open, "obj")
        .unwrap_err()
        .to_string();
    assert!(e.starts_with("<literal>.obj: error: "), "{e}");
    assert_eq!(plant.num_bodies(), 3);
}

#[test]
fn directives_can_be_processed_without_a_parser() {
    let dir = package();
    let file = dir.path().join("arm.urdf").display().to_string();
    let text = format!("directives:\n- add_model: {{name: A, file: 'file://{file}'}}\n");
    let directives = ModelDirectives::from_yaml(&text).unwrap();
    let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
    let added = process_model_directives_into(&directives, &mut plant, None).unwrap();
    assert_eq!(added[0].model_name, "A");
    assert!(plant.body_by_name("A::tip").is_ok());

    let (mut plant, mut scene) = (
        MultibodyPlantBuilder::new(0.001).unwrap(),
        SceneGraph::new(),
    );
    let again = process_model_directives_into(&directives, &mut plant, Some(&mut scene));
    assert_eq!(again.unwrap(), added);
    assert!(scene.model_inspector().num_geometries() > 0);

    let missing = ModelDirectives::from_yaml("directives: [{add_weld: {parent: a, child: b}}]");
    let error = process_model_directives_into(&missing.unwrap(), &mut plant, Some(&mut scene));
    assert!(error.unwrap_err().to_string().contains("'a'"));
}
