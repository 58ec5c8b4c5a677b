//! Contents and times of the published messages.

use crate::drake_visualizer::scene::{Form, Frame, Geometry, Look, Scene, Touch};
use crate::drake_visualizer::{Heard, only};
use nalgebra::Vector3;
use tarragon_framework::AutoDiff;
use tarragon_framework::prelude::*;
use tarragon_geometry::*;
use tarragon_lcm::types::{LcmtViewerDraw, LcmtViewerGeometryData, LcmtViewerLoadRobot};
use tarragon_lcm::{Lcm, LcmMessage};
use tarragon_visualization::{
    DrakeVisualizer, DrakeVisualizerParams, connect_drake_visualizer, dispatch_load_message,
};

/// Returns a scene with one moving ball.
fn ball() -> Scene {
    Scene {
        frames: vec![Frame {
            source: 0,
            name: "body".into(),
            group: 3,
            parent: None,
            pose: [-0.6, 0.8, 0.0, 0.0, 1.0, 2.0, 3.0],
        }],
        geometries: vec![Geometry::new(Some(0), "ball", Form::Sphere(0.5))],
        ..Scene::anchored()
    }
}

/// Returns a diagram that shows a scene, its scene graph and a context.
fn diagram(scene: &Scene, lcm: &Lcm) -> (Diagram<f64>, Block<SceneGraph>, Context<f64>) {
    let (graph, sources, frames) = scene.register();
    let mut b = DiagramBuilder::new();
    let graph = b.add("scene_graph", graph);
    let lcm = Some(lcm.clone());
    DrakeVisualizer::add_to_builder(&mut b, graph.query, lcm, scene.params()).unwrap();
    let diagram = b.build().unwrap();
    let mut ctx = diagram.default_context();
    if !frames.is_empty() {
        let port = graph.source_pose_port(sources[0]).unwrap();
        ctx.fix(port, scene.poses(0, &frames)).unwrap();
    }
    (diagram, graph, ctx)
}

const ALL: [&str; 3] = ["LOAD_ROBOT", "DRAW", "DEFORMABLE"];
const AGAIN: [&str; 2] = ["DRAW", "DEFORMABLE"];

#[test]
fn geometry_is_loaded_once_and_drawn_every_period() {
    let heard = Heard::new();
    let (diagram, _, ctx) = diagram(&ball(), &heard.lcm);
    let mut simulator = Simulator::new(&diagram, ctx).unwrap();
    simulator.initialize().unwrap();
    assert_eq!(heard.channels(), ALL);
    simulator.advance_to(0.9 / 64.0).unwrap();
    assert!(heard.channels().is_empty());
    simulator.advance_to(2.0 / 64.0).unwrap();
    let messages = heard.take();
    assert_eq!(messages.len(), 4);
    let times: Vec<i64> = messages
        .iter()
        .filter(|(channel, _)| channel == "DRAKE_VIEWER_DRAW")
        .map(|(_, bytes)| LcmtViewerDraw::decode(bytes).unwrap().timestamp)
        .collect();
    assert_eq!(times, [16, 31]); // 15.625 and 31.25 ms, rounded
    // Drake does not load again either.
    simulator.initialize().unwrap();
    assert_eq!(heard.channels(), AGAIN);
}

#[test]
fn every_context_is_shown_with_its_own_geometry() {
    let heard = Heard::new();
    let mut both = ball();
    both.geometries[0].proximity = Some(Touch::default());
    let (_, graph, mut ctx) = diagram(&both, &heard.lcm);
    ctx.force_publish().unwrap();
    assert_eq!(heard.channels(), ALL);
    // A clone of the context, and a change of another role: nothing is loaded.
    let mut other = ctx.clone();
    let (source, geometry) = {
        let inspector = ctx.eval(graph.query).unwrap().inspector();
        let geometry = inspector.geometry_ids().next().unwrap();
        (inspector.source_id(geometry).unwrap(), geometry)
    };
    let state = graph.geometry_mut(&mut other).unwrap();
    state
        .remove_role(source, geometry, Role::Proximity)
        .unwrap();
    other.force_publish().unwrap();
    assert_eq!(heard.channels(), AGAIN);
    // Changed geometry is loaded, and so is the first geometry when its context publishes again.
    let state = graph.geometry_mut(&mut other).unwrap();
    let wide = Sphere::new(2.0).unwrap();
    state.change_shape(source, geometry, wide, None).unwrap();
    for (ctx, radius) in [(&mut other, 2.0), (&mut ctx, 0.5)] {
        ctx.force_publish().unwrap();
        let messages = heard.take();
        let load: LcmtViewerLoadRobot = only(&messages, "DRAKE_VIEWER_LOAD_ROBOT");
        assert_eq!(load.link[0].geom[0].float_data, [radius]);
        ctx.force_publish().unwrap();
        assert_eq!(heard.channels(), AGAIN);
    }
}

