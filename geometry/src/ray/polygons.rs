//! Intersections of rays with convex hulls.

use super::crossing::{CrossedSurface, Crossing, Passage};
use crate::accel::Polytope;
use nalgebra::Vector3;

/// Intersects a line with the planes of all faces; see `solids` for the arguments. Hulls of zero
/// area are not hit.
pub(super) fn polytope(polytope: &Polytope, o: &Vector3<f64>, d: &Vector3<f64>) -> Option<Passage> {
    match polytope.num_faces() {
        0 => return None,
        1 | 2 => return flat(polytope, o, d),
        _ => {}
    }
    let mut enters = (f64::NEG_INFINITY, 0);
    let mut leaves = (f64::INFINITY, 0);
    for face in 0..polytope.num_faces() {
        let (n, offset) = polytope.plane(face);
        let (height, speed) = (n.dot(o) - offset, n.dot(d));
        let t = -height / speed;
        if speed < 0.0 && t > enters.0 {
            enters = (t, face);
        } else if speed > 0.0 && t < leaves.0 {
            leaves = (t, face);
        } else if speed == 0.0 && height > 0.0 {
            return None;
        }
        if enters.0 > leaves.0 {
            return None;
        }
    }
    let crossing = |(t, face)| Crossing::new(t, CrossedSurface::Flat(*polytope.plane(face).0));
    Some((crossing(enters), crossing(leaves)))
}

/// Intersects a line with a polygon, which is hit from both sides: the line enters and leaves at
/// once.
fn flat(polytope: &Polytope, o: &Vector3<f64>, d: &Vector3<f64>) -> Option<Passage> {
    let (n, offset) = polytope.plane(0);
    let speed = n.dot(d);
    if speed == 0.0 {
        return None;
    }
    let t = (offset - n.dot(o)) / speed;
    let q = o + d * t;
    let corners: Vec<&Vector3<f64>> = polytope.face(0).collect();
    let inside = |i: usize| {
        let (a, b) = (corners[i], corners[(i + 1) % corners.len()]);
        n.dot(&(b - a).cross(&(q - a))) >= 0.0
    };
    let side = |n: Vector3<f64>| Crossing::new(t, CrossedSurface::Flat(n));
    let n = *n * speed.signum();
    (0..corners.len()).all(inside).then(|| (side(-n), side(n)))
}
