//! Random solids for contact surfaces, of all shapes, scales and proportions.

use super::{Random, Solid};
use nalgebra::Vector3;
use tarragon_framework::warnings::collect;
use tarragon_geometry::{
    BoxShape, Capsule, Convex, Cylinder, Ellipsoid, HalfSpace, InMemoryMesh, MemoryFile, Mesh,
    ProximityProperties, Result, Shape, Sphere,
};

/// Ratio of the thinnest side of some shapes to the others.
const THIN: f64 = 1e-4;

/// Returns a shape about as large as `size` (m).
fn shape(r: &mut Random, size: f64) -> Result<Shape> {
    let mut part = || match r.below(8) {
        0 => size,
        1 => size * THIN,
        _ => size * r.range(0.2, 1.0),
    };
    let (x, y, z) = (part(), part(), part());
    Ok(match r.below(10) {
        0 => Sphere::new(x)?.into(),
        1 => Ellipsoid::new(x, y, z)?.into(),
        2 => Cylinder::new(x, y)?.into(),
        // As high as wide, where the medial axis is a point.
        3 if r.once_in(2) => Cylinder::new(x, 2.0 * x)?.into(),
        3 => Capsule::new(x, y)?.into(),
        4 if r.once_in(2) => BoxShape::new(x, x, x)?.into(),
        4 | 5 => BoxShape::new(x, y, z)?.into(),
        6 => Convex::new(obj(r, size)).into(),
        7 => Mesh::new(obj(r, size)).into(),
        8 => Mesh::new(vtk(r, size)).into(),
        _ => HalfSpace.into(),
    })
}

/// Returns a solid about as large as `size` (m).
pub(super) fn solid(r: &mut Random, size: f64) -> Result<Solid> {
    let shape = shape(r, size)?;
    let hint = size * r.range(0.3, 2.0);
    let mut properties = ProximityProperties::new().with_resolution_hint(hint)?;
    if r.below(5) < 2 {
        properties = properties.with_rigid_hydroelastic();
    } else {
        properties = properties.with_compliant_hydroelastic(r.magnitude(1e3, 1e12))?;
        properties = properties.with_slab_thickness(size * r.range(0.1, 2.0))?;
        if r.once_in(4) {
            let margin = size * r.magnitude(1e-4, 1e-1);
            properties = properties.with_hydroelastic_margin(margin)?;
        }
    }
    if r.once_in(5) {
        properties = properties.with_equal_volume_tessellation();
    }
    Ok(Solid { shape, properties })
}

/// Vertices and triangles of a closed surface around the origin: an octahedron, a cube, or a
/// dipyramid with random corners.
fn surface(r: &mut Random) -> (Vec<Vector3<f64>>, Vec<[usize; 3]>) {
    if r.once_in(3) {
        let side = |i: usize, bit: usize| if i & bit == 0 { -0.5 } else { 0.5 };
        let corners = (0..8).map(|i| Vector3::new(side(i, 1), side(i, 2), side(i, 4)));
        let quads = [
            [0, 2, 3, 1],
            [4, 5, 7, 6],
            [0, 1, 5, 4],
            [2, 6, 7, 3],
            [0, 4, 6, 2],
            [1, 3, 7, 5],
        ];
        let triangles = quads
            .iter()
            .flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]);
        return (corners.collect(), triangles.collect());
    }
    let n = 3 + r.below(6);
    let is_regular = r.once_in(2);
    let mut corners = vec![Vector3::new(0.0, 0.0, -0.5), Vector3::new(0.0, 0.0, 0.5)];
    for i in 0..n {
        let angle = std::f64::consts::TAU * i as f64 / n as f64;
        let (radius, z) = if is_regular {
            (0.5, 0.0)
        } else {
            (r.range(0.2, 0.5), r.range(-0.2, 0.2))
        };
        corners.push(Vector3::new(radius * angle.cos(), radius * angle.sin(), z));
    }
    let triangles = (0..n).flat_map(|i| {
        let (a, b) = (2 + i, 2 + (i + 1) % n);
        [[0, b, a], [1, a, b]]
    });
    (corners, triangles.collect())
}

