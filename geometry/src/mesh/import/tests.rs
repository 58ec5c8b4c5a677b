//! Tests of valid and invalid mesh files, from disk and memory.

use super::mtl;
use super::origin::FileOrigin;
use super::*;
use crate::error::Result;
use crate::mesh::RenderMesh;
use crate::mesh::Texture;
use crate::mesh::TextureImage;
use crate::mesh::parse_obj;
use crate::mesh::parse_stl;
use crate::mesh::read_source;
use crate::mesh::source::{InMemoryMesh, MemoryFile};
use nalgebra::Vector3;
use proptest::prelude::*;
use std::path::Path;

const CUBE_TOP: &str = "v 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n";

fn obj(text: &str) -> Result<RenderMesh> {
    parse_obj(Path::new("x.obj"), text.as_bytes())
}
fn message(text: &str) -> String {
    obj(text).unwrap_err().to_string()
}

#[test]
fn indices_count_from_one_or_backwards() {
    let a = obj(&format!("{CUBE_TOP}f 1 2 3")).unwrap();
    let b = obj(&format!("{CUBE_TOP}f -4 -3 -2")).unwrap();
    assert_eq!(a, b);
    assert_eq!(a.triangles, [[0, 1, 2]]);
    assert_eq!(a.normals, [Vector3::z(); 3]);
    assert!(a.triangle_uvs.is_empty());
}

#[test]
fn normals_and_texture_coordinates_are_read() {
    let m = obj(&format!(
        "{CUBE_TOP}vn 0 0 -2\nvt 0.5 0.25\nf 1/1/1 2/1/1 3//1 \\\n4/1/1 # end"
    ))
    .unwrap();
    assert_eq!(m.triangles, [[0, 1, 3], [1, 2, 3]]);
    assert_eq!(m.triangle_normals, [[0; 3]; 2]);
    assert_eq!(m.normals, [-Vector3::z()]);
    assert_eq!(m.triangle_uvs, [[0, 0, 0], [0, RenderMesh::NO_UV, 0]]);
}

#[test]
fn missing_material_file_is_named_once() {
    let path = Path::new("nowhere/leaf.obj");
    let text = b"mtllib my.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    let (read, warnings) = tarragon_framework::warnings::collect(|| parse_obj(path, text));
    read.unwrap();
    let expected = "nowhere/leaf.obj:1: material file 'nowhere/my.mtl': ";
    assert!(warnings[0].starts_with(expected), "{warnings:?}");
    assert_eq!(warnings[0].matches("my.mtl").count(), 1, "{warnings:?}");
}

#[test]
fn obj_errors_name_the_line() {
    for (text, expected) in [
        ("v 0 0", "x.obj:1: z of the vertex is missing"),
        (
            "\nv 0 inf 0",
            "x.obj:2: y of the vertex must be a finite number, got 'inf'",
        ),
        (
            "v 0 0 0\nf 1 2 3",
            "x.obj:2: the index of a vertex must be within the 1 defined so far, got 2",
        ),
        (
            "v 0 0 0\nf 0 1 1",
            "x.obj:2: the index of a vertex must be within the 1 defined so far, got 0",
        ),
        (
            "v 0 0 0\nf 1 1",
            "x.obj:2: the mesh must have at least one face, got none",
        ),
        (
            "v 0 0 0\nf 1//2 1 1",
            "the index of a normal must be within the 0 defined so far, got 2",
        ),
        ("v 0 0 0\nf 1/2/3/4 1 1", "within the 0 defined so far"),
        ("v 0 0 0\nf a 1 1", "must be a whole number, got 'a'"),
        (
            "v 0 0 0\nf / 1 1",
            "the corner must be v, v/vt, v//vn or v/vt/vn, got '/'",
        ),
        (
            "v 0 0 0\ns x",
            "x.obj:2: the smoothing group must be a number, 'on' or 'off', got 'x'",
        ),
        ("", "x.obj:1: the mesh must have at least one face"),
    ] {
        let found = message(text);
        assert!(found.contains(expected), "{text:?}: {found}");
    }
}

