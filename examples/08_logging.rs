//! Logging: one signal recorded at every step, periodically, with an offset, and on demand.
//!
//! Tables and a picture are written to `target/08_logging/`.

#![allow(clippy::print_stdout, reason = "examples show what they do")]

#[path = "support/plot.rs"]
mod plot;

use nalgebra::dmatrix;
use plot::{Line, plot};
use std::fs::{File, create_dir_all};
use std::io::BufWriter;
use std::path::Path;
use tarragon::framework::primitives::*;
use tarragon::prelude::*;

const FREQUENCY: f64 = 3.0; // rad/s
const DAMPING: f64 = 0.4; // 1/s

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A damped spring, released at 1 m: x'' = -(w^2 + d^2) x - 2 d x'.
    let stiffness = FREQUENCY * FREQUENCY + DAMPING * DAMPING;
    let spring = LinearSystem::new(
        dmatrix![0.0, 1.0; -stiffness, -2.0 * DAMPING],
        dmatrix![0.0; 1.0],
        dmatrix![1.0, 0.0],
        dmatrix![0.0],
    )?
    .with_initial_state([1.0, 0.0])?;
    let exact = |t: f64| {
        let phase = FREQUENCY * t;
        (-DAMPING * t).exp() * (phase.cos() + DAMPING / FREQUENCY * phase.sin())
    };

    // One port can feed any number of logs.
    let mut b = DiagramBuilder::new();
    let spring = b.add("spring", spring);
    let late = Trigger::Periodic {
        period: 0.5,
        offset: 0.25,
    };
    let steps = log_vector_output(&mut b, "steps", spring.y);
    let timed = log_vector_output_on(&mut b, "timed", spring.y, Trigger::every(0.05));
    let marks = log_vector_output_on(&mut b, "marks", spring.y, Trigger::Forced);
    // A sink connected by hand records on nothing but its triggers.
    let late = b.add("late", VectorLogSink::with_triggers(1, [late])?);
    b.connect(spring.y, late.u);
    let diagram = b.build()?;
    let mut ctx = diagram.default_context();
    ctx.fix(spring.u, 0.0)?; // no force
    let mut sim = Simulator::new(&diagram, ctx)?;

    // A forced publish records at a time that the program chooses: here at every turning point.
    // All logs record it but "late", whose triggers do not include it.
    let half_period = std::f64::consts::PI / FREQUENCY;
    for i in 0..=4 {
        sim.advance_to(f64::from(i) * half_period)?;
        sim.context().force_publish()?;
    }
    sim.advance_to(5.0)?;

    let folder = Path::new("target/08_logging");
    create_dir_all(folder)?;
    let (mut lines, names) = (vec![], ["steps", "timed", "late", "marks"]);
    for (name, sink) in names.into_iter().zip([&steps, &timed, &late, &marks]) {
        let log = sink.find_log(sim.context())?;
        println!("{name}: {} samples", log.num_samples());
        for (t, x) in log.samples() {
            // The integrator's default accuracy is 1e-4 for each of its steps.
            let error = x[0] - exact(t);
            assert!(error.abs() < 2e-3, "{name} at {t} s: off by {error} m");
        }
        let mut file = BufWriter::new(File::create(folder.join(format!("{name}.csv")))?);
        log.write_csv("position", &mut file)?;
        let points = log.samples().map(|(t, x)| (t, x[0])).collect();
        let dots = log.num_samples() < 50;
        lines.push(Line { name, points, dots });
    }
    let marks = marks.find_log(sim.context())?;
    for pair in marks.as_slice().windows(2) {
        // The amplitude shrinks by the same factor between any two turning points.
        let error = -pair[1] / pair[0] - (-DAMPING * half_period).exp();
        assert!(error.abs() < 2e-3, "the factor is off by {error}");
    }
    lines.remove(0); // the steps look like the timed samples
    let axes = ["time (s)", "position (m)"];
    let file = folder.join("spring.svg");
    plot(
        &file,
        "A damped spring, recorded on three triggers",
        axes,
        &lines,
    )?;

    // A cleared log starts anew, which leaves out a transient.
    timed.clear_log(sim.context_mut())?;
    sim.advance_to(6.0)?;
    let rest = timed.find_log(sim.context())?;
    assert_eq!(rest.num_samples(), 20, "from 5.05 s to 6 s");
    println!("the logs and a plot are in {}", folder.display());
    Ok(())
}
