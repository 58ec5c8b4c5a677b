//! An arm follows a trajectory: PID control of its joints, with and without gravity compensation.
//!
//! ```text
//! cargo run --release --example 20_arm_pid_and_gravity_compensation
//! ```
//!
//! Prints the tracking errors of four controllers. Feedback alone must make an error before it
//! pushes; the weight of the arm, computed from a model of it, needs none.

#![allow(clippy::print_stdout, reason = "examples show what they do")]

use tarragon::framework::primitives::PidController;
use tarragon::framework::trajectories::PiecewisePolynomial;
use tarragon::prelude::*;

const JOINTS: usize = 7;

/// Motor torques that hold the arm against gravity, from its measured state. The model may differ
/// from the arm, as a model of a real one would.
#[derive(Clone)]
struct GravityCompensation {
    model: MultibodyPlant,
}

#[derive(Clone, Copy)]
struct GravityCompensationPorts<T> {
    state: InputPort<Vec<T>>,
    torque: OutputPort<Vec<T>>,
}

impl<T: Scalar> LeafSystem<T> for GravityCompensation {
    type Ports = GravityCompensationPorts<T>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let state = d.vector_input("state", 2 * JOINTS);
        let torque = d.vector_output("torque", JOINTS, state, move |s, ctx, torque| {
            let q = &ctx.eval(state)?[..JOINTS];
            let positions = s.model.calc_position_kinematics(q)?;
            let weight = s.model.calc_gravity_generalized_forces(&positions)?;
            for (torque, weight) in torque.iter_mut().zip(weight.iter()) {
                *torque = -*weight;
            }
            Ok(())
        });
        GravityCompensationPorts { state, torque }
    }
}

/// Largest and final tracking error of any joint (rad).
fn track(
    arm: &MultibodyPlant,
    motion: &PiecewisePolynomial,
    integral: f64,
    compensate: bool,
) -> Result<(f64, f64)> {
    let mut b = DiagramBuilder::new();
    let model = arm.clone();
    let instance = model.model_instance_by_name("arm7")?;
    let arm = b.add("arm", arm.clone());
    let measured = arm.state_in(instance)?;
    let goal = b.add("goal", TrajectorySource::new(motion.clone(), 1));
    // Gains in Nm/rad, Nm/(rad s) and Nm s/rad; the joints near the base move more mass.
    let kp = [600.0, 600.0, 400.0, 400.0, 100.0, 100.0, 10.0];
    let (ki, kd) = (kp.map(|p| integral * p), kp.map(|p| 0.05 * p));
    let pid = b.add("pid", PidController::new(kp, ki, kd)?);
    b.connect(goal.y, pid.desired_state);
    b.connect(measured, pid.estimated_state);
    // Efforts at the ports of the model and of the plant add up; a port without value adds nothing.
    b.connect(pid.control, arm.actuation_in(instance)?);
    if compensate {
        let weight = b.add("weight", GravityCompensation { model });
        b.connect(measured, weight.state);
        b.connect(weight.torque, arm.actuation()?);
    }
    let log = log_vector_output_on(&mut b, "log", measured, Trigger::every(0.01));
    let diagram = b.build()?;
    let mut ctx = diagram.default_context();
    arm.set_positions(&mut ctx, motion.value(0.0))?;
    let mut sim = Simulator::new(&diagram, ctx)?;
    sim.advance_to(motion.end_time() + 1.0)?;

    let error = |(t, x): (f64, &[f64])| {
        let goal = motion.value(t);
        let errors = goal.iter().zip(x).map(|(goal, x)| (goal - x).abs());
        errors.fold(0.0, f64::max)
    };
    let log = log.find_log(sim.context())?;
    let errors: Vec<f64> = log.samples().map(error).collect();
    let last = *errors
        .last()
        .ok_or_else(|| Error::state("the log is empty"))?;
    Ok((errors.iter().copied().fold(0.0, f64::max), last))
}

fn main() -> Result<()> {
    let mut arm = MultibodyPlantBuilder::new(0.001)?;
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/examples/models/arm7/arm7.urdf"
    );
    Parser::new(&mut arm).add_models(file)?;
    arm.weld_unattached_bodies(Isometry3::identity())?;
    let arm = arm.build()?;

    // From one side to the other in 2 s, stretched out in between.
    let breaks = [0.0, 1.0, 2.0];
    let samples = [
        vec![-0.6, 0.0, 0.3, 1.8, 0.0, 1.0, 0.0],
        vec![0.0, 1.1, 0.0, 0.6, 0.0, 1.2, 0.0],
        vec![0.6, 0.7, -0.3, 1.4, 0.2, 1.0, -0.5],
    ];
    let motion = PiecewisePolynomial::cubic_spline_at_rest(&breaks, &samples)?;

    println!("controller       | largest error (degrees) | error at the end");
    let mut ends = vec![];
    for (name, integral, compensate) in [
        ("PD", 0.0, false),
        ("PID", 2.0, false),
        ("PD + gravity", 0.0, true),
        ("PID + gravity", 2.0, true),
    ] {
        let (largest, end) = track(&arm, &motion, integral, compensate)?;
        let (degrees, at_end) = (largest.to_degrees(), end.to_degrees());
        println!("{name:16} | {degrees:23.4} | {at_end:16.4}");
        ends.push((largest, end));
    }
    let [(pd, sag), (pid, _), (pd_gravity, rest), (pid_gravity, _)] = ends[..] else {
        return Err("there must be four controllers".into());
    };
    assert!(
        4.0 * pd_gravity < pd && 3.0 * pid_gravity < pid,
        "compensation does not help"
    );
    assert!(rest < 0.01 * sag, "the arm sags in spite of compensation");
    Ok(())
}
