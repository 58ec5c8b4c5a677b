//! Behaviour of `SceneGraph`, one property per test.

use nalgebra::{Isometry3, Vector3};
use proptest::prelude::*;
use tarragon_framework::prelude::*;
use tarragon_framework::{AutoDiff, Scalar, math};
use tarragon_geometry::{
    BoxShape, Capsule, CollisionFilterDeclaration, FrameId, FramePoseVector, GeometryFrame,
    GeometryId, GeometryInstance, GeometrySet, HalfSpace, IllustrationProperties, InMemoryMesh,
    MemoryFile, Mesh, PerceptionProperties, ProximityProperties, QueryObject, Role, SceneGraph,
    SceneGraphPorts, Shape, SourceId, Sphere,
};

fn geometry(shape: impl Into<Shape>, name: &str) -> GeometryInstance {
    GeometryInstance::new(Isometry3::identity(), shape, name)
        .unwrap()
        .with_proximity(ProximityProperties::new())
}

fn at(x: f64, y: f64, z: f64) -> Isometry3<f64> {
    Isometry3::translation(x, y, z)
}

struct Scene {
    graph: SceneGraph,
    source: SourceId,
    frames: Vec<FrameId>,
    ids: Vec<GeometryId>,
}

/// A scene with one moving frame per shape, and a floor.
fn scene(shapes: impl IntoIterator<Item = Shape>) -> Scene {
    let mut graph = SceneGraph::new();
    let source = graph.register_source("toys").unwrap();
    let (mut frames, mut ids) = (vec![], vec![]);
    for (i, shape) in shapes.into_iter().enumerate() {
        let frame = graph
            .register_frame(source, GeometryFrame::new(format!("f{i}")))
            .unwrap();
        ids.push(
            graph
                .register_geometry(source, frame, geometry(shape, "g"))
                .unwrap(),
        );
        frames.push(frame);
    }
    let floor = geometry(HalfSpace, "floor");
    ids.push(graph.register_anchored_geometry(source, floor).unwrap());
    Scene {
        graph,
        source,
        frames,
        ids,
    }
}

fn spheres(n: usize) -> Scene {
    scene((0..n).map(|_| Sphere::new(0.5).unwrap().into()))
}

impl Scene {
    fn diagram(&self) -> (Diagram<f64>, SceneGraphPorts<f64>) {
        let mut b = DiagramBuilder::new();
        let block = b.add("scene", self.graph.clone());
        (b.build().unwrap(), block.ports().clone())
    }
    fn query(&self, poses: &[Isometry3<f64>]) -> QueryObject<f64> {
        let (diagram, ports) = self.diagram();
        let mut ctx = diagram.default_context();
        self.pose(&mut ctx, &ports, poses);
        ctx.eval(ports.query).unwrap().clone()
    }
    fn pose<T: Scalar>(
        &self,
        ctx: &mut Context<T>,
        ports: &SceneGraphPorts<T>,
        poses: &[Isometry3<T>],
    ) {
        let poses = self.frames.iter().copied().zip(poses.iter().copied());
        let port = ports.source_pose_port(self.source).unwrap();
        ctx.fix(port, FramePoseVector::from_iter(poses)).unwrap();
    }
}

#[test]
fn errors_name_the_unconnected_pose_port() {
    let (diagram, ports) = spheres(1).diagram();
    let ctx = diagram.default_context();
    let message = ctx.eval(ports.query).err().unwrap().to_string();
    assert!(
        message.starts_with("input port 'scene.toys_pose' is not connected"),
        "{message}"
    );
}

#[test]
fn errors_name_the_frame_of_an_invalid_pose() {
    let scene = spheres(2);
    let (diagram, ports) = scene.diagram();
    let mut ctx = diagram.default_context();
    let port = ports.source_pose_port(scene.source).unwrap();
    let mut message = |poses: FramePoseVector<f64>| {
        ctx.fix(port, poses).unwrap();
        ctx.eval(ports.query).err().unwrap().to_string()
    };
    let one = FramePoseVector::from_iter([(scene.frames[0], at(0.0, 0.0, 0.0))]);
    assert!(message(one).contains("source 'toys': frame 'f1' has no pose"));
    let nan = FramePoseVector::from_iter([
        (scene.frames[0], at(0.0, 0.0, 0.0)),
        (scene.frames[1], at(f64::NAN, 0.0, 0.0)),
    ]);
    assert!(message(nan).contains("frame 'f1' must be finite"));
}

