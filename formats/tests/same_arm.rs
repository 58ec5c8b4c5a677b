//! The seven-joint arm of `examples/models` is the same robot in URDF, SDFormat and MJCF. The last
//! test loads the scene of model directives that contains it.

use nalgebra::{DVector, Isometry3, Point3};
use proptest::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use tarragon_formats::*;
use tarragon_framework::math::{pose_xyz_rpy, rotation_log};
use tarragon_framework::prelude::*;
use tarragon_geometry::{GeometryId, Role, SceneGraph, Shape};
use tarragon_multibody::*;

fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/models")
}

struct Arm {
    format: &'static str,
    plant: MultibodyPlant,
    scene: SceneGraph,
}

/// The arm from URDF, SDFormat and MJCF, in this order; all are fixed to the world.
static ARMS: LazyLock<[Arm; 3]> = LazyLock::new(|| {
    ["urdf", "sdf", "xml"].map(|format| {
        let mut plant = MultibodyPlantBuilder::new(0.0).unwrap();
        let mut scene = SceneGraph::new();
        let mut parser = Parser::with_scene_graph(&mut plant, &mut scene);
        parser.set_strict_parsing(true);
        let file = models().join(format!("arm7/arm7.{format}"));
        parser.add_models(file).unwrap();
        if format != "xml" {
            let base = plant.frame_by_name("base_link").unwrap();
            let x_wb = Isometry3::identity();
            plant.weld_frames(FrameIndex::WORLD, base, x_wb).unwrap();
        }
        let plant = plant.build_with_scene(&mut scene).unwrap();
        Arm {
            format,
            plant,
            scene,
        }
    })
});

/// Names of the bodies in the order of the plant, without the world.
fn bodies(plant: &MultibodyPlant) -> Vec<&str> {
    plant.bodies().skip(1).map(|(_, b)| b.name()).collect()
}

/// Joints with positions, in the order of `q`.
fn moving(plant: &MultibodyPlant) -> Vec<(JointIndex, &Joint)> {
    let joints = plant.joints().filter(|(_, j)| j.num_positions() > 0);
    let mut joints: Vec<(JointIndex, &Joint)> = joints.collect();
    joints.sort_by_key(|(index, _)| plant.position_start(*index).unwrap());
    joints
}

/// Largest component of the difference of two poses: translation (m) or rotation vector (rad).
fn difference(a: &Isometry3<f64>, b: &Isometry3<f64>) -> f64 {
    let p = (a.translation.vector - b.translation.vector).amax();
    p.max(rotation_log(&(a.rotation.inverse() * b.rotation)).amax())
}

#[test]
fn joints_limits_and_motors_are_equal() {
    let [urdf, others @ ..] = &*ARMS;
    let names: Vec<&str> = moving(&urdf.plant).iter().map(|(_, j)| j.name()).collect();
    let joints = [
        "joint1", "joint2", "joint3", "joint4", "joint5", "joint6", "joint7",
    ];
    assert_eq!(names, joints);
    let efforts = |plant: &MultibodyPlant| -> Vec<(String, f64)> {
        let name = |a: &JointActuator| plant.joint(a.joint().unwrap()).unwrap().name().to_owned();
        let actuators = plant.actuators().iter();
        actuators.map(|a| (name(a), a.effort_limit())).collect()
    };
    let expected = [170.0, 170.0, 110.0, 110.0, 45.0, 45.0, 20.0];
    let expected = joints.map(str::to_owned).into_iter().zip(expected);
    assert_eq!(efforts(&urdf.plant), expected.collect::<Vec<_>>());
    for Arm { format, plant, .. } in others {
        assert_eq!(bodies(plant), bodies(&urdf.plant), "{format}");
        assert_eq!(efforts(plant), efforts(&urdf.plant), "{format}");
        for ((_, a), (_, b)) in moving(plant).iter().zip(moving(&urdf.plant)) {
            assert_eq!(a.name(), b.name(), "{format}");
            assert_eq!(a.kind(), b.kind(), "{format}");
            assert_eq!(a.damping(), b.damping(), "{format}");
            assert_eq!(a.position_lower_limits(), b.position_lower_limits());
            assert_eq!(a.position_upper_limits(), b.position_upper_limits());
            // MJCF has no velocity limits.
            let unlimited = [f64::INFINITY];
            let velocity = match *format {
                "xml" => &unlimited,
                _ => b.velocity_upper_limits(),
            };
            assert_eq!(a.velocity_upper_limits(), velocity, "{format}");
        }
        for ((_, a), (_, b)) in plant.bodies().zip(urdf.plant.bodies()) {
            assert_eq!(a.spatial_inertia().mass(), b.spatial_inertia().mass());
        }
    }
}

