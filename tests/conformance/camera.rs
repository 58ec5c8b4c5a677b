//! Cameras and images compared with Drake's CameraInfo, RenderCameraCore and RenderEngineVtk.

use crate::npz::{self, Array};
use crate::support::{Family, difference, find, load, number, numbers};
use nalgebra::{Isometry3, Matrix4, Vector3};
use serde_json::Value;
use std::collections::BTreeMap;
use tarragon::framework::math;
use tarragon::geometry::render::{
    CameraInfo, ClippingRange, ColorRenderCamera, DepthRange, DepthRenderCamera, Image,
    ImageDepth16U, ImageDepth32F, PixelType, RenderCameraCore, RenderEngine, RenderEngineCpu,
    RenderEngineCpuParams, RenderView,
};
use tarragon::geometry::{
    BoxShape, Capsule, Cylinder, Ellipsoid, GeometryId, HalfSpace, PerceptionProperties,
    RenderLabel, Rgba, Shape, Sphere,
};

fn recorded() -> Option<Value> {
    load("camera/camera.json.gz")
}

fn items(v: &Value) -> &[Value] {
    v.as_array().expect("an array")
}

fn size(v: &Value) -> usize {
    v.as_u64().expect("a size") as usize
}

fn camera_info(v: &Value) -> CameraInfo {
    let [fx, fy, cx, cy] = ["fx", "fy", "cx", "cy"].map(|k| number(&v[k]));
    CameraInfo::new(size(&v["width"]), size(&v["height"]), fx, fy, cx, cy).expect("it was valid")
}

fn core(v: &Value) -> RenderCameraCore {
    let clipping = ClippingRange::new(number(&v["near"]), number(&v["far"])).expect("it was valid");
    RenderCameraCore::new(
        "cpu",
        camera_info(&v["info"]),
        clipping,
        Isometry3::identity(),
    )
}

#[test]
fn projections_match_drake() {
    let Some(all) = recorded() else { return };
    let mut family = Family::new("camera projection");
    for case in items(&all["projection"]) {
        let core = core(case);
        let info = core.intrinsics();
        let p = core.calc_projection_matrix();
        let expected = Matrix4::from_row_slice(&numbers::<16>(&case["P_row_major"]));
        let k = info.intrinsic_matrix().transpose();
        let fov = [info.fov_x(), info.fov_y()];
        let recorded_fov = ["fov_x", "fov_y"].map(|k| number(&case["info"][k]));
        let mut errors = vec![
            ("P", difference(p.as_slice(), expected.as_slice()), 1e-12),
            (
                "K",
                difference(k.as_slice(), &numbers::<9>(&case["info"]["K"])),
                1e-12,
            ),
            ("fov", difference(&fov, &recorded_fov), 1e-12),
        ];
        if case["name"] == "fov" {
            let from_fov = CameraInfo::from_fov_y(info.width(), info.height(), recorded_fov[1])
                .expect("it was valid");
            errors.push((
                "from_fov_y",
                difference(
                    from_fov.intrinsic_matrix().as_slice(),
                    info.intrinsic_matrix().as_slice(),
                ),
                1e-12,
            ));
        }
        family.case(|| format!("{} {}", case["name"], case["info"]), &errors);
    }
    family.finish();
}

#[test]
fn invalid_cameras_are_refused_as_in_drake() {
    let Some(all) = recorded() else { return };
    let pi = std::f64::consts::PI;
    let clip = |near, far| ClippingRange::new(near, far).map(|_| ());
    let depth = |min, max| DepthRange::new(min, max).map(|_| ());
    let depth_in_clip = || {
        let info = CameraInfo::from_fov_y(10, 10, 1.0)?;
        let core = RenderCameraCore::new(
            "r",
            info,
            ClippingRange::new(0.1, 1.0)?,
            Isometry3::identity(),
        );
        DepthRenderCamera::from_core(core, DepthRange::new(0.05, 0.9)?).map(|_| ())
    };
    let mut family = Family::new("camera errors");
    for case in items(&all["errors"]) {
        let name = case[0].as_str().expect("a name");
        let ours = match name {
            "zero width" => CameraInfo::from_fov_y(0, 10, 1.0).map(|_| ()),
            // Sizes are unsigned here, so a negative one cannot be written.
            "neg height" => CameraInfo::from_fov_y(10, 0, 1.0).map(|_| ()),
            "fov 0" => CameraInfo::from_fov_y(10, 10, 0.0).map(|_| ()),
            "fov pi" => CameraInfo::from_fov_y(10, 10, pi).map(|_| ()),
            "neg fx" => CameraInfo::new(10, 10, -1.0, 1.0, 5.0, 5.0).map(|_| ()),
            "cx outside" => CameraInfo::new(10, 10, 1.0, 1.0, 12.0, 5.0).map(|_| ()),
            "clip inverted" => clip(1.0, 0.5),
            "clip neg" => clip(-1.0, 0.5),
            "clip inf" => clip(0.1, f64::INFINITY),
            "depth inverted" => depth(2.0, 1.0),
            "depth outside clip" => depth_in_clip(),
            other => panic!("error case '{other}' is not known here"),
        };
        let same = ours.is_err() == case[1].is_string();
        family.case(|| name.into(), &[("outcome", f64::from(!same), 0.0)]);
    }
    family.finish();
}

