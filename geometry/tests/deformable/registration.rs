//! Registration, roles, filters and removal.

use super::{Scene, ball, instance};
use nalgebra::{DVector, Isometry3};
use std::sync::Arc;
use tarragon_framework::prelude::*;
use tarragon_geometry::{
    BoxShape, CollisionFilterDeclaration, CollisionFilterScope, ErrorKind, GeometryFrame,
    GeometrySet, HalfSpace, InMemoryMesh, MemoryFile, Mesh, PerceptionProperties,
    ProximityProperties, Role, Sphere,
};

/// A VTK file of one tetrahedron.
fn tetrahedron(element: &str) -> Mesh {
    let text = format!(
        "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 double\n\
         0 0 0\n1 0 0\n0 1 0\n0 0 1\nCELLS 1 5\n4 {element}\nCELL_TYPES 1\n10\n"
    );
    Mesh::new(InMemoryMesh::new(MemoryFile::new(text, ".vtk", "one.vtk")))
}

#[test]
fn bad_registrations_name_the_cure_and_leave_nothing() {
    let mut scene = Scene::new();
    let world = scene.graph.world_frame_id();
    let frame = GeometryFrame::new("arm");
    let arm = scene.graph.register_frame(scene.source, frame).unwrap();
    let obj = MemoryFile::new("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", ".obj", "flat.obj");
    let obj = Mesh::new(InMemoryMesh::new(obj));
    let cases = [
        (arm, ball("b"), 1.0, "must be on the world frame"),
        (world, ball("b"), 0.0, "must be positive, got 0.0 m"),
        (world, ball("b"), f64::NAN, "must be positive, got NaN m"),
        (world, ball("b"), 1e-5, "choose a larger hint"),
        (world, instance(HalfSpace, "b"), 1.0, "got a HalfSpace"),
        (
            world,
            instance(BoxShape::new(1.0, 1.0, 1.0).unwrap(), "b"),
            1.0,
            "got a Box",
        ),
        (world, instance(obj, "b"), 1.0, "make a .vtk file"),
    ];
    for (frame, instance, hint, message) in cases {
        let graph = &mut scene.graph;
        let error = graph.register_deformable_geometry(scene.source, frame, instance, hint);
        let error = error.unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
        assert!(error.contains("'b'"), "{error}");
    }
    assert_eq!(scene.graph.model_inspector().num_geometries(), 0);
}

#[test]
fn files_in_the_other_order_are_turned_and_scaled() {
    for (element, scale, volume) in [
        ("0 1 2 3", [1.0; 3], 1.0 / 6.0),
        ("1 0 2 3", [1.0; 3], 1.0 / 6.0),
        ("0 1 2 3", [-2.0, 1.0, 1.0], 1.0 / 3.0),
    ] {
        let mesh = tetrahedron(element);
        let mesh = Mesh::with_scale(mesh.source(), scale.into()).unwrap();
        let mut scene = Scene::new();
        let id = scene.deformable(instance(mesh, "t"), 1.0);
        assert!((scene.reference(id).calc_volume() - volume).abs() < 1e-15);
    }
}

#[test]
fn deformable_geometry_is_dynamic_and_has_no_pose() {
    let mut scene = Scene::new();
    let floor = scene.block(1.0, [0.0, 0.0, -2.0], "floor");
    let mut soft = ball("soft");
    soft.set_pose(Isometry3::translation(0.0, 0.0, 1.0));
    let soft = scene.deformable(soft, 0.1);
    let inspector = scene.graph.model_inspector();
    assert!(inspector.is_deformable(soft).unwrap() && !inspector.is_deformable(floor).unwrap());
    assert_eq!(inspector.num_dynamic_geometries(), 1);
    assert_eq!(inspector.num_anchored_geometries(), 1);
    let all: Vec<_> = inspector.all_deformable_geometry_ids().collect();
    assert_eq!(all, [soft]);
    for (role, count) in [(Role::Proximity, 1), (Role::Illustration, 0)] {
        assert_eq!(inspector.num_deformable_geometries_with_role(role), count);
    }
    let center = inspector.reference_mesh(soft).unwrap().vertex(0);
    assert_eq!(center.z, 0.0);
    assert_eq!(inspector.pose_in_frame(soft).unwrap().translation.z, 1.0);
    let error = inspector.reference_mesh(floor).unwrap_err().to_string();
    assert!(error.contains("'floor' must be deformable"), "{error}");
    assert_eq!(inspector.collision_candidates(), [(floor, soft)]);
    let error = scene
        .graph
        .change_shape(scene.source, soft, Sphere::new(1.0).unwrap(), None);
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Unsupported);
    let query = scene.query();
    let error = query.geometry_pose_in_world(soft).unwrap_err().to_string();
    assert!(error.contains("`configurations_in_world`"), "{error}");
    let error = query
        .configurations_in_world(floor)
        .unwrap_err()
        .to_string();
    assert!(error.contains("`geometry_pose_in_world`"), "{error}");
}

