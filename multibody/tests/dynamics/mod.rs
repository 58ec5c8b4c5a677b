//! Kinematics and dynamics, compared with values recorded from Drake 1.51.1 and with each other by
//! time derivatives.

mod affine_control;
mod contact_pairs;
mod coupled_actuators;
mod curvilinear;
pub(crate) mod discrete;
mod dry_friction;
mod few_variables;
mod forward;
mod hostile;
mod hostile_deformable;
mod hydroelastic;
mod options;
mod parameters;
mod polynomials;
mod quantities;
mod sleds;
mod sleep;
mod spatial_tendons;

use nalgebra::{DVector, Isometry3, Matrix3, Vector3};
use proptest::prelude::*;
use serde_json::Value;
use tarragon_framework::autodiff::Dual;
use tarragon_framework::math;
use tarragon_framework::prelude::DiagramBuilder;
use tarragon_multibody::*;

/// Tolerance relative to the largest value, or to 1 if that is larger. Values have magnitudes from
/// 1 to 100 and take some hundred operations on each side.
const TOLERANCE: f64 = 1e-12;

fn inertia(k: usize) -> SpatialInertia {
    let k = k as f64;
    let (mass, com) = (1.0 + 0.1 * k, Vector3::new(0.1, -0.02 * k, 0.05));
    let about_bo = Matrix3::new(0.1, 0.001, -0.002, 0.001, 0.11, 0.003, -0.002, 0.003, 0.12) * mass;
    let shift = Matrix3::from_diagonal_element(com.norm_squared()) - com * com.transpose();
    SpatialInertia::from_central(mass, com, about_bo - shift * mass).unwrap()
}

fn pose(k: usize) -> Isometry3<f64> {
    let k = k as f64;
    math::pose_xyz_rpy(
        Vector3::new(0.1, 0.2 * k, -0.1),
        Vector3::new(0.1 * k, -0.2, 0.3),
    )
}

/// The mechanism of `mechanism.py`: a chain with every kind of joint, and a free body.
fn mechanism() -> MultibodyPlant {
    open_mechanism().build().unwrap()
}

/// The same with springs on joints and on a tendon, and a spring between bodies.
fn sprung_mechanism() -> MultibodyPlant {
    let mut plant = open_mechanism();
    let joint = |name| plant.joint_by_name(name).unwrap();
    let (revolute, prismatic, screw) = (joint("revolute"), joint("prismatic"), joint("screw"));
    let body_a = plant.body_by_name("rpy").unwrap();
    let body_b = plant.body_by_name("weld").unwrap();
    for element in [
        ForceElement::RevoluteSpring {
            joint: revolute,
            nominal_angle: 0.3,
            stiffness: 2.5,
        },
        ForceElement::PrismaticSpring {
            joint: prismatic,
            nominal_position: -0.2,
            stiffness: 4.0,
        },
        ForceElement::TendonSpring {
            joints: vec![(revolute, 0.5), (prismatic, -1.5), (screw, 0.7)],
            free_lengths: [-0.3, 0.4],
            stiffness: 3.0,
            damping: 0.8,
        },
        ForceElement::LinearSpringDamper {
            body_a,
            p_ap: Vector3::new(0.1, 0.2, 0.3),
            body_b,
            p_bq: Vector3::new(-0.3, 0.1, 0.2),
            free_length: 0.5,
            stiffness: 6.0,
            damping: 0.4,
        },
        ForceElement::SpatialTendon {
            path: vec![
                TendonPart::site(body_a, Vector3::new(1.0, 0.5, 0.3)),
                TendonPart::Wrap(TendonWrap {
                    body: plant.body_by_name("ball").unwrap(),
                    pose: pose(3),
                    shape: WrapShape::Cylinder,
                    radius: 0.2,
                    side: Some((BodyIndex::WORLD, Vector3::new(0.0, 0.0, 3.0))),
                }),
                TendonPart::site(body_b, Vector3::new(-1.0, 0.4, 0.1)),
                TendonPart::Pulley { divisor: 2.0 },
                TendonPart::site(BodyIndex::WORLD, Vector3::new(0.3, 0.2, -2.0)),
                TendonPart::site(body_b, Vector3::new(0.4, 0.2, 0.1)),
            ],
            free_lengths: [0.5, 0.9],
            stiffness: 5.0,
            damping: 0.3,
        },
    ] {
        plant.add_force_element(element).unwrap();
    }
    plant.build().unwrap()
}

