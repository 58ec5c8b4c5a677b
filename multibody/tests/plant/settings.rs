//! Changes of limits, damping and rotors after loading.

use super::*;

/// A universal joint and, outboard of it, an actuated slide.
fn crane() -> (MultibodyPlantBuilder, [JointIndex; 2], JointActuatorIndex) {
    let mut p = plant();
    let [arm, load] = ["arm", "load"].map(|name| add_body(&mut p, name));
    let neck = p
        .add_joint(Joint::universal("neck", BodyIndex::WORLD, arm))
        .unwrap();
    let slide = Joint::prismatic("slide", arm, load, Vector3::z()).unwrap();
    let slide = p.add_joint(slide).unwrap();
    let winch = p.add_joint_actuator("winch", slide, 50.0).unwrap();
    (p, [neck, slide], winch)
}

#[test]
fn limits_are_those_that_were_set() {
    let (mut p, [neck, slide], winch) = crane();
    p.set_joint_position_limits(neck, &[-1.0, -2.0], &[1.0, 2.0])
        .unwrap();
    p.set_joint_velocity_limits(slide, &[-0.5], &[0.25])
        .unwrap();
    p.set_joint_acceleration_limits(neck, &[-3.0, -4.0], &[5.0, 6.0])
        .unwrap();
    p.set_joint_damping(neck, &[0.1, 0.2]).unwrap();
    p.set_effort_limit(winch, 20.0).unwrap();
    let p = p.build().unwrap();
    let none = f64::INFINITY;
    assert_eq!(p.position_lower_limits(), [-1.0, -2.0, -none]);
    assert_eq!(p.position_upper_limits(), [1.0, 2.0, none]);
    assert_eq!(p.velocity_lower_limits(), [-none, -none, -0.5]);
    assert_eq!(p.velocity_upper_limits(), [none, none, 0.25]);
    assert_eq!(p.acceleration_lower_limits(), [-3.0, -4.0, -none]);
    assert_eq!(p.acceleration_upper_limits(), [5.0, 6.0, none]);
    assert_eq!(p.joint(neck).unwrap().damping(), [0.1, 0.2]);
    assert_eq!(p.effort_lower_limits(), [-20.0]);
    assert_eq!(p.effort_upper_limits(), [20.0]);
}

/// Setters make the same checks, with the same messages, as construction; a refused setting changes
/// nothing.
#[test]
fn refused_settings_change_nothing() {
    let (mut p, [neck, slide], winch) = crane();
    let made = |f: fn(Joint) -> Result<Joint>| {
        let slide = Joint::prismatic("slide", BodyIndex::WORLD, BodyIndex::WORLD, Vector3::z());
        f(slide.unwrap()).unwrap_err().to_string()
    };
    let nan = f64::NAN;
    for (set, made) in [
        (
            p.set_joint_position_limits(slide, &[2.0], &[1.0]),
            made(|j| j.with_position_limits(vec![2.0], vec![1.0])),
        ),
        (
            p.set_joint_velocity_limits(slide, &[nan], &[1.0]),
            made(|j| j.with_velocity_limits(vec![f64::NAN], vec![1.0])),
        ),
        (
            p.set_joint_acceleration_limits(slide, &[], &[1.0]),
            made(|j| j.with_acceleration_limits(vec![], vec![1.0])),
        ),
        (
            p.set_joint_damping(slide, &[-1.0]),
            made(|j| j.with_damping(-1.0)),
        ),
        (
            p.set_joint_damping(slide, &[1.0, 1.0]),
            made(|j| j.with_dampings(vec![1.0, 1.0])),
        ),
    ] {
        assert_eq!(set.unwrap_err().to_string(), made);
    }
    assert!(p.set_joint_position_limits(neck, &[0.0], &[0.0]).is_err());
    for bad in [0.0, -1.0, nan] {
        assert!(p.set_effort_limit(winch, bad).is_err());
    }
    let (fresh, ..) = crane();
    for (index, joint) in fresh.joints() {
        let ours = p.joint(index).unwrap();
        assert_eq!(ours.position_lower_limits(), joint.position_lower_limits());
        assert_eq!(ours.position_upper_limits(), joint.position_upper_limits());
        assert_eq!(ours.velocity_lower_limits(), joint.velocity_lower_limits());
        assert_eq!(
            ours.acceleration_upper_limits(),
            joint.acceleration_upper_limits()
        );
        assert_eq!(ours.damping(), joint.damping());
    }
    assert_eq!(p.actuators(), fresh.actuators());
}

#[test]
fn indices_of_another_plant_are_refused() {
    let (_, [_, slide], winch) = crane();
    let mut p = plant();
    assert!(p.set_joint_position_limits(slide, &[0.0], &[1.0]).is_err());
    assert!(p.set_joint_velocity_limits(slide, &[0.0], &[1.0]).is_err());
    assert!(
        p.set_joint_acceleration_limits(slide, &[0.0], &[1.0])
            .is_err()
    );
    assert!(p.set_joint_damping(slide, &[0.0]).is_err());
    assert!(p.set_effort_limit(winch, 1.0).is_err());
    assert!(p.joint_actuator(winch).is_err());
}

/// Gravity on a body, and its potential energy, are those of the weight that is left.
#[test]
fn a_fraction_of_the_weight_is_compensated() {
    let mut p = plant();
    let [heavy, light] = ["heavy", "light"].map(|name| add_body(&mut p, name));
    for bad in [f64::NAN, f64::INFINITY] {
        let error = p.set_gravity_compensation(heavy, bad).unwrap_err();
        let text = format!("body 'heavy': the fraction must be finite, got {bad:?}");
        assert!(error.to_string().contains(&text), "{error}");
    }
    let mut larger = plant();
    let [.., stranger] = ["a", "b", "c"].map(|name| add_body(&mut larger, name));
    assert!(p.set_gravity_compensation(stranger, 1.0).is_err());
    p.set_gravity_compensation(light, 1.5).unwrap();
    let p = p.build().unwrap();
    let fractions = [heavy, light].map(|b| p.body(b).unwrap().gravity_compensation());
    assert_eq!(fractions, [0.0, 1.5]);
    let raised = |body: BodyIndex| {
        let mut q = p.default_positions();
        // Of a free body, the coordinates of a quaternion and of a position.
        q[7 * (body.index() - 1) + 6] += 1.0;
        let positions = p.calc_position_kinematics(&q).unwrap();
        p.calc_potential_energy(&positions).unwrap()
    };
    let positions = p.calc_position_kinematics(&p.default_positions()).unwrap();
    let weights = p.calc_gravity_generalized_forces(&positions).unwrap();
    let rest = p.calc_potential_energy(&positions).unwrap();
    for (body, left) in [(heavy, 1.0), (light, -0.5)] {
        let weight = left * p.body(body).unwrap().spatial_inertia().mass() * 9.81;
        assert!((weights[6 * (body.index() - 1) + 5] + weight).abs() < 1e-13);
        assert!((raised(body) - rest - weight).abs() < 1e-13);
    }
}

/// The tree stores the inertia of the motors as seen by each joint.
#[test]
fn rotors_add_to_the_mass_matrix() {
    let (mut p, _, winch) = crane();
    p.set_default_rotor(winch, 0.5, 4.0).unwrap();
    let p = p.build().unwrap();
    let positions = p.calc_position_kinematics(&[0.1, 0.2, 0.3]).unwrap();
    assert_eq!(p.calc_mass_matrix(&positions).unwrap()[(2, 2)], 8.0);
}
