//! A gripper with two soft fingers lifts a box.
//!
//! ```text
//! cargo run --release --example 29_soft_gripper
//! ```
//!
//! The pads of the fingers are deformable bodies, whose backs are fixed to rigid plates that motors
//! press together; friction holds the box. Prints after each phase where the box is, and force and
//! squeeze of each pad. A camera writes a colour and a depth image of each phase to
//! `target/29_soft_gripper/`.

#![allow(clippy::print_stdout, reason = "examples show what they do")]

#[allow(dead_code, reason = "shared with 28_soft_ball")]
#[path = "support/tetrahedra.rs"]
mod tetrahedra;

use std::path::Path;
use tarragon::fem::DeformableBodyConfig;
use tarragon::framework::trajectories::PiecewisePolynomial;
use tarragon::multibody::VisualProperties;
use tarragon::prelude::*;
use tarragon::sensors::save_image;
use tetrahedra::Tetrahedra;

/// Edge (m) and mass (kg) of the box.
const EDGE: f64 = 0.05;
const MASS: f64 = 0.2;
/// Size of a pad (m).
const PAD: [f64; 3] = [0.03, 0.02, 0.04];
/// Distance of each pad from the middle (m): open, and pressed together.
const OPEN: f64 = 0.05;
const CLOSED: f64 = EDGE / 2.0 - 0.004;
/// Height of the fingers above the table at the start (m), and by which they lift.
const GRASP: f64 = 0.03;
const LIFT: f64 = 0.15;

/// The phases: name, duration (s), and height and distance of the fingers at the end (m).
const PHASES: [(&str, f64, [f64; 2]); 3] = [
    ("grasp", 0.3, [GRASP, CLOSED]),
    ("lift", 0.5, [GRASP + LIFT, CLOSED]),
    ("hold", 0.2, [GRASP + LIFT, CLOSED]),
];

/// A palm that moves up, and two plates that it moves towards each other. The pads are on their
/// sides at y = 0.
const GRIPPER: &str = "<robot name='gripper'>
  <link name='palm'><inertial><mass value='0.4'/>
    <inertia ixx='1e-3' ixy='0' ixz='0' iyy='1e-3' iyz='0' izz='1e-3'/></inertial>
    <visual><origin xyz='0 0 0.06'/><geometry><box size='0.04 0.2 0.02'/></geometry></visual></link>
  <link name='left'><inertial><mass value='0.1'/>
    <inertia ixx='1e-4' ixy='0' ixz='0' iyy='1e-4' iyz='0' izz='1e-4'/></inertial>
    <visual><origin xyz='0 0.025 0.015'/><geometry><box size='0.03 0.01 0.07'/></geometry></visual></link>
  <link name='right'><inertial><mass value='0.1'/>
    <inertia ixx='1e-4' ixy='0' ixz='0' iyy='1e-4' iyz='0' izz='1e-4'/></inertial>
    <visual><origin xyz='0 0.025 0.015'/><geometry><box size='0.03 0.01 0.07'/></geometry></visual></link>
  <joint name='lift' type='prismatic'><parent link='world'/><child link='palm'/><axis xyz='0 0 1'/>
    <limit lower='0' upper='1' effort='100'/></joint>
  <joint name='left_joint' type='prismatic'><parent link='palm'/><child link='left'/>
    <axis xyz='0 1 0'/><limit lower='0' upper='0.1' effort='100'/></joint>
  <joint name='right_joint' type='prismatic'><origin rpy='0 0 3.141592653589793'/>
    <parent link='palm'/><child link='right'/><axis xyz='0 1 0'/>
    <limit lower='0' upper='0.1' effort='100'/></joint>
  <transmission><type>SimpleTransmission</type><joint name='lift'/><actuator name='lift_motor'/>
  </transmission>
  <transmission><type>SimpleTransmission</type><joint name='left_joint'/>
    <actuator name='left_motor'/></transmission>
  <transmission><type>SimpleTransmission</type><joint name='right_joint'/>
    <actuator name='right_motor'/></transmission>
</robot>";

/// The look of a thing, for viewers and for cameras.
fn look([r, g, b]: [f64; 3]) -> Result<VisualProperties> {
    let colour = Rgba::new(r, g, b, 1.0)?;
    Ok(VisualProperties {
        illustration: Some(IllustrationProperties::phong(colour)),
        perception: Some(PerceptionProperties::phong(colour)),
    })
}

