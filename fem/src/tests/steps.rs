//! Properties of free steps.

use super::meshes::{ALL_MODELS, ball, block, flat, gravity, model, random, soft};
use crate::step::FemStep;
use crate::{
    DeformableBodyConfig, FemModel, FemStepStart, ForceDensityField, ForceDensityVolume,
    MaterialModel,
};
use nalgebra::{Rotation3, Vector3};
use std::sync::Arc;
use tarragon_framework::math::axis_angle;

const TIME_STEP: f64 = 5e-3;

pub(super) fn largest(x: impl IntoIterator<Item = f64>) -> f64 {
    x.into_iter().fold(0.0, |m: f64, x| m.max(x.abs()))
}

pub(super) fn largest_difference(x: &[f64], y: &[f64]) -> f64 {
    assert_eq!(x.len(), y.len());
    largest(x.iter().zip(y).map(|(x, y)| x - y))
}

/// A state that is deformed by some per cent and moves.
pub(super) struct State {
    pub(super) q: Vec<f64>,
    v: Vec<f64>,
    forces: Vec<f64>,
}

impl State {
    pub(super) fn new(points: &[Vector3<f64>], model: &FemModel) -> Self {
        let size = largest(flat(points)) / 10.0;
        let noise = random(6 * points.len(), 1);
        let (shift, v) = noise.split_at(3 * points.len());
        let q = flat(points);
        Self {
            q: q.iter()
                .zip(shift)
                .map(|(q, s)| q + 0.2 * size * s)
                .collect(),
            v: v.iter().map(|v| 0.3 * v).collect(),
            forces: gravity(model),
        }
    }

    pub(super) fn start<'a>(
        &'a self,
        fixed: &'a [bool],
        participants: &'a [u32],
    ) -> FemStepStart<'a> {
        FemStepStart {
            time_step: TIME_STEP,
            positions: &self.q,
            velocities: &self.v,
            forces: &self.forces,
            fixed,
            participants,
        }
    }
}

pub(super) fn damped(material_model: MaterialModel) -> DeformableBodyConfig {
    DeformableBodyConfig {
        mass_damping_coefficient: 0.7,
        stiffness_damping_coefficient: 0.01,
        ..soft(material_model)
    }
}

#[test]
fn a_step_conserves_momentum() {
    let mesh = ball(3, 0.1);
    for material in ALL_MODELS {
        let config = DeformableBodyConfig {
            stiffness_damping_coefficient: 0.01,
            ..soft(material)
        };
        let model = model(&mesh, &config);
        let state = State::new(&mesh.0, &model);
        let mut step = FemStep::default();
        step.advance(&model, &state.start(&[], &[])).unwrap();
        let momentum = |v: &[f64]| {
            let vertices = v.as_chunks::<3>().0.iter().zip(model.vertex_masses());
            vertices.fold(Vector3::zeros(), |sum, (v, m)| sum + Vector3::from(*v) * *m)
        };
        let fall = Vector3::z() * (-9.81 * TIME_STEP * model.total_mass());
        let error = momentum(step.velocities()) - momentum(&state.v) - fall;
        // Newton's method leaves a part of about 1e-7 of the forces, which cancel only in sum.
        assert!(error.amax() < 1e-11, "{material:?}: {error:?}");
    }
}

#[test]
fn linear_displacements_are_in_equilibrium_inside() {
    let mesh = block([4, 4, 4], [0.1, 0.1, 0.1]);
    let m = nalgebra::Matrix3::new(1.1, 0.2, -0.1, 0.05, 0.9, 0.1, 0.0, -0.15, 1.2);
    let moved: Vec<_> = mesh
        .0
        .iter()
        .map(|p| m * p + Vector3::new(1.0, 2.0, 3.0))
        .collect();
    for material in ALL_MODELS {
        let model = model(&mesh, &soft(material));
        let (_, forces) = model.elastic_forces(&flat(&moved), &flat(&moved));
        let scale = largest(forces.iter().copied());
        assert!(scale > 1.0);
        let inside = mesh.0.iter().map(|p| p.amax() < 0.099);
        for (force, inside) in forces.as_chunks::<3>().0.iter().zip(inside) {
            // Sums of numbers of about `scale`, 24 of them at most.
            assert!(
                !inside || largest(*force) < 1e-13 * scale * 24.0,
                "{material:?}"
            );
        }
    }
}

