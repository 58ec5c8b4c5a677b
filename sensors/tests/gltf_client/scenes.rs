//! Scenes, read back by the glTF reader of the workspace.

use super::recorder::Recorder;
use super::{add, color_with, depth_with, engine, everything, label_with};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use nalgebra::{Isometry3, Point3, Translation3, Vector3};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use tarragon_framework::math::rpy;
use tarragon_geometry::mesh::{RenderMesh, parse_gltf};
use tarragon_geometry::proximity::distance_to_point;
use tarragon_geometry::render::{RenderEngine, RenderView};
use tarragon_geometry::{
    BoxShape, Capsule, Convex, Cylinder, Ellipsoid, GeometryId, HalfSpace, HeightField,
    InMemoryMesh, MemoryFile, Mesh, MeshcatCone, PerceptionProperties, RenderLabel, Shape, Sphere,
};
use tarragon_sensors::*;

pub(super) fn json(scene: &str) -> Value {
    serde_json::from_str(scene).unwrap()
}

/// Checks what glTF demands of buffers and accessors, and returns the bytes of the buffers.
pub(super) fn checked_buffers(scene: &Value) -> Vec<Vec<u8>> {
    let list = |name: &str| scene[name].as_array().cloned().unwrap_or_default();
    let buffers: Vec<Vec<u8>> = list("buffers")
        .iter()
        .map(|buffer| {
            let uri = buffer["uri"].as_str().unwrap();
            let data = uri.strip_prefix("data:application/octet-stream;base64,");
            let bytes = BASE64.decode(data.unwrap()).unwrap();
            assert_eq!(buffer["byteLength"], bytes.len());
            bytes
        })
        .collect();
    let views = list("bufferViews");
    for view in &views {
        let buffer = &buffers[view["buffer"].as_u64().unwrap() as usize];
        assert_eq!(view["byteLength"], buffer.len());
    }
    for accessor in list("accessors") {
        let view = &views[accessor["bufferView"].as_u64().unwrap() as usize];
        let width = match accessor["type"].as_str().unwrap() {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" => 4,
            other => panic!("{other}"),
        };
        let count = accessor["count"].as_u64().unwrap();
        assert!(count > 0);
        assert_eq!(view["byteLength"], 4 * width * count);
        if accessor["max"].is_array() {
            let bytes = &buffers[view["buffer"].as_u64().unwrap() as usize];
            let vectors = bytes.as_chunks::<12>().0;
            for k in 0..3 {
                let x = |v: &[u8; 12]| f32::from_le_bytes(v[4 * k..4 * k + 4].try_into().unwrap());
                let most = vectors.iter().map(x).fold(f32::NEG_INFINITY, f32::max);
                let least = vectors.iter().map(x).fold(f32::INFINITY, f32::min);
                assert_eq!(accessor["max"][k].as_f64().unwrap() as f32, most);
                assert_eq!(accessor["min"][k].as_f64().unwrap() as f32, least);
            }
        }
    }
    buffers
}

/// Reads a scene; vertices are in the world frame of the scene graph.
pub(super) fn read_back(scene: &str) -> RenderMesh {
    let mut mesh = parse_gltf(Path::new("scene.gltf"), scene.as_bytes()).unwrap();
    // The reader turns y up to z up.
    for p in &mut mesh.positions {
        *p = Point3::new(p.x, p.z, -p.y);
    }
    for n in &mut mesh.normals {
        *n = Vector3::new(n.x, n.z, -n.y);
    }
    mesh
}

/// Vertices of a group of triangles.
fn corners(mesh: &RenderMesh, group: usize) -> impl Iterator<Item = Point3<f64>> {
    let triangles = mesh.triangles[mesh.groups[group].triangles.clone()].iter();
    triangles.flatten().map(|v| mesh.positions[*v as usize])
}

pub(super) fn in_memory(contents: impl AsRef<[u8]>, extension: &str) -> Mesh {
    Mesh::new(InMemoryMesh::new(MemoryFile::new(
        contents, extension, "leaf",
    )))
}

