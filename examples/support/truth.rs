//! Solids whose support function is known independently of the library, to any precision.

use nalgebra::{Isometry3, Vector3};
use serde_json::{Value, json};
use std::fmt::Write;
use std::ops::{Add, Div, Mul, Neg, Sub};
use std::path::Path;
use tarragon::framework::random::{RandomDistribution, RandomGenerator};
use tarragon::geometry::{Convex, InMemoryMesh, MemoryFile, Mesh, Shape};

/// Arithmetic in which support functions are computed.
pub(crate) trait Real:
    Copy
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// Converts `x` exactly.
    fn of(x: f64) -> Self;
    /// The nearest double.
    fn value(self) -> f64;
    /// Square root; the number must not be negative.
    fn root(self) -> Self;
    /// The absolute value.
    fn magnitude(self) -> Self {
        if self < Self::of(0.0) { -self } else { self }
    }
}

impl Real for f64 {
    fn of(x: f64) -> Self {
        x
    }
    fn value(self) -> f64 {
        self
    }
    fn root(self) -> Self {
        self.sqrt()
    }
}

pub(crate) fn vector<R: Real>(v: &Vector3<f64>) -> [R; 3] {
    [R::of(v.x), R::of(v.y), R::of(v.z)]
}

pub(crate) fn dot<R: Real>(a: &[R; 3], b: &[R; 3]) -> R {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(crate) fn scaled<R: Real>(a: &[R; 3], s: R) -> [R; 3] {
    a.map(|x| x * s)
}

pub(crate) fn unit<R: Real>(a: &[R; 3]) -> [R; 3] {
    let length = dot(a, a).root();
    a.map(|x| x / length)
}

pub(crate) fn cross<R: Real>(a: &[R; 3], b: &[R; 3]) -> [R; 3] {
    let minor = |i: usize, j: usize| a[i] * b[j] - a[j] * b[i];
    [minor(1, 2), minor(2, 0), minor(0, 1)]
}

/// Rotates `v` by a pose's rotation, whose quaternion need not have unit length to the last digit;
/// `back` inverts the rotation.
pub(crate) fn turned<R: Real>(x: &Isometry3<f64>, v: &[R; 3], back: bool) -> [R; 3] {
    let q = x.rotation.coords;
    let u = [q.x, q.y, q.z].map(|c| R::of(if back { -c } else { c }));
    let w = R::of(q.w);
    let twice = R::of(2.0) / (w * w + dot(&u, &u));
    let uv = cross(&u, v);
    let uuv = cross(&u, &uv);
    std::array::from_fn(|i| v[i] + twice * (w * uv[i] + uuv[i]))
}

/// A shape, and the hull's vertices if it is a polytope.
#[derive(Clone)]
pub(crate) struct Solid {
    pub(crate) shape: Shape,
    pub(crate) points: Vec<Vector3<f64>>,
}

impl Solid {
    pub(crate) fn of(shape: impl Into<Shape>) -> Self {
        let (shape, points) = (shape.into(), vec![]);
        Self { shape, points }
    }

    /// The hull of points, or a mesh with these vertices.
    pub(crate) fn hull(points: Vec<Vector3<f64>>, mesh: bool) -> Self {
        let file = InMemoryMesh::new(MemoryFile::new(obj(&points), ".obj", "points"));
        let shape = if mesh {
            Mesh::new(file).into()
        } else {
            Convex::new(file).into()
        };
        Self { shape, points }
    }

    /// The shape as JSON for scenes of `tarragon query`; a mesh is written into a folder under a
    /// name.
    pub(crate) fn json(&self, (folder, name): (&Path, &str)) -> std::io::Result<Value> {
        let kind = self.shape.type_name();
        Ok(match &self.shape {
            Shape::Box(s) => json!({"type": kind, "size": s.size().as_slice()}),
            Shape::Capsule(s) => json!({"type": kind, "radius": s.radius(), "length": s.length()}),
            Shape::Cylinder(s) => json!({"type": kind, "radius": s.radius(), "length": s.length()}),
            Shape::Ellipsoid(s) => json!({"type": kind, "abc": s.semi_axes().as_slice()}),
            Shape::Sphere(s) => json!({"type": kind, "radius": s.radius()}),
            Shape::Convex(_) | Shape::Mesh(_) => {
                let file = folder.join(format!("{name}.obj"));
                std::fs::write(&file, obj(&self.points))?;
                json!({"type": kind, "file": file})
            }
            _ => json!({"type": kind}),
        })
    }

    /// Largest value of `d.p` over the points of the solid in its own frame; for a half space, `d`
    /// must be its normal.
    pub(crate) fn local_support<R: Real>(&self, d: &[R; 3]) -> R {
        let around = |x: R, y: R| (x * x + y * y).root();
        let half = R::of(0.5);
        match &self.shape {
            Shape::Box(s) => {
                let size: [R; 3] = vector(&s.size());
                half * dot(&size, &d.map(Real::magnitude))
            }
            Shape::Capsule(s) => {
                half * R::of(s.length()) * d[2].magnitude() + R::of(s.radius()) * dot(d, d).root()
            }
            Shape::Cylinder(s) => {
                half * R::of(s.length()) * d[2].magnitude() + R::of(s.radius()) * around(d[0], d[1])
            }
            Shape::Ellipsoid(s) => {
                let axes: [R; 3] = vector(&s.semi_axes());
                let scaled: [R; 3] = std::array::from_fn(|i| axes[i] * d[i]);
                dot(&scaled, &scaled).root()
            }
            Shape::Sphere(s) => R::of(s.radius()) * dot(d, d).root(),
            Shape::Convex(_) | Shape::Mesh(_) => {
                let heights = self.points.iter().map(|p| dot(&vector(p), d));
                let largest = heights.reduce(|a, b| if b > a { b } else { a });
                largest.unwrap_or(R::of(f64::NEG_INFINITY))
            }
            _ => R::of(0.0),
        }
    }

    /// Largest value of `d.p` over the solid at a pose.
    pub(crate) fn support<R: Real>(&self, x: &Isometry3<f64>, d: &[R; 3]) -> R {
        self.local_support(&turned(x, d, true)) + dot(&vector(&x.translation.vector), d)
    }
}

/// The separating margin of the unit vector `n` from A to B: never above the signed distance, and
/// equal to it at the true normal. If one of them is a half space, `n` must be its normal.
pub(crate) fn margin<R: Real>(
    (a, x_wa): (&Solid, &Isometry3<f64>),
    (b, x_wb): (&Solid, &Isometry3<f64>),
    n: &[R; 3],
) -> R {
    -b.support(x_wb, &n.map(Neg::neg)) - a.support(x_wa, n)
}

/// An OBJ file of points; its faces merely make sure that all points are used.
fn obj(points: &[Vector3<f64>]) -> String {
    let mut text = String::new();
    for p in points {
        // The shortest texts that read back to the same bits. Writing to a string cannot fail.
        let _ = writeln!(text, "v {:?} {:?} {:?}", p.x, p.y, p.z);
    }
    for i in 2..points.len() {
        let _ = writeln!(text, "f {} {} {}", i - 1, i, i + 1);
    }
    text
}

/// Seeded random numbers.
pub(crate) struct Random(pub(crate) RandomGenerator);

impl Random {
    /// Uniform from `low` to `high`.
    pub(crate) fn range(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.0.sample(RandomDistribution::Uniform)
    }
    /// Log-uniform from `low` to `high`.
    pub(crate) fn magnitude(&mut self, low: f64, high: f64) -> f64 {
        10_f64.powf(self.range(low.log10(), high.log10()))
    }
    /// A number from 0 to n - 1.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.range(0.0, n as f64) as usize).min(n - 1)
    }
    /// True with probability 1/n.
    pub(crate) fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
    /// A vector with components uniform in (-1, 1).
    pub(crate) fn cube(&mut self) -> Vector3<f64> {
        Vector3::from_fn(|_, _| self.range(-1.0, 1.0))
    }
    /// A uniformly distributed direction.
    pub(crate) fn direction(&mut self) -> Vector3<f64> {
        loop {
            let v = self.cube();
            let length = v.norm();
            if length > 0.1 && length < 1.0 {
                return v / length;
            }
        }
    }
    /// A quaternion w, x, y, z of a uniformly distributed rotation.
    pub(crate) fn quaternion(&mut self) -> [f64; 4] {
        std::array::from_fn(|_| self.0.sample(RandomDistribution::Gaussian))
    }
}
