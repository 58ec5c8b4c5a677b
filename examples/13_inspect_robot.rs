//! Prints a robot's structure and the loads on its joints, from a model file of any format.
//!
//! ```text
//! cargo run --example 13_inspect_robot [-- MODEL [NAME=PACKAGE_DIR]...]
//! ```
//!
//! MODEL is URDF, SDFormat, MJCF, model directives or OBJ; the default is the arm of
//! examples/models as MJCF. `tarragon inspect` prints much more.

#![allow(clippy::print_stdout, reason = "examples show what they do")]

use std::path::PathBuf;
use tarragon::multibody::Joint;
use tarragon::prelude::*;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let models = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/models");
    let model = arguments.next().map_or_else(
        || PathBuf::from(models).join("arm7/arm7.xml"),
        PathBuf::from,
    );

    let mut plant = MultibodyPlantBuilder::new(0.0)?;
    let mut parser = Parser::new(&mut plant);
    for package in arguments {
        let (name, folder) = package
            .split_once('=')
            .ok_or("packages must be given as NAME=DIR")?;
        parser.package_map_mut().add(name, folder)?;
    }
    parser.add_models(model)?;
    // Models that are not attached to the world get floating joints here.
    let plant = plant.build()?;

    println!(
        "bodies: {}, {:.3} kg in all; positions: {}; motors: {}\n",
        plant.num_bodies() - 1,
        plant.calc_total_mass(),
        plant.num_positions(),
        plant.actuators().len()
    );
    // Bodies, each with the joint that carries it. A stack instead of recursion: chains may be
    // long.
    let mut stack = vec![(BodyIndex::WORLD, 0)];
    while let Some((index, depth)) = stack.pop() {
        let body = plant.body(index)?;
        print!("{:1$}{2}", "", 2 * depth, body.name());
        if let Some(joint) = plant.inboard_joint(index) {
            let joint = plant.joint(joint)?;
            let mass = body.spatial_inertia().mass();
            print!(
                " {mass:.3} kg, {} '{}'",
                joint.kind().type_name(),
                joint.name()
            );
            if joint.num_positions() == 1 {
                let (lower, upper) = (joint.position_lower_limits(), joint.position_upper_limits());
                print!(" {} to {}", lower[0], upper[0]);
            }
        }
        println!();
        let children = plant.bodies().map(|(child, _)| child).filter(|child| {
            let joint = plant
                .inboard_joint(*child)
                .and_then(|j| plant.joint(j).ok());
            joint.is_some_and(|j| other_end(j, *child) == index)
        });
        let children: Vec<BodyIndex> = children.collect();
        stack.extend(children.into_iter().rev().map(|child| (child, depth + 1)));
    }

    // Everything below is computed from positions: joints with a range are at 65 % of it.
    let mut q = plant.default_positions();
    let (lower, upper) = (plant.position_lower_limits(), plant.position_upper_limits());
    for (k, q) in q.iter_mut().enumerate() {
        if lower[k].is_finite() && upper[k].is_finite() {
            *q = lower[k] + 0.65 * (upper[k] - lower[k]);
        }
    }
    let positions = plant.calc_position_kinematics(&q)?;
    let mass_matrix = plant.calc_mass_matrix(&positions)?;
    let gravity = plant.calc_gravity_generalized_forces(&positions)?;
    let (tip, _) = plant.bodies().last().ok_or("the world is always there")?;
    let jacobian = plant.calc_jacobian_spatial_velocity(
        &positions,
        JacobianWrt::V,
        plant.body(tip)?.body_frame(),
        &Vector3::zeros(),
        FrameIndex::WORLD,
        FrameIndex::WORLD,
    )?;
    let com = plant.calc_center_of_mass_position_in_world(&positions)?;
    println!("\ncentre of mass at {:.4?} m", com.as_slice());
    println!(
        "v        |   M(i, i) |  gravity | velocity of '{}'",
        plant.body(tip)?.name()
    );
    for (k, name) in plant.velocity_names().iter().enumerate() {
        let column: Vec<String> = jacobian
            .column(k)
            .iter()
            .map(|x| format!("{x:8.4}"))
            .collect();
        let (m, g) = (mass_matrix[(k, k)], gravity[k]);
        println!("{name:8} | {m:9.5} | {g:8.3} | {}", column.join(" "));
    }
    Ok(())
}

/// The body at the other end of a joint.
fn other_end(joint: &Joint, body: BodyIndex) -> BodyIndex {
    if joint.child_body() == body {
        joint.parent_body()
    } else {
        joint.child_body()
    }
}
