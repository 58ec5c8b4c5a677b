//! Contacts by LCM, and the messages that a configuration publishes.

use crate::drake_visualizer::scene::{Scene, Touch};
use crate::drake_visualizer::{Heard, only};
use crate::support::{Page, field, is};
use nalgebra::{Isometry3, Vector3};
use std::collections::BTreeMap;
use tarragon_framework::prelude::*;
use tarragon_geometry::{HalfSpace, ProximityProperties, SceneGraph, Shape, Sphere};
use tarragon_lcm::types::LcmtContactResultsForViz;
use tarragon_lcm::{Lcm, LcmBuses};
use tarragon_multibody::{
    BodyIndex, ModelInstanceIndex, MultibodyPlant, MultibodyPlantBuilder, PositionSource,
    SpatialInertia, add_multibody_plant_scene_graph,
};
use tarragon_visualization::{
    ContactResultsToLcmSystem, ContactVisualizer, ContactVisualizerParams, Meshcat, MeshcatParams,
    VisualizationConfig, VisualizationConnections, apply_visualization_config,
    connect_contact_results_to_drake_visualizer,
};

#[test]
fn contacts_have_the_names_and_signs_of_drake() {
    let heard = Heard::new();
    let mut scene = SceneGraph::new();
    let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
    plant
        .register_as_source_for_scene_graph(&mut scene)
        .unwrap();
    let instances = ["left", "right"].map(|name| plant.add_model_instance(name).unwrap());
    let bodies = [
        ("ball", instances[0]),
        ("ball", instances[1]),
        ("a::b", instances[1]),
    ];
    let bodies = bodies.map(|(name, instance)| {
        let body = plant
            .add_rigid_body(name, instance, SpatialInertia::zero())
            .unwrap();
        let ball = Sphere::new(0.1).unwrap();
        plant
            .register_collision_geometry(
                &mut scene,
                body,
                Isometry3::identity(),
                ball,
                "ball",
                Default::default(),
            )
            .unwrap();
        body
    });
    plant
        .register_collision_geometry(
            &mut scene,
            BodyIndex::WORLD,
            Isometry3::identity(),
            HalfSpace,
            "floor",
            Default::default(),
        )
        .unwrap();
    plant.set_position_source(PositionSource::InputPort);
    for (i, body) in bodies.into_iter().enumerate() {
        let at = Isometry3::translation(0.19 * i as f64, 0.0, 0.099);
        plant.set_default_free_body_pose(body, at).unwrap();
    }
    let mut b = DiagramBuilder::new();
    let (plant, scene) = add_multibody_plant_scene_graph(&mut b, plant, scene).unwrap();
    let lcm = Some(heard.lcm.clone());
    connect_contact_results_to_drake_visualizer(&mut b, &plant, &scene, lcm, None).unwrap();
    let mut ctx = b.build().unwrap().default_context();
    let q = plant.default_positions();
    ctx.fix(plant.position().unwrap(), q).unwrap();
    ctx.set_time(0.0333);
    ctx.force_publish().unwrap();
    let message: LcmtContactResultsForViz = only(&heard.take(), "CONTACT_RESULTS");
    assert_eq!(
        (message.timestamp, message.hydroelastic_contacts.len()),
        (33300, 0)
    );
    let contacts = &message.point_pair_contact_info;
    let names = contacts.iter().map(|c| [&*c.body1_name, &*c.body2_name]);
    // As in Drake for the same plant.
    let expected = [
        ["ball(2)", "ball(3)"],
        ["ball(2)", "world(0)"],
        ["ball(3)", "a::b(3)"],
        ["ball(3)", "world(0)"],
        ["a::b(3)", "world(0)"],
    ];
    assert_eq!(names.collect::<Vec<_>>(), expected);
    // Stiffness 1000 N/m; the balls penetrate each other by 1 cm and the floor by 1 mm.
    let expected = [
        ([0.095, 0.0, 0.099], [10.0, 0.0, 0.0]),
        ([0.0, 0.0, -0.0005], [0.0, 0.0, -1.0]),
        ([0.285, 0.0, 0.099], [10.0, 0.0, 0.0]),
        ([0.19, 0.0, -0.0005], [0.0, 0.0, -1.0]),
        ([0.38, 0.0, -0.0005], [0.0, 0.0, -1.0]),
    ];
    for (contact, (point, force)) in contacts.iter().zip(expected) {
        let close = |a: [f64; 3], b: [f64; 3]| (Vector3::from(a) - Vector3::from(b)).norm() < 1e-9;
        assert!(close(contact.contact_point, point), "{contact:?}");
        assert!(close(contact.contact_force, force), "{contact:?}");
        let force = Vector3::from(force);
        assert!(
            close(contact.normal, (-force.normalize()).into()),
            "{contact:?}"
        );
        assert_eq!(contact.timestamp, 33300);
    }
}

