//! Mesh shapes and cones in a scene.

use nalgebra::{Isometry3, Vector3};
use tarragon_framework::prelude::*;
use tarragon_geometry::{
    Convex, FramePoseVector, GeometryFrame, GeometryInstance, HalfSpace, InMemoryMesh, MemoryFile,
    Mesh, MeshcatCone, PerceptionProperties, ProximityProperties, Ray, RayOptions, Role,
    SceneGraph, Shape, Sphere,
};

const OBJ: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

fn instance(shape: impl Into<Shape>, name: &str) -> GeometryInstance {
    GeometryInstance::new(Isometry3::identity(), shape, name)
        .unwrap()
        .with_proximity(ProximityProperties::new())
}

/// Drake documents this behaviour, but its engine refuses the role when a context is created.
#[test]
fn proximity_queries_ignore_cones() {
    let mut scene = SceneGraph::new();
    let source = scene.register_source("toys").unwrap();
    let shape = MeshcatCone::new(2.0, 1.0, 0.5).unwrap();
    let perceived = instance(shape, "cone").with_perception(PerceptionProperties::new());
    let cone = scene.register_anchored_geometry(source, perceived);
    let cone = cone.unwrap();
    let mut add = |shape: Shape, name: &str| {
        let frame = scene.register_frame(source, GeometryFrame::new(name));
        let frame = frame.unwrap();
        let id = scene.register_geometry(source, frame, instance(shape, name));
        (frame, id.unwrap())
    };
    let (on_frame, moving) = add(shape.into(), "moving cone");
    let (of_ball, ball) = add(Sphere::new(0.5).unwrap().into(), "ball");
    let (of_floor, floor) = add(HalfSpace.into(), "floor");
    let mut b = DiagramBuilder::new();
    let scene = b.add("scene_graph", scene);
    let mut ctx = b.build().unwrap().default_context();
    let all_inside = [on_frame, of_ball, of_floor].map(|f| (f, Isometry3::identity()));
    let port = scene.source_pose_port(source).unwrap();
    ctx.fix(port, FramePoseVector::from_iter(all_inside))
        .unwrap();

    let query = ctx.eval(scene.query).unwrap();
    let inspector = query.inspector();
    assert_eq!(inspector.num_geometries_with_role(Role::Proximity), 4);
    assert_eq!(inspector.collision_candidates(), [(ball, floor)]);
    assert!(inspector.collision_filtered(cone, ball).unwrap());
    assert_eq!(query.find_collision_candidates(), [(ball, floor)]);
    assert_eq!(query.compute_point_pair_penetration().unwrap().len(), 1);
    for limit in [0.0, 10.0, f64::INFINITY] {
        let pairs = query.compute_signed_distance_pairwise_closest_points(limit);
        assert_eq!(pairs.unwrap().len(), 1);
        let own = query.compute_signed_distance_geometry_closest_points(moving, limit);
        assert!(own.unwrap().is_empty());
        let near = query.compute_signed_distance_to_point(&Vector3::zeros(), limit);
        assert_eq!(near.unwrap().len(), 2);
    }
    let down = Ray::new(Vector3::new(0.0, 0.0, 5.0), -Vector3::z());
    let hit = query.cast_rays(&[down], &RayOptions::default()).unwrap()[0];
    assert_eq!(hit.unwrap().id_g, ball);
    let asked = query.compute_signed_distance_pair_closest_points(cone, ball);
    let e = asked.unwrap_err().to_string();
    assert!(
        e.contains("MeshcatCone") && e.contains("visualizers only"),
        "{e}"
    );

    let aabb = query.compute_aabb_in_world(cone).unwrap().unwrap();
    assert_eq!(aabb.upper(), Vector3::new(1.0, 0.5, 2.0));
    assert_eq!(aabb.lower(), Vector3::new(-1.0, -0.5, 0.0));
}

/// A geometry takes part in proximity queries only while its shape is not a cone.
#[test]
fn a_shape_can_become_a_cone_and_change_back() {
    let mut scene = SceneGraph::new();
    let source = scene.register_source("toys").unwrap();
    let ball = Sphere::new(0.5).unwrap();
    let other = scene.register_anchored_geometry(source, instance(ball, "other"));
    let other = other.unwrap();
    let frame = scene.register_frame(source, GeometryFrame::new("frame"));
    let frame = frame.unwrap();
    let id = scene.register_geometry(source, frame, instance(ball, "ball"));
    let id = id.unwrap();
    let pairs = |scene: &SceneGraph| scene.model_inspector().collision_candidates();
    assert_eq!(pairs(&scene), [(other, id)]);
    let cone = MeshcatCone::new(1.0, 1.0, 1.0).unwrap();
    scene.change_shape(source, id, cone, None).unwrap();
    assert_eq!(pairs(&scene), []);
    scene.change_shape(source, id, ball, None).unwrap();
    assert_eq!(pairs(&scene), [(other, id)]);
}

#[test]
fn meshes_in_memory_can_be_registered() {
    let mut scene = SceneGraph::new();
    let source = scene.register_source("toys").unwrap();
    let memory = |text: &str| InMemoryMesh::new(MemoryFile::new(text, ".obj", "corner"));
    let scale = Vector3::new(2.0, 1.0, -3.0);
    let convex = Convex::with_scale(memory(OBJ), scale).unwrap();
    let convex = scene.register_anchored_geometry(source, instance(convex, "convex"));
    let mesh = instance(Mesh::new(memory(OBJ)), "mesh");
    scene.register_anchored_geometry(source, mesh).unwrap();
    let line = instance(Mesh::new(memory("v 0 0 0\nv 1 0 0\nf 1 2 1\n")), "line");
    let e = scene
        .register_anchored_geometry(source, line)
        .unwrap_err()
        .to_string();
    assert!(
        e.contains("geometry 'line'")
            && e.contains("corner: vertices must span a plane, got points on a line"),
        "{e}"
    );
    let shape = scene
        .model_inspector()
        .shape(convex.unwrap())
        .unwrap()
        .clone();
    let Shape::Convex(shape) = shape else {
        panic!("the shape must be convex");
    };
    let (center, size) = shape.convex_hull().unwrap().calc_bounding_box();
    assert_eq!((center, size), (scale / 2.0, scale.abs()));
}
