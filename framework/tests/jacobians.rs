//! Jacobians for implicit integrators.

use nalgebra::DMatrix;
use std::sync::{Arc, Mutex};
use tarragon_framework::integrator::{
    IntegrationScheme, IntegratorStatistics, JacobianScheme, Ode,
};
use tarragon_framework::prelude::*;
use tarragon_framework::{Result, SimulatorConfig};

const SCHEMES: [JacobianScheme; 3] = [
    JacobianScheme::AutoDiff,
    JacobianScheme::ForwardDifference,
    JacobianScheme::CentralDifference,
];

/// Ring of n elements, `x[i]' = gain * sin(x[i + 1]) - x[i]^2 + u + t`. The gain is a parameter and
/// also discrete state.
struct Ring {
    n: usize,
}
#[derive(Clone, Copy)]
struct RingPorts<T> {
    u: InputPort<Vec<T>>,
    x: ContinuousState<Vec<T>>,
    gain: Param<T>,
    scale: DiscreteState<Vec<T>>,
}
impl<T: Scalar> LeafSystem<T> for Ring {
    type Ports = RingPorts<T>;
    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let u = d.vector_input("u", 1);
        let gain = d.param(T::from(1.5));
        let scale = d.discrete_state(&[T::one()]);
        d.discrete_update_on(Trigger::every(0.5), move |_, ctx, next| {
            next.get_mut(scale)[0] = ctx.xd(scale)[0] * T::from(2.0);
            Ok(EventStatus::Succeeded)
        });
        let x0: Vec<T> = (0..self.n).map(|i| T::from(0.1 * i as f64)).collect();
        let deps = (Dep::Time, Dep::Xc, u, gain, scale);
        let x = d.continuous_state((0, 0, self.n), &x0, deps, move |s, ctx, dx| {
            let (x, u) = (ctx.xc(), ctx.eval(u)?[0]);
            let gain = *ctx.param(gain) * ctx.xd(scale)[0];
            for i in 0..s.n {
                dx[i] = gain * x[(i + 1) % s.n].sin() - x[i] * x[i] * u + ctx.time();
            }
            Ok(())
        });
        RingPorts { u, x, gain, scale }
    }
}

/// Observations of `Probe` in its steps: the Jacobian and the state at which it was computed.
type Seen = Arc<Mutex<Vec<(DMatrix<f64>, Vec<f64>)>>>;

/// Explicit Euler that computes the Jacobian in every step.
struct Probe(Seen);
impl IntegrationScheme<f64> for Probe {
    fn name(&self) -> &'static str {
        "probe"
    }
    fn step(&mut self, ode: &mut Ode<'_, f64>, dt: f64) -> Result<bool> {
        let (t0, mut x) = (ode.time(), ode.state().to_vec());
        let mut jacobian = DMatrix::zeros(0, 0);
        ode.jacobian(&mut jacobian)?;
        assert_eq!((ode.time(), ode.state()), (t0, &x[..]), "nothing changed");
        self.0.lock().unwrap().push((jacobian, x.clone()));
        let mut slope = x.clone();
        ode.derivatives(&mut slope)?;
        for (x, slope) in x.iter_mut().zip(slope) {
            *x += dt * slope;
        }
        ode.set(t0 + dt, &x);
        Ok(true)
    }
}

#[test]
fn jacobians_cover_the_whole_diagram_at_current_values() {
    // Two rings, of 11 and 2 elements: more than one chunk of directions, and uncoupled blocks.
    for scheme in SCHEMES {
        let mut b = DiagramBuilder::new();
        let [first, second] = [11, 2].map(|n| b.add(&format!("ring{n}"), Ring { n }));
        let d = b.build().unwrap();
        let mut ctx = d.default_context();
        ctx.fix(first.u, vec![0.5]).unwrap();
        ctx.fix(second.u, vec![0.25]).unwrap();
        let seen = Seen::default();
        let mut sim = Simulator::new(&d, ctx).unwrap();
        sim.set_integrator(Probe(seen.clone()));
        sim.set_fixed_step(0.25).unwrap();
        sim.set_jacobian_scheme(scheme);
        let mut settings = vec![];
        for step in 0..4 {
            // Parameters and inputs change between steps, the discrete state by events.
            let gain = 1.5 + f64::from(step);
            *sim.context_mut().param_mut(first.gain).unwrap() = gain;
            sim.context_mut().fixed_mut(second.u).unwrap()[0] = gain;
            sim.advance_to(0.25 * f64::from(step + 1)).unwrap();
            settings.push((gain, sim.context().xd(first.scale).unwrap()[0]));
        }
        assert_eq!(sim.jacobian_scheme_in_use(), scheme);
        let tolerance = match scheme {
            JacobianScheme::AutoDiff => 1e-15,
            // Rounding of 1e-16 over steps of 1e-8, and second derivatives of a few units.
            JacobianScheme::ForwardDifference => 1e-7,
            // Rounding of 1e-16 over steps of 3e-7, and third derivatives of a few units.
            JacobianScheme::CentralDifference => 1e-9,
        };
        for ((jacobian, x), (gain, scale)) in seen.lock().unwrap().iter().zip(settings) {
            let mut expected = DMatrix::zeros(13, 13);
            for (start, n, gain, u) in [(0, 11, gain, 0.5), (11, 2, 1.5, gain)] {
                for i in 0..n {
                    let (row, next) = (start + i, start + (i + 1) % n);
                    expected[(row, next)] += gain * scale * x[next].cos();
                    expected[(row, row)] -= 2.0 * u * x[row];
                }
            }
            let error = (jacobian - &expected).amax() / expected.amax();
            println!("{scheme:?}: {error:e}");
            assert!(error < tolerance, "{scheme:?}: {error:e}");
        }
        let s = sim.integrator_statistics();
        let each = match scheme {
            JacobianScheme::AutoDiff => 2,
            JacobianScheme::ForwardDifference => 14,
            JacobianScheme::CentralDifference => 26,
        };
        assert_eq!(s.jacobian_evaluations, 4);
        assert_eq!(s.derivative_evaluations_for_jacobian, 4 * each);
        assert_eq!(s.derivative_evaluations, 4 * (each + 1));
    }
}

