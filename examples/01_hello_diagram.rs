//! A diagram of three systems, evaluated, simulated, and differentiated.

#![allow(clippy::print_stdout, reason = "examples show what they do")]

use tarragon::framework::primitives::{Gain, Integrator, Sine};
use tarragon::prelude::*;

fn main() -> Result<()> {
    // A wave, amplified, integrated, recorded.
    let mut b = DiagramBuilder::new();
    let wave = b.add("wave", Sine::new(1).with_frequency(2.0));
    let gain = b.add("gain", Gain::new(1, 3.0));
    let sum = b.add("sum", Integrator::new(1));
    b.connect(wave.y, gain.u);
    b.connect(gain.y, sum.u);
    let log = log_vector_output_on(&mut b, "log", sum.y, Trigger::every(0.5));
    let diagram = b.build()?;

    // A context holds the values; ports are evaluated on demand and cached.
    let mut ctx = diagram.default_context();
    ctx.set_time(0.25);
    println!("3 sin(2 t) at t = 0.25: {:?}", ctx.eval(gain.y)?);

    // A simulator advances a context.
    let mut sim = Simulator::new(&diagram, diagram.default_context())?;
    sim.advance_to(2.0)?;
    let recorded = log.find_log(sim.context())?;
    println!("  t    integral   closed form 3/2 (1 - cos 2t)");
    for (t, x) in recorded.samples() {
        println!(
            "{t:5.2} {:10.6} {:10.6}",
            x[0],
            1.5 * (1.0 - (2.0 * t).cos())
        );
    }

    // The same diagram over dual numbers: the derivative of the final value with respect to the
    // gain.
    let dual = diagram.to_scalar::<AutoDiff>()?;
    let (gain, sum) = (dual.ports(&gain)?, dual.ports(&sum)?);
    let mut ctx = dual.default_context();
    *ctx.param_mut(gain.k)? = AutoDiff::variable(3.0, 0);
    let mut sim = Simulator::new(&dual, ctx)?;
    sim.advance_to(2.0)?;
    let end = sim.context().eval(sum.y)?[0];
    println!("integral at 2 s: {:.6}, d/dk = {:.6}", end.re, end.eps[0]);
    Ok(())
}