#[test]
fn forces_are_minus_the_gradient_of_the_energy() {
    let mesh = ball(2, 0.1);
    for material in ALL_MODELS {
        let model = model(&mesh, &soft(material));
        let state = State::new(&mesh.0, &model);
        let direction = random(state.q.len(), 7);
        let energy = |s: f64| {
            let q = state.q.iter().zip(&direction);
            let q: Vec<f64> = q.map(|(q, d)| q + s * d).collect();
            model.elastic_forces(&state.q, &q).0
        };
        let (_, forces) = model.elastic_forces(&state.q, &state.q);
        let slope: f64 = forces.iter().zip(&direction).map(|(f, d)| -f * d).sum();
        let h = 1e-6;
        let difference = (energy(h) - energy(-h)) / (2.0 * h);
        // The energy is known to 1e-16 of itself, and the third derivative is about 1e4 of it.
        let error = (slope - difference).abs() / slope.abs();
        assert!(error < 1e-6, "{material:?}: {error:e}");
    }
}

#[test]
fn rotating_the_start_rotates_the_result() {
    let mesh = ball(3, 0.1);
    let turn = Rotation3::from_euler_angles(0.3, -1.0, 2.0);
    let rotate = |x: &[f64]| -> Vec<f64> {
        let vertices = x.as_chunks::<3>().0.iter();
        vertices
            .flat_map(|x| <[f64; 3]>::from(turn * Vector3::from(*x)))
            .collect()
    };
    for material in ALL_MODELS.into_iter().skip(1) {
        let model = model(&mesh, &damped(material));
        let mut state = State::new(&mesh.0, &model);
        let mut step = FemStep::default();
        step.advance(&model, &state.start(&[], &[])).unwrap();
        let wanted = rotate(step.velocities());
        state.q = rotate(&state.q);
        state.v = rotate(&state.v);
        state.forces = rotate(&state.forces);
        step.advance(&model, &state.start(&[], &[])).unwrap();
        let error = largest_difference(step.velocities(), &wanted);
        // The tolerance of Newton's method, for velocities of about 1 m/s; rounding otherwise.
        let tolerance = if model.material.is_linear() {
            1e-11
        } else {
            1e-6
        };
        assert!(error < tolerance, "{material:?}: {error:e}");
    }
}

#[test]
fn steps_have_the_same_bits_for_any_number_of_threads_and_after_other_participants() {
    // Large enough for several threads.
    let mesh = ball(8, 0.1);
    for material in [MaterialModel::LinearCorotated, MaterialModel::NeoHookean] {
        let model = model(&mesh, &damped(material));
        let state = State::new(&mesh.0, &model);
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| {
                let mut step = FemStep::default();
                for participants in [&[1_u32, 2, 3][..], &[], &[5, 100, 7]] {
                    step.advance(&model, &state.start(&[], participants))
                        .unwrap();
                }
                (step.velocities().to_vec(), step.schur_complement().to_vec())
            })
        };
        let once = run(1);
        assert_eq!(once, run(2), "{material:?}");
        assert_eq!(once, run(3), "{material:?}");
    }
}

#[test]
fn energy_decreases_in_steps_without_forces() {
    let mesh = block([4, 2, 2], [0.2, 0.1, 0.1]);
    for material in ALL_MODELS {
        let model = model(&mesh, &damped(material));
        let mut state = State::new(&mesh.0, &model);
        state.forces.fill(0.0);
        let mut step = FemStep::default();
        let energy = |q: &[f64], v: &[f64]| {
            let kinetic: f64 = v.iter().map(|v| v * v).sum();
            (model.elastic_forces(q, q).0, kinetic)
        };
        let (elastic, kinetic) = energy(&state.q, &state.v);
        for _ in 0..200 {
            step.advance(&model, &state.start(&[], &[])).unwrap();
            state.q.copy_from_slice(step.positions());
            state.v.copy_from_slice(step.velocities());
        }
        let end = energy(&state.q, &state.v);
        // A rotation is a strain of the linear model.
        assert!(end.0 < 1e-2 * elastic, "{material:?}: {end:?} of {elastic}");
        assert!(end.1 < 0.2 * kinetic, "{material:?}: {end:?} of {kinetic}");
    }
}