fn open_mechanism() -> MultibodyPlantBuilder {
    let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
    let model = ModelInstanceIndex::DEFAULT;
    let axis = Vector3::new(0.6, 0.0, 0.8);
    let mut parent = BodyIndex::WORLD;
    let names = [
        "rpy",
        "universal",
        "ball",
        "planar",
        "screw",
        "revolute",
        "prismatic",
        "weld",
    ];
    for (k, n) in names.into_iter().enumerate() {
        let body = plant.add_rigid_body(n, model, inertia(k)).unwrap();
        let frame = |name: &str, body, x| FixedOffsetFrame::new(format!("{n}_{name}"), body, x);
        let f = plant.add_frame(frame("F0", parent, pose(k))).unwrap();
        let m = plant.add_frame(frame("M0", body, pose(k + 2))).unwrap();
        let joint = match n {
            "rpy" => Joint::rpy_floating(n, parent, body),
            "universal" => Joint::universal(n, parent, body),
            "ball" => Joint::ball_rpy(n, parent, body),
            "planar" => Joint::planar(n, parent, body),
            "screw" => Joint::screw(n, parent, body, axis, 0.3).unwrap(),
            "revolute" => Joint::revolute(n, parent, body, axis).unwrap(),
            "prismatic" => Joint::prismatic(n, parent, body, axis).unwrap(),
            _ => Joint::weld(n, parent, body, pose(1)),
        };
        let joint = joint.with_frame_on_parent(f).with_frame_on_child(m);
        let joint = plant.add_joint(joint).unwrap();
        if n == "revolute" {
            let motor = plant.add_joint_actuator("m", joint, 1.0).unwrap();
            plant.set_default_rotor(motor, 0.02, 5.0).unwrap();
        }
        parent = body;
    }
    plant.add_rigid_body("free", model, inertia(9)).unwrap();
    plant
}

fn spatial(x: &SpatialVector<f64>) -> Vec<f64> {
    [x.rotational.as_slice(), x.translational.as_slice()].concat()
}

fn close(what: &str, ours: &[f64], expected: &[f64]) {
    assert_eq!(ours.len(), expected.len(), "{what}");
    let scale = expected.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
    for (i, (a, b)) in ours.iter().zip(expected).enumerate() {
        assert!((a - b).abs() < TOLERANCE * scale, "{what} {i}: {a} and {b}");
    }
}

#[test]
fn every_kind_of_joint_moves_as_in_drake() {
    let recorded: Value = serde_json::from_str(include_str!("mechanism.json")).unwrap();
    let list = |key: &str| -> Vec<f64> {
        let numbers = recorded[key].as_array().unwrap().iter();
        numbers.map(|x| x.as_f64().unwrap()).collect()
    };
    let rows = |key: &str| -> Vec<f64> {
        let rows = recorded[key].as_array().unwrap().iter();
        rows.flat_map(|r| r.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()))
            .collect()
    };
    let plant = mechanism();
    let (q, v, vdot) = (list("q"), list("v"), list("vdot"));
    let p = plant.calc_position_kinematics(&q).unwrap();
    let k = plant.calc_velocity_kinematics(&p, &v).unwrap();
    let weld = plant.body_by_name("weld").unwrap();
    close(
        "p",
        p.x_wb(weld).translation.vector.as_slice(),
        &list("p_weld"),
    );
    close("v", &spatial(k.v_wb(weld)), &list("v_weld"));
    let a = plant.calc_spatial_accelerations(&p, &k, &vdot).unwrap();
    close("a", &spatial(&a[weld.index()]), &list("a_weld"));
    let m = plant.calc_mass_matrix(&p).unwrap();
    close("mass matrix", m.as_slice(), &rows("mass_matrix"));
    close(
        "bias",
        &plant.calc_bias_term(&p, &k).unwrap(),
        &list("bias"),
    );
    let gravity = plant.calc_gravity_generalized_forces(&p).unwrap();
    close("gravity", &gravity, &list("gravity"));
    let tau = plant.calc_inverse_dynamics(&p, &k, &vdot).unwrap();
    close("inverse dynamics", &tau, &list("inverse_dynamics"));
    let energy = plant.calc_kinetic_energy(&p, &k).unwrap();
    close("kinetic energy", &[energy], &list("kinetic_energy"));
    let energy = plant.calc_potential_energy(&p).unwrap();
    close("potential energy", &[energy], &list("potential_energy"));
    let com = plant.calc_center_of_mass_position_in_world(&p).unwrap();
    close("com", com.as_slice(), &list("com"));
    let v_com = plant.calc_center_of_mass_translational_velocity_in_world(&p, &k);
    close("v com", v_com.unwrap().as_slice(), &list("v_com"));
    let about = Vector3::new(1.0, 2.0, 3.0);
    let momentum = plant
        .calc_spatial_momentum_in_world(&p, &k, &about)
        .unwrap();
    close("momentum", &spatial(&momentum), &list("momentum"));
    let qdot = plant.map_velocity_to_qdot(&p, &v).unwrap();
    close("qdot", &qdot, &list("qdot"));
    close(
        "v back",
        &plant.map_qdot_to_velocity(&p, &qdot).unwrap(),
        &v,
    );
    let frame = |name: &str| plant.frame_by_name(name).unwrap();
    let jacobian = plant.calc_jacobian_spatial_velocity(
        &p,
        JacobianWrt::QDot,
        frame("weld"),
        &Vector3::new(0.1, 0.2, 0.3),
        frame("ball"),
        frame("ball_F0"),
    );
    // Our matrix is column-major, the recorded one row-major.
    let jacobian = jacobian.unwrap().transpose();
    close("jacobian", jacobian.as_slice(), &rows("jacobian_qdot"));
}

