//! Images that cover the features of the CPU engine, compared with those in `tests/images`.
//!
//! `TARRAGON_UPDATE_GALLERY=1 cargo test --test integration gallery` rewrites them: look at each
//! one before committing it. If an image differs, the drawn image and ten times the difference are
//! written to `target/gallery/NAME-actual.png` and `NAME-difference.png`.

mod models;
mod scene;

use self::models::{Folder, checkers};
use self::scene::Scene;
use nalgebra::{Isometry3, Vector3};
use std::path::{Path, PathBuf};
use tarragon::framework::math;
use tarragon::geometry::render::{
    EnvironmentMap, EquirectangularMap, LightFrame, LightParameter, LightType,
    RenderEngineCpuParams,
};
use tarragon::geometry::{
    BoxShape, Capsule, Convex, Cylinder, Ellipsoid, HalfSpace, Mesh, Rgba, Sphere,
};
use tarragon::sensors::{ImageRgba8U, load_image, save_image};

/// Largest mean difference of channels. Images on one machine are identical to the bit. On other
/// machines, sines, powers and fused operations round differently, which changes a channel by one
/// step in a few pixels.
const MEAN: f64 = 0.1;
/// Largest part of the pixels that may differ by more than two steps: at edges, rounding decides
/// which of two surfaces is visible.
const EDGES: f64 = 0.002;

fn at(x: f64, y: f64, z: f64) -> Isometry3<f64> {
    Isometry3::translation(x, y, z)
}
fn turned(x: f64, y: f64, z: f64, about: [f64; 3]) -> Isometry3<f64> {
    math::pose(
        math::rotation_exp(&Vector3::from(about)),
        Vector3::new(x, y, z),
    )
}
fn rgba(r: f64, g: f64, b: f64, a: f64) -> Rgba {
    Rgba::new(r, g, b, a).unwrap()
}
fn grey(x: f64) -> Rgba {
    rgba(x, x, x, 1.0)
}
fn sun() -> LightParameter {
    LightParameter {
        frame: LightFrame::World,
        direction: Vector3::new(-0.5, 0.7, -1.0),
        ..LightParameter::default()
    }
}
/// A weak lamp at the camera, so that shadows are not black.
fn fill() -> LightParameter {
    LightParameter {
        intensity: 0.35,
        ..LightParameter::default()
    }
}

/// Six bodies on a floor.
fn bodies(s: &mut Scene) {
    s.add(HalfSpace, at(0.0, 0.0, 0.0), grey(0.7));
    s.add(
        Sphere::new(0.3).unwrap(),
        at(-0.9, 0.2, 0.3),
        rgba(0.9, 0.2, 0.2, 1.0),
    );
    s.add(
        BoxShape::new(0.4, 0.5, 0.6).unwrap(),
        turned(-0.2, 0.5, 0.3, [0.0, 0.0, 0.6]),
        rgba(0.2, 0.6, 0.9, 1.0),
    );
    s.add(
        Cylinder::new(0.25, 0.7).unwrap(),
        turned(0.5, 0.4, 0.25, [1.4, 0.5, 0.3]),
        rgba(0.3, 0.8, 0.3, 1.0),
    );
    s.add(
        Capsule::new(0.15, 0.5).unwrap(),
        turned(0.3, -0.5, 0.35, [0.6, 0.2, 0.0]),
        rgba(0.9, 0.6, 0.1, 1.0),
    );
    s.add(
        Ellipsoid::new(0.4, 0.2, 0.15).unwrap(),
        turned(-0.5, -0.6, 0.2, [0.3, 0.3, 0.5]),
        rgba(0.6, 0.3, 0.8, 1.0),
    );
    s.add(Sphere::new(0.2).unwrap(), at(1.1, 0.0, 0.2), Rgba::WHITE);
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/images")
}