/// System `x' = -1000 (x - cos t)`, without dual numbers.
struct Stiff;
impl LeafSystem<f64> for Stiff {
    type Ports = ContinuousState<Vec<f64>>;
    fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
        d.continuous_state((0, 0, 1), &[0.0], (Dep::Time, Dep::Xc), |_, ctx, dx| {
            dx[0] = -1000.0 * (ctx.xc()[0] - ctx.time().cos());
            Ok(())
        })
    }
}

/// System with a parameter whose type differs between scalars and cannot be converted.
struct Opaque;
#[derive(Clone)]
struct Wrapped<T>(T);
impl<T: Scalar> LeafSystem<T> for Opaque {
    type Ports = Param<Wrapped<T>>;
    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let rate = d.param(Wrapped(T::from(-1000.0)));
        d.continuous_state(
            (0, 0, 1),
            &[T::one()],
            (Dep::Xc, rate),
            move |_, ctx, dx| {
                dx[0] = ctx.param(rate).0 * ctx.xc()[0];
                Ok(())
            },
        );
        rate
    }
}

#[test]
fn diagrams_without_dual_numbers_fall_back_to_central_differences() {
    let mut of_f64 = DiagramBuilder::new();
    of_f64.add_f64("stiff", Stiff);
    let mut opaque = DiagramBuilder::new();
    opaque.add("opaque", Opaque);
    for b in [of_f64, opaque] {
        let d = b.build().unwrap();
        let mut sim = Simulator::new(&d, d.default_context()).unwrap();
        sim.apply_config(&SimulatorConfig {
            integration_scheme: "radau3".into(),
            ..SimulatorConfig::default()
        })
        .unwrap();
        let scheme = sim.jacobian_scheme_in_use();
        assert_eq!(scheme, JacobianScheme::AutoDiff, "until one is needed");
        sim.advance_to(1.0).unwrap();
        let scheme = sim.jacobian_scheme_in_use();
        assert_eq!(scheme, JacobianScheme::CentralDifference);
        let s = sim.integrator_statistics();
        assert!(s.jacobian_evaluations > 0);
        assert_eq!(
            s.derivative_evaluations_for_jacobian,
            2 * s.jacobian_evaluations
        );
    }
}

/// Returns the statistics and the final state of a stiff simulation.
fn stiff_ring(scheme: &str, jacobian_scheme: JacobianScheme) -> (IntegratorStatistics, Vec<f64>) {
    let mut b = DiagramBuilder::new();
    let ring = b.add("ring", Ring { n: 3 });
    let d = b.build().unwrap();
    let mut ctx = d.default_context();
    ctx.fix(ring.u, vec![300.0]).unwrap();
    let mut sim = Simulator::new(&d, ctx).unwrap();
    sim.apply_config(&SimulatorConfig {
        integration_scheme: scheme.into(),
        accuracy: 1e-6,
        jacobian_scheme,
        ..SimulatorConfig::default()
    })
    .unwrap();
    sim.advance_to(2.0).unwrap();
    let x = sim.context().xc(ring.x).unwrap().to_vec();
    (sim.integrator_statistics(), x)
}

#[test]
fn all_schemes_lead_to_the_same_solution() {
    for integrator in [
        "implicit_euler",
        "velocity_implicit_euler",
        "radau1",
        "radau3",
    ] {
        let [(dual, x), others @ ..] = SCHEMES.map(|scheme| stiff_ring(integrator, scheme));
        for (s, other) in others {
            // Jacobians differ by 1e-8 and so do the iterations; both meet the accuracy of 1e-6.
            for (a, b) in x.iter().zip(&other) {
                assert!((a - b).abs() < 1e-6, "{integrator}: {a} {b}");
            }
            assert!(
                s.steps.abs_diff(dual.steps) <= dual.steps / 50,
                "{integrator}"
            );
            assert!(
                dual.derivative_evaluations_for_jacobian < s.derivative_evaluations_for_jacobian
            );
        }
        assert_eq!(
            dual.derivative_evaluations_for_jacobian,
            dual.jacobian_evaluations
        );
    }
}

#[test]
fn the_scheme_is_part_of_the_configuration() {
    let text = r#"{"jacobian_scheme": "central_difference"}"#;
    let config: SimulatorConfig = serde_json::from_str(text).unwrap();
    assert_eq!(config.jacobian_scheme, JacobianScheme::CentralDifference);
    let d = DiagramBuilder::new().build().unwrap();
    let mut sim = Simulator::new(&d, d.default_context()).unwrap();
    sim.apply_config(&config).unwrap();
    let scheme = sim.jacobian_scheme_in_use();
    assert_eq!(scheme, JacobianScheme::CentralDifference);
    let wrong = serde_json::from_str::<SimulatorConfig>(r#"{"jacobian_scheme": "guess"}"#);
    assert!(wrong.unwrap_err().to_string().contains("auto_diff"));
}
