//! Sensors in a diagram, and the files that are written.

use nalgebra::{Isometry3, Vector3};
use proptest::prelude::*;
use std::path::Path;
use tarragon_framework::prelude::*;
use tarragon_framework::{SystemInfo, math};
use tarragon_geometry::render::{RenderEngineCpu, RenderEngineCpuParams};
use tarragon_geometry::{
    FramePoseVector, GeometryFrame, GeometryInstance, PerceptionProperties, RenderLabel, Rgba,
    SceneGraph, Sphere,
};
use tarragon_sensors::*;

const RADIUS: f64 = 0.5;

/// A ball 2 m in front of a camera that moves with the frame `mount`.
struct Fixture {
    builder: DiagramBuilder,
    camera: Block<RgbdSensor>,
    scene: Block<SceneGraph>,
    source: tarragon_geometry::SourceId,
    mount: tarragon_geometry::FrameId,
}

fn fixture() -> Fixture {
    let mut scene = SceneGraph::new();
    scene
        .add_renderer(
            "cpu",
            RenderEngineCpu::new(RenderEngineCpuParams::default()).unwrap(),
        )
        .unwrap();
    let source = scene.register_source("world").unwrap();
    let mount = scene
        .register_frame(source, GeometryFrame::new("mount"))
        .unwrap();
    let label = RenderLabel::new(7).unwrap();
    let ball = GeometryInstance::new(
        Isometry3::translation(0.0, 0.0, 2.0),
        Sphere::new(RADIUS).unwrap(),
        "ball",
    )
    .unwrap()
    .with_perception(PerceptionProperties::phong(Rgba::WHITE).with_label(label));
    scene.register_anchored_geometry(source, ball).unwrap();
    // The ray of pixel (32, 24) is the optical axis.
    let info = CameraInfo::new(65, 49, 45.0, 45.0, 32.5, 24.5).unwrap();
    let core = RenderCameraCore::new(
        "cpu",
        info,
        ClippingRange::new(0.1, 10.0).unwrap(),
        Isometry3::identity(),
    );
    let depth = DepthRenderCamera::from_core(core, DepthRange::new(0.2, 5.0).unwrap()).unwrap();
    let camera =
        RgbdSensor::from_depth_camera(mount, Isometry3::translation(0.0, 0.0, 0.25), depth);
    let mut builder = DiagramBuilder::new();
    let scene = builder.add("scene", scene);
    let camera = builder.add_f64("camera", camera);
    builder.connect(scene.query, camera.geometry_query);
    Fixture {
        builder,
        camera,
        scene,
        source,
        mount,
    }
}

impl Fixture {
    fn fix_pose(ctx: &mut Context<f64>, this: &FixtureIds, x: Isometry3<f64>) {
        ctx.fix(this.port, FramePoseVector::from_iter([(this.mount, x)]))
            .unwrap();
    }
    fn ids(&self) -> FixtureIds {
        let port = self.scene.source_pose_port(self.source).unwrap();
        FixtureIds {
            port,
            mount: self.mount,
        }
    }
}

struct FixtureIds {
    port: InputPort<FramePoseVector<f64>>,
    mount: tarragon_geometry::FrameId,
}

#[test]
fn every_port_of_the_camera_shows_the_scene() {
    let f = fixture();
    let (ids, camera) = (f.ids(), f.camera.clone());
    let diagram = f.builder.build().unwrap();
    let mut ctx = diagram.default_context();
    ctx.set_time(1.5);
    Fixture::fix_pose(&mut ctx, &ids, Isometry3::identity());
    // Seen from z = 0.25 m, the front of the ball at the image centre is at a depth of 2 - 0.5 -
    // 0.25 m.
    let depth = ctx.eval(camera.depth_image_32f).unwrap();
    assert!((depth.at(32, 24)[0] - 1.25).abs() < 1e-6);
    assert_eq!(depth.at(0, 0)[0], f32::INFINITY);
    let depth = ctx.eval(camera.depth_image_16u).unwrap();
    assert!(depth.at(32, 24)[0].abs_diff(1250) <= 1, "whole millimetres");
    assert_eq!(depth.at(0, 0)[0], 65535);
    let label = ctx.eval(camera.label_image).unwrap();
    assert_eq!((label.at(32, 24)[0], label.at(0, 0)[0]), (7, 32766));
    let color = ctx.eval(camera.color_image).unwrap();
    assert_eq!(color.at(0, 0)[..3], [204, 229, 255]);
    assert_ne!(color.at(32, 24)[..3], [204, 229, 255]);
    assert_eq!(ctx.eval(camera.image_time).unwrap(), &[1.5]);
    // The sensor moves with its frame: turned round, it sees nothing.
    let turned = math::pose(math::rotation_y(std::f64::consts::PI), Vector3::zeros());
    Fixture::fix_pose(&mut ctx, &ids, turned);
    assert!(
        ctx.eval(camera.label_image)
            .unwrap()
            .data()
            .iter()
            .all(|l| *l == 32766)
    );
    let z = ctx.eval(camera.body_pose_in_world).unwrap().translation.z;
    assert!((z + 0.25).abs() < 1e-15);
    // Cameras are parameters of the context.
    let small = CameraInfo::from_fov_y(8, 6, 1.0).unwrap();
    let core = RenderCameraCore::new(
        "gpu",
        small,
        ClippingRange::new(0.1, 10.0).unwrap(),
        Isometry3::identity(),
    );
    *ctx.param_mut(camera.color_camera).unwrap() = ColorRenderCamera::from_core(core);
    let message = ctx.eval(camera.color_image).unwrap_err().to_string();
    assert!(
        message.contains("computing 'camera.color_image'") && message.contains("no renderer 'gpu'"),
        "{message}"
    );
}

