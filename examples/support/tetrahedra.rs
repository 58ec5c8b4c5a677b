//! Meshes of tetrahedra for the examples with deformable bodies.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;
use tarragon::prelude::*;

/// A mesh of tetrahedra.
pub(crate) struct Tetrahedra {
    pub(crate) vertices: Vec<Vector3<f64>>,
    pub(crate) elements: Vec<[usize; 4]>,
}

/// The axes in every order, and whether the order is even.
const ORDERS: [([usize; 3], bool); 6] = [
    ([0, 1, 2], true),
    ([1, 2, 0], true),
    ([2, 0, 1], true),
    ([0, 2, 1], false),
    ([2, 1, 0], false),
    ([1, 0, 2], false),
];

impl Tetrahedra {
    /// Cuts every cell of a grid whose centre is inside into six tetrahedra, one for each way along
    /// three edges from one corner to the opposite one. The cells have `size` (m) and begin at
    /// `origin`.
    pub(crate) fn fill(
        origin: Vector3<f64>,
        size: Vector3<f64>,
        counts: [usize; 3],
        is_inside: impl Fn(&Vector3<f64>) -> bool,
    ) -> Self {
        let at = |corner: [usize; 3]| {
            origin + Vector3::from(corner.map(|i| i as f64)).component_mul(&size)
        };
        let (mut vertices, mut elements) = (vec![], vec![]);
        let mut known: HashMap<[usize; 3], usize> = HashMap::new();
        for cell in 0..counts.iter().product() {
            let low = [
                cell % counts[0],
                cell / counts[0] % counts[1],
                cell / counts[0] / counts[1],
            ];
            if !is_inside(&(at(low) + size / 2.0)) {
                continue;
            }
            for (order, is_even) in ORDERS {
                let mut corner = low;
                let mut element = [0; 4];
                for (step, vertex) in element.iter_mut().enumerate() {
                    *vertex = *known.entry(corner).or_insert_with(|| {
                        vertices.push(at(corner));
                        vertices.len() - 1
                    });
                    if let Some(axis) = order.get(step) {
                        corner[*axis] += 1;
                    }
                }
                if !is_even {
                    element.swap(0, 1);
                }
                elements.push(element);
            }
        }
        Self { vertices, elements }
    }

    /// Returns the volume of an element (m³).
    fn volume(&self, element: &[usize; 4]) -> f64 {
        let [a, b, c, d] = element.map(|v| self.vertices[v]);
        (b - a).cross(&(c - a)).dot(&(d - a)) / 6.0
    }

    /// Moves the vertices of the boundary onto a surface, given by the vectors to it, as far as all
    /// elements keep an eighth of their volume.
    pub(crate) fn fit(&mut self, to_surface: impl Fn(&Vector3<f64>) -> Vector3<f64>) {
        let mut around = vec![vec![]; self.vertices.len()];
        let mut faces: HashMap<[usize; 3], usize> = HashMap::new();
        for (e, element) in self.elements.iter().enumerate() {
            for (k, v) in element.iter().enumerate() {
                around[*v].push(e);
                let mut face = [1, 2, 3].map(|i| element[(k + i) % 4]);
                face.sort_unstable();
                *faces.entry(face).or_default() += 1;
            }
        }
        let outer = faces.iter().filter(|(_, count)| **count == 1);
        let mut outer: Vec<usize> = outer.flat_map(|(face, _)| *face).collect();
        outer.sort_unstable();
        outer.dedup();
        let least: Vec<f64> = self.elements.iter().map(|e| self.volume(e) / 8.0).collect();
        for v in outer {
            let start = self.vertices[v];
            let way = to_surface(&start);
            for part in [1.0, 0.5, 0.25, 0.0] {
                self.vertices[v] = start + part * way;
                let is_kept = |e: &usize| self.volume(&self.elements[*e]) >= least[*e];
                if around[v].iter().all(is_kept) {
                    break;
                }
            }
        }
    }

    /// Writes the mesh as a VTK file.
    pub(crate) fn save(&self, path: &Path) -> std::io::Result<()> {
        let mut text = String::from("# vtk DataFile Version 3.0\nmesh\nASCII\n");
        text += "DATASET UNSTRUCTURED_GRID\n";
        // Writing into a string never fails.
        let _ = writeln!(text, "POINTS {} double", self.vertices.len());
        for p in &self.vertices {
            let _ = writeln!(text, "{:?} {:?} {:?}", p.x, p.y, p.z);
        }
        let count = self.elements.len();
        let _ = writeln!(text, "CELLS {count} {}", 5 * count);
        for [a, b, c, d] in &self.elements {
            let _ = writeln!(text, "4 {a} {b} {c} {d}");
        }
        let _ = writeln!(text, "CELL_TYPES {count}\n{}", "10\n".repeat(count));
        std::fs::write(path, text)
    }
}
