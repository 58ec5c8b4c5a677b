//! Sliders as inputs of simulations, compared with Drake 1.51.1.

use crate::support::{Page, field, is, server, wait_for};
use nalgebra::{Isometry3, Vector3};
use std::time::{Duration, Instant};
use tarragon_formats::Parser;
use tarragon_framework::math;
use tarragon_framework::prelude::*;
use tarragon_framework::primitives::ConstantValueSource;
use tarragon_geometry::SceneGraph;
use tarragon_multibody::{
    MultibodyPlant, MultibodyPlantBuilder, PositionSource, add_multibody_plant_scene_graph,
};
use tarragon_visualization::{
    JointSliders, JointSlidersParams, Meshcat, MeshcatPoseSliders, MeshcatPoseSlidersParams,
    MeshcatVisualizer, RunOptions, SliderValues,
};

/// A shoulder with limits, an elbow without, and a free body.
const ARM: &str = r#"<robot name="arm">
    <link name="world"/>
    <link name="upper"/>
    <link name="lower"><visual><geometry><sphere radius="0.1"/></geometry></visual></link>
    <link name="free"/>
    <joint name="shoulder" type="revolute"><parent link="world"/><child link="upper"/>
        <axis xyz="0 0 1"/><limit lower="-1" upper="2"/></joint>
    <joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/>
        <origin xyz="1 0 0"/></joint>
</robot>"#;

fn plant() -> (MultibodyPlantBuilder, SceneGraph) {
    let (mut plant, mut scene) = (MultibodyPlantBuilder::new(0.01).unwrap(), SceneGraph::new());
    Parser::with_scene_graph(&mut plant, &mut scene)
        .add_models_from_string(ARM, "urdf")
        .unwrap();
    (plant, scene)
}

fn built() -> MultibodyPlant {
    let (plant, mut scene) = plant();
    plant.build_with_scene(&mut scene).unwrap()
}

/// Returns `name min max step value keys` of all sliders as a page receives them.
fn controls(meshcat: &Meshcat) -> Vec<String> {
    let replay = Page::connect(meshcat).replay();
    let controls = replay.iter().filter(|m| is("set_control")(m));
    let text = |m: &rmpv::Value, key: &str| {
        let value = field(m, key).unwrap();
        value
            .as_str()
            .map_or_else(|| value.to_string(), String::from)
    };
    let keys = [
        "name", "min", "max", "step", "value", "keycode1", "keycode2",
    ];
    controls
        .map(|m| keys.map(|key| text(m, key)).join(" ").trim_end().to_owned())
        .collect()
}

#[test]
fn joint_sliders_equal_drakes() {
    let meshcat = server();
    let sliders = JointSliders::new(meshcat.clone(), &built(), Default::default()).unwrap();
    let mut expected = vec![
        "shoulder/arm -1 2 0.01 0".to_owned(),
        "elbow/arm -10 10 0.01 0".to_owned(),
        "free_qw/arm -10 10 0.01 1".to_owned(),
    ];
    let rest = ["qx", "qy", "qz", "x", "y", "z"];
    expected.extend(rest.map(|s| format!("free_{s}/arm -10 10 0.01 0")));
    let mut found = controls(&meshcat);
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
    assert_eq!(sliders.slider_names().count(), 9);
    // As in Drake, the sliders are removed with their system.
    drop(sliders);
    assert_eq!(meshcat.slider_names(), Vec::<String>::new());
}

