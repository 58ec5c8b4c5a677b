//! Meshes: shapes, materials, textures, environments.

use crate::models::Folder;
use crate::shapes::lights;
use crate::support::{DECLARED, Pair, Random};
use nalgebra::Vector3;
use tarragon_framework::math;
use tarragon_geometry::render::{EnvironmentMap, EquirectangularMap, RenderEngineCpuParams};
use tarragon_geometry::{Convex, HalfSpace, Mesh, PerceptionProperties, RenderLabel, Rgba, Sphere};

fn lit() -> RenderEngineCpuParams {
    RenderEngineCpuParams {
        lights: lights(),
        ..RenderEngineCpuParams::default()
    }
}

fn floor(pair: &mut Pair) {
    let floor = math::pose(
        math::rotation_exp(&(Vector3::x() * 1.4)),
        Vector3::y() * 0.9,
    );
    pair.add(HalfSpace, floor, Rgba::WHITE);
}

#[test]
fn random_meshes_equal_those_of_the_cpu_engine() {
    let files = Folder::new();
    let meshes = [8, 30, 100].map(|n| files.lumpy(n));
    let Some(mut pair) = Pair::new(lit(), (320, 240)) else {
        return;
    };
    let mut random = Random(7);
    for k in 0..24 {
        let p = random.vector(1.0);
        let pose = random.pose(Vector3::new(1.6 * p.x, p.y, 3.5 + 1.5 * p.z));
        let color = random.color();
        match k % 4 {
            0 => pair.add(Sphere::new(0.3).unwrap(), pose, color),
            1 => pair.add(Convex::new(&meshes[k % 3]), pose, color),
            _ => pair.add(Mesh::new(&meshes[k % 3]), pose, color),
        };
    }
    floor(&mut pair);
    // Three files, and three hulls; colours do not matter.
    assert_eq!(pair.gpu.mesh_count(), 6, "equal meshes share memory");
    pair.compare("meshes", &DECLARED);
}

#[test]
fn meshes_around_the_camera_and_across_the_near_plane_are_equal() {
    let files = Folder::new();
    let meshes = [files.lumpy(10), files.textured_cube()];
    for (k, mesh) in meshes.iter().enumerate() {
        for near in [0.05, 0.3] {
            let Some(mut pair) = Pair::new(lit(), (160, 120)) else {
                return;
            };
            pair.set_near(near);
            let mut random = Random(11 + k as u64);
            let inside = random.pose(Vector3::new(0.05, -0.05, 0.1));
            pair.add(Mesh::new(mesh), inside, random.color());
            let cut = random.pose(Vector3::new(0.3, 0.2, 0.3 + near));
            pair.add(Mesh::new(mesh), cut, random.color());
            pair.compare(&format!("inside mesh {k}, near {near}"), &DECLARED);
        }
    }
}

#[test]
fn textures_are_equal() {
    let files = Folder::new();
    let Some(mut pair) = Pair::new(lit(), (320, 240)) else {
        return;
    };
    let cube = files.textured_cube();
    let mut random = Random(3);
    // Near ones magnify the texture, far ones need small levels.
    for k in 0..16 {
        let z = 1.5 + 0.8 * f64::from(k);
        let p = random.vector(1.0);
        let pose = random.pose(Vector3::new(0.3 * z * p.x, 0.25 * z * p.y, z));
        pair.add(Mesh::new(&cube), pose, Rgba::WHITE);
    }
    floor(&mut pair);
    pair.compare("textures", &DECLARED);
}

fn balls(pair: &mut Pair, files: &Folder) {
    let kinds = [
        ("metal", "OPAQUE", 1.0, 0.3),
        ("smooth", "OPAQUE", 1.0, 0.02),
        ("plastic", "OPAQUE", 0.0, 0.5),
        ("cut", "MASK", 0.2, 0.7),
    ];
    for (k, (name, mode, metallic, roughness)) in kinds.into_iter().enumerate() {
        let ball = files.gltf_ball(name, mode, metallic, roughness);
        let (x, y) = (k % 2, k / 2);
        let p = Vector3::new(x as f64 - 0.4, y as f64 - 0.6, 2.5);
        let pose = math::pose(
            math::rotation_exp(&Vector3::new(0.4, 0.3, 0.1 * k as f64)),
            p,
        );
        pair.add(Mesh::new(&ball), pose, Rgba::WHITE);
    }
    let cube = files.textured_cube();
    let pose = Random(5).pose(Vector3::new(0.1, 0.0, 3.5));
    pair.add(Mesh::new(&cube), pose, Rgba::WHITE);
    floor(pair);
}

#[test]
fn physical_materials_masks_and_vertex_colours_are_equal() {
    let files = Folder::new();
    let Some(mut pair) = Pair::new(lit(), (320, 240)) else {
        return;
    };
    balls(&mut pair, &files);
    pair.compare("metallic-roughness, mask", &DECLARED);
}

#[test]
fn environments_are_equal() {
    let files = Folder::new();
    let sky = files.picture("sky.png", 128, |x, y| {
        let wave = 127.0 + 100.0 * (f64::from(x) * std::f64::consts::TAU / 64.0).sin();
        [wave as u8, (y * 2) as u8, (255 - y) as u8, 255]
    });
    for (skybox, exposure) in [(true, None), (false, Some(1.3)), (true, Some(0.7))] {
        let params = RenderEngineCpuParams {
            environment_map: Some(EnvironmentMap {
                skybox,
                texture: EquirectangularMap { path: sky.clone() }.into(),
                ..EnvironmentMap::default()
            }),
            exposure,
            lights: if skybox { Vec::new() } else { lights() },
            ..RenderEngineCpuParams::default()
        };
        let Some(mut pair) = Pair::new(params, (320, 240)) else {
            return;
        };
        pair.x_wc = math::pose(
            math::rotation_exp(&Vector3::new(-1.5, 0.2, 0.1)),
            Vector3::zeros(),
        );
        balls(&mut pair, &files);
        let x_wc = pair.x_wc;
        pair.poses
            .values_mut()
            .for_each(|pose| *pose = x_wc * *pose);
        pair.compare(
            &format!("environment, skybox {skybox}, exposure {exposure:?}"),
            &DECLARED,
        );
    }
}

#[test]
fn hidden_visuals_are_only_missing_in_label_images() {
    let Some(mut pair) = Pair::new(lit(), (80, 60)) else {
        return;
    };
    let mut random = Random(9);
    for k in 0..12 {
        let (shape, p) = (random.shape(k % 5), random.vector(0.7));
        let pose = random.pose(p + Vector3::z() * 2.0);
        if k % 3 == 0 {
            let properties =
                PerceptionProperties::phong(random.color()).with_label(RenderLabel::DO_NOT_RENDER);
            pair.add_with(shape, pose, &properties);
        } else {
            pair.add(shape, pose, random.color());
        }
    }
    pair.compare("hidden visuals", &DECLARED);
}
