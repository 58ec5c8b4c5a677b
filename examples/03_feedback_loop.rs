//! A feedback loop: a PID controller lifts a pendulum to 60 degrees and holds it there.
//!
//! The step response is written to `target/03_feedback_loop/`, as a table and as a picture.

#![allow(clippy::print_stdout, reason = "examples show what they do")]

#[path = "support/plot.rs"]
mod plot;

use plot::{Line, plot};
use std::fs::{File, create_dir_all};
use std::path::Path;
use tarragon::framework::primitives::*;
use tarragon::prelude::*;

/// A mass of 1 kg at the end of a rod of 1 m, with a motor in the joint. It hangs at angle 0.
struct Pendulum;

const GRAVITY: f64 = 9.81; // m/s^2
const FRICTION: f64 = 0.1; // Nm s/rad

/// The ports of a system are a struct of handles: typed names that can be copied.
#[derive(Clone, Copy)]
struct PendulumPorts<T> {
    torque: InputPort<Vec<T>>,
    state: OutputPort<Vec<T>>,
}

/// `T` is the type of the numbers: `f64`, or dual numbers that carry derivatives (06_linearize).
impl<T: Scalar> LeafSystem<T> for Pendulum {
    type Ports = PendulumPorts<T>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let torque = d.vector_input("torque", 1);
        // One position, one velocity, no other state. `needs` lists what the derivatives read.
        let (sizes, x0, needs) = ((1, 1, 0), [T::zero(); 2], (Dep::Xc, torque));
        d.continuous_state(sizes, &x0, needs, move |_, ctx, xdot| {
            let (angle, rate, torque) = (ctx.q()[0], ctx.v()[0], ctx.eval(torque)?[0]);
            xdot[0] = rate;
            xdot[1] = torque - angle.sin() * GRAVITY - rate * FRICTION;
            Ok(())
        });
        let state = d.vector_output("state", 2, Dep::Xc, |_, ctx, y| {
            y.copy_from_slice(ctx.xc());
            Ok(())
        });
        d.name_elements(&state, &["angle", "rate"]); // the columns of a log
        PendulumPorts { torque, state }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let target = 60.0_f64.to_radians();
    let mut b = DiagramBuilder::new();
    let goal = b.add("goal", ConstantVectorSource::new([target, 0.0]));
    // Gains in Nm/rad, Nm/(rad s) and Nm s/rad.
    let pid = b.add("pid", PidController::new(40.0, 60.0, 9.0)?);
    let pendulum = b.add("pendulum", Pendulum);
    b.connect(goal.y, pid.desired_state);
    b.connect(pid.control, pendulum.torque);
    b.connect(pendulum.state, pid.estimated_state); // this closes the loop
    let every = Trigger::every(0.01); // s
    let state = log_vector_output_on(&mut b, "state", pendulum.state, every);
    let torque = log_vector_output_on(&mut b, "torque", pid.control, every);
    let diagram = b.build()?;

    let mut sim = Simulator::new(&diagram, diagram.default_context())?;
    sim.advance_to(3.0)?;

    // A log is a matrix: one row per element, one column per sample.
    let state = state.find_log(sim.context())?;
    let torque = torque.find_log(sim.context())?;
    let (angle, last) = (state.data().row(0).into_owned(), state.num_samples() - 1);
    let (overshoot, end) = (angle.max() - target, angle[last]);
    println!("overshoot: {:.1} degrees", overshoot.to_degrees());
    println!("at the end: {:.2} degrees", end.to_degrees());
    // The integral term removes the steady-state error, so the motor torque balances the weight
    // exactly.
    assert!((end - target).abs() < 0.01, "the goal was missed");
    let error = torque.data()[last] - GRAVITY * target.sin();
    assert!(error.abs() < 0.1, "{error} Nm more than the weight");

    let folder = Path::new("target/03_feedback_loop");
    create_dir_all(folder)?;
    state.write_csv("state", &mut File::create(folder.join("state.csv"))?)?;
    let degrees = |(t, x): (f64, &[f64])| (t, x[0].to_degrees());
    let (angle, goal) = (state.samples().map(degrees), [(0.0, 60.0), (3.0, 60.0)]);
    let line = |name, points| Line {
        name,
        points,
        dots: false,
    };
    let lines = [line("angle", angle.collect()), line("goal", goal.into())];
    let (file, axes) = (folder.join("step.svg"), ["time (s)", "angle (degrees)"]);
    plot(&file, "A PID controller lifts a pendulum", axes, &lines)?;
    println!("the step response is in {}", folder.display());
    Ok(())
}
