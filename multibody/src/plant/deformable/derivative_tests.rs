//! Derivatives of steps of a plant with deformable bodies.

use crate::model::DeformableBodyIndex;
use crate::plant::building::plant_builder::MultibodyPlantBuilder;
use crate::plant::{DeformableTangent, MultibodyPlant, add_multibody_plant_scene_graph};
use nalgebra::{Isometry3, Vector3};
use tarragon_fem::{DeformableBodyConfig, MaterialModel};
use tarragon_framework::AutoDiff;
use tarragon_framework::prelude::{Block, Diagram, DiagramBuilder, Simulator};
use tarragon_geometry::{BoxShape, GeometryInstance, ProximityProperties, SceneGraph, Sphere};

const TIME_STEP: f64 = 0.01;

/// A plant and its scene with the floor of a box.
pub(super) fn with_floor() -> (MultibodyPlantBuilder, SceneGraph) {
    let (mut plant, mut scene) = (
        MultibodyPlantBuilder::new(TIME_STEP).unwrap(),
        SceneGraph::new(),
    );
    plant
        .register_as_source_for_scene_graph(&mut scene)
        .unwrap();
    let properties = ProximityProperties::new()
        .with_compliant_hydroelastic(1e7)
        .and_then(|p| p.with_resolution_hint(1.0))
        .unwrap();
    let floor = BoxShape::new(2.0, 2.0, 1.0).unwrap();
    plant
        .register_collision_geometry(
            &mut scene,
            crate::BodyIndex::WORLD,
            Isometry3::translation(0.0, 0.0, -0.5),
            floor,
            "floor",
            properties,
        )
        .unwrap();
    (plant, scene)
}

/// A soft ball at some height, above the floor of a box.
fn ball(height: f64) -> (Block<MultibodyPlant>, Diagram<f64>, DeformableBodyIndex) {
    let (mut plant, mut scene) = with_floor();
    let at = Isometry3::translation(0.0, 0.0, height);
    let ball = GeometryInstance::new(at, Sphere::new(0.1).unwrap(), "ball").unwrap();
    let ball = ball.with_proximity(ProximityProperties::new());
    let config = DeformableBodyConfig {
        youngs_modulus: 1e5,
        stiffness_damping_coefficient: 0.01,
        material_model: MaterialModel::LinearCorotated,
        ..Default::default()
    };
    let body = plant
        .register_deformable_body(&mut scene, ball, &config, 0.1)
        .unwrap();
    let top = Vector3::new(0.0, 0.0, height + 0.09);
    plant
        .set_wall_boundary_condition(body, &top, &-Vector3::z())
        .unwrap();
    let mut b = DiagramBuilder::new();
    let (plant, _) = add_multibody_plant_scene_graph(&mut b, plant, scene).unwrap();
    (plant, b.build().unwrap(), body)
}

/// A smooth change of the position or velocity of a point.
fn direction(p: &Vector3<f64>, phase: f64) -> Vector3<f64> {
    p.map(|x| (30.0 * x + phase).sin())
}

