//! Tests that invalid files are refused with a message and never cause a panic.

use super::{Data, glb, message, read, square};
use crate::mesh::import::gltf::*;
use proptest::prelude::*;
use serde_json::{Value, json};

#[test]
fn errors_name_file_and_place() {
    type Change = fn(&mut Value);
    let cases: [(Change, &str); 24] = [
        (
            |d| d["nodes"][0]["skin"] = json!(0),
            "nodes[0] must have no skin, which is not supported",
        ),
        (
            |d| d["meshes"][0]["primitives"][0]["targets"] = json!([{"POSITION": 0}]),
            "meshes[0].primitives[0] must have no morph targets",
        ),
        (
            |d| d["asset"]["version"] = json!("1.0"),
            "version of the glTF must be 2.0, got '1.0'",
        ),
        (
            |d| d["extensionsRequired"] = json!(["KHR_a", "EXT_b"]),
            "requires the extensions KHR_a, EXT_b",
        ),
        (
            |d| {
                d["accessors"][0]["sparse"] = json!({"count": 1, "indices": {"bufferView": 0, "componentType": 5121},
            "values": {"bufferView": 0}})
            },
            "accessors[0] (POSITION) is sparse",
        ),
        (
            |d| d["accessors"][0]["count"] = json!(5),
            "has only 48 bytes",
        ),
        (
            |d| d["accessors"][0]["count"] = json!(1u64 << 40),
            "1099511627776 vertices",
        ),
        (
            |d| d["accessors"][0]["byteOffset"] = json!(u64::MAX),
            "has only 48 bytes",
        ),
        (
            |d| d["accessors"][0]["count"] = json!(0),
            "indices must be below the number of vertices, 0, got 0",
        ),
        (
            |d| d["accessors"][0]["type"] = json!("VEC2"),
            "must be Vec3, got Vec2",
        ),
        (
            |d| d["accessors"][0]["componentType"] = json!(5123),
            "POSITION must be F32, got U16",
        ),
        (
            |d| d["accessors"][1]["count"] = json!(3),
            "NORMAL must have as many elements as POSITION, 4, got 3",
        ),
        (
            |d| d["accessors"][3]["componentType"] = json!(5126),
            "indices must be U8, U16 or U32, got F32",
        ),
        (
            |d| d["accessors"][3]["componentType"] = json!(7),
            "accessors[3].componentType: the value must be one",
        ),
        (
            |d| d["bufferViews"][0]["byteLength"] = json!(u64::MAX),
            "but buffers[0] has only 140 bytes",
        ),
        (
            |d| d["bufferViews"][0]["byteStride"] = json!(4),
            "must have a stride of at least 12 bytes, got 4",
        ),
        (
            |d| d["bufferViews"][0]["buffer"] = json!(9),
            "bufferViews[0].buffer: the index must refer to an existing object",
        ),
        (
            |d| d["buffers"][0]["byteLength"] = json!(u64::MAX),
            "buffers[0] ('data:",
        ),
        (
            |d| d["buffers"][0]["uri"] = json!("http://x/y.bin"),
            "must be a relative path or begin with 'data:'",
        ),
        (
            |d| d["buffers"][0]["uri"] = Value::Null,
            "buffers[0] must have a uri",
        ),
        (
            |d| d["meshes"][0]["primitives"][0]["attributes"]["POSITION"] = json!(99),
            "in accessors[99], but there are 4",
        ),
        (
            |d| d["meshes"][0]["primitives"][0]["attributes"] = json!({}),
            "[\"POSITION\"]: it is missing",
        ),
        (
            |d| d["nodes"][0]["rotation"] = json!([0, 0, 0, 0]),
            "nodes[0].rotation must be a unit quaternion, got [0.0, 0.0, 0.0, 0.0]",
        ),
        (
            |d| d["nodes"][0]["matrix"] = json!([1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]),
            "the last row must be [0, 0, 0, 1], got",
        ),
    ];
    for (change, expected) in cases {
        let (_, mut document) = square();
        change(&mut document);
        let text = message(&document);
        assert!(
            text.starts_with("/m/x.gltf: ") && text.contains(expected),
            "{expected}: {text}"
        );
    }
    for (text, expected) in [
        ("", "invalid glTF 2.0 document at line 1, column 0"),
        ("{}", "missing field `asset`"),
        (
            "{\"asset\": {\"version\": \"2.0\"}}",
            "the scene must have at least one triangle",
        ),
    ] {
        let found = parse_gltf(Path::new("x.gltf"), text.as_bytes())
            .unwrap_err()
            .to_string();
        assert!(found.contains(expected), "{found}");
    }
    let cut = parse_gltf(Path::new("x.gltf"), b"{\n \"asset\"").unwrap_err();
    let expected =
        "x.gltf: invalid glTF 2.0 document at line 2, column 8: EOF while parsing an object";
    assert_eq!(cut.to_string(), expected);
}

