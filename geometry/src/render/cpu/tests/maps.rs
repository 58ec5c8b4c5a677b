//! Tests of textures other than that of the colour: normals, metalness, roughness, occlusion and
//! emission; of their place on the surface; and of unlit materials.

use super::*;
use crate::mesh::{
    Material, MaterialGroup, MetallicRoughness, NormalMap, OcclusionMap, RenderMesh, Texture,
    TextureImage,
};
use crate::shape::ProjectedTexture;
use nalgebra::Matrix3;

/// Returns a texture of `side x side` pixels.
fn picture(side: u32, color: impl Fn(u32, u32) -> [u8; 3]) -> Texture {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, side, side);
    encoder.set_color(png::ColorType::Rgb);
    let pixels = (0..side * side).flat_map(|i| color(i % side, i / side));
    let pixels: Vec<u8> = pixels.collect();
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&pixels).unwrap();
    drop(writer);
    TextureImage::Content(bytes.into()).into()
}
fn uniform(color: [u8; 3]) -> Texture {
    picture(2, |_, _| color)
}

/// Red increases to the right, green downwards.
fn quarters() -> Texture {
    picture(64, |x, y| {
        [
            if x < 32 { 255 } else { 40 },
            if y < 32 { 255 } else { 40 },
            30,
        ]
    })
}

/// Returns a square in the xy plane with sides of 2 m and its normals along z.
fn square(material: Material) -> RenderMesh {
    let corners = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
    RenderMesh {
        positions: corners.map(|[x, y]| Point3::new(x, y, 0.0)).to_vec(),
        normals: vec![Vector3::z()],
        uvs: vec![
            [0.0, 0.0],
            [1.0, 0.0],
            [1.0, 1.0],
            [0.0, 1.0],
            [0.25, 0.25],
            [0.5, 0.25],
            [0.5, 0.5],
            [0.25, 0.5],
        ],
        triangles: vec![[0, 1, 2], [0, 2, 3]],
        triangle_normals: vec![[0; 3]; 2],
        triangle_uvs: vec![[0, 1, 2], [0, 2, 3]],
        triangle_second_uvs: vec![[4, 5, 6], [4, 6, 7]],
        groups: vec![MaterialGroup {
            material: Some(0),
            triangles: 0..2,
        }],
        materials: vec![material],
        ..RenderMesh::default()
    }
}

fn model() -> MetallicRoughness {
    MetallicRoughness {
        metallic: 0.5,
        roughness: 0.5,
        ..MetallicRoughness::default()
    }
}
fn material(model: MetallicRoughness) -> Material {
    let [r, g, b] = [0.5_f64, 0.4, 0.3].map(|c| c.powf(1.0 / 2.2));
    Material {
        diffuse: Some(Rgba::new(r, g, b, 1.0).unwrap()),
        metallic_roughness: Some(model),
        ..Material::default()
    }
}

/// Draws a mesh at a distance of 3 m, its x axis to the right and its y axis up, lit from the right
/// and from above.
fn drawn(mesh: &RenderMesh) -> ImageRgba8U {
    let light = LightParameter {
        direction: Vector3::new(-1.0, 2.0, 3.0),
        intensity: 3.0,
        frame: LightFrame::World,
        light_type: LightType::Directional,
        ..LightParameter::default()
    };
    let mut s = Fixture::new(65, 65, 0.1, 20.0);
    let info = CameraInfo::from_fov_y(65, 65, 45.0_f64.to_radians()).unwrap();
    let clipping = ClippingRange::new(0.1, 20.0).unwrap();
    s.core = RenderCameraCore::new("cpu", info, clipping, Isometry3::identity());
    s.engine = RenderEngineCpu::new(RenderEngineCpuParams {
        lights: vec![light],
        ..RenderEngineCpuParams::default()
    })
    .unwrap();
    let properties = PerceptionProperties::new().with_label(RenderLabel::new(1).unwrap());
    let id = GeometryId::new();
    s.engine.register_mesh(id, mesh, &properties).unwrap();
    let turn = math::rotation_from_matrix(&Matrix3::from_diagonal(&Vector3::new(1.0, -1.0, -1.0)));
    s.poses
        .insert(id, math::pose(turn, Vector3::new(0.0, 0.0, 3.0)));
    s.color()
}
/// Returns the colour on the optical axis.
fn middle(image: &ImageRgba8U) -> [u8; 3] {
    let [r, g, b, _] = <[u8; 4]>::try_from(image.at(32, 32)).unwrap();
    [r, g, b]
}
/// Returns the largest difference between the channels of two images.
fn difference(a: &ImageRgba8U, b: &ImageRgba8U) -> u8 {
    let both = a.data().iter().zip(b.data());
    both.map(|(a, b)| a.abs_diff(*b)).max().unwrap()
}