#[test]
fn shapes_are_equal() {
    /// Shapes with a role, body by body: body name, shape and pose in the body frame. File names of
    /// meshes omit the folder.
    fn shapes(arm: &Arm, role: Role) -> Vec<(String, String, Isometry3<f64>)> {
        let inspector = arm.scene.model_inspector();
        let describe = |id: GeometryId| match inspector.shape(id).unwrap() {
            Shape::Mesh(m) => {
                let file = m.source().path().unwrap().file_name().unwrap();
                format!("{file:?} {:?}", m.scale3())
            }
            other => format!("{other:?}"),
        };
        let mut all = vec![];
        for (index, body) in arm.plant.bodies() {
            let ids = match role {
                Role::Proximity => arm.plant.collision_geometries(index),
                _ => arm.plant.visual_geometries(index),
            };
            for id in ids {
                let shape = describe(*id);
                let x_bg = *inspector.pose_in_frame(*id).unwrap();
                all.push((body.name().to_owned(), shape, x_bg));
            }
        }
        all
    }
    let [urdf, others @ ..] = &*ARMS;
    for (role, count) in [(Role::Proximity, 23), (Role::Perception, 12)] {
        let expected = shapes(urdf, role);
        assert_eq!(expected.len(), count);
        for arm in others {
            let found = shapes(arm, role);
            assert_eq!(found.len(), count, "{}", arm.format);
            for (a, b) in found.iter().zip(&expected) {
                assert_eq!((&a.0, &a.1), (&b.0, &b.1), "{}", arm.format);
                // Room for the rounding of the sines of the angles.
                assert!(difference(&a.2, &b.2) < 1e-15, "{} {}", arm.format, a.0);
            }
        }
    }
}

#[test]
fn collision_candidates_are_equal() {
    let names = |arm: &Arm| -> Vec<(String, String)> {
        let inspector = arm.scene.model_inspector();
        let body = |id| {
            let frame = inspector.frame_id(id).unwrap();
            let body = arm.plant.body_from_frame_id(frame).unwrap();
            arm.plant.body(body).unwrap().name().to_owned()
        };
        let pairs = inspector.collision_candidates().into_iter();
        let pairs = pairs.map(|(a, b)| (body(a), body(b)));
        // In MuJoCo, a body collides with a parent that is fixed to the world.
        let first = ("base_link".to_owned(), "link1".to_owned());
        pairs.filter(|pair| *pair != first).collect()
    };
    let [urdf, others @ ..] = &*ARMS;
    let expected = names(urdf);
    assert!(expected.contains(&("base_link".into(), "link2".into())));
    assert!(!expected.contains(&("link1".into(), "link2".into())));
    // MuJoCo filters link6 against all that is welded to its child, link7.
    let hand = ["link7", "flange", "gripper", "left_finger", "right_finger"];
    let is_filtered = |(a, b): &(String, String)| a == "link6" && hand.contains(&b.as_str());
    for arm in others {
        let mut expected = expected.clone();
        if arm.format == "xml" {
            expected.retain(|pair| !is_filtered(pair));
        }
        assert_eq!(names(arm), expected, "{}", arm.format);
    }
}