#[test]
fn wrong_sizes_and_numbers_are_errors() {
    use crate::start::FemStepFailure;
    let mesh = ball(2, 0.1);
    let model = model(&mesh, &soft(MaterialModel::Corotated));
    let mut state = State::new(&mesh.0, &model);
    let mut step = FemStep::default();
    let participants = [1000];
    assert_eq!(
        step.advance(&model, &state.start(&[], &participants)),
        Err(FemStepFailure::WrongSize)
    );
    assert_eq!(
        step.advance(&model, &state.start(&[true], &[])),
        Err(FemStepFailure::WrongSize)
    );
    state.v[4] = f64::NAN;
    let failure = step.advance(&model, &state.start(&[], &[])).unwrap_err();
    assert_eq!(failure, FemStepFailure::NotFinite);
    let text = failure.error("body").to_string();
    assert!(
        text.starts_with("body: positions, velocities and forces must"),
        "{text}"
    );
    state.v.pop();
    assert_eq!(
        step.advance(&model, &state.start(&[], &[])),
        Err(FemStepFailure::WrongSize)
    );
}

#[test]
fn long_steps_of_bodies_a_million_times_stiffer_stay_bounded() {
    let mesh = ball(3, 0.1);
    for material in ALL_MODELS {
        for youngs_modulus in [1.0, 1e6, 1e12] {
            let config = DeformableBodyConfig {
                youngs_modulus,
                ..soft(material)
            };
            let model = model(&mesh, &config);
            let state = State::new(&mesh.0, &model);
            for time_step in [1e-9, 0.1, 1e3] {
                let start = FemStepStart {
                    time_step,
                    ..state.start(&[], &[])
                };
                let mut step = FemStep::default();
                // An error is allowed, but not a result that is not one.
                match step.advance(&model, &start) {
                    Ok(()) => {
                        let fastest = largest(step.velocities().iter().copied());
                        // Free fall, the elastic energy of the start as speed, and motions without
                        // mass, which return to rest in one step.
                        let bound =
                            10.0 * time_step + 10.0 + youngs_modulus.sqrt() + 0.01 / time_step;
                        assert!(
                            fastest < bound,
                            "{material:?} {youngs_modulus:e}: {fastest}"
                        );
                    }
                    Err(failure) => println!(
                        "{material:?}, {youngs_modulus:e} Pa, {time_step:e} s: {failure:?}"
                    ),
                }
            }
        }
    }
}

/// Positions that some degenerate map makes of a mesh, chosen by `kind`.
fn degenerate(points: &[Vector3<f64>], kind: usize, size: f64) -> Vec<f64> {
    let moved = points.iter().enumerate().map(|(k, p)| match kind {
        // All in one point, on a line, in a plane, inverted, and needles.
        0 => Vector3::zeros(),
        1 => Vector3::x() * p.x * size,
        2 => Vector3::new(p.x, p.y, 0.0) * size,
        3 => Vector3::new(-p.x, p.y, p.z) * size,
        4 => Vector3::new(p.x, p.y * 1e-9, p.z * 1e9) * size,
        5 if k % 2 == 0 => Vector3::zeros(),
        _ => p * size,
    });
    moved.flat_map(<[f64; 3]>::from).collect()
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(48))]

    #[test]
    fn degenerate_elements_give_finite_results_or_errors(
        kind in 0_usize..7,
        material in 0_usize..4,
        exponent in -12..12_i32,
        speed in -6..6_i32,
        seed in 0_u64..1000,
    ) {
        let mesh = ball(2, 0.1);
        let model = model(&mesh, &damped(ALL_MODELS[material]));
        let size = 10_f64.powi(exponent);
        let q = degenerate(&mesh.0, kind, size);
        let v: Vec<f64> = random(q.len(), seed).iter().map(|v| v * 10_f64.powi(speed)).collect();
        let state = State { q, v, forces: gravity(&model) };
        let mut step = FemStep::default();
        let participants = [0, 5, 9];
        if step.advance(&model, &state.start(&[], &participants)).is_ok() {
            assert!(step.velocities().iter().all(|v| v.is_finite()));
            assert!(step.schur_complement().iter().all(|s| s.is_finite()));
        }
    }
}

