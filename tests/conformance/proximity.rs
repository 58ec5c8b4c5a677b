//! Signed distances of pairs, and distances to a point.

use crate::support::{Family, difference, load, number, numbers};
use nalgebra::{Isometry3, Vector3};
use serde_json::Value;
use tarragon_framework::{AutoDiff, Scalar, math};
use tarragon_geometry::proximity::{
    PairDistance, distance_to_point, signed_distance, signed_distance_within,
};
use tarragon_geometry::{
    BoxShape, Capsule, Convex, Cylinder, Ellipsoid, HalfSpace, Mesh, Shape, Sphere,
};

const TYPES: [&str; 8] = [
    "Box",
    "Capsule",
    "Convex",
    "Cylinder",
    "Ellipsoid",
    "HalfSpace",
    "Mesh",
    "Sphere",
];

/// Builds a recorded shape, whose file is in a directory of the recordings.
pub(crate) fn shape(spec: &Value, directory: &str) -> Shape {
    let length = |key: &str| number(&spec[key]);
    match spec["type"].as_str() {
        Some("Box") => {
            let [x, y, z] = numbers(&spec["size"]);
            BoxShape::new(x, y, z).unwrap().into()
        }
        Some("Capsule") => Capsule::new(length("radius"), length("length"))
            .unwrap()
            .into(),
        Some("Cylinder") => Cylinder::new(length("radius"), length("length"))
            .unwrap()
            .into(),
        Some(kind @ ("Convex" | "Mesh")) => {
            let name = spec["file"].as_str().expect("a file name");
            let file = crate::support::find(&format!("{directory}/{name}"));
            let file = file.expect("the numbers were read from there");
            let scale3 = match &spec["scale3"] {
                Value::Null => Vector3::repeat(1.0),
                scale3 => Vector3::from(numbers::<3>(scale3)),
            };
            // A mesh stands for its convex hull, except for the distance to a point.
            if kind == "Mesh" {
                Mesh::with_scale(file, scale3).unwrap().into()
            } else {
                Convex::with_scale(file, scale3).unwrap().into()
            }
        }
        Some("Ellipsoid") => {
            let [a, b, c] = numbers(&spec["abc"]);
            Ellipsoid::new(a, b, c).unwrap().into()
        }
        Some("Sphere") => Sphere::new(length("radius")).unwrap().into(),
        Some("HalfSpace") => HalfSpace.into(),
        _ => panic!("no such shape: {spec}"),
    }
}

fn pose(q: &Value, p: &Value) -> Isometry3<f64> {
    let q = math::quaternion_wxyz(numbers(q)).expect("recorded quaternions have a length");
    math::pose(q, Vector3::from(numbers::<3>(p)))
}

/// One recorded configuration of a pair.
struct Config {
    name: String,
    a: Shape,
    b: Shape,
    x_wa: Isometry3<f64>,
    x_wb: Isometry3<f64>,
    recorded: Value,
}

impl Config {
    fn solve(&self) -> PairDistance<f64> {
        signed_distance(&self.a, &self.x_wa, &self.b, &self.x_wb).unwrap()
    }

    /// The distance with derivatives with respect to the position of A.
    fn solve_dual(&self) -> (PairDistance<AutoDiff>, Isometry3<AutoDiff>) {
        let (mut x_wa, x_wb) = (self.x_wa.cast::<AutoDiff>(), self.x_wb.cast());
        for i in 0..3 {
            x_wa.translation.vector[i] = AutoDiff::variable(self.x_wa.translation.vector[i], i);
        }
        let d = signed_distance(&self.a, &x_wa, &self.b, &x_wb).unwrap();
        (d, x_wa)
    }

    /// The largest violation of two properties: witnesses lie on their surfaces, and differ by the
    /// distance along the normal.
    fn inconsistency(&self, d: &PairDistance<f64>) -> f64 {
        let on = |s, x, p| {
            let hull = hull_of(s);
            distance_to_point::<f64>(&hull, x, p)
                .unwrap()
                .distance
                .abs()
        };
        let apart = (d.p_wca - d.p_wcb - d.nhat_ba_w * d.distance).norm();
        on(&self.a, &self.x_wa, &d.p_wca)
            .max(on(&self.b, &self.x_wb, &d.p_wcb))
            .max(apart)
            .max((d.nhat_ba_w.norm() - 1.0).abs())
    }

    /// The separating margin of a normal from B to A, a lower bound of the signed distance.
    fn margin(&self, nhat_ba_w: &Vector3<f64>) -> f64 {
        margin((&self.a, &self.x_wa), (&self.b, &self.x_wb), nhat_ba_w)
    }
}

