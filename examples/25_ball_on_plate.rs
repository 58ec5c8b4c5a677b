//! A soft ball on a rigid plate: the forces of its meshes, next to the closed form.
//!
//! ```text
//! cargo run --release --example 25_ball_on_plate
//! ```
//!
//! The pressure in a compliant sphere falls linearly, from the modulus E at the centre to zero at
//! the surface. A plate that it enters by the depth d pushes it back with
//! `pi E d^2 (1 - 2 d / (3 R))`, where R is the radius. The mesh of the sphere approaches this
//! force as the resolution hint falls. Prints the errors of both tessellations, then drops the ball
//! on the plate and weighs it there. Writes the forces and their errors as `force.svg` and
//! `convergence.svg` to `target/25_ball_on_plate/`.

#![allow(clippy::print_stdout, reason = "examples show what they do")]

#[path = "support/plot.rs"]
mod plot;

use nalgebra::Unit;
use plot::{Line, plot};
use std::f64::consts::PI;
use std::path::Path;
use tarragon::geometry::HydroelasticContactRepresentation;
use tarragon::prelude::*;

type AnyResult<V> = std::result::Result<V, Box<dyn std::error::Error>>;

/// Radius of the ball (m), its mass (kg), and its modulus (Pa).
const RADIUS: f64 = 0.05;
const MASS: f64 = 0.5;
const MODULUS: f64 = 1e5;
/// Depth of the table of errors (m).
const DEPTH: f64 = 0.05 * RADIUS;
/// Resolution hints, as parts of the radius.
const PARTS: [u32; 5] = [3, 6, 12, 24, 48];

/// The force (N) at a depth (m) without a mesh.
fn closed_form(depth: f64) -> f64 {
    PI * MODULUS * depth * depth * (1.0 - 2.0 * depth / (3.0 * RADIUS))
}

/// Properties of the ball. Drake's vertices lie on the sphere, so that its mesh is too small; with
/// `equal_volume`, the mesh has the volume of the sphere.
fn soft(part: u32, equal_volume: bool) -> Result<ProximityProperties> {
    let soft = ProximityProperties::new().with_compliant_hydroelastic(MODULUS)?;
    let soft = soft.with_resolution_hint(RADIUS / f64::from(part))?;
    Ok(if equal_volume {
        soft.with_equal_volume_tessellation()
    } else {
        soft
    })
}

fn plate() -> Result<(Isometry3<f64>, BoxShape)> {
    let below = Isometry3::translation(0.0, 0.0, -0.01);
    Ok((below, BoxShape::new(0.2, 0.2, 0.02)?))
}

/// A ball that is held on the plate.
struct HeldBall {
    diagram: Diagram<f64>,
    scene: Block<SceneGraph>,
    source: SourceId,
    ball: FrameId,
}

impl HeldBall {
    fn new(soft: ProximityProperties) -> Result<Self> {
        let mut scene = SceneGraph::new();
        let source = scene.register_source("ball on plate")?;
        let (pose, shape) = plate()?;
        let rigid = ProximityProperties::new().with_rigid_hydroelastic();
        let plate = GeometryInstance::new(pose, shape, "plate")?.with_proximity(rigid);
        scene.register_anchored_geometry(source, plate)?;
        let ball = scene.register_frame(source, GeometryFrame::new("ball"))?;
        let sphere = Sphere::new(RADIUS)?;
        let sphere = GeometryInstance::new(Isometry3::identity(), sphere, "sphere")?;
        scene.register_geometry(source, ball, sphere.with_proximity(soft))?;
        let mut b = DiagramBuilder::new();
        let scene = b.add("scene_graph", scene);
        let diagram = b.build()?;
        Ok(Self {
            diagram,
            scene,
            source,
            ball,
        })
    }

