//! Textures of normals, metalness, roughness, occlusion and emission on the GPU.

use crate::shapes::lights;
use crate::support::{DECLARED, Pair};
use nalgebra::{Point3, Vector3};
use std::f64::consts::{PI, TAU};
use std::path::Path;
use tarragon_framework::math;
use tarragon_geometry::mesh::{
    Material, MaterialGroup, MetallicRoughness, NormalMap, OcclusionMap, RenderMesh, Texture,
    TextureImage, Wrap,
};
use tarragon_geometry::render::{
    CubeMap, EnvironmentMap, EquirectangularMap, RenderEngine, RenderEngineCpuParams,
};
use tarragon_geometry::{GeometryId, PerceptionProperties, RenderLabel, Rgba, Sphere};

use crate::models::Folder;

/// Returns a ball of radius 0.4 m with two sets of texture coordinates and one material.
fn ball(material: Material) -> RenderMesh {
    const N: u32 = 24;
    let mut mesh = RenderMesh {
        materials: vec![material],
        ..RenderMesh::default()
    };
    for i in 0..=N {
        for j in 0..=2 * N {
            let (s, t) = (f64::from(i) / f64::from(N), f64::from(j) / f64::from(2 * N));
            let ((sa, ca), (sb, cb)) = ((PI * s).sin_cos(), (TAU * t).sin_cos());
            let n = Vector3::new(sa * cb, sa * sb, ca);
            mesh.positions.push(Point3::from(0.4 * n));
            mesh.normals.push(n);
            mesh.uvs.push([2.0 * t, 1.0 - s]);
        }
    }
    let vertices = mesh.positions.len() as u32;
    let second: Vec<_> = mesh.uvs.iter().map(|[u, v]| [v + 0.3, 0.7 * u]).collect();
    mesh.uvs.extend(second);
    for (i, j) in (0..N).flat_map(|i| (0..2 * N).map(move |j| (i, j))) {
        let k = |i: u32, j: u32| i * (2 * N + 1) + j;
        let [a, b, c, d] = [k(i, j), k(i + 1, j), k(i, j + 1), k(i + 1, j + 1)];
        mesh.triangles.extend([[a, b, c], [c, b, d]]);
    }
    mesh.triangle_normals = mesh.triangles.clone();
    mesh.triangle_uvs = mesh.triangles.clone();
    mesh.triangle_second_uvs = mesh
        .triangles
        .iter()
        .map(|t| t.map(|v| v + vertices))
        .collect();
    mesh.groups = vec![MaterialGroup {
        material: Some(0),
        triangles: 0..mesh.triangles.len(),
    }];
    mesh
}

/// Returns a material with all textures.
fn rich(files: &Folder) -> Material {
    // Waves along both axes, as normals.
    let normals = files.picture("normals.png", 64, |x, y| {
        let slope = |k: u32| 90.0 * (f64::from(k) * TAU / 16.0).sin();
        let (dx, dy) = (slope(x), slope(y));
        let dz = (127.0_f64.powi(2) - dx * dx - dy * dy).max(1e3).sqrt();
        [dx, dy, dz]
            .map(|d| (127.5 + d) as u8)
            .into_iter()
            .chain([255])
            .collect::<Vec<_>>()
            .try_into()
            .unwrap()
    });
    let all_in_one = files.picture("orm.png", 32, |x, y| {
        [
            60 + 6 * x as u8,
            40 + 6 * y as u8,
            if (x / 8 + y / 8) % 2 == 0 { 255 } else { 20 },
            255,
        ]
    });
    let lamps = files.picture("lamps.png", 32, |x, y| {
        let on = x % 16 < 4 && y % 16 < 4;
        [if on { 250 } else { 0 }, if on { 180 } else { 10 }, 0, 255]
    });
    let boards = files.picture("boards.png", 64, |x, y| {
        [200, (3 * x) as u8, (2 * y) as u8, 255]
    });
    let turned = Texture {
        uv_transform: [[1.2, -0.5, 0.3], [0.6, 1.1, -0.2]],
        wrap: [Wrap::MirroredRepeat, Wrap::Repeat],
        ..Texture::file(&boards)
    };
    let second = |path: &Path| Texture {
        uv_set: 1,
        ..Texture::file(path)
    };
    Material {
        diffuse: Some(Rgba::new(0.9, 0.8, 0.7, 1.0).unwrap()),
        diffuse_map: Some(turned),
        normal_map: Some(NormalMap {
            texture: Texture::file(&normals),
            scale: 0.8,
        }),
        metallic_roughness: Some(MetallicRoughness {
            metallic: 0.9,
            roughness: 0.8,
            emissive: [0.6, 0.6, 0.5],
            map: Some(second(&all_in_one)),
            occlusion_map: Some(OcclusionMap {
                texture: second(&all_in_one),
                strength: 0.7,
            }),
            emissive_map: Some(Texture::file(&lamps)),
        }),
        ..Material::default()
    }
}