/// The separating margin of a normal from B to A, for shapes at poses.
pub(crate) fn margin(
    a: (&Shape, &Isometry3<f64>),
    b: (&Shape, &Isometry3<f64>),
    nhat_ba_w: &Vector3<f64>,
) -> f64 {
    let n = -nhat_ba_w;
    -support(b.0, b.1, &-n) - support(a.0, a.1, &n)
}

/// The shape in pair queries: they use the hull of a mesh, point queries its surface.
fn hull_of(shape: &Shape) -> Shape {
    match shape {
        Shape::Mesh(m) => Convex::with_scale(m.source().clone(), m.scale3())
            .unwrap()
            .into(),
        other => other.clone(),
    }
}

/// Support function: the largest value of `d.p` over a shape.
fn support(shape: &Shape, x: &Isometry3<f64>, d: &Vector3<f64>) -> f64 {
    let d_g = x.rotation.inverse() * d;
    let local = match shape {
        Shape::Box(b) => b.half_size().dot(&d_g.abs()),
        Shape::Capsule(c) => 0.5 * c.length() * d_g.z.abs() + c.radius(),
        Shape::Cylinder(c) => 0.5 * c.length() * d_g.z.abs() + c.radius() * d_g.xy().norm(),
        Shape::Ellipsoid(e) => e.semi_axes().component_mul(&d_g).norm(),
        Shape::Sphere(s) => s.radius(),
        Shape::Convex(_) | Shape::Mesh(_) => {
            let hull = match shape {
                Shape::Convex(c) => c.convex_hull(),
                Shape::Mesh(m) => m.convex_hull(),
                _ => unreachable!("either Convex or Mesh"),
            };
            let heights = hull
                .unwrap()
                .vertices()
                .iter()
                .map(|v| v.dot(&d_g))
                .collect::<Vec<_>>();
            heights.into_iter().fold(f64::NEG_INFINITY, f64::max)
        }
        // A half space is bounded along its normal only; rounding of the normal is tolerated.
        _ if d_g.z > 0.0 && d_g.xy().norm() < 1e-12 => 0.0,
        _ => f64::INFINITY,
    };
    local + d.dot(&x.translation.vector)
}

/// The recorded configurations of an ordered pair; none if there is no file.
fn configs(a: &str, b: &str) -> Vec<Config> {
    let Some(file) = load(&format!("proximity/drake/prox_{a}_{b}.json.gz")) else {
        return Vec::new();
    };
    let items = file["configs"]
        .as_array()
        .expect("a list of configurations")
        .iter();
    items
        .enumerate()
        .map(|(k, c)| {
            let shapes = &file["shapes"][c["s"].as_u64().expect("an index") as usize];
            Config {
                name: format!("{a}-{b} {k} {}", c["cat"]),
                a: shape(&shapes[0], "proximity/meshes"),
                b: shape(&shapes[1], "proximity/meshes"),
                x_wa: pose(&c["qA"], &c["pA"]),
                x_wb: pose(&c["qB"], &c["pB"]),
                recorded: c.clone(),
            }
        })
        .collect()
}

/// All ordered pairs that have a signed distance.
fn pairs() -> impl Iterator<Item = (&'static str, &'static str)> {
    TYPES
        .into_iter()
        .flat_map(|a| TYPES.map(|b| (a, b)))
        .filter(|pair| *pair != ("HalfSpace", "HalfSpace"))
}

/// Compares value, normal and witnesses with high-precision references. The normal may differ from
/// the recorded one only if it is optimal as well.
#[test]
fn distances_match_high_precision_references() {
    let mut family = Family::new("proximity.reference");
    for (a, b) in pairs() {
        let path = format!("proximity/reference/ref_{a}_{b}.json.gz");
        // Each pair is recorded in one order only.
        let reversed = format!("proximity/reference/ref_{b}_{a}.json.gz");
        let Some(file) = crate::support::first(&[&path, &reversed]) else {
            continue;
        };
        if file["A"] != a || file["B"] != b {
            continue;
        }
        let configs = configs(a, b);
        for r in file["refs"].as_array().expect("a list of references") {
            let Some(c) = configs.get(r["k"].as_u64().expect("an index") as usize) else {
                continue;
            };
            let d = c.solve();
            let phi = number(&r["phi"]);
            let n = -Vector3::from(numbers::<3>(&r["n_AB"]));
            let (dual, _) = c.solve_dual();
            let gradient = Vector3::from_fn(|i, _| dual.distance.eps[i]);
            let off = (gradient - n).norm();
            let equally_good = (c.margin(&d.nhat_ba_w) - phi).abs() < 1e-12;
            let off = if equally_good {
                (gradient - d.nhat_ba_w).norm()
            } else {
                off
            };
            let swapped = signed_distance(&c.b, &c.x_wb, &c.a, &c.x_wa)
                .unwrap()
                .swapped();
            family.case(
                || c.name.clone(),
                &[
                    ("phi", (d.distance - phi).abs(), 1e-12),
                    ("margin", (c.margin(&d.nhat_ba_w) - phi).abs(), 1e-12),
                    ("witnesses", c.inconsistency(&d), 1e-12),
                    ("dual value", (dual.distance.re - phi).abs(), 1e-12),
                    ("gradient", off, 1e-9),
                    ("exchange", (swapped.p_wca - d.p_wca).norm(), 1e-12),
                ],
            );
        }
    }
    family.finish();
}

