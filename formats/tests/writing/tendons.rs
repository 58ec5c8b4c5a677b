//! Spatial tendons of random plants.

use super::matching::same_text;
use super::numbers::Numbers;
use super::properties::elements;
use nalgebra::{Isometry3, Vector3};
use tarragon_formats::*;
use tarragon_multibody::*;

/// A plant of two bodies with a tendon that wraps around a drum twice, on both sides.
fn winch() -> MultibodyPlantBuilder {
    let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
    let unit = SpatialInertia::plausible(1.0, Vector3::zeros()).unwrap();
    let model = plant.add_model_instance("winch").unwrap();
    let bodies = ["drum", "load"].map(|name| {
        let body = plant.add_rigid_body(name, model, unit).unwrap();
        let joint = Joint::revolute(name, BodyIndex::WORLD, body, Vector3::y());
        plant.add_joint(joint.unwrap()).unwrap();
        body
    });
    let around = |side: f64| {
        TendonPart::Wrap(TendonWrap {
            body: bodies[0],
            pose: Isometry3::translation(0.1, 0.2, 0.3),
            shape: WrapShape::Cylinder,
            radius: 0.25,
            side: Some((BodyIndex::WORLD, Vector3::z() * side)),
        })
    };
    let site = |x: f64| TendonPart::site(bodies[1], Vector3::new(x, 0.0, 0.1));
    let tendon = ForceElement::SpatialTendon {
        path: vec![
            TendonPart::site(BodyIndex::WORLD, Vector3::x()),
            around(2.0),
            site(-1.0),
            TendonPart::Pulley { divisor: 2.0 },
            site(-1.0),
            around(-2.0),
            site(1.0),
        ],
        free_lengths: [0.5, 0.75],
        stiffness: 30.0,
        damping: 0.5,
    };
    plant.add_force_element(tendon.clone()).unwrap();
    let ForceElement::SpatialTendon { path, .. } = tendon else {
        panic!()
    };
    let [.., first, around, last] = &*path else {
        panic!()
    };
    let short = vec![first.clone(), around.clone(), last.clone()];
    // A range, a length, and polynomials between joints and tendons.
    for (path, [lower, upper]) in [(path.clone(), [0.25, 3.0]), (short.clone(), [2.5; 2])] {
        let limits = SpatialTendonConstraint {
            path,
            lower,
            upper,
            stiffness: f64::INFINITY,
            damping: 0.0,
        };
        plant.add_spatial_tendon_constraint(limits).unwrap();
    }
    let joints = ["drum", "load"].map(|name| plant.joint_by_name(name).unwrap());
    let [drum, load] = joints.map(|joint| Tendon::Fixed(vec![(joint, 1.0)]));
    let both = Tendon::Fixed(vec![(joints[0], 0.5), (joints[1], -0.25)]);
    for tendons in [
        [drum, load],
        [both.clone(), Tendon::Spatial(short.clone())],
        [Tendon::Spatial(short), both],
    ] {
        let polynomial = PolynomialConstraint {
            tendons,
            references: [0.75, -0.5],
            coefficients: [0.1, 2.0, -3.0, 0.5, 0.25],
        };
        plant.add_polynomial_constraint(polynomial).unwrap();
    }
    plant.set_default_constraint_active(1, false).unwrap();
    add_flexor(&mut plant, "flexor", model, path);
    plant
}

/// Adds a servo on a path.
fn add_flexor(
    plant: &mut MultibodyPlantBuilder,
    name: &str,
    model: ModelInstanceIndex,
    path: Vec<TendonPart>,
) {
    let flexor = plant.add_tendon_actuator(name, model, path, 40.0).unwrap();
    let servo = AffineControl {
        gear: -2.0,
        gain: [5.0, 0.0, 0.0],
        bias: [0.5, -5.0, -0.25],
        control_range: [0.0, 2.0],
        effort_range: [-40.0, 0.0],
    };
    plant.set_affine_control(flexor, servo).unwrap();
}

/// The coefficients of the polynomial by which the first length follows from the second.
pub(super) fn absolute(c: &PolynomialConstraint) -> [f64; 5] {
    let mut sum = [c.references[0], 0.0, 0.0, 0.0, 0.0];
    // The powers of `x - reference`.
    let mut power = [1.0, 0.0, 0.0, 0.0, 0.0];
    for coefficient in c.coefficients {
        for k in 0..5 {
            sum[k] += coefficient * power[k];
        }
        for k in (0..5).rev() {
            let below = if k > 0 { power[k - 1] } else { 0.0 };
            power[k] = below - c.references[1] * power[k];
        }
    }
    sum
}

fn write(plant: &MultibodyPlant, format: OutputFormat) -> (String, Vec<String>) {
    let written = ModelWriter::new(plant).write(format).unwrap();
    let told = written.diagnostics.iter().map(|d| d.message.clone());
    (written.text, told.collect())
}

