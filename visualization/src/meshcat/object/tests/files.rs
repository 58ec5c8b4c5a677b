//! Mesh files: how each format is sent, and which files are rejected.

use super::*;
use nalgebra::Vector3;
use std::path::Path;
use std::process::Command;
use tarragon_geometry::{Convex, InMemoryMesh, MemoryFile, Mesh, MeshSource};

pub(super) fn memory(content: impl AsRef<[u8]>, extension: &str) -> InMemoryMesh {
    InMemoryMesh::new(MemoryFile::new(content, extension, format!("t{extension}")))
}

pub(super) fn sent(server: &Server, source: impl Into<MeshSource>) -> Result<Object> {
    shape(&server.encoder(), &Mesh::new(source).into(), grey())
}

/// Returns the encoded mesh as a tree.
pub(super) fn tree(source: impl Into<MeshSource>) -> Value {
    decoded(sent(&Server::default(), source).unwrap())
}

pub(super) fn text<'v>(object: &'v Value, path: &str) -> &'v str {
    at(object, path).as_str().unwrap()
}

const TRIANGLE: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
pub(super) const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";
const JPEG: &[u8] = b"\xff\xd8\xff\xe0";

#[test]
fn an_obj_file_is_sent_with_its_materials_and_textures() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, content: &[u8]| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    };
    write(
        "a.obj",
        format!("mtllib my lib/a.mtl\nmtllib b.mtl missing.mtl\n{TRIANGLE}").as_bytes(),
    );
    let a = "newmtl a\nmap_Kd -s 1 1 1 wood.png\nmap_Ks ..\\photo.jpg\nmap_d missing.png";
    write("my lib/a.mtl", a.as_bytes());
    write("my lib/wood.png", PNG);
    write("photo.jpg", JPEG);
    write("b.mtl", b"newmtl b\nKd 1 0 0\n");
    let mesh = tree(folder.path().join("a.obj"));
    let object = at(&mesh, "object");
    let fields = [
        "uuid",
        "type",
        "format",
        "data",
        "mtl_library",
        "resources",
        "matrix",
    ];
    assert_eq!(keys(object), fields);
    assert_eq!(text(object, "type"), "_meshfile_object");
    assert_eq!(
        text(object, "mtl_library"),
        format!("{a}\nnewmtl b\nKd 1 0 0\n")
    );
    let resources = at(object, "resources");
    assert_eq!(keys(resources), ["..\\photo.jpg", "wood.png"]);
    let uris = resources
        .as_map()
        .unwrap()
        .iter()
        .map(|(_, uri)| uri.as_str().unwrap());
    let expected = [
        "data:image/jpeg;base64,/9j/4A==",
        "data:image/png;base64,iVBORw0KGgo=",
    ];
    assert_eq!(uris.collect::<Vec<_>>(), expected);
}

#[test]
fn an_obj_file_without_materials_is_painted_with_an_image() {
    let folder = tempfile::tempdir().unwrap();
    let image = folder.path().join("wood.png");
    std::fs::write(&image, PNG).unwrap();
    let painted = |content: &str, map: &Path| {
        let paint = Paint {
            rgba: grey(),
            diffuse_map: Some((map, rgba(1.0, 0.5, 0.0, 0.25))),
        };
        let mesh = Mesh::new(memory(content, ".obj")).into();
        let server = Server::default();
        decoded(shape(&server.encoder(), &mesh, paint).unwrap())
    };
    let content = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nusemtl top\nf 1/1 2/1 3/1\n";
    let mesh = painted(content, &image);
    let object = at(&mesh, "object");
    assert_eq!(text(object, "type"), "_meshfile_object");
    assert_eq!(
        text(object, "data"),
        format!("usemtl diffuse_map\n{content}")
    );
    let look = "Kd 1 0.5 0\nd 0.25\nmap_Kd diffuse_map\n";
    assert_eq!(
        text(object, "mtl_library"),
        format!("newmtl diffuse_map\n{look}newmtl top\n{look}")
    );
    let uri = "data:image/png;base64,iVBORw0KGgo=";
    assert_eq!(text(object, "resources.diffuse_map"), uri);
    // Without the image, or without coordinates in it, the mesh has its colour.
    let missing = folder.path().join("missing.png");
    for mesh in [painted(content, &missing), painted(TRIANGLE, &image)] {
        let color = at(&mesh, "materials.0.color").as_u64();
        assert_eq!(color, Some(0xe5_e5_e5));
    }
}

