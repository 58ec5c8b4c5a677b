//! Textures other than that of the base colour, and unlit materials, as they are sent.

use super::recorder::{Recorder, png};
use super::scenes::{checked_buffers, json, read_back};
use super::{color_with, depth_with, engine, label_with};
use nalgebra::{Isometry3, Point3, Vector3};
use serde_json::Value;
use tarragon_geometry::mesh::{
    Material, MaterialGroup, MetallicRoughness, NormalMap, OcclusionMap, RenderMesh, Texture,
    TextureImage, Wrap,
};
use tarragon_geometry::render::{RenderEngine, RenderView};
use tarragon_geometry::{
    GeometryId, PerceptionProperties, ProjectedTexture, RenderLabel, Rgba, Sphere,
};
use tarragon_sensors::*;

fn texture(color: u8) -> Texture {
    let image = ImageRgb8U::from_data(1, 1, vec![color; 3]).unwrap();
    TextureImage::Content(png(&image).into()).into()
}

/// Returns a material with all textures, and an unlit one.
fn materials() -> [Material; 2] {
    let (sin, cos) = 0.4_f64.sin_cos();
    let moved = Texture {
        uv_set: 1,
        wrap: [Wrap::ClampToEdge, Wrap::Repeat],
        uv_transform: [[2.0 * cos, -0.5 * sin, 0.3], [2.0 * sin, 0.5 * cos, -0.1]],
        ..texture(3)
    };
    let rich = Material {
        diffuse: Some(Rgba::WHITE),
        diffuse_map: Some(texture(1)),
        normal_map: Some(NormalMap {
            texture: texture(2),
            scale: 0.25,
        }),
        metallic_roughness: Some(MetallicRoughness {
            metallic: 0.5,
            roughness: 0.75,
            emissive: [4.0, 1.0, 0.0],
            map: Some(moved),
            occlusion_map: Some(OcclusionMap {
                texture: texture(2),
                strength: 0.5,
            }),
            emissive_map: Some(texture(4)),
        }),
        alpha_mode: tarragon_geometry::mesh::AlphaMode::Opaque,
        ..Material::default()
    };
    let unlit = Material {
        unlit: true,
        normal_map: None,
        metallic_roughness: Some(MetallicRoughness::default()),
        ..rich.clone()
    };
    [rich, unlit]
}

/// Returns one triangle per material.
fn mesh(materials: &[Material]) -> RenderMesh {
    let n = materials.len();
    let group = |m: usize| MaterialGroup {
        material: Some(m),
        triangles: m..m + 1,
    };
    RenderMesh {
        positions: vec![
            Point3::origin(),
            Point3::new(1.0, 0.0, 0.0),
            Point3::new(0.0, 1.0, 0.0),
        ],
        normals: vec![Vector3::z()],
        uvs: vec![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.5, 0.25]],
        triangles: vec![[0, 1, 2]; n],
        triangle_normals: vec![[0; 3]; n],
        triangle_uvs: vec![[0, 1, 2]; n],
        triangle_second_uvs: vec![[3, 1, 0]; n],
        triangle_tangents: vec![[[0.6, 0.8, 0.0, -1.0]; 3]; n],
        groups: (0..n).map(group).collect(),
        materials: materials.to_vec(),
        ..RenderMesh::default()
    }
}

fn origin(id: GeometryId) -> Option<Isometry3<f64>> {
    let _ = id;
    Some(Isometry3::identity())
}

/// A primitive with images from its centre is sent as six meshes, each with its image.
#[test]
fn projected_textures_are_sent_as_meshes() {
    let server = Recorder::of_images();
    let mut engine = engine(&server);
    let images = [1, 2, 3, 4, 5, 6].map(|color| texture(color).image);
    let projected = ProjectedTexture::from_center(images, Vector3::repeat(1.0)).unwrap();
    let properties = PerceptionProperties::new()
        .with_label(RenderLabel::new(1).unwrap())
        .with_projected_texture(projected);
    let ball = Sphere::new(0.5).unwrap().into();
    let id = GeometryId::new();
    assert!(engine.register_visual(id, &ball, &properties).unwrap());
    let view = RenderView::new(Isometry3::identity(), &origin);
    color_with(&engine, &view).unwrap();
    let scene = server.last().scene();
    let document = json(&scene);
    checked_buffers(&document);
    assert_eq!(document["images"].as_array().unwrap().len(), 6);
    let sent = read_back(&scene);
    assert_eq!(sent.materials.len(), 6);
    for material in &sent.materials {
        let map = material.diffuse_map.as_ref().unwrap();
        assert_eq!(map.wrap, [Wrap::ClampToEdge; 2]);
    }
    let far = sent.positions.iter().map(|p| p.coords.norm());
    // Rounding of f32.
    assert!(far.clone().all(|r| r < 0.5 + 1e-6) && far.fold(0.0, f64::max) > 0.499);
}

