//! Spatial tendons that are added in code. Their geometry is compared with MuJoCo in
//! `mjcf::wraps`, and their derivatives in `forward`.

use nalgebra::{Isometry3, Vector3};
use tarragon_framework::AutoDiff;
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
    let mut plant = MultibodyPlant::new(0.0).unwrap();
    let [a, b] = [site(-1.0, 0.0), site(1.0, 0.0)];
    let mut other = MultibodyPlant::new(0.0).unwrap();
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
    plant.finalize().unwrap();
    let positions = plant.calc_position_kinematics::<f64>(&[]).unwrap();
    let e = plant.calc_tendon_length(&positions, &[a]).unwrap_err();
    assert!(e.to_string().contains("calc_tendon_length, part 0"), "{e}");
}

#[test]
fn branches_count_by_their_divisors() {
    let mut plant = MultibodyPlant::new(0.0).unwrap();
    plant.finalize().unwrap();
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
    let mut plant = MultibodyPlant::new(0.0).unwrap();
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
    plant.finalize().unwrap();
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