    /// Returns the force (N) and the number of faces at a depth (m), with `down` of the ball
    /// towards the plate.
    fn force(&self, depth: f64, down: &Vector3<f64>) -> Result<(f64, usize)> {
        let down = Unit::new_normalize(*down);
        let turn = math::rotation_between(&down, &-Vector3::z_axis());
        let pose = math::pose(turn, Vector3::new(0.0, 0.0, RADIUS - depth));
        let poses = FramePoseVector::from_iter([(self.ball, pose)]);
        let mut ctx = self.diagram.default_context();
        ctx.fix(self.scene.source_pose_port(self.source)?, poses)?;
        let query = ctx.eval(self.scene.query)?;
        let polygons = HydroelasticContactRepresentation::Polygon;
        let surfaces = query.compute_contact_surfaces(polygons)?;
        let [surface] = &*surfaces else {
            return Ok((0.0, 0)); // A coarse mesh may not reach the plate.
        };
        let of_face = |f| surface.face_normal(f) * (surface.area(f) * surface.face_pressure(f));
        let force: Vector3<f64> = (0..surface.num_faces()).map(of_face).sum();
        Ok((force.norm(), surface.num_faces()))
    }
}

/// Directions from the middle of a cube to its faces, edges and corners, one of each opposite pair.
fn directions() -> Vec<Vector3<f64>> {
    let steps = [-1.0, 0.0, 1.0];
    let all = steps.map(|x| steps.map(|y| steps.map(|z| Vector3::new(x, y, z))));
    all.into_iter().flatten().flatten().skip(14).collect()
}

/// Mean and largest relative error of the force at [`DEPTH`] over all directions, and the mean
/// number of faces.
fn errors(part: u32, equal_volume: bool) -> Result<(f64, f64, f64)> {
    let held = HeldBall::new(soft(part, equal_volume)?)?;
    let directions = directions();
    let (mut mean, mut largest, mut faces) = (0.0, 0.0_f64, 0.0);
    let count = directions.len() as f64;
    for down in &directions {
        let (force, num_faces) = held.force(DEPTH, down)?;
        let error = (force / closed_form(DEPTH) - 1.0).abs();
        mean += error / count;
        largest = largest.max(error);
        faces += num_faces as f64 / count;
    }
    Ok((mean, largest, faces))
}

/// Drops the ball from 1 mm above the plate. Returns the force (N) that the plate exerts after 1 s,
/// and the depth (m) at which the ball rests.
fn drop_ball(soft: ProximityProperties) -> AnyResult<(f64, f64)> {
    let (mut plant, mut scene) = (MultibodyPlantBuilder::new(0.001)?, SceneGraph::new());
    plant.set_contact_model(ContactModel::Hydroelastic);
    let inertia = 0.4 * MASS * RADIUS * RADIUS;
    let urdf = format!(
        "<robot name='ball'><link name='ball'><inertial><mass value='{MASS}'/>
         <inertia ixx='{inertia}' ixy='0' ixz='0' iyy='{inertia}' iyz='0' izz='{inertia}'/>
         </inertial></link></robot>"
    );
    Parser::with_scene_graph(&mut plant, &mut scene).add_models_from_string(&urdf, "urdf")?;
    let ball = plant.body_by_name("ball")?;
    let (pose, shape) = plate()?;
    let rigid = ProximityProperties::new().with_rigid_hydroelastic();
    let (world, centre) = (BodyIndex::WORLD, Isometry3::identity());
    plant.register_collision_geometry(&mut scene, world, pose, shape, "plate", rigid)?;
    let sphere = Sphere::new(RADIUS)?;
    plant.register_collision_geometry(&mut scene, ball, centre, sphere, "sphere", soft)?;
    let above = Isometry3::translation(0.0, 0.0, RADIUS + 0.001);
    plant.set_default_free_body_pose(ball, above)?;

    let mut b = DiagramBuilder::new();
    let (plant, _) = add_multibody_plant_scene_graph(&mut b, plant, scene)?;
    let diagram = b.build()?;
    let mut sim = Simulator::new(&diagram, diagram.default_context())?;
    sim.advance_to(1.0)?;
    let contacts = sim.context().eval(plant.contact_results()?)?;
    let [contact] = contacts.hydroelastic_contacts() else {
        return Err("the ball is not on the plate".into());
    };
    let q = plant.positions(sim.context())?;
    Ok((contact.f_ac_w.translational.z.abs(), RADIUS - q[6]))
}

