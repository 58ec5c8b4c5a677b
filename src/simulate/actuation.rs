//! Inputs of actuators: constants, or sliders on the page.

use super::driver::Driver;
use super::scenario::Scenario;
use std::collections::BTreeMap;
use std::error::Error;
use tarragon::multibody::{JointKind, ModelInstanceIndex, MultibodyPlant};
use tarragon::prelude::*;
use tarragon::visualization::Meshcat;

/// Half the range of a slider of an actuator without a limit of its effort (N m or N) or control.
const EFFORT: f64 = 100.0;
/// Number of steps of a slider.
const STEPS: f64 = 400.0;

/// The input that a slider sets.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Target {
    /// Element of the port `actuation`, which is an effort or a control.
    Effort(usize),
    /// Element of the desired state of a model, by its place in `Actuation::desired`.
    Position(usize, usize),
}

struct ActuatorSlider {
    name: String,
    target: Target,
    /// Exact initial value; the slider may only get near to it.
    initial: f64,
    /// Initial value of the slider.
    shown: f64,
}

/// Inputs of all actuators of a plant.
pub(super) struct Actuation {
    meshcat: Option<Meshcat>,
    efforts: Vec<f64>,
    /// Desired states of models that have controllers.
    desired: Vec<(ModelInstanceIndex, Vec<f64>)>,
    sliders: Vec<ActuatorSlider>,
}

impl Actuation {
    /// Creates the inputs of a plant. `inputs` holds values by the index of the actuator.
    /// All other efforts and controls are 0, except that controllers and position servos hold the
    /// default positions with any driver. With a server, each actuator gets a slider, unless its
    /// model has a [`Driver::ZeroForce`]. Sliders name the model if several models have actuators.
    pub(super) fn new(
        plant: &MultibodyPlant,
        scenario: &Scenario,
        meshcat: Option<&Meshcat>,
        inputs: &BTreeMap<usize, f64>,
    ) -> Result<Self, Box<dyn Error>> {
        let mut actuation = Self {
            meshcat: meshcat.cloned(),
            efforts: vec![0.0; plant.num_actuators()],
            desired: vec![],
            sliders: vec![],
        };
        let mut driven = vec![];
        for model in plant.model_instance_names() {
            let instance = plant.model_instance_by_name(model)?;
            if plant.num_actuators_in(instance)? > 0 {
                driven.push((model, instance));
            }
        }
        let has_several = driven.len() > 1;
        for (model, instance) in driven {
            let driver = scenario.model_drivers.get(model).map(|d| &d.value);
            let suffix = if has_several {
                format!("/{model}")
            } else {
                String::new()
            };
            let has_sliders = driver != Some(&Driver::ZeroForce);
            let suffix = has_sliders.then_some(&*suffix);
            actuation.add_model((plant, instance), suffix, inputs)?;
        }
        Ok(actuation)
    }

