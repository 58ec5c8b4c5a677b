//! Closed forms of the force, which tessellations approach with the square of the resolution hint.

use super::{POLYGON, PairScene, Random, Solid, Sums, at};
use nalgebra::Isometry3;
use std::f64::consts::PI;
use tarragon_framework::math;
use tarragon_framework::random::RandomGenerator;
use tarragon_geometry::{Cylinder, Ellipsoid, HalfSpace, ProximityProperties, Sphere};

const MODULUS: f64 = 1e6;
/// Resolution hints per radius, each of which doubles the edges of the next.
const HINTS: [f64; 4] = [0.4, 0.2, 0.1, 0.05];
/// Number of orientations or depths over which errors are averaged: that of a single one depends on
/// the place of the edges within the contact.
const SAMPLES: usize = 40;

/// Returns the force on the first of two solids along z (N).
fn force(solids: [&Solid; 2], poses: [Isometry3<f64>; 2]) -> f64 {
    let mut scene = PairScene::new(solids, false).unwrap();
    Sums::of(scene.surface(poses, POLYGON).unwrap().as_ref())
        .force
        .z
}

fn rigid_floor() -> Solid {
    Solid::rigid(HalfSpace, 1.0)
}

/// Checks that the mean error of a force falls with the square of the hint. `sample` returns the
/// found and the exact force for a hint.
fn check_slope(name: &str, mut sample: impl FnMut(&mut Random, f64) -> [f64; 2]) {
    let mean_error = |hint: &f64| {
        // All hints have the same samples.
        let mut r = Random(RandomGenerator::new(3));
        let errors = (0..SAMPLES).map(|_| {
            let [found, exact] = sample(&mut r, *hint);
            (found / exact - 1.0).abs()
        });
        errors.sum::<f64>() / SAMPLES as f64
    };
    let errors: Vec<f64> = HINTS.iter().map(mean_error).collect();
    // Least squares of the logarithms.
    let logarithms: Vec<[f64; 2]> = HINTS
        .iter()
        .zip(&errors)
        .map(|(h, e)| [h.ln(), e.ln()])
        .collect();
    let n = HINTS.len() as f64;
    let [x, y] = [0, 1].map(|k| logarithms.iter().map(|l| l[k]).sum::<f64>() / n);
    let product = |j: usize, k: usize| {
        let mean = [x, y];
        let terms = logarithms
            .iter()
            .map(|l| (l[j] - mean[j]) * (l[k] - mean[k]));
        terms.sum::<f64>()
    };
    let slope = product(0, 1) / product(0, 0);
    // The mean over the samples has an error of its own, of about a tenth.
    assert!((slope - 2.0).abs() < 0.2, "{name}: {slope} of {errors:?}");
}

/// Returns the integral over the contact of a unit ball with a plane at a distance `c` from its
/// centre of the pressure, which falls from 1 at the centre to 0 at the surface.
fn unit_ball(c: f64) -> f64 {
    2.0 * PI * ((1.0 - c.powi(2)) / 2.0 - (1.0 - c.powi(3)) / 3.0)
}

#[test]
fn a_compliant_sphere_on_a_rigid_half_space_converges_with_the_square_of_the_hint() {
    let radius = 0.1;
    check_slope("sphere on a half space", |r, hint| {
        let ball = Solid::compliant(Sphere::new(radius).unwrap(), MODULUS, hint * radius);
        let c = 0.8;
        let mut pose = at(0.0, 0.0, c * radius);
        pose.rotation = r.rotation();
        let found = force([&ball, &rigid_floor()], [pose, Isometry3::identity()]);
        [found, MODULUS * radius * radius * unit_ball(c)]
    });
}

#[test]
fn a_compliant_ellipsoid_on_a_rigid_half_space_converges_with_the_square_of_the_hint() {
    let [a, b, c] = [0.1, 0.08, 0.06];
    check_slope("ellipsoid on a half space", |r, hint| {
        let ball = Solid::compliant(Ellipsoid::new(a, b, c).unwrap(), MODULUS, hint * a);
        let height = r.range(0.7, 0.9);
        let poses = [at(0.0, 0.0, height * c), Isometry3::identity()];
        // The pressure is that of a unit ball, scaled along the axes.
        [
            force([&ball, &rigid_floor()], poses),
            MODULUS * a * b * unit_ball(height),
        ]
    });
}

#[test]
fn a_rigid_sphere_in_a_compliant_half_space_converges_with_the_square_of_the_hint() {
    let (radius, slab) = (0.1, 0.2);
    let soft = ProximityProperties::new().with_compliant_hydroelastic(MODULUS);
    let floor = Solid {
        shape: HalfSpace.into(),
        properties: soft.and_then(|p| p.with_slab_thickness(slab)).unwrap(),
    };
    check_slope("sphere in a half space", |r, hint| {
        let ball = Solid::rigid(Sphere::new(radius).unwrap(), hint * radius);
        let depth = 0.2 * radius;
        let mut pose = at(0.0, 0.0, radius - depth);
        pose.rotation = r.rotation();
        let found = force([&ball, &floor], [pose, Isometry3::identity()]);
        // As the buoyancy of the cap below the plane.
        let cap = PI * depth.powi(2) * (3.0 * radius - depth) / 3.0;
        [found, MODULUS / slab * cap]
    });
}

#[test]
fn two_compliant_spheres_converge_with_the_square_of_the_hint() {
    let radius = 0.1;
    check_slope("two spheres", |r, hint| {
        let ball = Solid::compliant(Sphere::new(radius).unwrap(), MODULUS, hint * radius);
        let c = 0.8;
        // Pressures are equal half way.
        let mut poses = [at(0.0, 0.0, 2.0 * c * radius), Isometry3::identity()];
        poses.iter_mut().for_each(|x| x.rotation = r.rotation());
        let found = force([&ball, &ball], poses);
        [found, MODULUS * radius * radius * unit_ball(c)]
    });
}

#[test]
fn a_compliant_cylinder_on_a_rigid_half_space_converges_with_the_square_of_the_hint() {
    let (radius, length) = (0.1, 0.3);
    check_slope("cylinder on a half space", |r, hint| {
        let shape = Cylinder::new(radius, length).unwrap();
        let drum = Solid::compliant(shape, MODULUS, hint * radius);
        let depth = r.range(0.1, 0.3) * radius;
        let mut pose = at(0.0, 0.0, length / 2.0 - depth);
        pose.rotation = math::rpy(0.0, 0.0, r.range(0.0, PI));
        let found = force([&drum, &rigid_floor()], [pose, Isometry3::identity()]);
        // The pressure rises from the side up to a plateau.
        let inner = radius - depth;
        let plateau = depth * PI * inner.powi(2);
        let side = 2.0
            * PI
            * (radius * (radius.powi(2) - inner.powi(2)) / 2.0
                - (radius.powi(3) - inner.powi(3)) / 3.0);
        [found, MODULUS / radius * (plateau + side)]
    });
}
