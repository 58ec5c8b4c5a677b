//! Puts a VTK file of arbitrary bytes into hydroelastic contact: rigid and compliant, with and
//! without a margin, with a rigid box, with a compliant one and with a half space. It is refused
//! with a message, or has finite surfaces.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nalgebra::Isometry3;
use tarragon_framework::prelude::*;
use tarragon_framework::warnings::collect;
use tarragon_geometry::{
    BoxShape, FramePoseVector, GeometryFrame, GeometryInstance, HalfSpace,
    HydroelasticContactRepresentation, InMemoryMesh, MemoryFile, Mesh, ProximityProperties,
    SceneGraph, Shape,
};

/// Largest coordinate (m) of the surfaces that must be finite. Pressures and areas of larger ones
/// may overflow.
const LARGEST: f64 = 1e30;

fn compliant() -> ProximityProperties {
    let properties = ProximityProperties::new().with_compliant_hydroelastic(1e6);
    properties.expect("a positive modulus")
}

/// Returns an error if the file is refused.
fn check(
    shape: Shape,
    own: ProximityProperties,
    other: Shape,
    others: ProximityProperties,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut scene = SceneGraph::new();
    let source = scene.register_source("fuzz")?;
    let frame = scene.register_frame(source, GeometryFrame::new("fuzzed"))?;
    let fuzzed = GeometryInstance::new(Isometry3::identity(), shape, "fuzzed")?;
    scene.register_geometry(source, frame, fuzzed.with_proximity(own))?;
    let other = GeometryInstance::new(Isometry3::identity(), other, "other")?;
    scene.register_anchored_geometry(source, other.with_proximity(others))?;
    let mut builder = DiagramBuilder::new();
    let scene = builder.add("scene_graph", scene);
    let mut context = builder.build()?.default_context();
    for z in [0.0, 0.3] {
        let poses = [(frame, Isometry3::translation(0.1, 0.0, z))];
        context.fix(
            scene.source_pose_port(source)?,
            FramePoseVector::from_iter(poses),
        )?;
        let query = context.eval(scene.query)?;
        for representation in [
            HydroelasticContactRepresentation::Polygon,
            HydroelasticContactRepresentation::Triangle,
        ] {
            for surface in query.compute_contact_surfaces(representation)? {
                let mut points = surface.vertices().iter();
                assert!(points.all(|p| p.iter().all(|x| x.is_finite())));
                if surface.vertices().iter().any(|p| p.amax() > LARGEST) {
                    continue;
                }
                for f in 0..surface.num_faces() {
                    assert!(surface.area(f) >= 0.0 && surface.area(f).is_finite());
                    assert!((surface.face_normal(f).norm() - 1.0).abs() < 1e-12);
                    assert!(surface.face_pressure(f).is_finite());
                }
            }
        }
    }
    Ok(())
}

fuzz_target!(|bytes: &[u8]| {
    let file = InMemoryMesh::new(MemoryFile::new(bytes, ".vtk", "fuzzed"));
    let fuzzed = || Shape::from(Mesh::new(file.clone()));
    let block = || Shape::from(BoxShape::new(1.0, 1.5, 2.0).expect("positive sizes"));
    let rigid = || ProximityProperties::new().with_rigid_hydroelastic();
    let with_margin = || {
        compliant()
            .with_hydroelastic_margin(0.01)
            .expect("a positive margin")
    };
    collect(|| {
        let results = [
            check(fuzzed(), compliant(), block(), rigid()),
            check(fuzzed(), with_margin(), block(), compliant()),
            check(fuzzed(), compliant(), HalfSpace.into(), rigid()),
            check(fuzzed(), rigid(), block(), compliant()),
        ];
        for error in results.iter().filter_map(|result| result.as_ref().err()) {
            assert!(!error.to_string().is_empty());
        }
    });
});
