//! Closedness and orientation of meshes from files.

use crate::error::{Error, Result};
use crate::mesh::{TriangleSurfaceMesh, VolumeMesh};
use nalgebra::Vector3;
use std::collections::HashMap;

/// Directed edge of a triangle.
#[derive(Clone, Copy)]
struct Edge {
    ends: [u32; 2],
    triangle: usize,
}

/// Numbers of triangles along an edge: from the lower to the higher vertex, and back.
type Count = [u32; 2];

/// Checks that a surface is closed, so that every edge belongs to two triangles that run along it
/// in opposite directions, and that the triangles are counter-clockwise as seen from outside.
/// Vertices at the same position count as one.
///
/// # Errors
/// Returns an error that names the first triangle that is wrong and the cure.
pub(in crate::hydro) fn check_closed_and_oriented(surface: &TriangleSurfaceMesh) -> Result<()> {
    let edges = surface
        .triangles()
        .iter()
        .enumerate()
        .flat_map(|(triangle, t)| {
            let [a, b, c] = t.vertices();
            [[a, b], [b, c], [c, a]].map(|ends| Edge { ends, triangle })
        });
    let (mut open, mut count) = without_pairs(edges.collect());
    if !open.is_empty() {
        // Many files have a vertex of their own for each triangle.
        let positions = surface.vertices();
        let mut known: HashMap<[u64; 3], u32> = HashMap::new();
        for edge in &mut open {
            for v in &mut edge.ends {
                // Adding zero makes both zeros equal.
                let key = positions[*v as usize].map(|x| (x + 0.0).to_bits());
                *v = *known.entry(key.into()).or_insert(*v);
            }
        }
        (open, count) = without_pairs(open);
    }
    if let Some(edge) = open.first() {
        return Err(edge_error(surface, *edge, &count, open.len()));
    }
    let volume = surface.calc_enclosed_volume();
    if volume < 0.0 {
        return Err(Error::invalid(format!(
            "triangles must be counter-clockwise as seen from outside, got a surface that is inside \
             out and encloses {volume:?} m^3, such as {}; reverse the order of the vertices of all \
             triangles",
            triangle_name(surface, 0)
        )));
    }
    Ok(())
}

fn sorted(ends: [u32; 2]) -> [u32; 2] {
    [ends[0].min(ends[1]), ends[0].max(ends[1])]
}

/// Returns the edges that are not in exactly two triangles with opposite directions, in order, and
/// the counts of all edges.
fn without_pairs(mut edges: Vec<Edge>) -> (Vec<Edge>, HashMap<[u32; 2], Count>) {
    edges.retain(|edge| edge.ends[0] != edge.ends[1]);
    let mut count: HashMap<[u32; 2], Count> = HashMap::new();
    for edge in &edges {
        let directions = count.entry(sorted(edge.ends)).or_default();
        directions[usize::from(edge.ends[0] > edge.ends[1])] += 1;
    }
    edges.retain(|edge| count[&sorted(edge.ends)] != [1, 1]);
    (edges, count)
}

fn edge_error(
    surface: &TriangleSurfaceMesh,
    edge: Edge,
    count: &HashMap<[u32; 2], Count>,
    num_open: usize,
) -> Error {
    let [from, to] = edge.ends.map(|v| position(surface.vertex(v as usize)));
    let (wrong, cure) = match count[&sorted(edge.ends)] {
        [0, 1] | [1, 0] => ("one alone", "close the hole there"),
        [0, _] | [_, 0] => (
            "several with the same direction",
            "reverse the order of the vertices of the triangles that face inwards",
        ),
        _ => ("more than two", "separate the surfaces that meet there"),
    };
    Error::invalid(format!(
        "edges must belong to two triangles with opposite directions, got {wrong} at the edge from \
         {from} to {to} m of {}, the first of {num_open} such sides; {cure}",
        triangle_name(surface, edge.triangle)
    ))
}

fn triangle_name(surface: &TriangleSurfaceMesh, triangle: usize) -> String {
    let vertices = surface.element(triangle).vertices();
    let [a, b, c] = vertices.map(|v| position(surface.vertex(v as usize)));
    format!("triangle {triangle} at {a}, {b}, {c} m")
}

fn position(p: &Vector3<f64>) -> String {
    format!("{:?}", p.as_slice())
}

