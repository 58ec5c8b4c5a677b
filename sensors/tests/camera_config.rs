//! Camera configurations: YAML of Drake 1.51.1, round trips and errors.

use nalgebra::Vector3;
use tarragon_geometry::RenderLabel;
use tarragon_geometry::Rgba;
use tarragon_geometry::render::{
    LightFrame, LightParameter, LightType, RenderEngineCpuParams, RenderEngineGpuParams,
};
use tarragon_sensors::*;

use crate::warnings::warnings_of;

/// `yaml_dump_typed(CameraConfig())` of pydrake 1.51.1.
const DRAKE_DEFAULT: &str = "width: 640
height: 480
focal: !FovDegrees
  y: 45.0
clipping_near: 0.01
clipping_far: 500.0
z_near: 0.1
z_far: 5.0
X_PB:
  translation: [0.0, 0.0, 0.0]
  rotation: {}
X_BC:
  translation: [0.0, 0.0, 0.0]
  rotation: {}
X_BD:
  translation: [0.0, 0.0, 0.0]
  rotation: {}
renderer_name: default
renderer_class: ''
background:
  rgba: [0.8, 0.8980392156862745, 1.0, 1.0]
name: preview_camera
fps: 10.0
capture_offset: 0.0
output_delay: 0.0
rgb: true
depth: false
label: false
show_rgb: false
do_compress: true
lcm_bus: default
";

/// Written by pydrake 1.51.1, with all fields of the VTK engine.
const DRAKE_FULL: &str = "focal:
  x: 300.0
center_x: 3.0
X_PB:
  base_frame: a::b
  translation: [1.0, 2.0, 3.0]
  rotation: !Rpy
    deg: [5.729577951308232, 11.459155902616464, 17.1887338539247]
renderer_class: !RenderEngineVtkParams
  default_diffuse: [1.0, 0.0, 0.0, 1.0]
  default_clear_color: [0.8, 0.8980392156862745, 1.0]
  lights:
  - type: directional
    color:
      rgba: [1.0, 1.0, 1.0, 1.0]
    attenuation_values: [1.0, 0.0, 0.0]
    position: [0.0, 0.0, 0.0]
    frame: camera
    intensity: 1.0
    direction: [0.0, 0.0, 1.0]
    cone_angle: 0.0
  environment_map:
    skybox: false
    texture: !EquirectangularMap
      path: /a/b.hdr
  exposure: 0.5
  ssao:
    radius: 0.25
    bias: 0.01
    sample_count: 128
    intensity_scale: 1.0
    intensity_shift: 0.0
    blur: true
  cast_shadows: false
  shadow_map_size: 256
  force_to_pbr: false
  gltf_extensions:
    KHR_texture_basisu:
      warn_unimplemented: false
  backend: ''
";

fn read(text: &str) -> CameraConfig {
    CameraConfig::from_yaml(text).unwrap()
}

fn error(text: &str) -> String {
    CameraConfig::from_yaml(text).unwrap_err().to_string()
}

#[test]
fn defaults_are_those_of_drake() {
    assert_eq!(read(DRAKE_DEFAULT), CameraConfig::default());
    assert_eq!(read("{}"), CameraConfig::default());
}

