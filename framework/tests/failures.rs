//! Continuing after a failure of a simulation, and the kinds of errors.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tarragon_framework::analysis::{
    MonteCarloConfig, check_equilibrium, first_order_taylor_approximation, monte_carlo,
};
use tarragon_framework::prelude::*;
use tarragon_framework::primitives::{Gain, Saturation, ValueZeroOrderHold, ZeroOrderHold};
use tarragon_framework::{Error, ErrorKind};

/// State that rises at 1 per second, with an integration that fails while stuck; every 0.1 s an
/// update adds the time to a sum.
struct Plant {
    stuck: Arc<AtomicBool>,
    /// True if an unrestricted update is due together with a discrete one that fails while stuck.
    fails_in_update: bool,
}
#[derive(Clone, Copy)]
struct PlantPorts {
    times: AbstractState<Vec<f64>>,
}
impl LeafSystem<f64> for Plant {
    type Ports = PlantPorts;
    fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
        let times = d.abstract_state(vec![]);
        d.continuous_state((0, 0, 1), &[0.0], Dep::Time, |s, ctx, dx| {
            dx[0] = 1.0;
            let stuck = s.stuck.load(Ordering::Relaxed) && !s.fails_in_update;
            if stuck && ctx.time() > 0.12 {
                return Err(Error::custom("stuck"));
            }
            Ok(())
        });
        d.unrestricted_update_on(Trigger::every(0.1), move |_, ctx, next| {
            next.xa_mut(times).push(ctx.time());
            Ok(EventStatus::Succeeded)
        });
        d.discrete_update_on(Trigger::every(0.1), |s, ctx, _| {
            let stuck = s.stuck.load(Ordering::Relaxed) && s.fails_in_update;
            if stuck && ctx.time() > 0.12 {
                return Err(Error::custom("stuck"));
            }
            Ok(EventStatus::Succeeded)
        });
        PlantPorts { times }
    }
}

/// Returns the times of the updates until 0.35 s, after a failure that was repaired.
fn updates(fails_in_update: bool) -> Vec<f64> {
    let stuck = Arc::new(AtomicBool::new(true));
    let mut b = DiagramBuilder::new();
    let plant = Plant {
        stuck: stuck.clone(),
        fails_in_update,
    };
    let plant = b.add_f64("plant", plant);
    let d = b.build().unwrap();
    let mut sim = Simulator::new(&d, d.default_context()).unwrap();
    assert!(sim.advance_to(0.35).is_err());
    stuck.store(false, Ordering::Relaxed);
    sim.advance_to(0.35).unwrap();
    sim.context().xa(plant.times).unwrap().clone()
}

#[test]
fn updates_stay_on_time_after_a_failed_integration() {
    assert_eq!(updates(false), [0.0, 0.1, 0.2, 3.0 * 0.1]);
}

#[test]
fn a_successful_update_is_not_repeated_with_a_failed_one() {
    assert_eq!(updates(true), [0.0, 0.1, 0.2, 3.0 * 0.1]);
}

#[test]
fn a_failed_discrete_update_undoes_the_unrestricted_ones() {
    let stuck = Arc::new(AtomicBool::new(true));
    let mut b = DiagramBuilder::new();
    let plant = Plant {
        stuck,
        fails_in_update: true,
    };
    let plant = b.add_f64("plant", plant);
    let d = b.build().unwrap();
    let mut sim = Simulator::new(&d, d.default_context()).unwrap();
    let error = sim.advance_to(0.35).unwrap_err().to_string();
    assert_eq!(error, "at 0.2 s: discrete update of 'plant': stuck");
    let times = sim.context().xa(plant.times).unwrap();
    assert_eq!(*times, [0.0, 0.1], "the update at 0.2 s is undone");
}

#[test]
fn a_context_of_another_diagram_is_not_simulated() {
    let [a, b] = [0, 1].map(|_| DiagramBuilder::new().build().unwrap());
    let mut sim = Simulator::new(&a, a.default_context()).unwrap();
    *sim.context_mut() = b.default_context();
    for status in [sim.initialize(), sim.advance_to(1.0)] {
        let error = status.unwrap_err().to_string();
        assert_eq!(error.matches("diagram #").count(), 2, "{error}");
    }
}

