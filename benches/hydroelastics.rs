//! Benches of contact surfaces, the counterpart of `c_hydro.py`.

#![allow(clippy::unwrap_used, reason = "a bench fails by panicking")]
#![allow(missing_docs, reason = "criterion_group! makes undocumented functions")]

#[path = "support/posed_scene.rs"]
mod posed_scene;
mod support;
#[path = "support/vtk_grid.rs"]
mod vtk_grid;

use criterion::{Criterion, criterion_group, criterion_main};
use nalgebra::{Isometry3, Quaternion, UnitQuaternion, Vector3};
use posed_scene::{Scene, bench};
use std::cell::RefCell;
use std::hint::black_box;
use tarragon::framework::random::RandomGenerator;
use tarragon::framework::{DiagramScalar, Scalar, math};
use tarragon::geometry::HydroelasticContactRepresentation::{Polygon, Triangle};
use tarragon::geometry::{BoxShape, Capsule, Cylinder, Ellipsoid, Sphere};
use tarragon::prelude::*;
use vtk_grid::vtk_grid;

/// Whether a shape is compliant, with the script's modulus.
const COMPLIANT: bool = true;

fn properties(is_compliant: bool, hint: f64) -> ProximityProperties {
    let properties = ProximityProperties::new();
    let properties = if is_compliant {
        properties.with_compliant_hydroelastic(1e6).unwrap()
    } else {
        properties.with_rigid_hydroelastic()
    };
    properties.with_resolution_hint(hint).unwrap()
}

/// Small changes of a pose, of which the first is none.
fn jitters() -> Vec<Isometry3<f64>> {
    let mut random = RandomGenerator::new(3);
    let mut gaussian = || {
        let size: f64 = -2.0 * random.uniform(1e-12, 1.0).ln();
        size.sqrt() * random.uniform(0.0, std::f64::consts::TAU).cos()
    };
    let mut normal = |scale: f64| Vector3::from_fn(|_, _| scale * gaussian());
    let mut jitters = vec![Isometry3::identity()];
    for _ in 1..8 {
        let turn = normal(0.05);
        jitters.push(math::pose(math::rpy(turn.x, turn.y, turn.z), normal(0.002)));
    }
    jitters
}

fn tilted(z: f64) -> Isometry3<f64> {
    math::pose(math::rpy(0.1, 0.2, 0.3), Vector3::new(0.0, 0.0, z))
}

fn ball(radius: f64) -> Shape {
    Sphere::new(radius).unwrap().into()
}
fn cuboid(x: f64, y: f64, z: f64) -> Shape {
    BoxShape::new(x, y, z).unwrap().into()
}

/// Times both representations at new poses of the first shapes; the others stay.
fn run(
    c: &mut Criterion,
    name: &str,
    shapes: &[(Shape, bool)],
    poses: &[Isometry3<f64>],
    hint: f64,
) {
    let with_hint = |(shape, kind): &(Shape, bool)| (shape.clone(), properties(*kind, hint));
    let at = |jitter: &Isometry3<f64>| {
        let all = (0..shapes.len()).map(|i| match poses.get(i) {
            Some(pose) => pose * jitter,
            None => Isometry3::identity(),
        });
        all.collect::<Vec<_>>()
    };
    let pose_sets = jitters().iter().map(at).collect();
    let shapes: Vec<_> = shapes.iter().map(with_hint).collect();
    let n = shapes.len();
    let scene = RefCell::new(Scene::new(shapes, pose_sets, 1.0));
    for representation in [Triangle, Polygon] {
        let id = format!("C.ComputeContactSurfaces.{name}.hint{hint:?}.{representation:?}/{n}");
        bench(c, id, &scene, false, |query| {
            black_box(query.compute_contact_surfaces(representation).unwrap());
        });
    }
}

