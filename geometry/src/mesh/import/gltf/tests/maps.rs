//! Tests of textures other than that of the base colour, and of what places them on the surface.

use super::{Data, read, square};
use crate::ErrorKind;
use crate::mesh::{RenderMesh, Texture};
use serde_json::{Value, json};

/// Returns the square with a material, and images `0.png` to `4.png` as textures 0 to 4.
fn with_material(material: Value) -> Value {
    let (mut data, _) = square();
    let second = data.floats("VEC2", &[[0.5, 1.], [1., 1.], [1., 0.], [0.5, 0.]]);
    let tangent = data.floats("VEC4", &[[0., 2., 0., -1.]; 4]);
    let mut document = data.document(json!({
        "attributes": {
            "POSITION": 0, "NORMAL": 1, "TEXCOORD_0": 2, "TEXCOORD_3": second, "TANGENT": tangent
        },
        "indices": 3, "material": 0,
    }));
    document["materials"] = json!([material]);
    document["textures"] = (0..5).map(|i| json!({"source": i})).collect();
    document["images"] = (0..5).map(|i| json!({"uri": format!("{i}.png")})).collect();
    document
}

#[test]
fn all_textures_of_a_material_are_read() {
    let document = with_material(json!({
        "pbrMetallicRoughness": {
            "baseColorTexture": {"index": 0}, "metallicRoughnessTexture": {"index": 1}
        },
        "normalTexture": {"index": 2, "scale": 0.25},
        "occlusionTexture": {"index": 3, "strength": 0.5, "texCoord": 3},
        "emissiveTexture": {"index": 4},
    }));
    let mesh = read(&document).unwrap();
    let material = &mesh.materials[0];
    let file = |i: usize| Texture::file(format!("/m/{i}.png"));
    assert_eq!(material.diffuse_map, Some(file(0)));
    let model = material.metallic_roughness.as_ref().unwrap();
    assert_eq!(
        (&model.map, &model.emissive_map),
        (&Some(file(1)), &Some(file(4)))
    );
    let normal = material.normal_map.as_ref().unwrap();
    assert_eq!((&normal.texture, normal.scale), (&file(2), 0.25));
    let occlusion = model.occlusion_map.as_ref().unwrap();
    let second = Texture {
        uv_set: 1,
        ..file(3)
    };
    assert_eq!((&occlusion.texture, occlusion.strength), (&second, 0.5));
    assert!(!material.unlit);
    assert_eq!(material.textures().count(), 5);
    assert_eq!(mesh.uvs_of(0, 0), [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]);
    assert_eq!(mesh.uvs_of(1, 1), [[0.5, 0.0], [1.0, 1.0], [0.5, 1.0]]);
}

#[test]
fn only_two_sets_of_coordinates_are_used_and_the_first_may_have_any_number() {
    let document = with_material(json!({
        "normalTexture": {"index": 2, "texCoord": 3},
        "occlusionTexture": {"index": 3, "extensions": {"KHR_texture_transform": {"texCoord": 0}},
            "texCoord": 5},
        "emissiveTexture": {"index": 4, "texCoord": 1},
    }));
    let mesh = read(&document).unwrap();
    let material = &mesh.materials[0];
    let set = |texture: Option<&Texture>| texture.map(|t| t.uv_set);
    let model = material.metallic_roughness.as_ref().unwrap();
    let normal = material.normal_map.as_ref().map(|map| &map.texture);
    let occlusion = model.occlusion_map.as_ref().map(|map| &map.texture);
    assert_eq!((set(normal), set(occlusion)), (Some(0), Some(1)));
    assert_eq!(model.emissive_map, None);
    assert_eq!(mesh.uvs_of(0, 0)[0], [0.5, 0.0]);
    assert_eq!(mesh.uvs_of(0, 1)[0], [0.0, 0.0]);
}

