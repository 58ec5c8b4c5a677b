//! A soft ball and a soft bear fall down the stairs.
//!
//! ```text
//! cargo run --release --example 28_soft_ball -- 2.5
//! ```
//!
//! Both bodies are tetrahedra with a linear corotated material. The ball is a sphere that the
//! scene divides; the bear is a union of balls, cut out of a grid and fitted to their surface.
//! Prints five times a second where they are, how tall they are compared to the start, and the
//! force of the stairs on them. Writes the mesh of the bear and `stairs.html`, which plays the
//! motion without a server, to `target/28_soft_ball/`. The argument is the simulated time (s), 2.5
//! by default.

#![allow(clippy::print_stdout, reason = "examples show what they do")]

#[path = "support/tetrahedra.rs"]
mod tetrahedra;

use std::path::Path;
use tarragon::fem::DeformableBodyConfig;
use tarragon::multibody::VisualProperties;
use tarragon::prelude::*;
use tetrahedra::Tetrahedra;

type AnyResult<V> = std::result::Result<V, Box<dyn std::error::Error>>;

/// Number of stairs, and their rise and run (m).
const STAIRS: usize = 4;
const RISE: f64 = 0.12;
const RUN: f64 = 0.2;
/// Radius of the ball (m).
const RADIUS: f64 = 0.09;

/// The balls that the bear is made of: centre and radius (m).
const BEAR: [([f64; 3], f64); 8] = [
    ([0.0, 0.0, 0.0], 0.07),
    ([0.0, 0.0, 0.1], 0.055),
    ([0.0, 0.045, 0.15], 0.025),
    ([0.0, -0.045, 0.15], 0.025),
    ([0.04, 0.07, 0.035], 0.03),
    ([0.04, -0.07, 0.035], 0.03),
    ([0.05, 0.045, -0.055], 0.035),
    ([0.05, -0.045, -0.055], 0.035),
];

/// Makes the mesh of the bear.
fn bear() -> Tetrahedra {
    let cell = Vector3::repeat(0.021);
    // The ball whose surface is nearest from the inside, or farthest from the outside.
    let to_surface = |p: &Vector3<f64>| {
        let vectors = BEAR.map(|(centre, radius)| {
            let from = p - Vector3::from(centre);
            (from.norm() - radius, from.normalize())
        });
        let nearest = vectors.into_iter().min_by(|(a, _), (b, _)| a.total_cmp(b));
        nearest.map_or((0.0, Vector3::zeros()), |(distance, out)| {
            (distance, -distance * out)
        })
    };
    let low = Vector3::new(-0.0945, -0.1155, -0.105);
    let mut bear = Tetrahedra::fill(low, cell, [9, 11, 14], |p| to_surface(p).0 < 0.0);
    bear.fit(|p| to_surface(p).1);
    bear
}

/// Properties of a body: its colour and its friction.
fn look(geometry: GeometryInstance, [r, g, b]: [f64; 3]) -> AnyResult<GeometryInstance> {
    let colour = Rgba::new(r, g, b, 1.0)?;
    let friction = CoulombFriction::new(0.6, 0.6)?;
    Ok(geometry
        .with_proximity(ProximityProperties::new().with_friction(friction))
        .with_illustration(IllustrationProperties::phong(colour)))
}

/// Adds the stairs, which go down along x from the height 0, and the floor.
fn add_stairs(plant: &mut MultibodyPlantBuilder, scene: &mut SceneGraph) -> AnyResult<()> {
    // Deformable bodies touch compliant hydroelastic meshes.
    let stone = ProximityProperties::new()
        .with_compliant_hydroelastic(1e7)?
        .with_resolution_hint(1.0)?
        .with_friction(CoulombFriction::new(0.6, 0.6)?);
    for stair in 0..=STAIRS {
        let (start, height) = (RUN * stair as f64, -RISE * stair as f64);
        let length = if stair == STAIRS { 1.2 } else { RUN };
        let thickness = 0.2;
        let at = Isometry3::translation(start + length / 2.0, 0.0, height - thickness / 2.0);
        let shape = BoxShape::new(length, 0.8, thickness)?;
        let name = format!("stair_{stair}");
        let world = BodyIndex::WORLD;
        plant.register_collision_geometry(scene, world, at, shape, &name, stone.clone())?;
        let grey = Rgba::new(0.55, 0.55, 0.5, 1.0)?;
        let shown = VisualProperties {
            illustration: Some(IllustrationProperties::phong(grey)),
            ..VisualProperties::default()
        };
        plant.register_visual_geometry(scene, world, at, shape, &name, shown)?;
    }
    Ok(())
}

