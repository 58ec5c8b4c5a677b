//! The local minima of a height field's distance, which are found cell by cell, against those found
//! by comparing all triangles of the same surface as a mesh.

use crate::accel::IndexedSurface;
use crate::proximity::surface::contact_points::contacts_of_corners;
use crate::proximity::tests::Random;
use crate::shape::{HeightField, Shape, Sphere};
use nalgebra::{Isometry3, Vector3};

/// Returns where a ball that is partly above a surface touches it from above, with depths.
fn touched(
    surface: &IndexedSurface,
    x_ws: &Isometry3<f64>,
    ball: &Shape,
    p: &Vector3<f64>,
) -> Vec<(Vector3<f64>, f64)> {
    let x_wb = Isometry3::translation(p.x, p.y, p.z);
    let all = contacts_of_corners(surface, x_ws, ball, &x_wb, 0.05);
    let outside = all.iter().filter(|c| {
        // The mesh also has places behind thin ridges, which are reached through the solid.
        let way = c.distance.p_wca - p;
        (c.distance.nhat_ba_w.dot(&way)) > 0.0
    });
    outside
        .map(|c| (c.distance.p_wca, c.distance.distance))
        .collect()
}

#[test]
fn fields_have_the_minima_of_the_same_mesh() {
    let mut random = Random::new(41);
    let mut counts = [0; 5];
    for round in 0..60 {
        // Smooth, rough, in steps of equal heights, and flat with a few peaks.
        let (rows, columns) = (12, 15);
        let heights = (0..rows * columns).map(|_| match round % 4 {
            0 => 0.02 * random.number(),
            1 => 0.3 * random.number(),
            2 => 0.1 * (2.0 * random.number()).round(),
            _ => (0.3 * random.number() - 0.2).max(0.0),
        });
        let field = HeightField::new(rows, columns, heights.collect(), [2.8, 2.2], 0.4).unwrap();
        let (grid, surface) = (field.grid(), field.indexed_surface());
        let mesh = IndexedSurface::new(&grid.surface().unwrap()).unwrap();
        let x_ws = random.pose(1.0);
        for k in 0..100 {
            let [x, y] = [0.9 * random.number(), 0.6 * random.number()];
            // Above grid points, above edges, and elsewhere.
            let (x, y) = match k % 5 {
                0 => ((5.0 * x).round() * 0.2, (5.0 * y).round() * 0.2 - 0.1),
                1 => (x, (5.0 * y).round() * 0.2 - 0.1),
                2 => ((5.0 * x).round() * 0.2, y),
                _ => (x, y),
            };
            let radius = 0.08 * (1.5 + random.number());
            let above = match k % 7 {
                0 => 1e-4,
                _ => radius * (0.5 + 0.5 * random.number()),
            };
            let p = Vector3::new(x, y, grid.surface_at(x, y).unwrap() + above);
            let p = x_ws.rotation * p + x_ws.translation.vector;
            let ball = Sphere::new(radius).unwrap().into();
            let found = touched(surface, &x_ws, &ball, &p);
            let expected = touched(&mesh, &x_ws, &ball, &p);
            let case = format!("{round} {k} at {p:?}, radius {radius}: {found:?}, {expected:?}");
            assert_eq!(found.len(), expected.len(), "{case}");
            for (place, distance) in &found {
                let same = |(q, d): &(Vector3<f64>, f64)| {
                    (q - place).norm() < 1e-12 && (d - distance).abs() < 1e-12
                };
                assert!(expected.iter().any(same), "{case}");
            }
            counts[found.len().min(4)] += 1;
        }
    }
    assert!(counts[1..].iter().all(|n| *n > 50), "{counts:?}");
}
