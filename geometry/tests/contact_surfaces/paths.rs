//! Forces along paths: they vary continuously, however geometries pass through each other.

use super::solids::{quietly, solid};
use super::{POLYGON, PairScene, Random, Solid, Sums, at, cube};
use nalgebra::{Isometry3, Translation3, Vector3};
use rayon::prelude::*;
use tarragon_framework::math;
use tarragon_framework::random::RandomGenerator;
use tarragon_geometry::{Capsule, HalfSpace, HydroelasticMesh, Shape, Sphere};

/// Number of steps into which a path is divided at first, and of times that the step with the
/// largest change is halved.
const STEPS: usize = 64;
const HALVINGS: usize = 34;
/// Range of moduli (Pa).
const MODULI: [f64; 2] = [1e5, 1e8];

/// Returns the force on the first of two solids (N), of which the second is at `pose`.
fn force(scene: &mut PairScene, pose: Isometry3<f64>) -> Vector3<f64> {
    let poses = [Isometry3::identity(), pose];
    Sums::of(scene.surface(poses, POLYGON).unwrap().as_ref()).force
}

/// Returns true if a pair has contact surfaces whose pressure begins at 0, without a margin.
fn has_continuous_force(solids: &[Solid; 2]) -> bool {
    let is_compliant = |s: &Solid| s.properties.has("hydroelastic", "hydroelastic_modulus");
    let is_plane = |s: &Solid| matches!(s.shape, Shape::HalfSpace(_));
    let has_margin = |s: &Solid| s.properties.has("hydroelastic", "margin");
    let [a, b] = solids.each_ref().map(|s| (is_compliant(s), is_plane(s)));
    let has_type = match (a, b) {
        ((_, true), (_, true)) => false,
        ((is_soft, true), (is_other_soft, _)) | ((is_other_soft, _), (is_soft, true)) => {
            is_soft != is_other_soft
        }
        _ => a.0 || b.0,
    };
    has_type && !solids.iter().any(has_margin)
}

/// Replaces the modulus by one of usual size. Where a stiff solid touches one that is softer by
/// many orders, the rounding of the larger pressure is a jump by itself.
fn moderate(r: &mut Random, solid: &mut Solid) {
    let place = ("hydroelastic", "hydroelastic_modulus");
    if solid.properties.has(place.0, place.1) {
        let modulus = r.magnitude(MODULI[0], MODULI[1]);
        solid.properties.update(place.0, place.1, modulus).unwrap();
    }
}

/// Returns the largest force on a path and the change over a step of 2^-40 of it, where it seems to
/// be the steepest. A continuous force hardly changes there; a jump is as large as it was.
fn steepest(mut force: impl FnMut(f64) -> Vector3<f64>) -> [f64; 2] {
    let forces: Vec<Vector3<f64>> = (0..=STEPS)
        .map(|i| force(i as f64 / STEPS as f64))
        .collect();
    let mut largest = forces.iter().map(|f| f.norm()).fold(0.0, f64::max);
    let change = |i: usize| (forces[i + 1] - forces[i]).norm();
    let first = (0..STEPS)
        .max_by(|i, j| change(*i).total_cmp(&change(*j)))
        .unwrap();
    let (mut low, mut high) = (
        first as f64 / STEPS as f64,
        (first + 1) as f64 / STEPS as f64,
    );
    let (mut at_low, mut at_high) = (forces[first], forces[first + 1]);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        let at_middle = force(middle);
        largest = largest.max(at_middle.norm());
        if (at_middle - at_low).norm() > (at_high - at_middle).norm() {
            (high, at_high) = (middle, at_middle);
        } else {
            (low, at_low) = (middle, at_middle);
        }
    }
    [largest, (at_high - at_low).norm()]
}

/// The force varies continuously while one solid passes through another without turning, from
/// outside to outside. Orientations are random: where gradients of both are equal or a rigid face
/// lies in one between tetrahedra, the model itself jumps.
#[test]
fn forces_along_random_paths_do_not_jump() {
    let results: Vec<Option<String>> = (0..2000_u64)
        .into_par_iter()
        .map(|number| {
            let mut r = Random(RandomGenerator::stream(5, number));
            let mut solids = [0, 1].map(|_| solid(&mut r, 1.0).unwrap());
            for solid in &mut solids {
                moderate(&mut r, solid);
            }
            let mut scene = quietly(|| PairScene::new(solids.each_ref(), false)).unwrap();
            let rotation = r.rotation();
            let (start, end) = (r.direction() * 2.0, r.cube() * 0.3);
            let through = end - start;
            let pose = |t: f64| {
                let p = start + through * (2.0 * t);
                Isometry3::from_parts(Translation3::from(p), rotation)
            };
            if !has_continuous_force(&solids) {
                return None;
            }
            let [largest, left] = steepest(|t| force(&mut scene, pose(t)));
            // The step is 4e-12 m. Thin solids are 1e-4 m thick, so that the force may rise within
            // that from 0 to its largest value, or somewhat faster where faces are nearly parallel.
            let shapes = solids.each_ref().map(|s| &s.shape);
            // A touch without pressure is rounding.
            let unit = largest.max(1e-12 * MODULI[1]);
            Some(if left <= 1e-6 * unit {
                String::new()
            } else {
                format!("pair {number}: {left} of {largest} {shapes:?}")
            })
        })
        .collect();
    let tested = results.iter().flatten().count();
    let faults: Vec<&String> = results.iter().flatten().filter(|f| !f.is_empty()).collect();
    assert!(tested > 800, "{tested}");
    assert!(
        faults.is_empty(),
        "{} of {tested}: {faults:#?}",
        faults.len()
    );
}

