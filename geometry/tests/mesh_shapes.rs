//! Shapes that come from meshes, and cones, in a scene.

use nalgebra::{Isometry3, Vector3};
use std::sync::Arc;
use tarragon_framework::prelude::*;
use tarragon_geometry::{
    Convex, GeometryInstance, GeometryState, InMemoryMesh, MemoryFile, Mesh, MeshcatCone,
    PerceptionProperties, ProximityProperties, SceneGraph, Shape,
};

const OBJ: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

fn instance(shape: impl Into<Shape>, name: &str) -> GeometryInstance {
    GeometryInstance::new(Isometry3::identity(), shape, name)
        .with_proximity(ProximityProperties::new())
}

/// As in Drake, a cone is for visualizers only.
#[test]
fn cones_have_no_proximity() {
    let mut scene = SceneGraph::new();
    let source = scene.register_source("toys").unwrap();
    let mut b = DiagramBuilder::new();
    let scene = b.add("scene_graph", scene);
    let mut ctx = b.build().unwrap().default_context();
    let state: &mut GeometryState = Arc::make_mut(ctx.param_mut(scene.geometry).unwrap());
    let cone = MeshcatCone::new(2.0, 1.0, 0.5).unwrap();
    let refused = state.register_anchored_geometry(source, instance(cone, "cone"));
    let e = refused.unwrap_err().to_string();
    assert!(
        e.contains("'cone'") && e.contains("visualizers only"),
        "{e}"
    );
    let cone = GeometryInstance::new(Isometry3::identity(), cone, "cone");
    let cone = cone.with_perception(PerceptionProperties::new());
    let cone = state.register_anchored_geometry(source, cone).unwrap();
    let query = ctx.eval(scene.query).unwrap();
    assert_eq!(query.inspector().num_geometries(), 1);
    let aabb = query.compute_aabb_in_world(cone).unwrap().unwrap();
    assert_eq!(aabb.upper(), Vector3::new(1.0, 0.5, 2.0));
    assert_eq!(aabb.lower(), Vector3::new(-1.0, -0.5, 0.0));
}

#[test]
fn meshes_in_memory_are_registered() {
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
        e.contains("geometry 'line'") && e.contains("corner: all vertices are on a line"),
        "{e}"
    );
    let shape = scene
        .model_inspector()
        .shape(convex.unwrap())
        .unwrap()
        .clone();
    let Shape::Convex(shape) = shape else {
        panic!("a convex shape");
    };
    let (center, size) = shape.convex_hull().unwrap().calc_bounding_box();
    assert_eq!((center, size), (scale / 2.0, scale.abs()));
}