/// Adds a ball of 2 kg, at the origin of its body and 0.1 m above a floor, to a diagram. Both have
/// the properties.
pub(crate) fn ball_on_floor(
    b: &mut DiagramBuilder,
    properties: impl Fn(&str) -> ProximityProperties,
) -> (Block<MultibodyPlant>, Block<SceneGraph>) {
    let (mut plant, mut scene) = (
        MultibodyPlantBuilder::new(0.001).unwrap(),
        SceneGraph::new(),
    );
    plant
        .register_as_source_for_scene_graph(&mut scene)
        .unwrap();
    let inertia = nalgebra::Matrix3::from_diagonal_element(0.01);
    let inertia = SpatialInertia::from_central(2.0, Vector3::zeros(), inertia).unwrap();
    let ball = plant
        .add_rigid_body("ball", ModelInstanceIndex::DEFAULT, inertia)
        .unwrap();
    let x = Isometry3::identity();
    let sphere = Sphere::new(0.1).unwrap();
    for (body, shape, name) in [
        (ball, sphere.into(), "ball"),
        (BodyIndex::WORLD, Shape::from(HalfSpace), "floor"),
    ] {
        plant
            .register_collision_geometry(&mut scene, body, x, shape, name, properties(name))
            .unwrap();
    }
    let above = Isometry3::translation(0.0, 0.0, 0.1);
    plant.set_default_free_body_pose(ball, above).unwrap();
    add_multibody_plant_scene_graph(b, plant, scene).unwrap()
}

pub(crate) fn soft_ball(name: &str) -> ProximityProperties {
    if name != "ball" {
        return ProximityProperties::new().with_rigid_hydroelastic();
    }
    let soft = ProximityProperties::new().with_compliant_hydroelastic(1e5);
    soft.unwrap().with_resolution_hint(0.02).unwrap()
}

/// The force of a ball that rests on the floor is its weight.
#[test]
fn forces_of_a_plant_are_shown() {
    let heard = Heard::new();
    let mut b = DiagramBuilder::new();
    let (plant, scene) = ball_on_floor(&mut b, |_| ProximityProperties::new());
    let lcm = Some(heard.lcm.clone());
    connect_contact_results_to_drake_visualizer(&mut b, &plant, &scene, lcm, None).unwrap();
    let diagram = b.build().unwrap();
    let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
    sim.advance_to(0.5).unwrap();
    heard.take();
    sim.context_mut().force_publish().unwrap();
    let message: LcmtContactResultsForViz = only(&heard.take(), "CONTACT_RESULTS");
    let [contact] = &*message.point_pair_contact_info else {
        panic!("{message:?}");
    };
    let weight = contact.contact_force[2].abs();
    // Half a second of settling leaves some oscillation.
    assert!((weight - 2.0 * 9.81).abs() < 0.1, "{contact:?}");
}

/// On LCM, a contact surface has Drake's names; in Meshcat it has a mesh and arrows, which go with
/// it.
#[test]
fn contact_surfaces_of_a_plant_are_shown() {
    let heard = Heard::new();
    let meshcat = Meshcat::new(MeshcatParams {
        port: Some(0),
        ..Default::default()
    })
    .unwrap();
    let mut b = DiagramBuilder::new();
    let (plant, scene) = ball_on_floor(&mut b, soft_ball);
    let lcm = Some(heard.lcm.clone());
    connect_contact_results_to_drake_visualizer(&mut b, &plant, &scene, lcm, None).unwrap();
    let params = ContactVisualizerParams::default();
    let shown = ContactVisualizer::add_to_builder(&mut b, scene.query, meshcat.clone(), params);
    b.connect(
        plant.contact_results().unwrap(),
        shown.unwrap().contact_results,
    );
    let diagram = b.build().unwrap();
    let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
    sim.advance_to(1.0).unwrap();
    heard.take();
    sim.context_mut().force_publish().unwrap();
    let message: LcmtContactResultsForViz = only(&heard.take(), "CONTACT_RESULTS");
    let [surface] = &*message.hydroelastic_contacts else {
        panic!("{message:?}");
    };
    assert_eq!(
        [
            &*surface.geometry1_name,
            &*surface.body1_name,
            &*surface.body2_name
        ],
        ["ball", "ball", "world"]
    );
    assert!(surface.body1_unique && surface.collision_count1 == 1);
    assert!(
        (surface.force_C_W[2] - 2.0 * 9.81).abs() < 0.1,
        "{surface:?}"
    );
    assert_eq!(surface.p_WV.len(), surface.pressure.len());
    let (mut at, mut faces) = (0, 0);
    while at < surface.poly_data.len() {
        at += 1 + surface.poly_data[at] as usize;
        faces += 1;
    }
    assert!(at == surface.poly_data.len() && faces > 4);

    let path = "contact_forces/hydroelastic/ball.ball+world.floor";
    let mesh = format!("{path}/contact_surface");
    assert!(meshcat.has_path(&mesh) && meshcat.has_path(&format!("{path}/force_C_W/cylinder")));
    let up = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];
    plant.set_positions(sim.context_mut(), up).unwrap();
    sim.advance_to(1.01).unwrap();
    sim.context_mut().force_publish().unwrap();
    assert!(!meshcat.has_path(&mesh));
}