fn base(c: &mut Criterion) {
    let plate = || (cuboid(0.6, 0.6, 0.2), !COMPLIANT);
    for hint in [0.1, 0.05, 0.02, 0.01] {
        let up = |z: f64| Isometry3::translation(0.0, 0.0, z);
        let name = "compliantSphere(r.2)_vs_rigidBox(.6,.6,.2)";
        run(
            c,
            name,
            &[(ball(0.2), COMPLIANT), plate()],
            &[up(0.25)],
            hint,
        );
        let name = "compliantSphere_vs_compliantSphere(r.2)";
        let both = [(ball(0.2), COMPLIANT), (ball(0.2), COMPLIANT)];
        run(
            c,
            name,
            &both,
            &[Isometry3::translation(0.01, 0.02, 0.35)],
            hint,
        );
        let soft_plate = (cuboid(0.6, 0.6, 0.2), COMPLIANT);
        let both = [(cuboid(0.2, 0.2, 0.2), COMPLIANT), soft_plate];
        run(
            c,
            "compliantBox_vs_compliantBox",
            &both,
            &[tilted(0.18)],
            hint,
        );
        let cylinder = Cylinder::new(0.1, 0.2).unwrap().into();
        let both = [(cylinder, COMPLIANT), plate()];
        run(c, "compliantCyl_vs_rigidBox", &both, &[tilted(0.18)], hint);
    }
    let mut balls = vec![(ball(0.05), COMPLIANT); 100];
    balls.push((cuboid(2.0, 2.0, 0.2), !COMPLIANT));
    let place = |i: usize| {
        let along = |k: usize| k as f64 * 0.12 - 0.54;
        Isometry3::translation(along(i % 10), along(i / 10), 0.14)
    };
    let poses: Vec<_> = (0..100).map(place).collect();
    run(
        c,
        "100_compliantSpheres(r.05)_on_rigidBox",
        &balls,
        &poses,
        0.02,
    );
}

/// A box of `6 n^3` tetrahedra.
fn vtk_box(n: usize, size: f64) -> Shape {
    vtk_grid(n, |p| p * (0.5 * size))
}

fn mesh(c: &mut Criterion) {
    let place = [math::pose(
        math::rpy(0.1, 0.2, 0.3),
        Vector3::new(0.01, 0.02, 0.19),
    )];
    for n in [4_usize, 8, 12] {
        let (shape, count) = (vtk_box(n, 0.2), 6 * n.pow(3));
        let both = [(shape.clone(), COMPLIANT), (shape.clone(), COMPLIANT)];
        run(c, &format!("vtk_vs_vtk(2x{count}tets)"), &both, &place, 1.0);
        let both = [(shape, COMPLIANT), (cuboid(0.6, 0.6, 0.2), !COMPLIANT)];
        run(
            c,
            &format!("vtk_vs_rigidBox({count}tets)"),
            &both,
            &place,
            1.0,
        );
    }
}

/// The script's random quaternions, rounded.
const TURNS: [[f64; 4]; 20] = [
    [0.034193, 1.359748, 1.224721, -0.510307],
    [-0.29797, -0.527384, 0.569726, -0.056064],
    [0.746886, -1.847325, 1.566549, -0.096432],
    [0.680378, -0.136566, -0.379099, 0.46311],
    [0.824514, -0.20253, -0.152786, 0.685699],
    [-0.870341, -1.514384, 0.394982, -0.670566],
    [-1.920341, -0.814054, -0.467598, -1.193202],
    [-1.492464, 0.036638, 0.897249, -0.233132],
    [-0.743596, 0.384994, 0.717236, -0.300011],
    [0.544668, 1.042875, -0.206956, -0.813516],
    [0.347651, 0.247546, 1.098813, -1.284581],
    [-0.661613, -0.838167, -1.734015, 0.126435],
    [0.527804, -0.73879, 1.385647, 0.821924],
    [0.627376, 0.401707, 0.95567, -1.33198],
    [0.61393, 0.602777, -1.767719, 0.34703],
    [-0.250421, 0.781523, -0.439062, -0.018241],
    [0.342852, -0.876262, 0.598597, -0.104963],
    [0.492483, -0.521838, 1.086202, 0.605202],
    [-0.178025, 0.631957, 1.259755, 1.791176],
    [-1.573576, 0.883132, 0.465069, -0.093861],
];