#[test]
fn contexts_of_several_threads_are_drawn_as_they_were_loaded() {
    let heard = Heard::new();
    let mut scene = ball();
    scene.frames.push(Frame {
        name: "other".into(),
        ..scene.frames[0].clone()
    });
    let other = Geometry::new(Some(1), "other ball", Form::Sphere(1.0));
    scene.geometries.push(other);
    let (_, graph, both) = diagram(&scene, &heard.lcm);
    let mut one = both.clone();
    let (source, geometry) = {
        let inspector = both.eval(graph.query).unwrap().inspector();
        let geometry = inspector.geometry_ids().next().unwrap();
        (inspector.source_id(geometry).unwrap(), geometry)
    };
    let state = graph.geometry_mut(&mut one).unwrap();
    state.remove_geometry(source, geometry).unwrap();
    std::thread::scope(|scope| {
        for ctx in [one, both] {
            scope.spawn(move || {
                for _ in 0..300 {
                    ctx.force_publish().unwrap();
                }
            });
        }
    });
    let mut loaded: Vec<String> = vec![];
    let mut loads = 0;
    for (channel, bytes) in heard.take() {
        if channel == "DRAKE_VIEWER_LOAD_ROBOT" {
            let load = LcmtViewerLoadRobot::decode(&bytes).unwrap();
            loaded = load.link.into_iter().map(|link| link.name).collect();
            loads += 1;
        } else if channel == "DRAKE_VIEWER_DRAW" {
            let draw = LcmtViewerDraw::decode(&bytes).unwrap();
            assert_eq!(draw.link_name, loaded);
        }
    }
    assert!(loads >= 2, "{loads}");
}

#[test]
fn links_are_frames_with_geometry_of_the_role() {
    let heard = Heard::new();
    let scene = ball();
    let (_, _, mut ctx) = diagram(&scene, &heard.lcm);
    ctx.set_time(1.2347);
    ctx.force_publish().unwrap();
    let draw: LcmtViewerDraw = only(&heard.take(), "DRAKE_VIEWER_DRAW");
    assert_eq!(draw.timestamp, 1235, "rounded, where Drake cuts");
    assert_eq!(
        (&draw.link_name[..], &draw.robot_num[..]),
        (&["toys::body".into()][..], &[3][..])
    );
    assert_eq!(draw.position, [[1.0, 2.0, 3.0]]);
    // As in Drake, w is not negative.
    assert_eq!(draw.quaternion, [[0.6, -0.8, 0.0, 0.0]]);

    let hidden = Scene {
        role: "perception",
        ..scene
    };
    hidden.publish(&heard.lcm);
    let messages = heard.take();
    let load: LcmtViewerLoadRobot = only(&messages, "DRAKE_VIEWER_LOAD_ROBOT");
    let draw: LcmtViewerDraw = only(&messages, "DRAKE_VIEWER_DRAW");
    assert!(load.link.is_empty() && draw.link_name.is_empty());
}