#[test]
fn depth_conversion_matches_drake() {
    let Some(all) = recorded() else { return };
    let pair = &all["depth32_to_16"];
    let metres: Vec<f32> = items(&pair[0]).iter().map(|v| number(v) as f32).collect();
    let n = metres.len();
    let image = ImageDepth32F::from_data(n, 1, metres).expect("one row");
    let ours = ImageDepth16U::from(&image);
    let mut family = Family::new("camera depth32_to_16");
    for ((metres, ours), expected) in image.data().iter().zip(ours.data()).zip(items(&pair[1])) {
        let error = (f64::from(*ours) - number(expected)).abs();
        family.case(|| format!("{metres} m"), &[("mm", error, 0.0)]);
    }
    family.finish();
}

fn pose(q: &Value, p: &Value) -> Isometry3<f64> {
    let q = math::quaternion_wxyz(numbers(q)).expect("a rotation");
    math::pose(q, Vector3::from(numbers::<3>(p)))
}

fn shape(o: &Value) -> Shape {
    let (r, l) = (|| number(&o["r"]), || number(&o["l"]));
    let valid = "it was valid";
    match o["type"].as_str().expect("a type") {
        "Box" => {
            let [x, y, z] = numbers(&o["size"]);
            BoxShape::new(x, y, z).expect(valid).into()
        }
        "Capsule" => Capsule::new(r(), l()).expect(valid).into(),
        "Cylinder" => Cylinder::new(r(), l()).expect(valid).into(),
        "Ellipsoid" => {
            let [a, b, c] = numbers(&o["abc"]);
            Ellipsoid::new(a, b, c).expect(valid).into()
        }
        "HalfSpace" => HalfSpace.into(),
        "Sphere" => Sphere::new(r()).expect(valid).into(),
        other => panic!("shape {other} is not known here"),
    }
}

/// A recorded scene, set up in our engine.
struct Scene {
    engine: RenderEngineCpu,
    poses: BTreeMap<GeometryId, Isometry3<f64>>,
    x_wc: Isometry3<f64>,
    color: ColorRenderCamera,
    depth: DepthRenderCamera,
    arrays: BTreeMap<String, Array>,
}

