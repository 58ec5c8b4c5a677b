//! Order, error control and settings of the integrators.

use std::sync::{Arc, Mutex};
use tarragon_framework::integrator::{
    BogackiShampine3, ExplicitEuler, ImplicitEuler, IntegratorStatistics, JacobianScheme,
    RungeKutta3, SCHEMES, by_name,
};
use tarragon_framework::prelude::*;
use tarragon_framework::{Error, Result, SimulatorConfig};

/// Van der Pol oscillator `q' = v`, `v' = mu (1 - q^2) v - q + push(t)`, with the integral z of q.
/// Fails when q passes `breaks_at`.
struct VanDerPol {
    mu: f64,
    breaks_at: f64,
}
#[derive(Clone, Copy)]
struct VanDerPolPorts<T> {
    x: ContinuousState<Vec<T>>,
}
impl<T: Scalar> LeafSystem<T> for VanDerPol {
    type Ports = VanDerPolPorts<T>;
    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let x0 = [2.0, 0.0, 0.0].map(T::from);
        let x = d.continuous_state((1, 1, 1), &x0, (Dep::Time, Dep::Xc), |s, ctx, dx| {
            let (q, v) = (ctx.xc()[0], ctx.xc()[1]);
            if q.re() < s.breaks_at {
                return Err(Error::custom("the wire broke"));
            }
            dx[0] = v;
            dx[1] = (T::one() - q * q) * v * T::from(s.mu) - q + ctx.time().cos();
            dx[2] = q;
            Ok(())
        });
        VanDerPolPorts { x }
    }
}

const IMPLICIT: [&str; 4] = [
    "implicit_euler",
    "velocity_implicit_euler",
    "radau1",
    "radau3",
];

fn config(scheme: &str, step: f64) -> SimulatorConfig {
    SimulatorConfig {
        integration_scheme: scheme.into(),
        max_step_size: step,
        use_error_control: false,
        ..SimulatorConfig::default()
    }
}

/// Returns the state of the oscillator at `end` (s), and the integrator's statistics.
fn solve(mu: f64, end: f64, config: &SimulatorConfig) -> Result<(Vec<f64>, IntegratorStatistics)> {
    let mut b = DiagramBuilder::new();
    let breaks_at = f64::NEG_INFINITY;
    let oscillator = b.add("oscillator", VanDerPol { mu, breaks_at });
    let d = b.build()?;
    let mut sim = Simulator::new(&d, d.default_context())?;
    sim.apply_config(config)?;
    sim.advance_to(end)?;
    assert_eq!(sim.context().time(), end);
    let state = sim.context().xc(oscillator.x)?.to_vec();
    Ok((state, sim.integrator_statistics()))
}

/// Returns the solution, exact to rounding.
fn exact(mu: f64, end: f64) -> Vec<f64> {
    solve(mu, end, &config("runge_kutta5", 1e-3)).unwrap().0
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    let apart = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    apart.fold(0.0, f64::max)
}

#[test]
fn every_integrator_has_its_order() {
    let solution = exact(1.0, 4.0);
    for scheme in SCHEMES {
        let order = match scheme {
            "runge_kutta2" => 2,
            "runge_kutta3" | "bogacki_shampine3" | "radau3" => 3,
            "runge_kutta5" => 5,
            _ => 1,
        };
        let step = if order == 5 { 0.02 } else { 0.01 };
        let error = |step| {
            let found = solve(1.0, 4.0, &config(scheme, step)).unwrap().0;
            distance(&found, &solution)
        };
        let observed = (error(step) / error(step / 2.0)).log2();
        println!("{scheme}: observed order {observed:.3}");
        let off = (observed - f64::from(order)).abs();
        assert!(off < 0.15, "{scheme}: {observed}, expected {order}");
    }
}

#[test]
fn error_control_keeps_the_accuracy() {
    let solution = exact(1.0, 5.0);
    for scheme in SCHEMES {
        if by_name::<f64>(scheme).unwrap().error_control().is_none() {
            continue;
        }
        let first_order = IMPLICIT.contains(&scheme) && scheme != "radau3";
        let mut last_steps = 0;
        for accuracy in [1e-3, 1e-4, 1e-5] {
            let controlled = SimulatorConfig {
                use_error_control: true,
                accuracy,
                ..config(scheme, 1.0)
            };
            let (found, s) = solve(1.0, 5.0, &controlled).unwrap();
            let error = distance(&found, &solution);
            // The errors of all steps accumulate; with first-order methods the result is of order
            // h.
            let allowed = if first_order {
                accuracy.sqrt() * 10.0
            } else {
                accuracy * 50.0
            };
            assert!(error < allowed, "{scheme} to {accuracy}: {error:e}");
            assert!(s.steps > last_steps, "{scheme}: {s:?}");
            assert!(s.smallest_adapted_step <= s.largest_step, "{scheme}: {s:?}");
            last_steps = s.steps;
        }
    }
}

