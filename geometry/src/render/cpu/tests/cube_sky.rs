//! Skies on the faces of a cube, and environment maps that do not light.

use super::*;
use crate::mesh::TextureImage;
use crate::render::{CubeMap, EnvironmentMap, EnvironmentTexture, EquirectangularMap};

/// Direction, right and down of each face's image in the world: the table of [`CubeMap`].
const FACES: [[[f64; 3]; 3]; 6] = [
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, -1.0]],
    [[-1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]],
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, -1.0, 0.0]],
    [[0.0, 0.0, -1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
    [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]],
    [[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, -1.0]],
];

/// Returns a PNG image of a colour for each column and row.
fn image(side: usize, color: impl Fn(usize, usize) -> [u8; 3]) -> TextureImage {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, side as u32, side as u32);
    encoder.set_color(png::ColorType::Rgb);
    let mut writer = encoder.write_header().unwrap();
    let pixels = (0..side * side).flat_map(|i| color(i % side, i / side));
    let pixels: Vec<u8> = pixels.collect();
    writer.write_image_data(&pixels).unwrap();
    writer.finish().unwrap();
    TextureImage::Content(bytes.into())
}

fn plain(colors: [[u8; 3]; 6]) -> CubeMap {
    CubeMap::new(colors.map(|color| image(2, |_, _| color)))
}

fn with(texture: impl Into<EnvironmentTexture>, lights: bool) -> RenderEngineCpuParams {
    RenderEngineCpuParams {
        environment_map: Some(EnvironmentMap {
            skybox: true,
            lights,
            texture: texture.into(),
        }),
        ..RenderEngineCpuParams::default()
    }
}

fn fixture(params: RenderEngineCpuParams) -> Fixture {
    Fixture {
        engine: RenderEngineCpu::new(params).unwrap(),
        ..Fixture::new(64, 48, 0.1, 10.0)
    }
}

#[test]
fn every_ray_sees_its_place_in_its_face() {
    const SIDE: usize = 16;
    // Red grows to the right, green downwards, blue tells the face.
    let ramp = |face: u8| {
        image(SIDE, move |x, y| {
            [(10 * x) as u8, (10 * y) as u8, 40 * face]
        })
    };
    let mut s = fixture(with(CubeMap::new([0, 1, 2, 3, 4, 5].map(ramp)), false));
    let mut random = Random(3);
    let mut seen = [0; 6];
    for _ in 0..40 {
        s.x_wc = random.pose(Vector3::new(0.3, -2.0, 5.0));
        let color = s.color();
        for (u, v) in s.pixels() {
            let d = s.x_wc.rotation * s.ray(u, v);
            let along = |axis: [f64; 3]| d.dot(&Vector3::from(axis));
            let face = (0..6).max_by(|a, b| along(FACES[*a][0]).total_cmp(&along(FACES[*b][0])));
            let face = face.unwrap();
            let [n, right, down] = FACES[face].map(along);
            let ramp = |x: f64| {
                let pixel = (0.5 + 0.5 * x / n) * SIDE as f64 - 0.5;
                10.0 * pixel.clamp(0.0, (SIDE - 1) as f64)
            };
            let [r, g, b, a] = color.at(u, v)[..] else {
                panic!()
            };
            assert_eq!((usize::from(b), a), (40 * face, 255), "{d}");
            // The colours are rounded to bytes.
            assert!((f64::from(r) - ramp(right)).abs() < 0.51, "{d}");
            assert!((f64::from(g) - ramp(down)).abs() < 0.51, "{d}");
            seen[face] += 1;
        }
    }
    assert!(seen.iter().all(|n| *n > 1000), "{seen:?}");
}