    /// Adds the inputs of a model, those that are given and defaults of others, and sliders if
    /// there is a suffix for their names.
    fn add_model(
        &mut self,
        (plant, instance): (&MultibodyPlant, ModelInstanceIndex),
        suffix: Option<&str>,
        inputs: &BTreeMap<usize, f64>,
    ) -> Result<(), Box<dyn Error>> {
        let q0 = plant.default_positions();
        let actuators = plant.joint_actuator_indices_in(instance)?;
        let mut desired = vec![0.0; 2 * actuators.len()];
        let mut has_controllers = false;
        for (k, index) in actuators.into_iter().enumerate() {
            let actuator = plant.joint_actuator(index)?;
            let is_linear = match actuator.joint() {
                // A spatial tendon.
                None => true,
                Some(joint) => matches!(
                    plant.joint(joint)?.kind(),
                    JointKind::Prismatic { .. } | JointKind::Curvilinear { .. }
                ),
            };
            let (range, unit, mut initial, target);
            let with_gains = actuator
                .joint()
                .filter(|_| actuator.controller_gains().is_some());
            if let Some(joint) = with_gains {
                let place = plant.position_start(joint)?;
                initial = q0[place];
                desired[k] = initial;
                has_controllers = true;
                let (lower, upper) = (
                    plant.position_lower_limits()[place],
                    plant.position_upper_limits()[place],
                );
                let half = if is_linear { 1.0 } else { std::f64::consts::PI };
                let or = |limit: f64, other: f64| if limit.is_finite() { limit } else { other };
                range = [or(lower, initial - half), or(upper, initial + half)];
                unit = if is_linear { "m" } else { "rad" };
                target = Target::Position(self.desired.len(), k);
            } else if let Some(control) = actuator.affine_control() {
                let mut position = 0.0;
                for (joint, ratio) in actuator.joints() {
                    position += ratio * q0[plant.position_start(joint)?];
                }
                if let Some(path) = actuator.path() {
                    let at_rest = plant.calc_position_kinematics(&q0)?;
                    position = plant.calc_tendon_length(&at_rest, path)?;
                }
                let holding = control.control_at(position);
                let half = if holding.is_some() { 1.0 } else { EFFORT };
                let [lower, upper] = control.control_range;
                let or = |limit: f64, other: f64| if limit.is_finite() { limit } else { other };
                let middle = holding.unwrap_or(0.0);
                range = [or(lower, middle - half), or(upper, middle + half)];
                initial = middle.clamp(lower, upper);
                self.efforts[index.index()] = initial;
                unit = "control";
                target = Target::Effort(index.index());
            } else {
                let limit = actuator.effort_limit();
                let limit = if limit.is_finite() { limit } else { EFFORT };
                (initial, range) = (0.0, [-limit, limit]);
                unit = if is_linear { "N" } else { "N m" };
                target = Target::Effort(index.index());
            }
            if let Some(given) = inputs.get(&index.index()) {
                initial = *given;
                match target {
                    Target::Effort(i) => self.efforts[i] = initial,
                    Target::Position(_, i) => desired[i] = initial,
                }
            }
            if range[0] >= range[1] {
                continue;
            }
            if let (Some(meshcat), Some(suffix)) = (&self.meshcat, suffix) {
                let name = format!("{}{suffix} ({unit})", actuator.name());
                let step = (range[1] - range[0]) / STEPS;
                let shown = meshcat.add_slider(&name, range[0], range[1], step, initial)?;
                self.sliders.push(ActuatorSlider {
                    name,
                    target,
                    initial,
                    shown,
                });
            }
        }
        if has_controllers {
            self.desired.push((instance, desired));
        }
        Ok(())
    }

    /// Moves the sliders to their initial values.
    pub(super) fn reset(&self) -> Result<(), Box<dyn Error>> {
        if let Some(meshcat) = &self.meshcat {
            for slider in &self.sliders {
                meshcat.set_slider_value(&slider.name, slider.initial)?;
            }
        }
        Ok(())
    }

    /// Reads the sliders; returns whether any has moved since the last call.
    pub(super) fn read(&mut self) -> Result<bool, Box<dyn Error>> {
        let Some(meshcat) = &self.meshcat else {
            return Ok(false);
        };
        let mut has_moved = false;
        for slider in &self.sliders {
            let value = meshcat.slider_value(&slider.name)?;
            let value = if value == slider.shown {
                slider.initial
            } else {
                value
            };
            let input = match slider.target {
                Target::Effort(i) => &mut self.efforts[i],
                Target::Position(model, i) => &mut self.desired[model].1[i],
            };
            has_moved |= *input != value;
            *input = value;
        }
        Ok(has_moved)
    }

    /// Gives the inputs to a context.
    pub(super) fn apply(
        &self,
        plant: &Block<MultibodyPlant>,
        context: &mut Context<f64>,
    ) -> Result<(), Box<dyn Error>> {
        context.fix(plant.actuation()?, self.efforts.clone())?;
        for (instance, desired) in &self.desired {
            context.fix(plant.desired_state_in(*instance)?, desired.clone())?;
        }
        Ok(())
    }
}
