//! Primitives as triangles, with the vertices that Drake's client sends.
//!
//! A server that knows the counts recognizes the shape and can draw it exactly, so every vertex is
//! on the surface to the precision of `f32`.

use nalgebra::Vector3;
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// Number of steps around an axis, and of steps between the poles of an ellipsoid.
const AROUND: u32 = 50;
/// Number of rings of a capsule's hemisphere, without the pole; the last one is the equator.
const RINGS: u32 = 48;
/// Half of the edge of the square that stands for a half space (m).
const HALF_SPACE_EXTENT: f32 = 50.0;

/// Triangles of a primitive in its own frame, counter-clockwise as seen from outside.
#[derive(Debug, Default)]
pub(super) struct Tessellation {
    /// Vertices (m).
    pub(super) positions: Vec<[f32; 3]>,
    /// Texture coordinates of the vertices: u to the right, v up.
    pub(super) uvs: Vec<[f32; 2]>,
    /// Vertices of the triangles.
    pub(super) indices: Vec<u32>,
}

impl Tessellation {
    fn vertex(&mut self, position: [f64; 3], uv: [f64; 2]) {
        self.positions.push(position.map(|x| x as f32));
        self.uvs.push(uv.map(|x| x as f32));
    }
    /// Adds two triangles, given the corners of a quadrilateral in order.
    fn quad(&mut self, [a, b, c, d]: [u32; 4]) {
        self.indices.extend([a, b, d, b, c, d]);
    }
    /// Adds the quadrilaterals between two closed rings, given by their first vertices; `upper` is
    /// above `lower`, and both run counter-clockwise as seen from above.
    fn band(&mut self, lower: u32, upper: u32) {
        for i in 0..AROUND {
            let next = (i + 1) % AROUND;
            self.quad([lower + i, lower + next, upper + next, upper + i]);
        }
    }
    /// Adds a ring of vertices around z, beginning on the y axis.
    fn ring(&mut self, radius: f64, z: f64, uv: impl Fn(u32) -> [f64; 2]) -> u32 {
        let first = self.positions.len() as u32;
        for i in 0..AROUND {
            let (sin, cos) = around(i);
            self.vertex([-radius * sin, radius * cos, z], uv(i));
        }
        first
    }

    /// Tessellates a box with the given half edge lengths (m): six separate faces.
    pub(super) fn of_box(half: &Vector3<f64>) -> Self {
        // The corners of each face as signs of x, y and z; the first is the lower left one.
        const FACES: [[[i8; 3]; 4]; 6] = [
            [[1, -1, -1], [1, 1, -1], [1, 1, 1], [1, -1, 1]],
            [[-1, 1, -1], [-1, -1, -1], [-1, -1, 1], [-1, 1, 1]],
            [[1, 1, -1], [-1, 1, -1], [-1, 1, 1], [1, 1, 1]],
            [[-1, -1, -1], [1, -1, -1], [1, -1, 1], [-1, -1, 1]],
            [[-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]],
            [[-1, 1, -1], [1, 1, -1], [1, -1, -1], [-1, -1, -1]],
        ];
        const UVS: [[f64; 2]; 4] = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
        let mut made = Self::default();
        for face in FACES {
            let first = made.positions.len() as u32;
            for (signs, uv) in face.into_iter().zip(UVS) {
                made.vertex(std::array::from_fn(|k| f64::from(signs[k]) * half[k]), uv);
            }
            made.quad([first, first + 1, first + 2, first + 3]);
        }
        made
    }

    /// Tessellates an ellipsoid with the given semi-axes (m): a grid of longitudes and latitudes
    /// whose seam and poles repeat vertices.
    pub(super) fn of_ellipsoid(semi_axes: &Vector3<f64>) -> Self {
        let mut made = Self::default();
        let steps = f64::from(AROUND);
        for i in 0..=AROUND {
            // The seam repeats the first meridian bit by bit.
            let (sin, cos) = around(i % AROUND);
            for j in 0..=AROUND {
                let (from_axis, z) = match j {
                    0 => (0.0, 1.0),
                    AROUND => (0.0, -1.0),
                    _ => (PI * f64::from(j) / steps).sin_cos(),
                };
                let unit = Vector3::new(from_axis * cos, from_axis * sin, z);
                let uv = [f64::from(i) / steps, 1.0 - f64::from(j) / steps];
                made.vertex(unit.component_mul(semi_axes).into(), uv);
            }
        }
        for i in 0..AROUND {
            for j in 0..AROUND {
                let upper = (AROUND + 1) * i + j;
                let east = upper + AROUND + 1;
                made.quad([upper + 1, east + 1, east, upper]);
            }
        }
        made
    }

