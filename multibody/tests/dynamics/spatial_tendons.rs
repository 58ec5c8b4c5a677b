//! Spatial tendons that are added in code, as springs and as limits. Their geometry is compared
//! with MuJoCo in `mjcf::wraps`, and their derivatives in `forward` and `few_variables`.

use nalgebra::{Isometry3, Vector3};
use tarragon_framework::AutoDiff;
use tarragon_framework::prelude::*;
use tarragon_multibody::*;

fn site(x: f64, y: f64) -> TendonPart {
    TendonPart::site(BodyIndex::WORLD, Vector3::new(x, y, 0.0))
}

fn wrap(radius: f64) -> TendonPart {
    TendonPart::Wrap(TendonWrap {
        body: BodyIndex::WORLD,
        pose: Isometry3::identity(),
        shape: WrapShape::Sphere,
        radius,
        side: None,
    })
}

fn pulley(divisor: f64) -> TendonPart {
    TendonPart::Pulley { divisor }
}

fn tendon(path: Vec<TendonPart>) -> ForceElement {
    ForceElement::SpatialTendon {
        path,
        free_lengths: [0.0, 1.0],
        stiffness: 2.0,
        damping: 0.5,
    }
}

#[test]
fn wrong_paths_are_refused_with_their_part() {
    let mut plant = MultibodyPlantBuilder::new(0.0).unwrap();
    let [a, b] = [site(-1.0, 0.0), site(1.0, 0.0)];
    let mut other = MultibodyPlantBuilder::new(0.0).unwrap();
    let unit = SpatialInertia::plausible(1.0, Vector3::zeros()).unwrap();
    let body = other.add_rigid_body("b", ModelInstanceIndex::DEFAULT, unit);
    let unknown = TendonPart::site(body.unwrap(), Vector3::zeros());
    let infinite = site(f64::INFINITY, 0.0);
    for (path, why) in [
        (
            vec![],
            "part 0 of the path: a path must have at least two sites",
        ),
        (vec![a.clone()], "part 0 of the path: a branch"),
        (
            vec![a.clone(), wrap(0.5)],
            "part 1 of the path: a wrapping geom",
        ),
        (
            vec![a.clone(), b.clone(), pulley(2.0)],
            "part 2 of the path: a pulley",
        ),
        (vec![a.clone(), b.clone(), pulley(2.0), a.clone()], "part 3"),
        (
            vec![a.clone(), wrap(0.0), b.clone()],
            "part 1 of the path: the radius",
        ),
        (
            vec![a.clone(), wrap(f64::NAN), b.clone()],
            "must be finite, got NaN",
        ),
        (
            vec![pulley(0.0), a.clone(), b.clone()],
            "must be positive, got 0.0",
        ),
        (
            vec![a.clone(), infinite],
            "part 1 of the path: all numbers must be finite, got inf",
        ),
        (vec![a.clone(), unknown], "body"),
    ] {
        let e = plant
            .add_force_element(tendon(path))
            .unwrap_err()
            .to_string();
        assert!(e.contains(why), "{e}");
    }
    let e = plant.add_force_element(ForceElement::SpatialTendon {
        path: vec![a.clone(), b.clone()],
        free_lengths: [1.0, 0.0],
        stiffness: 0.0,
        damping: 0.0,
    });
    let e = e.unwrap_err().to_string();
    assert!(e.contains("SpatialTendon: the shorter free length"), "{e}");
    assert!(plant.force_elements().is_empty());
    let plant = plant.build().unwrap();
    let positions = plant.calc_position_kinematics::<f64>(&[]).unwrap();
    let e = plant.calc_tendon_length(&positions, &[a]).unwrap_err();
    assert!(e.to_string().contains("calc_tendon_length, part 0"), "{e}");
}

#[test]
fn wrong_limits_of_paths_are_refused() {
    let mut plant = MultibodyPlantBuilder::new(1e-3).unwrap();
    let good = SpatialTendonConstraint {
        path: vec![site(-1.0, 0.0), site(1.0, 0.0)],
        lower: 0.5,
        upper: 1.0,
        stiffness: f64::INFINITY,
        damping: 0.0,
    };
    for (path, limits, [stiffness, damping], why) in [
        (
            vec![site(0.0, 0.0)],
            [0.0, 1.0],
            [1.0, 0.0],
            "part 0 of the path: a branch",
        ),
        (
            good.path.clone(),
            [2.0, 1.0],
            [1.0, 0.0],
            "must not be above the upper one, got [2.0, 1.0]",
        ),
        (
            good.path.clone(),
            [0.0, f64::NAN],
            [1.0, 0.0],
            "got [0.0, NaN]",
        ),
        (
            good.path.clone(),
            [0.0, 1.0],
            [0.0, 0.0],
            "the stiffness must be positive",
        ),
        (
            good.path.clone(),
            [0.0, 1.0],
            [1.0, -1.0],
            "the damping finite and at least 0",
        ),
    ] {
        let wrong = SpatialTendonConstraint {
            path,
            lower: limits[0],
            upper: limits[1],
            stiffness,
            damping,
        };
        let e = plant.add_spatial_tendon_constraint(wrong).unwrap_err();
        let e = e.to_string();
        assert!(
            e.contains("spatial tendon constraint") && e.contains(why),
            "{e}"
        );
    }
    plant.add_spatial_tendon_constraint(good.clone()).unwrap();
    assert_eq!(plant.constraints(), [Constraint::SpatialTendon(good)]);
}