fn add(pair: &mut Pair, mesh: &RenderMesh, p: Vector3<f64>) {
    let label = RenderLabel::new(pair.poses.len() as i16).unwrap();
    let properties = PerceptionProperties::new().with_label(label);
    let id = GeometryId::new();
    pair.cpu.register_mesh(id, mesh, &properties).unwrap();
    pair.gpu.register_mesh(id, mesh, &properties).unwrap();
    let turn = math::rotation_exp(&Vector3::new(1.2, 0.3, 0.4 * p.x));
    pair.poses.insert(id, math::pose(turn, p));
}

#[test]
fn maps_and_unlit_materials_are_equal() {
    let files = Folder::new();
    let sky = files.picture("sky.png", 64, |x, y| {
        [(4 * x) as u8, (3 * y) as u8, 120, 255]
    });
    let environment = EnvironmentMap {
        skybox: true,
        texture: EquirectangularMap { path: sky }.into(),
        ..EnvironmentMap::default()
    };
    for (name, environment_map) in [("lights", None), ("environment", Some(environment))] {
        let params = RenderEngineCpuParams {
            environment_map,
            lights: lights(),
            ..RenderEngineCpuParams::default()
        };
        let Some(mut pair) = Pair::new(params, (320, 240)) else {
            return;
        };
        let rich = rich(&files);
        let mut mirrored = ball(rich.clone());
        mirrored.uvs.iter_mut().for_each(|uv| uv[0] = -uv[0]);
        add(
            &mut pair,
            &ball(rich.clone()),
            Vector3::new(-0.5, -0.4, 2.2),
        );
        add(&mut pair, &mirrored, Vector3::new(0.5, -0.4, 2.2));
        let stretched = mirrored.scaled(&Vector3::new(1.0, -0.6, 1.0));
        add(&mut pair, &stretched, Vector3::new(-0.5, 0.5, 2.2));
        let unlit = Material {
            unlit: true,
            ..rich
        };
        add(&mut pair, &ball(unlit), Vector3::new(0.5, 0.5, 2.2));
        pair.compare(&format!("maps, {name}"), &DECLARED);
    }
}

#[test]
fn skies_are_equal_whether_they_light_or_not() {
    let files = Folder::new();
    let face = |k: u32| {
        // Faces of several sizes, in which all directions differ.
        let path = files.picture(&format!("{k}.png"), 9 + 5 * k, |x, y| {
            [(8 * x) as u8, (7 * y) as u8, (50 * k) as u8, 255]
        });
        TextureImage::File(path)
    };
    let mut images = [0, 1, 2, 3, 4, 5].map(face);
    images[1] = images[4].clone();
    let picture = files.picture("sky.png", 64, |x, y| {
        [(4 * x) as u8, (3 * y) as u8, 120, 255]
    });
    let cube = || CubeMap::new(images.clone()).into();
    let picture = || {
        EquirectangularMap {
            path: picture.clone(),
        }
        .into()
    };
    for (name, texture, skybox, lights, exposure) in [
        ("cube", cube(), true, false, None),
        ("cube, exposure", cube(), true, false, Some(0.8)),
        ("cube that lights", cube(), true, true, None),
        ("cube that only lights", cube(), false, true, None),
        ("cube without effect", cube(), false, false, None),
        ("picture that does not light", picture(), true, false, None),
    ] {
        let params = RenderEngineCpuParams {
            environment_map: Some(EnvironmentMap {
                skybox,
                lights,
                texture,
            }),
            exposure,
            ..RenderEngineCpuParams::default()
        };
        let Some(mut pair) = Pair::new(params, (320, 240)) else {
            return;
        };
        for (k, turn) in [
            [0.1, 0.2, 0.3],
            [1.5, 0.2, -0.4],
            [-1.6, 1.0, 2.0],
            [0.5, 3.0, 0.0],
        ]
        .into_iter()
        .enumerate()
        {
            pair.x_wc = math::pose(math::rotation_exp(&Vector3::from(turn)), Vector3::zeros());
            let ahead = pair.x_wc * math::pose(math::rotation_z(0.0), Vector3::z() * 3.0);
            pair.add(Sphere::new(0.5).unwrap(), ahead, Rgba::WHITE);
            pair.compare(&format!("{name}, view {k}"), &DECLARED);
        }
    }
}

#[test]
fn huge_scales_and_transformations_leave_no_trace() {
    let files = Folder::new();
    let Some(mut pair) = Pair::new(RenderEngineCpuParams::default(), (80, 60)) else {
        return;
    };
    let mut material = rich(&files);
    if let Some(map) = &mut material.normal_map {
        map.scale = 1e300;
    }
    if let Some(map) = &mut material.diffuse_map {
        map.uv_transform = [[1e300, -1e300, 0.0], [0.0, 1e300, 1e300]];
    }
    add(&mut pair, &ball(material), Vector3::new(0.0, 0.0, 2.0));
    pair.compare("maps, huge", &DECLARED);
}