#[test]
fn maps_reflect_as_in_drake() {
    let occlusion = |texture: Texture, strength: f64| Some(OcclusionMap { texture, strength });
    let normal = |color: [u8; 3], scale: f64| Material {
        normal_map: Some(NormalMap {
            texture: uniform(color),
            scale,
        }),
        ..material(model())
    };
    let emissive = || MetallicRoughness {
        emissive: [0.5, 0.25, 1.0],
        emissive_map: Some(uniform([128, 200, 64])),
        ..model()
    };
    // Colours that RenderEngineVtk 1.51.1 drew in the middle of the image.
    for (name, material, expected) in [
        ("none", material(model()), [149, 137, 123]),
        (
            "metalness and roughness",
            material(MetallicRoughness {
                map: Some(uniform([10, 200, 100])),
                ..model()
            }),
            [153, 140, 125],
        ),
        (
            "all in one",
            material(MetallicRoughness {
                map: Some(uniform([128, 200, 100])),
                occlusion_map: occlusion(uniform([128, 200, 100]), 1.0),
                ..model()
            }),
            [112, 103, 91],
        ),
        ("emission", material(emissive()), [171, 168, 136]),
        (
            "normals along u",
            normal([200, 128, 230], 1.0),
            [121, 112, 101],
        ),
        (
            "normals along v",
            normal([128, 200, 230], 1.0),
            [156, 143, 128],
        ),
        (
            "weaker normals",
            normal([200, 128, 230], 0.5),
            [147, 136, 122],
        ),
        (
            "unlit",
            Material {
                unlit: true,
                ..material(emissive())
            },
            [186, 168, 148],
        ),
    ] {
        let found = middle(&drawn(&square(material)));
        let off = (0..3).map(|k| found[k].abs_diff(expected[k])).max();
        // Drake draws highlights of roughness 0.4 brighter by 2, without textures, too.
        assert!(off <= Some(2), "{name}: {found:?}, not {expected:?}");
    }
}

#[test]
fn occlusion_weakens_all_light_but_not_the_emitted() {
    // Drake ignores maps of occlusion that are not those of roughness, too.
    let with = |strength: f64, emissive: [f64; 3]| {
        let occlusion_map = OcclusionMap {
            texture: uniform([51, 255, 255]),
            strength,
        };
        middle(&drawn(&square(material(MetallicRoughness {
            occlusion_map: Some(occlusion_map),
            emissive,
            ..model()
        }))))
    };
    let linear = |c: [u8; 3]| c.map(|c| (f64::from(c) / 255.0).powf(2.2));
    let plain = linear(middle(&drawn(&square(material(model())))));
    for (strength, factor) in [(0.0, 1.0), (0.5, 0.6), (1.0, 0.2)] {
        for emitted in [0.0, 0.125] {
            let found = linear(with(strength, [emitted; 3]));
            for k in 0..3 {
                let expected = plain[k] * factor + emitted;
                // Colours are rounded to 1/255; the slope of the curve is at most 2.2.
                let tolerance = 2.2 * 1.0 / 255.0;
                assert!(
                    (found[k] - expected).abs() < tolerance,
                    "{strength} {emitted} {k}"
                );
            }
        }
    }
}

