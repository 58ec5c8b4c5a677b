//! Columns of the log, and patterns that choose among them.

use super::columns::{StateColumns, shortened, unlikeness};
use std::error::Error;
use tarragon::multibody::{JointKind, MultibodyPlant};
use tarragon::prelude::*;

/// Physical quantity of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantity {
    Angle,
    Length,
    Quaternion,
    AngularVelocity,
    Velocity,
    Energy,
    Contacts,
}

impl Quantity {
    /// All quantities, in the order of panels.
    pub(super) const ALL: [Self; 7] = [
        Self::Angle,
        Self::Length,
        Self::Quaternion,
        Self::AngularVelocity,
        Self::Velocity,
        Self::Energy,
        Self::Contacts,
    ];

    /// Returns the name with the unit.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Angle => "angle (rad)",
            Self::Length => "position (m)",
            Self::Quaternion => "quaternion",
            Self::AngularVelocity => "angular velocity (rad/s)",
            Self::Velocity => "velocity (m/s)",
            Self::Energy => "energy (J)",
            Self::Contacts => "number of contacts",
        }
    }

    /// Returns the quantity of a position of a joint.
    fn of_position(kind: &JointKind, index: usize) -> Self {
        let is_length = match kind {
            JointKind::Prismatic { .. } | JointKind::Curvilinear { .. } => true,
            JointKind::Planar => index < 2,
            JointKind::RpyFloating => index >= 3,
            kind if kind.has_quaternion() && index < 4 => return Self::Quaternion,
            JointKind::QuaternionFloating => true,
            _ => false,
        };
        if is_length { Self::Length } else { Self::Angle }
    }
    /// Returns the quantity of a velocity of a joint.
    fn of_velocity(kind: &JointKind, index: usize) -> Self {
        let is_translation = match kind {
            JointKind::Prismatic { .. } | JointKind::Curvilinear { .. } => true,
            JointKind::Planar => index < 2,
            JointKind::RpyFloating | JointKind::QuaternionFloating => index >= 3,
            _ => false,
        };
        if is_translation {
            Self::Velocity
        } else {
            Self::AngularVelocity
        }
    }
}

/// A column of the log.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LogColumn {
    pub(super) name: String,
    pub(super) quantity: Quantity,
}

/// Returns the columns after the time (s): positions `model::name.q`, velocities `model::name.v`,
/// means `model::name.x`, `.y` and `.z` of the vertices of deformable bodies (m), the energy of
/// rigid bodies (J), and the number of contacts.
pub(super) fn log_columns(plant: &MultibodyPlant) -> Result<Vec<LogColumn>> {
    let names = StateColumns::new(plant)?;
    let mut positions = vec![Quantity::Angle; names.positions.len()];
    let mut velocities = vec![Quantity::AngularVelocity; names.velocities.len()];
    for (index, joint) in plant.joints() {
        let (q, v) = (plant.position_start(index)?, plant.velocity_start(index)?);
        for i in 0..joint.num_positions() {
            positions[q + i] = Quantity::of_position(joint.kind(), i);
        }
        for i in 0..joint.num_velocities() {
            velocities[v + i] = Quantity::of_velocity(joint.kind(), i);
        }
    }
    let positions = names.positions.into_iter().zip(positions);
    let mut all: Vec<(String, Quantity)> = positions.collect();
    all.extend(names.velocities.into_iter().zip(velocities));
    for body in plant.deformable_bodies() {
        let model = plant.model_instance_name(body.model_instance())?;
        let name = |axis| format!("{model}::{}.{axis}", body.name());
        all.extend(["x", "y", "z"].map(|axis| (name(axis), Quantity::Length)));
    }
    all.push(("energy".into(), Quantity::Energy));
    all.push(("contacts".into(), Quantity::Contacts));
    let column = |(name, quantity)| LogColumn { name, quantity };
    Ok(all.into_iter().map(column).collect())
}

/// Returns the places of the columns that match any of the patterns; without patterns, of all.
pub(super) fn matching(
    columns: &[LogColumn],
    patterns: &[String],
) -> Result<Vec<usize>, Box<dyn Error>> {
    let mut is_chosen = vec![patterns.is_empty(); columns.len()];
    for pattern in patterns {
        let mut is_known = false;
        for (chosen, column) in is_chosen.iter_mut().zip(columns) {
            let fits = column_matches(pattern.trim(), &column.name);
            *chosen |= fits;
            is_known |= fits;
        }
        if !is_known {
            let mut names: Vec<&str> = columns.iter().map(|c| &*c.name).collect();
            names.sort_by_key(|name| unlikeness(pattern, name));
            return Err(format!(
                "--columns {pattern}: the pattern must match a column of the log, got one that \
                 matches none; there are {}",
                shortened(&names)
            )
            .into());
        }
    }
    Ok((0..columns.len()).filter(|i| is_chosen[*i]).collect())
}

/// Returns whether a pattern matches the name of a column, with or without its model.
fn column_matches(pattern: &str, name: &str) -> bool {
    let short = name.rsplit_once("::").map(|(_, short)| short);
    wildcard_matches(pattern, name) || short.is_some_and(|short| wildcard_matches(pattern, short))
}

/// Returns whether a pattern, in which `*` stands for any text, matches a whole name.
fn wildcard_matches(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let (middle, end) = rest.rsplit_once('*').unwrap_or(("", rest));
    let inside = name.strip_prefix(start).and_then(|n| n.strip_suffix(end));
    let Some(mut inside) = inside else {
        return false;
    };
    // The first place of each part leaves the most for the parts after it.
    for part in middle.split('*') {
        let Some(place) = inside.find(part) else {
            return false;
        };
        inside = &inside[place + part.len()..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_text() {
        for (pattern, name) in [
            ("*", ""),
            ("**", "a"),
            ("arm::*.q", "arm::elbow.q"),
            ("*el*.q", "arm::elbow.q"),
            ("a*b*a*b", "abab"),
            ("a*b*c", "abbc"),
            ("*é*", "été"),
            ("a[0].q", "a[0].q"),
        ] {
            assert!(wildcard_matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [
            ("", "a"),
            ("ab*ba", "aba"),
            ("a*b*a*b", "aab"),
            ("*.q", "arm::elbow.v"),
            ("elbow.q", "arm::elbow.q"),
        ] {
            assert!(!wildcard_matches(pattern, name), "{pattern} {name}");
        }
        assert!(column_matches("elbow.q", "arm::elbow.q"));
        assert!(column_matches("energy", "energy"));
    }
}
