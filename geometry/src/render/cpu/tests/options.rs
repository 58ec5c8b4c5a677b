//! Optional features: translucency, shadows, environments, exposure and glTF materials.

use super::*;
use crate::render::{EnvironmentMap, EquirectangularMap};

fn rgba(r: f64, g: f64, b: f64, a: f64) -> Rgba {
    Rgba::new(r, g, b, a).unwrap()
}

impl Fixture {
    fn with(params: RenderEngineCpuParams) -> Self {
        Self {
            engine: RenderEngineCpu::new(params).unwrap(),
            ..Self::new(64, 48, 0.1, 20.0)
        }
    }
    fn add_colored(&mut self, shape: impl Into<Shape>, z: f64, color: Rgba) -> GeometryId {
        let label = RenderLabel::new(1).unwrap();
        let properties = PerceptionProperties::phong(color).with_label(label);
        let id = GeometryId::new();
        let shape = shape.into();
        self.engine
            .register_visual(id, &shape, &properties)
            .unwrap();
        self.poses.insert(id, Isometry3::translation(0.0, 0.0, z));
        id
    }
    /// Returns red, green and blue of the pixel on the optical axis.
    fn center(&self) -> [u8; 3] {
        let (u, v) = (28, 26); // the principal point is at (28.8, 26.4)
        let [r, g, b, a] = <[u8; 4]>::try_from(self.color().at(u, v)).unwrap();
        assert_eq!(a, 255);
        [r, g, b]
    }
}

fn near(found: [u8; 3], expected: [u8; 3], by: u8) {
    let off = (0..3).map(|k| found[k].abs_diff(expected[k])).max();
    assert!(off <= Some(by), "{found:?}, not {expected:?}");
}

#[test]
fn translucent_bodies_blend_front_and_back() {
    // RenderEngineVtk 1.51.1 drew these colours.
    for (alpha, expected) in [
        (1.0, [255, 0, 0]),
        (0.5, [204, 25, 51]),
        (0.0, [51, 102, 204]),
    ] {
        let mut s = Fixture::with(RenderEngineCpuParams::default());
        s.add_colored(
            BoxShape::new(9.0, 9.0, 0.1).unwrap(),
            4.0,
            rgba(0.2, 0.4, 0.8, 1.0),
        );
        let pane = BoxShape::new(1.0, 1.0, 0.1).unwrap();
        s.add_colored(pane, 2.0, rgba(1.0, 0.0, 0.0, alpha));
        near(s.center(), expected, 1);
        // Depth and label images ignore opacity.
        assert!((s.depth().at(28, 26)[0] - 1.95).abs() < 1e-5);
    }
}

#[test]
fn layers_are_ordered_by_depth_not_by_registration() {
    let draw = |order: [usize; 3], shapes: &[Shape; 3]| {
        let mut s = Fixture::with(RenderEngineCpuParams::default());
        s.add_colored(BoxShape::new(9.0, 9.0, 0.1).unwrap(), 6.0, Rgba::WHITE);
        let colors = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        for k in order {
            let [r, g, b] = colors[k];
            s.add_colored(shapes[k].clone(), 2.0 + 0.7 * k as f64, rgba(r, g, b, 0.5));
        }
        s.color()
    };
    let path = obj("layers", &lumpy(12));
    let ball: Shape = Sphere::new(0.5).unwrap().into();
    let shapes = [
        Mesh::new(&path).into(),
        ball,
        Cylinder::new(0.4, 0.9).unwrap().into(),
    ];
    let first = draw([0, 1, 2], &shapes);
    for order in [[2, 1, 0], [1, 0, 2]] {
        assert!(first == draw(order, &shapes), "{order:?}");
    }
    std::fs::remove_file(path).unwrap();
}