#[test]
fn a_uniform_normal_map_equals_turned_normals() {
    let color = [180, 90, 220];
    let mapped = Material {
        normal_map: Some(NormalMap {
            texture: uniform(color),
            scale: 1.0,
        }),
        ..material(model())
    };
    let n = Vector3::from(color.map(|c| 2.0 * f64::from(c) / 255.0 - 1.0)).normalize();
    let turned = |n: Vector3<f64>| RenderMesh {
        normals: vec![n],
        ..square(material(model()))
    };
    let with_map = square(mapped);
    assert_eq!(difference(&drawn(&with_map), &drawn(&turned(n))), 0);
    // Of a mirrored image, red means the other direction.
    let mut mirrored = with_map.clone();
    mirrored.uvs.iter_mut().for_each(|uv| uv[0] = 1.0 - uv[0]);
    let n = Vector3::new(-n.x, n.y, n.z);
    assert_eq!(difference(&drawn(&mirrored), &drawn(&turned(n))), 0);
    // Tangents of the file win over those of the texture coordinates.
    let mut tangents = with_map.clone();
    tangents.triangle_tangents = vec![[[-1.0, 0.0, 0.0, -1.0]; 3]; 2];
    assert_eq!(difference(&drawn(&tangents), &drawn(&turned(n))), 0);
    // Scaling a mesh does not change the angles of its normal map, except by turning the surface.
    let scaled = tangents.scaled(&Vector3::new(-1.0, 1.0, 1.0));
    let n = Vector3::new(-n.x, n.y, n.z);
    assert_eq!(difference(&drawn(&scaled), &drawn(&turned(n))), 0);
}

#[test]
fn the_back_of_a_surface_has_the_normals_of_its_front_mirrored() {
    let mapped = |color: [u8; 3]| Material {
        normal_map: Some(NormalMap {
            texture: uniform(color),
            scale: 1.0,
        }),
        ..material(model())
    };
    // Seen from behind, the square is turned about its y axis; u points to the left.
    let turned = math::pose(
        math::rotation_from_matrix(&Matrix3::from_diagonal(&Vector3::new(-1.0, 1.0, -1.0))),
        Vector3::zeros(),
    );
    let mut behind = square(mapped([200, 128, 230]));
    for p in &mut behind.positions {
        *p = turned * *p;
    }
    for n in &mut behind.normals {
        *n = turned * *n;
    }
    // Its normals point away from the camera; those that are drawn are their opposites: right of
    // the axis where the map says along u, which is left, and towards the camera.
    let front = square(mapped([200, 128, 230]));
    let (behind, front) = (drawn(&behind), drawn(&front));
    // Silhouettes are those of other triangles.
    for (i, j) in (16..48).flat_map(|j| (16..48).map(move |i| (i, j))) {
        let both = behind.at(i, j).iter().zip(front.at(i, j));
        let off = both.map(|(a, b)| a.abs_diff(*b)).max();
        // Colours are rounded.
        assert!(off <= Some(1), "({i}, {j})");
    }
}

#[test]
fn transformations_and_sets_place_the_image_as_in_drake() {
    let (offset, angle, scale) = ([0.1, 0.2], 0.5_f64, [1.0, 0.7]);
    let (sin, cos) = angle.sin_cos();
    // With v down, as in glTF. RenderEngineVtk 1.51.1 drew the same in all pixels.
    let transformed = |[u, v]: [f64; 2]| {
        let [u, v] = [scale[0] * u, scale[1] * v];
        [
            cos * u + sin * v + offset[0],
            -sin * u + cos * v + offset[1],
        ]
    };
    let ([u0, v0], [u1, v1], [u2, v2]) = (
        transformed([0.0, 1.0]),
        transformed([1.0, 1.0]),
        transformed([0.0, 0.0]),
    );
    let texture = Texture {
        uv_transform: [[u1 - u0, u2 - u0, u0], [v0 - v1, v0 - v2, 1.0 - v0]],
        ..quarters()
    };
    shows(texture, 1500, transformed);
    let second = Texture {
        uv_set: 1,
        ..quarters()
    };
    shows(second, 400, |[u, v]| [0.25 + 0.25 * u, 0.5 + 0.25 * v]);
}