/// Lists of `n` numbers from `-size` to `size`.
fn numbers(n: usize, size: f64) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(-size..size, n)
}

/// Dual numbers with the values `x` and the derivatives `dx`.
fn along(x: &[f64], dx: &[f64]) -> Vec<Dual<1>> {
    let dual = |(x, dx): (&f64, &f64)| Dual { re: *x, eps: [*dx] };
    x.iter().zip(dx).map(dual).collect()
}

/// Checks that velocities, accelerations and power equal time derivatives by dual numbers, and that
/// energies, forces and Jacobians agree with the mass matrix and the velocities.
fn check_quantities(
    plant: &MultibodyPlant,
    body: &str,
    q: &[f64],
    v: &[f64],
    vdot: &[f64],
) -> Result<(), TestCaseError> {
    let p = plant.calc_position_kinematics(q).unwrap();
    let k = plant.calc_velocity_kinematics(&p, v).unwrap();
    let qdot = plant.map_velocity_to_qdot(&p, v).unwrap();
    let size = |x: &[f64]| x.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
    // Rates of roll and yaw grow towards the singularity.
    let scale = 1e-11 * size(&qdot);
    let dp = plant.calc_position_kinematics(&along(q, &qdot)).unwrap();
    let dk = plant
        .calc_velocity_kinematics(&dp, &along(v, vdot))
        .unwrap();
    let a = plant.calc_spatial_accelerations(&p, &k, vdot).unwrap();
    let eps = |x: &Vector3<Dual<1>>| x.map(|x| x.eps[0]);
    for (body, _) in plant.bodies() {
        let (v_wb, x_wb) = (k.v_wb(body), dp.x_wb(body));
        let pdot = eps(&x_wb.translation.vector);
        prop_assert!((pdot - v_wb.translational).amax() < scale);
        let (dv, a) = (dk.v_wb(body), &a[body.index()]);
        prop_assert!((eps(&dv.rotational) - a.rotational).amax() < scale * scale.max(10.0));
        prop_assert!((eps(&dv.translational) - a.translational).amax() < scale * scale.max(10.0));
    }
    let vector = |x: &[f64]| DVector::from_column_slice(x);
    let m = plant.calc_mass_matrix(&p).unwrap();
    let energy = 0.5 * vector(v).dot(&(&m * vector(v)));
    let kinetic = plant.calc_kinetic_energy(&p, &k).unwrap();
    prop_assert!((energy - kinetic).abs() < 1e-12 * (1.0 + energy));
    let tau = plant.calc_inverse_dynamics(&p, &k, vdot).unwrap();
    let sum = &m * vector(vdot) + vector(&plant.calc_bias_term(&p, &k).unwrap());
    prop_assert!((sum - vector(&tau)).amax() < 1e-10);
    // The power of gravity is the loss of potential energy; the power of all generalized forces is
    // the gain of kinetic energy.
    let gravity = vector(&plant.calc_gravity_generalized_forces(&p).unwrap());
    let potential = plant.calc_potential_energy(&dp).unwrap();
    prop_assert!((gravity.dot(&vector(v)) + potential.eps[0]).abs() < 10.0 * scale * size(v));
    let gain = plant.calc_kinetic_energy(&dp, &dk).unwrap().eps[0];
    prop_assert!((gain - vector(&tau).dot(&vector(v))).abs() < 1e-9 * (1.0 + gain.abs()));
    // Jacobians map rates to velocities.
    let com = plant
        .calc_jacobian_center_of_mass_translational_velocity(&p)
        .unwrap();
    let v_com = plant
        .calc_center_of_mass_translational_velocity_in_world(&p, &k)
        .unwrap();
    prop_assert!((com * vector(v) - v_com).amax() < 1e-12);
    let (world, point) = (FrameIndex::WORLD, Vector3::new(0.3, 0.1, -0.5));
    let (frame, body) = (
        plant.frame_by_name(body).unwrap(),
        plant.body_by_name(body).unwrap(),
    );
    for (wrt, rates) in [(JacobianWrt::V, v), (JacobianWrt::QDot, &qdot)] {
        let j = plant
            .calc_jacobian_spatial_velocity(&p, wrt, frame, &point, world, world)
            .unwrap();
        let expected = k.v_wb(body).velocity_at(&(p.x_wb(body) * point));
        let found = j * vector(rates);
        let expected = nalgebra::Vector6::from_column_slice(&spatial(&expected));
        prop_assert!((found - expected).amax() < 10.0 * scale);
    }
    Ok(())
}