/// Adds the table, and the box on it.
fn add_box(plant: &mut MultibodyPlantBuilder, scene: &mut SceneGraph) -> Result<BodyIndex> {
    let (world, below) = (BodyIndex::WORLD, Isometry3::translation(0.0, 0.0, -0.01));
    let (table, plain) = (BoxShape::new(0.5, 0.5, 0.02)?, ProximityProperties::new());
    plant.register_collision_geometry(scene, world, below, table, "table", plain)?;
    plant.register_visual_geometry(scene, world, below, table, "table", look([0.5, 0.4, 0.3])?)?;
    let moment = MASS * EDGE * EDGE / 6.0;
    let urdf = format!(
        "<robot name='box'><link name='box'><inertial><mass value='{MASS}'/>
         <inertia ixx='{moment}' ixy='0' ixz='0' iyy='{moment}' iyz='0' izz='{moment}'/>
         </inertial></link></robot>"
    );
    Parser::with_scene_graph(plant, scene).add_models_from_string(&urdf, "urdf")?;
    let body = plant.body_by_name("box")?;
    let (cube, middle) = (BoxShape::new(EDGE, EDGE, EDGE)?, Isometry3::identity());
    // Deformable bodies touch hydroelastic meshes; the table touches the box at points.
    let mut wood = ProximityProperties::new().with_friction(CoulombFriction::new(1.0, 1.0)?);
    wood.set_untyped("hydroelastic", "hydroelastic_modulus", 1e7);
    wood.set_untyped("hydroelastic", "resolution_hint", EDGE);
    plant.register_collision_geometry(scene, body, middle, cube, "box", wood)?;
    plant.register_visual_geometry(scene, body, middle, cube, "box", look([0.2, 0.45, 0.8])?)?;
    plant.set_default_free_body_pose(body, Isometry3::translation(0.0, 0.0, EDGE / 2.0))?;
    Ok(body)
}