/// Checks that a texture of [`quarters`] appears where `place` maps the texture coordinates of the
/// square, with v down, in at least `least` pixels.
fn shows(texture: Texture, least: usize, place: impl Fn([f64; 2]) -> [f64; 2]) {
    let image = drawn(&square(Material {
        diffuse_map: Some(texture),
        ..material(model())
    }));
    let focal = 32.5 / (22.5_f64.to_radians()).tan();
    let mut checked = 0;
    for (i, j) in (0..65).flat_map(|j| (0..65).map(move |i| (i, j))) {
        let [x, y] = [i, j].map(|k: usize| (k as f64 - 32.0) * 3.0 / focal);
        if x.abs().max(y.abs()) > 0.95 {
            continue;
        }
        let at = place([(x + 1.0) / 2.0, (y + 1.0) / 2.0]).map(|x| x - x.floor());
        // Edges are blurred by less than a pixel, which is 0.02.
        if at
            .iter()
            .any(|x| [0.0, 0.5, 1.0].iter().any(|edge| (x - edge).abs() < 0.03))
        {
            continue;
        }
        let [r, g, ..] = <[u8; 4]>::try_from(image.at(i, j)).unwrap();
        assert_eq!([r > 85, g > 85], at.map(|x| x < 0.5), "({i}, {j})");
        checked += 1;
    }
    assert!(checked >= least, "{checked}");
}

#[test]
fn meshes_whose_lists_do_not_fit_together_are_refused() {
    type Change = fn(&mut RenderMesh);
    let changes: [(Change, &str); 9] = [
        (
            |m| m.triangles[1] = [0, 1, 4],
            "triangles[1] must refer to positions below 4",
        ),
        (
            |m| m.triangle_normals[0] = [1; 3],
            "triangle_normals[0] must refer to normals below 1",
        ),
        (
            |m| m.triangle_normals.truncate(1),
            "triangle_normals must have as many elements",
        ),
        (
            |m| m.triangle_second_uvs[0] = [8; 3],
            "triangle_second_uvs[0] must refer to uvs below 8",
        ),
        (
            |m| m.triangle_tangents = vec![[RenderMesh::NO_TANGENT; 3]],
            "triangle_tangents must have as many elements as triangles, 2, got 1",
        ),
        (
            |m| m.colors = vec![[1.0; 4]; 3],
            "colors must be empty or have as many elements",
        ),
        (
            |m| m.groups[0].triangles = 0..3,
            "groups[0].triangles must be a range from 0 to at most 2",
        ),
        (
            |m| m.groups[0].material = Some(1),
            "groups[0].material must be below",
        ),
        (
            |m| m.groups.clear(),
            "groups must cover all 2 triangles, got 0",
        ),
    ];
    let mut engine = RenderEngineCpu::new(RenderEngineCpuParams::default()).unwrap();
    let properties = PerceptionProperties::new().with_label(RenderLabel::new(1).unwrap());
    for (change, expected) in changes {
        let mut mesh = square(material(model()));
        change(&mut mesh);
        let id = GeometryId::new();
        let error = engine.register_mesh(id, &mesh, &properties).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        assert!(!engine.has_visual(id));
    }
    let mut mesh = square(material(model()));
    mesh.triangle_uvs[0] = [RenderMesh::NO_UV; 3];
    assert!(
        engine
            .register_mesh(GeometryId::new(), &mesh, &properties)
            .unwrap()
    );
}

#[test]
fn degenerate_triangles_and_missing_coordinates_keep_the_smooth_normal() {
    let mapped = Material {
        normal_map: Some(NormalMap {
            texture: uniform([200, 128, 230]),
            scale: 1.0,
        }),
        ..material(model())
    };
    let plain = drawn(&square(material(model())));
    let mut mesh = square(mapped);
    // Without texture coordinates, there is no direction of u.
    mesh.triangle_uvs = vec![[RenderMesh::NO_UV; 3]; 2];
    // Normalizing the normal again rounds.
    assert!(difference(&drawn(&mesh), &plain) <= 1);
    // Triangles without area change nothing, nor do positions beyond single precision.
    let mut mesh = square(material(model()));
    mesh.materials[0].normal_map = Some(NormalMap {
        texture: uniform([200, 128, 230]),
        scale: 1.0,
    });
    let expected = middle(&drawn(&mesh));
    mesh.positions.push(Point3::new(1e300, 1e300, 0.0));
    for degenerate in [[0, 0, 0], [4, 4, 4]] {
        mesh.triangles.push(degenerate);
        mesh.triangle_normals.push([0; 3]);
        mesh.triangle_uvs.push([0; 3]);
        mesh.triangle_second_uvs.push([0; 3]);
    }
    mesh.groups[0].triangles = 0..4;
    assert_eq!(middle(&drawn(&mesh)), expected);
}