#[test]
fn positions_follow_the_sliders() {
    let meshcat = server();
    let params = JointSlidersParams {
        initial_value: Some(vec![0.333, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
        lower_limit: SliderValues::from_iter([("elbow", -3.0), ("shoulder/arm", -5.0)]),
        upper_limit: 3.0.into(),
        step: vec![0.1; 9].into(),
        decrement_keycodes: vec!["KeyA".into(); 9],
        ..Default::default()
    };
    let sliders = JointSliders::new(meshcat.clone(), &built(), params).unwrap();
    let first = &controls(&meshcat)[..2];
    assert!(
        first.contains(&"shoulder/arm -1 2 0.1 0.30000000000000004 KeyA".into()),
        "{first:?}"
    );
    assert!(
        first.contains(&"elbow/arm -3 3 0.1 0 KeyA".into()),
        "{first:?}"
    );

    let mut b = DiagramBuilder::new();
    let sliders = b.add("sliders", sliders);
    let diagram = b.build().unwrap();
    let mut ctx = diagram.default_context();
    let near = |q: &[f64], expected: [f64; 2]| {
        // Multiples of the step 0.1 are rounded once.
        let error = (q[0] - expected[0]).abs() + (q[1] - expected[1]).abs();
        assert!(error < 1e-15, "{q:?}");
    };
    near(ctx.eval(sliders.positions).unwrap(), [0.3, 0.0]);
    meshcat.set_slider_value("elbow/arm", 1.5).unwrap();
    near(ctx.eval(sliders.positions).unwrap(), [0.3, 0.0]);
    sliders.refresh(&mut ctx).unwrap();
    near(ctx.eval(sliders.positions).unwrap(), [0.3, 1.5]);
    // When time passes, the sliders are read again.
    meshcat.set_slider_value("elbow/arm", -2.0).unwrap();
    ctx.set_time(1.0);
    near(ctx.eval(sliders.positions).unwrap(), [0.3, -2.0]);

    let system = sliders.system();
    let mut q = [0.5; 9];
    q[0] = 7.0;
    system.set_positions(&q).unwrap();
    assert_eq!(meshcat.slider_value("shoulder/arm").unwrap(), 2.0);
    let error = system.set_positions(&[0.0]).unwrap_err().to_string();
    assert!(
        error.contains("values must be 9 finite numbers, got [0.0]"),
        "{error}"
    );
    assert!(meshcat.delete_slider("elbow/arm", true).unwrap());
    ctx.set_time(2.0);
    near(ctx.eval(sliders.positions).unwrap(), [2.0, 0.5]);
    system.delete();
    ctx.set_time(3.0);
    near(ctx.eval(sliders.positions).unwrap(), [2.0, 0.5]);
    assert_eq!(meshcat.slider_names(), Vec::<String>::new());

    // In dual numbers, the positions are constants.
    let diagram = diagram.to_scalar::<AutoDiff>().unwrap();
    let ports = diagram.ports(&sliders).unwrap();
    let ctx = diagram.default_context();
    assert!(ctx.eval(ports.positions).unwrap()[0].is_same_as(AutoDiff::from(2.0)));
}

#[test]
fn invalid_sliders_are_explained_and_none_is_added() {
    let meshcat = server();
    let fail = |plant: &MultibodyPlant, params: JointSlidersParams, words: &str| {
        let error = JointSliders::new(meshcat.clone(), plant, params).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
        assert_eq!(meshcat.slider_names(), Vec::<String>::new());
    };
    let plant = built();
    let default = JointSlidersParams::default;
    let params = JointSlidersParams {
        initial_value: Some(vec![0.0; 2]),
        ..default()
    };
    fail(
        &plant,
        params,
        "initial_value must have 9 elements, one for each position, got 2",
    );
    let params = JointSlidersParams {
        lower_limit: vec![0.0; 3].into(),
        ..default()
    };
    fail(
        &plant,
        params,
        "lower_limit must have 9 elements, one for each position, got 3",
    );
    let params = JointSlidersParams {
        increment_keycodes: vec!["KeyA".into()],
        ..default()
    };
    fail(
        &plant,
        params,
        "increment_keycodes must have 9 elements, one for each position, got 1",
    );
    let params = JointSlidersParams {
        step: SliderValues::from_iter([("knee", 1.0)]),
        ..default()
    };
    fail(
        &plant,
        params,
        "'knee' is not a position; the sliders are shoulder/arm",
    );
    let params = JointSlidersParams {
        step: SliderValues::from_iter([("elbow", -1.0)]),
        ..default()
    };
    fail(
        &plant,
        params,
        "slider 'elbow/arm': the step must be positive and finite, got -1.0",
    );
    let params = JointSlidersParams {
        lower_limit: 5.0.into(),
        ..default()
    };
    fail(
        &plant,
        params,
        "slider 'shoulder/arm': the range must be two finite numbers in ascending order, got [5.0, 2.0]",
    );

    meshcat.add_button("free_z/arm", "").unwrap();
    fail(&plant, default(), "free_z/arm");
}

/// Returns a diagram of an arm that the visualizer shows.
fn diagram(
    meshcat: &Meshcat,
    source: PositionSource,
) -> (Diagram<f64>, Block<JointSliders>, Block<MultibodyPlant>) {
    let (mut plant, mut scene) = plant();
    plant.set_position_source(source);
    let plant = plant.build_with_scene(&mut scene).unwrap();
    let sliders = JointSliders::new(meshcat.clone(), &plant, Default::default()).unwrap();
    let mut b = DiagramBuilder::new();
    let (plant, scene) = add_multibody_plant_scene_graph(&mut b, plant, scene).unwrap();
    let sliders = b.add("sliders", sliders);
    if let Ok(position) = plant.position() {
        b.connect(sliders.positions, position);
    }
    let (query, shown) = (scene.query, meshcat.clone());
    MeshcatVisualizer::add_to_builder(&mut b, query, shown, Default::default()).unwrap();
    (b.build().unwrap(), sliders, plant)
}

#[test]
fn run_publishes_until_it_is_stopped() {
    for source in [PositionSource::State, PositionSource::InputPort] {
        let meshcat = server();
        let (diagram, sliders, plant) = diagram(&meshcat, source);
        let button = "Stop JointSliders";
        std::thread::scope(|threads| {
            let run = threads.spawn(|| {
                // Ends by itself if a check below fails.
                let options = RunOptions {
                    timeout: Some(20.0),
                    ..Default::default()
                };
                JointSliders::run(&sliders, &plant, &diagram, &options).unwrap()
            });
            let path = "visualizer/arm/lower";
            wait_for("the first publish", || meshcat.has_path(path));
            meshcat.set_slider_value("shoulder/arm", 0.5).unwrap();
            let x = |replay: &[rmpv::Value]| {
                let mut found = replay.iter().filter(|m| is("set_transform")(m));
                let found =
                    found.find(|m| field(m, "path") == Some(format!("/drake/{path}").into()));
                field(found.unwrap(), "matrix").unwrap()[12]
                    .as_f64()
                    .unwrap()
            };
            wait_for("the arm follows", || {
                (x(&Page::connect(&meshcat).replay()) - 0.5_f64.cos()).abs() < 1e-12
            });
            let mut page = Page::connect(&meshcat);
            page.send(&[("type", "button".into()), ("name", button.into())]);
            let q = run.join().unwrap();
            assert_eq!((q[0], q.len()), (0.5, 9));
        });
        assert_eq!(meshcat.button_names(), Vec::<String>::new());

        let start = Instant::now();
        let options = RunOptions {
            timeout: Some(0.05),
            stop_button_keycode: String::new(),
        };
        JointSliders::run(&sliders, &plant, &diagram, &options).unwrap();
        assert!(start.elapsed() >= Duration::from_millis(50));
        let options = RunOptions {
            timeout: Some(-1.0),
            ..options
        };
        let error = JointSliders::run(&sliders, &plant, &diagram, &options).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("timeout must be 0 s or more, got -1.0 s"),
            "{error}"
        );
    }
}

/// Names, ranges and keys as Drake's page receives them.
#[test]
fn pose_sliders_equal_drakes() {
    let meshcat = server();
    let sliders = MeshcatPoseSliders::new(meshcat.clone(), Default::default()).unwrap();
    let pi = "3.141592653589793";
    assert_eq!(
        controls(&meshcat),
        [
            format!("roll -{pi} {pi} 0.01 0 KeyQ KeyE"),
            format!("pitch -{pi} {pi} 0.01 -0 KeyS KeyW"),
            format!("yaw -{pi} {pi} 0.01 0 KeyA KeyD"),
            "x -1 1 0.01 0 KeyJ KeyL".into(),
            "y -1 1 0.01 0 KeyK KeyI".into(),
            "z -1 1 0.01 0 KeyU KeyO".into(),
        ]
    );
    meshcat.set_slider_value("roll", 0.5).unwrap();
    meshcat.set_slider_value("yaw", 1.0).unwrap();
    meshcat.set_slider_value("x", 0.33).unwrap();
    // Recorded from Drake for the same values.
    let r = nalgebra::matrix![
        0.5403023058681398, -0.7384602626041288, 0.4034226801113349;
        0.8414709848078965, 0.4741598817790379, -0.2590347239999257;
        0.0, 0.479425538604203, 0.8775825618903728
    ];
    let pose = sliders.pose();
    // Nine elements, each with a few roundings of numbers up to 1.
    let found = pose.rotation.to_rotation_matrix().into_inner();
    assert!((found - r).norm() < 2e-15, "{found}");
    assert_eq!(pose.translation.vector, Vector3::new(0.33, 0.0, 0.0));
}

#[test]
fn hidden_sliders_keep_their_values() {
    let meshcat = server();
    let start = math::pose(math::rpy(0.1, 0.2, 0.3), Vector3::new(0.4, 0.5, 2.6));
    let params = MeshcatPoseSlidersParams {
        initial_pose: start,
        prefix: "p".into(),
        visible: [false, false, true, true, true, false],
        ..Default::default()
    };
    let sliders = MeshcatPoseSliders::new(meshcat.clone(), params).unwrap();
    assert_eq!(
        sliders.slider_names().collect::<Vec<_>>(),
        ["p_yaw", "p_x", "p_y"]
    );
    let expected = math::pose(math::rpy(0.1, 0.2, 0.3), Vector3::new(0.4, 0.5, 1.0));
    let error = (sliders.pose().to_homogeneous() - expected.to_homogeneous()).norm();
    // Roll and pitch are converted to a quaternion and back.
    assert!(error < 1e-14, "{error}");
    sliders
        .set_pose(&Isometry3::translation(9.0, 9.0, 9.0))
        .unwrap();
    assert_eq!(meshcat.slider_value("p_x").unwrap(), 1.0);
    assert_eq!(sliders.pose().translation.vector, Vector3::repeat(1.0));
    let params = MeshcatPoseSlidersParams {
        lower_limit: [f64::NAN; 6],
        ..Default::default()
    };
    let error = MeshcatPoseSliders::new(meshcat, params).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("'roll': the range must be two numbers in ascending order, got [NaN"),
        "{error}"
    );
}

