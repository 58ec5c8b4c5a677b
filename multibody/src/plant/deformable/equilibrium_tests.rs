//! Deformable bodies that rest on rigid ones.

use crate::plant::add_multibody_plant_scene_graph;
use crate::plant::deformable::derivative_tests::with_floor;
use nalgebra::Isometry3;
use tarragon_fem::{DeformableBodyConfig, MaterialModel};
use tarragon_framework::prelude::{DiagramBuilder, Simulator};
use tarragon_geometry::{GeometryInstance, ProximityProperties, Sphere};

/// The ground carries the weight of a ball that has come to rest.
#[test]
fn the_ground_carries_the_weight_of_a_resting_ball() {
    for material_model in [MaterialModel::LinearCorotated, MaterialModel::NeoHookean] {
        let (mut plant, mut scene) = with_floor();
        let at = Isometry3::translation(0.0, 0.0, 0.08);
        let ball = GeometryInstance::new(at, Sphere::new(0.08).unwrap(), "ball").unwrap();
        let ball = ball.with_proximity(ProximityProperties::new());
        let config = DeformableBodyConfig {
            youngs_modulus: 1e5,
            poissons_ratio: 0.3,
            mass_density: 1e3,
            mass_damping_coefficient: 1.0,
            stiffness_damping_coefficient: 0.05,
            material_model,
            ..Default::default()
        };
        let body = plant
            .register_deformable_body(&mut scene, ball, &config, 0.08)
            .unwrap();
        let mut b = DiagramBuilder::new();
        let (plant, _) = add_multibody_plant_scene_graph(&mut b, plant, scene).unwrap();
        let diagram = b.build().unwrap();
        let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
        // Until it no longer rocks on its few faces.
        sim.advance_to(12.0).unwrap();
        let ports = diagram.ports(&plant).unwrap();
        let contact_results = ports.contact_results().unwrap();
        let contacts = sim.context().eval(contact_results).unwrap();
        let [contact] = contacts.deformable_contacts() else {
            panic!("{material_model:?}: {contacts:?}");
        };
        let weight = 9.81 * plant.deformable_body(body).unwrap().mass();
        let error = contact.f_ac_w.translational.z / weight - 1.0;
        // Drake's ball of `closed.json.gz` is at 8e-9.
        assert!(error.abs() < 1e-7, "{material_model:?}: {error:e}");
    }
}