    /// Tessellates a cylinder (m): its side and two separate caps.
    pub(super) fn of_cylinder(radius: f64, length: f64) -> Self {
        let mut made = Self::default();
        let half = length / 2.0;
        let lower = made.ring(radius, -half, |i| [there_and_back(i), 0.0]);
        let upper = made.ring(radius, half, |i| [there_and_back(i), 1.0]);
        made.band(lower, upper);
        let in_circle = |i| {
            let (sin, cos) = around(i);
            [0.5 * (1.0 - sin), 0.5 * (1.0 + cos)]
        };
        let bottom = made.ring(radius, -half, in_circle);
        let top = made.ring(radius, half, in_circle);
        for i in 1..AROUND - 1 {
            made.indices.extend([bottom, bottom + i + 1, bottom + i]);
            made.indices.extend([top, top + i, top + i + 1]);
        }
        made
    }

    /// Tessellates a capsule (m): two poles, the rings of both hemispheres, and two more rings for
    /// the cylinder between them.
    pub(super) fn of_capsule(radius: f64, length: f64) -> Self {
        let mut made = Self::default();
        let half = length / 2.0;
        let height = length + 2.0 * radius;
        let v = |z: f64| z / height + 0.5;
        let end = half + radius;
        made.vertex([0.0, 0.0, end], [0.5, 1.0]);
        made.vertex([0.0, 0.0, -end], [0.5, 0.0]);
        for (side, pole) in [(1.0, 0), (-1.0, 1)] {
            let mut last = None;
            for k in 1..=RINGS {
                let (sin, cos) = match k {
                    RINGS => (1.0, 0.0),
                    _ => (FRAC_PI_2 * f64::from(k) / f64::from(RINGS)).sin_cos(),
                };
                let z = side * (half + radius * cos);
                let ring = made.ring(radius * sin, z, |i| [there_and_back(i), v(z)]);
                match (last, side > 0.0) {
                    (None, up) => {
                        for i in 0..AROUND {
                            let (a, b) = (ring + i, ring + (i + 1) % AROUND);
                            made.indices
                                .extend(if up { [pole, a, b] } else { [pole, b, a] });
                        }
                    }
                    (Some(last), true) => made.band(ring, last),
                    (Some(last), false) => made.band(last, ring),
                }
                last = Some(ring);
            }
        }
        let lower = made.ring(radius, -half, |i| [there_and_back(i), v(-half)]);
        let upper = made.ring(radius, half, |i| [there_and_back(i), v(half)]);
        made.band(lower, upper);
        made
    }

    /// Returns the square that stands for the boundary of a half space.
    pub(super) fn of_half_space() -> Self {
        const E: f32 = HALF_SPACE_EXTENT;
        Self {
            positions: vec![[E, -E, 0.0], [E, E, 0.0], [-E, -E, 0.0], [-E, E, 0.0]],
            uvs: vec![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]],
            indices: vec![0, 1, 2, 1, 3, 2],
        }
    }
}

/// Returns sine and cosine of the angle of a step around an axis.
fn around(i: u32) -> (f64, f64) {
    (TAU * f64::from(i) / f64::from(AROUND)).sin_cos()
}

