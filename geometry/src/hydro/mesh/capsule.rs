//! Capsules: around the segment between the centres of their caps.

use super::tessellation::TessellationBuilder;
use nalgebra::Vector3;
use std::f64::consts::{FRAC_PI_2, TAU};

/// Maximum number of vertices around; it gives about a million tetrahedra.
const MOST_AROUND: f64 = 706.0;

/// Returns a capsule whose segment of some length is along z. Edges around it are about as long as
/// the hint (m), and those along the caps half of that.
pub(in crate::hydro) fn capsule(radius: f64, length: f64, hint: f64) -> TessellationBuilder {
    let n = (TAU * radius / hint).clamp(3.0, MOST_AROUND) as usize;
    let (num_circles, half) = (n / 2, 0.5 * length);
    let mut mesh = TessellationBuilder::default();
    let caps = [-1.0, 1.0].map(|side| {
        let along = |z: f64| Vector3::new(0.0, 0.0, side * z);
        let centre = mesh.add_inside(along(half));
        let pole = mesh.add_outside(along(half + radius));
        let circles = (0..num_circles).map(|k| {
            let (sin, cos) = (FRAC_PI_2 * k as f64 / num_circles as f64).sin_cos();
            mesh.add_circle(n, radius * cos, side * (half + radius * sin))
        });
        let circles: Vec<Vec<u32>> = circles.collect();
        (centre, pole, circles)
    });
    for (i, j) in (0..n).map(|i| (i, (i + 1) % n)) {
        for (centre, pole, circles) in &caps {
            for pair in circles.windows(2) {
                // Cut from the lower circle at j to the upper at i, as seen from outside.
                let (lower, upper) = if *centre == caps[0].0 {
                    (&pair[1], &pair[0])
                } else {
                    (&pair[0], &pair[1])
                };
                mesh.add_pyramid([upper[i], upper[j], lower[j], lower[i]], *centre);
            }
            let last = &circles[num_circles - 1];
            mesh.add([*pole, last[i], last[j], *centre]);
        }
        let wedge = |(centre, _, circles): &(u32, u32, Vec<Vec<u32>>)| {
            [*centre, circles[0][i], circles[0][j]]
        };
        mesh.add_prism(wedge(&caps[0]), wedge(&caps[1]));
    }
    mesh
}
