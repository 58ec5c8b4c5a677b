//! Derivatives of a step of many kinds of constraints: against differences, and those in few
//! variables, which leave out whatever does not depend on them, against those in all at once.

use super::discrete::{ALL, material};
use nalgebra::{Isometry3, Matrix3, Translation3, Vector3};
use tarragon_framework::autodiff::DIRECTIONS;
use tarragon_framework::math;
use tarragon_framework::prelude::*;
use tarragon_framework::{AutoDiff, DiagramScalar};
use tarragon_geometry::{BoxShape, HalfSpace, SceneGraph, Shape, Sphere};
use tarragon_multibody::*;

/// Balls in a row on the ground that touch, a box alone, an arm that leans on a ball with a joint
/// at its limit and a motor with gains, and two bodies held together: one hangs on a tendon at its
/// limit, and the length of a tendon to the other is a polynomial of a joint. Actuators pull both
/// of them along tendons.
fn scene(approximation: DiscreteContactApproximation) -> (Diagram<f64>, Block<MultibodyPlant>) {
    let (mut plant, mut scene) = (MultibodyPlantBuilder::new(1e-3).unwrap(), SceneGraph::new());
    plant.set_discrete_contact_approximation(approximation);
    plant.set_use_sampled_output_ports(false).unwrap();
    plant
        .register_as_source_for_scene_graph(&mut scene)
        .unwrap();
    let model = ModelInstanceIndex::DEFAULT;
    let inertia = SpatialInertia::from_central(1.0, Vector3::zeros(), Matrix3::identity() * 0.004);
    let inertia = inertia.unwrap();
    let world = BodyIndex::WORLD;
    let (ball, cube) = (Sphere::new(0.1).unwrap(), BoxShape::new(0.2, 0.2, 0.2));
    let (ball, cube) = (Shape::from(ball), Shape::from(cube.unwrap()));
    let x = Isometry3::identity();
    plant
        .register_collision_geometry(
            &mut scene,
            world,
            x,
            HalfSpace,
            "ground",
            material(0.5, 5.0),
        )
        .unwrap();
    let mut add = |name: &str, shape: Option<&Shape>, at: Option<[f64; 3]>| {
        let body = plant.add_rigid_body(name, model, inertia).unwrap();
        if let Some(shape) = shape {
            plant
                .register_collision_geometry(
                    &mut scene,
                    body,
                    x,
                    shape.clone(),
                    name,
                    material(0.4, 3.0),
                )
                .unwrap();
        }
        if let Some([x, y, z]) = at {
            // Tilted, so that the contact of a box is not about to jump to another corner.
            let tilt = math::rpy(1e-4, 2e-4, 0.0);
            let x_wb = Isometry3::from_parts(Translation3::new(x, y, z), tilt);
            plant.set_default_free_body_pose(body, x_wb).unwrap();
        }
        body
    };
    for (i, x) in [0.0, 0.1995, 0.399].into_iter().enumerate() {
        add(&format!("ball{i}"), Some(&ball), Some([x, 0.0, 0.0995]));
    }
    add("box", Some(&cube), Some([2.0, 0.0, 0.0998]));
    let held = [
        add("held0", None, Some([0.0, 2.0, 1.0])),
        add("held1", None, Some([0.3, 2.0, 1.0])),
    ];
    let links = [add("link0", None, None), add("link1", Some(&ball), None)];
    plant
        .add_ball_constraint(BallConstraint {
            body_a: held[0],
            p_ap: Vector3::new(0.15, 0.0, 0.0),
            body_b: held[1],
            p_bq: Some(Vector3::new(-0.15, 0.0, 0.001)),
        })
        .unwrap();
    let shoulder = Joint::revolute("shoulder", world, links[0], Vector3::y()).unwrap();
    let shoulder = shoulder
        .with_pose_on_parent(Isometry3::translation(0.399, 0.0, 0.5985))
        .with_position_limits(vec![-0.0005], vec![1.0])
        .unwrap();
    plant.add_joint(shoulder).unwrap();
    let elbow = Joint::prismatic("elbow", links[0], links[1], -Vector3::z())
        .unwrap()
        .with_pose_on_parent(Isometry3::translation(0.0, 0.0, -0.2995));
    let elbow = plant.add_joint(elbow).unwrap();
    let motor = plant
        .add_joint_actuator("motor", elbow, f64::INFINITY)
        .unwrap();
    let gains = PdControllerGains { p: 300.0, d: 20.0 };
    plant.set_controller_gains(motor, gains).unwrap();
    let path = |ends: [(BodyIndex, Vector3<f64>); 2]| {
        let around = TendonPart::Wrap(TendonWrap {
            body: links[0],
            pose: Isometry3::translation(0.0, 0.1, -0.1),
            shape: WrapShape::Sphere,
            radius: 0.2,
            side: None,
        });
        let [from, to] = ends.map(|(body, p)| TendonPart::site(body, p));
        vec![from, around, to]
    };
    let string = SpatialTendonConstraint {
        path: path([
            (held[0], Vector3::x()),
            (world, Vector3::new(0.4, -2.0, 0.5)),
        ]),
        lower: f64::NEG_INFINITY,
        upper: 4.08,
        stiffness: 50.0,
        damping: 2.0,
    };
    plant.add_spatial_tendon_constraint(string).unwrap();
    // They are 1 mm from this curve, so that the impulses change with its direction, too.
    plant
        .add_polynomial_constraint(PolynomialConstraint {
            tendons: [
                Tendon::Spatial(path([(held[1], Vector3::y()), (links[1], -Vector3::y())])),
                Tendon::Fixed(vec![(elbow, 2.0)]),
            ],
            references: [4.097, 0.1],
            coefficients: [0.01, 0.3, 0.2, -0.1, 0.4],
        })
        .unwrap();
    for (name, ends, bias) in [
        (
            "flexor",
            [(held[0], -Vector3::x()), (world, Vector3::zeros())],
            [0.1, -2.0, -0.5],
        ),
        // Its effort is that at the start of the step.
        (
            "extensor",
            [(held[1], Vector3::z()), (links[1], Vector3::x())],
            [0.1, 0.5, -0.5],
        ),
    ] {
        let actuator = plant.add_tendon_actuator(name, model, path(ends), f64::INFINITY);
        let control = AffineControl {
            bias,
            ..AffineControl::motor()
        };
        plant
            .set_affine_control(actuator.unwrap(), control)
            .unwrap();
    }
    let mut b = DiagramBuilder::new();
    let (plant, _) = add_multibody_plant_scene_graph(&mut b, plant, scene).unwrap();
    (b.build().unwrap(), plant)
}

