//! An arm picks a block from a table, carries it, and puts it on a box.
//!
//! ```text
//! cargo run --release --example 21_gripper_pick
//! ```
//!
//! Prints after each phase where the block is, the force with which a finger presses it, and how
//! far it has moved in the gripper. A camera writes a picture of each phase to
//! `target/21_gripper_pick/`; `pick.html` there plays the motion without a server.

#![allow(clippy::print_stdout, reason = "examples show what they do")]

use nalgebra::{DMatrix, DVector};
use std::path::Path;
use tarragon::framework::trajectories::PiecewisePolynomial;
use tarragon::multibody::{ModelInstanceIndex, MultibodyPlantPorts};
use tarragon::prelude::*;
use tarragon::sensors::save_image;

/// Position of each finger (m): open, and 3 mm inside the block, so that the controllers press.
const OPEN: f64 = 0.038;
const CLOSED: f64 = 0.022;

/// The phases: name, duration (s), position of the grasp (m) and of the fingers (m) at the end.
const PHASES: [(&str, f64, [f64; 3], f64); 9] = [
    ("reach", 1.5, [0.42, -0.2, 0.15], OPEN),
    ("lower", 0.8, [0.42, -0.2, 0.025], OPEN),
    ("grasp", 0.5, [0.42, -0.2, 0.025], CLOSED),
    ("lift", 0.8, [0.42, -0.2, 0.2], CLOSED),
    ("carry", 1.5, [0.52, 0.1, 0.2], CLOSED),
    ("place", 0.8, [0.52, 0.1, 0.111], CLOSED),
    ("release", 0.5, [0.52, 0.1, 0.111], OPEN),
    ("retreat", 0.8, [0.52, 0.1, 0.25], OPEN),
    ("rest", 1.0, [0.52, 0.1, 0.25], OPEN),
];

/// Objects on the table: name, position (m) and heading (rad).
const OBJECTS: [(&str, [f64; 2], f64); 4] = [
    ("block", [0.42, -0.2], 0.0),
    ("box", [0.52, 0.1], 0.3),
    ("mug", [0.3, -0.4], 2.4),
    ("bottle", [0.35, 0.42], 0.0),
];

/// Adds small spheres to fingers and undersides, half a millimetre in front of the surface. Two
/// shapes touch at one point, about which they turn; four points hold.
fn add_pads(plant: &mut MultibodyPlantBuilder, scene: &mut SceneGraph) -> Result<()> {
    let rubber = ProximityProperties::new().with_friction(CoulombFriction::new(0.9, 0.9)?);
    let tip = |x, y| Isometry3::translation(x, 4.5e-3, 0.05 + y);
    let under = |x, y| Isometry3::translation(x, y, 4.5e-3);
    for (body, place, [x, y]) in [
        (
            "left_finger",
            &tip as &dyn Fn(f64, f64) -> _,
            [0.008, 0.008],
        ),
        ("right_finger", &tip, [0.008, 0.008]),
        ("block", &under, [0.02, 0.02]),
        ("box", &under, [0.065, 0.045]),
    ] {
        let body = plant.body_by_name(body)?;
        for (i, (x, y)) in [(x, y), (-x, y), (-x, -y), (x, -y)].into_iter().enumerate() {
            let (name, pad, rubber) = (format!("pad{i}"), Sphere::new(5e-3)?, rubber.clone());
            plant.register_collision_geometry(scene, body, place(x, y), pad, &name, rubber)?;
        }
    }
    Ok(())
}

