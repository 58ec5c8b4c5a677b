//! Joints with quaternions. All values are closed forms: without forces, a body about a principal
//! axis turns by `w t`.

use nalgebra::Vector3;
use tarragon_formats::{MjcfSemantics, Parser};
use tarragon_framework::math;
use tarragon_framework::prelude::*;
use tarragon_geometry::SceneGraph;
use tarragon_multibody::{JointKind, MultibodyPlantBuilder, add_multibody_plant_scene_graph};

/// Turns a weightless body about the y axis at `speed` (rad/s) until `end` (s), in steps of 10 ms,
/// and returns its quaternion w, x, y, z.
fn turned(joint: &str, speed: f64, end: f64) -> Vec<f64> {
    turned_with(true, joint, speed, end)
}

fn turned_with(exact: bool, joint: &str, speed: f64, end: f64) -> Vec<f64> {
    let text = format!(
        "<mujoco model='m'><option gravity='0 0 0' timestep='.01'/><worldbody>
         <body pos='0 0 1'>{joint}<geom type='ellipsoid' size='.1 .2 .3'/></body></worldbody></mujoco>"
    );
    let (mut plant, mut scene) = (MultibodyPlantBuilder::new(0.01).unwrap(), SceneGraph::new());
    let mut parser = Parser::with_scene_graph(&mut plant, &mut scene);
    parser.add_models_from_string(&text, "xml").unwrap();
    plant.set_exact_rotations(exact);
    let mut b = DiagramBuilder::new();
    let (plant, _) = add_multibody_plant_scene_graph(&mut b, plant, scene).unwrap();
    let diagram = b.build().unwrap();
    let mut ctx = diagram.default_context();
    let mut v = vec![0.0; plant.num_velocities()];
    v[1] = speed;
    plant.set_velocities(&mut ctx, &v).unwrap();
    let mut sim = Simulator::new(&diagram, ctx).unwrap();
    sim.advance_to(end).unwrap();
    let q = plant.positions(sim.context()).unwrap();
    q[..4].to_vec()
}

fn assert_turned_about_y(q: &[f64], angle: f64) {
    let r = math::axis_angle(&Vector3::y_axis(), angle);
    let sign = (r.w * q[0] + r.j * q[2]).signum();
    for (found, expected) in q.iter().zip([r.w, r.i, r.j, r.k]) {
        // A few hundred products are rounded.
        assert!((found * sign - expected).abs() < 1e-12, "{q:?} {r}");
    }
}

#[test]
fn a_ball_joint_of_mjcf_turns_over_the_top() {
    // A turn of 5 rad passes pitches of 90 and 270 degrees, where roll and yaw are undefined.
    let q = turned("<joint type='ball'/>", 10.0, 0.5);
    assert_turned_about_y(&q, 5.0);
}

/// Adding `N(q) v dt`, as Drake does, would make the quaternion 9 times as long in a tenth of this
/// time, and turn it by `2 atan(0.5)` per step.
#[test]
fn a_discrete_step_turns_by_the_angular_velocity() {
    for joint in ["<freejoint/>", "<joint type='ball'/>"] {
        assert_turned_about_y(&turned(joint, 100.0, 2.0), 200.0);
    }
}

/// Each of the two steps multiplies the quaternion by `1 + j w dt / 2`.
#[test]
fn drakes_rule_makes_quaternions_longer() {
    let q = turned_with(false, "<freejoint/>", 100.0, 0.02);
    for (found, expected) in q.iter().zip([0.75, 0.0, 1.0, 0.0]) {
        assert!((found - expected).abs() < 1e-14, "{q:?}");
    }
}

#[test]
fn drakes_reading_keeps_roll_pitch_and_yaw() {
    let text = "<mujoco model='m'><worldbody><body><joint name='j' type='ball'/><geom size='.1'/>
      </body></worldbody></mujoco>";
    for (semantics, expected) in [
        (MjcfSemantics::MuJoCo, JointKind::BallQuaternion),
        (MjcfSemantics::Drake, JointKind::BallRpy),
    ] {
        let mut plant = MultibodyPlantBuilder::new(0.01).unwrap();
        let mut parser = Parser::new(&mut plant);
        parser.set_mjcf_semantics(semantics);
        parser.add_models_from_string(text, "xml").unwrap();
        let joint = plant.joint(plant.joint_by_name("j").unwrap()).unwrap();
        assert_eq!(joint.kind(), &expected);
    }
}
