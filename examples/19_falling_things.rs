//! Things that fall on a table, with friction, and the forces that hold them.
//!
//! ```text
//! cargo run --release --example 19_falling_things [-- SECONDS]
//! ```
//!
//! Simulates SECONDS (default 2) as fast as possible, prints contacts and forces, and writes the
//! motion to `target/19_falling_things/falling.html`, which plays it without a server.

#![allow(clippy::print_stdout, reason = "examples show what they do")]

use std::path::Path;
use tarragon::framework::math;
use tarragon::prelude::*;

/// A model of one body with a mass of 1 kg, from the shape as URDF has it.
fn thing(name: &str, shape: &str) -> String {
    format!(
        "<robot name='{name}'><link name='{name}'>
         <inertial><mass value='1'/>
         <inertia ixx='.003' ixy='0' ixz='0' iyy='.003' iyz='0' izz='.003'/></inertial>
         <visual><geometry>{shape}</geometry></visual>
         <collision><geometry>{shape}</geometry></collision></link></robot>"
    )
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let seconds = std::env::args().nth(1).map_or(Ok(2.0), |s| s.parse())?;
    let (mut plant, mut scene) = (MultibodyPlantBuilder::new(0.001)?, SceneGraph::new());
    plant.set_contact_model(ContactModel::Point);
    let mut parser = Parser::with_scene_graph(&mut plant, &mut scene);
    parser.add_models_from_string(&thing("table", "<box size='1 1 .1'/>"), "urdf")?;
    let shapes = [
        "<sphere radius='.06'/>",
        "<box size='.1 .1 .1'/>",
        "<cylinder radius='.05' length='.1'/>",
    ];
    for i in 0..9 {
        parser.add_models_from_string(&thing(&format!("thing{i}"), shapes[i % 3]), "urdf")?;
    }
    let table = plant.frame_by_name("table")?;
    let below = Isometry3::translation(0.0, 0.0, -0.05);
    plant.weld_frames(FrameIndex::WORLD, table, below)?;
    for i in 0..9 {
        let body = plant.body_by_name(&format!("thing{i}"))?;
        let (x, y) = (0.2 * (i % 3) as f64 - 0.2, 0.2 * (i / 3) as f64 - 0.2);
        let position = Vector3::new(x, y, 0.2 + 0.05 * i as f64);
        let tilted = math::pose(math::rpy(0.3, 0.2, 0.1), position);
        plant.set_default_free_body_pose(body, tilted)?;
    }

    let mut b = DiagramBuilder::new();
    let (plant, _) = add_multibody_plant_scene_graph(&mut b, plant, scene)?;
    let meshcat = Meshcat::new(MeshcatParams::default())?;
    add_default_visualization(&mut b, Some(meshcat.clone()))?;
    let diagram = b.build()?;
    let mut sim = Simulator::new(&diagram, diagram.default_context())?;
    meshcat.start_recording(32.0, true)?;
    sim.advance_to(seconds)?;
    meshcat.stop_recording();
    meshcat.publish_recording();

    let contacts = sim.context().eval(plant.contact_results()?)?;
    for contact in contacts.point_pairs() {
        let name = |body| plant.body(body).map(|body| body.name().to_owned());
        println!(
            "{:>8} on {:8} {:6.2} N, {:.3} mm deep",
            name(contact.body_b)?,
            name(contact.body_a)?,
            contact.contact_force.norm(),
            1e3 * contact.point_pair.depth
        );
    }
    let v = plant.velocities(sim.context())?;
    let fastest = v.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
    println!("after {seconds} s, the largest velocity is {fastest:.2e}");
    if let Ok(page) = meshcat.static_html() {
        let folder = Path::new("target/19_falling_things");
        std::fs::create_dir_all(folder)?;
        std::fs::write(folder.join("falling.html"), page)?;
        println!("the motion is in {}", folder.join("falling.html").display());
    }
    Ok(())
}
