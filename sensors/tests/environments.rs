//! Environment maps of camera configurations that Drake does not have: cubes, and maps that do not
//! light.

use crate::warnings::warnings_of;
use nalgebra::Isometry3;
use tarragon_geometry::mesh::TextureImage;
use tarragon_geometry::render::{RenderEngineCpuParams, RenderView};
use tarragon_geometry::{Rgba, SceneGraph};
use tarragon_sensors::*;

#[test]
fn cube_maps_are_six_files_in_yaml() {
    let yaml = "renderer_class: !RenderEngineCpuParams
  environment_map:
    lights: false
    texture: !CubeMap {paths: [r.png, l.png, u.png, d.png, f.png, b.png]}
";
    let config = CameraConfig::from_yaml(yaml).unwrap();
    let names = ["r", "l", "u", "d", "f", "b"];
    let images = names.map(|name| TextureImage::File(format!("{name}.png").into()));
    let map = |images| EnvironmentMap {
        lights: false,
        texture: CubeMap::new(images).into(),
        ..EnvironmentMap::default()
    };
    let params = config.renderer_class.to_cpu_params(Rgba::WHITE).unwrap();
    assert_eq!(params.environment_map, Some(map(images.clone())));
    assert_eq!(
        CameraConfig::from_yaml(&config.to_yaml().unwrap()).unwrap(),
        config
    );
    // Drake's schema has no key for maps that do not light.
    let drakes = CameraConfig {
        renderer_class: RendererClass::RenderEngineCpuParams(RenderEngineCpuParams {
            environment_map: Some(EnvironmentMap::default()),
            ..RenderEngineCpuParams::default()
        }),
        ..CameraConfig::default()
    };
    assert!(!drakes.to_yaml().unwrap().contains("lights: true"));

    let mut in_memory = images;
    in_memory[2] = TextureImage::Content(b"png".as_slice().into());
    let unwritable = CameraConfig {
        renderer_class: RendererClass::RenderEngineCpuParams(RenderEngineCpuParams {
            environment_map: Some(map(in_memory)),
            ..RenderEngineCpuParams::default()
        }),
        ..CameraConfig::default()
    };
    let error = unwritable.to_yaml().unwrap_err().to_string();
    assert!(error.contains("images must be files"), "{error}");
    let five = yaml.replace(", b.png", "");
    let error = CameraConfig::from_yaml(&five).unwrap_err().to_string();
    assert!(error.contains("6"), "{error}");
    let path = yaml.replace(
        "!CubeMap {paths: [r.png, l.png, u.png, d.png, f.png, b.png]}",
        "!CubeMap {path: r.png}",
    );
    let error = CameraConfig::from_yaml(&path).unwrap_err().to_string();
    assert!(error.contains("!CubeMap {paths: [six FILEs]}"), "{error}");
}

#[test]
fn environments_surround_engines_without_a_background_of_their_own() {
    let sky = TextureImage::Content(one_red_pixel().into());
    let sky = EnvironmentMap {
        lights: false,
        texture: CubeMap::new([0; 6].map(|_| sky.clone())).into(),
        ..EnvironmentMap::default()
    };
    let corner = |config: CameraConfig| {
        let mut scene = SceneGraph::new();
        let ((), warnings) = warnings_of(|| {
            add_camera_renderers_with_environment([&config], &mut scene, &sky).unwrap();
        });
        let name = &config.renderer_name;
        let mut image = ImageRgba8U::new(8, 8);
        let camera = ColorRenderCamera::new(name, CameraInfo::from_fov_y(8, 8, 1.0).unwrap());
        let view = RenderView::new(Isometry3::identity(), &|_| None);
        let engine = scene.render_engine_by_name(name).unwrap();
        if warnings.is_empty() {
            engine.render_color(&view, &camera, &mut image).unwrap();
        }
        (image.at(0, 0).to_vec(), warnings)
    };
    let red = (vec![255, 0, 0, 255], vec![]);
    assert_eq!(corner(CameraConfig::default()), red);
    let class = |yaml: &str| CameraConfig::from_yaml(&format!("renderer_class: {yaml}")).unwrap();
    assert_eq!(corner(class("RenderEngineVtk")), red);
    assert_eq!(corner(class("!RenderEngineVtkParams {}")), red);
    let green = CameraConfig::from_yaml("background: {rgba: [0, 1, 0]}").unwrap();
    assert_eq!(corner(green).0, [0, 255, 0, 255]);
    let own = class("!RenderEngineCpuParams {environment_map: {}}");
    assert_ne!(corner(own), red);
    let (_, warnings) = corner(class("!RenderEngineGltfClientParams {}"));
    assert!(
        matches!(&*warnings, [one] if one.contains("sends no environment map")),
        "{warnings:?}"
    );
}

/// A PNG file.
fn one_red_pixel() -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, 1, 1);
    encoder.set_color(png::ColorType::Rgb);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&[255, 0, 0]).unwrap();
    writer.finish().unwrap();
    bytes
}