#[test]
fn ports_have_the_names_of_drake() {
    let diagram = fixture().builder.build().unwrap();
    let expected = SystemInfo {
        path: "camera".into(),
        input_ports: vec!["geometry_query".into()],
        output_ports: [
            "color_image",
            "label_image",
            "depth_image_32f",
            "depth_image_16u",
            "body_pose_in_world",
            "image_time",
        ]
        .map(String::from)
        .to_vec(),
    };
    assert_eq!(diagram.systems().nth(1).unwrap(), expected);
}

#[test]
fn images_are_written_periodically_and_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let format = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let mut f = fixture();
    let mut writer = ImageWriter::new();
    let color = writer
        .declare_image_input_port::<Rgba8U>("color", &format("{image_type}_{count:03}"), 0.1, 0.0)
        .unwrap();
    let depth = writer
        .declare_image_input_port::<Depth32F>(
            "d",
            &format("{port_name}_{time_msec:05}.tif"),
            0.1,
            0.05,
        )
        .unwrap();
    let label = writer
        .declare_image_input_port::<Label16I>("label", &format("{time_usec}"), 1.0, 0.0)
        .unwrap();
    let writer = f.builder.add_f64("writer", writer);
    f.builder
        .connect(f.camera.color_image, writer.image_port(color).unwrap());
    f.builder
        .connect(f.camera.depth_image_32f, writer.image_port(depth).unwrap());
    f.builder
        .connect(f.camera.label_image, writer.image_port(label).unwrap());
    let (ids, camera) = (f.ids(), f.camera.clone());
    let diagram = f.builder.build().unwrap();
    let mut ctx = diagram.default_context();
    Fixture::fix_pose(&mut ctx, &ids, Isometry3::identity());
    let mut sim = Simulator::new(&diagram, ctx).unwrap();
    sim.advance_to(0.2).unwrap();
    let names = || {
        let mut names: Vec<String> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    let expected = [
        "0.png",
        "color_000.png",
        "color_001.png",
        "color_002.png",
        "d_00050.tif",
        "d_00150.tif",
    ];
    assert_eq!(names(), expected, "and no temporary file");
    sim.context().force_publish().unwrap();
    assert!(
        names().contains(&String::from("color_003.png")) && names().contains(&"d_00200.tif".into())
    );
    let ctx = sim.context();
    let read = load_image::<Rgba8U>(&folder.path().join("color_002.png")).unwrap();
    assert_eq!(&read, ctx.eval(camera.color_image).unwrap());
    let read = load_image::<Depth32F>(&folder.path().join("d_00150.tif")).unwrap();
    assert_eq!(&read, ctx.eval(camera.depth_image_32f).unwrap());
    let read = load_image::<Label16I>(&folder.path().join("0.png")).unwrap();
    assert_eq!(&read, ctx.eval(camera.label_image).unwrap());
}

#[test]
fn errors_in_ports_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().to_str().unwrap().to_owned();
    let mut writer = ImageWriter::new();
    let mut message = |name: &str, format: &str, period: f64, start: f64| {
        let result = writer.declare_image_input_port::<Rgba8U>(name, format, period, start);
        result.err().map(|e| e.to_string()).unwrap_or_default()
    };
    assert_eq!(message("a", &format!("{base}/{{count}}"), 0.1, 0.0), "");
    assert!(
        message("a", &format!("{base}/x"), 0.1, 0.0)
            .contains("'a': a port of this name already exists")
    );
    assert!(
        message("b", &format!("{base}/x"), 0.0, 0.0)
            .contains("period must be positive and finite, got 0.0 s")
    );
    assert!(
        message("b", &format!("{base}/x"), 0.1, -1.0)
            .contains("start time must be finite and at least 0, got -1.0 s")
    );
    assert!(message("b", &format!("{base}/{{what}}"), 0.1, 0.0).contains("no field 'what'"));
    assert!(message("b", &format!("{base}/{{count}}/x"), 0.1, 0.0).contains("depends on {count}"));
    let missing = message("b", &format!("{base}/no/such/x"), 0.1, 0.0);
    assert!(
        missing.contains("no/such' cannot be used") && missing.contains("create it first"),
        "{missing}"
    );
    std::fs::write(folder.path().join("file"), "").unwrap();
    assert!(message("b", &format!("{base}/file/x"), 0.1, 0.0).contains("file"));
}

