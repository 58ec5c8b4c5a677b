//! Integrators for systems whose position rates differ from their velocities.

use tarragon_framework::SimulatorConfig;
use tarragon_framework::integrator::{IntegratorStatistics, JacobianScheme};
use tarragon_framework::prelude::*;

/// Principal moments of inertia over the mass (m^2).
const INERTIA: [f64; 3] = [0.3, 0.5, 0.9];
/// Stiffness over mass of the spring that holds the body (1/s^2), and gravity (m/s^2).
const STIFFNESS: f64 = 4.0;
const GRAVITY: f64 = 9.81;

/// Free rigid body on a spring to the origin: q is the orientation as a quaternion (w, x, y, z) and
/// the position, v the angular velocity in the frame of the body and the translational velocity.
struct FreeBody;
impl<T: Scalar> LeafSystem<T> for FreeBody {
    type Ports = ContinuousState<Vec<T>>;
    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let x0 = [
            1.0, 0.0, 0.0, 0.0, 1.0, 0.5, 0.0, 0.4, 2.0, -0.3, 0.0, 1.0, 0.2,
        ];
        let xc = d.continuous_state((7, 6, 0), &x0.map(T::from), Dep::Xc, |_, ctx, dx| {
            let (q, v) = ctx.xc().split_at(7);
            rates_of_positions(q, v, &mut dx[..7]);
            let [a, b, c] = INERTIA.map(T::from);
            dx[7] = (b - c) / a * v[1] * v[2];
            dx[8] = (c - a) / b * v[2] * v[0];
            dx[9] = (a - b) / c * v[0] * v[1];
            for i in 0..3 {
                dx[10 + i] = -q[4 + i] * T::from(STIFFNESS);
            }
            dx[12] -= T::from(GRAVITY);
            Ok(())
        });
        d.velocity_map(
            |_, ctx, v, qdot| {
                rates_of_positions(ctx.q(), v, qdot);
                Ok(())
            },
            |_, ctx, qdot, v| {
                let (q, s) = (ctx.q(), qdot);
                let two = T::from(2.0);
                v[0] = two * (q[0] * s[1] - q[1] * s[0] - q[2] * s[3] + q[3] * s[2]);
                v[1] = two * (q[0] * s[2] - q[2] * s[0] - q[3] * s[1] + q[1] * s[3]);
                v[2] = two * (q[0] * s[3] - q[3] * s[0] - q[1] * s[2] + q[2] * s[1]);
                v[3..].copy_from_slice(&s[4..]);
                Ok(())
            },
        );
        xc
    }
}

/// Computes `qdot = N(q) v`: half the quaternion times the angular velocity, then the translational
/// velocity.
fn rates_of_positions<T: Scalar>(q: &[T], v: &[T], qdot: &mut [T]) {
    let half = T::from(0.5);
    qdot[0] = half * (-q[1] * v[0] - q[2] * v[1] - q[3] * v[2]);
    qdot[1] = half * (q[0] * v[0] + q[2] * v[2] - q[3] * v[1]);
    qdot[2] = half * (q[0] * v[1] + q[3] * v[0] - q[1] * v[2]);
    qdot[3] = half * (q[0] * v[2] + q[1] * v[1] - q[2] * v[0]);
    qdot[4..].copy_from_slice(&v[3..]);
}

fn solve(
    scheme: &str,
    jacobian_scheme: JacobianScheme,
    step: f64,
) -> (Vec<f64>, IntegratorStatistics) {
    let mut b = DiagramBuilder::new();
    let body = b.add("body", FreeBody);
    let d = b.build().unwrap();
    let mut sim = Simulator::new(&d, d.default_context()).unwrap();
    sim.apply_config(&SimulatorConfig {
        integration_scheme: scheme.into(),
        max_step_size: step,
        use_error_control: false,
        // Accuracy of the iterations, below the error of a step.
        accuracy: 1e-9,
        jacobian_scheme,
        ..SimulatorConfig::default()
    })
    .unwrap();
    sim.advance_to(1.0).unwrap();
    let x = sim.context().xc(*body.ports()).unwrap().to_vec();
    (x, sim.integrator_statistics())
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    let apart = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    apart.fold(0.0, f64::max)
}