#[test]
fn all_textures_are_sent_for_colours_and_none_for_depths_and_labels() {
    let server = Recorder::of_images();
    let mut engine = engine(&server);
    let wanted = mesh(&materials());
    let properties = PerceptionProperties::new().with_label(RenderLabel::new(1).unwrap());
    engine
        .register_mesh(GeometryId::new(), &wanted, &properties)
        .unwrap();
    let view = RenderView::new(Isometry3::identity(), &origin);
    color_with(&engine, &view).unwrap();
    let scene = server.last().scene();
    let document = json(&scene);
    checked_buffers(&document);
    assert_eq!(
        document["extensionsUsed"],
        serde_json::json!([
            "KHR_materials_emissive_strength",
            "KHR_materials_unlit",
            "KHR_texture_transform"
        ])
    );
    assert_eq!(document["images"].as_array().unwrap().len(), 4, "each once");
    let sent = read_back(&scene);
    for (sent, wanted) in sent.materials.iter().zip(&wanted.materials) {
        let (mut sent, mut wanted) = (sent.clone(), wanted.clone());
        let maps = [&mut sent, &mut wanted].map(|m| m.metallic_roughness.as_mut().unwrap());
        let [Some(a), Some(b)] = maps.map(|model| &mut model.map) else {
            assert_eq!(sent, wanted);
            continue;
        };
        // Offset, rotation and scale are recovered from the matrix.
        for (a, b) in a
            .uv_transform
            .iter()
            .flatten()
            .zip(b.uv_transform.as_flattened())
        {
            assert!((a - b).abs() < 1e-12, "{a}, not {b}");
        }
        a.uv_transform = b.uv_transform;
        assert_eq!(sent, wanted);
    }
    // The unlit material has no use for the second set and for tangents. The reader turns y up to z
    // up.
    assert_eq!(sent.uvs_of(0, 1), wanted.uvs_of(0, 1));
    assert_eq!(sent.triangle_tangents[0], [[0.6, 0.0, 0.8, -1.0]; 3]);
    let attributes = |i: usize| &document["meshes"][i]["primitives"][0]["attributes"];
    let names = |v: &Value| v.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    // The last visual is the first of a scene, but the parts of a visual keep their order.
    assert_eq!(
        names(attributes(0)),
        ["NORMAL", "POSITION", "TANGENT", "TEXCOORD_0", "TEXCOORD_1"]
    );
    assert_eq!(names(attributes(1)), ["NORMAL", "POSITION", "TEXCOORD_0"]);

    depth_with(&engine, &view).unwrap();
    let depth = json(&server.last().scene());
    label_with(&engine, &view).unwrap();
    let label = json(&server.last().scene());
    for document in [depth, label] {
        checked_buffers(&document);
        assert!(document.get("textures").is_none() && document.get("extensionsUsed").is_none());
        let text = document["materials"].to_string();
        assert!(!text.contains("Texture") && !text.contains("KHR"), "{text}");
        let attributes = &document["meshes"][0]["primitives"][0]["attributes"];
        assert_eq!(names(attributes), ["NORMAL", "POSITION", "TEXCOORD_0"]);
    }
}

#[test]
fn shears_are_left_out_with_a_warning() {
    let server = Recorder::of_images();
    let mut engine = engine(&server);
    let [rich, _] = materials();
    let sheared = Material {
        name: "silk".into(),
        diffuse_map: Some(Texture {
            uv_transform: [[1.0, 0.5, 0.0], [0.0, 1.0, 0.0]],
            ..texture(1)
        }),
        ..rich
    };
    let properties = PerceptionProperties::new().with_label(RenderLabel::new(1).unwrap());
    let (_, warnings) = tarragon_framework::warnings::collect(|| {
        engine
            .register_mesh(GeometryId::new(), &mesh(&[sheared]), &properties)
            .unwrap()
    });
    assert!(
        warnings[0].contains("'silk'") && warnings[0].contains("rotation"),
        "{warnings:?}"
    );
    color_with(&engine, &RenderView::new(Isometry3::identity(), &origin)).unwrap();
    let document = json(&server.last().scene());
    let pbr = &document["materials"][0]["pbrMetallicRoughness"];
    assert!(pbr.get("baseColorTexture").is_none() && pbr["metallicRoughnessTexture"].is_object());
}