/// MuJoCo 3.3.7 leaves such faces out, as exporters write them for edges and points.
#[test]
fn faces_with_fewer_than_three_corners_are_left_out_with_a_warning() {
    let read = || obj(&format!("{CUBE_TOP}f 1 2\nf 1\nf 1 2 3 4"));
    let (mesh, warnings) = tarragon_framework::warnings::collect(read);
    assert_eq!(mesh.unwrap().triangles.len(), 2);
    let [warning] = &warnings[..] else {
        panic!("{warnings:?}");
    };
    assert!(
        warning.contains("2 faces, of which this is the first, have fewer than three corners"),
        "{warning}"
    );
}

#[test]
fn unknown_extensions_are_refused() {
    for name in ["a.3ds", "a.ply", "a"] {
        let text = read(Path::new(name)).unwrap_err().to_string();
        assert!(
            text.contains("mesh files must end in .obj, .stl, .gltf, .glb, .dae or .vtk, got '"),
            "{text}"
        );
    }
    let text = read(Path::new("/no/such/file.STL"))
        .unwrap_err()
        .to_string();
    assert!(text.starts_with("/no/such/file.STL: "), "{text}");
}

#[test]
fn mirroring_scales_keep_normals_pointing_outwards() {
    let m = obj(&format!("{CUBE_TOP}f 1 2 3 4"))
        .unwrap()
        .scaled(&Vector3::new(-1.0, 2.0, -3.0));
    for (t, n) in m.triangles.iter().zip(&m.triangle_normals) {
        let [a, b, c] = t.map(|i| m.positions[i as usize]);
        let face = (b - a).cross(&(c - a)).normalize();
        assert!((face - m.normals[n[0] as usize]).norm() < 1e-15);
        assert_eq!(face, -Vector3::z());
    }
    let m = obj(&format!("{CUBE_TOP}f 1 2 3 4"))
        .unwrap()
        .scaled(&Vector3::new(-1.0, 2.0, 3.0));
    let [a, b, c] = m.triangles[0].map(|i| m.positions[i as usize]);
    assert!((b - a).cross(&(c - a)).z > 0.0);
}

/// A glTF document of one triangle whose positions and image are in other files.
const GLTF: &str = r#"{"asset": {"version": "2.0"}, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
    "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "material": 0}]}],
    "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3",
                   "min": [0, 0, 0], "max": [1, 1, 0]}],
    "bufferViews": [{"buffer": 0, "byteLength": 36}],
    "buffers": [{"byteLength": 36, "uri": "the%20points.bin"}],
    "materials": [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}],
    "textures": [{"source": 0}], "images": [{"uri": "wood.png"}]}"#;