/// Atwood's machine: a rope over two pulleys in the world, at the ends of which two masses hang.
/// The joints bear the tension of the rope at the pulleys of each mass.
#[test]
fn ropes_at_their_limit_pull_two_masses_alike() {
    let mut plant = MultibodyPlantBuilder::new(1e-3).unwrap();
    plant.set_use_sampled_output_ports(false).unwrap();
    let masses = [1.0, 2.0];
    let [left, right] = masses.map(|mass| {
        let unit = SpatialInertia::plausible(mass, Vector3::zeros()).unwrap();
        let name = format!("mass{mass}");
        let body = plant.add_rigid_body(&name, ModelInstanceIndex::DEFAULT, unit);
        let body = body.unwrap();
        let joint = Joint::prismatic(name, BodyIndex::WORLD, body, Vector3::z()).unwrap();
        plant.add_joint(joint).unwrap();
        body
    });
    // The right part of the rope is oblique at 3:4 while the masses are at height 0.
    let top = |x: f64| TendonPart::site(BodyIndex::WORLD, Vector3::new(x, 0.0, 0.8));
    let end = |body: BodyIndex| TendonPart::site(body, Vector3::zeros());
    let stiffness = 1e5;
    let rope = SpatialTendonConstraint {
        path: vec![end(left), top(0.0), top(0.6), end(right)],
        lower: 0.0,
        upper: 0.8 + 0.6 + 1.0 - 1e-4,
        stiffness,
        damping: 0.0,
    };
    plant.add_spatial_tendon_constraint(rope).unwrap();
    let plant = plant.build().unwrap();
    let mut b = DiagramBuilder::new();
    let plant = b.add("plant", plant);
    let diagram = b.build().unwrap();
    let context = diagram.default_context();
    let vdot = plant.generalized_acceleration().unwrap();
    let vdot = context.eval(vdot).unwrap();
    // Tension at the end of the step, whose stretch grows with the rates of both parts.
    let (dt, g, cosine) = (1e-3, 9.81, 0.8);
    let free_rate = -dt * g * (1.0 + cosine);
    let mobility = 1.0 / masses[0] + cosine * cosine / masses[1];
    let stretch = (1e-4 - dt * free_rate) / (1.0 + dt * dt * stiffness * mobility);
    let tension = stiffness * stretch;
    for (vdot, expected) in vdot
        .iter()
        .zip([tension / masses[0] - g, tension * cosine / masses[1] - g])
    {
        assert!((vdot - expected).abs() < 1e-7 * g, "{vdot} {expected}");
    }
    let reactions = plant.reaction_forces().unwrap();
    let reactions = context.eval(reactions).unwrap();
    let across = [0, 1].map(|joint: usize| reactions[joint].translational.x);
    // The joint of the right mass resists the horizontal pull.
    assert!(across[0].abs() < 1e-9, "{across:?}");
    assert!(
        (across[1] + 0.6 * tension).abs() < 1e-7 * tension,
        "{across:?}, {tension}"
    );
}

#[test]
fn branches_count_by_their_divisors() {
    let plant = MultibodyPlantBuilder::new(0.0).unwrap();
    let plant = plant.build().unwrap();
    let positions = plant.calc_position_kinematics::<f64>(&[]).unwrap();
    let path = [
        pulley(2.0),
        site(0.0, 0.0),
        site(3.0, 0.0),
        site(3.0, 1.0),
        pulley(0.5),
        site(0.0, 0.0),
        site(0.0, 1.0),
    ];
    let length = plant.calc_tendon_length(&positions, &path).unwrap();
    assert_eq!(length, 4.0 / 2.0 + 1.0 / 0.5);
}

/// Where two sites are at one point, the tendon has no direction there, and no derivative.
#[test]
fn parts_without_a_length_pull_nothing() {
    let mut plant = MultibodyPlantBuilder::new(0.0).unwrap();
    let unit = SpatialInertia::plausible(1.0, Vector3::zeros()).unwrap();
    let body = plant
        .add_rigid_body("b", ModelInstanceIndex::DEFAULT, unit)
        .unwrap();
    let rail = Joint::prismatic("j", BodyIndex::WORLD, body, Vector3::x()).unwrap();
    plant.add_joint(rail).unwrap();
    let path = vec![
        site(0.0, 0.0),
        TendonPart::site(body, Vector3::zeros()),
        site(-2.0, 0.0),
    ];
    plant.add_force_element(tendon(path)).unwrap();
    let plant = plant.build().unwrap();
    let positions = plant
        .calc_position_kinematics(&[AutoDiff::variable(0.0, 0)])
        .unwrap();
    let velocities = plant
        .calc_velocity_kinematics(&positions, &[AutoDiff::from(0.0)])
        .unwrap();
    let forces = plant
        .calc_force_elements_contribution(&positions, &velocities)
        .unwrap();
    let tau = plant.calc_generalized_forces(&positions, &forces).unwrap();
    // The tension of a metre of stretch pulls the body to the last site.
    assert_eq!((tau[0].re, tau[0].eps[0]), (-2.0, -2.0));
}
