//! Triangles of shapes, those of primitives with exact normals.

use crate::mesh::RenderMesh;
use crate::shape::Shape;
use nalgebra::Vector3;
use std::collections::HashMap;
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// A point of a surface.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vertex {
    /// In the frame of the shape (m).
    pub(super) position: Vector3<f64>,
    /// Outward unit normal.
    pub(super) normal: Vector3<f64>,
}

/// A surface as triangles, counter-clockwise as seen from outside.
#[derive(Debug, Default)]
pub(super) struct Outline {
    pub(super) vertices: Vec<Vertex>,
    pub(super) triangles: Vec<[u32; 3]>,
}

/// A point of the profile of a solid of revolution: its distance from the axis, its height (m), and
/// the angle of its normal above the xy plane.
#[derive(Clone, Copy)]
struct ProfilePoint {
    radius: f64,
    z: f64,
    slope: f64,
}

impl Outline {
    /// Tessellates a primitive with `segments` around it and flat parts in `rows`; `None` for
    /// meshes and cones. A half space is a rectangle with the given half edges (m).
    pub(super) fn of(
        shape: &Shape,
        segments: u32,
        rows: u32,
        half_extents: [f64; 2],
    ) -> Option<Self> {
        let mut made = Self::default();
        match shape {
            Shape::Box(b) => made.add_box(&b.half_size(), rows),
            Shape::Sphere(s) => made.add_ellipsoid(&Vector3::repeat(s.radius()), segments),
            Shape::Ellipsoid(e) => made.add_ellipsoid(&e.semi_axes(), segments),
            Shape::Capsule(c) => made.add_capsule(c.radius(), c.length() / 2.0, segments, rows),
            Shape::Cylinder(c) => made.add_cylinder(c.radius(), c.length() / 2.0, segments, rows),
            Shape::HalfSpace(_) => {
                let [x, y] = half_extents;
                made.add_rectangle(
                    Vector3::zeros(),
                    [Vector3::x() * x, Vector3::y() * y],
                    Vector3::z(),
                    rows,
                );
            }
            Shape::Mesh(_) | Shape::Convex(_) | Shape::HeightField(_) | Shape::MeshcatCone(_) => {
                return None;
            }
        }
        Some(made)
    }

    /// Takes the triangles of a mesh, with its normals.
    pub(super) fn of_mesh(mesh: &RenderMesh) -> Self {
        let mut made = Self::default();
        let mut known = HashMap::new();
        for (positions, normals) in mesh.triangles.iter().zip(&mesh.triangle_normals) {
            let corner = [0, 1, 2].map(|k| {
                let (p, n) = (positions[k], normals[k]);
                *known.entry((p, n)).or_insert_with(|| {
                    made.vertex(mesh.positions[p as usize].coords, mesh.normals[n as usize])
                })
            });
            made.triangles.push(corner);
        }
        made
    }

    fn vertex(&mut self, position: Vector3<f64>, normal: Vector3<f64>) -> u32 {
        self.vertices.push(Vertex { position, normal });
        self.vertices.len() as u32 - 1
    }
    /// Adds two triangles, given the corners of a quadrilateral in order.
    fn quad(&mut self, [a, b, c, d]: [u32; 4]) {
        self.triangles.extend([[a, b, c], [a, c, d]]);
    }

    /// Adds a rectangle, given its centre and half of its edges, as a grid of `rows` x `rows`.
    fn add_rectangle(
        &mut self,
        center: Vector3<f64>,
        [u, v]: [Vector3<f64>; 2],
        normal: Vector3<f64>,
        rows: u32,
    ) {
        let at = |i: u32| 2.0 * f64::from(i) / f64::from(rows) - 1.0;
        let first = self.vertices.len() as u32;
        for j in 0..=rows {
            for i in 0..=rows {
                self.vertex(center + u * at(i) + v * at(j), normal);
            }
        }
        for j in 0..rows {
            for i in 0..rows {
                let a = first + j * (rows + 1) + i;
                self.quad([a, a + 1, a + rows + 2, a + rows + 1]);
            }
        }
    }