proptest! {
    #[test]
    fn kinematics_and_dynamics_agree(
        q in prop::array::uniform7(-3.0..3.0_f64),
        v in prop::array::uniform7(-2.0..2.0_f64),
    ) {
        let [urdf, others @ ..] = &*ARMS;
        let of = |plant: &MultibodyPlant| {
            let positions = plant.calc_position_kinematics(&q).unwrap();
            let motion = plant.calc_velocity_kinematics(&positions, &v).unwrap();
            (
                plant.calc_mass_matrix(&positions).unwrap(),
                DVector::from(plant.calc_gravity_generalized_forces(&positions).unwrap()),
                DVector::from(plant.calc_bias_term(&positions, &motion).unwrap()),
                positions,
            )
        };
        let (mass, gravity, bias, positions) = of(&urdf.plant);
        prop_assert!(gravity.amax() < 120.0);
        for Arm { format, plant, .. } in others {
            let (m, g, b, x) = of(plant);
            prop_assert!((m - &mass).amax() < 1e-12, "mass matrix of {}", format);
            // Torques of up to 120 N m.
            prop_assert!((g - &gravity).amax() < 1e-12, "gravity of {}", format);
            prop_assert!((b - &bias).amax() < 1e-12, "bias of {}", format);
            for (x, expected) in x.body_poses().iter().zip(positions.body_poses()) {
                prop_assert!(difference(x, expected) < 1e-12, "poses of {}", format);
            }
        }
    }
}

#[test]
fn bodies_of_the_scene_are_where_its_list_of_objects_says() {
    let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
    let mut scene = SceneGraph::new();
    let mut parser = Parser::with_scene_graph(&mut plant, &mut scene);
    parser.set_strict_parsing(true);
    parser
        .package_map_mut()
        .populate_from_folder(models())
        .unwrap();
    let file = models().join("scenes/table_top_planning.dmd.yaml");
    parser.add_models(file).unwrap();
    let plant = plant.build_with_scene(&mut scene).unwrap();
    assert_eq!(plant.num_positions(), 7 + 2 + 6 * 7);

    let q = plant.default_positions();
    let positions = plant.calc_position_kinematics(&q).unwrap();
    let x_wb = |name: &str| *positions.x_wb(plant.body_by_name(name).unwrap());
    let text = std::fs::read(models().join("table_top/scene.json")).unwrap();
    let list: serde_json::Value = serde_json::from_slice(&text).unwrap();
    for object in list["objects"].as_array().unwrap() {
        let vector = |key: &str| serde_json::from_value::<[f64; 3]>(object[key].clone()).unwrap();
        let name = object["name"].as_str().unwrap();
        let expected = pose_xyz_rpy(vector("xyz").into(), vector("rpy").into());
        // The directives give angles in degrees with nine digits.
        let error = difference(&x_wb(&format!("{name}::{name}")), &expected);
        assert!(error < 1e-8, "{name}: {error}");
    }
    // Recorded from Drake 1.51.1 for the same file.
    let finger = x_wb("gripper::left_finger") * Point3::origin();
    let expected = Point3::new(0.43353107, -0.12022425, 0.41196468);
    assert!((finger - expected).amax() < 1e-8, "{finger}");
    let overview = plant.frame_by_name("overview_camera").unwrap();
    let overview = plant.calc_frame_pose(&positions, overview).unwrap();
    let forward = overview * nalgebra::Vector3::z();
    let expected = nalgebra::Vector3::new(-0.6818161949, 0.6536678198, -0.3283977127);
    assert!((forward - expected).amax() < 1e-8, "{forward}");

    let mut b = DiagramBuilder::new();
    let (_, scene) = add_multibody_plant_scene_graph(&mut b, plant, scene).unwrap();
    let ctx = b.build().unwrap().default_context();
    let query = ctx.eval(scene.query).unwrap();
    assert!(!query.has_collisions().unwrap());
    let inspector = query.inspector();
    let body = |id| {
        inspector
            .frame_name(inspector.frame_id(id).unwrap())
            .unwrap()
    };
    let near = query
        .compute_signed_distance_pairwise_closest_points(0.053)
        .unwrap();
    let mut near: Vec<(f64, &str, &str)> = near
        .iter()
        .map(|pair| (pair.distance, body(pair.id_a), body(pair.id_b)))
        .collect();
    near.sort_by(|a, b| a.0.total_cmp(&b.0));
    // Drake's values; its general solver is accurate to 1e-6 m.
    assert_eq!(near.len(), 3, "{near:?}");
    assert_eq!((near[0].1, near[0].2), ("arm7::link5", "arm7::link7"));
    assert!((near[0].0 - 0.028210847).abs() < 1e-6, "{near:?}");
    assert_eq!(
        (near[2].1, near[2].2),
        ("gripper::left_finger", "gripper::right_finger")
    );
    assert!((near[2].0 - 2.0 * 0.026).abs() < 1e-6, "{near:?}");
}
