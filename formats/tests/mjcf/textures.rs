//! Textures as MuJoCo reads them: generated images byte for byte, and their place on shapes.

use crate::support::loaded::{Built, load_with};
use crate::support::mujoco;
use std::io::Cursor;
use std::path::Path;
use std::process::Command;
use tarragon_formats::*;
use tarragon_geometry::mesh::TextureImage;
use tarragon_geometry::*;

/// Loads assets and geoms, each on a body of its own, as MuJoCo reads them.
fn load(assets: &str, geoms: &[&str]) -> Built {
    let bodies: String = geoms.iter().map(|g| format!("<body>{g}</body>")).collect();
    let text = format!(
        "<mujoco model='m'><asset>{assets}</asset><worldbody>{bodies}</worldbody></mujoco>"
    );
    load_with(|p| {
        p.set_mjcf_semantics(MjcfSemantics::MuJoCo);
        p.add_models_from_string(&text, "xml")
    })
    .ok()
}

impl Built {
    /// Textures of all visuals in the order of their bodies.
    fn textures(&self) -> Vec<Option<ProjectedTexture>> {
        let inspector = self.scene.model_inspector();
        let visuals = self.plant.bodies().filter_map(|(index, _)| {
            let id = *self.plant.visual_geometries(index).first()?;
            let perception = inspector.perception_properties(id).unwrap().unwrap();
            let of = |p: &GeometryProperties| {
                let name = ("phong", "projected_texture");
                p.try_get::<ProjectedTexture>(name.0, name.1)
                    .unwrap()
                    .cloned()
            };
            // Both roles show the same.
            let illustration = inspector.illustration_properties(id).unwrap().unwrap();
            assert_eq!(of(perception), of(illustration));
            Some(of(perception))
        });
        visuals.collect()
    }
}

/// Red, green and blue of all pixels of an image, with its width.
fn pixels(image: &TextureImage) -> (usize, Vec<u8>) {
    let content = match image {
        TextureImage::Content(content) => content.to_vec(),
        TextureImage::File(path) => std::fs::read(path).unwrap(),
    };
    let mut reader = png::Decoder::new(Cursor::new(content)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut pixels).unwrap();
    assert_eq!(frame.color_type, png::ColorType::Rgb);
    pixels.truncate(frame.buffer_size());
    (frame.width as usize, pixels)
}