#[test]
fn results_are_sorted_with_the_smaller_id_first() {
    let scene = spheres(3);
    let query = scene.query(&[at(0.0, 0.0, 5.0), at(0.75, 0.0, 5.0), at(0.0, 0.0, 0.25)]);
    let pairs = query.compute_point_pair_penetration().unwrap();
    let ids: Vec<_> = pairs.iter().map(|p| (p.id_a, p.id_b)).collect();
    assert_eq!(
        ids,
        [(scene.ids[0], scene.ids[1]), (scene.ids[2], scene.ids[3])]
    );
    assert_eq!(pairs[0].depth, 0.25);
    assert_eq!(pairs[0].nhat_ba_w, -Vector3::x());
    assert_eq!(pairs[1].p_wca, Vector3::new(0.0, 0.0, -0.25));
    assert!(query.has_collisions().unwrap());
    let near = query
        .compute_signed_distance_pairwise_closest_points(0.0)
        .unwrap();
    assert_eq!(near.len(), 2);
    let all = query
        .compute_signed_distance_pairwise_closest_points(f64::INFINITY)
        .unwrap();
    assert_eq!(all.len(), 6);
    assert_eq!(all[2].distance, 4.5, "the first sphere and the floor");
    // Both pairs overlap by 0.25 m; a negative limit selects pairs at least that deep.
    for (limit, expected) in [(-0.25, 2), (-0.26, 0), (f64::NEG_INFINITY, 0)] {
        let deep = query.compute_signed_distance_pairwise_closest_points(limit);
        assert_eq!(deep.unwrap().len(), expected, "{limit}");
    }
    let pair = query
        .compute_signed_distance_pair_closest_points(scene.ids[3], scene.ids[0])
        .unwrap();
    assert_eq!(
        (pair.id_a, pair.p_aca),
        (scene.ids[0], Vector3::new(0.0, 0.0, -0.5))
    );
    assert!(
        query
            .compute_signed_distance_pair_closest_points(scene.ids[0], scene.ids[0])
            .is_err()
    );
    let points = query
        .compute_signed_distance_to_point(&Vector3::new(0.0, 0.0, 7.0), 1.6)
        .unwrap();
    assert_eq!(points.len(), 1, "the second sphere is 1.64 m away");
    assert_eq!((points[0].id_g, points[0].distance), (scene.ids[0], 1.5));
}

#[test]
fn filters_exclude_and_allow() {
    let mut scene = spheres(3);
    let all = |scene: &Scene| scene.graph.model_inspector().collision_candidates().len();
    assert_eq!(all(&scene), 6);
    let exclude = CollisionFilterDeclaration::new().exclude_within(scene.frames.clone());
    scene.graph.apply_collision_filter(&exclude).unwrap();
    assert_eq!(all(&scene), 3, "only pairs with the floor are left");
    let between = CollisionFilterDeclaration::new()
        .exclude_between(vec![scene.ids[0]], vec![scene.ids[3]])
        .allow_between(vec![scene.ids[0]], vec![scene.ids[1]]);
    scene.graph.apply_collision_filter(&between).unwrap();
    let inspector = scene.graph.model_inspector();
    assert!(
        inspector
            .collision_filtered(scene.ids[0], scene.ids[3])
            .unwrap()
    );
    assert!(
        !inspector
            .collision_filtered(scene.ids[0], scene.ids[1])
            .unwrap()
    );
    let poses = [at(0.0, 0.0, 0.0), at(0.1, 0.0, 0.0), at(0.2, 0.0, 0.0)];
    let found = scene
        .query(&poses)
        .compute_point_pair_penetration()
        .unwrap();
    let ids: Vec<_> = found.iter().map(|p| (p.id_a, p.id_b)).collect();
    assert_eq!(
        ids,
        [
            (scene.ids[0], scene.ids[1]),
            (scene.ids[1], scene.ids[3]),
            (scene.ids[2], scene.ids[3])
        ]
    );
    // A declaration with an unknown member changes nothing.
    let bad = CollisionFilterDeclaration::new()
        .exclude_within(scene.ids.clone())
        .exclude_within(GeometrySet::new().with_geometry(GeometryId::new()));
    assert!(scene.graph.apply_collision_filter(&bad).is_err());
    assert_eq!(all(&scene), 3);
}