proptest! {
    #[test]
    fn kinematics_and_dynamics_agree(q in numbers(24, 1.2), v in numbers(23, 2.0), vdot in numbers(23, 2.0)) {
        prop_assume!(q[17..21].iter().map(|x| x * x).sum::<f64>() > 0.01);
        check_quantities(&mechanism(), "prismatic", &q, &v, &vdot)?;
    }
}

/// In a diagram, velocities come from the state or from an input port next to the one of positions.
#[test]
fn the_system_outputs_body_velocities() {
    let direct = mechanism();
    let (q, v) = (
        direct.default_positions(),
        vec![0.5; direct.num_velocities()],
    );
    let p = direct.calc_position_kinematics(&q).unwrap();
    let expected = direct.calc_velocity_kinematics(&p, &v).unwrap();
    for source in [PositionSource::State, PositionSource::InputPort] {
        let mut plant = open_mechanism();
        plant.set_position_source(source);
        let mut builder = DiagramBuilder::new();
        let ports = builder.add("plant", plant.build().unwrap());
        let mut ctx = builder.build().unwrap().default_context();
        match (
            ports.discrete_state().ok(),
            ports.position().ok(),
            ports.velocity().ok(),
        ) {
            (Some(state), None, None) => ctx.xd_mut(state).unwrap()[q.len()..].copy_from_slice(&v),
            (None, Some(position), Some(velocity)) => {
                ctx.fix(position, q.clone()).unwrap();
                assert!(ctx.eval(ports.body_spatial_velocities).is_err());
                // A wrong length is an error, whether the port or the plant detects it.
                let short = ctx.fix(position, vec![0.0]).is_err();
                assert!(short || ctx.eval(ports.body_spatial_velocities).is_err());
                ctx.fix(position, q.clone()).unwrap();
                ctx.fix(velocity, v.clone()).unwrap();
            }
            other => panic!("{other:?}"),
        }
        let found = ctx.eval(ports.body_spatial_velocities).unwrap();
        assert_eq!(found, expected.body_spatial_velocities());
    }
}

#[test]
fn invalid_arguments_are_errors() {
    let plant = mechanism();
    let p = plant
        .calc_position_kinematics(&plant.default_positions())
        .unwrap();
    let e = plant
        .calc_velocity_kinematics(&p, &[0.0])
        .unwrap_err()
        .to_string();
    assert!(e.contains("must be 23, got 1"), "{e}");
    let other = MultibodyPlantBuilder::new(0.0).unwrap().build().unwrap();
    assert!(other.calc_mass_matrix(&p).is_err());
    let nothing = other.calc_position_kinematics::<f64>(&[]).unwrap();
    let e = other
        .calc_center_of_mass_position_in_world(&nothing)
        .unwrap_err();
    assert!(e.to_string().contains("0 kg"), "{e}");
    assert_eq!(other.calc_mass_matrix(&nothing).unwrap().len(), 0);
}
