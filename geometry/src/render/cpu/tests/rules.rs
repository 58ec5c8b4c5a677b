//! Content of images, and rejection of invalid input.

use super::*;

fn busy() -> Fixture {
    let mut random = Random(5);
    let path = obj("busy", &lumpy(20));
    let mut s = Fixture::new(211, 157, 0.1, 20.0);
    for k in 0..60 {
        let shape = if k % 7 == 6 {
            Mesh::new(&path).into()
        } else {
            random.shape(k % 7)
        };
        let p = Vector3::new(
            random.next(-1.5, 1.5),
            random.next(-1.0, 1.0),
            random.next(0.3, 5.0),
        );
        let x_wg = random.pose(p);
        s.add(shape, x_wg, k as i16);
    }
    std::fs::remove_file(path).unwrap();
    s
}

#[test]
fn images_are_bit_identical_for_any_number_of_threads() {
    let mut s = busy();
    let all = |s: &Fixture| {
        let depth: Vec<u32> = s.depth().data().iter().map(|z| z.to_bits()).collect();
        (s.color(), s.label(), depth)
    };
    let reference = all(&s);
    for threads in [1, 2, 4] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        s.engine.pool = Some(pool.build().unwrap().into());
        assert!(all(&s) == reference, "{threads} threads");
    }
}

#[test]
fn images_of_one_scene_have_the_same_empty_pixels() {
    let s = busy();
    let (color, label, depth) = (s.color(), s.label(), s.depth());
    let clear = [204, 229, 255, 255];
    for (u, v) in s.pixels() {
        let empty = label.at(u, v)[0] == RenderLabel::EMPTY.value();
        assert_eq!(empty, depth.at(u, v)[0].is_infinite());
        assert_eq!(empty, color.at(u, v) == clear);
    }
}

#[test]
fn at_equal_depth_the_first_registered_is_visible() {
    let cube = BoxShape::new(0.5, 0.5, 0.5).unwrap();
    let mut s = Fixture::new(40, 30, 0.1, 20.0);
    let x_wg = Random(6).pose(Vector3::new(0.0, 0.0, 2.0));
    let first = s.add(cube, x_wg, 1);
    s.add(cube, x_wg, 2);
    s.add(cube, x_wg, 3);
    let count = |s: &Fixture, label: i16| s.label().data().iter().filter(|l| **l == label).count();
    assert_eq!((count(&s, 2), count(&s, 3)), (0, 0));
    let n = count(&s, 1);
    s.engine.remove_visual(first);
    assert_eq!((count(&s, 1), count(&s, 2)), (0, n));
}

#[test]
fn depths_respect_the_depth_range_and_the_clipping_range() {
    let mut s = Fixture::new(8, 8, 1.0, 10.0);
    s.range = DepthRange::new(2.0, 5.0).unwrap();
    let ball = s.add(Sphere::new(0.1).unwrap(), Isometry3::identity(), 1);
    let mut center = |z: f64| {
        s.poses.insert(ball, Isometry3::translation(0.0, 0.0, z));
        s.depth().at(3, 4)[0]
    };
    let too_far = f32::INFINITY;
    assert_eq!(center(0.5), too_far); // entirely in front of the near plane: clipped
    assert_eq!(center(1.05), 0.0); // only its back is visible, which is too close
    assert!((center(3.0) - 2.9).abs() < 0.02);
    assert_eq!(center(6.0), too_far);
    assert_eq!(center(12.0), too_far);
}

#[test]
fn reserved_labels_are_errors_and_do_not_render_hides_from_labels_only() {
    let mut engine = RenderEngineCpu::new(RenderEngineCpuParams::default()).unwrap();
    let ball: Shape = Sphere::new(0.1).unwrap().into();
    let mut p = PerceptionProperties::new();
    assert_eq!(engine.render_label_of(&p).unwrap(), RenderLabel::DONT_CARE);
    for label in [RenderLabel::UNSPECIFIED, RenderLabel::EMPTY] {
        p = p.with_label(label);
        let e = engine.register_visual(GeometryId::new(), &ball, &p);
        assert!(e.unwrap_err().to_string().contains("('label', 'id')"));
    }
    p.set_untyped("label", "id", 7_i32);
    assert!(
        engine
            .register_visual(GeometryId::new(), &ball, &p)
            .is_err()
    );

    let mut s = Fixture::new(8, 8, 0.1, 10.0);
    let x_wg = Isometry3::translation(0.0, 0.0, 2.0);
    s.add(Sphere::new(1.0).unwrap(), x_wg, 5);
    let glass = PerceptionProperties::new().with_label(RenderLabel::DO_NOT_RENDER);
    let id = GeometryId::new();
    s.engine
        .register_visual(id, &Sphere::new(1.2).unwrap().into(), &glass)
        .unwrap();
    s.poses.insert(id, x_wg);
    assert_eq!(s.label().at(4, 4), [5]);
    assert!(s.depth().at(4, 4)[0] < 0.9); // the glass is visible in depth
}

