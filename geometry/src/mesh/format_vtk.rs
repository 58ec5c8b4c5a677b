//! VTK files of tetrahedral meshes.

use super::volume::VolumeMesh;
use std::fmt::Write;

/// Returns the content of a legacy VTK file, in ASCII, that [`parse_vtk`](super::parse_vtk) reads
/// as the same mesh.
///
/// ```
/// use nalgebra::Vector3;
/// use std::path::Path;
/// use tarragon_geometry::mesh::{VolumeMesh, format_vtk, parse_vtk};
/// let vertices = vec![Vector3::zeros(), Vector3::x() / 3.0, Vector3::y(), Vector3::z()];
/// let mesh = VolumeMesh::new([[0, 1, 2, 3]], vertices)?;
/// assert_eq!(parse_vtk(Path::new("a.vtk"), format_vtk(&mesh).as_bytes())?, mesh);
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
pub fn format_vtk(volume: &VolumeMesh) -> String {
    let (n, m) = (volume.num_vertices(), volume.num_elements());
    let mut text = format!(
        "# vtk DataFile Version 3.0\ntetrahedra, in metres\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS \
         {n} double\n"
    );
    for p in volume.vertices() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{:?} {:?} {:?}", p.x, p.y, p.z);
    }
    let _ = writeln!(text, "CELLS {m} {}", 5 * m);
    for t in volume.tetrahedra() {
        let [a, b, c, d] = t.vertices();
        let _ = writeln!(text, "4 {a} {b} {c} {d}");
    }
    let _ = writeln!(text, "CELL_TYPES {m}");
    text + &"10\n".repeat(m)
}