    fn add_box(&mut self, half: &Vector3<f64>, rows: u32) {
        for axis in 0..3 {
            for sign in [1.0, -1.0] {
                let along = |k: usize, x: f64| {
                    let mut v = Vector3::zeros();
                    v[k] = x * half[k];
                    v
                };
                let mut normal = Vector3::zeros();
                normal[axis] = sign;
                let edges = [along((axis + 1) % 3, sign), along((axis + 2) % 3, 1.0)];
                self.add_rectangle(along(axis, sign), edges, normal, rows);
            }
        }
    }

    /// Adds the surface between the circles of a profile that runs upwards.
    fn revolve(&mut self, profile: &[ProfilePoint], segments: u32) {
        let first = self.vertices.len() as u32;
        for p in profile {
            let (up, out) = p.slope.sin_cos();
            for i in 0..segments {
                let (sin, cos) = (TAU * f64::from(i) / f64::from(segments)).sin_cos();
                self.vertex(
                    Vector3::new(p.radius * cos, p.radius * sin, p.z),
                    Vector3::new(out * cos, out * sin, up),
                );
            }
        }
        for (row, ends) in (0..).zip(profile.windows(2)) {
            let lower = first + row * segments;
            for i in 0..segments {
                let next = (i + 1) % segments;
                let [a, b] = [lower + i, lower + next];
                let [c, d] = [b + segments, a + segments];
                // At a pole, one edge has no length.
                if ends[0].radius == 0.0 {
                    self.triangles.push([a, c, d]);
                } else if ends[1].radius == 0.0 {
                    self.triangles.push([a, b, d]);
                } else {
                    self.quad([a, b, c, d]);
                }
            }
        }
    }

    fn add_ellipsoid(&mut self, semi_axes: &Vector3<f64>, segments: u32) {
        let profile = arc(-FRAC_PI_2, FRAC_PI_2, segments / 2, 1.0, 0.0);
        let first = self.vertices.len();
        self.revolve(&profile, segments);
        // Normals of a sphere of radius 0 are those of the unit sphere.
        let least = semi_axes.min();
        let flattening = semi_axes.map(|axis| if axis > 0.0 { least / axis } else { 1.0 });
        for v in &mut self.vertices[first..] {
            v.position.component_mul_assign(semi_axes);
            let normal = v.normal.component_mul(&flattening);
            v.normal = normal.try_normalize(0.0).unwrap_or(v.normal);
        }
    }

    fn add_capsule(&mut self, radius: f64, half_length: f64, segments: u32, rows: u32) {
        let mut profile = arc(-FRAC_PI_2, 0.0, segments / 4, radius, -half_length);
        profile.extend(&side(radius, half_length, rows)[1..rows as usize]);
        profile.extend(arc(0.0, FRAC_PI_2, segments / 4, radius, half_length));
        self.revolve(&profile, segments);
    }

    fn add_cylinder(&mut self, radius: f64, half_length: f64, segments: u32, rows: u32) {
        self.revolve(&side(radius, half_length, rows), segments);
        for sign in [-1.0, 1.0] {
            let ring = |i: u32| {
                // The bottom runs from the rim to the axis, the top from the axis to the rim.
                let part = f64::from(i) / f64::from(rows);
                ProfilePoint {
                    radius: radius * if sign < 0.0 { part } else { 1.0 - part },
                    z: sign * half_length,
                    slope: sign * FRAC_PI_2,
                }
            };
            let cap: Vec<ProfilePoint> = (0..=rows).map(ring).collect();
            self.revolve(&cap, segments);
        }
    }
}

/// Returns an arc between two angles about the centre at height `z` (m).
fn arc(from: f64, to: f64, steps: u32, radius: f64, z: f64) -> Vec<ProfilePoint> {
    let steps = steps.max(1);
    let at = |i: u32| {
        let slope = from + (to - from) * f64::from(i) / f64::from(steps);
        let is_pole = slope.abs() >= FRAC_PI_2 - PI * f64::EPSILON;
        ProfilePoint {
            radius: if is_pole { 0.0 } else { radius * slope.cos() },
            z: z + radius * slope.sin(),
            slope,
        }
    };
    (0..=steps).map(at).collect()
}

/// Returns the profile of the side of a cylinder (m).
fn side(radius: f64, half_length: f64, rows: u32) -> Vec<ProfilePoint> {
    let at = |i: u32| ProfilePoint {
        radius,
        z: half_length * (2.0 * f64::from(i) / f64::from(rows) - 1.0),
        slope: 0.0,
    };
    (0..=rows).map(at).collect()
}