#[test]
fn snapshots_are_immutable() {
    let scene = spheres(1);
    let (diagram, ports) = scene.diagram();
    let mut ctx = diagram.default_context();
    scene.pose(&mut ctx, &ports, &[at(0.0, 0.0, 1.0)]);
    let before = ctx.eval(ports.query).unwrap().clone();
    scene.pose(&mut ctx, &ports, &[at(0.0, 0.0, 3.0)]);
    let height = |q: &QueryObject<f64>| q.pose_in_world(scene.frames[0]).unwrap().translation.z;
    assert_eq!(height(ctx.eval(ports.query).unwrap()), 3.0);
    assert_eq!(height(&before), 1.0);
    let distance = before
        .compute_signed_distance_pairwise_closest_points(9.0)
        .unwrap()[0]
        .distance;
    assert_eq!(distance, 0.5);
}

/// Few moving and fixed geometries, interleaved with others that have no proximity role: every pair
/// is found, whatever numbers the geometries have.
#[test]
fn all_pairs_are_found_in_small_scenes() {
    for (moving, fixed) in (0..5).flat_map(|m| (0..4).map(move |f| (m, f))) {
        let mut graph = SceneGraph::new();
        let source = graph.register_source("toys").unwrap();
        let silent =
            |name: &str| GeometryInstance::new(Isometry3::identity(), HalfSpace, name).unwrap();
        let ball = |name: &str| geometry(Sphere::new(0.5).unwrap(), name);
        for i in 0..fixed {
            graph
                .register_anchored_geometry(source, silent(&format!("s{i}")))
                .unwrap();
            graph
                .register_anchored_geometry(source, ball(&format!("b{i}")))
                .unwrap();
        }
        let mut frames = vec![];
        for i in 0..moving {
            let frame = graph
                .register_frame(source, GeometryFrame::new(format!("f{i}")))
                .unwrap();
            graph
                .register_geometry(source, frame, silent("silent"))
                .unwrap();
            graph
                .register_geometry(source, frame, ball("ball"))
                .unwrap();
            frames.push(frame);
        }
        let scene = Scene {
            graph,
            source,
            frames,
            ids: vec![],
        };
        let query = scene.query(&vec![at(0.1, 0.0, 0.0); moving]);
        let expected = moving * fixed + moving * moving.saturating_sub(1) / 2;
        assert_eq!(
            query.find_collision_candidates().len(),
            expected,
            "{moving} moving, {fixed} fixed"
        );
        assert_eq!(
            query.compute_point_pair_penetration().unwrap().len(),
            expected
        );
    }
}

#[test]
fn aabbs_enclose_their_geometry() {
    let scene = scene([
        Capsule::new(0.1, 0.6).unwrap().into(),
        BoxShape::new(0.2, 0.4, 0.6).unwrap().into(),
    ]);
    let lying = math::pose(
        math::rotation_y(std::f64::consts::FRAC_PI_2),
        Vector3::new(1.0, 0.0, 0.1),
    );
    let query = scene.query(&[lying, at(0.0, 2.0, 0.3)]);
    let aabb = |i: usize| query.compute_aabb_in_world(scene.ids[i]).unwrap();
    let capsule = aabb(0).unwrap();
    assert!((capsule.half_width() - Vector3::new(0.4, 0.1, 0.1)).norm() < 1e-15);
    assert!((aabb(1).unwrap().lower() - Vector3::new(-0.1, 1.8, 0.0)).norm() < 1e-15);
    assert_eq!(aabb(2), None, "a half space has no bounding box");
    let all = query.compute_scene_aabb(Role::Proximity).unwrap().unwrap();
    assert!((all.upper() - Vector3::new(1.4, 2.2, 0.6)).norm() < 1e-15);
    assert_eq!(query.compute_scene_aabb(Role::Perception).unwrap(), None);
}