/// On a rigid half space the force also varies continuously while the solid turns, because the
/// whole section counts.
#[test]
fn forces_on_a_rigid_half_space_do_not_jump_while_solids_turn() {
    let mut tested = 0;
    for number in 0..200 {
        let mut r = Random(RandomGenerator::stream(7, number));
        let other = solid(&mut r, 1.0).unwrap();
        let is_compliant = other.properties.has("hydroelastic", "hydroelastic_modulus");
        let is_plane = matches!(other.shape, Shape::HalfSpace(_));
        if !is_compliant || is_plane || other.properties.has("hydroelastic", "margin") {
            continue;
        }
        let floor = Solid::rigid(HalfSpace, 1.0);
        let mut scene = quietly(|| PairScene::new([&floor, &other], false)).unwrap();
        let (first, axis, height) = (r.rotation(), r.direction() * 2.0, r.range(0.0, 0.3));
        let [largest, left] = steepest(|t| {
            let mut pose = at(0.0, 0.0, height);
            pose.rotation = math::rotation_exp(&(axis * t)) * first;
            force(&mut scene, pose)
        });
        assert!(
            left <= 1e-6 * largest,
            "{number}: {left} of {largest} {:?}",
            other.shape
        );
        tested += 1;
    }
    assert!(tested > 60, "{tested}");
}

/// Halving the step halves the largest change of the force, and the change is at most the gradient
/// of the pressure times the largest section times the step.
#[test]
fn changes_of_the_force_are_bounded_by_the_stiffness_and_the_step() {
    let shapes: [(Shape, f64); 3] = [
        (Sphere::new(0.1).unwrap().into(), 0.1),
        (cube(0.2).into(), 0.1 * 3.0_f64.sqrt()),
        (Capsule::new(0.1, 0.2).unwrap().into(), 0.2),
    ];
    for (shape, radius) in shapes {
        let solid = Solid::compliant(shape, 1e6, 0.02);
        let floor = Solid::rigid(HalfSpace, 1.0);
        let mut scene = PairScene::new([&floor, &solid], false).unwrap();
        let Some(HydroelasticMesh::Volume(field)) = scene.mesh(1) else {
            panic!("compliant solids have volumes");
        };
        let gradients = (0..field.mesh().num_elements())
            .map(|e| 1e6 * field.evaluate_gradient(e).unwrap().norm());
        let steepest = gradients.fold(0.0, f64::max);
        let section = std::f64::consts::PI * radius * radius;
        let rotation = math::rpy(0.3, 0.5, 0.7);
        // From the first touch to beyond the centre.
        let length = 1.2 * radius;
        let mut largest = |steps: usize| {
            let step = length / steps as f64;
            let mut last = Vector3::zeros();
            let mut largest = 0.0_f64;
            for i in 0..=steps {
                let mut pose = at(0.0, 0.0, radius - i as f64 * step);
                pose.rotation = rotation;
                let next = force(&mut scene, pose);
                let change = (next - last).norm();
                assert!(
                    change <= steepest * section * step,
                    "{change} {steepest} {step}"
                );
                largest = largest.max(change);
                last = next;
            }
            largest
        };
        let changes = [100, 200, 400].map(&mut largest);
        for pair in changes.windows(2) {
            // The steepest place is within a step of one of the coarser path.
            assert!((pair[1] / pair[0] - 0.5).abs() < 0.02, "{changes:?}");
        }
    }
}

/// Two equal cubes, one on the other, have regions in which the gradients of both are the same, and
/// their surface follows faces between tetrahedra. Its parts there count once: the force is that of
/// cubes a little beside each other, whatever the order.
#[test]
fn equal_cubes_on_each_other_push_as_if_slightly_shifted() {
    let solid = Solid::compliant(cube(2.0), 1e6, 1.0);
    for swapped in [false, true] {
        let mut scene = PairScene::new([&solid, &solid], swapped).unwrap();
        for overlap in [0.1, 0.5, 1.0, 1.5] {
            let sign = if swapped { -1.0 } else { 1.0 };
            let z = 2.0 - overlap;
            let exact = sign * force(&mut scene, at(0.0, 0.0, z)).z;
            let shifted = sign * force(&mut scene, at(1e-9, 2e-9, z)).z;
            assert!(
                (exact / shifted - 1.0).abs() < 1e-7,
                "{overlap}: {exact} {shifted}"
            );
        }
    }
}