/// As in Drake, the mesh is shown in the requested colour.
#[test]
fn an_obj_file_without_its_material_file_is_shown() {
    for content in [
        format!("mtllib missing.mtl\n{TRIANGLE}"),
        format!("# \u{fffd}\n{TRIANGLE}"),
    ] {
        let mesh = tree(memory(&content, ".obj"));
        assert_eq!(text(&mesh, "geometries.0.type"), "_meshfile_geometry");
        assert_eq!(text(&mesh, "geometries.0.data"), content);
        assert_eq!(at(&mesh, "materials.0.color").as_u64(), Some(0xe5e5e5));
    }
    let latin = [b"# \xe9\n", TRIANGLE.as_bytes()].concat();
    let mesh = tree(memory(latin, ".obj"));
    assert_eq!(
        text(&mesh, "geometries.0.data"),
        format!("# \u{fffd}\n{TRIANGLE}")
    );
}

const STL: &str = "solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n\
                   endloop\nendfacet\nendsolid\n";
const VTK: &str = "# vtk DataFile Version 3.0\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 double\n\
                   0 0 0\n1 0 0\n0 1 0\n0 0 1\nCELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n10\n";

/// Returns an attribute of the only geometry.
fn attribute(object: &Value, name: &str) -> Vec<f32> {
    floats(at(
        object,
        &format!("geometries.0.data.attributes.{name}.array"),
    ))
}

#[test]
fn an_stl_file_is_sent_as_triangles() {
    let mesh = Mesh::with_scale(memory(STL, ".stl"), Vector3::new(1.0, 2.0, -3.0)).unwrap();
    let server = Server::default();
    let object = decoded(shape(&server.encoder(), &mesh.into(), grey()).unwrap());
    assert_eq!(
        attribute(&object, "position"),
        [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]
    );
    assert_eq!(
        attribute(&object, "normal"),
        [0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0]
    );
    assert_eq!(indices(at(&object, INDEX)), [0, 1, 2]);
    assert_eq!(at(&object, "materials.0.color").as_u64(), Some(0xe5e5e5));
    let matrix = at(&object, "object.matrix").as_array().unwrap();
    let diagonal = [0, 5, 10, 15].map(|i| matrix[i].as_f64().unwrap());
    assert_eq!(diagonal, [1.0, 2.0, -3.0, 1.0]);
}

/// Drake sends the text of the file, which its page cannot show. Every page can show triangles.
#[test]
fn a_vtk_file_is_sent_as_the_boundary_of_its_tetrahedra() {
    let object = tree(memory(VTK, ".vtk"));
    let (index, positions) = (indices(at(&object, INDEX)), attribute(&object, "position"));
    let normals = attribute(&object, "normal");
    assert_eq!(index.len(), 12, "four faces");
    let vector = |list: &[f32], i: u32| Vector3::from_column_slice(&list[3 * i as usize..][..3]);
    let mut volume = 0.0;
    for t in index.chunks(3) {
        let [a, b, c] = [t[0], t[1], t[2]].map(|i| vector(&positions, i));
        volume += a.dot(&b.cross(&c)) / 6.0;
        let face = (b - a).cross(&(c - a)).normalize();
        for corner in t {
            // Edges at the corner of a cube are sharp.
            assert!((vector(&normals, *corner) - face).norm() < 1e-6);
        }
    }
    assert!(
        (volume - 1.0 / 6.0).abs() < 1e-7,
        "closed, with faces outwards: {volume}"
    );
}

/// Returns a document of two triangles with the two given materials.
fn dae(first: &str, second: &str) -> String {
    let effect = |id: &str, color: &str| {
        format!(
            "<effect id='e{id}'><profile_COMMON><technique sid='t'><lambert><diffuse><color>{color}\
             </color></diffuse></lambert></technique></profile_COMMON></effect>"
        )
    };
    let material =
        |id: &str| format!("<material id='m{id}'><instance_effect url='#e{id}'/></material>");
    let triangles = |id: &str, p: &str| {
        format!(
            "<triangles material='s{id}' count='1'><input semantic='VERTEX' source='#v' offset='0'/>\
             <p>{p}</p></triangles>"
        )
    };
    let bind = |id: &str| format!("<instance_material symbol='s{id}' target='#m{id}'/>");
    format!(
        "<COLLADA xmlns='http://www.collada.org/2005/11/COLLADASchema' version='1.4.1'>\
         <asset><up_axis>Z_UP</up_axis></asset>\
         <library_effects>{}{}</library_effects><library_materials>{}{}</library_materials>\
         <library_geometries><geometry id='g'><mesh><source id='p'>\
         <float_array id='pa' count='12'>0 0 0 1 0 0 0 1 0 1 1 0</float_array>\
         <technique_common><accessor source='#pa' count='4' stride='3'><param name='X' type='float'/>\
         <param name='Y' type='float'/><param name='Z' type='float'/></accessor></technique_common>\
         </source><vertices id='v'><input semantic='POSITION' source='#p'/></vertices>{}{}</mesh>\
         </geometry></library_geometries><library_visual_scenes><visual_scene id='s'><node>\
         <instance_geometry url='#g'><bind_material><technique_common>{}{}</technique_common>\
         </bind_material></instance_geometry></node></visual_scene></library_visual_scenes>\
         <scene><instance_visual_scene url='#s'/></scene></COLLADA>",
        effect("1", first),
        effect("2", second),
        material("1"),
        material("2"),
        triangles("1", "0 1 2"),
        triangles("2", "1 3 2"),
        bind("1"),
        bind("2"),
    )
}

