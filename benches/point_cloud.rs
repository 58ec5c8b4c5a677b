//! Benches of point clouds made from 640x480 depth images, and of operations on them.

#![allow(clippy::unwrap_used, reason = "a bench fails by panicking")]
#![allow(missing_docs, reason = "criterion_group! makes undocumented functions")]

use criterion::{Criterion, criterion_group, criterion_main};
use nalgebra::Isometry3;
use std::hint::black_box;
use tarragon::sensors::*;

/// A wave in which every seventeenth pixel is a hole.
fn wave() -> (CameraInfo, ImageDepth32F) {
    let depth = |i: usize| {
        let x = (i % 640) as f32 * 0.01;
        if i.is_multiple_of(17) {
            f32::INFINITY
        } else {
            1.0 + 0.2 * x.sin()
        }
    };
    let image = ImageDepth32F::from_data(640, 480, (0..640 * 480).map(depth).collect());
    (
        CameraInfo::from_fov_y(640, 480, 0.8).unwrap(),
        image.unwrap(),
    )
}

fn point_clouds(c: &mut Criterion) {
    let (info, depth) = wave();
    let color = ImageRgba8U::with_value(640, 480, 7);
    let x_wc = Isometry3::translation(1.0, 2.0, 3.0);
    let mut cloud = PointCloud::default();
    let mut group = c.benchmark_group("point_cloud");
    group.sample_size(20);
    for (name, fields) in [
        ("xyz", BaseField::XYZS),
        ("xyz_rgb", BaseField::XYZS | BaseField::RGBS),
    ] {
        let to_cloud = DepthImageToPointCloud::<Depth32F>::new(info, fields).unwrap();
        group.bench_function(name, |b| {
            b.iter(|| to_cloud.convert(&depth, Some(&color), Some(&x_wc), black_box(&mut cloud)));
        });
    }
    group.bench_function("VoxelizedDownSample(0.01)", |b| {
        b.iter(|| black_box(cloud.voxelized_down_sample(0.01).unwrap()));
    });
    let mut cloud = cloud.voxelized_down_sample(0.005).unwrap();
    group.bench_function("EstimateNormals(0.05,30)", |b| {
        b.iter(|| black_box(cloud.estimate_normals(0.05, 30).unwrap()));
    });
    group.finish();
}

criterion_group!(benches, point_clouds);
criterion_main!(benches);