#[test]
fn cubes_that_do_not_light_leave_surfaces_as_they_are() {
    let sky = obj("dusk", "").with_extension("png");
    let TextureImage::Content(picture) = image(8, |x, _| [200, 30 * x as u8, 0]) else {
        panic!()
    };
    std::fs::write(&sky, picture).unwrap();
    let dusk = EquirectangularMap { path: sky.clone() };
    let ball = |params| {
        let mut s = fixture(params);
        s.add(
            Sphere::new(0.6).unwrap(),
            Isometry3::translation(0.0, 0.0, 2.0),
            1,
        );
        s
    };
    let bare = ball(RenderEngineCpuParams::default());
    let (depth, expected) = (bare.depth(), bare.color());
    let cube = plain([[9, 99, 199]; 6]);
    let textures: [EnvironmentTexture; 2] = [cube.clone().into(), dusk.into()];
    for texture in textures {
        let colors = [true, false].map(|lights| ball(with(texture.clone(), lights)).color());
        let [mut lit, mut hits] = [0, 0];
        for (u, v) in bare.pixels() {
            let [lighting, dark] = colors.each_ref().map(|c| c.at(u, v));
            if depth.at(u, v)[0].is_finite() {
                assert_eq!(dark, expected.at(u, v));
                hits += 1;
                lit += usize::from(lighting != dark);
            } else {
                // The same sky is seen, but for the rounding of lights.
                assert_ne!(dark, expected.at(u, v));
                assert_eq!(lighting, dark);
            }
        }
        assert!(hits > 300 && lit > 9 * hits / 10, "{lit} of {hits}");
    }
    std::fs::remove_file(sky).unwrap();
    // Without `skybox`, the background is the clear colour.
    let mut params = with(cube, false);
    params.environment_map.as_mut().unwrap().skybox = false;
    assert_eq!(ball(params).color(), expected);
}

#[test]
fn cubes_light_as_pictures_of_the_same_sky() {
    let white = |directions: [u8; 6]| {
        let cube = plain(directions.map(|white| [255 * white; 3]));
        let mut params = with(cube, true);
        params.environment_map.as_mut().unwrap().skybox = false;
        let mut s = fixture(params);
        // The camera looks along the world's y, its down is -z.
        s.x_wc = math::pose(
            math::rotation_exp(&Vector3::new(-std::f64::consts::FRAC_PI_2, 0.0, 0.0)),
            Vector3::zeros(),
        );
        s.add(
            Sphere::new(0.6).unwrap(),
            Isometry3::translation(0.0, 2.0, 0.0),
            1,
        );
        let color = s.color();
        let at = |u, v| i32::from(color.at(u, v)[0]);
        // Above, below, to the left and to the right of the middle.
        [at(29, 15), at(29, 37), at(18, 26), at(40, 26)]
    };
    let all = white([1; 6]);
    // A uniform picture gives the red of this material the same light from everywhere.
    assert!(
        all.iter().all(|x| (x - all[0]).abs() <= 1 && *x > 200),
        "{all:?}"
    );
    let [above, below, left, right] = white([0, 0, 1, 0, 0, 0]);
    assert!(
        above > below + 40 && (left - right).abs() <= 1,
        "{above} {below}"
    );
    let [above, below, left, right] = white([1, 0, 0, 0, 0, 0]);
    assert!(
        right > left + 40 && (above - below).abs() <= 1,
        "{left} {right}"
    );
}

#[test]
fn mean_colors_are_those_of_the_faces() {
    let half = image(2, |x, _| [255 * x as u8, 51, 0]);
    let black = image(1, |_, _| [0; 3]);
    let [b, c] = [half, black];
    let map = CubeMap::new([&b, &c, &b, &c, &c, &b].map(Clone::clone));
    let expected = [Rgba::opaque(0.5, 0.2, 0.0), Rgba::opaque(0.0, 0.0, 0.0)];
    let [b, c] = expected.map(Result::unwrap);
    assert_eq!(map.mean_colors().unwrap(), [b, c, b, c, c, b]);
}

#[test]
fn faces_that_are_no_images_are_errors() {
    let good = image(1, |_, _| [0; 3]);
    let error = |bad: TextureImage| {
        let mut images = [0; 6].map(|_| good.clone());
        images[3] = bad;
        let params = with(CubeMap::new(images), false);
        RenderEngineCpu::new(params).unwrap_err().to_string()
    };
    let missing = error(TextureImage::File("/no/such.png".into()));
    assert!(
        missing.contains("environment_map: /no/such.png"),
        "{missing}"
    );
    let broken = error(TextureImage::Content(b"no image".as_slice().into()));
    assert!(broken.contains("of the cube map's face -y"), "{broken}");
    let sky = b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 1\n\x80\x40\x00\x81";
    let linear = error(TextureImage::Content(sky.as_slice().into()));
    assert!(linear.contains("face -y must be PNG or JPEG"), "{linear}");
}
