//! Test meshes, generated in memory.

mod minima;
mod overlap;
mod points;
mod robust;
mod separated;

use super::signed_distance_true_surface;
use crate::accel::IndexedSurface;
use crate::mesh::source::{InMemoryMesh, MemoryFile};
use crate::proximity::tests::Random;
use crate::proximity::{PairDistance, signed_distance};
use crate::shape::{BoxShape, Capsule, Convex, Cylinder, Ellipsoid, Mesh, Shape, Sphere};
use nalgebra::{Isometry3, Vector3};
use tarragon_framework::{AutoDiff, Scalar, math};

/// Corners and faces, counter-clockwise as seen from outside.
pub(super) type Faces = (Vec<Vector3<f64>>, Vec<Vec<usize>>);

pub(super) fn mesh((vertices, faces): &Faces) -> Mesh {
    let mut obj = String::new();
    for v in vertices {
        obj += &format!("v {:?} {:?} {:?}\n", v.x, v.y, v.z);
    }
    for f in faces {
        let indices: Vec<_> = f.iter().map(|i| (i + 1).to_string()).collect();
        obj += &format!("f {}\n", indices.join(" "));
    }
    Mesh::new(InMemoryMesh::new(MemoryFile::new(obj, ".obj", "test")))
}

/// Returns the hull of a mesh as a shape.
pub(super) fn hull(mesh: &Mesh) -> Shape {
    Convex::new(mesh.source().clone()).into()
}

pub(super) fn block(size: Vector3<f64>) -> Faces {
    let corner = |i: usize| {
        let side = |axis: usize| if i >> axis & 1 == 1 { 0.5 } else { -0.5 };
        Vector3::new(side(0), side(1), side(2)).component_mul(&size)
    };
    let faces = [
        [0, 2, 3, 1],
        [4, 5, 7, 6],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 4, 6, 2],
        [1, 3, 7, 5],
    ];
    (
        (0..8).map(corner).collect(),
        faces.iter().map(|f| f.to_vec()).collect(),
    )
}

/// Returns an L with arms of length 0.2 and thickness 0.08, 0.1 high; the notch is at positive x
/// and y.
pub(super) fn l_shape() -> Faces {
    let outline = [
        (0.0, 0.0),
        (0.2, 0.0),
        (0.2, 0.08),
        (0.08, 0.08),
        (0.08, 0.2),
        (0.0, 0.2),
    ];
    let ring = |z: f64| outline.map(|(x, y)| Vector3::new(x - 0.1, y - 0.1, z));
    let vertices = [ring(-0.05), ring(0.05)].concat();
    let mut faces = vec![];
    for i in 0..6 {
        let j = (i + 1) % 6;
        faces.push(vec![i, j, j + 6, i + 6]);
    }
    // Two rectangles and a square on each side, cut from corner to corner.
    for f in [[0, 1, 2, 3], [0, 3, 4, 5]] {
        faces.push(f.iter().rev().copied().collect());
        faces.push(f.iter().map(|i| i + 6).collect());
    }
    (vertices, faces)
}

/// Returns a torus around the z axis.
pub(super) fn torus(major: f64, minor: f64, around: usize, across: usize) -> Faces {
    let tau = std::f64::consts::TAU;
    let mut vertices = vec![];
    let mut faces = vec![];
    for i in 0..around {
        let (s, c) = (tau * i as f64 / around as f64).sin_cos();
        for j in 0..across {
            let (t, d) = (tau * j as f64 / across as f64).sin_cos();
            let r = major + minor * d;
            vertices.push(Vector3::new(r * c, r * s, minor * t));
            let (i1, j1) = ((i + 1) % around, (j + 1) % across);
            let at = |i: usize, j: usize| i * across + j;
            faces.push(vec![at(i, j), at(i1, j), at(i1, j1), at(i, j1)]);
        }
    }
    (vertices, faces)
}