#[test]
fn vertices_must_be_finite() {
    for bad in [f32::NAN, f32::INFINITY] {
        let mut data = Data::default();
        let position = data.floats("VEC3", &[[0., 0., 0.], [1., 0., bad], [0., 1., 0.]]);
        let text = message(&data.document(json!({"attributes": {"POSITION": position}})));
        assert!(
            text.contains(
                "accessors[0]: coordinates of vertex 1 in nodes[0] must be finite, got ("
            ),
            "{text}"
        );
    }
    let (_, mut document) = square();
    document["nodes"][0]["translation"] = json!([1e300, 0, 0]);
    // Too large for the single precision of glTF. The JSON reader may refuse it first if it is
    // built to round exactly.
    let text = message(&document);
    let refused = ["must be finite", "out of range"];
    assert!(refused.iter().any(|words| text.contains(words)), "{text}");
}

#[test]
fn too_many_instances_are_refused_before_allocating_memory() {
    let mut data = Data::default();
    let position = data.floats("VEC3", &[[0.0; 3]; 60_000]);
    let mut document = data.document(json!({"attributes": {"POSITION": position}}));
    document["nodes"] = vec![json!({"mesh": 0}); 1000].into();
    document["scenes"][0]["nodes"] = (0..1000).collect();
    let text = message(&document);
    assert!(
        text.contains("got 60000000 vertices and 20000000 triangles"),
        "{text}"
    );
}

/// Collects the JSON pointers of all values of a document.
fn pointers(value: &Value, here: String, all: &mut Vec<String>) {
    all.push(here.clone());
    match value {
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                pointers(item, format!("{here}/{i}"), all);
            }
        }
        Value::Object(items) => {
            for (key, item) in items {
                pointers(item, format!("{here}/{key}"), all);
            }
        }
        _ => {}
    }
}

/// Creates a document with an example of every kind of object.
fn rich() -> (Data, Value) {
    let (mut data, _) = square();
    let tangent = data.floats("VEC4", &[[1., 0., 0., 1.]; 4]);
    let mut document = data.document(json!({
        "attributes": {
            "POSITION": 0, "NORMAL": 1, "TEXCOORD_0": 2, "TEXCOORD_1": 2, "TANGENT": tangent
        },
        "indices": 3, "material": 0, "targets": [],
    }));
    let transform = json!({"KHR_texture_transform": {
        "offset": [0.5, 0], "rotation": 1, "scale": [2, 1], "texCoord": 1
    }});
    document["materials"] = json!([{
        "alphaMode": "OPAQUE",
        "pbrMetallicRoughness": {
            "baseColorFactor": [1, 1, 1, 1], "baseColorTexture": {"index": 0, "texCoord": 0},
            "metallicRoughnessTexture": {"index": 0, "extensions": transform},
        },
        "normalTexture": {"index": 0, "scale": 0.5, "extensions": transform},
        "occlusionTexture": {"index": 0, "strength": 0.5, "texCoord": 1},
        "emissiveTexture": {"index": 0},
        "extensions": {"KHR_materials_unlit": {}},
    }]);
    document["extensionsUsed"] = json!(["KHR_texture_transform", "KHR_materials_unlit"]);
    document["extensionsRequired"] = document["extensionsUsed"].clone();
    document["textures"] = json!([{"source": 0, "sampler": 0}]);
    document["samplers"] = json!([{"wrapS": 10497}]);
    document["images"] = json!([{"bufferView": 0, "mimeType": "image/png", "uri": "x.png"}]);
    document["bufferViews"][0]["byteStride"] = json!(12);
    document["accessors"][2]["normalized"] = json!(false);
    document["nodes"] = json!([
        {"mesh": 0, "scale": [1, 1, 1], "children": [1]},
        {"mesh": 0, "matrix": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]},
    ]);
    document["skins"] = json!([{"joints": [1], "inverseBindMatrices": 0, "skeleton": 0}]);
    document["animations"] = json!([{
        "channels": [{"sampler": 0, "target": {"node": 0, "path": "scale"}}],
        "samplers": [{"input": 0, "output": 1}]
    }]);
    document["cameras"] = json!([{"type": "perspective", "perspective": {"yfov": 1, "znear": 1}}]);
    (data, document)
}

