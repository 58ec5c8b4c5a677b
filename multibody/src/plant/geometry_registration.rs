//! Frames and geometries of a plant in a scene.

use crate::error::{Error, Result};
use tarragon_geometry::{FrameId, GeometryId, SceneGraph, SourceId};

/// Ids of the frames and geometries that the plant has registered.
#[derive(Clone, Debug)]
pub(crate) struct GeometryRegistration {
    pub(crate) source: SourceId,
    /// World frame of the scene, which tells the scene from others.
    pub(crate) world: FrameId,
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

impl GeometryRegistration {
    /// Checks that a scene is the one that the plant is registered with, or a clone of it.
    pub(crate) fn check_scene(&self, scene_graph: &SceneGraph) -> Result<()> {
        if scene_graph.world_frame_id() == self.world {
            return Ok(());
        }
        Err(Error::state(
            "the plant is registered with another scene; use that scene, or a new plant",
        ))
    }
}
