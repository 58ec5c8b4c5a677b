//! Answers to the cases of `tarragon dynamics`.

use super::build::{Model, joint_name};
use super::case::{Case, CaseKind, Inputs, Record};
use nalgebra::DMatrix;
use serde_json::{Map, Value, json};
use std::path::Path;
use tarragon::framework::autodiff::try_jacobian;
use tarragon::framework::{AutoDiff, DiagramScalar, Scalar, SimulatorConfig};
use tarragon::multibody::{ContactResults, ModelInstanceIndex, MultibodyPlantPorts, SpatialVector};
use tarragon::prelude::*;

/// Velocities up to which a mass matrix is listed in full.
const MOST_LISTED: usize = 24;

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Writes a number; infinities and NaN are strings.
fn number(x: f64) -> Value {
    match x.is_finite() {
        true => json!(x),
        false if x.is_nan() => json!("nan"),
        false => json!(if x > 0.0 { "inf" } else { "-inf" }),
    }
}

fn numbers<'a>(values: impl IntoIterator<Item = &'a f64>) -> Value {
    values.into_iter().map(|x| number(*x)).collect()
}

fn spatial(f: &SpatialVector<f64>) -> Value {
    numbers(f.rotational.iter().chain(&f.translational))
}

/// Computes the answer to a case. `warn` receives warnings about likely mistakes in the case.
pub(super) fn answer(
    mut case: Case,
    models: Option<&Path>,
    warn: impl Fn(&str),
) -> Result<Value, String> {
    let model = Model::new(&case, models, warn)?;
    let plant = model.plant.system();
    case.state
        .q
        .get_or_insert_with(|| plant.default_positions());
    let at_rest = || vec![0.0; plant.num_velocities()];
    case.state.v.get_or_insert_with(at_rest);
    match case.kind {
        CaseKind::Forward => forward(&case, &model),
        CaseKind::Trajectory => trajectory(&case, &model),
        CaseKind::Gradient => gradient(&case, &model),
    }
}

impl Model {
    /// Puts the plant in the case's state, with its locks and the inputs of the first phase.
    fn start<T: DiagramScalar>(
        &self,
        case: &Case,
        ports: &MultibodyPlantPorts<T>,
        context: &mut Context<T>,
    ) -> Result<(), String> {
        let lifted = |x: &[f64]| -> Vec<T> { x.iter().map(|x| T::from(*x)).collect() };
        ports
            .set_positions(context, lifted(case.state.q()))
            .map_err(text)?;
        ports
            .set_velocities(context, lifted(case.state.v()))
            .map_err(text)?;
        for name in &case.lock {
            let joint = ports.joint_by_name(name).map_err(text)?;
            ports.set_joint_locked(context, joint, true).map_err(text)?;
        }
        let first = case.inputs.iter().find(|phase| phase.from_step == 0);
        let none = Inputs::default();
        self.set_inputs(ports, context, first.unwrap_or(&none))
    }

    fn contacts(&self, results: &ContactResults<f64>) -> Value {
        let plant = self.plant.system();
        let contact = |c: &tarragon::multibody::PointPairContactInfo<f64>| {
            json!([
                plant.scoped_body_name(c.body_a),
                plant.scoped_body_name(c.body_b),
                numbers(&c.contact_force),
                numbers(&c.contact_point),
                number(c.separation_speed),
                number(c.slip_speed),
                number(c.point_pair.depth),
            ])
        };
        results.point_pairs().iter().map(contact).collect()
    }

    /// Returns the values of the ports of accelerations and forces.
    fn ports(&self, context: &Context<f64>) -> Result<Map<String, Value>, String> {
        let plant = &self.plant;
        let mut all = Map::new();
        let vdot = plant.generalized_acceleration().map_err(text)?;
        let vdot = context.eval(vdot).map_err(text)?;
        all.insert("generalized_acceleration".into(), numbers(vdot));
        if !plant.actuators().is_empty() {
            let net = plant.net_actuation().map_err(text)?;
            let net = context.eval(net).map_err(text)?;
            all.insert("net_actuation".into(), numbers(net));
        }
        let reactions = plant.reaction_forces().map_err(text)?;
        let reactions = context.eval(reactions).map_err(text)?;
        let reactions: Map<String, Value> = plant
            .joints()
            .zip(reactions)
            .map(|((_, joint), force)| (joint_name(plant, joint), spatial(force)))
            .collect();
        all.insert("reaction_forces".into(), reactions.into());
        if self.has_scene {
            let mut forces = Map::new();
            for (i, name) in plant.model_instance_names().iter().enumerate() {
                let instance = plant.model_instance_by_name(name).map_err(text)?;
                debug_assert_eq!(ModelInstanceIndex::index(instance), i);
                if plant.num_velocities_in(instance).map_err(text)? == 0 {
                    continue;
                }
                let port = plant
                    .generalized_contact_forces_in(instance)
                    .map_err(text)?;
                forces.insert(name.clone(), numbers(context.eval(port).map_err(text)?));
            }
            all.insert("generalized_contact_forces".into(), forces.into());
        }
        Ok(all)
    }
}

