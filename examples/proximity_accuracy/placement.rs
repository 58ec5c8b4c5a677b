//! Pairs of bodies at a known distance, by construction.

use crate::dd::DoubleDouble as Dd;
use crate::truth::{Random, Real, Solid, cross, dot, margin, scaled, turned, unit, vector};
use nalgebra::{Isometry3, Vector3};
use serde_json::json;
use std::fs::create_dir_all;
use std::path::Path;
use tarragon::framework::math;
use tarragon::geometry::{BoxShape, Capsule, Cylinder, Ellipsoid, HalfSpace, Shape, Sphere};

type Vec3 = [Dd; 3];

/// Names of the types, in the order of the tables.
pub(crate) const TYPES: [&str; 7] = [
    "Box",
    "Capsule",
    "Convex",
    "Cylinder",
    "Ellipsoid",
    "HalfSpace",
    "Sphere",
];

/// A solid and the directions of its features.
pub(crate) struct Body {
    pub(crate) solid: Solid,
    /// Outward normals of flat and ruled surfaces, in the body's frame.
    normals: Vec<Vec3>,
    /// Directions of edges and axes.
    edges: Vec<Vec3>,
    /// Largest extent (m).
    pub(crate) extent: f64,
}

fn axis(i: usize, sign: f64) -> Vec3 {
    let mut v = [Dd::of(0.0); 3];
    v[i] = Dd::of(sign);
    v
}

impl Body {
    /// A random body of a type, about `size` (m) large; if `thin`, some of its extents are 1e-4 of
    /// that.
    pub(crate) fn random(
        r: &mut Random,
        kind: &str,
        size: f64,
        thin: bool,
    ) -> tarragon::geometry::Result<Self> {
        // One or two of the three extents are small.
        let (first, two) = (r.below(3), r.once_in(2));
        let small = |i: usize| thin && (i == first || two && i == (first + 1) % 3);
        let mut length = |i: usize| r.range(0.5, 1.0) * if small(i) { 1e-4 * size } else { size };
        let (x, y, z) = (length(0), length(1), length(2));
        let (mut normals, mut edges) = (vec![], vec![]);
        let up = axis(2, 1.0);
        let solid = match kind {
            "Box" => {
                for i in 0..3 {
                    normals.extend([axis(i, 1.0), axis(i, -1.0)]);
                    edges.push(axis(i, 1.0));
                }
                Solid::of(BoxShape::new(x, y, z)?)
            }
            "Capsule" => {
                edges.push(up);
                Solid::of(Capsule::new(0.5 * x, z)?)
            }
            "Cylinder" => {
                normals.extend([
                    up,
                    axis(2, -1.0),
                    cross(&up, &unit(&vector(&r.direction()))),
                ]);
                normals[2] = unit(&normals[2]);
                edges.push(up);
                Solid::of(Cylinder::new(0.5 * x, z)?)
            }
            "Ellipsoid" => Solid::of(Ellipsoid::new(0.5 * x, 0.5 * y, 0.5 * z)?),
            "HalfSpace" => Solid::of(HalfSpace),
            "Sphere" => Solid::of(Sphere::new(0.5 * size * r.range(0.5, 1.0))?),
            _ => {
                let count = 4 + r.below(12);
                let stretch = Vector3::new(x, y, z) * 0.5;
                let points = (0..count).map(|_| r.direction().component_mul(&stretch));
                let solid = Solid::hull(points.collect(), false);
                (normals, edges) = facets(&solid.points);
                solid
            }
        };
        let extent = (0..3)
            .map(|i| [1.0, -1.0].map(|sign| solid.local_support(&axis(i, sign)).value()))
            .map(|[up, down]| up + down)
            .fold(0.0, f64::max);
        Ok(Self {
            solid,
            normals,
            edges,
            extent,
        })
    }

