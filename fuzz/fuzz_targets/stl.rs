//! Parses arbitrary bytes as an STL file. A mesh has valid indices.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::path::Path;
use tarragon_geometry::mesh::parse_stl;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(mesh) = parse_stl(Path::new("fuzzed.stl"), bytes) {
        let n = mesh.positions.len() as u32;
        assert!(mesh.triangles.iter().flatten().all(|i| *i < n));
    }
});