#[test]
fn a_directory_that_vanishes_fails_the_publish_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("frames");
    std::fs::create_dir(&target).unwrap();
    let mut f = fixture();
    let mut writer = ImageWriter::new();
    let format = target.join("{count}").to_str().unwrap().to_owned();
    let color = writer
        .declare_image_input_port::<Rgba8U>("color", &format, 0.1, 0.0)
        .unwrap();
    let writer = f.builder.add_f64("writer", writer);
    f.builder
        .connect(f.camera.color_image, writer.image_port(color).unwrap());
    let ids = f.ids();
    let diagram = f.builder.build().unwrap();
    let mut ctx = diagram.default_context();
    Fixture::fix_pose(&mut ctx, &ids, Isometry3::identity());
    std::fs::remove_dir(&target).unwrap();
    let mut sim = Simulator::new(&diagram, ctx).unwrap();
    let message = sim.initialize().unwrap_err().to_string();
    assert!(
        message.starts_with("at 0.0 s: publish of 'writer': ") && message.contains("frames/0.png"),
        "{message}"
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn files_and_pixels_must_fit() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let depth = ImageDepth32F::new(2, 2);
    let error = |r: Result<()>| r.unwrap_err().to_string();
    assert!(error(save_image(&depth, path("a.png"))).contains("PNG cannot hold Depth32F"));
    assert!(error(save_image(&depth, path("a.bmp"))).contains(".tiff or .tif"));
    assert!(error(save_image(&ImageRgba8U::default(), path("a.png"))).contains("without pixels"));
    assert_eq!(
        std::fs::read_dir(folder.path()).unwrap().count(),
        0,
        "no partial file is left"
    );
    save_image(&ImageGrey8U::new(2, 2), path("grey.png")).unwrap();
    let wrong = load_image::<Rgba8U>(&path("grey.png"))
        .unwrap_err()
        .to_string();
    assert!(
        wrong.contains("grey.png") && wrong.contains("must hold Rgba8U, got Grey8U"),
        "{wrong}"
    );
    assert!(load_image::<Rgba8U>(Path::new("no.png")).is_err());
}

fn round_trip<P: ImageFilePixel>(data: Vec<P::Channel>, name: &str) {
    let folder = tempfile::tempdir().unwrap();
    let image = Image::<P>::from_data(3, 2, data).unwrap();
    let path = folder.path().join(name);
    save_image(&image, &path).unwrap();
    assert_eq!(load_image::<P>(&path).unwrap(), image);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn files_hold_every_value(bytes in prop::collection::vec(any::<u8>(), 24), words in prop::collection::vec(any::<i16>(), 6), reals in prop::collection::vec(0.0..9.0_f32, 6)) {
        for extension in ["png", "tiff"] {
            let name = format!("a.{extension}");
            round_trip::<Rgba8U>(bytes.clone(), &name);
            round_trip::<Rgb8U>(bytes[..18].to_vec(), &name);
            round_trip::<Grey8U>(bytes[..6].to_vec(), &name);
            round_trip::<Label16I>(words.clone(), &name);
            round_trip::<Depth16U>(words.iter().map(|w| *w as u16).collect(), &name);
        }
        let mut reals = reals;
        reals[0] = f32::INFINITY;
        round_trip::<Depth32F>(reals, "a.tif");
    }

    /// Damaged files cause errors, never panics.
    #[test]
    fn damaged_files_are_errors(bytes in prop::collection::vec(any::<u8>(), 0..200), cut in 8..60_usize) {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.png", "a.tiff"] {
            let path = folder.path().join(name);
            std::fs::write(&path, &bytes).unwrap();
            prop_assert!(load_image::<Rgba8U>(&path).is_err());
            save_image(&ImageRgba8U::with_value(5, 4, 9), &path).unwrap();
            let whole = std::fs::read(&path).unwrap();
            std::fs::write(&path, &whole[..cut.min(whole.len() - 1)]).unwrap();
            let _ = load_image::<Rgba8U>(&path);
        }
    }
}