#[test]
fn the_velocity_map_matches_the_derivatives() {
    let mut b = DiagramBuilder::new();
    let body = b.add("body", FreeBody);
    let d = b.build().unwrap();
    let mut ctx = d.default_context();
    let q = [0.5, 0.5, -0.5, 0.5];
    ctx.xc_mut(*body.ports()).unwrap()[..4].copy_from_slice(&q);
    let v = ctx.xc(*body.ports()).unwrap()[7..].to_vec();
    let (mut qdot, mut back) = ([0.0; 7], [0.0; 6]);
    ctx.map_v_to_qdot(&v, &mut qdot).unwrap();
    ctx.map_qdot_to_v(&qdot, &mut back).unwrap();
    // Rounding of a few products.
    assert!(distance(&v, &back) < 1e-15);
    let h = 1e-6;
    let mut sim = Simulator::new(&d, ctx).unwrap();
    sim.advance_to(h).unwrap();
    let x = sim.context().xc(*body.ports()).unwrap();
    for i in 0..4 {
        // Second derivatives of about 2, halved, times h.
        let rate = (x[i] - q[i]) / h;
        assert!((rate - qdot[i]).abs() < 4.0 * h, "{i}: {rate} {}", qdot[i]);
    }
}

#[test]
fn integrators_that_use_the_map_have_their_order() {
    let exact = solve("runge_kutta5", JacobianScheme::AutoDiff, 1e-3).0;
    // Closed form of the position: a vibration about the point where the spring balances gravity.
    let w = STIFFNESS.sqrt();
    let sag = -GRAVITY / STIFFNESS;
    let z = sag + (0.0 - sag) * w.cos() + 0.2 / w * w.sin();
    assert!((exact[6] - z).abs() < 1e-12, "{} {z}", exact[6]);
    for scheme in ["semi_explicit_euler", "velocity_implicit_euler"] {
        let error = |step| distance(&solve(scheme, JacobianScheme::AutoDiff, step).0, &exact);
        let (coarse, fine) = (error(2e-3), error(1e-3));
        let order = (coarse / fine).log2();
        println!("{scheme}: errors {coarse:e}, {fine:e}, order {order:.3}");
        // First order, up to the second-order part of these steps.
        assert!((order - 1.0).abs() < 0.05, "{scheme}: {order}");
    }
}

#[test]
fn the_map_costs_no_evaluations() {
    let (_, s) = solve("semi_explicit_euler", JacobianScheme::AutoDiff, 0.125);
    assert_eq!((s.steps, s.derivative_evaluations), (8, 8));
}

#[test]
fn jacobians_through_the_map_agree() {
    let scheme = "velocity_implicit_euler";
    let (dual, s) = solve(scheme, JacobianScheme::AutoDiff, 0.05);
    assert_eq!(
        s.derivative_evaluations_for_jacobian, s.jacobian_evaluations,
        "six unknowns are one chunk of directions"
    );
    for jacobians in [
        JacobianScheme::ForwardDifference,
        JacobianScheme::CentralDifference,
    ] {
        let (other, differences) = solve(scheme, jacobians, 0.05);
        // Iterations end within a fraction of 1e-9, twenty times.
        assert!(distance(&dual, &other) < 1e-9);
        assert_eq!(s.steps, differences.steps);
    }
}

/// More positions than velocities, and no map.
struct NoMap;
impl<T: Scalar> LeafSystem<T> for NoMap {
    type Ports = ();
    fn declare(&self, d: &mut Declare<Self, T>) {
        let x0 = [T::one(), T::zero(), T::one()];
        d.continuous_state((2, 1, 0), &x0, Dep::Xc, |_, _, dx| {
            dx.fill(T::one());
            Ok(())
        });
    }
}

#[test]
fn a_missing_map_is_an_error_where_it_is_needed() {
    let mut b = DiagramBuilder::new();
    b.add("odd", NoMap);
    let d = b.build().unwrap();
    for (scheme, needs_it) in [
        ("semi_explicit_euler", true),
        ("velocity_implicit_euler", true),
        ("runge_kutta3", false),
        ("implicit_euler", false),
    ] {
        let mut sim = Simulator::new(&d, d.default_context()).unwrap();
        sim.apply_config(&SimulatorConfig {
            integration_scheme: scheme.into(),
            ..SimulatorConfig::default()
        })
        .unwrap();
        let result = sim.advance_to(0.1);
        assert_eq!(result.is_err(), needs_it, "{scheme}");
        if let Err(error) = result {
            let message = error.to_string();
            for part in [
                "system 'odd' has 2 positions and 1 velocity",
                "velocity_map",
            ] {
                assert!(message.contains(part), "{message}");
            }
            assert_eq!(sim.context().time(), 0.0, "nothing happened");
        }
    }
}