#[test]
fn roles_have_channels_and_colors() {
    let [red, green, grey] = [[1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 0.5], [0.5; 4]];
    let heard = Heard::new();
    let mut scene = Scene::anchored();
    scene.use_role_channel_suffix = true;
    scene.default_color = grey;
    let color = |scene: &Scene, suffix: &str| {
        scene.publish(&heard.lcm);
        let messages = heard.take();
        let channels: Vec<String> = messages.iter().map(|(c, _)| c.clone()).collect();
        assert_eq!(channels, ALL.map(|c| format!("DRAKE_VIEWER_{c}{suffix}")));
        let load: LcmtViewerLoadRobot = only(&messages, &channels[0]);
        load.link[0].geom[0].color.map(f64::from)
    };
    assert_eq!(color(&scene, "_ILLUSTRATION"), grey);
    scene.geometries[0].perception = Some(Look::default());
    scene.geometries[0].proximity = Some(Touch {
        diffuse: Some(red),
        ..Touch::default()
    });
    scene.role = "perception";
    assert_eq!(color(&scene, "_PERCEPTION"), grey);
    scene.geometries[0].illustration = Some(Look {
        diffuse: Some(green),
    });
    assert_eq!(color(&scene, "_PERCEPTION"), green);
    scene.role = "proximity";
    assert_eq!(color(&scene, "_PROXIMITY"), red);
}

/// Returns the only geometry of a load message with these parameters.
fn only_geometry(
    instance: GeometryInstance,
    params: DrakeVisualizerParams,
) -> Option<LcmtViewerGeometryData> {
    let heard = Heard::new();
    let mut graph = SceneGraph::new();
    let source = graph.register_source("toys").unwrap();
    graph.register_anchored_geometry(source, instance).unwrap();
    DrakeVisualizer::dispatch_load_message(&graph, &heard.lcm, &params).unwrap();
    let load: LcmtViewerLoadRobot = only(&heard.take(), "DRAKE_VIEWER_LOAD_ROBOT");
    load.link[0].geom.first().cloned()
}

fn identity() -> nalgebra::Isometry3<f64> {
    nalgebra::Isometry3::identity()
}

fn shown(shape: impl Into<Shape>) -> Option<LcmtViewerGeometryData> {
    let instance = GeometryInstance::new(identity(), shape, "it").unwrap();
    let instance = instance.with_illustration(IllustrationProperties::new());
    only_geometry(instance, DrakeVisualizerParams::default())
}

#[test]
fn files_are_sent_as_absolute_paths_or_as_content() {
    let data = shown(Mesh::new("not/there.gltf")).unwrap();
    let path = std::env::current_dir().unwrap().join("not/there.gltf");
    assert_eq!(data.string_data, path.to_str().unwrap());
    assert_eq!(data.float_data, [1.0; 3]);

    let mut mesh = InMemoryMesh::new(MemoryFile::new("x", ".gltf", "h"));
    let files = &mut mesh.supporting_files;
    files.insert("b".into(), MemoryFile::new("bb", ".bin", "hb").into());
    files.insert("a/c".into(), "/tmp/c.png".into());
    let data = shown(Mesh::with_scale(mesh, Vector3::repeat(2.0)).unwrap()).unwrap();
    // The string that Drake sends for the same mesh.
    assert_eq!(
        data.string_data,
        r#"{"in_memory_mesh":{"mesh_file":{"contents":"eA==","extension":".gltf","filename_hint":"h"},"supporting_files":{"a/c":{"path":"/tmp/c.png"},"b":{"contents":"YmI=","extension":".bin","filename_hint":"hb"}}}}"#
    );
}

#[test]
fn cones_are_tessellated_and_unreadable_meshes_left_out() {
    assert_eq!(shown(Convex::new("not/there.obj")), None);
    // A cone is sent as a closed surface with the volume of the cone, up to the error of 64 sides.
    let cone = shown(MeshcatCone::new(3.0, 1.0, 2.0).unwrap()).unwrap();
    let triangles = crate::drake_visualizer::compare::triangles(&cone);
    let volume: f32 = triangles
        .iter()
        .map(|t| {
            let [a, b, c] = t.map(Vector3::from);
            a.dot(&b.cross(&c)) / 6.0
        })
        .sum();
    let exact = std::f32::consts::TAU; // pi a b h / 3
    assert!(
        volume < exact && volume > 0.998 * exact,
        "{volume}, {exact}"
    );
}

