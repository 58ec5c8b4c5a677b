//! Names of the elements of a plant.

use crate::model::{BodyIndex, ModelInstanceIndex};
use std::collections::BTreeSet;

/// Names in use, per kind and model instance.
#[derive(Clone, Debug, Default)]
pub(crate) struct ElementNames {
    pub(crate) bodies: BTreeSet<(ModelInstanceIndex, String)>,
    pub(crate) frames: BTreeSet<(ModelInstanceIndex, String)>,
    pub(crate) joints: BTreeSet<(ModelInstanceIndex, String)>,
    pub(crate) actuators: BTreeSet<(ModelInstanceIndex, String)>,
    /// Pairs of bodies with a joint between them, the lower index first.
    pub(crate) joined: BTreeSet<(BodyIndex, BodyIndex)>,
}