fn forward(case: &Case, model: &Model) -> Result<Value, String> {
    let mut context = model.diagram.default_context();
    model.start(case, model.plant.ports(), &mut context)?;
    let plant = &model.plant;
    let positions = plant
        .calc_position_kinematics(case.state.q())
        .map_err(text)?;
    let velocities = plant
        .calc_velocity_kinematics(&positions, case.state.v())
        .map_err(text)?;
    let vdot = plant.generalized_acceleration().map_err(text)?;
    let mut all = Map::new();
    match context.eval(vdot) {
        Ok(vdot) => {
            all = model.ports(&context)?;
            all.remove("generalized_acceleration");
            all.insert("vdot".into(), numbers(vdot));
        }
        // Without accelerations, for example because of a singular inertia, there is still the
        // rest.
        Err(error) => {
            all.insert("vdot".into(), Value::Null);
            all.insert("vdot_error".into(), json!(text(error)));
            let first = case.inputs.iter().find(|phase| phase.from_step == 0);
            let u = first
                .and_then(|phase| phase.actuation.as_deref())
                .unwrap_or(&[]);
            let limits = model.plant.effort_upper_limits();
            let net: Vec<f64> = u.iter().zip(limits).map(|(u, e)| u.clamp(-e, e)).collect();
            all.insert("net_actuation".into(), numbers(&net));
        }
    }
    let has_vdot = all["vdot"] != Value::Null;
    let mut add = |key: &str, value: Value| all.insert(key.into(), value);
    let qdot = plant
        .map_velocity_to_qdot(&positions, case.state.v())
        .map_err(text)?;
    add("qdot", numbers(&qdot));
    let m = plant.calc_mass_matrix(&positions).map_err(text)?;
    add("mass_matrix_condition", number(condition(&m)));
    let n = m.nrows();
    if n <= MOST_LISTED {
        let rows = m.row_iter().map(|row| numbers(row.iter()));
        add("mass_matrix", rows.collect());
    } else {
        let w = nalgebra::DVector::from_fn(n, |i, _| (i as f64).cos());
        add("mass_matrix_times_cos_i", numbers((&m * w).iter()));
        add("mass_matrix_diagonal", numbers(m.diagonal().iter()));
    }
    let bias = plant
        .calc_bias_term(&positions, &velocities)
        .map_err(text)?;
    add("bias", numbers(&bias));
    let gravity = plant
        .calc_gravity_generalized_forces(&positions)
        .map_err(text)?;
    add("gravity_forces", numbers(&gravity));
    let forces = plant
        .calc_force_elements_contribution(&positions, &velocities)
        .map_err(text)?;
    let generalized = plant
        .calc_generalized_forces(&positions, &forces)
        .map_err(text)?;
    add("force_elements_generalized", numbers(&generalized));
    let wanted = case.vdot_desired.clone().unwrap_or_else(|| vec![0.0; n]);
    let tau = plant
        .calc_inverse_dynamics_with_forces(&positions, &velocities, &wanted, &forces)
        .map_err(text)?;
    add("inverse_dynamics", numbers(&tau));
    let kinetic = plant
        .calc_kinetic_energy(&positions, &velocities)
        .map_err(text)?;
    add("kinetic_energy", number(kinetic));
    let potential = plant.calc_potential_energy(&positions).map_err(text)?;
    add("potential_energy", number(potential));
    let power = plant
        .calc_conservative_power(&positions, &velocities)
        .map_err(text)?;
    add("conservative_power", number(power));
    let power = plant
        .calc_non_conservative_power(&positions, &velocities)
        .map_err(text)?;
    add("non_conservative_power", number(power));
    if has_vdot && n <= MOST_LISTED {
        let a = plant.body_spatial_accelerations().map_err(text)?;
        let a = context.eval(a).map_err(text)?;
        let bodies = plant.bodies().skip(1);
        let a: Map<String, Value> = bodies
            .map(|(body, _)| (plant.scoped_body_name(body), spatial(&a[body.index()])))
            .collect();
        add("body_spatial_accelerations", a.into());
    }
    if has_vdot && model.has_scene {
        let contacts = plant.contact_results().map_err(text)?;
        let contacts = context.eval(contacts).map_err(text)?;
        add("contacts", model.contacts(contacts));
    }
    Ok(all.into())
}

/// Returns the condition number of a symmetric positive matrix, 1 for an empty one.
fn condition(m: &DMatrix<f64>) -> f64 {
    if m.is_empty() {
        return 1.0;
    }
    let all = m.clone().symmetric_eigen().eigenvalues;
    all.max() / all.min()
}