#[test]
fn invalid_parameters_and_calls_are_errors() {
    let new = |change: fn(&mut RenderEngineCpuParams)| {
        let mut params = RenderEngineCpuParams::default();
        change(&mut params);
        RenderEngineCpu::new(params)
            .map(|_| ())
            .unwrap_err()
            .to_string()
    };
    assert!(new(|p| p.default_label = RenderLabel::EMPTY).contains("default_label"));
    assert!(new(|p| p.threads = Some(0)).contains("threads must be positive, got 0"));
    assert!(
        new(|p| p.samples_per_side = 0).contains("samples_per_side must be from 1 to 16, got 0")
    );
    assert!(
        new(|p| p.lights = vec![LightParameter {
            direction: Vector3::zeros(),
            ..Default::default()
        }])
        .contains("light 0: direction must not be zero")
    );

    let mut s = Fixture::new(8, 6, 0.1, 10.0);
    let ball: Shape = Sphere::new(0.1).unwrap().into();
    let id = s.add(ball.clone(), Isometry3::identity(), 1);
    let again = s
        .engine
        .register_visual(id, &ball, &PerceptionProperties::new());
    assert!(
        again
            .unwrap_err()
            .to_string()
            .contains("already registered with this render engine")
    );
    let camera = ColorRenderCamera::from_core(s.core.clone());
    let nowhere = |_| None;
    let view = RenderView::new(Isometry3::identity(), &nowhere);
    let e = s
        .engine
        .render_label(&view, &camera, &mut Image::new(8, 7))
        .unwrap_err();
    assert!(e.to_string().contains("8 x 7"), "{e}");
    assert!(s.engine.remove_visual(id) && !s.engine.remove_visual(id));
}

#[test]
fn visuals_without_a_pose_are_not_drawn() {
    let mut s = Fixture::new(8, 6, 0.1, 10.0);
    let empty = s.label();
    let seen = s.add(
        Sphere::new(0.5).unwrap(),
        Isometry3::translation(0.0, 0.0, 3.0),
        1,
    );
    let alone = s.label();
    assert_ne!(alone.data(), empty.data());
    let nearer = s.add(
        Sphere::new(0.5).unwrap(),
        Isometry3::translation(0.0, 0.0, 2.0),
        2,
    );
    s.poses.remove(&nearer);
    assert_eq!(s.label().data(), alone.data());
    s.poses.remove(&seen);
    assert_eq!(s.label().data(), empty.data());
}

#[test]
fn engines_decline_visuals_for_other_renderers() {
    let named = RenderEngineCpuParams {
        renderer_name: Some("a".into()),
        ..Default::default()
    };
    let mut engine = RenderEngineCpu::new(named).unwrap();
    let ball: Shape = Sphere::new(0.1).unwrap().into();
    let mut accepts = |names: &[&str]| {
        let p = PerceptionProperties::new().with_accepting_renderers(names.iter().copied());
        engine
            .register_visual(GeometryId::new(), &ball, &p)
            .unwrap()
    };
    assert!(accepts(&["a", "b"]));
    assert!(!accepts(&["b"]));
}

