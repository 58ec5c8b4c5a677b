//! Names of the columns of the log, by which users set initial values and inputs.

use std::error::Error;
use tarragon::multibody::MultibodyPlant;
use tarragon::prelude::*;

/// Names of positions, velocities and inputs of a plant, in the order of the plant.
pub(super) struct StateColumns {
    pub(super) positions: Vec<String>,
    pub(super) velocities: Vec<String>,
    /// Inputs of actuators, which the log does not have.
    inputs: Vec<String>,
}

/// Meaning of a name, with its place in the plant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
        let mut positions = plant.state_names();
        let velocities = positions.split_off(plant.num_positions());
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
        let mut seen = std::collections::BTreeSet::new();
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
            let place = self.find(name.trim())?;
            if !seen.insert(place) {
                let name = name.trim();
                return Err(format!(
                    "--set {name}: the value must be set only once, got a second one, '{value}'; leave one out"
                )
                .into());
            }
            match place {
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
            [] => Err(format!(
                "--set {wanted}: the name must be a position (.q), a velocity (.v) or the input \
                     of an actuator (.u), got an unknown one; {}",
                self.suggestion(wanted)
            )),
            _ => {
                let all: Vec<&str> = found.iter().map(|(name, _)| *name).collect();
                Err(format!(
                    "--set {wanted}: several models have the name; give one of {}",
                    shortened(&all)
                ))
            }
        }
    }

    /// Lists the names of the asked kind that a user may have meant, the nearest first.
    fn suggestion(&self, wanted: &str) -> String {
        let kind = [".q", ".v", ".u"]
            .into_iter()
            .find(|kind| wanted.ends_with(kind));
        let is_asked = |name: &&str| kind.is_none_or(|kind| name.ends_with(kind));
        let mut names: Vec<&str> = self.all().map(|(name, _)| name).collect();
        let has_kind = names.iter().any(is_asked);
        if has_kind {
            names.retain(is_asked);
        }
        names.sort_by_key(|name| unlikeness(wanted, name));
        let list = shortened(&names);
        match (kind, names.first()) {
            (_, None) => "the model has none".into(),
            (Some(kind), _) if !has_kind => format!("none ends in {kind}; there are {list}"),
            (_, Some(nearest)) if unlikeness(wanted, nearest) * 4 < wanted.len() => {
                format!("did you mean {nearest}? There are {list}")
            }
            _ => format!("there are {list}"),
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

/// Counts the pairs of neighbouring letters of a pattern that a name lacks.
pub(super) fn unlikeness(pattern: &str, name: &str) -> usize {
    let (pattern, name) = (pattern.to_lowercase(), name.to_lowercase());
    let letters: Vec<char> = pattern.chars().collect();
    let is_missing = |pair: &&[char]| !name.contains(&pair.iter().collect::<String>());
    letters.windows(2).filter(is_missing).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_names_suggest_those_of_the_same_kind() {
        let names = |model: &str, suffix: &str| {
            let names = (0..20).map(|i| format!("{model}::trunk_{i}.{suffix}"));
            names.collect::<Vec<_>>()
        };
        let mut columns = StateColumns {
            positions: names("go", "q"),
            velocities: names("go", "v"),
            inputs: vec!["go::FL_hip.u".into(), "go::FR_hip.u".into()],
        };
        let error = columns.find("FR_hipp.u").unwrap_err();
        let end = "did you mean go::FR_hip.u? There are go::FR_hip.u, go::FL_hip.u";
        assert!(error.ends_with(end), "{error}");
        columns.inputs.clear();
        let error = columns.find("FR_hipp.u").unwrap_err();
        assert!(error.contains("none ends in .u; there are go::"), "{error}");
        let error = columns.find("trunk_77.v").unwrap_err();
        assert!(error.contains("did you mean go::trunk_7.v?"), "{error}");
        assert!(!error.contains(".q,"), "{error}");
    }
}
