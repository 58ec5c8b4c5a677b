//! Everything that can be put into the scene appears.

use crate::browser::chromium::Tab;
use crate::browser::{page, settle, share};
use nalgebra::{DMatrix, Isometry3, Matrix4, Vector3};
use tarragon_framework::prelude::*;
use tarragon_geometry::mesh::{SurfaceTriangle, TriangleSurfaceMesh};
use tarragon_geometry::{
    Bone, BoxShape, Capsule, Convex, Cylinder, Ellipsoid, FileSource, GeometryInstance, HalfSpace,
    IllustrationProperties, InMemoryMesh, MemoryFile, Mesh, MeshcatCone, Rgba, SceneGraph, Shape,
    Skin, Sphere,
};
use tarragon_sensors::{BaseField, ImageIo, ImageRgba8U, PointCloud};
use tarragon_visualization::{
    Meshcat, MeshcatVisualizer, MeshcatVisualizerParams, OrthographicCamera, SurfaceStyle,
};

/// Returns the colour of the scene, which the page itself does not use.
fn magenta() -> Rgba {
    Rgba::new(1.0, 0.0, 1.0, 1.0).unwrap()
}
/// Returns whether a pixel has that colour under any light.
fn is_magenta([r, g, b, _]: [u8; 4]) -> bool {
    let (r, g, b) = (i32::from(r), i32::from(g), i32::from(b));
    r > 50 && b > 50 && (r - b).abs() < 60 && g < r / 2 + 20
}

/// A box of 2 m x 0.5 m x 1 m.
const OBJ: &str = "v -1 -.25 -.5\nv 1 -.25 -.5\nv 1 .25 -.5\nv -1 .25 -.5\nv -1 -.25 .5\nv 1 -.25 .5\n\
    v 1 .25 .5\nv -1 .25 .5\nf 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";
const MTL: &str = "newmtl m\nKd 1 0 1\n";

/// Returns a mesh file with the files that it refers to.
fn file(name: &str, text: &str, beside: &[(&str, &[u8])]) -> InMemoryMesh {
    let memory = |name: &str, bytes: &[u8]| {
        let extension = &name[name.rfind('.').unwrap()..];
        MemoryFile::new(bytes, extension, name)
    };
    let mut mesh = InMemoryMesh::new(memory(name, text.as_bytes()));
    for (name, bytes) in beside {
        let file = memory(name, bytes);
        mesh.supporting_files
            .insert((*name).into(), FileSource::Memory(file));
    }
    mesh
}
fn obj() -> InMemoryMesh {
    file("box.obj", OBJ, &[])
}
fn obj_with_material() -> InMemoryMesh {
    let text = format!("mtllib m.mtl\nusemtl m\n{OBJ}");
    file("box.obj", &text, &[("m.mtl", MTL.as_bytes())])
}
/// Shows a mesh without materials in the colours of an image file, which its properties name. A
/// skin follows a bone that has moved it from 5 m away.
fn painted(meshcat: &Meshcat, is_skin: bool) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("magenta.png");
    let image = ImageRgba8U::from_data(2, 2, [255, 0, 255, 255].repeat(4)).unwrap();
    ImageIo::default().save(&image, &path).unwrap();
    let text = format!("{OBJ}vt 0 0\nvt 1 0\nvt 1 1\n").replace("f 4 3 2 1", "f 4/1 3/2 2/3 1/1");
    let everywhere = |line: &str| match line.strip_prefix("f ") {
        Some(corners) => format!(
            "f {}\n",
            corners
                .split(' ')
                .map(|v| format!("{v}/1 "))
                .collect::<String>()
        ),
        None => format!("{line}\n"),
    };
    let text = if is_skin {
        format!(
            "vt 0 0\n{}",
            OBJ.lines().map(everywhere).collect::<String>()
        )
    } else {
        text
    };
    let mesh = Mesh::new(file("box.obj", &text, &[]));
    let looks = IllustrationProperties::new().with_diffuse_map(&path);
    let mesh = GeometryInstance::new(Isometry3::identity(), mesh, "box").unwrap();
    let mut scene = SceneGraph::new();
    let source = scene.register_source("painted").unwrap();
    let mesh = mesh.with_illustration(looks);
    if is_skin {
        let weights = (0..8).map(|v| (v, 1.0)).collect();
        let (frame, x_wf) = (
            scene.world_frame_id(),
            Isometry3::translation(5.0, 0.0, 0.0),
        );
        let skin = Skin::new(vec![Bone {
            frame,
            x_wf,
            weights,
        }]);
        let far = mesh.pose().translation.vector + x_wf.translation.vector;
        let mut mesh = mesh;
        mesh.set_pose(Isometry3::translation(far.x, far.y, far.z));
        scene.register_skin(source, mesh, skin).unwrap();
    } else {
        scene.register_anchored_geometry(source, mesh).unwrap();
    }
    let mut b = DiagramBuilder::new();
    let scene = b.add("scene_graph", scene);
    let params = MeshcatVisualizerParams {
        prefix: "it".into(),
        ..Default::default()
    };
    MeshcatVisualizer::add_to_builder(&mut b, scene.query, meshcat.clone(), params).unwrap();
    b.build()
        .unwrap()
        .default_context()
        .force_publish()
        .unwrap();
}
/// Returns a triangle of 1 m^2 in the x-y plane of a y-up file, which is the x-z plane here.
fn gltf() -> InMemoryMesh {
    let vertices = [-1.0f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    let bytes: Vec<u8> = vertices.iter().flat_map(|v| v.to_le_bytes()).collect();
    let text = r#"{"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0]}],"nodes":[{"mesh":0}],
        "meshes":[{"primitives":[{"attributes":{"POSITION":0},"material":0}]}],
        "materials":[{"doubleSided":true,"pbrMetallicRoughness":{"baseColorFactor":[1,0,1,1],"metallicFactor":0}}],
        "accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3","min":[-1,0,0],"max":[1,1,0]}],
        "bufferViews":[{"buffer":0,"byteLength":36}],"buffers":[{"byteLength":36,"uri":"t.bin"}]}"#;
    file("t.gltf", text, &[("t.bin", &bytes)])
}

