//! The models that are compared, and the pictures of the documentation.

use super::{HEIGHT, Model, Peer, Picture, WIDTH};
use nalgebra::Vector3;
use std::path::Path;
use tarragon::sensors::{ImageRgba8U, save_image};

/// All primitives with flat and cube textures, generated as by MuJoCo.
const TEXTURES: &str = r#"<mujoco model="textures"><asset>
  <texture name="tiles" type="2d" builtin="checker" mark="edge" rgb1=".1 .2 .3" rgb2=".4 .5 .6"
    markrgb=".8 .8 .8" width="300" height="300"/>
  <material name="tiles" texture="tiles" texrepeat="2 3" texuniform="true"/>
  <texture name="cross" type="cube" builtin="flat" mark="cross" rgb1=".8 .6 .4" rgb2=".8 .1 .4"
    markrgb="1 1 1" width="127" height="1278"/>
  <material name="cross" texture="cross"/>
  <texture name="sky" type="cube" builtin="gradient" rgb1="1 0 0" rgb2="0 0 1" width="64"/>
  <material name="sky" texture="sky" rgba="1 1 .5 1"/>
  <texture name="dice" type="cube" builtin="checker" mark="edge" markrgb="0 1 0" width="64"/>
  <material name="dice" texture="dice"/>
  <texture name="sun" type="2d" builtin="gradient" mark="cross" rgb1="1 1 0" rgb2="0 .3 1"
    width="65" height="40"/>
  <material name="sun" texture="sun"/>
  <material name="suns" texture="sun" texrepeat="9 5" texuniform="true"/>
</asset><worldbody>
  <geom type="plane" size="2 2.5 .1" material="tiles"/>
  <geom type="sphere" size=".3" pos="0 -1.2 .3" material="cross"/>
  <geom type="capsule" size=".15 .3" pos="0 -.4 .45" material="cross"/>
  <geom type="box" size=".2 .3 .25" pos="0 .4 .25" euler="0 0 20" material="dice"/>
  <geom type="ellipsoid" size=".2 .3 .4" pos="0 1.2 .4" material="sky"/>
  <geom type="cylinder" size=".25 .2" pos=".8 -.6 .2" material="sun"/>
  <geom type="box" size=".2 .3 .05" pos=".8 .3 .05" material="suns"/>
  <geom type="capsule" size=".15 .3" pos=".8 1.1 .2" euler="60 0 30" material="sun"/>
</worldbody></mujoco>"#;

/// Part of the pixels whose colours agree: at edges, and where a line of a texture is narrower than
/// a pixel, they do not.
const COLOR: f64 = 0.97;
/// The same for a floor whose tiles are narrower than a pixel far away: our engine keeps them
/// apart, MuJoCo blurs them.
const FAR_TILES: f64 = 0.8;
/// Part of the pixels whose depths agree: all but those at edges.
const DEPTH: f64 = 0.998;

/// Models of Python packages, with the directions in which the camera looks.
const MODELS: [(&str, [f64; 3]); 10] = [
    ("dm_control/suite/cheetah.xml", [0.3, 1.0, -0.3]),
    ("dm_control/suite/dog.xml", [1.0, 1.0, -0.4]),
    ("dm_control/suite/humanoid.xml", [-1.0, 0.6, -0.4]),
    ("dm_control/suite/quadruped.xml", [-1.0, 0.6, -0.5]),
    (
        "dm_control/locomotion/walkers/assets/rodent.xml",
        [-0.5, 1.0, -0.3],
    ),
    ("gymnasium/envs/mujoco/assets/ant.xml", [-1.0, 0.6, -0.6]),
    (
        "gymnasium_robotics/envs/assets/fetch/push.xml",
        [-1.0, 0.6, -0.5],
    ),
    (
        "gymnasium_robotics/envs/assets/adroit_hand/adroit_door.xml",
        [-1.0, 0.6, -0.5],
    ),
    (
        "robosuite/models/assets/robots/panda/robot.xml",
        [-1.0, 0.6, -0.3],
    ),
    (
        "robosuite/models/assets/robots/baxter/robot.xml",
        [-1.0, 0.3, -0.3],
    ),
];

/// Part of the pixels at which two pictures agree.
#[derive(Debug)]
struct Agreement {
    /// Depths within 1 %, or both beyond 90 m.
    depth: f64,
    /// All channels within 16 steps.
    color: f64,
}

impl Agreement {
    fn of(a: &Picture, b: &Picture) -> Self {
        let pixels = (WIDTH * HEIGHT) as f64;
        let far = |d: f32| if d > 90.0 { 90.0 } else { d };
        let depths = a.depth.iter().zip(&b.depth);
        let is_near = |(a, b): &(&f32, &f32)| (far(**a) - far(**b)).abs() <= 0.01 * far(**b);
        let colors = a.rgb.iter().zip(&b.rgb);
        let is_same = |(a, b): &(&[u8; 3], &[u8; 3])| (0..3).all(|k| a[k].abs_diff(b[k]) <= 16);
        Self {
            depth: depths.filter(is_near).count() as f64 / pixels,
            color: colors.filter(is_same).count() as f64 / pixels,
        }
    }
}

/// Writes two pictures side by side.
fn write(file: &Path, ours: &Picture, theirs: &Picture) {
    let mut image = ImageRgba8U::new(2 * WIDTH, HEIGHT);
    for row in 0..HEIGHT {
        for (picture, start) in [(ours, 0), (theirs, WIDTH)] {
            for column in 0..WIDTH {
                let [r, g, b] = picture.rgb[row * WIDTH + column];
                image
                    .at_mut(start + column, row)
                    .copy_from_slice(&[r, g, b, 255]);
            }
        }
    }
    save_image(&image, file).unwrap();
}

#[test]
fn models_look_as_in_mujoco() {
    let Some(mut peer) = Peer::start() else {
        return;
    };
    let own = peer.folder.path().join("textures.xml");
    std::fs::write(&own, TEXTURES).unwrap();
    let mut files = vec![(own, "textures".to_owned(), [-1.0, 0.15, -0.5])];
    for (file, direction) in MODELS {
        let path = peer.packages.join(file);
        let package = file.split('/').next().unwrap();
        let stem = path.with_extension("");
        let name = match stem.file_name().unwrap().to_str().unwrap() {
            "robot" => stem
                .parent()
                .unwrap()
                .file_name()
                .unwrap()
                .to_str()
                .unwrap(),
            name => name,
        };
        files.push((path.clone(), format!("{package}_{name}"), direction));
    }
    let pictures = std::env::var_os("TARRAGON_MODEL_PICTURES");
    let mut failed = vec![];
    for (path, name, direction) in &files {
        let model = Model::read(path).unwrap();
        let view = model.view_along(Vector3::from(*direction));
        let theirs = peer.draw(path, view);
        let theirs = theirs.unwrap_or_else(|why| panic!("{name}: {why}"));
        let ours = model.draw(view);
        if let Some(folder) = &pictures {
            write(
                &Path::new(folder).join(format!("{name}.png")),
                &ours,
                &theirs,
            );
        }
        let agreement = Agreement::of(&ours, &theirs);
        let color = if name == "gymnasium_ant" {
            FAR_TILES
        } else {
            COLOR
        };
        println!("{name}: {agreement:?}");
        if agreement.depth < DEPTH || agreement.color < color {
            failed.push(format!("{name}: {agreement:?}"));
        }
    }
    println!(
        "mujoco pictures: {} cases, {} failed",
        files.len(),
        failed.len()
    );
    assert_eq!(failed, [""; 0]);
}
