//! Meshes of tetrahedra on a regular grid.

#![allow(clippy::unwrap_used, reason = "a bench fails by panicking")]

use nalgebra::Vector3;
use std::fmt::Write;
use tarragon::geometry::{InMemoryMesh, MemoryFile, Mesh, Shape};

/// A grid of `6 n^3` tetrahedra in a file in memory, with its points moved by `map` from the cube
/// from -1 to 1.
pub(crate) fn vtk_grid(n: usize, map: impl Fn(Vector3<f64>) -> Vector3<f64>) -> Shape {
    let at = |p: [usize; 3]| (p[0] * (n + 1) + p[1]) * (n + 1) + p[2];
    let steps = |n: usize| {
        (0..n).flat_map(move |i| (0..n).flat_map(move |j| (0..n).map(move |k| [i, j, k])))
    };
    let mut text =
        "# vtk DataFile Version 3.0\ngrid\nASCII\nDATASET UNSTRUCTURED_GRID\n".to_owned();
    writeln!(text, "POINTS {} double", (n + 1).pow(3)).unwrap();
    for p in steps(n + 1) {
        let unit = Vector3::from(p.map(|i| 2.0 * i as f64 / n as f64 - 1.0));
        let p = map(unit);
        writeln!(text, "{:?} {:?} {:?}", p.x, p.y, p.z).unwrap();
    }
    let count = 6 * n.pow(3);
    writeln!(text, "CELLS {count} {}", 5 * count).unwrap();
    let orders = [
        [0, 1, 2],
        [1, 2, 0],
        [2, 0, 1],
        [0, 2, 1],
        [1, 0, 2],
        [2, 1, 0],
    ];
    for cube in steps(n) {
        for (k, order) in orders.into_iter().enumerate() {
            let mut corner = cube;
            let mut tetrahedron = vec![at(corner)];
            for axis in order {
                corner[axis] += 1;
                tetrahedron.push(at(corner));
            }
            if k >= 3 {
                tetrahedron.swap(2, 3);
            }
            let [a, b, c, d]: [usize; 4] = tetrahedron.try_into().unwrap();
            writeln!(text, "4 {a} {b} {c} {d}").unwrap();
        }
    }
    writeln!(text, "CELL_TYPES {count}").unwrap();
    text += &"10\n".repeat(count);
    let file = MemoryFile::new(text.into_bytes(), ".vtk", "grid.vtk");
    Mesh::new(InMemoryMesh::new(file)).into()
}
