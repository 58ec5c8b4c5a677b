//! Frames and geometries of a plant in a scene.

use tarragon_geometry::{FrameId, GeometryId, SourceId};

/// Ids of the frames and geometries that the plant has registered.
#[derive(Clone, Debug)]
pub(crate) struct GeometryRegistration {
    pub(crate) source: SourceId,
    /// Frame per body, if registered; the world body has the scene's world frame.
    pub(crate) frames: Vec<Option<FrameId>>,
    /// All bodies before this one have a frame.
    pub(crate) num_complete: usize,
    /// Collision geometry per body.
    pub(crate) collisions: Vec<Vec<GeometryId>>,
    /// Visual geometry per body.
    pub(crate) visuals: Vec<Vec<GeometryId>>,
    pub(crate) filtered: bool,
}
