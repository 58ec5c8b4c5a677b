//! The scenes of the CPU engine's gallery (`tests/gallery`), drawn by both engines. Scenes whose
//! only purpose are shadows are left out: the engine refuses shadows.

use crate::gallery_models::{Folder, checkers};
use crate::support::{DECLARED, Pair};
use nalgebra::{Isometry3, Vector3};
use tarragon_framework::math;
use tarragon_geometry::render::{
    CameraInfo, ClippingRange, EnvironmentMap, EquirectangularMap, LightFrame, LightParameter,
    LightType, RenderCameraCore, RenderEngineCpuParams, look_at,
};
use tarragon_geometry::{
    BoxShape, Capsule, Convex, Cylinder, Ellipsoid, HalfSpace, Mesh, Rgba, Sphere,
};

fn at(x: f64, y: f64, z: f64) -> Isometry3<f64> {
    Isometry3::translation(x, y, z)
}
fn turned(x: f64, y: f64, z: f64, about: [f64; 3]) -> Isometry3<f64> {
    let turn = math::rotation_exp(&Vector3::from(about));
    math::pose(turn, Vector3::new(x, y, z))
}
fn rgb(r: f64, g: f64, b: f64) -> Rgba {
    Rgba::new(r, g, b, 1.0).unwrap()
}
fn grey(x: f64) -> Rgba {
    rgb(x, x, x)
}
fn sun() -> LightParameter {
    LightParameter {
        frame: LightFrame::World,
        direction: Vector3::new(-0.5, 0.7, -1.0),
        ..LightParameter::default()
    }
}

/// Returns an empty scene with the camera of the gallery; `None` without an adapter.
fn scene(params: RenderEngineCpuParams) -> Option<Pair> {
    let mut pair = Pair::new(params, (160, 120))?;
    let info = CameraInfo::from_fov_y(160, 120, 0.7).unwrap();
    let clipping = ClippingRange::new(0.05, 50.0).unwrap();
    pair.core = RenderCameraCore::new("any", info, clipping, Isometry3::identity());
    pair.x_wc = look_at(&Vector3::new(0.6, -3.0, 1.7), &Vector3::new(0.1, 0.0, 0.3));
    Some(pair)
}

/// Six bodies on a floor.
fn bodies(s: &mut Pair) {
    s.add(HalfSpace, at(0.0, 0.0, 0.0), grey(0.7));
    let red = rgb(0.9, 0.2, 0.2);
    s.add(Sphere::new(0.3).unwrap(), at(-0.9, 0.2, 0.3), red);
    s.add(
        BoxShape::new(0.4, 0.5, 0.6).unwrap(),
        turned(-0.2, 0.5, 0.3, [0.0, 0.0, 0.6]),
        rgb(0.2, 0.6, 0.9),
    );
    s.add(
        Cylinder::new(0.25, 0.7).unwrap(),
        turned(0.5, 0.4, 0.25, [1.4, 0.5, 0.3]),
        rgb(0.3, 0.8, 0.3),
    );
    s.add(
        Capsule::new(0.15, 0.5).unwrap(),
        turned(0.3, -0.5, 0.35, [0.6, 0.2, 0.0]),
        rgb(0.9, 0.6, 0.1),
    );
    s.add(
        Ellipsoid::new(0.4, 0.2, 0.15).unwrap(),
        turned(-0.5, -0.6, 0.2, [0.3, 0.3, 0.5]),
        rgb(0.6, 0.3, 0.8),
    );
    s.add(Sphere::new(0.2).unwrap(), at(1.1, 0.0, 0.2), Rgba::WHITE);
}

#[test]
fn gallery_of_shapes_and_meshes() {
    let files = Folder::new();
    let plain = RenderEngineCpuParams::default;
    let Some(mut s) = scene(plain()) else {
        return;
    };
    bodies(&mut s);
    s.compare("gallery: primitives", &DECLARED);

    let mut s = scene(plain()).unwrap();
    let cube = files.textured_cube();
    let pose = turned(-0.4, 0.0, 0.45, [0.0, 0.0, 0.5]);
    s.add(Mesh::new(&cube), pose, Rgba::WHITE);
    let pose = turned(0.8, 0.3, 0.5, [0.5, 0.6, 0.0]);
    s.add(Convex::new(&cube), pose, rgb(0.3, 0.8, 0.3));
    s.add(HalfSpace, at(0.0, 0.0, 0.0), grey(0.7));
    s.compare("gallery: textured_obj", &DECLARED);

    let mut s = scene(RenderEngineCpuParams {
        lights: vec![sun()],
        ..plain()
    })
    .unwrap();
    s.x_wc = look_at(&Vector3::new(0.6, -3.0, 1.8), &Vector3::new(0.0, 0.0, 0.8));
    let tower = Mesh::new(files.gltf_tower());
    s.add(tower, at(0.0, 0.0, 0.0), Rgba::WHITE);
    s.add(HalfSpace, at(0.0, 0.0, 0.0), grey(0.5));
    s.compare("gallery: gltf_with_nodes", &DECLARED);

    let mut s = scene(plain()).unwrap();
    let pipe = files.half_pipe();
    s.add(HalfSpace, at(0.0, 0.0, 0.0), grey(0.7));
    let pose = turned(-0.6, 0.2, 0.1, [0.0, 0.0, 0.4]);
    s.add(Mesh::new(&pipe), pose, rgb(0.9, 0.5, 0.2));
    let pose = turned(0.7, 0.2, 0.9, [3.1, 0.0, 0.2]);
    s.add(Mesh::new(&pipe), pose, rgb(0.2, 0.6, 0.8));
    s.compare("gallery: back_faces", &DECLARED);
}