/// Compares a scene with the image of that name, or writes it.
fn check(name: &str, scene: &Scene) {
    let drawn = scene.draw();
    let reference = folder().join(format!("{name}.png"));
    if std::env::var_os("TARRAGON_UPDATE_GALLERY").is_some_and(|v| v == "1") {
        save_image(&drawn, &reference).unwrap();
    }
    let expected: ImageRgba8U = load_image(&reference)
        .unwrap_or_else(|e| panic!("{e}; TARRAGON_UPDATE_GALLERY=1 writes it, then look at it"));
    assert_eq!(
        (drawn.width(), drawn.height()),
        (expected.width(), expected.height())
    );
    let pairs = drawn.data().iter().zip(expected.data());
    let off: Vec<u8> = pairs.map(|(a, b)| a.abs_diff(*b)).collect();
    let mean = off.iter().map(|d| f64::from(*d)).sum::<f64>() / off.len() as f64;
    let pixels = off.chunks(4);
    let edges = pixels.filter(|p| p.iter().any(|d| *d > 2)).count() as f64;
    let edges = edges / (off.len() / 4) as f64;
    if mean > MEAN || edges > EDGES {
        let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../gallery");
        std::fs::create_dir_all(&out).unwrap();
        let bright = |(i, d): (usize, &u8)| {
            if i % 4 == 3 {
                255
            } else {
                d.saturating_mul(10)
            }
        };
        let data = off.iter().enumerate().map(bright).collect();
        let difference = ImageRgba8U::from_data(drawn.width(), drawn.height(), data).unwrap();
        save_image(&drawn, out.join(format!("{name}-actual.png"))).unwrap();
        save_image(&difference, out.join(format!("{name}-difference.png"))).unwrap();
        panic!(
            "{name}: channels are off by {mean:.3} on average ({MEAN} is allowed), {:.2} % of the pixels by \
             more than 2 ({:.2} % are); see {name}-actual.png and {name}-difference.png in {}",
            100.0 * edges,
            100.0 * EDGES,
            out.display()
        );
    }
}

#[test]
fn primitives() {
    let mut s = Scene::new(RenderEngineCpuParams::default());
    bodies(&mut s);
    check("primitives", &s);
}

#[test]
fn textured_obj() {
    let files = Folder::new();
    let mut s = Scene::new(RenderEngineCpuParams::default());
    let crate_box = files.textured_cube();
    s.add(
        Mesh::new(&crate_box),
        turned(-0.4, 0.0, 0.45, [0.0, 0.0, 0.5]),
        Rgba::WHITE,
    );
    s.add(
        Convex::new(&crate_box),
        turned(0.8, 0.3, 0.5, [0.5, 0.6, 0.0]),
        rgba(0.3, 0.8, 0.3, 1.0),
    );
    s.add(HalfSpace, at(0.0, 0.0, 0.0), grey(0.7));
    check("textured_obj", &s);
}

#[test]
fn gltf_with_nodes() {
    let files = Folder::new();
    let mut s = Scene::new(RenderEngineCpuParams {
        lights: vec![sun(), fill()],
        ..RenderEngineCpuParams::default()
    });
    s.look_from(Vector3::new(0.6, -3.0, 1.8), Vector3::new(0.0, 0.0, 0.8));
    s.add(
        Mesh::new(files.gltf_tower()),
        at(0.0, 0.0, 0.0),
        Rgba::WHITE,
    );
    s.add(HalfSpace, at(0.0, 0.0, 0.0), grey(0.5));
    check("gltf_with_nodes", &s);
}

#[test]
fn transparency() {
    let files = Folder::new();
    let mut s = Scene::new(RenderEngineCpuParams::default());
    s.add(HalfSpace, at(0.0, 0.0, 0.0), grey(0.7));
    s.add(
        BoxShape::new(0.8, 0.1, 1.0).unwrap(),
        turned(-0.3, -0.5, 0.5, [0.0, 0.0, 0.3]),
        rgba(0.1, 0.3, 0.9, 0.4),
    );
    s.add(
        Sphere::new(0.35).unwrap(),
        at(-0.3, 0.3, 0.35),
        rgba(0.9, 0.2, 0.1, 1.0),
    );
    s.add(
        Sphere::new(0.35).unwrap(),
        at(0.6, 0.1, 0.35),
        rgba(0.1, 0.8, 0.2, 0.5),
    );
    s.add(
        Cylinder::new(0.1, 0.5).unwrap(),
        at(0.6, 0.1, 0.35),
        rgba(0.9, 0.8, 0.1, 0.6),
    );
    s.add(Mesh::new(files.fence()), at(0.9, -0.7, 0.0), Rgba::WHITE);
    check("transparency", &s);
}