#[test]
fn frames_can_be_children_of_frames() {
    let mut scene = spheres(1);
    let parent = scene.frames[0];
    let mut state = (*scene_state(&scene)).clone();
    let child = state
        .register_frame_on(scene.source, parent, GeometryFrame::new("child"))
        .unwrap();
    let id = state
        .register_geometry(
            scene.source,
            child,
            geometry(Sphere::new(0.1).unwrap(), "tip"),
        )
        .unwrap();
    scene.frames.push(child);
    // The geometry of one context can be changed through its parameter.
    let (diagram, ports) = Scene {
        graph: scene.graph.clone(),
        ..spheres(0)
    }
    .diagram();
    let mut ctx = diagram.default_context();
    *ctx.param_mut(ports.geometry).unwrap() = std::sync::Arc::new(state);
    let turned = math::pose(
        math::rotation_z(std::f64::consts::FRAC_PI_2),
        Vector3::new(0.0, 0.0, 2.0),
    );
    scene.pose(&mut ctx, &ports, &[turned, at(1.0, 0.0, 0.0)]);
    let p = ctx
        .eval(ports.query)
        .unwrap()
        .geometry_pose_in_world(id)
        .unwrap()
        .translation
        .vector;
    assert!((p - Vector3::new(0.0, 1.0, 2.0)).norm() < 1e-15);
}

fn scene_state(scene: &Scene) -> std::sync::Arc<tarragon_geometry::GeometryState> {
    let (diagram, ports) = scene.diagram();
    diagram
        .default_context()
        .param(ports.geometry)
        .unwrap()
        .clone()
}

#[test]
fn invalid_registrations_are_reported_and_change_nothing() {
    let mut scene = spheres(1);
    let (source, frame) = (scene.source, scene.frames[0]);
    let graph = &mut scene.graph;
    let message = |r: Result<_, tarragon_geometry::Error>| match r {
        Ok(()) => panic!("the registration must fail"),
        Err(e) => tarragon_geometry::Error::to_string(&e),
    };
    assert!(
        message(graph.register_source("toys").map(|_| ())).contains("'toys' is already registered")
    );
    let twin = graph
        .register_frame(source, GeometryFrame::new("f0"))
        .map(|_| ());
    assert!(message(twin).contains("frame 'f0'"));
    let ball = || geometry(Sphere::new(0.1).unwrap(), "g");
    let twin = graph.register_geometry(source, frame, ball()).map(|_| ());
    assert!(message(twin).contains("geometry 'g' on frame 'f0'"));
    let nameless = GeometryInstance::new(Isometry3::identity(), HalfSpace, " \t");
    assert_eq!(
        message(nameless.map(|_| ())),
        "GeometryInstance: the name of a HalfSpace must not be empty, got ' \t'"
    );
    let missing = geometry(Mesh::new("no/such/file.obj"), "mesh");
    let text = message(graph.register_geometry(source, frame, missing).map(|_| ()));
    assert!(
        text.contains("geometry 'mesh' on frame 'f0'") && text.contains("no/such/file.obj"),
        "{text}"
    );
    let other = graph.register_source("other").unwrap();
    assert!(
        message(graph.register_geometry(other, frame, ball()).map(|_| ()))
            .contains("another source")
    );
    assert!(
        message(graph.assign_role(source, scene.ids[0], ProximityProperties::new()))
            .contains("already")
    );
    assert!(
        message(graph.assign_role(other, scene.ids[0], IllustrationProperties::new()))
            .contains("not to 'other'")
    );
    assert!(
        Sphere::new(-1.0)
            .unwrap_err()
            .to_string()
            .contains("radius must be positive and finite, got -1.0 m")
    );
    let inspector = graph.model_inspector();
    assert_eq!((inspector.num_geometries(), inspector.num_frames()), (2, 2));
}