/// Smallest and largest coordinates of points.
fn extent(points: &[Vector3<f64>]) -> (Vector3<f64>, Vector3<f64>) {
    let first = (points[0], points[0]);
    let grow =
        |(low, high): (Vector3<f64>, Vector3<f64>), p: &Vector3<f64>| (low.inf(p), high.sup(p));
    points.iter().fold(first, grow)
}

fn main() -> AnyResult<()> {
    let end: f64 = std::env::args().nth(1).map_or(Ok(2.5), |s| s.parse())?;
    let folder = Path::new("target/28_soft_ball");
    std::fs::create_dir_all(folder)?;
    let (mut plant, mut scene) = (MultibodyPlantBuilder::new(0.005)?, SceneGraph::new());
    plant.register_as_source_for_scene_graph(&mut scene)?;
    add_stairs(&mut plant, &mut scene)?;
    let soft = DeformableBodyConfig {
        youngs_modulus: 4e4,
        poissons_ratio: 0.4,
        mass_density: 500.0,
        stiffness_damping_coefficient: 0.005,
        ..DeformableBodyConfig::default()
    };
    let start = Isometry3::translation(0.1, 0.2, 0.3);
    let ball = GeometryInstance::new(start, Sphere::new(RADIUS)?, "ball")?;
    let ball = look(ball, [0.85, 0.3, 0.2])?;
    let ball = plant.register_deformable_body(&mut scene, ball, &soft, 0.05)?;
    let file = folder.join("bear.vtk");
    bear().save(&file)?;
    let start = Isometry3::translation(0.1, -0.15, 0.3);
    let bear = GeometryInstance::new(start, Mesh::new(&file), "bear")?;
    let bear = look(bear, [0.6, 0.4, 0.2])?;
    let bear = plant.register_deformable_body(&mut scene, bear, &soft, 1.0)?;
    let names = [("ball", ball), ("bear", bear)];

    let mut b = DiagramBuilder::new();
    let (plant, _) = add_multibody_plant_scene_graph(&mut b, plant, scene)?;
    let meshcat = Meshcat::new(MeshcatParams::default())?;
    add_default_visualization(&mut b, Some(meshcat.clone()))?;
    let diagram = b.build()?;
    let mut context = diagram.default_context();
    let mut heights = vec![];
    for (name, body) in names {
        let at_rest = plant.deformable_positions(&context, body)?;
        let (low, high) = extent(&at_rest);
        heights.push(high.z - low.z);
        // Forwards, and turning in that direction.
        let middle = (low + high) / 2.0;
        let (forwards, turn) = (Vector3::new(0.8, 0.0, 0.0), Vector3::new(0.0, 5.0, 0.0));
        let velocities = at_rest.iter().map(|p| forwards + turn.cross(&(p - middle)));
        let velocities: Vec<Vector3<f64>> = velocities.collect();
        plant.set_deformable_velocities(&mut context, body, &velocities)?;
        let body = plant.deformable_body(body)?;
        let (count, mass) = (body.num_elements(), body.mass());
        println!("the {name} has {count} tetrahedra and a mass of {mass:.3} kg");
    }
    let mut sim = Simulator::new(&diagram, context)?;
    meshcat.set_camera_pose(&[1.4, -2.2, 0.7].into(), &[0.6, 0.0, -0.2].into())?;
    meshcat.start_recording(32.0, true)?;
    println!("time (s) | body | x (m)  | z (m)  | height (%) | force of the stairs (N)");
    for k in 1.. {
        let time = (0.2 * f64::from(k)).min(end);
        sim.advance_to(time)?;
        let contacts = sim.context().eval(plant.contact_results()?)?;
        for ((name, body), height) in names.iter().zip(&heights) {
            let id = plant.deformable_body(*body)?.geometry_id();
            let on_body = contacts
                .deformable_contacts()
                .iter()
                .filter(|c| c.id_a == id);
            let force = on_body.fold(0.0, |sum, c| sum + c.f_ac_w.translational.z);
            let points = plant.deformable_positions(sim.context(), *body)?;
            let middle = points.iter().sum::<Vector3<f64>>() / points.len() as f64;
            let (low, high) = extent(&points);
            println!(
                "{time:8.2} | {name} | {:6.3} | {:6.3} | {:10.1} | {force:8.2}",
                middle.x,
                middle.z,
                100.0 * (high.z - low.z) / height,
            );
        }
        if time >= end {
            break;
        }
    }
    meshcat.stop_recording();
    meshcat.publish_recording();
    if let Ok(page) = meshcat.static_html() {
        std::fs::write(folder.join("stairs.html"), page)?;
        println!("the motion is in {}", folder.join("stairs.html").display());
    }
    Ok(())
}
