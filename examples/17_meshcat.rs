//! An arm in a browser, moved by sliders.
//!
//! ```text
//! cargo run --release --example 17_meshcat [-- SECONDS]
//! ```
//!
//! Prints the page's URL, simulates SECONDS of simulated time (default 2) in real time, and writes
//! the final view to `target/17_meshcat/arm.html`, which shows it without a server.

#![allow(clippy::print_stdout, reason = "examples show what they do")]

use std::path::Path;
use tarragon::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let seconds = std::env::args().nth(1).map_or(Ok(2.0), |s| s.parse())?;
    let arm = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/examples/models/arm7/arm7.urdf"
    );
    let (mut plant, mut scene) = (MultibodyPlantBuilder::new(0.001)?, SceneGraph::new());
    Parser::with_scene_graph(&mut plant, &mut scene).add_models(arm)?;
    let base = plant.frame_by_name("base_link")?;
    plant.weld_frames(FrameIndex::WORLD, base, Isometry3::identity())?;
    plant.set_position_source(PositionSource::InputPort);
    let plant = plant.build_with_scene(&mut scene)?;

    let meshcat = Meshcat::new(MeshcatParams::default())?;
    let params = JointSlidersParams {
        initial_value: Some(vec![0.0, 0.6, 0.0, 1.2, 0.0, 0.9, 0.0]),
        ..Default::default()
    };
    let sliders = JointSliders::new(meshcat.clone(), &plant, params)?;
    let mut b = DiagramBuilder::new();
    let (plant, _) = add_multibody_plant_scene_graph(&mut b, plant, scene)?;
    let sliders = b.add("sliders", sliders);
    b.connect(sliders.positions, plant.position()?);
    add_default_visualization(&mut b, Some(meshcat.clone()))?;

    let diagram = b.build()?;
    let mut sim = Simulator::new(&diagram, diagram.default_context())?;
    sim.set_target_realtime_rate(1.0)?;
    println!("look at {}", meshcat.web_url());
    sim.advance_to(seconds)?;

    println!("{} sliders", sliders.system().slider_names().count());
    match meshcat.static_html() {
        Ok(page) => {
            let folder = Path::new("target/17_meshcat");
            std::fs::create_dir_all(folder)?;
            std::fs::write(folder.join("arm.html"), page)?;
            println!("the scene is in {}", folder.join("arm.html").display());
        }
        Err(e) => println!("{e}"),
    }
    Ok(())
}