/// Images from the centre of a box are on its six faces, a colour takes the place of the diffuse
/// one, and the depth is that of the box.
#[test]
fn projected_textures_cover_primitives() {
    let colors: [[u8; 3]; 6] = [
        [255, 0, 0],
        [0, 255, 0],
        [0, 0, 255],
        [255, 255, 0],
        [0, 255, 255],
        [255, 0, 255],
    ];
    let images = colors.map(|color| uniform(color).image);
    let half = Rgba::new(0.6, 0.6, 0.6, 1.0).unwrap();
    let texture = ProjectedTexture::from_center(images, Vector3::repeat(1.0)).unwrap();
    let properties = PerceptionProperties::phong(Rgba::new(0.1, 0.0, 0.0, 1.0).unwrap())
        .with_label(RenderLabel::new(1).unwrap())
        .with_projected_texture(texture.with_color(half));
    let shape = BoxShape::new(1.0, 1.0, 1.0).unwrap().into();
    for (face, color) in colors.iter().enumerate() {
        let mut s = Fixture::new(65, 65, 0.1, 20.0);
        let id = GeometryId::new();
        assert!(s.engine.register_visual(id, &shape, &properties).unwrap());
        // The face looks at the camera, which looks along z.
        let quarter = std::f64::consts::FRAC_PI_2;
        let turn = [
            Vector3::y() * quarter,
            Vector3::y() * -quarter,
            Vector3::x() * -quarter,
            Vector3::x() * quarter,
            Vector3::x() * (2.0 * quarter),
            Vector3::zeros(),
        ];
        let turn = math::rotation_exp(&turn[face]);
        s.poses
            .insert(id, math::pose(turn, Vector3::new(0.0, 0.0, 3.0)));
        let expected = color.map(|c| if c == 255 { 153 } else { 0 });
        assert_eq!(middle(&s.color()), expected, "face {face}");
        // Rounding of f32.
        assert!((s.depth().at(32, 32)[0] - 2.5).abs() < 1e-6, "face {face}");
    }
}

/// Planes up to 1e6 m are drawn, and sizes beyond what `f32` can tell apart do no harm.
#[test]
fn planes_of_any_size_are_drawn_or_left_out() {
    for (extent, is_drawn) in [(1e-300, false), (10.0, true), (1e6, true), (1e300, false)] {
        let texture = ProjectedTexture::along_z(uniform([255, 0, 0]).image, [1.0, 1.0]).unwrap();
        let texture = texture.with_half_extents([extent, extent]).unwrap();
        let properties = PerceptionProperties::new()
            .with_label(RenderLabel::new(1).unwrap())
            .with_projected_texture(texture);
        let mut s = Fixture::new(65, 65, 0.1, 20.0);
        let id = GeometryId::new();
        let plane = HalfSpace.into();
        assert!(s.engine.register_visual(id, &plane, &properties).unwrap());
        let turn = math::rotation_exp(&(Vector3::x() * 2.5));
        s.poses.insert(id, math::pose(turn, Vector3::z() * 3.0));
        s.color();
        let found = s.depth().at(32, 32)[0];
        // Where the axis of the pixel meets the plane.
        let normal = turn * Vector3::z();
        let expected = 3.0 * normal.z / normal.dot(&s.ray(32, 32));
        if is_drawn {
            assert!(
                (f64::from(found) - expected).abs() < 1e-5,
                "{extent:e}: {found}"
            )
        } else {
            assert_eq!(found, f32::INFINITY, "{extent:e}")
        }
    }
}