#[test]
fn every_field_that_drake_writes_is_read() {
    let config = read(DRAKE_FULL);
    assert_eq!(
        config.focal,
        Focal::FocalLength {
            x: Some(300.0),
            y: None
        }
    );
    assert_eq!(config.principal_point(), [3.0, 239.5]);
    assert_eq!(config.x_pb.base_frame.as_deref(), Some("a::b"));
    // RigidTransform(RollPitchYaw(0.1, 0.2, 0.3), [1, 2, 3])
    let expected = tarragon_framework::math::rpy(0.1, 0.2, 0.3);
    let x_pb = config.x_pb.pose().unwrap();
    assert!(x_pb.rotation.angle_to(&expected) < 1e-15);
    assert_eq!(x_pb.translation.vector, Vector3::new(1.0, 2.0, 3.0));
    let RendererClass::RenderEngineVtkParams(vtk) = &config.renderer_class else {
        panic!("{:?}", config.renderer_class)
    };
    let red = Rgba::new(1.0, 0.0, 0.0, 1.0).unwrap();
    let path = "/a/b.hdr".into();
    let expected = RenderEngineVtkParams {
        default_diffuse: Some(red),
        lights: vec![LightParameter::default()],
        environment_map: Some(EnvironmentMap {
            skybox: false,
            texture: EquirectangularMap { path }.into(),
            ..EnvironmentMap::default()
        }),
        exposure: Some(0.5),
        ssao: Some(SsaoParameter::default()),
        ..RenderEngineVtkParams::default()
    };
    assert_eq!(vtk, &expected);
    let cpu = config.renderer_class.to_cpu_params(Rgba::WHITE).unwrap();
    assert_eq!((cpu.default_diffuse, cpu.lights.len()), (red, 1));
    assert_eq!((cpu.exposure, cpu.cast_shadows), (Some(0.5), false));
    assert_eq!(cpu.environment_map, expected.environment_map);
}

#[test]
fn yaml_round_trips() {
    let spot = LightParameter {
        light_type: LightType::Spot,
        frame: LightFrame::World,
        position: Vector3::new(0.5, -1.0, 1e-20),
        cone_angle: 12.5,
        ..LightParameter::default()
    };
    let cpu = RenderEngineCpuParams {
        lights: vec![spot],
        threads: Some(3),
        samples_per_side: 2,
        default_label: RenderLabel::UNSPECIFIED,
        cast_shadows: true,
        shadow_map_size: 1024,
        exposure: Some(1.5),
        environment_map: Some(EnvironmentMap::default()),
        ..RenderEngineCpuParams::default()
    };
    let angle_axis = Rotation::AngleAxis {
        angle_deg: 30.0,
        axis: Vector3::new(0.0, 1.0, 1.0),
    };
    let base = read(DRAKE_FULL);
    for (class, rotation) in [
        (base.renderer_class.clone(), Rotation::Identity),
        (RendererClass::Unspecified, angle_axis),
        (RendererClass::RenderEngineGl, base.x_pb.rotation.clone()),
        (
            RendererClass::RenderEngineGlParams(RenderEngineGlParams {
                lights: vec![spot; 2],
                ..Default::default()
            }),
            Rotation::Identity,
        ),
        (
            RendererClass::RenderEngineGltfClientParams(RenderEngineGltfClientParams::default()),
            Rotation::Identity,
        ),
        (
            RendererClass::RenderEngineCpuParams(cpu),
            Rotation::Identity,
        ),
        (RendererClass::RenderEngineGpu, Rotation::Identity),
        (
            RendererClass::RenderEngineGpuParams(RenderEngineGpuParams {
                adapter: Some("llvmpipe".into()),
                samples_per_side: 4,
                ..RenderEngineGpuParams::default()
            }),
            Rotation::Identity,
        ),
    ] {
        let config = CameraConfig {
            renderer_class: class,
            x_pb: Transform {
                rotation,
                ..base.x_pb.clone()
            },
            focal: Focal::FovDegrees {
                x: Some(60.0),
                y: Some(0.1 + 0.2),
            },
            name: "no".into(),
            fps: 1.0 / 3.0,
            ..base.clone()
        };
        let text = config.to_yaml().unwrap();
        assert_eq!(read(&text), config, "{text}");
        assert!(
            text.contains("name: \"no\""),
            "unquoted, YAML 1.1 reads false: {text}"
        );
    }
}