/// Adds arm, gripper, table and objects; returns arm and gripper.
fn add_models(
    plant: &mut MultibodyPlantBuilder,
    scene: &mut SceneGraph,
) -> Result<[ModelInstanceIndex; 2]> {
    let models = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/models");
    let mut parser = Parser::with_scene_graph(plant, scene);
    let mut add = |file: &str| parser.add_models(format!("{models}/{file}.urdf"));
    let (arm, gripper) = (add("arm7/arm7_bare")?[0], add("gripper/gripper")?[0]);
    add("table_top/table")?;
    for (name, ..) in OBJECTS {
        add(&format!("table_top/{name}"))?;
    }
    let weld = |plant: &mut MultibodyPlantBuilder, parent: FrameIndex, child: &str, x_pc| {
        let child = plant.frame_by_name(child)?;
        plant.weld_frames(parent, child, x_pc)
    };
    let world = FrameIndex::WORLD;
    add_pads(plant, scene)?;
    weld(plant, world, "base_link", Isometry3::identity())?;
    weld(plant, world, "table", Isometry3::translation(0.3, 0.0, 0.0))?;
    let turned = math::pose(
        math::rpy(0.0, 0.0, std::f64::consts::FRAC_PI_2),
        Vector3::new(0.0, 0.0, 0.009),
    );
    let flange = plant.frame_by_name("flange")?;
    weld(plant, flange, "gripper", turned)?;
    let palm = plant.body_by_name("gripper")?;
    let between_tips = Isometry3::translation(0.0, 0.0, 0.122);
    plant.add_frame(FixedOffsetFrame::new("grasp", palm, between_tips))?;
    for (name, [x, y], heading) in OBJECTS {
        let pose = math::pose(math::rpy(0.0, 0.0, heading), Vector3::new(x, y, 0.0));
        plant.set_default_free_body_pose(plant.body_by_name(name)?, pose)?;
    }
    Ok([arm, gripper])
}

/// Finds joint angles of the arm that bring the grasp to a position, with the fingers down: damped
/// Gauss-Newton steps, with Jacobians from dual numbers.
fn solve(
    plant: &MultibodyPlant,
    arm: ModelInstanceIndex,
    position: [f64; 3],
    start: &[f64],
) -> Result<Vec<f64>> {
    let down = math::rpy(std::f64::consts::PI, 0.0, 0.0);
    let (frame, all) = (plant.frame_by_name("grasp")?, plant.default_positions());
    let residual = |q: &[AutoDiff]| -> Result<Vec<AutoDiff>> {
        let mut all: Vec<AutoDiff> = all.iter().map(|q| AutoDiff::from(*q)).collect();
        plant.set_positions_in_array(arm, q, &mut all)?;
        let x_wf = plant.calc_frame_pose(&plant.calc_position_kinematics(&all)?, frame)?;
        let turn = math::rotation_log(&(down.inverse().cast::<AutoDiff>() * x_wf.rotation));
        let way = x_wf.translation.vector - Vector3::from(position).map(AutoDiff::from);
        Ok(turn.iter().chain(&way).copied().collect())
    };
    let mut q = DVector::from_column_slice(start);
    for _ in 0..50 {
        let (r, j) = try_jacobian(residual, q.as_slice())?;
        if r.norm() < 1e-8 {
            return Ok(q.as_slice().to_vec());
        }
        let normal = &j * j.transpose() + DMatrix::identity(6, 6) * 1e-6;
        q -= j.tr_mul(&normal.cholesky().ok_or("no step")?.solve(&r));
    }
    Err(format!("the arm cannot reach {position:?}").into())
}

/// Poses of the block: in the world, and in the grasp frame.
fn block_poses(
    plant: &MultibodyPlantPorts<f64>,
    context: &Context<f64>,
) -> Result<(Isometry3<f64>, Isometry3<f64>)> {
    let pose = |name| plant.frame_pose(context, plant.frame_by_name(name)?);
    let (block, grasp) = (pose("block")?, pose("grasp")?);
    Ok((block, grasp.inverse() * block))
}

