//! Mesh files: how each format is sent, and what is refused.

use super::*;
use nalgebra::Vector3;
use std::path::Path;
use std::process::Command;
use tarragon_geometry::{Convex, InMemoryMesh, MemoryFile, Mesh, MeshSource};

fn memory(content: impl AsRef<[u8]>, extension: &str) -> InMemoryMesh {
    InMemoryMesh::new(MemoryFile::new(content, extension, format!("t{extension}")))
}

fn sent(server: &Server, source: impl Into<MeshSource>) -> Result<Object> {
    shape(&server.encoder(), &Mesh::new(source).into(), grey())
}

/// A mesh as a tree.
fn tree(source: impl Into<MeshSource>) -> Value {
    decoded(sent(&Server::default(), source).unwrap())
}

fn text<'v>(object: &'v Value, path: &str) -> &'v str {
    at(object, path).as_str().unwrap()
}

const TRIANGLE: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";
const JPEG: &[u8] = b"\xff\xd8\xff\xe0";

#[test]
fn an_obj_file_brings_its_materials_and_textures() {
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

/// As in Drake: the mesh is shown in the colour that was asked for.
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

/// A document of one buffer of six bytes and one image.
fn gltf(buffer: &str, image: &str) -> String {
    format!(
        "{{\"asset\": {{\"version\": \"2.0\", \"x\": 1.0}},\n \"buffers\": [{{\"byteLength\": 6{buffer}}}], \
         \"images\": [{{{image}}}]}}"
    )
}

/// The SHA-256 of "foobar", from coreutils' sha256sum.
const FOOBAR: &str = "c3ab8ff13720e8ad9047dd39466b3c8974e592c2fa383d4a3960714caef0c4f2";

#[test]
fn what_a_gltf_file_refers_to_becomes_assets() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("my buffer.bin"), "foobar").unwrap();
    std::fs::write(folder.path().join("t.png"), PNG).unwrap();
    let on_disk = folder.path().join("t.gltf");
    std::fs::write(
        &on_disk,
        gltf(r#", "uri": "my%20buffer.bin""#, r#""uri": "./t.png""#),
    )
    .unwrap();

    let mut in_memory = memory(gltf(r#", "uri": "b""#, r#""uri": "i""#), ".gltf");
    let files = &mut in_memory.supporting_files;
    files.insert("b".into(), MemoryFile::new("foobar", ".bin", "b").into());
    files.insert("i".into(), folder.path().join("t.png").into());

    let inside = gltf(
        r#", "uri": "data:application/octet-stream;base64,Zm9vYmFy""#,
        r#""uri": "data:,%89PNG%0d%0a%1A%0a""#,
    );
    for source in [
        on_disk.into(),
        in_memory.into(),
        MeshSource::from(memory(inside, ".gltf")),
    ] {
        let server = Server::default();
        let object = sent(&server, source).unwrap();
        let png = server.assets.add(PNG);
        let url = format!("cas-v1/{FOOBAR}");
        let expected = format!(
            "{{\"asset\":{{\"version\":\"2.0\",\"x\":1.0}},\"buffers\":[{{\"byteLength\":6,\
             \"uri\":\"{url}\"}}],\"images\":[{{\"uri\":\"{}\"}}]}}",
            png.url()
        );
        let tree = decoded(&object);
        assert_eq!(text(&tree, "object.data"), expected);
        assert_eq!(text(&tree, "object.format"), "gltf");
        assert_eq!(object.assets.len(), 2);
        assert_eq!(server.assets.get(FOOBAR).unwrap().content, "foobar");
        drop(object);
        assert!(
            server.assets.get(FOOBAR).is_none(),
            "the object alone kept it"
        );
    }
}

/// Drake goes on without them, too.
#[test]
fn images_that_can_not_be_used_are_left_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.gltf");
    for image in [
        "missing.png",
        "https://localhost/a.png",
        "data:image/png;base64,?",
        "data:x",
        "/dev/zero",
    ] {
        let buffer = r#", "uri": "data:,foobar""#;
        let file = gltf(buffer, &format!(r#""uri": "{image}""#));
        std::fs::write(&path, file).unwrap();
        let mesh = tree(&path);
        assert!(
            text(&mesh, "object.data").contains(&format!("\"{image}\"")),
            "{image}"
        );
    }
}

/// A binary glTF of chunks.
fn glb(chunks: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
    let mut file = b"glTF\x02\0\0\0\0\0\0\0".to_vec();
    for (kind, content) in chunks {
        file.extend((content.len() as u32).to_le_bytes());
        file.extend_from_slice(*kind);
        file.extend_from_slice(content);
        file.resize(file.len().next_multiple_of(4), b' ');
    }
    let length = file.len() as u32;
    file[8..12].copy_from_slice(&length.to_le_bytes());
    file
}

#[test]
fn a_binary_gltf_file_is_taken_apart() {
    let json = gltf("", r#""bufferView": 0"#);
    let file = glb(&[
        (b"JSON", json.as_bytes()),
        (b"BIN\0", b"foobar\0\0"),
        (b"XXXX", b"unknown"),
    ]);
    let server = Server::default();
    let object = sent(&server, memory(file, ".glb")).unwrap();
    assert_eq!(object.assets.len(), 1);
    assert_eq!(object.assets[0].content, "foobar\0\0"[..]);
    let tree = decoded(&object);
    let expected = format!(
        "{{\"byteLength\":6,\"uri\":\"{}\"}}",
        object.assets[0].url()
    );
    assert!(text(&tree, "object.data").contains(&expected));
    assert_eq!(text(&tree, "object.format"), "gltf");
}

#[test]
fn gltf_files_that_are_refused() {
    let good = gltf("", "");
    let good = good.as_bytes();
    let cut = |file: Vec<u8>, n: usize| file[..n].to_vec();
    let mut version = glb(&[(b"JSON", good)]);
    version[4] = 1;
    let mut long = glb(&[(b"JSON", good)]);
    long[12] = 0xff;
    let cases: [(Vec<u8>, &str); 14] = [
        (
            b"{ broken".to_vec(),
            "this is not a glTF document: key must be a string at line 1",
        ),
        (b"[]".to_vec(), "a JSON object is expected"),
        ("[".repeat(100_000).into(), "recursion limit"),
        (br#"{"buffers": 3}"#.to_vec(), "buffers is no array"),
        (br#"{"images": [3]}"#.to_vec(), "images[0] is no object"),
        (
            br#"{"buffers": [{"uri": 3}]}"#.to_vec(),
            "buffers[0]: the URI is no string",
        ),
        (gltf("", "").into(), "buffers[0] has no uri"),
        (
            gltf(r#", "uri": "data:,foo""#, "").into(),
            "buffers[0] has 3 bytes, 6 are expected",
        ),
        (
            gltf(r#", "uri": "b.bin""#, "").into(),
            "buffers[0]: the URI 'b.bin' can not be used: it is not among the supporting files",
        ),
        (
            gltf(r#", "uri": "http://h/b""#, "").into(),
            "a relative path or 'data:' is expected",
        ),
        (
            cut(glb(&[(b"JSON", good)]), 10),
            "the file has 10 bytes, a binary glTF header of 12",
        ),
        (
            version,
            "the version of the binary glTF is 1, 2 is expected",
        ),
        (long, "are expected from its header"),
        (
            glb(&[(b"BIN\0", b"foobar")]),
            "the binary glTF has no JSON chunk",
        ),
    ];
    for (file, message) in cases {
        refused(
            sent(&Server::default(), memory(file, ".gltf")),
            &["t.gltf: ", message],
        );
    }
}

const STL: &str = "solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n\
                   endloop\nendfacet\nendsolid\n";
const VTK: &str = "# vtk DataFile Version 3.0\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 double\n\
                   0 0 0\n1 0 0\n0 1 0\n0 0 1\nCELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n10\n";

/// The attribute of the only geometry.
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

/// Drake sends the text, which its page can not show. Triangles are shown by every page.
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
            // Edges of a corner of a cube are sharp.
            assert!((vector(&normals, *corner) - face).norm() < 1e-6);
        }
    }
    assert!(
        (volume - 1.0 / 6.0).abs() < 1e-7,
        "closed, seen from outside: {volume}"
    );
}

/// Two triangles of the two materials that are given.
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
        "flat: two corners are shared"
    );

    let two = tree(memory(dae("1 0 0 1", "0 0 0.5 1"), ".dae"));
    assert_eq!(at(&two, "materials.0.color").as_u64(), Some(0xffffff));
    assert_eq!(at(&two, "materials.0.vertexColors").as_bool(), Some(true));
    let (index, colors) = (indices(at(&two, INDEX)), attribute(&two, "color"));
    // 0.5 on the screen is 0.21404 of the light (IEC 61966-2-1).
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
fn files_that_can_not_be_read_are_named() {
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
        refused_everywhere(&path, "this is a folder, a file is expected");
    }
    let large = folder.path().join("large.stl");
    std::fs::File::create(&large)
        .unwrap()
        .set_len((1 << 30) + 1)
        .unwrap();
    refused_everywhere(
        &large,
        "the file has 1073741825 bytes; at most 1073741824 are expected",
    );
    refused(
        sent(&server, memory("", ".PLY")),
        &[
            "t.PLY: mesh files ending in '.ply' can not be shown, .obj, .gltf, .glb, .stl, .dae or .vtk",
        ],
    );
}

/// What never ends, or waits for a writer, is refused before it is opened.
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
            &["this is a device or a pipe, a file is expected"],
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

/// Small files that refer to many large ones do not fill the memory.
#[test]
fn files_of_one_mesh_share_a_limit() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("small.bin"), "foobar").unwrap();
    let large = std::fs::File::create(folder.path().join("large.bin")).unwrap();
    large.set_len(1 << 30).unwrap();
    let path = folder.path().join("t.gltf");
    let buffers = r#"{"buffers": [{"uri": "small.bin"}, {"uri": "large.bin"}]}"#;
    std::fs::write(&path, buffers).unwrap();
    let left = (1 << 30) - buffers.len() - 6;
    refused(
        sent(&Server::default(), &path),
        &[
            "buffers[1]: the URI 'large.bin' can not be used: ",
            &format!("large.bin: the file has 1073741824 bytes; at most {left} are expected"),
        ],
    );
}
