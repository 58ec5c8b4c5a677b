//! Parses arbitrary bytes as PLY and as PCD. A cloud has no more points than the file has bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tarragon_sensors::{PointCloudFileFormat, parse_point_cloud};

fuzz_target!(|bytes: &[u8]| {
    for format in [PointCloudFileFormat::Ply, PointCloudFileFormat::Pcd] {
        if let Ok(cloud) = parse_point_cloud(bytes, format) {
            assert!(cloud.size() <= bytes.len() && cloud.xyzs().len() == cloud.size());
        }
    }
});