fn main() -> Result<()> {
    let folder = Path::new("target/29_soft_gripper");
    std::fs::create_dir_all(folder)?;
    let (mut plant, mut scene) = (MultibodyPlantBuilder::new(0.005)?, SceneGraph::new());
    // The box stands on the table at several points.
    plant.set_contact_model(ContactModel::PointManifold);
    scene.add_renderer(
        "cpu",
        RenderEngineCpu::new(RenderEngineCpuParams::studio())?,
    )?;
    let mut parser = Parser::with_scene_graph(&mut plant, &mut scene);
    let gripper = parser.add_models_from_string(GRIPPER, "urdf")?[0];
    let block = add_box(&mut plant, &mut scene)?;
    plant.set_gravity_enabled(gripper, false)?;
    for (motor, p, d) in [
        ("lift_motor", 2e4, 400.0),
        ("left_motor", 4000.0, 80.0),
        ("right_motor", 4000.0, 80.0),
    ] {
        let motor = plant.joint_actuator_by_name(motor)?;
        plant.set_controller_gains(motor, PdControllerGains { p, d })?;
    }

    // A pad is made of 2 by 2 by 3 cells, and begins at y = 0 in the frame of its plate.
    let size = Vector3::from(PAD).component_div(&Vector3::new(2.0, 2.0, 3.0));
    let low = Vector3::new(-PAD[0] / 2.0, 0.0, -PAD[2] / 2.0);
    let file = folder.join("pad.vtk");
    Tetrahedra::fill(low, size, [2, 2, 3], |_| true).save(&file)?;
    let rubber = DeformableBodyConfig {
        youngs_modulus: 1.5e5,
        poissons_ratio: 0.4,
        mass_density: 1000.0,
        stiffness_damping_coefficient: 0.01,
        ..DeformableBodyConfig::default()
    };
    let orange = look([0.95, 0.55, 0.15])?;
    let turned = math::rotation_z(std::f64::consts::PI);
    let mut pads = vec![];
    for (name, turn, y) in [
        ("left", UnitQuaternion::identity(), OPEN),
        ("right", turned, -OPEN),
    ] {
        let at = math::pose(turn, Vector3::new(0.0, y, GRASP));
        let mut pad = GeometryInstance::new(at, Mesh::new(&file), &format!("{name} pad"))?
            .with_proximity(
                ProximityProperties::new().with_friction(CoulombFriction::new(1.0, 1.0)?),
            );
        pad.set_illustration_properties(orange.illustration.clone().unwrap_or_default());
        pad.set_perception_properties(orange.perception.clone().unwrap_or_default());
        let pad = plant.register_deformable_body(&mut scene, pad, &rubber, 1.0)?;
        // The vertices of its back are inside the plate.
        let plate = Shape::from(BoxShape::new(0.04, 0.01, 0.05)?);
        let (here, behind) = (
            Isometry3::identity(),
            Isometry3::translation(0.0, PAD[1] + 0.004, 0.0),
        );
        let finger = plant.body_by_name(name)?;
        plant.add_fixed_constraint(pad, finger, &here, &plate, &behind)?;
        pads.push((name, pad));
    }
    let mut plant = plant.build_with_scene(&mut scene)?;

    // A trajectory that rests between phases: lift, left and right finger.
    let joints = |[z, y]: [f64; 2]| vec![z, y, y];
    let (mut breaks, mut samples) = (vec![0.0], vec![joints([GRASP, OPEN])]);
    for (_, duration, end) in PHASES {
        breaks.push(breaks[breaks.len() - 1] + duration);
        samples.push(joints(end));
    }
    plant.set_default_positions_in(gripper, &samples[0])?;
    let rest = vec![vec![0.0; 3]; samples.len()];
    let path = PiecewisePolynomial::cubic_hermite(&breaks, &samples, &rest)?;

    let mut b = DiagramBuilder::new();
    let (plant, scene) = add_multibody_plant_scene_graph(&mut b, plant, scene)?;
    let path = b.add("path", TrajectorySource::new(path, 1));
    b.connect(path.y, plant.desired_state_in(gripper)?);
    let info = CameraInfo::from_fov_y(640, 480, 0.6)?;
    let camera = DepthRenderCamera::new("cpu", info).with_depth_range(0.05..5.0)?;
    let from = look_at(&[0.45, -0.3, 0.28].into(), &[0.0, 0.0, 0.1].into());
    let world = scene.world_frame_id();
    let camera = b.add_f64("camera", RgbdSensor::from_depth_camera(world, from, camera));
    b.connect(scene.query, camera.geometry_query);
    let diagram = b.build()?;
    let mut sim = Simulator::new(&diagram, diagram.default_context())?;

    println!("phase | box at x, y, z (mm)      | pad   | force (N) | squeezed by (mm)");
    let mut grasped = None;
    for ((phase, ..), end) in PHASES.iter().zip(&breaks[1..]) {
        sim.advance_to(*end)?;
        let context = sim.context();
        let at = context.eval(plant.body_poses)?[block.index()]
            .translation
            .vector;
        let contacts = context.eval(plant.contact_results()?)?;
        for (name, pad) in &pads {
            let id = plant.deformable_body(*pad)?.geometry_id();
            let on_pad = contacts
                .deformable_contacts()
                .iter()
                .filter(|c| c.id_a == id);
            let force: Vector3<f64> = on_pad.map(|c| c.f_ac_w.translational).sum();
            let points = plant.deformable_positions(context, *pad)?;
            let low = points.iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
            let high = points.iter().map(|p| p.y).fold(f64::NEG_INFINITY, f64::max);
            println!(
                "{phase:5} | {:7.2} {:7.2} {:7.2} | {name:5} | {:9.2} | {:6.2}",
                1e3 * at.x,
                1e3 * at.y,
                1e3 * at.z,
                force.y.abs(),
                1e3 * (PAD[1] - (high - low)),
            );
        }
        grasped.get_or_insert(at);
        let colour = folder.join(format!("{phase}.png"));
        save_image(context.eval(camera.color_image)?, &colour)?;
        let depth = folder.join(format!("{phase}_depth.tiff"));
        save_image(context.eval(camera.depth_image_32f)?, &depth)?;
    }
    let at = sim.context().eval(plant.body_poses)?[block.index()]
        .translation
        .vector;
    let lifted = at.z - grasped.map_or(0.0, |p| p.z);
    let slipped = LIFT - lifted;
    println!(
        "the box was lifted by {:.1} mm of {:.1} mm, and slipped by {:.2} mm",
        1e3 * lifted,
        1e3 * LIFT,
        1e3 * slipped
    );
    assert!(slipped.abs() < 5e-3, "the box was not lifted");
    Ok(())
}
