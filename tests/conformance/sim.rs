//! Simulator: event times and order, discrete systems.

use crate::integrators::{Equation, Flow};
use crate::support::{Family, difference, load, number};
use serde_json::Value;
use std::sync::{Arc, Mutex};
use tarragon_framework::prelude::*;
use tarragon_framework::primitives::{Sine, VectorLogSink, ZeroOrderHold};
use tarragon_framework::{Block, SimulatorConfig};

/// System `x+ = A x + B u`, `y = C x + D u`, where u is a wave in time.
struct DiscreteLinear {
    case: Value,
}
impl LeafSystem<f64> for DiscreteLinear {
    type Ports = OutputPort<Vec<f64>>;
    fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
        let case = &self.case;
        let [a, b, c, feed] = ["A", "B", "C", "D"].map(|name| rows(&case[name]));
        let [amplitude, frequency, phase] =
            ["amp", "freq", "phase"].map(|name| list(&case["sine"][name]));
        let wave = move |t: f64| -> Vec<f64> {
            (0..amplitude.len())
                .map(|i| amplitude[i] * (frequency[i] * t + phase[i]).sin())
                .collect()
        };
        let now = wave.clone();
        let x = d.discrete_state(&list(&case["x0"]));
        d.discrete_update_on(Trigger::every(number(&case["dt"])), move |_, ctx, next| {
            affine(&a, ctx.xd(x), &b, &now(ctx.time()), next.get_mut(x));
            Ok(EventStatus::Succeeded)
        });
        let (outputs, deps) = (c.len(), [Dep::Time, x.into()]);
        d.vector_output("y", outputs, deps, move |_, ctx, y| {
            affine(&c, ctx.xd(x), &feed, &wave(ctx.time()), y);
            Ok(())
        })
    }
}

/// Computes `out = A x + B u`.
fn affine(a: &[Vec<f64>], x: &[f64], b: &[Vec<f64>], u: &[f64], out: &mut [f64]) {
    let dot = |row: &[f64], x: &[f64]| row.iter().zip(x).map(|(a, x)| a * x).sum::<f64>();
    for (out, (a, b)) in out.iter_mut().zip(a.iter().zip(b)) {
        *out = dot(a, x) + dot(b, u);
    }
}

pub(crate) fn list(v: &Value) -> Vec<f64> {
    v.as_array().unwrap().iter().map(number).collect()
}
pub(crate) fn rows(v: &Value) -> Vec<Vec<f64>> {
    v.as_array().unwrap().iter().map(list).collect()
}

/// The recorded cases whose names begin with `prefix`.
pub(crate) fn cases(prefix: &str) -> Option<Vec<Value>> {
    let all = load("sim/sim.json.gz")?;
    let found: Vec<Value> = all["cases"].as_array().unwrap().clone();
    let found: Vec<Value> = found
        .into_iter()
        .filter(|c| name(c).starts_with(prefix))
        .collect();
    assert!(!found.is_empty(), "no cases {prefix}*");
    Some(found)
}

pub(crate) fn name(case: &Value) -> String {
    case["name"].as_str().unwrap().to_owned()
}

/// A log sink of ours and the recorded log that it must equal.
pub(crate) type Log<'a> = (Block<VectorLogSink>, &'a Value);

/// Errors of times, which must be equal, and of values.
pub(crate) fn log_errors(sim: &Simulator<f64>, (sink, recorded): &Log<'_>) -> [f64; 2] {
    let log = sink.find_log(sim.context()).unwrap();
    if recorded.is_null() {
        return [0.0; 2]; // Long logs are not recorded.
    }
    let values = rows(&recorded["x"]).concat();
    if log.as_slice().len() != values.len() {
        return [f64::INFINITY; 2];
    }
    [
        difference(log.sample_times(), &list(&recorded["t"])),
        difference(log.as_slice(), &values),
    ]
}

/// Logs a port at every step, or periodically.
pub(crate) fn log(
    b: &mut DiagramBuilder,
    name: &str,
    port: OutputPort<Vec<f64>>,
    size: usize,
    period: Option<f64>,
) -> Block<VectorLogSink> {
    let sink = match period {
        Some(period) => VectorLogSink::periodic(size, period),
        None => VectorLogSink::per_step(size),
    };
    let sink = b.add(name, sink);
    b.connect(port, sink.u);
    sink
}