fn trajectory(case: &Case, model: &Model) -> Result<Value, String> {
    let record: &Record = case
        .record
        .as_ref()
        .ok_or("record: this field is missing")?;
    if record.every == 0 {
        return Err("record: every must be at least 1, got 0".into());
    }
    let mut context = model.diagram.default_context();
    model.start(case, model.plant.ports(), &mut context)?;
    let mut sim = Simulator::new(&model.diagram, context).map_err(text)?;
    let mut step = case.plant.time_step();
    if step == 0.0 {
        step = record
            .sample
            .ok_or("record: sample is missing, in continuous time")?;
        let defaults = SimulatorConfig::default();
        let config = SimulatorConfig {
            max_step_size: record.max_step.unwrap_or(defaults.max_step_size),
            accuracy: record.accuracy.unwrap_or(defaults.accuracy),
            ..defaults
        };
        sim.apply_config(&config).map_err(text)?;
    }
    sim.initialize().map_err(text)?;
    let (mut x, mut contacts) = (vec![], vec![]);
    let mut k = 0_usize;
    loop {
        if k > 0 {
            sim.advance_to(k as f64 * step).map_err(text)?;
        }
        let ports = model.plant.ports();
        let q = ports.positions(sim.context()).map_err(text)?;
        let v = ports.velocities(sim.context()).map_err(text)?;
        if k.is_multiple_of(record.every) {
            x.push(numbers(q.iter().chain(&v)));
            if model.has_scene {
                let port = ports.contact_results().map_err(text)?;
                contacts.push(model.contacts(sim.context().eval(port).map_err(text)?));
            }
        }
        let phase = case
            .inputs
            .iter()
            .find(|phase| k > 0 && phase.from_step == k);
        if let Some(phase) = phase {
            model.set_inputs(ports, sim.context_mut(), phase)?;
        }
        // To the next sample, or to the next phase if that comes first.
        let sample = (k / record.every + 1) * record.every;
        let phases = case.inputs.iter().map(|phase| phase.from_step);
        let next = phases.filter(|at| *at > k).chain([sample]).min();
        let next = next.unwrap_or(sample);
        if next > record.steps {
            break;
        }
        k = next;
    }
    let mut all = Map::new();
    all.insert("x".into(), x.into());
    if model.has_scene {
        all.insert("contacts".into(), contacts.into());
    }
    all.insert("final_ports".into(), model.ports(sim.context())?.into());
    Ok(all.into())
}

/// Computes the state after some steps, or the time derivatives, in any scalar.
fn outcome<T: DiagramScalar>(
    case: &Case,
    model: &Model,
    diagram: &Diagram<T>,
    (q, v, u): (&[T], &[T], &[T]),
) -> Result<Vec<T>, String> {
    let plant = model.plant.system();
    let ports = diagram.ports(&model.plant).map_err(text)?;
    let mut context = diagram.default_context();
    model.start(case, &ports, &mut context)?;
    ports.set_positions(&mut context, q).map_err(text)?;
    ports.set_velocities(&mut context, v).map_err(text)?;
    let actuation = ports.actuation().map_err(text)?;
    context.fix(actuation, u.to_vec()).map_err(text)?;
    if case.plant.time_step() == 0.0 {
        let positions = plant.calc_position_kinematics(q).map_err(text)?;
        let mut x = plant.map_velocity_to_qdot(&positions, v).map_err(text)?;
        let vdot = ports.generalized_acceleration().map_err(text)?;
        x.extend(context.eval(vdot).map_err(text)?);
        return Ok(x);
    }
    let steps = case.steps.unwrap_or(1);
    let mut sim = Simulator::new(diagram, context).map_err(text)?;
    sim.advance_to(steps as f64 * case.plant.time_step())
        .map_err(text)?;
    let mut x = ports.positions(sim.context()).map_err(text)?;
    x.extend(ports.velocities(sim.context()).map_err(text)?);
    Ok(x)
}

fn gradient(case: &Case, model: &Model) -> Result<Value, String> {
    let plant = model.plant.system();
    let (q, v) = (case.state.q(), case.state.v());
    let first = case.inputs.iter().find(|phase| phase.from_step == 0);
    let u = first.and_then(|phase| phase.actuation.clone());
    let u = u.unwrap_or_else(|| vec![0.0; plant.actuators().len()]);
    let value = outcome(case, model, &model.diagram, (q, v, &u))?;
    let dual = model.diagram.to_scalar::<AutoDiff>().map_err(text)?;
    let positions = plant
        .calc_position_kinematics(&lifted::<AutoDiff>(q))
        .map_err(text)?;
    let z: Vec<f64> = std::iter::repeat_n(0.0, v.len())
        .chain(v.iter().copied())
        .chain(u)
        .collect();
    let nv = v.len();
    let (_, jacobian) = try_jacobian(
        |z| -> Result<Vec<AutoDiff>, String> {
            let along = plant
                .map_velocity_to_qdot(&positions, &z[..nv])
                .map_err(text)?;
            let q: Vec<AutoDiff> = q.iter().zip(along).map(|(q, d)| d + *q).collect();
            outcome(case, model, &dual, (&q, &z[nv..2 * nv], &z[2 * nv..]))
        },
        &z,
    )?;
    let rows = jacobian.row_iter().map(|row| numbers(row.iter()));
    Ok(json!({ "value": numbers(&value), "ad": rows.collect::<Vec<_>>() }))
}

fn lifted<T: Scalar>(x: &[f64]) -> Vec<T> {
    x.iter().map(|x| T::from(*x)).collect()
}
