//! Pairs of geometries with contact properties of their own.

use nalgebra::{Isometry3, Vector3};
use tarragon_fem::DeformableBodyConfig;
use tarragon_framework::prelude::*;
use tarragon_geometry::*;
use tarragon_multibody::*;

fn coulomb(mu: f64) -> CoulombFriction {
    CoulombFriction::new(mu, mu).unwrap()
}

/// Mean velocity along x of a deformable ball that has slid over ground for 20 ms from 1 m/s, with
/// the friction of both geometries and those that are given to their pair, one after the other.
fn velocity_after_sliding(mu: f64, of_pair: &[Option<f64>]) -> f64 {
    let mut plant = MultibodyPlantBuilder::new(2e-3).unwrap();
    let mut scene = SceneGraph::new();
    plant
        .register_as_source_for_scene_graph(&mut scene)
        .unwrap();
    let material = || {
        ProximityProperties::new()
            .with_friction(coulomb(mu))
            .with_dissipation(0.0)
            .and_then(|p| p.with_point_stiffness(1e6))
            .unwrap()
    };
    let compliant = material()
        .with_compliant_hydroelastic(1e6)
        .and_then(|p| p.with_resolution_hint(1.0))
        .unwrap();
    let (world, x) = (BodyIndex::WORLD, Isometry3::translation(0.0, 0.0, -0.5));
    let shape = BoxShape::new(4.0, 4.0, 1.0).unwrap();
    let ground = plant
        .register_collision_geometry(&mut scene, world, x, shape, "ground", compliant)
        .unwrap();
    // A little deep from the start.
    let x = Isometry3::translation(0.0, 0.0, 0.098);
    let ball = GeometryInstance::new(x, Sphere::new(0.1).unwrap(), "ball").unwrap();
    let ball = ball.with_proximity(material());
    let config = DeformableBodyConfig::default();
    let body = plant
        .register_deformable_body(&mut scene, ball, &config, 0.1)
        .unwrap();
    for mu in of_pair {
        let own = ContactPairProperties {
            friction: mu.map(coulomb),
            ..ContactPairProperties::default()
        };
        let ball = plant.deformable_bodies()[0].geometry_id();
        plant.add_contact_pair(ground, ball, own).unwrap();
    }
    let mut b = DiagramBuilder::new();
    let (plant, _) = add_multibody_plant_scene_graph(&mut b, plant, scene).unwrap();
    let diagram = b.build().unwrap();
    let mut context = diagram.default_context();
    let n = plant.deformable_bodies()[0].num_vertices();
    plant
        .set_deformable_velocities(&mut context, body, &vec![Vector3::x(); n])
        .unwrap();
    let mut sim = Simulator::new(&diagram, context).unwrap();
    sim.advance_to(0.02).unwrap();
    let v = plant.deformable_velocities(sim.context(), body).unwrap();
    v.iter().map(|v| v.x).sum::<f64>() / n as f64
}

#[test]
fn pairs_with_deformable_bodies_have_their_own_friction() {
    let (smooth, rough) = (
        velocity_after_sliding(0.0, &[]),
        velocity_after_sliding(0.5, &[]),
    );
    assert!(rough < smooth - 1e-4, "{rough} {smooth}");
    assert_eq!(velocity_after_sliding(0.0, &[Some(0.5)]), rough);
    assert_eq!(velocity_after_sliding(0.5, &[Some(0.0)]), smooth);
    // The last addition of a pair counts.
    let reset = [Some(0.5), None];
    assert_eq!(velocity_after_sliding(0.0, &reset), smooth);
}
