//! glTF files: the files they refer to, and which files are rejected.

use super::files::{PNG, memory, sent, text, tree};
use super::*;
use proptest::prelude::*;
use tarragon_geometry::{MemoryFile, MeshSource};

/// Returns a document of one buffer of six bytes and one image.
fn gltf(buffer: &str, image: &str) -> String {
    format!(
        "{{\"asset\": {{\"version\": \"2.0\", \"x\": 1.0}},\n \"buffers\": [{{\"byteLength\": 6{buffer}}}], \
         \"images\": [{{{image}}}]}}"
    )
}

/// SHA-256 of "foobar", computed by coreutils' sha256sum.
const FOOBAR: &str = "c3ab8ff13720e8ad9047dd39466b3c8974e592c2fa383d4a3960714caef0c4f2";

#[test]
fn files_that_a_gltf_file_refers_to_become_assets() {
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
            "only the object kept the asset"
        );
    }
}

/// Drake also shows the mesh without them.
#[test]
fn images_that_cannot_be_used_stay_unchanged() {
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

/// Returns a binary glTF file of the given chunks.
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
fn a_binary_gltf_file_is_split_into_json_and_buffer() {
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
fn broken_gltf_files_are_rejected() {
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
            "not a glTF document: key must be a string at line 1",
        ),
        (b"[]".to_vec(), "the JSON value must be an object"),
        ("[".repeat(100_000).into(), "recursion limit"),
        (br#"{"buffers": 3}"#.to_vec(), "buffers must be an array"),
        (
            br#"{"images": [3]}"#.to_vec(),
            "images[0] must be an object",
        ),
        (
            br#"{"buffers": [{"uri": 3}]}"#.to_vec(),
            "buffers[0]: the URI must be a string",
        ),
        (gltf("", "").into(), "buffers[0] must have a uri"),
        (
            gltf(r#", "uri": "data:,foo""#, "").into(),
            "buffers[0] must have 6 bytes, as its byteLength says, got 3",
        ),
        (
            gltf(r#", "uri": "b.bin""#, "").into(),
            "buffers[0]: the URI 'b.bin' cannot be used: it is not among the supporting files",
        ),
        (
            gltf(r#", "uri": "http://h/b""#, "").into(),
            "it must be a relative path or start with 'data:'",
        ),
        (
            cut(glb(&[(b"JSON", good)]), 10),
            "a binary glTF header of 12 bytes, got 10 bytes",
        ),
        (version, "the version of the binary glTF must be 2, got 1"),
        (long, "bytes, as its header says, got"),
        (
            glb(&[(b"BIN\0", b"foobar")]),
            "the binary glTF must have a JSON chunk",
        ),
    ];
    for (file, message) in cases {
        refused(
            sent(&Server::default(), memory(file, ".gltf")),
            &["t.gltf: ", message],
        );
    }
}

proptest! {
    /// Any damage to a binary file gives an error, not a panic.
    #[test]
    fn broken_binary_files_never_panic(at in 0usize..200, byte in any::<u8>(), length in 0usize..200) {
        let json = gltf("", "");
        let mut file = glb(&[(b"JSON", json.as_bytes()), (b"BIN\0", b"foobar\0\0")]);
        let n = file.len();
        file[at % n] = byte;
        file.truncate(4.max(n - length % n));
        let server = Server::default();
        if let Ok(object) = sent(&server, memory(file, ".glb")) {
            decoded(object);
        }
    }
}

/// Small files that refer to many large files do not exhaust the memory.
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
            "buffers[1]: the URI 'large.bin' cannot be used: ",
            &format!("large.bin: the file must have at most {left} bytes, got 1073741824"),
        ],
    );
}
