//! Surfaces that represent shapes in hydroelastic contact.
//!
//! Numbers and positions of vertices equal those that Drake 1.51 sends. In Drake, rigid and
//! compliant shapes have the same surface, that of the volume mesh.

use crate::{Error, Result};
use nalgebra::Vector3;
use std::f64::consts::{FRAC_PI_2, TAU};
use tarragon_framework::warnings::warn;
use tarragon_geometry::mesh::TriangleSurfaceMesh;
use tarragon_geometry::{GeometryProperties, HydroelasticType, Shape};

/// Maximum number of triangles. A finer mesh would look the same and take hundreds of megabytes.
const MOST_TRIANGLES: f64 = (1 << 20) as f64;
/// Tolerance (m) within which a cylinder counts as exactly as high as it is wide.
const MEDIUM: f64 = 1e-14;
/// Maximum number of subdivisions of an octahedron.
const MOST_SUBDIVISIONS: f64 = 8.0;

/// Returns the [`surface`] of a shape. If it cannot be built, warns and returns `None`: the shape
/// itself is still a good picture. `place` begins the warning.
pub(crate) fn surface_to_show(
    place: &dyn std::fmt::Display,
    shape: &Shape,
    properties: &GeometryProperties,
) -> Option<TriangleSurfaceMesh> {
    surface(shape, properties).unwrap_or_else(|error| {
        warn(format!(
            "{place} is shown without its hydroelastic mesh: {error}"
        ));
        None
    })
}

/// Returns the surface of a shape with these proximity properties. Returns `None` for shapes
/// without a mesh, such as half spaces, and for shapes without a compliance type.
fn surface(shape: &Shape, properties: &GeometryProperties) -> Result<Option<TriangleSurfaceMesh>> {
    let group = "hydroelastic";
    let kind = properties.get_or(group, "compliance_type", HydroelasticType::Undefined)?;
    if kind == HydroelasticType::Undefined {
        return Ok(None);
    }
    let hint = properties.get_or(group, "resolution_hint", f64::INFINITY)?;
    Ok(Some(match shape {
        Shape::Box(b) => cuboid(b.half_size())?,
        Shape::Sphere(s) => ellipsoid(Vector3::repeat(s.radius()), hint)?,
        Shape::Ellipsoid(e) => ellipsoid(e.semi_axes(), hint)?,
        Shape::Cylinder(c) => cylinder(c.radius(), c.length(), hint)?,
        Shape::Capsule(c) => capsule(c.radius(), c.length(), hint)?,
        Shape::Convex(c) => c.convex_hull()?.to_triangles(),
        // The volume of a surface mesh is that of its hull.
        Shape::Mesh(m) if kind == HydroelasticType::Compliant && m.extension() != ".vtk" => {
            m.convex_hull()?.to_triangles()
        }
        Shape::Mesh(m) => TriangleSurfaceMesh::clone(&*m.surface()?),
        _ => return Ok(None),
    }))
}

/// Returns a box with four triangles per face, around the centre of the face.
fn cuboid(half: Vector3<f64>) -> Result<TriangleSurfaceMesh> {
    let mut surface = Surface::default();
    for axis in 0..3 {
        let (next, last) = ((axis + 1) % 3, (axis + 2) % 3);
        for side in [-1.0, 1.0] {
            let mut centre = Vector3::zeros();
            centre[axis] = side * half[axis];
            // Counter-clockwise seen from outside.
            let corners = [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)];
            let ring = corners.map(|(u, v)| {
                let mut corner = centre;
                corner[next] = u * half[next];
                corner[last] = side * v * half[last];
                corner
            });
            let ring = surface.add(ring);
            surface.fan(&ring, centre);
        }
    }
    surface.finish()
}

/// Returns an octahedron whose faces are subdivided into four until the edges at its corners, on a
/// sphere with the largest semi-axis, are no longer than the hint.
fn ellipsoid(semi_axes: Vector3<f64>, hint: f64) -> Result<TriangleSurfaceMesh> {
    let half_chord = hint / (2.0 * semi_axes.max());
    // The edges of a chain from corner to corner span equal angles.
    let divisions = if half_chord < 1.0 {
        FRAC_PI_2 / (2.0 * half_chord.asin())
    } else {
        1.0
    };
    let subdivisions = divisions.log2().ceil().clamp(0.0, MOST_SUBDIVISIONS) as u32;
    let mut surface = Surface::default();
    let corners = [1.0, -1.0].map(|s| [0, 1, 2].map(|axis| s * Vector3::ith(axis, 1.0)));
    for octant in 0..8 {
        let [x, y, z] = [0, 1, 2].map(|axis| corners[octant >> axis & 1][axis]);
        let mirrors = octant.count_ones() % 2 == 1;
        surface.divide(if mirrors { [x, z, y] } else { [x, y, z] }, subdivisions);
    }
    for vertex in &mut surface.vertices {
        vertex.component_mul_assign(&semi_axes);
    }
    surface.finish()
}