    /// A point of the solid that is farthest in the direction `d`, in its frame: any of several,
    /// and for a half space one within `span` (m).
    fn farthest(&self, r: &mut Random, d: &Vec3, span: f64) -> Vec3 {
        let zero = Dd::of(0.0);
        let tiny = |x: Dd| x.magnitude() < Dd::of(1e-25);
        // One end, or anywhere between both ends.
        let mut end = |half: f64, d: Dd| {
            let at = if tiny(d) {
                r.range(-1.0, 1.0)
            } else {
                1.0_f64.copysign(d.value())
            };
            Dd::of(half) * Dd::of(at)
        };
        match &self.solid.shape {
            Shape::Box(s) => {
                let half = s.half_size();
                std::array::from_fn(|i| end(half[i], d[i]))
            }
            Shape::Capsule(s) => {
                let mut p = scaled(d, Dd::of(s.radius()));
                p[2] = p[2] + end(0.5 * s.length(), d[2]);
                p
            }
            Shape::Cylinder(s) => {
                let z = end(0.5 * s.length(), d[2]);
                let around = (d[0] * d[0] + d[1] * d[1]).root();
                if tiny(around) {
                    let p = r.direction() * (r.range(0.0, 1.0) * s.radius());
                    return [Dd::of(p.x), Dd::of(p.y), z];
                }
                let radius = Dd::of(s.radius());
                [radius * d[0] / around, radius * d[1] / around, z]
            }
            Shape::Ellipsoid(s) => {
                let axes: Vec3 = vector(&s.semi_axes());
                let stretched: Vec3 = std::array::from_fn(|i| axes[i] * d[i]);
                let length = dot(&stretched, &stretched).root();
                std::array::from_fn(|i| axes[i] * stretched[i] / length)
            }
            Shape::Sphere(s) => scaled(d, Dd::of(s.radius())),
            Shape::Convex(_) | Shape::Mesh(_) => {
                let top = self.solid.local_support(d);
                let is_top = |p: &&Vector3<f64>| {
                    (top - dot(&vector(p), d)).magnitude() < Dd::of(1e-25 * self.extent)
                };
                let mut sum = ([zero; 3], zero);
                for p in self.solid.points.iter().filter(is_top) {
                    let weight = Dd::of(r.range(0.0, 1.0));
                    let p: Vec3 = vector(p);
                    sum.0 = std::array::from_fn(|i| sum.0[i] + p[i] * weight);
                    sum.1 = sum.1 + weight;
                }
                sum.0.map(|x| x / sum.1)
            }
            _ => {
                let p = r.cube() * (0.5 * span);
                [Dd::of(p.x), Dd::of(p.y), zero]
            }
        }
    }
}

/// Outward unit normals of all planes through three points that have all other points on one side,
/// and the directions between points in such planes.
fn facets(points: &[Vector3<f64>]) -> (Vec<Vec3>, Vec<Vec3>) {
    let at = |i: usize| -> Vec3 { vector(&points[i]) };
    let between = |i: usize, j: usize| -> Vec3 {
        let (a, b) = (at(i), at(j));
        std::array::from_fn(|k| b[k] - a[k])
    };
    let (mut normals, mut edges, n) = (vec![], vec![], points.len());
    for i in 0..n {
        for j in i + 1..n {
            for k in j + 1..n {
                let (u, v) = (between(i, j), between(i, k));
                let normal = unit(&cross(&u, &v));
                let height = |l: usize| dot(&between(i, l), &normal).value();
                let others = (0..n).filter(|l| ![i, j, k].contains(l)).map(height);
                let (low, high) = others.fold((0.0_f64, 0.0_f64), |(low, high), h| {
                    (low.min(h), high.max(h))
                });
                if low.min(-high) == low.max(-high) && low != 0.0 {
                    continue;
                }
                if high == 0.0 || low == 0.0 {
                    normals.push(if high == 0.0 {
                        normal
                    } else {
                        normal.map(|c| -c)
                    });
                    edges.extend([unit(&u), unit(&v), unit(&between(j, k))]);
                }
            }
        }
    }
    (normals, edges)
}

/// Two placed bodies and their distance.
pub(crate) struct Placed {
    pub(crate) a: Body,
    pub(crate) b: Body,
    pub(crate) x_wa: Isometry3<f64>,
    pub(crate) x_wb: Isometry3<f64>,
    /// Unit normal from A to B.
    pub(crate) n: Vec3,
    /// The margin along `n`: the signed distance if positive, else a lower bound of it.
    pub(crate) gap: Dd,
}

impl Placed {
    /// Places B so that it faces A along some direction with a gap of `gap` (m) up to rounding; the
    /// actual gap after rounding is known.
    pub(crate) fn random(r: &mut Random, a: Body, b: Body, gap: f64) -> Self {
        let mut turn =
            || math::quaternion_wxyz(r.quaternion()).expect("Gaussian numbers are not zero");
        let (r_wa, r_wb) = (turn(), turn());
        let span = a.extent.max(b.extent);
        let x_wa = math::pose(r_wa, r.cube() * (0.5 * span));
        let mut x_wb = math::pose(r_wb, Vector3::zeros());
        let n = direction(r, (&a, &x_wa), (&b, &x_wb));
        let p_a = turned(&x_wa, &a.farthest(r, &turned(&x_wa, &n, true), span), false);
        let back = n.map(|c| -c);
        let p_b = turned(
            &x_wb,
            &b.farthest(r, &turned(&x_wb, &back, true), span),
            false,
        );
        let origin: Vec3 = vector(&x_wa.translation.vector);
        for i in 0..3 {
            x_wb.translation.vector[i] = (origin[i] + p_a[i] + n[i] * Dd::of(gap) - p_b[i]).value();
        }
        let gap = margin((&a.solid, &x_wa), (&b.solid, &x_wb), &n);
        Self {
            a,
            b,
            x_wa,
            x_wb,
            n,
            gap,
        }
    }

