//! Point clouds: fields, neighbourhoods, down-sampling, and clouds from images.

use nalgebra::{Isometry3, Vector3};
use proptest::prelude::*;
use std::collections::BTreeMap;
use tarragon_framework::prelude::*;
use tarragon_geometry::render::{RenderEngineCpu, RenderEngineCpuParams};
use tarragon_geometry::{GeometryInstance, PerceptionProperties, SceneGraph, Sphere};
use tarragon_sensors::*;

type V = Vector3<f32>;

fn cloud_of(points: &[[f32; 3]]) -> PointCloud {
    let mut cloud = PointCloud::new(points.len(), BaseField::XYZS);
    cloud
        .xyzs_mut()
        .iter_mut()
        .zip(points)
        .for_each(|(to, p)| *to = V::from(*p));
    cloud
}

fn points(cloud: &PointCloud) -> Vec<[f32; 3]> {
    cloud.xyzs().iter().map(|p| [p.x, p.y, p.z]).collect()
}

/// Returns a generator of reproducible numbers from 0 to 1.
fn numbers(seed: u64) -> impl FnMut() -> f32 {
    let mut state = seed;
    move || {
        // Knuth's MMIX generator; only the upper bits are random enough.
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 40) as f32 / (1_u64 << 24) as f32
    }
}

