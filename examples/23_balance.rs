//! A robot on two wheels balances, by an LQR of the linear model of its steps with contact.
//!
//! ```text
//! cargo run --release --example 23_balance
//! ```
//!
//! `linearize` differentiates the discrete step of the plant, friction under the wheels included.
//! The gains follow from the discrete Riccati equation. Prints how the robot recovers from a tilt
//! while it drives forward and turns.

#![allow(clippy::print_stdout, reason = "examples show what they do")]

use nalgebra::{DMatrix, DVector};
use tarragon::framework::analysis::linearize;
use tarragon::framework::primitives::AffineSystem;
use tarragon::multibody::Joint;
use tarragon::prelude::*;

/// A trunk of 8 kg whose centre of mass is 0.35 m above the axle.
const ROBOT: &str = "
<robot name='robot'>
  <link name='trunk'>
    <inertial><origin xyz='0 0 .35'/><mass value='8'/>
    <inertia ixx='.3' ixy='0' ixz='0' iyy='.25' iyz='0' izz='.1'/></inertial>
  </link>
  <link name='left'><inertial><mass value='.5'/>
    <inertia ixx='.0015' ixy='0' ixz='0' iyy='.0025' iyz='0' izz='.0015'/></inertial>
    <collision><geometry><sphere radius='.1'/></geometry></collision>
  </link>
  <link name='right'><inertial><mass value='.5'/>
    <inertia ixx='.0015' ixy='0' ixz='0' iyy='.0025' iyz='0' izz='.0015'/></inertial>
    <collision><geometry><sphere radius='.1'/></geometry></collision>
  </link>
  <joint name='left' type='continuous'><origin xyz='0 .2 0'/>
    <parent link='trunk'/><child link='left'/><axis xyz='0 1 0'/></joint>
  <joint name='right' type='continuous'><origin xyz='0 -.2 0'/>
    <parent link='trunk'/><child link='right'/><axis xyz='0 1 0'/></joint>
</robot>";

/// Most torque of a wheel's motor (N m).
const TORQUE: f64 = 8.0;

/// Returns the gains K of the feedback `u = -K x` that minimizes the sum of `x' Q x + u' R u`.
///
/// Each round of the structure-preserving doubling algorithm doubles the number of steps that the
/// cost H looks ahead.
fn discrete_lqr(
    a: &DMatrix<f64>,
    b: &DMatrix<f64>,
    q: &DMatrix<f64>,
    r: &DMatrix<f64>,
) -> Option<DMatrix<f64>> {
    let n = a.nrows();
    let (mut ak, mut g) = (a.clone(), b * r.clone().try_inverse()? * b.transpose());
    let mut h = q.clone();
    for _ in 0..15 {
        let inverse = (DMatrix::identity(n, n) + &g * &h).try_inverse()?;
        let next = &h + ak.tr_mul(&h) * &inverse * &ak;
        g += &ak * &inverse * &g * ak.transpose();
        ak = &ak * inverse * &ak;
        h = next;
    }
    (r + b.tr_mul(&h) * b)
        .cholesky()
        .map(|c| c.solve(&(b.tr_mul(&h) * a)))
}

/// The robot on the ground.
fn robot() -> Result<(MultibodyPlant, SceneGraph)> {
    let (mut plant, mut scene) = (MultibodyPlantBuilder::new(0.001)?, SceneGraph::new());
    plant.set_contact_model(ContactModel::Point);
    // Without results kept from step to step, positions and velocities are the only state.
    plant.set_use_sampled_output_ports(false)?;
    Parser::with_scene_graph(&mut plant, &mut scene).add_models_from_string(ROBOT, "urdf")?;
    let (world, pose) = (BodyIndex::WORLD, Isometry3::identity());
    let properties = ProximityProperties::new();
    plant.register_collision_geometry(&mut scene, world, pose, HalfSpace, "ground", properties)?;
    let trunk = plant.body_by_name("trunk")?;
    // Roll, pitch and yaw, because quaternions have one number too many for a linear model.
    let base = plant.add_joint(Joint::rpy_floating("base", world, trunk))?;
    plant.set_default_joint_positions(base, &[0.0, 0.0, 0.0, 0.0, 0.0, 0.1])?;
    for wheel in ["left", "right"] {
        let joint = plant.joint_by_name(wheel)?;
        plant.add_joint_actuator(wheel, joint, TORQUE)?;
    }
    let plant = plant.build()?;
    Ok((plant, scene))
}