#[test]
fn shadows_of_a_spot_light() {
    let spot = LightParameter {
        light_type: LightType::Spot,
        frame: LightFrame::World,
        position: Vector3::new(1.5, -1.5, 3.0),
        direction: Vector3::new(-0.5, 0.5, -1.0),
        cone_angle: 22.0,
        ..LightParameter::default()
    };
    let mut s = Scene::new(RenderEngineCpuParams {
        lights: vec![spot, fill()],
        cast_shadows: true,
        ..RenderEngineCpuParams::default()
    });
    bodies(&mut s);
    check("shadows_of_a_spot_light", &s);
}

#[test]
fn shadows_of_the_sun() {
    let files = Folder::new();
    let mut s = Scene::new(RenderEngineCpuParams {
        lights: vec![sun(), fill()],
        cast_shadows: true,
        ..RenderEngineCpuParams::default()
    });
    bodies(&mut s);
    s.add(
        Mesh::new(files.gltf_tower()),
        turned(1.2, 0.8, 0.0, [0.0, 0.0, 0.4]),
        Rgba::WHITE,
    );
    check("shadows_of_the_sun", &s);
}

fn environment(sky: PathBuf) -> Option<EnvironmentMap> {
    Some(EnvironmentMap {
        skybox: true,
        texture: EquirectangularMap { path: sky }.into(),
        ..EnvironmentMap::default()
    })
}

#[test]
fn environment_map() {
    let files = Folder::new();
    let mut s = Scene::new(RenderEngineCpuParams {
        environment_map: environment(files.sky()),
        ..RenderEngineCpuParams::default()
    });
    s.look_from(Vector3::new(0.0, -3.0, 0.6), Vector3::new(0.0, 0.0, 0.45));
    s.add(
        Mesh::new(files.ball("mirror", 1.0, 0.05)),
        at(-0.75, 0.0, 0.4),
        Rgba::WHITE,
    );
    s.add(
        Mesh::new(files.ball("brushed", 1.0, 0.5)),
        at(0.1, 0.0, 0.4),
        Rgba::WHITE,
    );
    s.add(
        Mesh::new(files.ball("plastic", 0.0, 0.3)),
        at(0.95, 0.0, 0.4),
        Rgba::WHITE,
    );
    s.add(
        BoxShape::new(3.0, 1.2, 0.1).unwrap(),
        at(0.0, 0.0, -0.05),
        rgba(0.6, 0.5, 0.4, 1.0),
    );
    check("environment_map", &s);
}

#[test]
fn gltf_with_maps() {
    let files = Folder::new();
    let mut s = Scene::new(RenderEngineCpuParams {
        lights: vec![sun()],
        environment_map: environment(files.sky()),
        samples_per_side: 2,
        ..RenderEngineCpuParams::default()
    });
    s.look_from(Vector3::new(0.0, -3.0, 0.6), Vector3::new(0.0, 0.0, 0.3));
    for (ball, pose) in files.balls_with_maps() {
        s.add(ball, pose, Rgba::WHITE);
    }
    s.add(checkers(), at(0.0, 0.0, 0.0), Rgba::WHITE);
    check("gltf_with_maps", &s);
}

#[test]
fn exposure() {
    let files = Folder::new();
    let mut s = Scene::new(RenderEngineCpuParams {
        environment_map: environment(files.sky()),
        lights: vec![LightParameter {
            intensity: 3.0,
            ..sun()
        }],
        cast_shadows: true,
        exposure: Some(0.8),
        ..RenderEngineCpuParams::default()
    });
    bodies(&mut s);
    check("exposure", &s);
}

