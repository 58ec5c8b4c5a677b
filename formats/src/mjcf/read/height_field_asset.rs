//! Height fields that geoms can have.

use tarragon_geometry::{BoxShape, HeightField};

/// A height field.
#[derive(Debug)]
pub(super) struct HeightFieldAsset {
    pub(super) shape: HeightField,
    /// Box whose mass properties MuJoCo uses for the field, regardless of the heights. It is
    /// centred at the origin, and its height is the base plus half of the elevation.
    pub(super) solid: BoxShape,
}
