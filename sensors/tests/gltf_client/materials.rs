//! Materials and textures of scenes.

use super::recorder::{Recorder, png};
use super::scenes::{checked_buffers, in_memory, json, read_back};
use super::{add, color_with, depth_with, engine, everything, label_with};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use nalgebra::{Isometry3, Vector3};
use tarragon_geometry::mesh::{
    AlphaMode, MetallicRoughness, RenderMesh, Texture, TextureImage, Wrap, read_source,
};
use tarragon_geometry::render::RenderView;
use tarragon_geometry::{BoxShape, Mesh, PerceptionProperties, RenderLabel, Rgba};
use tarragon_sensors::*;

/// A triangle with colours, a texture and glTF's metallic-roughness model.
fn physically_based(texture: &[u8]) -> Mesh {
    let floats: [f32; 36] = [
        0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, // positions
        0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, // normals
        0.0, 1.0, 1.0, 0.25, 0.5, 0.0, // texture coordinates
        1.0, 0.5, 0.25, 1.0, 0.5, 0.5, 0.25, 1.0, 0.0, 1.0, 0.25, 0.5, // colours
    ];
    let bytes: Vec<u8> = floats.iter().flat_map(|x| x.to_le_bytes()).collect();
    let document = serde_json::json!({
        "asset": {"version": "2.0"},
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{
            "attributes": {"POSITION": 0, "NORMAL": 1, "TEXCOORD_0": 2, "COLOR_0": 3},
            "material": 0,
        }]}],
        "materials": [{
            "alphaMode": "MASK", "alphaCutoff": 0.25, "emissiveFactor": [0.1, 0.0, 0.5],
            "pbrMetallicRoughness": {
                "baseColorFactor": [0.5, 0.6, 0.7, 0.8], "baseColorTexture": {"index": 0},
                "metallicFactor": 0.3, "roughnessFactor": 0.4,
            },
        }],
        "textures": [{"sampler": 0, "source": 0}],
        "samplers": [{"wrapS": 33071, "wrapT": 33648}],
        "images": [{"uri": format!("data:image/png;base64,{}", BASE64.encode(texture))}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3",
             "min": [0, 0, 0], "max": [1, 1, 0]},
            {"bufferView": 1, "componentType": 5126, "count": 3, "type": "VEC3"},
            {"bufferView": 2, "componentType": 5126, "count": 3, "type": "VEC2"},
            {"bufferView": 3, "componentType": 5126, "count": 3, "type": "VEC4"},
        ],
        "bufferViews": [
            {"buffer": 0, "byteOffset": 0, "byteLength": 36},
            {"buffer": 0, "byteOffset": 36, "byteLength": 36},
            {"buffer": 0, "byteOffset": 72, "byteLength": 24},
            {"buffer": 0, "byteOffset": 96, "byteLength": 48},
        ],
        "buffers": [{
            "byteLength": bytes.len(),
            "uri": format!("data:application/octet-stream;base64,{}", BASE64.encode(&bytes)),
        }],
    });
    in_memory(document.to_string(), ".gltf")
}