#[test]
fn images_with_all_options_are_identical_for_any_number_of_threads() {
    let sky = obj("sky", "").with_extension("hdr");
    let mut hdr = b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 4 +X 8\n".to_vec();
    (0..32u8).for_each(|k| hdr.extend([7 * k, 100, 255 - 7 * k, 126 + k / 12]));
    std::fs::write(&sky, hdr).unwrap();
    let texture = EquirectangularMap { path: sky.clone() }.into();
    let world = LightParameter {
        frame: LightFrame::World,
        direction: Vector3::new(0.3, 0.5, 1.0),
        ..LightParameter::default()
    };
    let spot = LightParameter {
        light_type: LightType::Spot,
        cone_angle: 45.0,
        ..LightParameter::default()
    };
    let mut s = Fixture::with(RenderEngineCpuParams {
        lights: vec![world, spot],
        cast_shadows: true,
        exposure: Some(1.2),
        environment_map: Some(EnvironmentMap {
            skybox: true,
            texture,
            ..EnvironmentMap::default()
        }),
        samples_per_side: 2,
        ..RenderEngineCpuParams::default()
    });
    let mut random = Random(9);
    let path = obj("everything", &lumpy(16));
    for k in 0..40 {
        let shape = if k % 7 == 6 {
            Mesh::new(&path).into()
        } else {
            random.shape(k % 6)
        };
        let opaque = if k % 3 == 0 { 0.4 } else { 1.0 };
        let id = s.add_colored(shape, 0.0, rgba(0.2, 0.5, 0.9, opaque));
        let p = Vector3::new(
            random.next(-1.5, 1.5),
            random.next(-1.0, 1.0),
            random.next(0.5, 5.0),
        );
        let x_wg = random.pose(p);
        s.poses.insert(id, x_wg);
    }
    let reference = s.color();
    let kinds: std::collections::BTreeSet<&[u8]> = reference.data().chunks(4).collect();
    assert!(kinds.len() > 300, "only {} colours", kinds.len());
    for threads in [1, 2, 4] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        s.engine.pool = Some(pool.build().unwrap().into());
        assert!(s.color() == reference, "{threads} threads");
    }
    for file in [sky, path] {
        std::fs::remove_file(file).unwrap();
    }
}

#[test]
fn shadow_outlines_match_the_geometry() {
    // A ball of radius 0.5 m, 1 m in front of a wall, lit by parallel light from 45 degrees above
    // the camera.
    let light = LightParameter {
        direction: Vector3::new(0.0, 1.0, 1.0),
        ..LightParameter::default()
    };
    for ball in [rgba(1.0, 1.0, 1.0, 1.0), rgba(1.0, 1.0, 1.0, 0.5)] {
        let mut s = Fixture::with(RenderEngineCpuParams {
            lights: vec![light],
            cast_shadows: true,
            ..RenderEngineCpuParams::default()
        });
        let wall = s.add_colored(HalfSpace, 0.0, Rgba::WHITE);
        let half_turn = math::rotation_exp(&Vector3::new(std::f64::consts::PI, 0.0, 0.0));
        s.poses
            .insert(wall, math::pose(half_turn, Vector3::new(0.0, 0.0, 4.0)));
        let z = 3.0;
        let id = s.add_colored(Sphere::new(0.5).unwrap(), z, ball);
        s.poses.insert(id, Isometry3::translation(0.0, -1.0, z));
        let (image, mut dark) = (s.color(), 0);
        let towards = Vector3::new(0.0, -1.0, -1.0).normalize();
        for (u, v) in s.pixels() {
            let p = s.ray(u, v) * 4.0;
            let to_ball = Vector3::new(0.0, -1.0, z) - p;
            let off = to_ball.cross(&towards).norm();
            let hidden_from_camera = Vector3::new(0.0, -1.0, z)
                .cross(&s.ray(u, v).normalize())
                .norm()
                < 0.55;
            if hidden_from_camera || (off - 0.5).abs() < 1e-3 {
                continue;
            }
            let lit = image.at(u, v)[0] > 0;
            // Translucent bodies cast no shadow, as in Drake.
            assert_eq!(lit, off > 0.5 || ball.a() < 1.0, "({u}, {v}) {off}");
            dark += usize::from(!lit);
        }
        assert_eq!(dark > 50, ball.a() == 1.0, "{dark}");
    }
}