#[test]
fn steps_of_autodiff_diagrams_have_derivatives_by_the_state() {
    let (plant, diagram, body) = ball(0.5);
    let q = plant.deformable_body(body).unwrap();
    let q = q.reference_positions().to_vec();
    let v: Vec<_> = q.iter().map(|p| direction(p, 1.0)).collect();
    let (dq, dv): (Vec<_>, Vec<_>) = q
        .iter()
        .map(|p| (direction(p, 2.0), direction(p, 3.0)))
        .unzip();
    let dual = diagram.to_scalar::<AutoDiff>().unwrap();
    let mut context = dual.default_context();
    let ports = dual.ports(&plant).unwrap();
    let along = |x: &Vector3<f64>, d: &Vector3<f64>| {
        x.zip_map(d, |x, d| {
            AutoDiff::constant(x) + AutoDiff::variable(0.0, 5) * d
        })
    };
    let lift = |x: &[Vector3<f64>], d: &[Vector3<f64>]| -> Vec<_> {
        x.iter().zip(d).map(|(x, d)| along(x, d)).collect()
    };
    ports
        .set_deformable_positions(&mut context, body, &lift(&q, &dq))
        .unwrap();
    ports
        .set_deformable_velocities(&mut context, body, &lift(&v, &dv))
        .unwrap();
    let mut sim = Simulator::new(&dual, context).unwrap();
    sim.advance_to(TIME_STEP).unwrap();
    let q1 = ports.deformable_positions(sim.context(), body).unwrap();
    let v1 = ports.deformable_velocities(sim.context(), body).unwrap();

    let mut step = plant.calc_free_deformable_step(body, &q, &v).unwrap();
    let change = DeformableTangent {
        positions: dq,
        velocities: dv,
        ..Default::default()
    };
    let [dq1, dv1] = step.push_forward(&change).unwrap();
    let lists = [(&q1, step.positions(), dq1), (&v1, step.velocities(), dv1)];
    for (found, values, derivatives) in lists {
        let all = found.iter().zip(values.iter().zip(&derivatives));
        for (found, (value, derivative)) in all {
            let error = (found.map(|x| x.re) - value).amax();
            // One solution of the step, and one that is refined.
            assert!(error < 1e-9, "{error}");
            assert!((found.map(|x| x.eps[5]) - derivative).amax() < 1e-12);
        }
    }
    assert!(lists_differ(&q1, &q), "nothing moved");
}

fn lists_differ(found: &[Vector3<AutoDiff>], q: &[Vector3<f64>]) -> bool {
    let mut all = found.iter().zip(q);
    all.any(|(a, b)| (a.map(|x| x.re) - b).amax() > 1e-4)
}

#[test]
fn disabled_bodies_keep_the_derivatives_of_their_positions() {
    // One in the air and one that would touch the floor.
    for height in [0.5, 0.09] {
        let (plant, diagram, body) = ball(height);
        let dual = diagram.to_scalar::<AutoDiff>().unwrap();
        let mut context = dual.default_context();
        let ports = dual.ports(&plant).unwrap();
        ports
            .set_deformable_enabled(&mut context, body, false)
            .unwrap();
        let mut q = ports.deformable_positions(&context, body).unwrap();
        q[0].x += AutoDiff::variable(0.0, 2);
        ports
            .set_deformable_positions(&mut context, body, &q)
            .unwrap();
        let mut sim = Simulator::new(&dual, context).unwrap();
        sim.advance_to(TIME_STEP).unwrap();
        let end = ports.deformable_positions(sim.context(), body).unwrap();
        assert_eq!((end[0].x.re, end[0].x.eps), (q[0].x.re, q[0].x.eps));
        assert_eq!(end[1].x.eps, [0.0; 8]);
    }
}

/// Positions before the last step, which nobody can set, tell where the iterations begin.
#[test]
fn steps_in_contact_end_alike_wherever_their_iterations_begin() {
    let (plant, diagram, body) = ball(0.095);
    let ports = diagram.ports(&plant).unwrap();
    let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
    sim.advance_to(5.0 * TIME_STEP).unwrap();
    let [q, v] = [
        ports.deformable_positions(sim.context(), body).unwrap(),
        ports.deformable_velocities(sim.context(), body).unwrap(),
    ];
    sim.advance_to(6.0 * TIME_STEP).unwrap();
    let mut context = diagram.default_context();
    ports
        .set_deformable_positions(&mut context, body, &q)
        .unwrap();
    ports
        .set_deformable_velocities(&mut context, body, &v)
        .unwrap();
    let mut other = Simulator::new(&diagram, context).unwrap();
    other.advance_to(TIME_STEP).unwrap();
    let ends = [&sim, &other].map(|sim| ports.deformable_velocities(sim.context(), body).unwrap());
    let moved = v.iter().zip(&ends[0]).map(|(a, b)| (a - b).amax());
    assert!(moved.fold(0.0_f64, f64::max) > 0.01);
    let apart = ends[0].iter().zip(&ends[1]).map(|(a, b)| (a - b).amax());
    // Iterations end at 1e-8 of the momentum.
    assert!(apart.fold(0.0_f64, f64::max) < 1e-8);
}