#[test]
fn new_values_are_unknown_and_old_ones_are_kept() {
    let mut cloud = cloud_of(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    let mut fields = cloud.fields();
    fields.base_fields = fields.base_fields | BaseField::RGBS | BaseField::NORMALS;
    fields.descriptor = Some(DescriptorType::CURVATURE);
    cloud.set_fields(fields);
    assert!(cloud.has_rgbs() && cloud.has_normals() && cloud.has_descriptors());
    assert_eq!(cloud.rgbs(), [[0; 3]; 2]);
    assert!(cloud.normals()[1].x.is_nan() && cloud.descriptors()[1].is_nan());
    cloud.resize(3);
    assert_eq!(points(&cloud)[..2], [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    assert!(cloud.xyzs()[2].x.is_nan());
    cloud.resize(1);
    assert_eq!(
        (cloud.size(), cloud.descriptors().len(), cloud.rgbs().len()),
        (1, 1, 1)
    );
    cloud.set_fields(BaseField::RGBS);
    assert!(!cloud.has_xyzs() && cloud.xyzs().is_empty() && cloud.descriptors().is_empty());
    for message in [
        cloud.crop(V::zeros(), V::zeros()).unwrap_err().to_string(),
        cloud.finite_points().unwrap_err().to_string(),
        cloud.voxelized_down_sample(1.0).unwrap_err().to_string(),
        cloud.estimate_normals(1.0, 3).unwrap_err().to_string(),
        cloud
            .flip_normals_toward_point(V::zeros())
            .unwrap_err()
            .to_string(),
    ] {
        assert!(
            message.contains("the cloud must have positions (BaseField::XYZS), got rgbs"),
            "{message}"
        );
    }
}

#[test]
fn fields_can_be_copied_separately() {
    let mut from = PointCloud::new(3, BaseField::XYZS | BaseField::RGBS);
    from.rgbs_mut()[2] = [1, 2, 3];
    let mut to = cloud_of(&[[1.0, 2.0, 3.0]]);
    let message = to
        .set_from(&from, Some(BaseField::RGBS.into()))
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("this cloud must have rgbs, got xyzs"),
        "{message}"
    );
    assert_eq!(to, cloud_of(&[[1.0, 2.0, 3.0]]));
    to.set_fields(BaseField::XYZS | BaseField::RGBS);
    to.set_from(&from, Some(BaseField::RGBS.into())).unwrap();
    assert_eq!(
        (to.size(), to.rgbs()[2], to.xyzs()[0].x),
        (3, [1, 2, 3], 1.0)
    );
    to.set_from(&from, None).unwrap();
    assert_eq!(to.rgbs(), from.rgbs());
    assert!(to.xyzs()[0].x.is_nan());
}

/// Recorded from pydrake 1.51.1, where the order of the cells is arbitrary.
#[test]
fn grid_cells_agree_with_drake() {
    let x = [0.1, 0.2, 0.9, -0.1, f32::NAN];
    let mut cloud = cloud_of(&x.map(|x| [x, 0.0, 0.0]));
    cloud.set_fields(BaseField::XYZS | BaseField::RGBS);
    for (rgb, value) in cloud.rgbs_mut().iter_mut().zip([1, 2, 100, 255, 7]) {
        *rgb = [value; 3];
    }
    let half = cloud.voxelized_down_sample(0.5).unwrap();
    assert_eq!(
        points(&half),
        [[0.15, 0.0, 0.0], [0.9, 0.0, 0.0], [-0.1, 0.0, 0.0]]
    );
    // Drake truncates the mean 1.5 of the first cell to 1; here it is rounded.
    assert_eq!(half.rgbs(), [[2; 3], [100; 3], [255; 3]]);
    let fine = cloud.voxelized_down_sample(0.15).unwrap();
    assert_eq!(fine.rgbs(), [[1; 3], [2; 3], [100; 3], [255; 3]]);
    let cropped = cloud.crop(V::zeros(), V::new(0.2, 1.0, 1.0)).unwrap();
    assert_eq!(points(&cropped), [[0.1, 0.0, 0.0], [0.2, 0.0, 0.0]]);
    assert_eq!(cropped.rgbs(), [[1; 3], [2; 3]]);
    for size in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(cloud.voxelized_down_sample(size).is_err(), "{size}");
    }
    assert!(cloud.crop(V::zeros(), V::new(1.0, -1.0, 1.0)).is_err());
}

#[test]
fn down_sampling_averages_all_fields() {
    let mut cloud = PointCloud::new(
        4,
        Fields {
            base_fields: BaseField::XYZS | BaseField::NORMALS,
            descriptor: Some(DescriptorType::new(2, "two")),
        },
    );
    cloud.xyzs_mut().fill(V::repeat(0.5));
    cloud.normals_mut()[..3].copy_from_slice(&[V::x(), V::y(), V::new(f32::NAN, 0.0, 0.0)]);
    cloud.descriptors_mut()[..5].copy_from_slice(&[1.0, 10.0, 3.0, f32::NAN, 8.0]);
    let mean = cloud.voxelized_down_sample(1.0).unwrap();
    let expected = V::new(1.0, 1.0, 0.0).normalize();
    assert!((mean.normals()[0] - expected).norm() < 1e-7);
    assert_eq!(
        mean.descriptors(),
        [4.0, 10.0],
        "values that are not finite are left out"
    );
}

/// The same as in pydrake 1.51.1: of five points on a line, three are neighbours.
#[test]
fn isolated_points_have_no_normals() {
    let x = [0.1, 0.2, 0.9, -0.1, f32::NAN];
    let mut cloud = cloud_of(&x.map(|x| [x, 0.0, 0.0]));
    assert!(!cloud.estimate_normals(0.5, 3).unwrap());
    for (i, known) in [true, true, false, true, false].into_iter().enumerate() {
        let normal = cloud.normals()[i];
        assert_eq!(normal.x.is_nan(), !known, "{i}");
        assert!(
            !known || normal.x.abs() < 1e-6 && (normal.norm() - 1.0).abs() < 1e-6,
            "{normal}"
        );
    }
    assert!(cloud.estimate_normals(0.5, 2).is_err());
    assert!(cloud.estimate_normals(0.0, 3).is_err());
    assert!(cloud.estimate_normals(f64::NAN, 3).is_err());
    assert!(
        !cloud.estimate_normals(f64::INFINITY, 3).unwrap(),
        "one point is NaN"
    );
}

#[test]
fn normals_of_a_sphere_point_outwards_after_flipping() {
    let mut next = numbers(7);
    let mut directions = vec![];
    while directions.len() < 4000 {
        let v = V::new(next(), next(), next()) * 2.0 - V::repeat(1.0);
        if (0.1..1.0).contains(&v.norm()) {
            directions.push(v.normalize());
        }
    }
    let center = V::new(10.0, -5.0, 2.0);
    let mut cloud = PointCloud::new(directions.len(), BaseField::XYZS);
    for (xyz, direction) in cloud.xyzs_mut().iter_mut().zip(&directions) {
        *xyz = center + direction;
    }
    assert!(cloud.estimate_normals(0.3, 20).unwrap());
    cloud.flip_normals_toward_point(center).unwrap();
    for (normal, direction) in cloud.normals().iter().zip(&directions) {
        // Twenty of 4000 points lie within 0.15 rad; half of that is a generous bound for the tilt
        // of their plane.
        assert!(
            normal.dot(direction) < -(0.075_f32.cos()),
            "{normal} {direction}"
        );
    }
    // The result is the same to the bit for any number of threads.
    let again = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let mut cloud = cloud.clone();
        pool.install(|| cloud.estimate_normals(0.3, 20).unwrap());
        cloud
    };
    assert_eq!(again(1), again(3));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Compares with brute force: normals come from the nearest points, and cells follow their
    /// definition.
    #[test]
    fn neighbours_and_cells_follow_their_definitions(seed in any::<u64>(), n in 3..60_usize, radius in 0.1..0.8_f32, count in 3..12_usize) {
        let mut next = numbers(seed);
        let list: Vec<[f32; 3]> = (0..n).map(|_| [next(), next(), next()]).collect();
        let mut cloud = cloud_of(&list);
        cloud.estimate_normals(radius.into(), count).unwrap();
        for (i, p) in cloud.xyzs().iter().enumerate() {
            let mut near: Vec<(f32, usize)> = cloud.xyzs().iter().enumerate()
                .map(|(k, q)| ((q - p).norm_squared(), k))
                .filter(|(d, _)| *d <= radius * radius)
                .collect();
            near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            near.truncate(count);
            let normal = cloud.normals()[i].cast::<f64>();
            prop_assert_eq!(normal.x.is_nan(), near.len() < 2);
            if near.len() < 3 {
                continue;
            }
            let q: Vec<Vector3<f64>> = near.iter().map(|(_, k)| cloud.xyzs()[*k].cast()).collect();
            let mean = q.iter().sum::<Vector3<f64>>() / q.len() as f64;
            let spread = |v: &Vector3<f64>| q.iter().map(|q| (q - mean).dot(v).powi(2)).sum::<f64>();
            // No direction has a smaller spread; the margin covers the rounding of normals to f32
            // in a unit cube.
            let least = spread(&normal);
            for _ in 0..20 {
                let v = Vector3::new(next(), next(), next()).cast::<f64>() - Vector3::repeat(0.5);
                if v.norm() > 0.01 {
                    prop_assert!(least <= spread(&v.normalize()) + 1e-5);
                }
            }
        }
        let size = f64::from(radius);
        let mut cells: BTreeMap<[i64; 3], Vec<Vector3<f64>>> = BTreeMap::new();
        for p in cloud.xyzs() {
            let p = p.cast::<f64>();
            cells.entry([p.x, p.y, p.z].map(|x| (x / size).floor() as i64)).or_default().push(p);
        }
        let fewer = cloud.voxelized_down_sample(size).unwrap();
        prop_assert_eq!(fewer.size(), cells.len());
        for members in cells.values() {
            let mean = members.iter().sum::<Vector3<f64>>() / members.len() as f64;
            prop_assert!(fewer.xyzs().iter().any(|p| (p.cast::<f64>() - mean).norm() < 1e-6));
        }
    }

}