#[test]
fn supporting_files_from_memory_and_disk() {
    let corners = [0f32, 0., 0., 1., 0., 0., 0., 1., 0.];
    let points: Vec<u8> = corners.iter().flat_map(|x| x.to_le_bytes()).collect();
    let png = MemoryFile::new(*b"\x89PNG\r\n\x1a\nwood", ".png", "");
    let mut gltf = InMemoryMesh::new(MemoryFile::new(GLTF, ".gltf", "one triangle"));
    let read = |mesh: &InMemoryMesh| read_source(&mesh.clone().into());
    let e = read(&gltf).unwrap_err().to_string();
    assert!(
        e.contains("one triangle: buffers[0]: 'the%20points.bin' is not among"),
        "{e}"
    );
    // Supporting files have the names that the mesh file uses.
    let points = MemoryFile::new(points, ".bin", "");
    gltf.supporting_files
        .insert("the%20points.bin".into(), points.clone().into());
    let mesh = read(&gltf).unwrap();
    assert_eq!((mesh.positions.len(), mesh.triangles.len()), (3, 1));
    assert_eq!(mesh.materials[0].diffuse_map, None);
    let content = || Some(TextureImage::Content(png.contents().clone()).into());
    gltf.supporting_files
        .insert("wood.png".into(), png.clone().into());
    let mesh = read(&gltf).unwrap();
    assert_eq!(mesh.materials[0].diffuse_map, content());
    gltf.supporting_files
        .insert("wood.png".into(), "/tex/wood.png".into());
    let mesh = read(&gltf).unwrap();
    assert_eq!(
        mesh.materials[0].diffuse_map,
        Some(Texture::file("/tex/wood.png"))
    );
    gltf.supporting_files
        .insert("the%20points.bin".into(), "/no/such.bin".into());
    let e = read(&gltf).unwrap_err().to_string();
    assert!(
        e.contains("buffers[0]") && e.contains("/no/such.bin"),
        "{e}"
    );

    let text = "mtllib my.mtl\nusemtl a\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    let mut obj = InMemoryMesh::new(MemoryFile::new(text, ".obj", "leaf"));
    // A missing material file is no error.
    let (read_obj, warnings) = tarragon_framework::warnings::collect(|| read(&obj).unwrap());
    assert_eq!(read_obj.groups[0].material, None);
    let told = "material file 'my.mtl' is not among the supporting files";
    assert!(warnings[0].contains(told), "{warnings:?}");
    let mtl = MemoryFile::new("newmtl a\nKd 0 1 0\nmap_Kd dir\\w.png\n", ".mtl", "");
    obj.supporting_files.insert("my.mtl".into(), mtl.into());
    assert_eq!(read(&obj).unwrap().materials[0].diffuse_map, None);
    obj.supporting_files
        .insert("dir\\w.png".into(), png.clone().into());
    let mesh = read(&obj).unwrap();
    assert_eq!(mesh.groups[0].material, Some(0));
    assert_eq!(mesh.materials[0].diffuse_map, content());
    let bad = MemoryFile::new("newmtl a\nKd x", ".mtl", "");
    obj.supporting_files.insert("my.mtl".into(), bad.into());
    let (_, warnings) = tarragon_framework::warnings::collect(|| read(&obj).unwrap());
    assert!(
        warnings[0].starts_with("my.mtl:2: red of Kd must be a finite number, got 'x'"),
        "{warnings:?}"
    );
}

proptest! {
    /// Reading never panics, whatever the bytes.
    #[test]
    fn readers_accept_or_refuse_any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = parse_obj(Path::new("x.obj"), &bytes);
        let _ = parse_stl(Path::new("x.stl"), &bytes);
        let _ = mtl::parse(FileOrigin::on_disk(Path::new("x.mtl")), &bytes);
        let mut solid = b"solid ".to_vec();
        solid.extend(&bytes);
        let _ = parse_stl(Path::new("x.stl"), &solid);
    }

    /// Reading never panics, whatever the words.
    #[test]
    fn readers_accept_or_refuse_any_words(words in proptest::collection::vec(
        prop_oneof![
            Just("v 1 2 3\n".to_owned()), Just("vt 0 1\n".into()), Just("vn 0 0 0\n".into()), Just("f ".into()),
            Just("s 1\n".into()), Just("usemtl a\n".into()), Just("\n".into()), Just("\\\n".into()), Just("newmtl ".into()),
            Just("Kd ".into()), Just("d ".into()), Just("vertex ".into()), Just("endloop\n".into()), Just("map_Kd ".into()),
            Just("v 1e308 -1e308 1e308\n".into()), Just("v 1e-320 0 0\n".into()),
            "-?[0-9]{1,3}(/-?[0-9]{0,20}){0,3} ", "[ -~]{0,6}",
        ], 0..60)
    ) {
        let text = words.concat();
        let _ = parse_obj(Path::new("x.obj"), text.as_bytes());
        let _ = mtl::parse(FileOrigin::on_disk(Path::new("x.mtl")), text.as_bytes());
        let _ = parse_stl(Path::new("x.stl"), format!("solid\n{text}").as_bytes());
    }
}

/// Repositories that keep meshes in Git LFS hold pointers where they were not fetched.
#[test]
fn pointers_of_git_lfs_are_named_with_the_cure() {
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n";
    for suffix in MESH_SUFFIXES {
        let file = MemoryFile::new(pointer, format!(".{suffix}"), "robot");
        let error = read_source(&InMemoryMesh::new(file).into()).unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("Git LFS") && text.contains("git lfs pull"),
            "{text}"
        );
    }
}

#[test]
fn a_byte_order_mark_is_skipped() {
    let text = format!("{CUBE_TOP}f 1 2 3");
    assert_eq!(
        obj(&format!("\u{feff}{text}")).unwrap(),
        obj(&text).unwrap()
    );
}