#[test]
fn stiff_equations_take_few_steps_with_implicit_integrators() {
    let (mu, end) = (1000.0, 1.0);
    let solution = solve(mu, end, &config("runge_kutta5", 1e-4)).unwrap().0;
    let run = |scheme: &str| {
        let controlled = SimulatorConfig {
            use_error_control: true,
            accuracy: 1e-4,
            ..config(scheme, 0.1)
        };
        let (found, s) = solve(mu, end, &controlled).unwrap();
        println!("{scheme}: {s:?}");
        assert!(
            distance(&found, &solution) < 1e-3,
            "{scheme}: {found:?}, {solution:?}"
        );
        s.steps
    };
    let explicit = run("runge_kutta3");
    assert!(explicit > 1000, "{explicit}");
    for scheme in IMPLICIT {
        let steps = run(scheme);
        assert!(steps < 150, "{scheme}: {steps}");
    }
}

#[test]
fn implicit_integrators_refuse_dual_numbers() {
    for scheme in IMPLICIT {
        let message = by_name::<AutoDiff>(scheme).err().unwrap().to_string();
        let expected = format!("the integration scheme '{scheme}' computes in f64 only");
        assert!(message.contains(&expected), "{message}");
    }
}

#[test]
fn derivatives_pass_through_explicit_integrators() {
    let run = |scheme: &str, error_control, q0: f64| -> Vec<AutoDiff> {
        let mut b = DiagramBuilder::new();
        let (mu, breaks_at) = (1.0, f64::NEG_INFINITY);
        let oscillator = b.add("oscillator", VanDerPol { mu, breaks_at });
        let d = b.build().unwrap().to_scalar::<AutoDiff>().unwrap();
        let x = d.ports(&oscillator).unwrap().x;
        let mut ctx = d.default_context();
        ctx.xc_mut(x).unwrap()[0] = AutoDiff::variable(q0, 0);
        ctx.set_time(AutoDiff::variable(0.0, 1));
        let mut sim = Simulator::new(&d, ctx).unwrap();
        sim.apply_config(&SimulatorConfig {
            use_error_control: error_control,
            ..config(scheme, 0.03125)
        })
        .unwrap();
        sim.advance_to(1.0).unwrap();
        assert_eq!(sim.context().time().re, 1.0);
        assert_eq!(
            sim.context().time().eps[1],
            1.0,
            "time keeps its derivative"
        );
        sim.context().xc(x).unwrap().to_vec()
    };
    for scheme in [
        "explicit_euler",
        "semi_explicit_euler",
        "runge_kutta2",
        "runge_kutta3",
        "runge_kutta5",
        "bogacki_shampine3",
    ] {
        let h = 1e-6;
        let [middle, plus, minus] = [0.0, h, -h].map(|dq| run(scheme, false, 2.0 + dq));
        for i in 0..3 {
            let difference = (plus[i].re - minus[i].re) / (2.0 * h);
            let error = (middle[i].eps[0] - difference).abs();
            assert!(error < 1e-8, "{scheme} element {i}: {error:e}");
        }
        assert!(run(scheme, true, 2.0)[0].eps[0].is_finite());
    }
}

/// Returns a simulator of an oscillator that fails at some point of its first second.
fn breaking() -> (Simulator<f64>, ContinuousState<Vec<f64>>) {
    let mut b = DiagramBuilder::new();
    let (mu, breaks_at) = (1.0, 1.9);
    let oscillator = b.add("oscillator", VanDerPol { mu, breaks_at });
    let x = oscillator.x;
    let d = b.build().unwrap();
    (Simulator::new(&d, d.default_context()).unwrap(), x)
}

#[test]
fn a_failed_step_restores_time_and_state() {
    for scheme in SCHEMES {
        for use_error_control in [false, true] {
            let (mut sim, x) = breaking();
            sim.apply_config(&SimulatorConfig {
                use_error_control,
                ..config(scheme, 0.125)
            })
            .unwrap();
            let last = Arc::new(Mutex::new((0.0, vec![])));
            let accepted = last.clone();
            sim.set_monitor(move |ctx| {
                *accepted.lock().unwrap() = (ctx.time(), ctx.xc(x)?.to_vec());
                Ok(EventStatus::Succeeded)
            });
            let error = sim.advance_to(10.0).unwrap_err().to_string();
            assert!(error.contains("the wire broke"), "{error}");
            let (t, state) = last.lock().unwrap().clone();
            assert!(t > 0.1 && t < 1.0, "{scheme}: {t}");
            assert_eq!(sim.context().time(), t, "{scheme}");
            assert_eq!(sim.context().xc(x).unwrap(), state, "{scheme}");
        }
    }
}

