//! Contacts, point clouds, and the default visualization.

use crate::support::{Page, field, is, server};
use nalgebra::{Isometry3, Matrix4, Vector3};
use std::collections::BTreeMap;
use tarragon_framework::prelude::*;
use tarragon_geometry::{
    FrameId, FramePoseVector, GeometryFrame, GeometryInstance, ProximityProperties, SceneGraph,
    SourceId, Sphere,
};
use tarragon_sensors::{BaseField, PointCloud};
use tarragon_visualization::{
    ContactVisualizer, ContactVisualizerParams, Meshcat, MeshcatPointCloudVisualizer,
    MeshcatVisualizer, MeshcatVisualizerParams, VisualizationConfig, VisualizationConnections,
    add_default_visualization, apply_visualization_config, start_meshcat,
};

/// Returns the messages of a kind that a new page receives: the values by path.
fn told(meshcat: &Meshcat, kind: &str, key: &str) -> BTreeMap<String, rmpv::Value> {
    let replay = Page::connect(meshcat).replay();
    let found = replay.iter().filter(|m| is(kind)(m));
    let path = |m: &rmpv::Value| field(m, "path").unwrap().as_str().unwrap().to_owned();
    let name = |m: &rmpv::Value| match field(m, "property") {
        Some(property) => format!("{} {}", path(m), property.as_str().unwrap()),
        None => path(m),
    };
    found.map(|m| (name(m), field(m, key).unwrap())).collect()
}

fn matrix(value: &rmpv::Value) -> Matrix4<f64> {
    let elements = value.as_array().unwrap().iter();
    Matrix4::from_iterator(elements.map(|x| x.as_f64().unwrap()))
}

/// Returns two balls of 0.1 m radius in two models, as in Drake's multibody.
fn balls() -> (SceneGraph, SourceId, [FrameId; 2]) {
    let mut scene = SceneGraph::new();
    let source = scene.register_source("toys").unwrap();
    let frames = [("ba", "c1"), ("bb", "c2")].map(|(body, name)| {
        let frame = GeometryFrame::new(format!("m1::{body}"));
        let frame = scene.register_frame(source, frame).unwrap();
        let ball = Sphere::new(0.1).unwrap();
        let ball = GeometryInstance::new(Isometry3::identity(), ball, &format!("m1::{name}"))
            .unwrap()
            .with_proximity(ProximityProperties::new());
        scene.register_geometry(source, frame, ball).unwrap();
        frame
    });
    (scene, source, frames)
}

/// Paths, poses and sizes equal those of Drake 1.51.1 for a force of 1 N at the same contact: 1000
/// N/m times a depth of 1 mm.
#[test]
fn arrows_equal_drakes() {
    let meshcat = server();
    let (scene, source, [a, b]) = balls();
    let mut builder = DiagramBuilder::new();
    let scene = builder.add("scene_graph", scene);
    let params = ContactVisualizerParams::default();
    ContactVisualizer::add_to_builder(&mut builder, scene.query, meshcat.clone(), params).unwrap();
    let diagram = builder.build().unwrap();
    let mut ctx = diagram.default_context();
    let mut publish = |z: f64| {
        let poses = [
            (a, Isometry3::identity()),
            (b, Isometry3::translation(0.0, 0.0, z)),
        ];
        let poses = FramePoseVector::from_iter(poses);
        ctx.fix(scene.source_pose_port(source).unwrap(), poses)
            .unwrap();
        ctx.force_publish().unwrap();
    };
    publish(0.3);
    assert!(!meshcat.has_path("contact_forces"));
    // Below the threshold of 0.01 N.
    publish(0.2 - 0.9e-5);
    assert!(!meshcat.has_path("contact_forces"));
    publish(0.199);
    let path = "/drake/contact_forces/point/ba.c1+bb.c2";
    let objects = told(&meshcat, "set_object", "object");
    let expected = ["cylinder", "head", "tail"].map(|part| format!("{path}/{part}"));
    assert_eq!(objects.keys().cloned().collect::<Vec<_>>(), expected);
    let transforms = told(&meshcat, "set_transform", "matrix");
    let x = matrix(&transforms[path]);
    // Midway between the witness points, with the force on B upwards; rounded to a few 1e-17 m.
    assert!((x.column(2) - nalgebra::vector![0.0, 0.0, 1.0, 0.0]).norm() < 1e-12);
    assert!((x.column(3) - nalgebra::vector![0.0, 0.0, 0.0995, 1.0]).norm() < 1e-12);
    let properties = told(&meshcat, "set_property", "value");
    assert_eq!(properties[&format!("{path} visible")], true.into());
    let scale = &properties[&format!("{path}/cylinder scale")];
    assert!((scale[2].as_f64().unwrap() - 0.1).abs() < 1e-12, "{scale}");
    for (part, z, direction) in [("head", -0.104, 1.0), ("tail", 0.104, -1.0)] {
        let x = matrix(&transforms[&format!("{path}/{part}")]);
        assert!((x[(2, 3)] - z).abs() < 1e-12, "{part}");
        assert_eq!(x[(2, 2)], direction, "{part}");
    }

    publish(0.3);
    let properties = told(&meshcat, "set_property", "value");
    assert_eq!(properties[&format!("{path} visible")], false.into());
    publish(0.199);
    let properties = told(&meshcat, "set_property", "value");
    assert_eq!(properties[&format!("{path} visible")], true.into());

    // A deep overlap: half the diagonal of the box around a ball, not 100 times the depth.
    publish(0.1);
    let properties = told(&meshcat, "set_property", "value");
    let scale = &properties[&format!("{path}/cylinder scale")];
    let length = scale[2].as_f64().unwrap();
    assert!((length - 0.1 * 3.0_f64.sqrt()).abs() < 1e-6, "{length}");
}