#[test]
fn the_inspector_reports_registrations() {
    let mut scene = spheres(2);
    let (source, id) = (scene.source, scene.ids[1]);
    scene
        .graph
        .assign_role(source, id, PerceptionProperties::new())
        .unwrap();
    let inspector = scene.graph.model_inspector();
    assert_eq!(inspector.num_geometries_with_role(Role::Proximity), 3);
    assert_eq!(
        inspector
            .geometry_ids_with_role(Role::Perception)
            .collect::<Vec<_>>(),
        [id]
    );
    assert_eq!(inspector.num_geometries_with_role(Role::Unassigned), 0);
    let found = inspector
        .geometry_id_by_name(scene.frames[1], Role::Proximity, " g ")
        .unwrap();
    assert_eq!((found, inspector.name(id).unwrap()), (id, "g"));
    assert_eq!(
        inspector
            .frame_name(inspector.frame_id(id).unwrap())
            .unwrap(),
        "f1"
    );
    assert_eq!(
        inspector
            .source_name(inspector.source_id(id).unwrap())
            .unwrap(),
        "toys"
    );
    assert_eq!(
        inspector.frame_id(scene.ids[2]).unwrap(),
        inspector.world_frame_id()
    );
    assert!(inspector.perception_properties(id).unwrap().is_some());
    assert!(inspector.shape(GeometryId::new()).is_err());
}

#[test]
fn bodies_without_visuals_can_show_their_collision_geometry() {
    let mut scene = spheres(2);
    let source = scene.source;
    scene
        .graph
        .assign_role(source, scene.ids[1], PerceptionProperties::new())
        .unwrap();
    let shown = scene
        .graph
        .show_proximity_where_unseen(source, &PerceptionProperties::new())
        .unwrap();
    assert_eq!(
        shown, 2,
        "the first ball and the floor; the second ball is visible already"
    );
    let seen: Vec<_> = scene
        .graph
        .model_inspector()
        .geometry_ids_with_role(Role::Perception)
        .collect();
    assert_eq!(seen, scene.ids);
    assert!(
        scene
            .graph
            .show_proximity_where_unseen(SourceId::new(), &PerceptionProperties::new())
            .is_err()
    );
}

#[test]
fn distances_are_differentiable_in_poses() {
    let scene = scene([
        BoxShape::new(0.2, 0.3, 0.4).unwrap().into(),
        Capsule::new(0.1, 0.5).unwrap().into(),
    ]);
    let (diagram, _) = scene.diagram();
    let mut b = DiagramBuilder::new();
    let block = b.add("scene", scene.graph.clone());
    let ad = b.build().unwrap().to_scalar::<AutoDiff>().unwrap();
    drop(diagram);
    let ports = ad.ports(&block).unwrap();
    let distances = |x: &[AutoDiff]| {
        let first = math::pose(
            math::rotation_exp(&Vector3::new(x[0], x[1], x[2])),
            Vector3::new(x[3], x[4], x[5]),
        );
        let second = math::pose(
            math::rotation_x(x[6]),
            Vector3::new(x[7], AutoDiff::from(0.8), AutoDiff::from(0.9)),
        );
        let mut ctx = ad.default_context();
        scene.pose(&mut ctx, &ports, &[first, second]);
        let query = ctx.eval(ports.query).unwrap();
        let pairs = query
            .compute_signed_distance_pairwise_closest_points(f64::INFINITY)
            .unwrap();
        pairs.iter().map(|p| p.distance).collect::<Vec<_>>()
    };
    let x = [0.3, -0.2, 0.5, 0.1, 0.05, 0.7, 0.4, -0.3];
    let (_, gradient) = tarragon_framework::autodiff::jacobian(distances, &x);
    for i in 0..8 {
        let h = 1e-6;
        let value = |s: f64| {
            let mut y = x.map(AutoDiff::from);
            y[i] += s;
            distances(&y)
        };
        for (row, (plus, minus)) in value(h).iter().zip(&value(-h)).enumerate() {
            let difference = (plus.re - minus.re) / (2.0 * h);
            assert!(
                (gradient[(row, i)] - difference).abs() < 1e-8,
                "pair {row}, variable {i}"
            );
        }
    }
}

