//! A render server and its client: the images of a camera are drawn by another program, here by a
//! thread of this one.
//!
//! ```text
//! cargo run --release --example 26_render_server
//! ```
//!
//! On its own, the server is the command `tarragon render-server`, and Drake's cameras can use it,
//! too. Two cameras look at the same table. One engine draws in process, the other posts its scenes
//! to the server. Prints by how much their images differ, and what the server did. Writes both
//! pictures to `target/26_render_server/`.

#![allow(clippy::print_stdout, reason = "examples show what they do")]

#[path = "support/table.rs"]
mod table;

use std::path::Path;
use table::{Orbit, add_table};
use tarragon::prelude::*;
use tarragon::render_server::{RenderServer, RenderServerParams};
use tarragon::sensors::save_image;

/// Returns a camera with an engine of its own.
fn camera(name: &str, renderer_class: &str) -> Result<CameraConfig> {
    CameraConfig::from_yaml(&format!(
        "
name: {name}
renderer_name: {name}
renderer_class: {renderer_class}
width: 320
height: 240
focal: !FovDegrees {{y: 40}}
X_PB:
  translation: [0, -1.3, 1.35]
  rotation: !Rpy {{deg: [-116, 0, 0]}}   # looks along +y and down
depth: true
label: true
"
    ))
}

fn main() -> Result<()> {
    let engine = RenderEngineCpu::new(RenderEngineCpuParams::default())?;
    let any_port = RenderServerParams {
        port: 0,
        ..RenderServerParams::default()
    };
    let server = RenderServer::start(any_port, Box::new(engine))?;
    println!("the server listens on {}", server.url());

    let client = format!(
        "!RenderEngineGltfClientParams {{base_url: '{}'}}",
        server.url()
    );
    let cameras = [
        camera("here", "RenderEngineCpu")?,
        camera("there", &client)?,
    ];
    let mut scene = SceneGraph::new();
    let (source, frame) = add_table(&mut scene)?;
    add_camera_renderers(&cameras, &mut scene)?;
    let mut b = DiagramBuilder::new();
    let scene = b.add("scene_graph", scene);
    let orbit = b.add_f64("orbit", Orbit { frame });
    b.connect(*orbit.ports(), scene.source_pose_port(source)?);
    let [here, there] = &cameras;
    let (here, there) = (
        apply_camera_config(here, &mut b)?,
        apply_camera_config(there, &mut b)?,
    );
    let diagram = b.build()?;
    let mut sim = Simulator::new(&diagram, diagram.default_context())?;

    for seconds in [0.0, 0.5, 1.0] {
        sim.advance_to(seconds)?;
        let ctx = sim.context();
        let colors = [
            ctx.eval(here.color_image()?)?,
            ctx.eval(there.color_image()?)?,
        ];
        let pairs = colors[0].data().iter().zip(colors[1].data());
        let other_colors = pairs.filter(|(a, b)| a.abs_diff(**b) > 2).count();
        let depths = [here.depth_image_32f()?, there.depth_image_32f()?];
        let depths = [ctx.eval(depths[0])?, ctx.eval(depths[1])?];
        let pairs = depths[0].data().iter().zip(depths[1].data());
        let other_depths = pairs
            .filter(|(a, b)| a != b && (*a - *b).abs() > 1e-6)
            .count();
        let labels = [
            ctx.eval(here.label_image()?)?,
            ctx.eval(there.label_image()?)?,
        ];
        let pairs = labels[0].data().iter().zip(labels[1].data());
        let other_labels = pairs.filter(|(a, b)| a != b).count();
        println!(
            "{seconds} s: of {} pixels, {other_colors} channels, {other_depths} depths and \
             {other_labels} labels differ",
            labels[0].data().len()
        );
    }

    let folder = Path::new("target/26_render_server");
    std::fs::create_dir_all(folder)?;
    save_image(
        sim.context().eval(here.color_image()?)?,
        folder.join("here.png"),
    )?;
    save_image(
        sim.context().eval(there.color_image()?)?,
        folder.join("there.png"),
    )?;
    println!("{}", server.stop());
    println!("images are in {}", folder.display());
    Ok(())
}