#[test]
fn sliders_start_at_the_input_pose() {
    let meshcat = server();
    let start = math::pose(math::rpy(0.1, 0.2, 0.3), Vector3::new(0.4, 0.5, 0.6));
    let mut b = DiagramBuilder::new();
    let source = b.add_f64("source", ConstantValueSource::new(start));
    let sliders = MeshcatPoseSliders::new(meshcat.clone(), Default::default()).unwrap();
    let sliders = b.add_f64("sliders", sliders);
    b.connect(source.y, sliders.initial_pose);
    let diagram = b.build().unwrap();
    let ctx = diagram.default_context();
    // The output before the initialization, which is cached.
    assert_eq!(ctx.eval(sliders.pose).unwrap().translation.x, 0.0);
    let mut sim = Simulator::new(&diagram, ctx).unwrap();
    sim.initialize().unwrap();
    let pose = sim.context().eval(sliders.pose).unwrap();
    // Multiples of the step 0.01 are rounded.
    assert!((pose.translation.vector - start.translation.vector).norm() < 1e-15);
    assert!((meshcat.slider_value("pitch").unwrap() - 0.2).abs() < 1e-15);
    let mut ctx = diagram.default_context();
    let options = RunOptions {
        timeout: Some(0.0),
        ..Default::default()
    };
    let last = MeshcatPoseSliders::run(&sliders, &mut ctx, &options).unwrap();
    assert_eq!(last.translation, pose.translation);
}

/// As in Drake 1.51.1.
#[test]
fn deletions_report_whether_the_control_existed() {
    let meshcat = server();
    meshcat.add_slider("s", 0.0, 1.0, 0.1, 0.5).unwrap();
    meshcat.add_button("b", "").unwrap();
    for strict in [false, true] {
        let slider = meshcat.delete_slider("b", strict);
        let button = meshcat.delete_button("s", strict);
        for (deleted, what) in [
            (slider, "no slider named 'b'"),
            (button, "no button named 's'"),
        ] {
            match deleted {
                Ok(deleted) => assert!(!deleted && !strict),
                Err(e) => assert!(strict && e.to_string().contains(what), "{e}"),
            }
        }
    }
    assert!(meshcat.delete_slider("s", false).unwrap());
    assert!(!meshcat.delete_slider("s", false).unwrap());
    assert!(meshcat.delete_slider("s", true).is_err());
    assert!(meshcat.delete_button("b", true).unwrap());
    assert_eq!(
        meshcat.button_names().len() + meshcat.slider_names().len(),
        0
    );
}