/// Points from a depth image of a ball lie on the ball.
#[test]
fn points_lie_on_the_rendered_surface() {
    let center = Vector3::new(0.2, -0.1, 2.0);
    let mut scene = SceneGraph::new();
    let engine = RenderEngineCpu::new(RenderEngineCpuParams::default()).unwrap();
    scene.add_renderer("cpu", engine).unwrap();
    let (world, source) = (
        scene.world_frame_id(),
        scene.register_source("toys").unwrap(),
    );
    let ball = GeometryInstance::new(
        Isometry3::translation(0.2, -0.1, 2.0),
        Sphere::new(0.5).unwrap(),
        "ball",
    )
    .unwrap()
    .with_perception(PerceptionProperties::new());
    scene.register_anchored_geometry(source, ball).unwrap();
    let info = CameraInfo::new(65, 49, 70.0, 60.0, 30.0, 26.0).unwrap();
    let core = RenderCameraCore::new(
        "cpu",
        info,
        ClippingRange::new(0.1, 10.0).unwrap(),
        Isometry3::identity(),
    );
    let camera = DepthRenderCamera::from_core(core, DepthRange::new(0.1, 5.0).unwrap()).unwrap();
    let x_wb = tarragon_framework::math::pose_xyz_rpy(
        Vector3::new(0.1, 0.2, -0.3),
        Vector3::new(0.05, -0.1, 0.3),
    );
    let mut b = DiagramBuilder::new();
    let scene = b.add("scene_graph", scene);
    let sensor = b.add_f64("sensor", RgbdSensor::from_depth_camera(world, x_wb, camera));
    b.connect(scene.query, sensor.geometry_query);
    let fields = BaseField::XYZS | BaseField::RGBS;
    let metres = b.add_f64(
        "metres",
        DepthImageToPointCloud::<Depth32F>::new(info, fields).unwrap(),
    );
    let millimetres = b.add_f64(
        "mm",
        DepthImageToPointCloud::<Depth16U>::new(info, BaseField::XYZS).unwrap(),
    );
    b.connect(sensor.depth_image_32f, metres.depth_image);
    b.connect(sensor.color_image, metres.color_image);
    b.connect(sensor.body_pose_in_world, metres.camera_pose);
    b.connect(sensor.depth_image_16u, millimetres.depth_image);
    b.connect(sensor.body_pose_in_world, millimetres.camera_pose);
    let ctx = b.build().unwrap().default_context();
    let labels = ctx
        .eval(sensor.depth_image_32f)
        .unwrap()
        .data()
        .iter()
        .filter(|d| d.is_finite())
        .count();
    let clouds = [
        ctx.eval(metres.point_cloud).unwrap(),
        ctx.eval(millimetres.point_cloud).unwrap(),
    ];
    // Tolerances: rounding of f32 at 2 m, and of whole millimetres along rays that are at most 30
    // degrees oblique.
    for (cloud, tolerance) in clouds.into_iter().zip([1e-6, 1.2e-3]) {
        assert_eq!(cloud.size(), 65 * 49);
        let seen = cloud.finite_points().unwrap();
        assert!(seen.size() == labels && labels > 300, "{labels}");
        for p in seen.xyzs() {
            // Depths are rounded along the ray, and the error grows the more obliquely the ray
            // meets the surface.
            let p = p.cast::<f64>();
            let ray = (p - x_wb.translation.vector).normalize();
            let oblique = (p - center).normalize().dot(&ray).abs().max(0.02);
            let error = (p - center).norm() - 0.5;
            assert!(error.abs() < tolerance / oblique.min(1.0), "{error} at {p}");
        }
    }
    let colors = clouds[0].rgbs();
    assert_eq!(colors[0], [204, 229, 255]);
    assert!(clouds[0].xyzs()[0].iter().all(|x| *x == f32::INFINITY));
}