#[test]
fn shapes_are_where_they_belong() {
    let server = Recorder::of_images();
    let mut engine = engine(&server);
    let half = Vector3::new(0.1, 0.15, 0.2);
    let axes = Vector3::new(0.1, 0.2, 0.3);
    let tetrahedron = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    let mesh = in_memory(tetrahedron, ".obj");
    let inside = |p: Point3<f64>| p.coords.min().min(1.0 - p.coords.sum());
    let heights = vec![0.1, 0.3, 0.0, 0.2, -0.1, 0.3];
    let terrain = HeightField::new(2, 3, heights, [0.4, 0.3], 0.2).unwrap();
    let solid: Shape = terrain.clone().into();
    let above_terrain = move |p: Point3<f64>| {
        let found = distance_to_point(&solid, &Isometry3::identity(), &p.coords);
        found.unwrap().distance
    };
    // Shape, number of triangles, distance from its surface (m).
    type Case = (Shape, usize, Box<dyn Fn(Point3<f64>) -> f64>);
    let cases: Vec<Case> = vec![
        (
            BoxShape::new(0.2, 0.3, 0.4).unwrap().into(),
            12,
            Box::new(move |p| (p.coords.abs() - half).max()),
        ),
        (
            Sphere::new(0.2).unwrap().into(),
            5000,
            Box::new(|p| p.coords.norm() - 0.2),
        ),
        (
            Cylinder::new(0.1, 0.3).unwrap().into(),
            196,
            Box::new(|p| (p.coords.xy().norm() - 0.1).max(p.z.abs() - 0.15)),
        ),
        (
            Capsule::new(0.1, 0.3).unwrap().into(),
            9600,
            Box::new(|p| (p - Point3::new(0.0, 0.0, p.z.clamp(-0.15, 0.15))).norm() - 0.1),
        ),
        (
            Ellipsoid::new(0.1, 0.2, 0.3).unwrap().into(),
            5000,
            Box::new(move |p| 0.1 * (p.coords.component_div(&axes).norm() - 1.0)),
        ),
        (HalfSpace.into(), 2, Box::new(|p| p.z)),
        (mesh.clone().into(), 4, Box::new(inside)),
        (
            Convex::new(mesh.source().clone()).into(),
            4,
            Box::new(inside),
        ),
        // Two triangles per cell, and three per edge of the border for the walls and the base.
        (terrain.clone().into(), 4 + 18, Box::new(above_terrain)),
    ];
    let mut poses = BTreeMap::new();
    for (i, (shape, ..)) in cases.iter().enumerate() {
        let id = add(&mut engine, shape.clone(), &PerceptionProperties::new());
        let i = i as f64;
        let x_wg =
            Isometry3::from_parts(Translation3::new(i, -0.2 * i, 2.0), rpy(0.3, 0.2 * i, 0.1));
        poses.insert(id, x_wg);
    }
    let x_wc = Isometry3::from_parts(Translation3::new(0.1, 0.2, -0.3), rpy(0.2, 0.1, 0.3));
    let of = |id: GeometryId| poses.get(&id).copied();
    depth_with(&engine, &RenderView::new(x_wc, &of)).unwrap();
    let scene = server.last().scene();
    let document = json(&scene);
    checked_buffers(&document);

    let nodes = document["nodes"].as_array().unwrap();
    let n = cases.len();
    assert_eq!(nodes.len(), n + 2);
    assert_eq!(
        document["scenes"],
        serde_json::json!([{"name": "Layer 0", "nodes": [n + 1]}])
    );
    assert_eq!(nodes[n + 1]["name"], "Renderer Node");
    assert_eq!(
        nodes[n + 1]["children"],
        serde_json::json!((0..=n).collect::<Vec<_>>())
    );
    assert_eq!(nodes[n]["name"], "Camera Node");
    // The camera looks along -z with y up; columns are x, y, z and the origin.
    let column = |k: usize| {
        let x = |i: usize| nodes[n]["matrix"][4 * k + i].as_f64().unwrap();
        Vector3::new(x(0), x(1), x(2))
    };
    for (k, expected) in [Vector3::x(), -Vector3::y(), -Vector3::z()]
        .iter()
        .enumerate()
    {
        assert!((column(k) - x_wc * expected).norm() < 1e-15);
    }
    assert_eq!(column(3), x_wc.translation.vector);

    let mesh = read_back(&scene);
    assert_eq!(mesh.groups.len(), n);
    for (group, ((_, triangles, distance), x_wg)) in
        cases.iter().zip(poses.values()).rev().enumerate()
    {
        assert_eq!(nodes[group]["name"], format!("mesh{group}"));
        assert_eq!(mesh.groups[group].triangles.len(), *triangles);
        for corner in corners(&mesh, group) {
            let error = distance(x_wg.inverse_transform_point(&corner));
            assert!(error.abs() < 1e-6, "{group}: {error}");
        }
    }
}