/// Number of counts that differ from the recorded ones.
pub(crate) fn miscounts(pairs: &[(u64, &Value)]) -> f64 {
    let wrong = pairs.iter().filter(|(n, v)| v.as_f64() != Some(*n as f64));
    wrong.count() as f64
}

fn simulator_miscounts(sim: &Simulator<f64>, recorded: &Value) -> f64 {
    let s = sim.statistics();
    miscounts(&[
        (s.steps, &recorded["num_steps_taken"]),
        (s.publishes, &recorded["num_publishes"]),
        (s.discrete_updates, &recorded["num_discrete_updates"]),
        (
            s.unrestricted_updates,
            &recorded["num_unrestricted_updates"],
        ),
    ])
}

#[test]
fn discrete_systems_match_drake() {
    let Some(cases) = cases("discrete_linear") else {
        return;
    };
    let mut family = Family::new("sim discrete systems");
    for case in &cases {
        let mut b = DiagramBuilder::new();
        let system = b.add_f64("system", DiscreteLinear { case: case.clone() });
        let n = case["C"].as_array().unwrap().len();
        let dt = number(&case["dt"]);
        let periodic = log(&mut b, "periodic", *system.ports(), n, Some(dt));
        let per_step = log(&mut b, "per_step", *system.ports(), n, None);
        let d = b.build().unwrap();
        let mut sim = Simulator::new(&d, d.default_context()).unwrap();
        sim.advance_to(number(&case["T"])).unwrap();
        let [t1, x1] = log_errors(&sim, &(periodic, &case["log_periodic"]));
        let [t2, x2] = log_errors(&sim, &(per_step, &case["log_per_step"]));
        let counts = simulator_miscounts(&sim, &case["stats"]);
        family.case(
            || name(case),
            &[
                ("times", t1 + t2, 0.0),
                ("values", x1.max(x2), 1e-12),
                ("counts", counts, 0.0),
            ],
        );
    }
    family.finish();
}

#[test]
fn zero_order_holds_match_drake() {
    let Some(cases) = cases("zoh_chain") else {
        return;
    };
    let mut family = Family::new("sim zero-order holds");
    for case in &cases {
        let mut b = DiagramBuilder::new();
        let [amplitude, frequency, phase] =
            ["amp", "freq", "phase"].map(|key| number(&case["sine"][key]));
        let mut from = b
            .add(
                "wave",
                Sine::new(1)
                    .with_amplitude(amplitude)
                    .with_frequency(frequency)
                    .with_phase(phase),
            )
            .y;
        let mut logs = vec![];
        for (i, timing) in rows(&case["period_offset"]).iter().enumerate() {
            let zoh = b.add(
                &format!("z{i}"),
                ZeroOrderHold::new(1, timing[0], timing[1]),
            );
            b.connect(from, zoh.u);
            from = zoh.y;
            for (ending, period) in [("", None), ("_pub50ms", Some(0.05))] {
                let key = format!("z{i}{ending}");
                let sink = log(&mut b, &format!("log_{key}"), from, 1, period);
                logs.push((sink, key));
            }
        }
        let d = b.build().unwrap();
        let mut sim = Simulator::new(&d, d.default_context()).unwrap();
        for t in list(&case["advance_to"]) {
            sim.advance_to(t).unwrap();
        }
        let mut worst = [0.0_f64; 2];
        for (sink, key) in logs {
            let errors = log_errors(&sim, &(sink, &case[key]));
            worst = [0, 1].map(|i| worst[i].max(errors[i]));
        }
        let counts = simulator_miscounts(&sim, &case["stats"]);
        family.case(
            || name(case),
            &[
                ("times", worst[0], 0.0),
                // Our sine comes from the C library, not necessarily that of the recording.
                ("values", worst[1], 1e-15),
                ("counts", counts, 0.0),
            ],
        );
    }
    family.finish();
}

/// An event that happened: system, event, time, discrete state that the event saw.
type Happened = (String, String, f64, f64);