/// Records a ball that falls on the floor and is lifted at 0.35 s, up to 0.6 s in frames of 0.1 s.
/// Returns the values of `visible` in the animation, by path and frame, and those of the scene.
fn recorded_visibility(bytes: usize) -> [BTreeMap<String, bool>; 2] {
    let meshcat = MeshcatParams {
        port: Some(0),
        ..Default::default()
    };
    let meshcat = Meshcat::new(meshcat).unwrap();
    let mut b = DiagramBuilder::new();
    let (plant, scene) = ball_on_floor(&mut b, soft_ball);
    let params = ContactVisualizerParams {
        publish_period: 0.1,
        recorded_surface_bytes: bytes,
        ..Default::default()
    };
    let shown = ContactVisualizer::add_to_builder(&mut b, scene.query, meshcat.clone(), params);
    let contacts = plant.contact_results().unwrap();
    b.connect(contacts, shown.unwrap().contact_results);
    let diagram = b.build().unwrap();
    let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
    meshcat.start_recording(10.0, true).unwrap();
    sim.advance_to(0.35).unwrap();
    let up = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0];
    plant.set_positions(sim.context_mut(), up).unwrap();
    sim.advance_to(0.6).unwrap();
    meshcat.stop_recording();
    meshcat.publish_recording();

    let text = |value: &rmpv::Value, key| field(value, key).unwrap().as_str().unwrap().to_owned();
    let array = |value: &rmpv::Value, key| field(value, key).unwrap().as_array().unwrap().clone();
    let (mut recorded, mut set) = (BTreeMap::new(), BTreeMap::new());
    for message in Page::connect(&meshcat).replay() {
        if is("set_property")(&message) && text(&message, "property") == "visible" {
            let value = field(&message, "value").unwrap().as_bool().unwrap();
            set.insert(text(&message, "path"), value);
        }
        if is("set_animation")(&message) {
            for animation in array(&message, "animations") {
                let path = text(&animation, "path");
                for track in array(&field(&animation, "clip").unwrap(), "tracks") {
                    for key in array(&track, "keys") {
                        if let Some(value) = field(&key, "value").unwrap().as_bool() {
                            let frame = field(&key, "time").unwrap();
                            recorded.insert(format!("{path} {frame}"), value);
                        }
                    }
                }
            }
        }
    }
    let prefix = "/drake/contact_forces/hydroelastic/ball.ball+world.floor/contact_surface";
    [recorded, set].map(|values| {
        let values = values
            .into_iter()
            .filter_map(|(path, value)| Some((path.strip_prefix(prefix)?.to_owned(), value)));
        values.collect()
    })
}

/// Every frame of a recording has its own surface, which no other frame shows.
#[test]
fn contact_surfaces_are_recorded_frame_by_frame() {
    let [recorded, set] = recorded_visibility(1 << 20);
    let expected = [
        // The surface that follows the simulation.
        (" 0", false),
        ("_frames/1 0", false),
        ("_frames/1 1", true),
        ("_frames/1 2", false),
        ("_frames/2 0", false),
        ("_frames/2 2", true),
        ("_frames/2 3", false),
        ("_frames/3 0", false),
        ("_frames/3 3", true),
        ("_frames/3 4", false),
    ];
    let expected = expected.map(|(key, value)| (key.to_owned(), value));
    assert_eq!(recorded, BTreeMap::from(expected));
    let hidden = ["_frames/1", "_frames/2", "_frames/3"].map(|path| (path.to_owned(), false));
    assert_eq!(set, BTreeMap::from(hidden));

    for values in recorded_visibility(0) {
        assert!(values.is_empty(), "a limit of 0 records none: {values:?}");
    }
}

