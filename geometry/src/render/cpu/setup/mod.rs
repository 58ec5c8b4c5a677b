//! Scene setup: from registered visuals to the draw lists of the tiles.

mod chunk;
mod frustum;
mod primitive;
mod scene;
mod shadows;
mod storage;
mod tile_lists;

pub(super) use scene::{ImageKind, Scene};
pub(super) use shadows::Shadows;
pub(super) use storage::{SceneStorage, Worker};
pub(super) use tile_lists::{MAX_STRIPS, TileStrips};
