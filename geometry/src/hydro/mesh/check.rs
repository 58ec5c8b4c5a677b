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