/// Returns accelerations, efforts and contact forces at a state, possibly with a locked shoulder.
fn results<T: DiagramScalar>(
    diagram: &Diagram<T>,
    plant: &Block<MultibodyPlant>,
    x: &[T],
    locked: bool,
) -> Vec<T> {
    let ports = diagram.ports(plant).unwrap();
    let mut context = diagram.default_context();
    let model = plant.model_instance_by_name("DefaultModelInstance");
    let desired = ports.desired_state_in(model.unwrap()).unwrap();
    context
        .fix(desired, [0.01, 0.0, 0.0, -0.1, 0.0, 0.0].map(T::from))
        .unwrap();
    let (q, v) = x.split_at(plant.num_positions());
    let shoulder = plant.joint_by_name("shoulder").unwrap();
    ports
        .set_joint_locked(&mut context, shoulder, locked)
        .unwrap();
    ports.set_positions(&mut context, q).unwrap();
    ports.set_velocities(&mut context, v).unwrap();
    let vdot = ports.generalized_acceleration().unwrap();
    let mut all = context.eval(vdot).unwrap().clone();
    all.extend(context.eval(ports.net_actuation().unwrap()).unwrap());
    let contacts = context.eval(ports.contact_results().unwrap()).unwrap();
    for contact in contacts.point_pairs() {
        all.extend(contact.contact_force.iter());
        all.extend(contact.contact_point.iter());
        all.extend([contact.slip_speed, contact.separation_speed]);
    }
    assert_eq!(contacts.point_pairs().len(), 7);
    all
}

