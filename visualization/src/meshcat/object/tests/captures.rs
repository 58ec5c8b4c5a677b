//! Comparison with every `set_object` message recorded from Drake 1.51.1, byte by byte. The
//! exception is the message of a VTK file, which is sent in a different form (see `files`).

use super::*;
use nalgebra::{DMatrix, Vector3};
use std::collections::BTreeMap;
use tarragon_geometry::mesh::TriangleSurfaceMesh;
use tarragon_geometry::{
    BoxShape, Capsule, Convex, Cylinder, Ellipsoid, InMemoryMesh, MemoryFile, Mesh, MeshcatCone,
    Shape, Sphere,
};
use tarragon_sensors::{BaseField, PointCloud};

/// Returns the recorded messages, keyed by the calls that made them.
fn captures() -> BTreeMap<&'static str, Vec<u8>> {
    let lines = include_str!("../../../../tests/captures/set_object_hex.txt").lines();
    let messages = lines.map(|line| {
        let (call, hex) = line.split_once(' ').unwrap();
        let digits: Vec<u8> = hex.chars().map(|c| c.to_digit(16).unwrap() as u8).collect();
        (call, digits.chunks(2).map(|d| d[0] << 4 | d[1]).collect())
    });
    messages.collect()
}

/// Replaces each identifier by the order of its first appearance.
fn numbered(message: &[u8]) -> Vec<u8> {
    // Header of a string of 36 bytes.
    const HEAD: [u8; 2] = [0xd9, 36];
    let mut message = message.to_vec();
    let mut seen: Vec<Vec<u8>> = Vec::new();
    let mut i = 0;
    while i + 38 <= message.len() {
        let text = &message[i + 2..i + 38];
        let is_uuid = [8, 13, 18, 23].iter().all(|k| text[*k] == b'-');
        if message[i..i + 2] != HEAD || !is_uuid {
            i += 1;
            continue;
        }
        let n = seen.iter().position(|s| s == text).unwrap_or_else(|| {
            seen.push(text.to_vec());
            seen.len() - 1
        });
        message[i + 2..i + 38].fill(b'0' + n as u8);
        i += 38;
    }
    message
}

/// Returns the message of an object below `/drake/s/`.
fn message(name: &str, object: &Object) -> Vec<u8> {
    let mut w = Writer::default();
    w.map(3).key_str("type", "set_object");
    w.key_str("path", &format!("/drake/s/{name}")).str("object");
    w.encoded(&object.encoded);
    w.into_inner()
}

fn obj(text: &str) -> InMemoryMesh {
    InMemoryMesh::new(MemoryFile::new(text, ".obj", "t.obj"))
}

const OBJ: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvt 0 0\nvt 1 0\nvt 0 1\nf 1/1 3/3 2/2\n\
                   f 1/1 2/2 4/3\nf 1/1 4/3 3/2\nf 2/1 3/2 4/3\n";

/// Compares with the recorded bytes of the same call with the same arguments.
#[track_caller]
fn check(call: &str, name: &str, encode: impl FnOnce(&Encoder<'_>) -> Result<Object>) {
    let server = Server::default();
    let object = encode(&server.encoder()).unwrap();
    let (found, expected) = (
        numbered(&message(name, &object)),
        numbered(&captures()[call]),
    );
    if found != expected {
        let tree = |mut b: &[u8]| rmpv::decode::read_value(&mut b).unwrap().to_string();
        assert_eq!(tree(&found), tree(&expected), "{call}");
        panic!("{call}: the values are equal, but encoded differently");
    }
}

#[test]
fn primitives_equal_the_recorded_messages() {
    let primitives: [(&str, &str, Shape, Rgba); 7] = [
        (
            "Sphere",
            "sphere",
            Sphere::new(0.5).unwrap().into(),
            rgba(1.0, 0.0, 0.0, 1.0),
        ),
        (
            "Sphere_alpha",
            "sphere_a",
            Sphere::new(0.5).unwrap().into(),
            rgba(1.0, 0.0, 0.0, 0.5),
        ),
        (
            "Box",
            "box",
            BoxShape::new(1.0, 2.0, 3.0).unwrap().into(),
            rgba(0.0, 1.0, 0.0, 1.0),
        ),
        (
            "Cylinder",
            "cyl",
            Cylinder::new(0.5, 2.0).unwrap().into(),
            rgba(0.0, 0.0, 1.0, 1.0),
        ),
        (
            "Capsule",
            "cap",
            Capsule::new(0.5, 2.0).unwrap().into(),
            grey(),
        ),
        (
            "Ellipsoid",
            "ell",
            Ellipsoid::new(1.0, 2.0, 3.0).unwrap().into(),
            grey(),
        ),
        (
            "MeshcatCone",
            "cone",
            MeshcatCone::new(1.0, 0.5, 0.25).unwrap().into(),
            grey(),
        ),
    ];
    for (call, name, primitive, color) in primitives {
        check(&format!("SetObject_{call}"), name, |e| {
            shape(e, &primitive, color)
        });
    }
}

#[test]
fn obj_files_equal_the_recorded_messages() {
    let scaled = Mesh::with_scale(obj(OBJ), Vector3::repeat(2.0)).unwrap();
    check("SetObject_Mesh_obj_no_mtl", "obj", |e| {
        shape(e, &scaled.into(), rgba(1.0, 0.0, 1.0, 1.0))
    });

    // In the recording, the texture is in the message itself.
    let captures = captures();
    let mut recorded = &captures["SetObject_Mesh_obj_with_mtl"][..];
    let recorded = rmpv::decode::read_value(&mut recorded).unwrap();
    let resources = at(&recorded, "object.object.resources").as_map().unwrap();
    let uri = resources[0].1.as_str().unwrap();
    let png = uri.strip_prefix("data:image/png;base64,").unwrap();
    let png = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, png).unwrap();

    let text = OBJ.replace("f 1/1 3/3 2/2\n", "usemtl m\nf 1/1 3/3 2/2\n");
    let mut mesh = obj(&format!("mtllib t.mtl\n{text}"));
    let mtl = MemoryFile::new("newmtl m\nKd 0.5 0.6 0.7\nmap_Kd t.png\n", ".mtl", "t.mtl");
    let texture = MemoryFile::new(png, ".png", "t.png");
    mesh.supporting_files.insert("t.mtl".into(), mtl.into());
    mesh.supporting_files.insert("t.png".into(), texture.into());
    let mesh = Mesh::with_scale(mesh, Vector3::new(1.0, 2.0, 3.0)).unwrap();
    check("SetObject_Mesh_obj_with_mtl", "objm", |e| {
        shape(e, &mesh.into(), grey())
    });
}

