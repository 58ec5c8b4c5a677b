use super::*;
use crate::mesh::{AlphaMode, Texture, TextureImage, Wrap};
use nalgebra::{Point3, Vector3};
use serde_json::{Value, json};

mod maps;
mod refused;

/// Mesh data in one buffer.
#[derive(Default)]
struct Data {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

impl Data {
    fn push(&mut self, kind: &str, component: u32, count: usize, bytes: &[u8]) -> usize {
        self.views
            .push(json!({"buffer": 0, "byteOffset": self.bytes.len(), "byteLength": bytes.len()}));
        self.bytes.extend(bytes);
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        self.accessors.push(json!({
            "bufferView": self.views.len() - 1,
            "componentType": component, "type": kind, "count": count,
        }));
        self.accessors.len() - 1
    }
    fn floats<const N: usize>(&mut self, kind: &str, values: &[[f32; N]]) -> usize {
        let bytes: Vec<u8> = values
            .as_flattened()
            .iter()
            .flat_map(|x| x.to_le_bytes())
            .collect();
        self.push(kind, 5126, values.len(), &bytes)
    }
    fn indices(&mut self, values: &[u16]) -> usize {
        let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.push("SCALAR", 5123, values.len(), &bytes)
    }
    /// Creates a document with one node and one primitive.
    fn document(&self, primitive: Value) -> Value {
        json!({
            "asset": {"version": "2.0"},
            "scene": 0,
            "scenes": [{"nodes": [0]}],
            "nodes": [{"mesh": 0}],
            "meshes": [{"primitives": [primitive]}],
            "accessors": self.accessors,
            "bufferViews": self.views,
            "buffers": [{"byteLength": self.bytes.len(), "uri": data_uri(&self.bytes)}],
        })
    }
}

fn data_uri(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = "data:application/octet-stream;base64,".to_owned();
    for three in bytes.chunks(3) {
        let bits = (0..3).fold(0u32, |n, k| {
            n << 8 | three.get(k).copied().unwrap_or(0) as u32
        });
        for k in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * k) & 63) as usize];
            text.push(if k > three.len() { '=' } else { digit as char });
        }
    }
    text
}

fn glb(document: &Value, bin: &[u8]) -> Vec<u8> {
    let mut text = document.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let mut bin = bin.to_vec();
    bin.resize(bin.len().next_multiple_of(4), 0);
    let mut bytes = b"glTF".to_vec();
    bytes.extend(2u32.to_le_bytes());
    bytes.extend((28 + text.len() as u32 + bin.len() as u32).to_le_bytes());
    for (kind, chunk) in [(b"JSON", &text), (b"BIN\0", &bin)] {
        bytes.extend((chunk.len() as u32).to_le_bytes());
        bytes.extend(kind);
        bytes.extend(chunk);
    }
    bytes
}

const SQUARE: [[f32; 3]; 4] = [[0., 0., 0.], [1., 0., 0.], [1., 2., 0.], [0., 2., 0.]];

/// Creates a square in the xy plane with normals, texture coordinates and indices.
fn square() -> (Data, Value) {
    let mut data = Data::default();
    let position = data.floats("VEC3", &SQUARE);
    let normal = data.floats("VEC3", &[[0., 0., 1.]; 4]);
    let uv = data.floats("VEC2", &[[0., 1.], [1., 1.], [1., 0.], [0., 0.]]);
    let indices = data.indices(&[0, 1, 2, 0, 2, 3]);
    let document = data.document(json!({
        "attributes": {"POSITION": position, "NORMAL": normal, "TEXCOORD_0": uv},
        "indices": indices,
    }));
    (data, document)
}

fn read(document: &Value) -> Result<RenderMesh> {
    parse_gltf(Path::new("/m/x.gltf"), document.to_string().as_bytes())
}
fn message(document: &Value) -> String {
    read(document).unwrap_err().to_string()
}
fn points(mesh: &RenderMesh) -> Vec<[f64; 3]> {
    mesh.positions.iter().map(|p| p.coords.into()).collect()
}
/// Computes the unit normals of the triangles from their windings.
fn windings(mesh: &RenderMesh) -> Vec<Vector3<f64>> {
    let corners = |t: &[u32; 3]| t.map(|i| mesh.positions[i as usize]);
    let normal = |[a, b, c]: [Point3<f64>; 3]| (b - a).cross(&(c - a)).normalize();
    mesh.triangles.iter().map(|t| normal(corners(t))).collect()
}