#[test]
fn focal_lengths_follow_from_lengths_and_fields_of_view() {
    let focal = |text: &str| {
        let config = read(text);
        [config.focal_x().unwrap(), config.focal_y().unwrap()]
    };
    // Recorded from pydrake 1.51.1.
    let (f60, f45) = (554.2562584220408, 579.4112549695428);
    for (text, expected) in [
        ("focal: !FovDegrees {x: 60}", [f60, f60]),
        ("focal: !FovDegrees {y: 45}", [f45, f45]),
        ("focal: !FovDegrees {x: 60, y: 45}", [f60, f45]),
        ("focal: !FocalLength {x: 300}", [300.0, 300.0]),
        ("focal: {x: 300, y: 200}", [300.0, 200.0]),
    ] {
        let found = focal(text);
        let close = |i: usize| (found[i] - expected[i]).abs() < 1e-12 * expected[i];
        assert!(close(0) && close(1), "{text}: {found:?}");
    }
}

#[test]
fn errors_in_yaml_have_line_and_column() {
    for (text, expected) in [
        ("name: a\nbogus: 1", ["2", "bogus"]),
        ("width: 3.5", ["1", "8"]),
        ("width: -3", ["1", "got -3 pixels"]),
        ("focal: !Bogus {x: 3}", ["1", "!FocalLength or !FovDegrees"]),
        ("renderer_class: Foo", ["1", "unknown variant `Foo`"]),
        (
            "name: a\nrenderer_class: !RenderEngineFooParams {}",
            ["2", "must be one of !RenderEngineVtkParams"],
        ),
        (
            "renderer_class: !RenderEngineVtkParams\n  bogus: 1",
            ["2", "bogus"],
        ),
        (
            "renderer_class: !RenderEngineVtkParams {default_clear_color: [0, 0, 0, 1]}",
            ["1", "three numbers"],
        ),
        ("X_PB: {translation: [1, 2]}", ["1", "three numbers"]),
        ("X_PB: {rotation: !Uniform {}}", ["1", "must not be random"]),
        (
            "X_PB: {rotation: !Rpy {deg: !UniformVector {min: [1, 2, 3], max: [2, 3, 4]}}}",
            ["1", "must be three numbers"],
        ),
        (
            "X_PB: {rotation: {deg: [1, 2, 3]}}",
            ["1", "must have a tag"],
        ),
        ("X_PB: {rotation: !Quaternion {}}", ["1", "got !Quaternion"]),
        (
            "X_PB: {rotation: !Rpy {axis: [1, 2, 3]}}",
            ["1", "deg: [roll, pitch, yaw]"],
        ),
        ("background: {rgba: [0, 0, 0, 0, 0]}", ["1", "3 or 4"]),
        ("background: {rgba: [2, 0, 0]}", ["1", "from 0 to 1"]),
        ("name: a\nname: b", ["2", "name"]),
        ("name: a\nwidth: [1", ["2", ""]),
        (
            "name: a\nrenderer_class: !RenderEngineVtkParams {lights: [{type: laser}]}",
            ["2", "laser"],
        ),
    ] {
        let message = error(text);
        assert!(
            message.starts_with(&format!("camera configuration:{}:", expected[0])),
            "{text:?}: {message}"
        );
        assert!(message.contains(expected[1]), "{text:?}: {message}");
        assert!(!message.contains('\n'), "{message:?}");
    }
}

