//! Hybrid events: a ball bounces on a table. Between impacts it follows a differential equation; an
//! impact is an event that the ball itself locates at its exact time, with a witness function.
//!
//! Each flight is shorter than the previous one by the same factor, so the impacts end in finite
//! time; the ball then asks the simulator to stop.

#![allow(clippy::print_stdout, reason = "examples show what they do")]

use tarragon::framework::WitnessDirection::PositiveThenNonPositive;
use tarragon::framework::primitives::VectorLogSinkPorts;
use tarragon::prelude::*;

const GRAVITY: f64 = 9.81; // m/s^2
const HEIGHT: f64 = 1.0; // m
/// Ratio of the speeds after and before an impact.
const RESTITUTION: f64 = 0.8;
/// Speed after an impact below which the ball comes to rest (m/s).
const AT_REST: f64 = 0.05;

/// A point mass over a table at height 0.
struct BouncingBall;

#[derive(Clone, Copy)]
struct BallPorts {
    height: OutputPort<Vec<f64>>,
    impacts: DiscreteState<Vec<f64>>,
}

impl LeafSystem<f64> for BouncingBall {
    type Ports = BallPorts;

    fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
        // Continuous state: height q and speed v. Discrete state: number of impacts, and time of
        // the last one.
        let impacts = d.discrete_state(&[0.0, 0.0]);
        d.continuous_state((1, 1, 0), &[HEIGHT, 0.0], Dep::V, |_, ctx, rates| {
            (rates[0], rates[1]) = (ctx.v()[0], -GRAVITY);
            Ok(())
        });

        // The simulator ends a step just after the time at which the height changes its sign ...
        let touch = d.witness_function("touch", PositiveThenNonPositive, |_, ctx| Ok(ctx.q()[0]));
        // ... and calls this. Updates write to a copy of the state, which is applied only if all of
        // them succeed.
        d.unrestricted_update_on(Trigger::Witness(touch), move |_, ctx, next| {
            let speed = -RESTITUTION * ctx.v()[0];
            next.xc_mut().copy_from_slice(&[0.0, speed]);
            let impacts = next.xd_mut(impacts);
            (impacts[0], impacts[1]) = (impacts[0] + 1.0, ctx.time());
            if speed < AT_REST {
                let reason = "the ball is at rest".into();
                return Ok(EventStatus::ReachedTermination { reason });
            }
            Ok(EventStatus::Succeeded)
        });

        let height = d.vector_output("height", 1, Dep::Q, |_, ctx, y| {
            y[0] = ctx.q()[0];
            Ok(())
        });
        BallPorts { height, impacts }
    }
}

fn main() -> Result<()> {
    let mut b = DiagramBuilder::new();
    let ball = b.add_f64("ball", BouncingBall);
    let log = log_vector_output_on(&mut b, "log", ball.height, Trigger::every(0.01));
    let diagram = b.build()?;

    let mut sim = Simulator::new(&diagram, diagram.default_context())?;
    sim.set_error_control(1e-8)?; // per step; impacts are located more closely
    let status = sim.advance_to(60.0)?;
    let SimulatorStatus::ReachedTermination { reason } = status else {
        return Err("the ball bounces forever".into());
    };
    let [impacts, end] = *sim.context().xd(ball.impacts)? else {
        return Err("the state must have two numbers".into());
    };
    println!("{reason} after {impacts} impacts and {end:.6} s");

    // The first fall takes sqrt(2 h / g), and flight n takes 2 e^n times as long: a geometric
    // series.
    let fall = (2.0 * HEIGHT / GRAVITY).sqrt();
    let flights: f64 = (1..impacts as i32).map(|n| 2.0 * RESTITUTION.powi(n)).sum();
    let exact = fall * (1.0 + flights);
    println!(
        "in closed form: {exact:.6} s, so the simulation is late by {:.0e} s",
        end - exact
    );
    assert!((end - exact).abs() < 1e-8);
    draw(&log, &sim)
}

/// Draws the height over time as text.
fn draw(log: &VectorLogSinkPorts<f64>, sim: &Simulator<f64>) -> Result<()> {
    let log = log.find_log(sim.context())?;
    for row in (0..8).rev() {
        let line = log.samples().step_by(5).map(|(_, height)| {
            let at_row = (height[0] / HEIGHT * 7.99) as i32 == row;
            if at_row { 'o' } else { ' ' }
        });
        println!("|{}", line.collect::<String>().trim_end());
    }
    println!("+{}> time", "-".repeat(log.num_samples() / 5));
    Ok(())
}