#[test]
fn rotations_are_rotations_for_any_matrix() {
    use crate::polar::rotation;
    use nalgebra::Matrix3;
    for seed in 0..500 {
        let entries = random(9, seed);
        let mut f = Matrix3::from_row_slice(&entries);
        match seed % 5 {
            0 => f.set_column(1, &Vector3::zeros()),
            1 => f.set_column(2, &(f.column(0) * 2.0)),
            2 => f = f.column(0) * f.row(1) / f.amax(),
            _ => {}
        }
        f *= 10_f64.powi(seed as i32 % 41 * 15 - 300);
        let r = rotation(&f);
        let error = (r.transpose() * r - Matrix3::identity()).amax();
        assert!(error < 1e-12 && r.determinant() > 0.0, "{f}{r}");
        // It is the closest: `R^T F` is symmetric.
        let s = r.transpose() * (f / f.amax());
        assert!((s - s.transpose()).amax() < 1e-11, "{f}{r}");
    }
    let nothing = [Matrix3::zeros(), Matrix3::from_element(f64::NAN)];
    assert!(nothing.iter().all(|f| rotation(f) == Matrix3::identity()));
}

#[test]
fn invalid_meshes_and_materials_are_errors() {
    let (points, mut tets) = ball(2, 0.1);
    let error = |points: &[Vector3<f64>], tets: &[[u32; 4]], config: &DeformableBodyConfig| {
        FemModel::new("ball", points, tets, config)
            .unwrap_err()
            .to_string()
    };
    let config = soft(MaterialModel::Linear);
    tets[5].swap(0, 1);
    let text = error(&points, &tets, &config);
    assert!(
        text.starts_with("ball: volume of tetrahedron 5 must be positive"),
        "{text}"
    );
    tets[5][3] = 27;
    let text = error(&points, &tets, &config);
    let wanted = "ball: vertices of tetrahedron 5 must be less than 27, got 27";
    assert_eq!(text, wanted);
    assert!(error(&points, &[], &config).contains("from 1 to"));
    assert!(error(&points, &tets[..1], &config).contains("got vertex"));
    type Change = fn(&mut DeformableBodyConfig);
    let changes: [(Change, &str); 8] = [
        (
            |c| c.youngs_modulus = 0.0,
            "Young's modulus must be positive and finite, got 0.0 Pa",
        ),
        (
            |c| c.mass_density = f64::NAN,
            "mass density must be positive",
        ),
        (
            |c| c.poissons_ratio = -1.0,
            "Poisson's ratio must be greater than -1",
        ),
        (
            |c| c.mass_damping_coefficient = -1.0,
            "mass damping must be at least 0",
        ),
        (
            |c| c.stiffness_damping_coefficient = f64::INFINITY,
            "stiffness damping must be",
        ),
        (
            |c| c.element_subdivision_count = 5,
            "element subdivision count must be at most 4",
        ),
        (
            |c| c.relative_tolerance = 0.0,
            "relative tolerance must be from 1e-12 to 0.1, got 0.0",
        ),
        (
            |c| c.relative_tolerance = f64::NAN,
            "relative tolerance must be from 1e-12 to 0.1, got NaN",
        ),
    ];
    for (change, wanted) in changes {
        let mut config = soft(MaterialModel::Linear);
        change(&mut config);
        let text = error(&points, &tets, &config);
        assert!(text.starts_with(&format!("ball: {wanted}")), "{text}");
    }
}

#[derive(Debug)]
struct Uniform(Vector3<f64>, ForceDensityVolume);

impl ForceDensityField for Uniform {
    fn evaluate_at(&self, _p_wq: &Vector3<f64>) -> Vector3<f64> {
        self.0
    }
    fn volume(&self) -> ForceDensityVolume {
        self.1
    }
}