#[test]
fn proximity_meshes_are_sent_as_hull_pieces_or_true_surface() {
    let dent = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv .1 .1 .1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 5\nf 3 4 5\nf 4 2 5\n";
    let mesh = || Mesh::new(InMemoryMesh::new(MemoryFile::new(dent, ".obj", "dent")));
    let count = |properties: ProximityProperties, show_hydroelastic| {
        let instance = GeometryInstance::new(identity(), mesh(), "dent").unwrap();
        let params = DrakeVisualizerParams {
            role: Role::Proximity,
            show_hydroelastic,
            ..Default::default()
        };
        let data = only_geometry(instance.with_proximity(properties), params).unwrap();
        crate::drake_visualizer::compare::triangles(&data).len()
    };
    let new = ProximityProperties::new;
    assert_eq!(count(new(), true), 4);
    assert_eq!(count(new().with_true_surface(), false), 6);
    let pieces = new().with_convex_decomposition(8).unwrap();
    let decomposed = mesh().convex_pieces(8).unwrap();
    let triangles = decomposed
        .iter()
        .map(|p| p.convex_hull().unwrap().to_triangles().num_triangles());
    assert!(decomposed.len() > 1);
    assert_eq!(count(pieces, true), triangles.sum::<usize>());
    let rigid = new().with_rigid_hydroelastic();
    let compliant = new().with_compliant_hydroelastic(1e6).unwrap();
    let compliant = compliant.with_resolution_hint(0.1).unwrap();
    assert_eq!(count(rigid.clone(), true), 6);
    assert_eq!(count(rigid, false), 4);
    assert_eq!(count(compliant, true), 4);
}

#[test]
fn resolution_hints_set_the_fineness_of_hydroelastic_meshes() {
    let data = |shape: Shape, hint| {
        let properties = ProximityProperties::new().with_rigid_hydroelastic();
        let properties = properties.with_resolution_hint(hint).unwrap();
        let instance = GeometryInstance::new(identity(), shape, "it")
            .unwrap()
            .with_proximity(properties);
        let params = DrakeVisualizerParams {
            role: Role::Proximity,
            show_hydroelastic: true,
            ..Default::default()
        };
        only_geometry(instance, params).unwrap()
    };
    let count = |shape, hint| crate::drake_visualizer::compare::triangles(&data(shape, hint)).len();
    let sphere = || Shape::from(Sphere::new(1.0).unwrap());
    // Counts from Drake 1.51.1, just above and below the chords of a quarter and an eighth of a
    // circle.
    assert_eq!((count(sphere(), 1.415), count(sphere(), 1.413)), (8, 32));
    assert_eq!(
        (count(sphere(), 0.7654), count(sphere(), 0.7653)),
        (32, 128)
    );
    assert_eq!(count(sphere(), 0.04), 32_768);
    let cylinder = || Shape::from(Cylinder::new(1.0, 2.0).unwrap());
    assert_eq!(
        (count(cylinder(), 2.0945), count(cylinder(), 2.0943)),
        (12, 16)
    );
    let capsule = || Shape::from(Capsule::new(1.0, 2.0).unwrap());
    assert_eq!((count(capsule(), 1.572), count(capsule(), 1.569)), (12, 32));
    // Around a capsule there are no more than 706 vertices, and half as many circles in a cap. A
    // message of so many triangles takes seconds.
    let finest = ProximityProperties::new().with_rigid_hydroelastic();
    let finest = finest.with_resolution_hint(1e-6).unwrap();
    let mesh = make_hydroelastic_mesh(&capsule(), &finest)
        .unwrap()
        .unwrap();
    assert_eq!(mesh.surface().unwrap().num_triangles(), 996_872);
}