    /// A line for `tarragon query`; mesh files are named by `number`.
    pub(crate) fn line(&self, number: usize) -> std::io::Result<String> {
        let folder = Path::new("target/proximity_accuracy");
        create_dir_all(folder)?;
        let folder = folder.canonicalize()?;
        let bodies = [("a", &self.a, &self.x_wa), ("b", &self.b, &self.x_wb)];
        let mut geometries = vec![];
        for (name, body, x) in bodies {
            let (q, p) = (x.rotation, x.translation.vector);
            geometries.push(json!({
                "name": name, "shape": body.solid.json((&folder, &format!("{number}{name}")))?,
                "pose": [q.w, q.i, q.j, q.k, p.x, p.y, p.z],
            }));
        }
        Ok(json!({ "geometries": geometries }).to_string())
    }

    /// The margin of a computed normal; for a half space, that of its exact normal.
    pub(crate) fn margin_of(&self, nhat_ba_w: &Vector3<f64>) -> Dd {
        let is_plane = |body: &Body| matches!(body.solid.shape, Shape::HalfSpace(_));
        let n = if is_plane(&self.a) || is_plane(&self.b) {
            self.n
        } else {
            unit(&vector(&-nhat_ba_w))
        };
        margin((&self.a.solid, &self.x_wa), (&self.b.solid, &self.x_wb), &n)
    }

    /// The largest margin among many directions, in doubles: features, and climbs from random ones.
    pub(crate) fn searched(&self, r: &mut Random) -> f64 {
        let pair = ((&self.a, &self.x_wa), (&self.b, &self.x_wb));
        let value = |n: &Vector3<f64>| {
            let n: [f64; 3] = unit(&vector(n));
            margin((&self.a.solid, &self.x_wa), (&self.b.solid, &self.x_wb), &n)
        };
        let mut starts: Vec<(f64, Vector3<f64>)> = (0..200)
            .map(|_| direction(r, pair.0, pair.1))
            .map(|n| Vector3::from(n.map(Dd::value)))
            .map(|n| (value(&n), n))
            .collect();
        starts.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut best = f64::NEG_INFINITY;
        for (mut top, mut n) in starts.into_iter().take(4) {
            let mut step = 0.1;
            while step > 1e-6 {
                let turned = (0..6).map(|_| (n + r.direction() * step).normalize());
                let next = turned
                    .map(|n| (value(&n), n))
                    .max_by(|a, b| a.0.total_cmp(&b.0));
                match next {
                    Some((higher, better)) if higher > top => (top, n) = (higher, better),
                    _ => step *= 0.6,
                }
            }
            best = best.max(top);
        }
        best
    }
}

/// A direction from A to B: a normal of one body, a normal to edges of both, or any.
fn direction(
    r: &mut Random,
    (a, x_wa): (&Body, &Isometry3<f64>),
    (b, x_wb): (&Body, &Isometry3<f64>),
) -> Vec3 {
    if matches!(a.solid.shape, Shape::HalfSpace(_)) {
        return unit(&turned(x_wa, &axis(2, 1.0), false));
    }
    if matches!(b.solid.shape, Shape::HalfSpace(_)) {
        return unit(&turned(x_wb, &axis(2, -1.0), false));
    }
    let any = unit(&vector(&r.direction()));
    match r.below(4) {
        0 if !a.normals.is_empty() => {
            unit(&turned(x_wa, &a.normals[r.below(a.normals.len())], false))
        }
        1 if !b.normals.is_empty() => {
            let n = b.normals[r.below(b.normals.len())].map(|c| -c);
            unit(&turned(x_wb, &n, false))
        }
        2 if !a.edges.is_empty() && !b.edges.is_empty() => {
            let u = turned(x_wa, &a.edges[r.below(a.edges.len())], false);
            let v = turned(x_wb, &b.edges[r.below(b.edges.len())], false);
            let across = cross(&u, &v);
            let sign = Dd::of(if r.once_in(2) { 1.0 } else { -1.0 });
            unit(&scaled(&across, sign))
        }
        _ => any,
    }
}
