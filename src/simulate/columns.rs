//! Names of the columns of the log, by which users set initial values and inputs.

use std::error::Error;
use tarragon::multibody::MultibodyPlant;
use tarragon::prelude::*;

/// Names of positions, velocities and inputs of a finalized plant, in the order of the plant.
pub(super) struct StateColumns {
    pub(super) positions: Vec<String>,
    pub(super) velocities: Vec<String>,
    /// Inputs of actuators, which the log does not have.
    inputs: Vec<String>,
}

/// Meaning of a name, with its place in the plant.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    Position(usize),
    Velocity(usize),
    Input(usize),
}

/// Values that a user sets.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct GivenValues {
    /// Initial positions and velocities, and constant inputs of actuators, by their places.
    pub(super) positions: Vec<(usize, f64)>,
    pub(super) velocities: Vec<(usize, f64)>,
    pub(super) inputs: Vec<(usize, f64)>,
}

impl StateColumns {
    pub(super) fn new(plant: &MultibodyPlant) -> Result<Self> {
        let (mut positions, mut velocities) = (
            vec![String::new(); plant.num_positions()],
            vec![String::new(); plant.num_velocities()],
        );
        for (index, joint) in plant.joints() {
            let model = plant.model_instance_name(joint.model_instance())?;
            let label = |columns: &mut [String], names: &[String], suffix: &str| {
                for (column, name) in columns.iter_mut().zip(names) {
                    *column = format!("{model}::{name}.{suffix}");
                }
            };
            let start = plant.position_start(index)?;
            let range = start..start + joint.num_positions();
            let names = &plant.position_names()[range.clone()];
            label(&mut positions[range], names, "q");
            let start = plant.velocity_start(index)?;
            let range = start..start + joint.num_velocities();
            let names = &plant.velocity_names()[range.clone()];
            label(&mut velocities[range], names, "v");
        }
        let inputs = plant.actuators().iter().map(|actuator| {
            let model = plant.model_instance_name(actuator.model_instance())?;
            Ok(format!("{model}::{}.u", actuator.name()))
        });
        Ok(Self {
            positions,
            velocities,
            inputs: inputs.collect::<Result<_>>()?,
        })
    }

    /// Reads settings like `model::joint.v=1.5`. The model may be left out where one model alone
    /// has the name.
    pub(super) fn read(&self, settings: &[String]) -> Result<GivenValues, Box<dyn Error>> {
        let mut given = GivenValues::default();
        for setting in settings {
            let (name, value) = setting.rsplit_once('=').ok_or_else(|| {
                format!("--set must be NAME=VALUE, for example 'arm::elbow.v=0.5', got '{setting}'")
            })?;
            let number: f64 = value.trim().parse().unwrap_or(f64::NAN);
            if !number.is_finite() {
                return Err(format!(
                    "--set {name}: the value must be a finite number, got '{value}'"
                )
                .into());
            }
            match self.find(name.trim())? {
                Place::Position(i) => given.positions.push((i, number)),
                Place::Velocity(i) => given.velocities.push((i, number)),
                Place::Input(i) => given.inputs.push((i, number)),
            }
        }
        Ok(given)
    }

    fn all(&self) -> impl Iterator<Item = (&str, Place)> {
        fn named(
            names: &[String],
            place: fn(usize) -> Place,
        ) -> impl Iterator<Item = (&str, Place)> {
            let names = names.iter().enumerate();
            names.map(move |(i, name)| (name.as_str(), place(i)))
        }
        named(&self.positions, Place::Position)
            .chain(named(&self.velocities, Place::Velocity))
            .chain(named(&self.inputs, Place::Input))
    }

    fn find(&self, wanted: &str) -> Result<Place, String> {
        if let Some((_, place)) = self.all().find(|(name, _)| *name == wanted) {
            return Ok(place);
        }
        let is_short = |name: &str| {
            name.rsplit_once("::")
                .is_some_and(|(_, rest)| rest == wanted)
        };
        let found: Vec<(&str, Place)> = self.all().filter(|(name, _)| is_short(name)).collect();
        match found[..] {
            [(_, place)] => Ok(place),
            [] => {
                let all: Vec<&str> = self.all().map(|(name, _)| name).collect();
                Err(format!(
                    "--set {wanted}: the name must be a position (.q), a velocity (.v) or the input \
                     of an actuator (.u), got an unknown one; there are {}",
                    shortened(&all)
                ))
            }
            _ => {
                let all: Vec<&str> = found.iter().map(|(name, _)| *name).collect();
                Err(format!(
                    "--set {wanted}: several models have the name; give one of {}",
                    shortened(&all)
                ))
            }
        }
    }
}

/// Lists the first names, and the number of all others.
pub(super) fn shortened(names: &[&str]) -> String {
    const SHOWN: usize = 12;
    let list = names[..names.len().min(SHOWN)].join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => list,
        others => format!("{list} and {others} more"),
    }
}