#[test]
fn across_the_near_plane() {
    let files = Folder::new();
    let mut s = Scene::new(RenderEngineCpuParams::default());
    s.near = 0.8;
    s.look_from(Vector3::new(0.0, -1.6, 0.5), Vector3::new(0.0, 0.0, 0.4));
    s.add(HalfSpace, at(0.0, 0.0, 0.0), grey(0.7));
    s.add(
        Sphere::new(0.4).unwrap(),
        at(-0.7, -0.8, 0.4),
        rgba(0.9, 0.2, 0.2, 1.0),
    );
    s.add(
        BoxShape::new(0.4, 0.6, 0.4).unwrap(),
        turned(0.0, -0.8, 0.25, [0.0, 0.0, 0.4]),
        rgba(0.2, 0.6, 0.9, 1.0),
    );
    s.add(
        Mesh::new(files.textured_cube()),
        turned(0.9, -0.6, 0.5, [0.0, 0.3, 0.5]),
        Rgba::WHITE,
    );
    check("across_the_near_plane", &s);
}

#[test]
fn inside_a_box() {
    let mut s = Scene::new(RenderEngineCpuParams {
        lights: vec![LightParameter {
            light_type: LightType::Point,
            frame: LightFrame::World,
            position: Vector3::new(0.5, 0.0, 1.5),
            attenuation_values: Vector3::new(0.4, 0.0, 0.08),
            ..LightParameter::default()
        }],
        ..RenderEngineCpuParams::default()
    });
    s.add(
        BoxShape::new(8.0, 8.0, 4.0).unwrap(),
        at(0.0, 0.0, 1.0),
        rgba(0.8, 0.8, 0.6, 1.0),
    );
    s.add(
        Capsule::new(0.3, 0.6).unwrap(),
        turned(0.0, 0.0, 0.3, [0.9, 0.0, 0.3]),
        rgba(0.9, 0.3, 0.2, 1.0),
    );
    check("inside_a_box", &s);
}

#[test]
fn back_faces() {
    let files = Folder::new();
    let mut s = Scene::new(RenderEngineCpuParams::default());
    s.add(HalfSpace, at(0.0, 0.0, 0.0), grey(0.7));
    s.add(
        Mesh::new(files.half_pipe()),
        turned(-0.6, 0.2, 0.1, [0.0, 0.0, 0.4]),
        rgba(0.9, 0.5, 0.2, 1.0),
    );
    s.add(
        Mesh::new(files.half_pipe()),
        turned(0.7, 0.2, 0.9, [3.1, 0.0, 0.2]),
        rgba(0.2, 0.6, 0.8, 1.0),
    );
    check("back_faces", &s);
}

#[test]
fn many_lights() {
    let light = |k: usize| {
        let angle = std::f64::consts::TAU * k as f64 / 6.0;
        let hue = |shift: f64| 0.5 + 0.5 * (angle + shift).cos();
        LightParameter {
            light_type: if k.is_multiple_of(2) {
                LightType::Point
            } else {
                LightType::Spot
            },
            frame: LightFrame::World,
            color: rgba(hue(0.0), hue(2.1), hue(4.2), 1.0),
            position: Vector3::new(1.4 * angle.cos(), 1.4 * angle.sin(), 1.0),
            direction: Vector3::new(-angle.cos(), -angle.sin(), -1.0),
            cone_angle: 30.0,
            attenuation_values: Vector3::new(0.3, 0.0, 0.4),
            ..LightParameter::default()
        }
    };
    let mut s = Scene::new(RenderEngineCpuParams {
        lights: (0..6)
            .map(light)
            .chain([LightParameter {
                intensity: 0.15,
                ..fill()
            }])
            .collect(),
        samples_per_side: 2,
        ..RenderEngineCpuParams::default()
    });
    bodies(&mut s);
    s.add(checkers(), at(0.0, 0.0, 0.001), Rgba::WHITE);
    check("many_lights", &s);
}