#[test]
fn y_up_becomes_z_up() {
    let mesh = read(&square().1).unwrap();
    assert_eq!(
        points(&mesh),
        [[0., 0., 0.], [1., 0., 0.], [1., 0., 2.], [0., 0., 2.]]
    );
    assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3]]);
    assert_eq!(mesh.triangle_normals, mesh.triangles);
    assert_eq!(mesh.triangle_uvs, mesh.triangles);
    assert_eq!(mesh.normals, [-Vector3::y(); 4]);
    assert_eq!(mesh.uvs, [[0., 0.], [1., 0.], [1., 1.], [0., 1.]]);
    assert_eq!(windings(&mesh), [-Vector3::y(); 2]);
    let white = MaterialGroup {
        material: Some(0),
        triangles: 0..2,
    };
    assert_eq!(mesh.groups, [white]);
    assert_eq!(mesh.materials[0].diffuse, Some(crate::Rgba::WHITE));
}

#[test]
fn binary_files_give_the_same_mesh() {
    let (data, mut document) = square();
    let expected = read(&document).unwrap();
    document["buffers"][0]
        .as_object_mut()
        .unwrap()
        .remove("uri");
    let bytes = glb(&document, &data.bytes);
    let path = Path::new("/m/x.glb");
    assert_eq!(parse_gltf(path, &bytes).unwrap(), expected);
    for n in 0..bytes.len() {
        let text = parse_gltf(path, &bytes[..n]).unwrap_err().to_string();
        assert!(text.starts_with("/m/x.glb: "), "{text}");
    }
    let text = parse_gltf(path, &bytes[..100]).unwrap_err().to_string();
    let expected = format!(
        "the file must have {} bytes according to its header, got 100",
        bytes.len()
    );
    assert!(text.contains(&expected), "{text}");
    let mut old = bytes.clone();
    old[4] = 1;
    let text = parse_gltf(path, &old).unwrap_err().to_string();
    assert!(
        text.contains("version of the binary glTF must be 2, got 1"),
        "{text}"
    );
}

