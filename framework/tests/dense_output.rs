//! Dense output of the simulator.

use tarragon_framework::SimulatorConfig;
use tarragon_framework::integrator::RungeKutta5;
use tarragon_framework::prelude::*;
use tarragon_framework::primitives::{Integrator, Sine, ZeroOrderHold};
use tarragon_framework::trajectories::PiecewisePolynomial;

/// System `q'' = -q` that fails when q falls below a limit.
struct Oscillator {
    breaks_at: f64,
}
impl LeafSystem<f64> for Oscillator {
    type Ports = ContinuousState<Vec<f64>>;
    fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
        d.continuous_state((1, 1, 0), &[1.0, 0.0], Dep::Xc, |s, ctx, dx| {
            let x = ctx.xc();
            if x[0] < s.breaks_at {
                return Err(tarragon_framework::Error::custom("the spring broke"));
            }
            (dx[0], dx[1]) = (x[1], -x[0]);
            Ok(())
        })
    }
}

fn oscillator(breaks_at: f64) -> (Simulator<f64>, ContinuousState<Vec<f64>>) {
    let mut b = DiagramBuilder::new();
    let x = *b.add_f64("oscillator", Oscillator { breaks_at }).ports();
    let d = b.build().unwrap();
    (Simulator::new(&d, d.default_context()).unwrap(), x)
}

/// Returns the largest deviation from a function of time, between and at the breaks.
fn error(found: &PiecewisePolynomial, exact: impl Fn(f64) -> Vec<f64>) -> f64 {
    let (start, end) = (found.start_time(), found.end_time());
    let at = |i: u32| start + (end - start) * f64::from(i) / 1000.0;
    (0..=1000)
        .flat_map(|i| {
            let pairs = found.value(at(i)).into_iter().zip(exact(at(i)));
            pairs.map(|(a, b)| (a - b).abs()).collect::<Vec<_>>()
        })
        .fold(0.0, f64::max)
}

#[test]
fn the_interpolation_is_of_fourth_order() {
    let run = |step: f64| {
        let (mut sim, _) = oscillator(-2.0);
        sim.set_integrator(RungeKutta5::new());
        sim.set_fixed_step(step).unwrap();
        sim.advance_to(0.5).unwrap();
        sim.start_dense_output().unwrap();
        sim.advance_to(1.7).unwrap();
        sim.advance_to(4.0).unwrap();
        let found = sim.stop_dense_output().unwrap().unwrap();
        assert_eq!((found.start_time(), found.end_time()), (0.5, 4.0));
        error(&found, |t| vec![t.cos(), -t.sin()])
    };
    let errors = [0.2, 0.1, 0.05].map(run);
    println!("{errors:?}");
    // h^4 / 384 times the largest fourth derivative, which is 1.
    assert!((errors[1] / (0.1_f64.powi(4) / 384.0) - 1.0).abs() < 0.05);
    for pair in errors.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        // The breaks lie differently in the two runs.
        assert!((order - 4.0).abs() < 0.1, "{order}");
    }
}

#[test]
fn dense_output_passes_through_every_step() {
    let (mut sim, x) = oscillator(-2.0);
    sim.start_dense_output().unwrap();
    let steps = std::sync::Arc::new(std::sync::Mutex::new(vec![]));
    let seen = steps.clone();
    sim.set_monitor(move |ctx| {
        seen.lock().unwrap().push((ctx.time(), ctx.xc(x)?.to_vec()));
        Ok(EventStatus::Succeeded)
    });
    sim.advance_to(3.0).unwrap();
    let found = sim.stop_dense_output().unwrap().unwrap();
    for (t, x) in &*steps.lock().unwrap() {
        for (a, b) in found.value(*t).iter().zip(x) {
            // Rounding, also at the end of the last segment, where a cubic is evaluated.
            assert!((a - b).abs() < 1e-15, "{t}: {a} {b}");
        }
    }
}

#[test]
fn dense_output_changes_neither_steps_nor_statistics() {
    let run = |dense: bool| {
        let (mut sim, x) = oscillator(-2.0);
        if dense {
            sim.start_dense_output().unwrap();
        }
        sim.advance_to(3.0).unwrap();
        let end = sim.context().xc(x).unwrap().to_vec();
        (sim.integrator_statistics(), end)
    };
    assert_eq!(run(true), run(false));
}

/// System `x' = -x`; an unrestricted update adds 1 at every half second from 0.5 s on.
struct Kicked;
impl LeafSystem<f64> for Kicked {
    type Ports = ();
    fn declare(&self, d: &mut Declare<Self, f64>) {
        d.continuous_state((0, 0, 1), &[1.0], Dep::Xc, |_, ctx, dx| {
            dx[0] = -ctx.xc()[0];
            Ok(())
        });
        let kicks = Trigger::Periodic {
            period: 0.5,
            offset: 0.5,
        };
        d.unrestricted_update_on(kicks, |_, _, next| {
            next.xc_mut()[0] += 1.0;
            Ok(EventStatus::Succeeded)
        });
    }
}