#[test]
fn meshes_keep_normals_colours_textures_and_materials() {
    let server = Recorder::of_images();
    let mut engine = engine(&server);
    let picture = png(&ImageRgb8U::from_data(2, 2, (0..12).collect()).unwrap());
    let shape = physically_based(&picture);
    let label = RenderLabel::new(258).unwrap();
    let properties = PerceptionProperties::new().with_label(label);
    add(&mut engine, shape.clone(), &properties);
    let original = read_source(shape.source()).unwrap();
    let origin = RenderView::new(Isometry3::identity(), &|_| Some(Isometry3::identity()));

    color_with(&engine, &origin).unwrap();
    let scene = server.last().scene();
    checked_buffers(&json(&scene));
    let mesh = read_back(&scene);
    assert_eq!(mesh.materials.len(), 1);
    let (sent, wanted) = (&mesh.materials[0], &original.materials[0]);
    assert_eq!(sent.alpha_mode, AlphaMode::Mask(0.25));
    assert_eq!(sent.metallic_roughness, wanted.metallic_roughness);
    assert_eq!(
        sent.metallic_roughness,
        Some(MetallicRoughness {
            metallic: 0.3f32.into(),
            roughness: 0.4f32.into(),
            emissive: [0.1f32.into(), 0.0, 0.5],
            ..MetallicRoughness::default()
        })
    );
    let [sent_color, wanted_color] = [sent, wanted].map(|m| m.diffuse.unwrap().rgba());
    for (a, b) in sent_color.iter().zip(wanted_color) {
        assert!((a - b).abs() < 1e-6);
    }
    assert_eq!(
        sent.diffuse_map,
        Some(Texture {
            wrap: [Wrap::ClampToEdge, Wrap::MirroredRepeat],
            ..TextureImage::Content(picture.into()).into()
        })
    );
    for k in 0..3 {
        let at = |m: &RenderMesh| {
            let uv = m.uvs[m.triangle_uvs[0][k] as usize];
            let p = m.positions[m.triangles[0][k] as usize];
            let n = m.normals[m.triangle_normals[0][k] as usize];
            let color = m.colors[m.triangles[0][k] as usize];
            (uv, p, n, color)
        };
        let (a, b) = (at(&mesh), at(&original));
        assert!((a.0[0] - b.0[0]).abs() + (a.0[1] - b.0[1]).abs() < 1e-6);
        assert!((a.1 - b.1).norm() < 1e-6 && (a.2 - b.2).norm() < 1e-6);
        assert_eq!(a.3, b.3);
    }

    // Other images have neither texture nor opacity nor colours of vertices.
    depth_with(&engine, &origin).unwrap();
    let depth = json(&server.last().scene());
    checked_buffers(&depth);
    assert!(depth.get("images").is_none() && depth.get("textures").is_none());
    let attributes = &depth["meshes"][0]["primitives"][0]["attributes"];
    assert!(attributes.get("COLOR_0").is_none() && attributes["NORMAL"].is_u64());
    let material = &depth["materials"][0];
    assert_eq!(
        material["pbrMetallicRoughness"]["baseColorFactor"],
        serde_json::json!([1.0, 1.0, 1.0, 1.0])
    );
    assert!(material.get("alphaMode").is_none() && material.get("emissiveFactor").is_none());
    label_with(&engine, &origin).unwrap();
    let labels = json(&server.last().scene());
    let material = &labels["materials"][0];
    let rgb = [2.0 / 255.0, 1.0 / 255.0, 0.0];
    assert_eq!(material["emissiveFactor"], serde_json::json!(rgb));
    assert_eq!(
        material["pbrMetallicRoughness"]["baseColorFactor"],
        serde_json::json!([rgb[0], rgb[1], 0.0, 1.0])
    );
    assert!(labels.get("images").is_none());
}