/// Returns a sphere with waves of height `bumps` (relative to the radius).
pub(super) fn ball(radius: f64, bumps: f64, rings: usize, around: usize) -> Faces {
    let (pi, tau) = (std::f64::consts::PI, std::f64::consts::TAU);
    let mut vertices = vec![Vector3::z() * radius];
    let mut faces = vec![];
    let at = |i: usize, j: usize| 1 + (i - 1) * around + j % around;
    for i in 1..rings {
        let polar = pi * i as f64 / rings as f64;
        for j in 0..around {
            let azimuth = tau * j as f64 / around as f64;
            let wave = (5.0 * polar).sin() * (4.0 * azimuth).cos();
            let r = radius * (1.0 + bumps * wave);
            let (s, c) = polar.sin_cos();
            vertices.push(Vector3::new(s * azimuth.cos(), s * azimuth.sin(), c) * r);
        }
    }
    let last = vertices.len();
    vertices.push(Vector3::z() * -radius);
    for j in 0..around {
        faces.push(vec![0, at(1, j), at(1, j + 1)]);
        faces.push(vec![last, at(rings - 1, j + 1), at(rings - 1, j)]);
        for i in 1..rings - 1 {
            faces.push(vec![at(i, j), at(i + 1, j), at(i, j + 1)]);
            faces.push(vec![at(i, j + 1), at(i + 1, j), at(i + 1, j + 1)]);
        }
    }
    (vertices, faces)
}

/// Returns a square sheet perpendicular to z.
pub(super) fn sheet(size: f64) -> Faces {
    let h = 0.5 * size;
    let corners = [(-h, -h), (h, -h), (h, h), (-h, h)];
    let corners = corners.map(|(x, y)| Vector3::new(x, y, 0.0));
    (corners.to_vec(), vec![vec![0, 1, 2, 3]])
}

/// Returns a solid by number: 0: block, 1: L, 2: torus, 3: bumpy ball.
pub(super) fn solid(kind: usize) -> Faces {
    match kind {
        0 => block(Vector3::new(0.2, 0.15, 0.1)),
        1 => l_shape(),
        2 => torus(0.1, 0.04, 16, 8),
        _ => ball(0.12, 0.1, 10, 20),
    }
}

/// Returns a random body by number: 0: sphere, 1: capsule, 2: box, 3: cylinder, 4: ellipsoid, 5:
/// polytope.
pub(super) fn body(random: &mut Random, kind: usize) -> Shape {
    let (x, y, z) = (
        0.6 * random.length(),
        0.6 * random.length(),
        0.6 * random.length(),
    );
    match kind {
        0 => Sphere::new(0.5 * x).unwrap().into(),
        1 => Capsule::new(0.3 * x, y).unwrap().into(),
        2 => BoxShape::new(x, y, z).unwrap().into(),
        3 => Cylinder::new(0.5 * x, y).unwrap().into(),
        4 => Ellipsoid::new(0.5 * x, 0.5 * y, 0.5 * z).unwrap().into(),
        _ => {
            let points: Vec<_> = (0..12).map(|_| random.vector() * 0.1).collect();
            let fan = (2..12).map(|i| vec![0, i - 1, i]).collect();
            hull(&mesh(&(points, fan)))
        }
    }
}

pub(super) const BODIES: usize = 6;

/// Returns the distance of a mesh (A), by its true surface, and any shape (B).
pub(super) fn true_distance<T: Scalar>(
    a: &Mesh,
    x_wa: &Isometry3<T>,
    b: &Shape,
    x_wb: &Isometry3<T>,
) -> PairDistance<T> {
    let a = a.clone().into();
    signed_distance_true_surface(&a, true, x_wa, b, true, x_wb, f64::INFINITY)
        .unwrap()
        .unwrap()
}

/// Checks that normal and witnesses are consistent.
pub(super) fn check(d: &PairDistance<f64>) {
    let apart = d.p_wca - d.p_wcb - d.nhat_ba_w * d.distance;
    assert!(apart.norm() < 1e-12, "{d:?}");
    assert!((d.nhat_ba_w.norm() - 1.0).abs() < 1e-12, "{d:?}");
}

/// Returns the surface of a mesh that is known to have one.
pub(super) fn surface(mesh: &Mesh) -> &IndexedSurface {
    mesh.indexed_surface().unwrap()
}