#[test]
fn surfaces_do_not_shadow_themselves() {
    // With the light at the camera, no visible point is in shadow.
    let path = obj("acne", &lumpy(24));
    let mut random = Random(12);
    for k in 0..7 {
        let shape: Shape = if k == 6 {
            Mesh::new(&path).into()
        } else {
            random.shape(k % 5)
        };
        let x_wg = random.pose(Vector3::new(0.0, 0.0, 2.0));
        let lamp = LightParameter {
            light_type: LightType::Spot,
            cone_angle: 80.0,
            ..LightParameter::default()
        };
        let draw = |cast_shadows: bool| {
            let mut s = Fixture::with(RenderEngineCpuParams {
                lights: vec![lamp],
                cast_shadows,
                ..RenderEngineCpuParams::default()
            });
            let id = s.add_colored(shape.clone(), 0.0, Rgba::WHITE);
            s.poses.insert(id, x_wg);
            s.color()
        };
        let (with, without) = (draw(true), draw(false));
        let other = with
            .data()
            .chunks(4)
            .zip(without.data().chunks(4))
            .filter(|(a, b)| a != b);
        // Snapping moves silhouettes of the mesh by up to 1/512 pixel.
        assert!(other.count() <= if k == 6 { 2 } else { 0 }, "{shape:?}");
    }
    std::fs::remove_file(path).unwrap();
}

/// Writes a glTF file of a square with sides of 2 m and a metallic-roughness material.
fn square(base: [f64; 4], metallic: f64, roughness: f64, mode: &str) -> PathBuf {
    let corners: [f32; 12] = [-1., -1., 0., 1., -1., 0., 1., 1., 0., -1., 1., 0.];
    let mut hex = String::from("data:,");
    corners
        .iter()
        .flat_map(|x| x.to_le_bytes())
        .for_each(|b| hex += &format!("%{b:02x}"));
    let path = obj("square", "").with_extension("gltf");
    let text = format!(
        r#"{{"asset": {{"version": "2.0"}}, "nodes": [{{"mesh": 0}}],
        "buffers": [{{"byteLength": 48, "uri": "{hex}"}}], "bufferViews": [{{"buffer": 0, "byteLength": 48}}],
        "accessors": [{{"bufferView": 0, "componentType": 5126, "type": "VEC3", "count": 4}}],
        "meshes": [{{"primitives": [{{"mode": 6, "attributes": {{"POSITION": 0}}, "material": 0}}]}}],
        "materials": [{{{mode} "pbrMetallicRoughness": {{"baseColorFactor": {base:?},
            "metallicFactor": {metallic}, "roughnessFactor": {roughness}}}}}]}}"#
    );
    std::fs::write(&path, text).unwrap();
    path
}

/// Returns the colour of [`square`], facing the camera at a distance of 2 m, and removes the file.
fn shown(params: RenderEngineCpuParams, path: &PathBuf) -> [u8; 3] {
    let mut s = Fixture::with(params);
    let id = s.add_colored(Mesh::new(path), 0.0, Rgba::WHITE);
    // The mesh's z axis points up in the image, its normal towards the camera.
    let turn = nalgebra::Matrix3::new(1., 0., 0., 0., 0., -1., 0., 1., 0.);
    let turn = math::rotation_from_matrix(&turn);
    s.poses
        .insert(id, math::pose(turn, Vector3::new(0.0, 0.0, 2.0)));
    let color = s.center();
    std::fs::remove_file(path).unwrap();
    color
}

#[test]
fn gltf_materials_reflect_as_in_drake() {
    // Colours that RenderEngineVtk 1.51.1 drew in the middle of a sphere with the default light.
    // Highlights of smoother surfaces are brighter here.
    for (base, metallic, roughness, expected, by) in [
        ([1.0, 1.0, 1.0, 1.0], 0.0, 1.0, [149, 149, 149], 2),
        ([0.5, 0.5, 0.5, 1.0], 0.0, 1.0, [110, 110, 110], 2),
        ([0.5, 0.2, 0.1, 1.0], 0.0, 0.5, [121, 90, 77], 8),
        ([0.0, 0.0, 0.0, 1.0], 0.0, 0.6, [44, 44, 44], 8),
        ([0.3, 0.3, 0.3, 1.0], 1.0, 1.0, [47, 47, 47], 4),
    ] {
        let path = square(base, metallic, roughness, "");
        near(shown(RenderEngineCpuParams::default(), &path), expected, by);
    }
}