/// Name of a set call, the call, and the share of the picture that its object covers. The camera
/// shows the square of 4 m x 3 m about the origin in the x-z plane.
type Case = (&'static str, fn(&Meshcat), std::ops::Range<f64>);

fn shape(meshcat: &Meshcat, shape: impl Into<Shape>) {
    meshcat.set_object("it", &shape.into(), magenta()).unwrap();
}

const CASES: [Case; 22] = [
    // Areas in the x-z plane divided by 12 m^2, with tolerance for edges and for shaded faces.
    (
        "sphere",
        |m| shape(m, Sphere::new(1.0).unwrap()),
        0.23..0.27,
    ),
    (
        "box",
        |m| shape(m, BoxShape::new(2.0, 0.5, 1.0).unwrap()),
        0.15..0.18,
    ),
    (
        "cylinder",
        |m| shape(m, Cylinder::new(0.5, 2.0).unwrap()),
        0.15..0.18,
    ),
    (
        "capsule",
        |m| shape(m, Capsule::new(0.5, 1.0).unwrap()),
        0.13..0.16,
    ),
    (
        "ellipsoid",
        |m| shape(m, Ellipsoid::new(1.5, 0.2, 0.5).unwrap()),
        0.18..0.21,
    ),
    (
        "cone",
        |m| shape(m, MeshcatCone::new(1.0, 1.0, 0.5).unwrap()),
        0.07..0.095,
    ),
    ("half space", |m| shape(m, HalfSpace), 0.33..0.34),
    ("convex", |m| shape(m, Convex::new(obj())), 0.15..0.18),
    ("obj", |m| shape(m, Mesh::new(obj())), 0.15..0.18),
    (
        "obj with material",
        |m| shape(m, Mesh::new(obj_with_material())),
        0.15..0.18,
    ),
    ("painted obj", |m| painted(m, false), 0.15..0.18),
    ("painted skin", |m| painted(m, true), 0.15..0.18),
    ("gltf", |m| shape(m, Mesh::new(gltf())), 0.08..0.09),
    ("triangles", triangles, 0.08..0.09),
    ("surface mesh", surface_mesh, 0.08..0.09),
    ("coloured triangles", coloured, 0.08..0.09),
    ("wireframe", wireframe, 0.001..0.03),
    ("plot", plot, 0.30..0.36),
    ("line", line, 0.002..0.02),
    ("segments", segments, 0.002..0.02),
    ("points", points, 0.012..0.015),
    ("sheared sphere", sheared, 0.45..0.55),
];

/// Returns a triangle of 1 m^2 in the x-z plane.
fn corners() -> [Vector3<f64>; 3] {
    [
        Vector3::new(-1.0, 0.0, 0.0),
        Vector3::new(1.0, 0.0, 0.0),
        Vector3::new(0.0, 0.0, 1.0),
    ]
}
fn style() -> SurfaceStyle {
    SurfaceStyle {
        rgba: Some(magenta()),
        ..Default::default()
    }
}
fn triangles(meshcat: &Meshcat) {
    meshcat
        .set_triangle_mesh("it", &corners(), &[[0, 1, 2]], &style())
        .unwrap();
}
fn surface_mesh(meshcat: &Meshcat) {
    let mesh =
        TriangleSurfaceMesh::new(vec![SurfaceTriangle::new(0, 1, 2)], corners().into()).unwrap();
    meshcat.set_surface_mesh("it", &mesh, &style()).unwrap();
}
fn coloured(meshcat: &Meshcat) {
    let colors = [[1.0, 0.0, 1.0]; 3];
    meshcat
        .set_triangle_color_mesh("it", &corners(), &[[0, 1, 2]], &colors, &style())
        .unwrap();
}
fn wireframe(meshcat: &Meshcat) {
    let style = SurfaceStyle {
        wireframe: true,
        ..style()
    };
    meshcat
        .set_triangle_mesh("it", &corners(), &[[0, 1, 2]], &style)
        .unwrap();
}
fn plot(meshcat: &Meshcat) {
    let u = |i: usize| i as f64 / 4.0 * 2.0 - 1.0;
    let x = DMatrix::from_fn(5, 5, |i, _| u(i));
    let y = DMatrix::from_fn(5, 5, |_, _| 0.0);
    let z = DMatrix::from_fn(5, 5, |_, j| u(j));
    meshcat.plot_surface("it", &x, &y, &z, &style()).unwrap();
}
fn line(meshcat: &Meshcat) {
    meshcat.set_line("it", &corners(), 3.0, magenta()).unwrap();
}
fn segments(meshcat: &Meshcat) {
    let [a, b, c] = corners();
    meshcat
        .set_line_segments("it", &[a, b], &[b, c], 3.0, magenta())
        .unwrap();
}
fn points(meshcat: &Meshcat) {
    let mut cloud = PointCloud::new(400, BaseField::XYZS);
    for (i, p) in cloud.xyzs_mut().iter_mut().enumerate() {
        *p = Vector3::new(
            (i % 20) as f32 * 0.1 - 1.0,
            0.0,
            (i / 20) as f32 * 0.1 - 1.0,
        );
    }
    // Orthographic cameras interpret the size in pixels (three.js `PointsMaterial`).
    meshcat
        .set_point_cloud("it", &cloud, 4.0, magenta())
        .unwrap();
}
fn sheared(meshcat: &Meshcat) {
    shape(meshcat, Sphere::new(1.0).unwrap());
    let twice = Matrix4::from_diagonal(&nalgebra::Vector4::new(2.0, 1.0, 1.0, 1.0));
    meshcat.set_transform_matrix("it", &twice);
}

/// Shows only the scene, seen along +y.
fn bare_view(meshcat: &Meshcat) {
    meshcat
        .set_2d_render_mode(
            &Isometry3::translation(0.0, -5.0, 0.0),
            -2.0,
            2.0,
            -1.5,
            1.5,
        )
        .unwrap();
    let camera = OrthographicCamera {
        left: -2.0,
        right: 2.0,
        top: 1.5,
        bottom: -1.5,
        ..Default::default()
    };
    meshcat.set_camera(camera).unwrap();
}

#[test]
fn every_object_appears() {
    let Some((meshcat, mut tab)) = page() else {
        return;
    };
    bare_view(&meshcat);
    let mut wrong = Vec::new();
    for (name, set, expected) in CASES {
        meshcat.delete("");
        set(&meshcat);
        settle(&meshcat, &mut tab);
        let found = share(&tab.screenshot(), is_magenta);
        eprintln!("{name}: {found:.4} of the picture");
        if !expected.contains(&found) {
            wrong.push(format!("{name} must cover {expected:?}, got {found:.4}"));
        }
        assert_eq!(
            tab.eval("window.tarragon.node('/drake/it') !== null"),
            true,
            "{name}"
        );
    }
    meshcat.delete("");
    settle(&meshcat, &mut tab);
    let left = share(&tab.screenshot(), is_magenta);
    assert!(
        wrong.is_empty() && left < 1e-4,
        "{wrong:#?}, {left} remains after the deletion"
    );
    assert_eq!(tab.eval("window.tarragon.errors"), serde_json::json!([]));
}

fn number(tab: &mut Tab, expression: &str) -> f64 {
    tab.eval(expression).as_f64().unwrap()
}

#[test]
fn transforms_properties_and_deletions_are_shown() {
    let Some((meshcat, mut tab)) = page() else {
        return;
    };
    shape(&meshcat, Sphere::new(0.5).unwrap());
    meshcat.set_transform("it", &Isometry3::translation(1.0, 2.0, 3.0));
    settle(&meshcat, &mut tab);
    let x = "window.tarragon.node('/drake/it').matrix.elements[12]";
    assert_eq!(number(&mut tab, x), 1.0);
    // Batched and single transforms of the same path.
    meshcat.set_transform_matrix(
        "it",
        &Matrix4::from_diagonal(&nalgebra::Vector4::new(1.0, 2.0, 3.0, 1.0)),
    );
    settle(&meshcat, &mut tab);
    assert_eq!(number(&mut tab, x), 0.0);
    meshcat.set_property("it", "visible", false);
    meshcat.set_property("it/<object>", "material.opacity", 0.25);
    settle(&meshcat, &mut tab);
    assert_eq!(tab.eval("window.tarragon.node('/drake/it').visible"), false);
    let opacity = "window.tarragon.node('/drake/it/<object>').material.opacity";
    assert_eq!(number(&mut tab, opacity), 0.25);
    meshcat.set_property("it", "label", "12.3 mm");
    settle(&meshcat, &mut tab);
    let labels = "window.tarragon.node('/drake/it').children.filter(c => c.isSprite).length";
    assert_eq!(number(&mut tab, labels), 1.0);
    meshcat.set_property("it", "label", "");
    settle(&meshcat, &mut tab);
    assert_eq!(number(&mut tab, labels), 0.0);
    meshcat.set_property("/Background", "top_color", [1.0, 0.0, 0.0]);
    meshcat.delete("it");
    settle(&meshcat, &mut tab);
    assert_eq!(
        tab.eval("window.tarragon.node('/drake/it')"),
        serde_json::Value::Null
    );
    assert_eq!(tab.eval("window.tarragon.errors"), serde_json::json!([]));
}

/// A page that loses its server shows the scene of the next one, without anything of the first.
#[test]
fn a_page_follows_a_restarted_server() {
    let Some((meshcat, mut tab)) = page() else {
        return;
    };
    meshcat
        .set_object("old", &Sphere::new(0.5).unwrap().into(), magenta())
        .unwrap();
    settle(&meshcat, &mut tab);
    let port = Some(meshcat.port());
    drop(meshcat);
    tab.wait("!window.tarragon.connected");
    let meshcat = Meshcat::new(tarragon_visualization::MeshcatParams {
        port,
        ..Default::default()
    })
    .unwrap();
    meshcat
        .set_object("new", &Sphere::new(0.5).unwrap().into(), magenta())
        .unwrap();
    tab.wait("window.tarragon.connected && window.tarragon.node('/drake/new')");
    assert_eq!(
        tab.eval("window.tarragon.node('/drake/old')"),
        serde_json::Value::Null
    );
}

#[test]
fn a_picture_is_taken_of_a_page() {
    let Some((meshcat, mut tab)) = page() else {
        return;
    };
    bare_view(&meshcat);
    shape(&meshcat, BoxShape::new(2.0, 0.5, 1.0).unwrap());
    settle(&meshcat, &mut tab);
    let picture = meshcat
        .capture_image(400, 300, crate::browser::chromium::PATIENCE)
        .unwrap();
    assert_eq!((picture.width(), picture.height()), (400, 300));
    let found = share(&picture, is_magenta);
    assert!((0.15..0.18).contains(&found), "{found}");
    let error = meshcat
        .capture_image(0, 10, crate::browser::chromium::PATIENCE)
        .unwrap_err();
    assert!(error.to_string().contains("0 x 10"), "{error}");
}
