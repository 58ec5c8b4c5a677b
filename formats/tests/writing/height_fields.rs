//! Height fields.

use nalgebra::{Isometry3, Vector3};
use tarragon_formats::*;
use tarragon_framework::math;
use tarragon_geometry::*;
use tarragon_multibody::*;

/// A field whose lowest height is not 0 keeps its place, its base and its heights in MJCF; the
/// other formats have no such shape and say so.
#[test]
fn height_fields_of_mjcf_are_read_back() {
    let heights = vec![0.5, 0.25, 1.0, 0.75, 0.5, 2.25];
    let field = HeightField::new(2, 3, heights.clone(), [4.0, 3.0], 0.5).unwrap();
    let flat = HeightField::new(2, 2, vec![-1.0; 4], [1.0, 1.0], 0.25).unwrap();
    let (mut plant, mut scene) = (MultibodyPlantBuilder::new(1e-3).unwrap(), SceneGraph::new());
    plant
        .register_as_source_for_scene_graph(&mut scene)
        .unwrap();
    let world = BodyIndex::WORLD;
    let x_wg = math::pose(math::rpy(0.5, 0.0, 0.0), Vector3::new(1.0, 2.0, 3.0));
    let properties = ProximityProperties::new();
    for (name, shape, x) in [
        ("hills", field, x_wg),
        ("flat", flat, Isometry3::identity()),
    ] {
        plant
            .register_collision_geometry(&mut scene, world, x, shape, name, properties.clone())
            .unwrap();
    }
    let plant = plant.build_with_scene(&mut scene).unwrap();
    let writer = ModelWriter::with_scene_graph(&plant, &scene);
    let written = writer.write(OutputFormat::Mjcf).unwrap();
    let text = &written.text;
    let (mut plant, mut scene) = (MultibodyPlantBuilder::new(1e-3).unwrap(), SceneGraph::new());
    let mut parser = Parser::with_scene_graph(&mut plant, &mut scene);
    parser.set_mjcf_semantics(MjcfSemantics::MuJoCo);
    parser.add_models_from_string(text, "xml").unwrap();
    let inspector = scene.model_inspector();
    let found: Vec<_> = plant
        .collision_geometries(world)
        .iter()
        .map(|id| {
            let Shape::HeightField(field) = inspector.shape(*id).unwrap() else {
                panic!("{text}");
            };
            (field.clone(), *inspector.pose_in_frame(*id).unwrap())
        })
        .collect();
    assert_eq!(found.len(), 2);
    let top = |(field, x): &(HeightField, Isometry3<f64>), i: usize| {
        x * nalgebra::Point3::new(0.0, 0.0, field.heights()[i])
    };
    let bottom = |(field, x): &(HeightField, Isometry3<f64>)| {
        x * nalgebra::Point3::new(0.0, 0.0, field.base())
    };
    for (i, height) in heights.iter().enumerate() {
        let expected = x_wg * nalgebra::Point3::new(0.0, 0.0, *height);
        assert!((top(&found[0], i) - expected).norm() < 1e-12);
    }
    let expected = x_wg * nalgebra::Point3::new(0.0, 0.0, -0.5);
    assert!((bottom(&found[0]) - expected).norm() < 1e-12);
    assert_eq!(found[0].0.size(), [4.0, 3.0]);
    assert!((top(&found[1], 3).z + 1.0).abs() < 1e-12);
    assert!((bottom(&found[1]).z + 1.25).abs() < 1e-12);
}
