//! Skins: side by side with MuJoCo, and what is wrong with them.

use super::{Built, Loaded, load_file_as_mujoco, load_with};
use crate::support::mujoco;
use nalgebra::Vector3;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;
use tarragon_formats::*;
use tarragon_framework::math::{pose, quaternion_wxyz};
use tarragon_framework::prelude::*;
use tarragon_geometry::*;

/// MuJoCo keeps vertices and weights in single precision, in models of about a metre.
const TOLERANCE: f64 = 2e-6;

fn load(text: &str) -> Loaded {
    load_with(|p| {
        p.set_mjcf_semantics(MjcfSemantics::MuJoCo);
        p.add_models_from_string(text, "xml")
    })
}

impl Built {
    fn skins(&self) -> Vec<GeometryId> {
        let inspector = self.scene.model_inspector();
        let skins = inspector.all_driven_geometry_ids();
        skins
            .filter(|id| inspector.skin(*id).unwrap().is_some())
            .collect()
    }

    /// Returns the vertices of all skins where the bodies have the given poses.
    fn vertices(&self, bodies: &Value) -> Vec<Vec<f64>> {
        let source = self.plant.source_id().unwrap();
        let mut poses = FramePoseVector::new();
        for (index, body) in self.plant.bodies().skip(1) {
            // Bodies between joints are not in the file, and no skin follows them.
            let numbers = bodies.get(body.name()).map(|numbers| {
                let numbers = numbers.as_array().unwrap().iter();
                numbers.map(|x| x.as_f64().unwrap()).collect::<Vec<f64>>()
            });
            let x_wb = numbers.map_or_else(Default::default, |x| {
                let turn = quaternion_wxyz([x[3], x[4], x[5], x[6]]).unwrap();
                pose(turn, Vector3::new(x[0], x[1], x[2]))
            });
            poses.set_value(self.plant.body_frame_id(index).unwrap(), x_wb);
        }
        let mut b = DiagramBuilder::new();
        let scene = b.add("scene_graph", self.scene.clone());
        let mut ctx = b.build().unwrap().default_context();
        ctx.fix(scene.source_pose_port(source).unwrap(), poses)
            .unwrap();
        let query = ctx.eval(scene.query).unwrap();
        let vertices = self.skins().into_iter().map(|id| {
            let found = query.driven_mesh_configurations_in_world(id, Role::Illustration);
            found.unwrap().remove(0).as_slice().to_vec()
        });
        vertices.collect()
    }
}

