//! Joints and tendons that follow polynomials: closed forms, impulses and errors. Derivatives are
//! compared with differences in `few_variables`, and motion with MuJoCo in `mjcf::motion`.

use super::sleds::{DT, MASS, sleds};
use nalgebra::Vector3;
use proptest::prelude::*;
use tarragon_framework::prelude::*;
use tarragon_multibody::*;

/// Lets the first of two sleds follow the second.
fn following(
    tendons: impl Fn(&MultibodyModel, [JointIndex; 2]) -> [Tendon; 2],
    references: [f64; 2],
    coefficients: [f64; 5],
) -> (Diagram<f64>, Block<MultibodyPlant>) {
    sleds(
        |rail| rail,
        |plant, rails| {
            let polynomial = PolynomialConstraint {
                tendons: tendons(plant, rails),
                references,
                coefficients,
            };
            plant.add_polynomial_constraint(polynomial).unwrap();
        },
    )
}

fn positions_of(_: &MultibodyModel, rails: [JointIndex; 2]) -> [Tendon; 2] {
    rails.map(|rail| Tendon::Fixed(vec![(rail, 1.0)]))
}

/// Positions and velocities after some time from a state.
fn run(
    (diagram, plant): &(Diagram<f64>, Block<MultibodyPlant>),
    q: &[f64],
    v: &[f64],
    time: f64,
) -> [Vec<f64>; 2] {
    let mut context = diagram.default_context();
    plant.set_positions(&mut context, q).unwrap();
    plant.set_velocities(&mut context, v).unwrap();
    let mut sim = Simulator::new(diagram, context).unwrap();
    sim.advance_to(time).unwrap();
    let context = sim.context();
    [
        plant.positions(context).unwrap(),
        plant.velocities(context).unwrap(),
    ]
}

/// Without forces, the sleds keep their kinetic energy `m (1 + p'(x)^2) v^2 / 2`.
#[test]
fn sleds_on_a_parabola_keep_their_energy() {
    let model = following(positions_of, [0.5, -0.25], [0.1, 0.3, 2.0, 0.0, 0.0]);
    let x0 = 0.25;
    let value = |x: f64| 0.1 + 0.3 * x + 2.0 * x * x;
    let slope = |x: f64| 0.3 + 4.0 * x;
    let [q, v] = run(
        &model,
        &[0.5 + value(x0), x0 - 0.25],
        &[slope(x0), 1.0],
        0.5,
    );
    let x = q[1] + 0.25;
    let energy = |x: f64, v: f64| (1.0 + slope(x) * slope(x)) * v * v;
    let expected = f64::sqrt(energy(x0, 1.0) / (1.0 + slope(x) * slope(x)));
    // The sleds leave the parabola by its curvature in each step, 4 DT^2 v^2 / 2, and are pulled
    // back within the next ones. Steps of first order in DT lose energy at the rate of the
    // curvature, relative to the motion along the slope.
    assert!(x > 0.5, "{x}");
    assert!((q[0] - 0.5 - value(x)).abs() < 4.0 * DT * DT, "{q:?}");
    assert!((v[1] - expected).abs() < 4.0 * DT, "{v:?}, {expected}");
    assert!((v[0] - slope(x) * v[1]).abs() < 8.0 * DT, "{v:?}");
}

/// The length of a tendon between the sleds, which are on one line, is the difference of their
/// positions; so are its rate and its force.
#[test]
fn paths_follow_as_positions_do() {
    let coefficients = [1.0, 0.3, -0.2, 0.1, 0.0];
    let path = |from: BodyIndex, to: BodyIndex| {
        let ends = [from, to].map(|body| TendonPart::site(body, Vector3::zeros()));
        Tendon::Spatial(ends.into())
    };
    let by_path = following(
        |plant, rails| {
            let [first, second] = rails.map(|rail| plant.joint(rail).unwrap().child_body());
            [path(second, first), path(BodyIndex::WORLD, second)]
        },
        [0.0, 0.5],
        coefficients,
    );
    let by_joints = following(
        |_, [a, b]| {
            [
                Tendon::Fixed(vec![(a, 1.0), (b, -1.0)]),
                Tendon::Fixed(vec![(b, 1.0)]),
            ]
        },
        [0.0, 0.5],
        coefficients,
    );
    let of = |model| run(model, &[1.7, 0.7], &[0.4, 0.3], 0.3);
    let (found, expected) = (of(&by_path), of(&by_joints));
    for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
        // Roundings of 300 steps.
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// In a step, impulses are along the gradient `(1, -p')`, and the deviation is halved in two
    /// steps.
    #[test]
    fn impulses_are_along_the_gradient(
        coefficients in prop::array::uniform5(-2.0..2.0_f64),
        references in prop::array::uniform2(-1.0..1.0_f64),
        q in prop::array::uniform2(-1.0..1.0_f64),
        v in prop::array::uniform2(-1.0..1.0_f64),
    ) {
        let model = following(positions_of, references, coefficients);
        let x = q[1] - references[1];
        let powers = [1.0, x, x * x, x * x * x, x * x * x * x];
        let value: f64 = coefficients.iter().zip(powers).map(|(c, p)| c * p).sum();
        let terms = coefficients[1..].iter().zip(powers).zip(1..);
        let slope: f64 = terms.map(|((c, p), k)| f64::from(k) * c * p).sum();
        let deviation = q[0] - references[0] - value;
        let [_, next] = run(&model, &q, &v, DT);
        let impulses = [0, 1].map(|k| MASS * (next[k] - v[k]));
        // Rounding of velocities, of up to deviation / DT.
        let scale = 1.0 + impulses[0].abs() * (1.0 + slope.abs());
        prop_assert!((impulses[1] + slope * impulses[0]).abs() < 1e-9 * scale, "{impulses:?}");
        let rate = next[0] - slope * next[1];
        let wanted = -deviation / (2.0 * DT);
        let before = v[0] - slope * v[1];
        // A near-rigid constraint gives way by 1 / (1 + 400 pi^2) of the change of its rate.
        let soft = (wanted - before) / (1.0 + 400.0 * std::f64::consts::PI.powi(2));
        prop_assert!((rate - wanted + soft).abs() < 1e-9 * (1.0 + wanted.abs()), "{rate} {wanted}");
    }
}