#[test]
fn contexts_share_the_reference_mesh_and_removal_is_local() {
    let mut scene = Scene::new();
    let mark = scene.graph.registration_mark();
    let (first, second) = (
        scene.deformable(ball("a"), 0.1),
        scene.deformable(ball("b"), 0.1),
    );
    let mesh = Arc::clone(
        scene
            .graph
            .model_inspector()
            .reference_mesh(second)
            .unwrap(),
    );
    let mut b = DiagramBuilder::new();
    let ports = b.add("scene_graph", scene.graph.clone());
    let diagram = b.build().unwrap();
    let mut ctx = diagram.default_context();
    let port = ports.source_configuration_port(scene.source).unwrap();
    ctx.fix(port, scene.configurations.clone()).unwrap();
    let before = ctx.eval(ports.query).unwrap().clone();
    let state = ports.geometry_mut(&mut ctx).unwrap();
    state.rename_geometry(second, "c").unwrap();
    state.remove_geometry(scene.source, first).unwrap();
    let after = ctx.eval(ports.query).unwrap();
    let shared = after.inspector().reference_mesh(second).unwrap();
    assert!(Arc::ptr_eq(&mesh, shared));
    assert_eq!(after.inspector().name(second).unwrap(), "c");
    // The configuration of the removed geometry is extra, and ignored.
    assert!(after.configurations_in_world(first).is_err());
    assert_eq!(after.configurations_in_world(second).unwrap().len(), 75);
    assert_eq!(before.configurations_in_world(first).unwrap().len(), 75);
    assert_eq!(scene.graph.model_inspector().num_geometries(), 2);
    scene.graph.take_back(mark).unwrap();
    assert_eq!(scene.graph.model_inspector().num_geometries(), 0);
}

#[test]
fn wrong_configurations_name_the_geometry() {
    let mut scene = Scene::new();
    let soft = scene.deformable(ball("soft"), 0.1);
    let good = scene.configurations.clone();
    let mut bad = DVector::zeros(75);
    bad[4] = f64::NAN;
    let cases = [
        (None, "has none for it; set one for each"),
        (Some(DVector::zeros(74)), "must have 75 coordinates"),
        (Some(bad), "got NaN m for coordinate y of vertex 1"),
    ];
    for (value, message) in cases {
        scene.configurations.clear();
        if let Some(value) = value {
            scene.configurations.set_value(soft, value);
        }
        let error = scene.try_query().err().unwrap().to_string();
        assert!(error.contains("'soft' of source 'toys'"), "{error}");
        assert!(error.contains(message), "{error}");
    }
    let mut b = DiagramBuilder::new();
    let ports = b.add("scene_graph", scene.graph.clone());
    let ctx = b.build().unwrap().default_context();
    let error = ctx.eval(ports.query).err().unwrap().to_string();
    assert!(
        error.contains("'toys_configuration' is not connected"),
        "{error}"
    );
    scene.configurations = good;
    scene.query();
}

#[test]
fn filters_reach_deformable_geometry_unless_they_omit_it() {
    let mut scene = Scene::new();
    let floor = scene.block(1.0, [0.0, 0.0, -0.55], "floor");
    let soft = scene.deformable(ball("soft"), 0.1);
    assert_eq!(
        scene
            .query()
            .compute_deformable_contact()
            .unwrap()
            .surfaces()
            .len(),
        1
    );
    let both = || GeometrySet::from(vec![floor, soft]);
    let omit = CollisionFilterDeclaration::with_scope(CollisionFilterScope::OmitDeformable);
    scene
        .graph
        .apply_collision_filter(&omit.exclude_within(both()))
        .unwrap();
    assert!(
        !scene
            .graph
            .model_inspector()
            .collision_filtered(floor, soft)
            .unwrap()
    );
    let all = CollisionFilterDeclaration::new().exclude_within(both());
    scene.graph.apply_collision_filter(&all).unwrap();
    assert!(
        scene
            .graph
            .model_inspector()
            .collision_filtered(floor, soft)
            .unwrap()
    );
    assert!(
        scene
            .query()
            .compute_deformable_contact()
            .unwrap()
            .surfaces()
            .is_empty()
    );
}

#[test]
fn roles_can_come_and_go() {
    let mut scene = Scene::new();
    let soft = scene.deformable(instance(Sphere::new(0.1).unwrap(), "soft"), 0.1);
    let source = scene.source;
    let driven = |scene: &Scene, role| {
        scene
            .query()
            .driven_mesh_configurations_in_world(soft, role)
            .map(|all| all.len())
    };
    assert!(driven(&scene, Role::Proximity).is_err());
    scene
        .graph
        .assign_role(source, soft, ProximityProperties::new())
        .unwrap();
    scene
        .graph
        .assign_role(source, soft, PerceptionProperties::new())
        .unwrap();
    for role in [Role::Proximity, Role::Perception] {
        assert_eq!(driven(&scene, role).unwrap(), 1);
    }
    assert!(
        scene
            .graph
            .remove_role(source, soft, Role::Proximity)
            .unwrap()
    );
    assert!(driven(&scene, Role::Proximity).is_err());
    let distances = scene.query();
    let distances = distances.compute_signed_distance_to_point(&nalgebra::Vector3::zeros(), 1.0);
    assert!(distances.unwrap().is_empty());
}
