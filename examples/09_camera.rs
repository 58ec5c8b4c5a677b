//! An RGB-D camera, described in YAML as in Drake, looks at a table; its images become files.
//!
//! Colour and labels (PNG) and depth (TIFF, m) are written to `target/09_camera/`.

#![allow(clippy::print_stdout, reason = "examples show what they do")]

#[path = "support/table.rs"]
mod table;

use std::path::Path;
use table::{Orbit, add_table};
use tarragon::prelude::*;
use tarragon::sensors::{Depth32F, Label16I, Rgba8U};

const CAMERA: &str = "
name: front
focal: !FovDegrees {y: 40}
X_PB:
  translation: [0, -1.3, 1.35]
  rotation: !Rpy {deg: [-116, 0, 0]}   # looks along +y and down
renderer_class: !RenderEngineVtkParams  # drawn by RenderEngineCpu: no GPU, no display
  lights:
  - {type: point, frame: world, position: [-1, -1, 3]}
  - {type: directional, frame: camera, intensity: 0.3}
fps: 4
depth: true
label: true
";

fn main() -> Result<()> {
    let config = CameraConfig::from_yaml(CAMERA)?;

    // Render engines are added to the scene before it becomes a system.
    let mut scene = SceneGraph::new();
    let (source, frame) = add_table(&mut scene)?;
    add_camera_renderers([&config], &mut scene)?;

    let mut b = DiagramBuilder::new();
    let scene = b.add("scene_graph", scene);
    let orbit = b.add_f64("orbit", Orbit { frame });
    b.connect(*orbit.ports(), scene.source_pose_port(source)?);
    let camera = apply_camera_config(&config, &mut b)?;

    // A writer has one port per image kind, and evaluates an image when it is due to be written.
    let folder = Path::new("target/09_camera");
    std::fs::create_dir_all(folder)?;
    let file = folder.join("{image_type}_{count}");
    let file = file.to_str().ok_or("the path is not UTF-8")?;
    let (period, start) = (camera.period, camera.offset);
    let mut writer = ImageWriter::new();
    let color = writer.declare_image_input_port::<Rgba8U>("color", file, period, start)?;
    let depth = writer.declare_image_input_port::<Depth32F>("depth", file, period, start)?;
    let label = writer.declare_image_input_port::<Label16I>("label", file, period, start)?;
    let writer = b.add_f64("writer", writer);
    b.connect(camera.color_image()?, writer.image_port(color)?);
    b.connect(camera.depth_image_32f()?, writer.image_port(depth)?);
    b.connect(camera.label_image()?, writer.image_port(label)?);

    let diagram = b.build()?;
    let mut sim = Simulator::new(&diagram, diagram.default_context())?;
    sim.advance_to(1.0)?;

    let labels = sim.context().eval(camera.label_image()?)?;
    for (label, name) in (1..).zip(["board", "can", "egg", "block", "ball"]) {
        let pixels = labels.data().iter().filter(|l| **l == label).count();
        println!("{name}: {pixels} pixels");
    }
    println!("images are in {}", folder.display());
    Ok(())
}
