//! Three cameras whose images are drawn on other threads while the simulation continues, a third of
//! a period apart: each captures, draws, and outputs its image 50 ms later.
//!
//! Images are written to `target/11_async_cameras/`.

#![allow(clippy::print_stdout, reason = "examples show what they do")]

#[path = "support/table.rs"]
mod table;

use std::path::Path;
use table::{Orbit, TOP, add_table};
use tarragon::prelude::*;
use tarragon::sensors::Transform;

fn main() -> Result<()> {
    // Cameras around the table. An output delay makes a camera asynchronous.
    let fps = 5.0;
    let camera = |k: u32| {
        let (sin, cos) = (std::f64::consts::TAU * f64::from(k) / 3.0).sin_cos();
        let eye = Vector3::new(1.2 * cos, 1.2 * sin, TOP + 0.6);
        CameraConfig {
            name: format!("camera{k}"),
            width: 320,
            height: 240,
            x_pb: Transform::from(&look_at(&eye, &Vector3::new(0.0, 0.0, TOP))),
            fps,
            capture_offset: f64::from(k) / 3.0 / fps,
            output_delay: 0.05,
            ..CameraConfig::default()
        }
    };
    let configs = [0, 1, 2].map(camera);

    let mut scene = SceneGraph::new();
    let (source, frame) = add_table(&mut scene)?;
    add_camera_renderers(&configs, &mut scene)?; // one engine for all of them
    let mut b = DiagramBuilder::new();
    let scene = b.add("scene_graph", scene);
    let orbit = b.add_f64("orbit", Orbit { frame });
    b.connect(*orbit.ports(), scene.source_pose_port(source)?);

    let folder = Path::new("target/11_async_cameras");
    std::fs::create_dir_all(folder)?;
    let file = folder.join("{port_name}_{count}");
    let file = file.to_str().ok_or("the path is not UTF-8")?;
    let mut cameras = vec![];
    for config in &configs {
        let camera = apply_camera_config(config, &mut b)?;
        let (image, period, start) = (camera.color_image()?, camera.period, camera.offset);
        ImageWriter::add_to_builder(&mut b, &config.name, image, file, period, start)?;
        cameras.push(camera);
    }

    // Capture times of the images that each camera outputs; they do not depend on how fast the
    // images were drawn.
    let diagram = b.build()?;
    let mut sim = Simulator::new(&diagram, diagram.default_context())?;
    println!("   time   camera0   camera1   camera2");
    for k in 1..=10 {
        sim.advance_to(0.1 * f64::from(k))?;
        let ctx = sim.context();
        print!("{:7.3}", ctx.time());
        for camera in &cameras {
            print!("   {:7.3}", ctx.eval(camera.image_time()?)?[0]);
        }
        println!();
    }
    println!("images are in {}", folder.display());
    Ok(())
}