#[test]
fn a_period_that_rounding_swallows_is_an_error() {
    let mut b = DiagramBuilder::new();
    let hold = ZeroOrderHold::new(0, 1e-9, 0.0);
    let hold = b.add("hold", hold);
    let d = b.build().unwrap();
    let mut context = d.default_context();
    context.fix(hold.u, vec![]).unwrap();
    context.set_time(1e9);
    let mut sim = Simulator::new(&d, context).unwrap();
    let error = sim.advance_to(2e9).unwrap_err().to_string();
    assert!(error.contains("a period of 1e-9 s"), "{error}");
}

#[test]
fn mistakes_in_declarations_have_kinds() {
    use ErrorKind::{AlreadyExists, ForeignHandle, InvalidArgument};
    struct Wrong(ErrorKind, OutputPort<Vec<f64>>);
    impl LeafSystem<f64> for Wrong {
        type Ports = ();
        fn declare(&self, d: &mut Declare<Self, f64>) {
            match self.0 {
                AlreadyExists => {
                    d.vector_input("u", 1);
                    d.vector_input("u", 1);
                }
                ForeignHandle => {
                    d.vector_output("y", 1, self.1, |_, _, _| Ok(()));
                }
                _ => {
                    d.continuous_state((1, 1, 0), &[0.0], Dep::Nothing, |_, _, _| Ok(()));
                }
            }
        }
    }
    for kind in [AlreadyExists, ForeignHandle, InvalidArgument] {
        let mut b = DiagramBuilder::new();
        let gain = b.add("gain", Gain::new(1, 1.0));
        b.add_f64("wrong", Wrong(kind, gain.y));
        let error = b.build().err().unwrap();
        assert_eq!(error.kind(), kind);
        assert!(error.to_string().starts_with("system 'wrong': "), "{error}");
    }
}

#[test]
fn errors_at_run_time_have_kinds_and_causes() {
    let mut b = DiagramBuilder::new();
    let gain = b.add("gain", Gain::new(1, 1.0));
    let hold = b.add("hold", ValueZeroOrderHold::new(0_u8, 0.1, 0.0));
    let saturation = b.add("saturation", Saturation::with_limit_ports(1));
    let d = b.build().unwrap();
    let mut ctx = d.default_context();
    for (port, value) in [(saturation.u, 0.0), (gain.u, 0.0)] {
        ctx.fix(port, vec![value]).unwrap();
    }
    ctx.fix(hold.u, 1).unwrap();
    ctx.fix(saturation.max.unwrap(), vec![-1.0]).unwrap();
    ctx.fix(saturation.min.unwrap(), vec![1.0]).unwrap();
    let dual = d.to_scalar::<AutoDiff>().unwrap();
    let mut dual_ctx = dual.default_context();
    dual_ctx.fix_inputs_from(&ctx).unwrap();
    let of_f64 = dual_ctx.eval(gain.y).unwrap_err();
    let linearized = first_order_taylor_approximation(&d, &ctx, Some(gain.u), Some(gain.y));
    let crossed = ctx.eval(saturation.y).unwrap_err();
    for (error, kind) in [
        (of_f64, ErrorKind::ForeignHandle),
        (linearized.unwrap_err(), ErrorKind::Unsupported),
        (
            check_equilibrium(&d, &ctx, 0.1).unwrap_err(),
            ErrorKind::Unsupported,
        ),
        (crossed, ErrorKind::InvalidArgument),
    ] {
        assert_eq!(error.kind(), kind, "{error}");
    }
    let config = MonteCarloConfig::default();
    let error = monte_carlo(|_| Ok([0_u8; 64]), usize::MAX, 0, &config).unwrap_err();
    let cause = error.cause().unwrap();
    assert!(cause.is::<std::collections::TryReserveError>());
    assert_eq!(error.to_string().matches(&cause.to_string()).count(), 1);
}

#[test]
fn errors_of_files_and_texts_become_errors_of_the_framework() {
    fn read(path: &str) -> Result<String, Error> {
        Ok(std::fs::read_to_string(path)?)
    }
    let cause = std::fs::read_to_string("/no/such/file").unwrap_err();
    let error = read("/no/such/file").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert_eq!(error.to_string(), cause.to_string());
    let found = error.cause().unwrap().downcast_ref::<std::io::Error>();
    assert_eq!(found.unwrap().kind(), std::io::ErrorKind::NotFound);
    // An error of this crate that a writer passes on stays itself.
    let invalid = std::io::Error::other(Error::invalid("the mass must be positive"));
    let error = Error::from(invalid);
    assert_eq!(error.to_string(), "the mass must be positive");
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    let error = Error::from(format!("{} bodies are missing", 2));
    assert_eq!(error.to_string(), "2 bodies are missing");
    assert_eq!(error.kind(), ErrorKind::Other);
}