#[test]
fn gltf_alpha_modes_decide_the_opacity() {
    let clear = [204, 229, 255];
    for (mode, alpha, solid) in [
        ("", 0.4, true),
        (r#""alphaMode": "MASK","#, 0.4, false),
        (r#""alphaMode": "MASK","#, 0.6, true),
        (r#""alphaMode": "MASK", "alphaCutoff": 0.3,"#, 0.4, true),
        (r#""alphaMode": "BLEND","#, 0.0, false),
    ] {
        let path = square([1.0, 1.0, 1.0, alpha], 0.0, 1.0, mode);
        let expected = if solid { [149; 3] } else { clear };
        near(shown(RenderEngineCpuParams::default(), &path), expected, 2);
    }
    let path = square([1.0, 1.0, 1.0, 0.5], 0.0, 1.0, r#""alphaMode": "BLEND","#);
    near(
        shown(RenderEngineCpuParams::default(), &path),
        [176, 189, 202],
        2,
    );
}

#[test]
fn uniform_environments_match_drake() {
    let sky = obj("white", "").with_extension("png");
    let file = std::fs::File::create(&sky).unwrap();
    let mut png = png::Encoder::new(file, 64, 32);
    png.set_color(png::ColorType::Rgb);
    let mut writer = png.write_header().unwrap();
    writer.write_image_data(&[255; 64 * 32 * 3]).unwrap();
    writer.finish().unwrap();
    let params = |skybox| RenderEngineCpuParams {
        environment_map: Some(EnvironmentMap {
            skybox,
            texture: EquirectangularMap { path: sky.clone() }.into(),
            ..EnvironmentMap::default()
        }),
        ..RenderEngineCpuParams::default()
    };
    // Colours that RenderEngineVtk 1.51.1 drew with a white map.
    for (base, metallic, roughness, expected) in [
        ([0.5, 0.5, 0.5, 1.0], 0.0, 1.0, [184; 3]),
        ([0.5, 0.5, 0.5, 1.0], 1.0, 0.2, [186; 3]),
        ([0.0, 0.0, 0.0, 1.0], 0.0, 0.15, [59; 3]),
    ] {
        let path = square(base, metallic, roughness, "");
        near(shown(params(true), &path), expected, 4);
    }
    // Matt surfaces become plastic of the same colour value, without gamma conversion.
    let mut s = Fixture::with(params(false));
    s.add_colored(Sphere::new(0.5).unwrap(), 2.0, rgba(0.5, 0.5, 0.5, 1.0));
    near(s.center(), [186; 3], 4);
    let corner = |s: &Fixture| s.color().at(0, 0)[..3].to_vec();
    assert_eq!(corner(&s), [204, 229, 255]);
    assert_eq!(corner(&Fixture::with(params(true))), [255; 3]);
    std::fs::remove_file(sky).unwrap();
}

#[test]
fn parameters_outside_their_domain_are_errors() {
    for (params, expected) in [
        (
            RenderEngineCpuParams {
                exposure: Some(0.0),
                ..Default::default()
            },
            "exposure must be positive and finite, got 0.0",
        ),
        (
            RenderEngineCpuParams {
                shadow_map_size: 0,
                ..Default::default()
            },
            "shadow_map_size must be positive, got 0 pixels",
        ),
        (
            RenderEngineCpuParams {
                environment_map: Some(EnvironmentMap {
                    skybox: true,
                    texture: EquirectangularMap {
                        path: "/no/such.hdr".into(),
                    }
                    .into(),
                    ..EnvironmentMap::default()
                }),
                ..Default::default()
            },
            "environment_map: /no/such.hdr",
        ),
    ] {
        let e = RenderEngineCpu::new(params).unwrap_err().to_string();
        assert!(e.contains(expected), "{e}");
    }
}
