//! Errors of setters of parameters: nothing changes.

use super::super::discrete::ALL;
use super::{SLIDER, Slider, arm, results};
use nalgebra::{Matrix3, Vector3};
use tarragon_framework::ErrorKind;
use tarragon_multibody::*;

#[test]
fn invalid_values_and_foreign_elements_change_nothing() {
    let slider = Slider::new(1e-3, ALL[0], &SLIDER);
    let mut context = slider.diagram.default_context();
    let ports = &*slider.plant;
    slider.start(ports, &mut context, 0.5).unwrap();
    let before = results(ports, &context).unwrap();
    let c = &mut context;
    let (other_diagram, other) = arm(1e-3);
    let (foreign_body, foreign_joint) = {
        let plant = other.system();
        (
            plant.body_by_name("free").unwrap(),
            plant.joint_by_name("free").unwrap(),
        )
    };
    let (p0, unit) = (Vector3::zeros(), Matrix3::identity());
    let skew = Matrix3::new(1.0, 0.1, 0.0, 0.2, 1.0, 0.0, 0.0, 0.0, 1.0);
    let foreign_geometry = {
        let other = Slider::new(1e-3, ALL[0], &SLIDER);
        other.ball
    };
    let material = |change: fn(&mut ContactMaterialOverride<f64>)| {
        let mut own = ContactMaterialOverride::default();
        change(&mut own);
        own
    };
    let mut errors = vec![];
    for mass in [-1.0, f64::NAN, f64::INFINITY] {
        errors.push(ports.set_mass(c, slider.block, mass));
        errors.push(ports.set_spatial_inertia(c, slider.block, mass, p0, unit));
        errors.push(ports.set_damping_vector(c, slider.rail, &[mass]));
        errors.push(ports.set_rotor_inertia(c, slider.motor, mass));
        errors.push(ports.set_spring_stiffness(c, 0, mass));
    }
    errors.push(ports.set_gear_ratio(c, slider.motor, f64::NAN));
    errors.push(ports.set_mass(c, BodyIndex::WORLD, 1.0));
    errors.push(ports.set_mass(c, foreign_body, 1.0));
    errors.push(ports.set_spatial_inertia(c, slider.block, 0.0, p0, unit));
    errors.push(ports.set_spatial_inertia(c, slider.block, 1.0, p0, skew));
    errors.push(ports.set_spatial_inertia(c, slider.block, 1.0, p0, -unit));
    errors.push(ports.set_damping_vector(c, slider.rail, &[]));
    errors.push(ports.set_damping_vector(c, foreign_joint, &[1.0]));
    errors.push(ports.set_spring_stiffness(c, 1, 1.0));
    let which = BushingConstants::ForceDamping;
    errors.push(ports.set_bushing_constants(c, 0, which, p0));
    for own in [
        material(|m| m.static_friction = Some(-0.1)),
        material(|m| m.dynamic_friction = Some(f64::NAN)),
        material(|m| m.stiffness = Some(0.0)),
        material(|m| m.stiffness = Some(-1.0)),
        material(|m| m.dissipation = Some(-1.0)),
        material(|m| m.relaxation_time = Some(f64::INFINITY)),
        material(|m| (m.static_friction, m.dynamic_friction) = (Some(0.1), Some(0.2))),
    ] {
        errors.push(ports.set_contact_material(c, slider.ball, own));
    }
    let own = ContactMaterialOverride::default();
    errors.push(ports.set_contact_material(c, foreign_geometry, own));
    for (i, error) in errors.into_iter().enumerate() {
        assert!(error.is_err(), "{i}");
    }
    // The context of another diagram.
    let mut elsewhere = other_diagram.default_context();
    assert!(ports.set_mass(&mut elsewhere, slider.block, 1.0).is_err());
    assert_eq!(results(ports, c).unwrap(), before);

    let error = ports.set_mass(c, slider.block, -1.0).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    let expected = "block': the mass (kg) must be finite and at least 0, got -1.0";
    assert!(error.to_string().contains(expected), "{error}");
}