/// Writes an image of `width` pixels per row.
fn write_png(path: &Path, width: u32, rgb: &[u8]) {
    let height = rgb.len() as u32 / 3 / width;
    let file = std::fs::File::create(path).unwrap();
    let mut encoder = png::Encoder::new(file, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder
        .write_header()
        .unwrap()
        .write_image_data(rgb)
        .unwrap();
}

/// Attributes of generated textures: all patterns and marks, with even and odd sizes.
fn generated() -> Vec<String> {
    let mut all = vec![];
    for kind in ["2d", "cube", "skybox"] {
        for pattern in ["gradient", "checker", "flat"] {
            for mark in ["none", "edge", "cross"] {
                for (width, height) in [(8, 5), (7, 9)] {
                    all.push(format!(
                        "type='{kind}' builtin='{pattern}' mark='{mark}' width='{width}' \
                         height='{height}' rgb1='.9 .35 0' rgb2='.123 1 .77' markrgb='.2 .4 .999'"
                    ));
                }
            }
        }
    }
    all.push("builtin='flat' width='3' height='3'".into());
    all
}

/// Prints the bytes of all textures of the model in the argument, as hexadecimal numbers.
const PEER: &str = "
import sys, mujoco
m = mujoco.MjModel.from_xml_string(sys.argv[1])
for i in range(m.ntex):
    n = m.tex_width[i] * m.tex_height[i] * m.tex_nchannel[i]
    print(bytes(m.tex_data[m.tex_adr[i]:m.tex_adr[i] + n]).hex())
";

#[test]
fn generated_images_are_those_of_mujoco() {
    let Some(python) = mujoco::python() else {
        return;
    };
    let (mut assets, mut geoms) = (String::new(), vec![]);
    for (i, attributes) in generated().iter().enumerate() {
        assets +=
            &format!("<texture name='t{i}' {attributes}/><material name='m{i}' texture='t{i}'/>");
        geoms.push(format!("<geom size='1' material='m{i}'/>"));
    }
    let text = format!("<mujoco><asset>{assets}</asset></mujoco>");
    let output = Command::new(python)
        .args(["-c", PEER, &text])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let truth = String::from_utf8(output.stdout).unwrap();
    let geoms: Vec<&str> = geoms.iter().map(|g| &**g).collect();
    let model = load(&assets, &geoms);
    assert_eq!(model.warnings(), [""; 0]);
    let mut count = 0;
    for ((texture, truth), attributes) in
        model.textures().iter().zip(truth.lines()).zip(generated())
    {
        let images = texture.as_ref().unwrap().images();
        let bytes = images.iter().flat_map(|image| pixels(image).1);
        let found: String = bytes.map(|b| format!("{b:02x}")).collect();
        assert_eq!(found, truth, "{attributes}");
        count += 1;
    }
    println!("mujoco textures: {count} cases, 0 failed");
    assert_eq!(count, generated().len());
}

/// Every pixel of random dots is one of two colours, in the asked proportion.
#[test]
fn random_dots_are_a_part_of_the_pixels() {
    let model = load(
        "<texture name='t' builtin='flat' mark='random' random='.25' rgb1='1 0 0' rgb2='1 0 0'
           markrgb='0 0 1' width='64'/><material name='m' texture='t'/>",
        &["<geom size='1' material='m'/>"],
    );
    let textures = model.textures();
    let images = textures[0].as_ref().unwrap().images();
    let all: Vec<u8> = images.iter().flat_map(|image| pixels(image).1).collect();
    let dots = all.chunks(3).filter(|p| p == &[0, 0, 255]).count();
    let plain = all.chunks(3).filter(|p| p == &[255, 0, 0]).count();
    assert_eq!(dots + plain, 6 * 64 * 64);
    // Four standard deviations of a binomial distribution.
    let deviation = (6.0_f64 * 64.0 * 64.0 * 0.25 * 0.75).sqrt();
    assert!(
        (dots as f64 - 0.25 * 6.0 * 64.0 * 64.0).abs() < 4.0 * deviation,
        "{dots}"
    );
}

/// Repeats count per shape, or with `texuniform` per 2 m; colours of geoms and materials multiply.
#[test]
fn textures_are_placed_on_every_shape() {
    let assets = "<texture name='t' type='2d' builtin='checker' width='4' height='4'/>
        <texture name='c' builtin='checker' width='4'/>
        <material name='m' texture='t' texrepeat='2 3' rgba='1 .5 0 1'/>
        <material name='u' texture='t' texrepeat='2 3' texuniform='true'/>
        <material name='c' texture='c'/><material name='cu' texture='c' texuniform='true'/>
        <material name='layered'><layer role='rgb' texture='t'/></material>";
    let model = load(
        assets,
        &[
            "<geom type='box' size='.5 .25 1' material='m'/>",
            "<geom type='cylinder' size='.5 1' material='u' rgba='0 1 0 1'/>",
            "<geom type='ellipsoid' size='.5 .25 .1' material='c'/>",
            "<geom type='capsule' size='.5 1' material='cu'/>",
            "<geom type='sphere' size='.5' material='layered'/>",
            "<geom type='plane' size='2 0 1' material='m'/>",
            "<geom type='plane' size='2 3 1' rgba='0 0 1 1'/>",
            "<geom type='plane' size='0 0 1'/>",
            "<geom type='sphere' size='.5'/>",
        ],
    );
    assert_eq!(model.warnings(), [""; 0]);
    let textures = model.textures();
    let image = |i: usize| textures[i].as_ref().unwrap().images()[0].clone();
    let six = |i: usize| {
        textures[i]
            .as_ref()
            .unwrap()
            .images()
            .to_vec()
            .try_into()
            .unwrap()
    };
    let rgba = |r, g, b| Rgba::new(r, g, b, 1.0).unwrap();
    let flat = |i, repeats| ProjectedTexture::along_z(image(i), repeats).unwrap();
    let cube = |i, scale: [f64; 3]| ProjectedTexture::from_center(six(i), scale.into()).unwrap();
    let plain = ProjectedTexture::plain().with_color(rgba(0.0, 0.0, 1.0));
    let expected = [
        Some(flat(0, [2.0, 6.0]).with_color(rgba(1.0, 0.5, 0.0))),
        Some(flat(1, [1.0, 1.5]).with_color(rgba(0.0, 1.0, 0.0))),
        Some(cube(2, [2.0, 4.0, 10.0])),
        Some(cube(3, [1.0, 1.0, 1.0])),
        Some(flat(4, [1.0, 1.0])),
        Some(
            flat(5, [0.5, 1.5])
                .with_color(rgba(1.0, 0.5, 0.0))
                .with_half_extents([2.0, 50.0])
                .unwrap(),
        ),
        Some(plain.with_half_extents([2.0, 3.0]).unwrap()),
        None,
        None,
    ];
    for (i, (found, expected)) in textures.iter().zip(&expected).enumerate() {
        assert_eq!(found, expected, "geom {i}");
    }
    assert_eq!(textures.len(), expected.len());
}

/// One file per face, one for all, and parts of one file; mirrored if asked.
#[test]
fn images_come_from_files() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let colors: Vec<u8> = (0..24).map(|i| 10 * i).collect();
    // Two rows of four pixels.
    write_png(&folder.path().join("a.png"), 4, &colors);
    let a = file("a.png");
    let assets = format!(
        "<texture name='flat' type='2d' file='{a}' hflip='true'/>
         <texture name='down' type='2d' file='{a}' vflip='true'/>
         <texture name='all' file='{a}'/>
         <texture name='grid' file='{a}' gridsize='2 4' gridlayout='RL.DF..B'/>
         <texture name='faces' fileleft='{a}' fileback='{a}'/>
         <material name='flat' texture='flat'/><material name='down' texture='down'/>
         <material name='all' texture='all'/><material name='grid' texture='grid'/>
         <material name='faces' texture='faces'/>"
    );
    let geoms = ["flat", "down", "all", "grid", "faces"]
        .map(|m| format!("<geom size='1' material='{m}'/>"));
    let model = load(&assets, &geoms.each_ref().map(|g| &**g));
    assert_eq!(model.warnings(), [""; 0]);
    let textures = model.textures();
    let of = |i: usize| -> Vec<(usize, Vec<u8>)> {
        textures[i]
            .as_ref()
            .unwrap()
            .images()
            .iter()
            .map(pixels)
            .collect()
    };
    let pixel = |i: usize| colors[3 * i..3 * i + 3].to_vec();
    let joined = |order: [usize; 8]| (4, order.map(pixel).concat());
    assert_eq!(of(0), [joined([3, 2, 1, 0, 7, 6, 5, 4])]);
    assert_eq!(of(1), [joined([4, 5, 6, 7, 0, 1, 2, 3])]);
    assert_eq!(of(2), vec![(4, colors.clone()); 6]);
    let black = (1, vec![0; 3]);
    let part = |i| (1, pixel(i));
    assert_eq!(
        of(3),
        [part(0), part(1), black.clone(), part(3), part(4), part(7)]
    );
    let whole = (4, colors.clone());
    let faces = [1, 5].map(|i| of(4)[i].clone());
    assert_eq!(faces, [whole.clone(), whole]);
    assert_eq!(of(4)[0], black);
}