/// Returns a texture coordinate that runs to the far side and back, because rings have no seam.
fn there_and_back(i: u32) -> f64 {
    (2.0 * f64::from(i) / f64::from(AROUND) - 1.0).abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(t: &Tessellation, i: u32) -> Vector3<f64> {
        Vector3::from(t.positions[i as usize].map(f64::from))
    }

    /// Volume enclosed by the triangles; positive if they face outwards.
    fn volume(t: &Tessellation) -> f64 {
        let corners = t.indices.as_chunks::<3>().0;
        let sixth = |c: &[u32; 3]| at(t, c[0]).dot(&at(t, c[1]).cross(&at(t, c[2]))) / 6.0;
        corners.iter().map(sixth).sum()
    }

    #[track_caller]
    fn check(
        t: &Tessellation,
        counts: (usize, usize),
        enclosed: f64,
        on_surface: impl Fn(Vector3<f64>) -> f64,
    ) {
        assert_eq!((t.positions.len(), t.indices.len() / 3), counts);
        assert_eq!(t.uvs.len(), counts.0);
        assert!(
            (volume(t) / enclosed - 1.0).abs() < 0.01,
            "{} {enclosed}",
            volume(t)
        );
        for i in 0..counts.0 as u32 {
            let error = on_surface(at(t, i));
            assert!(error.abs() < 1.2e-7, "{i}: {error}");
        }
        // No triangle faces inwards: all these shapes are star-shaped about the origin.
        for c in t.indices.as_chunks::<3>().0 {
            assert!(
                at(t, c[0]).dot(&at(t, c[1]).cross(&at(t, c[2]))) > -1e-9,
                "{c:?}"
            );
        }
    }

    #[test]
    fn vertices_have_the_counts_of_drake_and_are_on_the_surface() {
        let half = Vector3::new(0.1, 0.15, 0.2);
        let of_box = Tessellation::of_box(&half);
        check(&of_box, (24, 12), 0.024, |p| {
            p.abs().component_div(&half).max() - 1.0
        });

        let axes = Vector3::new(0.3, 0.2, 0.1);
        let egg = Tessellation::of_ellipsoid(&axes);
        let volume = 4.0 / 3.0 * PI * axes.product();
        check(&egg, (2601, 5000), volume, |p| {
            p.component_div(&axes).norm() - 1.0
        });

        let (r, l) = (0.1, 0.3);
        let cylinder = Tessellation::of_cylinder(r, l);
        check(&cylinder, (200, 196), PI * r * r * l, |p| {
            (p.xy().norm() / r - 1.0)
                .abs()
                .max((p.z.abs() * 2.0 / l - 1.0).abs())
        });

        let capsule = Tessellation::of_capsule(r, l);
        let volume = PI * r * r * (l + 4.0 / 3.0 * r);
        check(&capsule, (4902, 9600), volume, |p| {
            let nearest = Vector3::new(0.0, 0.0, p.z.clamp(-l / 2.0, l / 2.0));
            (p - nearest).norm() - r
        });
    }

    #[test]
    fn extents_are_those_of_drake() {
        let most = |t: &Tessellation| -> [f32; 3] {
            std::array::from_fn(|k| t.positions.iter().map(|p| p[k]).fold(0.0, f32::max))
        };
        assert_eq!(
            most(&Tessellation::of_ellipsoid(&Vector3::repeat(0.2))),
            [0.2, 0.199_605_35, 0.2]
        );
        assert_eq!(
            most(&Tessellation::of_cylinder(0.1, 0.3)),
            [0.099_802_67, 0.1, 0.15]
        );
        assert_eq!(
            most(&Tessellation::of_capsule(0.1, 0.3)),
            [0.099_802_67, 0.1, 0.25]
        );
        assert_eq!(most(&Tessellation::of_half_space()), [50.0, 50.0, 0.0]);
    }

    #[test]
    fn poles_and_seams_are_closed() {
        let ball = Tessellation::of_ellipsoid(&Vector3::repeat(1.0));
        assert_eq!(ball.positions[0], [0.0, 0.0, 1.0]);
        assert_eq!(ball.positions[50], [0.0, 0.0, -1.0]);
        assert_eq!(ball.positions[..51], ball.positions[50 * 51..]);
        let square = Tessellation::of_half_space();
        let normal = (at(&square, 1) - at(&square, 0)).cross(&(at(&square, 2) - at(&square, 0)));
        assert!(normal.z > 0.0);
    }
}