#[test]
fn defaults_of_the_scene_can_make_geometry_hydroelastic() {
    let heard = Heard::new();
    let mut scene = ball();
    scene.role = "proximity";
    scene.show_hydroelastic = true;
    scene.geometries[0].proximity = Some(Touch::default());
    let (mut graph, sources, frames) = scene.register();
    let mut config = SceneGraphConfig::default();
    let defaults = &mut config.default_proximity_properties;
    defaults.compliance_type = HydroelasticType::Compliant;
    defaults.resolution_hint = Some(0.5); // between the chords of a quarter and an eighth of the circle
    graph.set_config(config).unwrap();
    let mut b = DiagramBuilder::new();
    let graph = b.add("scene_graph", graph);
    let lcm = Some(heard.lcm.clone());
    DrakeVisualizer::add_to_builder(&mut b, graph.query, lcm, scene.params()).unwrap();
    let mut ctx = b.build().unwrap().default_context();
    let port = graph.source_pose_port(sources[0]).unwrap();
    ctx.fix(port, scene.poses(0, &frames)).unwrap();
    ctx.force_publish().unwrap();
    let load: LcmtViewerLoadRobot = only(&heard.take(), "DRAKE_VIEWER_LOAD_ROBOT");
    assert_eq!(
        crate::drake_visualizer::compare::triangles(&load.link[0].geom[0]).len(),
        32
    );
}

#[test]
fn dual_numbers_show_their_real_parts() {
    let heard = Heard::new();
    let scene = ball();
    let (graph, sources, frames) = scene.register();
    let mut b = DiagramBuilder::new();
    let graph = b.add("scene_graph", graph);
    let lcm = Some(heard.lcm.clone());
    let shown = DrakeVisualizer::add_to_builder(&mut b, graph.query, lcm, scene.params()).unwrap();
    assert!(shown.system().lcm().is_same_as(&heard.lcm));
    let diagram = b.build().unwrap().to_scalar::<AutoDiff>().unwrap();
    let mut ctx = diagram.default_context();
    let moved = |x: f64| AutoDiff::variable(x, 0);
    let x_wf = crate::drake_visualizer::scene::pose(&scene.frames[0].pose);
    let q = x_wf.rotation.coords.map(moved);
    let x_wf = nalgebra::Isometry3::from_parts(
        x_wf.translation.vector.map(moved).into(),
        nalgebra::UnitQuaternion::new_unchecked(nalgebra::Quaternion::from(q)),
    );
    let graph = diagram.ports(&graph).unwrap();
    let port = graph.source_pose_port(sources[0]).unwrap();
    let poses = FramePoseVector::from_iter([(frames[0], x_wf)]);
    ctx.fix(port, poses).unwrap();
    ctx.force_publish().unwrap();
    let draw: LcmtViewerDraw = only(&heard.take(), "DRAKE_VIEWER_DRAW");
    assert_eq!(draw.position, [[1.0, 2.0, 3.0]]);
    assert_eq!(draw.quaternion, [[0.6, -0.8, 0.0, 0.0]]);
}

#[test]
fn invalid_parameters_are_rejected() {
    let lcm = || Some(Lcm::with_url("memq://").unwrap());
    let error = |params| DrakeVisualizer::new(lcm(), params).unwrap_err().to_string();
    for publish_period in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let params = DrakeVisualizerParams {
            publish_period,
            ..Default::default()
        };
        let text = format!(
            "DrakeVisualizer: the publish period must be positive and finite, got {publish_period:?} s"
        );
        assert_eq!(error(params), text);
    }
    let params = DrakeVisualizerParams {
        role: Role::Unassigned,
        ..Default::default()
    };
    assert_eq!(
        error(params),
        "DrakeVisualizer: the role must be Illustration, Proximity or Perception, got Unassigned"
    );
}

#[test]
fn functions_with_older_names_are_equivalent() {
    let heard = Heard::new();
    let (graph, ..) = Scene::anchored().register();
    let mut b = DiagramBuilder::new();
    let graph = b.add("scene_graph", graph);
    dispatch_load_message(graph.system(), &heard.lcm, None).unwrap();
    assert_eq!(heard.channels(), ALL[..1]);
    connect_drake_visualizer(&mut b, &graph, Some(heard.lcm.clone()), None).unwrap();
    b.build()
        .unwrap()
        .default_context()
        .force_publish()
        .unwrap();
    assert_eq!(heard.channels(), ALL);
}
