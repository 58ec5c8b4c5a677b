//! Continuing after a failure of a simulation.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tarragon_framework::Error;
use tarragon_framework::prelude::*;
use tarragon_framework::primitives::ZeroOrderHold;

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
    assert_eq!(error, "discrete update of 'plant': stuck");
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
    let hold = ZeroOrderHold::new(1e-9, 0.0, 0);
    let hold = b.add("hold", hold);
    let d = b.build().unwrap();
    let mut context = d.default_context();
    context.fix(hold.u, vec![]).unwrap();
    context.set_time(1e9);
    let mut sim = Simulator::new(&d, context).unwrap();
    let error = sim.advance_to(2e9).unwrap_err().to_string();
    assert!(error.contains("a period of 1e-9 s"), "{error}");
}
