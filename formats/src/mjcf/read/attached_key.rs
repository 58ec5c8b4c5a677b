//! Values of keyframes.

use tarragon_multibody::KeyframePart;

/// Values of a `<key>`.
#[derive(Clone, Debug, Default)]
pub(super) struct KeyValues {
    /// Positions of all joints; `None` if the key gives none.
    pub(super) positions: Option<Vec<Vec<f64>>>,
    /// Velocities of all joints; `None` if the key gives none.
    pub(super) velocities: Option<Vec<Vec<f64>>>,
    /// Inputs of all actuators: activations of those that have some, and controls of the others.
    pub(super) inputs: Vec<Option<f64>>,
    /// Parts that could not be read, with the reasons.
    pub(super) losses: Vec<(KeyframePart, String)>,
}

/// A keyframe of an attached model, whose joints and actuators are given by their numbers in the
/// tree of elements.
#[derive(Clone, Debug)]
pub(super) struct AttachedKey {
    pub(super) joints: Vec<usize>,
    pub(super) actuators: Vec<usize>,
    /// Values of these joints and actuators.
    pub(super) values: KeyValues,
}
