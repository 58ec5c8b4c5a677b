//! Convex hulls of points in a plane.

use nalgebra::{Vector2, Vector3};

/// Returns the corners of the hull of points in the plane of the triangle `corners`, with the
/// triangle's orientation.
pub(super) fn hull(points: &[Vector3<f64>], corners: [u32; 3], rounding: f64) -> Vec<u32> {
    let [a, b, c] = corners.map(|i| points[i as usize]);
    let u = (b - a).normalize();
    let normal = u.cross(&(c - a));
    let v = normal.cross(&u).normalize();
    let flat: Vec<Vector2<f64>> = points
        .iter()
        .map(|p| Vector2::new((p - a).dot(&u), (p - a).dot(&v)))
        .collect();
    let mut ring = ring(&flat);
    straighten(&mut ring, |i| flat[i as usize], 10.0 * rounding);
    ring
}

/// Returns the corners of the hull of two-dimensional points, counter-clockwise (Andrew, "Another
/// efficient algorithm for convex hulls in two dimensions", 1979).
pub(crate) fn ring(flat: &[Vector2<f64>]) -> Vec<u32> {
    let at = |i: u32| flat[i as usize];
    let mut order: Vec<u32> = (0..flat.len() as u32).collect();
    order.sort_by(|&i, &j| {
        let (p, q) = (at(i), at(j));
        p.x.total_cmp(&q.x).then(p.y.total_cmp(&q.y))
    });
    let chain = |indices: &mut dyn Iterator<Item = u32>| {
        let mut chain: Vec<u32> = Vec::new();
        for i in indices {
            while let [.., p, q] = chain[..] {
                if (at(q) - at(p)).perp(&(at(i) - at(q))) > 0.0 {
                    break;
                }
                chain.pop();
            }
            chain.push(i);
        }
        chain.pop();
        chain
    };
    let mut ring = chain(&mut order.iter().copied());
    ring.extend(chain(&mut order.iter().rev().copied()));
    ring
}

/// Removes corners that are within `tolerance` of the line through their neighbours.
fn straighten(ring: &mut Vec<u32>, at: impl Fn(u32) -> Vector2<f64>, tolerance: f64) {
    let mut i = 0;
    let mut kept = 0;
    while ring.len() > 3 && kept < ring.len() {
        let n = ring.len();
        i %= n;
        let [p, q, r] = [ring[(i + n - 1) % n], ring[i], ring[(i + 1) % n]].map(&at);
        let chord = r - p;
        if chord.perp(&(q - p)).abs() <= tolerance * chord.norm() {
            ring.remove(i);
            kept = 0;
        } else {
            i += 1;
            kept += 1;
        }
    }
}