#[test]
fn spatial_tendons_of_mjcf_are_read_back() {
    let plant = winch().build().unwrap();
    let (text, told) = write(&plant, OutputFormat::Mjcf);
    let added = told.iter().filter(|t| t.contains("is added to body"));
    // Both wraps are around one geom, and the sites are the world's three and the load's two.
    assert_eq!((added.count(), told.len()), (6, 6), "{told:?}");
    assert_eq!(text.matches("type=\"cylinder\"").count(), 1, "{text}");
    let mut again = MultibodyPlantBuilder::new(0.001).unwrap();
    let mut parser = Parser::new(&mut again);
    parser.add_models_from_string(&text, "xml").unwrap();
    assert!(
        parser.diagnostics().is_empty(),
        "{:?}",
        parser.diagnostics()
    );
    assert_eq!(plant.force_elements(), again.force_elements());
    let again = again.build().unwrap();
    let actuator = |plant| super::properties::actuator(plant, &plant.actuators()[0]);
    let (ours, found) = (actuator(&plant), actuator(&again));
    assert!(same_text(&ours, &found), "{ours}\n{found}");
    let but_sites = |plant: &MultibodyPlant| -> Vec<String> {
        let all = elements(plant, None).into_iter();
        all.filter(|text| !text.starts_with("site '")).collect()
    };
    let (ours, found) = (but_sites(&plant), but_sites(&again));
    assert_eq!(ours.len(), found.len());
    for (ours, found) in ours.iter().zip(&found) {
        assert!(same_text(ours, found), "{ours}\n{found}");
    }
}

/// Lengths of the file are those at the default positions; where the polynomial counts from them,
/// the file has its numbers.
#[test]
fn polynomials_at_their_reference_keep_their_coefficients() {
    let mut plant = winch();
    let joints = ["drum", "load"].map(|name| plant.joint_by_name(name).unwrap());
    let polynomial = PolynomialConstraint {
        tendons: joints.map(|joint| Tendon::Fixed(vec![(joint, 1.0)])),
        references: [0.0; 2],
        coefficients: [0.1, 0.2, 0.3, 0.4, 0.7],
    };
    plant.add_polynomial_constraint(polynomial.clone()).unwrap();
    let (text, _) = write(&plant.build().unwrap(), OutputFormat::Mjcf);
    let mut again = MultibodyPlantBuilder::new(0.001).unwrap();
    let mut parser = Parser::new(&mut again);
    parser.add_models_from_string(&text, "xml").unwrap();
    let last = again.constraints().last().unwrap();
    assert_eq!(*last, Constraint::Polynomial(polynomial));
}

#[test]
fn other_formats_leave_spatial_tendons_out() {
    for format in [OutputFormat::Urdf, OutputFormat::Sdf] {
        let (_, told) = write(&winch().build().unwrap(), format);
        for words in [
            "spatial tendon on bodies 'world', 'drum', 'load': left out",
            "limits of a spatial tendon on bodies 'world', 'drum', 'load': left out",
            "polynomial constraint of 'drum', 'load': left out",
            "actuator 'flexor': left out",
            "polynomial constraint of 'load', 'drum', 'world', 'drum', 'load': left out",
        ] {
            assert!(told.iter().any(|t| t.contains(words)), "{words}: {told:?}");
        }
    }
}

/// Adds a tendon over random bodies of a plant, around one of them, and by a pulley, with limits
/// and a polynomial.
pub(super) fn add_spatial_tendon(
    numbers: &mut Numbers,
    plant: &mut MultibodyPlantBuilder,
    bodies: &[BodyIndex],
    single: &[JointIndex],
) {
    let site = |numbers: &mut Numbers| {
        let body = bodies[numbers.below(bodies.len())];
        (body, numbers.vector())
    };
    let parts = [0; 4].map(|_| {
        let (body, position) = site(numbers);
        TendonPart::site(body, position)
    });
    let around = TendonWrap {
        body: bodies[numbers.below(bodies.len())],
        pose: numbers.pose(),
        shape: [WrapShape::Sphere, WrapShape::Cylinder][numbers.below(2)],
        radius: numbers.positive(),
        side: numbers.chance(50).then(|| site(numbers)),
    };
    let [a, b, c, d] = parts;
    let pulley = TendonPart::Pulley {
        divisor: numbers.positive(),
    };
    let tendon = ForceElement::SpatialTendon {
        path: vec![
            a.clone(),
            TendonPart::Wrap(around.clone()),
            b.clone(),
            pulley,
            c.clone(),
            d.clone(),
        ],
        free_lengths: [0.5, 0.5 + numbers.positive()],
        stiffness: 2.0,
        damping: 0.1,
    };
    plant.add_force_element(tendon).unwrap();
    if numbers.chance(50) {
        let lower = numbers.positive();
        let limits = SpatialTendonConstraint {
            path: vec![c.clone(), d.clone()],
            lower,
            upper: lower + [0.0, numbers.positive()][numbers.below(2)],
            stiffness: [f64::INFINITY, 10.0][numbers.below(2)],
            damping: 0.0,
        };
        plant.add_spatial_tendon_constraint(limits).unwrap();
    }
    if numbers.chance(50) {
        let model = plant.body(bodies[0]).unwrap().model_instance();
        let instance = match model {
            ModelInstanceIndex::WORLD => ModelInstanceIndex::DEFAULT,
            model => model,
        };
        add_flexor(
            plant,
            "flexor of a path",
            instance,
            vec![a.clone(), d.clone()],
        );
    }
    if let [first, .., last] = *single {
        let mut tendon = || match numbers.below(3) {
            0 => Tendon::Spatial(vec![a.clone(), TendonPart::Wrap(around.clone()), b.clone()]),
            1 => Tendon::Fixed(vec![(first, numbers.signed()), (last, numbers.signed())]),
            _ => Tendon::Fixed(vec![([first, last][numbers.below(2)], 1.0)]),
        };
        let polynomial = PolynomialConstraint {
            tendons: [tendon(), tendon()],
            references: [numbers.signed(), numbers.signed()],
            coefficients: [0; 5].map(|_| numbers.signed()),
        };
        plant.add_polynomial_constraint(polynomial).unwrap();
    }
}
