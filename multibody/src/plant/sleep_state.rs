//! Sleep, as a part of the state of a plant.

use super::inputs::ConstraintStatus;
use crate::spatial::SpatialVector;
use tarragon_geometry::GeometryVersion;

/// Sleep at the end of a step, and the inputs of that step. Empty before the first step.
#[derive(Clone, Debug, Default)]
pub(super) struct SleepState {
    /// By tree: the number of steps at rest.
    pub(super) rest_steps: Vec<u32>,
    /// By tree: the lowest tree of the island with which it sleeps; `None` while it is awake.
    pub(super) asleep_with: Vec<Option<u32>>,
    pub(super) inputs: SleepInputs,
    /// Version of the geometry of the scene.
    pub(super) version: Option<GeometryVersion>,
}

/// Inputs whose change wakes bodies, without derivatives.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SleepInputs {
    /// By velocity.
    pub(super) generalized: Vec<f64>,
    /// By body, about Bo.
    pub(super) spatial: Vec<SpatialVector<f64>>,
    /// By actuator.
    pub(super) actuation: Vec<f64>,
    pub(super) desired: Vec<Option<(f64, f64)>>,
    pub(super) status: ConstraintStatus,
}

/// The trees that sleep during a step.
#[derive(Clone, Debug, Default)]
pub(super) struct Sleepers {
    /// By tree; empty if none sleeps.
    asleep: Vec<bool>,
    /// By tree: as in [`SleepState`].
    with: Vec<Option<u32>>,
}

impl Sleepers {
    /// Returns those who slept at the end of a step.
    pub(super) fn new(state: &SleepState) -> Self {
        if state.asleep_with.iter().any(Option::is_some) {
            Self {
                asleep: state.asleep_with.iter().map(Option::is_some).collect(),
                with: state.asleep_with.clone(),
            }
        } else {
            Self::default()
        }
    }
    /// Returns true if anything sleeps.
    pub(super) fn any(&self) -> bool {
        self.asleep.contains(&true)
    }
    /// Returns the lowest tree of the island with which each tree sleeps; empty if none does.
    pub(super) fn islands(&self) -> &Vec<Option<u32>> {
        &self.with
    }
    /// Returns which trees sleep, by tree; empty if none does.
    pub(super) fn asleep(&self) -> &[bool] {
        &self.asleep
    }
    /// Returns true if a tree sleeps.
    pub(super) fn is_asleep(&self, tree: usize) -> bool {
        self.asleep.get(tree).copied().unwrap_or(false)
    }

    /// Wakes the island of a tree; returns whether it slept.
    pub(super) fn wake(&mut self, tree: usize) -> bool {
        let Some(island) = self.with.get(tree).copied().flatten() else {
            return false;
        };
        for (asleep, with) in self.asleep.iter_mut().zip(&mut self.with) {
            if *with == Some(island) {
                (*asleep, *with) = (false, None);
            }
        }
        true
    }
}