#[test]
fn declared_lights_replace_the_default_light() {
    let mut s = Fixture::new(8, 8, 0.1, 10.0);
    s.add(
        Sphere::new(1.0).unwrap(),
        Isometry3::translation(0.0, 0.0, 3.0),
        1,
    );
    let center = |s: &Fixture| <[u8; 4]>::try_from(s.color().at(4, 4)).unwrap();
    let lit = |s: &mut Fixture, light: LightParameter| {
        s.engine.params.lights = vec![light];
        center(s)
    };
    let [r, ..] = center(&s);
    assert!(r > 245);
    let lamp = LightParameter::default();
    let from_behind = LightParameter {
        direction: -Vector3::z(),
        ..lamp
    };
    assert_eq!(lit(&mut s, from_behind), [0, 0, 0, 255]);
    let point = LightParameter {
        light_type: LightType::Point,
        attenuation_values: Vector3::new(0.0, 0.0, 1.0),
        ..lamp
    };
    let [far, ..] = lit(&mut s, point); // at 2 m: a quarter
    assert!(
        (f64::from(far) - f64::from(r) / 4.0).abs() < 6.0,
        "{far} {r}"
    );
    let spot = LightParameter {
        light_type: LightType::Spot,
        cone_angle: 1.0,
        ..lamp
    };
    s.add(
        BoxShape::new(9.0, 9.0, 0.1).unwrap(),
        Isometry3::translation(0.0, 0.0, 5.0),
        2,
    );
    s.engine.params.lights = vec![spot];
    assert_eq!(s.color().at(0, 0), [0, 0, 0, 255]);
    let world = LightParameter {
        frame: LightFrame::World,
        direction: Vector3::x(),
        ..lamp
    };
    s.engine.params.lights = vec![world];
    assert_eq!(s.color().at(0, 0), [0, 0, 0, 255]);
}

#[test]
fn textures_are_perspective_correct_and_file_materials_take_precedence() {
    // A quad at 1 m to 3 m, textured red on its near half and blue on its far half.
    let path = obj("textured", "");
    let (mtl, map) = (path.with_extension("mtl"), path.with_extension("map.png"));
    let file = std::fs::File::create(&map).unwrap();
    let mut png = png::Encoder::new(file, 1, 2);
    png.set_color(png::ColorType::Rgb);
    let mut writer = png.write_header().unwrap();
    writer.write_image_data(&[0, 0, 255, 255, 0, 0]).unwrap();
    writer.finish().unwrap();
    let name = |p: &PathBuf| p.file_name().unwrap().to_string_lossy().into_owned();
    std::fs::write(
        &mtl,
        format!(
            "newmtl t\nKd 1 1 1\nmap_Kd {}\nnewmtl g\nKd 0 1 0\n",
            name(&map)
        ),
    )
    .unwrap();
    let text = format!(
        "mtllib {}\nv -1 0.5 1\nv 1 0.5 1\nv 1 0.5 3\nv -1 0.5 3\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n\
         vn 0 0 -1\nusemtl t\nf 1/1/1 2/2/1 3/3/1 4/4/1\nusemtl g\nv -1 -1 2\nv 1 -1 2\nv 1 -0.5 2\nf 5//1 6//1 7//1\n",
        name(&mtl)
    );
    std::fs::write(&path, text).unwrap();
    let mut s = Fixture::new(64, 64, 0.1, 20.0);
    s.add(Mesh::new(&path), Isometry3::identity(), 1);
    let image = s.color();
    let mut seen = [0; 3];
    for (u, v) in s.pixels() {
        let [r, g, b, _] = <[u8; 4]>::try_from(image.at(u, v)).unwrap();
        let z = 0.5 / s.ray(u, v).y;
        if b > 250 && r > 200 {
            continue; // the background
        } else if g > 0 {
            assert_eq!((r, b), (0, 0));
            seen[0] += 1;
        } else if (1.4..1.6).contains(&z) {
            // Textures are interpolated and repeat, so only the middle of a texel has its pure
            // colour.
            assert!(r > 200 && b < 55, "{r} {b} at {z} m");
            seen[1] += 1;
        } else if (2.4..2.6).contains(&z) {
            assert!(r < 55 && b > 200, "{r} {b} at {z} m");
            seen[2] += 1;
        }
    }
    assert!(seen.iter().all(|n| *n > 20), "{seen:?}");
    for file in [path, mtl, map] {
        std::fs::remove_file(file).unwrap();
    }
}