#[test]
fn recorded_arrows_are_hidden_until_contact() {
    let meshcat = server();
    let (scene, source, [a, b]) = balls();
    let mut builder = DiagramBuilder::new();
    let scene = builder.add("scene_graph", scene);
    let params = ContactVisualizerParams::default();
    ContactVisualizer::add_to_builder(&mut builder, scene.query, meshcat.clone(), params).unwrap();
    let diagram = builder.build().unwrap();
    let mut ctx = diagram.default_context();
    meshcat.start_recording(10.0, false).unwrap();
    for k in 0..6 {
        let z = if k < 3 { 0.3 } else { 0.199 };
        let poses = [
            (a, Isometry3::identity()),
            (b, Isometry3::translation(0.0, 0.0, z)),
        ];
        let poses = FramePoseVector::from_iter(poses);
        ctx.fix(scene.source_pose_port(source).unwrap(), poses)
            .unwrap();
        ctx.set_time(0.1 * f64::from(k) + 0.01);
        ctx.force_publish().unwrap();
    }
    meshcat.publish_recording();
    let replay = Page::connect(&meshcat).replay();
    let animation = replay.iter().find(|m| is("set_animation")(m)).unwrap();
    let text = animation.to_string();
    // Hidden at frame 0, visible at frames 3, 4 and 5.
    assert_eq!(text.matches("\"value\": false").count(), 1, "{text}");
    assert_eq!(text.matches("\"value\": true").count(), 3, "{text}");
}

#[test]
fn errors_explain_invalid_parameters() {
    let meshcat = server();
    let default = ContactVisualizerParams::default;
    for (params, words) in [
        (
            ContactVisualizerParams {
                publish_period: f64::NAN,
                ..default()
            },
            "publish period must be positive and finite, got NaN s",
        ),
        (
            ContactVisualizerParams {
                radius: 0.0,
                ..default()
            },
            "radius must be positive and finite, got 0.0",
        ),
        (
            ContactVisualizerParams {
                force_threshold: -1.0,
                ..default()
            },
            "force_threshold must be 0 N or more, got -1.0 N",
        ),
    ] {
        let error = ContactVisualizer::new(meshcat.clone(), params).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }
    let cloud = |path: &str| MeshcatPointCloudVisualizer::new(meshcat.clone(), path);
    let error = cloud("/drake").unwrap_err().to_string();
    assert!(
        error.contains("the path must not be the root, got '/drake'"),
        "{error}"
    );
    let error = cloud("c").unwrap().with_publish_period(-1.0).unwrap_err();
    assert!(error.to_string().contains("got -1.0 s"), "{error}");
    let error = cloud("c").unwrap().set_point_size(0.0).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("point size must be positive and finite, got 0.0 m"),
        "{error}"
    );
}