#[test]
fn force_densities_act_like_their_sums() {
    let mesh = ball(3, 0.1);
    for element_subdivision_count in 0..=4 {
        let config = DeformableBodyConfig {
            element_subdivision_count,
            ..soft(MaterialModel::LinearCorotated)
        };
        let model = model(&mesh, &config);
        let (g, density) = (Vector3::new(0.1, 0.2, -9.8), config.mass_density);
        let mut weight = vec![0.0; 3 * mesh.0.len()];
        model.add_gravity(&g, &mut weight);
        let q: Vec<f64> = flat(&mesh.0).iter().map(|q| 2.0 * q).collect();
        for (volume, by) in [
            (ForceDensityVolume::Reference, 1.0),
            (ForceDensityVolume::Current, 8.0),
        ] {
            let mut forces = vec![0.0; q.len()];
            let field: Arc<dyn ForceDensityField> = Arc::new(Uniform(g * density, volume));
            model.add_force_densities(&q, &[field], &mut forces);
            let wanted: Vec<f64> = weight.iter().map(|w| by * w).collect();
            let error = largest_difference(&forces, &wanted);
            assert!(error < 1e-12, "{element_subdivision_count}: {error:e}");
        }
    }
}

#[test]
fn iterations_find_the_velocities_that_the_factor_gives() {
    let mesh = ball(4, 0.1);
    for material in ALL_MODELS {
        let model = model(&mesh, &soft(material));
        let mut iterated = FemStep::default();
        // From a turned body to one that bends too much for iterations.
        for bend in [0.0, 1e-3, 1e-2, 0.1] {
            let moved = mesh.0.iter().map(|p| {
                let turn = axis_angle(&Vector3::z_axis(), 0.7 + 10.0 * bend * p.z);
                turn * p + Vector3::y() * (10.0 * bend * p.x * p.x)
            });
            let mut state = State::new(&mesh.0, &model);
            state.q = flat(&moved.collect::<Vec<_>>());
            let start = state.start(&[], &[]);
            let mut factored = FemStep::factored();
            factored.advance(&model, &start).unwrap();
            iterated.advance(&model, &start).unwrap();
            let velocities = factored.velocities();
            let size = largest(velocities.iter().copied());
            let error = largest_difference(velocities, iterated.velocities()) / size;
            // Newton's method ends at a gradient of 1e-6 of the first.
            let tolerance = match material {
                MaterialModel::Linear | MaterialModel::LinearCorotated => 1e-11,
                MaterialModel::Corotated | MaterialModel::NeoHookean => 1e-7,
            };
            assert!(error < tolerance, "{material:?}, bend {bend}: {error:e}");
        }
    }
}

/// Steps end as soon as the tolerance allows, and not before. The first step of a large body in
/// contact is a rough one.
#[test]
fn errors_of_steps_follow_the_tolerance() {
    let contact: Vec<u32> = (0..30).collect();
    for (n, participants) in [(3, &[][..]), (6, &contact)] {
        let mesh = ball(n, 0.1);
        for material in [MaterialModel::Corotated, MaterialModel::NeoHookean] {
            let velocities = |relative_tolerance: f64| {
                let config = DeformableBodyConfig {
                    relative_tolerance,
                    ..damped(material)
                };
                let model = model(&mesh, &config);
                let state = State::new(&mesh.0, &model);
                let mut step = FemStep::default();
                let start = state.start(&[], participants);
                step.advance(&model, &start).unwrap();
                step.velocities().to_vec()
            };
            let exact = velocities(1e-12);
            let size = largest(exact.iter().copied());
            let errors = [1e-1, 1e-2, 1e-4, 1e-6, 1e-9].map(|tolerance| {
                let found = velocities(tolerance);
                let error = found.iter().zip(&exact).map(|(a, b)| a - b);
                (tolerance, largest(error) / size)
            });
            for (tolerance, error) in errors {
                // The change of velocity that unbalanced forces stand for is some times the result,
                // more so in finer meshes.
                assert!(
                    error <= 20.0 * tolerance,
                    "{n} {material:?} {tolerance}: {error}"
                );
            }
            assert!(
                errors[0].1 > 10.0 * errors[3].1,
                "{n} {material:?}: {errors:?}"
            );
        }
    }
}