#[test]
fn buffers_are_read_from_the_folder_of_the_document() {
    let folder = std::env::temp_dir().join(format!("tarragon-gltf-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (data, mut document) = square();
    let expected = read(&document).unwrap();
    document["buffers"][0]["uri"] = json!("a%20b.bin");
    std::fs::write(folder.join("x.gltf"), document.to_string()).unwrap();
    let read = || crate::mesh::read(&folder.join("x.gltf"));
    let text = read().unwrap_err().to_string();
    assert!(
        text.contains("x.gltf: buffers[0]: ") && text.contains("a b.bin: "),
        "{text}"
    );
    std::fs::write(folder.join("a b.bin"), &data.bytes[..20]).unwrap();
    let text = read().unwrap_err().to_string();
    assert!(
        text.contains("('a%20b.bin') must have 140 bytes, got 20"),
        "{text}"
    );
    std::fs::write(folder.join("a b.bin"), &data.bytes).unwrap();
    assert_eq!(read().unwrap(), expected);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn strips_and_fans_become_triangles() {
    let mut data = Data::default();
    let position = data.floats("VEC3", &SQUARE);
    for (mode, order, expected) in [
        (5, vec![1, 2, 0, 3], vec![[1, 2, 0], [2, 3, 0]]),
        (5, vec![1, 2, 0, 0, 3], vec![[1, 2, 0]]),
        (6, vec![0, 1, 2, 3], vec![[1, 2, 0], [2, 3, 0]]),
    ] {
        let indices = data.indices(&order);
        let primitive =
            json!({"attributes": {"POSITION": position}, "indices": indices, "mode": mode});
        let mesh = read(&data.document(primitive)).unwrap();
        assert_eq!(mesh.triangles, expected, "{order:?}");
        assert!(
            windings(&mesh).iter().all(|n| *n == -Vector3::y()),
            "{order:?}"
        );
    }
    // Without indices, the vertices are used in the order of storage.
    let primitive = json!({"attributes": {"POSITION": position}, "mode": 6});
    let mesh = read(&data.document(primitive)).unwrap();
    assert_eq!(mesh.triangles, [[1, 2, 0], [2, 3, 0]]);
    let primitive = json!({"attributes": {"POSITION": position}});
    let text = message(&data.document(primitive));
    assert!(
        text.contains(
            "primitives[0]: number of corners must be a positive multiple of three, got 4"
        ),
        "{text}"
    );
    for mode in 0..4 {
        let lines = json!({"attributes": {"POSITION": position}, "mode": mode});
        assert!(
            message(&data.document(lines)).contains("the scene must have at least one triangle")
        );
    }
}

#[test]
fn missing_normals_are_those_of_the_triangles() {
    let mut data = Data::default();
    let position = data.floats(
        "VEC3",
        &[[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [0., 1., 0.1]],
    );
    let indices = data.indices(&[0, 1, 2, 0, 1, 3]);
    let primitive = json!({"attributes": {"POSITION": position}, "indices": indices});
    let mesh = read(&data.document(primitive)).unwrap();
    let flat = windings(&mesh);
    for (corners, flat) in mesh.triangle_normals.iter().zip(flat) {
        assert!(
            corners
                .iter()
                .all(|n| (mesh.normals[*n as usize] - flat).norm() < 1e-15)
        );
    }
    assert!(mesh.triangle_uvs.is_empty());
}

#[test]
fn texture_coordinates_may_be_normalized_integers_of_any_set() {
    let mut data = Data::default();
    let position = data.floats("VEC3", &SQUARE[..3]);
    let bytes = data.push("VEC2", 5121, 3, &[0, 255, 51, 0, 255, 102]);
    let words = data.push(
        "VEC2",
        5123,
        3,
        &[0, 0, 255, 255, 51, 51, 0, 0, 255, 255, 102, 102],
    );
    for uv in [bytes, words] {
        data.accessors[uv]["normalized"] = json!(true);
        let attributes = json!({"POSITION": position, "TEXCOORD_1": uv});
        let mut document = data.document(json!({"attributes": attributes, "material": 0}));
        document["materials"] = json!([
            {"pbrMetallicRoughness": {"baseColorTexture": {"index": 0, "texCoord": 1}}}
        ]);
        document["textures"] = json!([{"source": 0}]);
        document["images"] = json!([{"uri": "x.png"}]);
        let mesh = read(&document).unwrap();
        let expected = [[0.0, 0.0], [0.2, 1.0], [1.0, 0.6]];
        for (found, expected) in mesh.uvs.iter().flatten().zip(expected.iter().flatten()) {
            assert!((found - expected).abs() < 1e-15);
        }
        assert_eq!(mesh.triangle_uvs, [[0, 1, 2]]);
    }
}

#[test]
fn nodes_are_placed_in_their_parents() {
    let (_, mut document) = square();
    let half = std::f32::consts::FRAC_1_SQRT_2;
    document["nodes"] = json!([
        {"children": [2], "translation": [10, 0, 0], "rotation": [0, 0, half, half]},
        {"mesh": 0},
        {"mesh": 0, "matrix": [3, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 5, 1]},
        {"mesh": 0, "translation": [1, 1, 1]},
    ]);
    document["scenes"] = json!([{"nodes": [3]}, {"nodes": [0, 1]}]);
    document["scene"] = json!(1);
    let mesh = read(&document).unwrap();
    // (1, 2, 0) of the mesh is (3, 2, 5) in node 0 and (10 - 2, 3, 5) in the scene.
    assert!((mesh.positions[2] - Point3::new(8.0, -5.0, 3.0)).norm() < 1e-6);
    assert_eq!(mesh.positions[6], Point3::new(1.0, 0.0, 2.0));
    assert_eq!(mesh.triangles.len(), 4);
    assert_eq!(mesh.triangles[2], [4, 5, 6]);

    // Without a default, the first scene is read; without any scene, all nodes.
    document.as_object_mut().unwrap().remove("scene");
    assert_eq!(points(&read(&document).unwrap())[0], [1.0, -1.0, 1.0]);
    document.as_object_mut().unwrap().remove("scenes");
    assert_eq!(read(&document).unwrap().triangles.len(), 6);
}

#[test]
fn mirroring_nodes_keep_normals_pointing_outwards() {
    for scale in [
        [-1, 1, 1],
        [1, -2, 1],
        [-1, -1, -1],
        [2, 3, -4],
        [-1, -1, 1],
    ] {
        let (_, mut document) = square();
        document["nodes"][0]["scale"] = json!(scale);
        document["nodes"][0]["rotation"] = json!([0.6, 0, 0, 0.8]);
        let mesh = read(&document).unwrap();
        for (n, winding) in mesh.triangle_normals.iter().zip(windings(&mesh)) {
            assert!(
                (mesh.normals[n[0] as usize] - winding).norm() < 1e-12,
                "{scale:?}"
            );
        }
    }
}

#[test]
fn nodes_must_form_a_tree() {
    for nodes in [
        json!([{"children": [0], "mesh": 0}]),
        json!([{"children": [1], "mesh": 0}, {"children": [0]}]),
        json!([{"children": [1, 2]}, {"children": [3]}, {"children": [3]}, {"mesh": 0}]),
        json!([{"children": [1, 1]}, {"mesh": 0}]),
    ] {
        let (_, mut document) = square();
        document["nodes"] = nodes;
        let text = message(&document);
        assert!(
            text.contains("two parents or is its own descendant"),
            "{text}"
        );
    }
    let (_, mut document) = square();
    let mut chain: Vec<Value> = (1..50_000).map(|i| json!({"children": [i]})).collect();
    chain.push(json!({"mesh": 0}));
    document["nodes"] = chain.into();
    assert_eq!(read(&document).unwrap().triangles.len(), 2);
}

#[test]
fn materials_are_read() {
    let png = b"\x89PNG\r\n\x1a\nrest";
    let (mut data, _) = square();
    data.push("SCALAR", 5121, 1, png);
    let view = data.views.len() - 1;
    data.views[view]["byteLength"] = json!(png.len());
    let mut document = data.document(json!({"attributes": {"POSITION": 0}, "indices": 3}));
    let primitive = |m: usize| json!({"attributes": {"POSITION": 0}, "indices": 3, "material": m});
    document["meshes"][0]["primitives"] = json!([primitive(1), primitive(1), {"attributes": {"POSITION": 0}, "indices": 3}, primitive(0)]);
    let factor = |f: [f32; 4]| json!({"baseColorFactor": f});
    let texture = |i: usize| json!({"pbrMetallicRoughness": {"baseColorTexture": {"index": i}}});
    document["materials"] = json!([
        {"name": "see-through", "alphaMode": "BLEND", "emissiveFactor": [0.0, 0.5, 1.0],
         "pbrMetallicRoughness": factor([0.5, 0.0, 1.0, 0.25])},
        {"pbrMetallicRoughness": factor([0.0, 0.0, 0.0, 0.25])},
        texture(0), texture(1), texture(2), texture(3), texture(4), texture(5),
    ]);
    document["materials"][0]["pbrMetallicRoughness"]["metallicFactor"] = json!(0.25);
    document["materials"][0]["pbrMetallicRoughness"]["roughnessFactor"] = json!(0.5);
    document["materials"][2]["alphaMode"] = json!("MASK");
    document["textures"] = (0..6).map(|i| json!({"source": i})).collect();
    document["textures"][3]["sampler"] = json!(0);
    document["samplers"] = json!([{"wrapS": 33071, "wrapT": 33648}]);
    document["images"] = json!([
        {"uri": "a%20b.PNG"},
        {"bufferView": view, "mimeType": "image/png"},
        {"uri": data_uri(png)},
        {"uri": "photo.jpg", "mimeType": "image/jpeg"},
        {"bufferView": view},
        {"uri": "photo.ktx2"},
    ]);
    let mesh = read(&document).unwrap();
    let groups: Vec<_> = mesh
        .groups
        .iter()
        .map(|g| (g.material.unwrap(), g.triangles.len()))
        .collect();
    assert_eq!(groups, [(1, 4), (8, 2), (0, 2)]);
    let [r, g, b, a] = mesh.materials[0].diffuse.unwrap().rgba();
    assert!((r - 0.7297).abs() < 1e-4 && [g, b, a] == [0.0, 1.0, 0.25]);
    assert_eq!(mesh.materials[0].name, "see-through");
    assert_eq!(mesh.materials[1].diffuse.unwrap().a(), 1.0);
    let map = |i: usize| mesh.materials[i].diffuse_map.clone();
    assert_eq!(map(2), Some(Texture::file("/m/a b.PNG")));
    for i in [3, 4, 6] {
        let embedded = TextureImage::Content(png.as_slice().into());
        assert_eq!(map(i), Some(embedded.into()), "{i}");
    }
    let clamped = Texture {
        wrap: [Wrap::ClampToEdge, Wrap::MirroredRepeat],
        ..Texture::file("/m/photo.jpg")
    };
    assert_eq!(map(5), Some(clamped));
    // Images in other formats are left out.
    assert_eq!(map(7), None);
    assert_eq!(mesh.materials[7].diffuse, Some(crate::Rgba::WHITE));
    let model = |i: usize| mesh.materials[i].metallic_roughness.clone().unwrap();
    assert_eq!((model(0).metallic, model(0).roughness), (0.25, 0.5));
    assert_eq!((model(1).metallic, model(1).roughness), (1.0, 1.0));
    assert_eq!(model(0).emissive, [0.0, 0.5, 1.0]);
    let modes = [0, 1, 2].map(|i| mesh.materials[i].alpha_mode);
    assert_eq!(
        modes,
        [AlphaMode::Blend, AlphaMode::Opaque, AlphaMode::Mask(0.5)]
    );
}

#[test]
fn vertex_colours_of_every_component_type_are_linear() {
    let kinds: [(&str, u32, Vec<u8>); 3] = [
        ("VEC4", 5121, [255, 0, 51, 102].repeat(4)),
        (
            "VEC4",
            5123,
            [65535_u16, 0, 13107, 26214]
                .repeat(4)
                .iter()
                .flat_map(|x| x.to_le_bytes())
                .collect(),
        ),
        (
            "VEC4",
            5126,
            [1.0_f32, 0.0, 0.2, 0.4]
                .repeat(4)
                .iter()
                .flat_map(|x| x.to_le_bytes())
                .collect(),
        ),
    ];
    for (shape, component, bytes) in kinds {
        let (mut data, _) = square();
        data.push(shape, component, 4, &bytes);
        let accessor = data.accessors.len() - 1;
        data.accessors[accessor]["normalized"] = json!(component != 5126);
        let colored = json!({"attributes": {"POSITION": 0, "COLOR_0": accessor}, "indices": 3});
        let mut document = data.document(colored);
        let mesh = read(&document).unwrap();
        for c in &mesh.colors {
            for (x, expected) in c.iter().zip([1.0, 0.0, 0.2, 0.4]) {
                assert!(
                    (x - expected).abs() < 1e-5,
                    "{component}: {x}, not {expected}"
                );
            }
        }
        assert_eq!(mesh.colors.len(), 4);
        // Vertices without a colour are white.
        let plain = json!({"attributes": {"POSITION": 0}, "indices": 3});
        let primitives = document["meshes"][0]["primitives"].as_array_mut().unwrap();
        primitives.insert(0, plain);
        let mesh = read(&document).unwrap();
        assert_eq!(mesh.colors.len(), 8);
        assert_eq!(mesh.colors[0], [1.0; 4]);
    }
}