#[test]
fn point_clouds_are_shown_where_they_are() {
    let meshcat = server();
    let mut visualizer = MeshcatPointCloudVisualizer::new(meshcat.clone(), "camera/points")
        .unwrap()
        .with_publish_period(0.5)
        .unwrap();
    visualizer.set_point_size(0.004).unwrap();
    visualizer.set_default_rgba(tarragon_geometry::Rgba::WHITE);
    let mut b = DiagramBuilder::new();
    let visualizer = b.add("cloud", visualizer);
    let diagram = b.build().unwrap();
    let mut ctx = diagram.default_context();
    assert!(ctx.force_publish().is_err(), "the cloud must be connected");
    let mut cloud = PointCloud::new(3, BaseField::XYZS);
    cloud.xyzs_mut()[1] = Vector3::new(0.0, 0.0, 1.0);
    ctx.fix(visualizer.cloud, cloud).unwrap();
    ctx.force_publish().unwrap();
    let path = "/drake/camera/points";
    let pose = || matrix(&told(&meshcat, "set_transform", "matrix")[path]);
    assert_eq!(pose(), Matrix4::identity());
    let x_pc = Isometry3::translation(1.0, 2.0, 3.0);
    ctx.fix(visualizer.x_parent_cloud, x_pc).unwrap();
    let mut sim = Simulator::new(&diagram, ctx).unwrap();
    sim.advance_to(0.1).unwrap();
    assert_eq!(pose(), x_pc.to_homogeneous());
    let object = &told(&meshcat, "set_object", "object")[path];
    let material = &field(object, "materials").unwrap()[0];
    assert_eq!(field(material, "size").unwrap().as_f64(), Some(0.004));
    assert_eq!(field(material, "color").unwrap().as_u64(), Some(0xff_ff_ff));
    visualizer.system().delete();
    assert!(!meshcat.has_path(path));
}

/// The systems that Drake adds for Meshcat, and YAML as Drake writes it.
#[test]
fn the_default_visualization_equals_drakes() {
    let meshcat = server();
    let (scene, source, [a, b]) = balls();
    let mut builder = DiagramBuilder::new();
    let scene = builder.add("scene_graph", scene);
    let shown = add_default_visualization(&mut builder, Some(meshcat.clone())).unwrap();
    assert!(shown.contact.is_some() && shown.meshcat.is_some());
    let diagram = builder.build().unwrap();
    let names: Vec<String> = diagram.systems().map(|s| s.path.clone()).collect();
    assert_eq!(
        names,
        [
            "scene_graph",
            "meshcat_visualizer(illustration)",
            "meshcat_visualizer(proximity)",
            "meshcat_contact_visualizer"
        ]
    );
    let mut ctx = diagram.default_context();
    let at = Isometry3::identity();
    let poses = FramePoseVector::from_iter([(a, at), (b, at)]);
    ctx.fix(scene.source_pose_port(source).unwrap(), poses)
        .unwrap();
    Simulator::new(&diagram, ctx).unwrap().initialize().unwrap();
    assert_eq!(meshcat.slider_names(), Vec::<String>::new());
    let visible = told(&meshcat, "set_property", "value");
    assert_eq!(visible["/drake/illustration visible"], true.into());
    assert_eq!(visible["/drake/proximity visible"], false.into());
    assert!(meshcat.has_path("proximity/m1/bb/m1/c2"));

    let text = "lcm_bus: default
publish_period: 0.015625
publish_illustration: true
default_illustration_color:
  rgba: [0.9, 0.9, 0.9, 1.0]
publish_proximity: true
default_proximity_color:
  rgba: [0.8, 0.0, 0.0, 1.0]
initial_proximity_alpha: 0.5
publish_contacts: true
publish_inertia: true
enable_meshcat_creation: true
delete_on_initialization_event: true
enable_alpha_sliders: false
";
    let config = VisualizationConfig::from_yaml(text).unwrap();
    assert_eq!(config, VisualizationConfig::default());
    assert_eq!(config.to_yaml().unwrap(), text);
}