#[test]
fn skins_are_where_mujoco_draws_them() {
    let Some(python) = mujoco::python() else {
        return;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mjcf/skins/peer.py");
    let output = Command::new(python).arg(script).output().unwrap();
    assert!(output.status.success());
    let models: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let (mut worst, mut compared) = (0.0_f64, 0);
    for model in &models {
        let loaded = match model["file"].as_str() {
            Some(file) => load_file_as_mujoco(Path::new(file)),
            None => load(model["text"].as_str().unwrap()),
        };
        let loaded = loaded.ok();
        for sample in model["samples"].as_array().unwrap() {
            let ours = loaded.vertices(&sample["bodies"]);
            let theirs = sample["skins"].as_array().unwrap();
            assert_eq!(ours.len(), theirs.len());
            for (ours, theirs) in ours.iter().zip(theirs) {
                let theirs = theirs.as_array().unwrap();
                assert_eq!(ours.len(), theirs.len());
                compared += ours.len() / 3;
                for (x, y) in ours.iter().zip(theirs) {
                    worst = worst.max((x - y.as_f64().unwrap()).abs());
                }
            }
        }
    }
    println!("{compared} vertices, worst error {worst:e} m");
    assert!(worst < TOLERANCE, "{worst:e}");
    assert!(compared > 500, "{compared}");
}

/// A model with one skin.
fn model(attributes: &str, bones: &str) -> String {
    format!(
        "<mujoco model='m'><asset><texture name='t' type='2d' builtin='flat' width='2' \
         height='2'/><material name='red' rgba='1 0 0 1'/><material name='white'/><material \
         name='tex' texture='t'/></asset><deformable><skin {attributes}>{bones}</skin>\
         </deformable><worldbody><body name='a'><freejoint/><geom size='.1'/></body></worldbody>\
         </mujoco>"
    )
}

const TRIANGLE: &str = "name='s' vertex='0 0 0 1 0 0 0 1 0' face='0 1 2'";
const BONE: &str = "<bone body='a' bindpos='0 0 0' bindquat='1 0 0 0' vertid='0 1 2' \
                    vertweight='1 2 3'/>";

#[test]
fn colours_of_skins_are_those_of_mujoco() {
    for (attributes, rgba) in [
        ("", [0.5, 0.5, 0.5, 1.0]),
        ("rgba='0 1 0 0.5'", [0.0, 1.0, 0.0, 0.5]),
        ("material='red'", [1.0, 0.0, 0.0, 1.0]),
        ("material='white'", [1.0; 4]),
        ("material='red' rgba='0 1 0 1'", [0.0, 1.0, 0.0, 1.0]),
    ] {
        let loaded = load(&model(&format!("{TRIANGLE} {attributes}"), BONE)).ok();
        loaded.says_nothing();
        let inspector = loaded.scene.model_inspector();
        let [skin] = *loaded.skins() else {
            panic!("{attributes}");
        };
        assert_eq!(inspector.name(skin).unwrap(), "m::s");
        for role in [Role::Illustration, Role::Perception] {
            let properties = inspector.properties(skin, role).unwrap().unwrap();
            let found = properties.get::<Rgba>("phong", "diffuse").unwrap();
            assert_eq!(found.rgba(), rgba, "{attributes}");
        }
    }
    for (attributes, count) in [("group='2'", 1), ("group='3'", 0)] {
        let loaded = load(&model(&format!("{TRIANGLE} {attributes}"), BONE)).ok();
        assert_eq!(loaded.skins().len(), count);
    }
}

#[test]
fn textures_of_skins_need_coordinates_and_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("m.xml");
    fs::write(folder.path().join("t.png"), "not read").unwrap();
    let text = model(
        &format!("{TRIANGLE} texcoord='0 0 1 0 0 1' material='tex'"),
        BONE,
    );
    let flat = "builtin='flat' width='2' height='2'";
    fs::write(&file, text.replace(flat, "file='t.png'")).unwrap();
    let loaded = load_file_as_mujoco(&file).ok();
    loaded.says_nothing();
    let inspector = loaded.scene.model_inspector();
    let skin = loaded.skins()[0];
    let properties = inspector.properties(skin, Role::Illustration).unwrap();
    let map = properties.unwrap().get::<String>("phong", "diffuse_map");
    assert!(map.unwrap().ends_with("t.png"));
    let meshes = inspector.driven_render_meshes(skin, Role::Illustration);
    // In MuJoCo, v points down.
    assert_eq!(meshes.unwrap()[0].uvs, [[0.0, 1.0], [1.0, 1.0], [0.0, 0.0]]);
    load(&model(&format!("{TRIANGLE} material='tex'"), BONE)).says("the texture of the material");
    load(&model(&format!("{TRIANGLE} material='none'"), BONE)).says("no material 'none'");
}