/// Twenty objects in a heap on a block.
fn heap(c: &mut Criterion) {
    let shapes: [Shape; 5] = [
        ball(0.05),
        cuboid(0.09, 0.09, 0.09),
        Capsule::new(0.035, 0.06).unwrap().into(),
        Cylinder::new(0.045, 0.08).unwrap().into(),
        Ellipsoid::new(0.05, 0.04, 0.06).unwrap().into(),
    ];
    let objects = (0..20).map(|i| (shapes[i % 5].clone(), COMPLIANT));
    let mut objects: Vec<_> = objects.collect();
    objects.push((cuboid(0.24, 0.24, 0.1), !COMPLIANT));
    let place = |(i, [w, x, y, z]): (usize, [f64; 4])| {
        let turn = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z));
        let along = |k: usize| (k as f64 - 1.0) * 0.085;
        let p = Vector3::new(along(i % 3), along(i / 3 % 3), 0.04 + (i / 9) as f64 * 0.08);
        math::pose(turn, p)
    };
    let places: Vec<_> = TURNS.into_iter().enumerate().map(place).collect();
    for hint in [0.05, 0.02, 0.01] {
        // The block is below; the script moves it, too, but only the objects count.
        let mut shapes = objects.clone();
        let block = shapes.pop().unwrap();
        let mut poses = places.clone();
        poses.push(Isometry3::translation(0.0, 0.0, -0.05));
        shapes.push(block);
        run(c, "bin_20_objects", &shapes, &poses, hint);
    }
}

/// Poses of two shapes, of which the first has six derivatives in passes of eight directions.
fn derived<T: DiagramScalar>(
    first: &Isometry3<f64>,
    variable: impl Fn(f64, usize) -> T,
) -> Isometry3<T> {
    let p = first.translation.vector;
    let position = Vector3::from_fn(|i, _| variable(p[i], i));
    let turn = Vector3::from_fn(|i, _| variable(0.0, 3 + i));
    math::pose(math::rotation_exp(&turn) * lifted(first).rotation, position)
}

fn lifted<T: Scalar>(x: &Isometry3<f64>) -> Isometry3<T> {
    x.cast()
}

fn autodiff(c: &mut Criterion) {
    for hint in [0.05, 0.02] {
        let plate = |kind: bool| (cuboid(0.6, 0.6, 0.2), properties(kind, hint));
        let up = Isometry3::translation(0.0, 0.0, 0.25);
        let cases = [
            (
                "compliantSphere(r.2)_vs_rigidBox(.6,.6,.2)",
                [(ball(0.2), properties(COMPLIANT, hint)), plate(!COMPLIANT)],
                up,
            ),
            (
                "compliantBox_vs_compliantBox",
                [
                    (cuboid(0.2, 0.2, 0.2), properties(COMPLIANT, hint)),
                    plate(COMPLIANT),
                ],
                tilted(0.18),
            ),
        ];
        for (name, shapes, pose) in cases {
            let at = |jitter: &Isometry3<f64>| {
                let first = derived(&(pose * jitter), AutoDiff::variable);
                vec![first, Isometry3::identity()]
            };
            let pose_sets = jitters().iter().map(at).collect();
            let scene = RefCell::new(Scene::new(shapes.to_vec(), pose_sets, 1.0));
            for representation in [Triangle, Polygon] {
                let id = format!(
                    "C.ComputeContactSurfaces.AutoDiff6.{name}.hint{hint:?}.{representation:?}/2"
                );
                bench(c, id, &scene, false, |query| {
                    black_box(query.compute_contact_surfaces(representation).unwrap());
                });
            }
        }
    }
}

fn fallback(c: &mut Criterion) {
    let kinds = [!COMPLIANT, COMPLIANT];
    let shapes = (0..50).map(|i| (ball(0.05), properties(kinds[i % 2], 0.03)));
    let place =
        |i: usize| Isometry3::translation((i % 7) as f64 * 0.09, (i / 7) as f64 * 0.09, 0.0);
    let poses = vec![(0..50).map(place).collect()];
    let scene = RefCell::new(Scene::new(shapes.collect(), poses, 1.0));
    let name = "C.ComputeContactSurfacesWithFallback.50_spheres_mixed.hint0.03/50";
    bench(c, name.to_owned(), &scene, false, |query| {
        black_box(
            query
                .compute_contact_surfaces_with_fallback(Polygon)
                .unwrap(),
        );
    });
}

criterion_group!(benches, base, mesh, heap, autodiff, fallback);
criterion_main!(benches);
