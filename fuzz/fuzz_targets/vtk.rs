//! Parses arbitrary bytes as a VTK file. A mesh has valid indices and a convex hull; its surface is
//! bounded in size.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::path::Path;
use tarragon_geometry::mesh::{convert_volume_to_surface_mesh, convex_hull, parse_vtk};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(mesh) = parse_vtk(Path::new("fuzzed.vtk"), bytes) {
        let n = mesh.num_vertices() as u32;
        let vertices = mesh.tetrahedra().iter().flat_map(|t| t.vertices());
        assert!(vertices.into_iter().all(|i| i < n));
        if let Ok(surface) = convert_volume_to_surface_mesh(&mesh) {
            assert!(surface.num_triangles() <= 4 * mesh.num_elements());
        }
        let hull = convex_hull(mesh.vertices()).expect("finite vertices have a hull");
        assert!(!hull.vertices.is_empty());
    }
});