proptest! {
    /// The bounding-volume trees miss no pair: results equal those of brute force over all
    /// candidates, also when the storage of an earlier snapshot is reused.
    #[test]
    fn broadphase_equals_brute_force(
        first in prop::collection::vec([-1.5..1.5_f64, -1.5..1.5_f64, -0.5..2.0_f64, -3.0..3.0_f64], 24),
        second in prop::collection::vec([-1.5..1.5_f64, -1.5..1.5_f64, -0.5..2.0_f64, -3.0..3.0_f64], 24),
        margin in 0.0..0.5_f64,
    ) {
        let shapes = (0..24).map(|i| match i % 3 {
            0 => Shape::from(Sphere::new(0.2).unwrap()),
            1 => BoxShape::new(0.2, 0.5, 0.3).unwrap().into(),
            _ => Capsule::new(0.1, 0.6).unwrap().into(),
        });
        let scene = scene(shapes);
        let (diagram, ports) = scene.diagram();
        let mut ctx = diagram.default_context();
        for poses in [first, second] {
            let poses: Vec<_> = poses
                .iter()
                .map(|[x, y, z, a]| math::pose(math::rotation_exp(&Vector3::new(*a, 0.5 * a, 1.0)), Vector3::new(*x, *y, *z)))
                .collect();
            scene.pose(&mut ctx, &ports, &poses);
            let query = ctx.eval(ports.query).unwrap();
            let found = query.compute_signed_distance_pairwise_closest_points(margin).unwrap();
            let found: Vec<_> = found.iter().map(|p| (p.id_a, p.id_b, p.distance)).collect();
            let mut expected = vec![];
            for (a, b) in query.inspector().collision_candidates() {
                let pair = query.compute_signed_distance_pair_closest_points(a, b).unwrap();
                if pair.distance <= margin {
                    expected.push((a, b, pair.distance));
                }
            }
            prop_assert_eq!(&found, &expected);
            let deep = query.compute_point_pair_penetration().unwrap().len();
            prop_assert_eq!(deep, expected.iter().filter(|p| p.2 < 0.0).count());
        }
    }
}

/// A mesh collides by its convex hull, or by its true surface if its properties request that.
#[test]
fn a_mesh_can_collide_by_its_true_surface() {
    // Two walls that face each other.
    let obj = "v -1 -1 0\nv -1 1 0\nv -1 1 2\nv -1 -1 2\nv 1 -1 0\nv 1 1 0\nv 1 1 2\nv 1 -1 2\n\
               f 1 2 3 4\nf 8 7 6 5\n";
    let walls = || Mesh::new(InMemoryMesh::new(MemoryFile::new(obj, ".obj", "walls")));
    let query = |properties: ProximityProperties| {
        let mut graph = SceneGraph::new();
        let source = graph.register_source("toys").unwrap();
        let frame = graph
            .register_frame(source, GeometryFrame::new("f"))
            .unwrap();
        let ball = geometry(Sphere::new(0.25).unwrap(), "ball");
        graph.register_geometry(source, frame, ball).unwrap();
        let walls = GeometryInstance::new(at(0.0, 0.0, -1.0), walls(), "walls").unwrap();
        let walls = walls.with_proximity(properties);
        graph.register_anchored_geometry(source, walls)?;
        let mut b = DiagramBuilder::new();
        let graph = b.add("scene", graph);
        let mut ctx = b.build()?.default_context();
        let poses = FramePoseVector::from_iter([(frame, at(0.5, 0.0, 0.0))]);
        ctx.fix(graph.source_pose_port(source)?, poses)?;
        let query = ctx.eval(graph.query)?;
        let pairs = query.compute_signed_distance_pairwise_closest_points(10.0)?;
        Ok::<_, tarragon_geometry::Error>((pairs[0].distance, query.has_collisions()?))
    };
    let mut properties = ProximityProperties::new();
    let (distance, collides) = query(properties.clone()).unwrap();
    assert!(distance < 0.0 && collides);
    properties = properties.with_true_surface();
    let (distance, collides) = query(properties.clone()).unwrap();
    assert!((distance - 0.25).abs() < 1e-15 && !collides);
    properties.set_untyped("mesh", "true_surface", 1.0);
    let e = query(properties).unwrap_err().to_string();
    assert!(
        e.contains("'walls'") && e.contains("true_surface") && e.contains("bool"),
        "{e}"
    );
}
