//! The start of a simulation that a user asks for.

use super::SimulateArgs;
use super::build::{World, beyond_limits};
use super::columns::StateColumns;
use std::error::Error;

impl World {
    /// Sets the start that a user asks for: a keyframe, then single values.
    pub(super) fn start_as_asked(&mut self, args: &SimulateArgs) -> Result<(), Box<dyn Error>> {
        let plant = &mut self.plant;
        self.velocities = vec![0.0; plant.num_velocities()];
        if args.keyframe != "none" {
            let place = |error| format!("--keyframe {}: {error}", args.keyframe);
            let q = plant.keyframe_positions(&args.keyframe).map_err(place)?;
            plant.set_default_positions(&q).map_err(place)?;
            // A part that could not be read does not prevent the start.
            match plant.keyframe_velocities(&args.keyframe) {
                Ok(velocities) => self.velocities = velocities,
                Err(error) => eprintln!("warning: {}; velocities start at 0", place(error)),
            }
            match plant.keyframe_actuation(&args.keyframe) {
                Ok(inputs) => self.inputs = inputs.into_iter().enumerate().collect(),
                Err(error) => eprintln!("warning: {}; inputs start at 0", place(error)),
            }
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