#[test]
fn errors_in_cameras_name_the_field() {
    for (text, expected) in [
        ("width: 0", "width must be positive, got 0"),
        (
            "center_x: 700",
            "center_x must be between 0 and 640, got 700.0",
        ),
        (
            "center_y: -1",
            "center_y must be between 0 and 480, got -1.0",
        ),
        ("focal: !FovDegrees {}", "must have x or y, got neither"),
        (
            "focal: !FovDegrees {y: 200}",
            "focal_y must be positive and finite, got -42.3",
        ),
        (
            "focal: {x: -1}",
            "focal_x must be positive and finite, got -1.0",
        ),
        ("clipping_near: 0", "got 0.0 m and 500.0 m"),
        ("clipping_near: 1000", "got 1000.0 m and 500.0 m"),
        ("clipping_far: .inf", "got 0.01 m and inf m"),
        ("z_near: 0.001", "within the clipping range"),
        ("z_near: 6", "got 6.0 m and 5.0 m"),
        ("z_far: 600", "got 0.1 m to 600.0 m"),
        ("fps: 0", "fps must be positive and finite, got 0.0"),
        ("fps: .nan", "fps must be positive and finite, got NaN"),
        (
            "capture_offset: -1",
            "capture_offset must be finite and at least 0, got -1.0 s",
        ),
        ("output_delay: 0.1", "less than 1 / fps = 0.1 s"),
        ("output_delay: -1", "less than 1 / fps = 0.1 s, got -1.0 s"),
        ("name: ''", "name must not be empty"),
        ("renderer_name: ''", "renderer_name must not be empty"),
        (
            "X_BC: {base_frame: a}",
            "X_BC is a pose in the camera body and must have no base frame, got 'a'",
        ),
        (
            "X_BD: {base_frame: a}",
            "X_BD is a pose in the camera body and must have no base frame, got 'a'",
        ),
        ("X_PB: {translation: [.nan, 0, 0]}", "X_PB: the translation"),
        (
            "X_BD: {rotation: !AngleAxis {axis: [0, 0, 0]}}",
            "X_BD: the axis of the rotation must not have zero length",
        ),
        (
            "{fps: -1, name: ''}",
            "name must not be empty; fps must be positive and finite, got -1.0",
        ),
    ] {
        let message = error(text);
        assert!(message.starts_with("camera '"), "{text}: {message}");
        assert!(message.contains(expected), "{text}: {message}");
    }
    // A camera that is switched off is always valid.
    assert!(CameraConfig::from_yaml("{rgb: false, fps: 0, name: ''}").is_ok());
    let broken = CameraConfig {
        fps: 0.0,
        ..CameraConfig::default()
    };
    assert!(broken.to_yaml().is_err());
}

#[test]
fn files_are_named_in_errors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("camera.yaml");
    assert!(
        CameraConfig::from_yaml_file(&path)
            .unwrap_err()
            .to_string()
            .contains("camera.yaml")
    );
    std::fs::write(&path, "fps: none").unwrap();
    let message = CameraConfig::from_yaml_file(&path).unwrap_err().to_string();
    assert!(message.contains("camera.yaml:1:6: "), "{message}");
    std::fs::write(&path, DRAKE_FULL).unwrap();
    assert_eq!(
        CameraConfig::from_yaml_file(&path).unwrap(),
        read(DRAKE_FULL)
    );
}

#[test]
fn a_map_of_cameras_names_the_key_in_errors() {
    let message = |text| CameraConfig::map_from_yaml(text).unwrap_err().to_string();
    let invalid = message("left: {name: a}\nright: {name: b, fps: 0}");
    assert!(
        invalid.starts_with("camera configurations: 'right': camera 'b': fps must be positive"),
        "{invalid}"
    );
    let unknown = message("left: {name: a}\nright: {nome: b}");
    assert!(unknown.starts_with("camera configurations:2:"), "{unknown}");
    assert_eq!(CameraConfig::map_from_yaml("{}").unwrap().len(), 0);
}

#[test]
fn poses_become_transforms_and_back() {
    for angles in [[0.0; 3], [0.3, -0.2, 2.0], [0.0, 0.0, 1e-9]] {
        let rotation = tarragon_framework::math::rpy(angles[0], angles[1], angles[2]);
        let pose = tarragon_framework::math::pose(rotation, Vector3::new(1.0, 2.0, 3.0));
        let back = Transform::from(&pose).pose().unwrap();
        assert!(
            (back.to_homogeneous() - pose.to_homogeneous()).norm() < 1e-15,
            "{angles:?}"
        );
    }
}