/// Returns how many arcs of the length of the hint fit around a circle, before rounding.
fn around(radius: f64, hint: f64) -> f64 {
    TAU * radius / hint
}

/// Returns `n` points around a circle about z, the first at y = 0.
fn circle(n: usize, radius: f64, z: f64) -> impl Iterator<Item = Vector3<f64>> {
    let step = TAU / n as f64;
    (0..n).map(move |i| {
        let (sin, cos) = (step * i as f64).sin_cos();
        Vector3::new(radius * cos, radius * sin, z)
    })
}

/// Returns a cylinder: two circles, closed by fans around their centres.
fn cylinder(radius: f64, length: f64, hint: f64) -> Result<TriangleSurfaceMesh> {
    let around = around(radius, hint).ceil().max(3.0);
    check(4.0 * around, hint)?;
    let n = around as usize;
    let mut surface = Surface::default();
    let [bottom, top] = [-0.5, 0.5].map(|half| surface.add(circle(n, radius, half * length)));
    // Drake's volume mesh around a segment or a disk splits the squares one way, around a point the
    // other way.
    let is_medium = (0.5 * length - radius).abs() <= MEDIUM;
    let cut = if is_medium { Cut::Falling } else { Cut::Rising };
    surface.band(&bottom, &top, cut);
    surface.ends(bottom, top, 0.5 * length);
    surface.finish()
}

/// Returns a capsule. Circles of latitude on the caps are half as far apart as the vertices of the
/// widest circle.
fn capsule(radius: f64, length: f64, hint: f64) -> Result<TriangleSurfaceMesh> {
    let around = around(radius, hint).floor().max(3.0);
    let circles = (around / 2.0).floor();
    check(4.0 * around * circles, hint)?;
    let (n, circles) = (around as usize, circles as usize);
    let mut surface = Surface::default();
    let mut ring = |circle_number: usize, half: f64| {
        let (sin, cos) = (FRAC_PI_2 * circle_number as f64 / circles as f64).sin_cos();
        surface.add(circle(
            n,
            radius * cos,
            half * (0.5 * length + radius * sin),
        ))
    };
    let rings: Vec<[Vec<u32>; 2]> = (0..circles)
        .map(|k| [ring(k, -1.0), ring(k, 1.0)])
        .collect();
    surface.band(&rings[0][0], &rings[0][1], Cut::Rising);
    for pair in rings.windows(2) {
        let [[low, high], [lower, higher]] = pair else {
            continue;
        };
        surface.band(lower, low, Cut::Falling);
        surface.band(high, higher, Cut::Falling);
    }
    if let Some([bottom, top]) = rings.into_iter().next_back() {
        surface.ends(bottom, top, 0.5 * length + radius);
    }
    surface.finish()
}

fn check(triangles: f64, hint: f64) -> Result<()> {
    if triangles <= MOST_TRIANGLES {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "the resolution hint must give at most {MOST_TRIANGLES} triangles, got {triangles:?} from {hint:?} m; \
         choose a larger hint"
    )))
}

/// Direction of the diagonal of a square, seen from outside and counter-clockwise.
#[derive(Clone, Copy)]
enum Cut {
    Rising,
    Falling,
}

/// A surface under construction.
#[derive(Default)]
struct Surface {
    vertices: Vec<Vector3<f64>>,
    triangles: Vec<[u32; 3]>,
}