#[test]
fn registration_follows_the_rules_of_the_other_engines() {
    let server = Recorder::of_images();
    let mut engine = engine(&server).with_renderer_name("blender");
    let ball: Shape = Sphere::new(0.1).unwrap().into();
    let plain = PerceptionProperties::new();
    let id = add(&mut engine, ball.clone(), &plain);
    let error = engine.register_visual(id, &ball, &plain).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    let cone = MeshcatCone::new(1.0, 0.1, 0.1).unwrap().into();
    assert!(
        !engine
            .register_visual(GeometryId::new(), &cone, &plain)
            .unwrap()
    );
    for (name, accepted) in [("blender", true), ("other", false)] {
        let properties = plain.clone().with_accepting_renderers([name]);
        assert_eq!(
            engine
                .register_visual(GeometryId::new(), &ball, &properties)
                .unwrap(),
            accepted
        );
    }
    for label in [RenderLabel::EMPTY, RenderLabel::UNSPECIFIED] {
        let properties = plain.clone().with_label(label);
        assert!(
            engine
                .register_visual(GeometryId::new(), &ball, &properties)
                .is_err()
        );
    }
    let missing = Mesh::new("/nowhere/leaf.obj").into();
    assert!(
        engine
            .register_visual(GeometryId::new(), &missing, &plain)
            .is_err()
    );
    assert!(engine.remove_visual(id) && !engine.remove_visual(id) && !engine.has_visual(id));
    assert_eq!(engine.default_render_label(), RenderLabel::DONT_CARE);
    assert!(engine.renders_for("RenderEngineGltfClient") && !engine.renders_for("RenderEngineVtk"));
}

#[test]
fn scenes_have_what_is_visible() {
    let server = Recorder::of_images();
    let mut engine = engine(&server);
    let drawn_with = |kind: &str, engine: &RenderEngineGltfClient, view: &RenderView<'_>| {
        match kind {
            "color" => drop(color_with(engine, view).unwrap()),
            "depth" => drop(depth_with(engine, view).unwrap()),
            _ => drop(label_with(engine, view).unwrap()),
        }
        let scene = json(&server.last().scene());
        let materials = scene["materials"].as_array().cloned().unwrap_or_default();
        materials.len()
    };
    // glTF forbids empty arrays.
    assert_eq!(drawn_with("color", &engine, &everything()), 0);
    let empty = json(&server.last().scene());
    assert!(
        empty
            .as_object()
            .unwrap()
            .values()
            .all(|v| v.as_array().is_none_or(|a| !a.is_empty()))
    );
    let names_of_nodes = empty["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|n| n["name"].clone());
    assert_eq!(
        names_of_nodes.collect::<Vec<_>>(),
        ["Camera Node", "Renderer Node"]
    );

    let ball = Sphere::new(0.1).unwrap();
    let hidden = PerceptionProperties::new().with_label(RenderLabel::DO_NOT_RENDER);
    let first = add(&mut engine, ball, &PerceptionProperties::new());
    add(&mut engine, ball, &hidden);
    let drawn = ["color", "depth", "label"].map(|kind| drawn_with(kind, &engine, &everything()));
    assert_eq!(drawn, [2, 2, 1]);
    let only_first = |id| (id == first).then(Isometry3::identity);
    let view = RenderView::new(Isometry3::identity(), &only_first);
    assert_eq!(drawn_with("color", &engine, &view), 1);
    // Copies are independent.
    let mut copy = engine.clone();
    assert!(copy.remove_visual(first));
    assert_eq!(drawn_with("color", &copy, &everything()), 1);
    assert_eq!(drawn_with("color", &engine, &everything()), 2);
    assert!(engine.has_visual(first));
}
