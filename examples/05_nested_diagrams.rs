//! Nested diagrams: a servo is written once and used twice, one following the other.
//!
//! A picture of the whole diagram in Graphviz's language is written to
//! `target/05_nested_diagrams/robot.dot`; `dot -Tsvg robot.dot -o robot.svg` draws it.

#![allow(clippy::print_stdout, reason = "examples show what they do")]

use std::fs::{create_dir_all, write};
use std::path::Path;
use tarragon::framework::primitives::*;
use tarragon::prelude::*;

/// Ports of a servo. Its other parts are private to the function below.
struct Servo {
    /// Desired position (rad) and velocity (rad/s).
    command: InputPort<Vec<f64>>,
    /// Position (rad) and velocity (rad/s).
    state: OutputPort<Vec<f64>>,
}

/// Adds a sub-diagram below a name and returns its ports. This one is an inertia of 1 kg m^2 with a
/// controller that is critically damped at `frequency` (rad/s).
fn servo(b: &mut DiagramBuilder, name: &str, frequency: f64) -> Result<Servo> {
    b.subdiagram(name, |b| {
        let gains = (frequency.powi(2), 0.0, 2.0 * frequency);
        let pid = b.add("pid", PidController::new(gains.0, gains.1, gains.2)?);
        let velocity = b.add("velocity", Integrator::new(1));
        let position = b.add("position", Integrator::new(1));
        let state = b.add("state", Multiplexer::new([1, 1]));
        b.connect(pid.control, velocity.u); // torque / inertia = acceleration
        b.connect(velocity.y, position.u);
        b.connect(position.y, state.u[0]);
        b.connect(velocity.y, state.u[1]);
        b.connect(state.y, pid.estimated_state);
        Ok(Servo {
            command: pid.desired_state,
            state: state.y,
        })
    })
}

fn main() -> Result<()> {
    let frequency = 4.0; // rad/s
    let mut b = DiagramBuilder::new();
    let step = b.add("step", ConstantVectorSource::new([1.0, 0.0]));
    // Sub-diagrams nest to any depth.
    let (leader, follower) = b.subdiagram("robot", |b| {
        let leader = servo(b, "leader", frequency)?;
        let follower = servo(b, "follower", 2.0 * frequency)?;
        Ok::<_, Error>((leader, follower))
    })?;
    b.connect(step.y, leader.command);
    // Wiring that comes from a file uses names; `connect(leader.state, follower.command)` would do
    // the same, checked by the compiler.
    b.connect_named(
        ("robot::leader::state", "y0"),
        ("robot::follower::pid", "desired_state"),
    )?;
    let diagram = b.build()?;

    println!("systems:");
    for system in diagram.systems() {
        println!(
            "  {:28} {:?} -> {:?}",
            system.path, system.input_ports, system.output_ports
        );
    }
    // Ports can be looked up by name, too; the type is checked.
    let found = diagram.input_port::<Vec<f64>>("robot::follower::pid", "desired_state")?;
    println!(
        "the follower listens at {found:?}, exported as {:?}",
        follower.command
    );

    let mut sim = Simulator::new(&diagram, diagram.default_context())?;
    println!("   t   leader  follower");
    for i in 0..=6 {
        let t = 0.5 * f64::from(i);
        sim.advance_to(t)?;
        let leader = sim.context().eval(leader.state)?[0];
        let follower = sim.context().eval(follower.state)?[0];
        println!("{t:4.1} {leader:8.4} {follower:8.4}");
        // The step response of critical damping has a closed form. The default accuracy is 1e-4.
        let exact = 1.0 - (1.0 + frequency * t) * (-frequency * t).exp();
        assert!(
            (leader - exact).abs() < 1e-3,
            "the leader is at {leader}, not at {exact}"
        );
        assert!(
            (follower - leader).abs() < 0.05,
            "the follower lags too far"
        );
    }
    let end = sim.context().eval(follower.state)?[0];
    assert!((end - 1.0).abs() < 1e-2, "the follower misses the goal");

    let folder = Path::new("target/05_nested_diagrams");
    create_dir_all(folder)?;
    write(folder.join("robot.dot"), diagram.graphviz())?;
    println!("the diagram is in {}", folder.join("robot.dot").display());
    Ok(())
}
