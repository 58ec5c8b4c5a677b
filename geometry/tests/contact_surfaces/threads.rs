//! Pairs are computed in parallel, which does not show in the result.

use super::{POLYGON, Random, Solid, TRIANGLE};
use nalgebra::Isometry3;
use tarragon_framework::prelude::*;
use tarragon_framework::random::RandomGenerator;
use tarragon_geometry::{
    BoxShape, ContactSurface, Cylinder, FramePoseVector, GeometryFrame, GeometryInstance,
    HalfSpace, SceneGraph, Sphere,
};

/// Returns the bits of a surface: geometries, vertices, pressures and normals.
fn bits(surface: &ContactSurface<f64>) -> Vec<u64> {
    let ids = [surface.id_m(), surface.id_n()];
    let vectors = surface.vertices().iter().copied();
    let normals = (0..surface.num_faces()).map(|f| surface.face_normal(f));
    let numbers = vectors.chain(normals).flat_map(|v| [v.x, v.y, v.z]);
    let numbers = numbers.chain(surface.vertex_pressures().iter().copied());
    let mut bits: Vec<u64> = ids.iter().map(|id| id.value()).collect();
    bits.extend(numbers.map(f64::to_bits));
    bits
}

#[test]
fn surfaces_are_the_same_bits_on_any_number_of_threads() {
    let mut r = Random(RandomGenerator::new(7));
    let mut graph = SceneGraph::new();
    let source = graph.register_source("heap").unwrap();
    let frames: Vec<_> = (0..40)
        .map(|i| {
            let solid = match i % 4 {
                0 => Solid::compliant(Sphere::new(0.1).unwrap(), 1e5, 0.05),
                1 => Solid::compliant(BoxShape::new(0.15, 0.2, 0.1).unwrap(), 1e6, 0.1),
                2 => Solid::compliant(Cylinder::new(0.08, 0.2).unwrap(), 1e5, 0.05),
                _ => Solid::rigid(BoxShape::new(0.2, 0.1, 0.1).unwrap(), 0.1),
            };
            let name = format!("{i}");
            let frame = GeometryFrame::new(name.clone());
            let frame = graph.register_frame(source, frame).unwrap();
            let shape = GeometryInstance::new(Isometry3::identity(), solid.shape, &name).unwrap();
            let shape = shape.with_proximity(solid.properties);
            graph.register_geometry(source, frame, shape).unwrap();
            frame
        })
        .collect();
    let floor = Solid::compliant(HalfSpace, 1e6, 0.1);
    let properties = floor.properties.with_slab_thickness(0.5).unwrap();
    let floor = GeometryInstance::new(Isometry3::identity(), floor.shape, "floor").unwrap();
    let floor = floor.with_proximity(properties);
    graph.register_anchored_geometry(source, floor).unwrap();
    let mut builder = DiagramBuilder::new();
    let graph = builder.add("scene_graph", graph);
    let poses = graph.source_pose_port(source).unwrap();
    let mut context = builder.build().unwrap().default_context();
    for _ in 0..10 {
        let heap = frames.iter().map(|frame| (*frame, r.pose(0.3)));
        let heap: FramePoseVector<f64> = heap.collect();
        context.fix(poses, heap).unwrap();
        let query = context.eval(graph.query).unwrap();
        for representation in [POLYGON, TRIANGLE] {
            let on = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
                let pool = pool.build().unwrap();
                let work = || query.compute_contact_surfaces_with_fallback(representation);
                let (surfaces, points) = pool.install(work).unwrap();
                let surfaces: Vec<_> = surfaces.iter().map(bits).collect();
                (surfaces, format!("{points:?}"))
            };
            let alone = on(1);
            assert!(alone.0.len() > 20, "{} pairs", alone.0.len());
            for threads in [2, 3, 8] {
                assert!(on(threads) == alone, "{threads} threads");
            }
        }
    }
}