#[test]
fn conversion_checks_fields_scales_and_sizes() {
    let info = CameraInfo::from_fov_y(4, 3, 1.0).unwrap();
    let make = |fields| DepthImageToPointCloud::<Depth16U>::new(info, fields);
    assert!(make(BaseField::RGBS).is_err() && make(BaseField::XYZS | BaseField::NORMALS).is_err());
    assert!(make(BaseField::XYZS).unwrap().with_scale(0.0).is_err());
    let (depth, mut cloud) = (
        Image::<Depth16U>::with_value(4, 3, 2000),
        PointCloud::default(),
    );
    let plain = make(BaseField::XYZS).unwrap();
    plain.convert(&depth, None, None, &mut cloud).unwrap();
    assert!(cloud.xyzs().iter().all(|p| p.z == 2.0));
    let tenths = plain.clone().with_scale(0.0001).unwrap();
    tenths.convert(&depth, None, None, &mut cloud).unwrap();
    assert!(cloud.xyzs().iter().all(|p| (p.z - 0.2).abs() < 1e-7));
    let colored = make(BaseField::XYZS | BaseField::RGBS).unwrap();
    let mut message = |depth: &ImageDepth16U, color: Option<&ImageRgba8U>| {
        colored
            .convert(depth, color, None, &mut cloud)
            .unwrap_err()
            .to_string()
    };
    assert!(message(&depth, None).contains("connect 'color_image'"));
    assert!(message(&depth, Some(&ImageRgba8U::new(3, 3))).contains("got 3 x 3"));
    assert!(message(&ImageDepth16U::new(5, 3), None).contains("got 5 x 3"));
}

#[test]
fn clouds_are_concatenated_in_order() {
    let mut fields = Fields::from(BaseField::XYZS | BaseField::NORMALS | BaseField::RGBS);
    fields.descriptor = Some(DescriptorType::new(2, "pair"));
    let cloud = |size: usize, seed: u64| {
        let mut number = numbers(seed);
        let mut cloud = PointCloud::new(size, fields);
        cloud.xyzs_mut().fill_with(|| V::from_fn(|_, _| number()));
        cloud
            .normals_mut()
            .fill_with(|| V::from_fn(|_, _| number()));
        cloud.rgbs_mut().fill_with(|| [(number() * 255.0) as u8; 3]);
        cloud.descriptors_mut().fill_with(&mut number);
        cloud
    };
    let (a, none, b) = (cloud(3, 1), cloud(0, 2), cloud(2, 3));
    let joined = PointCloud::concatenate([&a, &none, &b]).unwrap();
    assert_eq!((joined.size(), joined.fields()), (5, fields));
    assert_eq!(joined.xyzs(), [a.xyzs(), b.xyzs()].concat());
    assert_eq!(joined.normals(), [a.normals(), b.normals()].concat());
    assert_eq!(joined.rgbs(), [a.rgbs(), b.rgbs()].concat());
    assert_eq!(
        joined.descriptors(),
        [a.descriptors(), b.descriptors()].concat()
    );
    assert_eq!(PointCloud::concatenate([&a]).unwrap(), a);

    let positions = cloud_of(&[[0.0; 3]]);
    let error = PointCloud::concatenate([&a, &positions]).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("cloud 1 must have the fields of cloud 0"),
        "{error}"
    );
    let error = PointCloud::concatenate([]).unwrap_err().to_string();
    assert!(error.contains("at least one cloud"), "{error}");
}
