//! Skyboxes in random directions: builtin ones, six files, and a grid with flips.

use super::{HEIGHT, Model, Peer, Picture, View, WIDTH, camera_info};
use nalgebra::Vector3;
use std::path::Path;
use tarragon::framework::random::RandomGenerator;
use tarragon::geometry::render::look_at;
use tarragon::sensors::{ImageRgba8U, save_image};

/// Largest difference of colours of pixels that agree (of 255): OpenGL blends with weights of
/// 8 bits.
const STEPS: u8 = 3;
/// Part of the pixels that agree, of those that see the inside of a face.
const AGREEING: f64 = 0.999;
/// Part of the pixels that agree, of all: MuJoCo blends a pixel at the edge of a face with one of
/// the next face (`GL_TEXTURE_CUBE_MAP_SEAMLESS`), and we extend it. The faces of `flat` have 8
/// pixels, and the edges of two faces in the middle of an image are a fifth of it.
const AGREEING_AT_EDGES: f64 = 0.75;
/// Number of views of each sky.
const VIEWS: usize = 16;

/// Number of pixels along the edge of a face of a file.
const SIDE: u32 = 32;

/// Writes an image whose four quarters and edges differ, so that no turn or reflection of it looks
/// the same.
fn write(path: &Path, [columns, rows]: [u32; 2], seed: u32) {
    let pixel = |x: u32, y: u32| {
        let part = seed + x / SIDE + columns * (y / SIDE);
        let (x, y) = (x % SIDE, y % SIDE);
        [6 * x, 6 * y, 40 * part].map(|c| c as u8)
    };
    let (width, height) = (columns * SIDE, rows * SIDE);
    let mut image = ImageRgba8U::new(width as usize, height as usize);
    for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
        let [r, g, b] = pixel(x, y);
        let at = image.at_mut(x as usize, y as usize);
        at.copy_from_slice(&[r, g, b, 255]);
    }
    save_image(&image, path).unwrap();
}

/// Attributes of the skyboxes, with the number of pixels along the edge of a face; files are in the
/// folder of the model.
const SKIES: [(&str, u32, &str); 8] = [
    (
        "gradient",
        128,
        "builtin='gradient' rgb1='.9 .4 .1' rgb2='.1 .2 .8' width='128'",
    ),
    (
        "checker",
        16,
        "builtin='checker' rgb1='.9 .4 .1' rgb2='.1 .2 .8' width='16' mark='edge' \
         markrgb='0 1 0'",
    ),
    (
        "flat",
        8,
        "builtin='flat' rgb1='.9 .4 .1' rgb2='.1 .2 .8' width='8'",
    ),
    ("one file", SIDE, "file='one.png'"),
    (
        "six files",
        SIDE,
        "fileright='0.png' fileleft='1.png' fileup='2.png' filedown='3.png' filefront='4.png' \
         fileback='5.png'",
    ),
    (
        "six files, flipped",
        SIDE,
        "fileright='0.png' fileleft='1.png' fileup='2.png' filedown='3.png' filefront='4.png' \
         fileback='5.png' hflip='true'",
    ),
    (
        "grid",
        SIDE,
        "file='grid.png' gridsize='3 4' gridlayout='.U..LFRB.D..'",
    ),
    (
        "grid, flipped",
        SIDE,
        "file='grid.png' gridsize='3 4' gridlayout='.U..LFRB.D..' hflip='true' vflip='true'",
    ),
];

/// Returns for each pixel whether it sees the inside of a face, at least a pixel of the face from
/// its edge.
fn inside(view: View, side: u32) -> Vec<bool> {
    let (x_wc, info) = (look_at(&view.eye, &view.target), camera_info());
    let pixel = |i: usize| {
        let (u, v) = ((i % WIDTH) as f64 + 0.5, (i / WIDTH) as f64 + 0.5);
        let ray = Vector3::new(
            (u - info.center_x()) / info.focal_x(),
            (v - info.center_y()) / info.focal_y(),
            1.0,
        );
        let mut sizes = <[f64; 3]>::from((x_wc.rotation * ray).abs());
        sizes.sort_by(f64::total_cmp);
        sizes[1] / sizes[2] < 1.0 - 2.0 / f64::from(side)
    };
    (0..WIDTH * HEIGHT).map(pixel).collect()
}

/// Parts of the pixels whose colours agree: inside of the faces, and everywhere.
fn agreement(a: &Picture, b: &Picture, inside: &[bool]) -> [f64; 2] {
    let [mut agreeing, mut all] = [[0.0, 0.0]; 2];
    for ((a, b), inside) in a.rgb.iter().zip(&b.rgb).zip(inside) {
        let same = (0..3).all(|k| a[k].abs_diff(b[k]) <= STEPS);
        for (k, counts) in [*inside, true].into_iter().enumerate() {
            all[k] += f64::from(u8::from(counts));
            agreeing[k] += f64::from(u8::from(counts && same));
        }
    }
    [0, 1].map(|k| agreeing[k] / f64::max(all[k], 1.0))
}

#[test]
fn skies_look_as_in_mujoco() {
    let Some(mut peer) = Peer::start() else {
        return;
    };
    let folder = peer.folder.path().to_owned();
    write(&folder.join("one.png"), [1, 1], 1);
    write(&folder.join("grid.png"), [4, 3], 0);
    for face in 0..6 {
        write(&folder.join(format!("{face}.png")), [1, 1], face);
    }
    let mut random = RandomGenerator::new(5);
    let mut failed = vec![];
    for (name, side, attributes) in SKIES {
        let file = folder.join("sky.xml");
        let text = format!(
            "<mujoco model='sky'><asset><texture type='skybox' {attributes}/></asset>
             <worldbody><geom size='.1' pos='0 0 -50'/></worldbody></mujoco>"
        );
        std::fs::write(&file, text).unwrap();
        let model = Model::read_with(&file, true).unwrap();
        let mut worst = [1.0_f64; 2];
        for _ in 0..VIEWS {
            let mut vector = || Vector3::from_fn(|_, _| random.uniform(-1.0, 1.0));
            let (eye, direction) = (vector(), vector());
            // The camera's up is the world's, so it must not look along it.
            let direction = direction.normalize() + Vector3::new(1e-3, 2e-3, 0.0);
            let view = View {
                eye,
                target: eye + direction,
            };
            let theirs = peer.ask(&file, view, true);
            let theirs = theirs.unwrap_or_else(|why| panic!("{name}: {why}"));
            let found = agreement(&model.draw(view), &theirs, &inside(view, side));
            worst = [0, 1].map(|k| worst[k].min(found[k]));
        }
        println!("sky {name}: {worst:?} of the pixels agree inside of faces and everywhere");
        if worst[0] < AGREEING || worst[1] < AGREEING_AT_EDGES {
            failed.push(format!("{name}: {worst:?}"));
        }
    }
    println!(
        "mujoco skies: {} cases, {} failed",
        SKIES.len(),
        failed.len()
    );
    assert_eq!(failed, [""; 0]);
}
