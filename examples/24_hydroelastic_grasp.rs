//! Soft fingers lift a mug and tilt it, by the pressure on their contact surfaces.
//!
//! ```text
//! cargo run --release --example 24_hydroelastic_grasp
//! ```
//!
//! The pads of the fingers are compliant, and the mug is a rigid mesh with a handle and a hollow.
//! Prints after each phase the contact surface of each finger (its area, faces and largest
//! pressure), its grip force, the moment about the line between the fingers, which a contact point
//! could not transmit, and how far the mug has slipped and turned in the grip. Writes `grasp.html`
//! to `target/24_hydroelastic_grasp/`, which plays the motion without a server, with pressures from
//! black to white and arrows of forces (red) and moments (blue).

#![allow(clippy::print_stdout, reason = "examples show what they do")]

use std::path::Path;
use tarragon::framework::trajectories::PiecewisePolynomial;
use tarragon::multibody::{MultibodyPlantPorts, VisualProperties};
use tarragon::prelude::*;
use tarragon::visualization::{
    ContactVisualizer, ContactVisualizerParams, VisualizationConfig, VisualizationConnections,
    apply_visualization_config,
};

/// Height of the grasp above the table at the start (m), and above the foot of the mug.
const GRASP: f64 = 0.05;
/// Position of each finger (m): open, and 10 mm inside the mug, so that the controllers press.
const OPEN: f64 = 0.06;
const CLOSED: f64 = 0.03;

/// The phases: name, duration (s), height (m) and tilt (rad) of the gripper and position of the
/// fingers (m) at the end.
const PHASES: [(&str, f64, [f64; 3]); 4] = [
    ("grasp", 0.5, [GRASP, 0.0, CLOSED]),
    ("lift", 0.6, [0.2, 0.0, CLOSED]),
    ("tilt", 0.6, [0.2, 0.8, CLOSED]),
    ("hold", 0.5, [0.2, 0.8, CLOSED]),
];

/// Adds gripper, mug and table, and the controllers of the gripper.
fn add_models(plant: &mut MultibodyPlantBuilder, scene: &mut SceneGraph) -> Result<()> {
    let models = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/models");
    let mut parser = Parser::with_scene_graph(plant, scene);
    let gripper = parser.add_models(format!("{models}/gripper/soft_gripper.urdf"))?[0];
    parser.add_models(format!("{models}/table_top/mug_hydroelastic.urdf"))?;
    // The table has a cloth of 5 mm: a rigid mug has no contact surface with a rigid table.
    let cloth = ProximityProperties::new().with_compliant_hydroelastic(1e6)?;
    let cloth = cloth.with_slab_thickness(0.005)?;
    let (world, top) = (BodyIndex::WORLD, Isometry3::identity());
    plant.register_collision_geometry(scene, world, top, HalfSpace, "cloth", cloth)?;
    let (below, board) = (
        Isometry3::translation(0.0, 0.0, -0.01),
        BoxShape::new(0.4, 0.4, 0.02)?,
    );
    let wood = VisualProperties {
        illustration: Some(IllustrationProperties::phong(Rgba::new(
            0.5, 0.35, 0.2, 1.0,
        )?)),
        ..VisualProperties::default()
    };
    plant.register_visual_geometry(scene, world, below, board, "board", wood)?;
    plant.set_gravity_enabled(gripper, false)?;
    for (motor, p, d) in [
        ("lift_motor", 2e4, 400.0),
        ("tilt_motor", 100.0, 2.0),
        ("left_finger_joint_motor", 1500.0, 30.0),
        ("right_finger_joint_motor", 1500.0, 30.0),
    ] {
        let motor = plant.joint_actuator_by_name(motor)?;
        plant.set_controller_gains(motor, PdControllerGains { p, d })?;
    }
    Ok(())
}

/// Shows everything, with arrows of a length that suits forces of some newtons.
fn add_visualizers(
    b: &mut DiagramBuilder,
    plant: &Block<MultibodyPlant>,
    scene: &Block<SceneGraph>,
    meshcat: &Meshcat,
) -> Result<()> {
    let config = VisualizationConfig {
        publish_contacts: false,
        ..VisualizationConfig::default()
    };
    let connections = VisualizationConnections {
        meshcat: Some(meshcat.clone()),
        ..VisualizationConnections::default()
    };
    apply_visualization_config(&config, b, connections)?;
    let params = ContactVisualizerParams {
        newtons_per_meter: 200.0,
        newton_meters_per_meter: 1.0,
        radius: 0.001,
        ..ContactVisualizerParams::default()
    };
    let shown = ContactVisualizer::add_to_builder(b, scene.query, meshcat.clone(), params)?;
    b.connect(plant.contact_results()?, shown.contact_results);
    Ok(())
}

