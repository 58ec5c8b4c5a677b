//! Parses arbitrary bytes as a COLLADA file. A mesh has indices in range and finite numbers.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::path::Path;
use tarragon_geometry::mesh::{RenderMesh, parse_dae};

fuzz_target!(|bytes: &[u8]| {
    let Ok(mesh) = parse_dae(Path::new("fuzz.dae"), bytes) else {
        return;
    };
    let RenderMesh {
        positions,
        normals,
        uvs,
        triangles,
        triangle_normals,
        triangle_uvs,
        groups,
        materials,
        ..
    } = mesh;
    let finite = positions.iter().all(|p| p.iter().all(|x| x.is_finite()));
    assert!(finite);
    assert!(normals.iter().all(|n| (n.norm() - 1.0).abs() < 1e-6));
    let below = |all: &[[u32; 3]], n: usize| all.iter().flatten().all(|i| (*i as usize) < n);
    assert!(below(&triangles, positions.len()));
    assert!(below(&triangle_normals, normals.len()));
    assert_eq!(triangles.len(), triangle_normals.len());
    let uv = |i: &u32| *i == RenderMesh::NO_UV || (*i as usize) < uvs.len();
    assert!(triangle_uvs.iter().flatten().all(uv));
    assert!(triangle_uvs.is_empty() || triangle_uvs.len() == triangles.len());
    let mut at = 0;
    for group in groups {
        assert_eq!(group.triangles.start, at);
        at = group.triangles.end;
        assert!(group.material.is_none_or(|m| m < materials.len()));
    }
    assert_eq!(at, triangles.len());
});
