//! Accelerations from forces: against inverse dynamics, closed forms and central differences.

use super::{close, inertia, mechanism, numbers, sprung_mechanism};
use nalgebra::{DVector, Matrix3, Vector3};
use proptest::prelude::*;
use tarragon_framework::autodiff::try_jacobian;
use tarragon_framework::prelude::*;
use tarragon_framework::{AutoDiff, SimulatorConfig};
use tarragon_multibody::*;

proptest! {
    /// Forward dynamics inverts inverse dynamics, for every kind of joint.
    #[test]
    fn forward_dynamics_inverts_inverse_dynamics(
        q in numbers(24, 1.2),
        v in numbers(23, 2.0),
        vdot in numbers(23, 2.0),
    ) {
        prop_assume!(q[17..21].iter().map(|x| x * x).sum::<f64>() > 0.01);
        let plant = mechanism();
        let p = plant.calc_position_kinematics(&q).unwrap();
        let k = plant.calc_velocity_kinematics(&p, &v).unwrap();
        let mut forces = plant.calc_force_elements_contribution(&p, &k).unwrap();
        let tau = plant.calc_inverse_dynamics_with_forces(&p, &k, &vdot, &forces).unwrap();
        for (sum, tau) in forces.generalized_forces_mut().iter_mut().zip(&tau) {
            *sum += *tau;
        }
        let found = plant.calc_forward_dynamics(&p, &k, &forces).unwrap();
        // The condition number of the mass matrix amplifies rounding.
        let m = plant.calc_mass_matrix(&p).unwrap();
        let eigenvalues = m.symmetric_eigen().eigenvalues;
        let condition = eigenvalues.max() / eigenvalues.min();
        for (a, b) in found.iter().zip(&vdot) {
            prop_assert!((a - b).abs() < 1e-10 + 1e-13 * condition, "{} and {}", a, b);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    /// Analytic derivatives of inverse and forward dynamics agree with those of dual numbers, for
    /// every kind of joint, with springs, and with forces on bodies and joints.
    #[test]
    fn analytic_derivatives_match_dual_numbers(
        q in numbers(24, 1.2),
        v in numbers(23, 2.0),
        vdot in numbers(23, 2.0),
        f in numbers(6, 3.0),
    ) {
        prop_assume!(q[17..21].iter().map(|x| x * x).sum::<f64>() > 0.01);
        let plant = sprung_mechanism();
        let n = 23;
        let p = plant.calc_position_kinematics(&q).unwrap();
        let k = plant.calc_velocity_kinematics(&p, &v).unwrap();
        let body_force = |i: usize| SpatialVector {
            rotational: Vector3::new(f[0], f[1], f[2]) * (i as f64).cos(),
            translational: Vector3::new(f[3], f[4], f[5]) * (i as f64).sin(),
        };
        // The same forces in both kinds of numbers.
        fn applied<T: Scalar>(
            plant: &MultibodyPlant,
            f: impl Fn(usize) -> SpatialVector<f64>,
        ) -> MultibodyForces<T> {
            let mut forces = plant.zero_forces();
            for (body, _) in plant.bodies() {
                let f = f(body.index());
                let force = SpatialVector {
                    rotational: f.rotational.map(T::from),
                    translational: f.translational.map(T::from),
                };
                forces.add_body_force(body, force);
            }
            forces.generalized_forces_mut()[0] = T::from(0.7);
            forces
        }
        let constant = applied::<f64>(&plant, body_force);
        let found = plant.calc_inverse_dynamics_derivatives(&p, &k, &vdot, &constant).unwrap();
        // tau as a function of a motion along every velocity, of v and of vdot.
        let tau = |x: &[AutoDiff]| -> Result<Vec<AutoDiff>> {
            let at: Vec<AutoDiff> = q.iter().map(|q| AutoDiff::from(*q)).collect();
            let p = plant.calc_position_kinematics(&at)?;
            let moved = plant.map_velocity_to_qdot(&p, &x[..n])?;
            let q: Vec<AutoDiff> = at.iter().zip(moved).map(|(q, m)| *q + m).collect();
            let p = plant.calc_position_kinematics(&q)?;
            let k = plant.calc_velocity_kinematics(&p, &x[n..2 * n])?;
            let mut forces = plant.calc_force_elements_contribution(&p, &k)?;
            let others = applied::<AutoDiff>(&plant, body_force);
            for (body, _) in plant.bodies() {
                forces.add_body_force(body, others.body_forces()[body.index()]);
            }
            let sums = forces.generalized_forces_mut().iter_mut();
            sums.zip(others.generalized_forces()).for_each(|(sum, f)| *sum += *f);
            plant.calc_inverse_dynamics_with_forces(&p, &k, &x[2 * n..], &forces)
        };
        let x = [vec![0.0; n], v, vdot].concat();
        let (value, jacobian) = try_jacobian(tau, &x).unwrap();
        close("tau", &found.tau, value.as_slice());
        let parts = [&found.dtau_dq, &found.dtau_dv, &found.dtau_dvdot];
        for (i, (name, part)) in ["q", "v", "vdot"].iter().zip(parts).enumerate() {
            let expected = jacobian.columns(i * n, n);
            let error = (part - expected).amax();
            prop_assert!(error < 1e-11 * (1.0 + expected.amax()), "{}: {}", name, error);
        }
        // M dvdot = -dtau at the accelerations that need no further force.
        let forward = plant.calc_forward_dynamics_derivatives(&p, &k, &constant).unwrap();
        let inverse =
            plant.calc_inverse_dynamics_derivatives(&p, &k, &forward.vdot, &constant).unwrap();
        let m = &inverse.dtau_dvdot;
        let eigenvalues = m.clone().symmetric_eigen().eigenvalues;
        let tolerance = 1e-13 * eigenvalues.max() / eigenvalues.min();
        let one = nalgebra::DMatrix::identity(n, n);
        for (name, change, of) in [
            ("q", &forward.dvdot_dq, -&inverse.dtau_dq),
            ("v", &forward.dvdot_dv, -&inverse.dtau_dv),
            ("tau", &forward.dvdot_dtau, one),
        ] {
            let error = (m * change - &of).amax();
            prop_assert!(error < tolerance * (1.0 + of.amax()), "{}: {}", name, error);
        }
        let rest = DVector::from_vec(inverse.tau);
        prop_assert!(rest.amax() < tolerance * (1.0 + value.amax()), "{}", rest.amax());
    }
}

/// Derivatives by the implicit function theorem agree with central differences, in q, v and forces.
#[test]
fn derivatives_of_accelerations_match_differences() {
    let plant = mechanism();
    let q: Vec<f64> = (0..24).map(|i| 0.4 - 0.05 * f64::from(i)).collect();
    let v: Vec<f64> = (0..23).map(|i| 0.3 + 0.04 * f64::from(i)).collect();
    let x = [q, v, vec![0.5; 23]].concat();
    fn vdot<T: Scalar>(plant: &MultibodyPlant, x: &[T]) -> Result<Vec<T>> {
        let p = plant.calc_position_kinematics(&x[..24])?;
        let k = plant.calc_velocity_kinematics(&p, &x[24..47])?;
        let mut forces = plant.calc_force_elements_contribution(&p, &k)?;
        for (sum, tau) in forces.generalized_forces_mut().iter_mut().zip(&x[47..]) {
            *sum += *tau;
        }
        plant.calc_forward_dynamics(&p, &k, &forces)
    }
    let (value, jacobian) = try_jacobian(|x| vdot(&plant, x), &x).unwrap();
    close("value", value.as_slice(), &vdot(&plant, &x).unwrap());
    for i in 0..x.len() {
        let h = 1e-5;
        let at = |h: f64| {
            let mut x = x.clone();
            x[i] += h;
            DVector::from_vec(vdot(&plant, &x).unwrap())
        };
        // Fourth order, so that the error is about 1e-10 of the accelerations.
        let far = (at(2.0 * h) - at(-2.0 * h)) / (4.0 * h);
        let difference = ((at(h) - at(-h)) / (2.0 * h) * 4.0 - far) / 3.0;
        let scale = 1.0 + difference.amax() + value.amax();
        let error = (jacobian.column(i) - difference).amax();
        assert!(error < 1e-7 * scale, "argument {i}: {error:e} of {scale:e}");
    }
}

/// Only within a range of free lengths, a tendon is without stiffness.
#[test]
fn tendons_at_rest_are_stiff() {
    fn acceleration<T: Scalar>(plant: &MultibodyPlant, q: T) -> T {
        let p = plant.calc_position_kinematics(&[q]).unwrap();
        let k = plant.calc_velocity_kinematics(&p, &[T::zero()]).unwrap();
        let forces = plant.calc_force_elements_contribution(&p, &k).unwrap();
        plant.calc_forward_dynamics(&p, &k, &forces).unwrap()[0]
    }
    const Q: f64 = 0.25;
    for (free_lengths, slope) in [([0.5; 2], -6.0), ([0.4, 0.6], 0.0), ([0.6, 0.7], -6.0)] {
        let mut plant = MultibodyPlantBuilder::new(0.0).unwrap();
        let unit = SpatialInertia::plausible(2.0, Vector3::zeros()).unwrap();
        let body = plant
            .add_rigid_body("b", ModelInstanceIndex::DEFAULT, unit)
            .unwrap();
        let rail = Joint::prismatic("j", BodyIndex::WORLD, body, Vector3::x()).unwrap();
        let rail = plant.add_joint(rail).unwrap();
        plant
            .add_force_element(ForceElement::TendonSpring {
                joints: vec![(rail, 2.0)],
                free_lengths,
                stiffness: 3.0,
                damping: 0.0,
            })
            .unwrap();
        let plant = plant.build().unwrap();
        let difference = (acceleration(&plant, Q + 1e-3) - acceleration(&plant, Q - 1e-3)) / 2e-3;
        let dual = acceleration(&plant, AutoDiff::variable(Q, 0)).eps[0];
        let p = plant.calc_position_kinematics(&[Q]).unwrap();
        let k = plant.calc_velocity_kinematics(&p, &[0.0]).unwrap();
        let none = plant.zero_forces();
        let analytic = plant
            .calc_forward_dynamics_derivatives(&p, &k, &none)
            .unwrap();
        for found in [difference, dual, analytic.dvdot_dq[(0, 0)]] {
            assert!((found - slope).abs() < 1e-9, "{free_lengths:?}: {found}");
        }
    }
}

#[test]
fn body_without_inertia_is_named() {
    let mut plant = MultibodyPlantBuilder::new(0.0).unwrap();
    let model = ModelInstanceIndex::DEFAULT;
    let arm = plant.add_rigid_body("arm", model, inertia(0)).unwrap();
    let hand = plant
        .add_rigid_body("hand", model, SpatialInertia::zero())
        .unwrap();
    let joint = Joint::revolute("elbow", BodyIndex::WORLD, arm, Vector3::z()).unwrap();
    plant.add_joint(joint).unwrap();
    let joint = Joint::revolute("wrist", arm, hand, Vector3::z()).unwrap();
    plant.add_joint(joint).unwrap();
    let plant = plant.build().unwrap();
    let p = plant.calc_position_kinematics(&[0.0, 0.0]).unwrap();
    let k = plant.calc_velocity_kinematics(&p, &[0.0, 0.0]).unwrap();
    let e = plant.calc_forward_dynamics(&p, &k, &plant.zero_forces());
    let e = e.unwrap_err().to_string();
    assert!(
        e.contains("'DefaultModelInstance::hand'") && e.contains("'wrist'"),
        "{e}"
    );
}

/// A double pendulum with unit masses at the ends of unit rods.
fn double_pendulum(time_step: f64) -> MultibodyPlant {
    let mut plant = MultibodyPlantBuilder::new(time_step).unwrap();
    let model = ModelInstanceIndex::DEFAULT;
    let bob = SpatialInertia::from_central(1.0, -Vector3::z(), Matrix3::zeros()).unwrap();
    let upper = plant.add_rigid_body("upper", model, bob).unwrap();
    let lower = plant.add_rigid_body("lower", model, bob).unwrap();
    let joint = Joint::revolute("shoulder", BodyIndex::WORLD, upper, Vector3::y()).unwrap();
    plant.add_joint(joint).unwrap();
    let joint = Joint::revolute("elbow", upper, lower, Vector3::y()).unwrap();
    let joint = joint.with_pose_on_parent(nalgebra::Isometry3::translation(0.0, 0.0, -1.0));
    plant.add_joint(joint).unwrap();
    plant.build().unwrap()
}

/// Largest change of the energy of the double pendulum within 1 s; at a single time it may pass
/// through 0.
fn energy_drift(scheme: &str, step: f64) -> f64 {
    let mut b = DiagramBuilder::new();
    let plant = b.add("plant", double_pendulum(0.0));
    let diagram = b.build().unwrap();
    let mut context = diagram.default_context();
    plant.set_positions(&mut context, [1.0, 0.5]).unwrap();
    let energy = |context: &Context<f64>| {
        let q = plant.positions(context).unwrap();
        let v = plant.velocities(context).unwrap();
        let p = plant.calc_position_kinematics(&q).unwrap();
        let k = plant.calc_velocity_kinematics(&p, &v).unwrap();
        plant.calc_kinetic_energy(&p, &k).unwrap() + plant.calc_potential_energy(&p).unwrap()
    };
    let start = energy(&context);
    let mut sim = Simulator::new(&diagram, context).unwrap();
    sim.apply_config(&SimulatorConfig {
        integration_scheme: scheme.into(),
        max_step_size: step,
        use_error_control: false,
        ..SimulatorConfig::default()
    })
    .unwrap();
    let mut worst = 0.0_f64;
    for k in 1..=20 {
        sim.advance_to(0.05 * f64::from(k)).unwrap();
        worst = worst.max((energy(sim.context()) - start).abs());
    }
    worst
}

#[test]
fn energy_of_a_double_pendulum_drifts_as_the_order_of_the_integrator_says() {
    for (scheme, order) in [
        ("explicit_euler", 1),
        ("runge_kutta2", 2),
        ("runge_kutta3", 3),
        ("runge_kutta5", 5),
    ] {
        let (coarse, fine) = (energy_drift(scheme, 0.005), energy_drift(scheme, 0.0025));
        let found = (coarse / fine).log2();
        // The next term of the expansion shifts the estimate; energy may converge faster by one.
        let expected = f64::from(order);
        assert!(
            found > expected - 0.3,
            "{scheme}: order {found}, drift {fine:e}"
        );
    }
}

/// The axis of a free symmetric top precesses about its angular momentum, which does not change.
#[test]
fn free_body_keeps_its_momentum() {
    let mut plant = MultibodyPlantBuilder::new(0.0).unwrap();
    plant.set_gravity(Vector3::zeros()).unwrap();
    let m = SpatialInertia::from_central(
        2.0,
        Vector3::zeros(),
        Matrix3::from_diagonal(&Vector3::new(0.02, 0.02, 0.03)),
    );
    let model = ModelInstanceIndex::DEFAULT;
    let top = plant.add_rigid_body("top", model, m.unwrap()).unwrap();
    let plant = plant.build().unwrap();
    let mut b = DiagramBuilder::new();
    let plant = b.add("plant", plant);
    let diagram = b.build().unwrap();
    let mut context = diagram.default_context();
    let v = [1.0, 0.0, 5.0, 0.1, 0.2, 0.3];
    plant.set_velocities(&mut context, v).unwrap();
    let mut sim = Simulator::new(&diagram, context).unwrap();
    let config = SimulatorConfig {
        accuracy: 1e-12,
        ..SimulatorConfig::default()
    };
    sim.apply_config(&config).unwrap();
    sim.advance_to(1.0).unwrap();
    let x = sim.context().eval(plant.body_poses).unwrap()[top.index()];
    // L / I1 is the rate of precession of the axis, about the constant direction of L.
    let l = Vector3::new(0.02 * v[0], 0.0, 0.03 * v[2]);
    let turn = tarragon_framework::math::rotation_exp(&(l / 0.02));
    let axis = turn * Vector3::z();
    // Error control keeps the error of each step below the accuracy.
    assert!((x.rotation * Vector3::z() - axis).norm() < 1e-8);
    assert!((x.translation.vector - Vector3::new(0.1, 0.2, 0.3)).norm() < 1e-10);
}
