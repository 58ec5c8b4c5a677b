//! Generalized coordinates and their time derivatives: lengths, names, and checks of values.

use super::topology::Topology;
use crate::error::{Error, Result};
use tarragon_framework::Scalar;

/// Maximum number of coordinates that an error names.
const MOST_NAMES: usize = 14;

/// A kind of coordinate vector of a plant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CoordinateKind {
    Positions,
    Velocities,
    /// Time derivatives of the velocities.
    Accelerations,
    /// Time derivatives of the positions.
    PositionRates,
}

impl CoordinateKind {
    /// Returns the noun for one element, and its plural.
    fn nouns(self) -> (&'static str, &'static str) {
        match self {
            Self::Positions => ("position", "positions"),
            Self::Velocities => ("velocity", "velocities"),
            Self::Accelerations => ("acceleration", "accelerations"),
            Self::PositionRates => ("derivative of position", "derivatives of positions"),
        }
    }
    pub(crate) fn name(self) -> &'static str {
        self.nouns().1
    }
}

impl Topology {
    /// Returns the names of the elements, in the order of the state.
    fn names(&self, which: CoordinateKind) -> &[String] {
        match which {
            CoordinateKind::Positions | CoordinateKind::PositionRates => &self.position_names,
            CoordinateKind::Velocities | CoordinateKind::Accelerations => &self.velocity_names,
        }
    }

    /// Returns the number of elements.
    pub(crate) fn count(&self, which: CoordinateKind) -> usize {
        self.names(which).len()
    }

    /// Checks that a vector has the right length and that all of its values are finite; derivatives
    /// of dual numbers are not checked.
    #[inline]
    pub(crate) fn check<T: Scalar>(&self, which: CoordinateKind, x: &[T]) -> Result<()> {
        let names = self.names(which);
        if x.len() != names.len() {
            return Err(self.wrong_length(which, x.len()));
        }
        // 0 times an infinity or NaN is NaN, and a NaN persists in the sum.
        let zero = x.iter().fold(0.0, |sum, x| sum + x.re() * 0.0);
        if zero == 0.0 {
            Ok(())
        } else {
            Err(not_finite(which, names, x))
        }
    }

    /// Returns the error of a vector of another length, with names, because free bodies that were
    /// meant to be fixed are what users overlook.
    #[cold]
    fn wrong_length(&self, which: CoordinateKind, found: usize) -> Error {
        let (names, which) = (self.names(which), which.name());
        let mut message = format!("the number of {which} must be {}, got {found}", names.len());
        if !names.is_empty() {
            let shown = names.len().min(MOST_NAMES);
            message += &format!("; they belong to {}", names[..shown].join(", "));
            if shown < names.len() {
                message += &format!(" and {} more", names.len() - shown);
            }
        }
        if self.tree.nodes.iter().any(|node| node.is_free) {
            message += "; a body without a joint is free: weld it to the world before the plant is \
                        built if it must not move";
        }
        Error::invalid(message)
    }
}

#[cold]
fn not_finite<T: Scalar>(which: CoordinateKind, names: &[String], x: &[T]) -> Error {
    let (k, bad) = x
        .iter()
        .map(|x| x.re())
        .enumerate()
        .find(|(_, x)| !x.is_finite())
        .unwrap_or((0, f64::NAN));
    let name = names.get(k).map_or("", |name| name);
    Error::invalid(format!(
        "{} {k} ('{name}') must be finite, got {bad:?}",
        which.nouns().0
    ))
}