#[test]
fn gltf_files_equal_the_recorded_messages_but_for_the_asset() {
    let captures = captures();
    for (call, name) in [("embedded", "gltf"), ("external", "gltfx")] {
        let call = format!("SetObject_Mesh_gltf_{call}");
        let mut recorded = &captures[&*call][..];
        let recorded = rmpv::decode::read_value(&mut recorded).unwrap();
        let sent = at(&recorded, "object.object.data").as_str().unwrap();
        // One triangle: three positions of f32, three indices of u16 and two bytes of padding.
        let base64 = "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAAAAABAAIAAAA=";
        let data = format!("data:application/octet-stream;base64,{base64}");
        let url = "cas-v1/d3478e66e380d8a2b0c9d80f3459f75660efb111e7b801a7d1c1f8f48723d79b";
        assert!(sent.contains(url));
        let file = sent.replace(url, &data).replace(",\"", " ,\n \"");
        let file = InMemoryMesh::new(MemoryFile::new(file, ".gltf", "t.gltf"));
        check(&call, name, |e| {
            let object = shape(e, &Mesh::new(file).into(), grey())?;
            assert_eq!(object.assets.len(), 1);
            assert_eq!(object.assets[0].url(), url);
            assert_eq!(object.assets[0].content.len(), 44);
            Ok(object)
        });
    }
}

/// Drake numbers the vertices of hulls in another order, and splits their faces differently.
#[test]
fn hulls_have_the_same_structure_as_recorded() {
    let server = Server::default();
    let hull = Shape::from(Convex::new(obj(OBJ)));
    let object = shape(&server.encoder(), &hull, grey()).unwrap();
    let object = message("convex", &object);
    let captures = captures();
    let recorded = &captures["SetObject_Convex_obj"];
    assert_eq!(object.len(), recorded.len());
    let read = |mut bytes: &[u8]| rmpv::decode::read_value(&mut bytes).unwrap();
    let [found, expected] = [&object, recorded].map(|m| read(&numbered(m)));
    for path in [
        "geometries.0.data.attributes.position.array",
        "geometries.0.data.index.array",
    ] {
        let [found, expected] = [&found, &expected].map(|m| at(m, &format!("object.{path}")));
        let bytes = |v: &Value| v.as_ext().map(|(kind, b)| (kind, b.len()));
        assert_eq!(bytes(found), bytes(expected));
    }
    for path in ["object.metadata", "object.materials", "object.object"] {
        assert_eq!(at(&found, path), at(&expected, path));
    }

    let corners = |v: &Value| {
        let all = floats(at(v, &format!("object.{POSITIONS}")));
        let mut all: Vec<_> = all.chunks(3).map(<[f32]>::to_vec).collect();
        all.sort_by(|a, b| a.partial_cmp(b).unwrap());
        all
    };
    assert_eq!(corners(&found), corners(&expected));
}