/// Whether Drake itself is exact for a pair (measured against the references).
fn drake_is_exact(a: &str, b: &str) -> bool {
    let closed_form = |t: &str| ["Box", "Capsule", "Cylinder", "HalfSpace", "Sphere"].contains(&t);
    (a == "Sphere" && closed_form(b))
        || (b == "Sphere" && closed_form(a))
        || (a, b) == ("Box", "Box")
}

/// Checks every recorded pose for consistency and a certificate, and for equality with Drake where
/// Drake is exact.
#[test]
fn distances_match_drake() {
    let mut family = Family::new("proximity.drake");
    for (a, b) in pairs() {
        for c in configs(a, b) {
            let d = c.solve();
            let margin = (c.margin(&d.nhat_ba_w) - d.distance).abs();
            let mut errors = vec![
                ("witnesses", c.inconsistency(&d), 1e-12),
                ("margin", margin, 1e-12),
            ];
            let within = signed_distance_within(&c.a, &c.x_wa, &c.b, &c.x_wb, 0.0).unwrap();
            let collides = c.recorded["hc"].as_bool();
            if d.distance.abs() > 1e-9 && collides.is_some_and(|hc| hc != within.is_some()) {
                errors.push(("HasCollisions", f64::NAN, 0.0));
            }
            let sd = &c.recorded["sd"];
            if sd.is_array() && drake_is_exact(a, b) {
                errors.push(("distance", (d.distance - number(&sd[0])).abs(), 1e-12));
                // Drake's box-box normals and witnesses may be other, equally good ones.
                if (a, b) != ("Box", "Box") {
                    let n = Vector3::from(numbers::<3>(&sd[1]));
                    let p_ac = c.x_wa.inverse() * nalgebra::Point3::from(d.p_wca);
                    let p_bc = c.x_wb.inverse() * nalgebra::Point3::from(d.p_wcb);
                    errors.push(("normal", (d.nhat_ba_w - n).norm(), 1e-9));
                    errors.push((
                        "p_ACa",
                        difference(p_ac.coords.as_slice(), &numbers::<3>(&sd[2])),
                        1e-9,
                    ));
                    errors.push((
                        "p_BCb",
                        difference(p_bc.coords.as_slice(), &numbers::<3>(&sd[3])),
                        1e-9,
                    ));
                }
            }
            let pen = &c.recorded["pen"];
            if pen.is_array() && (a == "HalfSpace" || b == "HalfSpace") {
                errors.push(("depth", (d.distance + number(&pen[0])).abs(), 1e-12));
                let n = Vector3::from(numbers::<3>(&pen[1]));
                errors.push(("penetration normal", (d.nhat_ba_w - n).norm(), 1e-9));
            }
            family.case(|| c.name.clone(), &errors);
        }
    }
    family.finish();
}

/// Value, normal and witnesses in the layout of the recorded differences: the signed distance with
/// witnesses in the bodies, or the depth with witnesses in the world.
fn reported<T: Scalar>(
    d: &PairDistance<T>,
    x_wa: &Isometry3<T>,
    x_wb: &Isometry3<T>,
    depth: bool,
) -> [T; 10] {
    let in_body =
        |x: &Isometry3<T>, p: &Vector3<T>| x.rotation.inverse() * (p - x.translation.vector);
    let (value, p, q) = if depth {
        (-d.distance, d.p_wca, d.p_wcb)
    } else {
        (d.distance, in_body(x_wa, &d.p_wca), in_body(x_wb, &d.p_wcb))
    };
    let n = d.nhat_ba_w;
    [value, n.x, n.y, n.z, p.x, p.y, p.z, q.x, q.y, q.z]
}

