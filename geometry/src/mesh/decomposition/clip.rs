//! The part of a body inside a box.

use super::cells::Cell;
use crate::mesh::surface::TriangleSurfaceMesh;
use nalgebra::Vector3;
use std::f64::consts::TAU;

/// Returns points whose hull is that of the part of a body inside a cell: the corners of the
/// surface there, and the corners of the cell inside the body.
pub(super) fn points_in(mesh: &TriangleSurfaceMesh, cell: &Cell) -> Vec<Vector3<f64>> {
    let mut points = vec![];
    let (mut polygon, mut rest) = (vec![], vec![]);
    for t in mesh.triangles() {
        let corners = t.vertices().map(|v| *mesh.vertex(v as usize));
        let [a, b, c] = &corners;
        let (low, high) = (a.inf(b).inf(c), a.sup(b).sup(c));
        if (0..3).any(|i| high[i] < cell.low[i] || low[i] > cell.high[i]) {
            continue;
        }
        polygon.clear();
        polygon.extend(corners);
        for axis in 0..3 {
            for (side, bound) in [(1.0, cell.high[axis]), (-1.0, cell.low[axis])] {
                let height = |p: &Vector3<f64>| side * (p[axis] - bound);
                clip(&polygon, height, &mut rest);
                std::mem::swap(&mut polygon, &mut rest);
            }
        }
        points.append(&mut polygon);
    }
    for (i, _) in cell
        .filled
        .iter()
        .enumerate()
        .filter(|(_, filled)| **filled)
    {
        let upper = |axis: usize| i >> axis & 1 == 1;
        let corner =
            Vector3::from_fn(|axis, _| [cell.low, cell.high][usize::from(upper(axis))][axis]);
        if is_inside(mesh, &corner) {
            points.push(corner);
        }
    }
    points
}

/// Keeps the part of a convex polygon at heights of at most 0 (Sutherland and Hodgman).
fn clip(
    polygon: &[Vector3<f64>],
    height: impl Fn(&Vector3<f64>) -> f64,
    kept: &mut Vec<Vector3<f64>>,
) {
    kept.clear();
    for (i, p) in polygon.iter().enumerate() {
        let q = &polygon[(i + 1) % polygon.len()];
        let (hp, hq) = (height(p), height(q));
        if hp <= 0.0 {
            kept.push(*p);
        }
        if (hp < 0.0 && hq > 0.0) || (hp > 0.0 && hq < 0.0) {
            kept.push(p + (q - p) * (hp / (hp - hq)));
        }
    }
}

/// Returns whether the surface winds around a point, one way or the other, from the solid angles of
/// its triangles (Van Oosterom and Strackee, 1983).
fn is_inside(mesh: &TriangleSurfaceMesh, p: &Vector3<f64>) -> bool {
    let angles = mesh.triangles().iter().map(|t| {
        let [a, b, c] = t.vertices().map(|v| mesh.vertex(v as usize) - p);
        let (la, lb, lc) = (a.norm(), b.norm(), c.norm());
        let below = la * lb * lc + a.dot(&b) * lc + b.dot(&c) * la + c.dot(&a) * lb;
        2.0 * a.dot(&b.cross(&c)).atan2(below)
    });
    angles.sum::<f64>().abs() > TAU
}
