//! Spatial tendons of random plants.

use super::numbers::Numbers;
use nalgebra::{Isometry3, Vector3};
use tarragon_multibody::*;

/// A plant of two bodies with a tendon that wraps around a drum twice, on both sides.
fn winch() -> MultibodyPlant {
    let mut plant = MultibodyPlant::new(0.001).unwrap();
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
    plant.add_force_element(tendon).unwrap();
    plant
}

fn write(plant: &MultibodyPlant, format: OutputFormat) -> (String, Vec<String>) {
    let written = ModelWriter::new(plant).write(format).unwrap();
    let told = written.diagnostics.iter().map(|d| d.message.clone());
    (written.text, told.collect())
}

#[test]
fn spatial_tendons_of_mjcf_are_read_back() {
    let plant = winch();
    let (text, told) = write(&plant, OutputFormat::Mjcf);
    let added = told.iter().filter(|t| t.contains("is added to body"));
    // Both wraps are around one geom, and the sites are the world's three and the load's two.
    assert_eq!((added.count(), told.len()), (6, 6), "{told:?}");
    assert_eq!(text.matches("type=\"cylinder\"").count(), 1, "{text}");
    let mut again = MultibodyPlant::new(0.001).unwrap();
    let mut parser = Parser::new(&mut again);
    parser.add_models_from_string(&text, "xml").unwrap();
    assert!(
        parser.diagnostics().is_empty(),
        "{:?}",
        parser.diagnostics()
    );
    assert_eq!(plant.force_elements(), again.force_elements());
}

#[test]
fn other_formats_leave_spatial_tendons_out() {
    for format in [OutputFormat::Urdf, OutputFormat::Sdf] {
        let (_, told) = write(&winch(), format);
        let words = "spatial tendon on bodies 'world', 'drum', 'load': left out";
        assert!(told.iter().any(|t| t.contains(words)), "{told:?}");
    }
}

/// Adds a tendon over random bodies of a plant, around one of them, and by a pulley.
pub(super) fn add_spatial_tendon(
    numbers: &mut Numbers,
    plant: &mut MultibodyPlant,
    bodies: &[BodyIndex],
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
        path: vec![a, TendonPart::Wrap(around), b, pulley, c, d],
        free_lengths: [0.5, 0.5 + numbers.positive()],
        stiffness: 2.0,
        damping: 0.1,
    };
    plant.add_force_element(tendon).unwrap();
}