/// The decoder of PNG files panics at a palette that is not of three bytes per colour.
#[test]
fn files_with_a_wrong_palette_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("palette.png");
    let file = std::fs::File::create(&path).unwrap();
    let mut encoder = png::Encoder::new(file, 1, 1);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_palette(vec![1, 2, 3, 4]);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&[0]).unwrap();
    writer.finish().unwrap();
    let texture = format!("<texture name='t' file='{}' hflip='true'/>", path.display());
    let model = load(
        &format!("{texture}<material name='m' texture='t'/>"),
        &["<geom size='1' material='m'/>"],
    );
    let [warning] = model.warnings().try_into().unwrap();
    assert!(
        warning.contains("the palette must have 1 to 256 colours"),
        "{warning}"
    );
    assert_eq!(model.textures(), [None]);
}

/// Textures that cannot be drawn are reported with the reason.
#[test]
fn textures_that_are_left_out_are_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("bad.png"), "no image").unwrap();
    let bad = folder.path().join("bad.png").display().to_string();
    let geom = |material: &str| format!("<geom size='1' material='{material}'/>");
    let check = |texture: &str, words: &str| {
        let assets = format!("{texture}<material name='m' texture='t'/>");
        let model = load(&assets, &[&geom("m")]);
        let said: Vec<String> = model.diagnostics.iter().map(ToString::to_string).collect();
        assert!(
            said.iter().any(|s| s.contains(words)),
            "'{words}' is not in {said:#?}"
        );
        assert_eq!(model.textures(), [None]);
    };
    check("<texture name='t'/>", "neither 'builtin' nor 'file'");
    check(
        "<texture name='t' file='nothing.png'/>",
        "the texture is left out",
    );
    check(
        "<texture name='t' fileup='nothing.png'/>",
        "the texture is left out",
    );
    check(
        &format!("<texture name='t' file='{bad}' hflip='true'/>"),
        "the texture is left out: '",
    );
    // A budget of two such images: the third is left out.
    let one = |name: &str| {
        format!("<texture name='{name}' type='2d' builtin='flat' width='4096' height='4096'/>")
    };
    let three = ["a", "b", "t"].map(one).concat();
    check(&three, "builtin textures may have 33554432 pixels together");
    let refused = |texture: &str, words: &str| {
        let text = format!("<mujoco model='m'><asset>{texture}</asset></mujoco>");
        let model = load_with(|p| {
            p.set_mjcf_semantics(MjcfSemantics::MuJoCo);
            p.add_models_from_string(&text, "xml")
        });
        model.refuses(words);
    };
    refused(
        "<texture name='t' builtin='flat'/>",
        "a width and a height of at least 1",
    );
    refused(
        "<texture name='t' builtin='flat' width='1000000000'/>",
        "at most 16777216 pixels, got 1000000000.0 x 1000000000.0",
    );
    refused(
        "<texture name='t' builtin='stripes' width='4'/>",
        "must be one of 'none', 'gradient'",
    );
    refused(
        &format!("<texture name='t' file='{bad}' gridsize='4 4'/>"),
        "numbers of rows and columns with at most 12 images",
    );
    refused(
        &format!("<texture name='t' file='{bad}' gridsize='1 2' gridlayout='RX'/>"),
        "letters R, L, U, D, F and B and of dots, got 'X'",
    );
}