impl Surface {
    fn add(&mut self, vertices: impl IntoIterator<Item = Vector3<f64>>) -> Vec<u32> {
        let first = self.vertices.len() as u32;
        self.vertices.extend(vertices);
        (first..self.vertices.len() as u32).collect()
    }
    /// Adds triangles from a ring to a point, counter-clockwise as seen from outside.
    fn fan(&mut self, ring: &[u32], point: Vector3<f64>) {
        let point = self.add([point])[0];
        let next = ring.iter().cycle().skip(1);
        let sides = ring.iter().zip(next);
        self.triangles.extend(sides.map(|(a, b)| [*a, *b, point]));
    }
    /// Adds squares between a circle and the circle above it, each split into two triangles.
    fn band(&mut self, low: &[u32], high: &[u32], cut: Cut) {
        for i in 0..low.len() {
            let j = (i + 1) % low.len();
            let (a, b, c, d) = (low[i], low[j], high[j], high[i]);
            self.triangles.extend(match cut {
                Cut::Rising => [[a, b, c], [a, c, d]],
                Cut::Falling => [[a, b, d], [b, c, d]],
            });
        }
    }
    /// Closes both ends with a fan around the pole at -z or z.
    fn ends(&mut self, mut bottom: Vec<u32>, top: Vec<u32>, z: f64) {
        bottom.reverse();
        self.fan(&bottom, Vector3::new(0.0, 0.0, -z));
        self.fan(&top, Vector3::new(0.0, 0.0, z));
    }
    /// Adds a triangle on the unit sphere, subdivided `times` times.
    fn divide(&mut self, [a, b, c]: [Vector3<f64>; 3], times: u32) {
        if times == 0 {
            let corners = self.add([a, b, c]);
            self.triangles.push([corners[0], corners[1], corners[2]]);
            return;
        }
        let [ab, bc, ca] = [a + b, b + c, c + a].map(|middle| middle.normalize());
        for part in [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]] {
            self.divide(part, times - 1);
        }
    }
    fn finish(self) -> Result<TriangleSurfaceMesh> {
        TriangleSurfaceMesh::new(self.triangles, self.vertices)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tarragon_geometry::{
        BoxShape, Capsule, Cylinder, Ellipsoid, ProximityProperties, Sphere, calc_volume,
    };

    fn mesh(shape: &Shape, hint: f64) -> TriangleSurfaceMesh {
        let properties = ProximityProperties::new().with_rigid_hydroelastic();
        let properties = properties.with_resolution_hint(hint).unwrap();
        surface(shape, &properties).unwrap().unwrap()
    }

    /// Returns how far outside a point is, relative to the size of the shape; 0 on its surface.
    fn outside(shape: &Shape, p: &Vector3<f64>) -> f64 {
        let beyond = |z: f64, half: f64| (z.abs() - half).max(0.0);
        match shape {
            Shape::Box(b) => p.abs().component_div(&b.half_size()).max() - 1.0,
            Shape::Sphere(s) => p.norm() / s.radius() - 1.0,
            Shape::Ellipsoid(e) => p.component_div(&e.semi_axes()).norm() - 1.0,
            Shape::Cylinder(c) => {
                let around = p.xy().norm() / c.radius();
                around.max(2.0 * p.z.abs() / c.length()) - 1.0
            }
            Shape::Capsule(c) => {
                let z = beyond(p.z, 0.5 * c.length());
                Vector3::new(p.x, p.y, z).norm() / c.radius() - 1.0
            }
            other => panic!("{other:?}"),
        }
    }

    fn shapes() -> impl Strategy<Value = Shape> {
        let sizes = || prop::array::uniform3(0.05..2.0);
        prop_oneof![
            sizes().prop_map(|[x, y, z]| BoxShape::new(x, y, z).unwrap().into()),
            sizes().prop_map(|[r, ..]| Sphere::new(r).unwrap().into()),
            sizes().prop_map(|[x, y, z]| Ellipsoid::new(x, y, z).unwrap().into()),
            sizes().prop_map(|[r, l, _]| Cylinder::new(r, l).unwrap().into()),
            sizes().prop_map(|[r, l, _]| Capsule::new(r, l).unwrap().into()),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        /// Vertices lie on the shape, triangles face outwards, the surface is closed, and finer
        /// meshes fill more of the volume.
        #[test]
        fn surfaces_inscribe_their_shapes(shape in shapes(), fineness in 0.05..1.0) {
            let exact = calc_volume(&shape).unwrap();
            let mut last = 0.0;
            for hint in [4.0 * fineness, fineness] {
                let mesh = mesh(&shape, hint);
                for vertex in mesh.vertices() {
                    prop_assert!(outside(&shape, vertex).abs() < 1e-12, "{vertex}");
                }
                let areas = (0..mesh.num_triangles()).map(|t| mesh.face_normal(t) * mesh.area(t));
                // The area vectors of a closed surface sum to zero.
                prop_assert!(areas.sum::<Vector3<f64>>().norm() < 1e-12 * mesh.total_area());
                let volume = mesh.calc_enclosed_volume();
                prop_assert!(volume > 0.0 && volume <= exact * (1.0 + 1e-12));
                prop_assert!(volume >= last * (1.0 - 1e-12), "{volume}, {last}");
                last = volume;
            }
        }
    }
}