/// Returns true if a tetrahedron has a positive volume.
pub(super) fn is_positive(volume: &VolumeMesh, tetrahedron: usize) -> bool {
    volume.calc_tetrahedron_volume(tetrahedron) > 0.0
}

/// Checks that all tetrahedra have positive volumes.
///
/// # Errors
/// Returns an error that names the first tetrahedron that has none and the cure.
pub(super) fn check_tetrahedra(volume: &VolumeMesh) -> Result<()> {
    let wrong = (0..volume.num_elements()).find(|e| !is_positive(volume, *e));
    let Some(e) = wrong else {
        return Ok(());
    };
    let vertices = volume.element(e).vertices();
    let [a, b, c, d] = vertices.map(|v| position(volume.vertex(v as usize)));
    Err(Error::invalid(format!(
        "tetrahedron {e} at {a}, {b}, {c}, {d} m must have a positive volume, got {:?} m^3; exchange \
         two of its vertices",
        volume.calc_tetrahedron_volume(e)
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORNERS: [[f64; 3]; 5] = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, 0.0, 1.0],
        [0.5, 0.5, 2.0],
    ];
    const TETRAHEDRON: [[u32; 3]; 4] = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];

    fn check(triangles: &[[u32; 3]]) -> Option<String> {
        let vertices = CORNERS.map(Vector3::from).to_vec();
        let surface = TriangleSurfaceMesh::new(triangles.to_vec(), vertices).unwrap();
        check_closed_and_oriented(&surface)
            .err()
            .map(|e| e.to_string())
    }

    #[test]
    fn the_first_wrong_triangle_is_named_with_its_cure() {
        assert_eq!(check(&TETRAHEDRON), None);
        assert_eq!(
            check(&TETRAHEDRON[1..]).unwrap(),
            "edges must belong to two triangles with opposite directions, got one alone at the edge \
             from [0.0, 0.0, 0.0] to [1.0, 0.0, 0.0] m of triangle 0 at [0.0, 0.0, 0.0], [1.0, 0.0, \
             0.0], [0.0, 0.0, 1.0] m, the first of 3 such sides; close the hole there"
        );
        let mut turned = TETRAHEDRON;
        turned[2].reverse();
        let error = check(&turned).unwrap();
        assert!(
            error.contains("got several with the same direction"),
            "{error}"
        );
        assert!(
            error.ends_with("the triangles that face inwards"),
            "{error}"
        );
        let fin = [TETRAHEDRON.as_slice(), &[[0, 1, 4], [1, 0, 4]]].concat();
        let error = check(&fin).unwrap();
        assert!(error.contains("got more than two"), "{error}");
        assert!(
            error.ends_with("the first of 4 such sides; separate the surfaces that meet there")
        );
        let inside_out = TETRAHEDRON.map(|[a, b, c]| [a, c, b]);
        let error = check(&inside_out).unwrap();
        assert!(
            error.contains("encloses -0.16666666666666666 m^3, such as triangle 0 at"),
            "{error}"
        );
    }

    #[test]
    fn vertices_at_the_same_position_count_as_one() {
        let apart = TETRAHEDRON
            .as_flattened()
            .iter()
            .map(|v| CORNERS[*v as usize]);
        // Zeros of both signs are the same position.
        let apart = apart.enumerate().map(|(i, p)| {
            if i % 2 == 0 {
                Vector3::from(p)
            } else {
                Vector3::from(p.map(|x| if x == 0.0 { -0.0 } else { x }))
            }
        });
        let triangles = (0..4).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]);
        let surface = TriangleSurfaceMesh::new(triangles, apart.collect()).unwrap();
        check_closed_and_oriented(&surface).unwrap();
    }

    #[test]
    fn closed_surfaces_may_touch_along_edges() {
        // The second tetrahedron has vertices of its own.
        let mut vertices = CORNERS[..4].to_vec();
        vertices.extend([
            [0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0],
            [0.0, -1.0, 0.0],
            [0.0, 0.0, -1.0],
        ]);
        let second = TETRAHEDRON.map(|t| t.map(|v| v + 4));
        let triangles = [TETRAHEDRON, second].concat();
        let vertices = vertices.into_iter().map(Vector3::from).collect();
        let surface = TriangleSurfaceMesh::new(triangles, vertices).unwrap();
        check_closed_and_oriented(&surface).unwrap();
    }
}