#[test]
fn wrong_skins_are_errors_with_a_place() {
    let bone = |attributes: &str| format!("<bone {attributes}/>");
    let vertices = "vertid='0 1 2' vertweight='1 1 1'";
    for (attributes, bones, text) in [
        (
            TRIANGLE,
            bone(&format!("body='b' {vertices}")),
            "the body 'b', which does not exist",
        ),
        (TRIANGLE, bone(vertices), "<bone> has no attribute 'body'"),
        (TRIANGLE, String::new(), "the skin has no bones"),
        (
            TRIANGLE,
            bone("body='a' vertid='0 1' vertweight='1 1'"),
            "vertex 2 of the skin",
        ),
        (
            TRIANGLE,
            bone("body='a' vertid='0 1 2' vertweight='1 1'"),
            "as many weights",
        ),
        (
            TRIANGLE,
            bone("body='a' vertid='0 1 3' vertweight='1 1 1'"),
            "refers to vertex 3",
        ),
        (
            TRIANGLE,
            bone("body='a' vertid='0 1 2' vertweight='1 1 -1'"),
            "at least 0, got -1",
        ),
        (
            TRIANGLE,
            bone(&format!("body='a' bindpos='0 0 inf' {vertices}")),
            "bindpos",
        ),
        (
            "vertex='0 0 0 1 0' face='0 1 2'",
            BONE.into(),
            "3 numbers each, got 5",
        ),
        ("vertex='0 0 0' face='0 0'", BONE.into(), "got 2 numbers"),
        (
            "vertex='0 0 0' face='0 0 1'",
            BONE.into(),
            "refers to vertex 1",
        ),
        ("face='0 1 2'", BONE.into(), "refers to vertex 0"),
        ("", BONE.into(), "refers to vertex 0"),
        ("vertex='0 0 0 1 0 0 0 1 0'", BONE.into(), "no faces"),
        (
            "vertex='0 0 0' face='0 0 0' texcoord='1'",
            BONE.into(),
            "2 numbers each, got 1",
        ),
    ] {
        let loaded = load(&model(attributes, &bones));
        let said: Vec<String> = loaded.diagnostics.iter().map(|d| d.to_string()).collect();
        assert!(loaded.result.is_err(), "{attributes} {bones} {said:?}");
        assert!(said[0].contains(text), "'{text}' is not in {said:?}");
        assert_eq!(loaded.scene.model_inspector().num_geometries(), 0);
    }
    let pairs = format!("{TRIANGLE} texcoord='0 0 1 1'");
    let loaded = load(&model(&pairs, BONE));
    assert!(
        loaded.diagnostics[0]
            .message
            .contains("all 3 vertices or for none, got 2")
    );
    let missing = load(&model("file='none.skn'", "")).ok();
    missing.says("the skin is left out");
    assert!(missing.skins().is_empty());
}

/// An SKN file of a triangle with one bone.
fn skn() -> Vec<u8> {
    let mut bytes = vec![];
    let integers = |bytes: &mut Vec<u8>, all: &[i32]| {
        bytes.extend(all.iter().flat_map(|n| n.to_le_bytes()));
    };
    let floats = |bytes: &mut Vec<u8>, all: &[f32]| {
        bytes.extend(all.iter().flat_map(|x| x.to_le_bytes()));
    };
    integers(&mut bytes, &[3, 0, 1, 1]);
    floats(&mut bytes, &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    integers(&mut bytes, &[0, 1, 2]);
    bytes.push(b'a');
    bytes.extend([0; 39]);
    floats(&mut bytes, &[0.0, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0]);
    integers(&mut bytes, &[3, 0, 1, 2]);
    floats(&mut bytes, &[1.0; 3]);
    bytes
}

#[test]
fn damaged_files_of_skins_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("m.xml");
    fs::write(&file, model("file='s.skn'", "")).unwrap();
    let good = skn();
    let read = |bytes: &[u8]| {
        fs::write(folder.path().join("s.skn"), bytes).unwrap();
        load_file_as_mujoco(&file)
    };
    let loaded = read(&good).ok();
    let bodies = serde_json::json!({"a": [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]});
    let expected = [0.0, 0.0, -0.5, 1.0, 0.0, -0.5, 0.0, 1.0, -0.5];
    assert_eq!(loaded.vertices(&bodies), [expected]);
    for end in 0..good.len() {
        let loaded = read(&good[..end]);
        assert!(loaded.result.is_err(), "{end}");
        assert!(loaded.diagnostics[0].message.contains("s.skn"));
    }
    let longer = [&good[..], &[0]].concat();
    let said = &read(&longer).diagnostics[0].message;
    assert!(said.contains("1 bytes follow the last bone"), "{said}");
    // Every word of the file in turn becomes a count, an index or a number that it cannot be, or
    // zero.
    let mut refused = 0;
    for at in (0..good.len()).step_by(4) {
        for word in [i32::MAX, i32::MIN, -1, f32::INFINITY.to_bits() as i32, 0] {
            let mut bytes = good.clone();
            bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
            let loaded = read(&bytes);
            if loaded.result.is_err() {
                refused += 1;
                assert!(!loaded.diagnostics.is_empty(), "{at} {word}");
            } else {
                let vertices = loaded.ok().vertices(&bodies);
                let is_finite = vertices.iter().flatten().all(|x| x.is_finite());
                assert!(is_finite, "{at} {word}: {vertices:?}");
            }
        }
    }
    // Of counts and indices, hardly anything else is possible.
    assert!(refused > 100, "{refused}");
}
