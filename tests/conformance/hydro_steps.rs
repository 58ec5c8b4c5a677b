//! Plants in hydroelastic contact.

use crate::support::{Family, difference, load, number};
use serde_json::Value;
use tarragon::multibody::ContactResults;
use tarragon::prelude::*;

fn flat(value: &Value) -> Vec<f64> {
    value
        .as_array()
        .map_or(vec![], |all| all.iter().map(number).collect())
}

type Errors = Vec<(&'static str, f64, f64)>;

/// Compares contacts on surfaces with recorded ones: sums over faces, and the force on body A.
fn compare(errors: &mut Errors, found: &ContactResults<f64>, expected: &Value, tolerance: f64) {
    let surfaces = expected["contacts"].as_array().unwrap();
    let mut same = |what, found: usize, expected: u64| {
        errors.push((what, (found as f64 - expected as f64).abs(), 0.5));
    };
    same(
        "surfaces",
        found.hydroelastic_contacts().len(),
        surfaces.len() as u64,
    );
    same(
        "points",
        found.point_pairs().len(),
        expected["points"].as_u64().unwrap(),
    );
    for (found, expected) in found.hydroelastic_contacts().iter().zip(surfaces) {
        let surface = &found.contact_surface;
        let area = number(&expected["area"]);
        errors.push((
            "area",
            (surface.total_area() - area).abs() / area,
            tolerance,
        ));
        let mut near = |what, found: &[f64], key: &str, unit: f64| {
            errors.push((
                what,
                difference(found, &flat(&expected[key])) / unit,
                tolerance,
            ));
        };
        near("centroid", surface.centroid().as_slice(), "centroid", 0.1);
        let force = flat(&expected["force"])
            .iter()
            .fold(1.0_f64, |m, x| m.max(x.abs()));
        near(
            "force",
            found.f_ac_w.translational.as_slice(),
            "force",
            force,
        );
        near(
            "torque",
            found.f_ac_w.rotational.as_slice(),
            "torque",
            0.1 * force,
        );
    }
}

/// Steps and accelerations with contact surfaces are Drake's. Drake's solver stops at a relative
/// residual of 1e-6, and contact amplifies the difference.
#[test]
fn plants_move_as_in_drake() {
    let Some(truth) = load("hydro/steps.json.gz") else {
        return;
    };
    let mut family = Family::new("steps with contact surfaces");
    for case in truth["cases"].as_array().expect("cases") {
        let time_step = number(&case["time_step"]);
        let (mut plant, mut graph) = (
            MultibodyPlantBuilder::new(time_step).unwrap(),
            SceneGraph::new(),
        );
        let approximation = case["approximation"].as_str().unwrap();
        if time_step > 0.0 {
            let approximation = approximation.parse().unwrap();
            plant.set_discrete_contact_approximation(approximation);
        }
        let mut parser = Parser::with_scene_graph(&mut plant, &mut graph);
        for model in case["models"].as_array().unwrap() {
            parser
                .add_models_from_string(model.as_str().unwrap(), "urdf")
                .unwrap();
        }
        let mut builder = DiagramBuilder::new();
        let (plant, _) = add_multibody_plant_scene_graph(&mut builder, plant, graph).unwrap();
        let diagram = builder.build().unwrap();
        let mut context = diagram.default_context();
        plant.set_positions(&mut context, flat(&case["q"])).unwrap();
        plant
            .set_velocities(&mut context, flat(&case["v"]))
            .unwrap();
        let mut errors = vec![];
        if time_step == 0.0 {
            let xdot = flat(&case["xdot"]);
            let vdot = plant.generalized_acceleration().unwrap();
            let vdot = context.eval(vdot).unwrap();
            let expected = &xdot[xdot.len() - vdot.len()..];
            let size = expected.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
            errors.push(("vdot", difference(vdot, expected) / size, 1e-9));
            compare(
                &mut errors,
                context.eval(plant.contact_results().unwrap()).unwrap(),
                case,
                1e-9,
            );
        } else {
            let mut simulator = Simulator::new(&diagram, context).unwrap();
            for step in case["steps"].as_array().unwrap() {
                let count = step["step"].as_u64().unwrap();
                simulator.advance_to(count as f64 * time_step).unwrap();
                let context = simulator.context();
                let mut x = plant.positions(context).unwrap();
                x.extend(plant.velocities(context).unwrap());
                let tolerance = if count == 1 { 3e-6 } else { 1e-4 };
                errors.push(("x", difference(&x, &flat(&step["x"])), tolerance));
                let results = context.eval(plant.contact_results().unwrap()).unwrap();
                compare(&mut errors, results, step, 100.0 * tolerance);
            }
        }
        family.case(|| format!("{} {approximation}", case["name"]), &errors);
    }
    family.finish();
}