#[test]
fn colours_of_collada_files_are_those_of_the_material_or_of_vertices() {
    let one = tree(memory(dae("1 0 0 1", "1 0 0 1"), ".dae"));
    assert_eq!(at(&one, "materials.0.color").as_u64(), Some(0xff0000));
    assert_eq!(at(&one, "materials.0.vertexColors").as_bool(), Some(false));
    assert_eq!(
        attribute(&one, "position").len(),
        12,
        "flat, with two corners shared"
    );

    let two = tree(memory(dae("1 0 0 1", "0 0 0.5 1"), ".dae"));
    assert_eq!(at(&two, "materials.0.color").as_u64(), Some(0xffffff));
    assert_eq!(at(&two, "materials.0.vertexColors").as_bool(), Some(true));
    let (index, colors) = (indices(at(&two, INDEX)), attribute(&two, "color"));
    // An sRGB value of 0.5 is 0.21404 in linear light (IEC 61966-2-1).
    for (triangle, expected) in index.chunks(3).zip([[1.0, 0.0, 0.0], [0.0, 0.0, 0.21404]]) {
        for corner in triangle {
            let color = &colors[3 * *corner as usize..][..3];
            assert!(
                color
                    .iter()
                    .zip(expected)
                    .all(|(c, e)| (c - e).abs() < 1e-5),
                "{color:?}"
            );
        }
    }
}

#[test]
fn errors_name_the_file_that_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::default();
    for extension in ["obj", "gltf", "glb", "stl", "dae", "vtk"] {
        let path = folder.path().join(format!("missing.{extension}"));
        refused(
            sent(&server, &path),
            &[&path.display().to_string(), "No such file"],
        );
    }
    let refused_everywhere = |path: &Path, message: &str| {
        let name = path.display().to_string();
        refused(sent(&server, path), &[&name, message]);
        let hull = shape(&server.encoder(), &Convex::new(path).into(), grey());
        refused(hull, &[&name, message]);
    };
    for extension in ["obj", "gltf", "stl", "vtk"] {
        let path = folder.path().join(format!("folder.{extension}"));
        std::fs::create_dir(&path).unwrap();
        refused_everywhere(&path, "must be a file, got a folder");
    }
    let large = folder.path().join("large.stl");
    std::fs::File::create(&large)
        .unwrap()
        .set_len((1 << 30) + 1)
        .unwrap();
    refused_everywhere(
        &large,
        "the file must have at most 1073741824 bytes, got 1073741825",
    );
    refused(
        sent(&server, memory("", ".PLY")),
        &["t.PLY: mesh files must end in .obj, .gltf, .glb, .stl, .dae or .vtk, got '.ply'"],
    );
}

/// Files that are endless or wait for a writer are rejected before they are opened.
#[cfg(unix)]
#[test]
fn devices_and_pipes_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::default();
    for extension in ["obj", "gltf", "stl"] {
        let path = folder.path().join(format!("zero.{extension}"));
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        refused(
            sent(&server, &path),
            &["must be a file, got a device or a pipe"],
        );
    }
    let pipe = folder.path().join("pipe.mtl");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let obj = folder.path().join("a.obj");
    std::fs::write(&obj, format!("mtllib pipe.mtl\n{TRIANGLE}")).unwrap();
    let object = decoded(sent(&server, &obj).unwrap());
    assert_eq!(
        text(&object, "geometries.0.type"),
        "_meshfile_geometry",
        "shown without it"
    );
}