/// Returns random factors along the axes, some of which are small.
fn stretch(r: &mut Random, size: f64) -> Vector3<f64> {
    Vector3::from_fn(|_, _| match r.below(6) {
        0 => size * r.magnitude(THIN, 1.0),
        _ => size,
    })
}

fn in_memory(content: &str, extension: &str) -> InMemoryMesh {
    InMemoryMesh::new(MemoryFile::new(content, extension, "solid"))
}

fn obj(r: &mut Random, size: f64) -> InMemoryMesh {
    let (corners, triangles) = surface(r);
    let stretch = stretch(r, size);
    let mut text = String::new();
    for corner in corners {
        let p = corner.component_mul(&stretch);
        text += &format!("v {:?} {:?} {:?}\n", p.x, p.y, p.z);
    }
    for t in triangles {
        let [a, b, c] = t.map(|v| v + 1);
        text += &format!("f {a} {b} {c}\n");
    }
    in_memory(&text, ".obj")
}

/// Returns a volume mesh around a vertex inside, which may be so near to a face that tetrahedra are
/// needles; some have a tetrahedron without a volume, too.
fn vtk(r: &mut Random, size: f64) -> InMemoryMesh {
    let (mut corners, triangles) = surface(r);
    let inside = match r.below(3) {
        0 => Vector3::zeros(),
        1 => r.cube() * 0.1,
        // Nearly on a face.
        _ => {
            let [a, b, c] = triangles[r.below(triangles.len())].map(|v| corners[v]);
            (a + b + c) / 3.0 * (1.0 - r.magnitude(1e-6, 1e-1))
        }
    };
    let last = corners.len();
    corners.push(inside);
    let mut tetrahedra: Vec<[usize; 4]> = triangles
        .iter()
        .map(|[a, b, c]| [*a, *b, *c, last])
        .collect();
    if r.once_in(4) {
        let [a, b, c] = triangles[0];
        tetrahedra.push([a, b, c, c]);
    }
    let stretch = stretch(r, size);
    let (n, m) = (corners.len(), tetrahedra.len());
    let mut text = "# vtk DataFile Version 3.0\nx\nASCII\nDATASET UNSTRUCTURED_GRID\n".to_string();
    text += &format!("POINTS {n} double\n");
    for corner in corners {
        let p = corner.component_mul(&stretch);
        text += &format!("{:?} {:?} {:?}\n", p.x, p.y, p.z);
    }
    text += &format!("CELLS {m} {}\n", 5 * m);
    for [a, b, c, d] in tetrahedra {
        text += &format!("4 {a} {b} {c} {d}\n");
    }
    text += &format!("CELL_TYPES {m}\n{}", "10\n".repeat(m));
    in_memory(&text, ".vtk")
}

/// Returns a pair of solids: of similar or of different sizes, or twice the same.
pub(super) fn pair(r: &mut Random) -> Result<[Solid; 2]> {
    let size = r.magnitude(1e-9, 1e9);
    let a = solid(r, size)?;
    let b = match r.below(8) {
        0 => a.clone(),
        // The same shape with other properties.
        1 => {
            let other = solid(r, size)?;
            Solid {
                shape: a.shape.clone(),
                ..other
            }
        }
        2 => {
            let own = r.magnitude(1e-9, 1e9);
            solid(r, own)?
        }
        _ => {
            let own = size * r.range(0.3, 3.0);
            solid(r, own)?
        }
    };
    Ok([a, b])
}

/// Does some work without its warnings, such as those of tetrahedra without a volume.
pub(super) fn quietly<R>(work: impl FnOnce() -> R) -> R {
    collect(work).0
}