fn main() -> AnyResult<()> {
    let folder = Path::new("target/25_ball_on_plate");
    std::fs::create_dir_all(folder)?;

    println!(
        "{:.3} N without a mesh, {:.1} mm deep",
        closed_form(DEPTH),
        1e3 * DEPTH
    );
    println!(
        "hint (mm) | faces | inscribed: mean  worst, ratio | equal volume: mean  worst, ratio"
    );
    let names = ["inscribed", "equal volume"];
    let mut curves = names.map(|name| Line {
        name,
        points: vec![],
        dots: false,
    });
    let mut before = [None; 2];
    for part in PARTS {
        print!("{:9.3} ", 1e3 * RADIUS / f64::from(part));
        for (k, equal_volume) in [false, true].into_iter().enumerate() {
            let (mean, worst, faces) = errors(part, equal_volume)?;
            if k == 0 {
                print!("| {faces:5.0} ");
            }
            // The error falls with the square of the hint: by 4 if the hint is halved.
            let ratio = before[k]
                .replace(mean)
                .map_or("-".into(), |b: f64| format!("{:.1}", b / mean));
            print!("| {:8.2} % {:6.2} % {ratio:>5} ", 1e2 * mean, 1e2 * worst);
            let at = (f64::from(part).log2(), mean.log10());
            curves[k].points.push(at);
        }
        println!();
    }
    let axes = ["log2 (radius / hint)", "log10 (mean relative error)"];
    let title = "Error of the force, 5 % of the radius deep";
    plot(&folder.join("convergence.svg"), title, axes, &curves)?;

    let depths = || (0..=60).map(|k| 0.1 * RADIUS * f64::from(k) / 60.0);
    let curve = |name, part, equal_volume| -> Result<Line<'_>> {
        let held = HeldBall::new(soft(part, equal_volume)?)?;
        let points =
            depths().map(|d| Ok((1e3 * d, held.force(d, &Vector3::new(1.0, 2.0, 3.0))?.0)));
        Ok(Line {
            name,
            points: points.collect::<Result<_>>()?,
            dots: false,
        })
    };
    let lines = [
        Line {
            name: "closed form",
            points: depths().map(|d| (1e3 * d, closed_form(d))).collect(),
            dots: true,
        },
        curve("inscribed, hint R/3", PARTS[0], false)?,
        curve("inscribed, hint R/6", PARTS[1], false)?,
        curve("equal volume, hint R/3", PARTS[0], true)?,
    ];
    let axes = ["depth (mm)", "force (N)"];
    plot(
        &folder.join("force.svg"),
        "A soft ball on a plate",
        axes,
        &lines,
    )?;

    let weight = MASS * 9.81;
    // The depth at which the closed form carries the ball, by fixed-point iteration.
    let next = |d: f64| (weight / (PI * MODULUS * (1.0 - 2.0 * d / (3.0 * RADIUS)))).sqrt();
    let depth = (0..50).fold(0.0, |d, _| next(d));
    println!(
        "the ball weighs {weight:.4} N and rests {:.3} mm deep without a mesh",
        1e3 * depth
    );
    for (name, part, equal_volume) in [
        ("inscribed", PARTS[0], false),
        ("equal volume", PARTS[0], true),
        ("inscribed", PARTS[2], false),
    ] {
        let (force, depth) = drop_ball(soft(part, equal_volume)?)?;
        let hint = 1e3 * RADIUS / f64::from(part);
        println!(
            "{name:12}, hint {hint:6.3} mm: {force:.4} N at rest, {:.3} mm deep",
            1e3 * depth
        );
        assert!(
            (force / weight - 1.0).abs() < 1e-3,
            "the plate must carry the ball"
        );
    }
    println!("plots are in {}", folder.display());
    Ok(())
}