fn wave(i: usize, k: usize) -> f64 {
    ((3 * i + 7 * k) as f64).sin()
}

/// Returns a state in which everything moves.
fn state(diagram: &Diagram<f64>, plant: &Block<MultibodyPlant>) -> Vec<f64> {
    let context = diagram.default_context();
    let mut x = plant.positions(&context).unwrap();
    let num_velocities = plant.num_velocities();
    x.extend((0..num_velocities).map(|i| 0.05 * wave(i + 37, 1)));
    x
}

/// Returns a state with derivatives in all variables at once, in some directions.
fn in_all_variables(x: &[f64]) -> Vec<AutoDiff> {
    let lift = |(i, x): (usize, &f64)| AutoDiff {
        re: *x,
        eps: std::array::from_fn(|k| wave(i, k)),
    };
    x.iter().enumerate().map(lift).collect()
}

#[test]
fn derivatives_of_a_mechanism_match_differences() {
    for (approximation, locked) in ALL.into_iter().flat_map(|a| [(a, false), (a, true)]) {
        let (diagram, plant) = scene(approximation);
        let dual = diagram.to_scalar::<AutoDiff>().unwrap();
        let x = state(&diagram, &plant);
        let found = results(&dual, &plant, &in_all_variables(&x), locked);
        for k in 0..DIRECTIONS {
            let at = |h: f64| {
                let x: Vec<f64> = x
                    .iter()
                    .enumerate()
                    .map(|(i, x)| x + h * wave(i, k))
                    .collect();
                results(&diagram, &plant, &x, locked)
            };
            let h = 1e-8;
            let (above, below) = (at(h), at(-h));
            let slopes = above.iter().zip(&below).map(|(a, b)| (a - b) / (2.0 * h));
            for (i, (slope, found)) in slopes.zip(&found).enumerate() {
                let error = (found.eps[k] - slope).abs() / (1.0 + slope.abs());
                // The step amplifies the rounding of solutions by stiffness and by 1 / h.
                assert!(
                    error < 1e-3,
                    "{approximation:?} {locked} {k} {i}: {slope} {} {error}",
                    found.eps[k]
                );
            }
        }
    }
}

#[test]
fn derivatives_in_few_variables_equal_those_in_all() {
    for approximation in ALL {
        let (diagram, plant) = scene(approximation);
        let dual = diagram.to_scalar::<AutoDiff>().unwrap();
        let x = state(&diagram, &plant);
        let values = results(&diagram, &plant, &x, false);
        let constant =
            |x: &[f64]| -> Vec<AutoDiff> { x.iter().copied().map(AutoDiff::from).collect() };
        let all = in_all_variables(&x);
        let expected = results(&dual, &plant, &all, false);
        let mut found = vec![[0.0; DIRECTIONS]; values.len()];
        for i in 0..x.len() {
            let mut one = constant(&x);
            one[i].eps[0] = 1.0;
            for (k, y) in results(&dual, &plant, &one, false).iter().enumerate() {
                // Sums in other orders: stiffness magnifies the rounding of velocities.
                let error = (y.re - values[k]).abs();
                assert!(
                    error <= 1e-11 * (1.0 + y.re.abs()),
                    "{approximation:?} {i} {k}: {error}"
                );
                for (j, sum) in found[k].iter_mut().enumerate() {
                    *sum += y.eps[0] * wave(i, j);
                }
            }
        }
        for (k, (y, found)) in expected.iter().zip(&found).enumerate() {
            for (e, f) in y.eps.iter().zip(found) {
                // Slopes of stiff contact reach 1e8 per unit of position.
                assert!(
                    (e - f).abs() < 1e-6 + 1e-9 * e.abs(),
                    "{approximation:?} {k}: {e} {f}"
                );
            }
        }
    }
}