#[test]
fn transformed_and_unlit_materials_are_supported_extensions() {
    let mut document = with_material(json!({
        "pbrMetallicRoughness": {"baseColorTexture": {"index": 0, "extensions": {
            "KHR_texture_transform": {"offset": [0.25, 0.5], "scale": [2, 4]}
        }}},
        "emissiveTexture": {"index": 4, "extensions": {"KHR_texture_transform": {"scale": "x"}}},
        "extensions": {"KHR_materials_unlit": {}},
    }));
    document["extensionsRequired"] = json!(["KHR_texture_transform", "KHR_materials_unlit"]);
    document["extensionsUsed"] = json!([
        "KHR_texture_transform",
        "KHR_materials_unlit",
        "KHR_materials_ior"
    ]);
    let mesh = read(&document).unwrap();
    assert_eq!(mesh.ignored_extensions, ["KHR_materials_ior"]);
    let material = &mesh.materials[0];
    assert!(material.unlit);
    // The bottom left corner of the square, (0, 1) with v down, maps to (0.25, 4.5) there.
    let rows = material.diffuse_map.as_ref().unwrap().uv_transform;
    assert_eq!(rows, [[2.0, 0.0, 0.25], [0.0, 4.0, -3.5]]);
    // An invalid transformation leaves the texture out.
    let model = material.metallic_roughness.as_ref().unwrap();
    assert_eq!(model.emissive_map, None);
}

#[test]
fn the_strength_of_emitted_light_has_no_upper_limit_but_that_of_numbers() {
    let emission = |strength: Value| {
        let document = with_material(json!({
            "emissiveFactor": [1.0, 0.5, 0.0],
            "extensions": {"KHR_materials_emissive_strength": {"emissiveStrength": strength}},
        }));
        let mesh = read(&document).unwrap();
        let model = mesh.materials[0].metallic_roughness.clone();
        model.unwrap().emissive
    };
    for (strength, expected) in [
        (json!(0.0), [0.0, 0.0, 0.0]),
        (json!(3), [3.0, 1.5, 0.0]),
        (json!(1e300), [1e6, 5e5, 0.0]),
        (json!(-1.0), [0.0, 0.0, 0.0]),
        (json!("bright"), [1.0, 0.5, 0.0]),
    ] {
        assert_eq!(emission(strength), expected);
    }
}

#[test]
fn tangents_are_read_for_normal_maps_and_follow_the_nodes() {
    let mut document = with_material(json!({"normalTexture": {"index": 2}}));
    // y is up in glTF, z is up here.
    let tangents = |document: &Value| read(document).unwrap().triangle_tangents;
    assert_eq!(tangents(&document), [[[0.0, 0.0, 1.0, -1.0]; 3]; 2]);
    document["nodes"][0]["scale"] = json!([-3, 1, 1]);
    assert_eq!(tangents(&document), [[[0.0, 0.0, 1.0, 1.0]; 3]; 2]);
    // Without normals, tangents have no meaning; without a normal map, nobody needs them.
    let mut flat = document.clone();
    flat["meshes"][0]["primitives"][0]["attributes"]
        .as_object_mut()
        .unwrap()
        .remove("NORMAL");
    assert_eq!(tangents(&flat), <[[[f32; 4]; 3]; 0]>::default());
    document["materials"] = json!([{}]);
    assert_eq!(tangents(&document), <[[[f32; 4]; 3]; 0]>::default());
}

#[test]
fn unusable_tangents_are_left_to_the_engine() {
    let mut data = Data::default();
    data.floats("VEC3", &[[0., 0., 0.], [1., 0., 0.], [0., 1., 0.]]);
    data.floats("VEC3", &[[0., 0., 1.]; 3]);
    data.floats(
        "VEC4",
        &[[f32::NAN, 0., 0., 1.], [0., 0., 0., 1.], [1., 0., 0., 0.]],
    );
    let mut document = data.document(json!({
        "attributes": {"POSITION": 0, "NORMAL": 1, "TANGENT": 2}, "material": 0
    }));
    document["materials"] = json!([{"normalTexture": {"index": 0}}]);
    document["textures"] = json!([{"source": 0}]);
    document["images"] = json!([{"uri": "a.png"}]);
    let mesh = read(&document).unwrap();
    assert_eq!(mesh.triangle_tangents, [[RenderMesh::NO_TANGENT; 3]]);
}

#[test]
fn refused_features_are_unsupported_not_invalid() {
    let (_, mut document) = square();
    document["extensionsRequired"] = json!(["KHR_draco_mesh_compression"]);
    let error = read(&document).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(
        error
            .to_string()
            .starts_with("/m/x.gltf: the file requires"),
        "{error}"
    );
}