#[test]
fn stiffness_must_be_positive() {
    let system = || ContactResultsToLcmSystem::new(None);
    assert!(system().with_penetration_stiffness(2.0).is_ok());
    for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = system().with_penetration_stiffness(wrong).unwrap_err();
        let text = format!(
            "ContactResultsToLcmSystem: penetration_stiffness must be positive and finite, got {wrong:?} N/m"
        );
        assert_eq!(error.to_string(), text);
    }
}

/// Returns the messages that a configuration publishes.
fn publish(
    config: &VisualizationConfig,
    buses: Option<&LcmBuses>,
) -> tarragon_visualization::Result<()> {
    let mut scene = Scene::anchored();
    scene.geometries[0].proximity = Some(Touch::default());
    let (graph, ..) = scene.register();
    let mut b = DiagramBuilder::new();
    b.add("scene_graph", graph);
    let on = VisualizationConnections {
        lcm_buses: buses,
        ..Default::default()
    };
    let applied = apply_visualization_config(config, &mut b, on)?;
    assert!(applied.meshcat.is_none());
    b.build()
        .unwrap()
        .default_context()
        .force_publish()
        .unwrap();
    Ok(())
}

#[test]
fn a_configuration_publishes_on_the_channels_of_drake() {
    let heard = Heard::new();
    let mut buses = LcmBuses::new();
    buses.add("default", heard.lcm.clone()).unwrap();
    buses
        .add("nobody", Lcm::with_url(LcmBuses::MEMQ_NULL).unwrap())
        .unwrap();
    let config = |lcm_bus: &str, publish_illustration, publish_contacts| VisualizationConfig {
        lcm_bus: lcm_bus.into(),
        publish_illustration,
        publish_contacts,
        enable_meshcat_creation: false,
        ..Default::default()
    };
    publish(&config("default", true, true), Some(&buses)).unwrap();
    let plain = ["LOAD_ROBOT", "DRAW", "DEFORMABLE"];
    let proximity = plain.map(|channel| format!("{channel}_PROXIMITY"));
    let all: Vec<&str> = plain
        .into_iter()
        .chain(proximity.iter().map(|c| &**c))
        .chain(["CONTACT_RESULTS"])
        .collect();
    assert_eq!(heard.channels(), all);
    publish(&config("default", false, false), Some(&buses)).unwrap();
    assert_eq!(heard.channels(), proximity);
    publish(&config("nobody", true, true), Some(&buses)).unwrap();
    publish(&config("default", true, true), None).unwrap();
    assert!(heard.channels().is_empty());

    let error = |bus, buses| {
        publish(&config(bus, true, true), buses)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        error("driver", Some(&buses)),
        "VisualizationConfig: there is no LCM bus 'driver'; the buses are: 'default', 'nobody'"
    );
    assert_eq!(
        error("driver", None),
        "VisualizationConfig: lcm_bus must be 'default' (no publishing) if no buses are given, got 'driver'; \
         pass the buses in VisualizationConnections"
    );
}

#[test]
fn a_bus_passed_directly_precedes_buses_by_name() {
    let heard = Heard::new();
    let mut b = DiagramBuilder::new();
    b.add("scene_graph", Scene::anchored().register().0);
    let config = VisualizationConfig {
        lcm_bus: "driver".into(),
        enable_meshcat_creation: false,
        ..Default::default()
    };
    let on = VisualizationConnections {
        lcm: Some(&heard.lcm),
        ..Default::default()
    };
    apply_visualization_config(&config, &mut b, on.clone()).unwrap();
    // A taken default name gets a suffix.
    apply_visualization_config(&config, &mut b, on).unwrap();
    let diagram = b.build().unwrap();
    let names: Vec<String> = diagram.systems().map(|s| s.path.clone()).collect();
    for name in [
        "drake_visualizer(illustration) (2)",
        "drake_visualizer(proximity) (2)",
        "contact_to_lcm (2)",
        "contact_results_publisher (2)",
    ] {
        assert!(names.iter().any(|n| n == name), "{name}: {names:?}");
    }
    diagram.default_context().force_publish().unwrap();
    assert_eq!(heard.channels().len(), 14);
}