fn main() -> Result<()> {
    let (mut plant, mut scene) = (MultibodyPlantBuilder::new(0.001)?, SceneGraph::new());
    scene.add_renderer(
        "cpu",
        RenderEngineCpu::new(RenderEngineCpuParams::studio())?,
    )?;
    plant.set_contact_model(ContactModel::Point);
    let [arm, gripper] = add_models(&mut plant, &mut scene)?;
    // Motors with built-in controllers. The arm's own weight is compensated (see
    // 20_arm_pid_and_gravity_compensation), the weight of what it carries is not.
    for (model, p, d) in [(arm, 4000.0, 200.0), (gripper, 5000.0, 50.0)] {
        plant.set_gravity_enabled(model, false)?;
        for actuator in plant.joint_actuator_indices_in(model)? {
            plant.set_controller_gains(actuator, PdControllerGains { p, d })?;
        }
    }
    let mut plant = plant.build_with_scene(&mut scene)?;

    // Trajectories that rest between phases.
    let mut q = vec![0.0, 0.4, 0.0, 1.2, 0.0, 1.5, 0.0];
    let (mut breaks, mut time) = (vec![0.0], 0.0);
    let (mut angles, mut fingers) = (vec![q.clone()], vec![vec![OPEN; 2]]);
    for (_, duration, position, opening) in PHASES {
        q = solve(&plant, arm, position, &q)?;
        time += duration;
        breaks.push(time);
        angles.push(q.clone());
        fingers.push(vec![opening; 2]);
    }
    plant.set_default_positions_in(arm, &angles[0])?;
    plant.set_default_positions_in(gripper, &fingers[0])?;
    let rest = |samples: &[Vec<f64>]| {
        let zero = vec![vec![0.0; samples[0].len()]; samples.len()];
        PiecewisePolynomial::cubic_hermite(&breaks, samples, &zero)
    };

    let mut b = DiagramBuilder::new();
    let (plant, scene) = add_multibody_plant_scene_graph(&mut b, plant, scene)?;
    for (name, model, samples) in [("angles", arm, &angles), ("fingers", gripper, &fingers)] {
        let source = b.add(name, TrajectorySource::new(rest(samples)?, 1));
        b.connect(source.y, plant.desired_state_in(model)?);
    }
    let info = CameraInfo::from_fov_y(640, 480, 0.5)?;
    let camera = DepthRenderCamera::new("cpu", info).with_depth_range(0.05..10.0)?;
    let from = look_at(&[1.75, -1.05, 0.95].into(), &[0.33, 0.03, 0.33].into());
    let world = scene.world_frame_id();
    let camera = b.add_f64("camera", RgbdSensor::from_depth_camera(world, from, camera));
    b.connect(scene.query, camera.geometry_query);
    let meshcat = Meshcat::new(MeshcatParams::default())?;
    add_default_visualization(&mut b, Some(meshcat.clone()))?;
    let diagram = b.build()?;

    let folder = Path::new("target/21_gripper_pick");
    std::fs::create_dir_all(folder)?;
    let mut sim = Simulator::new(&diagram, diagram.default_context())?;
    meshcat.start_recording(32.0, true)?;
    println!("phase   |  block at x, y, z (m)   | finger (N) | moved in the gripper");
    let mut held = None;
    for ((name, ..), end) in PHASES.iter().zip(&breaks[1..]) {
        sim.advance_to(*end)?;
        let context = sim.context();
        let (pose, in_grasp) = block_poses(&plant, context)?;
        let force = plant.contact_force_between(context, "block", "left_finger")?;
        if *name == "grasp" {
            held = Some(in_grasp);
        }
        let at = pose.translation;
        print!(
            "{name:7} | {:7.4} {:7.4} {:7.4} | {:10.2} |",
            at.x,
            at.y,
            at.z,
            force.norm()
        );
        if let (Some(held), true) = (held, ["lift", "carry", "place"].contains(name)) {
            let moved = held.inverse() * in_grasp;
            let (way, turn) = (moved.translation.vector.norm(), moved.rotation.angle());
            print!(" {:.3} mm, {:.3} degrees", 1e3 * way, turn.to_degrees());
            assert!(way < 5e-4 && turn < 5e-3, "the block slipped");
        }
        println!();
        let picture = folder.join(format!("{name}.png"));
        save_image(context.eval(camera.color_image)?, &picture)?;
    }
    // On the box, whose top is 85 mm above the table, upright and at rest.
    let (pose, _) = block_poses(&plant, sim.context())?;
    let off = pose.translation.vector - Vector3::new(0.52, 0.1, 0.086);
    let upright = pose.rotation * Vector3::z_axis();
    assert!(
        off.norm() < 2e-3 && upright.z > 0.9999,
        "the block is not on the box"
    );
    meshcat.stop_recording();
    meshcat.publish_recording();
    println!("pictures are in {}", folder.display());
    if let Ok(page) = meshcat.static_html() {
        std::fs::write(folder.join("pick.html"), page)?;
        println!("the motion is in {}", folder.join("pick.html").display());
    }
    Ok(())
}
