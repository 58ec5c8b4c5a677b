//! A scene of several models, assembled by model directives, photographed and measured.
//!
//! ```text
//! cargo run --release --example 15_scene_from_directives [-- FOLDER]
//! ```
//!
//! The images go to FOLDER, by default `target/15_scene_from_directives/`.

#![allow(clippy::print_stdout, reason = "examples show what they do")]

use std::path::PathBuf;
use tarragon::geometry::render::{LightFrame, LightParameter};
use tarragon::prelude::*;
use tarragon::sensors::save_image;

fn main() -> Result<()> {
    let folder = std::env::args().nth(1).map_or_else(
        || PathBuf::from("target/15_scene_from_directives"),
        PathBuf::from,
    );
    std::fs::create_dir_all(&folder)?;

    // Directives name files by package; every folder of examples/models is a package.
    let models = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/models");
    let mut plant = MultibodyPlantBuilder::new(0.001)?;
    plant.set_position_source(PositionSource::InputPort);
    let mut scene = SceneGraph::new();
    let lamp = |x, y, z, intensity| LightParameter {
        frame: LightFrame::World,
        direction: Vector3::new(x, y, z),
        intensity,
        ..LightParameter::default()
    };
    let engine = RenderEngineCpuParams {
        lights: vec![lamp(-0.5, 0.45, -0.9, 0.9), lamp(0.8, 0.5, -0.5, 0.45)],
        ..RenderEngineCpuParams::default()
    };
    scene.add_renderer("cpu", RenderEngineCpu::new(engine)?)?;
    let mut parser = Parser::with_scene_graph(&mut plant, &mut scene);
    parser.package_map_mut().populate_from_folder(models)?;
    let added = parser.add_models(format!("{models}/scenes/table_top_planning.dmd.yaml"))?;
    let plant = plant.build_with_scene(&mut scene)?;
    let names = added.iter().map(|model| plant.model_instance_name(*model));
    println!(
        "models: {}",
        names.collect::<Result<Vec<_>, _>>()?.join(" ")
    );

    // A camera at each of the camera frames that the directives add.
    let mut b = DiagramBuilder::new();
    let info = CameraInfo::from_fov_y(640, 480, 0.7)?;
    let camera = DepthRenderCamera::new("cpu", info).with_depth_range(0.02..10.0)?;
    let mut cameras = vec![];
    for name in ["overview_camera", "wrist_camera"] {
        let frame = plant.frame(plant.frame_by_name(name)?)?;
        let body = plant
            .body_frame_id(frame.body())
            .ok_or("the body is not in the scene")?;
        let sensor = RgbdSensor::from_depth_camera(body, *frame.pose_in_body(), camera.clone());
        cameras.push((name, b.add_f64(name, sensor)));
    }
    let mut q = plant.default_positions();
    let shoulder = plant.position_start(plant.joint_by_name("arm7::joint2")?)?;
    let (plant, scene) = add_multibody_plant_scene_graph(&mut b, plant, scene)?;
    for (_, camera) in &cameras {
        b.connect(scene.query, camera.geometry_query);
    }
    let mut ctx = b.build()?.default_context();
    let position = plant.position()?;
    ctx.fix(position, &q)?;

    for (name, camera) in &cameras {
        let file = folder.join(format!("{name}.png"));
        save_image(ctx.eval(camera.color_image)?, &file)?;
        println!("written: {}", file.display());
    }

    // The bodies nearest to the robot. Filter groups exclude objects that stand on the table and
    // touch it.
    let query = ctx.eval(scene.query)?;
    let mut pairs = query.compute_signed_distance_pairwise_closest_points(f64::INFINITY)?;
    pairs.sort_by(|a, b| a.distance.total_cmp(&b.distance));
    println!("\nnearest to the robot:");
    let mut seen = vec![];
    for pair in &pairs {
        let (a, b) = (body_of(query, pair.id_a)?, body_of(query, pair.id_b)?);
        // Bodies may have several shapes: the first pair of two bodies is their nearest.
        if is_robot(a) != is_robot(b) && !seen.contains(&(a, b)) && seen.len() < 5 {
            println!("{:8.2} mm  {a} - {b}", 1e3 * pair.distance);
            seen.push((a, b));
        }
    }

    // The arm leans forward until it collides.
    while !ctx.eval(scene.query)?.has_collisions()? {
        q[shoulder] += 0.02;
        ctx.fix(position, &q)?;
    }
    println!("\nwith the shoulder leaning {:.3} rad:", q[shoulder]);
    let query = ctx.eval(scene.query)?;
    for contact in query.compute_point_pair_penetration()? {
        println!(
            "{:8.2} mm deep  {} - {}",
            1e3 * contact.depth,
            body_of(query, contact.id_a)?,
            body_of(query, contact.id_b)?
        );
    }
    Ok(())
}

/// The body of a geometry as `model::body`, which is the name of its frame.
fn body_of(query: &QueryObject<f64>, geometry: GeometryId) -> Result<&str, Error> {
    let inspector = query.inspector();
    inspector.frame_name(inspector.frame_id(geometry)?)
}

fn is_robot(body: &str) -> bool {
    body.starts_with("arm7::") || body.starts_with("gripper::")
}