/// System `x' = 1` up to x = 1, beyond which the rate is NaN.
struct Undefined;
impl<T: Scalar> LeafSystem<T> for Undefined {
    type Ports = ();
    fn declare(&self, d: &mut Declare<Self, T>) {
        d.continuous_state((0, 0, 1), &[T::zero()], Dep::Xc, |_, ctx, dx| {
            dx[0] = T::from(if ctx.xc()[0].re() > 1.0 {
                f64::NAN
            } else {
                1.0
            });
            Ok(())
        });
    }
}

#[test]
fn implicit_iterations_do_not_converge_to_nan() {
    let mut b = DiagramBuilder::new();
    b.add("undefined", Undefined);
    let d = b.build().unwrap();
    for scheme in IMPLICIT {
        let mut sim = Simulator::new(&d, d.default_context()).unwrap();
        sim.apply_config(&config(scheme, 0.125)).unwrap();
        let message = sim.advance_to(2.0).unwrap_err().to_string();
        let expected = format!("integrator '{scheme}' does not converge, even with a step of");
        assert!(message.contains(&expected), "{message}");
        let time = sim.context().time();
        assert!((time - 1.0).abs() < 1e-12, "{scheme}: {time}");
    }
}

#[test]
fn runs_are_equal_to_the_bit() {
    for scheme in SCHEMES {
        let controlled = SimulatorConfig {
            use_error_control: true,
            ..config(scheme, 0.1)
        };
        let [a, b] = [0, 1].map(|_| solve(5.0, 3.0, &controlled).unwrap());
        assert_eq!(a, b, "{scheme}");
    }
}

#[test]
fn the_smallest_step_is_an_error_or_a_limit() {
    let strict = SimulatorConfig {
        accuracy: 1e-12,
        use_error_control: true,
        min_step_size: 0.05,
        ..config("runge_kutta3", 0.1)
    };
    let message = solve(1.0, 1.0, &strict).unwrap_err().to_string();
    for part in [
        "runge_kutta3",
        "at 0.0 s",
        "misses the accuracy 1e-12",
        "5e-2 s",
    ] {
        assert!(message.contains(part), "{message}");
    }
    let lenient = SimulatorConfig {
        throw_on_minimum_step_size_violation: false,
        initial_step_size: Some(0.1),
        ..strict
    };
    let (_, s) = solve(1.0, 1.0, &lenient).unwrap();
    assert!(s.smallest_adapted_step.unwrap() >= 0.05);
    assert!((10..=20).contains(&s.steps), "{s:?}");
}

#[test]
fn the_first_step_can_be_chosen() {
    let first = SimulatorConfig {
        initial_step_size: Some(1e-5),
        use_error_control: true,
        ..config("bogacki_shampine3", 0.1)
    };
    let (_, s) = solve(1.0, 1.0, &first).unwrap();
    assert_eq!(s.initial_step, Some(1e-5));
    assert_eq!(s.smallest_adapted_step, Some(1e-5));
}

#[test]
fn the_largest_step_limits_only_continuous_state() {
    let still = DiagramBuilder::new().build().unwrap();
    let mut sim = Simulator::new(&still, still.default_context()).unwrap();
    sim.advance_to(1e3).unwrap();
    assert_eq!((sim.context().time(), sim.statistics().steps), (1e3, 1));
    sim.advance_to(f64::INFINITY).unwrap();
    assert_eq!(sim.context().time(), f64::INFINITY);
    let (_, s) = solve(1.0, 1.0, &config("runge_kutta3", 0.25)).unwrap();
    assert_eq!((s.steps, s.largest_step), (4, Some(0.25)));
}

#[test]
fn bad_settings_are_explained() {
    let good = SimulatorConfig::default;
    let message = |config: SimulatorConfig| solve(1.0, 1.0, &config).unwrap_err().to_string();
    for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let accuracy = message(SimulatorConfig {
            accuracy: wrong,
            ..good()
        });
        assert!(accuracy.contains(&format!(
            "the accuracy must be positive and finite, got {wrong:?}"
        )));
        let step = message(SimulatorConfig {
            max_step_size: wrong,
            ..good()
        });
        assert!(step.contains(&format!(
            "the largest step must be positive and finite (s), got {wrong:?}"
        )));
        let first = message(SimulatorConfig {
            initial_step_size: Some(wrong),
            ..good()
        });
        assert!(
            first.contains(&format!(
                "the first step must be positive and from 0.0 to 0.1 s, got {wrong:?}"
            )),
            "{first}"
        );
    }
    let smallest = message(SimulatorConfig {
        min_step_size: 0.2,
        ..good()
    });
    assert!(
        smallest.contains("the smallest step must be from 0 to the largest step, 0.1 s, got 0.2")
    );
    let unknown = message(SimulatorConfig {
        integration_scheme: "rk4".into(),
        ..good()
    });
    assert!(unknown.contains("no integration scheme 'rk4'; the schemes are explicit_euler, semi"));

    let (mut sim, _) = breaking();
    sim.set_integrator(ExplicitEuler::new());
    let message = sim.set_error_control(1e-3).unwrap_err().to_string();
    assert!(
        message.contains("'explicit_euler' takes fixed steps only"),
        "{message}"
    );
    sim.set_integrator(BogackiShampine3::new());
    assert!(sim.set_error_control(-1e-3).is_err());
    sim.set_error_control(1e-3).unwrap();
    sim.advance_to(0.01).unwrap();
    assert!(sim.integrator_statistics().smallest_adapted_step.is_some());
    assert_eq!(sim.integrator().name(), "bogacki_shampine3");
    sim.set_integrator(RungeKutta3::new());
    assert_eq!(sim.integrator_statistics(), IntegratorStatistics::default());
}