#[test]
fn jumps_are_at_the_time_of_their_event() {
    let mut b = DiagramBuilder::new();
    b.add_f64("kicked", Kicked);
    let d = b.build().unwrap();
    let mut sim = Simulator::new(&d, d.default_context()).unwrap();
    sim.set_integrator(RungeKutta5::new());
    sim.set_fixed_step(0.01).unwrap();
    sim.start_dense_output().unwrap();
    sim.advance_to(2.25).unwrap();
    let found = sim.stop_dense_output().unwrap().unwrap();
    let exact = |t: f64| {
        let kicks = (1..=4).map(|k| 0.5 * f64::from(k)).filter(|k| *k <= t);
        (-t).exp() + kicks.map(|k| (k - t).exp()).sum::<f64>()
    };
    // h^4 / 384 times a fourth derivative of 2.
    assert!(error(&found, |t| vec![exact(t)]) < 1e-10);
    for k in 1..=4 {
        let t = 0.5 * f64::from(k);
        let (before, after) = (found.value(t.next_down())[0], found.value(t)[0]);
        assert!((after - exact(t)).abs() < 1e-11, "{t}: {after}");
        assert!((before - exact(t.next_down())).abs() < 1e-11);
        assert!((after - before - 1.0).abs() < 1e-11, "{t}");
        let mut slope = [0.0];
        found.evaluate_derivative(t, 1, &mut slope);
        assert!((slope[0] + exact(t)).abs() < 1e-11, "the slope after it");
    }
}

#[test]
fn kinks_are_preserved() {
    // The integral of a held wave consists of straight lines.
    let mut b = DiagramBuilder::new();
    let wave = b.add("wave", Sine::new(1).with_frequency(3.0).with_phase(0.4));
    let hold = b.add("hold", ZeroOrderHold::new(1, 0.25, 0.0));
    let sum = b.add("sum", Integrator::new(1));
    b.connect(wave.y, hold.u);
    b.connect(hold.y, sum.u);
    let d = b.build().unwrap();
    let mut sim = Simulator::new(&d, d.default_context()).unwrap();
    sim.set_integrator(RungeKutta5::new());
    sim.set_fixed_step(0.1).unwrap();
    sim.start_dense_output().unwrap();
    sim.advance_to(3.0).unwrap();
    let found = sim.stop_dense_output().unwrap().unwrap();
    let exact = |t: f64| {
        let held = |k: u32| (3.0 * 0.25 * f64::from(k) + 0.4).sin();
        let pieces = (0..12).map(|k| {
            let since = t - 0.25 * f64::from(k);
            held(k) * since.clamp(0.0, 0.25)
        });
        vec![pieces.sum()]
    };
    let worst = error(&found, exact);
    // Rounding of sums of a dozen terms; interpolation across a kink would be off by 1e-2.
    assert!(worst < 1e-14, "{worst:e}");
}

#[test]
fn tiny_steps_between_jumps_leave_increasing_breaks() {
    let mut b = DiagramBuilder::new();
    b.add_f64("kicked", Kicked);
    let d = b.build().unwrap();
    let mut sim = Simulator::new(&d, d.default_context()).unwrap();
    sim.start_dense_output().unwrap();
    sim.advance_to(0.5).unwrap();
    // The update pending at 0.5 s happens at the beginning of this call.
    sim.advance_to(0.5_f64.next_up()).unwrap();
    sim.advance_to(0.75).unwrap();
    let found = sim.stop_dense_output().unwrap().unwrap();
    assert_eq!(found.end_time(), 0.75);
    let exact = (-0.75_f64).exp() + (-0.25_f64).exp();
    // The integrator's accuracy is 1e-4.
    assert!((found.value(0.75)[0] - exact).abs() < 1e-3);
}

#[test]
fn misuse_is_explained() {
    let still = DiagramBuilder::new().build().unwrap();
    let mut sim = Simulator::new(&still, still.default_context()).unwrap();
    let message = sim.start_dense_output().unwrap_err().to_string();
    assert!(message.contains("no continuous state"), "{message}");
    assert_eq!(sim.stop_dense_output().unwrap(), None);

    let (mut sim, _) = oscillator(-2.0);
    assert_eq!(sim.stop_dense_output().unwrap(), None);
    sim.start_dense_output().unwrap();
    let message = sim.start_dense_output().unwrap_err().to_string();
    assert!(message.contains("started already"), "{message}");
    assert_eq!(sim.stop_dense_output().unwrap(), None, "no step was taken");

    sim.start_dense_output().unwrap();
    sim.advance_to(1.0).unwrap();
    sim.context_mut().set_time(2.0);
    let message = sim.advance_to(3.0).unwrap_err().to_string();
    let expected = "the time was changed from 1 s to 2 s; stop dense output before";
    assert!(message.contains(expected), "{message}");
    assert_eq!(sim.stop_dense_output().unwrap().unwrap().end_time(), 1.0);
    sim.advance_to(3.0).unwrap();
}

#[test]
fn failed_steps_are_not_recorded() {
    let (mut sim, _) = oscillator(0.5);
    sim.apply_config(&SimulatorConfig {
        integration_scheme: "runge_kutta2".into(),
        max_step_size: 0.125,
        ..SimulatorConfig::default()
    })
    .unwrap();
    sim.start_dense_output().unwrap();
    assert!(sim.advance_to(2.0).is_err());
    let end = sim.context().time();
    let found = sim.stop_dense_output().unwrap().unwrap();
    assert_eq!(found.end_time(), end);
    assert!(end > 0.8 && end < 1.1, "{end}");
}