/// Derivatives with respect to the position of A: compared with Drake's AutoDiffXd where available,
/// and with central differences of Drake's distances, normals and witnesses with a step of 1e-5 m.
/// If a sphere's centre is a few millimetres from an edge, the step itself causes an error beyond
/// the tolerance; the same differences of our values measure and allow for that error.
#[test]
fn derivatives_match_drake() {
    let mut family = Family::new("proximity.autodiff");
    for (a, b) in pairs() {
        for c in configs(a, b) {
            let (d, x_wa) = c.solve_dual();
            let gradient: [f64; 3] = std::array::from_fn(|i| d.distance.eps[i]);
            let n: [f64; 3] = std::array::from_fn(|i| d.nhat_ba_w[i].re);
            let mut errors = vec![("gradient is the normal", difference(&gradient, &n), 1e-12)];
            for (key, sign) in [("ad_sd", 1.0), ("ad_pen", -1.0)] {
                let ad = &c.recorded[key];
                if ad.is_array() {
                    let value = (d.distance.re - sign * number(&ad[0])).abs();
                    let expected = numbers::<3>(&ad[1]).map(|x| sign * x);
                    errors.push((key, value.max(difference(&gradient, &expected)), 1e-9));
                }
            }
            for (key, depth) in [("fd_sd", false), ("fd_pen", true)] {
                let fd = &c.recorded[key];
                if !fd.is_array() {
                    continue;
                }
                let ours = reported(&d, &x_wa, &c.x_wb.cast(), depth);
                for i in 0..3 {
                    let at = |step: f64| {
                        let mut x_wa = c.x_wa;
                        x_wa.translation.vector[i] += step;
                        let d = signed_distance(&c.a, &x_wa, &c.b, &c.x_wb).unwrap();
                        reported(&d, &x_wa, &c.x_wb, depth)
                    };
                    let (up, down) = (at(1e-5), at(-1e-5));
                    let same_step: [f64; 10] = std::array::from_fn(|k| (up[k] - down[k]) / 2e-5);
                    let exact = ours.map(|v| v.eps[i]);
                    let recorded = numbers::<10>(&fd[i]);
                    let step_error = difference(&exact, &same_step);
                    errors.push((key, difference(&exact, &recorded), 1e-5 + step_error));
                    errors.push(("same step", difference(&same_step, &recorded), 1e-9));
                }
            }
            family.case(|| c.name.clone(), &errors);
        }
    }
    family.finish();
}

/// Distance to a point, its gradient and nearest point, and AutoDiff in the position of A.
#[test]
fn point_distances_match_drake() {
    let mut family = Family::new("proximity.distance_to_point");
    for (a, b) in pairs().chain([("HalfSpace", "HalfSpace")]) {
        for c in configs(a, b) {
            let q = Vector3::from(numbers::<3>(&c.recorded["pQ"]));
            for (g, shape, x_wg) in [(0, &c.a, &c.x_wa), (1, &c.b, &c.x_wb)] {
                let (pt, ad) = (&c.recorded["pt"][g], &c.recorded["ad_pt"][g]);
                let d = distance_to_point(shape, x_wg, &q).unwrap();
                // Drake iterates for ellipsoids, so our answers are checked for consistency
                // instead.
                let exact = !matches!(shape, Shape::Ellipsoid(_));
                let off =
                    (x_wg * nalgebra::Point3::from(d.p_gn) + d.grad_w * d.distance).coords - q;
                let tolerances = if exact {
                    [1e-12, 1e-9, 1e-9]
                } else {
                    [1e-4, 0.1, 2e-2]
                };
                let mut errors = vec![
                    ("consistent", off.norm(), 1e-12),
                    (
                        "distance",
                        (d.distance - number(&pt[0])).abs(),
                        tolerances[0],
                    ),
                    (
                        "gradient",
                        difference(d.grad_w.as_slice(), &numbers::<3>(&pt[1])),
                        tolerances[1],
                    ),
                    (
                        "p_GN",
                        difference(d.p_gn.as_slice(), &numbers::<3>(&pt[2])),
                        tolerances[2],
                    ),
                ];
                if !exact {
                    let normal = d.p_gn.component_div(&{
                        let Shape::Ellipsoid(e) = shape else {
                            unreachable!("not exact")
                        };
                        e.semi_axes().component_mul(&e.semi_axes())
                    });
                    let normal = x_wg.rotation * normal.normalize();
                    errors.push(("normal", (normal - d.grad_w).norm(), 1e-12));
                }
                if ad.is_array() {
                    let mut x = x_wg.cast::<AutoDiff>();
                    if g == 0 {
                        for i in 0..3 {
                            x.translation.vector[i] =
                                AutoDiff::variable(x_wg.translation.vector[i], i);
                        }
                    }
                    let d = distance_to_point(shape, &x, &q.map(AutoDiff::constant)).unwrap();
                    errors.push(("ad value", (d.distance.re - number(&ad[0])).abs(), 1e-12));
                    let gradient: [f64; 3] = std::array::from_fn(|i| d.distance.eps[i]);
                    errors.push((
                        "ad gradient",
                        difference(&gradient, &numbers::<3>(&ad[1])),
                        1e-9,
                    ));
                }
                family.case(|| format!("{} geometry {g}", c.name), &errors);
            }
        }
    }
    family.finish();
}