#[test]
fn point_clouds_equal_the_recorded_messages() {
    let mut cloud = PointCloud::new(3, BaseField::XYZS);
    let points = [0.0, 1.0, 2.0].map(|i| Vector3::new(i, i + 3.0, i + 6.0));
    cloud.xyzs_mut().copy_from_slice(&points);
    check("SetObject_PointCloud", "pc", |e| {
        point_cloud(e, &cloud, 0.01, rgba(0.0, 1.0, 0.0, 1.0))
    });
    cloud.set_fields(BaseField::XYZS | BaseField::RGBS);
    cloud.xyzs_mut().copy_from_slice(&points);
    cloud
        .rgbs_mut()
        .copy_from_slice(&[[255, 0, 0], [0, 255, 0], [0, 0, 255]]);
    check("SetObject_PointCloud_rgb", "pc2", |e| {
        point_cloud(e, &cloud, 0.01, grey())
    });
}

fn v(x: f64, y: f64, z: f64) -> Vector3<f64> {
    Vector3::new(x, y, z)
}

#[test]
fn lines_equal_the_recorded_messages() {
    let points = [v(0.0, 0.0, 0.0), v(1.0, 1.0, 0.0), v(2.0, 0.0, 1.0)];
    check("SetLine", "line", |e| {
        line(e, &points, 2.0, rgba(0.0, 0.0, 1.0, 1.0))
    });

    let captures = captures();
    let mut recorded = &captures["SetLineSegments"][..];
    let recorded = rmpv::decode::read_value(&mut recorded).unwrap();
    let sent = floats(at(&recorded, &format!("object.{POSITIONS}")));
    let points: Vec<_> = sent
        .chunks(3)
        .map(|p| v(p[0].into(), p[1].into(), p[2].into()))
        .collect();
    let every_other = |first: usize| {
        points[first..]
            .iter()
            .step_by(2)
            .copied()
            .collect::<Vec<_>>()
    };
    let (start, end) = (every_other(0), every_other(1));
    assert_eq!((start[1], end[0]), (v(1.0, 1.0, 0.0), v(1.0, 1.0, 1.0)));
    check("SetLineSegments", "seg", |e| {
        line_segments(e, &start, &end, 3.0, rgba(1.0, 0.0, 1.0, 1.0))
    });
}

#[test]
fn surfaces_equal_the_recorded_messages() {
    let vertices = [
        v(0.0, 0.0, 0.0),
        v(1.0, 0.0, 0.0),
        v(0.0, 1.0, 0.0),
        v(0.0, 0.0, 1.0),
    ];
    let faces = [[0, 1, 2], [0, 2, 3]];
    let style = SurfaceStyle {
        rgba: Some(rgba(0.1, 0.2, 0.3, 1.0)),
        ..SurfaceStyle::default()
    };
    check("SetTriangleMesh", "tri", |e| {
        triangle_mesh(e, &vertices, &faces, &style)
    });
    let mut thick = SurfaceStyle {
        rgba: Some(rgba(0.1, 0.2, 0.3, 0.5)),
        wireframe: true,
        wireframe_line_width: 2.0,
        side: SideOfFaceToRender::Front,
    };
    check("SetTriangleMesh_wireframe_front", "triw", |e| {
        triangle_mesh(e, &vertices, &faces, &thick)
    });
    thick.wireframe = false;
    thick.side = SideOfFaceToRender::Back;
    check("SetTriangleMesh_back", "trib", |e| {
        triangle_mesh(e, &vertices, &faces, &thick)
    });

    let colors = [
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, 0.0, 1.0],
        [1.0, 1.0, 1.0],
    ];
    check("SetTriangleColorMesh", "tric", |e| {
        triangle_color_mesh(e, &vertices, &faces, &colors, &SurfaceStyle::default())
    });

    let mesh = TriangleSurfaceMesh::new([[0, 1, 2]], vertices[..3].to_vec()).unwrap();
    let style = SurfaceStyle {
        rgba: Some(rgba(0.5, 0.5, 0.5, 1.0)),
        ..SurfaceStyle::default()
    };
    check("SetObject_TriangleSurfaceMesh", "tsm", |e| {
        surface_mesh(e, &mesh, &style)
    });
}

#[test]
fn plotted_surfaces_equal_the_recorded_messages() {
    let x = DMatrix::from_row_slice(2, 3, &[0.0, 0.5, 1.0, 0.0, 0.5, 1.0]);
    let y = DMatrix::from_row_slice(2, 3, &[0.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
    let z = x.component_mul(&y);
    let mut style = SurfaceStyle {
        rgba: Some(rgba(0.0, 0.0, 0.9, 1.0)),
        ..SurfaceStyle::default()
    };
    check("PlotSurface", "plot", |e| {
        plot_surface(e, &x, &y, &z, &style)
    });
    style.wireframe = true;
    check("PlotSurface_wire", "plotw", |e| {
        plot_surface(e, &x, &y, &z, &style)
    });
}
