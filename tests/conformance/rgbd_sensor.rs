//! All ports of an `RgbdSensor` compared with those of Drake's.

use crate::camera::away_from_edges;
use crate::npz;
use crate::support::{Family, find, load, number, numbers};
use nalgebra::{Isometry3, Vector3};
use tarragon::geometry::render::{RenderEngineCpu, RenderEngineCpuParams};
use tarragon::geometry::{RenderLabel, Sphere};
use tarragon::prelude::*;
use tarragon::sensors::{
    CameraInfo, ClippingRange, ColorRenderCamera, DepthRange, DepthRenderCamera, RenderCameraCore,
};

#[test]
fn images_and_pose_match_drake() {
    let Some(all) = load("camera/camera.json.gz") else {
        return;
    };
    let v = &all["rgbd_sensor"];
    let Some(file) = v["npz"].as_str().and_then(|f| find(&format!("camera/{f}"))) else {
        return;
    };
    let recorded = npz::read(&file);
    let size = |key: &str| number(&v[key]) as usize;
    let info = CameraInfo::from_fov_y(size("width"), size("height"), number(&v["fov_y"])).unwrap();
    let [near, far] = numbers(&v["clip"]);
    let clipping = ClippingRange::new(near, far).unwrap();
    let x_bc = Isometry3::from(Vector3::from(numbers::<3>(&v["X_BC_p"])));
    let core = |x_bs| RenderCameraCore::new("cpu", info, clipping, x_bs);
    let color = ColorRenderCamera::from_core(core(x_bc));
    let [low, high] = numbers(&v["depth"]);
    let range = DepthRange::new(low, high).unwrap();
    let depth = DepthRenderCamera::from_core(core(Isometry3::identity()), range).unwrap();

    let mut scene = SceneGraph::new();
    let engine = RenderEngineCpu::new(RenderEngineCpuParams::default()).unwrap();
    scene.add_renderer("cpu", engine).unwrap();
    let (world, source) = (scene.world_frame_id(), scene.register_source("it").unwrap());
    let red = Rgba::new(1.0, 0.0, 0.0, 1.0).unwrap();
    let look = PerceptionProperties::phong(red).with_label(RenderLabel::new(5).unwrap());
    let at = Isometry3::from(Vector3::from(numbers::<3>(&v["sphere"]["p"])));
    let sphere = Sphere::new(number(&v["sphere"]["r"])).unwrap();
    let sphere = GeometryInstance::new(at, sphere, "sphere")
        .unwrap()
        .with_perception(look);
    scene.register_anchored_geometry(source, sphere).unwrap();
    let mut b = DiagramBuilder::new();
    let scene = b.add("scene_graph", scene);
    let sensor = RgbdSensor::new(world, Isometry3::identity(), color, depth);
    let sensor = b.add_f64("sensor", sensor);
    b.connect(scene.query, sensor.geometry_query);
    let ctx = b.build().unwrap().default_context();

    let doubles = |v: &[u8]| v.iter().map(|x| f64::from(*x)).collect::<Vec<_>>();
    let label = ctx.eval(sensor.label_image).unwrap().data();
    let label: Vec<f64> = label.iter().map(|x| f64::from(*x)).collect();
    let metres = ctx.eval(sensor.depth_image_32f).unwrap().data();
    let metres: Vec<f64> = metres.iter().map(|x| f64::from(*x)).collect();
    let millimetres = ctx.eval(sensor.depth_image_16u).unwrap().data();
    let millimetres: Vec<f64> = millimetres.iter().map(|x| f64::from(*x)).collect();
    let color = doubles(ctx.eval(sensor.color_image).unwrap().data());

    // VTK draws spheres as polyhedra and smooths silhouettes: values are compared away from these.
    let depths = recorded["d32"].values();
    let seen: Vec<f64> = depths.iter().map(|z| f64::from(z.is_finite())).collect();
    let inside = |labels: &[f64]| away_from_edges(labels, info.width());
    let (depth_inside, label_inside) = (inside(&seen), inside(&recorded["label"].values()));
    let fraction = |ours: &[f64], name: &str, counts: &[bool], tolerance: fn(f64) -> f64| {
        let recorded = recorded[name].values();
        assert_eq!(ours.len(), recorded.len(), "{name}");
        let channels = ours.len() / counts.len();
        let pairs = ours.iter().zip(&recorded).enumerate();
        let counted = pairs.filter(|(i, _)| counts[i / channels]);
        let differ = |a: f64, b: f64| a != b && (a - b).abs() > tolerance(b);
        let other = counted.filter(|(_, (a, b))| differ(**a, **b)).count();
        other as f64 / ours.len() as f64
    };
    let everywhere = vec![true; label.len()];
    let x_wb = ctx
        .eval(sensor.body_pose_in_world)
        .unwrap()
        .to_homogeneous();
    let expected: [f64; 12] = numbers(&v["X_WB_port"]);
    let pose = (0..12)
        .map(|i| (x_wb[(i / 4, i % 4)] - expected[i]).abs())
        .fold(0.0, f64::max);
    let mut family = Family::new("RgbdSensor ports");
    family.case(
        || "sphere".into(),
        &[
            ("X_WB", pose, 0.0),
            // Two pixels in a thousand on the silhouette.
            (
                "labels that differ",
                fraction(&label, "label", &everywhere, |_| 0.0),
                0.002,
            ),
            // The polyhedron is a few millimetres inside the sphere.
            (
                "depths off by 1 %",
                fraction(&metres, "d32", &depth_inside, |z| 0.01 * z),
                0.0,
            ),
            (
                "depths off by 1 %, 16 bit",
                fraction(&millimetres, "d16", &depth_inside, |z| 0.01 * z),
                0.0,
            ),
            // The polyhedron's normals are interpolated; near the silhouette, colours change by 100
            // levels per pixel.
            (
                "colours off by 16 of 255",
                fraction(&color, "color", &label_inside, |_| 16.0),
                0.0,
            ),
        ],
    );
    family.finish();
}
