//! Parameters of a context act on all quantities. The expected values come from a second model that
//! is built with the same numbers.

use nalgebra::{Matrix3, Vector3};
use tarragon_framework::prelude::*;
use tarragon_multibody::*;

/// Parameters of an arm of two links.
struct Numbers {
    mass: f64,
    p_bobcm_b: Vector3<f64>,
    central: Matrix3<f64>,
    damping: f64,
    rotor: f64,
    gear: f64,
    stiffness: f64,
}

const LIGHT: Numbers = Numbers {
    mass: 1.0,
    p_bobcm_b: Vector3::new(0.1, 0.0, -0.2),
    central: Matrix3::new(0.02, 0.0, 0.0, 0.0, 0.03, 0.0, 0.0, 0.0, 0.04),
    damping: 0.1,
    rotor: 0.001,
    gear: 10.0,
    stiffness: 2.0,
};

const HEAVY: Numbers = Numbers {
    mass: 10.0,
    p_bobcm_b: Vector3::new(0.0, 0.05, -0.4),
    central: Matrix3::new(0.3, 0.01, 0.0, 0.01, 0.25, 0.0, 0.0, 0.0, 0.2),
    damping: 0.7,
    rotor: 0.004,
    gear: 20.0,
    stiffness: 50.0,
};

/// An arm whose outer link, outer joint, motor and spring have these parameters.
fn arm(n: &Numbers) -> MultibodyPlant {
    let mut plant = MultibodyPlantBuilder::new(0.0).unwrap();
    let instance = ModelInstanceIndex::DEFAULT;
    let inner = SpatialInertia::plausible(2.0, Vector3::new(0.0, 0.0, -0.3)).unwrap();
    let inner = plant.add_rigid_body("inner", instance, inner).unwrap();
    let outer = SpatialInertia::from_central(n.mass, n.p_bobcm_b, n.central).unwrap();
    let outer = plant.add_rigid_body("outer", instance, outer).unwrap();
    let shoulder = Joint::revolute("shoulder", BodyIndex::WORLD, inner, Vector3::y()).unwrap();
    plant.add_joint(shoulder).unwrap();
    let elbow = Joint::revolute("elbow", inner, outer, Vector3::x()).unwrap();
    let elbow = elbow
        .with_pose_on_parent(nalgebra::Isometry3::translation(0.0, 0.0, -0.5))
        .with_damping(n.damping)
        .unwrap();
    let elbow = plant.add_joint(elbow).unwrap();
    let motor = plant.add_joint_actuator("motor", elbow, f64::INFINITY);
    let motor = motor.unwrap();
    plant.set_default_rotor(motor, n.rotor, n.gear).unwrap();
    let spring = ForceElement::RevoluteSpring {
        joint: elbow,
        nominal_angle: 0.3,
        stiffness: n.stiffness,
    };
    plant.add_force_element(spring).unwrap();
    plant.build().unwrap()
}

/// All quantities of a plant in a context, in a fixed order.
fn quantities(here: &PlantInContext<'_, f64>) -> Vec<f64> {
    let vdot = [0.4, -0.9];
    let forces = here.calc_force_elements_contribution();
    let p = Vector3::new(0.3, 0.2, 0.1);
    let momentum = here.calc_spatial_momentum_in_world(&p);
    let inverse = here
        .calc_inverse_dynamics_derivatives(&vdot, &forces)
        .unwrap();
    let forward = here.calc_forward_dynamics_derivatives(&forces).unwrap();
    let jacobian = here
        .calc_jacobian_center_of_mass_translational_velocity()
        .unwrap();
    let velocity = here
        .calc_center_of_mass_translational_velocity_in_world()
        .unwrap();
    let center = here.calc_center_of_mass_position_in_world().unwrap();
    [
        &[
            here.calc_total_mass(),
            here.calc_kinetic_energy(),
            here.calc_potential_energy(),
            here.calc_conservative_power(),
            here.calc_non_conservative_power(),
        ],
        here.calc_mass_matrix().as_slice(),
        &here.calc_bias_term(),
        &here.calc_gravity_generalized_forces(),
        &here.calc_inverse_dynamics(&vdot).unwrap(),
        &here
            .calc_inverse_dynamics_with_forces(&vdot, &forces)
            .unwrap(),
        &here.calc_forward_dynamics(&forces).unwrap(),
        momentum.rotational.as_slice(),
        momentum.translational.as_slice(),
        center.as_slice(),
        velocity.as_slice(),
        jacobian.as_slice(),
        &inverse.tau,
        inverse.dtau_dq.as_slice(),
        inverse.dtau_dv.as_slice(),
        inverse.dtau_dvdot.as_slice(),
        &forward.vdot,
        forward.dvdot_dq.as_slice(),
        forward.dvdot_dv.as_slice(),
    ]
    .concat()
}

#[test]
fn all_quantities_follow_the_parameters_of_the_context() {
    let mut found = vec![];
    for (model, context) in [(LIGHT, None), (HEAVY, None), (LIGHT, Some(HEAVY))] {
        let mut b = DiagramBuilder::new();
        let plant = b.add("plant", arm(&model));
        let mut ctx = b.build().unwrap().default_context();
        plant.set_positions(&mut ctx, [0.5, -0.8]).unwrap();
        plant.set_velocities(&mut ctx, [1.5, 0.7]).unwrap();
        if let Some(n) = context {
            let outer = plant.body_by_name("outer").unwrap();
            let elbow = plant.joint_by_name("elbow").unwrap();
            let motor = plant.joint_actuator_by_name("motor").unwrap();
            let (mass, p, i) = (n.mass, n.p_bobcm_b, n.central);
            plant
                .set_spatial_inertia(&mut ctx, outer, mass, p, i)
                .unwrap();
            plant
                .set_damping_vector(&mut ctx, elbow, &[n.damping])
                .unwrap();
            plant.set_rotor_inertia(&mut ctx, motor, n.rotor).unwrap();
            plant.set_gear_ratio(&mut ctx, motor, n.gear).unwrap();
            plant
                .set_spring_stiffness(&mut ctx, 0, n.stiffness)
                .unwrap();
        }
        found.push(quantities(&plant.in_context(&ctx).unwrap()));
    }
    let [light, heavy, changed] = &found[..] else {
        panic!()
    };
    assert_eq!(heavy.len(), 61);
    for (i, (found, expected)) in changed.iter().zip(heavy).enumerate() {
        // Inertias are converted to unit inertias and back.
        let near = (found - expected).abs() < 1e-12 * expected.abs().max(1.0);
        assert!(near, "number {i}: {found}, not {expected}");
    }
    let differ = light.iter().zip(heavy).filter(|(a, b)| a != b).count();
    assert!(differ > 40, "{differ}");
}
