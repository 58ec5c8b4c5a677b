//! Updates that stop a simulation.

use std::f64::consts::PI;
use std::sync::{Arc, Mutex};
use tarragon_framework::prelude::*;
use tarragon_framework::{EventStatus, WitnessDirection};

/// The event that stops the simulation.
#[derive(Clone, Copy, Debug)]
enum Stop {
    Discrete,
    Unrestricted,
    WitnessedDiscrete,
    WitnessedUnrestricted,
    Publish,
}

/// A clock as continuous state, a stop at 0.5 s or, by a witness, at half of pi, and the times of
/// publishes every 0.05 s.
struct Stopping {
    stop: Stop,
    published: Arc<Mutex<Vec<f64>>>,
}

#[derive(Clone)]
struct StoppingPorts {
    clock: ContinuousState<Vec<f64>>,
    updates: DiscreteState<Vec<f64>>,
}

impl LeafSystem<f64> for Stopping {
    type Ports = StoppingPorts;
    fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
        let updates = d.discrete_state(&[0.0]);
        let clock = d.continuous_state((1, 0, 0), &[0.0], Dep::Time, |_, _, dx| {
            dx[0] = 1.0;
            Ok(())
        });
        let crossing = WitnessDirection::CrossesZero;
        let cosine = d.witness_function("cosine", crossing, |_, ctx| Ok(ctx.time().cos()));
        let stop = || {
            let reason = "enough".into();
            Ok(EventStatus::ReachedTermination { reason })
        };
        let at = match self.stop {
            Stop::WitnessedDiscrete | Stop::WitnessedUnrestricted => Trigger::Witness(cosine),
            _ => Trigger::Periodic {
                period: 0.5,
                offset: 0.5,
            },
        };
        match self.stop {
            Stop::Discrete | Stop::WitnessedDiscrete => {
                d.discrete_update_on(at, move |_, ctx, next| {
                    next.get_mut(updates)[0] = ctx.xd(updates)[0] + 1.0;
                    stop()
                })
            }
            Stop::Unrestricted | Stop::WitnessedUnrestricted => {
                d.unrestricted_update_on(at, move |_, ctx, next| {
                    next.xd_mut(updates)[0] = ctx.xd(updates)[0] + 1.0;
                    stop()
                })
            }
            Stop::Publish => d.publish_on(at, move |_, _| stop()),
        }
        d.publish_on(Trigger::every(0.05), |s, ctx| {
            s.published.lock().unwrap().push(ctx.time());
            Ok(EventStatus::Succeeded)
        });
        StoppingPorts { clock, updates }
    }
}

/// Time went on to the end of the step, and publishes followed the stop. A stop by a publish, which
/// ends at its own time in Drake, too, shows what is right.
#[test]
fn an_update_that_stops_the_simulation_stops_it_at_its_own_time() {
    for stop in [
        Stop::Discrete,
        Stop::Unrestricted,
        Stop::WitnessedDiscrete,
        Stop::WitnessedUnrestricted,
        Stop::Publish,
    ] {
        let published = Arc::new(Mutex::new(vec![]));
        let mut b = DiagramBuilder::new();
        let system = Stopping {
            stop,
            published: published.clone(),
        };
        let ports = b.add_f64("stopping", system);
        let d = b.build().unwrap();
        let mut sim = Simulator::new(&d, d.default_context()).unwrap();
        sim.set_error_control(1e-6).unwrap();
        let status = sim.advance_to(3.0).unwrap();
        let reason = "enough".into();
        assert_eq!(
            status,
            SimulatorStatus::ReachedTermination { reason },
            "{stop:?}"
        );
        let (end, num_updates) = match stop {
            Stop::Publish => (0.5, 0.0),
            Stop::Discrete | Stop::Unrestricted => (0.5, 1.0),
            Stop::WitnessedDiscrete | Stop::WitnessedUnrestricted => (PI / 2.0, 1.0),
        };
        let time = sim.context().time();
        // Witnesses are isolated within a hundredth of the accuracy times the largest step.
        assert!((time - end).abs() < 1e-8, "{stop:?}: {time}");
        let x = sim.context().xc(ports.clock).unwrap();
        assert!((x[0] - end).abs() < 1e-8, "{stop:?}: {x:?}");
        assert_eq!(
            sim.context().xd(ports.updates).unwrap(),
            [num_updates],
            "{stop:?}"
        );
        let last = published.lock().unwrap().last().copied().unwrap();
        assert!(last <= end, "{stop:?}: {last}");
        // The next call goes on without a second update.
        assert_eq!(
            sim.advance_to(time + 0.4).unwrap(),
            SimulatorStatus::ReachedBoundaryTime
        );
        assert_eq!(
            sim.context().xd(ports.updates).unwrap(),
            [num_updates],
            "{stop:?}"
        );
    }
}
