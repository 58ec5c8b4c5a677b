//! Monte Carlo simulation: from how many random tilts does a weak motor catch a pendulum?

#![allow(clippy::print_stdout, reason = "examples show what they do")]

use nalgebra::dmatrix;
use std::time::Instant;
use tarragon::framework::analysis::*;
use tarragon::framework::primitives::{MatrixGain, Saturation, VectorSystem};
use tarragon::framework::random::RandomGenerator;
use tarragon::prelude::*;

const GRAVITY: f64 = 9.81; // N: 1 kg at 1 m, so also its moment when horizontal, in Nm
const MOTOR: f64 = 5.0; // Nm, maximum torque
const WIDEST: f64 = 60.0; // degrees
const SAMPLES: usize = 2000;

fn main() -> Result<()> {
    // Closures define a system quickly if f64 suffices. At angle 0 the pendulum is upright.
    let pendulum = VectorSystem::new(1, 2, |_, x, _, y| {
        y.copy_from_slice(x);
        Ok(())
    })
    .with_continuous_state([0.0, 0.0], |_, x, torque, xdot| {
        xdot.copy_from_slice(&[x[1], GRAVITY * x[0].sin() + torque[0]]);
        Ok(())
    })
    .without_feedthrough();
    let mut b = DiagramBuilder::new();
    let pendulum = b.add_f64("pendulum", pendulum);
    let feedback = b.add("feedback", MatrixGain::new(dmatrix![-60.0, -12.0])?);
    let motor = b.add("motor", Saturation::new([-MOTOR], [MOTOR])?);
    b.connect(pendulum.y, feedback.u);
    b.connect(feedback.y, motor.u);
    b.connect(motor.y, pendulum.u);
    let diagram = b.build()?;

    // Each sample starts at rest with its own tilt. Samples share the diagram and own their
    // contexts.
    let make_simulator = |random: &mut RandomGenerator| {
        let tilt = random.uniform(-WIDEST, WIDEST);
        let mut ctx = diagram.default_context();
        if let Some(x) = pendulum.continuous {
            ctx.xc_mut(x)?[0] = tilt.to_radians();
        }
        Simulator::new(&diagram, ctx)
    };
    // A pendulum is caught if it stands 4 s later.
    let is_caught = |ctx: &Context<f64>| {
        let x = ctx.eval(pendulum.y)?;
        Ok(x[0].abs() < 0.1 && x[1].abs() < 0.1)
    };
    let run = |num_threads| {
        let (start, config) = (Instant::now(), MonteCarloConfig { num_threads });
        let results = monte_carlo_simulation(make_simulator, is_caught, 4.0, SAMPLES, 4, &config)?;
        Ok::<_, Error>((results, start.elapsed()))
    };
    let (results, time) = run(0)?; // 0: as many threads as cores
    let (alone, time_alone) = run(1)?;
    println!("{SAMPLES} simulations: {time:.0?} on all cores, {time_alone:.0?} on one thread");
    assert_eq!(results, alone, "the number of threads must not matter");

    // The motor wins if it outweighs gravity: MOTOR > GRAVITY sin(tilt).
    let fraction = results.iter().filter(|r| r.output).count() as f64 / SAMPLES as f64;
    let expected = (MOTOR / GRAVITY).asin().to_degrees() / WIDEST;
    println!(
        "caught: {:.1} %, expected {:.1} %",
        100.0 * fraction,
        100.0 * expected
    );
    // Four standard deviations of a count; 1 of 16,000 seeds deviates further.
    let bound = 4.0 * (expected * (1.0 - expected) / SAMPLES as f64).sqrt();
    assert!((fraction - expected).abs() < bound, "more than {bound} off");

    // The first sample that falls can be run again by itself.
    if let Some(i) = results.iter().position(|r| !r.output) {
        let mut sim = make_simulator(&mut results[i].generator_snapshot.clone())?;
        let tilt = sim.context().eval(pendulum.y)?[0].to_degrees();
        sim.advance_to(1.0)?;
        let later = sim.context().eval(pendulum.y)?[0].to_degrees();
        println!("sample {i} falls: {tilt:.1} degrees at first, {later:.1} degrees 1 s later");
        assert!(later.abs() > tilt.abs(), "the sample does not fall");
    }
    Ok(())
}
