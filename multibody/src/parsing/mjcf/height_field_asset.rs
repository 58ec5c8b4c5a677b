//! Height fields that geoms can have.

use tarragon_geometry::{BoxShape, HeightField};

/// A height field.
#[derive(Debug)]
pub(super) struct HeightFieldAsset {
    pub(super) shape: HeightField,
    /// The shape whose mass properties MuJoCo takes for those of the field, whatever its heights:
    /// a box centred at its origin, as high as the base and half of the elevation.
    pub(super) solid: BoxShape,
}