/// A system with recorded events: discrete updates set one more than the state before all of them;
/// unrestricted updates add 100 to the result of earlier ones at the same time.
struct Eventful {
    name: String,
    events: Vec<(String, Trigger)>,
    record: Arc<Mutex<Vec<Happened>>>,
}
impl LeafSystem<f64> for Eventful {
    type Ports = ();
    fn declare(&self, d: &mut Declare<Self, f64>) {
        let x = d.discrete_state(&[0.0]);
        for (event, trigger) in &self.events {
            let (event, trigger) = (event.clone(), *trigger);
            let kind = event.split('_').nth(1).unwrap().to_owned();
            let happens = move |s: &Self, ctx: &LeafContext<'_, f64>| {
                let what = (s.name.clone(), event.clone(), ctx.time(), ctx.xd(x)[0]);
                s.record.lock().unwrap().push(what);
                Ok(EventStatus::Succeeded)
            };
            match kind.as_str() {
                "publish" => d.publish_on(trigger, happens),
                "discrete" => d.discrete_update_on(trigger, move |s, ctx, next| {
                    next.get_mut(x)[0] = ctx.xd(x)[0] + 1.0;
                    happens(s, ctx)
                }),
                _ => d.unrestricted_update_on(trigger, move |s, ctx, next| {
                    next.xd_mut(x)[0] += 100.0;
                    happens(s, ctx)
                }),
            }
        }
    }
}

/// The tag and trigger of a recorded event, given as (kind, timing or null).
fn event(recorded: &Value) -> (String, Trigger) {
    let kind = recorded[0].as_str().unwrap();
    let trigger = match kind.split('_').next() {
        Some("init") => Trigger::Initialization,
        Some("perstep") => Trigger::PerStep,
        _ => Trigger::Periodic {
            period: number(&recorded[1]["period"]),
            offset: number(&recorded[1]["offset"]),
        },
    };
    let tag = match trigger {
        Trigger::Periodic { period, offset } => {
            // Six digits, like printf's %g.
            format!("{kind}_{}_{offset}", (period * 1e6).round() / 1e6)
        }
        _ => kind.to_owned(),
    };
    (tag, trigger)
}

#[test]
fn events_happen_as_in_drake() {
    let Some(cases) = cases("events_") else {
        return;
    };
    let mut family = Family::new("sim events");
    for case in &cases {
        let record = Arc::<Mutex<Vec<Happened>>>::default();
        let mut b = DiagramBuilder::new();
        for system in case["systems"].as_array().unwrap() {
            let name = system[0].as_str().unwrap().to_owned();
            let events = system[1].as_array().unwrap().iter().map(event).collect();
            let record = record.clone();
            let eventful = Eventful {
                name: name.clone(),
                events,
                record,
            };
            b.add_f64(&name, eventful);
        }
        if case["continuous"] == true {
            b.add("continuous", Flow::new(Equation::Clock, 1, case));
        }
        let d = b.build().unwrap();
        let mut context = d.default_context();
        context.set_time(number(&case["t0"]));
        let mut sim = Simulator::new(&d, context).unwrap();
        let config = SimulatorConfig {
            max_step_size: number(&case["max_step_size"]),
            initial_step_size: Some(1e-4),
            ..SimulatorConfig::default()
        };
        sim.apply_config(&config).unwrap();

        let mut wrong_calls = 0.0;
        for call in case["calls"].as_array().unwrap() {
            let call = call.as_array().unwrap();
            match call[0].as_str().unwrap() {
                "Initialize" => sim.initialize().unwrap(),
                "AdvanceTo" => sim.advance_to(number(&call[1])).unwrap(),
                _ => sim.advance_pending_events().unwrap(),
            };
            let [.., count, time] = &call[..] else {
                panic!("{call:?}");
            };
            let found = record.lock().unwrap().len();
            if count.as_u64() != Some(found as u64) || sim.context().time() != number(time) {
                wrong_calls += 1.0;
            }
        }
        let found = record.lock().unwrap();
        let expected: Vec<Happened> = case["events"]
            .as_array()
            .unwrap()
            .iter()
            .map(happened)
            .collect();
        let mut wrong = found.len().abs_diff(expected.len()) as f64;
        let differs = found.iter().zip(&expected).position(|(a, b)| a != b);
        if let Some(i) = differs {
            println!(
                "{}: {i}: {:?}, expected {:?}",
                name(case),
                found[i],
                expected[i]
            );
            wrong += 1.0;
        }
        let counts = simulator_miscounts(&sim, &case["stats"]);
        family.case(
            || name(case),
            &[
                ("events", wrong, 0.0),
                ("calls", wrong_calls, 0.0),
                ("counts", counts, 0.0),
            ],
        );
    }
    family.finish();
}

fn happened(recorded: &Value) -> Happened {
    let text = |i: usize| recorded[i].as_str().unwrap().to_owned();
    (text(0), text(1), number(&recorded[2]), number(&recorded[3]))
}