fn main() -> Result<()> {
    // Upright, the wheels sink in until they carry the robot: that is the equilibrium.
    let mut b = DiagramBuilder::new();
    let (plant, scene) = robot()?;
    let (plant, _) = add_multibody_plant_scene_graph(&mut b, plant, scene)?;
    let diagram = b.build()?;
    let (torque, state) = (plant.actuation()?, plant.state()?);
    let mut ctx = diagram.default_context();
    ctx.fix(torque, [0.0; 2])?;
    let mut sim = Simulator::new(&diagram, ctx)?;
    sim.advance_to(1.0)?;
    let line = linearize(&diagram, sim.context(), Some(torque), Some(state), 1e-9)?;
    let growth = |a: &DMatrix<f64>| a.complex_eigenvalues().map(|e| e.norm()).max().powi(1000);
    let alone = growth(&line.a);
    println!("without control, a tilt grows {alone:.0}-fold per second");

    // Costs of roll, pitch, yaw, x, y, z and wheel angles, then of their rates: of those that the
    // wheels control. How far the wheels have turned costs nothing.
    let angles = [0.0, 10.0, 10.0, 10.0, 0.0, 0.0, 0.0, 0.0];
    let costs = [angles, angles.map(|cost| 0.1 * cost)].concat();
    let (q, r) = (
        DMatrix::from_diagonal(&DVector::from(costs)),
        DMatrix::identity(2, 2),
    );
    let k = discrete_lqr(&line.a, &line.b, &q, &r).ok_or("the Riccati equation has no solution")?;
    println!("torque of the left wheel by the state (N m per rad, m and their rates):");
    let names = [plant.position_names(), plant.velocity_names()].concat();
    for (name, k) in names.iter().zip(&k.row(0)) {
        if k.abs() > 0.1 {
            println!("  {name:8} {:7.2}", -k);
        }
    }
    // Positions on which no force depends, such as y, stay where they are: factor 1.
    let closed = growth(&(&line.a - &line.b * &k));
    assert!(closed < 1.0 + 1e-6, "an error still grows {closed}-fold");

    // The goal is half a metre ahead, to the left. Feedback u = K goal - K x.
    let mut goal = line.x0.clone();
    (goal[2], goal[3]) = (0.5, 0.5);
    let none = |rows, columns| DMatrix::zeros(rows, columns);
    let feedback = AffineSystem::new(none(0, 0), none(0, 16), none(2, 0), -&k)?;
    let feedback = feedback.with_offsets([], (&k * &goal).as_slice())?;
    let mut b = DiagramBuilder::new();
    let (plant, scene) = robot()?;
    let (plant, _) = add_multibody_plant_scene_graph(&mut b, plant, scene)?;
    let feedback = b.add("feedback", feedback);
    b.connect(plant.state()?, feedback.u);
    b.connect(feedback.y, plant.actuation()?);
    let diagram = b.build()?;
    let mut ctx = diagram.default_context();
    let mut start = line.x0.rows(0, 8).into_owned();
    start[1] = 0.2;
    plant.set_positions(&mut ctx, start.as_slice())?;
    let mut sim = Simulator::new(&diagram, ctx)?;
    println!("   t | tilt (degrees) | heading | position (m)    | torques (N m)");
    for t in [0.0, 0.1, 0.2, 0.5, 1.0, 2.0, 4.0, 8.0] {
        sim.advance_to(t)?;
        let x = sim.context().eval(plant.state()?)?;
        let u = sim.context().eval(feedback.y)?;
        let ([tilt, heading], [x, y]) = ([x[1], x[2]].map(f64::to_degrees), [x[3], x[4]]);
        print!("{t:4.1} | {tilt:14.3} | {heading:7.3} | {x:7.4} {y:7.4} | ");
        println!("{:6.3} {:6.3}", u[0], u[1]);
    }
    let x = sim.context().eval(plant.state()?)?;
    assert!(x[1].abs() < 1e-3, "it tilts by {}", x[1]);
    assert!(
        (x[2] - 0.5).hypot(x[3] - 0.5) < 1e-2,
        "it is not at the goal"
    );
    Ok(())
}