#[test]
fn settings_outlive_the_integrator_that_they_were_made_for() {
    // Every setting differs from its default and changes the steps.
    let config = |scheme: &str| SimulatorConfig {
        max_step_size: 0.06,
        min_step_size: 0.01,
        initial_step_size: Some(0.03),
        accuracy: 1e-9,
        throw_on_minimum_step_size_violation: false,
        jacobian_scheme: JacobianScheme::ForwardDifference,
        ..config(scheme, 0.06)
    };
    for use_error_control in [true, false] {
        let [first, second] = ["runge_kutta3", "implicit_euler"].map(|scheme| SimulatorConfig {
            use_error_control,
            ..config(scheme)
        });
        let expected = solve(1.0, 1.0, &second).unwrap();
        let mut b = DiagramBuilder::new();
        let breaks_at = f64::NEG_INFINITY;
        let oscillator = b.add("oscillator", VanDerPol { mu: 1.0, breaks_at });
        let d = b.build().unwrap();
        let mut sim = Simulator::new(&d, d.default_context()).unwrap();
        sim.apply_config(&first).unwrap();
        sim.set_integrator(ImplicitEuler::new());
        sim.advance_to(1.0).unwrap();
        let state = sim.context().xc(oscillator.x).unwrap().to_vec();
        assert_eq!((state, sim.integrator_statistics()), expected);
    }
}

#[test]
fn each_setting_of_the_steps_leaves_the_others_alone() {
    let (mut sim, _) = breaking();
    sim.apply_config(&SimulatorConfig {
        min_step_size: 0.02,
        accuracy: 1e-3,
        ..SimulatorConfig::default()
    })
    .unwrap();
    for refused in [sim.set_max_step(0.01), sim.set_fixed_step(0.01)] {
        let message = refused.unwrap_err().to_string();
        let expected = "the smallest step must be from 0 to the largest step, 0.01 s, got 0.02";
        assert!(message.contains(expected), "{message}");
    }
    let adapts_below = |sim: &mut Simulator<f64>, step: f64| {
        sim.reset_statistics();
        sim.advance_to(sim.context().time() + 0.06).unwrap();
        let statistics = sim.integrator_statistics();
        assert!(statistics.largest_step.unwrap() <= step * (1.0 + 1e-9));
        statistics.smallest_adapted_step.is_some()
    };
    assert!(
        adapts_below(&mut sim, 0.1),
        "a refused step changes nothing"
    );
    sim.set_max_step(0.05).unwrap();
    assert!(adapts_below(&mut sim, 0.05), "still with error control");
    sim.set_fixed_step(0.025).unwrap();
    assert!(!adapts_below(&mut sim, 0.025), "without error control");
    sim.set_max_step(0.05).unwrap();
    assert!(!adapts_below(&mut sim, 0.05), "still without");
    sim.set_error_control(1e-3).unwrap();
    assert!(
        adapts_below(&mut sim, 0.05),
        "with error control, up to the same step"
    );
}

#[test]
fn the_config_can_be_read_and_written() {
    let text = r#"{"integration_scheme": "runge_kutta5", "accuracy": 1e-8}"#;
    let config: SimulatorConfig = serde_json::from_str(text).unwrap();
    let expected = SimulatorConfig {
        integration_scheme: "runge_kutta5".into(),
        accuracy: 1e-8,
        ..SimulatorConfig::default()
    };
    assert_eq!(config, expected);
    let written = serde_json::to_string(&config).unwrap();
    assert_eq!(
        serde_json::from_str::<SimulatorConfig>(&written).unwrap(),
        config
    );
    let unknown = serde_json::from_str::<SimulatorConfig>(r#"{"acuracy": 1}"#).unwrap_err();
    assert!(unknown.to_string().contains("acuracy"));
}
