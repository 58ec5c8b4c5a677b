//! Triangulation of polygons, strips and fans.

use nalgebra::{Point2, Point3, Vector3};

/// Number of corners up to which ears are cut, which takes quadratic time.
const MAX_CORNERS: usize = 4096;

/// Returns the triangles of a strip with `corners` corners, as corner indices. The winding of every
/// other triangle is reversed, so that all have the same orientation.
pub(super) fn strip(corners: usize) -> impl Iterator<Item = [usize; 3]> {
    (2..corners).map(|k| [k - 2, k - 1 + k % 2, k - k % 2])
}

/// Returns the triangles of a fan around the first of `corners` corners, as corner indices.
pub(super) fn fan(corners: usize) -> impl Iterator<Item = [usize; 3]> {
    (2..corners).map(|k| [0, k - 1, k])
}

/// Returns the triangles of a zigzag between the two sides of a polygon, as corner indices. No
/// corner belongs to more than three triangles.
fn zigzag(corners: usize) -> impl Iterator<Item = [usize; 3]> {
    (0..corners.saturating_sub(2)).map(move |k| {
        let (low, high) = (k.div_ceil(2), corners - 1 - k / 2);
        match k % 2 {
            0 => [low, low + 1, high],
            _ => [low, high - 1, high],
        }
    })
}

/// Splits the polygon into triangles of corner indices. A quadrilateral is cut along its shorter
/// diagonal. Larger polygons are cut ear by ear (Meisters, "Polygons have ears", 1975) in the
/// projection along their Newell normal, so that non-convex ones come out right. Polygons with more
/// than [`MAX_CORNERS`] corners come out right only if they are convex.
pub(super) fn triangulate(points: &[Point3<f64>], triangles: &mut Vec<[usize; 3]>) {
    triangles.clear();
    match points.len() {
        0..3 => {}
        3 => triangles.push([0, 1, 2]),
        4 => {
            let diagonal = |a: usize, b: usize| (points[a] - points[b]).norm_squared();
            if diagonal(0, 2) < diagonal(1, 3) {
                triangles.extend([[0, 1, 2], [0, 2, 3]]);
            } else {
                triangles.extend([[0, 1, 3], [1, 2, 3]]);
            }
        }
        n if n > MAX_CORNERS => triangles.extend(zigzag(n)),
        _ => cut_ears(&flatten(points), triangles),
    }
}

/// Projects the polygon to the coordinate plane in which it is largest, counter-clockwise.
fn flatten(points: &[Point3<f64>]) -> Vec<Point2<f64>> {
    let mut normal = Vector3::zeros();
    for (p, q) in points.iter().zip(points.iter().cycle().skip(1)) {
        normal += (p - points[0]).cross(&(q - points[0]));
    }
    let axis = normal.iamax();
    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
    let (u, v) = if normal[axis] < 0.0 { (v, u) } else { (u, v) };
    points.iter().map(|p| Point2::new(p[u], p[v])).collect()
}

/// Returns twice the signed area of a triangle.
fn area2(a: Point2<f64>, b: Point2<f64>, c: Point2<f64>) -> f64 {
    (b - a).perp(&(c - a))
}

fn cut_ears(p: &[Point2<f64>], triangles: &mut Vec<[usize; 3]>) {
    let mut rest: Vec<usize> = (0..p.len()).collect();
    let mut at = 0;
    let mut tried = 0;
    // A few tests per ear are usual. Adversarial polygons that need more get arbitrary triangles.
    let mut tests_left = 16 * p.len();
    while rest.len() > 3 {
        let n = rest.len();
        at %= n;
        let [a, b, c] = [rest[(at + n - 1) % n], rest[at], rest[(at + 1) % n]];
        let inside = |q: Point2<f64>| {
            area2(p[a], p[b], q) >= 0.0
                && area2(p[b], p[c], q) >= 0.0
                && area2(p[c], p[a], q) >= 0.0
                && q != p[a]
                && q != p[b]
                && q != p[c]
        };
        let test = tests_left > 0;
        tests_left = tests_left.saturating_sub(1);
        let ear = test && area2(p[a], p[b], p[c]) > 0.0 && !rest.iter().any(|&k| inside(p[k]));
        // Crossing edges may leave no ear; then cut any corner, so that the loop terminates.
        if ear || !test || tried >= n {
            triangles.push([a, b, c]);
            rest.remove(at);
            tried = 0;
        } else {
            at += 1;
            tried += 1;
        }
    }
    triangles.push([rest[0], rest[1], rest[2]]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(points: &[Point3<f64>]) -> f64 {
        let mut t = Vec::new();
        triangulate(points, &mut t);
        assert_eq!(t.len(), points.len() - 2);
        let area = |[a, b, c]: [usize; 3]| {
            (points[b] - points[a])
                .cross(&(points[c] - points[a]))
                .norm()
        };
        t.into_iter().map(area).sum::<f64>() * 0.5
    }

    #[test]
    fn non_convex_polygons_keep_their_area() {
        let p = |x: f64, z: f64| Point3::new(x, 2.0, z);
        let ell = [
            p(0., 0.),
            p(2., 0.),
            p(2., 1.),
            p(1., 1.),
            p(1., 2.),
            p(0., 2.),
        ];
        for shift in 0..6 {
            let mut turned = ell;
            turned.rotate_left(shift);
            assert!((area(&turned) - 3.0).abs() < 1e-14);
            turned.reverse();
            assert!((area(&turned) - 3.0).abs() < 1e-14);
        }
    }

    #[test]
    fn large_convex_polygons_keep_their_area() {
        for n in [MAX_CORNERS - 1, MAX_CORNERS + 1, MAX_CORNERS + 2] {
            let corner = |i: usize| {
                let (sin, cos) = (i as f64 / n as f64 * std::f64::consts::TAU).sin_cos();
                Point3::new(cos, sin, 0.0)
            };
            let polygon: Vec<_> = (0..n).map(corner).collect();
            // Each side contributes half the sine of its angle at the centre.
            let exact = n as f64 / 2.0 * (std::f64::consts::TAU / n as f64).sin();
            assert!((area(&polygon) - exact).abs() < 1e-12);
        }
    }

    #[test]
    fn strips_and_fans_keep_their_orientation() {
        let strip: Vec<_> = strip(5).collect();
        assert_eq!(strip, [[0, 1, 2], [1, 3, 2], [2, 3, 4]]);
        assert_eq!(fan(4).collect::<Vec<_>>(), [[0, 1, 2], [0, 2, 3]]);
        for n in 0..3 {
            assert_eq!(
                super::strip(n).count() + fan(n).count() + zigzag(n).count(),
                0
            );
        }
    }

    #[test]
    fn triangulation_of_degenerate_polygons_terminates() {
        area(&[Point3::origin(); 7]);
        let line: Vec<_> = (0..9)
            .map(|i| Point3::new(f64::from(i % 4), 0.0, 0.0))
            .collect();
        area(&line);
    }
}