impl Scene {
    fn new(v: &Value) -> Option<Self> {
        let file = find(&format!("camera/{}", v["npz"].as_str()?))?;
        let [r, g, b] = numbers(&v["clear_color"]);
        let params = RenderEngineCpuParams {
            default_clear_color: Rgba::new(r, g, b, 1.0).expect("a colour"),
            ..RenderEngineCpuParams::default()
        };
        let mut engine = RenderEngineCpu::new(params).expect("valid parameters");
        let mut poses = BTreeMap::new();
        for o in items(&v["objects"]) {
            let [r, g, b, a] = numbers(&o["rgba"]);
            let label = o["label"].as_i64().expect("a label") as i16;
            let properties = PerceptionProperties::phong(Rgba::new(r, g, b, a).expect("a colour"))
                .with_label(RenderLabel::new(label).expect("a label"));
            let id = GeometryId::new();
            let accepted = engine.register_visual(id, &shape(o), &properties);
            assert!(accepted.expect("valid properties"));
            poses.insert(id, pose(&o["q"], &o["p"]));
        }
        let core = core(v);
        let range = DepthRange::new(number(&v["min_depth"]), number(&v["max_depth"]));
        let depth = DepthRenderCamera::from_core(core.clone(), range.expect("a range"));
        Some(Self {
            engine,
            poses,
            x_wc: pose(&v["X_WC"]["q"], &v["X_WC"]["p"]),
            color: ColorRenderCamera::from_core(core),
            depth: depth.expect("a camera"),
            arrays: npz::read(&file),
        })
    }
    fn draw<P: PixelType>(
        &self,
        draw: impl FnOnce(&RenderView<'_>, &mut Image<P>) -> Result<(), tarragon::geometry::Error>,
    ) -> Image<P> {
        let poses = |id| self.poses.get(&id).copied();
        let info = self.color.core().intrinsics();
        let mut image = Image::new(info.width(), info.height());
        draw(&RenderView::new(self.x_wc, &poses), &mut image).expect("it can be drawn");
        image
    }
    fn array(&self, name: &str) -> Vec<f64> {
        let info = self.color.core().intrinsics();
        let array = &self.arrays[name];
        assert_eq!(array.shape[..2], [info.height(), info.width()]);
        array.values()
    }
}

/// Depth as reported by a camera with this range.
fn in_range(z: f64, range: &DepthRange) -> f64 {
    if z < range.min_depth() {
        0.0
    } else if z > range.max_depth() {
        f64::INFINITY
    } else {
        z
    }
}

fn relative(a: f64, b: f64) -> f64 {
    if a == b { 0.0 } else { (a / b - 1.0).abs() }
}

#[test]
fn depths_match_analytic_depths() {
    let Some(all) = recorded() else { return };
    let mut family = Family::new("camera analytic depth");
    for (k, v) in items(&all["scenes"]).iter().enumerate() {
        let Some(scene) = Scene::new(v) else { continue };
        let depth = scene.draw(|view, image| {
            let e = &scene.engine;
            e.render_depth(view, &scene.depth, image)
        });
        let label = scene.draw(|view, image| {
            let e = &scene.engine;
            e.render_label(view, &scene.color, image)
        });
        for pixel in items(&v["pixels_u_v_depth_label"]) {
            let [x, y, z, l] = numbers(pixel);
            let at = (x as usize, y as usize);
            let ours = f64::from(depth.at(at.0, at.1)[0]);
            let error = relative(ours, in_range(z, scene.depth.depth_range()));
            let wrong_label = f64::from(label.at(at.0, at.1)[0]) != l;
            family.case(
                || format!("scene {k} pixel {at:?}"),
                &[
                    ("depth", error, 1e-6),
                    ("label", f64::from(wrong_label), 0.0),
                ],
            );
        }
        // And every other pixel, except where rounding decides which surface is hit.
        let exact = scene.array("analytic_depth");
        let analytic_label = scene.array("analytic_label");
        let inner = away_from_edges(&analytic_label, depth.width());
        for i in (0..exact.len()).filter(|i| inner[*i]) {
            let expected = in_range(exact[i], scene.depth.depth_range());
            let ours = f64::from(depth.data()[i]);
            family.case(
                || format!("scene {k} pixel {i}"),
                &[("depth", relative(ours, expected), 1e-5)],
            );
        }
    }
    family.finish();
}

/// Marks pixels whose eight neighbours all have the same label.
pub(crate) fn away_from_edges(labels: &[f64], width: usize) -> Vec<bool> {
    let height = labels.len() / width;
    let inner = |i: usize| {
        let (x, y) = (i % width, i / width);
        if x == 0 || y == 0 || x + 1 == width || y + 1 == height {
            return false;
        }
        let around = (y - 1..=y + 1).flat_map(|y| (x - 1..=x + 1).map(move |x| y * width + x));
        around.into_iter().all(|j| labels[j] == labels[i])
    };
    (0..labels.len()).map(inner).collect()
}

fn fraction(n: usize, of: usize) -> f64 {
    n as f64 / of as f64
}

#[test]
fn images_agree_with_vtk() {
    let Some(all) = recorded() else { return };
    let mut family = Family::new("camera images of RenderEngineVtk");
    for (k, v) in items(&all["scenes"]).iter().enumerate() {
        let Some(scene) = Scene::new(v) else { continue };
        let e = &scene.engine;
        let color = scene.draw(|view, image| e.render_color(view, &scene.color, image));
        let depth = scene.draw(|view, image| e.render_depth(view, &scene.depth, image));
        let label = scene.draw(|view, image| e.render_label(view, &scene.color, image));

        let vtk_label = scene.array("vtk_label");
        let n = vtk_label.len();
        let other = label.data().iter().zip(&vtk_label);
        let other = other.filter(|(a, b)| f64::from(**a) != **b).count();

        let inner = away_from_edges(&vtk_label, label.width());
        let vtk_depth = scene.array("vtk_depth32");
        let inner_count = inner.iter().filter(|i| **i).count();
        let far_off = (0..n)
            .filter(|&i| inner[i] && relative(f64::from(depth.data()[i]), vtk_depth[i]) > 1e-3)
            .count();

        let vtk_color = scene.array("vtk_color");
        let difference = |i: usize| {
            let channel =
                |c: usize| (f64::from(color.data()[4 * i + c]) - vtk_color[4 * i + c]).abs();
            (0..4).map(channel).fold(0.0, f64::max)
        };
        let mean = (0..n).map(difference).sum::<f64>() / n as f64;
        let inside = (0..n).filter(|i| inner[*i]);
        let inner_mean = inside.map(difference).sum::<f64>() / inner_count as f64;
        family.case(
            || format!("scene {k}"),
            &[
                ("labels that differ", fraction(other, n), 0.001),
                // VTK draws curved shapes as polyhedra.
                ("depths off by 1e-3", fraction(far_off, inner_count), 0.001),
                // VTK smooths edges and shades polyhedra; in steps of 255.
                ("colours", mean, 0.6),
                ("colours away from edges", inner_mean, 0.4),
            ],
        );
    }
    family.finish();
}