#[test]
fn gallery_of_cameras_near_bodies() {
    let files = Folder::new();
    let Some(mut s) = scene(RenderEngineCpuParams::default()) else {
        return;
    };
    s.set_near(0.8);
    s.x_wc = look_at(&Vector3::new(0.0, -1.6, 0.5), &Vector3::new(0.0, 0.0, 0.4));
    s.add(HalfSpace, at(0.0, 0.0, 0.0), grey(0.7));
    let red = rgb(0.9, 0.2, 0.2);
    s.add(Sphere::new(0.4).unwrap(), at(-0.7, -0.8, 0.4), red);
    s.add(
        BoxShape::new(0.4, 0.6, 0.4).unwrap(),
        turned(0.0, -0.8, 0.25, [0.0, 0.0, 0.4]),
        rgb(0.2, 0.6, 0.9),
    );
    let pose = turned(0.9, -0.6, 0.5, [0.0, 0.3, 0.5]);
    s.add(Mesh::new(files.textured_cube()), pose, Rgba::WHITE);
    s.compare("gallery: across_the_near_plane", &DECLARED);

    let lamp = LightParameter {
        light_type: LightType::Point,
        frame: LightFrame::World,
        position: Vector3::new(0.5, 0.0, 1.5),
        attenuation_values: Vector3::new(0.4, 0.0, 0.08),
        ..LightParameter::default()
    };
    let mut s = scene(RenderEngineCpuParams {
        lights: vec![lamp],
        ..RenderEngineCpuParams::default()
    })
    .unwrap();
    let walls = BoxShape::new(8.0, 8.0, 4.0).unwrap();
    s.add(walls, at(0.0, 0.0, 1.0), rgb(0.8, 0.8, 0.6));
    let pose = turned(0.0, 0.0, 0.3, [0.9, 0.0, 0.3]);
    s.add(Capsule::new(0.3, 0.6).unwrap(), pose, rgb(0.9, 0.3, 0.2));
    s.compare("gallery: inside_a_box", &DECLARED);
}

#[test]
fn gallery_of_lights_and_environments() {
    let files = Folder::new();
    let light = |k: usize| {
        let angle = std::f64::consts::TAU * k as f64 / 6.0;
        let hue = |shift: f64| 0.5 + 0.5 * (angle + shift).cos();
        LightParameter {
            light_type: [LightType::Point, LightType::Spot][k % 2],
            frame: LightFrame::World,
            color: rgb(hue(0.0), hue(2.1), hue(4.2)),
            position: Vector3::new(1.4 * angle.cos(), 1.4 * angle.sin(), 1.0),
            direction: Vector3::new(-angle.cos(), -angle.sin(), -1.0),
            cone_angle: 30.0,
            attenuation_values: Vector3::new(0.3, 0.0, 0.4),
            ..LightParameter::default()
        }
    };
    let Some(mut s) = scene(RenderEngineCpuParams {
        lights: (0..6).map(light).chain([sun()]).collect(),
        samples_per_side: 2,
        ..RenderEngineCpuParams::default()
    }) else {
        return;
    };
    bodies(&mut s);
    s.add(checkers(), at(0.0, 0.0, 0.001), Rgba::WHITE);
    s.compare("gallery: many_lights", &DECLARED);

    let environment_map = Some(EnvironmentMap {
        skybox: true,
        texture: EquirectangularMap { path: files.sky() }.into(),
        ..EnvironmentMap::default()
    });
    let mut s = scene(RenderEngineCpuParams {
        environment_map: environment_map.clone(),
        ..RenderEngineCpuParams::default()
    })
    .unwrap();
    s.x_wc = look_at(&Vector3::new(0.0, -3.0, 0.6), &Vector3::new(0.0, 0.0, 0.45));
    for (name, metallic, roughness, x) in [
        ("mirror", 1.0, 0.05, -0.75),
        ("brushed", 1.0, 0.5, 0.1),
        ("plastic", 0.0, 0.3, 0.95),
    ] {
        let ball = Mesh::new(files.ball(name, metallic, roughness));
        s.add(ball, at(x, 0.0, 0.4), Rgba::WHITE);
    }
    let board = BoxShape::new(3.0, 1.2, 0.1).unwrap();
    s.add(board, at(0.0, 0.0, -0.05), rgb(0.6, 0.5, 0.4));
    s.compare("gallery: environment_map", &DECLARED);

    let mut s = scene(RenderEngineCpuParams {
        environment_map: environment_map.clone(),
        lights: vec![sun()],
        samples_per_side: 2,
        ..RenderEngineCpuParams::default()
    })
    .unwrap();
    s.x_wc = look_at(&Vector3::new(0.0, -3.0, 0.6), &Vector3::new(0.0, 0.0, 0.3));
    for (ball, pose) in files.balls_with_maps() {
        s.add(ball, pose, Rgba::WHITE);
    }
    s.add(checkers(), at(0.0, 0.0, 0.0), Rgba::WHITE);
    s.compare("gallery: gltf_with_maps", &DECLARED);

    let mut s = scene(RenderEngineCpuParams {
        environment_map,
        lights: vec![LightParameter {
            intensity: 3.0,
            ..sun()
        }],
        exposure: Some(0.8),
        ..RenderEngineCpuParams::default()
    })
    .unwrap();
    bodies(&mut s);
    s.compare("gallery: exposure (without shadows)", &DECLARED);
}