#[test]
fn textures_embedded_in_gltf_files_are_drawn() {
    let mut image = Vec::new();
    let mut png = png::Encoder::new(&mut image, 1, 2);
    png.set_color(png::ColorType::Rgb);
    let mut writer = png.write_header().unwrap();
    writer.write_image_data(&[0, 0, 255, 255, 0, 0]).unwrap();
    writer.finish().unwrap();
    // A triangle fan with corners (x, y, z, u, v); the first row of the image is at the top.
    let corners: [[f32; 5]; 4] = [
        [-1., -1., 0., 0., 1.],
        [1., -1., 0., 1., 1.],
        [1., 1., 0., 1., 0.],
        [-1., 1., 0., 0., 0.],
    ];
    let floats = corners.as_flattened().iter();
    let mut bin: Vec<u8> = floats.flat_map(|x| x.to_le_bytes()).collect();
    let length = image.len();
    bin.extend(image);
    let text = format!(
        r#"{{"asset": {{"version": "2.0"}}, "nodes": [{{"mesh": 0}}], "buffers": [{{"byteLength": {}}}],
        "bufferViews": [{{"buffer": 0, "byteLength": 80, "byteStride": 20}},
                        {{"buffer": 0, "byteOffset": 80, "byteLength": {length}}}],
        "accessors": [{{"bufferView": 0, "componentType": 5126, "type": "VEC3", "count": 4}},
            {{"bufferView": 0, "byteOffset": 12, "componentType": 5126, "type": "VEC2", "count": 4}}],
        "meshes": [{{"primitives": [
            {{"mode": 6, "attributes": {{"POSITION": 0, "TEXCOORD_0": 1}}, "material": 0}}]}}],
        "materials": [{{"pbrMetallicRoughness": {{"metallicFactor": 0, "baseColorTexture": {{"index": 0}}}}}}],
        "textures": [{{"source": 0}}], "images": [{{"bufferView": 1, "mimeType": "image/png"}}]}}"#,
        bin.len()
    );
    let mut file = b"glTF\x02\0\0\0".to_vec();
    file.extend((28 + text.len() as u32 + bin.len() as u32).to_le_bytes());
    for (kind, chunk) in [(b"JSON", text.as_bytes()), (b"BIN\0", &bin)] {
        file.extend((chunk.len() as u32).to_le_bytes());
        file.extend(kind);
        file.extend(chunk);
    }
    let path = obj("embedded", "");
    let glb = path.with_extension("glb");
    std::fs::write(&glb, file).unwrap();

    let mut s = Fixture::new(64, 64, 0.1, 20.0);
    // The mesh's z axis points up in the image.
    let turn = nalgebra::Matrix3::new(1., 0., 0., 0., 0., -1., 0., 1., 0.);
    let turn = nalgebra::UnitQuaternion::from_matrix(&turn);
    let x_wg = Isometry3::from_parts(Vector3::new(0.0, 0.0, 4.0).into(), turn);
    s.add(Mesh::new(&glb), x_wg, 1);
    let image = s.color();
    let mut seen = [0; 2];
    for (u, v) in s.pixels() {
        let [r, g, b, _] = <[u8; 4]>::try_from(image.at(u, v)).unwrap();
        let p = s.ray(u, v) * 4.0;
        if p.x.abs() < 0.9 && (p.y.abs() - 0.5).abs() < 0.1 {
            // A white matt surface reflects 1 / pi of the light and has the value 149 of 255, as in
            // VTK. Highlights are white.
            let (expected, other) = if p.y < 0.0 { (b, r) } else { (r, b) };
            assert!((125..155).contains(&expected), "{r} {b} at {p}");
            assert!(g < 25 && other < 85, "{r} {g} {b} at {p}");
            seen[usize::from(p.y < 0.0)] += 1;
        }
    }
    assert!(seen.iter().all(|n| *n > 20), "{seen:?}");
    for file in [path, glb] {
        std::fs::remove_file(file).unwrap();
    }
}

#[test]
fn supersampling_changes_only_edges() {
    let mut s = Fixture::new(40, 30, 0.1, 10.0);
    s.add(
        BoxShape::new(0.7, 0.7, 0.1).unwrap(),
        Isometry3::translation(0.011, 0.017, 2.0),
        1,
    );
    let hard = s.color();
    s.engine.params.samples_per_side = 4;
    let soft = s.color();
    let different = |u: usize, v: usize| hard.at(u, v) != soft.at(u, v);
    let n = s.pixels().filter(|&(u, v)| different(u, v)).count();
    assert!((10..100).contains(&n), "{n} pixels differ");
}