#[test]
fn wrong_polynomials_are_refused() {
    let mut plant = MultibodyPlantBuilder::new(DT).unwrap();
    let instance = ModelInstanceIndex::DEFAULT;
    let mut add = |name: &str| {
        let body = plant.add_rigid_body(name, instance, SpatialInertia::zero());
        body.unwrap()
    };
    let (sled, ball) = (add("sled"), add("ball"));
    let rail = Joint::prismatic("rail", BodyIndex::WORLD, sled, Vector3::x()).unwrap();
    let rail = plant.add_joint(rail).unwrap();
    let ball = Joint::ball_rpy("ball", BodyIndex::WORLD, ball);
    let ball = plant.add_joint(ball).unwrap();
    let mut other = MultibodyPlantBuilder::new(DT).unwrap();
    let third = ["a", "b", "c"].map(|name| {
        let body = other
            .add_rigid_body(name, instance, SpatialInertia::zero())
            .unwrap();
        let rail = Joint::prismatic(name, BodyIndex::WORLD, body, Vector3::x()).unwrap();
        other.add_joint(rail).unwrap()
    })[2];
    let of = |joint: JointIndex, coefficient: f64| Tendon::Fixed(vec![(joint, coefficient)]);
    let good = PolynomialConstraint {
        tendons: [of(rail, 1.0), of(rail, 2.0)],
        references: [0.0; 2],
        coefficients: [0.0, 0.0, 1.0, 0.0, 0.0],
    };
    let with = |second: Tendon| PolynomialConstraint {
        tendons: [of(rail, 1.0), second],
        ..good.clone()
    };
    let curve = |coefficients| PolynomialConstraint {
        coefficients,
        ..good.clone()
    };
    let late = PolynomialConstraint {
        references: [0.0, f64::INFINITY],
        ..good.clone()
    };
    for (wrong, why) in [
        (
            with(of(ball, 1.0)),
            "joint 'ball' must have one position, got 3",
        ),
        (with(of(third, 1.0)), "joint index"),
        (
            with(of(rail, f64::NAN)),
            "all numbers must be finite, got NaN",
        ),
        (
            with(Tendon::Fixed(vec![])),
            "must have at least one joint, got none",
        ),
        (
            with(Tendon::Spatial(vec![])),
            "a path must have at least two sites, got none",
        ),
        (
            curve([0.0, 0.0, f64::NAN, 0.0, 0.0]),
            "all numbers must be finite, got NaN",
        ),
        (late, "all numbers must be finite, got inf"),
    ] {
        let e = plant
            .add_polynomial_constraint(wrong)
            .unwrap_err()
            .to_string();
        assert!(e.contains(why), "{e}");
    }
    plant.add_polynomial_constraint(good.clone()).unwrap();
    assert_eq!(plant.constraints(), [Constraint::Polynomial(good)]);
}

/// Values beyond all numbers are an error of the step, which leaves the state as it was.
#[test]
fn overflowing_polynomials_are_errors_of_the_step() {
    let (diagram, plant) = following(positions_of, [0.0; 2], [0.0, 0.0, 0.0, 0.0, 1e300]);
    let mut context = diagram.default_context();
    plant.set_positions(&mut context, [0.0, 1e10]).unwrap();
    let mut sim = Simulator::new(&diagram, context).unwrap();
    let e = sim.advance_to(DT).unwrap_err().to_string();
    assert!(e.contains("step"), "{e}");
    let q = plant.positions(sim.context()).unwrap();
    assert_eq!(q, [0.0, 1e10]);
}