fn replacement() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        Just(json!({})),
        Just(json!([])),
        any::<bool>().prop_map(Value::from),
        (-2i64..12).prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(|x| json!(x)),
        (5119u32..5128).prop_map(Value::from),
        proptest::sample::select(vec![
            "",
            "VEC2",
            "VEC3",
            "VEC4",
            "SCALAR",
            "MAT4",
            "data:;base64,AAAA",
            "/dev/zero",
            "image/png"
        ])
        .prop_map(Value::from),
        proptest::collection::vec(any::<f32>(), 0..17).prop_map(Value::from),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn changed_documents_do_not_panic(
        changes in proptest::collection::vec(
            (any::<proptest::sample::Index>(), any::<bool>(), replacement()), 1..4
        )
    ) {
        let (data, mut document) = rich();
        prop_assert!(read(&document).is_ok());
        for (place, remove, value) in changes {
            let mut all = Vec::new();
            pointers(&document, String::new(), &mut all);
            let place = place.get(&all);
            let (parent, key) = place.rsplit_once('/').unwrap_or_default();
            match document.pointer_mut(parent) {
                Some(Value::Object(parent)) if remove => { parent.remove(key); }
                _ => if let Some(target) = document.pointer_mut(place) { *target = value },
            }
        }
        if let Ok(mesh) = read(&document) {
            consistent(&mesh)?;
        }
        let _ = parse_gltf(Path::new("x.glb"), &glb(&document, &data.bytes));
    }

    #[test]
    fn changed_bytes_do_not_panic(
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 0..8),
        end in any::<proptest::sample::Index>(),
        cut in any::<bool>(),
    ) {
        let (data, mut document) = rich();
        document["buffers"][0].as_object_mut().unwrap().remove("uri");
        let mut bytes = glb(&document, &data.bytes);
        for (place, byte) in changes {
            let n = bytes.len();
            bytes[place.index(n)] = byte;
        }
        if cut {
            bytes.truncate(end.index(bytes.len()));
        }
        if let Ok(mesh) = parse_gltf(Path::new("x.glb"), &bytes) {
            consistent(&mesh)?;
        }
    }

    #[test]
    fn any_bytes_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = parse_gltf(Path::new("x.gltf"), &bytes);
        let binary = [b"glTF\x02\0\0\0".to_vec(), bytes].concat();
        let _ = parse_gltf(Path::new("x.glb"), &binary);
    }
}

/// Checks the invariants that all users of a mesh rely on.
fn consistent(mesh: &RenderMesh) -> Result<(), TestCaseError> {
    let n = mesh.triangles.len();
    prop_assert!(n > 0 && mesh.triangle_normals.len() == n);
    let within = |all: &[[u32; 3]], len: usize, none: u32| {
        all.as_flattened()
            .iter()
            .all(|i| (*i as usize) < len || *i == none)
    };
    prop_assert!(within(&mesh.triangles, mesh.positions.len(), u32::MAX - 1));
    prop_assert!(within(
        &mesh.triangle_normals,
        mesh.normals.len(),
        u32::MAX - 1
    ));
    for uvs in [&mesh.triangle_uvs, &mesh.triangle_second_uvs] {
        prop_assert!(uvs.is_empty() || uvs.len() == n);
        prop_assert!(within(uvs, mesh.uvs.len(), RenderMesh::NO_UV));
    }
    let tangents = &mesh.triangle_tangents;
    prop_assert!(tangents.is_empty() || tangents.len() == n);
    prop_assert!(tangents.iter().flatten().flatten().all(|x| x.is_finite()));
    prop_assert!(
        mesh.positions
            .iter()
            .all(|p| p.iter().all(|x| x.is_finite()))
    );
    let covered = mesh.groups.iter().try_fold(0, |at, g| {
        (g.triangles.start == at).then_some(g.triangles.end)
    });
    prop_assert_eq!(covered, Some(n));
    let materials = mesh.materials.len();
    prop_assert!(
        mesh.groups
            .iter()
            .all(|g| g.material.is_none_or(|m| m < materials))
    );
    Ok(())
}