#[test]
fn configurations_select_systems_and_parameters() {
    let mut builder = DiagramBuilder::new();
    builder.add("scene_graph", balls().0);
    let config = VisualizationConfig {
        enable_meshcat_creation: false,
        ..Default::default()
    };
    let shown = apply_visualization_config(&config, &mut builder, Default::default()).unwrap();
    assert!(shown.meshcat.is_none() && shown.illustration.is_none());

    let meshcat = server();
    let config = VisualizationConfig {
        publish_illustration: false,
        enable_alpha_sliders: true,
        ..config
    };
    let given = VisualizationConnections {
        meshcat: Some(meshcat.clone()),
        ..Default::default()
    };
    let shown = apply_visualization_config(&config, &mut builder, given).unwrap();
    assert!(shown.illustration.is_none() && shown.proximity.is_some());
    assert_eq!(meshcat.slider_names(), ["proximity \u{3b1}"]);
    assert_eq!(meshcat.slider_value("proximity \u{3b1}").unwrap(), 0.5);

    for (text, words) in [
        ("publish_perod: 1", "publish_perod"),
        (
            "publish_period: 0",
            "the publish period must be positive and finite, got 0.0 s",
        ),
        (
            "initial_proximity_alpha: 2",
            "initial_proximity_alpha must be from 0 to 1, got 2.0",
        ),
        (
            "default_proximity_color: {rgba: [1]}",
            "3 or 4 channels, got 1",
        ),
        ("default_proximity_color: {rgba: [2, 0, 0]}", "from 0 to 1"),
    ] {
        let error = VisualizationConfig::from_yaml(text)
            .unwrap_err()
            .to_string();
        assert!(error.contains(words), "{error}");
    }
}

/// Drake, for comparison, names the second system by its address.
#[test]
fn a_taken_default_name_gets_a_numeric_suffix() {
    let meshcat = server();
    let mut b = DiagramBuilder::new();
    let scene = b.add("scene_graph", balls().0);
    for _ in 0..2 {
        let params = MeshcatVisualizerParams::default();
        MeshcatVisualizer::add_to_builder(&mut b, scene.query, meshcat.clone(), params).unwrap();
        let params = ContactVisualizerParams::default();
        ContactVisualizer::add_to_builder(&mut b, scene.query, meshcat.clone(), params).unwrap();
    }
    add_default_visualization(&mut b, Some(meshcat.clone())).unwrap();
    let diagram = b.build().unwrap();
    let names: Vec<String> = diagram.systems().map(|s| s.path.clone()).collect();
    assert_eq!(
        names[1..],
        [
            "meshcat_visualizer(visualizer)",
            "meshcat_contact_visualizer",
            "meshcat_visualizer(visualizer) (2)",
            "meshcat_contact_visualizer (2)",
            "meshcat_visualizer(illustration)",
            "meshcat_visualizer(proximity)",
            "meshcat_contact_visualizer (3)",
        ]
    );
}

#[test]
fn the_scene_is_found_by_name_or_passed() {
    let config = VisualizationConfig {
        enable_meshcat_creation: false,
        ..Default::default()
    };
    let mut b = DiagramBuilder::new();
    let found = apply_visualization_config(&config, &mut b, Default::default());
    let error = found.err().unwrap().to_string();
    assert!(
        error.contains("'scene_graph'") && error.contains("VisualizationConnections"),
        "{error}"
    );
    let scene = b.add("another_name", balls().0);
    let given = VisualizationConnections {
        scene_graph: Some(&scene),
        meshcat: Some(server()),
        ..Default::default()
    };
    let shown = apply_visualization_config(&config, &mut b, given).unwrap();
    assert!(shown.illustration.is_some() && b.build().is_ok());
}

#[test]
fn start_meshcat_listens_at_a_default_port() {
    let meshcat = start_meshcat().unwrap();
    assert!((7000..8000).contains(&meshcat.port()), "{}", meshcat.port());
}

/// Drake 1.51.1 publishes once, at time 0.
#[test]
fn a_cloud_without_a_period_is_shown_once() {
    let meshcat = server();
    let visualizer = MeshcatPointCloudVisualizer::new(meshcat.clone(), "c").unwrap();
    let visualizer = visualizer.with_publish_period(0.0).unwrap();
    let mut b = DiagramBuilder::new();
    let visualizer = b.add("cloud", visualizer);
    let diagram = b.build().unwrap();
    let mut ctx = diagram.default_context();
    ctx.fix(visualizer.cloud, PointCloud::new(1, BaseField::XYZS))
        .unwrap();
    let mut sim = Simulator::new(&diagram, ctx).unwrap();
    sim.initialize().unwrap();
    assert!(meshcat.has_path("c"));
    visualizer.system().delete();
    sim.advance_to(1.0).unwrap();
    assert!(!meshcat.has_path("c"), "the cloud is not shown again");
    sim.context().force_publish().unwrap();
    assert!(meshcat.has_path("c"));
    for wrong in [-1.0, f64::NAN, f64::INFINITY] {
        let visualizer = MeshcatPointCloudVisualizer::new(meshcat.clone(), "c").unwrap();
        assert!(visualizer.with_publish_period(wrong).is_err(), "{wrong}");
    }
}