#[test]
fn matt_meshes_have_a_node_per_material() {
    let folder = tempfile::tempdir().unwrap();
    let picture = png(&ImageRgb8U::from_data(1, 2, vec![255, 0, 0, 0, 0, 255]).unwrap());
    std::fs::write(folder.path().join("map.png"), &picture).unwrap();
    let mtl = "newmtl red\nKd 1 0 0\nd 0.5\nnewmtl wood\nKd 0.5 0.5 0.5\nmap_Kd map.png\n";
    std::fs::write(folder.path().join("m.mtl"), mtl).unwrap();
    let obj = "mtllib m.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\n\
               f 1/1 2/2 3/3\nusemtl red\nf 1/1 3/3 2/2\nusemtl wood\nf 1/1 2/2 3/3\n";
    let path = folder.path().join("leaf.obj");
    std::fs::write(&path, obj).unwrap();
    let server = Recorder::of_images();
    let mut engine = engine(&server);
    let gold = Rgba::opaque(0.8, 0.7, 0.1).unwrap();
    let scaled = Mesh::with_scale(path.as_path(), Vector3::new(2.0, 2.0, -2.0)).unwrap();
    add(&mut engine, scaled, &PerceptionProperties::phong(gold));
    color_with(&engine, &everything()).unwrap();
    let document = json(&server.last().scene());
    checked_buffers(&document);
    let materials = document["materials"].as_array().unwrap();
    let pbr = |i: usize| &materials[i]["pbrMetallicRoughness"];
    let colors = [
        [0.8, 0.7, 0.1, 1.0],
        [1.0, 0.0, 0.0, 0.5],
        [0.5, 0.5, 0.5, 1.0],
    ];
    assert_eq!(materials.len(), 3);
    for (i, color) in colors.iter().enumerate() {
        assert_eq!(pbr(i)["baseColorFactor"], serde_json::json!(color));
        assert_eq!(
            (&pbr(i)["metallicFactor"], &pbr(i)["roughnessFactor"]),
            (&0.0.into(), &1.0.into())
        );
        assert_eq!(
            materials[i]["extras"],
            serde_json::json!({"shading": "matt"})
        );
        assert!(materials[i].get("alphaMode").is_none());
        let attributes = &document["meshes"][i]["primitives"][0]["attributes"];
        assert!(attributes["NORMAL"].is_u64() && attributes["TEXCOORD_0"].is_u64());
    }
    assert!(pbr(0).get("baseColorTexture").is_none() && pbr(1).get("baseColorTexture").is_none());
    assert_eq!(pbr(2)["baseColorTexture"]["index"], 0);
    let sent = read_back(&server.last().scene());
    let texture = sent.materials[2].diffuse_map.as_ref().unwrap();
    assert_eq!(texture.image, TextureImage::Content(picture.into()));
    assert_eq!(texture.wrap, [Wrap::Repeat; 2]);
    // Mirrored by the scale, and still counter-clockwise as seen from outside.
    let [a, b, c] = sent.triangles[0].map(|v| sent.positions[v as usize]);
    let normal = sent.normals[sent.triangle_normals[0][0] as usize];
    assert!((b - a).cross(&(c - a)).dot(&normal) > 0.0);
}

#[test]
fn textures_of_properties_apply_to_primitives_and_meshes() {
    let folder = tempfile::tempdir().unwrap();
    let map = folder.path().join("map.png");
    std::fs::write(&map, png(&ImageRgb8U::new(1, 1))).unwrap();
    let server = Recorder::of_images();
    let mut engine = engine(&server);
    let mut properties = PerceptionProperties::new();
    properties.set_untyped("phong", "diffuse_map", map.display().to_string());
    let cube = BoxShape::new(0.1, 0.1, 0.1).unwrap();
    add(&mut engine, cube, &properties);
    color_with(&engine, &everything()).unwrap();
    let scene = json(&server.last().scene());
    let buffers = checked_buffers(&scene);
    let material = &scene["materials"][0]["pbrMetallicRoughness"];
    assert_eq!(
        material["baseColorFactor"],
        serde_json::json!([1.0, 1.0, 1.0, 1.0]),
        "textures are not tinted"
    );
    let clamped = serde_json::json!([
        {"magFilter": 9729, "minFilter": 9729, "wrapS": 33071, "wrapT": 33071}
    ]);
    assert_eq!(scene["samplers"], clamped);
    assert_eq!(
        scene["images"],
        serde_json::json!([{"bufferView": 3, "mimeType": "image/png"}])
    );
    // The lower left corner of a face has the lower left corner of the image.
    assert_eq!(
        buffers[1][..8],
        [0.0f32, 1.0].map(f32::to_le_bytes).concat()
    );

    // A texture that cannot be read causes a warning.
    let mut properties = PerceptionProperties::new();
    properties.set_untyped("phong", "diffuse_map", "/nowhere/map.png".to_owned());
    let (_, warnings) = tarragon_framework::warnings::collect(|| {
        add(&mut engine, cube, &properties);
    });
    assert!(
        warnings[0].contains("/nowhere/map.png") && warnings.len() == 1,
        "{warnings:?}"
    );
    color_with(&engine, &everything()).unwrap();
    let scene = json(&server.last().scene());
    let material = &scene["materials"][0]["pbrMetallicRoughness"];
    assert_eq!(
        material["baseColorFactor"],
        serde_json::json!([0.9, 0.45, 0.1, 1.0])
    );
}
