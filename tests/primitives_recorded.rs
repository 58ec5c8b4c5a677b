//! Simulations of primitive systems compared with recordings of Drake 1.51.1 (`sim`).

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests, which clippy does not recognise outside of test functions"
)]

use nalgebra::DMatrix;
use serde_json::Value;
use tarragon::framework::integrator::RungeKutta3;
use tarragon::framework::primitives::*;
use tarragon::prelude::*;

/// The recorded cases whose names begin with `prefix`; none, with a printed line, without the
/// reference set.
fn cases(prefix: &str) -> Vec<Value> {
    let Some(mut file) = crate::support::load("sim/sim.json.gz") else {
        return vec![];
    };
    let Value::Array(cases) = file["cases"].take() else {
        panic!("'cases' is not a list");
    };
    let named = |case: &Value| case["name"].as_str().unwrap().starts_with(prefix);
    let cases: Vec<Value> = cases.into_iter().filter(named).collect();
    assert!(!cases.is_empty(), "no recorded case is named '{prefix}...'");
    cases
}

fn vector(v: &Value) -> Vec<f64> {
    let items = v.as_array().unwrap();
    items.iter().map(crate::support::number).collect()
}

fn matrix(v: &Value) -> DMatrix<f64> {
    let rows: Vec<Vec<f64>> = v.as_array().unwrap().iter().map(vector).collect();
    DMatrix::from_fn(rows.len(), rows[0].len(), |i, j| rows[i][j])
}

/// Checks equal times, and equal values up to `tolerance`.
fn compare(what: &str, log: &VectorLog<f64>, recorded: &Value, tolerance: f64) {
    let late = crate::support::difference(log.sample_times(), &vector(&recorded["t"]));
    assert!(late == 0.0, "a time of {what} is off by {late:e} s");
    for ((t, ours), x) in log.samples().zip(recorded["x"].as_array().unwrap()) {
        let error = crate::support::difference(ours, &vector(x));
        assert!(error <= tolerance, "{what} at {t} s is off by {error:e}");
    }
}

fn simulate(diagram: &Diagram<f64>, end: f64) -> Context<f64> {
    let mut sim = Simulator::new(diagram, diagram.default_context()).unwrap();
    sim.set_integrator(RungeKutta3::new());
    sim.set_fixed_step(5e-4).unwrap();
    sim.advance_to(end).unwrap();
    sim.into_context()
}

#[test]
fn discrete_linear_systems_match_drake() {
    for case in cases("discrete_linear") {
        let [a, b, c, d] = ["A", "B", "C", "D"].map(|m| matrix(&case[m]));
        let period = crate::support::number(&case["dt"]);
        let system = LinearSystem::new(a, b, c, d)
            .and_then(|s| s.with_period(period))
            .unwrap();
        let system = system.with_initial_state(vector(&case["x0"])).unwrap();
        let [amplitude, frequency, phase] =
            ["amp", "freq", "phase"].map(|k| vector(&case["sine"][k]));

        let mut b = DiagramBuilder::new();
        let system = b.add("system", system);
        let inputs = b.add("inputs", Multiplexer::new(vec![1; amplitude.len()]));
        for (i, u) in inputs.u.iter().enumerate() {
            let wave = Sine::new(1)
                .with_amplitude(amplitude[i])
                .with_frequency(frequency[i])
                .with_phase(phase[i]);
            let wave = b.add(&format!("wave{i}"), wave);
            b.connect(wave.y, *u);
        }
        b.connect(inputs.y, system.u);
        let size = case["log_periodic"]["x"][0].as_array().unwrap().len();
        let log = b.add("log", VectorLogSink::periodic(size, period));
        b.connect(system.y, log.u);
        let context = simulate(&b.build().unwrap(), crate::support::number(&case["T"]));
        let name = case["name"].as_str().unwrap();
        compare(
            name,
            &log.find_log(&context).unwrap(),
            &case["log_periodic"],
            1e-12,
        );
    }
}

#[test]
fn a_controlled_plant_matches_drake() {
    for case in cases("pid_linear_plant") {
        let gain = |name: &str| [crate::support::number(&case[name])];
        let sine = vector(&case["sine"]);
        let pid = PidController::new(gain("kp"), gain("ki"), gain("kd")).unwrap();
        let force = nalgebra::dmatrix![0.0; 1.0];
        let identity = DMatrix::identity(2, 2);
        let plant = LinearSystem::new(matrix(&case["A"]), force, identity, DMatrix::zeros(2, 1));

        let mut b = DiagramBuilder::new();
        let plant = b.add("plant", plant.unwrap());
        let pid = b.add("pid", pid);
        let wave = b.add(
            "wave",
            Sine::new(1)
                .with_amplitude(sine[0])
                .with_frequency(sine[1])
                .with_phase(sine[2]),
        );
        let desired = b.add("desired", Multiplexer::new([1, 1]));
        let log = b.add("log", VectorLogSink::periodic(2, 0.1));
        b.connect(wave.y, desired.u[0]);
        b.connect(wave.ydot, desired.u[1]);
        b.connect(desired.y, pid.desired_state);
        b.connect(plant.y, pid.estimated_state);
        b.connect(pid.control, plant.u);
        b.connect(plant.y, log.u);
        let context = simulate(
            &b.build().unwrap(),
            crate::support::number(&case["final_time"]),
        );
        compare(
            "plant",
            &log.find_log(&context).unwrap(),
            &case["log"],
            1e-7,
        );
    }
}