/// Drake 1.51.1 accepts the same values; those that name a window system cause a warning here.
#[test]
fn backends_are_those_of_drake() {
    let engine = |backend: &str| {
        let backend = backend.into();
        let params = RenderEngineVtkParams {
            backend,
            ..Default::default()
        };
        warnings_of(|| make_render_engine_vtk(params))
    };
    let (made, warnings) = engine("");
    assert!(made.is_ok() && warnings.is_empty(), "{warnings:?}");
    for backend in ["GLX", "EGL", "Cocoa"] {
        let (made, warnings) = engine(backend);
        let warned = warnings.len() == 1 && warnings[0].contains(backend);
        assert!(made.is_ok() && warned, "{warnings:?}");
    }
    let what = "RenderEngineVtkParams: backend must be '', 'GLX', 'EGL' or 'Cocoa', got 'metal'";
    let made = engine("metal").0.err().unwrap().to_string();
    assert!(made.contains(what), "{made}");
    let yaml = "renderer_class: !RenderEngineVtkParams {backend: metal}";
    assert!(error(yaml).contains(what), "{}", error(yaml));
    assert!(CameraConfig::from_yaml(&format!("{{rgb: false, {yaml}}}")).is_ok());
}

#[test]
fn the_gl_engine_has_at_most_five_lights() {
    let lights = |n: usize| vec![LightParameter::default(); n];
    let gl = |n| RenderEngineGlParams {
        lights: lights(n),
        ..Default::default()
    };
    assert!(make_render_engine_gl(gl(5)).is_ok());
    let what = "RenderEngineGlParams: lights must be at most 5, got 6";
    let made = make_render_engine_gl(gl(6)).err().unwrap().to_string();
    assert!(made.contains(what), "{made}");
    let yaml = format!(
        "renderer_class: !RenderEngineGlParams {{lights: [{}]}}",
        ["{}"; 6].join(", ")
    );
    assert!(error(&yaml).contains(what), "{}", error(&yaml));
    let vtk = RenderEngineVtkParams {
        lights: lights(6),
        ..Default::default()
    };
    assert!(make_render_engine_vtk(vtk).is_ok());
}

#[test]
fn engines_take_the_parameters_of_drake() {
    let black = Rgba::opaque(0.0, 0.0, 0.0).unwrap();
    let vtk = RenderEngineVtkParams {
        default_clear_color: black,
        exposure: Some(0.5),
        ..Default::default()
    };
    let vtk = make_render_engine_vtk(vtk).unwrap();
    let found = vtk.params();
    assert_eq!(
        (found.default_clear_color, found.exposure),
        (black, Some(0.5))
    );
    let gl = RenderEngineGlParams {
        default_diffuse: black,
        ..Default::default()
    };
    let gl = make_render_engine_gl(gl).unwrap();
    assert_eq!(gl.params().default_diffuse, black);
    let default = make_render_engine_gl(Default::default()).unwrap();
    assert_eq!(default.params(), &RenderEngineCpuParams::default());
}

/// As in Drake, extensions that the map does not silence cause a warning.
#[test]
fn gltf_extensions_silence_warnings() {
    let quiet = |yaml: &str| {
        let class = read(yaml).renderer_class;
        class
            .to_cpu_params(Rgba::WHITE)
            .unwrap()
            .quiet_gltf_extensions
    };
    let names = |names: &[&str]| names.iter().map(ToString::to_string).collect();
    assert_eq!(quiet("{}"), names(&["KHR_texture_basisu"]));
    assert_eq!(
        quiet("renderer_class: !RenderEngineVtkParams {}"),
        names(&["KHR_texture_basisu"])
    );
    let yaml = "renderer_class: !RenderEngineVtkParams
  gltf_extensions:
    KHR_materials_sheen: {warn_unimplemented: false}
    KHR_texture_basisu: {}";
    assert_eq!(quiet(yaml), names(&["KHR_materials_sheen"]));
    let config = read(yaml);
    assert_eq!(read(&config.to_yaml().unwrap()), config);
    assert!(GltfExtension::default().warn_unimplemented);
}

#[test]
fn a_light_in_yaml_has_the_defaults_of_the_code() {
    let yaml = "renderer_class: !RenderEngineGlParams {lights: [{}]}";
    let RendererClass::RenderEngineGlParams(gl) = read(yaml).renderer_class else {
        panic!("the tag selects RenderEngineGlParams");
    };
    assert_eq!(gl.lights, [LightParameter::default()]);
    assert_eq!(
        LightParameter::default().cone_angle,
        0.0,
        "the default of Drake"
    );
}
