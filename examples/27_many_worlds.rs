//! A thousand worlds in one batch: the same things in other places, seen by a camera each.
//!
//! ```text
//! cargo run --release --example 27_many_worlds
//! cargo run --release --example 27_many_worlds --features gpu -- --gpu
//! ```
//!
//! An engine holds shapes, never poses, so that one engine draws any number of worlds. Blocks,
//! balls and cans fall in a random place of every world. All worlds are drawn in one call, in
//! colour, depth and labels, into contiguous arrays `[world, row, column, channel]`, as learning
//! programs read them. Prints how many images it draws per second, and how often each thing is in
//! sight. Writes all pictures as one contact sheet to `target/27_many_worlds/`.

#![allow(clippy::print_stdout, reason = "examples show what they do")]

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;
use tarragon::framework::math::rotation_exp;
use tarragon::framework::random::RandomGenerator;
use tarragon::geometry::render::{
    CameraBatch, CameraInfo, ColorRenderCamera, DepthRenderCamera, ImageBatch, RenderEngine,
    RenderView,
};
use tarragon::prelude::*;
use tarragon::sensors::{ImageRgba8U, save_image};

/// Number of worlds, and of those in a row of the contact sheet.
const WORLDS: usize = 1000;
const COLUMNS: usize = 40;
/// Side of an image (pixels).
const SIDE: usize = 64;

/// Poses of the things in one world, and of its camera.
struct World {
    poses: BTreeMap<GeometryId, Isometry3<f64>>,
    x_wc: Isometry3<f64>,
}

/// Registers a floor and ten things, with labels from 1 on. Returns the floor and the things.
fn register(engine: &mut dyn RenderEngine) -> Result<(GeometryId, Vec<GeometryId>)> {
    let mut add = |shape: Shape, color: [f64; 3], label: i16| -> Result<GeometryId> {
        let [r, g, b] = color;
        let look = PerceptionProperties::phong(Rgba::opaque(r, g, b)?);
        let id = GeometryId::new();
        engine.register_visual(id, &shape, &look.with_label(RenderLabel::new(label)?))?;
        Ok(id)
    };
    let floor = add(HalfSpace.into(), [0.75, 0.72, 0.68], 0)?;
    let things = (1..=10).map(|label| {
        let shade = f64::from(label) / 10.0;
        match label % 3 {
            0 => add(
                BoxShape::new(0.2, 0.14, 0.1)?.into(),
                [0.2, 0.4, shade],
                label,
            ),
            1 => add(Sphere::new(0.09)?.into(), [shade, 0.3, 0.2], label),
            _ => add(Cylinder::new(0.06, 0.2)?.into(), [0.3, shade, 0.2], label),
        }
    });
    Ok((floor, things.collect::<Result<_>>()?))
}

/// Places the things on the floor, and the camera above it.
fn world(floor: GeometryId, things: &[GeometryId], random: &mut RandomGenerator) -> World {
    let mut poses = BTreeMap::from([(floor, Isometry3::identity())]);
    for thing in things {
        let mut between = |low: f64, high: f64| random.uniform(low, high);
        let position = Vector3::new(between(-0.5, 0.5), between(-0.5, 0.5), between(0.05, 0.15));
        let turn = Vector3::new(between(-0.3, 0.3), between(-0.3, 0.3), between(-3.0, 3.0));
        poses.insert(
            *thing,
            Isometry3::from_parts(position.into(), rotation_exp(&turn)),
        );
    }
    let angle = random.uniform(-3.0, 3.0);
    let eye = Vector3::new(1.2 * angle.cos(), 1.2 * angle.sin(), 0.9);
    World {
        poses,
        x_wc: look_at(&eye, &Vector3::zeros()),
    }
}

/// Returns the engine: that of GPUs if asked for.
fn engine(gpu: bool) -> Result<Box<dyn RenderEngine>> {
    if !gpu {
        let params = RenderEngineCpuParams::default();
        return Ok(Box::new(RenderEngineCpu::new(params)?));
    }
    #[cfg(feature = "gpu")]
    {
        let params = tarragon::geometry::render::RenderEngineGpuParams::default();
        Ok(Box::new(tarragon::gpu::RenderEngineGpu::new(params)?))
    }
    #[cfg(not(feature = "gpu"))]
    Err(Error::unsupported(
        "--gpu: build the example with `--features gpu`",
    ))
}

fn main() -> Result<()> {
    let mut engine = engine(std::env::args().any(|argument| argument == "--gpu"))?;
    let (floor, things) = register(&mut *engine)?;
    let mut random = RandomGenerator::new(1);
    let worlds: Vec<World> = (0..WORLDS)
        .map(|_| world(floor, &things, &mut random))
        .collect();

    let info = CameraInfo::from_fov_y(SIDE, SIDE, 0.8)?;
    let color = ColorRenderCamera::new("batch", info);
    let cameras = CameraBatch::new()
        .with_label(color.clone())
        .with_color(color)
        .with_depth(DepthRenderCamera::new("batch", info));
    let poses: Vec<_> = worlds
        .iter()
        .map(|world| |id| world.poses.get(&id).copied())
        .collect();
    let views: Vec<_> = worlds
        .iter()
        .zip(&poses)
        .map(|(world, poses)| RenderView::new(world.x_wc, poses))
        .collect();
    let mut images = ImageBatch::default();
    let start = Instant::now();
    engine.render_batch(&views, &cameras, &mut images)?;
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "arrays: colour {:?}, depth {:?}",
        images.color.shape(),
        images.depth.shape()
    );
    println!(
        "{:.0} worlds per second, three images each",
        WORLDS as f64 / seconds
    );
    for label in 1..=10 {
        let shows = |i: &usize| images.label.image(*i).contains(&label);
        let count = (0..WORLDS).filter(shows).count();
        println!("thing {label} is in sight in {count} of {WORLDS} worlds");
    }

    let rows = WORLDS / COLUMNS;
    let mut sheet = ImageRgba8U::new(COLUMNS * SIDE, rows * SIDE);
    for (y, row) in sheet.rows_mut().enumerate() {
        for (column, tile) in row.chunks_exact_mut(4 * SIDE).enumerate() {
            let image = images.color.image(y / SIDE * COLUMNS + column);
            tile.copy_from_slice(&image[y % SIDE * 4 * SIDE..][..4 * SIDE]);
        }
    }
    let folder = Path::new("target/27_many_worlds");
    std::fs::create_dir_all(folder)?;
    let path = folder.join("worlds.png");
    save_image(&sheet, &path)?;
    println!("all worlds are in {}", path.display());
    Ok(())
}