/// Returns the pose of the mug in the palm.
fn mug_in_palm(plant: &MultibodyPlantPorts<f64>, context: &Context<f64>) -> Result<Isometry3<f64>> {
    let pose = |name| plant.frame_pose(context, plant.frame_by_name(name)?);
    Ok(pose("palm")?.inverse() * pose("mug")?)
}

fn main() -> Result<()> {
    let (mut plant, mut scene) = (MultibodyPlantBuilder::new(0.001)?, SceneGraph::new());
    plant.set_contact_model(ContactModel::HydroelasticWithFallback); // also the default
    add_models(&mut plant, &mut scene)?;
    let mut plant = plant.build_with_scene(&mut scene)?;

    // A trajectory that rests between phases: lift, tilt, left and right finger.
    let joints = |[z, tilt, finger]: [f64; 3]| vec![z, tilt, finger, finger];
    let (mut breaks, mut samples) = (vec![0.0], vec![joints([GRASP, 0.0, OPEN])]);
    for (_, duration, end) in PHASES {
        breaks.push(breaks[breaks.len() - 1] + duration);
        samples.push(joints(end));
    }
    let gripper = plant.model_instance_by_name("soft_gripper")?;
    plant.set_default_positions_in(gripper, &samples[0])?;
    let rest = vec![vec![0.0; 4]; samples.len()];
    let path = PiecewisePolynomial::cubic_hermite(&breaks, &samples, &rest)?;

    let mut b = DiagramBuilder::new();
    let (plant, scene) = add_multibody_plant_scene_graph(&mut b, plant, scene)?;
    let path = b.add("path", TrajectorySource::new(path, 1));
    b.connect(path.y, plant.desired_state_in(gripper)?);
    let meshcat = Meshcat::new(MeshcatParams::default())?;
    add_visualizers(&mut b, &plant, &scene, &meshcat)?;
    let diagram = b.build()?;
    let mut sim = Simulator::new(&diagram, diagram.default_context())?;
    meshcat.set_camera_pose(&[0.18, -0.3, 0.2].into(), &[0.0, 0.0, 0.17].into())?;
    meshcat.start_recording(32.0, true)?;

    println!(
        "phase | finger | area (mm^2) | faces | pressure (kPa) | grip (N) | moment (N mm) | \
         the mug has moved"
    );
    let mut held = None;
    for ((phase, ..), end) in PHASES.iter().zip(&breaks[1..]) {
        sim.advance_to(*end)?;
        let now = mug_in_palm(&plant, sim.context())?;
        let moved = held.get_or_insert(now).inverse() * now;
        let (slip, turn) = (moved.translation.vector.norm(), moved.rotation.angle());
        let contacts = sim.context().eval(plant.contact_results()?)?;
        for finger in ["left_finger", "right_finger"] {
            let body = plant.body_by_name(finger)?;
            let of_finger = contacts
                .hydroelastic_contacts()
                .iter()
                .filter(|c| [c.body_a, c.body_b].contains(&body));
            for contact in of_finger {
                let surface = &contact.contact_surface;
                let pressures = surface.vertex_pressures().iter();
                // The fingers close along y.
                let force = contact.f_ac_w.translational.y.abs();
                let moment = contact.f_ac_w.rotational.y.abs();
                println!(
                    "{phase:5} | {:6} | {:11.1} | {:5} | {:14.2} | {force:8.2} | {:13.2} | \
                     {:.3} mm, {:.3} degrees",
                    finger.trim_end_matches("_finger"),
                    1e6 * surface.total_area(),
                    surface.num_faces(),
                    1e-3 * pressures.fold(0.0_f64, |most, p| most.max(*p)),
                    1e3 * moment,
                    1e3 * slip,
                    turn.to_degrees(),
                );
            }
        }
        assert!(slip < 5e-4 && turn < 5e-3, "the mug slipped");
    }
    meshcat.stop_recording();
    meshcat.publish_recording();
    if let Ok(page) = meshcat.static_html() {
        let folder = Path::new("target/24_hydroelastic_grasp");
        std::fs::create_dir_all(folder)?;
        std::fs::write(folder.join("grasp.html"), page)?;
        println!("the motion is in {}", folder.join("grasp.html").display());
    }
    Ok(())
}
