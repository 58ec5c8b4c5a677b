//! Scene whose messages were captured from Drake 1.51.1.

use crate::drake_visualizer::compare::{assert_same_load, same_triangles, triangles};
use crate::drake_visualizer::scene::{Form, Frame, Geometry, Look, Scene, Touch};
use crate::drake_visualizer::{Heard, only};
use tarragon_framework::math;
use tarragon_lcm::LcmMessage;
use tarragon_lcm::types::{LcmtViewerGeometryData, LcmtViewerLoadRobot};

/// Mesh file of the captured scene.
const OBJ: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvt 0 0\nvt 1 0\nvt 0 1\nf 1/1 3/3 2/2\nf 1/1 2/2 4/3\n\
                   f 1/1 4/3 3/2\nf 2/1 3/2 4/3\n";

fn bytes(hex: &str) -> Vec<u8> {
    let digits = hex.trim();
    let byte = |i| u8::from_str_radix(&digits[i..i + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(byte).collect()
}

fn captured(mesh: Form) -> Scene {
    let half = 0.5_f64;
    // Roll, pitch, yaw.
    let q = math::rotation_z(0.3) * math::rotation_y(0.2) * math::rotation_x(0.1);
    let at = |shape, frame| Geometry::new(frame, "", shape);
    let mut geometries = vec![
        at(Form::HalfSpace, None),
        at(Form::Box([1.0, 2.0, 3.0]), None),
        at(Form::Sphere(0.25), Some(0)),
        at(Form::Cylinder([0.1, 0.2]), Some(0)),
        at(Form::Capsule([0.1, 0.2]), Some(0)),
        at(Form::Ellipsoid([0.1, 0.2, 0.3]), Some(0)),
        at(mesh, Some(0)),
        at(
            Form::ConvexOf {
                obj: OBJ.into(),
                scale: [2.0; 3],
            },
            Some(0),
        ),
        at(
            Form::MeshOf {
                obj: OBJ.into(),
                scale: [1.5; 3],
            },
            Some(0),
        ),
    ];
    geometries[1].pose = [1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0];
    let [red, blue] = [[1.0, 0.0, 0.0, 1.0], [0.1, 0.2, 0.3, 0.4]];
    geometries[1].illustration = Some(Look {
        diffuse: Some(blue),
    });
    geometries[2].illustration = Some(Look { diffuse: Some(red) });
    geometries[2].pose = [q.w, q.i, q.j, q.k, 0.0, 0.0, 1.0];
    for (i, g) in geometries.iter_mut().enumerate() {
        g.name = format!("g{i}");
        // The file at this path does not exist, so this mesh cannot collide.
        if !matches!(g.shape, Form::MeshAt { .. }) {
            let rigid = Some(1.0);
            g.proximity = Some(Touch {
                rigid,
                ..Touch::default()
            });
        }
    }
    Scene {
        sources: vec!["src".into()],
        frames: vec![Frame {
            source: 0,
            name: "frameA".into(),
            group: 0,
            parent: None,
            pose: [half.cos(), 0.0, 0.0, half.sin(), 0.5, 0.0, 0.0],
        }],
        geometries,
        time: 0.25,
        ..Scene::anchored()
    }
}

#[test]
fn illustration_messages_equal_drakes_byte_for_byte() {
    let theirs = bytes(include_str!(
        "../../../lcm/tests/captures/DRAKE_VIEWER_LOAD_ROBOT.hex"
    ));
    let load = LcmtViewerLoadRobot::decode(&theirs).unwrap();
    // Drake sends the path of a mesh file unchanged, so it is the path on the recording machine.
    let mut files = load.link[1].geom.iter().map(|g| &g.string_data);
    let path = files.find(|file| !file.is_empty()).unwrap().clone();
    assert!(path.ends_with("/nomtl.obj"), "{path}");
    let scene = captured(Form::MeshAt {
        path,
        scale: [1.0, 2.0, 3.0],
    });
    let heard = Heard::new();
    scene.publish(&heard.lcm);
    let messages = heard.take();
    let channels: Vec<&str> = messages.iter().map(|(channel, _)| &**channel).collect();
    let expected = [
        "DRAKE_VIEWER_LOAD_ROBOT",
        "DRAKE_VIEWER_DRAW",
        "DRAKE_VIEWER_DEFORMABLE",
    ];
    assert_eq!(channels, expected);
    let draw = include_str!("../../../lcm/tests/captures/DRAKE_VIEWER_DRAW.hex");
    assert_eq!(messages[1].1, bytes(draw));
    let deformable = include_str!("../../../lcm/tests/captures/DRAKE_VIEWER_DEFORMABLE.hex");
    assert_eq!(messages[2].1, bytes(deformable));

    // The triangles of the hull are excluded: their order depends on Drake's hull library.
    let their_hull = load.link[1].geom[5].clone();
    let mut ours = LcmtViewerLoadRobot::decode(&messages[0].1).unwrap();
    let our_hull = &mut ours.link[1].geom[5];
    assert!(same_triangles(
        &triangles(our_hull),
        &triangles(&their_hull)
    ));
    our_hull.float_data = their_hull.float_data;
    // The name of the file in memory is also a path on the recording machine.
    let in_memory = |load: &LcmtViewerLoadRobot| load.link[1].geom[6].string_data.clone();
    let json: serde_json::Value = serde_json::from_str(&in_memory(&load)).unwrap();
    let hint = &json["in_memory_mesh"]["mesh_file"]["filename_hint"];
    let renamed = in_memory(&ours).replace("\"mesh.obj\"", &hint.to_string());
    ours.link[1].geom[6].string_data = renamed;
    assert_eq!(ours.encode().unwrap(), theirs);
}

#[test]
fn hydroelastic_meshes_equal_drakes() {
    let mut scene = captured(Form::MeshOf {
        obj: OBJ.into(),
        scale: [1.0, 2.0, 3.0],
    });
    scene.role = "proximity";
    scene.show_hydroelastic = true;
    scene.use_role_channel_suffix = true;
    let heard = Heard::new();
    scene.publish(&heard.lcm);
    let messages = heard.take();
    let ours: LcmtViewerLoadRobot = only(&messages, "DRAKE_VIEWER_LOAD_ROBOT_PROXIMITY");
    let theirs = bytes(include_str!(
        "../../../lcm/tests/captures/DRAKE_VIEWER_LOAD_ROBOT_PROXIMITY.hex"
    ));
    assert_same_load(&ours, &LcmtViewerLoadRobot::decode(&theirs).unwrap());
    // Viewers have no half spaces, and hydroelastic contact has no meshes for them.
    assert_eq!(ours.link[0].geom[0].r#type, LcmtViewerGeometryData::BOX);
}
