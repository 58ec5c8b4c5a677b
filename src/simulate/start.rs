//! The start of a simulation that a user asks for.

use super::SimulateArgs;
use super::build::{World, beyond_limits};
use super::columns::StateColumns;
use std::error::Error;
use tarragon::multibody::MultibodyPlant;

impl World {
    /// Sets the start that a user asks for: a keyframe, then single values.
    pub(super) fn start_as_asked(&mut self, args: &SimulateArgs) -> Result<(), Box<dyn Error>> {
        let plant = &mut self.plant;
        self.velocities = vec![0.0; plant.num_velocities()];
        if args.keyframe != "none" {
            check_keyframe(plant, &args.keyframe)?;
            plant.set_default_positions_to_keyframe(&args.keyframe)?;
            self.velocities = plant.keyframe_velocities(&args.keyframe)?;
            let inputs = plant.keyframe_actuation(&args.keyframe)?;
            self.inputs = inputs.into_iter().enumerate().collect();
        }
        let given = StateColumns::new(plant)?.read(&args.set)?;
        let mut q = plant.default_positions();
        for (place, value) in given.positions {
            q[place] = value;
        }
        plant.set_default_positions(&q)?;
        let beyond: Vec<String> = beyond_limits(plant)
            .into_iter()
            .map(|(_, name, _)| format!("'{name}'"))
            .collect();
        if !beyond.is_empty() {
            eprintln!(
                "warning: the limits of {} are violated at the start and push the joints back within \
                 a step, which can throw the model away; change --keyframe or --set",
                beyond.join(", ")
            );
        }
        for (place, value) in given.velocities {
            self.velocities[place] = value;
        }
        self.inputs.extend(given.inputs);
        Ok(())
    }
}

/// Returns an error that lists the keyframes unless there is one with the name.
fn check_keyframe(plant: &MultibodyPlant, name: &str) -> Result<(), String> {
    let names: Vec<&str> = plant.keyframes().iter().map(|key| &*key.name).collect();
    let plain = name.rsplit_once("::").map_or(name, |(_, plain)| plain);
    if names.contains(&name) || names.contains(&plain) {
        return Ok(());
    }
    Err(match names.is_empty() {
        true => format!("--keyframe {name}: the model has no keyframes; leave the option out"),
        false => format!(
            "--keyframe {name}: the name must be 'none' or a keyframe of the model: '{}'",
            names.join("', '")
        ),
    })
}
