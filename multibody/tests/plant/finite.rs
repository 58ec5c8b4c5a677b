//! Numbers that are not finite: the plant refuses them and names the coordinate.

use super::*;

const BAD: [f64; 3] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];

/// Default positions of `mixed`: the free base, then hinge and slide.
fn rest() -> Vec<f64> {
    mixed().default_positions()
}

fn message<V>(result: Result<V>) -> String {
    result.map(|_| ()).unwrap_err().to_string()
}

#[test]
fn a_position_that_is_not_finite_is_an_error_that_names_it() {
    let p = mixed();
    let expected = |k: usize, bad: f64| {
        let name = &p.position_names()[k];
        format!("position {k} ('{name}') must be finite, got {bad}")
    };
    for (k, bad) in (0..p.num_positions()).flat_map(|k| BAD.map(|bad| (k, bad))) {
        let mut q = rest();
        q[k] = bad;
        let mut out = vec![];
        assert_eq!(message(p.calc_body_poses(&q, &mut out)), expected(k, bad));
        assert_eq!(message(p.calc_position_kinematics(&q)), expected(k, bad));
        let dual: Vec<AutoDiff> = q.iter().map(|x| AutoDiff::from(*x)).collect();
        let from_dual = message(p.calc_position_kinematics(&dual));
        assert_eq!(from_dual, expected(k, bad));
    }
    let mut q = rest();
    q[7] = f64::NAN;
    assert_eq!(
        message(p.calc_position_kinematics(&q)),
        "position 7 ('ab') must be finite, got NaN"
    );
}

/// Sums of infinities of both signs, and numbers whose sum overflows, do not mislead the check.
#[test]
fn large_finite_positions_are_accepted() {
    let p = mixed();
    let mut q = rest();
    for k in [4, 5, 6, 8] {
        q[k] = f64::MAX;
    }
    p.calc_position_kinematics(&q).unwrap();
    (q[4], q[5]) = (f64::INFINITY, f64::NEG_INFINITY);
    let e = message(p.calc_position_kinematics(&q));
    assert_eq!(e, "position 4 ('a_x') must be finite, got inf");
}

/// Also if the square of its length overflows.
#[test]
fn an_axis_of_any_finite_length_has_a_direction() {
    let (a, b) = (BodyIndex::WORLD, BodyIndex::WORLD);
    for length in [1e-3, 1.0, 1e200, f64::MAX] {
        let joint = Joint::revolute("j", a, b, Vector3::new(length, -length, 0.0)).unwrap();
        let axis = joint.kind().axis().unwrap();
        let error = (axis.into_inner() - Vector3::new(1.0, -1.0, 0.0).normalize()).norm();
        assert!(error < 1e-15, "{length:e}: {axis:?}");
    }
    for bad in BAD {
        assert!(Joint::prismatic("j", a, b, Vector3::new(bad, 0.0, 1.0)).is_err());
    }
}

#[test]
fn velocities_accelerations_and_rates_must_be_finite() {
    let p = mixed();
    let (n, m) = (p.num_velocities(), p.num_positions());
    let positions = p.calc_position_kinematics(&rest()).unwrap();
    let velocities = p
        .calc_velocity_kinematics(&positions, &vec![0.0; n])
        .unwrap();
    for (k, bad) in (0..n).flat_map(|k| BAD.map(|bad| (k, bad))) {
        let name = &p.velocity_names()[k];
        let expected = |what: &str| format!("{what} {k} ('{name}') must be finite, got {bad}");
        let mut v = vec![0.0; n];
        v[k] = bad;
        let of_velocity = [
            message(p.calc_velocity_kinematics(&positions, &v)),
            message(p.map_velocity_to_qdot(&positions, &v)),
        ];
        assert_eq!(of_velocity, [(); 2].map(|()| expected("velocity")));
        let of_acceleration = [
            message(p.calc_inverse_dynamics(&positions, &velocities, &v)),
            message(p.calc_spatial_accelerations(&positions, &velocities, &v)),
        ];
        assert_eq!(of_acceleration, [(); 2].map(|()| expected("acceleration")));
    }
    let mut qdot = vec![0.0; m];
    qdot[8] = f64::NAN;
    assert_eq!(
        message(p.map_qdot_to_velocity(&positions, &qdot)),
        "derivative of position 8 ('bc') must be finite, got NaN"
    );
}

/// A refused update leaves the kinematics unchanged.
#[test]
fn a_refused_update_keeps_the_kinematics() {
    let p = mixed();
    let n = p.num_velocities();
    let mut positions = p.calc_position_kinematics(&rest()).unwrap();
    let mut velocities = p
        .calc_velocity_kinematics(&positions, &vec![0.0; n])
        .unwrap();
    assert!(
        p.update_position_kinematics(&mut positions, &vec![f64::NAN; n + 1])
            .is_err()
    );
    assert_eq!(positions.positions(), rest());
    let refused = p.update_velocity_kinematics(&mut velocities, &positions, &vec![f64::NAN; n]);
    assert!(refused.is_err());
    assert_eq!(velocities.velocities(), vec![0.0; n]);
}

#[test]
fn the_plant_refuses_nan_from_a_port() {
    let mut p = plant();
    let a = add_body(&mut p, "a");
    let slide = Joint::prismatic("slide", BodyIndex::WORLD, a, Vector3::x()).unwrap();
    p.add_joint(slide).unwrap();
    p.set_position_source(PositionSource::InputPort);
    let p = p.build().unwrap();
    let mut b = DiagramBuilder::new();
    let p = b.add("plant", p);
    let mut ctx = b.build().unwrap().default_context();
    ctx.fix(p.position().unwrap(), vec![f64::NAN]).unwrap();
    ctx.fix(p.velocity().unwrap(), vec![0.0]).unwrap();
    let expected = "position 0 ('slide') must be finite, got NaN";
    let e = ctx.eval(p.body_poses).unwrap_err().to_string();
    assert!(e.ends_with(expected), "{e}");
    let e = ctx.eval(p.body_spatial_velocities).unwrap_err().to_string();
    assert!(e.ends_with(expected), "{e}");
    ctx.fix(p.position().unwrap(), vec![1.0]).unwrap();
    ctx.fix(p.velocity().unwrap(), vec![f64::NAN]).unwrap();
    ctx.eval(p.body_poses).unwrap();
    let e = ctx.eval(p.body_spatial_velocities).unwrap_err().to_string();
    let expected = "velocity 0 ('slide') must be finite, got NaN";
    assert!(e.ends_with(expected), "{e}");
}

#[test]
fn a_default_pose_must_be_finite() {
    let mut p = plant();
    let a = add_body(&mut p, "a");
    let x = Isometry3::translation(0.0, f64::NAN, 0.0);
    let e = message(p.set_default_free_body_pose(a, x));
    assert!(e.contains("must be finite"), "{e}");
    let mut p = p.build().unwrap();
    assert!(p.set_default_free_body_pose(a, x).is_err());
    assert_eq!(p.default_positions(), [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
}
